/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Users and groups by the system's name service, with a small cache, because LDAP may take
 * milliseconds or hang. The blocking calls ask the name service on a miss; userdb_resolve() asks in
 * the background. One thread.
 */
#ifndef SLUICE_OS_USERDB_H
#define SLUICE_OS_USERDB_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

struct loop;
struct userdb;

#define USERDB_NAME_MAX 256

struct userdb_user {
    uid_t uid;
    gid_t gid;
    char name[USERDB_NAME_MAX];
    char *home, *shell;
};
void userdb_user_done(struct userdb_user *user);

/* Keeps at most max_entries names, each for ttl_sec seconds. */
struct userdb *userdb_new(size_t max_entries, unsigned ttl_sec);
void userdb_free(struct userdb *db); /* after all userdb_resolve() have come back */

/* "root" or "0"; a number need not exist in the database (then name is the number, home "/").
 * ERR_USER_ID. Not cached. */
must_check int userdb_find(const char *name_or_uid, struct userdb_user *ret, struct error *err);
must_check int userdb_find_uid(uid_t uid, struct userdb_user *ret, struct error *err);
/* The name, or the number as text when it has none. Valid until the next call with db. */
const char *userdb_user_name(struct userdb *db, uid_t uid);
const char *userdb_group_name(struct userdb *db, gid_t gid);
must_check int userdb_find_group(const char *name_or_gid, gid_t *ret, struct error *err);
/* All groups of a user, the primary one included; *ret is freed by the caller. At most 65536. */
must_check int userdb_groups(const char *name, gid_t primary, gid_t **ret, size_t *ret_n,
                             struct error *err);
/* Is the user in the group (by primary group or membership)? Cached. */
bool userdb_is_member(struct userdb *db, uid_t uid, gid_t gid);

/* Looks the name of uid up in a worker thread and calls done(name) in the loop; at once when it is
 * in the cache. */
void userdb_resolve(struct userdb *db, struct loop *loop, uid_t uid,
                    void (*done)(uid_t uid, const char *name, void *context), void *context);

#endif
