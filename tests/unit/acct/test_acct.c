/* SPDX-License-Identifier: Apache-2.0 */
/* Covers: book.c, cluster.c, db.c, db_mariadb.c, db_postgresql.c, db_sqlite.c, db_table.c,
 * events.c, filter.c, ingest.c, jobs.c, tables.c. The same for each backend. */
#include <string.h>

#include "acct/db.h"
#include "database.h"

#define DAY 86400
#define T0 1700000000

TEST(an_event_counts_once_however_often_it_is_sent) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    struct events events cleanup_events = {0};
    for (uint32_t i = 1; i <= 5; i++) {
        struct job job = job_of(i, i, T0, T0 + 10);
        events_job(&events, &job);
    }
    struct acct_ingested first = events_store(&events, db->acct, "a");
    assert_int_equal(first.n_new, 5);
    assert_int_equal(first.last_seq, 5);
    struct job job = job_of(6, 6, T0, T0 + 10);
    events_job(&events, &job);
    struct acct_ingested second = events_store(&events, db->acct, "a");
    assert_int_equal(second.n_new, 1);
    assert_int_equal(second.last_seq, 6);
    uint64_t seq = 0;
    OK(acct_last_seq(db->acct, "a", &seq, &failure));
    assert_int_equal(seq, 6);
    OK(acct_last_seq(db->acct, "unknown", &seq, &failure));
    assert_int_equal(seq, 0);
    struct acct_job_filter all = {0};
    assert_string_equal(jobs_found(db->acct, &all), "1:1 2:2 3:3 4:4 5:5 6:6 ");
}

TEST(a_run_is_stored_as_it_is_last) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    struct events events cleanup_events = {0};
    struct job job = job_of(7, 3, T0, 0);
    events_job(&events, &job);
    struct job other = job_of(8, 4, T0, 0);
    events_job(&events, &other);
    job = job_of(7, 3, T0, T0 + 50); /* its end, in the same delivery */
    events_job(&events, &job);
    events_store(&events, db->acct, "a");
    struct acct_job_filter filter = {.states = 1u << JOB_COMPLETED};
    assert_string_equal(jobs_found(db->acct, &filter), "7:3 ");
    other = job_of(8, 4, T0, T0 + 60);
    events_job(&events, &other);
    events_store(&events, db->acct, "a");
    assert_string_equal(jobs_found(db->acct, &filter), "7:3 8:4 ");
}

TEST(several_clusters_have_streams_and_jobs_of_their_own) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    struct events a cleanup_events = {0}, b cleanup_events = {0};
    struct job job = job_of(1, 1, T0, T0 + 1);
    events_job(&a, &job);
    job = job_of(1, 2, T0, T0 + 1);
    events_job(&b, &job);
    events_store(&a, db->acct, "a");
    assert_int_equal(events_store(&b, db->acct, "b").n_new, 1);
    struct acct_job_filter only_b = {.clusters = STRS("b")}, unknown = {.clusters = STRS("c")};
    struct acct_job_filter both = {0};
    assert_string_equal(jobs_found(db->acct, &only_b), "1:2 ");
    assert_string_equal(jobs_found(db->acct, &both), "1:1 1:2 ");
    assert_string_equal(jobs_found(db->acct, &unknown), "");
    OK(acct_cluster_remove(db->acct, "b", &failure));
    assert_string_equal(jobs_found(db->acct, &both), "1:1 ");
    struct error err = ERROR_INIT;
    assert_int_equal(acct_cluster_remove(db->acct, "b", &err), -ERR_NOT_FOUND);
}

TEST(jobs_are_found_by_ids_names_and_nodes) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    struct events events cleanup_events = {0};
    struct job job = job_of(10, 1, T0, T0 + 10);
    events_job(&events, &job);
    job = job_of(11, 2, T0, T0 + 10); /* tasks 11_3 and 11_4 */
    job.array_job_id = 11;
    job.array_task_id = 3;
    events_job(&events, &job);
    job.job_id = 12;
    job.db_index = 3;
    job.array_task_id = 4;
    events_job(&events, &job);
    job = job_of(13, 4, T0, T0 + 10);
    job.uid = 2000;
    job.account = text_of("chemistry");
    job.name = text_of("Train");
    job.nodes = text_of("c[7-9]");
    events_job(&events, &job);
    events_store(&events, db->acct, "a");
    const struct {
        struct acct_job_filter filter;
        const char *found;
    } cases[] = {
        {{.ids = STRS("10")}, "10:1 "},
        {{.ids = STRS("11")}, "11:2 12:3 "},
        {{.ids = STRS("11_4")}, "12:3 "},
        {{.ids = STRS("10", "11_3", "13")}, "10:1 11:2 13:4 "},
        {{.ids = STRS("99")}, ""},
        {{.uids = {(uint32_t[]) {2000}, 1}}, "13:4 "},
        {{.accounts = STRS("chemistry", "unknown")}, "13:4 "},
        {{.names = STRS("Train")}, "13:4 "}, /* not "train" */
        {{.nodes = "c[2,8]"}, "10:1 11:2 12:3 13:4 "},
        {{.nodes = "c[8-10]"}, "13:4 "},
        {{.nodes = "c3"}, ""},
        {{.accounts = STRS("physics"), .ids = STRS("10", "13")}, "10:1 "},
    };
    for (size_t i = 0; i < countof(cases); i++)
        assert_string_equal(jobs_found(db->acct, &cases[i].filter), cases[i].found);
    struct acct_job_list *list = NULL;
    struct error err = ERROR_INIT;
    struct acct_job_filter bad = {.ids = STRS("10'; DROP TABLE job; --")};
    assert_int_equal(acct_jobs_find(db->acct, &bad, &list, &err), -ERR_INVALID_JOB_ID);
}

TEST(a_question_of_too_many_words_is_refused) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    struct acct_job_list *list = NULL;
    struct error err = ERROR_INIT;
    struct events events cleanup_events = {0};
    struct job job = job_of(1, 1, T0, T0 + 1); /* without a cluster nothing is asked */
    events_job(&events, &job);
    events_store(&events, db->acct, "a");
    struct u32s many = {xcalloc(40000, sizeof(uint32_t)), 40000};
    struct acct_job_filter filter = {.uids = many};
    assert_int_equal(acct_jobs_find(db->acct, &filter, &list, &err), -ERR_LIMIT);
    filter.uids.n = 1000;
    OK(acct_jobs_find(db->acct, &filter, &list, &failure));
    acct_jobs_done(list);
    free(many.items);
}

TEST(a_window_and_states_mean_what_sacct_means) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    struct events events cleanup_events = {0};
    struct job job = job_of(1, 1, T0 + DAY, T0 + 2 * DAY); /* within the window */
    events_job(&events, &job);
    job = job_of(2, 2, T0 - 2 * DAY, T0 - DAY); /* before it */
    events_job(&events, &job);
    job = job_of(3, 3, T0 - DAY, 0); /* runs all through it */
    events_job(&events, &job);
    job = job_of(4, 4, 0, 0); /* waits */
    job.state = JOB_PENDING;
    job.submit_time = job.eligible_time = T0 + DAY;
    job.nodes = NULL;
    events_job(&events, &job);
    job = job_of(5, 5, T0 + 9 * DAY, 0); /* behind it */
    events_job(&events, &job);
    events_store(&events, db->acct, "a");
    struct acct_job_filter window = {.start = T0, .end = T0 + 3 * DAY};
    assert_string_equal(jobs_found(db->acct, &window), "1:1 3:3 4:4 ");
    window.states = 1u << JOB_RUNNING;
    assert_string_equal(jobs_found(db->acct, &window), "1:1 3:3 ");
    window.states = 1u << JOB_PENDING;
    assert_string_equal(jobs_found(db->acct, &window), "1:1 4:4 ");
    window.states = 1u << JOB_COMPLETED;
    assert_string_equal(jobs_found(db->acct, &window), "1:1 ");
}

TEST(earlier_runs_of_requeued_jobs_are_found_when_wanted) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    struct events events cleanup_events = {0};
    struct acct_job record;
    record_init(&record_acct_job, &record);
    struct job job = job_of(1, 1, T0, T0 + 5);
    record.job = &job;
    record.superseded = true;
    events_add(&events, ACCT_EVENT_JOB, &record_acct_job, &record);
    struct job last = job_of(1, 2, T0 + 10, T0 + 20);
    events_job(&events, &last);
    events_store(&events, db->acct, "a");
    struct acct_job_filter filter = {0};
    assert_string_equal(jobs_found(db->acct, &filter), "1:2 ");
    filter.duplicates = true;
    assert_string_equal(jobs_found(db->acct, &filter), "1:1 1:2 ");
}

static int record_compare(const struct acct_job_row *row, void *context, struct error *err) {
    struct arena memory;
    struct acct_job record;
    arena_init(&memory, 0);
    OK(wire_decode(&record_acct_job, row->record, &memory, &record, &failure));
    assert_true(record_equal(&record_job, record.job, context));
    arena_done(&memory);
    return 0;
}

TEST(texts_with_sql_quotes_and_broken_characters_do_no_harm) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    static const char *const evil[] = {
        "'; DROP TABLE job; --",
        "\" OR 1=1 --",
        "\\'; DELETE FROM cluster; #",
        "a\\",
        "?",
        "{key}",
        "$1",
        "%s%n",
        "Grüße 😀",
        "\xff\xfe broken \xc3",
        "tab\tnew\nline",
        "trailing   ",
        "",
        "NULL",
    };
    struct events events cleanup_events = {0};
    for (uint32_t i = 0; i < countof(evil); i++) {
        struct job job = job_of(i + 1, i + 1, T0, T0 + 10);
        job.name = job.account = job.comment = job.user_name = text_of(evil[i]);
        job.tres_alloc = job.nodes = text_of(evil[i]);
        events_job(&events, &job);
    }
    assert_int_equal(events_store(&events, db->acct, "cl'uster; --").n_rejected, 0);
    for (uint32_t i = 0; i < countof(evil); i++) {
        struct acct_job_filter filter = {.names = STRS(evil[i])};
        struct str expected cleanup_str = STR_INIT;
        str_printf(&expected, "%u:%u ", i + 1, i + 1);
        assert_string_equal(jobs_found(db->acct, &filter), str_cstr(&expected));
        struct job job = job_of(i + 1, i + 1, T0, T0 + 10);
        job.name = job.account = job.comment = job.user_name = text_of(evil[i]);
        job.tres_alloc = job.nodes = text_of(evil[i]);
        struct acct_job_list *list = NULL;
        OK(acct_jobs_find(db->acct, &filter, &list, &failure));
        OK(acct_jobs_next(list, 1, record_compare, &job, &failure));
        acct_jobs_done(list);
    }
}

TEST(names_longer_than_an_index_takes_are_found_by_their_beginning) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    char name[1001];
    memset(name, 'x', 1000);
    name[1000] = '\0';
    struct events events cleanup_events = {0};
    struct job job = job_of(1, 1, T0, T0 + 10);
    job.name = name;
    events_job(&events, &job);
    events_store(&events, db->acct, "a");
    struct acct_job_filter filter = {.names = STRS(name)};
    assert_string_equal(jobs_found(db->acct, &filter), "1:1 ");
}

TEST(an_event_that_cannot_be_read_holds_up_nothing) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    struct events events cleanup_events = {0};
    struct job job = job_of(1, 1, T0, T0 + 10);
    events_job(&events, &job);
    events_job(&events, &job);
    memset(events.items.items[1].body.data, 0xff, events.items.items[1].body.size);
    events_add(&events, 77, &record_job, &job); /* a newer controller's */
    job = job_of(2, 2, T0, T0 + 10);
    events_job(&events, &job);
    struct acct_ingested result = events_store(&events, db->acct, "a");
    assert_int_equal(result.n_rejected, 2);
    assert_int_equal(result.last_seq, 4);
    struct acct_job_filter all = {0};
    assert_string_equal(jobs_found(db->acct, &all), "1:1 2:2 ");
}

/* ---- pages ---- */

static int stop_at_second(const struct acct_job_row *row, void *context, struct error *err) {
    unsigned *n = context;
    if (++*n == 2)
        return error_set(err, ERR_CLOSED, "the asker is gone");
    return 0;
}

static int count(const struct acct_job_row *row, void *context, struct error *err) {
    assert_string_equal(row->cluster, "a");
    (*(unsigned *) context)++;
    return 0;
}

TEST(long_answers_come_in_pages_between_which_others_may_ask) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    struct events events cleanup_events = {0};
    for (uint32_t i = 1; i <= 300; i++) {
        struct job job = job_of(1000 - i, i, T0, T0 + 10);
        events_job(&events, &job);
    }
    events_store(&events, db->acct, "a");
    struct acct_job_filter all = {0};
    struct acct_job_list *list = NULL;
    OK(acct_jobs_find(db->acct, &all, &list, &failure));
    assert_int_equal(acct_jobs_count(list), 300);
    unsigned n = 0;
    struct error error = ERROR_INIT;
    assert_int_equal(acct_jobs_next(list, 100, count, &n, &error), 200);
    assert_int_equal(n, 100);
    struct acct_job_filter one = {.ids = STRS("950")};
    assert_string_equal(jobs_found(db->acct, &one), "950:50 ");
    assert_int_equal(acct_jobs_next(list, SIZE_MAX, count, &n, &error), 0);
    assert_int_equal(n, 300);
    acct_jobs_done(list);
    OK(acct_jobs_find(db->acct, &all, &list, &failure));
    n = 0;
    assert_int_equal(acct_jobs_next(list, 100, stop_at_second, &n, &error), -ERR_CLOSED);
    acct_jobs_done(list);
}

TEST(jobs_without_end_that_nobody_knows_are_runaways) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    struct events events cleanup_events = {0};
    for (uint32_t i = 1; i <= 5; i++) {
        struct job job = job_of(i, i, T0, i == 3 ? T0 + 1 : 0);
        events_job(&events, &job);
    }
    events_store(&events, db->acct, "a");
    struct acct_job_list *list = NULL;
    uint64_t known[] = {2, 5};
    OK(acct_runaways(db->acct, "a", known, 2, &list, &failure));
    assert_int_equal(acct_jobs_count(list), 2); /* 1 and 4 */
    acct_jobs_done(list);
}

TEST(runs_that_nobody_will_end_are_ended_with_what_is_known_of_them) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    struct events events cleanup_events = {0};
    for (uint32_t i = 1; i <= 4; i++) {
        struct job job = job_of(i, i, T0, i == 3 ? T0 + 1 : 0);
        events_job(&events, &job);
    }
    events_store(&events, db->acct, "a");
    const uint64_t runs[] = {1, 3, 9};
    uint64_t n = 7;
    struct acct_job_list *list = NULL;
    OK(acct_runs_close(db->acct, "a", runs, 3, false, JOB_COMPLETED, 0, &n, &failure));
    assert_int_equal(n, 1); /* 3 has ended before, 9 is none */
    OK(acct_runs_close(db->acct, "nobody", NULL, 0, true, JOB_NODE_FAIL, T0 + 50, &n, &failure));
    assert_int_equal(n, 0);
    OK(acct_runs_close(db->acct, "a", NULL, 0, true, JOB_NODE_FAIL, T0 + 50, &n, &failure));
    assert_int_equal(n, 2);
    OK(acct_runaways(db->acct, "a", NULL, 0, &list, &failure));
    assert_int_equal(acct_jobs_count(list), 0);
    acct_jobs_done(list);
}

static void script_event(struct events *events, uint32_t job_id, int64_t submitted, char *text) {
    struct job_script script = {
        .job_id = job_id, .script = {(uint8_t *) text, strlen(text)}, .submit_time = submitted};
    events_add(events, ACCT_EVENT_SCRIPT, &record_job_script, &script);
}

TEST(a_script_is_that_of_the_job_that_had_the_number_then) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    struct events events cleanup_events = {0};
    struct str script cleanup_str = STR_INIT;
    uint64_t n = 0;
    script_event(&events, 7, T0, text_of("first"));
    script_event(&events, 7, T0 + 100, text_of("'; DROP TABLE script; --"));
    script_event(&events, 8, T0 + 50, text_of("other"));
    events_store(&events, db->acct, "a");
    OK(acct_script(db->acct, "a", 7, T0 + 99, &script, &failure));
    assert_non_null(memmem(script.data, script.length, "first", 5));
    str_reset(&script);
    OK(acct_script(db->acct, "a", 7, T0 + 1000, &script, &failure));
    assert_non_null(memmem(script.data, script.length, "DROP", 4));
    struct error err = ERROR_INIT;
    assert_int_equal(acct_script(db->acct, "a", 7, T0 - 1, &script, &err), -ERR_NOT_FOUND);
    assert_int_equal(acct_script(db->acct, "b", 7, T0, &script, &err), -ERR_NOT_FOUND);
    OK(acct_purge(db->acct, "a", ACCT_OBJECT_SCRIPT, T0 + 60, NULL, 1, &n, &failure));
    assert_int_equal(n, 1); /* one at a time */
    OK(acct_purge(db->acct, "a", ACCT_OBJECT_SCRIPT, T0 + 60, NULL, 1, &n, &failure));
    assert_int_equal(n, 1);
    OK(acct_purge(db->acct, "a", ACCT_OBJECT_SCRIPT, T0 + 60, NULL, 1, &n, &failure));
    assert_int_equal(n, 0);
    OK(acct_script(db->acct, "a", 7, T0 + 1000, &script, &failure));
}

/* ---- outages and changes ---- */

static int outage_print(const struct acct_outage *o, void *context, struct error *err) {
    str_printf(context, "%s/%s %lld-%lld %s (%s) ", o->cluster, o->node ? o->node : "",
               (long long) o->start, (long long) o->end, o->state, o->reason ? o->reason : "");
    return 0;
}

TEST(an_outage_lasts_until_the_node_is_up_or_down_for_another_reason) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    struct events events cleanup_events = {0};
    struct acct_outage outages[] = {
        {.node = text_of("c1"), .start = 100, .state = text_of("DOWN"), .reason = text_of("fan")},
        {.node = text_of("c2"), .start = 110, .state = text_of("DRAIN")},
        {.node = text_of("c1"), .start = 200, .state = text_of("DOWN"), .reason = text_of("disk")},
        {.node = text_of("c1"), .start = 300, .up = true},
        {.node = text_of("c3"), .start = 400, .up = true}, /* has never been down */
    };
    for (size_t i = 0; i < countof(outages); i++)
        events_add(&events, ACCT_EVENT_OUTAGE, &record_acct_outage, &outages[i]);
    events_store(&events, db->acct, "a");
    struct str text cleanup_str = STR_INIT;
    struct acct_event_filter all = {0};
    OK(acct_outages(db->acct, &all, outage_print, &text, &failure));
    assert_string_equal(str_cstr(&text), "a/c1 100-200 DOWN (fan) a/c2 110-0 DRAIN () "
                                         "a/c1 200-300 DOWN (disk) ");
    str_reset(&text);
    struct acct_event_filter open = {.only_open = true}, c1 = {.nodes = "c1", .start = 250};
    OK(acct_outages(db->acct, &open, outage_print, &text, &failure));
    assert_string_equal(str_cstr(&text), "a/c2 110-0 DRAIN () ");
    str_reset(&text);
    OK(acct_outages(db->acct, &c1, outage_print, &text, &failure));
    assert_string_equal(str_cstr(&text), "a/c1 200-300 DOWN (disk) ");
}

static int capacity_print(const struct acct_capacity *c, void *context, struct error *err) {
    str_printf(context, "%lld-%lld %s ", (long long) c->start, (long long) c->end, c->tres);
    return 0;
}

static int cluster_print(const struct acct_cluster *c, void *context, struct error *err) {
    str_printf(context, "%s %s:%u %s ", c->name, c->control_host ? c->control_host : "",
               c->control_port, c->tres ? c->tres : "");
    return 0;
}

TEST(a_cluster_has_what_it_said_last) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    struct events events cleanup_events = {0};
    struct acct_capacity capacities[] = {
        {.start = 100, .nodes = text_of("c[1-2]"), .tres = text_of("cpu=16")},
        {.start = 200, .nodes = text_of("c[1-4]"), .tres = text_of("cpu=32")},
    };
    for (size_t i = 0; i < countof(capacities); i++)
        events_add(&events, ACCT_EVENT_CAPACITY, &record_acct_capacity, &capacities[i]);
    events_store(&events, db->acct, "a");
    struct str text cleanup_str = STR_INIT;
    struct acct_event_filter all = {0};
    OK(acct_capacities(db->acct, &all, capacity_print, &text, &failure));
    assert_string_equal(str_cstr(&text), "100-200 cpu=16 200-0 cpu=32 ");
    str_reset(&text);
    OK(acct_clusters(db->acct, cluster_print, &text, &failure));
    assert_string_equal(str_cstr(&text), "a :0 cpu=32 ");
}

TEST(two_controllers_cannot_be_one_cluster) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    uint8_t first[] = {1, 2, 3}, second[] = {1, 2, 4};
    struct acct_cluster cluster = {.name = text_of("lab"),
                                   .control_host = text_of("head"),
                                   .control_port = 6817,
                                   .key = {first, 3}};
    OK(acct_cluster_put(db->acct, &cluster, T0, &failure));
    OK(acct_cluster_put(db->acct, &cluster, T0 + 1, &failure));
    cluster.key.data = second;
    cluster.control_host = text_of("other");
    struct error err = ERROR_INIT;
    assert_int_equal(acct_cluster_put(db->acct, &cluster, T0 + 2, &err), -ERR_EXISTS);
    assert_non_null(strstr(err.text, "head"));
    assert_non_null(strstr(err.text, "slurmctld -c"));
    struct str text cleanup_str = STR_INIT;
    OK(acct_clusters(db->acct, cluster_print, &text, &failure));
    assert_string_equal(str_cstr(&text), "lab head:6817  ");
}

TEST(a_controller_that_takes_a_name_over_numbers_its_events_by_itself) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    struct events former cleanup_events = {0}, events cleanup_events = {0};
    uint8_t key[] = {1, 2, 3};
    struct acct_cluster cluster = {.name = text_of("a"), .key = {key, 3}};
    OK(acct_cluster_put(db->acct, &cluster, T0, &failure));
    for (uint32_t i = 1; i <= 5; i++) {
        struct job job = job_of(i, i, T0, T0 + 10);
        events_job(&former, &job);
    }
    events_store(&former, db->acct, "a");
    OK(acct_cluster_put(db->acct, &cluster, T0 + 1, &failure)); /* the same one: it goes on */
    assert_int_equal(events_store(&former, db->acct, "a").n_new, 0);
    cluster.key = (struct blob) {NULL, 0};
    OK(acct_cluster_put(db->acct, &cluster, T0 + 2, &failure));
    struct job job = job_of(1, 100, T0 + 20, T0 + 30); /* its first event */
    events_job(&events, &job);
    struct acct_ingested stored = events_store(&events, db->acct, "a");
    assert_int_equal(stored.n_new, 1);
    assert_int_equal(stored.last_seq, 1);
    struct acct_job_filter all = {0};
    assert_string_equal(jobs_found(db->acct, &all), "1:1 1:100 2:2 3:3 4:4 5:5 ");
}

/* ---- the book ---- */

static int entry_print(uint32_t kind, uint64_t id, struct bytes record, void *context,
                       struct error *err) {
    str_printf(context, "%u/%llu:%zu ", kind, (unsigned long long) id, record.size);
    return 0;
}

static int change_print(const struct acct_transaction *t, void *context, struct error *err) {
    str_printf(context, "%llu %s %s %s ", (unsigned long long) t->id, t->actor, t->action, t->info);
    return 0;
}

TEST(entries_of_the_book_are_stored_with_who_changed_them) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    struct account account;
    record_init(&record_account, &account);
    account.name = text_of("physics'; DROP TABLE book; --");
    struct str body cleanup_str = STR_INIT;
    wire_encode(&record_account, &account, NULL, &body);
    struct acct_book_edit edits[] = {
        {.cluster = "", .kind = 1, .id = UINT64_MAX, .record = str_bytes(&body)},
        {.cluster = "a", .kind = 1, .id = 5, .record = str_bytes(&body)},
        {.cluster = "a", .kind = 1, .id = 6, .record = str_bytes(&body)},
    };
    struct acct_transaction who = {.time = T0,
                                   .actor = text_of("root"),
                                   .action = text_of("Add Accounts"),
                                   .info = text_of("x='1'")};
    uint64_t version = 9;
    OK(acct_book_version(db->acct, &version, &failure));
    assert_int_equal(version, 0);
    OK(acct_book_apply(db->acct, edits, 3, &who, 1, &version, &failure));
    assert_int_equal(version, 1);
    struct acct_book_edit gone = {.cluster = "a", .kind = 1, .id = 5};
    who.action = text_of("Remove Accounts");
    OK(acct_book_apply(db->acct, &gone, 1, &who, 1, &version, &failure));
    assert_int_equal(version, 2);
    version = 0;
    OK(acct_book_version(db->acct, &version, &failure));
    assert_int_equal(version, 2);
    struct str text cleanup_str = STR_INIT, expected cleanup_str = STR_INIT;
    OK(acct_book_load(db->acct, "", entry_print, &text, &failure));
    OK(acct_book_load(db->acct, "a", entry_print, &text, &failure));
    OK(acct_book_load(db->acct, "unknown", entry_print, &text, &failure));
    str_printf(&expected, "1/18446744073709551615:%zu 1/6:%zu ", body.length, body.length);
    assert_string_equal(str_cstr(&text), str_cstr(&expected));
    str_reset(&text);
    struct acct_event_filter all = {0};
    OK(acct_transactions(db->acct, &all, change_print, &text, &failure));
    assert_string_equal(str_cstr(&text), "1 root Add Accounts x='1' 2 root Remove Accounts x='1' ");
}

/* 600 entries of two clusters in turn; one is named three times, another one goes and comes. */
TEST(of_many_edits_the_last_of_each_entry_counts) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    struct bytes first = {(const uint8_t *) "\x0a\x01x", 3},
                 last = {(const uint8_t *) "\x0a\x02xy", 4};
    struct acct_book_edit edits[605];
    for (uint64_t i = 0; i < 600; i++)
        edits[i] = (struct acct_book_edit) {i % 2 ? "a" : "b", 1, i, first};
    edits[600] = (struct acct_book_edit) {"a", 1, 599, last};
    edits[601] = (struct acct_book_edit) {"a", 1, 599, first};
    edits[602] = (struct acct_book_edit) {"a", 1, 599, last};
    edits[603] = (struct acct_book_edit) {.cluster = "b", .kind = 1, .id = 598};
    edits[604] = (struct acct_book_edit) {"b", 1, 598, last};
    uint64_t version = 0;
    OK(acct_book_apply(db->acct, edits, countof(edits), NULL, 0, &version, &failure));
    struct str a cleanup_str = STR_INIT, b cleanup_str = STR_INIT, expected cleanup_str = STR_INIT;
    OK(acct_book_load(db->acct, "a", entry_print, &a, &failure));
    for (unsigned i = 1; i < 600; i += 2)
        str_printf(&expected, "1/%u:%u ", i, i == 599 ? 4 : 3);
    assert_string_equal(str_cstr(&a), str_cstr(&expected));
    str_reset(&expected);
    OK(acct_book_load(db->acct, "b", entry_print, &b, &failure));
    for (unsigned i = 0; i < 600; i += 2)
        str_printf(&expected, "1/%u:%u ", i, i == 598 ? 4 : 3);
    assert_string_equal(str_cstr(&b), str_cstr(&expected));
}

TEST(a_change_with_one_bad_entry_is_not_made_at_all) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    struct bytes junk = {(const uint8_t *) "\xff\xff", 2};
    struct acct_book_edit edits[] = {
        {.cluster = "", .kind = 1, .id = 1, .record = {(const uint8_t *) "\x0a\x01x", 3}},
        {.cluster = "", .kind = 1, .id = 2, .record = junk},
    };
    struct error err = ERROR_INIT;
    uint64_t version = 0;
    assert_true(acct_book_apply(db->acct, edits, 2, NULL, 0, &version, &err) < 0);
    struct str text cleanup_str = STR_INIT;
    OK(acct_book_load(db->acct, "", entry_print, &text, &failure));
    assert_string_equal(str_cstr(&text), "");
}

TEST(a_database_is_found_again_as_it_was_left) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    struct events events cleanup_events = {0};
    struct job job = job_of(1, 1, T0, T0 + 10);
    events_job(&events, &job);
    events_store(&events, db->acct, "a");
    acct_close(db->acct);
    db->acct = database_open(db);
    struct acct_job_filter all = {0};
    assert_string_equal(jobs_found(db->acct, &all), "1:1 ");
}

/* ---- versions ---- */

static void version_set(struct database *database, int64_t version) {
    struct db *raw = NULL;
    OK(db_open(&database->location, &raw, &failure));
    OK(db_exec(raw, "UPDATE sluice_meta SET value = ? WHERE name = 'version'",
               DB_VALUES(db_int(version)), &failure));
    db_close(raw);
}

TEST(tables_of_a_newer_release_are_refused) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    version_set(db, 99);
    struct acct *acct = NULL;
    struct error err = ERROR_INIT;
    assert_int_equal(acct_open(&db->location, &acct, &err), -ERR_VERSION);
    assert_non_null(strstr(err.text, "version 99"));
}

TEST(a_migration_that_was_interrupted_is_gone_on_with) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    struct events events cleanup_events = {0};
    struct job job = job_of(1, 1, T0, T0 + 10);
    events_job(&events, &job);
    events_store(&events, db->acct, "a");
    version_set(db, 0); /* some tables are there, the version has not been noted */
    struct db *raw = NULL;
    OK(db_open(&db->location, &raw, &failure));
    OK(db_exec(raw, "DROP TABLE outage", DB_NO_VALUES, &failure));
    db_close(raw);
    struct acct *acct = database_open(db);
    struct acct_job_filter all = {0};
    assert_string_equal(jobs_found(acct, &all), "1:1 ");
    struct str text cleanup_str = STR_INIT;
    struct acct_event_filter outages = {0};
    OK(acct_outages(acct, &outages, outage_print, &text, &failure));
    acct_close(acct);
}

TEST(tables_of_an_older_release_get_what_they_lack) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    struct events events cleanup_events = {0};
    struct job job = job_of(1, 1, T0, T0 + 10);
    events_job(&events, &job);
    events_store(&events, db->acct, "a");
    acct_close(db->acct);
    static const char *const older[] = {
        "ALTER TABLE cluster DROP COLUMN roll_from",
        "ALTER TABLE cluster DROP COLUMN kept_from",
        "DROP TABLE used",
        "DROP TABLE cluster_used",
        "DROP TABLE usage_key",
        "DROP TABLE tres",
        "DELETE FROM sluice_meta WHERE name = 'last_tres'",
    };
    struct db *raw = NULL;
    OK(db_open(&db->location, &raw, &failure));
    for (size_t i = 0; i < countof(older); i++)
        OK(db_exec(raw, older[i], DB_NO_VALUES, &failure));
    db_close(raw);
    version_set(db, 1);
    db->acct = database_open(db);
    int64_t until = 0;
    OK(acct_rollup(db->acct, "a", T0 + DAY, &until, &failure));
    assert_true(until > T0);
    struct acct_job_filter all = {0};
    assert_string_equal(jobs_found(db->acct, &all), "1:1 ");
}

#define IN_DATABASE(test) cmocka_unit_test_setup_teardown(test, database_setup, database_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DATABASE(an_event_counts_once_however_often_it_is_sent),
        IN_DATABASE(a_run_is_stored_as_it_is_last),
        IN_DATABASE(several_clusters_have_streams_and_jobs_of_their_own),
        IN_DATABASE(jobs_are_found_by_ids_names_and_nodes),
        IN_DATABASE(a_question_of_too_many_words_is_refused),
        IN_DATABASE(a_window_and_states_mean_what_sacct_means),
        IN_DATABASE(earlier_runs_of_requeued_jobs_are_found_when_wanted),
        IN_DATABASE(texts_with_sql_quotes_and_broken_characters_do_no_harm),
        IN_DATABASE(names_longer_than_an_index_takes_are_found_by_their_beginning),
        IN_DATABASE(an_event_that_cannot_be_read_holds_up_nothing),
        IN_DATABASE(long_answers_come_in_pages_between_which_others_may_ask),
        IN_DATABASE(jobs_without_end_that_nobody_knows_are_runaways),
        IN_DATABASE(a_script_is_that_of_the_job_that_had_the_number_then),
        IN_DATABASE(runs_that_nobody_will_end_are_ended_with_what_is_known_of_them),
        IN_DATABASE(an_outage_lasts_until_the_node_is_up_or_down_for_another_reason),
        IN_DATABASE(a_cluster_has_what_it_said_last),
        IN_DATABASE(two_controllers_cannot_be_one_cluster),
        IN_DATABASE(a_controller_that_takes_a_name_over_numbers_its_events_by_itself),
        IN_DATABASE(entries_of_the_book_are_stored_with_who_changed_them),
        IN_DATABASE(of_many_edits_the_last_of_each_entry_counts),
        IN_DATABASE(a_change_with_one_bad_entry_is_not_made_at_all),
        IN_DATABASE(a_database_is_found_again_as_it_was_left),
        IN_DATABASE(tables_of_a_newer_release_are_refused),
        IN_DATABASE(tables_of_an_older_release_get_what_they_lack),
        IN_DATABASE(a_migration_that_was_interrupted_is_gone_on_with),
    };
    return cmocka_run_group_tests(tests, database_group_setup, database_group_teardown);
}
