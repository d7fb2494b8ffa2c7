/* SPDX-License-Identifier: Apache-2.0 */
/* A throwaway cluster's names and settings. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/main.h"
#include "cmd/sluice.h"

void cluster_init(struct cluster *cluster, struct cli *cli) {
    *cluster = (struct cluster) {.cli = cli, .nodes = 2, .cpus = 4, .mem = 8000};
}

void cluster_done(struct cluster *cluster) {
    free(cluster->dir);
    free(cluster->gpu_type);
    free(cluster->extra);
}

char *cluster_path(const struct cluster *cluster, const char *fmt, ...) {
    struct str path = STR_INIT;
    str_printf(&path, "%s/", cluster->dir);
    va_list args;
    va_start(args, fmt);
    str_vprintf(&path, fmt, args);
    va_end(args);
    return str_take(&path);
}

/* Characters that slurm.conf, a shell and a hostlist all leave alone. */
static bool path_is_plain(const char *path) {
    for (; *path; path++)
        if (!isalnum((unsigned char) *path) && !strchr("/._-+", *path))
            return false;
    return true;
}

int cluster_set_dir(struct cluster *cluster, const char *dir) {
    const char *chosen = getenv("SLUICE_DIR");
    cleanup_free char *path = NULL;
    if (!dir)
        dir = chosen && *chosen ? chosen : NULL;
    if (!dir)
        path = xasprintf("/tmp/sluice-%u", getuid());
    else if (*dir == '/')
        path = xstrdup(dir);
    else {
        cleanup_free char *cwd = getcwd(NULL, 0);
        path = xasprintf("%s/%s", cwd ? cwd : ".", dir);
    }
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        path[--length] = '\0';
    char *real = realpath(path, NULL);
    if (real) {
        free(path);
        path = real;
    }
    if (length == 1 || !path_is_plain(path))
        return cli_failed(cluster->cli,
                          "%s: this cannot be a cluster's directory; use letters, "
                          "digits and ._-+ in its name",
                          path);
    if (strlen(path) > CLUSTER_PATH_MAX)
        return cli_failed(cluster->cli,
                          "%s: too long (more than %d bytes) for the sockets below "
                          "it; choose a shorter --dir",
                          path, CLUSTER_PATH_MAX);
    free(cluster->dir);
    cluster->dir = take(path);
    return CLI_GO_ON;
}

bool cluster_exists(const struct cluster *cluster) {
    cleanup_free char *mark = cluster_path(cluster, "cluster");
    struct stat st;
    return lstat(mark, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid();
}

/* ---- D/cluster: one "key value" a line ---- */

int cluster_save(const struct cluster *cluster) {
    cleanup_free char *path = cluster_path(cluster, "cluster");
    FILE *file = fopen(path, "we");
    if (!file)
        return cli_failed(cluster->cli, "cannot write %s: %s", path, strerror(errno));
    fprintf(file, "nodes %u\ncpus %u\nmem %llu\ngpus %u\ngpu_type %s\nport %u\ndbd %d\n",
            cluster->nodes, cluster->cpus, (unsigned long long) cluster->mem, cluster->gpus,
            cluster->gpu_type ? cluster->gpu_type : "-", cluster->port, cluster->dbd);
    return fclose(file) == 0
               ? CLI_GO_ON
               : cli_failed(cluster->cli, "cannot write %s: %s", path, strerror(errno));
}

int cluster_load(struct cluster *cluster) {
    cleanup_free char *path = cluster_path(cluster, "cluster");
    FILE *file = fopen(path, "re");
    char key[32], value[128];
    if (!file)
        return cli_failed(cluster->cli, "cannot read %s: %s", path, strerror(errno));
    while (fscanf(file, "%31s %127s", key, value) == 2) {
        uint64_t number = strtoull(value, NULL, 10);
        if (str_equal(key, "nodes"))
            cluster->nodes = (uint32_t) min_of(number, (uint64_t) CLUSTER_NODES_MAX);
        else if (str_equal(key, "cpus"))
            cluster->cpus = (uint32_t) number;
        else if (str_equal(key, "mem"))
            cluster->mem = number;
        else if (str_equal(key, "gpus"))
            cluster->gpus = (uint32_t) number;
        else if (str_equal(key, "port"))
            cluster->port = (uint16_t) number;
        else if (str_equal(key, "dbd"))
            cluster->dbd = number != 0;
        else if (str_equal(key, "gpu_type")) {
            free(cluster->gpu_type);
            cluster->gpu_type = str_equal(value, "-") ? NULL : xstrdup(value);
        }
    }
    fclose(file);
    return CLI_GO_ON;
}

/* ---- programs ---- */

/* The directory of this program. */
static char *own_directory(void) {
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
    if (n <= 0)
        return xstrdup(SLUICE_BINDIR);
    path[n] = '\0';
    char *slash = strrchr(path, '/');
    *slash = '\0';
    return xstrdup(*path ? path : "/");
}

char *cluster_program(const struct cluster *cluster, const char *name) {
    const char *chosen = getenv("SLUICE_SBIN");
    cleanup_free char *own = own_directory();
    char *candidates[] = {
        chosen && *chosen ? xasprintf("%s/%s", chosen, name) : xstrdup(""),
        xasprintf("%s/../%s/%s", own, name, name), /* build tree */
        xasprintf("%s/%s", own, name),
        xasprintf("%s/../sbin/%s", own, name),
        xasprintf("%s/%s", SLUICE_SBINDIR, name),
    };
    char *found = NULL;
    for (size_t i = 0; i < countof(candidates); i++) {
        if (!found && *candidates[i] && access(candidates[i], X_OK) == 0) {
            found = realpath(candidates[i], NULL);
            if (found && strrchr(found, '/') && !str_equal(strrchr(found, '/') + 1, name)) {
                /* Behind a name that is a link, keep the name. */
                free(found);
                found = xstrdup(candidates[i]);
            }
        }
        free(candidates[i]);
    }
    if (!found)
        cli_failed(cluster->cli, "%s is not installed beside %s, nor in %s; set SLUICE_SBIN", name,
                   own, SLUICE_SBINDIR);
    return found;
}

void cluster_search_path(struct str *out) {
    static const char *const daemons[] = {"slurmctld", "slurmd", "slurmstepd", "slurmdbd"};
    cleanup_free char *own = own_directory();
    str_append(out, own);
    for (size_t i = 0; i < countof(daemons); i++) {
        cleanup_free char *built = xasprintf("%s/../%s", own, daemons[i]);
        cleanup_free char *real = access(built, X_OK) == 0 ? realpath(built, NULL) : NULL;
        struct stat st;
        if (real && stat(real, &st) == 0 && S_ISDIR(st.st_mode))
            str_printf(out, ":%s", real);
    }
    cleanup_free char *sbin = xasprintf("%s/../sbin", own);
    cleanup_free char *real = realpath(sbin, NULL);
    if (real)
        str_printf(out, ":%s", real);
}
