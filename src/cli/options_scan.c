/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Syntax of option words, exactly as GNU getopt_long reads them and complains about them: unique
 * abbreviations, --name=value and --name value, bundled letters, values glued to a letter, optional
 * values only when glued, `--`. Written here because libc's prints by itself and keeps globals.
 */
#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/options.h"

/* A row under one of its names. */
struct candidate {
    const char *name;
    const struct option_row *row;
};

static const struct option_row *row_by_id(const struct option_set *set, uint16_t id) {
    for (size_t i = 0; i < set->n_rows; i++)
        if (set->rows[i].id == id)
            return &set->rows[i];
    return NULL;
}

static bool name_starts(const char *name, const char *text, size_t length) {
    return strncmp(name, text, length) == 0;
}

/* All names that begin with text; an exact one alone. Returns their number (at most max kept). */
static size_t find_names(const struct option_set *set, const char *text, size_t length,
                         struct candidate *found, size_t max) {
    size_t n = 0;
    for (size_t i = 0; i < set->n_rows + set->n_aliases; i++) {
        struct candidate each;
        if (i < set->n_rows) {
            each = (struct candidate) {set->rows[i].name, &set->rows[i]};
            if (!(each.row->commands & set->command))
                continue;
        } else {
            const struct option_alias *alias = &set->aliases[i - set->n_rows];
            if (!(alias->commands & set->command))
                continue;
            each = (struct candidate) {alias->name, row_by_id(set, alias->id)};
            assert(each.row);
        }
        if (!name_starts(each.name, text, length))
            continue;
        if (each.name[length] == '\0') {
            found[0] = each;
            return 1;
        }
        if (n < max)
            found[n] = each;
        n++;
    }
    return min_of(n, max);
}

static int candidate_compare(const void *a, const void *b) {
    return strcmp(((const struct candidate *) a)->name, ((const struct candidate *) b)->name);
}

static bool all_one_row(const struct candidate *found, size_t n) {
    for (size_t i = 1; i < n; i++)
        if (found[i].row != found[0].row)
            return false;
    return true;
}

static bool complain_ambiguous(const struct option_set *set, const char *word,
                               struct candidate *found, size_t n, struct str *complaint) {
    qsort(found, n, sizeof(*found), candidate_compare);
    str_printf(complaint, "%s: option '%s' is ambiguous; possibilities:", set->program, word);
    for (size_t i = 0; i < n; i++)
        str_printf(complaint, " '--%s'", found[i].name);
    return false;
}

/* `word` begins with "--". *at is the index of the word after it; a value in a word of its own
 * moves it on. */
static bool scan_long(const struct option_set *set, char *const *words, size_t n_words, size_t *at,
                      const char *word, struct option_uses *uses, struct str *complaint) {
    const char *name = word + 2, *value = strchr(name, '=');
    size_t length = value ? (size_t) (value - name) : strlen(name);
    struct candidate found[64];
    size_t n = find_names(set, name, length, found, countof(found));
    if (n == 0) {
        str_printf(complaint, "%s: unrecognized option '%s'", set->program, word);
        return false;
    }
    if (!all_one_row(found, n))
        return complain_ambiguous(set, word, found, n, complaint);
    const struct option_row *row = found[0].row;
    if (value && row->argument == OPTION_NO) {
        str_printf(complaint, "%s: option '--%s' doesn't allow an argument", set->program,
                   found[0].name);
        return false;
    }
    if (value)
        value++;
    else if (row->argument == OPTION_REQUIRED) {
        if (*at == n_words) {
            str_printf(complaint, "%s: option '--%s' requires an argument", set->program,
                       found[0].name);
            return false;
        }
        value = words[(*at)++];
    }
    vec_push(&uses->options, ((struct option_use) {row, value}));
    return true;
}

static const struct option_row *row_by_letter(const struct option_set *set, char letter) {
    for (size_t i = 0; i < set->n_rows; i++)
        if (set->rows[i].letter == letter && (set->rows[i].commands & set->command))
            return &set->rows[i];
    return NULL;
}

/* `word` is "-abc" or "-avalue". */
static bool scan_letters(const struct option_set *set, char *const *words, size_t n_words,
                         size_t *at, const char *word, struct option_uses *uses,
                         struct str *complaint) {
    for (const char *p = word + 1; *p; p++) {
        const struct option_row *row = row_by_letter(set, *p);
        if (!row) {
            str_printf(complaint, "%s: invalid option -- '%c'", set->program, *p);
            return false;
        }
        const char *value = NULL;
        if (row->argument != OPTION_NO && p[1])
            value = p + 1;
        else if (row->argument == OPTION_REQUIRED) {
            if (*at == n_words) {
                str_printf(complaint, "%s: option requires an argument -- '%c'", set->program, *p);
                return false;
            }
            value = words[(*at)++];
        }
        vec_push(&uses->options, ((struct option_use) {row, value}));
        if (row->argument != OPTION_NO)
            break;
    }
    return true;
}

bool option_scan(const struct option_set *set, char *const *words, size_t n_words,
                 enum option_order order, struct option_uses *uses, struct str *complaint) {
    size_t at = 0;
    while (at < n_words) {
        char *word = words[at];
        if (word[0] != '-' || word[1] == '\0') {
            if (order == OPTION_STOP)
                break;
            vec_push(&uses->rest, word);
            at++;
            continue;
        }
        at++;
        if (strcmp(word, "--") == 0)
            break;
        bool ok = word[1] == '-' ? scan_long(set, words, n_words, &at, word, uses, complaint)
                                 : scan_letters(set, words, n_words, &at, word, uses, complaint);
        if (!ok)
            return false;
    }
    for (; at < n_words; at++)
        vec_push(&uses->rest, words[at]);
    return true;
}

void option_uses_done(struct option_uses *uses) {
    vec_done(&uses->options);
    vec_done(&uses->rest);
}
