/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of chance, and a walk over all records: what property tests and fuzz targets share.
 *
 * Choices come from a chooser: either from bytes (a fuzzer's input; zero once they are used up, so
 * that every input ends) or from a seeded generator. Everything made lives in an arena; a record
 * from here must not be given to record_done().
 */
#ifndef SLUICE_TESTS_RANDOM_RECORD_H
#define SLUICE_TESTS_RANDOM_RECORD_H

#include "base/rng.h"
#include "schema/schema.h"

struct chooser {
    const uint8_t *at, *end; /* used when rng is NULL */
    struct rng *rng;
};
/* In [0, bound); bound > 0. */
uint64_t choose(struct chooser *chooser, uint64_t bound);
/* Numbers at which things break: 0, 1, powers of two and their neighbours, the largest. */
uint64_t choose_number(struct chooser *chooser, unsigned bits);

/* May fill one field its own way: true when it did. */
typedef bool (*random_fill)(const struct record *record, const struct field *field, void *object,
                            struct chooser *chooser, struct arena *arena);
/* Fills `object`. `density`: one field in so many is set (1 = all). `fill` may be NULL. */
void random_record(const struct record *record, void *object, struct chooser *chooser,
                   struct arena *arena, unsigned density, random_fill fill);

/* Every record that a message or the store carries, each once, the outer before the inner; also
 * those in `more` (NULL-terminated; may be NULL). */
#define ALL_RECORDS_MAX 256
size_t all_records(const struct record *const *more, const struct record *ret[ALL_RECORDS_MAX]);

#endif
