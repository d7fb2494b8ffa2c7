/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When something recurs, as crontabs say it: five fields (minute, hour, day of the month, month,
 * day of the week; names, ranges, steps, lists), or one word as @hourly.
 *
 * Local time (TZ). Where the clocks are changed: a time of a fixed hour that is left out comes as
 * much behind the change (calendar_time()), one that would come twice comes once; what recurs in
 * every hour follows the clocks through it, in a repeated hour as well.
 */
#ifndef SLUICE_TEXT_CRONSPEC_H
#define SLUICE_TEXT_CRONSPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cronspec {
    uint64_t minutes; /* bit per minute */
    uint32_t hours;   /* bit per hour */
    uint32_t days;    /* bits 1…31 */
    uint16_t months;  /* bits 0…11 */
    uint8_t weekdays; /* bits 0…6, 0 = Sunday */
    bool every_hour;  /* the hour is "*" */
    bool either_day;  /* both kinds of days are restricted: one of them is enough */
};

/* How many characters of a line are the specification: its five fields or its word, without blanks
 * behind it. 0 with an error: too few fields. */
must_check size_t cronspec_length(const char *line, struct error *err);
/* The error names the field, what it says, and what it may say. A specification that no day
 * fulfils (30 February) is an error. */
must_check int cronspec_parse(const char *text, struct cronspec *ret, struct error *err);
/* The first time behind `after`, in seconds since the epoch; 0 = there is none in sight. */
int64_t cronspec_next(const struct cronspec *spec, int64_t after);

#endif
