/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must hold of heterogeneous jobs, by the records that leave the core. Part of the checker
 * (check.h).
 *
 *   - All components of a job wait, or none does: they start, and are requeued, in one turn.
 *   - They have all been started equally often, and those that run have one start.
 *   - When the first has ended, all have.
 *   - No record leaves while a component has not ended and its nodes are not clean.
 */
#ifndef SLUICE_TESTS_DST_GROUPS_H
#define SLUICE_TESTS_DST_GROUPS_H

#include "base/map.h"
#include "base/vec.h"

struct check;
struct job;

struct groups {
    struct map members;    /* job id -> member */
    vec(uint32_t) touched; /* ids of first components, in this turn */
};

/* From the checker: a record that is put, one that is deleted, the end of a turn, a new life of the
 * controller (whose records follow). */
void groups_job(struct check *check, const struct job *job);
void groups_left(struct check *check, uint32_t job_id);
void groups_turn(struct check *check);
void groups_restored(struct check *check);
void groups_done(struct groups *groups);

#endif
