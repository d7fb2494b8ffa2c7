/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a replay came to: one start per job of the trace, and the figures made from them.
 * wait = start - submit; bounded slowdown = max(1, (wait + run) / max(run, 10)); percentiles are
 * nearest-rank; utilisation = sum(run * procs) / (P * (last end - first submit)), run being the
 * time between start and end. Jobs that were never started count in n_jobs only.
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
/* All starts and ends are SIM_NEVER. */
void sim_result_init(struct sim_result *result, const struct trace *trace);
void sim_result_done(struct sim_result *result);

/* Seconds waited by some of the jobs. */
struct sim_waits {
    int64_t *items;
    size_t n, capacity;
};
int64_t sim_wait(const struct trace *trace, const struct sim_result *result, size_t position);
double sim_waits_mean(const struct sim_waits *waits); /* 0 of none */
void sim_waits_sort(struct sim_waits *waits);
/* Of sorted waits the smallest that at least `percent` of them do not exceed; 0 of none. */
int64_t sim_waits_percentile(const struct sim_waits *waits, unsigned percent);

/* Told now and then how far a long run is: `done` jobs of `all` have ended. */
struct sim_watch {
    void *context;
    void (*progress)(void *context, uint64_t done, uint64_t all);
};

struct sim_figures {
    uint64_t n_jobs, n_started;
    double mean_wait, mean_slowdown, utilisation;
    int64_t median_wait, p95_wait, max_wait, makespan;
    char sha256[65]; /* of what sim_print_starts() appends */
};
void sim_figures(const struct trace *trace, const struct sim_result *result,
                 struct sim_figures *ret);
/* The lines "id start" sorted by id; "never" for a start that did not come. */
void sim_print_starts(const struct trace *trace, const struct sim_result *result, struct str *out);

/* The same for each user, most processor time first. */
struct sim_user {
    const char *name; /* borrowed from the trace */
    uint64_t n_jobs, n_started;
    double mean_wait, mean_slowdown, proc_seconds;
    int64_t median_wait, p95_wait;
};
struct sim_users {
    struct sim_user *items;
    size_t n, capacity;
};
void sim_users(const struct trace *trace, const struct sim_result *result, struct sim_users *ret);
void sim_users_done(struct sim_users *users);

#endif
