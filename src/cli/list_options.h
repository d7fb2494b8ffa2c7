/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of the listing commands: one row each, from which getopt_long's tables, the reading of
 * environment variables and --help are derived. Unlike a submission's options they change nothing
 * but what is shown, so a row's setter writes straight into the command's own settings.
 */
#ifndef SLUICE_CLI_LIST_OPTIONS_H
#define SLUICE_CLI_LIST_OPTIONS_H

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
    /* value NULL = none given. A setter that fails prints its message and exits. */
    void (*set)(void *settings, const char *value);
    const char *value_name;
    const char *help; /* NULL: not in --help */
};

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
