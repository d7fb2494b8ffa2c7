/* SPDX-License-Identifier: Apache-2.0 */
/* A job as JSON: one row per key, in the order in which clients have always seen them. */
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "cli/columns_job.h"
#include "cli/json_dump.h"
#include "text/duration.h"
#include "text/hostlist.h"
#include "text/idset.h"
#include "text/tres.h"

enum json_kind {
    KIND_TEXT, /* char * */
    KIND_U32,  /* plain number */
    KIND_I32,
    KIND_BOOL,
    KIND_NUMBER32, /* wrapped; UNSET32 = unset */
    KIND_NUMBER64,
    KIND_KNOWN32, /* wrapped, always set */
    KIND_ASKED32, /* wrapped; 0 = unset */
    KIND_TIME,    /* int64_t, wrapped, always set */
    KIND_EXIT,
    KIND_ZERO, /* we have no such thing: wrapped 0, wrapped unset, 0, "", [] */
    KIND_UNSET,
    KIND_PLAIN_ZERO,
    KIND_EMPTY,
    KIND_NONE,
    KIND_CALL,
};

struct json_row {
    const char *key;
    enum json_kind kind;
    size_t offset;
    void (*call)(struct json *json, const char *key, const struct job *job,
                 const struct column_env *env);
};

#define CALL(name)                                                                                 \
    static void name(struct json *json, const char *key, const struct job *job,                    \
                     const struct column_env *env)

/* ---- keys that are computed ---- */
static void text_json(struct json *json, const char *key, const struct str *text) {
    json_text(json, key, str_cstr(text));
}

CALL(call_task_max) {
    json_number(json, key, true, false, job->array_limit);
}
CALL(call_het_ids) {
    struct str text cleanup_str = STR_INIT;
    if (job->het_job_id)
        het_ids_print(job, &text);
    text_json(json, key, &text);
}
CALL(call_task_string) {
    struct str text cleanup_str = STR_INIT;
    if (job->array_task_id == UNSET32)
        job_task_ids_print(job, 0, &text);
    text_json(json, key, &text);
}
CALL(call_batch_flag) {
    json_bool(json, key, job->kind == JOB_KIND_BATCH);
}
CALL(call_cluster) {
    json_text(json, key, job->cluster ? job->cluster : env->cluster);
}
CALL(call_core_spec) {
    json_unsigned(json, key, job->core_spec == UNSET32 ? 65534 : job->core_spec);
}
CALL(call_thread_spec) {
    json_unsigned(json, key, job->thread_spec == UNSET32 ? 32766 : job->thread_spec);
}
CALL(call_billable) {
    const char *tres = job->tres_alloc ? job->tres_alloc : job->tres_req;
    const char *billing = tres ? strstr(tres, "billing=") : NULL;
    json_object(json, key);
    json_bool(json, "set", billing != NULL);
    json_bool(json, "infinite", false);
    json_double(json, "number", billing ? strtod(billing + 8, NULL) : 0);
    json_end(json);
}
CALL(call_cpus_per_tres) {
    struct str text cleanup_str = STR_INIT;
    if (job->cpus_per_gpu)
        str_printf(&text, "gres/gpu:%u", job->cpus_per_gpu);
    text_json(json, key, &text);
}
CALL(call_memory_per_tres) {
    struct str text cleanup_str = STR_INIT;
    if (job->mem_per_gpu != UNSET64)
        str_printf(&text, "gres/gpu:%llu", (unsigned long long) job->mem_per_gpu);
    text_json(json, key, &text);
}
CALL(call_gres_detail) {
    json_array(json, key);
    for (uint32_t i = 0; i < job->allocation.n; i++) {
        if (job->allocation.items[i].gres)
            json_text(json, NULL, job->allocation.items[i].gres);
    }
    json_end(json);
}

static void node_cores(struct json *json, const struct job_node *node) {
    struct idset cores cleanup_idset = IDSET_INIT;
    json_array(json, "sockets");
    if (node->cores && idset_parse(&cores, node->cores, UINT32_MAX, NULL, NULL) == 0 && cores.n) {
        json_object(json, NULL);
        json_unsigned(json, "index", 0);
        json_array(json, "cores");
        uint32_t core = 0;
        while (idset_next(&cores, core, &core)) {
            json_object(json, NULL);
            json_unsigned(json, "index", core);
            json_array(json, "status");
            json_text(json, NULL, "ALLOCATED");
            json_end(json);
            json_end(json);
            core++;
        }
        json_end(json);
        json_end(json);
    }
    json_end(json);
}

static void resource_node(struct json *json, const struct job_node *node, uint32_t index) {
    json_object(json, NULL);
    json_unsigned(json, "index", index);
    json_text(json, "name", node->name);
    json_object(json, "cpus");
    json_unsigned(json, "count", node->cpus);
    json_unsigned(json, "used", 0);
    json_end(json);
    json_object(json, "memory");
    json_unsigned(json, "used", 0);
    json_unsigned(json, "allocated", node->mem);
    json_end(json);
    node_cores(json, node);
    json_end(json);
}

CALL(call_resources) {
    if (!job->nodes || !*job->nodes || job->state == JOB_PENDING) {
        json_null(json, key);
        return;
    }
    json_object(json, key);
    json_array(json, "select_type");
    json_text(json, NULL, "CPU");
    json_text(json, NULL, "MEMORY");
    json_end(json);
    json_object(json, "nodes");
    json_unsigned(json, "count", job->num_nodes);
    json_array(json, "select_type");
    json_text(json, NULL, job->exclusive == EXCLUSIVE_NODE ? "ONE_ROW" : "AVAILABLE");
    json_end(json);
    json_text(json, "list", job->nodes);
    json_bool(json, "whole", job->exclusive == EXCLUSIVE_NODE);
    json_array(json, "allocation");
    for (uint32_t i = 0; i < job->allocation.n; i++)
        resource_node(json, &job->allocation.items[i], i);
    json_end(json);
    json_end(json);
    json_unsigned(json, "cpus", job->num_cpus);
    json_number(json, "threads_per_core", job->threads_per_core, false, job->threads_per_core);
    json_end(json);
}
CALL(call_state) {
    json_array(json, key);
    json_text(json, NULL, names_text(&names_job_state, job->state));
    json_flag_names(json, &names_job_flag, job->flags);
    json_end(json);
}
CALL(call_mail_type) {
    json_array(json, key);
    json_flag_names(json, &names_mail_type, job->mail_type);
    json_end(json);
}
CALL(call_tasks) {
    json_number(json, key, true, false, job_task_count(job));
}
CALL(call_task_count_or_infinite) {
    uint32_t n = !strcmp(key, "tasks_per_core") ? job->ntasks_per_core : job->ntasks_per_socket;
    json_number(json, key, n > 0, n == 0, n);
}
CALL(call_min_cpus) {
    json_number(json, key, true, false, job_min_cpus(job));
}
CALL(call_disk) {
    json_number(json, key, true, false, job->tmp_disk);
}
CALL(call_cpus_per_task) {
    json_number(json, key, true, false, max_of(job->cpus_per_task, 1u));
}
CALL(call_required_switches) {
    uint32_t count;
    int64_t seconds;
    job_switches(job, &count, &seconds);
    json_unsigned(json, key, count);
}
CALL(call_hold) {
    json_bool(json, key, job->state == JOB_PENDING && job->priority == 0);
}
CALL(call_profile) {
    json_array(json, key);
    json_text(json, NULL, job->profile ? job->profile : "NOT_SET");
    json_end(json);
}
CALL(call_requeue) {
    json_bool(json, key, job->requeue != TRI_NO);
}
CALL(call_shared) {
    json_array(json, key);
    const char *word = job->exclusive == EXCLUSIVE_NODE    ? "none"
                       : job->exclusive == EXCLUSIVE_USER  ? "user"
                       : job->exclusive == EXCLUSIVE_MCS   ? "mcs"
                       : job->oversubscribe == OVERSUB_YES ? "oversubscribe"
                                                           : NULL;
    if (word)
        json_text(json, NULL, word);
    json_end(json);
}
CALL(call_reason) {
    /* The code, not the free text: that stands in state_description. */
    const char *name = names_text(&names_job_reason, job->reason);
    json_text(json, key, name ? name : "None");
}
static void path_json(struct json *json, const char *key, const struct job *job, int stream,
                      bool expand) {
    struct str text cleanup_str = STR_INIT;
    if (!(stream == 2 && !job->std_err && !expand))
        job_path_print(job, stream, expand, &text);
    text_json(json, key, &text);
}
CALL(call_std_in) {
    path_json(json, key, job, 0, false);
}
CALL(call_std_out) {
    path_json(json, key, job, 1, false);
}
CALL(call_std_err) {
    path_json(json, key, job, 2, false);
}
CALL(call_std_in_expanded) {
    path_json(json, key, job, 0, true);
}
CALL(call_std_out_expanded) {
    path_json(json, key, job, 1, true);
}
CALL(call_std_err_expanded) {
    path_json(json, key, job, 2, true);
}
CALL(call_time_min) {
    json_number(json, key, true, false, job->time_min == UNSET32 ? 0 : job->time_min);
}

/* clang-format off */
#define ROW(key, kind, member) {key, KIND_##kind, offsetof(struct job, member), NULL}
#define LACK(key, kind) {key, KIND_##kind, 0, NULL}
#define MADE(key, call) {key, KIND_CALL, 0, call}
static const struct json_row job_rows[] = {
    ROW("account", TEXT, account),
    ROW("accrue_time", TIME, accrue_time),
    ROW("admin_comment", TEXT, admin_comment),
    ROW("allocating_node", TEXT, alloc_node),
    ROW("array_job_id", KNOWN32, array_job_id),
    ROW("array_task_id", NUMBER32, array_task_id),
    MADE("array_max_tasks", call_task_max),
    MADE("array_task_string", call_task_string),
    LACK("association_id", PLAIN_ZERO),
    ROW("batch_features", TEXT, batch_features),
    MADE("batch_flag", call_batch_flag),
    ROW("batch_host", TEXT, batch_host),
    LACK("flags", NONE),
    ROW("burst_buffer", TEXT, burst_buffer),
    LACK("burst_buffer_state", EMPTY),
    MADE("cluster", call_cluster),
    LACK("cluster_features", EMPTY),
    ROW("command", TEXT, command),
    ROW("comment", TEXT, comment),
    ROW("container", TEXT, container),
    LACK("container_id", EMPTY),
    LACK("container_type", EMPTY),
    ROW("contiguous", BOOL, contiguous),
    MADE("core_spec", call_core_spec),
    MADE("thread_spec", call_thread_spec),
    ROW("cores_per_socket", ASKED32, cores_per_socket),
    MADE("billable_tres", call_billable),
    MADE("cpus_per_task", call_cpus_per_task),
    LACK("cpu_frequency_minimum", UNSET),
    LACK("cpu_frequency_maximum", UNSET),
    LACK("cpu_frequency_governor", UNSET),
    MADE("cpus_per_tres", call_cpus_per_tres),
    ROW("cron", TEXT, cron_spec),
    ROW("deadline", TIME, deadline),
    LACK("delay_boot", ZERO),
    ROW("dependency", TEXT, dependency),
    ROW("derived_exit_code", EXIT, derived_exit),
    ROW("eligible_time", TIME, eligible_time),
    ROW("end_time", TIME, end_time),
    ROW("excluded_nodes", TEXT, exc_nodes),
    ROW("exit_code", EXIT, exit_status),
    ROW("extra", TEXT, extra),
    ROW("failed_node", TEXT, failed_node),
    ROW("features", TEXT, features),
    LACK("federation_origin", EMPTY),
    LACK("federation_siblings_active", EMPTY),
    LACK("federation_siblings_viable", EMPTY),
    MADE("gres_detail", call_gres_detail),
    ROW("group_id", U32, gid),
    ROW("group_name", TEXT, group_name),
    ROW("het_job_id", KNOWN32, het_job_id),
    MADE("het_job_id_set", call_het_ids),
    ROW("het_job_offset", KNOWN32, het_offset),
    ROW("job_id", U32, job_id),
    MADE("job_resources", call_resources),
    LACK("job_size_str", NONE),
    MADE("job_state", call_state),
    ROW("last_sched_evaluation", TIME, last_sched_eval),
    ROW("licenses", TEXT, licenses),
    LACK("licenses_allocated", EMPTY),
    MADE("mail_type", call_mail_type),
    ROW("mail_user", TEXT, mail_user),
    LACK("max_cpus", ZERO),
    ROW("max_nodes", KNOWN32, max_nodes),
    ROW("mcs_label", TEXT, mcs_label),
    MADE("memory_per_tres", call_memory_per_tres),
    LACK("memory_update_delay", UNSET),
    LACK("memory_update_margin", UNSET),
    ROW("name", TEXT, name),
    ROW("network", TEXT, network),
    ROW("nodes", TEXT, nodes),
    ROW("nice", I32, nice),
    MADE("tasks_per_core", call_task_count_or_infinite),
    ROW("tasks_per_tres", KNOWN32, ntasks_per_gpu),
    ROW("tasks_per_node", KNOWN32, ntasks_per_node),
    MADE("tasks_per_socket", call_task_count_or_infinite),
    LACK("tasks_per_board", ZERO),
    ROW("cpus", KNOWN32, num_cpus),
    ROW("node_count", KNOWN32, num_nodes),
    MADE("tasks", call_tasks),
    ROW("partition", TEXT, partition),
    ROW("prefer", TEXT, prefer),
    ROW("memory_per_cpu", NUMBER64, mem_per_cpu),
    ROW("memory_per_node", NUMBER64, mem_per_node),
    MADE("minimum_cpus_per_node", call_min_cpus),
    MADE("minimum_tmp_disk_per_node", call_disk),
    ROW("preempt_time", TIME, preempt_time),
    ROW("preemptable_time", TIME, preempt_eligible),
    ROW("pre_sus_time", TIME, pre_suspend_seconds),
    MADE("hold", call_hold),
    ROW("priority", KNOWN32, priority),
    LACK("priority_by_partition", NONE),
    MADE("profile", call_profile),
    ROW("qos", TEXT, qos),
    ROW("reboot", BOOL, reboot),
    ROW("required_nodes", TEXT, req_nodes),
    MADE("required_switches", call_required_switches),
    MADE("requeue", call_requeue),
    ROW("resize_time", TIME, resize_time),
    ROW("restart_cnt", U32, restarts),
    ROW("resv_name", TEXT, reservation),
    ROW("scheduled_nodes", TEXT, sched_nodes),
    LACK("segment_size", PLAIN_ZERO),
    LACK("selinux_context", EMPTY),
    MADE("shared", call_shared),
    LACK("sockets_per_board", PLAIN_ZERO),
    ROW("sockets_per_node", ASKED32, sockets_per_node),
    ROW("start_time", TIME, start_time),
    ROW("state_description", TEXT, state_desc),
    MADE("state_reason", call_reason),
    MADE("standard_input", call_std_in),
    MADE("standard_output", call_std_out),
    MADE("standard_error", call_std_err),
    MADE("stdin_expanded", call_std_in_expanded),
    MADE("stdout_expanded", call_std_out_expanded),
    MADE("stderr_expanded", call_std_err_expanded),
    ROW("submit_time", TIME, submit_time),
    ROW("submit_line", TEXT, submit_line),
    ROW("suspend_time", TIME, suspend_time),
    ROW("system_comment", TEXT, system_comment),
    ROW("time_limit", NUMBER32, time_limit),
    MADE("time_minimum", call_time_min),
    ROW("threads_per_core", ASKED32, threads_per_core),
    ROW("tres_bind", TEXT, tres_bind),
    ROW("tres_freq", TEXT, tres_freq),
    ROW("tres_per_job", TEXT, tres_per_job),
    ROW("tres_per_node", TEXT, tres_per_node),
    ROW("tres_per_socket", TEXT, tres_per_socket),
    ROW("tres_per_task", TEXT, tres_per_task),
    ROW("tres_req_str", TEXT, tres_req),
    ROW("tres_alloc_str", TEXT, tres_alloc),
    ROW("user_id", U32, uid),
    ROW("user_name", TEXT, user_name),
    LACK("maximum_switch_wait_time", PLAIN_ZERO),
    ROW("wckey", TEXT, wckey),
    ROW("current_working_directory", TEXT, work_dir),
};
/* clang-format on */

static void row_write(struct json *json, const struct json_row *row, const struct job *job,
                      const struct column_env *env) {
    const char *at = (const char *) job + row->offset;
    uint32_t u32;
    switch (row->kind) {
    case KIND_TEXT:
        json_text(json, row->key, *(const char *const *) at);
        break;
    case KIND_U32:
        json_unsigned(json, row->key, *(const uint32_t *) at);
        break;
    case KIND_I32:
        json_signed(json, row->key, *(const int32_t *) at);
        break;
    case KIND_BOOL:
        json_bool(json, row->key, *(const bool *) at);
        break;
    case KIND_NUMBER32:
        json_number32(json, row->key, *(const uint32_t *) at);
        break;
    case KIND_NUMBER64:
        json_number64(json, row->key, *(const uint64_t *) at);
        break;
    case KIND_KNOWN32:
        json_number(json, row->key, true, false, *(const uint32_t *) at);
        break;
    case KIND_ASKED32:
        u32 = *(const uint32_t *) at;
        json_number(json, row->key, u32 != 0, false, u32);
        break;
    case KIND_TIME:
        json_number(json, row->key, true, false, (uint64_t) * (const int64_t *) at);
        break;
    case KIND_EXIT:
        json_exit(json, row->key, *(const uint32_t *) at, true);
        break;
    case KIND_ZERO:
        json_number(json, row->key, true, false, 0);
        break;
    case KIND_UNSET:
        json_number(json, row->key, false, false, 0);
        break;
    case KIND_PLAIN_ZERO:
        json_unsigned(json, row->key, 0);
        break;
    case KIND_EMPTY:
        json_text(json, row->key, NULL);
        break;
    case KIND_NONE:
        json_none(json, row->key);
        break;
    case KIND_CALL:
        row->call(json, row->key, job, env);
        break;
    }
}

void json_job(struct json *json, const struct job *job, const struct column_env *env) {
    json_object(json, NULL);
    for (size_t i = 0; i < countof(job_rows); i++)
        row_write(json, &job_rows[i], job, env);
    json_end(json);
}

void json_dump_jobs_begin(struct json_dump *dump, const char *plugin, int argc, char **argv,
                          const struct column_env *env, struct str *out) {
    json_dump_begin(dump, plugin, argc, argv, env, out);
    json_array(&dump->json, "jobs");
}

void json_dump_jobs_end(struct json_dump *dump) {
    json_end(&dump->json);
    json_number(&dump->json, "last_backfill", true, false, 0);
    json_number(&dump->json, "last_update", true, false, (uint64_t) dump->env->now);
    json_dump_end(dump);
}

void json_dump_jobs(const struct rows *jobs, const char *plugin, int argc, char **argv,
                    const struct column_env *env, struct str *out) {
    struct json_dump dump;
    json_dump_jobs_begin(&dump, plugin, argc, argv, env, out);
    for (size_t i = 0; i < jobs->n; i++) {
        json_job(&dump.json, jobs->items[i], env);
        list_output(out);
    }
    json_dump_jobs_end(&dump);
}
