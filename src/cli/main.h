/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first steps that sbatch, salloc and srun share: words to uses, --help and its kin, options in
 * their order of precedence. Each function returns an exit status to leave with, or CLI_GO_ON.
 */
#ifndef SLUICE_CLI_MAIN_H
#define SLUICE_CLI_MAIN_H

#include "cli/messages.h"
#include "cli/options.h"
#include "text/language.h"

#define CLI_GO_ON (-1)

/* Reads words by a set of rows; a complaint is printed with a hint at --help. */
int cli_scan(const struct cli *cli, const struct option_set *set, char *const *words,
             size_t n_words, enum option_order order, struct option_uses *uses);
/* --help, --usage, --version, --autocomplete, --hint=help, --gres=help: when options ask for text
 * instead of work, prints it. */
int cli_show(const struct cli *cli, const struct options *options);
/* Is any of them such an option? */
bool cli_asks_for_text(const struct option_uses *uses);
/* Prints what a failed options_… call complains of; always an exit status. */
int cli_options_failed(const struct cli *cli, const struct options *options);
/* The words after the program's name: scans them, shows what is asked for, then applies the
 * environment and the words, finishes, and prints warnings and the notice about options without
 * effect. For commands without a script. options and uses are initialised. */
int cli_options_read(struct cli *cli, struct options *options, int argc, char **argv,
                     struct option_uses *uses);
/* The last part of it, for sbatch: options_finish, warnings, notice. */
int cli_options_finish(struct cli *cli, struct options *options);

/* -M: there is only our own cluster, by its name or "all". */
int cli_check_clusters(const struct cli *cli, const char *names);
/* That of the user: LC_ALL, LC_MESSAGES, LANG, the first that is set. */
enum language cli_language(void);
/* enum submit_advice for a submission. */
uint32_t cli_advice_wanted(const struct options *options);
/* The lines that come with an answer; NULL is none. */
void cli_print_lines(const struct cli *cli, const struct strs *infos, const struct strs *warnings);
/* --test-only: when and where the job would start. */
void cli_print_plan(const struct cli *cli, const struct submit_reply *reply);
/* What stands before the reason of a refused request (cli_failure): the command's usual words,
 * nothing for what the commands have always reported bare. */
const char *cli_refusal_prefix(enum option_command command, const struct error *err);

#endif
