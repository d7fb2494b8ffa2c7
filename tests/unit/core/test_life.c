/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of jobs in the core, in sentences.
 *
 * Covers: alloc.c, configure.c, core.c, effect.c, job.c, job_check.c, job_size.c, job_state.c,
 * job_tell.c, list.c, mail.c, submit.c
 */
#include <string.h>

#include "base/alloc.h"
#include "core/state.h"
#include "unit.h"
#include "world.h"

static const char two_nodes[] = "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=100\n"
                                "NodeName=n[1-2] CPUs=4 RealMemory=1000\n"
                                "PartitionName=main Nodes=ALL Default=YES\n"
                                "PartitionName=short Nodes=n1 MaxTime=10\n";

static void begin(struct world *world) {
    world_start(world, two_nodes);
    world_all_connect(world);
}

TEST(a_job_on_an_idle_cluster_runs_at_once) {
    struct world world;
    struct job job;
    begin(&world);
    uint32_t id = world_job(&world);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_RUNNING);
    assert_int_equal(job.flags, 0);
    assert_string_equal(job.nodes, "n1");
    assert_int_equal(job.num_cpus, 1);
    world_check(&world);
    world_stop(&world);
}

TEST(the_exit_status_decides_the_state) {
    struct world world;
    struct job job;
    begin(&world);
    uint32_t good = world_job(&world), bad = world_job(&world), killed = world_job(&world);
    world_script_ends(&world, good, 0);
    world_script_ends(&world, bad, 3 << 8);
    world_script_ends(&world, killed, 9);
    assert_int_equal(world_state(&world, good), JOB_COMPLETED);
    assert_true(world_look(&world, bad, &job));
    assert_int_equal(job.state, JOB_FAILED);
    assert_int_equal(job.reason, REASON_NON_ZERO_EXIT);
    assert_int_equal(job.exit_status, 3 << 8);
    assert_true(world_look(&world, killed, &job));
    assert_int_equal(job.reason, REASON_RAISED_SIGNAL);
    assert_int_equal(core_node(world.core, 0)->alloc_cpus, 0);
    world_stop(&world);
}

TEST(a_job_stays_completing_until_its_node_is_clean) {
    struct world world;
    struct job job;
    begin(&world);
    uint32_t id = world_job(&world);
    world.nodes_answer = false;
    assert_int_equal(world_kill(&world, "1"), 0);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_CANCELLED);
    assert_int_equal(job.flags, JOB_FLAG_COMPLETING);
    assert_int_equal(core_node(world.core, 0)->alloc_cpus, 1);
    world.nodes_answer = true;
    world_node_connects(&world, 0); /* reconciliation says it again */
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.flags, 0);
    assert_int_equal(core_node(world.core, 0)->alloc_cpus, 0);
    world_stop(&world);
}

TEST(what_does_not_fit_waits_and_says_why) {
    struct world world;
    struct job_request request;
    struct job job;
    begin(&world);
    world_request(&request);
    request.ntasks = 8;
    uint32_t big = world_submit(&world, &request, NULL);
    uint32_t next = world_job(&world), last = world_job(&world);
    assert_int_equal(world_state(&world, big), JOB_RUNNING);
    assert_true(world_look(&world, next, &job));
    assert_int_equal(job.state, JOB_PENDING);
    assert_int_equal(job.reason, REASON_RESOURCES);
    assert_true(world_look(&world, last, &job));
    assert_int_equal(job.reason, REASON_PRIORITY);
    world_script_ends(&world, big, 0);
    assert_int_equal(world_state(&world, next), JOB_RUNNING);
    assert_int_equal(world_state(&world, last), JOB_RUNNING);
    world_check(&world);
    world_stop(&world);
}

TEST(a_time_limit_ends_the_job) {
    struct world world;
    struct job_request request;
    begin(&world);
    world_request(&request);
    request.time_limit = 1;
    uint32_t id = world_submit(&world, &request, NULL);
    world_pass_time(&world, 59);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_pass_time(&world, 2);
    assert_int_equal(world_state(&world, id), JOB_TIMEOUT);
    assert_false(world_run_of(&world, id)->running);
    world_stop(&world);
}

/* What sacct is told: rows, and steps in them. */
struct told {
    struct arena arena;
    uint32_t n_jobs, n_steps;
};

static void hear(void *context, uint32_t job_id, struct bytes body) {
    struct told *told = context;
    struct acct_job record;
    assert_int_equal(wire_decode(&record_acct_job, body, &told->arena, &record, NULL), 0);
    told->n_jobs++;
    told->n_steps += record.steps.n;
}

static void expect_told(struct world *world, uint32_t n_jobs, uint32_t n_steps) {
    struct told live = {.n_jobs = 0}, history = {.n_jobs = 0};
    struct acct_query query;
    struct core_user root = {.name = "root", .group = "root"};
    record_init(&record_acct_query, &query);
    arena_init(&live.arena, 0);
    arena_init(&history.arena, 0);
    core_acct_live(world->core, world->now, &root, &query, hear, &live);
    vec_each (&world->history, row)
        hear(&history, 0, str_bytes(row));
    assert_int_equal(live.n_jobs + history.n_jobs, n_jobs);
    assert_int_equal(live.n_steps + history.n_steps, n_steps);
    arena_done(&live.arena);
    arena_done(&history.arena);
}

TEST(of_jobs_or_of_steps_nothing_may_be_kept) {
    static const struct {
        const char *enforce;
        uint32_t n_jobs, n_steps;
    } rows[] = {{"none", 1, 1}, {"nosteps", 1, 0}, {"nojobs", 0, 0}};
    for (size_t i = 0; i < countof(rows); i++) {
        struct world world;
        cleanup_free char *conf =
            xasprintf("ClusterName=tux\nSlurmctldHost=localhost\nNodeName=n1 CPUs=2 "
                      "RealMemory=1000\nPartitionName=main Nodes=ALL Default=YES\n"
                      "AccountingStorageEnforce=%s\n",
                      rows[i].enforce);
        world_start(&world, conf);
        world.keeps_history = true;
        world_all_connect(&world);
        uint32_t id = world_job(&world);
        assert_int_equal(world_state(&world, id), JOB_RUNNING);
        expect_told(&world, rows[i].n_jobs, rows[i].n_steps);
        world_script_ends(&world, id, 0);
        world_pass_time(&world, 400);
        struct job job;
        assert_false(world_look(&world, id, &job));
        expect_told(&world, rows[i].n_jobs, rows[i].n_steps);
        world_stop(&world);
    }
}

TEST(a_finished_job_moves_to_history_after_min_job_age) {
    struct world world;
    struct job job;
    begin(&world);
    uint32_t id = world_job(&world);
    world_script_ends(&world, id, 0);
    world_pass_time(&world, 299);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(world.n_history, 0);
    world_pass_time(&world, 2);
    assert_false(world_look(&world, id, &job));
    assert_int_equal(world.n_history, 1);
    /* Nothing of it is left in the store: neither record, script nor step. */
    size_t at = 0, n_left = 0;
    uint64_t key;
    const struct world_record *record;
    while ((record = map_next(&world.records, &at, &key)) != NULL)
        n_left += record->kind == STORE_JOB || record->kind == STORE_JOB_SCRIPT ||
                  record->kind == STORE_STEP;
    assert_int_equal(n_left, 0);
    world_stop(&world);
}

TEST(a_held_job_waits_until_it_is_released) {
    struct world world;
    struct job_request request;
    struct job job;
    begin(&world);
    world_request(&request);
    request.hold = true;
    uint32_t id = world_submit(&world, &request, NULL);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.reason, REASON_HELD_USER);
    assert_int_equal(job.priority, 0);
    world_pass_time(&world, 1000);
    assert_int_equal(world_state(&world, id), JOB_PENDING);
    assert_int_equal(world_verb(&world, VERB_RELEASE, "1"), 0);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_stop(&world);
}

TEST(begin_time_is_kept) {
    struct world world;
    struct job_request request;
    struct job job;
    begin(&world);
    world_request(&request);
    request.begin_time = world.now + 100;
    uint32_t id = world_submit(&world, &request, NULL);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.reason, REASON_BEGIN_TIME);
    assert_int_equal(job.eligible_time, request.begin_time);
    assert_int_equal(job.accrue_time, 0);
    world_pass_time(&world, 99);
    assert_int_equal(world_state(&world, id), JOB_PENDING);
    world_pass_time(&world, 2);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_RUNNING);
    assert_int_equal(job.accrue_time, request.begin_time);
    world_stop(&world);
}

TEST(a_waiting_request_counts_the_nodes_that_it_asks_for) {
    struct world world;
    struct job_request request;
    struct job job;
    begin(&world);
    world_request(&request);
    request.hold = true;
    request.ntasks = 8;
    request.mem_per_cpu = 128;
    uint32_t id = world_submit(&world, &request, NULL);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.num_nodes, 2);
    assert_string_equal(job.tres_req, "cpu=8,mem=1G,node=1,billing=8");
    world_request(&request);
    request.hold = true;
    request.min_nodes = request.max_nodes = 2;
    request.min_cpus_per_node = 4;
    id = world_submit(&world, &request, NULL);
    assert_true(world_look(&world, id, &job));
    assert_string_equal(job.tres_req, "cpu=2,mem=200M,node=2,billing=2");
    world_stop(&world);
}

TEST(requeue_keeps_the_id_and_counts) {
    struct world world;
    struct job job;
    begin(&world);
    uint32_t id = world_job(&world);
    assert_int_equal(world_verb(&world, VERB_REQUEUE, "1"), 0);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_RUNNING); /* eligible at once: it runs again */
    assert_int_equal(job.restarts, 1);
    assert_int_equal(job.attempt, 2);
    assert_int_equal(world.n_history, 1);
    /* The end of the first attempt changes nothing. */
    struct world_run old = world.runs.items[0];
    assert_int_equal(old.attempt, 1);
    assert_false(old.running);
    world_check(&world);
    world_stop(&world);
}

/* A node says that the job's first attempt has ended. */
static void first_attempt_ends_on(struct world *world, uint32_t node, uint32_t job_id) {
    struct step_done done;
    record_init(&record_step_done, &done);
    done.job_id = job_id;
    done.step_id = STEP_BATCH;
    done.attempt = 1;
    core_node_message(world->core, world->now, node, MSG_STEP_DONE, &done, &world->effects);
    world_turn(world);
}

TEST(a_report_of_an_older_attempt_changes_nothing) {
    struct world world;
    begin(&world);
    uint32_t id = world_job(&world);
    assert_int_equal(world_verb(&world, VERB_REQUEUE, "1"), 0);
    first_attempt_ends_on(&world, 0, id);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_stop(&world);
}

TEST(a_report_from_a_node_that_does_not_hold_the_job_changes_nothing) {
    struct world world;
    begin(&world);
    uint32_t id = world_job(&world);
    first_attempt_ends_on(&world, 1, id);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_stop(&world);
}

TEST(suspend_gives_back_the_cpus_and_resume_extends_the_limit) {
    struct world world;
    struct job_request request;
    struct job job;
    begin(&world);
    world_request(&request);
    request.ntasks = 8;
    request.time_limit = 10;
    uint32_t id = world_submit(&world, &request, NULL);
    assert_true(world_look(&world, id, &job));
    int64_t end = job.end_time;
    assert_int_equal(world_verb(&world, VERB_SUSPEND, "1"), 0);
    assert_int_equal(world_state(&world, id), JOB_SUSPENDED);
    world_pass_time(&world, 120);
    assert_int_equal(world_verb(&world, VERB_RESUME, "1"), 0);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_RUNNING);
    assert_int_equal(job.end_time, end + 120);
    world_stop(&world);
}

TEST(a_failed_launch_is_tried_again) {
    struct world world;
    struct job job;
    begin(&world);
    world.launches_fail = true;
    uint32_t id = world_job(&world);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_PENDING);
    assert_int_equal(job.reason, REASON_BEGIN_TIME);
    world.launches_fail = false;
    world_pass_time(&world, 5); /* more of this: test_failure.c */
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_stop(&world);
}

TEST(others_may_not_touch_a_job) {
    struct world world;
    begin(&world);
    world.uid = 1000;
    uint32_t id = world_job(&world);
    world.uid = 2000;
    assert_int_equal(world_kill(&world, "1"), ERR_ACCESS_DENIED);
    assert_int_equal(world_verb(&world, VERB_HOLD, "1"), ERR_USER_ID);
    assert_int_equal(world_update(&world, "job", "1", "TimeLimit", "5"), ERR_USER_ID);
    assert_int_equal(world_update(&world, "node", "n1", "State", "RESUME"), ERR_USER_ID);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_stop(&world);
}

TEST(bad_requests_are_refused_with_their_reason) {
    struct world world;
    struct job_request request;
    int code;
    begin(&world);
    world_request(&request);
    request.partition = (char *) (uintptr_t) "nope";
    assert_int_equal(world_submit(&world, &request, &code), 0);
    assert_int_equal(code, ERR_INVALID_PARTITION);
    world_request(&request);
    request.cpus_per_task = 5;
    assert_int_equal(world_submit(&world, &request, &code), 0);
    assert_int_equal(code, ERR_NODE_CONFIG);
    world_request(&request);
    request.features = (char *) (uintptr_t) "quantum";
    assert_int_equal(world_submit(&world, &request, &code), 0);
    assert_int_equal(code, ERR_INVALID_FEATURE);
    world_request(&request);
    request.tres_per_node = (char *) (uintptr_t) "gres/gpu:1";
    assert_int_equal(world_submit(&world, &request, &code), 0);
    assert_int_equal(code, ERR_INVALID_GRES);
    world_request(&request);
    request.dependency = (char *) (uintptr_t) "afterok:77";
    assert_int_equal(world_submit(&world, &request, &code), 0);
    assert_int_equal(code, ERR_DEPENDENCY);
    world_request(&request);
    request.req_nodes = (char *) (uintptr_t) "n1";
    request.exc_nodes = (char *) (uintptr_t) "n[1-2]";
    assert_int_equal(world_submit(&world, &request, &code), 0);
    assert_int_equal(code, ERR_INVALID_NODE);
    /* Refused submissions use up no id. */
    assert_int_equal(world_job(&world), 1);
    world_stop(&world);
}

TEST(dependencies_are_kept) {
    struct world world;
    struct job_request request;
    struct job job;
    begin(&world);
    uint32_t first = world_job(&world);
    world_request(&request);
    request.dependency = (char *) (uintptr_t) "afterok:1";
    uint32_t ok = world_submit(&world, &request, NULL);
    request.dependency = (char *) (uintptr_t) "afternotok:1";
    uint32_t not_ok = world_submit(&world, &request, NULL);
    request.dependency = (char *) (uintptr_t) "afterany:1";
    uint32_t any = world_submit(&world, &request, NULL);
    assert_true(world_look(&world, ok, &job));
    assert_int_equal(job.reason, REASON_DEPENDENCY);
    assert_string_equal(job.dependency, "afterok:1(unfulfilled)");
    world_script_ends(&world, first, 1 << 8);
    assert_true(world_look(&world, ok, &job));
    assert_int_equal(job.reason, REASON_DEPENDENCY_NEVER);
    assert_string_equal(job.dependency, "afterok:1(failed)");
    assert_int_equal(world_state(&world, not_ok), JOB_RUNNING);
    assert_int_equal(world_state(&world, any), JOB_RUNNING);
    world_stop(&world);
}

TEST(an_array_is_one_record_until_its_tasks_start) {
    struct world world;
    struct job_request request;
    struct job job;
    begin(&world);
    world_request(&request);
    request.array_spec = (char *) (uintptr_t) "0-99%3";
    uint32_t id = world_submit(&world, &request, NULL);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_PENDING);
    assert_string_equal(job.array_tasks, "3-99");
    assert_int_equal(job.reason, REASON_ARRAY_TASK_LIMIT);
    assert_int_equal(world.n_launched, 3);
    world_script_ends(&world, id + 1, 0);
    assert_int_equal(world.n_launched, 4);
    world_check(&world);
    world_stop(&world);
}

TEST(tasks_of_an_array_can_be_cancelled_apart) {
    struct world world;
    struct job_request request;
    struct job job;
    begin(&world);
    world_request(&request);
    request.array_spec = (char *) (uintptr_t) "1-5";
    request.hold = true;
    uint32_t id = world_submit(&world, &request, NULL);
    assert_int_equal(world_kill(&world, "1_3"), 0);
    assert_true(world_look(&world, id, &job));
    assert_string_equal(job.array_tasks, "1-2,4-5");
    assert_int_equal(world_kill(&world, "1_[4-5]"), 0);
    assert_int_equal(world_kill(&world, "1"), 0);
    assert_int_equal(world_state(&world, id), JOB_CANCELLED);
    world_stop(&world);
}

TEST(a_node_that_falls_silent_goes_down_only_after_its_timeout) {
    struct world world;
    struct job job;
    begin(&world);
    uint32_t id = world_job(&world);
    world_node_lost(&world, 0);
    world_pass_time(&world, 3);
    assert_true(core_node(world.core, 0)->flags & NODE_FLAG_NOT_RESPONDING);
    world_pass_time(&world, 290);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_pass_time(&world, 20);
    assert_int_equal(core_node(world.core, 0)->state, NODE_DOWN);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.restarts, 1);
    assert_string_equal(job.nodes, "n2"); /* requeued, runs on the other node */
    world_check(&world);
    world_stop(&world);
}

TEST(a_job_with_no_kill_goes_on_without_a_lost_node) {
    struct world world;
    struct job_request request;
    struct job job;
    begin(&world);
    world_request(&request);
    request.min_nodes = request.max_nodes = 2;
    request.no_kill = true;
    uint32_t id = world_submit(&world, &request, NULL);
    assert_int_equal(world_update(&world, "node", "n2", "Reason", "gone"), 0);
    world_node_lost(&world, 1);
    world_pass_time(&world, 400);
    assert_int_equal(core_node(world.core, 1)->state, NODE_DOWN);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_RUNNING);
    assert_int_equal(job.restarts, 0);
    world_check(&world);
    world_script_ends(&world, id, 0);
    assert_int_equal(world_state(&world, id), JOB_COMPLETED);
    world_stop(&world);
}

TEST(a_drained_node_takes_nothing_new_and_resumes) {
    struct world world;
    struct job_request request;
    struct job job;
    begin(&world);
    assert_int_equal(world_update(&world, "node", "n1", "State", "DRAIN"), ERR_INVALID);
    world_request(&request);
    request.req_nodes = (char *) (uintptr_t) "n1";
    assert_int_equal(world_update(&world, "partition", "main", "State", "DOWN"), 0);
    uint32_t id = world_submit(&world, &request, NULL);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.reason, REASON_PARTITION_DOWN);
    assert_int_equal(world_update(&world, "partition", "main", "State", "UP"), 0);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_stop(&world);
}

TEST(a_partition_set_down_is_down_after_a_restart) {
    struct world world;
    begin(&world);
    assert_int_equal(world_update(&world, "partition", "main", "State", "DOWN"), 0);
    world_restart(&world);
    world_all_connect(&world);
    uint32_t id = world_job(&world);
    assert_int_equal(world_state(&world, id), JOB_PENDING);
    world_stop(&world);
}

TEST(a_restart_loses_nothing_and_runs_nothing_twice) {
    struct world world;
    struct job_request request;
    struct job job;
    begin(&world);
    uint32_t running = world_job(&world), ends = world_job(&world);
    world_request(&request);
    request.hold = true;
    uint32_t held = world_submit(&world, &request, NULL);
    size_t launched = world.n_launched;
    world_restart(&world);
    /* One script ends while nobody listens. */
    struct world_run *run = world_run_of(&world, ends);
    run->running = false;
    run->ended = true;
    assert_int_equal(world_state(&world, running), JOB_RUNNING);
    world_all_connect(&world);
    assert_int_equal(world_state(&world, running), JOB_RUNNING);
    assert_int_equal(world_state(&world, ends), JOB_COMPLETED);
    assert_true(world_look(&world, held, &job));
    assert_int_equal(job.reason, REASON_HELD_USER);
    assert_int_equal(world.n_launched, launched);
    assert_int_equal(world_job(&world), held + 1);
    world_check(&world);
    world_stop(&world);
}

TEST(no_node_goes_down_before_the_controller_is_up_for_a_timeout) {
    struct world world;
    begin(&world);
    uint32_t id = world_job(&world);
    world.now += 100000; /* the controller was away for a day */
    world_restart(&world);
    world_pass_time(&world, 200);
    assert_int_not_equal(core_node(world.core, 0)->state, NODE_DOWN);
    world_all_connect(&world);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_stop(&world);
}

TEST(mass_silence_evicts_nobody) {
    struct world world;
    world_start(&world, "NodeName=n[1-8] CPUs=1 RealMemory=100\n"
                        "PartitionName=main Nodes=ALL Default=YES\n");
    world_all_connect(&world);
    uint32_t id = world_job(&world);
    for (uint32_t i = 0; i < 8; i++)
        world_node_lost(&world, i);
    world_pass_time(&world, 4000);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    assert_int_not_equal(core_node(world.core, 0)->state, NODE_DOWN);
    world_stop(&world);
}

TEST(an_update_changes_what_it_names_and_nothing_else) {
    struct world world;
    struct job_request request;
    struct job before, after;
    begin(&world);
    world_request(&request);
    request.hold = true;
    request.comment = (char *) (uintptr_t) "mine";
    uint32_t id = world_submit(&world, &request, NULL);
    assert_true(world_look(&world, id, &before));
    struct job *copy = record_dup(&record_job, &before);
    assert_int_equal(world_update(&world, "job", "1", "TimeLimit", "30"), 0);
    assert_true(world_look(&world, id, &after));
    assert_int_equal(after.time_limit, 30);
    copy->time_limit = after.time_limit;
    copy->generation = after.generation;
    assert_true(record_equal(&record_job, copy, &after));
    record_free(&record_job, copy);
    assert_int_equal(world_update(&world, "job", "1", "NoSuchKey", "1"), ERR_UPDATE_KEY);
    assert_int_equal(world_update(&world, "job", "1", "Partition", "nope"), ERR_INVALID_PARTITION);
    world_stop(&world);
}

TEST(a_salloc_whose_command_vanishes_is_given_back) {
    struct world world;
    struct job_request request;
    struct submit submit;
    begin(&world);
    world_request(&request);
    request.kind = JOB_KIND_SALLOC;
    request.script = (struct blob) {NULL, 0};
    record_init(&record_submit, &submit);
    submit.job = &request;
    uint64_t client = world_send(&world, MSG_SUBMIT, &submit);
    struct arena arena;
    arena_init(&arena, 0);
    const struct alloc_granted *granted = world_answer(&world, client, MSG_ALLOC_GRANTED, &arena);
    assert_non_null(granted);
    assert_string_equal(granted->job->nodes, "n1");
    uint32_t id = granted->job->job_id;
    arena_done(&arena);
    core_client_gone(world.core, world.now, client, &world.effects);
    world_pass_time(&world, 59);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_pass_time(&world, 5);
    assert_int_equal(world_state(&world, id), JOB_CANCELLED);
    world_stop(&world);
}

TEST(mail_is_sent_for_the_events_that_were_asked_for) {
    struct world world;
    struct job_request request;
    begin(&world);
    world_request(&request);
    request.mail_type = MAIL_BEGIN | MAIL_FAIL;
    request.mail_user = (char *) (uintptr_t) "a@b";
    uint32_t id = world_submit(&world, &request, NULL);
    assert_int_equal(world.mails.n, 1);
    assert_non_null(strstr(world.mails.items[0], "a@b: Slurm Job_id=1 Name=test Began"));
    world_script_ends(&world, id, 3 << 8);
    assert_int_equal(world.mails.n, 2);
    assert_non_null(strstr(world.mails.items[1], "Failed, Run time 00:00:00, FAILED, ExitCode 3"));
    uint32_t quiet = world_job(&world);
    world_script_ends(&world, quiet, 0);
    assert_int_equal(world.mails.n, 2);
    world_stop(&world);
}

TEST(an_array_is_told_of_once_and_its_tasks_when_asked_for) {
    struct world world;
    struct job_request request;
    begin(&world);
    world_request(&request);
    request.array_spec = (char *) (uintptr_t) "1-2";
    request.mail_type = MAIL_BEGIN | MAIL_END;
    world_submit(&world, &request, NULL);
    assert_int_equal(world.mails.n, 1);
    assert_non_null(
        strstr(world.mails.items[0], "Slurm Array Summary Job_id=1_* (1) Name=test Began"));
    world_script_ends(&world, world_task(&world, 1, 1), 3 << 8);
    assert_int_equal(world.mails.n, 1);
    world_script_ends(&world, world_task(&world, 1, 2), 0);
    assert_int_equal(world.mails.n, 2);
    assert_non_null(strstr(world.mails.items[1], "Name=test Ended, Mixed, ExitCode [0-3]"));
    request.mail_type |= MAIL_ARRAY_TASKS;
    world_submit(&world, &request, NULL);
    assert_int_equal(world.mails.n, 4);
    assert_non_null(strstr(world.mails.items[2], "Slurm Array Task Job_id=3_1 (4) Name=test"));
    world_stop(&world);
}

TEST(parts_of_the_time_limit_are_told_once_each) {
    struct world world;
    struct job_request request;
    begin(&world);
    world_request(&request);
    request.time_limit = 100;
    request.mail_type = MAIL_TIME_50 | MAIL_TIME_90;
    world_submit(&world, &request, NULL);
    world_pass_time(&world, 2990);
    assert_int_equal(world.mails.n, 0);
    world_pass_time(&world, 20);
    assert_int_equal(world.mails.n, 1);
    assert_non_null(strstr(world.mails.items[0], "Reached 50% of time limit, Run time 00:50:0"));
    world_restart(&world);
    world_all_connect(&world);
    world_pass_time(&world, 2000);
    assert_int_equal(world.mails.n, 1);
    world_pass_time(&world, 500);
    assert_int_equal(world.mails.n, 2);
    assert_non_null(strstr(world.mails.items[1], "Reached 90% of time limit"));
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_on_an_idle_cluster_runs_at_once),
        cmocka_unit_test(the_exit_status_decides_the_state),
        cmocka_unit_test(a_job_stays_completing_until_its_node_is_clean),
        cmocka_unit_test(what_does_not_fit_waits_and_says_why),
        cmocka_unit_test(a_time_limit_ends_the_job),
        cmocka_unit_test(of_jobs_or_of_steps_nothing_may_be_kept),
        cmocka_unit_test(a_finished_job_moves_to_history_after_min_job_age),
        cmocka_unit_test(a_held_job_waits_until_it_is_released),
        cmocka_unit_test(begin_time_is_kept),
        cmocka_unit_test(a_waiting_request_counts_the_nodes_that_it_asks_for),
        cmocka_unit_test(requeue_keeps_the_id_and_counts),
        cmocka_unit_test(a_report_of_an_older_attempt_changes_nothing),
        cmocka_unit_test(a_report_from_a_node_that_does_not_hold_the_job_changes_nothing),
        cmocka_unit_test(suspend_gives_back_the_cpus_and_resume_extends_the_limit),
        cmocka_unit_test(a_failed_launch_is_tried_again),
        cmocka_unit_test(others_may_not_touch_a_job),
        cmocka_unit_test(bad_requests_are_refused_with_their_reason),
        cmocka_unit_test(dependencies_are_kept),
        cmocka_unit_test(an_array_is_one_record_until_its_tasks_start),
        cmocka_unit_test(tasks_of_an_array_can_be_cancelled_apart),
        cmocka_unit_test(a_node_that_falls_silent_goes_down_only_after_its_timeout),
        cmocka_unit_test(a_job_with_no_kill_goes_on_without_a_lost_node),
        cmocka_unit_test(a_drained_node_takes_nothing_new_and_resumes),
        cmocka_unit_test(a_partition_set_down_is_down_after_a_restart),
        cmocka_unit_test(a_restart_loses_nothing_and_runs_nothing_twice),
        cmocka_unit_test(no_node_goes_down_before_the_controller_is_up_for_a_timeout),
        cmocka_unit_test(mass_silence_evicts_nobody),
        cmocka_unit_test(an_update_changes_what_it_names_and_nothing_else),
        cmocka_unit_test(mail_is_sent_for_the_events_that_were_asked_for),
        cmocka_unit_test(an_array_is_told_of_once_and_its_tasks_when_asked_for),
        cmocka_unit_test(parts_of_the_time_limit_are_told_once_each),
        cmocka_unit_test(a_salloc_whose_command_vanishes_is_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
