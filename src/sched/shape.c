/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Equal requests are one shape: everything that decides whether, where and for how long a job may
 * start, but not who asked, when, or how urgent it is. A shape is found by its key, the bytes of
 * the request. What it may use is a list of alternatives: one per partition and, where the
 * constraint says "all nodes the same", per choice.
 */
#include <assert.h>

#include "model/enums.h"
#include "sched/internal.h"
#include "text/constraint.h"

#define MAX_ALTERNATIVES 64 /* of a constraint */
#define LEAST_LIMIT 60      /* seconds that a job without a limit gets in a reservation at least */

/* ---- the key ---- */

static void key_u64(struct str *key, uint64_t value) {
    str_append_bytes(key, &value, sizeof(value));
}

static void key_list(struct str *key, const uint32_t *items, size_t n) {
    key_u64(key, n);
    if (n)
        str_append_bytes(key, items, n * sizeof(*items));
}

static void key_gres(struct str *key, const struct sched_gres_request *requests, size_t n) {
    key_u64(key, n);
    for (size_t i = 0; i < n; i++) {
        key_u64(key, (uint64_t) (uint16_t) requests[i].kind << 48 |
                         (uint64_t) (uint16_t) requests[i].name_of << 32 | requests[i].count);
    }
}

static void key_constraint(struct str *key, const struct constraint *constraint) {
    if (!constraint) {
        str_append_char(key, '-');
        return;
    }
    str_printf(key, "%d*%u", (int) constraint->op, constraint->count);
    if (constraint->op == CONSTRAINT_NAME) {
        str_append(key, constraint->name);
        str_append_char(key, ';');
        return;
    }
    str_append_char(key, '(');
    for (size_t i = 0; i < constraint->n_parts; i++)
        key_constraint(key, constraint->parts[i]);
    str_append_char(key, ')');
}

static void key_terms(struct str *key, const struct sched_job_spec *spec) {
    for (size_t i = 0; spec->terms && i < spec->n_partitions; i++) {
        const struct sched_terms *terms = &spec->terms[i];
        key_u64(key, (uint64_t) terms->refused << 3 | terms->any_time | terms->any_max_nodes << 1 |
                         terms->any_min_nodes << 2);
        key_u64(key, terms->n_uses);
        for (size_t k = 0; k < terms->n_uses; k++) {
            key_u64(key, (uint64_t) terms->uses[k].id << 1 | terms->uses[k].binds);
            key_u64(key, terms->uses[k].least);
            key_u64(key, terms->uses[k].factor);
        }
    }
}

static void shape_key(const struct sched_job_spec *spec, struct str *key) {
    const uint32_t sizes[] = {spec->min_nodes,
                              spec->max_nodes,
                              spec->ntasks,
                              spec->ntasks_per_node,
                              spec->ntasks_per_socket,
                              spec->ntasks_per_core,
                              spec->cpus_per_task,
                              spec->min_cpus_per_node,
                              spec->sockets_per_node,
                              spec->cores_per_socket,
                              spec->threads_per_core,
                              spec->cpus_per_gpu,
                              spec->overlap_user ? spec->uid : 0,
                              spec->exclusive | spec->overcommit << 1 | spec->contiguous << 2 |
                                  spec->overlap_user << 3 | spec->spread << 4};

    key_list(key, sizes, countof(sizes));
    key_u64(key, spec->max_switches);
    key_u64(key, spec->max_switches ? spec->switches_until : 0);
    key_u64(key, spec->limit);
    key_u64(key, spec->min_limit);
    key_u64(key, spec->mem_per_node);
    key_u64(key, spec->mem_per_cpu);
    key_u64(key, spec->mem_per_gpu);
    key_u64(key, spec->tmp_disk);
    key_list(key, spec->partitions, spec->n_partitions);
    key_list(key, spec->req_nodes, spec->n_req_nodes);
    key_list(key, spec->exc_nodes, spec->n_exc_nodes);
    key_list(key, spec->node_counts, spec->n_node_counts);
    key_gres(key, spec->per_node, spec->n_per_node);
    key_gres(key, spec->per_job, spec->n_per_job);
    key_gres(key, spec->per_task, spec->n_per_task);
    key_list(key, spec->license_ids, spec->n_licenses);
    key_list(key, spec->license_counts, spec->n_licenses);
    key_list(key, spec->reservations, spec->n_reservations);
    key_u64(key, spec->reserved_only);
    key_u64(key, (uint64_t) spec->preempt_class << 1 | spec->oversubscribe);
    key_terms(key, spec);
    key_constraint(key, spec->features);
    key_u64(key, spec->group ? spec->job_id : 0); /* what is found of it depends on the others */
}

/* ---- node sets ---- */

struct features_of {
    const struct sched *s;
    const struct node *node;
};

static bool node_has_feature(const char *name, void *context) {
    const struct features_of *of = context;
    size_t id = (size_t) smap_get(&of->s->features, name);

    return id != 0 && bits_test(&of->node->features, id - 1);
}

/* The nodes of a partition that a request may use by what they are, not by what is free. */
struct set_request {
    const struct sched_job_spec *spec;
    uint32_t partition;
    const struct constraint *terms[16]; /* all must hold */
    size_t n_terms;
};

static void set_key(const struct set_request *request, struct str *key) {
    const struct sched_job_spec *spec = request->spec;

    key_u64(key, request->partition);
    key_u64(key, spec->tmp_disk);
    key_u64(key, (uint64_t) spec->sockets_per_node << 40 | (uint64_t) spec->cores_per_socket << 16 |
                     spec->threads_per_core);
    key_list(key, spec->exc_nodes, spec->n_exc_nodes);
    for (size_t i = 0; i < request->n_terms; i++)
        key_constraint(key, request->terms[i]);
}

static bool node_may_serve(const struct sched *s, uint32_t i, const struct set_request *request) {
    const struct node *node = &s->nodes[i];
    const struct hardware *hardware = &s->hardware[node->hardware];
    const struct sched_job_spec *spec = request->spec;
    struct features_of of = {s, node};

    if (node->tmp_disk < spec->tmp_disk || hardware->sockets < spec->sockets_per_node ||
        hardware->cores_per_socket < spec->cores_per_socket ||
        hardware->threads_per_core < spec->threads_per_core)
        return false;
    for (size_t t = 0; t < request->n_terms; t++) {
        struct constraint term = *request->terms[t];
        term.count = 0; /* a group's own nodes must match, whatever their number */
        if (!constraint_matches(&term, node_has_feature, &of))
            return false;
    }
    return true;
}

static struct node_set *set_new(struct sched *s, const struct set_request *request) {
    struct node_set *set = zalloc(struct node_set);

    bits_init(&set->nodes, s->n_nodes);
    bits_each (&s->partitions[request->partition].nodes, node) {
        if (node_may_serve(s, node, request))
            bits_set(&set->nodes, node);
    }
    for (size_t i = 0; i < request->spec->n_exc_nodes; i++) {
        if (request->spec->exc_nodes[i] < s->n_nodes)
            bits_unset(&set->nodes, s->inner[request->spec->exc_nodes[i]]);
    }
    return set;
}

static struct node_set *set_intern(struct sched *s, const struct set_request *request) {
    cleanup_str struct str key = STR_INIT;

    set_key(request, &key);
    uint64_t hash = hash_bytes(key.data, key.length, 0);
    struct node_set *chain = map_get(&s->sets, hash), *set = chain;
    while (set && (set->key_size != key.length || memcmp(set->key, key.data, key.length) != 0))
        set = set->next_same_hash;
    if (!set) {
        set = set_new(s, request);
        set->hash = hash;
        set->key_size = key.length;
        set->key = str_take(&key);
        set->next_same_hash = chain;
        map_put(&s->sets, hash, set);
    }
    set->refs++;
    return set;
}

static void set_release(struct sched *s, struct node_set *set) {
    struct node_set *chain, **link;

    if (!set || --set->refs > 0)
        return;
    chain = map_get(&s->sets, set->hash);
    for (link = &chain; *link != set; link = &(*link)->next_same_hash)
        assert(*link);
    *link = set->next_same_hash;
    if (chain)
        map_put(&s->sets, set->hash, chain);
    else
        map_remove(&s->sets, set->hash);
    bits_done(&set->nodes);
    free(set->key);
    free(set);
}

/* ---- the constraint's choices ---- */

struct choice {
    const struct constraint *terms[16];
    size_t n_terms;
    const struct constraint *groups[GROUPS_MAX]; /* `count` nodes each */
    size_t n_groups;
};
struct choices {
    struct choice items[MAX_ALTERNATIVES];
    size_t n;
};

static void choices_expand(const struct constraint *constraint, struct choices *out);

/* a & b: every choice of a with every choice of b. */
static void choices_product(struct choices *a, const struct choices *b) {
    struct choices *product = zalloc(struct choices);

    for (size_t i = 0; i < a->n; i++) {
        for (size_t k = 0; k < b->n && product->n < MAX_ALTERNATIVES; k++) {
            struct choice *choice = &product->items[product->n++];
            *choice = a->items[i];
            for (size_t t = 0; t < b->items[k].n_terms && choice->n_terms < 16; t++)
                choice->terms[choice->n_terms++] = b->items[k].terms[t];
            for (size_t g = 0; g < b->items[k].n_groups && choice->n_groups < GROUPS_MAX; g++)
                choice->groups[choice->n_groups++] = b->items[k].groups[g];
        }
    }
    *a = *product;
    free(product);
}

static bool constraint_has_counts(const struct constraint *constraint) {
    if (constraint->count > 0)
        return true;
    for (size_t i = 0; i < constraint->n_parts; i++) {
        if (constraint_has_counts(constraint->parts[i]))
            return true;
    }
    return false;
}

static bool constraint_is_plain(const struct constraint *constraint) {
    if (constraint->op == CONSTRAINT_MATCHING_OR)
        return false;
    for (size_t i = 0; i < constraint->n_parts; i++) {
        if (!constraint_is_plain(constraint->parts[i]))
            return false;
    }
    return !constraint_has_counts(constraint);
}

static void choices_expand(const struct constraint *constraint, struct choices *out) {
    if (constraint->count > 0 || constraint_is_plain(constraint)) {
        out->n = 1;
        if (constraint->count > 0)
            out->items[0].groups[out->items[0].n_groups++] = constraint;
        else
            out->items[0].terms[out->items[0].n_terms++] = constraint;
        return;
    }
    struct choices *part = zalloc(struct choices);
    if (constraint->op == CONSTRAINT_AND) {
        out->n = 1;
        for (size_t i = 0; i < constraint->n_parts; i++) {
            memset(part, 0, sizeof(*part));
            choices_expand(constraint->parts[i], part);
            choices_product(out, part);
        }
    } else {
        for (size_t i = 0; i < constraint->n_parts; i++) {
            memset(part, 0, sizeof(*part));
            choices_expand(constraint->parts[i], part);
            for (size_t k = 0; k < part->n && out->n < MAX_ALTERNATIVES; k++)
                out->items[out->n++] = part->items[k];
        }
    }
    free(part);
}

/* ---- alternatives ---- */

static const struct sched_terms *terms_of(const struct sched_job_spec *spec, uint32_t partition) {
    static const struct sched_terms none;

    for (size_t i = 0; spec->terms && i < spec->n_partitions; i++) {
        if (spec->partitions[i] == partition)
            return &spec->terms[i];
    }
    return &none;
}

static void alternative_terms(const struct sched_terms *terms, struct alternative *alt) {
    alt->refused = terms->refused;
    alt->n_uses = terms->n_uses;
    alt->uses = terms->n_uses ? xmemdup(terms->uses, terms->n_uses * sizeof(*alt->uses)) : NULL;
}

static uint32_t partition_reason(const struct sched *s, const struct sched_job_spec *spec,
                                 struct alternative *alt) {
    const struct sched_terms *terms = terms_of(spec, alt->partition);
    struct partition limits = s->partitions[alt->partition], *p = &limits;

    p->max_time = terms->any_time ? SCHED_FOREVER : p->max_time;
    p->max_nodes = terms->any_max_nodes ? UINT32_MAX : p->max_nodes;
    p->min_nodes = terms->any_min_nodes ? UINT32_MAX : p->min_nodes;
    if (alt->limit > p->max_time) {
        if (spec->min_limit <= 0 || spec->min_limit > p->max_time)
            return REASON_PARTITION_TIME_LIMIT;
        alt->limit = p->max_time;
    }
    if (p->max_nodes != UINT32_MAX && p->max_nodes < alt->min_nodes)
        return REASON_PARTITION_NODE_LIMIT;
    if (p->max_nodes != UINT32_MAX)
        alt->max_nodes = min_of(alt->max_nodes, p->max_nodes);
    if (p->min_nodes != UINT32_MAX && p->min_nodes > alt->min_nodes) {
        if (alt->max_nodes < p->min_nodes)
            return REASON_PARTITION_NODE_LIMIT;
        alt->min_nodes = p->min_nodes;
    }
    return REASON_NONE;
}

static void alternative_groups(struct sched *s, const struct sched_job_spec *spec,
                               const struct choice *choice, struct alternative *alt) {
    uint32_t sum = 0;

    alt->groups = xcalloc(choice->n_groups + 1, sizeof(*alt->groups));
    for (size_t i = 0; i < choice->n_groups; i++) {
        struct set_request request = {spec, alt->partition, {NULL}, 0};
        for (size_t t = 0; t < choice->n_terms; t++)
            request.terms[request.n_terms++] = choice->terms[t];
        if (request.n_terms < countof(request.terms))
            request.terms[request.n_terms++] = choice->groups[i];
        alt->groups[i] = (struct group) {set_intern(s, &request), choice->groups[i]->count};
        sum += choice->groups[i]->count;
    }
    alt->n_groups = choice->n_groups;
    alt->min_nodes = max_of(alt->min_nodes, sum);
}

static void alternative_init(struct sched *s, const struct sched_job_spec *spec, uint32_t partition,
                             const struct choice *choice, struct alternative *alt) {
    const struct partition *p = &s->partitions[partition];
    struct set_request request = {spec, partition, {NULL}, choice->n_terms};

    memcpy(request.terms, choice->terms, sizeof(request.terms));
    alt->partition = partition;
    alt->set = set_intern(s, &request);
    alt->exclusive = spec->exclusive || p->exclusive || !s->settings.cpus_consumable;
    alt->cpu_cap = p->max_cpus_per_node == UINT32_MAX ? 0 : p->max_cpus_per_node;
    alt->min_nodes = max_of(max_of(spec->min_nodes, 1u), (uint32_t) spec->n_req_nodes);
    alt->max_nodes = spec->max_nodes ? spec->max_nodes : UINT32_MAX;
    alt->limit = spec->limit > 0 ? spec->limit : 1;
    alt->min_limit = spec->min_limit > 0 && spec->min_limit < alt->limit ? spec->min_limit : 0;
    alternative_groups(s, spec, choice, alt);
    alternative_terms(terms_of(spec, partition), alt);
    alt->limits = partition_reason(s, spec, alt);
    alt->each = xcalloc(s->n_hardware + 1, sizeof(*alt->each));
    alt->one = xcalloc(s->n_hardware + 1, sizeof(*alt->one));
    alt->even = xcalloc(s->n_hardware + 1, sizeof(*alt->even));
}

static int tier_compare(const struct sched *s, uint32_t a, uint32_t b) {
    return s->partitions[a].tier < s->partitions[b].tier;
}

static void alternatives_init(struct sched *s, const struct sched_job_spec *spec,
                              struct shape *shape) {
    struct choices *choices = zalloc(struct choices);
    uint32_t *order = xcalloc(spec->n_partitions + 1, sizeof(*order));

    choices->n = 1;
    if (spec->features) {
        choices->n = 0;
        choices_expand(spec->features, choices);
    }
    /* By tier, then as asked. */
    for (size_t i = 0; i < spec->n_partitions; i++) {
        size_t at = i;
        assert(spec->partitions[i] < s->n_partitions);
        for (; at > 0 && tier_compare(s, order[at - 1], spec->partitions[i]); at--)
            order[at] = order[at - 1];
        order[at] = spec->partitions[i];
    }
    size_t rounds = spec->n_reservations + (spec->reserved_only ? 0 : 1);
    shape->alternatives =
        xcalloc(rounds * spec->n_partitions * choices->n + 1, sizeof(*shape->alternatives));
    for (size_t i = 0; i < rounds * spec->n_partitions; i++) {
        size_t round = i / spec->n_partitions;
        for (size_t k = 0; k < choices->n; k++) {
            struct alternative *alt = &shape->alternatives[shape->n_alternatives++];
            alternative_init(s, spec, order[i % spec->n_partitions], &choices->items[k], alt);
            shape->budgeted = shape->budgeted || alt->n_uses > 0;
            alt->reservation = round < spec->n_reservations ? spec->reservations[round] : 0;
            /* Without a limit of its own the reservation's end is its limit. */
            if (alt->reservation && alt->limit == SCHED_FOREVER && alt->min_limit == 0)
                alt->min_limit = LEAST_LIMIT;
        }
    }
    free(order);
    free(choices);
}

/* ---- shapes ---- */

static uint8_t gres_set(const struct sched *s, const struct sched_gres_request *requests, size_t n,
                        struct gres_want *out) {
    uint8_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        bool typed = requests[i].kind >= 0;
        uint32_t kind = typed ? requests[i].kind : requests[i].name_of;
        if (requests[i].count == 0 || kind >= s->n_kinds)
            continue;
        out[kept++] = (struct gres_want) {typed ? s->kinds[kind].dim : s->kinds[kind].sum,
                                          s->kinds[kind].is_gpu, requests[i].count};
    }
    return kept;
}

static int64_t mem_or_unset(uint64_t mem) {
    return mem == UINT64_MAX ? -1 : mem > INT64_MAX / 4096 ? INT64_MAX / 4096 : (int64_t) mem;
}

static int u32_compare(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;
    return x < y ? -1 : x > y;
}

static uint32_t *u32_sorted(const uint32_t *items, size_t n) {
    uint32_t *copy = xcalloc(n + 1, sizeof(*copy));

    for (size_t i = 0; i < n; i++)
        copy[i] = items[i];
    sort_items(copy, n, sizeof(*copy), u32_compare);
    return copy;
}

static void shape_lists(struct sched *s, const struct sched_job_spec *spec, struct shape *shape) {
    uint32_t *nodes = xcalloc(spec->n_req_nodes + 1, sizeof(*nodes));

    for (size_t i = 0; i < spec->n_req_nodes; i++) {
        assert(spec->req_nodes[i] < s->n_nodes);
        nodes[i] = s->inner[spec->req_nodes[i]];
    }
    shape->req_nodes = u32_sorted(nodes, spec->n_req_nodes);
    shape->n_req_nodes = spec->n_req_nodes;
    free(nodes);
    shape->counts = u32_sorted(spec->node_counts, spec->n_node_counts);
    shape->n_counts = spec->n_node_counts;
    shape->licenses = licenses_new(spec->license_ids, spec->license_counts, spec->n_licenses);
    shape->n_licenses = spec->n_licenses;
}

struct shape *shape_new(struct sched *s, const struct sched_job_spec *spec) {
    struct shape *shape = zalloc(struct shape);

    shape->ntasks = spec->ntasks;
    shape->ntasks_per_node = spec->ntasks_per_node;
    shape->ntasks_per_socket = spec->ntasks_per_socket;
    shape->ntasks_per_core = spec->ntasks_per_core;
    shape->cpus_per_task = spec->cpus_per_task ? spec->cpus_per_task : 1;
    shape->min_cpus_per_node = spec->min_cpus_per_node;
    shape->sockets = spec->sockets_per_node;
    shape->cores_per_socket = spec->cores_per_socket;
    shape->threads_per_core = spec->threads_per_core;
    shape->cpus_per_gpu = spec->cpus_per_gpu;
    shape->mem_per_node = mem_or_unset(spec->mem_per_node);
    shape->mem_per_cpu = mem_or_unset(spec->mem_per_cpu);
    shape->mem_per_gpu = mem_or_unset(spec->mem_per_gpu);
    shape->n_per_node = gres_set(s, spec->per_node, spec->n_per_node, shape->per_node);
    shape->n_per_job = gres_set(s, spec->per_job, spec->n_per_job, shape->per_job);
    shape->n_per_task = gres_set(s, spec->per_task, spec->n_per_task, shape->per_task);
    shape->overcommit = spec->overcommit;
    shape->contiguous = spec->contiguous;
    shape->spread = spec->spread;
    shape->max_switches = spec->max_switches;
    shape->switches_until = spec->max_switches ? spec->switches_until : 0;
    shape->user_only = spec->overlap_user;
    shape->uid = spec->uid;
    shape->preempt_class = spec->preempt_class;
    shape->oversubscribe = spec->oversubscribe;
    shape->wants_gres = shape->n_per_node + shape->n_per_job + shape->n_per_task > 0;
    shape->primary = shape->n_per_node   ? shape->per_node[0].dim
                     : shape->n_per_job  ? shape->per_job[0].dim
                     : shape->n_per_task ? shape->per_task[0].dim
                                         : DIM_CPU;
    shape_lists(s, spec, shape);
    alternatives_init(s, spec, shape);
    return shape;
}

void shape_free(struct sched *s, struct shape *shape) {
    for (size_t i = 0; i < shape->n_alternatives; i++) {
        struct alternative *alt = &shape->alternatives[i];
        set_release(s, alt->set);
        for (size_t g = 0; g < alt->n_groups; g++)
            set_release(s, alt->groups[g].set);
        free(alt->groups);
        free(alt->uses);
        for (uint32_t h = 0; h < s->n_hardware; h++) {
            need_forget(alt->each[h]);
            need_forget(alt->one[h]);
            need_forget(alt->even[h]);
        }
        free(alt->each);
        free(alt->one);
        free(alt->even);
    }
    free(shape->alternatives);
    free(shape->counts);
    free(shape->req_nodes);
    free(shape->licenses);
    free(shape->jobs);
    free(shape->key);
    free(shape->detail);
    free(shape);
}

static struct shape *shape_lookup(const struct sched *s, const struct str *key, uint64_t hash) {
    struct shape *at = map_get(&s->shape_index, hash);

    while (at && (at->key_size != key->length || memcmp(at->key, key->data, key->length) != 0))
        at = at->next_same_hash;
    return at;
}

struct shape *shape_find(const struct sched *s, const struct sched_job_spec *spec) {
    cleanup_str struct str key = STR_INIT;

    shape_key(spec, &key);
    return shape_lookup(s, &key, hash_bytes(key.data, key.length, 0));
}

struct shape *shape_intern(struct sched *s, const struct sched_job_spec *spec) {
    cleanup_str struct str key = STR_INIT;

    shape_key(spec, &key);
    uint64_t hash = hash_bytes(key.data, key.length, 0);
    struct shape *shape = shape_lookup(s, &key, hash);
    if (shape)
        return shape;
    shape = shape_new(s, spec);
    shape->hash = hash;
    shape->key_size = key.length;
    shape->key = str_take(&key);
    shape->next_same_hash = map_get(&s->shape_index, hash);
    shape->position = s->shapes.n;
    vec_push(&s->shapes, shape);
    shape_turn_changed(s, shape);
    topology_wish(s, shape);
    map_put(&s->shape_index, hash, shape);
    return shape;
}

void shape_release(struct sched *s, struct shape *shape) {
    struct shape *chain, **link;

    if (shape->refs > 0)
        return;
    chain = map_get(&s->shape_index, shape->hash);
    for (link = &chain; *link != shape; link = &(*link)->next_same_hash)
        assert(*link);
    *link = shape->next_same_hash;
    if (chain)
        map_put(&s->shape_index, shape->hash, chain);
    else
        map_remove(&s->shape_index, shape->hash);
    order_forget(s, shape);
    vec_remove_swap(&s->shapes, shape->position);
    if (shape->position < s->shapes.n)
        s->shapes.items[shape->position]->position = shape->position;
    shape_free(s, shape);
}

bool shape_count_allowed(const struct shape *shape, uint32_t n) {
    if (shape->n_counts == 0)
        return true;
    for (size_t i = 0; i < shape->n_counts; i++) {
        if (shape->counts[i] == n)
            return true;
    }
    return false;
}
