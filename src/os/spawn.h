/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting a program with everything that a job needs set up between fork and exec: session,
 * control groups, limits, CPU binding, descriptors, identity, directory. The child runs only
 * async-signal-safe code; what fails there comes back through a pipe, so the caller knows the cause
 * before spawn returns.
 */
#ifndef SLUICE_OS_SPAWN_H
#define SLUICE_OS_SPAWN_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"

struct spawn_fd {
    int from, to; /* to >= 3; 0, 1 and 2 have their own fields */
};
struct spawn_limit {
    int resource; /* RLIMIT_… */
    struct rlimit value;
};

struct spawn {
    const char *path;  /* of the program; see spawn_find() */
    char *const *argv; /* ends with NULL, as envp */
    char *const *envp;
    int stdin_fd, stdout_fd, stderr_fd; /* -1 = /dev/null */
    const struct spawn_fd *fds;         /* further ones; everything else is closed by exec */
    size_t n_fds;
    bool new_session; /* setsid(); the child leads its session and process group */
    bool new_group;   /* its own process group, or, with group_pid, that one */
    pid_t group_pid;
    int terminal_fd;       /* > 0: made the controlling terminal (needs new_session) */
    const int *cgroup_fds; /* open cgroup.procs files that the child enters */
    size_t n_cgroup_fds;
    const struct spawn_limit *limits; /* one that cannot be set is reported, not fatal */
    size_t n_limits;
    const cpu_set_t *cpus; /* NULL = as ours */
    size_t cpus_size;
    int nice; /* added; 0 = as ours */
    bool has_oom_score;
    int oom_score_adj; /* failure is ignored: it may need a privilege */
    bool has_identity; /* the next four */
    uid_t uid;
    gid_t gid;
    const gid_t *groups;
    size_t n_groups;
    bool has_umask;
    mode_t umask;
    const char *cwd;          /* entered as the user; NULL = as ours */
    const char *cwd_fallback; /* when cwd cannot be entered; NULL = that is an error */
    int death_signal;         /* sent to the child when the calling thread dies; 0 = none */
    /* Runs in the child as root before the identity changes; async-signal-safe only. Returns 0 or
     * an errno. */
    int (*hook)(void *context);
    void *hook_context;
};

enum spawn_stage {
    SPAWN_OK,
    SPAWN_FORK,
    SPAWN_SESSION,
    SPAWN_CGROUP,
    SPAWN_CPUS,
    SPAWN_FDS,
    SPAWN_TERMINAL,
    SPAWN_HOOK,
    SPAWN_IDENTITY,
    SPAWN_CWD,
    SPAWN_EXEC,
    SPAWN_DIED, /* killed before exec */
};
struct spawn_report {
    enum spawn_stage failed_at; /* SPAWN_OK = the program runs */
    int errnum;
    int cwd_errnum;          /* not 0: cwd could not be entered and cwd_fallback was */
    uint32_t limits_refused; /* bit mask of RLIMIT_… numbers */
};

/* Starts the program; 0 means that exec has succeeded. A child that failed has been reaped. report
 * may be NULL. */
must_check int spawn_process(const struct spawn *spec, pid_t *ret_pid, struct spawn_report *report,
                             struct error *err);

/* In two steps: the child is set up and waits before exec, so that the caller can register, trace
 * or account it first. */
struct spawn_held {
    pid_t pid;
    int gate_fd, report_fd;
    const struct spawn *spec;
};
must_check int spawn_hold(const struct spawn *spec, struct spawn_held *ret, struct error *err);
/* Lets it exec and waits until it has. spec must still be valid. */
must_check int spawn_release(struct spawn_held *held, struct spawn_report *report,
                             struct error *err);
void spawn_abandon(struct spawn_held *held); /* ends and reaps the child */

/* The path of a program as a shell would find it: as it is when it contains '/', else in the
 * directories of path_variable. Freed by the caller. ERR_NOT_FOUND. */
must_check int spawn_find(const char *program, const char *path_variable, char **ret,
                          struct error *err);

#endif
