/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "steps.h"

#define CONF                                                                                       \
    "ClusterName=t\nSlurmctldHost=h\nNodeName=n[1-2] CPUs=4 RealMemory=4000\n"                     \
    "PartitionName=p Nodes=ALL Default=YES\nSelectTypeParameters=CR_Core\nMinJobAge=300\n"

static void begin(struct world *world, const char *more) {
    cleanup_free char *text = xasprintf("%s%s", CONF, more);
    world_start(world, text);
    world_all_connect(world);
    world->uid = 1000;
}

static uint32_t submit(struct world *world, uint32_t nodes) {
    struct job_request request;
    world_request(&request);
    request.min_nodes = nodes;
    uint32_t id = world_submit(world, &request, NULL);
    world_turn(world);
    return id;
}

static bool configuring(struct world *world, uint32_t id) {
    return core_job(world->core, id)->flags & JOB_FLAG_CONFIGURING;
}

static void script_done(struct world *world, uint32_t id, bool epilog, const char *problem) {
    core_script_done(world->core, world->now, id, epilog, problem, &world->effects);
    world_turn(world);
}

static void node_prepared(struct world *world, uint32_t node, uint32_t id, uint32_t code) {
    struct job_prepared body = {
        .job_id = id, .attempt = core_job(world->core, id)->attempt, .code = code};
    core_node_message(world->core, world->now, node, MSG_JOB_PREPARED, &body, &world->effects);
    world_turn(world);
}

TEST(a_job_is_launched_when_the_controllers_prolog_has_ended) {
    struct world world;
    begin(&world, "PrologSlurmctld=/p\n");
    uint32_t id = submit(&world, 1);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    assert_true(configuring(&world, id));
    assert_int_equal(core_job(world.core, id)->reason, REASON_PROLOG);
    assert_int_equal(world.n_launched, 0);
    assert_int_equal(world.n_scripts, 1);
    script_done(&world, id, false, NULL);
    assert_int_equal(world.n_launched, 1);
    assert_false(configuring(&world, id));
    world_stop(&world);
}

TEST(a_failed_one_puts_a_batch_job_back_and_ends_an_allocation) {
    struct world world;
    begin(&world, "PrologSlurmctld=/p\n");
    uint32_t id = submit(&world, 1);
    script_done(&world, id, false, "ended with exit status 1");
    assert_int_equal(core_job(world.core, id)->restarts, 1);
    assert_int_not_equal(core_job(world.core, id)->priority, 0);
    world_stop(&world);
    begin(&world, "PrologSlurmctld=/p\n");
    struct job_request request;
    world_request(&request);
    request.kind = JOB_KIND_SALLOC;
    request.script = (struct blob) {NULL, 0};
    id = world_submit(&world, &request, NULL);
    world_turn(&world);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    script_done(&world, id, false, "ended with exit status 1");
    assert_int_equal(world_state(&world, id), JOB_CANCELLED);
    world_stop(&world);
}

TEST(a_restarted_controller_runs_its_prolog_and_epilog_again) {
    struct world world;
    begin(&world, "PrologSlurmctld=/p\nEpilogSlurmctld=/e\n");
    uint32_t id = submit(&world, 1);
    assert_int_equal(world.n_scripts, 1);
    world_restart(&world);
    world_all_connect(&world);
    assert_int_equal(world.n_scripts, 2);
    assert_int_equal(world.n_launched, 0);
    script_done(&world, id, false, NULL);
    assert_int_equal(world.n_launched, 1);
    world_script_ends(&world, id, 0);
    assert_int_equal(world_state(&world, id), JOB_COMPLETED);
    assert_true(core_job(world.core, id)->flags & JOB_FLAG_COMPLETING);
    assert_int_equal(world.n_scripts, 3);
    world_restart(&world);
    world_all_connect(&world);
    assert_int_equal(world.n_scripts, 4);
    script_done(&world, id, true, NULL);
    assert_false(core_job(world.core, id)->flags & JOB_FLAG_COMPLETING);
    world_stop(&world);
}

TEST(an_epilog_of_the_controller_waits_for_its_prolog) {
    struct world world;
    begin(&world, "PrologSlurmctld=/p\nEpilogSlurmctld=/e\n");
    uint32_t id = submit(&world, 1);
    cleanup_free char *text = xasprintf("%u", id);
    assert_int_equal(world_kill(&world, text), 0);
    assert_int_equal(world.n_scripts, 1);
    assert_true(core_job(world.core, id)->flags & JOB_FLAG_COMPLETING);
    script_done(&world, id, false, NULL);
    assert_int_equal(world.n_scripts, 2);
    script_done(&world, id, true, NULL);
    assert_false(core_job(world.core, id)->flags & JOB_FLAG_COMPLETING);
    assert_int_equal(world.n_launched, 0);
    world_stop(&world);
}

TEST(with_defer_batch_the_script_waits_for_all_nodes_else_for_its_own) {
    static const char *const flags[] = {"PrologFlags=Alloc\n", "PrologFlags=Alloc,DeferBatch\n"};
    for (int defer = 0; defer < 2; defer++) {
        struct world world;
        begin(&world, flags[defer]);
        uint32_t id = submit(&world, 2);
        assert_int_equal(world.n_launched, defer ? 0 : 1);
        assert_true(configuring(&world, id));
        node_prepared(&world, 0, id, 0);
        assert_int_equal(world.n_launched, defer ? 0 : 1);
        assert_true(configuring(&world, id));
        node_prepared(&world, 1, id, 0);
        assert_int_equal(world.n_launched, 1);
        assert_false(configuring(&world, id));
        world_stop(&world);
    }
}

TEST(a_node_that_cannot_make_ready_is_drained_and_the_job_held) {
    struct world world;
    begin(&world, "PrologFlags=Alloc\n");
    uint32_t id = submit(&world, 1);
    node_prepared(&world, 0, id, ERR_PROLOG);
    assert_int_equal(world_state(&world, id), JOB_PENDING);
    assert_int_equal(core_job(world.core, id)->reason, REASON_LAUNCH_HELD);
    assert_int_equal(core_job(world.core, id)->priority, 0);
    assert_string_equal(core_node(world.core, 0)->reason, "Prolog error");
    assert_true(core_node(world.core, 0)->flags & NODE_FLAG_DRAIN);
    world_stop(&world);
}

TEST(it_goes_elsewhere_at_once_where_that_is_configured) {
    struct world world;
    begin(&world, "PrologFlags=Alloc\nSchedulerParameters=nohold_on_prolog_fail\n");
    uint32_t id = submit(&world, 1);
    node_prepared(&world, 0, id, ERR_PROLOG);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    assert_string_equal(core_job(world.core, id)->nodes, "n2");
    world_stop(&world);
}

TEST(a_node_that_comes_back_is_asked_again_only_if_it_has_not_answered) {
    struct world world;
    begin(&world, "PrologFlags=Alloc\n");
    uint32_t id = submit(&world, 2);
    assert_int_equal(world.n_prepares, 2);
    node_prepared(&world, 0, id, 0);
    world_restart(&world);
    world_all_connect(&world);
    assert_int_equal(world.n_prepares, 3);
    node_prepared(&world, 1, id, 0);
    assert_false(configuring(&world, id));
    world_stop(&world);
}

TEST(a_step_waits_until_the_nodes_are_ready) {
    struct world world;
    struct step_request request;
    struct step_answer answer;
    begin(&world, "PrologFlags=Alloc\n");
    uint32_t id = submit(&world, 2);
    steps_request(&request, id, 1);
    steps_create(&world, &request, &answer);
    assert_true(answer.waiting);
    node_prepared(&world, 0, id, 0);
    node_prepared(&world, 1, id, 0);
    steps_answer(&world, &answer);
    assert_non_null(answer.layout);
    steps_done(&answer);
    world_stop(&world);
}

/* Also where the job goes on without the node. */
TEST(every_node_of_a_job_is_told_what_its_epilog_shows) {
    struct world world;
    struct job_request request;
    begin(&world, "Epilog=/e\n");
    world_request(&request);
    request.min_nodes = 2;
    request.no_kill = true;
    uint32_t id = world_submit(&world, &request, NULL);
    world_turn(&world);
    struct key_value changes[] = {{(char *) "State", (char *) "DOWN"},
                                  {(char *) "Reason", (char *) "disk"}};
    struct update update;
    record_init(&record_update, &update);
    update.entity = (char *) "node";
    update.target = (char *) "n2";
    update.changes.items = changes;
    update.changes.n = countof(changes);
    world.uid = 0;
    (void) world_send(&world, MSG_UPDATE, &update);
    world_turn(&world);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    assert_int_equal(world.n_terminates, 1);
    assert_int_equal(world.n_terminates_with_cpus, 1);
    world_script_ends(&world, id, 0);
    assert_int_equal(world.n_terminates, 2);
    assert_int_equal(world.n_terminates_with_cpus, 2);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_launched_when_the_controllers_prolog_has_ended),
        cmocka_unit_test(a_failed_one_puts_a_batch_job_back_and_ends_an_allocation),
        cmocka_unit_test(a_restarted_controller_runs_its_prolog_and_epilog_again),
        cmocka_unit_test(an_epilog_of_the_controller_waits_for_its_prolog),
        cmocka_unit_test(with_defer_batch_the_script_waits_for_all_nodes_else_for_its_own),
        cmocka_unit_test(a_node_that_cannot_make_ready_is_drained_and_the_job_held),
        cmocka_unit_test(it_goes_elsewhere_at_once_where_that_is_configured),
        cmocka_unit_test(a_node_that_comes_back_is_asked_again_only_if_it_has_not_answered),
        cmocka_unit_test(a_step_waits_until_the_nodes_are_ready),
        cmocka_unit_test(every_node_of_a_job_is_told_what_its_epilog_shows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
