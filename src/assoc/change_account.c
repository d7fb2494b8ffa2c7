/* SPDX-License-Identifier: Apache-2.0 */
/* Accounts and their own associations, coordinators, and the cluster as the root's. */
#include <stdlib.h>
#include <string.h>

#include "assoc/change.h"

static const struct change_condition conditions[] = {
    {"account", 1}, {"name", 1}, {"cluster", 1}, {"parent", 4}};

/* Operators, administrators, and coordinators of an account above it. */
static bool may_manage(const struct change *change, const char *account) {
    if (asker_is_operator(change->book, change->asker))
        return true;
    const struct assoc *at = assoc_find(change->book, account, NULL, NULL);
    for (size_t i = 0; at != NULL && i <= change->book->entries[ASSOC_ASSOC].n; i++) {
        const struct account *entry = account_find(change->book, at->account);
        if (entry != NULL && strs_has(&entry->coordinators, change->asker->name))
            return true;
        at = assoc_parent(change->book, at);
    }
    return false;
}

static int refuse(const struct change *change, const char *what, const char *account) {
    return error_set(
        change->err, ERR_ACCESS_DENIED,
        "only operators, administrators and coordinators of account %s may change %s, and %s is "
        "none of them",
        account, what, change->asker->name);
}

int change_check_cluster(const struct change *change) {
    struct strs clusters cleanup_strs = change_values(change, "cluster", 1, false);
    for (uint32_t i = 0; i < clusters.n; i++) {
        if (!str_equal_nocase(clusters.items[i], change->book->cluster))
            return error_set(change->err, ERR_INVALID,
                             " This cluster '%s' doesn't exist.\n        This is cluster %s.",
                             clusters.items[i], change->book->cluster);
    }
    return 0;
}

int change_check_account(const struct change *change, const char *account, const char *what) {
    if (account_find(change->book, account) == NULL)
        return error_set(change->err, ERR_INVALID,
                         " This account '%s' doesn't exist.\n        Contact your admin to add "
                         "this account.",
                         account);
    return may_manage(change, account) ? 0 : refuse(change, what, account);
}

int change_check_name(const struct change *change, const char *name) {
    if (str_is_printable_utf8(name) && name[0] != '\0' && strpbrk(name, ",|'\"\\= ") == NULL)
        return 0;
    return error_set(change->err, ERR_INVALID,
                     " Bad name '%s': it is to be without blanks, commas, quotes and |", name);
}

/* ---- adding ---- */

static void add_one(struct change *change, const char *name, const struct account *account,
                    const struct assoc *assoc) {
    struct account *next = record_dup(&record_account, account);
    string_set(&next->name, name);
    if (next->description == NULL)
        string_set(&next->description, name);
    if (next->organization == NULL)
        string_set(&next->organization,
                   str_equal(assoc->parent, ROOT_ACCOUNT) ? name : assoc->parent);
    change_add(change, ASSOC_ACCOUNT, next);
    struct assoc *own = record_dup(&record_assoc, assoc);
    string_set(&own->account, name);
    own->id = change_next_id(change, ASSOC_ASSOC);
    change_add(change, ASSOC_ASSOC, own);
}

static void tell_added(struct change *change, const struct strs *names,
                       const struct account *account, const struct assoc *assoc) {
    struct str *text = &change->plan->text;
    str_append(text, " Settings\n");
    str_printf(text, "  %-15s = %s\n", "Description",
               account->description != NULL ? account->description : "Account Name");
    str_printf(text, "  %-15s = %s\n", "Organization",
               account->organization != NULL ? account->organization : "Parent/Account Name");
    str_append(text, " Associations\n");
    for (uint32_t i = 0; i < names->n; i++)
        str_printf(text, "  A = %-10.10s C = %-10.10s\n", names->items[i], change->book->cluster);
    size_t start = text->length;
    str_append(text, " Settings\n");
    size_t after = text->length;
    change_settings(change, KEY_ACCOUNT, ASSOC_ASSOC, assoc, 13);
    if (text->length == after)
        text->length = start, text->data[start] = '\0';
}

static int add(struct change *change) {
    struct strs names cleanup_strs = change_values(change, "name", 1, true);
    struct strs more cleanup_strs = change_values(change, "account", 1, false);
    struct strs fresh cleanup_strs = {NULL, 0};
    const struct strs *all = names.n > 0 ? &names : &more;
    struct account account;
    struct assoc assoc;
    if (all->n == 0)
        return error_set(change->err, ERR_INVALID, " Need name of account to add.");
    record_init(&record_account, &account);
    record_init(&record_assoc, &assoc);
    string_set(&assoc.parent, ROOT_ACCOUNT);
    int r = change_apply_sets(change, KEY_ACCOUNT, ASSOC_ACCOUNT, &account);
    if (r == 0)
        r = change_apply_sets(change, KEY_ACCOUNT, ASSOC_ASSOC, &assoc);
    if (r == 0 && !may_manage(change, assoc.parent))
        r = refuse(change, "accounts below it", assoc.parent);
    str_append(&change->plan->text, " Adding Account(s)\n");
    for (uint32_t i = 0; r == 0 && i < all->n; i++) {
        r = change_check_name(change, all->items[i]);
        if (r < 0 || account_find(change->book, all->items[i]) != NULL)
            continue;
        str_printf(&change->plan->text, "  %s\n", all->items[i]);
        add_one(change, all->items[i], &account, &assoc);
        strs_push(&fresh, all->items[i]);
    }
    tell_added(change, &fresh, &account, &assoc);
    record_done(&record_account, &account);
    record_done(&record_assoc, &assoc);
    return r;
}

/* ---- changing ---- */

struct wanted {
    struct strs names, accounts, parents;
};

static struct wanted wanted_read(const struct change *change) {
    return (struct wanted) {change_values(change, "name", 1, true),
                            change_values(change, "account", 1, false),
                            change_values(change, "parent", 4, false)};
}

static void wanted_done(struct wanted *wanted) {
    strs_done(&wanted->names);
    strs_done(&wanted->accounts);
    strs_done(&wanted->parents);
}

static bool is_wanted(const struct wanted *wanted, const struct assoc *own) {
    bool all = wanted->names.n + wanted->accounts.n + wanted->parents.n == 0;
    return all || ((strs_pass(&wanted->names, own->account) &&
                    strs_pass(&wanted->accounts, own->account)) &&
                   (wanted->parents.n == 0 ||
                    (own->parent != NULL && strs_has(&wanted->parents, own->parent))));
}

static int modify_records(struct change *change, const struct wanted *wanted) {
    int r = 0;
    str_append(&change->plan->text, " Modified accounts...\n");
    for (size_t i = 0; r == 0 && i < change->book->entries[ASSOC_ACCOUNT].n; i++) {
        const struct account *account = change->book->entries[ASSOC_ACCOUNT].items[i];
        const struct assoc *own = assoc_find(change->book, account->name, NULL, NULL);
        if (own == NULL || !is_wanted(wanted, own))
            continue;
        str_printf(&change->plan->text, "  %s\n", account->name);
        r = change_apply_sets(change, KEY_ACCOUNT, ASSOC_ACCOUNT,
                              change_edit(change, ASSOC_ACCOUNT, i));
        if (r == 0)
            r = change_check_account(change, account->name, "it");
    }
    return r;
}

static int modify_assocs(struct change *change, const struct wanted *wanted) {
    int r = 0;
    str_append(&change->plan->text, " Modified account associations...\n");
    for (size_t i = 0; r == 0 && i < change->book->entries[ASSOC_ASSOC].n; i++) {
        const struct assoc *own = change->book->entries[ASSOC_ASSOC].items[i];
        if (own->user != NULL || !is_wanted(wanted, own))
            continue;
        str_printf(&change->plan->text, "  C = %-10.10s A = %s", change->book->cluster,
                   own->account);
        if (own->parent != NULL)
            str_printf(&change->plan->text, " of %s", own->parent);
        str_append_char(&change->plan->text, '\n');
        struct assoc *next = change_edit(change, ASSOC_ASSOC, i);
        r = change_apply_sets(change, KEY_ACCOUNT, ASSOC_ASSOC, next);
        if (r == 0)
            r = change_check_account(change, own->account, "it");
        if (r == 0 && own->parent == NULL && next->parent != NULL)
            r = error_set(change->err, ERR_INVALID, " Account %s is above all others.",
                          own->account);
        if (r == 0 && next->parent != NULL && !str_equal(next->parent, own->parent) &&
            !may_manage(change, next->parent))
            r = refuse(change, "accounts below it", next->parent);
    }
    return r;
}

static int modify(struct change *change, uint32_t kinds) {
    struct wanted wanted = wanted_read(change);
    int r = 0;
    if (kinds & 1u << ASSOC_ACCOUNT)
        r = modify_records(change, &wanted);
    if (r == 0 && (kinds & 1u << ASSOC_ASSOC))
        r = modify_assocs(change, &wanted);
    wanted_done(&wanted);
    return r;
}

/* ---- deleting ---- */

/* An account goes with all that lies below it. */
static int delete_tree(struct change *change, const struct account *top) {
    const struct assoc_book *book = change->book;
    if (str_equal(top->name, ROOT_ACCOUNT))
        return error_set(change->err, ERR_INVALID,
                         " You are not allowed to remove the root account.");
    for (size_t i = 0; i < book->entries[ASSOC_ACCOUNT].n; i++) {
        const struct account *account = book->entries[ASSOC_ACCOUNT].items[i];
        if (change_seen(change, ASSOC_ACCOUNT, i) == NULL ||
            !account_is_below(book, account->name, top->name))
            continue;
        str_printf(&change->plan->text, "  %s", account->name);
        if (account != top)
            str_printf(&change->plan->text, " (below %s)", top->name);
        str_append_char(&change->plan->text, '\n');
        change_remove(change, ASSOC_ACCOUNT, i);
    }
    for (size_t i = 0; i < book->entries[ASSOC_ASSOC].n; i++) {
        const struct assoc *assoc = book->entries[ASSOC_ASSOC].items[i];
        if (account_is_below(book, assoc->account, top->name))
            change_remove(change, ASSOC_ASSOC, i);
    }
    return 0;
}

static int delete (struct change *change) {
    struct wanted wanted = wanted_read(change);
    int r = 0;
    if (wanted.names.n + wanted.accounts.n + wanted.parents.n == 0)
        return error_set(change->err, ERR_INVALID,
                         " No conditions given to remove, not executing.");
    str_append(&change->plan->text, " Deleting accounts...\n");
    for (size_t i = 0; r == 0 && i < change->book->entries[ASSOC_ACCOUNT].n; i++) {
        const struct account *account = change->book->entries[ASSOC_ACCOUNT].items[i];
        const struct assoc *own = assoc_find(change->book, account->name, NULL, NULL);
        if (own == NULL || !is_wanted(&wanted, own) ||
            change_seen(change, ASSOC_ACCOUNT, i) == NULL)
            continue;
        r = change_check_account(change, account->name, "it");
        if (r == 0)
            r = delete_tree(change, account);
    }
    if (r == 0)
        change_mend_defaults(change);
    wanted_done(&wanted);
    return r;
}

int change_account(struct change *change) {
    uint32_t kinds = 0;
    int r = change_check_conditions(change, conditions, countof(conditions));
    if (r == 0 && change->request->verb != ASSOC_VERB_DELETE)
        r = change_check_sets(change, KEY_ACCOUNT, conditions, 3, &kinds);
    if (r == 0)
        r = change_check_cluster(change);
    if (r < 0)
        return r;
    switch (change->request->verb) {
    case ASSOC_VERB_ADD:
        return add(change);
    case ASSOC_VERB_MODIFY:
        return modify(change, kinds);
    default:
        return delete (change);
    }
}

/* ---- coordinators ---- */

static int coordinators_change(struct change *change, const struct strs *accounts,
                               const struct strs *names) {
    bool adds = change->request->verb == ASSOC_VERB_ADD;
    struct str *text = &change->plan->text;
    str_append(text,
               adds ? " Adding Coordinator User(s)\n" : " Removing Coordinators with user name\n");
    for (uint32_t i = 0; i < names->n; i++) {
        if (acct_user_find(change->book, names->items[i]) == NULL)
            return error_set(change->err, ERR_INVALID,
                             " You specified a non-existent user '%s': add it first, with "
                             "\"sacctmgr add user\"",
                             names->items[i]);
        str_printf(text, "  %s\n", names->items[i]);
    }
    str_append(text, adds ? " To Account(s) and all sub-accounts\n" : " From Account(s)\n");
    for (uint32_t i = 0; i < accounts->n; i++) {
        if (account_find(change->book, accounts->items[i]) == NULL)
            return error_set(change->err, ERR_INVALID,
                             " You specified a non-existent account '%s'.", accounts->items[i]);
        int r = change_check_account(change, accounts->items[i], "its coordinators");
        if (r < 0)
            return r;
        str_printf(text, "  %s\n", accounts->items[i]);
    }
    for (size_t i = 0; i < change->book->entries[ASSOC_ACCOUNT].n; i++) {
        const struct account *account = change->book->entries[ASSOC_ACCOUNT].items[i];
        if (!strs_has(accounts, account->name))
            continue;
        for (uint32_t k = 0; k < names->n; k++) {
            if (strs_has(&account->coordinators, names->items[k]) == adds)
                continue;
            struct account *next = change_edit(change, ASSOC_ACCOUNT, i);
            if (adds)
                strs_push(&next->coordinators, names->items[k]);
            else
                strs_drop(&next->coordinators, names->items[k]);
        }
    }
    return 0;
}

int change_coordinator(struct change *change) {
    static const struct change_condition words[] = {{"account", 1}, {"name", 1}, {"user", 1}};
    if (change->request->verb == ASSOC_VERB_MODIFY)
        return error_set(change->err, ERR_INVALID, " Coordinators are added and deleted.");
    int r = change_check_conditions(change, words, countof(words));
    if (r < 0)
        return r;
    struct strs accounts cleanup_strs = change_values(change, "account", 1, false);
    struct strs names cleanup_strs = change_values(change, "name", 1, true);
    struct strs users cleanup_strs = change_values(change, "user", 1, false);
    if (accounts.n == 0)
        return error_set(change->err, ERR_INVALID, " You need to specify an account list here.");
    if (names.n + users.n == 0)
        return error_set(change->err, ERR_INVALID, " You need to specify a user list here.");
    return coordinators_change(change, &accounts, names.n > 0 ? &names : &users);
}

/* ---- the cluster: limits of all are those of the root account ---- */

int change_cluster(struct change *change) {
    static const struct change_condition words[] = {{"cluster", 1}, {"name", 1}};
    uint32_t kinds;
    if (change->request->verb != ASSOC_VERB_MODIFY)
        return error_set(change->err, ERR_NOT_SUPPORTED,
                         " This is the accounting of cluster %s alone: clusters are neither added "
                         "nor deleted here.",
                         change->book->cluster);
    if (!asker_is_admin(change->book, change->asker))
        return refuse(change, "the cluster", ROOT_ACCOUNT);
    int r = change_check_conditions(change, words, countof(words));
    if (r == 0)
        r = change_check_sets(change, KEY_CLUSTER, words, countof(words), &kinds);
    if (r < 0)
        return r;
    struct strs names cleanup_strs = change_values(change, "name", 1, true);
    struct strs clusters cleanup_strs = change_values(change, "cluster", 1, false);
    cleanup_free char *own = xstrdup(change->book->cluster);
    if ((names.n > 0 && !strs_has(&names, own)) || (clusters.n > 0 && !strs_has(&clusters, own)))
        return 0;
    for (size_t i = 0; i < change->book->entries[ASSOC_ASSOC].n; i++) {
        const struct assoc *root = change->book->entries[ASSOC_ASSOC].items[i];
        if (root->user != NULL || root->parent != NULL)
            continue;
        str_printf(&change->plan->text, " Modified cluster...\n  %s\n", change->book->cluster);
        return change_apply_sets(change, KEY_CLUSTER, ASSOC_ASSOC,
                                 change_edit(change, ASSOC_ASSOC, i));
    }
    return 0;
}
