/* SPDX-License-Identifier: Apache-2.0 */
/* squeue's columns of jobs and steps, and the derived values of a job that other listings show. */
#ifndef SLUICE_CLI_COLUMNS_JOB_H
#define SLUICE_CLI_COLUMNS_JOB_H

#include "model/job.h"
#include "schema/columns.h"

/* The environment's `data` for these tables. */
struct job_columns_data {
    bool expand_patterns; /* StdOut and its kin with their symbols expanded */
};

extern const struct column_table columns_job;
extern const struct column_table columns_step;

/* The free text of a job's state, or the reason's name. */
const char *job_reason_text(const struct job *job);
/* Tasks asked for or allotted; at least 1. */
uint32_t job_task_count(const struct job *job);
uint32_t job_min_cpus(const struct job *job);
/* "100M", "4G", "0": per node or per CPU, whichever was asked. */
void job_memory_print(const struct job *job, bool convert, struct str *out);
/* Task id, "1-5%2" of an array's rest; nothing for other jobs (then false). */
bool job_task_ids_print(const struct job *job, size_t bits_max, struct str *out);
/* Where stdout (1), stderr (2) or stdin (0) goes: expanded, or as a pattern. Nothing when the job
 * is no batch job. */
void job_path_print(const struct job *job, int stream, bool expand, struct str *out);
/* OK, NO, YES. */
const char *job_oversubscribe_text(const struct job *job);
/* "12.batch", "12_3.0". */
void step_name_print(const struct step *step, struct str *out);

#endif
