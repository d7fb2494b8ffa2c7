/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/cpu_map.h"

#include "base/alloc.h"

#define RECORD_ROW_cpu_map(...) RECORD_ROW(cpu_map, __VA_ARGS__)
RECORD_DEFINE(cpu_map, CPU_MAP_FIELDS)

static void u32s_of(struct u32s *ret, uint32_t n) {
    ret->items = xcalloc(n, sizeof(uint32_t));
    ret->n = n;
}

/* The node's cores are the machine's, thread for thread. */
static void map_by_core(const struct cpu_hardware *hardware, uint32_t n_cores,
                        struct cpu_map *ret) {
    cleanup_free uint32_t *count = xcalloc(n_cores, sizeof(uint32_t));
    for (uint32_t i = 0; i < hardware->n && hardware->core_of[i] < n_cores; i++) {
        uint32_t width = ++count[hardware->core_of[i]];
        ret->width = max_of(ret->width, width);
    }
    u32s_of(&ret->pus, n_cores * ret->width);
    u32s_of(&ret->numa, n_cores);
    for (uint32_t i = 0; i < ret->pus.n; i++)
        ret->pus.items[i] = UNSET32;
    for (uint32_t i = hardware->n; i-- > 0;) {
        uint32_t core = hardware->core_of[i];
        if (core >= n_cores)
            continue;
        ret->numa.items[core] = hardware->numa_of[i];
        ret->pus.items[core * ret->width + --count[core]] = hardware->numbers[i];
    }
}

/* The configuration cuts the threads into cores of its own ("CPUs=64" and no more). */
static void map_by_thread(const struct cpu_hardware *hardware, uint32_t n_cores,
                          struct cpu_map *ret) {
    ret->width = ret->cpus_per_core;
    u32s_of(&ret->pus, n_cores * ret->width);
    u32s_of(&ret->numa, n_cores);
    for (uint32_t i = 0; i < ret->pus.n; i++) {
        ret->pus.items[i] = hardware->numbers[i];
        ret->numa.items[i / ret->width] = hardware->numa_of[i];
    }
}

void cpu_map_make(const struct cpu_hardware *hardware, uint32_t sockets, uint32_t cores_per_socket,
                  uint32_t cpus, struct cpu_map *ret) {
    uint32_t n_cores = min_of(sockets * cores_per_socket, cpus);
    uint32_t real_cores = hardware->n > 0 ? hardware->core_of[hardware->n - 1] + 1 : 0;
    record_init(&record_cpu_map, ret);
    ret->sockets = sockets;
    ret->cores_per_socket = cores_per_socket;
    ret->cpus_per_core = max_of(cpus / max_of(n_cores, 1u), 1u);
    if (n_cores == 0 || (uint64_t) n_cores * ret->cpus_per_core > hardware->n)
        return;
    if (n_cores <= real_cores && (uint64_t) real_cores * ret->cpus_per_core <= hardware->n)
        map_by_core(hardware, n_cores, ret);
    else
        map_by_thread(hardware, n_cores, ret);
}

uint32_t cpu_map_size(const struct cpu_map *map) {
    uint32_t size = 0;
    for (uint32_t i = 0; i < map->pus.n; i++) {
        if (map->pus.items[i] != UNSET32)
            size = max_of(size, map->pus.items[i] + 1);
    }
    return size;
}

void cpu_map_add(const struct cpu_map *map, uint32_t core, struct bits *set) {
    for (uint32_t k = 0; k < map->width; k++) {
        size_t at = (size_t) core * map->width + k;
        if (at < map->pus.n && map->pus.items[at] < set->n)
            bits_set(set, map->pus.items[at]);
    }
}

bool cpu_map_cores(const struct cpu_map *map, const char *cores, struct bits *set) {
    struct idset ids cleanup_idset = IDSET_INIT;
    uint32_t id = 0;
    if (map->pus.n == 0 || cores == NULL ||
        idset_parse(&ids, cores, UINT32_MAX - 2, NULL, NULL) < 0)
        return false;
    for (bool more = idset_next(&ids, 0, &id); more; more = idset_next(&ids, id + 1, &id))
        cpu_map_add(map, id, set);
    return true;
}
