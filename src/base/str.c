/* SPDX-License-Identifier: Apache-2.0 */
/* Text buffers, and the comparisons and number readers that tables share. */
#include "base/str.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/vec.h"

/* ---- the buffer ---- */

void str_done(struct str *str) {
    free(str->data);
    *str = (struct str) STR_INIT;
}

void str_reset(struct str *str) {
    str->length = 0;
    if (str->data)
        str->data[0] = '\0';
}

void str_reserve(struct str *str, size_t extra) {
    size_t needed; /* with the NUL */
    if (__builtin_add_overflow(str->length + 1, extra, &needed))
        needed = SIZE_MAX; /* fails as out of memory */
    if (needed <= str->capacity)
        return;
    size_t capacity = vec_grown(str->capacity, max_of(needed, (size_t) 32));
    str->data = xreallocarray(str->data, capacity, 1);
    str->capacity = capacity;
    str->data[str->length] = '\0';
}

/* Nearly all appends find room: no call for them. */
static inline void room_make(struct str *str, size_t extra) {
    if (str->capacity - str->length <= extra)
        str_reserve(str, extra);
}

void str_append(struct str *str, const char *text) {
    str_append_bytes(str, text, strlen(text));
}

void str_append_bytes(struct str *str, const void *data, size_t size) {
    room_make(str, size);
    if (size)
        memcpy(str->data + str->length, data, size);
    str->length += size;
    str->data[str->length] = '\0';
}

void text_lower(char *text) {
    for (char *c = text; *c != '\0'; c++)
        *c = (char) tolower((unsigned char) *c);
}

void text_upper(char *text) {
    for (char *c = text; *c != '\0'; c++)
        *c = (char) toupper((unsigned char) *c);
}

void str_append_lower(struct str *str, const char *text) {
    size_t start = str->length;
    str_append(str, text);
    text_lower(str->data + start);
}

void str_append_char(struct str *str, char c) {
    room_make(str, 1);
    str->data[str->length++] = c;
    str->data[str->length] = '\0';
}

void str_append_fill(struct str *str, char c, size_t count) {
    room_make(str, count);
    memset(str->data + str->length, c, count);
    str->length += count;
    str->data[str->length] = '\0';
}

void str_printf(struct str *str, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    str_vprintf(str, fmt, args);
    va_end(args);
}

void str_vprintf(struct str *str, const char *fmt, va_list args) {
    str_reserve(str, 32);
    va_list again;
    va_copy(again, args);
    size_t room = str->capacity - str->length;
    int length = vsnprintf(str->data + str->length, room, fmt, args);
    assert(length >= 0);
    if ((size_t) length >= room) {
        str_reserve(str, (size_t) length);
        vsnprintf(str->data + str->length, (size_t) length + 1, fmt, again);
    }
    va_end(again);
    str->length += (size_t) length;
}

void str_append_u64(struct str *str, uint64_t value) {
    char digits[20];
    size_t at = sizeof(digits);
    do {
        digits[--at] = (char) ('0' + value % 10);
        value /= 10;
    } while (value);
    str_append_bytes(str, digits + at, sizeof(digits) - at);
}

void str_join(struct str *str, const char *separator, const char *text) {
    if (str->length)
        str_append(str, separator);
    str_append(str, text);
}

const char *str_cstr(const struct str *str) {
    return str->data ? str->data : "";
}

struct bytes str_bytes(const struct str *str) {
    return (struct bytes) {(const uint8_t *) str_cstr(str), str->length};
}

char *str_take(struct str *str) {
    char *text = str->data ? str->data : xstrdup("");
    *str = (struct str) STR_INIT;
    return text;
}

/* ---- comparisons ---- */

bool str_equal(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool str_equal_nocase(const char *a, const char *b) {
    return a && b ? strcasecmp(a, b) == 0 : a == b;
}

bool str_starts(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool str_starts_nocase(const char *text, const char *prefix) {
    return strncasecmp(text, prefix, strlen(prefix)) == 0;
}

bool str_abbreviates(const char *word, size_t length, const char *name, size_t least) {
    return length >= least && length <= strlen(name) && strncasecmp(word, name, length) == 0;
}

/* Length of the UTF-8 character at `at`, which is not the end; 0 if there is none. */
static size_t utf8_read(const unsigned char *at, uint32_t *ret_point) {
    *ret_point = at[0];
    if (at[0] < 0x80)
        return 1;
    size_t size = at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (at[0] < 0xc2 || at[0] > 0xf4)
        return 0;
    uint32_t point = at[0] & (0x7fU >> size);
    for (size_t i = 1; i < size; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        point = point << 6 | (at[i] & 0x3fU);
    }
    bool is_surrogate = point >= 0xd800 && point < 0xe000;
    if (point < smallest[size] || point > 0x10ffff || is_surrogate)
        return 0;
    *ret_point = point;
    return size;
}

/* Controls are below space, DEL, and C1. */
static size_t utf8_printable(const unsigned char *at) {
    uint32_t point;
    size_t size = utf8_read(at, &point);
    bool is_control = (point < 0x20 && point != '\t') || (point >= 0x7f && point < 0xa0);
    return is_control ? 0 : size;
}

bool str_is_printable_utf8(const char *text) {
    const unsigned char *at = (const unsigned char *) text;
    while (*at) {
        size_t size = utf8_printable(at);
        if (size == 0)
            return false;
        at += size;
    }
    return true;
}

bool str_is_utf8(const char *text) {
    uint32_t point;
    for (size_t size; *text; text += size)
        if ((size = utf8_read((const unsigned char *) text, &point)) == 0)
            return false;
    return true;
}

void str_append_utf8(struct str *str, const char *text, size_t most) {
    uint32_t point;
    size_t left = most;
    while (*text) {
        size_t size = utf8_read((const unsigned char *) text, &point);
        size_t needs = size ? size : 1;
        if (needs > left)
            return;
        str_append_bytes(str, size ? text : "?", needs);
        text += needs;
        left -= needs;
    }
}

/* ---- numbers ---- */

bool str_read_u64(const char **at, uint64_t *ret_value) {
    const char *start = *at;
    uint64_t value = 0;
    for (; **at >= '0' && **at <= '9'; (*at)++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t) (**at - '0'), &value))
            return false;
    }
    if (*at == start)
        return false;
    *ret_value = value;
    return true;
}

bool str_to_u64(const char *text, uint64_t *ret_value) {
    uint64_t value;
    if (!str_read_u64(&text, &value) || *text)
        return false;
    *ret_value = value;
    return true;
}

bool str_to_i64(const char *text, int64_t *ret_value) {
    bool negative = *text == '-';
    uint64_t magnitude;
    if (!str_to_u64(text + negative, &magnitude))
        return false;
    if (magnitude > (uint64_t) INT64_MAX + negative)
        return false;
    *ret_value = (int64_t) (negative ? -magnitude : magnitude);
    return true;
}

/* ---- "did you mean" ---- */

static unsigned char char_fold(char c, bool fold) {
    return (unsigned char) (fold && c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* Strings longer than this are taken as far apart: no name that we suggest is so long. */
#define DISTANCE_MAX 255

static unsigned distance_capped(const char *a, const char *b, unsigned limit, bool fold) {
    size_t n_a = strlen(a), n_b = strlen(b);
    size_t difference = n_a > n_b ? n_a - n_b : n_b - n_a;
    if (difference >= limit || n_a > DISTANCE_MAX || n_b > DISTANCE_MAX)
        return limit;
    unsigned row[DISTANCE_MAX + 1]; /* row[j]: distance from a's first i chars to b's first j */
    for (size_t j = 0; j <= n_b; j++)
        row[j] = (unsigned) j;
    for (size_t i = 1; i <= n_a; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned) i;
        for (size_t j = 1; j <= n_b; j++) {
            bool same = char_fold(a[i - 1], fold) == char_fold(b[j - 1], fold);
            unsigned replaced = diagonal + !same;
            diagonal = row[j];
            row[j] = min_of(replaced, min_of(row[j], row[j - 1]) + 1);
        }
    }
    return min_of(row[n_b], limit);
}

unsigned str_distance(const char *a, const char *b, unsigned limit) {
    return distance_capped(a, b, limit, false);
}

const char *str_nearest(const char *text, const char *const *names, size_t n_names) {
    /* A third of the letters may be wrong. */
    unsigned best = (unsigned) (min_of(strlen(text), (size_t) DISTANCE_MAX) + 2) / 3 + 1;
    const char *nearest = NULL;
    for (size_t i = 0; i < n_names; i++) {
        unsigned distance = distance_capped(text, names[i], best, true);
        if (distance < best) {
            best = distance;
            nearest = names[i];
        }
    }
    return nearest;
}

/* ---- words ---- */

char *str_next_word(char **cursor, const char *separators) {
    char *word = *cursor + strspn(*cursor, separators);
    if (!*word) {
        *cursor = word;
        return NULL;
    }
    char *end = word + strcspn(word, separators);
    *cursor = end;
    if (*end) {
        *end = '\0';
        *cursor = end + 1;
    }
    return word;
}

char *str_next_id(char **cursor, const char *separators) {
    char *word = *cursor + strspn(*cursor, separators), *end = word;
    int depth = 0;
    if (!*word) {
        *cursor = word;
        return NULL;
    }
    for (; *end && (depth > 0 || !strchr(separators, *end)); end++)
        depth += (*end == '[') - (*end == ']');
    *cursor = end;
    if (*end) {
        *end = '\0';
        *cursor = end + 1;
    }
    return word;
}

struct str_words str_words_of(const char *text) {
    char *copy = xstrdup(text ? text : "");
    return (struct str_words) {copy, copy, false};
}

void str_words_done(struct str_words *words) {
    free(words->copy);
}

static bool has_word(const char *list, const char *word, const char *separators,
                     int (*compare)(const char *, const char *, size_t)) {
    size_t length = word != NULL ? strlen(word) : 0;
    while (list != NULL && length > 0 && *list != '\0') {
        size_t n = strcspn(list, separators);
        if (n == length && compare(list, word, n) == 0)
            return true;
        list += n;
        list += strspn(list, separators);
    }
    return false;
}

bool str_has_word(const char *list, const char *word, const char *separators) {
    return has_word(list, word, separators, strncmp);
}

bool str_has_word_nocase(const char *list, const char *word, const char *separators) {
    return has_word(list, word, separators, strncasecmp);
}

char *str_trim(char *text) {
    static const char blanks[] = " \t\r\n\v\f";
    text += strspn(text, blanks);
    size_t length = strlen(text);
    while (length && strchr(blanks, text[length - 1]))
        length--;
    text[length] = '\0';
    return text;
}
