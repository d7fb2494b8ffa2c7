/* SPDX-License-Identifier: Apache-2.0 */
/* Who has resources kept for it: the first ones, and whoever has waited too long. */
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

static const struct plan *plan_of(struct world *w, uint32_t job_id) {
    const struct job *job = map_get(&w->sched->jobs, job_id);
    return job ? job->plan : NULL;
}

TEST(a_job_that_has_waited_for_the_guard_time_gets_a_plan_wherever_it_stands) {
    struct world w;
    struct sched_plan plan;

    world_init(&w, 4, 4, 1000);
    w.settings.guard = 3600;
    w.settings.guard_jobs = 10;
    world_configure(&w);
    add(&w, 4, 10000, 100);
    world_pass(&w);
    add(&w, 4, 500, 50);
    uint32_t low = add(&w, 3, 500, 10);
    world_pass(&w);
    assert_null(plan_of(&w, low));
    w.now += 3599;
    world_pass(&w);
    assert_null(plan_of(&w, low));
    w.now += 1;
    sched_pass(w.sched, w.now, 0, &plan);
    assert_non_null(plan_of(&w, low));
    const struct sched_wait *wait = plan_wait(&plan, low);
    assert_non_null(wait);
    assert_int_equal(wait->start, 1000 + 10000 + 500);
    sched_plan_done(&plan);
    world_done(&w);
}

TEST(the_planner_asks_to_be_called_when_the_guard_time_is_over) {
    struct world w;
    struct sched_plan plan;

    world_init(&w, 1, 4, 1000);
    w.settings.guard = 3600;
    w.settings.guard_jobs = 10;
    world_configure(&w);
    add(&w, 1, 10000, 100);
    world_pass(&w);
    add(&w, 1, 500, 50);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_int_equal(plan.next_time, w.now + 3600);
    sched_plan_done(&plan);
    world_done(&w);
}

TEST(an_old_job_behind_younger_ones_of_its_shape_is_found) {
    struct world w;

    world_init(&w, 4, 4, 1000);
    w.settings.guard = 1000;
    w.settings.guard_jobs = 10;
    world_configure(&w);
    add(&w, 4, 100000, 100);
    world_pass(&w);
    uint32_t old = add(&w, 2, 500, 1);
    w.now += 900;
    add(&w, 3, 500, 90);
    for (uint32_t i = 0; i < 20; i++)
        add(&w, 2, 500, 50 + i);
    w.now += 100;
    world_pass(&w);
    assert_non_null(plan_of(&w, old));
    world_done(&w);
}

TEST(the_number_of_guarded_jobs_is_bounded) {
    struct world w;
    uint32_t n = 0;

    world_init(&w, 4, 4, 1000);
    w.settings.guard = 1000;
    w.settings.guard_jobs = 3;
    world_configure(&w);
    add(&w, 4, 100000, 100);
    world_pass(&w);
    for (uint32_t i = 0; i < 10; i++)
        add(&w, 1 + i % 3, 500, 50);
    w.now += 1000;
    world_pass(&w);
    for (uint32_t id = 2; id <= 11; id++)
        n += plan_of(&w, id) != NULL;
    assert_int_equal(n, 4);
    world_done(&w);
}

/* The head waits long for a node that is busy; on the others jobs of low priority come and go, one
 * by one, and the second in the queue needs three at once. */
static int64_t start_of_the_second(int64_t guard) {
    struct world w;
    int64_t started = 0;

    world_init(&w, 4, 4, 1000);
    w.settings.guard = guard;
    w.settings.guard_jobs = 10;
    world_configure(&w);
    for (int64_t limit = 100; limit <= 300; limit += 100)
        add(&w, 1, limit, 200);
    add(&w, 1, 100000, 100);
    world_pass(&w);
    add(&w, 4, 500, 90);
    uint32_t second = add(&w, 3, 500, 80);
    for (uint32_t i = 1; i < 400 && !started; i++) {
        add(&w, 1, 300, 10);
        w.now += 100;
        world_end_due(&w);
        world_pass(&w);
        if (world_running(&w, second))
            started = w.now - 1000;
    }
    world_done(&w);
    return started;
}

TEST(with_a_guard_no_stream_of_small_jobs_holds_a_job_back_for_ever) {
    assert_int_equal(start_of_the_second(0), 0);
    int64_t waited = start_of_the_second(2000);
    assert_true(waited >= 2000 && waited <= 2300);
}

TEST(nothing_is_kept_for_jobs_too_young_or_too_low) {
    struct world w;

    world_init(&w, 4, 4, 1000);
    w.settings.reserve_age = 600;
    w.settings.reserve_priority = 40;
    world_configure(&w);
    add(&w, 4, 100000, 100);
    world_pass(&w);
    uint32_t head = add(&w, 4, 500, 90), low = add(&w, 3, 500, 10);
    world_pass(&w);
    assert_null(plan_of(&w, head));
    w.now += 600;
    world_pass(&w);
    assert_non_null(plan_of(&w, head));
    world_cancel(&w, head);
    world_pass(&w);
    assert_null(plan_of(&w, low));
    world_done(&w);
}

TEST(waiting_counts_from_when_a_job_could_have_started) {
    struct world w;

    world_init(&w, 4, 4, 1000);
    w.settings.guard = 1000;
    w.settings.guard_jobs = 3;
    world_configure(&w);
    add(&w, 4, 100000, 100);
    world_pass(&w);
    add(&w, 4, 500, 90);
    struct sched_job_spec spec = world_spec(&w);
    spec.submit_time = 1;
    spec.priority = 10;
    spec.eligible_time = w.now;
    uint32_t late = world_add(&w, &spec);
    w.now += 999;
    world_pass(&w);
    assert_null(plan_of(&w, late));
    w.now += 1;
    world_pass(&w);
    assert_non_null(plan_of(&w, late));
    world_done(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_that_has_waited_for_the_guard_time_gets_a_plan_wherever_it_stands),
        cmocka_unit_test(the_planner_asks_to_be_called_when_the_guard_time_is_over),
        cmocka_unit_test(an_old_job_behind_younger_ones_of_its_shape_is_found),
        cmocka_unit_test(the_number_of_guarded_jobs_is_bounded),
        cmocka_unit_test(with_a_guard_no_stream_of_small_jobs_holds_a_job_back_for_ever),
        cmocka_unit_test(nothing_is_kept_for_jobs_too_young_or_too_low),
        cmocka_unit_test(waiting_counts_from_when_a_job_could_have_started),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
