/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Record tables: one row per field. A record is an X-macro list; the struct, its wire encoding,
 * copying, freeing and comparison all come from that list, and columns, JSON and updates refer to
 * its fields by name.
 *
 *     #define POINT_FIELDS(X) \
 *         X(1, U32, x, 0)     \
 *         X(2, STR, label, 0)
 *     RECORD_DECLARE(point, POINT_FIELDS)   in the header: struct point, record_point
 *     RECORD_DEFINE(point, POINT_FIELDS)    in one source file
 *
 * Row: X(number, TYPE, member, argument). Numbers are wire format: never reused, guarded by
 * tests/golden/schema.lock. Types:
 *     BOOL U32 I32 U64 I64 F64   numbers, default 0
 *     OPT32 OPT64                uint32_t/uint64_t whose default is UNSET32/UNSET64 ("not given")
 *     ENUM                       uint32_t, argument: struct names table
 *     STR                        char *, default NULL ("" and NULL differ)
 *     BLOB                       struct blob {uint8_t *data; size_t size;}
 *     STRS                       struct strs {char **items; uint32_t n;}
 *     U32S                       struct u32s {uint32_t *items; uint32_t n;}
 *     REC                        struct ARG *, default NULL
 *     RECS                       struct {struct ARG *items; uint32_t n;}
 *
 * Ownership: a record made by record_dup/record_copy owns its members by malloc and is released by
 * record_done; one filled by wire_decode lives in the arena and must not be given to record_done.
 */
#ifndef SLUICE_SCHEMA_SCHEMA_H
#define SLUICE_SCHEMA_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

#define UNSET32 UINT32_MAX
#define UNSET64 UINT64_MAX

struct blob {
    uint8_t *data;
    size_t size;
};
struct strs {
    char **items;
    uint32_t n;
};
struct u32s {
    uint32_t *items;
    uint32_t n;
};

/* A set of names for numbers. Rows stand in display order. */
struct name_row {
    uint32_t value;
    const char *name;    /* "PENDING" */
    const char *compact; /* "PD", or NULL */
};
struct names {
    const struct name_row *rows;
    size_t n;
};
/* NULL when the value has no name. */
const char *names_text(const struct names *names, uint32_t value);
const char *names_compact(const struct names *names, uint32_t value);
/* Case-insensitive over name and compact; false when unknown. */
bool names_value(const struct names *names, const char *text, uint32_t *ret_value);
/* "A,B,C" of all names, for error messages. */
void names_list(const struct names *names, const char *separator, struct str *out);
#define NAMES_DECLARE(id) extern const struct names names_##id

enum field_type {
    FIELD_BOOL,
    FIELD_U32,
    FIELD_I32,
    FIELD_U64,
    FIELD_I64,
    FIELD_F64,
    FIELD_OPT32,
    FIELD_OPT64,
    FIELD_ENUM,
    FIELD_STR,
    FIELD_BLOB,
    FIELD_STRS,
    FIELD_U32S,
    FIELD_REC,
    FIELD_RECS,
};

struct record;
struct field {
    uint16_t number;
    uint8_t type;
    uint32_t offset;
    const char *name;
    const struct record *record; /* REC, RECS */
    const struct names *names;   /* ENUM */
};
struct record {
    const char *name;
    size_t size;
    const struct field *fields; /* ascending by number */
    size_t n_fields;
};

/* A subset of fields by number, for listings that want only some columns. */
#define FIELD_NUMBER_MAX 383
struct field_mask {
    uint64_t words[(FIELD_NUMBER_MAX + 64) / 64];
};
static inline void field_mask_add(struct field_mask *mask, uint16_t number) {
    mask->words[number / 64] |= (uint64_t) 1 << (number % 64);
}
static inline bool field_mask_has(const struct field_mask *mask, uint16_t number) {
    return (mask->words[number / 64] >> (number % 64)) & 1;
}

const struct field *record_field(const struct record *record, const char *name);
const struct field *record_field_number(const struct record *record, uint16_t number);

/* Sets every member to its default (zero, NULL, UNSET). */
void record_init(const struct record *record, void *object);
/* Frees members of a malloc-owned object and sets defaults. */
void record_done(const struct record *record, void *object);
/* Deep copy into an uninitialised object; members owned by malloc. */
void record_copy(const struct record *record, void *dst, const void *src);
void *record_dup(const struct record *record, const void *src);
void record_free(const struct record *record, void *object); /* record_done + free; NULL ignored */
bool record_equal(const struct record *record, const void *a, const void *b);
/* Copies the fields that both records have under one number and type (a job takes over what was
 * requested). dst is initialised; replaced members are freed. */
void record_copy_common(const struct record *dst_record, void *dst, const struct record *src_record,
                        const void *src);
/* Replaces a malloc-owned string member. */
void string_set(char **member, const char *value);
/* A list that owns its texts. */
void strs_push(struct strs *list, const char *text);
void strs_drop(struct strs *list, const char *text); /* in any case */
void strs_done(struct strs *list);
#define cleanup_strs __attribute__((__cleanup__(strs_done)))
bool strs_has(const struct strs *list, const char *text);
bool strs_has_nocase(const struct strs *list, const char *text);
/* True if any word of the comma list `text` (NULL: none) is in the list. */
bool strs_has_word(const struct strs *list, const char *text);
bool u32s_has(const struct u32s *list, uint32_t value);
/* As a filter: an empty list lets everything pass. */
static inline bool strs_pass(const struct strs *filter, const char *text) {
    return filter->n == 0 || strs_has(filter, text);
}
static inline bool u32s_pass(const struct u32s *filter, uint32_t value) {
    return filter->n == 0 || u32s_has(filter, value);
}

/* Filters that are asked once a record: what a user writes may be as long as a message. Borrow the
 * list's texts. */
struct strs_set {
    const char **items; /* sorted */
    uint32_t n;
    int (*compare)(const char *a, const char *b);
};
void strs_set_init(struct strs_set *set, const struct strs *list);
void strs_set_init_nocase(struct strs_set *set, const struct strs *list);
void strs_set_done(struct strs_set *set);
bool strs_set_pass(const struct strs_set *set, const char *text);
bool strs_set_pass_word(const struct strs_set *set, const char *text);
void u32s_set_init(struct u32s *set, const struct u32s *list);
bool u32s_set_pass(const struct u32s *set, uint32_t value);

/* ---- wire: protobuf's encoding (varint, fixed64, length-delimited; I32/I64 zigzag) ---- */
/* Appends. mask NULL = all fields. Default values are not written. */
void wire_encode(const struct record *record, const void *object, const struct field_mask *mask,
                 struct str *out);
/* Appends an element of a repeated member that is encoded already: a long list can be sent in
 * pieces, none of which is ever a whole record in memory. */
void wire_append_element(struct str *out, uint16_t number, struct bytes element);
/* Initialises object and fills it; unknown fields are skipped, the last value of a repeated scalar
 * wins. Strings are copied into the arena (NUL bytes inside a string are an error). Depth, counts
 * and sizes are bounded by the arena's limit. */
must_check int wire_decode(const struct record *record, struct bytes input, struct arena *arena,
                           void *object, struct error *err);

/* Debug and golden form: `name: value` lines, in field order, defaults left out. */
void record_print(const struct record *record, const void *object, struct str *out);
/* The value alone. */
void record_field_print(const struct field *field, void *object, struct str *out);

/* ---- the macros ---- */
#define FIELD_C_BOOL(member, arg) bool member;
#define FIELD_C_U32(member, arg) uint32_t member;
#define FIELD_C_I32(member, arg) int32_t member;
#define FIELD_C_U64(member, arg) uint64_t member;
#define FIELD_C_I64(member, arg) int64_t member;
#define FIELD_C_F64(member, arg) double member;
#define FIELD_C_OPT32(member, arg) uint32_t member;
#define FIELD_C_OPT64(member, arg) uint64_t member;
#define FIELD_C_ENUM(member, arg) uint32_t member;
#define FIELD_C_STR(member, arg) char *member;
#define FIELD_C_BLOB(member, arg) struct blob member;
#define FIELD_C_STRS(member, arg) struct strs member;
#define FIELD_C_U32S(member, arg) struct u32s member;
#define FIELD_C_REC(member, arg) struct arg *member;
#define FIELD_C_RECS(member, arg)                                                                  \
    struct {                                                                                       \
        struct arg *items;                                                                         \
        uint32_t n;                                                                                \
    } member;
#define FIELD_MEMBER(number, type, member, arg) FIELD_C_##type(member, arg)

#define FIELD_R_BOOL(arg) .record = NULL
#define FIELD_R_U32(arg) .record = NULL
#define FIELD_R_I32(arg) .record = NULL
#define FIELD_R_U64(arg) .record = NULL
#define FIELD_R_I64(arg) .record = NULL
#define FIELD_R_F64(arg) .record = NULL
#define FIELD_R_OPT32(arg) .record = NULL
#define FIELD_R_OPT64(arg) .record = NULL
#define FIELD_R_ENUM(arg) .names = &names_##arg
#define FIELD_R_STR(arg) .record = NULL
#define FIELD_R_BLOB(arg) .record = NULL
#define FIELD_R_STRS(arg) .record = NULL
#define FIELD_R_U32S(arg) .record = NULL
#define FIELD_R_REC(arg) .record = &record_##arg
#define FIELD_R_RECS(arg) .record = &record_##arg

#define RECORD_DECLARE(id, FIELDS)                                                                 \
    struct id {                                                                                    \
        FIELDS(FIELD_MEMBER)                                                                       \
    };                                                                                             \
    extern const struct record record_##id;

/* offsetof needs the struct's name, which a row does not carry: in front of RECORD_DEFINE(point, …)
 * stands `#define RECORD_ROW_point(...) RECORD_ROW(point, __VA_ARGS__)`. */
#define RECORD_DEFINE(id, FIELDS)                                                                  \
    static const struct field fields_##id[] = {FIELDS(RECORD_ROW_##id)};                           \
    const struct record record_##id = {#id, sizeof(struct id), fields_##id,                        \
                                       sizeof(fields_##id) / sizeof(fields_##id[0])};
#define RECORD_ROW(id, number_, type_, member_, arg_)                                              \
    {.number = number_,                                                                            \
     .type = FIELD_##type_,                                                                        \
     .offset = offsetof(struct id, member_),                                                       \
     .name = #member_,                                                                             \
     FIELD_R_##type_(arg_)},

#endif
