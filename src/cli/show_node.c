/* SPDX-License-Identifier: Apache-2.0 */
/* scontrol show node, show partition: the layout of release 26.05. */
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "cli/show.h"
#include "text/duration.h"

static void show_flag(const char *key, bool value, struct str *out) {
    show_text(key, value ? "YES" : "NO", out);
}

/* ---- node ---- */
static void node_hardware(const struct node *node, const struct show_options *options,
                          struct str *out) {
    show_text("NodeName", node->name, out);
    if (node->arch)
        show_text("Arch", node->arch, out);
    show_number("CoresPerSocket", node->cores, out);
    str_append_char(out, ' ');
    show_line(options, out);
    show_number("CPUAlloc", node->alloc_cpus, out);
    show_number("CPUEfctv", node->effective_cpus ? node->effective_cpus : node->cpus, out);
    show_number("CPUTot", node->cpus, out);
    show_text("CPULoad", node->cpu_load == UNSET32 ? "N/A" : "", out);
    if (node->cpu_load != UNSET32)
        str_printf(out, "%u.%02u", node->cpu_load / 100, node->cpu_load % 100);
    show_line(options, out);
    show_text("AvailableFeatures", node->features, out);
    show_line(options, out);
    show_text("ActiveFeatures", node->active_features, out);
    show_line(options, out);
    show_text("Gres", node->gres, out);
    if (options->details) {
        show_line(options, out);
        show_text("GresDrain", "N/A", out);
        show_line(options, out);
        show_text("GresUsed", node->gres_used, out);
    }
}

static void node_address(const struct node *node, const struct show_options *options,
                         struct str *out) {
    show_line(options, out);
    show_text("NodeAddr", node->address, out);
    show_text("NodeHostName", node->hostname, out);
    if (node->port && node->port != options->slurmd_port)
        show_number("Port", node->port, out);
    if (node->version)
        show_text("Version", node->version, out);
    if (node->os) {
        show_line(options, out);
        show_text("OS", node->os, out);
        str_append_char(out, ' ');
    }
    show_line(options, out);
    show_number("RealMemory", node->memory, out);
    show_number("AllocMem", node->alloc_mem, out);
    if (node->free_mem == UNSET64)
        show_text("FreeMem", "N/A", out);
    else
        show_number("FreeMem", node->free_mem, out);
    show_number("Sockets", node->sockets, out);
    show_number("Boards", max_of(node->boards, 1u), out);
    if (node->core_spec || node->mem_spec) {
        show_line(options, out);
        if (node->core_spec)
            show_number("CoreSpecCount", node->core_spec, out);
        if (node->mem_spec)
            show_number("MemSpecLimit", node->mem_spec, out);
    }
}

static void node_state(const struct node *node, const struct show_options *options,
                       struct str *out) {
    show_line(options, out);
    show_text("State", "", out);
    node_state_print_complete(node->state, node->flags, out);
    show_number("ThreadsPerCore", node->threads, out);
    show_number("TmpDisk", node->tmp_disk, out);
    show_number("Weight", node->weight, out);
    show_text("Owner", node->owner ? node->owner : "N/A", out);
    show_text("MCS_label", "N/A", out);
    if (node->next_state != NODE_UNKNOWN) {
        show_line(options, out);
        show_text("NextState", node->next_state == NODE_DOWN ? "DOWN" : "RESUME", out);
    }
    if (node->partitions.n) {
        show_line(options, out);
        show_text("Partitions", "", out);
        for (uint32_t i = 0; i < node->partitions.n; i++)
            str_printf(out, "%s%s", i ? "," : "", node->partitions.items[i]);
        str_append_char(out, ' ');
    }
    show_line(options, out);
    show_time("BootTime", node->boot_time, "None", options, out);
    show_time("SlurmdStartTime", node->slurmd_start_time, "None", options, out);
    show_line(options, out);
    show_time("LastBusyTime", node->last_busy, "Unknown", options, out);
    show_text("ResumeAfterTime", "None", out);
}

static void node_use(const struct node *node, const struct show_options *options, struct str *out) {
    show_line(options, out);
    show_text("CfgTRES", node->cfg_tres, out);
    show_line(options, out);
    show_text("AllocTRES", node->alloc_tres ? node->alloc_tres : "", out);
    show_line(options, out);
    show_text("CurrentWatts", "0", out);
    show_text("AveWatts", "0", out);
    if (node->reason && *node->reason) {
        show_line(options, out);
        show_text("Reason", node->reason, out);
        if (node->reason_time) {
            str_append(out, " [");
            if (node->reason_user)
                str_append(out, node->reason_user);
            else
                str_append_u64(out, node->reason_uid);
            str_append_char(out, '@');
            column_time_print(node->reason_time, "Unknown", options->env, out);
            str_append_char(out, ']');
        }
    }
    if (node->confinement) {
        show_line(options, out);
        show_text("Confinement", node->confinement, out);
    }
    if (node->comment) {
        show_line(options, out);
        show_text("Comment", node->comment, out);
    }
    if (node->extra) {
        show_line(options, out);
        show_text("Extra", node->extra, out);
    }
    if (node->gpu_strays) {
        show_line(options, out);
        show_text("GpuStrays", node->gpu_strays, out);
    }
    if (node->reservation) {
        show_line(options, out);
        show_text("ReservationName", node->reservation, out);
    }
}

void show_node(const struct node *node, const struct show_options *options, struct str *out) {
    node_hardware(node, options, out);
    node_address(node, options, out);
    node_state(node, options, out);
    node_use(node, options, out);
    show_end(options, out);
}

/* ---- partition ---- */
static const char *or_all(const char *list) {
    return list && *list ? list : "ALL";
}

static void show_limit(const char *key, uint32_t limit, struct str *out) {
    if (limit == UNSET32)
        show_text(key, "UNLIMITED", out);
    else
        show_number(key, limit, out);
}

static void show_minutes(const char *key, uint32_t minutes, const char *unset, struct str *out) {
    show_text(key, "", out);
    minutes_print_long(minutes, unset, out);
}

static void show_memory(const char *what, uint64_t per_cpu, uint64_t per_node, struct str *out) {
    cleanup_free char *key =
        xasprintf("%sMemPer%s", what, per_cpu != UNSET64 && per_cpu ? "CPU" : "Node");
    uint64_t memory = per_cpu != UNSET64 && per_cpu ? per_cpu : per_node;
    if (memory == UNSET64 || memory == 0)
        show_text(key, "UNLIMITED", out);
    else
        show_number(key, memory, out);
}

static void partition_access(const struct partition *part, const struct show_options *options,
                             struct str *out) {
    show_text("PartitionName", part->name, out);
    show_line(options, out);
    show_text("AllowGroups", or_all(part->allow_groups), out);
    if (part->deny_accounts)
        show_text("DenyAccounts", part->deny_accounts, out);
    else
        show_text("AllowAccounts", or_all(part->allow_accounts), out);
    if (part->deny_qos)
        show_text("DenyQos", part->deny_qos, out);
    else
        show_text("AllowQos", or_all(part->allow_qos), out);
    show_line(options, out);
    show_text("AllocNodes", or_all(part->alloc_nodes), out);
    if (part->alternate)
        show_text("Alternate", part->alternate, out);
    show_flag("Default", part->is_default, out);
    show_text("QoS", part->qos ? part->qos : "N/A", out);
    show_line(options, out);
    if (part->default_time == MINUTES_UNSET)
        show_text("DefaultTime", "NONE", out);
    else
        show_minutes("DefaultTime", part->default_time, "NONE", out);
    show_flag("DisableRootJobs", part->disable_root_jobs, out);
    show_text("Exclusive", part->exclusive ? part->exclusive : "NO", out);
    show_number("GraceTime", part->grace_time, out);
    show_flag("Hidden", part->hidden, out);
}

static void partition_limits(const struct partition *part, const struct show_options *options,
                             struct str *out) {
    show_line(options, out);
    show_limit("MaxNodes", part->max_nodes, out);
    show_minutes("MaxTime", part->max_time == MINUTES_UNSET ? MINUTES_INFINITE : part->max_time,
                 "UNLIMITED", out);
    show_number("MinNodes", part->min_nodes, out);
    show_flag("LLN", part->lln, out);
    show_limit("MaxCPUsPerNode", part->max_cpus_per_node, out);
    show_limit("MaxCPUsPerSocket", part->max_cpus_per_socket, out);
    if (part->node_sets && *part->node_sets) {
        show_line(options, out);
        show_text("NodeSets", part->node_sets, out);
    }
    show_line(options, out);
    show_text("Nodes", part->nodes, out);
    show_line(options, out);
    show_number("PriorityJobFactor", part->priority_job_factor, out);
    show_number("PriorityTier", part->priority_tier, out);
    show_flag("RootOnly", part->root_only, out);
    show_flag("ReqResv", part->req_resv, out);
    show_text("OverSubscribe", part->oversubscribe ? part->oversubscribe : "NO", out);
    show_line(options, out);
    if (part->over_time_limit == UNSET32)
        show_text("OverTimeLimit", "NONE", out);
    else if (part->over_time_limit == MINUTES_INFINITE)
        show_text("OverTimeLimit", "UNLIMITED", out);
    else
        show_number("OverTimeLimit", part->over_time_limit, out);
    show_text("PreemptMode", part->preempt_mode ? part->preempt_mode : "OFF", out);
}

void show_partition(const struct partition *part, const struct show_options *options,
                    struct str *out) {
    partition_access(part, options, out);
    partition_limits(part, options, out);
    show_line(options, out);
    show_text("State", part->state ? part->state : "UP", out);
    show_number("TotalCPUs", part->total_cpus, out);
    show_number("TotalNodes", part->total_nodes, out);
    show_text("SelectTypeParameters", part->select_parameters ? part->select_parameters : "NONE",
              out);
    show_line(options, out);
    show_text("JobDefaults", part->job_defaults, out);
    show_line(options, out);
    show_memory("Def", part->def_mem_per_cpu, part->def_mem_per_node, out);
    show_memory("Max", part->max_mem_per_cpu, part->max_mem_per_node, out);
    show_line(options, out);
    show_text("TRES", part->tres, out);
    if (part->tres_billing_weights && *part->tres_billing_weights) {
        show_line(options, out);
        show_text("TRESBillingWeights", part->tres_billing_weights, out);
    }
    if (part->gpu_idle_warn || part->gpu_idle_time) {
        show_line(options, out);
        show_number("GpuIdleWarn", part->gpu_idle_warn, out);
        show_number("GpuIdleTime", part->gpu_idle_time, out);
        show_text("GpuIdleAction", part->gpu_idle_action ? part->gpu_idle_action : "REQUEUE", out);
    }
    show_end(options, out);
}
