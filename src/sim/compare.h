/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two replays of one trace side by side: what gets better and worse, and for whom. A wait counts in
 * both or in neither: a job that starts in only one of the two is in `n_lost` or `n_won`.
 */
#ifndef SLUICE_SIM_COMPARE_H
#define SLUICE_SIM_COMPARE_H

#include "cli/json_writer.h"
#include "sim/result.h"

#define SIM_COMPARE_JOBS 10 /* that change most */

struct sim_group {
    const char *name; /* borrowed from the trace */
    uint64_t n_jobs;  /* that start in both */
    uint64_t n_lost, n_won;
    double mean_before, mean_after;
    int64_t p95_before, p95_after;
};
struct sim_groups {
    struct sim_group *items; /* by name */
    size_t n, capacity;
};
struct sim_comparison {
    const struct trace *trace;
    const struct sim_result *before, *after;
    struct sim_figures figures_before, figures_after;
    struct sim_groups users, partitions; /* partitions as the trace has them */
    size_t jobs[SIM_COMPARE_JOBS];       /* positions, largest change first */
    size_t n_jobs;
};
void sim_compare(const struct trace *trace, const struct sim_result *before,
                 const struct sim_result *after, struct sim_comparison *ret);
void sim_comparison_done(struct sim_comparison *comparison);
/* `before` and `after` name the two. */
void sim_comparison_print(const struct sim_comparison *comparison, const char *before,
                          const char *after, struct str *out);
/* Keys "before", "after", "users", "partitions", "jobs" of the object that is open. */
void sim_comparison_json(const struct sim_comparison *comparison, struct json *json);

#endif
