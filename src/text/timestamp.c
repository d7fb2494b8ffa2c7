/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points in time as users write them: a row of tokens, each setting the day or the time of day;
 * a later token overrides an earlier one ("tomorrow noon", "18:00 2027-01-02"). Calendar arithmetic
 * is calendar.c's, so that a day with a clock change comes out right.
 */
#include "text/timestamp.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/alloc.h"
#include "text/calendar.h"

enum day_kind {
    DAY_UNSET,
    DAY_RELATIVE, /* to today */
    DAY_NO_YEAR,  /* the next one, or the most recent one for queries */
    DAY_FULL,
};

struct moment {
    enum day_kind day_kind;
    int relative_days;
    int year, month, day; /* month from 1 */
    bool has_time;
    int hour, minute, second;
};

/* Reads exactly min to max digits; returns their count, 0 if there are fewer or more. */
static unsigned digits_parse(const char *at, unsigned min, unsigned max, int *ret_value) {
    unsigned n = 0;
    int value = 0;
    for (; isdigit((unsigned char) at[n]); n++) {
        if (n == max)
            return 0;
        value = value * 10 + (at[n] - '0');
    }
    if (n < min)
        return 0;
    *ret_value = value;
    return n;
}

static unsigned digit_run(const char *at) {
    return (unsigned) strspn(at, "0123456789");
}

/* ---- tokens: each moves *at behind itself, or to the character that is wrong and fails ---- */

static bool word_take(const char **at, const char *word) {
    if (!str_starts_nocase(*at, word))
        return false;
    *at += strlen(word);
    return true;
}

static const struct {
    const char *name;
    int hour;
} clock_words[] = {{"midnight", 0}, {"elevenses", 11}, {"noon", 12}, {"fika", 15}, {"teatime", 16}};

static bool word_parse(const char **at, struct moment *moment) {
    for (size_t i = 0; i < countof(clock_words); i++) {
        if (word_take(at, clock_words[i].name)) {
            moment->has_time = true;
            moment->hour = clock_words[i].hour;
            moment->minute = moment->second = 0;
            return true;
        }
    }
    bool tomorrow = word_take(at, "tomorrow");
    if (!tomorrow && !word_take(at, "today"))
        return false;
    moment->day_kind = DAY_RELATIVE;
    moment->relative_days = tomorrow;
    return true;
}

/* Two digits below `bound` after a ':' at *at. */
static bool sixtieth_parse(const char **at, int *ret_value) {
    const char *digits = *at + 1;
    unsigned n = digits_parse(digits, 2, 2, ret_value);
    if (n == 0 || *ret_value >= 60) {
        *at = n ? digits : digits + min_of(digit_run(digits), 2U);
        return false;
    }
    *at = digits + n;
    return true;
}

/* HH:MM[:SS][ am|pm] */
static bool time_parse(const char **at, struct moment *moment) {
    int hour, minute, second = 0;
    unsigned n = digits_parse(*at, 1, 2, &hour);
    if (n == 0 || hour > 23)
        return false;
    *at += n;
    if (!sixtieth_parse(at, &minute))
        return false;
    if (**at == ':' && !sixtieth_parse(at, &second))
        return false;
    const char *half = *at + strspn(*at, " \t");
    bool pm = str_starts_nocase(half, "pm");
    if (pm || str_starts_nocase(half, "am")) {
        if (hour > 12)
            return false;
        hour = hour % 12 + (pm ? 12 : 0);
        *at = half + 2;
    }
    moment->has_time = true;
    moment->hour = hour;
    moment->minute = minute;
    moment->second = second;
    return true;
}

static int month_days(int year, int month) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 && leap ? 29 : days[month - 1];
}

/* YYYY-MM-DD */
static bool iso_date_parse(const char **at, struct moment *moment) {
    int year, month, day;
    if (!digits_parse(*at, 4, 4, &year) || (*at)[4] != '-' ||
        digits_parse(*at + 5, 2, 2, &month) == 0 || (*at)[7] != '-' ||
        digits_parse(*at + 8, 2, 2, &day) == 0)
        return false;
    if (month < 1 || month > 12) {
        *at += 5;
        return false;
    }
    if (day < 1 || day > month_days(year, month)) {
        *at += 8;
        return false;
    }
    *at += 10;
    moment->day_kind = DAY_FULL;
    moment->year = year;
    moment->month = month;
    moment->day = day;
    return true;
}

/* The month and day of the American forms; a two-digit year may follow after `separator`. */
static bool month_day_finish(const char **at, int month, int day, const char *day_at,
                             char separator, struct moment *moment) {
    if (month < 1 || month > 12)
        return false;
    if (day < 1 || day > month_days(2000, month)) {
        *at = day_at;
        return false;
    }
    const char *end = day_at + digit_run(day_at);
    moment->day_kind = DAY_NO_YEAR;
    if (*end == separator) {
        int year;
        if (digits_parse(end + 1, 2, 2, &year) == 0) {
            *at = end + 1 + min_of(digit_run(end + 1), 2U);
            return false;
        }
        end += 3;
        moment->day_kind = DAY_FULL;
        moment->year = 2000 + year;
        if (day > month_days(moment->year, month)) {
            *at = day_at;
            return false;
        }
    }
    moment->month = month;
    moment->day = day;
    *at = end;
    return true;
}

/* MM/DD[/YY] and MM.DD[.YY] */
static bool separated_date_parse(const char **at, struct moment *moment) {
    int month, day;
    unsigned n = digits_parse(*at, 1, 2, &month);
    if (n == 0 || month < 1 || month > 12)
        return false;
    char separator = (*at)[n];
    const char *day_at = *at + n + 1;
    if (digits_parse(day_at, 1, 2, &day) == 0) {
        *at = day_at;
        return false;
    }
    return month_day_finish(at, month, day, day_at, separator, moment);
}

/* MMDD[YY] */
static bool plain_date_parse(const char **at, unsigned n, struct moment *moment) {
    int number = 0;
    if (digits_parse(*at, n, n, &number) == 0)
        return false;
    int year = -1;
    if (n == 6) {
        year = 2000 + number % 100;
        number /= 100;
    }
    int month = number / 100, day = number % 100;
    if (month < 1 || month > 12 || day < 1 || day > month_days(year < 0 ? 2000 : year, month))
        return false;
    moment->day_kind = year < 0 ? DAY_NO_YEAR : DAY_FULL;
    moment->year = year;
    moment->month = month;
    moment->day = day;
    *at += n;
    return true;
}

static bool token_parse(const char **at, struct moment *moment) {
    unsigned n = digit_run(*at);
    if (n == 0)
        return word_parse(at, moment);
    switch ((*at)[n]) {
    case ':':
        return time_parse(at, moment);
    case '/':
    case '.':
        return separated_date_parse(at, moment);
    case '-':
        if (n == 4)
            return iso_date_parse(at, moment);
        break;
    }
    return (n == 4 || n == 6) && plain_date_parse(at, n, moment);
}

/* ---- now[+|-N[unit]] and uts<seconds>, which stand alone ---- */

static const struct {
    const char *name;
    int64_t seconds;
} time_units[] = {
    {"", 1},         {"second", 1},    {"seconds", 1},    {"minute", 60},
    {"minutes", 60}, {"hour", 3600},   {"hours", 3600},   {"day", 86400},
    {"days", 86400}, {"week", 604800}, {"weeks", 604800},
};

static int64_t unit_seconds(const char *name, size_t length) {
    for (size_t i = 0; i < countof(time_units); i++) {
        if (strlen(time_units[i].name) == length &&
            strncasecmp(time_units[i].name, name, length) == 0)
            return time_units[i].seconds;
    }
    return 0;
}

static const char *blanks_skip(const char *at) {
    return at + strspn(at, " \t");
}

/* Twelve digits of seconds are 30,000 years. */
#define COUNT_DIGITS_MAX 12

static bool offset_parse(const char **at, int64_t now, int64_t *ret_time) {
    const char *cursor = blanks_skip(*at);
    if (!*cursor) {
        *at = cursor;
        *ret_time = now;
        return true;
    }
    bool minus = *cursor == '-';
    if (!minus && *cursor != '+') {
        *at = cursor;
        return false;
    }
    const char *digits = blanks_skip(cursor + 1);
    unsigned n = digit_run(digits);
    if (n == 0 || n > COUNT_DIGITS_MAX) {
        *at = cursor;
        return false;
    }
    int64_t count = 0;
    for (unsigned i = 0; i < n; i++)
        count = count * 10 + (digits[i] - '0');
    const char *unit = blanks_skip(digits + n);
    size_t length = strcspn(unit, " \t");
    int64_t seconds = unit_seconds(unit, length);
    if (seconds == 0) {
        *at = digits;
        return false;
    }
    int64_t offset, time;
    if (__builtin_mul_overflow(count, minus ? -seconds : seconds, &offset) ||
        __builtin_add_overflow(now, offset, &time)) {
        *at = digits;
        return false;
    }
    *at = blanks_skip(unit + length);
    *ret_time = time;
    return **at == '\0';
}

/* Smaller numbers are more likely a mistyped date than 1970. */
#define UTS_MIN 1000000

static bool uts_parse(const char *digits, int64_t *ret_time) {
    uint64_t seconds;
    if (strlen(digits) > COUNT_DIGITS_MAX || !str_to_u64(digits, &seconds) || seconds < UTS_MIN)
        return false;
    *ret_time = (int64_t) seconds;
    return true;
}

/* ---- from a moment to seconds ---- */

static bool moment_resolve(const struct moment *moment, int64_t now, bool past, int64_t *ret_time) {
    struct tm tm;
    time_t now_time = (time_t) now;
    if (!localtime_r(&now_time, &tm))
        return false;
    tm.tm_hour = moment->hour;
    tm.tm_min = moment->minute;
    tm.tm_sec = moment->second;
    int *step = NULL; /* the field to move when the moment is on the wrong side of now */
    switch (moment->day_kind) {
    case DAY_UNSET:
        step = &tm.tm_mday;
        break;
    case DAY_RELATIVE:
        tm.tm_mday += moment->relative_days;
        break;
    case DAY_FULL:
        tm.tm_year = moment->year - 1900;
        tm.tm_mon = moment->month - 1;
        tm.tm_mday = moment->day;
        break;
    case DAY_NO_YEAR:
        tm.tm_mon = moment->month - 1;
        tm.tm_mday = moment->day;
        step = &tm.tm_year;
        break;
    }
    int64_t time;
    if (!calendar_time(tm, &time))
        return false;
    if (step && past && time > now)
        --*step;
    else if (step && !past && time <= now)
        ++*step;
    if (moment->day_kind == DAY_NO_YEAR &&
        moment->day > month_days(tm.tm_year + 1900, moment->month))
        return false; /* 02/29 in a year without one */
    return calendar_time(tm, ret_time);
}

/* Blanks, or one 'T' or '-' before a digit, between two tokens. */
static const char *separator_skip(const char *at) {
    if ((*at == 'T' || *at == 't' || *at == '-') && isdigit((unsigned char) at[1]))
        return at + 1;
    return at + strspn(at, " \t");
}

static bool tokens_parse(const char **at, int64_t now, bool past, int64_t *ret_time) {
    struct moment moment = {0};
    const char *start = *at;
    while (**at) {
        if (!token_parse(at, &moment))
            return false;
        *at = separator_skip(*at);
    }
    if (moment.day_kind == DAY_UNSET && !moment.has_time)
        return false;
    if (!moment_resolve(&moment, now, past, ret_time)) {
        *at = start;
        return false;
    }
    return true;
}

int timestamp_parse(const char *text, int64_t now, bool past, int64_t *ret_time,
                    struct error *err) {
    const char *at = blanks_skip(text);
    int64_t time;
    bool valid;
    if (word_take(&at, "now")) {
        valid = offset_parse(&at, now, &time);
    } else if (str_starts_nocase(at, "uts")) {
        valid = uts_parse(at + 3, &time);
    } else {
        valid = tokens_parse(&at, now, past, &time);
    }
    if (!valid)
        return error_set(err, ERR_INVALID, "Invalid time specification (pos=%d): %.256s",
                         (int) (at - text), text);
    *ret_time = time;
    return 0;
}

/* ---- printing ---- */

/* Days between the calendar days of two moments. */
static int64_t calendar_days(const struct tm *from, const struct tm *to) {
    struct tm noons[2] = {*from, *to};
    int64_t seconds[2];
    for (int i = 0; i < 2; i++) {
        noons[i].tm_hour = 12;
        noons[i].tm_min = noons[i].tm_sec = 0;
        noons[i].tm_isdst = -1;
        seconds[i] = mktime(&noons[i]);
    }
    int64_t difference = seconds[1] - seconds[0];
    /* A clock change makes a day 23 or 25 hours long: round to whole days. */
    return (difference + (difference < 0 ? -43200 : 43200)) / 86400;
}

static const char *relative_format(const struct tm *tm, int64_t now) {
    struct tm today;
    time_t now_time = (time_t) now;
    if (!localtime_r(&now_time, &today))
        return "%Y-%m-%dT%H:%M:%S";
    int64_t days = calendar_days(&today, tm);
    if (days == 0)
        return "%H:%M:%S";
    if (days == -1)
        return "Ystday %H:%M";
    if (days == 1)
        return "Tomorr %H:%M";
    if (days > -7 && days < 7)
        return "%a %H:%M";
    return tm->tm_year == today.tm_year ? "%-d %b %H:%M" : "%-d %b %Y";
}

void timestamp_print(int64_t time, const char *format, int64_t now, struct str *out) {
    struct tm tm;
    time_t value = (time_t) time;
    if (!localtime_r(&value, &tm)) {
        str_append(out, "INVALID");
        return;
    }
    if (!format || !*format || str_equal(format, "standard")) {
        str_printf(out, "%04d-%02d-%02dT%02d:%02d:%02d", tm.tm_year + 1900, tm.tm_mon + 1,
                   tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
        return;
    }
    if (str_equal(format, "relative"))
        format = relative_format(&tm, now);
    char text[256]; /* a longer result prints nothing */
    size_t length = strftime(text, sizeof(text), format, &tm);
    str_append_bytes(out, text, length);
}

int64_t timestamp_add_days(int64_t time, int days) {
    time_t at = (time_t) time;
    struct tm local;
    if (localtime_r(&at, &local) == NULL)
        return time + (int64_t) days * 86400;
    local.tm_mday += days;
    int64_t moved;
    return calendar_time(local, &moved) ? moved : time + (int64_t) days * 86400;
}

int timestamp_weekday(int64_t time) {
    time_t at = (time_t) time;
    struct tm local;
    return localtime_r(&at, &local) != NULL ? local.tm_wday : 0;
}
