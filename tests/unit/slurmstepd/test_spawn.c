/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "slurmstepd/spawn.h"

/* Runs a command, returns its wait status; its output in text. */
struct run {
    struct spawn_plan plan;
    char text[4096];
    int status, errnum;
    struct error err;
};

static void run(struct run *r, char *const *argv, char *const *envp) {
    int fds[2], null = open("/dev/null", O_RDWR | O_CLOEXEC);
    size_t at = 0;
    ssize_t n;
    pid_t pid = 0;

    assert_true(null >= 0 && pipe2(fds, O_CLOEXEC) == 0);
    r->plan.program = argv[0];
    r->plan.argv = argv;
    r->plan.envp = envp;
    r->plan.fds[0] = null;
    r->plan.fds[1] = fds[1];
    r->plan.fds[2] = fds[1];
    (void) !spawn_start(&r->plan, &pid, &r->errnum, &r->err);
    close(fds[1]);
    close(null);
    while ((n = read(fds[0], r->text + at, sizeof(r->text) - 1 - at)) > 0)
        at += (size_t) n;
    r->text[at] = '\0';
    close(fds[0]);
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &r->status, 0), pid);
}

static char *const path_only[] = {(char *) "PATH=/nonexistent:/usr/bin:/bin", NULL};

#define SH(script)                                                                                 \
    (char *const[]) {                                                                              \
        (char *) "/bin/sh", (char *) "-c", (char *) (script), NULL                                 \
    }

TEST(a_program_runs_and_its_status_comes_back) {
    struct run r = {0};

    run(&r, SH("echo out; echo err >&2; exit 7"), path_only);
    assert_string_equal(r.text, "out\nerr\n");
    assert_int_equal(r.status, 7 << 8);
    assert_int_equal(r.err.code, 0);
}

TEST(a_name_without_slash_is_looked_up_in_the_tasks_path) {
    struct run r = {0};
    char *const argv[] = {(char *) "printf", (char *) "found", NULL};

    run(&r, argv, path_only);
    assert_string_equal(r.text, "found");
}

TEST(a_missing_program_is_named_and_exits_with_the_error_number) {
    struct run r = {0};
    char *const argv[] = {(char *) "nosuchcmd", NULL};
    char *const nothing[] = {NULL};

    run(&r, argv, path_only);
    assert_string_equal(r.err.text, "execve(): nosuchcmd: No such file or directory");
    assert_int_equal(r.errnum, ENOENT);
    assert_int_equal(r.status, ENOENT << 8);
    memset(&r, 0, sizeof(r));
    run(&r, argv, nothing); /* no PATH at all */
    assert_int_equal(r.errnum, ENOENT);
    memset(&r, 0, sizeof(r));
    char *const denied[] = {(char *) "/etc/passwd", NULL};
    run(&r, denied, path_only);
    assert_int_equal(r.status, EACCES << 8);
}

TEST(a_script_whose_interpreter_is_missing_names_the_interpreter) {
    struct run r = {0};
    char path[] = "/tmp/sluice-spawn-XXXXXX";
    int fd = mkostemp(path, O_CLOEXEC);
    char *const argv[] = {path, NULL};

    assert_true(dprintf(fd, "#! /no/such/shell -l\nexit\n") > 0);
    assert_int_equal(fchmod(fd, 0700), 0);
    close(fd);
    run(&r, argv, path_only);
    unlink(path);
    assert_string_equal(r.err.text,
                        "execve(): bad interpreter(/no/such/shell): No such file or directory");
    assert_int_equal(r.status, ENOENT << 8);
}

TEST(the_child_leads_a_session_with_default_signals) {
    struct run r = {0};

    (void) signal(SIGUSR1, SIG_IGN);
    run(&r, SH("grep -E 'Sig(Blk|Ign)' /proc/self/status; ps -o sid= -p $$ | tr -d ' '; echo $$"),
        path_only);
    (void) signal(SIGUSR1, SIG_DFL);
    unsigned long long blocked, ignored;
    int sid, pid;
    assert_int_equal(
        sscanf(r.text, "SigBlk: %llx SigIgn: %llx %d %d", &blocked, &ignored, &sid, &pid), 4);
    assert_int_equal(blocked, 0);
    assert_int_equal(ignored, 0);
    assert_int_equal(sid, pid);
}

TEST(the_pid_is_in_the_environment_before_the_program_runs) {
    struct run r = {0};
    char entry[] = "MY_PID=0000000000";
    char *const envp[] = {(char *) "PATH=/usr/bin:/bin", entry, NULL};

    r.plan.pid_digits = entry + 7;
    run(&r, SH("test $MY_PID = $$ && echo same"), envp);
    assert_string_equal(r.text, "same\n");
}

TEST(no_descriptor_but_the_three_reaches_the_program) {
    struct run r = {0};
    int extra = open("/dev/null", O_RDONLY | O_CLOEXEC);

    run(&r, SH("ls /proc/self/fd | wc -l"), path_only);
    close(extra);
    assert_int_equal(atoi(r.text), 4); /* and the one that ls reads the directory by */
}

TEST(limits_and_umask_are_set_and_a_limit_above_ours_is_cut) {
    struct rlimit now;
    struct run r = {0};
    getrlimit(RLIMIT_NOFILE, &now);
    const struct rlimit_value limits[] = {{.resource = RLIMIT_CORE, .soft = 0},
                                          {.resource = RLIMIT_NOFILE, .soft = 99}};

    r.plan.rlimits = limits;
    r.plan.n_rlimits = 2;
    r.plan.umask = 027;
    run(&r, SH("ulimit -c; ulimit -n; umask"), path_only);
    assert_string_equal(r.text, "0\n99\n0027\n");
}

TEST(the_identity_is_taken_on_for_good) {
    static const gid_t groups[] = {12345, 54321};
    static const struct spawn_identity nobody = {65534, 65534, groups, 2};
    struct run r = {0};

    NEED(geteuid() == 0);
    r.plan.identity = &nobody;
    run(&r, SH("grep -E '^(Uid|Gid|Groups):' /proc/self/status | tr '\\t' ' '"), path_only);
    assert_string_equal(r.text, "Uid: 65534 65534 65534 65534\nGid: 65534 65534 65534 65534\n"
                                "Groups: 12345 54321 \n");
}

TEST(files_are_opened_with_the_users_rights_and_ours_come_back) {
    static const struct spawn_identity nobody = {65534, 65534, NULL, 0};

    NEED(geteuid() == 0);
    identity_enter(&nobody);
    assert_int_equal(open("/etc/shadow", O_RDONLY), -1);
    assert_int_equal(errno, EACCES);
    identity_leave();
    assert_int_equal(geteuid(), 0);
    assert_int_equal(getegid(), getgid());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_runs_and_its_status_comes_back),
        cmocka_unit_test(a_name_without_slash_is_looked_up_in_the_tasks_path),
        cmocka_unit_test(a_missing_program_is_named_and_exits_with_the_error_number),
        cmocka_unit_test(a_script_whose_interpreter_is_missing_names_the_interpreter),
        cmocka_unit_test(the_child_leads_a_session_with_default_signals),
        cmocka_unit_test(the_pid_is_in_the_environment_before_the_program_runs),
        cmocka_unit_test(no_descriptor_but_the_three_reaches_the_program),
        cmocka_unit_test(limits_and_umask_are_set_and_a_limit_above_ours_is_cut),
        cmocka_unit_test(the_identity_is_taken_on_for_good),
        cmocka_unit_test(files_are_opened_with_the_users_rights_and_ours_come_back),
    };
    (void) close_range(3, ~0u, 0); /* what the tests were started with is not our subject */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
