/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linear probing in a table of 2^k slots, at most 3/4 of them in use or tombs. A slot's value says
 * what it is: NULL = free (ends a probe), TOMB = removed (a probe goes on), else an entry. Removal
 * never moves an entry, which is what makes it safe while iterating.
 */
#include "base/map.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

#include "base/alloc.h"

#define CAPACITY_MIN 16
#define SEED 0x5d1ce0f5eedU

struct map_slot {
    uint64_t key;
    void *value;
};
struct smap_slot {
    uint64_t hash;
    const char *key;
    void *value;
};

static char tomb_;
#define TOMB ((void *) &tomb_)

static bool value_is_live(const void *value) {
    return value && value != TOMB;
}

/* A capacity that leaves n entries at most half of the slots. */
static size_t capacity_for(size_t n) {
    size_t capacity = CAPACITY_MIN;
    while (capacity < 2 * n)
        capacity *= 2;
    return capacity;
}

static bool must_grow(size_t n, size_t n_tombs, size_t capacity) {
    return (n + n_tombs + 1) * 4 > capacity * 3;
}

uint64_t hash_bytes(const void *data, size_t size, uint64_t seed) {
    const unsigned char *at = data;
    uint64_t hash = seed ^ (size * 0x9e3779b97f4a7c15U);
    for (size_t left = size; left > 0;) {
        uint64_t word = 0;
        size_t step = min_of(left, sizeof(word));
        memcpy(&word, at, step);
        unsigned __int128 product =
            (unsigned __int128) (le64toh(word) ^ hash ^ 0xa0761d6478bd642fU) * 0xe7037ed1a0b428dbU;
        hash = (uint64_t) product ^ (uint64_t) (product >> 64);
        at += step;
        left -= step;
    }
    return hash_u64(hash);
}

/* ---- keyed by integers ---- */

void map_done(struct map *map) {
    free(map->slots);
    *map = (struct map) MAP_INIT;
}

void map_clear(struct map *map) {
    if (map->capacity)
        memset(map->slots, 0, map->capacity * sizeof(*map->slots));
    map->n = map->n_tombs = 0;
}

static struct map_slot *map_find(const struct map *map, uint64_t key) {
    if (map->n == 0)
        return NULL;
    size_t mask = map->capacity - 1;
    for (size_t i = hash_u64(key) & mask; map->slots[i].value; i = (i + 1) & mask) {
        if (map->slots[i].key == key && map->slots[i].value != TOMB)
            return &map->slots[i];
    }
    return NULL;
}

/* Puts a key that is known to be absent. */
static void map_insert(struct map *map, uint64_t key, void *value) {
    size_t mask = map->capacity - 1;
    size_t i = hash_u64(key) & mask;
    while (value_is_live(map->slots[i].value))
        i = (i + 1) & mask;
    if (map->slots[i].value == TOMB)
        map->n_tombs--;
    map->slots[i] = (struct map_slot) {key, value};
    map->n++;
}

static void map_rehash(struct map *map) {
    struct map old = *map;
    *map = (struct map) {.capacity = capacity_for(old.n + 1)};
    map->slots = xcalloc(map->capacity, sizeof(*map->slots));
    for (size_t i = 0; i < old.capacity; i++) {
        if (value_is_live(old.slots[i].value))
            map_insert(map, old.slots[i].key, old.slots[i].value);
    }
    free(old.slots);
}

void *map_get(const struct map *map, uint64_t key) {
    struct map_slot *slot = map_find(map, key);
    return slot ? slot->value : NULL;
}

void *map_put(struct map *map, uint64_t key, void *value) {
    assert(value);
    struct map_slot *slot = map_find(map, key);
    if (slot) {
        void *earlier = slot->value;
        slot->value = value;
        return earlier;
    }
    if (must_grow(map->n, map->n_tombs, map->capacity))
        map_rehash(map);
    map_insert(map, key, value);
    return NULL;
}

void *map_remove(struct map *map, uint64_t key) {
    struct map_slot *slot = map_find(map, key);
    if (!slot)
        return NULL;
    void *value = slot->value;
    size_t mask = map->capacity - 1;
    size_t i = (size_t) (slot - map->slots);
    map->n--;
    if (map->slots[(i + 1) & mask].value) {
        slot->value = TOMB;
        map->n_tombs++;
        return value;
    }
    /* The end of a run: nothing is found through this slot, nor through the tombs before it. */
    slot->value = NULL;
    for (i = (i - 1) & mask; map->slots[i].value == TOMB; i = (i - 1) & mask) {
        map->slots[i].value = NULL;
        map->n_tombs--;
    }
    return value;
}

void *map_next(const struct map *map, size_t *at, uint64_t *ret_key) {
    while (*at < map->capacity) {
        const struct map_slot *slot = &map->slots[(*at)++];
        if (value_is_live(slot->value)) {
            if (ret_key)
                *ret_key = slot->key;
            return slot->value;
        }
    }
    return NULL;
}

/* ---- keyed by strings: the same with the hash kept beside the key ---- */

static uint64_t key_hash(const char *key) {
    return hash_bytes(key, strlen(key), SEED);
}

void smap_done(struct smap *map) {
    free(map->slots);
    *map = (struct smap) SMAP_INIT;
}

static struct smap_slot *smap_find(const struct smap *map, const char *key, uint64_t hash) {
    if (map->n == 0)
        return NULL;
    size_t mask = map->capacity - 1;
    for (size_t i = hash & mask; map->slots[i].value; i = (i + 1) & mask) {
        const struct smap_slot *slot = &map->slots[i];
        if (slot->hash == hash && slot->value != TOMB && strcmp(slot->key, key) == 0)
            return &map->slots[i];
    }
    return NULL;
}

static void smap_insert(struct smap *map, const char *key, uint64_t hash, void *value) {
    size_t mask = map->capacity - 1;
    size_t i = hash & mask;
    while (value_is_live(map->slots[i].value))
        i = (i + 1) & mask;
    if (map->slots[i].value == TOMB)
        map->n_tombs--;
    map->slots[i] = (struct smap_slot) {hash, key, value};
    map->n++;
}

static void smap_rehash(struct smap *map) {
    struct smap old = *map;
    *map = (struct smap) {.capacity = capacity_for(old.n + 1)};
    map->slots = xcalloc(map->capacity, sizeof(*map->slots));
    for (size_t i = 0; i < old.capacity; i++) {
        const struct smap_slot *slot = &old.slots[i];
        if (value_is_live(slot->value))
            smap_insert(map, slot->key, slot->hash, slot->value);
    }
    free(old.slots);
}

void *smap_get(const struct smap *map, const char *key) {
    struct smap_slot *slot = smap_find(map, key, key_hash(key));
    return slot ? slot->value : NULL;
}

void *smap_put(struct smap *map, const char *key, void *value) {
    assert(value);
    uint64_t hash = key_hash(key);
    struct smap_slot *slot = smap_find(map, key, hash);
    if (slot) {
        void *earlier = slot->value;
        /* The earlier value may own the earlier key's text. */
        slot->key = key;
        slot->value = value;
        return earlier;
    }
    if (must_grow(map->n, map->n_tombs, map->capacity))
        smap_rehash(map);
    smap_insert(map, key, hash, value);
    return NULL;
}

void *smap_remove(struct smap *map, const char *key) {
    struct smap_slot *slot = smap_find(map, key, key_hash(key));
    if (!slot)
        return NULL;
    void *value = slot->value;
    size_t mask = map->capacity - 1;
    size_t i = (size_t) (slot - map->slots);
    map->n--;
    if (map->slots[(i + 1) & mask].value) {
        slot->value = TOMB;
        map->n_tombs++;
        return value;
    }
    slot->value = NULL;
    for (i = (i - 1) & mask; map->slots[i].value == TOMB; i = (i - 1) & mask) {
        map->slots[i].value = NULL;
        map->n_tombs--;
    }
    return value;
}

void *smap_next(const struct smap *map, size_t *at, const char **ret_key) {
    while (*at < map->capacity) {
        const struct smap_slot *slot = &map->slots[(*at)++];
        if (value_is_live(slot->value)) {
            if (ret_key)
                *ret_key = slot->key;
            return slot->value;
        }
    }
    return NULL;
}
