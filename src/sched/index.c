/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For each dimension a ladder of amounts, and for each step the set of nodes that have at least so
 * much. Which nodes may fit is then an AND of a few bit sets; the exact test follows for the few
 * that are left. Small amounts have every integer as a step, larger ones four steps an octave, and
 * the totals of the nodes are steps, so that idle nodes are told apart exactly.
 */
#include "sched/internal.h"

static int step_compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;
    return x < y ? -1 : x > y;
}

static void ladder_add(struct ladder *ladder, int64_t step) {
    if (step > 0 && ladder->n < MAX_STEPS)
        ladder->steps[ladder->n++] = step;
}

/* Steps up to the largest total; distinct totals as far as there is room. */
static void ladder_steps(struct ladder *ladder, const struct sched *s, uint32_t dim) {
    int64_t max = 0, first = dim == DIM_MEM ? 256 : 1;
    uint32_t kept = 0;

    for (uint32_t h = 0; h < s->n_hardware; h++)
        max = max_of(max, s->hardware[h].total[dim]);
    if (dim != DIM_MEM) {
        for (int64_t step = 1; step <= 15 && step <= max; step++)
            ladder_add(ladder, step);
        first = 16;
    }
    for (int64_t base = first; base <= max && ladder->n < MAX_STEPS - 40; base *= 2) {
        for (int64_t quarter = 4; quarter < 8; quarter++)
            ladder_add(ladder, base * quarter / 4);
    }
    for (uint32_t h = 0; h < s->n_hardware; h++)
        ladder_add(ladder, s->hardware[h].total[dim]);
    sort_items(ladder->steps, ladder->n, sizeof(*ladder->steps), step_compare);
    for (uint32_t i = 0; i < ladder->n; i++) {
        if (ladder->steps[i] <= max && (kept == 0 || ladder->steps[kept - 1] != ladder->steps[i]))
            ladder->steps[kept++] = ladder->steps[i];
    }
    ladder->n = kept;
}

uint32_t ladder_find(const struct ladder *ladder, int64_t value) {
    uint32_t low = 0, high = ladder->n;

    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (ladder->steps[middle] <= value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void index_init(struct index *index, const struct sched *s) {
    index->dims = xcalloc(s->n_dims, sizeof(*index->dims));
    for (uint32_t d = 0; d < s->n_dims; d++) {
        struct ladder *ladder = &index->dims[d];
        ladder_steps(ladder, s, d);
        ladder->level = xcalloc(s->n_nodes + 1, 1);
        for (uint32_t i = 0; i < ladder->n; i++)
            bits_init(&ladder->sets[i], s->n_nodes);
    }
    bits_init(&index->idle, s->n_nodes);
    for (uint32_t node = 0; node < s->n_nodes; node++)
        index_set(index, s, node, node_total(s, node));
}

void index_done(struct index *index, uint32_t n_dims) {
    for (uint32_t d = 0; index->dims && d < n_dims; d++) {
        struct ladder *ladder = &index->dims[d];
        for (uint32_t i = 0; i < ladder->n; i++)
            bits_done(&ladder->sets[i]);
        free(ladder->level);
    }
    free(index->dims);
    index->dims = NULL;
    bits_done(&index->idle);
}

void index_set(struct index *index, const struct sched *s, uint32_t node, const int64_t *amount) {
    bool idle = true;
    const int64_t *total = node_total(s, node);

    for (uint32_t d = 0; d < s->n_dims; d++) {
        struct ladder *ladder = &index->dims[d];
        uint32_t old = ladder->level[node], level = ladder_find(ladder, amount[d]);

        for (; old < level; old++)
            bits_set(&ladder->sets[old], node);
        for (; old > level; old--)
            bits_unset(&ladder->sets[old - 1], node);
        ladder->level[node] = level;
        idle = idle && amount[d] == total[d];
    }
    if (idle)
        bits_set(&index->idle, node);
    else
        bits_unset(&index->idle, node);
}

const struct bits *index_at_least(const struct index *index, uint32_t dim, int64_t need) {
    const struct ladder *ladder = &index->dims[dim];
    uint32_t level = ladder_find(ladder, need);

    return level == 0 ? NULL : &ladder->sets[level - 1];
}
