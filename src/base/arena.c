/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chunks in a list; the first one is being filled. Chunks double up to CHUNK_MAX. What does not fit
 * into a usual chunk gets one of its own, put behind the first so that the first stays in use.
 */
#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"

#define CHUNK_MIN ((size_t) 4 << 10)
#define CHUNK_MAX ((size_t) 256 << 10)
#define ALIGNMENT 16

struct arena_chunk {
    struct arena_chunk *older;
    size_t size; /* of data */
    _Alignas(ALIGNMENT) char data[];
};

void arena_init(struct arena *arena, size_t limit) {
    *arena = (struct arena) {.limit = limit};
}

static void chunks_free(struct arena_chunk *chunk) {
    while (chunk) {
        struct arena_chunk *older = chunk->older;
        free(chunk);
        chunk = older;
    }
}

static void arena_fill(struct arena *arena, struct arena_chunk *chunk) {
    arena->chunks = chunk;
    arena->next = chunk->data;
    arena->end = chunk->data + chunk->size;
}

void arena_done(struct arena *arena) {
    chunks_free(arena->chunks);
    *arena = (struct arena) {.limit = arena->limit};
}

void arena_reset(struct arena *arena) {
    struct arena_chunk *kept = arena->chunks;
    arena->used = 0;
    if (!kept)
        return;
    chunks_free(kept->older);
    kept->older = NULL;
    if (kept->size > CHUNK_MAX) {
        /* One huge request must not hold its memory for the arena's whole life. */
        arena_done(arena);
        return;
    }
    arena_fill(arena, kept);
}

static struct arena_chunk *chunk_new(size_t size) {
    struct arena_chunk *chunk = xmalloc(sizeof(*chunk) + size);
    chunk->older = NULL;
    chunk->size = size;
    return chunk;
}

/* Memory for `size` bytes when the current chunk has no room for them. */
static char *arena_grow(struct arena *arena, size_t size) {
    size_t usual = CHUNK_MIN;
    if (arena->chunks)
        usual = min_of(CHUNK_MAX, max_of(CHUNK_MIN, 2 * arena->chunks->size));
    if (size > usual / 2 && arena->chunks) {
        struct arena_chunk *own = chunk_new(size);
        own->older = arena->chunks->older;
        arena->chunks->older = own;
        return own->data;
    }
    struct arena_chunk *chunk = chunk_new(max_of(usual, size));
    chunk->older = arena->chunks;
    arena_fill(arena, chunk);
    arena->next += size;
    return chunk->data;
}

static char *arena_take(struct arena *arena, size_t size, size_t alignment) {
    if (size > SIZE_MAX / 2)
        return NULL;
    size_t pad = -(uintptr_t) arena->next & (alignment - 1);
    size_t room = (size_t) (arena->end - arena->next);
    bool fits = arena->next && size + pad <= room;
    size_t charge = fits ? size + pad : size;
    if (arena->limit && charge > arena->limit - min_of(arena->limit, arena->used))
        return NULL;
    arena->used += charge;
    if (!fits)
        return arena_grow(arena, size);
    char *memory = arena->next + pad;
    arena->next = memory + size;
    return memory;
}

void *arena_alloc(struct arena *arena, size_t size) {
    char *memory = arena_take(arena, size ? size : 1, ALIGNMENT);
    if (memory)
        memset(memory, 0, size);
    return memory;
}

char *arena_strndup(struct arena *arena, const char *text, size_t length) {
    if (length == SIZE_MAX)
        return NULL;
    char *copy = arena_take(arena, length + 1, 1);
    if (!copy)
        return NULL;
    if (length)
        memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text) {
    return arena_strndup(arena, text, strlen(text));
}
