/* SPDX-License-Identifier: Apache-2.0 */
/* The view of the cluster. */
#include "sched/internal.h"
#include "world.h"

TEST(nodes_are_numbered_by_weight_inside_and_as_configured_outside) {
    struct world w;

    world_init(&w, 3, 4, 1000);
    w.nodes[0].weight = 9;
    world_configure(&w);
    assert_int_equal(w.sched->inner[0], 2);
    assert_int_equal(w.sched->nodes[2].outer, 0);
    assert_string_equal(w.sched->nodes[2].name, "n1");
    assert_int_equal(w.sched->n_weights, 2);
    world_done(&w);
}

TEST(a_gres_name_with_several_types_has_a_sum) {
    struct world w;

    world_init(&w, 1, 4, 1000);
    w.kinds[0] = (struct sched_gres_kind) {"gpu", "a"};
    w.kinds[1] = (struct sched_gres_kind) {"fpga", ""};
    w.kinds[2] = (struct sched_gres_kind) {"gpu", "b"};
    w.n_kinds = 3;
    w.nodes[0].gres[0] = 2;
    w.nodes[0].gres[2] = 3;
    world_configure(&w);
    assert_int_equal(w.sched->n_dims, w.sched->n_base + 1);
    assert_int_equal(node_total(w.sched, 0)[w.sched->kinds[0].sum], 5);
    assert_int_equal(w.sched->kinds[2].sum, w.sched->kinds[0].sum);
    assert_int_equal(w.sched->kinds[1].sum, DIM_GRES + 1);
    world_done(&w);
}

static const uint32_t *two(uint32_t a, uint32_t b) {
    return xmemdup((uint32_t[]) {a, b}, 2 * sizeof(uint32_t));
}

TEST(partitions_that_share_nodes_through_others_are_one_pool) {
    struct world w;

    world_init(&w, 6, 4, 1000);
    free((void *) w.partitions[0].nodes);
    for (size_t i = 0; i < 4; i++) {
        if (i > 0)
            w.partitions[i] = w.partitions[0];
        w.partitions[i].n_nodes = 2;
    }
    w.partitions[0].nodes = two(0, 1);
    w.partitions[1].nodes = two(2, 3);
    w.partitions[2].nodes = two(1, 2);
    w.partitions[3].nodes = two(4, 5);
    w.n_partitions = 4;
    world_configure(&w);
    assert_int_equal(w.sched->n_pools, 2);
    assert_int_equal(w.sched->partitions[0].pool, w.sched->partitions[1].pool);
    assert_int_not_equal(w.sched->partitions[0].pool, w.sched->partitions[3].pool);
    world_done(&w);
}

TEST(configuring_again_forgets_jobs_and_runs) {
    struct world w;

    world_init(&w, 2, 4, 1000);
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.exclusive = true;
    world_add(&w, &spec);
    world_add(&w, &spec);
    world_pass(&w);
    world_add(&w, &spec);
    world_pass(&w);
    world_configure(&w);
    uint32_t cpus;
    sched_node_free(w.sched, 0, &cpus, NULL, NULL);
    assert_int_equal(cpus, 4);
    assert_int_equal(w.sched->jobs.n + w.sched->runs.n + w.sched->shapes.n, 0);
    world_done(&w);
}

TEST(a_cluster_without_nodes_or_partitions_plans_nothing) {
    struct world w;
    struct sched_plan plan;

    world_init(&w, 0, 4, 1000);
    free((void *) w.partitions[0].nodes);
    w.n_partitions = 0;
    world_configure(&w);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_int_equal(plan.n_starts, 0);
    sched_plan_done(&plan);
    world_done(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_are_numbered_by_weight_inside_and_as_configured_outside),
        cmocka_unit_test(a_gres_name_with_several_types_has_a_sum),
        cmocka_unit_test(partitions_that_share_nodes_through_others_are_one_pool),
        cmocka_unit_test(configuring_again_forgets_jobs_and_runs),
        cmocka_unit_test(a_cluster_without_nodes_or_partitions_plans_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
