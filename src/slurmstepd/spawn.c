/* SPDX-License-Identifier: Apache-2.0 */
#include "slurmstepd/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os/clone.h"
#include "os/loop.h"

/* What parent and child share. */
struct spawning {
    const struct spawn_plan *plan;
    const char *search; /* PATH, or NULL when the program has a slash */
    char *candidate;    /* room for the longest directory of PATH with the program */
    bool born_in_cgroup;
    const char *failed; /* system call that failed */
    int failure;        /* its errno */
};

static int child_fail(struct spawning *s, const char *what) {
    s->failed = what;
    s->failure = errno;
    return -1;
}

/* Raw system calls: the C library's wrappers tell the other threads, and these are our parent's. */
static int child_identity(struct spawning *s) {
    const struct spawn_identity *id = s->plan->identity;

    if (!id)
        return 0;
    if (syscall(SYS_setgroups, id->n_groups, id->groups) < 0)
        return child_fail(s, "setgroups()");
    if (syscall(SYS_setresgid, id->gid, id->gid, id->gid) < 0)
        return child_fail(s, "setresgid()");
    if (syscall(SYS_setresuid, id->uid, id->uid, id->uid) < 0)
        return child_fail(s, "setresuid()");
    return 0;
}

static int child_extra(int fd) {
    return fd == SPAWN_EXTRA_FD ? fcntl(fd, F_SETFD, 0) : dup2(fd, SPAWN_EXTRA_FD);
}

static int child_descriptors(struct spawning *s) {
    int fds[3];

    /* first out of the way of 0…2, then into place: the sources may be 0…2 in any order */
    for (int i = 0; i < 3; i++) {
        fds[i] = s->plan->fds[i];
        if (fds[i] >= 0 && fds[i] < 3) {
            fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 3);
            if (fds[i] < 0)
                return child_fail(s, "fcntl()");
        }
    }
    for (int i = 0; i < 3; i++) {
        if (dup2(fds[i], i) < 0)
            return child_fail(s, "dup2()");
    }
    if (s->plan->extra_fd > 0 && child_extra(s->plan->extra_fd) < 0)
        return child_fail(s, "dup2()");
    return 0;
}

static void child_limits(const struct spawn_plan *plan) {
    for (size_t i = 0; i < plan->n_rlimits; i++) {
        __rlimit_resource_t resource = (__rlimit_resource_t) plan->rlimits[i].resource;
        rlim_t soft = plan->rlimits[i].soft == UINT64_MAX ? RLIM_INFINITY : plan->rlimits[i].soft;
        struct rlimit now, wanted;
        if (getrlimit(resource, &now) < 0)
            continue;
        wanted.rlim_cur = soft;
        wanted.rlim_max = soft > now.rlim_max ? soft : now.rlim_max;
        if (setrlimit(resource, &wanted) < 0) {
            wanted.rlim_cur = soft > now.rlim_max ? now.rlim_max : soft;
            wanted.rlim_max = now.rlim_max;
            (void) setrlimit(resource, &wanted);
        }
    }
}

static void child_exec(struct spawning *s) {
    const struct spawn_plan *plan = s->plan;
    int denied = 0;

    if (!s->search) {
        execve(plan->program, plan->argv, plan->envp);
        (void) child_fail(s, "execve()");
        return;
    }
    for (const char *at = s->search; at; at = *at ? at + 1 : NULL) {
        size_t length = strcspn(at, ":");
        size_t n = 0;
        if (length > 0) {
            memcpy(s->candidate, at, length);
            n = length;
            s->candidate[n++] = '/';
        }
        strcpy(s->candidate + n, plan->program);
        execve(s->candidate, plan->argv, plan->envp);
        if (errno == EACCES)
            denied = EACCES;
        else if (errno != ENOENT && errno != ENOTDIR && errno != ENODEV && errno != ESTALE)
            break;
        at += length;
        if (!*at)
            break;
    }
    if (denied && (errno == ENOENT || errno == ENOTDIR))
        errno = denied;
    (void) child_fail(s, "execve()");
}

static void child_pid(char *digits) {
    unsigned long pid = (unsigned long) syscall(SYS_getpid);
    char reversed[12];
    int n = 0;

    do
        reversed[n++] = (char) ('0' + pid % 10);
    while ((pid /= 10) > 0);
    while (n > 0)
        *digits++ = reversed[--n];
    *digits = '\0';
}

static void child_write(const char *text, size_t length) {
    (void) !write(2, text, length);
}

/* "HEAD pid TAIL": a line about a binding, in one piece unless a mask is very long. */
static void child_line(const char *head, const char *tail, bool failed) {
    char line[256], digits[12];
    size_t length = 0;

    if (!head)
        return;
    child_pid(digits);
    const char *parts[] = {head, digits, tail, failed ? " FAILED\n" : "\n"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        size_t n = strlen(parts[i]);
        if (length + n > sizeof(line)) { /* a mask of very many CPUs */
            child_write(line, length);
            child_write(parts[i], n);
            length = 0;
            continue;
        }
        memcpy(line + length, parts[i], n);
        length += n;
    }
    child_write(line, length);
}

/* After the control group, whose CPUs bound the mask. */
static void child_bind(const struct spawn_plan *plan) {
    int mem_errno = 0;

    if (plan->cpus && syscall(SYS_sched_setaffinity, 0, plan->cpus_size, plan->cpus) < 0)
        *plan->ret_bind_errno = errno;
    /* The kernel takes one bit less than it is told. */
    if (plan->has_mem_policy && syscall(SYS_set_mempolicy, plan->mem_policy, plan->mem_nodes,
                                        plan->mem_nodes ? plan->mem_nodes_bits + 1 : 0) < 0)
        mem_errno = errno;
    if (plan->ret_mem_errno)
        *plan->ret_mem_errno = mem_errno;
    child_line(plan->bind_head, plan->bind_tail, plan->ret_bind_errno && *plan->ret_bind_errno);
    child_line(plan->mem_head, plan->mem_tail, mem_errno != 0);
}

static int child_main(void *argument) {
    struct spawning *s = argument;
    const struct spawn_plan *plan = s->plan;

    if (plan->pid_digits)
        child_pid(plan->pid_digits);
    for (size_t i = s->born_in_cgroup ? 1 : 0; plan->entry && i < plan->entry->n_fds; i++) {
        if (write(plan->entry->fds[i], "0", 1) < 0) {
            (void) child_fail(s, "cgroup");
            _exit(1);
        }
    }
    (void) setsid();
    if (child_descriptors(s) < 0)
        _exit(1);
    child_bind(plan);
    if (plan->controlling_tty && ioctl(0, TIOCSCTTY, 0) < 0) {
        (void) child_fail(s, "TIOCSCTTY");
        _exit(1);
    }
    child_limits(plan);
    if (plan->has_nice)
        (void) setpriority(PRIO_PROCESS, 0, plan->nice);
    (void) umask(plan->umask);
    clone_reset_signals();
    if (child_identity(s) < 0)
        _exit(1);
    child_exec(s);
    _exit(s->failure);
}

static const char *search_path(const struct spawn_plan *plan) {
    if (strchr(plan->program, '/'))
        return NULL;
    for (char *const *entry = plan->envp; *entry; entry++) {
        if (strncmp(*entry, "PATH=", 5) == 0)
            return *entry + 5;
    }
    return "";
}

/* A script that is there and "not found": it is the interpreter of its first line that is not.
 * Returns that, or NULL. */
static char *missing_interpreter(const char *program) {
    char line[256];
    cleanup_fd int fd = strchr(program, '/') ? open(program, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t n = fd >= 0 ? read(fd, line, sizeof(line) - 1) : -1;

    if (n < 3 || line[0] != '#' || line[1] != '!')
        return NULL;
    line[n] = '\0';
    const char *start = line + 2 + strspn(line + 2, " \t");
    return xstrndup(start, strcspn(start, " \t\r\n"));
}

static int exec_error(const struct spawn_plan *plan, int failure, struct error *err) {
    cleanup_free char *interpreter = failure == ENOENT ? missing_interpreter(plan->program) : NULL;

    if (interpreter)
        return error_errno(err, failure, "execve(): bad interpreter(%s)", interpreter);
    return error_errno(err, failure, "execve(): %s", plan->program);
}

int spawn_start(const struct spawn_plan *plan, pid_t *ret_pid, int *ret_errno, struct error *err) {
    struct spawning s = {.plan = plan, .search = search_path(plan)};
    cleanup_free char *candidate = NULL;

    if (s.search)
        s.candidate = candidate = xmalloc(strlen(s.search) + strlen(plan->program) + 2);
    pid_t pid =
        clone_vfork(plan->entry ? plan->entry->dir_fd : -1, &s.born_in_cgroup, child_main, &s);
    if (pid < 0) {
        *ret_errno = errno;
        return error_errno(err, *ret_errno, "clone()");
    }
    *ret_pid = pid;
    if (!s.failed)
        return 0;
    *ret_errno = s.failure;
    if (strcmp(s.failed, "execve()") == 0)
        return exec_error(plan, s.failure, err);
    return error_errno(err, s.failure, "%s", s.failed);
}

void spawn_read(int fd, uint64_t timeout_usec, size_t max, struct str *out) {
    uint64_t deadline = loop_monotonic_usec() + timeout_usec;
    char buffer[4096];

    while (out->length < max) {
        struct pollfd pollfd = {.fd = fd, .events = POLLIN};
        uint64_t now = loop_monotonic_usec();
        ssize_t n;
        if (now >= deadline || poll(&pollfd, 1, (int) ((deadline - now) / 1000 + 1)) <= 0)
            return;
        n = read(fd, buffer, sizeof(buffer));
        if (n <= 0)
            return;
        str_append_bytes(out, buffer, (size_t) n);
    }
}

void identity_enter(const struct spawn_identity *id) {
    if (!id)
        return;
    if (setgroups(id->n_groups, id->groups) < 0 || setresgid((gid_t) -1, id->gid, (gid_t) -1) < 0 ||
        setresuid((uid_t) -1, id->uid, (uid_t) -1) < 0)
        abort(); /* going on as root would open what the user may not */
}

void identity_leave(void) {
    if (geteuid() == getuid())
        return;
    if (setresuid((uid_t) -1, getuid(), (uid_t) -1) < 0 ||
        setresgid((gid_t) -1, getgid(), (gid_t) -1) < 0 || setgroups(0, NULL) < 0)
        abort();
}
