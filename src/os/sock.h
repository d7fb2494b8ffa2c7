/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets: TCP over IPv4 and IPv6, Unix sockets with credentials and passed descriptors. All
 * descriptors made here are close-on-exec and non-blocking.
 */
#ifndef SLUICE_OS_SOCK_H
#define SLUICE_OS_SOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"

#define SOCK_TEXT_MAX 64 /* "[ffff:…:ffff%scope]:65535" fits */
#define SOCK_ADDRS_MAX 8
#define SOCK_FDS_MAX 8 /* descriptors in one message */

struct sock_addrs {
    size_t n;
    struct sock_addr {
        struct sockaddr_storage address;
        socklen_t size;
    } items[SOCK_ADDRS_MAX];
};

/* Numeric addresses never ask the name service; a name does, and blocks. ERR_CONNECT. */
must_check int sock_resolve(const char *host, uint16_t port, struct sock_addrs *ret,
                            struct error *err);
/* Starts connecting: *ret_fd gets writable when it is decided, then sock_dial_result() tells. */
must_check int sock_dial(const struct sock_addr *to, int *ret_fd, struct error *err);
must_check int sock_dial_result(int fd, const struct sock_addr *to, struct error *err);
/* host "" or "*" = all addresses (IPv6 and IPv4). port 0 = any free one, see sock_port(). */
must_check int sock_listen(const char *host, uint16_t port, int *ret_fd, struct error *err);
/* Takes one connection, or *ret_fd = -1 when none waits. *ret_from may be NULL. */
must_check int sock_accept(int listen_fd, int *ret_fd, struct sock_addr *ret_from,
                           struct error *err);
uint16_t sock_port(int fd); /* local port, 0 when it has none */

/* Unix sockets. A path longer than the kernel's 107 bytes works as long as its last part fits.
 * sock_listen_unix replaces a socket that nobody listens on and sets its mode before it listens. */
must_check int sock_listen_unix(const char *path, mode_t mode, int *ret_fd, struct error *err);
must_check int sock_dial_unix(const char *path, int *ret_fd, struct error *err);
/* Who holds the other end of a Unix socket; any ret may be NULL. */
must_check int sock_peer_cred(int fd, uid_t *ret_uid, gid_t *ret_gid, pid_t *ret_pid,
                              struct error *err);
/* One sendmsg/recvmsg with descriptors. Both return the bytes moved (0 from receive = end), or a
 * negative error; ERR_BUSY when the socket would block. Received descriptors are close-on-exec. */
must_check ssize_t sock_send_fds(int fd, struct bytes data, const int *fds, size_t n_fds,
                                 struct error *err);
must_check ssize_t sock_receive_fds(int fd, void *data, size_t size, int *fds, size_t max_fds,
                                    size_t *ret_n_fds, struct error *err);

void sock_nodelay(int fd);
/* The kernel asks an idle peer after idle_sec and gives up after about twice that. */
void sock_keepalive(int fd, unsigned idle_sec);
/* True when something that was sent waits to be acknowledged and the peer's kernel has said nothing
 * for so long. The probes of sock_keepalive() do not cover this case, and TCP itself goes on trying
 * for a quarter of an hour. A peer that only has stopped reading answers all the time. False for
 * other sockets. (struct tcp_info of linux/tcp.h) */
bool sock_is_unanswered(int fd, unsigned msec);
must_check int sock_nonblock(int fd, bool nonblock, struct error *err);
/* "127.0.0.1:6817", "[::1]:6817", "unix"; with_port false leaves out port and brackets. */
void sock_text(const struct sockaddr *address, bool with_port, char ret[SOCK_TEXT_MAX]);
/* Waits with poll(); deadline is CLOCK_MONOTONIC microseconds, UINT64_MAX = for ever. Returns 1
 * when ready, 0 at the deadline. */
must_check int sock_wait(int fd, short events, uint64_t deadline_usec, struct error *err);

#endif
