/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For each dimension a ladder of amounts, and for each step the set of nodes that have at least so
 * much. Which nodes may fit is then an AND of a few bit sets; the exact test follows for the few
 * that are left. Small amounts have every integer as a step, larger ones four steps an octave, and
 * the totals of the nodes are steps, so that idle nodes are told apart exactly.
 */
#include "sched/internal.h"

#define MAX_STEPS 160 /* of a ladder */

static int step_compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;
    return x < y ? -1 : x > y;
}

struct steps {
    int64_t items[MAX_STEPS];
    uint32_t n;
};

static void step_add(struct steps *steps, int64_t step) {
    if (step > 0 && steps->n < MAX_STEPS)
        steps->items[steps->n++] = step;
}

/* Steps up to the largest total; distinct totals as far as there is room. */
static void ladder_init(struct ladder *ladder, const struct sched *s, uint32_t dim) {
    struct steps steps = {.n = 0};
    int64_t max = 0, first = dim == DIM_MEM ? 256 : 1;

    for (uint32_t h = 0; h < s->n_hardware; h++)
        max = max_of(max, s->hardware[h].total[dim]);
    if (dim != DIM_MEM) {
        for (int64_t step = 1; step <= 15 && step <= max; step++)
            step_add(&steps, step);
        first = 16;
    }
    for (int64_t base = first; base <= max && steps.n < MAX_STEPS - 40; base *= 2) {
        for (int64_t quarter = 4; quarter < 8; quarter++)
            step_add(&steps, base * quarter / 4);
    }
    for (uint32_t h = 0; h < s->n_hardware; h++)
        step_add(&steps, s->hardware[h].total[dim]);
    sort_items(steps.items, steps.n, sizeof(*steps.items), step_compare);
    ladder->steps = xcalloc(steps.n + 1, sizeof(*ladder->steps));
    for (uint32_t i = 0; i < steps.n; i++) {
        bool new = ladder->n == 0 || ladder->steps[ladder->n - 1] != steps.items[i];
        if (steps.items[i] <= max && new)
            ladder->steps[ladder->n++] = steps.items[i];
    }
    ladder->level = xcalloc(s->n_nodes + 1, 1);
    ladder->sets = xcalloc(ladder->n + 1, sizeof(*ladder->sets));
    for (uint32_t i = 0; i < ladder->n; i++)
        bits_init(&ladder->sets[i], s->n_nodes);
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
    for (uint32_t d = 0; d < s->n_dims; d++)
        ladder_init(&index->dims[d], s, d);
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
        free(ladder->steps);
        free(ladder->sets);
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
