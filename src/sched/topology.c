/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network: which leaf switch a node is at, and leaves close to each other. A job of several
 * nodes goes to the fewest leaves that hold it; among as few, to those under the lowest common
 * switch; full leaves first, and for the last one the leaf that just suffices. With a wish
 * (--switches) it starts on no more leaves than that while the wish holds.
 *
 * Leaves are numbered so that those below a switch are neighbours. A node at no switch is a leaf of
 * its own, far from all others.
 *
 * Exact for one leaf, and for equal shares without named nodes or groups. Otherwise the leaves are
 * chosen by sums, and the selection may then fail (select_is_exact).
 */
#include <assert.h>

#include "sched/internal.h"

struct tree_switch {
    uint32_t begin, end; /* leaves below it */
    uint32_t level;      /* 0: a leaf */
};
/* What the candidates at a leaf could take. */
struct leaf_share {
    uint32_t leaf, nodes;
    uint64_t amount;
    size_t first; /* the best of them: its position */
    bool required;
};
struct topology {
    uint32_t *leaf; /* per node */
    uint32_t n_leaves;
    struct tree_switch *switches; /* the last is the one over all */
    uint32_t n_switches;
    /* scratch */
    uint32_t *counts; /* per leaf; all zero between searches */
    bool counted;
    struct leaf_share *shares; /* per leaf */
    size_t *offsets;           /* per leaf: where its candidates go; SIZE_MAX = nowhere */
    vec(struct leaf_share) order, chosen;
    vec(struct candidate) all;
};

/* ---- the tree ---- */

static void number_leaves(struct topology *t, const struct sched_switch_spec *specs, uint32_t n,
                          uint32_t at) {
    struct tree_switch *self = &t->switches[at];
    bool leaf = true;

    self->begin = t->n_leaves;
    for (uint32_t i = 0; i < n; i++) {
        if (specs[i].parent != at)
            continue;
        leaf = false;
        number_leaves(t, specs, n, i);
        self->level = max_of(self->level, t->switches[i].level + 1);
    }
    if (leaf)
        t->n_leaves++;
    self->end = t->n_leaves;
}

void sched_set_switches(struct sched *s, const struct sched_switch_spec *specs, size_t n,
                        const uint32_t *leaf_of) {
    topology_clear(s);
    if (n > 0) {
        struct topology *t = s->topology = zalloc(struct topology);
        uint32_t top = 0;

        t->leaf = xcalloc(s->n_nodes + 1, sizeof(*t->leaf));
        t->switches = xcalloc(n + s->n_nodes + 1, sizeof(*t->switches));
        for (uint32_t i = 0; i < n; i++) {
            if (specs[i].parent == SCHED_NO_NODE)
                number_leaves(t, specs, n, i);
            top = max_of(top, t->switches[i].level + 1);
        }
        t->n_switches = n;
        for (uint32_t i = 0; i < s->n_nodes; i++) {
            uint32_t at = leaf_of[s->nodes[i].outer];
            if (at == SCHED_NO_NODE) {
                t->switches[t->n_switches++] =
                    (struct tree_switch) {t->n_leaves, t->n_leaves + 1, 0};
                t->leaf[i] = t->n_leaves++;
            } else {
                assert(at < n);
                t->leaf[i] = t->switches[at].begin;
            }
        }
        t->switches[t->n_switches++] = (struct tree_switch) {0, t->n_leaves, top};
        t->counts = xcalloc(t->n_leaves + 1, sizeof(*t->counts));
        t->shares = xcalloc(t->n_leaves + 1, sizeof(*t->shares));
        t->offsets = xcalloc(t->n_leaves + 1, sizeof(*t->offsets));
    }
    sched_statics(s);
}

void topology_clear(struct sched *s) {
    struct topology *t = s->topology;

    s->topology = NULL;
    s->wish_due = SCHED_FOREVER;
    if (!t)
        return;
    free(t->leaf);
    free(t->switches);
    free(t->counts);
    free(t->shares);
    free(t->offsets);
    vec_done(&t->order);
    vec_done(&t->chosen);
    vec_done(&t->all);
    free(t);
}

/* ---- wishes ---- */

void topology_wish(struct sched *s, const struct shape *shape) {
    if (s->topology && shape->max_switches && shape->switches_until > s->now)
        s->wish_due = min_of(s->wish_due, shape->switches_until);
}

void topology_pass(struct sched *s, int64_t now) {
    if (s->wish_due > now)
        return;
    s->wish_due = SCHED_FOREVER;
    vec_each (&s->shapes, shape) {
        if ((*shape)->max_switches && (*shape)->switches_until > now)
            s->wish_due = min_of(s->wish_due, (*shape)->switches_until);
    }
    sched_released(s);
}

void topology_at(struct sched *s, const struct shape *shape, const struct alternative *alt,
                 int64_t when) {
    bool one = alt->max_nodes == 1 ||
               (shape_is_fixed(shape, alt) && fixed_goal(shape, alt, UINT32_MAX, 0) == 1);

    if (!s->topology || one)
        s->most_leaves = 0;
    else if (shape->max_switches && when < shape->switches_until)
        s->most_leaves = shape->max_switches;
    else
        s->most_leaves = shape->spread ? 0 : UINT32_MAX;
}

bool topology_allows(const struct sched *s, size_t from, size_t to) {
    uint32_t n = 0;

    if (s->most_leaves == 0 || s->most_leaves == UINT32_MAX)
        return true;
    for (size_t i = from; i < to; i++) {
        uint32_t leaf = s->topology->leaf[s->found.items[i].node];
        bool seen = false;
        for (size_t k = from; k < i && !seen; k++)
            seen = s->topology->leaf[s->found.items[k].node] == leaf;
        n += !seen;
    }
    return n <= s->most_leaves;
}

uint32_t topology_count(struct sched *s, uint32_t node, int by) {
    struct topology *t = s->topology;

    if (!t)
        return UINT32_MAX;
    t->counted = true;
    return t->counts[t->leaf[node]] += (uint32_t) by;
}

void topology_count_end(struct sched *s) {
    struct topology *t = s->topology;

    if (!t || !t->counted)
        return;
    memset(t->counts, 0, t->n_leaves * sizeof(*t->counts));
    t->counted = false;
}

/* ---- choosing leaves ---- */

struct leaf_search {
    struct sched *s;
    struct topology *t;
    const struct shape *shape;
    const struct alternative *alt;
    struct placement *out;
    uint64_t goal;       /* of the amount that is spread, or nodes */
    uint32_t nodes;      /* at least so many */
    uint32_t n_required; /* leaves that must be among them */
    uint64_t have;       /* of those chosen */
    uint32_t have_nodes;
};

static void shares_add_up(struct leaf_search *q) {
    struct topology *t = q->t;
    bool spreads = spread_goal(q->shape, q->alt) > 0;

    for (uint32_t i = 0; i < t->n_leaves; i++)
        t->shares[i] = (struct leaf_share) {.leaf = i};
    vec_reset(&t->all);
    vec_each (&q->s->found, c) {
        struct leaf_share *share = &t->shares[t->leaf[c->node]];
        if (share->nodes++ == 0)
            share->first = t->all.n;
        share->amount += !spreads ? 1 : q->shape->n_per_job ? c->units : c->tasks;
        vec_push(&t->all, *c);
    }
    for (size_t r = 0; r < q->shape->n_req_nodes; r++) {
        struct leaf_share *share = &t->shares[t->leaf[q->shape->req_nodes[r]]];
        q->n_required += !share->required;
        share->required = true;
    }
}

static int compare_largest(const void *a, const void *b) {
    const struct leaf_share *x = a, *y = b;

    if (x->amount != y->amount)
        return x->amount > y->amount ? -1 : 1;
    if (x->nodes != y->nodes)
        return x->nodes > y->nodes ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static void leaf_choose(struct leaf_search *q, const struct leaf_share *share) {
    vec_push(&q->t->chosen, *share);
    q->have += share->amount;
    q->have_nodes += share->nodes;
}

/* Chooses what must be among them, and puts the others in order. False: some are elsewhere. */
static bool leaves_begin(struct leaf_search *q, const struct tree_switch *below) {
    struct topology *t = q->t;

    vec_reset(&t->order);
    vec_reset(&t->chosen);
    q->have = q->have_nodes = 0;
    for (uint32_t i = below->begin; i < below->end; i++) {
        if (t->shares[i].nodes > 0 && t->shares[i].required)
            leaf_choose(q, &t->shares[i]);
        else if (t->shares[i].nodes > 0)
            vec_push(&t->order, t->shares[i]);
    }
    sort_items(t->order.items, t->order.n, sizeof(*t->order.items), compare_largest);
    return t->chosen.n == q->n_required;
}

static bool is_enough(const struct leaf_search *q, const struct leaf_share *more) {
    return q->have + (more ? more->amount : 0) >= q->goal &&
           q->have_nodes + (more ? more->nodes : 0) >= q->nodes;
}

/* The smallest of those from i on that completes the choice, else the largest. */
static size_t leaf_next(const struct leaf_search *q, size_t i) {
    const struct leaf_share *order = q->t->order.items;

    if (q->have + order[i].amount < q->goal)
        return i;
    for (size_t k = q->t->order.n; k-- > i;) {
        if (!is_enough(q, &order[k]))
            continue;
        while (k > i && order[k - 1].amount == order[k].amount &&
               order[k - 1].nodes == order[k].nodes)
            k--;
        return k;
    }
    return i;
}

/* The fewest leaves below a switch that could hold the job; 0 = none. */
static uint32_t leaves_fewest(struct leaf_search *q, const struct tree_switch *below) {
    struct topology *t = q->t;

    if (!leaves_begin(q, below))
        return 0;
    for (size_t i = 0; !is_enough(q, NULL); i++) {
        if (i == t->order.n)
            return 0;
        leaf_choose(q, &t->order.items[leaf_next(q, i)]);
    }
    return t->chosen.n;
}

/* As many as may be, the largest. */
static bool leaves_largest(struct leaf_search *q, uint32_t most) {
    struct topology *t = q->t;

    if (!leaves_begin(q, &t->switches[t->n_switches - 1]) || t->chosen.n > most)
        return false;
    for (size_t i = 0; i < t->order.n && t->chosen.n < most; i++)
        leaf_choose(q, &t->order.items[i]);
    return true;
}

/* s->found = the candidates at the chosen leaves, leaf by leaf; then selects among them. */
static bool leaves_select(struct leaf_search *q) {
    struct topology *t = q->t;
    struct sched *s = q->s;
    size_t n = 0;

    for (uint32_t i = 0; i < t->n_leaves; i++)
        t->offsets[i] = SIZE_MAX;
    vec_each (&t->chosen, share) {
        t->offsets[share->leaf] = n;
        n += share->nodes;
    }
    vec_reset(&s->found);
    vec_reserve(&s->found, n + 1);
    s->found.n = n;
    vec_each (&t->all, c) {
        size_t *offset = &t->offsets[t->leaf[c->node]];
        if (*offset != SIZE_MAX)
            s->found.items[(*offset)++] = *c;
    }
    s->candidates++;
    return select_among(s, q->shape, q->alt, q->out);
}

/* ---- choosing a switch ---- */

#define SWITCHES_TRIED 8 /* where sums do not tell */
struct switch_option {
    uint32_t at, n_leaves, level;
    uint64_t size;
};

static int compare_options(const void *a, const void *b) {
    const struct switch_option *x = a, *y = b;

    if (x->n_leaves != y->n_leaves)
        return x->n_leaves < y->n_leaves ? -1 : 1;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Switches below which few enough leaves could hold the job, the best first. */
static size_t options_make(struct leaf_search *q, uint32_t most, struct switch_option *options) {
    const struct topology *t = q->t;
    size_t n = 0;

    for (uint32_t i = 0; i < t->n_switches; i++) {
        const struct tree_switch *at = &t->switches[i];
        uint32_t n_leaves = leaves_fewest(q, at);
        if (n_leaves == 0 || n_leaves > most || (n_leaves == 1 && at->level > 0))
            continue;
        uint64_t size = 0;
        vec_each (&t->order, share) {
            size += share->amount;
        }
        options[n++] = (struct switch_option) {i, n_leaves, at->level, size};
    }
    sort_items(options, n, sizeof(*options), compare_options);
    return n;
}

/* How many of what the leaves must hold. False: nothing would do. */
static bool goal_set(struct leaf_search *q, uint32_t most) {
    uint32_t goal = spread_goal(q->shape, q->alt);

    q->goal = goal;
    q->nodes = q->alt->min_nodes;
    if (goal > 0)
        return true;
    if (!leaves_largest(q, most))
        return false;
    q->goal = q->nodes = fixed_goal(q->shape, q->alt, q->have_nodes, q->shape->n_req_nodes);
    return q->nodes > 0;
}

bool topology_select(struct sched *s, const struct shape *shape, const struct alternative *alt,
                     struct placement *out) {
    struct leaf_search q = {.s = s, .t = s->topology, .shape = shape, .alt = alt, .out = out};
    uint32_t most = s->most_leaves;
    bool done = false;

    shares_add_up(&q);
    struct switch_option *options = xcalloc(q.t->n_switches, sizeof(*options));
    size_t n = goal_set(&q, most) ? options_make(&q, most, options) : 0;
    for (size_t i = 0; i < n && !done && (most == 1 || i < SWITCHES_TRIED); i++) {
        leaves_fewest(&q, &q.t->switches[options[i].at]);
        done = leaves_select(&q);
    }
    if (!done && most > 1 && leaves_largest(&q, most))
        done = leaves_select(&q);
    free(options);
    return done;
}
