/* SPDX-License-Identifier: Apache-2.0 */
/* Host lists: expansion, refusals, folding, order, and that folding loses nothing. */
#include "text/hostlist.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "unit.h"

/* The names with blanks between, or the error's sentence. */
static char *expand(const char *text) {
    cleanup_hostlist struct hostlist list = HOSTLIST_INIT;
    struct error err = ERROR_INIT;
    if (hostlist_parse(&list, text, &err) < 0)
        return xstrdup(err.text);
    cleanup_str struct str out = STR_INIT;
    for (size_t i = 0; i < list.n; i++)
        str_join(&out, " ", list.names[i]);
    return str_take(&out);
}

static char *fold(const char *text, bool sort) {
    cleanup_hostlist struct hostlist list = HOSTLIST_INIT;
    cleanup_str struct str out = STR_INIT;
    assert_int_equal(hostlist_parse(&list, text, NULL), 0);
    if (sort)
        hostlist_sort(&list);
    hostlist_fold(&list, &out);
    return str_take(&out);
}

struct sample {
    const char *text, *expected;
};

TEST(lists_expand_in_order) {
    static const struct sample samples[] = {
        {"", ""},
        {"c[01-03,07],login1", "c01 c02 c03 c07 login1"},
        {"n[01-3]", "n01 n02 n03"},
        {"n[9-011]", "n9 n10 n11"},
        {"n[009-11]", "n009 n010 n011"},
        {"n[99-101]", "n99 n100 n101"},
        {"c[1,3]d[1-2]", "c1d1 c1d2 c3d1 c3d2"},
        {"a[1-2][3-4]", "a13 a14 a23 a24"},
        {"n[1-2]-ib", "n1-ib n2-ib"},
        {"c]1", "c]1"},
        {"3,4", "3 4"},
        {"[1-3]", "1 2 3"},
        {"a,b,a", "a b a"},
        {",a,,b,", "a b"},
        {"a b\tc\nd", "a b c d"},
        {"c[1-3,2-4]", "c1 c2 c3 c2 c3 c4"},
        {"c[ 1 , 2 - 3 ]", NULL},
        {"c[ 1 , 2-3 ]", "c1 c2 c3"},
        {"c[18446744073709551614-18446744073709551615]",
         "c18446744073709551614 c18446744073709551615"},
        {"a-[1-2],x:y", "a-1 a-2 x:y"},
    };
    for (size_t i = 0; i < countof(samples); i++) {
        cleanup_free char *names = expand(samples[i].text);
        if (samples[i].expected)
            assert_string_equal(names, samples[i].expected);
        else
            assert_true(str_starts(names, "Invalid hostlist: "));
    }
}

TEST(malformed_lists_are_refused_and_leave_the_list_alone) {
    static const char *const bad[] = {"c[1-5:2]",
                                      "n[3-1]",
                                      "n[1-2",
                                      "a[1-2],b[1",
                                      "c[]",
                                      "c[1,]",
                                      "c[,1]",
                                      "c[1,,2]",
                                      "c[a]",
                                      "c[1-a]",
                                      "c[1-]",
                                      "c[-1]",
                                      "n[1-70000]",
                                      "n[0-65536]",
                                      "c[[1]]",
                                      "c[1-2]]",
                                      "c[99999999999999999999]",
                                      "a[1-1000]b[1-1001]",
                                      "[1][1][1][1][1][1][1][1][1]"};
    cleanup_hostlist struct hostlist list = HOSTLIST_INIT;
    hostlist_push(&list, "old");
    for (size_t i = 0; i < countof(bad); i++) {
        struct error err = ERROR_INIT;
        cleanup_free char *start = xasprintf("Invalid hostlist: %s: ", bad[i]);
        cleanup_free char *text = xasprintf("x,y[1-3],%s", bad[i]);
        assert_int_equal(hostlist_parse(&list, bad[i], &err), -ERR_INVALID);
        assert_true(str_starts(err.text, start));
        assert_int_equal(hostlist_parse(&list, text, NULL), -ERR_INVALID);
        assert_int_equal(list.n, 1);
    }
}

TEST(errors_quote_the_range_that_is_wrong) {
    cleanup_free char *backwards = expand("n[1,3-1]");
    cleanup_free char *too_many = expand("n[1-70000]");
    assert_string_equal(backwards, "Invalid hostlist: n[1,3-1]: Invalid range: `3-1'");
    assert_string_equal(too_many,
                        "Invalid hostlist: n[1-70000]: Too many hosts in range `1-70000'");
}

TEST(limits_bound_names_and_hosts) {
    cleanup_hostlist struct hostlist list = HOSTLIST_INIT;
    cleanup_str struct str text = STR_INIT;
    str_append_fill(&text, 'x', 255);
    assert_int_equal(hostlist_parse(&list, str_cstr(&text), NULL), 0);
    str_append_char(&text, 'x');
    assert_int_equal(hostlist_parse(&list, str_cstr(&text), NULL), -ERR_INVALID);
    assert_int_equal(hostlist_parse(&list, "n[1-65536]", NULL), 0);
    assert_int_equal(list.n, 65537);
    assert_int_equal(hostlist_parse(&list, "a[1-1000]b[1-935]", NULL), -ERR_INVALID);
    assert_int_equal(list.n, 65537);
}

TEST(folding_keeps_the_order_of_the_list) {
    static const struct sample samples[] = {
        {"", ""},
        {"c7", "c7"},
        {"c01,c02,c10,d5", "c[01-02,10],d5"},
        {"x09,x10,x011", "x[09-10,011]"},
        {"x9,x10,x11", "x[9-11]"},
        {"c08,c9,c10", "c[08,9-10]"},
        {"c099,c100", "c[099-100]"},
        {"c99,c100,c101", "c[99-101]"},
        {"c009,c10", "c[009,10]"},
        {"a1b1,a1b2,a2b1", "a1b[1-2],a2b1"},
        {"n1-ib,n2-ib", "n1-ib,n2-ib"},
        {"3,4", "[3-4]"},
        {"1,a1", "1,a1"},
        {"c2,c1", "c[2,1]"},
        {"c5,c4,c3,c4", "c[5,4,3-4]"},
        {"c1,c1", "c[1,1]"},
        {"c[1-4,2]", "c[1-4,2]"},
        {"c1,c01,c001", "c[1,01,001]"},
        {"c0,c00,c000", "c[0,00,000]"},
        {"c1,c,c2", "c1,c,c2"},
        {"a1,a2,b1,b2,a3", "a[1-2],b[1-2],a3"},
        {"C1,c1,c2", "C1,c[1-2]"},
        {"c-1,c-2", "c-[1-2]"},
        {"c18446744073709551614,c18446744073709551615",
         "c[18446744073709551614-18446744073709551615]"},
        {"c99999999999999999998,c99999999999999999999",
         "c99999999999999999998,c99999999999999999999"},
    };
    for (size_t i = 0; i < countof(samples); i++) {
        cleanup_free char *folded = fold(samples[i].text, false);
        assert_string_equal(folded, samples[i].expected);
    }
}

TEST(sorted_lists_fold_as_the_daemons_print_them) {
    static const struct sample samples[] = {
        {"a,b,a", "a,a,b"},
        {"c[1-4,2]", "c[1-2,2-4]"},
        {"c10,c9,c1", "c[1,9-10]"},
        {"c1,d1,c2", "c[1-2],d1"},
        {"c01,c1,c02,c2", "c[1-2,01-02]"},
        {"c1,c,c2", "c,c[1-2]"},
        {"b,a,a1,a01", "a,a[1,01],b"},
        {"c1,c2,c1,c2", "c[1,1-2,2]"},
        {"C1,c1,c2,C2", "C[1-2],c[1-2]"},
        {"x10y1,x9y1", "x9y1,x10y1"},
        {"a10,a9,b1,a010", "a[9-10,010],b1"},
        {"d1,c1,d01,c01", "c[1,01],d[1,01]"},
        {"n1-ib,n2,n1", "n[1-2],n1-ib"},
        {"x01y1,x1y1,x001y1", "x001y1,x01y1,x1y1"},
        {"a-1,a1,a,b,a_1,a.1", "a,a1,a-1,a.1,a_1,b"},
        {"r1n1,r1n10,r1n2,r2n1,r10n1", "r1n[1-2,10],r2n1,r10n1"},
        {"a2,a10b1,a3b1,ab1", "a2,a3b1,a10b1,ab1"},
        {"1,2,a,b,1a", "[1-2],1a,a,b"},
    };
    for (size_t i = 0; i < countof(samples); i++) {
        cleanup_free char *folded = fold(samples[i].text, true);
        assert_string_equal(folded, samples[i].expected);
    }
}

TEST(unique_drops_later_duplicates) {
    cleanup_hostlist struct hostlist list = HOSTLIST_INIT;
    cleanup_str struct str out = STR_INIT;
    assert_int_equal(hostlist_parse(&list, "b,a1,b,a1,a01,c", NULL), 0);
    hostlist_unique(&list);
    hostlist_fold(&list, &out);
    assert_string_equal(str_cstr(&out), "b,a[1,01],c");
}

static void name_random(struct rng *rng, char *name, size_t size) {
    static const char *const prefixes[] = {"", "c", "gpu-", "r1n", "r01n", "x]", "9a", "n1-ib"};
    static const int widths[] = {1, 1, 2, 3, 20, 22};
    const char *prefix = prefixes[rng_below(rng, countof(prefixes))];
    uint64_t number = rng_below(rng, 50) ? rng_below(rng, 120) : rng_next(rng);
    int width = widths[rng_below(rng, countof(widths))];
    snprintf(name, size, "%s%0*lu%s", prefix, width, (unsigned long) number,
             rng_below(rng, 6) ? "" : "x");
}

/* Runs of neighbours among random names: what folding is for. */
static void list_random(struct rng *rng, struct hostlist *list) {
    for (size_t n = rng_below(rng, 40); n > 0; n--) {
        char name[128];
        name_random(rng, name, sizeof(name));
        hostlist_push(list, name);
        unsigned long start = rng_below(rng, 110);
        int width = (int) rng_below(rng, 4);
        for (unsigned long i = 0; i < rng_below(rng, 6); i++) {
            snprintf(name, sizeof(name), "c%0*lu", width, start + i);
            hostlist_push(list, name);
        }
    }
}

static void lists_equal(const struct hostlist *a, const struct hostlist *b) {
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++)
        assert_string_equal(a->names[i], b->names[i]);
}

TEST(parsing_what_was_folded_gives_the_same_list) {
    struct rng rng;
    rng_seed(&rng, 41);
    for (int round = 0; round < 3000; round++) {
        cleanup_hostlist struct hostlist list = HOSTLIST_INIT, again = HOSTLIST_INIT;
        cleanup_str struct str text = STR_INIT;
        list_random(&rng, &list);
        if (round % 2)
            hostlist_sort(&list);
        hostlist_fold(&list, &text);
        assert_int_equal(hostlist_parse(&again, str_cstr(&text), NULL), 0);
        lists_equal(&list, &again);
    }
}

TEST(a_long_range_folds_into_ranges_that_can_be_parsed) {
    cleanup_hostlist struct hostlist list = HOSTLIST_INIT, again = HOSTLIST_INIT;
    cleanup_str struct str text = STR_INIT;
    for (int i = 1; i <= 100000; i++) {
        char name[16];
        snprintf(name, sizeof(name), "n%d", i);
        hostlist_push(&list, name);
    }
    hostlist_fold(&list, &text);
    assert_string_equal(str_cstr(&text), "n[1-65536,65537-100000]");
    assert_int_equal(hostlist_parse(&again, str_cstr(&text), NULL), 0);
    lists_equal(&list, &again);
}

TEST(comparison_is_a_total_order) {
    struct rng rng;
    rng_seed(&rng, 42);
    for (int round = 0; round < 50000; round++) {
        char names[3][128];
        for (int i = 0; i < 3; i++)
            name_random(&rng, names[i], sizeof(names[i]));
        int ab = hostname_compare(names[0], names[1]), bc = hostname_compare(names[1], names[2]);
        int ac = hostname_compare(names[0], names[2]), ba = hostname_compare(names[1], names[0]);
        assert_true((ab < 0) == (ba > 0));
        assert_true((ab == 0) == (strcmp(names[0], names[1]) == 0));
        if (ab <= 0 && bc <= 0)
            assert_true(ac <= 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_expand_in_order),
        cmocka_unit_test(malformed_lists_are_refused_and_leave_the_list_alone),
        cmocka_unit_test(errors_quote_the_range_that_is_wrong),
        cmocka_unit_test(limits_bound_names_and_hosts),
        cmocka_unit_test(folding_keeps_the_order_of_the_list),
        cmocka_unit_test(sorted_lists_fold_as_the_daemons_print_them),
        cmocka_unit_test(unique_drops_later_duplicates),
        cmocka_unit_test(parsing_what_was_folded_gives_the_same_list),
        cmocka_unit_test(a_long_range_folds_into_ranges_that_can_be_parsed),
        cmocka_unit_test(comparison_is_a_total_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
