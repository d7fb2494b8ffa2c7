/* SPDX-License-Identifier: Apache-2.0 */
/*
 * More properties on seeded random worlds: what is kept from event to event is what would be
 * computed anew, and worlds that mean the same get the same plans. SLUICE_SCHED_CASES and
 * SLUICE_SCHED_SEED as in test_property.c.
 */
#include "cases.h"
#include "sched/internal.h"

/* Asks a planner for a plan; starts are compared in order. */
static void same_starts(uint64_t seed, const struct sched_plan *a, const struct sched_plan *b) {
    CHECK(seed, a->n_starts == b->n_starts);
    for (size_t i = 0; i < a->n_starts; i++) {
        const struct sched_start *x = &a->starts[i], *y = &b->starts[i];
        CHECK(seed, x->job_id == y->job_id && x->partition == y->partition);
        CHECK(seed, x->limit == y->limit && x->n_allocs == y->n_allocs);
        CHECK(seed, memcmp(x->allocs, y->allocs, x->n_allocs * sizeof(*x->allocs)) == 0);
        n_tried++;
    }
}

/* ---- incremental is as good as anew ---- */

static void check_index(uint64_t seed, const struct sched *s, const struct index *index,
                        uint32_t node, const int64_t *amount) {
    bool idle = true;

    for (uint32_t d = 0; d < s->n_dims; d++) {
        const struct ladder *ladder = &index->dims[d];
        uint32_t level = ladder_find(ladder, amount[d]);
        for (uint32_t i = 0; i < ladder->n; i++)
            CHECK(seed, bits_test(&ladder->sets[i], node) == (i < level));
        idle = idle && amount[d] == node_total(s, node)[d];
    }
    CHECK(seed, bits_test(&index->idle, node) == idle);
}

static void check_node(uint64_t seed, const struct sched *s, uint32_t i) {
    const struct node *node = &s->nodes[i];
    int64_t have[MAX_DIMS], end = SCHED_FOREVER;

    memcpy(have, node_total(s, i), s->n_dims * sizeof(*have));
    vec_each (&node->runs, hold) {
        const int64_t *amount = hold->run->amounts + (size_t) hold->slot * s->n_dims;
        for (uint32_t d = 0; d < s->n_dims; d++)
            have[d] -= amount[d];
        have_sum(s, i, have);
        CHECK(seed, hold == node->runs.items || hold[-1].end <= hold->end);
        end = min_of(end, hold->end);
    }
    CHECK(seed, memcmp(have, node_free(s, i), s->n_dims * sizeof(*have)) == 0);
    CHECK(seed, s->next_end[i] == end);
    CHECK(seed, bits_test(&s->planned, i) == (node->plans.n > 0));
    check_index(seed, s, &s->by_free, i, node_free(s, i));
    check_index(seed, s, &s->by_keep, i, node_keep(s, i));
}

/* Every open shape with a job in the order has one turn, by its first job; all in order. */
static void check_turns(uint64_t seed, struct sched *s) {
    size_t turns = 0, shapes = 0;
    const struct turn *last = NULL;

    order_begin(s);
    vec_each (&s->order.turns, turn) {
        if (!turn->shape)
            continue;
        const struct job *first = NULL;
        for (size_t i = 0; i < turn->shape->n_jobs; i++) {
            const struct job *job = turn->shape->jobs[i];
            if (job && (!first || job_compare(job, first) < 0))
                first = job;
        }
        CHECK(seed, first && first->job_id == turn->key.job_id);
        CHECK(seed, !last || key_before(&last->key, &turn->key));
        last = turn;
        turns++;
    }
    vec_each (&s->shapes, shape) {
        shapes += (*shape)->n_live > 0 && !(*shape)->blocked_reason;
    }
    CHECK(seed, turns == shapes);
}

static void index_case(uint64_t seed) {
    struct world w;
    struct rng rng;

    rng_seed(&rng, seed);
    random_world(&w, &rng, RANDOM_RICH);
    world_configure(&w);
    for (unsigned round = 0; round < 4; round++) {
        for (unsigned i = 0; i < 4; i++)
            random_event(&w, &rng, RANDOM_RICH);
        n_tried += world_pass(&w);
        for (uint32_t i = 0; i < w.sched->n_nodes; i++)
            check_node(seed, w.sched, i);
        check_turns(seed, w.sched);
    }
    world_done(&w);
}

TEST(indexes_and_order_are_as_if_made_anew) {
    each_seed(10000, index_case);
    assert_true(n_tried > 0);
}

/* ---- the head does not depend on those behind it ---- */

static void head_case(uint64_t seed) {
    struct world w;
    struct rng rng;
    struct sched_plan plan, alone;

    rng_seed(&rng, seed);
    random_world(&w, &rng, RANDOM_SIMPLE);
    w.mirror = sched_new(&w.settings);
    world_configure(&w);
    for (unsigned i = 0; i < 6; i++)
        random_event(&w, &rng, RANDOM_SUBMIT);
    sched_pass(w.sched, w.now, 0, &plan);
    sched_pass(w.mirror, w.now, 0, &alone);
    world_commit(&w, &plan);
    sched_plan_done(&plan);
    sched_plan_done(&alone);
    for (unsigned i = 0; i < 8; i++)
        random_event(&w, &rng, RANDOM_SUBMIT);
    sched_pass(w.sched, w.now, 0, &plan);
    const struct job *head = NULL;
    vec_each (&w.jobs, job) {
        struct job *inside = map_get(&w.sched->jobs, job->spec.job_id);
        head = inside->plan ? inside : head;
    }
    vec_each (&w.jobs, job) {
        const struct job *other = map_get(&w.sched->jobs, job->spec.job_id);
        if (head && job_compare(head, other) < 0)
            sched_job_remove(w.mirror, job->spec.job_id);
    }
    sched_pass(w.mirror, w.now, 0, &alone);
    const struct job *lone = head ? map_get(&w.mirror->jobs, head->job_id) : NULL;
    n_tried += head != NULL;
    CHECK(seed, !head || (lone->plan && lone->plan->start == head->plan->start));
    sched_plan_done(&plan);
    sched_plan_done(&alone);
    world_done(&w);
}

TEST(the_first_that_waits_is_planned_as_if_nobody_waited_behind_it) {
    each_seed(10000, head_case);
    assert_true(n_tried > 0);
}

/* ---- worlds that mean the same ---- */

static void shift_case(uint64_t seed) {
    struct world w[2];
    struct rng rng[2];
    const int64_t shift = 1000000;

    for (unsigned k = 0; k < 2; k++) {
        rng_seed(&rng[k], seed);
        random_world(&w[k], &rng[k], RANDOM_RICH);
        w[k].now += k * shift;
        world_configure(&w[k]);
    }
    for (unsigned round = 0; round < 4; round++) {
        struct sched_plan plan[2];
        for (unsigned k = 0; k < 2; k++) {
            for (unsigned i = 0; i < 4; i++)
                random_event(&w[k], &rng[k], RANDOM_RICH);
            sched_pass(w[k].sched, w[k].now, 0, &plan[k]);
        }
        same_starts(seed, &plan[0], &plan[1]);
        CHECK(seed, plan[0].n_waits == plan[1].n_waits);
        for (size_t i = 0; i < plan[0].n_waits; i++) {
            const struct sched_wait *a = &plan[0].waits[i], *b = &plan[1].waits[i];
            CHECK(seed, a->job_id == b->job_id && a->reason == b->reason);
            CHECK(seed, a->start == 0 ? b->start == 0 : a->start + shift == b->start);
        }
        for (unsigned k = 0; k < 2; k++) {
            world_commit(&w[k], &plan[k]);
            sched_plan_done(&plan[k]);
        }
    }
    world_done(&w[0]);
    world_done(&w[1]);
}

TEST(the_same_at_another_time_is_planned_the_same) {
    each_seed(8000, shift_case);
    assert_true(n_tried > 0);
}

/* The mirror has other names, and two nodes more that are down. */
static void mirror_with_more(struct world *w) {
    size_t n = w->n_nodes;
    struct sched_node_spec *nodes = xcalloc(n + 2, sizeof(*nodes));
    struct sched_partition_spec *partitions = xcalloc(w->n_partitions, sizeof(*partitions));
    uint32_t *indexes = xcalloc(n + 2, sizeof(*indexes));
    char names[16][8];

    for (uint32_t i = 0; i < n + 2; i++) {
        nodes[i] = w->nodes[i < n ? i : 0];
        snprintf(names[i], sizeof(names[i]), "x%u", 99 - i);
        nodes[i].name = names[i];
        nodes[i].weight += i < n ? 0 : 1;
    }
    for (size_t p = 0; p < w->n_partitions; p++)
        partitions[p] = w->partitions[p];
    for (uint32_t i = 0; i < partitions[0].n_nodes; i++)
        indexes[i] = partitions[0].nodes[i];
    for (uint32_t i = 0; i < 2; i++)
        indexes[partitions[0].n_nodes++] = n + i;
    partitions[0].nodes = indexes;
    sched_configure(w->mirror, &w->settings, w->kinds, w->n_kinds, nodes, n + 2, partitions,
                    w->n_partitions);
    w->leaf_of[n] = w->leaf_of[n + 1] = SCHED_NO_NODE;
    if (w->n_switches)
        sched_set_switches(w->mirror, w->switches, w->n_switches, w->leaf_of);
    sched_set_licenses(w->mirror, w->licenses, w->n_licenses);
    for (size_t i = 0; i < w->n_budgets; i++)
        sched_budget_add(w->mirror, &w->budgets[i]);
    sched_node_usable(w->mirror, n, false);
    sched_node_usable(w->mirror, n + 1, false);
    free(nodes);
    free(partitions);
    free(indexes);
}

static void useless_case(uint64_t seed) {
    struct world w;
    struct rng rng;

    rng_seed(&rng, seed);
    random_world(&w, &rng, RANDOM_RICH);
    w.mirror = sched_new(&w.settings);
    world_configure(&w);
    mirror_with_more(&w);
    for (unsigned round = 0; round < 4; round++) {
        struct sched_plan plan, more;
        for (unsigned i = 0; i < 4; i++)
            random_event(&w, &rng, RANDOM_RICH);
        sched_pass(w.sched, w.now, 0, &plan);
        sched_pass(w.mirror, w.now, 0, &more);
        same_starts(seed, &plan, &more);
        world_commit(&w, &plan);
        sched_plan_done(&plan);
        sched_plan_done(&more);
    }
    world_done(&w);
}

TEST(nodes_that_are_down_and_other_names_change_nothing) {
    each_seed(8000, useless_case);
    assert_true(n_tried > 0);
}

/* Two partitions that share no node: one planner for both, or one for each. */
static void disjoint_case(uint64_t seed) {
    struct world w;
    struct rng rng;
    struct sched *single[2];
    uint32_t split;

    rng_seed(&rng, seed);
    random_world(&w, &rng, RANDOM_SIMPLE);
    split = w.n_nodes / 2;
    w.n_partitions = 2;
    w.partitions[1] = w.partitions[0];
    w.partitions[1].name = "other";
    w.partitions[0].n_nodes = split;
    w.partitions[1].n_nodes = w.n_nodes - split;
    w.partitions[1].nodes =
        xmemdup(w.partitions[0].nodes + split, (w.n_nodes - split) * sizeof(uint32_t));
    world_configure(&w);
    for (uint32_t p = 0; p < 2; p++) {
        single[p] = sched_new(&w.settings);
        sched_configure(single[p], &w.settings, w.kinds, w.n_kinds, w.nodes, w.n_nodes,
                        w.partitions, 2);
    }
    for (unsigned round = 0; round < 5; round++) {
        struct sched_plan both, one;
        for (unsigned i = 0; i < 5; i++) {
            struct request_memory memory;
            struct sched_job_spec spec = random_request(&w, &rng, RANDOM_SIMPLE, &memory);
            uint32_t partition = rng_below(&rng, 2);
            spec.partitions = &partition;
            spec.job_id = world_add(&w, &spec);
            sched_job_add(single[partition], &spec);
        }
        w.now += (int64_t) rng_below(&rng, 60);
        for (size_t i = 0; i < w.runs.n;) {
            uint32_t id = w.runs.items[i].job_id;
            if (w.runs.items[i].end > w.now && rng_below(&rng, 4) > 0) {
                i++;
                continue;
            }
            world_end(&w, id);
            sched_run_remove(single[0], id);
            sched_run_remove(single[1], id);
        }
        sched_pass(w.sched, w.now, 0, &both);
        for (uint32_t p = 0; p < 2; p++) {
            size_t at = 0;
            sched_pass(single[p], w.now, 0, &one);
            for (size_t i = 0; i < both.n_starts; i++) {
                const struct sched_start *x = &both.starts[i];
                if (x->partition != p)
                    continue;
                CHECK(seed, at < one.n_starts && one.starts[at].job_id == x->job_id);
                const struct sched_start *y = &one.starts[at++];
                CHECK(seed,
                      x->n_allocs == y->n_allocs &&
                          memcmp(x->allocs, y->allocs, x->n_allocs * sizeof(*x->allocs)) == 0);
                bool exclusive = world_job(&w, x->job_id)->spec.exclusive;
                sched_job_remove(single[p], x->job_id);
                sched_run_add(single[p], x->job_id, p, exclusive, 1000, w.now, w.now + x->limit,
                              x->allocs, x->n_allocs, NULL, NULL, 0);
                n_tried++;
            }
            CHECK(seed, at == one.n_starts);
            sched_plan_done(&one);
        }
        world_commit(&w, &both);
        sched_plan_done(&both);
    }
    sched_free(single[0]);
    sched_free(single[1]);
    world_done(&w);
}

TEST(partitions_that_share_no_node_are_planned_as_if_alone) {
    each_seed(8000, disjoint_case);
    assert_true(n_tried > 0);
}

/* An array, or as many jobs with consecutive numbers. */
static void array_case(uint64_t seed) {
    struct world w[2];
    struct rng rng;

    rng_seed(&rng, seed);
    for (unsigned k = 0; k < 2; k++) {
        rng_seed(&rng, seed);
        random_world(&w[k], &rng, RANDOM_SIMPLE);
        world_configure(&w[k]);
    }
    for (unsigned i = 0; i < 3; i++) {
        struct request_memory memory;
        struct sched_job_spec spec = random_request(&w[0], &rng, RANDOM_SIMPLE, &memory);
        uint32_t n = 1 + rng_below(&rng, 5);
        spec.priority = 1000 - i;
        for (uint32_t task = 0; task < n; task++)
            world_add(&w[1], &spec);
        spec.n_tasks_of_array = n;
        world_add(&w[0], &spec);
    }
    for (unsigned round = 0; round < 8; round++) {
        struct sched_plan plan[2];
        for (unsigned k = 0; k < 2; k++)
            sched_pass(w[k].sched, w[k].now, 0, &plan[k]);
        CHECK(seed, plan[0].n_starts == plan[1].n_starts);
        for (size_t i = 0; i < plan[0].n_starts; i++) {
            const struct sched_start *x = &plan[0].starts[i], *y = &plan[1].starts[i];
            CHECK(seed, x->limit == y->limit && x->n_allocs == y->n_allocs);
            CHECK(seed, memcmp(x->allocs, y->allocs, x->n_allocs * sizeof(*x->allocs)) == 0);
            n_tried++;
        }
        int64_t next = SCHED_FOREVER;
        for (unsigned k = 0; k < 2; k++) {
            world_commit(&w[k], &plan[k]);
            sched_plan_done(&plan[k]);
            vec_each (&w[k].runs, run) {
                next = min_of(next, run->end);
            }
        }
        for (unsigned k = 0; k < 2 && next < SCHED_FOREVER; k++) {
            w[k].now = next;
            world_end_due(&w[k]);
        }
    }
    world_done(&w[0]);
    world_done(&w[1]);
}

TEST(an_array_starts_as_its_tasks_would_as_jobs) {
    each_seed(8000, array_case);
    assert_true(n_tried > 0);
}

/* ---- nobody waits for ever ---- */

static bool feasible(struct world *w, const struct sched_job_spec *spec) {
    struct error err = ERROR_INIT;

    return sched_feasible(w->sched, spec, NULL, &err) == 0;
}

static void drain_case(uint64_t seed) {
    struct world w;
    struct rng rng;
    int64_t longest = 0, last = 0;
    unsigned n = 0;

    rng_seed(&rng, seed);
    random_world(&w, &rng, RANDOM_SIMPLE);
    w.settings.guard = 200;
    w.settings.guard_jobs = 3;
    world_configure(&w);
    for (unsigned i = 0; i < 15; i++) {
        struct request_memory memory;
        struct sched_job_spec spec = random_request(&w, &rng, RANDOM_SIMPLE, &memory);
        spec.priority = 1 + rng_below(&rng, 1000);
        if (!feasible(&w, &spec))
            continue;
        world_add(&w, &spec);
        longest = max_of(longest, spec.limit);
        n++;
        if (rng_below(&rng, 2))
            world_pass(&w);
    }
    int64_t bound = w.now + (int64_t) n * longest;
    while (w.jobs.n > 0 && last != w.now) {
        last = w.now;
        n_tried += world_pass(&w);
        world_check(&w);
        int64_t next = SCHED_FOREVER;
        vec_each (&w.runs, run) {
            next = min_of(next, run->end);
        }
        if (next < SCHED_FOREVER)
            w.now = max_of(w.now, next);
        world_end_due(&w);
    }
    CHECK(seed, w.jobs.n == 0 && w.now <= bound);
    world_done(&w);
}

TEST(once_nobody_comes_everybody_starts_within_the_sum_of_the_limits) {
    each_seed(8000, drain_case);
    assert_true(n_tried > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indexes_and_order_are_as_if_made_anew),
        cmocka_unit_test(the_first_that_waits_is_planned_as_if_nobody_waited_behind_it),
        cmocka_unit_test(the_same_at_another_time_is_planned_the_same),
        cmocka_unit_test(nodes_that_are_down_and_other_names_change_nothing),
        cmocka_unit_test(partitions_that_share_no_node_are_planned_as_if_alone),
        cmocka_unit_test(an_array_starts_as_its_tasks_would_as_jobs),
        cmocka_unit_test(once_nobody_comes_everybody_starts_within_the_sum_of_the_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
