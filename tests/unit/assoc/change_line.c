/* SPDX-License-Identifier: Apache-2.0 */
#include "change_line.h"

#include <string.h>

#include "unit.h"

#define WORDS_MAX 32

static uint32_t index_of(const char *word, const char *const *names, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (str_equal(word, names[i]))
            return (uint32_t) i + 1;
    }
    fail_msg("%s is no word of a change", word);
    return 0;
}

static void push(struct key_value *items, uint32_t *n, const char *word, struct arena *arena) {
    size_t length = strcspn(word, "=");
    bool bare = word[length] == '\0';
    const char *value = bare ? word : word + length + 1;
    assert_true(*n < WORDS_MAX);
    struct key_value *item = &items[(*n)++];
    item->key = arena_strndup(arena, word, bare ? 0 : length);
    item->value = arena_strdup(arena, value);
    for (char *c = item->value; *c != '\0'; c++)
        *c = *c == '_' ? ' ' : *c;
}

void change_line_read(const char *line, struct arena *arena, struct assoc_change *ret) {
    static const char *const verbs[] = {"add", "modify", "delete"};
    static const char *const entities[] = {"account", "user", "qos", "cluster", "coordinator"};
    bool sets = false;
    memset(ret, 0, sizeof(*ret));
    ret->where.items = arena_alloc(arena, WORDS_MAX * sizeof(*ret->where.items));
    ret->set.items = arena_alloc(arena, WORDS_MAX * sizeof(*ret->set.items));
    words_each (line, " ", word) {
        if (ret->verb == 0) {
            ret->verb = index_of(word, verbs, countof(verbs));
            sets = ret->verb == ASSOC_VERB_ADD;
        } else if (ret->entity == 0) {
            ret->entity = index_of(word, entities, countof(entities));
        } else if (str_equal(word, "set")) {
            sets = true;
        } else if (sets) {
            push(ret->set.items, &ret->set.n, word, arena);
        } else {
            push(ret->where.items, &ret->where.n, word, arena);
        }
    }
}
