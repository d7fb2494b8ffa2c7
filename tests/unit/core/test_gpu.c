/* SPDX-License-Identifier: Apache-2.0 */
/* What the controller knows of cards: who has them, and since when they do nothing. */
#include <stdio.h>
#include <string.h>

#include "gpus.h"
#include "unit.h"
#include "world.h"

#define HEAD                                                                                       \
    "GresTypes=gpu\nSelectTypeParameters=CR_CPU\n"                                                 \
    "NodeName=n1 CPUs=4 Gres=gpu:v100:1\nNodeName=n2 CPUs=4 Gres=gpu:a100:1,gpu:v100:2\n"

#define MAIN "PartitionName=main Nodes=ALL Default=YES\n"

static void begin(struct world *world, const char *more) {
    char conf[1024];
    (void) snprintf(conf, sizeof(conf), "%s%s", HEAD, more);
    world_start(world, conf);
    world_all_connect(world);
}

struct listing {
    struct arena arena;
    const struct gpu_list *list;
};

static void keep_frame(void *context, uint16_t type, struct bytes body, bool last) {
    struct listing *listing = context;
    struct gpu_list *list = arena_alloc(&listing->arena, sizeof(*list));
    assert_int_equal(type, MSG_GPU_LIST);
    assert_int_equal(wire_decode(&record_gpu_list, body, &listing->arena, list, NULL), 0);
    listing->list = list;
}

static const struct gpu *look(struct world *world, struct listing *listing, const char *nodes) {
    struct core_user user = {.uid = world->uid, .name = "user", .group = "group"};
    struct list_request request;
    struct error err = ERROR_INIT;
    record_init(&record_list_request, &request);
    request.nodelist = (char *) (uintptr_t) nodes;
    arena_init(&listing->arena, 0);
    assert_int_equal(core_list(world->core, world->now, MSG_LIST_GPUS, &user, &request, keep_frame,
                               listing, &err),
                     0);
    return listing->list->items.items;
}

static uint32_t submit(struct world *world, const char *gres) {
    struct job_request request;
    world_request(&request);
    request.tres_per_node = (char *) (uintptr_t) gres;
    uint32_t id = world_submit(world, &request, NULL);
    assert_int_equal(world_state(world, id), JOB_RUNNING);
    return id;
}

TEST(devices_are_numbered_by_gres_of_their_node_whatever_others_have) {
    struct world world;
    struct listing listing;
    struct job job;
    begin(&world, MAIN);
    uint32_t id = submit(&world, "gres/gpu:a100:1");
    assert_true(world_look(&world, id, &job));
    assert_string_equal(job.allocation.items[0].gres, "gpu:a100:1(IDX:0)");
    const struct gpu *gpus = look(&world, &listing, "n2");
    assert_int_equal(listing.list->items.n, 3);
    assert_string_equal(gpus[0].type, "a100");
    assert_non_null(gpus[0].job);
    assert_string_equal(gpus[2].type, "v100");
    assert_null(gpus[2].job);
    arena_done(&listing.arena);
    world_stop(&world);
}

TEST(a_card_is_idle_since_it_was_last_at_work_or_since_its_job_began) {
    struct world world;
    struct listing listing;
    begin(&world, MAIN);
    report(&world, 1, 3, (uint32_t[]) {0, 50, 0}, 600, NULL);
    const struct gpu *gpus = look(&world, &listing, "n2");
    assert_int_equal(gpus[0].idle_since, world.now - 600);
    assert_int_equal(gpus[1].idle_since, 0);
    arena_done(&listing.arena);
    (void) submit(&world, "gres/gpu:a100:1");
    int64_t start = world.now;
    world_pass_time(&world, 100);
    report(&world, 1, 3, (uint32_t[]) {0, 50, 0}, 700, NULL);
    gpus = look(&world, &listing, "n2");
    assert_int_equal(gpus[0].idle_since, start);
    arena_done(&listing.arena);
    world_stop(&world);
}

TEST(a_restarted_slurmd_makes_no_idle_card_busy) {
    struct world world;
    struct listing listing;
    begin(&world, MAIN);
    report(&world, 0, 1, (uint32_t[]) {0}, 600, NULL);
    int64_t since = world.now - 600;
    world_pass_time(&world, 60);
    struct gpu_status card;
    struct node_status status;
    record_init(&record_node_status, &status);
    record_init(&record_gpu_status, &card);
    card.use_now = 0;
    card.watched = 5; /* idle: never seen at work since then */
    status.gpus.items = &card;
    status.gpus.n = 1;
    core_node_message(world.core, world.now, 0, MSG_NODE_STATUS, &status, &world.effects);
    world_turn(&world);
    assert_int_equal(look(&world, &listing, "n1")[0].idle_since, since);
    arena_done(&listing.arena);
    world_stop(&world);
}

TEST(a_process_of_no_job_is_told_of_its_node_until_it_has_gone) {
    struct world world;
    begin(&world, MAIN);
    report(&world, 0, 1, (uint32_t[]) {9}, 0, "bob");
    const struct node *node = core_node(world.core, 0);
    assert_string_equal(node->gpu_strays, "pid 4711 (python, bob) on gpu 0");
    report(&world, 0, 1, (uint32_t[]) {9}, 0, NULL);
    assert_null(core_node(world.core, 0)->gpu_strays);
    world_stop(&world);
}

TEST(what_the_cards_do_survives_a_new_configuration) {
    struct world world;
    struct listing listing;
    begin(&world, MAIN);
    report(&world, 0, 1, (uint32_t[]) {0}, 600, "bob");
    assert_int_equal(world_reconfigure(&world, HEAD MAIN "PartitionName=more Nodes=n1\n"), 0);
    assert_non_null(look(&world, &listing, "n1")[0].status);
    assert_non_null(core_node(world.core, 0)->gpu_strays);
    arena_done(&listing.arena);
    world_stop(&world);
}

/* ---- what is asked for ---- */

#define TWO_A_NODE                                                                                 \
    "GresTypes=gpu\nSelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=10\n"                         \
    "NodeName=n[1-4] CPUs=8 RealMemory=1000 Gres=gpu:2\n"

static struct job started(struct world *world, const struct job_request *request) {
    struct job job;
    uint32_t id = world_submit(world, request, NULL);
    assert_true(world_look(world, id, &job));
    assert_int_equal(job.state, JOB_RUNNING);
    return job;
}

TEST(a_job_has_cpus_and_memory_for_each_gpu_by_default) {
    struct world world;
    struct job_request request;
    world_start(&world, TWO_A_NODE "DefCpuPerGPU=2\nDefMemPerGPU=100\n"
                                   "PartitionName=main Nodes=ALL Default=YES\n"
                                   "PartitionName=own Nodes=ALL DefCpuPerGPU=3 "
                                   "DefMemPerGPU=200\n");
    world_all_connect(&world);
    world_request(&request);
    request.tres_per_node = (char *) "gres/gpu:2";
    struct job job = started(&world, &request);
    assert_int_equal(job.allocation.items[0].cpus, 4);
    assert_int_equal(job.allocation.items[0].mem, 200);
    request.partition = (char *) "own";
    request.tres_per_node = (char *) "gres/gpu:1";
    job = started(&world, &request);
    assert_int_equal(job.allocation.items[0].cpus, 3);
    assert_int_equal(job.allocation.items[0].mem, 200);
    request.cpus_per_task = 1; /* whoever says how much gets that */
    request.mem_per_cpu = 50;
    job = started(&world, &request);
    assert_int_equal(job.allocation.items[0].cpus, 1);
    assert_int_equal(job.allocation.items[0].mem, 50);
    request.tres_per_node = NULL;
    request.cpus_per_task = 0;
    request.mem_per_cpu = UNSET64;
    job = started(&world, &request);
    assert_int_equal(job.allocation.items[0].cpus, 1);
    assert_int_equal(job.allocation.items[0].mem, 10);
    assert_int_equal(world_update(&world, "partition", "own", "JobDefaults", "DefCpuPerGPU=x"),
                     ERR_INVALID);
    assert_int_equal(world_update(&world, "partition", "own", "JobDefaults", "DefCpuPerGPU=5"), 0);
    request.tres_per_node = (char *) "gres/gpu:1";
    job = started(&world, &request);
    assert_int_equal(job.allocation.items[0].cpus, 5);
    world_stop(&world);
}

TEST(gpus_of_the_whole_job_take_as_many_nodes_as_they_need) {
    struct world world;
    struct job_request request;
    world_start(&world, TWO_A_NODE "PartitionName=main Nodes=ALL Default=YES\n");
    world_all_connect(&world);
    world_request(&request);
    request.tres_per_job = (char *) "gres/gpu:5";
    struct job job = started(&world, &request);
    assert_int_equal(job.num_nodes, 3);
    world_stop(&world);
}

TEST(what_is_said_twice_counts_once) {
    struct world world;
    struct job_request request;
    world_start(&world, TWO_A_NODE "PartitionName=main Nodes=ALL Default=YES\n");
    world_all_connect(&world);
    world_request(&request);
    request.tres_per_node = (char *) "gres/gpu:1,gres/gpu:1";
    struct job job = started(&world, &request);
    assert_string_equal(job.allocation.items[0].gres, "gpu:1(IDX:0)");
    request.ntasks = 2;
    request.tres_per_node = NULL;
    request.tres_per_task = (char *) "gres/gpu:1";
    request.tres_per_job = (char *) "gres/gpu:2";
    job = started(&world, &request);
    assert_int_equal(job.num_nodes, 1);
    assert_non_null(strstr(job.tres_req, "gres/gpu=2"));
    assert_null(strstr(job.tres_req, "gres/gpu=2,gres/gpu=2"));
    world_stop(&world);
}

TEST(gpus_of_a_socket_count_for_each_of_them) {
    struct world world;
    struct job_request request;
    world_start(&world, TWO_A_NODE "PartitionName=main Nodes=ALL Default=YES\n");
    world_all_connect(&world);
    world_request(&request);
    request.tres_per_socket = (char *) "gres/gpu:2";
    request.sockets_per_node = 1;
    struct job job = started(&world, &request);
    assert_string_equal(job.allocation.items[0].gres, "gpu:2(IDX:0-1)");
    assert_non_null(strstr(job.tres_req, "gres/gpu=2"));
    world_stop(&world);
}

TEST(cores_near_the_gpu_are_taken_first_unless_that_is_not_wanted) {
    struct world world;
    struct job_request request;
    world_start(&world, TWO_A_NODE "PartitionName=main Nodes=ALL Default=YES\n");
    struct gres_place places[] = {{(char *) "gpu", 0, (char *) "4-7", NULL},
                                  {(char *) "gpu", 1, (char *) "4-7", NULL}};
    world_all_connect(&world);
    struct node_register reg;
    record_init(&record_node_register, &reg);
    struct node node;
    record_copy(&record_node, &node, core_node(world.core, 0));
    reg.name = node.name;
    reg.node = &node;
    reg.places.items = places;
    reg.places.n = 2;
    core_node_message(world.core, world.now, 0, MSG_NODE_REGISTER, &reg, &world.effects);
    record_done(&record_node, &node);
    world_turn(&world);
    world_request(&request);
    request.req_nodes = (char *) "n1";
    request.tres_per_node = (char *) "gres/gpu:1";
    struct job job = started(&world, &request);
    assert_string_equal(job.allocation.items[0].cores, "4");
    request.gres_flags = (char *) "disable-binding";
    job = started(&world, &request);
    assert_string_equal(job.allocation.items[0].cores, "0");
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_are_numbered_by_gres_of_their_node_whatever_others_have),
        cmocka_unit_test(a_card_is_idle_since_it_was_last_at_work_or_since_its_job_began),
        cmocka_unit_test(a_restarted_slurmd_makes_no_idle_card_busy),
        cmocka_unit_test(a_process_of_no_job_is_told_of_its_node_until_it_has_gone),
        cmocka_unit_test(what_the_cards_do_survives_a_new_configuration),
        cmocka_unit_test(a_job_has_cpus_and_memory_for_each_gpu_by_default),
        cmocka_unit_test(gpus_of_the_whole_job_take_as_many_nodes_as_they_need),
        cmocka_unit_test(what_is_said_twice_counts_once),
        cmocka_unit_test(gpus_of_a_socket_count_for_each_of_them),
        cmocka_unit_test(cores_near_the_gpu_are_taken_first_unless_that_is_not_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
