/* SPDX-License-Identifier: Apache-2.0 */
/* scontrol update job: who may change what, and what a listing shows then. */
#include <string.h>

#include "unit.h"
#include "world.h"

static char *text_of(const char *text) {
    return (char *) (uintptr_t) text;
}

static void begin(struct world *world) {
    world_start(world, "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=100\n"
                       "NodeName=n[1-2] CPUs=4 RealMemory=1000\n"
                       "PartitionName=main Nodes=n[1-2] Default=YES MaxTime=1-0\n");
    world_all_connect(world);
    world->uid = 1000; /* not root, who may do anything */
}

TEST(an_owner_raises_the_limit_of_a_waiting_job_up_to_the_partitions) {
    struct world world;
    struct job_request request;
    struct job job;
    begin(&world);
    world_request(&request);
    request.hold = true;
    request.time_limit = 60;
    uint32_t id = world_submit(&world, &request, NULL);
    assert_int_equal(world_update(&world, "job", "1", "TimeLimit", "1-0"), 0);
    assert_int_equal(world_update(&world, "job", "1", "TimeLimit", "2-0"), ERR_ACCESS_DENIED);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.time_limit, 1440);
    world_stop(&world);
}

TEST(an_owner_lowers_the_limit_of_a_running_job_only) {
    struct world world;
    struct job_request request;
    begin(&world);
    world_request(&request);
    request.time_limit = 60;
    (void) world_submit(&world, &request, NULL);
    assert_int_equal(world_update(&world, "job", "1", "TimeLimit", "61"), ERR_ACCESS_DENIED);
    assert_int_equal(world_update(&world, "job", "1", "TimeLimit", "30"), 0);
    world_stop(&world);
}

TEST(a_begin_time_shows_until_it_has_come) {
    struct world world;
    struct job_request request;
    struct job job;
    begin(&world);
    world_request(&request);
    request.begin_time = world.now + 1000;
    uint32_t id = world_submit(&world, &request, NULL);
    world_turn(&world);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.reason, REASON_BEGIN_TIME);
    assert_int_equal(job.start_time, world.now + 1000);
    assert_int_equal(world_update(&world, "job", "1", "StartTime", "now+2hours"), 0);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.start_time, world.now + 7200);
    assert_int_equal(job.eligible_time, world.now + 7200);
    assert_int_equal(world_update(&world, "job", "1", "StartTime", "now"), 0);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_RUNNING);
    assert_int_equal(job.eligible_time, world.now);
    world_stop(&world);
}

TEST(a_held_job_shows_its_dependencies_as_open) {
    struct world world;
    struct job_request request;
    struct job job;
    begin(&world);
    world_request(&request);
    request.hold = true;
    request.dependency = text_of("singleton");
    uint32_t id = world_submit(&world, &request, NULL);
    assert_true(world_look(&world, id, &job));
    assert_string_equal(job.dependency, "singleton(unfulfilled)");
    assert_int_equal(job.reason, REASON_HELD_USER);
    assert_int_equal(world_update(&world, "job", "1", "Dependency", ""), 0);
    assert_true(world_look(&world, id, &job));
    assert_null(job.dependency);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_owner_raises_the_limit_of_a_waiting_job_up_to_the_partitions),
        cmocka_unit_test(an_owner_lowers_the_limit_of_a_running_job_only),
        cmocka_unit_test(a_begin_time_shows_until_it_has_come),
        cmocka_unit_test(a_held_job_shows_its_dependencies_as_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
