/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sacctmgr show event: outages of nodes from rows of history. A row says how a node is from then
 * on; its outage ends with the node's next row.
 */
#include <string.h>

#include "assoc/tell.h"
#include "base/vec.h"
#include "slurmctld/history_answer.h"

#define OUTAGES_MAX 1000000 /* of one answer */

struct event_answer {
    struct history_answer base;
    struct event_query *query;         /* owned */
    vec(struct acct_outage *) outages; /* owned */
    struct map open;                   /* hash of a node's name -> its outage */
};

static struct event_answer *answer_of(struct history_answer *base) {
    return container_of(base, struct event_answer, base);
}

static void add_all(struct history_answer *base) {
    struct event_answer *answer = answer_of(base);
    vec_each (&answer->outages, at) {
        struct str row cleanup_str = STR_INIT;
        if (!acct_outage_passes(answer->query, *at))
            continue;
        wire_encode(&record_acct_outage, *at, NULL, &row);
        history_answer_add(base, str_bytes(&row));
    }
}

static void answer_free(struct history_answer *base) {
    struct event_answer *answer = answer_of(base);
    vec_each (&answer->outages, at)
        record_free(&record_acct_outage, *at);
    vec_done(&answer->outages);
    map_done(&answer->open);
    record_free(&record_event_query, answer->query);
    free(answer);
}

static void take_row(struct history_answer *base, const struct store_history *history) {
    struct event_answer *answer = answer_of(base);
    struct arena memory;
    struct acct_outage row;
    arena_init(&memory, 0);
    if (wire_decode(&record_acct_outage, history->data, &memory, &row, NULL) == 0 &&
        row.node != NULL && answer->outages.n < OUTAGES_MAX) {
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

void event_query_start(struct client *client, uint32_t seq, const struct event_query *query) {
    struct event_answer *answer = zalloc(struct event_answer);
    history_answer_init(&answer->base, client, seq, MSG_EVENT_LIST, 1u << HISTORY_OUTAGE);
    answer->base.on_row = take_row;
    answer->base.finish = add_all;
    answer->base.release = answer_free;
    answer->query = record_dup(&record_event_query, query);
    history_answer_start(&answer->base);
}
