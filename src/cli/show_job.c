/* SPDX-License-Identifier: Apache-2.0 */
/* scontrol show job, show step: the layout of release 26.05. Each function prints lines that belong
 * together; their order is what users' scripts rely on. */
#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/columns_job.h"
#include "cli/show.h"
#include "text/duration.h"
#include "text/hostlist.h"
#include "text/size.h"
#include "text/tres.h"

/* ---- pieces ---- */
void show_line(const struct show_options *options, struct str *out) {
    str_append(out, options->oneline ? " " : "\n   ");
}

void show_end(const struct show_options *options, struct str *out) {
    str_append(out, options->oneline ? "\n" : "\n\n");
}

static void key_begin(const char *key, struct str *out) {
    if (out->length && out->data[out->length - 1] != ' ' && out->data[out->length - 1] != '\n')
        str_append_char(out, ' ');
    str_append(out, key);
    str_append_char(out, '=');
}

void show_text(const char *key, const char *text, struct str *out) {
    key_begin(key, out);
    str_append(out, text ? text : "(null)");
}

void show_number(const char *key, uint64_t number, struct str *out) {
    key_begin(key, out);
    str_append_u64(out, number);
}

void show_time(const char *key, int64_t time, const char *unset, const struct show_options *options,
               struct str *out) {
    key_begin(key, out);
    column_time_print(time, unset, options->env, out);
}

/* A line of its own, only when there is something to say. */
static void show_optional(const char *key, const char *text, const struct show_options *options,
                          struct str *out) {
    if (!text || !*text)
        return;
    show_line(options, out);
    show_text(key, text, out);
}

static void count_or_star(uint32_t count, struct str *out) {
    if (count)
        str_append_u64(out, count);
    else
        str_append_char(out, '*');
}

/* ---- job ---- */
static void job_identity(const struct job *job, const struct show_options *options,
                         struct str *out) {
    show_number("JobId", job->job_id, out);
    if (job->array_job_id) {
        show_number("ArrayJobId", job->array_job_id, out);
        key_begin("ArrayTaskId", out);
        job_task_ids_print(job, options->env->bits_max, out);
        if (job->array_limit)
            show_number("ArrayTaskThrottle", job->array_limit, out);
    }
    if (job->het_job_id) {
        show_number("HetJobId", job->het_job_id, out);
        show_number("HetJobOffset", job->het_offset, out);
    }
    show_text("JobName", job->name, out);
    if (job->het_job_id) {
        show_line(options, out);
        key_begin("HetJobIdSet", out);
        het_ids_print(job, out);
    }
    show_line(options, out);
    key_begin("UserId", out);
    str_printf(out, "%s(%u)", job->user_name ? job->user_name : "", job->uid);
    key_begin("GroupId", out);
    str_printf(out, "%s(%u)", job->group_name ? job->group_name : "", job->gid);
    show_text("MCS_label", job->mcs_label ? job->mcs_label : "N/A", out);
    show_line(options, out);
    show_number("Priority", job->priority, out);
    key_begin("Nice", out);
    str_printf(out, "%d", job->nice);
    show_text("Account", job->account, out);
    show_text("QOS", job->qos, out);
    if (job->wckey && *job->wckey)
        show_text("WCKey", job->wckey, out);
}

/* Free text must stay one word. */
static void job_reason(const struct job *job, struct str *out) {
    key_begin("Reason", out);
    for (const char *at = job_reason_text(job); *at; at++)
        str_append_char(out, *at == ' ' ? '_' : *at);
}

static void job_state(const struct job *job, const struct show_options *options, struct str *out) {
    show_line(options, out);
    show_text("JobState", job_state_text(job->state, job->flags), out);
    job_reason(job, out);
    if (job->failed_node)
        show_text("FailedNode", job->failed_node, out);
    show_text("Dependency", job->dependency, out);
    show_line(options, out);
    show_number("Requeue", job->requeue != TRI_NO, out);
    show_number("Restarts", job->restarts, out);
    show_number("BatchFlag", job->kind == JOB_KIND_BATCH, out);
    show_number("Reboot", job->reboot, out);
    key_begin("ExitCode", out);
    exit_status_print(job->exit_status, out);
    if (options->details) {
        show_line(options, out);
        key_begin("DerivedExitCode", out);
        exit_status_print(job->derived_exit, out);
    }
}

static void job_times(const struct job *job, const struct show_options *options, struct str *out) {
    show_line(options, out);
    key_begin("RunTime", out);
    duration_print_long(job_run_seconds(job, options->env->now), out);
    key_begin("TimeLimit", out);
    minutes_print_long(job->time_limit, "Partition_Limit", out);
    key_begin("TimeMin", out);
    if (job->time_min == UNSET32 || job->time_min == 0)
        str_append(out, "N/A");
    else
        minutes_print_long(job->time_min, "N/A", out);
    show_line(options, out);
    show_time("SubmitTime", job->submit_time, "Unknown", options, out);
    show_time("EligibleTime", job->eligible_time, "Unknown", options, out);
    show_line(options, out);
    show_time("AccrueTime", job->accrue_time, "Unknown", options, out);
    if (job->resize_time) {
        show_line(options, out);
        show_time("ResizeTime", job->resize_time, "None", options, out);
    }
    show_line(options, out);
    show_time("StartTime", job->start_time, "Unknown", options, out);
    show_time("EndTime", job->end_time, "Unknown", options, out);
    show_time("Deadline", job->deadline, "N/A", options, out);
    if (job->cron_spec) {
        show_line(options, out);
        show_text("CronJob", "Yes", out);
        key_begin("CrontabSpec", out);
        str_printf(out, "\"%s\"", job->cron_spec);
    }
    if (job->preempt_time || job->preempt_eligible) {
        show_line(options, out);
        show_time("PreemptEligibleTime", job->preempt_eligible, "Unknown", options, out);
        show_time("PreemptTime", job->preempt_time, "None", options, out);
    }
    if (job->n_delays > 0) {
        show_line(options, out);
        show_time("ExpectedStart", job->promised_start, "Unknown", options, out);
        show_time("DelayedTo", job->delayed_to, "Unknown", options, out);
        show_time("DelayedAt", job->delay_time, "Unknown", options, out);
        show_text("DelayedBy", job->delay_cause, out);
    }
    if (job->depend_cause) {
        show_line(options, out);
        show_text("DependencyFailed", job->depend_cause, out);
    }
    if (job->gpu_keep_until || job->gpu_warned) {
        show_line(options, out);
        show_time("GpuIdleWarned", job->gpu_warned, "None", options, out);
        show_time("GpuKeepUntil", job->gpu_keep_until, "None", options, out);
    }
    show_line(options, out);
    show_time("SuspendTime", job->suspend_time, "None", options, out);
    show_number("SecsPreSuspend", (uint64_t) max_of(job->pre_suspend_seconds, (int64_t) 0), out);
    show_time("LastSchedEval", job->last_sched_eval, "Unknown", options, out);
    show_text("Scheduler", job->scheduler ? job->scheduler : "Main", out);
}

static void job_nodes(const struct job *job, const struct show_options *options, struct str *out) {
    show_line(options, out);
    show_text("Partition", job->partition, out);
    key_begin("AllocNode:Sid", out);
    str_printf(out, "%s:%u", job->alloc_node ? job->alloc_node : "", job->alloc_sid);
    show_line(options, out);
    show_text("ReqNodeList", job->req_nodes, out);
    show_text("ExcNodeList", job->exc_nodes, out);
    show_line(options, out);
    show_text("NodeList", job->nodes ? job->nodes : "", out);
    if (job->sched_nodes)
        show_text("SchedNodeList", job->sched_nodes, out);
    show_optional("BatchFeatures", job->batch_features, options, out);
    show_optional("BatchHost", job->batch_host, options, out);
}

static void job_sizes(const struct job *job, const struct show_options *options, struct str *out) {
    show_line(options, out);
    show_number("NumNodes", job->num_nodes, out);
    if (job->state == JOB_PENDING && job->max_nodes)
        str_printf(out, "-%u", job->max_nodes);
    show_number("NumCPUs", job->num_cpus, out);
    show_number("NumTasks", job_task_count(job), out);
    show_number("CPUs/Task", max_of(job->cpus_per_task, 1u), out);
    show_text("ReqB:S:C:T", "0:0:", out); /* boards and their sockets cannot be asked for */
    count_or_star(job->cores_per_socket, out);
    str_append_char(out, ':');
    count_or_star(job->threads_per_core, out);
    show_line(options, out);
    show_text("ReqTRES", job->tres_req, out);
    show_line(options, out);
    show_text("AllocTRES", job->tres_alloc, out);
    show_line(options, out);
    key_begin("Socks/Node", out);
    count_or_star(job->sockets_per_node, out);
    key_begin("NtasksPerN:B:S:C", out);
    str_printf(out, "%u:0:", job->ntasks_per_node);
    count_or_star(job->ntasks_per_socket, out);
    str_append_char(out, ':');
    count_or_star(job->ntasks_per_core, out);
    key_begin("CoreSpec", out);
    if (job->thread_spec != UNSET32)
        str_printf(out, "%uT", job->thread_spec);
    else if (job->core_spec != UNSET32)
        str_append_u64(out, job->core_spec);
    else
        str_append_char(out, '*');
}

/* "gpu:a100:3": what the nodes give, added up, without the devices' numbers. */
static void job_gres_total(const struct job *job, struct str *out) {
    struct gres_list total cleanup_gres_list = GRES_LIST_INIT;
    struct str text cleanup_str = STR_INIT;
    for (uint32_t i = 0; i < job->allocation.n; i++) {
        bool inside = false;
        const char *gres = job->allocation.items[i].gres;
        if (gres && *gres && text.length)
            str_append_char(&text, ',');
        for (const char *at = gres ? gres : ""; *at; at++) {
            inside = *at == '(' || (inside && *at != ')');
            if (!inside && *at != ')')
                str_append_char(&text, *at);
        }
    }
    if (text.length && gres_parse(str_cstr(&text), &total, NULL) == 0 && total.n)
        gres_print(&total, "", ':', out);
    else
        str_append(out, text.length ? str_cstr(&text) : "(null)");
}

static bool job_node_alike(const struct job_node *a, const struct job_node *b) {
    return str_equal(a->cores, b->cores) && str_equal(a->gres, b->gres) && a->mem == b->mem;
}

/* One line for each run of nodes that give the same. */
static void job_allocation(const struct job *job, const struct show_options *options,
                           struct str *out) {
    show_line(options, out);
    key_begin("JOB_GRES", out);
    job_gres_total(job, out);
    for (uint32_t i = 0; i < job->allocation.n;) {
        const struct job_node *node = &job->allocation.items[i];
        struct hostlist names cleanup_hostlist = HOSTLIST_INIT;
        while (i < job->allocation.n && job_node_alike(node, &job->allocation.items[i]))
            hostlist_push(&names, job->allocation.items[i++].name);
        show_line(options, out);
        str_append(out, options->oneline ? "Nodes=" : "  Nodes=");
        hostlist_fold(&names, out);
        show_text("CPU_IDs", node->cores ? node->cores : "", out);
        show_number("Mem", node->mem, out);
        show_text("GRES", node->gres ? node->gres : "", out);
    }
}

static void job_constraints(const struct job *job, const struct show_options *options,
                            struct str *out) {
    bool convert = !options->env->raw_units;
    show_line(options, out);
    show_number("MinCPUsNode", job_min_cpus(job), out);
    key_begin(job->mem_per_cpu != UNSET64 ? "MinMemoryCPU" : "MinMemoryNode", out);
    job_memory_print(job, convert, out);
    key_begin("MinTmpDiskNode", out);
    if (job->tmp_disk)
        mem_print(job->tmp_disk, convert, out);
    else
        str_append_char(out, '0');
    show_line(options, out);
    show_text("Features", job->features, out);
    show_text("DelayBoot", "00:00:00", out);
    show_optional("Prefer", job->prefer, options, out);
    show_optional("Reservation", job->reservation, options, out);
    show_line(options, out);
    show_text("OverSubscribe", job_oversubscribe_text(job), out);
    const char *exclusive = names_text(&names_exclusive, job->exclusive);
    show_text("Exclusive", exclusive ? exclusive : "NO", out);
    show_number("Contiguous", job->contiguous, out);
    show_text("Licenses", job->licenses, out);
    show_text("LicensesAlloc", NULL, out);
    show_text("Network", job->network, out);
}

/* What goes where stdout goes has no path of its own. */
static void job_path(const struct job *job, const char *key, int stream,
                     const struct show_options *options, struct str *out) {
    show_line(options, out);
    key_begin(key, out);
    if (stream != 2 || job->std_err)
        job_path_print(job, stream, true, out);
}

static void job_files(const struct job *job, const struct show_options *options, struct str *out) {
    show_line(options, out);
    show_text("Command", job->command, out);
    show_line(options, out);
    show_text("SubmitLine", job->submit_line, out);
    show_line(options, out);
    show_text("WorkDir", job->work_dir, out);
    show_optional("AdminComment", job->admin_comment, options, out);
    show_optional("SystemComment", job->system_comment, options, out);
    show_optional("Comment", job->comment, options, out);
    if (job->comment && *job->comment)
        str_append_char(out, ' '); /* scripts cut it off */
    show_optional("Extra", job->extra, options, out);
    if (job->kind != JOB_KIND_BATCH)
        return;
    job_path(job, "StdErr", 2, options, out);
    job_path(job, "StdIn", 0, options, out);
    job_path(job, "StdOut", 1, options, out);
}

static void mail_types_print(uint32_t types, struct str *out) {
    const char *separator = "";
    for (size_t i = 0; i < names_mail_type.n; i++) {
        if (!(types & names_mail_type.rows[i].value))
            continue;
        str_append(out, separator);
        str_append(out, names_mail_type.rows[i].name);
        separator = ",";
    }
}

static void job_resources(const struct job *job, const struct show_options *options,
                          struct str *out) {
    show_optional("Switches", job->switches, options, out);
    show_optional("BurstBuffer", job->burst_buffer, options, out);
    if (job->cpus_per_gpu) {
        show_line(options, out);
        key_begin("CpusPerTres", out);
        str_printf(out, "gres/gpu:%u", job->cpus_per_gpu);
    }
    if (job->mem_per_gpu != UNSET64) {
        show_line(options, out);
        key_begin("MemPerTres", out);
        str_printf(out, "gres/gpu:%llu", (unsigned long long) job->mem_per_gpu);
    }
    show_optional("TresBind", job->tres_bind, options, out);
    show_optional("TresFreq", job->tres_freq, options, out);
    show_optional("TresPerJob", job->tres_per_job, options, out);
    show_optional("TresPerNode", job->tres_per_node, options, out);
    show_optional("TresPerSocket", job->tres_per_socket, options, out);
    show_optional("TresPerTask", job->tres_per_task, options, out);
    if (!job->mail_type)
        return;
    show_line(options, out);
    show_text("MailUser", job->mail_user ? job->mail_user : job->user_name, out);
    key_begin("MailType", out);
    mail_types_print(job->mail_type, out);
}

void show_job(const struct job *job, const struct show_options *options, struct str *out) {
    job_identity(job, options, out);
    job_state(job, options, out);
    job_times(job, options, out);
    job_nodes(job, options, out);
    job_sizes(job, options, out);
    if (options->details && job->allocation.n)
        job_allocation(job, options, out);
    job_constraints(job, options, out);
    job_files(job, options, out);
    job_resources(job, options, out);
    show_end(options, out);
}

/* ---- step ---- */
void show_step(const struct step *step, const struct show_options *options, struct str *out) {
    key_begin("StepId", out);
    step_name_print(step, out);
    show_number("UserId", step->uid, out);
    show_time("StartTime", step->start_time, "Unknown", options, out);
    key_begin("TimeLimit", out);
    minutes_print_long(step->time_limit == UNSET32 ? MINUTES_INFINITE : step->time_limit,
                       "UNLIMITED", out);
    show_line(options, out);
    show_text("State", names_text(&names_job_state, step->state), out);
    show_text("Partition", step->partition, out);
    show_text("NodeList", step->nodes, out);
    show_line(options, out);
    show_number("Nodes", step->num_nodes, out);
    show_number("CPUs", step->num_cpus, out);
    show_number("Tasks", step->ntasks, out);
    show_text("Name", step->name, out);
    show_text("Network", NULL, out);
    show_line(options, out);
    show_text("TRES", step->tres_alloc, out);
    show_line(options, out);
    show_text("ResvPorts", NULL, out);
    show_line(options, out);
    show_text("CPUFreqReq", "Default", out);
    if (step->distribution != DIST_DEFAULT) {
        const char *name = names_text(&names_task_dist, step->distribution);
        key_begin("Dist", out);
        str_printf(out, "%c%s", toupper((unsigned char) *name), name + 1);
    }
    show_line(options, out);
    key_begin("SrunHost:Pid", out);
    str_printf(out, "%s:%u", step->srun_host ? step->srun_host : "(null)", step->srun_pid);
    show_end(options, out);
}
