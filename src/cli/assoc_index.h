/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is looked up in a list of accounts once for each of its lines, found without going through
 * the list. Names are compared as they are in the list. Borrows from the list, which must not
 * change.
 */
#ifndef SLUICE_CLI_ASSOC_INDEX_H
#define SLUICE_CLI_ASSOC_INDEX_H

#include "base/map.h"
#include "model/messages.h"

/* One of several things of one name, in the order of the list. */
struct assoc_link {
    const struct assoc *assoc;     /* of an account or a user, */
    const struct account *account; /* or what a user coordinates */
    struct assoc_link *next;
};

struct assoc_index {
    const struct assoc_list *list;
    /* name -> struct assoc_name; see assoc_index.c */
    struct smap accounts, users;
};

void assoc_index_init(struct assoc_index *index, const struct assoc_list *list);
void assoc_index_done(struct assoc_index *index);

/* The account's own association; NULL. */
const struct assoc *assoc_index_own(const struct assoc_index *index, const char *account);
/* The account's own association above this one; NULL above root's. */
const struct assoc *assoc_index_above(const struct assoc_index *index, const struct assoc *assoc);
/* Whether an association lies directly below this account's own. */
bool assoc_index_is_parent(const struct assoc_index *index, const char *account);
/* NULL when the list has none of this name. */
const struct acct_user *assoc_index_user(const struct assoc_index *index, const char *name);
/* The associations of an account, its own and its users', or of a user; NULL: none. */
const struct assoc_link *assoc_index_of_account(const struct assoc_index *index,
                                                const char *account);
const struct assoc_link *assoc_index_of_user(const struct assoc_index *index, const char *user);
/* The accounts that a user coordinates; NULL: none. */
const struct assoc_link *assoc_index_coordinated(const struct assoc_index *index, const char *user);

#endif
