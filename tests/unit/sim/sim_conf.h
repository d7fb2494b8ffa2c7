/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration from a text, for tests of simulated clusters. */
#ifndef SLUICE_TESTS_SIM_CONF_H
#define SLUICE_TESTS_SIM_CONF_H

#include "model/conf.h"
#include "model/job.h"

/* `lines` follow ClusterName, SlurmctldHost, StateSaveLocation and SlurmUser. Aborts with the
 * message of a wrong one. */
struct conf *sim_conf(const char *lines);
/* A batch job of `ntasks` tasks and a limit in minutes; everything else is the default. */
void sim_request(struct job_request *ret, uint32_t ntasks, uint32_t minutes);

#endif
