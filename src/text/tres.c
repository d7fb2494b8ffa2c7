/* SPDX-License-Identifier: Apache-2.0 */
/* GRES requests. Every item of a list is unique by (name, type), compared without case. */
#include "text/tres.h"

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "text/size.h"

/* More parts than any site has kinds of resources; bounds what one option can make us keep. */
#define GRES_ITEMS_MAX 1024
#define GRES_NAME_MAX 256

void gres_list_done(struct gres_list *list) {
    vec_each (list, item) {
        free(item->name);
        free(item->type);
    }
    vec_done(list);
}

static int gres_invalid(struct error *err, const char *text, const char *why) {
    return error_set(err, ERR_INVALID_GRES,
                     "Invalid generic resource \"%.64s\": %s; the form is name[[:type]:count]",
                     text, why);
}

/* Adds to the item of that name and type, or appends one; takes over neither. */
static int gres_add(struct gres_list *list, const char *name, const char *type, uint64_t count,
                    struct error *err) {
    vec_each (list, item) {
        if (!str_equal_nocase(item->name, name) || !str_equal_nocase(item->type, type))
            continue;
        if (__builtin_add_overflow(item->count, count, &item->count))
            return error_set(err, ERR_INVALID_GRES, "The counts of %.64s add up to too many", name);
        return 0;
    }
    if (list->n == GRES_ITEMS_MAX)
        return error_set(err, ERR_INVALID_GRES, "More than %d kinds of generic resources",
                         GRES_ITEMS_MAX);
    struct gres_item item = {xstrdup(name), xstrdup_null(type), count};
    vec_push(list, item);
    return 0;
}

static bool word_is_name(const char *word) {
    size_t length = strlen(word);
    return length > 0 && length <= GRES_NAME_MAX && strpbrk(word, " \t\r\n\v\f\"'") == NULL &&
           str_is_printable_utf8(word);
}

/* The last word of an item: a count if it reads as one, else a type ("1g.5gb" is a type). */
static int gres_tail(char *word, char **ret_type, uint64_t *ret_count, const char *whole,
                     struct error *err) {
    if (count_parse(word, ret_count, NULL) == 0)
        return 0;
    bool is_number = word[strspn(word, "+-.0123456789")] == '\0';
    if (*ret_type || is_number || !word_is_name(word))
        return gres_invalid(err, whole, "the count is not a whole number");
    *ret_type = word;
    return 0;
}

/* Splits at ':' and before the count at '='; returns the number of words or an error. */
static int words_split(char *text, char *words[3], const char *whole, struct error *err) {
    int n = 0;
    uint64_t ignored;
    for (char *at = text; at; n++) {
        if (n == 3)
            return gres_invalid(err, whole, "it has too many parts");
        words[n] = at;
        at = strpbrk(at, ":=");
        if (at && *at == '=' && count_parse(at + 1, &ignored, NULL) < 0)
            return gres_invalid(err, whole, "the count is not a whole number");
        if (at)
            *at++ = '\0';
    }
    return n;
}

/* `head`: NULL = the first word is the name, else the name, and all words are [type:]count. */
static int gres_item_parse(struct gres_list *list, char *text, const char *head,
                           struct error *err) {
    cleanup_free char *whole = xstrdup(text);
    char *words[3], *type = NULL;
    uint64_t count = 1;
    int n = words_split(text, words, whole, err);
    if (n < 0)
        return n;
    int first = head ? 0 : 1;
    const char *name = head ? head : words[0];
    if (!word_is_name(name))
        return gres_invalid(err, whole, "the name is missing or has odd characters");
    if (n - first > 2)
        return gres_invalid(err, whole, "it has too many parts");
    if (n - first == 2) {
        type = words[first];
        if (!word_is_name(type))
            return gres_invalid(err, whole, "the type is missing or has odd characters");
    }
    if (n > first) {
        int r = gres_tail(words[n - 1], &type, &count, whole, err);
        if (r < 0)
            return r;
    }
    return gres_add(list, name, type, count, err);
}

/* Works on a copy of the list, so that a failure changes nothing. */
static int items_parse(const char *text, const char *head, struct gres_list *list,
                       struct error *err) {
    cleanup_gres_list struct gres_list parsed = GRES_LIST_INIT;
    vec_each (list, item) {
        struct gres_item same = {xstrdup(item->name), xstrdup_null(item->type), item->count};
        vec_push(&parsed, same);
    }
    cleanup_free char *copy = xstrdup(text);
    for (char *item = copy, *next; item; item = next) {
        next = strchr(item, ',');
        if (next)
            *next++ = '\0';
        if (!head && (str_starts_nocase(item, "gres:") || str_starts_nocase(item, "gres/")))
            item += strlen("gres:");
        int r = gres_item_parse(&parsed, item, head, err);
        if (r < 0)
            return r;
    }
    struct gres_list old = *list;
    *list = parsed;
    parsed = old;
    return 0;
}

int gres_parse(const char *text, struct gres_list *list, struct error *err) {
    if (!*text || str_equal_nocase(text, "none"))
        return 0;
    return items_parse(text, NULL, list, err);
}

bool gres_is_share(const char *name) {
    return str_equal_nocase(name, "shard") || str_equal_nocase(name, "mps");
}

int gpus_parse(const char *text, struct gres_list *list, struct error *err) {
    if (!*text || str_equal_nocase(text, "none"))
        return 0;
    return items_parse(text, "gpu", list, err);
}

static int license_parse(char *item, struct gres_list *list, struct error *err) {
    char *colon = strpbrk(item, ":=*");
    uint64_t count = 1;
    if (colon) {
        *colon = '\0';
        if (!str_to_u64(colon + 1, &count) || count > UINT32_MAX)
            return error_set(err, ERR_INVALID_LICENSE,
                             "license %.64s: \"%.64s\" is not a number; the form is name[:count]",
                             item, colon + 1);
    }
    if (!*item)
        return error_set(err, ERR_INVALID_LICENSE,
                         "a license has no name; the form is name[:count]");
    for (size_t i = 0; i < list->n; i++) {
        if (str_equal(list->items[i].name, item)) {
            list->items[i].count += count;
            return 0;
        }
    }
    struct gres_item license = {xstrdup(item), NULL, count};
    vec_push(list, license);
    return 0;
}

int licenses_parse(const char *text, struct gres_list *list, struct error *err) {
    struct gres_list parsed cleanup_gres_list = GRES_LIST_INIT;
    cleanup_free char *copy = xstrdup(text);
    char *cursor = copy;
    if (strchr(text, '|'))
        return error_set(err, ERR_INVALID_LICENSE,
                         "alternatives (|) between licenses are not supported yet");
    for (char *item; (item = str_next_word(&cursor, ",; ")) != NULL;) {
        int r = license_parse(item, &parsed, err);
        if (r < 0)
            return r;
    }
    struct gres_list old = *list;
    *list = parsed;
    parsed = old;
    return 0;
}

static int tres_item_parse(struct gres_list *list, char *item, struct error *err) {
    char *equals = strchr(item, '=');
    uint64_t count;
    if (!equals || equals == item)
        return error_set(err, ERR_INVALID_GRES, "\"%.64s\" is not NAME=COUNT, as in cpu=4,mem=8G",
                         item);
    *equals = '\0';
    int r = str_equal_nocase(item, "mem") ? mem_read(equals + 1, &count, err)
                                          : count_parse(equals + 1, &count, err);
    if (r < 0)
        return r;
    char *colon = strchr(item, ':');
    if (colon)
        *colon++ = '\0';
    text_lower(item);
    return gres_add(list, item, colon, count, err);
}

int tres_parse(const char *text, struct gres_list *list, struct error *err) {
    struct gres_list parsed cleanup_gres_list = GRES_LIST_INIT;
    cleanup_free char *copy = xstrdup(text);
    char *cursor = copy;
    for (char *item; (item = str_next_word(&cursor, ",")) != NULL;) {
        int r = tres_item_parse(&parsed, item, err);
        if (r < 0)
            return r;
    }
    struct gres_list old = *list;
    *list = parsed;
    parsed = old;
    return 0;
}

uint64_t gres_list_count(const struct gres_list *list, const char *name, const char *type) {
    vec_each (list, item) {
        if (str_equal_nocase(item->name, name) && str_equal_nocase(item->type, type))
            return item->count;
    }
    return 0;
}

uint64_t gres_list_sum(const struct gres_list *list, const char *name) {
    uint64_t sum = 0;
    vec_each (list, item)
        sum += str_equal_nocase(item->name, name) ? item->count : 0;
    return sum;
}

const char *const tres_standard[TRES_STANDARD] = {"cpu",     "mem",     "energy", "node",
                                                  "billing", "fs/disk", "vmem",   "pages"};

unsigned tres_standard_id(const char *name, size_t length) {
    for (unsigned i = 0; i < TRES_STANDARD; i++) {
        if (strlen(tres_standard[i]) == length && strncmp(tres_standard[i], name, length) == 0)
            return i + 1;
    }
    return 0;
}

void gres_print(const struct gres_list *list, const char *prefix, char separator, struct str *out) {
    vec_each (list, item) {
        if (item != list->items)
            str_append_char(out, ',');
        str_append(out, prefix);
        str_append(out, item->name);
        if (item->type) {
            str_append_char(out, ':');
            str_append(out, item->type);
        }
        str_append_char(out, separator);
        str_append_u64(out, item->count);
    }
}

/* ---- what has been given ---- */

void gres_given_done(struct gres_given *given) {
    free(given->item.name);
    free(given->item.type);
    idset_done(&given->ids);
}

bool gres_given_next(const char **at, struct gres_given *ret) {
    if (*at == NULL || **at == '\0')
        return false;
    size_t length = strcspn(*at, ",(");
    const char *open = *at + length, *end = open, *ids = "";
    if (str_starts(open, "(IDX:")) {
        ids = open + strlen("(IDX:");
        end = strchr(ids, ')');
        if (end == NULL)
            return false;
        end++;
    }
    cleanup_free char *head = xstrndup(*at, length);
    cleanup_free char *text = xstrndup(ids, end > ids ? (size_t) (end - ids) - 1 : 0);
    struct gres_list list cleanup_gres_list = GRES_LIST_INIT;
    *ret = (struct gres_given) {.ids = IDSET_INIT};
    if ((*end != '\0' && *end != ',') || gres_parse(head, &list, NULL) < 0 || list.n != 1 ||
        (text[0] != '\0' && idset_parse(&ret->ids, text, UINT32_MAX - 2, NULL, NULL) < 0))
        return false;
    ret->item = list.items[0];
    list.n = 0; /* taken over */
    *at = *end == ',' ? end + 1 : end;
    return true;
}
