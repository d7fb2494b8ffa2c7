/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the planner. Only src/sched and its tests include this, and with it the parts:
 *
 *   cluster.h  nodes, partitions, pools (view.c), which nodes have how much (index.c)
 *   runs.h     who holds what (run.c), CPUs that several hold at a time (oversub.c)
 *   queue.h    who waits (queue.c), whose turn it is (order.c), who is worth a test (wake.c), who
 * may have a plan (senior.c), who is tried when no more may (candidates.c), who starts together
 * (group.c)
 *   shape.h    equal
 * requests (shape.c), what a share of one needs of a node (fit.c), why they wait (explain.c)
 *   budget.h   what those of a user, account or QOS may have at a time (budget.c)
 *   place.h    where one could start now (place.c), which nodes it takes (select.c), nodes that are
 *              together (topology.c), nodes that are broken up least (fragment.c)
 *   future.h   plans and earliest starts (profile.c), reservations (calendar.c), who starts later
 *              than told (promise.c)
 *   victims.h  who has to go (victims.c, victims_choose.c, preempt.c); not included here
 *
 * pass.c makes one plan of it all; estimate.c, feasible.c and whatif.c answer questions. Apart from
 * the view: fairshare.h and priority.h, arithmetic for the core.
 *
 * Nodes are numbered inside by (weight, configured position), so that a walk in index order is a
 * walk in order of weight. sched.h speaks of configured positions; `inner` and `outer` translate at
 * the border.
 */
#ifndef SLUICE_SCHED_INTERNAL_H
#define SLUICE_SCHED_INTERNAL_H

#include "base/arena.h"
#include "base/map.h"
#include "sched/budget.h"
#include "sched/cluster.h"
#include "sched/future.h"
#include "sched/place.h"
#include "sched/queue.h"
#include "sched/runs.h"
#include "sched/shape.h"

struct sched {
    struct sched_settings settings;
    bool naive; /* tests: every shortcut off */

    struct gres_kind kinds[SCHED_GRES_KINDS];
    uint32_t n_kinds, n_dims;
    uint32_t n_base;  /* dimensions that are counted; the others follow from them */
    uint32_t n_cards; /* the last of those: the most cards of a node with shares */
    uint32_t n_sums;  /* index of the first sum */
    struct node *nodes;
    uint32_t n_nodes;
    uint32_t *inner;              /* configured position -> index here */
    int64_t *total, *free, *keep; /* n_nodes * n_dims; keep: minimum over all the future */
    int64_t *next_end;            /* per node: first end of what runs there; SCHED_FOREVER */
    struct hardware *hardware;
    uint32_t n_hardware;
    struct weight_class *weights;
    uint32_t n_weights;
    struct bits usable, planned, has_gres;
    struct index by_free, by_keep; /* over free and keep */
    struct smap features;          /* name -> 1 + id */
    vec(char *) feature_names;
    struct partition *partitions;
    uint32_t n_partitions;
    struct pool *pools;
    uint32_t n_pools;
    uint64_t *license_total, *license_used;
    size_t n_licenses;
    vec(struct budget) budgets;
    uint64_t budgets_given;       /* how often runs have given something back to any, from 1 */
    vec(uint32_t) budgets_wanted; /* those with a `wanted` */
    int64_t budgets_due;          /* when time gives enough of one back; SCHED_FOREVER */
    struct reservation *calendar;
    uint32_t n_calendar;
    struct topology *topology; /* NULL: no switches are known */
    uint32_t most_leaves;      /* scratch: for the selection in progress; 0 = no matter where */
    int64_t wish_due;          /* the next wish for few switches ends; SCHED_FOREVER */
    struct bits reserved;      /* nodes of which a reservation holds something */
    int64_t calendar_until;    /* up to when windows have been told to the pass */

    struct map runs;            /* job id -> struct run */
    vec(struct run *) licensed; /* runs, also tentative ones, that hold licences; not lifted ones */
    struct map jobs;            /* job id -> struct job */
    struct map groups;          /* id -> struct job_group */
    struct map shape_index;     /* hash -> chain */
    vec(struct shape *) shapes;
    vec(struct shape *) changed_shapes; /* whose turn may be wrong */
    vec(struct shape *) reports;        /* whose common reason may have changed */
    struct map sets;                    /* hash -> chain of struct node_set */
    struct heap timers;
    vec(struct job *) fresh;    /* need a reason; NULL = gone */
    size_t fresh_first;         /* of fresh: all before are done */
    vec(struct job *) specials; /* of the last pass */

    uint64_t release_version; /* moves when anything could start earlier */
    uint64_t static_version;  /* moves when nodes, partitions or licences change */
    uint64_t turns_version;   /* static version of the turns */
    uint64_t generation;      /* moves with every change */
    uint64_t estimate_generation;
    int64_t estimate_time; /* when estimates were made; 0 = never */
    uint64_t detail_version;
    vec(struct job *) promises;
    vec(struct cause) causes; /* since all promises were looked at */
    uint64_t clock;           /* moves with every pass, arrival and cause */
    bool changed, any_user_only;
    bool cut;         /* the last pass stopped at max_starts */
    bool unexplained; /* it left reasons to the next */
    uint64_t work;    /* candidates after which a pass stops, 0 = no bound */
    uint32_t
        n_exhausted; /* passes in a row that did: the bound doubles with each, so that they end */
    int64_t due;     /* a pass has work from then on */
    uint32_t pass;
    struct sched_preemption preemption; /* `may` is owned */
    bool any_if_above;
    vec(struct sched_preempt) preempts; /* of this pass */
    int64_t preempt_wake;               /* when a job that cannot be preempted yet can be */
    uint32_t preempt_mark;              /* number of the search for victims */
    struct map unconfirmed;             /* starts that the last pass proposed: hash -> end */
    uint64_t candidates;
    int64_t now;        /* of the pass or question in progress */
    int64_t not_before; /* searches for the earliest start find none before; 0 between questions */

    /* scratch */
    uint64_t *mask, *phase;
    vec(struct candidate) found, rest;
    struct placement placement, best;
    vec(struct step) steps;
    vec(int64_t) times;
    vec(uint32_t) histogram; /* nodes by the share that they can take */
    struct step *state;      /* per node; all zero between searches */
    /* the order of all that wait: see order.c */
    struct {
        vec(struct turn) turns;   /* by the first job of each shape */
        size_t holes;             /* of turns: those without a shape */
        vec(struct turn) arrived; /* scratch */
        vec(struct again) again;  /* heap */
        size_t next;              /* of turns */
        size_t turn;              /* whose job is looked at; NO_TURN at the end */
        bool from_again;
    } order;
    vec(struct waiting_group) waiting_groups; /* see candidates.c */
    vec(struct waiting_job) waiting_jobs;
    struct map popular; /* hash -> struct popular */
    struct popular popular_table[POPULAR_MAX];
    uint32_t n_popular;
    bool popular_changed; /* since the table was made */
    struct release_log log;
    struct lack lack; /* of the last placement that failed */
    vec(struct run *) tentative;
};

static inline int64_t *node_total(const struct sched *s, uint32_t node) {
    return s->total + (size_t) node * s->n_dims;
}
static inline int64_t *node_free(const struct sched *s, uint32_t node) {
    return s->free + (size_t) node * s->n_dims;
}
static inline int64_t *node_keep(const struct sched *s, uint32_t node) {
    return s->keep + (size_t) node * s->n_dims;
}
static inline struct pool *alternative_pool(const struct sched *s, const struct alternative *alt) {
    return &s->pools[s->partitions[alt->partition].pool];
}
/* All plans of all pools: `plan` points to each pointer. Not to be left by `break`. */
#define plans_each(s, plan)                                                                        \
    for (uint32_t pool_ = 0; pool_ < (s)->n_pools; pool_++)                                        \
        vec_each (&(s)->pools[pool_].plans, plan)
/* Does it hold resources at an instant? Whoever is past its end does now, and not later. */
static inline bool run_is_there(const struct sched *s, const struct run *run, int64_t when) {
    return when <= s->now || run->end > when;
}
static inline bool plan_is_there(const struct plan *plan, int64_t when) {
    return plan->start <= when && when < plan->end;
}
static inline int64_t time_after(int64_t start, int64_t seconds) {
    return seconds >= SCHED_FOREVER - start ? SCHED_FOREVER : start + seconds;
}
static inline bool amount_covers(const int64_t *have, const int64_t *need, uint32_t n) {
    for (uint32_t d = 0; d < n; d++) {
        if (have[d] < need[d])
            return false;
    }
    return true;
}
/* qsort() that takes an empty list without memory. */
static inline void sort_items(void *items, size_t n, size_t size,
                              int (*compare)(const void *, const void *)) {
    if (n > 1)
        qsort(items, n, size, compare);
}
/* Recomputes what follows from the counted dimensions: of an amount that is taken, ... */
void amount_sum(const struct sched *s, int64_t *amount);
/* ... and of one that a node has to give. */
void have_sum(const struct sched *s, uint32_t node, int64_t *have);
static inline int64_t *amount_cards(const struct sched *s, int64_t *amount) {
    return amount + s->n_base - s->n_cards;
}

/* pass.c */
struct starts {
    vec(struct sched_start) items;
};
/* Where its job could start now with the plans that are in place; NULL. s->placement says where.
 * `planned`: where its plan was, 0 without. */
struct alternative *job_fits(struct sched *s, const struct job *job, int64_t planned,
                             int64_t *limit);
/* Takes s->placement for a start, to be given back at the end of the pass or by start_undo(). */
void start_take(struct sched *s, struct job *job, const struct alternative *alt, int64_t limit,
                struct sched_plan *plan, struct starts *starts);
void start_undo(struct sched *s, struct starts *starts); /* the last */
void start_propose(struct sched *s, const struct sched_start *start);
void job_blocks(struct sched *s, struct job *job); /* first of its partitions that cannot start */
/* May this job still get a plan? */
bool job_plannable(const struct sched *s, const struct job *job);
bool plan_is_same_place(const struct plan *a, const struct plan *b);

/* group.c */
/* Tries a group all of whose members are there. */
void group_try(struct sched *s, struct job_group *group, struct sched_plan *plan,
               struct starts *starts);

void start_fill(const struct sched *s, const struct placement *placement, struct arena *arena,
                struct sched_start *ret);

/* preempt.c */
/* Looks for the victims of a job that does not fit. True: chosen (s->preempts), and the job has its
 * plan. */
bool preempt_try(struct sched *s, struct job *job, struct sched_plan *plan);
void preempt_pass_end(struct sched *s, struct sched_plan *plan);

#endif
