/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blocking client that commands use: one connection, requests and replies in order, everything
 * bounded by a deadline. It sends its first request together with its verdict, without waiting for
 * the server's: a request costs two round trips after the connect, and a refusal by the server
 * shows in the first receive.
 */
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os/loop.h"
#include "os/sock.h"
#include "rpc/channel.h"
#include "rpc/handshake.h"
#include "rpc/rpc.h"

struct rpc_client {
    int fd;
    char peer[300]; /* "host:port" for messages */
    struct frame_in in;
    struct frame_out out;
    struct channel channel;
    uint32_t seq;
    uint64_t timeout_usec; /* for sending */
};

static uint64_t deadline_after(uint64_t timeout_usec) {
    uint64_t now = loop_monotonic_usec();
    return timeout_usec > UINT64_MAX - now ? UINT64_MAX : now + timeout_usec;
}

static int timed_out(const struct rpc_client *client, const char *what, struct error *err) {
    return error_set(err, ERR_TIMEOUT,
                     "%s did not %s in time: it is overloaded, hangs, or a "
                     "firewall drops the packets",
                     client->peer, what);
}

/* ---- connecting ---- */

static int connect_one(struct rpc_client *client, const struct sock_addr *to, uint64_t deadline,
                       struct error *err) {
    cleanup_fd int fd = -1;
    int r = sock_dial(to, &fd, err);
    if (r < 0)
        return r;
    r = sock_wait(fd, POLLOUT, deadline, err);
    if (r == 0)
        return timed_out(client, "accept a connection", err);
    if (r > 0)
        r = sock_dial_result(fd, to, err);
    if (r == 0)
        client->fd = take_fd(&fd);
    return r;
}

static int connect_any(struct rpc_client *client, const char *host, uint16_t port,
                       uint64_t deadline, struct error *err) {
    struct sock_addrs addrs;
    int r = sock_resolve(host, port, &addrs, err);
    for (size_t i = 0; r == 0 && i < addrs.n; i++) {
        int tried = connect_one(client, &addrs.items[i], deadline, err);
        if (tried == 0)
            return 0;
        if (tried == -ERR_TIMEOUT || i + 1 == addrs.n)
            r = tried;
    }
    return r;
}

/* ---- moving bytes ---- */

static int flush_until(struct rpc_client *client, uint64_t deadline, struct error *err) {
    int r;
    while ((r = frame_out_flush(&client->out, client->fd, err)) == 1) {
        r = sock_wait(client->fd, POLLOUT, deadline, err);
        if (r == 0)
            return timed_out(client, "take our data", err);
        if (r < 0)
            return r;
    }
    return r;
}

/* 0 = *ret is the next frame. */
static int next_frame(struct rpc_client *client, uint64_t deadline, struct bytes *ret,
                      struct error *err) {
    for (;;) {
        int r = frame_in_next(&client->in, ret, err);
        if (r != 0)
            return r < 0 ? r : 0;
        r = frame_in_read(&client->in, client->fd, err);
        if (r == -ERR_CLOSED)
            return error_prefix(err, "%s: ", client->peer);
        if (r == 0) {
            r = sock_wait(client->fd, POLLIN, deadline, err);
            if (r == 0)
                return timed_out(client, "answer", err);
        }
        if (r < 0)
            return r;
    }
}

/* ---- handshake ---- */

static int shake_hands(struct rpc_client *client, const struct rpc_auth *auth, uid_t server_uid,
                       uint64_t deadline, struct error *err) {
    struct handshake_key key;
    cleanup_free char *own_cred = NULL, *server_cred = NULL;
    struct handshake_claim claim;
    struct bytes frame;
    int r = handshake_make(auth->munge_socket, ROLE_CLIENT, &key, &own_cred, err);
    if (r < 0)
        return r;
    handshake_hello(&client->out, ROLE_CLIENT, own_cred);
    r = flush_until(client, deadline, err);
    if (r == 0)
        r = next_frame(client, deadline, &frame, err);
    if (r < 0)
        goto out;
    /* A server that is too busy to shake hands says so at once, in place of its hello. */
    if (frame.size > 0 && frame.data[0] == 'R')
        r = handshake_read_verdict(frame, &client->channel, err);
    else
        r = handshake_read_hello(frame, ROLE_SERVER, &server_cred, err);
    if (r == 0)
        r = handshake_check(auth->munge_socket, ROLE_SERVER, server_cred, &claim, err);
    if (r == 0)
        r = handshake_check_server(&claim, server_uid, client->peer, err);
    if (r == 0)
        r = handshake_accept(ROLE_CLIENT, &key, &claim, &client->channel, &client->out, err);
    if (r < 0) {
        struct error ignored = ERROR_INIT;
        handshake_refuse(&client->out, err ? err->text : error_text(r)); /* for the server's log */
        if (frame_out_flush(&client->out, client->fd, &ignored) < 0)
            goto out;
    }
out:
    sodium_memzero(&key, sizeof(key));
    return r;
}

int rpc_client_open(const struct rpc_auth *auth, const char *host, uint16_t port, uid_t server_uid,
                    uint64_t timeout_usec, struct rpc_client **ret, struct error *err) {
    assert(auth && host && ret);
    struct rpc_client *client = zalloc(struct rpc_client);
    client->fd = -1;
    client->timeout_usec = timeout_usec;
    frame_in_init(&client->in, HANDSHAKE_FRAME_MAX);
    frame_out_init(&client->out);
    snprintf(client->peer, sizeof(client->peer), strchr(host, ':') ? "[%s]:%u" : "%s:%u", host,
             port);
    uint64_t deadline = deadline_after(timeout_usec);
    int r = connect_any(client, host, port, deadline, err);
    if (r == 0) {
        r = shake_hands(client, auth, server_uid, deadline, err);
        if (r < 0)
            error_prefix(err, "%s: ", client->peer);
    }
    if (r < 0) {
        rpc_client_close(client);
        return r;
    }
    *ret = client;
    return 0;
}

void rpc_client_close(struct rpc_client *client) {
    if (!client)
        return;
    fd_cleanup(&client->fd);
    frame_in_done(&client->in);
    frame_out_done(&client->out);
    channel_done(&client->channel);
    free(client);
}

int rpc_client_fd(const struct rpc_client *client) {
    return client->fd;
}

int rpc_client_send(struct rpc_client *client, uint16_t type, struct bytes body,
                    struct error *err) {
    if (body.size > RPC_FRAME_MAX)
        return error_set(err, ERR_LIMIT, "a message of %zu bytes is above the limit of %u",
                         body.size, RPC_FRAME_MAX);
    channel_seal(&client->channel, &client->out, type, 0, ++client->seq, body);
    return flush_until(client, deadline_after(client->timeout_usec), err);
}

int rpc_client_receive(struct rpc_client *client, uint64_t timeout_usec, struct rpc_message *ret,
                       struct error *err) {
    uint64_t deadline = deadline_after(timeout_usec);
    int r = flush_until(client, deadline, err); /* the verdict, when nothing was sent yet */
    while (r == 0) {
        struct bytes frame;
        r = next_frame(client, deadline, &frame, err);
        if (r < 0)
            return r;
        if (client->channel.can_receive) {
            r = channel_open(&client->channel, frame, ret, err);
        } else {
            r = handshake_read_verdict(frame, &client->channel, err);
            client->in.max = CHANNEL_FRAME_MAX;
        }
        if (r < 0)
            return error_prefix(err, "%s: ", client->peer);
    }
    return r < 0 ? r : 0;
}
