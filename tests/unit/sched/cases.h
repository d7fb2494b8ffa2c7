/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Properties on seeded random worlds. The number of cases can be set: SLUICE_SCHED_CASES=N. A
 * failure prints the seed; set SLUICE_SCHED_SEED to it to run that case alone. The full number is
 * for optimised builds; others do a tenth.
 */
#ifndef SLUICE_TEST_SCHED_CASES_H
#define SLUICE_TEST_SCHED_CASES_H

#include <stdio.h>

#include "random.h"

/* Cases in which a property could have been broken: none would be no test. */
extern uint64_t n_tried;

void each_seed(unsigned n, void (*run)(uint64_t seed));

#define CHECK(seed, condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            print_error("seed %llu: %s\n", (unsigned long long) (seed), #condition);               \
            fail();                                                                                \
        }                                                                                          \
    } while (0)

/* Jobs come, go and end early; the clock stands still. */
#define RANDOM_SUBMIT 2
void random_event(struct world *w, struct rng *rng, int richness);

#endif
