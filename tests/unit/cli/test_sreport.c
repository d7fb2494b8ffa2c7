/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What sreport counts, over records in memory.
 * Covers: sreport.c sreport_hours.c
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/sreport.h"
#include "model/account.h"
#include "sample.h"
#include "unit.h"

#define DAY 86400
#define MIDNIGHT (SAMPLE_NOW - 12 * 3600)

struct fixture {
    struct sreport_question question;
    struct sreport *report;
    char *tres[2];
};

static void setup(struct fixture *f, enum sreport_kind kind) {
    *f = (struct fixture) {.tres = {T("cpu"), T("gres/gpu")}};
    f->question = (struct sreport_question) {.kind = kind,
                                             .start = MIDNIGHT - DAY,
                                             .end = MIDNIGHT,
                                             .now = SAMPLE_NOW,
                                             .cluster = "sample",
                                             .tres = {f->tres, 1},
                                             .top = 10,
                                             .groups = {2, 4},
                                             .n_groups = 2};
    f->report = sreport_new(&f->question);
}

/* What there was since long before. */
static void capacity_add(struct fixture *f, const char *tres) {
    struct acct_capacity capacity;
    const struct acct_capacity *list[] = {&capacity};
    record_init(&record_acct_capacity, &capacity);
    capacity.start = MIDNIGHT - 100 * DAY;
    capacity.tres = T(tres);
    sreport_capacities(f->report, list, 1);
}

static void job_add(struct fixture *f, struct job *job) {
    struct acct_job acct;
    record_init(&record_acct_job, &acct);
    acct.job = job;
    sreport_job(f->report, &acct);
}

/* A job that ran from so many hours after the window's beginning, for so many hours. */
static struct job ran(const char *user, const char *account, uint32_t cpus, int64_t after,
                      int64_t hours) {
    struct job job = sample_running(1, "job", "n1");
    job.user_name = T(user);
    job.account = T(account);
    job.state = JOB_COMPLETED;
    job.num_cpus = cpus;
    job.start_time = job.eligible_time = MIDNIGHT - DAY + after * 3600;
    job.end_time = job.start_time + hours * 3600;
    job.tres_alloc = cpus == 2 ? T("cpu=2,mem=100M,node=1,gres/gpu=1") : T("cpu=4,mem=100M,node=1");
    job.tres_req = job.tres_alloc;
    return job;
}

/* "login/account/tres=hours" of each row. */
static const char *rows_of(struct fixture *f, struct str *out) {
    size_t n;
    struct sreport_row *const *rows = sreport_rows(f->report, &n);
    str_reset(out);
    for (size_t i = 0; i < n; i++)
        str_printf(out, "%s%s/%s/%s=%.1f", i ? " " : "", rows[i]->login ? rows[i]->login : "",
                   rows[i]->account ? rows[i]->account : "", rows[i]->tres ? rows[i]->tres : "",
                   rows[i]->used / 3600);
    return str_cstr(out);
}

TEST(windows_are_full_hours_and_one_at_least) {
    setenv("TZ", "UTC", 1);
    tzset();
    int64_t start = 36000 + 1799, end = 36000 + 7200 + 1800;
    sreport_window(&start, &end);
    assert_int_equal(start, 36000);
    assert_int_equal(end, 36000 + 3 * 3600);
    end = 100;
    sreport_window(&start, &end);
    assert_int_equal(end, start + 3600);
    setenv("TZ", "Asia/Kolkata", 1); /* 5:30 ahead: its hours begin at half past */
    tzset();
    start = end = MIDNIGHT - 19800;
    end += DAY;
    sreport_window(&start, &end);
    assert_int_equal(start, MIDNIGHT - 19800);
    assert_int_equal(end, start + DAY);
    setenv("TZ", "UTC", 1);
    tzset();
}

TEST(the_top_users_come_first_and_are_cut) {
    struct fixture f;
    struct str out cleanup_str = STR_INIT;
    setup(&f, SREPORT_TOP);
    struct job jobs[] = {ran("alice", "a", 2, 1, 1), ran("bob", "b", 4, 1, 1),
                         ran("alice", "c", 2, 3, 5), ran("carol", "a", 2, -30, 5)};
    for (size_t i = 0; i < countof(jobs); i++)
        job_add(&f, &jobs[i]);
    assert_string_equal(rows_of(&f, &out), "alice/c/cpu=10.0 bob/b/cpu=4.0 alice/a/cpu=2.0");
    sreport_free(f.report);
    setup(&f, SREPORT_TOP);
    f.question.group = true;
    f.question.top = 1;
    f.question.tres.n = 2;
    for (size_t i = 0; i < countof(jobs); i++)
        job_add(&f, &jobs[i]);
    assert_string_equal(rows_of(&f, &out), "alice//cpu=12.0 alice//gres/gpu=6.0");
    sreport_free(f.report);
}

TEST(accounts_sum_up_what_is_below_them) {
    struct fixture f;
    struct str out cleanup_str = STR_INIT;
    struct assoc assocs[3];
    for (size_t i = 0; i < 3; i++)
        record_init(&record_assoc, &assocs[i]);
    assocs[0].account = T("root");
    assocs[1].account = T("science");
    assocs[1].parent = T("root");
    assocs[2].account = T("physics");
    assocs[2].parent = T("science");
    struct assoc_list list = {.assocs = {assocs, 3}};
    struct job one = ran("alice", "physics", 2, 1, 1), two = ran("bob", "science", 4, 1, 1);
    setup(&f, SREPORT_ACCOUNT_BY_USER);
    sreport_accounts(f.report, &list);
    job_add(&f, &one);
    job_add(&f, &two);
    assert_string_equal(rows_of(&f, &out),
                        "/root/cpu=6.0 /science/cpu=6.0 bob/science/cpu=4.0 /physics/cpu=2.0 "
                        "alice/physics/cpu=2.0");
    sreport_free(f.report);
    /* An account that is asked for includes those below it. */
    char *wanted[] = {T("science")};
    setup(&f, SREPORT_SIZES_BY_ACCOUNT);
    f.question.accounts = (struct strs) {wanted, 1};
    sreport_accounts(f.report, &list);
    job_add(&f, &one);
    job_add(&f, &two);
    size_t n;
    struct sreport_row *const *rows = sreport_rows(f.report, &n);
    assert_int_equal(n, 1);
    assert_string_equal(rows[0]->account, "science");
    assert_int_equal(rows[0]->sizes[0] / 3600, 0);
    assert_int_equal(rows[0]->sizes[1] / 3600, 2); /* 2 to 3 CPUs */
    assert_int_equal(rows[0]->sizes[2] / 3600, 4);
    sreport_free(f.report);
}

/* A job that gives a node back leaves a record of each of its sizes. */
TEST(a_job_that_has_changed_its_size_counts_once) {
    struct fixture f;
    size_t n;
    struct job larger = ran("alice", "physics", 4, 1, 1),
               smaller = ran("alice", "physics", 2, 2, 1);
    larger.flags = JOB_FLAG_RESIZING;
    setup(&f, SREPORT_SIZES_BY_ACCOUNT);
    f.question.count_jobs = true;
    job_add(&f, &larger);
    job_add(&f, &smaller);
    struct sreport_row *const *rows = sreport_rows(f.report, &n);
    assert_int_equal(n, 1);
    assert_int_equal(rows[0]->sizes[1], 1); /* 2 to 3 CPUs, as it has ended */
    assert_int_equal(rows[0]->sizes[2], 0);
    assert_int_equal(rows[0]->used / 3600, 4 + 2);
    sreport_free(f.report);
}

TEST(the_capacity_is_told_in_full) {
    struct fixture f;
    size_t n;
    struct acct_outage down;
    record_init(&record_acct_outage, &down);
    down.start = MIDNIGHT - 2 * 3600;
    down.tres = T("cpu=6");
    struct job job = ran("alice", "a", 4, 6, 10);
    job.eligible_time -= 3 * 3600;
    setup(&f, SREPORT_UTILIZATION);
    assert_int_equal((sreport_rows(f.report, &n), n), 0); /* nothing is known of that day */
    sreport_free(f.report);
    setup(&f, SREPORT_UTILIZATION);
    capacity_add(&f, "cpu=16,mem=4000M,node=2");
    sreport_outage(f.report, &down);
    job_add(&f, &job);
    struct sreport_row *const *rows = sreport_rows(f.report, &n);
    assert_int_equal(n, 1);
    assert_int_equal(rows[0]->reported / 3600, 16 * 24);
    assert_int_equal(rows[0]->allocated / 3600, 40);
    assert_int_equal(rows[0]->down / 3600, 12);
    assert_int_equal(rows[0]->planned / 3600, 12);
    assert_int_equal(rows[0]->idle / 3600, 16 * 24 - 40 - 12 - 12);
    assert_int_equal(rows[0]->over, 0);
    assert_int_equal(rows[0]->tres_count, 16);
    sreport_free(f.report);
}

TEST(sums_of_slurmdbd_make_the_lines_that_jobs_make) {
    struct fixture f;
    struct str out cleanup_str = STR_INIT;
    struct usage_row rows[] = {
        {.cluster = T("b"), .account = T("a"), .user = T("bob"), .tres = T("cpu"), .seconds = 3600},
        {.cluster = T("a"), .account = T("a"), .user = T("bob"), .tres = T("cpu"), .seconds = 7200},
        {.cluster = T("a"), .account = T("c"), .user = T("amy"), .tres = T("cpu"), .seconds = 9000},
        {.cluster = T("a"), .account = T("c"), .user = T("amy"), .tres = T("mem"), .seconds = 9000},
        {.cluster = T("a"), .account = T("x"), .user = T("zoe"), .tres = T("cpu"), .seconds = 1}};
    char *accounts[] = {T("a"), T("c")};
    setup(&f, SREPORT_TOP);
    f.question.accounts = (struct strs) {accounts, 2};
    for (size_t i = 0; i < countof(rows); i++)
        sreport_usage(f.report, &rows[i]);
    struct cluster_use all = {.cluster = T("a"), .tres = T("cpu"), .reported = 72000};
    sreport_cluster_use(f.report, &all);
    assert_string_equal(rows_of(&f, &out), "amy/c/cpu=2.5 bob/a/cpu=2.0 bob/a/cpu=1.0");
    size_t n;
    assert_int_equal(sreport_rows(f.report, &n)[0]->total, 72000);
    assert_string_equal(sreport_rows(f.report, &n)[2]->cluster, "b");
    sreport_free(f.report);
}

TEST(times_are_printed_in_their_unit_with_their_share) {
    struct str out cleanup_str = STR_INIT;
    sreport_time_print(5400, 54000, SREPORT_MINUTES, &out);
    assert_string_equal(str_cstr(&out), "90");
    str_reset(&out);
    sreport_time_print(5400, 54000, SREPORT_SECONDS | SREPORT_PERCENT, &out);
    assert_string_equal(str_cstr(&out), "5400(10.00%)");
    str_reset(&out);
    sreport_time_print(5400, 0, SREPORT_PERCENT, &out);
    assert_string_equal(str_cstr(&out), "0.00%");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_are_full_hours_and_one_at_least),
        cmocka_unit_test(the_top_users_come_first_and_are_cut),
        cmocka_unit_test(accounts_sum_up_what_is_below_them),
        cmocka_unit_test(a_job_that_has_changed_its_size_counts_once),
        cmocka_unit_test(the_capacity_is_told_in_full),
        cmocka_unit_test(sums_of_slurmdbd_make_the_lines_that_jobs_make),
        cmocka_unit_test(times_are_printed_in_their_unit_with_their_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
