/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pool per request: everything decoded from a message is freed at once. An arena may carry a
 * limit, so that a hostile message cannot make us allocate without end; past it the arena_…
 * functions return NULL, and only then.
 */
#ifndef SLUICE_BASE_ARENA_H
#define SLUICE_BASE_ARENA_H

#include <stddef.h>

struct arena_chunk;
struct arena {
    struct arena_chunk *chunks;
    char *next, *end;
    size_t used, limit; /* bytes handed out; 0 = no limit */
};

void arena_init(struct arena *arena, size_t limit);
void arena_done(struct arena *arena);  /* frees all; the arena may be used again after arena_init */
void arena_reset(struct arena *arena); /* forgets all, keeps one chunk for reuse */
/* 16-byte aligned, zeroed. */
void *arena_alloc(struct arena *arena, size_t size);
char *arena_strndup(struct arena *arena, const char *text, size_t length);
char *arena_strdup(struct arena *arena, const char *text);

#endif
