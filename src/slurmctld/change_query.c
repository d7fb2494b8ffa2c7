/* SPDX-License-Identifier: Apache-2.0 */
/* sacctmgr list transactions: rows of history, page by page, behind what is being stored. */
#include <string.h>

#include "assoc/tell.h"
#include "slurmctld/ctld.h"

#define PAGE_ROWS 1000

struct answer {
    struct ctld *ctld;
    uint64_t client;
    uint32_t seq;
    struct change_query *query; /* owned */
    struct store_filter filter;
    struct str frame;
    size_t n_page;
};

static void answer_end(struct answer *answer, const struct error *err) {
    struct client *client = map_get(&answer->ctld->clients, answer->client);
    if (client != NULL && err != NULL)
        reply_error_text(client, answer->seq, -ERR_STORE, err->text);
    else if (client != NULL)
        rpc_conn_send(client->conn, MSG_CHANGE_LIST, RPC_LAST, answer->seq,
                      str_bytes(&answer->frame));
    record_free(&record_change_query, answer->query);
    str_done(&answer->frame);
    free(answer);
}

static void take_row(struct answer *answer, struct client *client, struct bytes data) {
    struct arena memory;
    struct acct_transaction change;
    arena_init(&memory, 0);
    if (wire_decode(&record_acct_transaction, data, &memory, &change, NULL) == 0 &&
        acct_change_passes(answer->query, &change)) {
        wire_append_element(&answer->frame, 1, data);
        if (answer->frame.length >= FRAME_BYTES) {
            rpc_conn_send(client->conn, MSG_CHANGE_LIST, 0, answer->seq, str_bytes(&answer->frame));
            str_reset(&answer->frame);
        }
    }
    arena_done(&memory);
}

static void page(const struct store_history *rows, size_t n, bool is_last, const struct error *err,
                 void *context) {
    struct answer *answer = context;
    struct client *client = map_get(&answer->ctld->clients, answer->client);
    bool failed = err != NULL && err->code != 0;
    for (size_t i = 0; client != NULL && i < n; i++) {
        take_row(answer, client, rows[i].data);
        answer->filter.after_seq = rows[i].seq;
        answer->filter.after_end = rows[i].end;
    }
    answer->n_page += n;
    if (failed) {
        answer_end(answer, err);
    } else if (is_last && answer->n_page < PAGE_ROWS) {
        answer_end(answer, NULL);
    } else if (is_last && client == NULL) {
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

void change_query_start(struct client *client, uint32_t seq, const struct change_query *query) {
    struct answer *answer = zalloc(struct answer);
    answer->ctld = client->ctld;
    answer->client = client->id;
    answer->seq = seq;
    answer->query = record_dup(&record_change_query, query);
    answer->filter.uid = STORE_ANY_UID;
    answer->filter.from = query->start;
    answer->filter.to = query->end > 0 ? query->end + 1 : query->start > 0 ? INT64_MAX : 0;
    answer->filter.kinds = 1u << HISTORY_CHANGE;
    answer->filter.limit = PAGE_ROWS;
    store_submit(client->ctld->store, store_batch_new(), stored_before, answer);
}
