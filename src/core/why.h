/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of `sluice why` share. Private to src/core. */
#ifndef SLUICE_CORE_WHY_H
#define SLUICE_CORE_WHY_H

#include "core/forecast.h"

/* At most so many of each are named. */
#define WHY_HOLDERS 5
#define WHY_GROUPS 8
#define WHY_CHANGES 3
/* Forecasts for one answer. */
#define WHY_TRIES 12

struct why_work {
    struct core *core;
    struct core_job *job;
    const struct core_user *user;
    struct arena *memory; /* of the answer */
    struct why_reply *reply;
};

char *why_format(struct why_work *w, const char *fmt, ...) printf_like(2, 3);
/* The start of a form of the job, with everybody else as they are. `until`: later ones are of no
 * use, 0 = any. False: never, or not by then. */
bool why_forecast(struct why_work *w, const struct job *form, int64_t until, bool predicted,
                  struct forecast_start *ret);
/* Fills reply->changes and n_tried (why_change.c). */
void why_changes(struct why_work *w);

#endif
