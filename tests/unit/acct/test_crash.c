/* SPDX-License-Identifier: Apache-2.0 */
/* Covers: db.c, ingest.c: servers and processes that are killed, and several who store at a time.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "database.h"

#define T0 1700000000
#define BATCH 20

static void batch_make(struct events *events, uint64_t seq) {
    events->seq = seq;
    for (uint32_t i = 1; i <= BATCH; i++) {
        struct job job = job_of((uint32_t) seq + i, seq + i, T0, T0 + 10);
        events_job(events, &job);
    }
}

/* A process that stores batch after batch and says on a pipe which number has been acknowledged. */
static pid_t writer_start(struct database *db, int *ret_fd) {
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    if (pid != 0) {
        close(fds[1]);
        *ret_fd = fds[0];
        return pid;
    }
    struct acct *acct = NULL;
    struct error err = ERROR_INIT;
    if (acct_open(&db->location, &acct, &err) < 0)
        _exit(1);
    for (uint64_t seq = 0;; seq += BATCH) {
        struct events events = {0};
        struct acct_ingested result = {0};
        batch_make(&events, seq);
        if (acct_ingest(acct, "a", events.items.items, events.items.n, &result, &err) < 0)
            _exit(err.code == -ERR_BUSY ? 0 : 2); /* the server has been killed */
        if (write(fds[1], &result.last_seq, sizeof(uint64_t)) != sizeof(uint64_t))
            _exit(3);
        events_done(&events);
    }
}

static uint64_t last_acknowledged(int fd) {
    uint64_t seq = 0, next;
    while (read(fd, &next, sizeof(next)) == sizeof(next))
        seq = next;
    close(fd);
    return seq;
}

TEST(what_was_acknowledged_outlives_kill_9_and_nothing_is_there_by_half) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    for (unsigned round = 0; round < 3; round++) {
        int fd = -1, status = 0;
        pid_t writer = writer_start(db, &fd);
        struct pollfd first = {.fd = fd, .events = POLLIN};
        poll(&first, 1, 60000);
        usleep(20000 + 37000 * round);
        if (ACCT_TEST_BACKEND == ACCT_SQLITE) /* it is its own server */
            kill(writer, SIGKILL);
        else
            server_kill();
        assert_int_equal(waitpid(writer, &status, 0), writer);
        if (ACCT_TEST_BACKEND != ACCT_SQLITE)
            assert_int_equal(status, 0);
        server_start_again();
        struct acct *acct = database_open(db);
        uint64_t acknowledged = last_acknowledged(fd), stored = 0;
        OK(acct_last_seq(acct, "a", &stored, &failure));
        assert_true(stored >= acknowledged && stored - acknowledged <= BATCH);
        assert_int_equal(stored % BATCH, 0);
        struct acct_job_filter all = {0};
        struct acct_job_list *list = NULL;
        OK(acct_jobs_find(acct, &all, &list, &failure));
        assert_int_equal(acct_jobs_count(list), stored);
        acct_jobs_done(list);
        OK(acct_cluster_remove(acct, "a", &failure));
        acct_close(acct);
    }
}

TEST(a_connection_finds_a_server_that_has_been_restarted) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    struct events events cleanup_events = {0};
    batch_make(&events, 0);
    events_store(&events, db->acct, "a");
    server_kill();
    struct acct_ingested result = {0};
    struct error err = ERROR_INIT;
    struct events more cleanup_events = {0};
    batch_make(&more, BATCH);
    if (ACCT_TEST_BACKEND != ACCT_SQLITE) {
        assert_int_equal(acct_ingest(db->acct, "a", more.items.items, BATCH, &result, &err),
                         -ERR_BUSY);
        assert_int_equal(acct_ingest(db->acct, "a", more.items.items, BATCH, &result, &err),
                         -ERR_BUSY);
    }
    server_start_again();
    int r = -ERR_BUSY;
    for (int tries = 0; r == -ERR_BUSY && tries < 600; tries++) {
        r = acct_ingest(db->acct, "a", more.items.items, BATCH, &result, &err);
        usleep(r < 0 ? 100000 : 0);
    }
    assert_int_equal(r, 0);
    assert_int_equal(result.last_seq, 2 * BATCH);
    uint64_t seq = 0;
    OK(acct_last_seq(db->acct, "a", &seq, &failure));
    assert_int_equal(seq, 2 * BATCH);
}

/* Delivers 20 batches, each again until it is taken; says how many events were new. */
static unsigned deliver_all(struct database *db) {
    struct acct *acct = NULL;
    struct error err = ERROR_INIT;
    unsigned n_new = 0;
    if (acct_open(&db->location, &acct, &err) < 0)
        return 99999;
    for (uint64_t seq = 0; seq < 20 * BATCH; seq += BATCH) {
        struct events events cleanup_events = {0};
        struct acct_ingested result = {0};
        batch_make(&events, seq);
        int r;
        while ((r = acct_ingest(acct, "a", events.items.items, BATCH, &result, &err)) == -ERR_BUSY)
            usleep(1000);
        if (r < 0) {
            fprintf(stderr, "%s\n", err.text);
            return 99999;
        }
        n_new += result.n_new;
    }
    acct_close(acct);
    return n_new;
}

TEST(several_who_deliver_the_same_stream_count_each_event_once) {
    SKIP_WITHOUT_SERVER(state);
    struct database *db = *state;
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    pid_t writers[3];
    for (unsigned i = 0; i < 3; i++) {
        if ((writers[i] = fork()) == 0) {
            unsigned n = deliver_all(db);
            _exit(write(fds[1], &n, sizeof(n)) == sizeof(n) ? 0 : 1);
        }
    }
    close(fds[1]);
    unsigned sum = 0, n;
    while (read(fds[0], &n, sizeof(n)) == sizeof(n))
        sum += n;
    close(fds[0]);
    for (unsigned i = 0; i < 3; i++)
        waitpid(writers[i], NULL, 0);
    assert_int_equal(sum, 20 * BATCH);
    struct acct_job_filter all = {0};
    struct acct_job_list *list = NULL;
    OK(acct_jobs_find(db->acct, &all, &list, &failure));
    assert_int_equal(acct_jobs_count(list), 20 * BATCH);
    acct_jobs_done(list);
}

#define IN_DATABASE(test) cmocka_unit_test_setup_teardown(test, database_setup, database_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_DATABASE(what_was_acknowledged_outlives_kill_9_and_nothing_is_there_by_half),
        IN_DATABASE(a_connection_finds_a_server_that_has_been_restarted),
        IN_DATABASE(several_who_deliver_the_same_stream_count_each_event_once),
    };
    return cmocka_run_group_tests(tests, database_group_setup, database_group_teardown);
}
