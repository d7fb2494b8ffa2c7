/* SPDX-License-Identifier: Apache-2.0 */
/* Triggers: which events let them run, with what, and what is kept of them. */
#include <stdio.h>
#include <string.h>

#include "model/trigger.h"
#include "unit.h"
#include "world.h"

static const char conf_text[] = "SelectTypeParameters=CR_CPU\nMinJobAge=60000\n"
                                "NodeName=n[1-3] CPUs=4 RealMemory=1000\n"
                                "PartitionName=main Nodes=ALL Default=YES\n";

static void begin(struct world *world) {
    world_start(world, conf_text);
    world->uid = 0;
    world_all_connect(world);
}

static int set(struct world *world, enum trigger_event event, uint32_t job, const char *nodes,
               int offset, bool permanent) {
    struct trigger trigger;
    record_init(&record_trigger, &trigger);
    trigger.event = event;
    trigger.object = job != 0 ? TRIGGER_OBJECT_JOB : (uint32_t) trigger_row_find(event)->object;
    trigger.job_id = job;
    trigger.nodes = (char *) (uintptr_t) nodes;
    trigger.offset = offset;
    trigger.permanent = permanent;
    trigger.program = (char *) (uintptr_t) "/bin/true";
    return world_code(world, world_send(world, MSG_TRIGGER_SET, &trigger));
}

static uint32_t n_left(struct world *world) {
    struct arena arena;
    struct empty nothing = {0};
    arena_init(&arena, 0);
    uint64_t client = world_send(world, MSG_TRIGGER_GET, &nothing);
    const struct trigger_list *list = world_answer(world, client, MSG_TRIGGER_LIST, &arena);
    assert_non_null(list);
    uint32_t n = list->items.n;
    arena_done(&arena);
    return n;
}

/* What has been run since the last call: "3 n[1-2];4 17;" */
static void ran(struct world *world, const char *expected) {
    struct str out cleanup_str = STR_INIT;
    vec_each (&world->trigger_runs, run) {
        str_printf(&out, "%s;", *run);
        free(*run);
    }
    vec_reset(&world->trigger_runs);
    assert_string_equal(str_cstr(&out), expected);
}

static void set_state(struct world *world, const char *node, const char *to) {
    struct key_value changes[] = {{(char *) "State", (char *) (uintptr_t) to},
                                  {(char *) "Reason", (char *) "test"}};
    struct update update;
    record_init(&record_update, &update);
    update.entity = (char *) "node";
    update.target = (char *) (uintptr_t) node;
    update.changes.items = changes;
    update.changes.n = 2;
    assert_int_equal(world_code(world, world_send(world, MSG_UPDATE, &update)), 0);
}

TEST(nodes_that_go_down_together_are_one_call) {
    struct world world;
    begin(&world);
    assert_int_equal(set(&world, TRIGGER_DOWN, 0, NULL, 0, false), 0);
    assert_int_equal(set(&world, TRIGGER_DOWN, 0, "n2", 0, false), 0);
    assert_int_equal(set(&world, TRIGGER_UP, 0, NULL, 0, false), 0);
    set_state(&world, "n1", "DOWN");
    set_state(&world, "n2", "DOWN");
    ran(&world, "");
    world_pass_time(&world, 3);
    ran(&world, "1 n[1-2];2 n2;");
    assert_int_equal(n_left(&world), 1);
    set_state(&world, "n2", "RESUME");
    world_pass_time(&world, 3);
    ran(&world, "3 n2;");
    assert_int_equal(n_left(&world), 0);
    world_stop(&world);
}

TEST(a_permanent_trigger_waits_again) {
    struct world world;
    begin(&world);
    assert_int_equal(set(&world, TRIGGER_DRAINED, 0, NULL, 0, true), 0);
    assert_int_equal(set(&world, TRIGGER_FAIL, 0, NULL, 0, true), 0);
    for (int round = 0; round < 2; round++) {
        set_state(&world, "n3", "DRAIN");
        world_pass_time(&world, 3);
        ran(&world, "1 n3;");
        set_state(&world, "n3", "RESUME");
        world_pass_time(&world, 3);
        ran(&world, "");
    }
    set_state(&world, "n1", "FAIL");
    world_pass_time(&world, 3);
    ran(&world, "2 n1;");
    assert_int_equal(n_left(&world), 2);
    world_stop(&world);
}

TEST(a_node_is_drained_when_its_last_job_has_gone) {
    struct world world;
    begin(&world);
    uint32_t job = world_job(&world);
    struct job rec;
    assert_true(world_look(&world, job, &rec));
    assert_int_equal(set(&world, TRIGGER_DRAINED, 0, NULL, 0, false), 0);
    set_state(&world, rec.nodes, "DRAIN");
    world_pass_time(&world, 5);
    ran(&world, "");
    world_script_ends(&world, job, 0);
    world_pass_time(&world, 3);
    ran(&world, "1 n1;");
    world_stop(&world);
}

TEST(a_job_is_followed_to_its_end) {
    struct world world;
    struct job_request request;
    begin(&world);
    world_request(&request);
    request.time_limit = 10;
    uint32_t job = world_submit(&world, &request, NULL);
    assert_int_equal(set(&world, TRIGGER_FINI, job, NULL, 30, false), 0);
    assert_int_equal(set(&world, TRIGGER_TIME, job, NULL, -120, false), 0);
    assert_int_equal(set(&world, TRIGGER_DOWN, job, NULL, 0, false), 0);
    world_pass_time(&world, 470);
    ran(&world, "");
    world_pass_time(&world, 20);
    ran(&world, "2 1;");
    world_script_ends(&world, job, 0);
    world_pass_time(&world, 20);
    ran(&world, "");
    world_pass_time(&world, 20);
    ran(&world, "1 1;");
    assert_int_equal(n_left(&world), 0); /* what its nodes do is nothing to it any more */
    world_stop(&world);
}

TEST(idle_nodes_are_told_once_for_each_time_they_are_idle) {
    struct world world;
    begin(&world);
    assert_int_equal(set(&world, TRIGGER_IDLE, 0, "n1", 600, true), 0);
    world_pass_time(&world, 300);
    ran(&world, "");
    world_pass_time(&world, 310);
    ran(&world, "1 n1;");
    world_pass_time(&world, 2000);
    ran(&world, "");
    uint32_t job = world_job(&world); /* on the first node */
    world_script_ends(&world, job, 0);
    world_pass_time(&world, 650);
    ran(&world, "1 n1;");
    world_stop(&world);
}

TEST(triggers_survive_a_restart_which_is_an_event_itself) {
    struct world world;
    begin(&world);
    assert_int_equal(set(&world, TRIGGER_CTLD_RESUMED, 0, NULL, 0, false), 0);
    assert_int_equal(set(&world, TRIGGER_DOWN, 0, NULL, 0, false), 0);
    assert_int_equal(set(&world, TRIGGER_RECONFIG, 0, NULL, 0, false), 0);
    world.triggers_hang = true; /* the controller dies before it has run them */
    set_state(&world, "n1", "DOWN");
    world_pass_time(&world, 3);
    ran(&world, "2 n1;3 reconfig;");
    world.triggers_hang = false;
    world_restart(&world);
    world_pass_time(&world, 3);
    ran(&world, "2 n1;3 reconfig;1 primary_slurmctld_resumed_operation;");
    assert_int_equal(n_left(&world), 0);
    assert_int_equal(set(&world, TRIGGER_RECONFIG, 0, NULL, 0, false), 0);
    assert_int_equal(world_reconfigure(&world, conf_text), 0);
    world_pass_time(&world, 3);
    ran(&world, "4 reconfig;");
    world_stop(&world);
}

static int clear(struct world *world, uint32_t id, uint32_t uid) {
    struct trigger trigger;
    record_init(&record_trigger, &trigger);
    trigger.id = id;
    trigger.uid = uid;
    return world_code(world, world_send(world, MSG_TRIGGER_CLEAR, &trigger));
}

TEST(who_may_do_what_and_what_cannot_be_meant) {
    struct world world;
    begin(&world);
    uint32_t job = world_job(&world);
    assert_int_equal(set(&world, TRIGGER_DOWN, 0, NULL, 0, false), 0);
    assert_int_equal(set(&world, TRIGGER_DOWN, 0, NULL, 0, false), ERR_TRIGGER_DUPLICATE);
    assert_int_equal(set(&world, TRIGGER_DOWN, 0, "n9", 0, false), ERR_INVALID_NODE);
    assert_int_equal(set(&world, TRIGGER_FINI, 99, NULL, 0, false), ERR_INVALID_JOB_ID);
    world_script_ends(&world, job, 0);
    assert_int_equal(set(&world, TRIGGER_FINI, job, NULL, 0, false), ERR_ALREADY_DONE);
    world.uid = 1000;
    assert_int_equal(set(&world, TRIGGER_UP, 0, NULL, 0, false), ERR_ACCESS_DENIED);
    assert_int_equal(clear(&world, 1, UNSET32), ERR_ACCESS_DENIED);
    assert_int_equal(n_left(&world), 1); /* but all may see them */
    world.uid = 0;
    assert_int_equal(clear(&world, 7, UNSET32), ERR_TRIGGER_UNKNOWN);
    assert_int_equal(clear(&world, 0, 1000), ERR_TRIGGER_UNKNOWN);
    assert_int_equal(clear(&world, 0, 0), 0);
    assert_int_equal(n_left(&world), 0);
    world_stop(&world);
}

TEST(users_set_triggers_where_the_configuration_lets_them) {
    struct world world;
    char text[512];
    snprintf(text, sizeof(text), "%sSlurmctldParameters=allow_user_triggers\n", conf_text);
    world_start(&world, text);
    world_all_connect(&world);
    world.uid = 1000;
    for (int i = 0; i < 100; i++)
        assert_int_equal(set(&world, TRIGGER_DOWN, 0, NULL, i, false), 0);
    assert_int_equal(set(&world, TRIGGER_DOWN, 0, NULL, 100, false), ERR_LIMIT);
    world.uid = 1001;
    assert_int_equal(set(&world, TRIGGER_DOWN, 0, NULL, 0, false), 0);
    assert_int_equal(clear(&world, 1, UNSET32), ERR_ACCESS_DENIED);
    world_stop(&world);
}

TEST(nobody_sets_triggers_where_they_are_disabled) {
    struct world world;
    char text[512];
    snprintf(text, sizeof(text), "%sSlurmctldParameters=disable_triggers,allow_user_triggers\n",
             conf_text);
    world_start(&world, text);
    world_all_connect(&world);
    world.uid = 0;
    assert_int_equal(set(&world, TRIGGER_DOWN, 0, NULL, 0, false), ERR_DISABLED);
    assert_int_equal(n_left(&world), 0);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_that_go_down_together_are_one_call),
        cmocka_unit_test(a_permanent_trigger_waits_again),
        cmocka_unit_test(a_node_is_drained_when_its_last_job_has_gone),
        cmocka_unit_test(a_job_is_followed_to_its_end),
        cmocka_unit_test(idle_nodes_are_told_once_for_each_time_they_are_idle),
        cmocka_unit_test(triggers_survive_a_restart_which_is_an_event_itself),
        cmocka_unit_test(who_may_do_what_and_what_cannot_be_meant),
        cmocka_unit_test(users_set_triggers_where_the_configuration_lets_them),
        cmocka_unit_test(nobody_sets_triggers_where_they_are_disabled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
