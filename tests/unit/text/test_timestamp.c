/* SPDX-License-Identifier: Apache-2.0 */
/* Clock times: now is Monday 2026-11-30 16:02:01 UTC unless said otherwise. */
#include "text/timestamp.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "unit.h"

#define NOW 1796054521

static void zone_set(const char *zone) {
    setenv("TZ", zone, 1);
    tzset();
}

struct sample {
    const char *text, *expected;
};

static void samples_check(const struct sample *samples, size_t n, bool past) {
    for (size_t i = 0; i < n; i++) {
        int64_t time = 0;
        struct error err = ERROR_INIT;
        if (timestamp_parse(samples[i].text, NOW, past, &time, &err) < 0)
            fail_msg("%s: %s", samples[i].text, err.text);
        cleanup_str struct str text = STR_INIT;
        timestamp_print(time, NULL, NOW, &text);
        if (!str_equal(str_cstr(&text), samples[i].expected))
            fail_msg("%s: %s, not %s", samples[i].text, str_cstr(&text), samples[i].expected);
    }
}

TEST(times_and_dates_mean_the_next_occurrence) {
    zone_set("UTC");
    static const struct sample samples[] = {
        {"now", "2026-11-30T16:02:01"},
        {"now+1", "2026-11-30T16:02:02"},
        {"now+60", "2026-11-30T16:03:01"},
        {"now+1hour", "2026-11-30T17:02:01"},
        {"now + 1 hours", "2026-11-30T17:02:01"},
        {"NOW+3days", "2026-12-03T16:02:01"},
        {"now+1week", "2026-12-07T16:02:01"},
        {"now-2minutes", "2026-11-30T16:00:01"},
        {"today", "2026-11-30T00:00:00"},
        {"tomorrow", "2026-12-01T00:00:00"},
        {"midnight", "2026-12-01T00:00:00"},
        {"elevenses", "2026-12-01T11:00:00"},
        {"noon", "2026-12-01T12:00:00"},
        {"fika", "2026-12-01T15:00:00"},
        {"teatime", "2026-12-01T16:00:00"},
        {"tomorrow18:00", "2026-12-01T18:00:00"},
        {"tomorrow 18:00", "2026-12-01T18:00:00"},
        {"18:00tomorrow", "2026-12-01T18:00:00"},
        {"noontomorrow", "2026-12-01T12:00:00"},
        {"tomorrow noon", "2026-12-01T12:00:00"},
        {"today noon", "2026-11-30T12:00:00"},
        {"noon18:00", "2026-11-30T18:00:00"},
        {"18:00", "2026-11-30T18:00:00"},
        {"16:02:01", "2026-12-01T16:02:01"},
        {"16:02:02", "2026-11-30T16:02:02"},
        {"8:00", "2026-12-01T08:00:00"},
        {"08:00:30", "2026-12-01T08:00:30"},
        {"8:00pm", "2026-11-30T20:00:00"},
        {"8:00 PM", "2026-11-30T20:00:00"},
        {"12:00am", "2026-12-01T00:00:00"},
        {"12:00pm", "2026-12-01T12:00:00"},
        {"0:00am", "2026-12-01T00:00:00"},
        {"1201", "2026-12-01T00:00:00"},
        {"1130", "2027-11-30T00:00:00"},
        {"0101", "2027-01-01T00:00:00"},
        {"010128", "2028-01-01T00:00:00"},
        {"113026", "2026-11-30T00:00:00"},
        {"12/25", "2026-12-25T00:00:00"},
        {"12/25/27", "2027-12-25T00:00:00"},
        {"1/1", "2027-01-01T00:00:00"},
        {"12.25", "2026-12-25T00:00:00"},
        {"12.25.27", "2027-12-25T00:00:00"},
        {"12/25-18:00", "2026-12-25T18:00:00"},
        {"12/25/27-18:00:30", "2027-12-25T18:00:30"},
        {"12/25T18:00", "2026-12-25T18:00:00"},
        {"11/30-18:00", "2026-11-30T18:00:00"},
        {"11/30-15:00", "2027-11-30T15:00:00"},
        {"2027-01-02", "2027-01-02T00:00:00"},
        {"2027-01-02T03:04", "2027-01-02T03:04:00"},
        {"2027-01-02T03:04:05", "2027-01-02T03:04:05"},
        {"2027-01-02-03:04", "2027-01-02T03:04:00"},
        {"2027-01-02 03:04", "2027-01-02T03:04:00"},
        {"18:00 2027-01-02", "2027-01-02T18:00:00"},
        {"2020-01-01", "2020-01-01T00:00:00"},
        {"2028-02-29", "2028-02-29T00:00:00"},
        {"022928", "2028-02-29T00:00:00"},
        {"uts2000000000", "2033-05-18T03:33:20"},
        {"uts1000000", "1970-01-12T13:46:40"},
    };
    samples_check(samples, countof(samples), false);
}

TEST(queries_mean_the_most_recent_occurrence) {
    zone_set("UTC");
    static const struct sample samples[] = {
        {"18:00", "2026-11-29T18:00:00"},    {"8:00", "2026-11-30T08:00:00"},
        {"16:02:01", "2026-11-30T16:02:01"}, {"midnight", "2026-11-30T00:00:00"},
        {"12/25", "2025-12-25T00:00:00"},    {"1130", "2026-11-30T00:00:00"},
        {"1201", "2025-12-01T00:00:00"},     {"11/30-18:00", "2025-11-30T18:00:00"},
        {"tomorrow", "2026-12-01T00:00:00"}, {"2027-01-02", "2027-01-02T00:00:00"},
    };
    samples_check(samples, countof(samples), true);
}

TEST(errors_point_at_the_position) {
    zone_set("UTC");
    static const struct {
        const char *text;
        int pos;
    } cases[] = {
        {"foo", 0},
        {"uts", 0},
        {"uts5", 0},
        {"uts999999", 0},
        {"now+", 3},
        {"now+x", 3},
        {"now1", 3},
        {"nowx", 3},
        {"now+2h", 4},
        {"now+1mo", 4},
        {"now 18:00", 4},
        {"18", 0},
        {"180000", 0},
        {"18:00x", 5},
        {"12/25,18:00", 5},
        {"tomorrow+1hour", 8},
        {"2027-01-02T03:04:05.123", 19},
        {"2027-01-02Tx", 10},
        {"24:00", 0},
        {"23:59:60", 6},
        {"23:60", 3},
        {"1:5", 3},
        {"18:5", 4},
        {"18:00:5", 7},
        {"001:05", 0},
        {"5PM", 0},
        {"13:00pm", 5},
        {"13/01", 0},
        {"00/01", 0},
        {"01/32", 3},
        {"2027/01/02", 0},
        {"12/25/2027", 8},
        {"25.12", 0},
        {"2027-1-2", 0},
        {"2027-02-30", 8},
        {"2027-13-01", 5},
        {"02/29", 0},
        {"022927", 0},
    };
    for (size_t i = 0; i < countof(cases); i++) {
        int64_t time = 77;
        struct error err = ERROR_INIT;
        cleanup_free char *expected =
            xasprintf("Invalid time specification (pos=%d): %s", cases[i].pos, cases[i].text);
        assert_int_equal(timestamp_parse(cases[i].text, NOW, false, &time, &err), -ERR_INVALID);
        assert_string_equal(err.text, expected);
        assert_int_equal(time, 77);
    }
    int64_t time;
    assert_int_equal(timestamp_parse("", NOW, false, &time, NULL), -ERR_INVALID);
}

TEST(a_day_with_a_clock_change_is_a_day) {
    zone_set("Europe/Berlin");
    int64_t time, saturday_noon = 1774695600; /* 2026-03-28T12:00+01:00; clocks change at night */
    assert_int_equal(timestamp_parse("tomorrow noon", saturday_noon, false, &time, NULL), 0);
    assert_int_equal(time - saturday_noon, 23 * 3600);
    cleanup_str struct str text = STR_INIT;
    timestamp_print(time, NULL, saturday_noon, &text);
    assert_string_equal(str_cstr(&text), "2026-03-29T12:00:00");
    str_reset(&text);
    timestamp_print(time, "relative", saturday_noon, &text);
    assert_string_equal(str_cstr(&text), "Tomorr 12:00");
}

TEST(relative_times_name_near_days) {
    zone_set("UTC");
    static const struct {
        int64_t offset;
        const char *text;
    } cases[] = {
        {0, "16:02:01"},
        {600, "16:12:01"},
        {9 * 3600, "Tomorr 01:02"},
        {86400, "Tomorr 16:02"},
        {-86400, "Ystday 16:02"},
        {2 * 86400, "Wed 16:02"},
        {6 * 86400, "Sun 16:02"},
        {-6 * 86400, "Tue 16:02"},
        {7 * 86400, "7 Dec 16:02"},
        {-7 * 86400, "23 Nov 16:02"},
        {33 * 86400, "2 Jan 2027"},
    };
    for (size_t i = 0; i < countof(cases); i++) {
        cleanup_str struct str text = STR_INIT;
        timestamp_print(NOW + cases[i].offset, "relative", NOW, &text);
        assert_string_equal(str_cstr(&text), cases[i].text);
    }
}

TEST(formats_are_standard_or_strftime) {
    zone_set("UTC");
    cleanup_str struct str text = STR_INIT;
    timestamp_print(NOW, "standard", 0, &text);
    timestamp_print(NOW, "", 0, &text);
    timestamp_print(NOW, " %a %s %%", 0, &text);
    assert_string_equal(str_cstr(&text), "2026-11-30T16:02:012026-11-30T16:02:01 Mon 1796054521 %");
    char wide[1000];
    memset(wide, 'x', sizeof(wide));
    wide[sizeof(wide) - 1] = '\0';
    str_reset(&text);
    timestamp_print(NOW, wide, 0, &text);
    assert_string_equal(str_cstr(&text), "");
    timestamp_print(INT64_MAX, NULL, 0, &text);
    assert_string_equal(str_cstr(&text), "INVALID");
}

TEST(what_is_printed_is_read_back) {
    zone_set("America/New_York");
    struct rng rng;
    rng_seed(&rng, 31);
    for (int i = 0; i < 5000; i++) {
        int64_t expected = (int64_t) rng_below(&rng, 4000000000), time;
        cleanup_str struct str text = STR_INIT;
        timestamp_print(expected, NULL, NOW, &text);
        assert_int_equal(timestamp_parse(str_cstr(&text), NOW, i % 2, &time, NULL), 0);
        if (time != expected) /* the hour that occurs twice in autumn */
            assert_int_equal(labs(time - expected), 3600);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_and_dates_mean_the_next_occurrence),
        cmocka_unit_test(queries_mean_the_most_recent_occurrence),
        cmocka_unit_test(errors_point_at_the_position),
        cmocka_unit_test(a_day_with_a_clock_change_is_a_day),
        cmocka_unit_test(relative_times_name_near_days),
        cmocka_unit_test(formats_are_standard_or_strftime),
        cmocka_unit_test(what_is_printed_is_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
