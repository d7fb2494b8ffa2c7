/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes: verbs of administrators, registration, what happens to the jobs.
 * Covers: node_update.c */
#include <string.h>

#include "unit.h"
#include "world.h"

static const char conf_text[] = "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=10\n"
                                "SlurmdTimeout=60\nReturnToService=0\nGresTypes=gpu\n"
                                "NodeName=n[1-3] CPUs=4 RealMemory=1000 Gres=gpu:2\n"
                                "PartitionName=main Nodes=ALL Default=YES\n";

static void begin(struct world *world) {
    world_start(world, conf_text);
    world_all_connect(world);
}

static const struct node *n1(struct world *world) {
    return core_node(world->core, 0);
}

static int set_state(struct world *world, const char *state, const char *reason) {
    struct key_value changes[2] = {{(char *) (uintptr_t) "State", (char *) (uintptr_t) state},
                                   {(char *) (uintptr_t) "Reason", (char *) (uintptr_t) reason}};
    struct update update;
    record_init(&record_update, &update);
    update.entity = (char *) (uintptr_t) "node";
    update.target = (char *) (uintptr_t) "n1";
    update.changes.items = changes;
    update.changes.n = reason != NULL ? 2 : 1;
    uint64_t client = world_send(world, MSG_UPDATE, &update);
    return world_code(world, client);
}

TEST(drain_keeps_what_runs_and_takes_nothing_new) {
    struct world world;
    struct job job;
    begin(&world);
    uint32_t first = world_job(&world);
    assert_int_equal(set_state(&world, "DRAIN", "disk"), 0);
    assert_int_equal(n1(&world)->flags & NODE_FLAG_DRAIN, NODE_FLAG_DRAIN);
    assert_string_equal(n1(&world)->reason, "disk");
    assert_int_equal(n1(&world)->state, NODE_MIXED);
    assert_int_equal(world_state(&world, first), JOB_RUNNING);
    uint32_t next = world_job(&world);
    assert_true(world_look(&world, next, &job));
    assert_string_equal(job.nodes, "n2");
    world_script_ends(&world, first, 0);
    assert_int_equal(n1(&world)->state, NODE_IDLE);
    assert_int_equal(set_state(&world, "RESUME", NULL), 0);
    assert_int_equal(n1(&world)->flags, 0);
    assert_null(n1(&world)->reason);
    world_stop(&world);
}

TEST(down_and_drain_need_a_reason_and_resume_something_to_resume_from) {
    struct world world;
    begin(&world);
    assert_int_equal(set_state(&world, "DRAIN", NULL), ERR_INVALID);
    assert_int_equal(set_state(&world, "DOWN", NULL), ERR_INVALID);
    assert_int_equal(set_state(&world, "FAIL", NULL), ERR_INVALID);
    assert_int_equal(set_state(&world, "RESUME", NULL), ERR_NODE_STATE);
    assert_int_equal(set_state(&world, "UNDRAIN", NULL), ERR_NODE_STATE);
    assert_int_equal(set_state(&world, "BROKEN", "x"), ERR_INVALID);
    assert_int_equal(n1(&world)->state, NODE_IDLE);
    assert_null(n1(&world)->reason);
    world.uid = 1000;
    assert_int_equal(set_state(&world, "DRAIN", "mine"), ERR_USER_ID);
    world_stop(&world);
}

TEST(down_evicts_and_only_resume_brings_back) {
    struct world world;
    struct job_request request;
    struct job job;
    begin(&world);
    uint32_t again = world_job(&world);
    world_request(&request);
    request.requeue = TRI_NO;
    uint32_t fails = world_submit(&world, &request, NULL);
    assert_int_equal(set_state(&world, "DOWN", "fire"), 0);
    assert_int_equal(n1(&world)->state, NODE_DOWN);
    assert_int_equal(n1(&world)->alloc_cpus, 0);
    assert_true(world_look(&world, again, &job));
    assert_int_equal(job.restarts, 1);
    assert_string_equal(job.failed_node, "n1");
    assert_true(world_look(&world, fails, &job));
    assert_int_equal(job.state, JOB_NODE_FAIL);
    assert_int_equal(job.reason, REASON_NODE_DOWN);
    assert_int_equal(job.exit_status, 1 << 8);
    world_node_connects(&world, 0);
    assert_int_equal(n1(&world)->state, NODE_DOWN);
    assert_int_equal(set_state(&world, "RESUME", NULL), 0);
    assert_int_equal(n1(&world)->state, NODE_IDLE);
    world_check(&world);
    world_stop(&world);
}

TEST(undrain_clears_the_drain_and_nothing_else) {
    struct world world;
    begin(&world);
    assert_int_equal(set_state(&world, "FAIL", "old"), 0);
    assert_int_equal(set_state(&world, "DRAIN", "disk"), 0);
    assert_int_equal(set_state(&world, "UNDRAIN", NULL), 0);
    assert_int_equal(n1(&world)->flags, NODE_FLAG_FAIL);
    assert_int_equal(set_state(&world, "IDLE", NULL), 0);
    assert_int_equal(n1(&world)->flags, 0);
    world_stop(&world);
}

TEST(active_features_are_of_those_that_a_node_has) {
    struct world world;
    begin(&world);
    assert_int_equal(world_update(&world, "node", "n1", "Features", "a,b"), 0);
    assert_int_equal(world_update(&world, "node", "n1", "ActiveFeatures", "b"), 0);
    assert_int_equal(world_update(&world, "node", "n1", "ActiveFeatures", "b,c"),
                     ERR_ACTIVE_FEATURES);
    assert_string_equal(n1(&world)->active_features, "b");
    world_stop(&world);
}

TEST(a_node_out_of_service_keeps_its_reason) {
    struct world world;
    begin(&world);
    assert_int_equal(set_state(&world, "IDLE", NULL), 0); /* as it is */
    assert_int_equal(set_state(&world, "RESUME", NULL), ERR_NODE_STATE);
    assert_int_equal(set_state(&world, "DRAIN", "broken"), 0);
    assert_int_equal(world_update(&world, "node", "n1", "Reason", ""), 0);
    assert_string_equal(n1(&world)->reason, "broken");
    world_stop(&world);
}

TEST(a_future_node_must_be_free) {
    struct world world;
    begin(&world);
    uint32_t id = world_job(&world);
    assert_int_equal(set_state(&world, "FUTURE", NULL), ERR_NODE_STATE);
    world_script_ends(&world, id, 0);
    assert_int_equal(set_state(&world, "FUTURE", NULL), 0);
    assert_int_equal(n1(&world)->state, NODE_FUTURE);
    world_stop(&world);
}

static void registers(struct world *world, uint32_t cpus, uint64_t mem, const char *gres,
                      const char *boot_id) {
    struct node_register reg;
    struct node hardware;
    record_init(&record_node_register, &reg);
    record_init(&record_node, &hardware);
    hardware.cpus = cpus;
    hardware.sockets = cpus;
    hardware.cores = hardware.threads = 1;
    hardware.memory = mem;
    hardware.gres = (char *) (uintptr_t) gres;
    hardware.boot_id = (char *) (uintptr_t) boot_id;
    reg.node = &hardware;
    core_node_message(world->core, world->now, 0, MSG_NODE_REGISTER, &reg, &world->effects);
    world_turn(world);
}

TEST(a_node_with_less_than_configured_is_invalid_and_drained_until_both_are_mended) {
    struct world world;
    begin(&world);
    registers(&world, 4, 500, "gpu:2", "boot");
    assert_int_equal(n1(&world)->flags, NODE_FLAG_INVALID_REG | NODE_FLAG_DRAIN);
    assert_string_equal(n1(&world)->reason,
                        "Low RealMemory (reported:500 < 100.00% of configured:1000)");
    assert_int_equal(set_state(&world, "RESUME", NULL), ERR_NODE_STATE); /* the cause persists */
    registers(&world, 4, 1000, "gpu:1", "boot");
    assert_non_null(strstr(n1(&world)->reason, "gres/gpu count reported lower than configured"));
    registers(&world, 4, 1000, "gpu:2", "boot");
    assert_int_equal(n1(&world)->flags, NODE_FLAG_DRAIN);
    assert_int_equal(set_state(&world, "RESUME", NULL), 0);
    assert_int_equal(n1(&world)->flags, 0);
    world_stop(&world);
}

TEST(a_node_that_rebooted_under_its_jobs_goes_down) {
    struct world world;
    struct job job;
    begin(&world);
    uint32_t id = world_job(&world);
    registers(&world, 4, 1000, "gpu:2", "another boot");
    assert_int_equal(n1(&world)->state, NODE_DOWN);
    assert_string_equal(n1(&world)->reason, "Node unexpectedly rebooted");
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.restarts, 1);
    world_check(&world);
    world_stop(&world);
}

TEST(a_bare_registration_is_taken) {
    struct world world;
    struct node_register reg;
    begin(&world);
    record_init(&record_node_register, &reg);
    core_node_message(world.core, world.now, 0, MSG_NODE_REGISTER, &reg, &world.effects);
    world_turn(&world);
    assert_int_equal(n1(&world)->state, NODE_IDLE);
    world_stop(&world);
}

TEST(a_problem_that_a_node_reports_drains_it) {
    struct world world;
    struct node_status status;
    begin(&world);
    record_init(&record_node_status, &status);
    status.problem = (char *) (uintptr_t) "disk is full";
    core_node_message(world.core, world.now, 0, MSG_NODE_STATUS, &status, &world.effects);
    world_turn(&world);
    assert_int_equal(n1(&world)->flags, NODE_FLAG_DRAIN);
    assert_string_equal(n1(&world)->reason, "disk is full");
    struct job_clean clean;
    record_init(&record_job_clean, &clean);
    clean.job_id = 99;
    clean.problem = (char *) (uintptr_t) "Kill task failed";
    core_node_message(world.core, world.now, 1, MSG_JOB_CLEAN, &clean, &world.effects);
    world_turn(&world);
    assert_string_equal(core_node(world.core, 1)->reason, "Kill task failed");
    world_stop(&world);
}

TEST(a_step_that_does_not_die_drains_its_node_at_once) {
    struct world world;
    struct step_done done;
    begin(&world);
    uint32_t job = world_job(&world);
    record_init(&record_step_done, &done);
    done.job_id = job;
    done.attempt = 1;
    done.stuck = true;
    done.detail = (char *) (uintptr_t) "Kill task failed: pid 12 (dd, state D) of step 1.0";
    core_node_message(world.core, world.now, 0, MSG_STEP_DONE, &done, &world.effects);
    world_turn(&world);
    assert_int_equal(n1(&world)->flags, NODE_FLAG_DRAIN);
    assert_string_equal(n1(&world)->reason, done.detail);
    assert_int_equal(world_state(&world, job), JOB_RUNNING);
    world_stop(&world);
}

TEST(steps_that_nobody_knows_are_killed_or_forgotten) {
    struct world world;
    struct node_register reg;
    begin(&world);
    enum { MANY = 20000 };
    struct node_step *steps = xcalloc(MANY, sizeof(*steps));
    for (uint32_t i = 0; i < MANY; i++)
        steps[i] = (struct node_step) {.job_id = 1000 + i, .attempt = 1, .ended = i % 2};
    record_init(&record_node_register, &reg);
    reg.steps.items = steps;
    reg.steps.n = MANY;
    uint32_t job = world_job(&world);
    core_node_message(world.core, world.now, 1, MSG_NODE_REGISTER, &reg, &world.effects);
    uint32_t acks = 0, kills = 0;
    vec_each (&world.effects.list, effect) {
        acks += effect->kind == EFFECT_NODE && effect->type == MSG_STEP_ACK;
        if (effect->kind != EFFECT_NODE || effect->type != MSG_NODE_WELCOME)
            continue;
        struct arena arena;
        struct node_welcome welcome;
        struct error err = ERROR_INIT;
        arena_init(&arena, 0);
        assert_int_equal(wire_decode(&record_node_welcome, effect->body, &arena, &welcome, &err),
                         0);
        kills = welcome.kill.n;
        arena_done(&arena);
    }
    world_turn(&world);
    assert_int_equal(acks, MANY / 2);
    assert_int_equal(kills, MANY / 2);
    assert_int_equal(world_state(&world, job), JOB_RUNNING);
    free(steps);
    world_stop(&world);
}

/* Registers a node on which this step runs; what the core says to it then stays in world->effects
 * until the turn's end. */
static void registers_with(struct world *world, uint32_t node, struct node_step *step) {
    struct node_register reg;
    record_init(&record_node_register, &reg);
    reg.steps.items = step;
    reg.steps.n = step != NULL ? 1 : 0;
    world->node_up[node] = true;
    core_node_message(world->core, world->now, node, MSG_NODE_REGISTER, &reg, &world->effects);
}

/* How many messages of a type wait to be sent to nodes. */
static size_t n_sent(const struct world *world, uint16_t type) {
    size_t n = 0;
    vec_each (&world->effects.list, effect)
        n += effect->kind == EFFECT_NODE && effect->type == type;
    return n;
}

static uint32_t submit_to(struct world *world, const char *nodes) {
    struct job_request request;
    world_request(&request);
    request.req_nodes = (char *) (uintptr_t) nodes;
    return world_submit(world, &request, NULL);
}

TEST(a_node_takes_nothing_new_until_what_it_brought_along_is_gone) {
    struct world world;
    struct node_step step = {.job_id = 1000, .step_id = STEP_BATCH, .attempt = 1};
    struct step_done done = {.job_id = 1000, .step_id = STEP_BATCH, .attempt = 1};
    begin(&world);
    registers_with(&world, 0, &step);
    world_turn(&world);
    assert_int_equal(n1(&world)->flags & NODE_FLAG_COMPLETING, NODE_FLAG_COMPLETING);
    uint32_t id = submit_to(&world, "n1");
    assert_int_equal(world_state(&world, id), JOB_PENDING);
    core_node_message(world.core, world.now, 0, MSG_STEP_DONE, &done, &world.effects);
    world_turn(&world);
    assert_int_equal(n1(&world)->flags & NODE_FLAG_COMPLETING, 0);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_stop(&world);
}

TEST(a_job_that_goes_on_without_a_node_has_no_more_right_there) {
    struct world world;
    struct job_request request;
    begin(&world);
    world_request(&request);
    request.min_nodes = request.max_nodes = 2;
    request.no_kill = true;
    uint32_t id = world_submit(&world, &request, NULL);
    world_node_lost(&world, 1);
    world_pass_time(&world, 100);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    struct node_step step = {.job_id = id, .step_id = 0, .attempt = 1};
    registers_with(&world, 1, &step);
    world_turn(&world);
    assert_int_equal(core_node(world.core, 1)->flags & NODE_FLAG_COMPLETING, NODE_FLAG_COMPLETING);
    world_stop(&world);
}

TEST(a_node_set_down_and_up_again_takes_nothing_before_it_is_clean) {
    struct world world;
    begin(&world);
    uint32_t id = submit_to(&world, "n1");
    world.nodes_answer = false;
    assert_int_equal(set_state(&world, "DOWN", "disk"), 0);
    assert_int_equal(n1(&world)->alloc_cpus, 0);
    assert_int_equal(set_state(&world, "RESUME", NULL), 0);
    world.nodes_answer = true;
    uint32_t next = submit_to(&world, "n1");
    assert_int_equal(world_state(&world, next), JOB_PENDING);
    struct job_clean clean = {.job_id = id, .attempt = 1};
    core_node_message(world.core, world.now, 0, MSG_JOB_CLEAN, &clean, &world.effects);
    world_turn(&world);
    assert_int_not_equal(n1(&world)->alloc_cpus, 0);
    world_stop(&world);
}

TEST(a_node_that_was_away_is_told_again_what_stands_still) {
    struct world world;
    begin(&world);
    uint32_t id = submit_to(&world, "n1");
    struct node_step step = {.job_id = id, .step_id = STEP_BATCH, .attempt = 1};
    registers_with(&world, 0, &step);
    assert_int_equal(n_sent(&world, MSG_NODE_SIGNAL), 0);
    world_turn(&world);
    world_pass_time(&world, 10);
    assert_int_equal(world_verb(&world, VERB_SUSPEND, "1"), 0);
    registers_with(&world, 0, &step);
    assert_int_equal(n_sent(&world, MSG_NODE_SIGNAL), 1);
    world_turn(&world);
    assert_int_equal(world_verb(&world, VERB_RESUME, "1"), 0);
    registers_with(&world, 0, &step);
    assert_int_equal(n_sent(&world, MSG_NODE_SIGNAL), 1);
    world_turn(&world);
    world_stop(&world);
}

TEST(a_silent_node_comes_back_by_itself_if_return_to_service_says_so) {
    struct world world;
    world_start(&world, "SlurmdTimeout=60\nReturnToService=1\n"
                        "NodeName=n[1-3] CPUs=4 RealMemory=1000\n"
                        "PartitionName=main Nodes=ALL Default=YES\n");
    world_all_connect(&world);
    world_node_lost(&world, 0);
    world_pass_time(&world, 100);
    assert_int_equal(n1(&world)->state, NODE_DOWN);
    assert_string_equal(n1(&world)->reason, "Not responding");
    world_node_connects(&world, 0);
    assert_int_equal(n1(&world)->state, NODE_IDLE);
    assert_null(n1(&world)->reason);
    assert_int_equal(set_state(&world, "DOWN", "fire"), 0);
    world_node_connects(&world, 0);
    assert_int_equal(n1(&world)->state, NODE_DOWN);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drain_keeps_what_runs_and_takes_nothing_new),
        cmocka_unit_test(down_and_drain_need_a_reason_and_resume_something_to_resume_from),
        cmocka_unit_test(down_evicts_and_only_resume_brings_back),
        cmocka_unit_test(undrain_clears_the_drain_and_nothing_else),
        cmocka_unit_test(active_features_are_of_those_that_a_node_has),
        cmocka_unit_test(a_node_out_of_service_keeps_its_reason),
        cmocka_unit_test(a_future_node_must_be_free),
        cmocka_unit_test(
            a_node_with_less_than_configured_is_invalid_and_drained_until_both_are_mended),
        cmocka_unit_test(a_node_that_rebooted_under_its_jobs_goes_down),
        cmocka_unit_test(a_bare_registration_is_taken),
        cmocka_unit_test(a_problem_that_a_node_reports_drains_it),
        cmocka_unit_test(a_step_that_does_not_die_drains_its_node_at_once),
        cmocka_unit_test(steps_that_nobody_knows_are_killed_or_forgotten),
        cmocka_unit_test(a_node_takes_nothing_new_until_what_it_brought_along_is_gone),
        cmocka_unit_test(a_job_that_goes_on_without_a_node_has_no_more_right_there),
        cmocka_unit_test(a_node_set_down_and_up_again_takes_nothing_before_it_is_clean),
        cmocka_unit_test(a_node_that_was_away_is_told_again_what_stands_still),
        cmocka_unit_test(a_silent_node_comes_back_by_itself_if_return_to_service_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
