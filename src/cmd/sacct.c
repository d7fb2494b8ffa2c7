/* SPDX-License-Identifier: Apache-2.0 */
/* sacct: what became of jobs and steps, from the accounting and from the controller. */
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/columns_acct.h"
#include "cli/columns_job.h"
#include "cli/json_dump.h"
#include "cli/list.h"
#include "cli/list_acct.h"
#include "cli/list_options.h"
#include "model/conf.h"
#include "text/duration.h"
#include "text/timestamp.h"

#define FIELDS "jobid,jobname,partition,account,alloccpus,state,exitcode"
#define FIELDS_BRIEF "jobid,state,exitcode"
#define FIELDS_LONG                                                                                \
    "jobid,jobidraw,jobname,partition,maxvmsize,maxvmsizenode,maxvmsizetask,avevmsize,maxrss,"     \
    "maxrssnode,maxrsstask,averss,maxpages,maxpagesnode,maxpagestask,avepages,mincpu,mincpunode,"  \
    "mincputask,avecpu,ntasks,alloccpus,elapsed,state,exitcode,avecpufreq,reqcpufreqmin,"          \
    "reqcpufreqmax,reqcpufreqgov,reqmem,consumedenergy,maxdiskread,maxdiskreadnode,"               \
    "maxdiskreadtask,avediskread,maxdiskwrite,maxdiskwritenode,maxdiskwritetask,avediskwrite,"     \
    "reqtres,alloctres,tresusageinave,tresusageinmax,tresusageinmaxn,tresusageinmaxt,"             \
    "tresusageinmin,tresusageinminn,tresusageinmint,tresusageintot,tresusageoutmax,"               \
    "tresusageoutmaxn,tresusageoutmaxt,tresusageoutave,tresusageouttot"

struct settings {
    struct acct_filter filter;
    const char *format, *delimiter, *clusters, *json;
    bool all_clusters;
    bool whole_het; /* the number of any component means all of them */
    struct list_parsable parsable;
    bool no_header, raw_units, all_users, verbose, expand;
    char unit;
    int64_t now;
};

_Noreturn static void fatal(const char *text) {
    fprintf(stderr, "%s: fatal: %s\n", program_invocation_short_name, text);
    exit(1);
}

/* ---- options ---- */
#define SET(name) static void name(void *data, const char *value)
#define SETTINGS ((struct settings *) data)
#define AT(member) offsetof(struct settings, member)
#define FILTER (&SETTINGS->filter)

SET(set_brief) {
    SETTINGS->format = FIELDS_BRIEF;
}
SET(set_help_format) {
    struct str out cleanup_str = STR_INIT;
    fields_print(&columns_acct, 19, &out);
    list_output_all(&out);
    exit(0);
}
static int64_t time_value(const struct settings *settings, const char *text) {
    struct error err = ERROR_INIT;
    int64_t time = 0;
    if (timestamp_parse(text, settings->now, true, &time, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    return time;
}
SET(set_end) {
    FILTER->end = time_value(SETTINGS, value);
    FILTER->end_given = true;
}
SET(set_start) {
    FILTER->start = time_value(SETTINGS, value);
    FILTER->start_given = true;
}
static void range_value(const char *text, const char *what, struct acct_range *range) {
    if (!acct_range_parse(text, range))
        list_fail("Invalid numeric value \"%s\" for requested %s range.", text, what);
    range->given = range->high > 0; /* 0: any */
}
SET(set_nnodes) {
    range_value(value, "node", &FILTER->nnodes);
}
SET(set_ncpus) {
    range_value(value, "cpu", &FILTER->ncpus);
}
static uint32_t minutes_value(const char *text) {
    struct error err = ERROR_INIT;
    uint32_t minutes = 0;
    if (minutes_parse(text, &minutes, &err) < 0)
        fatal("Invalid time limit specification");
    return minutes;
}
SET(set_flags) {
    struct error err = ERROR_INIT;
    if (acct_flags_parse(value, &FILTER->flags, &err) < 0) {
        list_error("Invalid job flag %s", err.text);
        list_note("the flags are SchedSubmit, SchedMain and SchedBackfill");
        exit(1);
    }
}
SET(set_assocs) {
    words_each (value, ",", word) {
        uint64_t id;
        if (!str_to_u64(word, &id) || id == 0 || id > UINT32_MAX)
            list_fail("Invalid association id: %s", word);
        u32s_push(&FILTER->assocs, (uint32_t) id);
    }
}
SET(set_groups) {
    words_each (value, ",", word) {
        uint64_t gid;
        const struct group *group = getgrnam(word);
        if (!group && !str_to_u64(word, &gid))
            list_fail("Invalid group id: %s", word);
        cleanup_free char *number = group ? xasprintf("%u", group->gr_gid) : xstrdup(word);
        strs_push(&FILTER->groups, number);
    }
}
SET(set_limit_min) {
    struct acct_range *range = &FILTER->minutes;
    range->low = minutes_value(value);
    range->high = max_of(range->high, range->low);
    range->given = true;
}
SET(set_limit_max) {
    FILTER->minutes.high = minutes_value(value);
}
SET(set_jobs) {
    struct strs ids = {NULL, 0};
    strs_split(&ids, value);
    for (uint32_t i = 0; i < ids.n; i++) {
        if (!acct_id_is_valid(ids.items[i])) {
            cleanup_free char *text = xasprintf("Bad job/step specified: %s", ids.items[i]);
            fatal(text);
        }
        strs_push(&FILTER->ids, ids.items[i]);
    }
    strs_done(&ids);
}
SET(set_long) {
    SETTINGS->format = FIELDS_LONG;
}
SET(set_nodes) {
    struct error err = ERROR_INIT;
    if (hostlist_parse(&FILTER->nodes, value, &err) < 0)
        list_fail("%s", err.text);
}
SET(set_states) {
    struct error err = ERROR_INIT;
    if (acct_states_parse(FILTER, value, &err) < 0)
        fatal(err.text);
}
SET(set_users) {
    cleanup_free char *copy = xstrdup(value);
    char *cursor = copy, *word;
    while ((word = str_next_word(&cursor, ","))) {
        uint32_t uid;
        if (!list_user_find(word, &uid))
            list_fail("Invalid user id: %s", word);
        u32s_push(&FILTER->uids, uid);
    }
}
SET(set_whole) {
    bool no = value && str_equal_nocase(value, "no");
    if (value && !no && !str_equal_nocase(value, "yes"))
        list_fail("Invalid --whole-hetjob value: %s; it is yes or no", value);
    SETTINGS->whole_het = !no;
    FILTER->het_alone = no;
}
SET(set_units) {
    if (!value[0] || value[1] || !strchr("KMGTPkmgtp", value[0])) {
        list_error("Invalid unit type '%s'. Possible options are 'KMGTP'", value);
        fatal("Invalid unit type");
    }
    SETTINGS->unit = (char) (value[0] >= 'a' ? value[0] - 32 : value[0]);
}
SET(set_completion) {
    list_fail("-c: there is no job completion store beside the accounting; leave it out");
}
SET(set_file) {
    list_fail("--file: there is no file of a job completion store beside the accounting");
}

/* clang-format off */
static const struct list_option option_rows[] = {
    {"allusers", 'a', LIST_ARG_NONE, NULL, list_set_true, NULL, "jobs of all users", AT(all_users)},
    {"accounts", 'A', LIST_ARG_REQUIRED, NULL, list_add_words, "list", "only these accounts",
        AT(filter.accounts)},
    {"array", 0, LIST_ARG_NONE, NULL, list_set_true, NULL, "one line for each waiting array task",
        AT(filter.unfold)},
    {"brief", 'b', LIST_ARG_NONE, NULL, set_brief, NULL, "the fields " FIELDS_BRIEF},
    {"batch-script", 'B', LIST_ARG_NONE, NULL, list_set_true, NULL, "the batch script of jobs",
        AT(filter.want_script)},
    {"completion", 'c', LIST_ARG_NONE, NULL, set_completion, NULL, NULL},
    {"constraints", 'C', LIST_ARG_REQUIRED, NULL, list_add_words, "list",
        "only jobs with these constraints", AT(filter.constraints)},
    {"delimiter", 0, LIST_ARG_REQUIRED, NULL, list_set_text, "text",
        "what stands between fields with -p and -P", AT(delimiter)},
    {"duplicates", 'D', LIST_ARG_NONE, NULL, list_set_true, NULL,
        "earlier runs of requeued jobs too", AT(filter.duplicates)},
    {"endtime", 'E', LIST_ARG_REQUIRED, NULL, set_end, "time", "end of the window (now)"},
    {"env-vars", 0, LIST_ARG_NONE, NULL, list_set_true, NULL, "the environment of batch jobs",
        AT(filter.want_environment)},
    {"expand-patterns", 0, LIST_ARG_NONE, NULL, list_set_true, NULL,
        "replace the symbols of output file names", AT(expand)},
    {"federation", 0, LIST_ARG_NONE, "SACCT_FEDERATION", list_set_nothing, NULL,
        "accepted; there is one cluster"},
    {"file", 'f', LIST_ARG_REQUIRED, NULL, set_file, NULL, NULL},
    {"flags", 'F', LIST_ARG_REQUIRED, NULL, set_flags, "list",
        "only jobs that were started so: SchedMain, SchedBackfill"},
    {"format", 'o', LIST_ARG_REQUIRED, "SACCT_FORMAT", list_set_text, "fields",
        "comma list of fields, each perhaps with %[-]width", AT(format)},
    {"fields", 0, LIST_ARG_REQUIRED, NULL, list_set_text, "fields", NULL, AT(format)},
    {"gid", 'g', LIST_ARG_REQUIRED, NULL, set_groups, "list", "only these groups"},
    {"group", 0, LIST_ARG_REQUIRED, NULL, set_groups, "list", NULL},
    {"helpformat", 'e', LIST_ARG_NONE, NULL, set_help_format, NULL, "list the fields"},
    {"jobs", 'j', LIST_ARG_REQUIRED, NULL, set_jobs, "list", "only these jobs and steps"},
    {"json", 0, LIST_ARG_OPTIONAL, NULL, list_set_json, "data_parser", "JSON output", AT(json)},
    {"timelimit-min", 'k', LIST_ARG_REQUIRED, NULL, set_limit_min, "time", "smallest time limit"},
    {"timelimit-max", 'K', LIST_ARG_REQUIRED, NULL, set_limit_max, "time", "largest time limit"},
    {"long", 'l', LIST_ARG_NONE, NULL, set_long, NULL, "most fields"},
    {"local", 0, LIST_ARG_NONE, "SACCT_LOCAL", list_set_nothing, NULL,
        "accepted; there is one cluster"},
    {"allclusters", 'L', LIST_ARG_NONE, NULL, list_set_true, NULL,
        "jobs of all clusters, from slurmdbd", AT(all_clusters)},
    {"clusters", 'M', LIST_ARG_REQUIRED, "SLURM_CLUSTERS", list_set_text, "list",
        "only these clusters", AT(clusters)},
    {"cluster", 0, LIST_ARG_REQUIRED, NULL, list_set_text, "list", NULL, AT(clusters)},
    {"name", 0, LIST_ARG_REQUIRED, NULL, list_add_words, "list", "only jobs of these names",
        AT(filter.names)},
    {"ncpus", 'I', LIST_ARG_REQUIRED, NULL, set_ncpus, "N[-M]", "only jobs of so many CPUs"},
    {"nnodes", 'i', LIST_ARG_REQUIRED, NULL, set_nnodes, "N[-M]", "only jobs of so many nodes"},
    {"noconvert", 0, LIST_ARG_NONE, NULL, list_set_true, NULL, "no larger units", AT(raw_units)},
    {"nodelist", 'N', LIST_ARG_REQUIRED, NULL, set_nodes, "list", "only jobs on these nodes"},
    {"noheader", 'n', LIST_ARG_NONE, NULL, list_set_true, NULL, "no header", AT(no_header)},
    {"parsable", 'p', LIST_ARG_NONE, NULL, list_set_parsable, NULL,
        "fields between '|', one at the end", AT(parsable)},
    {"parsable2", 'P', LIST_ARG_NONE, NULL, list_set_parsable2, NULL, "fields between '|'",
        AT(parsable)},
    {"partition", 'r', LIST_ARG_REQUIRED, NULL, list_add_words, "list", "only these partitions",
        AT(filter.partitions)},
    {"qos", 'q', LIST_ARG_REQUIRED, NULL, list_add_words, "list", "only these QOS", AT(filter.qos)},
    {"reason", 'R', LIST_ARG_REQUIRED, NULL, list_add_words, "list",
        "only jobs that waited for these reasons", AT(filter.reasons)},
    {"starttime", 'S', LIST_ARG_REQUIRED, NULL, set_start, "time",
        "start of the window (today 00:00)"},
    {"state", 's', LIST_ARG_REQUIRED, NULL, set_states, "list",
        "only jobs that were in these states in the window"},
    {"truncate", 'T', LIST_ARG_NONE, NULL, list_set_true, NULL, "times no further than the window",
        AT(filter.truncate)},
    {"uid", 'u', LIST_ARG_REQUIRED, NULL, set_users, "list", "only jobs of these users"},
    {"user", 0, LIST_ARG_REQUIRED, NULL, set_users, "list", NULL},
    {"units", 0, LIST_ARG_REQUIRED, NULL, set_units, "K|M|G|T|P", "unit of memory"},
    {"use-local-uid", 0, LIST_ARG_NONE, NULL, list_set_nothing, NULL,
        "accepted; numbers of users are those of this cluster"},
    {"verbose", 'v', LIST_ARG_NONE, NULL, list_set_true, NULL, "say which window of time is meant",
        AT(verbose)},
    {"wckeys", 'W', LIST_ARG_REQUIRED, NULL, list_add_words, "list", "only these wckeys",
        AT(filter.wckeys)},
    {"whole-hetjob", 0, LIST_ARG_OPTIONAL, NULL, set_whole, "yes|no",
        "whether the number of a component stands for the whole heterogeneous job; without it only "
        "the first one's does"},
    {"associations", 'x', LIST_ARG_REQUIRED, NULL, set_assocs, "list",
        "only these associations, by number (sacctmgr show assoc format=id)"},
    {"allocations", 'X', LIST_ARG_NONE, NULL, list_set_true, NULL, "no steps",
        AT(filter.allocations)},
    {"yaml", 0, LIST_ARG_OPTIONAL, NULL, list_set_yaml, "data_parser", "YAML output", AT(json)},
};
/* clang-format on */
static const struct list_options options = {option_rows, countof(option_rows),
                                            "sacct [options]\n\tUse --help for help"};

static int64_t midnight_before(int64_t now) {
    time_t seconds = (time_t) now;
    struct tm tm;
    localtime_r(&seconds, &tm);
    tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
    tm.tm_isdst = -1;
    return mktime(&tm);
}

/* What ends before it starts holds no job. */
static void window_check(const struct settings *settings) {
    const struct acct_filter *filter = &settings->filter;
    struct str start cleanup_str = STR_INIT, end cleanup_str = STR_INIT;
    if (!filter->start_given || filter->start <= filter->end)
        return;
    timestamp_print(filter->start, NULL, settings->now, &start);
    timestamp_print(filter->end, NULL, settings->now, &end);
    list_fail("Start time (%s) requested is after end time (%s).", str_cstr(&start),
              str_cstr(&end));
}

static void filter_finish(struct settings *settings) {
    struct acct_filter *filter = &settings->filter;
    if (settings->all_users || (filter->uids.n == 0 && (filter->ids.n || getuid() == 0))) {
        filter->all_users = true;
    } else if (filter->uids.n == 0) {
        u32s_push(&filter->uids, getuid());
    }
    acct_window_set(filter, settings->now, midnight_before(settings->now));
    window_check(settings);
}

/* Scripts and environments are looked for one by one. */
static void kept_check(const struct acct_filter *filter) {
    const char *what = filter->want_script        ? "script"
                       : filter->want_environment ? "environment"
                                                  : NULL;
    if (filter->want_script && filter->want_environment)
        fatal("Options --batch-script and --env-vars are mutually exclusive");
    if (what && filter->ids.n == 0) {
        cleanup_free char *text =
            xasprintf("When requesting job %s%s you must also request specific jobs with the '-j' "
                      "option.",
                      what, filter->want_script ? "s" : "");
        fatal(text);
    }
}

/* ---- output ---- */
static void environment_print(struct blob environment, struct str *out) {
    for (size_t at = 0; at < environment.size;) {
        size_t length = strnlen((const char *) environment.data + at, environment.size - at);
        str_append_bytes(out, environment.data + at, length);
        str_append_char(out, '\n');
        at += length + 1;
    }
}

static void kept_print(const struct rows *rows, bool script, struct str *out) {
    for (size_t i = 0; i < rows->n; i++) {
        const struct acct_row *row = rows->items[i];
        if (row->step)
            continue;
        str_printf(out,
                   script ? "Batch Script for %u\n"
                          : "Environment used for %u (must be batch to display)\n",
                   row->job->job_id);
        str_append_fill(out, '-', 80);
        str_append_char(out, '\n');
        if ((script ? row->job->script.size : row->job->environment.size) == 0)
            str_append(out, "NONE\n");
        else if (script)
            str_append_bytes(out, row->job->script.data, row->job->script.size);
        else
            environment_print(row->job->environment, out);
        str_append_char(out, '\n');
        list_output(out);
    }
}

static void table_print(const struct settings *settings, const struct format *format,
                        const struct rows *rows, struct column_env *env, struct str *out) {
    if (!settings->no_header) {
        format_header(format, out);
        if (!settings->parsable.on)
            format_dashes(format, out);
    }
    rows_print(rows, format, env, out);
}

static int load_failed(const struct error *err) {
    if (err->code == -ERR_ACCOUNTING_DISABLED)
        fprintf(stderr, "%s\n", error_text(err->code));
    else
        list_error("Problem talking to the database: %s", error_text(err->code));
    if (err->code == -ERR_CONNECT || err->code == -ERR_AUTH)
        list_why_note(err);
    return 1;
}

/* With --whole-hetjob=yes: the jobs whose components were named. True: ask again. */
static bool whole_added(struct settings *settings, const struct rows *jobs) {
    struct strs *ids = &settings->filter.ids;
    bool added = false;
    for (size_t i = 0; i < jobs->n && settings->whole_het && ids->n > 0; i++) {
        const struct acct_job *acct = jobs->items[i];
        char text[16];
        snprintf(text, sizeof(text), "%u", acct->job->het_job_id);
        if (acct->job->het_job_id == 0 || strs_has(ids, text))
            continue;
        strs_push(ids, text);
        added = true;
    }
    return added;
}

static int ask(struct list_session *session, struct settings *settings, const struct strs *clusters,
               struct rows *jobs, struct error *err) {
    struct acct_query query;
    int r;
    do {
        rows_done(jobs);
        *jobs = (struct rows) {NULL, 0, 0};
        acct_query_make(&settings->filter, &query);
        query.clusters = *clusters;
        r = list_accounting(session, &query, jobs, err);
    } while (r == 0 && whole_added(settings, jobs));
    return r;
}

static int history_show(struct settings *settings, const struct format *format, int argc,
                        char **argv) {
    struct list_session session;
    struct rows jobs = {NULL, 0, 0}, rows = {NULL, 0, 0};
    struct str out cleanup_str = STR_INIT;
    struct error err = ERROR_INIT;
    struct column_env env;
    struct arena arena;
    list_session_init(&session, "sacct");
    list_env_init(&env, list_session_conf(&session)->cluster_name);
    bool has_dbd = cli_has_dbd(list_session_conf(&session));
    if (settings->clusters && !has_dbd)
        list_clusters_check(&session, settings->clusters);
    const char *clusters = settings->all_clusters ? "all" : settings->clusters;
    struct strs named = {NULL, 0};
    if (has_dbd && clusters)
        strs_split(&named, clusters);
    env.raw_units = settings->raw_units;
    env.unit = settings->unit;
    env.data = &(struct job_columns_data) {.expand_patterns = settings->expand};
    if (settings->verbose) {
        struct str window cleanup_str = STR_INIT;
        acct_window_print(&settings->filter, &window);
        fprintf(stderr, "sacct: %s\n", str_cstr(&window));
    }
    arena_init(&arena, 0);
    int status = 0;
    if (ask(&session, settings, &named, &jobs, &err) < 0) {
        status = load_failed(&err);
    } else {
        acct_rows_build(&settings->filter, &jobs, &arena, &rows);
        if (settings->json)
            json_dump_accounting(&jobs, settings->json, argc, argv, &env, &out);
        else if (settings->filter.want_script || settings->filter.want_environment)
            kept_print(&rows, settings->filter.want_script, &out);
        else
            table_print(settings, format, &rows, &env, &out);
    }
    list_output_all(&out);
    if (status == 0 && rows.n == 0 && acct_window_is_instant(&settings->filter))
        list_note("with --state and without --endtime the window is the instant of --starttime; "
                  "-E now means from then on");
    rows_done(&rows);
    rows_done(&jobs);
    strs_done(&named);
    arena_done(&arena);
    list_session_close(&session);
    return session.partial ? 1 : status;
}

int main(int argc, char **argv) {
    struct settings settings = {.format = FIELDS, .delimiter = "|", .now = time(NULL)};
    struct format format cleanup_format = FORMAT_INIT;
    struct error err = ERROR_INIT;
    int first = list_options_parse(&options, argc, argv, &settings);
    if (first < argc) {
        list_error("Unknown arguments:");
        for (int i = first; i < argc; i++)
            list_error(" %s", argv[i]);
        return 1;
    }
    if (format_parse_sacct(&format, &columns_acct, settings.format,
                           settings.parsable.on ? settings.delimiter : NULL,
                           settings.parsable.trailing, &err) < 0)
        list_fail("%s", err.text);
    kept_check(&settings.filter);
    filter_finish(&settings);
    int status = history_show(&settings, &format, argc, argv);
    acct_filter_done(&settings.filter);
    return status;
}
