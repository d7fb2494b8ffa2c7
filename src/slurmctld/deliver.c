/* SPDX-License-Identifier: Apache-2.0 */
/*
 * To slurmdbd: rows of history in the order of their numbers. The history of the store is the
 * outbox: a row is forgotten when slurmdbd has said that it is stored there, so nothing is lost
 * while slurmdbd is away, and nothing counts twice where an answer was lost, because slurmdbd knows
 * the numbers that it has. One delivery is under way at a time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "slurmctld/ctld.h"

#define DELIVERY_ROWS 2000
#define DELIVERY_BYTES (4u << 20)
#define OLD_ROWS ((uint64_t) 1 << 40) /* numbers of newer stores are above */
#define PAUSE_MIN_USEC 100000u
#define PAUSE_MAX_USEC 5000000u
#define REFUSED_USEC 30000000u /* another controller has our name: somebody has to look */

struct deliver {
    struct ctld *ctld;
    struct rpc_conn *conn;
    struct loop_timer *timer;
    uint64_t pause_usec;
    bool at_backup; /* of the two hosts of the configuration */
    bool is_ready, is_registered;
    bool is_busy; /* rows are being read, or a delivery is on its way */
    bool wanted;  /* rows have come meanwhile */
    bool stops;
    bool told; /* the log knows that slurmdbd is away */
    uint64_t stored_seq;
    struct store_query *query; /* that is being answered */
    struct str body;           /* of the delivery that is being made */
    size_t n_rows;             /* in it */
    uint64_t n_waiting;
    int64_t since; /* when the oldest of them was stored, 0 = none */
    char problem[200];
};

/* What a row of history is to slurmdbd; 0 = nothing. */
static uint32_t event_kind(unsigned history_kind) {
    static const uint32_t kinds[] = {[HISTORY_RUN] = ACCT_EVENT_JOB,
                                     [HISTORY_SUPERSEDED] = ACCT_EVENT_JOB,
                                     [HISTORY_CHANGE] = ACCT_EVENT_TRANSACTION,
                                     [HISTORY_OPEN] = ACCT_EVENT_JOB,
                                     [HISTORY_OUTAGE] = ACCT_EVENT_OUTAGE,
                                     [HISTORY_CAPACITY] = ACCT_EVENT_CAPACITY,
                                     [HISTORY_SCRIPT] = ACCT_EVENT_SCRIPT};
    return history_kind < countof(kinds) ? kinds[history_kind] : 0;
}

/* ---- connecting ---- */

/* The configuration may be another one since. */
static const char *host_of(const struct deliver *deliver) {
    const struct conf *conf = deliver->ctld->conf;
    bool backup = deliver->at_backup && conf->accounting_storage_backup_host != NULL;
    return backup ? conf->accounting_storage_backup_host : conf->accounting_storage_host;
}

static void dial(void *context);

static void dial_later(struct deliver *deliver, uint64_t usec) {
    loop_timer_set(deliver->timer, loop_monotonic_usec() + usec);
}

/* For triggers. */
static void event(struct deliver *deliver, enum trigger_event event) {
    struct ctld *ctld = deliver->ctld;
    core_event(ctld->core, ctld_now(ctld), event, ctld->effects);
}

static void problem_note(struct deliver *deliver, const char *text) {
    snprintf(deliver->problem, sizeof(deliver->problem), "%.*s", (int) sizeof(deliver->problem) - 1,
             text);
    if (!deliver->told) {
        log_error("slurmdbd: %s; what it is to be told waits here, nothing is lost", text);
        event(deliver, TRIGGER_DBD_FAIL);
    }
    deliver->told = true;
}

/* It has stored something, or there is nothing to store. */
static void problem_over(struct deliver *deliver) {
    deliver->pause_usec = PAUSE_MIN_USEC;
    deliver->problem[0] = '\0';
    deliver->told = false;
}

static void send_registration(struct deliver *deliver) {
    struct ctld *ctld = deliver->ctld;
    struct str key cleanup_str = STR_INIT;
    struct acct_cluster cluster;
    record_init(&record_acct_cluster, &cluster);
    cluster.name = (char *) (uintptr_t) ctld->conf->cluster_name;
    cluster.control_host = ctld->hostname;
    cluster.control_port = ctld->conf->slurmctld_port.first;
    if (store_get(ctld->store, STORE_CLUSTER_KEY, 1, &key, NULL) == 0)
        cluster.key = (struct blob) {(uint8_t *) key.data, key.length};
    rpc_conn_tell(deliver->conn, MSG_DBD_REGISTER, 0, 1, &cluster);
}

static void ready(struct rpc_conn *conn, void *context) {
    struct deliver *deliver = context;
    deliver->is_ready = true;
    send_registration(deliver);
}

static void closed(struct rpc_conn *conn, const struct error *why, void *context) {
    struct deliver *deliver = context;
    deliver->conn = NULL;
    deliver->is_ready = deliver->is_registered = deliver->is_busy = false;
    str_reset(&deliver->body);
    if (deliver->query != NULL)
        store_query_cancel(deliver->query);
    deliver->query = NULL;
    runs_forget(deliver->ctld);
    if (deliver->stops)
        return;
    if (why->code != 0)
        problem_note(deliver, why->text);
    deliver->at_backup = !deliver->at_backup;
    dial_later(deliver, deliver->pause_usec);
    deliver->pause_usec = min_of(deliver->pause_usec * 2, (uint64_t) PAUSE_MAX_USEC);
}

/* ---- rows out ---- */

static void next(struct deliver *deliver);

static void rows_forget(struct deliver *deliver, uint64_t stored_seq) {
    struct store_batch *batch = store_batch_new();
    store_batch_history_forget(batch, stored_seq);
    store_submit(deliver->ctld->store, batch, NULL, NULL);
    deliver->stored_seq = stored_seq;
}

/* Runs have had no numbers once, and numbers of rows were small then: such a row's stands for its
 * run's. */
static struct bytes body_of(const struct store_history *row, struct str *room) {
    struct arena memory;
    struct acct_job job;
    if (row->seq >= OLD_ROWS || event_kind(row->kind) != ACCT_EVENT_JOB)
        return row->data;
    arena_init(&memory, 0);
    if (wire_decode(&record_acct_job, row->data, &memory, &job, NULL) == 0 && job.job != NULL &&
        job.job->db_index == 0) {
        job.job->db_index = row->seq;
        wire_encode(&record_acct_job, &job, NULL, room);
    }
    arena_done(&memory);
    return room->length > 0 ? str_bytes(room) : row->data;
}

static void page(const struct store_history *rows, size_t n, bool is_last, const struct error *err,
                 void *context) {
    struct deliver *deliver = context;
    if (deliver->stops)
        return;
    for (size_t i = 0; i < n && deliver->is_registered; i++) {
        struct str event cleanup_str = STR_INIT, room cleanup_str = STR_INIT;
        struct bytes body = body_of(&rows[i], &room);
        struct acct_event row = {.seq = rows[i].seq,
                                 .kind = event_kind(rows[i].kind),
                                 .body = {(uint8_t *) (uintptr_t) body.data, body.size}};
        if (deliver->body.length > DELIVERY_BYTES)
            break; /* the rest with the next */
        wire_encode(&record_acct_event, &row, NULL, &event);
        wire_append_element(&deliver->body, 1, str_bytes(&event));
        deliver->n_rows++;
    }
    if (!is_last && err->code == 0)
        return;
    deliver->query = NULL;
    if (err->code != 0)
        problem_note(deliver, err->text);
    if (deliver->is_registered && deliver->n_rows > 0) {
        rpc_conn_send(deliver->conn, MSG_DBD_EVENTS, 0, 1, str_bytes(&deliver->body));
        str_reset(&deliver->body);
        return;
    }
    deliver->is_busy = false;
    if (err->code == 0 && deliver->is_registered) {
        deliver->n_waiting = 0;
        deliver->since = 0;
        problem_over(deliver);
        runs_delivered(deliver->ctld, UINT64_MAX);
    }
    if (deliver->wanted)
        next(deliver);
}

static void next(struct deliver *deliver) {
    if (!deliver->is_registered || deliver->is_busy || deliver->stops)
        return;
    struct store_filter filter = {
        .uid = STORE_ANY_UID, .after_seq = deliver->stored_seq, .limit = DELIVERY_ROWS};
    deliver->is_busy = true;
    deliver->wanted = false;
    deliver->n_rows = 0;
    deliver->query = store_history_query(deliver->ctld->store, &filter, page, deliver);
}

/* ---- answers ---- */

static void on_welcome(struct deliver *deliver, const struct dbd_welcome *welcome) {
    struct store_batch *batch = store_batch_new();
    store_batch_put(batch, STORE_CLUSTER_KEY, 1,
                    (struct bytes) {welcome->key.data, welcome->key.size});
    store_submit(deliver->ctld->store, batch, NULL, NULL);
    deliver->is_registered = true;
    if (deliver->told)
        event(deliver, TRIGGER_DBD_RESUMED);
    log_info("slurmdbd at %s:%u: registered as cluster %s", host_of(deliver),
             deliver->ctld->conf->accounting_storage_port, deliver->ctld->conf->cluster_name);
    book_tell(deliver->ctld, deliver->conn);
    rows_forget(deliver, welcome->last_seq);
    next(deliver);
}

static void on_ack(struct deliver *deliver, const struct dbd_ack *ack) {
    deliver->is_busy = false;
    problem_over(deliver);
    deliver->n_waiting -= min_of(deliver->n_waiting, (uint64_t) deliver->n_rows);
    rows_forget(deliver, ack->last_seq);
    runs_delivered(deliver->ctld, deliver->n_rows);
    next(deliver);
}

/* A refused registration waits for somebody to look; a delivery that could not be stored (the
 * database is away) is sent again soon. */
static void on_error(struct deliver *deliver, const struct reply_error *error) {
    problem_note(deliver, error->detail != NULL ? error->detail : error_text((int) error->code));
    if (!deliver->is_registered)
        deliver->pause_usec = REFUSED_USEC;
    rpc_conn_close(deliver->conn);
}

static void on_message(struct rpc_conn *conn, const struct rpc_message *message, void *context) {
    struct deliver *deliver = context;
    const struct record *record = message_record(message->type);
    struct error err = ERROR_INIT;
    struct arena memory;
    if (record == NULL)
        return;
    arena_init(&memory, 0);
    void *body = arena_alloc(&memory, record->size);
    if (wire_decode(record, message->body, &memory, body, &err) < 0)
        log_error("slurmdbd: %s", err.text);
    else if (message->type == MSG_DBD_WELCOME)
        on_welcome(deliver, body);
    else if (message->type == MSG_DBD_ACK)
        on_ack(deliver, body);
    else if (message->type == MSG_ERROR)
        on_error(deliver, body);
    else if (message->type == MSG_DBD_RUNS)
        runs_ask(deliver->ctld, conn, message->seq, body);
    else
        (void) book_message(deliver->ctld, conn, message->type, message->seq, body);
    arena_done(&memory);
}

static void dial(void *context) {
    static const struct rpc_handlers handlers = {ready, on_message, closed};
    struct deliver *deliver = context;
    struct ctld *ctld = deliver->ctld;
    struct error err = ERROR_INIT;
    if (rpc_dial(ctld->loop, &ctld->auth, host_of(deliver),
                 (uint16_t) ctld->conf->accounting_storage_port, ctld->slurm_uid, &handlers,
                 deliver, &deliver->conn, &err) == 0)
        return;
    problem_note(deliver, err.text);
    dial_later(deliver, PAUSE_MAX_USEC);
}

/* ---- for the others ---- */

void deliver_start(struct ctld *ctld) {
    bool wanted = ctld->conf->accounting_storage_type == CONF_STORAGE_SLURMDBD;
    if (!wanted && ctld->deliver != NULL)
        log_error("AccountingStorageType: deliveries to slurmdbd end when slurmctld is restarted");
    if (!wanted || ctld->deliver != NULL)
        return;
    struct deliver *deliver = zalloc(struct deliver);
    deliver->ctld = ctld;
    deliver->pause_usec = PAUSE_MIN_USEC;
    deliver->timer = loop_timer_add(ctld->loop, dial, deliver);
    /* The time is in the numbers, so that those of a state that is made anew are above those that
     * slurmdbd has of the one before it. */
    struct error err = ERROR_INIT;
    if (store_history_base(ctld->store, (uint64_t) ctld_now(ctld) << 20, &err) < 0)
        log_error("%s", err.text);
    ctld->deliver = deliver;
    store_history_waiting(ctld->store, &deliver->n_waiting, &deliver->since);
    if (deliver->n_waiting > 0)
        log_info("%llu records wait for slurmdbd", (unsigned long long) deliver->n_waiting);
    dial(deliver);
}

/* The loop may still hand it the end of its connection, and a page. */
void deliver_stop(struct ctld *ctld) {
    struct deliver *deliver = ctld->deliver;
    if (deliver == NULL)
        return;
    deliver->stops = true;
    loop_timer_free(deliver->timer);
    if (deliver->conn != NULL)
        rpc_conn_close(deliver->conn);
}

void deliver_free(struct ctld *ctld) {
    struct deliver *deliver = ctld->deliver;
    if (deliver == NULL)
        return;
    str_done(&deliver->body);
    free(deliver);
    ctld->deliver = NULL;
}

void deliver_stored(struct ctld *ctld) {
    struct deliver *deliver = ctld->deliver;
    if (deliver == NULL)
        return;
    deliver->n_waiting++;
    if (deliver->since == 0)
        deliver->since = ctld_now(ctld);
    deliver->wanted = true;
    next(deliver);
}

struct rpc_conn *deliver_conn(const struct ctld *ctld) {
    return ctld->deliver != NULL ? ctld->deliver->conn : NULL;
}

bool deliver_state(const struct ctld *ctld, struct deliver_state *ret) {
    const struct deliver *deliver = ctld->deliver;
    *ret = (struct deliver_state) {.problem = ""};
    if (deliver == NULL)
        return false;
    *ret = (struct deliver_state) {.host = host_of(deliver),
                                   .port = ctld->conf->accounting_storage_port,
                                   .connected = deliver->is_registered,
                                   .n_waiting = deliver->n_waiting,
                                   .since = deliver->since,
                                   .problem = deliver->problem};
    return true;
}
