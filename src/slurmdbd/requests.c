/* SPDX-License-Identifier: Apache-2.0 */
/* Messages in: decode, see who asks, find the handler. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/conf_table.h"
#include "os/log.h"
#include "slurmdbd/dbd.h"

#define COMPLAINTS_PER_MINUTE 20

struct client *client_find(struct dbd *dbd, uint64_t id) {
    return map_get(&dbd->clients, id);
}

void reply_record(struct client *client, uint16_t type, uint32_t seq, const void *body) {
    rpc_conn_tell(client->conn, type, RPC_LAST, seq, body);
}

void reply_error_text(struct client *client, uint32_t seq, int code, const char *detail) {
    rpc_conn_answer_error(client->conn, seq, code, detail);
}

static void complain(struct client *client, const char *what) {
    static struct log_limit limit = {.per_minute = COMPLAINTS_PER_MINUTE};
    unsigned suppressed = 0;
    if (log_limit_pass(&limit, loop_monotonic_usec(), &suppressed))
        log_error("%s: %s (%u such lines were left out before)", rpc_conn_peer(client->conn)->name,
                  what, suppressed);
}

/* ---- small answers ---- */

static void ping(struct client *client, uint32_t seq, const void *body) {
    struct dbd *dbd = client->dbd;
    struct ping_reply reply;
    record_init(&record_ping_reply, &reply);
    reply.host = dbd->hostname;
    reply.mode = (char *) (uintptr_t) "primary";
    reply.version = (char *) (uintptr_t) SLUICE_COMPAT_VERSION;
    reply.now = dbd_now();
    reply_record(client, MSG_PING_REPLY, seq, &reply);
}

static void shut_down(struct client *client, uint32_t seq, const void *body) {
    log_info("%s asks slurmdbd to stop", rpc_conn_peer(client->conn)->name);
    reply_record(client, MSG_OK, seq, NULL);
    loop_stop(client->dbd->loop, 0);
}

static void diag(struct client *client, uint32_t seq, const void *body) {
    stats_answer(client, seq);
}

static void clear_stats(struct client *client, uint32_t seq, const void *body) {
    stats_clear(client->dbd);
    reply_record(client, MSG_OK, seq, NULL);
}

static int by_name(const void *a, const void *b) {
    return strcasecmp((*(const struct conf_key *const *) a)->name,
                      (*(const struct conf_key *const *) b)->name);
}

/* slurmdbd.conf as it is in force; anybody may know it but for the password. */
static void list_config(struct client *client, uint32_t seq, const void *body) {
    const struct conf_table *table = &conf_dbd_table;
    struct arena memory;
    struct config_list list;
    size_t n = 0;
    arena_init(&memory, 0);
    const struct conf_key **keys = arena_alloc(&memory, table->n * sizeof(void *));
    for (size_t i = 0; i < table->n; i++) {
        const struct conf_key *key = &table->keys[i];
        if (key->same_as == NULL && !str_equal(key->name, "StoragePass") &&
            key->effect != CONF_OBSOLETE)
            keys[n++] = key;
    }
    qsort(keys, n, sizeof(*keys), by_name);
    record_init(&record_config_list, &list);
    list.boot_time = client->dbd->start_time;
    list.items.items = arena_alloc(&memory, n * sizeof(struct key_value));
    for (size_t i = 0; i < n; i++) {
        struct str value cleanup_str = STR_INIT;
        conf_value_print(keys[i], client->dbd->conf, &value);
        struct key_value *item = &list.items.items[list.items.n++];
        record_init(&record_key_value, item);
        item->key = (char *) (uintptr_t) keys[i]->name;
        item->value = arena_strndup(&memory, str_cstr(&value), value.length);
    }
    reply_record(client, MSG_CONFIG_LIST, seq, &list);
    arena_done(&memory);
}

static void reconfigure(struct client *client, uint32_t seq, const void *body) {
    struct error err = ERROR_INIT;
    if (dbd_reconfigure(client->dbd, &err) < 0)
        reply_error_text(client, seq, -ERR_CONFIG, err.text);
    else
        reply_record(client, MSG_OK, seq, NULL);
}

/* ---- the table ---- */

static const struct handler {
    uint16_t type;
    bool super; /* only root, SlurmUser and slurmdbd's own user */
    void (*fn)(struct client *client, uint32_t seq, const void *body);
} handlers[] = {
    {MSG_PING, false, ping},
    {MSG_SHUTDOWN, true, shut_down},
    {MSG_DIAG, false, diag},
    {MSG_DBD_REGISTER, true, deliver_register},
    {MSG_DBD_EVENTS, true, deliver_events},
    {MSG_ACCT_QUERY, false, query_jobs},
    {MSG_LIST_CHANGES, false, query_changes},
    {MSG_LIST_CLUSTERS, false, query_clusters},
    {MSG_LIST_EVENTS, false, query_events},
    {MSG_LIST_RUNAWAYS, true, runs_runaways},
    {MSG_LIST_CONFIG, false, list_config},
    {MSG_RECONFIGURE, true, reconfigure},
    {MSG_CLEAR_STATS, true, clear_stats},
    {MSG_ARCHIVE, true, purge_archive},
    {MSG_LIST_USAGE, false, query_usage},
    {MSG_LIST_CLUSTER_USE, false, query_cluster_use},
    {MSG_ASSOC_CHANGE, false, book_change},
    {MSG_ASSOC_LOAD, false, book_load},
    {MSG_ASSOC_DUMP, false, book_dump},
    {MSG_LIST_ASSOC, false, book_list},
    {MSG_DBD_BOOK_MINE, true, book_mine},
    {MSG_DBD_ANSWER, true, controllers_answered},
};

static const struct handler *handler_find(uint16_t type) {
    for (size_t i = 0; i < countof(handlers); i++) {
        if (handlers[i].type == type)
            return &handlers[i];
    }
    return NULL;
}

static void on_message(struct rpc_conn *conn, const struct rpc_message *message, void *context) {
    struct client *client = rpc_conn_context(conn);
    struct dbd *dbd = client->dbd;
    const struct handler *handler = handler_find(message->type);
    const struct record *record = message_record(message->type);
    struct error err = ERROR_INIT;
    dbd->n_requests++;
    if (handler == NULL || record == NULL) {
        reply_error_text(client, message->seq, -ERR_NOT_SUPPORTED,
                         "slurmdbd does not take this message");
        return;
    }
    if (handler->super && !dbd_is_super(dbd, rpc_conn_peer(conn)->uid)) {
        complain(client, "only root and SlurmUser may ask this of slurmdbd");
        reply_error_text(client, message->seq, -ERR_ACCESS_DENIED,
                         "only root and SlurmUser may ask this of slurmdbd");
        return;
    }
    arena_reset(&dbd->request_memory);
    void *body = arena_alloc(&dbd->request_memory, record->size);
    int r = wire_decode(record, message->body, &dbd->request_memory, body, &err);
    if (r < 0) {
        complain(client, err.text);
        reply_error_text(client, message->seq, r, err.text);
        return;
    }
    stats_count(dbd, message->type, rpc_conn_peer(conn)->uid);
    handler->fn(client, message->seq, body);
}

static void ready(struct rpc_conn *conn, void *context) {
    struct dbd *dbd = context;
    struct client *client = zalloc(struct client);
    client->id = ++dbd->next_client;
    client->conn = conn;
    client->dbd = dbd;
    map_put(&dbd->clients, client->id, client);
    rpc_conn_set_context(conn, client);
}

static void closed(struct rpc_conn *conn, const struct error *why, void *context) {
    struct client *client = rpc_conn_context(conn);
    struct dbd *dbd = client->dbd;
    map_remove(&dbd->clients, client->id);
    if (client->cluster != NULL)
        log_info("cluster %s: the controller's connection has ended%s%s", client->cluster,
                 why->code != 0 ? ": " : "", why->code != 0 ? why->text : "");
    query_client_gone(client);
    controllers_client_gone(client);
    free(client->cluster);
    free(client);
}

const struct rpc_handlers dbd_handlers = {ready, on_message, closed};
