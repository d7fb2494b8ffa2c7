/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Being told that a group runs out of memory; see cgroup.h. Sources: Documentation/admin-guide/
 * cgroup-v1/memory.rst (section 10, OOM control: an eventfd registered in cgroup.event_control) and
 * cgroup-v2.rst (memory.events is a file whose modification shows as POLLPRI).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "os/cgroup_internal.h"

static int watch_v1(const char *dir, int *ret_fd, struct error *err) {
    cleanup_free char *control = xasprintf("%s/memory.oom_control", dir);
    cleanup_fd int control_fd = open(control, O_RDONLY | O_CLOEXEC);
    cleanup_fd int event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (control_fd < 0 || event_fd < 0)
        return error_errno(err, errno, "cannot watch %s", control);
    cleanup_free char *line = xasprintf("%d %d", event_fd, control_fd);
    int errnum = cgroup_write(dir, "cgroup.event_control", line);
    if (errnum != 0)
        return error_errno(err, errnum, "cannot watch %s", control);
    *ret_fd = take_fd(&event_fd);
    return 0;
}

int cgroup_oom_watch(const struct cgroup *group, struct cgroup_oom *ret, struct error *err) {
    struct cgroup_oom watch = {.fd = -1};
    if (!(group->parts & CGROUP_MEMORY))
        return error_set(err, ERR_NOT_SUPPORTED,
                         "the memory of control groups is not counted here");
    cleanup_free char *dir = cgroup_dir(group, CGROUP_MEMORY);
    watch.is_v2 = group->tree->v2_parts & CGROUP_MEMORY;
    watch.events = watch.is_v2 ? EPOLLPRI : EPOLLIN;
    if (!watch.is_v2) {
        int r = watch_v1(dir, &watch.fd, err);
        if (r < 0)
            return r;
    } else {
        cleanup_free char *path = xasprintf("%s/memory.events", dir);
        watch.fd = open(path, O_RDONLY | O_CLOEXEC);
        if (watch.fd < 0)
            return error_errno(err, errno, "cannot watch %s", path);
    }
    (void) cgroup_oom_take(&watch);
    *ret = watch;
    return 0;
}

uint64_t cgroup_oom_take(const struct cgroup_oom *watch) {
    char text[1024];

    if (!watch->is_v2) { /* an eventfd is empty when it has been read */
        (void) !read(watch->fd, text, sizeof(uint64_t));
        return UINT64_MAX;
    }
    /* what comes after this reading shows again */
    ssize_t n = pread(watch->fd, text, sizeof(text) - 1, 0);
    text[max_of(n, (ssize_t) 0)] = '\0';
    char *kills = strstr(text, "\noom_kill ");
    return kills ? strtoull(kills + strlen("\noom_kill "), NULL, 10) : 0;
}

char *cgroup_oom_tail(const struct cgroup *group) {
    cleanup_free char *dir = cgroup_dir(group, CGROUP_MEMORY);
    char *tail = dir + strlen(dir);

    for (int names = 0; names < 3 && tail > dir; names++) {
        do
            tail--;
        while (tail > dir && *tail != '/');
    }
    return xstrdup(tail);
}
