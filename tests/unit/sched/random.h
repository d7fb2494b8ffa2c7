/* SPDX-License-Identifier: Apache-2.0 */
/* Random clusters and requests of a few sizes, so that they collide. */
#ifndef SLUICE_TEST_SCHED_RANDOM_H
#define SLUICE_TEST_SCHED_RANDOM_H

#include "world.h"

enum { RANDOM_SIMPLE = 0, RANDOM_RICH = 1 };

/* Nodes of two or three kinds, GPUs of two types, weights, up to three partitions, licences. */
void random_world(struct world *w, struct rng *rng, int richness);
/* `arrays` keep what the spec points to. */
struct request_memory {
    uint32_t partitions[4], req_nodes[4], exc_nodes[4], counts[4], license_ids[2],
        license_counts[2];
    struct constraint *features; /* world_add() takes it over */
    struct sched_budget_use uses[8];
    struct sched_terms terms[4];
};
struct sched_job_spec random_request(struct world *w, struct rng *rng, int richness,
                                     struct request_memory *memory);

#endif
