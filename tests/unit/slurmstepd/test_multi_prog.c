/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "slurmstepd/stepd.h"

static struct arena arena;

static int setup(void **state) {
    arena_init(&arena, 0);
    return 0;
}

static int teardown(void **state) {
    arena_done(&arena);
    return 0;
}

static char **command(const char *text, uint32_t rank) {
    char **argv = NULL;

    assert_int_equal(multi_prog_command(text, strlen(text), rank, &arena, &argv, NULL), 0);
    return argv;
}

TEST(a_rank_gets_the_line_that_names_it) {
    static const char file[] = "# a comment\n0 master\n\n1-2,5 worker a b\n* rest\n";

    assert_string_equal(command(file, 0)[0], "master");
    assert_null(command(file, 0)[1]);
    assert_string_equal(command(file, 5)[0], "worker");
    assert_string_equal(command(file, 5)[2], "b");
    assert_string_equal(command(file, 3)[0], "rest");
}

TEST(the_first_line_that_fits_counts) {
    assert_string_equal(command("* all\n0 zero\n", 0)[0], "all");
}

TEST(rank_and_place_are_put_into_arguments) {
    static const char file[] = "0 x\n4-6 echo r=%t o=%o %x\n";

    assert_string_equal(command(file, 5)[1], "r=5");
    assert_string_equal(command(file, 5)[2], "o=1");
    assert_string_equal(command(file, 5)[3], "%x");
}

TEST(quotes_group_and_lines_continue) {
    char **argv = command("0 sh -c \"echo 'a b'\" 'c d' e\\ f \\\n  last", 0);

    assert_string_equal(argv[2], "echo 'a b'");
    assert_string_equal(argv[3], "c d");
    assert_string_equal(argv[4], "e f");
    assert_string_equal(argv[5], "last");
    assert_null(argv[6]);
}

TEST(a_rank_without_a_line_is_an_error) {
    struct error err = ERROR_INIT;
    char **argv;

    assert_int_equal(multi_prog_command("0 a\n1\n", 6, 1, &arena, &argv, &err), -ERR_NOT_FOUND);
    assert_string_equal(err.text, "No executable program specified for this task");
    assert_int_equal(multi_prog_command("", 0, 0, &arena, &argv, &err), -ERR_NOT_FOUND);
    assert_int_equal(multi_prog_command("zero a", 6, 0, &arena, &argv, &err), -ERR_NOT_FOUND);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_rank_gets_the_line_that_names_it, setup, teardown),
        cmocka_unit_test_setup_teardown(the_first_line_that_fits_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(rank_and_place_are_put_into_arguments, setup, teardown),
        cmocka_unit_test_setup_teardown(quotes_group_and_lines_continue, setup, teardown),
        cmocka_unit_test_setup_teardown(a_rank_without_a_line_is_an_error, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
