/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time limits: at most one '-' after the days, at most two ':'. Fields have no ranges of their own
 * (0:90:0 is an hour and a half); what a number means depends on the number of fields.
 */
#include "text/duration.h"

#include <stdbool.h>

#define MINUTE 60
#define HOUR 3600
#define DAY 86400
#define YEAR (365 * (int64_t) DAY)

struct fields {
    uint64_t days;
    bool has_days;
    uint64_t numbers[3]; /* separated by ':' */
    unsigned n;
};

static bool fields_parse(const char *at, struct fields *fields) {
    do {
        uint64_t number;
        if (fields->n == 3 || !str_read_u64(&at, &number))
            return false;
        if (*at == '-' && fields->n == 0 && !fields->has_days) {
            fields->days = number;
            fields->has_days = true;
            if (!at[1]) /* "5-": five days */
                return true;
        } else {
            fields->numbers[fields->n++] = number;
            if (*at == '-')
                return false;
        }
    } while ((*at == ':' || *at == '-') && *at++);
    return *at == '\0';
}

static bool add_scaled(uint64_t *sum, uint64_t count, uint64_t unit) {
    uint64_t product;
    return !__builtin_mul_overflow(count, unit, &product) &&
           !__builtin_add_overflow(*sum, product, sum);
}

/* What one field, two, three mean: without days M, M:S, H:M:S; with days H, H:M, H:M:S. */
static const uint64_t field_units[2][3][3] = {
    {{MINUTE}, {MINUTE, 1}, {HOUR, MINUTE, 1}},
    {{HOUR}, {HOUR, MINUTE}, {HOUR, MINUTE, 1}},
};

int duration_parse(const char *text, uint64_t *ret_seconds, struct error *err) {
    if (str_equal_nocase(text, "INFINITE") || str_equal_nocase(text, "UNLIMITED") ||
        str_equal(text, "-1")) {
        *ret_seconds = UINT64_MAX;
        return 0;
    }
    struct fields fields = {0};
    if (!fields_parse(text, &fields))
        return error_set(err, ERR_INVALID,
                         "Invalid time \"%.64s\": give minutes, M:S, H:M:S, D-H, D-H:M, D-H:M:S or "
                         "UNLIMITED",
                         text);
    uint64_t seconds = 0;
    bool fits = add_scaled(&seconds, fields.days, DAY);
    for (unsigned i = 0; i < fields.n; i++)
        fits = fits && add_scaled(&seconds, fields.numbers[i],
                                  field_units[fields.has_days][fields.n - 1][i]);
    if (!fits || seconds > INT64_MAX)
        return error_set(err, ERR_INVALID, "Time \"%.64s\" is too long", text);
    *ret_seconds = seconds;
    return 0;
}

int minutes_parse(const char *text, uint32_t *ret_minutes, struct error *err) {
    uint64_t seconds;
    int r = duration_parse(text, &seconds, err);
    if (r < 0)
        return r;
    if (seconds == UINT64_MAX) {
        *ret_minutes = MINUTES_INFINITE;
        return 0;
    }
    uint64_t minutes = seconds / MINUTE + (seconds % MINUTE != 0);
    if (minutes >= MINUTES_INFINITE)
        return error_set(err, ERR_INVALID, "Time \"%.64s\" is too long; use UNLIMITED", text);
    *ret_minutes = (uint32_t) minutes;
    return 0;
}

static void two_digits(uint64_t value, struct str *out) {
    str_append_char(out, (char) ('0' + value / 10));
    str_append_char(out, (char) ('0' + value % 10));
}

void duration_print_short(int64_t seconds, struct str *out) {
    if (seconds < 0 || seconds > YEAR) {
        str_append(out, "INVALID");
        return;
    }
    uint64_t left = (uint64_t) seconds;
    uint64_t days = left / DAY, hours = left % DAY / HOUR, minutes = left % HOUR / MINUTE;
    if (days) {
        str_append_u64(out, days);
        str_append_char(out, '-');
        two_digits(hours, out);
        str_append_char(out, ':');
    } else if (hours) {
        str_append_u64(out, hours);
        str_append_char(out, ':');
    }
    if (days || hours)
        two_digits(minutes, out);
    else
        str_append_u64(out, minutes);
    str_append_char(out, ':');
    two_digits(left % MINUTE, out);
}

void duration_print_long(int64_t seconds, struct str *out) {
    if (seconds < 0) {
        str_append(out, "INVALID");
        return;
    }
    uint64_t left = (uint64_t) seconds;
    if (left >= DAY) {
        str_append_u64(out, left / DAY);
        str_append_char(out, '-');
    }
    two_digits(left % DAY / HOUR, out);
    str_append_char(out, ':');
    two_digits(left % HOUR / MINUTE, out);
    str_append_char(out, ':');
    two_digits(left % MINUTE, out);
}

static bool minutes_print_word(uint32_t minutes, const char *unset, struct str *out) {
    if (minutes != MINUTES_UNSET && minutes != MINUTES_INFINITE)
        return false;
    str_append(out, minutes == MINUTES_UNSET ? unset : "UNLIMITED");
    return true;
}

void minutes_print_short(uint32_t minutes, const char *unset, struct str *out) {
    if (!minutes_print_word(minutes, unset, out))
        duration_print_short((int64_t) minutes * MINUTE, out);
}

void minutes_print_long(uint32_t minutes, const char *unset, struct str *out) {
    if (!minutes_print_word(minutes, unset, out))
        duration_print_long((int64_t) minutes * MINUTE, out);
}
