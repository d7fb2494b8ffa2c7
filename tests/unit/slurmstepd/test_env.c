/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "slurmstepd/env.h"

static struct arena arena;
static struct env env;

static int setup(void **state) {
    arena_init(&arena, 0);
    env_init(&env, &arena);
    return 0;
}

static int teardown(void **state) {
    env_done(&env);
    arena_done(&arena);
    return 0;
}

static void load(const char *block, size_t size) {
    env_load(&env, (struct blob) {(uint8_t *) (uintptr_t) block, size});
}

TEST(a_block_becomes_entries_and_junk_is_dropped) {
    static const char block[] = "A=1\0junk\0=x\0B=\0\0C=x=y";

    load(block, sizeof(block) - 1); /* the last one without its NUL */
    assert_string_equal(env_get(&env, "A"), "1");
    assert_string_equal(env_get(&env, "B"), "");
    assert_string_equal(env_get(&env, "C"), "x=y");
    assert_null(env_get(&env, "junk"));
    assert_int_equal(env.entries.n, 3);
}

TEST(of_a_name_that_stands_twice_the_last_one_counts) {
    static const char block[] = "A=1\0A=2";

    load(block, sizeof(block));
    assert_string_equal(env_get(&env, "A"), "2");
    assert_int_equal(env.entries.n, 1);
}

TEST(functions_of_bash_pass_untouched) {
    static const char block[] = "BASH_FUNC_greet%%=() {  echo hi\n}";

    load(block, sizeof(block));
    assert_string_equal(env_array(&env)[0], block);
}

TEST(a_name_is_not_found_by_its_beginning) {
    env_set(&env, "PATHS", "x");
    assert_null(env_get(&env, "PATH"));
    env_set(&env, "PATH", "/bin");
    assert_string_equal(env_get(&env, "PATHS"), "x");
}

TEST(setting_replaces_and_null_leaves_alone) {
    env_set(&env, "A", "1");
    env_set(&env, "A", "2");
    env_set(&env, "A", NULL);
    env_set_u64(&env, "N", 4294967294u);
    assert_string_equal(env_get(&env, "A"), "2");
    assert_string_equal(env_get(&env, "N"), "4294967294");
    env_unset(&env, "A");
    assert_null(env_get(&env, "A"));
    assert_null(env_array(&env)[1]);
}

TEST(a_copy_changes_on_its_own) {
    struct env copy;

    env_set(&env, "A", "1");
    env_copy(&copy, &env);
    env_set(&copy, "A", "2");
    env_set(&copy, "B", "3");
    assert_string_equal(env_get(&env, "A"), "1");
    assert_null(env_get(&env, "B"));
    env_done(&copy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_block_becomes_entries_and_junk_is_dropped, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(of_a_name_that_stands_twice_the_last_one_counts, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(functions_of_bash_pass_untouched, setup, teardown),
        cmocka_unit_test_setup_teardown(a_name_is_not_found_by_its_beginning, setup, teardown),
        cmocka_unit_test_setup_teardown(setting_replaces_and_null_leaves_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(a_copy_changes_on_its_own, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
