/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of a peer as any record. The first byte chooses the record; what is accepted must survive
 * encoding and decoding, and copies of it are equal.
 */
#include "base/alloc.h"
#include "fuzz.h"
#include "model/messages.h"
#include "random_record.h"

#define ARENA_LIMIT ((size_t) 8 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct record *records[ALL_RECORDS_MAX];
    static size_t n;
    if (n == 0)
        n = all_records(NULL, records);
    if (size == 0)
        return 0;
    const struct record *record = records[data[0] % n];
    uint8_t *exact = size > 1 ? xmemdup(data + 1, size - 1) : NULL;
    struct arena arena;
    struct error err = ERROR_INIT;
    arena_init(&arena, ARENA_LIMIT);
    void *object = xmalloc(record->size), *again = xmalloc(record->size);
    if (wire_decode(record, (struct bytes) {exact, size - 1}, &arena, object, &err) < 0) {
        require(err.code < 0 && err.text[0] != '\0');
    } else {
        struct str out = STR_INIT, text = STR_INIT;
        struct arena second;
        arena_init(&second, 0);
        wire_encode(record, object, NULL, &out);
        require(wire_decode(record, (struct bytes) {(const uint8_t *) out.data, out.length},
                            &second, again, &err) == 0);
        require(record_equal(record, object, again));
        void *copy = record_dup(record, object);
        require(record_equal(record, object, copy));
        record_print(record, copy, &text);
        record_free(record, copy);
        arena_done(&second);
        str_done(&out);
        str_done(&text);
    }
    free(object);
    free(again);
    arena_done(&arena);
    free(exact);
    return 0;
}
