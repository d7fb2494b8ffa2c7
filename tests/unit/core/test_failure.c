/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that cannot begin, nodes that go down under them, requeues for ever: who waits, who is held,
 * which node is drained. */
#include <string.h>

#include "base/alloc.h"
#include "core/state.h"
#include "unit.h"
#include "world.h"

#define CLUSTER(more)                                                                              \
    "ClusterName=tux\nSlurmctldHost=localhost\nSelectTypeParameters=CR_CPU_Memory\n"               \
    "DefMemPerCPU=100\nSlurmdTimeout=60\nReturnToService=2\n" more                                 \
    "NodeName=n[1-8] CPUs=4 RealMemory=1000\n"                                                     \
    "PartitionName=main Nodes=ALL Default=YES MaxTime=1-0\n"

static void begin(struct world *world, const char *conf) {
    world_start(world, conf);
    world_all_connect(world);
    world->uid = 1000;
}

static uint32_t submit_as(struct world *world, uint32_t uid, const char *nodes) {
    struct job_request request;
    uint32_t before = world->uid;
    world_request(&request);
    request.requeue = TRI_YES;
    request.req_nodes = (char *) (uintptr_t) nodes;
    world->uid = uid;
    uint32_t id = world_submit(world, &request, NULL);
    world->uid = before;
    return id;
}

static bool is_drained(struct world *world, uint32_t node) {
    return core_node(world->core, node)->flags & NODE_FLAG_DRAIN;
}

static size_t n_drained(struct world *world) {
    size_t n = 0;
    for (uint32_t i = 0; i < world->n_nodes; i++)
        n += is_drained(world, i);
    return n;
}

/* ---- launches ---- */

TEST(a_job_that_cannot_be_launched_waits_longer_each_time_and_is_held_in_the_end) {
    static const int64_t delays[] = {5, 10, 20, 40};
    struct world world;
    struct job job;
    begin(&world, CLUSTER(""));
    world.launches_fail = true;
    uint32_t id = submit_as(&world, 1000, NULL);
    for (size_t i = 0; i < countof(delays); i++) {
        assert_true(world_look(&world, id, &job));
        assert_int_equal(job.state, JOB_PENDING);
        assert_int_equal(job.reason, REASON_BEGIN_TIME);
        assert_int_equal(job.begin_time - world.now, delays[i]);
        world_pass_time(&world, delays[i]);
    }
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.priority, 0);
    assert_int_equal(job.reason, REASON_MAX_REQUEUE);
    assert_int_equal(job.restarts, 5);
    assert_int_equal(n_drained(&world), 1); /* the others are not to blame */
    world.launches_fail = false;
    assert_int_equal(world_verb(&world, VERB_RELEASE, "1"), 0);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_stop(&world);
}

TEST(a_job_that_fails_on_one_node_runs_on_another_and_only_the_first_is_drained) {
    struct world world;
    struct job job;
    begin(&world, CLUSTER(""));
    world.launches_fail = true;
    uint32_t id = submit_as(&world, 1000, NULL);
    world.launches_fail = false;
    assert_true(is_drained(&world, 0));
    world.uid = 0;
    assert_int_equal(world_update(&world, "node", "n1", "State", "RESUME"), 0);
    world_restart(&world); /* what it avoids is in its record */
    world_all_connect(&world);
    world_pass_time(&world, 5);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_RUNNING);
    assert_string_equal(job.nodes, "n2");
    assert_int_equal(job.launch_failures, 0);
    world_stop(&world);
}

TEST(a_node_that_failed_it_is_avoided_only_where_there_are_others) {
    struct world world;
    struct job job;
    begin(&world, CLUSTER(""));
    world.launches_fail = true;
    uint32_t id = submit_as(&world, 1000, "n1");
    world.launches_fail = false;
    world.uid = 0;
    assert_int_equal(world_update(&world, "node", "n1", "State", "RESUME"), 0);
    world_pass_time(&world, 5);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_RUNNING);
    assert_string_equal(job.nodes, "n1");
    world_stop(&world);
}

TEST(after_an_hour_the_node_is_as_good_as_others) {
    struct world world;
    struct job job;
    begin(&world, CLUSTER(""));
    world.launches_fail = true;
    uint32_t id = submit_as(&world, 1000, NULL);
    assert_true(world_look(&world, id, &job));
    assert_true(job.trouble->avoid_until > world.now);
    world.uid = 0;
    assert_int_equal(world_verb(&world, VERB_HOLD, "1"), 0);
    assert_int_equal(world_update(&world, "node", "n1", "State", "RESUME"), 0);
    world_pass_time(&world, FAILURE_AVOIDED);
    world.launches_fail = false;
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.trouble->avoid_until, 0);
    assert_int_equal(world_verb(&world, VERB_RELEASE, "1"), 0);
    world_turn(&world);
    assert_true(world_look(&world, id, &job));
    assert_string_equal(job.nodes, "n1");
    world_stop(&world);
}

TEST(jobs_of_one_user_that_cannot_be_launched_anywhere_drain_two_nodes_at_most) {
    struct world world;
    begin(&world, CLUSTER(""));
    world.launches_fail = true;
    for (int i = 0; i < 20; i++)
        (void) submit_as(&world, 1000, NULL);
    world_pass_time(&world, 300);
    assert_int_equal(n_drained(&world), FAILURE_NODES_PER_USER);
    (void) submit_as(&world, 2000, NULL); /* another's has not been heard yet */
    assert_int_equal(n_drained(&world), FAILURE_NODES_PER_USER + 1);
    world_stop(&world);
}

TEST(without_requeue_a_job_that_cannot_be_launched_fails) {
    struct world world;
    struct job_request request;
    struct job job;
    begin(&world, CLUSTER(""));
    world.launches_fail = true;
    world_request(&request);
    request.requeue = TRI_NO;
    uint32_t id = world_submit(&world, &request, NULL);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_FAILED);
    assert_int_equal(job.reason, REASON_LAUNCH_FAILURE);
    world_stop(&world);
}

/* ---- nodes that go down ---- */

static void lose_node_of(struct world *world, uint32_t id) {
    struct job job;
    assert_true(world_look(world, id, &job));
    assert_int_equal(job.state, JOB_RUNNING);
    uint32_t node = core_node_find(world->core, job.batch_host);
    world_node_lost(world, node);
    world_pass_time(world, 70);
    world_node_connects(world, node);
    world_turn(world);
}

TEST(a_job_that_takes_nodes_down_is_held_and_avoids_those_it_had_before) {
    struct world world;
    struct job job;
    begin(&world, CLUSTER(""));
    uint32_t id = submit_as(&world, 1000, NULL);
    lose_node_of(&world, id);
    assert_true(world_look(&world, id, &job));
    assert_string_equal(job.nodes, "n2");
    world_restart(&world);
    world_all_connect(&world);
    lose_node_of(&world, id);
    lose_node_of(&world, id);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_PENDING);
    assert_int_equal(job.reason, REASON_MAX_REQUEUE);
    assert_int_equal(job.trouble->losses, 3);
    assert_int_equal(job.trouble->failed_nodes.n, 3);
    world_pass_time(&world, 100);
    assert_int_equal(world_state(&world, id), JOB_PENDING);
    world_stop(&world);
}

TEST(nodes_that_an_administrator_sets_down_do_not_count) {
    struct world world;
    struct key_value changes[] = {{text_of("State"), text_of("DOWN")},
                                  {text_of("Reason"), text_of("maintenance")}};
    struct update update;
    struct job job;
    begin(&world, CLUSTER(""));
    uint32_t id = submit_as(&world, 1000, NULL);
    record_init(&record_update, &update);
    update.entity = text_of("node");
    update.changes.items = changes;
    update.changes.n = 2;
    world.uid = 0;
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(world_look(&world, id, &job));
        cleanup_free char *name = xstrdup(job.batch_host);
        update.target = name;
        assert_int_equal(world_code(&world, world_send(&world, MSG_UPDATE, &update)), 0);
    }
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_stop(&world);
}

/* ---- requeued for ever ---- */

TEST(a_script_that_requeues_itself_for_ever_is_slowed_down) {
    static const int64_t delays[] = {0, 0, 0, 5, 10, 20};
    struct world world;
    struct job job;
    begin(&world, CLUSTER(""));
    uint32_t id = submit_as(&world, 1000, NULL);
    for (size_t i = 0; i < countof(delays); i++) {
        assert_int_equal(world_verb(&world, VERB_REQUEUE, "1"), 0);
        assert_true(world_look(&world, id, &job));
        assert_int_equal(max_of(job.begin_time - world.now, (int64_t) 0), delays[i]);
        world_pass_time(&world, delays[i] + 1);
        assert_int_equal(world_state(&world, id), JOB_RUNNING);
    }
    for (int i = 0; i < 20; i++) {
        assert_int_equal(world_verb(&world, VERB_REQUEUE, "1"), 0);
        world_pass_time(&world, FAILURE_DELAY_MOST + 1);
        assert_int_equal(world_state(&world, id), JOB_RUNNING);
    }
    world_pass_time(&world, FAILURE_QUICK_RUN); /* that one has done something */
    assert_int_equal(world_verb(&world, VERB_REQUEUE, "1"), 0);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_stop(&world);
}

TEST(so_is_one_that_ends_with_a_code_of_requeue_exit) {
    struct world world;
    struct job job;
    begin(&world, CLUSTER("RequeueExit=7\n"));
    uint32_t id = submit_as(&world, 1000, NULL);
    for (int i = 0; i < 4; i++)
        world_script_ends(&world, id, 7 << 8);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_PENDING);
    assert_int_equal(job.begin_time - world.now, FAILURE_DELAY);
    world_stop(&world);
}

TEST(a_code_of_requeue_exit_counts_for_jobs_with_no_requeue) {
    struct world world;
    struct job job;
    struct job_request request;
    begin(&world, CLUSTER("RequeueExit=7\nRequeueExitHold=8\n"));
    world_request(&request);
    request.requeue = TRI_NO;
    uint32_t id = world_submit(&world, &request, NULL);
    world_turn(&world);
    world_script_ends(&world, id, 7 << 8);
    world_pass_time(&world, 1);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_script_ends(&world, id, 8 << 8);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_PENDING);
    assert_int_equal(job.priority, 0);
    world_stop(&world);
}

/* ---- nodes that eat jobs ---- */

static void fails_on(struct world *world, uint32_t uid, const char *node) {
    uint32_t id = submit_as(world, uid, node);
    assert_int_equal(world_state(world, id), JOB_RUNNING);
    world_script_ends(world, id, 1 << 8);
    world_pass_time(world, 1);
}

TEST(a_node_on_which_everybodys_scripts_fail_is_drained) {
    struct world world;
    begin(&world, CLUSTER(""));
    for (uint32_t i = 0; i < 7; i++)
        fails_on(&world, 1000 + i % 3, "n3");
    assert_false(is_drained(&world, 2));
    fails_on(&world, 1000, "n3");
    assert_true(is_drained(&world, 2));
    assert_non_null(strstr(core_node(world.core, 2)->reason, "failing jobs: 8 of 3 users"));
    world_stop(&world);
}

TEST(one_users_bad_scripts_drain_nothing) {
    struct world world;
    begin(&world, CLUSTER(""));
    for (uint32_t i = 0; i < 50; i++)
        fails_on(&world, 1000 + i % 2, "n3");
    assert_int_equal(n_drained(&world), 0);
    world_stop(&world);
}

TEST(a_job_that_does_well_there_clears_the_node) {
    struct world world;
    begin(&world, CLUSTER(""));
    for (uint32_t i = 0; i < 30; i++) {
        if (i % 7 == 6) {
            uint32_t id = submit_as(&world, 1000, "n3");
            world_script_ends(&world, id, 0);
        } else {
            fails_on(&world, 1000 + i % 3, "n3");
        }
    }
    assert_int_equal(n_drained(&world), 0);
    world_stop(&world);
}

TEST(what_fails_everywhere_drains_a_tenth_of_the_nodes_at_most) {
    static const char *const nodes[] = {"n1", "n2", "n3"};
    struct world world;
    begin(&world, CLUSTER(""));
    for (size_t k = 0; k < countof(nodes); k++) {
        for (uint32_t i = 0; i < 8; i++)
            fails_on(&world, 1000 + i % 3, nodes[k]);
    }
    assert_int_equal(n_drained(&world), 1);
    world_stop(&world);
}

TEST(the_breaker_can_be_turned_off) {
    struct world world;
    begin(&world, CLUSTER("SlurmctldParameters=sluice_node_breaker=0,sluice_job_breaks=0\n"));
    for (uint32_t i = 0; i < 30; i++)
        fails_on(&world, 1000 + i % 3, "n3");
    assert_int_equal(n_drained(&world), 0);
    uint32_t id = submit_as(&world, 1000, NULL);
    for (int i = 0; i < 5; i++)
        lose_node_of(&world, id);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_job_that_cannot_be_launched_waits_longer_each_time_and_is_held_in_the_end),
        cmocka_unit_test(
            a_job_that_fails_on_one_node_runs_on_another_and_only_the_first_is_drained),
        cmocka_unit_test(a_node_that_failed_it_is_avoided_only_where_there_are_others),
        cmocka_unit_test(after_an_hour_the_node_is_as_good_as_others),
        cmocka_unit_test(jobs_of_one_user_that_cannot_be_launched_anywhere_drain_two_nodes_at_most),
        cmocka_unit_test(without_requeue_a_job_that_cannot_be_launched_fails),
        cmocka_unit_test(a_job_that_takes_nodes_down_is_held_and_avoids_those_it_had_before),
        cmocka_unit_test(nodes_that_an_administrator_sets_down_do_not_count),
        cmocka_unit_test(a_script_that_requeues_itself_for_ever_is_slowed_down),
        cmocka_unit_test(so_is_one_that_ends_with_a_code_of_requeue_exit),
        cmocka_unit_test(a_code_of_requeue_exit_counts_for_jobs_with_no_requeue),
        cmocka_unit_test(a_node_on_which_everybodys_scripts_fail_is_drained),
        cmocka_unit_test(one_users_bad_scripts_drain_nothing),
        cmocka_unit_test(a_job_that_does_well_there_clears_the_node),
        cmocka_unit_test(what_fails_everywhere_drains_a_tenth_of_the_nodes_at_most),
        cmocka_unit_test(the_breaker_can_be_turned_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
