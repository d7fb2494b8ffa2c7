/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What nodes that are out of service cost: since when, and how much of them has stood idle since.
 * What still runs on a draining node is not lost. After a configured age the log reminds of them.
 */
#include <inttypes.h>

#include "core/state.h"
#include "text/hostlist.h"

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

/* ---- to history ---- */

static const char *state_word(const struct node *rec) {
    bool silent = rec->flags & NODE_FLAG_NOT_RESPONDING;
    if (rec->state == NODE_DOWN)
        return silent ? "DOWN*" : "DOWN";
    if (rec->flags & NODE_FLAG_FAIL)
        return silent ? "FAIL*" : "FAIL";
    return silent ? "DRAIN*" : "DRAIN";
}

static void told_print(const struct node *rec, struct str *out) {
    if (is_out(rec))
        str_printf(out, "%s|%s|%s", state_word(rec), rec->reason != NULL ? rec->reason : "",
                   rec->reason_user != NULL ? rec->reason_user : "");
}

static void tres_print(const struct core *core, uint64_t cpus, uint64_t memory, uint64_t nodes,
                       const uint64_t *totals, struct str *out) {
    str_printf(out, "cpu=%" PRIu64 ",mem=%" PRIu64 ",node=%" PRIu64 ",billing=%" PRIu64, cpus,
               memory, nodes, cpus);
    gres_sums_print(core, totals, out);
}

static void write_row(struct core *core, enum history_kind kind, const struct record *record,
                      const void *row) {
    struct effect *effect = emit(core, EFFECT_HISTORY);
    effect->body = effect_encode(core, record, row);
    effect->history = (struct effect_history) {
        .submit = core->now, .start = core->now, .end = core->now, .kind = kind};
}

void outage_tell(struct core *core, struct core_node *node) {
    struct str now cleanup_str = STR_INIT, tres cleanup_str = STR_INIT;
    const struct node *rec = &node->rec;
    told_print(rec, &now);
    if (str_equal(node->told, str_cstr(&now)) || (node->told == NULL && now.length == 0))
        return;
    string_set(&node->told, str_cstr(&now));
    uint64_t totals[SCHED_GRES_KINDS] = {0};
    for (size_t k = 0; k < core->n_kinds; k++)
        totals[k] = node->gres_total[k];
    tres_print(core, rec->cpus, rec->memory, 1, totals, &tres);
    struct acct_outage outage;
    record_init(&record_acct_outage, &outage);
    outage.cluster = core->settings.cluster;
    outage.node = rec->name;
    outage.start = core->now;
    outage.up = now.length == 0;
    if (!outage.up) {
        outage.state = (char *) (uintptr_t) state_word(rec);
        outage.reason = rec->reason;
        outage.user = rec->reason_user;
        outage.tres = tres.data;
    }
    write_row(core, HISTORY_OUTAGE, &record_acct_outage, &outage);
}

void outages_restored(struct core *core) {
    for (uint32_t i = 0; i < core->n_nodes; i++) {
        struct str now cleanup_str = STR_INIT;
        told_print(&core->nodes[i].rec, &now);
        string_set(&core->nodes[i].told, str_cstr(&now));
    }
}

void capacity_tell(struct core *core) {
    struct str tres cleanup_str = STR_INIT, nodes cleanup_str = STR_INIT;
    struct hostlist names = HOSTLIST_INIT;
    uint64_t cpus = 0, memory = 0, n = 0, totals[SCHED_GRES_KINDS] = {0};
    for (uint32_t i = 0; i < core->n_nodes; i++) {
        const struct core_node *node = &core->nodes[i];
        if (node->rec.state == NODE_FUTURE)
            continue;
        n++;
        cpus += node->rec.cpus;
        memory += node->rec.memory;
        for (size_t k = 0; k < core->n_kinds; k++)
            totals[k] += node->gres_total[k];
        hostlist_push(&names, node->rec.name);
    }
    hostlist_sort(&names);
    hostlist_fold(&names, &nodes);
    hostlist_done(&names);
    tres_print(core, cpus, memory, n, totals, &tres);
    cleanup_free char *now = xasprintf("%s %s", str_cstr(&nodes), tres.data);
    if (str_equal(core->meta.capacity, now))
        return;
    string_set(&core->meta.capacity, now);
    core->meta_dirty = true;
    struct acct_capacity capacity;
    record_init(&record_acct_capacity, &capacity);
    capacity.cluster = core->settings.cluster;
    capacity.start = core->now;
    capacity.nodes = nodes.data;
    capacity.tres = tres.data;
    write_row(core, HISTORY_CAPACITY, &record_acct_capacity, &capacity);
}
