/* SPDX-License-Identifier: Apache-2.0 */
/* What the cluster has had, for sreport: rows of history, in their order. */
#include "slurmctld/history_answer.h"

static void take_row(struct history_answer *base, const struct store_history *row) {
    history_answer_add(base, row->data); /* a record_acct_capacity, as it is sent */
}

static void answer_free(struct history_answer *base) {
    free(base);
}

void capacity_query_start(struct client *client, uint32_t seq) {
    struct history_answer *answer = zalloc(struct history_answer);
    history_answer_init(answer, client, seq, MSG_CAPACITY_LIST, 1u << HISTORY_CAPACITY);
    answer->on_row = take_row;
    answer->release = answer_free;
    history_answer_start(answer);
}
