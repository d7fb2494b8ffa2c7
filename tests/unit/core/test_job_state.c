/* SPDX-License-Identifier: Apache-2.0 */
/* What time does to jobs: begin, deadline, limits, warnings; holds, releases and priorities. */
#include <stdio.h>
#include <string.h>

#include "model/course.h"
#include "unit.h"
#include "world.h"

#define NODES                                                                                      \
    "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=10\n"                                        \
    "NodeName=n[1-2] CPUs=4 RealMemory=1000\n"                                                     \
    "PartitionName=main Nodes=ALL Default=YES\n"

static void begin(struct world *world, const char *text) {
    world_start(world, text);
    world_all_connect(world);
}

/* Signals that went out to nodes: kept by looking at the effects before they are delivered. */
static uint32_t signal_due(struct world *world, int64_t seconds) {
    uint32_t number = 0;
    world->now += seconds;
    core_tick(world->core, world->now, &world->effects);
    vec_each (&world->effects.list, effect) {
        struct arena arena;
        struct node_signal message;
        struct error err = ERROR_INIT;
        if (effect->kind != EFFECT_NODE || effect->type != MSG_NODE_SIGNAL)
            continue;
        arena_init(&arena, 0);
        assert_int_equal(wire_decode(&record_node_signal, effect->body, &arena, &message, &err), 0);
        number = message.signal;
        arena_done(&arena);
    }
    world_turn(world);
    return number;
}

TEST(a_warning_is_sent_once_before_the_limit) {
    struct world world;
    struct job_request request;
    begin(&world, NODES);
    world_request(&request);
    request.time_limit = 10;
    request.signal = 10;
    request.signal_seconds = 120;
    uint32_t id = world_submit(&world, &request, NULL);
    assert_int_equal(signal_due(&world, 479), 0);
    assert_int_equal(signal_due(&world, 2), 10);
    assert_int_equal(signal_due(&world, 60), 0);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_stop(&world);
}

TEST(a_warning_longer_than_the_limit_is_sent_at_once) {
    struct world world;
    struct job_request request;
    begin(&world, NODES);
    world_request(&request);
    request.time_limit = 1;
    request.signal = 12;
    request.signal_seconds = UINT32_MAX;
    world_submit(&world, &request, NULL);
    assert_int_equal(signal_due(&world, 1), 12);
    world_stop(&world);
}

TEST(over_time_limit_gives_minutes_more) {
    struct world world;
    struct job_request request;
    begin(&world, "OverTimeLimit=2\n" NODES);
    world_request(&request);
    request.time_limit = 1;
    uint32_t id = world_submit(&world, &request, NULL);
    world_pass_time(&world, 179);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_pass_time(&world, 2);
    assert_int_equal(world_state(&world, id), JOB_TIMEOUT);
    world_stop(&world);
}

TEST(a_deadline_ends_what_waits_and_what_runs) {
    struct world world;
    struct job_request request;
    struct job job;
    int code;
    begin(&world, NODES);
    world_request(&request);
    request.deadline = world.now + 100;
    request.hold = true;
    uint32_t waits = world_submit(&world, &request, NULL);
    request.hold = false;
    request.time_limit = 1;
    uint32_t runs = world_submit(&world, &request, NULL);
    assert_int_equal(world_state(&world, runs), JOB_RUNNING);
    world_pass_time(&world, 55);
    assert_int_equal(world_update(&world, "job", "2", "TimeLimit", "60"), 0);
    world_pass_time(&world, 50);
    assert_true(world_look(&world, waits, &job));
    assert_int_equal(job.state, JOB_DEADLINE);
    assert_int_equal(job.reason, REASON_DEADLINE);
    assert_int_equal(world_state(&world, runs), JOB_DEADLINE);
    request.deadline = world.now;
    assert_int_equal(world_submit(&world, &request, &code), 0);
    assert_int_equal(code, ERR_DEADLINE);
    world_stop(&world);
}

TEST(a_job_that_cannot_end_by_its_deadline_any_more_ends) {
    struct world world;
    struct job_request request;
    struct job job;
    int code;
    begin(&world, NODES);
    world_request(&request);
    request.hold = true;
    request.deadline = world.now + 3600;
    request.time_limit = 61;
    assert_int_equal(world_submit(&world, &request, &code), 0);
    assert_int_equal(code, ERR_DEADLINE);
    request.time_limit = 50;
    uint32_t id = world_submit(&world, &request, NULL);
    request.time_min = 20;
    uint32_t shorter = world_submit(&world, &request, NULL);
    world_pass_time(&world, 600);
    assert_int_equal(world_state(&world, id), JOB_PENDING);
    world_pass_time(&world, 1);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_DEADLINE);
    assert_int_equal(job.reason, REASON_DEADLINE);
    world_pass_time(&world, 1700);
    cleanup_free char *text = xasprintf("%u", shorter);
    assert_int_equal(world_verb(&world, VERB_RELEASE, text), 0);
    assert_true(world_look(&world, shorter, &job));
    assert_int_equal(job.state, JOB_RUNNING);
    assert_true(job.end_time <= request.deadline);
    world_stop(&world);
}

TEST(time_min_lets_a_job_start_into_a_gap) {
    struct world world;
    struct job_request request;
    struct job job;
    int code;
    begin(&world, NODES);
    world_request(&request);
    request.time_limit = 10;
    request.time_min = 20;
    assert_int_equal(world_submit(&world, &request, &code), 0);
    assert_int_equal(code, ERR_TIME_MIN);
    /* One node is free until the head job takes both in an hour. */
    world_request(&request);
    request.time_limit = 60;
    request.ntasks = 4;
    world_submit(&world, &request, NULL);
    request.ntasks = 8;
    uint32_t head = world_submit(&world, &request, NULL);
    request.ntasks = 1;
    request.time_limit = 600;
    uint32_t plain = world_submit(&world, &request, NULL);
    request.time_min = 30;
    uint32_t flexible = world_submit(&world, &request, NULL);
    assert_int_equal(world_state(&world, head), JOB_PENDING);
    assert_int_equal(world_state(&world, plain), JOB_PENDING);
    assert_true(world_look(&world, flexible, &job));
    assert_int_equal(job.state, JOB_RUNNING);
    assert_true(job.time_limit >= 30 && job.time_limit <= 60);
    world_stop(&world);
}

TEST(a_job_held_while_it_runs_waits_after_its_requeue) {
    struct world world;
    struct job job;
    begin(&world, NODES);
    uint32_t id = world_job(&world);
    assert_int_equal(world_verb(&world, VERB_HOLD, "1"), 0);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    assert_int_equal(world_verb(&world, VERB_REQUEUE, "1"), 0);
    world_pass_time(&world, 500);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_PENDING);
    assert_int_equal(job.reason, REASON_HELD_USER);
    assert_int_equal(world_verb(&world, VERB_RELEASE, "1"), 0);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_stop(&world);
}

static int stop(struct world *world, uint32_t number) {
    char *ids[] = {(char *) (uintptr_t) "1"};
    struct job_select select;
    struct job_kill kill;
    struct arena arena;
    record_init(&record_job_select, &select);
    record_init(&record_job_kill, &kill);
    select.ids = (struct strs) {ids, 1};
    kill.select = &select;
    kill.signal = number;
    uint64_t client = world_send(world, MSG_JOB_KILL, &kill);
    arena_init(&arena, 0);
    const struct job_results *results = world_answer(world, client, MSG_JOB_RESULTS, &arena);
    int code = (int) results->items.items[0].code;
    arena_done(&arena);
    return code;
}

TEST(a_stopped_job_can_be_requeued_and_runs_again) {
    struct world world;
    struct job job;
    begin(&world, NODES);
    uint32_t id = world_job(&world);
    assert_int_equal(stop(&world, 19), 0);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.flags, JOB_FLAG_STOPPED);
    assert_int_equal(world_verb(&world, VERB_REQUEUE, "1"), 0);
    world_pass_time(&world, 500);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_RUNNING);
    assert_int_equal(job.flags, 0);
    assert_int_equal(stop(&world, 65), ERR_INVALID);
    assert_int_equal(stop(&world, UINT32_MAX), ERR_INVALID);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_stop(&world);
}

TEST(a_suspended_job_can_be_requeued) {
    struct world world;
    begin(&world, NODES);
    uint32_t id = world_job(&world);
    assert_int_equal(world_verb(&world, VERB_SUSPEND, "1"), 0);
    assert_int_equal(world_verb(&world, VERB_REQUEUE, "1"), 0);
    world_check(&world);
    world_pass_time(&world, 500);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_check(&world);
    world_stop(&world);
}

TEST(a_job_that_ends_while_it_is_suspended_has_not_run_since) {
    struct world world;
    struct job job;
    begin(&world, NODES);
    uint32_t id = world_job(&world);
    world_pass_time(&world, 100);
    int64_t ran = world_look(&world, id, &job) ? world.now - job.start_time : 0;
    assert_int_equal(world_verb(&world, VERB_SUSPEND, "1"), 0);
    world_pass_time(&world, 1000);
    assert_int_equal(world_kill(&world, "1"), 0);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_CANCELLED);
    assert_int_equal(job_run_seconds(&job, world.now), ran);
    struct job_course course = job_course_of(&job, false);
    assert_int_equal(course_seconds(&course, 0, INT64_MAX), ran);
    world_stop(&world);
}

static const char *cores_of(struct world *world, uint32_t id, struct job *job) {
    assert_true(world_look(world, id, job));
    assert_int_equal(job->state, JOB_RUNNING);
    return job->allocation.items[0].cores;
}

TEST(a_job_beside_a_suspended_one_gets_its_cores_and_not_those_of_others) {
    struct world world;
    struct job job;
    struct job_request request;
    world_start(&world, "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=10\n"
                        "NodeName=n1 CPUs=2 RealMemory=1000\n"
                        "PartitionName=main Nodes=ALL Default=YES\n");
    world_all_connect(&world);
    uint32_t first = world_job(&world), second = world_job(&world);
    assert_string_equal(cores_of(&world, first, &job), "0");
    assert_int_equal(world_verb(&world, VERB_SUSPEND, "2"), 0);
    world_request(&request);
    uint32_t third = world_submit(&world, &request, NULL);
    assert_string_equal(cores_of(&world, third, &job), "1");
    world_restart(&world); /* the same from the store */
    world_all_connect(&world);
    world_script_ends(&world, third, 0);
    assert_string_equal(cores_of(&world, world_job(&world), &job), "1");
    assert_int_equal(world_state(&world, second), JOB_SUSPENDED);
    world_check(&world);
    world_stop(&world);
}

TEST(a_run_does_not_end_before_its_start_when_the_clock_has_been_put_back) {
    struct world world;
    struct job job;
    begin(&world, NODES);
    world_pass_time(&world, 5000);
    uint32_t id = world_job(&world);
    world.now -= 4000;
    world_restart(&world);
    world_all_connect(&world);
    world_script_ends(&world, id, 0);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_COMPLETED);
    assert_int_equal(job.end_time, job.start_time);
    world_stop(&world);
}

TEST(release_clears_a_priority_that_was_set) {
    struct world world;
    struct job_request request;
    struct job job;
    begin(&world, NODES);
    world_request(&request);
    request.begin_time = world.now + 100;
    uint32_t id = world_submit(&world, &request, NULL);
    assert_true(world_look(&world, id, &job));
    uint32_t usual = job.priority;
    assert_int_equal(world_update(&world, "job", "1", "Priority", "7"), 0);
    assert_int_equal(world_verb(&world, VERB_RELEASE, "1"), 0);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.priority, usual);
    world_stop(&world);
}

static uint32_t priority_of(struct world *world, struct job_request *request) {
    struct job job;
    request->begin_time = world->now + 10000;
    uint32_t id = world_submit(world, request, NULL);
    assert_true(world_look(world, id, &job));
    return job.priority;
}

TEST(weights_make_the_priority) {
    struct world world;
    struct job_request request;
    begin(&world, "PriorityType=priority/multifactor\nPriorityWeightJobSize=1000\n"
                  "PriorityWeightPartition=4000000000\n" NODES
                  "PartitionName=fast Nodes=ALL PriorityJobFactor=10\n"
                  "PartitionName=slow Nodes=ALL PriorityJobFactor=5\n");
    world_request(&request);
    request.partition = (char *) (uintptr_t) "fast";
    uint32_t fast = priority_of(&world, &request);
    request.partition = (char *) (uintptr_t) "slow";
    uint32_t slow = priority_of(&world, &request);
    assert_int_equal(fast - slow, 2000000000);
    request.min_nodes = request.max_nodes = 2;
    uint32_t larger = priority_of(&world, &request);
    assert_true(larger > slow);
    request.nice = 100;
    assert_int_equal(larger - priority_of(&world, &request), 100);
    request.nice = INT32_MAX;
    assert_true(priority_of(&world, &request) >= 1);
    request.nice = INT32_MIN;
    assert_true(priority_of(&world, &request) <= UINT32_MAX - 1);
    world_stop(&world);
}

TEST(absurd_requests_are_refused_or_wait_and_break_nothing) {
    static const uint32_t absurd[] = {1u << 31, UINT32_MAX - 1, UINT32_MAX, 1000000};
    struct world world;
    begin(&world, NODES);
    for (size_t i = 0; i < countof(absurd); i++) {
        struct job_request request;
        uint32_t *const numbers[] = {
            &request.min_nodes,        &request.max_nodes,         &request.ntasks,
            &request.ntasks_per_node,  &request.cpus_per_task,     &request.min_cpus_per_node,
            &request.cpus_per_gpu,     &request.ntasks_per_socket, &request.ntasks_per_core,
            &request.sockets_per_node, &request.plane_size,        &request.signal_seconds,
            &request.time_limit,       &request.requested_priority};
        for (size_t k = 0; k < countof(numbers); k++) {
            world_request(&request);
            *numbers[k] = absurd[i];
            world_submit(&world, &request, NULL);
            request.ntasks = absurd[i];
            request.overcommit = true;
            world_submit(&world, &request, NULL);
            world_check(&world);
        }
        uint64_t *const mems[] = {&request.mem_per_node, &request.mem_per_cpu, &request.mem_per_gpu,
                                  &request.tmp_disk};
        for (size_t k = 0; k < countof(mems); k++) {
            world_request(&request);
            *mems[k] = UINT64_MAX - 1 - i;
            request.cpus_per_task = absurd[i];
            world_submit(&world, &request, NULL);
            *mems[k] = (uint64_t) 1 << 29; /* is taken, and products of it overflow */
            request.ntasks = absurd[i];
            world_submit(&world, &request, NULL);
        }
    }
    world_stop(&world);
}

TEST(points_in_time_and_enumerations_out_of_range_are_refused) {
    struct world world;
    struct job_request request;
    int code;
    begin(&world, NODES);
    static const int64_t times[] = {-1, INT64_MIN, INT64_MAX};
    for (size_t i = 0; i < countof(times); i++) {
        world_request(&request);
        request.begin_time = times[i];
        assert_int_equal(world_submit(&world, &request, &code), 0);
        assert_int_equal(code, ERR_INVALID);
        world_request(&request);
        request.deadline = times[i];
        assert_int_equal(world_submit(&world, &request, &code), 0);
        assert_int_equal(code, ERR_INVALID);
    }
    world_request(&request);
    request.exclusive = 99;
    assert_int_equal(world_submit(&world, &request, &code), 0);
    assert_int_equal(code, ERR_INVALID);
    world_request(&request);
    request.kind = UINT32_MAX;
    assert_int_equal(world_submit(&world, &request, &code), 0);
    assert_int_equal(code, ERR_INVALID);
    world_request(&request);
    request.signal = 65;
    assert_int_equal(world_submit(&world, &request, &code), 0);
    assert_int_equal(code, ERR_INVALID);
    world_stop(&world);
}

TEST(lists_of_node_counts_are_kept_to_the_cluster) {
    struct world world;
    struct job_request request;
    struct job job;
    begin(&world, NODES);
    world_request(&request);
    request.node_counts = (char *) (uintptr_t) "2-1000000";
    request.min_nodes = 2;
    request.max_nodes = 1000000;
    request.ntasks = 2;
    uint32_t id = world_submit(&world, &request, NULL);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_RUNNING);
    assert_int_equal(job.num_nodes, 2);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_warning_is_sent_once_before_the_limit),
        cmocka_unit_test(a_warning_longer_than_the_limit_is_sent_at_once),
        cmocka_unit_test(over_time_limit_gives_minutes_more),
        cmocka_unit_test(a_deadline_ends_what_waits_and_what_runs),
        cmocka_unit_test(a_job_that_cannot_end_by_its_deadline_any_more_ends),
        cmocka_unit_test(time_min_lets_a_job_start_into_a_gap),
        cmocka_unit_test(a_job_held_while_it_runs_waits_after_its_requeue),
        cmocka_unit_test(a_stopped_job_can_be_requeued_and_runs_again),
        cmocka_unit_test(a_suspended_job_can_be_requeued),
        cmocka_unit_test(a_job_that_ends_while_it_is_suspended_has_not_run_since),
        cmocka_unit_test(a_job_beside_a_suspended_one_gets_its_cores_and_not_those_of_others),
        cmocka_unit_test(a_run_does_not_end_before_its_start_when_the_clock_has_been_put_back),
        cmocka_unit_test(release_clears_a_priority_that_was_set),
        cmocka_unit_test(weights_make_the_priority),
        cmocka_unit_test(absurd_requests_are_refused_or_wait_and_break_nothing),
        cmocka_unit_test(points_in_time_and_enumerations_out_of_range_are_refused),
        cmocka_unit_test(lists_of_node_counts_are_kept_to_the_cluster),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
