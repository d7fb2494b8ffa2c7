/* SPDX-License-Identifier: Apache-2.0 */
/* What history knows of jobs that a request depends on; bygone.h says when. */
#include "slurmctld/bygone.h"

#include <string.h>

#include "model/messages.h"

#define PAGE_ROWS 1000
#define PATIENCE_USEC 5000000u /* with slurmdbd */

struct question {
    struct list link; /* desk->questions */
    struct bygone_desk *desk;
    uint64_t client;
    uint32_t seq;
    uint16_t type;
    void *body; /* owned record */
    bygone_ids ids;
    uint64_t *job_ids; /* the same, for the filter */
    struct store_filter filter;
    size_t n_page;
    struct bygone found;
    uint32_t asked_seq; /* under which slurmdbd was asked, 0 = not yet */
    uint64_t deadline_usec;
};

/* Of the controller; its connection to slurmdbd is made for the first question and kept. */
struct bygone_desk {
    struct ctld *ctld;
    struct list questions;
    size_t n;
    struct rpc_conn *conn;
    uint32_t last_seq;
    struct loop_timer *timer; /* the first that waits for slurmdbd has waited long enough */
    bool stops;
};

static void question_free(struct question *question) {
    list_remove(&question->link);
    question->desk->n--;
    record_free(message_record(question->type), question->body);
    bygone_done(&question->found);
    vec_done(&question->ids);
    free(question->job_ids);
    free(question);
}

static void answer(struct question *question) {
    struct client *client = map_get(&question->desk->ctld->clients, question->client);
    if (client != NULL) {
        rpc_conn_pause(client->conn, false);
        request_informed(client, question->type, question->seq, question->body, &question->found);
    }
    question_free(question);
}

/* ---- slurmdbd ---- */

static void arm(struct bygone_desk *desk) {
    uint64_t first = 0;
    list_each (&desk->questions, at) {
        const struct question *question = list_entry(at, struct question, link);
        if (question->asked_seq != 0 && (first == 0 || question->deadline_usec < first))
            first = question->deadline_usec;
    }
    loop_timer_set(desk->timer, first);
}

static void give_up(struct question *question) {
    question->found.problem = "slurmdbd, which has the older ones, does not answer; try again";
    answer(question);
}

/* Its connection has ended, or it has taken too long for one of those who wait. */
static void give_up_all(struct bygone_desk *desk) {
    list_each (&desk->questions, at) {
        struct question *question = list_entry(at, struct question, link);
        if (question->asked_seq != 0)
            give_up(question);
    }
    arm(desk);
}

static void on_timeout(void *context) {
    struct bygone_desk *desk = context;
    rpc_conn_set_context(desk->conn, NULL); /* its end is nobody's business */
    rpc_conn_close(take(desk->conn));
    give_up_all(desk);
}

static void take_list(struct question *question, struct bytes body) {
    struct arena memory;
    struct acct_list list;
    arena_init(&memory, 0);
    if (wire_decode(&record_acct_list, body, &memory, &list, NULL) == 0) {
        for (uint32_t i = 0; i < list.items.n; i++) {
            if (list.items.items[i].job != NULL && !list.items.items[i].superseded)
                bygone_add(&question->found, list.items.items[i].job);
        }
    }
    arena_done(&memory);
}

static void on_message(struct rpc_conn *conn, const struct rpc_message *message, void *context) {
    struct bygone_desk *desk = context;
    struct question *found = NULL;
    if (desk == NULL)
        return;
    list_each (&desk->questions, at) {
        struct question *question = list_entry(at, struct question, link);
        if (question->asked_seq != 0 && question->asked_seq == message->seq)
            found = question;
    }
    if (found == NULL)
        return;
    if (message->type == MSG_ACCT_LIST)
        take_list(found, message->body);
    if (message->type == MSG_ERROR)
        give_up(found);
    else if (message->flags & RPC_LAST)
        answer(found);
    arm(desk);
}

static void closed(struct rpc_conn *conn, const struct error *why, void *context) {
    struct bygone_desk *desk = context;
    if (desk == NULL || desk->stops)
        return;
    desk->conn = NULL;
    give_up_all(desk);
}

static bool dial(struct bygone_desk *desk) {
    static const struct rpc_handlers handlers = {NULL, on_message, closed};
    struct ctld *ctld = desk->ctld;
    struct deliver_state state;
    struct error err = ERROR_INIT;
    if (desk->conn != NULL)
        return true;
    /* Deliveries look for it all the time: where they cannot reach it, nobody needs to wait. */
    if (!deliver_state(ctld, &state) || !state.connected)
        return false;
    return rpc_dial(ctld->loop, &ctld->auth, state.host, (uint16_t) state.port, ctld->slurm_uid,
                    &handlers, desk, &desk->conn, &err) == 0;
}

static void ask_slurmdbd(struct question *question) {
    struct bygone_desk *desk = question->desk;
    struct ctld *ctld = desk->ctld;
    struct acct_query query;
    if (!dial(desk)) {
        give_up(question);
        return;
    }
    record_init(&record_acct_query, &query);
    for (size_t i = 0; i < question->ids.n; i++) {
        cleanup_free char *text = xasprintf("%u", question->ids.items[i]);
        strs_push(&query.ids, text);
    }
    strs_push(&query.clusters, ctld->conf->cluster_name);
    query.all_users = true;
    query.no_steps = true;
    question->asked_seq = ++desk->last_seq;
    question->deadline_usec = loop_monotonic_usec() + PATIENCE_USEC;
    rpc_conn_tell(desk->conn, MSG_ACCT_QUERY, 0, question->asked_seq, &query);
    record_done(&record_acct_query, &query);
    arm(desk);
}

/* ---- the store ---- */

/* What slurmdbd has got is forgotten here, so it is asked behind the store. */
static void stored_known(struct question *question) {
    if (question->desk->ctld->conf->accounting_storage_type == CONF_STORAGE_SLURMDBD)
        ask_slurmdbd(question);
    else
        answer(question);
}

static void page(const struct store_history *rows, size_t n, bool is_last, const struct error *err,
                 void *context) {
    struct question *question = context;
    if (question->desk->stops)
        return;
    for (size_t i = 0; i < n; i++) {
        struct arena memory;
        struct acct_job run;
        arena_init(&memory, 0);
        if (wire_decode(&record_acct_job, rows[i].data, &memory, &run, NULL) == 0 &&
            run.job != NULL)
            bygone_add(&question->found, run.job);
        arena_done(&memory);
        question->filter.after_seq = rows[i].seq;
        question->filter.after_end = rows[i].end;
    }
    question->n_page += n;
    if (!is_last && err->code == 0)
        return;
    if (err->code != 0) {
        question->found.problem = "the controller's history cannot be read at the moment";
        answer(question);
    } else if (question->n_page >= PAGE_ROWS) {
        question->n_page = 0;
        store_history_query(question->desk->ctld->store, &question->filter, page, question);
    } else {
        stored_known(question);
    }
}

/* All that was to be stored before the question has been; or cannot be, and then what is there must
 * do. */
static void stored_before(int code, const struct error *err, void *context) {
    struct question *question = context;
    if (!question->desk->stops)
        store_history_query(question->desk->ctld->store, &question->filter, page, question);
}

/* ---- from outside ---- */

static struct bygone_desk *desk_get(struct ctld *ctld) {
    if (ctld->bygone != NULL)
        return ctld->bygone;
    struct bygone_desk *desk = zalloc(struct bygone_desk);
    desk->ctld = ctld;
    list_init(&desk->questions);
    desk->timer = loop_timer_add(ctld->loop, on_timeout, desk);
    ctld->bygone = desk;
    return desk;
}

static void question_ask(struct question *question) {
    question->job_ids = xcalloc(question->ids.n, sizeof(uint64_t));
    for (size_t i = 0; i < question->ids.n; i++)
        question->job_ids[i] = question->ids.items[i];
    bygone_ask(&question->found, &question->ids);
    question->filter = (struct store_filter) {.job_ids = question->job_ids,
                                              .n_job_ids = question->ids.n,
                                              .uid = STORE_ANY_UID,
                                              .kinds = 1u << HISTORY_RUN,
                                              .limit = PAGE_ROWS};
    store_submit(question->desk->ctld->store, store_batch_new(), stored_before, question);
}

bool bygone_take(struct client *client, uint32_t seq, uint16_t type, const void *body) {
    bygone_ids ids = {0};
    core_asks_bygone(client->ctld->core, type, body, &ids);
    struct bygone_desk *desk = ids.n > 0 ? desk_get(client->ctld) : NULL;
    if (desk == NULL || desk->n >= BYGONE_QUEUE_MAX) {
        vec_done(&ids);
        return false;
    }
    struct question *question = zalloc(struct question);
    question->desk = desk;
    question->client = client->id;
    question->seq = seq;
    question->type = type;
    question->body = record_dup(message_record(type), body);
    question->ids = ids;
    list_append(&desk->questions, &question->link);
    desk->n++;
    rpc_conn_pause(client->conn, true);
    question_ask(question);
    return true;
}

void bygone_stop(struct ctld *ctld) {
    struct bygone_desk *desk = ctld->bygone;
    if (desk == NULL)
        return;
    desk->stops = true;
    loop_timer_free(desk->timer);
    if (desk->conn != NULL)
        rpc_conn_close(desk->conn);
}

void bygone_free(struct ctld *ctld) {
    struct bygone_desk *desk = ctld->bygone;
    if (desk == NULL)
        return;
    list_each (&desk->questions, at)
        question_free(list_entry(at, struct question, link));
    free(desk);
    ctld->bygone = NULL;
}
