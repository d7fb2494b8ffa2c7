/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How well a job has used what it had, in the lines of the well-known script, followed by the use
 * of its GPUs and by what the next one could ask for. Pure: from records to text.
 */
#ifndef SLUICE_CLI_SEFF_H
#define SLUICE_CLI_SEFF_H

#include "cli/list.h"

/* The report of a job, or of an array of several. rows: struct acct_job; at least one. */
void seff_print(const struct rows *rows, const struct column_env *env, bool debug, struct str *out);

#endif
