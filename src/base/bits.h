/* SPDX-License-Identifier: Apache-2.0 */
/* Bit sets of fixed size, 64 bits a word. All operands of one call have the same size. */
#ifndef SLUICE_BASE_BITS_H
#define SLUICE_BASE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bits {
    uint64_t *words;
    size_t n; /* bits */
};

void bits_init(struct bits *bits, size_t n); /* all clear */
void bits_done(struct bits *bits);
void bits_copy(struct bits *dst, const struct bits *src); /* dst initialised or zeroed; resized */
static inline size_t bits_words(size_t n) {
    return (n + 63) / 64;
}
static inline bool bits_test(const struct bits *bits, size_t i) {
    return (bits->words[i / 64] >> (i % 64)) & 1;
}
static inline void bits_set(struct bits *bits, size_t i) {
    bits->words[i / 64] |= (uint64_t) 1 << (i % 64);
}
static inline void bits_unset(struct bits *bits, size_t i) {
    bits->words[i / 64] &= ~((uint64_t) 1 << (i % 64));
}
void bits_fill(struct bits *bits, bool value);
size_t bits_count(const struct bits *bits);
size_t bits_count_and(const struct bits *a, const struct bits *b);
bool bits_any(const struct bits *bits);
bool bits_any_and(const struct bits *a, const struct bits *b);
bool bits_subset(const struct bits *part, const struct bits *whole);
bool bits_equal(const struct bits *a, const struct bits *b);
void bits_and(struct bits *dst, const struct bits *src);
void bits_or(struct bits *dst, const struct bits *src);
void bits_andnot(struct bits *dst, const struct bits *src);
/* First set bit at or after `from`, or bits->n. */
size_t bits_next(const struct bits *bits, size_t from);
#define bits_each(bits, i)                                                                         \
    for (size_t i = bits_next(bits, 0); i < (bits)->n; i = bits_next(bits, i + 1))

#endif
