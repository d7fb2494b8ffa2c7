/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/priority.h"

#include "base/alloc.h"

/* Sums stay below it, so that adding up all parts never wraps round. */
#define WEIGHTED_MOST ((uint64_t) 1 << 58)

uint64_t priority_share(uint64_t part, uint64_t whole) {
    if (whole == 0)
        return 0;
    unsigned __int128 share = ((unsigned __int128) part * PRIORITY_ONE + whole / 2) / whole;
    return share > UINT64_MAX ? UINT64_MAX : (uint64_t) share;
}

static uint64_t share_inverted(uint64_t share, bool inverted) {
    if (!inverted)
        return share;
    return share < PRIORITY_ONE ? PRIORITY_ONE - share : 0;
}

uint64_t priority_size_share(uint32_t nodes, uint32_t all_nodes, uint64_t cpus, uint64_t all_cpus,
                             bool small) {
    uint64_t of_nodes = priority_share(min_of(nodes, all_nodes), all_nodes);
    uint64_t of_cpus = priority_share(min_of(cpus, all_cpus), all_cpus);
    return share_inverted((of_nodes + of_cpus) / 2, small);
}

uint64_t priority_size_by_time(uint32_t nodes, uint32_t all_nodes, uint32_t minutes, bool small) {
    uint64_t share = minutes ? priority_share(nodes, (uint64_t) all_nodes * minutes) : 0;
    return share_inverted(share, small);
}

uint64_t priority_weighted(uint32_t weight, uint64_t share) {
    unsigned __int128 product =
        (unsigned __int128) weight * share / (PRIORITY_ONE / PRIORITY_SUM_ONE);
    return product > WEIGHTED_MOST ? WEIGHTED_MOST : (uint64_t) product;
}

uint64_t priority_sum(const struct priority_weights *weights, const struct priority_shares *shares,
                      struct priority_parts *parts) {
    uint64_t sum = 0;

    for (size_t i = 0; i < PRIORITY_FACTORS; i++) {
        uint64_t weighted = priority_weighted(weights->factor[i], shares->factor[i]);
        sum += weighted;
        if (parts)
            parts->factor[i] = weighted;
    }
    for (size_t i = 0; i < weights->n_tres; i++) {
        uint64_t weighted = priority_weighted(weights->tres[i], shares->tres[i]);
        sum += weighted;
        if (parts)
            parts->tres[i] = weighted;
    }
    return sum;
}

uint32_t priority_total(uint64_t sum, int64_t site, int64_t nice) {
    /* Shares are rounded: thirds that make up a whole number count as that. */
    int64_t whole = (int64_t) ((sum + (PRIORITY_SUM_ONE >> 12)) / PRIORITY_SUM_ONE);
    int64_t total = whole + site - nice;

    if (total < 1)
        return 1;
    return total > PRIORITY_HIGHEST ? PRIORITY_HIGHEST : (uint32_t) total;
}
