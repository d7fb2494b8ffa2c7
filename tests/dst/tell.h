/* SPDX-License-Identifier: Apache-2.0 */
/* Tells on stdout what happens in a world: `SEED=n dst -t`. */
#ifndef SLUICE_TESTS_DST_TELL_H
#define SLUICE_TESTS_DST_TELL_H

#include "sim/cluster_internal.h"

void tell_turn(const struct sim_cluster *cluster, const struct effects *batch);
void tell_process(const struct sim_cluster *cluster, uint32_t node, const struct step_ref *step,
                  enum sim_process what);
void tell(const struct sim_cluster *cluster, const char *text);

#endif
