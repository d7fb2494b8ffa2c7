/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preemption as users and administrators see it. Who is chosen is the planner's business
 * (sched/test_preempt.c); here is who may be, what happens to him, and what the records tell.
 *
 * Covers: pause.c, preempt.c, preempt_rules.c
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "model/qos.h"
#include "unit.h"
#include "world.h"

#define NODES                                                                                      \
    "SelectTypeParameters=CR_CPU_Memory\nDefMemPerCPU=100\nNodeName=n[1-2] CPUs=4 "                \
    "RealMemory=1000\n"
#define TIERS "PreemptType=preempt/partition_prio\n"

static const char partitions[] = "PartitionName=low Nodes=ALL Default=YES PriorityTier=1\n"
                                 "PartitionName=high Nodes=ALL PriorityTier=2\n";

static void begin(struct world *world, const char *settings, const char *more) {
    char conf[1024];
    (void) snprintf(conf, sizeof(conf), "%s%s%s", NODES, settings, more);
    world_start(world, conf);
    world_all_connect(world);
}

static uint32_t submit(struct world *world, const char *partition, uint32_t cpus, const char *qos) {
    struct job_request request;
    world_request(&request);
    request.partition = (char *) (uintptr_t) partition;
    request.qos = (char *) (uintptr_t) qos;
    request.cpus_per_task = cpus;
    request.requeue = TRI_YES;
    uint32_t id = world_submit(world, &request, NULL);
    assert_int_not_equal(id, 0);
    return id;
}

static uint32_t low(struct world *world) {
    return submit(world, "low", 4, NULL);
}
static uint32_t high(struct world *world) {
    return submit(world, "high", 4, NULL);
}

TEST(a_cancelled_victim_is_preempted_and_the_other_job_runs) {
    struct world world;
    struct job job;
    begin(&world, TIERS "PreemptMode=CANCEL\n", partitions);
    low(&world);
    world_pass_time(&world, 5);
    uint32_t young = low(&world);
    uint32_t id = high(&world);
    assert_true(world_look(&world, young, &job));
    assert_int_equal(job.state, JOB_PREEMPTED);
    assert_int_equal(job.exit_status, 0);
    assert_int_equal(job.preempt_time, world.now);
    assert_int_equal(job.preempted_by, id);
    assert_string_equal(job.provenance, "in order; preempted by job 3 under partition tiers");
    assert_string_equal(job.system_comment, "preempted by job 3 under partition tiers");
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_check(&world);
    world_stop(&world);
}

TEST(a_requeued_victim_waits_and_runs_again) {
    struct world world;
    struct job job;
    begin(&world, TIERS "PreemptMode=REQUEUE\n", partitions);
    uint32_t first = low(&world), second = low(&world);
    uint32_t a = high(&world), b = high(&world);
    assert_int_equal(world_state(&world, a), JOB_RUNNING);
    assert_int_equal(world_state(&world, b), JOB_RUNNING);
    assert_true(world_look(&world, first, &job));
    assert_int_equal(job.state, JOB_PENDING);
    assert_int_equal(job.restarts, 1);
    world_script_ends(&world, a, 0);
    world_script_ends(&world, b, 0);
    assert_int_equal(world_state(&world, first), JOB_RUNNING);
    assert_int_equal(world_state(&world, second), JOB_RUNNING);
    assert_true(world_look(&world, first, &job));
    assert_int_equal(job.preempted_by, 0); /* not this run */
    world_check(&world);
    world_stop(&world);
}

TEST(a_job_that_may_not_be_requeued_is_cancelled) {
    struct world world;
    struct job_request request;
    begin(&world, TIERS "PreemptMode=REQUEUE\n", partitions);
    world_request(&request);
    request.cpus_per_task = 4;
    request.requeue = TRI_NO;
    uint32_t first = world_submit(&world, &request, NULL);
    low(&world);
    world_pass_time(&world, 1);
    high(&world);
    high(&world);
    assert_int_equal(world_state(&world, first), JOB_PREEMPTED);
    world_stop(&world);
}

TEST(requeue_head_puts_a_victim_before_all_others_of_its_tier) {
    struct world world;
    struct job job;
    begin(&world,
          TIERS "PreemptMode=REQUEUE\nPreemptParameters=requeue_head\n"
                "SchedulerParameters=requeue_delay=60\n",
          partitions);
    low(&world);
    world_pass_time(&world, 1);
    uint32_t victim = low(&world);
    uint32_t others = low(&world);
    assert_int_equal(world_update(&world, "job", "3", "Priority", "5000000"), 0);
    uint32_t id = high(&world);
    assert_true(world_look(&world, victim, &job));
    assert_int_equal(job.state, JOB_PENDING);
    assert_true(job.queue_head);
    world_script_ends(&world, id, 0);
    assert_int_equal(world_state(&world, victim), JOB_RUNNING);
    assert_int_equal(world_state(&world, others), JOB_PENDING);
    assert_true(world_look(&world, victim, &job));
    assert_false(job.queue_head);
    assert_true(job.priority < 5000000);
    world_stop(&world);
}

TEST(without_requeue_head_the_delay_and_the_queue_hold) {
    struct world world;
    struct job job;
    begin(&world, TIERS "PreemptMode=REQUEUE\nSchedulerParameters=requeue_delay=60\n", partitions);
    low(&world);
    world_pass_time(&world, 1);
    uint32_t victim = low(&world);
    uint32_t id = high(&world);
    assert_true(world_look(&world, victim, &job));
    assert_int_equal(job.reason, REASON_BEGIN_TIME);
    assert_int_equal(job.begin_time, world.now + 60);
    assert_true(job.start_time >= job.begin_time);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_stop(&world);
}

TEST(a_partition_with_its_own_mode_is_taken_by_its_word) {
    struct world world;
    struct job job;
    begin(&world, TIERS "PreemptMode=REQUEUE\n",
          "PartitionName=safe Nodes=n1 PreemptMode=OFF\n"
          "PartitionName=low Nodes=n2 PreemptMode=CANCEL\n"
          "PartitionName=high Nodes=ALL PriorityTier=2\n");
    uint32_t safe = submit(&world, "safe", 4, NULL), other = low(&world);
    world_pass_time(&world, 5);
    uint32_t id = high(&world), waits = high(&world);
    assert_int_equal(world_state(&world, safe), JOB_RUNNING);
    assert_int_equal(world_state(&world, other), JOB_PREEMPTED);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    assert_true(world_look(&world, waits, &job));
    assert_int_equal(job.state, JOB_PENDING);
    assert_int_equal(world_update(&world, "partition", "safe", "PreemptMode", "cancel"), 0);
    world_turn(&world);
    assert_int_equal(world_state(&world, safe), JOB_PREEMPTED);
    assert_int_equal(world_state(&world, waits), JOB_RUNNING);
    assert_int_not_equal(world_update(&world, "partition", "safe", "PreemptMode", "maybe"), 0);
    world_stop(&world);
}

/* ---- grace ---- */

static const char graceful[] = "PartitionName=low Nodes=ALL Default=YES GraceTime=30\n"
                               "PartitionName=high Nodes=ALL PriorityTier=2\n";

TEST(a_victim_gets_its_grace_and_the_room_is_kept) {
    struct world world;
    struct job job;
    begin(&world, TIERS "PreemptMode=CANCEL\n", graceful);
    low(&world);
    world_pass_time(&world, 1);
    uint32_t victim = low(&world), id = high(&world);
    assert_true(world_look(&world, victim, &job));
    assert_int_equal(job.state, JOB_RUNNING);
    assert_int_equal(job.end_time, world.now + 30);
    assert_int_equal(job.preempt_time, world.now);
    assert_int_equal(world.n_signals[SIGTERM], 1);
    assert_int_equal(world.n_signals[SIGCONT], 1);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.reason, REASON_RESOURCES);
    world_pass_time(&world, 29);
    assert_int_equal(world_state(&world, victim), JOB_RUNNING);
    world_pass_time(&world, 1);
    assert_int_equal(world_state(&world, victim), JOB_PREEMPTED);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    assert_int_equal(world.n_signals[SIGTERM], 1);
    world_stop(&world);
}

TEST(a_victim_that_takes_the_hint_is_handled_by_the_mode) {
    struct world world;
    begin(&world, TIERS "PreemptMode=REQUEUE\n", graceful);
    low(&world);
    world_pass_time(&world, 1);
    uint32_t victim = low(&world), id = high(&world);
    world_pass_time(&world, 3);
    world_script_ends(&world, victim, 15);
    assert_int_equal(world_state(&world, victim), JOB_PENDING);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_stop(&world);
}

TEST(whoever_no_longer_has_to_go_is_let_off) {
    struct world world;
    struct job job;
    begin(&world, TIERS "PreemptMode=CANCEL\n", graceful);
    low(&world);
    world_pass_time(&world, 1);
    uint32_t victim = low(&world);
    assert_true(world_look(&world, victim, &job));
    int64_t end = job.end_time;
    high(&world);
    assert_int_equal(world_kill(&world, "3"), 0);
    assert_true(world_look(&world, victim, &job));
    assert_int_equal(job.end_time, end);
    world_pass_time(&world, 60);
    assert_int_equal(world_state(&world, victim), JOB_RUNNING);
    world_check(&world);
    world_stop(&world);
}

TEST(who_starts_elsewhere_lets_his_victims_off) {
    struct world world;
    begin(&world, TIERS "PreemptMode=CANCEL\n", graceful);
    uint32_t old = low(&world);
    world_pass_time(&world, 1);
    uint32_t victim = low(&world), id = high(&world);
    world_pass_time(&world, 5);
    world_script_ends(&world, old, 0);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_pass_time(&world, 60);
    assert_int_equal(world_state(&world, victim), JOB_RUNNING);
    world_stop(&world);
}

TEST(a_restart_in_the_grace_time_changes_nothing) {
    struct world world;
    struct job job;
    begin(&world, TIERS "PreemptMode=REQUEUE\n", graceful);
    low(&world);
    world_pass_time(&world, 1);
    uint32_t victim = low(&world), id = high(&world);
    world_pass_time(&world, 10);
    world_restart(&world);
    world_all_connect(&world);
    uint32_t rival = high(&world);
    assert_int_equal(world_update(&world, "job", "4", "Priority", "5000000"), 0);
    world_turn(&world);
    world_pass_time(&world, 20);
    assert_true(world_look(&world, victim, &job));
    assert_int_equal(job.state, JOB_PENDING);
    assert_int_equal(job.restarts, 1);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    /* The rival has its own victim, whose grace began when it came. */
    assert_int_equal(world_state(&world, rival), JOB_PENDING);
    world_pass_time(&world, 10);
    assert_int_equal(world_state(&world, rival), JOB_RUNNING);
    world_stop(&world);
}

TEST(the_users_own_signal_comes_in_place_of_SIGTERM_if_so_configured) {
    struct world world;
    struct job_request request;
    begin(&world, TIERS "PreemptMode=CANCEL\nPreemptParameters=send_user_signal\n", graceful);
    world_request(&request);
    request.cpus_per_task = 4;
    request.signal = SIGUSR1;
    request.signal_seconds = 5;
    request.time_limit = 10;
    assert_int_not_equal(world_submit(&world, &request, NULL), 0);
    assert_int_not_equal(world_submit(&world, &request, NULL), 0);
    high(&world);
    assert_int_equal(world.n_signals[SIGUSR1], 1);
    assert_int_equal(world.n_signals[SIGTERM], 0);
    world_pass_time(&world, 30);
    assert_int_equal(world.n_signals[SIGUSR1], 1);
    world_stop(&world);
}

TEST(a_victim_whose_node_does_not_answer_holds_nobody_up) {
    struct world world;
    struct job job;
    begin(&world, TIERS "PreemptMode=CANCEL\nKillWait=30\nSlurmdTimeout=60000\n", partitions);
    uint32_t first = low(&world);
    world_pass_time(&world, 1);
    uint32_t victim = low(&world);
    world.nodes_answer = false;
    uint32_t id = high(&world);
    assert_int_equal(world_state(&world, victim), JOB_PREEMPTED);
    assert_int_equal(world_state(&world, first), JOB_RUNNING);
    assert_int_equal(world_state(&world, id), JOB_PENDING);
    world_pass_time(&world, 60);
    assert_int_equal(world_state(&world, first), JOB_RUNNING); /* one is enough */
    world_pass_time(&world, 120);
    assert_int_equal(world_state(&world, first), JOB_PREEMPTED); /* that one is stuck */
    world.nodes_answer = true;
    world_node_connects(&world, 0);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    assert_true(world_look(&world, id, &job));
    assert_string_equal(job.nodes, "n1");
    world_stop(&world);
}

static uint32_t submit_for(struct world *world, const char *partition, uint32_t cpus,
                           uint32_t nodes, uint32_t minutes) {
    struct job_request request;
    world_request(&request);
    request.partition = (char *) (uintptr_t) partition;
    request.cpus_per_task = cpus;
    request.min_nodes = request.max_nodes = request.ntasks = nodes;
    request.time_limit = minutes;
    return world_submit(world, &request, NULL);
}

TEST(what_victims_left_is_kept_while_others_still_leave_the_node) {
    struct world world;
    begin(&world, TIERS "PreemptMode=CANCEL\nSlurmdTimeout=60000\n", partitions);
    uint32_t leaving = submit_for(&world, "low", 2, 1, 60);
    uint32_t victim = submit_for(&world, "low", 2, 1, 60);
    submit_for(&world, "high", 4, 1, 600);
    submit_for(&world, "high", 4, 2, 60); /* the one job for which resources are kept */
    uint32_t waiting = submit_for(&world, "low", 2, 1, 5);
    char id[16];
    (void) snprintf(id, sizeof(id), "%u", leaving);
    world.nodes_answer = false;
    assert_int_equal(world_kill(&world, id), 0);
    world.nodes_answer = true;
    uint32_t urgent = submit_for(&world, "high", 4, 1, 30);
    assert_int_equal(world_state(&world, victim), JOB_PREEMPTED);
    world_pass_time(&world, 5);
    assert_int_equal(world_state(&world, waiting), JOB_PENDING);
    assert_int_equal(world_state(&world, urgent), JOB_PENDING);
    world_node_connects(&world, 0);
    assert_int_equal(world_state(&world, urgent), JOB_RUNNING);
    world_stop(&world);
}

TEST(whoever_waits_for_others_to_leave_too_takes_his_victims_once) {
    struct world world;
    begin(&world, TIERS "PreemptMode=SUSPEND,GANG\nSlurmdTimeout=60000\n", partitions);
    uint32_t victim = submit_for(&world, "low", 4, 1, 60);
    uint32_t leaving = submit_for(&world, "low", 4, 1, 60);
    char id[16];
    (void) snprintf(id, sizeof(id), "%u", leaving);
    world.nodes_answer = false;
    assert_int_equal(world_kill(&world, id), 0);
    world.nodes_answer = true;
    uint32_t urgent = submit_for(&world, "high", 4, 2, 30);
    assert_int_equal(world_state(&world, victim), JOB_SUSPENDED);
    world_pass_time(&world, 60);
    assert_int_equal(world_state(&world, urgent), JOB_PENDING);
    assert_int_equal(world_state(&world, victim), JOB_SUSPENDED);
    assert_int_equal(world.n_signals[SIGCONT], 0);
    assert_int_equal(world.n_signals[SIGTSTP], 1);
    world_node_connects(&world, 1);
    assert_int_equal(world_state(&world, urgent), JOB_RUNNING);
    world_stop(&world);
}

TEST(a_young_job_is_exempt) {
    struct world world;
    struct job job;
    begin(&world, TIERS "PreemptMode=CANCEL\nPreemptExemptTime=1\n", partitions);
    uint32_t a = low(&world), b = low(&world), id = high(&world);
    assert_true(world_look(&world, a, &job));
    assert_int_equal(job.preempt_eligible, job.start_time + 60);
    world_pass_time(&world, 59);
    assert_int_equal(world_state(&world, a), JOB_RUNNING);
    assert_int_equal(world_state(&world, b), JOB_RUNNING);
    world_pass_time(&world, 1);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_stop(&world);
}

TEST(jobs_above_the_exempt_priority_stay) {
    struct world world;
    begin(&world, TIERS "PreemptMode=CANCEL\nPreemptParameters=min_exempt_priority=2000\n",
          partitions);
    uint32_t a = low(&world), b = low(&world), id = high(&world); /* priority 1000000 */
    assert_int_equal(world_state(&world, a), JOB_RUNNING);
    assert_int_equal(world_state(&world, b), JOB_RUNNING);
    assert_int_equal(world_state(&world, id), JOB_PENDING);
    world_stop(&world);
}

TEST(a_priority_rule_asks_for_a_higher_priority_too) {
    struct world world;
    begin(&world, TIERS "PreemptMode=CANCEL,PRIORITY\n", partitions);
    low(&world);
    low(&world);
    uint32_t id = high(&world);
    assert_int_equal(world_state(&world, id), JOB_PENDING);
    assert_int_equal(world_update(&world, "job", "3", "Priority", "2000000"), 0);
    world_turn(&world);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_stop(&world);
}

/* ---- suspension ---- */

#define SUSPENDS TIERS "PreemptMode=SUSPEND,GANG\n"

static const char one_node[] = "PartitionName=low Nodes=n1 Default=YES\n"
                               "PartitionName=high Nodes=n1 PriorityTier=2\n";

TEST(a_suspended_victim_goes_on_when_the_other_job_has_ended) {
    struct world world;
    struct job job;
    begin(&world, SUSPENDS, one_node);
    struct job_request request;
    world_request(&request);
    request.cpus_per_task = 4;
    request.time_limit = 10;
    uint32_t victim = world_submit(&world, &request, NULL);
    int64_t end = world.now + 600;
    world_pass_time(&world, 5);
    uint32_t id = high(&world);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    assert_true(world_look(&world, victim, &job));
    assert_int_equal(job.state, JOB_SUSPENDED);
    assert_int_equal(job.preempt_time, world.now);
    assert_int_equal(world.n_signals[SIGTSTP], 1);
    assert_int_equal(world.n_signals[SIGSTOP], 0);
    world_check(&world);
    world_pass_time(&world, 2);
    assert_int_equal(world.n_signals[SIGSTOP], 1);
    world_pass_time(&world, 5);
    uint32_t waits = low(&world); /* would fit into the gap */
    world_script_ends(&world, id, 0);
    assert_true(world_look(&world, victim, &job));
    assert_int_equal(job.state, JOB_RUNNING);
    assert_int_equal(job.end_time, end + 7); /* the pause does not count */
    assert_int_equal(world.n_signals[SIGCONT], 1);
    assert_int_equal(world_state(&world, waits), JOB_PENDING);
    world_check(&world);
    world_stop(&world);
}

TEST(a_victim_that_would_not_leave_memory_enough_is_not_suspended) {
    struct world world;
    struct job_request request;
    begin(&world, SUSPENDS, one_node);
    uint32_t victim = low(&world); /* 400 of 1000 MiB */
    world_request(&request);
    request.partition = (char *) (uintptr_t) "high";
    request.mem_per_node = 700;
    uint32_t id = world_submit(&world, &request, NULL);
    assert_int_equal(world_state(&world, victim), JOB_RUNNING);
    assert_int_equal(world_state(&world, id), JOB_PENDING);
    world_stop(&world);
}

TEST(the_cores_of_a_suspended_job_are_used_and_not_those_of_others) {
    struct world world;
    struct job job;
    begin(&world, SUSPENDS, one_node);
    uint32_t stays = submit(&world, "high", 2, NULL), victim = submit(&world, "low", 2, NULL);
    uint32_t id = submit(&world, "high", 2, NULL);
    assert_int_equal(world_state(&world, stays), JOB_RUNNING);
    assert_int_equal(world_state(&world, victim), JOB_SUSPENDED);
    assert_true(world_look(&world, id, &job));
    assert_string_equal(job.allocation.items[0].cores, "2-3");
    world_check(&world);
    assert_int_equal(world_kill(&world, "2"), 0); /* while it is suspended */
    world_check(&world);
    world_script_ends(&world, id, 0);
    world_script_ends(&world, stays, 0);
    assert_int_equal(core_node(world.core, 0)->alloc_cpus, 0);
    assert_true(world_look(&world, submit(&world, "low", 2, NULL), &job));
    assert_string_equal(job.allocation.items[0].cores, "0-1");
    world_stop(&world);
}

static const char *cores_of(struct world *world, uint32_t id) {
    struct job job;
    assert_true(world_look(world, id, &job));
    return job.allocation.items[0].cores;
}

TEST(a_suspended_job_goes_on_on_its_own_cores_only) {
    struct world world;
    begin(&world, SUSPENDS, one_node);
    uint32_t victim = submit(&world, "low", 3, NULL), other = submit(&world, "low", 1, NULL);
    assert_string_equal(cores_of(&world, victim), "0-2");
    world_pass_time(&world, 5);
    uint32_t id = submit(&world, "high", 3, NULL);
    assert_int_equal(world_state(&world, victim), JOB_SUSPENDED);
    assert_string_equal(cores_of(&world, id), "0-2");
    uint32_t small = submit(&world, "high", 1, NULL);
    assert_int_equal(world_state(&world, other), JOB_SUSPENDED);
    assert_string_equal(cores_of(&world, small), "3");
    world_script_ends(&world, id, 0);
    assert_int_equal(world_state(&world, victim), JOB_RUNNING);
    assert_int_equal(world_state(&world, other), JOB_SUSPENDED);
    world_check(&world);
    /* One CPU is free, but it is not its own. */
    assert_int_equal(world_kill(&world, "1"), 0);
    assert_int_equal(world_state(&world, other), JOB_SUSPENDED);
    world_script_ends(&world, small, 0);
    assert_int_equal(world_state(&world, other), JOB_RUNNING);
    world_check(&world);
    world_stop(&world);
}

TEST(new_jobs_leave_the_cores_of_suspended_ones_alone_where_there_are_others) {
    struct world world;
    begin(&world, SUSPENDS, one_node);
    uint32_t victim = submit(&world, "low", 3, NULL), stays = submit(&world, "high", 1, NULL);
    uint32_t id = submit(&world, "high", 1, NULL);
    assert_int_equal(world_state(&world, victim), JOB_SUSPENDED);
    assert_string_equal(cores_of(&world, id), "0");
    world_script_ends(&world, stays, 0);
    assert_int_equal(world_state(&world, victim), JOB_SUSPENDED);
    assert_string_equal(cores_of(&world, submit(&world, "low", 1, NULL)), "3");
    world_script_ends(&world, id, 0);
    assert_int_equal(world_state(&world, victim), JOB_RUNNING);
    world_check(&world);
    world_stop(&world);
}

TEST(a_restart_finds_the_suspended_job_and_lets_it_go_on_later) {
    struct world world;
    begin(&world, SUSPENDS, one_node);
    uint32_t victim = low(&world), id = high(&world);
    assert_int_equal(world_state(&world, victim), JOB_SUSPENDED);
    world_restart(&world);
    world_all_connect(&world);
    assert_int_equal(world_state(&world, victim), JOB_SUSPENDED);
    assert_true(world.n_signals[SIGSTOP] > 0); /* said again: it may have been lost */
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_check(&world);
    world_script_ends(&world, id, 0);
    assert_int_equal(world_state(&world, victim), JOB_RUNNING);
    world_check(&world);
    world_stop(&world);
}

TEST(nobody_resumes_a_paused_job_but_the_controller_unless_it_was_told_to_keep_it) {
    struct world world;
    begin(&world, SUSPENDS, one_node);
    uint32_t victim = low(&world), id = high(&world);
    assert_int_equal(world_verb(&world, VERB_RESUME, "1"), ERR_NODES_BUSY);
    assert_int_equal(world_verb(&world, VERB_SUSPEND, "1"), 0);
    world_script_ends(&world, id, 0);
    assert_int_equal(world_state(&world, victim), JOB_SUSPENDED);
    assert_int_equal(world_verb(&world, VERB_RESUME, "1"), 0);
    assert_int_equal(world_state(&world, victim), JOB_RUNNING);
    world_stop(&world);
}

TEST(test_only_knows_that_others_would_go) {
    struct world world;
    struct job_request request;
    struct arena arena;
    begin(&world, TIERS "PreemptMode=CANCEL\n", graceful);
    low(&world);
    low(&world);
    arena_init(&arena, 0);
    world_request(&request);
    request.partition = (char *) (uintptr_t) "high";
    request.cpus_per_task = 4;
    struct submit submit;
    record_init(&record_submit, &submit);
    submit.job = &request;
    submit.test_only = true;
    uint64_t client = world_send(&world, MSG_SUBMIT, &submit);
    const struct submit_reply *reply = world_answer(&world, client, MSG_SUBMIT_REPLY, &arena);
    assert_non_null(reply);
    assert_int_equal(reply->start_time, world.now + 30);
    assert_int_equal(world_state(&world, 1), JOB_RUNNING); /* it was only a question */
    arena_done(&arena);
    world_stop(&world);
}

/* ---- by QOS ---- */

static void begin_qos(struct world *world, const char *settings) {
    begin(world, settings, "PartitionName=main Nodes=ALL Default=YES\n");
    world_book(world, "add qos scavenger priority=1 preemptmode=cancel");
    world_book(world, "modify qos normal set priority=10 preempt=scavenger");
    world_book(world, "add qos urgent priority=100 preempt=normal,scavenger preemptmode=off");
}

TEST(a_qos_preempts_those_that_it_names_lowest_first) {
    struct world world;
    begin_qos(&world, "PreemptType=preempt/qos\nPreemptMode=REQUEUE\n");
    uint32_t scavenger = submit(&world, "main", 4, "scavenger");
    uint32_t normal = submit(&world, "main", 4, "normal");
    uint32_t urgent = submit(&world, "main", 4, "urgent");
    assert_int_equal(world_state(&world, scavenger), JOB_PREEMPTED); /* its QOS says CANCEL */
    assert_int_equal(world_state(&world, normal), JOB_RUNNING);
    assert_int_equal(world_state(&world, urgent), JOB_RUNNING);
    uint32_t second = submit(&world, "main", 4, "urgent");
    assert_int_equal(world_state(&world, normal), JOB_PENDING);
    assert_int_equal(world_state(&world, second), JOB_RUNNING);
    uint32_t third = submit(&world, "main", 4, "urgent");
    assert_int_equal(world_state(&world, third), JOB_PENDING); /* its own are OFF, not named */
    world_stop(&world);
}

TEST(qos_are_stored_and_have_their_own_times) {
    struct world world;
    struct job job;
    begin_qos(&world, "PreemptType=preempt/qos\nPreemptMode=REQUEUE\nPreemptExemptTime=1\n");
    world_book(&world, "modify qos scavenger set gracetime=20 preemptexempttime=0");
    world_restart(&world);
    world_all_connect(&world);
    uint32_t a = submit(&world, "main", 4, "scavenger"), b = submit(&world, "main", 4, "normal");
    uint32_t id = submit(&world, "main", 4, "normal");
    assert_true(world_look(&world, a, &job));
    assert_int_equal(job.end_time, world.now + 20);
    assert_true(world_look(&world, b, &job));
    assert_int_equal(job.preempt_eligible, job.start_time + 60);
    assert_int_equal(world_sacctmgr(&world, "delete qos scavenger"), ERR_BUSY);
    world_pass_time(&world, 20);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    world_book(&world, "delete qos scavenger");
    assert_int_equal(world_sacctmgr(&world, "delete qos scavenger"), -1);
    world_stop(&world);
}

TEST(within_a_qos_only_a_higher_priority_preempts) {
    struct world world;
    begin(&world, "PreemptType=preempt/qos\nPreemptMode=REQUEUE,WITHIN\n",
          "PartitionName=main Nodes=n1 Default=YES\n");
    uint32_t first = submit(&world, "main", 4, "normal");
    uint32_t second = submit(&world, "main", 4, "normal");
    assert_int_equal(world_state(&world, second), JOB_PENDING);
    assert_int_equal(world_update(&world, "job", "2", "Priority", "2000000"), 0);
    world_turn(&world);
    assert_int_equal(world_state(&world, second), JOB_RUNNING);
    assert_int_equal(world_state(&world, first), JOB_PENDING);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cancelled_victim_is_preempted_and_the_other_job_runs),
        cmocka_unit_test(a_requeued_victim_waits_and_runs_again),
        cmocka_unit_test(a_job_that_may_not_be_requeued_is_cancelled),
        cmocka_unit_test(requeue_head_puts_a_victim_before_all_others_of_its_tier),
        cmocka_unit_test(without_requeue_head_the_delay_and_the_queue_hold),
        cmocka_unit_test(a_partition_with_its_own_mode_is_taken_by_its_word),
        cmocka_unit_test(a_victim_gets_its_grace_and_the_room_is_kept),
        cmocka_unit_test(a_victim_that_takes_the_hint_is_handled_by_the_mode),
        cmocka_unit_test(whoever_no_longer_has_to_go_is_let_off),
        cmocka_unit_test(who_starts_elsewhere_lets_his_victims_off),
        cmocka_unit_test(a_restart_in_the_grace_time_changes_nothing),
        cmocka_unit_test(the_users_own_signal_comes_in_place_of_SIGTERM_if_so_configured),
        cmocka_unit_test(a_victim_whose_node_does_not_answer_holds_nobody_up),
        cmocka_unit_test(what_victims_left_is_kept_while_others_still_leave_the_node),
        cmocka_unit_test(whoever_waits_for_others_to_leave_too_takes_his_victims_once),
        cmocka_unit_test(a_young_job_is_exempt),
        cmocka_unit_test(jobs_above_the_exempt_priority_stay),
        cmocka_unit_test(a_priority_rule_asks_for_a_higher_priority_too),
        cmocka_unit_test(a_suspended_victim_goes_on_when_the_other_job_has_ended),
        cmocka_unit_test(a_victim_that_would_not_leave_memory_enough_is_not_suspended),
        cmocka_unit_test(the_cores_of_a_suspended_job_are_used_and_not_those_of_others),
        cmocka_unit_test(a_suspended_job_goes_on_on_its_own_cores_only),
        cmocka_unit_test(new_jobs_leave_the_cores_of_suspended_ones_alone_where_there_are_others),
        cmocka_unit_test(a_restart_finds_the_suspended_job_and_lets_it_go_on_later),
        cmocka_unit_test(
            nobody_resumes_a_paused_job_but_the_controller_unless_it_was_told_to_keep_it),
        cmocka_unit_test(test_only_knows_that_others_would_go),
        cmocka_unit_test(a_qos_preempts_those_that_it_names_lowest_first),
        cmocka_unit_test(qos_are_stored_and_have_their_own_times),
        cmocka_unit_test(within_a_qos_only_a_higher_priority_preempts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
