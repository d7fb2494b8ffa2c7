/* SPDX-License-Identifier: Apache-2.0 */
/* Standard input of the tasks: ours, to all of them or to one. At most a window of bytes is on its
 * way to a node that has not taken them. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/srun.h"

#define WINDOW (1u << 20)
#define READ_SIZE (64u << 10)

static struct srun_node *node_of_rank(struct srun *srun, uint32_t rank) {
    return rank < srun->n_tasks ? &srun->nodes[srun->tasks[rank].node] : NULL;
}

static bool window_is_full(const struct srun *srun) {
    for (size_t i = 0; i < srun->n_nodes; i++) {
        const struct srun_node *node = &srun->nodes[i];
        bool gets_it =
            srun->in_rank == UNSET32 || &srun->nodes[srun->tasks[srun->in_rank].node] == node;
        if (gets_it && node->conn && !node->has_finished &&
            srun->in_sent - node->stdin_taken >= WINDOW)
            return true;
    }
    return false;
}

static void send_input(struct srun *srun, const void *data, size_t size, bool eof) {
    struct step_io io;

    record_init(&record_step_io, &io);
    io.data.data = (uint8_t *) (uintptr_t) data;
    io.data.size = size;
    io.eof = eof;
    io.all = srun->in_rank == UNSET32;
    io.rank = io.all ? 0 : srun->in_rank;
    if (io.all)
        srun_send_all(srun, MSG_STEP_IO, &io);
    else if (node_of_rank(srun, srun->in_rank))
        srun_send(node_of_rank(srun, srun->in_rank), MSG_STEP_IO, &io);
    srun->in_sent += size;
}

void srun_input_close(struct srun *srun) {
    loop_fd_remove(take(srun->in_watch));
    srun->in_done = true;
}

static void on_input(uint32_t events, void *context) {
    static char buffer[READ_SIZE];
    struct srun *srun = context;
    ssize_t n = read(srun->in_fd, buffer, sizeof(buffer));

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n < 0 && errno == EIO && tcgetpgrp(srun->in_fd) > 0 &&
        tcgetpgrp(srun->in_fd) != getpgrp()) {
        /* the terminal is somebody else's just now; SIGCONT says when to look again */
        loop_fd_remove(take(srun->in_watch));
        return;
    }
    send_input(srun, buffer, n > 0 ? (size_t) n : 0, n <= 0);
    if (n <= 0)
        srun_input_close(srun);
    else if (window_is_full(srun))
        loop_fd_remove(take(srun->in_watch));
}

static void watch_input(struct srun *srun) {
    if (srun->in_fd < 0 || srun->in_done || srun->in_watch || window_is_full(srun))
        return;
    if (loop_fd_add(srun->loop, srun->in_fd, EPOLLIN, on_input, srun, &srun->in_watch, NULL) < 0) {
        send_input(srun, NULL, 0, true);
        srun->in_done = true;
    }
}

void srun_input_resume(struct srun *srun) {
    if (srun->has_begun)
        watch_input(srun);
}

void srun_input_start(struct srun *srun) {
    if (srun->in_fd < 0)
        return;
    if (fcntl(srun->in_fd, F_GETFD) < 0) { /* started with a closed standard input */
        send_input(srun, NULL, 0, true);
        srun->in_done = true;
        return;
    }
    watch_input(srun);
}

void srun_input_taken(struct srun_node *node, uint64_t taken) {
    node->stdin_taken = taken;
    watch_input(node->srun);
}

int srun_input_open(struct srun *srun) {
    const char *pattern = srun->options.job.std_in;
    uint64_t rank;

    srun->in_rank = srun->pty && srun->n_parts > 1 ? 0 : UNSET32;
    srun->in_fd = 0;
    (void) signal(SIGTTIN, SIG_IGN);
    if (!pattern || str_equal(pattern, "all"))
        return CLI_GO_ON;
    if (str_equal(pattern, "none")) {
        srun->node_input = xstrdup("none");
        srun->in_fd = -1;
    } else if (str_to_u64(pattern, &rank)) {
        if (rank >= srun->layout->ntasks) {
            cli_error(&srun->cli, "--input=%s: the step has tasks 0 to %u", pattern,
                      srun->layout->ntasks - 1);
            return srun->cli.error_status;
        }
        srun->node_input = xstrdup(pattern);
        srun->in_rank = (uint32_t) rank;
    } else if (strchr(pattern, '%') && !strchr(pattern, '\\')) {
        srun->node_input = xstrdup(pattern);
        srun->in_fd = -1;
    } else {
        cleanup_free char *path = pattern[0] == '/'
                                      ? xstrdup(pattern)
                                      : xasprintf("%s/%s", srun->options.job.work_dir, pattern);
        srun->in_fd = open(path, O_RDONLY | O_CLOEXEC);
        if (srun->in_fd < 0) {
            cli_error(&srun->cli, "Could not open stdin file: %s", strerror(errno));
            return srun->cli.error_status;
        }
    }
    return CLI_GO_ON;
}
