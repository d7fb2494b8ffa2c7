/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of a reference policy and its orders. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/policy_internal.h"

/* Keys are doubles in every order. Limits times processors stay exact below 2^53, beyond which the
 * rank decides between jobs of the same rounded size. */
static double order_key(const struct sim *sim, uint32_t job, int64_t now) {
    double limit = (double) sim->limit[job], procs = sim->jobs[job].procs;
    double waited = (double) (now - sim->jobs[job].submit);
    switch ((enum sim_order) sim->policy->order) {
    case SIM_ORDER_FCFS:
        return 0;
    case SIM_ORDER_SJF:
        return limit;
    case SIM_ORDER_SAF:
        return limit * procs;
    case SIM_ORDER_WFP3: {
        double x = waited / limit;
        return -(x * x * x) * procs;
    }
    case SIM_ORDER_UNICEF: {
        /* log2(1) would divide by 0: serial jobs come first. */
        double size = sim->jobs[job].procs > 1 ? log2(procs) : 1e-6;
        return -waited / (size * limit);
    }
    case SIM_ORDER_F1: {
        double since = (double) (sim->jobs[job].submit - sim->jobs[0].submit + 1);
        return log10(limit) * procs + 870.0 * log10(since);
    }
    }
    return 0;
}

static bool before(const struct waiting *a, const struct waiting *b) {
    return a->key < b->key || (a->key == b->key && a->job < b->job);
}

static int by_key(const void *a, const void *b) {
    return before(a, b) ? -1 : 1;
}

void queue_insert(struct sim *sim, uint32_t job, int64_t now) {
    struct waiting added = {order_key(sim, job, now), job};
    vec_push(&sim->queue, added);
    /* Ranks rise, so in the order of submission the place is the last one. */
    if (sim->dynamic || sim->policy->order == SIM_ORDER_FCFS)
        return;
    struct waiting *items = sim->queue.items;
    size_t low = sim->head, high = sim->queue.n - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (before(&items[middle], &added))
            low = middle + 1;
        else
            high = middle;
    }
    memmove(&items[low + 1], &items[low], (sim->queue.n - 1 - low) * sizeof(*items));
    items[low] = added;
}

/* Between two passes few jobs change places: insertion sort, unless that turns out wrong. */
void queue_sort(struct sim *sim, int64_t now) {
    struct waiting *items = sim->queue.items + sim->head;
    size_t n = queue_length(sim), moves = 0, moves_max = 16 * n + 64;
    if (!sim->dynamic || n < 2)
        return;
    for (size_t i = 0; i < n; i++)
        items[i].key = order_key(sim, items[i].job, now);
    for (size_t i = 1; i < n; i++) {
        struct waiting moved = items[i];
        size_t at = i;
        for (; at > 0 && before(&moved, &items[at - 1]); at--)
            items[at] = items[at - 1];
        items[at] = moved;
        moves += i - at;
        if (moves > moves_max) {
            qsort(items, n, sizeof(*items), by_key);
            return;
        }
    }
}

void queue_drop_first(struct sim *sim, size_t n) {
    sim->head += n;
    if (sim->head * 2 < sim->queue.n && sim->head < sim->queue.n)
        return;
    sim->queue.n -= sim->head;
    if (sim->queue.n)
        memmove(sim->queue.items, sim->queue.items + sim->head,
                sim->queue.n * sizeof(*sim->queue.items));
    sim->head = 0;
}

void queue_drop_started(struct sim *sim) {
    size_t kept = sim->head;
    for (size_t i = sim->head; i < sim->queue.n; i++)
        if (sim->starts[sim->queue.items[i].job] == SIM_NEVER)
            sim->queue.items[kept++] = sim->queue.items[i];
    sim->queue.n = kept;
}
