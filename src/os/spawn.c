/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting programs; see spawn.h. Two ways to make the child:
 *
 * - sharing our memory until exec (clone with CLONE_VM and CLONE_VFORK, as posix_spawn does), a
 *   quarter cheaper than fork; only for children that keep our identity: a process that shares our
 *   memory must never belong to a user, who could stop or trace it.
 * - fork, for everything else.
 *
 * In the child only system calls are made. The identity is changed with raw system calls, because
 * glibc's setresuid() signals all threads, which do not exist in the child.
 */
#include "os/spawn.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"

#define CHILD_STACK (64u << 10)
/* AddressSanitizer takes the child's stack for ours. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SHARES_MEMORY false
#else
#define SHARES_MEMORY true
#endif
#define FDS_MAX 64

/* What goes through the report pipe: any number of notes, then at most one failure. */
struct note {
    enum { NOTE_FAILED, NOTE_CWD, NOTE_LIMIT } type;
    int stage; /* NOTE_LIMIT: the resource */
    int errnum;
};

struct child {
    const struct spawn *spec;
    int report_fd;
    int gate_fd; /* -1 = do not wait */
    sigset_t mask;
    pid_t parent;
};

/* ---- in the child ---- */

static void child_note(const struct child *child, int type, int stage, int errnum) {
    struct note note = {.type = type, .stage = stage, .errnum = errnum};
    ssize_t n = write(child->report_fd, &note, sizeof(note));
    (void) n;
}

__attribute__((noreturn)) static void child_fail(const struct child *child, int stage) {
    child_note(child, NOTE_FAILED, stage, errno);
    _exit(127);
}

static void child_signals(void) {
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = SIG_DFL;
    for (int i = 1; i < NSIG; i++)
        sigaction(i, &action, NULL); /* also those that we ignore, which exec would keep */
}

static void child_session(const struct child *child) {
    const struct spawn *spec = child->spec;
    if (spec->new_session && setsid() < 0)
        child_fail(child, SPAWN_SESSION);
    if (spec->terminal_fd > 0 && ioctl(spec->terminal_fd, TIOCSCTTY, 0) < 0)
        child_fail(child, SPAWN_TERMINAL);
    if (!spec->new_session && spec->new_group && setpgid(0, spec->group_pid) < 0)
        child_fail(child, SPAWN_SESSION);
}

static void child_resources(const struct child *child) {
    const struct spawn *spec = child->spec;
    for (size_t i = 0; i < spec->n_cgroup_fds; i++)
        if (write(spec->cgroup_fds[i], "0", 1) < 0)
            child_fail(child, SPAWN_CGROUP);
    if (spec->has_oom_score) {
        char text[16], *at = text + sizeof(text);
        unsigned value = (unsigned) abs(spec->oom_score_adj);
        do {
            *--at = (char) ('0' + value % 10);
        } while (value /= 10);
        if (spec->oom_score_adj < 0)
            *--at = '-';
        int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? 0 : write(fd, at, (size_t) (text + sizeof(text) - at));
        (void) n;
        close(fd);
    }
    if (spec->nice != 0) {
        int priority = getpriority(PRIO_PROCESS, 0);
        setpriority(PRIO_PROCESS, 0, priority + spec->nice);
    }
    for (size_t i = 0; i < spec->n_limits; i++)
        if (setrlimit((__rlimit_resource_t) spec->limits[i].resource, &spec->limits[i].value) < 0)
            child_note(child, NOTE_LIMIT, spec->limits[i].resource, errno);
    if (spec->cpus && sched_setaffinity(0, spec->cpus_size, spec->cpus) < 0)
        child_fail(child, SPAWN_CPUS);
}

/* Puts every descriptor at its place. All sources are first copied above all places, so that none
 * is overwritten before it is used. */
static void child_fds(struct child *child) {
    const struct spawn *spec = child->spec;
    struct spawn_fd all[FDS_MAX + 3] = {
        {spec->stdin_fd, 0}, {spec->stdout_fd, 1}, {spec->stderr_fd, 2}};
    size_t n = 3;
    int top = 2;
    for (size_t i = 0; i < spec->n_fds; i++) {
        all[n++] = spec->fds[i];
        if (spec->fds[i].to > top)
            top = spec->fds[i].to;
    }
#ifdef SYS_close_range
    syscall(SYS_close_range, 3, ~0u, 4 /* CLOSE_RANGE_CLOEXEC; our own are so anyway */);
#endif
    int *const ours[] = {&child->report_fd, &child->gate_fd};
    for (size_t i = 0; i < countof(ours); i++)
        if (*ours[i] >= 0 && *ours[i] <= top &&
            (*ours[i] = fcntl(*ours[i], F_DUPFD_CLOEXEC, top + 1)) < 0)
            child_fail(child, SPAWN_FDS);
    for (size_t i = 0; i < n; i++) {
        int from = all[i].from;
        if (from < 0) {
            from = open("/dev/null", O_RDWR | O_CLOEXEC);
            all[i].from = from;
        }
        if (from >= 0 && from <= top)
            all[i].from = fcntl(from, F_DUPFD_CLOEXEC, top + 1);
        if (all[i].from < 0)
            child_fail(child, SPAWN_FDS);
    }
    for (size_t i = 0; i < n; i++)
        if (dup2(all[i].from, all[i].to) < 0) /* the copy is not close-on-exec */
            child_fail(child, SPAWN_FDS);
}

static void child_identity(const struct child *child) {
    const struct spawn *spec = child->spec;
    if (!spec->has_identity)
        return;
    /* An ordinary user may start programs as itself only: nothing to change, nothing allowed. */
    if (geteuid() != 0 && spec->uid == geteuid() && spec->gid == getegid())
        return;
    if (syscall(SYS_setgroups, spec->n_groups, spec->groups) < 0 ||
        syscall(SYS_setresgid, spec->gid, spec->gid, spec->gid) < 0 ||
        syscall(SYS_setresuid, spec->uid, spec->uid, spec->uid) < 0)
        child_fail(child, SPAWN_IDENTITY);
}

static void child_directory(const struct child *child) {
    const struct spawn *spec = child->spec;
    if (spec->has_umask)
        umask(spec->umask);
    if (!spec->cwd || chdir(spec->cwd) == 0)
        return;
    int errnum = errno;
    if (!spec->cwd_fallback)
        child_fail(child, SPAWN_CWD);
    if (chdir(spec->cwd_fallback) < 0)
        child_fail(child, SPAWN_CWD);
    child_note(child, NOTE_CWD, 0, errnum);
}

static void child_gate(const struct child *child) {
    char go;
    ssize_t n;
    if (child->gate_fd < 0)
        return;
    do {
        n = read(child->gate_fd, &go, 1);
    } while (n < 0 && errno == EINTR);
    if (n != 1)
        _exit(127); /* abandoned, or the parent is gone */
}

static int child_run(void *argument) {
    struct child *child = argument;
    const struct spawn *spec = child->spec;
    child_signals();
    child_session(child);
    child_resources(child);
    child_fds(child);
    int errnum = spec->hook ? spec->hook(spec->hook_context) : 0;
    if (errnum != 0) {
        errno = errnum;
        child_fail(child, SPAWN_HOOK);
    }
    child_identity(child);
    child_directory(child);
    if (spec->death_signal) {
        prctl(PR_SET_PDEATHSIG, spec->death_signal); /* changing the identity clears it */
        if (getppid() != child->parent)
            _exit(127);
    }
    child_gate(child);
    sigprocmask(SIG_SETMASK, &child->mask, NULL);
    execve(spec->path, spec->argv, spec->envp);
    child_fail(child, SPAWN_EXEC);
}

/* ---- in the parent ---- */

static pid_t make_child(struct child *child) {
    const struct spawn *spec = child->spec;
    if (!SHARES_MEMORY || spec->has_identity || spec->hook || child->gate_fd >= 0) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(child_run(child));
        return pid;
    }
    void *stack = mmap(NULL, CHILD_STACK, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED)
        return -1;
    pid_t pid =
        clone(child_run, (char *) stack + CHILD_STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, child);
    int errnum = errno;
    munmap(stack, CHILD_STACK);
    errno = errnum;
    return pid;
}

static int stage_error(const struct spawn *spec, enum spawn_stage stage, int errnum,
                       struct error *err) {
    switch (stage) {
    case SPAWN_SESSION:
        return error_errno(err, errnum, "cannot give %s a session or process group", spec->path);
    case SPAWN_CGROUP:
        return error_errno(err, errnum, "cannot move %s to its control group", spec->path);
    case SPAWN_CPUS:
        return error_errno(err, errnum, "cannot bind %s to its CPUs", spec->path);
    case SPAWN_FDS:
        return error_errno(err, errnum, "cannot set up the descriptors of %s", spec->path);
    case SPAWN_TERMINAL:
        return error_errno(err, errnum, "cannot give %s its terminal", spec->path);
    case SPAWN_HOOK:
        return error_errno(err, errnum, "cannot prepare the start of %s", spec->path);
    case SPAWN_IDENTITY:
        return error_errno(err, errnum, "cannot become uid %u, gid %u to start %s",
                           (unsigned) spec->uid, (unsigned) spec->gid, spec->path);
    case SPAWN_CWD:
        return error_errno(err, errnum, "cannot change to directory %s", spec->cwd);
    case SPAWN_EXEC:
        return error_errno(err, errnum, "cannot execute %s", spec->path);
    default:
        return error_set(err, ERR_SYSTEM, "%s was killed before it could start", spec->path);
    }
}

/* Reads the pipe to its end: exec closes it. */
static int read_report(int fd, const struct spawn *spec, struct spawn_report *report,
                       struct error *err) {
    struct note note;
    ssize_t n;
    while ((n = read(fd, &note, sizeof(note))) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n != (ssize_t) sizeof(note))
            break;
        if (note.type == NOTE_CWD) {
            report->cwd_errnum = note.errnum;
        } else if (note.type == NOTE_LIMIT) {
            report->limits_refused |= 1u << note.stage;
        } else {
            report->failed_at = (enum spawn_stage) note.stage;
            report->errnum = note.errnum;
        }
    }
    if (report->failed_at == SPAWN_OK)
        return 0;
    return stage_error(spec, report->failed_at, report->errnum, err);
}

static void reap(pid_t pid) {
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* Makes the child; *ret_report_fd is the reading end of its pipe. */
static int start(const struct spawn *spec, int gate_fd, pid_t *ret_pid, int *ret_report_fd,
                 struct error *err) {
    assert(spec->path && spec->argv && spec->envp && spec->n_fds <= FDS_MAX);
    int pipe_fds[2];
    if (pipe2(pipe_fds, O_CLOEXEC) < 0)
        return error_errno(err, errno, "cannot start %s", spec->path);
    struct child child = {
        .spec = spec, .report_fd = pipe_fds[1], .gate_fd = gate_fd, .parent = getpid()};
    /* No signal handler of ours may run in the child; those sent meanwhile stay pending. */
    sigset_t all, before;
    sigfillset(&all);
    sigemptyset(&child.mask);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = make_child(&child);
    int errnum = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(pipe_fds[1]);
    if (pid < 0) {
        close(pipe_fds[0]);
        return error_errno(
            err, errnum, "cannot fork to start %s%s", spec->path,
            errnum == EAGAIN ? " (raise the limit of processes: TasksMax=, ulimit -u)" : "");
    }
    *ret_pid = pid;
    *ret_report_fd = pipe_fds[0];
    return 0;
}

int spawn_process(const struct spawn *spec, pid_t *ret_pid, struct spawn_report *report,
                  struct error *err) {
    struct spawn_report ignored;
    if (!report)
        report = &ignored;
    *report = (struct spawn_report) {0};
    cleanup_fd int report_fd = -1;
    pid_t pid;
    int r = start(spec, -1, &pid, &report_fd, err);
    if (r < 0) {
        report->failed_at = SPAWN_FORK;
        return r;
    }
    r = read_report(report_fd, spec, report, err);
    if (r < 0) {
        reap(pid);
        return r;
    }
    *ret_pid = pid;
    return 0;
}

int spawn_hold(const struct spawn *spec, struct spawn_held *ret, struct error *err) {
    int gate[2];
    if (pipe2(gate, O_CLOEXEC) < 0)
        return error_errno(err, errno, "cannot start %s", spec->path);
    struct spawn_held held = {.gate_fd = gate[1], .report_fd = -1, .spec = spec};
    int r = start(spec, gate[0], &held.pid, &held.report_fd, err);
    close(gate[0]);
    if (r < 0) {
        close(gate[1]);
        return r;
    }
    *ret = held;
    return 0;
}

static void held_done(struct spawn_held *held) {
    fd_cleanup(&held->gate_fd);
    fd_cleanup(&held->report_fd);
    held->gate_fd = held->report_fd = -1;
}

int spawn_release(struct spawn_held *held, struct spawn_report *report, struct error *err) {
    struct spawn_report ignored;
    if (!report)
        report = &ignored;
    *report = (struct spawn_report) {0};
    /* A child that has failed does not read any more; its report says why. */
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    sigaction(SIGPIPE, &ignore, &before);
    ssize_t n = write(held->gate_fd, "g", 1);
    (void) n;
    sigaction(SIGPIPE, &before, NULL);
    int r = read_report(held->report_fd, held->spec, report, err);
    held_done(held);
    if (r < 0)
        reap(held->pid);
    return r;
}

void spawn_abandon(struct spawn_held *held) {
    held_done(held);
    kill(held->pid, SIGKILL);
    reap(held->pid);
}

/* ---- looking for programs ---- */

static bool is_program(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

int spawn_find(const char *program, const char *path_variable, char **ret, struct error *err) {
    if (strchr(program, '/')) {
        *ret = xstrdup(program);
        return 0;
    }
    const char *at = path_variable ? path_variable : "/usr/local/bin:/usr/bin:/bin";
    while (*program && *at) {
        size_t length = strcspn(at, ":");
        cleanup_free char *candidate = length == 0
                                           ? xasprintf("./%s", program)
                                           : xasprintf("%.*s/%s", (int) length, at, program);
        if (is_program(candidate)) {
            *ret = take(candidate);
            return 0;
        }
        at += length + (at[length] == ':');
    }
    return error_set(err, ERR_NOT_FOUND, "%s: no such program in PATH=%s", program,
                     path_variable ? path_variable : "");
}
