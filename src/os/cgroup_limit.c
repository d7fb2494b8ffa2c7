/* SPDX-License-Identifier: Apache-2.0 */
/* Limits and usage of groups, v1 and v2; see cgroup.h. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/cgroup_internal.h"

static bool is_v2(const struct cgroup *group, enum cgroup_part part) {
    return (group->tree->v2_parts & part) != 0;
}

static int set(const struct cgroup *group, enum cgroup_part part, const char *name,
               const char *value, struct error *err) {
    assert(group->parts & part);
    cleanup_free char *dir = cgroup_dir(group, part);
    int errnum = cgroup_write(dir, name, value);
    if (errnum != 0)
        return error_errno(err, errnum, "cannot set %s of control group %s to %s", name, dir,
                           value);
    return 0;
}

/* A number of bytes or of things; UINT64_MAX is "max" on v2 and -1 on v1. */
static void limit_text(uint64_t value, bool v2, char ret[32]) {
    if (value == UINT64_MAX)
        snprintf(ret, 32, "%s", v2 ? "max" : "-1");
    else
        snprintf(ret, 32, "%" PRIu64, value);
}

static uint64_t add_limits(uint64_t a, uint64_t b) {
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* v1 limits memory plus swap, which must never be below the limit of memory: the order depends on
 * whether the limit goes up or down, so the second try comes after the other limit was set. */
static int limit_memory_v1(const struct cgroup *group, const char *memory, const char *total,
                           struct error *err) {
    cleanup_free char *dir = cgroup_dir(group, CGROUP_MEMORY);
    int first = cgroup_write(dir, "memory.limit_in_bytes", memory);
    int errnum = cgroup_write(dir, "memory.memsw.limit_in_bytes", total);
    if (first != 0) {
        int r = set(group, CGROUP_MEMORY, "memory.limit_in_bytes", memory, err);
        if (r < 0)
            return r;
    }
    if (errnum == ENOENT) /* a kernel without swap accounting has no such limit */
        return 0;
    if (errnum != 0)
        return set(group, CGROUP_MEMORY, "memory.memsw.limit_in_bytes", total, err);
    return 0;
}

int cgroup_limit_memory(const struct cgroup *group, uint64_t bytes, uint64_t swap_bytes,
                        struct error *err) {
    char memory[32], swap[32];
    bool v2 = is_v2(group, CGROUP_MEMORY);
    limit_text(bytes, v2, memory);
    limit_text(v2 ? swap_bytes : add_limits(bytes, swap_bytes), v2, swap);
    if (!v2)
        return limit_memory_v1(group, memory, swap, err);
    int r = set(group, CGROUP_MEMORY, "memory.max", memory, err);
    if (r < 0)
        return r;
    cleanup_free char *dir = cgroup_dir(group, CGROUP_MEMORY);
    int errnum = cgroup_write(dir, "memory.swap.max", swap);
    if (errnum == 0 || errnum == ENOENT)
        return 0;
    return error_errno(err, errnum, "cannot limit the swap of control group %s", dir);
}

int cgroup_limit_cpus(const struct cgroup *group, const char *cpus, const char *mems,
                      struct error *err) {
    int r = set(group, CGROUP_CPUSET, "cpuset.cpus", cpus, err);
    if (r == 0 && mems)
        r = set(group, CGROUP_CPUSET, "cpuset.mems", mems, err);
    return r;
}

int cgroup_limit_pids(const struct cgroup *group, uint64_t max, struct error *err) {
    char text[32];
    limit_text(max, true, text); /* "max" on v1 as well */
    return set(group, CGROUP_PIDS, "pids.max", text, err);
}

bool cgroup_counts_swap(const struct cgroup *group) {
    if (!(group->parts & CGROUP_MEMORY))
        return false;
    cleanup_free char *dir = cgroup_dir(group, CGROUP_MEMORY);
    cleanup_free char *path =
        xasprintf("%s/%s", dir,
                  is_v2(group, CGROUP_MEMORY) ? "memory.swap.max" : "memory.memsw.limit_in_bytes");
    return access(path, F_OK) == 0;
}

int cgroup_set_swappiness(const struct cgroup *group, uint64_t value, struct error *err) {
    char text[32];
    if (is_v2(group, CGROUP_MEMORY))
        return error_set(err, ERR_NOT_SUPPORTED,
                         "control groups v2 have no swappiness of their own");
    limit_text(value, false, text);
    return set(group, CGROUP_MEMORY, "memory.swappiness", text, err);
}

int cgroup_deny_devices(const struct cgroup *group, const struct device_number *denied, size_t n,
                        struct error *err) {
    assert(group->parts & CGROUP_DEVICES);
    if (is_v2(group, CGROUP_DEVICES)) {
        cleanup_free char *dir = cgroup_dir(group, CGROUP_DEVICES);
        return n > 0 ? devices_deny(dir, denied, n, err) : 0;
    }
    for (size_t i = 0; i < n; i++) {
        char text[DEVICE_TEXT_SIZE], rule[DEVICE_TEXT_SIZE + 4];
        device_print(&denied[i], text);
        snprintf(rule, sizeof(rule), "%s rwm", text);
        int r = set(group, CGROUP_DEVICES, "devices.deny", rule, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- usage ---- */

/* The number in a file, or behind `key` in a file of "key number" lines; 0 when it is not there. */
static uint64_t get_number(const char *dir, const char *name, const char *key) {
    cleanup_str struct str text = STR_INIT;
    if (cgroup_read(dir, name, &text) != 0 || !text.data)
        return 0;
    if (!key)
        return strtoull(text.data, NULL, 10);
    size_t length = strlen(key);
    char *cursor = text.data, *line;
    while ((line = str_next_word(&cursor, "\n")))
        if (strncmp(line, key, length) == 0 && line[length] == ' ')
            return strtoull(line + length + 1, NULL, 10);
    return 0;
}

void cgroup_get_usage(const struct cgroup *group, struct cgroup_usage *ret) {
    *ret = (struct cgroup_usage) {0};
    if (group->parts & CGROUP_MEMORY) {
        cleanup_free char *dir = cgroup_dir(group, CGROUP_MEMORY);
        bool v2 = is_v2(group, CGROUP_MEMORY);
        ret->memory_peak_bytes =
            get_number(dir, v2 ? "memory.peak" : "memory.max_usage_in_bytes", NULL);
        ret->oom_kills = get_number(dir, v2 ? "memory.events" : "memory.oom_control", "oom_kill");
    }
    if (group->tree->tracks_by_v2) {
        cleanup_free char *dir = cgroup_dir(group, CGROUP_TRACK);
        ret->cpu_usec =
            get_number(dir, "cpu.stat", "usage_usec"); /* without the cpu controller, too */
    }
}
