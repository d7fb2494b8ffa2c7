/* SPDX-License-Identifier: Apache-2.0 */
/* The book in order: what belongs to which account, and what somebody may see of it as a list. */
#ifndef SLUICE_ASSOC_LIST_H
#define SLUICE_ASSOC_LIST_H

#include "assoc/assoc.h"
#include "base/arena.h"

/* All associations by the account that they belong to (users to their account, accounts to the one
 * above), users before accounts, then by name. Borrows from the book. */
struct assoc_tree {
    const struct assoc **sorted;
    size_t n;
};
void assoc_tree_init(struct assoc_tree *tree, const struct assoc_book *book);
void assoc_tree_done(struct assoc_tree *tree);
/* Those that belong to an account: sorted[*ret_first] up to and without the returned place. */
size_t assoc_tree_below(const struct assoc_tree *tree, const char *account, size_t *ret_first);

/* An account, its users, then the accounts below it, from root on. `ret` has room for all; returns
 * how many. */
size_t assoc_tree_walk(const struct assoc_book *book, const struct assoc **ret);

/* Under PrivateData, if that is set; name NULL: the account's own. */
bool assoc_may_see(const struct assoc_book *book, const struct assoc_asker *asker, bool is_private,
                   const char *name, const char *account);
/* What somebody may see; records are borrowed from the book, their arrays live in the arena. With
 * `is_private` (PrivateData) one sees oneself, and what one coordinates; operators see all. Others'
 * wckeys are for operators only. */
void assoc_list_fill(const struct assoc_book *book, const struct assoc_asker *asker,
                     bool is_private, struct arena *arena, struct assoc_list *ret);

#endif
