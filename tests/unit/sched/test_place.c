/* SPDX-License-Identifier: Apache-2.0 */
/* Which nodes are taken, and what of them. */
#include "world.h"

static const struct sched_start *only_start(struct world *w, struct sched_plan *plan) {
    sched_pass(w->sched, w->now, 0, plan);
    assert_int_equal(plan->n_starts, 1);
    return &plan->starts[0];
}

/* Adds, passes, commits; the first node. */
static uint32_t place(struct world *w, const struct sched_job_spec *spec) {
    struct sched_plan plan;

    world_add(w, spec);
    uint32_t node = only_start(w, &plan)->allocs[0].node;
    world_commit(w, &plan);
    world_check(w);
    sched_plan_done(&plan);
    return node;
}

TEST(jobs_fill_the_fullest_node_that_has_room) {
    struct world w;

    world_init(&w, 3, 8, 1000);
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.cpus_per_task = 5;
    assert_int_equal(place(&w, &spec), 0);
    assert_int_equal(place(&w, &spec), 1);
    spec.cpus_per_task = 2;
    assert_int_equal(place(&w, &spec), 0);
    spec.cpus_per_task = 3;
    assert_int_equal(place(&w, &spec), 1);
    spec.cpus_per_task = 1;
    assert_int_equal(place(&w, &spec), 0);
    assert_int_equal(place(&w, &spec), 2);
    world_done(&w);
}

TEST(a_partition_with_least_loaded_nodes_spreads) {
    struct world w;

    world_init(&w, 3, 8, 1000);
    w.partitions[0].spread = true;
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    assert_int_equal(place(&w, &spec), 0);
    assert_int_equal(place(&w, &spec), 1);
    assert_int_equal(place(&w, &spec), 2);
    assert_int_equal(place(&w, &spec), 0);
    world_done(&w);
}

TEST(nodes_of_low_weight_come_first) {
    struct world w;

    world_init(&w, 3, 8, 1000);
    w.nodes[0].weight = 10;
    w.nodes[1].weight = 5;
    w.nodes[2].weight = 5;
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.exclusive = true;
    assert_int_equal(place(&w, &spec), 1);
    assert_int_equal(place(&w, &spec), 2);
    assert_int_equal(place(&w, &spec), 0);
    world_done(&w);
}

TEST(jobs_without_gpus_keep_off_gpu_nodes_while_others_are_free) {
    struct world w;

    world_init(&w, 2, 8, 1000);
    w.kinds[0] = (struct sched_gres_kind) {"gpu", ""};
    w.n_kinds = 1;
    w.nodes[0].gres[0] = 2;
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.cpus_per_task = 6;
    assert_int_equal(place(&w, &spec), 1);
    assert_int_equal(place(&w, &spec), 0);
    world_done(&w);
}

TEST(an_exclusive_job_gets_all_cpus_and_gres_and_the_memory_it_asked_for) {
    struct world w;
    struct sched_plan plan;

    world_init(&w, 2, 8, 1000);
    w.kinds[0] = (struct sched_gres_kind) {"gpu", ""};
    w.n_kinds = 1;
    w.nodes[0].gres[0] = w.nodes[1].gres[0] = 4;
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.exclusive = true;
    spec.mem_per_node = 300;
    world_add(&w, &spec);
    const struct sched_start *start = only_start(&w, &plan);
    assert_int_equal(start->n_cpus, 8);
    assert_int_equal(start->allocs[0].cpus, 8);
    assert_int_equal(start->allocs[0].gres[0], 4);
    assert_int_equal(start->allocs[0].mem, 300);
    world_commit(&w, &plan);
    sched_plan_done(&plan);
    spec.exclusive = false;
    assert_int_equal(place(&w, &spec), 1);
    world_done(&w);
}

TEST(memory_zero_takes_all_of_a_node_and_needs_all_of_it) {
    struct world w;
    struct sched_plan plan;

    world_init(&w, 2, 8, 1000);
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.mem_per_node = 1;
    assert_int_equal(place(&w, &spec), 0);
    spec.mem_per_node = 0;
    world_add(&w, &spec);
    const struct sched_start *start = only_start(&w, &plan);
    assert_int_equal(start->allocs[0].node, 1);
    assert_int_equal(start->allocs[0].mem, 1000);
    sched_plan_done(&plan);
    world_done(&w);
}

TEST(an_untyped_gpu_is_taken_from_the_type_that_has_least_but_enough) {
    struct world w;
    struct sched_plan plan;

    world_init(&w, 1, 8, 1000);
    w.kinds[0] = (struct sched_gres_kind) {"gpu", "a"};
    w.kinds[1] = (struct sched_gres_kind) {"gpu", "b"};
    w.n_kinds = 2;
    w.nodes[0].gres[0] = 3;
    w.nodes[0].gres[1] = 2;
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.n_per_node = 1;
    spec.per_node[0] = (struct sched_gres_request) {-1, 0, 2};
    world_add(&w, &spec);
    const struct sched_start *start = only_start(&w, &plan);
    assert_int_equal(start->allocs[0].gres[0], 0);
    assert_int_equal(start->allocs[0].gres[1], 2);
    sched_plan_done(&plan);
    world_cancel(&w, 1);
    spec.per_node[0].count = 5;
    world_add(&w, &spec);
    start = only_start(&w, &plan);
    assert_int_equal(start->allocs[0].gres[0], 3);
    assert_int_equal(start->allocs[0].gres[1], 2);
    sched_plan_done(&plan);
    world_done(&w);
}

TEST(required_nodes_are_part_and_excluded_ones_are_not) {
    struct world w;
    struct sched_plan plan;
    const uint32_t required[] = {3}, excluded[] = {0, 1};

    world_init(&w, 5, 8, 1000);
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.min_nodes = spec.max_nodes = spec.ntasks = 2;
    spec.req_nodes = required;
    spec.n_req_nodes = 1;
    spec.exc_nodes = excluded;
    spec.n_exc_nodes = 2;
    world_add(&w, &spec);
    const struct sched_start *start = only_start(&w, &plan);
    assert_int_equal(start->n_allocs, 2);
    assert_int_equal(start->allocs[0].node, 2);
    assert_int_equal(start->allocs[1].node, 3);
    sched_plan_done(&plan);
    world_done(&w);
}

TEST(without_consumable_cpus_every_job_has_its_nodes_alone) {
    struct world w;

    world_init(&w, 2, 8, 1000);
    w.settings.cpus_consumable = false;
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    assert_int_equal(place(&w, &spec), 0);
    assert_int_equal(place(&w, &spec), 1);
    world_add(&w, &spec);
    assert_int_equal(world_pass(&w), 0);
    world_done(&w);
}

TEST(a_partition_limits_the_cpus_of_its_jobs_on_a_node) {
    struct world w;

    world_init(&w, 2, 8, 1000);
    w.partitions[0].max_cpus_per_node = 4;
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.cpus_per_task = 3;
    assert_int_equal(place(&w, &spec), 0);
    assert_int_equal(place(&w, &spec), 1);
    spec.cpus_per_task = 1;
    assert_int_equal(place(&w, &spec), 0);
    spec.cpus_per_task = 2;
    world_add(&w, &spec);
    assert_int_equal(world_pass(&w), 0);
    world_done(&w);
}

TEST(nodes_of_one_user_are_shared_with_that_user_only) {
    struct world w;

    world_init(&w, 1, 8, 1000);
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.overlap_user = true;
    place(&w, &spec);
    sched_run_share(w.sched, 1, true, false);
    spec.uid = 1001;
    uint32_t other = world_add(&w, &spec);
    assert_int_equal(world_pass(&w), 0);
    world_cancel(&w, other);
    spec.uid = 1000;
    assert_int_equal(place(&w, &spec), 0);
    world_done(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_fill_the_fullest_node_that_has_room),
        cmocka_unit_test(a_partition_with_least_loaded_nodes_spreads),
        cmocka_unit_test(nodes_of_low_weight_come_first),
        cmocka_unit_test(jobs_without_gpus_keep_off_gpu_nodes_while_others_are_free),
        cmocka_unit_test(an_exclusive_job_gets_all_cpus_and_gres_and_the_memory_it_asked_for),
        cmocka_unit_test(memory_zero_takes_all_of_a_node_and_needs_all_of_it),
        cmocka_unit_test(an_untyped_gpu_is_taken_from_the_type_that_has_least_but_enough),
        cmocka_unit_test(required_nodes_are_part_and_excluded_ones_are_not),
        cmocka_unit_test(without_consumable_cpus_every_job_has_its_nodes_alone),
        cmocka_unit_test(a_partition_limits_the_cpus_of_its_jobs_on_a_node),
        cmocka_unit_test(nodes_of_one_user_are_shared_with_that_user_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
