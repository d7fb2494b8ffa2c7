/* SPDX-License-Identifier: Apache-2.0 */
/* One seeded world: its machine, its people, its faults; and how it went. */
#ifndef SLUICE_TESTS_DST_WORLD_H
#define SLUICE_TESTS_DST_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct world_result {
    struct error failure; /* code 0: all is well */
    int64_t hours;        /* simulated, until the faults healed */
    uint64_t n_turns, n_starts, n_jobs, n_stale, digest;
    uint64_t n_reserved, n_preempted, n_unserved,
        n_confs;        /* starts in reservations; reconfigurations */
    uint64_t n_limited; /* starts that a limit allowed */
};

/* Lives for `hours` with faults and then until everything has ended. told: on stdout. */
void world_live(uint64_t seed, int64_t hours, bool told, struct world_result *ret);

#endif
