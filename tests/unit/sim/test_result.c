/* SPDX-License-Identifier: Apache-2.0 */
/* Figures that can be checked by hand. Covers: report.c */
#include "sim/result.h"

#include "base/alloc.h"
#include "sample.h"
#include "sim/report.h"

#define REST " -1 -1 -1 -1 -1 -1\n"

/* Two users on 4 processors; waits are 0, 90, 10, and one job that never starts. */
static void example(struct trace *trace, struct sim_result *result) {
    sample_read(trace,
                "3 0 -1 100 4 -1 -1 4 200 -1 1 7" REST "1 10 -1 5 2 -1 -1 2 60 -1 1 8" REST
                "2 90 -1 100 2 -1 -1 2 200 -1 1 8" REST "9 95 -1 100 2 -1 -1 2 200 -1 1 8" REST,
                4);
    static const int64_t starts[] = {0, 100, 100};
    sim_result_init(result, trace);
    result->procs = 4;
    for (size_t i = 0; i < countof(starts); i++) {
        result->starts[i] = starts[i];
        result->ends[i] = starts[i] + trace->jobs.items[i].run;
    }
}

TEST(figures_are_those_of_the_jobs_that_started) {
    struct trace trace;
    struct sim_result result;
    struct sim_figures figures;
    example(&trace, &result);
    sim_figures(&trace, &result, &figures);
    assert_int_equal(figures.n_jobs, 4);
    assert_int_equal(figures.n_started, 3);
    assert_true(figures.mean_wait == 100.0 / 3);
    assert_int_equal(figures.median_wait, 10);
    assert_int_equal(figures.p95_wait, 90);
    assert_int_equal(figures.max_wait, 90);
    /* 1, 95 / 10 (a job counts as 10 s at least), 110 / 100 */
    assert_true(figures.mean_slowdown > 3.86 && figures.mean_slowdown < 3.87);
    assert_int_equal(figures.makespan, 200);
    assert_true(figures.utilisation == (400.0 + 10 + 200) / (4 * 200));
    sim_result_done(&result);
    trace_done(&trace);
}

TEST(starts_are_printed_by_number_and_hashed_as_printed) {
    struct trace trace;
    struct sim_result result;
    struct sim_figures figures;
    cleanup_str struct str text = STR_INIT;
    example(&trace, &result);
    sim_print_starts(&trace, &result, &text);
    assert_string_equal(text.data, "1 100\n2 100\n3 0\n9 never\n");
    sim_figures(&trace, &result, &figures);
    assert_string_equal(figures.sha256,
                        "75c320175b73e1d136d46cd0acc0d8293051cc423c19fff32408242f4255ca45");
    sim_result_done(&result);
    trace_done(&trace);
}

TEST(users_come_by_what_they_used) {
    struct trace trace;
    struct sim_result result;
    struct sim_users users;
    example(&trace, &result);
    sim_users(&trace, &result, &users);
    assert_int_equal(users.n, 2);
    assert_string_equal(users.items[0].name, "7");
    assert_int_equal(users.items[0].n_jobs, 1);
    assert_true(users.items[0].proc_seconds == 400);
    assert_string_equal(users.items[1].name, "8");
    assert_int_equal(users.items[1].n_jobs, 3);
    assert_int_equal(users.items[1].n_started, 2);
    assert_true(users.items[1].mean_wait == 50);
    assert_int_equal(users.items[1].p95_wait, 90);
    sim_users_done(&users);
    sim_result_done(&result);
    trace_done(&trace);
}

TEST(a_replay_in_which_nothing_starts_has_figures) {
    struct trace trace;
    struct sim_result result;
    struct sim_figures figures;
    example(&trace, &result);
    sim_result_done(&result);
    sim_result_init(&result, &trace);
    sim_figures(&trace, &result, &figures);
    assert_int_equal(figures.n_started, 0);
    assert_true(figures.mean_wait == 0 && figures.utilisation == 0);
    assert_int_equal(figures.makespan, 0);
    sim_result_done(&result);
    trace_done(&trace);
}

TEST(the_same_figures_are_told_as_text_and_as_json) {
    struct trace trace;
    struct sim_result result;
    struct sim_figures figures;
    struct sim_users users;
    struct json json;
    cleanup_str struct str text = STR_INIT, object = STR_INIT;
    example(&trace, &result);
    sim_figures(&trace, &result, &figures);
    sim_users(&trace, &result, &users);
    sim_figures_print(&figures, &text);
    assert_non_null(strstr(text.data, "  mean wait                 33.3 s\n"));
    assert_non_null(strstr(text.data, "  makespan                 200   s (00:03:20)\n"));
    assert_non_null(strstr(text.data, "  never started              1   jobs\n"));
    sim_users_print(&users, &text);
    assert_non_null(strstr(text.data, "\n7                       1         0.1 "));
    json_init(&json, JSON_COMPACT, &object);
    json_object(&json, NULL);
    sim_figures_json(&figures, &json);
    sim_users_json(&users, &json);
    json_end(&json);
    json_finish(&json);
    assert_non_null(strstr(object.data, "\"started\":3,"));
    assert_non_null(strstr(object.data, "\"p95_wait\":90,"));
    assert_non_null(strstr(object.data, "\"users\":[{\"user\":\"7\",\"jobs\":1,\"started\":1,"));
    sim_users_done(&users);
    sim_result_done(&result);
    trace_done(&trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_those_of_the_jobs_that_started),
        cmocka_unit_test(starts_are_printed_by_number_and_hashed_as_printed),
        cmocka_unit_test(users_come_by_what_they_used),
        cmocka_unit_test(a_replay_in_which_nothing_starts_has_figures),
        cmocka_unit_test(the_same_figures_are_told_as_text_and_as_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
