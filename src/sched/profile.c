/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The future: what is free on a node over a span of time, plans, and the earliest start of a
 * request.
 *
 * Free amounts only grow as jobs end and only shrink where a plan begins, so the minimum over a
 * span is at its start or at the start of a plan within it. A job that holds its nodes past its end
 * is expected to leave in the next second. Windows of reservations are further instants to look at
 * (calendar.c).
 */
#include <assert.h>

#include "sched/internal.h"

static void subtract_plans(const struct sched *s, const struct alternative *alt,
                           const struct node *node, int64_t when, int64_t *have) {
    vec_each (&node->plans, hold) {
        const struct plan *plan = hold->plan;
        bool unseen = alt && alt->blind && plan->alt->reservation; /* it would not be without one */
        if (!plan_is_there(plan, when) || unseen)
            continue;
        const int64_t *amount = plan->amounts + (size_t) hold->slot * s->n_dims;
        for (uint32_t d = 0; d < s->n_base; d++)
            have[d] -= amount[d];
    }
}

static void free_at(const struct sched *s, const struct alternative *alt, uint32_t i, int64_t when,
                    int64_t *have) {
    const struct node *node = &s->nodes[i];

    memcpy(have, node_free(s, i), s->n_dims * sizeof(*have));
    for (size_t r = 0; when > s->now && r < node->runs.n && node->runs.items[r].end <= when; r++) {
        const struct hold *hold = &node->runs.items[r];
        const int64_t *amount = hold->run->amounts + (size_t) hold->slot * s->n_dims;
        for (uint32_t d = 0; d < s->n_base; d++)
            have[d] += amount[d];
    }
    subtract_plans(s, alt, node, when, have);
    if (alt && (node->reserved.n > 0 || alt->reservation))
        calendar_subtract(s, alt, i, when, have);
}

/* The least of `have` and what is free at an instant. */
static void least_at(const struct sched *s, const struct alternative *alt, uint32_t i, int64_t when,
                     int64_t *have) {
    int64_t then[MAX_DIMS];

    free_at(s, alt, i, when, then);
    for (uint32_t d = 0; d < s->n_base; d++)
        have[d] = min_of(have[d], then[d]);
}

void node_window_of(const struct sched *s, const struct alternative *alt, uint32_t i, int64_t start,
                    int64_t end, int64_t *have) {
    const struct node *node = &s->nodes[i];

    free_at(s, alt, i, start, have);
    vec_each (&node->plans, hold) {
        int64_t when = hold->plan->start;
        if (when > start && when < end)
            least_at(s, alt, i, when, have);
    }
    int64_t when = alt ? calendar_next(s, alt, i, start) : SCHED_FOREVER;
    for (; when < end; when = calendar_next(s, alt, i, when))
        least_at(s, alt, i, when, have);
    have_sum(s, i, have);
}

void node_window(const struct sched *s, uint32_t i, int64_t start, int64_t end, int64_t *have) {
    node_window_of(s, NULL, i, start, end, have);
}

/* ---- plans ---- */

static void pool_bounds(struct pool *pool) {
    pool->first_start = SCHED_FOREVER;
    pool->last_start = 0;
    vec_each (&pool->plans, plan) {
        pool->first_start = min_of(pool->first_start, (*plan)->start);
        pool->last_start = max_of(pool->last_start, (*plan)->start);
    }
}

struct plan *plan_add(struct sched *s, struct job *job, const struct alternative *alt,
                      int64_t start, const struct placement *placement) {
    struct plan *plan = zalloc(struct plan);

    plan->job = job;
    plan->alt = alt;
    plan->start = start;
    plan->end = time_after(start, alt->limit);
    plan->version = s->release_version;
    plan->n = placement->picks.n;
    plan->nodes = xcalloc(plan->n + 1, sizeof(*plan->nodes));
    plan->amounts =
        xmemdup(placement->amounts.items, placement->amounts.n * sizeof(*plan->amounts));
    for (uint32_t i = 0; i < plan->n; i++) {
        int64_t *amount = plan->amounts + (size_t) i * s->n_dims;
        uint32_t node = placement->picks.items[i].node;

        plan->nodes[i] = node;
        if (alt->exclusive)
            memcpy(amount, node_total(s, node), s->n_dims * sizeof(*amount));
        if (!s->settings.mem_consumable)
            amount[DIM_MEM] = 0;
    }
    plan->spent = alt->n_uses ? xcalloc(alt->n_uses, sizeof(*plan->spent)) : NULL;
    for (size_t i = 0; i < alt->n_uses; i++)
        plan->spent[i] = budget_amount(s, &alt->uses[i], plan->amounts, plan->n);
    plan_attach(s, plan);
    return plan;
}

void plan_attach(struct sched *s, struct plan *plan) {
    struct pool *pool = alternative_pool(s, plan->alt);

    for (uint32_t i = 0; i < plan->n; i++) {
        uint32_t node = plan->nodes[i];

        vec_push(&s->nodes[node].plans, ((struct plan_hold) {plan, i}));
        bits_set(&s->planned, node);
        node_changed(s, node);
    }
    vec_push(&pool->plans, plan);
    plan_spend(s, plan);
    pool_bounds(pool);
    plan->job->plan = plan;
    plan->seen = s->log.seen = s->log.end;
    /* Who shares a node with whom matters before the job runs, too. */
    s->any_user_only = s->any_user_only || plan->job->shape->user_only;
}

void plan_confirm(struct sched *s, struct plan *plan) {
    if (plan->old)
        alternative_pool(s, plan->alt)->n_old--;
    plan->old = false;
    *calendar_quota(s, plan->alt) += !plan->pinned;
}

void plan_free(struct plan *plan) {
    free(plan->nodes);
    free(plan->amounts);
    free(plan->spent);
    free(plan);
}

void plan_remove(struct sched *s, struct plan *plan) {
    plan_detach(s, plan);
    plan_free(plan);
}

void plan_detach(struct sched *s, struct plan *plan) {
    struct pool *pool = alternative_pool(s, plan->alt);
    uint32_t *kept = calendar_quota(s, plan->alt);

    for (uint32_t i = 0; i < plan->n; i++) {
        struct node *node = &s->nodes[plan->nodes[i]];
        for (size_t k = 0; k < node->plans.n; k++) {
            if (node->plans.items[k].plan == plan) {
                vec_remove(&node->plans, k);
                break;
            }
        }
        if (node->plans.n == 0)
            bits_unset(&s->planned, plan->nodes[i]);
        node_changed(s, plan->nodes[i]);
    }
    for (size_t i = 0; i < pool->plans.n; i++) {
        if (pool->plans.items[i] == plan) {
            vec_remove(&pool->plans, i);
            break;
        }
    }
    plan_unspend(s, plan);
    if (plan->old)
        pool->n_old--;
    else if (!plan->pinned)
        *kept -= *kept > 0;
    pool_bounds(pool);
    plan->job->plan = NULL;
    plan->old = false;
}

void plans_clear(struct sched *s) {
    for (uint32_t p = 0; p < s->n_pools; p++) {
        while (s->pools[p].plans.n > 0)
            plan_remove(s, s->pools[p].plans.items[0]);
    }
}

/* ---- the earliest start ---- */

struct search {
    struct sched *s;
    struct shape *shape;
    struct alternative *alt;
    bool fixed, plain;
    int64_t from;     /* its budgets are spent before */
    int64_t until;    /* instants after it are left out */
    uint32_t goal;    /* tasks or GRES to spread; 0 = none, or too many to count one by one */
    uint32_t n_nodes; /* that can take a share now */
    uint64_t tasks, units;
    uint32_t fullest; /* with a wish for few leaves: the most nodes that one leaf has had */
};

static struct search search_init(struct sched *s, struct shape *shape, struct alternative *alt) {
    uint32_t goal = spread_goal(shape, alt);

    return (struct search) {.s = s,
                            .shape = shape,
                            .alt = alt,
                            .fixed = shape_is_fixed(shape, alt),
                            .plain = alternative_is_plain(s, shape, alt),
                            .from = max_of(s->not_before, budget_from(s, alt)),
                            .until = SCHED_FOREVER,
                            .goal = goal > COUNTED_GOAL ? 0 : goal};
}

static void search_have(struct search *q, uint32_t node, const int64_t *have, struct step *step) {
    struct share share = node_share(q->s, q->shape, q->alt, node, have);

    step->tasks = share.tasks;
    step->units = share.units;
}

/* Without plans what is free only grows: one walk over the ends. */
static void steps_of_free_node(struct search *q, uint32_t i) {
    struct sched *s = q->s;
    const struct node *node = &s->nodes[i];
    struct step step = {s->now, i, 0, 0}, last = {0};
    int64_t have[MAX_DIMS];

    if (!need_each(s, q->shape, q->alt, node->hardware))
        return;
    memcpy(have, node_free(s, i), s->n_dims * sizeof(*have));
    for (size_t r = 0;; r++) {
        bool more = r < node->runs.n;
        /* Several ends at one time are one step. */
        if (!more || r == 0 || max_of(node->runs.items[r].end, s->now + 1) > step.time) {
            if (s->n_dims > s->n_base)
                have_sum(s, i, have);
            search_have(q, i, have, &step);
            if (step.tasks > last.tasks || step.units > last.units) {
                vec_push(&s->steps, step);
                last = step;
            }
            if (!more || (q->fixed && last.tasks))
                return;
        }
        const struct hold *hold = &node->runs.items[r];
        if (hold->end > q->until)
            return;
        const int64_t *amount = hold->run->amounts + (size_t) hold->slot * s->n_dims;
        for (uint32_t d = 0; d < s->n_base; d++)
            have[d] += amount[d];
        step.time = max_of(hold->end, s->now + 1);
    }
}

static int time_compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;
    return x < y ? -1 : x > y;
}

/* In general: look at every instant at which the answer can change. */
static void steps_of_planned_node(struct search *q, uint32_t i) {
    struct sched *s = q->s;
    const struct node *node = &s->nodes[i];
    struct step step = {0, i, 0, 0}, last = {0};
    int64_t scratch[MAX_DIMS];

    if (!calendar_ever(s, q->alt, i, scratch))
        return;
    vec_reset(&q->s->times);
    vec_push(&q->s->times, s->now);
    vec_each (&node->runs, hold) {
        vec_push(&q->s->times, max_of(hold->end, s->now + 1));
    }
    vec_each (&node->plans, hold) {
        const struct plan *plan = hold->plan;
        vec_push(&q->s->times, plan->end);
        vec_push(&q->s->times, plan->start);
        if (q->alt->limit < SCHED_FOREVER)
            vec_push(&q->s->times, plan->start - q->alt->limit + 1);
    }
    for (int64_t when = s->now; (when = calendar_next(s, q->alt, i, when)) < SCHED_FOREVER;) {
        vec_push(&q->s->times, when);
        if (q->alt->limit < SCHED_FOREVER)
            vec_push(&q->s->times, when - q->alt->limit + 1);
    }
    sort_items(q->s->times.items, q->s->times.n, sizeof(int64_t), time_compare);
    vec_each (&q->s->times, time) {
        int64_t have[MAX_DIMS], end = time_after(*time, q->alt->limit);
        if (*time < s->now || *time > q->until || *time == SCHED_FOREVER ||
            (time > q->s->times.items && *time == time[-1]))
            continue;
        step.time = *time;
        node_window_of(s, q->alt, i, *time, end, have);
        if (!q->plain && !node_allows(s, q->shape, q->alt, i, *time, end, have))
            step.tasks = step.units = 0;
        else
            search_have(q, i, have, &step);
        if (step.tasks != last.tasks || step.units != last.units) {
            vec_push(&s->steps, step);
            last = step;
        }
    }
}

/* Licences come free when jobs or plans that hold some end. */
static void steps_of_licenses(struct search *q) {
    struct sched *s = q->s;

    if (q->shape->n_licenses == 0)
        return;
    vec_each (&s->licensed, run) {
        struct step step = {max_of((*run)->end, s->now + 1), SCHED_NO_NODE, 0, 0};
        vec_push(&s->steps, step);
    }
    plans_each (s, plan) {
        struct step step = {(*plan)->end, SCHED_NO_NODE, 0, 0};
        if ((*plan)->job->shape->n_licenses && step.time != SCHED_FOREVER)
            vec_push(&s->steps, step);
    }
    for (int64_t when = s->now; (when = calendar_next_any(s, when)) < SCHED_FOREVER;) {
        struct step step = {when, SCHED_NO_NODE, 0, 0};
        vec_push(&s->steps, step);
    }
}

/* Budgets come free when jobs or plans that use them end. */
static void steps_of_budgets(struct search *q) {
    struct sched *s = q->s;

    for (size_t i = 0; i < q->alt->n_uses; i++) {
        vec_each (&s->budgets.items[q->alt->uses[i].id].plans, plan) {
            struct step step = {(*plan)->end, SCHED_NO_NODE, 0, 0};
            if (step.time != SCHED_FOREVER)
                vec_push(&s->steps, step);
        }
    }
}

/* From then on the leaves do not count. */
static void steps_of_wish(struct search *q) {
    int64_t when = q->shape->switches_until;
    struct step step = {when, SCHED_NO_NODE, 0, 0};

    if (q->s->topology && q->shape->max_switches && when > q->s->now && when <= q->until)
        vec_push(&q->s->steps, step);
}

/* What is free then has been so since the step before. */
static void steps_of_begin(struct search *q) {
    struct step step = {q->from, SCHED_NO_NODE, 0, 0};

    if (step.time > q->s->now && step.time <= q->until)
        vec_push(&q->s->steps, step);
}

static int step_compare(const void *a, const void *b) {
    const struct step *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* What is spread over the nodes, at most the goal. */
static uint32_t search_spread(const struct search *q, const struct step *step) {
    return min_of(q->shape->n_per_job ? step->units : step->tasks, q->goal);
}

static void search_apply(struct search *q, const struct step *step) {
    struct step *state = &q->s->state[step->node];

    int more = (step->tasks > 0) - (state->tasks > 0);
    q->n_nodes += more;
    if (more && q->shape->max_switches)
        q->fullest = max_of(q->fullest, topology_count(q->s, step->node, more));
    q->tasks += step->tasks - (uint64_t) state->tasks;
    q->units += step->units - (uint64_t) state->units;
    if (q->goal) {
        q->s->histogram.items[search_spread(q, state)]--;
        q->s->histogram.items[search_spread(q, step)]++;
    }
    /* `ready` is since when the node has had what it has. */
    *state = *step;
}

/* Sums only: may hold though the selection then fails, never the other way round. */
static bool search_promising(const struct search *q) {
    if (q->n_nodes < q->alt->min_nodes)
        return false;
    if (!q->fixed && q->shape->ntasks && q->tasks < q->shape->ntasks)
        return false;
    if (q->shape->n_per_job && q->units < q->shape->per_job[0].count)
        return false;
    if (q->goal && histogram_sum(q->s, q->goal, q->alt->max_nodes) < q->goal)
        return false;
    for (size_t i = 0; i < q->shape->n_req_nodes; i++) {
        if (q->s->state[q->shape->req_nodes[i]].tasks == 0)
            return false;
    }
    return true;
}

/* Steps before `end` have been applied. Equal shares go to the nodes that became ready last: with
 * enough of those the others need not be looked at. */
static void search_gather(struct search *q, size_t end) {
    struct sched *s = q->s;
    bool in_order = q->fixed && q->shape->n_req_nodes == 0 && q->alt->n_groups == 0 &&
                    !q->shape->contiguous && s->most_leaves == 0 && !s->naive;
    uint32_t wanted = in_order ? fixed_goal(q->shape, q->alt, q->n_nodes, 0) : UINT32_MAX;
    int64_t last = SCHED_FOREVER;

    vec_reset(&s->found);
    for (size_t i = end; i-- > 0;) {
        const struct step *step = &s->steps.items[i];
        const struct step *state = &s->state[step->node == SCHED_NO_NODE ? 0 : step->node];
        struct candidate c = {step->node, state->tasks, state->units, 0, 0, state->time};

        if (s->found.n >= wanted && step->time < last)
            break;
        if (step->node == SCHED_NO_NODE || state->tasks == 0 || state->time != step->time)
            continue; /* was replaced by a later one */
        last = step->time;
        candidate_rank(s, q->shape, q->alt, &c);
        vec_push(&s->found, c);
    }
    candidates_sort(s, q->alt, true);
}

static bool search_select(struct search *q, int64_t when, size_t end, struct placement *out) {
    struct sched *s = q->s;
    int64_t until = time_after(when, q->alt->limit);

    s->candidates++;
    if (!licenses_free_at(s, q->shape, q->alt, when, until) ||
        budget_short(s, q->alt, when, until, NULL))
        return false;
    topology_at(s, q->shape, q->alt, when);
    if (!s->naive && s->most_leaves && (uint64_t) s->most_leaves * q->fullest < q->alt->min_nodes)
        return false;
    search_gather(q, end);
    return select_nodes(s, q->shape, q->alt, out) &&
           place_amounts(s, q->shape, q->alt, when, until, out) &&
           !budget_short(s, q->alt, when, until, out);
}

static bool search_sweep(struct search *q, int64_t *ret_start, struct placement *out) {
    for (size_t i = 0; i < q->s->steps.n;) {
        int64_t when = q->s->steps.items[i].time;

        for (; i < q->s->steps.n && q->s->steps.items[i].time == when; i++) {
            if (q->s->steps.items[i].node != SCHED_NO_NODE)
                search_apply(q, &q->s->steps.items[i]);
        }
        if (when >= q->from && search_promising(q) && search_select(q, when, i, out)) {
            *ret_start = when;
            return true;
        }
    }
    return false;
}

/* Nodes that cannot take a share as they are, and where nothing ends in time, are passed over. */
static void steps_of_nodes(struct search *q) {
    struct sched *s = q->s;
    bool quick = q->plain && !q->alt->reservation;

    if (quick)
        mask_of_free(s, q->shape, q->alt);
    for (size_t w = 0; w < bits_words(s->n_nodes); w++) {
        uint64_t word = q->alt->set->nodes.words[w] & s->usable.words[w];
        uint64_t busy = s->planned.words[w] | s->reserved.words[w];
        for (; word; word &= word - 1) {
            uint64_t bit = word & -word;
            uint32_t node = w * 64 + (size_t) __builtin_ctzll(word);
            if (!quick || (busy & bit))
                steps_of_planned_node(q, node);
            else if (s->naive || (s->mask[w] & bit) || s->next_end[node] <= q->until)
                steps_of_free_node(q, node);
            else
                continue;
            s->candidates++;
        }
    }
}

static bool search_until(struct search *q, int64_t *ret_start, struct placement *out) {
    struct sched *s = q->s;

    vec_reset(&s->steps);
    q->n_nodes = 0;
    q->fullest = q->shape->max_switches ? 0 : UINT32_MAX;
    q->tasks = q->units = 0;
    histogram_reset(s, q->goal);
    s->histogram.items[0] = s->n_nodes;
    steps_of_nodes(q);
    steps_of_licenses(q);
    steps_of_budgets(q);
    steps_of_wish(q);
    steps_of_begin(q);
    sort_items(s->steps.items, s->steps.n, sizeof(*s->steps.items), step_compare);
    bool found = search_sweep(q, ret_start, out);
    topology_count_end(s);
    vec_each (&s->steps, step) {
        if (step->node != SCHED_NO_NODE)
            memset(&s->state[step->node], 0, sizeof(*s->state));
    }
    return found;
}

/* The answer is usually near: a search that looks no further than some instant costs little, and
 * what it finds is the earliest of all. */
bool earliest_start(struct sched *s, struct shape *shape, struct alternative *alt, int64_t hint,
                    int64_t *ret_start, struct placement *out) {
    struct search q = search_init(s, shape, alt);
    int64_t ahead = hint > s->now ? hint - s->now : 60;

    for (;; ahead *= 8) {
        bool last = ahead > (int64_t) 1 << 40;
        q.until = last ? SCHED_FOREVER : time_after(s->now, ahead);
        if (search_until(&q, ret_start, out))
            return true;
        if (last)
            return false;
    }
}

struct alternative *job_earliest(struct sched *s, const struct job *job, int64_t hint,
                                 uint32_t most, int64_t *ret_start) {
    struct shape *shape = job->shape;
    struct alternative *best = NULL;

    for (size_t i = 0; i < shape->n_alternatives; i++) {
        struct alternative *alt = &shape->alternatives[i];
        int64_t start;

        if (alt->reason || *calendar_quota(s, alt) >= most)
            continue;
        if (earliest_start(s, shape, alt, hint, &start, &s->placement) &&
            start <= job_latest_start(job, alt) && (!best || start < *ret_start)) {
            best = alt;
            *ret_start = start;
            placement_swap(&s->placement, &s->best);
        }
    }
    return best;
}

/* ---- plans that stand ---- */

/* Could the node take a share of the alternative at some time up to `until`? */
static bool node_serves_by(struct search *q, uint32_t node) {
    const struct sched *s = q->s;

    if (!bits_test(&q->alt->set->nodes, node) || !bits_test(&s->usable, node))
        return false;
    vec_reset(&q->s->steps);
    if (q->plain && !q->alt->reservation && !bits_test(&s->planned, node) &&
        !bits_test(&s->reserved, node))
        steps_of_free_node(q, node);
    else
        steps_of_planned_node(q, node);
    return s->steps.n > 0;
}

static bool plan_holds(const struct node *node, const struct plan *plan) {
    vec_each (&node->plans, hold) {
        if (hold->plan == plan)
            return true;
    }
    return false;
}

bool plan_can_improve(struct sched *s, const struct plan *plan, uint32_t node) {
    struct shape *shape = plan->job->shape;

    if (plan_holds(&s->nodes[node], plan))
        return true;
    for (size_t i = 0; i < shape->n_alternatives; i++) {
        struct search q = search_init(s, shape, &shape->alternatives[i]);
        q.until = plan->start;
        if (!q.alt->reason && node_serves_by(&q, node))
            return true;
    }
    return false;
}
