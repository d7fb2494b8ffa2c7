/* SPDX-License-Identifier: Apache-2.0 */
/* Job arrays: one record, tasks that leave it, the throttle. */
#include <string.h>

#include "unit.h"
#include "world.h"

static const char conf_text[] = "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=10\n"
                                "MaxArraySize=101\nMaxJobCount=120\nMinJobAge=20\n"
                                "NodeName=n[1-2] CPUs=2 RealMemory=1000\n"
                                "PartitionName=main Nodes=ALL Default=YES\n";

static void begin(struct world *world) {
    world_start(world, conf_text);
    world_all_connect(world);
}

static uint32_t submit(struct world *world, const char *spec, bool hold) {
    struct job_request request;
    world_request(&request);
    request.array_spec = (char *) (uintptr_t) spec;
    request.hold = hold;
    return world_submit(world, &request, NULL);
}

static void refused(struct world *world, const char *spec) {
    struct job_request request;
    int code;
    world_request(&request);
    request.array_spec = (char *) (uintptr_t) spec;
    if (world_submit(world, &request, &code) != 0)
        fail_msg("%s was accepted", spec);
    assert_int_equal(code, ERR_INVALID_ARRAY);
}

/* The exit status that somebody who waits for the array has been told; UINT32_MAX: nothing yet. */
static uint32_t told(struct world *world, uint64_t client) {
    struct arena arena;
    arena_init(&arena, 0);
    const struct job_end *end = world_answer(world, client, MSG_JOB_END, &arena);
    uint32_t status = end != NULL ? end->exit_status : UINT32_MAX;
    arena_done(&arena);
    return status;
}

TEST(who_waits_for_an_array_hears_the_highest_code_when_all_tasks_have_ended) {
    struct world world;
    begin(&world);
    uint32_t id = submit(&world, "1-5", false);
    struct alloc_end wait = {.job_id = id};
    uint64_t client = world_send(&world, MSG_JOB_WAIT, &wait);
    for (uint32_t task = 1; task <= 3; task++)
        world_script_ends(&world, world_task(&world, id, task), task == 2 ? 7 << 8 : 0);
    world_pass_time(&world, 30);                             /* their records leave */
    world_script_ends(&world, world_task(&world, id, 4), 9); /* SIGKILL */
    assert_int_equal(told(&world, client), UINT32_MAX);
    world_script_ends(&world, world_task(&world, id, 5), 3 << 8);
    assert_int_equal(told(&world, client), 7 << 8);
    assert_int_equal(told(&world, world_send(&world, MSG_JOB_WAIT, &wait)), 7 << 8);
    world_stop(&world);
}

TEST(a_cancelled_array_is_over_for_those_who_wait) {
    struct world world;
    begin(&world);
    uint32_t id = submit(&world, "1-9", false);
    struct alloc_end wait = {.job_id = id};
    uint64_t client = world_send(&world, MSG_JOB_WAIT, &wait);
    uint64_t gone = world_send(&world, MSG_JOB_WAIT, &wait);
    core_client_gone(world.core, world.now, gone, &world.effects);
    assert_int_equal(world_kill(&world, "1_[5,7-9]"), 0);
    assert_int_equal(told(&world, client), UINT32_MAX);
    assert_int_equal(world_kill(&world, "1"), 0);
    assert_int_equal(told(&world, client), 1 << 8);
    assert_int_equal(told(&world, gone), UINT32_MAX);
    world_stop(&world);
}

TEST(one_task_that_is_cancelled_while_it_runs_tells_who_waits_not_to_go_on) {
    struct world world;
    begin(&world);
    uint32_t id = submit(&world, "1-2", false);
    struct alloc_end wait = {.job_id = id};
    uint64_t client = world_send(&world, MSG_JOB_WAIT, &wait);
    assert_int_equal(world_kill(&world, "1_1"), 0);
    world_script_ends(&world, world_task(&world, id, 2), 0);
    assert_int_equal(told(&world, client), 1 << 8);
    world_stop(&world);
}

TEST(absurd_array_specs_are_refused) {
    static const char *const specs[] = {"",      "0-4000000", "0-101",  "5-1",       "a",
                                        "1-2%x", "-1",        "1-10:0", "4294967295"};
    struct world world;
    begin(&world);
    for (size_t i = 0; i < countof(specs); i++)
        refused(&world, specs[i]);
    assert_int_equal(submit(&world, "0-100", true), 1);
    struct job_request request;
    int code;
    world_request(&request);
    request.array_spec = (char *) (uintptr_t) "0-20";
    assert_int_equal(world_submit(&world, &request, &code), 0);
    assert_int_equal(code, ERR_JOB_COUNT); /* every task counts as a job */
    world_stop(&world);
}

TEST(an_array_may_be_bounded_below_the_largest_index) {
    struct world world;
    cleanup_free char *text = xasprintf("%sSchedulerParameters=max_array_tasks=3\n", conf_text);
    world_start(&world, text);
    world_all_connect(&world);
    refused(&world, "0-3");
    assert_int_equal(submit(&world, "1,50,100", true), 1);
    world_stop(&world);
}

TEST(a_throttle_of_zero_is_none) {
    struct world world;
    begin(&world);
    assert_int_equal(submit(&world, "0-9%0", false), 1);
    assert_int_equal(world.n_launched, 4);
    world_stop(&world);
}

TEST(tasks_given_twice_run_once) {
    struct world world;
    struct job job;
    begin(&world);
    uint32_t id = submit(&world, "3,1-4,2,3", true);
    assert_true(world_look(&world, id, &job));
    assert_string_equal(job.array_tasks, "1-4");
    world_stop(&world);
}

TEST(tasks_start_in_order_and_the_last_one_keeps_the_arrays_id) {
    struct world world;
    struct job job;
    begin(&world);
    uint32_t id = submit(&world, "1-3", false);
    assert_true(world_look(&world, id + 1, &job));
    assert_int_equal(job.array_task_id, 1);
    assert_int_equal(job.array_job_id, id);
    assert_true(world_look(&world, id + 2, &job));
    assert_int_equal(job.array_task_id, 2);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.array_task_id, 3);
    assert_int_equal(job.state, JOB_RUNNING);
    assert_null(job.array_tasks);
    world_stop(&world);
}

TEST(the_throttle_can_be_changed_while_tasks_run) {
    struct world world;
    begin(&world);
    submit(&world, "1-9%1", false);
    assert_int_equal(world.n_launched, 1);
    assert_int_equal(world_update(&world, "job", "1", "ArrayTaskThrottle", "3"), 0);
    assert_int_equal(world.n_launched, 3);
    assert_int_equal(world_update(&world, "job", "1", "ArrayTaskThrottle", "0"), 0);
    assert_int_equal(world.n_launched, 4);
    world_stop(&world);
}

TEST(a_task_that_is_requeued_runs_again_under_its_id) {
    struct world world;
    struct job job;
    begin(&world);
    uint32_t id = submit(&world, "1-3", false);
    assert_int_equal(world_verb(&world, VERB_REQUEUE, "1_2"), 0);
    world_pass_time(&world, 200);
    assert_true(world_look(&world, id + 2, &job));
    assert_int_equal(job.array_task_id, 2);
    assert_int_equal(job.state, JOB_RUNNING);
    assert_int_equal(job.restarts, 1);
    world_stop(&world);
}

TEST(one_task_can_be_held_and_released_apart) {
    struct world world;
    struct job_request request;
    struct job job;
    begin(&world);
    world_request(&request);
    request.array_spec = (char *) (uintptr_t) "1-3";
    request.begin_time = world.now + 100;
    uint32_t id = world_submit(&world, &request, NULL);
    assert_int_equal(world_verb(&world, VERB_HOLD, "1_2"), 0);
    assert_true(world_look(&world, id, &job));
    assert_string_equal(job.array_tasks, "1,3");
    world_pass_time(&world, 150);
    assert_true(world_look(&world, id + 1, &job));
    assert_int_equal(job.array_task_id, 2);
    assert_int_equal(job.priority, 0);
    assert_int_equal(world.n_launched, 2);
    assert_int_equal(world_verb(&world, VERB_RELEASE, "1_2"), 0);
    assert_int_equal(world.n_launched, 3);
    world_stop(&world);
}

TEST(a_task_named_by_a_verb_that_is_refused_starts_like_the_others) {
    struct world world;
    struct job_request request;
    begin(&world);
    world.uid = 1000;
    world_request(&request);
    request.array_spec = (char *) (uintptr_t) "1-4";
    request.begin_time = world.now + 100;
    uint32_t id = world_submit(&world, &request, NULL);
    assert_int_equal(world_verb(&world, VERB_REQUEUE, "1_2"), ERR_JOB_PENDING);
    assert_int_equal(world_update(&world, "job", "1_3", "NoSuchKey", "1"), ERR_UPDATE_KEY);
    assert_int_equal(world_verb(&world, VERB_SUSPEND, "1_4"), ERR_JOB_PENDING);
    world_pass_time(&world, 150);
    assert_int_equal(world.n_launched, 4);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_stop(&world);
}

TEST(others_cannot_take_an_array_apart) {
    struct world world;
    struct job job;
    begin(&world);
    world.uid = 1000;
    uint32_t id = submit(&world, "1-4", true);
    world.uid = 2000;
    assert_int_equal(world_kill(&world, "1_2"), ERR_ACCESS_DENIED);
    assert_int_equal(world_verb(&world, VERB_RELEASE, "1_[1-3]"), ERR_USER_ID);
    assert_int_equal(world_update(&world, "job", "1_2", "Name", "x"), ERR_USER_ID);
    assert_true(world_look(&world, id, &job));
    assert_string_equal(job.array_tasks, "1-4");
    assert_int_equal(core_job_count(world.core), 4);
    world_stop(&world);
}

TEST(a_range_of_ids_beyond_the_array_costs_nothing) {
    struct world world;
    struct job job;
    begin(&world);
    uint32_t id = submit(&world, "1-4", true);
    assert_int_equal(world_kill(&world, "1_[3-4294967293]"), 0);
    assert_true(world_look(&world, id, &job));
    assert_string_equal(job.array_tasks, "1-2");
    assert_int_equal(world_kill(&world, "1_[5-4294967293]"), ERR_INVALID_JOB_ID);
    world_stop(&world);
}

TEST(all_tasks_can_be_named_one_by_one) {
    struct world world;
    struct job job;
    begin(&world);
    uint32_t id = submit(&world, "1-4", true);
    assert_int_equal(world_verb(&world, VERB_UHOLD, "1_[1-4]"), 0);
    assert_int_equal(core_job_count(world.core), 4);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(world_look(&world, id + i, &job));
        assert_null(job.array_tasks);
        seen |= 1u << job.array_task_id;
    }
    assert_int_equal(seen, 0x1e);
    world_stop(&world);
}

TEST(the_deadline_of_a_task_apart_is_kept) {
    struct world world;
    struct job_request request;
    begin(&world);
    world_request(&request);
    request.array_spec = (char *) (uintptr_t) "1-3";
    request.hold = true;
    request.deadline = world.now + 100;
    uint32_t id = world_submit(&world, &request, NULL);
    assert_int_equal(world_update(&world, "job", "1_2", "Name", "x"), 0);
    world_pass_time(&world, 105);
    assert_int_equal(world_state(&world, id + 1), JOB_DEADLINE);
    assert_int_equal(world_state(&world, id), JOB_DEADLINE);
    world_stop(&world);
}

TEST(tasks_survive_a_restart_with_their_throttle) {
    struct world world;
    begin(&world);
    submit(&world, "1-9%2", false);
    world_restart(&world);
    world_all_connect(&world);
    assert_int_equal(world.n_launched, 2);
    world_script_ends(&world, 2, 0);
    assert_int_equal(world.n_launched, 3);
    world_stop(&world);
}

TEST(a_long_range_leaves_the_array_as_one_record) {
    struct world world;
    struct job job;
    world_start(&world, "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=10\nMinJobAge=20\n"
                        "NodeName=n[1-2] CPUs=2 RealMemory=1000\n"
                        "PartitionName=main Nodes=ALL Default=YES\n");
    world_all_connect(&world);
    uint32_t id = submit(&world, "0-999999", true);
    assert_int_equal(core_job_count(world.core), 1000000);
    assert_int_equal(world_kill(&world, "1_[0-399999]"), 0);
    assert_int_equal(core_next_job_id(world.core), 3);
    assert_true(world_look(&world, 2, &job));
    assert_int_equal(job.state, JOB_CANCELLED);
    assert_string_equal(job.array_tasks, "0-399999");
    assert_true(world_look(&world, id, &job));
    assert_string_equal(job.array_tasks, "400000-999999");
    /* What is over is one record for MaxJobCount. */
    assert_int_equal(core_job_count(world.core), 600001);
    world_restart(&world);
    assert_int_equal(core_job_count(world.core), 600001);
    (void) world_kill(&world, "1"); /* one of its records is over already */
    world_pass_time(&world, 30);
    assert_int_equal(core_job_count(world.core), 0);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(absurd_array_specs_are_refused),
        cmocka_unit_test(an_array_may_be_bounded_below_the_largest_index),
        cmocka_unit_test(a_throttle_of_zero_is_none),
        cmocka_unit_test(tasks_given_twice_run_once),
        cmocka_unit_test(tasks_start_in_order_and_the_last_one_keeps_the_arrays_id),
        cmocka_unit_test(the_throttle_can_be_changed_while_tasks_run),
        cmocka_unit_test(a_task_that_is_requeued_runs_again_under_its_id),
        cmocka_unit_test(one_task_can_be_held_and_released_apart),
        cmocka_unit_test(a_task_named_by_a_verb_that_is_refused_starts_like_the_others),
        cmocka_unit_test(others_cannot_take_an_array_apart),
        cmocka_unit_test(a_range_of_ids_beyond_the_array_costs_nothing),
        cmocka_unit_test(all_tasks_can_be_named_one_by_one),
        cmocka_unit_test(the_deadline_of_a_task_apart_is_kept),
        cmocka_unit_test(who_waits_for_an_array_hears_the_highest_code_when_all_tasks_have_ended),
        cmocka_unit_test(a_cancelled_array_is_over_for_those_who_wait),
        cmocka_unit_test(one_task_that_is_cancelled_while_it_runs_tells_who_waits_not_to_go_on),
        cmocka_unit_test(tasks_survive_a_restart_with_their_throttle),
        cmocka_unit_test(a_long_range_leaves_the_array_as_one_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
