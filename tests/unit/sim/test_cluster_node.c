/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "sim/cluster_internal.h"
#include "sim_conf.h"
#include "unit.h"

#define START 1000000

TEST(a_script_says_how_long_it_runs_and_how_it_ends) {
    struct str text cleanup_str = STR_INIT;
    struct sim_script script = {.run = 86400, .exit_status = 256}, back;
    sim_script_print(&script, &text);
    sim_script_parse(str_bytes(&text), &back);
    assert_int_equal(back.run, 86400);
    assert_int_equal(back.exit_status, 256);
    sim_script_parse((struct bytes) {(const uint8_t *) "#!/bin/sh\ntrue\n", 15}, &back);
    assert_int_equal(back.run, 0);
}

struct one_node {
    struct conf *conf;
    struct sim_cluster *cluster;
};

static void begin(struct one_node *world) {
    struct error err = ERROR_INIT;
    world->conf = sim_conf("SelectTypeParameters=CR_CPU\nNodeName=n1 CPUs=2\n"
                           "PartitionName=main Nodes=ALL Default=YES\nMinJobAge=60000\n");
    assert_int_equal(sim_cluster_new(world->conf, START, 1, NULL, &world->cluster, &err), 0);
}

static void finish(struct one_node *world) {
    sim_cluster_free(world->cluster);
    conf_free(world->conf);
}

static void to_node(struct one_node *world, uint16_t type, const void *object) {
    struct str body cleanup_str = STR_INIT;
    wire_encode(message_record(type), object, NULL, &body);
    sim_node_receive(&world->cluster->nodes[0], type, str_bytes(&body));
}

static uint32_t submit(struct one_node *world, int64_t run) {
    struct job_request request;
    struct error err = ERROR_INIT;
    sim_request(&request, 1, 100);
    return sim_cluster_submit(world->cluster, &request, "anna", run, &err);
}

TEST(time_stands_still_for_stopped_processes) {
    struct one_node world;
    begin(&world);
    uint32_t id = submit(&world, 100);
    sim_cluster_advance(world.cluster, START + 30);
    struct node_signal signal = {
        .job_id = id, .step_id = UNSET32, .attempt = 1, .signal = 19, .flags = NODE_SIGNAL_BATCH};
    to_node(&world, MSG_NODE_SIGNAL, &signal);
    sim_cluster_advance(world.cluster, START + 1030);
    signal.signal = 18;
    to_node(&world, MSG_NODE_SIGNAL, &signal);
    sim_cluster_advance(world.cluster, START + 1099);
    assert_int_equal(core_job(world.cluster->core, id)->state, JOB_RUNNING);
    sim_cluster_advance(world.cluster, START + 1100);
    assert_int_equal(core_job(world.cluster->core, id)->state, JOB_COMPLETED);
    finish(&world);
}

TEST(a_terminated_job_leaves_nothing_behind) {
    struct one_node world;
    begin(&world);
    uint32_t id = submit(&world, 100000);
    sim_cluster_advance(world.cluster, START + 30);
    assert_int_equal(agent_steps(world.cluster->nodes[0].agent), 1);
    struct job_terminate order = {.job_id = id, .attempt = 1, .kill_wait = 30};
    to_node(&world, MSG_JOB_TERMINATE, &order);
    sim_cluster_advance(world.cluster, START + 60);
    assert_int_equal(agent_steps(world.cluster->nodes[0].agent), 0);
    assert_true(list_is_empty(&world.cluster->nodes[0].stepds));
    assert_true(job_state_is_final(core_job(world.cluster->core, id)->state));
    assert_true(agent_knows_job(world.cluster->nodes[0].agent, id));
    sim_cluster_advance(world.cluster, START + 2000); /* the tombstone's time is over */
    assert_false(agent_knows_job(world.cluster->nodes[0].agent, id));
    finish(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_script_says_how_long_it_runs_and_how_it_ends),
        cmocka_unit_test(time_stands_still_for_stopped_processes),
        cmocka_unit_test(a_terminated_job_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
