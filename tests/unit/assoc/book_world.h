/* SPDX-License-Identifier: Apache-2.0 */
/* A book, and changes of it in sacctmgr's words. */
#ifndef SLUICE_TESTS_ASSOC_BOOK_WORLD_H
#define SLUICE_TESTS_ASSOC_BOOK_WORLD_H

#include "assoc/assoc.h"
#include "unit.h"

struct book_world {
    struct assoc_book book;
    const char *user; /* who asks; "root" may do everything */
    struct str text;  /* of the last change: what was done, or why not */
    size_t n_put, n_removed;
};

void book_begin(struct book_world *world);
void book_end(struct book_world *world);
/* A line as change_line_read() takes, "add qos high priority=10". 0, 1 when there is nothing to do,
 * or the error's code, negative. */
int book_run(struct book_world *world, const char *line);
/* The same, which must do something. */
void book_do(struct book_world *world, const char *line);
/* Must be refused with words that contain `words`. */
void book_refuses(struct book_world *world, const char *line, const char *words);
void book_text_is(const struct book_world *world, const char *text);

#endif
