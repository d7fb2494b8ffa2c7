/* SPDX-License-Identifier: Apache-2.0 */
/* Covers: pty.c */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"
#include "munged.h"
#include "os/pty.h"
#include "os/spawn.h"

static char *const environment[] = {(char *) "PATH=/usr/bin:/bin", (char *) "GREETING=hello", NULL};

/* Runs a shell script and returns what it printed. */
static char *output_of(struct spawn spec, const char *script, struct spawn_report *report) {
    static char buffer[4096];
    int fds[2];
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    char *argv[] = {(char *) "sh", (char *) "-c", (char *) (uintptr_t) script, NULL};
    spec.path = "/bin/sh";
    spec.argv = argv;
    spec.envp = environment;
    spec.stdin_fd = -1;
    spec.stdout_fd = fds[1];
    spec.stderr_fd = fds[1];
    pid_t pid;
    struct error err = ERROR_INIT;
    if (spawn_process(&spec, &pid, report, &err) < 0)
        fail_msg("%s", err.text);
    close(fds[1]);
    size_t length = 0;
    ssize_t n;
    while ((n = read(fds[0], buffer + length, sizeof(buffer) - 1 - length)) > 0)
        length += (size_t) n;
    close(fds[0]);
    buffer[length] = '\0';
    waitpid(pid, NULL, 0);
    return buffer;
}

TEST(a_program_gets_its_arguments_environment_and_directory) {
    struct spawn spec = {.cwd = "/usr"};
    assert_string_equal(output_of(spec, "echo $GREETING; pwd; cat; echo end", NULL),
                        "hello\n/usr\nend\n");
}

TEST(no_descriptor_leaks_and_wanted_ones_are_at_their_place) {
    int stray = open("/dev/null", O_RDONLY); /* deliberately not close-on-exec */
    int wanted = open("/proc/self/status", O_RDONLY);
    const struct spawn_fd fds[] = {{wanted, 7}, {stray, wanted}};
    struct spawn spec = {.fds = fds, .n_fds = 2};
    char expected[64];
    /* 3 is the directory that ls reads. */
    snprintf(expected, sizeof(expected), "0 1 2 3 %d 7 ", wanted);
    char *got = output_of(spec, "ls /proc/self/fd | sort -n | tr '\\n' ' '", NULL);
    /* The wanted number may itself be below 7 or be 3. */
    if (wanted > 3 && wanted < 7)
        assert_string_equal(got, expected);
    assert_null(strstr(got, "8"));
    close(stray);
    close(wanted);
}

TEST(a_missing_program_is_reported_by_the_call) {
    char *argv[] = {(char *) "x", NULL};
    struct spawn spec = {.path = "/nonexistent/x",
                         .argv = argv,
                         .envp = environment,
                         .stdin_fd = -1,
                         .stdout_fd = -1,
                         .stderr_fd = -1};
    pid_t pid = -1;
    struct spawn_report report;
    struct error err = ERROR_INIT;
    assert_int_equal(spawn_process(&spec, &pid, &report, &err), -ERR_SYSTEM);
    assert_string_equal(err.text, "cannot execute /nonexistent/x: No such file or directory");
    assert_int_equal(report.failed_at, SPAWN_EXEC);
    assert_int_equal(report.errnum, ENOENT);
    assert_int_equal(pid, -1);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* reaped */
}

TEST(a_missing_directory_falls_back_or_is_an_error) {
    struct spawn_report report;
    struct spawn spec = {.cwd = "/nonexistent", .cwd_fallback = "/tmp"};
    assert_string_equal(output_of(spec, "pwd", &report), "/tmp\n");
    assert_int_equal(report.cwd_errnum, ENOENT);
    char *argv[] = {(char *) "true", NULL};
    spec = (struct spawn) {.path = "/bin/true",
                           .argv = argv,
                           .envp = environment,
                           .stdin_fd = -1,
                           .stdout_fd = -1,
                           .stderr_fd = -1,
                           .cwd = "/nonexistent"};
    pid_t pid;
    struct error err = ERROR_INIT;
    assert_true(spawn_process(&spec, &pid, &report, &err) < 0);
    assert_int_equal(report.failed_at, SPAWN_CWD);
    assert_non_null(strstr(err.text, "/nonexistent"));
}

TEST(limits_umask_and_cpu_binding_are_set) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(0, &cpus);
    struct spawn_limit limits[] = {{RLIMIT_NOFILE, {111, 222}}, {RLIMIT_CORE, {0, 0}}};
    struct spawn spec = {.limits = limits,
                         .n_limits = 2,
                         .has_umask = true,
                         .umask = 027,
                         .cpus = &cpus,
                         .cpus_size = sizeof(cpus)};
    struct spawn_report report;
    assert_string_equal(
        output_of(spec,
                  "ulimit -Sn; ulimit -Hn; umask; grep -o 'list:.*' /proc/self/status | "
                  "head -1 | tr -d '\\t'",
                  &report),
        "111\n222\n0027\nlist:0\n");
    assert_int_equal(report.limits_refused, 0);
}

TEST(a_refused_limit_is_reported_and_not_fatal) {
    struct spawn_limit limits[] = {{RLIMIT_NOFILE, {300, 200}}}; /* soft above hard: EINVAL */
    struct spawn spec = {.limits = limits, .n_limits = 1};
    struct spawn_report report;
    assert_string_equal(output_of(spec, "echo runs", &report), "runs\n");
    assert_int_equal(report.limits_refused, 1u << RLIMIT_NOFILE);
}

TEST(the_identity_is_changed_for_good) {
    NEED(geteuid() == 0);
    const gid_t groups[] = {65534, 12345};
    struct spawn spec = {.has_identity = true,
                         .uid = 65534,
                         .gid = 65534,
                         .groups = groups,
                         .n_groups = 2,
                         .cwd = "/"};
    assert_string_equal(output_of(spec,
                                  "id -u; id -G; grep -E '^(Uid|Gid)' /proc/self/status | "
                                  "tr '\\t' ' '",
                                  NULL),
                        "65534\n65534 12345\nUid: 65534 65534 65534 65534\n"
                        "Gid: 65534 65534 65534 65534\n");
}

TEST(signals_are_as_at_a_login_whatever_ours_are) {
    sigset_t mask, before;
    sigemptyset(&mask);
    sigaddset(&mask, SIGTERM);
    sigprocmask(SIG_BLOCK, &mask, &before);
    struct sigaction ignore = {.sa_handler = SIG_IGN}, old;
    sigaction(SIGPIPE, &ignore, &old);
    assert_string_equal(output_of((struct spawn) {0},
                                  "grep -E '^Sig(Blk|Ign)' /proc/self/status | tr -d '\\t'", NULL),
                        "SigBlk:0000000000000000\nSigIgn:0000000000000000\n");
    sigaction(SIGPIPE, &old, NULL);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

TEST(a_held_child_starts_when_it_is_released) {
    char *argv[] = {(char *) "sh", (char *) "-c", (char *) "exit 9", NULL};
    struct spawn spec = {.path = "/bin/sh",
                         .argv = argv,
                         .envp = environment,
                         .stdin_fd = -1,
                         .stdout_fd = -1,
                         .stderr_fd = -1,
                         .new_session = true};
    struct spawn_held held;
    struct error err = ERROR_INIT;
    assert_int_equal(spawn_hold(&spec, &held, &err), 0);
    usleep(20000);
    assert_int_equal(waitpid(held.pid, NULL, WNOHANG), 0);
    assert_int_equal(spawn_release(&held, NULL, &err), 0);
    int status;
    assert_int_equal(waitpid(held.pid, &status, 0), held.pid);
    assert_int_equal(WEXITSTATUS(status), 9);
    assert_int_equal(spawn_hold(&spec, &held, &err), 0);
    spawn_abandon(&held);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    spec.cwd = "/nonexistent"; /* a failure before the gate shows at the release */
    assert_int_equal(spawn_hold(&spec, &held, &err), 0);
    usleep(20000);
    struct spawn_report report;
    assert_true(spawn_release(&held, &report, &err) < 0);
    assert_int_equal(report.failed_at, SPAWN_CWD);
}

static int hook(void *context) {
    return *(int *) context;
}

TEST(a_failing_hook_stops_the_start) {
    int errnum = EDOM;
    char *argv[] = {(char *) "true", NULL};
    struct spawn spec = {.path = "/bin/true",
                         .argv = argv,
                         .envp = environment,
                         .stdin_fd = -1,
                         .stdout_fd = -1,
                         .stderr_fd = -1,
                         .hook = hook,
                         .hook_context = &errnum};
    pid_t pid;
    struct spawn_report report;
    struct error err = ERROR_INIT;
    assert_true(spawn_process(&spec, &pid, &report, &err) < 0);
    assert_int_equal(report.failed_at, SPAWN_HOOK);
    assert_int_equal(report.errnum, EDOM);
    errnum = 0;
    assert_int_equal(spawn_process(&spec, &pid, &report, &err), 0);
    waitpid(pid, NULL, 0);
}

TEST(a_program_is_found_in_path) {
    char *path = NULL;
    struct error err = ERROR_INIT;
    assert_int_equal(spawn_find("sh", "/nonexistent:/bin:/usr/bin", &path, &err), 0);
    assert_string_equal(path, "/bin/sh");
    free(path);
    assert_int_equal(spawn_find("./x", NULL, &path, &err), 0);
    assert_string_equal(path, "./x");
    free(path);
    assert_int_equal(spawn_find("no-such-program", "/bin", &path, &err), -ERR_NOT_FOUND);
    assert_int_equal(spawn_find("tmp", "/", &path, &err), -ERR_NOT_FOUND); /* a directory */
}

/* Appends what the terminal says until it has said `text` or there is nothing more to come. */
static void read_until(int master, char got[256], const char *text) {
    size_t length = strlen(got);
    while (strstr(got, text) == NULL) {
        ssize_t n = read(master, got + length, 255 - length);
        if (n < 0 && errno == EAGAIN) {
            usleep(1000);
            continue;
        }
        if (n <= 0)
            return;
        length += (size_t) n;
        got[length] = '\0';
    }
}

TEST(a_terminal_has_its_size_and_is_the_controlling_one) {
    int master, slave;
    struct error err = ERROR_INIT;
    assert_int_equal(pty_open((struct pty_size) {24, 80}, geteuid(), &master, &slave, &err), 0);
    char *argv[] = {(char *) "sh", (char *) "-c",
                    (char *) "stty size < /dev/tty; read x; stty size; exit 3", NULL};
    struct spawn spec = {.path = "/bin/sh",
                         .argv = argv,
                         .envp = environment,
                         .stdin_fd = slave,
                         .stdout_fd = slave,
                         .stderr_fd = slave,
                         .new_session = true,
                         .terminal_fd = slave};
    pid_t pid;
    if (spawn_process(&spec, &pid, NULL, &err) < 0)
        fail_msg("%s", err.text);
    close(slave);
    char got[256] = "";
    read_until(master, got, "24 80");
    assert_non_null(strstr(got, "24 80"));
    assert_int_equal(pty_resize(master, (struct pty_size) {50, 132}, &err), 0);
    struct pty_size size;
    assert_true(pty_get_size(master, &size));
    assert_int_equal(size.columns, 132);
    assert_int_equal(write(master, "\n", 1), 1);
    int status;
    waitpid(pid, &status, 0);
    assert_int_equal(WEXITSTATUS(status), 3);
    read_until(master, got, "50 132");
    assert_non_null(strstr(got, "50 132"));
    close(master);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_gets_its_arguments_environment_and_directory),
        cmocka_unit_test(no_descriptor_leaks_and_wanted_ones_are_at_their_place),
        cmocka_unit_test(a_missing_program_is_reported_by_the_call),
        cmocka_unit_test(a_missing_directory_falls_back_or_is_an_error),
        cmocka_unit_test(limits_umask_and_cpu_binding_are_set),
        cmocka_unit_test(a_refused_limit_is_reported_and_not_fatal),
        cmocka_unit_test(the_identity_is_changed_for_good),
        cmocka_unit_test(signals_are_as_at_a_login_whatever_ours_are),
        cmocka_unit_test(a_held_child_starts_when_it_is_released),
        cmocka_unit_test(a_failing_hook_stops_the_start),
        cmocka_unit_test(a_program_is_found_in_path),
        cmocka_unit_test(a_terminal_has_its_size_and_is_the_controlling_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
