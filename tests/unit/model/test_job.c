/* SPDX-License-Identifier: Apache-2.0 */
/* Written forms of job ids, exit statuses and output paths. */
#include <string.h>

#include "base/alloc.h"
#include "model/job.h"
#include "unit.h"

static void id_is(const struct job *job, size_t max_bytes, const char *text) {
    struct str out cleanup_str = STR_INIT;
    job_id_print(job, max_bytes, &out);
    assert_string_equal(str_cstr(&out), text);
}

TEST(job_ids_are_printed_as_squeue_shows_them) {
    struct job job;
    record_init(&record_job, &job);
    job.job_id = 123;
    id_is(&job, 0, "123");
    job.array_job_id = 120;
    job.array_task_id = 4;
    id_is(&job, 0, "120_4");
    job.array_task_id = 0;
    id_is(&job, 0, "120_0");
    job.array_task_id = UNSET32;
    job.array_tasks = (char *) (uintptr_t) "5-9";
    id_is(&job, 0, "120_[5-9]");
    job.array_limit = 2;
    id_is(&job, 0, "120_[5-9%2]");
    job.array_tasks = (char *) (uintptr_t) "1,3,5,7,9,11,13";
    id_is(&job, 0, "120_[1-13:2%2]");
    job.array_tasks = NULL;
    id_is(&job, 0, "120_[%2]");
}

TEST(a_long_list_of_tasks_is_cut) {
    struct job job;
    struct str out cleanup_str = STR_INIT;
    record_init(&record_job, &job);
    job.array_job_id = 1;
    job.array_tasks =
        (char *) (uintptr_t) "1,3,6,8,11,13,16,18,21,23,26,28,31,33,36,38,41,43,46,48";
    job_id_print(&job, 24, &out);
    assert_non_null(strstr(out.data, "..."));
    assert_true(out.length < 40);
}

static void exit_is(uint32_t status, const char *text) {
    struct str out cleanup_str = STR_INIT;
    exit_status_print(status, &out);
    assert_string_equal(out.data, text);
}

TEST(exit_statuses_are_code_and_signal) {
    exit_is(0, "0:0");
    exit_is(3 << 8, "3:0");
    exit_is(255 << 8, "255:0");
    exit_is(9, "0:9");
    exit_is(9 | 0x80, "0:9"); /* with a core dump */
    exit_is(125, "0:125");
    exit_is(53, "0:53");
    exit_is(UINT32_MAX, "255:127");
}

static void list_is(const uint32_t *counts, size_t n, const char *text) {
    struct str out cleanup_str = STR_INIT;
    counted_list_print(counts, n, &out);
    assert_string_equal(str_cstr(&out), text);
}

TEST(equal_neighbours_in_a_counted_list_are_folded) {
    list_is((const uint32_t[]) {2, 2, 2, 1}, 4, "2(x3),1");
    list_is((const uint32_t[]) {4}, 1, "4");
    list_is((const uint32_t[]) {1, 2, 1}, 3, "1,2,1");
    list_is((const uint32_t[]) {0, 0, UINT32_MAX}, 3, "0(x2),4294967295");
    list_is(NULL, 0, "");
}

static const struct path_names batch = {.job_id = 77,
                                        .array_task_id = UNSET32,
                                        .step_id = STEP_BATCH,
                                        .restarts = 2,
                                        .node_name = "c01.example.org",
                                        .node_index = 0,
                                        .user_name = "ada",
                                        .job_name = "my job",
                                        .work_dir = "/home/ada"};

static void path_is(const char *pattern, const struct path_names *names, const char *text) {
    struct str out cleanup_str = STR_INIT;
    output_path_expand(pattern, names, &out);
    assert_string_equal(str_cstr(&out), text);
}

TEST(every_symbol_of_a_pattern_is_expanded) {
    path_is("/o-%j", &batch, "/o-77");
    path_is("/o-%A_%a", &batch, "/o-77_4294967294"); /* no array */
    path_is("/o-%b", &batch, "/o-4");
    path_is("/o-%J", &batch, "/o-77");
    path_is("/o-%s", &batch, "/o-batch");
    path_is("/o-%N", &batch, "/o-c01");
    path_is("/o-%n-%t", &batch, "/o-0-0");
    path_is("/o-%r", &batch, "/o-2");
    path_is("/o-%u-%x", &batch, "/o-ada-my job");
    path_is("/o%%%%", &batch, "/o%%");
    struct path_names task = batch;
    task.array_job_id = 70;
    task.array_task_id = 13;
    task.step_id = 3;
    task.task_id = 5;
    task.node_index = 1;
    path_is("/o-%A_%a-%b-%j", &task, "/o-70_13-3-77");
    path_is("/o-%J.%s.%t.%n", &task, "/o-77.3.3.5.1");
}

TEST(digits_pad_numbers_to_at_most_ten_places) {
    path_is("/%5j", &batch, "/00077");
    path_is("/%1j", &batch, "/77");
    path_is("/%10j", &batch, "/0000000077");
    path_is("/%11j", &batch, "/0000000077");
    path_is("/%99999999999j", &batch, "/0000000077");
    path_is("/%4t", &batch, "/0000");
}

TEST(a_backslash_switches_expansion_off) {
    path_is("/o-\\%j", &batch, "/o-%j");
    path_is("/%j/\\x", &batch, "/%j/x");
    path_is("/a\\\\%j", &batch, "/a\\%j");
    path_is("/end\\", &batch, "/end");
}

TEST(relative_paths_are_under_the_work_directory) {
    path_is("out.%j", &batch, "/home/ada/out.77");
    path_is("./out", &batch, "/home/ada/./out");
    struct path_names top = batch;
    top.work_dir = "/";
    path_is("out", &top, "/out");
    top.work_dir = NULL;
    path_is("out", &top, "out");
}

TEST(what_is_no_symbol_stays) {
    path_is("/%z%", &batch, "/%z%");
    path_is("/%5", &batch, "/%5");
    path_is("/%5%", &batch, "/%5%");
    path_is("", &batch, "/home/ada/");
}

TEST(scontrol_expands_what_is_known_of_the_job_and_leaves_the_rest) {
    struct path_names shown = batch;
    shown.leave_node_parts = true;
    path_is("./o-%j-%A-%x-%u-%a", &shown, "/home/ada/./o-77-77-my job-ada-4294967294");
    path_is("/%N-%J-%n-%t-%y-%%-%5j", &shown, "/%N-%J-%n-%t-%y-%%-%5j");
}

TEST(names_that_are_not_known_are_empty) {
    struct path_names bare = {.job_id = 1, .array_task_id = UNSET32, .step_id = STEP_BATCH};
    path_is("/%N%u%x.", &bare, "/.");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(job_ids_are_printed_as_squeue_shows_them),
        cmocka_unit_test(a_long_list_of_tasks_is_cut),
        cmocka_unit_test(exit_statuses_are_code_and_signal),
        cmocka_unit_test(equal_neighbours_in_a_counted_list_are_folded),
        cmocka_unit_test(every_symbol_of_a_pattern_is_expanded),
        cmocka_unit_test(digits_pad_numbers_to_at_most_ten_places),
        cmocka_unit_test(a_backslash_switches_expansion_off),
        cmocka_unit_test(relative_paths_are_under_the_work_directory),
        cmocka_unit_test(what_is_no_symbol_stays),
        cmocka_unit_test(scontrol_expands_what_is_known_of_the_job_and_leaves_the_rest),
        cmocka_unit_test(names_that_are_not_known_are_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
