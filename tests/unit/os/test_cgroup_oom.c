/* SPDX-License-Identifier: Apache-2.0 */
/* Against the real kernel, where this user may make groups that count memory; skipped where not.
 * Covers: cgroup_oom.c */
#include "unit.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/cgroup.h"

#define LIMIT (32u << 20)

static pid_t eat(const struct cgroup *group, size_t bytes) {
    struct error err = ERROR_INIT;
    pid_t pid = fork();

    if (pid == 0) {
        if (cgroup_attach(group, getpid(), &err) < 0)
            _exit(2);
        char *memory =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memset(memory, 1, bytes);
        _exit(0);
    }
    return pid;
}

/* True when the event shows within `msec`. */
static bool shows(const struct cgroup_oom *watch, int msec) {
    struct pollfd pollfd = {.fd = watch->fd, .events = watch->is_v2 ? POLLPRI : POLLIN};

    return poll(&pollfd, 1, msec) > 0 && (pollfd.revents & pollfd.events);
}

TEST(a_kill_for_want_of_memory_is_told_and_counted) {
    struct cgroup_tree *tree = cgroup_tree_new(NULL);
    bool counts_memory = cgroup_tree_parts(tree) & CGROUP_MEMORY;
    struct cgroup *group;
    struct cgroup_oom watch;
    struct cgroup_usage usage;
    struct error err = ERROR_INIT;
    char path[64];
    int status;

    if (!counts_memory)
        cgroup_tree_free(tree);
    NEED(counts_memory);
    snprintf(path, sizeof(path), "sluice-test-oom-%d", (int) getpid());
    if (cgroup_make(tree, path, CGROUP_TRACK | CGROUP_MEMORY, &group, &err) < 0 ||
        cgroup_limit_memory(group, LIMIT, 0, &err) < 0 || cgroup_oom_watch(group, &watch, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(waitpid(eat(group, LIMIT / 4), &status, 0) > 0 && status == 0, 1);
    assert_false(shows(&watch, 0));
    pid_t pid = eat(group, LIMIT * 4u);
    assert_true(shows(&watch, 20000));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_true(cgroup_oom_take(&watch) >= 1);
    assert_false(shows(&watch, 0));
    cgroup_get_usage(group, &usage);
    assert_int_equal(usage.oom_kills, 1);
    assert_in_range(usage.memory_peak_bytes, LIMIT - LIMIT / 50, LIMIT);
    close(watch.fd);
    char *tail = cgroup_oom_tail(group);
    assert_non_null(strstr(tail, path));
    free(tail);
    assert_int_equal(cgroup_remove(group, &err), 0);
    cgroup_free(group);
    cgroup_tree_free(tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kill_for_want_of_memory_is_told_and_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
