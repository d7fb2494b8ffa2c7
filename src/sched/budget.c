/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Budgets. Each keeps what is in use now, and who uses it in the order in which they end: what it
 * will have at a later instant is what it has now and what those give back who have ended by then,
 * less what is planned for that instant. A run past its end is expected to end in the next second,
 * as on nodes. Where seconds count: budget_time.c.
 */
#include "sched/internal.h"

uint32_t sched_budget_add(struct sched *s, const struct sched_budget *spec) {
    struct budget budget = {.spec = *spec};

    if (spec->measure != SCHED_BUDGET_HELD)
        budget.seconds = zalloc(struct budget_seconds);
    vec_push(&s->budgets, budget);
    return (uint32_t) s->budgets.n - 1;
}

size_t sched_count_budgets(const struct sched *s) {
    return s->budgets.n;
}

static uint64_t in_units(const struct budget *b, budget_sum sum) {
    budget_sum whole = b->spec.measure == SCHED_BUDGET_HELD ? sum : sum / BUDGET_PARTS;

    return whole > (budget_sum) UINT64_MAX ? UINT64_MAX : (uint64_t) max_of(whole, (budget_sum) 0);
}

uint64_t sched_budget_used(const struct sched *s, int64_t now, uint32_t id) {
    if (id >= s->budgets.n)
        return 0;
    const struct budget *b = &s->budgets.items[id];
    return b->spec.measure == SCHED_BUDGET_HELD ? b->used : in_units(b, budget_timed_at(b, now));
}

int64_t sched_budget_free_at(const struct sched *s, int64_t now, uint32_t id, uint64_t amount) {
    const struct budget *b = &s->budgets.items[id];
    uint64_t used = b->used;

    if (b->spec.measure != SCHED_BUDGET_HELD)
        return budget_timed_free(b, now, (budget_sum) amount * BUDGET_PARTS);
    if (used + amount <= b->spec.total)
        return now;
    vec_each (&b->holds, hold) {
        used -= hold->amount;
        if (used + amount <= b->spec.total)
            return max_of(hold->end, now + 1);
    }
    return SCHED_FOREVER;
}

double sched_budget_missing(const struct sched *s, int64_t now, uint32_t id) {
    const struct budget *b = &s->budgets.items[id];
    budget_sum missing = budget_timed_at(b, now) + b->seconds->wanted - budget_total(b);

    if (b->seconds->wanted == 0)
        return 0;
    missing = min_of(max_of(missing, (budget_sum) 1), (budget_sum) INT64_MAX);
    return (double) (int64_t) missing / BUDGET_PARTS;
}

bool sched_budget_tell(struct sched *s, int64_t now, uint32_t id, double used) {
    struct budget *b = &s->budgets.items[id];

    b->seconds->told = now;
    b->seconds->begins = (budget_sum) b->used * now;
    b->seconds->spent = (int64_t) min_of(used * BUDGET_PARTS, 9e18); /* the largest, all but */
    if (b->seconds->wanted == 0 || budget_timed_at(b, now) + b->seconds->wanted > budget_total(b))
        return false;
    b->seconds->wanted = 0;
    b->releases++;
    s->budgets_given++;
    sched_touched(s);
    return true;
}

/* ---- amounts ---- */

static uint64_t dim_sum(const struct sched *s, const int64_t *amounts, size_t n, uint32_t dim) {
    uint64_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (uint64_t) amounts[i * s->n_dims + dim];
    return sum;
}

static uint64_t in_parts(const struct sched_budget *spec, const struct sched_budget_use *use,
                         uint64_t amount) {
    return spec->measure == SCHED_BUDGET_HELD ? amount
                                              : amount * (use->factor ? use->factor : BUDGET_PARTS);
}

uint64_t budget_amount(const struct sched *s, const struct sched_budget_use *use,
                       const int64_t *amounts, size_t n) {
    const struct sched_budget *spec = &s->budgets.items[use->id].spec;
    uint64_t sum = 0;

    switch (spec->of) {
    case SCHED_BUDGET_JOBS:
        sum = 1;
        break;
    case SCHED_BUDGET_NODES:
        sum = n;
        break;
    case SCHED_BUDGET_FIXED:
        break;
    case SCHED_BUDGET_CPUS:
        sum = dim_sum(s, amounts, n, DIM_CPU);
        break;
    case SCHED_BUDGET_MEM:
        sum = dim_sum(s, amounts, n, DIM_MEM);
        break;
    case SCHED_BUDGET_GRES:
        sum = spec->kind < s->n_kinds ? dim_sum(s, amounts, n, DIM_GRES + spec->kind) : 0;
        break;
    case SCHED_BUDGET_GRES_NAME:
        sum = spec->kind < s->n_kinds ? dim_sum(s, amounts, n, s->kinds[spec->kind].sum) : 0;
        break;
    }
    return in_parts(spec, use, max_of(sum, use->least));
}

static uint64_t use_least(const struct sched *s, const struct sched_budget_use *use) {
    return in_parts(&s->budgets.items[use->id].spec, use, use->least);
}

/* ---- what is left ---- */

static uint64_t plan_amount(const struct plan *plan, const struct budget *b,
                            const struct sched *s) {
    uint32_t id = (uint32_t) (b - s->budgets.items);

    for (size_t i = 0; i < plan->alt->n_uses; i++) {
        if (plan->alt->uses[i].id == id)
            return plan->spent[i];
    }
    return 0;
}

static uint64_t held_at(const struct sched *s, const struct budget *b, int64_t when) {
    uint64_t used = b->used;

    for (size_t i = 0; when > s->now && i < b->holds.n && b->holds.items[i].end <= when; i++)
        used -= b->holds.items[i].amount;
    vec_each (&b->plans, plan) {
        if (plan_is_there(*plan, when))
            used += plan_amount(*plan, b, s);
    }
    return used;
}

budget_sum budget_used_at(const struct sched *s, const struct budget *b, int64_t when) {
    bool for_good = b->spec.measure == SCHED_BUDGET_STOCK;

    if (b->spec.measure == SCHED_BUDGET_HELD)
        return held_at(s, b, when);
    budget_sum used = budget_timed_at(b, when);
    if (b->spec.measure == SCHED_BUDGET_OPEN)
        return used;
    vec_each (&b->plans, plan) {
        if (for_good || plan_is_there(*plan, when))
            used += budget_cost(b, plan_amount(*plan, b, s), for_good ? (*plan)->start : when,
                                (*plan)->end);
    }
    return used;
}

/* At its start only; what takes nothing is never short of it. */
static bool has_at(const struct sched *s, const struct budget *b, uint64_t amount, int64_t start,
                   int64_t end) {
    budget_sum cost = budget_cost(b, amount, start, end);

    return (cost == 0 && b->spec.measure != SCHED_BUDGET_HELD) ||
           budget_used_at(s, b, start) + cost <= budget_total(b);
}

static bool has_over(const struct sched *s, const struct budget *b, uint64_t amount, int64_t start,
                     int64_t end) {
    bool for_good = b->spec.measure == SCHED_BUDGET_STOCK || b->spec.measure == SCHED_BUDGET_OPEN;

    if (b->plans.n == 0 && b->spec.measure == SCHED_BUDGET_HELD &&
        b->used + amount <= b->spec.total)
        return true;
    if (!has_at(s, b, amount, start, end))
        return false;
    for (size_t i = 0; !for_good && i < b->plans.n; i++) {
        int64_t when = b->plans.items[i]->start;
        if (when > start && when < end && !has_at(s, b, amount, when, end))
            return false;
    }
    return true;
}

static int64_t shortest_end(const struct sched *s, const struct alternative *alt) {
    return time_after(s->now, alt->min_limit > 0 ? alt->min_limit : alt->limit);
}

static bool has_least(const struct sched *s, const struct alternative *alt,
                      const struct sched_budget_use *use) {
    const struct budget *b = &s->budgets.items[use->id];

    if (b->spec.measure == SCHED_BUDGET_HELD)
        return b->used + use->least <= b->spec.total;
    budget_sum cost = budget_cost(b, use_least(s, use), s->now, shortest_end(s, alt));
    return cost == 0 || budget_timed_at(b, s->now) + cost <= budget_total(b);
}

static void want(struct sched *s, const struct budget *b, budget_sum cost) {
    uint32_t id = (uint32_t) (b - s->budgets.items);

    if (!b->seconds || cost > budget_total(b))
        return;
    if (b->seconds->wanted == 0)
        vec_push(&s->budgets_wanted, id);
    if (b->seconds->wanted == 0 || cost < b->seconds->wanted)
        s->budgets.items[id].seconds->wanted = cost;
}

/* The first that binds the alternative and is spent now, so that not even the least that it takes
 * is left; NULL. */
static const struct budget *budget_spent(struct sched *s, const struct alternative *alt) {
    for (size_t i = 0; i < alt->n_uses; i++) {
        const struct sched_budget_use *use = &alt->uses[i];
        const struct budget *b = &s->budgets.items[use->id];
        if (!use->binds || has_least(s, alt, use))
            continue;
        if (b->seconds)
            want(s, b, budget_cost(b, use_least(s, use), s->now, shortest_end(s, alt)));
        return b;
    }
    return NULL;
}

static uint64_t amount_of(const struct sched *s, const struct sched_budget_use *use,
                          const struct placement *placement) {
    return placement ? budget_amount(s, use, placement->amounts.items, placement->picks.n)
                     : use_least(s, use);
}

const struct budget *budget_short(const struct sched *s, const struct alternative *alt,
                                  int64_t start, int64_t end, const struct placement *placement) {
    for (size_t i = 0; i < alt->n_uses; i++) {
        const struct sched_budget_use *use = &alt->uses[i];
        const struct budget *b = &s->budgets.items[use->id];
        if (use->binds && !has_over(s, b, amount_of(s, use, placement), start, end))
            return b;
    }
    return NULL;
}

const struct budget *budget_over(struct sched *s, const struct alternative *alt,
                                 const struct placement *placement) {
    for (size_t i = 0; i < alt->n_uses; i++) {
        const struct sched_budget_use *use = &alt->uses[i];
        const struct budget *b = &s->budgets.items[use->id];
        uint64_t amount = amount_of(s, use, placement);
        int64_t end = time_after(s->now, alt->limit);
        bool others = b->used > 0 || b->spec.measure != SCHED_BUDGET_HELD;
        if (!use->binds || !others || has_at(s, b, amount, s->now, end))
            continue;
        want(s, b, budget_cost(b, amount, s->now, end));
        return b;
    }
    return NULL;
}

const struct budget *budget_short_of_plan(const struct sched *s, const struct plan *plan) {
    for (size_t i = 0; i < plan->alt->n_uses; i++) {
        const struct sched_budget_use *use = &plan->alt->uses[i];
        const struct budget *b = &s->budgets.items[use->id];
        if (use->binds && !has_over(s, b, plan->spent[i], plan->start, plan->end))
            return b;
    }
    return NULL;
}

int64_t budget_from(const struct sched *s, const struct alternative *alt) {
    int64_t from = s->now;

    for (size_t i = 0; i < alt->n_uses; i++) {
        const struct sched_budget_use *use = &alt->uses[i];
        const struct budget *b = &s->budgets.items[use->id];
        if (!use->binds || has_least(s, alt, use))
            continue;
        int64_t when =
            b->spec.measure == SCHED_BUDGET_HELD
                ? sched_budget_free_at(s, s->now, use->id, use->least)
                : budget_timed_free(
                      b, s->now, budget_cost(b, use_least(s, use), s->now, shortest_end(s, alt)));
        from = max_of(from, when);
    }
    return from;
}

const struct budget *budget_never(const struct sched *s, const struct alternative *alt) {
    for (size_t i = 0; i < alt->n_uses; i++) {
        const struct sched_budget_use *use = &alt->uses[i];
        const struct budget *b = &s->budgets.items[use->id];
        if (use->binds &&
            budget_cost(b, use_least(s, use), s->now, shortest_end(s, alt)) > budget_total(b))
            return b;
    }
    return NULL;
}

void budgets_wake(struct sched *s) {
    s->budgets_due = SCHED_FOREVER;
    for (size_t i = 0; i < s->budgets_wanted.n;) {
        const struct budget *b = &s->budgets.items[s->budgets_wanted.items[i]];
        if (b->seconds->wanted == 0) {
            vec_remove(&s->budgets_wanted, i);
            continue;
        }
        if (b->spec.measure == SCHED_BUDGET_AHEAD)
            s->budgets_due =
                min_of(s->budgets_due, budget_timed_free(b, s->now, b->seconds->wanted));
        i++;
    }
}

void budgets_pass(struct sched *s) {
    if (s->budgets_due > s->now)
        return;
    s->budgets_given++;
    vec_each (&s->budgets_wanted, id) {
        struct budget *b = &s->budgets.items[*id];
        if (b->spec.measure == SCHED_BUDGET_AHEAD)
            b->seconds->wanted = 0;
    }
    budgets_wake(s);
}

bool shape_is_spent(struct sched *s, struct shape *shape) {
    uint32_t why = REASON_NONE;
    bool all = true;

    if (!shape->budgeted)
        return false;
    for (size_t i = 0; i < shape->n_alternatives && all; i++) {
        const struct alternative *alt = &shape->alternatives[i];
        const struct budget *b = alt->reason ? NULL : budget_spent(s, alt);
        all = alt->reason || b;
        if (b && !why)
            why = b->spec.reason;
    }
    shape_short_of(s, shape, all ? why : shape->overspent ? shape->short_of : REASON_NONE);
    return all && why;
}

uint64_t budget_releases(const struct sched *s, const struct alternative *alt) {
    uint64_t sum = 0;

    for (size_t i = 0; i < alt->n_uses; i++)
        sum += s->budgets.items[alt->uses[i].id].releases;
    return sum;
}

/* ---- who has it ---- */

static void hold_put(struct budget *b, struct budget_hold hold) {
    size_t low = 0, high = b->holds.n;

    budget_hold_sums(b, hold.run, hold.end, hold.amount, true);
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (b->holds.items[middle].end <= hold.end)
            low = middle + 1;
        else
            high = middle;
    }
    vec_push(&b->holds, hold);
    memmove(b->holds.items + low + 1, b->holds.items + low, (b->holds.n - 1 - low) * sizeof(hold));
    b->holds.items[low] = hold;
}

static void hold_drop(struct budget *b, const struct run *run) {
    size_t low = 0, high = b->holds.n;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (b->holds.items[middle].end < run->end)
            low = middle + 1;
        else
            high = middle;
    }
    while (b->holds.items[low].run != run)
        low++;
    budget_hold_sums(b, run, run->end, b->holds.items[low].amount, false);
    vec_remove(&b->holds, low);
}

void run_spend(struct sched *s, struct run *run, const struct sched_budget_use *uses, size_t n) {
    run_unspend(s, run);
    run->shares_of = n ? xcalloc(n, sizeof(*run->shares_of)) : NULL;
    run->n_shares = n;
    for (size_t i = 0; i < n; i++) {
        struct budget *b = &s->budgets.items[uses[i].id];
        uint64_t amount = budget_amount(s, &uses[i], run->amounts, run->n);

        run->shares_of[i] = (struct budget_share) {uses[i].id, amount};
        b->used += amount;
        hold_put(b, (struct budget_hold) {run->end, amount, run});
    }
}

void run_unspend(struct sched *s, struct run *run) {
    for (size_t i = 0; i < run->n_shares; i++) {
        struct budget *b = &s->budgets.items[run->shares_of[i].id];

        if (!run->tentative)
            budget_settle(s, b, run, run->shares_of[i].amount);
        hold_drop(b, run);
        b->used -= run->shares_of[i].amount;
        b->releases += !run->tentative;
    }
    s->budgets_given += run->n_shares > 0 && !run->tentative;
    free(run->shares_of);
    run->shares_of = NULL;
    run->n_shares = 0;
}

void run_spend_until(struct sched *s, struct run *run, int64_t end) {
    for (size_t i = 0; i < run->n_shares; i++) {
        struct budget *b = &s->budgets.items[run->shares_of[i].id];

        hold_drop(b, run);
        hold_put(b, (struct budget_hold) {end, run->shares_of[i].amount, run});
        b->releases++;
    }
}

void sched_run_budgets(struct sched *s, uint32_t job_id, const struct sched_budget_use *uses,
                       size_t n) {
    struct run *run = map_get(&s->runs, job_id);

    if (!run)
        return;
    bool gives = run->n_shares > 0;
    run_spend(s, run, uses, n);
    if (gives) {
        s->release_version++;
        sched_touched(s);
    }
}

void plan_spend(struct sched *s, struct plan *plan) {
    for (size_t i = 0; i < plan->alt->n_uses; i++)
        vec_push(&s->budgets.items[plan->alt->uses[i].id].plans, plan);
    plan->releases = budget_releases(s, plan->alt);
}

void plan_unspend(struct sched *s, struct plan *plan) {
    for (size_t i = 0; i < plan->alt->n_uses; i++) {
        struct budget *b = &s->budgets.items[plan->alt->uses[i].id];
        for (size_t k = 0; k < b->plans.n; k++) {
            if (b->plans.items[k] == plan) {
                vec_remove(&b->plans, k);
                break;
            }
        }
    }
}

void budget_released(struct sched *s, const struct plan *plan) {
    for (size_t i = 0; i < plan->alt->n_uses; i++)
        s->budgets.items[plan->alt->uses[i].id].releases++;
}

struct plan *budget_old_plan(const struct sched *s, const struct alternative *alt,
                             const struct job *job) {
    for (size_t i = 0; i < alt->n_uses; i++) {
        vec_each (&s->budgets.items[alt->uses[i].id].plans, plan) {
            if ((*plan)->old && (!job || promise_yields(*plan, job)))
                return *plan;
        }
    }
    return NULL;
}

void budgets_empty(struct sched *s) {
    vec_each (&s->budgets, b) {
        b->used = 0;
        if (b->seconds)
            b->seconds->ends = b->seconds->begins = 0;
        vec_reset(&b->holds);
    }
}

void budgets_clear(struct sched *s) {
    vec_each (&s->budgets, b) {
        vec_done(&b->holds);
        vec_done(&b->plans);
        free(b->seconds);
    }
    vec_reset(&s->budgets);
    vec_reset(&s->budgets_wanted);
    s->budgets_due = SCHED_FOREVER;
}
