/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A real slurmstepd with a batch script, seen from slurmd's end of its socket.
 * Covers: main.c, start.c, files.c, link.c, end.c, gather.c, hooks.c, login_env.c.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/step_wire.h"
#include "base/alloc.h"
#include "model/usage.h"
#include "os/frame.h"
#include "os/loop.h"
#include "os/sock.h"

struct world {
    char dir[64], *program;
    struct step_order order;
    struct job job;
    struct job_node node;
    struct launch launch;
    struct str body;
    pid_t pid;
    int fd;
    struct frame_in in;
    struct frame_out out;
    struct arena arena;
    struct step_frame_any any;
};

/* The program that was built beside this test. */
static char *find_program(void) {
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

    assert_true(n > 0);
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    return xasprintf("%s/../../src/slurmstepd/slurmstepd", self);
}

static void open_world(struct world *w, const char *script) {
    static const char environment[] = "PATH=/usr/bin:/bin\0HOME=/";

    memset(w, 0, sizeof(*w));
    strcpy(w->dir, "/tmp/sluice-stepd-XXXXXX");
    assert_non_null(mkdtemp(w->dir));
    cleanup_free char *steps = xasprintf("%s/step", w->dir);
    assert_int_equal(mkdir(steps, 0700), 0);
    w->program = find_program();
    record_init(&record_step_order, &w->order);
    record_init(&record_job, &w->job);
    record_init(&record_job_node, &w->node);
    record_init(&record_launch, &w->launch);
    w->node.name = (char *) "n1";
    w->node.cpus = 1;
    w->job.job_id = 7;
    w->job.uid = getuid();
    w->job.gid = getgid();
    w->job.name = (char *) "test";
    w->job.work_dir = w->dir;
    w->job.umask = 022;
    w->job.std_out = (char *) "out-%j";
    w->job.script = (struct blob) {(uint8_t *) (uintptr_t) script, strlen(script)};
    w->job.environment = (struct blob) {(uint8_t *) (uintptr_t) environment, sizeof(environment)};
    w->job.allocation.items = &w->node;
    w->job.allocation.n = 1;
    w->launch.job = &w->job;
    w->launch.attempt = 2;
    w->order.job_id = 7;
    w->order.step_id = STEP_BATCH;
    w->order.attempt = 2;
    w->order.uid = getuid();
    w->order.gid = getgid();
    w->order.user_name = (char *) "me";
    w->order.shell = (char *) "/bin/sh";
    w->order.node_name = (char *) "n1";
    w->order.spool_dir = w->dir;
    w->order.kill_wait = 1;
    w->order.unkillable_seconds = 30;
    arena_init(&w->arena, 0);
    frame_in_init(&w->in, 1 << 20);
    frame_out_init(&w->out);
}

static void send_frame(struct world *w, enum step_frame type, const struct record *record,
                       const void *object) {
    cleanup_str struct str content = STR_INIT;

    step_frame_encode(type, record, object, &content);
    frame_out_append(&w->out, (struct bytes) {(const uint8_t *) content.data, content.length});
    assert_int_equal(frame_out_flush(&w->out, w->fd, NULL), 0);
}

static void start(struct world *w) {
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    w->pid = fork();
    assert_true(w->pid >= 0);
    if (w->pid == 0) {
        char *argv[] = {(char *) "slurmstepd: [7.batch]", NULL};
        dup2(fds[1], 3);
        execv(w->program, argv);
        _exit(127);
    }
    close(fds[1]);
    w->fd = fds[0];
    wire_encode(&record_launch, &w->launch, NULL, &w->body);
    w->order.launch = (struct blob) {(uint8_t *) w->body.data, w->body.length};
    send_frame(w, STEP_FRAME_ORDER, &record_step_order, &w->order);
}

static const struct step_report *next_report(struct world *w) {
    struct bytes content;
    enum step_frame type;
    int r;

    while ((r = frame_in_next(&w->in, &content, NULL)) == 0) {
        struct pollfd pollfd = {.fd = w->fd, .events = POLLIN};
        assert_int_equal(poll(&pollfd, 1, 20000), 1);
        assert_true(frame_in_read(&w->in, w->fd, NULL) >= 0);
    }
    assert_int_equal(r, 1);
    assert_int_equal(step_frame_decode(content, &w->arena, &type, &w->any, NULL), 0);
    assert_int_equal(type, STEP_FRAME_REPORT);
    assert_int_equal(w->any.report.attempt, 2);
    return &w->any.report;
}

static const struct step_done *wait_done(struct world *w) {
    const struct step_report *report;

    do
        report = next_report(w);
    while (!report->done);
    return report->done;
}

static void command(struct world *w, const struct step_command *what) {
    send_frame(w, STEP_FRAME_COMMAND, &record_step_command, what);
}

static char *file_text(struct world *w, const char *name) {
    cleanup_free char *path = xasprintf("%s/%s", w->dir, name);
    FILE *file = fopen(path, "re");
    char *text = xcalloc(1, 8192);

    if (!file)
        return take(text);
    (void) !fread(text, 1, 8191, file);
    fclose(file);
    return text;
}

/* Waits until the job has made a file. */
static void wait_for(struct world *w, const char *name) {
    cleanup_free char *path = xasprintf("%s/%s", w->dir, name);

    for (int i = 0; i < 4000 && access(path, F_OK) < 0; i++)
        usleep(5000);
    assert_int_equal(access(path, F_OK), 0);
}

static void close_world(struct world *w) {
    static const struct step_command forget = {.kind = STEP_COMMAND_FORGET};
    int status;

    command(w, &forget);
    assert_int_equal(waitpid(w->pid, &status, 0), w->pid);
    assert_int_equal(status, 0);
    cleanup_free char *socket = xasprintf("%s/step/7.batch.2", w->dir);
    cleanup_free char *script = xasprintf("%s/job00007", w->dir);
    assert_int_equal(access(socket, F_OK), -1);
    assert_int_equal(access(script, F_OK), -1);
    close(w->fd);
    cleanup_free char *remove_all = xasprintf("rm -rf %s", w->dir);
    assert_int_equal(system(remove_all), 0);
    frame_in_done(&w->in);
    frame_out_done(&w->out);
    arena_done(&w->arena);
    str_done(&w->body);
    free(w->program);
}

/* ---- the tests ---- */

TEST(a_script_runs_and_its_exit_code_is_reported) {
    struct world w;

    open_world(&w, "#!/bin/sh\necho \"$1 in $PWD as $SLURM_JOB_ID of $0\"; exit 3\n");
    char *arguments[] = {(char *) "hello"};
    w.job.argv.items = arguments;
    w.job.argv.n = 1;
    start(&w);
    const struct step_report *report = next_report(&w);
    assert_true(report->running);
    assert_true(report->by_controller);
    const struct step_done *done = wait_done(&w);
    assert_int_equal(done->exit_status, 3 << 8);
    assert_int_equal(done->code, 0);
    assert_true(usage_measure(done->usage, USAGE_RSS)->max > 0);
    cleanup_free char *text = file_text(&w, "out-7");
    cleanup_free char *expected =
        xasprintf("hello in %s as 7 of %s/job00007/slurm_script\n", w.dir, w.dir);
    assert_string_equal(text, expected);
    close_world(&w);
}

TEST(an_output_file_that_cannot_be_opened_is_the_result) {
    struct world w;

    open_world(&w, "#!/bin/sh\ntrue\n");
    w.job.std_out = (char *) "/proc/nosuch/file";
    start(&w);
    const struct step_done *done = wait_done(&w);
    assert_true(done->output_failed);
    assert_int_equal(done->exit_status, 53);
    assert_non_null(strstr(done->detail, "/proc/nosuch/file"));
    close_world(&w);
}

TEST(missing_directories_of_an_output_file_are_made) {
    struct world w;

    open_world(&w, "#!/bin/sh\necho deep\n");
    w.job.std_out = (char *) "a/b/%x-%j.txt";
    start(&w);
    assert_int_equal(wait_done(&w)->exit_status, 0);
    cleanup_free char *text = file_text(&w, "a/b/test-7.txt");
    assert_string_equal(text, "deep\n");
    close_world(&w);
}

TEST(a_script_without_interpreter_says_so_in_the_output) {
    struct world w;

    open_world(&w, "#!/nosuch/interpreter\n");
    start(&w);
    assert_int_equal(wait_done(&w)->exit_status, ENOENT << 8);
    cleanup_free char *text = file_text(&w, "out-7");
    assert_non_null(strstr(text, "slurmstepd: error: execve(): "));
    assert_non_null(strstr(text, "No such file or directory"));
    close_world(&w);
}

TEST(a_working_directory_that_is_gone_is_replaced_by_tmp) {
    struct world w;

    open_world(&w, "#!/bin/sh\npwd\n");
    cleanup_free char *out = xasprintf("%s/out-7", w.dir);
    w.job.std_out = out;
    w.job.work_dir = (char *) "/nosuch";
    start(&w);
    assert_int_equal(wait_done(&w)->exit_status, 0);
    cleanup_free char *text = file_text(&w, "out-7");
    assert_string_equal(text, "slurmstepd: error: couldn't chdir to `/nosuch': No such file or "
                              "directory: going to /tmp instead\n/tmp\n");
    close_world(&w);
}

TEST(terminating_says_why_and_kills_what_is_deaf) {
    static const struct step_command end = {
        .kind = STEP_COMMAND_TERMINATE, .kill_wait = 1, .message = (char *) "CANCELLED AT noon"};
    struct world w;

    open_world(&w, "#!/bin/sh\ntrap '' TERM\nsetsid sleep 600 &\ntouch up\nsleep 600\nsleep 600\n");
    start(&w);
    wait_for(&w, "up");
    uint64_t begin = loop_monotonic_usec();
    command(&w, &end);
    command(&w, &end); /* an order that is repeated is said once */
    assert_int_equal(wait_done(&w)->exit_status, SIGKILL);
    assert_true(loop_monotonic_usec() - begin > 900000);
    cleanup_free char *text = file_text(&w, "out-7");
    assert_string_equal(text, "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT noon ***\n");
    close_world(&w);
}

TEST(a_signal_for_the_shell_alone_spares_its_children) {
    static const struct step_command usr1 = {
        .kind = STEP_COMMAND_SIGNAL, .signal = SIGUSR1, .flags = NODE_SIGNAL_BATCH_ONLY};
    struct world w;

    open_world(&w, "#!/bin/bash\ntrap 'kill -0 $! && echo child lives; exit 4' USR1\nsleep 600 &\n"
                   "touch up\nwait\n");
    start(&w);
    wait_for(&w, "up");
    command(&w, &usr1);
    assert_int_equal(wait_done(&w)->exit_status, 4 << 8);
    cleanup_free char *text = file_text(&w, "out-7");
    assert_string_equal(text, "child lives\n");
    close_world(&w);
}

TEST(a_new_slurmd_finds_the_step_and_its_result) {
    struct world w;

    open_world(&w, "#!/bin/sh\nsleep 0.2; exit 9\n");
    start(&w);
    assert_true(next_report(&w)->running);
    close(w.fd); /* slurmd dies */
    frame_in_done(&w.in);
    frame_in_init(&w.in, 1 << 20);
    cleanup_free char *socket = xasprintf("%s/step/7.batch.2", w.dir);
    usleep(400000);
    assert_int_equal(sock_dial_unix(socket, &w.fd, NULL), 0);
    assert_int_equal(wait_done(&w)->exit_status, 9 << 8);
    close_world(&w);
}

TEST(a_task_prolog_changes_the_environment_and_can_refuse) {
    struct world w;

    open_world(&w, "#!/bin/sh\necho got $ADDED\n");
    cleanup_free char *prolog = xasprintf("%s/prolog", w.dir);
    FILE *file = fopen(prolog, "w");
    fprintf(file, "#!/bin/sh\necho export ADDED=it\necho print from the prolog\n");
    fclose(file);
    assert_int_equal(chmod(prolog, 0755), 0);
    w.order.task_prolog = prolog;
    start(&w);
    assert_int_equal(wait_done(&w)->exit_status, 0);
    cleanup_free char *text = file_text(&w, "out-7");
    assert_string_equal(text, "from the prolog\ngot it\n");
    close_world(&w);
    open_world(&w, "#!/bin/sh\necho never\n");
    w.order.task_prolog = (char *) "/bin/false";
    start(&w);
    assert_int_equal(wait_done(&w)->exit_status, 1 << 8);
    close_world(&w);
}

TEST(the_login_environment_lies_under_what_was_submitted) {
    struct world w;

    open_world(&w, "#!/bin/sh\necho $USER $HOME $SHELL\n");
    w.job.get_user_env = true;
    w.order.home = w.dir;
    start(&w);
    assert_int_equal(wait_done(&w)->exit_status, 0);
    cleanup_free char *text = file_text(&w, "out-7");
    assert_string_equal(text, "me / /bin/sh\n");
    close_world(&w);
}

TEST(nobody_else_starts_it) {
    char *program = find_program();
    cleanup_free char *line = xasprintf("%s </dev/null 3>&- >/dev/null 2>&1", program);

    assert_int_equal(WEXITSTATUS(system(line)), 1);
    free(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_script_runs_and_its_exit_code_is_reported),
        cmocka_unit_test(an_output_file_that_cannot_be_opened_is_the_result),
        cmocka_unit_test(missing_directories_of_an_output_file_are_made),
        cmocka_unit_test(a_script_without_interpreter_says_so_in_the_output),
        cmocka_unit_test(a_working_directory_that_is_gone_is_replaced_by_tmp),
        cmocka_unit_test(terminating_says_why_and_kills_what_is_deaf),
        cmocka_unit_test(a_signal_for_the_shell_alone_spares_its_children),
        cmocka_unit_test(a_new_slurmd_finds_the_step_and_its_result),
        cmocka_unit_test(a_task_prolog_changes_the_environment_and_can_refuse),
        cmocka_unit_test(the_login_environment_lies_under_what_was_submitted),
        cmocka_unit_test(nobody_else_starts_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
