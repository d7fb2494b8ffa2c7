/* SPDX-License-Identifier: Apache-2.0 */
/* The book in order; see list.h. */
#include "assoc/list.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* ---- the tree ---- */

static const char *belongs_to(const struct assoc *assoc) {
    return assoc->user != NULL ? assoc->account : assoc->parent;
}

static int text_order(const char *a, const char *b) {
    return a == NULL || b == NULL ? (a != NULL) - (b != NULL) : strcmp(a, b);
}

static int assoc_order(const void *x, const void *y) {
    const struct assoc *a = *(const struct assoc *const *) x;
    const struct assoc *b = *(const struct assoc *const *) y;
    bool a_user = a->user != NULL, b_user = b->user != NULL;
    int r = text_order(belongs_to(a), belongs_to(b));
    if (r == 0)
        r = (int) b_user - (int) a_user;
    if (r == 0)
        r = text_order(a_user ? a->user : a->account, b_user ? b->user : b->account);
    return r != 0 ? r : text_order(a->partition, b->partition);
}

void assoc_tree_init(struct assoc_tree *tree, const struct assoc_book *book) {
    tree->n = book->entries[ASSOC_ASSOC].n;
    tree->sorted = xcalloc(tree->n + 1, sizeof(*tree->sorted));
    for (size_t i = 0; i < tree->n; i++)
        tree->sorted[i] = book->entries[ASSOC_ASSOC].items[i];
    qsort(tree->sorted, tree->n, sizeof(*tree->sorted), assoc_order);
}

void assoc_tree_done(struct assoc_tree *tree) {
    free(tree->sorted);
}

size_t assoc_tree_below(const struct assoc_tree *tree, const char *account, size_t *ret_first) {
    size_t low = 0, high = tree->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (text_order(belongs_to(tree->sorted[middle]), account) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *ret_first = low;
    while (low < tree->n && str_equal(belongs_to(tree->sorted[low]), account))
        low++;
    return low;
}

struct walk {
    const struct assoc_tree *tree;
    const struct assoc **items;
    size_t n;
};

static void walk_below(struct walk *walk, const struct assoc *top) {
    walk->items[walk->n++] = top;
    size_t first, end = assoc_tree_below(walk->tree, top->account, &first);
    for (size_t i = first; i < end; i++) {
        const struct assoc *assoc = walk->tree->sorted[i];
        if (assoc->user == NULL)
            walk_below(walk, assoc);
        else
            walk->items[walk->n++] = assoc;
    }
}

size_t assoc_tree_walk(const struct assoc_book *book, const struct assoc **ret) {
    struct assoc_tree tree;
    struct walk walk = {.tree = &tree, .items = ret};
    const struct assoc *root = assoc_find(book, ROOT_ACCOUNT, NULL, NULL);
    assoc_tree_init(&tree, book);
    if (root != NULL)
        walk_below(&walk, root);
    assoc_tree_done(&tree);
    return walk.n;
}

/* ---- lists ---- */

bool assoc_may_see(const struct assoc_book *book, const struct assoc_asker *asker, bool is_private,
                   const char *name, const char *account) {
    if (!is_private || asker_is_operator(book, asker) || str_equal_nocase(name, asker->name))
        return true;
    const struct assoc *at = assoc_find(book, account, NULL, NULL);
    for (size_t i = 0; at != NULL && i <= book->entries[ASSOC_ASSOC].n; i++) {
        const struct account *entry = account_find(book, at->account);
        if (entry != NULL && strs_has(&entry->coordinators, asker->name))
            return true;
        at = assoc_parent(book, at);
    }
    return account != NULL && name == NULL &&
           assoc_of_job(book, account, asker->name, NULL) != NULL;
}

static int account_order(const void *a, const void *b) {
    return strcmp(((const struct account *) a)->name, ((const struct account *) b)->name);
}

static int acct_user_order(const void *a, const void *b) {
    return strcmp(((const struct acct_user *) a)->name, ((const struct acct_user *) b)->name);
}

static void *room(const struct assoc_book *book, uint32_t kind, struct arena *arena) {
    return arena_alloc(arena, book->entries[kind].n * assoc_record(kind)->size + 1);
}

void assoc_list_fill(const struct assoc_book *book, const struct assoc_asker *asker,
                     bool is_private, struct arena *arena, struct assoc_list *list) {
    bool knows_all = asker_is_operator(book, asker);
    list->accounts.items = room(book, ASSOC_ACCOUNT, arena);
    list->users.items = room(book, ASSOC_USER, arena);
    list->assocs.items = room(book, ASSOC_ASSOC, arena);
    list->qos.items = room(book, ASSOC_QOS, arena);
    vec_each (&book->entries[ASSOC_ACCOUNT], entry) {
        const struct account *account = *entry;
        if (assoc_may_see(book, asker, is_private, NULL, account->name))
            list->accounts.items[list->accounts.n++] = *account;
    }
    qsort(list->accounts.items, list->accounts.n, sizeof(struct account), account_order);
    vec_each (&book->entries[ASSOC_USER], entry) {
        const struct acct_user *one = *entry;
        if (!assoc_may_see(book, asker, is_private, one->name, one->default_account))
            continue;
        struct acct_user *shown = &list->users.items[list->users.n++];
        *shown = *one;
        if (!knows_all && !str_equal_nocase(one->name, asker->name))
            shown->wckeys.n = 0;
    }
    qsort(list->users.items, list->users.n, sizeof(struct acct_user), acct_user_order);
    vec_each (&book->entries[ASSOC_QOS], entry)
        list->qos.items[list->qos.n++] = *(const struct qos *) *entry;
    const struct assoc **all = room(book, ASSOC_ASSOC, arena);
    size_t n = assoc_tree_walk(book, all);
    for (size_t i = 0; i < n; i++) {
        if (assoc_may_see(book, asker, is_private, all[i]->user, all[i]->account))
            list->assocs.items[list->assocs.n++] = *all[i];
    }
}
