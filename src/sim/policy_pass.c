/* SPDX-License-Identifier: Apache-2.0 */
/* One pass of the policies that keep nothing between passes. */
#include "base/alloc.h"
#include "sim/policy_internal.h"

void pass_in_order(struct sim *sim, int64_t now, size_t depth) {
    size_t n = 0;
    while (n < queue_length(sim) && n < depth && sim->jobs[queue_job(sim, n)].procs <= sim->free)
        sim_begin(sim, queue_job(sim, n++), now);
    if (n)
        queue_drop_first(sim, n);
}

void pass_fcfs(struct sim *sim, int64_t now) {
    queue_sort(sim, now);
    pass_in_order(sim, now, SIZE_MAX);
}

/* ---- easy ---- */

/* When the first in the queue can start at the latest, and how many processors are left then. All
 * jobs with the same expected end are released together. */
static int64_t shadow_time(const struct sim *sim, int64_t now, int64_t *ret_extra) {
    int64_t needed = sim->jobs[queue_job(sim, 0)].procs;
    int64_t available = sim->free, shadow = PROFILE_NEVER;
    vec_each (&sim->running, job) {
        if (available >= needed && job->end != shadow)
            break;
        available += job->procs;
        shadow = job->end;
    }
    *ret_extra = available - needed;
    return max_of(shadow, now); /* a prediction may have run out */
}

static int by_prediction(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    if (x->predicted != y->predicted)
        return x->predicted < y->predicted ? -1 : 1;
    return x->position < y->position ? -1 : 1;
}

/* Free processors only become fewer during a pass, so who does not fit now need not be sorted. */
static void gather_candidates(struct sim *sim, int64_t slack, int64_t extra) {
    vec_reset(&sim->candidates);
    for (size_t i = 1; i < queue_length(sim); i++) {
        uint32_t job = queue_job(sim, i);
        int64_t procs = sim->jobs[job].procs;
        if (procs <= sim->free && (sim->plan[job] <= slack || procs <= extra))
            vec_push(&sim->candidates, ((struct candidate) {sim->predicted[job], i}));
    }
    if (sim->policy->candidates != SIM_SAME && sim->candidates.n > 1)
        qsort(sim->candidates.items, sim->candidates.n, sizeof(struct candidate), by_prediction);
}

void pass_easy(struct sim *sim, int64_t now) {
    int64_t extra;
    bool any = false;
    queue_sort(sim, now);
    pass_in_order(sim, now, SIZE_MAX);
    if (queue_length(sim) < 2 || sim->free == 0)
        return;
    int64_t slack = shadow_time(sim, now, &extra) - now;
    gather_candidates(sim, slack, extra);
    vec_each (&sim->candidates, candidate) {
        uint32_t job = queue_job(sim, candidate->position);
        int64_t procs = sim->jobs[job].procs;
        if (procs > sim->free || (sim->plan[job] > slack && procs > extra))
            continue;
        if (sim->plan[job] > slack)
            extra -= procs;
        sim_begin(sim, job, now);
        any = true;
        if (sim->free == 0)
            break;
    }
    if (any)
        queue_drop_started(sim);
}

/* ---- replan ---- */

/* Free processors by the expected ends of what runs; what is overdue frees them in a second. */
static void profile_of_running(struct sim *sim, int64_t now) {
    int64_t available = sim->free;
    profile_reset(&sim->profile, now, available);
    vec_each (&sim->running, job) {
        available += job->procs;
        profile_append(&sim->profile, max_of(job->end, now + 1), available);
    }
}

/* The next in the queue, from a position on, that could start now beside what is reserved. Nothing
 * becomes free during a pass: who is passed over stays out. */
static size_t next_that_fits(struct sim *sim, size_t position, int64_t now) {
    for (; position < queue_length(sim); position++) {
        uint32_t job = queue_job(sim, position);
        int64_t procs = sim->jobs[job].procs;
        if (procs <= sim->free && profile_fits(&sim->profile, now, procs, sim->plan[job]))
            break;
    }
    return position;
}

/* Reservations are forgotten after the pass, so it ends when nobody else can start. */
void pass_replan(struct sim *sim, int64_t now) {
    size_t n_reserved = 0, most = sim->policy->reserve ? sim->policy->reserve : SIZE_MAX;
    bool any = false;
    if (queue_length(sim) == 0 || sim->free == 0)
        return;
    queue_sort(sim, now);
    profile_of_running(sim, now);
    size_t fits = next_that_fits(sim, 0, now);
    for (size_t i = 0; fits < queue_length(sim); i++) {
        uint32_t job = queue_job(sim, i);
        int64_t procs = sim->jobs[job].procs, seconds = sim->plan[job], start = now;
        if (i < fits && n_reserved == most) {
            i = fits - 1;
            continue;
        }
        if (i < fits) {
            start = profile_earliest(&sim->profile, now, procs, seconds, PROFILE_NEVER);
            n_reserved++;
        } else {
            sim_begin(sim, job, now);
            any = true;
        }
        profile_add(&sim->profile, start, start + seconds, -procs);
        fits = next_that_fits(sim, max_of(fits, i + 1), now);
    }
    if (any)
        queue_drop_started(sim);
}
