/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs that jobs have as a whole or in shares: who gets which, listings, steps, restarts. */
#include <stdio.h>
#include <string.h>

#include "core/state.h"
#include "steps.h"
#include "unit.h"

static const char conf_text[] =
    "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=10\nGresTypes=gpu,shard\n"
    "NodeName=n1 CPUs=8 RealMemory=1000 Gres=gpu:2,shard:8\n"
    "PartitionName=main Nodes=ALL Default=YES\n";

static void begin(struct world *world) {
    world_start(world, conf_text);
    world_all_connect(world);
}

static void assert_gres(struct world *world, uint32_t job, const char *expected) {
    struct job record;
    assert_true(world_look(world, job, &record));
    assert_string_equal(record.allocation.items[0].gres, expected);
}

static void assert_used(struct world *world, const char *expected) {
    node_refresh_texts(world->core, 0);
    assert_string_equal(core_node(world->core, 0)->gres_used, expected);
}

static void cancel(struct world *world, uint32_t job) {
    char id[16];
    snprintf(id, sizeof(id), "%u", job);
    assert_int_equal(world_kill(world, id), 0);
    world_pass_time(world, 60);
    assert_int_equal(world_state(world, job), JOB_CANCELLED);
}

static void refused(struct world *world, const char *gres, int code) {
    struct job_request request;
    int got;
    world_request(&request);
    request.tres_per_node = (char *) (uintptr_t) gres;
    assert_int_equal(world_submit(world, &request, &got), 0);
    assert_int_equal(got, code);
}

TEST(shares_say_which_card_they_are_of_and_keep_it_from_others) {
    struct world world;
    begin(&world);
    uint32_t a = steps_salloc(&world, 1, 1, "gres/shard:3");
    uint32_t b = steps_salloc(&world, 1, 1, "gres/gpu:1");
    uint32_t c = steps_salloc(&world, 1, 1, "gres/shard:1");
    assert_gres(&world, a, "shard:3(IDX:0)");
    assert_gres(&world, b, "gpu:1(IDX:1)");
    assert_gres(&world, c, "shard:1(IDX:0)");
    assert_used(&world, "gpu:1(IDX:1),shard:4(4/4,0/4)");
    const struct node *node = core_node(world.core, 0);
    assert_non_null(strstr(node->alloc_tres, "gres/gpu=1,gres/shard=4"));
    world_stop(&world);
}

TEST(a_restart_and_another_configuration_keep_the_cards_of_jobs) {
    struct world world;
    begin(&world);
    steps_salloc(&world, 1, 1, "gres/shard:3");
    uint32_t b = steps_salloc(&world, 1, 1, "gres/gpu:1");
    world_restart(&world);
    world_all_connect(&world);
    assert_used(&world, "gpu:1(IDX:1),shard:3(3/4,0/4)");
    assert_gres(&world, steps_salloc(&world, 1, 1, "gres/shard:1"), "shard:1(IDX:0)");
    assert_int_equal(world_reconfigure(&world, conf_text), 0);
    assert_used(&world, "gpu:1(IDX:1),shard:4(4/4,0/4)");
    cancel(&world, b);
    assert_used(&world, "gpu:0(IDX:N/A),shard:4(4/4,0/4)");
    assert_gres(&world, steps_salloc(&world, 1, 1, "gres/shard:4"), "shard:4(IDX:1)");
    world_stop(&world);
}

TEST(an_exclusive_job_has_the_cards_and_their_shares) {
    struct world world;
    struct job_request request;
    int code;
    begin(&world);
    world_request(&request);
    request.exclusive = EXCLUSIVE_NODE;
    uint32_t job = world_submit(&world, &request, &code);
    assert_int_not_equal(job, 0);
    assert_gres(&world, job, "gpu:2(IDX:0-1),shard:8(IDX:)");
    cancel(&world, job);
    assert_used(&world, "gpu:0(IDX:N/A),shard:0(0/4,0/4)");
    world_stop(&world);
}

TEST(whole_cards_and_shares_are_not_asked_for_together) {
    struct world world;
    begin(&world);
    refused(&world, "gres/gpu:1,gres/shard:1", ERR_INVALID_GRES);
    refused(&world, "gres/shard:5", ERR_NODE_CONFIG);
    world_stop(&world);
}

TEST(steps_share_the_shares_of_their_job) {
    struct world world;
    struct step_request request;
    struct step_answer answer;
    begin(&world);
    uint32_t job = steps_salloc(&world, 1, 3, "gres/shard:3");
    steps_request(&request, job, 1);
    request.exact = true;
    request.tres_per_node = (char *) "gres/shard:2";
    uint32_t first = steps_run(&world, &request);
    struct step step;
    assert_true(steps_look(&world, job, first, &step));
    assert_string_equal(step.allocation.items[0].gres, "shard:2(IDX:0)");
    request.tres_per_node = (char *) "gres/shard:1";
    uint32_t second = steps_run(&world, &request);
    assert_true(steps_look(&world, job, second, &step));
    assert_string_equal(step.allocation.items[0].gres, "shard:1(IDX:0)");
    steps_create(&world, &request, &answer);
    assert_true(answer.waiting);
    steps_end(&world, job, first, 0);
    steps_answer(&world, &answer);
    assert_non_null(answer.layout);
    steps_done(&answer);
    world_stop(&world);
}

TEST(devices_that_are_no_gpus_take_no_card) {
    struct world world;
    world_start(&world, "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=10\n"
                        "GresTypes=gpu,nic,shard\nPartitionName=main Nodes=ALL Default=YES\n"
                        "NodeName=n1 CPUs=8 RealMemory=1000 Gres=gpu:2,nic:20,shard:8\n");
    world_all_connect(&world);
    steps_salloc(&world, 1, 1, "gres/nic:19");
    uint32_t b = steps_salloc(&world, 1, 1, "gres/gpu:2");
    assert_gres(&world, b, "gpu:2(IDX:0-1)");
    assert_used(&world, "gpu:2(IDX:0-1),nic:19(IDX:0-18),shard:0(0/4,0/4)");
    cancel(&world, b);
    world_restart(&world);
    world_all_connect(&world);
    assert_gres(&world, steps_salloc(&world, 1, 1, "gres/gpu:2"), "gpu:2(IDX:0-1)");
    world_stop(&world);
}

/* The node tells that its last two GPUs are linked. */
static void tell_links(struct world *world) {
    struct gres_place places[] = {{(char *) "gpu", 2, NULL, (char *) "0,0,-1,8"},
                                  {(char *) "gpu", 3, NULL, (char *) "0,0,8,-1"}};
    struct node_register reg;
    struct node node;
    record_init(&record_node_register, &reg);
    record_copy(&record_node, &node, core_node(world->core, 0));
    reg.name = node.name;
    reg.node = &node;
    reg.places.items = places;
    reg.places.n = countof(places);
    core_node_message(world->core, world->now, 0, MSG_NODE_REGISTER, &reg, &world->effects);
    record_done(&record_node, &node);
    world_turn(world);
}

TEST(the_planner_counts_with_the_cards_that_jobs_have_got) {
    struct world world;
    world_start(&world, "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=10\n"
                        "GresTypes=gpu,shard\nPartitionName=main Nodes=ALL Default=YES\n"
                        "NodeName=n1 CPUs=8 RealMemory=1000 Gres=gpu:4,shard:16\n");
    world_all_connect(&world);
    tell_links(&world);
    uint32_t linked = steps_salloc(&world, 1, 1, "gres/gpu:2");
    assert_gres(&world, linked, "gpu:2(IDX:2-3)");
    assert_gres(&world, steps_salloc(&world, 1, 1, "gres/shard:3"), "shard:3(IDX:0)");
    cancel(&world, linked);
    assert_gres(&world, steps_salloc(&world, 1, 1, "gres/shard:1"), "shard:1(IDX:0)");
    assert_gres(&world, steps_salloc(&world, 1, 1, "gres/gpu:3"), "gpu:3(IDX:1-3)");
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_say_which_card_they_are_of_and_keep_it_from_others),
        cmocka_unit_test(a_restart_and_another_configuration_keep_the_cards_of_jobs),
        cmocka_unit_test(an_exclusive_job_has_the_cards_and_their_shares),
        cmocka_unit_test(whole_cards_and_shares_are_not_asked_for_together),
        cmocka_unit_test(steps_share_the_shares_of_their_job),
        cmocka_unit_test(devices_that_are_no_gpus_take_no_card),
        cmocka_unit_test(the_planner_counts_with_the_cards_that_jobs_have_got),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
