/* SPDX-License-Identifier: Apache-2.0 */
/* Who has to go so that a job can start: the smallest set that makes room, and nobody for nothing.
 * Covers: preempt.c, victims.c, victims_choose.c. */
#include <stdio.h>

#include "random.h"
#include "sched/internal.h"

/* Two partitions over all nodes: 0 "low" of tier 1, 1 "high" of tier 2, which may preempt. */
static const uint8_t high_over_low[] = {SCHED_MAY_NOT, SCHED_MAY_NOT, SCHED_MAY, SCHED_MAY_NOT};
static const struct sched_preemption tier_rules = {
    .n_classes = 2, .by_partition = true, .may = high_over_low, .patience = 100};
static const uint32_t in_low[] = {0}, in_high[] = {1};

static void tiers_configure(struct world *w, size_t n_nodes) {
    w->n_partitions = 2;
    w->partitions[1] = w->partitions[0];
    w->partitions[1].nodes = xmemdup(w->partitions[0].nodes, n_nodes * sizeof(uint32_t));
    w->partitions[1].tier = 2;
    world_configure(w);
    sched_set_preemption(w->sched, &tier_rules);
}

static void tiers(struct world *w, size_t n_nodes, uint32_t cpus, uint64_t mem) {
    world_init(w, n_nodes, cpus, mem);
    tiers_configure(w, n_nodes);
}

static void victim(struct world *w, uint32_t job_id, struct sched_victim rules) {
    sched_run_victim(w->sched, job_id, &rules);
}

static const struct sched_victim goes = {.mode = SCHED_VICTIM_ENDS, .rank = 1};

/* Runs now in the low partition, on one node. */
static uint32_t low_job(struct world *w, uint32_t node, uint32_t cpus) {
    struct sched_job_spec spec = world_spec(w);

    spec.partitions = in_low;
    spec.cpus_per_task = cpus;
    spec.mem_per_cpu = 10;
    spec.req_nodes = &node;
    spec.n_req_nodes = 1;
    uint32_t id = world_add(w, &spec);
    assert_int_equal(world_pass(w), 1);
    victim(w, id, goes);
    return id;
}

static uint32_t high_job(struct world *w, uint32_t nodes, uint32_t cpus) {
    struct sched_job_spec spec = world_spec(w);

    spec.partitions = in_high;
    spec.min_nodes = nodes;
    spec.max_nodes = nodes;
    spec.ntasks = nodes;
    spec.cpus_per_task = cpus;
    spec.mem_per_cpu = 10;
    return world_add(w, &spec);
}

/* Plays the core: those chosen are told to go at once. */
static size_t pass(struct world *w, uint32_t *ret_victims) {
    struct sched_plan plan;
    size_t n = 0;

    sched_pass(w->sched, w->now, 0, &plan);
    world_commit(w, &plan);
    for (size_t i = 0; i < plan.n_preempts; i++) {
        for (size_t k = 0; k < plan.preempts[i].n_victims; k++) {
            ret_victims[n++] = plan.preempts[i].victims[k];
            sched_run_leaving(w->sched, ret_victims[n - 1], true, w->now);
        }
    }
    sched_plan_done(&plan);
    return n;
}

TEST(a_job_of_a_higher_tier_starts_where_one_of_a_lower_was) {
    struct world w;
    uint32_t victims[8];

    tiers(&w, 1, 4, 1000);
    uint32_t low = low_job(&w, 0, 4);
    uint32_t high = high_job(&w, 1, 2);
    assert_int_equal(pass(&w, victims), 1);
    assert_int_equal(victims[0], low);
    assert_int_equal(pass(&w, victims), 0); /* it goes, nobody else has to */
    world_end(&w, low);
    assert_int_equal(world_pass(&w), 1);
    assert_non_null(world_running(&w, high));
    world_done(&w);
}

TEST(nobody_goes_when_there_is_room_or_the_job_would_not_fit_even_so) {
    struct world w;
    uint32_t victims[8];

    tiers(&w, 2, 4, 1000);
    low_job(&w, 0, 2);
    uint32_t fits = high_job(&w, 1, 4);
    assert_int_equal(pass(&w, victims), 0);
    assert_non_null(world_running(&w, fits));
    high_job(&w, 2, 3); /* node 1 is held by its equal */
    assert_int_equal(pass(&w, victims), 0);
    world_done(&w);
}

TEST(only_as_many_go_as_it_takes_and_on_the_node_where_that_is_fewest) {
    struct world w;
    uint32_t victims[8];

    tiers(&w, 2, 4, 1000);
    for (int i = 0; i < 4; i++)
        low_job(&w, 0, 1);
    uint32_t large = low_job(&w, 1, 3);
    low_job(&w, 1, 1);
    high_job(&w, 1, 2); /* one on node 1, two on node 0 */
    assert_int_equal(pass(&w, victims), 1);
    assert_int_equal(victims[0], large);
    world_done(&w);
}

TEST(lower_ranks_go_before_higher_ones_however_many_they_are) {
    struct world w;
    uint32_t victims[8];

    tiers(&w, 2, 4, 1000);
    uint32_t precious = low_job(&w, 0, 4);
    for (int i = 0; i < 4; i++)
        low_job(&w, 1, 1);
    victim(&w, precious, (struct sched_victim) {.mode = SCHED_VICTIM_ENDS, .rank = 5});
    high_job(&w, 1, 4);
    assert_int_equal(pass(&w, victims), 4);
    for (int i = 0; i < 4; i++)
        assert_int_not_equal(victims[i], precious);
    world_done(&w);
}

TEST(ranks_count_across_the_alternatives_of_a_job) {
    static const char *const features[] = {"x", "x", "y"};
    struct error err = ERROR_INIT;
    struct constraint *constraint;
    uint32_t lows[3], victims[8];
    struct world w;

    world_init(&w, 3, 4, 1000);
    for (uint32_t i = 0; i < 3; i++) {
        w.nodes[i].features = &features[i];
        w.nodes[i].n_features = 1;
    }
    tiers_configure(&w, 3);
    for (uint32_t i = 0; i < 3; i++) {
        lows[i] = low_job(&w, i, 4);
        victim(&w, lows[i], (struct sched_victim) {.mode = SCHED_VICTIM_ENDS, .rank = 5 - 2 * i});
    }
    assert_int_equal(constraint_parse("[x|y]", &constraint, &err), 0);
    struct sched_job_spec spec = world_spec(&w);
    spec.partitions = in_high;
    spec.cpus_per_task = 4;
    spec.features = constraint;
    world_add(&w, &spec);
    assert_int_equal(pass(&w, victims), 1);
    assert_int_equal(victims[0], lows[2]); /* not the lower one of those with x */
    world_done(&w);
}

TEST(of_equals_the_one_goes_that_has_run_least) {
    struct world w;
    uint32_t victims[8];

    tiers(&w, 2, 4, 1000);
    low_job(&w, 0, 4);
    w.now += 50;
    uint32_t young = low_job(&w, 1, 4);
    w.now += 10;
    high_job(&w, 1, 4);
    assert_int_equal(pass(&w, victims), 1);
    assert_int_equal(victims[0], young);
    world_done(&w);
}

TEST(an_exclusive_job_needs_its_node_empty) {
    struct world w;
    uint32_t victims[8];

    tiers(&w, 1, 4, 1000);
    low_job(&w, 0, 1);
    low_job(&w, 0, 1);
    struct sched_job_spec spec = world_spec(&w);
    spec.partitions = in_high;
    spec.exclusive = true;
    world_add(&w, &spec);
    assert_int_equal(pass(&w, victims), 2);
    world_done(&w);
}

TEST(the_protected_and_those_that_are_too_young_stay) {
    struct world w;
    uint32_t victims[8];
    struct sched_plan plan;

    tiers(&w, 2, 4, 1000);
    uint32_t kept = low_job(&w, 0, 4), young = low_job(&w, 1, 4);
    victim(&w, kept, (struct sched_victim) {.mode = SCHED_VICTIM_NEVER});
    victim(&w, young, (struct sched_victim) {.mode = SCHED_VICTIM_ENDS, .eligible = w.now + 60});
    high_job(&w, 1, 4);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_int_equal(plan.n_preempts, 0);
    assert_int_equal(plan.next_time, w.now + 60); /* when the young one may go */
    sched_plan_done(&plan);
    w.now += 60;
    assert_int_equal(pass(&w, victims), 1);
    assert_int_equal(victims[0], young);
    world_done(&w);
}

TEST(what_is_freed_is_held_for_the_one_for_whom_it_was) {
    struct world w;
    uint32_t victims[8];

    tiers(&w, 1, 4, 1000);
    uint32_t low = low_job(&w, 0, 4);
    uint32_t high = high_job(&w, 1, 4);
    pass(&w, victims);
    world_priority(&w, high, 1);
    uint32_t rival = high_job(&w, 1, 4); /* comes later, and matters more */
    world_priority(&w, rival, 5000);
    assert_int_equal(pass(&w, victims), 0);
    world_end(&w, low);
    assert_int_equal(pass(&w, victims), 0);
    assert_non_null(world_running(&w, high));
    assert_null(world_running(&w, rival));
    world_done(&w);
}

TEST(a_suspended_victim_gives_its_cpus_and_keeps_its_memory) {
    struct world w;
    uint32_t victims[8];
    struct sched_plan plan;

    tiers(&w, 1, 4, 100);
    uint32_t low = low_job(&w, 0, 4); /* and 40 MiB */
    victim(&w, low, (struct sched_victim) {.mode = SCHED_VICTIM_SUSPENDS, .rank = 1});
    struct sched_job_spec spec = world_spec(&w);
    spec.partitions = in_high;
    spec.mem_per_node = 80;
    uint32_t large = world_add(&w, &spec);
    assert_int_equal(pass(&w, victims), 0); /* its memory would not be there */
    world_cancel(&w, large);
    spec.mem_per_node = 60;
    uint32_t fits = world_add(&w, &spec);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_int_equal(plan.n_preempts, 1);
    assert_int_equal(plan.preempts[0].victims[0], low);
    sched_plan_done(&plan);
    sched_run_suspend(w.sched, low, true);
    sched_pass(w.sched, w.now, 0, &plan);
    assert_non_null(plan_start(&plan, fits));
    sched_plan_done(&plan);
    world_done(&w);
}

TEST(each_of_several_jobs_gets_room_of_its_own_in_one_pass) {
    struct world w;
    uint32_t victims[8];

    tiers(&w, 3, 4, 1000);
    for (uint32_t node = 0; node < 3; node++)
        low_job(&w, node, 4);
    high_job(&w, 1, 4);
    high_job(&w, 1, 4);
    assert_int_equal(pass(&w, victims), 2);
    assert_int_not_equal(victims[0], victims[1]);
    assert_int_equal(pass(&w, victims), 0);
    world_done(&w);
}

TEST(when_nobody_goes_any_more_the_job_waits_like_any_other) {
    struct world w;
    uint32_t victims[8];

    tiers(&w, 2, 4, 1000);
    low_job(&w, 0, 4);
    low_job(&w, 1, 4);
    uint32_t high = high_job(&w, 1, 4);
    assert_int_equal(pass(&w, victims), 1);
    w.now += 101; /* it should have left long ago: beyond patience */
    sched_job_preempting(w.sched, high, false);
    uint32_t first = victims[0];
    assert_int_equal(pass(&w, victims), 1);
    assert_int_not_equal(victims[0], first);
    world_done(&w);
}

TEST(a_priority_above_the_victims_is_needed_where_the_rule_says_so) {
    struct world w;
    uint32_t victims[8];
    uint8_t may[4];

    tiers(&w, 1, 4, 1000);
    memcpy(may, high_over_low, sizeof(may));
    may[2] = SCHED_MAY_IF_ABOVE;
    struct sched_preemption rules = tier_rules;
    rules.may = may;
    sched_set_preemption(w.sched, &rules);
    uint32_t low = low_job(&w, 0, 4);
    victim(&w, low, (struct sched_victim) {.mode = SCHED_VICTIM_ENDS, .priority = 2000});
    uint32_t high = high_job(&w, 1, 4);
    assert_int_equal(pass(&w, victims), 0);
    world_priority(&w, high, 2001);
    assert_int_equal(pass(&w, victims), 1);
    world_done(&w);
}

/* Node 1 is held by a protected job until 50 s from now, two licences by a low job until then. The
 * first high job needs both, so it starts when both go; the second would fit beside it in time but
 * for the licences. */
TEST(licences_of_a_victim_are_given_back_once_however_late_one_looks) {
    static const uint32_t license[] = {0}, two[] = {2}, busy_node[] = {1};
    struct world w;
    uint32_t victims[8];

    world_init(&w, 3, 4, 1000);
    w.n_licenses = 1;
    w.licenses[0] = 2;
    tiers_configure(&w, 3);
    struct sched_preemption rules = tier_rules;
    rules.reclaim_licenses = true;
    sched_set_preemption(w.sched, &rules);
    struct sched_job_spec spec = world_spec(&w);
    spec.limit = 50;
    spec.cpus_per_task = 4;
    spec.req_nodes = busy_node;
    spec.n_req_nodes = 1;
    uint32_t kept = world_add(&w, &spec);
    spec.n_req_nodes = 0;
    spec.license_ids = license;
    spec.license_counts = two;
    spec.n_licenses = 1;
    uint32_t low = world_add(&w, &spec);
    assert_int_equal(world_pass(&w), 2);
    victim(&w, kept, (struct sched_victim) {.mode = SCHED_VICTIM_NEVER});
    victim(&w, low, goes);
    spec.partitions = in_high;
    spec.limit = 100;
    spec.n_req_nodes = 1;
    uint32_t first = world_add(&w, &spec);
    spec.n_req_nodes = 0;
    spec.priority = 500;
    world_add(&w, &spec);
    assert_int_equal(pass(&w, victims), 0);
    assert_int_equal(sched_estimate(w.sched, w.now, first), w.now + 50);
    world_done(&w);
}

/* ---- against all sets ---- */

#define RANDOM_VICTIMS 7

struct set_cost {
    uint32_t counts[4];
    int64_t lost;
};

static int64_t lost_by(const struct world *w, const struct world_run *run) {
    int64_t cpus = 0;

    for (size_t i = 0; i < run->n; i++) /* an exclusive job has all of its nodes */
        cpus += run->exclusive ? w->nodes[run->allocs[i].node].cpus : run->allocs[i].cpus;
    return (w->now - run->start + 1) * cpus;
}

static int set_compare(const struct set_cost *a, const struct set_cost *b) {
    for (int rank = 3; rank >= 0; rank--) {
        if (a->counts[rank] != b->counts[rank])
            return a->counts[rank] < b->counts[rank] ? -1 : 1;
    }
    return a->lost < b->lost ? -1 : a->lost > b->lost;
}

struct random_case {
    struct world w;
    struct sched_job_spec spec; /* of the job that would preempt */
    struct sched_victim rules[RANDOM_VICTIMS];
    uint32_t may_go; /* as bits over w.runs */
};

static struct set_cost set_cost(const struct random_case *c, uint32_t set) {
    struct set_cost cost = {{0}, 0};

    for (size_t i = 0; i < c->w.runs.n; i++) {
        if (!(set >> i & 1))
            continue;
        cost.counts[c->rules[i].rank]++;
        cost.lost += lost_by(&c->w, &c->w.runs.items[i]);
    }
    return cost;
}

/* Does it start at once in a world without these? */
static bool starts_without(const struct random_case *c, uint32_t set) {
    const struct world *w = &c->w;
    struct sched *s = sched_new(&w->settings);
    struct sched_plan plan;

    sched_configure(s, &w->settings, w->kinds, w->n_kinds, w->nodes, w->n_nodes, w->partitions,
                    w->n_partitions);
    sched_set_licenses(s, w->licenses, w->n_licenses);
    if (w->n_switches)
        sched_set_switches(s, w->switches, w->n_switches, w->leaf_of);
    for (size_t i = 0; i < w->runs.n; i++) {
        const struct world_run *run = &w->runs.items[i];
        bool gone = set >> i & 1;
        if (gone && c->rules[i].mode == SCHED_VICTIM_ENDS)
            continue;
        sched_run_add(s, run->job_id, 0, run->exclusive, 1000, run->start, run->end, run->allocs,
                      run->n, run->license_ids, run->license_counts, run->n_licenses);
        sched_run_share(s, run->job_id, false, run->layers > 1);
        if (gone)
            sched_run_suspend(s, run->job_id, true);
    }
    sched_job_add(s, &c->spec);
    sched_pass(s, w->now, 0, &plan);
    bool starts = plan.n_starts == 1;
    sched_plan_done(&plan);
    sched_free(s);
    return starts;
}

static void random_runs(struct random_case *c, struct rng *rng) {
    struct world *w = &c->w;
    struct request_memory memory;

    for (int tries = 0; tries < 40 && w->runs.n < RANDOM_VICTIMS; tries++) {
        struct sched_job_spec spec = random_request(w, rng, RANDOM_RICH, &memory);
        spec.partitions = in_low;
        spec.n_partitions = 1;
        spec.overlap_user = false;
        spec.n_tasks_of_array = 1;
        spec.begin_time = spec.deadline = 0;
        uint32_t id = world_add(w, &spec);
        world_pass(w);
        if (world_job(w, id))
            world_cancel(w, id);
        w->now += (int64_t) rng_below(rng, 3);
        world_end_due(w);
    }
    for (size_t i = 0; i < w->runs.n; i++) {
        struct sched_victim *rules = &c->rules[i];
        *rules = (struct sched_victim) {.mode = SCHED_VICTIM_ENDS,
                                        .class = (uint32_t) rng_below(rng, 2),
                                        .rank = (uint32_t) rng_below(rng, 3)};
        rules->mode = rng_below(rng, 8) == 0   ? SCHED_VICTIM_NEVER
                      : rng_below(rng, 5) == 0 ? SCHED_VICTIM_SUSPENDS
                                               : SCHED_VICTIM_ENDS;
        rules->eligible = rng_below(rng, 10) == 0 ? w->now + 5 : 0;
        if (rules->mode != SCHED_VICTIM_NEVER && rules->class == 0 && rules->eligible == 0)
            c->may_go |= 1u << i;
        victim(w, w->runs.items[i].job_id, *rules);
    }
}

static uint64_t n_chosen, n_hopeless;

static void check_case(struct random_case *c, uint64_t seed, const struct sched_plan *plan) {
    uint32_t set = 0, best = UINT32_MAX;

    for (size_t k = 0; plan->n_preempts && k < plan->preempts[0].n_victims; k++) {
        for (size_t i = 0; i < c->w.runs.n; i++)
            set |= c->w.runs.items[i].job_id == plan->preempts[0].victims[k] ? 1u << i : 0;
    }
    for (uint32_t other = 0; other < 1u << c->w.runs.n; other++) {
        struct set_cost cost = set_cost(c, other), least = set_cost(c, best);
        if ((other & ~c->may_go) == 0 && (best == UINT32_MAX || set_compare(&cost, &least) < 0) &&
            starts_without(c, other))
            best = other;
    }
    struct set_cost cost = set_cost(c, set), least = set_cost(c, best);
    bool right = plan->n_starts > 0 ? plan->n_preempts == 0 && best == 0
                 : plan->n_preempts > 0
                     ? (set & ~c->may_go) == 0 && best != UINT32_MAX && starts_without(c, set) &&
                           set_compare(&cost, &least) == 0
                     : !starts_without(c, c->may_go);
    n_chosen += plan->n_preempts;
    n_hopeless += plan->n_starts == 0 && plan->n_preempts == 0;
    if (!right)
        fail_msg("seed %llu: chose %x of %x, cheapest is %x", (unsigned long long) seed, set,
                 c->may_go, best);
}

static void random_case(uint64_t seed) {
    struct random_case *c = zalloc(struct random_case);
    static const uint8_t rules[] = {SCHED_MAY_NOT, SCHED_MAY_NOT, SCHED_MAY, SCHED_MAY_NOT};
    struct request_memory memory;
    struct sched_plan plan;
    struct rng rng;

    rng_seed(&rng, seed);
    random_world(&c->w, &rng, RANDOM_RICH);
    c->w.n_budgets = 0; /* of which nobody makes room */
    world_configure(&c->w);
    random_runs(c, &rng);
    const struct sched_preemption preemption = {.n_classes = 2, .may = rules, .patience = 100};
    sched_set_preemption(c->w.sched, &preemption);
    struct sched_job_spec spec = random_request(&c->w, &rng, RANDOM_RICH, &memory);
    spec.partitions = in_low;
    spec.n_partitions = 1;
    spec.overlap_user = false;
    spec.n_tasks_of_array = 1;
    spec.max_starts = UINT32_MAX;
    spec.begin_time = spec.deadline = spec.min_limit = 0;
    spec.n_licenses = 0;
    spec.preempt_class = 1;
    uint32_t id = world_add(&c->w, &spec);
    c->spec = world_job(&c->w, id)->spec;
    sched_pass(c->w.sched, c->w.now, 0, &plan);
    check_case(c, seed, &plan);
    sched_plan_done(&plan);
    world_done(&c->w);
    free(c);
}

TEST(the_cheapest_set_of_all_is_chosen_and_none_that_does_not_do) {
    const char *one = getenv("SLUICE_SCHED_SEED"), *cases = getenv("SLUICE_SCHED_CASES");
    uint64_t seed, n = 1500;

    n_chosen = n_hopeless = 0;
    if (one && str_to_u64(one, &seed)) {
        random_case(seed);
        return;
    }
#ifdef __SANITIZE_ADDRESS__
    n /= 10;
#endif
    if (cases && str_to_u64(cases, &seed))
        n = seed;
    for (seed = 1; seed <= n; seed++)
        random_case(seed);
    assert_true(n_chosen > n / 20);
    assert_true(n_hopeless > n / 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_of_a_higher_tier_starts_where_one_of_a_lower_was),
        cmocka_unit_test(nobody_goes_when_there_is_room_or_the_job_would_not_fit_even_so),
        cmocka_unit_test(only_as_many_go_as_it_takes_and_on_the_node_where_that_is_fewest),
        cmocka_unit_test(lower_ranks_go_before_higher_ones_however_many_they_are),
        cmocka_unit_test(ranks_count_across_the_alternatives_of_a_job),
        cmocka_unit_test(of_equals_the_one_goes_that_has_run_least),
        cmocka_unit_test(an_exclusive_job_needs_its_node_empty),
        cmocka_unit_test(the_protected_and_those_that_are_too_young_stay),
        cmocka_unit_test(what_is_freed_is_held_for_the_one_for_whom_it_was),
        cmocka_unit_test(a_suspended_victim_gives_its_cpus_and_keeps_its_memory),
        cmocka_unit_test(each_of_several_jobs_gets_room_of_its_own_in_one_pass),
        cmocka_unit_test(when_nobody_goes_any_more_the_job_waits_like_any_other),
        cmocka_unit_test(a_priority_above_the_victims_is_needed_where_the_rule_says_so),
        cmocka_unit_test(licences_of_a_victim_are_given_back_once_however_late_one_looks),
        cmocka_unit_test(the_cheapest_set_of_all_is_chosen_and_none_that_does_not_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
