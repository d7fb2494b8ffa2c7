/* SPDX-License-Identifier: Apache-2.0 */
/* squeue's columns: one row per column, after the few functions that print what is no plain member.
 */
#include "cli/columns_job.h"

#include "base/alloc.h"
#include "text/duration.h"
#include "text/hostlist.h"
#include "text/idset.h"
#include "text/size.h"

#define DURATION_MAX (365 * 24 * 3600)

#define PRINT(name)                                                                                \
    static void name(const void *row, const void *member, struct column_env *env, struct str *out)
#define SORT(name)                                                                                 \
    static struct sort_value name(const void *row, const void *member, const struct column_env *env)

/* ---- derived values ---- */
const char *job_reason_text(const struct job *job) {
    if (job->state_desc && *job->state_desc)
        return job->state_desc;
    const char *name = names_text(&names_job_reason, job->reason);
    return name ? name : "None";
}

uint32_t job_task_count(const struct job *job) {
    if (job->ntasks_total)
        return job->ntasks_total;
    if (job->ntasks)
        return job->ntasks;
    uint32_t nodes = max_of(job->num_nodes, 1u);
    return job->ntasks_per_node ? nodes * job->ntasks_per_node : nodes;
}

uint32_t job_min_cpus(const struct job *job) {
    uint32_t per_task = max_of(job->cpus_per_task, 1u);
    uint32_t per_node = per_task * max_of(job->ntasks_per_node, 1u);
    return max_of(per_node, job->min_cpus_per_node);
}

void job_memory_print(const struct job *job, bool convert, struct str *out) {
    uint64_t memory = job->mem_per_cpu != UNSET64 ? job->mem_per_cpu : job->mem_per_node;
    if (memory == UNSET64 || memory == 0)
        str_append_char(out, '0');
    else
        mem_print(memory, convert, out);
}

bool job_task_ids_print(const struct job *job, size_t bits_max, struct str *out) {
    if (job->array_task_id != UNSET32) {
        str_append_u64(out, job->array_task_id);
        return true;
    }
    if (!job->array_tasks)
        return false;
    struct idset set cleanup_idset = IDSET_INIT;
    if (idset_parse(&set, job->array_tasks, UINT32_MAX, NULL, NULL) == 0)
        idset_print(&set, out, bits_max);
    if (job->array_limit)
        str_printf(out, "%%%u", job->array_limit);
    return true;
}

void job_path_print(const struct job *job, int stream, bool expand, struct str *out) {
    if (job->kind != JOB_KIND_BATCH)
        return;
    const char *pattern = stream == 0 ? job->std_in : stream == 2 ? job->std_err : job->std_out;
    bool is_array = job->array_task_id != UNSET32 || job->array_tasks;
    if (!pattern && stream == 2)
        pattern = job->std_out; /* stderr joins stdout */
    if (!pattern)
        pattern = stream == 0 ? "/dev/null" : is_array ? "slurm-%A_%a.out" : "slurm-%j.out";
    if (expand) {
        struct path_names names = {
            .job_id = job->job_id,
            .array_job_id = job->array_job_id,
            .array_task_id = job->array_task_id,
            .step_id = STEP_BATCH,
            .restarts = job->restarts,
            .user_name = job->user_name,
            .job_name = job->name,
            .work_dir = job->work_dir,
            .leave_node_parts = true,
        };
        output_path_expand(pattern, &names, out);
        return;
    }
    if (*pattern != '/' && job->work_dir) {
        str_append(out, job->work_dir);
        str_append_char(out, '/');
    }
    str_append(out, pattern);
}

const char *job_oversubscribe_text(const struct job *job) {
    if (job->exclusive == EXCLUSIVE_NODE || job->oversubscribe == OVERSUB_NO)
        return "NO";
    return job->oversubscribe == OVERSUB_YES ? "YES" : "OK";
}

void step_name_print(const struct step *step, struct str *out) {
    if (step->array_task_id != UNSET32 && step->array_job_id) {
        str_append_u64(out, step->array_job_id);
        str_append_char(out, '_');
        str_append_u64(out, step->array_task_id);
    } else {
        str_append_u64(out, step->job_id);
    }
    str_append_char(out, '.');
    step_id_print(step->step_id, out);
}

/* ---- printers of jobs ---- */
PRINT(print_job_id) {
    env->whole = env->bits_max == 0;
    job_id_print(row, env->bits_max, out);
}
SORT(sort_job_id) {
    const struct job *job = row;
    uint64_t base = job->array_job_id ? job->array_job_id : job->job_id;
    /* Tasks by number, the waiting rest of an array behind those that run. */
    return (struct sort_value) {base << 32 | (job->array_job_id ? job->array_task_id : 0), NULL};
}
PRINT(print_het_id) {
    const struct job *job = row;
    if (job->het_job_id)
        str_append_u64(out, job->het_job_id);
    else
        str_append(out, "N/A");
}
PRINT(print_het_ids) {
    const struct job *job = row;
    if (job->het_job_id)
        het_ids_print(job, out);
    else
        str_append(out, "N/A");
}
PRINT(print_het_offset) {
    const struct job *job = row;
    if (job->het_job_id)
        str_append_u64(out, job->het_offset);
    else
        str_append(out, "N/A");
}
PRINT(print_array_job_id) {
    const struct job *job = row;
    str_append_u64(out, job->array_job_id ? job->array_job_id : job->job_id);
}
PRINT(print_task_ids) {
    env->whole = env->bits_max == 0;
    if (!job_task_ids_print(row, env->bits_max, out))
        str_append(out, "N/A");
}
PRINT(print_state) {
    const struct job *job = row;
    str_append(out, job_state_text(job->state, job->flags));
}
PRINT(print_state_compact) {
    const struct job *job = row;
    str_append(out, job_state_compact(job->state, job->flags));
}
SORT(sort_state) {
    return (struct sort_value) {((const struct job *) row)->state, NULL};
}
PRINT(print_group) {
    const struct job *job = row;
    if (job->group_name)
        str_append(out, job->group_name);
    else
        str_append_u64(out, job->gid);
}
PRINT(print_user) {
    const struct job *job = row;
    if (job->user_name)
        str_append(out, job->user_name);
    else
        str_append_u64(out, job->uid);
}
static void print_duration(int64_t seconds, struct str *out) {
    if (seconds < 0 || seconds > DURATION_MAX)
        str_append(out, "INVALID");
    else
        duration_print_short(seconds, out);
}
PRINT(print_time_used) {
    print_duration(job_run_seconds(row, env->now), out);
}
SORT(sort_time_used) {
    return sort_signed(job_run_seconds(row, env->now));
}
PRINT(print_time_limit) {
    minutes_print_short(*(const uint32_t *) member, "NOT_SET", out);
}
static int64_t seconds_left(const struct job *job, int64_t now) {
    if (job->time_limit == MINUTES_INFINITE || job->time_limit == MINUTES_UNSET)
        return INT64_MAX;
    return (int64_t) job->time_limit * 60 - job_run_seconds(job, now);
}
PRINT(print_time_left) {
    const struct job *job = row;
    if (job->time_limit == MINUTES_INFINITE || job->time_limit == MINUTES_UNSET)
        minutes_print_short(job->time_limit, "NOT_SET", out);
    else
        print_duration(seconds_left(job, env->now), out);
}
SORT(sort_time_left) {
    return sort_signed(seconds_left(row, env->now));
}
/* What nobody knows comes last. */
SORT(sort_known_time) {
    int64_t time = *(const int64_t *) member;
    return sort_signed(time ? time : INT64_MAX);
}
/* States whose %R is the reason, not the nodes. */
static bool shows_reason(const struct job *job) {
    if (job->flags & JOB_FLAG_COMPLETING)
        return false;
    return job->state == JOB_PENDING || (job->flags & JOB_FLAG_STAGE_OUT) ||
           job->state == JOB_TIMEOUT || job->state == JOB_OUT_OF_MEMORY ||
           job->state == JOB_DEADLINE || job->state == JOB_FAILED;
}
PRINT(print_nodes_or_reason) {
    const struct job *job = row;
    if (!shows_reason(job)) {
        env->whole = true;
        str_append(out, job->nodes ? job->nodes : "");
        return;
    }
    str_append_char(out, '(');
    str_append(out, job_reason_text(job));
    str_append_char(out, ')');
}
PRINT(print_reason) {
    str_append(out, job_reason_text(row));
}
SORT(sort_reason) {
    return sort_text(job_reason_text(row));
}
PRINT(print_batch_host) {
    const struct job *job = row;
    str_append(out, job->batch_host && *job->batch_host ? job->batch_host : "n/a");
}
PRINT(print_end_time) {
    const struct job *job = row;
    bool runs = job->state == JOB_RUNNING || job->state == JOB_SUSPENDED;
    if (runs && job->time_limit == MINUTES_INFINITE)
        str_append(out, "NONE");
    else
        column_time_print(job->end_time, "N/A", env, out);
}
PRINT(print_priority_share) {
    str_printf(out, "%.14f", *(const uint32_t *) member / (double) UINT32_MAX);
}
PRINT(print_memory) {
    job_memory_print(row, !env->raw_units, out);
}
SORT(sort_memory) {
    const struct job *job = row;
    uint64_t memory = job->mem_per_cpu != UNSET64 ? job->mem_per_cpu : job->mem_per_node;
    return (struct sort_value) {memory == UNSET64 ? 0 : memory, NULL};
}
PRINT(print_min_cpus) {
    str_append_u64(out, job_min_cpus(row));
}
SORT(sort_min_cpus) {
    return (struct sort_value) {job_min_cpus(row), NULL};
}
PRINT(print_disk) {
    uint64_t disk = *(const uint64_t *) member;
    if (disk)
        mem_print(disk, !env->raw_units, out);
    else
        str_append_char(out, '0');
}
PRINT(print_oversubscribe) {
    str_append(out, job_oversubscribe_text(row));
}
PRINT(print_star_if_zero) {
    uint32_t n = *(const uint32_t *) member;
    if (n)
        str_append_u64(out, n);
    else
        str_append_char(out, '*');
}
PRINT(print_sct) {
    const struct job *job = row;
    print_star_if_zero(row, &job->sockets_per_node, env, out);
    str_append_char(out, ':');
    print_star_if_zero(row, &job->cores_per_socket, env, out);
    str_append_char(out, ':');
    print_star_if_zero(row, &job->threads_per_core, env, out);
}
PRINT(print_core_spec) {
    const struct job *job = row;
    if (job->thread_spec != UNSET32)
        str_printf(out, "%uT", job->thread_spec);
    else
        column_unset32(row, &job->core_spec, env, out);
}
SORT(sort_host) {
    /* Names with numbers of equal length sort as text; others need a key of their own. */
    return sort_text(*(const char *const *) member);
}

PRINT(print_tasks) {
    str_append_u64(out, job_task_count(row));
}
PRINT(print_exit) {
    exit_status_print(*(const uint32_t *) member, out);
}
static void print_path(const struct job *job, int stream, const struct column_env *env,
                       struct str *out) {
    const struct job_columns_data *data = env->data;
    size_t start = out->length;
    bool merged = stream == 2 && !job->std_err && !(data && data->expand_patterns);
    if (!merged)
        job_path_print(job, stream, data && data->expand_patterns, out);
    if (out->length == start)
        str_append(out, "(null)");
}
PRINT(print_std_out) {
    print_path(row, 1, env, out);
}
PRINT(print_std_err) {
    print_path(row, 2, env, out);
}
PRINT(print_std_in) {
    print_path(row, 0, env, out);
}
PRINT(print_tres_alloc) {
    const struct job *job = row;
    const char *text = job->tres_alloc ? job->tres_alloc : job->tres_req;
    str_append(out, text ? text : "N/A");
}
PRINT(print_requeue) {
    str_append_char(out, *(const uint32_t *) member == TRI_NO ? '0' : '1');
}
PRINT(print_at_least_one) {
    str_append_u64(out, max_of(*(const uint32_t *) member, 1u));
}
PRINT(print_batch_flag) {
    str_append_char(out, *(const uint32_t *) member == JOB_KIND_BATCH ? '1' : '0');
}
PRINT(print_cluster) {
    const char *cluster = *(const char *const *) member;
    if (!cluster)
        cluster = env->cluster;
    str_append(out, cluster ? cluster : "N/A");
}
PRINT(print_max_cpus) {
    str_append_u64(out, ((const struct job *) row)->num_cpus);
}
PRINT(print_time_min) {
    uint32_t minutes = *(const uint32_t *) member;
    if (minutes == UNSET32 || minutes == 0)
        str_append(out, "N/A");
    else
        minutes_print_short(minutes, "N/A", out);
}
PRINT(print_req_switch) {
    uint32_t count;
    int64_t seconds;
    job_switches(row, &count, &seconds);
    str_append_u64(out, count);
}
PRINT(print_wait_for_switch) {
    uint32_t count;
    int64_t seconds;
    job_switches(row, &count, &seconds);
    duration_print_short(seconds, out);
}
PRINT(print_pending_time) {
    const struct job *job = row;
    int64_t until = job->state == JOB_PENDING || !job->start_time ? env->now : job->start_time;
    str_append_u64(out, (uint64_t) max_of(until - job->submit_time, (int64_t) 0));
}
PRINT(print_alloc_nodes) {
    str_append(out, "N/A");
}
PRINT(print_exclusive) {
    const char *name = names_text(&names_exclusive, *(const uint32_t *) member);
    str_append(out, name ? name : "NO");
}
PRINT(print_cpus_per_tres) {
    uint32_t n = *(const uint32_t *) member;
    if (n)
        str_printf(out, "gres/gpu:%u", n);
    else
        str_append(out, "N/A");
}
PRINT(print_mem_per_tres) {
    uint64_t mib = *(const uint64_t *) member;
    if (mib == UNSET64)
        str_append(out, "N/A");
    else
        str_printf(out, "gres/gpu:%llu", (unsigned long long) mib);
}
PRINT(print_zero_time) {
    str_append(out, "00:00:00");
}
PRINT(print_na) {
    str_append(out, "N/A");
}
PRINT(print_cron) {
    const struct job *job = row;
    str_append(out, job->cron_spec ? "Yes" : "No");
}
PRINT(print_null) {
    str_append(out, "(null)");
}

#define U32_SORTED column_u32, column_sort_u32
#define TEXT_SORTED column_text, column_sort_text
#define EMPTY_SORTED column_text_or_empty, column_sort_text
#define TIME_SORTED column_time, column_sort_i64
#define UNSORTED NULL

/* clang-format off */
static const struct column job_rows[] = {
    {'i', "JobArrayID", "JOBID",
        "job_id array_job_id array_task_id array_tasks array_limit het_job_id het_offset",
        print_job_id, sort_job_id, 0, 0},
    {'A', "JobID", "JOBID", "job_id", U32_SORTED, 0, 0},
    {'F', "ArrayJobID", "ARRAY_JOB_ID", "array_job_id job_id", print_array_job_id, UNSORTED, 0, 0},
    {'K', "ArrayTaskID", "ARRAY_TASK_ID", "array_task_id array_tasks array_limit array_job_id",
        print_task_ids, UNSORTED, 0, 0},
    {'P', "Partition", "PARTITION", "partition", EMPTY_SORTED, 0, 0},
    {'j', "Name", "NAME", "name", EMPTY_SORTED, 0, 0},
    {'u', "UserName", "USER", "user_name uid", print_user, column_sort_text, 0, 0},
    {'U', "UserID", "UID", "uid", U32_SORTED, 0, 0},
    {'g', "GroupName", "GROUP", "group_name gid", print_group, column_sort_text, 0, 0},
    {'G', "GroupID", "GROUP", "gid", U32_SORTED, 0, 0},
    {'t', "StateCompact", "ST", "state flags", print_state_compact, sort_state, 0, 0},
    {'T', "State", "STATE", "state flags", print_state, sort_state, 0, 0},
    {'M', "TimeUsed", "TIME", "state start_time end_time suspend_time pre_suspend_seconds",
        print_time_used, sort_time_used, 0, 0},
    {'l', "TimeLimit", "TIME_LIMIT", "time_limit", print_time_limit, column_sort_u32, 0, 0},
    {'L', "TimeLeft", "TIME_LEFT",
        "time_limit state start_time end_time suspend_time pre_suspend_seconds",
        print_time_left, sort_time_left, 0, 0},
    {'D', "NumNodes", "NODES", "num_nodes", U32_SORTED, 0, 0},
    {'C', "NumCPUs", "CPUS", "num_cpus", U32_SORTED, 0, 0},
    {'R', "ReasonList", "NODELIST(REASON)", "nodes state flags reason state_desc",
        print_nodes_or_reason, column_sort_text, 0, COLUMN_WHOLE_HEAD},
    {'r', "Reason", "REASON", "reason state_desc", print_reason, sort_reason, 0, 0},
    {'N', "NodeList", "NODELIST", "nodes", column_text_or_empty, sort_host, 0, COLUMN_WHOLE},
    {'n', "ReqNodes", "REQ_NODES", "req_nodes", column_text_or_empty, sort_host, 0, 0},
    {'x', "ExcNodes", "EXC_NODES", "exc_nodes", column_text_or_empty, UNSORTED, 0, 0},
    {'Y', "SchedNodes", "SCHEDNODES", "sched_nodes", column_text, UNSORTED, 0, 0},
    {'B', "BatchHost", "EXEC_HOST", "batch_host", print_batch_host, sort_host, 0, 0},
    {'S', "StartTime", "START_TIME", "start_time", column_time, sort_known_time, 0, 0},
    {'e', "EndTime", "END_TIME", "end_time state time_limit", print_end_time, column_sort_i64,
        0, 0},
    {'V', "SubmitTime", "SUBMIT_TIME", "submit_time", TIME_SORTED, 0, 0},
    {'a', "Account", "ACCOUNT", "account", TEXT_SORTED, 0, 0},
    {'q', "QOS", "QOS", "qos", TEXT_SORTED, 0, 0},
    {'p', "Priority", "PRIORITY", "priority", print_priority_share, column_sort_u32, 0, 0},
    {'Q', "PriorityLong", "PRIORITY", "priority", U32_SORTED, 0, 0},
    {'y', "Nice", "NICE", "nice", column_i32, column_sort_i32, 0, 0},
    {'E', "Dependency", "DEPENDENCY", "dependency", TEXT_SORTED, 0, 0},
    {'f', "Feature", "FEATURES", "features", TEXT_SORTED, 0, 0},
    {'m', "MinMemory", "MIN_MEMORY", "mem_per_cpu mem_per_node", print_memory, sort_memory, 0, 0},
    {'c', "MinCPUs", "MIN_CPUS", "min_cpus_per_node cpus_per_task ntasks_per_node",
        print_min_cpus, sort_min_cpus, 0, 0},
    {'d', "MinTmpDisk", "MIN_TMP_DISK", "tmp_disk", print_disk, column_sort_u64, 0, 0},
    {'b', "tres-per-node", "TRES_PER_NODE", "tres_per_node", column_text_or_na, column_sort_text,
        0, 0},
    {0, "Gres", "TRES_PER_NODE", "tres_per_node", column_text_or_na, UNSORTED, 0, COLUMN_HIDDEN},
    {'k', "Comment", "COMMENT", "comment", TEXT_SORTED, 0, 0},
    {'o', "Command", "COMMAND", "command", TEXT_SORTED, 0, 0},
    {'Z', "WorkDir", "WORK_DIR", "work_dir", TEXT_SORTED, 0, 0},
    {'v', "Reservation", "RESERVATION", "reservation", TEXT_SORTED, 0, 0},
    {'w', "WCKey", "WCKEY", "wckey", TEXT_SORTED, 0, 0},
    {'W', "Licenses", "LICENSES", "licenses", TEXT_SORTED, 0, 0},
    {'h', "OverSubscribe", "OVER_SUBSCRIBE", "oversubscribe exclusive", print_oversubscribe,
        column_sort_u32, 0, 0},
    {0, "Shared", "OVER_SUBSCRIBE", "oversubscribe exclusive", print_oversubscribe, UNSORTED, 0,
        COLUMN_HIDDEN},
    {'O', "Contiguous", "CONTIGUOUS", "contiguous", column_bool, column_sort_bool, 0, 0},
    {'X', "CoreSpec", "CORE_SPEC", "core_spec thread_spec", print_core_spec, column_sort_u32, 0, 0},
    {'H', "Sockets", "SOCKETS_PER_NODE", "sockets_per_node", print_star_if_zero, column_sort_u32,
        0, 0},
    {'I', "Cores", "CORES_PER_SOCKET", "cores_per_socket", print_star_if_zero, column_sort_u32,
        0, 0},
    {'J', "Threads", "THREADS_PER_CORE", "threads_per_core", print_star_if_zero, column_sort_u32,
        0, 0},
    {'z', "SCT", "S:C:T", "sockets_per_node cores_per_socket threads_per_core", print_sct,
        column_sort_u32, 0, 0},

    {0, "AccrueTime", "ACCRUE_TIME", "accrue_time", column_time, UNSORTED, 0, 0},
    {0, "admin_comment", "ADMIN_COMMENT", "admin_comment", column_text, UNSORTED, 0, 0},
    {0, "AllocNodes", "ALLOC_NODES", "alloc_node", print_alloc_nodes, UNSORTED, 0, 0},
    {0, "AllocSID", "ALLOC_SID", "alloc_sid", column_u32, UNSORTED, 0, 0},
    {0, "AssocID", "ASSOC_ID", "job_id", print_na, UNSORTED, 0, 0},
    {0, "BatchFlag", "BATCH_FLAG", "kind", print_batch_flag, UNSORTED, 0, 0},
    {0, "BoardsPerNode", "BOARDS_PER_NODE", "job_id", print_na, UNSORTED, 0, 0},
    {0, "BurstBuffer", "BURST_BUFFER", "burst_buffer", column_text, UNSORTED, 0, 0},
    {0, "BurstBufferState", "BURST_BUFFER_STATE", "job_id", print_null, UNSORTED, 0, 0},
    {0, "Cluster", "CLUSTER", "cluster", print_cluster, UNSORTED, 0, 0},
    {0, "ClusterFeature", "CLUSTER_FEATURES", "job_id", print_null, UNSORTED, 0, 0},
    {0, "Container", "CONTAINER", "container", column_text, UNSORTED, 0, 0},
    {0, "ContainerID", "CONTAINER_ID", "job_id", print_null, UNSORTED, 0, 0},
    {0, "ContainerType", "CONTAINER_TYPE", "job_id", print_null, UNSORTED, 0, 0},
    {0, "cpus-per-task", "CPUS_PER_TASK", "cpus_per_task", print_at_least_one, UNSORTED, 0, 0},
    {0, "cpus-per-tres", "CPUS_PER_TRES", "cpus_per_gpu", print_cpus_per_tres, UNSORTED, 0, 0},
    {0, "CronJob", "CRON_JOB", "cron_spec", print_cron, UNSORTED, 0, 0},
    {0, "Deadline", "DEADLINE", "deadline", column_time, UNSORTED, 0, 0},
    {0, "DelayBoot", "DELAY_BOOT", "job_id", print_zero_time, UNSORTED, 0, 0},
    {0, "DerivedEC", "DERIVED_EC", "derived_exit", print_exit, UNSORTED, 0, 0},
    {0, "EligibleTime", "ELIGIBLE_TIME", "eligible_time", column_time, UNSORTED, 0, 0},
    {0, "Exclusive", "EXCLUSIVE", "exclusive", print_exclusive, UNSORTED, 0, 0},
    {0, "exit_code", "EXIT_CODE", "exit_status", print_exit, UNSORTED, 0, 0},
    {0, "HetJobID", "HET_JOB_ID", "het_job_id", print_het_id, UNSORTED, 0, 0},
    {0, "HetJobIDSet", "HET_JOB_ID_SET", "het_job_id het_size", print_het_ids, UNSORTED, 0, 0},
    {0, "HetJobOffset", "HET_JOB_OFFSET", "het_offset het_job_id", print_het_offset, UNSORTED, 0, 0},
    {0, "PackJobID", "HET_JOB_ID", "het_job_id", print_het_id, UNSORTED, 0, COLUMN_HIDDEN},
    {0, "PackJobIDSet", "HET_JOB_ID_SET", "het_job_id het_size", print_het_ids, UNSORTED, 0, COLUMN_HIDDEN},
    {0, "PackJobOffset", "HET_JOB_OFFSET", "het_offset het_job_id", print_het_offset, UNSORTED, 0, COLUMN_HIDDEN},
    {0, "LastSchedEval", "LAST_SCHED_EVAL", "last_sched_eval", column_time, UNSORTED, 0, 0},
    {0, "LicensesAlloc", "LICENSES_ALLOC", "job_id", print_null, UNSORTED, 0, 0},
    {0, "MaxCPUs", "MAX_CPUS", "num_cpus", print_max_cpus, UNSORTED, 0, 0},
    {0, "MaxNodes", "MAX_NODES", "max_nodes", column_u32, UNSORTED, 0, 0},
    {0, "MCSLabel", "MCSLABEL", "mcs_label", column_text_or_na, UNSORTED, 0, 0},
    {0, "mem-per-tres", "MEM_PER_TRES", "mem_per_gpu", print_mem_per_tres, UNSORTED, 0, 0},
    {0, "MinTime", "TIME_MIN", "time_min", print_time_min, UNSORTED, 0, 0},
    {0, "Network", "NETWORK", "network", column_text, UNSORTED, 0, 0},
    {0, "NTPerBoard", "NTASKS_PER_BOARD", "job_id", print_na, UNSORTED, 0, 0},
    {0, "NTPerCore", "NTASKS_PER_CORE", "ntasks_per_core", print_star_if_zero, UNSORTED, 0, 0},
    {0, "NTPerNode", "NTASKS_PER_NODE", "ntasks_per_node", column_u32, UNSORTED, 0, 0},
    {0, "NTPerSocket", "NTASKS_PER_SOCKET", "ntasks_per_socket", print_star_if_zero, UNSORTED, 0,
        0},
    {0, "NumTasks", "TASKS", "ntasks_total ntasks ntasks_per_node num_nodes", print_tasks,
        UNSORTED, 0, 0},
    {0, "Origin", "ORIGIN", "job_id", print_na, UNSORTED, 0, 0},
    {0, "OriginRaw", "ORIGIN_RAW", "job_id", print_na, UNSORTED, 0, 0},
    {0, "PendingTime", "PENDING_TIME", "state submit_time start_time", print_pending_time,
        UNSORTED, 0, 0},
    {0, "PreemptTime", "PREEMPT_TIME", "preempt_time", column_time, UNSORTED, 0, 0},
    {0, "Prefer", "PREFER", "prefer", column_text, UNSORTED, 0, 0},
    {0, "Profile", "PROFILE", "profile", column_text_or_na, UNSORTED, 0, 0},
    {0, "Reboot", "REBOOT", "reboot", column_bool, UNSORTED, 0, 0},
    {0, "ReqSwitch", "REQ_SWITCH", "switches", print_req_switch, UNSORTED, 0, 0},
    {0, "Requeue", "REQUEUE", "requeue", print_requeue, UNSORTED, 0, 0},
    {0, "ResizeTime", "RESIZE_TIME", "resize_time", column_time, UNSORTED, 0, 0},
    {0, "RestartCnt", "RESTART_COUNT", "restarts", column_u32, UNSORTED, 0, 0},
    {0, "SegmentSize", "SEGMENT_SIZE", "job_id", print_na, UNSORTED, 0, 0},
    {0, "SiblingsActive", "ACTIVE_SIBLINGS", "job_id", print_na, UNSORTED, 0, 0},
    {0, "SiblingsActiveRaw", "ACTIVE_SIBLINGS_RAW", "job_id", print_na, UNSORTED, 0, 0},
    {0, "SiblingsViable", "VIABLE_SIBLINGS", "job_id", print_na, UNSORTED, 0, 0},
    {0, "SiblingsViableRaw", "VIABLE_SIBLINGS_RAW", "job_id", print_na, UNSORTED, 0, 0},
    {0, "SPerBoard", "SOCKETS_PER_BOARD", "job_id", print_na, UNSORTED, 0, 0},
    {0, "StdErr", "STDERR", "std_err std_out kind work_dir name user_name job_id array_job_id "
        "array_task_id array_tasks restarts", print_std_err, UNSORTED, 0, 0},
    {0, "StdIn", "STDIN", "std_in kind work_dir name user_name job_id array_job_id array_task_id "
        "array_tasks restarts", print_std_in, UNSORTED, 0, 0},
    {0, "StdOut", "STDOUT", "std_out kind work_dir name user_name job_id array_job_id "
        "array_task_id array_tasks restarts", print_std_out, UNSORTED, 0, 0},
    {0, "system_comment", "SYSTEM_COMMENT", "system_comment", column_text, UNSORTED, 0, 0},
    {0, "tres-alloc", "TRES_ALLOC", "tres_alloc tres_req", print_tres_alloc, UNSORTED, 0, 0},
    {0, "tres-bind", "TRES_BIND", "tres_bind", column_text_or_na, UNSORTED, 0, 0},
    {0, "tres-freq", "TRES_FREQ", "tres_freq", column_text_or_na, UNSORTED, 0, 0},
    {0, "tres-per-job", "TRES_PER_JOB", "tres_per_job", column_text_or_na, UNSORTED, 0, 0},
    {0, "tres-per-socket", "TRES_PER_SOCKET", "tres_per_socket", column_text_or_na, UNSORTED, 0,
        0},
    {0, "tres-per-task", "TRES_PER_TASK", "tres_per_task", column_text_or_na, UNSORTED, 0, 0},
    {0, "Wait4Switch", "WAIT4SWITCH", "switches", print_wait_for_switch, UNSORTED, 0, 0},
};
/* clang-format on */
const struct column_table columns_job = {&record_job, job_rows, countof(job_rows), true};

/* ---- steps ---- */
PRINT(print_step_id) {
    step_name_print(row, out);
}
SORT(sort_step_id) {
    const struct step *step = row;
    return (struct sort_value) {(uint64_t) step->job_id << 32 | step->step_id, NULL};
}
PRINT(print_step_user) {
    const struct step *step = row;
    if (step->user_name)
        str_append(out, step->user_name);
    else
        str_append_u64(out, step->uid);
}
static int64_t step_seconds(const struct step *step, int64_t now) {
    if (!step->start_time)
        return 0;
    return (step->end_time ? step->end_time : now) - step->start_time;
}
PRINT(print_step_time) {
    print_duration(step_seconds(row, env->now), out);
}
SORT(sort_step_time) {
    return sort_signed(step_seconds(row, env->now));
}
PRINT(print_step_limit) {
    uint32_t limit = *(const uint32_t *) member;
    minutes_print_short(limit == UNSET32 ? MINUTES_INFINITE : limit, "UNLIMITED", out);
}
PRINT(print_step_state) {
    const char *name = names_text(&names_job_state, *(const uint32_t *) member);
    str_append(out, name ? name : "UNKNOWN");
}
PRINT(print_step_array_job) {
    const struct step *step = row;
    if (step->array_job_id)
        str_append_u64(out, step->array_job_id);
    else
        str_append(out, "N/A");
}

/* clang-format off */
static const struct column step_rows[] = {
    {'i', "StepID", "STEPID", "step_id job_id array_job_id array_task_id", print_step_id,
        sort_step_id, 0, 0},
    {'j', "StepName", "NAME", "name", EMPTY_SORTED, 0, 0},
    {0, "Name", "NAME", "name", column_text_or_empty, UNSORTED, 0, COLUMN_HIDDEN},
    {'P', "Partition", "PARTITION", "partition", EMPTY_SORTED, 0, 0},
    {'u', "UserName", "USER", "user_name uid", print_step_user, column_sort_text, 0, 0},
    {'U', "UserID", "UID", "uid", U32_SORTED, 0, 0},
    {'A', "NumTasks", "TASKS", "ntasks", U32_SORTED, 0, 0},
    {'l', "TimeLimit", "TIME_LIMIT", "time_limit", print_step_limit, column_sort_u32, 0, 0},
    {'M', "TimeUsed", "TIME", "start_time end_time", print_step_time, sort_step_time, 0, 0},
    {'S', "StartTime", "START_TIME", "start_time", TIME_SORTED, 0, 0},
    {'N', "Nodes", "NODELIST", "nodes", column_text_or_empty, sort_host, 0, COLUMN_WHOLE},
    {0, "NodeList", "NODELIST", "nodes", column_text_or_empty, UNSORTED, 0,
        COLUMN_WHOLE | COLUMN_HIDDEN},
    {'b', "tres-per-node", "TRES_PER_NODE", "job_id", print_na, UNSORTED, 0, 0},
    {0, "ArrayJobID", "ARRAY_JOB_ID", "array_job_id", print_step_array_job, UNSORTED, 0, 0},
    {0, "ArrayTaskID", "ARRAY_TASK_ID", "array_task_id", column_unset32, UNSORTED, 0, 0},
    {0, "Cluster", "CLUSTER", "cluster", print_cluster, UNSORTED, 0, 0},
    {0, "CPUFreq", "CPU_FREQ", "job_id", print_na, UNSORTED, 0, 0},
    {0, "JobID", "JOBID", "job_id", column_u32, UNSORTED, 0, 0},
    {0, "Network", "NETWORK", "job_id", print_null, UNSORTED, 0, 0},
    {0, "NumCPUs", "CPUS", "num_cpus", column_u32, UNSORTED, 0, 0},
    {0, "ResvPorts", "RESV_PORTS", "job_id", print_null, UNSORTED, 0, 0},
    {0, "StepState", "STATE", "state", print_step_state, UNSORTED, 0, 0},
    {0, "StdErr", "STDERR", "std_err", column_text, UNSORTED, 0, 0},
    {0, "StdIn", "STDIN", "std_in", column_text, UNSORTED, 0, 0},
    {0, "StdOut", "STDOUT", "std_out", column_text, UNSORTED, 0, 0},
    {0, "cpus-per-tres", "CPUS_PER_TRES", "job_id", print_na, UNSORTED, 0, 0},
    {0, "mem-per-tres", "MEM_PER_TRES", "job_id", print_na, UNSORTED, 0, 0},
    {0, "tres-bind", "TRES_BIND", "job_id", print_na, UNSORTED, 0, 0},
    {0, "tres-freq", "TRES_FREQ", "job_id", print_na, UNSORTED, 0, 0},
    {0, "tres-per-step", "TRES_PER_STEP", "tres_alloc", column_text_or_na, UNSORTED, 0, 0},
};
/* clang-format on */
const struct column_table columns_step = {&record_step, step_rows, countof(step_rows), true};
