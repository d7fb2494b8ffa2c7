/* SPDX-License-Identifier: Apache-2.0 */
/* The view of the cluster: nodes, partitions, pools, licences; made anew by sched_configure(). */
#include <assert.h>

#include "sched/internal.h"
#include "text/duration.h"

struct sched *sched_new(const struct sched_settings *settings) {
    struct sched *s = zalloc(struct sched);

    s->settings = *settings;
    s->release_version = 1;
    s->log.first = s->log.end = s->log.from = 1;
    s->static_version = 1;
    s->budgets_given = 1;
    s->budgets_due = SCHED_FOREVER;
    s->preempt_wake = SCHED_FOREVER;
    s->changed = true;
    return s;
}

static void node_done(struct node *node) {
    free(node->name);
    free(node->cards);
    bits_done(&node->features);
    vec_done(&node->runs);
    vec_done(&node->plans);
    vec_done(&node->reserved);
}

static void view_clear(struct sched *s) {
    plans_clear(s);
    queue_clear(s);
    runs_clear(s);
    budgets_clear(s);
    popular_clear(s);
    calendar_clear(s);
    topology_clear(s);
    index_done(&s->by_free, s->n_dims);
    index_done(&s->by_keep, s->n_dims);
    for (uint32_t i = 0; i < s->n_nodes; i++)
        node_done(&s->nodes[i]);
    for (uint32_t i = 0; i < s->n_partitions; i++) {
        free(s->partitions[i].name);
        bits_done(&s->partitions[i].nodes);
    }
    for (uint32_t i = 0; i < s->n_pools; i++)
        vec_done(&s->pools[i].plans);
    for (uint32_t i = 0; i < s->n_kinds; i++) {
        free(s->kinds[i].name);
        free(s->kinds[i].type);
    }
    vec_each (&s->feature_names, name) {
        free(*name);
    }
    vec_done(&s->feature_names);
    smap_done(&s->features);
    free(s->nodes);
    free(s->inner);
    free(s->total);
    free(s->free);
    free(s->keep);
    free(s->next_end);
    free(s->hardware);
    free(s->weights);
    free(s->partitions);
    free(s->pools);
    free(s->mask);
    free(s->phase);
    free(s->state);
    s->state = NULL;
    bits_done(&s->usable);
    bits_done(&s->planned);
    bits_done(&s->has_gres);
    bits_done(&s->reserved);
    s->n_nodes = s->n_partitions = s->n_pools = s->n_kinds = s->n_hardware = s->n_weights = 0;
    s->nodes = NULL;
    s->inner = NULL;
    s->total = s->free = s->keep = s->next_end = NULL;
    s->hardware = NULL;
    s->weights = NULL;
    s->mask = s->phase = NULL;
    s->partitions = NULL;
    s->pools = NULL;
}

void sched_free(struct sched *s) {
    if (!s)
        return;
    view_clear(s);
    free(s->license_total);
    free(s->license_used);
    map_done(&s->runs);
    map_done(&s->jobs);
    map_done(&s->groups);
    map_done(&s->shape_index);
    map_done(&s->unconfirmed);
    vec_done(&s->shapes);
    map_done(&s->sets);
    heap_done(&s->timers);
    vec_done(&s->fresh);
    vec_done(&s->specials);
    vec_done(&s->promises);
    vec_done(&s->causes);
    vec_done(&s->found);
    vec_done(&s->rest);
    vec_done(&s->order.turns);
    vec_done(&s->order.arrived);
    vec_done(&s->order.again);
    vec_done(&s->waiting_groups);
    vec_done(&s->waiting_jobs);
    vec_done(&s->changed_shapes);
    vec_done(&s->reports);
    vec_done(&s->tentative);
    vec_done(&s->licensed);
    vec_done(&s->budgets);
    vec_done(&s->budgets_wanted);
    vec_done(&s->preempts);
    free((void *) (uintptr_t) s->preemption.may);
    placement_done(&s->placement);
    placement_done(&s->best);
    vec_done(&s->steps);
    vec_done(&s->times);
    vec_done(&s->histogram);
    free(s);
}

void sched_touched(struct sched *s) {
    s->changed = true;
    s->generation++;
}

void sched_statics(struct sched *s) {
    s->static_version++;
    sched_released(s);
}

void amount_sum(const struct sched *s, int64_t *amount) {
    for (uint32_t d = s->n_base; d < s->n_dims; d++)
        amount[d] = 0;
    for (uint32_t k = 0; k < s->n_kinds; k++) {
        if (s->kinds[k].dim != DIM_GRES + k)
            amount[s->kinds[k].dim] = amount[DIM_GRES + k];
        if (s->kinds[k].sum != s->kinds[k].dim)
            amount[s->kinds[k].sum] += amount[DIM_GRES + k];
    }
}

/* What one job could have of a kind, whatever its count says: whole cards, or shares. */
static int64_t cards_room(const struct sched *s, uint32_t node, uint32_t kind, int64_t *have) {
    const struct sched_cards *cards = s->nodes[node].cards;
    const struct sched_share_kind *share = cards ? cards_share_find(cards, kind) : NULL;

    if (!cards || (!share && !s->kinds[kind].is_gpu))
        return INT64_MAX;
    return share ? cards_share_room(cards, share, amount_cards(s, have))
                 : cards_whole_room(cards, kind, amount_cards(s, have));
}

void have_sum(const struct sched *s, uint32_t node, int64_t *have) {
    amount_sum(s, have);
    if (s->n_cards == 0 || !s->nodes[node].cards)
        return;
    for (uint32_t d = s->n_sums; d < s->n_dims; d++)
        have[d] = 0;
    for (uint32_t k = 0; k < s->n_kinds; k++) {
        const struct gres_kind *kind = &s->kinds[k];
        int64_t room = cards_room(s, node, k, have);
        if (kind->dim != DIM_GRES + k)
            have[kind->dim] = min_of(have[DIM_GRES + k], room);
        if (kind->sum == kind->dim)
            continue;
        /* Shares of several types are of different cards, and one job has those of one card. */
        have[kind->sum] = kind->is_gpu ? have[kind->sum] + have[kind->dim]
                                       : max_of(have[kind->sum], have[kind->dim]);
    }
}

/* Is the kind given out by cards on some node, whole or in shares? */
static bool is_of_cards(const struct sched *s, uint32_t kind, const struct sched_node_spec *specs,
                        size_t n) {
    for (size_t i = 0; s->n_cards > 0 && i < n; i++) {
        if (specs[i].cards && specs[i].gres[kind] > 0 &&
            (s->kinds[kind].is_gpu || cards_share_find(specs[i].cards, kind)))
            return true;
    }
    return false;
}

/* A name with several types gets one more dimension, their sum. */
static void kinds_set(struct sched *s, const struct sched_gres_kind *kinds, size_t n,
                      const struct sched_node_spec *specs, size_t n_nodes) {
    assert(n <= SCHED_GRES_KINDS);
    s->n_kinds = n;
    s->n_cards = 0;
    for (size_t i = 0; i < n_nodes; i++)
        s->n_cards = max_of(s->n_cards, specs[i].cards ? specs[i].cards->n : 0);
    s->n_base = DIM_GRES + n + s->n_cards;
    s->n_dims = s->n_base;
    for (size_t i = 0; i < n; i++) {
        s->kinds[i].name = xstrdup(kinds[i].name);
        s->kinds[i].type = xstrdup(kinds[i].type ? kinds[i].type : "");
        s->kinds[i].is_gpu = str_equal_nocase(kinds[i].name, "gpu");
        s->kinds[i].dim = is_of_cards(s, i, specs, n_nodes) ? s->n_dims++ : DIM_GRES + i;
        s->kinds[i].sum = s->kinds[i].dim;
    }
    s->n_sums = s->n_dims;
    for (size_t i = 0; i < n; i++) {
        bool several = false;

        if (s->kinds[i].sum != s->kinds[i].dim)
            continue;
        for (size_t j = i + 1; j < n; j++) {
            if (str_equal_nocase(kinds[i].name, kinds[j].name)) {
                s->kinds[j].sum = s->n_dims;
                several = true;
            }
        }
        if (several)
            s->kinds[i].sum = s->n_dims++;
    }
}

static size_t feature_id(struct sched *s, const char *name) {
    size_t id = (size_t) smap_get(&s->features, name);

    if (id == 0) {
        char *copy = xstrdup(name);
        vec_push(&s->feature_names, copy);
        id = s->feature_names.n;
        smap_put(&s->features, copy, (void *) id);
    }
    return id - 1;
}

static bool hardware_equal(const struct sched *s, const struct hardware *a,
                           const struct hardware *b) {
    return a->cpus == b->cpus && a->sockets == b->sockets &&
           a->cores_per_socket == b->cores_per_socket &&
           a->threads_per_core == b->threads_per_core && a->whole_cores == b->whole_cores &&
           memcmp(a->total, b->total, s->n_dims * sizeof(int64_t)) == 0;
}

static uint32_t hardware_intern(struct sched *s, const struct hardware *hardware,
                                struct map *seen) {
    uint64_t hash = hash_bytes(hardware->total, s->n_dims * sizeof(int64_t),
                               hardware->cpus * 31 + hardware->threads_per_core);

    for (;; hash++) {
        size_t found = (size_t) map_get(seen, hash);

        if (found == 0) {
            s->hardware[s->n_hardware] = *hardware;
            map_put(seen, hash, (void *) (size_t) ++s->n_hardware);
            return s->n_hardware - 1;
        }
        if (hardware_equal(s, &s->hardware[found - 1], hardware))
            return found - 1;
    }
}

struct by_weight {
    uint32_t weight, outer;
};
static int by_weight_compare(const void *a, const void *b) {
    const struct by_weight *x = a, *y = b;

    if (x->weight != y->weight)
        return x->weight < y->weight ? -1 : 1;
    return x->outer < y->outer ? -1 : 1;
}

/* Sets nodes, weights and the two directions of the numbering. */
static void nodes_order(struct sched *s, const struct sched_node_spec *specs, size_t n) {
    struct by_weight *order = xcalloc(n + 1, sizeof(*order));

    for (size_t i = 0; i < n; i++)
        order[i] = (struct by_weight) {specs[i].weight, i};
    sort_items(order, n, sizeof(*order), by_weight_compare);
    for (size_t i = 0; i < n; i++) {
        s->inner[order[i].outer] = i;
        s->nodes[i].outer = order[i].outer;
        s->nodes[i].weight = order[i].weight;
        if (i == 0 || order[i].weight != order[i - 1].weight)
            s->weights[s->n_weights++].begin = i;
        s->weights[s->n_weights - 1].end = i + 1;
        s->nodes[i].weight_class = s->n_weights - 1;
    }
    free(order);
}

static void node_set_up(struct sched *s, uint32_t i, const struct sched_node_spec *spec,
                        struct map *seen) {
    struct node *node = &s->nodes[i];
    int64_t *total = node_total(s, i);
    struct hardware hardware = {spec->cpus,
                                spec->sockets ? spec->sockets : 1,
                                spec->cores_per_socket ? spec->cores_per_socket : spec->cpus,
                                spec->threads_per_core ? spec->threads_per_core : 1,
                                spec->whole_cores,
                                total};

    node->name = xstrdup(spec->name);
    node->tmp_disk = spec->tmp_disk;
    node->usable = true;
    node->explicit_kinds = spec->explicit_kinds;
    total[DIM_CPU] = spec->cpus;
    total[DIM_MEM] = spec->mem;
    for (uint32_t k = 0; k < s->n_kinds; k++) {
        total[DIM_GRES + k] = spec->gres[k];
        if (spec->gres[k] > 0)
            bits_set(&s->has_gres, i);
    }
    node->cards = spec->cards ? xmemdup(spec->cards, sizeof(*spec->cards)) : NULL;
    for (uint32_t c = 0; node->cards && c < node->cards->n; c++)
        amount_cards(s, total)[c] = node->cards->whole[c];
    have_sum(s, i, total);
    node->hardware = hardware_intern(s, &hardware, seen);
    for (size_t f = 0; f < spec->n_features; f++)
        feature_id(s, spec->features[f]);
}

static void nodes_set(struct sched *s, const struct sched_node_spec *specs, size_t n) {
    struct map seen = MAP_INIT;
    size_t bytes = (n + 1) * s->n_dims * sizeof(int64_t);

    s->n_nodes = n;
    s->nodes = xcalloc(n + 1, sizeof(*s->nodes));
    s->inner = xcalloc(n + 1, sizeof(*s->inner));
    s->weights = xcalloc(n + 1, sizeof(*s->weights));
    s->hardware = xcalloc(n + 1, sizeof(*s->hardware));
    s->total = xcalloc(1, bytes);
    s->mask = xcalloc(bits_words(n) + 1, sizeof(uint64_t));
    s->phase = xcalloc(bits_words(n) + 1, sizeof(uint64_t));
    s->state = xcalloc(n + 1, sizeof(*s->state));
    bits_init(&s->usable, n);
    bits_init(&s->planned, n);
    bits_init(&s->has_gres, n);
    bits_init(&s->reserved, n);
    bits_fill(&s->usable, true);
    nodes_order(s, specs, n);
    for (uint32_t i = 0; i < n; i++)
        node_set_up(s, i, &specs[s->nodes[i].outer], &seen);
    for (uint32_t i = 0; i < n; i++) {
        const struct sched_node_spec *spec = &specs[s->nodes[i].outer];
        bits_init(&s->nodes[i].features, s->feature_names.n);
        for (size_t f = 0; f < spec->n_features; f++)
            bits_set(&s->nodes[i].features, feature_id(s, spec->features[f]));
    }
    s->free = xmemdup(s->total, bytes);
    s->keep = xmemdup(s->total, bytes);
    s->next_end = xcalloc(n + 1, sizeof(*s->next_end));
    for (uint32_t i = 0; i < n; i++)
        s->next_end[i] = SCHED_FOREVER;
    index_init(&s->by_free, s);
    index_init(&s->by_keep, s);
    map_done(&seen);
}

static void partitions_set(struct sched *s, const struct sched_partition_spec *specs, size_t n) {
    s->n_partitions = n;
    s->partitions = xcalloc(n + 1, sizeof(*s->partitions));
    for (size_t i = 0; i < n; i++) {
        const struct sched_partition_spec *spec = &specs[i];
        struct partition *p = &s->partitions[i];
        bool limited = spec->max_time != MINUTES_INFINITE && spec->max_time != MINUTES_UNSET;

        p->name = xstrdup(spec->name);
        p->tier = spec->tier;
        p->max_nodes = spec->max_nodes;
        p->min_nodes = spec->min_nodes;
        p->max_cpus_per_node = spec->max_cpus_per_node;
        p->max_time = limited ? (int64_t) spec->max_time * 60 : SCHED_FOREVER;
        p->exclusive = spec->exclusive;
        p->schedulable = spec->schedulable;
        p->spread = spec->spread;
        p->layers = max_of(spec->oversubscribe, 1u);
        p->layers_forced = spec->oversubscribe_force;
        p->layers_at_once = spec->takes_turns ? 1 : min_of(p->layers, (uint32_t) LAYERS_MAX);
        bits_init(&p->nodes, s->n_nodes);
        for (size_t k = 0; k < spec->n_nodes; k++) {
            assert(spec->nodes[k] < s->n_nodes);
            bits_set(&p->nodes, s->inner[spec->nodes[k]]);
        }
        p->n_nodes = bits_count(&p->nodes);
    }
}

static uint32_t root_of(uint32_t *parent, uint32_t i) {
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* Pools are the connected components of "shares a node". */
static void pools_set(struct sched *s) {
    uint32_t *parent = xcalloc(s->n_partitions + 1, sizeof(*parent));
    uint32_t *first = xcalloc(s->n_nodes + 1, sizeof(*first));
    uint32_t *pool_of = xcalloc(s->n_partitions + 1, sizeof(*pool_of));

    for (uint32_t p = 0; p < s->n_partitions; p++) {
        parent[p] = p;
        bits_each (&s->partitions[p].nodes, node) {
            if (first[node] == 0)
                first[node] = p + 1;
            else
                parent[root_of(parent, p)] = root_of(parent, first[node] - 1);
        }
    }
    s->pools = xcalloc(s->n_partitions + 1, sizeof(*s->pools));
    for (uint32_t p = 0; p < s->n_partitions; p++) {
        uint32_t root = root_of(parent, p);
        if (pool_of[root] == 0) {
            s->pools[s->n_pools].first_start = SCHED_FOREVER;
            pool_of[root] = ++s->n_pools;
        }
        s->partitions[p].pool = pool_of[root] - 1;
    }
    free(parent);
    free(first);
    free(pool_of);
}

void sched_configure(struct sched *s, const struct sched_settings *settings,
                     const struct sched_gres_kind *kinds, size_t n_kinds,
                     const struct sched_node_spec *nodes, size_t n_nodes,
                     const struct sched_partition_spec *partitions, size_t n_partitions) {
    view_clear(s);
    s->settings = *settings;
    if (s->settings.reservations == 0)
        s->settings.reservations = 1;
    if (s->settings.default_limit <= 0)
        s->settings.default_limit = (int64_t) 365 * 86400;
    kinds_set(s, kinds, n_kinds, nodes, n_nodes);
    nodes_set(s, nodes, n_nodes);
    partitions_set(s, partitions, n_partitions);
    pools_set(s);
    vec_reset(&s->causes);
    sched_cause_note(s, SCHED_CAUSE_CONFIGURED, 0);
    sched_statics(s);
}

/* The least that is free from now on, with plans in place. */
static void keep_update(struct sched *s, uint32_t node) {
    int64_t *keep = node_keep(s, node);

    if (s->nodes[node].plans.n == 0)
        memcpy(keep, node_free(s, node), s->n_dims * sizeof(*keep));
    else
        node_window(s, node, s->now, SCHED_FOREVER, keep);
}

void node_changed(struct sched *s, uint32_t node) {
    const struct node *n = &s->nodes[node];

    s->next_end[node] = n->runs.n > 0 ? n->runs.items[0].end : SCHED_FOREVER;
    keep_update(s, node);
    index_set(&s->by_free, s, node, node_free(s, node));
    index_set(&s->by_keep, s, node, node_keep(s, node));
}

void sched_node_usable(struct sched *s, uint32_t outer, bool usable) {
    assert(outer < s->n_nodes);
    uint32_t node = s->inner[outer];

    if (s->nodes[node].usable == usable)
        return;
    s->nodes[node].usable = usable;
    if (usable)
        bits_set(&s->usable, node);
    else
        bits_unset(&s->usable, node);
    if (!usable)
        sched_cause_note(s, SCHED_CAUSE_NODE, outer);
    sched_statics(s);
}

void sched_partition_schedulable(struct sched *s, uint32_t partition, bool schedulable) {
    assert(partition < s->n_partitions);
    if (s->partitions[partition].schedulable == schedulable)
        return;
    s->partitions[partition].schedulable = schedulable;
    if (!schedulable)
        sched_cause_note(s, SCHED_CAUSE_PARTITION, partition);
    sched_statics(s);
}

void sched_set_licenses(struct sched *s, const uint64_t *totals, size_t n) {
    uint64_t *used = xcalloc(n + 1, sizeof(*used));

    for (size_t i = 0; i < n && i < s->n_licenses; i++)
        used[i] = s->license_used[i];
    free(s->license_total);
    free(s->license_used);
    s->license_total = xcalloc(n + 1, sizeof(*totals));
    for (size_t i = 0; i < n; i++)
        s->license_total[i] = totals[i];
    s->license_used = used;
    sched_cause_note(s, SCHED_CAUSE_LICENSES, 0);
    s->n_licenses = n;
    sched_statics(s);
}

void sched_set_preemption(struct sched *s, const struct sched_preemption *preemption) {
    size_t n = (size_t) preemption->n_classes * preemption->n_classes;

    free((void *) (uintptr_t) s->preemption.may);
    s->preemption = *preemption;
    s->preemption.may = n ? xmemdup(preemption->may, n) : NULL;
    s->any_if_above = n && memchr(s->preemption.may, SCHED_MAY_IF_ABOVE, n);
    sched_released(s);
}

void sched_node_free(const struct sched *s, uint32_t outer, uint32_t *ret_cpus, uint64_t *ret_mem,
                     uint64_t ret_gres[SCHED_GRES_KINDS]) {
    const int64_t *have = node_free(s, s->inner[outer]);

    if (ret_cpus)
        *ret_cpus = have[DIM_CPU] > 0 ? have[DIM_CPU] : 0;
    if (ret_mem)
        *ret_mem = have[DIM_MEM] > 0 ? have[DIM_MEM] : 0;
    for (uint32_t k = 0; ret_gres && k < SCHED_GRES_KINDS; k++)
        ret_gres[k] = k < s->n_kinds && have[s->kinds[k].dim] > 0 ? have[s->kinds[k].dim] : 0;
}
