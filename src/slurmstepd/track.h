/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every process of a step, however it hides: no setsid(), double fork or closed descriptor gets
 * out.
 *   - With cgroups, a step is a group of its own; what is in it belongs to the step.
 *   - Without (an ordinary user's cluster), slurmstepd is a subreaper: whatever loses its parent
 *     becomes our child, so that the step is the tree below us.
 * A killed process may start others until it dies; callers repeat track_kill() until it says that
 * nothing is left.
 */
#ifndef SLUICE_SLURMSTEPD_TRACK_H
#define SLUICE_SLURMSTEPD_TRACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

struct pid_list {
    vec(pid_t) list;
};

struct track {
    char *dir;     /* of the cgroup v2 (or named v1) group, NULL = the tree below us */
    int dir_fd;    /* the group, for those who are born in it */
    int procs_fd;  /* its cgroup.procs, for those who enter */
    bool has_kill; /* cgroup.kill */
};
#define TRACK_INIT                                                                                 \
    { NULL, -1, -1, false }

/* dir NULL = no cgroup. Makes the group and its parent (the job's). */
must_check int track_open(struct track *track, const char *dir, struct error *err);
/* Removes the group, and the job's when it was the last. False while a process is in it. */
bool track_close(struct track *track);

/* Live processes (no zombies). */
void track_pids(const struct track *track, struct pid_list *pids);
void track_signal(const struct track *track, int signal);
/* Kills what is there; true when nothing is. */
bool track_kill(const struct track *track);
/* "pid 12 (dd)", at most a few: for people who must find out what does not die. */
void track_describe(const struct track *track, struct str *out);
/* Peak memory in KiB, where the group counts it; and OOM kills. */
bool track_memory(const struct track *track, uint64_t *ret_peak_kib);
bool track_oom_kills(const struct track *track, uint32_t *ret_kills);

#endif
