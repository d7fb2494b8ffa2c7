/* SPDX-License-Identifier: Apache-2.0 */
/* What commands print about themselves. */
#include "cli/messages.h"

#include "fake_controller.h"

static struct cli cli;

static void print_all(void *context) {
    cli_error(&cli, "one %d\ntwo", 1);
    cli_fatal(&cli, "%s", "three");
    cli_warning(&cli, "four\n");
    cli_info(&cli, "five");
    cli_verbose(&cli, "six");
    cli_raw("seven\n");
    cli_try_help(&cli);
}

TEST(each_line_carries_the_name_and_its_kind) {
    cli_init(&cli, "sbatch");
    cli.verbose = 1;
    assert_string_equal(fake_stderr(print_all, NULL),
                        "sbatch: error: one 1\nsbatch: error: two\nsbatch: fatal: three\n"
                        "sbatch: warning: four\nsbatch: five\nsbatch: six\nseven\n"
                        "Try \"sbatch --help\" for more information\n");
}

TEST(quiet_leaves_errors_only) {
    cli_init(&cli, "sbatch");
    cli.quiet = true;
    assert_string_equal(fake_stderr(print_all, NULL),
                        "sbatch: error: one 1\nsbatch: error: two\nsbatch: fatal: three\nseven\n"
                        "Try \"sbatch --help\" for more information\n");
}

TEST(the_exit_status_of_failures_may_be_chosen) {
    unsetenv("SLURM_EXIT_ERROR");
    cli_init(&cli, "x");
    assert_int_equal(cli.error_status, 1);
    setenv("SLURM_EXIT_ERROR", "42", 1);
    cli_init(&cli, "x");
    assert_int_equal(cli.error_status, 42);
    setenv("SLURM_EXIT_ERROR", "0", 1); /* a failure is never a success */
    cli_init(&cli, "x");
    assert_int_equal(cli.error_status, 1);
    setenv("SLURM_EXIT_ERROR", "junk", 1);
    cli_init(&cli, "x");
    assert_int_equal(cli.error_status, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_line_carries_the_name_and_its_kind),
        cmocka_unit_test(quiet_leaves_errors_only),
        cmocka_unit_test(the_exit_status_of_failures_may_be_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
