/* SPDX-License-Identifier: Apache-2.0 */
#include "random_record.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "model/messages.h"
#include "schema/member.h"

#define ITEMS_MAX 4
#define DEPTH_MAX 5

uint64_t choose(struct chooser *chooser, uint64_t bound) {
    if (chooser->rng != NULL)
        return rng_below(chooser->rng, bound);
    uint64_t value = 0;
    for (uint64_t left = bound - 1; left > 0 && chooser->at < chooser->end; left >>= 8)
        value = value << 8 | *chooser->at++;
    return value % bound;
}

uint64_t choose_number(struct chooser *chooser, unsigned bits) {
    uint64_t largest = bits == 64 ? UINT64_MAX : ((uint64_t) 1 << bits) - 1;
    switch (choose(chooser, 8)) {
    case 0:
        return 0;
    case 1:
        return 1;
    case 2:
        return choose(chooser, 16);
    case 3:
        return choose(chooser, 4096);
    case 4:
        return largest - choose(chooser, 6);
    case 5: {
        uint64_t power = (uint64_t) 1 << choose(chooser, bits);
        return (power + choose(chooser, 3) - 1) & largest;
    }
    default:
        return choose(chooser, UINT64_MAX) & largest;
    }
}

static char *random_text(struct chooser *chooser, struct arena *arena) {
    static const char *const words[] = {
        "",        "a", "main", "n[1-3]", "1-4:2%3", "gpu:a100:2", "\xc3\xa9t\xc3\xa9",
        "a,b;c=d", "%", "0"};
    char text[64];
    size_t length = 0;
    if (choose(chooser, 3) > 0) {
        const char *word = words[choose(chooser, countof(words))];
        return arena_strdup(arena, word);
    }
    for (size_t n = choose(chooser, sizeof(text)); length < n; length++)
        text[length] = (char) (1 + choose(chooser, 255));
    return arena_strndup(arena, text, length);
}

struct filler {
    struct chooser *chooser;
    struct arena *arena;
    unsigned density, depth;
    random_fill fill;
};

static void fill_record(const struct filler *filler, const struct record *record, void *object);

static void fill_lists(const struct filler *filler, const struct field *field, void *object) {
    struct chooser *chooser = filler->chooser;
    uint32_t n = (uint32_t) choose(chooser, ITEMS_MAX);
    if (field->type == FIELD_STRS) {
        struct strs *strs = member_strs(field, object);
        strs->items = arena_alloc(filler->arena, (n + 1) * sizeof(char *));
        for (strs->n = 0; strs->n < n; strs->n++)
            strs->items[strs->n] = random_text(chooser, filler->arena);
    } else if (field->type == FIELD_U32S) {
        struct u32s *list = member_u32s(field, object);
        list->items = arena_alloc(filler->arena, (n + 1) * sizeof(uint32_t));
        for (list->n = 0; list->n < n; list->n++)
            list->items[list->n] = (uint32_t) choose_number(chooser, 32);
    } else {
        struct recs *recs = member_recs(field, object);
        if (filler->depth >= DEPTH_MAX)
            return;
        recs->items = arena_alloc(filler->arena, (n + 1) * field->record->size);
        for (recs->n = 0; recs->n < n; recs->n++)
            fill_record(filler, field->record, recs_item(field, recs, recs->n));
    }
}

static void fill_field(const struct filler *filler, const struct field *field, void *object) {
    struct chooser *chooser = filler->chooser;
    switch ((enum field_type) field->type) {
    case FIELD_BOOL:
        *member_bool(field, object) = choose(chooser, 2);
        break;
    case FIELD_ENUM:
        *member_u32(field, object) =
            (uint32_t) (choose(chooser, 4) > 0 ? choose(chooser, field->names->n + 1)
                                               : choose_number(chooser, 32));
        break;
    case FIELD_U32:
    case FIELD_I32:
    case FIELD_OPT32:
        *member_u32(field, object) = (uint32_t) choose_number(chooser, 32);
        break;
    case FIELD_U64:
    case FIELD_I64:
    case FIELD_OPT64:
        *member_u64(field, object) = choose_number(chooser, 64);
        break;
    case FIELD_F64:
        *(double *) member_at(field, object) = (double) choose_number(chooser, 32) / 8;
        break;
    case FIELD_STR:
        *member_str(field, object) = random_text(chooser, filler->arena);
        break;
    case FIELD_BLOB: {
        size_t size = choose(chooser, 40);
        uint8_t *data = arena_alloc(filler->arena, size);
        for (size_t i = 0; i < size; i++)
            data[i] = (uint8_t) choose(chooser, 256);
        *member_blob(field, object) = (struct blob) {size > 0 ? data : NULL, size};
        break;
    }
    case FIELD_STRS:
    case FIELD_U32S:
    case FIELD_RECS:
        fill_lists(filler, field, object);
        break;
    case FIELD_REC:
        if (filler->depth >= DEPTH_MAX)
            break;
        *member_rec(field, object) = arena_alloc(filler->arena, field->record->size);
        fill_record(filler, field->record, *member_rec(field, object));
        break;
    }
}

static void fill_record(const struct filler *filler, const struct record *record, void *object) {
    struct filler inner = *filler;
    inner.depth++;
    record_init(record, object);
    for (size_t i = 0; i < record->n_fields; i++) {
        const struct field *field = &record->fields[i];
        if (choose(filler->chooser, filler->density) > 0)
            continue;
        if (filler->fill == NULL ||
            !filler->fill(record, field, object, filler->chooser, filler->arena))
            fill_field(&inner, field, object);
    }
}

void random_record(const struct record *record, void *object, struct chooser *chooser,
                   struct arena *arena, unsigned density, random_fill fill) {
    struct filler filler = {chooser, arena, density, 0, fill};
    fill_record(&filler, record, object);
}

static void add_record(const struct record *record, const struct record **ret, size_t *n) {
    for (size_t i = 0; i < *n; i++) {
        if (ret[i] == record)
            return;
    }
    assert(*n < ALL_RECORDS_MAX);
    ret[(*n)++] = record;
    for (size_t i = 0; i < record->n_fields; i++) {
        if (record->fields[i].record != NULL)
            add_record(record->fields[i].record, ret, n);
    }
}

size_t all_records(const struct record *const *more, const struct record *ret[ALL_RECORDS_MAX]) {
    size_t n = 0;
    for (uint32_t type = 0; type <= UINT16_MAX; type++) {
        const struct record *record = message_record((uint16_t) type);
        if (record != NULL)
            add_record(record, ret, &n);
    }
    for (size_t i = 0; more != NULL && more[i] != NULL; i++)
        add_record(more[i], ret, &n);
    return n;
}
