/* SPDX-License-Identifier: Apache-2.0 */
/* Lists as filters: sorted, so that a question takes the logarithm of their length. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/str.h"
#include "schema/schema.h"

static int order(const void *a, const void *b) {
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static int order_nocase(const void *a, const void *b) {
    return strcasecmp(*(const char *const *) a, *(const char *const *) b);
}

static void set_fill(struct strs_set *set, const struct strs *list,
                     int (*compare)(const char *a, const char *b),
                     int (*by)(const void *a, const void *b)) {
    *set = (struct strs_set) {xcalloc(list->n + 1, sizeof(*set->items)), list->n, compare};
    for (uint32_t i = 0; i < list->n; i++)
        set->items[i] = list->items[i] ? list->items[i] : "";
    qsort(set->items, set->n, sizeof(*set->items), by);
}

void strs_set_init(struct strs_set *set, const struct strs *list) {
    set_fill(set, list, strcmp, order);
}

void strs_set_init_nocase(struct strs_set *set, const struct strs *list) {
    set_fill(set, list, strcasecmp, order_nocase);
}

void strs_set_done(struct strs_set *set) {
    free(set->items);
    *set = (struct strs_set) {NULL, 0, NULL};
}

static bool set_has(const struct strs_set *set, const char *text) {
    uint32_t low = 0, high = set->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = set->compare(set->items[middle], text);
        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

bool strs_set_pass(const struct strs_set *set, const char *text) {
    return set->n == 0 || (text && set_has(set, text));
}

bool strs_set_pass_word(const struct strs_set *set, const char *text) {
    if (set->n == 0 || (text && !strchr(text, ',')))
        return strs_set_pass(set, text);
    words_each (text, ",", word) {
        if (set_has(set, word))
            return true;
    }
    return false;
}

static int u32_order(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;
    return x < y ? -1 : x > y;
}

void u32s_set_init(struct u32s *set, const struct u32s *list) {
    set->items = xcalloc(list->n + 1, sizeof(*set->items));
    set->n = list->n;
    if (list->n == 0)
        return;
    memcpy(set->items, list->items, list->n * sizeof(*set->items));
    qsort(set->items, set->n, sizeof(*set->items), u32_order);
}

bool u32s_set_pass(const struct u32s *set, uint32_t value) {
    return set->n == 0 ||
           bsearch(&value, set->items, set->n, sizeof(*set->items), u32_order) != NULL;
}
