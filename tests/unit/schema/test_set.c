/* SPDX-License-Identifier: Apache-2.0 */
/* Lists as filters. */
#include "unit.h"

#include "base/alloc.h"
#include "schema/schema.h"

#define T(text) ((char *) (uintptr_t) (text))

TEST(a_set_has_what_its_list_has) {
    char *words[] = {T("main"), T("Alice"), T("zoo"), T("b"), T("main")};
    struct strs list = {words, countof(words)};
    struct strs_set set, nocase;
    strs_set_init(&set, &list);
    strs_set_init_nocase(&nocase, &list);
    for (uint32_t i = 0; i < list.n; i++)
        assert_true(strs_set_pass(&set, words[i]) && strs_set_pass(&nocase, words[i]));
    assert_false(strs_set_pass(&set, "alice"));
    assert_true(strs_set_pass(&nocase, "ALICE"));
    assert_false(strs_set_pass(&set, "mai"));
    assert_false(strs_set_pass(&set, ""));
    assert_false(strs_set_pass(&set, NULL));
    assert_true(strs_set_pass_word(&set, "none,zoo"));
    assert_true(strs_set_pass_word(&set, "b"));
    assert_false(strs_set_pass_word(&set, "bb,c"));
    assert_false(strs_set_pass_word(&set, NULL));
    strs_set_done(&set);
    strs_set_done(&nocase);
}

TEST(an_empty_set_lets_everything_pass) {
    struct strs none = {NULL, 0};
    struct u32s no_numbers = {NULL, 0}, numbers;
    struct strs_set set;
    strs_set_init(&set, &none);
    u32s_set_init(&numbers, &no_numbers);
    assert_true(strs_set_pass(&set, "x") && strs_set_pass(&set, NULL));
    assert_true(strs_set_pass_word(&set, "x,y") && strs_set_pass_word(&set, NULL));
    assert_true(u32s_set_pass(&numbers, 7));
    strs_set_done(&set);
    free(numbers.items);
}

TEST(numbers_are_found_in_any_order) {
    uint32_t items[] = {5, 4000000000u, 0, 17};
    struct u32s set;
    u32s_set_init(&set, &(struct u32s) {items, countof(items)});
    for (size_t i = 0; i < countof(items); i++)
        assert_true(u32s_set_pass(&set, items[i]));
    assert_false(u32s_set_pass(&set, 6));
    free(set.items);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_has_what_its_list_has),
        cmocka_unit_test(an_empty_set_lets_everything_pass),
        cmocka_unit_test(numbers_are_found_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
