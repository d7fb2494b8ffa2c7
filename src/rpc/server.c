/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The accepting side: one listener, one credential that serves many connections, and the limits
 * that keep unauthenticated or greedy peers from costing us more than they may:
 *
 *   HANDSHAKES_MAX   connections that have not authenticated, at most half of our descriptors; one
 *                    more ends the oldest of them: peers which say nothing keep nobody out
 *   CONNS_PER_UID    authenticated connections of one user other than root and our own
 *   REJECTS_PER_SEC  reports of failed handshakes; more are counted and told with the next one
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "rpc/conn.h"

#define HANDSHAKES_MAX 1024
#define CONNS_PER_UID 1024
#define ACCEPTS_PER_EVENT 64
#define ACCEPT_RETRY_USEC 100000u   /* after running out of descriptors or of old strangers */
#define STRANGER_USEC 200000u       /* to authenticate in, whoever else is at the door */
#define CRED_REFRESH_USEC 30000000u /* older: make the next one while this one is still used */
#define CRED_MAX_USEC 60000000u     /* older: not used any more */
#define REJECTS_PER_SEC 5

struct rpc_server {
    struct loop *loop;
    struct rpc_handlers handlers;
    void *context;
    char *munge_socket;
    uid_t own_uid;
    int listen_fd;
    struct loop_fd *watch;
    struct loop_timer *retry;
    bool is_paused;        /* by the user */
    bool is_backoff;       /* out of room, until retry */
    struct list conns;     /* authenticated */
    struct list strangers; /* not yet, the oldest first */
    size_t n_handshakes, handshakes_max;
    struct map per_uid; /* uid + 1 -> count (as pointer) of admitted connections */

    struct handshake_key key;
    char *cred;
    uint64_t cred_usec; /* when it was made */
    struct cred_job *job;
    struct list keyless; /* connections that wait for a credential */

    void (*on_reject)(const struct error *why, void *context);
    void *reject_context;
    uint64_t reject_second;
    unsigned n_rejects, n_suppressed;
};

/* ---- our credential ---- */

struct cred_job {
    struct rpc_server *server; /* NULL once the server is gone */
    char *munge_socket;
    struct handshake_key key;
    char *cred;
    struct error err;
    int result;
};

static void cred_work(void *context) {
    struct cred_job *job = context;
    job->result = handshake_make(job->munge_socket, ROLE_SERVER, &job->key, &job->cred, &job->err);
}

static void server_greet(struct rpc_server *server, struct rpc_conn *conn) {
    conn->key = server->key;
    conn_start_hello(conn, server->cred);
}

static void server_set_cred(struct rpc_server *server, const struct handshake_key *key,
                            char *cred) {
    free(server->cred);
    server->cred = cred;
    server->key = *key;
    server->cred_usec = loop_monotonic_usec();
}

static void cred_done(void *context) {
    struct cred_job *job = context;
    struct rpc_server *server = job->server;
    if (server) {
        server->job = NULL;
        if (job->result == 0)
            server_set_cred(server, &job->key, take(job->cred));
        while (!list_is_empty(&server->keyless)) {
            struct rpc_conn *conn = list_entry(server->keyless.next, struct rpc_conn, waiting_link);
            list_remove(&conn->waiting_link);
            if (job->result == 0)
                server_greet(server, conn);
            else
                conn_refuse(conn, &job->err);
        }
    }
    sodium_memzero(&job->key, sizeof(job->key));
    free(job->munge_socket);
    free(job->cred);
    free(job);
}

static void server_refresh(struct rpc_server *server) {
    if (server->job)
        return;
    struct cred_job *job = zalloc(struct cred_job);
    job->server = server;
    job->munge_socket = xstrdup_null(server->munge_socket);
    server->job = job;
    loop_work(server->loop, cred_work, cred_done, job);
}

/* ---- accepting ---- */

static void server_update_accept(struct rpc_server *server) {
    bool accepts = !server->is_paused && !server->is_backoff;
    loop_fd_events(server->watch, accepts ? EPOLLIN : 0);
}

static void server_retry(void *context) {
    struct rpc_server *server = context;
    server->is_backoff = false;
    server_update_accept(server);
}

static void server_take(struct rpc_server *server, int fd, const struct sock_addr *from) {
    struct rpc_conn *conn = conn_new(server->loop, &server->handlers, server->context);
    conn->server = server;
    conn->fd = fd;
    conn->munge_socket = xstrdup_null(server->munge_socket);
    sock_text((const struct sockaddr *) &from->address, false, conn->peer.address);
    sock_text((const struct sockaddr *) &from->address, true, conn->peer.name);
    list_append(&server->strangers, &conn->server_link);
    server->n_handshakes++;
    sock_nodelay(fd);
    sock_keepalive(fd, KEEPALIVE_SEC);
    loop_timer_set(conn->timer, conn->started_usec + HANDSHAKE_USEC);
    conn->state = CONN_KEYLESS;
    conn_watch(conn);
    if (conn->state == CONN_DEAD)
        return;
    uint64_t age = loop_monotonic_usec() - server->cred_usec;
    if (age >= CRED_REFRESH_USEC)
        server_refresh(server);
    if (age < CRED_MAX_USEC)
        server_greet(server, conn);
    else
        list_append(&server->keyless, &conn->waiting_link);
}

static void server_report(struct rpc_server *server, const struct error *why);

/* Ends the connection that has been here longest without saying who it is. */
static bool server_make_room(struct rpc_server *server) {
    struct error err = ERROR_INIT;
    if (list_is_empty(&server->strangers))
        return false;
    struct rpc_conn *oldest = list_entry(server->strangers.next, struct rpc_conn, server_link);
    if (loop_monotonic_usec() - oldest->started_usec < STRANGER_USEC)
        return false;
    error_set(&err, ERR_LIMIT, "%s: it did not authenticate, and its place was needed",
              oldest->peer.name);
    conn_end(oldest, &err);
    return true;
}

/* The waiting connection keeps the listener readable: without a pause the loop would spin until
 * there is room. */
static void server_back_off(struct rpc_server *server) {
    server->is_backoff = true;
    loop_timer_set(server->retry, loop_monotonic_usec() + ACCEPT_RETRY_USEC);
}

static void server_accept(uint32_t events, void *context) {
    struct rpc_server *server = context;
    for (int i = 0; i < ACCEPTS_PER_EVENT; i++) {
        struct error err = ERROR_INIT;
        struct sock_addr from;
        int fd;
        if (server->n_handshakes >= server->handshakes_max && !server_make_room(server)) {
            server_back_off(server);
            break;
        }
        if (sock_accept(server->listen_fd, &fd, &from, &err) < 0) {
            server_report(server, &err);
            if (!server_make_room(server)) {
                server_back_off(server);
                break;
            }
            continue;
        }
        if (fd < 0)
            break;
        server_take(server, fd, &from);
    }
    server_update_accept(server);
}

/* ---- limits and reports ---- */

static size_t uid_count(const struct rpc_server *server, uid_t uid) {
    return (size_t) (uintptr_t) map_get(&server->per_uid, (uint64_t) uid + 1);
}

static void uid_set_count(struct rpc_server *server, uid_t uid, size_t count) {
    if (count == 0)
        map_remove(&server->per_uid, (uint64_t) uid + 1);
    else
        map_put(&server->per_uid, (uint64_t) uid + 1, (void *) (uintptr_t) count);
}

int server_check_limit(const struct rpc_server *server, uid_t uid, struct error *err) {
    size_t count = uid_count(server, uid);
    if (count < CONNS_PER_UID || uid == 0 || uid == server->own_uid)
        return 0;
    return error_set(err, ERR_LIMIT,
                     "uid %u has %zu connections already, the limit for one user: "
                     "wait until some of them end",
                     (unsigned) uid, count);
}

void server_admit(struct rpc_conn *conn) {
    struct rpc_server *server = conn->server;
    uid_set_count(server, conn->peer.uid, uid_count(server, conn->peer.uid) + 1);
    server->n_handshakes--;
    list_remove(&conn->server_link);
    list_append(&server->conns, &conn->server_link);
}

void server_forget(struct rpc_conn *conn) {
    struct rpc_server *server = conn->server;
    if (!server)
        return;
    conn->server = NULL;
    list_remove(&conn->server_link);
    list_remove(&conn->waiting_link);
    if (conn->was_ready)
        uid_set_count(server, conn->peer.uid, uid_count(server, conn->peer.uid) - 1);
    else
        server->n_handshakes--;
}

static void server_report(struct rpc_server *server, const struct error *why) {
    uint64_t second = loop_monotonic_usec() / 1000000;
    if (second != server->reject_second) {
        server->reject_second = second;
        server->n_rejects = 0;
    }
    if (++server->n_rejects > REJECTS_PER_SEC) {
        server->n_suppressed++;
        return;
    }
    if (!server->on_reject)
        return;
    struct error copy = *why;
    if (server->n_suppressed > 0) {
        error_prefix(&copy, "(%u similar ones not shown) ", server->n_suppressed);
        server->n_suppressed = 0;
    }
    server->on_reject(&copy, server->reject_context);
}

void server_rejected(struct rpc_server *server, const struct rpc_conn *conn,
                     const struct error *why) {
    if (why->code != 0)
        server_report(server, why);
}

/* ---- life ---- */

static size_t handshakes_max(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0
               ? (size_t) min_of(limit.rlim_cur / 2, (rlim_t) HANDSHAKES_MAX)
               : HANDSHAKES_MAX;
}

int rpc_server_new(struct loop *loop, const struct rpc_auth *auth, const char *address,
                   uint16_t port, const struct rpc_handlers *handlers, void *context,
                   struct rpc_server **ret, struct error *err) {
    assert(loop && auth && handlers && ret);
    cleanup_fd int fd = -1;
    int r = sock_listen(address ? address : "", port, &fd, err);
    if (r < 0)
        return r;
    /* The first credential is made here: a daemon that cannot reach munged should say so at once.
     */
    struct handshake_key key;
    char *cred;
    r = handshake_make(auth->munge_socket, ROLE_SERVER, &key, &cred, err);
    if (r < 0)
        return r;
    struct rpc_server *server = zalloc(struct rpc_server);
    server->loop = loop;
    server->handlers = *handlers;
    server->context = context;
    server->munge_socket = xstrdup_null(auth->munge_socket);
    server->own_uid = geteuid();
    server->handshakes_max = handshakes_max();
    list_init(&server->conns);
    list_init(&server->strangers);
    list_init(&server->keyless);
    server->retry = loop_timer_add(loop, server_retry, server);
    server->listen_fd = take_fd(&fd);
    server_set_cred(server, &key, cred);
    sodium_memzero(&key, sizeof(key));
    r = loop_fd_add(loop, server->listen_fd, EPOLLIN, server_accept, server, &server->watch, err);
    if (r < 0) {
        rpc_server_free(server);
        return r;
    }
    *ret = server;
    return 0;
}

void rpc_server_free(struct rpc_server *server) {
    if (!server)
        return;
    while (!list_is_empty(&server->conns) || !list_is_empty(&server->strangers)) {
        struct list *from = list_is_empty(&server->conns) ? &server->strangers : &server->conns;
        struct rpc_conn *conn = list_entry(from->next, struct rpc_conn, server_link);
        struct error err = ERROR_INIT, ignored = ERROR_INIT;
        error_set(&err, ERR_CLOSED, "%s: this daemon is shutting down", conn->peer.name);
        if (frame_out_flush(&conn->out, conn->fd, &ignored) == 0)
            shutdown(conn->fd, SHUT_WR);
        conn->server = NULL; /* the rest of server_forget is not needed any more */
        list_remove(&conn->server_link);
        list_remove(&conn->waiting_link);
        conn_end(conn, &err);
    }
    if (server->job)
        server->job->server = NULL;
    loop_fd_remove(server->watch);
    loop_timer_free(server->retry);
    fd_cleanup(&server->listen_fd);
    map_done(&server->per_uid);
    sodium_memzero(&server->key, sizeof(server->key));
    free(server->cred);
    free(server->munge_socket);
    free(server);
}

uint16_t rpc_server_port(const struct rpc_server *server) {
    return sock_port(server->listen_fd);
}

void rpc_server_pause(struct rpc_server *server, bool paused) {
    server->is_paused = paused;
    server_update_accept(server);
}

void rpc_server_on_reject(struct rpc_server *server,
                          void (*fn)(const struct error *why, void *context), void *context) {
    server->on_reject = fn;
    server->reject_context = context;
}
