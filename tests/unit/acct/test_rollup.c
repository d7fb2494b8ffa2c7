/* SPDX-License-Identifier: Apache-2.0 */
/* Covers: rollup.c, tres_ids.c, usage.c */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "database.h"
#include "model/course.h"
#include "text/calendar.h"

#define HOUR 3600
#define DAY (24 * HOUR)
/* 2026-03-25 00:00 in Berlin; the clocks go forward on the 29th. */
#define T0 1774393200

static void zone(const char *tz) {
    setenv("TZ", tz, 1);
    tzset();
}

/* ---- what reports read ---- */

static int usage_print(const struct usage_row *row, void *context, struct error *err) {
    str_printf(context, "%s/%s/%s/%s:%s=%lld ", row->cluster, row->account, row->user, row->qos,
               row->tres, (long long) row->seconds);
    return 0;
}

static const char *usage(struct acct *acct, const struct acct_usage_filter *filter) {
    static struct str text;
    str_reset(&text);
    OK(acct_usage(acct, filter, usage_print, &text, &failure));
    return str_cstr(&text);
}

static void rollup(struct acct *acct, int64_t now) {
    int64_t until = 0;
    OK(acct_rollup(acct, "a", now, &until, &failure));
    assert_int_equal(until, calendar_span_start(CALENDAR_HOUR, now));
}

static int utilization_check(const struct cluster_use *row, void *context, struct error *err) {
    assert_int_equal(row->allocated + row->down + row->planned_down + row->planned + row->idle -
                         row->over,
                     row->reported);
    str_printf(context, "%s: %lld=%lld+%lld+%lld+%lld ", row->tres, (long long) row->reported,
               (long long) row->allocated, (long long) row->down, (long long) row->planned,
               (long long) row->idle);
    return 0;
}

TEST(usage_is_told_by_account_user_and_tres) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    zone("Europe/Berlin");
    struct events events cleanup_events = {0};
    struct job job = job_of(1, 1, T0 + 1800, T0 + 5400);
    job.tres_alloc = text_of("cpu=2,mem=1G,gres/gpu:a100=1,billing=3");
    events_job(&events, &job);
    job = job_of(2, 2, T0, T0 + 2 * HOUR);
    job.user_name = text_of("bob");
    job.tres_alloc = text_of("cpu=4");
    events_job(&events, &job);
    events_store(&events, db->acct, "a");
    rollup(db->acct, T0 + 3 * HOUR);
    struct acct_usage_filter all = {.by = USAGE_BY_ACCOUNT | USAGE_BY_USER};
    assert_string_equal(usage(db->acct, &all),
                        "a/physics/alice/:billing=10800 a/physics/alice/:cpu=7200 "
                        "a/physics/alice/:gres/gpu:a100=3600 a/physics/alice/:mem=3686400 "
                        "a/physics/bob/:cpu=28800 ");
    struct acct_usage_filter hour = {.start = T0, .end = T0 + HOUR, .by = USAGE_BY_ACCOUNT};
    assert_string_equal(usage(db->acct, &hour),
                        "a/physics//:billing=5400 a/physics//:cpu=18000 "
                        "a/physics//:gres/gpu:a100=1800 a/physics//:mem=1843200 ");
    struct acct_usage_filter bob = {.users = STRS("bob"), .by = USAGE_BY_QOS};
    assert_string_equal(usage(db->acct, &bob), "a///normal:cpu=28800 ");
}

TEST(the_parts_of_a_clusters_time_add_up_to_it) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    zone("Europe/Berlin");
    struct events events cleanup_events = {0};
    struct acct_capacity capacity = {.start = T0, .tres = text_of("cpu=10")};
    events_add(&events, ACCT_EVENT_CAPACITY, &record_acct_capacity, &capacity);
    struct acct_outage down = {.node = text_of("c1"),
                               .start = T0 + HOUR,
                               .state = text_of("DOWN"),
                               .tres = text_of("cpu=2")};
    events_add(&events, ACCT_EVENT_OUTAGE, &record_acct_outage, &down);
    down.up = true;
    down.start = T0 + HOUR + 1800;
    events_add(&events, ACCT_EVENT_OUTAGE, &record_acct_outage, &down);
    struct job job = job_of(1, 1, T0, T0 + 2 * HOUR);
    job.eligible_time = T0 - 60;
    job.tres_alloc = text_of("cpu=4");
    events_job(&events, &job);
    job = job_of(2, 2, T0 + 2 * HOUR, 0); /* waits for the second hour, wants more than is left */
    job.eligible_time = job.submit_time = T0 + HOUR;
    job.tres_alloc = job.tres_req = text_of("cpu=8");
    events_job(&events, &job);
    events_store(&events, db->acct, "a");
    rollup(db->acct, T0 + 3 * HOUR);
    static const char *const expected[] = {
        "cpu: 36000=14400+0+0+21600 ",
        "cpu: 36000=14400+3600+18000+0 ",
        "cpu: 36000=28800+0+0+7200 ",
    };
    for (unsigned i = 0; i < 3; i++) {
        struct str text cleanup_str = STR_INIT;
        struct strs everywhere = {0};
        OK(acct_utilization(db->acct, &everywhere, T0 + i * HOUR, T0 + (i + 1) * HOUR,
                            utilization_check, &text, &failure));
        assert_string_equal(str_cstr(&text), expected[i]);
    }
}

/* ---- random histories ---- */

#define N_JOBS 80
#define SPAN_DAYS 70 /* over the change of the clocks, and two ends of months */

struct history {
    struct job jobs[N_JOBS];
    int64_t paused[N_JOBS];
    char tres[N_JOBS][64];
};

/* Each fifth run is an earlier one of the job of the next: that has been requeued. */
static bool is_requeued(uint32_t i) {
    return i % 5 == 0;
}

static void history_make(struct history *history, struct rng *rng) {
    static const char *const users[] = {"alice", "bob", "carol"};
    static const char *const accounts[] = {"physics", "chemistry"};
    for (uint32_t i = 0; i < N_JOBS; i++) {
        int64_t start = T0 + (int64_t) rng_below(rng, SPAN_DAYS * DAY);
        int64_t length = (int64_t) rng_below(rng, i % 4 == 0 ? 9 * DAY : 5 * HOUR) + 1;
        struct job *job = &history->jobs[i];
        *job = job_of(is_requeued(i) ? i + 2 : i + 1, i + 1, start, start + length);
        job->user_name = text_of(users[rng_below(rng, 3)]);
        job->account = text_of(accounts[rng_below(rng, 2)]);
        snprintf(history->tres[i], sizeof(history->tres[i]), "cpu=%u,gres/gpu=%u",
                 (unsigned) rng_below(rng, 16) + 1, (unsigned) rng_below(rng, 4));
        job->tres_alloc = history->tres[i];
        history->paused[i] = i % 2 == 0 ? (int64_t) rng_below(rng, (uint64_t) length) : 0;
        if (history->paused[i]) { /* one suspension, right at the start */
            job->suspend_time = start + history->paused[i];
            job->pre_suspend_seconds = 0;
        }
    }
}

/* What each has used, from the records alone: "alice physics cpu". */
static void history_sums(const struct history *history, struct str *out) {
    static const char *const users[] = {"alice", "bob", "carol"};
    static const char *const accounts[] = {"chemistry", "physics"};
    for (size_t a = 0; a < 2; a++) {
        for (size_t u = 0; u < 3; u++) {
            int64_t cpu = 0, gpu = 0;
            for (size_t i = 0; i < N_JOBS; i++) {
                const struct job *job = &history->jobs[i];
                unsigned cpus = 0, gpus = 0;
                if (strcmp(job->account, accounts[a]) != 0 || strcmp(job->user_name, users[u]) != 0)
                    continue;
                sscanf(job->tres_alloc, "cpu=%u,gres/gpu=%u", &cpus, &gpus);
                int64_t ran = job->end_time - job->start_time - history->paused[i];
                cpu += cpus * ran;
                gpu += gpus * ran;
            }
            if (cpu)
                str_printf(out, "a/%s/%s/:cpu=%lld ", accounts[a], users[u], (long long) cpu);
            if (gpu)
                str_printf(out, "a/%s/%s/:gres/gpu=%lld ", accounts[a], users[u], (long long) gpu);
        }
    }
}

/* What the controller has for slurmdbd, which is away now and then. */
struct outbox {
    struct events events; /* all that there ever was */
    size_t stored;        /* so many of them */
    bool is_away;
};

static void outbox_add(struct outbox *outbox, const struct job *job, bool superseded) {
    struct acct_job record;
    record_init(&record_acct_job, &record);
    record.job = (struct job *) (uintptr_t) job;
    record.superseded = superseded;
    events_add(&outbox->events, ACCT_EVENT_JOB, &record_acct_job, &record);
}

/* What waits, behind some whose acknowledgement was lost. */
static void outbox_deliver(struct outbox *outbox, struct database *db, struct rng *rng) {
    if (outbox->is_away)
        return;
    size_t again = rng_below(rng, min_of(outbox->stored, (size_t) 6) + 1);
    struct events page = outbox->events;
    page.items.items += outbox->stored - again;
    page.items.n -= outbox->stored - again;
    size_t fresh = outbox->events.items.n - outbox->stored;
    assert_int_equal(events_store(&page, db->acct, "a").n_new, fresh);
    outbox->stored = outbox->events.items.n;
}

/* Starts and ends, some late, some twice, through requeues and outages of slurmdbd. */
TEST(sums_equal_the_records_in_whatever_order_they_come) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    zone("Europe/Berlin");
    struct rng rng;
    rng_seed(&rng, 42);
    struct history *history = zalloc(struct history);
    history_make(history, &rng);
    struct outbox outbox = {.stored = 0};
    int64_t end = T0 + (SPAN_DAYS + 12) * (int64_t) DAY, now = T0;
    bool seen[N_JOBS] = {false};
    for (unsigned step = 0; step < 3 * N_JOBS; step++) {
        uint32_t i = (uint32_t) rng_below(&rng, N_JOBS);
        struct job job = history->jobs[i];
        if (!seen[i] && rng_below(&rng, 2)) { /* its start first */
            job.end_time = 0;
            job.state = JOB_RUNNING;
            if (rng_below(&rng, 2)) /* before its suspension, or after it */
                job.suspend_time = 0;
        } else {
            seen[i] = true;
        }
        if (seen[i] || job.end_time == 0)
            outbox_add(&outbox, &job, is_requeued(i) && seen[i]);
        if (rng_below(&rng, 8) == 0)
            outbox.is_away = !outbox.is_away;
        outbox_deliver(&outbox, db, &rng);
        if (rng_below(&rng, 12) == 0) {
            now = min_of(now + (int64_t) rng_below(&rng, 9 * DAY), end);
            rollup(db->acct, now);
        }
    }
    for (uint32_t i = 0; i < N_JOBS; i++)
        if (!seen[i])
            outbox_add(&outbox, &history->jobs[i], is_requeued(i));
    outbox.is_away = false;
    outbox_deliver(&outbox, db, &rng);
    rollup(db->acct, end);
    struct str expected cleanup_str = STR_INIT;
    history_sums(history, &expected);
    struct acct_usage_filter all = {.by = USAGE_BY_ACCOUNT | USAGE_BY_USER};
    assert_string_equal(usage(db->acct, &all), str_cstr(&expected));
    events_done(&outbox.events);
    free(history);
}

static void store_one(struct database *db, struct events *stream, const struct job *job) {
    struct events one cleanup_events = {.seq = stream->seq};
    events_job(&one, job);
    events_store(&one, db->acct, "a");
    stream->seq = one.seq;
}

TEST(what_becomes_known_later_is_summed_up_anew) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    zone("Europe/Berlin");
    struct events stream = {0};
    struct job job = job_of(1, 1, T0, 0);
    job.tres_alloc = text_of("cpu=1");
    struct acct_usage_filter all = {0};
    store_one(db, &stream, &job);
    rollup(db->acct, T0 + 5 * HOUR);
    assert_string_equal(usage(db->acct, &all), "a///:cpu=18000 ");
    job.state = JOB_COMPLETED;
    job.end_time = T0 + 3 * HOUR; /* it had ended meanwhile */
    store_one(db, &stream, &job);
    rollup(db->acct, T0 + 6 * HOUR);
    assert_string_equal(usage(db->acct, &all), "a///:cpu=10800 ");
    job.db_index = job.job_id = 2;
    job.state = JOB_RUNNING;
    job.end_time = 0;
    job.suspend_time = T0 + 2 * HOUR; /* it goes on since then, having run for an hour before */
    job.pre_suspend_seconds = HOUR;
    store_one(db, &stream, &job);
    rollup(db->acct, T0 + 6 * HOUR);
    assert_string_equal(usage(db->acct, &all), "a///:cpu=28800 ");
    job.state = JOB_COMPLETED;
    job.end_time = T0 + 10 * HOUR;
    store_one(db, &stream, &job);
    rollup(db->acct, T0 + 12 * HOUR);
    assert_string_equal(usage(db->acct, &all), "a///:cpu=43200 ");
    job.tres_alloc = text_of("cpu=2"); /* what it holds was wrong */
    store_one(db, &stream, &job);
    rollup(db->acct, T0 + 12 * HOUR);
    assert_string_equal(usage(db->acct, &all), "a///:cpu=75600 ");
}

static int cpu_sum(const struct usage_row *row, void *context, struct error *err) {
    if (strcmp(row->tres, "cpu") == 0)
        *(int64_t *) context += row->seconds;
    return 0;
}

TEST(any_time_of_full_hours_has_what_ran_in_it) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    zone("Europe/Berlin");
    struct rng rng;
    rng_seed(&rng, 43);
    struct history *history = zalloc(struct history);
    history_make(history, &rng);
    struct events events cleanup_events = {0};
    for (uint32_t i = 0; i < N_JOBS; i++)
        events_job(&events, &history->jobs[i]);
    events_store(&events, db->acct, "a");
    rollup(db->acct, T0 + (SPAN_DAYS + 12) * (int64_t) DAY);
    for (unsigned round = 0; round < 40; round++) {
        int64_t from = calendar_span_start(CALENDAR_HOUR, T0 + (int64_t) rng_below(&rng, 60 * DAY));
        int64_t to = from + HOUR * (1 + (int64_t) rng_below(&rng, 1000)), expected = 0, found = 0;
        for (uint32_t i = 0; i < N_JOBS; i++) {
            const struct job *job = &history->jobs[i];
            struct job_course course = {.start = job->start_time,
                                        .end = job->end_time,
                                        .paused_seconds = history->paused[i]};
            unsigned cpus = 0;
            sscanf(job->tres_alloc, "cpu=%u", &cpus);
            expected += cpus * course_seconds(&course, from, to);
        }
        struct acct_usage_filter window = {.start = from, .end = to};
        OK(acct_usage(db->acct, &window, cpu_sum, &found, &failure));
        assert_int_equal(found, expected);
    }
    free(history);
}

#define IN_DATABASE(test) cmocka_unit_test_setup_teardown(test, database_setup, database_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DATABASE(usage_is_told_by_account_user_and_tres),
        IN_DATABASE(the_parts_of_a_clusters_time_add_up_to_it),
        IN_DATABASE(sums_equal_the_records_in_whatever_order_they_come),
        IN_DATABASE(what_becomes_known_later_is_summed_up_anew),
        IN_DATABASE(any_time_of_full_hours_has_what_ran_in_it),
    };
    return cmocka_run_group_tests(tests, database_group_setup, database_group_teardown);
}
