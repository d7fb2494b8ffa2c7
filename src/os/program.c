/* SPDX-License-Identifier: Apache-2.0 */
#include "os/program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os/spawn.h"

#define LINE_MAX_BYTES 1024u
#define SEC_USEC 1000000ull

struct running {
    struct program program; /* callbacks and timeout only */
    pid_t pid;
    int fd; /* what it prints */
    struct loop_fd *watch;
    struct loop_timer *timer;
    struct loop_end at_free;
    struct str line;
    size_t passed_on;
    bool timed_out;
};

static void running_free(struct running *running) {
    list_remove(&running->at_free.link);
    loop_timer_free(running->timer);
    loop_fd_remove(running->watch);
    if (running->fd >= 0)
        close(running->fd);
    str_done(&running->line);
    free(running);
}

static void at_loop_free(void *context) {
    running_free(context);
}

static void line_ends(struct running *running) {
    if (running->line.length > 0 && running->program.line)
        running->program.line(running->line.data, running->program.context);
    str_reset(&running->line);
}

static void take_output(struct running *running, const char *data, size_t size) {
    for (size_t i = 0; i < size && running->passed_on < PROGRAM_OUTPUT_MAX; i++) {
        running->passed_on++;
        if (data[i] != '\n')
            str_append_char(&running->line, data[i] == '\0' ? ' ' : data[i]);
        if (data[i] == '\n' || running->line.length >= LINE_MAX_BYTES)
            line_ends(running);
    }
}

/* What there is to read now; false at the end. */
static bool read_output(struct running *running) {
    char piece[4096];
    ssize_t n;

    while ((n = read(running->fd, piece, sizeof(piece))) > 0)
        take_output(running, piece, (size_t) n);
    return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static void on_output(uint32_t events, void *context) {
    struct running *running = context;

    if (read_output(running))
        return;
    loop_fd_remove(take(running->watch));
}

static void on_timeout(void *context) {
    struct running *running = context;

    running->timed_out = true;
    (void) killpg(running->pid, SIGKILL);
}

static void on_end(pid_t pid, int status, void *context) {
    struct running *running = context;
    struct program program = running->program;
    bool timed_out = running->timed_out;

    (void) read_output(running);
    line_ends(running);
    running_free(running);
    program.ended(status, timed_out, program.context);
}

static int watch(struct running *running, struct loop *loop, struct error *err) {
    int r = loop_fd_add(loop, running->fd, EPOLLIN, on_output, running, &running->watch, err);

    if (r == 0)
        r = loop_child(loop, running->pid, on_end, running, err);
    if (r < 0) {
        (void) killpg(running->pid, SIGKILL);
        (void) waitpid(running->pid, NULL, 0);
        return r;
    }
    if (running->program.timeout > 0) {
        running->timer = loop_timer_add(loop, on_timeout, running);
        loop_timer_set(running->timer, loop_monotonic_usec() + running->program.timeout * SEC_USEC);
    }
    running->at_free = (struct loop_end) {.fn = at_loop_free, .context = running};
    loop_at_free(loop, &running->at_free);
    return 0;
}

int program_start(struct loop *loop, const struct program *program, struct error *err) {
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return error_errno(err, errno, "pipe()");
    struct running *running = zalloc(struct running);
    list_init(&running->at_free.link);
    running->program = *program;
    running->fd = ends[0];
    (void) fcntl(ends[0], F_SETFL, O_NONBLOCK); /* our end alone */
    struct spawn spec = {.path = program->argv[0],
                         .argv = program->argv,
                         .envp = program->envp,
                         .stdin_fd = -1,
                         .stdout_fd = ends[1],
                         .stderr_fd = ends[1],
                         .new_group = true,
                         .has_identity = program->has_identity,
                         .uid = program->uid,
                         .gid = program->gid,
                         .groups = program->groups,
                         .n_groups = program->n_groups,
                         .cwd = program->directory};
    int r = spawn_process(&spec, &running->pid, NULL, err);
    close(ends[1]);
    if (r == 0)
        r = watch(running, loop, err);
    if (r < 0)
        running_free(running);
    return r;
}

void program_status_print(int status, bool timed_out, uint32_t timeout, struct str *out) {
    if (timed_out)
        str_printf(out, "killed after %u s", timeout);
    else if (WIFSIGNALED(status))
        str_printf(out, "killed by signal %d", WTERMSIG(status));
    else
        str_printf(out, "exit status %d", WEXITSTATUS(status));
}
