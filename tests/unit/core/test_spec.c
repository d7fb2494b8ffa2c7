/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the planner is told about jobs: licences, sharing, tracked resources.
 *
 * Covers: spec.c, resources.c
 */
#include <string.h>

#include "unit.h"
#include "world.h"

static const char licensed[] = "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=100\n"
                               "Licenses=bar:1,foo:3\n"
                               "NodeName=n[1-2] CPUs=4 RealMemory=1000\n"
                               "PartitionName=main Nodes=ALL Default=YES\n";

static uint32_t submit_licensed(struct world *world, const char *licenses, int *ret_code) {
    struct job_request request;
    world_request(&request);
    request.licenses = text_of(licenses);
    return world_submit(world, &request, ret_code);
}

TEST(a_taken_license_is_waited_for) {
    struct world world;
    struct job job;
    world_start(&world, licensed);
    world_all_connect(&world);
    uint32_t first = submit_licensed(&world, "foo:2", NULL);
    uint32_t second = submit_licensed(&world, "foo:2", NULL);
    uint32_t third = submit_licensed(&world, "foo,bar", NULL);
    assert_int_equal(world_state(&world, first), JOB_RUNNING);
    assert_int_equal(world_state(&world, third), JOB_RUNNING);
    assert_true(world_look(&world, second, &job));
    assert_int_equal(job.state, JOB_PENDING);
    assert_int_equal(job.reason, REASON_LICENSES);
    world_script_ends(&world, first, 0);
    assert_int_equal(world_state(&world, second), JOB_RUNNING);
    world_stop(&world);
}

TEST(a_license_stays_taken_over_a_restart) {
    struct world world;
    world_start(&world, licensed);
    world_all_connect(&world);
    uint32_t first = submit_licensed(&world, "bar", NULL);
    world_restart(&world);
    world_all_connect(&world);
    uint32_t second = submit_licensed(&world, "bar", NULL);
    assert_int_equal(world_state(&world, first), JOB_RUNNING);
    assert_int_equal(world_state(&world, second), JOB_PENDING);
    world_script_ends(&world, first, 0);
    assert_int_equal(world_state(&world, second), JOB_RUNNING);
    world_stop(&world);
}

TEST(licenses_that_cannot_be_had_are_refused) {
    static const char *const bad[] = {"foo:4", "nope", "foo:x"};
    struct world world;
    world_start(&world, licensed);
    world_all_connect(&world);
    for (size_t i = 0; i < countof(bad); i++) {
        int code = 0;
        assert_int_equal(submit_licensed(&world, bad[i], &code), 0);
        assert_int_equal(code, ERR_INVALID_LICENSE);
    }
    world_stop(&world);
}

TEST(an_exclusive_user_shares_with_nobody_else) {
    struct world world;
    struct job_request request;
    world_start(&world, "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=100\n"
                        "NodeName=n1 CPUs=4 RealMemory=1000\n"
                        "PartitionName=main Nodes=ALL Default=YES\n");
    world_all_connect(&world);
    world_request(&request);
    request.exclusive = EXCLUSIVE_USER;
    uint32_t first = world_submit(&world, &request, NULL);
    uint32_t same = world_submit(&world, &request, NULL);
    world.uid++;
    uint32_t stranger = world_job(&world);
    assert_int_equal(world_state(&world, first), JOB_RUNNING);
    assert_int_equal(world_state(&world, same), JOB_RUNNING);
    assert_int_equal(world_state(&world, stranger), JOB_PENDING);
    world_stop(&world);
}

static void expect_tres(const char *tracked, const char *requested, const char *allocated) {
    struct world world;
    struct job_request request;
    struct job job;
    cleanup_free char *conf =
        xasprintf("SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=100\nGresTypes=gpu\n%s"
                  "NodeName=n1 CPUs=4 RealMemory=1000 Gres=gpu:a100:2\n"
                  "PartitionName=main Nodes=ALL Default=YES\n",
                  tracked);
    world_start(&world, conf);
    world_all_connect(&world);
    world_request(&request);
    request.tres_per_node = text_of("gres/gpu:a100:1");
    uint32_t id = world_submit(&world, &request, NULL);
    assert_true(world_look(&world, id, &job));
    assert_string_equal(job.tres_req, requested);
    assert_string_equal(job.tres_alloc, allocated);
    world_stop(&world);
}

TEST(what_is_tracked_is_listed_and_without_a_list_everything) {
    const char *plain = "cpu=1,mem=100M,node=1,billing=1,gres/gpu=1";
    const char *typed = "cpu=1,mem=100M,node=1,billing=1,gres/gpu:a100=1";
    const char *both = "cpu=1,mem=100M,node=1,billing=1,gres/gpu=1,gres/gpu:a100=1";
    expect_tres("AccountingStorageTRES=gres/gpu\n", plain, plain);
    expect_tres("AccountingStorageTRES=gres/gpu:a100\n", typed, typed);
    expect_tres("AccountingStorageTRES=gres/gpu,gres/gpu:a100\n", both, both);
    expect_tres("", both, both);
}

static const char none_left[] = "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=100\n"
                                "Licenses=foo:0\n"
                                "NodeName=n1 CPUs=4 RealMemory=1000\n"
                                "PartitionName=main Nodes=ALL Default=YES\n";

TEST(licences_of_which_there_are_none_are_waited_for_when_allowed) {
    struct world world;
    struct job job;
    int code;
    world_start(&world, none_left);
    world_all_connect(&world);
    assert_int_equal(submit_licensed(&world, "foo:1", &code), 0);
    world_stop(&world);
    cleanup_free char *text = xasprintf("%sSchedulerParameters=allow_zero_lic\n", none_left);
    world_start(&world, text);
    world_all_connect(&world);
    uint32_t id = submit_licensed(&world, "foo:1", &code);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.reason, REASON_LICENSES);
    world_stop(&world);
}

static uint32_t nodes_given(struct world *world, bool fewest, const char *counts) {
    struct job_request request;
    struct job job;
    world_request(&request);
    request.min_nodes = 1;
    request.max_nodes = 2;
    request.node_counts = text_of(counts);
    request.use_min_nodes = fewest;
    uint32_t id = world_submit(world, &request, NULL);
    assert_true(world_look(world, id, &job));
    uint32_t n = job.num_nodes;
    world_script_ends(world, id, 0);
    return n;
}

TEST(the_fewest_nodes_are_taken_when_asked_for) {
    struct world world;
    world_start(&world, licensed);
    world_all_connect(&world);
    assert_int_equal(nodes_given(&world, false, NULL), 2);
    assert_int_equal(nodes_given(&world, true, NULL), 1);
    assert_int_equal(nodes_given(&world, true, "1,2"), 1);
    world_stop(&world);
}

static void ignore_frame(void *context, uint16_t type, struct bytes body, bool last) {
    (void) context;
}

TEST(a_node_lists_what_is_taken_of_a_resource_once_whatever_its_types) {
    struct world world;
    struct job_request request;
    struct core_user root = {.name = "root", .group = "root"};
    struct list_request all;
    struct error err = ERROR_INIT;
    world_start(&world, "SelectTypeParameters=CR_CPU_Memory\nGresTypes=gpu\n"
                        "NodeName=n1 CPUs=4 RealMemory=1000 Gres=gpu:a100:1,gpu:v100:2\n"
                        "PartitionName=main Nodes=ALL Default=YES\n");
    world_all_connect(&world);
    world_request(&request);
    request.mem_per_node = 100;
    request.tres_per_node = text_of("gres/gpu:a100:1,gres/gpu:v100:1");
    assert_int_not_equal(world_submit(&world, &request, NULL), 0);
    record_init(&record_list_request, &all);
    assert_int_equal(
        core_list(world.core, world.now, MSG_LIST_NODES, &root, &all, ignore_frame, NULL, &err), 0);
    assert_string_equal(core_node(world.core, 0)->alloc_tres, "cpu=1,mem=100M,gres/gpu=2");
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_taken_license_is_waited_for),
        cmocka_unit_test(a_license_stays_taken_over_a_restart),
        cmocka_unit_test(the_fewest_nodes_are_taken_when_asked_for),
        cmocka_unit_test(licences_of_which_there_are_none_are_waited_for_when_allowed),
        cmocka_unit_test(licenses_that_cannot_be_had_are_refused),
        cmocka_unit_test(an_exclusive_user_shares_with_nobody_else),
        cmocka_unit_test(what_is_tracked_is_listed_and_without_a_list_everything),
        cmocka_unit_test(a_node_lists_what_is_taken_of_a_resource_once_whatever_its_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
