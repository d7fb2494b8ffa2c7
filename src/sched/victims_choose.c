/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which victims go (victims.h). Where nodes can be looked at one by one, the cheapest set of each
 * node is found, exactly as long as it has no more than EXACT_VICTIMS, and the cheapest nodes are
 * taken. For shares that depend on each other the cheapest victims are taken until the job fits,
 * and then whoever can be left out is.
 */
#include "sched/victims.h"

#define EXACT_VICTIMS 16 /* on one node */
#define EXACT_SETS 10    /* victims of which every set is tried where shares depend on each other */

/* Leaves out whoever can be left out, those that should stay most first. In: the chosen are lifted
 * and the job fits. */
static void victims_spare(struct victim_search *q) {
    for (size_t i = q->victims.n; i-- > 0;) {
        struct victim *victim = &q->victims.items[i];

        if (!victim->chosen)
            continue;
        victim_put(q, victim);
        if (victims_suffice(q))
            victim->chosen = false;
        else
            victim_lift(q, victim);
    }
}

/* ---- every set ---- */

static void sets_try(struct victim_search *q, size_t i, struct cost *cost, struct cost *best,
                     uint32_t taken, uint32_t *ret_set) {
    if (cost_compare(cost, best) >= 0 || q->steps <= 0)
        return;
    q->steps -= 100;
    if (victims_suffice(q)) {
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
static void choose_exactly(struct victim_search *q) {
    struct cost best = victims_cost(q), cost = {{0}, 0};
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
    victims_lift_chosen(q);
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

static bool choice_covers(const struct victim_search *q, const struct node_choice *c, uint32_t node,
                          const int64_t *more) {
    const struct sched *s = q->s;
    const int64_t *total = node_total(s, node);
    int64_t have[MAX_DIMS];

    for (uint32_t d = 0; d < s->n_dims; d++)
        have[d] = c->have[d] + (more ? more[d] : 0);
    if (s->nodes[node].cards)
        have_sum(s, node, have);
    for (uint32_t d = 0; d < s->n_dims; d++) {
        if (have[d] < c->need[d] || (q->alt->exclusive && d < s->n_base && have[d] < total[d]))
            return false;
    }
    return true;
}

static void gain_add(const struct victim_search *q, const struct victim *victim,
                     const int64_t *gain, int sign, int64_t *have) {
    for (uint32_t d = 0; d < (victim->suspends ? DIM_CPU + 1 : q->s->n_dims); d++)
        have[d] += sign * gain[d];
}

static void choice_search(struct victim_search *q, struct node_choice *c, uint32_t node,
                          uint32_t i) {
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

static const int64_t *hold_gain(const struct sched *s, const struct hold *hold) {
    return hold->run->amounts + (size_t) hold->slot * s->n_dims;
}

/* What the job may count on at an instant while every victim stays, also one that ends before. */
static void have_then(const struct victim_search *q, uint32_t node, int64_t when, int64_t *have) {
    const struct sched *s = q->s;
    int64_t then[MAX_DIMS];

    node_window_of(s, q->alt, node, when, when + 1, then);
    vec_each (&s->nodes[node].runs, hold) {
        const struct victim *victim = hold->run->as_victim;
        if (victim && when > s->now && hold->end <= when)
            gain_add(q, victim, hold_gain(s, hold), -1, then);
    }
    for (uint32_t d = 0; d < s->n_dims; d++)
        have[d] = min_of(have[d], then[d]);
}

/* The least of it until the job would end. Lifting a victim adds the same at any time. */
static void have_with_victims(const struct victim_search *q, uint32_t node, int64_t *have) {
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
static bool choice_make(struct victim_search *q, struct node_choice *c, uint32_t node,
                        const int64_t *need) {
    struct sched *s = q->s;

    c->need = need;
    c->n = c->taken = 0;
    c->cost = (struct cost) {{0}, 0};
    c->found = false;
    have_with_victims(q, node, c->have);
    vec_each (&s->nodes[node].runs, hold) {
        struct victim *victim = hold->run->as_victim;
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

static const int64_t *search_need(struct victim_search *q, bool one, uint32_t node) {
    uint32_t hardware = q->s->nodes[node].hardware;

    return one ? need_one(q->s, q->shape, q->alt, hardware)
               : need_each(q->s, q->shape, q->alt, hardware);
}

static void node_cost_make(struct victim_search *q, bool one, struct node_cost *cost,
                           struct node_choice *scratch) {
    const int64_t *need = search_need(q, one, cost->node);

    cost->stale = false;
    cost->possible = need && choice_make(q, scratch, cost->node, need);
    if (cost->possible)
        cost->cost = scratch->best_cost;
}

/* Marks who goes for one more node; the costs of the other nodes where they are fall. */
static void cheapest_take(struct victim_search *q, bool one, struct node_cost *costs, size_t n,
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

static uint32_t nodes_wanted(const struct victim_search *q, bool one) {
    uint32_t n = one ? 1 : max_of(q->alt->min_nodes, 1u);

    while (n < q->alt->max_nodes && !shape_count_allowed(q->shape, n))
        n++;
    return n;
}

/* Chooses the cheapest nodes. In: the victims are in place. */
bool victims_choose_by_node(struct victim_search *q, bool one) {
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
        cheapest_take(q, one, costs, n, best, scratch);
    }
    free(scratch);
    free(costs);
    if (taken < wanted)
        return false;
    victims_lift_chosen(q);
    if (!victims_suffice(q))
        return false;
    victims_spare(q);
    if (wanted > 1)
        choose_exactly(q); /* one victim may be on several of the nodes */
    return true;
}

/* ---- shares that depend on each other ---- */

/* Only those matter that are where the job would go, or hold its licences. */
static void choose_those_in_the_way(struct victim_search *q) {
    const struct placement *placement = &q->s->placement;

    for (size_t i = 0; i < q->victims.n; i++) {
        struct victim *victim = &q->victims.items[i];
        bool there = victims_reclaim(q) && victim->run->n_licenses > 0;
        for (uint32_t k = 0; victim->chosen && !there && k < victim->run->n; k++) {
            vec_each (&placement->picks, pick) {
                there = there || pick->node == victim->run->nodes[k];
            }
        }
        victim->chosen = victim->chosen && there;
    }
}

/* The cheapest first, as many as it takes. In: the victims are in place. */
bool victims_choose_in_order(struct victim_search *q) {
    size_t low = 0, high = q->victims.n; /* fits with the first `high`, not with `low` */

    vec_each (&q->victims, victim) {
        victim->chosen = true;
    }
    victims_lift_chosen(q);
    if (!victims_suffice(q))
        return false;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        for (size_t i = 0; i < q->victims.n; i++)
            q->victims.items[i].chosen = i < middle;
        victims_lift_chosen(q);
        if (victims_suffice(q))
            high = middle;
        else
            low = middle;
    }
    for (size_t i = 0; i < q->victims.n; i++)
        q->victims.items[i].chosen = i < high;
    victims_lift_chosen(q);
    if (!victims_suffice(q))
        return false;
    choose_those_in_the_way(q);
    victims_lift_chosen(q);
    if (!victims_suffice(q)) { /* the selection went elsewhere without them */
        for (size_t i = 0; i < high; i++)
            q->victims.items[i].chosen = true;
        victims_lift_chosen(q);
    }
    victims_spare(q);
    choose_exactly(q);
    return true;
}
