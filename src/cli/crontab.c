/* SPDX-License-Identifier: Apache-2.0 */
/* Reading crontabs; see crontab.h. */
#include "cli/crontab.h"

#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "text/cronspec.h"

#define OPTIONS_MARK "#SCRON"

static void options_done(struct crontab_entry *entry) {
    vec_each (&entry->options, line)
        free(line->text);
    vec_done(&entry->options);
}

void crontab_text_done(struct crontab_text *crontab) {
    vec_each (&crontab->entries, entry) {
        free(entry->spec);
        free(entry->command);
        options_done(entry);
    }
    vec_each (&crontab->variables, variable) {
        free(variable->name);
        free(variable->value);
    }
    vec_done(&crontab->entries);
    vec_done(&crontab->variables);
}

static int fault(unsigned line, const char *text, struct error *err) {
    return error_set(err, ERR_INVALID, "line %u: %s", line, text);
}

/* NAME=value with blanks around the sign, as cron reads it. */
static bool read_variable(const char *line, struct crontab_text *ret) {
    size_t name = 0;
    while (isalnum((unsigned char) line[name]) || line[name] == '_')
        name++;
    const char *at = line + name;
    at += strspn(at, " \t");
    if (name == 0 || isdigit((unsigned char) line[0]) || *at != '=')
        return false;
    cleanup_free char *copy = xstrdup(at + 1);
    char *value = str_trim(copy);
    size_t length = strlen(value);
    if (length >= 2 && (value[0] == '"' || value[0] == '\'') && value[length - 1] == value[0]) {
        value[length - 1] = '\0';
        value++;
    }
    struct crontab_variable variable = {xstrndup(line, name), xstrdup(value)};
    vec_push(&ret->variables, variable);
    return true;
}

static int read_entry(const char *line, unsigned number, struct crontab_entry *entry,
                      struct error *err) {
    struct error why = ERROR_INIT;
    struct cronspec spec;
    size_t length = cronspec_length(line, &why);
    if (length == 0)
        return fault(number, why.text, err);
    const char *command = line + length + strspn(line + length, " \t");
    cleanup_free char *text = xstrndup(line, length);
    if (cronspec_parse(text, &spec, &why) < 0)
        return fault(number, why.text, err);
    if (*command == '\0')
        return fault(number, "the command is missing behind the time", err);
    entry->spec = take(text);
    entry->command = xstrdup(command);
    entry->last_line = number;
    if (entry->options.n == 0)
        entry->first_line = number;
    return 0;
}

static bool is_options_line(const char *line) {
    size_t n = sizeof(OPTIONS_MARK) - 1;
    return strncmp(line, OPTIONS_MARK, n) == 0 && (line[n] == '\0' || strchr(" \t", line[n]));
}

int crontab_parse(const char *text, struct crontab_text *ret, struct error *err) {
    struct crontab_entry entry = {0};
    cleanup_free char *copy = xstrdup(text);
    char *at = copy;
    int r = 0;
    for (unsigned number = 1; at != NULL && r == 0; number++) {
        char *raw = strsep(&at, "\n");
        char *line = str_trim(raw);
        if (is_options_line(line)) {
            struct crontab_line options = {number, xstrdup(line + sizeof(OPTIONS_MARK) - 1)};
            if (entry.options.n == 0)
                entry.first_line = number;
            vec_push(&entry.options, options);
        } else if (line[0] != '\0' && line[0] != '#' && !read_variable(line, ret)) {
            r = read_entry(line, number, &entry, err);
            if (r < 0)
                break;
            entry.n_variables = ret->variables.n;
            vec_push(&ret->entries, entry);
            entry = (struct crontab_entry) {0};
        }
    }
    if (r == 0 && entry.options.n > 0)
        r = fault(entry.first_line, "options (#SCRON) without an entry behind them", err);
    options_done(&entry);
    return r;
}
