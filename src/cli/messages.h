/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every command prints about itself: "<cmd>: text", "<cmd>: error: text" and so on, all on
 * stderr, each line in one write so that lines of concurrent commands do not mix. Also the parts of
 * main() that all commands share.
 */
#ifndef SLUICE_CLI_MESSAGES_H
#define SLUICE_CLI_MESSAGES_H

#include <stdarg.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

struct cli_filter;
struct cli {
    const char *name;          /* "sbatch" */
    int verbose;               /* count of -v */
    bool quiet;                /* -Q: errors only */
    int error_status;          /* exit status of failures: 1, or SLURM_EXIT_ERROR */
    struct cli_filter *filter; /* the site's, see cli/filter.h; NULL: none */
    bool is_raw; /* our terminal is in raw mode: a new line needs a carriage return, too */
};

/* name must live as long as cli. */
void cli_init(struct cli *cli, const char *name);

/* Text of several lines gets the prefix on each line. */
void cli_error(const struct cli *cli, const char *fmt, ...) printf_like(2, 3);
/* The same, and the exit status 1. */
int cli_failed(const struct cli *cli, const char *fmt, ...) printf_like(2, 3);
void cli_fatal(const struct cli *cli, const char *fmt, ...) printf_like(2, 3);   /* does not exit */
void cli_warning(const struct cli *cli, const char *fmt, ...) printf_like(2, 3); /* not with -Q */
/* A warning that names what was accepted and has no effect yet; nothing when there is none. */
void cli_without_effect(const struct cli *cli, const struct str *names);
void cli_info(const struct cli *cli, const char *fmt, ...) printf_like(2, 3);    /* not with -Q */
void cli_verbose(const struct cli *cli, const char *fmt, ...) printf_like(2, 3); /* with -v */
/* As it is, to stderr. */
void cli_raw(const char *text);
/* As it is, to stdout; 0, or 1 after an error message when it cannot be written. */
int cli_print(const struct cli *cli, const char *fmt, ...) printf_like(2, 3);
int cli_print_text(const struct cli *cli, const struct str *text);
/* "slurm 26.05.3" */
int cli_print_version(const struct cli *cli);
/* getopt's second line: Try "sbatch --help" for more information */
void cli_try_help(const struct cli *cli);

#endif
