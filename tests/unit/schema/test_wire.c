/* SPDX-License-Identifier: Apache-2.0 */
/* The wire encoding as properties over every record of the message table. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "model/messages.h"
#include "random_record.h"
#include "schema/member.h"
#include "unit.h"

#define ROUNDS 30

struct case_of {
    const struct record *record;
    void *object;
    struct str encoded;
    struct arena arena;
};

static struct bytes bytes_of(const struct str *text) {
    return (struct bytes) {(const uint8_t *) text->data, text->length};
}

/* Calls fn with ROUNDS random objects of every record, encoded. */
static void each_case(void (*fn)(struct case_of *c)) {
    const struct record *records[ALL_RECORDS_MAX];
    size_t n = all_records(NULL, records);
    struct rng rng;
    rng_seed(&rng, 7);
    struct chooser chooser = {.rng = &rng};
    for (size_t i = 0; i < n; i++) {
        for (unsigned round = 0; round < ROUNDS; round++) {
            struct case_of c = {.record = records[i], .encoded = STR_INIT};
            arena_init(&c.arena, 0);
            c.object = arena_alloc(&c.arena, c.record->size);
            random_record(c.record, c.object, &chooser, &c.arena, 1 + round % 4, NULL);
            wire_encode(c.record, c.object, NULL, &c.encoded);
            fn(&c);
            str_done(&c.encoded);
            arena_done(&c.arena);
        }
    }
}

/* Decodes a copy in memory of exactly that size, so that a read beyond its end is seen. */
static int decode(const struct record *record, struct bytes input, struct arena *arena,
                  void *object) {
    struct error err = ERROR_INIT;
    uint8_t *exact = input.size > 0 ? xmemdup(input.data, input.size) : NULL;
    int r = wire_decode(record, (struct bytes) {exact, input.size}, arena, object, &err);
    free(exact);
    if (r < 0) {
        assert_int_not_equal(err.code, 0);
        assert_int_not_equal(err.text[0], '\0');
    }
    return r;
}

static void check_round_trip(struct case_of *c) {
    void *decoded = arena_alloc(&c->arena, c->record->size);
    assert_int_equal(decode(c->record, bytes_of(&c->encoded), &c->arena, decoded), 0);
    if (!record_equal(c->record, c->object, decoded))
        fail_msg("%s changed on the way", c->record->name);
    struct str again cleanup_str = STR_INIT;
    wire_encode(c->record, decoded, NULL, &again);
    assert_int_equal(again.length, c->encoded.length);
    assert_memory_equal(again.data, c->encoded.data, again.length);
}

TEST(every_record_survives_the_way_there_and_back) {
    each_case(check_round_trip);
}

static void check_truncation(struct case_of *c) {
    void *decoded = arena_alloc(&c->arena, c->record->size);
    for (size_t cut = 0; cut < c->encoded.length; cut++) {
        struct bytes part = {(const uint8_t *) c->encoded.data, cut};
        struct arena arena;
        arena_init(&arena, 0);
        (void) !decode(c->record, part, &arena, decoded);
        arena_done(&arena);
    }
}

TEST(a_record_cut_anywhere_is_an_error_or_a_shorter_record) {
    each_case(check_truncation);
}

static void check_flips(struct case_of *c) {
    static struct rng rng;
    if (rng.s[0] == 0)
        rng_seed(&rng, 3);
    void *decoded = arena_alloc(&c->arena, c->record->size);
    for (int i = 0; i < 20 && c->encoded.length > 0; i++) {
        struct arena arena;
        arena_init(&arena, 1 << 20);
        size_t at = rng_below(&rng, c->encoded.length);
        char old = c->encoded.data[at];
        c->encoded.data[at] = (char) rng_below(&rng, 256);
        if (decode(c->record, bytes_of(&c->encoded), &arena, decoded) == 0) {
            struct str again cleanup_str = STR_INIT;
            wire_encode(c->record, decoded, NULL, &again); /* what was accepted can be sent on */
        }
        c->encoded.data[at] = old;
        arena_done(&arena);
    }
}

TEST(a_record_with_a_changed_byte_is_refused_or_a_whole_record) {
    each_case(check_flips);
}

static void check_mask(struct case_of *c) {
    struct field_mask mask = {{0}};
    void *decoded = arena_alloc(&c->arena, c->record->size);
    void *plain = arena_alloc(&c->arena, c->record->size);
    struct str masked cleanup_str = STR_INIT;
    for (size_t i = 0; i < c->record->n_fields; i += 2)
        field_mask_add(&mask, c->record->fields[i].number);
    wire_encode(c->record, c->object, &mask, &masked);
    assert_int_equal(decode(c->record, bytes_of(&masked), &c->arena, decoded), 0);
    record_init(c->record, plain);
    for (size_t i = 0; i < c->record->n_fields; i++) {
        const struct field *field = &c->record->fields[i];
        assert_int_equal(field_mask_has(&mask, field->number), i % 2 == 0);
        if (i % 2 == 0)
            memcpy(member_at(field, plain), member_at(field, c->object), member_size(field));
    }
    assert_true(record_equal(c->record, plain, decoded));
}

TEST(a_mask_lets_through_its_fields_and_no_others) {
    each_case(check_mask);
}

static void put_varint(struct str *out, uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        str_append_char(out, (char) (value | 0x80));
    str_append_char(out, (char) value);
}

/* Fields that a newer release may have added: one of each wire type. */
static void put_unknown(struct str *out, unsigned number) {
    put_varint(out, number << 3 | 0);
    put_varint(out, UINT64_MAX);
    put_varint(out, number << 3 | 2);
    put_varint(out, 3);
    str_append(out, "new");
    put_varint(out, number << 3 | 1);
    str_append_bytes(out, "12345678", 8);
    put_varint(out, number << 3 | 5);
    str_append_bytes(out, "1234", 4);
}

static void check_unknown(struct case_of *c) {
    struct str text cleanup_str = STR_INIT;
    void *decoded = arena_alloc(&c->arena, c->record->size);
    put_unknown(&text, 60000);
    str_append_bytes(&text, c->encoded.data, c->encoded.length);
    put_unknown(&text, FIELD_NUMBER_MAX + 1);
    assert_int_equal(decode(c->record, bytes_of(&text), &c->arena, decoded), 0);
    assert_true(record_equal(c->record, c->object, decoded));
}

TEST(fields_of_a_newer_release_are_skipped) {
    each_case(check_unknown);
}

static void refused(const struct record *record, const char *bytes, size_t size, size_t limit,
                    int code) {
    struct arena arena;
    struct error err = ERROR_INIT;
    arena_init(&arena, limit);
    void *object = xcalloc(1, record->size);
    int r =
        wire_decode(record, (struct bytes) {(const uint8_t *) bytes, size}, &arena, object, &err);
    assert_int_equal(r, -code);
    assert_int_equal(err.code, -code);
    assert_non_null(strstr(err.text, record->name));
    free(object);
    arena_done(&arena);
}

TEST(malformed_bytes_are_refused_by_name) {
    const struct record *ping = &record_ping_reply;
    refused(ping, "\x0a\x05hos", 5, 0, ERR_PROTOCOL);  /* longer than what is left */
    refused(ping, "\x0a\x03h\0t", 5, 0, ERR_PROTOCOL); /* NUL inside a string */
    refused(ping, "\x0a", 1, 0, ERR_PROTOCOL);         /* no length */
    refused(ping, "\x08\x01", 2, 0, ERR_PROTOCOL);     /* a number where text goes */
    refused(ping, "\x22\x01x", 3, 0, ERR_PROTOCOL);    /* text where a number goes */
    refused(ping, "\x03\x01", 2, 0, ERR_PROTOCOL);     /* field 0, group */
    refused(ping, "\x0b\x01", 2, 0, ERR_PROTOCOL);     /* groups are not used */
    refused(ping, "\x20", 1, 0, ERR_PROTOCOL);         /* truncated number */
    refused(ping, "\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12, 0, ERR_PROTOCOL);
    refused(&record_alloc_end, "\x08\xff\xff\xff\xff\x1f", 6, 0, ERR_PROTOCOL); /* beyond 32 bits */
    refused(&record_job, "\xf8\x06\xfe\xff\xff\xff\xff\x01", 8, 0, ERR_PROTOCOL); /* nice, I32 */
}

TEST(what_a_message_can_make_us_allocate_is_bounded_by_the_arena) {
    struct str text cleanup_str = STR_INIT;
    for (int i = 0; i < 10000; i++)
        str_append_bytes(&text, "\x0a\x00",
                         2); /* an empty job each: 500 times its size in memory */
    struct arena arena;
    struct error err = ERROR_INIT;
    struct job_list list;
    arena_init(&arena, 1 << 20);
    assert_int_equal(wire_decode(&record_job_list, bytes_of(&text), &arena, &list, &err),
                     -ERR_LIMIT);
    assert_true(arena.used <= 1 << 20);
    arena_done(&arena);
    arena_init(&arena, 0);
    assert_int_equal(wire_decode(&record_job_list, bytes_of(&text), &arena, &list, &err), 0);
    assert_int_equal(list.items.n, 10000);
    arena_done(&arena);
}

/* A record that holds itself: only a test has one. */
struct nest;
extern const struct record record_nest;
#define NEST_FIELDS(X)                                                                             \
    X(1, REC, inner, nest)                                                                         \
    X(2, F64, weight, 0)
RECORD_DECLARE(nest, NEST_FIELDS)
#define RECORD_ROW_nest(...) RECORD_ROW(nest, __VA_ARGS__)
RECORD_DEFINE(nest, NEST_FIELDS)

static int decode_nested(unsigned depth, struct arena *arena) {
    struct str text cleanup_str = STR_INIT;
    struct nest nest;
    for (unsigned i = 0; i < depth; i++) {
        struct str outer = STR_INIT;
        str_append_char(&outer, 0x0a);
        put_varint(&outer, text.length);
        str_append_bytes(&outer, str_cstr(&text), text.length);
        str_done(&text);
        text = outer;
    }
    return decode(&record_nest, bytes_of(&text), arena, &nest);
}

TEST(depth_is_bounded) {
    struct arena arena;
    arena_init(&arena, 0);
    assert_int_equal(decode_nested(16, &arena), 0);
    assert_int_equal(decode_nested(17, &arena), -ERR_PROTOCOL);
    assert_int_equal(decode_nested(3000, &arena), -ERR_PROTOCOL);
    arena_done(&arena);
}

TEST(real_numbers_keep_their_bits) {
    static const double values[] = {0.1, -1.5, 1e300, 5e-324, -0.0};
    for (size_t i = 0; i < countof(values); i++) {
        struct nest nest = {NULL, values[i]}, back;
        struct str text cleanup_str = STR_INIT;
        struct arena arena;
        arena_init(&arena, 0);
        wire_encode(&record_nest, &nest, NULL, &text);
        assert_int_equal(decode(&record_nest, bytes_of(&text), &arena, &back), 0);
        assert_true(record_equal(&record_nest, &nest, &back));
        arena_done(&arena);
    }
}

TEST(the_last_value_of_a_field_counts_and_lists_grow_over_several_pieces) {
    struct arena arena;
    struct ping_reply ping;
    struct step_tasks tasks;
    arena_init(&arena, 0);
    assert_int_equal(decode(&record_ping_reply,
                            (struct bytes) {(const uint8_t *) "\x0a\1a\x0a\1b", 6}, &arena, &ping),
                     0);
    assert_string_equal(ping.host, "b");
    assert_int_equal(decode(&record_step_tasks,
                            (struct bytes) {(const uint8_t *) "\x12\2\1\2\x12\3\3\4\5", 9}, &arena,
                            &tasks),
                     0);
    assert_int_equal(tasks.ranks.n, 5);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(tasks.ranks.items[i], i + 1);
    arena_done(&arena);
}

TEST(a_record_of_defaults_is_no_bytes) {
    const struct record *records[ALL_RECORDS_MAX];
    size_t n = all_records(NULL, records);
    assert_true(n > 40);
    for (size_t i = 0; i < n; i++) {
        struct str text cleanup_str = STR_INIT;
        void *object = xmalloc(records[i]->size);
        record_init(records[i], object);
        wire_encode(records[i], object, NULL, &text);
        assert_int_equal(text.length, 0);
        free(object);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_record_survives_the_way_there_and_back),
        cmocka_unit_test(a_record_cut_anywhere_is_an_error_or_a_shorter_record),
        cmocka_unit_test(a_record_with_a_changed_byte_is_refused_or_a_whole_record),
        cmocka_unit_test(a_mask_lets_through_its_fields_and_no_others),
        cmocka_unit_test(fields_of_a_newer_release_are_skipped),
        cmocka_unit_test(malformed_bytes_are_refused_by_name),
        cmocka_unit_test(what_a_message_can_make_us_allocate_is_bounded_by_the_arena),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(real_numbers_keep_their_bits),
        cmocka_unit_test(the_last_value_of_a_field_counts_and_lists_grow_over_several_pieces),
        cmocka_unit_test(a_record_of_defaults_is_no_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
