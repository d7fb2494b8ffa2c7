/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names for counts. The planner says "4 CPUs and one A100 on this node"; here the job gets cores
 * 0-3 and device 1. The lowest free numbers are taken; where resources are shared in time, the
 * least used ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/state.h"
#include "text/tres.h"

/* Which of equally used slots are taken first: those in `first`, of these and of the others those
 * that are not in `claimed`. Either may be NULL. */
struct wish {
    const struct idset *first, *claimed;
};

static bool is_in(const struct idset *set, uint32_t id) {
    return set != NULL && idset_contains(set, id);
}

static uint32_t take_level(const uint8_t *use, uint32_t n, uint32_t count, unsigned level,
                           const struct wish *wish, struct idset *ret) {
    for (unsigned worse = wish->first != NULL ? 0 : 2; worse < 4 && count > 0; worse++) {
        if ((worse & 1) && wish->claimed == NULL)
            continue;
        for (uint32_t i = 0; i < n && count > 0; i++) {
            if (use[i] != level || idset_contains(ret, i) || is_in(wish->first, i) != (worse < 2) ||
                is_in(wish->claimed, i) != (worse & 1))
                continue;
            idset_add(ret, i);
            count--;
        }
    }
    return count;
}

/* Numbers of the `count` least used slots, marked as used once more. */
static void take_slots(uint8_t *use, uint32_t n, uint32_t count, const struct wish *wish,
                       struct idset *ret) {
    for (unsigned level = 0; count > 0 && level < UINT8_MAX; level++)
        count = take_level(use, n, count, level, wish, ret);
    uint32_t id = 0;
    for (bool more = idset_next(ret, 0, &id); more; more = idset_next(ret, id + 1, &id))
        use[id]++;
}

void assign_affinity(struct core *core, struct core_node *node) {
    for (size_t k = 0; k < core->n_kinds; k++) {
        affinity_free(node->affinity[k]);
        node->affinity[k] = NULL;
        if (node->gres_use[k] != NULL)
            node->affinity[k] =
                affinity_new(core->conf, node->rec.name, core->kinds[k].name, core->kinds[k].type,
                             node->gres_total[k], node->gres_first[k]);
    }
}

void assign_found(struct core *core, struct core_node *node, const struct gres_place *places,
                  size_t n) {
    assign_affinity(core, node);
    for (size_t k = 0; k < core->n_kinds; k++) {
        if (node->affinity[k] == NULL && node->gres_use[k] != NULL)
            node->affinity[k] = affinity_found(places, n, core->kinds[k].name, node->gres_total[k],
                                               node->gres_first[k]);
    }
}

/* Devices that belong together; `cores` gets those near them. */
static void take_devices(struct core_node *node, size_t kind, const struct sched_alloc *alloc,
                         struct idset *cores, struct idset *ret) {
    const struct affinity *affinity = node->affinity[kind];
    uint8_t *use = node->gres_use[kind];
    uint32_t count = alloc->gres[kind];
    uint32_t free_set = 0;
    for (uint32_t i = 0; affinity != NULL && i < node->gres_total[kind]; i++)
        free_set |= use[i] == 0 ? 1u << i : 0;
    if (affinity == NULL || (uint32_t) __builtin_popcount(free_set) < count) {
        struct idset planned cleanup_idset = IDSET_INIT;
        for (uint32_t i = 0; cards_are_of(node, kind) && i < node->gres_total[kind]; i++) {
            if (alloc->cards[node->gres_first[kind] + i] > 0)
                idset_add(&planned, i);
        }
        take_slots(use, node->gres_total[kind], count, &(struct wish) {&planned, NULL}, ret);
        return;
    }
    uint32_t set = affinity_choose(affinity, free_set, count);
    for (uint32_t i = 0; i < node->gres_total[kind]; i++) {
        if (!(set >> i & 1))
            continue;
        idset_add(ret, i);
        use[i]++;
    }
    affinity_cores(affinity, set, cores);
}

static char *idset_text(const struct idset *set) {
    struct str out = STR_INIT;
    /* Plain ranges only: the step form is for array ids. */
    for (size_t i = 0; i < set->n; i++) {
        const struct idset_run *run = &set->runs[i];
        for (uint32_t id = run->first; id <= run->last; id += run->step) {
            uint32_t last = run->step == 1 ? run->last : id;
            str_printf(&out, out.length > 0 ? ",%u" : "%u", id);
            if (last > id)
                str_printf(&out, "-%u", last);
            id = last;
        }
    }
    return str_take(&out);
}

static void take_gres(struct core *core, struct core_node *node, const struct sched_alloc *alloc,
                      struct idset *cores, struct str *out) {
    for (size_t k = 0; k < core->n_kinds; k++) {
        if (alloc->gres[k] == 0)
            continue;
        if (cards_are_shared_as(node, k)) {
            cards_take_share(core, node, alloc, k, out);
            continue;
        }
        struct idset taken cleanup_idset = IDSET_INIT, shown cleanup_idset = IDSET_INIT;
        if (node->gres_use[k] != NULL) /* plain counts have no numbers */
            take_devices(node, k, alloc, cores, &taken);
        uint32_t offset = node->gres_first[k], id = 0;
        for (bool more = idset_next(&taken, 0, &id); more; more = idset_next(&taken, id + 1, &id))
            idset_add(&shown, id + offset);
        cleanup_free char *ids = idset_text(&shown);
        gres_kind_print(&core->kinds[k], alloc->gres[k], out);
        str_printf(out, "(IDX:%s)", ids);
    }
}

bool assign_cores_read(const struct job_node *entry, struct idset *ret) {
    return entry->cores != NULL && idset_parse(ret, entry->cores, UINT32_MAX - 2, NULL, NULL) == 0;
}

/* Cores to which suspended jobs will return. */
static void claimed_cores(const struct core *core, const struct core_node *node,
                          struct idset *ret) {
    for (size_t i = 0; i < node->jobs.n; i++) {
        const struct core_job *job = job_find(core, node->jobs.items[i]);
        uint32_t n = job != NULL && job->rec.cpus_given ? job_n_entries(&job->rec) : 0;
        for (uint32_t k = 0; k < n; k++) {
            const struct job_node *entry = job_entry(&job->rec, k);
            struct idset cores cleanup_idset = IDSET_INIT;
            uint32_t id = 0;
            if (&core->nodes[entry->node] != node || !assign_cores_read(entry, &cores))
                continue;
            for (bool more = idset_next(&cores, 0, &id); more;
                 more = idset_next(&cores, id + 1, &id))
                idset_add(ret, id);
        }
    }
}

/* Calls fn for each part of an entry's gres that is of a kind of this cluster. */
static void each_gres(const struct core *core, const struct job_node *entry,
                      void (*fn)(const struct core *core, size_t kind,
                                 const struct gres_given *given, void *context),
                      void *context) {
    struct gres_given given;
    for (const char *at = entry->gres; gres_given_next(&at, &given); gres_given_done(&given)) {
        size_t k = gres_kind_find(core, given.item.name, given.item.type);
        if (k < core->n_kinds)
            fn(core, k, &given, context);
    }
}

static void note_cards(const struct core *core, size_t kind, const struct gres_given *given,
                       void *context) {
    (void) core;
    cards_change(context, kind, given, true);
}

void assign_take(struct core *core, struct job_node *entry, const struct sched_alloc *alloc,
                 bool bound) {
    struct core_node *node = &core->nodes[alloc->node];
    string_set(&entry->name, node->rec.name);
    entry->node = alloc->node;
    entry->cpus = alloc->cpus;
    entry->mem = alloc->mem;
    entry->ntasks = alloc->ntasks;
    struct idset cores cleanup_idset = IDSET_INIT;
    uint32_t n = (alloc->cpus + node->cpus_per_core - 1) / node->cpus_per_core;
    struct idset near cleanup_idset = IDSET_INIT; /* to its devices */
    struct str gres cleanup_str = STR_INIT;
    take_gres(core, node, alloc, &near, &gres);
    struct idset claimed cleanup_idset = IDSET_INIT;
    if (node->n_given > 0)
        claimed_cores(core, node, &claimed);
    const struct wish wish = {bound && near.n > 0 ? &near : NULL, claimed.n > 0 ? &claimed : NULL};
    take_slots(node->core_use, node->n_cores, min_of(n, node->n_cores), &wish, &cores);
    free(entry->cores);
    entry->cores = idset_text(&cores);
    string_set(&entry->gres, gres.length > 0 ? gres.data : NULL);
    if (node->cards != NULL)
        each_gres(core, entry, note_cards, node);
}

/* ---- back from the written form ---- */

struct use_change {
    struct core_node *node;
    int by;
};

static void change_use(uint8_t *use, uint32_t n, uint32_t offset, const struct idset *set, int by) {
    uint32_t id = 0;
    if (use == NULL)
        return;
    for (bool more = idset_next(set, 0, &id); more; more = idset_next(set, id + 1, &id)) {
        if (id >= offset && id - offset < n && (by > 0 || use[id - offset] > 0))
            use[id - offset] = (uint8_t) (use[id - offset] + by);
    }
}

static void change_gres(const struct core *core, size_t kind, const struct gres_given *given,
                        void *context) {
    const struct use_change *change = context;
    cards_change(change->node, kind, given, change->by > 0);
    if (!cards_are_shared_as(change->node, kind))
        change_use(change->node->gres_use[kind], change->node->gres_total[kind],
                   change->node->gres_first[kind], &given->ids, change->by);
}

void assign_cores(struct core *core, const struct job_node *entry, bool take) {
    struct core_node *node = &core->nodes[entry->node];
    struct idset cores cleanup_idset = IDSET_INIT;
    if (assign_cores_read(entry, &cores))
        change_use(node->core_use, node->n_cores, 0, &cores, take ? 1 : -1);
}

bool assign_cores_free(const struct core *core, const struct job_node *entry, uint32_t layers) {
    const struct core_node *node = &core->nodes[entry->node];
    struct idset cores cleanup_idset = IDSET_INIT;
    uint32_t id = 0;
    if (!assign_cores_read(entry, &cores))
        return true;
    for (bool more = idset_next(&cores, 0, &id); more; more = idset_next(&cores, id + 1, &id)) {
        if (id < node->n_cores && node->core_use[id] >= layers)
            return false;
    }
    return true;
}

void assign_gres(struct core *core, const struct job_node *entry, bool take) {
    struct use_change change = {&core->nodes[entry->node], take ? 1 : -1};
    each_gres(core, entry, change_gres, &change);
}

static void add_count(const struct core *core, size_t kind, const struct gres_given *given,
                      void *context) {
    struct sched_alloc *alloc = context;
    alloc->gres[kind] += (uint32_t) given->item.count;
    cards_units(&core->nodes[alloc->node], kind, given, alloc);
}

void alloc_from_entry(const struct core *core, const struct job_node *entry,
                      struct sched_alloc *ret) {
    memset(ret, 0, sizeof(*ret));
    ret->node = entry->node;
    ret->cpus = entry->cpus;
    ret->mem = entry->mem;
    ret->ntasks = entry->ntasks;
    each_gres(core, entry, add_count, ret);
}

/* "gpu:a100:1(IDX:0),gpu:v100:0(IDX:N/A)" of everything a node has. */
void assign_gres_used(const struct core *core, const struct core_node *node, struct str *out) {
    for (size_t k = 0; k < core->n_kinds; k++) {
        if (node->gres_total[k] == 0)
            continue;
        struct idset used cleanup_idset = IDSET_INIT;
        uint32_t offset = node->gres_first[k];
        if (cards_are_shared_as(node, k)) {
            struct str cards cleanup_str = STR_INIT;
            gres_kind_print(&core->kinds[k], cards_use_print(node, k, &cards), out);
            str_printf(out, "(%s)", str_cstr(&cards));
            continue;
        }
        for (uint32_t i = 0; node->gres_use[k] != NULL && i < node->gres_total[k]; i++) {
            if (node->gres_use[k][i] > 0 &&
                (!gres_kind_is_gpu(core, k) || cards_is_whole(node, k, i)))
                idset_add(&used, i + offset);
        }
        cleanup_free char *ids = idset_text(&used);
        gres_kind_print(&core->kinds[k], idset_count(&used), out);
        str_printf(out, "(IDX:%s)", ids[0] != '\0' ? ids : "N/A");
    }
}

struct gpu_walk {
    void (*fn)(uint32_t index, void *context);
    void *context;
};

static void walk_gpus(const struct core *core, size_t kind, const struct gres_given *given,
                      void *context) {
    const struct gpu_walk *walk = context;
    uint32_t id = 0;
    if (!gres_kind_is_gpu(core, kind) && !gres_kind_is_share(core, kind))
        return;
    for (bool more = idset_next(&given->ids, 0, &id); more;
         more = idset_next(&given->ids, id + 1, &id))
        walk->fn(id, walk->context);
}

void assign_each_gpu(const struct core *core, const struct job_node *entry,
                     void (*fn)(uint32_t index, void *context), void *context) {
    struct gpu_walk walk = {fn, context};
    each_gres(core, entry, walk_gpus, &walk);
}
