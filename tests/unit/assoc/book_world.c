/* SPDX-License-Identifier: Apache-2.0 */
#include "book_world.h"

#include <string.h>

#include "base/arena.h"
#include "change_line.h"

void book_begin(struct book_world *world) {
    memset(world, 0, sizeof(*world));
    assoc_book_init(&world->book, "tux");
    world->user = "root";
}

void book_end(struct book_world *world) {
    assoc_book_done(&world->book);
    str_done(&world->text);
}

static void on_edit(void *context, uint32_t kind, const void *old, const void *next) {
    struct book_world *world = context;
    assert_true(old != NULL || next != NULL);
    assert_non_null(assoc_record(kind));
    *(next != NULL ? &world->n_put : &world->n_removed) += 1;
}

int book_run(struct book_world *world, const char *line) {
    struct assoc_asker asker = {world->user, str_equal(world->user, "root")};
    struct assoc_change change;
    struct assoc_plan plan;
    struct error err = ERROR_INIT;
    struct arena arena;
    arena_init(&arena, 0);
    change_line_read(line, &arena, &change);
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
