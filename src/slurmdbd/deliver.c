/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Controllers: a registration says which cluster they are of, deliveries follow in order. A cluster
 * has one controller: one that comes with another key is refused, and so is one without a key (its
 * state is new) as long as another is connected.
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "os/log.h"
#include "slurmdbd/dbd.h"

#define KEY_BYTES 16
#define EVENTS_MAX 100000 /* of one delivery */
#define COMPLAINTS_PER_MINUTE 6

/* ---- registration ---- */

struct registration {
    struct task task;
    struct dbd *dbd;
    uint64_t client;
    uint32_t seq;
    struct acct_cluster *cluster; /* owned */
    bool is_new;                  /* the controller had no key */
    uint64_t last_seq, n_closed;
};

static void registration_free(struct registration *reg) {
    record_free(&record_acct_cluster, reg->cluster);
    free(reg);
}

static int register_work(struct task *task, struct acct *acct, struct error *err) {
    struct registration *reg = container_of(task, struct registration, task);
    struct acct_cluster *cluster = reg->cluster;
    int64_t now = dbd_now();
    int r = 0;
    if (reg->is_new) { /* takes the name over, then gets a key */
        r = acct_cluster_put(acct, cluster, now, err);
        cluster->key.data = xmalloc(KEY_BYTES);
        cluster->key.size = KEY_BYTES;
        randombytes_buf(cluster->key.data, KEY_BYTES);
    }
    if (r == 0)
        r = acct_cluster_put(acct, cluster, now, err);
    if (r == 0)
        r = acct_last_seq(acct, cluster->name, &reg->last_seq, err);
    /* What the state before it has left open, nobody will end. Its own come later. */
    if (r == 0 && reg->is_new)
        r = acct_runs_close(acct, cluster->name, NULL, 0, true, JOB_NODE_FAIL, now, &reg->n_closed,
                            err);
    return r;
}

struct client *controller_of(struct dbd *dbd, const char *cluster) {
    size_t at = 0;
    uint64_t id;
    struct client *client;
    while ((client = map_next(&dbd->clients, &at, &id)) != NULL) {
        if (str_equal_nocase(client->cluster, cluster))
            return client;
    }
    return NULL;
}

static void register_done(struct task *task) {
    struct registration *reg = container_of(task, struct registration, task);
    struct client *client = client_find(reg->dbd, reg->client);
    const struct acct_cluster *cluster = reg->cluster;
    dbd_note_database(reg->dbd, task);
    if (task->code == -ERR_EXISTS)
        log_error("cluster %s: %s", cluster->name, task->err.text);
    if (task->code == 0 && reg->n_closed > 0)
        log_error(
            "cluster %s: its controller has a new state, %llu jobs that ran in the one before "
            "are ended as NODE_FAIL",
            cluster->name, (unsigned long long) reg->n_closed);
    if (client != NULL && task->code < 0) {
        reply_error_text(client, reg->seq, task->code, task->err.text);
    } else if (client != NULL) {
        struct client *other = controller_of(reg->dbd, cluster->name);
        if (other != NULL && other != client) {
            log_info("cluster %s: a newer connection replaces the former one", cluster->name);
            string_set(&other->cluster, NULL);
            rpc_conn_close(other->conn);
        }
        string_set(&client->cluster, cluster->name);
        struct dbd_welcome welcome = {.last_seq = reg->last_seq, .key = cluster->key};
        reply_record(client, MSG_DBD_WELCOME, reg->seq, &welcome);
        log_info("cluster %s registered: controller %s:%u, events up to %llu are stored",
                 cluster->name, cluster->control_host, cluster->control_port,
                 (unsigned long long) reg->last_seq);
    }
    registration_free(reg);
}

void deliver_register(struct client *client, uint32_t seq, const void *body) {
    const struct acct_cluster *cluster = body;
    struct dbd *dbd = client->dbd;
    if (cluster->name == NULL || cluster->name[0] == '\0') {
        reply_error_text(client, seq, -ERR_INVALID, "a controller registers with a ClusterName");
        return;
    }
    struct client *other = controller_of(dbd, cluster->name);
    if (other != NULL && other != client && cluster->key.size == 0) {
        cleanup_free char *text = xasprintf(
            "another controller, at %s, is connected as cluster %s: give one of the two another "
            "ClusterName, or stop the other one",
            rpc_conn_peer(other->conn)->name, cluster->name);
        log_error("cluster %s: %s is refused: %s", cluster->name, rpc_conn_peer(client->conn)->name,
                  text);
        reply_error_text(client, seq, -ERR_EXISTS, text);
        return;
    }
    struct registration *reg = zalloc(struct registration);
    reg->task = (struct task) {.work = register_work, .done = register_done};
    reg->dbd = dbd;
    reg->client = client->id;
    reg->seq = seq;
    reg->cluster = record_dup(&record_acct_cluster, cluster);
    reg->is_new = cluster->key.size == 0;
    worker_submit(dbd->writer, &reg->task);
}

/* ---- events ---- */

struct delivery {
    struct task task;
    struct dbd *dbd;
    uint64_t client;
    uint32_t seq;
    char *cluster;             /* owned */
    struct dbd_events *events; /* owned */
    struct acct_ingested result;
};

static int delivery_work(struct task *task, struct acct *acct, struct error *err) {
    struct delivery *delivery = container_of(task, struct delivery, task);
    return acct_ingest(acct, delivery->cluster, delivery->events->items.items,
                       delivery->events->items.n, &delivery->result, err);
}

/* A database that is away is told of once by dbd_note_database(). */
static void complain(const struct delivery *delivery) {
    static struct log_limit limit = {.per_minute = COMPLAINTS_PER_MINUTE};
    const struct task *task = &delivery->task;
    unsigned suppressed = 0;
    if (task->code < 0 && task->code != -ERR_BUSY && task->code != -ERR_CLOSED &&
        log_limit_pass(&limit, loop_monotonic_usec(), &suppressed))
        log_error("cluster %s: a delivery could not be stored, its controller keeps it: %s (%u "
                  "such lines were left out before)",
                  delivery->cluster, task->err.text, suppressed);
}

static void delivery_done(struct task *task) {
    struct delivery *delivery = container_of(task, struct delivery, task);
    struct dbd *dbd = delivery->dbd;
    struct client *client = client_find(dbd, delivery->client);
    const struct acct_ingested *result = &delivery->result;
    dbd_note_database(dbd, task);
    complain(delivery);
    if (task->code == 0) {
        dbd->n_events += result->n_new;
        dbd->n_events_before += delivery->events->items.n - result->n_new;
        dbd->n_rejected += result->n_rejected;
        if (result->n_rejected > 0)
            log_error("cluster %s: %u events could not be read, the table rejected keeps them",
                      delivery->cluster, result->n_rejected);
    }
    if (client != NULL && task->code < 0) {
        reply_error_text(client, delivery->seq, task->code, task->err.text);
    } else if (client != NULL) {
        struct dbd_ack ack = {.last_seq = result->last_seq};
        reply_record(client, MSG_DBD_ACK, delivery->seq, &ack);
    }
    record_free(&record_dbd_events, delivery->events);
    free(delivery->cluster);
    free(delivery);
}

void deliver_events(struct client *client, uint32_t seq, const void *body) {
    const struct dbd_events *events = body;
    if (client->cluster == NULL) {
        reply_error_text(client, seq, -ERR_ACCESS_DENIED,
                         "events come from a controller that has registered");
        return;
    }
    if (events->items.n > EVENTS_MAX) {
        reply_error_text(client, seq, -ERR_LIMIT, "too many events in one delivery");
        return;
    }
    struct delivery *delivery = zalloc(struct delivery);
    delivery->task = (struct task) {.work = delivery_work, .done = delivery_done};
    delivery->dbd = client->dbd;
    delivery->client = client->id;
    delivery->seq = seq;
    delivery->cluster = xstrdup(client->cluster);
    delivery->events = record_dup(&record_dbd_events, events);
    worker_submit(client->dbd->writer, &delivery->task);
}
