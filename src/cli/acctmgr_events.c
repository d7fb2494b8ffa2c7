/* SPDX-License-Identifier: Apache-2.0 */
/* sacctmgr show event: when which node was out of service, and why. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "assoc/keys.h"
#include "base/alloc.h"
#include "cli/acctmgr.h"
#include "text/duration.h"
#include "text/hostlist.h"
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

static bool read_time(const char *text, int64_t *ret) {
    struct error err = ERROR_INIT;
    if (timestamp_parse(text, time(NULL), true, ret, &err) == 0)
        return true;
    fprintf(stderr, "%s\n", err.text);
    return false;
}

static bool read_nodes(const char *text, struct strs *ret) {
    struct hostlist nodes = HOSTLIST_INIT;
    struct error err = ERROR_INIT;
    if (hostlist_parse(&nodes, text, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return false;
    }
    for (size_t i = 0; i < nodes.n; i++)
        strs_push(ret, nodes.names[i]);
    hostlist_done(&nodes);
    return true;
}

static bool is_word(const char *word, size_t length, const char *name, size_t least) {
    return condition_is(word, length, name, least);
}

/* 0, or 1 after a complaint. */
static int read_word(struct event_query *query, const char **format, const char *word) {
    const struct {
        const char *name;
        size_t least;
        struct strs *list;
    } rows[] = {{"cluster", 1, &query->clusters},
                {"reason", 1, &query->reasons},
                {"state", 4, &query->states},
                {"user", 1, &query->users}};
    const char *equals = strchr(word, '=');
    size_t length = equals != NULL ? (size_t) (equals - word) : strlen(word);
    if (strcasecmp(word, "where") == 0)
        return 0;
    if (equals == NULL &&
        (is_word(word, length, "all_time", 5) || is_word(word, length, "alltime", 4))) {
        query->start = 0;
        return 0;
    }
    if (equals == NULL && is_word(word, length, "onlyopen", 5)) {
        query->only_open = true;
        return 0;
    }
    if (equals == NULL)
        return read_nodes(word, &query->nodes) ? 0 : 1;
    if (is_word(word, length, "format", 1)) {
        *format = equals + 1;
        return 0;
    }
    if (is_word(word, length, "start", 3))
        return read_time(equals + 1, &query->start) ? 0 : 1;
    if (is_word(word, length, "end", 1))
        return read_time(equals + 1, &query->end) ? 0 : 1;
    if (is_word(word, length, "node", 1) || is_word(word, length, "name", 1))
        return read_nodes(equals + 1, &query->nodes) ? 0 : 1;
    for (size_t i = 0; i < countof(rows); i++) {
        if (!is_word(word, length, rows[i].name, rows[i].least))
            continue;
        strs_split(rows[i].list, equals + 1);
        return 0;
    }
    fprintf(stderr,
            " Unknown condition: %s\n Conditions are all_time, cluster, end, nodes, onlyopen, "
            "reason, start, state, user; and format=FIELDS\n",
            word);
    return 1;
}

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
    int status = 0;
    record_init(&record_event_query, &query);
    query.start = midnight();
    for (int i = 0; i < argc && status == 0; i++)
        status = read_word(&query, &format, argv[i]);
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
