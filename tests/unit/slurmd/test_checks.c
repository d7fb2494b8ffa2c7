/* SPDX-License-Identifier: Apache-2.0 */
#include "slurmd/checks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "text/tres.h"
#include "unit.h"

/* A pretended file system: /full, /inodes, /readonly, /same (as /full), /gone, anything else. */
static int pretend(const char *path, struct statvfs *ret) {
    *ret = (struct statvfs) {.f_blocks = 1000,
                             .f_bfree = 500,
                             .f_bavail = 400,
                             .f_files = 1000,
                             .f_ffree = 900,
                             .f_favail = 900,
                             .f_fsid = (unsigned long) path[1] + 1};
    if (str_equal(path, "/gone")) {
        errno = ENOENT;
        return -1;
    }
    if (str_equal(path, "/full") || str_equal(path, "/same")) {
        ret->f_bfree = 100; /* 900 used; ordinary users may have 9 more */
        ret->f_bavail = 9;
        ret->f_fsid = 7;
    }
    if (str_equal(path, "/inodes"))
        ret->f_ffree = ret->f_favail = 1;
    if (str_equal(path, "/readonly"))
        ret->f_flag = ST_RDONLY;
    return 0;
}

static void slow(const char *paths, uint32_t disk_full, uint32_t inodes_full, const char *skip,
                 const char *expected) {
    char dir[] = "/tmp/checks-XXXXXX";
    struct str out = STR_INIT;
    assert_non_null(mkdtemp(dir));
    struct checks checks = {.spool = xstrdup(dir),
                            .disk_full = disk_full,
                            .inodes_full = inodes_full,
                            .skip = xstrdup_null(skip),
                            .statvfs = pretend};
    cleanup_free char *copy = xstrdup(paths);
    char *cursor = copy, *path;
    while ((path = str_next_word(&cursor, " ")))
        vec_push(&checks.paths, xstrdup(path));
    checks_run_slow(&checks, &out);
    assert_string_equal(str_cstr(&out), expected);
    assert_null(checks.at);
    str_done(&out);
    checks_done(&checks);
    assert_int_equal(rmdir(dir), 0); /* nothing is left there */
}

TEST(nothing_is_said_of_what_is_well) {
    slow("/ /tmp", 99, 99, NULL, "");
}

TEST(a_full_file_system_is_told_once_with_its_threshold) {
    slow("/full /same", 99, 99, NULL, "disk: /full is 99 % full or more");
    slow("/full", 0, 99, NULL, "");
    slow("/", 50, 99, NULL, "disk: / is 50 % full or more");
    slow("/", 56, 99, NULL, "");
}

TEST(inodes_read_only_and_missing_file_systems_are_told) {
    slow("/inodes", 99, 99, NULL, "inodes: 99 % of those of /inodes are used or more");
    slow("/inodes", 99, 0, NULL, "");
    slow("/ /readonly", 99, 99, NULL, "readonly: /readonly cannot be written to");
    slow("/gone", 99, 99, NULL, "missing: /gone: No such file or directory");
    slow("/gone /full", 99, 99, NULL,
         "missing: /gone: No such file or directory; disk: /full is 99 % full or more");
}

TEST(checks_can_be_left_out_by_name) {
    slow("/gone /full /readonly", 99, 99, "disk:Missing",
         "readonly: /readonly cannot be written to");
}

TEST(a_spool_that_takes_no_file_is_told) {
    struct str out = STR_INIT;
    struct checks checks = {.spool = xstrdup("/proc/nowhere"), .statvfs = pretend};
    checks_run_slow(&checks, &out);
    assert_string_equal(str_cstr(&out),
                        "spool: /proc/nowhere takes no file: No such file or directory");
    str_done(&out);
    checks_done(&checks);
}

static void fast(uint64_t memory, uint32_t cpus, uint32_t gpus, int64_t jumped, bool overrides,
                 const char *expected) {
    struct str out = STR_INIT;
    struct gres_list want cleanup_gres_list = GRES_LIST_INIT,
                          have cleanup_gres_list = GRES_LIST_INIT;
    struct error err = ERROR_INIT;
    char text[32];
    assert_int_equal(gres_parse("gpu:2", &want, &err), 0);
    snprintf(text, sizeof(text), "gpu:%u", gpus);
    assert_int_equal(gres_parse(text, &have, &err), 0);
    const struct conf_node node = {.cpus = 4,
                                   .sockets = 1,
                                   .cores_per_socket = 4,
                                   .threads_per_core = 1,
                                   .real_memory = 1000,
                                   .gres = &want};
    struct checks checks = {.node = &node,
                            .found = {.cpus = cpus,
                                      .sockets = 1,
                                      .cores_per_socket = 4,
                                      .threads_per_core = 1,
                                      .real_memory = memory,
                                      .gres = &have},
                            .overrides = overrides,
                            .memory_percent = 100,
                            .clock_jump = 60,
                            .clock_jumped = jumped};
    checks_run_fast(&checks, &out);
    assert_string_equal(str_cstr(&out), expected);
    str_done(&out);
}

TEST(a_machine_that_is_less_than_its_line_is_told_part_by_part) {
    fast(1000, 4, 2, 0, false, "");
    fast(2000, 8, 3, 59, false, "");
    fast(999, 4, 2, 0, false, "Low RealMemory (reported:999 < 100.00% of configured:1000)");
    fast(1000, 3, 2, 0, false, "Low CPUs");
    fast(1000, 4, 1, 0, false, "gres/gpu count reported lower than configured (1 < 2)");
    fast(1000, 4, 2, -60, false, "clock: it was set by 60 seconds or more");
    fast(999, 3, 1, 0, false,
         "Low RealMemory (reported:999 < 100.00% of configured:1000); Low CPUs; "
         "gres/gpu count reported lower than configured (1 < 2)");
    fast(999, 3, 1, 0, true, "gres/gpu count reported lower than configured (1 < 2)");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_said_of_what_is_well),
        cmocka_unit_test(a_full_file_system_is_told_once_with_its_threshold),
        cmocka_unit_test(inodes_read_only_and_missing_file_systems_are_told),
        cmocka_unit_test(checks_can_be_left_out_by_name),
        cmocka_unit_test(a_spool_that_takes_no_file_is_told),
        cmocka_unit_test(a_machine_that_is_less_than_its_line_is_told_part_by_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
