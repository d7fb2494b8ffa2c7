/* SPDX-License-Identifier: Apache-2.0 */
/* The binding of tasks to GPUs; see the header. */
#include "slurmstepd/gpu_bind.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "slurmstepd/bind.h"
#include "slurmstepd/job_env.h"

#define MASK_BITS 64u

/* The text behind "word:", or NULL. */
static const char *value_of(const char *bind, const char *word) {
    size_t length = strlen(word);
    return str_starts_nocase(bind, word) && bind[length] == ':' ? bind + length + 1 : NULL;
}

static size_t keep_mask(uint64_t mask, uint32_t *gpus, size_t n) {
    size_t left = 0;

    for (size_t i = 0; i < n; i++)
        if (gpus[i] < MASK_BITS && (mask >> gpus[i] & 1))
            gpus[left++] = gpus[i];
    return left > 0 ? left : n;
}

static size_t keep_map(const char *list, uint32_t local_id, uint32_t *gpus, size_t n) {
    cleanup_free char *entry = bind_list_entry(list, local_id);
    uint64_t id;

    if (!entry || !str_to_u64(entry, &id))
        return n;
    for (size_t i = 0; i < n; i++) {
        if (gpus[i] == id) {
            gpus[0] = (uint32_t) id;
            return 1;
        }
    }
    return n;
}

static size_t keep_masked(const char *list, uint32_t local_id, uint32_t *gpus, size_t n) {
    cleanup_free char *entry = bind_list_entry(list, local_id);
    char *end;

    if (!entry)
        return n;
    uint64_t mask = strtoull(entry, &end, 16);
    return *end == '\0' ? keep_mask(mask, gpus, n) : n;
}

/* `count` of them from position `first` on, round and round. */
static size_t keep_turn(uint64_t first, uint64_t count, uint32_t *gpus, size_t n) {
    if (count >= n)
        return n;
    cleanup_free bool *keep = xcalloc(n, sizeof(*keep));
    for (uint64_t i = 0; i < count; i++)
        keep[(first + i) % n] = true;
    size_t left = 0;
    for (size_t i = 0; i < n; i++)
        if (keep[i])
            gpus[left++] = gpus[i];
    return left;
}

size_t gpu_bind_pick(const char *bind, uint32_t local_id, uint32_t *gpus, size_t n) {
    const char *value;
    uint64_t count;

    if (!bind || n == 0)
        return n;
    if (str_starts_nocase(bind, "verbose,") || str_starts_nocase(bind, "quiet,"))
        bind = strchr(bind, ',') + 1;
    if ((value = value_of(bind, "per_task")) != NULL)
        return str_to_u64(value, &count) && count > 0 && count <= UINT32_MAX
                   ? keep_turn(local_id * count, count, gpus, n)
                   : n;
    if ((value = value_of(bind, "single")) != NULL)
        return str_to_u64(value, &count) && count > 0 ? keep_turn(local_id / count, 1, gpus, n) : n;
    if ((value = value_of(bind, "map_gpu")) != NULL || (value = value_of(bind, "map")) != NULL)
        return keep_map(value, local_id, gpus, n);
    if ((value = value_of(bind, "mask_gpu")) != NULL || (value = value_of(bind, "mask")) != NULL)
        return keep_masked(value, local_id, gpus, n);
    return n;
}

/* ---- closest ---- */

bool gpu_bind_is_closest(const char *bind) {
    const char *comma = bind ? strrchr(bind, ',') : NULL;

    return bind && str_equal_nocase(comma ? comma + 1 : bind, "closest");
}

/* Are its cores known, and one of them the task's? */
static bool is_near(const struct step_order *order, uint32_t gpu, const struct bits *mask) {
    struct bits near;
    bool is_known, is = false;

    if (gpu >= order->gpu_cores.n || order->gpu_cores.items[gpu][0] == '\0' || !order->cpus)
        return false;
    bits_init(&near, max_of((size_t) cpu_map_size(order->cpus), mask->n));
    is_known = cpu_map_cores(order->cpus, order->gpu_cores.items[gpu], &near);
    for (size_t i = 0; is_known && i < mask->n; i++)
        is |= bits_test(mask, i) && bits_test(&near, i);
    bits_done(&near);
    return is;
}

char *gpu_bind_closest(const struct step_order *order, const char *gres, const struct bits *mask) {
    size_t n;
    cleanup_free uint32_t *gpus = gres_gpu_indexes(gres, &n);
    uint64_t picked = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t number = order->devices_fenced            ? (uint32_t) i
                          : gpus[i] < order->gpu_numbers.n ? order->gpu_numbers.items[gpus[i]]
                                                           : gpus[i];
        if (number < MASK_BITS && is_near(order, gpus[i], mask))
            picked |= (uint64_t) 1 << number;
    }
    return picked ? xasprintf("mask_gpu:0x%llx", (unsigned long long) picked) : NULL;
}
