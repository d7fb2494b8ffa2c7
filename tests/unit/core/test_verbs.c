/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a record when its job is cancelled, resumed or killed. */
#include <string.h>

#include "unit.h"
#include "world.h"

static void begin(struct world *world) {
    world_start(world, "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=100\n"
                       "NodeName=n[1-2] CPUs=4 RealMemory=1000\n"
                       "PartitionName=main Nodes=ALL Default=YES\n");
    world_all_connect(world);
}

TEST(a_cancelled_job_keeps_why_it_had_waited) {
    struct world world;
    struct job_request request;
    struct job job;
    begin(&world);
    world_request(&request);
    request.hold = true;
    uint32_t id = world_submit(&world, &request, NULL);
    assert_int_equal(world_kill(&world, "1"), 0);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_CANCELLED);
    assert_int_equal(job.reason, REASON_HELD_USER);
    world_stop(&world);
}

TEST(a_cancelled_run_has_no_reason_and_no_exit_code) {
    struct world world;
    struct job job;
    begin(&world);
    uint32_t id = world_job(&world);
    assert_int_equal(world_kill(&world, "1"), 0);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_CANCELLED);
    assert_int_equal(job.reason, REASON_NONE);
    assert_int_equal(job.exit_status, 0);
    world_stop(&world);
}

TEST(only_a_suspended_job_is_resumed) {
    struct world world;
    begin(&world);
    (void) world_job(&world);
    assert_int_equal(world_verb(&world, VERB_RESUME, "1"), ERR_NOT_SUSPENDED);
    assert_int_equal(world_verb(&world, VERB_SUSPEND, "1"), 0);
    assert_int_equal(world_verb(&world, VERB_RESUME, "1"), 0);
    world_stop(&world);
}

TEST(the_reason_names_the_signal_that_ended_a_script) {
    struct world world;
    struct job job;
    begin(&world);
    uint32_t id = world_job(&world);
    world_script_ends(&world, id, 9);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_FAILED);
    assert_int_equal(job.reason, REASON_RAISED_SIGNAL);
    assert_string_equal(job.state_desc, "RaisedSignal:9(Killed)");
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cancelled_job_keeps_why_it_had_waited),
        cmocka_unit_test(a_cancelled_run_has_no_reason_and_no_exit_code),
        cmocka_unit_test(only_a_suspended_job_is_resumed),
        cmocka_unit_test(the_reason_names_the_signal_that_ended_a_script),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
