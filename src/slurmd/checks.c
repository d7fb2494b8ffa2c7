/* SPDX-License-Identifier: Apache-2.0 */
#include "slurmd/checks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

static void finding(struct str *out, const char *fmt, ...) printf_like(2, 3);

static void finding(struct str *out, const char *fmt, ...) {
    cleanup_str struct str text = STR_INIT;
    va_list args;

    va_start(args, fmt);
    str_vprintf(&text, fmt, args);
    va_end(args);
    str_join(out, "; ", text.data);
}

/* ---- the machine against its line in slurm.conf ---- */

/* Looks at one thing alone: the rest is as configured. */
static void check_found(struct checks *checks, const struct conf_registration *found,
                        struct str *out) {
    cleanup_str struct str text = STR_INIT;

    (void) conf_node_registration_check(checks->node, found, checks->overrides,
                                        checks->memory_percent, &text);
    if (text.length > 0)
        str_join(out, "; ", text.data);
}

static struct conf_registration as_configured(const struct checks *checks) {
    const struct conf_node *node = checks->node;

    return (struct conf_registration) {.cpus = node->cpus,
                                       .sockets = node->sockets,
                                       .cores_per_socket = node->cores_per_socket,
                                       .threads_per_core = node->threads_per_core,
                                       .real_memory = node->real_memory,
                                       .tmp_disk = node->tmp_disk,
                                       .gres = node->gres};
}

static void check_memory(struct checks *checks, struct str *out) {
    struct conf_registration found = as_configured(checks);

    found.real_memory = checks->found.real_memory;
    check_found(checks, &found, out);
}

static void check_cpus(struct checks *checks, struct str *out) {
    struct conf_registration found = as_configured(checks);

    found.cpus = checks->found.cpus;
    found.sockets = checks->found.sockets;
    found.cores_per_socket = checks->found.cores_per_socket;
    found.threads_per_core = checks->found.threads_per_core;
    check_found(checks, &found, out);
}

static void check_devices(struct checks *checks, struct str *out) {
    struct conf_registration found = as_configured(checks);

    found.gres = checks->found.gres;
    check_found(checks, &found, out);
}

static void check_tmp_disk(struct checks *checks, struct str *out) {
    struct conf_registration found = as_configured(checks);

    found.tmp_disk = checks->found.tmp_disk;
    check_found(checks, &found, out);
}

static void check_clock(struct checks *checks, struct str *out) {
    if (checks->clock_jump > 0 && llabs(checks->clock_jumped) >= checks->clock_jump)
        finding(out, "clock: it was set by %u seconds or more", checks->clock_jump);
}

/* ---- file systems ---- */

/* Calls fn with what statvfs() says of each file system once. */
static void each_file_system(struct checks *checks,
                             void (*fn)(const struct checks *checks, const char *path,
                                        const struct statvfs *info, struct str *out),
                             struct str *out) {
    vec(unsigned long) seen = {0};

    vec_each (&checks->paths, path) {
        struct statvfs info;
        bool is_known = false;
        checks->at = *path;
        if (checks->statvfs(*path, &info) < 0)
            continue; /* check_missing() says so */
        vec_each (&seen, id)
            is_known |= info.f_fsid != 0 && *id == info.f_fsid;
        if (!is_known)
            fn(checks, *path, &info, out);
        vec_push(&seen, info.f_fsid);
    }
    checks->at = NULL;
    vec_done(&seen);
}

static bool is_used(uint64_t used, uint64_t available, uint32_t percent) {
    return percent > 0 && used + available > 0 &&
           (double) used * 100.0 >= (double) percent * (double) (used + available);
}

static void look_full(const struct checks *checks, const char *path, const struct statvfs *info,
                      struct str *out) {
    if (is_used(info->f_blocks - info->f_bfree, info->f_bavail, checks->disk_full))
        finding(out, "disk: %s is %u %% full or more", path, checks->disk_full);
}

static void check_disk(struct checks *checks, struct str *out) {
    each_file_system(checks, look_full, out);
}

static void look_inodes(const struct checks *checks, const char *path, const struct statvfs *info,
                        struct str *out) {
    if (is_used(info->f_files - info->f_ffree, info->f_favail, checks->inodes_full))
        finding(out, "inodes: %u %% of those of %s are used or more", checks->inodes_full, path);
}

static void check_inodes(struct checks *checks, struct str *out) {
    each_file_system(checks, look_inodes, out);
}

static void look_readonly(const struct checks *checks, const char *path, const struct statvfs *info,
                          struct str *out) {
    if (info->f_flag & ST_RDONLY)
        finding(out, "readonly: %s cannot be written to", path);
}

static void check_readonly(struct checks *checks, struct str *out) {
    each_file_system(checks, look_readonly, out);
}

/* A file system with errors may be mounted for writing and yet take nothing. */
static void check_spool(struct checks *checks, struct str *out) {
    cleanup_free char *path = xasprintf("%s/.check", checks->spool);
    int errnum = 0;

    checks->at = checks->spool;
    cleanup_fd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 || write(fd, "x", 1) != 1)
        errnum = errno;
    if (fd >= 0)
        (void) unlink(path);
    if (errnum != 0)
        finding(out, "spool: %s takes no file: %s", checks->spool, strerror(errnum));
    checks->at = NULL;
}

static void check_missing(struct checks *checks, struct str *out) {
    vec_each (&checks->paths, path) {
        struct statvfs info;
        checks->at = *path;
        if (checks->statvfs(*path, &info) < 0)
            finding(out, "missing: %s: %s", *path, strerror(errno));
    }
    checks->at = NULL;
}

/* ---- the table ---- */

const struct check check_table[] = {
    {"memory", false, check_memory},    {"cpus", false, check_cpus},
    {"devices", false, check_devices},  {"tmpdisk", false, check_tmp_disk},
    {"clock", false, check_clock},      {"missing", true, check_missing},
    {"disk", true, check_disk},         {"inodes", true, check_inodes},
    {"readonly", true, check_readonly}, {"spool", true, check_spool},
};
const size_t check_table_size = countof(check_table);

static void run(struct checks *checks, bool blocking, struct str *out) {
    for (size_t i = 0; i < countof(check_table); i++) {
        const struct check *check = &check_table[i];
        if (check->blocks != blocking ||
            (checks->skip != NULL && str_has_word_nocase(checks->skip, check->name, ":")))
            continue;
        check->run(checks, out);
    }
}

void checks_run_fast(struct checks *checks, struct str *out) {
    run(checks, false, out);
}

void checks_run_slow(struct checks *checks, struct str *out) {
    run(checks, true, out);
}

void checks_done(struct checks *checks) {
    vec_each (&checks->paths, path)
        free(*path);
    vec_done(&checks->paths);
    free(checks->spool);
    free(checks->skip);
    *checks = (struct checks) {0};
}
