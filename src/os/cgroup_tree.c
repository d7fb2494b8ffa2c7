/* SPDX-License-Identifier: Apache-2.0 */
/* What control group hierarchies this process sees and may use; see cgroup.h. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/cgroup_internal.h"
#include "os/file.h"

/* By bit number. The freezer stands for tracking on v1. */
static const char *const v1_controllers[CGROUP_PARTS] = {"freezer", "memory", "cpuset",
                                                         "cpu",     "pids",   "devices"};

const char *cgroup_part_name(enum cgroup_part part) {
    if (part == CGROUP_TRACK)
        return "tracking";
    return v1_controllers[__builtin_ctz(part)];
}

int cgroup_read(const char *dir, const char *name, struct str *ret) {
    cleanup_free char *path = xasprintf("%s/%s", dir, name);
    return file_read(path, CGROUP_FILE_MAX, ret);
}

int cgroup_write(const char *dir, const char *name, const char *text) {
    cleanup_free char *path = xasprintf("%s/%s", dir, name);
    cleanup_fd int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    ssize_t n;
    do {
        n = write(fd, text, strlen(text));
    } while (n < 0 && errno == EINTR);
    return n < 0 ? errno : 0;
}

/* ---- where we are ourselves: /proc/self/cgroup ---- */

/* Path of our own group in the hierarchy of a v1 controller, or of v2 (controller NULL). */
static char *own_path(const char *controller) {
    cleanup_str struct str text = STR_INIT;
    if (cgroup_read("/proc/self", "cgroup", &text) != 0)
        return NULL;
    char *cursor = text.data, *line;
    while ((line = str_next_word(&cursor, "\n"))) {
        char *names = strchr(line, ':');
        char *path = names ? strchr(names + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        names++;
        if (controller ? str_has_word(names, controller, ",") : *names == '\0')
            return xstrdup(path);
    }
    return NULL;
}

/* ---- what is mounted: /proc/self/mountinfo ---- */

/* The directory below `mount` in which we may make groups, or NULL. */
static char *usable_root(const char *mount, const char *base, const char *controller) {
    if (base) {
        char *dir = *base ? xasprintf("%s/%s", mount, base) : xstrdup(mount);
        /* A base that does not exist yet is made with the first group. */
        if (access(dir, W_OK) == 0 || (errno == ENOENT && access(mount, W_OK) == 0))
            return dir;
        free(dir);
        return NULL;
    }
    if (access(mount, W_OK) == 0)
        return xstrdup(mount);
    cleanup_free char *own = own_path(controller);
    char *dir = own ? xasprintf("%s%s", mount, own) : NULL;
    if (dir && access(dir, W_OK) == 0)
        return dir;
    free(dir);
    return NULL;
}

static void see_v2(struct cgroup_tree *tree, const char *mount,
                   const struct cgroup_choice *choice) {
    if (tree->v2_root || choice->no_v2)
        return;
    tree->v2_root = usable_root(mount, choice->base, NULL);
    if (!tree->v2_root) {
        str_printf(&tree->description, "%s is not writable; ", mount);
        return;
    }
    cleanup_str struct str controllers = STR_INIT;
    if (cgroup_read(tree->v2_root, "cgroup.controllers", &controllers) != 0)
        cgroup_read(mount, "cgroup.controllers", &controllers);
    for (unsigned i = 1; i < CGROUP_PARTS; i++)
        if (1u << i != CGROUP_DEVICES &&
            str_has_word(str_cstr(&controllers), v1_controllers[i], " \n"))
            tree->v2_parts |= 1u << i;
    if (devices_can_be_denied())
        tree->v2_parts |= CGROUP_DEVICES;
}

static void see_v1(struct cgroup_tree *tree, const char *mount, const char *options,
                   const struct cgroup_choice *choice) {
    for (unsigned i = 0; i < CGROUP_PARTS && !choice->no_v1; i++)
        if (!tree->v1_roots[i] && str_has_word(options, v1_controllers[i], ","))
            tree->v1_roots[i] = usable_root(mount, choice->base, v1_controllers[i]);
}

static bool is_at_or_below(const char *path, const char *top) {
    size_t length = top ? strlen(top) : 0;
    while (length > 0 && top[length - 1] == '/')
        length--;
    return length == 0 ||
           (strncmp(path, top, length) == 0 && (path[length] == '\0' || path[length] == '/'));
}

/* "36 35 0:31 / /sys/fs/cgroup/memory rw,relatime shared:1 - cgroup cgroup rw,memory" */
static void see_mount(struct cgroup_tree *tree, char *line, const struct cgroup_choice *choice) {
    char *rest = strstr(line, " - ");
    if (!rest)
        return;
    *rest = '\0';
    rest += 3;
    char *mount = NULL, *type, *source, *options;
    for (int i = 0; i < 5; i++)
        mount = str_next_word(&line, " ");
    type = str_next_word(&rest, " ");
    source = str_next_word(&rest, " ");
    options = str_next_word(&rest, " ");
    if (!mount || !type || !source || !is_at_or_below(mount, choice->mountpoint))
        return;
    if (str_equal(type, "cgroup2"))
        see_v2(tree, mount, choice);
    else if (str_equal(type, "cgroup") && options)
        see_v1(tree, mount, options, choice);
}

static void describe(struct cgroup_tree *tree) {
    static const char *const modes[] = {
        [CGROUP_NONE] = "no control groups: processes are tracked by session",
        [CGROUP_V1] = "control groups v1",
        [CGROUP_V2] = "control groups v2",
        [CGROUP_HYBRID] = "control groups v2 for tracking and v1 for limits",
    };
    str_append(&tree->description, modes[tree->mode]);
    for (unsigned i = 0; i < CGROUP_PARTS; i++)
        if (tree->parts & (1u << i))
            str_printf(&tree->description, " %s%s", cgroup_part_name(1u << i),
                       tree->v2_parts & (1u << i) ? ""
                       : i > 0                    ? "(v1)"
                                                  : "");
}

/* Which hierarchy provides what, once the roots are known. */
static void decide(struct cgroup_tree *tree) {
    tree->tracks_by_v2 = tree->v2_root != NULL;
    if (!tree->tracks_by_v2 && !tree->v1_roots[0])
        return; /* without tracking, limits are of no use */
    tree->parts = CGROUP_TRACK | tree->v2_parts;
    bool uses_v1 = !tree->tracks_by_v2;
    for (unsigned i = 1; i < CGROUP_PARTS; i++)
        if (tree->v1_roots[i] && !(tree->v2_parts & (1u << i))) {
            tree->parts |= 1u << i;
            uses_v1 = true;
        }
    tree->mode = !tree->tracks_by_v2 ? CGROUP_V1 : uses_v1 ? CGROUP_HYBRID : CGROUP_V2;
}

struct cgroup_tree *cgroup_tree_new(const struct cgroup_choice *choice) {
    static const struct cgroup_choice defaults;
    struct cgroup_tree *tree = zalloc(struct cgroup_tree);
    cleanup_str struct str mounts = STR_INIT;
    cgroup_read("/proc/self", "mountinfo", &mounts);
    char *cursor = mounts.data, *line;
    while (cursor && (line = str_next_word(&cursor, "\n")))
        see_mount(tree, line, choice ? choice : &defaults);
    decide(tree);
    describe(tree);
    return tree;
}

/* ---- as text: a line "BIT VERSION ROOT" for each part that is used; a root is given once ---- */

void cgroup_tree_print(const struct cgroup_tree *tree, struct str *out) {
    for (unsigned i = 0; i < CGROUP_PARTS; i++) {
        uint32_t part = 1u << i;
        bool is_v2 = i == 0 ? tree->tracks_by_v2 : (tree->v2_parts & part) != 0;
        if (tree->parts & part)
            str_printf(out, "%u %u %s\n", i, is_v2 ? 2 : 1,
                       is_v2 ? tree->v2_root : tree->v1_roots[i]);
    }
}

struct cgroup_tree *cgroup_tree_parse(const char *text) {
    struct cgroup_tree *tree = zalloc(struct cgroup_tree);
    cleanup_free char *copy = xstrdup(text);
    char *cursor = copy, *line;
    while ((line = str_next_word(&cursor, "\n"))) {
        unsigned i = CGROUP_PARTS, version = 0;
        int at = 0;
        if (sscanf(line, "%u %u %n", &i, &version, &at) < 2 || at == 0 || line[at] != '/' ||
            i >= CGROUP_PARTS || (version != 1 && version != 2)) {
            cgroup_tree_free(tree);
            return NULL;
        }
        if (version == 2)
            tree->v2_parts |= i > 0 ? 1u << i : 0;
        char **root = version == 2 ? &tree->v2_root : &tree->v1_roots[i];
        if (!*root)
            *root = xstrdup(line + at);
    }
    decide(tree);
    describe(tree);
    return tree;
}

void cgroup_tree_free(struct cgroup_tree *tree) {
    if (!tree)
        return;
    free(tree->v2_root);
    for (unsigned i = 0; i < CGROUP_PARTS; i++)
        free(tree->v1_roots[i]);
    str_done(&tree->description);
    free(tree);
}

enum cgroup_mode cgroup_tree_mode(const struct cgroup_tree *tree) {
    return tree->mode;
}

uint32_t cgroup_tree_parts(const struct cgroup_tree *tree) {
    return tree->parts;
}

const char *cgroup_tree_describe(const struct cgroup_tree *tree) {
    return str_cstr(&tree->description);
}

uint32_t cgroup_tree_v2_parts(const struct cgroup_tree *tree) {
    return tree->v2_parts | (tree->tracks_by_v2 ? CGROUP_TRACK : 0);
}
