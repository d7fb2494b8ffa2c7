/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "core/state.h"
#include "unit.h"

#define NODES 3
#define TASKS 12

static void counts_are(const uint32_t *counts, uint32_t a, uint32_t b, uint32_t c) {
    assert_int_equal(counts[0], a);
    assert_int_equal(counts[1], b);
    assert_int_equal(counts[2], c);
}

static const uint32_t cpus[NODES] = {4, 2, 4};
static uint32_t counts[NODES];

/* most 0: no limit */
static bool lay_out(uint32_t ntasks, uint32_t cpus_per_task, uint32_t most, bool overcommit,
                    enum layout_order order) {
    uint32_t limit = most > 0 ? most : UINT32_MAX;
    const uint32_t max_tasks[NODES] = {limit, limit, limit};
    const struct task_room room = {cpus, max_tasks, cpus_per_task, overcommit};
    return layout_tasks(ntasks, NODES, &room, order, counts);
}

TEST(block_fills_node_by_node_after_every_node_has_one_task) {
    assert_true(lay_out(7, 1, 0, false, LAYOUT_FILL));
    counts_are(counts, 4, 2, 1);
    assert_true(lay_out(4, 1, 0, false, LAYOUT_FILL));
    counts_are(counts, 2, 1, 1);
    assert_true(lay_out(2, 1, 0, false, LAYOUT_FILL));
    counts_are(counts, 1, 1, 0);
}

TEST(cyclic_deals_tasks_out_in_turn) {
    assert_true(lay_out(7, 1, 0, false, LAYOUT_EVEN));
    counts_are(counts, 3, 2, 2);
    assert_true(lay_out(10, 1, 0, false, LAYOUT_EVEN));
    counts_are(counts, 4, 2, 4);
}

TEST(cpus_per_task_and_tasks_per_node_bound_a_node) {
    assert_true(lay_out(4, 2, 0, false, LAYOUT_FILL));
    counts_are(counts, 2, 1, 1);
    assert_false(lay_out(6, 2, 0, false, LAYOUT_FILL));
    assert_true(lay_out(6, 1, 2, false, LAYOUT_FILL));
    counts_are(counts, 2, 2, 2);
    assert_false(lay_out(7, 1, 2, false, LAYOUT_FILL));
    assert_false(lay_out(1, UINT32_MAX, 0, false, LAYOUT_FILL));
}

TEST(packing_leaves_the_last_nodes_empty) {
    assert_true(lay_out(5, 1, 0, false, LAYOUT_PACK));
    counts_are(counts, 4, 1, 0);
    assert_true(lay_out(10, 1, 0, false, LAYOUT_PACK));
    counts_are(counts, 4, 2, 4);
}

TEST(a_node_without_room_is_left_out) {
    assert_true(lay_out(2, 3, 0, false, LAYOUT_FILL));
    counts_are(counts, 1, 0, 1);
}

TEST(overcommit_spreads_whatever_the_cpus) {
    assert_true(lay_out(12, 8, 0, true, LAYOUT_FILL));
    counts_are(counts, 4, 4, 4);
    assert_false(lay_out(12, 8, 3, true, LAYOUT_FILL));
}

static uint32_t numbers[NODES][TASKS], *ranks[NODES] = {numbers[0], numbers[1], numbers[2]};

static void ranks_are(uint32_t node, uint32_t n, const uint32_t *wanted) {
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(ranks[node][i], wanted[i]);
}

TEST(block_ranks_run_through_each_node) {
    const uint32_t n[NODES] = {3, 1, 2};
    layout_ranks(DIST_BLOCK, 0, 6, NODES, n, ranks);
    ranks_are(0, 3, (const uint32_t[]) {0, 1, 2});
    ranks_are(1, 1, (const uint32_t[]) {3});
    ranks_are(2, 2, (const uint32_t[]) {4, 5});
}

TEST(cyclic_ranks_go_round_the_nodes_that_have_room) {
    const uint32_t n[NODES] = {3, 1, 2};
    layout_ranks(DIST_CYCLIC, 0, 6, NODES, n, ranks);
    ranks_are(0, 3, (const uint32_t[]) {0, 3, 5});
    ranks_are(1, 1, (const uint32_t[]) {1});
    ranks_are(2, 2, (const uint32_t[]) {2, 4});
}

TEST(plane_ranks_go_round_in_blocks) {
    const uint32_t n[NODES] = {4, 2, 2};
    layout_ranks(DIST_PLANE, 2, 8, NODES, n, ranks);
    ranks_are(0, 4, (const uint32_t[]) {0, 1, 6, 7});
    ranks_are(1, 2, (const uint32_t[]) {2, 3});
    ranks_are(2, 2, (const uint32_t[]) {4, 5});
    layout_ranks(DIST_PLANE, 0, 3, NODES, (const uint32_t[]) {1, 1, 1}, ranks);
    ranks_are(2, 1, (const uint32_t[]) {2});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_fills_node_by_node_after_every_node_has_one_task),
        cmocka_unit_test(cyclic_deals_tasks_out_in_turn),
        cmocka_unit_test(cpus_per_task_and_tasks_per_node_bound_a_node),
        cmocka_unit_test(packing_leaves_the_last_nodes_empty),
        cmocka_unit_test(a_node_without_room_is_left_out),
        cmocka_unit_test(overcommit_spreads_whatever_the_cpus),
        cmocka_unit_test(block_ranks_run_through_each_node),
        cmocka_unit_test(cyclic_ranks_go_round_the_nodes_that_have_room),
        cmocka_unit_test(plane_ranks_go_round_in_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
