/* SPDX-License-Identifier: Apache-2.0 */
/* Users and their associations. */
#include <stdlib.h>
#include <string.h>

#include "assoc/change.h"

static const struct change_condition conditions[] = {{"name", 1},      {"user", 1},
                                                     {"account", 2},   {"cluster", 1},
                                                     {"partition", 3}, {"defaultaccount", 8}};
#define N_ADD_WORDS 5 /* DefaultAccount is a setting there */

struct wanted {
    struct strs users, accounts, partitions, defaults;
};

static struct wanted wanted_read(const struct change *change) {
    struct wanted wanted = {change_values(change, "name", 1, true),
                            change_values(change, "account", 2, false),
                            change_values(change, "partition", 3, false),
                            change->request->verb == ASSOC_VERB_ADD
                                ? (struct strs) {NULL, 0}
                                : change_values(change, "defaultaccount", 8, false)};
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
    struct str assocs; /* lines */
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
                     const char *account) {
    if (acct_user_find(change->book, name) != NULL)
        return;
    struct acct_user *next = record_dup(&record_acct_user, &add->user);
    string_set(&next->name, name);
    if (next->default_account == NULL)
        string_set(&next->default_account, account);
    change_add(change, ASSOC_USER, next);
    if (!add->any_user)
        str_append(&change->plan->text, " Adding User(s)\n");
    add->any_user = true;
    str_printf(&change->plan->text, "  %s\n", name);
}

/* A user who is there but without an account gets the new one as the default. */
static void give_default(struct change *change, const char *name, const char *account) {
    const struct acct_user *known = acct_user_find(change->book, name);
    if (known == NULL || known->default_account != NULL)
        return;
    for (size_t i = 0; i < change->book->entries[ASSOC_USER].n; i++) {
        const struct acct_user *user = change->book->entries[ASSOC_USER].items[i];
        if (!str_equal_nocase(user->name, name) || user->default_account != NULL)
            continue;
        struct acct_user *next = change_edit(change, ASSOC_USER, i);
        string_set(&next->default_account, account);
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
        add_user(change, add, name, wanted->accounts.items[0]);
        give_default(change, name, wanted->accounts.items[0]);
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

static int add(struct change *change) {
    struct wanted wanted = wanted_read(change);
    struct addition add = {.assocs = STR_INIT};
    struct str *text = &change->plan->text;
    record_init(&record_acct_user, &add.user);
    record_init(&record_assoc, &add.assoc);
    int r = change_apply_sets(change, KEY_USER, ASSOC_USER, &add.user);
    if (r == 0)
        r = change_apply_sets(change, KEY_USER, ASSOC_ASSOC, &add.assoc);
    if (r == 0 && wanted.users.n == 0)
        r = error_set(change->err, ERR_INVALID, " Need name of user to add.");
    if (r == 0 && wanted.accounts.n == 0 && add.user.default_account != NULL)
        strs_push(&wanted.accounts, add.user.default_account);
    if (r == 0 && wanted.accounts.n == 0)
        r = error_set(change->err, ERR_INVALID, " Need name of account to add user to.");
    if (r == 0 && add.user.admin_level != ADMIN_NONE &&
        !asker_is_admin(change->book, change->asker))
        r = error_set(change->err, ERR_ACCESS_DENIED, "only administrators make administrators");
    if (r == 0 && add.user.default_account != NULL &&
        !strs_has(&wanted.accounts, add.user.default_account))
        r = error_set(change->err, ERR_INVALID,
                      " Default account %s is none of those that the user is added to.",
                      add.user.default_account);
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
        str_printf(text, " Associations =\n%s Non Default Settings\n", add.assocs.data);
    change_settings(change, KEY_USER, ASSOC_ASSOC, &add.assoc, 13);
    record_done(&record_acct_user, &add.user);
    record_done(&record_assoc, &add.assoc);
    str_done(&add.assocs);
    wanted_done(&wanted);
    return r;
}

/* ---- changing ---- */

static bool assoc_wanted(const struct assoc_book *book, const struct wanted *wanted,
                         const struct assoc *assoc) {
    bool fits = assoc->user != NULL && strs_pass(&wanted->users, assoc->user) &&
                strs_pass(&wanted->accounts, assoc->account) &&
                (wanted->partitions.n == 0 ||
                 (assoc->partition != NULL && strs_has(&wanted->partitions, assoc->partition)));
    if (!fits || wanted->defaults.n == 0)
        return fits;
    const struct acct_user *user = acct_user_find(book, assoc->user);
    return user != NULL && user->default_account != NULL &&
           strs_has(&wanted->defaults, user->default_account);
}

static int modify_user(struct change *change, size_t at) {
    struct acct_user *next = change_edit(change, ASSOC_USER, at);
    const struct acct_user *old = change->book->entries[ASSOC_USER].items[at];
    int r = change_apply_sets(change, KEY_USER, ASSOC_USER, next);
    if (r < 0)
        return r;
    if (!asker_is_admin(change->book, change->asker) &&
        (next->admin_level != old->admin_level ||
         !str_equal_nocase(old->name, change->asker->name)))
        return error_set(change->err, ERR_ACCESS_DENIED,
                         "only administrators may change user %s in this", old->name);
    if (next->default_account != NULL &&
        change_find_assoc(change, next->default_account, next->name, NULL, true) == NULL)
        return error_set(change->err, ERR_INVALID,
                         " Can't modify because these users aren't associated with new default "
                         "account '%s'...\n  U = %s C = %s",
                         next->default_account, next->name, change->book->cluster);
    str_printf(&change->plan->text, "  %s\n", next->name);
    return 0;
}

static int modify_users(struct change *change, const struct wanted *wanted) {
    int r = 0;
    str_append(&change->plan->text, " Modified users...\n");
    for (size_t i = 0; r == 0 && i < change->book->entries[ASSOC_USER].n; i++) {
        const struct acct_user *user = change->book->entries[ASSOC_USER].items[i];
        if (strs_pass(&wanted->users, user->name) &&
            (wanted->defaults.n == 0 ||
             (user->default_account != NULL && strs_has(&wanted->defaults, user->default_account))))
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
        /* one who has had none before goes by an administrator's word only */
        if (change->plan->edits.n == 0 && !asker_is_admin(change->book, change->asker))
            return error_set(change->err, ERR_ACCESS_DENIED,
                             "only administrators may delete user %s", user->name);
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
