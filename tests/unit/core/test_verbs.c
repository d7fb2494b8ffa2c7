/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a record when its job is cancelled, resumed or killed. */
#include <signal.h>
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

TEST(a_cancelled_run_has_no_reason_and_the_exit_code_of_its_script) {
    struct world world;
    struct job job;
    begin(&world);
    uint32_t id = world_job(&world);
    assert_int_equal(world_kill(&world, "1"), 0);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_CANCELLED);
    assert_int_equal(job.reason, REASON_NONE);
    assert_int_equal(job.exit_status, SIGTERM);
    assert_int_equal(job_accounted_exit(&job), 0);
    world_stop(&world);
}

TEST(only_a_suspended_job_is_resumed) {
    struct world world;
    struct job job;
    begin(&world);
    uint32_t id = world_job(&world);
    assert_int_equal(world_verb(&world, VERB_RESUME, "1"), ERR_NOT_SUSPENDED);
    assert_int_equal(world_verb(&world, VERB_SUSPEND, "1"), 0);
    assert_true(world_look(&world, id, &job));
    assert_memory_equal(job.suspended_by, "user", strlen("user"));
    assert_int_equal(world_verb(&world, VERB_RESUME, "1"), 0);
    assert_true(world_look(&world, id, &job));
    assert_null(job.suspended_by);
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

static int requeue(struct world *world, uint32_t verb, const char *id, const char *options) {
    struct job_verb_request request;
    struct job_select select;
    char *ids[] = {(char *) (uintptr_t) id};
    record_init(&record_job_verb_request, &request);
    record_init(&record_job_select, &select);
    select.ids = (struct strs) {ids, 1};
    request.verb = verb;
    request.select = &select;
    request.options = (char *) (uintptr_t) options;
    return world_code(world, world_send(world, MSG_JOB_VERB, &request));
}

TEST(a_job_is_requeued_into_a_special_state_until_it_is_released) {
    struct world world;
    struct job job;
    begin(&world);
    uint32_t id = world_job(&world);
    assert_int_equal(requeue(&world, VERB_REQUEUE_HOLD, "1", "specialexit"), 0);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_PENDING);
    assert_int_equal(job.flags, JOB_FLAG_SPECIAL_EXIT);
    assert_int_equal(world_verb(&world, VERB_HOLD, "1"), 0);
    assert_true(world_look(&world, id, &job));
    assert_string_equal(job.state_desc, "job requeued in held state");
    world_restart(&world);
    world_all_connect(&world);
    assert_int_equal(world_verb(&world, VERB_RELEASE, "1"), 0);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_stop(&world);
}

TEST(a_job_that_waits_is_not_requeued_into_being_held) {
    struct world world;
    struct job_request request;
    struct job job;
    begin(&world);
    world_request(&request);
    request.begin_time = world.now + 3600;
    uint32_t id = world_submit(&world, &request, NULL);
    assert_int_equal(requeue(&world, VERB_REQUEUE_HOLD, "1", NULL), ERR_JOB_PENDING);
    assert_int_equal(requeue(&world, VERB_REQUEUE_HOLD, "1", "specialexit"), ERR_JOB_PENDING);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.reason, REASON_BEGIN_TIME);
    assert_int_equal(job.flags & JOB_FLAG_SPECIAL_EXIT, 0);
    world_stop(&world);
}

TEST(incomplete_leaves_out_what_has_ended) {
    struct world world;
    begin(&world);
    uint32_t ended = world_job(&world), runs = world_job(&world);
    world_script_ends(&world, ended, 0);
    assert_int_equal(requeue(&world, VERB_REQUEUE, "1", "incomplete"), 0);
    assert_int_equal(world_state(&world, ended), JOB_COMPLETED);
    assert_int_equal(requeue(&world, VERB_REQUEUE_HOLD, "2", "incomplete"), 0);
    assert_int_equal(world_state(&world, runs), JOB_PENDING);
    world_stop(&world);
}

TEST(an_owner_may_change_a_job_that_an_operator_has_favoured) {
    struct world world;
    struct job_request request;
    begin(&world);
    world_request(&request);
    request.hold = true;
    world.uid = 1000;
    world_submit(&world, &request, NULL);
    world.uid = 0;
    assert_int_equal(world_update(&world, "job", "1", "Nice", "-5"), 0);
    world.uid = 1000;
    assert_int_equal(world_update(&world, "job", "1", "Comment", "mine"), 0);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_requeued_into_a_special_state_until_it_is_released),
        cmocka_unit_test(a_job_that_waits_is_not_requeued_into_being_held),
        cmocka_unit_test(incomplete_leaves_out_what_has_ended),
        cmocka_unit_test(an_owner_may_change_a_job_that_an_operator_has_favoured),
        cmocka_unit_test(a_cancelled_job_keeps_why_it_had_waited),
        cmocka_unit_test(a_cancelled_run_has_no_reason_and_the_exit_code_of_its_script),
        cmocka_unit_test(only_a_suspended_job_is_resumed),
        cmocka_unit_test(the_reason_names_the_signal_that_ended_a_script),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
