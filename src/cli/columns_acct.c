/* SPDX-License-Identifier: Apache-2.0 */
/* sacct's columns: one row per column. Step rows leave blank what belongs to the job alone. */
#include "cli/columns_acct.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/columns_job.h"
#include "cli/columns_usage.h"
#include "text/duration.h"
#include "text/size.h"

#define PRINT(name)                                                                                \
    static void name(const void *data, const void *member, struct column_env *env, struct str *out)
#define ROW ((const struct acct_row *) data)
#define JOB (ROW->job)
#define STEP (ROW->step)

/* ---- derived values ---- */
static int text_order(const void *a, const void *b) {
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

#define TRES_MAX 64

void tres_sorted_print(const char *tres, struct str *out) {
    cleanup_free char *copy = xstrdup(tres ? tres : "");
    char *items[TRES_MAX], *cursor = copy, *word;
    size_t n = 0;
    while (n < TRES_MAX && (word = str_next_word(&cursor, ",")))
        items[n++] = word;
    qsort(items, n, sizeof(*items), text_order);
    for (size_t i = 0; i < n; i++)
        str_printf(out, "%s%s", i ? "," : "", items[i]);
}

uint64_t acct_mib(const char *text) {
    uint64_t mib;
    return mem_read(text, &mib, NULL) == 0 ? mib : 0;
}

uint64_t acct_memory(const char *tres) {
    words_each (tres, ",", item) {
        if (str_starts(item, "mem="))
            return acct_mib(item + strlen("mem="));
    }
    return 0;
}

/* Memory that the job asked for in all, MiB. */
static uint64_t job_memory(const struct job *job) {
    uint64_t mib = acct_memory(job->tres_req);
    if (mib > 0)
        return mib;
    if (job->mem_per_cpu != UNSET64)
        return job->mem_per_cpu * max_of(job->num_cpus, 1u);
    return job->mem_per_node != UNSET64 ? job->mem_per_node * max_of(job->num_nodes, 1u) : 0;
}

void acct_cpu_usec(const struct acct_row *row, uint64_t *ret_user, uint64_t *ret_system) {
    *ret_user = *ret_system = 0;
    if (row->step) {
        if (row->step->usage) {
            *ret_user = row->step->usage->user_usec;
            *ret_system = row->step->usage->system_usec;
        }
        return;
    }
    *ret_user = row->job->user_usec;
    *ret_system = row->job->system_usec;
    if (*ret_user || *ret_system)
        return;
    for (uint32_t i = 0; i < row->acct->steps.n; i++) {
        const struct usage *usage = row->acct->steps.items[i].usage;
        if (usage) {
            *ret_user += usage->user_usec;
            *ret_system += usage->system_usec;
        }
    }
}

static uint64_t step_rank(uint32_t step_id) {
    return step_id == STEP_BATCH         ? 0
           : step_id == STEP_EXTERN      ? 1
           : step_id == STEP_INTERACTIVE ? 2
                                         : 3 + (uint64_t) step_id;
}

int acct_step_order(const void *a, const void *b) {
    const struct step *x = a, *y = b;
    uint64_t rx = step_rank(x->step_id), ry = step_rank(y->step_id);
    return (rx > ry) - (rx < ry);
}

static bool job_has_run(const struct job *job) {
    return job->nodes && *job->nodes;
}

static uint32_t row_cpus(const struct acct_row *row) {
    if (row->step)
        return row->step->num_cpus;
    return job_has_run(row->job) ? row->job->num_cpus : 0;
}

static int64_t row_start(const struct acct_row *row) {
    if (row->step)
        return row->step->start_time;
    return job_has_run(row->job) ? row->job->start_time : 0;
}

static int64_t row_end(const struct acct_row *row) {
    if (row->step)
        return row->step->end_time;
    return job_state_is_final(row->job->state) ? row->job->end_time : 0;
}

int64_t acct_elapsed(const struct acct_row *row, int64_t now) {
    if (row->step) {
        int64_t end = row->step->end_time ? row->step->end_time : now;
        return row->step->start_time ? max_of(end - row->step->start_time, (int64_t) 0) : 0;
    }
    return max_of(job_run_seconds(row->job, now), (int64_t) 0);
}

static int64_t row_suspended(const struct acct_row *row, int64_t now) {
    if (row->step || !row->job->start_time || row->job->state == JOB_PENDING)
        return 0;
    int64_t end = job_state_is_final(row->job->state) ? row->job->end_time : now;
    int64_t paused = end - row->job->start_time - acct_elapsed(row, now);
    return max_of(paused, (int64_t) 0);
}

static int64_t job_planned(const struct job *job, int64_t now) {
    int64_t from = job->eligible_time ? job->eligible_time : job->submit_time;
    int64_t to = job->state == JOB_PENDING || !job->start_time ? now : job->start_time;
    if (job_state_is_final(job->state) && !job->start_time)
        to = job->end_time;
    return max_of(to - from, (int64_t) 0);
}

/* ---- text of the job, of the step, of both ---- */
#define JOB_TEXT(name, expression)                                                                 \
    PRINT(name) {                                                                                  \
        const char *text = STEP ? NULL : (expression);                                             \
        if (text)                                                                                  \
            str_append(out, text);                                                                 \
    }
JOB_TEXT(print_admin_comment, JOB->admin_comment)
JOB_TEXT(print_comment, JOB->comment)
JOB_TEXT(print_constraints, JOB->features)
JOB_TEXT(print_container, JOB->container)
JOB_TEXT(print_extra, JOB->extra)
JOB_TEXT(print_failed_node, JOB->failed_node)
JOB_TEXT(print_group, JOB->group_name)
JOB_TEXT(print_licenses, JOB->licenses)
JOB_TEXT(print_mcs, JOB->mcs_label)
JOB_TEXT(print_partition, JOB->partition)
JOB_TEXT(print_qos, JOB->qos)
JOB_TEXT(print_reservation, JOB->reservation)
JOB_TEXT(print_system_comment, JOB->system_comment)
JOB_TEXT(print_user, JOB->user_name)
JOB_TEXT(print_wckey, JOB->wckey)
JOB_TEXT(print_work_dir, JOB->work_dir)
JOB_TEXT(print_reason, job_reason_text(JOB))
JOB_TEXT(print_oversubscribe, job_oversubscribe_text(JOB))
JOB_TEXT(print_exclusive, names_text(&names_exclusive, JOB->exclusive))

PRINT(print_nothing) {}
PRINT(print_account) {
    str_append(out, JOB->account ? JOB->account : "");
}
PRINT(print_cluster) {
    const char *cluster = JOB->cluster ? JOB->cluster : env->cluster;
    str_append(out, cluster ? cluster : "");
}
PRINT(print_job_id) {
    env->whole = env->bits_max == 0;
    job_id_print(JOB, env->bits_max, out);
    if (STEP) {
        str_append_char(out, '.');
        step_id_print(STEP->step_id, out);
    }
}
PRINT(print_job_id_raw) {
    str_append_u64(out, JOB->job_id);
    if (STEP) {
        str_append_char(out, '.');
        step_id_print(STEP->step_id, out);
    }
}
PRINT(print_name) {
    const char *name = STEP ? STEP->name : JOB->name;
    str_append(out, name ? name : "");
}
PRINT(print_submit_line) {
    const char *line = STEP ? STEP->submit_line : JOB->submit_line;
    str_append(out, line ? line : "");
}
PRINT(print_state) {
    if (STEP) {
        const char *name = names_text(&names_job_state, STEP->state);
        str_append(out, name ? name : "UNKNOWN");
        return;
    }
    if (ROW->acct->superseded && !job_state_is_final(JOB->state)) {
        str_append(out, "REQUEUED");
        return;
    }
    uint32_t shown = JOB->flags & (JOB_FLAG_RESIZING | JOB_FLAG_REQUEUED | JOB_FLAG_REVOKED);
    str_append(out, job_state_text(JOB->state, shown));
    if (JOB->state == JOB_CANCELLED && JOB->cancel_uid != UNSET32)
        str_printf(out, " by %u", JOB->cancel_uid);
}
PRINT(print_exit_code) {
    exit_status_print(STEP ? STEP->exit_status : job_accounted_exit(JOB), out);
}
PRINT(print_derived_exit) {
    if (!STEP)
        exit_status_print(JOB->derived_exit, out);
}
PRINT(print_node_list) {
    const char *nodes = STEP ? STEP->nodes : JOB->nodes;
    str_append(out, nodes && *nodes ? nodes : "None assigned");
}
static void print_path(const struct acct_row *row, int stream, const struct column_env *env,
                       struct str *out) {
    if (!row->step) {
        const struct job_columns_data *data = env->data;
        job_path_print(row->job, stream, data && data->expand_patterns, out);
        return;
    }
    const char *path = stream == 0   ? row->step->std_in
                       : stream == 1 ? row->step->std_out
                                     : row->step->std_err;
    str_append(out, path ? path : "");
}
PRINT(print_std_in) {
    print_path(ROW, 0, env, out);
}
PRINT(print_std_out) {
    print_path(ROW, 1, env, out);
}
PRINT(print_std_err) {
    print_path(ROW, 2, env, out);
}
static const struct {
    enum acct_flag flag;
    const char *name;
} acct_flags[] = {{ACCT_SCHED_SUBMIT, "SchedSubmit"},
                  {ACCT_SCHED_MAIN, "SchedMain"},
                  {ACCT_SCHED_BACKFILL, "SchedBackfill"}};

uint32_t acct_job_flags(const struct job *job) {
    if (!job_has_run(job))
        return 0;
    return job->scheduler && str_starts_nocase(job->scheduler, "Backfill") ? ACCT_SCHED_BACKFILL
                                                                           : ACCT_SCHED_MAIN;
}

int acct_flags_parse(const char *text, uint32_t *flags, struct error *err) {
    words_each (text, ",", word) {
        size_t i = 0;
        while (i < countof(acct_flags) && !str_equal_nocase(acct_flags[i].name, word))
            i++;
        if (i == countof(acct_flags))
            return error_set(err, ERR_INVALID, "%s", word);
        *flags |= acct_flags[i].flag;
    }
    return 0;
}

PRINT(print_flags) {
    uint32_t flags = STEP ? 0 : acct_job_flags(JOB);
    for (size_t i = 0; i < countof(acct_flags); i++) {
        if (flags & acct_flags[i].flag)
            str_printf(out, "%s,StartReceived", acct_flags[i].name);
    }
}
PRINT(print_layout) {
    if (STEP)
        str_append(out, STEP->step_id < STEP_INTERACTIVE ? "Block" : "Unknown");
}

/* ---- numbers ---- */
PRINT(print_alloc_cpus) {
    str_append_u64(out, row_cpus(ROW));
}
PRINT(print_req_cpus) {
    str_append_u64(out, STEP ? STEP->num_cpus : JOB->num_cpus);
}
PRINT(print_nodes) {
    str_append_u64(out, STEP ? STEP->num_nodes : JOB->num_nodes);
}
PRINT(print_alloc_nodes) {
    str_append_u64(out, STEP ? STEP->num_nodes : job_has_run(JOB) ? JOB->num_nodes : 0);
}
PRINT(print_tasks) {
    if (STEP)
        str_append_u64(out, STEP->ntasks);
}
PRINT(print_gid) {
    if (!STEP)
        str_append_u64(out, JOB->gid);
}
PRINT(print_uid) {
    if (!STEP)
        str_append_u64(out, JOB->uid);
}
PRINT(print_priority) {
    if (!STEP)
        str_append_u64(out, JOB->priority);
}
PRINT(print_restarts) {
    if (!STEP)
        str_append_u64(out, JOB->restarts);
}
PRINT(print_db_index) {
    str_append_u64(out, JOB->db_index ? JOB->db_index : JOB->job_id);
}
PRINT(print_assoc_id) {
    str_append_u64(out, JOB->assoc_id);
}
PRINT(print_qos_raw) {
    if (!STEP && ROW->acct->qos_id != 0)
        str_append_u64(out, ROW->acct->qos_id);
}
PRINT(print_reservation_id) {
    if (!STEP && JOB->reservation_id != 0)
        str_append_u64(out, JOB->reservation_id);
}
PRINT(print_zero) {
    str_append_char(out, '0');
}
PRINT(print_job_zero) {
    if (!STEP)
        str_append_char(out, '0');
}
PRINT(print_wckey_id) {
    if (!STEP)
        str_append_u64(out, JOB->wckey_id);
}
PRINT(print_cpu_freq) {
    str_append(out, STEP && STEP->step_id == STEP_BATCH ? "0" : "Unknown");
}
static void mib_print(uint64_t mib, const struct column_env *env, struct str *out) {
    if (env->unit)
        kib_print(mib * 1024, env->unit, true, out);
    else if (mib)
        mem_print(mib, !env->raw_units, out);
    else
        str_append_char(out, '0');
}
PRINT(print_req_mem) {
    if (!STEP)
        mib_print(job_memory(JOB), env, out);
}
/* A TRES list, its memory in the unit that is asked for. */
static void tres_print(const char *tres, const struct column_env *env, struct str *out) {
    struct str sorted cleanup_str = STR_INIT;
    tres_sorted_print(tres, &sorted);
    if (!env->unit && !env->raw_units) {
        str_append(out, str_cstr(&sorted));
        return;
    }
    size_t start = out->length;
    words_each (str_cstr(&sorted), ",", item) {
        if (out->length > start)
            str_append_char(out, ',');
        if (strncmp(item, "mem=", 4) != 0) {
            str_append(out, item);
        } else {
            str_append(out, "mem=");
            mib_print(acct_mib(item + 4), env, out);
        }
    }
}
PRINT(print_req_tres) {
    if (!STEP)
        tres_print(JOB->tres_req, env, out);
}
PRINT(print_alloc_tres) {
    tres_print(STEP ? STEP->tres_alloc : job_has_run(JOB) ? JOB->tres_alloc : NULL, env, out);
}

/* ---- times ---- */
PRINT(print_submit) {
    int64_t time =
        STEP ? (STEP->submit_time ? STEP->submit_time : STEP->start_time) : JOB->submit_time;
    column_time_print(time, "Unknown", env, out);
}
PRINT(print_eligible) {
    column_time_print(STEP ? STEP->start_time : JOB->eligible_time, "Unknown", env, out);
}
PRINT(print_start) {
    /* "None": it has ended and never ran. */
    bool ended = STEP ? STEP->end_time > 0 : job_state_is_final(JOB->state);
    column_time_print(row_start(ROW), ended ? "None" : "Unknown", env, out);
}
PRINT(print_end) {
    column_time_print(row_end(ROW), "Unknown", env, out);
}
PRINT(print_elapsed) {
    duration_print_long(acct_elapsed(ROW, env->now), out);
}
PRINT(print_elapsed_raw) {
    str_append_u64(out, (uint64_t) acct_elapsed(ROW, env->now));
}
PRINT(print_cpu_time) {
    duration_print_long(acct_elapsed(ROW, env->now) * row_cpus(ROW), out);
}
PRINT(print_cpu_time_raw) {
    str_append_u64(out, (uint64_t) acct_elapsed(ROW, env->now) * row_cpus(ROW));
}
PRINT(print_suspended) {
    duration_print_long(row_suspended(ROW, env->now), out);
}
PRINT(print_planned) {
    if (!STEP)
        duration_print_long(job_planned(JOB, env->now), out);
}
PRINT(print_planned_cpu) {
    if (!STEP)
        duration_print_long(job_planned(JOB, env->now) * JOB->num_cpus, out);
}
PRINT(print_planned_cpu_raw) {
    if (!STEP)
        str_append_u64(out, (uint64_t) job_planned(JOB, env->now) * JOB->num_cpus);
}
PRINT(print_time_limit) {
    if (!STEP)
        minutes_print_long(JOB->time_limit, "Partition_Limit", out);
}
PRINT(print_time_limit_raw) {
    if (STEP)
        return;
    if (JOB->time_limit == MINUTES_INFINITE || JOB->time_limit == MINUTES_UNSET)
        minutes_print_long(JOB->time_limit, "Partition_Limit", out);
    else
        str_append_u64(out, JOB->time_limit);
}
/* MM:SS.mmm, from an hour on [D-]HH:MM:SS. */
static void print_cpu_usec(uint64_t usec, struct str *out) {
    uint64_t seconds = usec / 1000000;
    if (seconds >= 3600)
        duration_print_long((int64_t) seconds, out);
    else
        str_printf(out, "%02u:%02u.%03u", (unsigned) (seconds / 60), (unsigned) (seconds % 60),
                   (unsigned) (usec / 1000 % 1000));
}
PRINT(print_total_cpu) {
    uint64_t user, system;
    acct_cpu_usec(ROW, &user, &system);
    print_cpu_usec(user + system, out);
}
PRINT(print_user_cpu) {
    uint64_t user, system;
    acct_cpu_usec(ROW, &user, &system);
    print_cpu_usec(user, out);
}
PRINT(print_system_cpu) {
    uint64_t user, system;
    acct_cpu_usec(ROW, &user, &system);
    print_cpu_usec(system, out);
}

#define F(name, width, print)                                                                      \
    { 0, name, name, NULL, print, NULL, width, 0 }
#define LEFT(name, width, print)                                                                   \
    { 0, name, name, NULL, print, NULL, width, COLUMN_LEFT }
#define ALIAS(name, width, print)                                                                  \
    { 0, name, name, NULL, print, NULL, width, COLUMN_HIDDEN }
/* In the order in which --helpformat lists them; aliases behind, so that abbreviations find the
 * present names first. */
static const struct column acct_columns[] = {
    F("Account", 10, print_account),
    F("AdminComment", 15, print_admin_comment),
    F("AllocCPUS", 10, print_alloc_cpus),
    F("AllocNodes", 10, print_alloc_nodes),
    F("AllocTRES", 10, print_alloc_tres),
    F("AssocID", 7, print_assoc_id),
    USAGE_COLUMNS_AVE(14, usage_print_ave_read, usage_print_ave_written),
    F("BlockID", 16, print_nothing),
    F("Cluster", 10, print_cluster),
    F("Comment", 14, print_comment),
    F("Constraints", 19, print_constraints),
    F("ConsumedEnergy", 14, print_zero),
    F("ConsumedEnergyRaw", 17, print_zero),
    F("Container", 19, print_container),
    F("CPUTime", 10, print_cpu_time),
    F("CPUTimeRAW", 10, print_cpu_time_raw),
    LEFT("DBIndex", 21, print_db_index),
    F("DerivedExitCode", 15, print_derived_exit),
    F("Elapsed", 10, print_elapsed),
    F("ElapsedRaw", 10, print_elapsed_raw),
    F("Eligible", 19, print_eligible),
    F("End", 19, print_end),
    F("Exclusive", 14, print_exclusive),
    F("ExitCode", 8, print_exit_code),
    F("Extra", 14, print_extra),
    F("FailedNode", 8, print_failed_node),
    F("Flags", 19, print_flags),
    F("GID", 6, print_gid),
    F("Group", 9, print_group),
    LEFT("JobID", 12, print_job_id),
    LEFT("JobIDRaw", 12, print_job_id_raw),
    F("JobName", 10, print_name),
    F("Layout", 9, print_layout),
    F("Licenses", 10, print_licenses),
    USAGE_COLUMNS_MAX(usage_print_max_read, usage_print_max_written),
    F("McsLabel", 12, print_mcs),
    USAGE_COLUMNS_MIN,
    F("NCPUS", 10, print_alloc_cpus),
    F("NNodes", 8, print_nodes),
    F("NodeList", 15, print_node_list),
    F("NTasks", 8, print_tasks),
    F("OverSubscribe", 14, print_oversubscribe),
    F("Partition", 10, print_partition),
    F("Planned", 10, print_planned),
    F("PlannedCPU", 10, print_planned_cpu),
    F("PlannedCPURAW", 13, print_planned_cpu_raw),
    F("Priority", 10, print_priority),
    F("QOS", 10, print_qos),
    F("QOSRAW", 6, print_qos_raw),
    F("QOSREQ", 10, print_qos),
    F("Reason", 22, print_reason),
    F("ReqCPUFreq", 13, print_cpu_freq),
    F("ReqCPUFreqGov", 13, print_cpu_freq),
    F("ReqCPUFreqMax", 13, print_cpu_freq),
    F("ReqCPUFreqMin", 13, print_cpu_freq),
    F("ReqCPUS", 8, print_req_cpus),
    F("ReqMem", 10, print_req_mem),
    F("ReqNodes", 8, print_nodes),
    F("ReqReservation", 20, print_reservation),
    F("ReqTRES", 10, print_req_tres),
    F("Reservation", 20, print_reservation),
    F("ReservationId", 8, print_reservation_id),
    F("Restarts", 8, print_restarts),
    F("SegmentSize", 11, print_job_zero),
    F("SLUID", 14, print_nothing),
    F("Start", 19, print_start),
    F("State", 10, print_state),
    F("StdErr", 20, print_std_err),
    F("StdIn", 20, print_std_in),
    F("StdOut", 20, print_std_out),
    F("Submit", 19, print_submit),
    F("SubmitLine", 20, print_submit_line),
    F("Suspended", 10, print_suspended),
    F("SystemComment", 15, print_system_comment),
    F("SystemCPU", 10, print_system_cpu),
    F("Timelimit", 10, print_time_limit),
    F("TimelimitRaw", 10, print_time_limit_raw),
    F("TotalCPU", 10, print_total_cpu),
    USAGE_COLUMNS_TRES,
    F("UID", 6, print_uid),
    F("User", 9, print_user),
    F("UserCPU", 10, print_user_cpu),
    F("WCKey", 10, print_wckey),
    F("WCKeyID", 10, print_wckey_id),
    F("WorkDir", 20, print_work_dir),
    ALIAS("Reserved", 10, print_planned),
    ALIAS("ResvCPU", 10, print_planned_cpu),
    ALIAS("ResvCPURAW", 10, print_planned_cpu_raw),
    ALIAS("AllocGRES", 12, print_alloc_tres),
    ALIAS("ReqGRES", 12, print_req_tres),
    ALIAS("AssocName", 10, print_nothing),
};
const struct column_table columns_acct = {NULL, acct_columns, countof(acct_columns), false};

void fields_print(const struct column_table *columns, int width, struct str *out) {
    size_t n = 0;
    for (size_t i = 0; i < columns->n; i++) {
        if (columns->rows[i].flags & COLUMN_HIDDEN)
            continue;
        if (n > 0)
            str_append_char(out, n % 4 == 0 ? '\n' : ' ');
        str_printf(out, "%-*s", width, columns->rows[i].name);
        n++;
    }
    if (n > 0)
        str_append_char(out, '\n');
}
