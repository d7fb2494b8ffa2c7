/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between commands and daemons over the secure channel.
 *
 * A message is a type (enum msg of model/messages.h), a sequence number that a reply repeats, and a
 * body: one record in wire encoding. Several replies to one request stream under the same sequence
 * number; the last one carries RPC_LAST. Either side may also send unasked messages (seq 0).
 *
 * The channel: the dialling side sends a MUNGE credential that carries its ephemeral X25519 public
 * key, the accepting side answers with a credential of its own (made anew at least once a minute
 * and reused for several connections: possession of the key is what counts), both derive keys with
 * libsodium's crypto_kx, and everything after that is secretstream frames. Credentials that fail
 * name the peer, the cause (another key, clock skew with both clocks, munged not running) and the
 * cure, on both sides; the log line contains "Munge decode failed".
 */
#ifndef SLUICE_RPC_RPC_H
#define SLUICE_RPC_RPC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "os/loop.h"

#define RPC_FRAME_MAX (64u << 20)  /* bytes of one message */
#define RPC_QUEUE_MAX (256u << 20) /* bytes queued for a peer that does not read */
#define RPC_LAST 1u                /* flags: no more replies to this sequence number */

struct rpc_message {
    uint16_t type;
    uint16_t flags;
    uint32_t seq;
    struct bytes body; /* valid during the callback, or until the next receive */
};

struct rpc_peer {
    uid_t uid;
    gid_t gid;
    char name[300]; /* "127.0.0.1:43210 (uid 1000)" for messages */
    char address[64];
};

/* What a process needs to authenticate: the munged socket (NULL = libmunge's default). */
struct rpc_auth {
    const char *munge_socket;
};

/* ---- blocking client: commands ---- */
struct rpc_client;
/* Dials host:port and authenticates the server; timeout covers both. Fails fast, naming host and
 * port, when nobody listens. The answering side must run as root or as `server_uid`. When the
 * server does not accept us, the first receive tells (ERR_AUTH): waiting for it here would cost
 * every command a round trip. */
must_check int rpc_client_open(const struct rpc_auth *auth, const char *host, uint16_t port,
                               uid_t server_uid, uint64_t timeout_usec, struct rpc_client **ret,
                               struct error *err);
void rpc_client_close(struct rpc_client *client); /* NULL is ignored */
/* For poll(): it shows only what has not been read ahead, so first call rpc_client_receive() with a
 * timeout of 0 until it says ERR_TIMEOUT. */
int rpc_client_fd(const struct rpc_client *client);
/* Sends a request with the next sequence number (1, 2, …); its replies repeat it. */
must_check int rpc_client_send(struct rpc_client *client, uint16_t type, struct bytes body,
                               struct error *err);
/* Waits up to timeout (UINT64_MAX = for ever). ERR_TIMEOUT, ERR_CLOSED. */
must_check int rpc_client_receive(struct rpc_client *client, uint64_t timeout_usec,
                                  struct rpc_message *ret, struct error *err);

/* ---- asynchronous connections in a loop: daemons, srun ---- */
struct rpc_conn;
/* Handlers are called from the loop only, never from within an rpc_… call except
 * rpc_server_free(). They may call any function here. NULL handlers are skipped. */
struct rpc_handlers {
    /* Authenticated by both sides (also called for dialled connections, not for adopted ones). */
    void (*ready)(struct rpc_conn *conn, void *context);
    void (*message)(struct rpc_conn *conn, const struct rpc_message *message, void *context);
    /* Called once when the connection ends for any reason, rpc_conn_close() included (why->code is
     * 0 then); not for one that was never ready on the answering side, nor after an export. conn is
     * not to be used after it returns. */
    void (*closed)(struct rpc_conn *conn, const struct error *why, void *context);
};
struct rpc_server;
/* Listens on address:port ("" = all, port 0 = any free one: rpc_server_port); credentials are
 * checked in a small pool of threads so that a slow munged never stops the loop. Bounded:
 * handshakes in flight, connections per uid, one frame.
 */
must_check int rpc_server_new(struct loop *loop, const struct rpc_auth *auth, const char *address,
                              uint16_t port, const struct rpc_handlers *handlers, void *context,
                              struct rpc_server **ret, struct error *err);
void rpc_server_free(struct rpc_server *server); /* closes all its connections */
uint16_t rpc_server_port(const struct rpc_server *server);
/* Stops (or starts again) accepting: a backup controller, a daemon that is shutting down. */
void rpc_server_pause(struct rpc_server *server, bool paused);
/* Failed handshakes are reported here, at most a few lines a second (for the log). */
void rpc_server_on_reject(struct rpc_server *server,
                          void (*fn)(const struct error *why, void *context), void *context);

/* Returns at once; looking up the host, connecting and the handshake happen in the background, up
 * to 10 s, and end with ready or closed. Messages may be queued meanwhile. */
must_check int rpc_dial(struct loop *loop, const struct rpc_auth *auth, const char *host,
                        uint16_t port, uid_t server_uid, const struct rpc_handlers *handlers,
                        void *context, struct rpc_conn **ret, struct error *err);
/* Flushes what is queued in the background (10 s at most), then closes. No more messages are
 * delivered; closed is called soon. */
void rpc_conn_close(struct rpc_conn *conn);
const struct rpc_peer *rpc_conn_peer(const struct rpc_conn *conn);
void rpc_conn_set_context(struct rpc_conn *conn,
                          void *context); /* replaces the handlers' context */
void *rpc_conn_context(const struct rpc_conn *conn);
/* Queues a message; never blocks. A reply repeats the request's seq; seq 0 is unasked. Body is
 * copied (encrypted), at most RPC_FRAME_MAX bytes. A connection whose peer leaves RPC_QUEUE_MAX
 * bytes unread is ended. */
void rpc_conn_send(struct rpc_conn *conn, uint16_t type, uint16_t flags, uint32_t seq,
                   struct bytes body);
/* The same of a record of the message's kind; NULL: a message without a body. */
void rpc_conn_tell(struct rpc_conn *conn, uint16_t type, uint16_t flags, uint32_t seq,
                   const void *record);
/* Answers the request seq with ERROR; the connection stays. code: ERR_… or its negative; detail
 * may be NULL. */
void rpc_conn_answer_error(struct rpc_conn *conn, uint32_t seq, int code, const char *detail);
/* Bytes queued and not yet written: for back-pressure; `drained` runs when it falls below low. */
size_t rpc_conn_queued(const struct rpc_conn *conn);
void rpc_conn_on_drained(struct rpc_conn *conn, size_t low,
                         void (*fn)(struct rpc_conn *conn, void *context));
/* From now on the connection ends (ERR_CLOSED) when its peer's host has not acknowledged anything
 * for `seconds` although something was sent, as when the network is cut; else TCP would go on
 * trying for a quarter of an hour. An idle peer is asked by keepalive as on every connection. */
void rpc_conn_limit_silence(struct rpc_conn *conn, unsigned seconds);
void rpc_conn_pause(struct rpc_conn *conn, bool paused); /* stop reading: flow control */
/* Hands an authenticated connection to another process: removes it from the loop, returns its fd
 * and the serialised channel state (keys, counters), to be sent over a unix socket together with
 * the fd; rpc_conn_adopt() continues there. Call from the message callback or when idle. */
must_check int rpc_conn_export(struct rpc_conn *conn, struct str *ret_state, int *ret_fd,
                               struct error *err);
must_check int rpc_conn_adopt(struct loop *loop, int fd, struct bytes state,
                              const struct rpc_handlers *handlers, void *context,
                              struct rpc_conn **ret, struct error *err);

#endif
