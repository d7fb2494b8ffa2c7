/* SPDX-License-Identifier: Apache-2.0 */
/* sluice share: the fair share of a user, whose use has lowered it, and until when. */
#include "cli/list.h"
#include "cli/main.h"
#include "cli/share.h"
#include "cmd/sluice.h"

enum share_option {
    SHARE_OPTION_help,
    SHARE_OPTION_version,
};

#define ROW(id_, letter_, help_)                                                                   \
    {                                                                                              \
        .id = SHARE_OPTION_##id_, .name = #id_, .letter = letter_, .argument = OPTION_NO,          \
        .commands = 1, .metavar = "", .help = help_                                                \
    }
static const struct option_row rows[] = {
    ROW(help, 'h', "this text"),
    ROW(version, 'V', "print the version"),
};
static const struct option_set option_set = {"sluice share", rows, countof(rows), NULL, 0, 1};

static int print_help(struct cli *cli) {
    cleanup_str struct str out = STR_INIT;
    str_append(&out, "Usage: sluice share [USER]\n\n"
                     "Says how much is due to a user (yourself) and the accounts above, how much\n"
                     "each has used, who used most where an account is over its share, and when\n"
                     "that is even again. sshare has the figures.\n\n"
                     "Options:\n");
    option_set_print(&option_set, 24, &out);
    return cli_print_text(cli, &out);
}

static int ask(struct cli *cli, struct list_session *session, const char *user) {
    cleanup_str struct str out = STR_INIT;
    const struct share_list *list = list_shares(session);
    if (list == NULL)
        return 1;
    if (!share_text(list, user, &out))
        return cli_failed(cli,
                          "user %s has no account here that you may see: \"sshare -a\" lists who "
                          "has, \"sacctmgr add user %s account=NAME\" adds one",
                          user, user);
    list_output_all(&out);
    return 0;
}

int sluice_share(struct cli *cli, int argc, char **argv) {
    struct option_uses uses = {0};
    int status = cli_scan(cli, &option_set, argv + 1, (size_t) argc - 1, OPTION_PERMUTE, &uses);
    status = status == CLI_GO_ON ? CLI_GO_ON : 1;
    for (size_t i = 0; i < uses.options.n && status == CLI_GO_ON; i++) {
        if (uses.options.items[i].row->id == SHARE_OPTION_help)
            status = print_help(cli);
        else
            status = cli_print(cli, "sluice %s\n", SLUICE_VERSION);
    }
    if (status == CLI_GO_ON && uses.rest.n > 1) {
        cli_error(cli, "unexpected word \"%s\" after %s", uses.rest.items[1], uses.rest.items[0]);
        status = 1;
    }
    if (status == CLI_GO_ON) {
        struct list_session session;
        list_session_init(&session, "sluice");
        status = ask(cli, &session, uses.rest.n > 0 ? uses.rest.items[0] : list_own_name());
        list_session_close(&session);
    }
    option_uses_done(&uses);
    return status;
}
