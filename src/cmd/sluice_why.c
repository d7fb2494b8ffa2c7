/* SPDX-License-Identifier: Apache-2.0 */
/* sluice why JOB: why it waits and until when, what it does, or how it ended. */
#include <string.h>

#include "cli/list.h"
#include "cli/main.h"
#include "cli/why.h"
#include "cmd/sluice.h"

enum why_option {
    WHY_OPTION_help,
    WHY_OPTION_json,
    WHY_OPTION_version,
};

#define ROW(id_, letter_, help_)                                                                   \
    {                                                                                              \
        .id = WHY_OPTION_##id_, .name = #id_, .letter = letter_, .argument = OPTION_NO,            \
        .commands = 1, .metavar = "", .help = help_                                                \
    }
static const struct option_row rows[] = {
    ROW(json, 0, "print JSON"),
    ROW(help, 'h', "this text"),
    ROW(version, 'V', "print the version"),
};
static const struct option_set option_set = {"sluice why", rows, countof(rows), NULL, 0, 1};

static int print_help(struct cli *cli) {
    cleanup_str struct str out = STR_INIT;
    str_append(&out, "Usage: sluice why [OPTIONS...] JOB[_TASK]\n\n"
                     "Says in plain sentences why a job waits, what it needs, who holds that and\n"
                     "who goes first, when it is expected to start, and what would start it\n"
                     "sooner; where a running job runs and until when; how a job has ended.\n\n"
                     "Options:\n");
    option_set_print(&option_set, 24, &out);
    return cli_print_text(cli, &out);
}

/* The controller has forgotten it; the history may know. */
static bool ask_history(struct list_session *session, const char *id, struct why_reply *ret) {
    struct acct_query query;
    struct error err = ERROR_INIT;
    struct rows found = {NULL, 0, 0};
    char *ids[] = {(char *) (uintptr_t) id};
    record_init(&record_acct_query, &query);
    query.ids = (struct strs) {ids, 1};
    query.all_users = true;
    query.no_steps = true;
    bool known = list_accounting(session, &query, &found, &err) == 0 && found.n > 0;
    if (known) {
        const struct acct_job *last = found.items[found.n - 1];
        ret->job = last->job;
        ret->id = ids[0];
    }
    rows_done(&found);
    return known;
}

static int ask(struct list_session *session, const char *id, bool json) {
    cleanup_str struct str out = STR_INIT;
    struct why request = {.job = (char *) (uintptr_t) id};
    struct error err = ERROR_INIT, first;
    const struct why_reply *reply = NULL;
    struct why_reply history;
    struct column_env env;
    int r = list_ask(session, MSG_WHY, &request, MSG_WHY_REPLY, (const void **) &reply, &err);
    if (r == -ERR_INVALID_JOB_ID) {
        first = err;
        record_init(&record_why_reply, &history);
        list_env_init(&env, NULL);
        history.now = env.now;
        if (!ask_history(session, id, &history)) {
            cli_error(&session->cli, "%s", first.text);
            return 1;
        }
        reply = &history;
    } else if (r < 0) {
        list_load_error("slurm_load_jobs", &err);
        return 1;
    }
    if (json)
        why_json(reply, &out);
    else
        why_text(reply, cli_language(), &out);
    list_output_all(&out);
    return 0;
}

int sluice_why(struct cli *cli, int argc, char **argv) {
    struct option_uses uses = {0};
    bool json = false;
    int status = cli_scan(cli, &option_set, argv + 1, (size_t) argc - 1, OPTION_PERMUTE, &uses);
    status = status == CLI_GO_ON ? CLI_GO_ON : 1;
    for (size_t i = 0; i < uses.options.n && status == CLI_GO_ON; i++) {
        switch ((enum why_option) uses.options.items[i].row->id) {
        case WHY_OPTION_json:
            json = true;
            break;
        case WHY_OPTION_help:
            status = print_help(cli);
            break;
        case WHY_OPTION_version:
            status = cli_print(cli, "sluice %s\n", SLUICE_VERSION);
            break;
        }
    }
    if (status == CLI_GO_ON && uses.rest.n != 1) {
        cli_error(cli, "one job is wanted, as in \"sluice why 12\" or \"sluice why 12_3\"");
        status = 1;
    }
    if (status == CLI_GO_ON) {
        struct list_session session;
        list_session_init(&session, "sluice");
        status = ask(&session, uses.rest.items[0], json);
        list_session_close(&session);
    }
    option_uses_done(&uses);
    return status;
}
