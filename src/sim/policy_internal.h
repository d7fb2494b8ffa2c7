/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the reference policies: one run's state. Jobs are known by their rank. */
#ifndef SLUICE_SIM_POLICY_INTERNAL_H
#define SLUICE_SIM_POLICY_INTERNAL_H

#include "base/heap.h"
#include "base/vec.h"
#include "sim/policy.h"
#include "sim/profile.h"

struct waiting {
    double key; /* of the order: smaller first, then rank */
    uint32_t job;
};
struct running {
    int64_t end;  /* expected: start + plan */
    uint64_t seq; /* of starts */
    uint32_t job, procs;
};
struct candidate {
    int64_t predicted;
    size_t position; /* in the queue */
};
struct predictor_user {
    int64_t last, before; /* run times of what ended last; -1 = none */
};

struct sim {
    const struct trace_job *jobs;
    size_t n;
    const struct sim_policy *policy;
    const struct sim_watch *watch;
    struct sim_result *result;
    int64_t *starts;    /* the result's */
    int64_t *limit;     /* what the user asked for (perfect: the run time) */
    int64_t *plan;      /* how long the plan expects the job to run */
    int64_t *predicted; /* by which candidates are sorted; the same array when predictions plan */
    bool dynamic;       /* keys change with time */

    int64_t free;
    size_t n_submitted, n_ended;
    uint64_t seq;
    /* Waiting jobs in order: items[head …]. */
    vec(struct waiting) queue;
    size_t head;
    vec(struct running) running;      /* by (end, seq) */
    vec(struct candidate) candidates; /* scratch */
    struct heap ends;                 /* by end, then start */
    struct heap_node *end_nodes;      /* by job */

    /* ---- predictions ---- */
    uint32_t *user_of; /* by job; NULL: nobody predicts */
    struct predictor_user *users;
    struct heap overdue; /* the plan's end of running jobs that will run longer */
    struct heap_node *overdue_nodes;
    uint8_t *n_corrections;

    /* ---- reservations ---- */
    struct profile profile;
    int64_t *reserved;   /* cons: planned start by job */
    struct heap planned; /* cons: the waiting by planned start */
    struct heap_node *planned_nodes;
    int64_t freed_until; /* cons: the end of what the last compression set free */
};

/* ---- policy.c: what happens to a job ---- */
void sim_begin(struct sim *sim, uint32_t job, int64_t now);
void sim_finish(struct sim *sim, uint32_t job);
/* Submits the next job. */
void sim_enqueue(struct sim *sim, int64_t now);
/* Next instant at which something was submitted or ends. */
int64_t sim_next(const struct sim *sim);
static inline bool sim_ends_at(const struct sim *sim, int64_t now) {
    const struct heap_node *node = heap_min(&sim->ends);
    return node && node->key == now;
}
uint32_t sim_pop_end(struct sim *sim);
static inline bool sim_submits_at(const struct sim *sim, int64_t now) {
    return sim->n_submitted < sim->n && sim->jobs[sim->n_submitted].submit == now;
}

/* ---- policy_queue.c ---- */
void queue_insert(struct sim *sim, uint32_t job, int64_t now);
/* Sorts anew when keys change with time. */
void queue_sort(struct sim *sim, int64_t now);
static inline size_t queue_length(const struct sim *sim) {
    return sim->queue.n - sim->head;
}
static inline uint32_t queue_job(const struct sim *sim, size_t position) {
    return sim->queue.items[sim->head + position].job;
}
/* Takes out the first `n`, or everything that has started. */
void queue_drop_first(struct sim *sim, size_t n);
void queue_drop_started(struct sim *sim);

/* ---- policy_pass.c ---- */
void pass_fcfs(struct sim *sim, int64_t now);
void pass_easy(struct sim *sim, int64_t now);
void pass_replan(struct sim *sim, int64_t now);
/* Starts from the front while jobs fit, at most `depth`. */
void pass_in_order(struct sim *sim, int64_t now, size_t depth);
/* ---- policy_cons.c, policy_slurm.c: loops of their own ---- */
void run_cons(struct sim *sim);
void run_slurm(struct sim *sim);

#endif
