/* SPDX-License-Identifier: Apache-2.0 */
/* sacctmgr show transactions: who changed what in the book, and when. */
#include "cli/acctmgr.h"
#include "text/timestamp.h"

#define FIELDS "time,action,actor,where,info"

#define PRINT(name)                                                                                \
    static void name(const void *data, const void *member, struct column_env *env, struct str *out)
#define ROW ((const struct acct_transaction *) data)

PRINT(print_time) {
    timestamp_print(ROW->time, env->time_format, env->now, out);
}
PRINT(print_text) {
    const char *text = *(char *const *) member;
    str_append(out, text != NULL ? text : "");
}

/* clang-format off */
static const struct column rows_change[] = {
    {.name = "Time", .header = "Time", .print = print_time, .needs = "time", .width = 19},
    {.name = "TimeStamp", .header = "Time", .print = print_time, .needs = "time", .width = 19},
    {.name = "Action", .header = "Action", .print = print_text, .needs = "action", .width = 20},
    {.name = "Actor", .header = "Actor", .print = print_text, .needs = "actor", .width = 10},
    {.name = "Where", .header = "Where", .print = print_text, .needs = "subject", .width = 20},
    {.name = "Info", .header = "Info", .print = print_text, .needs = "info", .width = 20},
    {.name = "Cluster", .header = "Cluster", .print = print_text, .needs = "cluster", .width = 10},
};
/* clang-format on */
static const struct column_table columns_change = {&record_acct_transaction, rows_change,
                                                   countof(rows_change), true};

int acctmgr_show_changes(struct list_session *session, const struct acctmgr_settings *settings,
                         int argc, char **argv) {
    struct change_query query;
    struct rows rows = {NULL, 0, 0};
    struct error err = ERROR_INIT;
    const char *format = FIELDS;
    const struct acctmgr_condition conditions[] = {
        {"format", 1, WHERE_TEXT, &format},          {"start", 1, WHERE_TIME, &query.start},
        {"end", 1, WHERE_TIME, &query.end},          {"action", 4, WHERE_WORDS, &query.actions},
        {"actor", 4, WHERE_WORDS, &query.actors},    {"cluster", 1, WHERE_WORDS, &query.clusters},
        {"account", 3, WHERE_WORDS, &query.objects}, {"user", 1, WHERE_WORDS, &query.objects},
        {"name", 1, WHERE_WORDS, &query.objects},    {"withassocinfo", 5, WHERE_NOTHING, NULL},
        {NULL, 0, WHERE_WORDS, &query.objects},
    };
    record_init(&record_change_query, &query);
    int status = acctmgr_where(conditions, countof(conditions),
                               "account, action, actor, cluster, end, start, user", argc, argv);
    if (status == 0 && list_changes(session, &query, &rows, &err) < 0) {
        list_load_error("sacctmgr: error", &err);
        status = 1;
    }
    if (status == 0)
        status = acctmgr_print(settings, &columns_change, format,
                               list_session_conf(session)->cluster_name, &rows);
    rows_done(&rows);
    record_done(&record_change_query, &query);
    return session->partial ? 1 : status;
}
