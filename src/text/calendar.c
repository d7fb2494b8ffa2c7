/* SPDX-License-Identifier: Apache-2.0 */
#include "text/calendar.h"

#include <time.h>

#include "base/alloc.h"

#define HOUR 3600
#define DAY ((int64_t) 86400)

static int64_t second_of_day(const struct tm *local) {
    return local->tm_hour * HOUR + local->tm_min * 60 + local->tm_sec;
}

/* mktime() takes either time around a change of the clocks, depending on what it was asked before.
 */
bool calendar_time(struct tm local, int64_t *ret) {
    int64_t wanted = second_of_day(&local);
    local.tm_isdst = -1;
    local.tm_wday = -1; /* stays so when mktime fails; -1 alone is also a valid time */
    time_t time = mktime(&local);
    if (time == (time_t) -1 && local.tm_wday == -1)
        return false;
    int64_t early = (wanted - second_of_day(&local) + DAY) % DAY;
    if (early > 0 && early < DAY / 2)
        time += (time_t) early; /* it is left out, and this is as much before */
    static const time_t shifts[] = {HOUR, HOUR / 2};
    for (size_t i = 0; i < countof(shifts); i++) {
        time_t earlier = time - shifts[i];
        struct tm check;
        if (localtime_r(&earlier, &check) && second_of_day(&check) == wanted) {
            time = earlier;
            break;
        }
    }
    *ret = (int64_t) time;
    return true;
}

/* The first second of a local date; days and months count on. Where clocks are set, it is not
 * always midnight. */
static int64_t date_start(const struct tm *date, int month, int day) {
    struct tm at = {.tm_year = date->tm_year, .tm_mon = month, .tm_mday = day};
    int64_t time;
    return calendar_time(at, &time) ? time : -1;
}

static int64_t day_start(int64_t time) {
    time_t at = (time_t) time;
    struct tm local;
    if (!localtime_r(&at, &local))
        return time - time % DAY;
    return date_start(&local, local.tm_mon, local.tm_mday);
}

static int64_t month_start(int64_t time) {
    time_t at = (time_t) time;
    struct tm local;
    if (!localtime_r(&at, &local))
        return day_start(time);
    return date_start(&local, local.tm_mon, 1);
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

int64_t calendar_next_week(int64_t time) {
    time_t at = (time_t) time;
    struct tm local;
    return localtime_r(&at, &local)
               ? date_start(&local, local.tm_mon, local.tm_mday + 7 - local.tm_wday)
               : time + 7 * DAY;
}

int64_t calendar_next_months(int64_t time, int months) {
    time_t at = (time_t) time;
    struct tm local;
    return localtime_r(&at, &local)
               ? date_start(&local, local.tm_mon + months - local.tm_mon % months, 1)
               : time + months * 30 * DAY;
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
