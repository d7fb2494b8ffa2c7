/* SPDX-License-Identifier: Apache-2.0 */
/* Files for jobs (sbcast): each is taken by a slurmstepd of its own, which writes as the user. */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os/log.h"
#include "slurmd/slurmd.h"

struct file {
    struct list in_slurmd;
    uint32_t job_id;
    int fd; /* the process ends when this does, and this when the process does */
    struct loop_fd *watch;
    struct frame_out out;
};

static void file_free(struct file *file) {
    list_remove(&file->in_slurmd);
    loop_fd_remove(file->watch);
    if (file->fd >= 0)
        close(file->fd);
    frame_out_done(&file->out);
    free(file);
}

static void on_file(uint32_t events, void *context) {
    struct file *file = context;

    if (events & (EPOLLHUP | EPOLLERR)) {
        file_free(file);
        return;
    }
    int r = frame_out_flush(&file->out, file->fd, NULL);
    if (r < 0)
        file_free(file);
    else
        loop_fd_events(file->watch, r == 1 ? EPOLLOUT : 0);
}

static int start(struct slurmd *slurmd, struct file *file, struct error *err) {
    cleanup_free char *name = xasprintf("%u.sbcast", file->job_id);
    int fds[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0)
        return error_errno(err, errno, "socketpair()");
    int r = stepd_exec(slurmd, name, fds[1], err);
    close(fds[1]);
    file->fd = fds[0];
    return r < 0 ? r
                 : loop_fd_add(slurmd->loop, fds[0], EPOLLOUT, on_file, file, &file->watch, err);
}

void file_spawn(struct slurmd *slurmd, const struct step_order *order, int fd) {
    struct file *file = zalloc(struct file);
    cleanup_str struct str content = STR_INIT;
    struct error err = ERROR_INIT;

    file->job_id = order->job_id;
    file->fd = -1;
    frame_out_init(&file->out);
    list_append(&slurmd->files, &file->in_slurmd);
    step_frame_encode(STEP_FRAME_ORDER, &record_step_order, order, &content);
    frame_out_append_fds(&file->out, str_bytes(&content), &fd, 1);
    if (start(slurmd, file, &err) < 0) {
        log_error("job %u: a file cannot be taken: %s", order->job_id, err.text);
        file_free(file);
    }
}

void files_end(struct slurmd *slurmd, uint32_t job_id) {
    list_each (&slurmd->files, node) {
        struct file *file = list_entry(node, struct file, in_slurmd);
        if (file->job_id == job_id)
            file_free(file);
    }
}
