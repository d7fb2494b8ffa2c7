/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One plan. Shapes come up by their first job in order (order.c); a shape that cannot start is
 * tested once, and again only when something that it could use has come free (wake.c). The first
 * `reservations` jobs of a pool that cannot start get a plan; whoever comes later may start only
 * where that delays no plan.
 *
 * Plans persist. A job that has one is tried with its own plan taken out and all others in place,
 * so it can only move earlier. Plans of jobs further down do not bind a job that has none: when it
 * could start without them they go, and are searched again when their jobs come up.
 *
 * Starts are taken as tentative runs, and given back at the end: the core decides.
 */
#include <assert.h>

#include "sched/internal.h"

/* ---- starting ---- */

static bool pool_is_blocked(const struct sched *s, const struct alternative *alt) {
    return alternative_pool(s, alt)->blocked;
}

/* Not looked at for the sake of order alone: says nothing about later passes. */
static bool shape_is_blocked(const struct sched *s, const struct shape *shape) {
    for (size_t i = 0; i < shape->n_alternatives; i++) {
        if (pool_is_blocked(s, &shape->alternatives[i]))
            return true;
    }
    return false;
}

/* The longest limit that --time-min allows and that delays no plan. */
static bool place_shortened(struct sched *s, struct shape *shape, struct alternative *alt,
                            int64_t *limit, struct placement *out) {
    const struct pool *pool = alternative_pool(s, alt);
    int64_t best = 0;

    if (alt->min_limit == 0 || (pool->plans.n == 0 && s->n_calendar == 0))
        return false;
    for (bool more = true; more;) {
        int64_t next = 0;
        vec_each (&pool->plans, plan) {
            int64_t gap = (*plan)->start - s->now;
            if (gap >= alt->min_limit && gap < alt->limit && gap > next &&
                (best == 0 || gap < best))
                next = gap;
        }
        int64_t window = calendar_gap(s, alt, best ? best : alt->limit);
        if (window >= alt->min_limit)
            next = max_of(next, window);
        more = next > 0;
        best = next;
        if (more && could_start(s, shape, alt, next, out)) {
            *limit = next;
            return true;
        }
    }
    return false;
}

/* It is placed; do its budgets allow what it would have? */
static bool placement_is_paid(struct sched *s, struct shape *shape, const struct alternative *alt) {
    const struct budget *b =
        budget_short(s, alt, s->now, time_after(s->now, alt->limit), &s->placement);

    if (b) {
        shape->kept_by_budget = true;
        const struct budget *over = budget_over(s, alt, &s->placement);
        if (over) {
            shape->overspent = order_turn(s)->overspent = true;
            shape_short_of(s, shape, over->spec.reason);
        }
    }
    return !b;
}

/* It was not tested, because there are no nodes for it whatever its budgets. */
static void shape_lacks_nodes(struct sched *s, struct shape *shape) {
    if (shape->overspent)
        shape_short_of(s, shape, REASON_NONE);
    shape->overspent = false;
}

/* With its own limit and the plans that are in place. When nodes are what it lacks, alt->lack says
 * how far it is from a start; a budget has none, and what was known of the nodes stays so. */
static bool alternative_fits(struct sched *s, struct shape *shape, struct alternative *alt) {
    int64_t end = time_after(s->now, alt->limit);

    if (budget_short(s, alt, s->now, end, NULL)) {
        shape->kept_by_budget = true;
        return false;
    }
    if (shape->n_licenses && !licenses_free_at(s, shape, alt, s->now, end))
        shape->short_of_licenses = true;
    else if (place_now(s, shape, alt, alt->limit, &s->placement))
        return placement_is_paid(s, shape, alt);
    /* How far each of the shorter limits is from a start is not known. */
    alt->lack = alt->min_limit ? (struct lack) {1, 0} : s->lack;
    return false;
}

/* Fits now, with the plans that are in place? */
static struct alternative *fits_now(struct sched *s, struct shape *shape, int64_t *limit) {
    if (shape->n_licenses)
        shape_report(s, shape);
    shape->short_of_licenses = false;
    shape->kept_by_budget = shape->overspent = false;
    (void) shape_is_spent(s, shape);
    for (size_t i = 0; i < shape->n_alternatives; i++) {
        struct alternative *alt = &shape->alternatives[i];

        if (alt->reason || (pool_is_blocked(s, alt) && !alt->reservation))
            continue;
        *limit = alt->limit;
        if (alternative_fits(s, shape, alt) || place_shortened(s, shape, alt, limit, &s->placement))
            return alt;
    }
    return NULL;
}

static void start_alloc(const struct sched *s, const struct pick *pick, const int64_t *amount,
                        struct sched_alloc *ret) {
    ret->node = s->nodes[pick->node].outer;
    ret->cpus = amount[DIM_CPU];
    ret->ntasks = pick->tasks;
    ret->mem = amount[DIM_MEM];
    for (uint32_t k = 0; k < s->n_kinds; k++)
        ret->gres[k] = amount[DIM_GRES + k];
    memset(ret->cards, 0, sizeof(ret->cards));
    for (uint32_t c = 0; c < s->n_cards; c++)
        ret->cards[c] = amount[s->n_base - s->n_cards + c];
}

void start_fill(const struct sched *s, const struct placement *placement, struct arena *arena,
                struct sched_start *ret) {
    size_t n = placement->picks.n;

    ret->allocs = arena_alloc(arena, (n + 1) * sizeof(*ret->allocs));
    ret->n_allocs = n;
    ret->n_cpus = 0;
    for (size_t i = 0; i < n; i++) {
        start_alloc(s, &placement->picks.items[i], placement->amounts.items + i * s->n_dims,
                    &ret->allocs[i]);
        ret->n_cpus += ret->allocs[i].cpus;
    }
}

void start_take(struct sched *s, struct job *job, const struct alternative *alt, int64_t limit,
                struct sched_plan *plan, struct starts *starts) {
    const struct pool *pool = alternative_pool(s, alt);
    struct sched_start *start = vec_add(&starts->items);
    size_t n = s->placement.picks.n;
    uint32_t *nodes = xcalloc(n + 1, sizeof(*nodes));

    start->job_id = job->job_id;
    start->partition = alt->partition;
    if (job->deadline)
        limit = min_of(limit, job->deadline - s->now);
    start->limit = limit;
    start->reservation = alt->reservation;
    start->backfilled = pool->head_id != 0;
    start->backfilled_past = pool->head_id;
    start_fill(s, &s->placement, plan->memory, start);
    for (size_t i = 0; i < n; i++)
        nodes[i] = s->placement.picks.items[i].node;
    struct run *run = run_take(s, job->job_id, alt->partition, alt->exclusive, job->uid, s->now,
                               time_after(s->now, limit), n, nodes, s->placement.amounts.items,
                               job->shape->licenses, job->shape->n_licenses);
    run->tentative = true;
    run_spend(s, run, alt->uses, alt->n_uses);
    run->reservation = alt->reservation;
    run->user_only = job->shape->user_only;
    run->shares = alternative_shares(s, job->shape, alt);
    s->any_user_only = s->any_user_only || run->user_only;
    vec_push(&s->tentative, run);
    job->started++;
    free(nodes);
}

void start_undo(struct sched *s, struct starts *starts) {
    struct job *job = map_get(&s->jobs, starts->items.items[--starts->items.n].job_id);

    job->started--;
    run_drop(s, s->tentative.items[--s->tentative.n]);
}

void start_propose(struct sched *s, const struct sched_start *start) {
    proposal_add(s, start_hash(s, start->allocs, start->n_allocs),
                 time_after(s->now, start->limit));
}

static void job_start(struct sched *s, struct job *job, struct alternative *alt, int64_t limit,
                      struct sched_plan *plan, struct starts *starts) {
    start_take(s, job, alt, limit, plan, starts);
    start_propose(s, &starts->items.items[starts->items.n - 1]);
}

/* ---- waiting ---- */

/* What was found impossible around those plans may be possible now. */
static void pool_drop_old(struct sched *s, struct pool *pool, const struct job *job) {
    for (size_t i = 0; i < pool->plans.n;) {
        const struct plan *plan = pool->plans.items[i];
        if (!plan->old || (job && !promise_yields(plan, job))) {
            i++;
            continue;
        }
        if (job)
            promise_yields_to(plan, job);
        plan_released(s, pool->plans.items[i]);
        plan_remove(s, pool->plans.items[i]);
    }
}

static bool shape_has_old(const struct sched *s, const struct shape *shape) {
    for (size_t i = 0; i < shape->n_alternatives; i++) {
        if (alternative_pool(s, &shape->alternatives[i])->n_old > 0 ||
            budget_old_plan(s, &shape->alternatives[i], NULL))
            return true;
    }
    return false;
}

static void shape_drop_old(struct sched *s, const struct job *job) {
    const struct shape *shape = job->shape;

    for (size_t i = 0; i < shape->n_alternatives; i++) {
        struct plan *plan;
        pool_drop_old(s, alternative_pool(s, &shape->alternatives[i]), job);
        while ((plan = budget_old_plan(s, &shape->alternatives[i], job))) {
            promise_yields_to(plan, job);
            plan_released(s, plan);
            plan_remove(s, plan);
        }
    }
}

bool job_plannable(const struct sched *s, const struct job *job) {
    const struct shape *shape = job->shape;
    uint32_t most = job_reservations(s, job);

    for (size_t i = 0; i < shape->n_alternatives; i++) {
        const struct alternative *alt = &shape->alternatives[i];
        if (!alt->reason && s->settings.backfill && *calendar_quota(s, alt) < most)
            return true;
    }
    return false;
}

/* The alternative that the search has a place for at once, though the test for a start had none: it
 * orders the nodes otherwise. */
static struct alternative *job_plan(struct sched *s, struct job *job, int64_t hint) {
    int64_t start = 0;
    struct alternative *best = job_earliest(s, job, hint, job_reservations(s, job), &start);

    if (!best)
        return NULL;
    if (start <= s->now) {
        placement_swap(&s->placement, &s->best);
        return best;
    }
    struct plan *plan = plan_add(s, job, best, start, &s->best);
    plan->pinned = job->preempting;
    plan_confirm(s, plan);
    return NULL;
}

void job_blocks(struct sched *s, struct job *job) {
    const struct shape *shape = job->shape;

    for (size_t i = 0; i < shape->n_alternatives; i++) {
        const struct alternative *alt = &shape->alternatives[i];
        struct pool *pool = alternative_pool(s, alt);
        struct head *head = alternative_head(s, alt);

        if (alt->reason)
            continue;
        /* Candidates do not come in order; the walk's jobs do. */
        if (head->pass != s->pass || job_compare(job, head->job) < 0)
            *head = (struct head) {job, s->pass};
        if (alt->reservation)
            continue; /* who waits for one is in nobody's way outside */
        if (pool->head_id == 0)
            pool->head_id = job->job_id;
        if (!s->settings.backfill)
            pool->blocked = true;
    }
}

enum outcome { STARTED, WAITS, WAITS_LIKE_ALL };

/* That a shape cannot start stays true until something is released, when it was tested against all
 * that binds it and the selection is exact. */
static bool shape_stays_dead(const struct sched *s, const struct shape *shape) {
    if (shape_has_old(s, shape) || shape_is_blocked(s, shape) || shape->kept_by_budget)
        return false; /* a budget has no node that comes free */
    for (size_t i = 0; i < shape->n_alternatives; i++) {
        if (!select_is_exact(shape, &shape->alternatives[i]))
            return false;
    }
    return true;
}

/* One whose plan's time has come without its nodes binds nobody any more: then those of the jobs
 * behind it do not bind the job either. */
struct alternative *job_fits(struct sched *s, const struct job *job, int64_t planned,
                             int64_t *limit) {
    struct shape *shape = job->shape;

    /* How much its shape lacked may have been found with its own plan in the way. */
    if (!s->naive && planned == 0 && !shape_has_old(s, shape) && turn_sleeps(s, order_turn(s))) {
        shape_lacks_nodes(s, shape);
        return NULL;
    }
    struct alternative *alt = fits_now(s, shape, limit);
    if (!alt && planned <= s->now && shape_has_old(s, shape)) {
        shape_drop_old(s, job);
        alt = fits_now(s, shape, limit);
    }
    return alt;
}

/* It does not fit. `planned`: where its plan was, 0 without. */
static enum outcome job_waits(struct sched *s, struct job *job, int64_t planned,
                              struct sched_plan *plan, struct starts *starts) {
    struct shape *shape = job->shape;
    struct alternative *alt;

    /* In nobody's way, and in no hurry; one that was told a start is planned again. */
    if (planned == 0 && (shape->overspent || shape_is_spent(s, shape)))
        return WAITS_LIKE_ALL;
    if (s->preemption.n_classes > 0 && preempt_try(s, job, plan)) {
        job_blocks(s, job);
        (void) shape_has_senior(s, job);
        return WAITS;
    }
    if (s->n_calendar > 0 || shape->held_reason) {
        calendar_explain(s, shape);
        shape_report(s, shape);
    }
    if (shape_stays_dead(s, shape))
        turn_sleep(s, order_turn(s));
    bool plannable = job_plannable(s, job);
    if (plannable && (alt = job_plan(s, job, planned))) {
        job_start(s, job, alt, alt->limit, plan, starts);
        return STARTED;
    }
    job_blocks(s, job);
    return shape_has_senior(s, job) || plannable ? WAITS : WAITS_LIKE_ALL;
}

static enum outcome job_try_anew(struct sched *s, struct job *job, int64_t planned,
                                 struct sched_plan *plan, struct starts *starts) {
    int64_t limit;
    struct alternative *alt = job_fits(s, job, planned, &limit);

    if (!alt)
        return job_waits(s, job, planned, plan, starts);
    job_start(s, job, alt, limit, plan, starts);
    return STARTED;
}

bool plan_is_same_place(const struct plan *a, const struct plan *b) {
    return a->start == b->start && a->n == b->n &&
           memcmp(a->nodes, b->nodes, a->n * sizeof(*a->nodes)) == 0;
}

/* Tries the next job of a shape. WAITS_LIKE_ALL: so will all others of the shape. */
static enum outcome job_try(struct sched *s, struct job *job, struct sched_plan *plan,
                            struct starts *starts) {
    struct plan *had = job->plan;
    if (had && had->start > s->now && plan_stands(s, had)) {
        if (had->old)
            plan_confirm(s, had);
        job_blocks(s, job);
        (void) shape_has_senior(s, job);
        return WAITS;
    }
    if (!had)
        return job_try_anew(s, job, 0, plan, starts);
    plan_detach(s, had);
    enum outcome outcome = job_try_anew(s, job, had->start, plan, starts);
    if (promise_keep(s, job, had))
        return outcome;
    if (!job->plan || !plan_is_same_place(had, job->plan)) { /* its old place is free for others */
        plan_released(s, had);
        if (job->plan) { /* it was searched with that in sight */
            job->plan->version = s->release_version;
            job->plan->seen = s->log.seen = s->log.end;
        }
    }
    plan_free(had);
    return outcome;
}

/* ---- the pass ---- */

/* Plans of jobs that are no longer in the order bind nobody. */
static void plans_drop_lost(struct sched *s) {
    for (uint32_t p = 0; p < s->n_pools; p++) {
        struct pool *pool = &s->pools[p];
        for (size_t i = 0; i < pool->plans.n;) {
            struct plan *plan = pool->plans.items[i];
            if (plan->job->place == PLACE_LIVE && !plan->job->shape->blocked_reason) {
                i++;
                continue;
            }
            plan_released(s, plan);
            plan_remove(s, plan);
        }
    }
}

/* Its time has come but not its nodes: look again, and count both it and who still holds them. */
static void plan_overdue(struct sched *s, const struct plan *plan) {
    for (uint32_t i = 0; i < plan->n; i++)
        node_changed(s, plan->nodes[i]);
    plan_released(s, plan);
}

static void pass_begin(struct sched *s, int64_t now) {
    s->pass++;
    s->now = now;
    s->candidates = 0;
    if (s->unconfirmed.n > 0 || s->preempt_wake <= now) {
        sched_released(s); /* what was planned around them may be void */
        s->budgets_given++;
    }
    budgets_pass(s);
    proposals_forget(s);
    if (!s->cut) /* what was chosen by in the part before goes on to be */
        popular_pass(s);
    s->preempt_wake = SCHED_FOREVER;
    for (uint32_t p = 0; p < s->n_pools; p++) {
        struct pool *pool = &s->pools[p];
        pool->blocked = false;
        pool->head_id = 0;
        pool->n_kept = 0;
        pool->n_old = pool->plans.n;
        vec_each (&pool->plans, plan) {
            (*plan)->old = true;
            if ((*plan)->start <= now)
                plan_overdue(s, *plan);
        }
    }
}

static void pass_end(struct sched *s, struct sched_plan *plan, struct starts *starts) {
    for (size_t i = s->tentative.n; i-- > 0;)
        run_drop(s, s->tentative.items[i]);
    vec_reset(&s->tentative);
    plan->n_starts = starts->items.n;
    plan->starts = arena_alloc(plan->memory, (plan->n_starts + 1) * sizeof(*plan->starts));
    if (plan->n_starts)
        memcpy(plan->starts, starts->items.items, plan->n_starts * sizeof(*plan->starts));
    vec_done(&starts->items);
    /* Those that are no longer among the first; after a cut nobody knows yet. */
    for (uint32_t p = 0; p < s->n_pools && !s->cut; p++)
        pool_drop_old(s, &s->pools[p], NULL);
    promises_review(s, plan);
    for (size_t i = 0; i < plan->n_starts; i++) {
        struct job *job = map_get(&s->jobs, plan->starts[i].job_id);
        job->started = 0;
    }
    plan->candidates = s->candidates;
    preempt_pass_end(s, plan);
}

/* A plan whose time comes is looked at though nothing happens; one that is due in the next second
 * waits for somebody to leave, which is told. */
static int64_t next_time(const struct sched *s) {
    const struct heap_node *timer = heap_min(&s->timers);
    int64_t next = min_of(calendar_next_any(s, s->now), s->preempt_wake);

    next = min_of(min_of(next, s->wish_due), s->budgets_due);
    if (timer)
        next = min_of(next, timer->key);
    for (uint32_t p = 0; p < s->n_pools; p++) {
        if (s->pools[p].first_start > s->now + 1)
            next = min_of(next, s->pools[p].first_start);
    }
    return next == SCHED_FOREVER ? 0 : next;
}

/* Nothing can be done for any job of the shape, and nothing remains to be said of its first. */
static bool turn_is_idle(struct sched *s, struct turn *turn) {
    if (s->naive || s->preemption.n_classes > 0 || s->n_calendar > 0)
        return false; /* somebody may have to go; why it waits may be another reason now */
    if (turn->guarded || turn->partition == MANY_PARTITIONS)
        return false;
    const struct partition *p = &s->partitions[turn->partition];
    const struct pool *pool = &s->pools[p->pool];
    if (p->head.pass != s->pass || pool->n_old > 0)
        return false;
    if (pool->blocked)
        return true;
    return (!s->settings.backfill || pool->n_kept >= s->settings.reservations) &&
           turn_sleeps(s, turn);
}

/* Its budgets are spent, and its first job has not been told a start. Known until a run gives
 * something back, without a look at the shape. */
static bool turn_is_spent(struct sched *s, struct turn *turn) {
    if (!turn->budgeted)
        return false;
    if (turn->spent == s->budgets_given && !s->naive)
        return true;
    bool spent = !order_job(s)->plan && shape_is_spent(s, turn->shape);
    turn->spent = spent ? s->budgets_given : 0;
    return spent;
}

/* What a pass has found stays known to the next as long as nothing changes: shapes sleep, plans
 * stand. So that goes on where this stops though it begins at the head again. */
static bool work_is_done(const struct sched *s) {
    uint32_t doubled = min_of(s->n_exhausted, 32u);

    return s->work > 0 && s->candidates >= s->work << doubled;
}

void sched_bound_work(struct sched *s, uint64_t candidates) {
    s->work = candidates;
}

/* True when max_starts or the bound of the work ended the pass early. */
static bool pass_run(struct sched *s, uint32_t max_starts, struct sched_plan *plan,
                     struct starts *starts) {
    for (struct turn *turn; (turn = order_turn(s));) {
        bool spent = turn->spent && turn_is_spent(s, turn);
        if (!spent && turn_is_idle(s, turn)) {
            if (turn->overspent)
                shape_lacks_nodes(s, turn->shape);
            turn->overspent = false;
            order_drop(s);
            continue;
        }
        if (spent || turn_is_spent(s, turn)) {
            order_drop(s);
            continue;
        }
        struct job *job = order_job(s);
        if ((max_starts && starts->items.n >= max_starts) || work_is_done(s))
            return true;
        if (candidate_waits(s, job)) {
            if (candidate_defer(s, job))
                order_advance(s);
            else
                order_drop(s);
            continue;
        }
        if (job->group) {
            if (group_is_next(s, job))
                group_try(s, job->group, plan, starts);
            order_advance(s);
            continue;
        }
        enum outcome outcome = job_try(s, job, plan, starts);
        if (outcome == WAITS_LIKE_ALL) {
            order_drop(s);
        } else if (outcome == WAITS) {
            order_advance(s);
        } else if (job->started >= min_of(job->n_tasks, job->max_starts)) {
            (void) shape_has_senior(s, job);
            order_advance(s);
        }
    }
    return false;
}

/* Those of a group that may start: none when its first does not fit now, for free resources only
 * become fewer. */
static void group_look(struct sched *s, const struct waiting_group *group, struct sched_plan *plan,
                       struct starts *starts) {
    size_t at = group->from;
    struct job *job;
    int64_t limit;

    order_return(s, group->turn);
    while ((job = job_list_at(group->shape, &at))) {
        if (job_fits(s, job, 0, &limit)) {
            candidates_add(s, group, at);
            return;
        }
        /* Once jobs have gone for one, others may have to go for the next. */
        if (job_waits(s, job, 0, plan, starts) == WAITS_LIKE_ALL || group->one)
            return;
        at++;
    }
}

/* The first jobs have their plans, and nobody else gets one. */
static bool pass_candidates(struct sched *s, uint32_t max_starts, struct sched_plan *plan,
                            struct starts *starts) {
    if (s->waiting_groups.n == 0)
        return false;
    for (uint32_t p = 0; p < s->n_pools; p++)
        pool_drop_old(s, &s->pools[p], NULL);
    vec_each (&s->waiting_groups, group) {
        group_look(s, group, plan, starts);
    }
    candidates_order(s);
    vec_each (&s->waiting_jobs, entry) {
        struct job *job = entry->job;
        enum outcome outcome = STARTED;
        if (job->shape->tried_pass == s->pass)
            continue;
        order_return(s, entry->turn);
        while (outcome == STARTED && job->started < min_of(job->n_tasks, job->max_starts)) {
            if (max_starts && starts->items.n >= max_starts)
                return true;
            outcome = job_try(s, job, plan, starts);
        }
        if (outcome == WAITS_LIKE_ALL)
            job->shape->tried_pass = s->pass;
    }
    return false;
}

/* Nothing has changed since the last pass: what that left unsaid is said. */
static void pass_explains(struct sched *s, int64_t now, uint32_t max_waits,
                          struct sched_plan *plan) {
    s->now = now;
    if (s->unexplained)
        s->unexplained = explain_pass(s, max_waits, true, plan);
    plan->next_time = s->unexplained ? now : next_time(s);
}

void sched_pass(struct sched *s, int64_t now, uint32_t max_starts, struct sched_plan *plan) {
    struct starts starts = {0};
    uint32_t max_waits = min_of(max_starts, UINT32_MAX / 2);

    *plan = (struct sched_plan) SCHED_PLAN_INIT;
    plan->memory = zalloc(struct arena);
    arena_init(plan->memory, 0);
    queue_timers(s, now);
    calendar_pass(s, now);
    topology_pass(s, now);
    if (!s->changed && s->unconfirmed.n == 0 && now < s->due && !s->naive) {
        pass_explains(s, now, max_waits, plan);
        return;
    }
    pass_begin(s, now);
    order_begin(s);
    plans_drop_lost(s);
    s->changed = false;
    candidates_begin(s);
    bool cut =
        pass_run(s, max_starts, plan, &starts) || pass_candidates(s, max_starts, plan, &starts);
    s->cut = cut;
    s->n_exhausted = cut && work_is_done(s) ? s->n_exhausted + 1 : 0;
    s->unexplained = explain_pass(s, max_waits, false, plan);
    pass_end(s, plan, &starts);
    s->changed = s->changed || cut;
    budgets_wake(s);
    s->due = min_of(s->preempt_wake, s->budgets_due);
    for (uint32_t p = 0; p < s->n_pools; p++)
        s->due = min_of(s->due, s->pools[p].first_start);
    s->log.from = s->log.end;
    plan->next_time = cut || s->unexplained ? now : next_time(s);
}

void sched_plan_done(struct sched_plan *plan) {
    if (plan->memory) {
        arena_done(plan->memory);
        free(plan->memory);
    }
    *plan = (struct sched_plan) SCHED_PLAN_INIT;
}
