/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output of the tasks. With several tasks, or with labels, it is put together line by line, so that
 * lines of different tasks never mix; a single task's output passes as it comes. A reader that is
 * slow stops us reading from the nodes, and so the tasks.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/srun.h"
#include "model/job.h"

#define QUEUE_HIGH (1u << 20)
#define QUEUE_LOW (256u << 10)
#define LINE_MAX_BYTES (1u << 20) /* a longer line goes out in pieces */
#define LINE_MIN_BYTES (16u << 10)
#define LINES_MAX_BYTES                                                                            \
    (64u << 20) /* unfinished lines of all tasks: with many, pieces are shorter */

/* ---- sinks ---- */

static size_t queued(const struct srun_sink *sink) {
    return sink->queue.length - sink->sent;
}

static void pause_nodes(struct srun *srun, bool paused) {
    if (srun->is_paused == paused)
        return;
    srun->is_paused = paused;
    for (size_t i = 0; i < srun->n_nodes; i++) {
        if (srun->nodes[i].conn)
            rpc_conn_pause(srun->nodes[i].conn, paused);
    }
}

static void sink_broken(struct srun_sink *sink) {
    sink->is_broken = true;
    str_reset(&sink->queue);
    sink->sent = 0;
    if (sink->srun->only_looks) {
        loop_stop(sink->srun->loop, 0);
        return;
    }
    /* Nobody reads: as a command in a pipe would die of SIGPIPE, the step ends. */
    if (sink->srun->loop && !sink->srun->terminating)
        srun_terminate(sink->srun, true, NULL);
}

/* Writes what goes without blocking. Pipes and terminals take PIPE_BUF bytes when they are
 * writable at all; they are shared with others, so they are not made non-blocking. */
static void sink_write(struct srun_sink *sink, bool wait) {
    while (queued(sink) > 0) {
        struct pollfd pollfd = {.fd = sink->fd, .events = POLLOUT};
        size_t size = queued(sink);
        if (!sink->is_plain) {
            if (!wait && poll(&pollfd, 1, 0) <= 0)
                return;
            size = min_of(size, (size_t) PIPE_BUF);
        }
        ssize_t n = write(sink->fd, sink->queue.data + sink->sent, size);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
            if (errno == EAGAIN && wait)
                (void) poll(&pollfd, 1, -1);
            else if (errno == EAGAIN)
                return;
            continue;
        }
        if (n < 0) {
            sink_broken(sink);
            return;
        }
        sink->sent += (size_t) n;
    }
    str_reset(&sink->queue);
    sink->sent = 0;
}

static void on_writable(uint32_t events, void *context);

static void sink_flush(struct srun_sink *sink) {
    struct srun *srun = sink->srun;

    sink_write(sink, false);
    if (queued(sink) == 0) {
        loop_fd_remove(take(sink->watch));
    } else if (!sink->watch && loop_fd_add(srun->loop, sink->fd, EPOLLOUT, on_writable, sink,
                                           &sink->watch, NULL) < 0) {
        sink_write(sink, true);
    }
    size_t most = max_of(queued(&srun->sinks[0]), queued(&srun->sinks[1]));
    if (most > QUEUE_HIGH)
        pause_nodes(srun, true);
    else if (most < QUEUE_LOW)
        pause_nodes(srun, false);
}

static void on_writable(uint32_t events, void *context) {
    sink_flush(context);
}

/* ---- lines ---- */

static void put_label(struct srun *srun, uint32_t rank, struct str *out) {
    if (srun->label_width > 0)
        str_printf(out, "%*u: ", (int) srun->label_width, rank);
}

/* Moves the complete lines of a task to the sink. */
static void put_lines(struct srun *srun, uint32_t rank, struct str *line, struct srun_sink *sink) {
    size_t at = 0, most = LINES_MAX_BYTES / (2 * srun->n_tasks);

    most = max_of(min_of(most, (size_t) LINE_MAX_BYTES), (size_t) LINE_MIN_BYTES);
    while (at < line->length) {
        const char *end = memchr(line->data + at, '\n', line->length - at);
        if (!end && line->length - at < most)
            break;
        size_t size = end ? (size_t) (end - line->data) + 1 - at : line->length - at;
        put_label(srun, rank, &sink->queue);
        str_append_bytes(&sink->queue, line->data + at, size);
        at += size;
    }
    if (at == 0)
        return;
    memmove(line->data, line->data + at, line->length - at);
    line->length -= at;
}

static void put_rest(struct srun *srun, uint32_t rank, struct str *line, struct srun_sink *sink) {
    if (line->length > 0) {
        put_label(srun, rank, &sink->queue);
        str_append_bytes(&sink->queue, line->data, line->length);
        if (srun->label_width > 0)
            str_append_char(&sink->queue, '\n');
    }
    str_done(line);
}

/* What slurmstepd says itself. */
static void put_message(struct srun *srun, const struct blob *text) {
    struct str *out = &srun->sinks[1].queue;

    for (size_t i = 0; i < text->size; i++) {
        if (text->data[i] == '\n' && srun->cli.is_raw)
            str_append_char(out, '\r');
        str_append_char(out, (char) text->data[i]);
    }
}

void srun_output_data(struct srun *srun, const struct step_io *io) {
    struct srun_sink *sink;

    if (io->stream < 1 || io->stream > 2)
        return;
    sink = srun->out[io->stream - 1];
    if (!sink || sink->is_broken)
        return;
    if (io->rank == UNSET32) { /* slurmstepd itself */
        put_message(srun, &io->data);
        sink = &srun->sinks[1];
    } else if (io->rank >= srun->n_tasks) {
        return;
    } else if (!srun->by_line) {
        str_append_bytes(&sink->queue, io->data.data, io->data.size);
    } else {
        struct str *line = &srun->tasks[io->rank].lines[io->stream - 1];
        str_append_bytes(line, io->data.data, io->data.size);
        put_lines(srun, io->rank, line, sink);
        if (io->eof)
            put_rest(srun, io->rank, line, sink);
    }
    sink_flush(sink);
}

void srun_output_flush(struct srun *srun) {
    for (size_t i = 0; i < srun->n_tasks; i++) {
        for (int k = 0; k < 2; k++) {
            if (srun->out[k] && !srun->out[k]->is_broken)
                put_rest(srun, (uint32_t) i, &srun->tasks[i].lines[k], srun->out[k]);
        }
    }
    srun->terminating = true; /* a reader that goes now changes nothing */
    for (int k = 0; k < 2; k++) {
        for (int j = 0; j < 2; j++)
            loop_fd_remove(take(srun->sinks[j].watch));
        if (srun->out[k])
            sink_write(srun->out[k], true);
    }
    sink_write(&srun->sinks[1], true);
}

/* ---- where to ---- */

static bool is_number(const char *text) {
    uint64_t value;

    return str_to_u64(text, &value);
}

/* Names that differ by task or node are opened there, all others here. */
static bool is_for_nodes(const char *pattern) {
    if (strchr(pattern, '\\'))
        return false;
    for (const char *at = pattern; (at = strchr(at, '%')); at++) {
        const char *symbol = at + 1 + strspn(at + 1, "0123456789");
        if (*symbol && strchr("tnN", *symbol))
            return true;
        if (*symbol == '%')
            at = symbol;
    }
    return false;
}

static void make_directories(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void) mkdir(path, 0777);
        *slash = '/';
    }
}

static int open_file(struct srun *srun, const char *pattern, int which) {
    const struct step_layout *layout = srun->layout;
    struct path_names names = {.job_id = layout->job_id,
                               .array_job_id = layout->array_job_id,
                               .array_task_id = layout->array_task_id,
                               .step_id = layout->step_id,
                               .restarts = layout->restarts,
                               .user_name = layout->user_name,
                               .job_name = srun->options.job.name,
                               .work_dir = srun->options.job.work_dir};
    bool append = srun->options.job.open_mode == OPEN_APPEND;
    int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (append ? O_APPEND : O_TRUNC);
    cleanup_str struct str path = STR_INIT;

    output_path_expand(pattern, &names, &path);
    int fd = open(path.data, flags, 0666);
    if (fd < 0 && errno == ENOENT) {
        make_directories(path.data);
        fd = open(path.data, flags, 0666);
    }
    if (fd < 0)
        cli_error(&srun->cli, "Could not open %s file: %s", which == 0 ? "stdout" : "stderr",
                  strerror(errno));
    return fd;
}

static int stream_open(struct srun *srun, int which, const char *pattern) {
    struct srun_sink *sink = &srun->sinks[which];
    struct stat stat;

    if (!pattern || str_equal(pattern, "all")) {
        srun->out[which] = sink;
    } else if (is_number(pattern) || str_equal(pattern, "none") || is_for_nodes(pattern)) {
        srun->node_output[which] = xstrdup(pattern);
        srun->out[which] = sink;
    } else {
        int fd = open_file(srun, pattern, which);
        if (fd < 0)
            return srun->cli.error_status;
        /* our own messages still go to the terminal: a file is a sink of its own */
        sink->fd = fd;
        srun->out[which] = sink;
    }
    sink->is_plain = fstat(sink->fd, &stat) == 0 && S_ISREG(stat.st_mode);
    return CLI_GO_ON;
}

int srun_output_open(struct srun *srun) {
    const struct job_request *job = &srun->options.job;
    unsigned width = 1;

    for (int i = 0; i < 2; i++)
        srun->sinks[i] = (struct srun_sink) {.srun = srun, .fd = i + 1};
    int status = stream_open(srun, 0, job->std_out);
    if (status != CLI_GO_ON)
        return status;
    if (job->std_err || !job->std_out || str_equal(job->std_out, "all")) {
        status = stream_open(srun, 1, job->std_err);
    } else if (srun->node_output[0]) {
        srun->node_output[1] = xstrdup(srun->node_output[0]);
        srun->out[1] = &srun->sinks[is_number(srun->node_output[0]) ? 1 : 0];
    } else {
        srun->out[1] = &srun->sinks[0];
    }
    for (uint32_t n = srun->layout->ntasks; n > 10; n = (n + 9) / 10)
        width++;
    srun->label_width = srun->options.label && !srun->pty ? width : 0;
    srun->by_line = srun->label_width > 0 ||
                    (srun->layout->ntasks > 1 && !srun->options.unbuffered && !srun->pty);
    return status;
}
