/* SPDX-License-Identifier: Apache-2.0 */
/* A picture of a replay: how busy the machine was and how many jobs waited, over time. */
#ifndef SLUICE_SIM_PLOT_H
#define SLUICE_SIM_PLOT_H

#include "sim/result.h"

/* Appends a whole SVG file. `title` is any text. Jobs that never started wait until the end. */
void sim_plot(const struct trace *trace, const struct sim_result *result, const char *title,
              struct str *out);

#endif
