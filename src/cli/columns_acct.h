/* SPDX-License-Identifier: Apache-2.0 */
/* sacct's columns. A row is a job's allocation or one of its steps. */
#ifndef SLUICE_CLI_COLUMNS_ACCT_H
#define SLUICE_CLI_COLUMNS_ACCT_H

#include "cli/list.h"
#include "model/messages.h"
#include "schema/columns.h"

struct acct_row {
    const struct acct_job *acct;
    const struct job *job;
    const struct step *step; /* NULL: the allocation */
};

extern const struct column_table columns_acct;

/* "cpu=1,mem=100M,node=1,billing=1" with its items in the order of their names. */
void tres_sorted_print(const char *tres, struct str *out);
/* MiB of a TRES list's memory: "100M", "1.50G"; 0 for what cannot be read. */
uint64_t acct_mib(const char *text);
/* The memory of a whole list, MiB; 0 when there is none in it. */
uint64_t acct_memory(const char *tres);
/* Seconds that the job or step has run, suspensions left out. */
int64_t acct_elapsed(const struct acct_row *row, int64_t now);
/* Of the job: what its record says, else the sum of its steps. */
void acct_cpu_usec(const struct acct_row *row, uint64_t *ret_user, uint64_t *ret_system);
/* How a job was started: bits of enum acct_flag. */
enum acct_flag { ACCT_SCHED_SUBMIT = 1, ACCT_SCHED_MAIN = 2, ACCT_SCHED_BACKFILL = 4 };
uint32_t acct_job_flags(const struct job *job);
/* Adds those of a comma list; an unknown one is quoted. */
must_check int acct_flags_parse(const char *text, uint32_t *flags, struct error *err);
/* Names of all fields of a table, four in a line, each in its width: --helpformat. */
void fields_print(const struct column_table *columns, int width, struct str *out);
/* Whether the steps of a job come in the order batch, extern, interactive, 0, 1, … */
int acct_step_order(const void *a, const void *b);

#endif
