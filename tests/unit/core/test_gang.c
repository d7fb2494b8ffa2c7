/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that share CPUs in time. */
#include <stdio.h>

#include "unit.h"
#include "world.h"

#define HEAD                                                                                       \
    "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=50\nSchedulerTimeSlice=10\n"                 \
    "NodeName=n[1-2] CPUs=4 RealMemory=1000\n"

static void begin(struct world *world, const char *more) {
    char conf[1024];
    (void) snprintf(conf, sizeof(conf), "%s%s", HEAD, more);
    world_start(world, conf);
    world_all_connect(world);
}

static const char forced[] = "PreemptMode=GANG\n"
                             "PartitionName=main Nodes=n1 Default=YES OverSubscribe=FORCE:2\n";

static uint32_t submit(struct world *world, const char *partition, uint32_t cpus, uint64_t mem) {
    struct job_request request;
    world_request(&request);
    request.partition = (char *) (uintptr_t) partition;
    request.cpus_per_task = cpus;
    request.time_limit = 10;
    if (mem > 0)
        request.mem_per_node = mem;
    uint32_t id = world_submit(world, &request, NULL);
    assert_int_not_equal(id, 0);
    return id;
}

TEST(two_jobs_take_turns_and_only_their_own_time_counts) {
    struct world world;
    struct job job;
    begin(&world, forced);
    uint32_t a = submit(&world, "main", 4, 0), b = submit(&world, "main", 4, 0);
    int64_t end = world.now + 600;
    assert_int_equal(world_state(&world, a), JOB_RUNNING);
    assert_int_equal(world_state(&world, b), JOB_PENDING);
    for (int turn = 0; turn < 6; turn++) {
        world_pass_time(&world, 10);
        uint32_t runs = turn % 2 == 0 ? b : a, stands = turn % 2 == 0 ? a : b;
        assert_int_equal(world_state(&world, runs), JOB_RUNNING);
        assert_int_equal(world_state(&world, stands), JOB_SUSPENDED);
        world_check(&world);
    }
    assert_true(world_look(&world, a, &job));
    assert_int_equal(job.end_time, end + 30);
    assert_int_equal(job.preempt_time, 0); /* nobody was preempted */
    world_script_ends(&world, a, 0);
    assert_int_equal(world_state(&world, b), JOB_RUNNING);
    world_pass_time(&world, 100);
    assert_int_equal(world_state(&world, b), JOB_RUNNING);
    world_check(&world);
    world_stop(&world);
}

TEST(no_more_jobs_share_a_cpu_than_may) {
    struct world world;
    begin(&world, forced);
    uint32_t a = submit(&world, "main", 4, 0), b = submit(&world, "main", 4, 0);
    uint32_t c = submit(&world, "main", 4, 0);
    for (int turn = 0; turn < 4; turn++) {
        world_pass_time(&world, 10);
        assert_int_equal(world_state(&world, c), JOB_PENDING);
    }
    world_script_ends(&world, a, 0);
    world_pass_time(&world, 10);
    assert_int_equal(world_state(&world, c), JOB_RUNNING);
    assert_int_equal(world_state(&world, b), JOB_SUSPENDED);
    world_stop(&world);
}

TEST(everybody_gets_a_turn) {
    struct world world;
    uint32_t jobs[4], ran[4] = {0};
    begin(&world, "PreemptMode=GANG\n"
                  "PartitionName=main Nodes=n1 Default=YES OverSubscribe=FORCE:4\n");
    for (int i = 0; i < 4; i++)
        jobs[i] = submit(&world, "main", 2 + 2 * (i % 2), 0);
    for (int turn = 0; turn < 20; turn++) {
        for (int i = 0; i < 4; i++)
            ran[i] += world_state(&world, jobs[i]) == JOB_RUNNING;
        world_check(&world);
        world_pass_time(&world, 10);
    }
    for (int i = 0; i < 4; i++)
        assert_true(ran[i] >= 4);
    world_stop(&world);
}

TEST(all_of_them_must_fit_into_memory) {
    struct world world;
    begin(&world, forced);
    uint32_t a = submit(&world, "main", 4, 600), b = submit(&world, "main", 4, 600);
    world_pass_time(&world, 50);
    assert_int_equal(world_state(&world, a), JOB_RUNNING);
    assert_int_equal(world_state(&world, b), JOB_PENDING);
    world_stop(&world);
}

TEST(turns_go_on_after_a_restart) {
    struct world world;
    begin(&world, forced);
    uint32_t a = submit(&world, "main", 4, 0), b = submit(&world, "main", 4, 0);
    world_pass_time(&world, 10);
    assert_int_equal(world_state(&world, a), JOB_SUSPENDED);
    world_restart(&world);
    world_all_connect(&world);
    world_pass_time(&world, 11);
    assert_int_equal(world_state(&world, a), JOB_RUNNING);
    assert_int_equal(world_state(&world, b), JOB_SUSPENDED);
    world_check(&world);
    world_stop(&world);
}

TEST(only_those_share_who_asked_where_it_is_not_forced) {
    struct world world;
    struct job_request request;
    begin(&world, "PreemptMode=GANG\n"
                  "PartitionName=main Nodes=n1 Default=YES OverSubscribe=YES:2\n");
    uint32_t a = submit(&world, "main", 4, 0), b = submit(&world, "main", 4, 0);
    world_pass_time(&world, 30);
    assert_int_equal(world_state(&world, a), JOB_RUNNING);
    assert_int_equal(world_state(&world, b), JOB_PENDING);
    assert_int_equal(world_kill(&world, "1"), 0);
    assert_int_equal(world_kill(&world, "2"), 0);
    world_request(&request);
    request.cpus_per_task = 4;
    request.oversubscribe = OVERSUB_YES;
    a = world_submit(&world, &request, NULL);
    b = world_submit(&world, &request, NULL);
    world_pass_time(&world, 10);
    assert_int_equal(world_state(&world, a), JOB_SUSPENDED);
    assert_int_equal(world_state(&world, b), JOB_RUNNING);
    world_stop(&world);
}

TEST(turns_and_preemption_live_together) {
    struct world world;
    begin(&world, "PreemptType=preempt/partition_prio\nPreemptMode=CANCEL,GANG\n"
                  "PartitionName=low Nodes=n1 Default=YES OverSubscribe=FORCE:2\n"
                  "PartitionName=high Nodes=n1 PriorityTier=2\n");
    uint32_t a = submit(&world, "low", 4, 0), b = submit(&world, "low", 4, 0);
    world_pass_time(&world, 10);
    assert_int_equal(world_state(&world, a), JOB_SUSPENDED);
    uint32_t id = submit(&world, "high", 4, 0);
    assert_int_equal(world_state(&world, b), JOB_PREEMPTED);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_pass_time(&world, 30);
    assert_int_equal(world_state(&world, a), JOB_SUSPENDED); /* not its turn: another tier's */
    world_script_ends(&world, id, 0);
    assert_int_equal(world_state(&world, a), JOB_RUNNING);
    world_check(&world);
    world_stop(&world);
}

TEST(who_cannot_have_his_turn_is_not_tried_every_second) {
    struct world world;
    begin(&world, "PreemptType=preempt/partition_prio\nPreemptMode=SUSPEND,GANG\n"
                  "PartitionName=low Nodes=n1 Default=YES OverSubscribe=FORCE:2\n"
                  "PartitionName=high Nodes=n1 PriorityTier=2\n");
    uint32_t a = submit(&world, "low", 4, 0), b = submit(&world, "low", 4, 0);
    world_pass_time(&world, 10);
    assert_int_equal(world_state(&world, a), JOB_SUSPENDED);
    uint32_t high = submit(&world, "high", 4, 0);
    world_pass_time(&world, 25);
    assert_int_equal(world_state(&world, high), JOB_RUNNING);
    assert_int_equal(world_state(&world, b), JOB_SUSPENDED);
    struct core_counters before, after;
    core_counters(world.core, &before);
    world_pass_time(&world, 100);
    core_counters(world.core, &after);
    assert_in_range(after.passes - before.passes, 0, 20); /* with slices of 10 seconds */
    world_script_ends(&world, high, 0);
    assert_int_equal(world_state(&world, a), JOB_RUNNING);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_jobs_take_turns_and_only_their_own_time_counts),
        cmocka_unit_test(no_more_jobs_share_a_cpu_than_may),
        cmocka_unit_test(everybody_gets_a_turn),
        cmocka_unit_test(all_of_them_must_fit_into_memory),
        cmocka_unit_test(turns_go_on_after_a_restart),
        cmocka_unit_test(only_those_share_who_asked_where_it_is_not_forced),
        cmocka_unit_test(turns_and_preemption_live_together),
        cmocka_unit_test(who_cannot_have_his_turn_is_not_tried_every_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
