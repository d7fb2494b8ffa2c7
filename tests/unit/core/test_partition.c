/* SPDX-License-Identifier: Apache-2.0 */
/* Partitions that administrators make, change and remove, and priorities that follow from them. */
#include <stdio.h>
#include <string.h>

#include "unit.h"
#include "world.h"

static const char three_nodes[] = "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=100\n"
                                  "NodeName=n[1-3] CPUs=4 RealMemory=1000\n"
                                  "PartitionName=main Nodes=ALL Default=YES\n"
                                  "PartitionName=short Nodes=n1 MaxTime=10\n";
static const char edited[] = "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=100\n"
                             "NodeName=n[1-3] CPUs=4 RealMemory=1000\n"
                             "PartitionName=main Nodes=ALL Default=YES\n"
                             "PartitionName=short Nodes=n2 MaxTime=10\n";

static void begin(struct world *world) {
    world_start(world, three_nodes);
    world_all_connect(world);
}

static int ask(struct world *world, const char *name, const char *key, const char *value,
               bool create, bool remove) {
    struct key_value change = {(char *) (uintptr_t) key, (char *) (uintptr_t) value};
    struct update update;
    record_init(&record_update, &update);
    update.entity = (char *) (uintptr_t) "partition";
    update.target = (char *) (uintptr_t) name;
    update.changes.items = &change;
    update.changes.n = key != NULL;
    update.create = create;
    update.remove = remove;
    uint64_t client = world_send(world, MSG_UPDATE, &update);
    return world_code(world, client);
}

/* Where a job of that partition runs: "" while it waits, NULL when it is refused. */
static const char *runs_on(struct world *world, const char *partition) {
    static char nodes[256];
    struct job_request request;
    struct job job;
    world_request(&request);
    request.partition = (char *) (uintptr_t) partition;
    uint32_t id = world_submit(world, &request, NULL);
    if (id == 0 || !world_look(world, id, &job))
        return NULL;
    snprintf(nodes, sizeof(nodes), "%s", job.nodes != NULL ? job.nodes : "");
    if (job.state == JOB_RUNNING)
        world_script_ends(world, id, 0);
    else
        (void) !world_kill(world, "1-1000");
    return nodes;
}

TEST(nodes_are_added_and_removed_by_sign) {
    struct world world;
    begin(&world);
    assert_int_equal(world_update(&world, "partition", "short", "Nodes", "+n3,-n1"), 0);
    assert_string_equal(runs_on(&world, "short"), "n3");
    assert_int_equal(world_update(&world, "partition", "short", "Nodes", "n2"), 0);
    assert_string_equal(runs_on(&world, "short"), "n2");
    assert_int_equal(world_update(&world, "partition", "short", "Nodes", "n[1-9]"),
                     ERR_INVALID_NODE);
    assert_string_equal(runs_on(&world, "short"), "n2");
    world_stop(&world);
}

TEST(a_partition_made_at_run_time_lives_until_the_file_is_read_again) {
    struct world world;
    begin(&world);
    assert_int_equal(ask(&world, "extra", "Nodes", "n2", true, false), 0);
    assert_string_equal(runs_on(&world, "extra"), "n2");
    assert_int_equal(ask(&world, "extra", "Nodes", "n2", true, false), ERR_INVALID_PARTITION);
    world_restart(&world);
    world_all_connect(&world);
    assert_string_equal(runs_on(&world, "extra"), "n2");
    assert_int_equal(world_reconfigure(&world, three_nodes), 0);
    assert_null(runs_on(&world, "extra"));
    world_restart(&world);
    world_all_connect(&world);
    assert_null(runs_on(&world, "extra"));
    world_stop(&world);
}

TEST(a_change_survives_a_restart_but_not_an_edited_line) {
    struct world world;
    begin(&world);
    assert_int_equal(world_update(&world, "partition", "short", "Nodes", "n3"), 0);
    world_restart(&world);
    world_all_connect(&world);
    assert_string_equal(runs_on(&world, "short"), "n3");
    assert_int_equal(world_reconfigure(&world, edited), 0);
    assert_string_equal(runs_on(&world, "short"), "n2");
    world_stop(&world);
}

TEST(a_partition_with_jobs_is_not_removed) {
    struct world world;
    begin(&world);
    uint32_t id = world_job(&world);
    assert_int_equal(ask(&world, "main", NULL, NULL, false, true), ERR_PARTITION_IN_USE);
    world_script_ends(&world, id, 0);
    assert_int_equal(ask(&world, "main", NULL, NULL, false, true), 0);
    assert_null(runs_on(&world, "main"));
    assert_string_equal(runs_on(&world, "short"), "n1");
    world_stop(&world);
}

TEST(an_update_counts_nothing_on_the_nodes_twice) {
    struct world world;
    begin(&world);
    (void) world_job(&world);
    assert_int_equal(core_node(world.core, 0)->alloc_cpus, 1);
    assert_int_equal(world_update(&world, "partition", "short", "MaxTime", "20"), 0);
    assert_int_equal(core_node(world.core, 0)->alloc_cpus, 1);
    world_check(&world);
    world_stop(&world);
}

TEST(an_update_with_one_bad_key_changes_nothing) {
    struct world world;
    begin(&world);
    struct key_value changes[] = {{(char *) (uintptr_t) "Nodes", (char *) (uintptr_t) "n3"},
                                  {(char *) (uintptr_t) "State", (char *) (uintptr_t) "ASIDE"}};
    struct update update;
    record_init(&record_update, &update);
    update.entity = (char *) (uintptr_t) "partition";
    update.target = (char *) (uintptr_t) "short";
    update.changes.items = changes;
    update.changes.n = 2;
    (void) world_send(&world, MSG_UPDATE, &update);
    assert_string_equal(runs_on(&world, "short"), "n1");
    world_stop(&world);
}

TEST(those_who_wait_grow_older) {
    struct world world;
    struct job_request request;
    struct job job;
    world_start(&world, "PriorityWeightAge=1000\nPriorityWeightPartition=50\nPriorityMaxAge=1-0\n"
                        "PriorityCalcPeriod=5\nNodeName=n1 CPUs=1\n"
                        "PartitionName=main Nodes=ALL Default=YES\n");
    world_all_connect(&world);
    (void) world_job(&world);
    world_request(&request);
    uint32_t waits = world_submit(&world, &request, NULL);
    assert_true(world_look(&world, waits, &job));
    assert_int_equal(job.priority, 50);
    world_pass_time(&world, 43200);
    assert_true(world_look(&world, waits, &job));
    assert_int_equal(priority_rounded(job.prio_age), 500);
    assert_int_equal(priority_rounded(job.prio_partition), 50);
    assert_int_equal(job.priority, 550);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_are_added_and_removed_by_sign),
        cmocka_unit_test(a_partition_made_at_run_time_lives_until_the_file_is_read_again),
        cmocka_unit_test(a_change_survives_a_restart_but_not_an_edited_line),
        cmocka_unit_test(a_partition_with_jobs_is_not_removed),
        cmocka_unit_test(an_update_counts_nothing_on_the_nodes_twice),
        cmocka_unit_test(an_update_with_one_bad_key_changes_nothing),
        cmocka_unit_test(those_who_wait_grow_older),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
