/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the cores that the controller hands out to the processors of the machine. The controller
 * knows a node as sockets of cores, numbered block by block; the kernel numbers hardware threads as
 * the firmware likes. slurmd makes the map once from what hwloc finds, and every step gets it with
 * its order.
 */
#ifndef SLUICE_AGENT_CPU_MAP_H
#define SLUICE_AGENT_CPU_MAP_H

#include "base/bits.h"
#include "schema/schema.h"
#include "text/idset.h"

/* Core c of the node (its socket is c / cores_per_socket) has the hardware threads
 * pus[c * width … c * width + width - 1], numbers of the kernel, UNSET32 where it has fewer.
 * numa[c] is the kernel's number of its NUMA node. Without pus the node claims more than the
 * machine has: nothing can be bound. */
#define CPU_MAP_FIELDS(X)                                                                          \
    X(1, U32, sockets, 0)                                                                          \
    X(2, U32, cores_per_socket, 0)                                                                 \
    X(3, U32, cpus_per_core, 0) /* schedulable ones, as slurm.conf counts */                       \
    X(4, U32, width, 0)                                                                            \
    X(5, U32S, pus, 0)                                                                             \
    X(6, U32S, numa, 0)
RECORD_DECLARE(cpu_map, CPU_MAP_FIELDS)

/* What the machine has, in the order of its topology: thread i belongs to core core_of[i] (counted
 * from 0, ascending) and to NUMA node numa_of[i]. Borrowed. */
struct cpu_hardware {
    uint32_t n;
    const uint32_t *numbers; /* of the kernel */
    const uint32_t *core_of;
    const uint32_t *numa_of;
};
/* The map of a node that slurm.conf describes so; freed by record_done(). */
void cpu_map_make(const struct cpu_hardware *hardware, uint32_t sockets, uint32_t cores_per_socket,
                  uint32_t cpus, struct cpu_map *ret);
/* One more than the highest number of a hardware thread: the size of sets for cpu_map_add(). */
uint32_t cpu_map_size(const struct cpu_map *map);
/* Adds the hardware threads of a core to the set. */
void cpu_map_add(const struct cpu_map *map, uint32_t core, struct bits *set);
/* Those of "0-3,8", as an allocation tells them; false when it cannot be read or there is no map.
 */
bool cpu_map_cores(const struct cpu_map *map, const char *cores, struct bits *set);

#endif
