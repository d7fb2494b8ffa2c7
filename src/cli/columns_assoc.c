/* SPDX-License-Identifier: Apache-2.0 */
/* sacctmgr's columns: one row per column. */
#include "cli/columns_assoc.h"

#include <stdlib.h>
#include <string.h>

#include "assoc/assoc.h"
#include "assoc/tres_list.h"
#include "base/alloc.h"
#include "text/duration.h"

#define PRINT(name)                                                                                \
    static void name(const void *data, const void *member, struct column_env *env, struct str *out)
#define ROW ((const struct assoc_row *) data)

/* ---- values ---- */
static void text_print(const char *text, struct str *out) {
    str_append(out, text != NULL ? text : "");
}
static void count_print(uint32_t count, struct str *out) {
    if (count != UNSET32)
        str_append_u64(out, count);
}
static void minutes_print(uint32_t minutes, struct str *out) {
    if (minutes != UNSET32)
        duration_print_long((int64_t) minutes * 60, out);
}
static void seconds_print(uint32_t seconds, struct str *out) {
    if (seconds != UNSET32)
        duration_print_long(seconds, out);
}
static void factor_print(const char *text, struct str *out) {
    if (text != NULL)
        str_printf(out, "%.6f", strtod(text, NULL));
}

/* ---- QOS: rows are records ---- */
PRINT(qos_count) {
    count_print(*(const uint32_t *) member, out);
}
PRINT(qos_minutes) {
    minutes_print(*(const uint32_t *) member, out);
}
PRINT(qos_seconds) {
    seconds_print(*(const uint32_t *) member, out);
}
PRINT(qos_seconds_or_none) {
    uint32_t seconds = *(const uint32_t *) member;
    seconds_print(seconds != UNSET32 ? seconds : 0, out);
}
PRINT(qos_factor) {
    factor_print(*(char *const *) member, out);
}
PRINT(qos_factor_or_1) {
    const char *factor = *(char *const *) member;
    factor_print(factor != NULL ? factor : "1", out);
}
PRINT(qos_tres) {
    tres_list_print(*(char *const *) member, out);
}
PRINT(qos_mode) {
    qos_mode_print(data, false, out);
}
PRINT(qos_flags) {
    qos_flags_print(*(const uint32_t *) member, out);
}

/* ---- associations ---- */
unsigned assoc_depth(const struct assoc_index *index, const char *account) {
    unsigned depth = 0;
    const struct assoc *at = assoc_index_own(index, account);
    while (at != NULL && (at = assoc_index_above(index, at)) != NULL &&
           depth < index->list->assocs.n)
        depth++;
    return depth;
}

/* What counts where the association says nothing is what the account above says. */
#define INHERITED(type, name, unset)                                                               \
    static type in_##name(const struct assoc_row *row) {                                           \
        for (const struct assoc *at = row->assoc; at != NULL;                                      \
             at = assoc_index_above(row->index, at)) {                                             \
            if (at->name != unset)                                                                 \
                return at->name;                                                                   \
        }                                                                                          \
        return unset;                                                                              \
    }
INHERITED(uint32_t, max_jobs, UNSET32)
INHERITED(uint32_t, max_jobs_accrue, UNSET32)
INHERITED(uint32_t, max_submit_jobs, UNSET32)
INHERITED(uint32_t, max_wall, UNSET32)
INHERITED(const char *, max_tres, NULL)
INHERITED(const char *, max_tres_per_node, NULL)
INHERITED(const char *, max_tres_mins, NULL)
INHERITED(const char *, max_tres_run_mins, NULL)
INHERITED(const char *, qos, NULL)
INHERITED(const char *, default_qos, NULL)

const char *qos_of_row(const struct assoc_row *row) {
    const char *qos = in_qos(row);
    return qos != NULL ? qos : QOS_NORMAL;
}

/* Nothing where a user has no association. */
#define ASSOC(name, body)                                                                          \
    PRINT(assoc_##name) {                                                                          \
        const struct assoc *assoc = ROW->assoc;                                                    \
        if (assoc != NULL)                                                                         \
            body;                                                                                  \
    }
#define ASSOC_COUNT(name) ASSOC(name, count_print(assoc->name, out))
#define ASSOC_TRES(name) ASSOC(name, tres_list_print(assoc->name, out))
#define ASSOC_IN_COUNT(name) ASSOC(name, count_print(in_##name(ROW), out))
#define ASSOC_IN_TRES(name) ASSOC(name, tres_list_print(in_##name(ROW), out))
ASSOC(cluster, text_print(ROW->index->list->cluster, out))
PRINT(assoc_account) {
    str_append_fill(out, ' ', ROW->depth);
    text_print(ROW->assoc != NULL ? ROW->assoc->account : NULL, out);
}
ASSOC(user_name, text_print(assoc->user, out))
ASSOC(partition, text_print(assoc->partition, out))
ASSOC(parent_name, text_print(assoc->parent, out))
ASSOC(id, str_append_u64(out, assoc->id))
ASSOC(comment, text_print(assoc->comment, out))
PRINT(assoc_shares) {
    if (ROW->assoc == NULL)
        return;
    if (ROW->assoc->shares == SHARES_PARENT)
        str_append(out, "parent");
    else
        str_append_u64(out, ROW->assoc->shares != UNSET32 ? ROW->assoc->shares : 1);
}
ASSOC_COUNT(priority)
ASSOC_COUNT(grp_jobs)
ASSOC_COUNT(grp_jobs_accrue)
ASSOC_COUNT(grp_submit_jobs)
ASSOC(grp_wall, minutes_print(assoc->grp_wall, out))
ASSOC_TRES(grp_tres)
ASSOC_TRES(grp_tres_mins)
ASSOC_TRES(grp_tres_run_mins)
ASSOC_IN_COUNT(max_jobs)
ASSOC_IN_COUNT(max_jobs_accrue)
ASSOC_IN_COUNT(max_submit_jobs)
ASSOC(max_wall, minutes_print(in_max_wall(ROW), out))
ASSOC_IN_TRES(max_tres)
ASSOC_IN_TRES(max_tres_per_node)
ASSOC_IN_TRES(max_tres_mins)
ASSOC_IN_TRES(max_tres_run_mins)
ASSOC_COUNT(min_prio_threshold)
ASSOC(usable_qos, str_append(out, qos_of_row(ROW)))
ASSOC(preferred_qos, text_print(in_default_qos(ROW), out))

/* One resource of a list, as the older columns show it. */
static void item_print(const char *tres, const char *name, struct str *out) {
    size_t length = strlen(name);
    words_each (tres, ",", item) {
        if (strncmp(item, name, length) == 0 && item[length] == '=')
            str_append(out, item + length + 1);
    }
}
ASSOC(max_nodes, item_print(in_max_tres(ROW), "node", out))
ASSOC(max_cpus, item_print(in_max_tres(ROW), "cpu", out))
ASSOC(max_cpu_mins, item_print(in_max_tres_mins(ROW), "cpu", out))
ASSOC(grp_nodes, item_print(assoc->grp_tres, "node", out))
ASSOC(grp_cpus, item_print(assoc->grp_tres, "cpu", out))
ASSOC(grp_mem, item_print(assoc->grp_tres, "mem", out))
ASSOC(grp_cpu_mins, item_print(assoc->grp_tres_mins, "cpu", out))

/* ---- accounts and users ---- */
PRINT(account_name) {
    text_print(ROW->account->name, out);
}
PRINT(account_description) {
    text_print(ROW->account->description, out);
}
PRINT(account_organization) {
    text_print(ROW->account->organization, out);
}
PRINT(account_coordinators) {
    for (uint32_t i = 0; i < ROW->account->coordinators.n; i++)
        str_printf(out, "%s%s", i > 0 ? "," : "", ROW->account->coordinators.items[i]);
}
PRINT(user_name) {
    text_print(ROW->user->name, out);
}
PRINT(user_account) {
    text_print(ROW->user->default_account, out);
}
PRINT(user_wckey) {
    text_print(ROW->user->default_wckey, out);
}
PRINT(user_wckeys) {
    const struct acct_user *user = ROW->user;
    for (uint32_t i = 0; i < user->wckeys.n; i++)
        str_printf(out, "%s%s", i > 0 ? "," : "", user->wckeys.items[i].name);
}
PRINT(wckey_name) {
    text_print(ROW->wckey->name, out);
}
PRINT(wckey_cluster) {
    text_print(ROW->index->list->cluster, out);
}
PRINT(wckey_id) {
    str_append_u64(out, ROW->wckey->id);
}
PRINT(user_admin) {
    text_print(names_text(&names_admin_level, ROW->user->admin_level), out);
}
PRINT(user_coordinates) {
    const char *between = "";
    const struct assoc_link *link = assoc_index_coordinated(ROW->index, ROW->user->name);
    for (; link != NULL; link = link->next) {
        str_printf(out, "%s%s", between, link->account->name);
        between = ",";
    }
}
PRINT(cluster_host) {
    text_print(ROW->index->list->control_host, out);
}
PRINT(cluster_port) {
    str_append_u64(out, ROW->index->list->control_port);
}
PRINT(cluster_rpc) {
    str_append(out, "0"); /* the protocol has no numbers of Slurm's kind */
}
PRINT(tres_type) {
    text_print(ROW->tres_type, out);
}
PRINT(tres_name) {
    text_print(ROW->tres_name, out);
}
PRINT(tres_id) {
    str_append_u64(out, ROW->tres_id);
}

/* ---- tables ---- */
#define C(name, header, width, print)                                                              \
    { 0, name, header, "", print, NULL, width, 0 }
#define Q(name, header, width, member, print)                                                      \
    { 0, name, header, #member, print, NULL, width, 0 }

/* clang-format off */
static const struct column qos_rows[] = {
    Q("Name", "Name", 10, name, column_text_or_empty),
    Q("QOS", "Name", 10, name, column_text_or_empty),
    Q("ID", "ID", 6, id, column_u32),
    Q("Description", "Descr", 20, description, column_text_or_empty),
    Q("Priority", "Priority", 10, priority, column_u32),
    Q("GpuIdleAction", "GpuIdleAction", 13, gpu_idle_action, column_text_or_empty),
    Q("GpuIdleTime", "GpuIdleTime", 11, gpu_idle_time, qos_seconds),
    Q("GpuIdleWarn", "GpuIdleWarn", 11, gpu_idle_warn, qos_seconds),
    Q("GraceTime", "GraceTime", 10, grace_time, qos_seconds_or_none),
    Q("Preempt", "Preempt", 10, preempt, column_text_or_empty),
    Q("PreemptExemptTime", "PreemptExemptTime", 19, exempt_time, qos_seconds),
    Q("PreemptMode", "PreemptMode", 11, preempt_mode, qos_mode),
    Q("Flags", "Flags", 40, flags, qos_flags),
    Q("UsageThreshold", "UsageThres", 10, usage_threshold, qos_factor),
    Q("UsageFactor", "UsageFactor", 11, usage_factor, qos_factor_or_1),
    Q("LimitFactor", "LimitFactor", 11, limit_factor, qos_factor),
    Q("GrpTRES", "GrpTRES", 13, grp_tres, qos_tres),
    Q("GrpTRESMins", "GrpTRESMins", 13, grp_tres_mins, qos_tres),
    Q("GrpTRESRunMins", "GrpTRESRunMins", 13, grp_tres_run_mins, qos_tres),
    Q("GrpJobs", "GrpJobs", 7, grp_jobs, qos_count),
    Q("GrpJobsAccrue", "GrpJobsAccrue", 13, grp_jobs_accrue, qos_count),
    Q("GrpSubmitJobs", "GrpSubmit", 9, grp_submit_jobs, qos_count),
    Q("GrpWall", "GrpWall", 11, grp_wall, qos_minutes),
    Q("MaxTRES", "MaxTRES", 13, max_tres, qos_tres),
    Q("MaxTRESPerJob", "MaxTRES", 13, max_tres, qos_tres),
    Q("MaxTRESPerNode", "MaxTRESPerNode", 14, max_tres_per_node, qos_tres),
    Q("MaxTRESMins", "MaxTRESMins", 13, max_tres_mins, qos_tres),
    Q("MaxWall", "MaxWall", 11, max_wall, qos_minutes),
    Q("MaxTRESPerUser", "MaxTRESPU", 13, max_tres_pu, qos_tres),
    Q("MaxTRESPU", "MaxTRESPU", 13, max_tres_pu, qos_tres),
    Q("MaxJobsPerUser", "MaxJobsPU", 9, max_jobs_pu, qos_count),
    Q("MaxJobsPU", "MaxJobsPU", 9, max_jobs_pu, qos_count),
    Q("MaxJobsAccruePU", "MaxJobsAccruePU", 15, max_jobs_accrue_pu, qos_count),
    Q("MaxSubmitJobsPerUser", "MaxSubmitPU", 11, max_submit_jobs_pu, qos_count),
    Q("MaxSubmitPU", "MaxSubmitPU", 11, max_submit_jobs_pu, qos_count),
    Q("MaxTRESPerAccount", "MaxTRESPA", 13, max_tres_pa, qos_tres),
    Q("MaxTRESPA", "MaxTRESPA", 13, max_tres_pa, qos_tres),
    Q("MaxJobsPerAccount", "MaxJobsPA", 9, max_jobs_pa, qos_count),
    Q("MaxJobsPA", "MaxJobsPA", 9, max_jobs_pa, qos_count),
    Q("MaxJobsAccruePA", "MaxJobsAccruePA", 15, max_jobs_accrue_pa, qos_count),
    Q("MaxSubmitJobsPerAccount", "MaxSubmitPA", 11, max_submit_jobs_pa, qos_count),
    Q("MaxSubmitPA", "MaxSubmitPA", 11, max_submit_jobs_pa, qos_count),
    Q("MaxTRESRunMinsPU", "MaxTRESRunMinsPU", 16, max_tres_run_mins_pu, qos_tres),
    Q("MaxTRESRunMinsPA", "MaxTRESRunMinsPA", 16, max_tres_run_mins_pa, qos_tres),
    Q("MinTRES", "MinTRES", 13, min_tres, qos_tres),
    Q("MinPrioThreshold", "MinPrioThres", 12, min_prio_threshold, qos_count),
};
#define ASSOC_COLUMNS \
    C("Cluster", "Cluster", 10, assoc_cluster), \
    C("Account", "Account", 10, assoc_account), \
    C("User", "User", 10, assoc_user_name), \
    C("Partition", "Partition", 10, assoc_partition), \
    C("ParentName", "ParentName", 10, assoc_parent_name), \
    C("ID", "ID", 6, assoc_id), \
    C("Comment", "Comment", 20, assoc_comment), \
    C("Share", "Share", 9, assoc_shares), \
    C("FairShare", "Share", 9, assoc_shares), \
    C("Priority", "Priority", 10, assoc_priority), \
    C("GrpJobs", "GrpJobs", 7, assoc_grp_jobs), \
    C("GrpNodes", "GrpNodes", 8, assoc_grp_nodes), \
    C("GrpCPUs", "GrpCPUs", 8, assoc_grp_cpus), \
    C("GrpMemory", "GrpMem", 7, assoc_grp_mem), \
    C("GrpCPUMins", "GrpCPUMins", 11, assoc_grp_cpu_mins), \
    C("GrpJobsAccrue", "GrpJobsAccrue", 13, assoc_grp_jobs_accrue), \
    C("GrpTRES", "GrpTRES", 13, assoc_grp_tres), \
    C("GrpSubmitJobs", "GrpSubmit", 9, assoc_grp_submit_jobs), \
    C("GrpWall", "GrpWall", 11, assoc_grp_wall), \
    C("GrpTRESMins", "GrpTRESMins", 13, assoc_grp_tres_mins), \
    C("MaxJobs", "MaxJobs", 7, assoc_max_jobs), \
    C("MaxJobsAccrue", "MaxJobsAccrue", 13, assoc_max_jobs_accrue), \
    C("MaxTRES", "MaxTRES", 13, assoc_max_tres), \
    C("MaxTRESPerJob", "MaxTRES", 13, assoc_max_tres), \
    C("MaxTRESPerNode", "MaxTRESPerNode", 14, assoc_max_tres_per_node), \
    C("MaxSubmitJobs", "MaxSubmit", 9, assoc_max_submit_jobs), \
    C("MaxWall", "MaxWall", 11, assoc_max_wall), \
    C("MaxTRESMins", "MaxTRESMins", 13, assoc_max_tres_mins), \
    C("MaxTRESRunMins", "MaxTRESRunMins", 14, assoc_max_tres_run_mins), \
    C("MaxNodes", "MaxNodes", 8, assoc_max_nodes), \
    C("MaxCPUs", "MaxCPUs", 8, assoc_max_cpus), \
    C("MaxCPUMins", "MaxCPUMins", 11, assoc_max_cpu_mins), \
    C("QOS", "QOS", 20, assoc_usable_qos), \
    C("QosLevel", "QOS", 20, assoc_usable_qos), \
    C("DefaultQOS", "Def QOS", 9, assoc_preferred_qos), \
    C("GrpTRESRunMins", "GrpTRESRunMins", 13, assoc_grp_tres_run_mins), \
    C("MinPrioThreshold", "MinPrioThres", 12, assoc_min_prio_threshold)
static const struct column assoc_rows[] = {ASSOC_COLUMNS};
static const struct column account_rows[] = {
    C("Account", "Account", 10, account_name),
    C("Name", "Account", 10, account_name),
    C("Description", "Descr", 20, account_description),
    C("Organization", "Org", 20, account_organization),
    C("Coordinators", "Coord Accounts", 20, account_coordinators),
    ASSOC_COLUMNS,
};
static const struct column user_rows[] = {
    C("User", "User", 10, user_name),
    C("Name", "User", 10, user_name),
    C("DefaultAccount", "Def Acct", 10, user_account),
    C("DefaultWCKey", "Def WCKey", 10, user_wckey),
    C("WCKeys", "WCKeys", 20, user_wckeys),
    C("AdminLevel", "Admin", 9, user_admin),
    C("Coordinators", "Coord Accounts", 20, user_coordinates),
    ASSOC_COLUMNS,
};
static const struct column cluster_rows[] = {
    C("Cluster", "Cluster", 10, assoc_cluster),
    C("Name", "Cluster", 10, assoc_cluster),
    C("ControlHost", "ControlHost", 15, cluster_host),
    C("ControlPort", "ControlPort", 12, cluster_port),
    C("RPC", "RPC", 5, cluster_rpc),
    ASSOC_COLUMNS,
};
static const struct column tres_rows[] = {
    C("Type", "Type", 8, tres_type),
    C("Name", "Name", 15, tres_name),
    C("ID", "ID", 6, tres_id),
};
static const struct column wckey_rows[] = {
    C("WCKey", "WCKey", 10, wckey_name),
    C("Name", "WCKey", 10, wckey_name),
    C("Cluster", "Cluster", 10, wckey_cluster),
    C("User", "User", 10, user_name),
    C("ID", "ID", 6, wckey_id),
};
/* clang-format on */

const struct column_table columns_qos = {&record_qos, qos_rows, countof(qos_rows), true};
const struct column_table columns_assoc = {NULL, assoc_rows, countof(assoc_rows), false};
const struct column_table columns_account = {NULL, account_rows, countof(account_rows), false};
const struct column_table columns_acct_user = {NULL, user_rows, countof(user_rows), false};
const struct column_table columns_acct_cluster = {NULL, cluster_rows, countof(cluster_rows), false};
const struct column_table columns_wckey = {NULL, wckey_rows, countof(wckey_rows), false};
const struct column_table columns_tres = {NULL, tres_rows, countof(tres_rows), false};
