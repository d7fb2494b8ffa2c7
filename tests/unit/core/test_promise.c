/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that start later than they were told, and what they are told about it. */
#include <string.h>

#include "unit.h"
#include "world.h"

static const char conf_text[] = "SelectTypeParameters=CR_CPU\nMinJobAge=20\n"
                                "NodeName=n[1-2] CPUs=2 RealMemory=1000\n"
                                "PartitionName=main Nodes=ALL Default=YES\n";

static uint32_t submit(struct world *world, uint32_t nodes, uint32_t minutes) {
    struct job_request request;
    world_request(&request);
    request.min_nodes = request.max_nodes = nodes;
    request.exclusive = EXCLUSIVE_NODE;
    request.time_limit = minutes;
    return world_submit(world, &request, NULL);
}

/* One job runs for 10 minutes on one of the two nodes, another waits for both. */
static uint32_t begin(struct world *world, uint32_t *ret_running) {
    world_start(world, conf_text);
    world_all_connect(world);
    *ret_running = submit(world, 1, 10);
    return submit(world, 2, 10);
}

static uint64_t n_broken(struct world *world) {
    struct core_counters counters;
    core_counters(world->core, &counters);
    return counters.promises_broken;
}

TEST(a_lost_node_is_named) {
    struct world world;
    struct job job;
    uint32_t running, waiting = begin(&world, &running);
    assert_true(world_look(&world, waiting, &job));
    int64_t start = job.start_time;
    assert_true(start == world.now + 600);
    assert_int_equal(job.n_delays, 0);
    world_pass_time(&world, 60);
    world_node_lost(&world, 1);
    world_pass_time(&world, 600);
    assert_true(world_look(&world, waiting, &job));
    assert_int_equal(job.n_delays, 1);
    assert_true(job.promised_start == start);
    assert_true(job.delayed_to == 0);
    assert_string_equal(job.delay_cause, "node n2 went down");
    assert_int_equal(n_broken(&world), 1);
    world_stop(&world);
}

static void drain(struct world *world, const char *node) {
    struct key_value changes[] = {{(char *) (uintptr_t) "State", (char *) (uintptr_t) "DRAIN"},
                                  {(char *) (uintptr_t) "Reason", (char *) (uintptr_t) "disk"}};
    struct update update;
    record_init(&record_update, &update);
    update.entity = (char *) (uintptr_t) "node";
    update.target = (char *) (uintptr_t) node;
    update.changes.items = changes;
    update.changes.n = countof(changes);
    (void) world_send(world, MSG_UPDATE, &update);
    world_turn(world);
}

TEST(a_drained_node_is_called_drained) {
    struct world world;
    struct job job;
    uint32_t running, waiting = begin(&world, &running);
    world.uid = 0;
    drain(&world, "n2");
    assert_true(world_look(&world, waiting, &job));
    assert_int_equal(job.n_delays, 1);
    assert_string_equal(job.delay_cause, "node n2 was drained");
    assert_int_equal(job.reason, REASON_NODES_UNAVAILABLE);
    world_stop(&world);
}

TEST(a_raised_limit_moves_the_plan_and_is_named) {
    struct world world;
    struct job job;
    uint32_t running, waiting = begin(&world, &running);
    assert_true(world_look(&world, waiting, &job));
    int64_t start = job.start_time;
    cleanup_free char *id = xasprintf("%u", running);
    assert_int_equal(world_update(&world, "job", id, "timelimit", "30"), 0);
    assert_true(world_look(&world, waiting, &job));
    assert_int_equal(job.n_delays, 1);
    assert_true(job.promised_start == start && job.delayed_to == start + 1200);
    assert_true(job.start_time == start + 1200);
    cleanup_free char *text = xasprintf("the time limit of job %u was raised", running);
    assert_string_equal(job.delay_cause, text);
    world_stop(&world);
}

TEST(a_job_that_goes_first_is_named) {
    struct world world;
    struct job job;
    struct job_request request;
    uint32_t running, waiting = begin(&world, &running);
    world_request(&request);
    request.min_nodes = request.max_nodes = 2;
    request.time_limit = 10;
    request.requested_priority = 2000000;
    world.uid = 0;
    uint32_t first = world_submit(&world, &request, NULL);
    assert_true(world_look(&world, waiting, &job));
    assert_int_equal(job.n_delays, 1);
    cleanup_free char *text = xasprintf("job %u came in and goes first", first);
    assert_string_equal(job.delay_cause, text);
    world_stop(&world);
}

TEST(what_was_promised_is_kept_over_a_reconfiguration) {
    struct world world;
    struct job job;
    uint32_t running, waiting = begin(&world, &running);
    assert_true(world_look(&world, waiting, &job));
    int64_t start = job.start_time;
    assert_int_equal(world_reconfigure(&world, conf_text), 0);
    world_turn(&world);
    assert_true(world_look(&world, waiting, &job));
    assert_true(job.start_time == start);
    assert_int_equal(n_broken(&world), 0);
    world_stop(&world);
}

TEST(a_job_that_ends_by_its_limit_is_no_news) {
    struct world world;
    struct job job;
    uint32_t running, waiting = begin(&world, &running);
    world_pass_time(&world, 590);
    world_pass_time(&world, 20);
    assert_int_equal(world_state(&world, running), JOB_TIMEOUT);
    assert_true(world_look(&world, waiting, &job));
    assert_int_equal(job.n_delays, 0);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lost_node_is_named),
        cmocka_unit_test(a_drained_node_is_called_drained),
        cmocka_unit_test(a_raised_limit_moves_the_plan_and_is_named),
        cmocka_unit_test(a_job_that_goes_first_is_named),
        cmocka_unit_test(what_was_promised_is_kept_over_a_reconfiguration),
        cmocka_unit_test(a_job_that_ends_by_its_limit_is_no_news),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
