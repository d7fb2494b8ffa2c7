/* SPDX-License-Identifier: Apache-2.0 */
/* The tables: which names scripts know, and where their values are. */
#include <string.h>

#include "base/alloc.h"
#include "lua/kind.h"
#include "model/node.h"
#include "model/reservation.h"
#include "schema/member.h"
#include "text/duration.h"
#include "text/size.h"

/* clang-format off */
static const struct lua_row job_desc_rows[] = {
    {"account", "account", KIND_TEXT, "Account", NULL},
    {"acctg_freq", "acctg_freq", KIND_TEXT, NULL, NULL},
    {"alloc_node", "alloc_node", KIND_TEXT, NULL, NULL},
    {"argc", NULL, KIND_ARGC, NULL, NULL},
    {"argv", NULL, KIND_ARGV, NULL, NULL},
    {"array_inx", "array_spec", KIND_ARRAY, NULL, NULL},
    {"batch_features", "batch_features", KIND_TEXT, NULL, NULL},
    {"begin_time", "begin_time", KIND_TIME, "StartTime", "EligibleTime"},
    {"boards_per_node", NULL, KIND_ZERO, NULL, NULL},
    {"burst_buffer", "burst_buffer", KIND_TEXT, "BurstBuffer", NULL},
    {"clusters", "clusters", KIND_TEXT, NULL, NULL},
    {"comment", "comment", KIND_TEXT, "Comment", NULL},
    {"container", "container", KIND_TEXT, NULL, NULL},
    {"contiguous", "contiguous", KIND_BOOL, "Contiguous", NULL},
    {"cores_per_socket", "cores_per_socket", KIND_COUNT16, "ReqCores", NULL},
    {"cpu_freq_gov", NULL, KIND_NOTHING, NULL, NULL},
    {"cpu_freq_max", NULL, KIND_NOTHING, NULL, NULL},
    {"cpu_freq_min", NULL, KIND_NOTHING, NULL, NULL},
    {"cpus_per_task", "cpus_per_task", KIND_COUNT16, "CPUsPerTask", NULL},
    {"cpus_per_tres", "cpus_per_gpu", KIND_GPU_COUNT, NULL, NULL},
    {"deadline", "deadline", KIND_TIME, "Deadline", NULL},
    {"delay_boot", NULL, KIND_NOTHING, NULL, NULL},
    {"dependency", "dependency", KIND_TEXT, "Dependency", NULL},
    {"end_time", NULL, KIND_ZERO, NULL, NULL},
    {"environment", NULL, KIND_ENVIRONMENT, NULL, NULL},
    {"exc_nodes", "exc_nodes", KIND_TEXT, "ExcNodeList", NULL},
    {"extra", "extra", KIND_TEXT, "Extra", NULL},
    {"features", "features", KIND_TEXT, "Features", NULL},
    {"gres", "tres_per_node", KIND_TRES, "Gres", "TresPerNode"},
    {"group_id", NULL, KIND_GROUP_ID, NULL, NULL},
    {"immediate", NULL, KIND_ZERO, NULL, NULL},
    {"licenses", "licenses", KIND_TEXT, "Licenses", NULL},
    {"mail_type", "mail_type", KIND_NUMBER, NULL, NULL},
    {"mail_user", "mail_user", KIND_TEXT, "MailUser", NULL},
    {"max_cpus", NULL, KIND_NOTHING, NULL, NULL},
    {"max_nodes", "max_nodes", KIND_COUNT, NULL, NULL},
    {"mcs_label", "mcs_label", KIND_TEXT, "MCSLabel", NULL},
    {"mem_per_tres", "mem_per_gpu", KIND_GPU_MEM, NULL, NULL},
    {"min_cpus", NULL, KIND_MIN_CPUS, NULL, NULL},
    {"min_mem_per_cpu", "mem_per_cpu", KIND_MEM_CPU, "MinMemoryCPU", NULL},
    {"min_mem_per_node", "mem_per_node", KIND_MEM_NODE, "MinMemoryNode", NULL},
    {"min_nodes", "min_nodes", KIND_COUNT, NULL, NULL},
    {"name", "name", KIND_TEXT, "Name", "JobName"},
    {"network", "network", KIND_TEXT, NULL, NULL},
    {"nice", "nice", KIND_NICE, "Nice", NULL},
    {"ntasks_per_board", NULL, KIND_ZERO, NULL, NULL},
    {"ntasks_per_core", "ntasks_per_core", KIND_COUNT16, NULL, NULL},
    {"ntasks_per_gpu", "ntasks_per_gpu", KIND_COUNT16, NULL, NULL},
    {"ntasks_per_node", "ntasks_per_node", KIND_COUNT16, "TasksPerNode", "NTasksPerNode"},
    {"ntasks_per_socket", "ntasks_per_socket", KIND_COUNT16, NULL, NULL},
    {"ntasks_per_tres", "ntasks_per_gpu", KIND_COUNT16, NULL, NULL},
    {"num_tasks", "ntasks", KIND_COUNT, "NumTasks", "ReqProcs"},
    {"open_mode", "open_mode", KIND_NUMBER, NULL, NULL},
    {"partition", "partition", KIND_TEXT, "Partition", NULL},
    {"plane_size", "plane_size", KIND_COUNT16, NULL, NULL},
    {"pn_min_cpus", "min_cpus_per_node", KIND_COUNT16, "MinCPUsNode", NULL},
    {"pn_min_memory", NULL, KIND_MEM, NULL, NULL},
    {"pn_min_tmp_disk", "tmp_disk", KIND_DISK, "MinTmpDiskNode", NULL},
    {"power_flags", NULL, KIND_ZERO, NULL, NULL},
    {"prefer", "prefer", KIND_TEXT, "Prefer", NULL},
    {"priority", NULL, KIND_PRIORITY, NULL, NULL},
    {"qos", "qos", KIND_TEXT, "QOS", NULL},
    {"reboot", "reboot", KIND_BOOL16, "Reboot", NULL},
    {"req_nodes", "req_nodes", KIND_TEXT, "ReqNodeList", NULL},
    {"req_switch", NULL, KIND_SWITCHES, NULL, NULL},
    {"requeue", "requeue", KIND_TRISTATE, "Requeue", NULL},
    {"reservation", "reservation", KIND_TEXT, "ReservationName", "Reservation"},
    {"script", NULL, KIND_SCRIPT, NULL, NULL},
    {"shared", NULL, KIND_SHARED, NULL, NULL},
    {"site_factor", NULL, KIND_NOTHING, NULL, NULL},
    {"sockets_per_board", NULL, KIND_ZERO, NULL, NULL},
    {"sockets_per_node", "sockets_per_node", KIND_COUNT16, "ReqSockets", NULL},
    {"spank_job_env_size", NULL, KIND_ZERO, NULL, NULL},
    {"std_err", "std_err", KIND_TEXT, "StdErr", NULL},
    {"std_in", "std_in", KIND_TEXT, "StdIn", NULL},
    {"std_out", "std_out", KIND_TEXT, "StdOut", NULL},
    {"submit_line", "submit_line", KIND_TEXT, NULL, NULL},
    {"threads_per_core", "threads_per_core", KIND_COUNT16, "ReqThreads", NULL},
    {"time_limit", "time_limit", KIND_MINUTES, "TimeLimit", NULL},
    {"time_min", "time_min", KIND_MINUTES, "TimeMin", NULL},
    {"tres_bind", "tres_bind", KIND_TEXT, NULL, NULL},
    {"tres_freq", "tres_freq", KIND_TEXT, NULL, NULL},
    {"tres_per_job", "tres_per_job", KIND_TRES, "TresPerJob", NULL},
    {"tres_per_node", "tres_per_node", KIND_TRES, NULL, NULL},
    {"tres_per_socket", "tres_per_socket", KIND_TRES, NULL, NULL},
    {"tres_per_task", "tres_per_task", KIND_TRES, NULL, NULL},
    {"user_id", NULL, KIND_USER_ID, NULL, NULL},
    {"user_name", NULL, KIND_USER_NAME, NULL, NULL},
    {"wait4switch", NULL, KIND_SWITCH_WAIT, NULL, NULL},
    {"warn_signal", "signal", KIND_NUMBER, NULL, NULL},
    {"warn_time", "signal_seconds", KIND_NUMBER, NULL, NULL},
    {"wckey", "wckey", KIND_TEXT, "WCKey", NULL},
    {"work_dir", "work_dir", KIND_TEXT, "WorkDir", NULL},
    {"x11", "x11", KIND_TEXT, NULL, NULL},
};

static const struct lua_row partition_rows[] = {
    {"allow_accounts", "allow_accounts", KIND_LIST, NULL, NULL},
    {"allow_alloc_nodes", "alloc_nodes", KIND_LIST, NULL, NULL},
    {"allow_groups", "allow_groups", KIND_LIST, NULL, NULL},
    {"allow_qos", "allow_qos", KIND_LIST, NULL, NULL},
    {"alternate", "alternate", KIND_TEXT, NULL, NULL},
    {"billing_weights_str", "tres_billing_weights", KIND_TEXT, NULL, NULL},
    {"def_mem_per_cpu", "def_mem_per_cpu", KIND_MIB, NULL, NULL},
    {"def_mem_per_node", NULL, KIND_PART_MEM_NODE, NULL, NULL},
    {"default_time", "default_time", KIND_MINUTES, NULL, NULL},
    {"deny_accounts", "deny_accounts", KIND_LIST, NULL, NULL},
    {"deny_qos", "deny_qos", KIND_LIST, NULL, NULL},
    {"flag_default", "is_default", KIND_BOOL, NULL, NULL},
    {"flags", NULL, KIND_PART_FLAGS, NULL, NULL},
    {"grace_time", "grace_time", KIND_NUMBER, NULL, NULL},
    {"max_cpus_per_node", "max_cpus_per_node", KIND_OPT_MOST, NULL, NULL},
    {"max_mem_per_cpu", "max_mem_per_cpu", KIND_MIB, NULL, NULL},
    {"max_mem_per_node", "max_mem_per_node", KIND_MIB, NULL, NULL},
    {"max_nodes", "max_nodes", KIND_OPT_MOST, NULL, NULL},
    {"max_nodes_orig", "max_nodes", KIND_OPT_MOST, NULL, NULL},
    {"max_share", NULL, KIND_PART_SHARE, NULL, NULL},
    {"max_time", "max_time", KIND_MINUTES, NULL, NULL},
    {"min_nodes", "min_nodes", KIND_NUMBER, NULL, NULL},
    {"min_nodes_orig", "min_nodes", KIND_NUMBER, NULL, NULL},
    {"name", "name", KIND_TEXT, NULL, NULL},
    {"nodes", "nodes", KIND_TEXT, NULL, NULL},
    {"priority_job_factor", "priority_job_factor", KIND_NUMBER, NULL, NULL},
    {"priority_tier", "priority_tier", KIND_NUMBER, NULL, NULL},
    {"qos", "qos", KIND_TEXT, NULL, NULL},
    {"state_up", NULL, KIND_PART_STATE, NULL, NULL},
    {"total_cpus", "total_cpus", KIND_NUMBER, NULL, NULL},
    {"total_nodes", "total_nodes", KIND_NUMBER, NULL, NULL},
};

static const struct lua_row job_rec_rows[] = {
    {"account", "account", KIND_TEXT, NULL, NULL},
    {"admin_comment", "admin_comment", KIND_TEXT, NULL, NULL},
    {"alloc_node", "alloc_node", KIND_TEXT, NULL, NULL},
    {"array_job_id", "array_job_id", KIND_NUMBER, NULL, NULL},
    {"array_task_id", "array_task_id", KIND_OPT, NULL, NULL},
    {"batch_features", "batch_features", KIND_TEXT, NULL, NULL},
    {"batch_host", "batch_host", KIND_TEXT, NULL, NULL},
    {"burst_buffer", "burst_buffer", KIND_TEXT, NULL, NULL},
    {"comment", "comment", KIND_TEXT, NULL, NULL},
    {"container", "container", KIND_TEXT, NULL, NULL},
    {"cpus_per_tres", "cpus_per_gpu", KIND_GPU_COUNT, NULL, NULL},
    {"derived_ec", "derived_exit", KIND_NUMBER, NULL, NULL},
    {"end_time", "end_time", KIND_TIME, NULL, NULL},
    {"exit_code", "exit_status", KIND_NUMBER, NULL, NULL},
    {"extra", "extra", KIND_TEXT, NULL, NULL},
    {"features", "features", KIND_TEXT, NULL, NULL},
    {"gres", "tres_per_node", KIND_TEXT, NULL, NULL},
    {"gres_req", "tres_req", KIND_TEXT, NULL, NULL},
    {"gres_used", "tres_alloc", KIND_TEXT, NULL, NULL},
    {"group_id", "gid", KIND_NUMBER, NULL, NULL},
    {"job_id", "job_id", KIND_NUMBER, NULL, NULL},
    {"job_state", "state", KIND_NUMBER, NULL, NULL},
    {"licenses", "licenses", KIND_TEXT, NULL, NULL},
    {"max_nodes", "max_nodes", KIND_NUMBER, NULL, NULL},
    {"mem_per_tres", "mem_per_gpu", KIND_GPU_MEM, NULL, NULL},
    {"min_cpus", "num_cpus", KIND_NUMBER, NULL, NULL},
    {"min_mem_per_cpu", "mem_per_cpu", KIND_MIB, NULL, NULL},
    {"min_mem_per_node", "mem_per_node", KIND_MIB, NULL, NULL},
    {"min_nodes", "min_nodes", KIND_NUMBER, NULL, NULL},
    {"name", "name", KIND_TEXT, NULL, NULL},
    {"nice", "nice", KIND_REC_NICE, NULL, NULL},
    {"node_cnt", "num_nodes", KIND_NUMBER, NULL, NULL},
    {"nodes", "nodes", KIND_TEXT, NULL, NULL},
    {"num_tasks", "ntasks", KIND_NUMBER, NULL, NULL},
    {"partition", "partition", KIND_TEXT, NULL, NULL},
    {"pn_min_cpus", "min_cpus_per_node", KIND_NUMBER, NULL, NULL},
    {"priority", "priority", KIND_NUMBER, NULL, NULL},
    {"qos", "qos", KIND_TEXT, NULL, NULL},
    {"reboot", "reboot", KIND_BOOL, NULL, NULL},
    {"req_nodes", "req_nodes", KIND_TEXT, NULL, NULL},
    {"requeue", "requeue", KIND_TRISTATE, NULL, NULL},
    {"reservation", "reservation", KIND_TEXT, NULL, NULL},
    {"restart_cnt", "restarts", KIND_NUMBER, NULL, NULL},
    {"resv_name", "reservation", KIND_TEXT, NULL, NULL},
    {"start_time", "start_time", KIND_TIME, NULL, NULL},
    {"std_err", "std_err", KIND_TEXT, NULL, NULL},
    {"std_in", "std_in", KIND_TEXT, NULL, NULL},
    {"std_out", "std_out", KIND_TEXT, NULL, NULL},
    {"submit_time", "submit_time", KIND_TIME, NULL, NULL},
    {"time_limit", "time_limit", KIND_MINUTES, NULL, NULL},
    {"time_min", "time_min", KIND_MINUTES, NULL, NULL},
    {"total_cpus", "num_cpus", KIND_NUMBER, NULL, NULL},
    {"tres_alloc_str", "tres_alloc", KIND_TEXT, NULL, NULL},
    {"tres_fmt_alloc_str", "tres_alloc", KIND_TEXT, NULL, NULL},
    {"tres_fmt_req_str", "tres_req", KIND_TEXT, NULL, NULL},
    {"tres_per_job", "tres_per_job", KIND_TEXT, NULL, NULL},
    {"tres_per_node", "tres_per_node", KIND_TEXT, NULL, NULL},
    {"tres_per_task", "tres_per_task", KIND_TEXT, NULL, NULL},
    {"tres_req_str", "tres_req", KIND_TEXT, NULL, NULL},
    {"user_id", "uid", KIND_NUMBER, NULL, NULL},
    {"user_name", "user_name", KIND_TEXT, NULL, NULL},
    {"wckey", "wckey", KIND_TEXT, NULL, NULL},
    {"work_dir", "work_dir", KIND_TEXT, NULL, NULL},
};

static const struct lua_row reservation_rows[] = {
    {"accounts", "accounts", KIND_TEXT, NULL, NULL},
    {"assoc_list", "accounts", KIND_TEXT, NULL, NULL},
    {"comment", "comment", KIND_TEXT, NULL, NULL},
    {"core_cnt", "core_cnt", KIND_NUMBER, NULL, NULL},
    {"duration", NULL, KIND_NOTHING, NULL, NULL},
    {"end_time", "end_time", KIND_TIME, NULL, NULL},
    {"features", "features", KIND_TEXT, NULL, NULL},
    {"flags", "flags", KIND_NUMBER, NULL, NULL},
    {"groups", "groups", KIND_TEXT, NULL, NULL},
    {"licenses", "licenses", KIND_TEXT, NULL, NULL},
    {"name", "name", KIND_TEXT, NULL, NULL},
    {"node_cnt", "node_cnt", KIND_NUMBER, NULL, NULL},
    {"node_list", "nodes", KIND_TEXT, NULL, NULL},
    {"nodes", "nodes", KIND_TEXT, NULL, NULL},
    {"partition", "partition", KIND_TEXT, NULL, NULL},
    {"start_time", "start_time", KIND_TIME, NULL, NULL},
    {"tres", "tres", KIND_TEXT, NULL, NULL},
    {"users", "users", KIND_TEXT, NULL, NULL},
};

const struct lua_view lua_view_job_desc = {
    "job_desc", job_desc_rows, countof(job_desc_rows), &record_job_request, true};
const struct lua_view lua_view_partition = {
    "a partition", partition_rows, countof(partition_rows), &record_partition, false};
const struct lua_view lua_view_job_rec = {
    "job_rec", job_rec_rows, countof(job_rec_rows), &record_job, false};
const struct lua_view lua_view_reservation = {
    "a reservation", reservation_rows, countof(reservation_rows), &record_reservation, false};
/* clang-format on */

void *lua_row_member(const struct lua_view *view, const struct lua_row *row, void *record) {
    const struct field *field =
        row->member != NULL ? record_field(view->record, row->member) : NULL;
    return field != NULL ? member_at(field, record) : NULL;
}

/* ---- a job's change as scontrol update writes it ---- */

static void *update_member(const struct lua_row *row, const struct job_request *job) {
    return row->update != NULL ? lua_row_member(&lua_view_job_desc, row, (void *) (uintptr_t) job)
                               : NULL;
}

bool lua_row_update_print(const struct lua_row *row, const struct job_request *job,
                          struct str *out) {
    void *member = update_member(row, job);
    if (member == NULL)
        return false;
    switch (row->kind) {
    case KIND_TEXT:
    case KIND_TRES:
    case KIND_ARRAY:
        str_append(out, *(char **) member != NULL ? *(char **) member : "");
        return true;
    case KIND_MINUTES:
        minutes_print_long(*(uint32_t *) member, "", out);
        return *(uint32_t *) member != MINUTES_UNSET;
    case KIND_TIME:
        str_printf(out, "@%lld", (long long) *(int64_t *) member);
        return true;
    case KIND_BOOL:
    case KIND_BOOL16:
        str_append(out, *(bool *) member ? "yes" : "no");
        return true;
    case KIND_TRISTATE:
        str_append(out, *(uint32_t *) member == TRI_YES ? "1" : "0");
        return *(uint32_t *) member != TRI_UNSET;
    case KIND_NICE:
        str_printf(out, "%d", *(int32_t *) member);
        return true;
    case KIND_COUNT:
    case KIND_COUNT16:
        str_append_u64(out, *(uint32_t *) member);
        return true;
    case KIND_DISK:
    case KIND_MEM_NODE:
    case KIND_MEM_CPU:
        str_printf(out, "%lluM", (unsigned long long) *(uint64_t *) member);
        return *(uint64_t *) member != UNSET64;
    default:
        return false;
    }
}

bool lua_row_update_read(const struct lua_row *row, const char *value, struct job_request *job) {
    void *member = update_member(row, job);
    uint64_t number;
    int64_t sign;
    bool yes = str_equal_nocase(value, "yes") || str_equal(value, "1");
    if (member == NULL)
        return false;
    switch (row->kind) {
    case KIND_TEXT:
    case KIND_TRES:
    case KIND_ARRAY:
        string_set(member, value);
        return true;
    case KIND_MINUTES:
        return value[0] != '+' && (value[0] != '-' || str_equal(value, "-1")) &&
               minutes_parse(value, member, NULL) == 0;
    case KIND_BOOL:
    case KIND_BOOL16:
        *(bool *) member = yes;
        return true;
    case KIND_TRISTATE:
        *(uint32_t *) member = yes ? TRI_YES : TRI_NO;
        return true;
    case KIND_NICE:
        if (!str_to_i64(value, &sign) || sign < INT32_MIN || sign > INT32_MAX)
            return false;
        *(int32_t *) member = (int32_t) sign;
        return true;
    case KIND_COUNT:
    case KIND_COUNT16:
        if (!str_to_u64(value, &number) || number > UINT32_MAX)
            return false;
        *(uint32_t *) member = (uint32_t) number;
        return true;
    case KIND_DISK:
    case KIND_MEM_NODE:
    case KIND_MEM_CPU:
        return mem_parse(value, member, NULL) == 0;
    default:
        return false;
    }
}
