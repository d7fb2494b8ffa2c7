/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the command line of a submitting command. */
#include "cli/main.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli/connect.h"
#include "cli/filter.h"
#include "text/timestamp.h"

#define STATUS_USAGE 255 /* of unknown options and of most bad values */

int cli_scan(const struct cli *cli, const struct option_set *set, char *const *words,
             size_t n_words, enum option_order order, struct option_uses *uses) {
    cleanup_str struct str complaint = STR_INIT;
    if (option_scan(set, words, n_words, order, uses, &complaint))
        return CLI_GO_ON;
    str_append_char(&complaint, '\n');
    cli_raw(complaint.data);
    cli_try_help(cli);
    return STATUS_USAGE;
}

/* What a node may have: the names of GresTypes. */
static void print_gres_help(const struct cli *cli, struct str *out) {
    const struct conf *conf = cli_conf(cli);
    str_append(out, "Valid gres options are:\n");
    if (!conf || !conf->gres_types)
        return;
    cleanup_free char *copy = xstrdup(conf->gres_types);
    char *cursor = copy;
    for (char *name; (name = str_next_word(&cursor, ", ")) != NULL;)
        str_printf(out, "%s[[:type]:count]\n", name);
}

int cli_show(const struct cli *cli, const struct options *options) {
    cleanup_str struct str text = STR_INIT;
    switch (options->info) {
    case OPT_help:
        options_print_help(options->command, &text);
        break;
    case OPT_usage:
        options_print_usage(options->command, &text);
        break;
    case OPT_autocomplete:
        options_print_completion(options->command, &text);
        break;
    case OPT_hint:
        options_print_hints(&text);
        break;
    case OPT_mem_bind:
        options_print_mem_binds(&text);
        break;
    case OPT_cpu_bind:
        options_print_cpu_binds(&text);
        break;
    case OPT_gres:
        print_gres_help(cli, &text);
        break;
    case OPT_version:
        return cli_print_version(cli);
    default:
        return CLI_GO_ON;
    }
    return cli_print_text(cli, &text);
}

int cli_options_failed(const struct cli *cli, const struct options *options) {
    const struct option_problem *problem = &options->problem;
    if (problem->raw.length)
        cli_raw(problem->raw.data);
    if (problem->fatal)
        cli_fatal(cli, "%s", str_cstr(&problem->text));
    else
        cli_error(cli, "%s", str_cstr(&problem->text));
    return problem->status == 1 ? cli->error_status : problem->status;
}

int cli_options_finish(struct cli *cli, struct options *options) {
    cli->quiet = options->quiet;
    cli->verbose = options->verbose;
    int status = cli_show(cli, options);
    if (status == CLI_GO_ON)
        status = cli_filter_options(cli);
    if (status != CLI_GO_ON)
        return status;
    if (options_finish(options) < 0)
        return cli_options_failed(cli, options);
    if (options->warnings.length)
        cli_warning(cli, "%s", options->warnings.data);
    cleanup_str struct str names = STR_INIT;
    if (options_without_effect(options, &names))
        cli_without_effect(cli, &names);
    return CLI_GO_ON;
}

/* Options of which "help" is a value that asks for a list. */
static bool has_help(const struct option_row *row) {
    return row->parse == option_parse_hint || row->parse == option_parse_gres ||
           row->parse == option_parse_cpu_bind || row->parse == option_parse_mem_bind;
}

/* --help and its kin need neither a configuration nor a filter. */
bool cli_asks_for_text(const struct option_uses *uses) {
    for (size_t i = 0; i < uses->options.n; i++) {
        const struct option_use *use = &uses->options.items[i];
        if (use->row->parse == option_parse_info ||
            (has_help(use->row) && str_equal_nocase(use->value, "help")))
            return true;
    }
    return false;
}

int cli_options_read(struct cli *cli, struct options *options, int argc, char **argv,
                     struct option_uses *uses) {
    struct option_set set = option_set_of(options->command, cli->name);
    int status =
        cli_scan(cli, &set, argv + 1, (size_t) (argc > 0 ? argc - 1 : 0), OPTION_STOP, uses);
    if (status != CLI_GO_ON)
        return status;
    options->now = time(NULL);
    if (!cli_asks_for_text(uses))
        status = cli_filter_begin(cli, options, uses->rest.items, uses->rest.n);
    if (status != CLI_GO_ON)
        return status;
    if (options_apply_environment(options, environ) < 0 ||
        options_apply(options, uses, OPTION_LINE) < 0)
        return cli_options_failed(cli, options);
    return cli_options_finish(cli, options);
}

uint32_t cli_advice_wanted(const struct options *options) {
    bool wanted = options->advice != TRI_NO && !options->quiet;
    uint32_t language = cli_language() == LANGUAGE_KOREAN ? ADVICE_KOREAN : 0;
    return language | (wanted ? ADVICE_WANTED | options->bare_memory : 0);
}

enum language cli_language(void) {
    static const char *const variables[] = {"LC_ALL", "LC_MESSAGES", "LANG"};
    for (size_t i = 0; i < countof(variables); i++) {
        const char *value = getenv(variables[i]);
        if (value != NULL && value[0] != '\0')
            return language_of(value);
    }
    return LANGUAGE_ENGLISH;
}

void cli_print_lines(const struct cli *cli, const struct strs *infos, const struct strs *warnings) {
    for (uint32_t i = 0; infos && i < infos->n; i++)
        cli_info(cli, "%s", infos->items[i]);
    for (uint32_t i = 0; warnings && i < warnings->n; i++)
        cli_warning(cli, "%s", warnings->items[i]);
}

void cli_print_plan(const struct cli *cli, const struct submit_reply *reply) {
    cleanup_str struct str start = STR_INIT;
    timestamp_print(reply->start_time, NULL, time(NULL), &start);
    cli_info(cli, "Job %u to start at %s using %u processors on nodes %s in partition %s",
             reply->job_id, start.data, reply->cpus, reply->nodes ? reply->nodes : "",
             reply->partition ? reply->partition : "");
}

const char *cli_refusal_prefix(enum option_command command, const struct error *err) {
    bool bare = -err->code == ERR_INVALID_GRES || -err->code == ERR_GRES_MIXED;
    return bare ? "" : option_failure_prefix(command);
}

int cli_check_clusters(const struct cli *cli, const char *names) {
    const struct conf *conf = cli_conf(cli);
    if (!conf)
        return cli->error_status;
    cleanup_free char *copy = xstrdup(names);
    char *cursor = copy;
    for (char *name; (name = str_next_word(&cursor, ",")) != NULL;) {
        if (str_equal(name, "all") || str_equal_nocase(name, conf->cluster_name))
            continue;
        cli_error(cli,
                  "'%s' can't be reached now, or it is an invalid entry for --cluster.  Use "
                  "'sacctmgr list clusters' to see available clusters.",
                  name);
        return cli->error_status;
    }
    return CLI_GO_ON;
}
