/* SPDX-License-Identifier: Apache-2.0 */
/* Groups: making, entering, listing, ending, removing them; see cgroup.h. */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/vec.h"
#include "os/cgroup_internal.h"

#define DEPTH_MAX 16
#define FREEZE_TRIES 100 /* a millisecond apart */
#define REMOVE_TRIES                                                                               \
    20 /* a millisecond apart: a killed process leaves its group a little later                    \
        */

struct pid_vec {
    pid_t *items;
    size_t n, capacity;
};

static void sleep_msec(unsigned msec) {
    struct timespec time = {.tv_nsec = (long) msec * 1000000};
    nanosleep(&time, NULL);
}

/* ---- directories ---- */

static const char *part_root(const struct cgroup_tree *tree, enum cgroup_part part) {
    if (part == CGROUP_TRACK ? tree->tracks_by_v2 : (tree->v2_parts & part) != 0)
        return tree->v2_root;
    return tree->v1_roots[__builtin_ctz(part)];
}

char *cgroup_dir(const struct cgroup *group, enum cgroup_part part) {
    return xasprintf("%s/%s", part_root(group->tree, part), group->path);
}

/* A new v1 cpuset is empty and takes no process before it has both lists. */
static void cpuset_inherit(const char *parent, const char *dir) {
    static const char *const names[] = {"cpuset.cpus", "cpuset.mems"};
    for (size_t i = 0; i < countof(names); i++) {
        cleanup_str struct str own = STR_INIT, value = STR_INIT;
        if (cgroup_read(dir, names[i], &own) == 0 && *str_trim(own.data) == '\0' &&
            cgroup_read(parent, names[i], &value) == 0)
            cgroup_write(dir, names[i], str_trim(value.data));
    }
}

/* Makes dir and what is missing above it. Below a v2 root, each parent hands its controllers on. */
static int make_dirs(const struct cgroup_tree *tree, enum cgroup_part part, const char *root,
                     const char *path, struct error *err) {
    cleanup_free char *dir = xasprintf("%s/%s", root, path);
    bool is_v2 = root == tree->v2_root;
    /* Start at the mount point: the base may be missing, too. */
    for (char *at = dir + 1;; at++) {
        if (*at != '/' && *at != '\0')
            continue;
        char separator = *at;
        *at = '\0';
        if (mkdir(dir, 0755) < 0 && errno != EEXIST && errno != EROFS && errno != EACCES)
            return error_errno(err, errno, "cannot make control group %s", dir);
        bool is_above = (size_t) (at - dir) >= strlen(root);
        if (is_above && !is_v2 && part == CGROUP_CPUSET) {
            char *slash = strrchr(dir, '/');
            *slash = '\0';
            cleanup_free char *parent = xstrdup(dir);
            *slash = '/';
            cpuset_inherit(parent, dir);
        }
        if (is_above && is_v2 && separator && part != CGROUP_TRACK) {
            cleanup_free char *control = xasprintf("+%s", cgroup_part_name(part));
            int errnum = cgroup_write(dir, "cgroup.subtree_control", control);
            if (errnum != 0)
                return error_errno(
                    err, errnum, "cannot hand the %s controller on in %s%s", cgroup_part_name(part),
                    dir, errnum == EBUSY ? " (processes must not be in that group itself)" : "");
        }
        if (!separator)
            break;
        *at = separator;
    }
    if (access(dir, W_OK) < 0)
        return error_errno(err, errno, "cannot use control group %s", dir);
    return 0;
}

int cgroup_make(struct cgroup_tree *tree, const char *path, uint32_t parts, struct cgroup **ret,
                struct error *err) {
    assert(tree && path && *path && *path != '/' && !strstr(path, ".."));
    parts |= CGROUP_TRACK;
    for (unsigned i = 0; i < CGROUP_PARTS; i++) {
        uint32_t part = parts & (1u << i);
        if (part & ~tree->parts)
            return error_set(
                err, ERR_NOT_SUPPORTED,
                "control groups give no %s here (%s); mount that controller and let "
                "this user write to it, or set the Constrain… option in cgroup.conf to "
                "no",
                cgroup_part_name(part), str_cstr(&tree->description));
        int r = part ? make_dirs(tree, part, part_root(tree, part), path, err) : 0;
        if (r < 0)
            return r;
    }
    struct cgroup *group = zalloc(struct cgroup);
    *group = (struct cgroup) {.tree = tree, .path = xstrdup(path), .parts = parts};
    *ret = group;
    return 0;
}

void cgroup_free(struct cgroup *group) {
    if (!group)
        return;
    free(group->path);
    free(group);
}

/* Calls fn for the directory and, before it, for all below it. Returns 0 or an errno. */
static int walk(const char *dir, int depth, int (*fn)(const char *dir, void *context),
                void *context) {
    DIR *stream = opendir(dir);
    if (!stream)
        return errno == ENOENT ? 0 : errno;
    int errnum = 0;
    struct dirent *entry;
    while (errnum == 0 && (entry = readdir(stream))) {
        if (entry->d_type != DT_DIR || entry->d_name[0] == '.' || depth == DEPTH_MAX)
            continue;
        cleanup_free char *below = xasprintf("%s/%s", dir, entry->d_name);
        errnum = walk(below, depth + 1, fn, context);
    }
    closedir(stream);
    return errnum != 0 ? errnum : fn(dir, context);
}

static int remove_one(const char *dir, void *context) {
    for (int i = 0;; i++) {
        if (rmdir(dir) == 0 || errno == ENOENT)
            return 0;
        if (errno != EBUSY || i == REMOVE_TRIES)
            return errno;
        sleep_msec(1);
    }
}

int cgroup_remove(struct cgroup *group, struct error *err) {
    for (unsigned i = CGROUP_PARTS; i-- > 0;) { /* tracking last: it tells what is left */
        if (!(group->parts & (1u << i)))
            continue;
        cleanup_free char *dir = cgroup_dir(group, 1u << i);
        int errnum = walk(dir, 0, remove_one, NULL);
        if (errnum == EBUSY)
            return error_set(err, ERR_BUSY, "control group %s still has processes", dir);
        if (errnum != 0)
            return error_errno(err, errnum, "cannot remove control group %s", dir);
    }
    return 0;
}

/* ---- entering ---- */

static int open_entry(const struct cgroup *group, enum cgroup_part part, struct error *err) {
    cleanup_free char *dir = cgroup_dir(group, part);
    cleanup_free char *path = xasprintf("%s/cgroup.procs", dir);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd >= 0 ? fd : error_errno(err, errno, "cannot open %s", path);
}

int cgroup_entry_fds(const struct cgroup *group, int fds[CGROUP_PARTS], struct error *err) {
    int n = 0;
    for (unsigned i = 0; i < CGROUP_PARTS; i++) {
        uint32_t part = group->parts & (1u << i);
        /* All parts that v2 gives share one directory. */
        if (!part || (part != CGROUP_TRACK && (group->tree->v2_parts & part)))
            continue;
        int fd = open_entry(group, part, err);
        if (fd < 0) {
            while (n > 0)
                close(fds[--n]);
            return fd;
        }
        fds[n++] = fd;
    }
    return n;
}

int cgroup_attach(const struct cgroup *group, pid_t pid, struct error *err) {
    int fds[CGROUP_PARTS];
    int n = cgroup_entry_fds(group, fds, err);
    if (n < 0)
        return n;
    char text[16];
    int length = snprintf(text, sizeof(text), "%d", (int) pid);
    int r = 0;
    for (int i = 0; i < n; i++) {
        if (r == 0 && write(fds[i], text, (size_t) length) < 0)
            r = error_errno(err, errno, "cannot move process %d to control group %s", (int) pid,
                            group->path);
        close(fds[i]);
    }
    return r;
}

/* ---- who is in there ---- */

static int collect_pids(const char *dir, void *context) {
    struct pid_vec *pids = context;
    cleanup_str struct str text = STR_INIT;
    int errnum = cgroup_read(dir, "cgroup.procs", &text);
    if (errnum != 0)
        return errnum == ENOENT || errnum == ENODEV ? 0 : errnum; /* removed meanwhile */
    char *cursor = text.data, *word;
    while (cursor && (word = str_next_word(&cursor, "\n"))) {
        pid_t pid = (pid_t) atol(word);
        if (pid > 0) /* 0: in another pid namespace */
            vec_push(pids, pid);
    }
    return 0;
}

int cgroup_pids(const struct cgroup *group, pid_t **ret, size_t *ret_n, struct error *err) {
    cleanup_free char *dir = cgroup_dir(group, CGROUP_TRACK);
    struct pid_vec pids = {0};
    int errnum = walk(dir, 0, collect_pids, &pids);
    if (errnum != 0) {
        vec_done(&pids);
        return error_errno(err, errnum, "cannot list the processes of control group %s", dir);
    }
    *ret = pids.items;
    *ret_n = pids.n;
    return 0;
}

int cgroup_is_empty(const struct cgroup *group, bool *ret, struct error *err) {
    cleanup_free char *dir = cgroup_dir(group, CGROUP_TRACK);
    if (!group->tree->tracks_by_v2) {
        cleanup_free pid_t *pids = NULL;
        size_t n;
        int r = cgroup_pids(group, &pids, &n, err);
        if (r == 0)
            *ret = n == 0;
        return r;
    }
    cleanup_str struct str events = STR_INIT;
    int errnum = cgroup_read(dir, "cgroup.events", &events);
    if (errnum == ENOENT || errnum == ENODEV) {
        *ret = true;
        return 0;
    }
    if (errnum != 0)
        return error_errno(err, errnum, "cannot read the state of control group %s", dir);
    *ret = strstr(str_cstr(&events), "populated 0") != NULL;
    return 0;
}

int cgroup_events_fd(const struct cgroup *group, int *ret_fd, struct error *err) {
    if (!group->tree->tracks_by_v2)
        return error_set(err, ERR_NOT_SUPPORTED,
                         "control groups v1 do not tell when they are empty");
    cleanup_free char *dir = cgroup_dir(group, CGROUP_TRACK);
    cleanup_free char *path = xasprintf("%s/cgroup.events", dir);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_errno(err, errno, "cannot open %s", path);
    *ret_fd = fd;
    return 0;
}

/* ---- ending them ---- */

/* Both versions freeze process by process; one in a long system call may take a while. */
static bool is_frozen(const struct cgroup *group, const char *dir) {
    bool v2 = group->tree->tracks_by_v2;
    cleanup_str struct str state = STR_INIT;
    if (cgroup_read(dir, v2 ? "cgroup.events" : "freezer.state", &state) != 0)
        return true; /* gone */
    return v2 ? strstr(str_cstr(&state), "frozen 1") != NULL : str_starts(state.data, "FROZEN");
}

int cgroup_freeze(const struct cgroup *group, bool frozen, struct error *err) {
    cleanup_free char *dir = cgroup_dir(group, CGROUP_TRACK);
    int errnum = group->tree->tracks_by_v2
                     ? cgroup_write(dir, "cgroup.freeze", frozen ? "1" : "0")
                     : cgroup_write(dir, "freezer.state", frozen ? "FROZEN" : "THAWED");
    if (errnum != 0)
        return error_errno(err, errnum, "cannot %s control group %s", frozen ? "freeze" : "thaw",
                           dir);
    for (int i = 0; frozen && i < FREEZE_TRIES && !is_frozen(group, dir); i++)
        sleep_msec(1);
    return 0;
}

static int signal_each(const struct cgroup *group, int signal, struct error *err) {
    cleanup_free pid_t *pids = NULL;
    size_t n;
    int r = cgroup_pids(group, &pids, &n, err);
    for (size_t i = 0; r == 0 && i < n; i++)
        if (kill(pids[i], signal) < 0 && errno != ESRCH)
            r = error_errno(err, errno, "cannot send signal %d to process %d", signal,
                            (int) pids[i]);
    return r;
}

int cgroup_signal(const struct cgroup *group, int signal, struct error *err) {
    if (signal != SIGKILL)
        return signal_each(group, signal, err);
    if (group->tree->tracks_by_v2) {
        cleanup_free char *dir = cgroup_dir(group, CGROUP_TRACK);
        int errnum = cgroup_write(dir, "cgroup.kill", "1");
        if (errnum == 0)
            return 0;
        struct stat status;
        if (errnum == ENODEV || (errnum == ENOENT && stat(dir, &status) < 0))
            return 0;         /* the group is gone, and with it all that was in it */
        if (errnum != ENOENT) /* ENOENT: Linux before 5.14 */
            return error_errno(err, errnum, "cannot kill the processes of %s", dir);
    }
    /* Frozen processes cannot fork: nobody escapes between the listing and the signal. */
    struct error ignored = ERROR_INIT;
    int frozen = cgroup_freeze(group, true, &ignored);
    int r = signal_each(group, SIGKILL, err);
    if (frozen == 0 && cgroup_freeze(group, false, r == 0 ? err : &ignored) < 0 && r == 0)
        r = err ? err->code : -ERR_SYSTEM;
    return r;
}
