/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sacctmgr show event: outages of nodes from rows of history. A row says how a node is from then
 * on; its outage ends with the node's next row.
 */
#include <string.h>

#include "assoc/tell.h"
#include "base/vec.h"
#include "slurmctld/ctld.h"

#define PAGE_ROWS 1000
#define OUTAGES_MAX 1000000 /* of one answer */

struct answer {
    struct ctld *ctld;
    uint64_t client;
    uint32_t seq;
    struct event_query *query; /* owned */
    struct store_filter filter;
    vec(struct acct_outage *) outages; /* owned */
    struct map open;                   /* hash of a node's name -> its outage */
    size_t n_page;
};

static void send_all(struct answer *answer, struct client *client) {
    struct str frame cleanup_str = STR_INIT;
    vec_each (&answer->outages, at) {
        struct str row cleanup_str = STR_INIT;
        if (!acct_outage_passes(answer->query, *at))
            continue;
        wire_encode(&record_acct_outage, *at, NULL, &row);
        wire_append_element(&frame, 1, str_bytes(&row));
        if (frame.length < FRAME_BYTES)
            continue;
        rpc_conn_send(client->conn, MSG_EVENT_LIST, 0, answer->seq, str_bytes(&frame));
        str_reset(&frame);
    }
    rpc_conn_send(client->conn, MSG_EVENT_LIST, RPC_LAST, answer->seq, str_bytes(&frame));
}

static void answer_end(struct answer *answer, const struct error *err) {
    struct client *client = map_get(&answer->ctld->clients, answer->client);
    if (client != NULL && err != NULL)
        reply_error_text(client, answer->seq, -ERR_STORE, err->text);
    else if (client != NULL)
        send_all(answer, client);
    vec_each (&answer->outages, at)
        record_free(&record_acct_outage, *at);
    vec_done(&answer->outages);
    map_done(&answer->open);
    record_free(&record_event_query, answer->query);
    free(answer);
}

static void take_row(struct answer *answer, struct bytes data) {
    struct arena memory;
    struct acct_outage row;
    arena_init(&memory, 0);
    if (wire_decode(&record_acct_outage, data, &memory, &row, NULL) == 0 && row.node != NULL &&
        answer->outages.n < OUTAGES_MAX) {
        uint64_t key = hash_bytes(row.node, strlen(row.node), 0);
        struct acct_outage *before = map_remove(&answer->open, key);
        if (before != NULL)
            before->end = row.start;
        if (!row.up) {
            struct acct_outage *copy = record_dup(&record_acct_outage, &row);
            vec_push(&answer->outages, copy);
            map_put(&answer->open, key, copy);
        }
    }
    arena_done(&memory);
}

static void page(const struct store_history *rows, size_t n, bool is_last, const struct error *err,
                 void *context) {
    struct answer *answer = context;
    for (size_t i = 0; i < n; i++) {
        take_row(answer, rows[i].data);
        answer->filter.after_seq = rows[i].seq;
    }
    answer->n_page += n;
    if (err != NULL && err->code != 0) {
        answer_end(answer, err);
    } else if (is_last && answer->n_page < PAGE_ROWS) {
        answer_end(answer, NULL);
    } else if (is_last) {
        answer->n_page = 0;
        store_history_query(answer->ctld->store, &answer->filter, page, answer);
    }
}

static void stored_before(int code, const struct error *err, void *context) {
    struct answer *answer = context;
    store_history_query(answer->ctld->store, &answer->filter, page, answer);
}

void event_query_start(struct client *client, uint32_t seq, const struct event_query *query) {
    struct answer *answer = zalloc(struct answer);
    answer->ctld = client->ctld;
    answer->client = client->id;
    answer->seq = seq;
    answer->query = record_dup(&record_event_query, query);
    answer->filter.uid = STORE_ANY_UID;
    answer->filter.kinds = 1u << HISTORY_OUTAGE;
    answer->filter.limit = PAGE_ROWS;
    store_submit(client->ctld->store, store_batch_new(), stored_before, answer);
}
