/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that start together: all or none, around each other, at a common time. */
#include "sched/internal.h"
#include "world.h"

static uint32_t add(struct world *w, uint32_t nodes, int64_t limit, uint32_t priority) {
    struct sched_job_spec spec = world_spec(w);

    spec.min_nodes = spec.max_nodes = spec.ntasks = nodes;
    spec.exclusive = true;
    spec.limit = limit;
    spec.priority = priority;
    return world_add(w, &spec);
}

static uint32_t add_member(struct world *w, uint32_t group, uint32_t size, uint32_t nodes,
                           int64_t limit) {
    struct sched_job_spec spec = world_spec(w);

    spec.min_nodes = spec.max_nodes = spec.ntasks = nodes;
    spec.exclusive = true;
    spec.limit = limit;
    spec.priority = 100;
    spec.group = group;
    spec.group_size = size;
    return world_add(w, &spec);
}

static const struct plan *plan_of(struct world *w, uint32_t job_id) {
    const struct job *job = map_get(&w->sched->jobs, job_id);
    return job ? job->plan : NULL;
}

TEST(all_start_in_one_pass_next_to_each_other) {
    struct world w;
    struct sched_plan plan;

    world_init(&w, 4, 4, 1000);
    world_configure(&w);
    uint32_t a = add_member(&w, 77, 2, 1, 100), b = add_member(&w, 77, 2, 3, 50);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_int_equal(plan.n_starts, 2);
    assert_non_null(plan_start(&plan, a));
    assert_non_null(plan_start(&plan, b));
    world_commit(&w, &plan);
    sched_plan_done(&plan);
    world_check(&w);
    world_done(&w);
}

TEST(none_starts_while_one_is_missing_in_the_view) {
    struct world w;

    world_init(&w, 4, 4, 1000);
    world_configure(&w);
    add_member(&w, 77, 2, 1, 100);
    assert_int_equal(world_pass(&w), 0);
    assert_int_equal(sched_count_plans(w.sched), 0);
    add_member(&w, 77, 2, 1, 100);
    assert_int_equal(world_pass(&w), 2);
    world_done(&w);
}

TEST(none_starts_when_only_some_fit_and_all_are_planned_for_one_time) {
    struct world w;

    world_init(&w, 4, 4, 1000);
    world_configure(&w);
    add(&w, 2, 100, 500); /* until 1100 */
    world_pass(&w);
    uint32_t a = add_member(&w, 77, 2, 1, 100), b = add_member(&w, 77, 2, 2, 50);
    assert_int_equal(world_pass(&w), 0);
    assert_int_equal(plan_of(&w, a)->start, 1100);
    assert_int_equal(plan_of(&w, b)->start, 1100);
    w.now = 1100;
    world_end_due(&w);
    assert_int_equal(world_pass(&w), 2);
    world_check(&w);
    world_done(&w);
}

TEST(others_backfill_around_the_common_start_but_do_not_delay_it) {
    struct world w;

    world_init(&w, 4, 4, 1000);
    world_configure(&w);
    add(&w, 2, 100, 500);
    world_pass(&w);
    uint32_t a = add_member(&w, 77, 2, 2, 100), b = add_member(&w, 77, 2, 2, 50);
    world_pass(&w);
    uint32_t late = add(&w, 1, 101, 10), early = add(&w, 1, 100, 9);
    assert_int_equal(world_pass(&w), 1);
    assert_null(world_running(&w, late));
    assert_non_null(world_running(&w, early));
    assert_int_equal(plan_of(&w, a)->start, 1100);
    assert_int_equal(plan_of(&w, b)->start, 1100);
    world_done(&w);
}

TEST(who_names_its_node_gets_it_though_it_comes_last) {
    static const uint32_t first_node[] = {0};
    struct world w;

    world_init(&w, 2, 4, 1000);
    world_configure(&w);
    add_member(&w, 77, 2, 1, 100);
    struct sched_job_spec spec = world_spec(&w);
    spec.exclusive = true;
    spec.priority = 100;
    spec.req_nodes = first_node;
    spec.n_req_nodes = 1;
    spec.group = 77;
    spec.group_size = 2;
    world_add(&w, &spec);
    assert_int_equal(world_pass(&w), 2);
    world_check(&w);
    world_done(&w);
}

TEST(a_member_without_a_place_goes_first_in_another_try) {
    struct world w;

    world_init(&w, 3, 4, 1000);
    w.nodes[0].cpus = 8; /* the only one for eight CPUs, and the first that is taken */
    world_configure(&w);
    add_member(&w, 77, 2, 2, 100);
    struct sched_job_spec spec = world_spec(&w);
    spec.cpus_per_task = 8;
    spec.priority = 100;
    spec.group = 77;
    spec.group_size = 2;
    world_add(&w, &spec);
    assert_int_equal(world_pass(&w), 2);
    world_check(&w);
    world_done(&w);
}

TEST(when_one_can_never_start_with_the_others_nothing_is_held_for_any) {
    struct world w;

    world_init(&w, 4, 4, 1000);
    world_configure(&w);
    add_member(&w, 77, 2, 3, 100);
    add_member(&w, 77, 2, 2, 100);
    assert_int_equal(world_pass(&w), 0);
    assert_int_equal(sched_count_plans(w.sched), 0);
    add(&w, 4, 1000, 10);
    assert_int_equal(world_pass(&w), 1);
    world_done(&w);
}

TEST(plans_go_together_when_one_of_them_loses_its_node) {
    struct world w;

    world_init(&w, 4, 4, 1000);
    world_configure(&w);
    add(&w, 2, 100, 500);
    world_pass(&w);
    uint32_t a = add_member(&w, 77, 2, 2, 100), b = add_member(&w, 77, 2, 2, 50);
    world_pass(&w);
    uint32_t lost = plan_of(&w, a)->nodes[0];
    world_usable(&w, lost, false);
    assert_int_equal(world_pass(&w), 0);
    assert_null(plan_of(&w, a));
    assert_null(plan_of(&w, b));
    world_usable(&w, lost, true);
    world_pass(&w);
    assert_int_equal(plan_of(&w, a)->start, 1100);
    assert_int_equal(plan_of(&w, b)->start, 1100);
    world_done(&w);
}

static void check_group(struct world *w, uint64_t seed, uint32_t first, uint32_t n) {
    uint32_t waiting = 0;
    int64_t start = 0;

    for (uint32_t i = 0; i < n; i++) {
        const struct plan *plan = plan_of(w, first + i);
        waiting += map_get(&w->sched->jobs, first + i) != NULL;
        start = i == 0 && plan ? plan->start : start;
        if ((plan ? plan->start : 0) != start)
            print_error("seed %llu\n", (unsigned long long) seed);
        assert_int_equal(plan ? plan->start : 0, start);
    }
    if (waiting != 0 && waiting != n)
        print_error("seed %llu\n", (unsigned long long) seed);
    assert_true(waiting == 0 || waiting == n);
}

#define ROUNDS 12

static void random_groups(uint64_t seed) {
    uint32_t first[ROUNDS], size[ROUNDS];
    struct rng rng;
    struct world w;

    rng_seed(&rng, seed);
    world_init(&w, 6, 4, 1000);
    world_configure(&w);
    for (size_t round = 0; round < ROUNDS; round++) {
        size[round] = 2 + (uint32_t) rng_below(&rng, 2);
        first[round] = w.next_id;
        for (uint32_t i = 0; i < size[round]; i++)
            add_member(&w, first[round], size[round], 1 + (uint32_t) rng_below(&rng, 3),
                       20 + (int64_t) rng_below(&rng, 100));
        add(&w, 1 + (uint32_t) rng_below(&rng, 4), 10 + (int64_t) rng_below(&rng, 200),
            90 + (uint32_t) rng_below(&rng, 20));
        if (rng_below(&rng, 4) == 0)
            world_usable(&w, (uint32_t) rng_below(&rng, 6), rng_below(&rng, 2) == 0);
        world_pass(&w);
        world_check(&w);
        for (size_t k = 0; k <= round; k++)
            check_group(&w, seed, first[k], size[k]);
        w.now += 1 + (int64_t) rng_below(&rng, 60);
        world_end_due(&w);
    }
    world_done(&w);
}

TEST(random_groups_never_start_by_halves_and_their_plans_agree) {
    for (uint64_t seed = 1; seed <= 60; seed++)
        random_groups(seed);
}

/* Everybody starts in the end: no two groups wait for each other for ever. */
TEST(groups_that_want_the_same_nodes_all_start_in_the_end) {
    struct world w;

    world_init(&w, 4, 4, 1000);
    world_configure(&w);
    for (uint32_t i = 0; i < 6; i++) {
        uint32_t id = w.next_id;
        add_member(&w, id, 2, 2, 100);
        add_member(&w, id, 2, 1 + i % 2, 100);
    }
    for (int i = 0; i < 40; i++) {
        world_pass(&w);
        world_check(&w);
        w.now += 50;
        world_end_due(&w);
    }
    assert_int_equal(w.sched->jobs.n, 0);
    world_done(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_start_in_one_pass_next_to_each_other),
        cmocka_unit_test(none_starts_while_one_is_missing_in_the_view),
        cmocka_unit_test(none_starts_when_only_some_fit_and_all_are_planned_for_one_time),
        cmocka_unit_test(others_backfill_around_the_common_start_but_do_not_delay_it),
        cmocka_unit_test(who_names_its_node_gets_it_though_it_comes_last),
        cmocka_unit_test(a_member_without_a_place_goes_first_in_another_try),
        cmocka_unit_test(when_one_can_never_start_with_the_others_nothing_is_held_for_any),
        cmocka_unit_test(plans_go_together_when_one_of_them_loses_its_node),
        cmocka_unit_test(random_groups_never_start_by_halves_and_their_plans_agree),
        cmocka_unit_test(groups_that_want_the_same_nodes_all_start_in_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
