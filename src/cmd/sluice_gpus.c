/* SPDX-License-Identifier: Apache-2.0 */
/* sluice gpus: every card of the cluster, who has it and what it does. */
#include <string.h>

#include "cli/gpus.h"
#include "cli/list.h"
#include "cli/main.h"
#include "cli/phrases.h"
#include "cmd/sluice.h"
#include "text/idset.h"

enum gpus_option {
    GPUS_OPTION_help,
    GPUS_OPTION_idle,
    GPUS_OPTION_json,
    GPUS_OPTION_version,
};

#define ROW(id_, letter_, help_)                                                                   \
    {                                                                                              \
        .id = GPUS_OPTION_##id_, .name = #id_, .letter = letter_, .argument = OPTION_NO,           \
        .commands = 1, .metavar = "", .help = help_                                                \
    }
static const struct option_row rows[] = {
    ROW(idle, 'i', "only cards that a job holds and that do nothing"),
    ROW(json, 0, "print JSON"),
    ROW(help, 'h', "this text"),
    ROW(version, 'V', "print the version"),
};
static const struct option_set option_set = {"sluice gpus", rows, countof(rows), NULL, 0, 1};

static int print_help(struct cli *cli) {
    cleanup_str struct str out = STR_INIT;
    str_append(&out, "Usage: sluice gpus [OPTIONS...] [NODES]\n\n"
                     "Lists every GPU of the cluster, or of these nodes: type, job and user, use\n"
                     "now and over 15 minutes, memory, and since when it is idle; processes that\n"
                     "belong to no job; cards that fail; what waits for GPUs.\n\n"
                     "Options:\n");
    option_set_print(&option_set, 24, &out);
    return cli_print_text(cli, &out);
}

/* What waits. A record of an array stands for all of its tasks that do. */
static int ask_waiting(struct list_session *session, struct gpus_view *view, struct error *err) {
    static const char *const members[] = {"job_id", "tres_req", "array_tasks", "state"};
    struct list_request request;
    struct field_mask mask = {{0}};
    struct rows found = {NULL, 0, 0};
    record_init(&record_list_request, &request);
    for (size_t i = 0; i < countof(members); i++)
        field_mask_add(&mask, record_field(&record_job, members[i])->number);
    request.fields = (struct blob) {(uint8_t *) &mask, sizeof(mask)};
    request.all = true;
    request.states = 1u << JOB_PENDING;
    int r = list_jobs(session, &request, &found, err);
    for (size_t i = 0; i < found.n; i++) {
        const struct job *job = found.items[i];
        struct idset tasks cleanup_idset = IDSET_INIT;
        uint64_t gpus = gpus_in_tres(job->tres_req), n = 1;
        if (job->array_tasks != NULL &&
            idset_parse(&tasks, job->array_tasks, UINT32_MAX - 2, &(uint32_t) {0}, NULL) == 0)
            n = idset_count(&tasks);
        view->waiting_jobs += gpus > 0 ? n : 0;
        view->waiting_gpus += gpus * n;
    }
    rows_done(&found);
    return r;
}

static void keep_idle(struct rows *found) {
    size_t n = 0;
    for (size_t i = 0; i < found->n; i++) {
        const struct gpu *gpu = found->items[i];
        if (gpu->job != NULL && gpu->idle_since > 0)
            found->items[n++] = gpu;
    }
    found->n = n;
}

static int ask(struct list_session *session, char *nodes, bool json, bool idle) {
    cleanup_str struct str out = STR_INIT;
    struct list_request request;
    struct rows found = {NULL, 0, 0};
    struct error err = ERROR_INIT;
    struct column_env env;
    struct gpus_view view = {.n = 0, .language = cli_language()};
    record_init(&record_list_request, &request);
    request.nodelist = nodes;
    int r = list_gpus(session, &request, &found, &err);
    if (r == 0)
        r = ask_waiting(session, &view, &err);
    if (r < 0) {
        list_load_error("slurm_load_node", &err);
        rows_done(&found);
        return 1;
    }
    if (idle)
        keep_idle(&found);
    list_env_init(&env, NULL);
    view.gpus = (const struct gpu *const *) found.items;
    view.n = found.n;
    view.env = &env;
    if (json)
        gpus_json(&view, &out);
    else if (idle && view.n == 0)
        str_append(&out, "No GPU that a job holds is idle.\n");
    else
        gpus_text(&view, &out);
    rows_done(&found);
    list_output_all(&out);
    return 0;
}

int sluice_gpus(struct cli *cli, int argc, char **argv) {
    struct option_uses uses = {0};
    bool json = false, idle = false;
    int status = cli_scan(cli, &option_set, argv + 1, (size_t) argc - 1, OPTION_PERMUTE, &uses);
    status = status == CLI_GO_ON ? CLI_GO_ON : 1;
    for (size_t i = 0; i < uses.options.n && status == CLI_GO_ON; i++) {
        switch ((enum gpus_option) uses.options.items[i].row->id) {
        case GPUS_OPTION_idle:
            idle = true;
            break;
        case GPUS_OPTION_json:
            json = true;
            break;
        case GPUS_OPTION_help:
            status = print_help(cli);
            break;
        case GPUS_OPTION_version:
            status = cli_print(cli, "sluice %s\n", SLUICE_VERSION);
            break;
        }
    }
    if (status == CLI_GO_ON && uses.rest.n > 1) {
        cli_error(cli, "one list of nodes is wanted, as in \"sluice gpus n[1-4]\"");
        status = 1;
    }
    if (status == CLI_GO_ON) {
        struct list_session session;
        list_session_init(&session, "sluice");
        char *nodes = uses.rest.n == 1 ? (char *) (uintptr_t) uses.rest.items[0] : NULL;
        status = ask(&session, nodes, json, idle);
        list_session_close(&session);
    }
    option_uses_done(&uses);
    return status;
}
