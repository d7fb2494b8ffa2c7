/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CliFilterPlugins=lua: the script cli_filter.lua beside slurm.conf looks at the options of sbatch,
 * srun and salloc. It runs in the command, as the user: it can help and remind, but whoever wants
 * to can go around it. What must hold is checked in the controller (job_submit.lua).
 *
 * A script that fails says so and the command goes on, as users know it; one that cannot be read,
 * returns anything but slurm.SUCCESS, or runs out of time or memory ends the command.
 */
#ifndef SLUICE_CLI_FILTER_H
#define SLUICE_CLI_FILTER_H

#include "cli/messages.h"
#include "cli/options.h"

struct cli_filter;

/* Before any option is read: slurm_cli_setup_defaults. `argv` are the words behind the options
 * (script or program first); they must live on. CLI_GO_ON or an exit status, here and below. The
 * filter lives as long as the process. */
int cli_filter_begin(struct cli *cli, struct options *options, char *const *argv, size_t n_argv);
/* All options are read, none is checked against others yet: slurm_cli_pre_submit. */
int cli_filter_options(const struct cli *cli);
/* It has been submitted: slurm_cli_post_submit. step_id is UNSET32 where no step was made. Can only
 * complain. */
void cli_filter_submitted(const struct cli *cli, uint32_t job_id, uint32_t step_id);

#endif
