/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What commands ask: jobs, outages of nodes, who changed what, which clusters there are. Jobs are
 * read page by page; a peer that does not read is waited for between pages.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assoc/tell.h"
#include "base/alloc.h"
#include "base/vec.h"
#include "model/acct_match.h"
#include "os/log.h"
#include "slurmdbd/dbd.h"

#define PAGE_JOBS 1000
#define FRAME_BYTES (256u << 10)
#define QUEUE_BYTES (8u << 20) /* for a peer that has not read them */
#define ITEMS_FIELD 1          /* of every list */
#define NUMBERS_MAX 4096       /* of jobs, and of users, that the database looks for */

struct found {
    char *cluster;
    struct str record; /* acct_job */
};
struct answer {
    struct task task;
    struct dbd *dbd;
    uint64_t client;
    uint32_t seq;
    uint16_t reply_type;
    void *query; /* owned, a record of query_record */
    const struct record *query_record;
    bool sees_all, own_only;  /* of jobs */
    struct acct_match *match; /* owned; of jobs, of the query */
    uint32_t uid;
    struct acct_job_list *list; /* the worker's */
    bool more;
    vec(struct found) found; /* jobs of this page that wait for their scripts */
    struct list full;        /* of struct frame */
    struct str frame;
};
struct frame {
    struct list link;
    struct str body;
};

/* ---- frames ---- */

static void frame_end(struct answer *answer) {
    if (answer->frame.length == 0)
        return;
    struct frame *frame = zalloc(struct frame);
    frame->body = answer->frame;
    answer->frame = (struct str) STR_INIT;
    list_append(&answer->full, &frame->link);
}

static void frame_add(struct answer *answer, struct bytes row) {
    wire_append_element(&answer->frame, ITEMS_FIELD, row);
    if (answer->frame.length >= FRAME_BYTES)
        frame_end(answer);
}

static void frames_send(struct answer *answer, struct client *client, bool last) {
    frame_end(answer);
    while (!list_is_empty(&answer->full)) {
        struct frame *frame = list_entry(answer->full.next, struct frame, link);
        list_remove(&frame->link);
        if (client != NULL)
            rpc_conn_send(client->conn, answer->reply_type, 0, answer->seq,
                          str_bytes(&frame->body));
        str_done(&frame->body);
        free(frame);
    }
    if (client != NULL && last)
        rpc_conn_send(client->conn, answer->reply_type, RPC_LAST, answer->seq,
                      (struct bytes) {NULL, 0});
}

/* The list of jobs belongs to the reader's thread, so its end goes there, too. */
static int end_work(struct task *task, struct acct *acct, struct error *err) {
    return 0;
}

static void end_done(struct task *task) {
    struct answer *answer = container_of(task, struct answer, task);
    acct_jobs_done(answer->list);
    acct_match_free(answer->match);
    record_free(answer->query_record, answer->query);
    str_done(&answer->frame);
    vec_done(&answer->found);
    free(answer);
}

static void answer_end(struct answer *answer) {
    answer->task = (struct task) {.work = end_work, .done = end_done};
    worker_submit(answer->dbd->reader, &answer->task);
}

static void answer_done(struct task *task) {
    struct answer *answer = container_of(task, struct answer, task);
    struct client *client = client_find(answer->dbd, answer->client);
    dbd_note_database(answer->dbd, task);
    bool ok = task->code == 0;
    frames_send(answer, ok ? client : NULL, true);
    if (!ok && client != NULL)
        reply_error_text(client, answer->seq, task->code, task->err.text);
    answer_end(answer);
}

static struct answer *answer_new(struct client *client, uint32_t seq, uint16_t reply_type,
                                 const struct record *record, const void *query) {
    struct answer *answer = zalloc(struct answer);
    answer->dbd = client->dbd;
    answer->client = client->id;
    answer->seq = seq;
    answer->reply_type = reply_type;
    answer->query_record = record;
    answer->query = record_dup(record, query);
    answer->uid = rpc_conn_peer(client->conn)->uid;
    list_init(&answer->full);
    return answer;
}

/* ---- jobs ---- */

static int take_job(const struct acct_job_row *row, void *context, struct error *err) {
    struct answer *answer = context;
    const struct acct_query *query = answer->query;
    struct arena memory;
    struct acct_job record;
    struct str out cleanup_str = STR_INIT;
    arena_init(&memory, 0);
    if (wire_decode(&record_acct_job, row->record, &memory, &record, NULL) == 0 &&
        record.job != NULL && acct_match_job(answer->match, record.job)) {
        if (query->no_steps)
            record.steps.n = 0;
        if (!answer->sees_all && record.job->uid != answer->uid)
            record.job->submit_line = NULL; /* it may hold a script (--wrap) */
        record.job->cluster = (char *) (uintptr_t) row->cluster;
        wire_encode(&record_acct_job, &record, NULL, &out);
        bool own = answer->sees_all || record.job->uid == answer->uid;
        if (own && (query->want_script || query->want_environment)) {
            struct found found = {xstrdup(row->cluster), out};
            vec_push(&answer->found, found);
            out = (struct str) STR_INIT;
        } else {
            frame_add(answer, str_bytes(&out));
        }
    }
    arena_done(&memory);
    return 0;
}

/* A job with what AccountingStoreFlags has kept of its submission, if that is there. */
static int add_script(struct answer *answer, struct acct *acct, const struct found *found,
                      struct error *err) {
    const struct acct_query *query = answer->query;
    struct str data cleanup_str = STR_INIT, out cleanup_str = STR_INIT;
    struct acct_job record;
    struct job_script script;
    struct arena memory;
    arena_init(&memory, 0);
    int r = wire_decode(&record_acct_job, str_bytes(&found->record), &memory, &record, err);
    struct job *job = r == 0 ? record.job : NULL;
    if (job != NULL)
        r = acct_script(acct, found->cluster, job->array_job_id ? job->array_job_id : job->job_id,
                        job->submit_time, &data, err);
    if (r == 0)
        r = wire_decode(&record_job_script, str_bytes(&data), &memory, &script, err);
    if (r == 0 && query->want_script)
        job->script = script.script;
    if (r == 0 && query->want_environment)
        job->environment = script.environment;
    if (r == 0)
        wire_encode(&record_acct_job, &record, NULL, &out);
    if (r == 0 || r == -ERR_NOT_FOUND)
        frame_add(answer, r == 0 ? str_bytes(&out) : str_bytes(&found->record));
    arena_done(&memory);
    return r == -ERR_NOT_FOUND ? 0 : r;
}

static int jobs_page(struct task *task, struct acct *acct, struct error *err) {
    struct answer *answer = container_of(task, struct answer, task);
    int64_t left = acct_jobs_next(answer->list, PAGE_JOBS, take_job, answer, err);
    int r = left < 0 ? (int) left : 0;
    vec_each (&answer->found, found) {
        if (r == 0)
            r = add_script(answer, acct, found, err);
        free(found->cluster);
        str_done(&found->record);
    }
    vec_reset(&answer->found);
    answer->more = left > 0;
    return r;
}

/* Numbers of the jobs and arrays asked for: which tasks and steps are meant is seen by the records,
 * and so is everything where they are too many for one statement. */
static void numbers_of(const struct job_refs *refs, struct strs *ret) {
    for (size_t i = 0; i < refs->items.n && refs->items.n <= NUMBERS_MAX; i++) {
        char number[12];
        snprintf(number, sizeof(number), "%u", refs->items.items[i].job_id);
        strs_push(ret, number);
    }
}

static int jobs_work(struct task *task, struct acct *acct, struct error *err) {
    struct answer *answer = container_of(task, struct answer, task);
    const struct acct_query *query = answer->query;
    struct strs numbers cleanup_strs = {NULL, 0};
    numbers_of(acct_match_refs(answer->match), &numbers);
    struct acct_job_filter filter = {.clusters = query->clusters,
                                     .ids = numbers,
                                     .start = query->start,
                                     .end = query->end,
                                     .duplicates = query->duplicates};
    if (!query->all_users && query->uids.n <= NUMBERS_MAX)
        filter.uids = query->uids;
    uint32_t own = answer->uid;
    if (answer->own_only)
        filter.uids = (struct u32s) {&own, 1};
    int r = acct_jobs_find(acct, &filter, &answer->list, err);
    return r < 0 ? r : jobs_page(task, acct, err);
}

static void jobs_done(struct task *task);

static void next_page(struct answer *answer) {
    answer->task = (struct task) {.work = jobs_page, .done = jobs_done};
    worker_submit(answer->dbd->reader, &answer->task);
}

/* Waiting for the peer to read: the connection may end meanwhile, so the answer is found again by
 * the client's waiting list. */
static void on_drained(struct rpc_conn *conn, void *context) {
    struct client *client = context;
    struct answer *answer = client->waits;
    client->waits = NULL;
    if (answer != NULL)
        next_page(answer);
}

void query_client_gone(struct client *client) {
    if (client->waits != NULL)
        answer_end(client->waits);
    client->waits = NULL;
}

static void jobs_done(struct task *task) {
    struct answer *answer = container_of(task, struct answer, task);
    struct client *client = client_find(answer->dbd, answer->client);
    if (task->code < 0 || client == NULL || !answer->more) {
        answer_done(task);
        return;
    }
    frames_send(answer, client, false);
    if (rpc_conn_queued(client->conn) > QUEUE_BYTES && client->waits == NULL) {
        client->waits = answer;
        rpc_conn_on_drained(client->conn, QUEUE_BYTES / 2, on_drained);
        return;
    }
    next_page(answer);
}

void query_jobs(struct client *client, uint32_t seq, const void *body) {
    struct answer *answer = answer_new(client, seq, MSG_ACCT_LIST, &record_acct_query, body);
    answer->match = acct_match_new(answer->query);
    answer->sees_all = dbd_is_super(client->dbd, answer->uid);
    answer->own_only = !answer->sees_all && (client->dbd->conf->private_data & CONF_PRIVATE_JOBS);
    answer->task = (struct task) {.work = jobs_work, .done = jobs_done};
    worker_submit(client->dbd->reader, &answer->task);
}

/* ---- who changed what; names in any case, as controllers tell it ---- */

static int take_change(const struct acct_transaction *change, void *context, struct error *err) {
    struct answer *answer = context;
    struct str out cleanup_str = STR_INIT;
    if (acct_change_passes(answer->query, change)) {
        wire_encode(&record_acct_transaction, change, NULL, &out);
        frame_add(answer, str_bytes(&out));
    }
    return 0;
}

static int changes_work(struct task *task, struct acct *acct, struct error *err) {
    struct answer *answer = container_of(task, struct answer, task);
    const struct change_query *query = answer->query;
    struct acct_event_filter filter = {.start = query->start, .end = query->end};
    return acct_transactions(acct, &filter, take_change, answer, err);
}

void query_changes(struct client *client, uint32_t seq, const void *body) {
    struct answer *answer = answer_new(client, seq, MSG_CHANGE_LIST, &record_change_query, body);
    answer->task = (struct task) {.work = changes_work, .done = answer_done};
    worker_submit(client->dbd->reader, &answer->task);
}

/* ---- outages ---- */

static int take_outage(const struct acct_outage *outage, void *context, struct error *err) {
    struct answer *answer = context;
    struct str out cleanup_str = STR_INIT;
    if (acct_outage_passes(answer->query, outage)) {
        wire_encode(&record_acct_outage, outage, NULL, &out);
        frame_add(answer, str_bytes(&out));
    }
    return 0;
}

static int events_work(struct task *task, struct acct *acct, struct error *err) {
    struct answer *answer = container_of(task, struct answer, task);
    const struct event_query *query = answer->query;
    struct acct_event_filter filter = {.clusters = query->clusters,
                                       .start = query->start,
                                       .end = query->end,
                                       .only_open = query->only_open};
    return acct_outages(acct, &filter, take_outage, answer, err);
}

void query_events(struct client *client, uint32_t seq, const void *body) {
    struct answer *answer = answer_new(client, seq, MSG_EVENT_LIST, &record_event_query, body);
    answer->task = (struct task) {.work = events_work, .done = answer_done};
    worker_submit(client->dbd->reader, &answer->task);
}

/* ---- usage, summed up ---- */

static int take_usage(const struct usage_row *row, void *context, struct error *err) {
    struct str out cleanup_str = STR_INIT;
    wire_encode(&record_usage_row, row, NULL, &out);
    frame_add(context, str_bytes(&out));
    return 0;
}

static int usage_work(struct task *task, struct acct *acct, struct error *err) {
    struct answer *answer = container_of(task, struct answer, task);
    const struct usage_query *query = answer->query;
    struct acct_usage_filter filter = {.clusters = query->clusters,
                                       .users = query->users,
                                       .wckeys = query->wckeys,
                                       .start = query->start,
                                       .end = query->end,
                                       .by = query->by};
    return acct_usage(acct, &filter, take_usage, answer, err);
}

void query_usage(struct client *client, uint32_t seq, const void *body) {
    struct dbd *dbd = client->dbd;
    struct answer *answer = answer_new(client, seq, MSG_USAGE_LIST, &record_usage_query, body);
    struct usage_query *query = answer->query;
    if (!dbd_is_super(dbd, answer->uid) &&
        (dbd->conf->private_data & (CONF_PRIVATE_JOBS | CONF_PRIVATE_USAGE))) {
        strs_done(&query->users); /* nobody's but one's own */
        strs_push(&query->users, userdb_user_name(dbd->users, answer->uid));
    }
    answer->task = (struct task) {.work = usage_work, .done = answer_done};
    worker_submit(client->dbd->reader, &answer->task);
}

static int take_cluster_use(const struct cluster_use *row, void *context, struct error *err) {
    struct str out cleanup_str = STR_INIT;
    wire_encode(&record_cluster_use, row, NULL, &out);
    frame_add(context, str_bytes(&out));
    return 0;
}

static int cluster_use_work(struct task *task, struct acct *acct, struct error *err) {
    struct answer *answer = container_of(task, struct answer, task);
    const struct usage_query *query = answer->query;
    return acct_utilization(acct, &query->clusters, query->start, query->end, take_cluster_use,
                            answer, err);
}

void query_cluster_use(struct client *client, uint32_t seq, const void *body) {
    struct answer *answer =
        answer_new(client, seq, MSG_CLUSTER_USE_LIST, &record_usage_query, body);
    answer->task = (struct task) {.work = cluster_use_work, .done = answer_done};
    worker_submit(client->dbd->reader, &answer->task);
}

/* ---- clusters ---- */

static int take_cluster(const struct acct_cluster *cluster, void *context, struct error *err) {
    struct answer *answer = context;
    struct acct_cluster copy = *cluster;
    struct str out cleanup_str = STR_INIT;
    copy.key = (struct blob) {NULL, 0}; /* the controller's alone */
    wire_encode(&record_acct_cluster, &copy, NULL, &out);
    frame_add(answer, str_bytes(&out));
    return 0;
}

static int clusters_work(struct task *task, struct acct *acct, struct error *err) {
    return acct_clusters(acct, take_cluster, container_of(task, struct answer, task), err);
}

void query_clusters(struct client *client, uint32_t seq, const void *body) {
    struct answer *answer = answer_new(client, seq, MSG_CLUSTER_LIST, &record_empty, body);
    answer->task = (struct task) {.work = clusters_work, .done = answer_done};
    worker_submit(client->dbd->reader, &answer->task);
}
