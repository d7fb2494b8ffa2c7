/* SPDX-License-Identifier: Apache-2.0 */
/* sacctmgr show event: when which node was out of service, and why. */
#include <time.h>

#include "cli/acctmgr.h"
#include "text/duration.h"
#include "text/timestamp.h"

#define FIELDS "cluster,nodename,timestart,timeend,state,reason,user"

#define PRINT(name)                                                                                \
    static void name(const void *data, const void *member, struct column_env *env, struct str *out)
#define ROW ((const struct acct_outage *) data)

PRINT(print_text) {
    const char *text = *(char *const *) member;
    str_append(out, text != NULL ? text : "");
}
PRINT(print_time) {
    int64_t time = *(const int64_t *) member;
    if (time == 0)
        str_append(out, "Unknown");
    else
        timestamp_print(time, env->time_format, env->now, out);
}
PRINT(print_duration) {
    duration_print_long((ROW->end != 0 ? ROW->end : env->now) - ROW->start, out);
}
PRINT(print_user) {
    uint32_t uid;
    if (ROW->user == NULL)
        return;
    str_append(out, ROW->user);
    if (list_user_find(ROW->user, &uid))
        str_printf(out, "(%u)", uid);
}
/* "Unknown" would be cut to its first letters; the classic column says no more either. */
PRINT(print_cluster) {
    str_append(out, ROW->cluster != NULL ? ROW->cluster : env->cluster);
}

/* clang-format off */
static const struct column rows_event[] = {
    {.name = "Cluster", .header = "Cluster", .print = print_cluster, .needs = "cluster", .width = 10},
    {.name = "NodeName", .header = "NodeName", .print = print_text, .needs = "node", .width = 15, .flags = COLUMN_LEFT},
    {.name = "TimeStart", .header = "TimeStart", .print = print_time, .needs = "start", .width = 19},
    {.name = "Start", .header = "TimeStart", .print = print_time, .needs = "start", .width = 19},
    {.name = "TimeEnd", .header = "TimeEnd", .print = print_time, .needs = "end", .width = 19},
    {.name = "End", .header = "TimeEnd", .print = print_time, .needs = "end", .width = 19},
    {.name = "Duration", .header = "Duration", .print = print_duration, .needs = "start", .width = 13},
    {.name = "State", .header = "State", .print = print_text, .needs = "state", .width = 6},
    {.name = "Reason", .header = "Reason", .print = print_text, .needs = "reason", .width = 30},
    {.name = "User", .header = "User", .print = print_user, .needs = "user", .width = 10},
    {.name = "TRES", .header = "TRES", .print = print_text, .needs = "tres", .width = 20},
};
/* clang-format on */
static const struct column_table columns_event = {&record_acct_outage, rows_event,
                                                  countof(rows_event), true};

static int64_t midnight(void) {
    time_t now = time(NULL);
    struct tm tm;
    localtime_r(&now, &tm);
    tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
    tm.tm_isdst = -1;
    return mktime(&tm);
}

int acctmgr_show_events(struct list_session *session, const struct acctmgr_settings *settings,
                        int argc, char **argv) {
    struct event_query query;
    struct rows rows = {NULL, 0, 0};
    struct error err = ERROR_INIT;
    const char *format = FIELDS;
    const struct acctmgr_condition conditions[] = {
        {"format", 1, WHERE_TEXT, &format},           {"start", 3, WHERE_TIME, &query.start},
        {"end", 1, WHERE_TIME, &query.end},           {"node", 1, WHERE_NODES, &query.nodes},
        {"name", 1, WHERE_NODES, &query.nodes},       {"cluster", 1, WHERE_WORDS, &query.clusters},
        {"reason", 1, WHERE_WORDS, &query.reasons},   {"state", 4, WHERE_WORDS, &query.states},
        {"user", 1, WHERE_WORDS, &query.users},       {"all_time", 5, WHERE_ALL_TIME, &query.start},
        {"alltime", 4, WHERE_ALL_TIME, &query.start}, {"onlyopen", 5, WHERE_FLAG, &query.only_open},
        {NULL, 0, WHERE_NODES, &query.nodes},
    };
    record_init(&record_event_query, &query);
    query.start = midnight();
    int status = acctmgr_where(
        conditions, countof(conditions),
        "all_time, cluster, end, nodes, onlyopen, reason, start, state, user", argc, argv);
    if (status == 0 && list_events(session, &query, &rows, &err) < 0) {
        list_load_error("sacctmgr: error", &err);
        status = 1;
    }
    if (status == 0)
        status = acctmgr_print(settings, &columns_event, format,
                               list_session_conf(session)->cluster_name, &rows);
    rows_done(&rows);
    record_done(&record_event_query, &query);
    return session->partial ? 1 : status;
}
