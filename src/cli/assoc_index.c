/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of accounts, looked up by name; see assoc_index.h. */
#include "cli/assoc_index.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/str.h"

struct chain {
    struct assoc_link *first, *last;
};

/* What goes by one name: an account or a user. */
struct assoc_name {
    const struct assoc *own;      /* the account's association without a user */
    const struct acct_user *user; /* the user's entry */
    struct chain assocs, coordinated;
    bool is_parent;
};

/* ---- making ---- */

static struct assoc_name *name_make(struct smap *names, const char *name) {
    struct assoc_name *found = smap_get(names, name);
    if (found == NULL) {
        found = zalloc(struct assoc_name);
        smap_put(names, name, found);
    }
    return found;
}

static void chain_add(struct chain *chain, const struct assoc *assoc,
                      const struct account *account) {
    struct assoc_link *link = zalloc(struct assoc_link);
    link->assoc = assoc;
    link->account = account;
    *(chain->last != NULL ? &chain->last->next : &chain->first) = link;
    chain->last = link;
}

static void assoc_add(struct assoc_index *index, const struct assoc *assoc) {
    if (assoc->account == NULL)
        return;
    struct assoc_name *account = name_make(&index->accounts, assoc->account);
    chain_add(&account->assocs, assoc, NULL);
    if (assoc->user != NULL)
        chain_add(&name_make(&index->users, assoc->user)->assocs, assoc, NULL);
    else if (account->own == NULL)
        account->own = assoc;
    if (assoc->parent != NULL)
        name_make(&index->accounts, assoc->parent)->is_parent = true;
}

void assoc_index_init(struct assoc_index *index, const struct assoc_list *list) {
    *index = (struct assoc_index) {.list = list};
    for (uint32_t i = 0; i < list->users.n; i++) {
        const struct acct_user *user = &list->users.items[i];
        if (user->name != NULL)
            name_make(&index->users, user->name)->user = user;
    }
    for (uint32_t i = 0; i < list->assocs.n; i++)
        assoc_add(index, &list->assocs.items[i]);
    for (uint32_t i = 0; i < list->accounts.n; i++) {
        const struct account *account = &list->accounts.items[i];
        for (uint32_t k = 0; k < account->coordinators.n; k++)
            chain_add(&name_make(&index->users, account->coordinators.items[k])->coordinated, NULL,
                      account);
    }
}

static void chain_done(struct chain *chain) {
    for (struct assoc_link *link = chain->first, *next; link != NULL; link = next) {
        next = link->next;
        free(link);
    }
}

static void names_done(struct smap *names) {
    size_t at = 0;
    const char *key;
    struct assoc_name *name;
    while ((name = smap_next(names, &at, &key)) != NULL) {
        chain_done(&name->assocs);
        chain_done(&name->coordinated);
        free(name);
    }
    smap_done(names);
}

void assoc_index_done(struct assoc_index *index) {
    names_done(&index->accounts);
    names_done(&index->users);
}

/* ---- asking ---- */

static const struct assoc_name *name_find(const struct smap *names, const char *name) {
    static const struct assoc_name nothing;
    const struct assoc_name *found = name != NULL ? smap_get(names, name) : NULL;
    return found != NULL ? found : &nothing;
}

const struct assoc *assoc_index_own(const struct assoc_index *index, const char *account) {
    return name_find(&index->accounts, account)->own;
}

const struct assoc *assoc_index_above(const struct assoc_index *index, const struct assoc *assoc) {
    return assoc_index_own(index, assoc->user != NULL ? assoc->account : assoc->parent);
}

bool assoc_index_is_parent(const struct assoc_index *index, const char *account) {
    return name_find(&index->accounts, account)->is_parent;
}

const struct acct_user *assoc_index_user(const struct assoc_index *index, const char *name) {
    return name_find(&index->users, name)->user;
}

const struct assoc_link *assoc_index_of_account(const struct assoc_index *index,
                                                const char *account) {
    return name_find(&index->accounts, account)->assocs.first;
}

const struct assoc_link *assoc_index_of_user(const struct assoc_index *index, const char *user) {
    return name_find(&index->users, user)->assocs.first;
}

const struct assoc_link *assoc_index_coordinated(const struct assoc_index *index,
                                                 const char *user) {
    return name_find(&index->users, user)->coordinated.first;
}
