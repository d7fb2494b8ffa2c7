/* SPDX-License-Identifier: Apache-2.0 */
/* The test starts itself as a program that asks for huge pages. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/hugepages.h"
#include "unit.h"

enum { WAS_STARTED_AGAIN = 1, VARIABLE_IS_SET = 2 };

/* What the program that was asked to use huge pages finds. */
static int program(char **argv) {
    static char start[65536];
    huge_pages_use(argv);
    int fd = open("/proc/self/environ", O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, start, sizeof(start));
    int status = getenv("GLIBC_TUNABLES") != NULL ? VARIABLE_IS_SET : 0;
    for (ssize_t i = 0; i < n; i += (ssize_t) strlen(start + i) + 1) {
        if (strcmp(start + i, "GLIBC_TUNABLES=glibc.malloc.hugetlb=1") == 0)
            status |= WAS_STARTED_AGAIN;
    }
    return status;
}

static int program_run(const char *tunables) {
    pid_t pid = fork();
    if (pid == 0) {
        if (tunables != NULL)
            setenv("GLIBC_TUNABLES", tunables, 1);
        else
            unsetenv("GLIBC_TUNABLES");
        execl("/proc/self/exe", "test_hugepages", "program", NULL);
        _exit(99);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

TEST(a_program_starts_again_once_and_hides_the_tunable_from_its_children) {
    assert_int_equal(program_run(NULL), WAS_STARTED_AGAIN);
}

TEST(tunables_of_the_administrator_stay) {
    assert_int_equal(program_run("glibc.malloc.hugetlb=0"), VARIABLE_IS_SET);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "program") == 0)
        return program(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_starts_again_once_and_hides_the_tunable_from_its_children),
        cmocka_unit_test(tunables_of_the_administrator_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
