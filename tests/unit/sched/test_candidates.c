/* SPDX-License-Identifier: Apache-2.0 */
/* Those for whom nothing is kept are tried shortest first. */
#include "sched/internal.h"
#include "world.h"

static uint32_t add(struct world *w, uint32_t nodes, int64_t limit, int64_t expected) {
    struct sched_job_spec spec = world_spec(w);

    spec.min_nodes = spec.max_nodes = spec.ntasks = nodes;
    spec.exclusive = true;
    spec.limit = limit;
    spec.expected = expected;
    return world_add(w, &spec);
}

/* Three nodes, one of which is busy for long; a job that needs all of them waits in front. */
static void begin(struct world *w) {
    world_init(w, 3, 4, 1000);
    w->settings.short_first = true;
    world_configure(w);
    add(w, 1, 1000, 0);
    world_pass(w);
    add(w, 3, 1000, 0);
    world_pass(w);
}

static bool waits(struct world *w, uint32_t job) {
    return map_get(&w->sched->jobs, job) != NULL;
}

TEST(the_shortest_limit_goes_first) {
    struct world w;
    begin(&w);
    uint32_t long_one = add(&w, 2, 900, 0), short_one = add(&w, 2, 100, 0);
    world_pass(&w);
    assert_true(waits(&w, long_one));
    assert_false(waits(&w, short_one));
    world_done(&w);
}

TEST(among_jobs_of_one_shape_the_expected_run_time_decides_and_then_the_order) {
    struct world w;
    begin(&w);
    uint32_t first = add(&w, 1, 900, 300), second = add(&w, 1, 900, 100);
    uint32_t third = add(&w, 1, 900, 100), fourth = add(&w, 1, 900, 100);
    world_pass(&w);
    assert_true(waits(&w, first));
    assert_false(waits(&w, second));
    assert_false(waits(&w, third));
    assert_true(waits(&w, fourth));
    world_done(&w);
}

TEST(however_short_a_job_is_expected_to_be_its_limit_must_not_reach_into_a_plan) {
    struct world w;
    begin(&w);
    uint32_t job = add(&w, 1, 1001, 1);
    world_pass(&w);
    assert_true(waits(&w, job));
    world_done(&w);
}

TEST(no_prediction_is_longer_than_the_limit) {
    struct world w;
    begin(&w);
    uint32_t longer = add(&w, 2, 500, 0), short_one = add(&w, 2, 400, 9000);
    world_pass(&w);
    assert_true(waits(&w, longer));
    assert_false(waits(&w, short_one));
    world_done(&w);
}

TEST(who_may_have_a_plan_comes_before_the_shortest) {
    struct world w;
    world_init(&w, 2, 4, 1000);
    w.settings.short_first = true;
    world_configure(&w);
    uint32_t first = add(&w, 2, 900, 0), short_one = add(&w, 1, 10, 0);
    world_pass(&w);
    assert_false(waits(&w, first));
    assert_true(waits(&w, short_one));
    world_done(&w);
}

TEST(all_tasks_of_an_array_start_in_its_turn) {
    struct world w;
    begin(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.min_nodes = spec.max_nodes = spec.ntasks = 1;
    spec.exclusive = true;
    spec.limit = 100;
    spec.n_tasks_of_array = 2;
    uint32_t other = add(&w, 1, 200, 0);
    world_add(&w, &spec);
    struct sched_plan plan;
    sched_pass(w.sched, w.now, 0, &plan);
    assert_int_equal(plan.n_starts, 2);
    assert_int_not_equal(plan.starts[0].job_id, other);
    assert_int_equal(plan.starts[0].job_id, plan.starts[1].job_id);
    assert_true(plan.starts[0].backfilled);
    sched_plan_done(&plan);
    world_done(&w);
}

TEST(a_cut_pass_goes_on_with_the_next_shortest) {
    struct world w;
    struct sched_plan plan;
    begin(&w);
    uint32_t b = add(&w, 1, 200, 0), a = add(&w, 1, 100, 0);
    sched_pass(w.sched, w.now, 1, &plan);
    assert_int_equal(plan.n_starts, 1);
    assert_int_equal(plan.starts[0].job_id, a);
    world_commit(&w, &plan);
    sched_plan_done(&plan);
    sched_pass(w.sched, w.now, 1, &plan);
    assert_int_equal(plan.n_starts, 1);
    assert_int_equal(plan.starts[0].job_id, b);
    sched_plan_done(&plan);
    world_done(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shortest_limit_goes_first),
        cmocka_unit_test(among_jobs_of_one_shape_the_expected_run_time_decides_and_then_the_order),
        cmocka_unit_test(
            however_short_a_job_is_expected_to_be_its_limit_must_not_reach_into_a_plan),
        cmocka_unit_test(no_prediction_is_longer_than_the_limit),
        cmocka_unit_test(who_may_have_a_plan_comes_before_the_shortest),
        cmocka_unit_test(all_tasks_of_an_array_start_in_its_turn),
        cmocka_unit_test(a_cut_pass_goes_on_with_the_next_shortest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
