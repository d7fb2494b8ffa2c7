/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A database of the kind that the test is built for (ACCT_TEST_BACKEND), fresh for each test, and
 * events to put into it. Servers are started privately, by an ordinary user, in a directory of
 * their own; where their programs are not installed the tests say that they are skipped.
 */
#ifndef SLUICE_UNIT_ACCT_DATABASE_H
#define SLUICE_UNIT_ACCT_DATABASE_H

#include "acct/acct.h"
#include "base/vec.h"
#include "model/messages.h"
#include "unit.h"

/* Group setup and teardown: starts and stops the server. */
int database_group_setup(void **state);
int database_group_teardown(void **state);
/* Test setup and teardown: *state is a struct database. */
int database_setup(void **state);
int database_teardown(void **state);

struct database {
    struct acct_location location;
    struct acct *acct; /* open */
};
/* Opens the same database once more. */
struct acct *database_open(struct database *database);
/* kill -9 of the server, and a new one on the same files; nothing for SQLite. */
void server_kill(void);
void server_start_again(void);

/* ---- events ---- */
struct events {
    vec(struct acct_event) items;
    uint64_t seq;
};
void events_done(struct events *events);
#define cleanup_events __attribute__((__cleanup__(events_done)))
void events_add(struct events *events, uint32_t kind, const struct record *record,
                const void *object);
/* A finished job of 2 CPUs; changed before events_job(). */
struct job job_of(uint32_t id, uint64_t run, int64_t start, int64_t end);
void events_job(struct events *events, const struct job *job);
/* Stores them; fails the test where that fails. */
struct acct_ingested events_store(struct events *events, struct acct *acct, const char *cluster);

/* "7:3 8:4 " of the jobs found, by id and run; in a buffer of its own. */
const char *jobs_found(struct acct *acct, const struct acct_job_filter *filter);

#define SKIP_WITHOUT_SERVER(state)                                                                 \
    do {                                                                                           \
        if (*(state) == NULL) {                                                                    \
            print_message("# skipped: the server's programs are not installed\n");                 \
            return;                                                                                \
        }                                                                                          \
    } while (0)
#define OK(call)                                                                                   \
    do {                                                                                           \
        struct error failure = ERROR_INIT;                                                         \
        if ((call) < 0)                                                                            \
            fail_msg("%s: %s", #call, failure.text);                                               \
    } while (0)
/* A list for a filter. */
#define STRS(...)                                                                                  \
    {                                                                                              \
        .items = (char **) (uintptr_t) (const char *[]) {__VA_ARGS__},                             \
        .n = sizeof((const char *[]) {__VA_ARGS__}) / sizeof(char *),                              \
    }

#endif
