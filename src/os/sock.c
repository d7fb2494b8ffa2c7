/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets; see sock.h. */
#include "os/sock.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"
#include "os/loop.h"

/* ---- names ---- */

static bool resolve_numeric(const char *host, uint16_t port, struct sock_addrs *ret) {
    struct sock_addr *item = &ret->items[0];
    struct sockaddr_in *v4 = (struct sockaddr_in *) &item->address;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *) &item->address;
    memset(item, 0, sizeof(*item));
    ret->n = 1;
    if (inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(port);
        item->size = sizeof(*v4);
        return true;
    }
    if (inet_pton(AF_INET6, host, &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(port);
        item->size = sizeof(*v6);
        return true;
    }
    ret->n = 0;
    return false;
}

int sock_resolve(const char *host, uint16_t port, struct sock_addrs *ret, struct error *err) {
    assert(host && ret);
    struct sock_addrs found = {0};
    if (resolve_numeric(host, port, &found)) {
        *ret = found;
        return 0;
    }
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *list = NULL;
    char service[8];
    snprintf(service, sizeof(service), "%u", port);
    int r = getaddrinfo(host, service, &hints, &list);
    if (r != 0)
        return error_set(err, ERR_CONNECT,
                         "cannot find the address of host %s: %s; correct the name, or give its "
                         "address in slurm.conf (SlurmctldHost=name(address), NodeAddr=)",
                         host, r == EAI_SYSTEM ? strerror(errno) : gai_strerror(r));
    for (struct addrinfo *at = list; at && found.n < SOCK_ADDRS_MAX; at = at->ai_next) {
        if (at->ai_addrlen > sizeof(found.items[0].address))
            continue;
        memcpy(&found.items[found.n].address, at->ai_addr, at->ai_addrlen);
        found.items[found.n++].size = at->ai_addrlen;
    }
    freeaddrinfo(list);
    if (found.n == 0)
        return error_set(err, ERR_CONNECT, "host %s has no IPv4 or IPv6 address", host);
    *ret = found;
    return 0;
}

void sock_text(const struct sockaddr *address, bool with_port, char ret[SOCK_TEXT_MAX]) {
    char host[INET6_ADDRSTRLEN] = "?";
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *) address;
        inet_ntop(AF_INET, &v4->sin_addr, host, sizeof(host));
        if (with_port)
            snprintf(ret, SOCK_TEXT_MAX, "%s:%u", host, ntohs(v4->sin_port));
        else
            snprintf(ret, SOCK_TEXT_MAX, "%s", host);
    } else if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *) address;
        if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr))
            inet_ntop(AF_INET, &v6->sin6_addr.s6_addr[12], host, sizeof(host));
        else
            inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof(host));
        bool bare = IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr);
        if (!with_port)
            snprintf(ret, SOCK_TEXT_MAX, "%s", host);
        else
            snprintf(ret, SOCK_TEXT_MAX, bare ? "%s:%u" : "[%s]:%u", host, ntohs(v6->sin6_port));
    } else {
        snprintf(ret, SOCK_TEXT_MAX, "%s", address->sa_family == AF_UNIX ? "unix" : "?");
    }
}

/* ---- TCP ---- */

static int dial_error(const struct sock_addr *to, int errnum, struct error *err) {
    char text[SOCK_TEXT_MAX];
    sock_text((const struct sockaddr *) &to->address, true, text);
    const char *cure = "";
    if (errnum == ECONNREFUSED)
        cure = "; nothing listens there: start the daemon, or correct host and port";
    else if (errnum == ETIMEDOUT || errnum == EHOSTUNREACH || errnum == ENETUNREACH)
        cure = "; the host is down, or a firewall drops the packets";
    return error_set(err, ERR_CONNECT, "cannot connect to %s: %s%s", text, strerror(errnum), cure);
}

int sock_dial(const struct sock_addr *to, int *ret_fd, struct error *err) {
    const struct sockaddr *address = (const struct sockaddr *) &to->address;
    cleanup_fd int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return error_errno(err, errno, "cannot create a socket (raise the limit of open files)");
    sock_nodelay(fd);
    int r;
    do {
        r = connect(fd, address, to->size);
    } while (r < 0 && errno == EINTR);
    if (r < 0 && errno != EINPROGRESS)
        return dial_error(to, errno, err);
    *ret_fd = take_fd(&fd);
    return 0;
}

int sock_dial_result(int fd, const struct sock_addr *to, struct error *err) {
    int errnum = 0;
    socklen_t size = sizeof(errnum);
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &errnum, &size) < 0)
        errnum = errno;
    return errnum == 0 ? 0 : dial_error(to, errnum, err);
}

static int listen_at(const struct sock_addr *at, bool both_families, int *ret_fd) {
    const struct sockaddr *address = (const struct sockaddr *) &at->address;
    cleanup_fd int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return errno;
    int on = 1, off = 0;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (address->sa_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, both_families ? &off : &on, sizeof(on));
    if (bind(fd, address, at->size) < 0 || listen(fd, 4096) < 0)
        return errno;
    *ret_fd = take_fd(&fd);
    return 0;
}

int sock_listen(const char *host, uint16_t port, int *ret_fd, struct error *err) {
    assert(host && ret_fd);
    bool all = !*host || str_equal(host, "*");
    struct sock_addrs addrs;
    int r = sock_resolve(all ? "::" : host, port, &addrs, err);
    if (r < 0)
        return r;
    int errnum = listen_at(&addrs.items[0], all, ret_fd);
    if (errnum && all) { /* a kernel without IPv6 */
        struct sock_addrs v4;
        if (sock_resolve("0.0.0.0", port, &v4, err) == 0)
            errnum = listen_at(&v4.items[0], false, ret_fd);
    }
    if (!errnum)
        return 0;
    const char *cure = "";
    if (errnum == EADDRINUSE)
        cure = "; another process has the port (see `ss -ltnp`): stop it or choose another port";
    else if (errnum == EADDRNOTAVAIL)
        cure = "; the address is not one of this host";
    else if (errnum == EACCES)
        cure = "; ports below 1024 need root";
    return error_set(err, ERR_CONNECT, "cannot listen on %s port %u: %s%s",
                     all ? "all addresses," : host, port, strerror(errnum), cure);
}

int sock_accept(int listen_fd, int *ret_fd, struct sock_addr *ret_from, struct error *err) {
    struct sock_addr from = {.size = sizeof(from.address)};
    int fd = accept4(listen_fd, (struct sockaddr *) &from.address, &from.size,
                     SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        switch (errno) {
        case EAGAIN:
        case EINTR:
        case ECONNABORTED: /* gone again before we came to it */
        case EPROTO:
            *ret_fd = -1;
            return 0;
        default:
            return error_errno(err, errno, "cannot accept a connection%s",
                               errno == EMFILE || errno == ENFILE
                                   ? " (raise the limit of open files: LimitNOFILE=)"
                                   : "");
        }
    }
    if (ret_from)
        *ret_from = from;
    *ret_fd = fd;
    return 0;
}

uint16_t sock_port(int fd) {
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof(address);
    if (getsockname(fd, (struct sockaddr *) &address, &size) < 0)
        return 0;
    if (address.ss_family == AF_INET)
        return ntohs(((struct sockaddr_in *) &address)->sin_port);
    if (address.ss_family == AF_INET6)
        return ntohs(((struct sockaddr_in6 *) &address)->sin6_port);
    return 0;
}

/* ---- Unix sockets ---- */

/* Fills the address of a path. One that is too long goes by a descriptor of its directory, which
 * must stay open until the address has been used. */
static int unix_address(const char *path, struct sockaddr_un *ret, int *ret_dir_fd,
                        struct error *err) {
    *ret = (struct sockaddr_un) {.sun_family = AF_UNIX};
    if (strlen(path) < sizeof(ret->sun_path)) {
        strcpy(ret->sun_path, path);
        return 0;
    }
    const char *slash = strrchr(path, '/');
    if (!slash)
        return error_set(err, ERR_INVALID, "socket name %s is longer than 107 bytes", path);
    cleanup_free char *dir = xstrndup(path, (size_t) (slash - path));
    cleanup_fd int dir_fd = open(*dir ? dir : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0)
        return error_errno(err, errno, "cannot open directory %s", dir);
    int n =
        snprintf(ret->sun_path, sizeof(ret->sun_path), "/proc/self/fd/%d/%s", dir_fd, slash + 1);
    if (n < 0 || (size_t) n >= sizeof(ret->sun_path))
        return error_set(err, ERR_INVALID, "socket name %s is longer than 80 bytes", slash + 1);
    *ret_dir_fd = take_fd(&dir_fd);
    return 0;
}

static int dial_unix(const struct sockaddr_un *address, int *ret_fd) {
    cleanup_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *) address, sizeof(*address)) < 0)
        return errno;
    *ret_fd = take_fd(&fd);
    return 0;
}

int sock_dial_unix(const char *path, int *ret_fd, struct error *err) {
    struct sockaddr_un address;
    cleanup_fd int dir_fd = -1;
    int r = unix_address(path, &address, &dir_fd, err);
    if (r < 0)
        return r;
    int errnum = dial_unix(&address, ret_fd);
    if (errnum)
        return error_set(err, ERR_CONNECT, "cannot connect to socket %s: %s", path,
                         strerror(errnum));
    return 0;
}

int sock_listen_unix(const char *path, mode_t mode, int *ret_fd, struct error *err) {
    struct sockaddr_un address;
    cleanup_fd int dir_fd = -1;
    int r = unix_address(path, &address, &dir_fd, err);
    if (r < 0)
        return r;
    cleanup_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return error_errno(err, errno, "cannot create socket %s", path);
    fchmod(fd, mode); /* what bind() gives the file, so that it is never open wider */
    r = bind(fd, (struct sockaddr *) &address, sizeof(address));
    if (r < 0 && errno == EADDRINUSE) {
        cleanup_fd int probe = -1;
        int errnum = dial_unix(&address, &probe);
        if (errnum != ECONNREFUSED)
            return error_set(err, ERR_EXISTS, "another process listens on socket %s", path);
        if (unlink(address.sun_path) < 0)
            return error_errno(err, errno, "cannot replace the stale socket %s", path);
        r = bind(fd, (struct sockaddr *) &address, sizeof(address));
    }
    if (r < 0)
        return error_errno(err, errno, "cannot create socket %s", path);
    if (chmod(address.sun_path, mode) < 0 || listen(fd, 1024) < 0)
        return error_errno(err, errno, "cannot listen on socket %s", path);
    *ret_fd = take_fd(&fd);
    return 0;
}

int sock_peer_cred(int fd, uid_t *ret_uid, gid_t *ret_gid, pid_t *ret_pid, struct error *err) {
    struct ucred cred;
    socklen_t size = sizeof(cred);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) < 0)
        return error_errno(err, errno, "cannot tell who is at the other end of the socket");
    if (ret_uid)
        *ret_uid = cred.uid;
    if (ret_gid)
        *ret_gid = cred.gid;
    if (ret_pid)
        *ret_pid = cred.pid;
    return 0;
}

union fd_control {
    struct cmsghdr align;
    char data[CMSG_SPACE(SOCK_FDS_MAX * sizeof(int))];
};

ssize_t sock_send_fds(int fd, struct bytes data, const int *fds, size_t n_fds, struct error *err) {
    assert(n_fds <= SOCK_FDS_MAX && data.size > 0);
    struct iovec part = {.iov_base = (void *) (uintptr_t) data.data, .iov_len = data.size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    union fd_control control = {0};
    if (n_fds > 0) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
        memcpy(CMSG_DATA(header), fds, n_fds * sizeof(int));
    }
    ssize_t n;
    do {
        n = sendmsg(fd, &message, MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);
    if (n >= 0)
        return n;
    if (errno == EAGAIN)
        return error_set(err, ERR_BUSY, "the socket's buffer is full");
    if (errno == EPIPE || errno == ECONNRESET)
        return error_set(err, ERR_CLOSED, "the other end closed the connection");
    return error_errno(err, errno, "cannot send");
}

ssize_t sock_receive_fds(int fd, void *data, size_t size, int *fds, size_t max_fds,
                         size_t *ret_n_fds, struct error *err) {
    struct iovec part = {.iov_base = data, .iov_len = size};
    union fd_control control = {0};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    ssize_t n;
    do {
        n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    if (n < 0) {
        if (errno == EAGAIN)
            return error_set(err, ERR_BUSY, "nothing to receive yet");
        if (errno == ECONNRESET)
            return error_set(err, ERR_CLOSED, "the other end closed the connection");
        return error_errno(err, errno, "cannot receive");
    }
    size_t n_fds = 0;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header;
         header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int passed;
            memcpy(&passed, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
            if (n_fds < max_fds)
                fds[n_fds++] = passed;
            else
                close(passed); /* unasked descriptors must not pile up */
        }
    }
    *ret_n_fds = n_fds;
    return n;
}

/* ---- options ---- */

void sock_nodelay(int fd) {
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)); /* fails on Unix sockets, harmless */
}

void sock_keepalive(int fd, unsigned idle_sec) {
    int on = 1, idle = (int) max_of(idle_sec, 1u), count = 4;
    int interval = max_of(idle / count, 1);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
}

bool sock_is_unanswered(int fd, unsigned msec) {
    struct tcp_info info = {0};
    socklen_t size = sizeof(info);
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) < 0)
        return false;
    /* Towards a peer whose window is closed nothing is "unacked": it is only probed. */
    return info.tcpi_unacked > 0 && info.tcpi_last_ack_recv >= msec;
}

int sock_nonblock(int fd, bool nonblock, struct error *err) {
    int flags = fcntl(fd, F_GETFL);
    int wanted = nonblock ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
    if (flags < 0 || (wanted != flags && fcntl(fd, F_SETFL, wanted) < 0))
        return error_errno(err, errno, "cannot change descriptor %d", fd);
    return 0;
}

int sock_wait(int fd, short events, uint64_t deadline_usec, struct error *err) {
    for (;;) {
        int msec = -1;
        if (deadline_usec != UINT64_MAX) {
            uint64_t now = loop_monotonic_usec();
            uint64_t left = deadline_usec > now ? (deadline_usec - now + 999) / 1000 : 0;
            msec = (int) min_of(left, (uint64_t) 3600 * 1000);
        }
        struct pollfd item = {.fd = fd, .events = events};
        int n = poll(&item, 1, msec);
        if (n > 0)
            return 1;
        if (n < 0 && errno != EINTR)
            return error_errno(err, errno, "waiting for descriptor %d failed", fd);
        if (deadline_usec != UINT64_MAX && loop_monotonic_usec() >= deadline_usec)
            return 0;
    }
}
