/* SPDX-License-Identifier: Apache-2.0 */
/* The grammar of configuration files. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "model/conf_lex.h"

/* Lexes the text and writes what came: "LINE:KEY=VALUE;", "/" for a line's end, "!TEXT" for an
 * error. */
static char *lexed(const char *text) {
    cleanup_free char *copy = xstrdup(text);
    struct conf_lexer lexer;
    struct conf_pair pair;
    struct str out = STR_INIT;
    conf_lexer_init(&lexer, copy, strlen(copy));
    for (;;) {
        switch (conf_lexer_next(&lexer, &pair)) {
        case CONF_LEX_PAIR:
            str_printf(&out, "%u:%.*s=%s;", pair.line, (int) pair.key_length, pair.key, pair.value);
            break;
        case CONF_LEX_INCLUDE:
            str_printf(&out, "%u:<%s>", pair.line, pair.value);
            break;
        case CONF_LEX_LINE:
            str_append(&out, "/");
            break;
        case CONF_LEX_ERROR:
            str_printf(&out, "%u:!%s", pair.line, pair.value != NULL ? pair.value : "");
            str_append_bytes(&out, pair.key, pair.value != NULL ? 0 : pair.key_length);
            str_append(&out, ";");
            break;
        case CONF_LEX_END:
            return str_take(&out);
        }
    }
}

static void assert_lexed(const char *text, const char *expected) {
    cleanup_free char *result = lexed(text);
    assert_string_equal(result, expected);
}

TEST(a_line_has_several_pairs) {
    assert_lexed("A=1 B=2\tC=3\nD=4\n", "1:A=1;1:B=2;1:C=3;/2:D=4;/");
}

TEST(blanks_around_the_equals_sign_are_passed_over) {
    assert_lexed("A = 1\nB= 2\nC =3", "1:A=1;/2:B=2;/3:C=3;");
}

TEST(a_comment_goes_to_the_end_of_the_line) {
    assert_lexed("# all\nA=1 # rest B=2\nC=3#x\n", "/2:A=1;/3:C=3;/");
}

TEST(an_escaped_hash_is_a_hash) {
    assert_lexed("A=a\\#b\n", "1:A=a#b;/");
}

TEST(quotes_keep_blanks_and_hashes) {
    assert_lexed("A=\"a b # c\" B=x\"y z\"w\n", "1:A=a b # c;1:B=xy zw;/");
}

TEST(single_quotes_are_plain_characters) {
    assert_lexed("A='a b'\n", "1:A='a;1:!b';/");
}

TEST(a_backslash_joins_the_next_line) {
    assert_lexed("A=1 \\\n  B=2\nC=3\n", "1:A=1;2:B=2;/3:C=3;/");
    assert_lexed("A=ab\\\ncd\n", "1:A=abcd;/");
}

TEST(a_backslash_joins_the_next_line_to_a_comment) {
    assert_lexed("#A=1 \\\nB=2\nC=3\n", "/3:C=3;/");
}

TEST(a_backslash_elsewhere_is_a_backslash) {
    assert_lexed("A=a\\b\n", "1:A=a\\b;/");
}

TEST(carriage_returns_before_line_feeds_are_passed_over) {
    assert_lexed("A=1\r\nB=2 \\\r\nC=3\r\n\r\n", "1:A=1;/2:B=2;3:C=3;//");
}

TEST(a_byte_order_mark_is_passed_over) {
    assert_lexed("\xef\xbb\xbf"
                 "A=1\n",
                 "1:A=1;/");
}

TEST(include_takes_a_file_at_the_start_of_a_line) {
    assert_lexed("include a/b.conf\nA=1 Include=2\nInclude = x\n",
                 "1:<a/b.conf>/2:A=1;2:Include=2;/3:Include=x;/");
    assert_lexed("Include\n", "1:!Include names no file;/");
}

TEST(a_word_without_equals_sign_is_an_error_and_the_line_goes_on) {
    assert_lexed("A=1 foo B=2\n", "1:A=1;1:!foo;1:B=2;/");
    assert_lexed("=1 B=2\n", "1:!=1;1:B=2;/");
}

TEST(an_open_quote_is_an_error_and_ends_at_the_line) {
    assert_lexed("A=\"x B=2\nC=3\n", "1:!a quote (\") is not closed on its line;/2:C=3;/");
}

TEST(an_empty_value_is_empty) {
    assert_lexed("A=\nB=\"\" C=1\n", "1:A=;/2:B=;2:C=1;/");
}

TEST(a_file_may_end_without_a_line_feed_or_be_empty) {
    assert_lexed("A=1", "1:A=1;");
    assert_lexed("A=", "1:A=;");
    assert_lexed("A", "1:!A;");
    assert_lexed("\\", "1:!\\;");
    assert_lexed("", "");
}

TEST(skipping_a_line_passes_over_its_continuations) {
    char text[] = "A=1 x \\\n y \\\n z\nB=2\n";
    struct conf_lexer lexer;
    struct conf_pair pair;
    conf_lexer_init(&lexer, text, strlen(text));
    assert_int_equal(conf_lexer_next(&lexer, &pair), CONF_LEX_PAIR);
    conf_lexer_skip_line(&lexer);
    assert_int_equal(conf_lexer_next(&lexer, &pair), CONF_LEX_LINE);
    assert_int_equal(conf_lexer_next(&lexer, &pair), CONF_LEX_PAIR);
    assert_int_equal(pair.line, 4);
}

TEST(a_line_longer_than_the_bound_is_an_error) {
    size_t size = CONF_LINE_MAX + 100;
    cleanup_free char *text = xmalloc(size + 1);
    memset(text, ' ', size);
    memcpy(text, "A=1", 3);
    memcpy(text + size - 4, "B=2\n", 4);
    text[size] = '\0';
    cleanup_free char *result = lexed(text);
    assert_string_equal(result, "1:A=1;1:!the line is longer than 1 MiB;/");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_has_several_pairs),
        cmocka_unit_test(blanks_around_the_equals_sign_are_passed_over),
        cmocka_unit_test(a_comment_goes_to_the_end_of_the_line),
        cmocka_unit_test(an_escaped_hash_is_a_hash),
        cmocka_unit_test(quotes_keep_blanks_and_hashes),
        cmocka_unit_test(single_quotes_are_plain_characters),
        cmocka_unit_test(a_backslash_joins_the_next_line),
        cmocka_unit_test(a_backslash_joins_the_next_line_to_a_comment),
        cmocka_unit_test(a_backslash_elsewhere_is_a_backslash),
        cmocka_unit_test(carriage_returns_before_line_feeds_are_passed_over),
        cmocka_unit_test(a_byte_order_mark_is_passed_over),
        cmocka_unit_test(include_takes_a_file_at_the_start_of_a_line),
        cmocka_unit_test(a_word_without_equals_sign_is_an_error_and_the_line_goes_on),
        cmocka_unit_test(an_open_quote_is_an_error_and_ends_at_the_line),
        cmocka_unit_test(an_empty_value_is_empty),
        cmocka_unit_test(a_file_may_end_without_a_line_feed_or_be_empty),
        cmocka_unit_test(skipping_a_line_passes_over_its_continuations),
        cmocka_unit_test(a_line_longer_than_the_bound_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
