/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sacctmgr's words: what is to be done, with what, and the conditions and settings behind it.
 */
#ifndef SLUICE_CLI_ACCTMGR_H
#define SLUICE_CLI_ACCTMGR_H

#include "cli/columns_assoc.h"
#include "cli/list.h"

enum acctmgr_verb {
    ACCTMGR_NONE,
    ACCTMGR_ADD,
    ACCTMGR_MODIFY,
    ACCTMGR_DELETE,
    ACCTMGR_SHOW,
    ACCTMGR_HELP,
    ACCTMGR_VERSION,
    ACCTMGR_QUIT,
};
enum acctmgr_thing {
    THING_NONE,
    THING_ACCOUNT,
    THING_ASSOC,
    THING_CLUSTER,
    THING_COORDINATOR,
    THING_QOS,
    THING_TRES,
    THING_USER,
};

struct acctmgr_settings {
    bool immediate, no_header, parsable, trailing, read_only, with_assoc;
};

/* By a word or its beginning; NONE when it is none of them. */
enum acctmgr_verb acctmgr_verb_find(const char *word);
enum acctmgr_thing acctmgr_thing_find(const char *word);

/* Words of a change, into the request; "where" and "set" say which list follows. Texts are borrowed
 * from argv or live in the arena. Returns 0, or 1 after a complaint. */
int acctmgr_words(struct assoc_change *change, int argc, char **argv, struct arena *arena);

/* acctmgr_show.c. Both return an exit status. */
int acctmgr_show(struct list_session *session, const struct acctmgr_settings *settings,
                 enum acctmgr_thing thing, int argc, char **argv);
/* acctmgr_change.c: plans the change, shows it, asks unless told not to, carries it out. */
int acctmgr_change(struct list_session *session, const struct acctmgr_settings *settings,
                   enum acctmgr_verb verb, enum acctmgr_thing thing, int argc, char **argv);

#endif
