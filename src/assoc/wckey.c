/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of a user, and sacctmgr's changes of them; see assoc.h. */
#include <stdlib.h>
#include <string.h>

#include "assoc/change.h"
#include "base/alloc.h"

const struct user_wckey *user_wckey_find(const struct acct_user *user, const char *name) {
    for (uint32_t i = 0; name != NULL && i < user->wckeys.n; i++) {
        if (str_equal_nocase(user->wckeys.items[i].name, name))
            return &user->wckeys.items[i];
    }
    return NULL;
}

void user_wckey_add(struct acct_user *user, const char *name) {
    uint32_t at = 0;
    if (user_wckey_find(user, name) != NULL)
        return;
    while (at < user->wckeys.n && strcmp(user->wckeys.items[at].name, name) < 0)
        at++;
    user->wckeys.items =
        xreallocarray(user->wckeys.items, user->wckeys.n + 1, sizeof(*user->wckeys.items));
    memmove(&user->wckeys.items[at + 1], &user->wckeys.items[at],
            (user->wckeys.n - at) * sizeof(*user->wckeys.items));
    record_init(&record_user_wckey, &user->wckeys.items[at]);
    string_set(&user->wckeys.items[at].name, name);
    user->wckeys.n++;
}

bool user_wckey_drop(struct acct_user *user, const char *name) {
    const struct user_wckey *found = user_wckey_find(user, name);
    if (found == NULL)
        return false;
    uint32_t at = (uint32_t) (found - user->wckeys.items);
    if (str_equal_nocase(user->default_wckey, name))
        string_set(&user->default_wckey, NULL);
    record_done(&record_user_wckey, &user->wckeys.items[at]);
    user->wckeys.n--;
    memmove(&user->wckeys.items[at], &user->wckeys.items[at + 1],
            (user->wckeys.n - at) * sizeof(*user->wckeys.items));
    return true;
}

void user_wckeys_clear(struct acct_user *user) {
    for (uint32_t i = 0; i < user->wckeys.n; i++)
        record_done(&record_user_wckey, &user->wckeys.items[i]);
    free(user->wckeys.items);
    user->wckeys.items = NULL;
    user->wckeys.n = 0;
}

/* ---- changes ---- */

/* Another number than those of all keys that are there or come. */
static uint32_t next_id(struct change *change) {
    if (change->last_wckey == 0) {
        vec_each (&change->book->entries[ASSOC_USER], entry) {
            const struct acct_user *user = *entry;
            for (uint32_t i = 0; i < user->wckeys.n; i++)
                change->last_wckey = max_of(change->last_wckey, user->wckeys.items[i].id);
        }
    }
    return ++change->last_wckey;
}

void change_number_wckeys(struct change *change, struct acct_user *user) {
    for (uint32_t i = 0; i < user->wckeys.n; i++) {
        if (user->wckeys.items[i].id == 0)
            user->wckeys.items[i].id = next_id(change);
    }
}

void change_give_wckeys(struct change *change, struct acct_user *user, const struct strs *names,
                        struct str *told) {
    for (uint32_t i = 0; i < names->n; i++) {
        if (user_wckey_find(user, names->items[i]) != NULL)
            continue;
        user_wckey_add(user, names->items[i]);
        change_number_wckeys(change, user);
        str_printf(told, "  U = %-9.9s W = %-10.10s C = %-10.10s\n", user->name, names->items[i],
                   change->book->cluster);
    }
    if (user->default_wckey == NULL && names->n > 0)
        string_set(&user->default_wckey, names->items[0]);
}

static void take_from_user(struct change *change, size_t at, const struct strs *names,
                           struct str *defaults) {
    const struct acct_user *old = change->book->entries[ASSOC_USER].items[at];
    for (uint32_t i = 0; i < names->n; i++) {
        if (user_wckey_find(old, names->items[i]) == NULL)
            continue;
        struct acct_user *next = change_edit(change, ASSOC_USER, at);
        if (str_equal_nocase(next->default_wckey, names->items[i]))
            str_printf(defaults, " User %s has no default wckey any more\n", next->name);
        (void) user_wckey_drop(next, names->items[i]);
        str_printf(&change->plan->text, "  C = %-10.10s W = %-20s U = %-9.9s\n",
                   change->book->cluster, names->items[i], next->name);
    }
}

int change_delete_wckeys(struct change *change, const struct strs *users,
                         const struct strs *names) {
    struct str defaults cleanup_str = STR_INIT;
    if (!asker_is_admin(change->book, change->asker))
        return error_set(change->err, ERR_ACCESS_DENIED,
                         "only administrators may delete wckeys of users");
    str_append(&change->plan->text, " Deleting user WCKeys...\n");
    for (size_t i = 0; i < change->book->entries[ASSOC_USER].n; i++) {
        const struct acct_user *user = change->book->entries[ASSOC_USER].items[i];
        if (strs_pass(users, user->name))
            take_from_user(change, i, names, &defaults);
    }
    str_append(&change->plan->text, str_cstr(&defaults));
    return 0;
}
