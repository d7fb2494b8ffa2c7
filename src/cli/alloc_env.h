/* SPDX-License-Identifier: Apache-2.0 */
/* The variables that describe an allocation to a command that runs beside it (salloc's). */
#ifndef SLUICE_CLI_ALLOC_ENV_H
#define SLUICE_CLI_ALLOC_ENV_H

#include "base/str.h"
#include "cli/options.h"
#include "model/job.h"

/* Sets SLURM_JOB_ID and its kin in the block (environ.h) from the granted job and from what was
 * asked for: an option that was not given leaves no variable. */
void alloc_env_fill(const struct job *job, const struct options *options, struct str *block);
/* The same for a heterogeneous job, its components in order: SLURM_JOB_ID of the first, what
 * concerns the whole, and each by variables of its own (model/het_env.h). `first` are its options.
 */
void alloc_env_fill_components(const struct job *components, size_t n, const struct options *first,
                               struct str *block);

#endif
