/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sacctmgr's words: what is to be done, with what, and the conditions and settings behind it.
 */
#ifndef SLUICE_CLI_ACCTMGR_H
#define SLUICE_CLI_ACCTMGR_H

#include "cli/columns_assoc.h"
#include "cli/list.h"
#include "cli/list_options.h"

enum acctmgr_verb {
    ACCTMGR_NONE,
    ACCTMGR_ADD,
    ACCTMGR_MODIFY,
    ACCTMGR_DELETE,
    ACCTMGR_SHOW,
    ACCTMGR_DUMP,
    ACCTMGR_LOAD,
    ACCTMGR_PING,
    ACCTMGR_SHUTDOWN,
    ACCTMGR_RECONFIGURE,
    ACCTMGR_CLEAR,
    ACCTMGR_ARCHIVE,
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
    THING_CHANGE,
    THING_EVENT,
    THING_PROBLEM,
    THING_RUNAWAY,
    THING_CONFIGURATION,
    THING_STATS,
    THING_TRES,
    THING_USER,
    THING_WCKEY,
};

struct acctmgr_settings {
    struct list_parsable parsable;
    const char *json; /* --json's plugin, or NULL */
    int argc;         /* of the whole command, for what a document says of itself */
    char **argv;
    bool immediate, no_header, read_only, with_assoc, quiet;
};

/* By a word or its beginning; NONE when it is none of them. */
enum acctmgr_verb acctmgr_verb_find(const char *word);
enum acctmgr_thing acctmgr_thing_find(const char *word);

/* Words of a change, into the request; "where" and "set" say which list follows. Texts are borrowed
 * from argv or live in the arena. Returns 0, or 1 after a complaint. */
int acctmgr_words(struct assoc_change *change, int argc, char **argv, struct arena *arena);

/* acctmgr_where.c: conditions of show. Values are borrowed from argv. */
enum acctmgr_where {
    WHERE_WORDS, /* struct strs, of a comma list */
    WHERE_LOWER_WORDS,
    WHERE_NODES, /* struct strs, of a hostlist */
    WHERE_TIME,  /* int64_t */
    WHERE_TEXT,  /* const char * */
    /* Words without a value: */
    WHERE_FLAG,     /* bool */
    WHERE_ALL_TIME, /* int64_t that becomes 0 */
    WHERE_NOTHING,  /* what it asks for is so anyway */
};
struct acctmgr_condition {
    const char *name; /* NULL, in the last row: any other word without a value */
    size_t least;     /* letters of it that do */
    enum acctmgr_where kind;
    void *target;
};
/* Returns 0, or 1 after a complaint that lists names. */
int acctmgr_where(const struct acctmgr_condition *rows, size_t n, const char *names, int argc,
                  char **argv);
/* acctmgr_show.c. All return an exit status. */
int acctmgr_show(struct list_session *session, const struct acctmgr_settings *settings,
                 enum acctmgr_thing thing, int argc, char **argv);
int acctmgr_print(const struct acctmgr_settings *settings, const struct column_table *table,
                  const char *fields, const char *cluster, const struct rows *rows);
/* acctmgr_changes.c */
int acctmgr_show_changes(struct list_session *session, const struct acctmgr_settings *settings,
                         int argc, char **argv);
/* acctmgr_events.c */
int acctmgr_show_events(struct list_session *session, const struct acctmgr_settings *settings,
                        int argc, char **argv);
/* acctmgr_runaway.c: jobs without an end that their controller does not know, and their end */
int acctmgr_show_runaways(struct list_session *session, const struct acctmgr_settings *settings,
                          int argc, char **argv);
/* acctmgr_dbd.c: what is asked of slurmdbd itself, and what is wrong in the accounts */
int acctmgr_show_stats(struct list_session *session);
int acctmgr_show_configuration(struct list_session *session);
int acctmgr_show_problems(struct list_session *session, const struct acctmgr_settings *settings,
                          int argc, char **argv);
/* ping, shutdown, reconfigure, clear stats */
int acctmgr_control(struct list_session *session, enum acctmgr_verb verb, int argc, char **argv);
int acctmgr_archive(struct list_session *session, const struct acctmgr_settings *settings, int argc,
                    char **argv);
/* acctmgr_file.c */
int acctmgr_dump(struct list_session *session, const struct acctmgr_settings *settings, int argc,
                 char **argv);
int acctmgr_load(struct list_session *session, const struct acctmgr_settings *settings, int argc,
                 char **argv);
/* acctmgr_change.c: what a change cannot be made for, on stderr; returns the exit status. */
int acctmgr_complain(const struct error *err);
/* Asks; no answer, an end of input and anything but y are a no. */
bool acctmgr_user_agrees(void);
/* Plans the change, shows it, asks unless told not to, carries it out. */
int acctmgr_change(struct list_session *session, const struct acctmgr_settings *settings,
                   enum acctmgr_verb verb, enum acctmgr_thing thing, int argc, char **argv);

#endif
