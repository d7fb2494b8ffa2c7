/* SPDX-License-Identifier: Apache-2.0 */
/* Times of crontabs; see cronspec.h. */
#include "text/cronspec.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/alloc.h"
#include "base/str.h"
#include "text/calendar.h"

#define FIELDS 5
#define DAYS_AHEAD (9 * 366) /* 29 February comes in at most eight years */
#define MINUTE 60

static const char *const month_names[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                          "jul", "aug", "sep", "oct", "nov", "dec"};
static const char *const day_names[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

static const struct field_row {
    const char *name;
    unsigned first, last;
    const char *const *words; /* of first, first + 1, … */
    size_t n_words;
} field_rows[FIELDS] = {
    {"minute", 0, 59, NULL, 0},
    {"hour", 0, 23, NULL, 0},
    {"day of the month", 1, 31, NULL, 0},
    {"month", 1, 12, month_names, 12},
    {"day of the week", 0, 7, day_names, 7},
};

static const struct {
    const char *word, *fields;
} words[] = {
    {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"},   {"@monthly", "0 0 1 * *"},
    {"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},      {"@midnight", "0 0 * * *"},
    {"@hourly", "0 * * * *"}, {"@elevenses", "0 11 * * *"}, {"@noon", "0 12 * * *"},
    {"@fika", "0 15 * * *"},  {"@teatime", "0 16 * * *"},
};

/* ---- reading ---- */

size_t cronspec_length(const char *line, struct error *err) {
    const char *at = line;
    size_t n = line[0] == '@' ? 1 : FIELDS;
    for (size_t i = 0; i < n; i++) {
        size_t length = strcspn(at, " \t");
        if (length == 0) {
            error_set(err, ERR_INVALID_TIME,
                      "five fields are needed (minute hour day-of-month month day-of-week) or a "
                      "word as @hourly, then the command");
            return 0;
        }
        at += length;
        if (i + 1 < n)
            at += strspn(at, " \t");
    }
    return (size_t) (at - line);
}

static int bad_field(const struct field_row *row, const char *text, struct error *err) {
    return error_set(err, ERR_INVALID_TIME,
                     "%s \"%s\": it takes %u to %u%s, *, ranges as 1-5, steps as */2 or 1-9/2, and "
                     "lists of these with commas",
                     row->name, text, row->first, row->last,
                     row->n_words == 12  ? " or names as jan"
                     : row->n_words == 7 ? " or names as mon"
                                         : "");
}

/* A number or a name; *at moves behind it. */
static bool read_value(const struct field_row *row, const char **at, unsigned *ret) {
    uint64_t number;
    if (isdigit((unsigned char) **at)) {
        if (!str_read_u64(at, &number) || number < row->first || number > row->last)
            return false;
        *ret = (unsigned) number;
        return true;
    }
    for (size_t i = 0; i < row->n_words; i++) {
        if (strncasecmp(*at, row->words[i], 3) == 0 && !isalpha((unsigned char) (*at)[3])) {
            *at += 3;
            *ret = row->first + (unsigned) i;
            return true;
        }
    }
    return false;
}

/* "*", "5", "1-5", with "/2" behind a star or a range. */
static bool read_part(const struct field_row *row, const char *at, uint64_t *bits) {
    unsigned first = row->first, last = row->last;
    uint64_t step = 1;
    bool many = true;
    if (*at == '*') {
        at++;
        last -= row->n_words == 7; /* Sunday once */
    } else {
        if (!read_value(row, &at, &first))
            return false;
        last = first;
        many = *at == '-';
        if (many && (at++, !read_value(row, &at, &last) || last < first))
            return false;
    }
    if (*at == '/' && many) {
        at++;
        if (!str_read_u64(&at, &step) || step == 0 || step > row->last)
            return false;
    }
    if (*at != '\0')
        return false;
    for (unsigned value = first; value <= last; value += (unsigned) step)
        *bits |= (uint64_t) 1 << value;
    return true;
}

static int read_field(const struct field_row *row, const char *text, uint64_t *ret,
                      struct error *err) {
    size_t length = strlen(text);
    *ret = 0;
    if (text[0] == ',' || text[length - 1] == ',' || strstr(text, ",,") != NULL)
        return bad_field(row, text, err);
    words_each (text, ",", part) {
        if (!read_part(row, part, ret))
            return bad_field(row, text, err);
    }
    return 0;
}

static bool day_is_wanted(const struct cronspec *spec, const struct tm *day) {
    bool month = spec->months >> day->tm_mon & 1;
    bool date = spec->days >> day->tm_mday & 1, weekday = spec->weekdays >> day->tm_wday & 1;
    return month && (spec->either_day ? date || weekday : date && weekday);
}

static bool ever_comes(const struct cronspec *spec) {
    static const uint32_t longest[12] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (spec->either_day)
        return true;
    for (unsigned month = 0; month < 12; month++) {
        if ((spec->months >> month & 1) &&
            (spec->days & (((uint64_t) 1 << (longest[month] + 1)) - 1)) != 0)
            return true;
    }
    return false;
}

static int parse_fields(const char *text, struct cronspec *ret, struct error *err) {
    uint64_t bits[FIELDS] = {0};
    bool star[FIELDS] = {0};
    size_t n = 0;
    words_each (text, " \t", field) {
        if (n == FIELDS)
            return error_set(err, ERR_INVALID_TIME, "\"%s\" has more than five fields", text);
        int r = read_field(&field_rows[n], field, &bits[n], err);
        if (r < 0)
            return r;
        star[n] = field[0] == '*';
        n++;
    }
    if (n < FIELDS)
        return error_set(err, ERR_INVALID_TIME, "\"%s\" has only %zu of five fields", text, n);
    *ret = (struct cronspec) {
        .minutes = bits[0],
        .hours = (uint32_t) bits[1],
        .days = (uint32_t) bits[2],
        .months = (uint16_t) (bits[3] >> 1),
        .weekdays = (uint8_t) ((bits[4] | bits[4] >> 7) & 0x7f),
        .every_hour = star[1] && bits[1] == 0xffffff,
        .either_day = !star[2] && !star[4],
    };
    if (!ever_comes(ret))
        return error_set(err, ERR_INVALID_TIME, "\"%s\" names a day that never comes", text);
    return 0;
}

int cronspec_parse(const char *text, struct cronspec *ret, struct error *err) {
    if (text[0] != '@')
        return parse_fields(text, ret, err);
    const char *names[countof(words)];
    for (size_t i = 0; i < countof(words); i++) {
        names[i] = words[i].word;
        if (str_equal_nocase(words[i].word, text))
            return parse_fields(words[i].fields, ret, err);
    }
    const char *near = str_nearest(text, names, countof(words));
    return error_set(err, ERR_INVALID_TIME,
                     "\"%s\" is no such word; %s%s%s@hourly, @daily, "
                     "@weekly, @monthly and @yearly are some",
                     text, near != NULL ? "is " : "", near != NULL ? near : "",
                     near != NULL ? " meant? " : "");
}

/* ---- the next time ---- */

/* What recurs in every hour: minute by minute as they pass, whatever the clocks show. */
static int64_t next_minute(const struct cronspec *spec, int64_t from, int64_t until) {
    for (int64_t at = from - from % MINUTE + (from % MINUTE != 0) * MINUTE; at < until;
         at += MINUTE) {
        struct tm local;
        time_t time = (time_t) at;
        if (localtime_r(&time, &local) != NULL && (spec->minutes >> local.tm_min & 1))
            return at;
    }
    return 0;
}

/* Fixed hours of a day. A later hour may come no later than an earlier one where one is left out.
 */
static int64_t next_hour(const struct cronspec *spec, const struct tm *day, int64_t after) {
    int64_t best = 0;
    for (int hour = 0; hour < 24; hour++) {
        if (!(spec->hours >> hour & 1))
            continue;
        for (int minute = 0; minute < 60; minute++) {
            struct tm local = {.tm_year = day->tm_year,
                               .tm_mon = day->tm_mon,
                               .tm_mday = day->tm_mday,
                               .tm_hour = hour,
                               .tm_min = minute,
                               .tm_isdst = -1};
            int64_t time;
            if ((spec->minutes >> minute & 1) && calendar_time(local, &time) && time > after &&
                (best == 0 || time < best))
                best = time;
        }
    }
    return best;
}

int64_t cronspec_next(const struct cronspec *spec, int64_t after) {
    int64_t day = calendar_span_start(CALENDAR_DAY, after);
    for (int n = 0; n < DAYS_AHEAD; n++) {
        int64_t next_day = calendar_span_next(CALENDAR_DAY, day);
        time_t middle = (time_t) (day + (next_day - day) / 2); /* clear of changed clocks */
        struct tm local;
        if (localtime_r(&middle, &local) == NULL || next_day <= day)
            return 0;
        int64_t found = 0;
        if (day_is_wanted(spec, &local))
            found = spec->every_hour ? next_minute(spec, after >= day ? after + 1 : day, next_day)
                                     : next_hour(spec, &local, after);
        if (found > 0)
            return found;
        day = next_day;
    }
    return 0;
}
