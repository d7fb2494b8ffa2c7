/* SPDX-License-Identifier: Apache-2.0 */
/* The SLURM_… variables of batch scripts and tasks (doc: sbatch(1), srun(1)). Pure. */
#ifndef SLUICE_SLURMSTEPD_JOB_ENV_H
#define SLUICE_SLURMSTEPD_JOB_ENV_H

#include "agent/step_wire.h"
#include "slurmstepd/env.h"

/* Everything of a batch script but SLURM_TASK_PID. `node` is what the job holds on this node. */
void job_env_batch(struct env *env, const struct step_order *order, const struct launch *launch,
                   const struct job_node *node);
/* What all tasks of a step on this node share. */
void job_env_step(struct env *env, const struct step_order *order, const struct step_launch *launch,
                  const struct step_node *node, uint32_t node_index);
/* One task, on top of job_env_step(). gpu_bind: which of the step's GPUs it sees (gpu_bind.h). */
void job_env_task(struct env *env, const char *gpu_bind, uint32_t rank, uint32_t local_id);

#endif
