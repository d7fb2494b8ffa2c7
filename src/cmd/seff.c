/* SPDX-License-Identifier: Apache-2.0 */
/* seff: how well a job has used what it had, and what the next one could ask for. */
#include <stdio.h>
#include <time.h>

#include "cli/list.h"
#include "cli/list_acct.h"
#include "cli/list_options.h"
#include "cli/seff.h"

struct settings {
    bool debug;
    const char *clusters;
};

#define AT(member) offsetof(struct settings, member)

/* clang-format off */
static const struct list_option option_rows[] = {
    {"clusters", 'M', LIST_ARG_REQUIRED, NULL, list_set_text, "name", "of this cluster",
        AT(clusters)},
    {"debug", 'd', LIST_ARG_NONE, NULL, list_set_true, NULL, "the figures in one line first",
        AT(debug)},
};
/* clang-format on */
static const struct list_options options = {option_rows, countof(option_rows),
                                            "seff [options] JOB\n\tUse --help for help"};

static int jobs_find(struct list_session *session, const char *id, struct rows *jobs) {
    struct acct_filter filter = {.all_users = true, .start = 0};
    struct acct_query query;
    struct error err = ERROR_INIT;
    strs_push(&filter.ids, id);
    acct_window_set(&filter, time(NULL), 0);
    acct_query_make(&filter, &query);
    int r = list_accounting(session, &query, jobs, &err);
    if (r < 0) {
        list_error("%s", error_text(err.code));
        list_why_note(&err);
    } else {
        acct_jobs_choose(&filter, jobs);
    }
    acct_filter_done(&filter);
    return r;
}

static int report(struct list_session *session, const struct settings *settings, const char *id) {
    struct rows jobs = {NULL, 0, 0};
    struct str out cleanup_str = STR_INIT;
    struct column_env env;
    list_env_init(&env, list_session_conf(session)->cluster_name);
    int status = 1;
    if (jobs_find(session, id, &jobs) < 0) {
        /* told */
    } else if (jobs.n == 0) {
        list_error("Job not found: %s", id);
        list_note("\"sacct -a -S START\" lists the jobs since then");
    } else {
        seff_print(&jobs, &env, settings->debug, &out);
        list_output_all(&out);
        status = 0;
    }
    rows_done(&jobs);
    return status;
}

int main(int argc, char **argv) {
    struct settings settings = {0};
    struct list_session session;
    int first = list_options_parse(&options, argc, argv, &settings);
    if (argc - first != 1 || !acct_id_is_valid(argv[first])) {
        fprintf(stderr, "Usage: seff [Options] <JobID>\n");
        list_note("one job, task (12_3) or array is meant");
        return 1;
    }
    list_session_init(&session, "seff");
    if (settings.clusters)
        list_clusters_check(&session, settings.clusters);
    int status = report(&session, &settings, argv[first]);
    list_session_close(&session);
    return status;
}
