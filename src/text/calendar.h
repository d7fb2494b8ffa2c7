/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hours, days and months of the local calendar (TZ), which usage is summed up by. Each begins where
 * the one before ends, whatever the clocks do: a day may have 23 or 25 hours, and where they are
 * set by half an hour, that day's last hour is a short one.
 */
#ifndef SLUICE_TEXT_CALENDAR_H
#define SLUICE_TEXT_CALENDAR_H

#include <stdint.h>

enum calendar_span { CALENDAR_HOUR = 1, CALENDAR_DAY, CALENDAR_MONTH };

/* When the hour, day or month began that a time is in. */
int64_t calendar_span_start(enum calendar_span span, int64_t time);
/* When the next one begins. */
int64_t calendar_span_next(enum calendar_span span, int64_t time);
/* Since when something is not older than `age` seconds, counted from the start of the present span:
 * the month for an age of whole months (of 30 days), the day for one of whole days, else the hour.
 * Whole months and days go back by the calendar, but by no less than `age`. 0: since ever. */
int64_t calendar_cut(int64_t now, uint64_t age);

#endif
