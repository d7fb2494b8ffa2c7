/* SPDX-License-Identifier: Apache-2.0 */
/* Expected starts beyond the reserved heads. */
#include "sched/internal.h"
#include "world.h"

static uint32_t add(struct world *w, int64_t limit) {
    struct sched_job_spec spec = world_spec(w);

    spec.exclusive = true;
    spec.limit = limit;
    spec.cpus_per_task = 4;
    return world_add(w, &spec);
}

TEST(jobs_behind_the_head_are_planned_one_after_the_other) {
    struct world w;

    world_init(&w, 1, 4, 1000);
    world_configure(&w);
    add(&w, 100);
    world_pass(&w);
    uint32_t head = add(&w, 50), second = add(&w, 30), third = add(&w, 20);
    world_pass(&w);
    assert_int_equal(sched_estimate(w.sched, w.now, third), w.now + 180);
    assert_int_equal(sched_estimate(w.sched, w.now, second), w.now + 150);
    assert_int_equal(sched_estimate(w.sched, w.now, head), w.now + 100);
    world_done(&w);
}

TEST(estimates_leave_no_plan_behind) {
    struct world w;
    struct sched_plan plan;

    world_init(&w, 2, 4, 1000);
    world_configure(&w);
    add(&w, 100);
    world_pass(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.exclusive = true;
    spec.min_nodes = spec.max_nodes = spec.ntasks = 2;
    world_add(&w, &spec);
    uint32_t second = world_add(&w, &spec);
    world_pass(&w);
    assert_int_equal(sched_estimate(w.sched, w.now, second), w.now + 200);
    assert_int_equal(w.sched->pools[0].plans.n, 1);
    spec.min_nodes = spec.max_nodes = spec.ntasks = 1;
    uint32_t fits = world_add(&w, &spec);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_non_null(plan_start(&plan, fits));
    sched_plan_done(&plan);
    world_done(&w);
}

TEST(far_down_the_queue_the_work_ahead_counts) {
    struct world w;
    uint32_t last = 0;

    world_init(&w, 1, 4, 1000);
    world_configure(&w);
    for (unsigned i = 0; i < 1001; i++)
        last = add(&w, 100);
    world_pass(&w);
    int64_t start = sched_estimate(w.sched, w.now, last);
    assert_true(start >= w.now + 99000 && start <= w.now + 101000);
    world_done(&w);
}

TEST(what_cannot_start_has_no_estimate_and_a_begin_time_is_one) {
    struct world w;

    world_init(&w, 1, 4, 1000);
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.cpus_per_task = 9;
    uint32_t never = world_add(&w, &spec);
    spec = world_spec(&w);
    spec.begin_time = w.now + 500;
    uint32_t later = world_add(&w, &spec);
    world_pass(&w);
    assert_int_equal(sched_estimate(w.sched, w.now, never), 0);
    assert_int_equal(sched_estimate(w.sched, w.now, later), w.now + 500);
    assert_int_equal(sched_estimate(w.sched, w.now, 4711), 0);
    world_done(&w);
}

TEST(a_job_before_its_begin_time_is_expected_when_there_is_room_for_it) {
    struct world w;

    world_init(&w, 1, 4, 1000);
    world_configure(&w);
    add(&w, 100);
    world_pass(&w);
    add(&w, 400); /* has the node from 100 to 500 */
    struct sched_job_spec spec = world_spec(&w);
    spec.cpus_per_task = 4;
    spec.begin_time = w.now + 300;
    uint32_t first = world_add(&w, &spec);
    spec.begin_time = w.now + 50;
    spec.priority = 10; /* goes last */
    spec.limit = 20;
    uint32_t second = world_add(&w, &spec);
    world_pass(&w);
    assert_int_equal(sched_estimate(w.sched, w.now, first), w.now + 500);
    assert_int_equal(sched_estimate(w.sched, w.now, second), w.now + 600);
    assert_int_equal(w.sched->pools[0].plans.n, 1);
    world_done(&w);
}

TEST(a_job_before_its_begin_time_comes_before_those_that_it_will_go_before) {
    struct world w;

    world_init(&w, 1, 4, 1000);
    world_configure(&w);
    add(&w, 100);
    world_pass(&w);
    add(&w, 50); /* the head has its plan */
    struct sched_job_spec spec = world_spec(&w);
    spec.cpus_per_task = 4;
    spec.limit = 1000;
    uint32_t low = world_add(&w, &spec);
    spec.begin_time = w.now + 160;
    spec.priority = spec.priority + 1;
    spec.limit = 20;
    uint32_t high = world_add(&w, &spec);
    world_pass(&w);
    assert_int_equal(sched_estimate(w.sched, w.now, high), w.now + 160);
    assert_int_equal(sched_estimate(w.sched, w.now, low), w.now + 180);
    world_done(&w);
}

TEST(no_job_is_expected_to_start_too_late_for_its_deadline) {
    struct world w;

    world_init(&w, 1, 4, 1000);
    world_configure(&w);
    add(&w, 100);
    world_pass(&w);
    add(&w, 50);
    struct sched_job_spec spec = world_spec(&w);
    spec.cpus_per_task = 4;
    spec.deadline = w.now + 249; /* it would start at 150, for 100 s */
    uint32_t late = world_add(&w, &spec);
    spec.deadline = w.now + 250;
    uint32_t in_time = world_add(&w, &spec);
    world_pass(&w);
    assert_int_equal(sched_estimate(w.sched, w.now, late), 0);
    assert_int_equal(sched_estimate(w.sched, w.now, in_time), w.now + 150);
    world_done(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_behind_the_head_are_planned_one_after_the_other),
        cmocka_unit_test(estimates_leave_no_plan_behind),
        cmocka_unit_test(far_down_the_queue_the_work_ahead_counts),
        cmocka_unit_test(what_cannot_start_has_no_estimate_and_a_begin_time_is_one),
        cmocka_unit_test(a_job_before_its_begin_time_is_expected_when_there_is_room_for_it),
        cmocka_unit_test(a_job_before_its_begin_time_comes_before_those_that_it_will_go_before),
        cmocka_unit_test(no_job_is_expected_to_start_too_late_for_its_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
