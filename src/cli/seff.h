/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How well a job has used what it had, in the lines of the well-known script, followed by the use
 * of its GPUs and by what the next one could ask for. Pure: from records to text.
 */
#ifndef SLUICE_CLI_SEFF_H
#define SLUICE_CLI_SEFF_H

#include "cli/list.h"

/* What was used and what there was. Of several jobs (tasks of an array): sums of times, the highest
 * of the rest. */
struct seff {
    const struct job *job; /* the first one */
    uint32_t n_jobs;
    bool any_runs, any_ran;
    uint64_t cpu_usec;     /* used */
    uint64_t core_seconds; /* had */
    uint64_t wall_seconds; /* of the longest */
    uint64_t mem_kib;      /* used at one time, of the highest */
    uint64_t node_mem_kib; /* likewise, on one node */
    uint64_t asked_mib;    /* memory that it asked for, 0 = all of its nodes */
    uint32_t ntasks;       /* of the largest step */
    bool is_estimate;      /* sums of peaks that need not have come at one time */
    uint64_t gpu_percent;  /* sum over looks */
    uint32_t gpu_looks, n_gpus;
    uint64_t gpu_mem_mib;
};
void seff_add(struct seff *sum, const struct acct_job *acct, int64_t now);

/* The report of a job, or of an array of several. rows: struct acct_job; at least one. */
void seff_print(const struct rows *rows, const struct column_env *env, bool debug, struct str *out);

#endif
