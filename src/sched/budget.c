/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Budgets. Each keeps what is in use now, and who uses it in the order in which they end: what it
 * will have at a later instant is what it has now and what those give back who have ended by then,
 * less what is planned for that instant. A run past its end is expected to end in the next second,
 * as on nodes.
 */
#include "sched/internal.h"

uint32_t sched_budget_add(struct sched *s, const struct sched_budget *spec) {
    struct budget budget = {.spec = *spec};

    vec_push(&s->budgets, budget);
    return (uint32_t) s->budgets.n - 1;
}

size_t sched_count_budgets(const struct sched *s) {
    return s->budgets.n;
}

uint64_t sched_budget_used(const struct sched *s, uint32_t id) {
    return id < s->budgets.n ? s->budgets.items[id].used : 0;
}

int64_t sched_budget_free_at(const struct sched *s, int64_t now, uint32_t id, uint64_t amount) {
    const struct budget *b = &s->budgets.items[id];
    uint64_t used = b->used;

    if (used + amount <= b->spec.total)
        return now;
    vec_each (&b->holds, hold) {
        used -= hold->amount;
        if (used + amount <= b->spec.total)
            return max_of(hold->end, now + 1);
    }
    return SCHED_FOREVER;
}

/* ---- amounts ---- */

static uint64_t dim_sum(const struct sched *s, const int64_t *amounts, size_t n, uint32_t dim) {
    uint64_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (uint64_t) amounts[i * s->n_dims + dim];
    return sum;
}

uint64_t budget_amount(const struct sched *s, const struct sched_budget_use *use,
                       const int64_t *amounts, size_t n) {
    const struct sched_budget *spec = &s->budgets.items[use->id].spec;
    uint64_t sum = 0;

    switch (spec->of) {
    case SCHED_BUDGET_JOBS:
        return 1;
    case SCHED_BUDGET_NODES:
        return n;
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
    return max_of(sum, use->least);
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

static uint64_t used_at(const struct sched *s, const struct budget *b, int64_t when) {
    uint64_t used = b->used;

    for (size_t i = 0; when > s->now && i < b->holds.n && b->holds.items[i].end <= when; i++)
        used -= b->holds.items[i].amount;
    vec_each (&b->plans, plan) {
        if (plan_is_there(*plan, when))
            used += plan_amount(*plan, b, s);
    }
    return used;
}

static bool has_over(const struct sched *s, const struct budget *b, uint64_t amount, int64_t start,
                     int64_t end) {
    if (b->plans.n == 0 && b->used + amount <= b->spec.total)
        return true;
    if (used_at(s, b, start) + amount > b->spec.total)
        return false;
    vec_each (&b->plans, plan) {
        int64_t when = (*plan)->start;
        if (when > start && when < end && used_at(s, b, when) + amount > b->spec.total)
            return false;
    }
    return true;
}

const struct budget *budget_spent(const struct sched *s, const struct alternative *alt) {
    for (size_t i = 0; i < alt->n_uses; i++) {
        const struct sched_budget_use *use = &alt->uses[i];
        const struct budget *b = &s->budgets.items[use->id];
        if (use->binds && b->used + use->least > b->spec.total)
            return b;
    }
    return NULL;
}

const struct budget *budget_short(const struct sched *s, const struct alternative *alt,
                                  int64_t start, int64_t end, const struct placement *placement) {
    for (size_t i = 0; i < alt->n_uses; i++) {
        const struct sched_budget_use *use = &alt->uses[i];
        const struct budget *b = &s->budgets.items[use->id];
        uint64_t amount = placement
                              ? budget_amount(s, use, placement->amounts.items, placement->picks.n)
                              : use->least;
        if (use->binds && !has_over(s, b, amount, start, end))
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
        if (use->binds)
            from = max_of(from, sched_budget_free_at(s, s->now, use->id, use->least));
    }
    return from;
}

const struct budget *budget_never(const struct sched *s, const struct alternative *alt) {
    for (size_t i = 0; i < alt->n_uses; i++) {
        const struct budget *b = &s->budgets.items[alt->uses[i].id];
        if (alt->uses[i].binds && alt->uses[i].least > b->spec.total)
            return b;
    }
    return NULL;
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

        b->used -= run->shares_of[i].amount;
        b->releases += !run->tentative;
        hold_drop(b, run);
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
        vec_reset(&b->holds);
    }
}

void budgets_clear(struct sched *s) {
    vec_each (&s->budgets, b) {
        vec_done(&b->holds);
        vec_done(&b->plans);
    }
    vec_reset(&s->budgets);
}
