/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the configuration to nodes, partitions and settings, at start and again at every
 * reconfiguration. What administrators changed of nodes at run time (drain, reasons) is carried
 * over; partitions become what the file says.
 */
#include <string.h>

#include "core/state.h"
#include "model/conf.h"
#include "model/conf_table.h"

/* A node that counts more of something than this has no numbers for it (scratch space, not cards).
 */
#define GRES_NUMBERED_MAX 4096

/* ---- nodes ---- */

static uint32_t gres_limited(uint64_t count) {
    return (uint32_t) min_of(count, (uint64_t) UINT32_MAX / 2);
}

static void node_gres(struct core *core, struct core_node *node, const struct conf_node *line) {
    for (size_t i = 0; line->gres != NULL && i < line->gres->n; i++) {
        const struct gres_item *item = &line->gres->items[i];
        size_t kind = gres_kind_add(core, item->name, item->type);
        for (size_t k = 0; k < i; k++) {
            const struct gres_item *before = &line->gres->items[k];
            if (str_equal_nocase(before->name, item->name))
                node->gres_first[kind] += gres_limited(before->count);
        }
        node->gres_total[kind] += gres_limited(item->count);
    }
}

static uint32_t node_cores(const struct conf_node *line) {
    uint32_t cores = line->sockets * line->cores_per_socket;
    return cores == 0 || cores > line->cpus ? line->cpus : cores;
}

static void node_config_texts(struct core *core, struct core_node *node) {
    struct str tres = STR_INIT;
    str_printf(&tres, "cpu=%u,mem=", node->rec.cpus);
    mem_print(node->rec.memory, true, &tres);
    str_printf(&tres, ",billing=%u", node->rec.cpus);
    uint64_t totals[SCHED_GRES_KINDS] = {0};
    for (size_t k = 0; k < core->n_kinds; k++)
        totals[k] = node->gres_total[k];
    gres_sums_print(core, totals, &tres);
    free(node->rec.cfg_tres);
    node->rec.cfg_tres = str_take(&tres);
}

static void node_from_line(struct core_node *node, const struct conf_node *line, uint32_t index) {
    struct node *rec = &node->rec;
    record_init(&record_node, rec);
    rec->index = index;
    string_set(&rec->name, line->name);
    string_set(&rec->hostname, line->hostname);
    string_set(&rec->address, line->address);
    rec->port = line->port;
    rec->cpus = line->cpus;
    rec->boards = line->boards;
    rec->sockets = line->sockets;
    rec->cores = line->cores_per_socket;
    rec->threads = line->threads_per_core;
    rec->memory = line->real_memory;
    rec->mem_spec = line->mem_spec_limit;
    rec->tmp_disk = line->tmp_disk;
    rec->weight = line->weight;
    string_set(&rec->features, line->features);
    string_set(&rec->active_features, line->features);
    string_set(&rec->gres, line->gres_text);
    rec->core_spec = line->core_spec_count;
    rec->state = line->state == CONF_NODE_STATE_FUTURE ? NODE_FUTURE
                 : line->state == CONF_NODE_STATE_DOWN ? NODE_DOWN
                                                       : NODE_UNKNOWN;
    rec->flags = line->state == CONF_NODE_STATE_DRAIN  ? NODE_FLAG_DRAIN
                 : line->state == CONF_NODE_STATE_FAIL ? NODE_FLAG_FAIL
                                                       : 0;
    if (line->reason != NULL)
        string_set(&rec->reason, line->reason);
    list_init(&node->dirty);
    node->n_cores = node_cores(line);
    node->cpus_per_core = max_of(line->cpus / max_of(node->n_cores, 1u), 1u);
    node->core_use = xcalloc(node->n_cores + 1, 1);
    node->effective_cpus = line->cpus;
}

void node_keep_outage(struct node *node, const struct node *old) {
    string_set(&node->problem, old->problem);
    node->next_state = old->next_state;
    node->reboot_drained = old->reboot_drained;
    node->reboot_time = old->reboot_time;
    node->out_since = old->out_since;
    node->lost_until = old->lost_until;
    node->lost_cpu_seconds = old->lost_cpu_seconds;
    node->lost_gpu_seconds = old->lost_gpu_seconds;
}

/* What was known of a node before: its state, why, and its connection. */
static void node_carry_over(struct core_node *node, struct core_node *old) {
    node->unwanted = old->unwanted;
    old->unwanted = (node_steps) {0};
    gpus_carry_over(node, old);
    node->connected = old->connected;
    node->registered = old->registered;
    node->lost_at = old->lost_at;
    node->told = take(old->told);
    node->stored = old->stored;
    node->rec.state = old->rec.state == NODE_FUTURE ? node->rec.state : old->rec.state;
    node->rec.flags = old->rec.flags;
    string_set(&node->rec.reason, old->rec.reason);
    string_set(&node->rec.reason_user, old->rec.reason_user);
    node->rec.reason_uid = old->rec.reason_uid;
    node->rec.reason_time = old->rec.reason_time;
    node->resume = take(old->resume);
    node->resume_due = old->resume_due;
    node->remind_at = old->remind_at;
    node_keep_outage(&node->rec, &old->rec);
    string_set(&node->rec.comment, old->rec.comment);
    string_set(&node->rec.extra, old->rec.extra);
    string_set(&node->rec.os, old->rec.os);
    string_set(&node->rec.arch, old->rec.arch);
    string_set(&node->rec.version, old->rec.version);
    string_set(&node->rec.boot_id, old->rec.boot_id);
    string_set(&node->rec.confinement, old->rec.confinement);
    node->rec.boot_time = old->rec.boot_time;
    node->rec.slurmd_start_time = old->rec.slurmd_start_time;
    node->rec.last_busy = old->rec.last_busy;
    node->rec.cpu_load = old->rec.cpu_load;
    node->rec.free_mem = old->rec.free_mem;
}

static void build_nodes(struct core *core, const struct conf *conf) {
    core->nodes = xcalloc(conf->n_nodes + 1, sizeof(struct core_node));
    core->n_nodes = conf->n_nodes;
    core->largest_cpus = 1;
    for (size_t i = 0; i < conf->n_nodes; i++) {
        struct core_node *node = &core->nodes[i];
        node_from_line(node, &conf->nodes[i], (uint32_t) i);
        core->largest_cpus = max_of(core->largest_cpus, node->effective_cpus);
        node_gres(core, node, &conf->nodes[i]);
        smap_put(&core->node_index, node->rec.name, (void *) (uintptr_t) (i + 1));
    }
    for (size_t i = 0; i < conf->n_nodes; i++) {
        struct core_node *node = &core->nodes[i];
        cards_make(core, node, conf, &conf->nodes[i]);
        for (size_t k = 0; k < core->n_kinds; k++) {
            if (node->gres_total[k] > 0 && node->gres_total[k] <= GRES_NUMBERED_MAX &&
                !cards_are_shared_as(node, k))
                node->gres_use[k] = xcalloc(node->gres_total[k], 1);
        }
        assign_affinity(core, node);
        node_config_texts(core, node);
    }
}

/* ---- partitions ---- */

static uint32_t unset32(uint32_t value) {
    return value == CONF_INFINITE ? UNSET32 : value;
}

static void gres_most_note(const struct core *core, struct core_partition *part,
                           const struct core_node *node, size_t kind) {
    uint64_t of_name = 0;
    for (size_t k = 0; k < core->n_kinds; k++)
        of_name += str_equal(core->kinds[k].name, core->kinds[kind].name) ? node->gres_total[k] : 0;
    part->gres_most[kind] = max_of(part->gres_most[kind], (uint64_t) node->gres_total[kind]);
    part->gres_most_of_name[kind] = max_of(part->gres_most_of_name[kind], of_name);
}

void partition_totals(struct core *core, struct core_partition *part) {
    uint64_t mem = 0, totals[SCHED_GRES_KINDS] = {0};
    memset(part->gres_most, 0, sizeof(part->gres_most));
    memset(part->gres_most_of_name, 0, sizeof(part->gres_most_of_name));
    part->rec.total_cpus = 0;
    part->rec.total_nodes = (uint32_t) part->n_nodes;
    for (size_t i = 0; i < part->n_nodes; i++) {
        const struct node *node = &core->nodes[part->nodes[i]].rec;
        part->rec.total_cpus += node->cpus;
        mem += node->memory;
        for (size_t k = 0; k < core->n_kinds; k++) {
            totals[k] += core->nodes[part->nodes[i]].gres_total[k];
            gres_most_note(core, part, &core->nodes[part->nodes[i]], k);
        }
    }
    struct str gres cleanup_str = STR_INIT;
    gres_sums_print(core, totals, &gres);
    free(part->rec.tres);
    part->rec.tres = part->n_nodes == 0
                         ? NULL
                         : tres_text(part->rec.total_cpus, mem, part->rec.total_nodes, gres.data,
                                     part->rec.total_cpus);
}

/* Not 0, which is for partitions without a line. */
static uint64_t partition_fingerprint(const struct partition *rec) {
    struct str text cleanup_str = STR_INIT;
    wire_encode(&record_partition, rec, NULL, &text);
    return hash_bytes(text.data, text.length, 0) | 1;
}

/* DefCpuPerGPU and DefMemPerGPU, which may stand on their own or in JobDefaults. */
static void job_defaults_set(struct partition *rec, const struct conf_partition *line) {
    struct str text cleanup_str = STR_INIT;
    if (line->def_cpu_per_gpu != CONF_UNSET)
        str_printf(&text, "DefCpuPerGPU=%llu", (unsigned long long) line->def_cpu_per_gpu);
    if (line->def_mem_per_gpu != CONF_UNSET)
        str_printf(&text, "%sDefMemPerGPU=%llu", text.length > 0 ? "," : "",
                   (unsigned long long) line->def_mem_per_gpu);
    string_set(&rec->job_defaults, text.length > 0 ? text.data : NULL);
}

static void partition_from_line(struct core *core, struct core_partition *part,
                                const struct conf_partition *line, uint32_t index) {
    struct partition *rec = &part->rec;
    struct str share cleanup_str = STR_INIT;
    record_init(&record_partition, rec);
    list_init(&part->dirty);
    string_set(&rec->name, line->name);
    string_set(&rec->nodes, line->nodes_text);
    string_set(&rec->node_sets, line->node_sets);
    string_set(&rec->state, conf_word_name(&conf_vocabulary_PART_STATE, line->state));
    rec->is_default = line->is_default;
    rec->max_time = line->max_time;
    rec->default_time = line->default_time;
    rec->max_nodes = unset32(line->max_nodes);
    rec->min_nodes = line->min_nodes;
    rec->max_cpus_per_node = unset32(line->max_cpus_per_node);
    rec->max_cpus_per_socket = unset32(line->max_cpus_per_socket);
    string_set(&rec->allow_groups, line->allow_groups);
    string_set(&rec->allow_accounts, line->allow_accounts);
    string_set(&rec->deny_accounts, line->deny_accounts);
    string_set(&rec->allow_qos, line->allow_qos);
    string_set(&rec->deny_qos, line->deny_qos);
    string_set(&rec->alloc_nodes, line->alloc_nodes);
    string_set(&rec->alternate, line->alternate);
    string_set(&rec->qos, line->qos);
    rec->disable_root_jobs = line->disable_root_jobs;
    string_set(&rec->exclusive, line->exclusive == CONF_PART_EXCLUSIVE_NODE   ? "NODE"
                                : line->exclusive == CONF_PART_EXCLUSIVE_USER ? "USER"
                                                                              : "NO");
    rec->grace_time = line->grace_time;
    rec->gpu_idle_warn = line->gpu_idle_warn;
    rec->gpu_idle_time = line->gpu_idle_time;
    string_set(&rec->gpu_idle_action,
               conf_word_name(&conf_vocabulary_GPU_IDLE, line->gpu_idle_action));
    rec->hidden = line->hidden;
    rec->lln = line->lln;
    rec->priority_job_factor = line->priority_job_factor;
    rec->priority_tier = line->priority_tier;
    rec->root_only = line->root_only;
    rec->req_resv = line->req_resv;
    conf_share_print(line->oversubscribe, &share);
    string_set(&rec->oversubscribe, share.data);
    rec->over_time_limit =
        line->over_time_limit == CONF_OVER_TIME_UNSET ? UNSET32 : line->over_time_limit;
    rec->def_mem_per_cpu = conf_unset64(line->def_mem_per_cpu);
    rec->def_mem_per_node = conf_unset64(line->def_mem_per_node);
    rec->max_mem_per_cpu = conf_unset64(line->max_mem_per_cpu);
    rec->max_mem_per_node = conf_unset64(line->max_mem_per_node);
    job_defaults_set(rec, line);
    string_set(&rec->tres_billing_weights, line->tres_billing_weights);
    struct str mode cleanup_str = STR_INIT;
    /* GANG is the cluster's; a partition of its own mode has it unless it is OFF. */
    uint64_t gang = core->preempt.flags & CONF_PREEMPT_MODE_GANG;
    preempt_mode_print(line->preempt_mode == 0                       ? core->preempt.flags
                       : line->preempt_mode == CONF_PREEMPT_MODE_OFF ? line->preempt_mode
                                                                     : line->preempt_mode | gang,
                       &mode);
    string_set(&rec->preempt_mode, mode.data);
    rec->config = partition_fingerprint(rec);
    rec->index = index;
    partition_derive(part);
    part->nodes = xcalloc(core->n_nodes + 1, sizeof(uint32_t));
    bits_each (&line->nodes, i)
        part->nodes[part->n_nodes++] = (uint32_t) i;
    partition_totals(core, part);
}

void node_partitions(struct core *core) {
    for (size_t i = 0; i < core->n_nodes; i++)
        strs_done(&core->nodes[i].rec.partitions);
    for (size_t p = 0; p < core->n_partitions; p++) {
        struct core_partition *part = &core->partitions[p];
        for (size_t i = 0; i < part->n_nodes; i++)
            strs_push(&core->nodes[part->nodes[i]].rec.partitions, part->rec.name);
    }
}

/* ---- replacing one cluster by another ---- */

static void free_cluster(struct core_node *nodes, size_t n_nodes, struct core_partition *partitions,
                         size_t n_partitions) {
    for (size_t i = 0; i < n_nodes; i++) {
        record_done(&record_node, &nodes[i].rec);
        resume_forget(&nodes[i]);
        free(nodes[i].told);
        vec_done(&nodes[i].unwanted);
        vec_done(&nodes[i].jobs);
        gpus_free(&nodes[i]);
        free(nodes[i].core_use);
        free(nodes[i].cards);
        for (size_t k = 0; k < SCHED_GRES_KINDS; k++) {
            free(nodes[i].gres_use[k]);
            affinity_free(nodes[i].affinity[k]);
        }
    }
    for (size_t p = 0; p < n_partitions; p++) {
        record_done(&record_partition, &partitions[p].rec);
        free(partitions[p].nodes);
    }
    free(nodes);
    free(partitions);
}

static void forget_cluster_names(struct core *core) {
    resources_forget(core);
    smap_done(&core->node_index);
    core->node_index = (struct smap) SMAP_INIT;
}

void cluster_free(struct core *core) {
    free_cluster(core->nodes, core->n_nodes, core->partitions, core->n_partitions);
    core->nodes = NULL;
    core->partitions = NULL;
    core->n_nodes = core->n_partitions = 0;
    forget_cluster_names(core);
    free(core->settings.cluster);
    core->settings.cluster = NULL;
    priority_settings_free(core);
}

static void carry_over_nodes(struct core *core, struct core_node *old, size_t n_old) {
    for (size_t i = 0; i < n_old; i++) {
        bool dirty = !list_is_empty(&old[i].dirty);
        heap_remove(&core->node_timers, &old[i].timer);
        list_remove(&old[i].dirty);
        uint32_t index = core_node_find(core, old[i].rec.name);
        if (index == UINT32_MAX) {
            resume_leave(core, &old[i]);
            continue;
        }
        node_carry_over(&core->nodes[index], &old[i]);
        if (dirty)
            node_touch(core, &core->nodes[index]);
    }
}

static int node_indexes_changed(const struct core *core, const struct core_node *old,
                                size_t n_old) {
    if (n_old != core->n_nodes)
        return 1;
    for (size_t i = 0; i < n_old; i++) {
        if (!str_equal(old[i].rec.name, core->nodes[i].rec.name))
            return 1;
    }
    return 0;
}

int core_configure(struct core *core, const struct conf *conf, uint32_t admin_uid, int64_t now,
                   struct effects *out, struct error *err) {
    core->now = now;
    core->out = out;
    int r = gres_kinds_check(conf, err);
    if (r == 0)
        r = priority_settings(core, conf, err);
    if (r < 0)
        return r;
    if (core->boot_time == 0)
        core->boot_time = now;
    struct core_node *old_nodes = core->nodes;
    struct core_partition *old_partitions = core->partitions;
    size_t n_old_nodes = core->n_nodes, n_old_partitions = core->n_partitions;
    forget_cluster_names(core);
    core->conf = conf;
    settings_take(core, conf, admin_uid);
    usage_configure(core, conf);
    preempt_configure(core);
    build_nodes(core, conf);
    features_collect(core);
    core->partitions = xcalloc(conf->n_partitions + 1, sizeof(struct core_partition));
    core->n_partitions = conf->n_partitions;
    for (uint32_t p = 0; p < conf->n_partitions; p++)
        partition_from_line(core, &core->partitions[p], &conf->partitions[p], p);
    node_partitions(core);
    licenses_take(core, conf);
    carry_over_nodes(core, old_nodes, n_old_nodes);
    for (size_t p = 0; p < n_old_partitions; p++) {
        list_remove(&old_partitions[p].dirty);
        if (old_partitions[p].stored)
            emit_delete(core, STORE_PARTITION, partition_store_id(&old_partitions[p]));
    }
    if (n_old_nodes > 0 && node_indexes_changed(core, old_nodes, n_old_nodes))
        emit_log(core, EFFECT_INFO, "the list of nodes has changed");
    free_cluster(old_nodes, n_old_nodes, old_partitions, n_old_partitions);
    priorities_outdate(core);
    health_settings(core);
    sched_rebuild(core);
    if (core->restoring)
        return 0;
    trigger_note(core, TRIGGER_RECONFIG);
    capacity_tell(core);
    limits_tell(core);
    place_jobs_again(core);
    for (uint32_t i = 0; i < core->n_nodes; i++)
        node_watch(core, i);
    return 0;
}

/* ---- registration against the configuration ---- */

int node_check_registration(struct core *core, const struct core_node *node,
                            const struct node *reported, struct str *reason) {
    const struct conf_node *line = conf_node_find(core->conf, node->rec.name);
    if (line == NULL)
        return 0;
    struct gres_list gres cleanup_gres_list = GRES_LIST_INIT;
    if (reported->gres != NULL)
        (void) !gres_parse(reported->gres, &gres, NULL);
    struct conf_registration found = {
        .cpus = reported->cpus,
        .sockets = reported->sockets,
        .cores_per_socket = reported->cores,
        .threads_per_core = reported->threads,
        .real_memory = reported->memory,
        .tmp_disk = reported->tmp_disk,
        .gres = &gres,
    };
    return conf_node_registration_check(line, &found, core->settings.config_overrides,
                                        core->conf->slurmctld.node_reg_mem_percent, reason)
               ? 0
               : -ERR_NODE_CONFIG;
}
