/* SPDX-License-Identifier: Apache-2.0 */
#include "os/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"

#define DEPTH_MAX 32 /* of directories that are open at once */

/* What users make may be nested without end: what lies too deep is moved up and removed later.
 * True when the directory is empty now. */
static bool empty_directory(int dir_fd, int top_fd, unsigned depth, unsigned *n_moved) {
    DIR *dir = fdopendir(dir_fd); /* takes it over */
    struct dirent *entry;
    bool is_empty = true;

    while (dir && (entry = readdir(dir))) {
        const char *name = entry->d_name;
        char moved[32];
        if (str_equal(name, ".") || str_equal(name, ".."))
            continue;
        if (unlinkat(dirfd(dir), name, 0) == 0 || errno == ENOENT)
            continue;
        if (depth == DEPTH_MAX) {
            snprintf(moved, sizeof(moved), ".deep.%u", (*n_moved)++);
            is_empty &= renameat(dirfd(dir), name, top_fd, moved) == 0;
            continue;
        }
        int fd = openat(dirfd(dir), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0)
            (void) empty_directory(fd, top_fd, depth + 1, n_moved);
        if (unlinkat(dirfd(dir), name, AT_REMOVEDIR) < 0 && errno != ENOENT)
            is_empty = false;
    }
    if (dir)
        closedir(dir);
    else
        close(dir_fd);
    return is_empty;
}

bool tree_remove(const char *base) {
    unsigned n_moved = 0;

    for (unsigned before = 1; before != n_moved || before == 1;) {
        cleanup_fd int top = open(base, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (top < 0)
            return errno == ENOENT;
        before = n_moved;
        int fd = openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0)
            (void) empty_directory(fd, top, 0, &n_moved);
        if (rmdir(base) == 0)
            return true;
        if (before == n_moved)
            break;
    }
    return false;
}
