/* SPDX-License-Identifier: Apache-2.0 */
/* The grammar of configuration files, one character at a time and without copies. */
#include "model/conf_lex.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

void conf_lexer_init(struct conf_lexer *lexer, char *text, size_t length) {
    assert(text[length] == '\0');
    *lexer = (struct conf_lexer) {.next = text, .end = text + length, .line = 1, .statement = text};
    /* A byte order mark, as editors of other systems leave it. */
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        lexer->next += 3;
}

/* Length of a line end at p ("\n", "\r\n", a last "\r"), or 0. */
static size_t line_end_length(const struct conf_lexer *lexer, const char *p) {
    if (*p == '\n')
        return 1;
    if (*p == '\r' && p[1] == '\n')
        return 2;
    if (*p == '\r' && p + 1 == lexer->end)
        return 1;
    return 0;
}

/* Length of a backslash with the line end behind it, or 0. */
static size_t continuation_length(const struct conf_lexer *lexer, const char *p) {
    if (*p != '\\')
        return 0;
    size_t length = line_end_length(lexer, p + 1);
    return length > 0 ? length + 1 : 0;
}

static void count_line(struct conf_lexer *lexer, const char *line_end) {
    if (*line_end == '\r' && !lexer->carriage_return) {
        lexer->carriage_return = true;
        lexer->carriage_line = lexer->line;
    }
    lexer->line++;
}

/* Goes to the end of the line (not over it). */
static void skip_to_line_end(struct conf_lexer *lexer) {
    while (lexer->next < lexer->end) {
        size_t length = strcspn(lexer->next, "\n\r\\");
        lexer->next += length;
        size_t continuation = continuation_length(lexer, lexer->next);
        if (continuation > 0) {
            count_line(lexer, lexer->next + 1);
            lexer->next += continuation;
        } else if (lexer->next >= lexer->end || line_end_length(lexer, lexer->next) > 0) {
            return;
        } else {
            lexer->next++;
        }
    }
}

/* Passes over blanks, continuations and a comment. */
static void skip_blanks(struct conf_lexer *lexer) {
    for (;;) {
        size_t continuation;
        if (*lexer->next == ' ' || *lexer->next == '\t') {
            lexer->next++;
        } else if (*lexer->next == '#') {
            skip_to_line_end(lexer);
            return;
        } else if ((continuation = continuation_length(lexer, lexer->next)) > 0) {
            count_line(lexer, lexer->next + 1);
            lexer->next += continuation;
        } else {
            return;
        }
    }
}

static enum conf_lexeme fail(struct conf_lexer *lexer, struct conf_pair *ret, const char *text) {
    ret->value = text;
    skip_to_line_end(lexer);
    return CONF_LEX_ERROR;
}

/*
 * Reads the value at lexer->next, squeezing out quotes, the backslash of "\#" and continuations.
 * It is written one byte to the left, over the '=' or blank before it, so that its NUL never falls
 * on a byte that is still to be read. Returns false when a quote is left open.
 */
static bool value_read(struct conf_lexer *lexer, const char **ret_value) {
    char *out = lexer->next - 1;
    bool quoted = false;
    *ret_value = out;
    while (lexer->next < lexer->end && line_end_length(lexer, lexer->next) == 0) {
        char c = *lexer->next;
        size_t continuation = continuation_length(lexer, lexer->next);
        if (continuation > 0) {
            count_line(lexer, lexer->next + 1);
            lexer->next += continuation;
        } else if (c == '"') {
            quoted = !quoted;
            lexer->next++;
        } else if (!quoted && (c == ' ' || c == '\t' || c == '#')) {
            break;
        } else {
            if (c == '\\' && lexer->next[1] == '#')
                lexer->next++;
            *out++ = *lexer->next++;
        }
    }
    *out = '\0';
    return !quoted;
}

static enum conf_lexeme include_read(struct conf_lexer *lexer, struct conf_pair *ret) {
    if (lexer->next >= lexer->end || line_end_length(lexer, lexer->next) > 0)
        return fail(lexer, ret, "Include names no file");
    if (!value_read(lexer, &ret->value))
        return fail(lexer, ret, "a quote (\") is not closed on its line");
    return CONF_LEX_INCLUDE;
}

static bool is_key_char(char c) {
    return strchr("= \t\n\r#\"\\", c) == NULL; /* and not NUL, which strchr finds too */
}

/* A word without '=': it is reported alone, the line goes on behind it. */
static enum conf_lexeme stray_word(struct conf_lexer *lexer, struct conf_pair *ret) {
    char *start = lexer->next;
    if (ret->key_length == 0) { /* '=', a quote or a lone backslash where a key belongs */
        while (lexer->next < lexer->end && strchr(" \t\n\r", *lexer->next) == NULL)
            lexer->next++;
        ret->key = start;
        ret->key_length = (size_t) (lexer->next - start);
        if (ret->key_length == 0)
            lexer->next++; /* a carriage return in the middle of a line */
    }
    ret->value = NULL;
    return CONF_LEX_ERROR;
}

enum conf_lexeme conf_lexer_next(struct conf_lexer *lexer, struct conf_pair *ret) {
    skip_blanks(lexer);
    *ret = (struct conf_pair) {.key = "", .line = lexer->line};
    if (lexer->next >= lexer->end)
        return CONF_LEX_END;
    size_t line_end = line_end_length(lexer, lexer->next);
    if (line_end > 0) {
        count_line(lexer, lexer->next);
        lexer->next += line_end;
        lexer->statement = lexer->next;
        lexer->in_statement = false;
        return CONF_LEX_LINE;
    }
    if ((size_t) (lexer->next - lexer->statement) > CONF_LINE_MAX)
        return fail(lexer, ret, "the line is longer than 1 MiB");
    bool first = !lexer->in_statement;
    lexer->in_statement = true;
    ret->key = lexer->next;
    while (is_key_char(*lexer->next))
        lexer->next++;
    ret->key_length = (size_t) (lexer->next - ret->key);
    skip_blanks(lexer);
    if (first && ret->key_length == 7 && *lexer->next != '=' &&
        strncasecmp(ret->key, "Include", 7) == 0)
        return include_read(lexer, ret);
    if (*lexer->next != '=' || ret->key_length == 0)
        return stray_word(lexer, ret);
    lexer->next++;
    while (*lexer->next == ' ' || *lexer->next == '\t')
        lexer->next++;
    if (!value_read(lexer, &ret->value))
        return fail(lexer, ret, "a quote (\") is not closed on its line");
    return CONF_LEX_PAIR;
}

void conf_lexer_skip_line(struct conf_lexer *lexer) {
    skip_to_line_end(lexer);
}
