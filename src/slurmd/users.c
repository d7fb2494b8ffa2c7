/* SPDX-License-Identifier: Apache-2.0 */
/* Users with their groups, looked up away from the loop (a directory service may take seconds) and
 * remembered for a while. */
#include <stdlib.h>

#include "base/alloc.h"
#include "os/userdb.h"
#include "slurmd/slurmd.h"

#define FRESH_USEC 300000000ull

struct lookup {
    struct slurmd *slurmd;
    struct user *user; /* NULL after the work: unknown */
    void (*fn)(const struct user *user, void *context);
    void *context;
};

static void user_free(struct user *user) {
    if (!user)
        return;
    free(user->name);
    free(user->home);
    free(user->shell);
    free(user->groups);
    free(user);
}

/* In a thread. An account that only exists as a number cannot run jobs here. */
static void look_up(void *context) {
    struct lookup *lookup = context;
    struct user *user = lookup->user;
    struct userdb_user found = {0};

    if (userdb_find_uid(user->uid, &found, NULL) < 0) {
        user_free(user);
        lookup->user = NULL;
        return;
    }
    user->name = xstrdup(found.name);
    user->home = take(found.home);
    user->shell = take(found.shell);
    if (user->gid == (gid_t) -1)
        user->gid = found.gid;
    userdb_user_done(&found);
    if (userdb_groups(user->name, user->gid, &user->groups, &user->n_groups, NULL) < 0) {
        user->groups = xmemdup(&user->gid, sizeof(user->gid));
        user->n_groups = 1;
    }
}

static void looked_up(void *context) {
    struct lookup *lookup = context;

    if (lookup->user) {
        lookup->user->looked_up_at = loop_monotonic_usec();
        user_free(map_put(&lookup->slurmd->users, lookup->user->uid, lookup->user));
    }
    lookup->fn(lookup->user, lookup->context);
    free(lookup);
}

void user_find(struct slurmd *slurmd, uid_t uid, gid_t gid,
               void (*fn)(const struct user *user, void *context), void *context) {
    struct user *user = map_get(&slurmd->users, uid);
    struct lookup *lookup;

    if (user && user->gid == gid && user->looked_up_at + FRESH_USEC > loop_monotonic_usec()) {
        fn(user, context);
        return;
    }
    lookup = zalloc(struct lookup);
    lookup->slurmd = slurmd;
    lookup->fn = fn;
    lookup->context = context;
    lookup->user = zalloc(struct user);
    lookup->user->uid = uid;
    lookup->user->gid = gid;
    loop_work(slurmd->loop, look_up, looked_up, lookup);
}

void users_clear(struct slurmd *slurmd) {
    size_t at = 0;
    uint64_t key;
    struct user *user;

    while ((user = map_next(&slurmd->users, &at, &key)))
        user_free(user);
    map_clear(&slurmd->users);
}
