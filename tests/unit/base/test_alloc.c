/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation helpers and the cleanup attributes. */
#include "base/alloc.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

TEST(empty_requests_yield_memory_that_can_be_freed) {
    void *memory[] = {xmalloc(0), xcalloc(0, 8), xreallocarray(xmalloc(3), 0, 8)};
    for (size_t i = 0; i < 3; i++) {
        assert_non_null(memory[i]);
        free(memory[i]);
    }
}

TEST(calloc_zeroes) {
    cleanup_free unsigned char *memory = xcalloc(3, 7);
    for (size_t i = 0; i < 21; i++)
        assert_int_equal(memory[i], 0);
}

TEST(strndup_stops_at_the_limit_or_at_the_end) {
    cleanup_free char *cut = xstrndup("partition", 4);
    cleanup_free char *whole = xstrndup("gpu", 99);
    assert_string_equal(cut, "part");
    assert_string_equal(whole, "gpu");
}

TEST(strdup_null_keeps_null) {
    assert_null(xstrdup_null(NULL));
    cleanup_free char *copy = xstrdup_null("x");
    assert_string_equal(copy, "x");
}

TEST(asprintf_formats) {
    cleanup_free char *text = xasprintf("%s-%d", "n", 7);
    assert_string_equal(text, "n-7");
}

TEST(take_hands_out_and_leaves_null) {
    char *text = xstrdup("mine");
    cleanup_free char *taken = take(text);
    assert_null(text);
    assert_string_equal(taken, "mine");
}

static int fd_of_a_finished_scope(void) {
    cleanup_fd int fd = open("/dev/null", O_RDONLY);
    return fd;
}

TEST(cleanup_fd_closes_at_the_end_of_scope) {
    int fd = fd_of_a_finished_scope();
    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
}

TEST(take_fd_keeps_the_descriptor_open) {
    int fd = open("/dev/null", O_RDONLY);
    int taken = take_fd(&fd);
    assert_int_equal(fd, -1);
    assert_int_not_equal(fcntl(taken, F_GETFD), -1);
    close(taken);
}

TEST(min_of_and_max_of_nest_and_evaluate_once) {
    int calls = 0;
    assert_int_equal(min_of(++calls, 5), 1);
    assert_int_equal(calls, 1);
    assert_int_equal(max_of(1, min_of(9, max_of(3, 2))), 3);
}

/* Runs fn in a child whose stderr goes nowhere; yields the signal that ended it. */
static int signal_of(void (*fn)(void)) {
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        fn();
        _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void overflow_a_product(void) {
    size_t half = SIZE_MAX / 2;
    free(xreallocarray(NULL, half, 3));
}

TEST(a_size_that_overflows_aborts) {
    assert_int_equal(signal_of(overflow_a_product), SIGABRT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_requests_yield_memory_that_can_be_freed),
        cmocka_unit_test(calloc_zeroes),
        cmocka_unit_test(strndup_stops_at_the_limit_or_at_the_end),
        cmocka_unit_test(strdup_null_keeps_null),
        cmocka_unit_test(asprintf_formats),
        cmocka_unit_test(take_hands_out_and_leaves_null),
        cmocka_unit_test(cleanup_fd_closes_at_the_end_of_scope),
        cmocka_unit_test(take_fd_keeps_the_descriptor_open),
        cmocka_unit_test(min_of_and_max_of_nest_and_evaluate_once),
        cmocka_unit_test(a_size_that_overflows_aborts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
