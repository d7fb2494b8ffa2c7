/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between two states of the book: as edits, in words, and as rows of its history. */
#ifndef SLUICE_ASSOC_TELL_H
#define SLUICE_ASSOC_TELL_H

#include "assoc/assoc.h"

void assoc_book_copy(const struct assoc_book *book, struct assoc_book *ret);
/* Edits that make the book be as `next`: what goes comes first. Entries that both have keep their
 * numbers, fresh ones get numbers that no entry has. */
void assoc_diff(const struct assoc_book *book, const struct assoc_book *next,
                struct assoc_plan *plan);
/* The same, but all have the numbers that `next` gives them. */
void assoc_diff_numbers(const struct assoc_book *book, const struct assoc_book *next,
                        struct assoc_plan *plan);
/* Whether there is nothing to be told, whatever numbers entries have. */
bool assoc_is_same(const struct assoc_book *book, const struct assoc_book *other);

/* " Changed MaxJobs               for Account grad              5 -> 6", a line for each key. */
void assoc_tell_changes(uint32_t kind, const void *old, const void *next, struct str *out);
/* " Removed Account grad" */
void assoc_tell_removal(uint32_t kind, const void *old, struct str *out);

/* An edit as a row of the book's history, for sacctmgr list transactions; texts are appended. `old`
 * is NULL for what comes, `next` for what goes. */
struct assoc_told {
    const char *action; /* "Add Accounts" */
    struct str object;  /* "physics" */
    struct str info;    /* "Description='…' Organization='…'" */
};
void assoc_tell_row(uint32_t kind, const void *old, const void *next, struct assoc_told *ret);
void assoc_told_done(struct assoc_told *told);
/* Does a row of that history meet the conditions? */
bool acct_change_passes(const struct change_query *query, const struct acct_transaction *change);

/* Does an outage meet the conditions? */
bool acct_outage_passes(const struct event_query *query, const struct acct_outage *outage);

#endif
