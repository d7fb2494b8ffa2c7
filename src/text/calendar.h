/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hours, days, weeks and months of the local calendar (TZ), which usage is summed up by and limits
 * begin anew with. Each begins where the one before ends, whatever the clocks do: a day may have 23
 * or 25 hours, and where they are set by half an hour, that day's last hour is a short one.
 */
#ifndef SLUICE_TEXT_CALENDAR_H
#define SLUICE_TEXT_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* The time that the local clocks show `local`; days and months count on. Of one that comes twice it
 * is the first, of one that is left out as much behind the change of the clocks. False: out of
 * range.
 */
bool calendar_time(struct tm local, int64_t *ret);

enum calendar_span { CALENDAR_HOUR = 1, CALENDAR_DAY, CALENDAR_MONTH };

/* When the hour, day or month began that a time is in. */
int64_t calendar_span_start(enum calendar_span span, int64_t time);
/* When the next one begins. */
int64_t calendar_span_next(enum calendar_span span, int64_t time);
/* When the next week begins, on Sunday; the next `months` months, counted from January. */
int64_t calendar_next_week(int64_t time);
int64_t calendar_next_months(int64_t time, int months);
/* Since when something is not older than `age` seconds, counted from the start of the present span:
 * the month for an age of whole months (of 30 days), the day for one of whole days, else the hour.
 * Whole months and days go back by the calendar, but by no less than `age`. 0: since ever. */
int64_t calendar_cut(int64_t now, uint64_t age);

#endif
