/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocation that aborts when memory runs out (what a peer can make us allocate is bounded before
 * it gets here), and cleanup attributes so that scope frees locals.
 */
#ifndef SLUICE_BASE_ALLOC_H
#define SLUICE_BASE_ALLOC_H

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/error.h"

void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
/* Grows or shrinks; aborts on count * size overflow. xreallocarray(p, 0, n) keeps one byte. */
void *xreallocarray(void *ptr, size_t count, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *text) __attribute__((malloc, returns_nonnull, nonnull));
char *xstrndup(const char *text, size_t max) __attribute__((malloc, returns_nonnull, nonnull));
void *xmemdup(const void *data, size_t size) __attribute__((malloc, returns_nonnull));
char *xasprintf(const char *fmt, ...) printf_like(1, 2);
char *xvasprintf(const char *fmt, va_list args) printf_like(1, 0);
/* NULL stays NULL. */
char *xstrdup_null(const char *text);

#define zalloc(type) ((type *) xcalloc(1, sizeof(type)))

static inline void free_cleanup(void *pointer_to_pointer) {
    free(*(void **) pointer_to_pointer);
}
/* `cleanup_free char *text = …;` frees at the end of scope; take() hands ownership out. */
#define cleanup_free __attribute__((__cleanup__(free_cleanup)))
#define cleanup(fn) __attribute__((__cleanup__(fn)))
#define take(pointer)                                                                              \
    ({                                                                                             \
        __typeof__(pointer) take_result_ = (pointer);                                              \
        (pointer) = NULL;                                                                          \
        take_result_;                                                                              \
    })
void fd_cleanup(int *fd);
/* `cleanup_fd int fd = open(…);` closes unless -1. take_fd() hands the descriptor out. */
#define cleanup_fd __attribute__((__cleanup__(fd_cleanup)))
static inline int take_fd(int *fd) {
    int result = *fd;
    *fd = -1;
    return result;
}

#define countof(array) (sizeof(array) / sizeof((array)[0]))
/* clang-format off */
#define container_of(pointer, type, member)                                                        \
    ((type *) ((char *) (pointer) - offsetof(type, member)))
/* clang-format on */
/* Each argument is evaluated once; the numbered names let the two nest without -Wshadow. */
#define min_of(a, b) pick_of(<, a, b, __COUNTER__)
#define max_of(a, b) pick_of(>, a, b, __COUNTER__)
#define pick_of(op, a, b, id) pick_of_named(op, a, b, id)
#define pick_of_named(op, a, b, id)                                                                \
    ({                                                                                             \
        __typeof__(a) a_##id = (a);                                                                \
        __typeof__(b) b_##id = (b);                                                                \
        a_##id op b_##id ? a_##id : b_##id;                                                        \
    })

#endif
