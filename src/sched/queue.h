/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the planner: jobs that wait (queue.c), the order in which their shapes come up (order.c),
 * which of those are worth a test (wake.c), who may have a plan (senior.c), who is tried when all
 * those have been (candidates.c), and jobs that start together (group.c).
 */
#ifndef SLUICE_SCHED_QUEUE_H
#define SLUICE_SCHED_QUEUE_H

#include "base/heap.h"
#include "base/vec.h"
#include "sched/sched.h"

struct job_group;
struct plan;
struct promise;
struct sched;
struct shape;

/* ---- the order ---- */

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
    bool exclusive, guarded, budgeted, overspent;
    uint64_t spent; /* its budgets were while so often any was given something back; 0: were not */
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

/* ---- jobs ---- */

/* How long a job has waited: too short for a plan, long enough, so long that it must have one. */
enum seniority { SENIORITY_NONE, SENIORITY_ENOUGH, SENIORITY_GUARDED };
/* In the order; or not: before its begin time, at its array limit, too late for its deadline. */
enum job_place { PLACE_LIVE, PLACE_BEGIN, PLACE_LIMITED, PLACE_EXPIRED };
struct job {
    uint32_t job_id, priority, tier, reserve_priority;
    int64_t expected;                      /* seconds that it is likely to run, 0 = unknown */
    uint32_t n_tasks, max_starts, started; /* started: in this pass */
    uint32_t uid;
    int64_t submit, begin, deadline, eligible;
    struct shape *shape;
    struct job_group *group; /* NULL: it starts alone */
    size_t position;         /* in shape->jobs */
    struct heap_node timer;  /* next begin time or last possible start */
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

/* ---- what has come free ---- */

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

/* senior.c */
/* Sets the job's seniority; returns when it grows next. */
int64_t job_seniority_set(const struct sched *s, struct job *job, int64_t now);
/* Called where a job joins (1) or leaves (-1) its shape's list. */
void shape_guarded_add(struct job *job, int by);
/* Plans that its pool may have with this one; 0 = it gets none. */
uint32_t job_reservations(const struct sched *s, const struct job *job);
/* After this one, may others of the shape get a plan though it may not? Call once per job tried. */
bool shape_has_senior(const struct sched *s, const struct job *job);

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

/* group.c */
/* Jobs that start together. They come up one by one as all others do, and are tried when the last
 * of them has: the group waits as long as any of it would. */
struct job_group {
    uint32_t id, size;
    vec(struct job *) members; /* of the view */
    uint32_t pass, seen;       /* so many have come up in this pass */
};
void group_join(struct sched *s, struct job *job, uint32_t id, uint32_t size);
void group_leave(struct sched *s, struct job *job);
/* Is this job, which the walk has come to, the last of its group? Call once. */
bool group_is_next(struct sched *s, struct job *job);
/* In which order its members are placed: who has the least choice first. */
void group_order(struct job_group *group);

/* candidates.c */
/* Is it tried only when everybody who may have a plan has been dealt with? */
bool candidate_waits(const struct sched *s, const struct job *job);
void candidates_begin(struct sched *s);
/* Puts the job of the walk's turn off, and all behind it in its shape unless it returns true. */
bool candidate_defer(struct sched *s, const struct job *job);
/* Jobs of a group, from a position on, to s->waiting_jobs; candidates_order() sorts those. */
void candidates_add(struct sched *s, const struct waiting_group *group, size_t from);
void candidates_order(struct sched *s);

#endif
