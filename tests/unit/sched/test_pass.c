/* SPDX-License-Identifier: Apache-2.0 */
/* What a pass decides: order, reservation, backfill, and what it reports. */
#include "world.h"

static uint32_t add(struct world *w, uint32_t nodes, int64_t limit, uint32_t priority) {
    struct sched_job_spec spec = world_spec(w);

    spec.min_nodes = spec.max_nodes = spec.ntasks = nodes;
    spec.exclusive = true;
    spec.limit = limit;
    spec.priority = priority;
    return world_add(w, &spec);
}

TEST(jobs_start_in_order_of_priority_then_submission_then_id) {
    struct world w;
    struct sched_plan plan;

    world_init(&w, 3, 4, 1000);
    world_configure(&w);
    uint32_t low = add(&w, 1, 100, 10);
    uint32_t first = add(&w, 1, 100, 20);
    uint32_t second = add(&w, 1, 100, 20);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_int_equal(plan.n_starts, 3);
    assert_int_equal(plan.starts[0].job_id, first);
    assert_int_equal(plan.starts[1].job_id, second);
    assert_int_equal(plan.starts[2].job_id, low);
    sched_plan_done(&plan);
    world_done(&w);
}

TEST(a_plan_changes_nothing_until_it_is_committed) {
    struct world w;
    struct sched_plan plan, again;
    uint32_t cpus;

    world_init(&w, 2, 4, 1000);
    world_configure(&w);
    add(&w, 2, 100, 10);
    sched_pass(w.sched, w.now, 0, &plan);
    sched_node_free(w.sched, 0, &cpus, NULL, NULL);
    assert_int_equal(cpus, 4);
    sched_pass(w.sched, w.now, 0, &again);
    assert_int_equal(again.n_starts, 1);
    sched_plan_done(&plan);
    sched_plan_done(&again);
    world_done(&w);
}

TEST(the_head_waits_for_resources_and_the_rest_for_priority) {
    struct world w;
    struct sched_plan plan;

    world_init(&w, 4, 4, 1000);
    world_configure(&w);
    add(&w, 3, 100, 30);
    world_pass(&w);
    uint32_t head = add(&w, 4, 50, 20), next = add(&w, 2, 200, 10), last = add(&w, 3, 10, 5);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_int_equal(plan.n_starts, 0);
    assert_int_equal(plan_wait(&plan, head)->reason, REASON_RESOURCES);
    assert_int_equal(plan_wait(&plan, head)->start, w.now + 100);
    assert_int_equal(plan_wait(&plan, head)->n_nodes, 4);
    assert_int_equal(plan_wait(&plan, next)->reason, REASON_PRIORITY);
    assert_int_equal(plan_wait(&plan, last)->reason, REASON_PRIORITY);
    sched_plan_done(&plan);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_int_equal(plan.n_waits, 0);
    sched_plan_done(&plan);
    world_done(&w);
}

TEST(a_short_job_is_backfilled_and_a_long_one_is_not) {
    struct world w;
    struct sched_plan plan;

    world_init(&w, 4, 4, 1000);
    world_configure(&w);
    add(&w, 3, 100, 30);
    world_pass(&w);
    uint32_t head = add(&w, 4, 50, 20);
    uint32_t too_long = add(&w, 1, 101, 10), fits = add(&w, 1, 100, 5);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_null(plan_start(&plan, too_long));
    assert_non_null(plan_start(&plan, fits));
    assert_true(plan_start(&plan, fits)->backfilled);
    assert_int_equal(plan_start(&plan, fits)->backfilled_past, head);
    sched_plan_done(&plan);
    world_done(&w);
}

TEST(a_long_job_is_backfilled_on_nodes_that_the_head_does_not_need) {
    struct world w;
    struct sched_plan plan;

    world_init(&w, 6, 4, 1000);
    world_configure(&w);
    add(&w, 4, 100, 30);
    world_pass(&w);
    add(&w, 5, 50, 20);
    uint32_t one = add(&w, 1, 1000, 10), two = add(&w, 1, 1000, 9);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_non_null(plan_start(&plan, one));
    assert_null(plan_start(&plan, two));
    sched_plan_done(&plan);
    world_done(&w);
}

TEST(a_minimum_time_lets_a_job_run_up_to_the_plan_of_the_head) {
    struct world w;
    struct sched_plan plan;

    world_init(&w, 2, 4, 1000);
    world_configure(&w);
    add(&w, 1, 100, 30);
    world_pass(&w);
    add(&w, 2, 50, 20);
    struct sched_job_spec spec = world_spec(&w);
    spec.limit = 500;
    spec.priority = 5;
    spec.min_limit = 60;
    uint32_t id = world_add(&w, &spec);
    spec.min_limit = 101;
    uint32_t too_long = world_add(&w, &spec);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_non_null(plan_start(&plan, id));
    assert_int_equal(plan_start(&plan, id)->limit, 100);
    assert_null(plan_start(&plan, too_long));
    sched_plan_done(&plan);
    world_done(&w);
}

TEST(without_backfill_nobody_passes_the_head) {
    struct world w;

    world_init(&w, 4, 4, 1000);
    w.settings.backfill = false;
    world_configure(&w);
    add(&w, 3, 100, 30);
    assert_int_equal(world_pass(&w), 1);
    add(&w, 4, 50, 20);
    add(&w, 1, 10, 10);
    assert_int_equal(world_pass(&w), 0);
    world_end(&w, 1);
    assert_int_equal(world_pass(&w), 1);
    world_done(&w);
}

TEST(a_job_of_several_partitions_starts_where_it_can_and_once) {
    struct world w;
    struct sched_plan plan;
    static const uint32_t both[] = {0, 1};

    world_init(&w, 2, 4, 1000);
    w.partitions[0].n_nodes = 1;
    w.partitions[1] = w.partitions[0];
    w.partitions[1].nodes = xmemdup((uint32_t[]) {1}, sizeof(uint32_t));
    w.n_partitions = 2;
    world_configure(&w);
    add(&w, 1, 100, 30);
    world_pass(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.partitions = both;
    spec.n_partitions = 2;
    spec.exclusive = true;
    uint32_t id = world_add(&w, &spec), next = world_add(&w, &spec);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_int_equal(plan.n_starts, 1);
    assert_int_equal(plan_start(&plan, id)->partition, 1);
    assert_int_equal(plan_wait(&plan, next)->start, w.now + 100);
    sched_plan_done(&plan);
    world_done(&w);
}

TEST(an_array_is_started_task_by_task_up_to_its_limit) {
    struct world w;
    struct sched_plan plan;

    world_init(&w, 1, 8, 1000);
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.n_tasks_of_array = 100;
    spec.max_starts = 5;
    world_add(&w, &spec);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_int_equal(plan.n_starts, 5);
    sched_plan_done(&plan);
    world_done(&w);
}

TEST(a_bound_on_starts_ends_the_pass_and_asks_for_the_next) {
    struct world w;
    struct sched_plan plan;

    world_init(&w, 1, 8, 1000);
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    for (unsigned i = 0; i < 6; i++)
        world_add(&w, &spec);
    sched_pass(w.sched, w.now, 4, &plan);
    assert_int_equal(plan.n_starts, 4);
    assert_int_equal(plan.next_time, w.now);
    world_commit(&w, &plan);
    sched_plan_done(&plan);
    assert_int_equal(world_pass(&w), 2);
    world_done(&w);
}

TEST(several_reservations_are_planned_in_order) {
    struct world w;
    struct sched_plan plan;

    world_init(&w, 4, 4, 1000);
    w.settings.reservations = 2;
    world_configure(&w);
    add(&w, 4, 100, 30);
    world_pass(&w);
    uint32_t first = add(&w, 3, 50, 20), second = add(&w, 2, 70, 10), third = add(&w, 1, 9, 5);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_int_equal(plan_wait(&plan, first)->start, w.now + 100);
    assert_int_equal(plan_wait(&plan, second)->start, w.now + 150);
    assert_int_equal(plan_wait(&plan, third)->start, 0);
    sched_plan_done(&plan);
    world_done(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_start_in_order_of_priority_then_submission_then_id),
        cmocka_unit_test(a_plan_changes_nothing_until_it_is_committed),
        cmocka_unit_test(the_head_waits_for_resources_and_the_rest_for_priority),
        cmocka_unit_test(a_short_job_is_backfilled_and_a_long_one_is_not),
        cmocka_unit_test(a_long_job_is_backfilled_on_nodes_that_the_head_does_not_need),
        cmocka_unit_test(a_minimum_time_lets_a_job_run_up_to_the_plan_of_the_head),
        cmocka_unit_test(without_backfill_nobody_passes_the_head),
        cmocka_unit_test(a_job_of_several_partitions_starts_where_it_can_and_once),
        cmocka_unit_test(an_array_is_started_task_by_task_up_to_its_limit),
        cmocka_unit_test(a_bound_on_starts_ends_the_pass_and_asks_for_the_next),
        cmocka_unit_test(several_reservations_are_planned_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
