/* SPDX-License-Identifier: Apache-2.0 */
/* Steps inside a job. Covers: step.c step_place.c step_gres.c step_end.c
 * file_grant.c */
#include <string.h>

#include "steps.h"
#include "unit.h"

static const char conf_text[] =
    "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=10\nGresTypes=gpu,disk\nMaxStepCount=5\n"
    "MaxTasksPerNode=16\n"
    "NodeName=n[1-4] CPUs=4 RealMemory=1000 Gres=gpu:a100:2,gpu:v100:1,disk:9000\n"
    "PartitionName=main Nodes=ALL Default=YES\n";

static void begin(struct world *world) {
    world_start(world, conf_text);
    world_all_connect(world);
}

/* The world with a job of these nodes and tasks; returns its id, 1. */
static uint32_t begin_job(struct world *world, uint32_t nodes, uint32_t ntasks, const char *gres) {
    begin(world);
    return steps_salloc(world, nodes, ntasks, gres);
}

static void refused(struct world *world, const struct step_request *request, int code) {
    struct step_answer answer;
    steps_create(world, request, &answer);
    assert_int_equal(answer.code, code);
    assert_null(answer.layout);
    steps_done(&answer);
}

/* A step that must be there; what it points to lives until the next call. */
static struct step step_of(struct world *world, uint32_t job, uint32_t id) {
    struct step step;
    assert_true(steps_look(world, job, id, &step));
    return step;
}

/* Starts a step, which must run, and looks at it. */
static struct step step_run(struct world *world, const struct step_request *request) {
    return step_of(world, request->job_id, steps_run(world, request));
}

TEST(a_step_gets_all_nodes_of_its_job_unless_it_says_less) {
    struct world world;
    struct step_request request;
    struct step_answer answer;
    uint32_t job = begin_job(&world, 2, 8, NULL);
    steps_request(&request, job, 0);
    steps_create(&world, &request, &answer);
    assert_non_null(answer.layout);
    assert_int_equal(answer.layout->step_id, 0);
    assert_string_equal(answer.layout->nodelist, "n[1-2]");
    assert_int_equal(answer.layout->ntasks, 2);
    assert_int_equal(answer.layout->nodes.n, 2);
    assert_int_equal(answer.layout->nodes.items[0].cpus, 4);
    assert_string_equal(answer.layout->nodes.items[0].cores, "0-3");
    assert_string_equal(answer.layout->job_cpus_per_node, "4(x2)");
    steps_done(&answer);
    world_stop(&world);
}

TEST(steps_are_numbered_and_the_next_one_waits_until_the_first_has_ended) {
    struct world world;
    struct step_request request;
    struct step_answer second;
    uint32_t job = begin_job(&world, 1, 4, NULL);
    steps_request(&request, job, 1);
    assert_int_equal(steps_run(&world, &request), 0);
    steps_create(&world, &request, &second);
    assert_true(second.waiting);
    assert_null(second.layout);
    steps_end(&world, job, 0, 0);
    steps_answer(&world, &second);
    assert_non_null(second.layout);
    assert_int_equal(second.layout->step_id, 1);
    steps_done(&second);
    world_stop(&world);
}

TEST(an_immediate_step_does_not_wait) {
    struct world world;
    struct step_request request;
    uint32_t job = begin_job(&world, 1, 4, NULL);
    steps_request(&request, job, 1);
    steps_run(&world, &request);
    request.immediate = true;
    refused(&world, &request, ERR_NODES_BUSY);
    world_stop(&world);
}

TEST(exact_steps_share_a_node_and_overlapping_ones_share_its_cpus) {
    struct world world;
    struct step_request request;
    struct step_answer answer;
    uint32_t job = begin_job(&world, 1, 4, NULL);
    steps_request(&request, job, 2);
    request.exact = true;
    uint32_t a = steps_run(&world, &request), b = steps_run(&world, &request);
    assert_string_equal(step_of(&world, job, a).allocation.items[0].cores, "0-1");
    assert_string_equal(step_of(&world, job, b).allocation.items[0].cores, "2-3");
    steps_create(&world, &request, &answer);
    assert_true(answer.waiting);
    steps_done(&answer);
    request.overlap = true;
    steps_run(&world, &request);
    world_stop(&world);
}

TEST(an_exact_step_has_a_task_on_each_of_its_nodes_or_waits) {
    struct world world;
    struct step_request request;
    struct step_answer answer;
    uint32_t job = begin_job(&world, 2, 5, NULL); /* 4 CPUs and 1 */
    steps_request(&request, job, 2);
    request.exact = true;
    request.min_nodes = request.max_nodes = 2;
    assert_string_equal(step_run(&world, &request).tasks_per_node, "1(x2)");
    steps_create(&world, &request, &answer);
    assert_true(answer.waiting);
    request.min_nodes = request.max_nodes = 0;
    struct step step = step_run(&world, &request);
    assert_string_equal(step.tasks_per_node, "2");
    assert_string_equal(step.nodes, "n1");
    steps_end(&world, job, 0, 0);
    steps_answer(&world, &answer);
    assert_non_null(answer.layout);
    steps_done(&answer);
    world_stop(&world);
}

TEST(tasks_are_spread_evenly_unless_they_are_to_be_packed) {
    struct world world;
    struct step_request request;
    uint32_t job = begin_job(&world, 3, 12, NULL);
    steps_request(&request, job, 6);
    request.overlap = true;
    request.distribution = DIST_BLOCK;
    assert_string_equal(step_run(&world, &request).tasks_per_node, "2(x3)");
    request.pack = true;
    assert_string_equal(step_run(&world, &request).tasks_per_node, "4,2");
    request.min_nodes = request.max_nodes = 3;
    assert_string_equal(step_run(&world, &request).tasks_per_node, "4,1(x2)");
    request.distribution = DIST_CYCLIC;
    assert_string_equal(step_run(&world, &request).tasks_per_node, "2(x3)");
    world_stop(&world);
}

TEST(a_step_is_told_how_its_partition_binds_tasks) {
    struct world world;
    struct step_request request;
    struct step_answer answer;
    world_start(&world, "NodeName=n[1-2] CPUs=4\n"
                        "PartitionName=main Nodes=ALL Default=YES CpuBind=cores\n");
    world_all_connect(&world);
    uint32_t job = steps_salloc(&world, 1, 1, NULL);
    steps_request(&request, job, 1);
    steps_create(&world, &request, &answer);
    assert_string_equal(answer.layout->cpu_bind, "cores");
    steps_done(&answer);
    world_stop(&world);
}

TEST(cpus_per_task_makes_a_step_exact) {
    struct world world;
    struct step_request request;
    uint32_t job = begin_job(&world, 1, 4, NULL);
    steps_request(&request, job, 1);
    request.cpus_per_task = 3;
    uint32_t id = steps_run(&world, &request);
    assert_int_equal(step_of(&world, job, id).num_cpus, 3);
    request.cpus_per_task = 1;
    steps_run(&world, &request);
    world_stop(&world);
}

TEST(relative_nodelist_and_exclude_choose_among_the_jobs_nodes) {
    struct world world;
    struct step_request request;
    uint32_t job = begin_job(&world, 3, 3, NULL);
    steps_request(&request, job, 2);
    request.relative = 1;
    request.overlap = true;
    assert_string_equal(step_run(&world, &request).nodes, "n[2-3]");
    request.relative = 3;
    refused(&world, &request, ERR_NODE_CONFIG);
    request.relative = UNSET32;
    request.nodelist = text_of("n3");
    request.ntasks = 1;
    assert_string_equal(step_run(&world, &request).nodes, "n3");
    request.nodelist = text_of("n4");
    refused(&world, &request, ERR_NODE_CONFIG);
    request.nodelist = NULL;
    request.exclude = text_of("n[1-2]");
    request.ntasks = 1;
    assert_string_equal(step_run(&world, &request).nodes, "n3");
    request.exclude = text_of("n[1-3]");
    refused(&world, &request, ERR_NODE_CONFIG);
    request.exclude = NULL;
    request.min_nodes = 4;
    refused(&world, &request, ERR_NODE_CONFIG);
    world_stop(&world);
}

TEST(more_tasks_than_cpus_are_refused_unless_overcommitted_and_never_absurdly_many) {
    struct world world;
    struct step_request request;
    uint32_t job = begin_job(&world, 1, 4, NULL);
    steps_request(&request, job, 5);
    refused(&world, &request, ERR_TOO_MANY_CPUS);
    request.overcommit = true;
    assert_int_equal(step_run(&world, &request).ntasks, 5);
    request.overlap = true;
    static const uint32_t absurd[] = {17, 1u << 31, UINT32_MAX - 1, UINT32_MAX};
    for (size_t i = 0; i < countof(absurd); i++) {
        request.ntasks = absurd[i];
        refused(&world, &request, ERR_TOO_MANY_CPUS);
        request.ntasks = 0;
        request.ntasks_per_node = absurd[i];
        refused(&world, &request, ERR_TOO_MANY_CPUS);
        request.ntasks_per_node = 0;
    }
    request.ntasks = 1;
    request.cpus_per_task = UINT32_MAX;
    request.overcommit = false;
    refused(&world, &request, ERR_TOO_MANY_CPUS);
    world_stop(&world);
}

TEST(ntasks_per_node_decides_how_many_nodes) {
    struct world world;
    struct step_request request;
    struct step step;
    uint32_t job = begin_job(&world, 4, 16, NULL);
    steps_request(&request, job, 6);
    request.ntasks_per_node = 3;
    step = step_run(&world, &request);
    assert_string_equal(step.nodes, "n[1-2]");
    assert_string_equal(step.tasks_per_node, "3(x2)");
    request.ntasks = 0;
    request.ntasks_per_node = 1;
    request.max_nodes = 2;
    assert_int_equal(step_run(&world, &request).num_nodes, 2);
    world_stop(&world);
}

TEST(ranks_of_the_arbitrary_distribution_follow_the_list) {
    struct world world;
    struct step_request request;
    struct step_answer answer;
    uint32_t job = begin_job(&world, 3, 12, NULL);
    steps_request(&request, job, 4);
    request.distribution = DIST_ARBITRARY;
    request.arbitrary_hosts = text_of("n3,n1,n3,n3");
    steps_create(&world, &request, &answer);
    assert_non_null(answer.layout);
    assert_string_equal(answer.layout->nodelist, "n[1,3]");
    assert_string_equal(answer.layout->tasks_per_node, "1,3");
    assert_int_equal(answer.layout->nodes.items[0].ranks.items[0], 1);
    const struct u32s *ranks = &answer.layout->nodes.items[1].ranks;
    assert_int_equal(ranks->n, 3);
    assert_int_equal(ranks->items[0], 0);
    assert_int_equal(ranks->items[1], 2);
    assert_int_equal(ranks->items[2], 3);
    steps_done(&answer);
    request.arbitrary_hosts = text_of("n3,n4,n3,n3");
    refused(&world, &request, ERR_NODE_CONFIG);
    request.arbitrary_hosts = text_of("n3,n1");
    refused(&world, &request, ERR_NODE_CONFIG);
    request.ntasks = 2;
    request.cpus_per_task = 5;
    request.overlap = true;
    refused(&world, &request, ERR_TOO_MANY_CPUS);
    world_stop(&world);
}

TEST(a_step_that_asks_for_devices_gets_its_own) {
    struct world world;
    struct step_request request;
    struct step_answer third;
    uint32_t job = begin_job(&world, 1, 4, "gres/gpu:a100:2,gres/gpu:v100:1");
    steps_request(&request, job, 1);
    request.exact = true;
    request.tres_per_node = text_of("gres/gpu:a100:1");
    uint32_t a = steps_run(&world, &request);
    assert_string_equal(step_of(&world, job, a).allocation.items[0].gres, "gpu:a100:1(IDX:0)");
    uint32_t b = steps_run(&world, &request);
    assert_string_equal(step_of(&world, job, b).allocation.items[0].gres, "gpu:a100:1(IDX:1)");
    /* No third one is free: it waits for the first. */
    steps_create(&world, &request, &third);
    assert_true(third.waiting);
    steps_end(&world, job, a, 0);
    steps_answer(&world, &third);
    assert_non_null(third.layout);
    assert_string_equal(third.layout->nodes.items[0].gres, "gpu:a100:1(IDX:0)");
    steps_done(&third);
    request.tres_per_node = text_of("gpu:1");
    assert_string_equal(step_run(&world, &request).allocation.items[0].gres, "gpu:v100:1(IDX:2)");
    request.tres_per_node = text_of("gpu:4");
    refused(&world, &request, ERR_INVALID_GRES);
    request.tres_per_node = text_of("fpga:1");
    refused(&world, &request, ERR_INVALID_GRES);
    world_stop(&world);
}

TEST(a_step_that_asks_for_no_devices_sees_all_or_with_none_nothing) {
    struct world world;
    struct step_request request;
    uint32_t job = begin_job(&world, 1, 4, "gres/gpu:a100:2");
    steps_request(&request, job, 1);
    request.exact = true;
    assert_string_equal(step_run(&world, &request).allocation.items[0].gres, "gpu:a100:2(IDX:0-1)");
    request.tres_per_node = text_of("none");
    assert_null(step_run(&world, &request).allocation.items[0].gres);
    request.tres_per_node = NULL;
    request.tres_per_task = text_of("gpu:1");
    request.ntasks = 2;
    assert_string_equal(step_run(&world, &request).allocation.items[0].gres, "gpu:a100:2(IDX:0-1)");
    world_stop(&world);
}

TEST(counted_resources_without_numbers_are_given_as_counts) {
    struct world world;
    struct step_request request;
    uint32_t job = begin_job(&world, 1, 1, "gres/disk:9000");
    steps_request(&request, job, 1);
    request.tres_per_node = text_of("disk:500");
    assert_string_equal(step_run(&world, &request).allocation.items[0].gres, "disk:500(IDX:)");
    world_stop(&world);
}

/* Starts a step and returns its memory on its first node; what waits or is refused fails. */
static uint64_t mem_of_run(struct world *world, const struct step_request *request) {
    return step_run(world, request).allocation.items[0].mem;
}

TEST(memory_that_a_step_asks_for_is_its_own_and_what_it_inherits_is_shared) {
    struct world world;
    struct step_request request;
    struct step_answer answer;
    uint32_t job = begin_job(&world, 1, 4, NULL); /* with 40 MiB */
    steps_request(&request, job, 1);
    request.exact = true;
    request.mem_per_node = 30;
    assert_int_equal(mem_of_run(&world, &request), 30);
    steps_create(&world, &request, &answer);
    assert_true(answer.waiting);
    request.mem_inherited = true;
    assert_int_equal(mem_of_run(&world, &request), 30);
    request.mem_inherited = false;
    request.mem_per_node = 0;
    assert_int_equal(mem_of_run(&world, &request), 40);
    request.mem_per_node = 41;
    refused(&world, &request, ERR_TASK_MEMORY);
    steps_end(&world, job, 0, 0);
    steps_answer(&world, &answer);
    assert_non_null(answer.layout);
    assert_int_equal(answer.layout->nodes.items[0].mem, 30);
    steps_done(&answer);
    world_stop(&world);
}

TEST(memory_per_cpu_and_per_gpu_are_counted_on_each_node) {
    struct world world;
    struct step_request request;
    uint32_t job = begin_job(&world, 1, 4, "gres/gpu:a100:2");
    steps_request(&request, job, 2);
    request.cpus_per_task = 1;
    request.mem_per_cpu = 5;
    assert_int_equal(mem_of_run(&world, &request), 10);
    request.mem_per_cpu = UNSET64;
    request.mem_per_gpu = 12;
    request.tres_per_node = text_of("gpu:2");
    assert_int_equal(mem_of_run(&world, &request), 24);
    request.mem_per_gpu = UINT64_MAX / 2;
    refused(&world, &request, ERR_TASK_MEMORY);
    world_stop(&world);
}

TEST(devices_for_the_whole_step_are_spread_over_its_nodes) {
    struct world world;
    struct step_request request;
    uint32_t job = begin_job(&world, 2, 8, "gres/gpu:a100:2");
    steps_request(&request, job, 2);
    request.overlap = true;
    request.tres_per_step = text_of("gres/gpu:3");
    struct step step = step_run(&world, &request);
    assert_string_equal(step.allocation.items[0].gres, "gpu:a100:2(IDX:0-1)");
    assert_string_equal(step.allocation.items[1].gres, "gpu:a100:1(IDX:0)");
    assert_string_equal(step.tres_alloc, "cpu=8,mem=80M,node=2,gres/gpu=3,gres/gpu:a100=3");
    request.tres_per_step = text_of("gres/gpu:5");
    refused(&world, &request, ERR_INVALID_GRES);
    world_stop(&world);
}

TEST(tasks_per_core_and_per_socket_bound_the_tasks_of_a_node) {
    struct world world;
    struct step_request request;
    world_start(&world, "SelectTypeParameters=CR_CPU\nNodeName=n[1-2] Sockets=2 CoresPerSocket=2 "
                        "ThreadsPerCore=2\nPartitionName=main Nodes=ALL Default=YES\n");
    world_all_connect(&world);
    uint32_t job = steps_salloc(&world, 2, 16, NULL);
    steps_request(&request, job, 8);
    request.overlap = true;
    request.ntasks_per_core = 1;
    assert_string_equal(step_run(&world, &request).tasks_per_node, "4(x2)");
    request.ntasks_per_socket = 1;
    refused(&world, &request, ERR_TOO_MANY_CPUS);
    request.ntasks = 4;
    assert_string_equal(step_run(&world, &request).tasks_per_node, "2(x2)");
    request.ntasks_per_socket = request.ntasks_per_core = 0;
    request.threads_per_core = 1;
    request.ntasks = 9;
    refused(&world, &request, ERR_TOO_MANY_CPUS);
    request.ntasks = 3;
    request.min_nodes = request.max_nodes = 1;
    request.exact = true; /* three whole cores */
    assert_int_equal(step_run(&world, &request).num_cpus, 6);
    world_stop(&world);
}

TEST(the_worst_status_of_its_tasks_is_the_steps_and_the_jobs_derived_one) {
    struct world world;
    struct step_request request;
    struct step step;
    struct job record;
    uint32_t job = begin_job(&world, 2, 2, NULL);
    steps_request(&request, job, 2);
    uint32_t id = steps_run(&world, &request);
    steps_end_on(&world, 0, job, id, 3 << 8);
    assert_int_equal(step_of(&world, job, id).state, JOB_RUNNING);
    steps_end_on(&world, 0, job, id, 9); /* the same node again changes nothing */
    steps_end_on(&world, 1, job, id, 0);
    step = step_of(&world, job, id);
    assert_int_equal(step.state, JOB_FAILED);
    assert_int_equal(step.exit_status, 3 << 8);
    id = steps_run(&world, &request);
    steps_end(&world, job, id, 9);
    assert_int_equal(step_of(&world, job, id).state, JOB_CANCELLED);
    assert_true(world_look(&world, job, &record));
    assert_int_equal(record.derived_exit, 9);
    assert_int_equal(record.state, JOB_RUNNING);
    world_stop(&world);
}

TEST(a_step_is_out_of_memory_whichever_node_was_and_whoever_reports_last) {
    struct world world;
    struct step_request request;
    struct step step;
    struct job info;
    uint32_t job = begin_job(&world, 2, 2, NULL);
    steps_request(&request, job, 2);
    request.min_nodes = 2;
    uint32_t id = steps_run(&world, &request);
    assert_true(steps_look(&world, job, id, &step));
    struct step_done done;
    record_init(&record_step_done, &done);
    done.job_id = job;
    done.step_id = id;
    done.attempt = 1;
    done.exit_status = 9;
    done.oom = true;
    core_node_message(world.core, world.now,
                      core_node_find(world.core, step.allocation.items[0].name), MSG_STEP_DONE,
                      &done, &world.effects);
    world_turn(&world);
    steps_end_on(&world, core_node_find(world.core, step.allocation.items[1].name), job, id, 0);
    assert_true(steps_look(&world, job, id, &step));
    assert_int_equal(step.state, JOB_OUT_OF_MEMORY);
    assert_int_equal(step.exit_status, STATUS_OOM);
    assert_true(world_look(&world, job, &info));
    assert_int_equal(info.state, JOB_RUNNING);
    assert_int_equal(info.derived_exit, STATUS_OOM);
    world_stop(&world);
}

TEST(a_job_has_at_most_max_step_count_steps) {
    struct world world;
    struct step_request request;
    uint32_t job = begin_job(&world, 1, 1, NULL);
    steps_request(&request, job, 1);
    request.overlap = true;
    for (int i = 0; i < 5; i++)
        steps_run(&world, &request);
    refused(&world, &request, ERR_LIMIT);
    world_stop(&world);
}

TEST(steps_of_jobs_that_do_not_run_and_of_others_are_refused) {
    struct world world;
    struct job_request held;
    struct step_request request;
    begin(&world);
    world_request(&held);
    held.hold = true;
    uint32_t pending = world_submit(&world, &held, NULL);
    steps_request(&request, pending, 1);
    refused(&world, &request, ERR_JOB_PENDING);
    request.job_id = 77;
    refused(&world, &request, ERR_INVALID_JOB_ID);
    uint32_t job = steps_salloc(&world, 1, 1, NULL);
    request.job_id = job;
    world.uid = 1000;
    refused(&world, &request, ERR_USER_ID);
    world.uid = 0;
    assert_int_equal(world_kill(&world, "2"), 0);
    refused(&world, &request, ERR_JOB_FINISHED);
    world_stop(&world);
}

TEST(waiting_steps_learn_of_the_end_of_their_job) {
    struct world world;
    struct step_request request;
    struct step_answer waits;
    uint32_t job = begin_job(&world, 1, 4, NULL);
    steps_request(&request, job, 1);
    steps_run(&world, &request);
    steps_create(&world, &request, &waits);
    assert_true(waits.waiting);
    assert_int_equal(world_kill(&world, "1"), 0);
    steps_answer(&world, &waits);
    assert_int_equal(waits.code, ERR_ALREADY_DONE);
    steps_done(&waits);
    world_stop(&world);
}

TEST(a_client_that_goes_away_waits_no_more) {
    struct world world;
    struct step_request request;
    struct step_answer waits;
    struct step step;
    uint32_t job = begin_job(&world, 1, 4, NULL);
    steps_request(&request, job, 1);
    steps_run(&world, &request);
    steps_create(&world, &request, &waits);
    world_client_gone(&world, waits.client);
    steps_end(&world, job, 0, 0);
    assert_false(steps_look(&world, job, 1, &step));
    steps_done(&waits);
    world_stop(&world);
}

TEST(steps_are_cancelled_by_id_while_the_job_goes_on) {
    struct world world;
    struct step_request request;
    uint32_t job = begin_job(&world, 1, 1, NULL);
    steps_request(&request, job, 1);
    steps_run(&world, &request);
    assert_int_equal(world_kill(&world, "1.0"), 0);
    assert_int_equal(world_kill(&world, "1.7"), ERR_INVALID_JOB_ID);
    assert_int_equal(world_kill(&world, "9.0"), ERR_INVALID_JOB_ID);
    steps_end(&world, job, 0, 15);
    assert_int_equal(world_kill(&world, "1.0"), ERR_ALREADY_DONE);
    assert_int_equal(world_state(&world, job), JOB_RUNNING);
    world_stop(&world);
}

TEST(there_is_one_interactive_step_at_a_time) {
    struct world world;
    struct step_request request;
    uint32_t job = begin_job(&world, 1, 1, NULL);
    steps_request(&request, job, 1);
    request.interactive = true;
    assert_int_equal(steps_run(&world, &request), STEP_INTERACTIVE);
    refused(&world, &request, ERR_EXISTS);
    steps_end(&world, job, STEP_INTERACTIVE, 0);
    assert_int_equal(steps_run(&world, &request), STEP_INTERACTIVE);
    assert_int_equal(step_of(&world, job, STEP_INTERACTIVE).state, JOB_RUNNING);
    world_stop(&world);
}

TEST(only_the_batch_host_tells_the_end_of_the_script) {
    struct world world;
    struct job_request request;
    begin(&world);
    world_request(&request);
    request.min_nodes = request.max_nodes = 2;
    uint32_t job = world_submit(&world, &request, NULL);
    steps_end_on(&world, 1, job, STEP_BATCH, 0);
    assert_int_equal(world_state(&world, job), JOB_RUNNING);
    steps_end_on(&world, 0, job, STEP_BATCH, 0);
    assert_int_equal(world_state(&world, job), JOB_COMPLETED);
    world_stop(&world);
}

TEST(a_step_whose_end_nobody_reported_has_ended_with_its_job) {
    struct world world;
    struct step_request request;
    struct step step;
    uint32_t job = begin_job(&world, 1, 1, NULL);
    steps_request(&request, job, 1);
    steps_run(&world, &request);
    assert_int_equal(world_kill(&world, "1"), 0);
    step = step_of(&world, job, 0);
    assert_int_equal(step.state, JOB_CANCELLED);
    assert_int_equal(step.end_time, world.now);
    world_stop(&world);
}

TEST(steps_and_what_they_hold_survive_a_restart) {
    struct world world;
    struct step_request request;
    struct step step;
    struct step_answer answer;
    uint32_t job = begin_job(&world, 1, 4, "gres/gpu:a100:2");
    steps_request(&request, job, 2);
    request.exact = true;
    request.tres_per_node = text_of("gpu:a100:1");
    steps_run(&world, &request);
    world_restart(&world);
    world_all_connect(&world);
    assert_int_equal(step_of(&world, job, 0).state, JOB_RUNNING);
    step = step_run(&world, &request);
    assert_string_equal(step.allocation.items[0].cores, "2-3");
    assert_string_equal(step.allocation.items[0].gres, "gpu:a100:1(IDX:1)");
    steps_create(&world, &request, &answer);
    assert_true(answer.waiting);
    steps_done(&answer);
    world_stop(&world);
}

static const struct step_layout *granted(struct world *world, const char *job, uint32_t step_id,
                                         struct step_answer *answer) {
    struct file_grant grant = {.job = text_of(job), .step_id = step_id};
    memset(answer, 0, sizeof(*answer));
    arena_init(&answer->arena, 0);
    answer->client = world_send(world, MSG_FILE_GRANT, &grant);
    steps_answer(world, answer);
    return answer->layout;
}

TEST(files_may_be_written_on_the_nodes_of_ones_running_job_or_step) {
    struct world world;
    struct step_request request;
    struct step_answer answer;
    begin_job(&world, 3, 6, NULL);
    const struct step_layout *layout = granted(&world, "1", UNSET32, &answer);
    assert_non_null(layout);
    assert_int_equal(layout->nodes.n, 3);
    assert_string_equal(layout->nodes.items[2].name, "n3");
    assert_int_equal(layout->attempt, 1);
    steps_done(&answer);
    assert_null(granted(&world, "1", 0, &answer));
    assert_int_equal(answer.code, ERR_INVALID_JOB_ID);
    steps_done(&answer);
    steps_request(&request, 1, 1);
    request.min_nodes = request.max_nodes = 1;
    steps_run(&world, &request);
    layout = granted(&world, "1", 0, &answer);
    assert_non_null(layout);
    assert_int_equal(layout->nodes.n, 1);
    steps_done(&answer);
    assert_null(granted(&world, "2", UNSET32, &answer));
    assert_int_equal(answer.code, ERR_INVALID_JOB_ID);
    steps_done(&answer);
    assert_null(granted(&world, NULL, UNSET32, &answer));
    steps_done(&answer);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_gets_all_nodes_of_its_job_unless_it_says_less),
        cmocka_unit_test(steps_are_numbered_and_the_next_one_waits_until_the_first_has_ended),
        cmocka_unit_test(an_immediate_step_does_not_wait),
        cmocka_unit_test(exact_steps_share_a_node_and_overlapping_ones_share_its_cpus),
        cmocka_unit_test(an_exact_step_has_a_task_on_each_of_its_nodes_or_waits),
        cmocka_unit_test(tasks_are_spread_evenly_unless_they_are_to_be_packed),
        cmocka_unit_test(a_step_is_told_how_its_partition_binds_tasks),
        cmocka_unit_test(cpus_per_task_makes_a_step_exact),
        cmocka_unit_test(relative_nodelist_and_exclude_choose_among_the_jobs_nodes),
        cmocka_unit_test(
            more_tasks_than_cpus_are_refused_unless_overcommitted_and_never_absurdly_many),
        cmocka_unit_test(ntasks_per_node_decides_how_many_nodes),
        cmocka_unit_test(ranks_of_the_arbitrary_distribution_follow_the_list),
        cmocka_unit_test(a_step_that_asks_for_devices_gets_its_own),
        cmocka_unit_test(a_step_that_asks_for_no_devices_sees_all_or_with_none_nothing),
        cmocka_unit_test(counted_resources_without_numbers_are_given_as_counts),
        cmocka_unit_test(memory_that_a_step_asks_for_is_its_own_and_what_it_inherits_is_shared),
        cmocka_unit_test(memory_per_cpu_and_per_gpu_are_counted_on_each_node),
        cmocka_unit_test(devices_for_the_whole_step_are_spread_over_its_nodes),
        cmocka_unit_test(tasks_per_core_and_per_socket_bound_the_tasks_of_a_node),
        cmocka_unit_test(the_worst_status_of_its_tasks_is_the_steps_and_the_jobs_derived_one),
        cmocka_unit_test(a_step_is_out_of_memory_whichever_node_was_and_whoever_reports_last),
        cmocka_unit_test(a_job_has_at_most_max_step_count_steps),
        cmocka_unit_test(steps_of_jobs_that_do_not_run_and_of_others_are_refused),
        cmocka_unit_test(waiting_steps_learn_of_the_end_of_their_job),
        cmocka_unit_test(a_client_that_goes_away_waits_no_more),
        cmocka_unit_test(steps_are_cancelled_by_id_while_the_job_goes_on),
        cmocka_unit_test(there_is_one_interactive_step_at_a_time),
        cmocka_unit_test(only_the_batch_host_tells_the_end_of_the_script),
        cmocka_unit_test(a_step_whose_end_nobody_reported_has_ended_with_its_job),
        cmocka_unit_test(files_may_be_written_on_the_nodes_of_ones_running_job_or_step),
        cmocka_unit_test(steps_and_what_they_hold_survive_a_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
