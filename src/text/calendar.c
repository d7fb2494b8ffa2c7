/* SPDX-License-Identifier: Apache-2.0 */
#include "text/calendar.h"

#include <time.h>

#include "base/alloc.h"

#define HOUR 3600
#define DAY ((int64_t) 86400)

/* The first second of a local date; days count on as mktime() takes them. Where clocks are set, it
 * is not always midnight, or midnight comes twice. */
static int64_t date_start(const struct tm *date, int day) {
    struct tm at = {
        .tm_year = date->tm_year, .tm_mon = date->tm_mon, .tm_mday = day, .tm_isdst = -1};
    time_t time = mktime(&at);
    if (at.tm_hour >= 12) /* midnight is left out, and this is as much too early */
        return (int64_t) time + (24 - at.tm_hour) * HOUR - at.tm_min * 60 - at.tm_sec;
    time_t earlier = time - HOUR;
    struct tm check;
    if (localtime_r(&earlier, &check) && check.tm_mday == at.tm_mday && check.tm_hour == 0)
        time = earlier - check.tm_min * 60;
    return (int64_t) time;
}

static int64_t day_start(int64_t time) {
    time_t at = (time_t) time;
    struct tm local;
    if (!localtime_r(&at, &local))
        return time - time % DAY;
    return date_start(&local, local.tm_mday);
}

static int64_t month_start(int64_t time) {
    time_t at = (time_t) time;
    struct tm local;
    if (!localtime_r(&at, &local))
        return day_start(time);
    return date_start(&local, 1);
}

int64_t calendar_span_start(enum calendar_span span, int64_t time) {
    int64_t day;
    switch (span) {
    case CALENDAR_MONTH:
        return month_start(time);
    case CALENDAR_DAY:
        return day_start(time);
    default:
        day = day_start(time);
        return time - (time - day) % HOUR;
    }
}

int64_t calendar_span_next(enum calendar_span span, int64_t time) {
    int64_t start = calendar_span_start(span, time), next;
    switch (span) {
    case CALENDAR_MONTH:
        next = month_start(start + 40 * DAY);
        break; /* in the month behind it */
    case CALENDAR_DAY:
        next = day_start(start + 36 * HOUR);
        break; /* past every noon */
    default:
        next = min_of(start + HOUR, calendar_span_next(CALENDAR_DAY, time));
        break;
    }
    return max_of(next, start + 1);
}

int64_t calendar_cut(int64_t now, uint64_t age) {
    static const struct {
        enum calendar_span span;
        uint64_t seconds;
    } units[] = {{CALENDAR_MONTH, 2592000}, {CALENDAR_DAY, 86400}, {CALENDAR_HOUR, 3600}};
    size_t unit = 0;
    while (unit + 1 < countof(units) && age % units[unit].seconds != 0)
        unit++;
    int64_t start = calendar_span_start(units[unit].span, now), back = start;
    if (start < 0 || age > (uint64_t) start)
        return 0;
    for (uint64_t n = age / units[unit].seconds; n > 0 && back > 0; n--)
        back = calendar_span_start(units[unit].span, back - 1);
    return max_of(min_of(back, start - (int64_t) age), (int64_t) 0);
}
