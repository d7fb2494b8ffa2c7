/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which records answer a question to the accounting.
 * Covers: acct_match.c job_ref.c
 */
#include "unit.h"

#include "model/acct_match.h"
#include "model/job_ref.h"

#define T(text) ((char *) (uintptr_t) (text))

static struct job sample(void) {
    struct job job;
    record_init(&record_job, &job);
    job.job_id = 12;
    job.uid = 1001;
    job.state = JOB_COMPLETED;
    job.account = T("physics");
    job.qos = T("normal");
    job.name = T("train");
    job.partition = T("main,short");
    job.submit_time = 100;
    job.end_time = 200;
    return job;
}

static struct acct_query question(void) {
    struct acct_query query;
    record_init(&record_acct_query, &query);
    query.all_users = true;
    return query;
}

/* Whether a job matches with this one word in a list of the question. */
static bool matches(struct strs *list, const struct acct_query *query, const char *word) {
    struct job job = sample();
    char *words[] = {T(word)};
    *list = (struct strs) {words, 1};
    bool result = acct_query_match(query, &job);
    *list = (struct strs) {0};
    return result;
}

TEST(lists_name_what_a_job_has) {
    struct acct_query query = question();
    assert_true(matches(&query.accounts, &query, "Physics"));
    assert_false(matches(&query.accounts, &query, "physic"));
    assert_true(matches(&query.qos, &query, "NORMAL"));
    assert_true(matches(&query.names, &query, "train"));
    assert_false(matches(&query.names, &query, "Train"));
    assert_true(matches(&query.partitions, &query, "short"));
    assert_false(matches(&query.partitions, &query, "main,short"));
    assert_true(matches(&query.ids, &query, "12"));
    assert_true(matches(&query.ids, &query, "12.batch"));
    assert_false(matches(&query.ids, &query, "12_1"));
    assert_false(matches(&query.ids, &query, "13"));
}

TEST(users_and_states_choose) {
    struct acct_query query = question();
    struct job job = sample();
    uint32_t uids[] = {1002};
    query.states = 1u << JOB_FAILED;
    assert_false(acct_query_match(&query, &job));
    query.states |= 1u << JOB_COMPLETED;
    assert_true(acct_query_match(&query, &job));
    query.uids = (struct u32s) {uids, 1};
    assert_true(acct_query_match(&query, &job)); /* all users */
    query.all_users = false;
    assert_false(acct_query_match(&query, &job));
    uids[0] = 1001;
    assert_true(acct_query_match(&query, &job));
}

TEST(a_window_takes_what_was_there_at_some_time_of_it) {
    struct acct_query query = question();
    struct job job = sample();
    assert_true(acct_query_in_window(&query, &job, 1000));
    query.start = 201;
    assert_false(acct_query_in_window(&query, &job, 1000));
    job.state = JOB_RUNNING; /* end_time is when it will have to end */
    assert_true(acct_query_in_window(&query, &job, 1000));
    query.start = 0;
    query.end = 99;
    assert_false(acct_query_in_window(&query, &job, 1000));
    query.end = 100;
    assert_true(acct_query_in_window(&query, &job, 1000));
}

TEST(a_reference_names_a_job_its_tasks_or_an_array) {
    struct job_ref ref;
    struct job task = sample(), rest = sample();
    task.array_job_id = rest.array_job_id = rest.job_id = 10;
    task.array_task_id = 3;
    rest.array_tasks = T("5-9");
    assert_true(job_ref_parse("10", &ref) && job_ref_match(&ref, &task));
    assert_true(job_ref_parse("10_3.0", &ref) && job_ref_match(&ref, &task));
    assert_string_equal(ref.step, "0");
    assert_true(job_ref_parse("10_[1-4]", &ref) && job_ref_match(&ref, &task));
    assert_false(job_ref_match(&ref, &rest));
    assert_true(job_ref_parse("10_7", &ref) && job_ref_match(&ref, &rest));
    /* As many as can be written are no walk over them all. */
    assert_true(job_ref_parse("10_[10-4294967290]", &ref));
    for (int i = 0; i < 100; i++)
        assert_false(job_ref_match(&ref, &rest));
    assert_true(job_ref_parse("10_[9-4294967290]", &ref) && job_ref_match(&ref, &rest));
    assert_true(job_ref_parse("12", &ref) && job_ref_match(&ref, &task));
    assert_false(job_ref_parse("x", &ref));
    assert_false(job_ref_parse("0", &ref));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_name_what_a_job_has),
        cmocka_unit_test(users_and_states_choose),
        cmocka_unit_test(a_window_takes_what_was_there_at_some_time_of_it),
        cmocka_unit_test(a_reference_names_a_job_its_tasks_or_an_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
