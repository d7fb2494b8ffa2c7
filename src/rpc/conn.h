/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of an asynchronous connection, shared by conn.c (life of a connection), server.c
 * (accepting, limits) and export.c (handing over). Not for users of rpc.h.
 *
 * A connection is referenced by its loop watch as long as it is not CONN_DEAD, and by every post
 * and worker job under way; memory goes with the last reference, so callbacks may end it at any
 * time.
 */
#ifndef SLUICE_RPC_CONN_H
#define SLUICE_RPC_CONN_H

#include "base/list.h"
#include "base/map.h"
#include "base/vec.h"
#include "os/loop.h"
#include "os/sock.h"
#include "rpc/channel.h"
#include "rpc/handshake.h"
#include "rpc/rpc.h"

#define KEEPALIVE_SEC 30 /* of silence, then the peer is probed */

enum conn_state {
    CONN_PREPARING,  /* dialled: a worker resolves the host and makes our credential */
    CONN_CONNECTING, /* dialled: connect() under way */
    CONN_KEYLESS,    /* accepted: the server's credential is being made */
    CONN_HELLO,      /* our hello is sent, the peer's has not come */
    CONN_CHECKING,   /* a worker decodes the peer's credential; nothing is read meanwhile */
    CONN_VERDICT,    /* we accepted; the peer's verdict has not come */
    CONN_OPEN,
    CONN_LINGERING, /* closed by us: flushing, then waiting for the peer's end */
    CONN_DEAD,
};

struct conn_pending { /* sent before there were keys */
    uint16_t type, flags;
    uint32_t seq;
    void *body;
    size_t size;
};

struct rpc_conn {
    unsigned refs;
    enum conn_state state;
    struct loop *loop;
    struct rpc_handlers handlers;
    void *context;
    struct rpc_peer peer;
    uint64_t started_usec;

    int fd;
    struct loop_fd *watch; /* NULL while parked: paused and hung up */
    struct loop_timer *timer;
    struct frame_in in;
    struct frame_out out;
    struct channel channel;
    bool is_paused;
    unsigned silence_limit; /* rpc_conn_limit_silence(); 0 = none */
    unsigned silent_checks; /* one after the other that found it unanswered */
    bool wants_out;         /* the socket was full */
    bool flush_posted;
    bool resume_posted;
    bool was_ready; /* the ready handler was due, so closed is, too */
    bool told_closed;
    struct error end;         /* why, for the closed handler that is posted */
    struct loop_end loop_end; /* while lingering */

    size_t drained_low;
    bool above_low;
    void (*drained)(struct rpc_conn *conn, void *context);

    struct handshake_key key;

    /* dialled side */
    bool is_dialled;
    char *munge_socket;
    uid_t server_uid;
    char *cred;
    struct sock_addrs addrs;
    size_t next_addr;
    vec(struct conn_pending) pending;

    /* accepted side */
    struct rpc_server *server;
    struct list server_link;  /* in server->conns */
    struct list waiting_link; /* in server->keyless */
};

struct rpc_conn *conn_new(struct loop *loop, const struct rpc_handlers *handlers, void *context);
void conn_ref(struct rpc_conn *conn);
void conn_unref(struct rpc_conn *conn);
/* Starts watching conn->fd; ends the connection when that fails. */
void conn_watch(struct rpc_conn *conn);
void conn_on_event(uint32_t events, void *context); /* the watch callback */
/* Sends our hello and waits for the peer's. */
void conn_start_hello(struct rpc_conn *conn, const char *cred);
/* Writes now or when the loop gets to it. */
void conn_flush_soon(struct rpc_conn *conn);
/* Processes frames that were read ahead, when the loop gets to it. */
void conn_resume_soon(struct rpc_conn *conn);
/* Ends the connection: closes the descriptor, tells the handler (or the server's reject hook). */
void conn_end(struct rpc_conn *conn, const struct error *why);
/* Removes it from the loop without closing anything: what export does. */
void conn_detach(struct rpc_conn *conn);
/* Tells the peer why before ending; for failures of the handshake. */
void conn_refuse(struct rpc_conn *conn, const struct error *why);

/* ---- called by conn.c on the accepting side ---- */
/* May this user have one more connection? */
must_check int server_check_limit(const struct rpc_server *server, uid_t uid, struct error *err);
/* The handshake is over: counts the connection as the user's. */
void server_admit(struct rpc_conn *conn);
/* conn ends or is handed over: counters and lists. */
void server_forget(struct rpc_conn *conn);
void server_rejected(struct rpc_server *server, const struct rpc_conn *conn,
                     const struct error *why);

#endif
