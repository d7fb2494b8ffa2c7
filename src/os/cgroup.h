/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control groups: keeping track of all processes of a step, ending them for certain, and limiting
 * them. Works on v2, on split v1 mounts, and on both at once (v2 for tracking, v1 for limits);
 * where nothing is writable (an ordinary user) the mode is CGROUP_NONE and the caller tracks by
 * session and as sub-reaper instead.
 *
 * A group is a path below the base, the same in every hierarchy that it needs.
 */
#ifndef SLUICE_OS_CGROUP_H
#define SLUICE_OS_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/str.h"
#include "os/devices.h"

/* What a group can do; a bit mask. CGROUP_TRACK is always part of a group. */
enum cgroup_part {
    CGROUP_TRACK = 1u << 0, /* list, kill, tell when empty: the v2 tree, or v1's freezer */
    CGROUP_MEMORY = 1u << 1,
    CGROUP_CPUSET = 1u << 2,
    CGROUP_CPU = 1u << 3,
    CGROUP_PIDS = 1u << 4,
    CGROUP_DEVICES = 1u << 5, /* v2: by a program, see devices.h */
    CGROUP_PARTS = 6,
};

enum cgroup_mode { CGROUP_NONE, CGROUP_V1, CGROUP_V2, CGROUP_HYBRID };

struct cgroup_tree; /* what is mounted and usable */
struct cgroup;      /* one group */

struct cgroup_choice {
    /* A path below each mount under which all groups are made ("system.slice/slurmd.service", "" =
     * the root), or NULL = the first of: the root, the group that we are in. */
    const char *base;
    const char *mountpoint; /* only what is mounted here or below; NULL = anywhere */
    bool no_v1, no_v2;
};
/* choice NULL = all defaults. Never fails: what is missing shows in the mode and the parts. */
struct cgroup_tree *cgroup_tree_new(const struct cgroup_choice *choice);
void cgroup_tree_free(struct cgroup_tree *tree);
enum cgroup_mode cgroup_tree_mode(const struct cgroup_tree *tree);
uint32_t cgroup_tree_parts(const struct cgroup_tree *tree); /* usable ones */
/* Those of them that v2 provides, CGROUP_TRACK included. */
uint32_t cgroup_tree_v2_parts(const struct cgroup_tree *tree);
/* One sentence for the log: what is used, and why not more. */
const char *cgroup_tree_describe(const struct cgroup_tree *tree);
/* The tree as text, and back: another process of ours need not look again. NULL when the text
 * cannot be read. */
void cgroup_tree_print(const struct cgroup_tree *tree, struct str *out);
struct cgroup_tree *cgroup_tree_parse(const char *text);
/* "tracking", "memory", … */
const char *cgroup_part_name(enum cgroup_part part);

/* Makes (or finds again) the group `path`, e.g. "job_12/step_0", "" = the base, with these parts;
 * parents are made as needed. ERR_NOT_SUPPORTED names a part that is not usable here. */
must_check int cgroup_make(struct cgroup_tree *tree, const char *path, uint32_t parts,
                           struct cgroup **ret, struct error *err);
/* The handle of a group that somebody has made or not. */
struct cgroup *cgroup_handle(struct cgroup_tree *tree, const char *path, uint32_t parts);
const char *cgroup_path(const struct cgroup *group);
void cgroup_free(struct cgroup *group); /* the handle only */
/* Removes the group and those below it. ERR_BUSY while processes are in there. A group that is gone
 * already is a success. */
must_check int cgroup_remove(struct cgroup *group, struct error *err);
/* Removes it unless others are below it or processes in it. */
void cgroup_remove_if_empty(struct cgroup *group);

/* Opens the files into which a child writes "0" to enter (struct spawn), that of v2 first; returns
 * how many (at most CGROUP_PARTS), the caller closes them. clone3(CLONE_INTO_CGROUP) is cheaper,
 * but only into a group that has never been killed: several kernels kill the child otherwise. */
must_check int cgroup_entry_fds(const struct cgroup *group, int fds[CGROUP_PARTS],
                                struct error *err);
/* The directory of the v2 group, for CLONE_INTO_CGROUP; -1 where v2 does not track. The caller
 * closes it. */
int cgroup_dir_fd(const struct cgroup *group);
must_check int cgroup_attach(const struct cgroup *group, pid_t pid, struct error *err);

/* Processes in the group and below it; *ret is freed by the caller. */
must_check int cgroup_pids(const struct cgroup *group, pid_t **ret, size_t *ret_n,
                           struct error *err);
must_check int cgroup_is_empty(const struct cgroup *group, bool *ret, struct error *err);
/* Sends a signal to every process once. SIGKILL goes to all at once and misses none, even of a fork
 * bomb; returns without waiting for them to be gone. */
must_check int cgroup_signal(const struct cgroup *group, int signal, struct error *err);
/* Waits a little until all stand still, which a process in a long system call may delay. */
must_check int cgroup_freeze(const struct cgroup *group, bool frozen, struct error *err);
/* A descriptor that shows EPOLLPRI when the group becomes empty or not (then ask cgroup_is_empty).
 * The caller closes it. ERR_NOT_SUPPORTED on v1: ask now and then. */
must_check int cgroup_events_fd(const struct cgroup *group, int *ret_fd, struct error *err);

/* ---- limits; each needs its part ---- */
/* UINT64_MAX = no limit. swap_bytes is on top of memory. */
must_check int cgroup_limit_memory(const struct cgroup *group, uint64_t bytes, uint64_t swap_bytes,
                                   struct error *err);
/* Whether swap_bytes can be enforced: some kernels count no swap. */
bool cgroup_counts_swap(const struct cgroup *group);
/* How readily it is swapped out, 0 to 100. v2 has no such thing: ERR_NOT_SUPPORTED. */
must_check int cgroup_set_swappiness(const struct cgroup *group, uint64_t value, struct error *err);
/* Lists such as "0-3,8". mems NULL = as the parent. */
must_check int cgroup_limit_cpus(const struct cgroup *group, const char *cpus, const char *mems,
                                 struct error *err);
must_check int cgroup_limit_pids(const struct cgroup *group, uint64_t max, struct error *err);
must_check int cgroup_deny_devices(const struct cgroup *group, const struct device_number *denied,
                                   size_t n, struct error *err);

/* ---- out of memory; needs CGROUP_MEMORY ---- */
/* A descriptor that shows `events` (of epoll) when the kernel kills in the group for want of
 * memory, or, on v1, is about to. It shows them until cgroup_oom_take(). The caller closes it. */
struct cgroup_oom {
    int fd;
    uint32_t events;
    bool is_v2;
};
must_check int cgroup_oom_watch(const struct cgroup *group, struct cgroup_oom *ret,
                                struct error *err);
/* The kernel's kills in the group so far; UINT64_MAX on v1, where the event alone tells. v2 shows
 * the event for less than a kill, too: whenever the limit was reached. */
uint64_t cgroup_oom_take(const struct cgroup_oom *watch);
/* The last three names of the group's path, as the kernel's log has them at its end; malloc. */
char *cgroup_oom_tail(const struct cgroup *group);

/* 0 where it cannot be told. memory_peak_bytes is the kernel's own, page cache included. */
struct cgroup_usage {
    uint64_t memory_peak_bytes, oom_kills, cpu_usec;
};
void cgroup_get_usage(const struct cgroup *group, struct cgroup_usage *ret);

#endif
