/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/spread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define QUEUE_HIGH (4u << 20) /* bytes of one connection */
#define QUEUE_LOW (1u << 20)

struct branch {
    struct spread *spread;
    struct rpc_conn *conn;         /* NULL when it has gone */
    const struct step_node *nodes; /* the first is dialled, the others are its children */
    size_t n;
    bool is_ready, is_over, is_full;
};

struct failure {
    const char *node; /* of the spread's nodes */
    uint32_t number;
    char *text;
    bool is_told;
};

struct spread {
    struct loop *loop;
    const struct rpc_auth *auth;
    uid_t server_uid;
    const struct file_open *open;
    const struct step_node *nodes;
    size_t n_nodes;
    struct spread_handlers handlers;
    void *context;
    struct branch *branches;
    size_t n, n_ready, n_over, n_full;
    vec(struct failure) failures;
    struct loop_timer *at_once; /* without nodes */
    bool told_ready, told_over;
};

/* ---- failures ---- */

static void add_failure(struct spread *spread, const char *node, uint32_t number,
                        const char *text) {
    vec_each (&spread->failures, failure) {
        if (str_equal(failure->node, node))
            return;
    }
    for (size_t i = 0; i < spread->n_nodes; i++) {
        if (!str_equal(spread->nodes[i].name, node))
            continue;
        struct failure failure = {spread->nodes[i].name, number, xstrdup(text), false};
        vec_push(&spread->failures, failure);
        return;
    }
}

void spread_failures(struct spread *spread, struct arena *arena, struct file_failure **ret,
                     size_t *ret_n) {
    struct file_failure *list =
        arena_alloc(arena, (spread->failures.n + 1) * sizeof(struct file_failure));
    size_t n = 0;

    vec_each (&spread->failures, failure) {
        if (failure->is_told)
            continue;
        failure->is_told = true;
        record_init(&record_file_failure, &list[n]);
        list[n].node = arena_strdup(arena, failure->node);
        list[n].number = failure->number;
        list[n].text = arena_strdup(arena, failure->text);
        n++;
    }
    *ret = list;
    *ret_n = n;
}

/* ---- what comes back ---- */

static void tell(struct spread *spread) {
    if (spread->n_ready == spread->n && !spread->told_ready) {
        spread->told_ready = true;
        spread->handlers.ready(spread->context);
    }
    if (spread->n_over == spread->n && !spread->told_over) {
        spread->told_over = true;
        spread->handlers.over(spread->context);
    }
}

static void set_full(struct branch *branch, bool is_full) {
    struct spread *spread = branch->spread;

    if (branch->is_full == is_full)
        return;
    branch->is_full = is_full;
    spread->n_full += is_full ? 1u : (size_t) -1;
    if (!is_full && spread->n_full == 0)
        spread->handlers.drained(spread->context);
}

static void branch_result(struct branch *branch, const struct file_result *result) {
    struct spread *spread = branch->spread;

    for (uint32_t i = 0; i < result->failures.n; i++) {
        const struct file_failure *failure = &result->failures.items[i];
        if (failure->node)
            add_failure(spread, failure->node, failure->number, failure->text ? failure->text : "");
    }
    if (!branch->is_ready) {
        branch->is_ready = true;
        spread->n_ready++;
    }
    if (result->over && !branch->is_over) {
        branch->is_over = true;
        spread->n_over++;
        rpc_conn_close(branch->conn);
    }
    tell(spread);
}

/* The whole part is lost. */
static void branch_lost(struct branch *branch, uint32_t number, const char *why) {
    struct spread *spread = branch->spread;

    if (branch->is_over)
        return;
    for (size_t i = 0; i < branch->n; i++)
        add_failure(spread, branch->nodes[i].name, number, why);
    if (!branch->is_ready)
        spread->n_ready++;
    branch->is_ready = branch->is_over = true;
    spread->n_over++;
    set_full(branch, false);
    tell(spread);
}

static void on_message(struct rpc_conn *conn, const struct rpc_message *message, void *context) {
    struct branch *branch = context;
    struct arena arena;
    struct file_result result;
    struct reply_error error;

    arena_init(&arena, 16u << 20);
    if (message->type == MSG_FILE_RESULT &&
        wire_decode(&record_file_result, message->body, &arena, &result, NULL) == 0)
        branch_result(branch, &result);
    else if (message->type == MSG_ERROR &&
             wire_decode(&record_reply_error, message->body, &arena, &error, NULL) == 0)
        branch_lost(branch, EACCES, error.detail ? error.detail : error_text((int) error.code));
    arena_done(&arena);
}

static void on_closed(struct rpc_conn *conn, const struct error *why, void *context) {
    struct branch *branch = context;

    branch->conn = NULL;
    branch_lost(branch, ECONNABORTED, why->code ? why->text : "it has gone");
}

static void on_drained(struct rpc_conn *conn, void *context) {
    set_full(context, false);
}

static const struct rpc_handlers conn_handlers = {.message = on_message, .closed = on_closed};

/* ---- down ---- */

void spread_send(struct spread *spread, struct bytes body) {
    for (size_t i = 0; i < spread->n; i++) {
        struct branch *branch = &spread->branches[i];
        if (!branch->conn || branch->is_over)
            continue;
        rpc_conn_send(branch->conn, MSG_FILE_DATA, 0, 0, body);
        if (!branch->is_full && rpc_conn_queued(branch->conn) > QUEUE_HIGH) {
            set_full(branch, true);
            rpc_conn_on_drained(branch->conn, QUEUE_LOW, on_drained);
        }
    }
}

bool spread_is_full(const struct spread *spread) {
    return spread->n_full > 0;
}

static void branch_dial(struct branch *branch) {
    struct spread *spread = branch->spread;
    struct error err = ERROR_INIT;
    struct file_open open = *spread->open;

    if (rpc_dial(spread->loop, spread->auth, branch->nodes[0].address,
                 (uint16_t) branch->nodes[0].port, spread->server_uid, &conn_handlers, branch,
                 &branch->conn, &err) < 0) {
        branch->conn = NULL;
        branch_lost(branch, ECONNABORTED, err.text);
        return;
    }
    rpc_conn_limit_silence(branch->conn, max_of(open.silence, 1u));
    open.children.items = (struct step_node *) (uintptr_t) (branch->nodes + 1);
    open.children.n = (uint32_t) branch->n - 1;
    rpc_conn_tell(branch->conn, MSG_FILE_OPEN, 0, 1, &open);
}

static void on_at_once(void *context) {
    struct spread *spread = context;

    for (size_t i = 0; i < spread->n; i++)
        branch_dial(&spread->branches[i]);
    tell(spread);
}

struct spread *spread_new(struct loop *loop, const struct rpc_auth *auth, uid_t server_uid,
                          const struct file_open *open, const struct step_node *nodes, size_t n,
                          const struct spread_handlers *handlers, void *context) {
    struct spread *spread = zalloc(struct spread);
    size_t fanout = min_of((size_t) max_of(open->fanout, 1u), (size_t) SPREAD_FANOUT_MAX);

    spread->loop = loop;
    spread->auth = auth;
    spread->server_uid = server_uid;
    spread->open = open;
    spread->nodes = nodes;
    spread->n_nodes = n;
    spread->handlers = *handlers;
    spread->context = context;
    spread->n = min_of(n, fanout);
    spread->branches = xcalloc(spread->n + 1, sizeof(*spread->branches));
    for (size_t i = 0; i < spread->n; i++) {
        size_t from = n * i / spread->n, to = n * (i + 1) / spread->n;
        spread->branches[i] =
            (struct branch) {.spread = spread, .nodes = nodes + from, .n = to - from};
    }
    spread->at_once = loop_timer_add(loop, on_at_once, spread); /* no handler within this call */
    loop_timer_set(spread->at_once, 1);
    return spread;
}

void spread_close(struct spread *spread) {
    if (!spread)
        return;
    for (size_t i = 0; i < spread->n; i++) {
        spread->branches[i].is_over = true;
        if (spread->branches[i].conn)
            rpc_conn_close(spread->branches[i].conn);
    }
    loop_timer_free(spread->at_once);
    spread->at_once = NULL;
}

void spread_free(struct spread *spread) {
    if (!spread)
        return;
    vec_each (&spread->failures, failure)
        free(failure->text);
    vec_done(&spread->failures);
    free(spread->branches);
    free(spread);
}
