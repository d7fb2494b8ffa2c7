/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the planner: who holds what (run.c), and CPUs that several hold at a time (oversub.c).
 */
#ifndef SLUICE_SCHED_RUNS_H
#define SLUICE_SCHED_RUNS_H

#include "base/vec.h"
#include "sched/sched.h"

struct alternative;
struct budget_share;
struct plan;
struct sched;
struct shape;
struct victim;

struct license_use {
    uint32_t id, count;
};
struct run {
    uint32_t job_id, partition, uid, reservation;
    int64_t start, end; /* end: assumed when the limit is unknown */
    bool exclusive, user_only, suspended, tentative, shares;
    uint32_t n, n_held;
    uint32_t *nodes;     /* inner index; SCHED_NO_NODE once released */
    int64_t *amounts;    /* n * n_dims: what is taken from `free` */
    int64_t *cpus_aside; /* CPUs that a suspended run gave back, or NULL */
    struct sched_victim victim;
    bool leaving;             /* told to go; `end` says when it is gone */
    uint32_t chosen_pass;     /* chosen as a victim in this pass */
    bool chosen_ends;         /* and goes for good */
    uint32_t seen;            /* scratch of victims.c: the last search that met it */
    struct victim *as_victim; /* in the search in progress, NULL between searches */
    struct license_use *licenses;
    size_t n_licenses;
    size_t licensed_at;             /* index in sched->licensed, with licences */
    struct popular *popular;        /* NULL without GRES */
    struct budget_share *shares_of; /* of budgets */
    size_t n_shares;
};

/* run.c */
struct run *run_take(struct sched *s, uint32_t job_id, uint32_t partition, bool exclusive,
                     uint32_t uid, int64_t start, int64_t end, uint32_t n, const uint32_t *nodes,
                     const int64_t *amounts, const struct license_use *licenses, size_t n_licenses);
void run_drop(struct sched *s, struct run *run); /* gives everything back and frees it */
uint64_t start_hash(const struct sched *s, const struct sched_alloc *allocs, size_t n);
void proposal_add(struct sched *s, uint64_t hash, int64_t end);
void proposals_forget(struct sched *s);
struct license_use *licenses_new(const uint32_t *ids, const uint32_t *counts, size_t n);
/* Free licences over [start, end). */
bool licenses_free_at(const struct sched *s, const struct shape *shape,
                      const struct alternative *alt, int64_t start, int64_t end);
void runs_clear(struct sched *s);
uint64_t run_license(const struct run *run, uint32_t id);
uint64_t plan_license(const struct plan *plan, uint32_t id);
/* As if it were not there, and back; its licences too if so asked. */
void run_lift(struct sched *s, struct run *run, bool licenses);
void run_put(struct sched *s, struct run *run, bool licenses);
void run_swap_cpus(struct sched *s, struct run *run); /* gives them back, or takes them again */

/* oversub.c */
#define LAYERS_MAX 200 /* the core counts who holds a CPU in a byte */
/* Does a job in this partition share CPUs with others at the same time? */
bool shares_cpus(const struct sched *s, uint32_t partition, bool asked, bool exclusive);
bool alternative_shares(const struct sched *s, const struct shape *shape,
                        const struct alternative *alt);
/* CPUs of a node that there are more than once for those who share them. */
int64_t shared_more(const struct sched *s, uint32_t partition, uint32_t node);
/* Adds to `have`, which is the least over [start, end), what an alternative that shares may have
 * beyond it. */
void sharing_allows(const struct sched *s, const struct alternative *alt, uint32_t node,
                    int64_t start, int64_t end, int64_t *have);
/* The same for a run that is suspended. */
int64_t run_shared_more(const struct sched *s, const struct run *run, uint32_t node);

#endif
