/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash maps from 64-bit integers or from strings to pointers; open addressing, keyed with a fixed
 * seed so that the order of iteration repeats (a simulation must). String keys are not copied: the
 * value usually holds them, and they must outlive the entry. A NULL value means "absent".
 */
#ifndef SLUICE_BASE_MAP_H
#define SLUICE_BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct map_slot;
struct map {
    struct map_slot *slots;
    size_t n, capacity, n_tombs;
};
#define MAP_INIT                                                                                   \
    { NULL, 0, 0, 0 }

void map_done(struct map *map);
void map_clear(struct map *map);
void *map_get(const struct map *map, uint64_t key);
/* Sets or replaces; returns the earlier value or NULL. value must not be NULL. */
void *map_put(struct map *map, uint64_t key, void *value);
void *map_remove(struct map *map, uint64_t key);
/* Iterates: `size_t at = 0; uint64_t key; void *v; while ((v = map_next(&m, &at, &key)))`. Removing
 * the current entry while iterating is allowed, adding is not. */
void *map_next(const struct map *map, size_t *at, uint64_t *ret_key);

struct smap_slot;
struct smap {
    struct smap_slot *slots;
    size_t n, capacity, n_tombs;
};
#define SMAP_INIT                                                                                  \
    { NULL, 0, 0, 0 }
void smap_done(struct smap *map);
void *smap_get(const struct smap *map, const char *key);
void *smap_put(struct smap *map, const char *key, void *value);
void *smap_remove(struct smap *map, const char *key);
void *smap_next(const struct smap *map, size_t *at, const char **ret_key);

uint64_t hash_bytes(const void *data, size_t size, uint64_t seed);
static inline uint64_t hash_u64(uint64_t x) {
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93U;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93U;
    return x ^ (x >> 32);
}

#endif
