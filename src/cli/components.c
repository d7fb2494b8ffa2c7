/* SPDX-License-Identifier: Apache-2.0 */
/* Components of heterogeneous jobs on the command line and in scripts. */
#include "cli/components.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/filter.h"
#include "cli/main.h"

void components_done(struct components *components) {
    for (size_t i = 0; i < components->n; i++)
        option_uses_done(&components->groups[i]);
    vec_each (&components->lines, uses)
        option_uses_done(uses);
    vec_done(&components->lines);
    vec_done(&components->line_of);
}

static int too_many(const struct cli *cli, size_t n) {
    cli_error(cli, "%zu components; a job may have at most %u", n, HET_COMPONENTS_MAX);
    return cli->error_status;
}

int components_scan(const struct cli *cli, const struct option_set *set, char *const *words,
                    size_t n_words, struct components *components) {
    components->n_script = max_of(components->n_script, (size_t) 1);
    while (true) {
        if (components->n == HET_COMPONENTS_MAX)
            return too_many(cli, components->n + 1);
        struct option_uses *uses = &components->groups[components->n++];
        int status = cli_scan(cli, set, words, n_words, OPTION_STOP, uses);
        if (status != CLI_GO_ON || uses->rest.n == 0 || !str_equal(uses->rest.items[0], ":"))
            return status;
        size_t used = n_words - uses->rest.n + 1;
        words += used;
        n_words -= used;
        vec_reset(&uses->rest);
    }
}

int components_scan_script(const struct cli *cli, const struct option_set *set,
                           const struct script_words *words, struct components *components) {
    int status = CLI_GO_ON;
    components->n_script = max_of(words->n_components, 1u);
    if (components->n_script > HET_COMPONENTS_MAX)
        return too_many(cli, components->n_script);
    for (size_t i = 0; i < words->lines.n && status == CLI_GO_ON; i++) {
        const struct script_line *line = &words->lines.items[i];
        struct option_uses uses = {0};
        status = cli_scan(cli, set, words->words.items + line->first, line->n, OPTION_STOP, &uses);
        if (status == CLI_GO_ON && uses.rest.n) {
            cli_error(cli, "Invalid directive found in batch script: %s", uses.rest.items[0]);
            status = 255;
        }
        vec_push(&components->lines, uses);
        vec_push(&components->line_of, line->component);
    }
    return status;
}

size_t components_count(const struct components *components) {
    return max_of(components->n, components->n_script);
}

static int apply(struct options *options, const struct option_uses *uses, bool own,
                 enum option_origin origin) {
    return own ? options_apply(options, uses, origin)
               : options_apply_inherited(options, uses, origin);
}

int components_apply(const struct components *components, size_t component, struct options *options,
                     char *const *envp) {
    int r = 0;
    for (size_t c = 0; c <= component && r == 0; c++) {
        bool own = c == component;
        for (size_t i = 0; i < components->lines.n && r == 0; i++) {
            if (components->line_of.items[i] == c)
                r = apply(options, &components->lines.items[i], own, OPTION_SCRIPT);
        }
        /* What the environment says is the same for all of them. */
        if (r == 0)
            r = options_apply_environment(options, envp);
        const struct option_uses *group = &components->groups[min_of(c, components->n - 1)];
        if (r == 0)
            r = apply(options, group, own, OPTION_LINE);
    }
    return r;
}

static bool asks_for_text(const struct components *components) {
    bool asks = false;
    for (size_t i = 0; i < components->n; i++)
        asks = asks || cli_asks_for_text(&components->groups[i]);
    return asks;
}

int components_read(struct cli *cli, struct components *components, size_t component,
                    struct options *options) {
    const struct option_uses *words = &components->groups[min_of(component, components->n - 1)];
    if (words->rest.n == 0)
        words = components_last(components);
    int status = CLI_GO_ON;
    options->now = time(NULL);
    if (!asks_for_text(components))
        status = cli_filter_begin(cli, options, words->rest.items, words->rest.n);
    if (status == CLI_GO_ON && components_apply(components, component, options, environ) < 0)
        status = cli_options_failed(cli, options);
    return status == CLI_GO_ON ? cli_options_finish(cli, options) : status;
}
