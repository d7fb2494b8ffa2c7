/* SPDX-License-Identifier: Apache-2.0 */
/* sluice drains: nodes out of service, what they cost, and what brings them back. */
#include <string.h>
#include <time.h>

#include "cli/drains.h"
#include "cli/list.h"
#include "cli/main.h"
#include "cli/phrases.h"
#include "cmd/sluice.h"

enum drains_option {
    DRAINS_OPTION_help,
    DRAINS_OPTION_json,
    DRAINS_OPTION_version,
};

#define ROW(id_, letter_, help_)                                                                   \
    {                                                                                              \
        .id = DRAINS_OPTION_##id_, .name = #id_, .letter = letter_, .argument = OPTION_NO,         \
        .commands = 1, .metavar = "", .help = help_                                                \
    }
static const struct option_row rows[] = {
    ROW(json, 0, "print JSON"),
    ROW(help, 'h', "this text"),
    ROW(version, 'V', "print the version"),
};
static const struct option_set option_set = {"sluice drains", rows, countof(rows), NULL, 0, 1};

static int print_help(struct cli *cli) {
    cleanup_str struct str out = STR_INIT;
    str_append(&out,
               "Usage: sluice drains [OPTIONS...]\n\n"
               "Lists the nodes that are drained, down or failing: for how long, by whom and\n"
               "why, how many GPU and CPU hours have stood idle there since, and what brings\n"
               "each back. What costs most stands first.\n\n"
               "Options:\n");
    option_set_print(&option_set, 24, &out);
    return cli_print_text(cli, &out);
}

static int ask(struct list_session *session, bool json) {
    cleanup_str struct str out = STR_INIT;
    struct list_request request;
    struct rows found = {NULL, 0, 0};
    struct error err = ERROR_INIT;
    size_t n = 0;
    record_init(&record_list_request, &request);
    if (list_nodes(session, &request, &found, &err) < 0) {
        list_load_error("slurm_load_node", &err);
        rows_done(&found);
        return 1;
    }
    for (size_t i = 0; i < found.n; i++) {
        if (drains_has(found.items[i]))
            found.items[n++] = found.items[i];
    }
    found.n = n;
    struct drains_view view = {.nodes = (const struct node *const *) found.items,
                               .n = n,
                               .now = time(NULL),
                               .language = cli_language()};
    drains_sort((const struct node **) found.items, n, view.now);
    if (json)
        drains_json(&view, &out);
    else
        drains_text(&view, &out);
    rows_done(&found);
    list_output_all(&out);
    return 0;
}

int sluice_drains(struct cli *cli, int argc, char **argv) {
    struct option_uses uses = {0};
    bool json = false;
    int status = cli_scan(cli, &option_set, argv + 1, (size_t) argc - 1, OPTION_PERMUTE, &uses);
    status = status == CLI_GO_ON ? CLI_GO_ON : 1;
    for (size_t i = 0; i < uses.options.n && status == CLI_GO_ON; i++) {
        switch ((enum drains_option) uses.options.items[i].row->id) {
        case DRAINS_OPTION_json:
            json = true;
            break;
        case DRAINS_OPTION_help:
            status = print_help(cli);
            break;
        case DRAINS_OPTION_version:
            status = cli_print(cli, "sluice %s\n", SLUICE_VERSION);
            break;
        }
    }
    if (status == CLI_GO_ON && uses.rest.n > 0) {
        cli_error(cli, "unexpected word \"%s\" after drains", uses.rest.items[0]);
        status = 1;
    }
    if (status == CLI_GO_ON) {
        struct list_session session;
        list_session_init(&session, "sluice");
        status = ask(&session, json);
        list_session_close(&session);
    }
    option_uses_done(&uses);
    return status;
}
