/* SPDX-License-Identifier: Apache-2.0 */
/* Time limits: the grammar, its bounds, both printed styles. */
#include "text/duration.h"

#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "unit.h"

TEST(every_form_of_a_limit_is_read_in_minutes_rounded_up) {
    static const struct {
        const char *text;
        uint32_t minutes;
    } cases[] = {
        {"0", 0},
        {"90", 90},
        {"1:30", 2},
        {"0:30", 1},
        {"0:0:1", 1},
        {"1:2:3", 63},
        {"1-2", 1560},
        {"1-2:3", 1563},
        {"1-2:3:4", 1564},
        {"0:90:0", 90},
        {"1-48", 4320},
        {"1-90:90:90", 6932},
        {"5-", 7200},
        {"-1", MINUTES_INFINITE},
        {"infinite", MINUTES_INFINITE},
        {"Unlimited", MINUTES_INFINITE},
        {"4294967293", 4294967293},
    };
    for (size_t i = 0; i < countof(cases); i++) {
        uint32_t minutes = 12345;
        assert_int_equal(minutes_parse(cases[i].text, &minutes, NULL), 0);
        assert_int_equal(minutes, cases[i].minutes);
    }
}

TEST(everything_else_is_refused_and_changes_nothing) {
    static const char *const bad[] = {"",
                                      "infin",
                                      "1:2:3:4",
                                      "1-2:3:4:5",
                                      "1-2-3",
                                      "1:",
                                      ":1",
                                      " 5",
                                      "5 ",
                                      "5x",
                                      "1-:3",
                                      "1-1:",
                                      ":",
                                      "::1",
                                      "1::1",
                                      "+5",
                                      "-5",
                                      "-0",
                                      "--1",
                                      "-",
                                      "1:2-3",
                                      "4294967294",
                                      "4294967295",
                                      "99999999999",
                                      "18446744073709551616",
                                      "99999999999999-0",
                                      "1.5"};
    for (size_t i = 0; i < countof(bad); i++) {
        uint32_t minutes = 12345;
        struct error err = ERROR_INIT;
        assert_int_equal(minutes_parse(bad[i], &minutes, &err), -ERR_INVALID);
        assert_int_equal(minutes, 12345);
        assert_non_null(strstr(err.text, bad[i]));
    }
}

TEST(seconds_are_kept_where_minutes_would_round) {
    uint64_t seconds = 0;
    assert_int_equal(duration_parse("1:30", &seconds, NULL), 0);
    assert_int_equal(seconds, 90);
    assert_int_equal(duration_parse("2-03:04:05", &seconds, NULL), 0);
    assert_int_equal(seconds, 2 * 86400 + 3 * 3600 + 4 * 60 + 5);
    assert_int_equal(duration_parse("UNLIMITED", &seconds, NULL), 0);
    assert_true(seconds == UINT64_MAX);
}

TEST(printed_forms_match_squeue_and_scontrol) {
    static const struct {
        int64_t seconds;
        const char *brief, *padded;
    } cases[] = {
        {0, "0:00", "00:00:00"},
        {5, "0:05", "00:00:05"},
        {725, "12:05", "00:12:05"},
        {3723, "1:02:03", "01:02:03"},
        {36000, "10:00:00", "10:00:00"},
        {183845, "2-03:04:05", "2-03:04:05"},
        {365 * 86400, "365-00:00:00", "365-00:00:00"},
        {365 * 86400 + 1, "INVALID", "365-00:00:01"},
        {-1, "INVALID", "INVALID"},
    };
    for (size_t i = 0; i < countof(cases); i++) {
        cleanup_str struct str brief = STR_INIT, padded = STR_INIT;
        duration_print_short(cases[i].seconds, &brief);
        duration_print_long(cases[i].seconds, &padded);
        assert_string_equal(str_cstr(&brief), cases[i].brief);
        assert_string_equal(str_cstr(&padded), cases[i].padded);
    }
}

TEST(limits_print_words_for_unset_and_infinite) {
    cleanup_str struct str text = STR_INIT;
    minutes_print_short(MINUTES_UNSET, "NOT_SET", &text);
    minutes_print_short(MINUTES_INFINITE, "NOT_SET", &text);
    minutes_print_short(90, "NOT_SET", &text);
    minutes_print_long(90, "NONE", &text);
    minutes_print_long(MINUTES_UNSET, "NONE", &text);
    assert_string_equal(str_cstr(&text), "NOT_SETUNLIMITED1:30:0001:30:00NONE");
}

TEST(what_is_printed_is_read_back) {
    struct rng rng;
    rng_seed(&rng, 21);
    for (int i = 0; i < 5000; i++) {
        cleanup_str struct str text = STR_INIT;
        uint64_t expected = rng_below(&rng, (uint64_t) 1 << rng_below(&rng, 40)), seconds;
        duration_print_long((int64_t) expected, &text);
        assert_int_equal(duration_parse(str_cstr(&text), &seconds, NULL), 0);
        assert_true(seconds == expected);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_of_a_limit_is_read_in_minutes_rounded_up),
        cmocka_unit_test(everything_else_is_refused_and_changes_nothing),
        cmocka_unit_test(seconds_are_kept_where_minutes_would_round),
        cmocka_unit_test(printed_forms_match_squeue_and_scontrol),
        cmocka_unit_test(limits_print_words_for_unset_and_infinite),
        cmocka_unit_test(what_is_printed_is_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
