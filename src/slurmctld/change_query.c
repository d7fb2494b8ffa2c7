/* SPDX-License-Identifier: Apache-2.0 */
/* sacctmgr list transactions: rows of history that pass. */
#include "assoc/tell.h"
#include "slurmctld/history_answer.h"

struct change_answer {
    struct history_answer base;
    struct change_query *query; /* owned */
};

static void take_row(struct history_answer *base, const struct store_history *row) {
    struct change_answer *answer = container_of(base, struct change_answer, base);
    struct arena memory;
    struct acct_transaction change;
    arena_init(&memory, 0);
    if (wire_decode(&record_acct_transaction, row->data, &memory, &change, NULL) == 0 &&
        acct_change_passes(answer->query, &change))
        history_answer_add(base, row->data);
    arena_done(&memory);
}

static void answer_free(struct history_answer *base) {
    struct change_answer *answer = container_of(base, struct change_answer, base);
    record_free(&record_change_query, answer->query);
    free(answer);
}

void change_query_start(struct client *client, uint32_t seq, const struct change_query *query) {
    struct change_answer *answer = zalloc(struct change_answer);
    history_answer_init(&answer->base, client, seq, MSG_CHANGE_LIST, 1u << HISTORY_CHANGE);
    history_answer_window(&answer->base, query->start, query->end);
    answer->base.on_row = take_row;
    answer->base.release = answer_free;
    answer->query = record_dup(&record_change_query, query);
    history_answer_start(&answer->base);
}
