/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the planner. Only src/sched and its tests include this.
 *
 * Amounts are vectors of int64_t with `n_dims` entries: CPUs, memory, one entry per GRES kind, then
 * one sum per GRES name that has several types (so that an untyped request is one comparison).
 *
 * Nodes are numbered inside by (weight, configured position), so that a walk in index order is a
 * walk in order of weight. sched.h speaks of configured positions; `inner` and `outer` translate at
 * the border.
 *
 * The parts: view.c (cluster), run.c (who holds what), queue.c (who waits, in which order), shape.c
 * (equal requests are one shape), fit.c (what one node can give), index.c (which nodes can give
 * it), oversub.c (CPUs that jobs share), place.c, select.c and fragment.c (which nodes to take),
 * topology.c (nodes that are together), profile.c (the future), calendar.c (reservations),
 * preempt.c, victims.c and victims_choose.c (who has to go), order.c (whose turn it is), wake.c
 * (who is worth a test), pass.c (one plan), candidates.c (who is tried next when no more may have a
 * plan), senior.c (who may have a plan), promise.c (who starts later than planned, and why),
 * explain.c (reasons), feasible.c and whatif.c (questions).
 */
#ifndef SLUICE_SCHED_INTERNAL_H
#define SLUICE_SCHED_INTERNAL_H

#include "base/arena.h"
#include "base/bits.h"
#include "base/heap.h"
#include "base/map.h"
#include "base/vec.h"
#include "sched/sched.h"
#include "text/duration.h"

#define DIM_CPU 0
#define DIM_MEM 1
#define DIM_GRES 2
#define MAX_DIMS (DIM_GRES + SCHED_GRES_KINDS + SCHED_GRES_KINDS / 2)
#define MAX_STEPS 160
#define MAX_ALTERNATIVES 64
#define LEAST_LIMIT 60 /* seconds that a job without a limit gets in a reservation at least */

/* ---- index: per dimension, the set of nodes that have at least so much ---- */

struct ladder {
    int64_t *steps; /* ascending */
    struct bits *sets;
    uint32_t n;
    uint8_t *level; /* per node: how many steps it reaches */
};
struct index {
    struct ladder *dims; /* n_dims */
    struct bits idle;    /* nodes with nothing taken */
};

/* ---- cluster ---- */

struct run;
struct plan;

/* A job's hold on one node; in a node's list by `end`. */
struct hold {
    int64_t end;
    struct run *run;
    uint32_t slot; /* which of the run's allocations */
};
struct plan_hold {
    struct plan *plan;
    uint32_t slot;
};
struct job;
/* The first job of a partition or a reservation that could not start, in the pass of that number.
 */
struct head {
    struct job *job;
    uint32_t pass;
};
/* What a reservation holds of a node. A dimension with 0 is not held, and not limited. */
struct reservation;
struct reserved_hold {
    const struct reservation *reservation;
    int64_t *amounts;
};
struct reservation {
    uint32_t id;
    bool maint, flex, any_nodes, recurring;
    struct sched_window *windows;
    size_t n_windows;
    struct license_use *licenses;
    size_t n_licenses;
    uint32_t n_kept; /* plans of its jobs made or confirmed in this pass */
    struct head head;
};
/* Nodes of the same hardware: a request needs the same on each. */
struct hardware {
    uint32_t cpus, sockets, cores_per_socket, threads_per_core;
    bool whole_cores;
    const int64_t *total;
};
struct node {
    char *name;
    uint32_t outer; /* configured position */
    uint32_t weight;
    uint32_t hardware;
    uint32_t weight_class;
    uint64_t tmp_disk;
    struct bits features;
    bool usable;
    vec(struct hold) runs;
    vec(struct plan_hold) plans;
    vec(struct reserved_hold) reserved;
    uint64_t released; /* its last position in the release log */
};
struct weight_class {
    uint32_t begin, end; /* nodes */
};

struct partition {
    char *name;
    struct bits nodes;
    uint32_t n_nodes;
    uint32_t pool;
    uint32_t tier, max_nodes, min_nodes, max_cpus_per_node;
    int64_t max_time; /* seconds, SCHED_FOREVER */
    bool exclusive, schedulable, spread;
    uint32_t layers;         /* jobs that may take turns on the same CPUs, 1 = none */
    bool layers_forced;      /* also those that did not ask for it */
    uint32_t layers_at_once; /* jobs that may hold the same CPU at a time, 1 = one */
    struct head head;
};
/* Partitions that share nodes, directly or through others. */
struct pool {
    vec(struct plan *) plans;
    uint32_t n_old;   /* plans of an earlier pass that this pass has not come to yet */
    uint32_t n_kept;  /* plans made or confirmed in this pass */
    uint32_t head_id; /* job id at the head of those that wait, 0 */
    bool blocked;     /* strict order: nobody else starts */
    int64_t first_start, last_start; /* of its plans; SCHED_FOREVER, 0 without */
};

/* ---- what runs ---- */

struct license_use {
    uint32_t id, count;
};
/* What jobs hold of one node, with GRES among it, and how many nodes are held so; fragment.c. */
struct popular {
    int64_t cpus, mem, gres;
    uint64_t hash;
    uint32_t n;
    uint8_t dim; /* the sum of the GRES name */
};
#define POPULAR_MAX 32
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
    size_t licensed_at;      /* index in sched->licensed, with licences */
    struct popular *popular; /* NULL without GRES */
};

/* A future start: bound to nodes, reserves exactly its vectors. */
struct plan {
    struct job *job;
    const struct alternative *alt; /* of the job's shape */
    int64_t start, end;
    uint64_t version; /* release version it was searched at */
    uint64_t seen;    /* releases up to here do not change it */
    bool old;
    bool pinned; /* of a job for which others have to go: not one of the `reservations` */
    uint32_t n;
    uint32_t *nodes;
    int64_t *amounts;
};

/* ---- what waits ---- */

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
    struct lack lack; /* when it was last found that it cannot start */
    uint32_t limits;  /* why the partition never takes it, 0 */
    uint32_t reason;  /* why it is closed as the cluster stands, 0 = open */
    int64_t **each;   /* per hardware: need of a node; NULL = not computed, no_need = cannot */
    int64_t **one;    /* the same when a single node takes the whole job */
    int64_t **even;   /* the same for an even share of the tasks on alt->min_nodes nodes */
};
/* What decides who goes first, in one place: lower goes first. */
struct turn_key {
    uint64_t urgency; /* tier and priority, inverted */
    int64_t submit;
    uint32_t job_id;
};
/* A shape in the order of first jobs, with what decides whether it is worth a look: a walk over
 * shapes that sleep touches nothing else. */
struct turn {
    struct turn_key key; /* of its first job */
    uint32_t partition;  /* of its only alternative; MANY_PARTITIONS */
    struct shape *shape; /* NULL: gone */
    uint64_t asleep;     /* releases up to here let it sleep; 0 = awake */
    int64_t limit;       /* its only alternative's */
    uint32_t cpus;       /* at least so many on each node that it takes */
    uint32_t lack;       /* nodes that must come free at least */
    bool exclusive, guarded;
};
#define MANY_PARTITIONS UINT32_MAX
/* A shape whose first job has been dealt with. */
struct again {
    struct turn_key key;
    size_t turn; /* index */
};
/* Jobs for which nothing is kept, tried after all others: of a shape, from a position on. */
struct waiting_group {
    size_t turn;
    struct shape *shape;
    size_t from;
    bool one; /* the first only */
};
struct waiting_job {
    uint32_t tier;
    int64_t expected;
    struct turn_key key;
    size_t turn;
    struct job *job;
};
/* What a job with a plan has been told, and where. */
struct promise {
    int64_t start;
    uint64_t clock; /* s->clock when it was seen last */
    uint32_t n;
    uint32_t *nodes;
    bool told; /* of a breach, for this cause and subject */
    enum sched_cause cause;
    uint32_t subject;
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
    size_t changed, reported; /* 1 + index in sched->changed_shapes, ->reports; 0 */
    bool queued;              /* has a turn, with the key: */
    struct turn_key turn_key;
    uint32_t rest_reported;
    uint64_t detail_version, detail_reported;
    size_t cursor;                    /* this walk: next job to look at */
    uint32_t tried_pass;              /* no more of it can start in this pass */
    uint32_t n_guarded, guarded_seen; /* jobs that have waited longest; seen in this pass */
};

/* How long a job has waited: too short for a plan, long enough, so long that it must have one. */
enum seniority { SENIORITY_NONE, SENIORITY_ENOUGH, SENIORITY_GUARDED };
enum job_place { PLACE_LIVE, PLACE_BEGIN, PLACE_LIMITED, PLACE_EXPIRED };
struct job {
    uint32_t job_id, priority, tier;
    int64_t expected;                      /* seconds that it is likely to run, 0 = unknown */
    uint32_t n_tasks, max_starts, started; /* started: in this pass */
    uint32_t uid;
    int64_t submit, begin, deadline, eligible;
    struct shape *shape;
    size_t position;        /* in shape->jobs */
    struct heap_node timer; /* next begin time or last possible start */
    struct plan *plan;
    size_t fresh; /* 1 + index in sched->fresh, 0 */
    uint8_t place;
    uint8_t seniority; /* enum seniority */
    bool preempting;   /* victims go for it: comes first */
    bool special;      /* reason differs from the shape's rest */
    bool reported_any;
    uint32_t reported_reason;
    int64_t reported_start;
    uint64_t reported_detail, reported_nodes;
    uint32_t special_pass;
    int64_t estimate; /* expected start, 0 = unknown */
    struct promise *promise;
    size_t promise_at; /* index in sched->promises */
    uint64_t since;    /* s->clock when it joined the order, or was moved in it by an update */
};

/* ---- the planner ---- */

#define RELEASE_LOG_MAX 128
/* Nodes of which more has come free, in order; see wake.c. Positions count from 1. */
struct release_log {
    uint32_t nodes[RELEASE_LOG_MAX];
    uint64_t first, end; /* positions in the ring: [first, end) */
    uint64_t seen;       /* the highest that a shape sleeps at */
    /* of the nodes after `from`: what the best of them has */
    uint64_t from;
    bool stale;
    int64_t cpus_free, cpus_keep;
    uint32_t idle_free, idle_keep;
};

struct gres_kind {
    char *name, *type;
    uint8_t sum; /* dimension of the name's sum (its own when the name has one type) */
    bool is_gpu;
};
struct candidate {
    uint32_t node;
    uint32_t tasks; /* how many it can take (fixed share: the share) */
    uint32_t units; /* how many of the per-job GRES */
    uint32_t rank;  /* weight class, waste, hole */
    int64_t value;  /* best fit: lower first */
    int64_t ready;  /* since when it could */
};
struct pick {
    uint32_t node, tasks;
    uint32_t share[8]; /* of the per-job GRES */
    bool grouped;      /* scratch of the selection */
    uint32_t order;    /* configured position: the order of an allocation */
};
/* From `time` on, the node can take so much (until its next step). node == SCHED_NO_NODE: only an
 * instant to look at, a licence comes free. */
struct step {
    int64_t time;
    uint32_t node, tasks, units;
};
struct cause {
    enum sched_cause kind;
    uint32_t subject;
    uint32_t node; /* OVERRUN: that the job left, SCHED_NO_NODE when it left licences */
    int64_t end;   /* OVERRUN: when it was to leave */
};
/* Where a job goes. */
struct placement {
    vec(struct pick) picks;
    vec(int64_t) amounts; /* n_dims per pick */
};

struct sched {
    struct sched_settings settings;
    bool naive; /* tests: every shortcut off */

    struct gres_kind kinds[SCHED_GRES_KINDS];
    uint32_t n_kinds, n_dims, n_base; /* n_base: without the sums */
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
    struct map shape_index;     /* hash -> chain */
    vec(struct shape *) shapes;
    vec(uint32_t) places;               /* scratch: nodes of a plan that is made anew */
    vec(struct shape *) changed_shapes; /* whose turn may be wrong */
    vec(struct shape *) reports;        /* whose common reason may have changed */
    struct map sets;                    /* hash -> chain of struct node_set */
    struct heap timers;
    vec(struct job *) fresh;    /* need a reason */
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
    bool cut;    /* the last pass stopped at max_starts */
    int64_t due; /* a pass has work from then on */
    uint32_t pass;
    struct sched_preemption preemption; /* `may` is owned */
    bool any_if_above;
    vec(struct sched_preempt) preempts; /* of this pass */
    int64_t preempt_wake;               /* when a job that cannot be preempted yet can be */
    uint32_t preempt_mark;              /* number of the search for victims */
    struct map unconfirmed;             /* starts that the last pass proposed: hash -> end */
    uint64_t candidates;
    int64_t now; /* of the pass or question in progress */

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
/* Recomputes the sums of GRES names from their kinds. */
void amount_sum(const struct sched *s, int64_t *amount);

/* view.c */
void node_changed(struct sched *s, uint32_t node); /* recomputes keep and the indexes */
void sched_touched(struct sched *s);               /* the next pass has something to do */
void sched_statics(struct sched *s);               /* closed reasons must be looked at again */

/* index.c */
void index_init(struct index *index, const struct sched *s);
void index_done(struct index *index, uint32_t n_dims);
void index_set(struct index *index, const struct sched *s, uint32_t node, const int64_t *amount);
/* Highest step that is not above `need`: its set holds every node with enough. NULL = all nodes. */
const struct bits *index_at_least(const struct index *index, uint32_t dim, int64_t need);
uint32_t ladder_find(const struct ladder *ladder, int64_t value); /* number of steps reached */

/* run.c */
struct run *run_take(struct sched *s, uint32_t job_id, uint32_t partition, bool exclusive,
                     uint32_t uid, int64_t start, int64_t end, uint32_t n, const uint32_t *nodes,
                     const int64_t *amounts, const struct license_use *licenses, size_t n_licenses);
void run_drop(struct sched *s, struct run *run); /* gives everything back and frees it */
uint64_t start_hash(const uint32_t *nodes, const uint32_t *cpus, size_t stride, size_t n);
void proposal_add(struct sched *s, uint64_t hash, int64_t end);
void proposals_forget(struct sched *s);
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

/* preempt.c */
/* Looks for the victims of a job that does not fit. True: chosen (s->preempts), and the job has its
 * plan. */
bool preempt_try(struct sched *s, struct job *job, struct sched_plan *plan);
void preempt_pass_end(struct sched *s, struct sched_plan *plan);

/* queue.c */
struct turn_key job_key(const struct job *job);
static inline bool key_before(const struct turn_key *a, const struct turn_key *b) {
    if (a->urgency != b->urgency)
        return a->urgency < b->urgency;
    if (a->submit != b->submit)
        return a->submit < b->submit;
    return a->job_id < b->job_id;
}
int job_compare(const struct job *a, const struct job *b); /* < 0: a goes first */
void job_list_sort(struct shape *shape);
struct job *job_list_at(struct shape *shape,
                        size_t *position);       /* skips the gone; NULL at the end */
void queue_timers(struct sched *s, int64_t now); /* moves jobs whose time has come */
void queue_clear(struct sched *s);

/* So that its shortest limit ends by its deadline. */
static inline int64_t job_latest_start(const struct job *job, const struct alternative *alt) {
    int64_t shortest = alt->min_limit > 0 ? alt->min_limit : alt->limit;
    return job->deadline && shortest != SCHED_FOREVER ? job->deadline - shortest : SCHED_FOREVER;
}
/* senior.c */
/* Sets the job's seniority; returns when it grows next. */
int64_t job_seniority_set(const struct sched *s, struct job *job, int64_t now);
/* Called where a job joins (1) or leaves (-1) its shape's list. */
void shape_guarded_add(struct job *job, int by);
/* Plans that its pool may have with this one; 0 = it gets none. */
uint32_t job_reservations(const struct sched *s, const struct job *job);
/* After this one, may others of the shape get a plan though it may not? Call once per job tried. */
bool shape_has_senior(const struct sched *s, const struct job *job);

/* calendar.c */
void calendar_clear(struct sched *s);
struct reservation *calendar_find(const struct sched *s, uint32_t id); /* NULL */
/* Takes from what is free on a node at an instant what is not the alternative's. */
void calendar_subtract(const struct sched *s, const struct alternative *alt, uint32_t node,
                       int64_t when, int64_t *have);
/* The first instant after `after` at which what calendar_subtract() takes may change. */
int64_t calendar_next(const struct sched *s, const struct alternative *alt, uint32_t node,
                      int64_t after);
/* The same for all windows of the calendar. */
int64_t calendar_next_any(const struct sched *s, int64_t after);
/* Licences that are held at an instant and not the alternative's. `used`: by jobs of a
 * reservation. */
uint64_t calendar_licenses(const struct sched *s, const struct alternative *alt, uint32_t id,
                           int64_t when);
/* What the alternative may ever have of a node; NULL: nothing. */
const int64_t *calendar_ever(const struct sched *s, const struct alternative *alt, uint32_t node,
                             int64_t *scratch);
/* Windows that have begun or ended since the last pass let others start. */
void calendar_pass(struct sched *s, int64_t now);
/* The longest limit below `below` with which a start now ends at the edge of a window; 0. */
int64_t calendar_gap(const struct sched *s, const struct alternative *alt, int64_t below);
/* Why a shape that cannot start now could without reservations; sets its held_reason and detail. */
void calendar_explain(struct sched *s, struct shape *shape);
/* Where it is written down who waits first of those like it: of its reservation, or partition. */
struct head *alternative_head(const struct sched *s, const struct alternative *alt);
/* Plans kept in this pass that count against the same bound as this alternative's. */
uint32_t *calendar_quota(const struct sched *s, const struct alternative *alt);

/* promise.c */
void job_arrives(struct sched *s, struct job *job);
/* `start`: as it was told, by a plan or before the view was made anew. */
void promise_make(struct sched *s, struct job *job, int64_t start);
void promise_drop(struct sched *s, struct job *job);
/* A run leaves a node, or (SCHED_NO_NODE) everything: it may turn out that it was late. */
void promise_run_leaves(struct sched *s, const struct run *run, uint32_t node);
/* After a new search: the plan that the job had before, unless it started or the new plan is no
 * later. The old one is used up. */
void promise_keep(struct sched *s, struct job *job, struct plan *old);
/* At the end of a pass: who starts later than told. */
void promises_review(struct sched *s, struct sched_plan *plan);
/* May `job` take the place of this plan of somebody behind it? Not that of one who has waited
 * longest, unless the job came in later. */
bool promise_yields(const struct plan *plan, const struct job *job);

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

/* fragment.c */
#define FRAGMENT_LEVEL_NODES 8 /* looked at, of those with equally many free GRES */
/* A choice of one node in progress: the one whose use makes least of the rest useless. */
struct fragment {
    uint32_t best, before, n_level;
    int64_t loss, left;
};
void popular_take(struct sched *s, struct run *run);
void popular_give(struct sched *s, struct run *run);
void popular_clear(struct sched *s);
void popular_pass(struct sched *s); /* what is popular in this pass */
/* False: nothing is known of what jobs want, or it does not matter for this choice. */
bool fragment_begin(const struct sched *s, const struct shape *shape, const struct alternative *alt,
                    uint32_t goal, struct fragment *ret);
/* The next nodes have equally many free GRES, and more than those before. */
void fragment_level_begin(struct fragment *f);
/* A node that can take `need`; in index order. False: no more of this level. */
bool fragment_offer(const struct sched *s, struct fragment *f, uint32_t node, const int64_t *need,
                    uint8_t primary);

/* select.c */
/* Chooses among s->found (in order of preference) and fills out->picks with tasks and shares. */
bool select_nodes(struct sched *s, const struct shape *shape, const struct alternative *alt,
                  struct placement *out);
/* Tasks or GRES to spread over the nodes; 0: equal shares. */
uint32_t spread_goal(const struct shape *shape, const struct alternative *alt);
/* The same without regard to switches. */
bool select_among(struct sched *s, const struct shape *shape, const struct alternative *alt,
                  struct placement *out);
/* Nodes of a fixed share when `have` could take one and `taken` must; 0 = too few. */
uint32_t fixed_goal(const struct shape *shape, const struct alternative *alt, size_t have,
                    size_t taken);
/* Puts the picks in configured order and deals tasks and per-job GRES out. In: what each could
 * take. */
bool placement_deal(const struct sched *s, const struct shape *shape, struct placement *out);
/* The selection finds nodes whenever there are any. Otherwise more free nodes may lead it to a
 * choice that fails, and "not now" says nothing about later. */
bool select_is_exact(const struct shape *shape, const struct alternative *alt);
void candidates_sort(struct sched *s, const struct alternative *alt, bool future);

/* topology.c */
void topology_clear(struct sched *s);
/* Whose wish ends starts where it can. */
void topology_pass(struct sched *s, int64_t now);
void topology_wish(struct sched *s, const struct shape *shape); /* a new shape */
/* How many leaves the selections that follow may use, for a start at an instant: s->most_leaves. */
void topology_at(struct sched *s, const struct shape *shape, const struct alternative *alt,
                 int64_t when);
/* Counts the node's leaf up or down; how many it has then. Ends with topology_count_end(). */
uint32_t topology_count(struct sched *s, uint32_t node, int by);
void topology_count_end(struct sched *s);
/* Are found[from, to) at so few leaves? */
bool topology_allows(const struct sched *s, size_t from, size_t to);
/* select_nodes() where it matters which nodes are together. */
bool topology_select(struct sched *s, const struct shape *shape, const struct alternative *alt,
                     struct placement *out);

/* place.c */
/* A lower bound of what any node must have free, whatever its hardware, for so many tasks; `all`:
 * with all GRES of the job. */
void need_least(const struct shape *shape, uint32_t tasks, bool all, int64_t *need,
                uint32_t n_dims);
/* s->mask = nodes that may take a share as they are, whatever is planned on them. */
void mask_of_free(struct sched *s, const struct shape *shape, const struct alternative *alt);
/* Tasks of the shape that the node could take now, 0 = not even a share. May be too many. */
uint32_t node_serves(struct sched *s, struct shape *shape, struct alternative *alt, uint32_t node);
/* On failure, s->lack says how far away it was. */
bool place_now(struct sched *s, struct shape *shape, struct alternative *alt, int64_t limit,
               struct placement *out);
/* With every node free; usable_only: as the cluster stands. */
bool place_ever(struct sched *s, struct shape *shape, struct alternative *alt, bool usable_only);
/* Vectors for chosen nodes over [start, end). */
bool place_amounts(struct sched *s, const struct shape *shape, const struct alternative *alt,
                   int64_t start, int64_t end, struct placement *out);
void placement_done(struct placement *placement);
void placement_swap(struct placement *a, struct placement *b);

/* Rank and best-fit value of a node for a placement now. */
void candidate_rank(const struct sched *s, const struct shape *shape, const struct alternative *alt,
                    struct candidate *c);

/* profile.c */
/* Minimum of what is free for an alternative on a node over [start, end). */
void node_window_of(const struct sched *s, const struct alternative *alt, uint32_t node,
                    int64_t start, int64_t end, int64_t *have);
/* The same without regard to reservations. */
void node_window(const struct sched *s, uint32_t node, int64_t start, int64_t end, int64_t *have);
/* `hint`: when it is expected, 0 = unknown; only speeds the search up. */
bool earliest_start(struct sched *s, struct shape *shape, struct alternative *alt, int64_t hint,
                    int64_t *ret_start, struct placement *out);
struct plan *plan_add(struct sched *s, struct job *job, const struct alternative *alt,
                      int64_t start, const struct placement *placement);
void plan_remove(struct sched *s, struct plan *plan);
void plan_confirm(struct sched *s, struct plan *plan); /* this pass keeps it; it counts */
void plan_detach(struct sched *s, struct plan *plan);  /* removed, but it lives on */
void plan_attach(struct sched *s, struct plan *plan);  /* its job has no other */
void plan_free(struct plan *plan);
/* More of the node has come free: may the plan's job start earlier, or elsewhere? */
bool plan_can_improve(struct sched *s, const struct plan *plan, uint32_t node);
void plans_clear(struct sched *s);

/* candidates.c */
/* Is it tried only when everybody who may have a plan has been dealt with? */
bool candidate_waits(const struct sched *s, const struct job *job);
void candidates_begin(struct sched *s);
/* Puts the job of the walk's turn off, and all behind it in its shape unless it returns true. */
bool candidate_defer(struct sched *s, const struct job *job);
/* Jobs of a group, from a position on, to s->waiting_jobs; candidates_order() sorts those. */
void candidates_add(struct sched *s, const struct waiting_group *group, size_t from);
void candidates_order(struct sched *s);

/* pass.c */
void start_fill(const struct sched *s, const struct placement *placement, struct arena *arena,
                struct sched_start *ret);

/* order.c */
#define NO_TURN SIZE_MAX
/* Begins a walk over all that wait, in order, shape by shape. The other functions need one. */
void order_begin(struct sched *s);
/* The turn that the walk has come to, NULL at the end; its shape's cursor is at the job. */
struct turn *order_turn(struct sched *s);
struct job *order_job(struct sched *s); /* of that turn */
void order_advance(struct sched *s);    /* goes on; the shape comes again with its next job */
void order_drop(struct sched *s);       /* goes on; no more of this shape */
void order_return(struct sched *s, size_t turn); /* at the end of the walk: to a turn of it */
void shape_turn_changed(struct sched *s, struct shape *shape); /* its first job may be another */
void order_forget(struct sched *s, struct shape *shape);

/* wake.c */
/* No release since it was searched for lets its job start earlier. */
bool plan_stands(struct sched *s, struct plan *plan);
void sched_released(struct sched *s);               /* anything may start earlier */
void node_released(struct sched *s, uint32_t node); /* more of it is, or will earlier be, free */
void plan_released(struct sched *s, const struct plan *plan);
void node_taken(struct sched *s, uint32_t node); /* what the log says of it is stale */
void turn_sleep(struct sched *s, struct turn *turn);
/* True: no job of the shape can start now, nothing that came free since it fell asleep lets it. */
bool turn_sleeps(struct sched *s, struct turn *turn);

/* explain.c */
/* Takes the text over. */
void shape_detail_set(struct sched *s, struct shape *shape, char *detail);
void shape_report(struct sched *s, struct shape *shape); /* its common reason may have changed */
/* Looks at a shape's closed alternatives again; true while at least one is open. */
bool shape_open(struct sched *s, struct shape *shape);
/* Reports what has changed; beside heads and jobs with plans max_waits of it (0 = all). True when
 * something is left. */
bool explain_pass(struct sched *s, uint32_t max_waits, struct sched_plan *plan);

#endif
