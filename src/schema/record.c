/* SPDX-License-Identifier: Apache-2.0 */
/* Generic operations on records: everything that a struct's table makes possible without one more
 * line per field. */
#include "schema/schema.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "schema/member.h"

const struct field *record_field(const struct record *record, const char *name) {
    for (size_t i = 0; i < record->n_fields; i++) {
        if (strcmp(record->fields[i].name, name) == 0)
            return &record->fields[i];
    }
    return NULL;
}

const struct field *record_field_number(const struct record *record, uint16_t number) {
    size_t low = 0, high = record->n_fields;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (record->fields[mid].number == number)
            return &record->fields[mid];
        if (record->fields[mid].number < number)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

static void field_init(const struct field *field, void *object) {
    if (field->type == FIELD_OPT32)
        *member_u32(field, object) = UNSET32;
    else if (field->type == FIELD_OPT64)
        *member_u64(field, object) = UNSET64;
}

void record_init(const struct record *record, void *object) {
    memset(object, 0, record->size);
    for (size_t i = 0; i < record->n_fields; i++)
        field_init(&record->fields[i], object);
}

static void field_done(const struct field *field, void *object) {
    switch ((enum field_type) field->type) {
    case FIELD_STR:
        free(*member_str(field, object));
        break;
    case FIELD_BLOB:
        free(member_blob(field, object)->data);
        break;
    case FIELD_STRS:
        strs_done(member_strs(field, object));
        break;
    case FIELD_U32S:
        free(member_u32s(field, object)->items);
        break;
    case FIELD_REC:
        record_free(field->record, *member_rec(field, object));
        break;
    case FIELD_RECS: {
        struct recs *recs = member_recs(field, object);
        for (uint32_t i = 0; i < recs->n; i++)
            record_done(field->record, recs_item(field, recs, i));
        free(recs->items);
        break;
    }
    default:
        break;
    }
    memset((char *) object + field->offset, 0, member_size(field));
    field_init(field, object);
}

void record_done(const struct record *record, void *object) {
    for (size_t i = 0; i < record->n_fields; i++)
        field_done(&record->fields[i], object);
}

void record_free(const struct record *record, void *object) {
    if (object == NULL)
        return;
    record_done(record, object);
    free(object);
}

static void field_copy(const struct field *field, void *dst, const void *src_object) {
    void *src = (void *) (uintptr_t) src_object; /* the member accessors are not const */
    switch ((enum field_type) field->type) {
    case FIELD_STR:
        *member_str(field, dst) = xstrdup_null(*member_str(field, src));
        break;
    case FIELD_BLOB: {
        const struct blob *blob = member_blob(field, src);
        if (blob->size > 0)
            *member_blob(field, dst) =
                (struct blob) {(uint8_t *) xmemdup(blob->data, blob->size), blob->size};
        break;
    }
    case FIELD_STRS: {
        const struct strs *from = member_strs(field, src);
        struct strs *to = member_strs(field, dst);
        if (from->n == 0)
            break;
        to->items = xcalloc(from->n, sizeof(char *));
        to->n = from->n;
        for (uint32_t i = 0; i < from->n; i++)
            to->items[i] = xstrdup(from->items[i]);
        break;
    }
    case FIELD_U32S: {
        const struct u32s *from = member_u32s(field, src);
        if (from->n > 0)
            *member_u32s(field, dst) = (struct u32s) {
                (uint32_t *) xmemdup(from->items, from->n * sizeof(uint32_t)), from->n};
        break;
    }
    case FIELD_REC: {
        const void *from = *member_rec(field, src);
        if (from != NULL)
            *member_rec(field, dst) = record_dup(field->record, from);
        break;
    }
    case FIELD_RECS: {
        const struct recs *from = member_recs(field, src);
        struct recs *to = member_recs(field, dst);
        if (from->n == 0)
            break;
        to->items = xcalloc(from->n, field->record->size);
        to->n = from->n;
        for (uint32_t i = 0; i < from->n; i++)
            record_copy(field->record, recs_item(field, to, i), recs_item(field, from, i));
        break;
    }
    default:
        memcpy((char *) dst + field->offset, (char *) src + field->offset, member_size(field));
    }
}

void record_copy(const struct record *record, void *dst, const void *src) {
    record_init(record, dst);
    for (size_t i = 0; i < record->n_fields; i++)
        field_copy(&record->fields[i], dst, src);
}

void *record_dup(const struct record *record, const void *src) {
    void *copy = xcalloc(1, record->size);
    record_copy(record, copy, src);
    return copy;
}

void record_copy_common(const struct record *dst_record, void *dst, const struct record *src_record,
                        const void *src) {
    for (size_t i = 0; i < src_record->n_fields; i++) {
        const struct field *from = &src_record->fields[i];
        const struct field *to = record_field_number(dst_record, from->number);
        if (to == NULL || to->type != from->type || strcmp(to->name, from->name) != 0)
            continue;
        field_done(to, dst);
        /* field_copy uses one offset for both sides: present the source shifted to match. */
        const char *shifted =
            (const char *) src + (ptrdiff_t) from->offset - (ptrdiff_t) to->offset;
        field_copy(to, dst, shifted);
    }
}

static bool field_equal(const struct field *field, const void *a_object, const void *b_object) {
    void *a = (void *) (uintptr_t) a_object, *b = (void *) (uintptr_t) b_object;
    switch ((enum field_type) field->type) {
    case FIELD_STR:
        return str_equal(*member_str(field, a), *member_str(field, b));
    case FIELD_BLOB: {
        const struct blob *x = member_blob(field, a), *y = member_blob(field, b);
        return x->size == y->size && (x->size == 0 || memcmp(x->data, y->data, x->size) == 0);
    }
    case FIELD_STRS: {
        const struct strs *x = member_strs(field, a), *y = member_strs(field, b);
        if (x->n != y->n)
            return false;
        for (uint32_t i = 0; i < x->n; i++) {
            if (!str_equal(x->items[i], y->items[i]))
                return false;
        }
        return true;
    }
    case FIELD_U32S: {
        const struct u32s *x = member_u32s(field, a), *y = member_u32s(field, b);
        return x->n == y->n && (x->n == 0 || memcmp(x->items, y->items, x->n * 4) == 0);
    }
    case FIELD_REC: {
        const void *x = *member_rec(field, a), *y = *member_rec(field, b);
        if (x == NULL || y == NULL)
            return x == y;
        return record_equal(field->record, x, y);
    }
    case FIELD_RECS: {
        const struct recs *x = member_recs(field, a), *y = member_recs(field, b);
        if (x->n != y->n)
            return false;
        for (uint32_t i = 0; i < x->n; i++) {
            if (!record_equal(field->record, recs_item(field, x, i), recs_item(field, y, i)))
                return false;
        }
        return true;
    }
    default:
        return memcmp((char *) a + field->offset, (char *) b + field->offset, member_size(field)) ==
               0;
    }
}

bool record_equal(const struct record *record, const void *a, const void *b) {
    for (size_t i = 0; i < record->n_fields; i++) {
        if (!field_equal(&record->fields[i], a, b))
            return false;
    }
    return true;
}

void string_set(char **member, const char *value) {
    char *copy = xstrdup_null(value);
    free(*member);
    *member = copy;
}

void strs_push(struct strs *list, const char *text) {
    list->items = xreallocarray(list->items, list->n + 1, sizeof(*list->items));
    list->items[list->n++] = xstrdup(text);
}

void strs_drop(struct strs *list, const char *text) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        if (str_equal_nocase(list->items[i], text))
            free(list->items[i]);
        else
            list->items[kept++] = list->items[i];
    }
    list->n = kept;
}

void strs_done(struct strs *list) {
    for (uint32_t i = 0; i < list->n; i++)
        free(list->items[i]);
    free(list->items);
    *list = (struct strs) {NULL, 0};
}

bool strs_has_nocase(const struct strs *list, const char *text) {
    for (uint32_t i = 0; text && i < list->n; i++) {
        if (str_equal_nocase(list->items[i], text))
            return true;
    }
    return false;
}

bool strs_has(const struct strs *list, const char *text) {
    for (uint32_t i = 0; i < list->n; i++) {
        if (str_equal(list->items[i], text))
            return true;
    }
    return false;
}

bool strs_has_word(const struct strs *list, const char *text) {
    if (text && !strchr(text, ','))
        return strs_has(list, text);
    words_each (text, ",", word) {
        if (strs_has(list, word))
            return true;
    }
    return false;
}

bool u32s_has(const struct u32s *list, uint32_t value) {
    for (uint32_t i = 0; i < list->n; i++) {
        if (list->items[i] == value)
            return true;
    }
    return false;
}

void record_field_print(const struct field *field, void *object, struct str *out) {
    switch ((enum field_type) field->type) {
    case FIELD_BOOL:
        str_append(out, *member_bool(field, object) ? "true" : "false");
        break;
    case FIELD_ENUM: {
        const char *text = names_text(field->names, *member_u32(field, object));
        if (text != NULL)
            str_append(out, text);
        else
            str_append_u64(out, *member_u32(field, object));
        break;
    }
    case FIELD_U32:
    case FIELD_OPT32:
        str_append_u64(out, *member_u32(field, object));
        break;
    case FIELD_U64:
    case FIELD_OPT64:
        str_append_u64(out, *member_u64(field, object));
        break;
    case FIELD_I32:
        str_printf(out, "%" PRId32, *(int32_t *) member_at(field, object));
        break;
    case FIELD_I64:
        str_printf(out, "%" PRId64, *(int64_t *) member_at(field, object));
        break;
    case FIELD_F64:
        str_printf(out, "%g", *(double *) member_at(field, object));
        break;
    case FIELD_STR:
        str_printf(out, "\"%s\"", *member_str(field, object));
        break;
    case FIELD_BLOB:
        str_printf(out, "<%zu bytes>", member_blob(field, object)->size);
        break;
    case FIELD_STRS: {
        const struct strs *strs = member_strs(field, object);
        for (uint32_t i = 0; i < strs->n; i++)
            str_printf(out, "%s\"%s\"", i > 0 ? "," : "", strs->items[i]);
        break;
    }
    case FIELD_U32S: {
        const struct u32s *list = member_u32s(field, object);
        for (uint32_t i = 0; i < list->n; i++)
            str_printf(out, "%s%" PRIu32, i > 0 ? "," : "", list->items[i]);
        break;
    }
    case FIELD_REC:
        str_append(out, "{\n");
        record_print(field->record, *member_rec(field, object), out);
        str_append(out, "}");
        break;
    case FIELD_RECS: {
        const struct recs *recs = member_recs(field, object);
        for (uint32_t i = 0; i < recs->n; i++) {
            str_append(out, i > 0 ? ", {\n" : "{\n");
            record_print(field->record, recs_item(field, recs, i), out);
            str_append(out, "}");
        }
        break;
    }
    }
}

void record_print(const struct record *record, const void *object, struct str *out) {
    void *mutable = (void *) (uintptr_t) object;
    for (size_t i = 0; i < record->n_fields; i++) {
        const struct field *field = &record->fields[i];
        if (member_is_default(field, mutable))
            continue;
        str_append(out, field->name);
        str_append(out, ": ");
        record_field_print(field, mutable, out);
        str_append_char(out, '\n');
    }
}
