/* SPDX-License-Identifier: Apache-2.0 */
/* Dependencies on jobs that have left the controller, as history has them. */
#include <stdio.h>
#include <string.h>

#include "unit.h"
#include "world.h"

static const char conf_text[] = "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=10\n"
                                "MinJobAge=300\n"
                                "NodeName=n1 CPUs=16 RealMemory=1000\n"
                                "PartitionName=main Nodes=ALL Default=YES\n";

static void begin(struct world *world) {
    world_start(world, conf_text);
    world->keeps_history = true;
    world_all_connect(world);
}

static uint32_t submit(struct world *world, const char *dependency, int *ret_code) {
    struct job_request request;
    world_request(&request);
    request.name = (char *) (uintptr_t) "prep";
    request.dependency = (char *) (uintptr_t) dependency;
    return world_submit(world, &request, ret_code);
}

static uint32_t submit_array(struct world *world, const char *spec, const char *dependency,
                             bool hold) {
    struct job_request request;
    world_request(&request);
    request.array_spec = (char *) (uintptr_t) spec;
    request.dependency = (char *) (uintptr_t) dependency;
    request.hold = hold;
    return world_submit(world, &request, NULL);
}

/* A job that has ended so, and left. */
static uint32_t gone(struct world *world, uint32_t exit_status) {
    uint32_t id = submit(world, NULL, NULL);
    struct job job;
    world_script_ends(world, id, exit_status);
    world_pass_time(world, 400);
    assert_false(world_look(world, id, &job));
    return id;
}

static void runs(struct world *world, const char *dependency) {
    uint32_t id = submit(world, dependency, NULL);
    struct job job;
    assert_true(world_look(world, id, &job));
    assert_int_equal(job.state, JOB_RUNNING);
    assert_null(job.dependency);
}

static void never(struct world *world, const char *dependency, const char *shown,
                  const char *cause) {
    uint32_t id = submit(world, dependency, NULL);
    struct job job;
    assert_true(world_look(world, id, &job));
    assert_int_equal(job.state, JOB_PENDING);
    assert_int_equal(job.reason, REASON_DEPENDENCY_NEVER);
    assert_string_equal(job.dependency, shown);
    assert_string_equal(job.depend_cause, cause);
}

static void refused(struct world *world, const char *dependency) {
    int code;
    assert_int_equal(submit(world, dependency, &code), 0);
    assert_int_equal(code, ERR_DEPENDENCY);
}

TEST(a_job_that_is_gone_is_answered_from_history) {
    struct world world;
    begin(&world);
    assert_int_equal(gone(&world, 0), 1);
    assert_int_equal(gone(&world, 3 << 8), 2);
    runs(&world, "afterok:1");
    runs(&world, "afterany:1:2");
    runs(&world, "afternotok:2");
    runs(&world, "after:2");
    runs(&world, "afterok:1?afterok:2");
    never(&world, "afterok:2", "afterok:2(failed)",
          "afterok:2: job 2 (prep) ended FAILED, exit code 3:0");
    never(&world, "afternotok:1", "afternotok:1(failed)", "afternotok:1: job 1 ended COMPLETED");
    refused(&world, "afterok:999");
    refused(&world, "afterok:1_3"); /* it is no array */
    world_stop(&world);
}

TEST(without_history_a_job_that_is_gone_is_unknown) {
    struct world world;
    begin(&world);
    gone(&world, 0);
    world.keeps_history = false;
    refused(&world, "afterok:1");
    runs(&world, "afterany:1");
    world_stop(&world);
}

TEST(an_update_is_answered_from_history_as_well) {
    struct world world;
    begin(&world);
    gone(&world, 0);
    gone(&world, 1 << 8);
    struct job job;
    struct job_request request;
    world_request(&request);
    request.hold = true;
    uint32_t id = world_submit(&world, &request, NULL);
    assert_int_equal(world_update(&world, "job", "3", "Dependency", "afterok:2"), 0);
    assert_true(world_look(&world, id, &job));
    assert_string_equal(job.dependency, "afterok:2(failed)"); /* known at once, though it is held */
    assert_int_equal(world_update(&world, "job", "3", "Dependency", "afterok:1"), 0);
    assert_int_equal(world_verb(&world, VERB_RELEASE, "3"), 0);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_stop(&world);
}

TEST(an_array_that_is_gone_counts_as_a_whole_or_by_task) {
    struct world world;
    begin(&world);
    uint32_t array = submit_array(&world, "1-3", NULL, false);
    for (uint32_t task = 1; task <= 3; task++)
        world_script_ends(&world, world_task(&world, array, task), task == 2 ? 5 << 8 : 0);
    world_pass_time(&world, 400);
    never(&world, "afterok:1", "afterok:1_*(failed)",
          "afterok:1_*: job 1_2 (test) ended FAILED, exit code 5:0");
    never(&world, "afterok:1_2", "afterok:1_2(failed)",
          "afterok:1_2: job 1_2 (test) ended FAILED, exit code 5:0");
    runs(&world, "afterok:1_3");
    runs(&world, "afternotok:1");
    runs(&world, "afterany:1_*");
    refused(&world, "afterok:1_7");
    world_stop(&world);
}

TEST(tasks_follow_those_of_an_array_that_is_gone) {
    struct world world;
    begin(&world);
    struct job job;
    uint32_t array = submit_array(&world, "1-3", NULL, false);
    for (uint32_t task = 1; task <= 3; task++)
        world_script_ends(&world, world_task(&world, array, task), task == 2 ? 5 << 8 : 0);
    world_pass_time(&world, 400);
    for (int held = 0; held < 2; held++) {
        uint32_t second = submit_array(&world, "1-4", "aftercorr:1", held);
        uint32_t failed = world_task(&world, second, 2);
        assert_true(world_look(&world, failed, &job));
        assert_string_equal(job.dependency, "aftercorr:1_*(failed)");
        assert_string_equal(job.depend_cause,
                            "aftercorr:1_*: job 1_2 (test) ended FAILED, exit code 5:0");
        if (held) {
            char text[16];
            snprintf(text, sizeof(text), "%u", second);
            world_verb(&world, VERB_RELEASE, text);
        }
        assert_int_equal(world_state(&world, world_task(&world, second, 1)), JOB_RUNNING);
        assert_int_equal(world_state(&world, world_task(&world, second, 4)), JOB_RUNNING);
        assert_int_equal(world_state(&world, failed), JOB_PENDING);
    }
    world_stop(&world);
}

TEST(minutes_after_a_start_are_waited_for_though_the_job_has_left) {
    struct world world;
    begin(&world);
    gone(&world, 0); /* 400 seconds ago */
    uint32_t first = world_job(&world);
    uint32_t said_later = submit(&world, "after:1+10", NULL);
    uint32_t said_before = submit(&world, "after:2+20", NULL);
    world_script_ends(&world, first, 0);
    world_pass_time(&world, 190);
    assert_int_equal(world_state(&world, said_later), JOB_PENDING);
    world_pass_time(&world, 20);
    assert_int_equal(world_state(&world, said_later), JOB_RUNNING);
    world_pass_time(&world, 190); /* job 2 has left, too */
    assert_int_equal(world_state(&world, said_before), JOB_PENDING);
    world_restart(&world);
    world_all_connect(&world);
    world_pass_time(&world, 780);
    assert_int_equal(world_state(&world, said_before), JOB_PENDING);
    world_pass_time(&world, 30);
    assert_int_equal(world_state(&world, said_before), JOB_RUNNING);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_that_is_gone_is_answered_from_history),
        cmocka_unit_test(without_history_a_job_that_is_gone_is_unknown),
        cmocka_unit_test(an_update_is_answered_from_history_as_well),
        cmocka_unit_test(an_array_that_is_gone_counts_as_a_whole_or_by_task),
        cmocka_unit_test(tasks_follow_those_of_an_array_that_is_gone),
        cmocka_unit_test(minutes_after_a_start_are_waited_for_though_the_job_has_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
