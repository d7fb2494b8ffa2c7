/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a replay came to: one start per job of the trace, and the figures made from them.
 * wait = start - submit; bounded slowdown = max(1, (wait + run) / max(run, 10)); percentiles are
 * nearest-rank; utilisation = sum(run * procs) / (P * (last end - first submit)).
 */
#ifndef SLUICE_SIM_RESULT_H
#define SLUICE_SIM_RESULT_H

#include "base/str.h"
#include "sim/trace.h"

#define SIM_NEVER INT64_MIN /* the job was never started */

struct sim_result {
    int64_t *starts; /* by position in trace->jobs */
    int64_t *ends;
    uint32_t procs;     /* of the machine */
    uint64_t n_passes;  /* planning passes */
    uint64_t n_refused; /* jobs that the configuration does not take */
};
void sim_result_init(struct sim_result *result, const struct trace *trace);
void sim_result_done(struct sim_result *result);

struct sim_figures {
    uint64_t n_jobs, n_started;
    double mean_wait, mean_slowdown, utilisation;
    int64_t median_wait, p95_wait, max_wait, makespan;
    char sha256[65]; /* of the lines "id start\n" sorted by id */
};
void sim_figures(const struct trace *trace, const struct sim_result *result,
                 struct sim_figures *ret);

/* Told now and then how far a long run is: a fraction of the trace's jobs have ended. */
typedef void (*sim_progress)(void *context, uint64_t done, uint64_t all);

#endif
