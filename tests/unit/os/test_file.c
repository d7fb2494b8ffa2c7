/* SPDX-License-Identifier: Apache-2.0 */
#include "os/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "unit.h"

TEST(a_file_is_read_whole_or_up_to_a_limit) {
    char path[] = "/tmp/sluice-file-XXXXXX", content[40000];
    cleanup_str struct str whole = STR_INIT, part = STR_INIT;
    cleanup_fd int fd = mkstemp(path);

    memset(content, 'x', sizeof(content));
    assert_int_equal(write(fd, content, sizeof(content)), sizeof(content));
    assert_int_equal(file_read(path, 1u << 20, &whole), 0);
    assert_int_equal(whole.length, sizeof(content));
    assert_memory_equal(whole.data, content, sizeof(content));
    assert_int_equal(file_read(path, 20000, &part), 0);
    assert_int_equal(part.length, 20000);
    (void) unlink(path);
}

TEST(a_file_without_a_size_is_read_and_one_that_is_not_there_is_told) {
    cleanup_str struct str text = STR_INIT;

    assert_int_equal(file_read("/proc/self/status", 1u << 20, &text), 0);
    assert_true(text.length > 0);
    assert_int_equal(file_read("/proc/self/nothing", 1u << 20, &text), ENOENT);
    assert_int_equal(file_read("/proc/self", 1u << 20, &text), EISDIR);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read_whole_or_up_to_a_limit),
        cmocka_unit_test(a_file_without_a_size_is_read_and_one_that_is_not_there_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
