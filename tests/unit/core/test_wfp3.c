/* SPDX-License-Identifier: Apache-2.0 */
/* The order (wait/limit)^3 * nodes on top of the priority. */
#include <string.h>

#include "base/rng.h"
#include "core/state.h"
#include "unit.h"
#include "world.h"

static int64_t term(int64_t wait, uint32_t minutes, uint32_t nodes) {
    struct core core = {.now = 100000 + wait - 1}; /* a second is added, so that nobody has none */
    struct job job;
    record_init(&record_job, &job);
    job.eligible_time = 100000;
    job.time_limit = minutes;
    job.num_nodes = nodes;
    int64_t result = wfp3_term(&core, &job);
    record_done(&record_job, &job);
    return result;
}

TEST(a_factor_of_two_is_a_step_of_the_same_size_wherever_it_is) {
    const int64_t step = 1 << 23;
    assert_true(term(60, 1, 1) == 0);
    assert_true(term(60, 1, 2) == step);
    assert_true(term(120, 1, 1) == 3 * step);
    assert_true(term(60, 2, 1) == -3 * step);
    assert_true(term(60 * 1024, 1024, 1) == 0);
    assert_true(term(1, 1, 1) < 0);
}

static double value(int64_t wait, uint32_t minutes, uint32_t nodes) {
    double ratio = (double) wait / (60.0 * minutes);
    return ratio * ratio * ratio * nodes;
}

TEST(the_order_is_that_of_the_formula) {
    struct rng rng;
    rng_seed(&rng, 7);
    for (unsigned i = 0; i < 20000; i++) {
        int64_t wait[2];
        uint32_t minutes[2], nodes[2];
        for (unsigned k = 0; k < 2; k++) {
            wait[k] = 1 + (int64_t) rng_below(&rng, 1000000);
            minutes[k] = 1 + (uint32_t) rng_below(&rng, 10000);
            nodes[k] = 1 + (uint32_t) rng_below(&rng, 1000);
        }
        double a = value(wait[0], minutes[0], nodes[0]), b = value(wait[1], minutes[1], nodes[1]);
        if (a > b * 1.00001)
            assert_true(term(wait[0], minutes[0], nodes[0]) > term(wait[1], minutes[1], nodes[1]));
    }
}

static const char conf_text[] = "SelectTypeParameters=CR_CPU\nMinJobAge=20\n"
                                "SchedulerParameters=sluice_order=wfp3\n"
                                "NodeName=n1 CPUs=1 RealMemory=1000\n"
                                "PartitionName=main Nodes=ALL Default=YES\n";

static uint32_t submit(struct world *world, uint32_t minutes) {
    struct job_request request;
    world_request(&request);
    request.time_limit = minutes;
    return world_submit(world, &request, NULL);
}

TEST(a_short_job_overtakes_a_long_one_as_it_waits) {
    struct world world;
    struct job job;
    world_start(&world, conf_text);
    world_all_connect(&world);
    uint32_t running = submit(&world, 20), wide = submit(&world, 1000);
    world_pass_time(&world, 30);
    uint32_t brief = submit(&world, 10);
    assert_true(world_look(&world, wide, &job));
    uint32_t before = job.priority;
    world_pass_time(&world, 400); /* PriorityCalcPeriod is 5 minutes */
    assert_true(world_look(&world, wide, &job));
    assert_true(job.priority > before);
    uint32_t of_wide = job.priority;
    assert_true(world_look(&world, brief, &job));
    assert_true(job.priority > of_wide);
    world_script_ends(&world, running, 0);
    assert_int_equal(world_state(&world, brief), JOB_RUNNING);
    assert_int_equal(world_state(&world, wide), JOB_PENDING);
    world_stop(&world);
}

TEST(without_the_option_the_first_goes_first) {
    struct world world;
    cleanup_free char *text = xstrdup(conf_text);
    memset(strstr(text, "SchedulerParameters"), '#', 19);
    world_start(&world, text);
    world_all_connect(&world);
    uint32_t running = submit(&world, 20), wide = submit(&world, 1000), brief = submit(&world, 10);
    world_pass_time(&world, 400);
    world_script_ends(&world, running, 0);
    assert_int_equal(world_state(&world, wide), JOB_RUNNING);
    assert_int_equal(world_state(&world, brief), JOB_PENDING);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_factor_of_two_is_a_step_of_the_same_size_wherever_it_is),
        cmocka_unit_test(the_order_is_that_of_the_formula),
        cmocka_unit_test(a_short_job_overtakes_a_long_one_as_it_waits),
        cmocka_unit_test(without_the_option_the_first_goes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
