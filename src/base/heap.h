/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Binary min-heap of intrusive nodes ordered by (key, order): `order` breaks ties so that two runs
 * agree. A node knows its index, so removal and re-keying are O(log n).
 */
#ifndef SLUICE_BASE_HEAP_H
#define SLUICE_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_node {
    int64_t key;
    uint64_t order;
    size_t index; /* 1-based position, 0 = not in a heap */
};
struct heap {
    struct heap_node **nodes;
    size_t n, capacity;
};

void heap_done(struct heap *heap);
void heap_push(struct heap *heap, struct heap_node *node, int64_t key, uint64_t order);
/* Removes if present; harmless otherwise. */
void heap_remove(struct heap *heap, struct heap_node *node);
struct heap_node *heap_min(const struct heap *heap); /* NULL when empty */
struct heap_node *heap_pop(struct heap *heap);
static inline bool heap_contains(const struct heap_node *node) {
    return node->index != 0;
}

#endif
