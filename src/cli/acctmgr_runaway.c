/* SPDX-License-Identifier: Apache-2.0 */
/* sacctmgr show runawayjobs: jobs without an end that their controller does not know. */
#include <stdio.h>

#include "cli/acctmgr.h"
#include "cli/connect.h"
#include "text/timestamp.h"

#define FIELDS "id,name,partition,cluster,state,timestart,timeend"

struct runaway {
    const struct job *job;
    const char *cluster;
};

#define PRINT(name)                                                                                \
    static void name(const void *data, const void *member, struct column_env *env, struct str *out)
#define JOB (((const struct runaway *) data)->job)

static void text_print(const char *text, struct str *out) {
    str_append(out, text != NULL ? text : "");
}
PRINT(print_id) {
    str_append_u64(out, JOB->job_id);
}
PRINT(print_name) {
    text_print(JOB->name, out);
}
PRINT(print_partition) {
    text_print(JOB->partition, out);
}
PRINT(print_user) {
    text_print(JOB->user_name, out);
}
PRINT(print_account) {
    text_print(JOB->account, out);
}
PRINT(print_cluster) {
    text_print(((const struct runaway *) data)->cluster, out);
}
PRINT(print_state) {
    text_print(names_text(&names_job_state, JOB->state), out);
}
PRINT(print_submit) {
    timestamp_print(JOB->submit_time, env->time_format, env->now, out);
}
PRINT(print_start) {
    timestamp_print(JOB->start_time, env->time_format, env->now, out);
}
PRINT(print_end) {
    text_print("Unknown", out);
}

/* clang-format off */
static const struct column rows_runaway[] = {
    {.name = "ID", .header = "ID", .print = print_id, .width = 12},
    {.name = "JobID", .header = "ID", .print = print_id, .width = 12},
    {.name = "Name", .header = "Name", .print = print_name, .width = 10},
    {.name = "Partition", .header = "Partition", .print = print_partition, .width = 10},
    {.name = "Cluster", .header = "Cluster", .print = print_cluster, .width = 10},
    {.name = "State", .header = "State", .print = print_state, .width = 10},
    {.name = "TimeSubmit", .header = "TimeSubmit", .print = print_submit, .width = 19},
    {.name = "TimeStart", .header = "TimeStart", .print = print_start, .width = 19},
    {.name = "TimeEnd", .header = "TimeEnd", .print = print_end, .width = 19},
    {.name = "User", .header = "User", .print = print_user, .width = 10},
    {.name = "Account", .header = "Account", .print = print_account, .width = 10},
};
/* clang-format on */
static const struct column_table columns_runaway = {NULL, rows_runaway, countof(rows_runaway),
                                                    false};

static int show(const struct acctmgr_settings *settings, const char *format, const char *cluster,
                const struct acct_list *list) {
    struct rows rows = {NULL, 0, 0};
    struct arena arena;
    arena_init(&arena, 0);
    for (uint32_t i = 0; i < list->items.n; i++) {
        struct runaway *row = arena_alloc(&arena, sizeof(*row));
        *row = (struct runaway) {list->items.items[i].job, cluster};
        rows_push(&rows, row);
    }
    int status = acctmgr_print(settings, &columns_runaway, format, cluster, &rows);
    rows_done(&rows);
    arena_done(&arena);
    return status;
}

static int one_cluster(struct list_session *session, const struct acctmgr_settings *settings,
                       const char *format, const char *cluster) {
    struct runaway_query query = {.cluster = (char *) (uintptr_t) cluster};
    const struct acct_list *list;
    struct error err = ERROR_INIT;
    if (list_ask_dbd(session, MSG_LIST_RUNAWAYS, &query, MSG_ACCT_LIST, (const void **) &list,
                     &err) < 0)
        return acctmgr_complain(&err);
    if (list->items.n == 0) {
        printf("Runaway Jobs: No runaway jobs found on cluster %s\n", cluster);
        return 0;
    }
    printf("NOTE: Runaway jobs have a start and no end in the database, and their controller does "
           "not know them\n");
    int status = show(settings, format, cluster, list);
    if (status != 0 || settings->read_only)
        return status;
    printf("\nWould you like to fix these runaway jobs?\n(They are ended as COMPLETED at their "
           "start, as if they had used nothing; usage is summed up anew.)\n\n");
    if (!settings->immediate && !acctmgr_user_agrees())
        return 0;
    query.fix = true;
    if (list_ask_dbd(session, MSG_LIST_RUNAWAYS, &query, MSG_ACCT_LIST, (const void **) &list,
                     &err) < 0)
        return acctmgr_complain(&err);
    printf(" Fixed %u runaway jobs of cluster %s\n", list->items.n, cluster);
    return 0;
}

int acctmgr_show_runaways(struct list_session *session, const struct acctmgr_settings *settings,
                          int argc, char **argv) {
    const char *format = FIELDS;
    struct strs clusters cleanup_strs = {NULL, 0};
    const struct acctmgr_condition conditions[] = {{"format", 1, WHERE_TEXT, &format},
                                                   {"cluster", 1, WHERE_LOWER_WORDS, &clusters}};
    int status = acctmgr_where(conditions, countof(conditions), "cluster", argc, argv);
    if (clusters.n == 0)
        strs_push(&clusters, list_session_conf(session)->cluster_name);
    for (uint32_t i = 0; status == 0 && i < clusters.n; i++)
        status = one_cluster(session, settings, format, clusters.items[i]);
    return status;
}
