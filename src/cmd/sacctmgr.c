/* SPDX-License-Identifier: Apache-2.0 */
/* sacctmgr: accounts, users, associations and qualities of service. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/acctmgr.h"

/* ---- options ---- */
#define AT(member) offsetof(struct acctmgr_settings, member)

/* clang-format off */
static const struct list_option option_rows[] = {
    {"immediate", 'i', LIST_ARG_NONE, NULL, list_set_true, NULL, "commit changes without asking",
        AT(immediate)},
    {"json", 0, LIST_ARG_OPTIONAL, NULL, list_set_json, "data_parser",
        "show accounts, associations, clusters, qos, tres, users or wckeys as JSON", AT(json)},
    {"noheader", 'n', LIST_ARG_NONE, NULL, list_set_true, NULL, "no header", AT(no_header)},
    {"oneliner", 'o', LIST_ARG_NONE, NULL, list_set_nothing, NULL,
        "accepted; a record is a line anyway"},
    {"parsable", 'p', LIST_ARG_NONE, NULL, list_set_parsable, NULL,
        "fields separated by |, and one at the end", AT(parsable)},
    {"parsable2", 'P', LIST_ARG_NONE, NULL, list_set_parsable2, NULL, "fields separated by |",
        AT(parsable)},
    {"quiet", 'Q', LIST_ARG_NONE, NULL, list_set_true, NULL, "no more than what was asked for",
        AT(quiet)},
    {"readonly", 'r', LIST_ARG_NONE, NULL, list_set_true, NULL, "refuse changes", AT(read_only)},
    {"associations", 's', LIST_ARG_NONE, NULL, list_set_true, NULL,
        "show accounts and users with their associations", AT(with_assoc)},
    {"verbose", 'v', LIST_ARG_NONE, NULL, list_set_nothing, NULL, NULL},
    {"yaml", 0, LIST_ARG_OPTIONAL, NULL, list_set_yaml, "data_parser", "the same as YAML", AT(json)},
};
/* clang-format on */
static const struct list_options options = {
    option_rows, countof(option_rows),
    "sacctmgr [-inopPQrsV] [add|modify|delete|show THING WORDS...]"};

static const char help_text[] =
    "sacctmgr add THING NAME[,NAME] [KEY=VALUE...]\n"
    "sacctmgr modify THING [where] CONDITION=VALUE... set KEY=VALUE...\n"
    "sacctmgr delete THING [where] CONDITION=VALUE...\n"
    "sacctmgr show THING [where] [CONDITION=VALUE...] [format=FIELD[%WIDTH],...]\n"
    "sacctmgr dump CLUSTER [file=FILE]\n"
    "sacctmgr load [clean] [file=]FILE [cluster=CLUSTER]\n"
    "sacctmgr archive dump [directory=DIR] [jobs|events|txn|usage|reservations]\n"
    "    [purgejobafter=AGE...]\n"
    "sacctmgr archive load file=FILE\n"
    "sacctmgr ping|shutdown|reconfigure|clear stats\n"
    "THING is account, association (show only), cluster, coordinator, qos or user; show also "
    "knows\n"
    "event, problem, runawayjobs, stats, transaction, tres and wckey. See sacctmgr(1) for "
    "conditions, "
    "keys and "
    "fields.\n";

/* ---- commands ---- */

static int run(struct list_session *session, const struct acctmgr_settings *settings, int argc,
               char **argv) {
    enum acctmgr_verb verb = acctmgr_verb_find(argv[0]);
    enum acctmgr_thing thing = argc > 1 ? acctmgr_thing_find(argv[1]) : THING_NONE;
    int rest = argc > 2 ? argc - 2 : 0;
    switch (verb) {
    case ACCTMGR_ADD:
    case ACCTMGR_MODIFY:
    case ACCTMGR_DELETE:
        return acctmgr_change(session, settings, verb, thing, rest, argv + argc - rest);
    case ACCTMGR_SHOW:
        return acctmgr_show(session, settings, thing, rest, argv + argc - rest);
    case ACCTMGR_DUMP:
        return acctmgr_dump(session, settings, argc - 1, argv + 1);
    case ACCTMGR_LOAD:
        return acctmgr_load(session, settings, argc - 1, argv + 1);
    case ACCTMGR_PING:
    case ACCTMGR_SHUTDOWN:
    case ACCTMGR_RECONFIGURE:
    case ACCTMGR_CLEAR:
        return acctmgr_control(session, verb, argc - 1, argv + 1);
    case ACCTMGR_ARCHIVE:
        return acctmgr_archive(session, settings, argc - 1, argv + 1);
    case ACCTMGR_HELP:
        fputs(help_text, stdout);
        return 0;
    case ACCTMGR_VERSION:
        printf("slurm " SLUICE_COMPAT_VERSION "\nSluice " SLUICE_VERSION "\n");
        return 0;
    default:
        fprintf(stderr,
                "invalid keyword: %s\nadd, modify, delete, show, dump, load, archive, ping, "
                "reconfigure, "
                "shutdown, clear, help or version is meant\n",
                argv[0]);
        return 1;
    }
}

/* Words of a line, for which there is room; quotes keep blanks, and go. */
static int split_line(char *line, char **words) {
    int n = 0;
    for (char *at = line; *at != '\0';) {
        while (*at == ' ' || *at == '\t' || *at == '\n')
            at++;
        if (*at == '\0')
            break;
        char *out = words[n++] = at;
        char quote = '\0';
        for (; *at != '\0' && (quote != '\0' || strchr(" \t\n", *at) == NULL); at++) {
            if (quote != '\0' ? *at == quote : *at == '"' || *at == '\'')
                quote = quote != '\0' ? '\0' : *at;
            else
                *out++ = *at;
        }
        bool more = *at != '\0';
        *out = '\0';
        at += more;
    }
    return n;
}

static int interactive(struct list_session *session, const struct acctmgr_settings *settings) {
    char *line = NULL, **words = NULL;
    size_t size = 0;
    int status = 0;
    setvbuf(stdin, NULL, _IONBF, 0); /* the answer to a change is polled for, behind the stream */
    for (;;) {
        printf("sacctmgr: ");
        fflush(stdout);
        if (getline(&line, &size, stdin) < 0)
            break;
        words = xreallocarray(words, strlen(line) / 2 + 1, sizeof(*words));
        int n = split_line(line, words);
        if (n > 0 && acctmgr_verb_find(words[0]) == ACCTMGR_QUIT)
            break;
        if (n > 0)
            status = run(session, settings, n, words);
    }
    free(words);
    free(line);
    return status;
}

int main(int argc, char **argv) {
    struct acctmgr_settings settings = {.argc = argc, .argv = argv};
    struct list_session session;
    int at = list_options_parse(&options, argc, argv, &settings);
    list_session_init(&session, "sacctmgr");
    int status = at < argc ? run(&session, &settings, argc - at, argv + at)
                           : interactive(&session, &settings);
    list_session_close(&session);
    return status;
}
