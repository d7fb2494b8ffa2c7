/* SPDX-License-Identifier: Apache-2.0 */
/* From what a job or a step holds of a node to the limits of its groups. Pure. */
#include <string.h>

#include "base/alloc.h"
#include "slurmd/fence.h"
#include "text/tres.h"

#define MIB (1024ull * 1024ull)
#define PAGE 4096u
/* Of the kernel's process numbers, for all jobs together; the rest is the system's. */
#define PIDS_PERCENT 80
#define PIDS_MIN 4096u /* of a job, however few CPUs it has */

/* "0-3,8": the kernel's own form. */
static void print_cpus(const struct bits *set, struct str *out) {
    for (size_t i = bits_next(set, 0); i < set->n; i = bits_next(set, i)) {
        size_t first = i;
        while (i < set->n && bits_test(set, i))
            i++;
        str_printf(out, "%s%zu", out->length > 0 ? "," : "", first);
        if (i - first > 1)
            str_printf(out, "-%zu", i - 1);
    }
}

static char *share_cpus(const struct fence_rules *rules, const struct fence_share *share,
                        struct arena *arena) {
    cleanup_str struct str text = STR_INIT;
    struct bits set;

    if (!share->cores)
        return NULL;
    bits_init(&set, cpu_map_size(rules->cpu_map));
    if (cpu_map_cores(rules->cpu_map, share->cores, &set))
        print_cpus(&set, &text);
    bits_done(&set);
    return text.length > 0 ? arena_strndup(arena, text.data, text.length) : NULL;
}

/* In bytes, whole pages. */
static uint64_t percent_of(uint64_t mib, double percent) {
    return (uint64_t) ((double) mib * percent / 100 * (double) (MIB / PAGE)) * PAGE;
}

static void share_memory(const struct fence_rules *rules, uint64_t mem, struct fence *fence) {
    const struct conf_cgroup *conf = rules->conf;
    uint64_t most = percent_of(rules->machine_mem, conf->max_ram_percent);

    if (mem == 0) { /* memory is not handed out here */
        fence->memory = conf->max_ram_percent < 100 ? most : UNSET64;
    } else {
        fence->memory = max_of(percent_of(mem, conf->allowed_ram_space), conf->min_ram_space * MIB);
        fence->memory = min_of(fence->memory, most);
    }
    if (fence->memory != UNSET64 && rules->enforced & FENCE_SWAP)
        fence->swap = min_of(percent_of(mem, conf->allowed_swap_space),
                             percent_of(rules->machine_mem, conf->max_swap_percent));
    if (rules->has_swappiness && conf->memory_swappiness != CONF_UNSET)
        fence->swappiness = conf->memory_swappiness;
}

/* A share of a card cannot be used without the card; which one it is may not be told. */
static bool is_share_of(const char *given, const char *name) {
    return str_equal_nocase(name, "gpu") && gres_is_share(given);
}

/* Does "gpu:a100:2(IDX:0,2-3),shard:1(IDX:1)" name this device? */
static bool gres_holds(const char *gres, const char *name, uint32_t index) {
    struct gres_given given;
    bool holds = false;

    for (const char *at = gres; !holds && gres_given_next(&at, &given); gres_given_done(&given)) {
        bool is_share = is_share_of(given.item.name, name);
        if (is_share || str_equal_nocase(given.item.name, name))
            holds = given.ids.n == 0 ? is_share : idset_contains(&given.ids, index);
    }
    return holds;
}

static void share_devices(const struct fence_rules *rules, const struct fence_share *share,
                          struct arena *arena, struct fence *fence) {
    fence->devices.items = arena_alloc(arena, (rules->n_devices + 1) * sizeof(char *));
    for (size_t i = 0; i < rules->n_devices; i++) {
        const struct fence_device *device = &rules->devices[i];
        if (gres_holds(share->gres, device->name, device->index))
            continue;
        char *text = arena_alloc(arena, DEVICE_TEXT_SIZE);
        device_print(&device->number, text);
        fence->devices.items[fence->devices.n++] = text;
    }
}

/* All jobs together leave the system its part, and a small job can still do something. */
static uint64_t share_pids(const struct fence_rules *rules, uint32_t cpus) {
    uint64_t all = rules->pid_max * PIDS_PERCENT / 100;
    uint64_t part = all * min_of(cpus, rules->node_cpus) / max_of(rules->node_cpus, 1u);

    return max_of(part, (uint64_t) PIDS_MIN);
}

struct fence *fence_new(const struct fence_rules *rules, const struct fence_share *share,
                        struct arena *arena) {
    struct fence *fence = arena_alloc(arena, sizeof(*fence));

    record_init(&record_fence, fence);
    if (rules->enforced & FENCE_CORES)
        fence->cpus = share_cpus(rules, share, arena);
    if (rules->enforced & FENCE_MEMORY)
        share_memory(rules, share->mem, fence);
    if (rules->enforced & FENCE_DEVICES)
        share_devices(rules, share, arena, fence);
    if (rules->enforced & FENCE_PIDS)
        fence->pids = share_pids(rules, share->cpus);
    return fence;
}
