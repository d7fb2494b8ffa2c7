/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shape of Slurm's scheduler on one partition at its best: planning costs nothing, nothing is
 * thrown away in the middle, the main scheduler reacts to every event at once.
 */
#include "base/alloc.h"
#include "sim/policy_internal.h"

#define MAIN_DEPTH 100        /* jobs: default_queue_depth */
#define CYCLE_SECONDS 30      /* bf_interval; the grid begins at the first submission */
#define CYCLE_JOBS 500        /* bf_max_job_test */
#define RESOLUTION_SECONDS 60 /* bf_resolution: ends are rounded up */
#define WINDOW_SECONDS 86400  /* bf_window: no reservation beyond */

static int64_t rounded_up(int64_t value, int64_t unit) {
    return (value + unit - 1) / unit * unit;
}

static void plan_running(struct sim *sim, int64_t now) {
    int64_t available = sim->free;
    profile_reset(&sim->profile, now, available);
    vec_each (&sim->running, job) {
        available += job->procs;
        profile_append(&sim->profile, max_of(rounded_up(job->end, RESOLUTION_SECONDS), now + 1),
                       available);
    }
}

/* True when something was started. */
static bool plan_cycle(struct sim *sim, int64_t now) {
    bool any = false;
    size_t n = min_of(queue_length(sim), (size_t) CYCLE_JOBS);
    plan_running(sim, now);
    for (size_t i = 0; i < n && sim->free > 0; i++) {
        uint32_t job = queue_job(sim, i);
        int64_t procs = sim->jobs[job].procs, seconds = sim->plan[job];
        int64_t start = profile_earliest(&sim->profile, now, procs, seconds, now + WINDOW_SECONDS);
        if (start == PROFILE_NEVER)
            continue;
        profile_add(&sim->profile, start, rounded_up(start + seconds, RESOLUTION_SECONDS), -procs);
        if (start == now && procs <= sim->free) {
            sim_begin(sim, job, now);
            any = true;
        }
    }
    if (any)
        queue_drop_started(sim);
    return any;
}

void run_slurm(struct sim *sim) {
    int64_t next_cycle = sim->jobs[0].submit;
    bool changed = false; /* since the last cycle; without a change a cycle could start nothing */
    while (sim->n_ended < sim->n) {
        int64_t now = sim_next(sim);
        bool event = false;
        if (changed && queue_length(sim))
            now = min_of(now, next_cycle);
        for (; sim_ends_at(sim, now); event = true)
            sim_finish(sim, sim_pop_end(sim));
        for (; sim_submits_at(sim, now); event = true)
            sim_enqueue(sim, now);
        changed = changed || event;
        queue_sort(sim, now);
        if (event && queue_length(sim)) {
            pass_in_order(sim, now, MAIN_DEPTH);
            sim->result->n_passes++;
        }
        if (now >= next_cycle && changed) {
            next_cycle += rounded_up(now - next_cycle + 1, CYCLE_SECONDS);
            changed = queue_length(sim) && sim->free && plan_cycle(sim, now);
            sim->result->n_passes++;
        }
    }
}
