/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Budgets where seconds count. What is ahead of a run falls with the clock, and so follows from two
 * sums over all: amounts times ends, less amounts times now. Few runs are past their ends; they are
 * taken out one by one.
 */
#include "sched/internal.h"

/* More than any total, and so little that millions of it can be added: what a job without a limit
 * asks for. (One that runs has an assumed end.) */
#define ENDLESS ((budget_sum) 1 << 100)

budget_sum budget_total(const struct budget *b) {
    return (budget_sum) b->spec.total * (b->spec.measure == SCHED_BUDGET_HELD ? 1 : BUDGET_PARTS);
}

budget_sum budget_cost(const struct budget *b, uint64_t amount, int64_t start, int64_t end) {
    if (amount == 0 || b->spec.measure == SCHED_BUDGET_HELD)
        return amount;
    if (b->spec.measure == SCHED_BUDGET_OPEN)
        return 1;
    return end == SCHED_FOREVER ? ENDLESS : (budget_sum) amount * max_of(end - start, (int64_t) 0);
}

/* When a run began to be no part of what has been told as used. */
static int64_t begin_of(const struct budget *b, const struct run *run) {
    return max_of(b->seconds->told, run->start);
}

budget_sum budget_timed_at(const struct budget *b, int64_t when) {
    bool for_good = b->spec.measure == SCHED_BUDGET_STOCK;
    budget_sum amounts = b->used, ends = b->seconds->ends;

    if (b->spec.measure == SCHED_BUDGET_OPEN)
        return b->seconds->spent;
    budget_sum sum = for_good ? b->seconds->spent + ends - b->seconds->begins : 0;
    for (size_t i = 0; i < b->holds.n; i++) {
        const struct budget_hold *hold = &b->holds.items[i];
        if (hold->end > (for_good ? b->seconds->told : when))
            break;
        if (for_good)
            sum -=
                (budget_sum) hold->amount * min_of(hold->end - begin_of(b, hold->run), (int64_t) 0);
        amounts -= hold->amount;
        ends -= (budget_sum) hold->amount * hold->end;
    }
    return for_good ? sum : ends - amounts * when;
}

/* Between two ends what is ahead falls by the sum of amounts each second. */
int64_t budget_timed_free(const struct budget *b, int64_t now, budget_sum need) {
    budget_sum room = budget_total(b) - need, amounts = b->used, ends = b->seconds->ends;

    if (need == 0 || budget_timed_at(b, now) <= room)
        return now;
    if (b->spec.measure != SCHED_BUDGET_AHEAD || room < 0)
        return SCHED_FOREVER;
    vec_each (&b->holds, hold) {
        budget_sum when = amounts > 0 ? (ends - room + amounts - 1) / amounts : now;
        if (hold->end > now && when <= hold->end)
            return max_of((int64_t) when, now + 1);
        amounts -= hold->amount;
        ends -= (budget_sum) hold->amount * hold->end;
    }
    return now + 1;
}

void budget_hold_sums(struct budget *b, const struct run *run, int64_t end, uint64_t amount,
                      bool comes) {
    budget_sum sign = comes ? 1 : -1;

    if (b->spec.measure == SCHED_BUDGET_HELD)
        return;
    b->seconds->ends += sign * amount * end;
    b->seconds->begins += sign * amount * begin_of(b, run);
}

void budget_settle(const struct sched *s, struct budget *b, const struct run *run,
                   uint64_t amount) {
    if (b->spec.measure != SCHED_BUDGET_STOCK)
        return;
    int64_t seconds = min_of(s->now, run->end) - begin_of(b, run);
    if (seconds > 0)
        b->seconds->spent += (budget_sum) amount * seconds;
}
