/* SPDX-License-Identifier: Apache-2.0 */
/* Table-driven options of the listing commands. */
#include "cli/list_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "cli/list.h"

/* ---- setters ---- */

void list_set_nothing(void *member, const char *value) {}

void list_set_true(void *member, const char *value) {
    *(bool *) member = true;
}

void list_set_false(void *member, const char *value) {
    *(bool *) member = false;
}

void list_set_text(void *member, const char *value) {
    *(const char **) member = value;
}

void list_set_json(void *member, const char *value) {
    *(const char **) member = value ? value : "";
}

void list_set_yaml(void *member, const char *value) {
    *(const char **) member = "yaml";
}

void list_set_words(void *member, const char *value) {
    strs_done(member);
    list_add_words(member, value);
}

void list_add_words(void *member, const char *value) {
    strs_split(member, value ? value : "");
}

void list_set_parsable(void *member, const char *value) {
    *(struct list_parsable *) member = (struct list_parsable) {.on = true, .trailing = true};
}

void list_set_parsable2(void *member, const char *value) {
    *(struct list_parsable *) member = (struct list_parsable) {.on = true};
}

/* ---- reading ---- */

/* Values of getopt_long for rows without a letter, and for what every command has. */
enum { LONG_FIRST = 0x200, LONG_HELP = 0x100, LONG_USAGE, LONG_VERSION };

static void help_print(const struct list_options *options) {
    printf("Usage: %s [OPTIONS]\n", program_invocation_short_name);
    for (size_t i = 0; i < options->n; i++) {
        const struct list_option *row = &options->rows[i];
        if (!row->help)
            continue;
        struct str left cleanup_str = STR_INIT;
        str_append(&left, "  ");
        if (row->letter)
            str_printf(&left, "-%c%s", row->letter, row->name ? ", " : "");
        else
            str_append(&left, "    ");
        if (row->name)
            str_printf(&left, "--%s", row->name);
        if (row->arg == LIST_ARG_REQUIRED)
            str_printf(&left, "=%s", row->value_name);
        else if (row->arg != LIST_ARG_NONE)
            str_printf(&left, "[=%s]", row->value_name);
        printf("%-34s%s%s%s\n", str_cstr(&left), left.length > 33 ? " " : "", row->help,
               row->set ? "" : " (no effect yet)");
    }
    printf("  -V, --version                   output version information and exit\n"
           "\nHelp options:\n"
           "  --help                          show this help message\n"
           "  --usage                         display a brief summary of %s options\n",
           program_invocation_short_name);
}

/* An option without effect joins `idle`. */
static void option_set_member(const struct list_option *row, void *settings, const char *value,
                              struct str *idle) {
    if (row->set) {
        row->set((char *) settings + row->target, value);
        return;
    }
    cleanup_free char *name = xasprintf("--%s", row->name);
    str_join(idle, ", ", name);
}

static void environment_read(const struct list_options *options, void *settings, struct str *idle) {
    for (size_t i = 0; i < options->n; i++) {
        const char *value = options->rows[i].env ? getenv(options->rows[i].env) : NULL;
        if (value)
            option_set_member(&options->rows[i], settings, value, idle);
    }
}

static void common_option(const struct list_options *options, int c) {
    switch (c) {
    case LONG_HELP:
        help_print(options);
        exit(0);
    case LONG_USAGE:
        printf("Usage: %s\n", options->usage);
        exit(0);
    case 'V':
    case LONG_VERSION:
        puts("slurm " SLUICE_COMPAT_VERSION);
        exit(0);
    default:
        fprintf(stderr, "Try \"%s --help\" for more information\n", program_invocation_short_name);
        exit(1);
    }
}

static const struct list_option *option_row(const struct list_options *options, int c) {
    for (size_t i = 0; i < options->n; i++) {
        if (c >= LONG_FIRST ? c - LONG_FIRST == (int) i : options->rows[i].letter == c && c)
            return &options->rows[i];
    }
    return NULL;
}

/* The word behind an option whose value may stand apart: not an option, and not "". */
static const char *next_word(int argc, char **argv) {
    if (optind >= argc || argv[optind][0] == '-')
        return NULL;
    return argv[optind++];
}

int list_options_parse(const struct list_options *options, int argc, char **argv, void *settings) {
    cleanup_free struct option *longs = xcalloc(options->n + 4, sizeof(*longs));
    struct str shorts cleanup_str = STR_INIT, idle cleanup_str = STR_INIT;
    struct cli cli;
    size_t n = 0;
    str_append_char(&shorts, 'V');
    for (size_t i = 0; i < options->n; i++) {
        const struct list_option *row = &options->rows[i];
        int has_arg = row->arg == LIST_ARG_NONE       ? no_argument
                      : row->arg == LIST_ARG_REQUIRED ? required_argument
                                                      : optional_argument;
        if (row->name)
            longs[n++] = (struct option) {row->name, has_arg, NULL, LONG_FIRST + (int) i};
        if (row->letter) {
            str_append_char(&shorts, (char) row->letter);
            str_append_fill(&shorts, ':', (size_t) has_arg);
        }
    }
    longs[n++] = (struct option) {"help", no_argument, NULL, LONG_HELP};
    longs[n++] = (struct option) {"usage", no_argument, NULL, LONG_USAGE};
    longs[n++] = (struct option) {"version", no_argument, NULL, LONG_VERSION};

    environment_read(options, settings, &idle);
    int c;
    while ((c = getopt_long(argc, argv, str_cstr(&shorts), longs, NULL)) != -1) {
        const struct list_option *row = c == '?' ? NULL : option_row(options, c);
        if (!row) {
            common_option(options, c);
            continue;
        }
        const char *value = optarg;
        if (row->arg == LIST_ARG_NEXT_WORD && !value)
            value = next_word(argc, argv);
        option_set_member(row, settings, value, &idle);
    }
    cli_init(&cli, program_invocation_short_name);
    cli_without_effect(&cli, &idle);
    return optind;
}
