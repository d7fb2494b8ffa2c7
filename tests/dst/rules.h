/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must hold of reservations and preemption, whatever goes wrong:
 *
 *   - Nobody starts on nodes that are reserved for others while he runs; nobody in a reservation
 *     that is not for him, that has not begun, or beyond its nodes.
 *   - Whoever goes, goes for a job of a higher tier that still waits or starts in the same turn;
 *     those in a reservation only for one that may use it, too. He has his partition's grace.
 *
 * Counted only: jobs in a calm world, where nothing fails and nobody interferes, for which others
 * went and which did not start in time. There should be none.
 */
#ifndef SLUICE_TESTS_DST_RULES_H
#define SLUICE_TESTS_DST_RULES_H

#include "base/map.h"
#include "base/vec.h"
#include "model/job.h"
#include "schema/schema.h"

struct check;
struct rules {
    struct map reservations; /* id -> record */
    vec(uint32_t) went;      /* in this turn: victim, preemptor, ... */
    struct map partitions;   /* id -> those that it waited in */
    struct map awaited;      /* id of a job for which others went -> second by which it starts */
    bool calm;
    uint64_t n_reserved, n_preempted; /* starts in reservations; victims */
    uint64_t n_unserved;
};

void rules_done(struct rules *rules);
/* A record of a reservation that is put; body.size 0: deleted. */
void rules_reservation(struct check *check, uint64_t id, struct bytes body);
/* The controller's records are read again. */
void rules_restored(struct check *check);
void rules_started(struct check *check, const struct job *job);
/* A record of a job in this turn; `preempt_time`: of the one before, or 0. */
void rules_job(struct check *check, const struct job *job, int64_t preempt_time);
/* All records of the turn are seen. */
void rules_turn(struct check *check);

#endif
