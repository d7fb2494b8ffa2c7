/* SPDX-License-Identifier: Apache-2.0 */
/* How tasks and GRES are spread over nodes. */
#include <stdio.h>

#include "world.h"

/* "n1:4 n2:2": node and tasks of the only start; "" when it waits. */
static void expect(struct world *w, const struct sched_job_spec *spec, const char *text) {
    struct sched_plan plan;
    cleanup_str struct str got = STR_INIT;
    uint32_t id = world_add(w, spec);

    sched_pass(w->sched, w->now, 0, &plan);
    const struct sched_start *start = plan_start(&plan, id);
    for (size_t i = 0; start && i < start->n_allocs; i++) {
        const struct sched_alloc *alloc = &start->allocs[i];
        str_printf(&got, "%s%s:%u", i ? " " : "", w->nodes[alloc->node].name, alloc->ntasks);
        if (w->n_kinds)
            str_printf(&got, "/%u", alloc->gres[0]);
    }
    assert_string_equal(str_cstr(&got), text);
    sched_plan_done(&plan);
    world_cancel(w, id);
}

static struct sched_job_spec tasks(struct world *w, uint32_t ntasks, uint32_t min, uint32_t max) {
    struct sched_job_spec spec = world_spec(w);

    spec.ntasks = ntasks;
    spec.min_nodes = min;
    spec.max_nodes = max;
    return spec;
}

TEST(tasks_fill_the_first_node_and_leave_one_for_each_other) {
    struct world w;

    world_init(&w, 4, 8, 1000);
    world_configure(&w);
    struct sched_job_spec spec = tasks(&w, 7, 3, 3);
    spec.cpus_per_task = 2; /* as Debian's Slurm deals -N3 -n7 -c2: 4,2,1 */
    expect(&w, &spec, "n1:4 n2:2 n3:1");
    spec = tasks(&w, 3, 2, 2);
    expect(&w, &spec, "n1:2 n2:1");
    world_done(&w);
}

TEST(tasks_without_a_node_count_use_the_fewest_nodes) {
    struct world w;

    world_init(&w, 4, 8, 1000);
    world_configure(&w);
    struct sched_job_spec spec = tasks(&w, 8, 1, NO_MAX);
    expect(&w, &spec, "n1:8");
    spec = tasks(&w, 20, 1, NO_MAX);
    expect(&w, &spec, "n1:8 n2:8 n3:4");
    spec = tasks(&w, 33, 1, NO_MAX);
    expect(&w, &spec, "");
    world_done(&w);
}

TEST(tasks_per_node_is_an_upper_bound_with_tasks_and_exact_without) {
    struct world w;

    world_init(&w, 4, 8, 1000);
    world_configure(&w);
    struct sched_job_spec spec = tasks(&w, 4, 1, NO_MAX);
    spec.ntasks_per_node = 2;
    expect(&w, &spec, "n1:2 n2:2");
    spec = tasks(&w, 0, 2, 2);
    spec.ntasks_per_node = 3;
    expect(&w, &spec, "n1:3 n2:3");
    world_done(&w);
}

TEST(a_range_of_nodes_without_tasks_takes_as_many_as_are_free) {
    struct world w;

    world_init(&w, 4, 8, 1000);
    world_configure(&w);
    struct sched_job_spec spec = tasks(&w, 0, 1, 3);
    expect(&w, &spec, "n1:1 n2:1 n3:1");
    world_usable(&w, 0, false);
    world_usable(&w, 1, false);
    expect(&w, &spec, "n3:1 n4:1");
    world_done(&w);
}

TEST(allowed_node_counts_are_kept) {
    struct world w;
    const uint32_t counts[] = {1, 4};

    world_init(&w, 5, 8, 1000);
    world_configure(&w);
    struct sched_job_spec spec = tasks(&w, 10, 1, 4);
    spec.node_counts = counts;
    spec.n_node_counts = 2;
    expect(&w, &spec, "n1:7 n2:1 n3:1 n4:1");
    spec = tasks(&w, 0, 1, 4);
    spec.node_counts = counts;
    spec.n_node_counts = 2;
    world_usable(&w, 0, false);
    world_usable(&w, 1, false);
    expect(&w, &spec, "n3:1");
    world_done(&w);
}

TEST(contiguous_nodes_are_neighbours) {
    struct world w;

    world_init(&w, 6, 8, 1000);
    world_configure(&w);
    world_usable(&w, 1, false);
    struct sched_job_spec spec = tasks(&w, 3, 3, 3);
    spec.contiguous = true;
    expect(&w, &spec, "n3:1 n4:1 n5:1");
    world_usable(&w, 4, false);
    expect(&w, &spec, "");
    world_done(&w);
}

static struct constraint *features(const char *text) {
    struct constraint *constraint = NULL;
    struct error err = ERROR_INIT;

    assert_int_equal(constraint_parse(text, &constraint, &err), 0);
    return constraint;
}

static void expect_features(struct world *w, const char *text, uint32_t nodes, const char *want) {
    struct sched_job_spec spec = tasks(w, nodes, nodes, nodes);

    spec.features = features(text);
    expect(w, &spec, want);
}

TEST(constraints_choose_nodes) {
    struct world w;
    static const char *const a[] = {"a"}, *const ab[] = {"a", "b"}, *const b[] = {"b"};

    world_init(&w, 5, 8, 1000);
    for (size_t i = 0; i < 5; i++) {
        w.nodes[i].features = i < 2 ? a : i == 2 ? ab : b;
        w.nodes[i].n_features = i == 2 ? 2 : 1;
    }
    world_configure(&w);
    expect_features(&w, "a", 3, "n1:1 n2:1 n3:1");
    expect_features(&w, "a", 4, "");
    expect_features(&w, "a&b", 1, "n3:1");
    expect_features(&w, "a|b", 5, "n1:1 n2:1 n3:1 n4:1 n5:1");
    expect_features(&w, "[a|b]", 4, "");
    expect_features(&w, "[a|b]", 3, "n1:1 n2:1 n3:1");
    expect_features(&w, "[a*1&b*2]", 3, "n1:1 n3:1 n4:1");
    expect_features(&w, "[a*3&b*2]", 5, "n1:1 n2:1 n3:1 n4:1 n5:1");
    expect_features(&w, "c", 1, "");
    world_usable(&w, 0, false);
    expect_features(&w, "[a|b]", 3, "n3:1 n4:1 n5:1");
    world_done(&w);
}

TEST(nodes_are_found_for_all_groups_whenever_there_are_any) {
    static const char *const names[][2] = {{"a", "b"}, {"a", "c"}, {"c"}};
    struct world w;

    world_init(&w, 3, 8, 1000);
    for (size_t i = 0; i < 3; i++) {
        w.nodes[i].features = names[i];
        w.nodes[i].n_features = i < 2 ? 2 : 1;
    }
    world_configure(&w);
    expect_features(&w, "[a*1&b*1&c*1]", 3, "n1:1 n2:1 n3:1"); /* n2 has to stand for a */
    world_done(&w);
}

TEST(of_the_nodes_of_a_group_those_are_taken_that_hold_the_tasks) {
    static const char *const names[] = {"a", "a", "b"};
    struct world w;

    world_init(&w, 3, 4, 1000);
    w.nodes[1].cpus = w.nodes[1].cores_per_socket = 8;
    for (size_t i = 0; i < 3; i++) {
        w.nodes[i].features = &names[i];
        w.nodes[i].n_features = 1;
    }
    world_configure(&w);
    struct sched_job_spec spec = tasks(&w, 12, 2, 2);
    spec.features = features("[a*1&b*1]");
    expect(&w, &spec, "n2:8 n3:4"); /* n1 would be the better fit, if it were large enough */
    world_done(&w);
}

TEST(gres_of_the_job_is_spread_over_as_few_nodes_as_hold_it) {
    struct world w;

    world_init(&w, 3, 8, 1000);
    w.kinds[0] = (struct sched_gres_kind) {"gpu", "a"};
    w.n_kinds = 1;
    for (size_t i = 0; i < 3; i++)
        w.nodes[i].gres[0] = 4;
    world_configure(&w);
    struct sched_job_spec spec = tasks(&w, 1, 1, NO_MAX);
    spec.n_per_job = 1;
    spec.per_job[0] = (struct sched_gres_request) {0, 0, 3};
    expect(&w, &spec, "n1:1/3");
    spec.ntasks = 0;
    spec.per_job[0].count = 6;
    expect(&w, &spec, "n1:1/3 n2:1/3");
    spec.per_job[0].count = 13;
    expect(&w, &spec, "");
    spec = tasks(&w, 4, 2, 2);
    spec.n_per_task = 1;
    spec.per_task[0] = (struct sched_gres_request) {0, 0, 2};
    expect(&w, &spec, "n1:2/4 n2:2/4");
    world_done(&w);
}

static size_t nodes_of(struct world *w, uint32_t tasks, uint32_t max_nodes, bool spread,
                       uint32_t *ret_most) {
    struct sched_job_spec spec = world_spec(w);
    struct sched_plan plan;

    spec.ntasks = tasks;
    spec.max_nodes = max_nodes;
    spec.spread = spread;
    uint32_t id = world_add(w, &spec);
    sched_pass(w->sched, w->now, 0, &plan);
    const struct sched_start *start = plan_start(&plan, id);
    assert_non_null(start);
    size_t n = start->n_allocs;
    uint32_t sum = 0;
    *ret_most = 0;
    for (size_t i = 0; i < n; i++) {
        *ret_most = max_of(*ret_most, start->allocs[i].ntasks);
        sum += start->allocs[i].ntasks;
    }
    assert_int_equal(sum, tasks);
    sched_plan_done(&plan);
    world_cancel(w, id);
    return n;
}

TEST(a_job_that_wants_to_be_spread_gets_as_many_nodes_as_it_may_and_even_shares) {
    struct world w;
    uint32_t most;

    world_init(&w, 4, 8, 1000);
    world_configure(&w);
    assert_int_equal(nodes_of(&w, 6, 6, false, &most), 1);
    assert_int_equal(nodes_of(&w, 6, 6, true, &most), 4);
    assert_int_equal(most, 2);
    assert_int_equal(nodes_of(&w, 6, 2, true, &most), 2);
    assert_int_equal(most, 3);
    assert_int_equal(nodes_of(&w, 3, 3, true, &most), 3);
    assert_int_equal(most, 1);
    world_usable(&w, 0, false);
    assert_int_equal(nodes_of(&w, 24, 24, true, &most), 3);
    assert_int_equal(most, 8);
    world_done(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_job_that_wants_to_be_spread_gets_as_many_nodes_as_it_may_and_even_shares),
        cmocka_unit_test(tasks_fill_the_first_node_and_leave_one_for_each_other),
        cmocka_unit_test(tasks_without_a_node_count_use_the_fewest_nodes),
        cmocka_unit_test(tasks_per_node_is_an_upper_bound_with_tasks_and_exact_without),
        cmocka_unit_test(a_range_of_nodes_without_tasks_takes_as_many_as_are_free),
        cmocka_unit_test(allowed_node_counts_are_kept),
        cmocka_unit_test(contiguous_nodes_are_neighbours),
        cmocka_unit_test(constraints_choose_nodes),
        cmocka_unit_test(nodes_are_found_for_all_groups_whenever_there_are_any),
        cmocka_unit_test(of_the_nodes_of_a_group_those_are_taken_that_hold_the_tasks),
        cmocka_unit_test(gres_of_the_job_is_spread_over_as_few_nodes_as_hold_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
