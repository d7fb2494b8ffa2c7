/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Budgets: who waits for one, since when it is known until when, and that plans count with it.
 * Covers: budget_time.c
 */
#include "sched/internal.h"
#include "world.h"

#define WHY REASON_ASSOC_GRP_JOBS

static void begin(struct world *w, size_t n_nodes, enum sched_budget_of of, uint64_t total) {
    world_init(w, n_nodes, 4, 1000);
    w->budgets[0] = (struct sched_budget) {.of = of, .reason = WHY, .total = total};
    w->n_budgets = 1;
    world_configure(w);
}

static struct sched_job_spec budgeted(struct world *w, struct sched_terms *terms,
                                      struct sched_budget_use *use, uint64_t least) {
    struct sched_job_spec spec = world_spec(w);

    *use = (struct sched_budget_use) {.id = 0, .binds = true, .least = least};
    *terms = (struct sched_terms) {.uses = use, .n_uses = 1};
    spec.terms = terms;
    return spec;
}

TEST(who_is_above_a_budget_waits_with_its_reason_until_one_ends) {
    struct world w;
    struct sched_terms terms;
    struct sched_budget_use use;
    struct sched_plan plan;

    begin(&w, 2, SCHED_BUDGET_JOBS, 1);
    struct sched_job_spec spec = budgeted(&w, &terms, &use, 1);
    uint32_t first = world_add(&w, &spec), second = world_add(&w, &spec);
    spec.terms = NULL;
    uint32_t other = world_add(&w, &spec);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_non_null(plan_start(&plan, first));
    assert_null(plan_start(&plan, second));
    assert_int_equal(plan_wait(&plan, second)->reason, WHY);
    assert_non_null(plan_start(&plan, other));
    world_commit(&w, &plan);
    sched_plan_done(&plan);
    assert_int_equal(sched_budget_used(w.sched, w.now, 0), 1);
    assert_int_equal(world_pass(&w), 0);
    world_end(&w, first);
    assert_int_equal(world_pass(&w), 1);
    assert_non_null(world_running(&w, second));
    world_done(&w);
}

/* Nodes are free; the start that is expected is the end of whoever has the budget. */
TEST(the_expected_start_is_when_the_budget_comes_free) {
    struct world w;
    struct sched_terms terms;
    struct sched_budget_use use;

    begin(&w, 4, SCHED_BUDGET_CPUS, 4);
    struct sched_job_spec spec = budgeted(&w, &terms, &use, 3);
    spec.cpus_per_task = 3;
    spec.limit = 500;
    world_add(&w, &spec);
    spec.limit = 100;
    uint32_t second = world_add(&w, &spec), third = world_add(&w, &spec);
    assert_int_equal(world_pass(&w), 1);
    assert_int_equal(sched_estimate(w.sched, w.now, second), w.now + 500);
    assert_int_equal(sched_estimate(w.sched, w.now, third), w.now + 600);
    assert_int_equal(sched_budget_free_at(w.sched, w.now, 0, 1), w.now);
    assert_int_equal(sched_budget_free_at(w.sched, w.now, 0, 3), w.now + 500);
    assert_int_equal(sched_budget_free_at(w.sched, w.now, 0, 5), SCHED_FOREVER);
    world_done(&w);
}

/* Two jobs wait for nodes, with a plan each; together they are above their budget. */
TEST(plans_of_one_budget_follow_each_other) {
    struct world w;
    struct sched_terms terms;
    struct sched_budget_use use;

    begin(&w, 2, SCHED_BUDGET_JOBS, 1);
    w.settings.reservations = 2;
    world_configure(&w);
    struct sched_job_spec spec = world_spec(&w);
    spec.cpus_per_task = 4;
    world_add(&w, &spec);
    world_add(&w, &spec);
    assert_int_equal(world_pass(&w), 2);
    spec = budgeted(&w, &terms, &use, 1);
    spec.cpus_per_task = 4;
    uint32_t first = world_add(&w, &spec), second = world_add(&w, &spec);
    assert_int_equal(world_pass(&w), 0);
    const struct job *a = map_get(&w.sched->jobs, first), *b = map_get(&w.sched->jobs, second);
    assert_int_equal(a->plan->start, w.now + 100);
    assert_int_equal(b->plan->start, w.now + 200);
    world_done(&w);
}

/* The second could start at once, and would then have the budget when the first is to start. */
TEST(nobody_starts_on_a_budget_that_a_plan_counts_on) {
    struct world w;
    struct sched_terms terms;
    struct sched_budget_use use;

    begin(&w, 2, SCHED_BUDGET_JOBS, 1);
    struct sched_job_spec spec = world_spec(&w);
    spec.cpus_per_task = 4;
    world_add(&w, &spec);
    assert_int_equal(world_pass(&w), 1);
    spec = budgeted(&w, &terms, &use, 1);
    spec.cpus_per_task = 4;
    spec.min_nodes = spec.ntasks = 2;
    uint32_t wide = world_add(&w, &spec);
    spec.min_nodes = spec.ntasks = 1;
    spec.limit = 101;
    world_add(&w, &spec);
    assert_int_equal(world_pass(&w), 0);
    spec.limit = 100;
    world_add(&w, &spec);
    assert_int_equal(world_pass(&w), 1);
    w.now += 100;
    world_end_due(&w);
    assert_int_equal(world_pass(&w), 1);
    assert_non_null(world_running(&w, wide));
    world_done(&w);
}

/* Cores are given out whole. */
TEST(what_counts_is_what_a_job_gets_not_what_it_asks_for) {
    struct world w;
    struct sched_terms terms;
    struct sched_budget_use use;
    struct sched_plan plan;

    begin(&w, 1, SCHED_BUDGET_CPUS, 3);
    w.nodes[0].threads_per_core = 2;
    w.nodes[0].cores_per_socket = 2;
    w.nodes[0].whole_cores = true;
    world_configure(&w);
    struct sched_job_spec spec = budgeted(&w, &terms, &use, 1);
    world_add(&w, &spec);
    uint32_t second = world_add(&w, &spec);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_int_equal(plan.n_starts, 1);
    assert_int_equal(plan_wait(&plan, second)->reason, WHY);
    world_commit(&w, &plan);
    sched_plan_done(&plan);
    assert_int_equal(sched_budget_used(w.sched, w.now, 0), 2);
    world_done(&w);
}

TEST(a_job_that_asks_for_more_than_there_ever_is_waits_with_the_reason_and_gets_no_start) {
    struct world w;
    struct sched_terms terms;
    struct sched_budget_use use;
    struct sched_plan plan;

    begin(&w, 1, SCHED_BUDGET_CPUS, 1);
    struct sched_job_spec spec = budgeted(&w, &terms, &use, 2);
    spec.cpus_per_task = 2;
    uint32_t id = world_add(&w, &spec);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_int_equal(plan_wait(&plan, id)->reason, WHY);
    sched_plan_done(&plan);
    assert_int_equal(sched_estimate(w.sched, w.now, id), 0);
    world_done(&w);
}

TEST(a_use_that_does_not_bind_counts_for_those_that_it_binds) {
    struct world w;
    struct sched_terms terms, free_terms;
    struct sched_budget_use use, free_use;

    begin(&w, 2, SCHED_BUDGET_JOBS, 1);
    struct sched_job_spec spec = budgeted(&w, &free_terms, &free_use, 1);
    free_use.binds = false;
    uint32_t one = world_add(&w, &spec), two = world_add(&w, &spec);
    assert_int_equal(world_pass(&w), 2);
    spec = budgeted(&w, &terms, &use, 1);
    world_add(&w, &spec);
    world_end(&w, one);
    assert_int_equal(world_pass(&w), 0);
    world_end(&w, two);
    assert_int_equal(world_pass(&w), 1);
    world_done(&w);
}

/* 250 seconds may be ahead: the first has 100, two more of 100 do not fit yet. */
TEST(seconds_ahead_of_runs_fall_and_the_next_pass_is_due_when_enough_have_gone) {
    struct world w;
    struct sched_terms terms;
    struct sched_budget_use use;
    struct sched_plan plan;

    begin(&w, 4, SCHED_BUDGET_CPUS, 250);
    w.budgets[0].measure = SCHED_BUDGET_AHEAD;
    world_configure(&w);
    struct sched_job_spec spec = budgeted(&w, &terms, &use, 1);
    world_add(&w, &spec);
    world_add(&w, &spec);
    assert_int_equal(world_pass(&w), 2);
    uint32_t third = world_add(&w, &spec);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_int_equal(plan_wait(&plan, third)->reason, WHY);
    assert_int_equal(plan.next_time, w.now + 25); /* each of the two has 75 left then */
    sched_plan_done(&plan);
    assert_int_equal(sched_budget_used(w.sched, w.now, 0), 200);
    assert_int_equal(sched_budget_free_at(w.sched, w.now, 0, 250), w.now + 100);
    assert_int_equal(sched_budget_free_at(w.sched, w.now, 0, 251), SCHED_FOREVER);
    w.now += 24;
    assert_int_equal(world_pass(&w), 0);
    w.now += 1;
    assert_int_equal(world_pass(&w), 1);
    assert_int_equal(sched_budget_used(w.sched, w.now, 0), 250);
    world_check(&w);
    world_done(&w);
}

TEST(a_run_without_an_end_leaves_no_seconds_to_others) {
    struct world w;
    struct sched_terms terms;
    struct sched_budget_use use;

    begin(&w, 4, SCHED_BUDGET_CPUS, 250);
    w.budgets[0].measure = SCHED_BUDGET_AHEAD;
    world_configure(&w);
    struct sched_job_spec spec = budgeted(&w, &terms, &use, 1);
    use.binds = false;
    spec.limit = SCHED_FOREVER;
    uint32_t endless = world_add(&w, &spec);
    assert_int_equal(world_pass(&w), 1);
    use.binds = true;
    spec.limit = 1;
    world_add(&w, &spec);
    assert_int_equal(world_pass(&w), 0);
    world_end(&w, endless);
    assert_int_equal(world_pass(&w), 1);
    world_done(&w);
}

/* Of 250 seconds 100 have been used before; half of what is taken counts. */
TEST(a_stock_has_what_was_used_and_what_runs_may_still_use) {
    struct world w;
    struct sched_terms terms;
    struct sched_budget_use use;

    begin(&w, 4, SCHED_BUDGET_CPUS, 250);
    w.budgets[0].measure = SCHED_BUDGET_STOCK;
    world_configure(&w);
    struct sched_job_spec spec = budgeted(&w, &terms, &use, 1);
    use.factor = 500;
    assert_false(sched_budget_tell(w.sched, w.now, 0, 100));
    uint32_t first = world_add(&w, &spec);
    for (unsigned i = 0; i < 3; i++)
        world_add(&w, &spec);
    assert_int_equal(world_pass(&w), 3);
    assert_int_equal(sched_budget_used(w.sched, w.now, 0), 250);
    w.now += 40;
    assert_int_equal(world_pass(&w), 0); /* what is used by now stays used */
    assert_int_equal(sched_budget_used(w.sched, w.now, 0), 250);
    assert_true(sched_budget_missing(w.sched, w.now, 0) == 50);
    world_end(&w, first);
    assert_int_equal(sched_budget_used(w.sched, w.now, 0), 220);
    assert_false(sched_budget_tell(w.sched, w.now, 0, 160));
    assert_int_equal(sched_budget_used(w.sched, w.now, 0), 220);
    assert_int_equal(world_pass(&w), 0);
    assert_true(sched_budget_tell(w.sched, w.now, 0, 140)); /* it has decayed */
    assert_int_equal(world_pass(&w), 1);
    world_done(&w);
}

TEST(what_is_open_lets_anybody_start_who_takes_of_it_until_all_has_been_used) {
    struct world w;
    struct sched_terms terms;
    struct sched_budget_use use;

    begin(&w, 4, SCHED_BUDGET_CPUS, 250);
    w.budgets[0].measure = SCHED_BUDGET_OPEN;
    world_configure(&w);
    struct sched_job_spec spec = budgeted(&w, &terms, &use, 1);
    assert_false(sched_budget_tell(w.sched, w.now, 0, 249));
    spec.limit = SCHED_FOREVER;
    world_add(&w, &spec);
    world_add(&w, &spec);
    assert_int_equal(world_pass(&w), 2);
    assert_false(sched_budget_tell(w.sched, w.now, 0, 250));
    world_add(&w, &spec);
    assert_int_equal(world_pass(&w), 0);
    assert_int_equal(sched_budget_free_at(w.sched, w.now, 0, 1), SCHED_FOREVER);
    world_done(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seconds_ahead_of_runs_fall_and_the_next_pass_is_due_when_enough_have_gone),
        cmocka_unit_test(a_run_without_an_end_leaves_no_seconds_to_others),
        cmocka_unit_test(a_stock_has_what_was_used_and_what_runs_may_still_use),
        cmocka_unit_test(what_is_open_lets_anybody_start_who_takes_of_it_until_all_has_been_used),
        cmocka_unit_test(who_is_above_a_budget_waits_with_its_reason_until_one_ends),
        cmocka_unit_test(the_expected_start_is_when_the_budget_comes_free),
        cmocka_unit_test(plans_of_one_budget_follow_each_other),
        cmocka_unit_test(nobody_starts_on_a_budget_that_a_plan_counts_on),
        cmocka_unit_test(what_counts_is_what_a_job_gets_not_what_it_asks_for),
        cmocka_unit_test(
            a_job_that_asks_for_more_than_there_ever_is_waits_with_the_reason_and_gets_no_start),
        cmocka_unit_test(a_use_that_does_not_bind_counts_for_those_that_it_binds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
