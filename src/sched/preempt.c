/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who has to go so that a job can start. The answer is tried before it is given: those who would go
 * are taken out, the job is placed by the same code as any start, and they are put back. So nobody
 * goes for a start that would not come, and everybody who is named is needed: without any one of
 * them the job does not fit.
 *
 * Among the sets that do, the one is taken that costs least: first as few as possible of the
 * highest rank, then of the next lower one, and so on; among equals the one that loses the least
 * work. Where nodes can be looked at one by one (equal shares, or one node) that is found exactly
 * as long as a node has no more than EXACT_VICTIMS that may go; otherwise, and for shares that
 * depend on each other, by leaving out what can be left out.
 */
#include <assert.h>

#include "sched/internal.h"

#define RANK_LEVELS 8    /* ranks told apart; lower ones than the highest 8 count as one */
#define EXACT_VICTIMS 16 /* on one node */
#define EXACT_SETS 10    /* victims of which every set is tried where shares depend on each other */
#define SEARCH_STEPS 200000 /* of exact searches for one job */
#define CHOICES_PER_PASS 64 /* jobs for which others go; the rest follows in the next pass */

struct cost {
    uint32_t counts[RANK_LEVELS];
    int64_t lost; /* CPU seconds; with youngest_first seconds */
};
struct victim {
    struct run *run;
    uint32_t level;
    int64_t lost;
    bool lifted, chosen;
    bool suspends; /* gives its CPUs only */
};
struct search {
    struct sched *s;
    struct job *job;
    struct shape *shape;
    struct alternative *alt;
    vec(struct victim) victims; /* in the order in which they should go */
    vec(struct run *) leaving;  /* lifted all the time: they go anyway */
    bool later;                 /* some may go later on */
    bool crowded;               /* a node has too many victims to try every set */
    int64_t steps;
};
/* What one alternative comes to. */
struct choice {
    struct alternative *alt;
    vec(struct run *) runs; /* by rank, the highest last */
    int64_t lost;
    int64_t start;
};

/* ---- cost ---- */

static int cost_compare(const struct cost *a, const struct cost *b) {
    for (uint32_t level = RANK_LEVELS; level-- > 0;) {
        if (a->counts[level] != b->counts[level])
            return a->counts[level] < b->counts[level] ? -1 : 1;
    }
    return a->lost < b->lost ? -1 : a->lost > b->lost;
}

static void cost_add(struct cost *cost, const struct victim *victim, int sign) {
    cost->counts[victim->level] += (uint32_t) sign;
    cost->lost += sign * victim->lost;
}

static struct cost chosen_cost(const struct search *q) {
    struct cost cost = {{0}, 0};

    vec_each (&q->victims, victim) {
        if (victim->chosen)
            cost_add(&cost, victim, 1);
    }
    return cost;
}

static int64_t run_lost(const struct sched *s, const struct run *run) {
    int64_t seconds = max_of(s->now - run->start, (int64_t) 0), cpus = 0;

    if (s->preemption.youngest_first)
        return seconds;
    for (uint32_t i = 0; i < run->n; i++)
        cpus += max_of(run->amounts[(size_t) i * s->n_dims + DIM_CPU], (int64_t) 1);
    return (seconds + 1) * cpus;
}

/* ---- who may go ---- */

static enum sched_may job_may(const struct search *q, const struct run *run) {
    const struct sched_preemption *rules = &q->s->preemption;
    uint32_t who = rules->by_partition ? q->alt->partition : q->shape->preempt_class;

    if (who >= rules->n_classes || run->victim.class >= rules->n_classes)
        return SCHED_MAY_NOT;
    return rules->may[(size_t) who * rules->n_classes + run->victim.class];
}

/* Jobs of one partition take turns. */
static bool is_turn(const struct search *q, const struct run *run) {
    return q->s->preemption.by_partition && run->victim.class == q->alt->partition;
}

/* Would no more jobs share the CPUs of its nodes than may? */
static bool layer_is_left(const struct search *q, const struct run *run) {
    const struct sched *s = q->s;
    const struct partition *p = &s->partitions[q->alt->partition];

    if (!p->layers_forced && !q->shape->oversubscribe)
        return false;
    for (uint32_t i = 0; i < run->n; i++) {
        int64_t aside = run->amounts[(size_t) i * s->n_dims + DIM_CPU];
        if (run->nodes[i] == SCHED_NO_NODE)
            continue;
        vec_each (&s->nodes[run->nodes[i]].runs, hold) {
            if (hold->run->suspended)
                aside += hold->run->cpus_aside[hold->slot];
        }
        if (aside > (int64_t) (p->layers - 1) * node_total(s, run->nodes[i])[DIM_CPU])
            return false;
    }
    return true;
}

static bool run_may_go(struct search *q, const struct run *run) {
    const struct sched_victim *rules = &run->victim;
    bool turn = is_turn(q, run);
    int64_t eligible = turn ? rules->slice_end : rules->eligible;

    /* Who is in a reservation is safe from those who are not. */
    if ((rules->mode == SCHED_VICTIM_NEVER && !turn) || run->tentative ||
        (run->reservation && run->reservation != q->alt->reservation) ||
        ((rules->mode == SCHED_VICTIM_SUSPENDS || turn) && run->suspended))
        return false;
    enum sched_may may = job_may(q, run);
    if (may == SCHED_MAY_NOT || (may == SCHED_MAY_IF_ABOVE && q->job->priority <= rules->priority))
        return false;
    if (eligible == SCHED_FOREVER || (turn && eligible == 0) || (turn && !layer_is_left(q, run)))
        return false;
    if (eligible > q->s->now) {
        q->s->preempt_wake = min_of(q->s->preempt_wake, eligible);
        q->later = true;
        return false;
    }
    return true;
}

static bool run_goes(const struct sched *s, const struct run *run) {
    if (run->chosen_pass == s->pass)
        return run->chosen_ends;
    return run->leaving && s->now < time_after(run->end, s->preemption.patience);
}

static void search_see(struct search *q, struct run *run) {
    struct sched *s = q->s;

    if (run->seen == s->preempt_mark)
        return;
    run->seen = s->preempt_mark;
    run->as_victim = NULL;
    if (run_goes(s, run)) {
        vec_push(&q->leaving, run);
    } else if (!run->leaving && run->chosen_pass != s->pass && run_may_go(q, run)) {
        struct victim *victim = vec_add(&q->victims);
        victim->run = run;
        victim->lost = run_lost(s, run);
        victim->suspends = run->victim.mode == SCHED_VICTIM_SUSPENDS || is_turn(q, run);
    }
}

static bool reclaims(const struct search *q) {
    return q->s->preemption.reclaim_licenses && q->shape->n_licenses > 0;
}

static int victim_compare(const void *a, const void *b) {
    const struct victim *x = a, *y = b;

    if (x->run->victim.rank != y->run->victim.rank)
        return x->run->victim.rank < y->run->victim.rank ? -1 : 1;
    if (x->lost != y->lost)
        return x->lost < y->lost ? -1 : 1;
    return x->run->job_id > y->run->job_id ? -1 : x->run->job_id < y->run->job_id;
}

/* Sorted; the highest ranks have levels of their own. */
static void victims_rank(struct search *q) {
    uint32_t ranks = 0, rank = 0;

    sort_items(q->victims.items, q->victims.n, sizeof(*q->victims.items), victim_compare);
    for (size_t i = 0; i < q->victims.n; i++) {
        struct victim *victim = &q->victims.items[i];
        ranks += i == 0 || victim->run->victim.rank != victim[-1].run->victim.rank;
        victim->run->as_victim = victim;
    }
    for (size_t i = 0; i < q->victims.n; i++) {
        struct victim *victim = &q->victims.items[i];
        rank += i == 0 || victim->run->victim.rank != victim[-1].run->victim.rank;
        uint32_t from_top = ranks - rank;
        victim->level = from_top < RANK_LEVELS ? RANK_LEVELS - 1 - from_top : 0;
    }
}

static void search_gather(struct search *q) {
    struct sched *s = q->s;

    s->preempt_mark++;
    bits_each (&q->alt->set->nodes, node) {
        if (!s->nodes[node].usable)
            continue;
        vec_each (&s->nodes[node].runs, hold) {
            search_see(q, hold->run);
        }
    }
    for (size_t i = 0; reclaims(q) && i < s->licensed.n; i++)
        search_see(q, s->licensed.items[i]);
    victims_rank(q);
}

/* ---- taking out and putting back ---- */

static void victim_lift(struct search *q, struct victim *victim) {
    if (victim->lifted)
        return;
    victim->lifted = true;
    if (victim->suspends)
        run_swap_cpus(q->s, victim->run);
    else
        run_lift(q->s, victim->run, reclaims(q));
}

static void victim_put(struct search *q, struct victim *victim) {
    if (!victim->lifted)
        return;
    victim->lifted = false;
    if (victim->suspends)
        run_swap_cpus(q->s, victim->run);
    else
        run_put(q->s, victim->run, reclaims(q));
}

static void leaving_lift(struct search *q) {
    vec_each (&q->leaving, run) {
        run_lift(q->s, *run, true);
    }
}

static void search_done(struct search *q) {
    for (size_t i = q->victims.n; i-- > 0;)
        victim_put(q, &q->victims.items[i]);
    for (size_t i = q->leaving.n; i-- > 0;)
        run_put(q->s, q->leaving.items[i], true);
    vec_done(&q->victims);
    vec_done(&q->leaving);
}

static void lift_chosen(struct search *q) {
    vec_each (&q->victims, victim) {
        if (victim->chosen)
            victim_lift(q, victim);
        else
            victim_put(q, victim);
    }
}

static bool search_fits(struct search *q) {
    struct sched *s = q->s;

    s->candidates++;
    if (q->shape->n_licenses &&
        !licenses_free_at(s, q->shape, q->alt, s->now, time_after(s->now, q->alt->limit)))
        return false;
    return place_now(s, q->shape, q->alt, q->alt->limit, &s->placement);
}

/* Leaves out whoever can be left out, those that should stay most first. In: the chosen are lifted
 * and the job fits. */
static void search_spare(struct search *q) {
    for (size_t i = q->victims.n; i-- > 0;) {
        struct victim *victim = &q->victims.items[i];

        if (!victim->chosen)
            continue;
        victim_put(q, victim);
        if (search_fits(q))
            victim->chosen = false;
        else
            victim_lift(q, victim);
    }
}

/* ---- every set ---- */

static void sets_try(struct search *q, size_t i, struct cost *cost, struct cost *best,
                     uint32_t taken, uint32_t *ret_set) {
    if (cost_compare(cost, best) >= 0 || q->steps <= 0)
        return;
    q->steps -= 100;
    if (search_fits(q)) {
        *best = *cost;
        *ret_set = taken;
        return;
    }
    for (; i < q->victims.n; i++) {
        struct victim *victim = &q->victims.items[i];
        victim_lift(q, victim);
        cost_add(cost, victim, 1);
        sets_try(q, i + 1, cost, best, taken | 1u << i, ret_set);
        cost_add(cost, victim, -1);
        victim_put(q, victim);
    }
}

/* Few enough to try every set that is cheaper than the one found. */
static void choose_exactly(struct search *q) {
    struct cost best = chosen_cost(q), cost = {{0}, 0};
    uint32_t set = 0;

    if (q->victims.n > EXACT_SETS)
        return;
    for (size_t i = 0; i < q->victims.n; i++) {
        set |= q->victims.items[i].chosen ? 1u << i : 0;
        victim_put(q, &q->victims.items[i]);
    }
    sets_try(q, 0, &cost, &best, 0, &set);
    for (size_t i = 0; i < q->victims.n; i++)
        q->victims.items[i].chosen = set >> i & 1;
    lift_chosen(q);
}

/* ---- node by node ---- */

/* The cheapest set on one node, besides those that are chosen already. */
struct node_choice {
    const int64_t *need;
    int64_t have[MAX_DIMS];
    struct victim *victims[EXACT_VICTIMS + 1];
    const int64_t *gains[EXACT_VICTIMS + 1];
    int64_t left[EXACT_VICTIMS + 2][MAX_DIMS]; /* what those from i on can give */
    uint32_t n;
    uint32_t taken, best; /* sets, as bits */
    struct cost cost, best_cost;
    bool found;
};

static bool choice_covers(const struct search *q, const struct node_choice *c, uint32_t node,
                          const int64_t *more) {
    const struct sched *s = q->s;
    const int64_t *total = node_total(s, node);

    for (uint32_t d = 0; d < s->n_dims; d++) {
        int64_t have = c->have[d] + (more ? more[d] : 0);
        if (have < c->need[d] || (q->alt->exclusive && d < s->n_base && have < total[d]))
            return false;
    }
    return true;
}

static void gain_add(const struct search *q, const struct victim *victim, const int64_t *gain,
                     int sign, int64_t *have) {
    for (uint32_t d = 0; d < (victim->suspends ? DIM_CPU + 1 : q->s->n_dims); d++)
        have[d] += sign * gain[d];
}

static void choice_search(struct search *q, struct node_choice *c, uint32_t node, uint32_t i) {
    if (c->found && cost_compare(&c->cost, &c->best_cost) >= 0)
        return;
    if (choice_covers(q, c, node, NULL)) {
        c->found = true;
        c->best = c->taken;
        c->best_cost = c->cost;
        return;
    }
    if (i == c->n || !choice_covers(q, c, node, c->left[i]) || (c->found && q->steps <= 0))
        return;
    q->steps--;
    gain_add(q, c->victims[i], c->gains[i], 1, c->have);
    cost_add(&c->cost, c->victims[i], 1);
    c->taken |= 1u << i;
    choice_search(q, c, node, i + 1);
    c->taken &= ~(1u << i);
    cost_add(&c->cost, c->victims[i], -1);
    gain_add(q, c->victims[i], c->gains[i], -1, c->have);
    choice_search(q, c, node, i + 1);
}

static int choice_order(const void *a, const void *b) {
    const struct victim *const *x = a, *const *y = b;
    return *x < *y ? -1 : *x > *y; /* their order in the list */
}

static struct victim *hold_victim(const struct sched *s, const struct hold *hold) {
    return hold->run->seen == s->preempt_mark ? hold->run->as_victim : NULL;
}

static const int64_t *hold_gain(const struct sched *s, const struct hold *hold) {
    return hold->run->amounts + (size_t) hold->slot * s->n_dims;
}

/* What the job may count on at an instant while every victim stays, also one that ends before. */
static void have_then(const struct search *q, uint32_t node, int64_t when, int64_t *have) {
    const struct sched *s = q->s;
    int64_t then[MAX_DIMS];

    node_window_of(s, q->alt, node, when, when + 1, then);
    vec_each (&s->nodes[node].runs, hold) {
        const struct victim *victim = hold_victim(s, hold);
        if (victim && when > s->now && hold->end <= when)
            gain_add(q, victim, hold_gain(s, hold), -1, then);
    }
    for (uint32_t d = 0; d < s->n_dims; d++)
        have[d] = min_of(have[d], then[d]);
}

/* The least of it until the job would end. Lifting a victim adds the same at any time. */
static void have_with_victims(const struct search *q, uint32_t node, int64_t *have) {
    const struct sched *s = q->s;
    int64_t end = time_after(s->now, q->alt->limit), when = s->now;

    node_window_of(s, q->alt, node, when, when + 1, have);
    vec_each (&s->nodes[node].plans, planned) {
        int64_t start = planned->plan->start;
        if (start > s->now && start < end)
            have_then(q, node, start, have);
    }
    while ((when = calendar_next(s, q->alt, node, when)) < end)
        have_then(q, node, when, have);
}

/* False: too many to look at, or they are not enough. */
static bool choice_make(struct search *q, struct node_choice *c, uint32_t node,
                        const int64_t *need) {
    struct sched *s = q->s;

    c->need = need;
    c->n = c->taken = 0;
    c->cost = (struct cost) {{0}, 0};
    c->found = false;
    have_with_victims(q, node, c->have);
    vec_each (&s->nodes[node].runs, hold) {
        struct victim *victim = hold_victim(s, hold);
        const int64_t *gain = hold_gain(s, hold);
        if (!victim)
            continue;
        if (victim->chosen) { /* for another node: goes anyway */
            gain_add(q, victim, gain, 1, c->have);
            continue;
        }
        if (c->n == EXACT_VICTIMS) {
            q->crowded = true;
            return false;
        }
        c->victims[c->n++] = victim;
    }
    sort_items(c->victims, c->n, sizeof(*c->victims), choice_order);
    memset(c->left[c->n], 0, sizeof(c->left[0]));
    for (uint32_t i = c->n; i-- > 0;) {
        const struct run *run = c->victims[i]->run;
        for (uint32_t k = 0; k < run->n; k++) {
            if (run->nodes[k] == node)
                c->gains[i] = run->amounts + (size_t) k * s->n_dims;
        }
        memcpy(c->left[i], c->left[i + 1], sizeof(c->left[i]));
        gain_add(q, c->victims[i], c->gains[i], 1, c->left[i]);
    }
    choice_search(q, c, node, 0);
    return c->found;
}

struct node_cost {
    uint32_t node;
    bool possible, taken, stale;
    struct cost cost;
};

static const int64_t *search_need(struct search *q, bool one, uint32_t node) {
    uint32_t hardware = q->s->nodes[node].hardware;

    return one ? need_one(q->s, q->shape, q->alt, hardware)
               : need_each(q->s, q->shape, q->alt, hardware);
}

static void node_cost_make(struct search *q, bool one, struct node_cost *cost,
                           struct node_choice *scratch) {
    const int64_t *need = search_need(q, one, cost->node);

    cost->stale = false;
    cost->possible = need && choice_make(q, scratch, cost->node, need);
    if (cost->possible)
        cost->cost = scratch->best_cost;
}

/* Marks who goes for one more node; the costs of the other nodes where they are fall. */
static void node_take(struct search *q, bool one, struct node_cost *costs, size_t n,
                      struct node_cost *best, struct node_choice *scratch) {
    node_cost_make(q, one, best, scratch);
    best->taken = true;
    for (uint32_t i = 0; i < scratch->n; i++) {
        if (!(scratch->best >> i & 1))
            continue;
        const struct run *run = scratch->victims[i]->run;
        scratch->victims[i]->chosen = true;
        for (size_t k = 0; run->n > 1 && k < n; k++) {
            for (uint32_t slot = 0; slot < run->n; slot++)
                costs[k].stale = costs[k].stale || run->nodes[slot] == costs[k].node;
        }
    }
}

static uint32_t nodes_wanted(const struct search *q, bool one) {
    uint32_t n = one ? 1 : max_of(q->alt->min_nodes, 1u);

    while (n < q->alt->max_nodes && !shape_count_allowed(q->shape, n))
        n++;
    return n;
}

/* Chooses the cheapest nodes. In: the victims are in place. */
static bool choose_by_node(struct search *q, bool one) {
    struct sched *s = q->s;
    struct node_cost *costs = xcalloc(s->n_nodes + 1, sizeof(*costs));
    struct node_choice *scratch = zalloc(struct node_choice);
    uint32_t wanted = nodes_wanted(q, one), taken = 0;
    size_t n = 0;

    bits_each (&q->alt->set->nodes, node) {
        if (s->nodes[node].usable)
            costs[n++] = (struct node_cost) {.node = node, .stale = true};
    }
    for (; taken < wanted; taken++) {
        struct node_cost *best = NULL;
        for (size_t i = 0; i < n; i++) {
            if (!costs[i].taken && costs[i].stale)
                node_cost_make(q, one, &costs[i], scratch);
            if (!costs[i].taken && costs[i].possible &&
                (!best || cost_compare(&costs[i].cost, &best->cost) < 0))
                best = &costs[i];
        }
        if (!best)
            break;
        node_take(q, one, costs, n, best, scratch);
    }
    free(scratch);
    free(costs);
    if (taken < wanted)
        return false;
    lift_chosen(q);
    if (!search_fits(q))
        return false;
    search_spare(q);
    if (wanted > 1)
        choose_exactly(q); /* one victim may be on several of the nodes */
    return true;
}

/* ---- shares that depend on each other ---- */

/* Only those matter that are where the job would go, or hold its licences. */
static void choose_those_in_the_way(struct search *q) {
    const struct placement *placement = &q->s->placement;

    for (size_t i = 0; i < q->victims.n; i++) {
        struct victim *victim = &q->victims.items[i];
        bool there = reclaims(q) && victim->run->n_licenses > 0;
        for (uint32_t k = 0; victim->chosen && !there && k < victim->run->n; k++) {
            vec_each (&placement->picks, pick) {
                there = there || pick->node == victim->run->nodes[k];
            }
        }
        victim->chosen = victim->chosen && there;
    }
}

/* The cheapest first, as many as it takes. In: the victims are in place. */
static bool choose_in_order(struct search *q) {
    size_t low = 0, high = q->victims.n; /* fits with the first `high`, not with `low` */

    vec_each (&q->victims, victim) {
        victim->chosen = true;
    }
    lift_chosen(q);
    if (!search_fits(q))
        return false;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        for (size_t i = 0; i < q->victims.n; i++)
            q->victims.items[i].chosen = i < middle;
        lift_chosen(q);
        if (search_fits(q))
            high = middle;
        else
            low = middle;
    }
    for (size_t i = 0; i < q->victims.n; i++)
        q->victims.items[i].chosen = i < high;
    lift_chosen(q);
    if (!search_fits(q))
        return false;
    choose_those_in_the_way(q);
    lift_chosen(q);
    if (!search_fits(q)) { /* the selection went elsewhere without them */
        for (size_t i = 0; i < high; i++)
            q->victims.items[i].chosen = true;
        lift_chosen(q);
    }
    search_spare(q);
    choose_exactly(q);
    return true;
}

/* ---- one alternative ---- */

/* Does it cost less than what was found for another alternative? The levels of a search are its
 * own, so ranks are compared: from the highest on, both lists have them in order. */
static bool chosen_is_better(const struct search *q, const struct choice *best) {
    size_t left = best->runs.n;

    for (size_t i = q->victims.n; i-- > 0;) {
        const struct victim *victim = &q->victims.items[i];
        if (!victim->chosen)
            continue;
        if (left-- == 0)
            return false;
        uint32_t rank = victim->run->victim.rank, other = best->runs.items[left]->victim.rank;
        if (rank != other)
            return rank < other;
    }
    return left > 0 || chosen_cost(q).lost < best->lost;
}

static void choice_keep(struct search *q, struct choice *best) {
    struct sched *s = q->s;

    if (best->alt && !chosen_is_better(q, best))
        return;
    if (!search_fits(q)) /* makes the placement of just these */
        return;
    best->alt = q->alt;
    best->lost = chosen_cost(q).lost;
    best->start = s->now + 1;
    vec_reset(&best->runs);
    vec_each (&q->victims, victim) {
        if (!victim->chosen)
            continue;
        vec_push(&best->runs, victim->run);
        victim->run->chosen_ends = !victim->suspends;
        if (!victim->suspends)
            best->start = max_of(best->start, time_after(s->now, victim->run->victim.grace));
    }
    vec_each (&q->leaving, run) {
        int64_t end = (*run)->leaving ? (*run)->end : time_after(s->now, (*run)->victim.grace);
        best->start = max_of(best->start, end);
    }
    placement_swap(&s->placement, &s->best);
}

static void victims_reset(struct search *q) {
    vec_each (&q->victims, victim) {
        victim->chosen = false;
        victim_put(q, victim);
    }
}

static void alternative_try(struct search *q, struct choice *best) {
    struct shape *shape = q->shape;
    struct alternative *alt = q->alt;
    bool simple = shape->n_req_nodes == 0 && alt->n_groups == 0 && !shape->contiguous &&
                  alternative_is_plain(q->s, shape, alt) && !reclaims(q) && !alt->reservation &&
                  !shape->max_switches;
    bool fixed = shape_is_fixed(shape, alt);

    leaving_lift(q);
    /* Those who go anyway make room enough: nobody else has to. */
    if (search_fits(q))
        return;
    if (simple && (fixed || shape_one_node(shape, alt)) && choose_by_node(q, !fixed))
        choice_keep(q, best);
    victims_reset(q);
    if (fixed && simple && !q->crowded)
        return; /* that was all there is */
    if (choose_in_order(q))
        choice_keep(q, best);
}

/* ---- a job ---- */

/* Nothing that could change the answer has happened since it was no. */
static bool known_hopeless(const struct sched *s, const struct shape *shape) {
    return !s->naive && shape->no_victims == s->release_version;
}

static void choice_report(struct sched *s, const struct job *job, const struct choice *best,
                          struct sched_plan *plan) {
    struct sched_preempt *preempt = vec_add(&s->preempts);

    preempt->job_id = job->job_id;
    preempt->partition = best->alt->partition;
    preempt->n_victims = best->runs.n;
    preempt->victims = arena_alloc(plan->memory, (best->runs.n + 1) * sizeof(uint32_t));
    for (size_t i = 0; i < best->runs.n; i++) {
        preempt->victims[i] = best->runs.items[i]->job_id;
        best->runs.items[i]->chosen_pass = s->pass;
    }
}

static bool alternative_is_open(const struct sched *s, const struct alternative *alt) {
    return !alt->reason && !alternative_pool(s, alt)->blocked;
}

bool preempt_try(struct sched *s, struct job *job, struct sched_plan *plan) {
    struct shape *shape = job->shape;
    struct choice best = {0};
    bool sure = !s->any_if_above;

    if (job->preempting || known_hopeless(s, shape) || s->preempts.n >= CHOICES_PER_PASS)
        return false;
    for (size_t i = 0; i < shape->n_alternatives; i++) {
        struct search q = {.s = s,
                           .job = job,
                           .shape = shape,
                           .alt = &shape->alternatives[i],
                           .steps = SEARCH_STEPS};
        if (!alternative_is_open(s, q.alt)) {
            sure = sure && q.alt->reason != 0;
            continue;
        }
        search_gather(&q);
        sure = sure && !q.later && q.leaving.n == 0;
        if (q.victims.n > 0)
            alternative_try(&q, &best);
        else
            vec_reset(&q.leaving);
        search_done(&q);
    }
    if (best.alt) {
        choice_report(s, job, &best, plan);
        plan_add(s, job, best.alt, best.start, &s->best)->pinned = true;
    } else if (sure) {
        shape->no_victims = s->release_version;
    }
    vec_done(&best.runs);
    return best.alt != NULL;
}

void preempt_pass_end(struct sched *s, struct sched_plan *plan) {
    plan->n_preempts = s->preempts.n;
    plan->preempts = arena_alloc(plan->memory, (s->preempts.n + 1) * sizeof(*plan->preempts));
    if (s->preempts.n > 0)
        memcpy(plan->preempts, s->preempts.items, s->preempts.n * sizeof(*plan->preempts));
    for (size_t i = 0; i < s->preempts.n; i++)
        sched_job_preempting(s, s->preempts.items[i].job_id, true);
    if (s->preempts.n >= CHOICES_PER_PASS)
        sched_touched(s);
    vec_reset(&s->preempts);
}
