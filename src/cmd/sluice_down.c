/* SPDX-License-Identifier: Apache-2.0 */
/* sluice down: ends everything of a throwaway cluster and removes what it left. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/main.h"
#include "cmd/sluice.h"

#define TERM_MSEC 1500 /* for daemons to end by themselves */
#define KILL_ROUNDS 200
#define MUNGED_MSEC 2000
#define REMOVE_ROUNDS 100 /* of 20 ms: something may just have written there */

/* ---- processes ---- */

static void stop_politely(const struct cluster *cluster, const char *pid_file, const char *program,
                          struct pid_list *waiting) {
    pid_t pid = process_of_pid_file(cluster, pid_file, program);
    if (pid && kill(pid, SIGTERM) == 0)
        vec_push(waiting, pid);
}

/* The daemons first, so that nobody starts anything new; each may end by itself. */
static void stop_daemons(const struct cluster *cluster) {
    struct pid_list waiting = {0};
    cleanup_free char *run = cluster_path(cluster, "run");
    DIR *dir = opendir(run);
    stop_politely(cluster, "run/slurmctld.pid", "slurmctld", &waiting);
    stop_politely(cluster, "run/slurmdbd.pid", "slurmdbd", &waiting);
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        if (strncmp(entry->d_name, "slurmd-", 7) != 0)
            continue;
        cleanup_free char *file = xasprintf("run/%s", entry->d_name);
        stop_politely(cluster, file, "slurmd", &waiting);
    }
    if (dir)
        closedir(dir);
    vec_each (&waiting, pid) {
        process_wait_gone(*pid, TERM_MSEC);
    }
    vec_done(&waiting);
}

/* Steps, tasks, and daemons that did not listen: killed until a look at all processes finds none.
 */
static bool kill_rest(const struct cluster *cluster) {
    for (unsigned round = 0; round < KILL_ROUNDS; round++) {
        struct pid_list pids = {0};
        process_find_all(cluster, &pids);
        size_t n = pids.n;
        vec_each (&pids, pid) {
            kill(*pid, SIGKILL);
        }
        vec_done(&pids);
        if (n == 0)
            return true;
        pause_msec(round < 10 ? 5 : 20);
    }
    return false;
}

static void stop_munged(const struct cluster *cluster) {
    pid_t pid = process_of_pid_file(cluster, "munge/pid", "munged");
    if (!pid || kill(pid, SIGTERM) < 0)
        return;
    if (process_wait_gone(pid, MUNGED_MSEC))
        return;
    kill(pid, SIGKILL);
    (void) process_wait_gone(pid, MUNGED_MSEC); /* what it writes last must not be missed */
}

/* ---- control groups ---- */

/* A process may have dropped its environment and its parents; its group it cannot leave. */
static void kill_group(const char *path) {
    cleanup_free char *procs = xasprintf("%s/cgroup.procs", path);
    FILE *file = fopen(procs, "re");
    int pid;
    while (file && fscanf(file, "%d", &pid) == 1)
        if (pid > 1)
            kill(pid, SIGKILL);
    if (file)
        fclose(file);
}

/* A directory of control groups is removed from its leaves; files in it go with it. */
static void remove_groups(const char *path) {
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        if (entry->d_type != DT_DIR || str_equal(entry->d_name, ".") ||
            str_equal(entry->d_name, ".."))
            continue;
        cleanup_free char *below = xasprintf("%s/%s", path, entry->d_name);
        remove_groups(below);
    }
    if (dir)
        closedir(dir);
    for (unsigned round = 0; rmdir(path) < 0 && errno == EBUSY && round < KILL_ROUNDS; round++) {
        kill_group(path);
        pause_msec(round < 10 ? 2 : 20);
    }
}

/* Nodes make one group each, named after node and port, below every mounted hierarchy. */
static void remove_node_groups(const struct cluster *cluster) {
    FILE *file = fopen("/proc/self/mounts", "re");
    char line[4096], mount[1024], type[64];
    while (file && fgets(line, sizeof(line), file)) {
        if (sscanf(line, "%*s %1023s %63s", mount, type) != 2 || !str_starts(type, "cgroup"))
            continue;
        for (uint32_t i = 1; i <= cluster->nodes; i++) {
            cleanup_free char *path =
                xasprintf("%s/slurm_n%u_%u", mount, i, (unsigned) cluster->port + i);
            if (access(path, F_OK) == 0)
                remove_groups(path);
        }
    }
    if (file)
        fclose(file);
}

/* ---- files ---- */

/* Mounts below D, the deepest first, since later lines lie above earlier ones. */
static void unmount_all(const struct cluster *cluster) {
    vec(char *) mounts = {0};
    FILE *file = fopen("/proc/self/mounts", "re");
    char line[4096], mount[1024];
    size_t length = strlen(cluster->dir);
    while (file && fgets(line, sizeof(line), file))
        if (sscanf(line, "%*s %1023s", mount) == 1 && strncmp(mount, cluster->dir, length) == 0 &&
            mount[length] == '/')
            vec_push(&mounts, xstrdup(mount));
    if (file)
        fclose(file);
    for (size_t i = mounts.n; i > 0; i--) {
        umount2(mounts.items[i - 1], MNT_DETACH);
        free(mounts.items[i - 1]);
    }
    vec_done(&mounts);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw) {
    return remove(path) < 0 && errno != ENOENT ? -1 : 0;
}

static int remove_files(const struct cluster *cluster) {
    for (unsigned try = 0; try < REMOVE_ROUNDS; try++) {
        if (nftw(cluster->dir, remove_entry, 64, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) == 0)
            return 0;
        pause_msec(20);
    }
    return cli_failed(cluster->cli, "cannot remove %s: %s", cluster->dir, strerror(errno));
}

int sluice_down(struct cluster *cluster) {
    if (!cluster_exists(cluster)) {
        cli_info(cluster->cli, "there is no cluster of yours in %s: nothing to do", cluster->dir);
        return 0;
    }
    int status = cluster_load(cluster);
    if (status != CLI_GO_ON)
        return status;
    stop_daemons(cluster);
    if (!kill_rest(cluster))
        return cli_failed(cluster->cli, "some processes of %s do not die; see `sluice status`",
                          cluster->dir);
    stop_munged(cluster);
    remove_node_groups(cluster);
    unmount_all(cluster);
    return remove_files(cluster);
}
