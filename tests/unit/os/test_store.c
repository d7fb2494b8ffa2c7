/* SPDX-License-Identifier: Apache-2.0 */
/* Covers: store_history.c, store_log.c, store_write.c */
#include "unit.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"
#include "os/loop.h"
#include "os/store.h"

struct fixture {
    char dir[32], path[64];
    struct loop *loop;
    struct store *store;
    struct str trace;
    unsigned n_done;
    unsigned n_expected; /* the loop stops after so many ends */
};

static void reopen(struct fixture *f) {
    struct error err = ERROR_INIT;
    store_close(f->store);
    f->store = NULL;
    if (store_open(f->path, 3, f->loop, &f->store, &err) < 0)
        fail_msg("%s", err.text);
}

static void setup(struct fixture *f) {
    *f = (struct fixture) {0};
    strcpy(f->dir, "/tmp/sluice-store-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->path, sizeof(f->path), "%s/state.db", f->dir);
    struct error err = ERROR_INIT;
    assert_int_equal(loop_new(&f->loop, &err), 0);
    reopen(f);
}

static void teardown(struct fixture *f) {
    static const char *const names[] = {"state.db", "state.db-wal", "state.db-shm",
                                        "state.db.lock"};
    store_close(f->store);
    loop_free(f->loop);
    str_done(&f->trace);
    for (size_t i = 0; i < countof(names); i++) {
        char path[96];
        snprintf(path, sizeof(path), "%s/%s", f->dir, names[i]);
        unlink(path);
    }
    assert_int_equal(rmdir(f->dir), 0);
}

static struct bytes text(const char *t) {
    return (struct bytes) {(const uint8_t *) t, strlen(t)};
}

static void on_done(int code, const struct error *err, void *context) {
    struct fixture *f = context;
    assert_string_equal(err->text, "");
    assert_int_equal(code, 0);
    if (++f->n_done == f->n_expected)
        loop_stop(f->loop, 0);
}

static void submit(struct fixture *f, struct store_batch *batch) {
    f->n_expected++;
    store_submit(f->store, batch, on_done, f);
}

static void run(struct fixture *f) {
    struct error err = ERROR_INIT;
    assert_int_equal(loop_run(f->loop, &err), 0);
}

static void put_one(struct fixture *f, unsigned kind, uint64_t id, const char *data) {
    struct store_batch *batch = store_batch_new();
    store_batch_put(batch, kind, id, text(data));
    submit(f, batch);
    run(f);
}

static int on_record(uint64_t id, struct bytes data, void *context, struct error *err) {
    struct fixture *f = context;
    str_printf(&f->trace, "%llu=%.*s ", (unsigned long long) id, (int) data.size,
               (const char *) data.data);
    return 0;
}

static const char *scan(struct fixture *f, unsigned kind) {
    struct error err = ERROR_INIT;
    str_reset(&f->trace);
    assert_int_equal(store_scan(f->store, kind, on_record, f, &err), 0);
    return str_cstr(&f->trace);
}

TEST(records_survive_a_restart_in_the_order_of_their_ids) {
    struct fixture f;
    setup(&f);
    assert_int_equal(store_found_version(f.store), 0);
    struct store_batch *batch = store_batch_new();
    store_batch_put(batch, 1, 30, text("thirty"));
    store_batch_put(batch, 1, 7, text("seven"));
    store_batch_put(batch, 1, UINT64_MAX >> 1, text("big"));
    store_batch_put(batch, 2, 7, text("other kind"));
    store_batch_put(batch, 1, 8, text("gone"));
    store_batch_delete(batch, 1, 8);
    store_batch_put(batch, 1, 7, text("SEVEN"));
    submit(&f, batch);
    run(&f);
    reopen(&f);
    assert_int_equal(store_found_version(f.store), 3);
    assert_string_equal(scan(&f, 1), "7=SEVEN 30=thirty 9223372036854775807=big ");
    assert_string_equal(scan(&f, 2), "7=other kind ");
    assert_string_equal(scan(&f, 3), "");
    teardown(&f);
}

TEST(a_record_is_loaded_by_its_id) {
    struct fixture f;
    setup(&f);
    put_one(&f, 5, 12, "#!/bin/sh\nhostname\n");
    put_one(&f, 5, 13, "");
    cleanup_str struct str data = STR_INIT;
    struct error err = ERROR_INIT;
    assert_int_equal(store_get(f.store, 5, 12, &data, &err), 0);
    assert_string_equal(str_cstr(&data), "#!/bin/sh\nhostname\n");
    str_reset(&data);
    assert_int_equal(store_get(f.store, 5, 13, &data, &err), 0);
    assert_int_equal(data.length, 0);
    assert_int_equal(store_get(f.store, 5, 14, &data, &err), -ERR_NOT_FOUND);
    teardown(&f);
}

static void on_ordered(int code, const struct error *err, void *context) {
    struct fixture *f = context;
    str_printf(&f->trace, "%u ", f->n_done);
    on_done(code, err, f);
}

TEST(many_batches_share_commits_and_end_in_order) {
    struct fixture f;
    setup(&f);
    for (unsigned i = 0; i < 500; i++) {
        struct store_batch *batch = store_batch_new();
        store_batch_put(batch, 1, i % 10, text("x"));
        f.n_expected++;
        store_submit(f.store, batch, on_ordered, &f);
    }
    run(&f);
    assert_int_equal(f.n_done, 500);
    struct store_stats stats;
    store_stats(f.store, &stats);
    assert_int_equal(stats.n_batches, 500);
    assert_true(stats.n_commits < 500);
    assert_int_equal(stats.n_queued, 0);
    teardown(&f);
}

TEST(closing_commits_what_was_submitted) {
    struct fixture f;
    setup(&f);
    struct store_batch *batch = store_batch_new();
    store_batch_put(batch, 1, 1, text("kept"));
    store_submit(f.store, batch, NULL, NULL);
    reopen(&f);
    assert_string_equal(scan(&f, 1), "1=kept ");
    teardown(&f);
}

TEST(a_second_owner_is_refused_and_the_first_is_named) {
    struct fixture f;
    setup(&f);
    struct store *second = NULL;
    struct error err = ERROR_INIT;
    char expected[64];
    snprintf(expected, sizeof(expected), "in use by process %d (test_os_store)", getpid());
    assert_int_equal(store_open(f.path, 3, f.loop, &second, &err), -ERR_BUSY);
    if (!strstr(err.text, expected))
        fail_msg("%s", err.text);
    assert_null(second);
    teardown(&f);
}

TEST(a_state_of_a_newer_release_is_refused_and_an_older_one_taken_over) {
    struct fixture f;
    setup(&f);
    put_one(&f, 1, 1, "x");
    store_close(f.store);
    f.store = NULL;
    struct error err = ERROR_INIT;
    assert_int_equal(store_open(f.path, 2, f.loop, &f.store, &err), -ERR_VERSION);
    assert_non_null(strstr(err.text, "state version 3"));
    assert_int_equal(store_open(f.path, 4, f.loop, &f.store, &err), 0);
    assert_int_equal(store_found_version(f.store), 3);
    assert_string_equal(scan(&f, 1), "1=x ");
    teardown(&f);
}

static void spoil(struct fixture *f, off_t at, size_t size) {
    char junk[512];
    memset(junk, 'J', sizeof(junk));
    int fd = open(f->path, O_WRONLY);
    for (size_t done = 0; done < size; done += sizeof(junk))
        assert_int_equal(pwrite(fd, junk, sizeof(junk), at + (off_t) done), sizeof(junk));
    close(fd);
}

TEST(a_damaged_file_is_named_with_the_cure) {
    struct fixture f;
    setup(&f);
    store_close(f.store);
    f.store = NULL;
    spoil(&f, 0, 512);
    struct error err = ERROR_INIT;
    assert_int_equal(store_open(f.path, 3, f.loop, &f.store, &err), -ERR_CORRUPT);
    assert_non_null(strstr(err.text, f.path));
    assert_non_null(strstr(err.text, ".recover"));
    assert_null(f.store);
    teardown(&f);
}

TEST(a_damaged_page_is_found_by_the_scan) {
    struct fixture f;
    setup(&f);
    struct store_batch *batch = store_batch_new();
    for (unsigned i = 0; i < 2000; i++)
        store_batch_put(batch, 1, i, text("a record of a certain length, to fill some pages"));
    submit(&f, batch);
    run(&f);
    store_close(f.store);
    f.store = NULL;
    struct stat status;
    assert_int_equal(stat(f.path, &status), 0);
    spoil(&f, 8192, (size_t) status.st_size - 8192);
    struct error err = ERROR_INIT;
    int r = store_open(f.path, 3, f.loop, &f.store, &err);
    if (r == 0)
        r = store_scan(f.store, 1, on_record, &f, &err);
    assert_int_equal(r, -ERR_CORRUPT);
    teardown(&f);
}

TEST(a_directory_that_is_not_there_is_named) {
    struct fixture f;
    setup(&f);
    struct store *store = NULL;
    struct error err = ERROR_INIT;
    assert_true(store_open("/nonexistent/state.db", 1, f.loop, &store, &err) < 0);
    assert_non_null(strstr(err.text, "/nonexistent/state.db"));
    teardown(&f);
}

TEST(what_was_acknowledged_survives_a_kill) {
    struct fixture f;
    setup(&f);
    store_close(f.store);
    f.store = NULL;
    pid_t pid = fork();
    if (pid == 0) {
        struct fixture child = f;
        struct error err = ERROR_INIT;
        if (loop_new(&child.loop, &err) < 0)
            _exit(1);
        reopen(&child);
        put_one(&child, 1, 1, "acknowledged");
        struct store_batch *batch = store_batch_new();
        store_batch_put(batch, 1, 2, text("perhaps"));
        store_submit(child.store, batch, NULL, NULL);
        kill(getpid(), SIGKILL);
    }
    int status;
    waitpid(pid, &status, 0);
    assert_true(WIFSIGNALED(status));
    reopen(&f);
    assert_memory_equal(scan(&f, 1), "1=acknowledged ", 15);
    teardown(&f);
}

static struct stat log_status(struct fixture *f) {
    char path[96];
    struct stat status = {0};
    snprintf(path, sizeof(path), "%s-wal", f->path);
    assert_int_equal(stat(path, &status), 0);
    return status;
}

TEST(the_log_has_its_size_from_the_start_and_is_overwritten) {
    static uint8_t large[50 * 4096];
    struct fixture f;
    setup(&f);
    struct stat first = log_status(&f);
    assert_true(first.st_size > 4000000);
    for (unsigned i = 0; i < 60; i++) { /* three times what it has room for */
        struct store_batch *batch = store_batch_new();
        store_batch_put(batch, 1, i % 4, (struct bytes) {large, sizeof(large)});
        submit(&f, batch);
        store_flush(f.store);
    }
    run(&f);
    struct stat last = log_status(&f);
    assert_int_equal(last.st_size, first.st_size);
    assert_int_equal(last.st_ino, first.st_ino);
    teardown(&f);
}

/* ---- history ---- */

static void on_rows(const struct store_history *rows, size_t n, bool is_last,
                    const struct error *err, void *context) {
    struct fixture *f = context;
    assert_string_equal(err->text, "");
    for (size_t i = 0; i < n; i++)
        str_printf(&f->trace, "%llu/%.*s ", (unsigned long long) rows[i].job_id,
                   (int) rows[i].data.size, (const char *) rows[i].data.data);
    f->n_done++;
    if (is_last)
        loop_stop(f->loop, 0);
}

static const char *search(struct fixture *f, struct store_filter filter) {
    str_reset(&f->trace);
    store_history_query(f->store, &filter, on_rows, f);
    run(f);
    return str_cstr(&f->trace);
}

static void add_history(struct fixture *f) {
    static const struct {
        uint64_t job_id;
        uid_t uid;
        int64_t submit, start, end;
        unsigned kind;
        const char *data;
    } rows[] = {
        {1, 100, 10, 11, 20, 0, "a"}, {2, 200, 12, 15, 90, 0, "b"}, {3, 100, 50, 60, 70, 1, "c"},
        {4, 100, 80, 85, 99, 0, "d"}, {1, 100, 95, 96, 97, 0, "e"},
    };
    struct store_batch *batch = store_batch_new();
    for (size_t i = 0; i < countof(rows); i++) {
        struct store_history row = {.job_id = rows[i].job_id,
                                    .uid = rows[i].uid,
                                    .submit = rows[i].submit,
                                    .start = rows[i].start,
                                    .end = rows[i].end,
                                    .kind = rows[i].kind,
                                    .data = text(rows[i].data)};
        store_batch_history(batch, &row);
        store_batch_delete(batch, 1, rows[i].job_id);
    }
    submit(f, batch);
    run(f);
}

TEST(history_is_found_by_job_user_time_and_kind) {
    struct fixture f;
    setup(&f);
    add_history(&f);
    const uint64_t jobs[] = {3, 1};
    struct store_filter all = {.uid = STORE_ANY_UID};
    assert_string_equal(search(&f, all), "1/a 2/b 3/c 4/d 1/e ");
    struct store_filter by_job = {.uid = STORE_ANY_UID, .job_ids = jobs, .n_job_ids = 2};
    assert_string_equal(search(&f, by_job), "1/a 3/c 1/e ");
    assert_string_equal(search(&f, (struct store_filter) {.uid = 200}), "2/b ");
    struct store_filter window = {.uid = STORE_ANY_UID, .from = 21, .to = 80};
    assert_string_equal(search(&f, window), "3/c 2/b "); /* by their ends */
    struct store_filter kind = {.uid = 100, .kinds = 1u << 1};
    assert_string_equal(search(&f, kind), "3/c ");
    teardown(&f);
}

TEST(rows_of_kinds_that_are_few_are_found_as_all_are) {
    struct fixture f;
    setup(&f);
    add_history(&f);
    struct store_batch *batch = store_batch_new();
    static const char *const data[] = {"f", "g", "h", "i"};
    for (unsigned i = 0; i < countof(data); i++) {
        struct store_history row = {.uid = i,
                                    .submit = 100 - 10 * i,
                                    .end = 100 - 10 * i,
                                    .kind = i % 2 ? 5 : 3,
                                    .data = text(data[i])};
        store_batch_history(batch, &row);
    }
    submit(&f, batch);
    run(&f);
    struct store_filter few = {.uid = STORE_ANY_UID, .kinds = 1u << 5};
    assert_string_equal(search(&f, few), "0/g 0/i ");
    few.kinds |= 1u << 3;
    assert_string_equal(search(&f, few), "0/f 0/g 0/h 0/i ");
    few.limit = 1;
    few.after_seq = 6;
    assert_string_equal(search(&f, few), "0/g ");
    struct store_filter window = {.uid = STORE_ANY_UID, .from = 75, .to = 95, .kinds = 1u << 5};
    assert_string_equal(search(&f, window), "0/g ");
    window.kinds |= 1u << 3;
    assert_string_equal(search(&f, window), "0/h 0/g "); /* by their ends */
    few = (struct store_filter) {.uid = 3, .kinds = 1u << 5};
    assert_string_equal(search(&f, few), "0/i ");
    few = (struct store_filter) {.uid = STORE_ANY_UID, .kinds = 1u << 1 | 1u << 5};
    assert_string_equal(search(&f, few), "3/c 0/g 0/i ");
    teardown(&f);
}

TEST(history_comes_page_by_page) {
    struct fixture f;
    setup(&f);
    add_history(&f);
    struct store_filter page = {.uid = STORE_ANY_UID, .limit = 2};
    assert_string_equal(search(&f, page), "1/a 2/b ");
    page.after_seq = 2;
    assert_string_equal(search(&f, page), "3/c 4/d ");
    page.after_seq = 4;
    assert_string_equal(search(&f, page), "1/e ");
    page.after_seq = 5;
    assert_string_equal(search(&f, page), "");
    teardown(&f);
}

TEST(a_window_comes_page_by_page_in_the_order_of_ends) {
    struct fixture f;
    setup(&f);
    add_history(&f);
    struct store_filter page = {.uid = STORE_ANY_UID, .from = 15, .to = 96, .limit = 2};
    assert_string_equal(search(&f, page), "1/a 3/c ");
    page.after_seq = 3;
    page.after_end = 70;
    assert_string_equal(search(&f, page), "2/b 1/e ");
    page.after_seq = 5;
    page.after_end = 97;
    assert_string_equal(search(&f, page), "4/d ");
    /* What ends long after the window has begun before its end. */
    page = (struct store_filter) {.uid = STORE_ANY_UID, .from = 21, .to = 13};
    assert_string_equal(search(&f, page), "2/b ");
    teardown(&f);
}

TEST(tasks_are_found_by_their_array) {
    struct fixture f;
    setup(&f);
    struct store_batch *batch = store_batch_new();
    for (unsigned i = 5; i <= 8; i++) {
        struct store_history row = {.job_id = i,
                                    .array_id = i <= 6   ? 5
                                                : i == 8 ? 7
                                                         : 0,
                                    .submit = i,
                                    .end = i + 1};
        store_batch_history(batch, &row);
    }
    submit(&f, batch);
    run(&f);
    const uint64_t array[] = {5}, task[] = {6}, plain[] = {7};
    struct store_filter by = {.uid = STORE_ANY_UID, .job_ids = array, .n_job_ids = 1};
    assert_string_equal(search(&f, by), "5/ 6/ ");
    by.job_ids = task;
    assert_string_equal(search(&f, by), "6/ ");
    by.job_ids = plain;
    assert_string_equal(search(&f, by), "7/ 8/ ");
    teardown(&f);
}

TEST(a_file_whose_rows_tell_no_array_still_answers_for_arrays) {
    struct fixture f;
    setup(&f);
    add_history(&f);
    store_close(f.store);
    f.store = NULL;
    sqlite3 *db = NULL; /* as an older release has left it */
    assert_int_equal(sqlite3_open(f.path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "DROP INDEX history_array; "
                                  "ALTER TABLE history DROP COLUMN array_id",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    reopen(&f);
    const uint64_t array[] = {77};
    struct store_filter by = {.uid = 100, .job_ids = array, .n_job_ids = 1};
    assert_string_equal(search(&f, by), "1/a 3/c 4/d 1/e ");
    teardown(&f);
}

TEST(a_long_answer_comes_in_chunks_and_old_rows_can_be_purged) {
    struct fixture f;
    setup(&f);
    struct store_batch *batch = store_batch_new();
    for (unsigned i = 1; i <= 700; i++) {
        struct store_history row = {.job_id = i, .uid = 1, .submit = i, .end = i + 1};
        store_batch_history(batch, &row);
    }
    submit(&f, batch);
    run(&f);
    f.n_done = 0;
    search(&f, (struct store_filter) {.uid = 1});
    assert_int_equal(f.n_done, 3); /* 256 + 256 + 188 */
    batch = store_batch_new();
    store_batch_history_purge(batch, 701, UINT32_MAX);
    f.n_done = 0;
    f.n_expected = 0;
    submit(&f, batch);
    run(&f);
    assert_string_equal(search(&f, (struct store_filter) {.uid = 1}), "700/ ");
    teardown(&f);
}

TEST(records_that_belong_to_nothing_any_more_go) {
    struct fixture f;
    setup(&f);
    struct store_batch *batch = store_batch_new();
    struct store_history row = {.job_id = 2, .array_id = 1, .uid = 1, .end = 5, .kind = 3};
    store_batch_history(batch, &row);
    for (uint64_t id = 1; id <= 4; id++)
        store_batch_put(batch, 20, id, (struct bytes) {(const uint8_t *) "x", 1});
    store_batch_put(batch, 3, 4, (struct bytes) {(const uint8_t *) "x", 1});
    store_batch_orphans(batch, 20, 3);
    store_batch_history_purge(batch, 100, 1u << 4); /* of another kind */
    f.n_expected = 0;
    submit(&f, batch);
    run(&f);
    struct str data cleanup_str = STR_INIT;
    for (uint64_t id = 1; id <= 4; id++)
        assert_int_equal(store_get(f.store, 20, id, &data, NULL), id == 3 ? -ERR_NOT_FOUND : 0);
    assert_string_equal(search(&f, (struct store_filter) {.uid = 1}), "2/ ");
    teardown(&f);
}

static void on_never(const struct store_history *rows, size_t n, bool is_last,
                     const struct error *err, void *context) {
    fail();
}

TEST(a_cancelled_query_is_silent) {
    struct fixture f;
    setup(&f);
    add_history(&f);
    struct store_filter all = {.uid = STORE_ANY_UID};
    struct store_query *query = store_history_query(f.store, &all, on_never, NULL);
    store_query_cancel(query);
    assert_string_equal(search(&f, (struct store_filter) {.uid = 200}), "2/b ");
    teardown(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_survive_a_restart_in_the_order_of_their_ids),
        cmocka_unit_test(a_record_is_loaded_by_its_id),
        cmocka_unit_test(many_batches_share_commits_and_end_in_order),
        cmocka_unit_test(closing_commits_what_was_submitted),
        cmocka_unit_test(a_second_owner_is_refused_and_the_first_is_named),
        cmocka_unit_test(a_state_of_a_newer_release_is_refused_and_an_older_one_taken_over),
        cmocka_unit_test(a_damaged_file_is_named_with_the_cure),
        cmocka_unit_test(a_damaged_page_is_found_by_the_scan),
        cmocka_unit_test(a_directory_that_is_not_there_is_named),
        cmocka_unit_test(what_was_acknowledged_survives_a_kill),
        cmocka_unit_test(the_log_has_its_size_from_the_start_and_is_overwritten),
        cmocka_unit_test(history_is_found_by_job_user_time_and_kind),
        cmocka_unit_test(rows_of_kinds_that_are_few_are_found_as_all_are),
        cmocka_unit_test(history_comes_page_by_page),
        cmocka_unit_test(a_window_comes_page_by_page_in_the_order_of_ends),
        cmocka_unit_test(tasks_are_found_by_their_array),
        cmocka_unit_test(a_file_whose_rows_tell_no_array_still_answers_for_arrays),
        cmocka_unit_test(a_long_answer_comes_in_chunks_and_old_rows_can_be_purged),
        cmocka_unit_test(records_that_belong_to_nothing_any_more_go),
        cmocka_unit_test(a_cancelled_query_is_silent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
