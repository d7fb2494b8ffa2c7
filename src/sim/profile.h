/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Free processors over time as a step function: a step holds until the next one begins, the last
 * one without end. Steps lie in blocks that know their lowest and highest one, and what is added to
 * a whole block is kept beside it: adding and searching cost a block's length and the number of
 * blocks, not that of steps.
 */
#ifndef SLUICE_SIM_PROFILE_H
#define SLUICE_SIM_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

#define PROFILE_NEVER INT64_MAX

struct profile_block;
struct profile {
    vec(struct profile_block *) blocks; /* in order, none is empty */
    vec(struct profile_block *) unused;
};

void profile_done(struct profile *profile);
/* One step: `free` from `start` on. Keeps the memory. */
void profile_reset(struct profile *profile, int64_t start, int64_t free);
/* A step behind all others, or the last one's new height when `from` is not behind it. */
void profile_append(struct profile *profile, int64_t from, int64_t free);
/* Adds `delta` on [from, until). `from` must not be before the first step. */
void profile_add(struct profile *profile, int64_t from, int64_t until, int64_t delta);
/* Forgets what lies before `now`, which must not be before the first step. */
void profile_trim(struct profile *profile, int64_t now);
/* The first s in [now, last] with at least `procs` free on [s, s + seconds), or PROFILE_NEVER. */
int64_t profile_earliest(const struct profile *profile, int64_t now, int64_t procs, int64_t seconds,
                         int64_t last);
/* The same for something that is part of the profile itself at [plan, plan + seconds), which it
 * would leave: the first s in [now, last], last < plan. From `plan` on it may have what it has
 * already, so only [s, plan) needs to be looked at, and nothing has to be taken out. */
int64_t profile_earlier(const struct profile *profile, int64_t now, int64_t procs, int64_t seconds,
                        int64_t last, int64_t plan);
/* At least `procs` free on [now, now + seconds)? */
bool profile_fits(const struct profile *profile, int64_t now, int64_t procs, int64_t seconds);
size_t profile_steps(const struct profile *profile);
/* The height at a time that is not before the first step. */
int64_t profile_height(const struct profile *profile, int64_t when);

#endif
