/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heterogeneous jobs on the command line and in scripts: `sbatch OPTIONS : OPTIONS … SCRIPT`, and
 * lines `#SBATCH hetjob`. There are as many components as the one or the other has. What is given
 * last on the command line counts for all further components of the script, too.
 *
 * A component takes over what those before it were given, but for sizes and places
 * (option_is_own()).
 */
#ifndef SLUICE_CLI_COMPONENTS_H
#define SLUICE_CLI_COMPONENTS_H

#include "cli/messages.h"
#include "cli/options.h"
#include "cli/script.h"

struct components {
    struct option_uses groups[HET_COMPONENTS_MAX]; /* of the command line */
    size_t n;                                      /* at least 1 */
    vec(struct option_uses) lines;                 /* of the script, one for each line */
    vec(unsigned) line_of;                         /* the component of each */
    size_t n_script;                               /* components of the script, at least 1 */
};
void components_done(struct components *components);

/* Splits at each word ":" among the options. CLI_GO_ON or an exit status. */
int components_scan(const struct cli *cli, const struct option_set *set, char *const *words,
                    size_t n_words, struct components *components);
/* The words that are no options: script or command with its arguments. */
static inline struct option_uses *components_last(struct components *components) {
    return &components->groups[components->n - 1];
}
/* The directives of a script, each line by itself so that an option at its end cannot swallow the
 * next one; `words` must live as long. */
int components_scan_script(const struct cli *cli, const struct option_set *set,
                           const struct script_words *words, struct components *components);
size_t components_count(const struct components *components);
/* All options of one component, in order of precedence. 0, or as options_apply(). */
must_check int components_apply(const struct components *components, size_t component,
                                struct options *options, char *const *envp);
/* The same with the site's filter before it and all checks and messages after it, as
 * cli_options_read() does for commands without components. CLI_GO_ON or an exit status. */
int components_read(struct cli *cli, struct components *components, size_t component,
                    struct options *options);

#endif
