/* SPDX-License-Identifier: Apache-2.0 */
/* sluice keep JOB TIME: idle GPUs of a job stay its own for so long. */
#include <string.h>

#include "cli/list.h"
#include "cli/main.h"
#include "cli/phrases.h"
#include "cmd/sluice.h"

enum keep_option {
    KEEP_OPTION_help,
    KEEP_OPTION_version,
};

#define ROW(id_, letter_, help_)                                                                   \
    {                                                                                              \
        .id = KEEP_OPTION_##id_, .name = #id_, .letter = letter_, .argument = OPTION_NO,           \
        .commands = 1, .metavar = "", .help = help_                                                \
    }
static const struct option_row rows[] = {
    ROW(help, 'h', "this text"),
    ROW(version, 'V', "print the version"),
};
static const struct option_set option_set = {"sluice keep", rows, countof(rows), NULL, 0, 1};

static int print_help(struct cli *cli) {
    cleanup_str struct str out = STR_INIT;
    str_append(
        &out, "Usage: sluice keep [OPTIONS...] JOB[_TASK] TIME\n\n"
              "For so long GPUs of the job may do nothing without its being warned,\n"
              "requeued or cancelled for that (GpuIdleWarn, GpuIdleTime of its partition or QOS).\n"
              "TIME is minutes, HH:MM:SS or D-HH; 0 takes it back. For the owner and\n"
              "administrators. scontrol show job tells until when.\n\n"
              "Options:\n");
    option_set_print(&option_set, 24, &out);
    return cli_print_text(cli, &out);
}

/* What the controller says of each of the jobs that the id means. */
static int print_results(struct list_session *session, const struct job_results *results,
                         const char *id, const char *time) {
    int status = 0;
    for (uint32_t i = 0; i < results->items.n; i++) {
        const struct job_result *result = &results->items.items[i];
        const char *name = result->id != NULL ? result->id : id;
        if (result->code != 0) {
            cli_error(&session->cli, "job %s: %s%s%s", name, error_text((int) result->code),
                      result->detail != NULL ? ": " : "",
                      result->detail != NULL ? result->detail : "");
            status = 1;
        } else if (result->detail != NULL) {
            cli_error(&session->cli, "job %s: %s", name, result->detail);
        } else if (str_equal(time, "0")) {
            cli_print(&session->cli, phrase(cli_language(), PHRASE_KEEP_OVER), name);
        } else {
            cli_print(&session->cli, phrase(cli_language(), PHRASE_KEEP_FOR), name, time);
        }
    }
    return status;
}

static int ask(struct list_session *session, char *id, char *time) {
    struct update request;
    struct key_value change;
    struct error err = ERROR_INIT;
    const struct job_results *results = NULL;
    record_init(&record_update, &request);
    record_init(&record_key_value, &change);
    change.key = (char *) (uintptr_t) "GpuKeep";
    change.value = time;
    request.entity = (char *) (uintptr_t) "job";
    request.target = id;
    request.changes.items = &change;
    request.changes.n = 1;
    if (list_ask(session, MSG_UPDATE, &request, MSG_JOB_RESULTS, (const void **) &results, &err) <
        0) {
        list_load_error("slurm_update", &err);
        return 1;
    }
    return print_results(session, results, id, time);
}

int sluice_keep(struct cli *cli, int argc, char **argv) {
    struct option_uses uses = {0};
    int status = cli_scan(cli, &option_set, argv + 1, (size_t) argc - 1, OPTION_PERMUTE, &uses);
    status = status == CLI_GO_ON ? CLI_GO_ON : 1;
    for (size_t i = 0; i < uses.options.n && status == CLI_GO_ON; i++) {
        switch ((enum keep_option) uses.options.items[i].row->id) {
        case KEEP_OPTION_help:
            status = print_help(cli);
            break;
        case KEEP_OPTION_version:
            status = cli_print(cli, "sluice %s\n", SLUICE_VERSION);
            break;
        }
    }
    if (status == CLI_GO_ON && uses.rest.n != 2) {
        cli_error(cli, "a job and a time are wanted, as in \"sluice keep 12 2:00:00\"");
        status = 1;
    }
    if (status == CLI_GO_ON) {
        struct list_session session;
        list_session_init(&session, "sluice");
        status = ask(&session, (char *) (uintptr_t) uses.rest.items[0],
                     (char *) (uintptr_t) uses.rest.items[1]);
        list_session_close(&session);
    }
    option_uses_done(&uses);
    return status;
}
