/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the planner: plans and the earliest start (profile.c), reservations (calendar.c), and what
 * jobs have been told (promise.c).
 */
#ifndef SLUICE_SCHED_FUTURE_H
#define SLUICE_SCHED_FUTURE_H

#include "sched/cluster.h"
#include "sched/place.h"

/* ---- plans ---- */

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
    uint64_t *spent;   /* of each budget that the alternative uses */
    uint64_t releases; /* of those, when it was searched */
};
/* From `time` on, the node can take so much (until its next step). node == SCHED_NO_NODE: only an
 * instant to look at, a licence comes free. */
struct step {
    int64_t time;
    uint32_t node, tasks, units;
};

/* profile.c */
/* Minimum of what is free for an alternative on a node over [start, end). */
void node_window_of(const struct sched *s, const struct alternative *alt, uint32_t node,
                    int64_t start, int64_t end, int64_t *have);
/* The same without regard to reservations. */
void node_window(const struct sched *s, uint32_t node, int64_t start, int64_t end, int64_t *have);
/* `hint`: when it is expected, 0 = unknown; only speeds the search up. */
bool earliest_start(struct sched *s, struct shape *shape, struct alternative *alt, int64_t hint,
                    int64_t *ret_start, struct placement *out);
/* The earliest over all open alternatives of a job of which fewer than `most` plans are kept; ties
 * go to the first. s->best says where. NULL: at no time, or too late for its deadline. */
struct alternative *job_earliest(struct sched *s, const struct job *job, int64_t hint,
                                 uint32_t most, int64_t *ret_start);
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

/* ---- reservations ---- */

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
/* Licences that reservations other than the alternative's hold at an instant, beyond those that
 * their own jobs use. */
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

/* ---- promises ---- */

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
struct cause {
    enum sched_cause kind;
    uint32_t subject;
    uint32_t node; /* OVERRUN: that the job left, SCHED_NO_NODE when it left licences */
    int64_t end;   /* OVERRUN: when it was to leave */
};

/* promise.c */
void job_arrives(struct sched *s, struct job *job);
/* `start`: as it was told, by a plan or before the view was made anew. */
void promise_make(struct sched *s, struct job *job, int64_t start);
void promise_drop(struct sched *s, struct job *job);
/* A run leaves a node, or (SCHED_NO_NODE) everything: it may turn out that it was late. */
void promise_run_leaves(struct sched *s, const struct run *run, uint32_t node);
/* After a new search: puts back the plan that the job had before, unless it started or the new plan
 * is no later. False: the old one is not needed any more, and the caller's. */
bool promise_keep(struct sched *s, struct job *job, struct plan *old);
/* Is the place of a plan that is detached still free? */
bool plan_has_place(struct sched *s, const struct plan *old);
/* At the end of a pass: who starts later than told. */
void promises_review(struct sched *s, struct sched_plan *plan);
/* May `job` take the place of this plan of somebody behind it? Not that of one who has waited
 * longest, unless the job came in later. */
bool promise_yields(const struct plan *plan, const struct job *job);
/* It goes for `job`, which is the cause if nothing better is found. */
void promise_yields_to(const struct plan *plan, const struct job *job);

#endif
