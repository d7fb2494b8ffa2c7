/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os/proc.h"
#include "os/program.h"

struct run {
    struct loop *loop;
    struct str lines;
    int status;
    bool timed_out;
    unsigned n_lines;
};

static void on_line(const char *text, void *context) {
    struct run *run = context;
    run->n_lines++;
    str_join(&run->lines, "|", text);
}

static void on_end(int status, bool timed_out, void *context) {
    struct run *run = context;
    run->status = status;
    run->timed_out = timed_out;
    loop_stop(run->loop, 0);
}

static char *const environment[] = {(char *) "PATH=/usr/bin:/bin", (char *) "GREETING=hello", NULL};

static void run_script(struct run *run, const char *script, uint32_t timeout) {
    struct error err = ERROR_INIT;
    char *argv[] = {(char *) "/bin/sh", (char *) "-c", (char *) (uintptr_t) script, NULL};
    struct program program = {.argv = argv,
                              .envp = environment,
                              .timeout = timeout,
                              .directory = "/usr",
                              .line = on_line,
                              .ended = on_end,
                              .context = run};
    *run = (struct run) {0};
    assert_int_equal(loop_new(&run->loop, &err), 0);
    if (program_start(run->loop, &program, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(loop_run(run->loop, &err), 0);
}

static void run_done(struct run *run) {
    loop_free(run->loop);
    str_done(&run->lines);
}

TEST(what_a_program_prints_comes_in_lines_and_then_its_status) {
    struct run run;
    run_script(&run, "echo $GREETING; pwd >&2; cat; printf unfinished; exit 3", 0);
    assert_string_equal(str_cstr(&run.lines), "hello|/usr|unfinished");
    assert_int_equal(WEXITSTATUS(run.status), 3);
    assert_false(run.timed_out);
    run_done(&run);
}

TEST(a_program_that_takes_too_long_is_killed_with_all_that_it_started) {
    struct run run;
    run_script(&run, "sleep 1000 & echo $!; wait", 1);
    assert_true(run.timed_out);
    assert_true(WIFSIGNALED(run.status));
    pid_t child = (pid_t) atoi(str_cstr(&run.lines));
    assert_true(child > 1);
    for (int i = 0; i < 1000 && proc_start_time(child) != 0; i++)
        usleep(10000);
    assert_int_equal(proc_start_time(child), 0);
    struct str text = STR_INIT;
    program_status_print(run.status, true, 1, &text);
    assert_string_equal(text.data, "killed after 1 s");
    str_done(&text);
    run_done(&run);
}

TEST(what_is_left_in_the_background_keeps_nobody_waiting) {
    struct run run;
    run_script(&run, "sleep 1000 & echo $!", 0);
    assert_int_equal(run.status, 0);
    assert_int_equal(kill((pid_t) atoi(str_cstr(&run.lines)), SIGKILL), 0);
    run_done(&run);
}

TEST(endless_output_is_cut) {
    struct run run;
    run_script(&run, "yes | head -c 1000000; echo end", 0);
    assert_int_equal(run.n_lines, PROGRAM_OUTPUT_MAX / 2);
    assert_int_equal(run.status, 0);
    run_done(&run);
}

TEST(a_program_that_is_not_there_is_an_error_with_its_name) {
    struct loop *loop;
    struct error err = ERROR_INIT;
    char *argv[] = {(char *) "/no/such/program", NULL};
    struct program program = {.argv = argv, .envp = environment, .ended = on_end};
    assert_int_equal(loop_new(&loop, &err), 0);
    assert_true(program_start(loop, &program, &err) < 0);
    assert_non_null(strstr(err.text, "/no/such/program"));
    loop_free(loop);
}

TEST(a_loop_that_goes_first_takes_the_watch_with_it) {
    struct run run = {0};
    struct error err = ERROR_INIT;
    char *argv[] = {(char *) "/bin/sleep", (char *) "0", NULL};
    struct program program = {
        .argv = argv, .envp = environment, .timeout = 9, .ended = on_end, .context = &run};
    assert_int_equal(loop_new(&run.loop, &err), 0);
    assert_int_equal(program_start(run.loop, &program, &err), 0);
    loop_free(run.loop);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_program_prints_comes_in_lines_and_then_its_status),
        cmocka_unit_test(a_program_that_takes_too_long_is_killed_with_all_that_it_started),
        cmocka_unit_test(what_is_left_in_the_background_keeps_nobody_waiting),
        cmocka_unit_test(endless_output_is_cut),
        cmocka_unit_test(a_program_that_is_not_there_is_an_error_with_its_name),
        cmocka_unit_test(a_loop_that_goes_first_takes_the_watch_with_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
