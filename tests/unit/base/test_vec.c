/* SPDX-License-Identifier: Apache-2.0 */
/* Growing arrays. */
#include "base/vec.h"

#include "unit.h"

TEST(pushed_items_keep_their_order) {
    vec(int) numbers = {0};
    for (int i = 0; i < 1000; i++)
        vec_push(&numbers, i);
    assert_int_equal(numbers.n, 1000);
    int expected = 0;
    vec_each (&numbers, number) {
        assert_int_equal(*number, expected++);
    }
    assert_int_equal(expected, 1000);
    vec_done(&numbers);
    assert_int_equal(numbers.capacity, 0);
}

TEST(an_empty_vector_has_nothing_to_visit) {
    vec(int) numbers = {0};
    vec_each (&numbers, number) {
        fail();
    }
    vec_done(&numbers);
}

TEST(added_elements_are_zero_even_in_used_memory) {
    vec(int) numbers = {0};
    vec_push(&numbers, 7);
    vec_reset(&numbers);
    assert_int_equal(*vec_add(&numbers), 0);
    vec_done(&numbers);
}

TEST(removal_keeps_order_or_swaps_in_the_last) {
    vec(char) letters = {0};
    for (char c = 'a'; c <= 'e'; c++)
        vec_push(&letters, c);
    vec_remove(&letters, 1);
    assert_memory_equal(letters.items, "acde", 4);
    vec_remove_swap(&letters, 0);
    assert_memory_equal(letters.items, "ecd", 3);
    vec_remove(&letters, 2);
    assert_int_equal(letters.n, 2);
    vec_done(&letters);
}

TEST(growth_is_geometric_and_covers_the_need) {
    assert_int_equal(vec_grown(0, 1), 8);
    assert_int_equal(vec_grown(100, 101), 150);
    assert_int_equal(vec_grown(100, 1000), 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushed_items_keep_their_order),
        cmocka_unit_test(an_empty_vector_has_nothing_to_visit),
        cmocka_unit_test(added_elements_are_zero_even_in_used_memory),
        cmocka_unit_test(removal_keeps_order_or_swaps_in_the_last),
        cmocka_unit_test(growth_is_geometric_and_covers_the_need),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
