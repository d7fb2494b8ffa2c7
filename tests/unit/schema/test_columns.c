/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/alloc.h"
#include "schema/columns.h"
#include "unit.h"

struct thing {
    const char *name;
    int64_t size;
};

static void print_name(const void *row, const void *member, struct column_env *env,
                       struct str *out) {
    str_append(out, ((const struct thing *) row)->name);
}
static void print_size(const void *row, const void *member, struct column_env *env,
                       struct str *out) {
    str_printf(out, "%d", (int) ((const struct thing *) row)->size);
}
static void print_whole(const void *row, const void *member, struct column_env *env,
                        struct str *out) {
    env->whole = true;
    print_name(row, member, env, out);
}
static struct sort_value sort_name(const void *row, const void *member,
                                   const struct column_env *env) {
    return sort_text(((const struct thing *) row)->name);
}
static struct sort_value sort_size(const void *row, const void *member,
                                   const struct column_env *env) {
    return sort_signed(((const struct thing *) row)->size);
}

static const struct column rows[] = {
    {'n', "Name", "NAME", NULL, print_name, sort_name, 6, COLUMN_STAR},
    {'s', "Size", "SIZE", NULL, print_size, sort_size, 5, COLUMN_LEFT},
    {'W', "Whole", "WHOLEHEADER", NULL, print_whole, NULL, 4, COLUMN_WHOLE_HEAD},
    {0, "SizeAgain", "AGAIN", NULL, print_size, NULL, 4, 0},
};
static const struct column_table table = {NULL, rows, countof(rows), false};
static const struct thing thing = {"gravel", 12};

/* Header and row of a format, with the unknown names behind them. */
static char *shown(void (*parse)(struct format *, const struct column_table *, const char *,
                                 struct str *),
                   const char *text) {
    struct format format = FORMAT_INIT;
    struct str out cleanup_str = STR_INIT, unknown cleanup_str = STR_INIT;
    struct column_env env = {.now = 0};
    parse(&format, &table, text, &unknown);
    format_header(&format, &out);
    format_row(&format, &thing, &env, &out);
    str_append(&out, str_cstr(&unknown));
    format_done(&format);
    return str_take(&out);
}
#define check(parse, text, expected)                                                               \
    do {                                                                                           \
        cleanup_free char *actual = shown(parse, text);                                            \
        assert_string_equal(actual, expected);                                                     \
    } while (0)

TEST(a_letter_without_width_takes_what_it_needs) {
    check(format_parse_letters, "%n %s", "NAME SIZE\ngravel 12\n");
    check(format_parse_letters, "%0n|%.0s|", "NAME|SIZE|\ngravel|12|\n");
}

TEST(a_width_pads_and_cuts_on_either_side) {
    check(format_parse_letters, "[%8n] [%.8n] [%3n] [%.3n]",
          "[NAME    ] [    NAME] [NAM] [NAM]\n[gravel  ] [  gravel] [gra] [gra]\n");
}

TEST(text_before_the_first_letter_stands_once_a_line) {
    check(format_parse_letters, "{\"id\": %s, \"name\": \"%n\"}",
          "{\"id\": SIZE, \"name\": \"NAME\"}\n{\"id\": 12, \"name\": \"gravel\"}\n");
    check(format_parse_letters, "plain", "plain\nplain\n");
    check(format_parse_letters, "", "\n\n");
}

TEST(an_unknown_letter_is_printed_as_it_stands_and_reported) {
    check(format_parse_letters, "%s %!", "SIZE %!\n12 %!\n!\n");
    check(format_parse_letters, "%s %1", "SIZE %1\n12 %1\n\n");
}

TEST(runs_of_percent_signs_count_as_one) {
    check(format_parse_letters, "%%s %s%%", "SIZE SIZE\n12 12\n");
}

TEST(all_letters_are_joined_by_bars) {
    check(format_parse_letters, "%all", "NAME|SIZE|WHOLEHEADER\ngravel|12|gravel\n");
}

TEST(a_value_may_ask_to_stay_whole) {
    check(format_parse_letters, "%3W|", "WHOLEHEADER|\ngravel|\n");
}

TEST(names_have_width_twenty_unless_a_colon_says_otherwise) {
    check(format_parse_names, "name", "NAME                \ngravel              \n");
    check(format_parse_names,
          "Name:.8,size:4,NAME: ,sizeagain:", "    NAMESIZENAME AGAIN\n  gravel12  gravel 12\n");
    check(format_parse_names, "name:3|,size:###x###", "NAM|SIZE###x###\ngra|12###x###\n");
}

TEST(an_unknown_name_is_left_out_and_reported) {
    check(format_parse_names, "nosuch", "\n\nnosuch\n");
    check(format_parse_names, "size:,nosuch,", "SIZE\n12\nnosuch\n");
}

TEST(a_star_survives_cutting) {
    struct format format cleanup_format = FORMAT_INIT;
    struct str out cleanup_str = STR_INIT, unknown cleanup_str = STR_INIT;
    struct column_env env = {.now = 0};
    const struct thing star = {"main*", 0};
    format_parse_letters(&format, &table, "%.4n|%4n|%5n", &unknown);
    format_row(&format, &star, &env, &out);
    assert_string_equal(str_cstr(&out), "mai*|mai*|main*\n");
}

static char *sacct_shown(const char *text, const char *delimiter, bool trailing) {
    struct format format = FORMAT_INIT;
    struct str out cleanup_str = STR_INIT;
    struct column_env env = {.now = 0};
    struct error err = ERROR_INIT;
    if (format_parse_sacct(&format, &table, text, delimiter, trailing, &err) < 0) {
        format_done(&format);
        return xstrdup(err.text);
    }
    format_header(&format, &out);
    if (!delimiter)
        format_dashes(&format, &out);
    format_row(&format, &thing, &env, &out);
    format_done(&format);
    return str_take(&out);
}
#define check_sacct(text, delimiter, trailing, expected)                                           \
    do {                                                                                           \
        cleanup_free char *actual = sacct_shown(text, delimiter, trailing);                        \
        assert_string_equal(actual, expected);                                                     \
    } while (0)

TEST(sacct_draws_dashes_and_marks_cut_values) {
    check_sacct("name,size", NULL, false, "  NAME SIZE  \n------ ----- \ngravel 12    \n");
    check_sacct("name%4,whole%-13", NULL, false,
                "NAME WHOLEHEADER   \n---- ------------- \ngra+ gravel        \n");
}

TEST(sacct_puts_delimiters_between_or_behind_whole_values) {
    check_sacct("name%4,size", "|", false, "NAME|SIZE\ngravel|12\n");
    check_sacct("name,size", "::", true, "NAME::SIZE::\ngravel::12::\n");
}

TEST(sacct_takes_abbreviations_and_names_what_it_does_not_know) {
    check_sacct("na,SIZ", "|", false, "NAME|SIZE\ngravel|12\n");
    check_sacct("name,xx", "|", false, "Invalid field requested: \"xx\"");
}

TEST(a_fitted_table_is_as_wide_as_what_stands_in_it) {
    static const struct column fitted[] = {
        {0, "Size", "SIZE", NULL, print_size, NULL, 0, 0},
        {0, "Name", "NAME", NULL, print_name, NULL, 0, COLUMN_LEFT},
        {0, "Again", "A", NULL, print_name, NULL, 0, COLUMN_LEFT},
    };
    static const struct column_table fitted_table = {NULL, fitted, countof(fitted), false};
    const struct thing sand = {"sand", 12345};
    const void *const both[] = {&thing, &sand};
    struct format format cleanup_format = FORMAT_INIT;
    struct str out cleanup_str = STR_INIT;
    struct column_env env = {.now = 0};
    format_fit(&format, &fitted_table, both, countof(both), &env);
    format_header(&format, &out);
    for (size_t i = 0; i < countof(both); i++)
        format_row(&format, both[i], &env, &out);
    assert_string_equal(out.data, " SIZE  NAME    A\n"
                                  "   12  gravel  gravel\n"
                                  "12345  sand    sand\n");
}

TEST(rows_sort_by_several_keys_and_stay_stable) {
    static const struct thing a = {"beta-long-name-2", 1}, b = {"beta-long-name-1", -1},
                              c = {"alpha", 1}, d = {"alpha", 1};
    const void *things[] = {&a, &b, &c, &d};
    struct sort_spec spec;
    struct column_env env = {.now = 0};
    assert_int_equal(sort_parse(&spec, &table, "n,-s", NULL), 0);
    rows_sort(&spec, things, 4, &env);
    assert_ptr_equal(things[0], &c);
    assert_ptr_equal(things[1], &d);
    assert_ptr_equal(things[2], &b);
    assert_ptr_equal(things[3], &a);
    assert_int_equal(sort_parse(&spec, &table, "+s,n", NULL), 0);
    rows_sort(&spec, things, 4, &env);
    assert_ptr_equal(things[0], &b);
}

TEST(lines_outlive_their_rows_and_sort_as_the_rows_would) {
    struct sort_spec spec;
    struct column_env env = {.now = 0};
    struct format format = FORMAT_INIT;
    struct str unknown cleanup_str = STR_INIT, text cleanup_str = STR_INIT;
    struct line_table lines;
    char first[] = "beta-long-name-2", second[] = "beta-long-name-1", third[] = "alpha";
    struct thing things[] = {{first, 1}, {second, -1}, {third, 5}, {third, 4}, {second, -1}};
    assert_int_equal(sort_parse(&spec, &table, "n", NULL), 0);
    format_parse_letters(&format, &table, "%n %s", &unknown);
    line_table_init(&lines);
    for (size_t i = 0; i < countof(things); i++)
        line_table_add(&lines, &format, &spec, &things[i], &env);
    memset(first, '#', sizeof(first) - 1); /* the rows are gone */
    memset(second, '#', sizeof(second) - 1);
    memset(things, 0, sizeof(things));
    line_table_sort(&lines, &spec);
    for (size_t i = 0; i < lines.lines.n; i++)
        str_append_bytes(&text, lines.text.data + lines.lines.items[i].start,
                         lines.lines.items[i].length);
    assert_string_equal(str_cstr(&text), "alpha 5\nalpha 4\nbeta-long-name-1 -1\n"
                                         "beta-long-name-1 -1\nbeta-long-name-2 1\n");
    line_table_done(&lines);
    format_done(&format);
}

TEST(sorting_by_an_unknown_letter_is_an_error) {
    struct sort_spec spec;
    struct error err = ERROR_INIT;
    assert_true(sort_parse(&spec, &table, "n,?", &err) < 0);
    assert_string_equal(err.text, "Invalid sort specification: ?");
    assert_true(sort_parse(&spec, &table, "W", &err) < 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_letter_without_width_takes_what_it_needs),
        cmocka_unit_test(a_width_pads_and_cuts_on_either_side),
        cmocka_unit_test(text_before_the_first_letter_stands_once_a_line),
        cmocka_unit_test(an_unknown_letter_is_printed_as_it_stands_and_reported),
        cmocka_unit_test(runs_of_percent_signs_count_as_one),
        cmocka_unit_test(all_letters_are_joined_by_bars),
        cmocka_unit_test(a_value_may_ask_to_stay_whole),
        cmocka_unit_test(names_have_width_twenty_unless_a_colon_says_otherwise),
        cmocka_unit_test(an_unknown_name_is_left_out_and_reported),
        cmocka_unit_test(a_star_survives_cutting),
        cmocka_unit_test(sacct_draws_dashes_and_marks_cut_values),
        cmocka_unit_test(sacct_puts_delimiters_between_or_behind_whole_values),
        cmocka_unit_test(sacct_takes_abbreviations_and_names_what_it_does_not_know),
        cmocka_unit_test(a_fitted_table_is_as_wide_as_what_stands_in_it),
        cmocka_unit_test(rows_sort_by_several_keys_and_stay_stable),
        cmocka_unit_test(lines_outlive_their_rows_and_sort_as_the_rows_would),
        cmocka_unit_test(sorting_by_an_unknown_letter_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
