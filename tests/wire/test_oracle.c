/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf-c as the judge of our encoding: it must read every value that we wrote, and we must read
 * what it writes.
 */
#include <string.h>

#include "base/alloc.h"
#include "descriptors.h"
#include "model/messages.h"
#include "random_record.h"
#include "schema/member.h"
#include "unit.h"

#define ROUNDS 40

static const ProtobufCMessageDescriptor *descriptor_of(const struct record *record) {
    for (size_t i = 0; descriptor_rows[i].name != NULL; i++) {
        if (strcmp(descriptor_rows[i].name, record->name) == 0)
            return descriptor_rows[i].descriptor;
    }
    fail_msg("no descriptor of %s", record->name);
    return NULL;
}

static void compare(const struct record *record, void *object, const ProtobufCMessage *message);

static const void *at(const ProtobufCMessage *message, unsigned offset) {
    return (const char *) message + offset;
}

/* Ours is not the default; theirs must be there and equal. */
static void compare_one(const struct field *field, void *object, const ProtobufCFieldDescriptor *f,
                        const ProtobufCMessage *message) {
    const void *theirs = at(message, f->offset);
    switch ((enum field_type) field->type) {
    case FIELD_BOOL:
        assert_true(*(const protobuf_c_boolean *) theirs);
        break;
    case FIELD_U32:
    case FIELD_I32:
    case FIELD_OPT32:
    case FIELD_ENUM:
        assert_int_equal(*(const uint32_t *) theirs, *member_u32(field, object));
        break;
    case FIELD_U64:
    case FIELD_I64:
    case FIELD_OPT64:
    case FIELD_F64:
        assert_memory_equal(theirs, member_u64(field, object), 8);
        break;
    case FIELD_STR:
        assert_string_equal(*(char *const *) theirs, *member_str(field, object));
        break;
    case FIELD_BLOB: {
        const ProtobufCBinaryData *data = theirs;
        const struct blob *blob = member_blob(field, object);
        assert_int_equal(data->len, blob->size);
        assert_memory_equal(data->data, blob->data, blob->size);
        break;
    }
    case FIELD_REC:
        compare(field->record, *member_rec(field, object), *(ProtobufCMessage *const *) theirs);
        break;
    case FIELD_STRS:
        for (uint32_t i = 0; i < member_strs(field, object)->n; i++)
            assert_string_equal((*(char **const *) theirs)[i],
                                member_strs(field, object)->items[i]);
        break;
    case FIELD_U32S:
        for (uint32_t i = 0; i < member_u32s(field, object)->n; i++)
            assert_int_equal((*(uint32_t *const *) theirs)[i],
                             member_u32s(field, object)->items[i]);
        break;
    case FIELD_RECS:
        for (uint32_t i = 0; i < member_recs(field, object)->n; i++)
            compare(field->record, recs_item(field, member_recs(field, object), i),
                    (*(ProtobufCMessage * *const *) theirs)[i]);
        break;
    }
}

/* How many values they have: 0 when the field is absent. */
static size_t their_count(const ProtobufCFieldDescriptor *f, const ProtobufCMessage *message) {
    if (f->label == PROTOBUF_C_LABEL_REPEATED)
        return *(const size_t *) at(message, f->quantifier_offset);
    if (f->type == PROTOBUF_C_TYPE_STRING || f->type == PROTOBUF_C_TYPE_MESSAGE)
        return *(void *const *) at(message, f->offset) != NULL;
    return *(const protobuf_c_boolean *) at(message, f->quantifier_offset) != 0;
}

static size_t our_count(const struct field *field, void *object) {
    if (field->type == FIELD_STRS)
        return member_strs(field, object)->n;
    if (field->type == FIELD_U32S)
        return member_u32s(field, object)->n;
    if (field->type == FIELD_RECS)
        return member_recs(field, object)->n;
    return !member_is_default(field, object);
}

static void compare(const struct record *record, void *object, const ProtobufCMessage *message) {
    for (size_t i = 0; i < record->n_fields; i++) {
        const struct field *field = &record->fields[i];
        const ProtobufCFieldDescriptor *f =
            protobuf_c_message_descriptor_get_field(message->descriptor, field->number);
        assert_non_null(f);
        assert_string_equal(f->name, field->name);
        assert_int_equal(their_count(f, message), our_count(field, object));
        if (our_count(field, object) > 0)
            compare_one(field, object, f, message);
    }
    assert_int_equal(message->n_unknown_fields, 0);
}

static void both_ways(const struct record *record, void *object, struct arena *arena) {
    struct str ours cleanup_str = STR_INIT;
    struct error err = ERROR_INIT;
    wire_encode(record, object, NULL, &ours);
    ProtobufCMessage *message = protobuf_c_message_unpack(descriptor_of(record), NULL, ours.length,
                                                          (const uint8_t *) str_cstr(&ours));
    if (message == NULL)
        fail_msg("protobuf-c cannot read our %s", record->name);
    compare(record, object, message);
    size_t size = protobuf_c_message_get_packed_size(message);
    uint8_t *theirs = xmalloc(size + 1);
    assert_int_equal(protobuf_c_message_pack(message, theirs), size);
    void *back = arena_alloc(arena, record->size);
    if (wire_decode(record, (struct bytes) {theirs, size}, arena, back, &err) < 0)
        fail_msg("we cannot read protobuf-c's %s: %s", record->name, err.text);
    assert_true(record_equal(record, object, back));
    free(theirs);
    protobuf_c_message_free_unpacked(message, NULL);
}

TEST(protobuf_c_reads_what_we_write_and_we_read_what_it_writes) {
    const struct record *records[ALL_RECORDS_MAX];
    size_t n = all_records(NULL, records);
    struct rng rng;
    rng_seed(&rng, 1);
    struct chooser chooser = {.rng = &rng};
    for (size_t i = 0; i < n; i++) {
        for (unsigned round = 0; round < ROUNDS; round++) {
            struct arena arena;
            arena_init(&arena, 0);
            void *object = arena_alloc(&arena, records[i]->size);
            random_record(records[i], object, &chooser, &arena, 1 + round % 3, NULL);
            both_ways(records[i], object, &arena);
            arena_done(&arena);
        }
    }
}

TEST(negative_numbers_are_zigzag) {
    struct job job;
    struct arena arena;
    record_init(&record_job, &job);
    arena_init(&arena, 0);
    static const int64_t values[] = {-1, INT64_MIN, INT64_MAX, -1000000};
    for (size_t i = 0; i < countof(values); i++) {
        job.begin_time = values[i];
        job.nice = (int32_t) values[i];
        both_ways(&record_job, &job, &arena);
    }
    arena_done(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(protobuf_c_reads_what_we_write_and_we_read_what_it_writes),
        cmocka_unit_test(negative_numbers_are_zigzag),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
