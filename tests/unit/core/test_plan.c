/* SPDX-License-Identifier: Apache-2.0 */
/* What is checked again when a proposed start is committed. */
#include <string.h>

#include "unit.h"
#include "world.h"

static uint32_t running_tasks(struct world *world, uint32_t last) {
    uint32_t n = 0;
    for (uint32_t id = 1; id <= last; id++)
        n += world_state(world, id) == JOB_RUNNING;
    return n;
}

TEST(a_task_with_a_record_of_its_own_counts_for_the_limit_of_its_array) {
    struct world world;
    struct job_request request;
    struct job job;
    world_start(&world, "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=100\n"
                        "NodeName=n[1-2] CPUs=4 RealMemory=1000\n"
                        "PartitionName=main Nodes=ALL Default=YES\n");
    world_all_connect(&world);
    world_request(&request);
    request.hold = true;
    request.array_spec = text_of("1-4%1");
    assert_int_equal(world_submit(&world, &request, NULL), 1);
    assert_int_equal(world_update(&world, "job", "1_2", "Name", "apart"), 0);
    assert_int_equal(world_verb(&world, VERB_RELEASE, "1"), 0);
    assert_int_equal(running_tasks(&world, 5), 1);
    for (uint32_t left = 4; left > 0; left--) {
        uint32_t running = 0;
        for (uint32_t id = 1; id <= 5; id++) {
            if (world_look(&world, id, &job) && job.state == JOB_RUNNING)
                running = id;
        }
        assert_int_not_equal(running, 0);
        world_script_ends(&world, running, 0);
        assert_int_equal(running_tasks(&world, 5), left > 1 ? 1 : 0);
    }
    world_stop(&world);
}

TEST(the_last_waiting_task_of_an_array_is_shown_by_its_number) {
    struct world world;
    struct job_request request;
    struct job job;
    world_start(&world, "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=100\n"
                        "NodeName=n1 CPUs=4 RealMemory=1000\n"
                        "PartitionName=main Nodes=ALL Default=YES\n");
    world_all_connect(&world);
    world_request(&request);
    request.array_spec = text_of("1-3%2");
    assert_int_equal(world_submit(&world, &request, NULL), 1);
    assert_true(world_look(&world, 1, &job));
    assert_int_equal(job.state, JOB_PENDING);
    assert_int_equal(job.array_task_id, 3);
    assert_null(job.array_tasks);
    assert_int_equal(job.reason, REASON_ARRAY_TASK_LIMIT);
    world_stop(&world);
}

TEST(a_partition_with_lln_takes_the_least_loaded_node_and_one_without_fills_a_node) {
    struct world world;
    struct job first, second;
    for (int lln = 0; lln < 3; lln++) {
        cleanup_free char *conf = xasprintf("SelectTypeParameters=CR_CPU_Memory%s\n"
                                            "DefMemPerCPU=100\n"
                                            "NodeName=n[1-2] CPUs=4 RealMemory=1000\n"
                                            "PartitionName=main Nodes=ALL Default=YES LLN=%s\n",
                                            lln == 2 ? ",CR_LLN" : "", lln == 1 ? "YES" : "NO");
        world_start(&world, conf);
        world_all_connect(&world);
        uint32_t one = world_job(&world), two = world_job(&world);
        assert_true(world_look(&world, one, &first));
        cleanup_free char *node = xstrdup(first.nodes);
        assert_true(world_look(&world, two, &second));
        if (lln)
            assert_string_not_equal(second.nodes, node);
        else
            assert_string_equal(second.nodes, node);
        world_stop(&world);
    }
}

TEST(what_a_pass_lets_others_do_is_planned_at_once_though_nothing_else_happens) {
    struct world world;
    struct job_request request;
    world_start(&world, "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=100\n"
                        "NodeName=n1 CPUs=4 RealMemory=1000\n"
                        "PartitionName=main Nodes=ALL Default=YES\n");
    world_all_connect(&world);
    world_request(&request);
    request.begin_time = world.now + 10;
    uint32_t first = world_submit(&world, &request, NULL);
    world_request(&request);
    request.dependency = text_of("after:1");
    uint32_t second = world_submit(&world, &request, NULL);
    world.now += 10;
    core_tick(world.core, world.now, &world.effects);
    core_turn_end(world.core, world.now, &world.effects);
    assert_int_equal(core_job(world.core, first)->state, JOB_RUNNING);
    assert_int_equal(core_job(world.core, second)->state, JOB_PENDING);
    assert_true(core_next_time(world.core) <= world.now);
    core_tick(world.core, world.now, &world.effects);
    core_turn_end(world.core, world.now, &world.effects);
    assert_int_equal(core_job(world.core, second)->state, JOB_RUNNING);
    assert_true(core_next_time(world.core) > world.now);
    world_turn(&world);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_with_a_record_of_its_own_counts_for_the_limit_of_its_array),
        cmocka_unit_test(
            a_partition_with_lln_takes_the_least_loaded_node_and_one_without_fills_a_node),
        cmocka_unit_test(the_last_waiting_task_of_an_array_is_shown_by_its_number),
        cmocka_unit_test(what_a_pass_lets_others_do_is_planned_at_once_though_nothing_else_happens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
