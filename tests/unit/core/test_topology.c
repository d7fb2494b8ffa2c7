/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs on few switches. */
#include "unit.h"
#include "world.h"

#define CLUSTER                                                                                    \
    "SelectTypeParameters=CR_CPU\nNodeName=n[1-4] CPUs=1\n"                                        \
    "PartitionName=main Nodes=ALL Default=YES\n"
#define TREE                                                                                       \
    "TopologyPlugin=topology/tree\n" CLUSTER                                                       \
    "#topology.conf\nSwitchName=s1 Nodes=n[1,3]\nSwitchName=s2 Nodes=n[2,4]\n"

static uint32_t submit(struct world *world, uint32_t nodes, const char *switches, int *ret_code) {
    struct job_request request;

    world_request(&request);
    request.min_nodes = request.max_nodes = nodes;
    request.switches = (char *) (uintptr_t) switches;
    return world_submit(world, &request, ret_code);
}

static void expect(struct world *world, uint32_t id, const char *nodes, const char *switches) {
    struct job job;

    assert_true(world_look(world, id, &job));
    if (nodes)
        assert_string_equal(job.nodes, nodes);
    else
        assert_int_equal(job.state, JOB_PENDING);
    assert_true(str_equal(job.switches, switches));
}

TEST(a_job_is_put_at_one_switch) {
    struct world world;

    world_start(&world, TREE);
    world_all_connect(&world);
    expect(&world, submit(&world, 2, NULL, NULL), "n[1,3]", NULL);
    expect(&world, submit(&world, 2, NULL, NULL), "n[2,4]", NULL);
    world_stop(&world);
}

TEST(a_job_waits_for_one_switch_as_long_as_it_said_and_the_cluster_allows) {
    struct world world;

    world_start(&world, TREE);
    world_all_connect(&world);
    submit(&world, 1, NULL, NULL);
    expect(&world, submit(&world, 1, NULL, NULL), "n2", NULL);
    uint32_t patient = submit(&world, 2, "1@1:00:00", NULL);
    expect(&world, patient, NULL, "1@00:05:00");
    world_pass_time(&world, 290);
    expect(&world, patient, NULL, "1@00:05:00");
    world_pass_time(&world, 20);
    expect(&world, patient, "n[3-4]", "1@00:05:00");
    world_stop(&world);
}

TEST(the_wish_of_a_waiting_job_can_be_changed_and_begins_anew) {
    struct world world;

    world_start(&world, TREE);
    world_all_connect(&world);
    submit(&world, 1, NULL, NULL);
    submit(&world, 1, NULL, NULL);
    uint32_t id = submit(&world, 2, "1@2:00", NULL);
    expect(&world, id, NULL, "1@00:02:00");
    world_pass_time(&world, 100);
    assert_int_equal(world_update(&world, "job", "3", "Switches", "1@1:30"), 0);
    expect(&world, id, NULL, "1@00:01:30");
    world_pass_time(&world, 60);
    expect(&world, id, NULL, "1@00:01:30");
    assert_int_equal(world_update(&world, "job", "3", "Switches", "many"), ERR_INVALID);
    assert_int_equal(world_update(&world, "job", "3", "Switches", "2"), 0);
    world_turn(&world);
    expect(&world, id, "n[3-4]", "2@00:01:30");
    world_stop(&world);
}

TEST(what_is_no_wish_is_refused_and_none_is_none) {
    struct world world;
    int code = 0;

    world_start(&world, TREE);
    world_all_connect(&world);
    assert_int_equal(submit(&world, 2, "one", &code), 0);
    assert_int_equal(code, ERR_INVALID);
    expect(&world, submit(&world, 2, "0", NULL), "n[1,3]", NULL);
    world_stop(&world);
}

TEST(the_tree_changes_with_the_configuration_and_survives_a_restart) {
    struct world world;

    world_start(&world, CLUSTER);
    world_all_connect(&world);
    uint32_t first = submit(&world, 2, NULL, NULL);
    expect(&world, first, "n[1-2]", NULL);
    world_script_ends(&world, first, 0);
    assert_int_equal(world_reconfigure(&world, TREE), 0);
    uint32_t second = submit(&world, 2, NULL, NULL);
    expect(&world, second, "n[1,3]", NULL);
    world_script_ends(&world, second, 0);
    world_restart(&world);
    world_all_connect(&world);
    expect(&world, submit(&world, 2, "1", NULL), "n[1,3]", "1@00:05:00");
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_put_at_one_switch),
        cmocka_unit_test(a_job_waits_for_one_switch_as_long_as_it_said_and_the_cluster_allows),
        cmocka_unit_test(the_wish_of_a_waiting_job_can_be_changed_and_begins_anew),
        cmocka_unit_test(what_is_no_wish_is_refused_and_none_is_none),
        cmocka_unit_test(the_tree_changes_with_the_configuration_and_survives_a_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
