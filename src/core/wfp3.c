/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order WFP3 (Tang et al. 2009): (wait / limit)^3 * nodes, largest first. It is added to the
 * priority as a logarithm, so that it composes with the factors of slurm.conf: a factor that adds
 * 2^23 counts as much as a value twice as large. In whole numbers, so that every machine gets the
 * same order.
 */
#include "core/state.h"

#define LOG_BITS 23
#define LIMIT_ASSUMED ((int64_t) 365 * 86400) /* of jobs without a limit */

/* log2 in units of 2^-LOG_BITS, by squaring the mantissa once per bit. */
static int64_t log2_fixed(uint64_t value) {
    unsigned whole = 63u - (unsigned) __builtin_clzll(value);
    uint64_t mantissa = whole > 31 ? value >> (whole - 31) : value << (31 - whole);
    int64_t result = (int64_t) whole << LOG_BITS;

    for (int bit = LOG_BITS - 1; bit >= 0; bit--) {
        mantissa = mantissa * mantissa >> 31; /* in [1, 4) with 31 bits behind the point */
        if (mantissa >> 32) {
            mantissa >>= 1;
            result |= (int64_t) 1 << bit;
        }
    }
    return result;
}

int64_t wfp3_term(const struct core *core, const struct job *rec) {
    int64_t since = rec->eligible_time > 0 ? rec->eligible_time : rec->submit_time;
    uint64_t wait = (uint64_t) max_of(core->now - since, (int64_t) 0) + 1;
    uint32_t minutes = rec->time_limit;
    bool limited = minutes != MINUTES_UNSET && minutes != MINUTES_INFINITE && minutes > 0;
    uint64_t limit = (uint64_t) (limited ? (int64_t) minutes * 60 : LIMIT_ASSUMED);
    uint64_t nodes = max_of(rec->num_nodes, 1u);

    return 3 * (log2_fixed(wait) - log2_fixed(limit)) + log2_fixed(nodes);
}

uint32_t wfp3_priority(const struct core *core, const struct job *rec, uint32_t priority) {
    int64_t sum = ((int64_t) 1 << 31) + wfp3_term(core, rec) + priority;

    return (uint32_t) max_of((int64_t) 1, min_of(sum, (int64_t) UINT32_MAX - 2));
}
