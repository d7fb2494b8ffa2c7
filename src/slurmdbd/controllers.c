/* SPDX-License-Identifier: Apache-2.0 */
/* Asking controllers over the connections that they have registered on: a round asks several at
 * once and ends when nobody is waited for any more. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "slurmdbd/dbd.h"

struct wait {
    uint64_t client;
    uint32_t seq;
    char *cluster; /* owned */
};
struct round {
    struct list link;
    struct dbd *dbd;
    struct loop_timer *timer;
    vec(struct wait) waits;
    char *problem, *cluster; /* owned */
    struct strs away;
    const struct dbd_answer *unknown; /* the last answer; lives while it is handled */
    void (*done)(const struct controller_answers *answers, void *context);
    void *context;
};

static void round_end(struct round *round) {
    vec_each (&round->waits, wait) {
        strs_push(&round->away, wait->cluster);
        free(wait->cluster);
    }
    vec_done(&round->waits);
    list_remove(&round->link);
    struct controller_answers answers = {round->problem, round->cluster, round->away,
                                         round->unknown};
    round->done(&answers, round->context);
    loop_timer_free(round->timer);
    strs_done(&round->away);
    free(round->problem);
    free(round->cluster);
    free(round);
}

static void on_patience(void *context) {
    round_end(context);
}

void controllers_ask(struct dbd *dbd, const struct controller_ask *asks, size_t n,
                     void (*done)(const struct controller_answers *answers, void *context),
                     void *context) {
    struct round *round = zalloc(struct round);
    round->dbd = dbd;
    round->done = done;
    round->context = context;
    round->timer = loop_timer_add(dbd->loop, on_patience, round);
    list_append(&dbd->rounds, &round->link);
    for (size_t i = 0; i < n; i++) {
        struct client *client = controller_of(dbd, asks[i].cluster);
        if (client == NULL) {
            strs_push(&round->away, asks[i].cluster);
            continue;
        }
        struct wait wait = {client->id, ++dbd->last_seq, xstrdup(asks[i].cluster)};
        vec_push(&round->waits, wait);
        rpc_conn_send(client->conn, asks[i].type, 0, wait.seq, asks[i].body);
    }
    if (round->waits.n == 0)
        round_end(round);
    else
        loop_timer_set(round->timer, loop_monotonic_usec() + CONTROLLER_PATIENCE_USEC);
}

void controllers_answered(struct client *client, uint32_t seq, const void *body) {
    const struct dbd_answer *answer = body;
    list_each (&client->dbd->rounds, at) {
        struct round *round = list_entry(at, struct round, link);
        for (size_t i = 0; i < round->waits.n; i++) {
            struct wait wait = round->waits.items[i];
            if (wait.client != client->id || wait.seq != seq)
                continue;
            vec_remove(&round->waits, i);
            round->unknown = answer;
            if (answer->problem != NULL && round->problem == NULL) {
                round->problem = xstrdup(answer->problem);
                round->cluster = xstrdup(wait.cluster);
            }
            free(wait.cluster);
            if (round->waits.n == 0)
                round_end(round);
            else
                round->unknown = NULL;
            return;
        }
    }
}

void controllers_client_gone(struct client *client) {
    list_each (&client->dbd->rounds, at) {
        struct round *round = list_entry(at, struct round, link);
        for (size_t i = round->waits.n; i-- > 0;) {
            struct wait wait = round->waits.items[i];
            if (wait.client != client->id)
                continue;
            vec_remove(&round->waits, i);
            strs_push(&round->away, wait.cluster);
            free(wait.cluster);
        }
        if (round->waits.n == 0) {
            round_end(round);
            controllers_client_gone(client); /* the list is another one now */
            return;
        }
    }
}

void controllers_stop(struct dbd *dbd) {
    while (!list_is_empty(&dbd->rounds))
        round_end(list_entry(dbd->rounds.next, struct round, link));
}
