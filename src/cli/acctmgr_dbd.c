/* SPDX-License-Identifier: Apache-2.0 */
/* sacctmgr: what is asked of slurmdbd itself, and what is wrong in the accounts. */
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "cli/acctmgr.h"
#include "cli/assoc_index.h"
#include "model/conf_table.h"

static const struct empty nothing = {false};

/* ---- ping, shutdown, reconfigure, clear ---- */

static int ping(struct list_session *session) {
    const struct ping_reply *reply;
    struct error err = ERROR_INIT;
    const char *host = list_session_conf(session)->accounting_storage_host;
    int r = list_ask_dbd(session, MSG_PING, &nothing, MSG_PING_REPLY, (const void **) &reply, &err);
    if (r == 0) {
        printf("slurmdbd(primary) at %s is UP\n", reply->host);
        return 0;
    }
    if (r == -ERR_ACCOUNTING_DISABLED)
        return acctmgr_complain(&err);
    printf("slurmdbd(primary) at %s is DOWN\n", host);
    list_why_note(&err);
    return 1;
}

int acctmgr_control(struct list_session *session, enum acctmgr_verb verb, int argc, char **argv) {
    static const struct {
        enum acctmgr_verb verb;
        uint16_t type;
        const char *what;
    } rows[] = {{ACCTMGR_SHUTDOWN, MSG_SHUTDOWN, "shutting down server"},
                {ACCTMGR_RECONFIGURE, MSG_RECONFIGURE, "reconfiguring server"},
                {ACCTMGR_CLEAR, MSG_CLEAR_STATS, "clearing statistics"}};
    struct error err = ERROR_INIT;
    if (verb == ACCTMGR_PING)
        return ping(session);
    if (verb == ACCTMGR_CLEAR &&
        (argc < 1 || !str_abbreviates(argv[0], strlen(argv[0]), "stats", 1))) {
        fprintf(stderr, "No valid entity in clear command\nInput line must include \"stats\"\n");
        return 1;
    }
    for (size_t i = 0; i < countof(rows); i++) {
        if (rows[i].verb != verb ||
            list_ask_dbd(session, rows[i].type, &nothing, MSG_OK, NULL, &err) == 0)
            continue;
        if (err.code == -ERR_CONNECT || err.code == -ERR_ACCOUNTING_DISABLED)
            return acctmgr_complain(&err);
        fprintf(stderr, " Problem %s: %s\n", rows[i].what, error_text(err.code));
        list_why_note(&err);
        return 1;
    }
    return 0;
}

/* ---- statistics ---- */

static void time_print(const char *title, const char *seconds, struct str *out) {
    time_t time = seconds != NULL ? (time_t) strtoll(seconds, NULL, 10) : 0;
    char text[64] = "";
    struct tm local;
    localtime_r(&time, &local);
    strftime(text, sizeof(text), "%a %b %d %H:%M:%S %Y", &local);
    str_printf(out, "%s%s (%lld)\n", title, text, (long long) time);
}

static const char *value_of(const struct diag *diag, const char *key) {
    for (uint32_t i = 0; i < diag->items.n; i++) {
        if (str_equal(diag->items.items[i].key, key))
            return diag->items.items[i].value;
    }
    return "0";
}

static void calls_print(const struct diag *diag, const char *kind, const char *title,
                        const char *format, struct str *out) {
    str_printf(out, "\n%s\n", title);
    for (uint32_t i = 0; i < diag->items.n; i++) {
        const struct key_value *item = &diag->items.items[i];
        char name[256];
        unsigned number;
        if (str_starts_nocase(item->key, kind) &&
            sscanf(item->key + strlen(kind), " %255s %u", name, &number) == 2)
            str_printf(out, format, name, number, item->value);
    }
}

int acctmgr_show_stats(struct list_session *session) {
    static const struct {
        const char *key, *text;
    } rows[] = {{"connections", "Connections"},
                {"events_stored", "Records stored"},
                {"events_repeated", "Records that came again"},
                {"events_rejected", "Records that could not be read"},
                {"writes_waiting", "Deliveries waiting"},
                {"questions_waiting", "Questions waiting"},
                {"changes_waiting", "Changes waiting"},
                {"database_away", "Database away"}};
    const struct diag *diag;
    struct error err = ERROR_INIT;
    struct str out cleanup_str = STR_INIT;
    if (list_ask_dbd(session, MSG_DIAG, &nothing, MSG_DIAG_REPLY, (const void **) &diag, &err) < 0)
        return acctmgr_complain(&err);
    unsigned long long n = strtoull(value_of(diag, "rollups"), NULL, 10);
    unsigned long long usec = strtoull(value_of(diag, "rollup_usec"), NULL, 10);
    str_append_fill(&out, '*', 67);
    time_print("\nsacctmgr show stats output at ", value_of(diag, "now"), &out);
    time_print("Data since                    ", value_of(diag, "since"), &out);
    str_append_fill(&out, '*', 67);
    str_printf(&out,
               "\n\nRollup statistics\n\t%-10s count:%-6llu ave_time:%-6llu max_time:%-12s "
               "total_time:%llu\n\nRecords\n",
               "Hour", n, n > 0 ? usec / n : 0, value_of(diag, "rollup_usec_max"), usec);
    for (size_t i = 0; i < countof(rows); i++)
        str_printf(&out, "\t%-32s %s\n", rows[i].text, value_of(diag, rows[i].key));
    calls_print(diag, "rpc", "Remote Procedure Call statistics by message type",
                "\t%-25s(%5u) count:%s\n", &out);
    calls_print(diag, "user", "Remote Procedure Call statistics by user",
                "\t%-20s(%10u) count:%s\n", &out);
    list_output_all(&out);
    return 0;
}

/* ---- configuration ---- */

static void config_line(const char *key, const char *value, struct str *out) {
    str_printf(out, "%-22s = %s\n", key, value != NULL ? value : "(null)");
}

/* The controller's: what accounts and who asks depend on. */
static int controller_config(struct list_session *session, struct str *out) {
    static const char *const keys[] = {"AccountingStorageBackupHost",
                                       "AccountingStorageEnforce",
                                       "AccountingStorageHost",
                                       "AccountingStorageParameters",
                                       "AccountingStoragePort",
                                       "AccountingStorageTRES",
                                       "AccountingStorageType",
                                       "AuthType",
                                       "ClusterName",
                                       "MessageTimeout",
                                       "PrivateData",
                                       "SlurmUser",
                                       "SLURM_CONF",
                                       "SLURM_VERSION",
                                       "TCPTimeout",
                                       "TrackWCKey"};
    const struct config_list *list;
    struct error err = ERROR_INIT;
    if (list_ask(session, MSG_LIST_CONFIG, &nothing, MSG_CONFIG_LIST, (const void **) &list, &err) <
        0) {
        list_load_error("slurm_load_ctl_conf error", &err);
        return 1;
    }
    if (list->items.n > 0) /* the line that says of when it is */
        str_printf(out, "%s\n", list->items.items[0].value);
    for (size_t i = 0; i < countof(keys); i++)
        config_line(keys[i], config_value(list, keys[i]), out);
    return 0;
}

int acctmgr_show_configuration(struct list_session *session) {
    struct str out cleanup_str = STR_INIT;
    const struct config_list *list;
    struct error err = ERROR_INIT;
    int status = controller_config(session, &out);
    str_append(&out, "\nSlurmDBD configuration:\n");
    if (!cli_has_dbd(list_session_conf(session))) {
        str_append(&out, "none: the controller keeps the accounts itself\n");
    } else if (list_ask_dbd(session, MSG_LIST_CONFIG, &nothing, MSG_CONFIG_LIST,
                            (const void **) &list, &err) < 0) {
        status = acctmgr_complain(&err);
    } else {
        for (uint32_t i = 0; i < list->items.n; i++)
            config_line(list->items.items[i].key, list->items.items[i].value, &out);
    }
    list_output_all(&out);
    return status;
}

/* ---- what is wrong in the accounts ---- */

struct problem {
    const char *cluster, *account, *user, *text;
};

#define PRINT(name, member)                                                                        \
    static void name(const void *data, const void *unused, struct column_env *env,                 \
                     struct str *out) {                                                            \
        const char *text = ((const struct problem *) data)->member;                                \
        str_append(out, text != NULL ? text : "");                                                 \
    }
PRINT(print_cluster, cluster)
PRINT(print_account, account)
PRINT(print_user, user)
PRINT(print_problem, text)

/* clang-format off */
static const struct column rows_problem[] = {
    {.name = "Cluster", .header = "Cluster", .print = print_cluster, .width = 10},
    {.name = "Account", .header = "Account", .print = print_account, .width = 10},
    {.name = "User", .header = "User", .print = print_user, .width = 10},
    {.name = "Problem", .header = "Problem", .print = print_problem, .width = 40},
};
/* clang-format on */
static const struct column_table columns_problem = {NULL, rows_problem, countof(rows_problem),
                                                    false};

static void push(struct rows *rows, struct arena *arena, struct problem problem) {
    struct problem *copy = arena_alloc(arena, sizeof(*copy));
    *copy = problem;
    rows_push(rows, copy);
}

static bool has_users(const struct assoc_index *index, const char *account) {
    const struct assoc_link *link = assoc_index_of_account(index, account);
    while (link != NULL && link->assoc->user == NULL)
        link = link->next;
    return link != NULL;
}

static void look(const struct assoc_list *list, struct rows *rows, struct arena *arena) {
    struct assoc_index index;
    assoc_index_init(&index, list);
    for (uint32_t i = 0; i < list->accounts.n; i++) {
        const char *name = list->accounts.items[i].name;
        if (assoc_index_own(&index, name) == NULL)
            push(rows, arena, (struct problem) {NULL, name, NULL, "Account has no Associations"});
        else if (!has_users(&index, name) && !assoc_index_is_parent(&index, name))
            push(rows, arena, (struct problem) {list->cluster, name, NULL, "Account has no users"});
    }
    for (uint32_t i = 0; i < list->users.n; i++) {
        const char *name = list->users.items[i].name;
        if (assoc_index_of_user(&index, name) == NULL)
            push(rows, arena, (struct problem) {NULL, NULL, name, "User has no Associations"});
        if (getpwnam(name) == NULL)
            push(rows, arena, (struct problem) {NULL, NULL, name, "User does not have a uid"});
    }
    assoc_index_done(&index);
}

int acctmgr_show_problems(struct list_session *session, const struct acctmgr_settings *settings,
                          int argc, char **argv) {
    const char *format = "cluster,account,user,problem";
    struct rows books = {NULL, 0, 0}, rows = {NULL, 0, 0};
    struct strs clusters cleanup_strs = {NULL, 0};
    struct error err = ERROR_INIT;
    struct arena arena;
    const struct acctmgr_condition conditions[] = {{"format", 1, WHERE_TEXT, &format},
                                                   {"cluster", 1, WHERE_LOWER_WORDS, &clusters}};
    int status = acctmgr_where(conditions, countof(conditions), "cluster", argc, argv);
    if (status == 0 && list_books(session, &books, &err) < 0) {
        list_load_error("sacctmgr: error", &err);
        status = 1;
    }
    arena_init(&arena, 0);
    for (size_t i = 0; status == 0 && i < books.n; i++) {
        const struct assoc_list *list = books.items[i];
        if (clusters.n == 0 || (list->cluster != NULL && strs_has_nocase(&clusters, list->cluster)))
            look(list, &rows, &arena);
    }
    if (status == 0)
        status = acctmgr_print(settings, &columns_problem, format, "", &rows);
    arena_done(&arena);
    rows_done(&books);
    rows_done(&rows);
    return status;
}

/* ---- archives ---- */

static const struct archive_word {
    const char *name, *age; /* "jobs", "purgejobafter" */
} archive_words[] = {{"jobs", "purgejobafter"},
                     {"events", "purgeeventafter"},
                     {"reservations", "purgeresvafter"},
                     {"txn", "purgetxnafter"},
                     {"usage", "purgeusageafter"}};

static int bad_word(const char *word) {
    fprintf(
        stderr,
        " Unknown option: %s\n Options are: directory=, events, jobs, reservations, txn, usage, "
        "purgeeventafter=, purgejobafter=, purgeresvafter=, purgetxnafter=, purgeusageafter=\n",
        word);
    return 1;
}

static void kind_set(struct archive_request *request, const char *name, const char *age) {
    for (uint32_t i = 0; i < request->kinds.n; i++) {
        struct key_value *item = &request->kinds.items[i];
        if (str_equal(item->key, name)) {
            item->value = age != NULL ? (char *) (uintptr_t) age : item->value;
            return;
        }
    }
    request->kinds.items[request->kinds.n++] =
        (struct key_value) {.key = (char *) (uintptr_t) name, .value = (char *) (uintptr_t) age};
}

static int dump_word(struct archive_request *request, const char *word) {
    const char *equals = strchr(word, '=');
    size_t length = equals != NULL ? (size_t) (equals - word) : strlen(word);
    uint64_t seconds;
    if (equals != NULL && str_abbreviates(word, length, "directory", 2)) {
        request->directory = (char *) (uintptr_t) (equals + 1);
        return 0;
    }
    for (size_t i = 0; i < countof(archive_words); i++) {
        if (equals == NULL && str_abbreviates(word, length, archive_words[i].name, 1)) {
            kind_set(request, archive_words[i].name, NULL);
            return 0;
        }
        if (equals == NULL || !str_abbreviates(word, length, archive_words[i].age, 8))
            continue;
        if (!conf_age_read(equals + 1, &seconds) || seconds == 0) {
            fprintf(stderr, " Bad age: %s: it is N, Nmonths, Ndays or Nhours\n", word);
            return 1;
        }
        kind_set(request, archive_words[i].name, equals + 1);
        return 0;
    }
    return bad_word(word);
}

static int archive_words_read(struct archive_request *request, bool load, int argc, char **argv) {
    int status = 0;
    for (int i = 0; status == 0 && i < argc; i++) {
        const char *equals = strchr(argv[i], '=');
        if (!load)
            status = dump_word(request, argv[i]);
        else if (equals == NULL)
            request->file = argv[i];
        else if (str_abbreviates(argv[i], (size_t) (equals - argv[i]), "file", 1))
            request->file = (char *) (uintptr_t) (equals + 1);
        else
            status = bad_word(argv[i]);
    }
    if (status == 0 && load && request->file == NULL) {
        fprintf(stderr, " No archive file given: file=FILE, a path on slurmdbd's host\n");
        status = 1;
    }
    return status;
}

int acctmgr_archive(struct list_session *session, const struct acctmgr_settings *settings, int argc,
                    char **argv) {
    struct archive_request request;
    struct key_value kinds[countof(archive_words)];
    const struct assoc_changed *reply;
    struct error err = ERROR_INIT;
    bool dump = argc > 0 && str_abbreviates(argv[0], strlen(argv[0]), "dump", 1);
    if (!dump && (argc < 1 || !str_abbreviates(argv[0], strlen(argv[0]), "load", 1))) {
        fprintf(stderr, "No valid entity in archive command\n"
                        "Input line must include, \"Dump\", or \"load\"\n");
        return 1;
    }
    record_init(&record_archive_request, &request);
    request.kinds.items = kinds;
    if (archive_words_read(&request, !dump, argc - 1, argv + 1) != 0)
        return 1;
    if (settings->read_only) {
        fprintf(stderr, "Can't run this command in readonly mode.\n");
        return 1;
    }
    if (dump && !settings->immediate && !acctmgr_user_agrees())
        return 0;
    if (list_ask_dbd(session, MSG_ARCHIVE, &request, MSG_ASSOC_CHANGED, (const void **) &reply,
                     &err) < 0) {
        if (err.code == -ERR_CONNECT || err.code == -ERR_ACCOUNTING_DISABLED)
            return acctmgr_complain(&err);
        fprintf(stderr, " Problem %s: %s\n", dump ? "dumping archive" : "loading archive file",
                err.text[0] != '\0' ? err.text : error_text(err.code));
        if (!dump)
            fprintf(stderr,
                    " Note: the file is read by slurmdbd, on its host, as the user it runs as.\n");
        return 1;
    }
    if (!settings->quiet)
        printf("%s", reply->text != NULL ? reply->text : " Nothing is as old as that.\n");
    return 0;
}
