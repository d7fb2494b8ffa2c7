/* SPDX-License-Identifier: Apache-2.0 */
/* Intrusive doubly linked list with a sentinel head. An unlinked node points to itself. */
#ifndef SLUICE_BASE_LIST_H
#define SLUICE_BASE_LIST_H

#include <stdbool.h>

#include "base/alloc.h"

struct list {
    struct list *prev, *next;
};

static inline void list_init(struct list *head) {
    head->prev = head->next = head;
}
static inline bool list_is_empty(const struct list *head) {
    return head->next == head;
}
static inline void list_append(struct list *head, struct list *node) {
    node->prev = head->prev;
    node->next = head;
    head->prev->next = node;
    head->prev = node;
}
static inline void list_prepend(struct list *head, struct list *node) {
    list_append(head->next, node);
}
static inline void list_remove(struct list *node) {
    node->prev->next = node->next;
    node->next->prev = node->prev;
    list_init(node);
}
#define list_entry(node, type, member) container_of(node, type, member)
/* Safe against removal of the current entry. */
#define list_each(head, node)                                                                      \
    for (struct list *node = (head)->next, *node##_next = node->next; node != (head);              \
         node = node##_next, node##_next = node->next)

#endif
