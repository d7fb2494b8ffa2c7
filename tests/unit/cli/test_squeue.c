/* SPDX-License-Identifier: Apache-2.0 */
/*
 * squeue's tables, filters and JSON over records in memory.
 * Covers: columns_job.c json_job.c json_dump.c json_writer.c list.c list_jobs.c
 */
#include <stdio.h>
#include <string.h>

#include "cli/columns_job.h"
#include "cli/json_dump.h"
#include "cli/list_jobs.h"
#include "golden.h"
#include "sample.h"

#define LAYOUT "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R"
#define N_JOBS 8

/* One job of each kind that prints differently. */
static void sample_fill(struct job jobs[N_JOBS]) {
    jobs[0] = sample_running(1, "first", "n[1-4]");
    jobs[0].num_nodes = 4;
    jobs[0].time_limit = 90;
    jobs[0].end_time = jobs[0].start_time + 90 * 60;
    jobs[1] = sample_job(2, "second");
    jobs[1].reason = REASON_RESOURCES;
    jobs[2] = sample_job(3, "a-long-job-name");
    jobs[2].reason = REASON_HELD_USER;
    jobs[2].priority = 0;
    jobs[3] = sample_job(4, "array");
    jobs[3].array_job_id = 4;
    jobs[3].array_tasks = T("1,3,5-9");
    jobs[3].array_limit = 2;
    jobs[3].reason = REASON_ARRAY_TASK_LIMIT;
    jobs[4] = sample_running(5, "array", "n1");
    jobs[4].array_job_id = 4;
    jobs[4].array_task_id = 0;
    jobs[5] = sample_job(6, "elsewhere");
    jobs[5].partition = T("short");
    jobs[5].user_name = T("bob");
    jobs[5].uid = 1002;
    jobs[5].reason = REASON_DEPENDENCY;
    jobs[5].dependency = T("afterok:1(unfulfilled)");
    jobs[6] = sample_running(7, "ending", "n2");
    jobs[6].state = JOB_COMPLETED;
    jobs[6].flags = JOB_FLAG_COMPLETING;
    jobs[6].end_time = SAMPLE_NOW - 2;
    jobs[7] = sample_running(8, "failed", "n2");
    jobs[7].state = JOB_FAILED;
    jobs[7].end_time = SAMPLE_NOW - 2;
    jobs[7].exit_status = 3 << 8;
    jobs[7].reason = REASON_NON_ZERO_EXIT;
}

static void listing(const char *letters, const char *names, const char *sort,
                    const struct job_query *query, struct str *out) {
    struct job jobs[N_JOBS];
    struct rows rows = {NULL, 0, 0};
    struct format format cleanup_format = FORMAT_INIT;
    struct str unknown cleanup_str = STR_INIT;
    struct sort_spec spec;
    struct column_env env = sample_env();
    struct job_columns_data data = {false};
    struct arena arena;
    arena_init(&arena, 0);
    env.data = &data;
    sample_fill(jobs);
    for (size_t i = 0; i < N_JOBS; i++)
        rows_push(&rows, &jobs[i]);
    job_query_choose(query, NULL, &rows);
    rows_unfold(&rows, query, &arena);
    if (names)
        format_parse_names(&format, &columns_job, names, &unknown);
    else
        format_parse_letters(&format, &columns_job, letters, &unknown);
    assert_int_equal(unknown.length, 0);
    assert_int_equal(sort_parse(&spec, &columns_job, sort, NULL), 0);
    rows_sort(&spec, rows.items, rows.n, &env);
    format_header(&format, out);
    for (size_t i = 0; i < rows.n; i++)
        format_row(&format, rows.items[i], &env, out);
    rows_done(&rows);
    arena_done(&arena);
}

static const struct job_query everything = {.states = {.all = true}};
static const struct job_query active = {.states = {.active = true}};

TEST(the_default_table_is_exact) {
    struct str out cleanup_str = STR_INIT;
    listing(LAYOUT, NULL, "P,t,-p", &active, &out);
    golden_check("squeue/default.txt", &out);
}

TEST(the_long_table_is_exact) {
    struct str out cleanup_str = STR_INIT;
    listing("%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R", NULL, "P,t,-p", &everything, &out);
    golden_check("squeue/long.txt", &out);
}

TEST(every_letter_prints) {
    struct str out cleanup_str = STR_INIT;
    listing("%all", NULL, "i", &everything, &out);
    golden_check("squeue/all.txt", &out);
}

TEST(every_name_prints) {
    struct str names cleanup_str = STR_INIT, out cleanup_str = STR_INIT;
    for (size_t i = 0; i < columns_job.n; i++)
        str_printf(&names, "%s:|,", columns_job.rows[i].name);
    listing(NULL, str_cstr(&names), "i", &everything, &out);
    golden_check("squeue/names.txt", &out);
}

TEST(an_array_unfolds_into_its_tasks) {
    struct job_query query = active;
    struct str out cleanup_str = STR_INIT;
    query.unfold = true;
    listing("%i %A %F %K %t %R", NULL, "i", &query, &out);
    golden_check("squeue/unfolded.txt", &out);
}

TEST(an_id_of_a_task_shows_that_task_alone) {
    struct job_query query = {.states = {.all = true}};
    struct str out cleanup_str = STR_INIT;
    strs_split(&query.ids, "4_3,4_0,8");
    listing("%i %K %t", NULL, "i", &query, &out);
    assert_string_equal(str_cstr(&out), "JOBID ARRAY_TASK_ID ST\n4_0 0 R\n4_3 3 PD\n8 N/A F\n");
    strs_done(&query.ids);
}

TEST(an_arrays_id_shows_all_of_it) {
    struct job_query query = {.states = {.all = true}};
    struct str out cleanup_str = STR_INIT;
    strs_split(&query.ids, "4");
    listing("%i", NULL, "i", &query, &out);
    assert_string_equal(str_cstr(&out), "JOBID\n4_0\n4_[1,3,5-9%2]\n");
    strs_done(&query.ids);
}

TEST(a_base_state_means_exactly_that_and_a_flag_its_bit) {
    struct job_states states = {0};
    assert_int_equal(job_states_parse(&states, "cd,R", NULL), 0);
    assert_true(job_states_match(&states, JOB_COMPLETED, 0));
    assert_false(job_states_match(&states, JOB_COMPLETED, JOB_FLAG_COMPLETING));
    assert_false(job_states_match(&states, JOB_PENDING, 0));
    states = (struct job_states) {0};
    assert_int_equal(job_states_parse(&states, "completing", NULL), 0);
    assert_true(job_states_match(&states, JOB_COMPLETED, JOB_FLAG_COMPLETING));
    assert_false(job_states_match(&states, JOB_COMPLETED, 0));
}

TEST(an_unknown_state_is_named) {
    struct job_states states = {0};
    struct error err = ERROR_INIT;
    assert_true(job_states_parse(&states, "R,FOO", &err) < 0);
    assert_string_equal(err.text, "Invalid job state specified: FOO");
}

TEST(filters_work_together) {
    struct job_query query = {.states = {.all = true}};
    struct str out cleanup_str = STR_INIT;
    strs_split(&query.partitions, "short,nope");
    strs_split(&query.names, "elsewhere,first");
    listing("%j", NULL, "i", &query, &out);
    assert_string_equal(str_cstr(&out), "NAME\nelsewhere\n");
    strs_done(&query.partitions);
    strs_done(&query.names);
}

TEST(a_waiting_job_in_two_partitions_shows_twice_on_request) {
    struct job job = sample_job(9, "both");
    struct rows rows = {NULL, 0, 0};
    struct arena arena;
    arena_init(&arena, 0);
    job.partition = T("main,short");
    rows_push(&rows, &job);
    rows_unfold(&rows, &(struct job_query) {.per_partition = true}, &arena);
    assert_int_equal(rows.n, 2);
    assert_string_equal(((const struct job *) rows.items[0])->partition, "main");
    assert_string_equal(((const struct job *) rows.items[1])->partition, "short");
    rows_done(&rows);
    arena_done(&arena);
}

TEST(ids_must_begin_with_a_number_that_exists) {
    assert_true(job_id_is_valid("12"));
    assert_true(job_id_is_valid("12_[1-3]"));
    assert_true(job_id_is_valid("12.batch"));
    assert_false(job_id_is_valid("abc"));
    assert_false(job_id_is_valid("0"));
    assert_false(job_id_is_valid("4294967296"));
    assert_false(job_id_is_valid("-1"));
}

TEST(time_used_leaves_suspensions_out) {
    struct job job = sample_running(1, "x", "n1");
    assert_int_equal(job_run_seconds(&job, SAMPLE_NOW), 3723);
    job.state = JOB_SUSPENDED;
    job.suspend_time = SAMPLE_NOW - 100;
    job.pre_suspend_seconds = 50;
    assert_int_equal(job_run_seconds(&job, SAMPLE_NOW), 50);
    job.state = JOB_RUNNING;
    assert_int_equal(job_run_seconds(&job, SAMPLE_NOW), 150);
}

TEST(steps_have_their_own_table) {
    struct step step;
    struct format format cleanup_format = FORMAT_INIT;
    struct str out cleanup_str = STR_INIT, unknown cleanup_str = STR_INIT;
    struct column_env env = sample_env();
    record_init(&record_step, &step);
    step.job_id = 5;
    step.array_job_id = 4;
    step.array_task_id = 0;
    step.step_id = STEP_BATCH;
    step.name = T("batch");
    step.partition = T("main");
    step.user_name = T("alice");
    step.nodes = T("n1");
    step.start_time = SAMPLE_NOW - 59;
    format_parse_letters(&format, &columns_step, "%.15i %.8j %.9P %.8u %.9l %.9M %N", &unknown);
    format_header(&format, &out);
    format_row(&format, &step, &env, &out);
    golden_check("squeue/steps.txt", &out);
}

TEST(the_json_of_a_job_is_exact) {
    struct job jobs[N_JOBS];
    struct job_node node;
    struct str out cleanup_str = STR_INIT;
    struct column_env env = sample_env();
    struct json json;
    sample_fill(jobs);
    record_init(&record_job_node, &node);
    node.name = T("n1");
    node.cpus = 2;
    node.mem = 200;
    node.cores = T("0-1");
    jobs[4].allocation.items = &node;
    jobs[4].allocation.n = 1;
    json_init(&json, JSON_PRETTY, &out);
    json_array(&json, NULL);
    json_job(&json, &jobs[4], &env);
    json_job(&json, &jobs[7], &env);
    json_end(&json);
    json_finish(&json);
    golden_check("squeue/jobs.json", &out);
    str_reset(&out);
    json_init(&json, JSON_YAML, &out);
    json_object(&json, NULL);
    json_array(&json, "jobs");
    json_job(&json, &jobs[4], &env);
    json_job(&json, &jobs[7], &env);
    json_end(&json);
    json_end(&json);
    json_finish(&json);
    golden_check("squeue/jobs.yaml", &out);
}

TEST(the_manual_has_every_column) {
    check_manual(columns_job, "squeue.1.scd");
    check_manual(columns_step, "squeue.1.scd");
}

static bool names_step(const char *id, uint32_t job_id, uint32_t step_id) {
    struct job_query query = {.states = {.all = true}};
    struct step step;
    record_init(&record_step, &step);
    step.job_id = job_id;
    step.step_id = step_id;
    strs_split(&query.ids, id);
    bool named = job_query_match_step(&query, &step, NULL);
    strs_done(&query.ids);
    return named;
}

TEST(a_step_of_a_component_is_named_by_the_jobs_number_and_its_place) {
    assert_true(names_step("20+1.3", 21, 3));
    assert_true(names_step("20+1", 21, 3));
    assert_true(names_step("21.3", 21, 3));
    assert_false(names_step("20+1.2", 21, 3));
    assert_false(names_step("20+1", 20, 3));
    assert_false(names_step("20", 21, 3));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_table_is_exact),
        cmocka_unit_test(the_long_table_is_exact),
        cmocka_unit_test(every_letter_prints),
        cmocka_unit_test(every_name_prints),
        cmocka_unit_test(an_array_unfolds_into_its_tasks),
        cmocka_unit_test(an_id_of_a_task_shows_that_task_alone),
        cmocka_unit_test(an_arrays_id_shows_all_of_it),
        cmocka_unit_test(a_base_state_means_exactly_that_and_a_flag_its_bit),
        cmocka_unit_test(an_unknown_state_is_named),
        cmocka_unit_test(filters_work_together),
        cmocka_unit_test(a_waiting_job_in_two_partitions_shows_twice_on_request),
        cmocka_unit_test(ids_must_begin_with_a_number_that_exists),
        cmocka_unit_test(time_used_leaves_suspensions_out),
        cmocka_unit_test(steps_have_their_own_table),
        cmocka_unit_test(a_step_of_a_component_is_named_by_the_jobs_number_and_its_place),
        cmocka_unit_test(the_json_of_a_job_is_exact),
        cmocka_unit_test(the_manual_has_every_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
