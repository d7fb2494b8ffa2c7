/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Against the real kernel, where this user may make groups; skipped where not.
 *
 * Covers: cgroup_limit.c, cgroup_tree.c, devices.c
 */
#include "unit.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "munged.h"
#include "os/cgroup.h"

static struct cgroup_tree *tree;
static char top[64], path[96];
static unsigned *beats; /* counted up by the processes in a group as long as they run */

static int start(void **state) {
    tree = cgroup_tree_new(NULL);
    beats = mmap(NULL, sizeof(*beats), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    snprintf(top, sizeof(top), "sluice-test-%d", (int) getpid());
    snprintf(path, sizeof(path), "%s/job_1/step_0", top);
    return 0;
}

static int stop(void **state) {
    cgroup_tree_free(tree);
    return 0;
}

static struct cgroup *make(const char *where, uint32_t parts) {
    struct cgroup *group = NULL;
    struct error err = ERROR_INIT;
    if (cgroup_make(tree, where, parts, &group, &err) < 0)
        fail_msg("%s", err.text);
    return group;
}

static void remove_all(struct cgroup *group, uint32_t parts) {
    struct error err = ERROR_INIT;
    cgroup_free(group);
    group = make(top, parts);
    if (cgroup_remove(group, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(cgroup_remove(group, &err), 0); /* gone already */
    cgroup_free(group);
}

static pid_t sleeper(const struct cgroup *group) {
    int fds[CGROUP_PARTS];
    struct error err = ERROR_INIT;
    int n = cgroup_entry_fds(group, fds, &err);
    assert_true(n > 0);
    pid_t pid = fork();
    if (pid == 0) {
        for (int i = 0; i < n; i++)
            if (write(fds[i], "0", 1) < 0)
                _exit(1);
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves no process */
        int null = open("/dev/null", O_RDWR);
        dup2(null, 1); /* whoever waits for the end of the test's output must not wait for us */
        dup2(null, 2);
        if (fork() == 0)
            setsid(), prctl(PR_SET_PDEATHSIG, SIGKILL); /* in another session */
        for (;; usleep(500))
            __atomic_add_fetch(beats, 1, __ATOMIC_RELAXED);
    }
    for (int i = 0; i < n; i++)
        close(fds[i]);
    return pid;
}

static size_t count(const struct cgroup *group) {
    cleanup_free pid_t *pids = NULL;
    size_t n;
    struct error err = ERROR_INIT;
    assert_int_equal(cgroup_pids(group, &pids, &n, &err), 0);
    return n;
}

static void wait_for_count(const struct cgroup *group, size_t n) {
    for (int i = 0; i < 2000 && count(group) != n; i++)
        usleep(1000);
    assert_int_equal(count(group), n);
}

TEST(the_description_says_what_is_used) {
    assert_true(strlen(cgroup_tree_describe(tree)) > 10);
    assert_int_equal(cgroup_tree_mode(tree) == CGROUP_NONE, cgroup_tree_parts(tree) == 0);
}

TEST(a_kill_reaches_every_process_also_those_that_left_their_session) {
    NEED(cgroup_tree_mode(tree) != CGROUP_NONE);
    struct cgroup *group = make(path, CGROUP_TRACK);
    struct error err = ERROR_INIT;
    bool is_empty = false;
    assert_int_equal(cgroup_is_empty(group, &is_empty, &err), 0);
    assert_true(is_empty);
    pid_t pid = sleeper(group);
    wait_for_count(group, 2);
    assert_int_equal(cgroup_is_empty(group, &is_empty, &err), 0);
    assert_false(is_empty);
    assert_int_equal(cgroup_remove(group, &err), -ERR_BUSY);
    assert_int_equal(cgroup_signal(group, SIGKILL, &err), 0);
    int status;
    waitpid(pid, &status, 0);
    assert_int_equal(WTERMSIG(status), SIGKILL);
    wait_for_count(group, 0);
    remove_all(group, CGROUP_TRACK);
}

TEST(becoming_empty_is_told_by_the_events_descriptor) {
    struct error err = ERROR_INIT;
    NEED(cgroup_tree_mode(tree) != CGROUP_NONE);
    struct cgroup *group = make(path, CGROUP_TRACK);
    pid_t pid = sleeper(group);
    wait_for_count(group, 2);
    int fd = -1;
    if (cgroup_events_fd(group, &fd, &err) == -ERR_NOT_SUPPORTED) {
        assert_int_equal(cgroup_signal(group, SIGKILL, &err), 0);
        waitpid(pid, NULL, 0);
        remove_all(group, CGROUP_TRACK);
        return;
    }
    char events[256];
    assert_true(read(fd, events, sizeof(events)) > 0);
    assert_int_equal(cgroup_signal(group, SIGTERM, &err), 0);
    struct pollfd item = {.fd = fd, .events = POLLPRI};
    assert_int_equal(poll(&item, 1, 5000), 1);
    close(fd);
    waitpid(pid, NULL, 0);
    wait_for_count(group, 0);
    remove_all(group, CGROUP_TRACK);
}

TEST(a_frozen_group_stands_still_and_can_still_be_killed) {
    NEED(cgroup_tree_mode(tree) != CGROUP_NONE);
    struct cgroup *group = make(path, CGROUP_TRACK);
    struct error err = ERROR_INIT;
    pid_t pid = sleeper(group);
    wait_for_count(group, 2);
    assert_int_equal(cgroup_freeze(group, true, &err), 0);
    unsigned before = __atomic_load_n(beats, __ATOMIC_RELAXED);
    usleep(30000);
    assert_int_equal(__atomic_load_n(beats, __ATOMIC_RELAXED), before);
    assert_int_equal(cgroup_signal(group, SIGKILL, &err), 0);
    assert_int_equal(cgroup_freeze(group, false, &err), 0); /* the killed thaw to die */
    waitpid(pid, NULL, 0);
    wait_for_count(group, 0);
    remove_all(group, CGROUP_TRACK);
}

TEST(a_memory_limit_is_enforced) {
    NEED(cgroup_tree_parts(tree) & CGROUP_MEMORY);
    struct cgroup *group = make(path, CGROUP_MEMORY);
    struct error err = ERROR_INIT;
    if (cgroup_limit_memory(group, 32u << 20, 0, &err) < 0 ||
        cgroup_limit_memory(group, 64u << 20, 0, &err) < 0 ||
        cgroup_limit_memory(group, 32u << 20, 0, &err) < 0)
        fail_msg("%s", err.text);
    pid_t pid = fork();
    if (pid == 0) {
        if (cgroup_attach(group, getpid(), &err) < 0)
            _exit(1);
        execl("/bin/sh", "sh", "-c", "x=$(head -c 100000000 /dev/zero | tr '\\0' x); : ${#x}",
              (char *) NULL);
        _exit(1);
    }
    int status;
    waitpid(pid, &status, 0);
    struct cgroup_usage usage;
    cgroup_get_usage(group, &usage);
    assert_true(usage.oom_kills > 0);
    assert_true(usage.memory_peak_bytes <= 32u << 20);
    wait_for_count(group, 0);
    remove_all(group, CGROUP_MEMORY);
}

TEST(cpu_and_process_limits_are_enforced) {
    uint32_t parts = CGROUP_CPUSET | CGROUP_PIDS;
    NEED((cgroup_tree_parts(tree) & parts) == parts);
    struct cgroup *group = make(path, parts);
    struct error err = ERROR_INIT;
    if (cgroup_limit_cpus(group, "0", NULL, &err) < 0 || cgroup_limit_pids(group, 1, &err) < 0)
        fail_msg("%s", err.text);
    pid_t pid = fork();
    if (pid == 0) {
        if (cgroup_attach(group, getpid(), &err) < 0)
            _exit(1);
        cpu_set_t cpus;
        if (sched_getaffinity(0, sizeof(cpus), &cpus) < 0 || CPU_COUNT(&cpus) != 1)
            _exit(2);
        _exit(fork() >= 0 ? 3 : 42);
    }
    int status;
    waitpid(pid, &status, 0);
    assert_int_equal(WEXITSTATUS(status), 42);
    wait_for_count(group, 0);
    remove_all(group, parts);
}

TEST(a_device_is_denied) {
    NEED(cgroup_tree_parts(tree) & CGROUP_DEVICES);
    struct cgroup *group = make(path, CGROUP_DEVICES);
    struct error err = ERROR_INIT;
    struct device_number full;
    if (device_find("/dev/full", &full, &err) < 0 || cgroup_deny_devices(group, &full, 1, &err) < 0)
        fail_msg("%s", err.text);
    pid_t pid = fork();
    if (pid == 0) {
        if (cgroup_attach(group, getpid(), &err) < 0)
            _exit(1);
        execl("/bin/sh", "sh", "-c", "true < /dev/null && ! true 2>/dev/null < /dev/full",
              (char *) NULL);
        _exit(1);
    }
    int status;
    waitpid(pid, &status, 0);
    assert_int_equal(WEXITSTATUS(status), 0);
    wait_for_count(group, 0);
    remove_all(group, CGROUP_DEVICES);
}

TEST(a_tree_as_text_is_the_same_tree) {
    cleanup_str struct str text = STR_INIT, again = STR_INIT;
    cgroup_tree_print(tree, &text);
    struct cgroup_tree *copy = cgroup_tree_parse(str_cstr(&text));
    assert_non_null(copy);
    assert_int_equal(cgroup_tree_mode(copy), cgroup_tree_mode(tree));
    assert_int_equal(cgroup_tree_parts(copy), cgroup_tree_parts(tree));
    assert_int_equal(cgroup_tree_v2_parts(copy), cgroup_tree_v2_parts(tree));
    cgroup_tree_print(copy, &again);
    assert_string_equal(str_cstr(&again), str_cstr(&text));
    cgroup_tree_free(copy);
    assert_null(cgroup_tree_parse("0 2 relative"));
    assert_null(cgroup_tree_parse("9 2 /sys"));
    assert_null(cgroup_tree_parse("0 3 /sys"));
}

TEST(a_choice_of_version_is_kept) {
    struct cgroup_tree *v1 = cgroup_tree_new(&(struct cgroup_choice) {.no_v2 = true});
    struct cgroup_tree *v2 = cgroup_tree_new(&(struct cgroup_choice) {.no_v1 = true});
    struct cgroup_tree *elsewhere =
        cgroup_tree_new(&(struct cgroup_choice) {.mountpoint = "/nowhere"});
    assert_int_equal(cgroup_tree_v2_parts(v1), 0);
    assert_true(cgroup_tree_mode(v1) == CGROUP_V1 || cgroup_tree_mode(v1) == CGROUP_NONE);
    assert_true(cgroup_tree_mode(v2) == CGROUP_V2 || cgroup_tree_mode(v2) == CGROUP_NONE);
    assert_int_equal(cgroup_tree_mode(elsewhere), CGROUP_NONE);
    cgroup_tree_free(v1);
    cgroup_tree_free(v2);
    cgroup_tree_free(elsewhere);
}

TEST(a_device_has_a_number_and_a_text) {
    struct device_number device, again;
    char text[DEVICE_TEXT_SIZE];
    struct error err = ERROR_INIT;
    assert_int_equal(device_find("/dev/null", &device, &err), 0);
    device_print(&device, text);
    assert_string_equal(text, "c 1:3");
    assert_true(device_parse(text, &again));
    assert_true(again.major == 1 && again.minor == 3 && !again.is_block);
    assert_true(device_parse("b 7:1", &again));
    assert_true(again.is_block);
    assert_false(device_parse("x 7:1", &again));
    assert_false(device_parse("c 7:1 rwm", &again));
    assert_int_equal(device_find("/dev/nothing", &device, &err), -ERR_NOT_FOUND);
    assert_int_equal(device_find("/etc/passwd", &device, &err), -ERR_INVALID);
}

TEST(a_part_that_is_not_there_is_named) {
    /* Below a file no group can be made. */
    struct cgroup_tree *none = cgroup_tree_new(&(struct cgroup_choice) {.base = "cgroup.procs/x"});
    struct cgroup *group = NULL;
    struct error err = ERROR_INIT;
    assert_int_equal(cgroup_tree_mode(none), CGROUP_NONE);
    assert_int_equal(cgroup_make(none, "x", CGROUP_MEMORY, &group, &err), -ERR_NOT_SUPPORTED);
    assert_null(group);
    cgroup_tree_free(none);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_description_says_what_is_used),
        cmocka_unit_test(a_kill_reaches_every_process_also_those_that_left_their_session),
        cmocka_unit_test(becoming_empty_is_told_by_the_events_descriptor),
        cmocka_unit_test(a_frozen_group_stands_still_and_can_still_be_killed),
        cmocka_unit_test(a_memory_limit_is_enforced),
        cmocka_unit_test(cpu_and_process_limits_are_enforced),
        cmocka_unit_test(a_device_is_denied),
        cmocka_unit_test(a_tree_as_text_is_the_same_tree),
        cmocka_unit_test(a_choice_of_version_is_kept),
        cmocka_unit_test(a_device_has_a_number_and_a_text),
        cmocka_unit_test(a_part_that_is_not_there_is_named),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
