/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sacct's rows, window, fields and JSON over records in memory.
 * Covers: columns_acct.c columns_usage.c list_acct.c json_acct.c
 */
#include <stdio.h>
#include <string.h>

#include "cli/columns_acct.h"
#include "cli/json_dump.h"
#include "cli/list_acct.h"
#include "golden.h"
#include "model/usage.h"
#include "sample.h"

#define N_JOBS 6
struct history {
    struct job jobs[N_JOBS];
    struct step steps[4];
    struct usage usage[2];
    struct usage_measure measures[USAGE_KINDS];
    struct acct_job acct[N_JOBS];
    struct rows rows;
};

static struct step sample_step(uint32_t job_id, uint32_t step_id, const char *name) {
    struct step step;
    record_init(&record_step, &step);
    step.job_id = job_id;
    step.step_id = step_id;
    step.name = T(name);
    step.state = JOB_COMPLETED;
    step.start_time = SAMPLE_NOW - 3000;
    step.end_time = SAMPLE_NOW - 1000;
    step.nodes = T("n1");
    step.num_nodes = step.ntasks = 1;
    step.num_cpus = 2;
    step.tres_alloc = T("cpu=2,mem=200M,node=1");
    return step;
}

/* 1 has failed with three steps, 2 was cancelled while it waited, 3 runs, 4 is an array with one
 * task that ran (6), 5 is held. */
static void history_init(struct history *history) {
    memset(history, 0, sizeof(*history));
    struct job *jobs = history->jobs;
    jobs[0] = sample_running(1, "failing", "n1");
    jobs[0].state = JOB_FAILED;
    jobs[0].start_time = SAMPLE_NOW - 3000;
    jobs[0].end_time = SAMPLE_NOW - 1000;
    jobs[0].exit_status = 2 << 8;
    jobs[0].derived_exit = 1 << 8;
    jobs[0].num_cpus = 2;
    jobs[0].tres_req = jobs[0].tres_alloc = T("cpu=2,mem=200M,node=1,billing=2");
    jobs[1] = sample_job(2, "unwanted");
    jobs[1].state = JOB_CANCELLED;
    jobs[1].cancel_uid = 1001;
    jobs[1].eligible_time = jobs[1].submit_time;
    jobs[1].end_time = SAMPLE_NOW - 500;
    jobs[2] = sample_running(3, "going", "n2");
    jobs[3] = sample_job(4, "array");
    jobs[3].array_job_id = 4;
    jobs[3].array_tasks = T("2-5");
    jobs[3].array_limit = 1;
    jobs[3].eligible_time = jobs[3].submit_time;
    jobs[4] = sample_job(5, "held");
    jobs[4].priority = 0;
    jobs[5] = sample_running(6, "array", "n3");
    jobs[5].array_job_id = 4;
    jobs[5].array_task_id = 1;
    jobs[5].state = JOB_COMPLETED;
    jobs[5].end_time = SAMPLE_NOW - 100;
    history->steps[0] = sample_step(1, 0, "first");
    history->steps[1] = sample_step(1, 1, "second");
    history->steps[1].state = JOB_FAILED;
    history->steps[1].exit_status = 1 << 8;
    history->steps[2] = sample_step(1, STEP_BATCH, "batch");
    history->steps[3] = sample_step(1, STEP_EXTERN, "extern");
    static const uint64_t values[] = {548000, 4152, 219460, 0, 28104, 0};
    for (uint32_t i = 0; i < USAGE_KINDS; i++)
        history->measures[i] = (struct usage_measure) {.kind = i + 1,
                                                       .max = values[i],
                                                       .max_node = T("n1"),
                                                       .min = values[i],
                                                       .min_node = T("n1"),
                                                       .sum = values[i]};
    for (size_t i = 0; i < 2; i++) {
        record_init(&record_usage, &history->usage[i]);
        history->usage[i].user_usec = 525000;
        history->usage[i].system_usec = 23000;
        history->usage[i].measures.items = history->measures;
        history->usage[i].measures.n = USAGE_KINDS;
        history->steps[2 * i].usage = &history->usage[i];
    }
    for (size_t i = 0; i < N_JOBS; i++) {
        record_init(&record_acct_job, &history->acct[i]);
        history->acct[i].job = &jobs[i];
        rows_push(&history->rows, &history->acct[i]);
    }
    history->acct[0].steps.items = history->steps;
    history->acct[0].steps.n = 4;
}

static void listing(struct acct_filter *filter, const char *fields, const char *delimiter,
                    struct str *out) {
    struct history history;
    struct rows rows = {NULL, 0, 0};
    struct format format cleanup_format = FORMAT_INIT;
    struct column_env env = sample_env();
    struct error err = ERROR_INIT;
    struct arena arena;
    arena_init(&arena, 0);
    history_init(&history);
    acct_window_set(filter, SAMPLE_NOW, SAMPLE_NOW - 12 * 3600);
    acct_rows_build(filter, &history.rows, &arena, &rows);
    if (format_parse_sacct(&format, &columns_acct, fields, delimiter, false, &err) < 0)
        fail_msg("%s", err.text);
    format_header(&format, out);
    if (!delimiter)
        format_dashes(&format, out);
    for (size_t i = 0; i < rows.n; i++)
        format_row(&format, rows.items[i], &env, out);
    rows_done(&rows);
    rows_done(&history.rows);
    arena_done(&arena);
    acct_filter_done(filter);
}

#define check(filter, fields, expected)                                                            \
    do {                                                                                           \
        struct str out cleanup_str = STR_INIT;                                                     \
        listing(filter, fields, "|", &out);                                                        \
        assert_string_equal(str_cstr(&out), expected);                                             \
    } while (0)

TEST(the_default_table_is_exact) {
    struct acct_filter filter = {.all_users = true};
    struct str out cleanup_str = STR_INIT;
    listing(&filter, "jobid,jobname,partition,account,alloccpus,state,exitcode", NULL, &out);
    golden_check("sacct/default.txt", &out);
}

TEST(every_field_prints) {
    struct acct_filter filter = {.all_users = true};
    struct str fields cleanup_str = STR_INIT, out cleanup_str = STR_INIT;
    for (size_t i = 0; i < columns_acct.n; i++)
        str_join(&fields, ",", columns_acct.rows[i].name);
    strs_split(&filter.ids, "1,2,3,4,5");
    listing(&filter, str_cstr(&fields), "|", &out);
    golden_check("sacct/fields.txt", &out);
}

TEST(steps_come_batch_first_and_can_be_left_out) {
    struct acct_filter steps = {.all_users = true}, none = {.all_users = true, .allocations = true};
    strs_split(&steps.ids, "1");
    check(&steps, "jobid", "JobID\n1\n1.batch\n1.extern\n1.0\n1.1\n");
    strs_split(&none.ids, "1");
    check(&none, "jobid", "JobID\n1\n");
}

TEST(an_id_may_name_a_step_a_task_or_an_array) {
    struct acct_filter step = {.all_users = true}, task = {.all_users = true},
                       array = {.all_users = true};
    strs_split(&step.ids, "1.0,1.batch");
    check(&step, "jobid", "JobID\n1.batch\n1.0\n");
    strs_split(&task.ids, "4_1");
    check(&task, "jobid,jobidraw", "JobID|JobIDRaw\n4_1|6\n");
    strs_split(&array.ids, "4");
    check(&array, "jobid,jobidraw", "JobID|JobIDRaw\n4_1|6\n4_[2-5%1]|4\n");
}

TEST(a_held_job_shows_only_when_asked_for) {
    struct acct_filter all = {.all_users = true, .allocations = true}, one = {.all_users = true};
    check(&all, "jobid", "JobID\n1\n2\n3\n4_1\n4_[2-5%1]\n");
    strs_split(&one.ids, "5");
    check(&one, "jobid,state", "JobID|State\n5|PENDING\n");
}

static void check_states(const char *states, bool window, const char *expected) {
    struct acct_filter filter = {.all_users = true, .allocations = true};
    assert_int_equal(acct_states_parse(&filter, states, NULL), 0);
    if (window) {
        filter.start_given = filter.end_given = true;
        filter.start = SAMPLE_NOW - 2000;
        filter.end = SAMPLE_NOW;
    }
    check(&filter, "jobid", expected);
}

TEST(states_choose_by_what_happened_in_the_window) {
    check_states("R", false, "JobID\n3\n");
    check_states("R", true, "JobID\n1\n3\n4_1\n");
    check_states("F,CA", true, "JobID\n1\n2\n");
    check_states("PD", false, "JobID\n4_[2-5%1]\n");
    check_states("CD", true, "JobID\n4_1\n");
}

TEST(an_unknown_state_is_quoted) {
    struct acct_filter filter = {.all_users = true};
    struct error err = ERROR_INIT;
    assert_true(acct_states_parse(&filter, "R,FOO", &err) < 0);
    assert_string_equal(err.text, "unrecognized job state value 'FOO'");
}

TEST(a_superseded_run_shows_with_duplicates_only) {
    struct history history;
    struct acct_filter filter = {.all_users = true, .allocations = true};
    struct rows rows = {NULL, 0, 0};
    struct arena arena;
    arena_init(&arena, 0);
    history_init(&history);
    history.acct[0].superseded = true;
    strs_split(&filter.ids, "1");
    acct_window_set(&filter, SAMPLE_NOW, 0);
    acct_rows_build(&filter, &history.rows, &arena, &rows);
    assert_int_equal(rows.n, 0);
    rows_done(&history.rows);
    history_init(&history);
    history.acct[0].superseded = true;
    filter.duplicates = true;
    acct_rows_build(&filter, &history.rows, &arena, &rows);
    assert_int_equal(rows.n, 1);
    rows_done(&rows);
    rows_done(&history.rows);
    arena_done(&arena);
    acct_filter_done(&filter);
}

TEST(truncation_cuts_times_to_the_window) {
    struct acct_filter filter = {.all_users = true, .allocations = true, .truncate = true};
    strs_split(&filter.ids, "1");
    filter.start_given = filter.end_given = true;
    filter.start = SAMPLE_NOW - 2000;
    filter.end = SAMPLE_NOW - 1500;
    check(&filter, "elapsedraw", "ElapsedRaw\n500\n");
}

TEST(a_start_with_states_and_no_end_is_an_instant) {
    struct acct_filter filter = {.all_users = true, .allocations = true, .start_given = true};
    filter.start = SAMPLE_NOW - 2000; /* 1 ran then, 2 waited */
    assert_int_equal(acct_states_parse(&filter, "R,F", NULL), 0);
    check(&filter, "jobid", "JobID\n1\n3\n4_1\n");
    struct acct_filter ended = {.all_users = true, .allocations = true, .start_given = true};
    ended.start = SAMPLE_NOW - 2000;
    assert_int_equal(acct_states_parse(&ended, "F", NULL), 0);
    check(&ended, "jobid", "JobID\n");
}

TEST(the_window_is_told_in_words) {
    struct acct_filter filter = {.start_given = true, .end_given = true, .end = SAMPLE_NOW};
    struct str out cleanup_str = STR_INIT;
    setenv("TZ", "UTC", 1);
    acct_window_print(&filter, &out);
    assert_string_equal(str_cstr(&out), "Jobs Eligible in the time window from Epoch 0 to "
                                        "Mon Nov 30 12:00:00 2026");
    str_reset(&out);
    assert_int_equal(acct_states_parse(&filter, "PD,R", NULL), 0);
    filter.start = SAMPLE_NOW;
    acct_window_print(&filter, &out);
    assert_string_equal(str_cstr(&out), "Jobs PENDING,RUNNING in the time window from "
                                        "Mon Nov 30 12:00:00 2026 to Mon Nov 30 12:00:00 2026");
}

TEST(flags_choose_by_who_started_the_job) {
    struct acct_filter main = {.all_users = true, .allocations = true};
    struct acct_filter backfill = {.all_users = true, .allocations = true};
    struct error err = ERROR_INIT;
    assert_int_equal(acct_flags_parse("schedmain,SchedSubmit", &main.flags, NULL), 0);
    check(&main, "jobid", "JobID\n1\n3\n4_1\n");
    assert_int_equal(acct_flags_parse("SchedBackfill", &backfill.flags, NULL), 0);
    check(&backfill, "jobid", "JobID\n");
    assert_true(acct_flags_parse("SchedMain,foo", &main.flags, &err) < 0);
    assert_string_equal(err.text, "foo");
}

TEST(ids_and_ranges_are_checked) {
    struct acct_range range = {0};
    assert_true(acct_id_is_valid("12.batch"));
    assert_true(acct_id_is_valid("12_[1-3]"));
    assert_false(acct_id_is_valid("abc"));
    assert_false(acct_id_is_valid("12x"));
    assert_true(acct_range_parse("2-5", &range));
    assert_int_equal(range.low, 2);
    assert_int_equal(range.high, 5);
    assert_false(acct_range_parse("x", &range));
}

TEST(the_list_of_fields_has_four_in_a_line) {
    struct str out cleanup_str = STR_INIT;
    fields_print(&columns_acct, 19, &out);
    golden_check("sacct/helpformat.txt", &out);
}

TEST(the_json_of_a_job_is_exact) {
    struct history history;
    struct rows one = {NULL, 0, 0};
    struct str out cleanup_str = STR_INIT;
    struct column_env env = sample_env();
    char *argv[] = {T("sacct"), T("--json")};
    setenv("SLURM_JSON", "pretty", 1);
    history_init(&history);
    rows_push(&one, &history.acct[0]);
    json_dump_accounting(&one, "", 2, argv, &env, &out);
    /* Who runs the test stands in the last section. */
    out.length = (size_t) (strstr(out.data, "\"meta\"") - out.data);
    out.data[out.length] = '\0';
    golden_check("sacct/job.json", &out);
    rows_done(&one);
    rows_done(&history.rows);
}

TEST(the_manual_has_every_column) {
    check_manual(columns_acct, "sacct.1.scd");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_table_is_exact),
        cmocka_unit_test(every_field_prints),
        cmocka_unit_test(steps_come_batch_first_and_can_be_left_out),
        cmocka_unit_test(an_id_may_name_a_step_a_task_or_an_array),
        cmocka_unit_test(a_held_job_shows_only_when_asked_for),
        cmocka_unit_test(states_choose_by_what_happened_in_the_window),
        cmocka_unit_test(an_unknown_state_is_quoted),
        cmocka_unit_test(a_superseded_run_shows_with_duplicates_only),
        cmocka_unit_test(truncation_cuts_times_to_the_window),
        cmocka_unit_test(a_start_with_states_and_no_end_is_an_instant),
        cmocka_unit_test(the_window_is_told_in_words),
        cmocka_unit_test(flags_choose_by_who_started_the_job),
        cmocka_unit_test(ids_and_ranges_are_checked),
        cmocka_unit_test(the_list_of_fields_has_four_in_a_line),
        cmocka_unit_test(the_json_of_a_job_is_exact),
        cmocka_unit_test(the_manual_has_every_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
