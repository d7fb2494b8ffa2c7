/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sluice whatif: this cluster's own history under another configuration. The jobs that its
 * accounting has are replayed twice in virtual time, under the present slurm.conf and under the new
 * one, and the two are compared; what really happened is not, because it had other causes as well
 * (broken nodes, holds, an older configuration).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "cli/list.h"
#include "cli/main.h"
#include "cmd/sluice.h"
#include "cmd/sluice_replay.h"
#include "os/conf_file.h"
#include "sim/compare.h"
#include "sim/conf_edit.h"
#include "sim/history.h"
#include "sim/replay.h"
#include "text/timestamp.h"

#define WINDOW_SECONDS (7 * 86400) /* before now, when --from is not given */

enum whatif_option {
    WHATIF_conf,
    WHATIF_nodes,
    WHATIF_from,
    WHATIF_to,
    WHATIF_json,
    WHATIF_quiet,
    WHATIF_help,
};

#define ROW(id_, argument_, letter_, metavar_, help_)                                              \
    {                                                                                              \
        .id = WHATIF_##id_, .name = #id_, .letter = letter_, .argument = argument_, .commands = 1, \
        .metavar = metavar_, .help = help_                                                         \
    }
static const struct option_row rows[] = {
    ROW(conf, OPTION_REQUIRED, 0, "FILE", "the slurm.conf to try (the present one)"),
    ROW(nodes, OPTION_REQUIRED, 'N', "CHANGE",
        "+N*NODE: N more nodes like NODE; -LIST: without these; may be given several times"),
    ROW(from, OPTION_REQUIRED, 'S', "TIME", "jobs since then, as for sacct (a week ago)"),
    ROW(to, OPTION_REQUIRED, 'E', "TIME", "jobs until then (now)"),
    ROW(json, OPTION_NO, 0, "", "the comparison as JSON"),
    ROW(quiet, OPTION_NO, 'Q', "", "no notes on standard error"),
    ROW(help, OPTION_NO, 'h', "", "this text"),
};
static const struct option_set option_set = {"sluice whatif", rows, countof(rows), NULL, 0, 1};

struct whatif {
    struct cli *cli;
    const char *conf_path; /* NULL: only the nodes change */
    vec(const char *) changes;
    int64_t now, from, to;
    bool json;
    struct list_session session;
    struct rows jobs;
    struct trace trace;
    struct arena memory;
    struct conf *before, *after;
};

static int print_help(const struct cli *cli) {
    struct str out cleanup_str = STR_INIT;
    str_append(&out,
               "Usage: sluice whatif --conf FILE [OPTIONS...]\n"
               "       sluice whatif --nodes CHANGE [OPTIONS...]\n\n"
               "Replays the jobs of this cluster's accounting under the present slurm.conf and\n"
               "under a changed one, and prints what gets better and worse, and for whom.\n\n"
               "Options:\n");
    option_set_print(&option_set, 24, &out);
    return cli_print_text(cli, &out);
}

/* ---- options ---- */

static int take_time(const struct whatif *w, const struct option_use *use, int64_t *ret) {
    struct error err = ERROR_INIT;
    if (timestamp_parse(use->value, w->now, true, ret, &err) < 0)
        return cli_failed(w->cli, "--%s: %s", use->row->name, err.text);
    return CLI_GO_ON;
}

static int take_option(struct whatif *w, const struct option_use *use) {
    switch ((enum whatif_option) use->row->id) {
    case WHATIF_conf:
        w->conf_path = use->value;
        return CLI_GO_ON;
    case WHATIF_nodes:
        vec_push(&w->changes, use->value);
        return CLI_GO_ON;
    case WHATIF_from:
        return take_time(w, use, &w->from);
    case WHATIF_to:
        return take_time(w, use, &w->to);
    case WHATIF_json:
        w->json = true;
        return CLI_GO_ON;
    case WHATIF_quiet:
        w->cli->quiet = true;
        return CLI_GO_ON;
    case WHATIF_help:
        return print_help(w->cli);
    }
    return CLI_GO_ON;
}

static int take_options(struct whatif *w, const struct option_uses *uses) {
    for (size_t i = 0; i < uses->options.n; i++) {
        int status = take_option(w, &uses->options.items[i]);
        if (status != CLI_GO_ON)
            return status;
    }
    if (uses->rest.n > 0)
        return cli_failed(w->cli, "unexpected word \"%s\"; see `sluice whatif --help`",
                          uses->rest.items[0]);
    if (w->conf_path == NULL && w->changes.n == 0)
        return cli_failed(w->cli,
                          "nothing is changed: give --conf FILE or --nodes CHANGE; see `sluice "
                          "whatif --help`");
    if (w->from >= w->to)
        return cli_failed(w->cli, "--from is not before --to");
    return CLI_GO_ON;
}

/* ---- what is replayed ---- */

static int read_confs(struct whatif *w) {
    struct str present cleanup_str = STR_INIT;
    struct error err = ERROR_INIT;
    conf_file_path(NULL, &present);
    int status = replay_conf_read(w->cli, present.data, false, &w->before);
    if (status == CLI_GO_ON)
        status = replay_conf_read(w->cli, w->conf_path != NULL ? w->conf_path : present.data, false,
                                  &w->after);
    if (status != CLI_GO_ON)
        return status;
    vec_each (&w->changes, change) {
        if (sim_conf_edit_nodes(w->after, *change, &w->memory, &err) < 0)
            return cli_failed(w->cli, "%s", err.text);
    }
    return CLI_GO_ON;
}

static int read_history(struct whatif *w) {
    struct acct_query query;
    struct error err = ERROR_INIT;
    record_init(&record_acct_query, &query);
    query.all_users = query.no_steps = true;
    query.start = w->from;
    query.end = w->to;
    if (list_accounting(&w->session, &query, &w->jobs, &err) < 0) {
        list_why_note(&err);
        return cli_failed(w->cli, "the history cannot be had: %s", err.text);
    }
    if (sim_history_read(&w->trace, w->jobs.items, w->jobs.n, &err) < 0)
        return cli_failed(w->cli, "%s", err.text);
    if (w->trace.jobs.n == 0)
        return cli_failed(w->cli,
                          "there is no history to replay: no job has run and ended in the window; "
                          "--from and --to choose another (sacct -a -S TIME lists the jobs)");
    return CLI_GO_ON;
}

/* ---- the comparison ---- */

static int replay(struct whatif *w, const struct conf *conf, const char *what,
                  struct sim_result *result, struct sim_notes *notes) {
    struct error err = ERROR_INIT;
    struct replay_bar bar;
    const struct sim_watch *watch = replay_bar_init(&bar, w->cli, what);
    sim_result_init(result, &w->trace);
    int r = sim_replay_conf(&w->trace, conf, watch, result, notes, &err);
    replay_bar_clear(&bar);
    return r < 0 ? cli_failed(w->cli, "%s%s", what, err.text) : CLI_GO_ON;
}

static void notes_print(const struct whatif *w, const char *head, struct sim_notes *notes) {
    struct str text cleanup_str = STR_INIT;
    sim_notes_print(notes, &text);
    if (text.length > 0)
        cli_info(w->cli, "%s:\n%s", head, text.data);
}

static void print_json(const struct sim_comparison *comparison, struct sim_notes *notes_before,
                       struct sim_notes *notes_after, struct str *out) {
    struct json json;
    json_init(&json, JSON_PRETTY, out);
    json_object(&json, NULL);
    sim_comparison_json(comparison, &json);
    json_array(&json, "notes");
    vec_each (&comparison->trace->notes, note)
        json_text(&json, NULL, *note);
    json_end(&json);
    sim_notes_json(notes_before, "notes_before", &json);
    sim_notes_json(notes_after, "notes_after", &json);
    json_end(&json);
    json_finish(&json);
}

static int answer(struct whatif *w, const struct sim_result *before, struct sim_notes *notes_before,
                  const struct sim_result *after, struct sim_notes *notes_after) {
    struct sim_comparison comparison;
    struct str out cleanup_str = STR_INIT;
    sim_compare(&w->trace, before, after, &comparison);
    if (w->json) {
        print_json(&comparison, notes_before, notes_after, &out);
    } else {
        vec_each (&w->trace.notes, note)
            cli_info(w->cli, "note: %s", *note);
        notes_print(w, "under the present configuration", notes_before);
        notes_print(w, "under the new configuration", notes_after);
        sim_comparison_print(&comparison, "present", "new", &out);
    }
    sim_comparison_done(&comparison);
    return cli_print_text(w->cli, &out);
}

static int compare(struct whatif *w) {
    struct sim_result before = {0}, after = {0};
    struct sim_notes notes_before = {0}, notes_after = {0};
    int status = replay(w, w->before, "present: ", &before, &notes_before);
    if (status == CLI_GO_ON)
        status = replay(w, w->after, "new: ", &after, &notes_after);
    if (status == CLI_GO_ON)
        status = answer(w, &before, &notes_before, &after, &notes_after);
    sim_notes_done(&notes_before);
    sim_notes_done(&notes_after);
    sim_result_done(&before);
    sim_result_done(&after);
    return status;
}

int sluice_whatif(struct cli *cli, int argc, char **argv) {
    struct option_uses uses = {0};
    struct whatif w = {.cli = cli, .now = time(NULL)};
    w.to = w.now;
    w.from = w.now - WINDOW_SECONDS;
    list_session_init(&w.session, "sluice whatif");
    trace_init(&w.trace);
    arena_init(&w.memory, 0);
    int status = cli_scan(cli, &option_set, argv + 1, (size_t) (argc - 1), OPTION_PERMUTE, &uses);
    if (status == CLI_GO_ON)
        status = take_options(&w, &uses);
    if (status == CLI_GO_ON)
        status = read_confs(&w);
    if (status == CLI_GO_ON)
        status = read_history(&w);
    if (status == CLI_GO_ON)
        status = compare(&w);
    conf_free(w.before);
    conf_free(w.after);
    trace_done(&w.trace);
    rows_done(&w.jobs);
    list_session_close(&w.session);
    arena_done(&w.memory);
    vec_done(&w.changes);
    option_uses_done(&uses);
    return status;
}
