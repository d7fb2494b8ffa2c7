/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by cgroup_tree.c (what is there), cgroup.c (groups, tracking) and cgroup_limit.c. */
#ifndef SLUICE_OS_CGROUP_INTERNAL_H
#define SLUICE_OS_CGROUP_INTERNAL_H

#include "base/alloc.h"
#include "base/str.h"
#include "os/cgroup.h"

struct cgroup_tree {
    enum cgroup_mode mode;
    bool tracks_by_v2;
    uint32_t parts, v2_parts;     /* usable; those of them that v2 provides, without tracking */
    char *v2_root;                /* directory below which our v2 groups are, or NULL */
    char *v1_roots[CGROUP_PARTS]; /* by bit number; index 0 is the freezer */
    struct str description;
};

struct cgroup {
    struct cgroup_tree *tree;
    char *path;
    uint32_t parts;
};

/* The directory of a group's part; freed by the caller. */
char *cgroup_dir(const struct cgroup *group, enum cgroup_part part);

/* Writes text to dir/name in one write(); returns 0 or an errno. */
int cgroup_write(const char *dir, const char *name, const char *text);
#define CGROUP_FILE_MAX (1u << 20) /* bytes that are read of a file */
/* Reads dir/name as a whole (at most CGROUP_FILE_MAX); returns 0 or an errno. */
int cgroup_read(const char *dir, const char *name, struct str *ret);

#endif
