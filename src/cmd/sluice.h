/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the sluice command: a throwaway cluster in one directory of this machine.
 *
 *     D/cluster          what it was made with; marks the directory as ours
 *     D/etc/             slurm.conf, gres.conf, slurmdbd.conf
 *     D/munge/           key, socket, pid, log, seed of a munged of its own
 *     D/run/             slurmctld.pid, slurmd-NODE.pid, slurmdbd.pid
 *     D/log/             slurmctld.log, slurmd-NODE.log, slurmdbd.log
 *     D/state/ D/spool/  of slurmctld and of the slurmds
 *     D/dev/             stand-ins for GPU devices
 *
 * Everything that belongs to the cluster can be found from D alone: `down` needs no memory of what
 * `up` did, and finds the remains of a cluster whose daemons were killed.
 */
#ifndef SLUICE_CMD_SLUICE_H
#define SLUICE_CMD_SLUICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/str.h"
#include "base/vec.h"
#include "cli/messages.h"

/* The variable that every daemon of a cluster and all their children carry. */
#define CLUSTER_MARK "SLUICE_CLUSTER"
#define CLUSTER_NODES_MAX 2000
#define CLUSTER_PATH_MAX 80 /* bytes of D: the munge socket below it must fit in 107 */

struct cluster {
    struct cli *cli;
    char *dir; /* absolute */
    uint32_t nodes, cpus, gpus;
    uint64_t mem; /* MiB */
    char *gpu_type;
    char *extra;      /* lines for slurm.conf */
    uint16_t port;    /* slurmctld's; node i listens on port + i, slurmdbd behind the last */
    bool dbd;         /* with a slurmdbd */
    bool sizes_given; /* on this command line */
    bool extra_given;
};

/* ---- sluice_cluster.c: names and settings ---- */
void cluster_init(struct cluster *cluster, struct cli *cli);
void cluster_done(struct cluster *cluster);
/* D/what, a new text. */
char *cluster_path(const struct cluster *cluster, const char *fmt, ...) printf_like(2, 3);
/* Makes dir absolute; NULL chooses the default. CLI_GO_ON or an exit status. */
int cluster_set_dir(struct cluster *cluster, const char *dir);
/* Is there a cluster in D? */
bool cluster_exists(const struct cluster *cluster);
/* D/cluster ↔ nodes, cpus, mem, gpus, port, dbd. */
int cluster_load(struct cluster *cluster);
int cluster_save(const struct cluster *cluster);
/* The program `name` (slurmctld, slurmd): SLUICE_SBIN, beside us in a build tree, or installed. A
 * new text, NULL after a message. */
char *cluster_program(const struct cluster *cluster, const char *name);
/* Directories of the commands and daemons, with colons between them, for PATH. */
void cluster_search_path(struct str *out);

/* ---- sluice_process.c: daemons as processes ---- */
/* The process of the pid file D/file that is alive, is `program` and of this cluster, or 0. */
pid_t process_of_pid_file(const struct cluster *cluster, const char *file, const char *program);
/* Starts a program that puts itself in the background; true when it said that it is up. What it
 * printed goes to log. */
pid_t process_start(const struct cluster *cluster, const char *const *argv, const char *log);
bool process_wait(pid_t pid, int *ret_status);
/* The last lines of a file, for messages. */
void process_log_tail(const char *path, unsigned n_lines, struct str *out);
struct pid_list {
    pid_t *items;
    size_t n, capacity;
};
/* Every process of the cluster: daemons and their descendants by CLUSTER_MARK and by parent, jobs
 * by their environment, and what sits in the nodes' cgroups. */
void process_find_all(const struct cluster *cluster, struct pid_list *pids);
/* True when the process ends within the time. */
bool process_wait_gone(pid_t pid, unsigned msec);
void pause_msec(unsigned msec);

/* ---- sluice_conf.c: files and ports of a new cluster ---- */
int cluster_write(struct cluster *cluster);

/* ---- the verbs; each returns an exit status ---- */
int sluice_up(struct cluster *cluster);
int sluice_env(struct cluster *cluster);
int sluice_status(struct cluster *cluster);
int sluice_down(struct cluster *cluster);

/* ---- verbs with options of their own; argv[0] is the verb ---- */
int sluice_sim(struct cli *cli, int argc, char **argv);
int sluice_whatif(struct cli *cli, int argc, char **argv);
int sluice_acct(struct cli *cli, int argc, char **argv);
int sluice_adopt(struct cli *cli, int argc, char **argv);
int sluice_drains(struct cli *cli, int argc, char **argv);
int sluice_share(struct cli *cli, int argc, char **argv);
int sluice_gpus(struct cli *cli, int argc, char **argv);
int sluice_keep(struct cli *cli, int argc, char **argv);
int sluice_why(struct cli *cli, int argc, char **argv);

#endif
