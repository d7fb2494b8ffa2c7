/* SPDX-License-Identifier: Apache-2.0 */
/* Binary heap; node i (from 0) has the children 2i+1 and 2i+2 and carries index i+1. */
#include "base/heap.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/vec.h"

static bool node_before(const struct heap_node *a, const struct heap_node *b) {
    return a->key != b->key ? a->key < b->key : a->order < b->order;
}

static void heap_place(struct heap *heap, size_t i, struct heap_node *node) {
    heap->nodes[i] = node;
    node->index = i + 1;
}

static void heap_sift_up(struct heap *heap, size_t i, struct heap_node *node) {
    while (i > 0) {
        size_t parent = (i - 1) / 2;
        if (!node_before(node, heap->nodes[parent]))
            break;
        heap_place(heap, i, heap->nodes[parent]);
        i = parent;
    }
    heap_place(heap, i, node);
}

static void heap_sift_down(struct heap *heap, size_t i, struct heap_node *node) {
    for (size_t child; (child = 2 * i + 1) < heap->n; i = child) {
        if (child + 1 < heap->n && node_before(heap->nodes[child + 1], heap->nodes[child]))
            child++;
        if (!node_before(heap->nodes[child], node))
            break;
        heap_place(heap, i, heap->nodes[child]);
    }
    heap_place(heap, i, node);
}

/* Puts node at i or wherever its key belongs from there. */
static void heap_settle(struct heap *heap, size_t i, struct heap_node *node) {
    if (i > 0 && node_before(node, heap->nodes[(i - 1) / 2]))
        heap_sift_up(heap, i, node);
    else
        heap_sift_down(heap, i, node);
}

void heap_done(struct heap *heap) {
    free(heap->nodes);
    *heap = (struct heap) {0};
}

void heap_push(struct heap *heap, struct heap_node *node, int64_t key, uint64_t order) {
    node->key = key;
    node->order = order;
    if (node->index) {
        assert(node->index <= heap->n && heap->nodes[node->index - 1] == node);
        heap_settle(heap, node->index - 1, node);
        return;
    }
    if (heap->n == heap->capacity) {
        heap->capacity = vec_grown(heap->capacity, heap->n + 1);
        heap->nodes = xreallocarray(heap->nodes, heap->capacity, sizeof(*heap->nodes));
    }
    heap_sift_up(heap, heap->n++, node);
}

void heap_remove(struct heap *heap, struct heap_node *node) {
    if (node->index == 0)
        return;
    size_t i = node->index - 1;
    assert(i < heap->n && heap->nodes[i] == node);
    struct heap_node *last = heap->nodes[--heap->n];
    node->index = 0;
    if (last != node)
        heap_settle(heap, i, last);
}

struct heap_node *heap_min(const struct heap *heap) {
    return heap->n ? heap->nodes[0] : NULL;
}

struct heap_node *heap_pop(struct heap *heap) {
    struct heap_node *node = heap_min(heap);
    if (node)
        heap_remove(heap, node);
    return node;
}
