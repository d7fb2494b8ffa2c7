/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "text/calendar.h"
#include "unit.h"

static void zone(const char *tz) {
    setenv("TZ", tz, 1);
    tzset();
}

static int64_t local(int year, int month, int day, int hour) {
    struct tm at = {.tm_year = year - 1900,
                    .tm_mon = month - 1,
                    .tm_mday = day,
                    .tm_hour = hour,
                    .tm_isdst = -1};
    return (int64_t) mktime(&at);
}

TEST(days_are_as_long_as_the_clocks_make_them) {
    zone("Europe/Berlin");
    int64_t spring = local(2026, 3, 29, 0), autumn = local(2026, 10, 25, 0);
    assert_int_equal(calendar_span_next(CALENDAR_DAY, spring) - spring, 23 * 3600);
    assert_int_equal(calendar_span_next(CALENDAR_DAY, autumn) - autumn, 25 * 3600);
    assert_int_equal(calendar_span_start(CALENDAR_DAY, spring + 22 * 3600), spring);
    assert_int_equal(calendar_span_start(CALENDAR_DAY, autumn + 25 * 3600 - 1), autumn);
    assert_int_equal(calendar_span_start(CALENDAR_MONTH, autumn), local(2026, 10, 1, 0));
    assert_int_equal(calendar_span_next(CALENDAR_MONTH, autumn), local(2026, 11, 1, 0));
}

TEST(hours_begin_at_the_local_full_hour) {
    zone("Asia/Kolkata"); /* 5:30 ahead */
    int64_t noon = local(2026, 6, 1, 12);
    assert_int_equal(calendar_span_start(CALENDAR_HOUR, noon + 1799), noon);
    assert_int_equal(calendar_span_next(CALENDAR_HOUR, noon + 3599), noon + 3600);
}

/* Over three years of every odd zone: each span begins where the one before ends, holds the times
 * in it, and days and months are made of whole hours and days. */
TEST(spans_follow_each_other_without_gaps_whatever_the_clocks_do) {
    static const char *const zones[] = {
        "UTC",
        "Europe/Berlin",
        "America/New_York",
        "Asia/Kolkata",
        "Australia/Lord_Howe",
        "Asia/Kathmandu",
        "America/Sao_Paulo",
        "Asia/Beirut",
        "America/Havana",
        "Africa/Cairo",
        "Pacific/Apia",
    };
    for (size_t i = 0; i < countof(zones); i++) {
        zone(zones[i]);
        int64_t begin = local(2010, 12, 1, 0), end = local(2013, 2, 1, 0);
        for (int64_t month = begin; month < end;
             month = calendar_span_next(CALENDAR_MONTH, month)) {
            assert_int_equal(calendar_span_start(CALENDAR_MONTH, month), month);
            int64_t month_end = calendar_span_next(CALENDAR_MONTH, month), day = month;
            assert_true(month_end - month >= 27 * 86400 && month_end - month <= 32 * 86400);
            for (; day < month_end; day = calendar_span_next(CALENDAR_DAY, day)) {
                int64_t day_end = calendar_span_next(CALENDAR_DAY, day), hour = day;
                assert_int_equal(calendar_span_start(CALENDAR_DAY, day), day);
                assert_int_equal(calendar_span_start(CALENDAR_DAY, day_end - 1), day);
                assert_int_equal(calendar_span_start(CALENDAR_MONTH, day), month);
                assert_true(day_end - day >= 22 * 3600 && day_end - day <= 26 * 3600);
                for (; hour < day_end; hour = calendar_span_next(CALENDAR_HOUR, hour))
                    assert_int_equal(calendar_span_start(CALENDAR_HOUR, hour), hour);
                assert_int_equal(hour, day_end);
            }
            assert_int_equal(day, month_end);
        }
    }
}

TEST(weeks_and_groups_of_months_begin_at_midnight) {
    zone("America/New_York");
    int64_t now = local(2026, 11, 30, 16) + 121; /* a Monday */
    assert_int_equal(calendar_span_next(CALENDAR_DAY, now), local(2026, 12, 1, 0));
    assert_int_equal(calendar_next_week(now), local(2026, 12, 6, 0));
    assert_int_equal(calendar_next_months(now, 1), local(2026, 12, 1, 0));
    assert_int_equal(calendar_next_months(now, 3), local(2027, 1, 1, 0));
    assert_int_equal(calendar_next_months(now, 12), local(2027, 1, 1, 0));
    /* What begins a span is followed by the next one, a clock change notwithstanding. */
    assert_int_equal(calendar_next_week(local(2026, 12, 6, 0)), local(2026, 12, 13, 0));
    assert_int_equal(calendar_span_next(CALENDAR_DAY, 1805587200), local(2027, 3, 21, 0));
    assert_int_equal(calendar_next_months(local(2027, 1, 1, 0), 3), local(2027, 4, 1, 0));
    zone("America/Havana"); /* Sunday, 2026-11-01: 0:00 to 1:00 comes twice */
    assert_int_equal(calendar_next_week(1793385000), 1793505600);
    assert_int_equal(calendar_next_months(1793385000, 1), 1793505600);
}

/* Whatever mktime() was asked before. */
TEST(a_time_that_comes_twice_is_the_first_and_one_left_out_is_later) {
    static const struct {
        const char *zone;
        int month, day, hour, minute;
        int64_t expected;
    } cases[] = {
        {"America/Havana", 11, 1, 0, 30, 1793507400},      /* 1:00 -> 0:00 */
        {"America/Havana", 3, 8, 0, 0, 1772946000},        /* 0:00 -> 1:00 */
        {"Europe/Berlin", 10, 25, 2, 30, 1792888200},      /* 3:00 -> 2:00 */
        {"Europe/Berlin", 3, 29, 2, 30, 1774747800},       /* 2:00 -> 3:00 */
        {"Australia/Lord_Howe", 4, 5, 1, 45, 1775313900},  /* 2:00 -> 1:30 */
        {"Australia/Lord_Howe", 10, 4, 2, 15, 1791042300}, /* 2:00 -> 2:30 */
    };
    for (size_t i = 0; i < countof(cases); i++) {
        zone(cases[i].zone);
        struct tm at = {.tm_year = 126,
                        .tm_mon = cases[i].month - 1,
                        .tm_mday = cases[i].day,
                        .tm_hour = cases[i].hour,
                        .tm_min = cases[i].minute};
        for (int month = 1; month <= 12; month++) {
            int64_t time = 0;
            local(2026, month, 15, 12);
            assert_true(calendar_time(at, &time));
            assert_int_equal(time, cases[i].expected);
        }
    }
}

TEST(an_age_is_counted_from_the_start_of_its_unit) {
    zone("Europe/Berlin");
    int64_t now = local(2026, 12, 17, 15) + 1234;
    assert_int_equal(calendar_cut(now, 5 * 3600), local(2026, 12, 17, 10));
    assert_int_equal(calendar_cut(now, 25 * 3600), local(2026, 12, 16, 14));
    assert_int_equal(calendar_cut(now, 24 * 3600), local(2026, 12, 16, 0)); /* a day */
    assert_int_equal(calendar_cut(now, (uint64_t) 12 * 30 * 86400), local(2025, 12, 1, 0));
    assert_int_equal(calendar_cut(now, 30 * 86400), local(2026, 11, 1, 0));
    int64_t march = local(2026, 3, 20, 3);
    assert_int_equal(calendar_cut(march, 30 * 86400), local(2026, 1, 30, 0)); /* not 28 days */
    int64_t summer = local(2026, 3, 30, 3); /* yesterday had 23 hours */
    assert_int_equal(calendar_cut(summer, 86400), local(2026, 3, 28, 23));
    assert_int_equal(calendar_cut(now, UINT64_MAX), 0);
    assert_int_equal(calendar_cut(now, (uint64_t) UINT32_MAX * 2592000), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(days_are_as_long_as_the_clocks_make_them),
        cmocka_unit_test(hours_begin_at_the_local_full_hour),
        cmocka_unit_test(spans_follow_each_other_without_gaps_whatever_the_clocks_do),
        cmocka_unit_test(weeks_and_groups_of_months_begin_at_midnight),
        cmocka_unit_test(a_time_that_comes_twice_is_the_first_and_one_left_out_is_later),
        cmocka_unit_test(an_age_is_counted_from_the_start_of_its_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
