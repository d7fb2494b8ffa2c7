/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of all that wait. Shapes stand in an array by their first job, kept from pass to pass;
 * only shapes whose list has changed are moved. A walk merges that array with a heap of the shapes
 * whose first jobs it has dealt with. Going over a shape that nothing can be done for touches its
 * turn alone, which is one cache line.
 */
#include <assert.h>

#include "sched/internal.h"

/* As many changes are put in their place one by one; more are merged in. */
#define FEW_CHANGES 4

/* ---- the array ---- */

/* First turn that does not go before the key. */
static size_t turn_find(const struct sched *s, const struct turn_key *key) {
    size_t low = 0, high = s->order.turns.n;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (key_before(&s->order.turns.items[middle].key, key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct turn *shape_turn(struct sched *s, const struct shape *shape) {
    size_t i = turn_find(s, &shape->turn_key);

    for (; s->order.turns.items[i].shape != shape; i++) /* holes of the same key */
        assert(i + 1 < s->order.turns.n);
    return &s->order.turns.items[i];
}

/* What a walk needs to know of a shape. */
static struct turn turn_make(struct sched *s, const struct shape *shape) {
    const struct alternative *alt = &shape->alternatives[0];
    int64_t need[MAX_DIMS];
    bool simple = shape->n_alternatives == 1 && shape->n_licenses == 0 && alt->min_limit == 0;

    need_least(shape, shape_is_fixed(shape, alt) ? shape_share(shape) : 1, false, need, s->n_dims);
    return (struct turn) {.key = shape->turn_key,
                          .partition = simple ? alt->partition : MANY_PARTITIONS,
                          .shape = (struct shape *) shape,
                          .limit = alt->limit,
                          .cpus = alternative_shares(s, shape, alt) ? 0 : need[DIM_CPU],
                          .exclusive = alt->exclusive,
                          .guarded = shape->n_guarded > 0,
                          .budgeted = shape->budgeted};
}

static void turn_withdraw(struct sched *s, struct shape *shape) {
    if (!shape->queued)
        return;
    shape_turn(s, shape)->shape = NULL;
    shape->queued = false;
    s->order.holes++;
}

/* Puts the shape's turn right; a new place goes through order.arrived. */
static void shape_settle(struct sched *s, struct shape *shape) {
    uint64_t asleep = 0;
    uint32_t lack = 0;
    bool overspent = false;

    job_list_sort(shape);
    size_t first = shape->first;
    const struct job *job = job_list_at(shape, &first);
    shape->first = first;
    if (!shape_open(s, shape) || !job) {
        turn_withdraw(s, shape);
        return;
    }
    struct turn_key key = job_key(job);
    if (shape->queued) {
        struct turn *turn = shape_turn(s, shape);
        bool same = !key_before(&key, &turn->key) && !key_before(&turn->key, &key);
        turn->guarded = shape->n_guarded > 0;
        if (same)
            return;
        asleep = turn->asleep;
        lack = turn->lack;
        overspent = turn->overspent;
        turn_withdraw(s, shape);
    }
    shape->turn_key = key;
    shape->queued = true;
    struct turn turn = turn_make(s, shape);
    turn.asleep = asleep;
    turn.lack = lack;
    turn.overspent = overspent;
    vec_push(&s->order.arrived, turn);
}

/* Into the nearest hole, or the array grows. */
static void turn_insert(struct sched *s, const struct turn *turn) {
    size_t at = turn_find(s, &turn->key), hole = at;

    vec_reserve(&s->order.turns, 1);
    struct turn *turns = s->order.turns.items;
    while (hole < s->order.turns.n && turns[hole].shape)
        hole++;
    if (hole == s->order.turns.n)
        s->order.turns.n++;
    else
        s->order.holes--;
    memmove(turns + at + 1, turns + at, (hole - at) * sizeof(*turns));
    turns[at] = *turn;
}

static int turn_compare(const void *a, const void *b) {
    const struct turn *x = a, *y = b;
    return key_before(&x->key, &y->key) ? -1 : key_before(&y->key, &x->key);
}

/* From behind, so that the array is its own scratch. */
static void turns_merge(struct sched *s) {
    size_t kept = 0, n_arrived = s->order.arrived.n;
    const struct turn *arrived = s->order.arrived.items;

    sort_items(s->order.arrived.items, n_arrived, sizeof(struct turn), turn_compare);
    vec_each (&s->order.turns, turn) {
        if (turn->shape)
            s->order.turns.items[kept++] = *turn;
    }
    s->order.turns.n = kept;
    s->order.holes = 0;
    vec_reserve(&s->order.turns, n_arrived);
    struct turn *turns = s->order.turns.items;
    s->order.turns.n += n_arrived;
    for (size_t at = s->order.turns.n; n_arrived > 0;) {
        bool old = kept > 0 && key_before(&arrived[n_arrived - 1].key, &turns[kept - 1].key);
        turns[--at] = old ? turns[--kept] : arrived[--n_arrived];
    }
}

static void turns_update(struct sched *s) {
    if (s->turns_version != s->static_version) {
        s->turns_version = s->static_version;
        vec_each (&s->shapes, shape) {
            shape_turn_changed(s, *shape);
        }
    }
    vec_reset(&s->order.arrived);
    vec_each (&s->changed_shapes, at) {
        struct shape *shape = *at;
        if (!shape)
            continue;
        shape->changed = 0;
        shape_settle(s, shape);
    }
    vec_reset(&s->changed_shapes);
    /* Heads move to the end one by one and leave their places: the array must not grow with the
     * jobs that have ever been. */
    if (s->order.arrived.n > FEW_CHANGES || s->order.holes > s->order.turns.n / 2 + FEW_CHANGES) {
        turns_merge(s);
        return;
    }
    vec_each (&s->order.arrived, turn) {
        turn_insert(s, turn);
    }
}

void sched_settle(struct sched *s, int64_t now) {
    s->now = now;
    queue_timers(s, now);
    turns_update(s);
}

void shape_turn_changed(struct sched *s, struct shape *shape) {
    if (shape->changed)
        return;
    vec_push(&s->changed_shapes, shape);
    shape->changed = s->changed_shapes.n;
}

void order_forget(struct sched *s, struct shape *shape) {
    turn_withdraw(s, shape);
    if (shape->changed)
        s->changed_shapes.items[shape->changed - 1] = NULL;
    if (shape->reported)
        s->reports.items[shape->reported - 1] = NULL;
    shape->changed = shape->reported = 0;
}

/* ---- the walk ---- */

static void again_down(struct sched *s, size_t i, struct again moved) {
    struct again *heap = s->order.again.items;
    size_t n = s->order.again.n;

    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && key_before(&heap[child + 1].key, &heap[child].key))
            child++;
        if (!key_before(&heap[child].key, &moved.key))
            break;
        heap[i] = heap[child];
    }
    heap[i] = moved;
}

static void again_push(struct sched *s, struct again entry) {
    size_t i = s->order.again.n;

    vec_push(&s->order.again, entry);
    struct again *heap = s->order.again.items;
    for (; i > 0 && key_before(&entry.key, &heap[(i - 1) / 2].key); i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = entry;
}

static void again_pop(struct sched *s) {
    struct again last = s->order.again.items[--s->order.again.n];

    if (s->order.again.n > 0)
        again_down(s, 0, last);
}

static void order_look(struct sched *s) {
    const struct turn *turns = s->order.turns.items;
    const struct again *again = s->order.again.n ? s->order.again.items : NULL;

    while (s->order.next < s->order.turns.n && !turns[s->order.next].shape)
        s->order.next++;
    bool more = s->order.next < s->order.turns.n;
    s->order.from_again = again && (!more || key_before(&again->key, &turns[s->order.next].key));
    s->order.turn = s->order.from_again ? again->turn : more ? s->order.next : NO_TURN;
}

void order_begin(struct sched *s) {
    turns_update(s);
    vec_reset(&s->order.again);
    s->order.next = 0;
    order_look(s);
}

struct turn *order_turn(struct sched *s) {
    return s->order.turn == NO_TURN ? NULL : &s->order.turns.items[s->order.turn];
}

struct job *order_job(struct sched *s) {
    struct shape *shape = order_turn(s)->shape;

    if (!s->order.from_again) {
        shape->cursor = shape->first;
        shape->guarded_seen = 0;
    }
    return shape->jobs[shape->cursor];
}

void order_drop(struct sched *s) {
    if (s->order.from_again)
        again_pop(s);
    else
        s->order.next++;
    order_look(s);
}

void order_return(struct sched *s, size_t turn) {
    s->order.turn = turn;
}

void order_advance(struct sched *s) {
    struct shape *shape = order_turn(s)->shape;

    shape->cursor++;
    const struct job *job = job_list_at(shape, &shape->cursor);
    if (!job) {
        order_drop(s);
        return;
    }
    struct again entry = {job_key(job), s->order.turn};
    if (s->order.from_again) {
        again_down(s, 0, entry);
    } else {
        s->order.next++;
        again_push(s, entry);
    }
    order_look(s);
}
