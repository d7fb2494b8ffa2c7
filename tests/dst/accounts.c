/* SPDX-License-Identifier: Apache-2.0 */
#include "accounts.h"

#include <stdio.h>

#define EVERYBODY "anna,bert,cleo,dora,emil"
#define WORDS_MOST 4

static uint32_t below(struct users *users, uint32_t n) {
    return (uint32_t) rng_below(&users->rng, n);
}

struct words {
    struct key_value items[WORDS_MOST];
    uint32_t n;
};

static void word(struct words *words, const char *key, const char *value) {
    words->items[words->n++] =
        (struct key_value) {(char *) (uintptr_t) key, (char *) (uintptr_t) value};
}

static void ask(struct users *users, enum assoc_verb verb, enum assoc_entity entity,
                struct words *where, struct words *set) {
    struct assoc_change change;
    record_init(&record_assoc_change, &change);
    change.verb = verb;
    change.entity = entity;
    change.where.items = where->items;
    change.where.n = where->n;
    change.set.items = set->items;
    change.set.n = set->n;
    change.commit = true;
    users_send_change(users, &change);
}

static void add_account(struct users *users, const char *name, const char *parent) {
    struct words none = {.n = 0}, set = {.n = 0};
    word(&set, "", name);
    if (parent != NULL)
        word(&set, "parent", parent);
    ask(users, ASSOC_VERB_ADD, ASSOC_ENTITY_ACCOUNT, &none, &set);
}

static void add_users(struct users *users) {
    struct words none = {.n = 0}, set = {.n = 0};
    word(&set, "", EVERYBODY);
    word(&set, "account", "lab,team");
    ask(users, ASSOC_VERB_ADD, ASSOC_ENTITY_USER, &none, &set);
}

static void set_limit(struct users *users, bool of_user, const char *name, const char *key,
                      const char *value) {
    struct words where = {.n = 0}, set = {.n = 0};
    word(&where, "", name);
    word(&set, key, value);
    ask(users, ASSOC_VERB_MODIFY, of_user ? ASSOC_ENTITY_USER : ASSOC_ENTITY_ACCOUNT, &where, &set);
}

static void change_limit(struct users *users) {
    static const char *const names[] = {"anna", "bert", "cleo", "dora", "emil"};
    const char *account = below(users, 2) == 0 ? "lab" : "team";
    const char *user = names[below(users, countof(names))];
    uint32_t all = users->n_nodes * users->cpus;
    char value[32];
    switch (below(users, 6)) {
    case 0:
        snprintf(value, sizeof(value), "cpu=%u", 1 + below(users, all));
        set_limit(users, false, account, "grptres", value);
        break;
    case 1:
        snprintf(value, sizeof(value), "%u", below(users, 8));
        set_limit(users, false, account, "grpjobs", value);
        break;
    case 2:
        snprintf(value, sizeof(value), "%u", 1 + below(users, 4));
        set_limit(users, true, user, "maxjobs", value);
        break;
    case 3:
        snprintf(value, sizeof(value), "cpu=%u", 600 + below(users, 600 * all));
        set_limit(users, false, account, "grptresmins", value);
        break;
    case 4:
        set_limit(users, false, account, "grpjobs", "-1");
        break;
    default:
        set_limit(users, false, account, "grptresmins", "cpu=-1");
        break;
    }
}

const char *accounts_choose(struct users *users) {
    uint32_t which = below(users, 3);
    return which == 0 ? "lab" : which == 1 ? "team" : NULL;
}

void accounts_act(struct users *users) {
    if (limits_know(&users->check->limits, "team", "emil")) {
        change_limit(users);
    } else if (limits_know(&users->check->limits, "team", NULL)) {
        add_users(users);
    } else {
        add_account(users, "lab", NULL);
        add_account(users, "team", "lab");
    }
}

void accounts_lift(struct users *users) {
    static const char *const accounts[] = {"lab", "team"};
    for (size_t i = 0; i < countof(accounts); i++) {
        set_limit(users, false, accounts[i], "grptres", "cpu=-1");
        set_limit(users, false, accounts[i], "grpjobs", "-1");
        set_limit(users, false, accounts[i], "grptresmins", "cpu=-1");
    }
    set_limit(users, true, EVERYBODY, "maxjobs", "-1");
}
