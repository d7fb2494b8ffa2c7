/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that share CPUs at the same time: their cores, and what the node shows. */
#include <string.h>

#include "core/state.h"
#include "unit.h"
#include "world.h"

#define CONF(partition)                                                                            \
    "SelectTypeParameters=CR_Core_Memory\nDefMemPerNode=100\nNodeName=n1 CPUs=4 RealMemory=1000\n" \
    "PartitionName=main Nodes=ALL Default=YES " partition "\n"

static void begin(struct world *world, const char *text) {
    world_start(world, text);
    world->shares = true;
    world_all_connect(world);
}

static uint32_t submit(struct world *world, uint32_t cpus, bool asks) {
    struct job_request request;
    world_request(&request);
    request.cpus_per_task = cpus;
    request.time_limit = 10;
    if (asks)
        request.oversubscribe = OVERSUB_YES;
    return world_submit(world, &request, NULL);
}

static void has_cores(struct world *world, uint32_t id, const char *cores) {
    struct job job;
    assert_true(world_look(world, id, &job));
    assert_int_equal(job.state, JOB_RUNNING);
    assert_string_equal(job.allocation.items[0].cores, cores);
}

TEST(the_least_used_cores_are_shared_and_the_node_never_shows_more_cpus_than_it_has) {
    struct world world;
    begin(&world, CONF("OverSubscribe=FORCE:2"));
    uint32_t a = submit(&world, 3, false), b = submit(&world, 2, false);
    uint32_t c = submit(&world, 3, false), d = submit(&world, 1, false);
    world_turn(&world);
    has_cores(&world, a, "0-2");
    has_cores(&world, b, "0,3");
    has_cores(&world, c, "1-3");
    assert_int_equal(world_state(&world, d), JOB_PENDING); /* 8 of 8 */
    const struct node *node = core_node(world.core, 0);
    assert_int_equal(node->alloc_cpus, 4);
    assert_int_equal(node->state, NODE_ALLOCATED);
    world_check(&world);
    world_script_ends(&world, a, 0);
    world_turn(&world);
    has_cores(&world, d, "0");
    assert_int_equal(core_node(world.core, 0)->alloc_cpus, 4);
    world_script_ends(&world, c, 0);
    world_script_ends(&world, b, 0);
    world_turn(&world);
    assert_int_equal(core_node(world.core, 0)->alloc_cpus, 1);
    assert_int_equal(core_node(world.core, 0)->state, NODE_MIXED);
    world_check(&world);
    world_stop(&world);
}

TEST(a_job_that_does_not_share_is_never_on_cores_that_are_shared) {
    struct world world;
    begin(&world, CONF("OverSubscribe=YES:2"));
    uint32_t alone = submit(&world, 1, false), one = submit(&world, 2, true);
    uint32_t two = submit(&world, 2, true), three = submit(&world, 3, true);
    world_turn(&world);
    has_cores(&world, alone, "0");
    has_cores(&world, one, "1-2");
    assert_int_equal(world_state(&world, two), JOB_PENDING);
    world_script_ends(&world, alone, 0);
    world_turn(&world);
    has_cores(&world, two, "0,3");
    has_cores(&world, three, "0-2");
    world_script_ends(&world, two, 0);
    world_script_ends(&world, one, 0);
    uint32_t late = submit(&world, 1, false);
    world_turn(&world);
    has_cores(&world, late, "3");
    world_check(&world);
    world_stop(&world);
}

TEST(who_shares_is_known_after_a_restart) {
    struct world world;
    begin(&world, CONF("OverSubscribe=YES:2"));
    uint32_t one = submit(&world, 4, true);
    world_turn(&world);
    has_cores(&world, one, "0-3");
    world_restart(&world);
    world_all_connect(&world);
    uint32_t plain = submit(&world, 1, false), two = submit(&world, 1, true);
    world_turn(&world);
    assert_int_equal(world_state(&world, plain), JOB_PENDING);
    has_cores(&world, two, "0");
    world_check(&world);
    world_stop(&world);
}

TEST(an_update_of_the_partition_ends_sharing_for_new_jobs) {
    struct world world;
    begin(&world, CONF("OverSubscribe=FORCE:3"));
    submit(&world, 4, false);
    submit(&world, 4, false);
    world_turn(&world);
    world.uid = 0;
    assert_int_equal(world_update(&world, "partition", "main", "OverSubscribe", "NO"), 0);
    uint32_t third = submit(&world, 1, false);
    world_turn(&world);
    assert_int_equal(world_state(&world, third), JOB_PENDING);
    world_check(&world);
    world_stop(&world);
}

TEST(with_gang_the_same_partition_takes_turns) {
    struct world world;
    begin(&world, "PreemptMode=GANG\n" CONF("OverSubscribe=FORCE:2"));
    uint32_t one = submit(&world, 4, false), two = submit(&world, 4, false);
    world_turn(&world);
    assert_int_equal(world_state(&world, one), JOB_RUNNING);
    assert_int_equal(world_state(&world, two), JOB_PENDING);
    world_pass_time(&world, 31);
    assert_int_equal(world_state(&world, one), JOB_SUSPENDED);
    assert_int_equal(world_state(&world, two), JOB_RUNNING);
    assert_int_equal(core_node(world.core, 0)->alloc_cpus, 4);
    world_check(&world);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            the_least_used_cores_are_shared_and_the_node_never_shows_more_cpus_than_it_has),
        cmocka_unit_test(a_job_that_does_not_share_is_never_on_cores_that_are_shared),
        cmocka_unit_test(who_shares_is_known_after_a_restart),
        cmocka_unit_test(an_update_of_the_partition_ends_sharing_for_new_jobs),
        cmocka_unit_test(with_gang_the_same_partition_takes_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
