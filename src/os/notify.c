/* SPDX-License-Identifier: Apache-2.0 */
/* Readiness notice without libsystemd; see notify.h. */
#include "os/notify.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"

int notify_send(const char *state, struct error *err) {
    assert(state);
    const char *path = getenv("NOTIFY_SOCKET");
    if (!path || !*path)
        return 0;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if ((path[0] != '/' && path[0] != '@') || length >= sizeof(address.sun_path))
        return error_set(err, ERR_INVALID, "NOTIFY_SOCKET=%s is not an absolute path or @name",
                         path);
    memcpy(address.sun_path, path, length);
    if (path[0] == '@')
        address.sun_path[0] = '\0'; /* a name in the abstract namespace */
    cleanup_fd int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return error_errno(err, errno, "cannot create a socket for the readiness notice");
    socklen_t size = (socklen_t) (offsetof(struct sockaddr_un, sun_path) + length);
    if (sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *) &address, size) < 0)
        return error_errno(err, errno, "cannot send the readiness notice to %s", path);
    return 1;
}
