/* SPDX-License-Identifier: Apache-2.0 */
/* squeue: shows the jobs and steps that the controller knows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/columns_job.h"
#include "cli/json_dump.h"
#include "cli/list.h"
#include "cli/list_jobs.h"
#include "cli/list_options.h"
#include "model/conf.h"

#define LAYOUT "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R"
#define LAYOUT_LONG "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R"
#define LAYOUT_START "%.18i %.9P %.8j %.8u %.2t %.19S %.6D %20Y %R"
#define LAYOUT_STEPS "%.15i %.8j %.9P %.8u %.9M %N"
#define LAYOUT_STEPS_LONG "%.15i %.8j %.9P %.8u %.9l %.9M %N"
#define SORT_JOBS "P,t,-p"
#define SORT_STEPS "P,i"

struct settings {
    struct job_query query;
    const char *format, *format_long, *sort, *clusters;
    const char *format_env, *format_long_env;
    const char *json;
    bool steps, start, long_form, no_header, raw_units, expand, has_states;
    uint64_t iterate;
};

/* ---- options ---- */
#define SET(name) static void name(void *data, const char *value)
#define SETTINGS ((struct settings *) data)
#define AT(member) offsetof(struct settings, member)

static void ids_set(struct settings *settings, const char *value) {
    cleanup_free char *copy = xstrdup(value ? value : "");
    char *cursor = copy, *word;
    strs_done(&settings->query.ids);
    while ((word = str_next_word(&cursor, ", "))) {
        if (!job_id_is_valid(word))
            list_fail("Invalid job id: %s", word);
        if (!strs_has(&settings->query.ids, word))
            strs_push(&settings->query.ids, word);
    }
}

SET(set_jobs) {
    ids_set(SETTINGS, value);
}
SET(set_steps) {
    SETTINGS->steps = true;
    if (value)
        ids_set(SETTINGS, value);
}
SET(set_users) {
    list_set_words(&SETTINGS->query.users, value);
    SETTINGS->query.by_user = true;
}
SET(set_me) {
    cleanup_free char *uid = xasprintf("%u", getuid());
    set_users(data, uid);
    SETTINGS->query.not_users = false;
}
SET(set_not_me) {
    set_me(data, NULL);
    SETTINGS->query.not_users = true;
}
SET(set_iterate) {
    if (!str_to_u64(value, &SETTINGS->iterate) || SETTINGS->iterate == 0) {
        list_error("--iterate=%s\n", value);
        exit(1);
    }
}
SET(set_states) {
    struct error err = ERROR_INIT;
    SETTINGS->query.states = (struct job_states) {0};
    SETTINGS->has_states = true;
    if (job_states_parse(&SETTINGS->query.states, value, &err) < 0) {
        struct str names cleanup_str = STR_INIT;
        job_states_names(&names);
        list_error("%s", err.text);
        list_error("Valid job states include: %s\n", str_cstr(&names));
        exit(1);
    }
}

/* clang-format off */
static const struct list_option option_rows[] = {
    {"account", 'A', LIST_ARG_REQUIRED, "SQUEUE_ACCOUNT", list_set_words, "account(s)",
        "comma separated list of accounts to view", AT(query.accounts)},
    {"all", 'a', LIST_ARG_NONE, "SQUEUE_ALL", list_set_true, NULL, "jobs in hidden partitions too",
        AT(query.all)},
    {"array", 'r', LIST_ARG_NONE, "SQUEUE_ARRAY", list_set_true, NULL,
        "one line for each array task", AT(query.unfold)},
    {"array-unique", 0, LIST_ARG_NONE, "SQUEUE_ARRAY_UNIQUE", list_set_true, NULL,
        "one line for each waiting array task", AT(query.unfold)},
    {"expand-patterns", 0, LIST_ARG_NONE, "SQUEUE_EXPAND_PATTERNS", list_set_true, NULL,
        "replace the symbols of output file names", AT(expand)},
    {"federation", 0, LIST_ARG_NONE, "SQUEUE_FEDERATION", list_set_nothing, NULL,
        "accepted; there is one cluster"},
    {"hide", 0, LIST_ARG_NONE, NULL, list_set_false, NULL, "no jobs of hidden partitions",
        AT(query.all)},
    {"iterate", 'i', LIST_ARG_REQUIRED, NULL, set_iterate, "seconds", "repeat at this interval"},
    {"jobs", 'j', LIST_ARG_NEXT_WORD, NULL, set_jobs, "job(s)",
        "comma separated list of job ids to view; -t all shows ended ones too"},
    {"json", 0, LIST_ARG_OPTIONAL, NULL, list_set_json, "data_parser", "JSON output", AT(json)},
    {"licenses", 'L', LIST_ARG_REQUIRED, "SQUEUE_LICENSES", list_set_words, "license(s)",
        "comma separated list of licenses to view", AT(query.licenses)},
    {"local", 0, LIST_ARG_NONE, "SQUEUE_LOCAL", list_set_nothing, NULL,
        "accepted; there is one cluster"},
    {"long", 'l', LIST_ARG_NONE, NULL, list_set_true, NULL, "long report", AT(long_form)},
    {"clusters", 'M', LIST_ARG_REQUIRED, "SLURM_CLUSTERS", list_set_text, "cluster(s)",
        "the cluster to ask", AT(clusters)},
    {"cluster", 0, LIST_ARG_REQUIRED, NULL, list_set_text, "cluster(s)", NULL, AT(clusters)},
    {"me", 0, LIST_ARG_NONE, NULL, set_me, NULL, "my own jobs"},
    {"name", 'n', LIST_ARG_REQUIRED, "SQUEUE_NAMES", list_set_words, "job_name(s)",
        "comma separated list of job names to view", AT(query.names)},
    {"noconvert", 0, LIST_ARG_NONE, NULL, list_set_true, NULL,
        "no larger units (2048M stays 2048M)", AT(raw_units)},
    {"nodelist", 'w', LIST_ARG_REQUIRED, NULL, list_set_text, "hostlist", "list of nodes to view",
        AT(query.nodelist)},
    {"nodes", 0, LIST_ARG_REQUIRED, NULL, list_set_text, "hostlist", NULL, AT(query.nodelist)},
    {"noheader", 'h', LIST_ARG_NONE, NULL, list_set_true, NULL, "no headers on output",
        AT(no_header)},
    {"notme", 0, LIST_ARG_NONE, NULL, set_not_me, NULL, "everybody's jobs but mine"},
    {"only-job-state", 0, LIST_ARG_NONE, NULL, list_set_nothing, NULL,
        "accepted; a listing is always cheap"},
    {"format", 'o', LIST_ARG_REQUIRED, NULL, list_set_text, "format", "format specification",
        AT(format)},
    {"Format", 'O', LIST_ARG_REQUIRED, NULL, list_set_text, "format", "format by field names",
        AT(format_long)},
    {NULL, 0, LIST_ARG_REQUIRED, "SQUEUE_FORMAT", list_set_text, NULL, NULL, AT(format_env)},
    {NULL, 0, LIST_ARG_REQUIRED, "SQUEUE_FORMAT2", list_set_text, NULL, NULL, AT(format_long_env)},
    {"partition", 'p', LIST_ARG_REQUIRED, "SQUEUE_PARTITION", list_set_words, "partition(s)",
        "comma separated list of partitions to view", AT(query.partitions)},
    {"priority", 'P', LIST_ARG_NONE, "SQUEUE_PRIORITY", list_set_true, NULL,
        "one line for each partition of a waiting job", AT(query.per_partition)},
    {"qos", 'q', LIST_ARG_REQUIRED, "SQUEUE_QOS", list_set_words, "qos(s)",
        "comma separated list of QOS to view", AT(query.qos)},
    {"reservation", 'R', LIST_ARG_REQUIRED, NULL, list_set_text, "name", "reservation to view",
        AT(query.reservation)},
    {"sibling", 0, LIST_ARG_NONE, "SQUEUE_SIBLING", list_set_nothing, NULL,
        "accepted; there is one cluster"},
    {"sort", 'S', LIST_ARG_REQUIRED, "SQUEUE_SORT", list_set_text, "fields",
        "comma separated list of fields to sort on", AT(sort)},
    {"start", 0, LIST_ARG_NONE, NULL, list_set_true, NULL, "expected start times of waiting jobs",
        AT(start)},
    {"states", 't', LIST_ARG_REQUIRED, "SQUEUE_STATES", set_states, "states",
        "comma separated list of states to view, or all"},
    {"steps", 's', LIST_ARG_NEXT_WORD, NULL, set_steps, "step(s)",
        "comma separated list of job steps to view"},
    {"user", 'u', LIST_ARG_REQUIRED, "SQUEUE_USERS", set_users, "user_name(s)",
        "comma separated list of users to view"},
    {"verbose", 'v', LIST_ARG_NONE, NULL, NULL, NULL, "verbosity level"},
    {"yaml", 0, LIST_ARG_OPTIONAL, NULL, list_set_yaml, "data_parser", "YAML output", AT(json)},
};
/* clang-format on */
static const struct list_options options = {
    option_rows, countof(option_rows),
    "squeue [-A account] [--clusters names] [-i seconds] [--job jobid]\n"
    "              [-n name] [-o format] [-p partitions] [--qos qos]\n"
    "              [--reservation reservation] [--sort fields] [--start]\n"
    "              [--step step_id] [-t states] [-u user_name] [--usage]\n"
    "              [-L licenses] [-w nodes] [--federation] [--local] [--sibling]\n"
    "\t      [-ahjlrsv]"};

static void settings_finish(struct settings *settings) {
    if (settings->format && settings->format_long)
        list_fail("-O (--Format) is incompatible with -o (--format)");
    if (!settings->format && !settings->format_long) {
        settings->format_long = settings->format_long_env;
        settings->format = settings->format_long ? NULL : settings->format_env;
    }
    if (!settings->has_states) {
        if (settings->start)
            settings->query.states.states = 1u << JOB_PENDING;
        else
            settings->query.states.active = true;
    }
    if (!settings->sort)
        settings->sort = settings->steps ? SORT_STEPS : settings->start ? "S" : SORT_JOBS;
}

/* ---- the listing ---- */
struct listing {
    const struct settings *settings;
    struct list_session session;
    const struct column_table *table;
    struct format format;
    struct sort_spec sort;
    struct field_mask fields;
    struct hostlist nodes;
};

static void unknown_report(const struct str *unknown) {
    cleanup_free char *copy = xstrdup(str_cstr(unknown));
    for (char *at = copy; *at;) {
        char *end = strchr(at, '\n');
        *end = '\0';
        list_error("Invalid job format specification: %s", at);
        at = end + 1;
    }
}

static void format_prepare(struct listing *listing) {
    const struct settings *settings = listing->settings;
    struct str unknown cleanup_str = STR_INIT;
    struct error err = ERROR_INIT;
    const char *layout = settings->format;
    if (!layout && settings->steps)
        layout = settings->long_form ? LAYOUT_STEPS_LONG : LAYOUT_STEPS;
    else if (!layout)
        layout = settings->start ? LAYOUT_START : settings->long_form ? LAYOUT_LONG : LAYOUT;
    if (settings->format_long)
        format_parse_names(&listing->format, listing->table, settings->format_long, &unknown);
    else
        format_parse_letters(&listing->format, listing->table, layout, &unknown);
    unknown_report(&unknown);
    if (sort_parse(&listing->sort, listing->table, settings->sort, &err) < 0)
        list_fail("%s", err.text);
    format_fields(&listing->format, listing->table, &listing->fields);
    sort_fields(&listing->sort, listing->table, &listing->fields);
    if (!settings->steps)
        job_query_fields(&listing->fields);
}

/* -w: every name must be a node's; "localhost" is this host. */
static void nodes_prepare(struct listing *listing) {
    struct error err = ERROR_INIT;
    const char *text = listing->settings->query.nodelist;
    char host[256] = "localhost";
    if (!text)
        return;
    if (str_equal_nocase(text, "localhost")) {
        gethostname(host, sizeof(host) - 1);
        host[strcspn(host, ".")] = '\0';
        text = host;
    }
    if (hostlist_parse(&listing->nodes, text, &err) < 0)
        list_fail("%s", err.text);
    struct rows known = {NULL, 0, 0};
    struct list_request request;
    record_init(&record_list_request, &request);
    request.all = true;
    if (list_nodes(&listing->session, &request, &known, &err) < 0) {
        list_load_error("slurm_load_node", &err);
        exit(1);
    }
    for (size_t i = 0; i < listing->nodes.n; i++) {
        bool found = false;
        for (size_t k = 0; k < known.n && !found; k++) {
            const struct node *node = known.items[k];
            found = str_equal(node->name, listing->nodes.names[i]) ||
                    str_equal(node->hostname, listing->nodes.names[i]);
        }
        if (!found)
            list_fail("Invalid node name %s", listing->nodes.names[i]);
    }
    rows_done(&known);
}

static void rows_filter(struct rows *rows, const struct listing *listing) {
    const struct job_query *query = &listing->settings->query;
    const struct hostlist *nodes = query->nodelist ? &listing->nodes : NULL;
    size_t n = 0;
    if (!listing->settings->steps) {
        job_query_choose(query, nodes, rows);
        return;
    }
    for (size_t i = 0; i < rows->n; i++) {
        if (job_query_match_step(query, rows->items[i], nodes))
            rows->items[n++] = rows->items[i];
    }
    rows->n = n;
}

/* One round of asking: rows are printed as they arrive, and lines put in order afterwards. */
struct round {
    struct listing *listing;
    struct column_env env;
    struct line_table lines;
    struct json_dump dump;
    struct str out;
    size_t n_rows; /* before the filters */
    int argc;
    char **argv;
    bool dumping;
};

static void row_take(const void *row, struct round *round) {
    if (round->listing->settings->json) {
        json_job(&round->dump.json, row, &round->env);
        list_output(&round->out);
    } else {
        line_table_add(&round->lines, &round->listing->format, &round->listing->sort, row,
                       &round->env);
    }
}

static void job_take(const struct job *job, void *context) {
    row_take(job, context);
}

static void rows_take(void *context, struct rows *rows) {
    struct round *round = context;
    const struct settings *settings = round->listing->settings;
    round->n_rows += rows->n;
    rows_filter(rows, round->listing);
    if (settings->json && !round->dumping)
        json_dump_jobs_begin(&round->dump, settings->json, round->argc, round->argv, &round->env,
                             &round->out);
    round->dumping = settings->json;
    for (size_t i = 0; i < rows->n; i++) {
        if (settings->steps)
            row_take(rows->items[i], round);
        else
            job_rows_each(&settings->query, rows->items[i], job_take, round);
    }
}

/* Asks for what is to be shown and takes it in. */
static int round_load(struct round *round, struct error *err) {
    struct listing *listing = round->listing;
    const struct settings *settings = listing->settings;
    const struct strs *ids = &settings->query.ids;
    struct rows none = {NULL, 0, 0};
    struct list_request request;
    if (settings->query.by_user && settings->query.uids.n == 0) {
        rows_take(round, &none); /* nobody of that name */
        return 0;
    }
    job_query_request(&settings->query, settings->json ? NULL : &listing->fields, &request);
    int result = settings->steps
                     ? list_steps_each(&listing->session, &request, rows_take, round, err)
                     : list_jobs_each(&listing->session, &request, rows_take, round, err);
    if (result < 0 && err->code != -ERR_INVALID_JOB_ID)
        return result;
    if (!settings->steps && ids->n == 1 && round->n_rows == 0 &&
        !list_job_exists(&listing->session, ids->items[0]))
        return error_set(err, ERR_INVALID_JOB_ID, "no job %s", ids->items[0]);
    if (result < 0)
        rows_take(round, &none);
    return 0;
}

static void round_print(struct round *round) {
    const struct settings *settings = round->listing->settings;
    if (settings->json) {
        json_dump_jobs_end(&round->dump);
        return;
    }
    line_table_sort(&round->lines, &round->listing->sort);
    if (!settings->no_header && (settings->long_form || settings->iterate))
        list_date_print(round->env.now, &round->out);
    if (settings->clusters && !settings->no_header)
        str_printf(&round->out, "CLUSTER: %s\n", round->env.cluster);
    if (!settings->no_header)
        format_header(&round->listing->format, &round->out);
    lines_print(&round->lines, &round->out);
}

static int listing_show(struct listing *listing, int argc, char **argv) {
    const struct settings *settings = listing->settings;
    struct job_columns_data data = {.expand_patterns = settings->expand};
    struct round round = {.listing = listing, .out = STR_INIT, .argc = argc, .argv = argv};
    struct error err = ERROR_INIT;
    list_env_init(&round.env, list_session_conf(&listing->session)->cluster_name);
    round.env.raw_units = settings->raw_units;
    round.env.data = &data;
    line_table_init(&round.lines);
    int result = round_load(&round, &err);
    if (result < 0) {
        str_reset(&round.out);
        list_load_error("slurm_load_jobs error", &err);
    } else {
        round_print(&round);
    }
    if (settings->iterate)
        str_append_char(&round.out, '\n');
    list_output_all(&round.out);
    str_done(&round.out);
    line_table_done(&round.lines);
    list_session_close(&listing->session);
    return result < 0 ? 1 : 0;
}

int main(int argc, char **argv) {
    struct settings settings = {0};
    int first = list_options_parse(&options, argc, argv, &settings);
    if (first < argc) {
        printf("Usage: %s\n", options.usage);
        fflush(stdout);
        list_fail("Unrecognized option: %s", argv[first]);
    }
    settings_finish(&settings);
    struct str unknown cleanup_str = STR_INIT;
    job_query_users(&settings.query, &unknown);
    cleanup_free char *names = xstrdup(str_cstr(&unknown));
    char *cursor = names, *name;
    while ((name = str_next_word(&cursor, "\n")))
        list_error("Invalid user: %s\n", name);

    struct listing listing = {.settings = &settings,
                              .table = settings.steps ? &columns_step : &columns_job};
    list_session_init(&listing.session, "squeue");
    if (settings.clusters)
        list_clusters_check(&listing.session, settings.clusters);
    format_prepare(&listing);
    nodes_prepare(&listing);
    int status = listing_show(&listing, argc, argv);
    while (settings.iterate) {
        sleep((unsigned) settings.iterate);
        status = listing_show(&listing, argc, argv);
    }
    format_done(&listing.format);
    hostlist_done(&listing.nodes);
    job_query_done(&settings.query);
    return status;
}
