/* SPDX-License-Identifier: Apache-2.0 */
#include "database.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server.h"

static char dir[64];
static unsigned n_databases;
static struct server *server;

int database_group_setup(void **state) {
    strcpy(dir, "/tmp/sluice-acct-XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    server = server_start(ACCT_TEST_BACKEND, dir);
    return 0;
}

int database_group_teardown(void **state) {
    server_stop(server);
    server = NULL;
    tree_remove(dir);
    return 0;
}

void server_kill(void) {
    if (server)
        server_crash(server);
}

void server_start_again(void) {
    if (server)
        server_resume(server);
}

struct acct *database_open(struct database *database) {
    struct acct *acct = NULL;
    struct error err = ERROR_INIT;
    int r = acct_open(&database->location, &acct, &err);
    for (int tries = 0; r == -ERR_BUSY && tries < 600; tries++) { /* it is starting */
        usleep(100000);
        r = acct_open(&database->location, &acct, &err);
    }
    if (r < 0)
        fail_msg("%s", err.text);
    return acct;
}

int database_setup(void **state) {
    if (ACCT_TEST_BACKEND != ACCT_SQLITE && !server) {
        *state = NULL;
        return 0;
    }
    struct database *database = zalloc(struct database);
    database->location.backend = ACCT_TEST_BACKEND;
    if (ACCT_TEST_BACKEND == ACCT_SQLITE)
        database->location.path = xasprintf("%s/%u.db", dir, ++n_databases);
    else
        server_location(server, ++n_databases, &database->location);
    database->acct = database_open(database);
    *state = database;
    return 0;
}

int database_teardown(void **state) {
    struct database *database = *state;
    if (!database)
        return 0;
    acct_close(database->acct);
    acct_location_done(&database->location);
    free(database);
    return 0;
}

/* ---- events ---- */

void events_done(struct events *events) {
    vec_each (&events->items, event)
        free(event->body.data);
    vec_done(&events->items);
}

void events_add(struct events *events, uint32_t kind, const struct record *record,
                const void *object) {
    struct str body = STR_INIT;
    wire_encode(record, object, NULL, &body);
    struct acct_event event = {
        .seq = ++events->seq, .kind = kind, .body = {(uint8_t *) body.data, body.length}};
    vec_push(&events->items, event);
}

struct job job_of(uint32_t id, uint64_t run, int64_t start, int64_t end) {
    struct job job;
    record_init(&record_job, &job);
    job.job_id = id;
    job.db_index = run;
    job.uid = 1000;
    job.gid = 100;
    job.user_name = text_of("alice");
    job.account = text_of("physics");
    job.qos = text_of("normal");
    job.partition = text_of("main");
    job.name = text_of("train");
    job.submit_time = job.eligible_time = start - 60;
    job.start_time = start;
    job.end_time = end;
    job.state = end ? JOB_COMPLETED : JOB_RUNNING;
    job.nodes = text_of("c[1-2]");
    job.num_nodes = 2;
    job.num_cpus = 2;
    job.tres_req = job.tres_alloc = text_of("cpu=2,mem=100M,node=2,billing=2");
    return job;
}

void events_job(struct events *events, const struct job *job) {
    struct acct_job record;
    record_init(&record_acct_job, &record);
    record.job = (struct job *) (uintptr_t) job;
    events_add(events, ACCT_EVENT_JOB, &record_acct_job, &record);
}

struct acct_ingested events_store(struct events *events, struct acct *acct, const char *cluster) {
    struct acct_ingested result = {0};
    OK(acct_ingest(acct, cluster, events->items.items, events->items.n, &result, &failure));
    return result;
}

static int found(const struct acct_job_row *row, void *context, struct error *err) {
    str_printf(context, "%u:%u ", row->job_id, (unsigned) row->db_index);
    return 0;
}

const char *jobs_found(struct acct *acct, const struct acct_job_filter *filter) {
    static struct str text;
    struct acct_job_list *list = NULL;
    str_reset(&text);
    OK(acct_jobs_find(acct, filter, &list, &failure));
    OK(acct_jobs_next(list, SIZE_MAX, found, &text, &failure));
    acct_jobs_done(list);
    return str_cstr(&text);
}
