/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expected starts for all who wait. Reserved heads have theirs. Behind them a background plan goes
 * on, job after job, each bound to nodes as if it were reserved, until a budget of work is spent;
 * it is taken back before anybody can see it and binds nobody. For the rest the queue is a fluid:
 * the CPU seconds ahead of a job, over the CPUs of its pool.
 *
 * Nothing is kept for jobs before their begin time, but they will have their place in the order
 * when it has come: they are planned in that place, for a start not before.
 */
#include <assert.h>

#include "sched/internal.h"

#define EXACT_JOBS 128
#define EXACT_WORK 2000000 /* nodes looked at */
#define FRESH_SECONDS 5

struct pool_flow {
    int64_t base; /* latest start that was planned exactly */
    double cpus;  /* of its nodes */
    double work;  /* CPU seconds ahead */
};
struct estimate {
    struct sched *s;
    struct pool_flow *flows;
    vec(struct plan *) plans; /* to be taken back */
    vec(struct job *) later;  /* before their begin time, in order */
    size_t next_later;
    bool exact;
};

static double shape_cpus(const struct shape *shape, const struct alternative *alt) {
    uint32_t tasks = shape->ntasks ? shape->ntasks : alt->min_nodes * shape_share(shape);
    return (double) tasks * shape->cpus_per_task;
}

static void flow_add(struct estimate *e, const struct shape *shape, uint32_t n_tasks) {
    const struct sched *s = e->s;

    for (size_t i = 0; i < shape->n_alternatives; i++) {
        const struct alternative *alt = &shape->alternatives[i];
        int64_t limit = min_of(alt->limit, s->settings.default_limit);
        if (alt->reason)
            continue;
        e->flows[s->partitions[alt->partition].pool].work +=
            shape_cpus(shape, alt) * (double) limit * n_tasks;
        return; /* the first open one stands for all */
    }
}

static int64_t flow_start(const struct estimate *e, const struct shape *shape) {
    const struct sched *s = e->s;
    int64_t best = 0;

    for (size_t i = 0; i < shape->n_alternatives; i++) {
        const struct alternative *alt = &shape->alternatives[i];
        const struct pool_flow *flow = &e->flows[s->partitions[alt->partition].pool];
        if (alt->reason || flow->cpus <= 0)
            continue;
        double wait = flow->work / flow->cpus;
        int64_t start = time_after(flow->base, wait < 1e15 ? (int64_t) wait : SCHED_FOREVER);
        if (best == 0 || start < best)
            best = start;
    }
    return best;
}

static int64_t exact_start(struct estimate *e, struct job *job) {
    struct sched *s = e->s;
    int64_t start = 0;
    struct alternative *best = job_earliest(s, job, 0, UINT32_MAX, &start);

    if (!best)
        return 0;
    vec_push(&e->plans, plan_add(s, job, best, start, &s->best));
    struct pool_flow *flow = &e->flows[s->partitions[best->partition].pool];
    if (s->not_before == 0) /* what is far off says nothing of those behind it */
        flow->base = max_of(flow->base, start);
    return start;
}

static void estimate_job(struct estimate *e, struct job *job) {
    struct sched *s = e->s;
    uint32_t rest = job->n_tasks;

    if (job->plan) {
        job->estimate = job->plan->start;
        rest--;
    } else if (e->exact) {
        job->estimate = exact_start(e, job);
        rest -= job->estimate != 0;
        e->exact = e->plans.n < EXACT_JOBS && s->candidates < EXACT_WORK;
    } else {
        job->estimate = flow_start(e, job->shape);
    }
    if (rest > 0)
        flow_add(e, job->shape, rest);
}

static int later_compare(const void *a, const void *b) {
    return job_compare(*(struct job *const *) a, *(struct job *const *) b);
}

static void later_find(struct estimate *e) {
    struct sched *s = e->s;
    size_t at = 0;
    uint64_t id;
    struct job *job;

    while ((job = map_next(&s->jobs, &at, &id))) {
        if (job->place == PLACE_BEGIN && shape_open(s, job->shape))
            vec_push(&e->later, job);
    }
    sort_items(e->later.items, e->later.n, sizeof(struct job *), later_compare);
}

/* Those that go before a job; NULL: all the others. */
static void later_estimate(struct estimate *e, const struct job *before) {
    for (; e->next_later < e->later.n; e->next_later++) {
        struct job *job = e->later.items[e->next_later];
        if (before && job_compare(before, job) < 0)
            return;
        e->s->not_before = job->begin;
        job->estimate = e->exact ? exact_start(e, job) : flow_start(e, job->shape);
        e->s->not_before = 0;
    }
}

static void estimate_all(struct sched *s, int64_t now) {
    struct estimate e = {.s = s, .exact = true};
    uint64_t work = s->candidates;

    s->now = now;
    s->candidates = 0;
    e.flows = xcalloc(s->n_pools + 1, sizeof(*e.flows));
    for (uint32_t p = 0; p < s->n_pools; p++)
        e.flows[p].base = now;
    /* Nodes of several partitions of one pool count once for each; good enough for a guess. */
    for (uint32_t p = 0; p < s->n_partitions; p++) {
        double cpus = 0;
        bits_each (&s->partitions[p].nodes, node) {
            cpus += s->nodes[node].usable ? (double) node_total(s, node)[DIM_CPU] : 0;
        }
        struct pool_flow *flow = &e.flows[s->partitions[p].pool];
        flow->cpus = max_of(flow->cpus, cpus);
    }
    later_find(&e);
    for (order_begin(s); order_turn(s); order_advance(s)) {
        later_estimate(&e, order_job(s));
        estimate_job(&e, order_job(s));
    }
    later_estimate(&e, NULL);
    for (size_t i = e.plans.n; i-- > 0;)
        plan_remove(s, e.plans.items[i]);
    vec_done(&e.plans);
    vec_done(&e.later);
    free(e.flows);
    s->candidates = work;
    s->estimate_generation = s->generation;
    s->estimate_time = now;
}

int64_t sched_estimate(struct sched *s, int64_t now, uint32_t job_id) {
    struct job *job = map_get(&s->jobs, job_id);

    if (!job || job->place == PLACE_EXPIRED)
        return 0;
    if (job->plan)
        return job->plan->start;
    bool stale = s->estimate_generation != s->generation || s->estimate_time == 0;
    bool old = now >= s->estimate_time + FRESH_SECONDS;
    if (stale && (old || (job->estimate == 0 && now != s->estimate_time)))
        estimate_all(s, max_of(now, s->now));
    return max_of(job->estimate, job->place == PLACE_BEGIN ? job->begin : 0);
}
