/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of an asynchronous connection; states in conn.h. A state is left only forward. What
 * talks to munged or to the name service runs in a worker with its own copy of what it needs, so
 * that the connection may end meanwhile.
 */
#include "rpc/conn.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/alloc.h"
#include "model/messages.h"

#define LINGER_USEC 10000000u
#define SILENCE_CHECKS 4
#define READS_PER_EVENT 4 /* then others get their turn */

static void conn_timeout(void *context);

struct rpc_conn *conn_new(struct loop *loop, const struct rpc_handlers *handlers, void *context) {
    struct rpc_conn *conn = zalloc(struct rpc_conn);
    conn->refs = 1;
    conn->loop = loop;
    conn->handlers = *handlers;
    conn->context = context;
    conn->fd = -1;
    conn->started_usec = loop_monotonic_usec();
    conn->timer = loop_timer_add(loop, conn_timeout, conn);
    conn->peer.uid = (uid_t) -1;
    conn->peer.gid = (gid_t) -1;
    frame_in_init(&conn->in, HANDSHAKE_FRAME_MAX);
    frame_out_init(&conn->out);
    list_init(&conn->server_link);
    list_init(&conn->waiting_link);
    list_init(&conn->loop_end.link);
    return conn;
}

void conn_ref(struct rpc_conn *conn) {
    assert(conn->refs > 0);
    conn->refs++;
}

void conn_unref(struct rpc_conn *conn) {
    assert(conn->refs > 0);
    if (--conn->refs > 0)
        return;
    assert(conn->state == CONN_DEAD);
    frame_in_done(&conn->in);
    frame_out_done(&conn->out);
    channel_done(&conn->channel);
    sodium_memzero(&conn->key, sizeof(conn->key));
    vec_each (&conn->pending, pending)
        free(pending->body);
    vec_done(&conn->pending);
    free(conn->munge_socket);
    free(conn->cred);
    free(conn);
}

/* ---- watching ---- */

static bool conn_reads(const struct rpc_conn *conn) {
    switch (conn->state) {
    case CONN_HELLO:
    case CONN_VERDICT:
    case CONN_LINGERING:
        return true;
    case CONN_OPEN:
        return !conn->is_paused;
    default:
        return false;
    }
}

static uint32_t conn_events(const struct rpc_conn *conn) {
    uint32_t events = 0;
    if (conn_reads(conn))
        events |= EPOLLIN;
    if (conn->wants_out || conn->state == CONN_CONNECTING)
        events |= EPOLLOUT;
    return events;
}

static void conn_update_events(struct rpc_conn *conn) {
    if (conn->state == CONN_DEAD || conn->fd < 0)
        return;
    if (conn->watch)
        loop_fd_events(conn->watch, conn_events(conn));
    else if (conn_events(conn))
        conn_watch(conn);
}

void conn_watch(struct rpc_conn *conn) {
    assert(!conn->watch && conn->fd >= 0);
    struct error err = ERROR_INIT;
    if (loop_fd_add(conn->loop, conn->fd, conn_events(conn), conn_on_event, conn, &conn->watch,
                    &err) < 0)
        conn_end(conn, &err);
}

/* ---- ending ---- */

void conn_detach(struct rpc_conn *conn) {
    loop_fd_remove(conn->watch);
    conn->watch = NULL;
    loop_timer_free(conn->timer);
    conn->timer = NULL;
    list_remove(&conn->loop_end.link);
    server_forget(conn);
    conn->state = CONN_DEAD;
}

static void conn_tell_closed(struct rpc_conn *conn, const struct error *why) {
    if (conn->told_closed)
        return;
    conn->told_closed = true;
    if (conn->was_ready || conn->is_dialled) {
        if (conn->handlers.closed)
            conn->handlers.closed(conn, why, conn->context);
    } else if (conn->server) {
        server_rejected(conn->server, conn, why);
    }
}

void conn_end(struct rpc_conn *conn, const struct error *why) {
    if (conn->state == CONN_DEAD)
        return;
    struct error copy = *why; /* may lie in what the handlers free */
    struct rpc_server *server = conn->server;
    conn_detach(conn);
    fd_cleanup(&conn->fd);
    conn->fd = -1;
    conn->server = server; /* for the report only */
    conn_tell_closed(conn, &copy);
    conn->server = NULL;
    conn_unref(conn);
}

/* The reason goes out in the clear in place of our verdict; the flush is one try, the buffer of a
 * new socket takes it. Reading what has come first keeps close() from resetting the connection,
 * which would throw the reason away. */
void conn_refuse(struct rpc_conn *conn, const struct error *why) {
    if (conn->state == CONN_DEAD)
        return;
    struct error ignored = ERROR_INIT;
    handshake_refuse(&conn->out, why->text);
    int r = frame_out_flush(&conn->out, conn->fd, &ignored);
    if (r == 0)
        shutdown(conn->fd, SHUT_WR);
    uint8_t scratch[4096];
    for (int i = 0; r == 0 && i < 16; i++)
        if (read(conn->fd, scratch, sizeof(scratch)) <= 0)
            break;
    conn_end(conn, why);
}

static void conn_fail(struct rpc_conn *conn, struct error *why) {
    error_prefix(why, "%s: ", conn->peer.name);
    conn_end(conn, why);
}

/* Looks SILENCE_CHECKS times in the time that is allowed: what the last one sees may have been sent
 * just now. */
static void silence_check_later(struct rpc_conn *conn) {
    uint64_t pause = conn->silence_limit * 1000000ull / SILENCE_CHECKS;
    loop_timer_set(conn->timer, loop_monotonic_usec() + pause);
}

static void silence_check(struct rpc_conn *conn) {
    struct error err = ERROR_INIT;
    bool is_silent = sock_is_unanswered(conn->fd, conn->silence_limit * 1000 / SILENCE_CHECKS);
    conn->silent_checks = is_silent ? conn->silent_checks + 1 : 0;
    if (conn->silent_checks < SILENCE_CHECKS) {
        silence_check_later(conn);
        return;
    }
    error_set(&err, ERR_CLOSED, "%s: no answer for %u s: its host is down, or the network is cut",
              conn->peer.name, conn->silence_limit);
    conn_end(conn, &err);
}

void rpc_conn_limit_silence(struct rpc_conn *conn, unsigned seconds) {
    conn->silence_limit = seconds;
    if (conn->state == CONN_OPEN)
        silence_check_later(conn);
}

static void conn_timeout(void *context) {
    struct rpc_conn *conn = context;
    struct error err = ERROR_INIT;
    if (conn->state == CONN_OPEN) {
        silence_check(conn);
        return;
    }
    bool waits_for_munged = conn->state == CONN_CHECKING || conn->state == CONN_KEYLESS;
    if (conn->state != CONN_LINGERING)
        error_set(&err, ERR_TIMEOUT, "%s: no connection within %u s: %s", conn->peer.name,
                  HANDSHAKE_USEC / 1000000,
                  waits_for_munged
                      ? "munged on this host does not answer: is it stopped or overloaded?"
                      : "the other end hangs or is overloaded, or a firewall drops the packets");
    conn_end(conn, &err);
}

static void closed_post(void *context) {
    struct rpc_conn *conn = context;
    conn_tell_closed(conn, &conn->end);
    conn_unref(conn);
}

static void linger_end(void *context) {
    struct error none = ERROR_INIT;
    conn_end(context, &none);
}

void rpc_conn_close(struct rpc_conn *conn) {
    if (conn->state == CONN_DEAD || conn->state == CONN_LINGERING)
        return;
    bool flushes = conn->state == CONN_OPEN || conn->state == CONN_VERDICT;
    conn->end = (struct error) ERROR_INIT;
    conn_ref(conn);
    loop_post(conn->loop, closed_post, conn);
    if (!flushes) {
        struct error none = ERROR_INIT;
        conn->told_closed = true; /* not within this call */
        conn_end(conn, &none);
        conn->told_closed = false;
        return;
    }
    conn->state = CONN_LINGERING;
    conn->loop_end.fn = linger_end;
    conn->loop_end.context = conn;
    loop_at_free(conn->loop, &conn->loop_end);
    loop_timer_set(conn->timer, loop_monotonic_usec() + LINGER_USEC);
    conn_update_events(conn);
    conn_flush_soon(conn);
}

/* ---- writing ---- */

static void conn_flush(struct rpc_conn *conn) {
    if (conn->state == CONN_DEAD || conn->state == CONN_CONNECTING || conn->fd < 0)
        return;
    struct error err = ERROR_INIT;
    int r = frame_out_flush(&conn->out, conn->fd, &err);
    if (r == -ERR_CLOSED && conn_reads(conn)) {
        /* What the peer said last may still wait to be read, such as a refusal: the reading side
         * finds the end. */
        frame_out_done(&conn->out);
        r = 0;
    }
    if (r < 0) {
        conn_fail(conn, &err);
        return;
    }
    conn->wants_out = r == 1;
    if (r == 0 && conn->state == CONN_LINGERING)
        shutdown(conn->fd, SHUT_WR);
    conn_update_events(conn);
    if (conn->above_low && conn->out.queued < conn->drained_low) {
        conn->above_low = false;
        if ((conn->state == CONN_OPEN || conn->state == CONN_VERDICT) && conn->drained)
            conn->drained(conn, conn->context);
    }
}

static void flush_post(void *context) {
    struct rpc_conn *conn = context;
    conn->flush_posted = false;
    if (!conn->wants_out)
        conn_flush(conn);
    conn_unref(conn);
}

void conn_flush_soon(struct rpc_conn *conn) {
    if (conn->flush_posted || conn->wants_out)
        return;
    conn->flush_posted = true;
    conn_ref(conn);
    loop_post(conn->loop, flush_post, conn);
}

static void overflow_post(void *context) {
    struct rpc_conn *conn = context;
    struct error err = ERROR_INIT;
    error_set(&err, ERR_LIMIT, "it leaves more than %u bytes unread", RPC_QUEUE_MAX);
    if (conn->state != CONN_DEAD)
        conn_fail(conn, &err);
    conn_unref(conn);
}

void rpc_conn_send(struct rpc_conn *conn, uint16_t type, uint16_t flags, uint32_t seq,
                   struct bytes body) {
    if (conn->state == CONN_DEAD || conn->state == CONN_LINGERING)
        return;
    if (!conn->channel.can_send) {
        struct conn_pending pending = {.type = type,
                                       .flags = flags,
                                       .seq = seq,
                                       .body = body.size ? xmemdup(body.data, body.size) : NULL,
                                       .size = body.size};
        vec_push(&conn->pending, pending);
        return;
    }
    size_t before = conn->out.queued;
    channel_seal(&conn->channel, &conn->out, type, flags, seq, body);
    if (conn->out.queued >= conn->drained_low)
        conn->above_low = true;
    if (before <= RPC_QUEUE_MAX && conn->out.queued > RPC_QUEUE_MAX) {
        conn_ref(conn);
        loop_post(conn->loop, overflow_post, conn);
    }
    conn_flush_soon(conn);
}

void rpc_conn_tell(struct rpc_conn *conn, uint16_t type, uint16_t flags, uint32_t seq,
                   const void *record) {
    struct str body cleanup_str = STR_INIT;
    if (record != NULL)
        wire_encode(message_record(type), record, NULL, &body);
    rpc_conn_send(conn, type, flags, seq, str_bytes(&body));
}

void rpc_conn_answer_error(struct rpc_conn *conn, uint32_t seq, int code, const char *detail) {
    struct reply_error reply;
    record_init(&record_reply_error, &reply);
    reply.code = (uint32_t) (code < 0 ? -code : code);
    reply.detail = (char *) (uintptr_t) detail; /* only encoded */
    rpc_conn_tell(conn, MSG_ERROR, RPC_LAST, seq, &reply);
}

static void send_pending(struct rpc_conn *conn) {
    vec_each (&conn->pending, pending) {
        rpc_conn_send(conn, pending->type, pending->flags, pending->seq,
                      (struct bytes) {pending->body, pending->size});
        free(pending->body);
    }
    vec_done(&conn->pending);
}

/* ---- checking the peer's credential ---- */

struct check_job {
    struct rpc_conn *conn;
    enum handshake_role peer_role;
    char *munge_socket, *cred;
    struct handshake_claim claim;
    struct error err;
    int result;
};

static void check_work(void *context) {
    struct check_job *job = context;
    job->result =
        handshake_check(job->munge_socket, job->peer_role, job->cred, &job->claim, &job->err);
}

static void conn_checked(struct rpc_conn *conn, struct check_job *job) {
    struct error *err = &job->err;
    int r = job->result;
    if (r == 0 && conn->is_dialled)
        r = handshake_check_server(&job->claim, conn->server_uid, conn->peer.name, err);
    if (r == 0 && conn->server)
        r = server_check_limit(conn->server, job->claim.uid, err);
    if (r == 0)
        r = handshake_accept(conn->is_dialled ? ROLE_CLIENT : ROLE_SERVER, &conn->key, &job->claim,
                             &conn->channel, &conn->out, err);
    sodium_memzero(&conn->key, sizeof(conn->key));
    if (r < 0) {
        error_prefix(err, "%s: ", conn->peer.name);
        conn_refuse(conn, err);
        return;
    }
    conn->peer.uid = job->claim.uid;
    conn->peer.gid = job->claim.gid;
    size_t length = strlen(conn->peer.name);
    snprintf(conn->peer.name + length, sizeof(conn->peer.name) - length, " (uid %u)",
             (unsigned) job->claim.uid);
    conn->state = CONN_VERDICT;
    conn->in.max = CHANNEL_FRAME_MAX;
    send_pending(conn);
    conn_flush(conn);
    conn_update_events(conn);
    conn_resume_soon(conn);
}

static void check_done(void *context) {
    struct check_job *job = context;
    if (job->conn->state == CONN_CHECKING)
        conn_checked(job->conn, job);
    conn_unref(job->conn);
    free(job->munge_socket);
    free(job->cred);
    free(job);
}

static void conn_check(struct rpc_conn *conn, struct bytes frame) {
    struct error err = ERROR_INIT;
    enum handshake_role peer_role = conn->is_dialled ? ROLE_SERVER : ROLE_CLIENT;
    char *cred = NULL;
    int r;
    if (conn->is_dialled && frame.size > 0 && frame.data[0] == 'R')
        r = handshake_read_verdict(frame, &conn->channel, &err); /* too busy for a hello */
    else
        r = handshake_read_hello(frame, peer_role, &cred, &err);
    if (r < 0) {
        conn_fail(conn, &err);
        return;
    }
    conn->state = CONN_CHECKING;
    conn_update_events(conn);
    struct check_job *job = zalloc(struct check_job);
    job->conn = conn;
    job->peer_role = peer_role;
    job->munge_socket = xstrdup_null(conn->munge_socket);
    job->cred = cred;
    conn_ref(conn);
    loop_work(conn->loop, check_work, check_done, job);
}

/* ---- reading ---- */

static void conn_ready(struct rpc_conn *conn) {
    if (conn->server)
        server_admit(conn);
    conn->state = CONN_OPEN;
    loop_timer_set(conn->timer, 0);
    if (conn->silence_limit > 0)
        silence_check_later(conn);
    conn->was_ready = true;
    if (conn->handlers.ready)
        conn->handlers.ready(conn, conn->context);
}

static void conn_message(struct rpc_conn *conn, struct bytes frame) {
    struct error err = ERROR_INIT;
    struct rpc_message message;
    int r = channel_open(&conn->channel, frame, &message, &err);
    if (r < 0) {
        conn_fail(conn, &err);
    } else if (r == 1 && conn->handlers.message) {
        conn->handlers.message(conn, &message, conn->context);
    }
}

/* Handles frames while there are any and the state wants them. */
static void conn_process(struct rpc_conn *conn) {
    conn_ref(conn);
    while (conn_reads(conn) && conn->state != CONN_LINGERING) {
        struct error err = ERROR_INIT;
        struct bytes frame;
        int r = frame_in_next(&conn->in, &frame, &err);
        if (r == 0)
            break;
        if (r < 0) {
            conn_fail(conn, &err);
        } else if (conn->state == CONN_HELLO) {
            conn_check(conn, frame);
        } else if (conn->state == CONN_VERDICT) {
            if (handshake_read_verdict(frame, &conn->channel, &err) < 0)
                conn_fail(conn, &err);
            else
                conn_ready(conn);
        } else {
            conn_message(conn, frame);
        }
    }
    if (conn->state == CONN_OPEN)
        channel_trim(&conn->channel);
    conn_update_events(conn);
    conn_unref(conn);
}

static void resume_post(void *context) {
    struct rpc_conn *conn = context;
    conn->resume_posted = false;
    if (conn->state != CONN_DEAD)
        conn_process(conn);
    conn_unref(conn);
}

void conn_resume_soon(struct rpc_conn *conn) {
    if (conn->resume_posted || frame_in_rest(&conn->in).size == 0)
        return;
    conn->resume_posted = true;
    conn_ref(conn);
    loop_post(conn->loop, resume_post, conn);
}

/* After our close: whatever still comes is dropped until the peer closes as well. Closing at once
 * would reset the connection and could destroy what we have just sent. */
static void conn_discard(struct rpc_conn *conn) {
    uint8_t scratch[16384];
    ssize_t n = read(conn->fd, scratch, sizeof(scratch));
    if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
        return;
    struct error none = ERROR_INIT;
    conn_end(conn, &none);
}

static void conn_read(struct rpc_conn *conn) {
    for (int i = 0; i < READS_PER_EVENT && conn_reads(conn); i++) {
        if (conn->state == CONN_LINGERING) {
            conn_discard(conn);
            return;
        }
        /* What was read before a pause comes first, or the end of the stream would overtake it. */
        if (frame_in_rest(&conn->in).size > 0) {
            conn_process(conn);
            if (!conn_reads(conn) || conn->state == CONN_LINGERING)
                return;
        }
        struct error err = ERROR_INIT;
        size_t before = frame_in_rest(&conn->in).size;
        int r = frame_in_read(&conn->in, conn->fd, &err);
        if (r < 0)
            conn_fail(conn, &err);
        if (r <= 0)
            return;
        size_t got = frame_in_rest(&conn->in).size - before;
        conn_process(conn);
        if (got < 4096) /* all there was; saves the read that would say so */
            return;
    }
}

/* ---- dialling ---- */

static void conn_try_next(struct rpc_conn *conn, struct error *why) {
    while (conn->next_addr < conn->addrs.n) {
        const struct sock_addr *to = &conn->addrs.items[conn->next_addr++];
        if (sock_dial(to, &conn->fd, why) < 0)
            continue;
        sock_text((const struct sockaddr *) &to->address, false, conn->peer.address);
        conn->state = CONN_CONNECTING;
        conn_watch(conn);
        return;
    }
    conn_fail(conn, why);
}

static void conn_connected(struct rpc_conn *conn) {
    struct error err = ERROR_INIT;
    if (sock_dial_result(conn->fd, &conn->addrs.items[conn->next_addr - 1], &err) < 0) {
        loop_fd_remove(conn->watch);
        conn->watch = NULL;
        fd_cleanup(&conn->fd);
        conn->fd = -1;
        conn_try_next(conn, &err);
        return;
    }
    sock_keepalive(conn->fd, KEEPALIVE_SEC);
    conn_start_hello(conn, conn->cred);
}

void conn_start_hello(struct rpc_conn *conn, const char *cred) {
    conn->state = CONN_HELLO;
    handshake_hello(&conn->out, conn->is_dialled ? ROLE_CLIENT : ROLE_SERVER, cred);
    conn_flush(conn);
    conn_update_events(conn);
}

struct prepare_job {
    struct rpc_conn *conn;
    char *munge_socket, *host;
    uint16_t port;
    struct sock_addrs addrs;
    struct handshake_key key;
    char *cred;
    struct error err;
    int result;
};

static void prepare_work(void *context) {
    struct prepare_job *job = context;
    job->result = sock_resolve(job->host, job->port, &job->addrs, &job->err);
    if (job->result == 0)
        job->result =
            handshake_make(job->munge_socket, ROLE_CLIENT, &job->key, &job->cred, &job->err);
}

static void prepare_done(void *context) {
    struct prepare_job *job = context;
    struct rpc_conn *conn = job->conn;
    if (conn->state == CONN_PREPARING && job->result == 0) {
        conn->addrs = job->addrs;
        conn->key = job->key;
        conn->cred = take(job->cred);
        conn_try_next(conn, &job->err);
    } else if (conn->state == CONN_PREPARING) {
        conn_fail(conn, &job->err);
    }
    conn_unref(conn);
    sodium_memzero(&job->key, sizeof(job->key));
    free(job->munge_socket);
    free(job->host);
    free(job->cred);
    free(job);
}

int rpc_dial(struct loop *loop, const struct rpc_auth *auth, const char *host, uint16_t port,
             uid_t server_uid, const struct rpc_handlers *handlers, void *context,
             struct rpc_conn **ret, struct error *err) {
    assert(loop && auth && host && handlers && ret);
    if (!*host)
        return error_set(err, ERR_INVALID, "cannot connect to a host without a name");
    struct rpc_conn *conn = conn_new(loop, handlers, context);
    conn->state = CONN_PREPARING;
    conn->is_dialled = true;
    conn->munge_socket = xstrdup_null(auth->munge_socket);
    conn->server_uid = server_uid;
    snprintf(conn->peer.name, sizeof(conn->peer.name), strchr(host, ':') ? "[%s]:%u" : "%s:%u",
             host, port);
    loop_timer_set(conn->timer, conn->started_usec + HANDSHAKE_USEC);
    struct prepare_job *job = zalloc(struct prepare_job);
    job->conn = conn;
    job->munge_socket = xstrdup_null(auth->munge_socket);
    job->host = xstrdup(host);
    job->port = port;
    conn_ref(conn);
    loop_work(loop, prepare_work, prepare_done, job);
    *ret = conn;
    return 0;
}

/* ---- events ---- */

void conn_on_event(uint32_t events, void *context) {
    struct rpc_conn *conn = context;
    conn_ref(conn);
    if (conn->state == CONN_CONNECTING) {
        conn_connected(conn);
    } else {
        if (events & EPOLLOUT)
            conn_flush(conn);
        if (conn_reads(conn) && (events & (EPOLLIN | EPOLLHUP | EPOLLERR))) {
            conn_read(conn);
        } else if (events & (EPOLLHUP | EPOLLERR) && conn->watch && !conn->wants_out) {
            /* Level-triggered, and nobody reads: look again when somebody does. */
            loop_fd_remove(conn->watch);
            conn->watch = NULL;
        }
    }
    conn_unref(conn);
}

/* ---- small things ---- */

const struct rpc_peer *rpc_conn_peer(const struct rpc_conn *conn) {
    return &conn->peer;
}

void rpc_conn_set_context(struct rpc_conn *conn, void *context) {
    conn->context = context;
}

void *rpc_conn_context(const struct rpc_conn *conn) {
    return conn->context;
}

size_t rpc_conn_queued(const struct rpc_conn *conn) {
    size_t size = conn->out.queued;
    for (size_t i = 0; i < conn->pending.n; i++)
        size += conn->pending.items[i].size;
    return size;
}

void rpc_conn_on_drained(struct rpc_conn *conn, size_t low,
                         void (*fn)(struct rpc_conn *conn, void *context)) {
    conn->drained_low = max_of(low, (size_t) 1);
    conn->drained = fn;
    conn->above_low = conn->out.queued >= conn->drained_low;
}

void rpc_conn_pause(struct rpc_conn *conn, bool paused) {
    if (conn->is_paused == paused)
        return;
    conn->is_paused = paused;
    conn_update_events(conn);
    if (!paused)
        conn_resume_soon(conn);
}
