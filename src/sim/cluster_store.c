/* SPDX-License-Identifier: Apache-2.0 */
/* The controller's store in memory: a map by id for each kind of record. */
#include <string.h>

#include "sim/cluster_internal.h"

struct stored {
    size_t size, capacity;
    uint8_t data[];
};

static void put(struct map *map, uint64_t id, struct bytes body) {
    struct stored *old = map_get(map, id), *record = old;
    if (old == NULL || old->capacity < body.size) {
        size_t capacity = body.size + body.size / 4; /* records grow a little as a job goes on */
        record = xmalloc(sizeof(*record) + capacity);
        record->capacity = capacity;
        map_put(map, id, record);
        free(old);
    }
    record->size = body.size;
    if (body.size > 0)
        memcpy(record->data, body.data, body.size);
}

void sim_store_apply(struct sim_store *store, const struct effect *effect) {
    if (effect->kind == EFFECT_PUT)
        put(&store->records[effect->store_kind], effect->id, effect->body);
    else if (effect->kind == EFFECT_DELETE)
        free(map_remove(&store->records[effect->store_kind], effect->id));
    else if (effect->kind == EFFECT_HISTORY)
        store->n_history++;
}

bool sim_store_get(const struct sim_store *store, uint32_t kind, uint64_t id, struct bytes *ret) {
    const struct stored *record = map_get(&store->records[kind], id);
    if (record == NULL)
        return false;
    *ret = (struct bytes) {record->data, record->size};
    return true;
}

void sim_store_done(struct sim_store *store) {
    for (size_t kind = 0; kind < countof(store->records); kind++) {
        size_t at = 0;
        uint64_t id;
        struct stored *record;
        while ((record = map_next(&store->records[kind], &at, &id)) != NULL)
            free(record);
        map_done(&store->records[kind]);
    }
}
