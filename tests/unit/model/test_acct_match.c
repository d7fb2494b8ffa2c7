/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which records answer a question to the accounting.
 * Covers: acct_match.c job_ref.c
 */
#include "unit.h"

#include <stdio.h>

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

static bool answers(const struct acct_query *query, const struct job *job) {
    struct acct_match *match = acct_match_new(query);
    bool result = acct_match_job(match, job);
    acct_match_free(match);
    return result;
}

/* Whether a job matches with this one word in a list of the question. */
static bool matches(struct strs *list, const struct acct_query *query, const char *word) {
    struct job job = sample();
    char *words[] = {T(word)};
    *list = (struct strs) {words, 1};
    bool result = answers(query, &job);
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

/* Component 1 of job 12, by references as written; alone: that to a first component means no other.
 */
static bool names_component(const char *id, bool alone) {
    struct job job = sample();
    struct job_refs refs cleanup_job_refs;
    char *ids[] = {T(id)};
    job.job_id = 13;
    job.het_job_id = 12;
    job.het_offset = 1;
    job.het_size = 2;
    job_refs_init(&refs, &(struct strs) {ids, 1});
    refs.alone = alone;
    return job_refs_match(&refs, &job);
}

TEST(the_number_of_a_job_means_its_components_unless_each_is_meant_alone) {
    assert_true(names_component("12", false));
    assert_false(names_component("12", true));
    assert_true(names_component("12+1", true));
    assert_true(names_component("13", true));
    assert_false(names_component("12+0", false));
}

TEST(users_and_states_choose) {
    struct acct_query query = question();
    struct job job = sample();
    uint32_t uids[] = {1002};
    query.states = 1u << JOB_FAILED;
    assert_false(answers(&query, &job));
    query.states |= 1u << JOB_COMPLETED;
    assert_true(answers(&query, &job));
    query.uids = (struct u32s) {uids, 1};
    assert_true(answers(&query, &job)); /* all users */
    query.all_users = false;
    assert_false(answers(&query, &job));
    uids[0] = 1001;
    assert_true(answers(&query, &job));
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

/* Every form among many of them, against the reference one by one. */
TEST(many_references_name_what_each_of_them_names) {
    static const char *const words[] = {
        "12",   "13", "11_4",       "10_3.batch", "10_[1-2,8]", "10_9.0", "10_3.1", "10_[20-30:2]",
        "14.0", "x",  "10_[4-5%2]", "15_*",       "11_4",       "10_21",  "10_[2"};
    char *texts[countof(words) + 2000];
    char numbers[2000][16];
    uint32_t n = 0;
    for (; n < countof(words); n++)
        texts[n] = T(words[n]);
    for (uint32_t i = 0; i < countof(numbers); i++) {
        snprintf(numbers[i], sizeof(numbers[i]), i % 2 ? "%u" : "16_%u", i % 2 ? 2000 + i : i);
        texts[n++] = numbers[i];
    }
    struct strs ids = {texts, n};
    struct job_refs refs;
    job_refs_init(&refs, &ids);
    for (uint32_t array = 0; array < 18; array = array ? array + 1 : 10) {
        for (uint32_t task = 0; task < 40; task++) {
            struct job job = sample();
            bool named = false, whole = false, first = false;
            job.job_id = array ? 4000 + task : task;
            job.array_job_id = array;
            job.array_task_id = array ? task : UNSET32;
            if (array == 17) { /* a group that waits */
                job.job_id = job.array_job_id = 10;
                job.array_task_id = UNSET32;
                job.array_tasks = task % 2 ? T("23-29:2,31") : T("6,8");
            }
            for (uint32_t i = 0; i < n; i++) {
                struct job_ref ref;
                if (!job_ref_parse(texts[i], &ref) || !job_ref_match(&ref, &job))
                    continue;
                named = true;
                whole |= ref.step == NULL;
                first |= ref.step == NULL || strcmp(ref.step, "0") == 0;
            }
            assert_int_equal(job_refs_match(&refs, &job), named);
            assert_int_equal(job_refs_match_step(&refs, &job, NULL), whole);
            assert_int_equal(job_refs_match_step(&refs, &job, "0"), first);
        }
    }
    assert_true(refs.items.n > 1000 && refs.items.n < n);
    job_refs_done(&refs);
}

TEST(words_that_are_no_reference_name_nothing) {
    struct job job = sample();
    struct job_refs refs;
    char *words[] = {T("x"), T("")};
    job_refs_init(&refs, &(struct strs) {words, 2});
    assert_false(job_refs_match(&refs, &job));
    job_refs_done(&refs);
    job_refs_init(&refs, &(struct strs) {words, 0});
    assert_true(job_refs_match(&refs, &job) && job_refs_match_step(&refs, &job, NULL));
    job_refs_done(&refs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_name_what_a_job_has),
        cmocka_unit_test(the_number_of_a_job_means_its_components_unless_each_is_meant_alone),
        cmocka_unit_test(users_and_states_choose),
        cmocka_unit_test(a_window_takes_what_was_there_at_some_time_of_it),
        cmocka_unit_test(a_reference_names_a_job_its_tasks_or_an_array),
        cmocka_unit_test(many_references_name_what_each_of_them_names),
        cmocka_unit_test(words_that_are_no_reference_name_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
