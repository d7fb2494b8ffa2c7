/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of the listing commands: one row each, from which getopt_long's tables, the reading of
 * environment variables and --help are derived. Unlike a submission's options they change nothing
 * but what is shown, so a row's setter writes straight into the command's own settings: into the
 * member at `target` those below, into what they like the command's own, whose rows have no target.
 */
#ifndef SLUICE_CLI_LIST_OPTIONS_H
#define SLUICE_CLI_LIST_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum list_option_arg {
    LIST_ARG_NONE,
    LIST_ARG_REQUIRED,
    LIST_ARG_OPTIONAL,  /* only as --name=value */
    LIST_ARG_NEXT_WORD, /* optional; the next word counts unless it starts with '-' */
};

struct list_option {
    const char *name; /* NULL: a letter only */
    int letter;       /* 0: a long name only */
    enum list_option_arg arg;
    const char *env; /* variable that sets it first; NULL = none */
    /* Gets the settings' address plus `target`. value NULL = none given. A setter that fails prints
     * its message and exits. NULL: the option has no effect yet, and the command says so. */
    void (*set)(void *member, const char *value);
    const char *value_name;
    const char *help; /* NULL: not in --help */
    size_t target;    /* offset in the command's settings */
};

/* Fields between '|' instead of columns, and one behind the last. */
struct list_parsable {
    bool on, trailing;
};

/* ---- setters; behind each the type of its member ---- */
void list_set_nothing(void *member, const char *value); /* what it asks for is so anyway */
void list_set_true(void *member, const char *value);    /* bool */
void list_set_false(void *member, const char *value);   /* bool */
void list_set_text(void *member, const char *value);    /* const char *, borrowed */
void list_set_json(void *member, const char *value);  /* const char *: a plugin, "" = the newest */
void list_set_yaml(void *member, const char *value);  /* const char *: "yaml" */
void list_set_words(void *member, const char *value); /* struct strs: of this comma list alone */
void list_add_words(void *member, const char *value); /* struct strs: and of earlier ones */
void list_set_parsable(void *member, const char *value);  /* struct list_parsable: -p */
void list_set_parsable2(void *member, const char *value); /* struct list_parsable: -P */

struct list_options {
    const struct list_option *rows;
    size_t n;
    const char *usage; /* lines of --usage, without "Usage: " */
};

/* Environment first, then the command line, which may mix options and words. Handles --help,
 * --usage and -V/--version. Returns the index in argv of the first word that is no option. An
 * unknown option ends the command: status 1, after getopt's line and a hint at --help. */
int list_options_parse(const struct list_options *options, int argc, char **argv, void *settings);

#endif
