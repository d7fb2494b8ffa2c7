/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a job could start at once. Bit sets narrow the nodes down; each one that is left is tested
 * exactly. Preference among nodes: low weight, no GRES that the job does not use, nodes that are
 * planned for somebody later when the job ends in time (so that unplanned ones stay open for long
 * jobs), least left over, configured order.
 */
#include "sched/internal.h"

/* Which amounts count for a job that would run over [now, end). */
enum view_of {
    VIEW_NOW,   /* no plan begins meanwhile */
    VIEW_LATER, /* every plan does */
    VIEW_EXACT, /* some do: look at each planned node */
};

static enum view_of view_for(const struct sched *s, const struct alternative *alt, int64_t end) {
    const struct pool *pool = alternative_pool(s, alt);

    if (s->naive || alt->blind)
        return VIEW_EXACT;
    if (pool->plans.n == 0 || pool->first_start >= end)
        return VIEW_NOW;
    return end > pool->last_start ? VIEW_LATER : VIEW_EXACT;
}

static const int64_t *node_have(const struct sched *s, const struct alternative *alt, uint32_t node,
                                enum view_of view, int64_t end, int64_t *scratch) {
    if (alt->reservation || bits_test(&s->reserved, node)) {
        node_window_of(s, alt, node, s->now, end, scratch);
        return scratch;
    }
    if (view == VIEW_NOW || (view == VIEW_EXACT && !s->naive && s->nodes[node].plans.n == 0))
        return node_free(s, node);
    if (view == VIEW_LATER)
        return node_keep(s, node);
    node_window_of(s, alt, node, s->now, end, scratch);
    return scratch;
}

void candidate_rank(const struct sched *s, const struct shape *shape, const struct alternative *alt,
                    struct candidate *c) {
    uint32_t waste = !shape->wants_gres && bits_test(&s->has_gres, c->node);
    uint32_t open = s->nodes[c->node].plans.n == 0;
    int64_t left = node_free(s, c->node)[shape->primary];

    c->rank = s->nodes[c->node].weight_class * 4 + waste * 2 + open;
    /* Those who share CPUs go where most of them are free. */
    bool spread = s->partitions[alt->partition].spread || alternative_shares(s, shape, alt);
    c->value = spread ? -left : s->settings.pack_nodes ? left : 0;
}

/* ---- narrowing down ---- */

void need_least(const struct shape *shape, uint32_t tasks, bool all, int64_t *need,
                uint32_t n_dims) {
    memset(need, 0, n_dims * sizeof(*need));
    int64_t gpus = need_add_gres(shape, tasks, need);
    for (uint8_t i = 0; i < shape->n_per_job; i++) {
        int64_t count = all ? shape->per_job[i].count : i == 0;
        need[shape->per_job[i].dim] += count;
        gpus += shape->per_job[i].is_gpu ? count : 0;
    }
    int64_t cpus = shape->overcommit ? 1 : (int64_t) tasks * shape->cpus_per_task;
    cpus = max_of(cpus, (int64_t) shape->min_cpus_per_node);
    cpus = max_of(cpus, (int64_t) shape->cpus_per_gpu * gpus);
    need[DIM_CPU] = max_of(cpus, (int64_t) 1);
    need[DIM_MEM] = shape->mem_per_node >= 0  ? max_of(shape->mem_per_node, (int64_t) 1)
                    : shape->mem_per_cpu >= 0 ? shape->mem_per_cpu * need[DIM_CPU]
                    : shape->mem_per_gpu >= 0 ? shape->mem_per_gpu * gpus
                                              : 0;
}

/* s->mask = nodes that may have `need`; returns how many, 0 at the first sign of too few. With
 * shared CPUs, the index does not say who has those. */
static size_t mask_make(struct sched *s, const struct shape *shape, const struct alternative *alt,
                        enum view_of view, const int64_t *need) {
    const struct index *index = view == VIEW_LATER ? &s->by_keep : &s->by_free;
    const struct bits *sets[MAX_DIMS + 3];
    size_t n_sets = 0, words = bits_words(s->n_nodes), count = 0;

    bool shared = alternative_shares(s, shape, alt);
    sets[n_sets++] = &s->usable;
    for (uint32_t d = 0; d < s->n_dims; d++) {
        bool filter = need[d] > 0 && !s->naive && !(shared && d == DIM_CPU);
        const struct bits *set = filter ? index_at_least(index, d, need[d]) : NULL;
        if (set)
            sets[n_sets++] = set;
    }
    if (alt->exclusive && !s->naive)
        sets[n_sets++] = &index->idle;
    for (size_t w = 0; w < words; w++) {
        uint64_t word = alt->set->nodes.words[w];
        for (size_t k = 0; word && k < n_sets; k++)
            word &= sets[k]->words[w];
        s->mask[w] = word;
        count += word ? (size_t) __builtin_popcountll(word) : 0;
    }
    s->candidates += words / 64 + 1;
    return count;
}

void mask_of_free(struct sched *s, const struct shape *shape, const struct alternative *alt) {
    int64_t need[MAX_DIMS];

    need_least(shape, shape_is_fixed(shape, alt) ? shape_share(shape) : 1, false, need, s->n_dims);
    mask_make(s, shape, alt, VIEW_NOW, need);
}

/* So many nodes can take a share, and that was not enough. */
static void lack_set(struct sched *s, const struct alternative *alt, size_t have) {
    s->lack.nodes = have < alt->min_nodes ? alt->min_nodes - have : 1;
    s->lack.tasks = 0;
}

void histogram_reset(struct sched *s, uint32_t goal) {
    vec_reset(&s->histogram);
    vec_reserve(&s->histogram, (size_t) goal + 1);
    memset(s->histogram.items, 0, (goal + 1) * sizeof(*s->histogram.items));
}

uint64_t histogram_sum(const struct sched *s, uint32_t goal, uint32_t most_nodes) {
    uint64_t sum = 0, left = most_nodes;

    for (uint32_t share = goal; share > 0 && left > 0 && sum < goal; share--) {
        uint64_t n = min_of((uint64_t) s->histogram.items[share], left);
        sum += n * share;
        left -= n;
    }
    return sum;
}

/* Do the largest shares of those found, on as many nodes as are allowed, hold what is to be spread?
 * Without: nobody needs to sort them. */
static bool found_hold_goal(struct sched *s, const struct shape *shape,
                            const struct alternative *alt) {
    uint32_t goal = spread_goal(shape, alt);

    if (goal == 0 || goal > COUNTED_GOAL)
        return true;
    histogram_reset(s, goal);
    vec_each (&s->found, c) {
        s->histogram.items[min_of(shape->n_per_job ? c->units : c->tasks, goal)]++;
    }
    uint64_t sum = histogram_sum(s, goal, alt->max_nodes);
    if (shape->n_per_job == 0 && sum < goal)
        s->lack.tasks = goal - sum;
    return sum >= goal;
}

/* ---- equal shares: take in order, stop when there are enough ---- */

enum share_kind {
    SHARE_EACH, /* what every node gets */
    SHARE_ONE,  /* the whole job on one node */
    SHARE_EVEN, /* tasks dealt evenly over the fewest nodes */
};
struct fixed_search {
    struct shape *shape;
    struct alternative *alt;
    enum share_kind share;
    enum view_of view;
    int64_t end;
    uint32_t goal;
    struct placement *out;
};

static const int64_t *fixed_need(struct sched *s, const struct fixed_search *f, uint32_t hardware) {
    switch (f->share) {
    case SHARE_EACH:
        return need_each(s, f->shape, f->alt, hardware);
    case SHARE_ONE:
        return need_one(s, f->shape, f->alt, hardware);
    case SHARE_EVEN:
        return need_even(s, f->shape, f->alt, hardware);
    }
    return NULL;
}

/* How many nodes are wanted when `have` could be. */
static uint32_t fixed_wanted(const struct fixed_search *f, size_t have) {
    switch (f->share) {
    case SHARE_EACH:
        return fixed_goal(f->shape, f->alt, have, 0);
    case SHARE_ONE:
        return 1;
    case SHARE_EVEN:
        return f->alt->min_nodes;
    }
    return 0;
}

static bool fixed_fits(struct sched *s, const struct fixed_search *f, uint32_t node) {
    int64_t scratch[MAX_DIMS];
    uint32_t hardware = s->nodes[node].hardware;
    const int64_t *need = fixed_need(s, f, hardware);

    s->candidates++;
    return need &&
           need_fits(s, f->alt, node, node_have(s, f->alt, node, f->view, f->end, scratch), need);
}

static void fixed_take(const struct fixed_search *f, uint32_t node) {
    struct pick pick = {node, shape_share(f->shape), {0}, false, 0};

    if (f->share == SHARE_ONE && f->shape->ntasks)
        pick.tasks = f->shape->ntasks;
    for (uint8_t i = 0; f->share == SHARE_ONE && i < f->shape->n_per_job; i++)
        pick.share[i] = f->shape->per_job[i].count;
    vec_push(&f->out->picks, pick);
}

static void fixed_take_found(struct sched *s, const struct fixed_search *f) {
    candidates_sort(s, f->alt, false);
    for (size_t i = 0; i < s->found.n && f->out->picks.n < f->goal; i++)
        fixed_take(f, s->found.items[i].node);
    vec_reset(&s->found);
}

/* One level of s->phase. Nodes with exactly the level's lowest amount are the best there can be and
 * are taken as they come; the others wait until the level is through. */
static void fixed_level(struct sched *s, const struct fixed_search *f, const struct bits *at_least,
                        const struct bits *above, int64_t lowest, size_t from, size_t to) {
    for (size_t w = from; w < to && f->out->picks.n < f->goal; w++) {
        uint64_t word = s->phase[w] & (at_least ? at_least->words[w] : UINT64_MAX) &
                        (above ? ~above->words[w] : UINT64_MAX);
        for (; word && f->out->picks.n < f->goal; word &= word - 1) {
            struct candidate c = {.node = w * 64 + (size_t) __builtin_ctzll(word)};
            if (!fixed_fits(s, f, c.node))
                continue;
            candidate_rank(s, f->shape, f->alt, &c);
            if (lowest >= 0 && c.value == lowest)
                fixed_take(f, c.node);
            else
                vec_push(&s->found, c);
        }
    }
    fixed_take_found(s, f);
}

static void fixed_phase(struct sched *s, const struct fixed_search *f, int64_t need, size_t from,
                        size_t to) {
    const struct ladder *ladder = &s->by_free.dims[f->shape->primary];

    if (s->partitions[f->alt->partition].spread) {
        fixed_level(s, f, NULL, NULL, INT64_MIN, from, to);
        return;
    }
    if (!s->settings.pack_nodes) {
        fixed_level(s, f, NULL, NULL, 0, from, to);
        return;
    }
    uint32_t level = ladder_find(ladder, need);
    for (; level <= ladder->n && f->out->picks.n < f->goal; level++) {
        const struct bits *at_least = level > 0 ? &ladder->sets[level - 1] : NULL;
        const struct bits *above = level < ladder->n ? &ladder->sets[level] : NULL;
        int64_t lowest = level > 0 ? max_of(ladder->steps[level - 1], need) : need;
        fixed_level(s, f, at_least, above, lowest, from, to);
    }
}

/* The same for one node, where it matters what its use leaves of it. */
static void fragment_phase(struct sched *s, const struct fixed_search *f, struct fragment *choice,
                           int64_t least, size_t from, size_t to) {
    uint8_t primary = f->shape->primary;
    const struct ladder *ladder = &s->by_free.dims[primary];

    for (uint32_t level = ladder_find(ladder, least); level <= ladder->n; level++) {
        const struct bits *at_least = level > 0 ? &ladder->sets[level - 1] : NULL;
        const struct bits *above = level < ladder->n ? &ladder->sets[level] : NULL;
        bool more = true;
        fragment_level_begin(choice);
        for (size_t w = from; w < to && more; w++) {
            uint64_t word = s->phase[w] & (at_least ? at_least->words[w] : UINT64_MAX) &
                            (above ? ~above->words[w] : UINT64_MAX);
            for (; word && more; word &= word - 1) {
                uint32_t node = w * 64 + (size_t) __builtin_ctzll(word);
                if (fixed_fits(s, f, node))
                    more = fragment_offer(s, choice, node,
                                          fixed_need(s, f, s->nodes[node].hardware), primary);
            }
        }
    }
    if (choice->best != SCHED_NO_NODE)
        fixed_take(f, choice->best);
}

/* The part of the mask with this rank; false when there is none. */
static bool phase_make(struct sched *s, const struct weight_class *weight, uint32_t waste,
                       uint32_t open, bool wants_gres, size_t from, size_t to) {
    uint64_t any = 0;

    for (size_t w = from; w < to; w++) {
        uint64_t word = s->mask[w];
        if (w * 64 < weight->begin)
            word &= UINT64_MAX << (weight->begin - w * 64);
        if ((w + 1) * 64 > weight->end)
            word &= UINT64_MAX >> ((w + 1) * 64 - weight->end);
        if (!wants_gres)
            word &= waste ? s->has_gres.words[w] : ~s->has_gres.words[w];
        word &= open ? ~s->planned.words[w] : s->planned.words[w];
        s->phase[w] = word;
        any |= word;
    }
    return any != 0;
}

/* The same among s->found, without the index: tests compare. */
static void fragment_naive(struct sched *s, struct fixed_search *f, struct fragment *choice) {
    const struct ladder *ladder = &s->by_free.dims[f->shape->primary];
    uint32_t rank = UINT32_MAX;

    vec_each (&s->found, c) {
        rank = min_of(rank, c->rank);
    }
    for (uint32_t level = 0; level <= ladder->n; level++) {
        bool more = true;
        fragment_level_begin(choice);
        for (size_t i = 0; i < s->found.n && more; i++) {
            const struct candidate *c = &s->found.items[i]; /* in index order */
            int64_t free = node_free(s, c->node)[f->shape->primary];
            if (c->rank == rank && ladder_find(ladder, free) == level)
                more =
                    fragment_offer(s, choice, c->node, fixed_need(s, f, s->nodes[c->node].hardware),
                                   f->shape->primary);
        }
    }
    vec_reset(&s->found);
    if (choice->best != SCHED_NO_NODE)
        fixed_take(f, choice->best);
}

/* The same without levels: tests compare. */
static void fixed_naive(struct sched *s, struct fixed_search *f) {
    struct fragment choice;

    bits_each (&f->alt->set->nodes, node) {
        struct candidate c = {.node = node};
        if (!bits_test(&s->usable, node) || !fixed_fits(s, f, node))
            continue;
        candidate_rank(s, f->shape, f->alt, &c);
        vec_push(&s->found, c);
    }
    if (fragment_begin(s, f->shape, f->alt, f->goal, &choice))
        fragment_naive(s, f, &choice);
    else
        fixed_take_found(s, f);
}

static bool fixed_now(struct sched *s, struct fixed_search *f, size_t count, int64_t need) {
    struct fragment choice;

    f->goal = fixed_wanted(f, count);
    vec_reset(&f->out->picks);
    vec_reset(&s->found);
    bool chooses = fragment_begin(s, f->shape, f->alt, f->goal, &choice);
    if (s->naive)
        fixed_naive(s, f);
    for (uint32_t c = 0; !s->naive && c < s->n_weights && f->out->picks.n < f->goal; c++) {
        const struct weight_class *weight = &s->weights[c];
        size_t from = weight->begin / 64, to = bits_words(weight->end);

        for (uint32_t rank = 0; rank < 4 && f->out->picks.n < f->goal; rank++) {
            uint32_t waste = rank / 2, open = rank % 2;
            if (f->shape->wants_gres && waste)
                continue;
            if (!phase_make(s, weight, waste, open, f->shape->wants_gres, from, to))
                continue;
            if (chooses)
                fragment_phase(s, f, &choice, need, from, to);
            else
                fixed_phase(s, f, need, from, to);
        }
    }
    /* The goal was set by an upper bound; fewer may do. */
    uint32_t n = fixed_wanted(f, f->out->picks.n);
    if (n == 0 || f->out->picks.n < n) {
        lack_set(s, f->alt, f->out->picks.n);
        return false;
    }
    f->out->picks.n = n;
    return true;
}

/* ---- the general case: all candidates, then a selection ---- */

static bool candidate_make(struct sched *s, struct shape *shape, struct alternative *alt,
                           uint32_t node, const int64_t *have, struct candidate *ret) {
    struct share share = node_share(s, shape, alt, node, have);

    s->candidates++;
    if (share.tasks == 0)
        return false;
    *ret = (struct candidate) {.node = node, .tasks = share.tasks, .units = share.units};
    candidate_rank(s, shape, alt, ret);
    return true;
}

static bool general_now(struct sched *s, struct shape *shape, struct alternative *alt,
                        enum view_of view, int64_t end, struct placement *out) {
    bool plain = alternative_is_plain(s, shape, alt);

    vec_reset(&s->found);
    for (size_t w = 0; w < bits_words(s->n_nodes); w++) {
        for (uint64_t word = s->mask[w]; word; word &= word - 1) {
            uint32_t node = w * 64 + (size_t) __builtin_ctzll(word);
            int64_t have[MAX_DIMS], scratch[MAX_DIMS];
            struct candidate c;

            memcpy(have, node_have(s, alt, node, view, end, scratch), s->n_dims * sizeof(*have));
            if (!plain && !node_allows(s, shape, alt, node, s->now, end, have))
                continue;
            if (candidate_make(s, shape, alt, node, have, &c))
                vec_push(&s->found, c);
        }
    }
    lack_set(s, alt, s->found.n);
    if (s->found.n < alt->min_nodes || !found_hold_goal(s, shape, alt))
        return false;
    candidates_sort(s, alt, false);
    return select_nodes(s, shape, alt, out);
}

/* Everything on one node, when that is allowed: best fit. */
static bool one_node_now(struct sched *s, struct shape *shape, struct alternative *alt,
                         enum view_of view, int64_t end, struct placement *out) {
    int64_t need[MAX_DIMS];
    struct fixed_search f = {shape, alt, SHARE_ONE, view, end, 1, out};

    need_least(shape, shape->ntasks ? shape->ntasks : shape_share(shape), true, need, s->n_dims);
    size_t count = mask_make(s, shape, alt, view, need);
    return count > 0 && fixed_now(s, &f, count, need[shape->primary]);
}

/* The commonest of the general cases: as many nodes as can hold an even share of the tasks. What
 * spread_rest() would find, without looking at every node. */
static bool even_now(struct sched *s, struct shape *shape, struct alternative *alt,
                     enum view_of view, int64_t end, struct placement *out) {
    int64_t need[MAX_DIMS];
    struct fixed_search f = {shape, alt, SHARE_EVEN, view, end, 0, out};

    need_least(shape, shape_even(shape, alt), false, need, s->n_dims);
    size_t count = mask_make(s, shape, alt, view, need);
    if (count < alt->min_nodes || !fixed_now(s, &f, count, need[shape->primary]))
        return false;
    vec_each (&out->picks, pick) {
        int64_t scratch[MAX_DIMS];
        const int64_t *have = node_have(s, alt, pick->node, view, end, scratch);
        pick->tasks = node_tasks(s, shape, alt, pick->node, have);
    }
    return placement_deal(s, shape, out);
}

bool place_now(struct sched *s, struct shape *shape, struct alternative *alt, int64_t limit,
               struct placement *out) {
    int64_t need[MAX_DIMS], end = time_after(s->now, limit);
    enum view_of view = view_for(s, alt, end);
    bool fixed = shape_is_fixed(shape, alt);
    bool simple = shape->n_req_nodes == 0 && alt->n_groups == 0 && !shape->contiguous &&
                  alternative_is_plain(s, shape, alt);

    topology_at(s, shape, alt, s->now);
    vec_reset(&out->amounts);
    bool packed = !fixed && simple && !shape->spread;
    if (packed && shape_one_node(shape, alt) && one_node_now(s, shape, alt, view, end, out))
        return place_amounts(s, shape, alt, s->now, end, out);
    simple = simple && s->most_leaves == 0; /* else it matters which nodes are together */
    packed = packed && simple && !s->naive;
    if (packed && shape_even(shape, alt) && even_now(s, shape, alt, view, end, out))
        return place_amounts(s, shape, alt, s->now, end, out);
    need_least(shape, fixed ? shape_share(shape) : 1, false, need, s->n_dims);
    size_t count = mask_make(s, shape, alt, view, need);
    lack_set(s, alt, count);
    if (count < alt->min_nodes)
        return false;
    if (fixed && simple) {
        struct fixed_search f = {shape, alt, SHARE_EACH, view, end, 0, out};
        if (!fixed_now(s, &f, count, need[shape->primary]))
            return false;
        placement_deal(s, shape, out);
    } else if (!general_now(s, shape, alt, view, end, out)) {
        return false;
    }
    return place_amounts(s, shape, alt, s->now, end, out);
}

uint32_t node_serves(struct sched *s, struct shape *shape, struct alternative *alt, uint32_t node) {
    int64_t scratch[MAX_DIMS], end = time_after(s->now, alt->limit);

    if (!bits_test(&alt->set->nodes, node) || !s->nodes[node].usable)
        return 0;
    /* With --time-min a shorter run may get round the plans. */
    enum view_of view = alt->min_limit ? VIEW_NOW : view_for(s, alt, end);
    const int64_t *have = node_have(s, alt, node, view, end, scratch);
    int64_t shared[MAX_DIMS];
    if (alternative_shares(s, shape, alt)) {
        memcpy(shared, have, s->n_dims * sizeof(*shared));
        shared[DIM_CPU] += shared_more(s, alt->partition, node);
        have = shared;
    }
    return node_share(s, shape, alt, node, have).tasks;
}

bool could_start(struct sched *s, struct shape *shape, struct alternative *alt, int64_t limit,
                 struct placement *out) {
    int64_t end = time_after(s->now, limit);

    return licenses_free_at(s, shape, alt, s->now, end) &&
           !budget_short(s, alt, s->now, end, NULL) && place_now(s, shape, alt, limit, out) &&
           !budget_short(s, alt, s->now, end, out);
}

bool place_amounts(struct sched *s, const struct shape *shape, const struct alternative *alt,
                   int64_t start, int64_t end, struct placement *out) {
    vec_reset(&out->amounts);
    vec_reserve(&out->amounts, out->picks.n * s->n_dims);
    vec_each (&out->picks, pick) {
        int64_t have[MAX_DIMS], *take = out->amounts.items + out->amounts.n;

        node_window_of(s, alt, pick->node, start, end, have);
        if (!alternative_is_plain(s, shape, alt) &&
            !node_allows(s, shape, alt, pick->node, start, end, have))
            return false;
        if (!amount_take(s, shape, alt, pick->node, pick, have, take))
            return false;
        out->amounts.n += s->n_dims;
    }
    return true;
}

/* ---- with everything free ---- */

static bool even_ever(struct sched *s, struct shape *shape, struct alternative *alt,
                      bool usable_only) {
    uint32_t n = 0;

    if (shape_is_fixed(shape, alt) || !shape_even(shape, alt))
        return false;
    bits_each (&alt->set->nodes, node) {
        int64_t scratch[MAX_DIMS];
        const int64_t *have = calendar_ever(s, alt, node, scratch);
        const int64_t *need = need_even(s, shape, alt, s->nodes[node].hardware);
        if (!have || (usable_only && !s->nodes[node].usable))
            continue;
        n += need && need_fits(s, alt, node, have, need);
        if (n >= alt->min_nodes)
            return true;
    }
    return false;
}

bool place_ever(struct sched *s, struct shape *shape, struct alternative *alt, bool usable_only) {
    bool counts_do = shape_is_fixed(shape, alt) && shape->n_req_nodes == 0 && alt->n_groups == 0 &&
                     !shape->contiguous && shape->n_counts == 0;
    bool one =
        !counts_do && shape->n_req_nodes == 0 && alt->n_groups == 0 && shape_one_node(shape, alt);

    if (even_ever(s, shape, alt, usable_only))
        return true;
    s->most_leaves = 0; /* wishes pass */
    vec_reset(&s->found);
    bits_each (&alt->set->nodes, node) {
        struct candidate c;
        int64_t scratch[MAX_DIMS];
        const int64_t *have = calendar_ever(s, alt, node, scratch);
        const int64_t *need = one ? need_one(s, shape, alt, s->nodes[node].hardware) : NULL;

        if (!have || (usable_only && !s->nodes[node].usable))
            continue;
        if (need && need_fits(s, alt, node, have, need))
            return true;
        if (!candidate_make(s, shape, alt, node, have, &c))
            continue;
        vec_push(&s->found, c);
        if (counts_do && s->found.n >= alt->min_nodes)
            return s->found.n <= alt->max_nodes;
    }
    if (s->found.n < alt->min_nodes)
        return false;
    candidates_sort(s, alt, false);
    if (!select_nodes(s, shape, alt, &s->best))
        return false;
    vec_each (&s->best.picks, pick) {
        int64_t take[MAX_DIMS], scratch[MAX_DIMS];
        const int64_t *have = calendar_ever(s, alt, pick->node, scratch);
        if (!amount_take(s, shape, alt, pick->node, pick, have, take))
            return false;
    }
    return true;
}

void placement_done(struct placement *placement) {
    vec_done(&placement->picks);
    vec_done(&placement->amounts);
}

void placement_swap(struct placement *a, struct placement *b) {
    struct placement t = *a;

    *a = *b;
    *b = t;
}
