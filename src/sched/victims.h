/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search for those who have to go so that a job can start; private to preempt.c (for which job,
 * and where), victims.c (who may go, and what it costs) and victims_choose.c (which of them).
 *
 * The victims of one alternative are lifted out of the cluster and put back, so that the placement
 * itself says whether the job would fit.
 */
#ifndef SLUICE_SCHED_VICTIMS_H
#define SLUICE_SCHED_VICTIMS_H

#include "sched/internal.h"

#define RANK_LEVELS 8 /* ranks told apart; lower ones than the highest 8 count as one */

struct cost {
    uint32_t counts[RANK_LEVELS];
    int64_t lost; /* CPU seconds; with youngest_first seconds */
};
struct victim {
    struct run *run;
    uint32_t level;
    int64_t lost;
    bool lifted, chosen;
    bool suspends; /* gives its CPUs only */
};
struct victim_search {
    struct sched *s;
    struct job *job;
    struct shape *shape;
    struct alternative *alt;
    vec(struct victim) victims; /* in the order in which they should go */
    vec(struct run *) leaving;  /* they go anyway */
    bool later;                 /* some may go later on */
    bool crowded;               /* a node has too many victims to try every set */
    int64_t steps;              /* that exact searches may still take */
};

/* victims.c */

/* Finds those who may go for the search's job, and those who go anyway. victims_done() puts
 * everybody back. */
void victims_gather(struct victim_search *q);
void victims_done(struct victim_search *q);
/* It has been told to go and is counted on, or was chosen in this pass and goes for good. */
bool run_goes(const struct sched *s, const struct run *run);
int cost_compare(const struct cost *a, const struct cost *b);
void cost_add(struct cost *cost, const struct victim *victim, int sign);
struct cost victims_cost(const struct victim_search *q); /* of the chosen */
/* Do the licences that victims hold count, too? */
bool victims_reclaim(const struct victim_search *q);
/* Take out and put back; one that is out, or in, already stays so. */
void victim_lift(struct victim_search *q, struct victim *victim);
void victim_put(struct victim_search *q, struct victim *victim);
void victims_lift_leaving(struct victim_search *q); /* once, for the rest of the search */
void victims_lift_chosen(struct victim_search *q);  /* those, and no others */
/* Does the job start now as the cluster is? s->placement says where. */
bool victims_suffice(struct victim_search *q);

/* victims_choose.c */

/* Choose victims, and lift them, so that the job fits. False: found none. In: all are in place.
 * By node: where every node gets an equal share, or (one) a single node takes the whole job. */
bool victims_choose_by_node(struct victim_search *q, bool one);
bool victims_choose_in_order(struct victim_search *q);

#endif
