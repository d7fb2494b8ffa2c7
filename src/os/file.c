/* SPDX-License-Identifier: Apache-2.0 */
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/alloc.h"

int file_read(const char *path, size_t most, struct str *ret) {
    return file_read_at(AT_FDCWD, path, most, ret);
}

int file_read_at(int at, const char *path, size_t most, struct str *ret) {
    cleanup_fd int fd = openat(at, path, O_RDONLY | O_CLOEXEC);
    char piece[16384];

    if (fd < 0)
        return errno;
    str_append(ret, ""); /* so that there is a text, if an empty one */
    for (size_t left = most; left > 0;) {
        ssize_t n = read(fd, piece, min_of(left, sizeof(piece)));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        if (n == 0)
            break;
        str_append_bytes(ret, piece, (size_t) n);
        left -= (size_t) n;
    }
    return 0;
}
