/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs that start together or not at all: the components of a heterogeneous job. Each is a job of
 * the view with a shape of its own and comes up in the order as any other; what becomes of all is
 * decided when the last of them has come up, so that a component with a higher priority takes
 * nothing while another one has to wait.
 *
 * They are placed one after the other, each around those before it. Where one finds no place it
 * goes first in another try, for a component that fits anywhere may have taken the only node of one
 * that does not. When they cannot start now, the earliest common start is searched: from some
 * instant on each is placed; whoever finds a later one moves the instant there for all. Plans of
 * components have one start, and are made, kept and dropped together. Like those who wait for a
 * reservation, they have no others go for them.
 */
#include <assert.h>

#include "sched/internal.h"

/* Instants that are tried in the search for a common start. Each costs at most a search for every
 * member; without an answer the group waits without a plan until something changes. */
#define GROUP_ROUNDS 64

/* ---- who belongs together ---- */

void group_join(struct sched *s, struct job *job, uint32_t id, uint32_t size) {
    if (id == 0)
        return;
    assert(size <= SCHED_GROUP_MAX);
    struct job_group *group = map_get(&s->groups, id);
    if (!group) {
        group = zalloc(struct job_group);
        group->id = id;
        map_put(&s->groups, id, group);
    }
    group->size = size;
    vec_push(&group->members, job);
    job->group = group;
}

void group_leave(struct sched *s, struct job *job) {
    struct job_group *group = job->group;

    if (!group)
        return;
    job->group = NULL;
    for (size_t i = 0; i < group->members.n; i++) {
        if (group->members.items[i] == job) {
            vec_remove(&group->members, i);
            break;
        }
    }
    if (group->members.n > 0)
        return;
    map_remove(&s->groups, group->id);
    vec_done(&group->members);
    free(group);
}

bool group_is_next(struct sched *s, struct job *job) {
    struct job_group *group = job->group;

    if (group->pass != s->pass)
        group->seen = 0;
    group->pass = s->pass;
    return ++group->seen == group->size && group->members.n == group->size;
}

static size_t job_choice(const struct job *job) {
    const struct shape *shape = job->shape;
    size_t n = 0;

    for (size_t i = 0; i < shape->n_alternatives; i++)
        n += bits_count(&shape->alternatives[i].set->nodes);
    return n;
}

static int choice_compare(const void *a, const void *b) {
    const struct job *x = *(struct job *const *) a, *y = *(struct job *const *) b;
    bool x_names = x->shape->n_req_nodes > 0, y_names = y->shape->n_req_nodes > 0;
    size_t x_choice = job_choice(x), y_choice = job_choice(y);
    uint32_t x_nodes = x->shape->alternatives[0].min_nodes;
    uint32_t y_nodes = y->shape->alternatives[0].min_nodes;

    if (x_names != y_names)
        return x_names ? -1 : 1;
    if (x_choice != y_choice)
        return x_choice < y_choice ? -1 : 1;
    if (x_nodes != y_nodes)
        return x_nodes > y_nodes ? -1 : 1;
    return x->job_id < y->job_id ? -1 : x->job_id > y->job_id;
}

void group_order(struct job_group *group) {
    sort_items(group->members.items, group->members.n, sizeof(struct job *), choice_compare);
}

/* The member that found no place goes first. False: it did already. */
static bool group_prefer(struct job_group *group, size_t failed) {
    struct job *job = group->members.items[failed];

    if (failed == 0)
        return false;
    memmove(group->members.items + 1, group->members.items, failed * sizeof(struct job *));
    group->members.items[0] = job;
    return true;
}

/* ---- a start now ---- */

static void group_undo(struct sched *s, size_t kept, struct starts *starts) {
    while (starts->items.n > kept)
        start_undo(s, starts);
}

/* The member that does not fit, or their number. */
static size_t group_take(struct sched *s, struct job_group *group, int64_t planned,
                         struct sched_plan *plan, struct starts *starts) {
    for (size_t i = 0; i < group->members.n; i++) {
        int64_t limit;
        struct alternative *alt = job_fits(s, group->members.items[i], planned, &limit);

        if (!alt)
            return i;
        start_take(s, group->members.items[i], alt, limit, plan, starts);
    }
    return group->members.n;
}

static void group_propose(struct sched *s, size_t from, const struct starts *starts) {
    for (size_t i = from; i < starts->items.n; i++)
        start_propose(s, &starts->items.items[i]);
}

/* True: all have been taken for a start. */
static bool group_start(struct sched *s, struct job_group *group, int64_t planned,
                        struct sched_plan *plan, struct starts *starts) {
    size_t before = starts->items.n;

    group_order(group);
    for (size_t tries = 0; tries <= group->members.n; tries++) {
        size_t failed = group_take(s, group, planned, plan, starts);
        if (failed == group->members.n) {
            group_propose(s, before, starts);
            return true;
        }
        group_undo(s, before, starts);
        if (!group_prefer(group, failed))
            return false;
    }
    return false;
}

/* ---- the earliest common start ---- */

static void group_drop_plans(struct sched *s, struct job_group *group) {
    vec_each (&group->members, job) {
        if ((*job)->plan)
            plan_remove(s, (*job)->plan);
    }
}

/* One round: everybody from the instant on, each around those before it. */
struct round {
    int64_t when;  /* in: not before; out: the earliest that could be right */
    size_t failed; /* who found no place then */
    bool never;    /* at no time */
};

static bool round_place(struct sched *s, struct job_group *group, struct round *r,
                        struct sched_plan *plan, struct starts *starts) {
    for (size_t i = 0; i < group->members.n; i++) {
        struct job *job = group->members.items[i];
        int64_t start = 0;

        s->not_before = r->when;
        struct alternative *alt = job_earliest(s, job, r->when, UINT32_MAX, &start);
        s->not_before = 0;
        r->failed = i;
        if (!alt || start > r->when) {
            r->never = !alt;
            r->when = start;
            return false;
        }
        if (r->when <= s->now) {
            placement_swap(&s->placement, &s->best);
            start_take(s, job, alt, alt->limit, plan, starts);
        } else {
            plan_confirm(s, plan_add(s, job, alt, r->when, &s->best));
        }
    }
    return true;
}

/* When there is one, all are planned, or, where it is now, taken for a start. */
static void group_search(struct sched *s, struct job_group *group, struct sched_plan *plan,
                         struct starts *starts) {
    struct round r = {.when = s->now};
    size_t before = starts->items.n;
    bool moved_up = false;

    group_order(group);
    for (unsigned rounds = 0; rounds < GROUP_ROUNDS; rounds++) {
        int64_t tried = r.when;
        if (round_place(s, group, &r, plan, starts)) {
            group_propose(s, before, starts);
            return;
        }
        group_undo(s, before, starts);
        group_drop_plans(s, group);
        /* Once, for it may be that only the order was wrong. */
        if (!moved_up && group_prefer(group, r.failed)) {
            moved_up = true;
            r.when = tried;
            continue;
        }
        if (r.never)
            return;
        moved_up = false;
    }
}

static bool group_is_plannable(const struct sched *s, const struct job_group *group) {
    vec_each (&group->members, job) {
        if (!job_plannable(s, *job))
            return false;
    }
    return true;
}

/* ---- plans that stand ---- */

static int64_t group_planned(const struct job_group *group) {
    int64_t start = 0;

    vec_each (&group->members, job) {
        const struct plan *plan = (*job)->plan;
        if (!plan || (start && plan->start != start))
            return 0;
        start = plan->start;
    }
    return start;
}

/* What was released up to now has been looked at. */
static void group_settle(struct sched *s, struct job_group *group) {
    vec_each (&group->members, job) {
        struct plan *plan = (*job)->plan;
        if (!plan)
            continue;
        plan->version = s->release_version;
        plan->seen = s->log.seen = s->log.end;
    }
}

static void group_confirm(struct sched *s, struct job_group *group) {
    vec_each (&group->members, job)
        plan_confirm(s, (*job)->plan);
}

static bool group_stands(struct sched *s, struct job_group *group) {
    int64_t start = group_planned(group);

    if (start <= s->now)
        return false;
    vec_each (&group->members, job) {
        if (!plan_stands(s, (*job)->plan))
            return false;
    }
    group_confirm(s, group);
    return true;
}

static void group_blocks(struct sched *s, struct job_group *group) {
    vec_each (&group->members, job) {
        job_blocks(s, *job);
        (void) shape_has_senior(s, *job);
    }
}

/* The plans that they had, in the order of the members when they were taken off. */
struct had {
    struct job *job;
    struct plan *plan;
};

/* A search found nothing, or a later start: are the old places free? Then they stay. */
static bool group_keep(struct sched *s, struct job_group *group, struct had *had, size_t n,
                       int64_t planned) {
    int64_t found = group_planned(group);
    struct plan *later[SCHED_GROUP_MAX];

    if (planned <= s->now || (found && found <= planned) ||
        (!found && !group_is_plannable(s, group)))
        return false;
    for (size_t i = 0; i < n; i++) {
        later[i] = had[i].job->plan;
        if (later[i])
            plan_detach(s, later[i]);
    }
    size_t kept = 0;
    while (kept < n && plan_has_place(s, had[kept].plan))
        plan_attach(s, had[kept++].plan);
    bool all = kept == n;
    while (!all && kept-- > 0)
        plan_detach(s, had[kept].plan);
    for (size_t i = 0; i < n; i++) {
        if (later[i] && all)
            plan_free(later[i]);
        else if (later[i])
            plan_attach(s, later[i]);
    }
    if (all || found)
        group_confirm(s, group);
    return all;
}

static void had_free(struct sched *s, struct had *had, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const struct plan *now = had[i].job->plan;
        if (had[i].plan && !(now && plan_is_same_place(had[i].plan, now)))
            plan_released(s, had[i].plan);
        if (had[i].plan)
            plan_free(had[i].plan);
    }
}

/* What budgets said was of the member that was tried, not of the turn that the walk is at. */
static void turn_forget(struct sched *s) {
    struct turn *turn = order_turn(s);

    turn->overspent = turn->shape->overspent;
}

void group_try(struct sched *s, struct job_group *group, struct sched_plan *plan,
               struct starts *starts) {
    size_t n = group->members.n, before = starts->items.n;
    struct had had[SCHED_GROUP_MAX];

    if (group_stands(s, group)) {
        group_blocks(s, group);
        return;
    }
    int64_t planned = group_planned(group);
    for (size_t i = 0; i < n; i++) {
        struct job *job = group->members.items[i];
        had[i] = (struct had) {job, job->plan};
        if (job->plan)
            plan_detach(s, job->plan);
    }
    if (!group_start(s, group, planned, plan, starts) && group_is_plannable(s, group))
        group_search(s, group, plan, starts);
    turn_forget(s);
    bool started = starts->items.n > before;
    if (started || !planned || !group_keep(s, group, had, n, planned))
        had_free(s, had, n);
    group_settle(s, group);
    if (!started)
        group_blocks(s, group);
}
