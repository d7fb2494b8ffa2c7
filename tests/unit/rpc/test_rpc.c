/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Server and clients over real sockets and a real munged. Blocking clients run in a thread.
 *
 * Covers: channel.c, client.c, conn.c, export.c, handshake.c, server.c
 */
#include "unit.h"

#include <linux/filter.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"
#include "munged.h"
#include "os/frame.h"
#include "os/loop.h"
#include "os/sock.h"
#include "rpc/conn.h"
#include "rpc/handshake.h"
#include "rpc/rpc.h"

#define SECOND 1000000u

static struct munged ours, theirs;
static bool is_there;

static int start(void **state) {
    is_there = munged_start(&ours) == 0 && munged_start(&theirs) == 0;
    return 0;
}

static int stop(void **state) {
    munged_stop(&ours);
    munged_stop(&theirs);
    return 0;
}

static struct bytes text_bytes(const char *text) {
    return (struct bytes) {(const uint8_t *) text, strlen(text)};
}

/* ---- a server that echoes ---- */

struct world {
    struct loop *loop;
    struct rpc_server *server;
    struct rpc_auth auth;
    uint16_t port;
    struct str rejects;
    unsigned n_ready, n_closed, n_messages;
    struct rpc_conn *last;
    char last_name[300];
    int stop_after_closed; /* stop the loop when so many have closed; 0 = never */
    bool closes_after_reply;
    struct loop_timer *guard;
};

static void on_ready(struct rpc_conn *conn, void *context) {
    struct world *w = context;
    w->n_ready++;
    w->last = conn;
    snprintf(w->last_name, sizeof(w->last_name), "%s", rpc_conn_peer(conn)->name);
}

static void on_message(struct rpc_conn *conn, const struct rpc_message *message, void *context) {
    struct world *w = context;
    w->n_messages++;
    rpc_conn_send(conn, message->type + 1, 0, message->seq, message->body);
    rpc_conn_send(conn, message->type + 2, RPC_LAST, message->seq, text_bytes("end"));
    if (w->closes_after_reply)
        rpc_conn_close(conn);
}

static void on_closed(struct rpc_conn *conn, const struct error *why, void *context) {
    struct world *w = context;
    if (++w->n_closed == (unsigned) w->stop_after_closed)
        loop_stop(w->loop, 0);
}

static const struct rpc_handlers echo = {on_ready, on_message, on_closed};

static void on_reject(const struct error *why, void *context) {
    struct world *w = context;
    str_join(&w->rejects, "\n", why->text);
    loop_stop(w->loop, 0);
}

static void on_guard(void *context) {
    fprintf(stderr, "the test hangs\n");
    abort();
}

static void world_open(struct world *w, const struct munged *munged) {
    *w = (struct world) {.auth = {munged->socket}};
    struct error err = ERROR_INIT;
    assert_int_equal(loop_new(&w->loop, &err), 0);
    int r = rpc_server_new(w->loop, &w->auth, "127.0.0.1", 0, &echo, w, &w->server, &err);
    if (r < 0)
        fail_msg("%s", err.text);
    rpc_server_on_reject(w->server, on_reject, w);
    w->port = rpc_server_port(w->server);
    w->guard = loop_timer_add(w->loop, on_guard, w);
    loop_timer_set(w->guard, loop_monotonic_usec() + 60 * SECOND);
}

static void world_run(struct world *w) {
    struct error err = ERROR_INIT;
    assert_int_equal(loop_run(w->loop, &err), 0);
}

static void world_close(struct world *w) {
    rpc_server_free(w->server);
    loop_timer_free(w->guard);
    loop_free(w->loop);
    str_done(&w->rejects);
}

/* ---- a blocking client in a thread ---- */

struct client_thread {
    pthread_t thread;
    struct world *w;
    const char *socket;
    uid_t server_uid;
    size_t size; /* of the request */
    int n;       /* requests */
    int result;  /* first failure or 0 */
    struct error err;
};

static int client_exchange(struct rpc_client *client, struct client_thread *t) {
    cleanup_free uint8_t *body = xmalloc(t->size + 1);
    for (size_t i = 0; i < t->size; i++)
        body[i] = (uint8_t) (i * 7 + i / 251);
    for (int i = 1; i <= t->n; i++) {
        struct rpc_message reply;
        int r = rpc_client_send(client, 100, (struct bytes) {body, t->size}, &t->err);
        if (r == 0)
            r = rpc_client_receive(client, 20 * SECOND, &reply, &t->err);
        if (r < 0)
            return r;
        if (reply.type != 101 || reply.flags != 0 || reply.seq != (uint32_t) i ||
            reply.body.size != t->size || memcmp(reply.body.data, body, t->size) != 0)
            return error_set(&t->err, ERR_GENERIC, "reply %d is not the echo", i);
        r = rpc_client_receive(client, 20 * SECOND, &reply, &t->err);
        if (r < 0)
            return r;
        if (reply.type != 102 || reply.flags != RPC_LAST || reply.body.size != 3)
            return error_set(&t->err, ERR_GENERIC, "reply %d has no end", i);
    }
    return 0;
}

static void *client_run(void *argument) {
    struct client_thread *t = argument;
    struct rpc_auth auth = {t->socket ? t->socket : t->w->auth.munge_socket};
    struct rpc_client *client = NULL;
    t->result = rpc_client_open(&auth, "127.0.0.1", t->w->port, t->server_uid, 20 * SECOND, &client,
                                &t->err);
    if (t->result == 0)
        t->result = client_exchange(client, t);
    rpc_client_close(client);
    return NULL;
}

static void client_start(struct client_thread *t, struct world *w) {
    t->w = w;
    assert_int_equal(pthread_create(&t->thread, NULL, client_run, t), 0);
}

static void client_expect(struct client_thread *t, int result, const char *text) {
    pthread_join(t->thread, NULL);
    if (t->result != result || (text && !strstr(t->err.text, text)))
        fail_msg("client ended with %d: %s", t->result, t->err.text);
}

TEST(requests_and_replies_of_any_size_pass_unchanged) {
    NEED(is_there);
    static const size_t sizes[] = {0, 1, 1000, 65524, 65525, 65536, 131060, 3000000};
    struct world w;
    world_open(&w, &ours);
    for (size_t i = 0; i < countof(sizes); i++) {
        struct client_thread t = {.server_uid = geteuid(), .size = sizes[i], .n = 3};
        w.stop_after_closed = (int) i + 1;
        client_start(&t, &w);
        world_run(&w);
        client_expect(&t, 0, NULL);
    }
    assert_int_equal(w.n_ready, countof(sizes));
    assert_int_equal(w.n_messages, 3 * countof(sizes));
    char uid[32];
    snprintf(uid, sizeof(uid), " (uid %u)", geteuid());
    assert_non_null(strstr(w.last_name, uid));
    assert_memory_equal(w.last_name, "127.0.0.1:", 10);
    world_close(&w);
}

TEST(many_clients_share_one_server_credential) {
    NEED(is_there);
    struct world w;
    world_open(&w, &ours);
    struct client_thread t[20];
    w.stop_after_closed = (int) countof(t);
    for (size_t i = 0; i < countof(t); i++) {
        t[i] = (struct client_thread) {.server_uid = geteuid(), .size = 100, .n = 2};
        client_start(&t[i], &w);
    }
    world_run(&w);
    for (size_t i = 0; i < countof(t); i++)
        client_expect(&t[i], 0, NULL);
    world_close(&w);
}

TEST(another_munge_key_is_named_on_both_sides) {
    NEED(is_there);
    struct world w;
    world_open(&w, &ours);
    struct client_thread t = {.server_uid = geteuid(), .n = 1, .socket = theirs.socket};
    client_start(&t, &w);
    world_run(&w);
    client_expect(&t, -ERR_AUTH, "Munge decode failed: Invalid credential");
    assert_non_null(strstr(t.err.text, "127.0.0.1:"));
    assert_non_null(strstr(str_cstr(&w.rejects), "Munge decode failed: Invalid credential"));
    assert_memory_equal(str_cstr(&w.rejects), "127.0.0.1:", 10);
    assert_int_equal(w.n_ready, 0);
    assert_int_equal(w.n_closed, 0);
    world_close(&w);
}

TEST(only_root_or_the_named_user_may_answer) {
    struct handshake_claim claim = {.uid = 1000};
    struct error err = ERROR_INIT;
    assert_int_equal(handshake_check_server(&claim, 1000, "host:1", &err), 0);
    assert_int_equal(handshake_check_server(&claim, 1001, "host:1", &err), -ERR_AUTH);
    claim.uid = 0;
    assert_int_equal(handshake_check_server(&claim, 1001, "host:1", &err), 0);
}

TEST(nobody_listening_is_told_at_once_with_host_and_port) {
    struct rpc_auth auth = {"/nonexistent"};
    struct rpc_client *client = NULL;
    struct error err = ERROR_INIT;
    uint64_t before = loop_monotonic_usec();
    assert_int_equal(rpc_client_open(&auth, "127.0.0.1", 1, 0, 10 * SECOND, &client, &err),
                     -ERR_CONNECT);
    assert_true(loop_monotonic_usec() - before < 2 * SECOND);
    assert_non_null(strstr(err.text, "127.0.0.1:1"));
    assert_null(client);
}

TEST(a_client_gives_up_on_a_silent_server_after_its_timeout) {
    NEED(is_there);
    int fd = -1;
    struct error err = ERROR_INIT;
    assert_int_equal(sock_listen("127.0.0.1", 0, &fd, &err), 0);
    struct rpc_auth auth = {ours.socket};
    struct rpc_client *client = NULL;
    assert_int_equal(rpc_client_open(&auth, "127.0.0.1", sock_port(fd), 0, 200000, &client, &err),
                     -ERR_TIMEOUT);
    close(fd);
}

TEST(a_server_without_munged_does_not_start) {
    struct loop *loop;
    struct error err = ERROR_INIT;
    assert_int_equal(loop_new(&loop, &err), 0);
    struct rpc_auth auth = {"/nonexistent/socket"};
    struct rpc_server *server = NULL;
    assert_int_equal(rpc_server_new(loop, &auth, "127.0.0.1", 0, &echo, NULL, &server, &err),
                     -ERR_AUTH);
    assert_non_null(strstr(err.text, "/nonexistent/socket"));
    assert_null(server);
    loop_free(loop);
}

TEST(the_last_reply_arrives_although_the_server_closes_at_once) {
    NEED(is_there);
    struct world w;
    world_open(&w, &ours);
    w.closes_after_reply = true;
    w.stop_after_closed = 1;
    struct client_thread t = {.server_uid = geteuid(), .size = 2000000, .n = 1};
    client_start(&t, &w);
    world_run(&w);
    /* closed has been told; the rest is flushed in the background. */
    w.stop_after_closed = 2;
    struct client_thread second = {.server_uid = geteuid(), .size = 10, .n = 1};
    client_start(&second, &w);
    world_run(&w);
    client_expect(&t, 0, NULL);
    client_expect(&second, 0, NULL);
    world_close(&w);
}

/* ---- peers that misbehave ---- */

static int raw_dial(struct world *w) {
    struct error err = ERROR_INIT;
    struct sock_addrs addrs;
    int fd = -1;
    assert_int_equal(sock_resolve("127.0.0.1", w->port, &addrs, &err), 0);
    assert_int_equal(sock_dial(&addrs.items[0], &fd, &err), 0);
    assert_int_equal(sock_wait(fd, POLLOUT, loop_monotonic_usec() + 5 * SECOND, &err), 1);
    return fd;
}

static void raw_expect_reject(const void *data, size_t size, const char *text) {
    struct world w;
    world_open(&w, &ours);
    int fd = raw_dial(&w);
    assert_int_equal(send(fd, data, size, MSG_NOSIGNAL), size);
    world_run(&w);
    if (!strstr(str_cstr(&w.rejects), text))
        fail_msg("unexpected: %s", str_cstr(&w.rejects));
    close(fd);
    world_close(&w);
}

TEST(another_protocol_on_the_port_is_refused) {
    NEED(is_there);
    raw_expect_reject("GET / HTTP/1.0\r\n\r\n", 18, "speaks another protocol");
    raw_expect_reject("\0\0\0\x0eSLUICE\x09"
                      "Cxxxxxx",
                      18, "version 9");
    raw_expect_reject("\0\0\0\x0eSLUICE\x01"
                      "Sxxxxxx",
                      18, "wrong role");
    raw_expect_reject("\0\0\0\x0eSLUICE\x01"
                      "Cxxxxxx",
                      18, "Munge decode failed");
}

static void hello_with(const char *cred, struct str *ret) {
    struct frame_out out;
    frame_out_init(&out);
    handshake_hello(&out, ROLE_CLIENT, cred);
    frame_out_copy(&out, ret);
    frame_out_done(&out);
}

TEST(a_replayed_client_credential_is_refused) {
    NEED(is_there);
    struct handshake_key key;
    cleanup_free char *cred = NULL;
    struct error err = ERROR_INIT;
    assert_int_equal(handshake_make(ours.socket, ROLE_CLIENT, &key, &cred, &err), 0);
    struct handshake_claim claim;
    assert_int_equal(handshake_check(ours.socket, ROLE_CLIENT, cred, &claim, &err), 0);
    assert_memory_equal(claim.public_key, key.public_key, sizeof(key.public_key));
    cleanup_str struct str hello = STR_INIT;
    hello_with(cred, &hello);
    raw_expect_reject(hello.data, hello.length, "Munge decode failed: Replayed credential");
}

TEST(a_server_credential_does_not_pass_for_a_clients) {
    NEED(is_there);
    struct handshake_key key;
    cleanup_free char *cred = NULL;
    struct error err = ERROR_INIT;
    assert_int_equal(handshake_make(ours.socket, ROLE_SERVER, &key, &cred, &err), 0);
    cleanup_str struct str hello = STR_INIT;
    hello_with(cred, &hello);
    raw_expect_reject(hello.data, hello.length, "another purpose");
}

/* ---- asynchronous dialling, flow control, hand-over ---- */

struct dialler {
    struct loop *loop;
    struct str trace;
    size_t received;
    uint32_t n_messages;
    int stop_after; /* messages */
    struct error why;
    struct world *w;
};

static void dial_ready(struct rpc_conn *conn, void *context) {
    struct dialler *d = context;
    str_append(&d->trace, "ready ");
}

static void dial_message(struct rpc_conn *conn, const struct rpc_message *message, void *context) {
    struct dialler *d = context;
    d->received += message->body.size;
    if (++d->n_messages == (uint32_t) d->stop_after)
        loop_stop(d->loop, 0);
}

static void dial_closed(struct rpc_conn *conn, const struct error *why, void *context) {
    struct dialler *d = context;
    d->why = *why;
    str_append(&d->trace, "closed ");
    loop_stop(d->loop, 0);
}

static const struct rpc_handlers dial_handlers = {dial_ready, dial_message, dial_closed};

/* Of our own server, by the name or address of this host. */
static struct rpc_conn *dial(struct world *w, const char *host, struct dialler *d) {
    struct rpc_conn *conn;
    struct error err = ERROR_INIT;
    assert_int_equal(
        rpc_dial(w->loop, &w->auth, host, w->port, geteuid(), &dial_handlers, d, &conn, &err), 0);
    return conn;
}

TEST(messages_queued_while_dialling_are_sent_and_answered) {
    NEED(is_there);
    struct world w;
    world_open(&w, &ours);
    struct dialler d = {.loop = w.loop, .stop_after = 4};
    struct rpc_conn *conn = dial(&w, "localhost", &d);
    rpc_conn_send(conn, 1, 0, 1, text_bytes("first"));
    rpc_conn_send(conn, 1, 0, 2, text_bytes("second"));
    assert_int_equal(rpc_conn_queued(conn), 11);
    world_run(&w);
    assert_string_equal(str_cstr(&d.trace), "ready ");
    assert_int_equal(d.received, 5 + 6 + 2 * 3);
    rpc_conn_close(conn);
    world_run(&w);
    assert_string_equal(str_cstr(&d.trace), "ready closed ");
    assert_int_equal(d.why.code, 0);
    w.stop_after_closed = 1;
    if (w.n_closed == 0)
        world_run(&w);
    str_done(&d.trace);
    world_close(&w);
}

TEST(a_failed_dial_ends_in_closed_with_the_reason) {
    NEED(is_there);
    struct world w;
    world_open(&w, &ours);
    struct dialler d = {.loop = w.loop};
    struct rpc_conn *conn;
    struct error err = ERROR_INIT;
    assert_int_equal(rpc_dial(w.loop, &w.auth, "127.0.0.1", 1, 0, &dial_handlers, &d, &conn, &err),
                     0);
    world_run(&w);
    assert_string_equal(str_cstr(&d.trace), "closed ");
    assert_int_equal(d.why.code, -ERR_CONNECT);
    assert_non_null(strstr(d.why.text, "127.0.0.1:1"));
    str_reset(&d.trace);
    struct rpc_auth wrong = {theirs.socket};
    assert_int_equal(
        rpc_dial(w.loop, &wrong, "127.0.0.1", w.port, 0, &dial_handlers, &d, &conn, &err), 0);
    while (d.trace.length == 0 || w.rejects.length == 0)
        world_run(&w);
    assert_int_equal(d.why.code, -ERR_AUTH);
    assert_non_null(strstr(d.why.text, "Munge decode failed"));
    str_done(&d.trace);
    world_close(&w);
}

TEST(closing_while_dialling_tells_closed_once) {
    NEED(is_there);
    struct world w;
    world_open(&w, &ours);
    struct dialler d = {.loop = w.loop};
    struct rpc_conn *conn;
    struct error err = ERROR_INIT;
    assert_int_equal(
        rpc_dial(w.loop, &w.auth, "127.0.0.1", w.port, 0, &dial_handlers, &d, &conn, &err), 0);
    rpc_conn_close(conn);
    assert_string_equal(str_cstr(&d.trace), ""); /* not within the call */
    world_run(&w);
    assert_string_equal(str_cstr(&d.trace), "closed ");
    str_done(&d.trace);
    world_close(&w);
}

static void on_drained(struct rpc_conn *conn, void *context) {
    struct world *w = context;
    assert_true(rpc_conn_queued(conn) < 100000);
    w->n_messages = 1000;
}

TEST(a_paused_reader_stops_the_sender_and_the_drained_hook_tells_when_it_goes_on) {
    NEED(is_there);
    struct world w;
    world_open(&w, &ours);
    struct dialler d = {.loop = w.loop, .stop_after = 2};
    struct rpc_conn *conn = dial(&w, "127.0.0.1", &d);
    rpc_conn_send(conn, 1, 0, 1, text_bytes("x"));
    world_run(&w);
    rpc_conn_pause(conn, true);
    size_t size = 20u << 20;
    cleanup_free uint8_t *big = xcalloc(1, size);
    struct rpc_conn *sender = w.last;
    rpc_conn_on_drained(sender, 100000, on_drained);
    rpc_conn_send(sender, 9, 0, 0, (struct bytes) {big, size});
    w.n_messages = 0;
    d.n_messages = 0;
    d.stop_after = 1;
    /* Another client makes turns go by; the paused connection delivers nothing meanwhile. */
    w.stop_after_closed = 1;
    struct client_thread t = {.server_uid = geteuid(), .size = 10, .n = 5};
    client_start(&t, &w);
    world_run(&w);
    client_expect(&t, 0, NULL);
    assert_int_equal(d.n_messages, 0);
    assert_int_equal(w.n_messages, 5);
    assert_true(rpc_conn_queued(sender) > 1000000);
    rpc_conn_pause(conn, false);
    d.received = 0;
    world_run(&w);
    assert_int_equal(d.received, size);
    assert_int_equal(w.n_messages, 1000); /* drained */
    str_done(&d.trace);
    rpc_conn_close(conn);
    world_run(&w);
    str_done(&d.trace);
    world_close(&w);
}

TEST(a_connection_whose_cable_is_pulled_ends_after_its_limit) {
    NEED(is_there);
    struct world w;
    world_open(&w, &ours);
    struct dialler d = {.loop = w.loop, .stop_after = 2};
    struct rpc_conn *conn = dial(&w, "127.0.0.1", &d);
    rpc_conn_limit_silence(conn, 1);
    rpc_conn_send(conn, 1, 0, 1, text_bytes("x"));
    world_run(&w);
    struct sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0);
    struct sock_fprog program = {.len = 1, .filter = &drop};
    assert_int_equal(
        setsockopt(w.last->fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)), 0);
    rpc_conn_send(conn, 1, 0, 2, text_bytes("into the void"));
    world_run(&w);
    assert_string_equal(str_cstr(&d.trace), "ready closed ");
    assert_int_equal(d.why.code, -ERR_CLOSED);
    assert_non_null(strstr(d.why.text, "no answer for 1 s"));
    str_done(&d.trace);
    world_close(&w);
}

/* ---- the end of the stream must not overtake what was read before a pause ---- */

struct pauser {
    struct loop *loop;
    struct rpc_conn *conn;
    struct loop_timer *timer;
    struct str got;
};

static void pauser_message(struct rpc_conn *conn, const struct rpc_message *message,
                           void *context) {
    struct pauser *p = context;
    str_printf(&p->got, "%u ", message->type);
    if (message->type == 101) { /* the second reply lies behind it in the same read */
        rpc_conn_pause(conn, true);
        loop_timer_set(p->timer, loop_monotonic_usec() + 50000); /* the peer has closed by then */
    }
}

static void pauser_closed(struct rpc_conn *conn, const struct error *why, void *context) {
    struct pauser *p = context;
    str_append(&p->got, "closed");
    loop_stop(p->loop, 0);
}

static void pauser_go_on(void *context) {
    struct pauser *p = context;
    rpc_conn_pause(p->conn, false);
}

static void pauser_due(void *context) {
    struct pauser *p = context;
    loop_post(p->loop, pauser_go_on, p); /* from a post: descriptors come before the next posts */
}

TEST(replies_read_before_a_pause_are_delivered_although_the_peer_has_closed) {
    NEED(is_there);
    struct world w;
    world_open(&w, &ours);
    w.closes_after_reply = true;
    struct pauser p = {.loop = w.loop};
    p.timer = loop_timer_add(w.loop, pauser_due, &p);
    const struct rpc_handlers handlers = {.message = pauser_message, .closed = pauser_closed};
    struct error err = ERROR_INIT;
    assert_int_equal(
        rpc_dial(w.loop, &w.auth, "127.0.0.1", w.port, geteuid(), &handlers, &p, &p.conn, &err), 0);
    rpc_conn_send(p.conn, 100, 0, 1, text_bytes("x"));
    world_run(&w);
    assert_string_equal(str_cstr(&p.got), "101 102 closed");
    str_done(&p.got);
    loop_timer_free(p.timer);
    world_close(&w);
}

/* The message "move" makes the server hand the connection to another loop. */
struct mover {
    struct loop *loop;
    struct str state;
    int fd;
    unsigned n_messages;
    struct str got;
};

static void move_message(struct rpc_conn *conn, const struct rpc_message *message, void *context) {
    struct mover *m = context;
    m->n_messages++;
    rpc_conn_send(conn, 2, 0, message->seq, text_bytes("before"));
    if (message->body.size == 4) {
        struct error err = ERROR_INIT;
        assert_int_equal(rpc_conn_export(conn, &m->state, &m->fd, &err), 0);
        loop_stop(m->loop, 0);
    }
}

static void adopted_message(struct rpc_conn *conn, const struct rpc_message *message,
                            void *context) {
    struct mover *m = context;
    str_append_bytes(&m->got, message->body.data, message->body.size);
    rpc_conn_send(conn, 3, RPC_LAST, message->seq, text_bytes("after"));
}

static void adopted_closed(struct rpc_conn *conn, const struct error *why, void *context) {
    struct mover *m = context;
    loop_stop(m->loop, 0);
}

static void *move_client(void *argument) {
    struct client_thread *t = argument;
    struct rpc_client *client = NULL;
    struct rpc_auth auth = {t->w->auth.munge_socket};
    cleanup_str struct str got = STR_INIT;
    t->result =
        rpc_client_open(&auth, "127.0.0.1", t->w->port, geteuid(), 20 * SECOND, &client, &t->err);
    /* All at once, so that the third one is read ahead by the process that gives away. */
    for (int i = 0; t->result == 0 && i < 3; i++)
        t->result = rpc_client_send(client, 1, text_bytes(i == 1 ? "move" : "other"), &t->err);
    for (int i = 0; t->result == 0 && i < 3; i++) {
        struct rpc_message reply;
        t->result = rpc_client_receive(client, 20 * SECOND, &reply, &t->err);
        if (t->result == 0)
            str_append_bytes(&got, reply.body.data, reply.body.size);
    }
    if (t->result == 0 && strcmp(str_cstr(&got), "beforebeforeafter") != 0)
        t->result = error_set(&t->err, ERR_GENERIC, "got %s", str_cstr(&got));
    rpc_client_close(client);
    return NULL;
}

TEST(a_connection_handed_to_another_process_goes_on_without_loss) {
    NEED(is_there);
    struct world w = {.auth = {ours.socket}};
    struct mover m = {.fd = -1};
    const struct rpc_handlers giving = {.message = move_message};
    const struct rpc_handlers taking = {.message = adopted_message, .closed = adopted_closed};
    struct error err = ERROR_INIT;
    assert_int_equal(loop_new(&w.loop, &err), 0);
    m.loop = w.loop;
    assert_int_equal(rpc_server_new(w.loop, &w.auth, "127.0.0.1", 0, &giving, &m, &w.server, &err),
                     0);
    w.port = rpc_server_port(w.server);
    struct client_thread t = {.w = &w};
    assert_int_equal(pthread_create(&t.thread, NULL, move_client, &t), 0);
    world_run(&w);
    assert_true(m.fd >= 0);
    assert_int_equal(m.n_messages, 2);
    rpc_server_free(w.server);
    loop_free(w.loop);
    /* A new loop stands for the other process. */
    assert_int_equal(loop_new(&m.loop, &err), 0);
    struct rpc_conn *conn;
    struct bytes state_bytes = {(const uint8_t *) m.state.data, m.state.length};
    assert_int_equal(rpc_conn_adopt(m.loop, m.fd, state_bytes, &taking, &m, &conn, &err), 0);
    assert_int_equal(rpc_conn_peer(conn)->uid, geteuid());
    assert_int_equal(loop_run(m.loop, &err), 0);
    client_expect(&t, 0, NULL);
    assert_string_equal(str_cstr(&m.got), "other");
    str_done(&m.got);
    str_done(&m.state);
    loop_free(m.loop);
}

TEST(a_damaged_hand_over_is_refused) {
    struct loop *loop;
    struct error err = ERROR_INIT;
    assert_int_equal(loop_new(&loop, &err), 0);
    struct rpc_conn *conn = NULL;
    uint8_t junk[2048] = {1};
    assert_int_equal(rpc_conn_adopt(loop, 0, (struct bytes) {junk, 10}, &echo, NULL, &conn, &err),
                     -ERR_PROTOCOL);
    assert_int_equal(
        rpc_conn_adopt(loop, 0, (struct bytes) {junk, sizeof(junk)}, &echo, NULL, &conn, &err),
        -ERR_VERSION);
    assert_null(conn);
    loop_free(loop);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_and_replies_of_any_size_pass_unchanged),
        cmocka_unit_test(many_clients_share_one_server_credential),
        cmocka_unit_test(another_munge_key_is_named_on_both_sides),
        cmocka_unit_test(only_root_or_the_named_user_may_answer),
        cmocka_unit_test(nobody_listening_is_told_at_once_with_host_and_port),
        cmocka_unit_test(a_client_gives_up_on_a_silent_server_after_its_timeout),
        cmocka_unit_test(a_server_without_munged_does_not_start),
        cmocka_unit_test(the_last_reply_arrives_although_the_server_closes_at_once),
        cmocka_unit_test(another_protocol_on_the_port_is_refused),
        cmocka_unit_test(a_replayed_client_credential_is_refused),
        cmocka_unit_test(a_server_credential_does_not_pass_for_a_clients),
        cmocka_unit_test(messages_queued_while_dialling_are_sent_and_answered),
        cmocka_unit_test(a_failed_dial_ends_in_closed_with_the_reason),
        cmocka_unit_test(closing_while_dialling_tells_closed_once),
        cmocka_unit_test(
            a_paused_reader_stops_the_sender_and_the_drained_hook_tells_when_it_goes_on),
        cmocka_unit_test(a_connection_whose_cable_is_pulled_ends_after_its_limit),
        cmocka_unit_test(replies_read_before_a_pause_are_delivered_although_the_peer_has_closed),
        cmocka_unit_test(a_connection_handed_to_another_process_goes_on_without_loss),
        cmocka_unit_test(a_damaged_hand_over_is_refused),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
