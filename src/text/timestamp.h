/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points in time, in seconds since the epoch, as users write them (--begin, -S, StartTime=).
 * `now` is a parameter; the local time zone is the process's (TZ).
 */
#ifndef SLUICE_TEXT_TIMESTAMP_H
#define SLUICE_TEXT_TIMESTAMP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

/* Forms of spec "Clock time": HH:MM[:SS][am|pm], MMDD[YY], MM/DD[/YY][-HH:MM[:SS]], MM.DD[.YY],
 * YYYY-MM-DD[THH:MM[:SS]] (also '-' for 'T'), now[+|-N[unit]], today, tomorrow, midnight,
 * elevenses, noon, fika, teatime, combinations ("tomorrow18:00"), uts<seconds>. With `past`
 * (queries), a time or date without year means the most recent one instead of the next. The error
 * is "Invalid time specification (pos=N): TEXT". */
must_check int timestamp_parse(const char *text, int64_t now, bool past, int64_t *ret_time,
                               struct error *err);
/* The same time of day on another day, in local time (calendar_time()). */
int64_t timestamp_add_days(int64_t time, int days);
int timestamp_weekday(int64_t time); /* local; 0 = Sunday */
/* YYYY-MM-DDTHH:MM:SS local. `format` is the value of SLURM_TIME_FORMAT or NULL: standard,
 * relative (needs now), or a strftime string. */
void timestamp_print(int64_t time, const char *format, int64_t now, struct str *out);

#endif
