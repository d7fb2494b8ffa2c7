/* SPDX-License-Identifier: Apache-2.0 */
/* sreport: how much of the cluster was used, by whom, and for jobs of which size. */
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "cli/list.h"
#include "cli/list_options.h"
#include "cli/sreport.h"
#include "text/calendar.h"
#include "text/timestamp.h"
#include "text/tres.h"

#define DAY 86400
#define TITLE_DASHES 80

struct settings {
    struct sreport_question question;
    uint32_t unit;
    struct strs tres;
    const char *format, *clusters;
    struct list_parsable parsable;
    bool no_header, quiet, all_clusters, local;
};
#define SETTINGS ((struct settings *) data)
#define AT(member) offsetof(struct settings, member)

/* Words may be cut short. */
static bool begins(const char *whole, const char *word) {
    return *word && str_starts_nocase(whole, word);
}

/* ---- options ---- */

static const struct {
    const char *name, *title;
    uint32_t unit;
} units[] = {
    {"SecPer", "Seconds/Percentage of Total", SREPORT_SECONDS | SREPORT_PERCENT},
    {"MinPer", "Minutes/Percentage of Total", SREPORT_MINUTES | SREPORT_PERCENT},
    {"HourPer", "Hours/Percentage of Total", SREPORT_HOURS | SREPORT_PERCENT},
    {"Seconds", "Seconds", SREPORT_SECONDS},
    {"Minutes", "Minutes", SREPORT_MINUTES},
    {"Hours", "Hours", SREPORT_HOURS},
    {"Percent", "Percentage of Total", SREPORT_PERCENT},
};

static void set_unit(void *data, const char *value) {
    for (size_t i = 0; i < countof(units); i++) {
        if (begins(units[i].name, value)) {
            SETTINGS->unit = units[i].unit;
            return;
        }
    }
    fprintf(stderr, "unknown time format %s\n", value);
    list_note("SecPer, MinPer, HourPer, Seconds, Minutes, Hours or Percent is meant");
    exit(1);
}

/* clang-format off */
static const struct list_option option_rows[] = {
    {"all_clusters", 'a', LIST_ARG_NONE, NULL, list_set_true, NULL,
        "all clusters of slurmdbd", AT(all_clusters)},
    {"cluster", 'M', LIST_ARG_REQUIRED, "SLURM_CLUSTERS", list_set_text, "list",
        "these clusters of slurmdbd", AT(clusters)},
    {"clusters", 0, LIST_ARG_REQUIRED, NULL, list_set_text, "list", NULL, AT(clusters)},
    {"federation", 0, LIST_ARG_NONE, NULL, list_set_nothing, NULL,
        "accepted; there are no federations"},
    {"local", 0, LIST_ARG_NONE, NULL, list_set_true, NULL, "our own cluster alone", AT(local)},
    {"noheader", 'n', LIST_ARG_NONE, NULL, list_set_true, NULL, "no header", AT(no_header)},
    {"parsable", 'p', LIST_ARG_NONE, NULL, list_set_parsable, NULL,
        "fields between '|', one at the end", AT(parsable)},
    {"parsable2", 'P', LIST_ARG_NONE, NULL, list_set_parsable2, NULL, "fields between '|'",
        AT(parsable)},
    {"quiet", 'Q', LIST_ARG_NONE, NULL, list_set_true, NULL, "no notes", AT(quiet)},
    {NULL, 't', LIST_ARG_REQUIRED, NULL, set_unit, "unit",
        "Minutes, Seconds, Hours, Percent, MinPer, SecPer or HourPer"},
    {"tres", 'T', LIST_ARG_REQUIRED, NULL, list_add_words, "list",
        "resources: cpu unless given, ALL", AT(tres)},
    {"verbose", 'v', LIST_ARG_NONE, NULL, list_set_nothing, NULL, "accepted; nothing more is told"},
};
/* clang-format on */
static const struct list_options options = {
    option_rows, countof(option_rows),
    "sreport [options] cluster|job|user REPORT [condition=value ...]\n\tUse --help for help"};

/* ---- reports ---- */

static const struct report {
    const char *topic, *name, *title;
    enum sreport_kind kind;
    bool spans;         /* the title tells the length of the window */
    const char *fields; /* without what is counted */
} reports[] = {
    {"cluster", "AccountUtilizationByUser", "Cluster/Account/User Utilization",
     SREPORT_ACCOUNT_BY_USER, true, "cluster,accounts,login,proper"},
    {"cluster", "UserUtilizationByAccount", "Cluster/User/Account Utilization",
     SREPORT_USER_BY_ACCOUNT, true, "cluster,login,proper,accounts"},
    {"cluster", "UserUtilizationByWckey", "Cluster/User/WCKey Utilization", SREPORT_USER_BY_WCKEY,
     true, "cluster,login,proper,wckey"},
    {"cluster", "Utilization", "Cluster Utilization", SREPORT_UTILIZATION, false, "cluster"},
    {"cluster", "WCKeyUtilizationByUser", "Cluster/WCKey/User Utilization", SREPORT_WCKEY_BY_USER,
     true, "cluster,wckey,login,proper"},
    {"job", "SizesByAccount", "Job Sizes", SREPORT_SIZES_BY_ACCOUNT, true, NULL},
    {"job", "SizesByAccountAndWcKey", "Job Sizes", SREPORT_SIZES_BY_BOTH, true, NULL},
    {"job", "SizesByWckey", "Job Sizes by Wckey", SREPORT_SIZES_BY_WCKEY, true, NULL},
    {"user", "TopUsage", "Users", SREPORT_TOP, true, "cluster,login,proper,accounts"},
};

_Noreturn static void no_report(const char *topic, const char *word) {
    struct str names cleanup_str = STR_INIT;
    for (size_t i = 0; i < countof(reports); i++) {
        bool is_last = i + 1 == countof(reports) || strcmp(reports[i + 1].topic, topic) != 0;
        if (strcmp(reports[i].topic, topic) == 0)
            str_printf(&names, "%s%s\"%s\"", names.length ? ", " : "",
                       names.length && is_last ? "and " : "", reports[i].name);
    }
    fprintf(stderr, "Not valid report %s\nValid %s reports are, %s\n", word, topic,
            str_cstr(&names));
    exit(1);
}

static const struct report *report_find(int n_words, char **words) {
    static const char *const topics[] = {"cluster", "job", "user"};
    const char *topic = NULL;
    if (n_words == 0) {
        list_error("which report? There is no interactive mode");
        list_note(
            "sreport cluster utilization, sreport user topusage, \"sreport --help\" for more");
        exit(1);
    }
    if (begins("reservation", words[0])) {
        list_error("reports about reservations are not supported");
        exit(1);
    }
    for (size_t i = 0; i < countof(topics); i++)
        topic = begins(topics[i], words[0]) ? topics[i] : topic;
    if (!topic) {
        fprintf(stderr, "invalid keyword: %s\n", words[0]);
        list_note("cluster, job or user is meant");
        exit(1);
    }
    if (n_words == 1) {
        fprintf(stderr, "too few arguments for keyword:%s\n", topic);
        exit(1);
    }
    for (size_t i = 0; i < countof(reports); i++) {
        if (strcmp(reports[i].topic, topic) == 0 && begins(reports[i].name, words[1]))
            return &reports[i];
    }
    no_report(topic, words[1]);
}

/* ---- conditions ---- */

static int64_t time_value(const struct settings *settings, const char *text) {
    struct error err = ERROR_INIT;
    int64_t time = 0;
    if (timestamp_parse(text, settings->question.now, true, &time, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    return time;
}

static void groups_parse(struct sreport_question *question, const char *text) {
    question->n_groups = 0;
    words_each (text, ",", word) {
        uint64_t size;
        if (!str_to_u64(word, &size) || size == 0 || size > UINT32_MAX ||
            question->n_groups + 1 >= SREPORT_GROUPS_MAX ||
            (question->n_groups > 0 && size <= question->groups[question->n_groups - 1]))
            list_fail("grouping=%s: ascending numbers of CPUs are meant, up to %d of them", text,
                      SREPORT_GROUPS_MAX - 1);
        question->groups[question->n_groups++] = (uint32_t) size;
    }
}

static bool condition_set(struct settings *settings, const char *key, const char *value) {
    struct sreport_question *q = &settings->question;
    const struct {
        const char *key;
        struct strs *list;
    } lists[] = {{"accounts", &q->accounts},
                 {"users", &q->users},
                 {"wckeys", &q->wckeys},
                 {"partitions", &q->partitions}};
    for (size_t i = 0; i < countof(lists); i++) {
        if (begins(lists[i].key, key)) {
            strs_split(lists[i].list, value);
            return true;
        }
    }
    uint64_t number = 0;
    if (begins("start", key))
        q->start = time_value(settings, value);
    else if (begins("end", key))
        q->end = time_value(settings, value);
    else if (begins("format", key))
        settings->format = value;
    else if (begins("clusters", key))
        settings->clusters = value;
    else if (begins("grouping", key))
        groups_parse(q, value);
    else if (begins("topcount", key) && str_to_u64(value, &number) && number <= UINT32_MAX)
        q->top = (uint32_t) number;
    else
        return false;
    return true;
}

static bool word_set(struct settings *settings, const char *word) {
    struct sreport_question *q = &settings->question;
    const struct {
        const char *word;
        bool *flag;
    } flags[] = {{"tree", &q->tree},
                 {"group", &q->group},
                 {"flatview", &q->flat},
                 {"printjobcount", &q->count_jobs}};
    for (size_t i = 0; i < countof(flags); i++) {
        if (begins(flags[i].word, word)) {
            *flags[i].flag = true;
            return true;
        }
    }
    settings->all_clusters |= begins("all_clusters", word);
    return begins("all_clusters", word) || begins("where", word) || begins("set", word);
}

static void conditions_read(struct settings *settings, int n_words, char **words) {
    for (int i = 0; i < n_words; i++) {
        char *equals = strchr(words[i], '=');
        cleanup_free char *key = xstrndup(words[i], strcspn(words[i], "="));
        if (equals ? condition_set(settings, key, equals + 1) : word_set(settings, words[i]))
            continue;
        fprintf(stderr, " Unknown condition: %s\n", words[i]);
        list_note("start=, end=, format=, clusters=, accounts=, users=, wckeys=, partitions=, "
                  "topcount=, grouping=, tree, group, flatview and printjobcount are known");
        exit(1);
    }
}

/* Yesterday, unless told. */
static void window_fill(struct settings *settings) {
    struct sreport_question *q = &settings->question;
    time_t now = (time_t) q->now;
    struct tm tm;
    localtime_r(&now, &tm);
    tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
    tm.tm_isdst = -1;
    int64_t today = mktime(&tm);
    tm.tm_mday--;
    tm.tm_isdst = -1;
    int64_t yesterday = mktime(&tm);
    if (q->start == 0)
        q->start = yesterday;
    if (q->end == 0)
        q->end = today;
    sreport_window(&q->start, &q->end);
}

/* ---- printing ---- */

static void dashes_print(struct str *out) {
    str_append_fill(out, '-', TITLE_DASHES);
    str_append_char(out, '\n');
}

static void title_print(const struct settings *settings, const struct report *report,
                        struct str *out) {
    const struct sreport_question *q = &settings->question;
    const char *unit = "";
    if (settings->no_header)
        return;
    for (size_t i = 0; i < countof(units); i++)
        unit = units[i].unit == settings->unit ? units[i].title : unit;
    dashes_print(out);
    if (q->kind == SREPORT_TOP)
        str_printf(out, "Top %u ", q->top);
    str_printf(out, "%s ", report->title);
    timestamp_print(q->start, NULL, q->now, out);
    str_append(out, " - ");
    timestamp_print(q->end - 1, NULL, q->now, out);
    if (report->spans)
        str_printf(out, " (%lld secs)", (long long) (q->end - q->start));
    if (q->count_jobs)
        str_append(out, "\nUnits are in number of jobs ran\n");
    else if (!report->fields)
        str_printf(out, "\nTime reported in %s\n", unit);
    else if (settings->unit == SREPORT_PERCENT)
        str_printf(out, "\nUsage reported in %s\n", unit);
    else
        str_printf(out, "\nUsage reported in %s %s\n", settings->tres.n ? "TRES" : "CPU", unit);
    dashes_print(out);
}

static void fields_choose(const struct settings *settings, const struct report *report,
                          struct str *out) {
    bool share = settings->unit & SREPORT_PERCENT, time = settings->unit != SREPORT_PERCENT;
    const char *width = share && time ? "%17" : "";
    if (settings->format) {
        str_append(out, settings->format);
        return;
    }
    str_printf(out, "%s%s", report->fields, settings->tres.n ? ",tresname" : "");
    if (report->kind == SREPORT_UTILIZATION) {
        words_each ("allocated,down,planneddown,idle,planned,reported", ",", field)
            str_printf(out, ",%s%s", field, width);
    } else {
        str_printf(out, ",used%s", width);
        bool by_wckey =
            report->kind == SREPORT_USER_BY_WCKEY || report->kind == SREPORT_WCKEY_BY_USER;
        if (settings->tres.n == 0 && !by_wckey)
            str_printf(out, ",energy%s", width);
    }
}

static int table_print(const struct settings *settings, const struct report *report,
                       struct sreport_row *const *rows, size_t n, struct str *out) {
    struct str fields cleanup_str = STR_INIT;
    struct format format cleanup_format = FORMAT_INIT;
    struct sreport_look look = {settings->unit};
    struct column_env env = {.now = settings->question.now, .data = &look};
    struct error err = ERROR_INIT;
    fields_choose(settings, report, &fields);
    if (format_parse_sacct(&format, &columns_sreport, str_cstr(&fields),
                           settings->parsable.on ? "|" : NULL, settings->parsable.trailing,
                           &err) < 0) {
        const char *name = strchr(err.text, '"');
        list_output_all(out);
        fprintf(stderr, " Unknown field '%.*s'\n", name ? (int) strcspn(name + 1, "\"") : 0,
                name ? name + 1 : "");
        return 1;
    }
    if (!settings->no_header) {
        format_header(&format, out);
        if (!settings->parsable.on)
            format_dashes(&format, out);
    }
    for (size_t i = 0; i < n; i++) {
        format_row(&format, rows[i], &env, out);
        list_output(out);
    }
    return 0;
}

/* ---- sizes: as many columns as there are groups ---- */

static void cell_print(const struct settings *settings, const char *text, int width,
                       struct str *out) {
    if (settings->parsable.on)
        str_printf(out, "%s|", text);
    else
        str_printf(out, "%*.*s ", width, abs(width), text);
}

static void line_end(const struct settings *settings, struct str *out) {
    if (settings->parsable.on && !settings->parsable.trailing)
        out->length--;
    str_append_char(out, '\n');
}

static void sizes_header(const struct settings *settings, const char *name, int width,
                         struct str *out) {
    const struct sreport_question *q = &settings->question;
    cell_print(settings, "Cluster", 9, out);
    cell_print(settings, name, width, out);
    for (size_t i = 0; i <= q->n_groups; i++) {
        char text[48];
        if (i == q->n_groups)
            snprintf(text, sizeof(text), ">= %u CPUs", i ? q->groups[i - 1] : 0);
        else
            snprintf(text, sizeof(text), "%u-%u CPUs", i ? q->groups[i - 1] : 0, q->groups[i] - 1);
        cell_print(settings, text, 13, out);
    }
    cell_print(settings, "% of cluster", 12, out);
    line_end(settings, out);
    if (settings->parsable.on)
        return;
    int widths[] = {9, abs(width)};
    for (size_t i = 0; i < q->n_groups + 4; i++) {
        int dashes = i < 2 ? widths[i] : i == q->n_groups + 3 ? 12 : 13;
        str_append_fill(out, '-', (size_t) dashes);
        str_append_char(out, ' ');
    }
    str_append_char(out, '\n');
}

static void sizes_print(const struct settings *settings, struct sreport_row *const *rows, size_t n,
                        struct str *out) {
    const struct sreport_question *q = &settings->question;
    bool by_wckey = q->kind == SREPORT_SIZES_BY_WCKEY;
    int width = q->kind == SREPORT_SIZES_BY_BOTH ? -20 : 9;
    if (!settings->no_header)
        sizes_header(settings, by_wckey ? "Wckey" : "Account", width, out);
    for (size_t i = 0; i < n; i++) {
        const struct sreport_row *row = rows[i];
        struct str cell cleanup_str = STR_INIT;
        cell_print(settings, row->cluster, 9, out);
        cell_print(settings, by_wckey ? row->wckey : row->account, width, out);
        for (size_t group = 0; group <= q->n_groups; group++) {
            str_reset(&cell);
            if (q->count_jobs)
                str_printf(&cell, "%.0f", row->sizes[group]);
            else
                sreport_time_print(row->sizes[group], row->total, settings->unit, &cell);
            cell_print(settings, str_cstr(&cell), 13, out);
        }
        str_reset(&cell);
        sreport_time_print(row->used, row->total, SREPORT_PERCENT, &cell);
        cell_print(settings, str_cstr(&cell), 12, out);
        line_end(settings, out);
        list_output(out);
    }
}

/* ---- asking ---- */

static int failed(const struct error *err) {
    list_error("%s", error_text(err->code));
    list_why_note(err);
    return 1;
}

/* Which clusters slurmdbd is asked about; none: all. */
static void clusters_choose(const struct settings *settings, struct strs *ret) {
    bool all = settings->all_clusters && !settings->local;
    if (settings->clusters && !all && !settings->local)
        strs_split(ret, settings->clusters);
    else if (!all)
        strs_push(ret, settings->question.cluster);
    if (strs_has_nocase(ret, "all"))
        strs_done(ret);
}

static int accounts_load(struct list_session *session, struct sreport *report, struct error *err) {
    struct rows books = {NULL, 0, 0};
    int r = list_books(session, &books, err);
    for (size_t i = 0; r == 0 && i < books.n; i++)
        sreport_accounts(report, books.items[i]);
    rows_done(&books);
    return r;
}

static int jobs_load(struct list_session *session, const struct sreport_question *q,
                     const struct strs *clusters, struct sreport *report, struct error *err) {
    struct acct_query query;
    struct rows jobs = {NULL, 0, 0};
    record_init(&record_acct_query, &query);
    query.all_users = query.no_steps = query.duplicates = true;
    query.start = q->start;
    query.end = q->end;
    query.clusters = *clusters;
    int r = list_accounting(session, &query, &jobs, err);
    for (size_t i = 0; i < jobs.n; i++) {
        const struct acct_job *acct = jobs.items[i];
        if (acct->job)
            sreport_job(report, acct);
    }
    rows_done(&jobs);
    return r;
}

/* Sums do not tell the sizes of jobs, nor their partitions. */
static bool needs_jobs(const struct sreport_question *q) {
    return q->kind != SREPORT_UTILIZATION &&
           (q->kind >= SREPORT_SIZES_BY_ACCOUNT || q->partitions.n > 0);
}

static int ask_slurmdbd(struct list_session *session, const struct settings *settings,
                        struct sreport *report, struct error *err) {
    const struct sreport_question *q = &settings->question;
    struct strs clusters cleanup_strs = {NULL, 0};
    struct usage_query query;
    struct rows rows = {NULL, 0, 0};
    clusters_choose(settings, &clusters);
    record_init(&record_usage_query, &query);
    query.start = q->start;
    query.end = q->end;
    query.clusters = clusters;
    query.by = USAGE_BY_ACCOUNT | USAGE_BY_USER | USAGE_BY_WCKEY;
    int r = list_cluster_use(session, &query, &rows, err);
    for (size_t i = 0; r == 0 && i < rows.n; i++)
        sreport_cluster_use(report, rows.items[i]);
    rows.n = 0;
    if (r == 0 && needs_jobs(q)) {
        /* Of no cluster by name is of all. */
        char *all = (char *) (uintptr_t) "all"; /* only read */
        const struct strs any = {&all, 1};
        r = jobs_load(session, q, clusters.n > 0 ? &clusters : &any, report, err);
    } else if (r == 0 && q->kind != SREPORT_UTILIZATION) {
        r = list_usage(session, &query, &rows, err);
        for (size_t i = 0; r == 0 && i < rows.n; i++)
            sreport_usage(report, rows.items[i]);
    }
    rows_done(&rows);
    return r;
}

static int ask_history(struct list_session *session, const struct settings *settings,
                       struct sreport *report, struct error *err) {
    const struct sreport_question *q = &settings->question;
    const struct strs own = {NULL, 0};
    struct event_query events;
    struct rows rows = {NULL, 0, 0};
    int r = list_capacities(session, &rows, err);
    if (r == 0)
        sreport_capacities(report, (const struct acct_capacity *const *) rows.items, rows.n);
    rows.n = 0;
    record_init(&record_event_query, &events);
    events.start = q->start;
    events.end = q->end;
    if (r == 0 && q->kind == SREPORT_UTILIZATION)
        r = list_events(session, &events, &rows, err);
    for (size_t i = 0; r == 0 && i < rows.n; i++)
        sreport_outage(report, rows.items[i]);
    rows_done(&rows);
    return r < 0 ? r : jobs_load(session, q, &own, report, err);
}

static int ask(struct list_session *session, const struct settings *settings,
               struct sreport *report) {
    struct error err = ERROR_INIT;
    int r = accounts_load(session, report, &err);
    if (r == 0)
        r = (cli_has_dbd(list_session_conf(session)) ? ask_slurmdbd : ask_history)(
            session, settings, report, &err);
    return r < 0 ? failed(&err) : 0;
}

/* The name that people have in the table of users. */
static void names_fill(struct sreport_row *const *rows, size_t n) {
    struct smap known = SMAP_INIT;
    for (size_t i = 0; i < n; i++) {
        struct sreport_row *row = rows[i];
        if (!row->login)
            continue;
        row->proper = smap_get(&known, row->login);
        if (row->proper)
            continue;
        const struct passwd *user = getpwnam(row->login);
        const char *gecos = user && user->pw_gecos ? user->pw_gecos : "";
        row->proper = xstrndup(gecos, strcspn(gecos, ","));
        smap_put(&known, row->login, (char *) (uintptr_t) row->proper);
    }
    smap_done(&known);
}

static int report_show(struct settings *settings, const struct report *report) {
    struct sreport_question *q = &settings->question;
    struct list_session session;
    struct str out cleanup_str = STR_INIT;
    size_t n = 0;
    list_session_init(&session, "sreport");
    q->cluster = list_session_conf(&session)->cluster_name;
    bool dbd = cli_has_dbd(list_session_conf(&session));
    if (settings->clusters && !dbd)
        list_clusters_check(&session, settings->clusters);
    struct sreport *found = sreport_new(q);
    int status = ask(&session, settings, found);
    if (status == 0) {
        struct sreport_row *const *rows = sreport_rows(found, &n);
        names_fill(rows, n);
        title_print(settings, report, &out);
        if (report->fields)
            status = table_print(settings, report, rows, n, &out);
        else
            sizes_print(settings, rows, n, &out);
    }
    list_output_all(&out);
    if (status == 0 && dbd && !needs_jobs(q) && !settings->quiet &&
        q->end > calendar_span_start(CALENDAR_HOUR, q->now))
        list_note("slurmdbd sums up full hours: what was used since the last one is not in it yet");
    if (session.partial)
        status = 1;
    sreport_free(found);
    list_session_close(&session);
    return status;
}

/* ---- TRES ---- */

static bool tres_is_known(const char *name) {
    for (size_t i = 0; i < TRES_STANDARD; i++) {
        if (str_equal_nocase(tres_standard[i], name))
            return true;
    }
    return str_starts_nocase(name, "gres/") || str_starts_nocase(name, "license/");
}

_Noreturn static void no_tres(const char *name) {
    fprintf(stderr, "sreport: fatal: No valid TRES given\n");
    cleanup_free char *text = xasprintf("\"%s\": cpu, mem, billing, gres/NAME, license/NAME or ALL "
                                        "is meant",
                                        name);
    list_note(text);
    exit(1);
}

static void tres_choose(struct settings *settings) {
    struct sreport_question *q = &settings->question;
    for (uint32_t i = 0; i < settings->tres.n; i++) {
        char *name = settings->tres.items[i];
        if (str_equal_nocase(name, "ALL"))
            q->all_tres = true;
        else if (!tres_is_known(name))
            no_tres(name);
        text_lower(name);
        if (!q->all_tres)
            strs_push(&q->tres, name);
    }
    if (q->tres.n == 0 && !q->all_tres)
        strs_push(&q->tres, "cpu");
}

int main(int argc, char **argv) {
    struct settings settings = {
        .question = {.now = time(NULL), .top = 10, .groups = {50, 250, 500, 1000}, .n_groups = 4},
        .unit = SREPORT_MINUTES};
    int first = list_options_parse(&options, argc, argv, &settings);
    const struct report *report = report_find(argc - first, argv + first);
    settings.question.kind = report->kind;
    conditions_read(&settings, argc - first - 2, argv + first + 2);
    tres_choose(&settings);
    window_fill(&settings);
    int status = report_show(&settings, report);
    strs_done(&settings.tres);
    strs_done(&settings.question.tres);
    strs_done(&settings.question.accounts);
    strs_done(&settings.question.users);
    strs_done(&settings.question.wckeys);
    strs_done(&settings.question.partitions);
    return status;
}
