/* SPDX-License-Identifier: Apache-2.0 */
/* Files with a process number; see pidfile.h. */
#include "os/pidfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"

int pidfile_create(const char *path, int *ret_fd, struct error *err) {
    cleanup_fd int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0)
        return error_errno(err, errno, "cannot create %s", path);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char text[32] = "";
    if (fcntl(fd, F_OFD_SETLK, &lock) < 0) {
        if (errno != EAGAIN && errno != EACCES)
            return error_errno(err, errno, "cannot lock %s", path);
        ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
        return error_set(
            err, ERR_BUSY,
            "this daemon runs already as process %ld (%s); stop it first, or give this "
            "one another pid file",
            n > 0 ? atol(text) : 0L, path);
    }
    int length = snprintf(text, sizeof(text), "%d\n", (int) getpid());
    if (ftruncate(fd, 0) < 0 || pwrite(fd, text, (size_t) length, 0) != length)
        return error_errno(err, errno, "cannot write %s", path);
    *ret_fd = take_fd(&fd);
    return 0;
}

void pidfile_remove(const char *path, int fd) {
    unlink(path); /* while locked: nobody else's */
    close(fd);
}
