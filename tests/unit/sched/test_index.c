/* SPDX-License-Identifier: Apache-2.0 */
/* The index never hides a node that has enough. */
#include "random.h"
#include "sched/internal.h"

TEST(every_node_with_enough_is_in_the_set_and_far_too_small_ones_are_not) {
    struct rng rng;

    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct world w;

        rng_seed(&rng, seed);
        random_world(&w, &rng, RANDOM_RICH);
        world_configure(&w);
        struct sched *s = w.sched;
        for (unsigned round = 0; round < 100; round++) {
            uint32_t node = rng_below(&rng, w.n_nodes), dim = rng_below(&rng, s->n_dims);
            int64_t *have = node_free(s, node), *total = node_total(s, node);
            have[dim] = (int64_t) rng_below(&rng, (uint64_t) total[dim] + 2) - 1;
            index_set(&s->by_free, s, node, have);
            int64_t need = 1 + (int64_t) rng_below(&rng, (uint64_t) total[dim] + 1);
            const struct bits *set = index_at_least(&s->by_free, dim, need);
            for (uint32_t i = 0; set && i < w.n_nodes; i++) {
                int64_t amount = node_free(s, i)[dim];
                assert_true(amount < need || bits_test(set, i));
                assert_true(amount * 2 >= need || !bits_test(set, i));
            }
        }
        /* Leave no lie behind: the world does not know. */
        for (uint32_t i = 0; i < w.n_nodes; i++) {
            bool idle = memcmp(node_free(s, i), node_total(s, i), s->n_dims * 8) == 0;
            assert_int_equal(bits_test(&s->by_free.idle, i), idle);
        }
        world_done(&w);
    }
}

TEST(small_amounts_and_totals_are_told_apart_exactly) {
    struct world w;

    world_init(&w, 2, 100, 1000);
    w.nodes[1].cpus = 99;
    world_configure(&w);
    const struct ladder *ladder = &w.sched->by_free.dims[DIM_CPU];
    for (int64_t n = 1; n <= 15; n++)
        assert_int_equal(ladder->steps[ladder_find(ladder, n) - 1], n);
    assert_int_equal(ladder->steps[ladder_find(ladder, 99) - 1], 99);
    assert_int_equal(ladder->steps[ladder_find(ladder, 100) - 1], 100);
    world_done(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_node_with_enough_is_in_the_set_and_far_too_small_ones_are_not),
        cmocka_unit_test(small_amounts_and_totals_are_told_apart_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
