/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocation that cannot fail. Out of memory ends the process with one line on stderr: the state
 * is durable elsewhere, and code that runs on after a failed malloc() is never tested.
 */
#include "base/alloc.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void __attribute__((noreturn)) alloc_fail(void) {
    static const char message[] = "out of memory\n";
    ssize_t ignored = write(STDERR_FILENO, message, sizeof(message) - 1);
    (void) ignored;
    abort();
}

void *xmalloc(size_t size) {
    void *memory = malloc(size ? size : 1);
    if (!memory)
        alloc_fail();
    return memory;
}

void *xcalloc(size_t count, size_t size) {
    bool empty = count == 0 || size == 0;
    void *memory = empty ? calloc(1, 1) : calloc(count, size);
    if (!memory)
        alloc_fail();
    return memory;
}

void *xreallocarray(void *ptr, size_t count, size_t size) {
    size_t total;
    if (__builtin_mul_overflow(count, size, &total))
        alloc_fail();
    void *memory = realloc(ptr, total ? total : 1);
    if (!memory)
        alloc_fail();
    return memory;
}

char *xstrdup(const char *text) {
    return xmemdup(text, strlen(text) + 1);
}

char *xstrndup(const char *text, size_t max) {
    size_t length = strnlen(text, max);
    char *copy = xmalloc(length + 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

void *xmemdup(const void *data, size_t size) {
    void *copy = xmalloc(size);
    if (size)
        memcpy(copy, data, size);
    return copy;
}

char *xvasprintf(const char *fmt, va_list args) {
    char *text;
    /* Fails for want of memory or past INT_MAX bytes, which callers' bounds exclude. */
    if (vasprintf(&text, fmt, args) < 0)
        alloc_fail();
    return text;
}

char *xasprintf(const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    char *text = xvasprintf(fmt, args);
    va_end(args);
    return text;
}

char *xstrdup_null(const char *text) {
    return text ? xstrdup(text) : NULL;
}

void fd_cleanup(int *fd) {
    if (*fd < 0)
        return;
    /* Runs between `return -errno`-like expressions and the caller that reads errno. */
    int saved = errno;
    close(*fd);
    errno = saved;
    *fd = -1;
}
