/* SPDX-License-Identifier: Apache-2.0 */
/* Bit sets. Invariant: the bits of the last word beyond n are clear. */
#include "base/bits.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"

/* Branch-free and inlined; the baseline x86-64 has no popcount instruction. */
static size_t word_count(uint64_t x) {
    x -= (x >> 1) & 0x5555555555555555U;
    x = (x & 0x3333333333333333U) + ((x >> 2) & 0x3333333333333333U);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fU;
    return (x * 0x0101010101010101U) >> 56;
}

void bits_init(struct bits *bits, size_t n) {
    bits->words = xcalloc(bits_words(n), sizeof(uint64_t));
    bits->n = n;
}

void bits_done(struct bits *bits) {
    free(bits->words);
    *bits = (struct bits) {0};
}

void bits_copy(struct bits *dst, const struct bits *src) {
    if (dst == src)
        return;
    size_t n_words = bits_words(src->n);
    if (!dst->words || bits_words(dst->n) != n_words)
        dst->words = xreallocarray(dst->words, n_words, sizeof(uint64_t));
    if (n_words)
        memcpy(dst->words, src->words, n_words * sizeof(uint64_t));
    dst->n = src->n;
}

void bits_fill(struct bits *bits, bool value) {
    size_t n_words = bits_words(bits->n);
    if (n_words == 0)
        return;
    memset(bits->words, value ? 0xff : 0, n_words * sizeof(uint64_t));
    if (value && bits->n % 64)
        bits->words[n_words - 1] = ((uint64_t) 1 << (bits->n % 64)) - 1;
}

size_t bits_count(const struct bits *bits) {
    size_t count = 0;
    for (size_t i = 0; i < bits_words(bits->n); i++)
        count += word_count(bits->words[i]);
    return count;
}

size_t bits_count_and(const struct bits *a, const struct bits *b) {
    assert(a->n == b->n);
    size_t count = 0;
    for (size_t i = 0; i < bits_words(a->n); i++)
        count += word_count(a->words[i] & b->words[i]);
    return count;
}

bool bits_any(const struct bits *bits) {
    for (size_t i = 0; i < bits_words(bits->n); i++) {
        if (bits->words[i])
            return true;
    }
    return false;
}

bool bits_any_and(const struct bits *a, const struct bits *b) {
    assert(a->n == b->n);
    for (size_t i = 0; i < bits_words(a->n); i++) {
        if (a->words[i] & b->words[i])
            return true;
    }
    return false;
}

bool bits_subset(const struct bits *part, const struct bits *whole) {
    assert(part->n == whole->n);
    for (size_t i = 0; i < bits_words(part->n); i++) {
        if (part->words[i] & ~whole->words[i])
            return false;
    }
    return true;
}

bool bits_equal(const struct bits *a, const struct bits *b) {
    assert(a->n == b->n);
    size_t n_words = bits_words(a->n);
    return n_words == 0 || memcmp(a->words, b->words, n_words * sizeof(uint64_t)) == 0;
}

void bits_and(struct bits *dst, const struct bits *src) {
    assert(dst->n == src->n);
    for (size_t i = 0; i < bits_words(dst->n); i++)
        dst->words[i] &= src->words[i];
}

void bits_or(struct bits *dst, const struct bits *src) {
    assert(dst->n == src->n);
    for (size_t i = 0; i < bits_words(dst->n); i++)
        dst->words[i] |= src->words[i];
}

void bits_andnot(struct bits *dst, const struct bits *src) {
    assert(dst->n == src->n);
    for (size_t i = 0; i < bits_words(dst->n); i++)
        dst->words[i] &= ~src->words[i];
}

size_t bits_next(const struct bits *bits, size_t from) {
    if (from >= bits->n)
        return bits->n;
    size_t i = from / 64;
    uint64_t word = bits->words[i] & (UINT64_MAX << (from % 64));
    while (word == 0) {
        if (++i >= bits_words(bits->n))
            return bits->n;
        word = bits->words[i];
    }
    return i * 64 + (size_t) __builtin_ctzll(word);
}
