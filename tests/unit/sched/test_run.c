/* SPDX-License-Identifier: Apache-2.0 */
/* What running jobs hold, and how it comes back. */
#include "sched/internal.h"
#include "world.h"

static uint32_t cpus_free(struct world *w, uint32_t node) {
    uint32_t cpus;

    sched_node_free(w->sched, node, &cpus, NULL, NULL);
    return cpus;
}

static uint64_t mem_free(struct world *w, uint32_t node) {
    uint64_t mem;

    sched_node_free(w->sched, node, NULL, &mem, NULL);
    return mem;
}

static void run(struct world *w, uint32_t id, bool exclusive, int64_t end) {
    struct sched_alloc allocs[2] = {{.node = 0, .cpus = 3, .ntasks = 1, .mem = 100},
                                    {.node = 1, .cpus = 2, .ntasks = 1, .mem = 200}};

    sched_run_add(w->sched, id, 0, exclusive, 1000, w->now, end, allocs, 2, NULL, NULL, 0);
}

TEST(nodes_of_a_job_come_back_one_by_one) {
    struct world w;

    world_init(&w, 2, 8, 1000);
    world_configure(&w);
    run(&w, 7, false, w.now + 100);
    assert_int_equal(cpus_free(&w, 0), 5);
    assert_int_equal(mem_free(&w, 1), 800);
    sched_run_release_node(w.sched, 7, 1);
    assert_int_equal(cpus_free(&w, 1), 8);
    assert_int_equal(cpus_free(&w, 0), 5);
    sched_run_release_node(w.sched, 7, 0);
    assert_int_equal(cpus_free(&w, 0), 8);
    assert_null(map_get(&w.sched->runs, 7));
    sched_run_remove(w.sched, 7); /* forgotten: harmless */
    world_done(&w);
}

TEST(a_suspended_job_keeps_its_memory_and_gives_its_cpus_back) {
    struct world w;

    world_init(&w, 2, 8, 1000);
    world_configure(&w);
    run(&w, 7, false, w.now + 100);
    sched_run_suspend(w.sched, 7, true);
    assert_int_equal(cpus_free(&w, 0), 8);
    assert_int_equal(mem_free(&w, 0), 900);
    sched_run_suspend(w.sched, 7, false);
    assert_int_equal(cpus_free(&w, 0), 5);
    sched_run_suspend(w.sched, 7, true);
    sched_run_remove(w.sched, 7);
    assert_int_equal(cpus_free(&w, 0), 8);
    assert_int_equal(mem_free(&w, 0), 1000);
    world_done(&w);
}

TEST(an_exclusive_job_leaves_nothing_on_its_nodes) {
    struct world w;

    world_init(&w, 2, 8, 1000);
    world_configure(&w);
    run(&w, 7, true, w.now + 100);
    assert_int_equal(cpus_free(&w, 0), 0);
    assert_int_equal(mem_free(&w, 0), 0);
    sched_run_remove(w.sched, 7);
    assert_int_equal(cpus_free(&w, 0), 8);
    world_done(&w);
}

TEST(a_new_end_moves_the_plan_of_the_head) {
    struct world w;
    struct sched_plan plan;

    world_init(&w, 2, 8, 1000);
    world_configure(&w);
    run(&w, 70, false, w.now + 100);
    struct sched_job_spec spec = world_spec(&w);
    spec.cpus_per_task = 7;
    uint32_t id = world_add(&w, &spec);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_int_equal(plan_wait(&plan, id)->start, w.now + 100);
    sched_plan_done(&plan);
    sched_run_end_time(w.sched, 70, w.now + 40);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_int_equal(plan_wait(&plan, id)->start, w.now + 40);
    sched_plan_done(&plan);
    world_done(&w);
}

TEST(what_was_planned_around_a_start_that_is_not_committed_is_planned_again) {
    struct world w;
    struct sched_plan plan;

    world_init(&w, 1, 8, 1000);
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.cpus_per_task = 5;
    uint32_t first = world_add(&w, &spec), second = world_add(&w, &spec);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_non_null(plan_start(&plan, first));
    assert_null(plan_start(&plan, second));
    sched_plan_done(&plan);
    world_cancel(&w, first);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_non_null(plan_start(&plan, second));
    sched_plan_done(&plan);
    world_done(&w);
}

TEST(licences_come_back_with_the_job) {
    struct world w;
    const uint32_t ids[] = {0}, counts[] = {2};
    struct sched_alloc alloc = {.node = 0, .cpus = 1};

    world_init(&w, 1, 8, 1000);
    w.licenses[0] = 2;
    w.n_licenses = 1;
    world_configure(&w);
    sched_run_add(w.sched, 70, 0, false, 1000, w.now, w.now + 10, &alloc, 1, ids, counts, 1);
    assert_int_equal(w.sched->license_used[0], 2);
    sched_run_remove(w.sched, 70);
    assert_int_equal(w.sched->license_used[0], 0);
    world_done(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_of_a_job_come_back_one_by_one),
        cmocka_unit_test(a_suspended_job_keeps_its_memory_and_gives_its_cpus_back),
        cmocka_unit_test(an_exclusive_job_leaves_nothing_on_its_nodes),
        cmocka_unit_test(a_new_end_moves_the_plan_of_the_head),
        cmocka_unit_test(what_was_planned_around_a_start_that_is_not_committed_is_planned_again),
        cmocka_unit_test(licences_come_back_with_the_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
