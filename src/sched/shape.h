/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the planner: equal requests are one shape (shape.c), and what a share of it needs of a
 * node (fit.c). Why it waits is explain.c.
 */
#ifndef SLUICE_SCHED_SHAPE_H
#define SLUICE_SCHED_SHAPE_H

#include "base/bits.h"
#include "sched/queue.h"
#include "sched/runs.h"

struct pick;
struct sched;

struct gres_want {
    uint8_t dim;
    bool is_gpu;
    uint32_t count;
};
/* A set of nodes, shared by all shapes that mean the same. */
struct node_set {
    uint64_t hash;
    char *key;
    size_t key_size;
    struct node_set *next_same_hash;
    struct bits nodes;
    uint32_t refs;
};
#define GROUPS_MAX 16 /* of one alternative */
struct group {
    struct node_set *set;
    uint32_t count;
};
/* How far a placement was from success: so many more nodes that can take a share, and so many more
 * tasks on them, are needed at least. */
struct lack {
    uint32_t nodes, tasks;
};
/* One way to place a shape: a partition, with [a|b] one alternative of the constraint, and a
 * reservation or none. */
struct alternative {
    uint32_t partition;
    uint32_t reservation; /* id, 0 */
    bool blind;           /* scratch: reservations do not count */
    struct node_set *set;
    struct group *groups;
    size_t n_groups;
    bool exclusive;
    uint32_t cpu_cap; /* MaxCPUsPerNode, 0 = none */
    uint32_t min_nodes, max_nodes;
    int64_t limit, min_limit;
    struct sched_budget_use *uses;
    size_t n_uses;
    uint32_t refused; /* why the job may never start there, 0 */
    struct lack lack; /* when it was last found that it cannot start */
    uint32_t limits;  /* why the partition never takes it, 0 */
    uint32_t reason;  /* why it is closed as the cluster stands, 0 = open */
    int64_t **each;   /* per hardware: need of a node; NULL = not computed, no_need = cannot */
    int64_t **one;    /* the same when a single node takes the whole job */
    int64_t **even;   /* the same for an even share of the tasks on alt->min_nodes nodes */
};
struct shape {
    uint64_t hash;
    char *key;
    size_t key_size;
    struct shape *next_same_hash;
    size_t position; /* in sched->shapes */
    size_t refs;     /* jobs */
    /* the request */
    uint32_t ntasks, ntasks_per_node, ntasks_per_socket, ntasks_per_core, cpus_per_task;
    uint32_t min_cpus_per_node, sockets, cores_per_socket, threads_per_core, cpus_per_gpu;
    int64_t mem_per_node, mem_per_cpu, mem_per_gpu; /* -1 = not asked */
    struct gres_want per_node[8], per_job[8], per_task[8];
    uint8_t n_per_node, n_per_job, n_per_task;
    bool overcommit, contiguous, spread, user_only, wants_gres;
    uint32_t max_switches; /* 0 = any number */
    int64_t switches_until;
    uint32_t uid;
    uint8_t primary; /* the dimension that best fit compares */
    uint32_t preempt_class;
    bool oversubscribe;
    uint32_t *counts;
    size_t n_counts;
    uint32_t *req_nodes; /* inner indexes, ascending */
    size_t n_req_nodes;
    struct license_use *licenses;
    size_t n_licenses;
    struct alternative *alternatives;
    size_t n_alternatives;
    /* its jobs: items[0, n_sorted) in order, the rest appended since; NULL = gone */
    struct job **jobs;
    size_t n_jobs, capacity, n_sorted, n_live, first;
    /* what the last passes found */
    uint64_t static_version;   /* of closed reasons */
    uint64_t possible_version; /* it could run with all nodes free, as of this static version */
    uint64_t asleep_version;   /* release version when it was put to sleep, 0 = never */
    uint64_t no_victims;       /* nor with all victims gone while it is this */
    uint32_t blocked_reason;   /* closed for good until the cluster changes, 0 */
    uint32_t held_reason;      /* only a reservation keeps it from starting, 0 */
    char *detail;              /* text to go with it */
    bool short_of_licenses;
    bool budgeted;       /* some alternative uses one */
    bool kept_by_budget; /* the last time it was tested for a start now, by plans among others */
    bool overspent;      /* the nodes that it found then have more than a budget allows now */
    uint32_t short_of;   /* reason of the budget that it waits for, 0 */
    size_t changed, reported; /* 1 + index in sched->changed_shapes, ->reports; 0 */
    bool queued;              /* has a turn, with the key: */
    struct turn_key turn_key;
    uint32_t rest_reported;
    uint64_t detail_version, detail_reported;
    /* while not all of its jobs have been told: those before this position have, and what */
    bool telling;
    size_t told;
    uint32_t told_reason;
    uint64_t told_detail;
    size_t cursor;                    /* this walk: next job to look at */
    uint32_t tried_pass;              /* no more of it can start in this pass */
    uint32_t n_guarded, guarded_seen; /* jobs that have waited longest; seen in this pass */
};

/* So that its shortest limit ends by its deadline. */
static inline int64_t job_latest_start(const struct job *job, const struct alternative *alt) {
    int64_t shortest = alt->min_limit > 0 ? alt->min_limit : alt->limit;
    return job->deadline && shortest != SCHED_FOREVER ? job->deadline - shortest : SCHED_FOREVER;
}

/* shape.c */
struct shape *shape_intern(struct sched *s, const struct sched_job_spec *spec);
/* That of a job that waits already, or NULL. */
struct shape *shape_find(const struct sched *s, const struct sched_job_spec *spec);
struct shape *shape_new(struct sched *s, const struct sched_job_spec *spec);
void shape_free(struct sched *s, struct shape *shape);
void shape_release(struct sched *s, struct shape *shape); /* frees it when it has no jobs */
bool shape_count_allowed(const struct shape *shape, uint32_t n);

/* fit.c */
/* Adds the GRES that a node and `tasks` tasks ask for; returns how many of it are GPUs. */
static inline int64_t need_add_gres(const struct shape *shape, uint32_t tasks, int64_t *need) {
    int64_t gpus = 0;
    for (uint8_t i = 0; i < shape->n_per_node; i++) {
        need[shape->per_node[i].dim] += shape->per_node[i].count;
        gpus += shape->per_node[i].is_gpu ? shape->per_node[i].count : 0;
    }
    for (uint8_t i = 0; i < shape->n_per_task; i++) {
        int64_t count = (int64_t) shape->per_task[i].count * tasks;
        need[shape->per_task[i].dim] += count;
        gpus += shape->per_task[i].is_gpu ? count : 0;
    }
    return gpus;
}
/* What `tasks` tasks (plus `share` of the per-job GRES, may be NULL) take from a node. False: the
 * node's sockets or totals do not allow it. */
bool need_of(const struct sched *s, const struct shape *shape, uint32_t hardware, uint32_t tasks,
             const uint32_t *share, int64_t *need);
/* Cached need of a node of that hardware for the fixed share, or with everything on one node; NULL:
 * impossible. */
const int64_t *need_each(struct sched *s, struct shape *shape, struct alternative *alt,
                         uint32_t hardware);
const int64_t *need_one(struct sched *s, struct shape *shape, struct alternative *alt,
                        uint32_t hardware);
/* Tasks of an even share on the fewest nodes, when that is a way to place the shape; 0. */
uint32_t shape_even(const struct shape *shape, const struct alternative *alt);
const int64_t *need_even(struct sched *s, struct shape *shape, struct alternative *alt,
                         uint32_t hardware);
void need_forget(int64_t *need);
bool shape_is_fixed(const struct shape *shape, const struct alternative *alt); /* equal shares */
uint32_t shape_share(const struct shape *shape); /* tasks of a fixed share */
bool shape_one_node(const struct shape *shape, const struct alternative *alt);
/* How many tasks, and with one task how many units of the per-job GRES, fit into `have`. */
uint32_t node_tasks(const struct sched *s, const struct shape *shape, const struct alternative *alt,
                    uint32_t node, const int64_t *have);
uint32_t node_units(const struct sched *s, const struct shape *shape, const struct alternative *alt,
                    uint32_t node, const int64_t *have, uint32_t tasks);
/* What a node that has so much free could take of an alternative. */
struct share {
    uint32_t tasks; /* with equal shares, the share; 0 = nothing */
    uint32_t units; /* of the first per-job GRES */
};
struct share node_share(struct sched *s, struct shape *shape, struct alternative *alt,
                        uint32_t node, const int64_t *have);
bool need_fits(const struct sched *s, const struct alternative *alt, uint32_t node,
               const int64_t *have, const int64_t *need);
/* The vector that is taken: untyped GRES become types, an exclusive job gets the node. */
bool amount_take(const struct sched *s, const struct shape *shape, const struct alternative *alt,
                 uint32_t node, const struct pick *pick, const int64_t *have, int64_t *take);
/* A rule that vectors do not show (MaxCPUsPerNode, user-only nodes). */
bool alternative_is_plain(const struct sched *s, const struct shape *shape,
                          const struct alternative *alt);
bool node_allows(const struct sched *s, const struct shape *shape, const struct alternative *alt,
                 uint32_t node, int64_t start, int64_t end, int64_t *have);

/* explain.c */
/* Takes the text over. */
void shape_detail_set(struct sched *s, struct shape *shape, char *detail);
void shape_report(struct sched *s, struct shape *shape); /* its common reason may have changed */
/* The shape waits for a budget with that reason; 0: for none. */
void shape_short_of(struct sched *s, struct shape *shape, uint32_t reason);
/* Looks at a shape's closed alternatives again; true while at least one is open. */
bool shape_open(struct sched *s, struct shape *shape);
/* Reports what has changed; beside heads and jobs with plans max_waits of it (0 = all). goes_on:
 * only what the last pass has left, nothing has changed since. True when something is left. */
bool explain_pass(struct sched *s, uint32_t max_waits, bool goes_on, struct sched_plan *plan);

#endif
