/* SPDX-License-Identifier: Apache-2.0 */
/* sdiag: the controller's counters in the layout that monitoring reads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "cli/json_dump.h"
#include "cli/list.h"
#include "cli/list_options.h"
#include "model/conf.h"

struct settings {
    const char *clusters, *json;
    int (*order)(const void *pa, const void *pb); /* of the tables of calls */
};

/* One line of a table of calls. */
struct call {
    char name[256];
    unsigned number;
    unsigned long long n, usec;
};

static int order_count(const void *pa, const void *pb) {
    const struct call *a = pa, *b = pb;
    return (a->n < b->n) - (a->n > b->n);
}
static int order_id(const void *pa, const void *pb) {
    const struct call *a = pa, *b = pb;
    return (a->number > b->number) - (a->number < b->number);
}
static int order_time(const void *pa, const void *pb) {
    const struct call *a = pa, *b = pb;
    return (a->usec < b->usec) - (a->usec > b->usec);
}
static int order_mean(const void *pa, const void *pb) {
    const struct call *a = pa, *b = pb;
    return (a->usec / a->n < b->usec / b->n) - (a->usec / a->n > b->usec / b->n);
}

#define SET(name) static void name(void *data, const char *value)
#define SETTINGS ((struct settings *) data)
#define AT(member) offsetof(struct settings, member)
SET(set_reset) {
    list_fail("-r: the counters count from the controller's start and are not reset");
}
SET(set_order_id) {
    SETTINGS->order = order_id;
}
SET(set_order_time) {
    SETTINGS->order = order_time;
}
SET(set_order_mean) {
    SETTINGS->order = order_mean;
}

/* clang-format off */
static const struct list_option option_rows[] = {
    {"all", 'a', LIST_ARG_NONE, NULL, list_set_nothing, NULL, "all statistics (the default)"},
    {"json", 0, LIST_ARG_OPTIONAL, NULL, list_set_json, "data_parser", "JSON output", AT(json)},
    {"cluster", 'M', LIST_ARG_REQUIRED, "SLURM_CLUSTERS", list_set_text, "name",
        "the cluster to ask", AT(clusters)},
    {"reset", 'r', LIST_ARG_NONE, NULL, set_reset, NULL, NULL},
    {"sort-by-id", 'i', LIST_ARG_NONE, NULL, set_order_id, NULL, "calls by their number"},
    {"sort-by-time", 't', LIST_ARG_NONE, NULL, set_order_time, NULL, "calls by their total time"},
    {"sort-by-time2", 'T', LIST_ARG_NONE, NULL, set_order_mean, NULL, "calls by their average time"},
    {"yaml", 0, LIST_ARG_OPTIONAL, NULL, list_set_yaml, "data_parser", "YAML output", AT(json)},
};
/* clang-format on */
static const struct list_options options = {option_rows, countof(option_rows), "sdiag [-aM]"};

/* Tables of calls: rows whose key is "rpc NAME NUMBER" or "user NAME UID" and whose value is
 * "COUNT MICROSECONDS". */
static const struct call_table {
    const char *kind, *title, *json, *json_name, *json_number;
    const char *format;
} call_tables[] = {
    {"rpc", "Remote Procedure Call statistics by message type", "rpcs_by_message_type",
     "message_type", "type_id", "\t%-40s(%5u) count:%-6llu ave_time:%-6llu total_time:%llu\n"},
    {"user", "Remote Procedure Call statistics by user", "rpcs_by_user", "user", "user_id",
     "\t%-16s(%8u) count:%-6llu ave_time:%-6llu total_time:%llu\n"},
};

static bool call_read(const struct call_table *table, const struct key_value *item,
                      struct call *ret) {
    size_t length = strlen(table->kind);
    return item->key && item->value && !strncmp(item->key, table->kind, length) &&
           item->key[length] == ' ' &&
           sscanf(item->key + length, " %255s %u", ret->name, &ret->number) == 2 &&
           sscanf(item->value, "%llu %llu", &ret->n, &ret->usec) == 2 && ret->n > 0;
}

typedef vec(struct call) calls;

static void calls_read(const struct call_table *table, const struct diag *diag,
                       const struct settings *settings, calls *ret) {
    for (uint32_t i = 0; i < diag->items.n; i++) {
        struct call call;
        if (call_read(table, &diag->items.items[i], &call))
            vec_push(ret, call);
    }
    if (ret->n > 1)
        qsort(ret->items, ret->n, sizeof(struct call),
              settings->order ? settings->order : order_count);
}

static void calls_print(const struct diag *diag, const struct settings *settings, struct str *out) {
    for (size_t i = 0; i < countof(call_tables); i++) {
        calls rows = {0};
        calls_read(&call_tables[i], diag, settings, &rows);
        str_printf(out, "\n%s\n", call_tables[i].title);
        vec_each (&rows, call)
            str_printf(out, call_tables[i].format, call->name, call->number, call->n,
                       call->usec / call->n, call->usec);
        vec_done(&rows);
    }
    str_append(out, "\nPending RPC statistics\n\tNo pending RPCs\n");
}

static void calls_json(const struct diag *diag, const struct settings *settings,
                       struct json *json) {
    for (size_t i = 0; i < countof(call_tables); i++) {
        calls rows = {0};
        calls_read(&call_tables[i], diag, settings, &rows);
        json_array(json, call_tables[i].json);
        vec_each (&rows, call) {
            json_object(json, NULL);
            json_text(json, call_tables[i].json_name, call->name);
            json_unsigned(json, call_tables[i].json_number, call->number);
            json_unsigned(json, "count", call->n);
            json_number(json, "average_time", true, false, call->usec / call->n);
            json_unsigned(json, "total_time", call->usec);
            json_end(json);
        }
        json_end(json);
        vec_done(&rows);
    }
}

/* One line: its label, how its value stands, the counter that fills it (NULL: a line as it is;
 * counters that the controller lacks print 0). `json` is its key there. */
enum line_kind { LINE_TEXT, LINE_NUMBER, LINE_TIME };
static const struct line {
    enum line_kind kind;
    const char *label, *counter, *json;
} lines[] = {
    {LINE_NUMBER, "Server thread count:  ", "connections", "server_thread_count"},
    {LINE_NUMBER, "Agent queue size:     ", "agent_queue_size", "agent_queue_size"},
    {LINE_NUMBER, "Agent count:          ", "agent_count", "agent_count"},
    {LINE_NUMBER, "Agent thread count:   ", "agent_thread_count", "agent_thread_count"},
    {LINE_NUMBER, "DBD Agent queue size: ", "dbd_agent_queue_size", "dbd_agent_queue_size"},
    {LINE_TEXT, "", NULL, NULL},
    {LINE_NUMBER, "Jobs submitted: ", "jobs_submitted", "jobs_submitted"},
    {LINE_NUMBER, "Jobs started:   ", "jobs_started", "jobs_started"},
    {LINE_NUMBER, "Jobs completed: ", "jobs_ended", "jobs_completed"},
    {LINE_NUMBER, "Jobs canceled:  ", "jobs_cancelled", "jobs_canceled"},
    {LINE_NUMBER, "Jobs failed:    ", "jobs_failed", "jobs_failed"},
    {LINE_TEXT, "", NULL, NULL},
    {LINE_TIME, "Job states ts:  ", "now", "job_states_ts"},
    {LINE_NUMBER, "Jobs pending:   ", "jobs_pending", "jobs_pending"},
    {LINE_NUMBER, "Jobs running:   ", "jobs_running", "jobs_running"},
    {LINE_TEXT, "", NULL, NULL},
    {LINE_TEXT, "Main schedule statistics (microseconds):", NULL, NULL},
    {LINE_NUMBER, "\tLast cycle:   ", "planner_usec_last", "schedule_cycle_last"},
    {LINE_NUMBER, "\tMax cycle:    ", "planner_usec_max", "schedule_cycle_max"},
    {LINE_NUMBER, "\tTotal cycles: ", "planner_passes", "schedule_cycle_total"},
    {LINE_NUMBER, "\tMean cycle:   ", "planner_usec_mean", "schedule_cycle_mean"},
    {LINE_NUMBER, "\tMean depth cycle:  ", "planner_depth_mean", "schedule_cycle_mean_depth"},
    {LINE_NUMBER, "\tCycles per minute: ", "planner_per_minute", "schedule_cycle_per_minute"},
    {LINE_NUMBER, "\tLast queue length: ", "jobs_pending", "schedule_queue_length"},
    {LINE_TEXT, "", NULL, NULL},
    {LINE_TEXT, "Main scheduler exit:", NULL, NULL},
    {LINE_NUMBER, "\tEnd of job queue:     ", "planner_passes", NULL},
    {LINE_NUMBER, "\tHit default_queue_depth: ", "exit_depth", NULL},
    {LINE_NUMBER, "\tHit sched_max_job_start: ", "exit_starts", NULL},
    {LINE_NUMBER, "\tBlocked on licenses:  ", "exit_licenses", NULL},
    {LINE_NUMBER, "\tHit max_rpc_cnt:      ", "exit_rpc", NULL},
    {LINE_NUMBER, "\tTimeout (max_sched_time): ", "exit_time", NULL},
    {LINE_TEXT, "", NULL, NULL},
    {LINE_TEXT, "Backfilling stats", NULL, NULL},
    {LINE_NUMBER, "\tTotal backfilled jobs (since last slurm start): ", "backfilled",
     "bf_backfilled_jobs"},
    {LINE_NUMBER, "\tTotal backfilled jobs (since last stats cycle start): ", "backfilled",
     "bf_last_backfilled_jobs"},
    {LINE_NUMBER, "\tTotal backfilled heterogeneous job components: ", "backfilled_het",
     "bf_backfilled_het_jobs"},
    {LINE_NUMBER, "\tTotal cycles: ", "planner_passes", "bf_cycle_counter"},
    {LINE_TIME, "\tLast cycle when: ", "planner_last", "bf_when_last_cycle"},
    {LINE_NUMBER, "\tLast cycle: ", "planner_usec_last", "bf_cycle_last"},
    {LINE_NUMBER, "\tMax cycle:  ", "planner_usec_max", "bf_cycle_max"},
    {LINE_NUMBER, "\tMean cycle: ", "planner_usec_mean", "bf_cycle_mean"},
    {LINE_NUMBER, "\tLast depth cycle: ", "planner_depth_last", "bf_last_depth"},
    {LINE_NUMBER, "\tLast depth cycle (try sched): ", "planner_depth_last", "bf_last_depth_try"},
    {LINE_NUMBER, "\tDepth Mean: ", "planner_depth_mean", "bf_depth_mean"},
    {LINE_NUMBER, "\tDepth Mean (try depth): ", "planner_depth_mean", "bf_depth_mean_try"},
    {LINE_NUMBER, "\tLast queue length: ", "jobs_pending", "bf_queue_len"},
    {LINE_NUMBER, "\tQueue length mean: ", "jobs_pending", "bf_queue_len_mean"},
    {LINE_NUMBER, "\tLast table size: ", "profile_size", "bf_table_size"},
    {LINE_NUMBER, "\tMean table size: ", "profile_size", "bf_table_size_mean"},
};

static uint64_t counter(const struct diag *diag, const char *key) {
    uint64_t value = 0;
    for (uint32_t i = 0; key && i < diag->items.n; i++) {
        if (str_equal(diag->items.items[i].key, key) && diag->items.items[i].value)
            str_to_u64(diag->items.items[i].value, &value);
    }
    return value;
}

/* "Mon Nov 30 16:39:38 2026 (1796056778)" and a newline. */
static void time_print(uint64_t time, struct str *out) {
    list_date_print((int64_t) time, out);
    out->length--;
    str_printf(out, " (%llu)\n", (unsigned long long) time);
}

static bool is_used(const char *key) {
    for (size_t i = 0; i < countof(lines); i++) {
        if (lines[i].counter && !strcmp(lines[i].counter, key))
            return true;
    }
    return str_equal(key, "server_start") || strchr(key, ' ') != NULL; /* or a table's row */
}

#define STARS "*******************************************************\n"

static void text_print(const struct diag *diag, const struct settings *settings, struct str *out) {
    str_append(out, STARS "sdiag output at ");
    time_print(counter(diag, "now"), out);
    str_append(out, "Data since      ");
    time_print(counter(diag, "server_start"), out);
    str_append(out, STARS);
    for (size_t i = 0; i < countof(lines); i++) {
        uint64_t value = counter(diag, lines[i].counter);
        str_append(out, lines[i].label);
        if (lines[i].kind == LINE_TIME)
            time_print(value, out);
        else if (lines[i].kind == LINE_NUMBER)
            str_printf(out, "%llu\n", (unsigned long long) value);
        else
            str_append_char(out, '\n');
    }
    calls_print(diag, settings, out);
    /* What the controller counts beyond that. */
    str_append(out, "\nController\n");
    for (uint32_t i = 0; i < diag->items.n; i++) {
        const struct key_value *item = &diag->items.items[i];
        if (!is_used(item->key))
            str_printf(out, "\t%s: %s\n", item->key, item->value ? item->value : "");
    }
}

static const char *text_of(const struct diag *diag, const char *key) {
    for (uint32_t i = 0; i < diag->items.n; i++) {
        if (str_equal(diag->items.items[i].key, key))
            return diag->items.items[i].value;
    }
    return NULL;
}

/* What is delayed, since when and why. */
static void note_delivery(const struct diag *diag) {
    const char *host = text_of(diag, "dbd_host"), *problem = text_of(diag, "dbd_problem");
    uint64_t n = counter(diag, "dbd_agent_queue_size");
    if (host == NULL || n == 0 || problem == NULL || problem[0] == '\0')
        return;
    struct str since cleanup_str = STR_INIT;
    list_date_print((int64_t) counter(diag, "dbd_since"), &since);
    since.data[since.length - 1] = '\0';
    cleanup_free char *text =
        xasprintf("%llu records wait for slurmdbd on %s since %s; none is lost: %s",
                  (unsigned long long) n, host, since.data, problem);
    list_note(text);
}

static void json_print(const struct diag *diag, const struct settings *settings, int argc,
                       char **argv, const struct column_env *env, struct str *out) {
    struct json_dump dump;
    json_dump_begin(&dump, settings->json, argc, argv, env, out);
    json_object(&dump.json, "statistics");
    json_number(&dump.json, "req_time", true, false, counter(diag, "now"));
    json_number(&dump.json, "req_time_start", true, false, counter(diag, "server_start"));
    for (size_t i = 0; i < countof(lines); i++) {
        if (lines[i].kind == LINE_TIME)
            json_number(&dump.json, lines[i].json, true, false, counter(diag, lines[i].counter));
        else if (lines[i].kind == LINE_NUMBER && lines[i].json)
            json_unsigned(&dump.json, lines[i].json, counter(diag, lines[i].counter));
    }
    calls_json(diag, settings, &dump.json);
    json_end(&dump.json);
    json_dump_end(&dump);
}

int main(int argc, char **argv) {
    struct settings settings = {0};
    struct list_session session;
    struct str out cleanup_str = STR_INIT;
    struct error err = ERROR_INIT;
    struct empty empty = {false};
    struct column_env env;
    const struct diag *diag;
    int first = list_options_parse(&options, argc, argv, &settings);
    if (first < argc)
        list_fail("Unrecognized option: %s", argv[first]);
    list_session_init(&session, "sdiag");
    if (settings.clusters)
        list_clusters_check(&session, settings.clusters);
    list_env_init(&env, list_session_conf(&session)->cluster_name);
    if (list_ask(&session, MSG_DIAG, &empty, MSG_DIAG_REPLY, (const void **) &diag, &err) < 0) {
        list_load_error("slurm_get_statistics", &err);
        return 1;
    }
    if (settings.json)
        json_print(diag, &settings, argc, argv, &env, &out);
    else
        text_print(diag, &settings, &out);
    list_output_all(&out);
    note_delivery(diag);
    list_session_close(&session);
    return 0;
}
