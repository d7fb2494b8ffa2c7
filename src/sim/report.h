/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of replays as text and as JSON, under the same names wherever they are told. */
#ifndef SLUICE_SIM_REPORT_H
#define SLUICE_SIM_REPORT_H

#include "cli/json_writer.h"
#include "sim/result.h"

/* A line a figure. */
void sim_figures_print(const struct sim_figures *figures, struct str *out);
/* Keys of the object that is open. */
void sim_figures_json(const struct sim_figures *figures, struct json *json);

/* A table with a title and a line a user. */
void sim_users_print(const struct sim_users *users, struct str *out);
/* An array "users" in the object that is open. */
void sim_users_json(const struct sim_users *users, struct json *json);

#endif
