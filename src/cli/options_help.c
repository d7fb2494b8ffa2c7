/* SPDX-License-Identifier: Apache-2.0 */
/* Texts made from the option rows: --help, --usage, manual page sections, shell completion. */
#include <string.h>

#include "base/alloc.h"
#include "cli/options.h"

static const char *const group_titles[OPTION_GROUPS] = {
    [OPTION_GROUP_JOB] = "The job",          [OPTION_GROUP_SIZE] = "How much",
    [OPTION_GROUP_PLACE] = "Where",          [OPTION_GROUP_IO] = "Files, environment, limits",
    [OPTION_GROUP_COMMAND] = "This command", [OPTION_GROUP_STEP] = "The step",
    [OPTION_GROUP_GENERAL] = "Help",
};

static void print_form(const struct option_row *row, bool letter, struct str *out) {
    if (letter && row->letter)
        str_printf(out, "-%c, ", row->letter);
    else if (letter)
        str_append(out, "    ");
    str_printf(out, "--%s", row->name);
    if (row->argument == OPTION_REQUIRED)
        str_printf(out, "=%s", row->metavar);
    else if (row->argument == OPTION_OPTIONAL && *row->metavar)
        str_printf(out, "[=%s]", row->metavar);
}

static bool row_holds(const struct option_row *row, enum option_command command) {
    return row->commands & command;
}

static void print_help_text(const struct option_row *row, struct str *out) {
    str_append(out, row->help);
    str_append(out, row->effect == OPTION_NOT_YET ? " (no effect yet)\n" : "\n");
}

void option_set_print(const struct option_set *set, size_t width, struct str *out) {
    for (size_t i = 0; i < set->n_rows; i++) {
        const struct option_row *row = &set->rows[i];
        size_t start = out->length;
        str_append(out, "  ");
        print_form(row, true, out);
        size_t length = out->length - start;
        str_append_fill(out, ' ', length < width ? width - length : 0);
        str_append(out, "  ");
        print_help_text(row, out);
    }
}

/* The rows of a command, group by group, each group below its title. */
static void print_groups(enum option_command command, const char *before, const char *after,
                         void (*print_row)(const struct option_row *, enum option_command,
                                           struct str *),
                         struct str *out) {
    for (unsigned group = 0; group < OPTION_GROUPS; group++) {
        bool titled = false;
        for (size_t i = 0; i < OPT_COUNT; i++) {
            const struct option_row *row = &option_rows[i];
            if (row->group != group || !row_holds(row, command))
                continue;
            if (!titled)
                str_printf(out, "\n%s%s%s\n", before, group_titles[group], after);
            titled = true;
            print_row(row, command, out);
        }
    }
}

static void print_help_row(const struct option_row *row, enum option_command command,
                           struct str *out) {
    const size_t column = 38;
    size_t start = out->length;
    str_append(out, "  ");
    print_form(row, true, out);
    size_t width = out->length - start;
    if (width + 2 > column) {
        str_append_char(out, '\n');
        width = 0;
    }
    str_append_fill(out, ' ', column - width);
    print_help_text(row, out);
}

void options_print_help(enum option_command command, struct str *out) {
    str_printf(out, "Usage: %s\n", option_command_synopsis(command));
    print_groups(command, "", ":", print_help_row, out);
}

void options_print_usage(enum option_command command, struct str *out) {
    str_printf(out, "Usage: %s\n", option_command_synopsis(command));
    size_t line_start = out->length;
    for (size_t i = 0; i < OPT_COUNT; i++) {
        const struct option_row *row = &option_rows[i];
        if (!row_holds(row, command) || row->tier > 1)
            continue;
        cleanup_str struct str form = STR_INIT;
        print_form(row, false, &form);
        if (out->length == line_start || out->length - line_start + form.length + 3 > 96) {
            if (out->length != line_start)
                str_append_char(out, '\n');
            line_start = out->length;
            str_append(out, "             ");
        }
        str_printf(out, " [%s]", form.data);
    }
    str_append_char(out, '\n');
}

/* ---- manual page (scdoc) ---- */

static void print_escaped(const char *text, struct str *out) {
    for (; *text; text++) {
        if (strchr("*_\\`<>#", *text))
            str_append_char(out, '\\');
        str_append_char(out, *text);
    }
}

/* The variables of one row, "SBATCH_X, SLURM_X". */
static void print_variables(const struct option_row *row, enum option_command command,
                            struct str *out) {
    cleanup_str struct str name = STR_INIT;
    for (const char *cursor = row->environment; option_variable_next(command, &cursor, &name);)
        str_join(out, ", ", name.data);
}

static void print_manual_row(const struct option_row *row, enum option_command command,
                             struct str *out) {
    cleanup_str struct str form = STR_INIT, variables = STR_INIT;
    print_form(row, false, &form);
    str_append(out, "\n");
    if (row->letter)
        str_printf(out, "*-%c*, ", row->letter);
    str_append_char(out, '*');
    print_escaped(form.data, out);
    str_append(out, "*\n\t");
    print_escaped(row->help, out);
    print_variables(row, command, &variables);
    if (variables.length) {
        str_append(out, ". Variable: ");
        print_escaped(variables.data, out);
    }
    str_append(out, row->effect == OPTION_NOT_YET ? ". No effect yet.\n" : ".\n");
}

void options_print_manual(enum option_command command, struct str *out) {
    str_append(out, "# OPTIONS\n");
    print_groups(command, "## ", "", print_manual_row, out);
}

/* ---- completion (bash) ---- */

void options_print_completion(enum option_command command, struct str *out) {
    const char *name = option_command_name(command);
    str_printf(out, "_sluice_%s() {\n    local word=${COMP_WORDS[COMP_CWORD]}\n", name);
    str_append(out, "    if [[ $word == -* ]]; then\n        COMPREPLY=($(compgen -W '");
    for (size_t i = 0; i < OPT_COUNT; i++) {
        const struct option_row *row = &option_rows[i];
        if (!row_holds(row, command))
            continue;
        str_printf(out, "--%s%s ", row->name, row->argument == OPTION_REQUIRED ? "=" : "");
    }
    str_append(out, "' -- \"$word\"))\n        [[ $COMPREPLY == *= ]] && compopt -o nospace\n"
                    "    else\n        COMPREPLY=($(compgen -f -- \"$word\"))\n    fi\n}\n");
    str_printf(out, "complete -o filenames -F _sluice_%s %s\n", name, name);
}
