/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host lists. A word is literal text and brackets in turn; each bracket holds ranges. A name's
 * "number" is its trailing digits, and its prefix all before them; names fold by their number.
 */
#include "text/hostlist.h"

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"

#define NAME_MAX_BYTES 255 /* a DNS name's limit */
#define BRACKETS_MAX 8     /* in one word */
#define SEPARATORS ", \t\r\n"

void hostlist_done(struct hostlist *list) {
    for (size_t i = 0; i < list->n; i++)
        free(list->names[i]);
    free(list->names);
    *list = (struct hostlist) HOSTLIST_INIT;
}

static void name_append(struct hostlist *list, char *name) {
    if (list->n == list->capacity) {
        list->capacity = vec_grown(list->capacity, list->n + 1);
        list->names = xreallocarray(list->names, list->capacity, sizeof(char *));
    }
    list->names[list->n++] = name;
}

void hostlist_push(struct hostlist *list, const char *name) {
    name_append(list, xstrdup(name));
}

/* ---- parsing ---- */

struct range {
    uint64_t low, high;
    unsigned width;
};
struct segment {
    const char *text; /* literal text before the bracket, or after the last one */
    size_t length;
    size_t first_range, n_ranges; /* 0 ranges: no bracket follows */
};
struct parser {
    const char *text, *at;
    struct error *err;
    struct hostlist *list;
    vec(struct range) ranges;
    vec(struct segment) segments;
    uint64_t n_names; /* of the word being read */
};

/* detail is what is wrong, with the place where it is. */
static int parser_fail(struct parser *parser, const char *detail, const char *at, size_t length) {
    if (length > 64)
        length = 64;
    return error_set(parser->err, ERR_INVALID, "Invalid hostlist: %.256s%s: %s `%.*s'",
                     parser->text, strlen(parser->text) > 256 ? "..." : "", detail, (int) length,
                     at);
}

/* a or a-b, between start and end */
static int range_parse(struct parser *parser, const char *start, const char *end) {
    const char *at = start;
    struct range range = {0};
    bool valid = str_read_u64(&at, &range.low);
    range.width = (unsigned) min_of(at - start, (ptrdiff_t) NAME_MAX_BYTES + 1);
    range.high = range.low;
    if (valid && *at == '-') {
        at++;
        valid = str_read_u64(&at, &range.high);
    }
    if (!valid || at != end || range.high < range.low)
        return parser_fail(parser, "Invalid range:", start, (size_t) (end - start));
    if (range.high - range.low >= HOSTLIST_MAX_RANGE)
        return parser_fail(parser, "Too many hosts in range", start, (size_t) (end - start));
    vec_push(&parser->ranges, range);
    return 0;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The ranges of one bracket, up to and with its ]. */
static int bracket_parse(struct parser *parser, struct segment *segment) {
    const char *open = parser->at++;
    uint64_t n_names = 0;
    segment->first_range = parser->ranges.n;
    for (;;) {
        const char *start = parser->at + strspn(parser->at, " \t\r\n");
        const char *end = start + strcspn(start, ",[]");
        parser->at = end + 1;
        if (*end == '\0' || *end == '[')
            return parser_fail(parser, "a ] is missing after", open, (size_t) (end - open));
        const char *trimmed = end;
        while (trimmed > start && is_blank(trimmed[-1]))
            trimmed--;
        int r = range_parse(parser, start, trimmed);
        if (r < 0)
            return r;
        const struct range *range = &parser->ranges.items[parser->ranges.n - 1];
        n_names += range->high - range->low + 1;
        if (*end == ']')
            break;
    }
    segment->n_ranges = parser->ranges.n - segment->first_range;
    if (__builtin_mul_overflow(parser->n_names, n_names, &parser->n_names) ||
        parser->n_names > HOSTLIST_MAX_HOSTS)
        return parser_fail(parser, "Too many hosts in", open, (size_t) (parser->at - open));
    return 0;
}

/* Reads one word into segments. */
static int word_parse(struct parser *parser) {
    vec_reset(&parser->ranges);
    vec_reset(&parser->segments);
    parser->n_names = 1;
    for (unsigned n_brackets = 0;;) {
        struct segment segment = {.text = parser->at};
        segment.length = strcspn(parser->at, SEPARATORS "[");
        if (n_brackets && memchr(segment.text, ']', segment.length))
            return parser_fail(parser, "a ] without [ in", segment.text, segment.length);
        parser->at += segment.length;
        bool bracket = *parser->at == '[';
        if (bracket && ++n_brackets > BRACKETS_MAX)
            return parser_fail(parser, "too many brackets at", parser->at, strlen(parser->at));
        if (bracket) {
            int r = bracket_parse(parser, &segment);
            if (r < 0)
                return r;
        }
        vec_push(&parser->segments, segment);
        if (!bracket)
            return 0;
    }
}

struct name {
    char text[NAME_MAX_BYTES + 1];
    size_t length;
};

static bool name_add(struct name *name, const char *text, size_t length) {
    if (length > NAME_MAX_BYTES - name->length)
        return false;
    memcpy(name->text + name->length, text, length);
    name->length += length;
    return true;
}

static bool name_add_number(struct name *name, uint64_t number, unsigned width) {
    char digits[NAME_MAX_BYTES];
    size_t at = sizeof(digits);
    do {
        digits[--at] = (char) ('0' + number % 10);
        number /= 10;
    } while (number);
    if (width > sizeof(digits))
        return false;
    while (sizeof(digits) - at < width)
        digits[--at] = '0';
    return name_add(name, digits + at, sizeof(digits) - at);
}

/* Appends all names that begin with `name` and go on with the segments from `i`: at most
 * BRACKETS_MAX levels deep. */
static bool segments_expand(struct parser *parser, size_t i, struct name *name) {
    const struct segment *segment = &parser->segments.items[i];
    size_t before = name->length;
    if (!name_add(name, segment->text, segment->length))
        return false;
    if (segment->n_ranges == 0) {
        name_append(parser->list, xstrndup(name->text, name->length));
        name->length = before;
        return true;
    }
    size_t stem = name->length;
    for (size_t j = 0; j < segment->n_ranges; j++) {
        const struct range *range = &parser->ranges.items[segment->first_range + j];
        for (uint64_t k = 0; k <= range->high - range->low; k++) {
            name->length = stem;
            if (!name_add_number(name, range->low + k, range->width) ||
                !segments_expand(parser, i + 1, name))
                return false;
        }
    }
    name->length = before;
    return true;
}

static int words_parse(struct parser *parser) {
    for (;;) {
        parser->at += strspn(parser->at, SEPARATORS);
        if (!*parser->at)
            return 0;
        const char *word = parser->at;
        int r = word_parse(parser);
        if (r < 0)
            return r;
        size_t length = (size_t) (parser->at - word);
        if (parser->n_names >
            HOSTLIST_MAX_HOSTS - min_of(parser->list->n, (size_t) HOSTLIST_MAX_HOSTS))
            return parser_fail(parser, "Too many hosts at", word, length);
        struct name name = {.length = 0};
        if (!segments_expand(parser, 0, &name))
            return parser_fail(parser, "the name is too long:", word, length);
    }
}

int hostlist_parse(struct hostlist *list, const char *text, struct error *err) {
    size_t n_before = list->n;
    struct parser parser = {.text = text, .at = text, .err = err, .list = list};
    int r = words_parse(&parser);
    vec_done(&parser.ranges);
    vec_done(&parser.segments);
    while (r < 0 && list->n > n_before)
        free(list->names[--list->n]);
    return r;
}

/* ---- names as prefix and number ---- */

struct key {
    char *name;
    size_t prefix_length;
    unsigned width; /* digits of the number; 0 = no number */
    uint64_t number;
};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Trailing digits that no 64-bit number can hold are part of the prefix. */
static struct key key_of(const char *name) {
    size_t length = strlen(name), start = length;
    while (start > 0 && is_digit(name[start - 1]))
        start--;
    struct key key = {.name = (char *) name, .prefix_length = length};
    const char *at = name + start;
    if (start < length && str_read_u64(&at, &key.number)) {
        key.prefix_length = start;
        key.width = (unsigned) (length - start);
    } else {
        key.number = 0;
    }
    return key;
}

static bool prefix_equal(const struct key *a, const struct key *b) {
    return a->prefix_length == b->prefix_length && memcmp(a->name, b->name, a->prefix_length) == 0;
}

static size_t digits_length(const char *at, size_t left) {
    size_t n = 0;
    while (n < left && is_digit(at[n]))
        n++;
    return n;
}

/* Compares the runs of digits at a and b by value; moves both behind them. */
static int digits_compare(const char **a, size_t *n_a, const char **b, size_t *n_b) {
    size_t length_a = digits_length(*a, *n_a), length_b = digits_length(*b, *n_b);
    const char *from_a = *a, *from_b = *b;
    *a += length_a;
    *n_a -= length_a;
    *b += length_b;
    *n_b -= length_b;
    for (; length_a > 1 && *from_a == '0'; length_a--)
        from_a++;
    for (; length_b > 1 && *from_b == '0'; length_b--)
        from_b++;
    if (length_a != length_b)
        return length_a < length_b ? -1 : 1;
    return memcmp(from_a, from_b, length_a);
}

static int prefix_compare(const struct key *left, const struct key *right) {
    const char *a = left->name, *b = right->name;
    size_t n_a = left->prefix_length, n_b = right->prefix_length;
    while (n_a && n_b) {
        if (is_digit(*a) && is_digit(*b)) {
            int order = digits_compare(&a, &n_a, &b, &n_b);
            if (order)
                return order;
            continue;
        }
        if (*a != *b)
            return (unsigned char) *a < (unsigned char) *b ? -1 : 1;
        a++, b++, n_a--, n_b--;
    }
    if (n_a || n_b)
        return n_a ? 1 : -1;
    /* Equal but for leading zeros: any fixed order will do. */
    size_t shorter = min_of(left->prefix_length, right->prefix_length);
    int order = memcmp(left->name, right->name, shorter);
    if (order || left->prefix_length == right->prefix_length)
        return order;
    return left->prefix_length < right->prefix_length ? -1 : 1;
}

static int key_compare(const void *left, const void *right) {
    const struct key *a = left, *b = right;
    if (!prefix_equal(a, b)) {
        int order = prefix_compare(a, b);
        if (order)
            return order;
    }
    if (a->width != b->width)
        return a->width < b->width ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

int hostname_compare(const char *a, const char *b) {
    struct key key_a = key_of(a), key_b = key_of(b);
    return key_compare(&key_a, &key_b);
}

void hostlist_sort(struct hostlist *list) {
    if (list->n < 2)
        return;
    struct key *keys = xreallocarray(NULL, list->n, sizeof(*keys));
    bool sorted = true;
    for (size_t i = 0; i < list->n; i++) {
        keys[i] = key_of(list->names[i]);
        sorted = sorted && (i == 0 || key_compare(&keys[i - 1], &keys[i]) <= 0);
    }
    if (!sorted) {
        qsort(keys, list->n, sizeof(*keys), key_compare);
        for (size_t i = 0; i < list->n; i++)
            list->names[i] = keys[i].name;
    }
    free(keys);
}

void hostlist_unique(struct hostlist *list) {
    struct smap seen = SMAP_INIT;
    size_t kept = 0;
    for (size_t i = 0; i < list->n; i++) {
        char *name = list->names[i];
        if (smap_get(&seen, name)) {
            free(name);
            continue;
        }
        smap_put(&seen, name, name);
        list->names[kept++] = name;
    }
    list->n = kept;
    smap_done(&seen);
}

/* ---- folding ---- */

static unsigned digits_needed(uint64_t number) {
    unsigned n = 1;
    for (; number >= 10; number /= 10)
        n++;
    return n;
}

/* True if `next` is what a range beginning with `low` would name after `last`. */
static bool range_goes_on(const struct key *low, const struct key *last, const struct key *next) {
    return last->number != UINT64_MAX && next->number == last->number + 1 &&
           next->number - low->number < HOSTLIST_MAX_RANGE &&
           next->width == max_of(low->width, digits_needed(next->number));
}

/* Prints the ranges of names i..end-1, which share a prefix. */
static void numbers_print(const struct hostlist *list, size_t i, size_t end, struct str *out) {
    for (bool first = true; i < end; first = false) {
        struct key low = key_of(list->names[i]), last = low;
        for (i++; i < end; i++) {
            struct key next = key_of(list->names[i]);
            if (!range_goes_on(&low, &last, &next))
                break;
            last = next;
        }
        if (!first)
            str_append_char(out, ',');
        str_append(out, low.name + low.prefix_length);
        if (last.number != low.number) {
            str_append_char(out, '-');
            str_append(out, last.name + last.prefix_length);
        }
    }
}

void hostlist_fold(const struct hostlist *list, struct str *out) {
    for (size_t i = 0, end; i < list->n; i = end) {
        struct key key = key_of(list->names[i]);
        for (end = i + 1; key.width && end < list->n; end++) {
            struct key next = key_of(list->names[end]);
            if (!next.width || !prefix_equal(&key, &next))
                break;
        }
        if (i > 0)
            str_append_char(out, ',');
        if (end == i + 1) {
            str_append(out, key.name);
            continue;
        }
        str_append_bytes(out, key.name, key.prefix_length);
        str_append_char(out, '[');
        numbers_print(list, i, end, out);
        str_append_char(out, ']');
    }
}
