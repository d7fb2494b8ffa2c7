/* SPDX-License-Identifier: Apache-2.0 */
#include "os/tree.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "unit.h"

/* Directories in one another, each with a file; leaves the innermost open. */
static int make_deep(const char *base, unsigned depth) {
    int at = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    for (unsigned i = 0; i < depth; i++) {
        assert_int_equal(mkdirat(at, "d", 0700), 0);
        int below = openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_true(below >= 0);
        close(at);
        at = below;
        int file = openat(at, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        assert_true(file >= 0);
        close(file);
    }
    return at;
}

TEST(a_tree_of_any_depth_goes) {
    char base[] = "/tmp/sluice-tree-XXXXXX";

    assert_non_null(mkdtemp(base));
    close(make_deep(base, 200));
    assert_true(tree_remove(base));
    assert_int_equal(access(base, F_OK), -1);
    assert_true(tree_remove(base)); /* again */
}

TEST(links_are_not_followed) {
    char base[] = "/tmp/sluice-tree-XXXXXX", other[] = "/tmp/sluice-tree-XXXXXX";

    assert_non_null(mkdtemp(base));
    assert_non_null(mkdtemp(other));
    int at = make_deep(base, 1);
    close(make_deep(other, 1));
    assert_int_equal(symlinkat(other, at, "link"), 0);
    close(at);
    assert_true(tree_remove(base));
    cleanup_free char *file = xasprintf("%s/d/file", other);
    assert_int_equal(access(file, F_OK), 0);
    assert_true(tree_remove(other));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_of_any_depth_goes),
        cmocka_unit_test(links_are_not_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
