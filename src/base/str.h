/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing text or byte buffer. `data` is always NUL-terminated after the first append and is
 * NULL only when empty; str_cstr() never returns NULL.
 */
#ifndef SLUICE_BASE_STR_H
#define SLUICE_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

struct str {
    char *data;
    size_t length, capacity;
};
#define STR_INIT                                                                                   \
    { NULL, 0, 0 }

void str_done(struct str *str);
void str_reset(struct str *str); /* length 0, keeps the memory */
void str_reserve(struct str *str, size_t extra);
void str_append(struct str *str, const char *text);
void str_append_bytes(struct str *str, const void *data, size_t size);
void str_append_char(struct str *str, char c);
void str_append_lower(struct str *str, const char *text);
void str_append_fill(struct str *str, char c, size_t count);
void str_printf(struct str *str, const char *fmt, ...) printf_like(2, 3);
void str_vprintf(struct str *str, const char *fmt, va_list args) printf_like(2, 0);
void str_append_u64(struct str *str, uint64_t value); /* decimal, faster than printf */
/* Appends `separator` first unless the buffer is empty. */
void str_join(struct str *str, const char *separator, const char *text);
const char *str_cstr(const struct str *str);
/* What it holds, borrowed until the next change. */
struct bytes str_bytes(const struct str *str);
/* Hands the memory to the caller (free()); never NULL. */
char *str_take(struct str *str);
#define cleanup_str __attribute__((__cleanup__(str_done)))

/* Comparisons that tables use. NULL equals NULL only. */
bool str_equal(const char *a, const char *b);
bool str_equal_nocase(const char *a, const char *b);
void text_lower(char *text); /* in place */
void text_upper(char *text);
bool str_starts(const char *text, const char *prefix);
bool str_starts_nocase(const char *text, const char *prefix);
/* Are the first `length` bytes of `word` a beginning of `name`, of at least `least` letters? In any
 * case. */
bool str_abbreviates(const char *word, size_t length, const char *name, size_t least);
/* True for valid UTF-8 without NUL and control characters other than tab. */
bool str_is_printable_utf8(const char *text);
bool str_is_utf8(const char *text); /* controls, too */
/* Appends as much of a text as `most` bytes hold, in whole characters; a byte that is no UTF-8
 * becomes '?'. */
void str_append_utf8(struct str *str, const char *text, size_t most);
/* Decimal parse of the whole text; false on junk, sign, blank or overflow. */
bool str_to_u64(const char *text, uint64_t *ret_value);
bool str_to_i64(const char *text, int64_t *ret_value);
/* The number that begins at *at, which moves behind its digits; false when there are none, or too
 * many for 64 bits. */
bool str_read_u64(const char **at, uint64_t *ret_value);
/* Levenshtein distance capped at `limit`; used for "did you mean". */
unsigned str_distance(const char *a, const char *b, unsigned limit);
/* The element of `names` nearest to text (case-insensitive), or NULL when nothing is near. */
const char *str_nearest(const char *text, const char *const *names, size_t n_names);
/* Splits in place at any char of `separators`; returns the next non-empty word or NULL. */
char *str_next_word(char **cursor, const char *separators);
/* The same of a list as "12_[1,3],14": what stands in brackets is not cut. */
char *str_next_id(char **cursor, const char *separators);
/* Goes over the words of a text, NULL = none, on a copy of it that lives as long as the loop. */
#define words_each(text, separators, word)                                                         \
    for (struct str_words word##_of                                                                \
         __attribute__((__cleanup__(str_words_done))) = str_words_of(text);                        \
         !word##_of.over; word##_of.over = true)                                                   \
        for (char *word = str_next_word(&word##_of.cursor, separators); word != NULL;              \
             word = str_next_word(&word##_of.cursor, separators))
/* Its state. */
struct str_words {
    char *copy, *cursor;
    bool over;
};
struct str_words str_words_of(const char *text);
void str_words_done(struct str_words *words);
/* Is `word` one of the words of `list`? NULL and "" are in no list, and nothing is in NULL. */
bool str_has_word(const char *list, const char *word, const char *separators);
bool str_has_word_nocase(const char *list, const char *word, const char *separators);
/* Trims blanks at both ends in place; returns the first non-blank. */
char *str_trim(char *text);

#endif
