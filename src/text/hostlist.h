/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host lists: `c[01-03,07],login1` <-> names. Grammar and folding as users know them: several
 * brackets multiply (rightmost fastest), padding follows the low bound, only the last numeric field
 * folds on output, names with a suffix after the digits do not fold.
 */
#ifndef SLUICE_TEXT_HOSTLIST_H
#define SLUICE_TEXT_HOSTLIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"

#define HOSTLIST_MAX_RANGE 65536
#define HOSTLIST_MAX_HOSTS 1000000

struct hostlist {
    char **names; /* owned */
    size_t n, capacity;
};
#define HOSTLIST_INIT                                                                              \
    { NULL, 0, 0 }

void hostlist_done(struct hostlist *list);
#define cleanup_hostlist __attribute__((__cleanup__(hostlist_done)))
/* Appends the names of `text` in order, duplicates kept. On error the list is unchanged and the
 * sentence starts with "Invalid hostlist: <text>". An empty text is an empty list. */
must_check int hostlist_parse(struct hostlist *list, const char *text, struct error *err);
void hostlist_push(struct hostlist *list, const char *name);
/* Drops later duplicates, keeping order. */
void hostlist_unique(struct hostlist *list);
/* Natural order: prefix, then width of the number, then number: c1, c2, c10; c01, c02, c10. */
void hostlist_sort(struct hostlist *list);
/* Appends the folded form in the list's order (sort first for the daemons' form). */
void hostlist_fold(const struct hostlist *list, struct str *out);
/* Natural comparison of two host names, for qsort over names elsewhere. */
int hostname_compare(const char *a, const char *b);

#endif
