/* SPDX-License-Identifier: Apache-2.0 */
#include "book_world.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

#define WORDS_MAX 32

void book_begin(struct book_world *world) {
    memset(world, 0, sizeof(*world));
    assoc_book_init(&world->book, "tux");
    world->user = "root";
}

void book_end(struct book_world *world) {
    assoc_book_done(&world->book);
    str_done(&world->text);
}

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
    struct key_value *item = &items[(*n)++];
    assert_true(*n < WORDS_MAX);
    item->key = arena_strndup(arena, word, bare ? 0 : length);
    item->value = arena_strndup(arena, value, strlen(value));
    for (char *c = item->value; *c != '\0'; c++)
        *c = *c == '_' ? ' ' : *c;
}

static void on_edit(void *context, uint32_t kind, const void *old, const void *next) {
    struct book_world *world = context;
    assert_true(old != NULL || next != NULL);
    assert_non_null(assoc_record(kind));
    *(next != NULL ? &world->n_put : &world->n_removed) += 1;
}

int book_run(struct book_world *world, const char *line) {
    static const char *const verbs[] = {"add", "modify", "delete"};
    static const char *const entities[] = {"account", "user", "qos", "cluster", "coordinator"};
    struct key_value where[WORDS_MAX], set[WORDS_MAX];
    struct assoc_change change = {.where = {where, 0}, .set = {set, 0}};
    struct assoc_asker asker = {world->user, str_equal(world->user, "root")};
    struct assoc_plan plan;
    struct error err = ERROR_INIT;
    struct arena arena;
    bool sets = false;
    arena_init(&arena, 0);
    words_each (line, " ", word) {
        if (change.verb == 0) {
            change.verb = index_of(word, verbs, countof(verbs));
            sets = change.verb == ASSOC_VERB_ADD;
        } else if (change.entity == 0) {
            change.entity = index_of(word, entities, countof(entities));
        } else if (str_equal(word, "set")) {
            sets = true;
        } else if (sets) {
            push(set, &change.set.n, word, &arena);
        } else {
            push(where, &change.where.n, word, &arena);
        }
    }
    world->n_put = world->n_removed = 0;
    str_reset(&world->text);
    int r = assoc_plan_change(&world->book, &asker, &change, &plan, &err);
    str_append(&world->text, r < 0 ? err.text : str_cstr(&plan.text));
    bool any = r == 0 && plan.edits.n > 0;
    if (any)
        assoc_apply(&world->book, &plan, on_edit, world);
    assoc_plan_done(&plan);
    arena_done(&arena);
    return r < 0 ? r : any ? 0 : 1;
}

void book_do(struct book_world *world, const char *line) {
    int r = book_run(world, line);
    if (r != 0)
        fail_msg("%s: %d: %s", line, r, str_cstr(&world->text));
}

void book_refuses(struct book_world *world, const char *line, const char *words) {
    size_t n[ASSOC_KINDS];
    for (uint32_t kind = 1; kind < ASSOC_KINDS; kind++)
        n[kind] = world->book.entries[kind].n;
    int r = book_run(world, line);
    if (r >= 0 || strstr(str_cstr(&world->text), words) == NULL)
        fail_msg("%s: %d: %s", line, r, str_cstr(&world->text));
    for (uint32_t kind = 1; kind < ASSOC_KINDS; kind++)
        assert_int_equal(world->book.entries[kind].n, n[kind]);
}

void book_text_is(const struct book_world *world, const char *text) {
    assert_string_equal(str_cstr(&world->text), text);
}
