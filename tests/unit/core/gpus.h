/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that tell of their cards, for the tests of core/gpu.c and gpu_idle.c. */
#ifndef SLUICE_TESTS_CORE_GPUS_H
#define SLUICE_TESTS_CORE_GPUS_H

#include "world.h"

/* What the node says of its cards: use of each, and for how long those of use 0 have been idle. */
static inline void report(struct world *world, uint32_t node, size_t n, const uint32_t *use,
                          uint32_t idle, const char *stray) {
    struct gpu_status cards[4];
    struct gpu_stray process;
    struct node_status status;
    record_init(&record_node_status, &status);
    record_init(&record_gpu_stray, &process);
    process.pid = 4711;
    process.command = (char *) "python";
    process.user = (char *) (uintptr_t) stray;
    for (size_t i = 0; i < n; i++) {
        record_init(&record_gpu_status, &cards[i]);
        cards[i].index = (uint32_t) i;
        cards[i].use_now = use[i];
        cards[i].watched = 5000;
        cards[i].idle = use[i] > 0 ? 0 : idle;
    }
    if (stray != NULL) {
        cards[0].strays.items = &process;
        cards[0].strays.n = 1;
    }
    status.gpus.items = cards;
    status.gpus.n = (uint32_t) n;
    core_node_message(world->core, world->now, node, MSG_NODE_STATUS, &status, &world->effects);
    world_turn(world);
}

#endif
