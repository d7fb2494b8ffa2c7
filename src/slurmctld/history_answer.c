/* SPDX-License-Identifier: Apache-2.0 */
/* A client's question that rows of history answer, page by page, behind what is being stored. */
#include "slurmctld/history_answer.h"

#define PAGE_ROWS 1000
#define ITEMS_FIELD 1 /* of every list */

static struct client *client_of(const struct history_answer *answer) {
    return map_get(&answer->ctld->clients, answer->client);
}

static void send_frame(struct history_answer *answer, bool last) {
    struct client *client = client_of(answer);
    if (client != NULL)
        rpc_conn_send(client->conn, answer->reply_type, last ? RPC_LAST : 0, answer->seq,
                      str_bytes(&answer->frame));
    str_reset(&answer->frame);
}

void history_answer_add(struct history_answer *answer, struct bytes item) {
    wire_append_element(&answer->frame, ITEMS_FIELD, item);
    if (answer->frame.length >= FRAME_BYTES)
        send_frame(answer, false);
}

static void page(const struct store_history *rows, size_t n, bool is_last, const struct error *err,
                 void *context);

static void next_page(struct history_answer *answer) {
    answer->n_page = 0;
    store_history_query(answer->ctld->store, &answer->filter, page, answer);
}

static void page(const struct store_history *rows, size_t n, bool is_last, const struct error *err,
                 void *context) {
    struct history_answer *answer = context;
    struct client *client = client_of(answer);
    bool failed = err->code != 0;
    for (size_t i = 0; client != NULL && i < n; i++) {
        answer->on_row(answer, &rows[i]);
        answer->filter.after_seq = rows[i].seq;
        answer->filter.after_end = rows[i].end;
    }
    answer->n_page += n;
    if (!is_last && !failed)
        return;
    if (client != NULL && !failed && answer->n_page >= PAGE_ROWS) {
        next_page(answer);
        return;
    }
    if (client != NULL && failed) {
        reply_error_text(client, answer->seq, -ERR_STORE, err->text);
    } else if (client != NULL) {
        if (answer->finish != NULL)
            answer->finish(answer);
        send_frame(answer, true);
    }
    str_done(&answer->frame);
    answer->release(answer);
}

/* All that was to be stored before the question has been; or cannot be, and then what is there must
 * do. */
static void stored_before(int code, const struct error *err, void *context) {
    next_page(context);
}

void history_answer_init(struct history_answer *answer, const struct client *client, uint32_t seq,
                         uint16_t reply_type, uint32_t kinds) {
    answer->ctld = client->ctld;
    answer->client = client->id;
    answer->seq = seq;
    answer->reply_type = reply_type;
    answer->filter.uid = STORE_ANY_UID;
    answer->filter.kinds = kinds;
    answer->filter.limit = PAGE_ROWS;
}

void history_answer_window(struct history_answer *answer, int64_t start, int64_t end) {
    answer->filter.from = start;
    answer->filter.to = end > 0 ? end + 1 : start > 0 ? INT64_MAX : 0;
}

void history_answer_start(struct history_answer *answer) {
    store_submit(answer->ctld->store, store_batch_new(), stored_before, answer);
}
