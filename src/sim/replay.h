/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace under a configuration: the real core and planner in virtual time (cluster.h), any
 * slurm.conf as the policy. Each job is submitted as its user when it was; it runs as long as it
 * ran, or until its limit ends it. Equal traces and configurations give equal results.
 */
#ifndef SLUICE_SIM_REPLAY_H
#define SLUICE_SIM_REPLAY_H

#include "sim/fit.h"
#include "sim/result.h"

/* `result` is initialised for the trace; `watch` may be NULL. Jobs that the configuration does not
 * take, or that it takes and that never start, keep SIM_NEVER; `notes` has why. An error: the
 * configuration makes no cluster. */
must_check int sim_replay_conf(const struct trace *trace, const struct conf *conf,
                               const struct sim_watch *watch, struct sim_result *result,
                               struct sim_notes *notes, struct error *err);

#endif
