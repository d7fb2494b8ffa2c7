/* SPDX-License-Identifier: Apache-2.0 */
/* Expected starts as a listing shows them. */
#include "unit.h"
#include "world.h"

static const char conf_text[] = "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=100\n"
                                "NodeName=n1 CPUs=4 RealMemory=1000\n"
                                "PartitionName=main Nodes=ALL Default=YES\n";

static int64_t expected(struct world *world, uint32_t job_id) {
    struct job job;
    assert_true(world_look(world, job_id, &job));
    assert_int_equal(job.state, JOB_PENDING);
    return job.start_time;
}

/* A job for the whole node. */
static void request_node(struct job_request *request, uint32_t minutes) {
    world_request(request);
    request->cpus_per_task = 4;
    request->time_limit = minutes;
}

TEST(those_far_behind_the_head_have_a_time_too) {
    struct world world;
    struct job_request request;
    world_start(&world, conf_text);
    world_all_connect(&world);
    request_node(&request, 10);
    for (uint32_t id = 1; id <= 300; id++)
        assert_int_equal(world_submit(&world, &request, NULL), id);
    int64_t start = expected(&world, 2);
    assert_int_equal(start, world.now + 600);
    for (uint32_t id = 3; id <= 300; id++) {
        int64_t next = expected(&world, id);
        assert_true(next >= start);
        start = next;
    }
    assert_true(start >= world.now + 290 * 600 && start <= world.now + 310 * 600);
    world_stop(&world);
}

TEST(a_task_at_the_limit_of_its_array_waits_for_the_first_that_ends) {
    struct world world;
    struct job_request request;
    char tasks[] = "1-4%2";
    world_start(&world, conf_text);
    world_all_connect(&world);
    world_request(&request);
    request.time_limit = 10;
    request.array_spec = tasks;
    assert_int_equal(world_submit(&world, &request, NULL), 1);
    assert_int_equal(expected(&world, 1), world.now + 600);
    world_stop(&world);
}

TEST(nobody_knows_when_a_held_or_a_dependent_job_starts) {
    struct world world;
    struct job_request request;
    char dependency[] = "afterok:1";
    world_start(&world, conf_text);
    world_all_connect(&world);
    request_node(&request, 10);
    assert_int_equal(world_submit(&world, &request, NULL), 1);
    request.hold = true;
    assert_int_equal(world_submit(&world, &request, NULL), 2);
    assert_int_equal(expected(&world, 2), 0);
    request.begin_time = world.now + 5000; /* not before */
    assert_int_equal(world_submit(&world, &request, NULL), 3);
    assert_int_equal(expected(&world, 3), world.now + 5000);
    request_node(&request, 10);
    request.dependency = dependency;
    assert_int_equal(world_submit(&world, &request, NULL), 4);
    assert_int_equal(expected(&world, 4), 0);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_far_behind_the_head_have_a_time_too),
        cmocka_unit_test(a_task_at_the_limit_of_its_array_waits_for_the_first_that_ends),
        cmocka_unit_test(nobody_knows_when_a_held_or_a_dependent_job_starts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
