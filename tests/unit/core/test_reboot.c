/* SPDX-License-Identifier: Apache-2.0 */
/* scontrol reboot: when, and what becomes of the node. */
#include <string.h>

#include "unit.h"
#include "world.h"

static const char conf_text[] = "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=10\n"
                                "ReturnToService=0\nResumeTimeout=100\nRebootProgram=/bin/true\n"
                                "NodeName=n[1-2] CPUs=4 RealMemory=1000\n"
                                "PartitionName=main Nodes=ALL Default=YES\n";

static void begin(struct world *world) {
    world_start(world, conf_text);
    world_all_connect(world);
}

static const struct node *n1(struct world *world) {
    return core_node(world->core, 0);
}

static int reboot(struct world *world, bool asap, uint32_t next, const char *reason) {
    struct reboot request;
    record_init(&record_reboot, &request);
    request.nodes = (char *) (uintptr_t) "n1";
    request.asap = asap;
    request.next_state = next;
    request.reason = (char *) (uintptr_t) reason;
    uint64_t client = world_send(world, MSG_REBOOT, &request);
    return world_code(world, client);
}

/* The machine goes down and comes back. */
static void boots(struct world *world) {
    world_node_lost(world, 0);
    world_pass_time(world, 5);
    world->boots[0]++;
    world_node_connects(world, 0);
}

TEST(a_reboot_waits_until_nothing_runs) {
    struct world world;
    begin(&world);
    uint32_t job = world_job(&world);
    assert_int_equal(reboot(&world, false, NODE_UNKNOWN, NULL), 0);
    assert_int_equal(n1(&world)->flags, NODE_FLAG_REBOOT_REQUESTED);
    assert_string_equal(n1(&world)->reason, "reboot requested");
    assert_int_equal(world.n_reboots[0], 0);
    world_restart(&world); /* it is not forgotten */
    world_all_connect(&world);
    world_script_ends(&world, job, 0);
    assert_int_equal(world.n_reboots[0], 1);
    assert_int_equal(n1(&world)->flags, NODE_FLAG_REBOOT_ISSUED);
    assert_int_equal(n1(&world)->state, NODE_DOWN);
    assert_string_equal(n1(&world)->reason, "reboot requested : reboot issued");
    world_node_connects(&world, 0); /* slurmd was restarted; the machine was not */
    assert_int_equal(n1(&world)->flags, NODE_FLAG_REBOOT_ISSUED);
    boots(&world);
    assert_int_equal(n1(&world)->flags, 0);
    assert_int_equal(n1(&world)->state, NODE_IDLE);
    assert_null(n1(&world)->reason);
    assert_int_equal(world.n_reboots[0], 1);
    world_check(&world);
    world_stop(&world);
}

TEST(asap_keeps_others_away_meanwhile) {
    struct world world;
    struct job job;
    begin(&world);
    uint32_t first = world_job(&world);
    assert_int_equal(reboot(&world, true, NODE_UNKNOWN, NULL), 0);
    assert_int_equal(n1(&world)->flags, NODE_FLAG_REBOOT_REQUESTED | NODE_FLAG_DRAIN);
    assert_string_equal(n1(&world)->reason, "Reboot ASAP");
    assert_int_equal(n1(&world)->next_state, NODE_IDLE);
    uint32_t second = world_job(&world);
    assert_true(world_look(&world, second, &job));
    assert_string_equal(job.nodes, "n2");
    world_script_ends(&world, first, 0);
    boots(&world);
    assert_int_equal(n1(&world)->flags, 0);
    assert_int_equal(n1(&world)->state, NODE_IDLE);
    world_stop(&world);
}

TEST(a_drain_of_others_and_its_reason_outlast_the_reboot) {
    struct world world;
    begin(&world);
    struct node_status status;
    record_init(&record_node_status, &status);
    status.problem = (char *) (uintptr_t) "disk";
    core_node_message(world.core, world.now, 0, MSG_NODE_STATUS, &status, &world.effects);
    world_turn(&world);
    assert_int_equal(reboot(&world, false, NODE_UNKNOWN, NULL), 0);
    assert_string_equal(n1(&world)->reason, "disk : reboot issued");
    boots(&world);
    assert_int_equal(n1(&world)->flags, NODE_FLAG_DRAIN);
    assert_string_equal(n1(&world)->reason, "disk");
    assert_int_equal(reboot(&world, false, NODE_IDLE, NULL), 0);
    boots(&world);
    assert_int_equal(n1(&world)->flags, 0);
    assert_null(n1(&world)->reason);
    world_stop(&world);
}

TEST(with_nextstate_down_it_stays_away) {
    struct world world;
    begin(&world);
    assert_int_equal(reboot(&world, true, NODE_DOWN, "kernel"), 0);
    boots(&world);
    assert_int_equal(n1(&world)->flags, 0);
    assert_int_equal(n1(&world)->state, NODE_DOWN);
    assert_string_equal(n1(&world)->reason, "kernel : reboot issued : reboot complete");
    world_stop(&world);
}

TEST(one_that_does_not_come_back_in_time_is_down) {
    struct world world;
    begin(&world);
    assert_int_equal(reboot(&world, true, NODE_UNKNOWN, NULL), 0);
    world_node_lost(&world, 0);
    world_restart(&world); /* the deadline is not forgotten */
    world_pass_time(&world, 101);
    assert_int_equal(n1(&world)->state, NODE_DOWN);
    assert_int_equal(n1(&world)->flags & (NODE_FLAG_DRAIN | NODE_FLAG_REBOOT_ISSUED), 0);
    assert_string_equal(n1(&world)->reason, "Reboot ASAP : reboot issued : reboot timed out");
    world.boots[0]++;
    world_node_connects(&world, 0);
    assert_int_equal(n1(&world)->state, NODE_DOWN); /* ReturnToService=0 */
    world_stop(&world);
}

TEST(it_can_be_cancelled_until_it_is_issued) {
    struct world world;
    begin(&world);
    uint32_t job = world_job(&world);
    assert_int_equal(reboot(&world, true, NODE_UNKNOWN, NULL), 0);
    assert_int_equal(world_update(&world, "node", "n1", "State", "CANCEL_REBOOT"), 0);
    assert_int_equal(n1(&world)->flags, 0);
    assert_null(n1(&world)->reason);
    world_script_ends(&world, job, 0);
    assert_int_equal(world.n_reboots[0], 0);
    assert_int_equal(reboot(&world, false, NODE_UNKNOWN, NULL), 0);
    assert_int_equal(reboot(&world, false, NODE_UNKNOWN, NULL), ERR_NODE_STATE); /* issued */
    assert_int_equal(world_update(&world, "node", "n1", "State", "RESUME"), 0);
    assert_int_equal(n1(&world)->flags, 0);
    assert_int_equal(n1(&world)->state, NODE_IDLE);
    world_pass_time(&world, 200);
    assert_int_equal(n1(&world)->state, NODE_IDLE); /* the deadline is gone with it */
    world_stop(&world);
}

TEST(a_reboot_of_an_idle_node_that_nobody_asked_for_puts_it_down) {
    struct world world;
    begin(&world);
    boots(&world);
    assert_int_equal(n1(&world)->state, NODE_DOWN);
    assert_string_equal(n1(&world)->reason, "Node unexpectedly rebooted");
    assert_int_equal(world_update(&world, "node", "n1", "State", "RESUME"), 0);
    world_node_connects(&world, 0);
    assert_int_equal(n1(&world)->state, NODE_IDLE);
    world_stop(&world);
}

TEST(only_administrators_may_and_only_with_a_program) {
    struct world world;
    begin(&world);
    world.uid = 1000;
    assert_int_equal(reboot(&world, false, NODE_UNKNOWN, NULL), ERR_ACCESS_DENIED);
    world.uid = 0;
    assert_int_equal(reboot(&world, false, NODE_MIXED, NULL), ERR_INVALID);
    world_stop(&world);
    world_start(&world, "NodeName=n1 CPUs=4\nPartitionName=main Nodes=ALL Default=YES\n");
    world_all_connect(&world);
    assert_int_equal(reboot(&world, false, NODE_UNKNOWN, NULL), ERR_NOT_SUPPORTED);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reboot_waits_until_nothing_runs),
        cmocka_unit_test(asap_keeps_others_away_meanwhile),
        cmocka_unit_test(a_drain_of_others_and_its_reason_outlast_the_reboot),
        cmocka_unit_test(with_nextstate_down_it_stays_away),
        cmocka_unit_test(one_that_does_not_come_back_in_time_is_down),
        cmocka_unit_test(it_can_be_cancelled_until_it_is_issued),
        cmocka_unit_test(a_reboot_of_an_idle_node_that_nobody_asked_for_puts_it_down),
        cmocka_unit_test(only_administrators_may_and_only_with_a_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
