/* SPDX-License-Identifier: Apache-2.0 */
#include "slurmstepd/confine.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/vec.h"

#define NARROW_TRIES 20 /* a millisecond apart */

struct denied_list {
    vec(struct device_number) list;
};

/* ---- making ---- */

static int parse_devices(const struct strs *texts, struct denied_list *ret, struct error *err) {
    for (uint32_t i = 0; i < texts->n; i++) {
        struct device_number device;
        if (!device_parse(texts->items[i], &device))
            return error_set(err, ERR_PROTOCOL, "slurmd's order denies \"%s\", which is no device",
                             texts->items[i]);
        vec_push(&ret->list, device);
    }
    return 0;
}

/* v1 refuses CPUs to a job while one of its steps, being made, has more for a moment. */
static int limit_cpus(const struct cgroup *group, const char *cpus, struct error *err) {
    int r = -1;
    for (int i = 0; i < NARROW_TRIES && r < 0; i++) {
        if (i > 0)
            nanosleep(&(struct timespec) {.tv_nsec = 1000000}, NULL);
        r = cgroup_limit_cpus(group, cpus, NULL, err);
    }
    return r;
}

static int set_limits(const struct cgroup *group, const struct fence *fence, struct error *err) {
    int r = 0;
    if (fence->cpus)
        r = limit_cpus(group, fence->cpus, err);
    if (r == 0 && (fence->memory != UNSET64 || fence->swap != UNSET64))
        r = cgroup_limit_memory(group, fence->memory, fence->swap, err);
    if (r == 0 && fence->swappiness != UNSET64)
        r = cgroup_set_swappiness(group, fence->swappiness, err);
    if (r == 0 && fence->pids != UNSET64)
        r = cgroup_limit_pids(group, fence->pids, err);
    return r;
}

/* The devices of the job are not told to its group: those of each step are fewer. */
static int deny_devices(const struct confine *confine, const struct fence *fence,
                        struct error *err) {
    struct denied_list denied = {0};
    int r = parse_devices(&fence->devices, &denied, err);
    if (r == 0 && denied.list.n > 0)
        r = cgroup_deny_devices(confine->step, denied.list.items, denied.list.n, err);
    vec_done(&denied.list);
    return r;
}

static bool tracks_by_v2(const struct confine *confine) {
    return cgroup_tree_v2_parts(confine->tree) & CGROUP_TRACK;
}

static int open_entries(struct confine *confine, struct error *err) {
    int fds[CGROUP_PARTS];
    int n = cgroup_entry_fds(confine->step, fds, err);
    if (n < 0)
        return n;
    int first = tracks_by_v2(confine) ? 1 : 0; /* each task has its own of these */
    if (first)
        close(fds[0]);
    for (int i = first; i < n; i++)
        confine->fds[confine->n_fds++] = fds[i];
    return 0;
}

static int make_groups(struct confine *confine, const struct step_order *order, struct error *err) {
    uint32_t parts = order->cgroup_parts;
    cleanup_free char *job = xstrndup(order->cgroup, strcspn(order->cgroup, "/"));
    int r = cgroup_make(confine->tree, order->cgroup, parts, &confine->step, err);
    if (r < 0)
        return r;
    confine->job = cgroup_handle(confine->tree, job, parts);
    confine->base = cgroup_handle(confine->tree, "", parts);
    if (!tracks_by_v2(confine)) {
        confine->tasks = cgroup_handle(confine->tree, order->cgroup, CGROUP_TRACK);
        return 0;
    }
    cleanup_free char *user = xasprintf("%s/user", order->cgroup);
    return cgroup_make(confine->tree, user, CGROUP_TRACK, &confine->tasks, err);
}

static void confine_done(struct confine *confine) {
    for (size_t i = 0; i < confine->n_fds; i++)
        close(confine->fds[i]);
    cgroup_free(confine->base);
    cgroup_free(confine->job);
    cgroup_free(confine->step);
    cgroup_free(confine->tasks);
    cgroup_tree_free(confine->tree);
    *confine = (struct confine) CONFINE_INIT;
}

int confine_open(struct confine *confine, const struct step_order *order, struct error *err) {
    static const struct fence none = {
        .memory = UNSET64, .swap = UNSET64, .swappiness = UNSET64, .pids = UNSET64};
    *confine = (struct confine) CONFINE_INIT;
    if (!order->use_cgroup)
        return 0;
    confine->tree = order->cgroup_tree ? cgroup_tree_parse(order->cgroup_tree) : NULL;
    if (!confine->tree || !order->cgroup)
        return error_set(err, ERR_PROTOCOL, "slurmd's order names no control group");
    const struct fence *step = order->step_fence ? order->step_fence : &none;
    const struct fence *job = order->job_fence ? order->job_fence : &none;
    int r = make_groups(confine, order, err);
    /* The step first: v1 wants the CPUs of a group among those of the group above it, always. */
    if (r == 0)
        r = set_limits(confine->step, step, err);
    if (r == 0)
        r = set_limits(confine->job, job, err);
    if (r == 0)
        r = deny_devices(confine, step, err);
    if (r == 0)
        r = open_entries(confine, err);
    if (r < 0 && confine->step)
        (void) confine_close(confine, false);
    if (r < 0)
        confine_done(confine);
    return r;
}

bool confine_close(struct confine *confine, bool is_orphan) {
    struct cgroup_usage counted;
    bool is_empty = false;
    if (!confine->tree)
        return true;
    if (confine->tasks && (cgroup_is_empty(confine->tasks, &is_empty, NULL) < 0 || !is_empty))
        return false;
    cgroup_get_usage(confine->step, &counted);
    if (cgroup_remove(confine->step, NULL) < 0)
        return false;
    if (confine->job)
        cgroup_remove_if_empty(confine->job);
    if (confine->base && is_orphan)
        cgroup_remove_if_empty(confine->base);
    confine_done(confine);
    confine->has_counted = true;
    confine->counted = counted;
    return true;
}

/* ---- tasks ---- */

static char *task_path(const struct confine *confine, uint32_t local_id) {
    return xasprintf("%s/task_%u", cgroup_path(confine->tasks), local_id);
}

int confine_task(struct confine *confine, uint32_t local_id, struct confine_entry *ret,
                 struct error *err) {
    struct confine_entry entry = CONFINE_ENTRY_INIT;
    if (!confine->tree) {
        *ret = entry;
        return 0;
    }
    if (tracks_by_v2(confine)) {
        cleanup_free char *path = task_path(confine, local_id);
        struct cgroup *group;
        int r = cgroup_make(confine->tree, path, CGROUP_TRACK, &group, err);
        if (r < 0)
            return r;
        r = cgroup_entry_fds(group, entry.fds, err);
        if (r > 0 && !confine->was_killed)
            entry.dir_fd = cgroup_dir_fd(group);
        cgroup_free(group);
        if (r < 0)
            return r;
        entry.n_fds = 1;
        entry.first_is_own = true;
    }
    for (size_t i = 0; i < confine->n_fds; i++)
        entry.fds[entry.n_fds++] = confine->fds[i];
    *ret = entry;
    return 0;
}

void confine_entry_done(struct confine_entry *entry) {
    if (entry->dir_fd >= 0)
        close(entry->dir_fd);
    if (entry->first_is_own)
        close(entry->fds[0]);
    *entry = (struct confine_entry) CONFINE_ENTRY_INIT;
}

/* ---- what the kernel tells ---- */

bool confine_usage(const struct confine *confine, struct cgroup_usage *ret) {
    if (confine->tree)
        cgroup_get_usage(confine->step, ret);
    else
        *ret = confine->counted;
    return confine->tree || confine->has_counted;
}
