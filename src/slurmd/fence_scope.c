/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where systemd is process 1 the v2 tree is its own: groups may be made only below a unit that it
 * has handed over (Delegate=yes; "Control Group APIs and Delegation", systemd.io). A scope does
 * that, and it is not slurmd's service, so that steps survive a restart of that. systemd-run makes
 * it; a unit needs a process, which is a slurmstepd that only waits. It lives, like those of the
 * steps, in the group "system" of the scope.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os/clone.h"
#include "os/log.h"
#include "slurmd/slurmd.h"

#define SYSTEMD_RUN "systemd-run"
#define HOLDERS "system"

struct scope_start {
    char *const *argv;
    int null_fd, failure;
};

static int run_child(void *context) {
    struct scope_start *start = context;

    (void) setsid();
    clone_reset_signals();
    for (int i = 0; i < 2; i++)
        (void) dup2(start->null_fd, i);
    execvp(start->argv[0], start->argv);
    start->failure = errno;
    _exit(127);
}

static void sleep_msec(void) {
    nanosleep(&(struct timespec) {.tv_nsec = 1000000}, NULL);
}

/* Until the process is in the scope: then systemd has handed it over. */
static int wait_for_scope(const struct cgroup *base, pid_t pid, uint32_t timeout_msec,
                          struct error *err) {
    for (uint32_t i = 0; i < timeout_msec; i++) {
        cleanup_free pid_t *pids = NULL;
        size_t n = 0;
        int status;
        if (cgroup_pids(base, &pids, &n, NULL) == 0)
            for (size_t j = 0; j < n; j++)
                if (pids[j] == pid)
                    return 0;
        if (waitpid(pid, &status, WNOHANG) == pid)
            return error_set(err, ERR_SYSTEM,
                             "systemd makes no scope (" SYSTEMD_RUN " ended with status %d)",
                             WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
        sleep_msec();
    }
    (void) kill(pid, SIGKILL);
    (void) waitpid(pid, NULL, 0);
    return error_set(err, ERR_TIMEOUT,
                     "systemd has made no scope within %u ms (SystemdTimeout in cgroup.conf)",
                     timeout_msec);
}

static int run_scope(struct slurmd *slurmd, const char *unit, const char *slice, pid_t *ret_pid,
                     struct error *err) {
    cleanup_free char *unit_arg = xasprintf("--unit=%s", unit);
    cleanup_free char *slice_arg = xasprintf("--slice=%s", slice);
    cleanup_fd int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    char *argv[] = {(char *) SYSTEMD_RUN,
                    (char *) "--scope",
                    (char *) "--quiet",
                    (char *) "--collect",
                    unit_arg,
                    slice_arg,
                    (char *) "--property=Delegate=yes",
                    (char *) "--property=TasksMax=infinity",
                    (char *) "--",
                    slurmd->stepd_path,
                    (char *) "infinity",
                    NULL};
    struct scope_start start = {.argv = argv, .null_fd = null};
    bool ignored;
    pid_t pid = clone_vfork(-1, &ignored, run_child, &start);

    if (pid < 0)
        return error_errno(err, errno, "cannot start " SYSTEMD_RUN);
    if (start.failure) {
        (void) waitpid(pid, NULL, 0);
        return error_errno(err, start.failure, "cannot start " SYSTEMD_RUN);
    }
    *ret_pid = pid;
    return 0;
}

bool fence_systemd_runs(void) {
    return access("/run/systemd/system", F_OK) == 0; /* as sd_booted(3) */
}

/* The holder goes out of the way: a group with members of its own hands no controllers on. */
static int make_holders(struct fences *fences, pid_t pid, struct error *err) {
    struct cgroup *group;
    int r = cgroup_make(fences->tree, HOLDERS, CGROUP_TRACK, &group, err);

    if (r < 0)
        return r;
    if (pid > 0)
        r = cgroup_attach(group, pid, err);
    if (r == 0)
        fences->stepds_fd = cgroup_dir_fd(group);
    cgroup_free(group);
    return r;
}

/* Whoever ends the scope ends it on purpose. */
static void reaped(pid_t pid, int status, void *context) {}

int fence_scope_open(struct slurmd *slurmd, const char *unit, const char *slice,
                     struct error *err) {
    struct fences *fences = &slurmd->fences;
    struct cgroup *base = cgroup_handle(fences->tree, "", CGROUP_TRACK);
    int fd = cgroup_dir_fd(base);
    pid_t pid = 0;
    int r = 0;

    if (fd >= 0) { /* of the slurmd before us, with steps perhaps */
        close(fd);
    } else {
        r = run_scope(slurmd, unit, slice, &pid, err);
        if (r == 0)
            r = wait_for_scope(base, pid, slurmd->conf->cgroup.systemd_timeout, err);
        if (r == 0 && loop_child(slurmd->loop, pid, reaped, NULL, NULL) < 0)
            log_error("the process %d that holds the scope will stay a zombie", (int) pid);
    }
    cgroup_free(base);
    return r < 0 ? r : make_holders(fences, pid, err);
}

void fence_scope_close(struct fences *fences) {
    struct cgroup *base = cgroup_handle(fences->tree, "", CGROUP_TRACK);
    struct cgroup *holders = cgroup_handle(fences->tree, HOLDERS, CGROUP_TRACK);
    cleanup_free pid_t *all = NULL, *held = NULL;
    size_t n_all = 0, n_held = 0;

    close(fences->stepds_fd);
    fences->stepds_fd = -1;
    /* Alone: nothing runs here any more, and the scope goes with its last process. */
    if (cgroup_pids(base, &all, &n_all, NULL) == 0 &&
        cgroup_pids(holders, &held, &n_held, NULL) == 0 && n_all == 1 && n_held == 1)
        (void) kill(held[0], SIGTERM);
    cgroup_free(holders);
    cgroup_free(base);
}
