/* SPDX-License-Identifier: Apache-2.0 */
/* Dependencies of every type, and how they end.
 * Covers: depend_circle.c depend_corr.c depend_index.c depend_text.c singleton.c */
#include <stdio.h>
#include <string.h>

#include "unit.h"
#include "world.h"

static const char conf_text[] = "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=10\n"
                                "MinJobAge=60000\n"
                                "NodeName=n1 CPUs=16 RealMemory=1000\n"
                                "PartitionName=main Nodes=ALL Default=YES\n";

static void begin(struct world *world) {
    world_start(world, conf_text);
    world_all_connect(world);
}

static uint32_t submit(struct world *world, const char *dependency, uint32_t kill) {
    struct job_request request;
    world_request(&request);
    request.dependency = (char *) (uintptr_t) dependency;
    request.kill_on_invalid_dep = kill;
    return world_submit(world, &request, NULL);
}

static void refused(struct world *world, const char *dependency) {
    struct job_request request;
    int code;
    world_request(&request);
    request.dependency = (char *) (uintptr_t) dependency;
    if (world_submit(world, &request, &code) != 0)
        fail_msg("%s was accepted", dependency);
    assert_int_equal(code, ERR_DEPENDENCY);
}

static void waits(struct world *world, uint32_t id, const char *dependency, uint32_t reason) {
    struct job job;
    assert_true(world_look(world, id, &job));
    assert_int_equal(job.state, JOB_PENDING);
    assert_string_equal(job.dependency, dependency);
    assert_int_equal(job.reason, reason);
}

TEST(each_type_waits_for_its_event) {
    struct world world;
    begin(&world);
    uint32_t good = world_job(&world), bad = world_job(&world);
    uint32_t any = submit(&world, "afterany:1:2", 0), ok = submit(&world, "afterok:1", 0);
    uint32_t not_ok = submit(&world, "afternotok:2", 0), bare = submit(&world, "2", 0);
    uint32_t never = submit(&world, "afternotok:1", 0);
    waits(&world, any, "afterany:1(unfulfilled),afterany:2(unfulfilled)", REASON_DEPENDENCY);
    waits(&world, bare, "afterany:2(unfulfilled)", REASON_DEPENDENCY);
    world_script_ends(&world, good, 0);
    assert_int_equal(world_state(&world, ok), JOB_RUNNING);
    waits(&world, any, "afterany:2(unfulfilled)", REASON_DEPENDENCY);
    waits(&world, never, "afternotok:1(failed)", REASON_DEPENDENCY_NEVER);
    world_script_ends(&world, bad, 1 << 8);
    assert_int_equal(world_state(&world, any), JOB_RUNNING);
    assert_int_equal(world_state(&world, bare), JOB_RUNNING);
    assert_int_equal(world_state(&world, not_ok), JOB_RUNNING);
    world_stop(&world);
}

TEST(after_waits_for_the_start_and_its_minutes) {
    struct world world;
    struct job_request request;
    begin(&world);
    world_request(&request);
    request.hold = true;
    world_submit(&world, &request, NULL);
    uint32_t at_start = submit(&world, "after:1", 0), later = submit(&world, "after:1+5", 0);
    world_pass_time(&world, 1000);
    waits(&world, at_start, "after:1(unfulfilled)", REASON_DEPENDENCY);
    assert_int_equal(world_verb(&world, VERB_RELEASE, "1"), 0);
    assert_int_equal(world_state(&world, at_start), JOB_RUNNING);
    world_pass_time(&world, 290);
    waits(&world, later, "after:1+5(unfulfilled)", REASON_DEPENDENCY);
    /* Nothing else happens: the clock alone lets it go. */
    world_pass_time(&world, 15);
    assert_int_equal(world_state(&world, later), JOB_RUNNING);
    world_stop(&world);
}

TEST(one_of_several_is_enough_with_a_question_mark) {
    struct world world;
    begin(&world);
    uint32_t first = world_job(&world);
    world_job(&world);
    uint32_t either = submit(&world, "afterok:1?afterok:2", 0);
    waits(&world, either, "afterok:1(unfulfilled)?afterok:2(unfulfilled)", REASON_DEPENDENCY);
    world_script_ends(&world, first, 1 << 8);
    waits(&world, either, "afterok:1(failed)?afterok:2(unfulfilled)", REASON_DEPENDENCY);
    world_script_ends(&world, 2, 0);
    assert_int_equal(world_state(&world, either), JOB_RUNNING);
    refused(&world, "afterok:1?afterok:2,afterok:1");
    world_stop(&world);
}

TEST(singletons_of_a_name_and_user_run_one_after_the_other) {
    struct world world;
    begin(&world);
    uint32_t first = submit(&world, "singleton", 0), second = submit(&world, "singleton", 0);
    uint32_t third = submit(&world, "singleton", 0);
    world.uid = 1000;
    uint32_t other = submit(&world, "singleton", 0);
    assert_int_equal(world_state(&world, first), JOB_RUNNING);
    assert_int_equal(world_state(&world, other), JOB_RUNNING);
    waits(&world, second, "singleton(unfulfilled)", REASON_DEPENDENCY);
    world_script_ends(&world, first, 1 << 8);
    assert_int_equal(world_state(&world, second), JOB_RUNNING);
    assert_int_equal(world_state(&world, third), JOB_PENDING);
    world_stop(&world);
}

TEST(a_singleton_waits_until_nothing_is_left_of_the_one_before) {
    struct world world;
    struct job job;
    begin(&world);
    uint32_t first = submit(&world, "singleton", 0), second = submit(&world, "singleton", 0);
    char id[16];
    (void) snprintf(id, sizeof(id), "%u", first);
    world_node_lost(&world, 0);
    assert_int_equal(world_kill(&world, id), 0);
    assert_true(world_look(&world, first, &job));
    assert_int_equal(job.state, JOB_CANCELLED);
    assert_true((job.flags & JOB_FLAG_COMPLETING) != 0);
    waits(&world, second, "singleton(unfulfilled)", REASON_DEPENDENCY);
    world_all_connect(&world);
    assert_int_equal(world_state(&world, second), JOB_RUNNING);
    world_stop(&world);
}

TEST(a_singleton_waits_for_a_younger_job_of_its_name_that_runs_until_it_is_gone) {
    struct world world;
    char id[16];
    begin(&world);
    uint32_t first = world_job(&world), single = submit(&world, "singleton", 0);
    uint32_t young = world_job(&world);
    (void) snprintf(id, sizeof(id), "%u", young);
    world_script_ends(&world, first, 0);
    waits(&world, single, "singleton(unfulfilled)", REASON_DEPENDENCY);
    world_node_lost(&world, 0);
    assert_int_equal(world_kill(&world, id), 0);
    waits(&world, single, "singleton(unfulfilled)", REASON_DEPENDENCY);
    world_all_connect(&world);
    assert_int_equal(world_state(&world, single), JOB_RUNNING);
    world_stop(&world);
}

TEST(arrays_as_targets_count_as_a_whole_or_by_task) {
    struct world world;
    struct job_request request;
    begin(&world);
    world_request(&request);
    request.array_spec = (char *) (uintptr_t) "1-2";
    world_submit(&world, &request, NULL); /* 1 and 2: tasks 2 and 1 */
    uint32_t whole = submit(&world, "afterok:1", 0), task = submit(&world, "afterany:1_1", 0);
    request.dependency = (char *) (uintptr_t) "aftercorr:1";
    world_submit(&world, &request, NULL);
    waits(&world, whole, "afterok:1_*(unfulfilled)", REASON_DEPENDENCY);
    waits(&world, task, "afterany:1_1(unfulfilled)", REASON_DEPENDENCY);
    world_script_ends(&world, 2, 0);
    assert_int_equal(world_state(&world, task), JOB_RUNNING);
    assert_int_equal(world_state(&world, whole), JOB_PENDING);
    world_script_ends(&world, 1, 0);
    assert_int_equal(world_state(&world, whole), JOB_RUNNING);
    world_stop(&world);
}

TEST(what_cannot_be_meant_is_refused) {
    static const char *const bad[] = {"afterok:",    "afterok:x",  "nope:1",
                                      "singleton:3", "afterok:99", "afternotok:99",
                                      "afterany:0",  "1_1",        "afterok:4294967296",
                                      "after:1+x",   ":",          "afterok"};
    struct world world;
    struct job_request request;
    int code;
    begin(&world);
    world_job(&world);
    for (size_t i = 0; i < countof(bad); i++)
        refused(&world, bad[i]);
    world_request(&request);
    request.dependency = text_of("expand:1");
    assert_int_equal(world_submit(&world, &request, &code), 0);
    assert_int_equal(code, ERR_NOT_SUPPORTED);
    assert_int_equal(world_state(&world, submit(&world, "afterany:99", 0)), JOB_RUNNING);
    world_stop(&world);
}

TEST(a_huge_number_of_dependencies_is_refused) {
    struct world world;
    struct str text cleanup_str = STR_INIT;
    begin(&world);
    world_job(&world);
    str_append(&text, "afterany");
    for (int i = 0; i < 100000; i++)
        str_printf(&text, ":%d", i + 1);
    refused(&world, text.data);
    world_stop(&world);
}

TEST(jobs_cannot_wait_for_each_other) {
    struct world world;
    struct job_request request;
    begin(&world);
    world_request(&request);
    request.hold = true;
    uint32_t first = world_submit(&world, &request, NULL);
    submit(&world, "afterany:1", 0);
    submit(&world, "afterany:2", 0);
    assert_int_equal(world_update(&world, "job", "1", "Dependency", "afterok:3"), ERR_DEPENDENCY);
    assert_int_equal(world_update(&world, "job", "1", "Dependency", "afterok:1"), ERR_DEPENDENCY);
    struct job job;
    assert_true(world_look(&world, first, &job));
    assert_null(job.dependency);
    world_stop(&world);
}

TEST(a_dependency_that_never_comes_true_ends_the_job_when_asked) {
    struct world world;
    begin(&world);
    uint32_t first = world_job(&world);
    uint32_t killed = submit(&world, "afterok:1", TRI_YES),
             stays = submit(&world, "afterok:1", TRI_NO);
    world_script_ends(&world, first, 1 << 8);
    assert_int_equal(world_state(&world, killed), JOB_CANCELLED);
    waits(&world, stays, "afterok:1(failed)", REASON_DEPENDENCY_NEVER);
    /* Known at once when the end is known. */
    assert_int_equal(world_state(&world, submit(&world, "afterok:1", TRI_YES)), JOB_CANCELLED);
    world_stop(&world);
}

/* Each job that is given up lets others go or gives them up in turn, within one event. */
TEST(a_chain_of_dependents_falls_with_its_head) {
    struct world world;
    char text[64];
    begin(&world);
    uint32_t first = world_job(&world);
    for (uint32_t i = 1; i <= 300; i++) {
        snprintf(text, sizeof(text), "afterok:%u", i);
        submit(&world, text, TRI_YES);
    }
    uint32_t any = submit(&world, "afterany:301:2", 0), next = submit(&world, "afterany:2", 0);
    uint32_t not_ok = submit(&world, "afternotok:150,afterany:300", 0);
    world_script_ends(&world, first, 1 << 8);
    assert_int_equal(world_state(&world, 301), JOB_CANCELLED);
    assert_int_equal(world_state(&world, any), JOB_RUNNING);
    assert_int_equal(world_state(&world, next), JOB_RUNNING);
    assert_int_equal(world_state(&world, not_ok), JOB_RUNNING);
    world_stop(&world);
}

TEST(an_update_replaces_or_clears_a_dependency) {
    struct world world;
    struct job job;
    begin(&world);
    world_job(&world);
    uint32_t id = submit(&world, "afterok:1", 0);
    assert_int_equal(world_update(&world, "job", "2", "Dependency", "afterany:1"), 0);
    waits(&world, id, "afterany:1(unfulfilled)", REASON_DEPENDENCY);
    /* What is shown may be given back. */
    assert_int_equal(world_update(&world, "job", "2", "Dependency", "afternotok:1(unfulfilled)"),
                     0);
    waits(&world, id, "afternotok:1(unfulfilled)", REASON_DEPENDENCY);
    assert_int_equal(world_update(&world, "job", "2", "Dependency", ""), 0);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_RUNNING);
    assert_null(job.dependency);
    world_stop(&world);
}

TEST(dependencies_survive_a_restart) {
    struct world world;
    begin(&world);
    uint32_t first = world_job(&world);
    uint32_t ok = submit(&world, "afterok:1", 0), later = submit(&world, "after:1+10", 0);
    world_restart(&world);
    world_all_connect(&world);
    waits(&world, ok, "afterok:1(unfulfilled)", REASON_DEPENDENCY);
    world_script_ends(&world, first, 0);
    assert_int_equal(world_state(&world, ok), JOB_RUNNING);
    world_pass_time(&world, 605);
    assert_int_equal(world_state(&world, later), JOB_RUNNING);
    world_stop(&world);
}

TEST(what_has_failed_stays_so_over_a_restart_though_its_job_has_left) {
    struct world world;
    begin(&world);
    uint32_t first = world_job(&world), second = world_job(&world);
    uint32_t id = submit(&world, "afterok:1,afterok:2", 0);
    world_script_ends(&world, first, 1 << 8);
    world_pass_time(&world, 60400); /* it has left */
    world_restart(&world);
    world_all_connect(&world);
    waits(&world, id, "afterok:1(failed),afterok:2(unfulfilled)", REASON_DEPENDENCY_NEVER);
    assert_int_equal(world_verb(&world, VERB_RELEASE, "3"), 0);
    world_script_ends(&world, second, 0);
    waits(&world, id, "afterok:1(failed)", REASON_DEPENDENCY_NEVER);
    world_stop(&world);
}

static uint32_t submit_array(struct world *world, const char *spec, const char *dependency) {
    struct job_request request;
    world_request(&request);
    request.array_spec = (char *) (uintptr_t) spec;
    request.dependency = (char *) (uintptr_t) dependency;
    return world_submit(world, &request, NULL);
}

TEST(aftercorr_lets_each_task_follow_its_counterpart) {
    struct world world;
    begin(&world);
    uint32_t first = submit_array(&world, "1-4", NULL);
    uint32_t second = submit_array(&world, "1-5", "aftercorr:1");
    /* Task 5 has no counterpart. */
    assert_int_equal(world_state(&world, world_task(&world, second, 5)), JOB_RUNNING);
    struct job job;
    assert_true(world_look(&world, second, &job));
    assert_string_equal(job.array_tasks, "1-4");
    world_script_ends(&world, world_task(&world, first, 3), 0);
    world_script_ends(&world, world_task(&world, first, 2), 3 << 8);
    assert_int_equal(world_state(&world, world_task(&world, second, 3)), JOB_RUNNING);
    uint32_t never = world_task(&world, second, 2);
    waits(&world, never, "aftercorr:1_*(failed)", REASON_DEPENDENCY_NEVER);
    assert_true(world_look(&world, never, &job));
    assert_string_equal(job.depend_cause,
                        "aftercorr:1_*: job 1_2 (test) ended FAILED, exit code 3:0");
    assert_true(world_look(&world, second, &job));
    assert_string_equal(job.array_tasks, "1,4");
    world_stop(&world);
}

TEST(a_task_that_has_left_its_array_to_wait_keeps_the_deadline) {
    struct world world;
    struct job_request request;
    begin(&world);
    uint32_t first = submit_array(&world, "1-4", NULL);
    world_request(&request);
    request.array_spec = (char *) "1-4";
    request.dependency = (char *) "aftercorr:1";
    request.time_limit = 1;
    request.deadline = world.now + 1000;
    uint32_t second = world_submit(&world, &request, NULL);
    world_script_ends(&world, world_task(&world, first, 3), 1 << 8);
    uint32_t never = world_task(&world, second, 3);
    waits(&world, never, "aftercorr:1_*(failed)", REASON_DEPENDENCY_NEVER);
    world_pass_time(&world, 1000);
    assert_int_equal(world_state(&world, second), JOB_DEADLINE);
    assert_int_equal(world_state(&world, never), JOB_DEADLINE);
    world_stop(&world);
}

TEST(aftercorr_of_an_array_that_is_partly_over_sorts_its_tasks_at_once) {
    struct world world;
    struct job job;
    begin(&world);
    uint32_t first = submit_array(&world, "1-6", NULL);
    for (uint32_t task = 1; task <= 4; task++)
        world_script_ends(&world, world_task(&world, first, task), (task > 2) << 8);
    uint32_t second = submit_array(&world, "1-6", "aftercorr:1");
    assert_int_equal(world_state(&world, world_task(&world, second, 1)), JOB_RUNNING);
    assert_int_equal(world_state(&world, world_task(&world, second, 2)), JOB_RUNNING);
    assert_true(world_look(&world, second, &job));
    assert_string_equal(job.array_tasks, "5-6");
    waits(&world, second, "aftercorr:1_*(unfulfilled)", REASON_DEPENDENCY);
    world_restart(&world);
    world_all_connect(&world);
    world_script_ends(&world, world_task(&world, first, 5), 0);
    assert_int_equal(world_state(&world, world_task(&world, second, 5)), JOB_RUNNING);
    world_stop(&world);
}

TEST(aftercorr_falls_with_an_array_that_is_cancelled_before_it_starts) {
    struct world world;
    struct job_request request;
    begin(&world);
    world_request(&request);
    request.array_spec = (char *) (uintptr_t) "1-300";
    request.hold = true;
    world_submit(&world, &request, NULL);
    request.hold = false;
    request.dependency = (char *) (uintptr_t) "aftercorr:1";
    request.kill_on_invalid_dep = TRI_YES;
    uint32_t second = world_submit(&world, &request, NULL);
    struct job job;
    assert_int_equal(world_kill(&world, "1_[101-300]"), 0);
    assert_true(world_look(&world, second, &job));
    assert_string_equal(job.array_tasks, "1-100");
    waits(&world, second, "aftercorr:1_*(unfulfilled)", REASON_DEPENDENCY);
    assert_int_equal(world_kill(&world, "1"), 0);
    assert_int_equal(world_state(&world, second), JOB_CANCELLED);
    world_stop(&world);
}

TEST(a_task_that_has_left_the_controller_still_counts_for_its_array) {
    struct world world;
    begin(&world);
    uint32_t first = submit_array(&world, "1-2", NULL);
    world_script_ends(&world, world_task(&world, first, 1), 1 << 8);
    world_pass_time(&world, 60400); /* it has left */
    assert_int_equal(world_task(&world, first, 1), 0);
    world_restart(&world);
    world_all_connect(&world);
    uint32_t ok = submit(&world, "afterok:1", 0), not_ok = submit(&world, "afternotok:1", 0);
    waits(&world, ok, "afterok:1_*(failed)", REASON_DEPENDENCY_NEVER);
    waits(&world, not_ok, "afternotok:1_*(unfulfilled)", REASON_DEPENDENCY);
    refused(&world, "afterok:1_1"); /* nobody knows how that one has ended */
    refused(&world, "afternotok:1_3");
    assert_int_equal(world_state(&world, submit(&world, "afterany:1_1", 0)), JOB_RUNNING);
    world_script_ends(&world, world_task(&world, first, 2), 0);
    assert_int_equal(world_state(&world, not_ok), JOB_RUNNING);
    world_stop(&world);
}

TEST(the_circle_is_named) {
    struct world world;
    struct job_request request;
    struct arena arena;
    begin(&world);
    world_request(&request);
    request.hold = true;
    world_submit(&world, &request, NULL);
    submit(&world, "afterany:1", 0);
    submit(&world, "afterany:2", 0);
    struct key_value change = {(char *) (uintptr_t) "Dependency", (char *) (uintptr_t) "afterok:3"};
    struct update update;
    record_init(&record_update, &update);
    update.entity = (char *) (uintptr_t) "job";
    update.target = (char *) (uintptr_t) "1";
    update.changes.items = &change;
    update.changes.n = 1;
    arena_init(&arena, 0);
    uint64_t client = world_send(&world, MSG_UPDATE, &update);
    const struct job_results *results = world_answer(&world, client, MSG_JOB_RESULTS, &arena);
    assert_int_equal(results->items.items[0].code, ERR_DEPENDENCY);
    assert_non_null(strstr(results->items.items[0].detail, "1 waits for 3, 3 for 2, 2 for 1"));
    arena_done(&arena);
    world_stop(&world);
}

TEST(a_task_may_wait_for_another_of_its_array_but_not_in_a_circle) {
    struct world world;
    struct job_request request;
    struct job job;
    begin(&world);
    world_request(&request);
    request.array_spec = text_of("0-3");
    request.hold = true;
    uint32_t id = world_submit(&world, &request, NULL);
    assert_int_equal(world_update(&world, "job", "1", "Dependency", "after:1_3"), ERR_DEPENDENCY);
    assert_int_equal(world_update(&world, "job", "1_2", "Dependency", "afterok:1_1"), 0);
    assert_int_equal(world_update(&world, "job", "1_2", "Dependency", "afterok:1_2"),
                     ERR_DEPENDENCY);
    assert_int_equal(world_update(&world, "job", "1_3", "Dependency", "afterok:1"), ERR_DEPENDENCY);
    assert_int_equal(world_update(&world, "job", "1_1", "Dependency", "afterok:1_2"),
                     ERR_DEPENDENCY);
    assert_int_equal(world_update(&world, "job", "1_3", "Dependency", "afterok:1_2"), 0);
    assert_int_equal(world_verb(&world, VERB_RELEASE, "1"), 0);
    uint32_t second = world_task(&world, id, 2);
    waits(&world, second, "afterok:1_1(unfulfilled)", REASON_DEPENDENCY);
    world_restart(&world);
    world_all_connect(&world);
    waits(&world, second, "afterok:1_1(unfulfilled)", REASON_DEPENDENCY);
    world_script_ends(&world, world_task(&world, id, 1), 0);
    assert_int_equal(world_state(&world, second), JOB_RUNNING);
    world_script_ends(&world, second, 1 << 8);
    assert_true(world_look(&world, world_task(&world, id, 3), &job));
    assert_int_equal(job.reason, REASON_DEPENDENCY_NEVER);
    world_stop(&world);
}

/* A job that gets the id later is another one. */
TEST(an_unknown_job_is_never_waited_for) {
    struct world world;
    struct job_request request;
    struct job job;
    begin(&world);
    world_request(&request);
    request.hold = true;
    request.dependency = (char *) (uintptr_t) "afterany:2";
    uint32_t held = world_submit(&world, &request, NULL);
    assert_true(world_look(&world, held, &job));
    assert_string_equal(job.dependency, "afterany:2(unfulfilled)");
    assert_int_equal(submit(&world, "afterany:1", 0), 2);
    assert_int_equal(world_verb(&world, VERB_RELEASE, "1"), 0);
    assert_int_equal(world_state(&world, held), JOB_RUNNING);
    world_stop(&world);
}

TEST(a_job_that_gets_another_name_is_no_rival_any_more) {
    struct world world;
    begin(&world);
    uint32_t first = world_job(&world), single = submit(&world, "singleton", 0);
    waits(&world, single, "singleton(unfulfilled)", REASON_DEPENDENCY);
    assert_int_equal(world_update(&world, "job", "1", "Name", "other"), 0);
    assert_int_equal(world_state(&world, single), JOB_RUNNING);
    assert_int_equal(world_state(&world, first), JOB_RUNNING);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_type_waits_for_its_event),
        cmocka_unit_test(after_waits_for_the_start_and_its_minutes),
        cmocka_unit_test(one_of_several_is_enough_with_a_question_mark),
        cmocka_unit_test(singletons_of_a_name_and_user_run_one_after_the_other),
        cmocka_unit_test(a_singleton_waits_until_nothing_is_left_of_the_one_before),
        cmocka_unit_test(
            a_singleton_waits_for_a_younger_job_of_its_name_that_runs_until_it_is_gone),
        cmocka_unit_test(arrays_as_targets_count_as_a_whole_or_by_task),
        cmocka_unit_test(what_cannot_be_meant_is_refused),
        cmocka_unit_test(a_huge_number_of_dependencies_is_refused),
        cmocka_unit_test(jobs_cannot_wait_for_each_other),
        cmocka_unit_test(a_dependency_that_never_comes_true_ends_the_job_when_asked),
        cmocka_unit_test(a_chain_of_dependents_falls_with_its_head),
        cmocka_unit_test(an_update_replaces_or_clears_a_dependency),
        cmocka_unit_test(dependencies_survive_a_restart),
        cmocka_unit_test(what_has_failed_stays_so_over_a_restart_though_its_job_has_left),
        cmocka_unit_test(aftercorr_lets_each_task_follow_its_counterpart),
        cmocka_unit_test(a_task_that_has_left_its_array_to_wait_keeps_the_deadline),
        cmocka_unit_test(aftercorr_of_an_array_that_is_partly_over_sorts_its_tasks_at_once),
        cmocka_unit_test(aftercorr_falls_with_an_array_that_is_cancelled_before_it_starts),
        cmocka_unit_test(a_task_that_has_left_the_controller_still_counts_for_its_array),
        cmocka_unit_test(the_circle_is_named),
        cmocka_unit_test(a_task_may_wait_for_another_of_its_array_but_not_in_a_circle),
        cmocka_unit_test(an_unknown_job_is_never_waited_for),
        cmocka_unit_test(a_job_that_gets_another_name_is_no_rival_any_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
