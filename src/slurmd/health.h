/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The health of this node: the built-in checks (checks.h), made at the start, every
 * sluice_check_interval and when the controller asks; HealthCheckProgram, when the controller says
 * so and before the first registration; RebootProgram.
 */
#ifndef SLUICE_SLURMD_HEALTH_H
#define SLUICE_SLURMD_HEALTH_H

#include <stdbool.h>

#include "agent/agent.h"
#include "model/messages.h"

struct slurmd;

/* First looks; calls controller_register() when they are over, if that waited for them. */
void health_start(struct slurmd *slurmd);
/* The configuration is another. */
void health_reconfigure(struct slurmd *slurmd);
/* Not before the first looks are over: the node would take a job with a disk that is full. */
bool health_may_register(const struct slurmd *slurmd);
/* What is wrong now, parts joined by "; "; appends nothing when all is well. */
void health_problem(const struct slurmd *slurmd, struct str *out);
void health_asked(struct slurmd *slurmd, const struct node_check *order);
void health_reboot(struct slurmd *slurmd);
/* Something else than a check may find more or less now. */
void health_changed(struct slurmd *slurmd);
/* A process of the step does not die: UnkillableStepProgram runs. */
void health_unkillable(struct slurmd *slurmd, struct step_key key);

#endif
