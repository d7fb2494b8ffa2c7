/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that are together: leaf switches. */
#include <stdio.h>

#include "sched/internal.h"
#include "world.h"

/* Leaves with so many nodes each, in order, below one switch. */
static void leaves(struct world *w, const uint32_t *sizes, size_t n) {
    uint32_t node = 0;

    w->n_switches = n + 1;
    w->switches[n] = (struct sched_switch_spec) {SCHED_NO_NODE};
    for (uint32_t i = 0; i < n; i++) {
        w->switches[i] = (struct sched_switch_spec) {(uint32_t) n};
        for (uint32_t k = 0; k < sizes[i]; k++)
            w->leaf_of[node++] = i;
    }
    assert_int_equal(node, w->n_nodes);
}

static struct sched_job_spec nodes(struct world *w, uint32_t n) {
    struct sched_job_spec spec = world_spec(w);

    spec.min_nodes = spec.max_nodes = n;
    spec.ntasks = n;
    spec.exclusive = true;
    return spec;
}

/* The nodes of the start that the job gets now, "" when it waits; it stays. */
static uint32_t start(struct world *w, const struct sched_job_spec *spec, const char *text) {
    struct sched_plan plan;
    cleanup_str struct str got = STR_INIT;
    uint32_t id = world_add(w, spec);

    sched_pass(w->sched, w->now, 0, &plan);
    const struct sched_start *at = plan_start(&plan, id);
    for (size_t i = 0; at && i < at->n_allocs; i++)
        str_printf(&got, "%s%s", i ? " " : "", w->nodes[at->allocs[i].node].name);
    assert_string_equal(str_cstr(&got), text);
    world_commit(w, &plan);
    sched_plan_done(&plan);
    return id;
}

static void busy(struct world *w, uint32_t node, int64_t limit) {
    struct sched_job_spec spec = nodes(w, 1);

    spec.req_nodes = &node;
    spec.n_req_nodes = 1;
    spec.limit = limit;
    start(w, &spec, w->nodes[node].name);
}

TEST(nodes_of_a_job_are_at_the_fewest_leaves_and_the_last_one_fits_best) {
    struct world w;

    world_init(&w, 9, 4, 1000);
    leaves(&w, (uint32_t[]) {2, 4, 3}, 3);
    world_configure(&w);
    struct sched_job_spec spec = nodes(&w, 3);
    start(&w, &spec, "n7 n8 n9");
    spec = nodes(&w, 5); /* all of the largest, one of the other */
    start(&w, &spec, "n1 n3 n4 n5 n6");
    world_done(&w);
}

TEST(a_job_of_one_node_does_not_care) {
    struct world w;

    world_init(&w, 5, 4, 1000);
    leaves(&w, (uint32_t[]) {4, 1}, 2);
    world_configure(&w);
    struct sched_job_spec spec = nodes(&w, 1);
    start(&w, &spec, "n1");
    world_done(&w);
}

TEST(as_few_leaves_are_better_under_the_lowest_switch) {
    struct world w;

    /* s0 and s1 under s4, s2 and s3 under s5, all under s6; two nodes each, the first of s0 and s2
     * busy */
    world_init(&w, 8, 4, 1000);
    w.n_switches = 7;
    for (uint32_t i = 0; i < 4; i++)
        w.switches[i] = (struct sched_switch_spec) {4 + i / 2};
    w.switches[4] = w.switches[5] = (struct sched_switch_spec) {6};
    w.switches[6] = (struct sched_switch_spec) {SCHED_NO_NODE};
    for (uint32_t i = 0; i < 8; i++)
        w.leaf_of[i] = i / 2;
    world_configure(&w);
    busy(&w, 0, 1000);
    struct sched_job_spec spec = nodes(&w, 4);
    start(&w, &spec, "n5 n6 n7 n8");
    world_done(&w);
}

TEST(tasks_that_need_several_nodes_find_them_at_one_leaf) {
    struct world w;

    world_init(&w, 5, 4, 1000);
    leaves(&w, (uint32_t[]) {2, 3}, 2);
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.ntasks = 12;
    start(&w, &spec, "n3 n4 n5");
    world_done(&w);
}

TEST(with_a_wish_a_job_waits_for_few_leaves_until_the_wish_ends) {
    struct world w;
    struct sched_plan plan;

    world_init(&w, 4, 4, 1000);
    leaves(&w, (uint32_t[]) {2, 2}, 2);
    world_configure(&w);
    busy(&w, 0, 1000);
    busy(&w, 2, 1000);
    struct sched_job_spec spec = nodes(&w, 2);
    spec.max_switches = 1;
    spec.switches_until = w.now + 300;
    uint32_t id = world_add(&w, &spec);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_int_equal(plan.n_starts, 0);
    assert_int_equal(plan_wait(&plan, id)->reason, REASON_RESOURCES);
    assert_int_equal(plan_wait(&plan, id)->start, w.now + 300);
    assert_int_equal(plan.next_time, w.now + 300);
    sched_plan_done(&plan);
    w.now += 300;
    assert_int_equal(world_pass(&w), 1);
    assert_int_equal(world_running(&w, id)->allocs[0].node, 1);
    assert_int_equal(world_running(&w, id)->allocs[1].node, 3);
    world_done(&w);
}

TEST(plans_for_later_keep_the_wish) {
    struct world w;
    struct sched_plan plan;

    world_init(&w, 4, 4, 1000);
    leaves(&w, (uint32_t[]) {2, 2}, 2);
    world_configure(&w);
    busy(&w, 0, 200);
    busy(&w, 2, 100);
    busy(&w, 3, 150);
    struct sched_job_spec spec = nodes(&w, 2);
    spec.max_switches = 1;
    spec.switches_until = w.now + 1000;
    uint32_t id = world_add(&w, &spec);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_int_equal(plan_wait(&plan, id)->start, w.now + 150);
    sched_plan_done(&plan);
    world_done(&w);
}

TEST(many_jobs_with_a_wish_that_ended_start_where_they_can) {
    struct world w;

    world_init(&w, 4, 4, 1000);
    leaves(&w, (uint32_t[]) {1, 1, 1, 1}, 4);
    world_configure(&w);
    struct sched_job_spec spec = nodes(&w, 2);
    spec.max_switches = 1;
    spec.switches_until = w.now + 50;
    world_add(&w, &spec);
    world_add(&w, &spec);
    assert_int_equal(world_pass(&w), 0);
    w.now += 49;
    assert_int_equal(world_pass(&w), 0);
    w.now += 1;
    assert_int_equal(world_pass(&w), 2);
    world_done(&w);
}

TEST(neighbours_keep_the_wish_too) {
    struct world w;

    world_init(&w, 6, 4, 1000);
    leaves(&w, (uint32_t[]) {3, 3}, 2);
    world_configure(&w);
    busy(&w, 0, 1000);
    busy(&w, 1, 1000);
    struct sched_job_spec spec = nodes(&w, 2);
    spec.contiguous = true;
    spec.max_switches = 1;
    spec.switches_until = w.now + 1000;
    start(&w, &spec, "n4 n5");
    world_done(&w);
}

TEST(nodes_at_no_switch_are_far_from_all) {
    struct world w;

    world_init(&w, 4, 4, 1000);
    leaves(&w, (uint32_t[]) {2, 2}, 2);
    w.leaf_of[0] = w.leaf_of[1] = SCHED_NO_NODE;
    world_configure(&w);
    struct sched_job_spec spec = nodes(&w, 2);
    start(&w, &spec, "n3 n4");
    spec.max_switches = 1;
    spec.switches_until = w.now + 1000;
    start(&w, &spec, "");
    world_done(&w);
}

TEST(it_is_no_reason_against_a_job_that_its_nodes_are_never_at_one_leaf) {
    struct world w;
    struct error err = ERROR_INIT;
    cleanup_str struct str before = STR_INIT;

    world_init(&w, 4, 4, 1000);
    leaves(&w, (uint32_t[]) {2, 2}, 2);
    world_configure(&w);
    struct sched_job_spec spec = nodes(&w, 3);
    spec.max_switches = 1;
    spec.switches_until = w.now + 10;
    assert_int_equal(sched_feasible(w.sched, &spec, &before, &err), 0);
    world_done(&w);
}

/* ---- every choice ---- */

/* The fewest leaves with `want` free nodes, by trying every set; 0 = none. */
static uint32_t fewest(const uint32_t *free_at, uint32_t n, uint32_t want) {
    uint32_t best = 0;

    for (uint32_t set = 1; set < 1u << n; set++) {
        uint32_t sum = 0, k = (uint32_t) __builtin_popcount(set);
        for (uint32_t i = 0; i < n; i++)
            sum += set >> i & 1 ? free_at[i] : 0;
        if (sum >= want && (best == 0 || k < best))
            best = k;
    }
    return best;
}

/* Not more leaves than that, all but one of them full, and that one the smallest that suffices. */
static void small_tree_case(uint64_t seed) {
    struct world w;
    struct rng rng;
    uint32_t sizes[4], n = 4, total = 0, free_at[4] = {0}, used[4] = {0};

    rng_seed(&rng, seed);
    for (uint32_t i = 0; i < n; i++)
        total += sizes[i] = 1 + rng_below(&rng, 4);
    world_init(&w, total, 4, 1000);
    leaves(&w, sizes, n);
    world_configure(&w);
    for (uint32_t i = 0; i < total; i++) {
        if (rng_below(&rng, 3) == 0)
            busy(&w, i, 1000);
        else
            free_at[w.leaf_of[i]]++;
    }
    struct sched_job_spec spec = nodes(&w, 2 + rng_below(&rng, 5));
    spec.max_switches = rng_below(&rng, 3);
    spec.switches_until = w.now + 5000;
    uint32_t best = fewest(free_at, n, spec.min_nodes), k = 0, least = UINT32_MAX, last = 0;
    bool can = best > 0 && (spec.max_switches == 0 || best <= spec.max_switches);
    uint32_t id = world_add(&w, &spec);
    assert_int_equal(world_pass(&w), can);
    for (size_t i = 0; can && i < spec.min_nodes; i++)
        used[w.leaf_of[world_running(&w, id)->allocs[i].node]]++;
    for (uint32_t i = 0; can && i < n; i++) {
        k += used[i] > 0;
        if (used[i] > 0 && used[i] < free_at[i]) {
            least = used[i]; /* only the last one is not full */
            last = i;
        }
    }
    assert_int_equal(k, can ? best : 0);
    for (uint32_t i = 0; can && least != UINT32_MAX && i < n; i++) {
        if (used[i] == 0 && free_at[i] >= least)
            assert_true(free_at[i] >= free_at[last]);
        assert_true(i == last || used[i] == 0 || used[i] == free_at[i]);
    }
    world_done(&w);
}

TEST(on_small_trees_no_choice_is_better) {
    for (uint64_t seed = 1; seed <= 3000; seed++)
        small_tree_case(seed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_of_a_job_are_at_the_fewest_leaves_and_the_last_one_fits_best),
        cmocka_unit_test(a_job_of_one_node_does_not_care),
        cmocka_unit_test(as_few_leaves_are_better_under_the_lowest_switch),
        cmocka_unit_test(tasks_that_need_several_nodes_find_them_at_one_leaf),
        cmocka_unit_test(with_a_wish_a_job_waits_for_few_leaves_until_the_wish_ends),
        cmocka_unit_test(plans_for_later_keep_the_wish),
        cmocka_unit_test(many_jobs_with_a_wish_that_ended_start_where_they_can),
        cmocka_unit_test(neighbours_keep_the_wish_too),
        cmocka_unit_test(nodes_at_no_switch_are_far_from_all),
        cmocka_unit_test(it_is_no_reason_against_a_job_that_its_nodes_are_never_at_one_leaf),
        cmocka_unit_test(on_small_trees_no_choice_is_better),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
