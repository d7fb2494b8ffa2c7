/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fence that was only configured is none: each kind is tried by a child in a group of its own,
 * which does what a job must not be able to do.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "slurmd/fence.h"

#define TEST_MSEC 10000 /* for one child, on a machine that is very busy */
#define TEST_MEMORY (16u << 20)
#define TEST_DEVICE "/dev/full" /* harmless to open, and nobody holds it */

enum { EXIT_HELD = 42, EXIT_NOT_HELD = 43, EXIT_NOT_TRIED = 44 };

/* ---- what a child does; it returns an exit status ---- */

static int try_cores(void) {
    cpu_set_t cpus;

    return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 && CPU_COUNT(&cpus) == 1 ? EXIT_HELD
                                                                                   : EXIT_NOT_HELD;
}

/* Held when it does not live to see the end. */
static int try_memory(void) {
    size_t size = 4u * TEST_MEMORY;
    char *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    for (size_t at = 0; block != MAP_FAILED && at < size; at += 4096)
        ((volatile char *) block)[at] = 1;
    return EXIT_NOT_HELD;
}

static int try_devices(void) {
    int fd = open(TEST_DEVICE, O_RDONLY | O_CLOEXEC);

    return fd < 0 && errno == EPERM ? EXIT_HELD : EXIT_NOT_HELD;
}

static int try_pids(void) {
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    return pid < 0 && errno == EAGAIN ? EXIT_HELD : EXIT_NOT_HELD;
}

/* ---- limits of the group ---- */

static int first_cpu(void) {
    cpu_set_t cpus;

    if (sched_getaffinity(0, sizeof(cpus), &cpus) < 0)
        return 0;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &cpus))
            return i;
    return 0;
}

static int limit_cores(const struct cgroup *group, struct error *err) {
    char cpu[16];

    snprintf(cpu, sizeof(cpu), "%d", first_cpu());
    return cgroup_limit_cpus(group, cpu, NULL, err);
}

static int limit_memory(const struct cgroup *group, struct error *err) {
    return cgroup_limit_memory(group, TEST_MEMORY, 0, err);
}

static int limit_devices(const struct cgroup *group, struct error *err) {
    struct device_number device;
    int r = device_find(TEST_DEVICE, &device, err);

    return r < 0 ? r : cgroup_deny_devices(group, &device, 1, err);
}

static int limit_pids(const struct cgroup *group, struct error *err) {
    return cgroup_limit_pids(group, 1, err);
}

static const struct trial {
    enum fence_kind kind;
    int (*limit)(const struct cgroup *group, struct error *err);
    int (*child)(void);
    bool ends_by_kill;
} trials[] = {
    {FENCE_CORES, limit_cores, try_cores, false},
    {FENCE_MEMORY, limit_memory, try_memory, true},
    {FENCE_DEVICES, limit_devices, try_devices, false},
    {FENCE_PIDS, limit_pids, try_pids, false},
};

/* ---- one trial ---- */

static void child_main(const struct cgroup *group, const struct trial *trial) {
    /* The kernel tells whoever limits its own memory; nobody needs a core file of that. */
    (void) prctl(PR_SET_DUMPABLE, 0);
    if (cgroup_attach(group, getpid(), NULL) < 0)
        _exit(EXIT_NOT_TRIED);
    _exit(trial->child());
}

/* With vm.panic_on_oom=2 the machine stops when a group runs out of memory. */
static bool oom_is_fatal(void) {
    FILE *file = fopen("/proc/sys/vm/panic_on_oom", "re");
    int value = 0;

    if (file && fscanf(file, "%d", &value) != 1)
        value = 0;
    if (file)
        fclose(file);
    return value == 2;
}

/* Waits for the child; what hangs is killed. */
static int wait_for(pid_t pid) {
    int status = 0;

    for (int i = 0; i < TEST_MSEC; i++) {
        pid_t r = waitpid(pid, &status, WNOHANG);
        if (r == pid)
            return status;
        if (r < 0 && errno != EINTR)
            return EXIT_NOT_TRIED << 8;
        nanosleep(&(struct timespec) {.tv_nsec = 1000000}, NULL);
    }
    (void) kill(pid, SIGKILL);
    (void) waitpid(pid, &status, 0);
    return EXIT_NOT_TRIED << 8;
}

static bool has_held(const struct trial *trial, int status) {
    if (trial->ends_by_kill)
        return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_HELD;
}

static int try_one(struct cgroup_tree *tree, const struct trial *trial, struct error *err) {
    cleanup_free char *path = xasprintf("test_%d", (int) getpid());
    struct cgroup *group;
    int r = cgroup_make(tree, path, fence_part(trial->kind), &group, err);

    if (r < 0)
        return r;
    r = trial->limit(group, err);
    if (r == 0 && !(trial->ends_by_kill && oom_is_fatal())) {
        pid_t pid = fork();
        if (pid == 0)
            child_main(group, trial);
        int status = pid > 0 ? wait_for(pid) : EXIT_NOT_TRIED << 8;
        if (!has_held(trial, status))
            r = error_set(err, ERR_SYSTEM, "the kernel took the limit and did not enforce it");
    }
    (void) !cgroup_signal(group, SIGKILL, NULL);
    (void) !cgroup_remove(group, NULL);
    cgroup_free(group);
    return r;
}

uint32_t fences_try(struct cgroup_tree *tree, uint32_t kinds, struct str *why_not) {
    uint32_t held = 0;

    for (size_t i = 0; i < countof(trials); i++) {
        struct error err = ERROR_INIT;
        if (!(kinds & trials[i].kind))
            continue;
        if (try_one(tree, &trials[i], &err) == 0) {
            held |= trials[i].kind;
            continue;
        }
        str_join(why_not, "; ", fence_name(trials[i].kind));
        str_printf(why_not, ": %s", err.text);
    }
    /* Swap is a limit of the memory group; whether the machine swaps cannot be tried out. */
    if (held & FENCE_MEMORY)
        held |= kinds & FENCE_SWAP;
    return held;
}
