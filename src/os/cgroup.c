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
#include "os/file.h"

#define DEPTH_MAX 16
#define MAKE_TRIES 20
#define FREEZE_TRIES 100 /* a millisecond apart */
#define REMOVE_TRIES 20  /* too: a killed process leaves its group a little later */

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
    const char *root = part_root(group->tree, part);
    return *group->path ? xasprintf("%s/%s", root, group->path) : xstrdup(root);
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

/* A file that a controller shows in every group that it is enabled for. */
static const char *const probes[CGROUP_PARTS] = {
    [1] = "memory.max", [2] = "cpuset.cpus", [3] = "cpu.max", [4] = "pids.max"};

/* "+memory +pids": the controllers of v2 that the group of this directory lacks. */
static void missing_controllers(const char *dir, uint32_t parts, struct str *out) {
    for (unsigned i = 0; i < CGROUP_PARTS; i++) {
        cleanup_free char *probe = NULL;
        if (!(parts & (1u << i)) || !probes[i])
            continue;
        probe = xasprintf("%s/%s", dir, probes[i]);
        if (access(probe, F_OK) < 0)
            str_printf(out, "%s+%s", out->length > 0 ? " " : "", cgroup_part_name(1u << i));
    }
}

/* Has the group above hand its controllers on. */
static int hand_on(const char *parent, const char *dir, uint32_t parts, struct error *err) {
    cleanup_str struct str controls = STR_INIT;
    missing_controllers(dir, parts, &controls);
    if (controls.length == 0)
        return 0;
    int errnum = cgroup_write(parent, "cgroup.subtree_control", controls.data);
    if (errnum == 0)
        return 0;
    if (errnum == ENOENT || errnum == ENODEV)
        return error_set(err, ERR_NOT_FOUND, "control group %s has no %s to hand on", parent,
                         controls.data);
    return error_errno(err, errnum, "cannot write %s to %s/cgroup.subtree_control%s", controls.data,
                       parent, errnum == EBUSY ? " (no process may be in that group itself)" : "");
}

/* What a group needs before it can be used; `parts` are those that this hierarchy provides. */
static int set_up(const char *dir, uint32_t parts, bool is_v2, struct error *err) {
    cleanup_free char *parent = xstrdup(dir);
    *strrchr(parent, '/') = '\0';
    if (is_v2)
        return hand_on(parent, dir, parts, err);
    if (parts & CGROUP_CPUSET)
        cpuset_inherit(parent, dir);
    /* Linux before 5.11 counts a group's memory without those below it unless it is told to. */
    if (parts & CGROUP_MEMORY)
        (void) cgroup_write(dir, "memory.use_hierarchy", "1");
    return 0;
}

/* Makes dir and what is missing above it. The last step of a job removes the job's group and may do
 * so while we make ours in it: then again. */
static int make_dir(const char *dir, uint32_t parts, bool is_v2, struct error *err) {
    struct error why = ERROR_INIT; /* of the last try */
    for (unsigned i = 0; i < MAKE_TRIES; i++) {
        int errnum = mkdir(dir, 0755) == 0 ? 0 : errno;
        if (errnum == 0 || errnum == EEXIST) {
            int r = errnum == 0 || is_v2 ? set_up(dir, parts, is_v2, &why) : 0;
            if (r == 0)
                return 0;
            if (r == -ERR_NOT_FOUND)
                continue;
            break;
        }
        error_errno(&why, errnum, "cannot make control group %s", dir);
        cleanup_free char *parent = xstrdup(dir);
        char *slash = strrchr(parent, '/');
        if (errnum != ENOENT || slash == parent)
            break;
        *slash = '\0';
        int above = make_dir(parent, parts, is_v2, err);
        if (above < 0)
            return above;
    }
    if (err)
        *err = why;
    return why.code;
}

/* The parts that are one directory: all that v2 provides, or one of v1. */
static uint32_t parts_together(const struct cgroup_tree *tree, uint32_t part) {
    uint32_t v2 = cgroup_tree_v2_parts(tree);
    return v2 & part ? v2 : part;
}

int cgroup_make(struct cgroup_tree *tree, const char *path, uint32_t parts, struct cgroup **ret,
                struct error *err) {
    assert(tree && path && *path != '/' && !strstr(path, ".."));
    struct cgroup *group = cgroup_handle(tree, path, parts);
    uint32_t left = group->parts;
    int r = 0;
    for (unsigned i = 0; r == 0 && i < CGROUP_PARTS; i++) {
        uint32_t part = left & (1u << i);
        if (part & ~tree->parts)
            r = error_set(err, ERR_NOT_SUPPORTED,
                          "control groups give no %s here (%s); mount that controller and let this "
                          "user write to it, or set the Constrain… option in cgroup.conf to no",
                          cgroup_part_name(part), str_cstr(&tree->description));
        if (!part || r < 0)
            continue;
        uint32_t together = parts_together(tree, part);
        cleanup_free char *dir = cgroup_dir(group, part);
        r = make_dir(dir, together & group->parts, (cgroup_tree_v2_parts(tree) & part) != 0, err);
        left &= ~together;
    }
    if (r < 0) {
        cgroup_free(group);
        return r;
    }
    *ret = group;
    return 0;
}

struct cgroup *cgroup_handle(struct cgroup_tree *tree, const char *path, uint32_t parts) {
    struct cgroup *group = zalloc(struct cgroup);
    *group = (struct cgroup) {.tree = tree, .path = xstrdup(path), .parts = parts | CGROUP_TRACK};
    return group;
}

const char *cgroup_path(const struct cgroup *group) {
    return group->path;
}

void cgroup_free(struct cgroup *group) {
    if (!group)
        return;
    free(group->path);
    free(group);
}

/* A directory has a link from each below it, its own and its name. Listing one costs more than
 * reading its processes: a hundred files lie in it. */
static bool has_nothing_below(int at, const char *name) {
    struct stat about;
    return fstatat(at, name, &about, 0) == 0 && about.st_nlink == 2;
}

/* Calls fn for the directory `name` (a path from the open directory `at`) and, before it, for all
 * below it. Returns 0 or an errno. */
static int walk(int at, const char *name, int depth,
                int (*fn)(int at, const char *name, void *context), void *context) {
    if (has_nothing_below(at, name))
        return fn(at, name, context);
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : errno;
    DIR *stream = fdopendir(fd);
    if (!stream) {
        close(fd);
        return errno;
    }
    int errnum = 0;
    struct dirent *entry;
    while (errnum == 0 && (entry = readdir(stream))) {
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.' && depth < DEPTH_MAX)
            errnum = walk(fd, entry->d_name, depth + 1, fn, context);
    }
    closedir(stream);
    return errnum != 0 ? errnum : fn(at, name, context);
}

static int remove_one(int at, const char *name, void *context) {
    for (int i = 0;; i++) {
        if (unlinkat(at, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
            return 0;
        if (errno != EBUSY || i == REMOVE_TRIES)
            return errno;
        sleep_msec(1);
    }
}

int cgroup_remove(struct cgroup *group, struct error *err) {
    uint32_t left = group->parts;
    for (unsigned i = CGROUP_PARTS; i-- > 0;) { /* tracking last: it tells what is left */
        uint32_t part = left & (1u << i);
        if (!part || (part != CGROUP_TRACK && (group->tree->v2_parts & part)))
            continue;
        cleanup_free char *dir = cgroup_dir(group, part);
        /* In most cases nothing is below it. */
        int errnum =
            rmdir(dir) == 0 || errno == ENOENT ? 0 : walk(AT_FDCWD, dir, 0, remove_one, NULL);
        if (errnum == EBUSY)
            return error_set(err, ERR_BUSY, "control group %s still has processes", dir);
        if (errnum != 0)
            return error_errno(err, errnum, "cannot remove control group %s", dir);
    }
    return 0;
}

/* Tracking first: where somebody is making a group below it, that is where he begins. */
void cgroup_remove_if_empty(struct cgroup *group) {
    for (unsigned i = 0; i < CGROUP_PARTS; i++) {
        cleanup_free char *dir = group->parts & (1u << i) ? cgroup_dir(group, 1u << i) : NULL;
        if (dir && rmdir(dir) < 0 && errno != ENOENT)
            return;
    }
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

int cgroup_dir_fd(const struct cgroup *group) {
    cleanup_free char *dir = group->tree->tracks_by_v2 ? cgroup_dir(group, CGROUP_TRACK) : NULL;
    return dir ? open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
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

static int collect_pids(int at, const char *name, void *context) {
    struct pid_vec *pids = context;
    cleanup_str struct str text = STR_INIT;
    cleanup_free char *path = xasprintf("%s/cgroup.procs", name);
    int errnum = file_read_at(at, path, CGROUP_FILE_MAX, &text);
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
    int errnum = walk(AT_FDCWD, dir, 0, collect_pids, &pids);
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
