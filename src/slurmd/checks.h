/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurmd's own checks of its machine: what they look at, and what they say. A finding is a short
 * sentence that stays the same while its cause does, so it holds thresholds and no readings.
 *
 * Checks of file systems may block (a server that is away), so they run in a thread of their own
 * and must touch nothing but what is in `struct checks`, which owns its texts.
 */
#ifndef SLUICE_SLURMD_CHECKS_H
#define SLUICE_SLURMD_CHECKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/statvfs.h>

#include "base/str.h"
#include "base/vec.h"
#include "model/conf.h"

struct checks {
    /* file systems, each looked at once: the spool first, TmpFS, and what sluice_watch names */
    vec(char *) paths;
    char *spool;                     /* a file can be written here, or jobs cannot be launched */
    uint32_t disk_full, inodes_full; /* percent from which on it is a problem; 0 = never */
    char *skip;                      /* names of checks that are not made, between ':'; or NULL */
    const char *volatile at;         /* the path that is being looked at, for those that wait */
    int (*statvfs)(const char *path, struct statvfs *ret); /* tests have their own */

    /* the machine as it is now against the node's line; not looked at by the thread */
    const struct conf_node *node;
    struct conf_registration found;
    bool overrides;
    uint32_t memory_percent;
    int64_t clock_jumped; /* seconds that the clock was set by since it was last taken as right */
    uint32_t clock_jump;  /* seconds from which on that is a problem; 0 = never */
};

/* One row for each check. Their thresholds and what to do about their findings are in
 * model/reason.h, by how the findings begin. */
struct check {
    const char *name;
    bool blocks; /* run by checks_run_slow() */
    void (*run)(struct checks *checks, struct str *out);
};
extern const struct check check_table[];
extern const size_t check_table_size;

void checks_done(struct checks *checks);
/* Append what is wrong, parts joined by "; ", nothing when all is well. */
void checks_run_fast(struct checks *checks, struct str *out);
void checks_run_slow(struct checks *checks, struct str *out);

#endif
