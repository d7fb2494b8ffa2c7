/* SPDX-License-Identifier: Apache-2.0 */
/* Covers: archive.c, copy.c, transfer.c */
#include <dirent.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/map.h"
#include "database.h"
#include "server.h"

#define HOUR 3600
#define DAY 86400
#define T0 1774393200

static void zone_utc(void) {
    setenv("TZ", "UTC", 1);
    tzset();
}

/* ---- all that a database tells, as text ---- */

static int on_job(const struct acct_job_row *row, void *context, struct error *err) {
    str_printf(context, "%s %u %u %llx\n", row->cluster, row->job_id, (unsigned) row->db_index,
               (unsigned long long) hash_bytes(row->record.data, row->record.size, 1));
    return 0;
}
static int on_outage(const struct acct_outage *o, void *context, struct error *err) {
    str_printf(context, "%s %s %lld %lld %s\n", o->cluster, o->node, (long long) o->start,
               (long long) o->end, o->reason);
    return 0;
}
static int on_change(const struct acct_transaction *t, void *context, struct error *err) {
    str_printf(context, "%lld %s %s %s\n", (long long) t->time, t->actor, t->action, t->subject);
    return 0;
}
static int on_entry(uint32_t kind, uint64_t id, struct bytes record, void *context,
                    struct error *err) {
    str_printf(context, "%u %llu %zu\n", kind, (unsigned long long) id, record.size);
    return 0;
}
static int on_usage(const struct usage_row *row, void *context, struct error *err) {
    str_printf(context, "%s %s %s %lld\n", row->cluster, row->account, row->tres,
               (long long) row->seconds);
    return 0;
}

static void tell_all(struct acct *acct, struct str *out) {
    struct acct_job_filter jobs = {.duplicates = true};
    struct acct_event_filter events = {0};
    struct acct_usage_filter usage = {.by = USAGE_BY_ACCOUNT};
    struct acct_job_list *list = NULL;
    OK(acct_jobs_find(acct, &jobs, &list, &failure));
    OK(acct_jobs_next(list, SIZE_MAX, on_job, out, &failure));
    acct_jobs_done(list);
    OK(acct_outages(acct, &events, on_outage, out, &failure));
    OK(acct_transactions(acct, &events, on_change, out, &failure));
    OK(acct_book_load(acct, "", on_entry, out, &failure));
    OK(acct_book_load(acct, "b", on_entry, out, &failure));
    OK(acct_usage(acct, &usage, on_usage, out, &failure));
}

static void fill(struct database *db) {
    struct events events cleanup_events = {0}, others cleanup_events = {0};
    for (uint32_t i = 1; i <= 1200; i++) { /* more than two pages */
        struct job job = job_of(i, i, T0 + i * 60, T0 + i * 60 + 90);
        job.name = text_of(i % 2 ? "it's \"quoted\"" : "\xff broken");
        events_job(&events, &job);
    }
    struct acct_outage down = {
        .node = text_of("c1"), .start = T0, .state = text_of("DOWN"), .reason = text_of("fan; --")};
    events_add(&events, ACCT_EVENT_OUTAGE, &record_acct_outage, &down);
    down.node = text_of("c2");
    events_add(&events, ACCT_EVENT_OUTAGE, &record_acct_outage, &down);
    down.up = true;
    down.start = T0 + HOUR;
    events_add(&events, ACCT_EVENT_OUTAGE, &record_acct_outage, &down);
    struct job job = job_of(1, 1, T0, 0);
    events_job(&others, &job);
    events_store(&events, db->acct, "a");
    events_store(&others, db->acct, "b");
    int64_t until = 0;
    OK(acct_rollup(db->acct, "a", T0 + 30 * HOUR, &until, &failure));
    OK(acct_rollup(db->acct, "b", T0 + 30 * HOUR, &until, &failure));
    struct acct_book_edit edits[] = {
        {.cluster = "", .kind = 1, .id = 7, .record = {(const uint8_t *) "\x0a\x01x", 3}},
        {.cluster = "b", .kind = 1, .id = UINT64_MAX, .record = {(const uint8_t *) "\x0a\x01y", 3}},
    };
    struct acct_transaction who = {.time = T0, .actor = text_of("root"), .action = text_of("Add")};
    uint64_t version = 0;
    OK(acct_book_apply(db->acct, edits, 2, &who, 1, &version, &failure));
}

/* ---- tests ---- */

TEST(an_export_holds_all_and_comes_back_as_it_was) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state, other = {.location.backend = ACCT_SQLITE};
    zone_utc();
    fill(db);
    char path[] = "/tmp/sluice-export-XXXXXX";
    close(mkstemp(path));
    other.location.path = path;
    struct acct *file = database_open(&other);
    uint64_t n = 0, back = 0;
    OK(acct_copy(db->acct, file, &n, &failure));
    assert_true(n > 1200);
    struct str before cleanup_str = STR_INIT, exported cleanup_str = STR_INIT;
    struct str after cleanup_str = STR_INIT;
    tell_all(db->acct, &before);
    tell_all(file, &exported);
    assert_string_equal(str_cstr(&exported), str_cstr(&before));
    struct error err = ERROR_INIT;
    assert_int_equal(acct_copy(file, db->acct, &back, &err), -ERR_EXISTS);
    void *empty = NULL;
    assert_int_equal(database_setup(&empty), 0);
    struct database *target = empty;
    OK(acct_copy(file, target->acct, &back, &failure));
    assert_int_equal(back, n);
    tell_all(target->acct, &after);
    assert_string_equal(str_cstr(&after), str_cstr(&before));
    struct events more cleanup_events = {.seq = 1203}; /* the stream goes on where it was */
    struct job job = job_of(5000, 5000, T0, T0 + 1);
    events_job(&more, &job);
    assert_int_equal(events_store(&more, target->acct, "a").n_new, 1);
    struct events new_cluster cleanup_events = {0};
    events_job(&new_cluster, &job);
    events_store(&new_cluster, target->acct, "c");
    database_teardown(&empty);
    acct_close(file);
    unlink(path);
}

static uint64_t purge(struct database *db, enum acct_object object, int64_t before,
                      const char *dir) {
    uint64_t n = 0;
    OK(acct_purge(db->acct, "a", object, before, dir, 0, &n, &failure));
    return n;
}

static char *archive_found(const char *dir, const char *object) {
    cleanup_free char *pattern = xasprintf("%s/a_%s_archive_*", dir, object);
    glob_t found;
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 1);
    char *path = xstrdup(found.gl_pathv[0]);
    globfree(&found);
    return path;
}

static unsigned entries(const char *dir) {
    unsigned n = 0;
    DIR *open = opendir(dir);
    assert_non_null(open);
    for (struct dirent *entry; (entry = readdir(open)) != NULL;)
        n += !str_equal(entry->d_name, ".") && !str_equal(entry->d_name, "..");
    closedir(open);
    return n;
}

TEST(what_is_purged_is_in_the_archive_and_comes_back_from_it) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    zone_utc();
    fill(db);
    struct str before cleanup_str = STR_INIT, after cleanup_str = STR_INIT;
    tell_all(db->acct, &before);
    char dir[] = "/tmp/sluice-archive-XXXXXX";
    assert_non_null(mkdtemp(dir));
    assert_int_equal(purge(db, ACCT_OBJECT_JOB, T0 + 601 * 60, dir), 598);
    assert_int_equal(purge(db, ACCT_OBJECT_JOB, T0 + 601 * 60, dir), 0);
    assert_int_equal(purge(db, ACCT_OBJECT_EVENT, T0 + 2 * HOUR, dir), 1); /* c1 is still down */
    cleanup_free char *jobs = archive_found(dir, "job"), *outages = archive_found(dir, "event");
    assert_non_null(strstr(jobs, "/a_job_archive_2026-03-24T23:02:30_2026-03-25T08:59:30"));
    uint64_t n = 0;
    OK(acct_archive_load(db->acct, jobs, &n, &failure));
    assert_int_equal(n, 598);
    OK(acct_archive_load(db->acct, jobs, &n, &failure)); /* once more is no more */
    assert_int_equal(n, 0);
    OK(acct_archive_load(db->acct, outages, &n, &failure));
    assert_int_equal(n, 1);
    tell_all(db->acct, &after);
    assert_string_equal(str_cstr(&after), str_cstr(&before));
    assert_int_equal(purge(db, ACCT_OBJECT_JOB, T0 + 601 * 60, dir), 598); /* beside the first */
    cleanup_free char *second = xasprintf("%s.1", jobs);
    struct stat info;
    assert_int_equal(stat(second, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    OK(acct_archive_load(db->acct, second, &n, &failure));
    assert_int_equal(n, 598);
    assert_int_equal(entries(dir), 3); /* and nothing unfinished */
    uint64_t all = 0;
    int batches = 0;
    do { /* whole hours, each with its archive */
        OK(acct_purge(db->acct, "a", ACCT_OBJECT_JOB, T0 + 601 * 60, dir, 100, &n, &failure));
        all += n;
        batches++;
    } while (n >= 100);
    assert_int_equal(all, 598);
    assert_in_range(batches, 5, 6);
    tree_remove(dir);
}

TEST(an_archive_can_be_loaded_into_another_database) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    zone_utc();
    struct events first cleanup_events = {0}; /* other numbers of clusters than in the other one */
    struct job job = job_of(9, 9, T0, T0 + 10);
    events_job(&first, &job);
    events_store(&first, db->acct, "z");
    fill(db);
    char dir[] = "/tmp/sluice-archive-XXXXXX";
    assert_non_null(mkdtemp(dir));
    assert_int_equal(purge(db, ACCT_OBJECT_JOB, INT64_MAX, dir), 1200);
    assert_int_equal(purge(db, ACCT_OBJECT_USAGE, INT64_MAX, dir), 0); /* the month is not over */
    int64_t until = 0;
    OK(acct_rollup(db->acct, "a", T0 + 40 * DAY, &until, &failure));
    assert_true(purge(db, ACCT_OBJECT_USAGE, INT64_MAX, dir) > 20);
    assert_true(purge(db, ACCT_OBJECT_CLUSTER_USAGE, INT64_MAX, NULL) > 20);
    cleanup_free char *jobs = archive_found(dir, "job"), *usage = archive_found(dir, "usage");
    void *empty = NULL;
    assert_int_equal(database_setup(&empty), 0);
    struct database *target = empty;
    uint64_t n = 0;
    OK(acct_archive_load(target->acct, jobs, &n, &failure));
    assert_int_equal(n, 1200);
    OK(acct_archive_load(target->acct, usage, &n, &failure));
    struct acct_job_filter one = {.clusters = STRS("a"), .ids = STRS("17")};
    assert_string_equal(jobs_found(target->acct, &one), "17:17 ");
    database_teardown(&empty);
    tree_remove(dir);
}

TEST(sums_made_anew_do_not_miss_jobs_that_are_gone) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    zone_utc();
    fill(db);
    struct acct_usage_filter all = {.clusters = STRS("a"), .by = USAGE_BY_ACCOUNT};
    struct str before cleanup_str = STR_INIT, after cleanup_str = STR_INIT;
    OK(acct_usage(db->acct, &all, on_usage, &before, &failure));
    assert_int_equal(purge(db, ACCT_OBJECT_JOB, T0 + 5 * HOUR + 100, NULL), 298);
    struct events late cleanup_events = {.seq = 1203};
    struct acct_outage down = {.node = text_of("c9"), .start = T0 + HOUR, .state = text_of("DOWN")};
    events_add(&late, ACCT_EVENT_OUTAGE, &record_acct_outage, &down);
    events_store(&late, db->acct, "a");
    int64_t until = 0;
    OK(acct_rollup(db->acct, "a", T0 + 31 * HOUR, &until, &failure));
    OK(acct_usage(db->acct, &all, on_usage, &after, &failure));
    assert_string_equal(str_cstr(&after), str_cstr(&before));
    /* The month that has lost jobs is summed up from its hours, and stays when they have gone. */
    OK(acct_rollup(db->acct, "a", T0 + 40 * DAY, &until, &failure));
    assert_true(purge(db, ACCT_OBJECT_USAGE, INT64_MAX, NULL) > 0);
    all.start = 1772323200; /* March */
    all.end = all.start + 31 * DAY;
    str_reset(&after);
    OK(acct_usage(db->acct, &all, on_usage, &after, &failure));
    assert_string_equal(str_cstr(&after), str_cstr(&before));
}

TEST(what_is_not_summed_up_is_not_purged) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    zone_utc();
    struct events events cleanup_events = {0};
    struct job first = job_of(1, 1, T0, T0 + 10), second = job_of(2, 2, T0 + HOUR, T0 + HOUR + 10);
    events_job(&events, &first);
    events_job(&events, &second);
    events_store(&events, db->acct, "a");
    assert_int_equal(purge(db, ACCT_OBJECT_JOB, INT64_MAX, NULL), 0);
    int64_t until = 0;
    OK(acct_rollup(db->acct, "a", T0 + HOUR + 1, &until, &failure));
    assert_int_equal(purge(db, ACCT_OBJECT_JOB, INT64_MAX, NULL), 1);
    struct acct_job_filter all = {0};
    assert_string_equal(jobs_found(db->acct, &all), "2:2 ");
    OK(acct_rollup(db->acct, "a", T0 + 5 * HOUR, &until, &failure));
    struct acct_usage_filter usage = {.by = USAGE_BY_ACCOUNT};
    struct str text cleanup_str = STR_INIT;
    OK(acct_usage(db->acct, &usage, on_usage, &text, &failure));
    assert_non_null(strstr(str_cstr(&text), "a physics cpu 40\n"));
}

TEST(changes_are_purged_of_all_clusters) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    zone_utc();
    fill(db);
    char dir[] = "/tmp/sluice-archive-XXXXXX";
    assert_non_null(mkdtemp(dir));
    struct str before cleanup_str = STR_INIT, after cleanup_str = STR_INIT;
    tell_all(db->acct, &before);
    assert_int_equal(purge(db, ACCT_OBJECT_TRANSACTION, T0, dir), 0);
    assert_int_equal(purge(db, ACCT_OBJECT_TRANSACTION, T0 + 1, dir), 1);
    cleanup_free char *path =
        xasprintf("%s/all_txn_archive_2026-03-24T23:00:00_2026-03-24T23:00:00", dir);
    uint64_t n = 0;
    OK(acct_archive_load(db->acct, path, &n, &failure));
    assert_int_equal(n, 1);
    OK(acct_archive_load(db->acct, path, &n, &failure));
    assert_int_equal(n, 0);
    tell_all(db->acct, &after);
    assert_string_equal(str_cstr(&after), str_cstr(&before));
    tree_remove(dir);
}

TEST(an_archive_that_cannot_be_written_keeps_the_rows) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    zone_utc();
    fill(db);
    struct str before cleanup_str = STR_INIT, after cleanup_str = STR_INIT;
    tell_all(db->acct, &before);
    struct error err = ERROR_INIT;
    uint64_t n = 0;
    assert_true(
        acct_purge(db->acct, "a", ACCT_OBJECT_JOB, INT64_MAX, "/does/not/exist", 0, &n, &err) < 0);
    assert_non_null(strstr(err.text, "cannot write an archive to /does/not/exist (ArchiveDir)"));
    tell_all(db->acct, &after);
    assert_string_equal(str_cstr(&after), str_cstr(&before));
    assert_int_equal(acct_purge(db->acct, "nobody", ACCT_OBJECT_JOB, 1, NULL, 0, &n, &err),
                     -ERR_NOT_FOUND);
}

#define IN_DATABASE(test) cmocka_unit_test_setup_teardown(test, database_setup, database_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DATABASE(an_export_holds_all_and_comes_back_as_it_was),
        IN_DATABASE(what_is_purged_is_in_the_archive_and_comes_back_from_it),
        IN_DATABASE(an_archive_can_be_loaded_into_another_database),
        IN_DATABASE(sums_made_anew_do_not_miss_jobs_that_are_gone),
        IN_DATABASE(what_is_not_summed_up_is_not_purged),
        IN_DATABASE(changes_are_purged_of_all_clusters),
        IN_DATABASE(an_archive_that_cannot_be_written_keeps_the_rows),
    };
    return cmocka_run_group_tests(tests, database_group_setup, database_group_teardown);
}
