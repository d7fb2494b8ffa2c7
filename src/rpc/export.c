/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handing an open connection to another process of the same host and release: the descriptor, the
 * state of both ciphers, bytes that have come and were not looked at, bytes that have not left. The
 * form is private to one release (slurmd and the slurmstepd that it starts), hence plain structs
 * behind a version.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/alloc.h"
#include "rpc/conn.h"

#define EXPORT_VERSION 1

struct exported {
    uint32_t version;
    uint32_t size; /* of this struct: another build of the same version is refused, too */
    struct rpc_peer peer;
    crypto_secretstream_xchacha20poly1305_state send, receive;
    uint64_t in_size, out_size; /* bytes that follow */
};

int rpc_conn_export(struct rpc_conn *conn, struct str *ret_state, int *ret_fd, struct error *err) {
    assert(conn && ret_state && ret_fd);
    if (conn->state != CONN_OPEN)
        return error_set(err, ERR_INVALID, "%s: only an open connection can be handed over",
                         conn->peer.name);
    if (conn->channel.expected != 0)
        return error_set(err, ERR_BUSY, "%s: a message is half received", conn->peer.name);
    cleanup_str struct str out = STR_INIT;
    frame_out_copy(&conn->out, &out);
    struct bytes in = frame_in_rest(&conn->in);
    struct exported head;
    memset(&head, 0, sizeof(head)); /* padding included: no stray memory leaves the process */
    head.version = EXPORT_VERSION;
    head.size = sizeof(head);
    head.peer.uid = conn->peer.uid;
    head.peer.gid = conn->peer.gid;
    memcpy(head.peer.name, conn->peer.name, sizeof(head.peer.name));
    memcpy(head.peer.address, conn->peer.address, sizeof(head.peer.address));
    head.send = conn->channel.send;
    head.receive = conn->channel.receive;
    head.in_size = in.size;
    head.out_size = out.length;
    str_append_bytes(ret_state, &head, sizeof(head));
    str_append_bytes(ret_state, in.data, in.size);
    str_append_bytes(ret_state, out.data, out.length);
    sodium_memzero(&head, sizeof(head));
    *ret_fd = conn->fd;
    conn_detach(conn);
    conn->fd = -1;
    conn->told_closed = true;
    conn_unref(conn);
    return 0;
}

int rpc_conn_adopt(struct loop *loop, int fd, struct bytes state,
                   const struct rpc_handlers *handlers, void *context, struct rpc_conn **ret,
                   struct error *err) {
    assert(loop && fd >= 0 && handlers && ret);
    struct exported head;
    if (state.size < sizeof(head))
        return error_set(err, ERR_PROTOCOL, "a handed-over connection came without its state");
    memcpy(&head, state.data, sizeof(head));
    size_t rest = state.size - sizeof(head);
    if (head.version != EXPORT_VERSION || head.size != sizeof(head))
        return error_set(err, ERR_VERSION,
                         "a handed-over connection comes from another release: "
                         "slurmd and slurmstepd must be of the same");
    if (head.in_size > rest || head.out_size != rest - head.in_size)
        return error_set(err, ERR_PROTOCOL, "a handed-over connection came with a damaged state");
    if (sodium_init() < 0)
        return error_set(err, ERR_SYSTEM, "libsodium finds no source of randomness");
    int r = sock_nonblock(fd, true, err);
    if (r < 0)
        return r;
    struct rpc_conn *conn = conn_new(loop, handlers, context);
    conn->peer = head.peer;
    conn->peer.name[sizeof(conn->peer.name) - 1] = '\0';
    conn->peer.address[sizeof(conn->peer.address) - 1] = '\0';
    conn->channel.send = head.send;
    conn->channel.receive = head.receive;
    conn->channel.can_send = conn->channel.can_receive = true;
    conn->in.max = CHANNEL_FRAME_MAX;
    frame_in_feed(&conn->in, (struct bytes) {state.data + sizeof(head), head.in_size});
    frame_out_raw(&conn->out,
                  (struct bytes) {state.data + sizeof(head) + head.in_size, head.out_size});
    conn->state = CONN_OPEN;
    conn->was_ready = true;
    sodium_memzero(&head, sizeof(head));
    r = loop_fd_add(loop, fd, EPOLLIN, conn_on_event, conn, &conn->watch, err);
    if (r < 0) {
        conn_detach(conn); /* the descriptor stays the caller's */
        conn_unref(conn);
        return r;
    }
    conn->fd = fd;
    conn_resume_soon(conn);
    if (conn->out.queued > 0)
        conn_flush_soon(conn);
    *ret = conn;
    return 0;
}
