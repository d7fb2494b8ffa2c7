/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of TRES; see tres_list.h. */
#include "assoc/tres_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "schema/schema.h"
#include "text/size.h"
#include "text/tres.h"

/* Where an item stands in a list: the standard ones by their numbers, then the others by name. */
static unsigned item_rank(const char *item) {
    unsigned id = tres_standard_id(item, strcspn(item, "="));
    return id != 0 ? id : TRES_ID_OTHER;
}

static int item_order(const void *a, const void *b) {
    const char *x = *(const char *const *) a, *y = *(const char *const *) b;
    unsigned rank_x = item_rank(x), rank_y = item_rank(y);
    return rank_x != rank_y ? (rank_x < rank_y ? -1 : 1) : strcmp(x, y);
}

static bool is_known(const char *name) {
    return tres_standard_id(name, strlen(name)) != 0 ||
           (str_starts(name, "gres/") && name[5] != '\0') ||
           (str_starts(name, "license/") && name[8] != '\0');
}

static int refuse_name(const char *name, const char *key, struct error *err) {
    struct str names cleanup_str = STR_INIT;
    for (size_t i = 0; i < TRES_STANDARD; i++)
        str_join(&names, ", ", tres_standard[i]);
    return error_set(err, ERR_INVALID,
                     "%s: no TRES known by type %s: there are %s, gres/NAME[:TYPE] and "
                     "license/NAME",
                     key, name, str_cstr(&names));
}

static int value_read(const char *name, const char *text, bool has_memory, const char *key,
                      uint64_t *ret, struct error *err) {
    struct error why = ERROR_INIT;
    bool is_memory = has_memory && str_equal(name, "mem");
    int r = is_memory ? mem_parse(text, ret, &why) : count_parse(text, ret, &why);
    if (r < 0)
        return error_set(err, ERR_INVALID, "Invalid value for %s (%s=%s): %s", key, name, text,
                         why.text);
    return 0;
}

/* Takes the item of this name out of a list. */
static void items_drop(struct strs *items, const char *name) {
    size_t length = strlen(name);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < items->n; i++) {
        if (strncmp(items->items[i], name, length) == 0 && items->items[i][length] == '=')
            free(items->items[i]);
        else
            items->items[kept++] = items->items[i];
    }
    items->n = kept;
}

static int item_change(struct strs *items, char *word, bool has_memory, const char *key,
                       struct error *err) {
    char *equals = strchr(word, '=');
    uint64_t value = 0;
    if (equals == NULL || equals == word || equals[1] == '\0')
        return error_set(err, ERR_INVALID, "%s: %s: TRES=NUMBER is meant, \"cpu=10,mem=4G\"", key,
                         word);
    *equals = '\0';
    text_lower(word);
    if (!is_known(word))
        return refuse_name(word, key, err);
    bool drop = str_equal(equals + 1, "-1");
    int r = drop ? 0 : value_read(word, equals + 1, has_memory, key, &value, err);
    if (r < 0)
        return r;
    items_drop(items, word);
    if (drop)
        return 0;
    cleanup_free char *item = xasprintf("%s=%llu", word, (unsigned long long) value);
    strs_push(items, item);
    return 0;
}

static void items_join(struct strs *items, struct str *out) {
    if (items->n > 1)
        qsort(items->items, items->n, sizeof(*items->items), item_order);
    for (uint32_t i = 0; i < items->n; i++)
        str_join(out, ",", items->items[i]);
}

int tres_list_change(char **list, const char *value, bool has_memory, const char *key,
                     struct error *err) {
    struct strs items cleanup_strs = {NULL, 0};
    struct str text cleanup_str = STR_INIT;
    int r = 0;
    if (value[0] != '\0') {
        words_each (*list, ",", old)
            strs_push(&items, old);
    }
    words_each (value, ",", word) {
        if (r == 0)
            r = item_change(&items, word, has_memory, key, err);
    }
    if (r < 0)
        return r;
    items_join(&items, &text);
    string_set(list, text.length > 0 ? text.data : NULL);
    return 0;
}

static void list_print(const char *list, bool in_file, struct str *out) {
    const char *between = "";
    words_each (list, ",", item) {
        uint64_t mib;
        str_append(out, between);
        between = ",";
        if (!str_starts(item, "mem=") || !str_to_u64(item + 4, &mib)) {
            str_append(out, item);
            continue;
        }
        struct str memory cleanup_str = STR_INIT;
        mem_print(mib, true, &memory);
        str_append(out, "mem=");
        if (in_file && strchr(memory.data, '.') != NULL)
            mem_print(mib, false, out);
        else
            str_append(out, memory.data);
    }
}

void tres_list_print(const char *list, struct str *out) {
    list_print(list, false, out);
}

void tres_list_write(const char *list, struct str *out) {
    list_print(list, true, out);
}
