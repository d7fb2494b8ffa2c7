/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/step_stats.h"

#include "cli/connect.h"
#include "os/loop.h"
#include "os/userdb.h"
#include "rpc/rpc.h"

#define DIALS_MAX 64 /* connections at a time */

struct round {
    struct loop *loop;
    struct rpc_auth auth;
    uid_t slurmd_uid;
    struct arena *arena;
    struct asked *asked;
    size_t n, next, n_open;
};

/* A question under way. */
struct asked {
    struct round *round;
    struct step_stat_ask *ask;
    struct rpc_conn *conn;
    bool is_done;
};

static void dial_more(struct round *round);

static void finish(struct asked *asked) {
    struct round *round = asked->round;

    asked->is_done = true;
    round->n_open--;
    if (asked->conn)
        rpc_conn_close(asked->conn);
    dial_more(round);
}

static void on_message(struct rpc_conn *conn, const struct rpc_message *message, void *context) {
    struct asked *asked = context;
    struct step_stat_ask *ask = asked->ask;
    const struct record *record = message_record(message->type);

    if (asked->is_done || !record)
        return;
    void *body = arena_alloc(asked->round->arena, record->size);
    int r = wire_decode(record, message->body, asked->round->arena, body, &ask->err);
    if (r == 0 && message->type == MSG_STEP_STAT_REPLY) {
        ask->reply = body;
    } else if (r == 0 && message->type == MSG_ERROR) {
        const struct reply_error *error = body;
        (void) error_set(&ask->err, error->code ? error->code : ERR_GENERIC, "%s",
                         error->detail ? error->detail : "");
    } else if (r == 0) {
        (void) error_set(&ask->err, ERR_PROTOCOL, "it answered with %s",
                         message_name(message->type));
    }
    finish(asked);
}

static void on_closed(struct rpc_conn *conn, const struct error *why, void *context) {
    struct asked *asked = context;

    asked->conn = NULL;
    if (asked->is_done)
        return;
    asked->ask->err = *why;
    if (asked->ask->err.code == 0)
        (void) error_set(&asked->ask->err, ERR_CLOSED, "it has ended the connection");
    finish(asked);
}

static const struct rpc_handlers handlers = {.message = on_message, .closed = on_closed};

static void ask_one(struct asked *asked) {
    struct round *round = asked->round;
    struct step_stat_ask *ask = asked->ask;
    struct step_stat question = {ask->job_id, ask->step_id};

    round->n_open++;
    if (rpc_dial(round->loop, &round->auth, ask->address, ask->port, round->slurmd_uid, &handlers,
                 asked, &asked->conn, &ask->err) < 0) {
        asked->conn = NULL;
        asked->is_done = true;
        round->n_open--;
        return;
    }
    rpc_conn_tell(asked->conn, MSG_STEP_STAT, 0, 1, &question);
}

static void dial_more(struct round *round) {
    while (round->next < round->n && round->n_open < DIALS_MAX)
        ask_one(&round->asked[round->next++]);
    if (round->n_open == 0)
        loop_stop(round->loop, 0);
}

/* Whoever has not answered by now does not. */
static void on_deadline(void *context) {
    struct round *round = context;

    for (size_t i = 0; i < round->n; i++) {
        if (!round->asked[i].is_done)
            (void) error_set(&round->asked[i].ask->err, ERR_TIMEOUT, "%s at %s:%u does not answer",
                             round->asked[i].ask->node, round->asked[i].ask->address,
                             round->asked[i].ask->port);
    }
    loop_stop(round->loop, 0);
}

static int slurmd_user(const struct conf *conf, uid_t *ret, struct error *err) {
    struct userdb_user user = {0};

    if (cli_uid_is_plain(conf->slurmd_user, ret))
        return 0;
    int r = userdb_find(conf->slurmd_user, &user, err);
    if (r == 0)
        *ret = user.uid;
    userdb_user_done(&user);
    return r;
}

int step_stats_ask(const struct conf *conf, struct step_stat_ask *asks, size_t n,
                   struct arena *arena, struct error *err) {
    struct round round = {.auth.munge_socket = conf->auth.socket, .arena = arena, .n = n};

    int r = slurmd_user(conf, &round.slurmd_uid, err);
    if (r == 0)
        r = loop_new(&round.loop, err);
    if (r < 0 || n == 0) {
        loop_free(round.loop);
        return r;
    }
    round.asked = xcalloc(n, sizeof(*round.asked));
    for (size_t i = 0; i < n; i++)
        round.asked[i] = (struct asked) {.round = &round, .ask = &asks[i]};
    struct loop_timer *timer = loop_timer_add(round.loop, on_deadline, &round);
    loop_timer_set(timer, loop_monotonic_usec() + conf->message_timeout * 1000000ull);
    dial_more(&round);
    r = loop_run(round.loop, err);
    loop_timer_free(timer);
    for (size_t i = 0; i < n; i++)
        round.asked[i].is_done = true;
    loop_free(round.loop);
    free(round.asked);
    return r < 0 ? r : 0;
}
