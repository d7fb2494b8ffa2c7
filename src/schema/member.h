/* SPDX-License-Identifier: Apache-2.0 */
/* Typed access to a record's member by its row. Private to src/schema and to code that, like it,
 * walks tables (updates, JSON). */
#ifndef SLUICE_SCHEMA_MEMBER_H
#define SLUICE_SCHEMA_MEMBER_H

#include "schema/schema.h"

struct recs {
    void *items;
    uint32_t n;
};

static inline void *member_at(const struct field *field, void *object) {
    return (char *) object + field->offset;
}
static inline bool *member_bool(const struct field *field, void *object) {
    return member_at(field, object);
}
static inline uint32_t *member_u32(const struct field *field, void *object) {
    return member_at(field, object);
}
static inline uint64_t *member_u64(const struct field *field, void *object) {
    return member_at(field, object);
}
static inline char **member_str(const struct field *field, void *object) {
    return member_at(field, object);
}
static inline struct blob *member_blob(const struct field *field, void *object) {
    return member_at(field, object);
}
static inline struct strs *member_strs(const struct field *field, void *object) {
    return member_at(field, object);
}
static inline struct u32s *member_u32s(const struct field *field, void *object) {
    return member_at(field, object);
}
static inline void **member_rec(const struct field *field, void *object) {
    return member_at(field, object);
}
static inline struct recs *member_recs(const struct field *field, void *object) {
    return member_at(field, object);
}
static inline void *recs_item(const struct field *field, const struct recs *recs, uint32_t i) {
    return (char *) recs->items + (size_t) i * field->record->size;
}

static inline size_t member_size(const struct field *field) {
    switch ((enum field_type) field->type) {
    case FIELD_BOOL:
        return sizeof(bool);
    case FIELD_U32:
    case FIELD_I32:
    case FIELD_OPT32:
    case FIELD_ENUM:
        return sizeof(uint32_t);
    case FIELD_U64:
    case FIELD_I64:
    case FIELD_OPT64:
        return sizeof(uint64_t);
    case FIELD_F64:
        return sizeof(double);
    case FIELD_STR:
    case FIELD_REC:
        return sizeof(void *);
    case FIELD_BLOB:
        return sizeof(struct blob);
    case FIELD_STRS:
        return sizeof(struct strs);
    case FIELD_U32S:
        return sizeof(struct u32s);
    case FIELD_RECS:
        return sizeof(struct recs);
    }
    return 0;
}

static inline bool member_is_default(const struct field *field, void *object) {
    switch ((enum field_type) field->type) {
    case FIELD_BOOL:
        return !*member_bool(field, object);
    case FIELD_U32:
    case FIELD_I32:
    case FIELD_ENUM:
        return *member_u32(field, object) == 0;
    case FIELD_OPT32:
        return *member_u32(field, object) == UNSET32;
    case FIELD_U64:
    case FIELD_I64:
        return *member_u64(field, object) == 0;
    case FIELD_OPT64:
        return *member_u64(field, object) == UNSET64;
    case FIELD_F64: /* by its bits: -0.0 is a value */
        return *member_u64(field, object) == 0;
    case FIELD_STR:
        return *member_str(field, object) == NULL;
    case FIELD_BLOB:
        return member_blob(field, object)->size == 0;
    case FIELD_STRS:
        return member_strs(field, object)->n == 0;
    case FIELD_U32S:
        return member_u32s(field, object)->n == 0;
    case FIELD_REC:
        return *member_rec(field, object) == NULL;
    case FIELD_RECS:
        return member_recs(field, object)->n == 0;
    }
    return true;
}

#endif
