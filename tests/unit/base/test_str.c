/* SPDX-License-Identifier: Apache-2.0 */
/* Text buffers, comparisons, number readers, "did you mean". */
#include "base/str.h"

#include <string.h>

#include "base/alloc.h"
#include "unit.h"

TEST(appends_build_one_terminated_text) {
    cleanup_str struct str str = STR_INIT;
    assert_string_equal(str_cstr(&str), "");
    str_append(&str, "job");
    str_append_char(&str, ' ');
    str_append_u64(&str, 0);
    str_append_u64(&str, UINT64_MAX);
    str_append_fill(&str, '.', 3);
    str_append_bytes(&str, "xyz", 2);
    str_printf(&str, "%03d", 7);
    str_append_lower(&str, " A100-Q");
    assert_string_equal(str_cstr(&str), "job 018446744073709551615...xy007 a100-q");
    text_upper(str.data);
    assert_string_equal(str_cstr(&str), "JOB 018446744073709551615...XY007 A100-Q");
    assert_int_equal(str.length, strlen(str.data));
    str_reset(&str);
    str_append_lower(&str, "");
    assert_string_equal(str_cstr(&str), "");
}

TEST(printf_of_any_length_is_whole) {
    char text[500];
    memset(text, 'a', sizeof(text));
    for (size_t length = 0; length < sizeof(text); length++) {
        cleanup_str struct str str = STR_INIT;
        str_append(&str, "<");
        str_printf(&str, "%.*s>", (int) length, text);
        assert_int_equal(str.length, length + 2);
        assert_int_equal(str.data[length + 1], '>');
        assert_int_equal(str.data[str.length], '\0');
    }
}

TEST(reset_keeps_memory_and_take_hands_it_out) {
    cleanup_str struct str str = STR_INIT;
    str_append(&str, "old");
    str_reset(&str);
    assert_string_equal(str_cstr(&str), "");
    str_append(&str, "new");
    cleanup_free char *text = str_take(&str);
    assert_string_equal(text, "new");
    cleanup_free char *empty = str_take(&str);
    assert_string_equal(empty, "");
}

TEST(join_puts_separators_between_only) {
    cleanup_str struct str str = STR_INIT;
    str_join(&str, ",", "a");
    str_join(&str, ",", "b");
    assert_string_equal(str_cstr(&str), "a,b");
}

TEST(comparisons_treat_null_as_equal_to_null_only) {
    assert_true(str_equal(NULL, NULL));
    assert_false(str_equal(NULL, ""));
    assert_false(str_equal_nocase("", NULL));
    assert_true(str_equal("gpu", "gpu"));
    assert_false(str_equal("gpu", "GPU"));
    assert_true(str_equal_nocase("gpu", "GPU"));
    assert_true(str_starts("partition", "part"));
    assert_false(str_starts("par", "part"));
    assert_true(str_starts_nocase("PARTition", "part"));
    assert_true(str_abbreviates("RES=x", 3, "reservation", 3));
    assert_false(str_abbreviates("re", 2, "reservation", 3));
    assert_false(str_abbreviates("reservations", 12, "reservation", 3));
}

TEST(printable_text_is_valid_utf8_without_controls) {
    static const char *const good[] = {"",     "plain\ttext",      "Größe",
                                       "節点", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"};
    static const char *const bad[] = {"line\n",
                                      "\x7f",
                                      "\xc2\x85",
                                      "\x80",
                                      "\xc0\xaf",
                                      "\xe0\x80\xaf",
                                      "\xed\xa0\x80",
                                      "\xf4\x90\x80\x80",
                                      "\xf8\x88\x80\x80\x80",
                                      "\xe2\x82",
                                      "\xc3(",
                                      "a\x1b[0m",
                                      "\xf0\x80\x80\x80"};
    for (size_t i = 0; i < countof(good); i++)
        assert_true(str_is_printable_utf8(good[i]));
    for (size_t i = 0; i < countof(bad); i++)
        assert_false(str_is_printable_utf8(bad[i]));
}

TEST(numbers_are_whole_texts_in_range) {
    uint64_t u = 42;
    int64_t i = 42;
    assert_true(str_to_u64("18446744073709551615", &u));
    assert_true(u == UINT64_MAX);
    u = 42;
    static const char *const bad[] = {"",   "-1", "+1", " 1", "1 ", "1x", "18446744073709551616",
                                      "0x1"};
    for (size_t k = 0; k < countof(bad); k++)
        assert_false(str_to_u64(bad[k], &u));
    assert_true(u == 42);
    assert_true(str_to_i64("-9223372036854775808", &i));
    assert_true(i == INT64_MIN);
    assert_true(str_to_i64("9223372036854775807", &i));
    assert_true(i == INT64_MAX);
    assert_false(str_to_i64("9223372036854775808", &i));
    assert_false(str_to_i64("-9223372036854775809", &i));
    assert_false(str_to_i64("-", &i));
    assert_false(str_to_i64("--1", &i));
}

TEST(distance_counts_edits_up_to_the_limit) {
    assert_int_equal(str_distance("kitten", "sitting", 9), 3);
    assert_int_equal(str_distance("", "abc", 9), 3);
    assert_int_equal(str_distance("same", "same", 9), 0);
    assert_int_equal(str_distance("abcdef", "uvwxyz", 4), 4);
    assert_int_equal(str_distance("a", "abcdefgh", 3), 3);
}

TEST(nearest_suggests_only_what_is_near) {
    static const char *const names[] = {"debug", "main", "gpu-long", "gpu"};
    assert_string_equal(str_nearest("MAIN", names, countof(names)), "main");
    assert_string_equal(str_nearest("debgu", names, countof(names)), "debug");
    assert_string_equal(str_nearest("gpu-lnog", names, countof(names)), "gpu-long");
    assert_null(str_nearest("xyzzy", names, countof(names)));
    assert_null(str_nearest("xyzzy", NULL, 0));
    char longest[1000];
    memset(longest, 'x', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    assert_null(str_nearest(longest, names, countof(names)));
}

TEST(words_are_split_at_any_separator_and_never_empty) {
    char text[] = ",,a, b,,c,";
    char *cursor = text;
    assert_string_equal(str_next_word(&cursor, ", "), "a");
    assert_string_equal(str_next_word(&cursor, ", "), "b");
    assert_string_equal(str_next_word(&cursor, ", "), "c");
    assert_null(str_next_word(&cursor, ", "));
    assert_null(str_next_word(&cursor, ", "));
}

TEST(a_word_is_found_whole_and_nothing_is_in_nothing) {
    assert_true(str_has_word("gpu,main", "main", ","));
    assert_true(str_has_word(",,cpu memory", "memory", ", "));
    assert_false(str_has_word("gpu,main", "mai", ","));
    assert_false(str_has_word("gpu,main", "Main", ","));
    assert_true(str_has_word_nocase("gpu,main", "Main", ","));
    assert_false(str_has_word("gpu,,main", "", ","));
    assert_false(str_has_word("gpu", NULL, ","));
    assert_false(str_has_word(NULL, "gpu", ","));
}

TEST(trim_removes_blanks_at_both_ends) {
    char text[] = " \t two words \r\n", blank[] = "  ", empty[] = "";
    assert_string_equal(str_trim(text), "two words");
    assert_string_equal(str_trim(blank), "");
    assert_string_equal(str_trim(empty), "");
}

TEST(lists_of_ids_are_not_cut_in_brackets) {
    char text[] = "12_[1,3-5], 14,x[";
    char *cursor = text;
    assert_string_equal(str_next_id(&cursor, ", "), "12_[1,3-5]");
    assert_string_equal(str_next_id(&cursor, ", "), "14");
    assert_string_equal(str_next_id(&cursor, ", "), "x[");
    assert_null(str_next_id(&cursor, ", "));
}

TEST(a_loop_over_words_leaves_their_text_as_it_is_and_may_end_early) {
    static const char text[] = "a,,b,c";
    struct str seen cleanup_str = STR_INIT;
    words_each (text, ",", word)
        str_join(&seen, "-", word);
    assert_string_equal(seen.data, "a-b-c");
    words_each (text, ",", word) {
        str_join(&seen, "-", word);
        if (word[0] == 'b')
            break;
    }
    assert_string_equal(seen.data, "a-b-c-a-b");
    words_each (NULL, ",", word)
        fail_msg("%s", word);
    assert_string_equal(text, "a,,b,c");
}

TEST(utf8_is_told_from_other_bytes_and_made_of_them) {
    assert_true(str_is_utf8("a\n\x01 \xc3\xa9 \xf0\x9f\x98\x80"));
    assert_false(str_is_utf8("\xff"));
    assert_false(str_is_utf8("\xc3"));
    assert_false(str_is_utf8("\xed\xa0\x80")); /* half of a UTF-16 pair */
    struct str str cleanup_str = STR_INIT;
    str_append_utf8(&str, "a\xff\xc3\xa9", SIZE_MAX);
    assert_string_equal(str_cstr(&str), "a?\xc3\xa9");
    str_reset(&str);
    str_append_utf8(&str,
                    "ab\xc3\xa9"
                    "cd",
                    3); /* half of the third does not come */
    assert_string_equal(str_cstr(&str), "ab");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_of_ids_are_not_cut_in_brackets),
        cmocka_unit_test(a_loop_over_words_leaves_their_text_as_it_is_and_may_end_early),
        cmocka_unit_test(appends_build_one_terminated_text),
        cmocka_unit_test(printf_of_any_length_is_whole),
        cmocka_unit_test(reset_keeps_memory_and_take_hands_it_out),
        cmocka_unit_test(join_puts_separators_between_only),
        cmocka_unit_test(comparisons_treat_null_as_equal_to_null_only),
        cmocka_unit_test(printable_text_is_valid_utf8_without_controls),
        cmocka_unit_test(utf8_is_told_from_other_bytes_and_made_of_them),
        cmocka_unit_test(numbers_are_whole_texts_in_range),
        cmocka_unit_test(distance_counts_edits_up_to_the_limit),
        cmocka_unit_test(nearest_suggests_only_what_is_near),
        cmocka_unit_test(words_are_split_at_any_separator_and_never_empty),
        cmocka_unit_test(a_word_is_found_whole_and_nothing_is_in_nothing),
        cmocka_unit_test(trim_removes_blanks_at_both_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
