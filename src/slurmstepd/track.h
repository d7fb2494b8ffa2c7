/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every process of a step, however it hides: no setsid(), double fork or closed descriptor gets
 * out.
 *   - With cgroups, a step is a group of its own (confine.h); what is in it belongs to the step.
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
#include "os/cgroup.h"

struct pid_list {
    vec(pid_t) list;
};

struct track {
    const struct cgroup *group; /* borrowed; NULL = the tree below us */
};
#define TRACK_INIT                                                                                 \
    { NULL }

/* All processes, zombies among them. */
void track_members(const struct track *track, struct pid_list *pids);
/* Live processes (no zombies). */
void track_pids(const struct track *track, struct pid_list *pids);
void track_signal(const struct track *track, int signal);
/* Kills what is there; true when nothing is. */
bool track_kill(const struct track *track);
/* "pid 12 (dd, state D in io_schedule)", at most a few: for people who must find out what does not
 * die. */
void track_describe(const struct track *track, struct str *out);

#endif
