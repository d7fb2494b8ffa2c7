/* SPDX-License-Identifier: Apache-2.0 */
/* The heap against a linear search for the minimum. */
#include "base/heap.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "unit.h"

TEST(an_empty_heap_has_no_minimum) {
    struct heap heap = {0};
    assert_null(heap_min(&heap));
    assert_null(heap_pop(&heap));
    heap_done(&heap);
}

TEST(equal_keys_come_out_by_their_order) {
    struct heap heap = {0};
    struct heap_node nodes[8] = {0};
    for (size_t i = 0; i < countof(nodes); i++)
        heap_push(&heap, &nodes[i], 42, 100 - i);
    for (size_t i = countof(nodes); i-- > 0;)
        assert_ptr_equal(heap_pop(&heap), &nodes[i]);
    heap_done(&heap);
}

TEST(removal_of_an_absent_node_is_harmless) {
    struct heap heap = {0};
    struct heap_node node = {0};
    heap_remove(&heap, &node);
    heap_push(&heap, &node, 1, 1);
    heap_remove(&heap, &node);
    assert_false(heap_contains(&node));
    heap_remove(&heap, &node);
    assert_int_equal(heap.n, 0);
    heap_done(&heap);
}

TEST(random_pushes_removals_and_new_keys_keep_the_minimum_right) {
    enum { COUNT = 200 };
    struct heap heap = {0};
    struct heap_node nodes[COUNT] = {0};
    struct rng rng;
    rng_seed(&rng, 3);
    for (size_t round = 0; round < 20000; round++) {
        struct heap_node *node = &nodes[rng_below(&rng, COUNT)];
        if (rng_below(&rng, 3) == 0)
            heap_remove(&heap, node);
        else
            heap_push(&heap, node, (int64_t) rng_below(&rng, 50) - 25, rng_below(&rng, 4));
        const struct heap_node *least = NULL;
        size_t n = 0;
        for (size_t i = 0; i < COUNT; i++) {
            if (!heap_contains(&nodes[i]))
                continue;
            n++;
            if (!least || nodes[i].key < least->key ||
                (nodes[i].key == least->key && nodes[i].order < least->order))
                least = &nodes[i];
        }
        assert_int_equal(heap.n, n);
        if (!least) {
            assert_null(heap_min(&heap));
            continue;
        }
        assert_int_equal(heap_min(&heap)->key, least->key);
        assert_int_equal(heap_min(&heap)->order, least->order);
    }
    int64_t last = INT64_MIN;
    for (struct heap_node *node; (node = heap_pop(&heap));) {
        assert_true(node->key >= last);
        last = node->key;
    }
    heap_done(&heap);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_heap_has_no_minimum),
        cmocka_unit_test(equal_keys_come_out_by_their_order),
        cmocka_unit_test(removal_of_an_absent_node_is_harmless),
        cmocka_unit_test(random_pushes_removals_and_new_keys_keep_the_minimum_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
