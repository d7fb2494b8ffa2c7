/* SPDX-License-Identifier: Apache-2.0 */
/* Lines as kernels write them. */
#include "unit.h"

#include <string.h>
#include <unistd.h>

#include "os/oom_log.h"

#define GROUP "/slurm_n1_6818/job_1/step_0"
#define OOM(group, name, pid)                                                                      \
    "6,44651,29385205627,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,"         \
    "mems_allowed=0,oom_memcg=/slurm_n1_6818/job_1,task_memcg=" group ",task=" name ",pid=" pid    \
    ",uid=1000\n"
#define KILL(pid, name)                                                                            \
    "3,44652,29385205636,-;Memory cgroup out of memory: Killed process " pid " (" name             \
    ") total-vm:73108kB, anon-rss:16720kB, file-rss:1636kB, shmem-rss:0kB, UID:1000 "              \
    "pgtables:92kB oom_score_adj:0\n"

TEST(the_two_lines_of_a_kill_name_the_process_and_its_size) {
    struct oom_record record = {.pid = 0};

    assert_true(oom_log_parse(OOM(GROUP, "python3", "16283"), GROUP, 0, &record));
    assert_int_equal(record.pid, 16283);
    assert_string_equal(record.name, "python3");
    assert_int_equal(record.vsize_kib, 0);
    assert_true(oom_log_parse(KILL("16283", "python3"), GROUP, 0, &record));
    assert_int_equal(record.vsize_kib, 73108);
}

TEST(groups_below_count_and_others_do_not) {
    struct oom_record record = {.pid = 0};

    assert_true(oom_log_parse(OOM(GROUP "/user/task_0", "a", "5"), GROUP, 0, &record));
    assert_int_equal(record.pid, 5);
    assert_false(oom_log_parse(OOM(GROUP "1", "b", "6"), GROUP, 0, &record));
    assert_false(oom_log_parse(OOM("/other", "b", "6"), GROUP, 0, &record));
    assert_false(oom_log_parse(KILL("6", "b"), GROUP, 0, &record));
    assert_int_equal(record.pid, 5);
}

TEST(the_second_line_alone_tells_of_a_known_victim) {
    struct oom_record record = {.pid = 0};

    assert_false(oom_log_parse(KILL("16283", "python3"), GROUP, 5, &record));
    assert_true(oom_log_parse(KILL("16283", "py(th)on3"), GROUP, 16283, &record));
    assert_string_equal(record.name, "py(th)on3");
    assert_int_equal(record.vsize_kib, 73108);
}

TEST(names_may_contain_anything) {
    struct oom_record record = {.pid = 0};

    assert_true(oom_log_parse(OOM(GROUP, "x,pid=1,(y)", "77"), GROUP, 0, &record));
    assert_int_equal(record.pid, 77);
    assert_string_equal(record.name, "x,pid=1,(y)");
}

TEST(other_lines_mean_nothing) {
    static const char *const lines[] = {"",
                                        ";",
                                        "6,1,1,-;oom-kill:",
                                        "oom-kill:,task_memcg=",
                                        "6,1,1,-;oom-kill:constraint=X,task_memcg=" GROUP,
                                        "6,1,1,-;oom-kill:x,task_memcg=" GROUP ",task=a,pid=",
                                        "3,1,1,-;Killed process 1 (a) total-vm:1kB"};

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct oom_record record = {.pid = 0};
        assert_false(oom_log_parse(lines[i], GROUP, 0, &record));
        assert_int_equal(record.pid, 0);
    }
}

TEST(a_log_that_is_not_there_says_nothing) {
    struct oom_record record;
    int fd = oom_log_open();

    assert_false(oom_log_read(-1, GROUP, 0, &record));
    assert_false(oom_log_read(fd, "/sluice-no-such-group", 0, &record));
    if (fd >= 0)
        close(fd);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_two_lines_of_a_kill_name_the_process_and_its_size),
        cmocka_unit_test(groups_below_count_and_others_do_not),
        cmocka_unit_test(the_second_line_alone_tells_of_a_known_victim),
        cmocka_unit_test(names_may_contain_anything),
        cmocka_unit_test(other_lines_mean_nothing),
        cmocka_unit_test(a_log_that_is_not_there_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
