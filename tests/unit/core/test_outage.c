/* SPDX-License-Identifier: Apache-2.0 */
/* What nodes out of service cost, and the reminder of them. */
#include <string.h>

#include "unit.h"
#include "world.h"

static const char conf_text[] = "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=10\n"
                                "GresTypes=gpu\nReturnToService=0\n"
                                "SlurmctldParameters=sluice_drain_reminder=00:16:40\n"
                                "NodeName=n[1-2] CPUs=4 RealMemory=1000 Gres=gpu:2\n"
                                "PartitionName=main Nodes=ALL Default=YES\n";

static const struct node *n1(struct world *world) {
    return core_node(world->core, 0);
}

static void set_state(struct world *world, const char *state) {
    struct key_value changes[2] = {{(char *) (uintptr_t) "State", (char *) (uintptr_t) state},
                                   {(char *) (uintptr_t) "Reason", (char *) (uintptr_t) "fan"}};
    struct update update;
    record_init(&record_update, &update);
    update.entity = (char *) (uintptr_t) "node";
    update.target = (char *) (uintptr_t) "n1";
    update.changes.items = changes;
    update.changes.n = 2;
    (void) world_send(world, MSG_UPDATE, &update);
}

TEST(what_stands_idle_on_a_drained_node_is_lost_and_what_runs_is_not) {
    struct world world;
    struct job_request request;
    world_start(&world, conf_text);
    world_all_connect(&world);
    world_request(&request);
    request.tres_per_node = (char *) (uintptr_t) "gres/gpu:1";
    uint32_t job = world_submit(&world, &request, NULL); /* 1 CPU, 1 GPU */
    assert_int_equal(n1(&world)->alloc_cpus, 1);
    int64_t began = world.now;
    set_state(&world, "DRAIN");
    assert_int_equal(n1(&world)->out_since, began);
    world_pass_time(&world, 100);
    world_restart(&world);
    world_all_connect(&world);
    int64_t ran = world.now - began;
    world_script_ends(&world, job, 0);
    assert_int_equal(n1(&world)->lost_cpu_seconds, 3 * ran);
    assert_int_equal(n1(&world)->lost_gpu_seconds, 1 * ran);
    int64_t alone = world.now;
    world_pass_time(&world, 50);
    set_state(&world, "DOWN"); /* still the same outage */
    assert_int_equal(n1(&world)->out_since, began);
    assert_int_equal(n1(&world)->lost_until, world.now);
    assert_int_equal(n1(&world)->lost_cpu_seconds, 3 * ran + 4 * (world.now - alone));
    assert_int_equal(n1(&world)->lost_gpu_seconds, 1 * ran + 2 * (world.now - alone));
    set_state(&world, "RESUME");
    assert_int_equal(n1(&world)->out_since, 0);
    assert_int_equal(n1(&world)->lost_cpu_seconds, 0);
    world_stop(&world);
}

TEST(a_restart_does_not_begin_an_outage_anew) {
    struct world world;
    world_start(&world, conf_text);
    world_all_connect(&world);
    size_t before = world.n_outages;
    set_state(&world, "DRAIN");
    assert_int_equal(world.n_outages, before + 1);
    world_restart(&world);
    world_all_connect(&world);
    assert_int_equal(world.n_outages, before + 1);
    set_state(&world, "RESUME");
    assert_int_equal(world.n_outages, before + 2);
    world_stop(&world);
}

TEST(the_log_reminds_after_each_such_time_until_the_node_is_back) {
    struct world world;
    world_start(&world, conf_text);
    world_all_connect(&world);
    assert_int_equal(core_next_time(world.core), INT64_MAX);
    set_state(&world, "DRAIN");
    assert_int_equal(core_next_time(world.core), world.now + 1000);
    world.now += 1000;
    core_tick(world.core, world.now, &world.effects);
    bool told = false;
    vec_each (&world.effects.list, effect)
        told |= effect->kind == EFFECT_LOG && strstr(effect->text, "out of service") != NULL &&
                strstr(effect->text, "fan") != NULL && strstr(effect->text, "n1") != NULL;
    assert_true(told);
    world_turn(&world);
    assert_int_equal(core_next_time(world.core), world.now + 1000);
    set_state(&world, "RESUME");
    world_pass_time(&world, 3000);
    assert_int_equal(core_next_time(world.core), INT64_MAX);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_stands_idle_on_a_drained_node_is_lost_and_what_runs_is_not),
        cmocka_unit_test(a_restart_does_not_begin_an_outage_anew),
        cmocka_unit_test(the_log_reminds_after_each_such_time_until_the_node_is_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
