/* SPDX-License-Identifier: Apache-2.0 */
/* Times of crontabs. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "text/cronspec.h"
#include "text/timestamp.h"
#include "unit.h"

static void zone(const char *tz) {
    setenv("TZ", tz, 1);
    tzset();
}

/* The times that follow `from`, as the clocks show them: "2026-03-29T01:30:00 2026-…". */
static void follow(const char *text, const char *from, size_t n, const char *expected) {
    struct cronspec spec;
    struct error err = ERROR_INIT;
    struct str out cleanup_str = STR_INIT;
    int64_t at;
    if (cronspec_parse(text, &spec, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    assert_int_equal(timestamp_parse(from, 0, false, &at, &err), 0);
    for (size_t i = 0; i < n; i++) {
        at = cronspec_next(&spec, at);
        if (out.length > 0)
            str_append_char(&out, ' ');
        timestamp_print(at, NULL, at, &out);
    }
    assert_string_equal(str_cstr(&out), expected);
}

static void refused(const char *text, const char *says) {
    struct cronspec spec;
    struct error err = ERROR_INIT;
    assert_int_equal(cronspec_parse(text, &spec, &err), -ERR_INVALID_TIME);
    if (strstr(err.text, says) == NULL)
        fail_msg("%s: %s", text, err.text);
}

TEST(fields_say_when) {
    zone("UTC");
    const char *new_year = "2026-01-01T00:00:00"; /* a Thursday */
    follow("*/20 * * * *", new_year, 3,
           "2026-01-01T00:20:00 2026-01-01T00:40:00 2026-01-01T01:00:00");
    follow("5,10-12/2 8 * * *", new_year, 4,
           "2026-01-01T08:05:00 2026-01-01T08:10:00 2026-01-01T08:12:00 2026-01-02T08:05:00");
    follow("0 0 * feb-MAR mon", new_year, 2, "2026-02-02T00:00:00 2026-02-09T00:00:00");
    follow("0 9 * * 7", new_year, 2, "2026-01-04T09:00:00 2026-01-11T09:00:00");
    follow("0 9 * * 5-7", new_year, 3,
           "2026-01-02T09:00:00 2026-01-03T09:00:00 2026-01-04T09:00:00");
    follow("0 0 29 2 *", new_year, 2, "2028-02-29T00:00:00 2032-02-29T00:00:00");
}

TEST(one_of_two_restricted_days_is_enough) {
    zone("UTC");
    follow("0 0 15 * mon", "2026-01-01T00:00:00", 4,
           "2026-01-05T00:00:00 2026-01-12T00:00:00 2026-01-15T00:00:00 2026-01-19T00:00:00");
    follow("0 0 */10 * mon", "2026-01-01T00:00:00", 1, "2026-05-11T00:00:00"); /* both */
}

TEST(words_stand_for_fields) {
    zone("UTC");
    follow("@hourly", "2026-01-01T00:00:00", 2, "2026-01-01T01:00:00 2026-01-01T02:00:00");
    follow("@weekly", "2026-01-01T00:00:00", 1, "2026-01-04T00:00:00");
    follow("@yearly", "2026-01-01T00:00:00", 1, "2027-01-01T00:00:00");
    follow("@teatime", "2026-01-01T00:00:00", 1, "2026-01-01T16:00:00");
}

TEST(a_time_that_is_left_out_comes_behind_the_change_and_one_that_comes_twice_once) {
    zone("Europe/Berlin");
    follow("30 2 * * *", "2026-03-28T12:00:00", 2, "2026-03-29T03:30:00 2026-03-30T02:30:00");
    follow("30 2 * * *", "2026-10-24T12:00:00", 2, "2026-10-25T02:30:00 2026-10-26T02:30:00");
}

TEST(what_recurs_in_every_hour_follows_the_clocks) {
    zone("Europe/Berlin");
    follow("0 * * * *", "2026-03-29T00:30:00", 3,
           "2026-03-29T01:00:00 2026-03-29T03:00:00 2026-03-29T04:00:00");
    follow("30 * * * *", "2026-10-25T01:00:00", 4,
           "2026-10-25T01:30:00 2026-10-25T02:30:00 2026-10-25T02:30:00 2026-10-25T03:30:00");
}

TEST(what_cannot_be_meant_is_refused_with_its_field) {
    refused("60 * * * *", "minute \"60\"");
    refused("* 24 * * *", "hour \"24\"");
    refused("* * 0 * *", "day of the month \"0\"");
    refused("* * * 13 *", "month \"13\"");
    refused("* * * * 8", "day of the week \"8\"");
    refused("5-1 * * * *", "minute \"5-1\"");
    refused("*/0 * * * *", "minute \"*/0\"");
    refused("5/2 * * * *", "minute \"5/2\"");
    refused("1,,2 * * * *", "minute \"1,,2\"");
    refused("1, * * * *", "minute \"1,\"");
    refused("* * * janu *", "month \"janu\"");
    refused("* * * *", "only 4 of five");
    refused("* * * * * *", "more than five");
    refused("0 0 30 2 *", "never comes");
    refused("@hourli", "is @hourly meant?");
}

TEST(the_specification_is_the_beginning_of_a_line) {
    struct error err = ERROR_INIT;
    assert_int_equal(cronspec_length("* * * * * cmd -x", &err), 9);
    assert_int_equal(cronspec_length("0  5\t* * *\tcmd", &err), 10);
    assert_int_equal(cronspec_length("@hourly cmd", &err), 7);
    assert_int_equal(cronspec_length("* * * *", &err), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_say_when),
        cmocka_unit_test(one_of_two_restricted_days_is_enough),
        cmocka_unit_test(words_stand_for_fields),
        cmocka_unit_test(
            a_time_that_is_left_out_comes_behind_the_change_and_one_that_comes_twice_once),
        cmocka_unit_test(what_recurs_in_every_hour_follows_the_clocks),
        cmocka_unit_test(what_cannot_be_meant_is_refused_with_its_field),
        cmocka_unit_test(the_specification_is_the_beginning_of_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
