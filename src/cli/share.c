/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/share.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "model/account.h"
#include "text/duration.h"

/* As many of those who used most are named. */
#define NAMED 3
#define DEEPEST 64

static const struct share *account_find(const struct share_list *list, const char *name) {
    for (uint32_t i = 0; name != NULL && i < list->items.n; i++) {
        if (list->items.items[i].user == NULL && str_equal(list->items.items[i].account, name))
            return &list->items.items[i];
    }
    return NULL;
}

/* The account above it, NULL for the root. */
static const char *above_name(const struct share *share) {
    return share->user != NULL ? share->account : share->parent;
}

static const char *name_of(const struct share *share) {
    return share->user != NULL ? share->user : share->account;
}

/* ---- who has used most ---- */

struct users {
    const struct share *most[NAMED];
    size_t n;
};

static void users_note(struct users *users, const struct share *share) {
    size_t at = users->n;
    while (at > 0 && users->most[at - 1]->usage < share->usage)
        at--;
    if (at == NAMED || share->usage <= 0)
        return;
    users->n = min_of(users->n + 1, (size_t) NAMED);
    for (size_t i = users->n - 1; i > at; i--)
        users->most[i] = users->most[i - 1];
    users->most[at] = share;
}

/* All below an account stand behind it in the list. */
static void users_below(const struct share_list *list, const struct share *account,
                        struct users *ret) {
    struct smap inside = SMAP_INIT;
    smap_put(&inside, account->account, &inside);
    for (const struct share *at = account + 1; at < list->items.items + list->items.n; at++) {
        if (smap_get(&inside, above_name(at)) == NULL)
            break;
        if (at->user != NULL)
            users_note(ret, at);
        else
            smap_put(&inside, at->account, &inside);
    }
    smap_done(&inside);
}

static void print_users(const struct share_list *list, const struct share *share, struct str *out) {
    struct users users = {.n = 0};
    if (share->user == NULL)
        users_below(list, share, &users);
    for (size_t i = 0; i < users.n; i++)
        str_printf(out, "%s%s (%.0f %%)", i == 0 ? "    most of it by " : ", ", users.most[i]->user,
                   100 * users.most[i]->usage / share->usage);
    if (users.n > 0)
        str_append_char(out, '\n');
}

/* ---- levels ---- */

static void print_even(const struct share *share, struct str *out) {
    if (share->even_in < 0) {
        str_append(out, "    even again only once the others use more than now\n");
        return;
    }
    str_append(out, "    even again in ");
    duration_print_long(share->even_in, out);
    str_append(out, " if all go on as now\n");
}

static void print_level(const struct share_list *list, const struct share *share, struct str *out) {
    if (share->shares == SHARES_PARENT) {
        str_printf(out, "  %s has the share of %s\n", name_of(share), above_name(share));
        return;
    }
    const char *judged = share->norm_shares <= 0                        ? "nothing is due"
                         : share->effective_usage <= share->norm_shares ? "within its share"
                                                                        : "over its share";
    str_printf(out, "  %s %s: %.1f %% of the shares of %s, %.1f %% of the usage there, %s\n",
               share->user != NULL ? "user" : "account", name_of(share), 100 * share->norm_shares,
               above_name(share), 100 * share->effective_usage, judged);
    if (share->norm_shares <= 0 || share->effective_usage <= share->norm_shares)
        return;
    print_users(list, share, out);
    print_even(share, out);
}

static void print_assoc(const struct share_list *list, const struct share *share, struct str *out) {
    uint32_t before = 0, users = 0;
    for (uint32_t i = 0; i < list->items.n; i++) {
        const struct share *other = &list->items.items[i];
        users += other->user != NULL;
        before += other->user != NULL && other->factor > share->factor;
    }
    str_printf(out, "%s in account %s%s%s: fair share %.4f, %u of %u users go first\n", share->user,
               share->account, share->partition != NULL ? ", partition " : "",
               share->partition != NULL ? share->partition : "", share->factor, before, users);
    const struct share *path[DEEPEST];
    size_t n = 0;
    for (const struct share *at = share; at != NULL && n < DEEPEST;
         at = account_find(list, above_name(at))) {
        if (at->user != NULL || at->parent != NULL)
            path[n++] = at;
    }
    while (n-- > 0)
        print_level(list, path[n], out);
}

static void print_rules(const struct share_list *list, struct str *out) {
    if (!list->multifactor)
        str_append(out, "Shares order nobody here: PriorityType=priority/basic.\n");
    if (list->half_life > 0) {
        str_append(out, "Usage loses half its weight in ");
        duration_print_long(list->half_life, out);
        str_append(out, ".\n");
    }
}

bool share_text(const struct share_list *list, const char *user, struct str *out) {
    bool found = false;
    for (uint32_t i = 0; i < list->items.n; i++) {
        const struct share *share = &list->items.items[i];
        if (!str_equal_nocase(share->user, user))
            continue;
        if (found)
            str_append_char(out, '\n');
        found = true;
        print_assoc(list, share, out);
    }
    if (found)
        print_rules(list, out);
    return found;
}
