/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The --multi-prog file: `RANKS PROGRAM ARGS…` a line, RANKS a list as "0,4-6" or "*" for those
 * that no line before names; in arguments %t is the rank and %o its place in the list of ranks.
 * `#` in the first column begins a comment, a backslash at the end continues the line.
 */
#include <string.h>

#include "slurmstepd/stepd.h"
#include "text/idset.h"

/* Takes the next word off *at; quotes group, a backslash takes the next character as it is. NULL at
 * the end of the line. */
static char *next_word(const char **at, const char *end, uint32_t rank, uint64_t offset,
                       struct str *word) {
    char quote = '\0';

    str_reset(word);
    while (*at < end && (**at == ' ' || **at == '\t'))
        ++*at;
    if (*at == end)
        return NULL;
    for (; *at < end; ++*at) {
        char c = **at;
        if (quote ? c == quote : c == '"' || c == '\'') {
            quote = quote ? '\0' : c;
        } else if (!quote && (c == ' ' || c == '\t')) {
            break;
        } else if (c == '\\' && *at + 1 < end) {
            str_append_char(word, *++*at);
        } else if (c == '%' && *at + 1 < end && ((*at)[1] == 't' || (*at)[1] == 'o')) {
            str_append_u64(word, *++*at && **at == 't' ? rank : offset);
        } else {
            str_append_char(word, c);
        }
    }
    str_append(word, "");
    return word->data;
}

/* Whether the line's ranks hold `rank`, and at which place. */
static bool ranks_match(const char *ranks, uint32_t rank, uint64_t *ret_offset) {
    cleanup_idset struct idset set = IDSET_INIT;
    uint32_t id = 0;

    if (str_equal(ranks, "*")) {
        *ret_offset = rank;
        return true;
    }
    if (idset_parse(&set, ranks, UINT32_MAX - 2, NULL, NULL) < 0 || !idset_contains(&set, rank))
        return false;
    *ret_offset = 0;
    for (bool more = idset_next(&set, 0, &id); more && id < rank;
         more = idset_next(&set, id + 1, &id))
        ++*ret_offset;
    return true;
}

static char **line_command(const char *at, const char *end, uint32_t rank, uint64_t offset,
                           struct arena *arena) {
    cleanup_str struct str word = STR_INIT;
    vec(char *) words = {0};
    char **argv;

    while (next_word(&at, end, rank, offset, &word))
        vec_push(&words, arena_strndup(arena, str_cstr(&word), word.length));
    argv = arena_alloc(arena, (words.n + 1) * sizeof(*argv));
    if (words.n > 0)
        memcpy(argv, words.items, words.n * sizeof(*argv));
    vec_done(&words);
    return argv;
}

int multi_prog_command(const char *text, size_t size, uint32_t rank, struct arena *arena,
                       char ***ret_argv, struct error *err) {
    cleanup_str struct str joined = STR_INIT, word = STR_INIT;
    const char *at, *end;
    uint64_t offset;

    for (size_t i = 0; i < size; i++) { /* continued lines become one */
        if (text[i] == '\\' && i + 1 < size && text[i + 1] == '\n')
            i++;
        else
            str_append_char(&joined, text[i]);
    }
    at = str_cstr(&joined);
    end = at + joined.length;
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t) (end - at));
        if (!line_end)
            line_end = end;
        const char *cursor = at;
        if (*at != '#' && next_word(&cursor, line_end, 0, 0, &word) &&
            ranks_match(word.data, rank, &offset)) {
            char **argv = line_command(cursor, line_end, rank, offset, arena);
            if (argv[0]) {
                *ret_argv = argv;
                return 0;
            }
        }
        at = line_end + 1;
    }
    return error_set(err, ERR_NOT_FOUND, "No executable program specified for this task");
}
