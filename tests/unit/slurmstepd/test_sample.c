/* SPDX-License-Identifier: Apache-2.0 */
/* Real processes whose use is known. Tracked as the tree below us, which is there for any user.
 * Covers: sample.c, and os/proc.c where it is used. */
#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/proc.h"
#include "slurmstepd/sample.h"

#define MIB 1024u /* KiB */

static const struct track tree = TRACK_INIT;

/* A child that tells `ready` when it has used what it should. */
struct child {
    pid_t pid;
    int ready;
};

static void use_memory(size_t mib) {
    char *memory =
        mmap(NULL, mib << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory != MAP_FAILED)
        memset(memory, 1, mib << 20);
}

static void write_bytes(size_t mib) {
    static char block[1u << 20];
    FILE *null = fopen("/dev/null", "we");

    for (size_t i = 0; null && i < mib; i++)
        (void) !write(fileno(null), block, sizeof(block));
    if (null)
        fclose(null);
}

/* Runs work() in a session of its own, as a task. */
static struct child child_start(void (*work)(size_t), size_t amount, bool stays) {
    int fds[2];
    struct child child;

    assert_int_equal(pipe(fds), 0);
    child.pid = fork();
    assert_true(child.pid >= 0);
    if (child.pid == 0) {
        (void) setsid();
        work(amount);
        (void) !write(fds[1], "x", 1);
        while (stays)
            pause();
        _exit(0);
    }
    close(fds[1]);
    child.ready = fds[0];
    return child;
}

static void child_wait_ready(const struct child *child) {
    char byte;

    assert_int_equal(read(child->ready, &byte, 1), 1);
    close(child->ready);
}

/* Reaps until nobody is left, as slurmstepd does. */
static void reap_all(struct sampler *sampler) {
    siginfo_t info;
    struct rusage rusage;
    int status;

    while (info.si_pid = 0, waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) == 0 && info.si_pid > 0) {
        sampler_leaving(sampler, info.si_pid);
        pid_t pid = wait4(info.si_pid, &status, 0, &rusage);
        sampler_left(sampler, pid, &rusage);
    }
}

static struct usage sum(const struct sampler *sampler, struct usage_measure *measures) {
    struct usage usage;

    sampler_usage(sampler, NULL, "n1", &usage, measures);
    return usage;
}

TEST(a_look_sees_the_memory_of_each_task) {
    struct usage_measure measures[USAGE_KINDS];
    struct sampler sampler;
    struct child children[2];

    sampler_init(&sampler, 2, SAMPLE_RSS);
    for (size_t i = 0; i < 2; i++) {
        children[i] = child_start(use_memory, 16 + 32 * i, true);
        sampler_started(&sampler, i, children[i].pid);
    }
    for (size_t i = 0; i < 2; i++)
        child_wait_ready(&children[i]);
    sampler_take(&sampler, &tree);
    struct usage usage = sum(&sampler, measures);
    const struct usage_measure *rss = usage_measure(&usage, USAGE_RSS);
    assert_int_equal(rss->max_task, 1);
    assert_int_equal(rss->min_task, 0);
    assert_in_range(rss->max, 44 * MIB, 80 * MIB);
    assert_in_range(rss->min, 14 * MIB, rss->max - 16 * MIB);
    assert_int_equal(rss->sum, rss->min + rss->max);
    assert_string_equal(rss->max_node, "n1");
    assert_true(usage_measure(&usage, USAGE_VSIZE)->max >= rss->max);
    assert_in_range(sampler.rss_now_kib, rss->sum - MIB, rss->sum + MIB);
    for (size_t i = 0; i < 2; i++)
        kill(children[i].pid, SIGKILL);
    reap_all(&sampler);
    sampler_done(&sampler);
}

TEST(a_peak_between_two_looks_is_known_at_the_end) {
    struct usage_measure measures[USAGE_KINDS];
    struct sampler sampler;

    sampler_init(&sampler, 1, SAMPLE_RSS);
    struct child child = child_start(use_memory, 64, false);
    sampler_started(&sampler, 0, child.pid);
    child_wait_ready(&child);
    reap_all(&sampler);
    struct usage usage = sum(&sampler, measures);
    assert_true(usage_measure(&usage, USAGE_RSS)->max >= 64 * MIB);
    sampler_done(&sampler);
}

TEST(bytes_are_counted_to_the_last_although_nobody_looked) {
    struct usage_measure measures[USAGE_KINDS];
    struct sampler sampler;

    sampler_init(&sampler, 1, SAMPLE_RSS);
    struct child child = child_start(write_bytes, 7, false);
    sampler_started(&sampler, 0, child.pid);
    child_wait_ready(&child);
    reap_all(&sampler);
    struct usage usage = sum(&sampler, measures);
    assert_in_range(usage_measure(&usage, USAGE_WRITTEN)->max, 7u << 20, (7u << 20) + 100);
    sampler_done(&sampler);
}

/* Writes one byte more for each signal; less than a tick of CPU time. */
static void write_a_byte(int signal) {
    int fd = open("/dev/null", O_WRONLY);

    (void) !write(fd, "x", 1);
    close(fd);
}

static void write_when_told(size_t bytes) {
    signal(SIGUSR1, write_a_byte);
}

TEST(bytes_of_a_process_that_hardly_runs_come_within_a_few_looks) {
    struct usage_measure measures[USAGE_KINDS];
    struct sampler sampler;
    uint64_t before;

    sampler_init(&sampler, 1, SAMPLE_RSS);
    struct child child = child_start(write_when_told, 0, true);
    sampler_started(&sampler, 0, child.pid);
    child_wait_ready(&child);
    sampler_take(&sampler, &tree);
    struct usage usage = sum(&sampler, measures);
    before = usage_measure(&usage, USAGE_WRITTEN)->max;
    for (unsigned look = 0; look < SAMPLE_IDLE_LOOKS; look++) {
        uint64_t in, written = 0;
        kill(child.pid, SIGUSR1);
        while (written <= before + look) /* bytes of the process alone */
            assert_true(proc_io_read(child.pid, &in, &written));
        sampler_take(&sampler, &tree);
    }
    usage = sum(&sampler, measures);
    assert_in_range(usage_measure(&usage, USAGE_WRITTEN)->max, before + 1,
                    before + SAMPLE_IDLE_LOOKS);
    kill(child.pid, SIGKILL);
    reap_all(&sampler);
    usage = sum(&sampler, measures);
    assert_int_equal(usage_measure(&usage, USAGE_WRITTEN)->max, before + SAMPLE_IDLE_LOOKS);
    sampler_done(&sampler);
}

static void leave_an_orphan(size_t mib) {
    int fds[2];
    char byte;

    if (pipe(fds) < 0)
        _exit(1);
    if (fork() == 0) {
        (void) setsid();
        if (fork() == 0) { /* the parent goes, nothing ties it to the task but its history */
            use_memory(mib);
            write_bytes(3);
            (void) !write(fds[1], "x", 1);
            for (;;)
                pause();
        }
        pause(); /* until the first look has seen both */
        _exit(0);
    }
    (void) !read(fds[0], &byte, 1);
}

static pid_t parent_of_biggest(const struct sampler *sampler, pid_t *ret_pid) {
    const struct sample_process *biggest = NULL;

    vec_each (&sampler->processes, process) {
        if (!biggest || process->rss_kib > biggest->rss_kib)
            biggest = process;
    }
    assert_non_null(biggest);
    *ret_pid = biggest->pid;
    return biggest->parent;
}

TEST(a_daemon_stays_its_tasks_when_its_parent_has_gone) {
    struct usage_measure measures[USAGE_KINDS];
    struct sampler sampler;
    struct child children[2];
    pid_t daemon;

    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    sampler_init(&sampler, 2, SAMPLE_RSS);
    children[0] = child_start(use_memory, 1, true);
    sampler_started(&sampler, 0, children[0].pid);
    children[1] = child_start(leave_an_orphan, 40, true);
    sampler_started(&sampler, 1, children[1].pid);
    child_wait_ready(&children[0]);
    child_wait_ready(&children[1]);
    sampler_take(&sampler, &tree);
    pid_t parent = parent_of_biggest(&sampler, &daemon);
    kill(parent, SIGKILL);
    kill(children[1].pid, SIGKILL);
    for (int i = 0; i < 2; i++) {
        struct rusage rusage;
        pid_t pid = i == 0 ? children[1].pid : parent;
        siginfo_t info;
        assert_int_equal(waitid(P_PID, (id_t) pid, &info, WEXITED | WNOWAIT), 0);
        sampler_leaving(&sampler, pid);
        assert_int_equal(wait4(pid, NULL, 0, &rusage), pid);
        sampler_left(&sampler, pid, &rusage);
    }
    sampler_take(&sampler, &tree);
    assert_true(sampler.tasks[1].rss_now >= 40 * MIB);
    assert_true(sampler.tasks[0].rss_now < 20 * MIB);
    kill(daemon, SIGKILL);
    kill(children[0].pid, SIGKILL);
    reap_all(&sampler);
    struct usage usage = sum(&sampler, measures);
    assert_int_equal(usage_measure(&usage, USAGE_WRITTEN)->max_task, 1);
    assert_true(usage_measure(&usage, USAGE_WRITTEN)->max >= 3u << 20);
    sampler_done(&sampler);
}

TEST(shared_memory_can_be_left_out) {
    struct sampler sampler[3];
    char *shared = mmap(NULL, 32u << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    static const enum sample_memory kinds[] = {SAMPLE_RSS, SAMPLE_NO_SHARED, SAMPLE_PSS};

    assert_true(shared != MAP_FAILED);
    memset(shared, 1, 32u << 20);
    struct child child = child_start(use_memory, 8, true);
    child_wait_ready(&child);
    for (size_t i = 0; i < 3; i++) {
        sampler_init(&sampler[i], 1, kinds[i]);
        sampler_started(&sampler[i], 0, child.pid);
        sampler_take(&sampler[i], &tree);
        assert_true(sampler[i].tasks[0].rss_now >= 8 * MIB);
    }
    assert_true(sampler[1].tasks[0].rss_now <= sampler[0].tasks[0].rss_now);
    kill(child.pid, SIGKILL);
    reap_all(&sampler[0]);
    for (size_t i = 0; i < 3; i++)
        sampler_done(&sampler[i]);
    munmap(shared, 32u << 20);
}

TEST(what_the_kernel_tells_of_a_process_is_read) {
    struct proc_stat stat;
    uint64_t in, out;

    assert_true(proc_stat_read(getpid(), &stat));
    assert_int_equal(stat.parent, getppid());
    assert_int_equal(stat.session, getsid(0));
    assert_int_equal(stat.state, 'R');
    assert_true(stat.rss_kib > 100 && stat.vsize_kib >= stat.rss_kib);
    assert_true(proc_io_read(getpid(), &in, &out));
    assert_false(proc_is_being_killed(getpid()));
    assert_false(proc_stat_read(0x7ffffff, &stat));
    uint32_t number;
    assert_false(proc_group_number(getpid(), "/no-such-group_", &number));
    prctl(PR_SET_NAME, "a) R 1 (b");
    assert_true(proc_stat_read(getpid(), &stat));
    assert_string_equal(stat.name, "a) R 1 (b");
    assert_int_equal(stat.parent, getppid());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_look_sees_the_memory_of_each_task),
        cmocka_unit_test(a_peak_between_two_looks_is_known_at_the_end),
        cmocka_unit_test(bytes_of_a_process_that_hardly_runs_come_within_a_few_looks),
        cmocka_unit_test(bytes_are_counted_to_the_last_although_nobody_looked),
        cmocka_unit_test(a_daemon_stays_its_tasks_when_its_parent_has_gone),
        cmocka_unit_test(shared_memory_can_be_left_out),
        cmocka_unit_test(what_the_kernel_tells_of_a_process_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
