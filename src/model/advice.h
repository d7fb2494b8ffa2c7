/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what jobs have used to what the next one should ask for: with some room, rounded to what
 * people would write. Pure arithmetic, for advice at submission, --time=auto and seff.
 */
#ifndef SLUICE_MODEL_ADVICE_H
#define SLUICE_MODEL_ADVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/schema.h"

/* What is remembered of a user's last runs under one name (NULL: under any). One entry a run, the
 * latest last. */
#define HABIT_RUNS 20
#define HABIT_FIELDS(X)                                                                            \
    X(1, U32, uid, 0)                                                                              \
    X(2, STR, name, 0)                                                                             \
    X(3, I64, last_end, 0)                                                                         \
    X(4, U32S, seconds, 0)                                                                         \
    X(5, U32S, limits, 0)   /* minutes; MINUTES_INFINITE */                                        \
    X(6, U32S, timeouts, 0) /* 1: its limit has ended it */
RECORD_DECLARE(habit, HABIT_FIELDS)

/* The smallest value that at least so many percent of them are not above; n > 0. */
uint32_t quantile(const uint32_t *values, size_t n, unsigned percent);

/* Runs that a limit is told from, at least. */
#define HABIT_ENOUGH 3
/* A limit in minutes that nine of ten of these runs would have kept, with a fifth to spare; a run
 * that was ended by its limit counts as half as long again. 0: too few runs. */
uint32_t habit_minutes(const struct habit *habit);
/* The longest of the runs, seconds. */
uint32_t habit_longest(const struct habit *habit);
/* How much of their limits the runs have used, in the mean, in parts of `one`; half of it when they
 * are too few. */
uint64_t habit_accuracy(const struct habit *habit, uint64_t one);
/* Adds a run; the oldest goes. */
void habit_add(struct habit *habit, uint32_t seconds, uint32_t limit, bool timeout);

/* Whether asking for `asked` minutes is far above `enough`: people should be told. */
bool advice_time_is_far(uint32_t asked, uint32_t enough);
/* A limit with a fifth to spare: to 5 minutes below an hour, to 15 below eight, then to hours. */
uint32_t advice_minutes(uint64_t seconds);
/* Memory with a quarter to spare: to 64 MiB below 1 GiB, to 256 MiB below 16 GiB, then to GiB. */
uint64_t advice_memory(uint64_t mib);

#endif
