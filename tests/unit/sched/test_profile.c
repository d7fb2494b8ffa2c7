/* SPDX-License-Identifier: Apache-2.0 */
/* The future: spans, plans, the earliest start. */
#include "random.h"
#include "sched/internal.h"

static void run(struct world *w, uint32_t id, uint32_t node, uint32_t cpus, int64_t end) {
    struct sched_alloc alloc = {.node = node, .cpus = cpus, .ntasks = 1};

    sched_run_add(w->sched, id, 0, false, 1000, w->now, end, &alloc, 1, NULL, NULL, 0);
}

static int64_t free_over(struct world *w, uint32_t node, int64_t start, int64_t end) {
    int64_t have[MAX_DIMS];

    node_window(w->sched, node, start, end, have);
    return have[DIM_CPU];
}

TEST(free_cpus_grow_as_jobs_end) {
    struct world w;

    world_init(&w, 1, 8, 1000);
    world_configure(&w);
    w.sched->now = w.now;
    run(&w, 1, 0, 3, w.now + 10);
    run(&w, 2, 0, 4, w.now + 20);
    assert_int_equal(free_over(&w, 0, w.now, w.now + 100), 1);
    assert_int_equal(free_over(&w, 0, w.now + 9, w.now + 100), 1);
    assert_int_equal(free_over(&w, 0, w.now + 10, w.now + 100), 4);
    assert_int_equal(free_over(&w, 0, w.now + 20, w.now + 100), 8);
    world_done(&w);
}

TEST(a_job_past_its_end_is_expected_to_leave_in_the_next_second) {
    struct world w;

    world_init(&w, 1, 8, 1000);
    world_configure(&w);
    run(&w, 1, 0, 8, w.now + 10);
    w.sched->now = w.now + 50;
    assert_int_equal(free_over(&w, 0, w.now + 50, w.now + 60), 0);
    assert_int_equal(free_over(&w, 0, w.now + 51, w.now + 60), 8);
    world_done(&w);
}

TEST(a_plan_counts_from_its_start_to_its_end) {
    struct world w;
    struct sched_plan plan;

    world_init(&w, 1, 8, 1000);
    world_configure(&w);
    run(&w, 100, 0, 6, w.now + 10);
    struct sched_job_spec spec = world_spec(&w);
    spec.cpus_per_task = 5;
    spec.limit = 30;
    world_add(&w, &spec);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_int_equal(plan_wait(&plan, 1)->start, w.now + 10);
    sched_plan_done(&plan);
    assert_int_equal(free_over(&w, 0, w.now, w.now + 10), 2);
    assert_int_equal(free_over(&w, 0, w.now, w.now + 11), 2);
    assert_int_equal(free_over(&w, 0, w.now + 10, w.now + 11), 3);
    assert_int_equal(free_over(&w, 0, w.now + 39, w.now + 90), 3);
    assert_int_equal(free_over(&w, 0, w.now + 40, w.now + 90), 8);
    world_done(&w);
}

TEST(a_limit_that_is_unknown_is_assumed) {
    struct world w;
    struct sched_plan plan;

    world_init(&w, 1, 8, 1000);
    w.settings.default_limit = 500;
    world_configure(&w);
    run(&w, 100, 0, 8, SCHED_FOREVER);
    struct sched_job_spec spec = world_spec(&w);
    world_add(&w, &spec);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_int_equal(plan_wait(&plan, 1)->start, w.now + 500);
    sched_plan_done(&plan);
    world_done(&w);
}

/* The first second at which the request could be placed, found by trying each. */
static int64_t earliest_by_trying(struct world *w, const struct sched_job_spec *spec) {
    for (int64_t when = w->sched->now; when < w->sched->now + 2000; when++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < w->n_nodes; i++) {
            int64_t have[MAX_DIMS], cpus = spec->cpus_per_task;
            const struct node *node = &w->sched->nodes[i];
            if (w->sched->hardware[node->hardware].whole_cores)
                cpus += cpus % w->sched->hardware[node->hardware].threads_per_core;
            node_window(w->sched, i, when, when + spec->limit, have);
            if (spec->exclusive && (have[DIM_CPU] != node_total(w->sched, i)[DIM_CPU] ||
                                    have[DIM_MEM] != node_total(w->sched, i)[DIM_MEM]))
                continue;
            n += have[DIM_CPU] >= cpus && (spec->mem_per_node == UINT64_MAX ||
                                           have[DIM_MEM] >= (int64_t) spec->mem_per_node);
        }
        if (n >= spec->min_nodes)
            return when;
    }
    return SCHED_FOREVER;
}

TEST(the_earliest_start_is_what_trying_every_second_finds) {
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct world w;
        struct rng rng;
        struct request_memory memory;

        rng_seed(&rng, seed);
        random_world(&w, &rng, RANDOM_SIMPLE);
        w.settings.reservations = 3;
        world_configure(&w);
        for (unsigned round = 0; round < 4; round++) {
            for (unsigned i = 0; i < 5; i++) {
                struct sched_job_spec spec = random_request(&w, &rng, RANDOM_SIMPLE, &memory);
                world_add(&w, &spec);
            }
            world_pass(&w);
            w.now += (int64_t) rng_below(&rng, 100);
            world_end_due(&w);
        }
        struct sched_job_spec spec = random_request(&w, &rng, RANDOM_SIMPLE, &memory);
        struct sched_start start;
        struct sched_plan answer = SCHED_PLAN_INIT;
        int64_t when = SCHED_FOREVER;
        bool found = sched_will_run(w.sched, &spec, w.sched->now, &start, &answer, &when);
        int64_t want = earliest_by_trying(&w, &spec);
        if ((found ? when : SCHED_FOREVER) != want)
            print_error("seed %llu\n", (unsigned long long) seed);
        assert_int_equal(found ? when : SCHED_FOREVER, want);
        sched_plan_done(&answer);
        world_done(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_cpus_grow_as_jobs_end),
        cmocka_unit_test(a_job_past_its_end_is_expected_to_leave_in_the_next_second),
        cmocka_unit_test(a_plan_counts_from_its_start_to_its_end),
        cmocka_unit_test(a_limit_that_is_unknown_is_assumed),
        cmocka_unit_test(the_earliest_start_is_what_trying_every_second_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
