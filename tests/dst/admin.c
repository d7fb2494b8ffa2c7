/* SPDX-License-Identifier: Apache-2.0 */
#include "admin.h"

#include <stdio.h>

static uint32_t below(struct users *users, uint32_t n) {
    return (uint32_t) rng_below(&users->rng, n);
}

static bool one_in(struct users *users, uint32_t n) {
    return below(users, n) == 0;
}

/* ---- reservations ---- */

struct wish {
    struct key_value changes[8];
    size_t n;
    char texts[8][64];
};

static void wish_add(struct wish *wish, const char *key, const char *fmt, ...) printf_like(3, 4);

static void wish_add(struct wish *wish, const char *key, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    vsnprintf(wish->texts[wish->n], sizeof(wish->texts[0]), fmt, args);
    va_end(args);
    wish->changes[wish->n] = (struct key_value) {(char *) (uintptr_t) key, wish->texts[wish->n]};
    wish->n++;
}

static void ask(struct users *users, uint32_t number, struct wish *wish, bool create, bool remove) {
    struct update update;
    char name[8];
    snprintf(name, sizeof(name), "r%u", number);
    record_init(&record_update, &update);
    update.entity = (char *) (uintptr_t) "reservation";
    update.target = name;
    update.changes.items = wish->changes;
    update.changes.n = (uint32_t) wish->n;
    update.create = create;
    update.remove = remove;
    users_send_update(users, &update);
}

static void wish_for_nodes(struct users *users, struct wish *wish) {
    if (one_in(users, 2))
        wish_add(wish, "NodeCnt", "%u", 1 + below(users, users->n_nodes));
    else
        wish_add(wish, "Nodes", "n%u", 1 + below(users, users->n_nodes));
}

static void wish_for_users(struct users *users, struct wish *wish) {
    static const char *const lists[] = {"anna", "bert,cleo", "anna,dora,emil"};
    wish_add(wish, "Users", "%s", lists[below(users, countof(lists))]);
}

static void create(struct users *users, uint32_t number) {
    static const char *const flags[] = {"DAILY",    "HOURLY",     "IGNORE_JOBS",
                                        "MAINT",    "FLEX",       "NO_HOLD_JOBS_AFTER_END",
                                        "MAGNETIC", "PURGE_COMP", "REPLACE_DOWN"};
    struct wish wish = {.n = 0};
    if (one_in(users, 2))
        wish_add(&wish, "StartTime", "now");
    else
        wish_add(&wish, "StartTime", "now+%u", 60 + below(users, 7200));
    wish_add(&wish, "Duration", "%u", 5 + below(users, 180));
    wish_for_users(users, &wish);
    wish_for_nodes(users, &wish);
    if (one_in(users, 2))
        wish_add(&wish, "Flags", "%s", flags[below(users, countof(flags))]);
    if (one_in(users, 3))
        wish_add(&wish, "PartitionName", "main");
    ask(users, number, &wish, true, false);
}

static void change(struct users *users, uint32_t number) {
    struct wish wish = {.n = 0};
    switch (below(users, 3)) {
    case 0:
        wish_add(&wish, "Duration", "%u", 5 + below(users, 240));
        break;
    case 1:
        wish_for_users(users, &wish);
        break;
    default:
        wish_for_nodes(users, &wish);
        break;
    }
    ask(users, number, &wish, false, false);
}

static void delete_one(struct users *users, uint32_t number) {
    struct wish wish = {.n = 0};
    ask(users, number, &wish, false, true);
}

void admin_delete_reservations(struct users *users) {
    for (uint32_t number = 1; number <= ADMIN_RESERVATIONS; number++)
        delete_one(users, number);
}

/* ---- what to do next ---- */

void admin_act(struct users *users) {
    uint32_t number = 1 + below(users, ADMIN_RESERVATIONS);
    switch (below(users, 6)) {
    case 0:
    case 1:
    case 2:
        create(users, number);
        break;
    case 3:
        change(users, number);
        break;
    case 4:
        delete_one(users, number);
        break;
    default:
        users->reconfigure(users->reconfigure_context);
        break;
    }
}
