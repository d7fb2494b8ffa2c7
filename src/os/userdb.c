/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Users and groups; see userdb.h. The cache is three maps from a number to an entry; when one is
 * full it is emptied, which costs a look-up per name now and then and needs no order.
 */
#include "os/userdb.h"

#include <assert.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/str.h"
#include "os/loop.h"

#define BUFFER_MAX (1u << 20) /* a group line with very many members */
#define GROUPS_MAX 65536

struct entry {
    uint64_t until_usec;
    char *name;    /* of a user or group */
    gid_t *groups; /* of a user */
    size_t n_groups;
};

struct userdb {
    size_t max_entries;
    uint64_t ttl_usec;
    struct map users, groups, members;
};

/* ---- the name service ---- */

void userdb_user_done(struct userdb_user *user) {
    free(user->home);
    free(user->shell);
    *user = (struct userdb_user) {0};
}

/* Calls get with a buffer that grows until the answer fits. Returns 0 found, ENOENT, or an errno.
 */
#define WITH_BUFFER(buffer, size, call)                                                            \
    ({                                                                                             \
        int errnum_;                                                                               \
        do {                                                                                       \
            size *= 2;                                                                             \
            buffer = xreallocarray(buffer, size, 1);                                               \
            errnum_ = (call);                                                                      \
        } while (errnum_ == ERANGE && size < BUFFER_MAX);                                          \
        errnum_;                                                                                   \
    })

static int find_passwd(const char *name, uid_t uid, struct userdb_user *ret) {
    cleanup_free char *buffer = NULL;
    size_t size = 1024;
    struct passwd entry, *found = NULL;
    int errnum = name ? WITH_BUFFER(buffer, size, getpwnam_r(name, &entry, buffer, size, &found))
                      : WITH_BUFFER(buffer, size, getpwuid_r(uid, &entry, buffer, size, &found));
    if (!found)
        return errnum ? errnum : ENOENT;
    if (strlen(found->pw_name) >= sizeof(ret->name))
        return ENAMETOOLONG;
    *ret = (struct userdb_user) {.uid = found->pw_uid, .gid = found->pw_gid};
    strcpy(ret->name, found->pw_name);
    ret->home = xstrdup(found->pw_dir && *found->pw_dir ? found->pw_dir : "/");
    ret->shell = xstrdup(found->pw_shell && *found->pw_shell ? found->pw_shell : "/bin/sh");
    return 0;
}

static bool is_absent(int errnum) {
    /* The manual lists these as what implementations return for "no such entry". */
    return errnum == ENOENT || errnum == ESRCH || errnum == EBADF || errnum == EPERM;
}

int userdb_find_uid(uid_t uid, struct userdb_user *ret, struct error *err) {
    int errnum = find_passwd(NULL, uid, ret);
    if (errnum == 0)
        return 0;
    if (!is_absent(errnum))
        return error_errno(err, errnum, "cannot look up uid %u", (unsigned) uid);
    *ret = (struct userdb_user) {.uid = uid, .gid = (gid_t) uid};
    snprintf(ret->name, sizeof(ret->name), "%u", (unsigned) uid);
    ret->home = xstrdup("/");
    ret->shell = xstrdup("/bin/sh");
    return 0;
}

int userdb_find(const char *name_or_uid, struct userdb_user *ret, struct error *err) {
    int errnum = find_passwd(name_or_uid, 0, ret);
    if (errnum == 0)
        return 0;
    uint64_t number;
    if (str_to_u64(name_or_uid, &number) && number < (uid_t) -1)
        return userdb_find_uid((uid_t) number, ret, err);
    if (!is_absent(errnum))
        return error_errno(err, errnum, "cannot look up user %s", name_or_uid);
    return error_set(err, ERR_USER_ID, "user %s does not exist (see `getent passwd %s`)",
                     name_or_uid, name_or_uid);
}

static int find_group(const char *name, gid_t gid, gid_t *ret_gid, char **ret_name) {
    cleanup_free char *buffer = NULL;
    size_t size = 1024;
    struct group entry, *found = NULL;
    int errnum = name ? WITH_BUFFER(buffer, size, getgrnam_r(name, &entry, buffer, size, &found))
                      : WITH_BUFFER(buffer, size, getgrgid_r(gid, &entry, buffer, size, &found));
    if (!found)
        return errnum ? errnum : ENOENT;
    *ret_gid = found->gr_gid;
    if (ret_name)
        *ret_name = xstrdup(found->gr_name);
    return 0;
}

int userdb_find_group(const char *name_or_gid, gid_t *ret, struct error *err) {
    int errnum = find_group(name_or_gid, 0, ret, NULL);
    uint64_t number;
    if (errnum == 0)
        return 0;
    if (str_to_u64(name_or_gid, &number) && number < (gid_t) -1) {
        *ret = (gid_t) number;
        return 0;
    }
    if (!is_absent(errnum))
        return error_errno(err, errnum, "cannot look up group %s", name_or_gid);
    return error_set(err, ERR_NOT_FOUND, "group %s does not exist (see `getent group %s`)",
                     name_or_gid, name_or_gid);
}

int userdb_groups(const char *name, gid_t primary, gid_t **ret, size_t *ret_n, struct error *err) {
    int n = 64;
    for (;;) {
        int capacity = n;
        cleanup_free gid_t *groups = xreallocarray(NULL, (size_t) capacity, sizeof(gid_t));
        if (getgrouplist(name, primary, groups, &n) >= 0) {
            *ret_n = (size_t) n;
            *ret = take(groups);
            return 0;
        }
        if (n <= capacity)
            n = capacity * 2; /* some C libraries do not say how many there are */
        if (n > GROUPS_MAX)
            return error_set(err, ERR_LIMIT, "user %s is in more than %u groups", name, GROUPS_MAX);
    }
}

/* ---- the cache ---- */

static void entry_free(struct entry *entry) {
    if (!entry)
        return;
    free(entry->name);
    free(entry->groups);
    free(entry);
}

static void cache_empty(struct map *map) {
    size_t at = 0;
    uint64_t key;
    struct entry *entry;
    while ((entry = map_next(map, &at, &key)))
        entry_free(entry);
    map_clear(map);
}

static struct entry *cache_get(const struct map *map, uint64_t key) {
    struct entry *entry = map_get(map, key);
    return entry && entry->until_usec > loop_monotonic_usec() ? entry : NULL;
}

static struct entry *cache_add(struct userdb *db, struct map *map, uint64_t key) {
    if (map->n >= db->max_entries)
        cache_empty(map);
    struct entry *entry = zalloc(struct entry);
    entry->until_usec = loop_monotonic_usec() + db->ttl_usec;
    entry_free(map_put(map, key, entry));
    return entry;
}

struct userdb *userdb_new(size_t max_entries, unsigned ttl_sec) {
    assert(max_entries > 0);
    struct userdb *db = zalloc(struct userdb);
    db->max_entries = max_entries;
    db->ttl_usec = (uint64_t) ttl_sec * 1000000;
    return db;
}

void userdb_free(struct userdb *db) {
    if (!db)
        return;
    cache_empty(&db->users);
    cache_empty(&db->groups);
    cache_empty(&db->members);
    map_done(&db->users);
    map_done(&db->groups);
    map_done(&db->members);
    free(db);
}

/* Never fails: an error of the name service yields the number, which is still true. */
static char *user_name(uid_t uid) {
    struct userdb_user user = {0};
    struct error ignored = ERROR_INIT;
    char *name = userdb_find_uid(uid, &user, &ignored) == 0 ? xstrdup(user.name)
                                                            : xasprintf("%u", (unsigned) uid);
    userdb_user_done(&user);
    return name;
}

const char *userdb_user_name(struct userdb *db, uid_t uid) {
    struct entry *entry = cache_get(&db->users, uid);
    if (!entry) {
        char *name = user_name(uid);
        entry = cache_add(db, &db->users, uid);
        entry->name = name;
    }
    return entry->name;
}

const char *userdb_group_name(struct userdb *db, gid_t gid) {
    struct entry *entry = cache_get(&db->groups, gid);
    if (!entry) {
        char *name = NULL;
        gid_t ignored;
        if (find_group(NULL, gid, &ignored, &name) != 0)
            name = xasprintf("%u", (unsigned) gid);
        entry = cache_add(db, &db->groups, gid);
        entry->name = name;
    }
    return entry->name;
}

bool userdb_is_member(struct userdb *db, uid_t uid, gid_t gid) {
    struct entry *entry = cache_get(&db->members, uid);
    if (!entry) {
        struct userdb_user user = {0};
        struct error ignored = ERROR_INIT;
        gid_t *groups = NULL;
        size_t n = 0;
        if (userdb_find_uid(uid, &user, &ignored) < 0 ||
            userdb_groups(user.name, user.gid, &groups, &n, &ignored) < 0)
            n = 0;
        userdb_user_done(&user);
        entry = cache_add(db, &db->members, uid);
        entry->groups = groups;
        entry->n_groups = n;
    }
    for (size_t i = 0; i < entry->n_groups; i++)
        if (entry->groups[i] == gid)
            return true;
    return false;
}

/* ---- in the background ---- */

struct resolve_job {
    struct userdb *db;
    uid_t uid;
    char *name;
    void (*done)(uid_t uid, const char *name, void *context);
    void *context;
};

static void resolve_work(void *context) {
    struct resolve_job *job = context;
    job->name = user_name(job->uid);
}

static void resolve_done(void *context) {
    struct resolve_job *job = context;
    struct entry *entry = cache_add(job->db, &job->db->users, job->uid);
    entry->name = job->name;
    job->done(job->uid, entry->name, job->context);
    free(job);
}

void userdb_resolve(struct userdb *db, struct loop *loop, uid_t uid,
                    void (*done)(uid_t uid, const char *name, void *context), void *context) {
    struct entry *entry = cache_get(&db->users, uid);
    if (entry) {
        done(uid, entry->name, context);
        return;
    }
    struct resolve_job *job = zalloc(struct resolve_job);
    *job = (struct resolve_job) {.db = db, .uid = uid, .done = done, .context = context};
    loop_work(loop, resolve_work, resolve_done, job);
}
