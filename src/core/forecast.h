/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens if nothing else happens: nobody submits, cancels or changes anything, no node is
 * lost or repaired, and every job runs to its limit. A forecast has a planner's view of its own, in
 * which the clock runs ahead from one end to the next and the planner makes the same passes as it
 * will make then; it changes nothing of the core. Private to src/core.
 *
 * Victims of preemption leave after their grace and wait again where that is the rule, those that
 * are suspended end when they would have: an answer after a preemption is an estimate.
 *
 * The work is bounded in candidates (nodes and shapes looked at). When it is spent, the answer is
 * the planner's estimate from where the forecast has got to, and says so.
 */
#ifndef SLUICE_CORE_FORECAST_H
#define SLUICE_CORE_FORECAST_H

#include "core/state.h"

/* Candidates for one question; some 10 ms. */
#define FORECAST_WORK 200000
/* Waiting records that a forecast takes; where there are more, answers are estimates. */
#define FORECAST_RECORDS 2000
/* Plans for those who have waited long that it looks at in each pass. */
#define FORECAST_PLANS 16

struct forecast_start {
    bool known;    /* false: never as things stand, or only somebody's doing can tell */
    bool exact;    /* planned to the end; otherwise an estimate */
    int64_t time;  /* seconds since the epoch */
    int64_t limit; /* seconds, SCHED_FOREVER */
    uint32_t partition;
    uint32_t n_cpus;
    char *nodes; /* folded; in the arena given; NULL for an estimate */
    uint64_t work;
};

struct forecast_options {
    /* Jobs end when jobs of their users usually do, not at their limits: the best case. */
    bool predicted;
    uint32_t without; /* a record that is left out, 0 = none */
    uint64_t work;    /* candidates; 0 = FORECAST_WORK */
    int64_t until;    /* starts from then on are of no interest, 0 = all are */
};

struct forecast;
/* As things stand at core->now. The core must not change while it lives. */
struct forecast *forecast_new(struct core *core, const struct forecast_options *options);
void forecast_free(struct forecast *forecast);
/* One more job, or another form of the one that was left out; the spec is borrowed until the end.
 * `job`: its record, which tells its array and the open dependencies that are waited for (assuming
 * that they come true). */
void forecast_add(struct forecast *forecast, const struct sched_job_spec *spec,
                  const struct core_job *job);
/* Runs until the job (of an array record: its next task) starts. Once. */
void forecast_run(struct forecast *forecast, uint32_t job_id, struct arena *memory,
                  struct forecast_start *ret);

#endif
