/* SPDX-License-Identifier: Apache-2.0 */
/* sshare: shares of accounts and users, what they have used, and what follows for fair share. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/columns_acct.h"
#include "cli/json_dump.h"
#include "cli/list.h"
#include "cli/list_options.h"
#include "model/account.h"
#include "model/conf.h"

#define FIELDS "account,user,rawshares,normshares,rawusage,effectvusage,fairshare"
#define FIELDS_PARTITION                                                                           \
    "account,user,partition,rawshares,normshares,rawusage,effectvusage,fairshare"
#define FIELDS_LONG                                                                                \
    "account,user,rawshares,normshares,rawusage,normusage,effectvusage,fairshare,levelfs,"         \
    "grptresmins,tresrunmins"
#define FIELDS_LONG_PARTITION                                                                      \
    "account,user,partition,rawshares,normshares,rawusage,normusage,effectvusage,fairshare,"       \
    "levelfs,grptresmins,tresrunmins"

struct settings {
    struct strs accounts, users;
    const char *format, *clusters, *json;
    struct list_parsable parsable;
    bool all, users_only, partitions, long_form, no_header, verbose;
};

/* A line. */
struct row {
    const struct share *share;
    const struct share_list *list;
    unsigned depth; /* below the accounts that are shown */
};

/* ---- columns ---- */
#define ROW ((const struct row *) data)
#define SHARE (ROW->share)
#define PRINT(name)                                                                                \
    static void name(const void *data, const void *member, struct column_env *env, struct str *out)

static bool is_root(const struct share *share) {
    return share->user == NULL && share->parent == NULL;
}

PRINT(print_account) {
    str_append_fill(out, ' ', ROW->depth);
    str_append(out, SHARE->account);
}
PRINT(print_cluster) {
    str_append(out, ROW->list->cluster);
}
PRINT(print_effective_usage) {
    str_printf(out, "%.6f", SHARE->effective_usage);
}
/* That of an account means nothing with the Fair Tree, which ranks users. */
PRINT(print_factor) {
    if (SHARE->user != NULL || !ROW->list->fair_tree)
        str_printf(out, "%.6f", SHARE->factor);
}
PRINT(print_grp_tres_mins) {
    str_append(out, SHARE->grp_tres_mins != NULL ? SHARE->grp_tres_mins : "");
}
PRINT(print_tres_raw) {
    str_append(out, SHARE->tres_used_mins != NULL ? SHARE->tres_used_mins : "");
}
PRINT(print_tres_run_mins) {
    str_append(out, SHARE->tres_run_mins != NULL ? SHARE->tres_run_mins : "");
}
PRINT(print_id) {
    str_append_u64(out, SHARE->assoc_id);
}
PRINT(print_level) {
    if (is_root(SHARE) || SHARE->shares == SHARES_PARENT)
        return;
    if (isinf(SHARE->level))
        str_append(out, "inf");
    else
        str_printf(out, "%.6f", SHARE->level);
}
PRINT(print_norm_shares) {
    str_printf(out, "%.6f", is_root(SHARE) && ROW->list->fair_tree ? 0.0 : SHARE->norm_shares);
}
PRINT(print_norm_usage) {
    if (!is_root(SHARE))
        str_printf(out, "%.6f", SHARE->norm_usage);
}
PRINT(print_partition) {
    str_append(out, SHARE->partition != NULL ? SHARE->partition : "");
}
PRINT(print_shares) {
    if (SHARE->shares == SHARES_PARENT)
        str_append(out, "parent");
    else if (!is_root(SHARE))
        str_append_u64(out, SHARE->shares);
}
PRINT(print_usage) {
    str_append_u64(out, (uint64_t) SHARE->usage);
}
PRINT(print_user) {
    str_append(out, SHARE->user != NULL ? SHARE->user : "");
}

#define F(name, width, flags, print)                                                               \
    { 0, name, name, NULL, print, NULL, width, flags }
/* In the order in which --helpformat lists them. */
static const struct column columns[] = {
    F("Account", 20, COLUMN_LEFT, print_account),
    F("Cluster", 10, 0, print_cluster),
    F("EffectvUsage", 13, 0, print_effective_usage),
    F("FairShare", 10, 0, print_factor),
    F("GrpTRESMins", 30, 0, print_grp_tres_mins),
    F("GrpTRESRaw", 30, 0, print_tres_raw),
    F("ID", 6, 0, print_id),
    F("LevelFS", 10, 0, print_level),
    F("NormShares", 11, 0, print_norm_shares),
    F("NormUsage", 11, 0, print_norm_usage),
    F("Partition", 12, 0, print_partition),
    F("RawShares", 10, 0, print_shares),
    F("RawUsage", 11, 0, print_usage),
    F("TRESRunMins", 30, 0, print_tres_run_mins),
    F("User", 10, 0, print_user),
};
static const struct column_table table = {NULL, columns, countof(columns), false};

/* ---- options ---- */
#define SET(name) static void name(void *data, const char *value)
#define AT(member) offsetof(struct settings, member)

SET(set_help_format) {
    struct str out cleanup_str = STR_INIT;
    fields_print(&table, 17, &out);
    list_output_all(&out);
    exit(0);
}

/* clang-format off */
static const struct list_option option_rows[] = {
    {"accounts", 'A', LIST_ARG_REQUIRED, NULL, list_add_words, "list",
        "these accounts and users of them", AT(accounts)},
    {"all", 'a', LIST_ARG_NONE, NULL, list_set_true, NULL, "all users", AT(all)},
    {"format", 'o', LIST_ARG_REQUIRED, NULL, list_set_text, "fields",
        "comma list of fields, each perhaps with %[-]width", AT(format)},
    {"helpformat", 'e', LIST_ARG_NONE, NULL, set_help_format, NULL, "list the fields"},
    {"json", 0, LIST_ARG_OPTIONAL, NULL, list_set_json, "data_parser", "print JSON", AT(json)},
    {"long", 'l', LIST_ARG_NONE, NULL, list_set_true, NULL,
        "normalised usage, level fair share and minutes, too", AT(long_form)},
    {"clusters", 'M', LIST_ARG_REQUIRED, "SLURM_CLUSTERS", list_set_text, "cluster",
        "the cluster to ask", AT(clusters)},
    {"noheader", 'n', LIST_ARG_NONE, NULL, list_set_true, NULL, "no header", AT(no_header)},
    {NULL, 'h', LIST_ARG_NONE, NULL, list_set_true, NULL, NULL, AT(no_header)},
    {"partition", 'm', LIST_ARG_NONE, NULL, list_set_true, NULL,
        "the partitions of associations, too", AT(partitions)},
    {"parsable", 'p', LIST_ARG_NONE, NULL, list_set_parsable, NULL,
        "fields between '|', one at the end", AT(parsable)},
    {"parsable2", 'P', LIST_ARG_NONE, NULL, list_set_parsable2, NULL, "fields between '|'",
        AT(parsable)},
    {"user", 'u', LIST_ARG_REQUIRED, NULL, list_add_words, "list",
        "these users instead of yourself", AT(users)},
    {"Users", 'U', LIST_ARG_NONE, NULL, list_set_true, NULL, "no lines of accounts",
        AT(users_only)},
    {"verbose", 'v', LIST_ARG_NONE, NULL, list_set_true, NULL, "say what is asked for",
        AT(verbose)},
    {"yaml", 0, LIST_ARG_NONE, NULL, list_set_yaml, NULL, "print YAML", AT(json)},
};
/* clang-format on */
static const struct list_options options = {option_rows, countof(option_rows),
                                            "sshare [-ahlmnpPUvV] [-A accounts] [-u users] "
                                            "[-o fields]"};

/* ---- which lines ---- */

static bool is_shown(const struct settings *settings, const struct share *share) {
    if (settings->accounts.n > 0 && !strs_has_nocase(&settings->accounts, share->account))
        return false;
    if (share->user == NULL)
        return !settings->users_only;
    return settings->all || strs_has_nocase(&settings->users, share->user);
}

/* Below which of the lines before does one stand? Accounts come before what is below them. */
static unsigned depth_of(const struct rows *rows, const struct share *share) {
    const char *above = share->user != NULL ? share->account : share->parent;
    for (size_t i = rows->n; above != NULL && i-- > 0;) {
        const struct row *row = rows->items[i];
        if (row->share->user == NULL && str_equal(row->share->account, above))
            return row->depth + 1;
    }
    return 0;
}

static void rows_choose(const struct settings *settings, const struct share_list *list,
                        struct arena *arena, struct rows *rows) {
    for (uint32_t i = 0; i < list->items.n; i++) {
        const struct share *share = &list->items.items[i];
        if (!is_shown(settings, share))
            continue;
        struct row *row = arena_alloc(arena, sizeof(*row));
        *row = (struct row) {share, list, depth_of(rows, share)};
        rows_push(rows, row);
    }
}

static void tell_wishes(const struct settings *settings) {
    fprintf(stderr, "Users requested:\n");
    for (uint32_t i = 0; !settings->all && i < settings->users.n; i++)
        fprintf(stderr, "\t: %s\n", settings->users.items[i]);
    fprintf(stderr, "%s", settings->all ? "\t: all\n" : "");
    fprintf(stderr, "Accounts requested:\n");
    for (uint32_t i = 0; i < settings->accounts.n; i++)
        fprintf(stderr, "\t: %s\n", settings->accounts.items[i]);
    fprintf(stderr, "%s", settings->accounts.n == 0 ? "\t: all\n" : "");
}

/* ---- JSON ---- */

static void json_real(struct json *json, const char *key, double number) {
    json_object(json, key);
    json_bool(json, "set", !isinf(number));
    json_bool(json, "infinite", isinf(number));
    json_double(json, "number", isinf(number) ? 0 : number);
    json_end(json);
}

/* "cpu=3,mem=5" as items of a list. */
static void json_tres(struct json *json, const char *key, const char *text) {
    json_array(json, key);
    words_each (text, ",", word) {
        char *equals = strchr(word, '=');
        if (equals == NULL)
            continue;
        *equals = '\0';
        json_object(json, NULL);
        json_text(json, "name", word);
        json_number(json, "value", true, false, strtoull(equals + 1, NULL, 10));
        json_end(json);
    }
    json_end(json);
}

static void json_share(struct json *json, const struct row *row) {
    const struct share *share = row->share;
    json_object(json, NULL);
    json_unsigned(json, "id", share->assoc_id);
    json_text(json, "cluster", row->list->cluster);
    json_text(json, "name", share->user != NULL ? share->user : share->account);
    json_text(json, "parent", share->user != NULL ? share->account : share->parent);
    json_text(json, "partition", share->partition);
    json_real(json, "shares_normalized", share->norm_shares);
    json_number(json, "shares", share->shares != SHARES_PARENT, false,
                share->shares != SHARES_PARENT ? share->shares : 0);
    json_object(json, "tres");
    json_tres(json, "run_minutes", share->tres_run_mins);
    json_tres(json, "group_minutes", share->grp_tres_mins);
    json_tres(json, "usage_minutes", share->tres_used_mins);
    json_end(json);
    json_real(json, "effective_usage", share->effective_usage);
    json_real(json, "usage_normalized", share->norm_usage);
    json_unsigned(json, "usage", (uint64_t) share->usage);
    json_object(json, "fairshare");
    json_real(json, "factor", share->factor);
    json_real(json, "level", share->level);
    json_end(json);
    json_array(json, "type");
    json_text(json, NULL, share->user != NULL ? "USER" : "ASSOCIATION");
    json_end(json);
    json_end(json);
}

static void shares_json(const struct settings *settings, const struct rows *rows, char **argv,
                        int argc, const struct column_env *env, struct str *out) {
    struct json_dump dump;
    json_dump_begin(&dump, settings->json, argc, argv, env, out);
    json_object(&dump.json, "shares");
    json_array(&dump.json, "shares");
    for (size_t i = 0; i < rows->n; i++)
        json_share(&dump.json, rows->items[i]);
    json_end(&dump.json);
    json_unsigned(&dump.json, "total_shares", rows->n);
    json_end(&dump.json);
    json_dump_end(&dump);
}

/* ---- asking ---- */

static const struct share_list *load(struct list_session *session) {
    const struct share_list *list = list_shares(session);
    if (list == NULL)
        exit(1);
    if (!list->multifactor) {
        fprintf(stderr, "You are not running a supported priority plugin\n(priority/basic).\n"
                        "Only 'priority/multifactor' is supported.\n");
        exit(1);
    }
    return list;
}

static void format_choose(const struct settings *settings, struct format *format) {
    struct error err = ERROR_INIT;
    const char *fields = settings->format                              ? settings->format
                         : settings->long_form && settings->partitions ? FIELDS_LONG_PARTITION
                         : settings->long_form                         ? FIELDS_LONG
                         : settings->partitions                        ? FIELDS_PARTITION
                                                                       : FIELDS;
    if (format_parse_sacct(format, &table, fields, settings->parsable.on ? "|" : NULL,
                           settings->parsable.trailing, &err) < 0)
        list_fail("%s", err.text);
}

static void show(struct list_session *session, const struct settings *settings, int argc,
                 char **argv) {
    struct format format cleanup_format = FORMAT_INIT;
    struct str out cleanup_str = STR_INIT;
    struct rows rows = {NULL, 0, 0};
    struct column_env env;
    struct arena arena;
    format_choose(settings, &format);
    arena_init(&arena, 0);
    list_env_init(&env, list_session_conf(session)->cluster_name);
    rows_choose(settings, load(session), &arena, &rows);
    if (settings->json != NULL) {
        shares_json(settings, &rows, argv, argc, &env, &out);
    } else {
        if (!settings->no_header) {
            format_header(&format, &out);
            if (!settings->parsable.on)
                format_dashes(&format, &out);
        }
        rows_print(&rows, &format, &env, &out);
    }
    list_output_all(&out);
    rows_done(&rows);
    arena_done(&arena);
}

int main(int argc, char **argv) {
    struct settings settings = {.users = {NULL, 0}};
    struct list_session session;
    list_options_parse(&options, argc, argv, &settings);
    if (!settings.all && settings.users.n == 0)
        strs_push(&settings.users, list_own_name());
    list_session_init(&session, "sshare");
    if (settings.clusters != NULL)
        list_clusters_check(&session, settings.clusters);
    if (settings.verbose)
        tell_wishes(&settings);
    show(&session, &settings, argc, argv);
    list_session_close(&session);
    strs_done(&settings.accounts);
    strs_done(&settings.users);
    return 0;
}
