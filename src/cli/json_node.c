/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes, partitions, reservations and sinfo's groups as JSON. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "cli/columns_node.h"
#include "cli/json_dump.h"
#include "text/duration.h"
#include "text/hostlist.h"

static void json_time(struct json *json, const char *key, int64_t time) {
    json_number(json, key, true, false, time > 0 ? (uint64_t) time : 0);
}

static void json_node_state(struct json *json, const char *key, uint32_t state, uint32_t flags) {
    json_array(json, key);
    json_text(json, NULL, names_text(&names_node_state, state));
    json_flag_names(json, &names_node_flag, flags);
    json_end(json);
}

static void json_energy(struct json *json) {
    json_object(json, "energy");
    json_unsigned(json, "average_watts", 0);
    json_unsigned(json, "base_consumed_energy", 0);
    json_unsigned(json, "consumed_energy", 0);
    json_number(json, "current_watts", false, false, 0);
    json_unsigned(json, "previous_consumed_energy", 0);
    json_unsigned(json, "last_collected", 0);
    json_end(json);
}

/* The hardware: what the node has. */
static void node_hardware(struct json *json, const struct node *node, const char *cluster) {
    json_text(json, "architecture", node->arch);
    json_text(json, "burstbuffer_network_address", NULL);
    json_unsigned(json, "boards", node->boards);
    json_time(json, "boot_time", node->boot_time);
    json_text(json, "cluster_name", cluster);
    json_unsigned(json, "cores", node->cores);
    json_unsigned(json, "specialized_cores", node->core_spec);
    json_unsigned(json, "cpu_binding", 0);
    json_unsigned(json, "cpu_load", node->cpu_load == UNSET32 ? 0 : node->cpu_load);
    json_number64(json, "free_mem", node->free_mem);
    json_unsigned(json, "cpus", node->cpus);
    json_unsigned(json, "effective_cpus", node->effective_cpus);
    json_text(json, "specialized_cpus", NULL);
    json_energy(json);
    json_text(json, "extra", node->extra);
    json_words(json, "features", node->features);
    json_words(json, "active_features", node->active_features);
    json_text(json, "gpu_spec", NULL);
    json_text(json, "gres", node->gres);
    json_text(json, "gres_drained", "N/A");
    json_text(json, "gres_used", node->gres_used);
    json_text(json, "instance_id", NULL);
    json_text(json, "instance_type", NULL);
}

static void node_partitions(struct json *json, const struct node *node) {
    json_array(json, "partitions");
    for (uint32_t i = 0; i < node->partitions.n; i++)
        json_text(json, NULL, node->partitions.items[i]);
    json_end(json);
}

void json_node(struct json *json, const struct node *node, const struct column_env *env) {
    json_object(json, NULL);
    node_hardware(json, node, env->cluster);
    json_time(json, "last_busy", node->last_busy);
    json_text(json, "mcs_label", NULL);
    json_unsigned(json, "specialized_memory", node->mem_spec);
    json_text(json, "name", node->name);
    if (node->next_state != NODE_UNKNOWN)
        json_node_state(json, "next_state_after_reboot", node->next_state, 0);
    else
        json_none(json, "next_state_after_reboot");
    json_text(json, "address", node->address);
    json_text(json, "hostname", node->hostname);
    json_node_state(json, "state", node->state, node->flags);
    json_text(json, "operating_system", node->os);
    json_text(json, "owner", node->owner);
    node_partitions(json, node);
    json_unsigned(json, "port", node->port);
    json_unsigned(json, "real_memory", node->memory);
    json_unsigned(json, "res_cores_per_gpu", 0);
    json_text(json, "comment", node->comment);
    json_text(json, "reason", node->reason);
    json_time(json, "reason_changed_at", node->reason_time);
    json_text(json, "reason_set_by_user", node->reason ? node->reason_user : NULL);
    json_number(json, "resume_after", true, false, 0);
    json_text(json, "reservation", node->reservation);
    json_number(json, "suspend_time", false, false, 0);
    json_unsigned(json, "alloc_memory", node->alloc_mem);
    json_unsigned(json, "alloc_cpus", node->alloc_cpus);
    json_unsigned(json, "alloc_idle_cpus",
                  node->cpus > node->alloc_cpus ? node->cpus - node->alloc_cpus : 0);
    json_text(json, "tres_used", node->alloc_tres);
    json_double(json, "tres_weighted", 0);
    json_time(json, "slurmd_start_time", node->slurmd_start_time);
    json_unsigned(json, "sockets", node->sockets);
    json_unsigned(json, "threads", node->threads);
    json_unsigned(json, "temporary_disk", node->tmp_disk);
    json_unsigned(json, "weight", node->weight);
    json_text(json, "topology", NULL);
    json_text(json, "tres", node->cfg_tres);
    json_text(json, "version", node->version);
    json_end(json);
}

/* ---- partitions ---- */
static void json_minutes(struct json *json, const char *key, uint32_t minutes) {
    json_number(json, key, minutes != MINUTES_UNSET && minutes != MINUTES_INFINITE,
                minutes == MINUTES_INFINITE, minutes);
}

/* Counts of partitions: UNSET32 means no limit. */
static void json_limit(struct json *json, const char *key, uint32_t limit) {
    json_number(json, key, limit != UNSET32, limit == UNSET32, limit);
}

/* "FORCE:4" -> 4; "NO" -> 1. */
static uint32_t share_count(const char *text) {
    const char *colon = text ? strchr(text, ':') : NULL;
    return colon ? (uint32_t) strtoul(colon + 1, NULL, 10) : 1;
}

static void partition_defaults(struct json *json, const struct partition *partition) {
    json_object(json, "defaults");
    uint64_t memory = partition->def_mem_per_cpu != UNSET64 ? partition->def_mem_per_cpu
                                                            : partition->def_mem_per_node;
    json_unsigned(json, "memory_per_cpu", memory == UNSET64 ? 0 : memory);
    json_number64(json, "partition_memory_per_cpu", partition->def_mem_per_cpu);
    json_number64(json, "partition_memory_per_node", partition->def_mem_per_node);
    json_minutes(json, "time", partition->default_time);
    json_text(json, "job", partition->job_defaults);
    json_end(json);
}

static void partition_maximums(struct json *json, const struct partition *partition) {
    bool force = partition->oversubscribe && !strncasecmp(partition->oversubscribe, "FORCE", 5);
    uint64_t memory = partition->max_mem_per_cpu != UNSET64 ? partition->max_mem_per_cpu
                                                            : partition->max_mem_per_node;
    json_object(json, "maximums");
    json_limit(json, "cpus_per_node", partition->max_cpus_per_node);
    json_limit(json, "cpus_per_socket", partition->max_cpus_per_socket);
    json_unsigned(json, "memory_per_cpu", memory == UNSET64 ? 0 : memory);
    json_number64(json, "partition_memory_per_cpu", partition->max_mem_per_cpu);
    json_number64(json, "partition_memory_per_node", partition->max_mem_per_node);
    json_limit(json, "nodes", partition->max_nodes);
    json_unsigned(json, "shares", share_count(partition->oversubscribe));
    json_object(json, "oversubscribe");
    json_unsigned(json, "jobs", share_count(partition->oversubscribe));
    json_array(json, "flags");
    if (force)
        json_text(json, NULL, "force");
    json_end(json);
    json_end(json);
    json_minutes(json, "time", partition->max_time);
    json_minutes(json, "over_time_limit", partition->over_time_limit);
    json_end(json);
}

static void partition_flags(struct json *json, const struct partition *partition) {
    json_array(json, "flags");
    if (partition->is_default)
        json_text(json, NULL, "DEFAULT");
    if (partition->hidden)
        json_text(json, NULL, "HIDDEN");
    if (partition->disable_root_jobs)
        json_text(json, NULL, "NO_ROOT");
    if (partition->root_only)
        json_text(json, NULL, "ROOT_ONLY");
    if (partition->req_resv)
        json_text(json, NULL, "REQUIRE_RESERVATION");
    if (partition->lln)
        json_text(json, NULL, "LLN");
    if (partition->power_down_on_idle)
        json_text(json, NULL, "POWER_DOWN_IDLE");
    json_end(json);
}

/* "ALL" is no restriction, which JSON shows as an empty text. */
static void json_restriction(struct json *json, const char *key, const char *list) {
    json_text(json, key, list && strcasecmp(list, "ALL") != 0 ? list : NULL);
}

static void partition_access(struct json *json, const struct partition *partition) {
    json_object(json, "nodes");
    json_restriction(json, "allowed_allocation", partition->alloc_nodes);
    json_text(json, "configured", partition->nodes);
    json_unsigned(json, "total", partition->total_nodes);
    json_end(json);
    json_object(json, "accounts");
    json_restriction(json, "allowed", partition->allow_accounts);
    json_text(json, "deny", partition->deny_accounts);
    json_end(json);
    json_object(json, "groups");
    json_restriction(json, "allowed", partition->allow_groups);
    json_end(json);
    json_object(json, "qos");
    json_restriction(json, "allowed", partition->allow_qos);
    json_text(json, "deny", partition->deny_qos);
    json_text(json, "assigned", partition->qos);
    json_end(json);
}

void json_partition(struct json *json, const char *key, const struct partition *partition,
                    const struct column_env *env) {
    json_object(json, key);
    partition_access(json, partition);
    json_text(json, "alternate", partition->alternate);
    json_object(json, "tres");
    json_text(json, "billing_weights", partition->tres_billing_weights);
    json_text(json, "configured", partition->tres);
    json_end(json);
    json_text(json, "cluster", env->cluster);
    json_none(json, "select_type");
    json_object(json, "cpus");
    json_unsigned(json, "task_binding", 0);
    json_unsigned(json, "total", partition->total_cpus);
    json_end(json);
    partition_defaults(json, partition);
    partition_flags(json, partition);
    json_unsigned(json, "grace_time", partition->grace_time);
    partition_maximums(json, partition);
    json_object(json, "minimums");
    json_unsigned(json, "nodes", partition->min_nodes);
    json_end(json);
    json_text(json, "name", partition->name);
    json_text(json, "node_sets", partition->node_sets);
    json_words(json, "preempt_mode", partition->preempt_mode);
    json_object(json, "priority");
    json_unsigned(json, "job_factor", partition->priority_job_factor);
    json_unsigned(json, "tier", partition->priority_tier);
    json_end(json);
    json_object(json, "timeouts");
    json_number(json, "resume", false, false, 0);
    json_number(json, "suspend", false, false, 0);
    json_end(json);
    json_object(json, "partition");
    json_words(json, "exclusive", partition->exclusive);
    json_text(json, "oversubscribe", partition->oversubscribe);
    json_words(json, "state", partition->state);
    json_end(json);
    json_text(json, "topology", NULL);
    json_number(json, "suspend_time", false, false, 0);
    json_end(json);
}

/* ---- sinfo ---- */
static void json_span(struct json *json, const char *key, const struct span *span) {
    json_object(json, key);
    json_unsigned(json, "minimum", span->low);
    json_unsigned(json, "maximum", span->high);
    json_end(json);
}

static void json_hosts(struct json *json, const char *key, const struct node_row *row,
                       size_t offset) {
    json_array(json, key);
    const char *last = NULL;
    for (size_t i = 0; i < row->nodes.n; i++) {
        const char *name = *(char *const *) ((const char *) row->nodes.items[i] + offset);
        if (name && !str_equal(name, last))
            json_text(json, NULL, name);
        last = name;
    }
    json_end(json);
}

static void row_counts(struct json *json, const struct node_row *row) {
    json_object(json, "nodes");
    json_unsigned(json, "allocated", row->nodes_alloc);
    json_unsigned(json, "idle", row->nodes_idle);
    json_unsigned(json, "other", row->nodes_other);
    json_unsigned(json, "total", row->nodes.n);
    json_hosts(json, "hostnames", row, offsetof(struct node, hostname));
    json_hosts(json, "addresses", row, offsetof(struct node, address));
    json_hosts(json, "nodes", row, offsetof(struct node, name));
    json_end(json);
    json_object(json, "cpus");
    json_unsigned(json, "allocated", row->cpus_alloc);
    json_unsigned(json, "idle", row->cpus_idle);
    json_unsigned(json, "other", row->cpus_other);
    json_unsigned(json, "total", row->cpus_alloc + row->cpus_idle + row->cpus_other);
    json_unsigned(json, "minimum", row->cpus.low);
    json_unsigned(json, "maximum", row->cpus.high);
    json_object(json, "load");
    json_number(json, "minimum", row->n_load, false, row->load.low);
    json_number(json, "maximum", row->n_load, false, row->load.high);
    json_end(json);
    json_object(json, "per_node");
    json_number(json, "max", false, true, 0);
    json_end(json);
    json_end(json);
}

static void row_memory(struct json *json, const struct node_row *row) {
    json_object(json, "memory");
    json_unsigned(json, "minimum", row->memory.low);
    json_unsigned(json, "maximum", row->memory.high);
    json_object(json, "free");
    json_number(json, "minimum", row->n_free, false, row->free_mem.low);
    json_number(json, "maximum", row->n_free, false, row->free_mem.high);
    json_end(json);
    json_unsigned(json, "allocated", row->alloc_mem.high);
    json_end(json);
}

static void json_row(struct json *json, const struct node_row *row, const struct column_env *env) {
    const struct node *node = row->nodes.n ? row->nodes.items[0] : NULL;
    json_object(json, NULL);
    json_unsigned(json, "port", node ? node->port : 0);
    json_object(json, "node");
    if (node)
        json_node_state(json, "state", node->state, node->flags);
    else
        json_none(json, "state");
    json_end(json);
    row_counts(json, row);
    json_span(json, "sockets", &row->sockets);
    json_span(json, "cores", &row->cores);
    json_span(json, "threads", &row->threads);
    json_span(json, "disk", &row->disk);
    row_memory(json, row);
    json_span(json, "weight", &row->weight);
    json_object(json, "features");
    json_text(json, "total", node ? node->features : NULL);
    json_text(json, "active", node ? node->active_features : NULL);
    json_end(json);
    json_object(json, "gres");
    json_text(json, "total", node ? node->gres : NULL);
    json_text(json, "used", node ? node->gres_used : NULL);
    json_end(json);
    json_text(json, "cluster", env->cluster);
    json_text(json, "comment", node ? node->comment : NULL);
    json_text(json, "extra", node ? node->extra : NULL);
    json_object(json, "reason");
    json_text(json, "description", node ? node->reason : NULL);
    json_time(json, "time", node ? node->reason_time : 0);
    json_end(json);
    json_text(json, "reservation", node ? node->reservation : NULL);
    json_text(json, "reason_set_by_user", node && node->reason ? node->reason_user : NULL);
    json_object(json, "resource_spec");
    json_end(json);
    json_partition(json, "partition", row->partition, env);
    json_end(json);
}

/* Nodes of one element agree in partition, state, reason, features and GRES. */
#define SINFO_GROUPING "%R%t%E%f%b%G%v"

void json_dump_sinfo(const struct rows *nodes, const struct rows *partitions, const char *plugin,
                     int argc, char **argv, const struct column_env *env, struct str *out) {
    struct format format cleanup_format = FORMAT_INIT;
    struct str unknown cleanup_str = STR_INIT;
    struct node_rows_options options = {false, false};
    struct column_env grouping_env = *env;
    struct rows rows = {NULL, 0, 0};
    struct json_dump dump;
    format_parse_letters(&format, &columns_node, SINFO_GROUPING, &unknown);
    node_rows_build(nodes, partitions, &format, &options, true, &grouping_env, &rows);
    json_dump_begin(&dump, plugin, argc, argv, env, out);
    json_array(&dump.json, "sinfo");
    for (size_t i = 0; i < rows.n; i++) {
        json_row(&dump.json, rows.items[i], env);
        list_output(out);
    }
    json_end(&dump.json);
    json_dump_end(&dump);
    node_rows_free(&rows);
}

void json_dump_nodes(const struct rows *nodes, const char *plugin, int argc, char **argv,
                     const struct column_env *env, struct str *out) {
    struct json_dump dump;
    json_dump_begin(&dump, plugin, argc, argv, env, out);
    json_array(&dump.json, "nodes");
    for (size_t i = 0; i < nodes->n; i++) {
        json_node(&dump.json, nodes->items[i], env);
        list_output(out);
    }
    json_end(&dump.json);
    json_number(&dump.json, "last_update", true, false, (uint64_t) env->now);
    json_dump_end(&dump);
}

void json_dump_partitions(const struct rows *partitions, const char *plugin, int argc, char **argv,
                          const struct column_env *env, struct str *out) {
    struct json_dump dump;
    json_dump_begin(&dump, plugin, argc, argv, env, out);
    json_array(&dump.json, "partitions");
    for (size_t i = 0; i < partitions->n; i++)
        json_partition(&dump.json, NULL, partitions->items[i], env);
    json_end(&dump.json);
    json_number(&dump.json, "last_update", true, false, (uint64_t) env->now);
    json_dump_end(&dump);
}

static void json_reservation(struct json *json, const struct reservation *r) {
    json_object(json, NULL);
    json_text(json, "accounts", r->accounts);
    json_text(json, "burst_buffer", NULL);
    json_number(json, "core_count", true, false, r->core_cnt);
    json_number(json, "end_time", true, false, (uint64_t) r->end_time);
    json_text(json, "features", r->features);
    json_array(json, "flags");
    json_flag_names(json, &names_reservation_flag, r->flags);
    json_end(json);
    json_text(json, "groups", r->groups);
    json_text(json, "licenses", r->licenses);
    json_text(json, "name", r->name);
    json_number(json, "node_count", true, false, r->node_cnt);
    json_text(json, "node_list", r->nodes);
    json_text(json, "partition", r->partition);
    json_number(json, "start_time", true, false, (uint64_t) r->start_time);
    json_text(json, "tres", r->tres);
    json_text(json, "users", r->users);
    json_end(json);
}

void json_dump_reservations(const struct rows *reservations, const char *plugin, int argc,
                            char **argv, const struct column_env *env, struct str *out) {
    struct json_dump dump;
    json_dump_begin(&dump, plugin, argc, argv, env, out);
    json_array(&dump.json, "reservations");
    for (size_t i = 0; i < reservations->n; i++)
        json_reservation(&dump.json, reservations->items[i]);
    json_end(&dump.json);
    json_number(&dump.json, "last_update", true, false, (uint64_t) env->now);
    json_dump_end(&dump);
}
