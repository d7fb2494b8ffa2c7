/* SPDX-License-Identifier: Apache-2.0 */
/* Finding and reading configuration files. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os/conf_file.h"

static char directory[] = "/tmp/conf_file_XXXXXX";

static char *path_in(const char *name) {
    return xasprintf("%s/%s", directory, name);
}

static void write_file(const char *path, const char *text, size_t length) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    fclose(file);
}

static void assert_path(const char *option, const char *expected) {
    cleanup_str struct str path = STR_INIT;
    conf_file_path(option, &path);
    assert_string_equal(str_cstr(&path), expected);
}

TEST(the_option_comes_before_the_environment) {
    setenv("SLURM_CONF", "/env/slurm.conf", 1);
    assert_path("/option/slurm.conf", "/option/slurm.conf");
    assert_path("", "/env/slurm.conf");
    assert_path(NULL, "/env/slurm.conf");
}

TEST(without_either_it_is_the_built_in_place_or_etc) {
    const char *built_in = SLUICE_SYSCONFDIR "/slurm/slurm.conf";
    unsetenv("SLURM_CONF");
    assert_path(NULL, access(built_in, F_OK) == 0 ? built_in : "/etc/slurm/slurm.conf");
    setenv("SLURM_CONF", "", 1);
    assert_path(NULL, access(built_in, F_OK) == 0 ? built_in : "/etc/slurm/slurm.conf");
    unsetenv("SLURM_CONF");
}

TEST(a_file_is_read_whole) {
    cleanup_free char *path = path_in("slurm.conf");
    cleanup_free char *text = xmalloc(100000);
    memset(text, 'x', 100000);
    write_file(path, text, 100000);
    cleanup_str struct str read = STR_INIT;
    struct error err = ERROR_INIT;
    assert_int_equal(conf_file_read(NULL, path, &read, &err), 0);
    assert_int_equal(read.length, 100000);
    assert_memory_equal(read.data, text, 100000);
    assert_int_equal(read.data[100000], '\0');
}

TEST(an_empty_file_is_empty) {
    cleanup_free char *path = path_in("empty.conf");
    write_file(path, "", 0);
    cleanup_str struct str read = STR_INIT;
    struct error err = ERROR_INIT;
    assert_int_equal(conf_file_read(NULL, path, &read, &err), 0);
    assert_string_equal(str_cstr(&read), "");
}

TEST(a_missing_file_is_told_apart) {
    cleanup_free char *path = path_in("none.conf");
    cleanup_str struct str read = STR_INIT;
    struct error err = ERROR_INIT;
    assert_int_equal(conf_file_read(NULL, path, &read, &err), -ERR_NOT_FOUND);
    assert_true(str_starts(err.text, "there is no file /tmp/conf_file_"));
}

TEST(a_directory_or_fifo_in_the_place_of_the_file_is_refused_and_not_waited_for) {
    cleanup_free char *fifo = path_in("fifo");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    cleanup_str struct str read = STR_INIT;
    struct error err = ERROR_INIT;
    assert_int_equal(conf_file_read(NULL, fifo, &read, &err), -ERR_INVALID);
    assert_int_equal(conf_file_read(NULL, directory, &read, &err), -ERR_INVALID);
    unlink(fifo);
}

static int setup(void **state) {
    return mkdtemp(directory) != NULL ? 0 : -1;
}

static int teardown(void **state) {
    static const char *const names[] = {"slurm.conf", "empty.conf", "fifo"};
    for (size_t i = 0; i < countof(names); i++) {
        cleanup_free char *path = path_in(names[i]);
        unlink(path);
    }
    return rmdir(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_option_comes_before_the_environment),
        cmocka_unit_test(without_either_it_is_the_built_in_place_or_etc),
        cmocka_unit_test(a_file_is_read_whole),
        cmocka_unit_test(an_empty_file_is_empty),
        cmocka_unit_test(a_missing_file_is_told_apart),
        cmocka_unit_test(
            a_directory_or_fifo_in_the_place_of_the_file_is_refused_and_not_waited_for),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
