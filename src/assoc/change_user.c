/* SPDX-License-Identifier: Apache-2.0 */
/* Users and their associations. */
#include <stdlib.h>
#include <string.h>

#include "assoc/change.h"

static const struct change_condition conditions[] = {
    {"name", 1},      {"user", 1},           {"account", 2}, {"cluster", 1},
    {"partition", 3}, {"defaultaccount", 8}, {"wckey", 2}};
#define N_ADD_WORDS 5 /* DefaultAccount and WCKeys are settings there */

struct wanted {
    struct strs users, accounts, partitions, defaults;
    struct strs wckeys;
};

static struct wanted wanted_read(const struct change *change) {
    struct wanted wanted = {
        change_values(change, "name", 1, true), change_values(change, "account", 2, false),
        change_values(change, "partition", 3, false),
        change->request->verb == ASSOC_VERB_ADD ? (struct strs) {NULL, 0}
                                                : change_values(change, "defaultaccount", 8, false),
        change_values(change, "wckey", 2, false)};
    if (wanted.users.n == 0) {
        strs_done(&wanted.users);
        wanted.users = change_values(change, "user", 1, false);
    }
    return wanted;
}

static void wanted_done(struct wanted *wanted) {
    strs_done(&wanted->users);
    strs_done(&wanted->accounts);
    strs_done(&wanted->partitions);
    strs_done(&wanted->defaults);
    strs_done(&wanted->wckeys);
}

static void tell_assoc(struct change *change, const struct assoc *assoc, int account_width) {
    str_printf(&change->plan->text, "  C = %-10.10s A = %-*s U = %-9.9s", change->book->cluster,
               account_width, assoc->account, assoc->user);
    if (assoc->partition != NULL)
        str_printf(&change->plan->text, " P = %s", assoc->partition);
    str_append_char(&change->plan->text, '\n');
}

/* ---- adding ---- */

struct addition {
    struct acct_user user;
    struct assoc assoc;
    bool any_user;
    struct str assocs, wckeys; /* lines */
};

static void add_assoc(struct change *change, struct addition *add, const char *user,
                      const char *account, const char *partition) {
    if (assoc_find(change->book, account, user, partition) != NULL)
        return;
    struct assoc *next = record_dup(&record_assoc, &add->assoc);
    string_set(&next->user, user);
    string_set(&next->account, account);
    string_set(&next->partition, partition);
    next->id = change_next_id(change, ASSOC_ASSOC);
    change_add(change, ASSOC_ASSOC, next);
    str_printf(&add->assocs, "  U = %-9.9s A = %-10.10s C = %-10.10s", user, account,
               change->book->cluster);
    if (partition != NULL)
        str_printf(&add->assocs, " P = %-10.10s", partition);
    str_append_char(&add->assocs, '\n');
}

static void add_user(struct change *change, struct addition *add, const char *name,
                     const struct wanted *wanted) {
    if (acct_user_find(change->book, name) != NULL)
        return;
    struct acct_user *next = record_dup(&record_acct_user, &add->user);
    string_set(&next->name, name);
    if (next->default_account == NULL && wanted->accounts.n > 0)
        string_set(&next->default_account, wanted->accounts.items[0]);
    change_give_wckeys(change, next, &wanted->wckeys, &add->wckeys);
    change_add(change, ASSOC_USER, next);
    if (!add->any_user)
        str_append(&change->plan->text, " Adding User(s)\n");
    add->any_user = true;
    str_printf(&change->plan->text, "  %s\n", name);
}

static bool lacks_any(const struct acct_user *user, const struct strs *wckeys) {
    bool lacks = wckeys->n > 0 && user->default_wckey == NULL;
    for (uint32_t i = 0; i < wckeys->n; i++)
        lacks |= user_wckey_find(user, wckeys->items[i]) == NULL;
    return lacks;
}

/* A user who is there gets the keys, and the new account as the default of one who had none. */
static void give_known(struct change *change, struct addition *add, const char *name,
                       const struct wanted *wanted) {
    const struct acct_user *known = acct_user_find(change->book, name);
    bool needs_account = known != NULL && known->default_account == NULL && wanted->accounts.n > 0;
    if (known == NULL || (!needs_account && !lacks_any(known, &wanted->wckeys)))
        return;
    for (size_t i = 0; i < change->book->entries[ASSOC_USER].n; i++) {
        if (change->book->entries[ASSOC_USER].items[i] != known)
            continue;
        struct acct_user *next = change_edit(change, ASSOC_USER, i);
        if (needs_account)
            string_set(&next->default_account, wanted->accounts.items[0]);
        if (next->default_wckey == NULL)
            string_set(&next->default_wckey, add->user.default_wckey);
        change_give_wckeys(change, next, &wanted->wckeys, &add->wckeys);
    }
}

static int add_all(struct change *change, struct addition *add, const struct wanted *wanted) {
    for (uint32_t i = 0; i < wanted->accounts.n; i++) {
        int r = change_check_account(change, wanted->accounts.items[i], "its users");
        if (r < 0)
            return r;
    }
    for (uint32_t u = 0; u < wanted->users.n; u++) {
        const char *name = wanted->users.items[u];
        int r = change_check_name(change, name);
        if (r < 0)
            return r;
        add_user(change, add, name, wanted);
        give_known(change, add, name, wanted);
        for (uint32_t a = 0; a < wanted->accounts.n; a++) {
            if (wanted->partitions.n == 0)
                add_assoc(change, add, name, wanted->accounts.items[a], NULL);
            for (uint32_t p = 0; p < wanted->partitions.n; p++)
                add_assoc(change, add, name, wanted->accounts.items[a],
                          wanted->partitions.items[p]);
        }
    }
    return 0;
}

/* What the settings say of users besides themselves: accounts and keys. */
static int take_defaults(struct change *change, struct addition *add, struct wanted *wanted) {
    struct acct_user *user = &add->user;
    if (wanted->users.n == 0)
        return error_set(change->err, ERR_INVALID, " Need name of user to add.");
    if (user->default_wckey != NULL && !strs_has(&wanted->wckeys, user->default_wckey))
        strs_push(&wanted->wckeys, user->default_wckey);
    if (wanted->accounts.n == 0 && user->default_account != NULL)
        strs_push(&wanted->accounts, user->default_account);
    user_wckeys_clear(user); /* each user gets keys with numbers of their own */
    if (wanted->accounts.n + wanted->wckeys.n == 0)
        return error_set(change->err, ERR_INVALID, " Need name of account to add user to.");
    bool of_admins = user->admin_level != ADMIN_NONE || wanted->wckeys.n > 0;
    if (of_admins && !asker_is_admin(change->book, change->asker))
        return error_set(change->err, ERR_ACCESS_DENIED,
                         user->admin_level != ADMIN_NONE ? "only administrators make administrators"
                                                         : "only administrators add wckeys");
    if (user->default_account != NULL && !strs_has(&wanted->accounts, user->default_account))
        return error_set(change->err, ERR_INVALID,
                         " Default account %s is none of those that the user is added to.",
                         user->default_account);
    return 0;
}

static int add(struct change *change) {
    struct wanted wanted = wanted_read(change);
    struct addition add = {.assocs = STR_INIT, .wckeys = STR_INIT};
    struct str *text = &change->plan->text;
    record_init(&record_acct_user, &add.user);
    record_init(&record_assoc, &add.assoc);
    int r = change_apply_sets(change, KEY_USER, ASSOC_USER, &add.user);
    if (r == 0)
        r = change_apply_sets(change, KEY_USER, ASSOC_ASSOC, &add.assoc);
    if (r == 0)
        r = take_defaults(change, &add, &wanted);
    if (r == 0)
        r = add_all(change, &add, &wanted);
    size_t start = text->length;
    str_append(text, " Settings =\n");
    size_t after = text->length;
    if (add.any_user)
        change_settings(change, KEY_USER, ASSOC_USER, &add.user, 15);
    if (text->length == after)
        text->length = start, text->data[start] = '\0';
    if (add.assocs.length > 0)
        str_printf(text, " Associations =\n%s", add.assocs.data);
    if (add.wckeys.length > 0)
        str_printf(text, " WCKeys =\n%s", add.wckeys.data);
    if (add.assocs.length > 0)
        str_append(text, " Non Default Settings\n");
    change_settings(change, KEY_USER, ASSOC_ASSOC, &add.assoc, 13);
    record_done(&record_acct_user, &add.user);
    record_done(&record_assoc, &add.assoc);
    str_done(&add.assocs);
    str_done(&add.wckeys);
    wanted_done(&wanted);
    return r;
}

/* ---- changing ---- */

/* By what is of the user, not of associations. */
static bool user_wanted(const struct wanted *wanted, const struct acct_user *user) {
    bool has_key = wanted->wckeys.n == 0;
    for (uint32_t i = 0; i < wanted->wckeys.n; i++)
        has_key |= user_wckey_find(user, wanted->wckeys.items[i]) != NULL;
    return has_key && strs_pass(&wanted->users, user->name) &&
           (wanted->defaults.n == 0 ||
            (user->default_account != NULL && strs_has(&wanted->defaults, user->default_account)));
}

static bool assoc_wanted(const struct assoc_book *book, const struct wanted *wanted,
                         const struct assoc *assoc) {
    bool fits = assoc->user != NULL && strs_pass(&wanted->users, assoc->user) &&
                strs_pass(&wanted->accounts, assoc->account) &&
                (wanted->partitions.n == 0 ||
                 (assoc->partition != NULL && strs_has(&wanted->partitions, assoc->partition)));
    if (!fits || wanted->defaults.n + wanted->wckeys.n == 0)
        return fits;
    const struct acct_user *user = acct_user_find(book, assoc->user);
    return user != NULL && user_wanted(wanted, user);
}

/* What only an administrator may give; to have fewer keys is nobody's gain either. */
static bool has_new_keys(const struct acct_user *old, const struct acct_user *next) {
    bool any = old->wckeys.n != next->wckeys.n;
    for (uint32_t i = 0; i < next->wckeys.n; i++)
        any |= user_wckey_find(old, next->wckeys.items[i].name) == NULL;
    return any;
}

static int modify_user(struct change *change, size_t at) {
    struct acct_user *next = change_edit(change, ASSOC_USER, at);
    const struct acct_user *old = change->book->entries[ASSOC_USER].items[at];
    int r = change_apply_sets(change, KEY_USER, ASSOC_USER, next);
    if (r < 0)
        return r;
    bool may = asker_is_operator(change->book, change->asker) ||
               (str_equal_nocase(old->name, change->asker->name) && !has_new_keys(old, next));
    if (!may ||
        (next->admin_level != old->admin_level && !asker_is_admin(change->book, change->asker)))
        return error_set(change->err, ERR_ACCESS_DENIED,
                         "only administrators may change user %s in this", old->name);
    if (next->default_account != NULL &&
        change_find_assoc(change, next->default_account, next->name, NULL, true) == NULL)
        return error_set(change->err, ERR_INVALID,
                         " Can't modify because these users aren't associated with new default "
                         "account '%s'...\n  U = %s C = %s",
                         next->default_account, next->name, change->book->cluster);
    if (next->default_wckey != NULL && user_wckey_find(next, next->default_wckey) == NULL)
        return error_set(change->err, ERR_INVALID,
                         " Can't modify because these users aren't associated with new default "
                         "wckey '%s'...\n  U = %s C = %s",
                         next->default_wckey, next->name, change->book->cluster);
    change_number_wckeys(change, next);
    str_printf(&change->plan->text, "  %s\n", next->name);
    return 0;
}

static int modify_users(struct change *change, const struct wanted *wanted) {
    int r = 0;
    str_append(&change->plan->text, " Modified users...\n");
    for (size_t i = 0; r == 0 && i < change->book->entries[ASSOC_USER].n; i++) {
        const struct acct_user *user = change->book->entries[ASSOC_USER].items[i];
        if (user_wanted(wanted, user))
            r = modify_user(change, i);
    }
    return r;
}

static int modify_assocs(struct change *change, const struct wanted *wanted) {
    int r = 0;
    str_append(&change->plan->text, " Modified user associations...\n");
    for (size_t i = 0; r == 0 && i < change->book->entries[ASSOC_ASSOC].n; i++) {
        const struct assoc *assoc = change->book->entries[ASSOC_ASSOC].items[i];
        if (!assoc_wanted(change->book, wanted, assoc))
            continue;
        tell_assoc(change, assoc, 20);
        r = change_apply_sets(change, KEY_USER, ASSOC_ASSOC, change_edit(change, ASSOC_ASSOC, i));
        if (r == 0)
            r = change_check_account(change, assoc->account, "its users");
    }
    return r;
}

static int modify(struct change *change, uint32_t kinds) {
    struct wanted wanted = wanted_read(change);
    int r = 0;
    if (kinds & 1u << ASSOC_USER)
        r = modify_users(change, &wanted);
    if (r == 0 && (kinds & 1u << ASSOC_ASSOC))
        r = modify_assocs(change, &wanted);
    wanted_done(&wanted);
    return r;
}

/* ---- deleting ---- */

static int delete_assocs(struct change *change, const struct wanted *wanted, bool tell) {
    for (size_t i = 0; i < change->book->entries[ASSOC_ASSOC].n; i++) {
        const struct assoc *assoc = change->book->entries[ASSOC_ASSOC].items[i];
        if (!assoc_wanted(change->book, wanted, assoc))
            continue;
        int r = change_check_account(change, assoc->account, "its users");
        if (r == 0 && str_equal(assoc->user, "root") && str_equal(assoc->account, ROOT_ACCOUNT))
            r = error_set(change->err, ERR_INVALID, " User root stays in account root.");
        if (r < 0)
            return r;
        if (tell)
            tell_assoc(change, assoc, 10);
        change_remove(change, ASSOC_ASSOC, i);
    }
    return 0;
}

static void forget_coordinator(struct change *change, const char *name) {
    for (size_t i = 0; i < change->book->entries[ASSOC_ACCOUNT].n; i++) {
        const struct account *account = change_seen(change, ASSOC_ACCOUNT, i);
        if (account == NULL || !strs_has(&account->coordinators, name))
            continue;
        struct account *next = change_edit(change, ASSOC_ACCOUNT, i);
        strs_drop(&next->coordinators, name);
    }
}

/* Those of the users who have no association left. */
static int delete_users(struct change *change, const struct wanted *wanted, const char *title) {
    for (size_t i = 0; i < change->book->entries[ASSOC_USER].n; i++) {
        const struct acct_user *user = change->book->entries[ASSOC_USER].items[i];
        if (!strs_pass(&wanted->users, user->name) ||
            change_find_assoc(change, NULL, user->name, NULL, true) != NULL)
            continue;
        /* one who has had none before goes by an operator's word only */
        if (change->plan->edits.n == 0 && !asker_is_operator(change->book, change->asker))
            return error_set(change->err, ERR_ACCESS_DENIED,
                             "only operators and administrators may delete user %s", user->name);
        if (title != NULL)
            str_append(&change->plan->text, title);
        title = NULL;
        str_printf(&change->plan->text, "  %s\n", user->name);
        change_remove(change, ASSOC_USER, i);
        forget_coordinator(change, user->name);
    }
    return 0;
}

static int delete (struct change *change) {
    struct wanted wanted = wanted_read(change);
    bool whole = wanted.accounts.n + wanted.partitions.n == 0;
    int r = 0;
    if (wanted.wckeys.n > 0) {
        r = whole
                ? change_delete_wckeys(change, &wanted.users, &wanted.wckeys)
                : error_set(change->err, ERR_INVALID, " Mixing Account and WCKeys is not allowed");
        wanted_done(&wanted);
        return r;
    }
    if (wanted.users.n + wanted.accounts.n + wanted.partitions.n + wanted.defaults.n == 0)
        r = error_set(change->err, ERR_INVALID, " No conditions given to remove, not executing.");
    if (!whole)
        str_append(&change->plan->text, " Deleting user associations...\n");
    if (r == 0)
        r = delete_assocs(change, &wanted, !whole);
    if (r == 0 && (whole || change->plan->edits.n > 0))
        r = delete_users(change, &wanted,
                         whole ? " Deleting users...\n" : " Deleting users (No Associations)...\n");
    if (r == 0)
        change_mend_defaults(change);
    wanted_done(&wanted);
    return r;
}

int change_user(struct change *change) {
    uint32_t kinds = 0;
    bool adds = change->request->verb == ASSOC_VERB_ADD;
    int r = change_check_conditions(change, conditions, adds ? N_ADD_WORDS : countof(conditions));
    if (r == 0 && change->request->verb != ASSOC_VERB_DELETE)
        r = change_check_sets(change, KEY_USER, conditions, N_ADD_WORDS, &kinds);
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
