/* SPDX-License-Identifier: Apache-2.0 */
/* xoshiro256** (Blackman, Vigna 2018) seeded by splitmix64: repeatable randomness for tests and
 * simulated worlds. Never for secrets. */
#ifndef SLUICE_BASE_RNG_H
#define SLUICE_BASE_RNG_H

#include <stdint.h>

struct rng {
    uint64_t s[4];
};
void rng_seed(struct rng *rng, uint64_t seed);
uint64_t rng_next(struct rng *rng);
uint64_t rng_below(struct rng *rng, uint64_t bound); /* uniform in [0, bound), bound > 0 */
double rng_unit(struct rng *rng);                    /* uniform in [0, 1) */

#endif
