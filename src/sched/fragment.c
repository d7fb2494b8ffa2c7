/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Against fragmentation: where several nodes could take a job with GRES, it goes where it makes the
 * least of what is left useless. A GPU is useless to a job whose CPUs or memory the node no longer
 * has. What jobs will want is taken from what runs: the most popular amounts that jobs hold of one
 * node, weighted by how many GRES they hold in all. (After the fragmentation gradient of Weng et
 * al., ATC'23, with counts in place of probabilities.)
 *
 * A node's loss is the sum over the popular amounts that it cannot give, of their weight times its
 * free GRES. Of the nodes with equally many free GRES only a few are looked at, so that a placement
 * costs little whatever the cluster's size. The table depends on what runs alone: a restarted
 * controller has the same.
 */
#include <assert.h>

#include "sched/internal.h"

#define POPULAR_KINDS_MAX 4096 /* different amounts; rarer ones beyond it are not counted */

static uint64_t amounts_hash(int64_t cpus, int64_t mem, int64_t gres, uint8_t dim) {
    int64_t key[] = {cpus, mem, gres, dim};
    return hash_bytes(key, sizeof(key), 0);
}

/* The first GRES name of which the vector has any; DIM_CPU: none. */
static uint8_t gres_of(const struct sched *s, const int64_t *amount, int64_t *ret_count) {
    for (uint32_t k = 0; k < s->n_kinds; k++) {
        uint8_t sum = s->kinds[k].sum;
        if (amount[DIM_GRES + k] <= 0)
            continue;
        *ret_count = 0;
        for (uint32_t j = 0; j < s->n_kinds; j++)
            *ret_count += s->kinds[j].sum == sum ? amount[DIM_GRES + j] : 0;
        return sum;
    }
    return DIM_CPU;
}

void popular_take(struct sched *s, struct run *run) {
    int64_t count;
    uint8_t dim = run->n > 0 ? gres_of(s, run->amounts, &count) : DIM_CPU;

    if (dim == DIM_CPU)
        return;
    uint64_t hash = amounts_hash(run->amounts[DIM_CPU], run->amounts[DIM_MEM], count, dim);
    struct popular *kind = map_get(&s->popular, hash);
    if (!kind && s->popular.n >= POPULAR_KINDS_MAX)
        return;
    if (!kind) {
        kind = zalloc(struct popular);
        *kind = (struct popular) {.cpus = run->amounts[DIM_CPU],
                                  .mem = run->amounts[DIM_MEM],
                                  .gres = count,
                                  .hash = hash,
                                  .dim = dim};
        map_put(&s->popular, hash, kind);
    }
    kind->n += run->n;
    run->popular = kind;
    s->popular_changed = true;
}

void popular_give(struct sched *s, struct run *run) {
    struct popular *kind = run->popular;

    if (!kind)
        return;
    assert(kind->n >= run->n);
    kind->n -= run->n;
    run->popular = NULL;
    s->popular_changed = true;
    if (kind->n > 0)
        return;
    map_remove(&s->popular, kind->hash);
    free(kind);
}

void popular_clear(struct sched *s) {
    size_t at = 0;
    uint64_t key;
    struct popular *kind;

    while ((kind = map_next(&s->popular, &at, &key)))
        free(kind);
    map_done(&s->popular);
    s->popular = (struct map) MAP_INIT;
    s->n_popular = 0;
    s->popular_changed = false;
}

static int64_t weight_of(const struct popular *kind) {
    return kind->gres * (int64_t) kind->n;
}

/* Total, so that the table does not depend on the map's order. */
static bool more_popular(const struct popular *a, const struct popular *b) {
    if (weight_of(a) != weight_of(b))
        return weight_of(a) > weight_of(b);
    if (a->gres != b->gres)
        return a->gres > b->gres;
    if (a->cpus != b->cpus)
        return a->cpus > b->cpus;
    return a->mem != b->mem ? a->mem > b->mem : a->dim > b->dim;
}

/* What starts in a pass counts from the next. */
void popular_pass(struct sched *s) {
    size_t at = 0;
    uint64_t key;
    struct popular *kind;

    if (!s->popular_changed)
        return;
    s->popular_changed = false;
    s->n_popular = 0;
    while ((kind = map_next(&s->popular, &at, &key))) {
        uint32_t i = s->n_popular;
        for (; i > 0 && more_popular(kind, &s->popular_table[i - 1]); i--)
            if (i < POPULAR_MAX)
                s->popular_table[i] = s->popular_table[i - 1];
        if (i == POPULAR_MAX)
            continue;
        s->popular_table[i] = *kind;
        s->n_popular = min_of(s->n_popular + 1, (uint32_t) POPULAR_MAX);
    }
}

static int64_t loss_of(const struct sched *s, int64_t cpus, int64_t mem, int64_t gres,
                       uint8_t dim) {
    int64_t loss = 0;

    for (uint32_t i = 0; i < s->n_popular; i++) {
        const struct popular *kind = &s->popular_table[i];
        if (kind->dim == dim && (cpus < kind->cpus || mem < kind->mem || gres < kind->gres))
            loss += weight_of(kind) * gres;
    }
    return loss;
}

bool fragment_begin(const struct sched *s, const struct shape *shape, const struct alternative *alt,
                    uint32_t goal, struct fragment *ret) {
    *ret = (struct fragment) {.best = SCHED_NO_NODE};
    if (goal != 1 || !shape->wants_gres || alt->exclusive || !s->settings.pack_nodes ||
        s->partitions[alt->partition].spread)
        return false;
    return s->n_popular > 0;
}

void fragment_level_begin(struct fragment *f) {
    f->n_level = 0;
    f->before = SCHED_NO_NODE;
}

bool fragment_offer(const struct sched *s, struct fragment *f, uint32_t node, const int64_t *need,
                    uint8_t primary) {
    const int64_t *have = node_free(s, node);
    uint8_t sum = primary;

    for (uint32_t k = 0; k < s->n_kinds; k++)
        sum = s->kinds[k].dim == primary ? s->kinds[k].sum : sum;

    f->n_level++;
    /* Idle nodes of one kind are equal: the first of them is as good as any. */
    if (f->before == SCHED_NO_NODE ||
        memcmp(have, node_free(s, f->before), s->n_dims * sizeof(*have)) != 0) {
        int64_t loss = loss_of(s, have[DIM_CPU] - need[DIM_CPU], have[DIM_MEM] - need[DIM_MEM],
                               have[sum] - need[primary], sum) -
                       loss_of(s, have[DIM_CPU], have[DIM_MEM], have[sum], sum);
        if (f->best == SCHED_NO_NODE || loss < f->loss ||
            (loss == f->loss && have[primary] < f->left)) {
            f->best = node;
            f->loss = loss;
            f->left = have[primary];
        }
    }
    f->before = node;
    return f->n_level < FRAGMENT_LEVEL_NODES;
}
