/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/clone.h"

struct seen {
    long pid;
    int is_blocked, failure;
};

static int look(void *context) {
    struct seen *seen = context;
    sigset_t mask;

    clone_reset_signals();
    seen->pid = syscall(SYS_getpid);
    sigemptyset(&mask);
    (void) syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof(uint64_t));
    seen->is_blocked = sigismember(&mask, SIGUSR1);
    _exit(7);
}

static int execute_nothing(void *context) {
    struct seen *seen = context;
    char *argv[] = {(char *) "nothing", NULL};

    execve("/nothing", argv, environ);
    seen->failure = errno;
    _exit(1);
}

TEST(the_child_shares_our_memory_until_it_is_gone) {
    struct seen seen = {0};
    bool is_inside = true;
    int status;

    pid_t pid = clone_vfork(-1, &is_inside, look, &seen);
    assert_true(pid > 0);
    assert_false(is_inside);
    assert_int_equal(seen.pid, pid);
    assert_int_equal(seen.is_blocked, 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 7 << 8);
}

TEST(a_program_that_is_not_there_is_known_at_once) {
    struct seen seen = {0};
    bool is_inside;

    pid_t pid = clone_vfork(-1, &is_inside, execute_nothing, &seen);
    assert_int_equal(seen.failure, ENOENT);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

TEST(a_directory_that_is_no_group_is_passed_over) {
    struct seen seen = {0};
    bool is_inside = true;
    int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

    pid_t pid = clone_vfork(fd, &is_inside, look, &seen);
    assert_true(pid > 0);
    assert_false(is_inside);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    close(fd);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_child_shares_our_memory_until_it_is_gone),
        cmocka_unit_test(a_program_that_is_not_there_is_known_at_once),
        cmocka_unit_test(a_directory_that_is_no_group_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
