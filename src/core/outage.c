/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What nodes that are out of service cost: since when, and how much of them has stood idle since.
 * What still runs on a draining node is not lost. After a configured age the log reminds of them.
 */
#include <inttypes.h>

#include "core/state.h"

static bool is_out(const struct node *rec) {
    return rec->state == NODE_DOWN ||
           (rec->state != NODE_FUTURE && (rec->flags & (NODE_FLAG_DRAIN | NODE_FLAG_FAIL)));
}

static uint32_t idle_gpus(const struct core *core, const struct core_node *node) {
    uint32_t idle = 0;
    for (size_t k = 0; k < core->n_kinds; k++) {
        if (!gres_kind_is_gpu(core, k) || node->gres_use[k] == NULL)
            continue;
        for (uint32_t i = 0; i < node->gres_total[k]; i++)
            idle += node->gres_use[k][i] == 0;
    }
    return idle;
}

void outage_count(struct core *core, uint32_t index) {
    struct core_node *node = &core->nodes[index];
    struct node *rec = &node->rec;
    if (rec->out_since == 0 || core->now <= rec->lost_until || core->restoring || core->placing)
        return;
    uint64_t seconds = (uint64_t) (core->now - rec->lost_until);
    rec->lost_until = core->now;
    rec->lost_cpu_seconds += seconds * (rec->cpus - min_of(rec->alloc_cpus, rec->cpus));
    rec->lost_gpu_seconds += seconds * idle_gpus(core, node);
    node_touch(core, node);
}

static void remind_at(struct core *core, struct core_node *node, int64_t when) {
    node->remind_at = when;
    if (core->remind_next == 0 || when < core->remind_next)
        core->remind_next = when;
}

void outage_update(struct core *core, uint32_t index) {
    struct core_node *node = &core->nodes[index];
    struct node *rec = &node->rec;
    outage_count(core, index);
    bool out = is_out(rec);
    if (out && core->settings.drain_reminder > 0 && node->remind_at == 0)
        remind_at(core, node,
                  (rec->out_since != 0 ? rec->out_since : core->now) +
                      core->settings.drain_reminder);
    if (out == (rec->out_since != 0))
        return;
    rec->out_since = rec->lost_until = out ? core->now : 0;
    rec->lost_cpu_seconds = rec->lost_gpu_seconds = 0;
    if (!out)
        node->remind_at = 0;
    node_touch(core, node);
}

static void remind(struct core *core, uint32_t index) {
    const struct node *rec = &core->nodes[index].rec;
    outage_count(core, index);
    emit_log(core, EFFECT_INFO,
             "node %s has been out of service for %" PRId64 " hours (%s, by %s); %" PRIu64
             " CPU hours and %" PRIu64
             " GPU hours have been lost. When it is mended: scontrol update nodename=%s "
             "state=resume",
             rec->name, (core->now - rec->out_since) / 3600,
             rec->reason != NULL ? rec->reason : "no reason given",
             rec->reason_user != NULL ? rec->reason_user : "nobody", rec->lost_cpu_seconds / 3600,
             rec->lost_gpu_seconds / 3600, rec->name);
}

void outages_remind(struct core *core) {
    core->remind_next = 0;
    for (uint32_t i = 0; i < core->n_nodes; i++) {
        struct core_node *node = &core->nodes[i];
        if (node->remind_at == 0)
            continue;
        if (core->settings.drain_reminder == 0) {
            node->remind_at = 0;
            continue;
        }
        if (node->remind_at > core->now) {
            remind_at(core, node, node->remind_at);
            continue;
        }
        remind(core, i);
        remind_at(core, node, core->now + core->settings.drain_reminder);
    }
}
