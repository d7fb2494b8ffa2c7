/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits the text of a configuration file into Key=Value pairs. The text is cut in place:
 * values become NUL-terminated strings inside it, and keys with their length parts of it; the next
 * pair may destroy the key.
 *
 * Grammar: several pairs on a line; blanks around '='; '#' to the end of the line is a comment,
 * "\#" a plain '#'; "double quotes" keep blanks and '#'; a backslash at the end of a line joins the
 * next one (also in a comment); a carriage return at the end of a line is passed over.
 */
#ifndef SLUICE_MODEL_CONF_LEX_H
#define SLUICE_MODEL_CONF_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONF_LINE_MAX (1u << 20) /* bytes of one line with its continuations */

struct conf_lexer {
    char *next, *end;     /* *end is NUL */
    uint32_t line;        /* of `next`, from 1 */
    char *statement;      /* where the current line with its continuations began */
    bool in_statement;    /* a pair of the current line has been handed out */
    bool carriage_return; /* one was seen before a line feed */
    uint32_t carriage_line;
};

enum conf_lexeme {
    CONF_LEX_PAIR,    /* key and value are set */
    CONF_LEX_INCLUDE, /* value is the file */
    CONF_LEX_LINE,    /* the line has ended */
    CONF_LEX_END,     /* the text has ended */
    CONF_LEX_ERROR,   /* value is one sentence, or NULL: the word `key` is no Key=Value */
};
struct conf_pair {
    const char *key; /* not NUL-terminated */
    size_t key_length;
    const char *value; /* NUL-terminated */
    uint32_t line;
};

/* text[length] must be NUL, and no byte before it is. */
void conf_lexer_init(struct conf_lexer *lexer, char *text, size_t length);
enum conf_lexeme conf_lexer_next(struct conf_lexer *lexer, struct conf_pair *ret);
/* Passes over the rest of the current line, continuations included. */
void conf_lexer_skip_line(struct conf_lexer *lexer);

#endif
