/* SPDX-License-Identifier: Apache-2.0 */
/* Why jobs wait. */
#include "sched/internal.h"
#include "world.h"

static struct sched_plan pass(struct world *w) {
    struct sched_plan plan;

    sched_pass(w->sched, w->now, 0, &plan);
    return plan;
}

static void expect(struct world *w, uint32_t job_id, uint32_t reason, const char *detail) {
    struct sched_plan plan = pass(w);
    const struct sched_wait *wait = plan_wait(&plan, job_id);

    assert_non_null(wait);
    assert_int_equal(wait->reason, reason);
    if (detail)
        assert_string_equal(wait->detail, detail);
    else
        assert_null(wait->detail);
    sched_plan_done(&plan);
}

TEST(a_job_in_a_partition_that_is_down_waits_for_it) {
    struct world w;

    world_init(&w, 2, 4, 1000);
    w.partitions[0].schedulable = false;
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    uint32_t id = world_add(&w, &spec);
    expect(&w, id, REASON_PARTITION_DOWN, NULL);
    sched_partition_schedulable(w.sched, 0, true);
    assert_int_equal(world_pass(&w), 1);
    world_done(&w);
}

TEST(limits_of_the_partition_have_their_own_reasons) {
    struct world w;

    world_init(&w, 4, 4, 1000);
    w.partitions[0].max_time = 10;
    w.partitions[0].max_nodes = 2;
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.limit = 601;
    uint32_t too_long = world_add(&w, &spec);
    spec.limit = 600;
    spec.min_nodes = spec.ntasks = 3;
    uint32_t too_wide = world_add(&w, &spec);
    struct sched_plan plan = pass(&w);
    assert_int_equal(plan_wait(&plan, too_long)->reason, REASON_PARTITION_TIME_LIMIT);
    assert_int_equal(plan_wait(&plan, too_wide)->reason, REASON_PARTITION_NODE_LIMIT);
    sched_plan_done(&plan);
    world_done(&w);
}

TEST(what_the_partition_can_never_hold_is_its_configuration) {
    struct world w;

    world_init(&w, 2, 4, 1000);
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.cpus_per_task = 99;
    expect(&w, world_add(&w, &spec), REASON_PARTITION_CONFIG, NULL);
    world_done(&w);
}

TEST(required_nodes_that_are_down_are_listed) {
    struct world w;
    const uint32_t required[] = {2, 0, 1};

    world_init(&w, 4, 4, 1000);
    world_configure(&w);
    world_usable(&w, 0, false);
    world_usable(&w, 1, false);
    struct sched_job_spec spec = world_spec(&w);
    spec.req_nodes = required;
    spec.n_req_nodes = 3;
    spec.min_nodes = spec.ntasks = 3;
    uint32_t id = world_add(&w, &spec);
    expect(&w, id, REASON_REQ_NODE_NOT_AVAIL, "ReqNodeNotAvail, UnavailableNodes:n[1-2]");
    world_usable(&w, 1, true);
    expect(&w, id, REASON_REQ_NODE_NOT_AVAIL, "ReqNodeNotAvail, UnavailableNodes:n1");
    world_usable(&w, 0, true);
    assert_int_equal(world_pass(&w), 1);
    world_done(&w);
}

TEST(enough_nodes_only_with_those_that_are_down_is_told) {
    struct world w;

    world_init(&w, 3, 4, 1000);
    world_configure(&w);
    world_usable(&w, 2, false);
    struct sched_job_spec spec = world_spec(&w);
    spec.min_nodes = spec.ntasks = 3;
    uint32_t wide = world_add(&w, &spec);
    expect(&w, wide, REASON_NODES_UNAVAILABLE, NULL);
    world_done(&w);
}

TEST(a_job_that_cannot_run_now_does_not_hold_up_others) {
    struct world w;

    world_init(&w, 3, 4, 1000);
    world_configure(&w);
    world_usable(&w, 2, false);
    struct sched_job_spec spec = world_spec(&w);
    spec.min_nodes = spec.ntasks = 3;
    world_add(&w, &spec);
    spec = world_spec(&w);
    spec.limit = 100000;
    world_add(&w, &spec);
    assert_int_equal(world_pass(&w), 1);
    world_done(&w);
}

TEST(licences_that_are_taken_are_the_reason_and_their_return_the_start) {
    struct world w;
    const uint32_t ids[] = {0}, counts[] = {2};

    world_init(&w, 4, 4, 1000);
    w.licenses[0] = 3;
    w.n_licenses = 1;
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.license_ids = ids;
    spec.license_counts = counts;
    spec.n_licenses = 1;
    uint32_t first = world_add(&w, &spec), second = world_add(&w, &spec);
    struct sched_plan plan = pass(&w);
    assert_non_null(plan_start(&plan, first));
    assert_null(plan_start(&plan, second));
    assert_int_equal(plan_wait(&plan, second)->reason, REASON_LICENSES);
    assert_int_equal(plan_wait(&plan, second)->start, w.now + 100);
    world_commit(&w, &plan);
    sched_plan_done(&plan);
    world_end(&w, first);
    assert_int_equal(world_pass(&w), 1);
    world_done(&w);
}

TEST(a_begin_time_is_waited_for_and_reported_as_next_time) {
    struct world w;

    world_init(&w, 1, 4, 1000);
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.begin_time = w.now + 50;
    uint32_t id = world_add(&w, &spec);
    struct sched_plan plan = pass(&w);
    assert_int_equal(plan_wait(&plan, id)->reason, REASON_BEGIN_TIME);
    assert_int_equal(plan_wait(&plan, id)->start, w.now + 50);
    assert_int_equal(plan.next_time, w.now + 50);
    sched_plan_done(&plan);
    w.now += 50;
    assert_int_equal(world_pass(&w), 1);
    world_done(&w);
}

TEST(a_deadline_that_cannot_be_met_any_more_is_the_reason) {
    struct world w;

    world_init(&w, 1, 4, 1000);
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.exclusive = true;
    spec.limit = 1000;
    world_add(&w, &spec);
    world_pass(&w);
    spec.limit = 100;
    spec.deadline = w.now + 150;
    uint32_t id = world_add(&w, &spec);
    struct sched_plan plan = pass(&w);
    assert_int_equal(plan_wait(&plan, id)->reason, REASON_RESOURCES);
    assert_int_equal(plan.next_time, w.now + 51);
    sched_plan_done(&plan);
    w.now += 51;
    expect(&w, id, REASON_DEADLINE, NULL);
    world_done(&w);
}

TEST(an_array_at_its_limit_says_so) {
    struct world w;

    world_init(&w, 2, 4, 1000);
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.n_tasks_of_array = 5;
    spec.max_starts = 2;
    uint32_t id = world_add(&w, &spec);
    assert_int_equal(world_pass(&w), 2);
    expect(&w, id, REASON_ARRAY_TASK_LIMIT, NULL);
    world_job(&w, id)->spec.max_starts = 1;
    sched_job_add(w.sched, &world_job(&w, id)->spec);
    assert_int_equal(world_pass(&w), 1);
    world_done(&w);
}

TEST(each_partition_has_its_own_head) {
    struct world w;
    static const uint32_t second[] = {1};

    world_init(&w, 4, 4, 1000);
    uint32_t *nodes = xcalloc(2, sizeof(*nodes));
    nodes[0] = 2;
    nodes[1] = 3;
    w.partitions[1] = w.partitions[0];
    w.partitions[1].name = "other";
    w.partitions[1].nodes = nodes;
    w.partitions[1].n_nodes = 2;
    w.partitions[0].n_nodes = 2; /* n1, n2 */
    w.n_partitions = 2;
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.exclusive = true;
    spec.min_nodes = spec.max_nodes = spec.ntasks = 2;
    world_add(&w, &spec);
    spec.partitions = second;
    world_add(&w, &spec);
    assert_int_equal(world_pass(&w), 2);
    uint32_t there = world_add(&w, &spec), behind = world_add(&w, &spec);
    spec.partitions = world_spec(&w).partitions;
    uint32_t here = world_add(&w, &spec);
    struct sched_plan plan = pass(&w);
    assert_int_equal(plan_wait(&plan, there)->reason, REASON_RESOURCES);
    assert_int_equal(plan_wait(&plan, here)->reason, REASON_RESOURCES);
    assert_int_equal(plan_wait(&plan, behind)->reason, REASON_PRIORITY);
    assert_int_equal(plan_wait(&plan, there)->start, w.now + 100);
    assert_int_equal(plan_wait(&plan, here)->start, w.now + 100);
    sched_plan_done(&plan);
    /* The head goes: the next one moves up. */
    world_cancel(&w, there);
    plan = pass(&w);
    assert_int_equal(plan.n_waits, 1);
    assert_int_equal(plan_wait(&plan, behind)->reason, REASON_RESOURCES);
    sched_plan_done(&plan);
    world_done(&w);
}

TEST(a_bounded_pass_leaves_reasons_for_the_next_which_is_due_at_once) {
    struct world w;
    unsigned told = 0;

    world_init(&w, 1, 4, 1000);
    world_configure(&w);
    for (unsigned i = 0; i < 30; i++) {
        struct sched_job_spec spec = world_spec(&w);
        spec.cpus_per_task = 4;
        world_add(&w, &spec);
    }
    for (unsigned pass = 0; pass < 40 && told < 29; pass++) {
        struct sched_plan plan;
        sched_pass(w.sched, w.now, 1, &plan);
        world_commit(&w, &plan);
        told += plan.n_waits;
        assert_true(plan.n_waits <= 3); /* one, and heads: the old and the new */
        assert_true(told >= 29 || plan.next_time == w.now);
        sched_plan_done(&plan);
    }
    assert_true(told >= 29);
    world_done(&w);
}

static void add_jobs(struct world *w, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        struct sched_job_spec spec = world_spec(w);
        spec.cpus_per_task = 4;
        world_add(w, &spec);
    }
}

/* Passes that tell two reasons each until nothing is left; what was told last of each job. */
static unsigned tell_all(struct world *w, uint32_t *reasons, unsigned most) {
    unsigned passes = 0;
    struct sched_plan plan;

    do {
        sched_pass(w->sched, w->now, 2, &plan);
        world_commit(w, &plan);
        for (size_t i = 0; i < plan.n_waits; i++)
            reasons[plan.waits[i].job_id] = plan.waits[i].reason;
        passes++;
        bool more = plan.next_time == w->now;
        sched_plan_done(&plan);
        if (!more)
            break;
    } while (passes < most);
    return passes;
}

TEST(while_nothing_changes_reasons_are_told_without_planning_anew) {
    struct world w;
    uint32_t reasons[64] = {0};

    world_init(&w, 1, 4, 1000);
    world_configure(&w);
    add_jobs(&w, 40);
    tell_all(&w, reasons, 2); /* the start is committed, and what follows from it planned */
    uint32_t planned = w.sched->pass;
    assert_in_range(tell_all(&w, reasons, 100), 10, 30);
    assert_int_equal(w.sched->pass, planned);
    for (uint32_t id = 2; id <= 40; id++)
        assert_int_equal(reasons[id], id == 2 ? REASON_RESOURCES : REASON_PRIORITY);
    world_done(&w);
}

TEST(a_reason_that_comes_back_before_all_have_been_told_the_other_is_told_again) {
    struct world w;
    uint32_t reasons[64] = {0};

    world_init(&w, 1, 4, 1000);
    world_configure(&w);
    add_jobs(&w, 40);
    tell_all(&w, reasons, 100);
    sched_partition_schedulable(w.sched, 0, false);
    tell_all(&w, reasons, 5);
    assert_int_equal(reasons[4], REASON_PARTITION_DOWN);
    assert_int_equal(reasons[40], REASON_PRIORITY);
    sched_partition_schedulable(w.sched, 0, true);
    tell_all(&w, reasons, 100);
    for (uint32_t id = 2; id <= 40; id++)
        assert_int_equal(reasons[id], id == 2 ? REASON_RESOURCES : REASON_PRIORITY);
    world_done(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_in_a_partition_that_is_down_waits_for_it),
        cmocka_unit_test(limits_of_the_partition_have_their_own_reasons),
        cmocka_unit_test(what_the_partition_can_never_hold_is_its_configuration),
        cmocka_unit_test(required_nodes_that_are_down_are_listed),
        cmocka_unit_test(enough_nodes_only_with_those_that_are_down_is_told),
        cmocka_unit_test(a_job_that_cannot_run_now_does_not_hold_up_others),
        cmocka_unit_test(licences_that_are_taken_are_the_reason_and_their_return_the_start),
        cmocka_unit_test(a_begin_time_is_waited_for_and_reported_as_next_time),
        cmocka_unit_test(a_deadline_that_cannot_be_met_any_more_is_the_reason),
        cmocka_unit_test(an_array_at_its_limit_says_so),
        cmocka_unit_test(each_partition_has_its_own_head),
        cmocka_unit_test(a_bounded_pass_leaves_reasons_for_the_next_which_is_due_at_once),
        cmocka_unit_test(while_nothing_changes_reasons_are_told_without_planning_anew),
        cmocka_unit_test(
            a_reason_that_comes_back_before_all_have_been_told_the_other_is_told_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
