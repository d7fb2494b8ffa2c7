/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the planner: budgets, what the jobs of a user, an account or a QOS may have in use at a
 * time (budget.c). A budget has no nodes: whoever runs takes from it, whoever ends gives back, and
 * plans take from it for their span of time, so that nobody is planned for a time when his budget
 * is spent.
 */
#ifndef SLUICE_SCHED_BUDGET_H
#define SLUICE_SCHED_BUDGET_H

#include "base/vec.h"
#include "sched/sched.h"

struct alternative;
struct job;
struct placement;
struct plan;
struct run;
struct sched;
struct shape;

/* Amounts times seconds, in thousandths: up to 2^64 of either, and some more. */
__extension__ typedef __int128 budget_sum;
#define BUDGET_PARTS 1000

/* Amounts are those of what is held, or in thousandths where seconds count. */

/* What a run has of a budget. */
struct budget_share {
    uint32_t id;
    uint64_t amount;
};
/* A run in a budget's list, by `end`. */
struct budget_hold {
    int64_t end;
    uint64_t amount;
    const struct run *run;
};
/* Of one where seconds count. */
struct budget_seconds {
    /* Of all holds: sums of amounts times their ends, and times when they began to be no part of
     * `spent`. */
    budget_sum ends, begins;
    budget_sum spent;  /* as of `told` */
    budget_sum wanted; /* the least that has been missed since it was last looked at; 0 */
    int64_t told;
};
struct budget {
    struct sched_budget spec;
    uint64_t used;     /* by runs, tentative ones among them */
    uint64_t releases; /* how often it was given something back */
    vec(struct budget_hold) holds;
    vec(struct plan *) plans;
    struct budget_seconds
        *seconds; /* NULL where they do not count; apart, to keep the others small */
};

/* What one placement takes of a budget that the alternative uses. */
uint64_t budget_amount(const struct sched *s, const struct sched_budget_use *use,
                       const int64_t *amounts, size_t n_nodes);
/* The first budget that binds the alternative and does not have enough for it over [start, end),
 * with plans; NULL. `placement`: what it takes, NULL = the least. */
const struct budget *budget_short(const struct sched *s, const struct alternative *alt,
                                  int64_t start, int64_t end, const struct placement *placement);
/* The same at this instant, by what there is now: the job is not held back by plans alone. Notes
 * that somebody waits for it. */
const struct budget *budget_over(struct sched *s, const struct alternative *alt,
                                 const struct placement *placement);
/* The same for the span of a plan that is not in place. */
const struct budget *budget_short_of_plan(const struct sched *s, const struct plan *plan);
/* The first instant from which on what runs leaves enough of all budgets; SCHED_FOREVER. */
int64_t budget_from(const struct sched *s, const struct alternative *alt);
/* All open alternatives of the shape are short of one; notes why for its reason. */
bool shape_is_spent(struct sched *s, struct shape *shape);
/* Does one of the budgets that bind the alternative never have so much? */
const struct budget *budget_never(const struct sched *s, const struct alternative *alt);

/* The pass has come to its end: when does time alone leave enough for one that waits? */
void budgets_wake(struct sched *s);
/* A pass begins: is it that time? */
void budgets_pass(struct sched *s);
/* What has been used of it, with what runs, and plans that are there then. */
budget_sum budget_used_at(const struct sched *s, const struct budget *b, int64_t when);
/* budget_time.c: where seconds count. */
/* The same of an amount over [start, end). */
budget_sum budget_cost(const struct budget *b, uint64_t amount, int64_t start, int64_t end);
budget_sum budget_total(const struct budget *b);
budget_sum budget_timed_at(const struct budget *b, int64_t when);
int64_t budget_timed_free(const struct budget *b, int64_t now, budget_sum need);
/* A hold comes (or goes). */
void budget_hold_sums(struct budget *b, const struct run *run, int64_t end, uint64_t amount,
                      bool comes);
/* What the run has used up to now stays used. */
void budget_settle(const struct sched *s, struct budget *b, const struct run *run, uint64_t amount);

/* The run takes part in the budgets of the uses. */
void run_spend(struct sched *s, struct run *run, const struct sched_budget_use *uses, size_t n);
void run_unspend(struct sched *s, struct run *run);                  /* gives all back */
void run_spend_until(struct sched *s, struct run *run, int64_t end); /* before run->end changes */
void plan_spend(struct sched *s, struct plan *plan);
void plan_unspend(struct sched *s, struct plan *plan);
/* A plan of an earlier pass, of any pool, that uses a budget of the alternative and has not come up
 * again; `job`: one that yields to it. NULL: there is none. */
struct plan *budget_old_plan(const struct sched *s, const struct alternative *alt,
                             const struct job *job);
/* What the plan has of its budgets may be somebody else's. */
void budget_released(struct sched *s, const struct plan *plan);
/* How often the budgets of an alternative were given something back. */
uint64_t budget_releases(const struct sched *s, const struct alternative *alt);
void budgets_empty(struct sched *s); /* all runs have been forgotten */
void budgets_clear(struct sched *s); /* no budgets */

#endif
