/* SPDX-License-Identifier: Apache-2.0 */
/* sreport says the same from slurmdbd's sums as from the history of a controller. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "cli/sreport.h"
#include "database.h"
#include "model/course.h"
#include "text/calendar.h"

#define HOUR 3600
#define DAY (24 * HOUR)
#define T0 1774393200 /* 2026-03-25 00:00 in Berlin; the clocks go forward on the 29th */
#define DAYS 20
#define N_JOBS 120
#define N_OUTAGES 12
#define N_CAPACITIES 3

#define T(text) ((char *) (uintptr_t) (text))

struct history {
    struct acct_job jobs[N_JOBS];
    struct job records[N_JOBS];
    char tres[N_JOBS][64];
    struct acct_outage outages[N_OUTAGES];
    struct acct_capacity capacities[N_CAPACITIES];
};

static int64_t below(struct rng *rng, int64_t most) {
    return (int64_t) rng_below(rng, (uint64_t) most);
}

static void job_make(struct history *history, uint32_t i, struct rng *rng) {
    static const char *const users[] = {"alice", "bob", "carol"};
    static const char *const accounts[] = {"physics", "chemistry"};
    int64_t start = T0 + below(rng, DAYS * DAY),
            length = below(rng, i % 4 ? 5 * HOUR : 3 * DAY) + 1;
    struct job *job = &history->records[i];
    *job = job_of(i + 1, i + 1, start, start + length);
    job->eligible_time = job->submit_time = start - below(rng, 7 * HOUR);
    job->user_name = T(users[below(rng, 3)]);
    job->account = T(accounts[below(rng, 2)]);
    job->wckey = i % 3 ? NULL : T("key");
    snprintf(history->tres[i], sizeof(history->tres[i]), "cpu=%u,mem=%uG,node=1,gres/gpu=%u",
             (unsigned) below(rng, 16) + 1, (unsigned) below(rng, 9), (unsigned) below(rng, 4));
    job->tres_req = job->tres_alloc = history->tres[i];
    if (i % 5 == 1) {
        job->suspend_time = start + below(rng, length);
        job->pre_suspend_seconds = 0;
    } else if (i % 5 == 2) { /* it waits */
        job->start_time = job->end_time = 0;
        job->nodes = NULL;
        job->state = JOB_PENDING;
    } else if (i % 5 == 3) { /* it runs */
        job->end_time = start + 100 * DAY;
        job->state = JOB_RUNNING;
    }
    record_init(&record_acct_job, &history->jobs[i]);
    history->jobs[i].job = job;
}

static void history_make(struct history *history, struct rng *rng) {
    for (uint32_t i = 0; i < N_JOBS; i++)
        job_make(history, i, rng);
    for (uint32_t i = 0; i < N_OUTAGES; i++) {
        struct acct_outage *outage = &history->outages[i];
        record_init(&record_acct_outage, outage);
        outage->node = T("c1");
        outage->start = T0 + (int64_t) i * DAY + below(rng, DAY / 2);
        outage->end = outage->start + below(rng, DAY / 2) + 1;
        outage->state = T("DOWN");
        outage->tres = T("cpu=40,mem=100G,gres/gpu=2");
        outage->planned = i % 3 == 0;
    }
    static const char *const sizes[] = {"cpu=200,mem=400G,gres/gpu=40,node=3",
                                        "cpu=300,mem=900G,gres/gpu=40,node=4", "cpu=20,mem=1000G"};
    for (uint32_t i = 0; i < N_CAPACITIES; i++) {
        record_init(&record_acct_capacity, &history->capacities[i]);
        history->capacities[i].start = T0 - DAY + (int64_t) i * 9 * DAY + below(rng, DAY);
        history->capacities[i].tres = T(sizes[i]);
    }
}

static void history_store(const struct history *history, struct acct *acct) {
    struct events events cleanup_events = {0};
    for (uint32_t i = 0; i < N_CAPACITIES; i++)
        events_add(&events, ACCT_EVENT_CAPACITY, &record_acct_capacity, &history->capacities[i]);
    for (uint32_t i = 0; i < N_OUTAGES; i++) {
        struct acct_outage outage = history->outages[i];
        outage.end = 0;
        events_add(&events, ACCT_EVENT_OUTAGE, &record_acct_outage, &outage);
        outage.start = history->outages[i].end;
        outage.up = true;
        events_add(&events, ACCT_EVENT_OUTAGE, &record_acct_outage, &outage);
    }
    for (uint32_t i = 0; i < N_JOBS; i++)
        events_job(&events, &history->records[i]);
    events_store(&events, acct, "a");
}

/* ---- one report, from either ---- */

static void print(const char *text, struct str *out) {
    str_printf(out, "/%s", text ? text : "-");
}

static void report_print(struct sreport *report, struct str *out) {
    size_t n;
    struct sreport_row *const *rows = sreport_rows(report, &n);
    for (size_t i = 0; i < n; i++) {
        const struct sreport_row *row = rows[i];
        print(row->cluster, out);
        print(row->account, out);
        print(row->login, out);
        print(row->wckey, out);
        print(row->tres, out);
        str_printf(out, "=%.0f of %.0f: %llu %.0f %.0f %.0f %.0f %.0f %.0f\n", row->used,
                   row->total, (unsigned long long) row->tres_count, row->allocated, row->down,
                   row->planned_down, row->planned, row->idle, row->over);
    }
    sreport_free(report);
}

static void from_history(const struct sreport_question *q, const struct history *history,
                         struct str *out) {
    struct sreport *report = sreport_new(q);
    const struct acct_capacity *list[N_CAPACITIES];
    for (uint32_t i = 0; i < N_CAPACITIES; i++)
        list[i] = &history->capacities[i];
    sreport_capacities(report, list, N_CAPACITIES);
    for (uint32_t i = 0; i < N_OUTAGES; i++)
        sreport_outage(report, &history->outages[i]);
    for (uint32_t i = 0; i < N_JOBS; i++)
        sreport_job(report, &history->jobs[i]);
    report_print(report, out);
}

static int on_usage(const struct usage_row *row, void *context, struct error *err) {
    sreport_usage(context, row);
    return 0;
}

static int on_cluster_use(const struct cluster_use *use, void *context, struct error *err) {
    sreport_cluster_use(context, use);
    return 0;
}

static void from_sums(const struct sreport_question *q, struct acct *acct, struct str *out) {
    struct sreport *report = sreport_new(q);
    struct strs everywhere = {0};
    struct acct_usage_filter filter = {
        .start = q->start, .end = q->end, .by = USAGE_BY_ACCOUNT | USAGE_BY_USER | USAGE_BY_WCKEY};
    OK(acct_utilization(acct, &everywhere, q->start, q->end, on_cluster_use, report, &failure));
    OK(acct_usage(acct, &filter, on_usage, report, &failure));
    report_print(report, out);
}

TEST(reports_from_sums_and_from_history_are_the_same) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    static const enum sreport_kind kinds[] = {SREPORT_ACCOUNT_BY_USER, SREPORT_USER_BY_ACCOUNT,
                                              SREPORT_USER_BY_WCKEY,   SREPORT_WCKEY_BY_USER,
                                              SREPORT_UTILIZATION,     SREPORT_TOP};
    struct history *history = zalloc(struct history);
    struct rng rng;
    int64_t until, now = T0 + DAYS * DAY + 1800;
    setenv("TZ", "Europe/Berlin", 1);
    tzset();
    rng_seed(&rng, 11);
    history_make(history, &rng);
    history_store(history, db->acct);
    OK(acct_rollup(db->acct, "a", now, &until, &failure));
    size_t n_said = 0;
    for (unsigned round = 0; round < 60; round++) {
        struct str sums cleanup_str = STR_INIT, jobs cleanup_str = STR_INIT;
        char *accounts[] = {T("physics")};
        struct sreport_question q = {.kind = kinds[round % countof(kinds)],
                                     .now = now,
                                     .cluster = "a",
                                     .all_tres = true,
                                     .group = round % 4 == 0,
                                     .top = 2};
        if (round % 5 == 0 && q.kind != SREPORT_UTILIZATION)
            q.accounts = (struct strs) {accounts, 1};
        q.start = calendar_span_start(CALENDAR_HOUR, T0 + below(&rng, (DAYS - 1) * DAY));
        q.end = min_of(q.start + HOUR * (1 + below(&rng, round % 2 ? 30 : 400)), until);
        from_sums(&q, db->acct, &sums);
        from_history(&q, history, &jobs);
        assert_string_equal(str_cstr(&sums), str_cstr(&jobs));
        n_said += sums.length > 0;
    }
    assert_true(n_said > 30); /* most of the windows have had jobs */
    free(history);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reports_from_sums_and_from_history_are_the_same,
                                        database_setup, database_teardown),
    };
    return cmocka_run_group_tests(tests, database_group_setup, database_group_teardown);
}
