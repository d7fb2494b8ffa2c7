/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sstat: what running steps use at this moment. The controller tells which steps there are and
 * where they run; their nodes are asked for the figures.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "cli/columns_usage.h"
#include "cli/list.h"
#include "cli/list_jobs.h"
#include "cli/list_options.h"
#include "cli/step_stats.h"
#include "text/hostlist.h"
#include "text/idset.h"

#define FIELDS                                                                                     \
    "jobid,maxvmsize,maxvmsizenode,maxvmsizetask,avevmsize,maxrss,maxrssnode,maxrsstask,averss,"   \
    "maxpages,maxpagesnode,maxpagestask,avepages,mincpu,mincpunode,mincputask,avecpu,ntasks,"      \
    "avecpufreq,reqcpufreqmin,reqcpufreqmax,reqcpufreqgov,consumedenergy,maxdiskread,"             \
    "maxdiskreadnode,maxdiskreadtask,avediskread,maxdiskwrite,maxdiskwritenode,maxdiskwritetask,"  \
    "avediskwrite,tresusageinave,tresusageinmax,tresusageinmaxnode,tresusageinmaxtask,"            \
    "tresusageinmin,tresusageinminnode,tresusageinmintask,tresusageintot,tresusageoutave,"         \
    "tresusageoutmax,tresusageoutmaxnode,tresusageoutmaxtask,tresusageoutmin,"                     \
    "tresusageoutminnode,tresusageoutmintask,tresusageouttot"
#define FIELDS_PIDS "jobid,nodelist,pids"

struct settings {
    struct strs ids;
    const char *format;
    struct list_parsable parsable;
    bool all_steps, pids, no_header, raw_units;
};

/* A line: a step, or with --pidformat its part on one node. */
struct line {
    struct acct_row row; /* must stand first: the columns of usage print it */
    const char *nodes;
    struct u32s pids;
};

/* ---- columns ---- */
#define LINE ((const struct line *) data)
#define STEP (LINE->row.step)
#define PRINT(name)                                                                                \
    static void name(const void *data, const void *member, struct column_env *env, struct str *out)

PRINT(print_id) {
    str_append_u64(out, STEP->job_id);
    str_append_char(out, '.');
    step_id_print(STEP->step_id, out);
}
PRINT(print_tasks) {
    str_append_u64(out, STEP->ntasks);
}
PRINT(print_nodes) {
    str_append(out, LINE->nodes ? LINE->nodes : "");
}
PRINT(print_pids) {
    for (uint32_t i = 0; i < LINE->pids.n; i++)
        str_printf(out, "%s%u", i ? "," : "", LINE->pids.items[i]);
}
PRINT(print_cpu_freq) {
    str_append(out, STEP->step_id == STEP_BATCH ? "0" : "Unknown");
}
static void print_bytes(const struct line *line, enum usage_kind kind, bool average,
                        struct str *out) {
    const struct usage_measure *measure = usage_of_row(&line->row, kind);
    if (measure)
        str_append_u64(out, average ? usage_average(&line->row, measure) : measure->max);
}
PRINT(print_max_read) {
    print_bytes(LINE, USAGE_READ, false, out);
}
PRINT(print_ave_read) {
    print_bytes(LINE, USAGE_READ, true, out);
}
PRINT(print_max_written) {
    print_bytes(LINE, USAGE_WRITTEN, false, out);
}
PRINT(print_ave_written) {
    print_bytes(LINE, USAGE_WRITTEN, true, out);
}

#define F(name, width, print)                                                                      \
    { 0, name, name, NULL, print, NULL, width, 0 }
/* In the order in which --helpformat lists them. */
static const struct column columns[] = {
    USAGE_COLUMNS_AVE(12, print_ave_read, print_ave_written),
    F("ConsumedEnergy", 14, usage_print_zero),
    F("ConsumedEnergyRaw", 17, usage_print_zero),
    {0, "JobID", "JobID", NULL, print_id, NULL, 12, COLUMN_LEFT},
    USAGE_COLUMNS_MAX(print_max_read, print_max_written),
    USAGE_COLUMNS_MIN,
    F("Nodelist", 20, print_nodes),
    F("NTasks", 8, print_tasks),
    F("Pids", 20, print_pids),
    F("ReqCPUFreq", 13, print_cpu_freq),
    F("ReqCPUFreqMin", 13, print_cpu_freq),
    F("ReqCPUFreqMax", 13, print_cpu_freq),
    F("ReqCPUFreqGov", 13, print_cpu_freq),
    USAGE_COLUMNS_TRES,
};
static const struct column_table table = {NULL, columns, countof(columns), false};

/* ---- options ---- */
#define SET(name) static void name(void *data, const char *value)
#define SETTINGS ((struct settings *) data)
#define AT(member) offsetof(struct settings, member)

_Noreturn static void bad_id(const char *what, const char *text) {
    fprintf(stderr, "%s: fatal: Bad %s specified: %s\n", program_invocation_short_name, what, text);
    exit(1);
}
static void ids_add(struct settings *settings, const char *text) {
    cleanup_free char *copy = xstrdup(text);
    char *cursor = copy, *word;
    while ((word = str_next_word(&cursor, ", "))) {
        struct job_ref ref;
        uint64_t number;
        char after = word[strspn(word, "0123456789")];
        if (!job_id_is_valid(word) || (after && !strchr("._+", after)))
            bad_id("job/step", word);
        (void) job_ref_parse(word, &ref);
        if (ref.step && !str_to_u64(ref.step, &number) && !str_equal(ref.step, "batch") &&
            !str_equal(ref.step, "extern") && !str_equal(ref.step, "interactive"))
            bad_id("step", word);
        strs_push(&settings->ids, word);
    }
}
SET(set_jobs) {
    ids_add(SETTINGS, value);
}
SET(set_help_format) {
    struct str out cleanup_str = STR_INIT;
    fields_print(&table, 19, &out);
    list_output_all(&out);
    exit(0);
}
SET(set_pids) {
    SETTINGS->pids = true;
    SETTINGS->format = FIELDS_PIDS;
}

/* clang-format off */
static const struct list_option option_rows[] = {
    {"allsteps", 'a', LIST_ARG_NONE, NULL, list_set_true, NULL,
        "every step of a job for which none is named", AT(all_steps)},
    {"format", 'o', LIST_ARG_REQUIRED, NULL, list_set_text, "fields",
        "comma list of fields, each perhaps with %[-]width", AT(format)},
    {"fields", 0, LIST_ARG_REQUIRED, NULL, list_set_text, "fields", NULL, AT(format)},
    {"helpformat", 'e', LIST_ARG_NONE, NULL, set_help_format, NULL, "list the fields"},
    {"jobs", 'j', LIST_ARG_REQUIRED, NULL, set_jobs, "list", "these steps, or the first of a job"},
    {"noconvert", 0, LIST_ARG_NONE, NULL, list_set_true, NULL, "no larger units", AT(raw_units)},
    {"noheader", 'n', LIST_ARG_NONE, NULL, list_set_true, NULL, "no header", AT(no_header)},
    {"parsable", 'p', LIST_ARG_NONE, NULL, list_set_parsable, NULL,
        "fields between '|', one at the end", AT(parsable)},
    {"parsable2", 'P', LIST_ARG_NONE, NULL, list_set_parsable2, NULL, "fields between '|'",
        AT(parsable)},
    {"pidformat", 'i', LIST_ARG_NONE, NULL, set_pids, NULL,
        "the processes of steps, one line a node"},
    {"verbose", 'v', LIST_ARG_NONE, NULL, NULL, NULL, "verbosity level"},
};
/* clang-format on */
static const struct list_options options = {
    option_rows, countof(option_rows), "sstat [options] -j <job(.stepid)>\n\tUse --help for help"};

/* ---- which steps ---- */

/* Steps that an id means: the one it names; else all, or the first of srun's. */
static void steps_choose(const struct settings *settings, const char *id, const struct rows *all,
                         struct rows *chosen) {
    struct strs one = {NULL, 0};
    struct job_query query = {.ids = one};
    const struct step *first = NULL;
    struct job_ref ref;
    size_t before = chosen->n, candidates = 0;

    strs_push(&query.ids, id);
    (void) job_ref_parse(id, &ref);
    for (size_t i = 0; i < all->n; i++) {
        const struct step *step = all->items[i];
        if (!job_query_match_step(&query, step, NULL))
            continue;
        candidates++;
        if (ref.step || settings->all_steps)
            rows_push(chosen, step);
        else if (step->step_id < STEP_INTERACTIVE && (!first || step->step_id < first->step_id))
            first = step;
    }
    if (first)
        rows_push(chosen, first);
    if (chosen->n == before && ref.step)
        list_error("StepId=%s not found running.", id);
    if (chosen->n == before && !ref.step && candidates > 0) {
        cleanup_free char *text = xasprintf(
            "job %s runs no step of srun; its script is step %s.batch, -a shows all", id, id);
        list_note(text);
    }
    strs_done(&query.ids);
}

static int row_order(const void *a, const void *b) {
    return acct_step_order(*(const void *const *) a, *(const void *const *) b);
}

static void steps_load(struct list_session *session, const struct settings *settings,
                       struct rows *chosen) {
    for (uint32_t i = 0; i < settings->ids.n; i++) {
        const char *id = settings->ids.items[i];
        struct strs one = {(char **) &settings->ids.items[i], 1};
        struct rows all = {NULL, 0, 0};
        struct error err = ERROR_INIT;
        struct list_request request;
        record_init(&record_list_request, &request);
        request.job_ids = one;
        if (list_steps(session, &request, &all, &err) < 0) {
            list_load_error("slurm_get_job_steps error", &err);
            exit(1);
        }
        if (all.n > 0) {
            qsort(all.items, all.n, sizeof(*all.items), row_order);
            steps_choose(settings, id, &all, chosen);
        } else {
            cleanup_free char *job = xstrndup(id, strcspn(id, "."));
            if (list_job_exists(session, id))
                list_error("No steps running for job %s", job);
            else
                list_error("couldn't get steps for job %s", job);
        }
        rows_done(&all);
    }
}

/* ---- asking the nodes ---- */

struct asks {
    vec(struct step_stat_ask) list;
    vec(size_t) ends; /* of each step */
};

static void asks_add(struct asks *asks, const struct step *step, const struct rows *nodes) {
    struct hostlist names cleanup_hostlist = HOSTLIST_INIT;

    if (step->nodes && hostlist_parse(&names, step->nodes, NULL) == 0) {
        for (size_t i = 0; i < names.n; i++) {
            const struct node *node = rows_find_node(nodes, names.names[i]);
            struct step_stat_ask ask = {.job_id = step->job_id, .step_id = step->step_id};
            if (!node)
                continue;
            ask.node = node->name;
            ask.address = node->address ? node->address : node->name;
            ask.port = (uint16_t) node->port;
            vec_push(&asks->list, ask);
        }
    }
    vec_push(&asks->ends, asks->list.n);
}

static void nodes_load(struct list_session *session, const struct rows *steps, struct rows *nodes) {
    struct str names cleanup_str = STR_INIT;
    struct error err = ERROR_INIT;
    struct list_request request;

    for (size_t i = 0; i < steps->n; i++) {
        const struct step *step = steps->items[i];
        if (step->nodes && *step->nodes)
            str_join(&names, ",", step->nodes);
    }
    if (names.length == 0)
        return;
    record_init(&record_list_request, &request);
    request.nodelist = names.data;
    request.all = true;
    if (list_nodes(session, &request, nodes, &err) < 0) {
        list_load_error("slurm_load_node error", &err);
        exit(1);
    }
}

/* ---- lines ---- */

static void complain(const struct step_stat_ask *ask) {
    list_error("slurm_job_step_stat: there was an error with the request to %s rc = %s", ask->node,
               error_text(ask->err.code));
    if (ask->err.text[0]) {
        cleanup_free char *text = xasprintf("%s: %s", ask->node, ask->err.text);
        list_note(text);
    }
}

static struct line *line_add(struct rows *lines, struct arena *arena, const struct step *step,
                             const char *nodes) {
    struct line *line = arena_alloc(arena, sizeof(*line));

    *line = (struct line) {.row.step = step, .nodes = nodes};
    rows_push(lines, line);
    return line;
}

static void line_take(struct line *line, const struct step_stat_reply *reply, struct arena *arena) {
    uint32_t *pids = arena_alloc(arena, (line->pids.n + reply->pids.n + 1) * sizeof(*pids));

    if (line->pids.n)
        memcpy(pids, line->pids.items, line->pids.n * sizeof(*pids));
    if (reply->pids.n)
        memcpy(pids + line->pids.n, reply->pids.items, reply->pids.n * sizeof(*pids));
    line->pids.items = pids;
    line->pids.n += reply->pids.n;
}

/* The step with the figures of all its nodes; none when no node has answered. */
static void step_lines(const struct settings *settings, const struct step *step,
                       const struct step_stat_ask *asks, size_t n, struct arena *arena,
                       struct rows *lines) {
    struct step *copy = arena_alloc(arena, sizeof(*copy));
    struct line *line = NULL;
    struct str name cleanup_str = STR_INIT;
    int code = 0;

    *copy = *step;
    copy->usage = zalloc(struct usage); /* lives as long as the command */
    record_init(&record_usage, copy->usage);
    for (size_t i = 0; i < n; i++) {
        if (!asks[i].reply) {
            complain(&asks[i]);
            code = asks[i].err.code;
            continue;
        }
        if (!line || settings->pids)
            line = line_add(lines, arena, copy, settings->pids ? asks[i].node : step->nodes);
        line_take(line, asks[i].reply, arena);
        if (asks[i].reply->usage)
            usage_add(copy->usage, asks[i].reply->usage);
    }
    str_printf(&name, "%u.", step->job_id);
    step_id_print(step->step_id, &name);
    if (!line && code)
        list_error("problem getting step_layout for StepId=%s: %s", name.data, error_text(code));
    if (!line)
        record_free(&record_usage, copy->usage);
}

static int stats_show(struct settings *settings, const struct format *format) {
    struct rows steps = {NULL, 0, 0}, nodes = {NULL, 0, 0}, lines = {NULL, 0, 0};
    struct str out cleanup_str = STR_INIT;
    struct error err = ERROR_INIT;
    struct list_session session;
    struct asks asks = {0};
    struct column_env env;
    struct arena arena;
    int status = 0;

    list_session_init(&session, "sstat");
    list_env_init(&env, list_session_conf(&session)->cluster_name);
    env.raw_units = settings->raw_units;
    arena_init(&arena, 0);
    if (!settings->no_header) {
        format_header(format, &out);
        if (!settings->parsable.on)
            format_dashes(format, &out);
        list_output_all(&out);
    }
    steps_load(&session, settings, &steps);
    nodes_load(&session, &steps, &nodes);
    for (size_t i = 0; i < steps.n; i++)
        asks_add(&asks, steps.items[i], &nodes);
    if (step_stats_ask(list_session_conf(&session), asks.list.items, asks.list.n, &arena, &err) <
        0) {
        list_error("%s", err.text);
        status = 1;
    }
    for (size_t i = 0, from = 0; status == 0 && i < steps.n; from = asks.ends.items[i++])
        step_lines(settings, steps.items[i], asks.list.items + from, asks.ends.items[i] - from,
                   &arena, &lines);
    rows_print(&lines, format, &env, &out);
    list_output_all(&out);
    for (size_t i = 0; i < lines.n; i++) {
        const struct line *line = lines.items[i];
        if (i == 0 || ((const struct line *) lines.items[i - 1])->row.step != line->row.step)
            record_free(&record_usage, line->row.step->usage);
    }
    vec_done(&asks.list);
    vec_done(&asks.ends);
    rows_done(&lines);
    rows_done(&nodes);
    rows_done(&steps);
    arena_done(&arena);
    list_session_close(&session);
    return status;
}

int main(int argc, char **argv) {
    struct settings settings = {.format = FIELDS};
    struct format format cleanup_format = FORMAT_INIT;
    struct error err = ERROR_INIT;

    int first = list_options_parse(&options, argc, argv, &settings);
    for (int i = first; i < argc; i++)
        ids_add(&settings, argv[i]);
    if (format_parse_sacct(&format, &table, settings.format, settings.parsable.on ? "|" : NULL,
                           settings.parsable.trailing, &err) < 0)
        list_fail("%s", err.text);
    if (settings.ids.n == 0)
        list_fail("You didn't give me any jobs to stat.");
    int status = stats_show(&settings, &format);
    strs_done(&settings.ids);
    return status;
}
