/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connections to slurmd: the one that it left us, and those of a restarted slurmd, which dials
 * our socket in its spool directory. A new connection gets a report at once.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/sock.h"
#include "slurmstepd/stepd.h"

#define LINKS_MAX 8

struct link {
    struct list in_stepd;
    struct stepd *stepd;
    int fd;
    struct loop_fd *watch;
    struct frame_in in;
    struct frame_out out;
};

static void link_close(struct link *link) {
    list_remove(&link->in_stepd);
    loop_fd_remove(link->watch);
    close(link->fd);
    frame_in_done(&link->in);
    frame_out_done(&link->out);
    free(link);
}

/* False when the link is gone. */
static bool link_flush(struct link *link) {
    int r = frame_out_flush(&link->out, link->fd, NULL);

    if (r < 0) {
        link_close(link);
        return false;
    }
    loop_fd_events(link->watch, r == 1 ? EPOLLIN | EPOLLOUT : EPOLLIN);
    return true;
}

/* Frames that have come. False when the link is gone. */
static bool link_frames(struct link *link) {
    struct bytes content;
    int r;

    while ((r = frame_in_next(&link->in, &content, NULL)) == 1) {
        struct arena arena;
        struct step_frame_any any;
        enum step_frame type;
        arena_init(&arena, STEP_FRAME_MAX);
        if (step_frame_decode(content, &arena, &type, &any, NULL) < 0)
            type = (enum step_frame) 0;
        if (type == STEP_FRAME_COMMAND)
            stepd_command(link->stepd, &any.command);
        else if (type == STEP_FRAME_WATCHER)
            watch_add(link->stepd, frame_in_take_fd(&link->in), &any.watcher);
        arena_done(&arena);
    }
    if (r < 0)
        link_close(link);
    return r == 0;
}

static void on_link(uint32_t events, void *context) {
    struct link *link = context;
    int r;

    if ((events & EPOLLOUT) && !link_flush(link))
        return;
    if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
        return;
    r = frame_in_read(&link->in, link->fd, NULL);
    if (r < 0)
        link_close(link);
    else if (r > 0)
        (void) link_frames(link);
}

/* The processes of the last look; the caller frees items. */
static struct u32s last_pids(const struct stepd *stepd) {
    struct u32s pids = {NULL, 0};

    pids.items = xcalloc(stepd->sampler.processes.n + 1, sizeof(*pids.items));
    vec_each (&stepd->sampler.processes, process)
        pids.items[pids.n++] = (uint32_t) process->pid;
    return pids;
}

static void link_send_report(struct link *link, bool with_usage) {
    struct stepd *stepd = link->stepd;
    struct step_report report;
    cleanup_str struct str content = STR_INIT;

    record_init(&record_step_report, &report);
    report.job_id = stepd->order.job_id;
    report.step_id = stepd->order.step_id;
    report.attempt = stepd->order.attempt;
    report.uid = stepd->order.uid;
    report.pid = (uint32_t) getpid();
    report.running = stepd->state != STEPD_STARTING && !stepd->is_stillborn;
    report.by_controller = stepd->launch != NULL;
    if (stepd->state == STEPD_ENDED)
        report.done = &stepd->done;
    if (stepd->adopted) {
        report.adopted = stepd->adopted;
        report.refused = stepd->adopt_failure.code < 0 ? stepd->adopt_failure.text : NULL;
        report.places = stepd->order.places;
    }
    if (stepd->stuck)
        report.stuck = stepd->detail.data;
    if (with_usage) {
        report.usage = &stepd->usage;
        report.pids = last_pids(stepd);
    }
    step_frame_encode(STEP_FRAME_REPORT, &record_step_report, &report, &content);
    frame_out_append(&link->out, str_bytes(&content));
    free(report.pids.items);
    /* A broken link is closed by its own event: our caller may be walking the list, or be called
     * from this link's frames. */
    if (frame_out_flush(&link->out, link->fd, NULL) == 1)
        loop_fd_events(link->watch, EPOLLIN | EPOLLOUT);
}

void link_report(struct stepd *stepd) {
    list_each (&stepd->links, node)
        link_send_report(list_entry(node, struct link, in_stepd), false);
}

void link_report_usage(struct stepd *stepd) {
    list_each (&stepd->links, node)
        link_send_report(list_entry(node, struct link, in_stepd), true);
}

static int link_add(struct stepd *stepd, int fd, struct link **ret, struct error *err) {
    struct link *link = zalloc(struct link);

    link->stepd = stepd;
    link->fd = fd;
    frame_in_init(&link->in, STEP_FRAME_MAX);
    link->in.takes_fds = true;
    frame_out_init(&link->out);
    int r = loop_fd_add(stepd->loop, fd, EPOLLIN, on_link, link, &link->watch, err);
    if (r < 0) {
        free(link);
        return r;
    }
    list_append(&stepd->links, &link->in_stepd);
    *ret = link;
    return 0;
}

static size_t count_links(const struct stepd *stepd) {
    size_t n = 0;

    list_each (&stepd->links, node)
        n++;
    return n;
}

static void on_accept(uint32_t events, void *context) {
    struct stepd *stepd = context;
    struct link *link;
    uid_t uid;
    int fd;

    if (sock_accept(stepd->listen_fd, &fd, NULL, NULL) < 0 || fd < 0)
        return;
    if (sock_peer_cred(fd, &uid, NULL, NULL, NULL) < 0 || (uid != 0 && uid != getuid()) ||
        count_links(stepd) >= LINKS_MAX || link_add(stepd, fd, &link, NULL) < 0) {
        close(fd);
        return;
    }
    link_send_report(link, false);
}

int link_open(struct stepd *stepd, int inherited_fd, struct error *err) {
    cleanup_str struct str path = STR_INIT;
    struct link *link;
    int r;

    str_printf(&path, "%s/step/", stepd->order.spool_dir);
    step_socket_name(stepd->order.job_id, stepd->order.step_id, stepd->order.attempt, &path);
    r = sock_listen_unix(path.data, 0600, &stepd->listen_fd, err);
    if (r < 0)
        return r;
    stepd->socket_path = str_take(&path);
    r = loop_fd_add(stepd->loop, stepd->listen_fd, EPOLLIN, on_accept, stepd, &stepd->listen_watch,
                    err);
    return r < 0 ? r : link_add(stepd, inherited_fd, &link, err);
}

void link_close_all(struct stepd *stepd) {
    list_each (&stepd->links, node)
        link_close(list_entry(node, struct link, in_stepd));
    if (stepd->socket_path)
        (void) unlink(stepd->socket_path);
}
