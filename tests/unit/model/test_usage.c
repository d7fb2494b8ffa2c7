/* SPDX-License-Identifier: Apache-2.0 */
/* Covers: model/usage.c */
#include "unit.h"

#include "base/alloc.h"
#include "model/usage.h"

static struct usage_measure measures[2];

static struct usage usage_of(const char *node, uint32_t first_task, uint64_t a, uint64_t b) {
    struct usage usage;
    char *name = (char *) (uintptr_t) node;

    record_init(&record_usage, &usage);
    measures[0] = (struct usage_measure) {.kind = USAGE_RSS, .max_node = name, .min_node = name};
    usage_measure_task(&measures[0], first_task, a, true);
    usage_measure_task(&measures[0], first_task + 1, b, false);
    measures[1] = (struct usage_measure) {.kind = USAGE_PAGES, .max_node = name, .min_node = name};
    usage.measures.items = measures;
    usage.measures.n = 2;
    usage.user_usec = 10;
    usage.oom_kills = 1;
    return usage;
}

TEST(the_sum_of_two_nodes_knows_who_had_most_and_least) {
    struct usage sum, one = usage_of("n1", 0, 30, 20);

    record_init(&record_usage, &sum);
    usage_add(&sum, &one);
    struct usage two = usage_of("n2", 2, 10, 70);
    usage_add(&sum, &two);
    const struct usage_measure *rss = usage_measure(&sum, USAGE_RSS);
    assert_non_null(rss);
    assert_int_equal(rss->max, 70);
    assert_int_equal(rss->max_task, 3);
    assert_string_equal(rss->max_node, "n2");
    assert_int_equal(rss->min, 10);
    assert_int_equal(rss->min_task, 2);
    assert_string_equal(rss->min_node, "n2");
    assert_int_equal(rss->sum, 130);
    assert_int_equal(sum.user_usec, 20);
    assert_int_equal(sum.oom_kills, 2);
    assert_null(usage_measure(&sum, USAGE_CPU));
    record_done(&record_usage, &sum);
}

TEST(of_equals_the_first_task_counts_whoever_reports_first) {
    struct usage sum, late = usage_of("n2", 2, 5, 5);

    record_init(&record_usage, &sum);
    usage_add(&sum, &late);
    struct usage early = usage_of("n1", 0, 5, 5);
    usage_add(&sum, &early);
    const struct usage_measure *rss = usage_measure(&sum, USAGE_RSS);
    assert_string_equal(rss->max_node, "n1");
    assert_int_equal(rss->max_task, 0);
    assert_string_equal(rss->min_node, "n1");
    record_done(&record_usage, &sum);
}

TEST(nothing_measured_is_no_figure) {
    struct usage_measure energy;

    assert_null(usage_measure(NULL, USAGE_RSS));
    usage_energy(NULL, &energy);
    assert_int_equal(energy.max, 0);
    assert_null(energy.max_node);
}

TEST(an_interval_is_a_number_or_a_list_by_name) {
    struct error err = ERROR_INIT;
    uint32_t task = 30;

    assert_int_equal(acctg_freq_parse("5", &task, &err), 0);
    assert_int_equal(task, 5);
    assert_int_equal(acctg_freq_parse("energy=3,Task=7", &task, &err), 0);
    assert_int_equal(task, 7);
    assert_int_equal(acctg_freq_parse("network=3", &task, &err), 0);
    assert_int_equal(task, 7);
    assert_int_equal(acctg_freq_parse("0", &task, &err), 0);
    assert_int_equal(task, 0);
}

TEST(an_interval_of_anything_else_changes_nothing) {
    static const char *const wrong[] = {"", "foo", "task=", "task=x", "bar=3", "-1", "70000", "3s"};
    uint32_t task = 30;

    for (size_t i = 0; i < countof(wrong); i++) {
        struct error err = ERROR_INIT;
        assert_true(acctg_freq_parse(wrong[i], &task, &err) < 0);
        assert_int_equal(task, 30);
        assert_true(err.text[0] != '\0');
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sum_of_two_nodes_knows_who_had_most_and_least),
        cmocka_unit_test(of_equals_the_first_task_counts_whoever_reports_first),
        cmocka_unit_test(nothing_measured_is_no_figure),
        cmocka_unit_test(an_interval_is_a_number_or_a_list_by_name),
        cmocka_unit_test(an_interval_of_anything_else_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
