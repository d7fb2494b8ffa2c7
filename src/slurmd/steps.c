/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurmd's side of the sockets to its slurmstepds. A link exists from the moment that a launch is
 * accepted (commands may come before the process does) until its slurmstepd is gone.
 */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os/clone.h"
#include "os/log.h"
#include "os/sock.h"
#include "slurmd/health.h"
#include "slurmd/slurmd.h"

#define ADOPT_USEC 3000000ull /* for slurmstepds found at the start to answer */

static_assert(STEP_FRAME_MAX == RPC_FRAME_MAX + (1u << 20), "an order holds a launch and its own");

struct step_link {
    struct list in_slurmd;
    struct slurmd *slurmd;
    struct step_key key;
    int fd; /* -1: not started yet */
    struct loop_fd *watch;
    struct frame_in in;
    struct frame_out out;
    vec(struct str) early; /* commands that came before the order */
    bool adopting;
    char *stuck; /* what of it does not die, NULL */
};

static struct step_link *link_find(struct slurmd *slurmd, struct step_key key) {
    list_each (&slurmd->links, node) {
        struct step_link *link = list_entry(node, struct step_link, in_slurmd);
        if (step_key_equal(link->key, key))
            return link;
    }
    return NULL;
}

bool step_find(const struct slurmd *slurmd, uint32_t job_id, uint32_t step_id,
               struct step_key *ret) {
    bool found = false;

    list_each (&slurmd->links, node) {
        const struct step_link *link = list_entry(node, struct step_link, in_slurmd);
        if (link->key.job_id == job_id && link->key.step_id == step_id && link->fd >= 0 &&
            (!found || link->key.attempt > ret->attempt)) {
            *ret = link->key;
            found = true;
        }
    }
    return found;
}

static struct step_link *link_add(struct slurmd *slurmd, struct step_key key) {
    struct step_link *link = zalloc(struct step_link);

    link->slurmd = slurmd;
    link->key = key;
    link->fd = -1;
    frame_in_init(&link->in, STEP_FRAME_MAX);
    frame_out_init(&link->out);
    list_append(&slurmd->links, &link->in_slurmd);
    return link;
}

static void link_free(struct step_link *link) {
    list_remove(&link->in_slurmd);
    loop_fd_remove(link->watch);
    if (link->fd >= 0)
        close(link->fd);
    frame_in_done(&link->in);
    frame_out_done(&link->out);
    vec_each (&link->early, command)
        str_done(command);
    vec_done(&link->early);
    free(link->stuck);
    free(link);
}

static void adopted(struct step_link *link) {
    struct slurmd *slurmd = link->slurmd;

    if (!link->adopting)
        return;
    link->adopting = false;
    if (--slurmd->n_adopting == 0) {
        loop_timer_set(slurmd->adopt_timer, 0);
        controller_register(slurmd);
    }
}

static void link_lost(struct step_link *link) {
    struct slurmd *slurmd = link->slurmd;
    struct agent_effects effects = {0};
    struct step_key key = link->key;

    bool was_stuck = link->stuck != NULL;

    adopted(link);
    link_free(link);
    stat_step_gone(slurmd, key);
    agent_step_lost(slurmd->agent, key, &effects);
    slurmd_effects(slurmd, &effects);
    if (was_stuck)
        health_changed(slurmd);
}

void steps_stuck(const struct slurmd *slurmd, struct str *out) {
    list_each (&slurmd->links, node) {
        const struct step_link *link = list_entry(node, struct step_link, in_slurmd);
        if (link->stuck)
            str_join(out, "; ", link->stuck);
    }
}

static void link_flush(struct step_link *link) {
    /* A broken link shows by its own event. */
    int r = frame_out_flush(&link->out, link->fd, NULL);

    loop_fd_events(link->watch, r == 1 ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

static void on_report(struct step_link *link, const struct step_report *report) {
    struct slurmd *slurmd = link->slurmd;
    struct agent_effects effects = {0};

    if (report->usage)
        stat_report(slurmd, report);
    agent_report(slurmd->agent, loop_monotonic_usec(), report, &effects);
    adopted(link);
    slurmd_effects(slurmd, &effects);
    if (report->stuck && !link->stuck) {
        link->stuck = xstrdup(report->stuck);
        health_unkillable(slurmd, link->key);
    }
}

/* The frames that have come. Effects of a report may queue commands for this link, not free it. */
static int link_frames(struct step_link *link) {
    struct bytes content;
    int r;

    while ((r = frame_in_next(&link->in, &content, NULL)) == 1) {
        struct arena arena;
        struct step_frame_any any;
        enum step_frame type;
        struct error err = ERROR_INIT;
        arena_init(&arena, 1u << 20);
        if (step_frame_decode(content, &arena, &type, &any, &err) < 0)
            log_error("slurmstepd of job %u: %s", link->key.job_id, err.text);
        else if (type == STEP_FRAME_REPORT && any.report.job_id == link->key.job_id &&
                 any.report.step_id == link->key.step_id)
            on_report(link, &any.report);
        arena_done(&arena);
    }
    return r;
}

static void on_link(uint32_t events, void *context) {
    struct step_link *link = context;
    int r = 0;

    if (events & EPOLLOUT)
        link_flush(link);
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
        r = frame_in_read(&link->in, link->fd, NULL);
    if (r > 0)
        r = link_frames(link);
    if (r < 0)
        link_lost(link);
}

static int link_watch(struct step_link *link, int fd, struct error *err) {
    int r = loop_fd_add(link->slurmd->loop, fd, EPOLLIN, on_link, link, &link->watch, err);

    if (r == 0)
        link->fd = fd;
    return r;
}

/* ---- starting ---- */

void step_expect(struct slurmd *slurmd, struct step_key key) {
    (void) link_add(slurmd, key);
}

bool step_is_expected(struct slurmd *slurmd, struct step_key key) {
    return link_find(slurmd, key) != NULL;
}

void step_give_up(struct slurmd *slurmd, struct step_key key) {
    struct step_link *link = link_find(slurmd, key);

    if (link)
        link_free(link);
}

struct stepd_start {
    const char *path;
    char *const *argv;
    int null_fd, socket_fd, failure;
};

static int stepd_child(void *context) {
    struct stepd_start *start = context;

    (void) setsid();
    clone_reset_signals();
    /* a copy loses close-on-exec, but not of itself */
    if (start->socket_fd == STEP_ORDER_FD)
        (void) fcntl(STEP_ORDER_FD, F_SETFD, 0);
    if (dup2(start->null_fd, 0) >= 0 && dup2(start->null_fd, 1) >= 0 &&
        dup2(start->socket_fd, STEP_ORDER_FD) >= 0)
        execve(start->path, start->argv, environ);
    start->failure = errno;
    _exit(127);
}

/* Its end is known from its socket. */
static void reaped(pid_t pid, int status, void *context) {}

/* Runs slurmstepd with its socket as descriptor 3, in a session of its own, so that neither a ^C at
 * slurmd's terminal nor the end of slurmd reaches it. Its name in process listings tells the step.
 */
int stepd_exec(struct slurmd *slurmd, const char *what, int socket_fd, struct error *err) {
    cleanup_str struct str title = STR_INIT;
    bool is_inside;

    str_printf(&title, "slurmstepd: [%s]", what);
    char *argv[] = {title.data, NULL};
    struct stepd_start start = {.path = slurmd->stepd_path,
                                .argv = argv,
                                .null_fd = slurmd->null_fd,
                                .socket_fd = socket_fd};
    pid_t pid = clone_vfork(slurmd->fences.stepds_fd, &is_inside, stepd_child, &start);
    int failure = pid < 0 ? errno : start.failure;
    if (pid > 0 && loop_child(slurmd->loop, pid, reaped, NULL, NULL) < 0)
        log_error("slurmstepd %d will stay a zombie", (int) pid);
    return failure ? error_errno(err, failure, "Cannot start %s", slurmd->stepd_path) : 0;
}

static int link_start(struct step_link *link, const struct step_order *order, int *srun_fd,
                      struct error *err) {
    cleanup_str struct str content = STR_INIT, name = STR_INIT;
    int fds[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
        return error_errno(err, errno, "socketpair()");
    str_printf(&name, "%u.", link->key.job_id);
    step_id_print(link->key.step_id, &name);
    int r = stepd_exec(link->slurmd, name.data, fds[1], err);
    close(fds[1]);
    if (r == 0)
        r = sock_nonblock(fds[0], true, err);
    if (r == 0)
        r = link_watch(link, fds[0], err);
    if (r < 0) {
        close(fds[0]);
        return r;
    }
    step_frame_encode(STEP_FRAME_ORDER, &record_step_order, order, &content);
    if (*srun_fd >= 0)
        frame_out_append_fds(&link->out, str_bytes(&content), srun_fd, 1);
    else
        frame_out_append(&link->out, str_bytes(&content));
    *srun_fd = -1;
    vec_each (&link->early, command)
        frame_out_append(&link->out, str_bytes(command));
    link_flush(link);
    return 0;
}

void step_spawn(struct slurmd *slurmd, struct step_key key, const struct step_order *order,
                int srun_fd) {
    struct step_link *link = link_find(slurmd, key);
    struct error err = ERROR_INIT;

    if (link && link_start(link, order, &srun_fd, &err) < 0) {
        struct agent_effects effects = {0};
        log_error("job %u: %s", key.job_id, err.text);
        link_free(link);
        agent_launch_failed(slurmd->agent, loop_monotonic_usec(), key, &err, &effects);
        slurmd_effects(slurmd, &effects);
    }
    if (srun_fd >= 0)
        close(srun_fd);
}

void step_command(struct slurmd *slurmd, struct step_key key, const struct step_command *command) {
    struct step_link *link = link_find(slurmd, key);
    struct str content = STR_INIT;

    if (!link)
        return;
    step_frame_encode(STEP_FRAME_COMMAND, &record_step_command, command, &content);
    if (link->fd < 0) {
        vec_push(&link->early, content);
        return;
    }
    frame_out_append(&link->out, str_bytes(&content));
    str_done(&content);
    link_flush(link);
}

void step_watch(struct slurmd *slurmd, struct step_key key, struct bytes channel, int fd) {
    struct step_link *link = link_find(slurmd, key);
    cleanup_str struct str content = STR_INIT;
    struct step_watcher watcher = {{(uint8_t *) (uintptr_t) channel.data, channel.size}};

    if (!link || link->fd < 0) {
        close(fd);
        return;
    }
    step_frame_encode(STEP_FRAME_WATCHER, &record_step_watcher, &watcher, &content);
    frame_out_append_fds(&link->out, str_bytes(&content), &fd, 1);
    link_flush(link);
}

/* ---- after a restart ---- */

static void on_adopt_timeout(void *context) {
    struct slurmd *slurmd = context;

    log_error("%zu of the slurmstepds found at the start do not answer; going on without them",
              slurmd->n_adopting);
    list_each (&slurmd->links, node)
        list_entry(node, struct step_link, in_slurmd)->adopting = false;
    slurmd->n_adopting = 0;
    controller_register(slurmd);
}

static void adopt(struct slurmd *slurmd, const char *directory, const char *name) {
    cleanup_str struct str path = STR_INIT;
    struct step_key key;
    struct step_link *link;
    struct agent_effects effects = {0};
    int fd;

    if (!step_socket_parse(name, &key.job_id, &key.step_id, &key.attempt))
        return;
    str_printf(&path, "%s/%s", directory, name);
    if (sock_dial_unix(path.data, &fd, NULL) < 0) {
        log_info("slurmstepd of %s has gone; ending what is left of its step", name);
        (void) unlink(path.data);
        agent_step_found_dead(slurmd->agent, key, &effects);
        slurmd_effects(slurmd, &effects);
        return;
    }
    link = link_add(slurmd, key);
    if (link_watch(link, fd, NULL) < 0) {
        close(fd);
        link_free(link);
        return;
    }
    link->adopting = true;
    slurmd->n_adopting++;
}

void steps_adopt(struct slurmd *slurmd) {
    cleanup_str struct str directory = STR_INIT;
    struct dirent *entry;
    DIR *dir;

    slurmd->adopt_timer = loop_timer_add(slurmd->loop, on_adopt_timeout, slurmd);
    str_printf(&directory, "%s/step", slurmd->spool_dir);
    dir = opendir(directory.data);
    while (dir && (entry = readdir(dir)))
        adopt(slurmd, directory.data, entry->d_name);
    if (dir)
        closedir(dir);
    if (slurmd->n_adopting > 0) {
        log_info("%zu steps go on from before", slurmd->n_adopting);
        loop_timer_set(slurmd->adopt_timer, loop_monotonic_usec() + ADOPT_USEC);
    }
}
