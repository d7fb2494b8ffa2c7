/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurmdbd asks which of the runs that have no end there are here. What is not here may have ended
 * just now, with a record that is on its way: so the answer leaves when all records have been
 * delivered that were to be delivered when it was asked. A run that is then neither here nor ended
 * there is one that nobody will end.
 */
#include <stdlib.h>

#include "slurmctld/ctld.h"

struct runs_question {
    struct list link; /* ctld->runs_questions */
    struct ctld *ctld;
    struct rpc_conn *conn;
    uint32_t seq;
    struct str answer;
    uint64_t ahead; /* records that are to be delivered before it */
    bool is_counted;
};

static void question_free(struct runs_question *question) {
    list_remove(&question->link);
    str_done(&question->answer);
    free(question);
}

static void answer_due(struct runs_question *question) {
    if (!question->is_counted || question->ahead > 0)
        return;
    if (deliver_conn(question->ctld) == question->conn)
        rpc_conn_send(question->conn, MSG_DBD_ANSWER, RPC_LAST, question->seq,
                      str_bytes(&question->answer));
    question_free(question);
}

/* All that was to be stored before the question has been. */
static void on_stored(int code, const struct error *err, void *context) {
    struct runs_question *question = context;
    struct deliver_state state;
    (void) deliver_state(question->ctld, &state);
    question->ahead = state.n_waiting;
    question->is_counted = true;
    if (deliver_conn(question->ctld) != question->conn)
        question_free(question);
    else
        answer_due(question);
}

static void store_barrier(void *context) {
    struct runs_question *question = context;
    store_submit(question->ctld->store, store_batch_new(), on_stored, question);
}

/* The turn in which the question came ends first. */
static void barrier_later(void *context) {
    struct runs_question *question = context;
    loop_post(question->ctld->loop, store_barrier, question);
}

void runs_ask(struct ctld *ctld, struct rpc_conn *conn, uint32_t seq, const struct dbd_runs *runs) {
    struct runs_question *question = zalloc(struct runs_question);
    bool *known = xcalloc(runs->items.n + 1, sizeof(*known));
    struct dbd_run *unknown = xcalloc(runs->items.n + 1, sizeof(*unknown));
    struct dbd_answer answer = {.unknown = {unknown, 0}};
    core_runs_known(ctld->core, runs, known);
    for (uint32_t i = 0; i < runs->items.n; i++) {
        if (!known[i])
            unknown[answer.unknown.n++] = runs->items.items[i];
    }
    *question = (struct runs_question) {.ctld = ctld, .conn = conn, .seq = seq, .answer = STR_INIT};
    wire_encode(&record_dbd_answer, &answer, NULL, &question->answer);
    free(known);
    free(unknown);
    list_append(&ctld->runs_questions, &question->link);
    loop_post(ctld->loop, barrier_later, question);
}

void runs_delivered(struct ctld *ctld, uint64_t n) {
    struct list *at = ctld->runs_questions.next;
    while (at != &ctld->runs_questions) {
        struct runs_question *question = list_entry(at, struct runs_question, link);
        at = at->next;
        question->ahead -= min_of(question->ahead, n);
        answer_due(question);
    }
}

void runs_forget(struct ctld *ctld) {
    struct list *at = ctld->runs_questions.next;
    while (at != &ctld->runs_questions) {
        struct runs_question *question = list_entry(at, struct runs_question, link);
        at = at->next;
        if (question->is_counted) /* else it is on its way through the store */
            question_free(question);
    }
}
