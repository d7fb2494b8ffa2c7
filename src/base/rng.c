/* SPDX-License-Identifier: Apache-2.0 */
/* xoshiro256** 1.0, whose authors put it in the public domain: https://prng.di.unimi.it */
#include "base/rng.h"

#include <assert.h>

static uint64_t splitmix_next(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

static uint64_t rotate_left(uint64_t x, unsigned count) {
    return (x << count) | (x >> (64 - count));
}

void rng_seed(struct rng *rng, uint64_t seed) {
    for (unsigned i = 0; i < 4; i++)
        rng->s[i] = splitmix_next(&seed);
}

uint64_t rng_next(struct rng *rng) {
    uint64_t *s = rng->s;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t rng_below(struct rng *rng, uint64_t bound) {
    assert(bound > 0);
    /* The high half of a 128-bit product; low halves under 2^64 mod bound would bias it (Lemire,
     * "Fast Random Integer Generation in an Interval", 2019). */
    unsigned __int128 product = (unsigned __int128) rng_next(rng) * bound;
    if ((uint64_t) product < bound) {
        uint64_t biased = -bound % bound;
        while ((uint64_t) product < biased)
            product = (unsigned __int128) rng_next(rng) * bound;
    }
    return (uint64_t) (product >> 64);
}

double rng_unit(struct rng *rng) {
    return (double) (rng_next(rng) >> 11) * 0x1p-53;
}
