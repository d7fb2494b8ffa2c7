/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conservative backfilling whose reservations persist. At an instant: give back what ended jobs did
 * not use, one pass of compression over the waiting in order, a reservation for each new job, then
 * everything starts whose time has come. A planned start is an instant of its own, without
 * compression. A plan may stay later than possible until the next end: the pass is single.
 *
 * A plan was the earliest when it was made, so it can move only into what has been set free since:
 * windows that begin before `freed_until`. What moved in the last pass may have set something free
 * for those that were looked at before, and is carried over.
 */
#include "base/alloc.h"
#include "sim/policy_internal.h"

static void reserve(struct sim *sim, uint32_t job, int64_t start) {
    profile_add(&sim->profile, start, start + sim->plan[job], -(int64_t) sim->jobs[job].procs);
    sim->reserved[job] = start;
    heap_remove(&sim->planned, &sim->planned_nodes[job]);
    heap_push(&sim->planned, &sim->planned_nodes[job], start, job);
}

static void place(struct sim *sim, uint32_t job, int64_t now) {
    reserve(
        sim, job,
        profile_earliest(&sim->profile, now, sim->jobs[job].procs, sim->plan[job], PROFILE_NEVER));
}

/* Ends what is due; the end of what that sets free, `now` when nothing. */
static int64_t end_jobs(struct sim *sim, int64_t now) {
    int64_t freed_until = now;
    while (sim_ends_at(sim, now)) {
        uint32_t job = sim_pop_end(sim);
        int64_t until = sim->starts[job] + sim->plan[job];
        profile_add(&sim->profile, now, until, sim->jobs[job].procs);
        freed_until = max_of(freed_until, until);
        sim_finish(sim, job);
    }
    return freed_until;
}

static void compress(struct sim *sim, int64_t now, int64_t freed_until) {
    int64_t reach = max_of(freed_until, sim->freed_until);
    sim->freed_until = now;
    queue_sort(sim, now);
    for (size_t i = 0; i < queue_length(sim); i++) {
        uint32_t job = queue_job(sim, i);
        int64_t plan = sim->reserved[job], procs = sim->jobs[job].procs;
        int64_t last = min_of(plan, reach) - 1;
        if (last < now)
            continue;
        int64_t start = profile_earlier(&sim->profile, now, procs, sim->plan[job], last, plan);
        if (start == PROFILE_NEVER)
            continue;
        int64_t until = plan + sim->plan[job];
        profile_add(&sim->profile, plan, until, procs);
        reserve(sim, job, start);
        reach = max_of(reach, until);
        sim->freed_until = max_of(sim->freed_until, until);
    }
}

static void start_planned(struct sim *sim, int64_t now) {
    bool any = false;
    struct heap_node *node;
    while ((node = heap_min(&sim->planned)) != NULL && node->key <= now) {
        heap_pop(&sim->planned);
        sim_begin(sim, (uint32_t) (node - sim->planned_nodes), now);
        any = true;
    }
    if (any)
        queue_drop_started(sim);
}

void run_cons(struct sim *sim) {
    sim->reserved = xcalloc(sim->n, sizeof(*sim->reserved));
    sim->planned_nodes = xcalloc(sim->n, sizeof(*sim->planned_nodes));
    sim->freed_until = INT64_MIN;
    profile_reset(&sim->profile, sim->jobs[0].submit, sim->free);
    for (int64_t now; sim->n_ended < sim->n; sim->result->n_passes++) {
        now = sim_next(sim);
        const struct heap_node *planned = heap_min(&sim->planned);
        if (planned)
            now = min_of(now, planned->key);
        profile_trim(&sim->profile, now);
        if (sim_ends_at(sim, now))
            compress(sim, now, end_jobs(sim, now));
        while (sim_submits_at(sim, now)) {
            uint32_t job = (uint32_t) sim->n_submitted;
            sim_enqueue(sim, now);
            place(sim, job, now);
        }
        start_planned(sim, now);
    }
    free(sim->reserved);
    free(sim->planned_nodes);
    heap_done(&sim->planned);
}
