/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The multifactor priority: weights times factors, summed.
 *
 *     priority = site + sum(weight * factor) - nice, at least 1
 *
 * A factor is a fraction, usually between 0 and 1; it may be above 1 where a site asks for numbers
 * that are not normalised (PriorityFlags=NO_NORMAL_...). The arithmetic is fixed-point, so that two
 * machines agree; the sum is cut to whole numbers only at its end, the parts are rounded for
 * display.
 */
#ifndef SLUICE_SCHED_PRIORITY_H
#define SLUICE_SCHED_PRIORITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/job.h"

#define PRIORITY_TRES_MAX 16
#define PRIORITY_ONE ((uint64_t) 1 << 32) /* the factor 1 */
#define PRIORITY_HIGHEST (UINT32_MAX - 1)

enum priority_factor {
    PRIORITY_AGE,
    PRIORITY_ASSOC,
    PRIORITY_FAIRSHARE,
    PRIORITY_SIZE,
    PRIORITY_PARTITION,
    PRIORITY_QOS,
    PRIORITY_ACCURACY,
    PRIORITY_FACTORS, /* how many */
};

struct priority_weights {
    uint32_t factor[PRIORITY_FACTORS];
    uint32_t tres[PRIORITY_TRES_MAX];
    size_t n_tres;
};
/* In units of PRIORITY_ONE. */
struct priority_shares {
    uint64_t factor[PRIORITY_FACTORS];
    uint64_t tres[PRIORITY_TRES_MAX];
};
/* Weighted, in units of PRIORITY_SUM_ONE. */
struct priority_parts {
    uint64_t factor[PRIORITY_FACTORS];
    uint64_t tres[PRIORITY_TRES_MAX];
};

/* part / whole in units of PRIORITY_ONE; 0 of nothing is 0. Above 1 when part is above whole. */
uint64_t priority_share(uint64_t part, uint64_t whole);
/* The mean of the shares of nodes and of CPUs of the cluster; small: what is missing to 1. */
uint64_t priority_size_share(uint32_t nodes, uint32_t all_nodes, uint64_t cpus, uint64_t all_cpus,
                             bool small);
/* The share of nodes a minute of the limit (0 = no limit), for SMALL_RELATIVE_TO_TIME. */
uint64_t priority_size_by_time(uint32_t nodes, uint32_t all_nodes, uint32_t minutes, bool small);

/* A weighted share in units of PRIORITY_SUM_ONE; bounded, so that sums never wrap round. */
uint64_t priority_weighted(uint32_t weight, uint64_t share);
/* The sum of all weighted shares, in units of PRIORITY_SUM_ONE; parts may be NULL. */
uint64_t priority_sum(const struct priority_weights *weights, const struct priority_shares *shares,
                      struct priority_parts *parts);
/* From a sum to the number that the queue is sorted by: 1 to PRIORITY_HIGHEST. */
uint32_t priority_total(uint64_t sum, int64_t site, int64_t nice);

#endif
