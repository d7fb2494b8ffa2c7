/* SPDX-License-Identifier: Apache-2.0 */
/* Feature expressions: shape, refusals, which nodes may serve. */
#include "text/constraint.h"

#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "unit.h"

static void cleanup_expression(struct constraint **constraint) {
    constraint_free(*constraint);
}
#define cleanup_constraint cleanup(cleanup_expression)

/* Prefix notation: (& a (| b c)*2). */
static void shape_append(const struct constraint *constraint, struct str *out) {
    static const char *const symbols[] = {"", "&", "|", "^"};
    if (constraint->op == CONSTRAINT_NAME) {
        str_append(out, constraint->name);
    } else {
        str_printf(out, "(%s", symbols[constraint->op]);
        for (size_t i = 0; i < constraint->n_parts; i++) {
            str_append_char(out, ' ');
            shape_append(constraint->parts[i], out);
        }
        str_append_char(out, ')');
    }
    if (constraint->count)
        str_printf(out, "*%u", constraint->count);
}

TEST(expressions_group_from_the_left) {
    static const struct {
        const char *text, *shape;
    } cases[] = {
        {"a", "a"},
        {"a&b&c", "(& a b c)"},
        {"a|b|c", "(| a b c)"},
        {"a,b", "(& a b)"},
        {"a|b&c", "(& (| a b) c)"},
        {"a&b|c", "(| (& a b) c)"},
        {"a|(b&c)", "(| a (& b c))"},
        {"(a|b)|c", "(| (| a b) c)"},
        {"((a))", "a"},
        {"(a|b)*2", "(| a b)*2"},
        {"a*2", "a*2"},
        {"a*2&b*1", "(& a*2 b*1)"},
        {"[a*2&b*4]", "(& a*2 b*4)"},
        {"[a|b|c]", "(^ a b c)"},
        {"[a|b]&c", "(& (^ a b) c)"},
        {"c&[a|b]", "(& c (^ a b))"},
        {"([a|b])", "(^ a b)"},
        {"[a]", "a"},
        {"[(a&b)|c]", "(^ (& a b) c)"},
        {"[(a|b)]", "(| a b)"},
        {"[(a|b)|c]", "(^ (| a b) c)"},
        {"a&", "a"},
        {"a&b,", "(& a b)"},
        {"cpu-2.4_x:y=z", "cpu-2.4_x:y=z"},
    };
    for (size_t i = 0; i < countof(cases); i++) {
        cleanup_constraint struct constraint *constraint = NULL;
        cleanup_str struct str shape = STR_INIT;
        struct error err = ERROR_INIT;
        if (constraint_parse(cases[i].text, &constraint, &err) < 0)
            fail_msg("%s", err.text);
        shape_append(constraint, &shape);
        assert_string_equal(str_cstr(&shape), cases[i].shape);
    }
}

TEST(malformed_expressions_are_refused) {
    static const char *const bad[] = {
        "&a",      "a&&b",        "a|",        "|a",      "(a",
        "a)",      "[a",          "a]",        "a b",     "a*0",
        "a*",      "a*x",         "a*1000001", "!a",      "()",
        "[]",      "[a|b]&[c|d]", "[[a]]",     "[a&b]",   "[a*2|b*3]",
        "a(b)",    "(a)b",        "[a|b]*2",   "[a|b&c]", "a*2*3",
        "(a*2)*3", "(a&)",        "a\x01",     "\"a\"",   "((((((((((((((((((a))))))))))))))))))"};
    for (size_t i = 0; i < countof(bad); i++) {
        struct constraint *constraint = NULL;
        struct error err = ERROR_INIT;
        if (constraint_parse(bad[i], &constraint, &err) != -ERR_INVALID_FEATURE)
            fail_msg("%s was accepted", bad[i]);
        assert_null(constraint);
        assert_true(str_starts(err.text, "Invalid feature specification"));
    }
}

TEST(an_empty_text_is_no_constraint) {
    struct constraint *constraint = (struct constraint *) &constraint;
    assert_int_equal(constraint_parse("", &constraint, NULL), 0);
    assert_null(constraint);
    constraint_free(constraint);
}

/* A node's features are the letters of a string. */
static bool has_letter(const char *name, void *context) {
    return strchr((const char *) context, name[0]) != NULL;
}

TEST(nodes_match_by_their_features) {
    static const struct {
        const char *text, *features;
        bool matches;
    } cases[] = {
        {"a&b", "ab", true},      {"a&b", "a", false},   {"a|b", "b", true},
        {"a|b", "c", false},      {"a|b&c", "a", false}, {"a|b&c", "ac", true},
        {"a|(b&c)", "a", true},   {"[a|b]", "b", true},  {"[a|b]&c", "b", false},
        {"a*2", "", true},        {"a*2&b", "", false},  {"a*2&b", "b", true},
        {"[a*2&b*4]", "c", true}, {"", "", true},
    };
    for (size_t i = 0; i < countof(cases); i++) {
        cleanup_constraint struct constraint *constraint = NULL;
        assert_int_equal(constraint_parse(cases[i].text, &constraint, NULL), 0);
        assert_int_equal(constraint_matches(constraint, has_letter, (void *) cases[i].features),
                         cases[i].matches);
    }
}

static void name_append(const char *name, void *context) {
    str_join(context, " ", name);
}

TEST(every_name_is_visited_once) {
    cleanup_constraint struct constraint *constraint = NULL;
    cleanup_str struct str names = STR_INIT;
    assert_int_equal(constraint_parse("(a|b)*2&[c|d]&a", &constraint, NULL), 0);
    constraint_names(constraint, name_append, &names);
    assert_string_equal(str_cstr(&names), "a b c d a");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_group_from_the_left),
        cmocka_unit_test(malformed_expressions_are_refused),
        cmocka_unit_test(an_empty_text_is_no_constraint),
        cmocka_unit_test(nodes_match_by_their_features),
        cmocka_unit_test(every_name_is_visited_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
