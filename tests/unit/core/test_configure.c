/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reconfiguration under running jobs, and what limits of partitions mean.
 *
 * Covers: configure.c, settings.c, view.c
 */
#include <string.h>

#include "steps.h"
#include "unit.h"

#define HEAD "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=10\nSlurmdTimeout=60\n"
#define MAIN "PartitionName=main Nodes=ALL Default=YES\n"

static void begin(struct world *world, const char *text) {
    world_start(world, text);
    world_all_connect(world);
}

TEST(new_nodes_are_used_once_they_register) {
    struct world world;
    begin(&world, HEAD "NodeName=n1 CPUs=1 RealMemory=100\n" MAIN);
    world_job(&world);
    uint32_t waits = world_job(&world);
    assert_int_equal(world_reconfigure(&world, HEAD "NodeName=n[0-1] CPUs=1 RealMemory=100\n" MAIN),
                     0);
    assert_int_equal(world_state(&world, waits), JOB_PENDING);
    assert_int_equal(core_node_find(world.core, "n1"), 1); /* it has moved */
    world_check(&world);
    world_node_connects(&world, 0);
    assert_int_equal(world_state(&world, waits), JOB_RUNNING);
    world_check(&world);
    world_stop(&world);
}

TEST(jobs_end_with_the_nodes_that_are_taken_away) {
    struct world world;
    struct job_request request;
    struct job job;
    begin(&world, HEAD "NodeName=n[1-3] CPUs=1 RealMemory=100\n" MAIN);
    world_request(&request);
    request.min_nodes = request.max_nodes = 2;
    uint32_t both = world_submit(&world, &request, NULL), other = world_job(&world);
    assert_int_equal(world_reconfigure(&world, HEAD "NodeName=n[2-3] CPUs=1 RealMemory=100\n" MAIN),
                     0);
    assert_true(world_look(&world, both, &job));
    assert_int_equal(job.state, JOB_NODE_FAIL);
    assert_int_equal(world_state(&world, other), JOB_RUNNING);
    world_check(&world);
    assert_int_equal(world_reconfigure(&world, HEAD "NodeName=n9 CPUs=1 RealMemory=100\n" MAIN), 0);
    assert_true(world_look(&world, other, &job));
    assert_int_equal(job.state, JOB_NODE_FAIL);
    assert_int_equal(job.flags, 0); /* there is nobody who could say that it is clean */
    world_pass_time(&world, 1000);
    assert_false(world_look(&world, other, &job));
    world_stop(&world);
}

TEST(a_job_that_completes_on_a_node_that_goes_is_done) {
    struct world world;
    struct job job;
    begin(&world, HEAD "NodeName=n[1-2] CPUs=1 RealMemory=100\n" MAIN);
    uint32_t id = world_job(&world);
    world.nodes_answer = false;
    assert_int_equal(world_kill(&world, "1"), 0);
    assert_int_equal(world_reconfigure(&world, HEAD "NodeName=n2 CPUs=1 RealMemory=100\n" MAIN), 0);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.flags, 0);
    world_check(&world);
    world_stop(&world);
}

TEST(a_silent_node_still_goes_down_after_a_reconfiguration) {
    struct world world;
    const char *text = HEAD "NodeName=n[1-3] CPUs=1 RealMemory=100\n" MAIN;
    begin(&world, text);
    world_node_lost(&world, 0);
    assert_int_equal(world_reconfigure(&world, text), 0);
    world_pass_time(&world, 100);
    assert_int_equal(core_node(world.core, 0)->state, NODE_DOWN);
    /* So does one that is new and never comes. */
    assert_int_equal(world_reconfigure(&world, HEAD "NodeName=n[1-4] CPUs=1 RealMemory=100\n" MAIN),
                     0);
    world_pass_time(&world, 100);
    assert_int_equal(core_node(world.core, 3)->state, NODE_DOWN);
    world_stop(&world);
}

TEST(what_was_changed_in_the_same_turn_is_stored) {
    struct world world;
    const char *text = HEAD "NodeName=n[1-3] CPUs=1 RealMemory=100\n" MAIN;
    begin(&world, text);
    struct node_status status;
    record_init(&record_node_status, &status);
    status.problem = (char *) (uintptr_t) "broken";
    core_node_message(world.core, world.now, 0, MSG_NODE_STATUS, &status, &world.effects);
    assert_int_equal(world_reconfigure(&world, text), 0);
    world_restart(&world);
    assert_int_equal(core_node(world.core, 0)->flags & NODE_FLAG_DRAIN, NODE_FLAG_DRAIN);
    assert_string_equal(core_node(world.core, 0)->reason, "broken");
    world_stop(&world);
}

TEST(steps_and_devices_stay_with_their_jobs) {
    struct world world;
    struct step_request request;
    struct step_answer answer;
    const char *text =
        HEAD "GresTypes=gpu\nNodeName=n[1-2] CPUs=4 RealMemory=100 Gres=gpu:2\n" MAIN;
    begin(&world, text);
    uint32_t job = steps_salloc(&world, 1, 2, "gres/gpu:1");
    steps_request(&request, job, 1);
    steps_run(&world, &request);
    assert_int_equal(world_reconfigure(&world, text), 0);
    world_check(&world);
    steps_create(&world, &request, &answer);
    assert_true(answer.waiting);
    steps_done(&answer);
    struct job record;
    uint32_t second = steps_salloc(&world, 1, 2, "gres/gpu:1");
    assert_true(world_look(&world, second, &record));
    assert_string_equal(record.nodes, "n1");
    assert_string_equal(record.allocation.items[0].gres, "gpu:1(IDX:1)");
    world_stop(&world);
}

TEST(a_configuration_that_cannot_be_taken_changes_nothing) {
    struct world world;
    struct str text cleanup_str = STR_INIT;
    begin(&world, HEAD "NodeName=n[1-2] CPUs=1 RealMemory=100\n" MAIN);
    uint32_t id = world_job(&world);
    str_append(&text, HEAD "GresTypes=gpu\nNodeName=n[1-2] CPUs=1 RealMemory=100 Gres=");
    for (int i = 0; i < 40; i++)
        str_printf(&text, "%sgpu:t%d:1", i > 0 ? "," : "", i);
    str_append(&text, "\n" MAIN);
    assert_int_not_equal(world_reconfigure(&world, text.data), 0);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    assert_int_equal(world_state(&world, world_job(&world)), JOB_RUNNING);
    world_check(&world);
    world_stop(&world);
}

TEST(what_a_newer_release_has_stored_is_refused_by_name) {
    struct core *core = core_new();
    struct job job;
    struct error err = ERROR_INIT;
    struct str text cleanup_str = STR_INIT;
    record_init(&record_job, &job);
    job.job_id = 7;
    job.state = 40;
    wire_encode(&record_job, &job, NULL, &text);
    const struct bytes body = {(const uint8_t *) text.data, text.length};
    assert_int_equal(core_restore(core, STORE_JOB, 7, body, &err), -ERR_VERSION);
    assert_non_null(strstr(err.text, "job 7"));
    assert_int_equal(core_restore(core, 99, 7, body, &err), -ERR_VERSION);
    const struct bytes cut = {body.data, body.size - 1};
    assert_int_equal(core_restore(core, STORE_JOB, 7, cut, &err), -ERR_PROTOCOL);
    core_free(core);
}

/* ---- limits of partitions ---- */

#define NODES "NodeName=n[1-4] CPUs=1 RealMemory=100\n"
#define PARTS                                                                                      \
    "PartitionName=main Nodes=ALL Default=YES MaxTime=60 MaxNodes=2\n"                             \
    "PartitionName=big Nodes=ALL MinNodes=3\n"                                                     \
    "PartitionName=wheel Nodes=ALL AllowGroups=wheel,adm\n"                                        \
    "PartitionName=paid Nodes=ALL AllowAccounts=gold\n"                                            \
    "PartitionName=poor Nodes=ALL DenyAccounts=gold\n"                                             \
    "PartitionName=roots Nodes=ALL RootOnly=YES\n"                                                 \
    "PartitionName=drained Nodes=ALL State=DRAIN\n"

static int try(struct world *world, const char *partition, uint32_t minutes, uint32_t nodes,
               uint32_t *ret_id) {
    struct job_request request;
    int code;
    world_request(&request);
    request.partition = (char *) (uintptr_t) partition;
    request.time_limit = minutes;
    request.min_nodes = request.max_nodes = nodes;
    *ret_id = world_submit(world, &request, &code);
    return code;
}

static void waits_for(struct world *world, uint32_t id, uint32_t reason) {
    struct job job;
    assert_true(world_look(world, id, &job));
    assert_int_equal(job.state, JOB_PENDING);
    assert_int_equal(job.reason, reason);
}

TEST(limits_of_a_partition_make_jobs_wait_where_they_are_not_enforced) {
    struct world world;
    uint32_t id;
    begin(&world, HEAD NODES PARTS);
    assert_int_equal(try(&world, "main", 90, 1, &id), 0);
    waits_for(&world, id, REASON_PARTITION_TIME_LIMIT);
    assert_int_equal(try(&world, "main", 30, 3, &id), 0);
    waits_for(&world, id, REASON_PARTITION_NODE_LIMIT);
    assert_int_equal(try(&world, "big", 30, 1, &id), 0);
    waits_for(&world, id, REASON_PARTITION_NODE_LIMIT);
    world_stop(&world);
}

TEST(limits_of_a_partition_refuse_jobs_where_they_are_enforced) {
    struct world world;
    uint32_t id;
    begin(&world, HEAD "EnforcePartLimits=ALL\n" NODES PARTS);
    assert_int_equal(try(&world, "main", 90, 1, &id), ERR_TIME_LIMIT);
    assert_int_equal(try(&world, "main", 30, 3, &id), ERR_NODE_COUNT);
    assert_int_equal(try(&world, "big", 30, 1, &id), ERR_NODE_COUNT);
    assert_int_equal(try(&world, "main,big", 30, 3, &id), ERR_NODE_COUNT); /* all must allow it */
    assert_int_equal(try(&world, "main", 60, 2, &id), 0);
    world_stop(&world);
}

TEST(with_any_one_partition_that_allows_it_is_enough) {
    struct world world;
    uint32_t id;
    begin(&world, HEAD "EnforcePartLimits=ANY\n" NODES PARTS);
    assert_int_equal(try(&world, "main,big", 30, 3, &id), 0);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    assert_int_equal(try(&world, "main", 30, 3, &id), ERR_NODE_COUNT);
    assert_int_equal(try(&world, "main,big", 90, 1, &id), ERR_TIME_LIMIT);
    world_stop(&world);
}

static int submit_as(struct world *world, const char *partition, const char *account,
                     const char *group) {
    struct job_request request;
    struct submit submit;
    const char *groups[] = {"users", group};
    struct core_user user = {
        .uid = 1000, .gid = 1000, .name = "ada", .group = "ada", .groups = groups, .n_groups = 2};
    world_request(&request);
    request.partition = (char *) (uintptr_t) partition;
    request.account = (char *) (uintptr_t) account;
    record_init(&record_submit, &submit);
    submit.job = &request;
    uint64_t client = world->client++;
    core_request(world->core, world->now, client, 1, MSG_SUBMIT, &user, &submit, &world->effects);
    world_turn(world);
    return world_code(world, client);
}

TEST(partitions_are_for_whom_they_say) {
    struct world world;
    begin(&world, HEAD NODES PARTS);
    assert_int_equal(submit_as(&world, "wheel", NULL, "cdrom"), ERR_GROUP);
    assert_int_equal(submit_as(&world, "wheel", NULL, "adm"), 0);
    assert_int_equal(submit_as(&world, "paid", NULL, "x"), ERR_INVALID_ACCOUNT);
    assert_int_equal(submit_as(&world, "paid", "gold", "x"), 0);
    assert_int_equal(submit_as(&world, "poor", "gold", "x"), ERR_INVALID_ACCOUNT);
    assert_int_equal(submit_as(&world, "poor", "iron", "x"), 0);
    assert_int_equal(submit_as(&world, "roots", NULL, "x"), ERR_ACCESS_DENIED);
    assert_int_equal(submit_as(&world, "drained", NULL, "x"), ERR_PARTITION_AVAIL);
    assert_int_equal(submit_as(&world, "", NULL, "x"), ERR_INVALID_PARTITION);
    assert_int_equal(submit_as(&world, ",", NULL, "x"), ERR_INVALID_PARTITION);
    world.uid = 0;
    uint32_t id;
    assert_int_equal(try(&world, "wheel", 1, 1, &id), 0); /* root may use any */
    assert_int_equal(try(&world, "roots", 1, 1, &id), 0);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_nodes_are_used_once_they_register),
        cmocka_unit_test(jobs_end_with_the_nodes_that_are_taken_away),
        cmocka_unit_test(a_job_that_completes_on_a_node_that_goes_is_done),
        cmocka_unit_test(a_silent_node_still_goes_down_after_a_reconfiguration),
        cmocka_unit_test(what_was_changed_in_the_same_turn_is_stored),
        cmocka_unit_test(steps_and_devices_stay_with_their_jobs),
        cmocka_unit_test(a_configuration_that_cannot_be_taken_changes_nothing),
        cmocka_unit_test(what_a_newer_release_has_stored_is_refused_by_name),
        cmocka_unit_test(limits_of_a_partition_make_jobs_wait_where_they_are_not_enforced),
        cmocka_unit_test(limits_of_a_partition_refuse_jobs_where_they_are_enforced),
        cmocka_unit_test(with_any_one_partition_that_allows_it_is_enough),
        cmocka_unit_test(partitions_are_for_whom_they_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
