/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Priorities of real jobs under the weights of a slurm.conf. The numbers are those that Debian's
 * sprio gave for the same jobs on the same four nodes.
 *
 * Covers: priority.c, qos.c
 */
#include <string.h>

#include "base/alloc.h"
#include "model/qos.h"
#include "unit.h"
#include "world.h"

#define CLUSTER                                                                                    \
    "SelectTypeParameters=CR_CPU_Memory\nPriorityType=priority/multifactor\nGresTypes=gpu\n"       \
    "PriorityWeightAge=1000\nPriorityMaxAge=1-0\nPriorityWeightJobSize=10000\n"                    \
    "PriorityWeightPartition=500\nPriorityWeightTRES=GRES/gpu=3000,CPU=1000,Mem=2000\n"            \
    "NodeName=n[1-4] CPUs=8 RealMemory=24000 Gres=gpu:2\n"                                         \
    "PartitionName=main Nodes=ALL Default=YES PriorityJobFactor=10\n"                              \
    "PartitionName=hi Nodes=n[1-2] PriorityJobFactor=30\n"

/* Waits because no node is up. */
static uint32_t submit(struct world *world, struct job_request *request, struct job *ret) {
    uint32_t id = world_submit(world, request, NULL);
    assert_int_not_equal(id, 0);
    assert_true(world_look(world, id, ret));
    return id;
}

static void ask(struct job_request *request, const char *partition) {
    world_request(request);
    request->partition = text_of(partition);
    request->mem_per_node = 0;
}

TEST(every_factor_comes_to_what_slurm_makes_of_it) {
    struct world world;
    struct job_request request;
    struct job job;
    world_start(&world, CLUSTER);
    ask(&request, "main");
    submit(&world, &request, &job);
    assert_int_equal(job.priority, 2104);
    assert_int_equal(priority_rounded(job.prio_size), 1406);
    assert_int_equal(priority_rounded(job.prio_partition), 167);
    assert_string_equal(job.prio_tres, "cpu=31,mem=500");
    ask(&request, "main");
    request.ntasks = 3;
    request.mem_per_node = 1000;
    submit(&world, &request, &job);
    assert_int_equal(job.priority, 2000);
    assert_string_equal(job.prio_tres, "cpu=94,mem=21");
    ask(&request, "hi");
    request.min_nodes = request.max_nodes = 2;
    request.ntasks = 8;
    request.mem_per_node = UNSET64;
    request.mem_per_cpu = 100;
    request.nice = 7;
    submit(&world, &request, &job);
    assert_int_equal(job.priority, 4776);
    world_stop(&world);
}

TEST(each_partition_of_a_job_has_its_own_priority_and_the_highest_counts) {
    struct world world;
    struct job_request request;
    struct job job;
    world_start(&world, CLUSTER);
    ask(&request, "main,hi");
    request.ntasks = 8;
    request.min_nodes = request.max_nodes = 1;
    request.tres_per_node = text_of("gres/gpu:2");
    submit(&world, &request, &job);
    assert_int_equal(job.priority, 6000);
    assert_int_equal(job.priorities.n, 2);
    assert_string_equal(job.priorities.items[0].partition, "main");
    assert_int_equal(job.priorities.items[0].priority, 4166);
    assert_string_equal(job.priorities.items[0].prio_tres, "cpu=250,mem=500,gres/gpu=750");
    assert_int_equal(job.priorities.items[1].priority, 6000);
    assert_string_equal(job.priorities.items[1].prio_tres, "cpu=500,mem=1000,gres/gpu=1500");
    world_stop(&world);
}

TEST(a_job_grows_older_until_it_is_as_old_as_counts) {
    struct world world;
    struct job_request request;
    struct job job;
    world_start(&world, CLUSTER);
    ask(&request, "main");
    uint32_t id = submit(&world, &request, &job);
    uint32_t young = job.priority;
    world_pass_time(&world, 43200 + 1);
    assert_true(world_look(&world, id, &job));
    assert_in_range(job.priority, young + 496, young + 501);
    assert_in_range(priority_rounded(job.prio_age), 496, 501);
    world_pass_time(&world, 3 * 86400);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.priority, young + 1000);
    world_restart(&world);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.priority, young + 1000);
    world_stop(&world);
}

TEST(who_may_not_start_yet_ages_only_where_configured) {
    for (int always = 0; always < 2; always++) {
        struct world world;
        struct job_request request;
        struct job job;
        cleanup_free char *conf =
            xasprintf("%s%s", CLUSTER, always ? "PriorityFlags=ACCRUE_ALWAYS\n" : "");
        world_start(&world, conf);
        ask(&request, "main");
        request.begin_time = world.now + 10 * 86400;
        uint32_t id = submit(&world, &request, &job);
        world_pass_time(&world, 2 * 86400);
        assert_true(world_look(&world, id, &job));
        assert_int_equal(priority_rounded(job.prio_age), always ? 1000 : 0);
        world_stop(&world);
    }
}

TEST(numbers_that_are_not_normalised_count_as_they_are) {
    struct world world;
    struct job_request request;
    struct job job;
    world_start(&world, CLUSTER "PriorityFlags=NO_NORMAL_ALL\n");
    ask(&request, "hi");
    request.min_nodes = request.max_nodes = 2;
    request.ntasks = 8;
    request.mem_per_node = UNSET64;
    request.mem_per_cpu = 100;
    request.nice = 7;
    submit(&world, &request, &job);
    assert_int_equal(priority_rounded(job.prio_partition), 15000);
    assert_string_equal(job.prio_tres, "cpu=8000,mem=1600000");
    assert_int_equal(job.priority, 1626743);
    world_stop(&world);
}

TEST(other_weights_count_at_once_for_those_who_wait) {
    struct world world;
    struct job_request request;
    struct job job;
    world_start(&world, CLUSTER);
    ask(&request, "main");
    uint32_t id = submit(&world, &request, &job);
    assert_int_equal(world_reconfigure(&world, CLUSTER "PriorityFavorSmall=YES\n"), 0);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(priority_rounded(job.prio_size), 8594);
    assert_int_equal(world_update(&world, "partition", "main", "PriorityJobFactor", "30"), 0);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(priority_rounded(job.prio_partition), 500);
    world_stop(&world);
}

TEST(an_operator_adds_a_site_factor) {
    struct world world;
    struct job_request request;
    struct job job;
    world_start(&world, CLUSTER);
    ask(&request, "main");
    uint32_t id = submit(&world, &request, &job);
    cleanup_free char *name = xasprintf("%u", id);
    assert_int_equal(world_update(&world, "job", name, "SiteFactor", "x"), ERR_INVALID);
    assert_int_equal(world_update(&world, "job", name, "SiteFactor", "5"), 0);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.priority, 2109);
    world_stop(&world);
}

TEST(too_many_weighted_resources_are_refused_and_change_nothing) {
    struct world world;
    struct job_request request;
    struct job job;
    cleanup_str struct str conf = STR_INIT;
    world_start(&world, CLUSTER);
    ask(&request, "main");
    uint32_t id = submit(&world, &request, &job);
    str_append(&conf, "PriorityType=priority/multifactor\nPriorityWeightTRES=");
    for (int i = 0; i < 17; i++)
        str_printf(&conf, "%sgres/g%d=1", i ? "," : "", i);
    str_append(&conf, "\nNodeName=n[1-4] CPUs=8 RealMemory=24000\nPartitionName=main Nodes=ALL "
                      "Default=YES\n");
    assert_int_equal(world_reconfigure(&world, conf.data), -ERR_LIMIT);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.priority, 2104);
    world_stop(&world);
}

TEST(a_qos_counts_by_its_share_of_the_highest) {
    struct world world;
    struct job_request request;
    struct job job;
    world_start(&world, CLUSTER "PriorityWeightQOS=300\n");
    ask(&request, "main");
    uint32_t id = submit(&world, &request, &job);
    assert_int_equal(job.prio_qos, 0);
    world_book(&world, "modify qos normal set priority=10");
    world_book(&world, "add qos high priority=40");
    assert_true(world_look(&world, id, &job));
    assert_int_equal(priority_rounded(job.prio_qos), 75);
    assert_int_equal(job.priority, 2104 + 75);
    world_stop(&world);
}

TEST(a_qos_counts_however_its_name_is_spelled) {
    struct world world;
    struct job_request request;
    struct job job;
    world_start(&world, CLUSTER "PriorityWeightQOS=300\n");
    world_book(&world, "add qos high priority=40");
    ask(&request, "main");
    request.qos = text_of("High");
    submit(&world, &request, &job);
    assert_int_equal(priority_rounded(job.prio_qos), 300);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_factor_comes_to_what_slurm_makes_of_it),
        cmocka_unit_test(each_partition_of_a_job_has_its_own_priority_and_the_highest_counts),
        cmocka_unit_test(a_job_grows_older_until_it_is_as_old_as_counts),
        cmocka_unit_test(who_may_not_start_yet_ages_only_where_configured),
        cmocka_unit_test(numbers_that_are_not_normalised_count_as_they_are),
        cmocka_unit_test(other_weights_count_at_once_for_those_who_wait),
        cmocka_unit_test(a_qos_counts_by_its_share_of_the_highest),
        cmocka_unit_test(a_qos_counts_however_its_name_is_spelled),
        cmocka_unit_test(an_operator_adds_a_site_factor),
        cmocka_unit_test(too_many_weighted_resources_are_refused_and_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
