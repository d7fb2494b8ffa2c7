/* SPDX-License-Identifier: Apache-2.0 */
/* The controller's store in memory: a map by id for each kind of record. */
#include <string.h>

#include "sim/cluster_internal.h"

struct sim_stored {
    size_t size, capacity;
    uint8_t data[];
};

static void put(struct map *map, uint64_t id, struct bytes body, bool keep_old) {
    struct sim_stored *old = map_get(map, id), *record = old;
    if (old == NULL || old->capacity < body.size || keep_old) {
        size_t capacity = body.size + body.size / 4; /* records grow a little as a job goes on */
        record = xmalloc(sizeof(*record) + capacity);
        record->capacity = capacity;
        map_put(map, id, record);
        if (!keep_old)
            free(old);
    }
    record->size = body.size;
    if (body.size > 0)
        memcpy(record->data, body.data, body.size);
}

static void note_old(const struct sim_store *store, const struct effect *effect,
                     struct sim_undo *undo) {
    struct sim_undo_row row = {effect->store_kind, effect->id,
                               map_get(&store->records[effect->store_kind], effect->id)};
    vec_push(&undo->rows, row);
}

void sim_store_apply(struct sim_store *store, const struct effect *effect, struct sim_undo *undo) {
    if (effect->kind == EFFECT_HISTORY) {
        store->n_history++;
        if (undo != NULL)
            undo->n_history++;
        return;
    }
    if (effect->kind != EFFECT_PUT && effect->kind != EFFECT_DELETE)
        return;
    if (undo != NULL)
        note_old(store, effect, undo);
    if (effect->kind == EFFECT_PUT) {
        put(&store->records[effect->store_kind], effect->id, effect->body, undo != NULL);
        return;
    }
    struct sim_stored *old = map_remove(&store->records[effect->store_kind], effect->id);
    if (undo == NULL)
        free(old);
}

void sim_store_undo(struct sim_store *store, struct sim_undo *undo) {
    store->n_history -= undo->n_history;
    for (size_t i = undo->rows.n; i-- > 0;) {
        struct sim_undo_row *row = &undo->rows.items[i];
        struct map *map = &store->records[row->kind];
        free(row->old != NULL ? map_put(map, row->id, row->old) : map_remove(map, row->id));
        row->old = NULL;
    }
    sim_undo_done(undo);
}

void sim_undo_done(struct sim_undo *undo) {
    vec_each (&undo->rows, row)
        free(row->old);
    vec_done(&undo->rows);
}

bool sim_store_get(const struct sim_store *store, uint32_t kind, uint64_t id, struct bytes *ret) {
    const struct sim_stored *record = map_get(&store->records[kind], id);
    if (record == NULL)
        return false;
    *ret = (struct bytes) {record->data, record->size};
    return true;
}

void sim_store_each(const struct sim_store *store, uint32_t kind,
                    void (*fn)(void *context, uint64_t id, struct bytes body), void *context) {
    size_t at = 0;
    uint64_t id;
    const struct sim_stored *record;
    while ((record = map_next(&store->records[kind], &at, &id)) != NULL)
        fn(context, id, (struct bytes) {record->data, record->size});
}

void sim_store_done(struct sim_store *store) {
    for (size_t kind = 0; kind < countof(store->records); kind++) {
        size_t at = 0;
        uint64_t id;
        struct sim_stored *record;
        while ((record = map_next(&store->records[kind], &at, &id)) != NULL)
            free(record);
        map_done(&store->records[kind]);
    }
}
