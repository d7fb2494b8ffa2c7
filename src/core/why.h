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

/* Where so many jobs wait and run, an answer is made in several turns, one forecast in each, so
 * that nobody waits for it. */
#define WHY_AT_ONCE 100
/* Questions that are answered in turns at a time; further ones are refused. */
#define WHY_QUESTIONS 64

enum why_kind {
    WHY_KIND_ANY_NODE,
    WHY_KIND_SHARED,
    WHY_KIND_FEATURES,
    WHY_KIND_LIMIT,
    WHY_KIND_NODES,
    WHY_KIND_TYPE,
    WHY_KIND_GPUS,
    WHY_KIND_PARTITION,
    WHY_KINDS,
};
/* The job with one thing of its request changed. */
struct why_form {
    enum why_kind kind;
    struct job job;
    char *option, *update; /* update may be NULL; in the answer's memory */
};

/* One question that is being answered. */
struct why_work {
    struct list link; /* core->questions */
    struct core *core;
    uint64_t client;
    uint32_t seq;
    struct core_job *job; /* valid during a call */
    struct job asked;     /* the record as it was */
    struct core_user user;
    struct arena memory; /* of the answer */
    struct why_reply reply;
    vec(struct why_form) forms;
    struct why_change best[WHY_KINDS]; /* start 0 = none */
    unsigned stage;                    /* forecasts made */
};

/* Texts in the answer's memory; NULL stays NULL. */
char *why_copy(struct why_work *w, const char *text);
char *why_format(struct why_work *w, const char *fmt, ...) printf_like(2, 3);
/* The start of a form of the job, with everybody else as they are. `until`: later ones are of no
 * use, 0 = any. False: never, or not by then. */
bool why_forecast(struct why_work *w, const struct job *form, int64_t until, bool predicted,
                  struct forecast_start *ret);
/* The limits of associations and QOS that keep the job back, at most so many (limit_why.c). */
uint32_t why_limits(struct why_work *w, struct why_limit *rows, uint32_t most);
/* What may help (why_change.c): the forms, the plan of one of them, and the best into the reply. */
void why_forms_make(struct why_work *w);
void why_form_try(struct why_work *w, const struct why_form *form);
void why_forms_report(struct why_work *w);

#endif
