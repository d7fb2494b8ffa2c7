/* SPDX-License-Identifier: Apache-2.0 */
/* sacctmgr show transactions: who changed what in the book, and when. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "assoc/keys.h"
#include "base/alloc.h"
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

static bool read_time(const char *text, int64_t *ret) {
    struct error err = ERROR_INIT;
    if (timestamp_parse(text, time(NULL), true, ret, &err) == 0)
        return true;
    fprintf(stderr, "%s\n", err.text);
    return false;
}

/* 0, or 1 after a complaint. */
static int read_word(struct change_query *query, const char **format, const char *word) {
    const struct {
        const char *name;
        size_t least;
        struct strs *list;
    } rows[] = {{"action", 4, &query->actions},   {"actor", 4, &query->actors},
                {"cluster", 1, &query->clusters}, {"account", 3, &query->objects},
                {"user", 1, &query->objects},     {"name", 1, &query->objects}};
    const char *equals = strchr(word, '=');
    size_t length = equals != NULL ? (size_t) (equals - word) : 0;
    if (strcasecmp(word, "where") == 0 || condition_is(word, strlen(word), "withassocinfo", 5))
        return 0;
    if (equals == NULL) {
        strs_split(&query->objects, word);
        return 0;
    }
    if (condition_is(word, length, "format", 1)) {
        *format = equals + 1;
        return 0;
    }
    if (condition_is(word, length, "start", 1))
        return read_time(equals + 1, &query->start) ? 0 : 1;
    if (condition_is(word, length, "end", 1))
        return read_time(equals + 1, &query->end) ? 0 : 1;
    for (size_t i = 0; i < countof(rows); i++) {
        if (!condition_is(word, length, rows[i].name, rows[i].least))
            continue;
        strs_split(rows[i].list, equals + 1);
        return 0;
    }
    fprintf(stderr,
            " Unknown condition: %s\n Conditions are account, action, actor, cluster, end, start, "
            "user; and format=FIELDS\n",
            word);
    return 1;
}

int acctmgr_show_changes(struct list_session *session, const struct acctmgr_settings *settings,
                         int argc, char **argv) {
    struct change_query query;
    struct rows rows = {NULL, 0, 0};
    struct error err = ERROR_INIT;
    const char *format = FIELDS;
    int status = 0;
    record_init(&record_change_query, &query);
    for (int i = 0; i < argc && status == 0; i++)
        status = read_word(&query, &format, argv[i]);
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
