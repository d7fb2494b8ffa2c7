/* SPDX-License-Identifier: Apache-2.0 */
/* How many tasks each node of a step gets, and which ranks. */
#include <string.h>

#include "core/state.h"

static uint32_t node_room(const struct task_room *room, uint32_t i) {
    uint32_t tasks =
        room->overcommit ? UINT32_MAX : room->cpus[i] / max_of(room->cpus_per_task, 1u);
    return min_of(tasks, room->max_tasks[i]);
}

bool layout_tasks(uint32_t ntasks, uint32_t n_nodes, const struct task_room *room,
                  enum layout_order order, uint32_t *counts) {
    uint32_t left = ntasks;
    memset(counts, 0, n_nodes * sizeof(*counts));
    for (uint32_t i = 0; i < n_nodes && left > 0 && order != LAYOUT_PACK; i++) {
        if (node_room(room, i) > 0) {
            counts[i] = 1;
            left--;
        }
    }
    if (order != LAYOUT_EVEN && !room->overcommit) {
        for (uint32_t i = 0; i < n_nodes && left > 0; i++) {
            uint32_t more = min_of(left, node_room(room, i) - counts[i]);
            counts[i] += more;
            left -= more;
        }
        return left == 0;
    }
    for (bool placed = true; left > 0 && placed;) {
        placed = false;
        for (uint32_t i = 0; i < n_nodes && left > 0; i++) {
            if (counts[i] < node_room(room, i)) {
                counts[i]++;
                left--;
                placed = true;
            }
        }
    }
    return left == 0;
}

/* ranks[i] has room for counts[i] numbers. */
void layout_ranks(enum task_dist dist, uint32_t plane, uint32_t ntasks, uint32_t n_nodes,
                  const uint32_t *counts, uint32_t **ranks) {
    uint32_t rank = 0;
    if (dist == DIST_BLOCK || dist == DIST_ARBITRARY || dist == DIST_DEFAULT) {
        for (uint32_t i = 0; i < n_nodes; i++) {
            for (uint32_t k = 0; k < counts[i]; k++)
                ranks[i][k] = rank++;
        }
        return;
    }
    uint32_t block = dist == DIST_PLANE && plane > 0 ? plane : 1;
    uint32_t *given = xcalloc(n_nodes, sizeof(*given));
    while (rank < ntasks) {
        for (uint32_t i = 0; i < n_nodes && rank < ntasks; i++) {
            for (uint32_t k = 0; k < block && given[i] < counts[i] && rank < ntasks; k++)
                ranks[i][given[i]++] = rank++;
        }
    }
    free(given);
}
