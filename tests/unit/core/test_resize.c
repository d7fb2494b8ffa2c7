/* SPDX-License-Identifier: Apache-2.0 */
/* Running jobs that give nodes back: what they keep, what the nodes do, what is charged for it. */
#include <signal.h>
#include <string.h>

#include "core/state.h"
#include "steps.h"
#include "unit.h"

#define CLUSTER                                                                                    \
    "ClusterName=tux\nSlurmctldHost=localhost\nSelectTypeParameters=CR_CPU_Memory\n"               \
    "DefMemPerCPU=100\nGresTypes=gpu\nNodeName=n[1-4] CPUs=4 RealMemory=1000 Gres=gpu:2\n"         \
    "PartitionName=main Nodes=ALL Default=YES MaxTime=1-0\n"

static void begin(struct world *world) {
    world_start(world, CLUSTER);
    world_all_connect(world);
    world->uid = 1000;
}

/* A batch job of `nodes` nodes with two CPUs and a GPU on each. */
static uint32_t running_job(struct world *world, uint32_t nodes) {
    struct job_request request;
    world_request(&request);
    request.min_nodes = request.max_nodes = nodes;
    request.ntasks_per_node = 2;
    request.time_limit = 60;
    request.tres_per_node = text_of("gres/gpu:1");
    request.requeue = TRI_YES;
    uint32_t id = world_submit(world, &request, NULL);
    assert_int_equal(world_state(world, id), JOB_RUNNING);
    return id;
}

static int update(struct world *world, const char *key, const char *value) {
    return world_update(world, "job", "1", key, value);
}

static uint32_t free_cpus(struct world *world) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < world->n_nodes; i++)
        n += core_node(world->core, i)->cpus - core_node(world->core, i)->alloc_cpus;
    return n;
}

TEST(a_running_job_keeps_the_first_of_its_nodes) {
    struct world world;
    struct job job;
    begin(&world);
    uint32_t id = running_job(&world, 4);
    assert_int_equal(update(&world, "NumNodes", "2"), 0);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_RUNNING);
    assert_string_equal(job.nodes, "n[1-2]");
    assert_int_equal(job.num_nodes, 2);
    assert_int_equal(job.num_cpus, 4);
    assert_string_equal(job.tres_alloc, "cpu=4,mem=400M,node=2,billing=4,gres/gpu=2");
    assert_int_equal(job.leaving.n, 0); /* the nodes were clean at once */
    assert_int_equal(free_cpus(&world), 12);
    world_check(&world);
    world_stop(&world);
}

TEST(a_list_says_which_nodes_stay_and_the_scripts_is_one_of_them) {
    struct world world;
    struct job job;
    begin(&world);
    uint32_t id = running_job(&world, 4);
    assert_int_equal(update(&world, "NodeList", "n[2-3]"), ERR_INVALID_NODE);
    assert_int_equal(update(&world, "NodeList", "n9"), ERR_INVALID_NODE);
    assert_int_equal(update(&world, "NodeList", ""), ERR_INVALID_NODE);
    assert_int_equal(update(&world, "ReqNodeList", "n1,n3"), 0);
    assert_true(world_look(&world, id, &job));
    assert_string_equal(job.nodes, "n[1,3]");
    assert_int_equal(update(&world, "NodeList", "n[1-2]"), ERR_INVALID_NODE);
    world_stop(&world);
}

TEST(an_allocation_without_a_script_may_give_its_first_node_back) {
    struct world world;
    struct job job;
    begin(&world);
    uint32_t id = steps_salloc(&world, 3, 3, NULL);
    assert_int_equal(update(&world, "NodeList", "n[2-3]"), 0);
    assert_true(world_look(&world, id, &job));
    assert_string_equal(job.nodes, "n[2-3]");
    assert_string_equal(job.batch_host, "n2");
    world_stop(&world);
}

TEST(a_running_job_takes_in_no_nodes_and_keeps_at_least_one) {
    struct world world;
    begin(&world);
    (void) running_job(&world, 2);
    assert_int_equal(update(&world, "NumNodes", "3"), ERR_NOT_SUPPORTED);
    assert_int_equal(update(&world, "NumNodes", "0"), ERR_NODE_COUNT);
    assert_int_equal(update(&world, "NumNodes", "1-2"), ERR_JOB_NOT_PENDING);
    assert_int_equal(update(&world, "NumNodes", "2"), 0);
    world.uid = 2000;
    assert_int_equal(update(&world, "NumNodes", "1"), ERR_USER_ID);
    world_stop(&world);
}

TEST(no_job_gives_nodes_back_where_that_is_disabled) {
    struct world world;
    world_start(&world, CLUSTER "SchedulerParameters=disable_job_shrink\n");
    world_all_connect(&world);
    world.uid = 1000;
    (void) running_job(&world, 2);
    assert_int_equal(update(&world, "NumNodes", "1"), ERR_NOT_SUPPORTED);
    assert_int_equal(update(&world, "NodeList", "n1"), ERR_NOT_SUPPORTED);
    assert_int_equal(update(&world, "NumNodes", "2"), 0);
    world.uid = 0;
    assert_int_equal(update(&world, "NumNodes", "1"), ERR_NOT_SUPPORTED);
    world_stop(&world);
}

TEST(what_two_keys_leave_together_is_a_node_at_least) {
    struct world world;
    struct update request;
    struct job job;
    begin(&world);
    struct job_request allocation;
    world_request(&allocation);
    allocation.kind = JOB_KIND_SALLOC;
    allocation.min_nodes = allocation.max_nodes = 2;
    uint32_t id = world_submit(&world, &allocation, NULL);
    world_turn(&world);
    assert_int_equal(world_state(&world, id), JOB_RUNNING);
    assert_true(world_look(&world, id, &job));
    cleanup_free char *last = xstrdup(job.allocation.items[1].name);
    struct key_value changes[] = {{text_of("NumNodes"), text_of("1")}, {text_of("NodeList"), last}};
    record_init(&record_update, &request);
    request.entity = text_of("job");
    request.target = text_of("1");
    request.changes.items = changes;
    request.changes.n = 2;
    assert_int_equal(world_code(&world, world_send(&world, MSG_UPDATE, &request)), ERR_NODE_COUNT);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.allocation.n, 2);
    world_stop(&world);
}

TEST(a_suspended_job_gives_nodes_back_and_is_charged_nothing_for_it) {
    struct world world;
    struct job job;
    begin(&world);
    uint32_t id = running_job(&world, 2);
    world.uid = 0;
    assert_int_equal(world_verb(&world, VERB_SUSPEND, "1"), 0);
    assert_int_equal(update(&world, "NumNodes", "1"), 0);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.usage_since, 0);
    world_check(&world);
    assert_int_equal(world_verb(&world, VERB_RESUME, "1"), 0);
    assert_int_equal(free_cpus(&world), 14);
    world_check(&world);
    world_stop(&world);
}

/* What has been given back is others' only when the node has said that it is clean. */
static void gives_back_silently(struct world *world, uint32_t *ret_id) {
    begin(world);
    *ret_id = running_job(world, 4);
    world->nodes_answer = false; /* orders to nodes are lost */
    assert_int_equal(update(world, "NumNodes", "1"), 0);
}

TEST(others_get_the_nodes_when_they_are_clean_also_after_a_restart) {
    struct world world;
    struct job job;
    struct job_request request;
    uint32_t id;
    gives_back_silently(&world, &id);
    assert_true(world_look(&world, id, &job));
    assert_string_equal(job.nodes, "n1");
    assert_int_equal(job.leaving.n, 3);
    assert_int_equal(free_cpus(&world), 8);
    assert_true(core_node(world.core, 1)->flags & NODE_FLAG_COMPLETING);
    world_restart(&world);
    assert_int_equal(free_cpus(&world), 8);
    assert_true(core_node(world.core, 1)->flags & NODE_FLAG_COMPLETING);
    world_check(&world);
    world_request(&request);
    request.min_nodes = request.max_nodes = 3;
    request.ntasks_per_node = 4;
    uint32_t second = world_submit(&world, &request, NULL);
    world.nodes_answer = true;
    assert_int_equal(world_state(&world, second), JOB_PENDING);
    world_all_connect(&world); /* they are told once more when they register */
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_RUNNING);
    assert_int_equal(job.leaving.n, 0);
    assert_int_equal(world_state(&world, second), JOB_RUNNING);
    assert_false(core_node(world.core, 1)->flags & NODE_FLAG_COMPLETING);
    world_check(&world);
    world_stop(&world);
}

TEST(a_job_that_ends_waits_for_the_nodes_that_it_has_given_back) {
    struct world world;
    struct job job;
    uint32_t id;
    gives_back_silently(&world, &id);
    world.nodes_answer = true;
    world_script_ends(&world, id, 0);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_COMPLETED);
    assert_true(job.flags & JOB_FLAG_COMPLETING);
    for (uint32_t i = 1; i < 4; i++)
        world_node_connects(&world, i);
    assert_true(world_look(&world, id, &job));
    assert_false(job.flags & JOB_FLAG_COMPLETING);
    assert_int_equal(free_cpus(&world), 16);
    world_check(&world);
    world_stop(&world);
}

TEST(a_node_that_is_lost_while_it_cleans_up_does_the_job_no_harm) {
    struct world world;
    struct job job;
    uint32_t id;
    gives_back_silently(&world, &id);
    world.uid = 0;
    assert_int_equal(world_update(&world, "node", "n3", "State", "DOWN"), ERR_INVALID); /* Reason */
    world_node_lost(&world, 2);
    world_pass_time(&world, 400);
    world_turn(&world);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.state, JOB_RUNNING);
    assert_int_equal(job.leaving.n, 2);
    assert_int_equal(core_node(world.core, 2)->alloc_cpus, 0);
    world_check(&world);
    world_stop(&world);
}

TEST(a_suspended_job_lends_the_processors_of_nodes_that_still_clean_up_and_gets_them_back) {
    struct world world;
    uint32_t id;
    gives_back_silently(&world, &id);
    world.uid = 0;
    assert_int_equal(world_verb(&world, VERB_SUSPEND, "1"), 0);
    assert_int_equal(free_cpus(&world), 16);
    world_check(&world);
    world_restart(&world);
    world_check(&world);
    world.nodes_answer = true;
    world_all_connect(&world);
    assert_int_equal(free_cpus(&world), 16);
    assert_int_equal(world_verb(&world, VERB_RESUME, "1"), 0);
    assert_int_equal(free_cpus(&world), 14);
    world_check(&world);
    world_stop(&world);
}

/* ---- steps ---- */

TEST(a_step_loses_its_part_on_nodes_that_are_given_back_and_goes_on_elsewhere) {
    struct world world;
    struct step_request request;
    struct step step;
    begin(&world);
    uint32_t id = steps_salloc(&world, 3, 3, NULL);
    steps_request(&request, id, 3);
    request.min_nodes = 3;
    uint32_t step_id = steps_run(&world, &request);
    world.nodes_answer = false;
    assert_int_equal(update(&world, "NumNodes", "2"), 0);
    world.nodes_answer = true;
    steps_end_on(&world, 2, id, step_id, SIGTERM);
    assert_true(steps_look(&world, id, step_id, &step));
    assert_int_equal(step.state, JOB_RUNNING);
    steps_end_on(&world, 0, id, step_id, 0);
    steps_end_on(&world, 1, id, step_id, 0);
    assert_true(steps_look(&world, id, step_id, &step));
    assert_int_equal(step.state, JOB_CANCELLED);
    assert_int_equal(step.exit_status, SIGTERM);
    world_stop(&world);
}

TEST(a_step_that_runs_is_known_by_its_nodes_after_the_size_has_changed) {
    struct world world;
    struct step_request request;
    struct step step;
    begin(&world);
    uint32_t id = steps_salloc(&world, 3, 3, NULL);
    steps_request(&request, id, 1);
    request.nodelist = text_of("n2");
    uint32_t other_id = steps_run(&world, &request);
    request.nodelist = text_of("n3");
    uint32_t step_id = steps_run(&world, &request);
    assert_int_equal(update(&world, "NodeList", "n[2-3]"), 0);
    steps_end_on(&world, 1, id, other_id, 0);
    assert_true(steps_look(&world, id, other_id, &step));
    assert_int_equal(step.state, JOB_COMPLETED);
    world_restart(&world);
    world_all_connect(&world);
    steps_end_on(&world, 1, id, step_id, 0); /* it never ran there */
    assert_true(steps_look(&world, id, step_id, &step));
    assert_int_equal(step.state, JOB_RUNNING);
    steps_end_on(&world, 2, id, step_id, 0);
    assert_true(steps_look(&world, id, step_id, &step));
    assert_int_equal(step.state, JOB_COMPLETED);
    world_stop(&world);
}

TEST(later_steps_use_the_new_size_and_a_request_for_the_old_one_is_told_so) {
    struct world world;
    struct step_request request;
    struct step_answer answer;
    begin(&world);
    uint32_t id = steps_salloc(&world, 3, 3, NULL);
    assert_int_equal(update(&world, "NumNodes", "2"), 0);
    steps_request(&request, id, 3);
    request.min_nodes = 3;
    steps_create(&world, &request, &answer);
    assert_int_equal(answer.code, ERR_NODE_CONFIG);
    assert_non_null(strstr(answer.detail, "slurm_job_1_resize.sh"));
    steps_done(&answer);
    steps_request(&request, id, 0);
    steps_create(&world, &request, &answer);
    assert_int_equal(answer.code, 0);
    assert_int_equal(answer.layout->job_num_nodes, 2);
    assert_string_equal(answer.layout->job_nodelist, "n[1-2]");
    assert_string_equal(answer.layout->nodelist, "n[1-2]");
    steps_done(&answer);
    world_stop(&world);
}

/* ---- accounting ---- */

struct seen {
    struct arena arena;
    size_t n;
    int64_t start, seconds;
    uint32_t cpus, n_steps;
};

static void see(void *context, uint32_t job_id, struct bytes body) {
    struct seen *seen = context;
    struct acct_job record;
    assert_int_equal(wire_decode(&record_acct_job, body, &seen->arena, &record, NULL), 0);
    seen->n++;
    seen->start = record.job->start_time;
    seen->cpus = record.job->num_cpus;
    seen->n_steps = record.steps.n;
}

/* The run of the present size, as sacct is told of it. */
static void look_live(struct world *world, struct seen *seen) {
    struct acct_query query;
    struct core_user root = {.name = "root", .group = "root"};
    record_init(&record_acct_query, &query);
    *seen = (struct seen) {.n = 0};
    arena_init(&seen->arena, 0);
    core_acct_live(world->core, world->now, &root, &query, see, seen);
    arena_done(&seen->arena);
}

TEST(the_accounting_has_a_record_of_each_size) {
    struct world world;
    struct seen seen;
    struct step_request request;
    begin(&world);
    uint32_t id = steps_salloc(&world, 4, 4, NULL);
    steps_request(&request, id, 1);
    uint32_t step_id = steps_run(&world, &request);
    steps_end(&world, id, step_id, 0);
    int64_t start = world.now;
    world_pass_time(&world, 100);
    assert_int_equal(world.n_history, 0);
    assert_int_equal(update(&world, "NumNodes", "2"), 0);
    assert_int_equal(world.n_history, 1);
    look_live(&world, &seen);
    assert_int_equal(seen.start, start + 100);
    assert_int_equal(seen.cpus, 2);
    assert_int_equal(seen.n_steps, 0); /* it ended before, and is in the former record */
    world_pass_time(&world, 10);
    assert_int_equal(update(&world, "NumNodes", "1"), 0);
    assert_int_equal(world.n_history, 2);
    look_live(&world, &seen);
    assert_int_equal(seen.start, start + 110);
    world_stop(&world);
}

TEST(usage_is_charged_by_the_size_of_each_stretch) {
    struct world world;
    world_start(&world, CLUSTER "PriorityType=priority/multifactor\nPriorityDecayHalfLife=0\n");
    world_book(&world, "add account physics");
    world_book(&world, "add user user7 account=physics");
    world_all_connect(&world);
    world.uid = 7;
    uint32_t id = running_job(&world, 4); /* 8 CPUs */
    world_pass_time(&world, 100);
    assert_int_equal(update(&world, "NumNodes", "2"), 0); /* 4 */
    world_pass_time(&world, 50);
    world.uid = 0;
    assert_int_equal(world_verb(&world, VERB_SUSPEND, "1"), 0);
    world_pass_time(&world, 1000);
    assert_int_equal(world_verb(&world, VERB_RESUME, "1"), 0);
    world_restart(&world);
    world_all_connect(&world);
    world.uid = 7;
    assert_int_equal(update(&world, "NumNodes", "1"), 0); /* 2 */
    world_pass_time(&world, 10);
    world_script_ends(&world, id, 0);
    double used = 0;
    for (uint32_t assoc = 1; assoc < 10; assoc++)
        used += usage_settled(world.core, ASSOC_ASSOC, assoc);
    assert_true(used == 800 + 200 + 20);
    world_stop(&world);
}

TEST(times_of_a_size_leave_out_what_was_before_it) {
    struct job job, run;
    record_init(&record_job, &job);
    job.state = JOB_RUNNING;
    job.start_time = 1000;
    job.suspend_time = 1300; /* resumed then, after 100 s that it ran */
    job.pre_suspend_seconds = 100;
    job_run_of_size(&job, &run);
    assert_int_equal(run.start_time, 1000);
    job.resize_time = 1400;
    job.run_before_resize = job_run_seconds(&job, 1400);
    assert_int_equal(job.run_before_resize, 200);
    job_run_of_size(&job, &run);
    assert_int_equal(job_run_seconds(&run, 1450), 50);
    job.pre_suspend_seconds = 260; /* suspended at 1460, resumed at 1500 */
    job.suspend_time = 1500;
    job_run_of_size(&job, &run);
    assert_int_equal(job_run_seconds(&run, 1510), 70);
}

TEST(a_requeued_job_asks_for_the_nodes_that_it_kept) {
    struct world world;
    struct job job;
    begin(&world);
    uint32_t id = running_job(&world, 4);
    assert_int_equal(update(&world, "NumNodes", "2"), 0);
    assert_int_equal(world_verb(&world, VERB_REQUEUE, "1"), 0);
    world_turn(&world);
    assert_true(world_look(&world, id, &job));
    assert_int_equal(job.restarts, 1);
    assert_int_equal(job.num_nodes, 2);
    assert_int_equal(job.leaving.n, 0);
    world_check(&world);
    world_stop(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_running_job_keeps_the_first_of_its_nodes),
        cmocka_unit_test(a_list_says_which_nodes_stay_and_the_scripts_is_one_of_them),
        cmocka_unit_test(an_allocation_without_a_script_may_give_its_first_node_back),
        cmocka_unit_test(a_running_job_takes_in_no_nodes_and_keeps_at_least_one),
        cmocka_unit_test(no_job_gives_nodes_back_where_that_is_disabled),
        cmocka_unit_test(what_two_keys_leave_together_is_a_node_at_least),
        cmocka_unit_test(a_suspended_job_gives_nodes_back_and_is_charged_nothing_for_it),
        cmocka_unit_test(others_get_the_nodes_when_they_are_clean_also_after_a_restart),
        cmocka_unit_test(a_job_that_ends_waits_for_the_nodes_that_it_has_given_back),
        cmocka_unit_test(a_node_that_is_lost_while_it_cleans_up_does_the_job_no_harm),
        cmocka_unit_test(
            a_suspended_job_lends_the_processors_of_nodes_that_still_clean_up_and_gets_them_back),
        cmocka_unit_test(a_step_loses_its_part_on_nodes_that_are_given_back_and_goes_on_elsewhere),
        cmocka_unit_test(a_step_that_runs_is_known_by_its_nodes_after_the_size_has_changed),
        cmocka_unit_test(later_steps_use_the_new_size_and_a_request_for_the_old_one_is_told_so),
        cmocka_unit_test(the_accounting_has_a_record_of_each_size),
        cmocka_unit_test(usage_is_charged_by_the_size_of_each_stretch),
        cmocka_unit_test(times_of_a_size_leave_out_what_was_before_it),
        cmocka_unit_test(a_requeued_job_asks_for_the_nodes_that_it_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
