/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The n-th write or fsync fails once, or from then on, for n = 1, 2, 3 … over the same work. After
 * each: what was acknowledged is there, what was reported as failed is not, no batch is there by
 * half, and the store goes on working.
 */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "inject.h"
#include "os/loop.h"
#include "os/store.h"

#define BATCHES 12
#define N_MAX 400 /* more calls than the work makes; the loop ends when none failed */

struct world {
    char dir[40], path[64];
    struct loop *loop;
    struct store *store;
    int result[BATCHES + 1]; /* 1 = not yet */
    unsigned n_done;
    unsigned n_found;
    bool found[BATCHES + 1];
};

static void world_open(struct world *w) {
    *w = (struct world) {0};
    strcpy(w->dir, "/tmp/sluice-fault-XXXXXX");
    assert_non_null(mkdtemp(w->dir));
    snprintf(w->path, sizeof(w->path), "%s/db", w->dir);
    struct error err = ERROR_INIT;
    assert_int_equal(loop_new(&w->loop, &err), 0);
    if (store_open(w->path, 1, w->loop, &w->store, &err) < 0)
        fail_msg("%s", err.text);
}

static void world_close(struct world *w) {
    static const char *const ends[] = {"", "-wal", "-shm", ".lock"};
    store_close(w->store);
    loop_free(w->loop);
    for (size_t i = 0; i < countof(ends); i++) {
        char path[96];
        snprintf(path, sizeof(path), "%s%s", w->path, ends[i]);
        unlink(path);
    }
    rmdir(w->dir);
}

struct submission {
    struct world *w;
    unsigned number;
};

static void on_done(int code, const struct error *err, void *context) {
    struct submission *s = context;
    assert_int_equal(code == 0, err->text[0] == '\0');
    s->w->result[s->number] = code;
    s->w->n_done++;
    free(s);
}

/* Batch i writes record i as two rows, one of them large, so that a batch covers several pages. */
static void submit(struct world *w, unsigned i) {
    static uint8_t large[20000];
    struct submission *s = zalloc(struct submission);
    *s = (struct submission) {w, i};
    w->result[i] = 1;
    struct store_batch *batch = store_batch_new();
    store_batch_put(batch, 1, i, (struct bytes) {large, 10});
    store_batch_put(batch, 2, i, (struct bytes) {large, sizeof(large)});
    store_submit(w->store, batch, on_done, s);
}

static void stop_loop(void *context) {
    struct world *w = context;
    loop_stop(w->loop, 0);
}

static void settle(struct world *w) {
    struct error err = ERROR_INIT;
    store_flush(w->store);
    loop_post(w->loop, stop_loop, w); /* behind all ends */
    assert_int_equal(loop_run(w->loop, &err), 0);
}

static void work(struct world *w) {
    for (unsigned i = 1; i <= BATCHES; i++) {
        submit(w, i);
        if (i % 3 == 0) /* now and then alone, now and then several in one commit */
            store_flush(w->store);
    }
    settle(w);
    assert_int_equal(w->n_done, BATCHES);
}

static int on_record(uint64_t id, struct bytes data, void *context, struct error *err) {
    struct world *w = context;
    assert_true(id >= 1 && id <= BATCHES);
    w->found[id] = true;
    w->n_found++;
    return 0;
}

static void find(struct world *w) {
    struct error err = ERROR_INIT;
    memset(w->found, 0, sizeof(w->found));
    w->n_found = 0;
    if (store_scan(w->store, 1, on_record, w, &err) < 0)
        fail_msg("%s", err.text);
}

static void check(struct world *w) {
    find(w);
    for (unsigned i = 1; i <= BATCHES; i++)
        if (w->found[i] != (w->result[i] == 0))
            fail_msg("batch %u ended with %d and is %s", i, w->result[i],
                     w->found[i] ? "there" : "gone");
    struct str data = STR_INIT;
    for (unsigned i = 1; i <= BATCHES; i++) {
        struct error err = ERROR_INIT;
        str_reset(&data);
        int r = store_get(w->store, 2, i, &data, &err);
        assert_int_equal(r, w->found[i] ? 0 : -ERR_NOT_FOUND); /* never half a batch */
    }
    str_done(&data);
}

/* Returns false when the work has fewer than n such calls. */
static bool run_one(unsigned calls, unsigned n, int errnum, bool sticky, int expected_code) {
    struct world w;
    world_open(&w);
    inject_arm(calls, n, errnum, sticky);
    work(&w);
    bool has_failed = inject_disarm();
    check(&w);
    for (unsigned i = 1; i <= BATCHES; i++)
        if (w.result[i] < 0)
            assert_int_equal(w.result[i], expected_code);
    /* It goes on working … */
    for (unsigned i = 1; i <= BATCHES; i++)
        if (w.result[i] < 0)
            submit(&w, i);
    settle(&w);
    find(&w);
    assert_int_equal(w.n_found, BATCHES);
    /* … and all is there after a restart. */
    store_close(w.store);
    struct error err = ERROR_INIT;
    if (store_open(w.path, 1, w.loop, &w.store, &err) < 0)
        fail_msg("%s", err.text);
    find(&w);
    assert_int_equal(w.n_found, BATCHES);
    world_close(&w);
    return has_failed;
}

static void run_all(unsigned calls, int errnum, bool sticky, int expected_code) {
    unsigned n = 1;
    while (n < N_MAX && run_one(calls, n, errnum, sticky, expected_code))
        n += n < 20 ? 1 : 7;
    assert_true(n > 4); /* the injection works */
    assert_true(n < N_MAX);
}

TEST(a_disk_that_is_full_once_loses_nothing_that_was_acknowledged) {
    run_all(INJECT_WRITE | INJECT_SHORT, ENOSPC, false, -ERR_DISK_FULL);
}

TEST(a_disk_that_stays_full_fails_batches_with_its_own_code) {
    run_all(INJECT_WRITE, ENOSPC, true, -ERR_DISK_FULL);
}

TEST(a_write_error_rolls_the_batch_back) {
    run_all(INJECT_WRITE | INJECT_SHORT, EIO, false, -ERR_STORE);
}

TEST(a_failed_fsync_is_never_acknowledged) {
    run_all(INJECT_SYNC, EIO, false, -ERR_STORE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_disk_that_is_full_once_loses_nothing_that_was_acknowledged),
        cmocka_unit_test(a_disk_that_stays_full_fails_batches_with_its_own_code),
        cmocka_unit_test(a_write_error_rolls_the_batch_back),
        cmocka_unit_test(a_failed_fsync_is_never_acknowledged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
