/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Standard streams between tasks and srun. Output is read as it comes and sent on; when srun does
 * not keep up, we stop reading and the tasks block in write(), as they would on a slow terminal.
 * Input goes to every task (or one); a task that reads slowly holds back how much srun may send, by
 * what we say has been taken.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/pty.h"
#include "slurmstepd/stepd.h"

#define READ_SIZE (64u << 10)
#define QUEUE_HIGH (1u << 20) /* bytes queued for srun: stop reading from tasks */
#define QUEUE_LOW (256u << 10)
#define TAKEN_STEP (64u << 10) /* stdin bytes between two notes to srun */

/* ---- from tasks ---- */

void stream_to_srun(struct stepd *stepd, uint32_t rank, uint32_t stream, const void *data,
                    size_t size, bool eof) {
    struct step_io io;

    record_init(&record_step_io, &io);
    io.rank = rank;
    io.stream = stream;
    io.data.data = (uint8_t *) (uintptr_t) data;
    io.data.size = size;
    io.eof = eof;
    srun_tell(stepd, MSG_STEP_IO, 0, &io);
}

static void output_close(struct task_output *output) {
    const struct task *task = output->task;

    if (output->fd < 0)
        return;
    loop_fd_remove(take(output->watch));
    close(output->fd);
    output->fd = -1;
    stream_to_srun(task->stepd, task->rank, output->stream, NULL, 0, true);
}

static void outputs_pause(struct stepd *stepd, bool paused) {
    stepd->outputs_paused = paused;
    for (size_t i = 0; i < stepd->n_tasks; i++) {
        for (int j = 0; j < 2; j++) {
            struct task_output *output = &stepd->tasks[i].outputs[j];
            if (output->watch)
                loop_fd_events(output->watch, paused ? 0 : EPOLLIN);
        }
    }
}

static void on_drained(struct rpc_conn *conn, void *context) {
    outputs_pause(context, false);
}

/* One read. False when there is nothing more: the end, or (drain) nothing now. */
static bool output_read(struct task_output *output) {
    static char buffer[READ_SIZE];
    struct stepd *stepd = output->task->stepd;
    ssize_t n = read(output->fd, buffer, sizeof(buffer));

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (n <= 0) { /* EIO: the other side of a terminal is closed */
        output_close(output);
        return false;
    }
    stream_to_srun(stepd, output->task->rank, output->stream, buffer, (size_t) n, false);
    return true;
}

static void on_output(uint32_t events, void *context) {
    struct task_output *output = context;
    struct stepd *stepd = output->task->stepd;

    (void) output_read(output);
    if (stepd->srun && !stepd->outputs_paused && rpc_conn_queued(stepd->srun) > QUEUE_HIGH) {
        outputs_pause(stepd, true);
        rpc_conn_on_drained(stepd->srun, QUEUE_LOW, on_drained);
    }
}

void stream_drain(struct stepd *stepd) {
    for (size_t i = 0; i < stepd->n_tasks; i++) {
        for (int j = 0; j < 2; j++) {
            struct task_output *output = &stepd->tasks[i].outputs[j];
            while (output->fd >= 0 && output_read(output))
                ;
            output_close(output);
        }
    }
}

/* ---- to tasks ---- */

static void input_close(struct task *task) {
    if (task->in_fd < 0)
        return;
    loop_fd_remove(take(task->in_watch));
    close(task->in_fd);
    task->in_fd = -1;
    str_done(&task->in_pending);
    task->in_sent = 0;
}

size_t stream_input_pending(const struct stepd *stepd) {
    size_t pending = 0;

    for (size_t i = 0; i < stepd->n_tasks; i++)
        pending = max_of(pending, stepd->tasks[i].in_pending.length - stepd->tasks[i].in_sent);
    return pending;
}

/* Tells srun how much every task has taken, so that it may send more. */
static void tell_taken(struct stepd *stepd) {
    size_t pending = stream_input_pending(stepd);
    struct step_io io;

    watch_go_on(stepd);
    if (stepd->stdin_received < pending + stepd->stdin_told + TAKEN_STEP)
        return;
    uint64_t taken = stepd->stdin_received - pending;
    stepd->stdin_told = taken;
    record_init(&record_step_io, &io);
    io.taken = taken;
    srun_send(stepd, MSG_STEP_IO, 0, &io);
}

static void input_flush(struct task *task) {
    while (task->in_fd >= 0 && task->in_sent < task->in_pending.length) {
        ssize_t n = write(task->in_fd, task->in_pending.data + task->in_sent,
                          task->in_pending.length - task->in_sent);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0) { /* EPIPE: it reads no more; the rest is dropped */
            input_close(task);
            break;
        }
        task->in_sent += (size_t) n;
    }
    if (task->in_fd >= 0 && task->in_sent == task->in_pending.length) {
        str_reset(&task->in_pending);
        task->in_sent = 0;
        if (task->in_eof && !task->stepd->has_pty)
            input_close(task);
    }
    if (task->in_watch)
        loop_fd_events(task->in_watch, task->in_pending.length ? EPOLLOUT : 0);
    tell_taken(task->stepd);
}

static void on_input(uint32_t events, void *context) {
    struct task *task = context;

    if (events & EPOLLOUT)
        input_flush(task);
    else if (events & (EPOLLERR | EPOLLHUP))
        input_close(task);
}

void stream_input(struct stepd *stepd, const struct step_io *io) {
    static const char eot = 4;

    if (io->stream != 0)
        return;
    for (size_t i = 0; i < stepd->n_tasks; i++) {
        struct task *task = &stepd->tasks[i];
        if (task->in_fd < 0 || (!io->all && task->rank != io->rank))
            continue;
        str_append_bytes(&task->in_pending, io->data.data, io->data.size);
        if (io->eof && stepd->has_pty)
            str_append_bytes(&task->in_pending, &eot, 1);
        task->in_eof |= io->eof;
        input_flush(task);
    }
    tell_taken(stepd);
}

void stream_hang_up(struct stepd *stepd) {
    if (stepd->n_tasks == 0)
        return;
    input_close(&stepd->tasks[0]);
    output_close(&stepd->tasks[0].outputs[0]);
}

void stream_resize(struct stepd *stepd, uint32_t rows, uint32_t cols) {
    struct pty_size size = {.rows = (uint16_t) rows, .columns = (uint16_t) cols};

    if (stepd->has_pty && stepd->n_tasks > 0 && stepd->tasks[0].outputs[0].fd >= 0)
        (void) !pty_resize(stepd->tasks[0].outputs[0].fd, size, NULL);
}

/* ---- setting up ---- */

static int watch_output(struct task *task, int which, int fd, struct error *err) {
    struct task_output *output = &task->outputs[which];

    output->fd = fd;
    return loop_fd_add(task->stepd->loop, fd, EPOLLIN, on_output, output, &output->watch, err);
}

static int prepare_pty(struct stepd *stepd, struct task *task, int fds[3], struct error *err) {
    struct pty_size size = {.rows = (uint16_t) stepd->step->pty_rows,
                            .columns = (uint16_t) stepd->step->pty_cols};
    int ours, theirs;
    int r = pty_open(size, stepd->order.uid, &ours, &theirs, err);

    if (r < 0)
        return error_prefix(err, "Could not make a terminal for the task: ");
    if (stepd->identity)
        (void) fchmod(theirs, 0600);
    stepd->has_pty = true;
    fds[0] = theirs;
    fds[1] = fcntl(theirs, F_DUPFD_CLOEXEC, 3);
    fds[2] = fcntl(theirs, F_DUPFD_CLOEXEC, 3);
    task->in_fd = fcntl(ours, F_DUPFD_CLOEXEC, 3);
    r = loop_fd_add(stepd->loop, task->in_fd, 0, on_input, task, &task->in_watch, err);
    return r < 0 ? r : watch_output(task, 0, ours, err);
}

/* The file that a stream of this task is, NULL = srun. "all" is srun for every task, a number for
 * the task of that rank only. */
static const char *file_of(const struct task *task, const char *pattern) {
    uint64_t rank;

    if (pattern && str_to_u64(pattern, &rank) && rank < UINT32_MAX)
        return rank == task->rank ? NULL : "none";
    return str_equal(pattern, "all") ? NULL : pattern;
}

static int prepare_output(struct stepd *stepd, struct task *task, int which, const char *pattern,
                          int *ret_fd, struct error *err) {
    const char *file = file_of(task, pattern);
    int pipe_fds[2];

    if (file)
        return stepd_open_output(stepd, file, task->rank, ret_fd, err);
    if (pipe2(pipe_fds, O_CLOEXEC) < 0)
        return error_errno(err, errno, "Could not make a pipe for a task");
    (void) fcntl(pipe_fds[0], F_SETFL, O_NONBLOCK);
    *ret_fd = pipe_fds[1];
    return watch_output(task, which, pipe_fds[0], err);
}

static int prepare_input(struct stepd *stepd, struct task *task, int *ret_fd, struct error *err) {
    const char *file = file_of(task, stepd->step->std_in);
    int pipe_fds[2];

    if (file)
        return stepd_open_input(stepd, file, task->rank, ret_fd, err);
    if (pipe2(pipe_fds, O_CLOEXEC) < 0)
        return error_errno(err, errno, "Could not make a pipe for a task");
    (void) fcntl(pipe_fds[1], F_SETFL, O_NONBLOCK);
    *ret_fd = pipe_fds[0];
    task->in_fd = pipe_fds[1];
    return loop_fd_add(stepd->loop, task->in_fd, 0, on_input, task, &task->in_watch, err);
}

int stream_prepare(struct stepd *stepd, struct task *task, int fds[3], struct error *err) {
    const struct step_launch *step = stepd->step;
    int r;

    if (step->pty && task->rank == 0)
        return prepare_pty(stepd, task, fds, err);
    if (step->pty) {
        r = stepd_open_input(stepd, NULL, 0, &fds[0], err);
        for (int i = 1; r == 0 && i < 3; i++)
            r = stepd_open_output(stepd, "none", 0, &fds[i], err);
        return r;
    }
    r = prepare_input(stepd, task, &fds[0], err);
    if (r == 0)
        r = prepare_output(stepd, task, 0, step->std_out, &fds[1], err);
    if (r < 0)
        return r;
    if (!step->std_err && step->std_out && task->outputs[0].fd < 0) {
        fds[2] = fcntl(fds[1], F_DUPFD_CLOEXEC, 3);
        return 0;
    }
    return prepare_output(stepd, task, 1, step->std_err ? step->std_err : step->std_out, &fds[2],
                          err);
}
