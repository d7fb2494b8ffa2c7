/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the last jobs of each user have run under each name, and of how much of their limits
 * they have made use: for advice at submission, --time=auto and the accuracy factor of priorities.
 * Stored, so that a restart forgets nothing; of a bounded number of names, those used last. Private
 * to src/core.
 */
#ifndef SLUICE_CORE_HABIT_H
#define SLUICE_CORE_HABIT_H

#include "core/state.h"
#include "model/advice.h"
#include "text/language.h"

/* Users and names that are remembered at most. */
#define HABITS_MAX 10000

/* A job has ended. Runs that failed or were cancelled tell nothing. */
void habit_learn(struct core *core, const struct job *job);
/* Of a user's jobs of this name, or (NULL) of all of them; NULL when nothing is known. */
const struct habit *habit_find(const struct core *core, uint32_t uid, const char *name);
/* Whether the user may be told about jobs of this name now: not within so many seconds after the
 * last time, of which this becomes one. False when nothing is known of them. */
bool habit_may_advise(struct core *core, uint32_t uid, const char *name, int64_t again_after);
/* Takes over a stored record. */
void habit_restore(struct core *core, struct habit *habit);
void habits_restored(struct core *core); /* after the last one */
void habits_free(struct core *core);

/* ---- advice at submission (advise.c) ---- */
/* --time=auto: the limit that follows from earlier jobs, and a line about it. */
void advise_time_auto(struct core *core, struct job *job, enum language language,
                      struct submit_reply *reply);
/* What the submitter should know about the request, which has been checked and has its defaults. */
void advise_submission(struct core *core, const struct core_job *job, const struct submit *submit,
                       struct submit_reply *reply);
/* That of the submitter, of which the request says. */
enum language submit_language(const struct submit *submit);
/* One more line for stderr. */
void submit_tell(struct core *core, struct submit_reply *reply, const char *text);

#endif
