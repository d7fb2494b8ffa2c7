/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Growing arrays: `vec(struct job *) jobs = {0}; vec_push(&jobs, job); vec_done(&jobs);`
 * Elements are moved with memcpy. Pointers into a vector die when it grows.
 */
#ifndef SLUICE_BASE_VEC_H
#define SLUICE_BASE_VEC_H

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"

#define vec(type)                                                                                  \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t n, capacity;                                                                        \
    }

size_t vec_grown(size_t capacity, size_t needed);

#define vec_reserve(v, extra)                                                                      \
    do {                                                                                           \
        if ((v)->n + (extra) > (v)->capacity) {                                                    \
            (v)->capacity = vec_grown((v)->capacity, (v)->n + (extra));                            \
            (v)->items = xreallocarray((v)->items, (v)->capacity, sizeof(*(v)->items));            \
        }                                                                                          \
    } while (0)
#define vec_push(v, item)                                                                          \
    do {                                                                                           \
        vec_reserve(v, 1);                                                                         \
        (v)->items[(v)->n++] = (item);                                                             \
    } while (0)
/* Appends a zeroed element and yields its address. */
#define vec_add(v)                                                                                 \
    ({                                                                                             \
        vec_reserve(v, 1);                                                                         \
        memset(&(v)->items[(v)->n], 0, sizeof(*(v)->items));                                       \
        &(v)->items[(v)->n++];                                                                     \
    })
/* Removes item i by moving the last one into its place (order is lost). */
#define vec_remove_swap(v, i) ((v)->items[(i)] = (v)->items[--(v)->n])
/* Removes item i, keeping order. */
#define vec_remove(v, i)                                                                           \
    do {                                                                                           \
        size_t vec_i_ = (i);                                                                       \
        memmove(&(v)->items[vec_i_], &(v)->items[vec_i_ + 1],                                      \
                (--(v)->n - vec_i_) * sizeof(*(v)->items));                                        \
    } while (0)
#define vec_reset(v) ((v)->n = 0)
#define vec_done(v)                                                                                \
    do {                                                                                           \
        free((v)->items);                                                                          \
        (v)->items = NULL;                                                                         \
        (v)->n = (v)->capacity = 0;                                                                \
    } while (0)
/* `vec_each(v, item)`: item is a pointer to each element. The bound is a difference because an
 * empty vector's NULL + 0 is undefined. */
#define vec_each(v, item)                                                                          \
    for (__typeof__((v)->items + 0) item = (v)->items; (size_t) (item - (v)->items) < (v)->n;      \
         item++)

#endif
