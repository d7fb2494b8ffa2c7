/* SPDX-License-Identifier: Apache-2.0 */
/* Plans that move later: never without a cause, and whose fault it is. */
#include "sched/internal.h"
#include "world.h"

static uint32_t add(struct world *w, uint32_t nodes, int64_t limit, uint32_t priority) {
    struct sched_job_spec spec = world_spec(w);

    spec.min_nodes = spec.max_nodes = spec.ntasks = nodes;
    spec.exclusive = true;
    spec.limit = limit;
    spec.priority = priority;
    return world_add(w, &spec);
}

static const struct plan *plan_of(struct world *w, uint32_t job_id) {
    const struct job *job = map_get(&w->sched->jobs, job_id);
    return job ? job->plan : NULL;
}

/* One pass; the breach of the job, cause UNKNOWN and job_id 0 without. */
static struct sched_breach pass_breach(struct world *w, uint32_t job_id) {
    struct sched_breach found = {0};
    struct sched_plan plan;

    sched_pass(w->sched, w->now, 0, &plan);
    for (size_t i = 0; i < plan.n_breaches; i++) {
        if (plan.breaches[i].job_id == job_id)
            found = plan.breaches[i];
    }
    world_commit(w, &plan);
    sched_plan_done(&plan);
    return found;
}

/* Two of three nodes are busy until 1100; the head wants all three. */
static uint32_t begin(struct world *w) {
    world_init(w, 3, 4, 1000);
    world_configure(w);
    add(w, 2, 100, 500);
    world_pass(w);
    uint32_t head = add(w, 3, 50, 100);
    world_pass(w);
    assert_int_equal(plan_of(w, head)->start, 1100);
    return head;
}

TEST(a_node_that_is_lost_is_the_cause) {
    struct world w;
    uint32_t head = begin(&w);

    world_usable(&w, 2, false);
    struct sched_breach breach = pass_breach(&w, head);
    assert_int_equal(breach.cause, SCHED_CAUSE_NODE);
    assert_int_equal(breach.subject, 2);
    assert_int_equal(breach.promised, 1100);
    assert_int_equal(breach.start, 0);
    world_done(&w);
}

TEST(a_longer_limit_of_a_job_that_runs_is_the_cause) {
    struct world w;
    uint32_t head = begin(&w);

    sched_run_end_time(w.sched, 1, 1300);
    struct sched_breach breach = pass_breach(&w, head);
    assert_int_equal(breach.cause, SCHED_CAUSE_EXTENDED);
    assert_int_equal(breach.subject, 1);
    assert_int_equal(breach.start, 1300);
    world_done(&w);
}

TEST(a_job_that_comes_in_first_is_the_cause_and_one_that_comes_in_last_none) {
    struct world w;
    uint32_t head = begin(&w);

    add(&w, 2, 1000, 50);
    assert_int_equal(pass_breach(&w, head).job_id, 0);
    uint32_t first = add(&w, 1, 1000, 200);
    struct sched_breach breach = pass_breach(&w, head);
    assert_int_equal(breach.cause, SCHED_CAUSE_ARRIVAL);
    assert_int_equal(breach.subject, first);
    assert_int_equal(breach.start, 2000);
    world_done(&w);
}

TEST(a_job_that_overtakes_is_the_cause) {
    struct world w;
    uint32_t head = begin(&w), next = add(&w, 2, 1000, 50);

    assert_int_equal(pass_breach(&w, head).job_id, 0);
    world_priority(&w, next, 300);
    struct sched_breach breach = pass_breach(&w, head);
    assert_int_equal(breach.cause, SCHED_CAUSE_PRIORITY);
    assert_int_equal(breach.subject, next);
    world_done(&w);
}

TEST(a_job_past_its_end_is_told_once_and_only_when_it_takes_long) {
    struct world w;
    uint32_t head = begin(&w);

    w.now = 1130;
    assert_int_equal(pass_breach(&w, head).job_id, 0);
    w.now = 1200;
    struct sched_breach breach = pass_breach(&w, head);
    assert_int_equal(breach.cause, SCHED_CAUSE_OVERRUN);
    assert_int_equal(breach.subject, 1);
    assert_int_equal(breach.promised, 1100);
    assert_false(breach.again);
    w.now = 1300;
    breach = pass_breach(&w, head);
    assert_int_equal(breach.job_id, head);
    assert_true(breach.again);
    world_done(&w);
}

TEST(a_change_of_the_job_itself_is_the_cause) {
    struct world w;
    uint32_t head = begin(&w);
    struct sched_job_spec spec = world_job(&w, head)->spec;

    add(&w, 1, 130, 90);
    world_pass(&w);
    spec.min_nodes = spec.max_nodes = spec.ntasks = 3;
    spec.limit = 60;
    spec.promised = 1100;
    spec.submit_time += 1;
    sched_job_add(w.sched, &spec);
    w.now = 1050;
    assert_int_equal(pass_breach(&w, head).job_id, 0);
    world_usable(&w, 0, false);
    world_usable(&w, 0, true);
    spec.promised = 1020;
    spec.limit = 70;
    sched_job_add(w.sched, &spec);
    struct sched_breach breach = pass_breach(&w, head);
    assert_int_equal(breach.cause, SCHED_CAUSE_UPDATE);
    world_done(&w);
}

/* In the order before the one that has waited longest, a job without a plan of its own: were it
 * allowed to take the other's place, a stream of such jobs would hold that one back for ever. */
TEST(the_plan_of_who_has_waited_longest_binds_jobs_before_it) {
    struct world w;

    world_init(&w, 4, 4, 1000);
    w.settings.guard = 1000;
    w.settings.guard_jobs = 10;
    world_configure(&w);
    add(&w, 1, 100000, 500);
    add(&w, 2, 3000, 500);
    add(&w, 1, 3000, 500);
    world_pass(&w);
    add(&w, 4, 500, 100);
    uint32_t old = add(&w, 3, 500, 50);
    w.now = 2000;
    world_pass(&w);
    assert_int_equal(plan_of(&w, old)->start, 4000);
    uint32_t between = add(&w, 1, 2500, 70);
    w.now = 2500;
    world_end(&w, 3);
    /* It came in later and has the higher priority: that is a cause. */
    assert_int_equal(pass_breach(&w, old).cause, SCHED_CAUSE_ARRIVAL);
    assert_non_null(world_running(&w, between));
    /* The same one was there when the plan was made. */
    world_end(&w, between);
    world_pass(&w);
    assert_int_equal(plan_of(&w, old)->start, 4000);
    world_done(&w);
}

TEST(the_planner_asks_to_be_called_when_a_plan_is_due) {
    struct world w;
    struct sched_plan plan;

    world_init(&w, 2, 4, 1000);
    world_configure(&w);
    add(&w, 1, 100, 10);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_int_equal(plan.n_starts, 1);
    world_commit(&w, &plan);
    sched_plan_done(&plan);
    add(&w, 2, 100, 10);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_int_equal(plan.next_time, 1100); /* looks again though nobody tells */
    sched_plan_done(&plan);
    world_done(&w);
}

TEST(a_job_that_shares_with_nobody_else_keeps_its_planned_node) {
    struct world w;

    world_init(&w, 1, 4, 1000);
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.cpus_per_task = 3;
    world_add(&w, &spec);
    world_pass(&w);
    spec.overlap_user = true;
    spec.uid = 2000;
    spec.cpus_per_task = 2;
    spec.priority = 2000;
    uint32_t alone = world_add(&w, &spec);
    world_pass(&w);
    assert_int_equal(plan_of(&w, alone)->start, 1100);
    struct sched_job_spec other = world_spec(&w);
    other.limit = 500;
    uint32_t small = world_add(&w, &other);
    world_pass(&w);
    assert_null(world_running(&w, small));
    world_done(&w);
}

TEST(a_plan_never_starts_a_job_too_late_for_its_deadline) {
    struct world w;

    world_init(&w, 1, 4, 1000);
    world_configure(&w);
    add(&w, 1, 100, 500);
    world_pass(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.deadline = 1150;
    uint32_t late = world_add(&w, &spec);
    spec.min_limit = 40;
    spec.cpus_per_task = 4;
    uint32_t shorter = world_add(&w, &spec);
    world_pass(&w);
    assert_null(plan_of(&w, late));
    assert_int_equal(plan_of(&w, shorter)->start, 1100);
    w.now = 1100;
    world_end_due(&w);
    world_pass(&w);
    assert_int_equal(world_running(&w, shorter)->limit, 50);
    world_done(&w);
}

/* Nodes 1 and 2 of partition 0 are busy until 1300, node 3 of partition 1 until 1200; partition 2
 * is node 3, too, of a higher tier. */
TEST(a_job_of_several_partitions_is_planned_where_it_starts_first_and_a_tie_goes_to_the_tier) {
    static const uint32_t in_order[] = {0, 1, 2};
    struct world w;

    world_init(&w, 3, 4, 1000);
    free((void *) w.partitions[0].nodes);
    w.n_partitions = 3;
    for (size_t p = 0; p < 3; p++) {
        uint32_t nodes[2] = {p ? 2 : 0, 1};
        w.partitions[p] = w.partitions[0];
        w.partitions[p].nodes = xmemdup(nodes, sizeof(nodes));
        w.partitions[p].n_nodes = p ? 1 : 2;
        w.partitions[p].tier = p == 2 ? 5 : 1;
    }
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.exclusive = true;
    spec.limit = 300;
    world_add(&w, &spec);
    world_add(&w, &spec);
    spec.partitions = in_order + 1;
    spec.limit = 200;
    world_add(&w, &spec);
    world_pass(&w);
    assert_int_equal(w.runs.n, 3);
    spec.partitions = in_order;
    spec.n_partitions = 3;
    uint32_t any = world_add(&w, &spec);
    world_pass(&w);
    assert_int_equal(plan_of(&w, any)->start, 1200);
    assert_int_equal(plan_of(&w, any)->alt->partition, 2);
    world_end(&w, 1);
    world_pass(&w);
    assert_non_null(world_running(&w, any));
    world_done(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_that_is_lost_is_the_cause),
        cmocka_unit_test(a_longer_limit_of_a_job_that_runs_is_the_cause),
        cmocka_unit_test(a_job_that_comes_in_first_is_the_cause_and_one_that_comes_in_last_none),
        cmocka_unit_test(a_job_that_overtakes_is_the_cause),
        cmocka_unit_test(a_job_past_its_end_is_told_once_and_only_when_it_takes_long),
        cmocka_unit_test(a_change_of_the_job_itself_is_the_cause),
        cmocka_unit_test(the_plan_of_who_has_waited_longest_binds_jobs_before_it),
        cmocka_unit_test(the_planner_asks_to_be_called_when_a_plan_is_due),
        cmocka_unit_test(a_job_that_shares_with_nobody_else_keeps_its_planned_node),
        cmocka_unit_test(
            a_job_of_several_partitions_is_planned_where_it_starts_first_and_a_tie_goes_to_the_tier),
        cmocka_unit_test(a_plan_never_starts_a_job_too_late_for_its_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
