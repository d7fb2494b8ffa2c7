/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protobuf's encoding, driven by record tables: a key varint (number << 3 | wire type), then a
 * varint, eight bytes, or a length and that many bytes. Signed numbers are zigzag varints. A
 * sub-record is encoded behind a length that is patched in afterwards, so nothing is measured
 * twice.
 */
#include "schema/schema.h"

#include <string.h>

#include "base/alloc.h"
#include "schema/member.h"

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

#define VARINT_MAX 10
#define DEPTH_MAX 16

static size_t varint_put(uint8_t *at, uint64_t value) {
    size_t n = 0;
    while (value >= 0x80) {
        at[n++] = (uint8_t) value | 0x80;
        value >>= 7;
    }
    at[n++] = (uint8_t) value;
    return n;
}

static void put_varint(struct str *out, uint64_t value) {
    str_reserve(out, VARINT_MAX);
    out->length += varint_put((uint8_t *) out->data + out->length, value);
}

static void put_key(struct str *out, const struct field *field, enum wire_type type) {
    put_varint(out, (uint64_t) field->number << 3 | type);
}

void wire_append_element(struct str *out, uint16_t number, struct bytes element) {
    put_varint(out, (uint64_t) number << 3 | WIRE_BYTES);
    put_varint(out, element.size);
    str_append_bytes(out, element.data, element.size);
}

static void put_bytes(struct str *out, const struct field *field, const void *data, size_t size) {
    wire_append_element(out, field->number, (struct bytes) {data, size});
}

static uint64_t zigzag(int64_t value) {
    return ((uint64_t) value << 1) ^ (uint64_t) (value >> 63);
}

static int64_t unzigzag(uint64_t value) {
    return (int64_t) (value >> 1) ^ -(int64_t) (value & 1);
}

static void encode_record(const struct record *record, const void *object,
                          const struct field_mask *mask, struct str *out);

static void put_record(struct str *out, const struct field *field, const void *object) {
    put_key(out, field, WIRE_BYTES);
    /* Most records fit a one-byte length; a longer one moves its bytes up once. */
    str_reserve(out, 1);
    size_t length_at = out->length++;
    encode_record(field->record, object, NULL, out);
    size_t size = out->length - length_at - 1;
    uint8_t length[VARINT_MAX];
    size_t n = varint_put(length, size);
    if (n > 1) {
        str_reserve(out, n);
        memmove(out->data + length_at + n, out->data + length_at + 1, size);
        out->length += n - 1;
    }
    memcpy(out->data + length_at, length, n);
}

static void encode_field(const struct field *field, void *object, struct str *out) {
    switch ((enum field_type) field->type) {
    case FIELD_BOOL:
        put_key(out, field, WIRE_VARINT);
        put_varint(out, 1);
        break;
    case FIELD_U32:
    case FIELD_OPT32:
    case FIELD_ENUM:
        put_key(out, field, WIRE_VARINT);
        put_varint(out, *member_u32(field, object));
        break;
    case FIELD_I32:
        put_key(out, field, WIRE_VARINT);
        put_varint(out, zigzag(*(int32_t *) member_at(field, object)));
        break;
    case FIELD_U64:
    case FIELD_OPT64:
        put_key(out, field, WIRE_VARINT);
        put_varint(out, *member_u64(field, object));
        break;
    case FIELD_I64:
        put_key(out, field, WIRE_VARINT);
        put_varint(out, zigzag(*(int64_t *) member_at(field, object)));
        break;
    case FIELD_F64:
        put_key(out, field, WIRE_FIXED64);
        str_append_bytes(out, member_at(field, object), 8);
        break;
    case FIELD_STR: {
        const char *text = *member_str(field, object);
        put_bytes(out, field, text, strlen(text));
        break;
    }
    case FIELD_BLOB: {
        const struct blob *blob = member_blob(field, object);
        put_bytes(out, field, blob->data, blob->size);
        break;
    }
    case FIELD_STRS: {
        const struct strs *strs = member_strs(field, object);
        for (uint32_t i = 0; i < strs->n; i++)
            put_bytes(out, field, strs->items[i], strlen(strs->items[i]));
        break;
    }
    case FIELD_U32S: {
        const struct u32s *list = member_u32s(field, object);
        struct str packed cleanup_str = STR_INIT;
        for (uint32_t i = 0; i < list->n; i++)
            put_varint(&packed, list->items[i]);
        put_bytes(out, field, packed.data, packed.length);
        break;
    }
    case FIELD_REC:
        put_record(out, field, *member_rec(field, object));
        break;
    case FIELD_RECS: {
        const struct recs *recs = member_recs(field, object);
        for (uint32_t i = 0; i < recs->n; i++)
            put_record(out, field, recs_item(field, recs, i));
        break;
    }
    }
}

static void encode_record(const struct record *record, const void *object,
                          const struct field_mask *mask, struct str *out) {
    void *mutable = (void *) (uintptr_t) object;
    for (size_t i = 0; i < record->n_fields; i++) {
        const struct field *field = &record->fields[i];
        if (mask != NULL && !field_mask_has(mask, field->number))
            continue;
        if (!member_is_default(field, mutable))
            encode_field(field, mutable, out);
    }
}

void wire_encode(const struct record *record, const void *object, const struct field_mask *mask,
                 struct str *out) {
    encode_record(record, object, mask, out);
    str_reserve(out, 1);
    out->data[out->length] = '\0';
}

/* ---- decoding ---- */

struct reader {
    const uint8_t *at, *end;
    struct arena *arena;
    struct error *err;
    unsigned depth;
    /* Of the list of records that is being read: places left. */
    const struct field *room_of;
    uint32_t room;
};

static bool get_varint(struct reader *reader, uint64_t *ret) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (reader->at == reader->end)
            return false;
        uint8_t byte = *reader->at++;
        value |= (uint64_t) (byte & 0x7f) << shift;
        if (byte < 0x80) {
            *ret = value;
            return true;
        }
    }
    return false;
}

static bool get_span(struct reader *reader, struct bytes *ret) {
    uint64_t size;
    if (!get_varint(reader, &size) || size > (uint64_t) (reader->end - reader->at))
        return false;
    *ret = (struct bytes) {reader->at, (size_t) size};
    reader->at += size;
    return true;
}

static int malformed(struct reader *reader, const struct record *record, const char *what) {
    return error_set(reader->err, ERR_PROTOCOL, "malformed %s record: %s", record->name, what);
}

/* How many values of the same key follow each other, the one that has just been read included: a
 * list of records is made of its size at once. Says 1 where the bytes are odd; decoding will tell.
 */
static uint32_t run_length(const struct reader *reader, uint64_t key) {
    struct reader ahead = *reader;
    struct bytes span;
    uint64_t next;
    uint32_t n = 1;
    while (ahead.at < ahead.end && get_varint(&ahead, &next) && next == key &&
           get_span(&ahead, &span))
        n++;
    return n;
}

/* Other repeated members grow by doubling inside the arena; the capacity is implied by n (powers of
 * two). */
static void *grown(struct arena *arena, void *items, uint32_t n, size_t size) {
    if (n > 0 && (n & (n - 1)) != 0)
        return items;
    void *larger = arena_alloc(arena, (n == 0 ? 1 : (size_t) n * 2) * size);
    if (larger != NULL && n > 0)
        memcpy(larger, items, n * size);
    return larger;
}

static int decode_record(struct reader *reader, const struct record *record, void *object);

static int decode_sub(struct reader *reader, const struct field *field, struct bytes span,
                      void *object) {
    if (reader->depth >= DEPTH_MAX)
        return malformed(reader, field->record, "nested too deeply");
    struct reader inner = {
        span.data, span.data + span.size, reader->arena, reader->err, reader->depth + 1, NULL, 0};
    record_init(field->record, object);
    return decode_record(&inner, field->record, object);
}

static int out_of_room(struct reader *reader, const struct record *record) {
    return error_set(reader->err, ERR_LIMIT, "%s record exceeds the size that is accepted",
                     record->name);
}

static char *get_string(struct reader *reader, struct bytes span) {
    return arena_strndup(reader->arena, (const char *) span.data, span.size);
}

/* Room for the records that follow each other here, behind those that came before. */
static int make_room(struct reader *reader, const struct record *record, const struct field *field,
                     struct recs *recs) {
    uint32_t n = run_length(reader, (uint64_t) field->number << 3 | WIRE_BYTES);
    n = max_of(n, recs->n); /* lists that are torn apart cost no more than their size either */
    size_t size = field->record->size;
    void *items = arena_alloc(reader->arena, ((size_t) recs->n + n) * size);
    if (items == NULL)
        return out_of_room(reader, record);
    if (recs->n > 0)
        memcpy(items, recs->items, recs->n * size);
    recs->items = items;
    reader->room = n;
    reader->room_of = field;
    return 0;
}

static int decode_bytes(struct reader *reader, const struct record *record,
                        const struct field *field, struct bytes span, void *object) {
    switch ((enum field_type) field->type) {
    case FIELD_STR:
    case FIELD_STRS: {
        if (memchr(span.data, 0, span.size) != NULL)
            return malformed(reader, record, "NUL inside a string");
        char *text = get_string(reader, span);
        if (text == NULL)
            return out_of_room(reader, record);
        if (field->type == FIELD_STR) {
            *member_str(field, object) = text;
            return 0;
        }
        struct strs *strs = member_strs(field, object);
        char **items = grown(reader->arena, strs->items, strs->n, sizeof(char *));
        if (items == NULL)
            return out_of_room(reader, record);
        strs->items = items;
        strs->items[strs->n++] = text;
        return 0;
    }
    case FIELD_BLOB: {
        char *data = get_string(reader, span);
        if (data == NULL)
            return out_of_room(reader, record);
        *member_blob(field, object) = (struct blob) {(uint8_t *) data, span.size};
        return 0;
    }
    case FIELD_U32S: {
        struct reader inner = {
            span.data, span.data + span.size, reader->arena, reader->err, 0, NULL, 0};
        struct u32s *list = member_u32s(field, object);
        while (inner.at < inner.end) {
            uint64_t value;
            if (!get_varint(&inner, &value) || value > UINT32_MAX)
                return malformed(reader, record, field->name);
            uint32_t *items = grown(reader->arena, list->items, list->n, sizeof(uint32_t));
            if (items == NULL)
                return out_of_room(reader, record);
            list->items = items;
            list->items[list->n++] = (uint32_t) value;
        }
        return 0;
    }
    case FIELD_REC: {
        void *sub = arena_alloc(reader->arena, field->record->size);
        if (sub == NULL)
            return out_of_room(reader, record);
        *member_rec(field, object) = sub;
        return decode_sub(reader, field, span, sub);
    }
    case FIELD_RECS: {
        struct recs *recs = member_recs(field, object);
        if (reader->room == 0 || reader->room_of != field) {
            int r = make_room(reader, record, field, recs);
            if (r < 0)
                return r;
        }
        reader->room--;
        recs->n++;
        return decode_sub(reader, field, span, recs_item(field, recs, recs->n - 1));
    }
    default:
        return malformed(reader, record, field->name);
    }
}

static int decode_varint(struct reader *reader, const struct record *record,
                         const struct field *field, uint64_t value, void *object) {
    switch ((enum field_type) field->type) {
    case FIELD_BOOL:
        *member_bool(field, object) = value != 0;
        return 0;
    case FIELD_U32:
    case FIELD_OPT32:
    case FIELD_ENUM:
        if (value > UINT32_MAX)
            break;
        *member_u32(field, object) = (uint32_t) value;
        return 0;
    case FIELD_I32: {
        int64_t number = unzigzag(value);
        if (number < INT32_MIN || number > INT32_MAX)
            break;
        *(int32_t *) member_at(field, object) = (int32_t) number;
        return 0;
    }
    case FIELD_U64:
    case FIELD_OPT64:
        *member_u64(field, object) = value;
        return 0;
    case FIELD_I64:
        *(int64_t *) member_at(field, object) = unzigzag(value);
        return 0;
    default:
        break;
    }
    return malformed(reader, record, field->name);
}

static int decode_field(struct reader *reader, const struct record *record,
                        const struct field *field, uint64_t type, void *object) {
    uint64_t value;
    struct bytes span;
    switch (type) {
    case WIRE_VARINT:
        if (!get_varint(reader, &value))
            return malformed(reader, record, "truncated number");
        return field == NULL ? 0 : decode_varint(reader, record, field, value, object);
    case WIRE_BYTES:
        if (!get_span(reader, &span))
            return malformed(reader, record, "truncated bytes");
        return field == NULL ? 0 : decode_bytes(reader, record, field, span, object);
    case WIRE_FIXED64:
    case WIRE_FIXED32: {
        size_t size = type == WIRE_FIXED64 ? 8 : 4;
        if ((size_t) (reader->end - reader->at) < size)
            return malformed(reader, record, "truncated fixed number");
        if (field != NULL && (field->type != FIELD_F64 || size != 8))
            return malformed(reader, record, field->name);
        if (field != NULL)
            memcpy(member_at(field, object), reader->at, 8);
        reader->at += size;
        return 0;
    }
    default:
        return malformed(reader, record, "unknown wire type");
    }
}

static int decode_record(struct reader *reader, const struct record *record, void *object) {
    size_t next = 0; /* fields usually arrive in the table's order */
    while (reader->at < reader->end) {
        uint64_t key;
        if (!get_varint(reader, &key) || key >> 3 == 0 || key >> 3 > UINT16_MAX)
            return malformed(reader, record, "bad key");
        uint16_t number = (uint16_t) (key >> 3);
        while (next < record->n_fields && record->fields[next].number < number)
            next++;
        const struct field *field = next < record->n_fields && record->fields[next].number == number
                                        ? &record->fields[next]
                                        : record_field_number(record, number);
        int r = decode_field(reader, record, field, key & 7, object);
        if (r < 0)
            return r;
    }
    return 0;
}

int wire_decode(const struct record *record, struct bytes input, struct arena *arena, void *object,
                struct error *err) {
    /* No bytes may come without an address, and NULL + 0 is undefined. */
    const uint8_t *data = input.size > 0 ? input.data : (const uint8_t *) "";
    struct reader reader = {data, data + input.size, arena, err, 0, NULL, 0};
    record_init(record, object);
    return decode_record(&reader, record, object);
}
