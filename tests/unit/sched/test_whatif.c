/* SPDX-License-Identifier: Apache-2.0 */
/* When would it start? */
#include "world.h"

TEST(an_idle_cluster_answers_now_and_names_the_node) {
    struct world w;
    struct sched_start start;
    struct sched_plan answer = SCHED_PLAN_INIT;
    int64_t when;

    world_init(&w, 2, 4, 1000);
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.cpus_per_task = 3;
    assert_true(sched_will_run(w.sched, &spec, w.now, &start, &answer, &when));
    assert_int_equal(when, w.now);
    assert_int_equal(start.n_allocs, 1);
    assert_int_equal(start.n_cpus, 3);
    sched_plan_done(&answer);
    world_done(&w);
}

TEST(the_answer_respects_the_plan_of_the_head_and_changes_nothing) {
    struct world w;
    struct sched_start start;
    struct sched_plan answer = SCHED_PLAN_INIT, plan;
    int64_t when;

    world_init(&w, 2, 4, 1000);
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.exclusive = true;
    world_add(&w, &spec); /* n1 for 100 s */
    world_pass(&w);
    spec.min_nodes = spec.max_nodes = spec.ntasks = 2;
    uint32_t head = world_add(&w, &spec); /* both from then for 100 s */
    world_pass(&w);
    spec.min_nodes = spec.max_nodes = spec.ntasks = 1;
    spec.limit = 101;
    assert_true(sched_will_run(w.sched, &spec, w.now, &start, &answer, &when));
    assert_int_equal(when, w.now + 200);
    spec.limit = 100;
    assert_true(sched_will_run(w.sched, &spec, w.now, &start, &answer, &when));
    assert_int_equal(when, w.now);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_int_equal(plan.n_starts, 0);
    assert_null(plan_wait(&plan, head));
    sched_plan_done(&plan);
    sched_plan_done(&answer);
    world_done(&w);
}

TEST(a_begin_time_is_the_earliest_answer) {
    struct world w;
    struct sched_start start;
    struct sched_plan answer = SCHED_PLAN_INIT;
    int64_t when;

    world_init(&w, 2, 4, 1000);
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.begin_time = w.now + 77;
    assert_true(sched_will_run(w.sched, &spec, w.now, &start, &answer, &when));
    assert_int_equal(when, w.now + 77);
    sched_plan_done(&answer);
    world_done(&w);
}

TEST(what_can_never_run_has_no_answer) {
    struct world w;
    struct sched_start start;
    struct sched_plan answer = SCHED_PLAN_INIT;
    int64_t when;

    world_init(&w, 2, 4, 1000);
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.cpus_per_task = 5;
    assert_false(sched_will_run(w.sched, &spec, w.now, &start, &answer, &when));
    sched_plan_done(&answer);
    world_done(&w);
}

TEST(a_node_is_free_promised_busy_or_never_fit) {
    struct world w;
    uint8_t fits[3];

    world_init(&w, 3, 4, 1000);
    w.nodes[2].cpus = 1;
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.exclusive = true;
    spec.cpus_per_task = 4;
    world_add(&w, &spec); /* one of two nodes for 100 s */
    world_pass(&w);
    spec.min_nodes = spec.max_nodes = spec.ntasks = 2;
    world_add(&w, &spec); /* both from then on */
    world_pass(&w);
    spec.min_nodes = spec.max_nodes = spec.ntasks = 1;
    sched_fits(w.sched, &spec, w.now, fits);
    assert_int_equal(fits[0], SCHED_FIT_BUSY);
    assert_int_equal(fits[1], SCHED_FIT_FREE); /* until the other one starts */
    assert_int_equal(fits[2], SCHED_FIT_NEVER);
    spec.limit = 101;
    sched_fits(w.sched, &spec, w.now, fits);
    assert_int_equal(fits[1], SCHED_FIT_PROMISED);
    world_done(&w);
}

TEST(those_ahead_are_counted_by_what_puts_them_there) {
    struct world w;
    struct sched_ahead ahead;

    world_init(&w, 1, 1, 1000);
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    world_add(&w, &spec);
    world_pass(&w);
    uint32_t before = world_add(&w, &spec);
    uint32_t mine = world_add(&w, &spec);
    world_add(&w, &spec);
    spec.priority++;
    spec.n_tasks_of_array = 3;
    uint32_t above = world_add(&w, &spec);
    assert_true(sched_jobs_ahead(w.sched, mine, &ahead));
    assert_int_equal(ahead.n_jobs, 4);
    assert_int_equal(ahead.by_priority, 3);
    assert_int_equal(ahead.by_age, 1);
    assert_int_equal(ahead.n_first, 2);
    assert_int_equal(ahead.first[0], above);
    assert_int_equal(ahead.first[1], before);
    assert_false(sched_jobs_ahead(w.sched, 4711, &ahead));
    world_done(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_idle_cluster_answers_now_and_names_the_node),
        cmocka_unit_test(the_answer_respects_the_plan_of_the_head_and_changes_nothing),
        cmocka_unit_test(a_begin_time_is_the_earliest_answer),
        cmocka_unit_test(what_can_never_run_has_no_answer),
        cmocka_unit_test(a_node_is_free_promised_busy_or_never_fit),
        cmocka_unit_test(those_ahead_are_counted_by_what_puts_them_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
