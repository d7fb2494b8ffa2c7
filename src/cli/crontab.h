/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A crontab as text: comments, settings of variables (NAME=value), options of the next entry
 * (#SCRON), entries. Pure; options are read by their tables, in the command.
 */
#ifndef SLUICE_CLI_CRONTAB_H
#define SLUICE_CLI_CRONTAB_H

#include "base/error.h"
#include "base/vec.h"

struct crontab_line {
    unsigned number; /* from 1 */
    char *text;      /* behind "#SCRON"; owned */
};
struct crontab_entry {
    unsigned first_line, last_line;
    char *spec, *command;             /* owned */
    vec(struct crontab_line) options; /* in their order */
    size_t n_variables;               /* so many of the crontab's are set before it */
};
struct crontab_variable {
    char *name, *value; /* owned */
};
struct crontab_text {
    vec(struct crontab_entry) entries;
    vec(struct crontab_variable) variables;
};

/* The error names the line. */
must_check int crontab_parse(const char *text, struct crontab_text *ret, struct error *err);
void crontab_text_done(struct crontab_text *crontab);

#endif
