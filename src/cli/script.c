/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for batch scripts: checks, `#SBATCH` lines, splitting them into words. */
#include "cli/script.h"

#include <string.h>

#include "base/alloc.h"

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* ---- checks ---- */

static bool only_whitespace(struct bytes script) {
    for (size_t i = 0; i < script.size; i++)
        if (!is_blank((char) script.data[i]) && script.data[i] != '\n')
            return false;
    return true;
}

int script_check(struct bytes script, struct error *err) {
    if (script.size == 0)
        return error_set(err, ERR_INVALID, "Batch script is empty!");
    if (only_whitespace(script))
        return error_set(err, ERR_INVALID, "Batch script contains only whitespace!");
    if (script.size < 2 || script.data[0] != '#' || script.data[1] != '!')
        return error_set(err, ERR_INVALID,
                         "This does not look like a batch script.  The first\n"
                         "line must start with #! followed by the path to an interpreter.\n"
                         "For instance: #!/bin/sh");
    if (memchr(script.data, '\0', script.size))
        return error_set(err, ERR_INVALID,
                         "The Slurm controller does not allow scripts that\n"
                         "contain a NULL character '\\0'.");
    if (memmem(script.data, script.size, "\r\n", 2))
        return error_set(err, ERR_INVALID,
                         "Batch script contains DOS line breaks (\\r\\n)\n"
                         "instead of expected UNIX line breaks (\\n).");
    return 0;
}

/* ---- words ---- */

void script_words_done(struct script_words *words) {
    vec_each (&words->words, word) {
        free(*word);
    }
    vec_done(&words->words);
    vec_done(&words->lines);
}

/* One word from *at on; its text goes to `out`. A backslash takes the next character as it is, but
 * outside quotes it does not keep a blank. The result is the quote that is not closed, or 0. */
static char read_word(const char *text, size_t length, size_t *at, struct str *out) {
    char quote = 0;
    for (; *at < length; ++*at) {
        char c = text[*at];
        if (c == '\\') {
            if (*at + 1 == length || (!quote && is_blank(text[*at + 1])))
                continue;
            str_append_char(out, text[++*at]);
        } else if (quote) {
            if (c == quote)
                quote = 0;
            else
                str_append_char(out, c);
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (is_blank(c) || c == '#') {
            break;
        } else {
            str_append_char(out, c);
        }
    }
    return quote;
}

bool script_split(const char *text, size_t length, struct script_words *words,
                  struct script_fault *ret_fault) {
    size_t at = 0;
    while (true) {
        size_t start = at;
        while (at < length && is_blank(text[at]))
            at++;
        if (at == length || text[at] == '#')
            return true;
        struct str word = STR_INIT;
        char quote = read_word(text, length, &at, &word);
        if (quote) {
            str_done(&word);
            *ret_fault = (struct script_fault) {quote, start};
            return false;
        }
        vec_push(&words->words, str_take(&word));
    }
}

/* ---- directives ---- */

static const char directive[] = "#SBATCH", old_directive[] = "#SLURM";

/* The option text of a directive line, or NULL. */
static const char *directive_text(const char *line, size_t length, bool *obsolete) {
    size_t n = sizeof(directive) - 1;
    if (length >= n && memcmp(line, directive, n) == 0)
        return line + n;
    n = sizeof(old_directive) - 1;
    if (length >= n && memcmp(line, old_directive, n) == 0 && (length == n || is_blank(line[n]))) {
        *obsolete = true;
        return line + n;
    }
    return NULL;
}

/* The first character that counts is not '#': the first command. */
static bool is_command(const char *line, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (!is_blank(line[i]))
            return line[i] != '#';
    return false;
}

static bool is_separator(struct script_words *words, const struct script_line *line) {
    if (line->n != 1)
        return false;
    const char *word = words->words.items[line->first];
    bool old = str_equal(word, "packjob");
    words->packjob = words->packjob || old;
    return old || str_equal(word, "hetjob");
}

int script_scan(struct bytes script, const char *name, struct script_words *words,
                struct error *err) {
    const char *text = (const char *) script.data;
    unsigned number = 0;
    words->n_components = 1;
    for (size_t at = 0; at < script.size;) {
        const char *line = text + at;
        const char *newline = memchr(line, '\n', script.size - at);
        size_t length = newline ? (size_t) (newline - line) : script.size - at;
        at += length + 1;
        number++;
        if (is_command(line, length))
            break;
        const char *options = directive_text(line, length, &words->obsolete);
        if (!options)
            continue;
        size_t size = (size_t) (line + length - options);
        struct script_fault fault;
        struct script_line found = {
            .number = number, .first = words->words.n, .component = words->n_components - 1};
        if (!script_split(options, size, words, &fault))
            return error_set(err, ERR_INVALID, "%s: line %u: Unmatched `%c` in [%.*s]", name,
                             number, fault.quote, (int) min_of(size - fault.rest, (size_t) 400),
                             options + fault.rest);
        found.n = words->words.n - found.first;
        if (is_separator(words, &found)) {
            words->n_components++;
            free(words->words.items[--words->words.n]);
        } else if (found.n)
            vec_push(&words->lines, found);
    }
    return 0;
}

void script_wrap(const char *command, struct str *out) {
    str_append(out, "#!/bin/sh\n# Made by sbatch from its option --wrap.\n\n");
    str_append(out, command);
    str_append_char(out, '\n');
}
