/* SPDX-License-Identifier: Apache-2.0 */
/* What nodes find wrong with themselves, and those who resume them. */
#include <stdio.h>
#include <string.h>

#include "unit.h"
#include "world.h"

static const char conf_text[] = "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=10\n"
                                "NodeName=n[1-4] CPUs=4 RealMemory=1000\n"
                                "PartitionName=main Nodes=ALL Default=YES\n";

static void begin(struct world *world, const char *more) {
    struct str text = STR_INIT;
    str_printf(&text, "%s%s", more, conf_text);
    world_start(world, text.data);
    str_done(&text);
    world_all_connect(world);
}

static const struct node *node(struct world *world, uint32_t index) {
    return core_node(world->core, index);
}

/* The node says what it finds, as with every heartbeat. */
static void says(struct world *world, uint32_t index, const char *problem) {
    struct node_status status;
    record_init(&record_node_status, &status);
    world->problems[index] = problem;
    status.problem = (char *) (uintptr_t) problem;
    core_node_message(world->core, world->now, index, MSG_NODE_STATUS, &status, &world->effects);
    world_turn(world);
}

static uint64_t set_state(struct world *world, const char *target, const char *state) {
    struct key_value change = {(char *) (uintptr_t) "State", (char *) (uintptr_t) state};
    struct update update;
    record_init(&record_update, &update);
    update.entity = (char *) (uintptr_t) "node";
    update.target = (char *) (uintptr_t) target;
    update.changes.items = &change;
    update.changes.n = 1;
    return world_send(world, MSG_UPDATE, &update);
}

/* -1: no answer yet; else how many sentences came with it, the last one in `text`. */
static int answer(struct world *world, uint64_t client, char *text, size_t size) {
    struct arena arena;
    arena_init(&arena, 0);
    const struct nodes_updated *reply = world_answer(world, client, MSG_NODES_UPDATED, &arena);
    int n = reply != NULL ? (int) reply->infos.n : -1;
    if (n > 0)
        snprintf(text, size, "%s", reply->infos.items[n - 1]);
    arena_done(&arena);
    return n;
}

TEST(a_problem_drains_and_its_end_does_not_undrain) {
    struct world world;
    begin(&world, "");
    says(&world, 0, "disk: /tmp is 99 % full or more");
    assert_int_equal(node(&world, 0)->flags, NODE_FLAG_DRAIN);
    assert_string_equal(node(&world, 0)->reason, "disk: /tmp is 99 % full or more");
    assert_int_equal(node(&world, 0)->reason_time, world.now);
    assert_string_equal(node(&world, 0)->problem, "disk: /tmp is 99 % full or more");
    says(&world, 0, NULL);
    assert_null(node(&world, 0)->problem);
    assert_int_equal(node(&world, 0)->flags, NODE_FLAG_DRAIN);
    world_restart(&world);
    assert_int_equal(node(&world, 0)->flags & NODE_FLAG_DRAIN, NODE_FLAG_DRAIN);
    assert_string_equal(node(&world, 0)->reason, "disk: /tmp is 99 % full or more");
    world_stop(&world);
}

TEST(a_second_cause_is_added_once_and_in_whatever_order_they_are_told) {
    struct world world;
    begin(&world, "");
    says(&world, 0, "disk: /tmp is full");
    says(&world, 0, "readonly: /data; disk: /tmp is full");
    says(&world, 0, "disk: /tmp is full; readonly: /data");
    assert_string_equal(node(&world, 0)->reason, "disk: /tmp is full : readonly: /data");
    world_stop(&world);
}

TEST(an_administrators_words_for_it_stay) {
    struct world world;
    begin(&world, "");
    says(&world, 0, "disk: /tmp is full");
    assert_int_equal(world_update(&world, "node", "n1", "Reason", "waits for a new disk"), 0);
    says(&world, 0, "disk: /tmp is full");
    assert_string_equal(node(&world, 0)->reason, "waits for a new disk");
    says(&world, 0, "disk: /tmp is full; readonly: /data"); /* that is news */
    assert_non_null(strstr(node(&world, 0)->reason, "waits for a new disk : "));
    assert_non_null(strstr(node(&world, 0)->reason, "readonly: /data"));
    world_stop(&world);
}

TEST(resuming_asks_the_node_first_and_tells_what_still_fails) {
    struct world world;
    char text[512] = "";
    begin(&world, "");
    says(&world, 0, "disk: /tmp is full");
    uint64_t client = set_state(&world, "n1", "RESUME");
    assert_int_equal(answer(&world, client, text, sizeof(text)), 1);
    assert_non_null(strstr(text, "n1"));
    assert_non_null(strstr(text, "disk: /tmp is full"));
    assert_int_equal(node(&world, 0)->flags, NODE_FLAG_DRAIN);
    world.problems[0] = NULL; /* mended, and the controller does not know yet */
    client = set_state(&world, "n1", "RESUME");
    assert_int_equal(answer(&world, client, text, sizeof(text)), 0);
    assert_int_equal(node(&world, 0)->flags, 0);
    assert_null(node(&world, 0)->reason);
    world_stop(&world);
}

TEST(nothing_starts_on_a_node_that_still_looks) {
    struct world world;
    char text[512] = "";
    begin(&world, "");
    for (uint32_t i = 0; i < 4; i++)
        says(&world, i, "disk: /tmp is full");
    uint32_t job = world_job(&world);
    world.nodes_answer = false;
    uint64_t client = set_state(&world, "n[1-4]", "RESUME");
    assert_int_equal(answer(&world, client, text, sizeof(text)), -1);
    assert_int_equal(world_state(&world, job), JOB_PENDING);
    world.nodes_answer = true;
    says(&world, 0, NULL); /* a heartbeat that was under way already is no answer */
    assert_int_equal(answer(&world, client, text, sizeof(text)), -1);
    assert_int_equal(world_state(&world, job), JOB_PENDING);
    world_node_lost(&world, 1);
    world_pass_time(&world, 10);
    assert_int_equal(answer(&world, client, text, sizeof(text)), 3); /* n1 has nothing any more */
    assert_non_null(strstr(text, "has not said"));
    assert_int_equal(world_state(&world, job), JOB_RUNNING);
    world_stop(&world);
}

TEST(a_node_that_leaves_the_configuration_is_not_waited_for) {
    struct world world;
    char text[512] = "";
    begin(&world, "");
    says(&world, 3, "disk: /tmp is full");
    world.nodes_answer = false;
    uint64_t client = set_state(&world, "n4", "RESUME");
    assert_int_equal(world_reconfigure(&world, "NodeName=n[1-3] CPUs=4 RealMemory=1000\n"
                                               "PartitionName=main Nodes=ALL Default=YES\n"),
                     0);
    world_turn(&world);
    assert_int_equal(answer(&world, client, text, sizeof(text)), 0);
    world_stop(&world);
}

TEST(who_goes_away_leaves_nothing_behind) {
    struct world world;
    begin(&world, "");
    says(&world, 0, "disk: /tmp is full");
    world.nodes_answer = false;
    (void) set_state(&world, "n1", "RESUME");
    (void) set_state(&world, "n1", "DRAIN"); /* without a reason: refused */
    world_stop(&world);
}

TEST(the_program_runs_on_the_nodes_of_its_states) {
    struct world world;
    begin(&world, "HealthCheckProgram=/bin/true\nHealthCheckInterval=10\n"
                  "HealthCheckNodeState=IDLE\n");
    (void) world_job(&world);
    world_pass_time(&world, 25);
    assert_int_equal(world.n_programs[0], 0); /* MIXED */
    assert_in_range(world.n_programs[1], 2, 3);
    assert_in_range(world.n_programs[3], 2, 3);
    world_stop(&world);
}

TEST(with_cycle_the_nodes_take_turns) {
    struct world world;
    begin(&world, "HealthCheckProgram=/bin/true\nHealthCheckInterval=40\n"
                  "HealthCheckNodeState=CYCLE\n");
    uint32_t before = 0;
    world_pass_time(&world, 40);
    for (int second = 0; second < 40; second++) {
        uint32_t all = 0;
        world_pass_time(&world, 1);
        for (uint32_t i = 0; i < 4; i++)
            all += world.n_programs[i];
        assert_true(all - before <= 1 || second == 0);
        before = all;
    }
    for (uint32_t i = 0; i < 4; i++)
        assert_in_range(world.n_programs[i], 1, 2);
    world_stop(&world);
}

TEST(without_an_interval_it_never_runs) {
    struct world world;
    begin(&world, "HealthCheckProgram=/bin/true\n");
    world_pass_time(&world, 1000);
    assert_int_equal(world.n_programs[0], 0);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_problem_drains_and_its_end_does_not_undrain),
        cmocka_unit_test(a_second_cause_is_added_once_and_in_whatever_order_they_are_told),
        cmocka_unit_test(an_administrators_words_for_it_stay),
        cmocka_unit_test(resuming_asks_the_node_first_and_tells_what_still_fails),
        cmocka_unit_test(nothing_starts_on_a_node_that_still_looks),
        cmocka_unit_test(a_node_that_leaves_the_configuration_is_not_waited_for),
        cmocka_unit_test(who_goes_away_leaves_nothing_behind),
        cmocka_unit_test(the_program_runs_on_the_nodes_of_its_states),
        cmocka_unit_test(with_cycle_the_nodes_take_turns),
        cmocka_unit_test(without_an_interval_it_never_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
