/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of the nodes that could take a share are taken. Input: s->found in order of preference.
 * Required nodes come first, then the groups of the constraint (name*N), then the rest: with a
 * fixed share the first ones, with tasks or GRES to spread the fewest nodes that hold them, best
 * fit.
 */
#include <assert.h>

#include "sched/internal.h"

static int compare_now(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->node < y->node ? -1 : 1;
}

/* For the future: what becomes free last is bound first, so that what is free now stays open to
 * others. */
static int compare_future(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;

    if (x->ready != y->ready)
        return x->ready > y->ready ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->node < y->node ? -1 : 1;
}

void candidates_sort(struct sched *s, const struct alternative *alt, bool future) {
    sort_items(s->found.items, s->found.n, sizeof(*s->found.items),
               future ? compare_future : compare_now);
}

/* The amount that is spread: GRES of the job if any, else tasks. */
static uint32_t spread_of(const struct shape *shape, const struct candidate *c) {
    return shape->n_per_job ? c->units : c->tasks;
}

uint32_t spread_goal(const struct shape *shape, const struct alternative *alt) {
    if (shape->n_per_job)
        return shape->per_job[0].count;
    return shape_is_fixed(shape, alt) ? 0 : shape->ntasks;
}

static void pick_push(struct placement *out, const struct candidate *c) {
    struct pick pick = {c->node, c->tasks, {c->units}, false, 0};
    vec_push(&out->picks, pick);
}

/* Moves a candidate from found to the picks. */
static void candidate_take(struct sched *s, size_t i, struct placement *out) {
    pick_push(out, &s->found.items[i]);
    vec_remove(&s->found, i);
}

static bool take_required(struct sched *s, const struct shape *shape, struct placement *out) {
    for (size_t r = 0; r < shape->n_req_nodes; r++) {
        size_t i = 0;
        while (i < s->found.n && s->found.items[i].node != shape->req_nodes[r])
            i++;
        if (i == s->found.n)
            return false;
        candidate_take(s, i, out);
    }
    return true;
}

/* Groups are taken as written, in order of preference, nodes that no later group can use before
 * others. That may fail though there is a way. */
static bool take_groups(struct sched *s, const struct alternative *alt, struct placement *out) {
    size_t n_required = out->picks.n; /* a required node serves one group */

    for (size_t g = 0; g < alt->n_groups; g++) {
        uint32_t left = alt->groups[g].count;

        for (size_t i = 0; i < n_required && left > 0; i++) {
            struct pick *pick = &out->picks.items[i];
            if (!pick->grouped && bits_test(&alt->groups[g].set->nodes, pick->node)) {
                pick->grouped = true;
                left--;
            }
        }
        for (int later = 0; later < 2 && left > 0; later++) {
            for (size_t i = 0; i < s->found.n && left > 0;) {
                uint32_t node = s->found.items[i].node;
                bool wanted_later = false;
                for (size_t k = g + 1; k < alt->n_groups; k++)
                    wanted_later |= bits_test(&alt->groups[k].set->nodes, node);
                if (!bits_test(&alt->groups[g].set->nodes, node) || (wanted_later && !later)) {
                    i++;
                    continue;
                }
                candidate_take(s, i, out);
                left--;
            }
        }
        if (left > 0)
            return false;
    }
    return true;
}

/* Who stands for which group. Both arrays have as many members as the groups have
 * places. */
struct standing {
    const struct alternative *alt;
    uint32_t *nodes, *groups;
    size_t n;
    uint32_t counts[GROUPS_MAX];
};

/* Finds a group for one more node; others may change theirs for it. `tried`: groups, as bits. */
static bool standing_add(struct standing *st, uint32_t node, size_t member, uint32_t *tried) {
    for (size_t g = 0; g < st->alt->n_groups; g++) {
        if ((*tried >> g & 1) || !bits_test(&st->alt->groups[g].set->nodes, node))
            continue;
        *tried |= 1u << g;
        bool open = st->counts[g] < st->alt->groups[g].count;
        for (size_t i = 0; i < st->n && !open; i++) {
            if (i == member || st->groups[i] != g || !standing_add(st, st->nodes[i], i, tried))
                continue;
            st->counts[g]--; /* it went elsewhere */
            open = true;
        }
        if (!open)
            continue;
        st->counts[g]++;
        st->nodes[member] = node;
        st->groups[member] = (uint32_t) g;
        return true;
    }
    return false;
}

static void take_node(struct sched *s, uint32_t node, struct placement *out) {
    size_t i = 0;

    while (s->found.items[i].node != node)
        i++;
    candidate_take(s, i, out);
}

static void rest_by_size(struct sched *s, const struct shape *shape);

/* The same where a choice in order of preference fails: finds nodes for all groups whenever there
 * are any, and of those the largest (what can stand for the groups is a matroid, so taking the
 * largest that still can is best). */
static bool take_groups_largest(struct sched *s, const struct shape *shape,
                                const struct alternative *alt, struct placement *out) {
    struct standing st = {.alt = alt};
    size_t n_required = out->picks.n, wanted = 0;
    uint32_t full = 0; /* groups, as bits: nothing can be changed there any more */

    for (size_t g = 0; g < alt->n_groups; g++)
        wanted += alt->groups[g].count;
    if (wanted > n_required + s->found.n)
        return false;
    st.nodes = xcalloc(wanted + 1, sizeof(*st.nodes));
    st.groups = xcalloc(wanted + 1, sizeof(*st.groups));
    rest_by_size(s, shape);
    for (size_t i = 0; i < n_required + s->rest.n && st.n < wanted; i++) {
        bool required = i < n_required;
        uint32_t node = required ? out->picks.items[i].node : s->rest.items[i - n_required].node;
        uint32_t tried = full;
        if (!standing_add(&st, node, st.n, &tried)) {
            full = tried;
            continue;
        }
        st.n++;
        if (!required)
            take_node(s, node, out);
    }
    bool ok = st.n == wanted;
    free(st.nodes);
    free(st.groups);
    return ok;
}

/* Largest allowed number of nodes in [low, high], or 0. */
static uint32_t count_at_most(const struct shape *shape, uint32_t low, uint32_t high) {
    for (uint32_t n = high; n >= low && n > 0; n--) {
        if (shape_count_allowed(shape, n))
            return n;
    }
    return 0;
}

uint32_t fixed_goal(const struct shape *shape, const struct alternative *alt, size_t have,
                    size_t taken) {
    uint32_t low = max_of(alt->min_nodes, (uint32_t) taken);
    uint32_t high = shape->ntasks || alt->max_nodes == UINT32_MAX ? low : alt->max_nodes;

    if (have < low || alt->max_nodes < low)
        return 0;
    if (shape->n_counts && high == low)
        high = min_of(alt->max_nodes, shape->counts[shape->n_counts - 1]);
    return count_at_most(shape, low, min_of((size_t) high, have));
}

static bool fixed_rest(struct sched *s, const struct shape *shape, const struct alternative *alt,
                       struct placement *out) {
    size_t have = out->picks.n + s->found.n;
    uint32_t n = fixed_goal(shape, alt, have, out->picks.n);

    if (n == 0)
        return false;
    for (size_t i = 0; out->picks.n < n; i++)
        pick_push(out, &s->found.items[i]);
    return true;
}

/* ---- spreading tasks or GRES ---- */

static int compare_spread_tasks(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;

    if (x->tasks != y->tasks)
        return x->tasks > y->tasks ? -1 : 1;
    return x->ready < y->ready ? -1 : x->ready > y->ready;
}
static int compare_spread_units(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;

    if (x->units != y->units)
        return x->units > y->units ? -1 : 1;
    if (x->tasks != y->tasks)
        return x->tasks > y->tasks ? -1 : 1;
    return x->ready < y->ready ? -1 : x->ready > y->ready;
}

/* Copies found to rest, largest first; `ready` becomes the position in found, to break ties. */
static void rest_by_size(struct sched *s, const struct shape *shape) {
    vec_reset(&s->rest);
    for (size_t i = 0; i < s->found.n; i++) {
        struct candidate c = s->found.items[i];
        c.ready = i;
        vec_push(&s->rest, c);
    }
    sort_items(s->rest.items, s->rest.n, sizeof(*s->rest.items),
               shape->n_per_job ? compare_spread_units : compare_spread_tasks);
}

/* Fewest nodes, at least alt->min_nodes and `taken`, whose largest shares reach the goal. */
static uint32_t spread_count(const struct sched *s, const struct shape *shape,
                             const struct alternative *alt, uint64_t taken_sum, size_t taken,
                             uint32_t goal) {
    uint64_t sum = taken_sum;
    uint32_t n = taken;
    uint32_t most = alt->max_nodes;

    for (size_t i = 0;; i++) {
        if (n >= alt->min_nodes && n > 0 && n <= most && sum >= goal &&
            shape_count_allowed(shape, n))
            return n;
        if (i >= s->rest.n || n >= most)
            return 0;
        sum += spread_of(shape, &s->rest.items[i]);
        n++;
    }
}

/* Nodes that can each have something of the goal. */
static uint32_t spread_most(const struct sched *s, const struct shape *shape,
                            const struct alternative *alt, size_t taken, uint32_t goal) {
    uint32_t most = min_of(alt->max_nodes, (uint32_t) (taken + s->rest.n));

    if (shape->ntasks)
        most = min_of(most, shape->ntasks);
    return min_of(most, goal);
}

static bool spread_rest(struct sched *s, const struct shape *shape, const struct alternative *alt,
                        struct placement *out) {
    uint32_t goal = spread_goal(shape, alt);
    uint64_t sum = 0;
    size_t taken = out->picks.n;

    vec_each (&out->picks, pick) {
        sum += shape->n_per_job ? pick->share[0] : pick->tasks;
    }
    rest_by_size(s, shape);
    uint32_t n = spread_count(s, shape, alt, sum, taken, goal);
    if (n == 0)
        return false;
    if (shape->spread)
        n = count_at_most(shape, n, spread_most(s, shape, alt, taken, goal));
    /* Nodes that can hold an even share, in order of preference. */
    uint64_t left = goal > sum ? goal - sum : 0;
    uint32_t even = n > taken ? (left + (n - taken) - 1) / (n - taken) : 0;
    uint32_t even_tasks = shape->n_per_job ? (shape->ntasks + n - 1) / n : 0;
    for (size_t i = 0; i < s->found.n && out->picks.n < n; i++) {
        const struct candidate *c = &s->found.items[i];
        if (spread_of(shape, c) >= even && c->tasks >= even_tasks)
            pick_push(out, &s->found.items[i]);
    }
    if (out->picks.n == n)
        return true;
    /* Too few of those: the largest, and for the remainder the first in order that suffices. */
    out->picks.n = taken;
    for (size_t i = 0; out->picks.n + 1 < n; i++) {
        pick_push(out, &s->rest.items[i]);
        sum += spread_of(shape, &s->rest.items[i]);
    }
    size_t used = n - taken - 1, best = used;
    for (size_t i = used; i < s->rest.n; i++) {
        if (sum + spread_of(shape, &s->rest.items[i]) >= goal &&
            s->rest.items[i].ready < s->rest.items[best].ready)
            best = i;
    }
    pick_push(out, &s->rest.items[best]);
    return true;
}

/* ---- contiguous ---- */

/* `ready` holds the configured position meanwhile. */
static int compare_outer(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    return x->ready < y->ready ? -1 : x->ready > y->ready;
}

static bool window_has_required(const struct sched *s, const struct shape *shape, size_t from,
                                size_t to) {
    for (size_t r = 0; r < shape->n_req_nodes; r++) {
        bool found = false;
        for (size_t i = from; i < to && !found; i++)
            found = s->found.items[i].node == shape->req_nodes[r];
        if (!found)
            return false;
    }
    return true;
}

/* Neighbours in configured order. The shortest window that holds the job; for a fixed share the
 * largest allowed count. */
static bool contiguous_select(struct sched *s, const struct shape *shape,
                              const struct alternative *alt, struct placement *out) {
    uint32_t goal = spread_goal(shape, alt);
    size_t best_from = 0, best_n = 0;

    vec_each (&s->found, c) {
        c->ready = s->nodes[c->node].outer;
    }
    sort_items(s->found.items, s->found.n, sizeof(*s->found.items), compare_outer);
    for (size_t from = 0, to; from < s->found.n; from++) {
        uint64_t sum = 0, tasks = 0;
        for (to = from; to < s->found.n; to++) {
            if (to > from && s->found.items[to].ready != s->found.items[to - 1].ready + 1)
                break;
            size_t n = to - from + 1;
            sum += spread_of(shape, &s->found.items[to]);
            tasks += s->found.items[to].tasks;
            if (n > alt->max_nodes || (best_n && n > best_n))
                break;
            if (n >= alt->min_nodes && sum >= goal && tasks >= shape->ntasks &&
                shape_count_allowed(shape, n) && window_has_required(s, shape, from, to + 1) &&
                topology_allows(s, from, to + 1)) {
                if (best_n == 0 || n < best_n) {
                    best_from = from;
                    best_n = n;
                }
                break;
            }
        }
    }
    for (size_t i = 0; i < best_n; i++)
        pick_push(out, &s->found.items[best_from + i]);
    return best_n > 0;
}

/* ---- tasks and GRES over the chosen nodes ---- */

/* Gives `total` units out one round at a time, at most cap[i] to each, at least one where possible.
 */
static bool deal(uint32_t total, const uint32_t *caps, uint32_t *shares, size_t n) {
    uint32_t left = total;

    for (size_t i = 0; i < n; i++)
        shares[i] = 0;
    while (left > 0) {
        size_t open = 0;
        uint32_t least = UINT32_MAX;

        for (size_t i = 0; i < n; i++) {
            if (shares[i] < caps[i]) {
                open++;
                least = min_of(least, caps[i] - shares[i]);
            }
        }
        if (open == 0)
            return false;
        uint32_t round = min_of((uint32_t) (left / open), least);
        for (size_t i = 0; i < n && left > 0; i++) {
            uint32_t give = shares[i] < caps[i] ? max_of(round, 1u) : 0;
            shares[i] += give;
            left -= give;
        }
    }
    return true;
}

/* How many of per-job request `g` node i can still take. */
static uint32_t share_room(const struct sched *s, const struct shape *shape, uint8_t g,
                           uint32_t node) {
    int64_t room = node_total(s, node)[shape->per_job[g].dim];
    return room < 0 ? 0 : min_of(room, (int64_t) shape->per_job[g].count);
}

static int compare_order(const void *a, const void *b) {
    const struct pick *x = a, *y = b;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* As Slurm does: as many as fit on the first node while each of the others still gets one. */
static bool deal_tasks(uint32_t total, struct placement *out) {
    uint32_t left = total, others = out->picks.n;

    vec_each (&out->picks, pick) {
        others--;
        pick->tasks = min_of(pick->tasks, left > others ? left - others : min_of(left, 1u));
        left -= pick->tasks;
    }
    return left == 0;
}

/* One round after the other. */
static bool deal_tasks_evenly(uint32_t total, struct placement *out) {
    size_t n = out->picks.n;
    uint32_t *caps = xcalloc(n + 1, sizeof(*caps)), *shares = xcalloc(n + 1, sizeof(*shares));

    for (size_t i = 0; i < n; i++)
        caps[i] = out->picks.items[i].tasks;
    bool ok = deal(total, caps, shares, n);
    for (size_t i = 0; i < n; i++)
        out->picks.items[i].tasks = shares[i];
    free(caps);
    free(shares);
    return ok;
}

static bool deal_shares(const struct sched *s, const struct shape *shape, uint8_t g,
                        struct placement *out) {
    size_t n = out->picks.n;
    uint32_t *caps = xcalloc(n + 1, sizeof(*caps)), *shares = xcalloc(n + 1, sizeof(*shares));

    for (size_t i = 0; i < n; i++) {
        const struct pick *pick = &out->picks.items[i];
        caps[i] = g == 0 ? pick->share[0] : share_room(s, shape, g, pick->node);
    }
    bool ok = deal(shape->per_job[g].count, caps, shares, n);
    for (size_t i = 0; i < n; i++)
        out->picks.items[i].share[g] = shares[i];
    free(caps);
    free(shares);
    return ok;
}

bool placement_deal(const struct sched *s, const struct shape *shape, struct placement *out) {
    vec_each (&out->picks, pick) {
        pick->order = s->nodes[pick->node].outer;
    }
    sort_items(out->picks.items, out->picks.n, sizeof(*out->picks.items), compare_order);
    if (shape->ntasks &&
        !(shape->spread ? deal_tasks_evenly(shape->ntasks, out) : deal_tasks(shape->ntasks, out)))
        return false;
    for (uint8_t g = 0; g < shape->n_per_job; g++) {
        if (!deal_shares(s, shape, g, out))
            return false;
    }
    return true;
}

bool select_is_exact(const struct shape *shape, const struct alternative *alt) {
    if (shape->n_per_job > 1 || (shape->n_per_job && shape->ntasks > 1))
        return false;
    if (shape->max_switches > 1 &&
        (shape->n_req_nodes > 0 || alt->n_groups > 0 || !shape_is_fixed(shape, alt)))
        return false;
    return alt->n_groups == 0 ||
           (alt->n_groups == 1 && shape->n_req_nodes == 0 && shape_is_fixed(shape, alt));
}

static bool select_rest(struct sched *s, const struct shape *shape, const struct alternative *alt,
                        struct placement *out) {
    return spread_goal(shape, alt) ? spread_rest(s, shape, alt, out)
                                   : fixed_rest(s, shape, alt, out);
}

static bool select_groups(struct sched *s, const struct shape *shape, const struct alternative *alt,
                          struct placement *out) {
    size_t n = s->found.n, n_required = out->picks.n;
    struct candidate *found = xcalloc(n + 1, sizeof(*found));

    if (n > 0)
        memcpy(found, s->found.items, n * sizeof(*found));
    bool ok = take_groups(s, alt, out) && select_rest(s, shape, alt, out);
    if (!ok) {
        out->picks.n = n_required;
        s->found.n = n;
        if (n > 0)
            memcpy(s->found.items, found, n * sizeof(*found));
        ok = take_groups_largest(s, shape, alt, out) && select_rest(s, shape, alt, out);
    }
    free(found);
    return ok;
}

bool select_among(struct sched *s, const struct shape *shape, const struct alternative *alt,
                  struct placement *out) {
    bool ok;

    vec_reset(&out->picks);
    vec_reset(&out->amounts);
    if (s->found.n < alt->min_nodes)
        return false;
    if (shape->contiguous) {
        ok = contiguous_select(s, shape, alt, out);
    } else {
        ok = take_required(s, shape, out);
        ok = ok && (alt->n_groups > 0 ? select_groups(s, shape, alt, out)
                                      : select_rest(s, shape, alt, out));
    }
    return ok && placement_deal(s, shape, out);
}

bool select_nodes(struct sched *s, const struct shape *shape, const struct alternative *alt,
                  struct placement *out) {
    if (s->most_leaves > 0 && !shape->contiguous)
        return topology_select(s, shape, alt, out);
    return select_among(s, shape, alt, out);
}
