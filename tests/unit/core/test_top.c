/* SPDX-License-Identifier: Apache-2.0 */
/* scontrol top: own jobs change places and overtake nobody. */
#include <stdio.h>

#include "unit.h"
#include "world.h"

static const char conf_text[] = "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=10\n"
                                "NodeName=n1 CPUs=1 RealMemory=1000\n"
                                "PartitionName=main Nodes=ALL Default=YES\n"
                                "PartitionName=other Nodes=ALL\n";
static const char user_text[] = "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=10\n"
                                "SchedulerParameters=enable_user_top\n"
                                "NodeName=n1 CPUs=1 RealMemory=1000\n"
                                "PartitionName=main Nodes=ALL Default=YES\n";

static uint32_t submit_as(struct world *world, uint32_t uid) {
    world->uid = uid;
    return world_job(world);
}

static int32_t nice_of(struct world *world, uint32_t job_id) {
    struct job job;
    assert_true(world_look(world, job_id, &job));
    return job.nice;
}

/* Ends what runs, again and again, and notes who runs then. */
static void expect_order(struct world *world, const uint32_t *ids, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (world_state(world, ids[i]) != JOB_RUNNING)
            fail_msg("job %u does not run as number %zu", ids[i], i + 1);
        world_script_ends(world, ids[i], 0);
    }
}

TEST(the_listed_jobs_come_first_in_their_order_and_nobody_else_is_overtaken) {
    struct world world;
    world_start(&world, conf_text);
    world_all_connect(&world);
    assert_int_equal(submit_as(&world, 1000), 1); /* runs */
    assert_int_equal(submit_as(&world, 1000), 2);
    assert_int_equal(submit_as(&world, 2000), 3);
    assert_int_equal(submit_as(&world, 1000), 4);
    assert_int_equal(submit_as(&world, 1000), 5);
    world.uid = 0;
    assert_int_equal(world_verb(&world, VERB_TOP, "4"), 0);
    assert_int_equal(world_verb(&world, VERB_TOP, "5"), 0);
    assert_int_equal(nice_of(&world, 3), 0);
    assert_int_equal(nice_of(&world, 5), 0);
    static const uint32_t order[] = {1, 3, 5, 4, 2};
    expect_order(&world, order, countof(order));
    world_stop(&world);
}

TEST(different_priorities_are_exchanged) {
    struct world world;
    world_start(&world, conf_text);
    world_all_connect(&world);
    for (uint32_t id = 1; id <= 4; id++)
        assert_int_equal(submit_as(&world, 1000), id);
    world.uid = 0;
    assert_int_equal(world_update(&world, "job", "3", "Nice", "10"), 0);
    assert_int_equal(world_update(&world, "job", "4", "Nice", "20"), 0);
    assert_int_equal(world_verb(&world, VERB_TOP, "4"), 0);
    assert_int_equal(nice_of(&world, 4), 0);
    assert_int_equal(nice_of(&world, 2), 10);
    assert_int_equal(nice_of(&world, 3), 20);
    world_stop(&world);
}

TEST(users_may_only_where_it_is_enabled_and_only_with_their_own) {
    struct world world;
    world_start(&world, conf_text);
    world_all_connect(&world);
    for (uint32_t id = 1; id <= 3; id++)
        assert_int_equal(submit_as(&world, 1000), id);
    assert_int_equal(world_verb(&world, VERB_TOP, "3"), ERR_ACCESS_DENIED);
    world_stop(&world);
    world_start(&world, user_text);
    world_all_connect(&world);
    for (uint32_t id = 1; id <= 3; id++)
        assert_int_equal(submit_as(&world, 1000), id);
    assert_int_equal(world_verb(&world, VERB_TOP, "1"), ERR_JOB_NOT_PENDING);
    assert_int_equal(world_verb(&world, VERB_TOP, "3"), 0);
    assert_int_equal(nice_of(&world, 2), 1);
    assert_int_equal(world_verb(&world, VERB_HOLD, "2"), 0);
    assert_int_equal(world_verb(&world, VERB_TOP, "2"), ERR_JOB_HELD);
    world.uid = 2000;
    assert_int_equal(world_verb(&world, VERB_TOP, "3"), ERR_ACCESS_DENIED);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_listed_jobs_come_first_in_their_order_and_nobody_else_is_overtaken),
        cmocka_unit_test(different_priorities_are_exchanged),
        cmocka_unit_test(users_may_only_where_it_is_enabled_and_only_with_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
