/* SPDX-License-Identifier: Apache-2.0 */
#include "os/proc.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

TEST(a_process_has_a_start_that_stays_and_differs_from_a_later_ones) {
    uint64_t start = proc_start_time(getpid());
    assert_true(start > 0);
    assert_int_equal(proc_start_time(getpid()), start);
    assert_true(proc_start_time(getppid()) <= start);
}

TEST(what_has_exited_has_none) {
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t) pid, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(proc_start_time(pid), 0); /* a zombie */
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(proc_start_time(pid), 0);
}

TEST(the_boot_has_a_name) {
    char first[64], second[64];
    proc_boot_id(first, sizeof(first));
    proc_boot_id(second, sizeof(second));
    assert_true(strlen(first) > 0);
    assert_string_equal(first, second);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_has_a_start_that_stays_and_differs_from_a_later_ones),
        cmocka_unit_test(what_has_exited_has_none),
        cmocka_unit_test(the_boot_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
