/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A planning pass of the shape of Slurm's two schedulers, for comparison. Core, nodes, requests,
 * placement and priorities are ours and the same as in `sluice sim --conf`: the linker puts this
 * pass in the place of the planner's (--wrap=sched_pass).
 *
 * The main pass runs at every event: jobs in order, at most default_queue_depth; the first that
 * cannot start closes its partitions for the rest. The backfill cycle runs every bf_interval if
 * something has changed since the last one: the first bf_max_job_test jobs (at most bf_max_job_user
 * of a user), each gets its earliest start around all that run and all reserved before it, if that
 * lies within bf_window. A reservation takes whole nodes, from its start rounded down to its end
 * rounded up to bf_resolution. All reservations are made anew in every cycle.
 *
 * It is a best case for Slurm: planning costs no time, no cycle is cut short, expected ends of
 * running jobs are known to the second.
 */
#include "sched/internal.h"
#include "slurm_shape.h"

void __wrap_sched_pass(struct sched *s, int64_t now, uint32_t max_starts, struct sched_plan *plan);

struct slurm_shape slurm_shape;

static int64_t next_cycle;
static uint64_t cycle_generation;

struct pass {
    struct sched *s;
    struct sched_plan *plan;
    vec(struct sched_start) starts;
    struct bits closed; /* partitions */
};

static void start_now(struct pass *p, struct job *job, const struct alternative *alt,
                      bool backfilled) {
    struct sched *s = p->s;
    struct sched_start *start = vec_add(&p->starts);
    size_t n = s->placement.picks.n;
    uint32_t *nodes = xcalloc(n + 1, sizeof(*nodes));
    *start = (struct sched_start) {.job_id = job->job_id,
                                   .partition = alt->partition,
                                   .limit = alt->limit,
                                   .backfilled = backfilled};
    start_fill(s, &s->placement, p->plan->memory, start);
    for (size_t i = 0; i < n; i++)
        nodes[i] = s->placement.picks.items[i].node;
    struct run *run =
        run_take(s, job->job_id, alt->partition, alt->exclusive, job->uid, s->now,
                 time_after(s->now, alt->limit), (uint32_t) n, nodes, s->placement.amounts.items,
                 job->shape->licenses, job->shape->n_licenses);
    run->tentative = true;
    vec_push(&s->tentative, run);
    job->started = 1;
    free(nodes);
}

/* ---- the main pass ---- */

static bool main_try(struct pass *p, struct job *job) {
    struct shape *shape = job->shape;
    for (size_t i = 0; i < shape->n_alternatives; i++) {
        struct alternative *alt = &shape->alternatives[i];
        if (alt->reason || bits_test(&p->closed, alt->partition) ||
            !place_now(p->s, shape, alt, alt->limit, &p->s->placement))
            continue;
        start_now(p, job, alt, false);
        return true;
    }
    for (size_t i = 0; i < shape->n_alternatives; i++)
        bits_set(&p->closed, shape->alternatives[i].partition);
    return false;
}

static void main_pass(struct pass *p) {
    struct sched *s = p->s;
    uint32_t looked_at = 0;
    order_begin(s);
    for (; order_turn(s) && looked_at < slurm_shape.queue_depth; order_advance(s)) {
        main_try(p, order_job(s));
        looked_at++;
        if (bits_count(&p->closed) == s->n_partitions)
            return;
    }
}

/* ---- the backfill cycle ---- */

/* Whole nodes, in whole multiples of the resolution. The plan keeps the alternative. */
static void reserve(struct pass *p, struct job *job, const struct alternative *alt, int64_t start) {
    struct sched *s = p->s;
    int64_t resolution = slurm_shape.resolution;
    struct alternative *whole = arena_alloc(p->plan->memory, sizeof(*whole));
    int64_t end = time_after(start, alt->limit);
    int64_t from = max_of(start - start % resolution, s->now);
    if (end < SCHED_FOREVER - resolution)
        end = (end + resolution - 1) / resolution * resolution;
    *whole = *alt;
    whole->exclusive = true;
    whole->limit = end == SCHED_FOREVER ? SCHED_FOREVER : end - from;
    plan_add(s, job, whole, from, &s->best);
}

/* False: it has no start within the window. */
static bool backfill_try(struct pass *p, struct job *job) {
    struct sched *s = p->s;
    struct shape *shape = job->shape;
    struct alternative *best = NULL;
    int64_t best_start = s->now + slurm_shape.window + 1;
    for (size_t i = 0; i < shape->n_alternatives; i++) {
        struct alternative *alt = &shape->alternatives[i];
        int64_t start;
        if (alt->reason || !earliest_start(s, shape, alt, 0, &start, &s->placement) ||
            start >= best_start)
            continue;
        best = alt;
        best_start = start;
        placement_swap(&s->placement, &s->best);
    }
    if (best == NULL)
        return false;
    if (best_start > s->now) {
        reserve(p, job, best, best_start);
        return true;
    }
    placement_swap(&s->placement, &s->best);
    start_now(p, job, best, true);
    return true;
}

static void backfill_cycle(struct pass *p) {
    struct sched *s = p->s;
    struct map users = MAP_INIT, hopeless = MAP_INIT;
    uint32_t tested = 0;
    order_begin(s);
    for (; order_turn(s) && tested < slurm_shape.jobs; order_advance(s)) {
        struct job *job = order_job(s);
        struct shape *shape = job->shape;
        uintptr_t of_user = (uintptr_t) map_get(&users, job->uid);
        if (job->started)
            continue;
        if (slurm_shape.jobs_of_user > 0 && of_user >= slurm_shape.jobs_of_user)
            continue;
        map_put(&users, job->uid, (void *) (of_user + 1));
        tested++;
        /* What is reserved only grows: an equal job has no better chance. */
        if (map_get(&hopeless, (uintptr_t) shape) == NULL && !backfill_try(p, job))
            map_put(&hopeless, (uintptr_t) shape, shape);
    }
    plans_clear(s);
    map_done(&users);
    map_done(&hopeless);
}

/* ---- the pass ---- */

void __wrap_sched_pass(struct sched *s, int64_t now, uint32_t max_starts, struct sched_plan *plan) {
    struct pass p = {.s = s, .plan = plan};
    (void) max_starts;
    *plan = (struct sched_plan) SCHED_PLAN_INIT;
    plan->memory = zalloc(struct arena);
    arena_init(plan->memory, 0);
    queue_timers(s, now);
    calendar_pass(s, now);
    topology_pass(s, now);
    s->now = now;
    bits_init(&p.closed, s->n_partitions);
    if (s->changed)
        main_pass(&p);
    bool new = s->generation != cycle_generation;
    if (now >= next_cycle && new) {
        backfill_cycle(&p);
        next_cycle = (now / slurm_shape.interval + 1) * slurm_shape.interval;
        cycle_generation = s->generation;
        new = p.starts.n > 0;
    }
    for (size_t i = s->tentative.n; i-- > 0;)
        run_drop(s, s->tentative.items[i]);
    vec_reset(&s->tentative);
    vec_each (&p.starts, start) {
        ((struct job *) map_get(&s->jobs, start->job_id))->started = 0;
    }
    proposals_forget(s);
    plan->n_starts = p.starts.n;
    plan->starts = arena_alloc(plan->memory, (p.starts.n + 1) * sizeof(*plan->starts));
    if (p.starts.n > 0)
        memcpy(plan->starts, p.starts.items, p.starts.n * sizeof(*plan->starts));
    vec_done(&p.starts);
    bits_done(&p.closed);
    s->changed = false;
    const struct heap_node *timer = heap_min(&s->timers);
    plan->next_time = timer != NULL ? timer->key : 0;
    int64_t cycle = max_of(next_cycle, now + 1);
    if (new && (plan->next_time == 0 || cycle < plan->next_time))
        plan->next_time = cycle;
}
