/* SPDX-License-Identifier: Apache-2.0 */
/* sluice up, env, status. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/connect.h"
#include "cli/main.h"
#include "cli/phrases.h"
#include "cmd/sluice.h"
#include "os/loop.h"

#define READY_USEC 20000000u /* patience with nodes that do not become idle */
#define UNFIT_USEC 2000000u  /* with nodes that are less than configured, until they register */
#define POLL_MSEC 10
#define TAIL_LINES 8

/* ---- failures ---- */

static int start_failed(const struct cluster *cluster, const char *what, const char *log) {
    cleanup_str struct str tail = STR_INIT;
    process_log_tail(log, TAIL_LINES, &tail);
    cli_error(cluster->cli, "%s; the last lines of %s:", what, log);
    cli_raw(tail.length ? tail.data : "(nothing)\n");
    return 1;
}

/* ---- starting ---- */

static int run_and_wait(const struct cluster *cluster, const char *name, const char *const *argv,
                        const char *log) {
    int status = 0;
    cli_verbose(cluster->cli, "starting %s", name);
    pid_t pid = process_start(cluster, argv, log);
    if (pid < 0)
        return cli_failed(cluster->cli, "cannot start %s: %s", argv[0], strerror(errno));
    if (process_wait(pid, &status) && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return CLI_GO_ON;
    cleanup_free char *what = xasprintf("%s did not start", name);
    return start_failed(cluster, what, log);
}

static char *find_munged(void) {
    static const char *const places[] = {"/usr/sbin/munged", "/usr/local/sbin/munged",
                                         "/usr/bin/munged", "/sbin/munged"};
    for (size_t i = 0; i < countof(places); i++)
        if (access(places[i], X_OK) == 0)
            return xstrdup(places[i]);
    return NULL;
}

static int start_munged(const struct cluster *cluster) {
    cleanup_free char *pid_file = cluster_path(cluster, "munge/pid");
    if (process_of_pid_file(cluster, "munge/pid", "munged"))
        return CLI_GO_ON;
    cleanup_free char *program = find_munged();
    if (!program)
        return cli_failed(cluster->cli, "munged is missing: install the package munge");
    cleanup_free char *socket = cluster_path(cluster, "munge/socket");
    cleanup_free char *socket_option = xasprintf("--socket=%s", socket);
    cleanup_free char *key = xasprintf("--key-file=%s/munge/key", cluster->dir);
    cleanup_free char *pid = xasprintf("--pid-file=%s", pid_file);
    cleanup_free char *seed = xasprintf("--seed-file=%s/munge/seed", cluster->dir);
    cleanup_free char *log_option = xasprintf("--log-file=%s/munge/log", cluster->dir);
    cleanup_free char *log = cluster_path(cluster, "munge/log");
    /* A killed one leaves its lock and socket behind. --force: directories above ours may be
     * writable by others, which munged takes for a mistake in a real installation. */
    cleanup_free char *lock = xasprintf("%s.lock", socket);
    unlink(lock);
    unlink(socket);
    const char *argv[] = {program, "--force", socket_option, key, pid, seed, log_option, NULL};
    return run_and_wait(cluster, "munged", argv, log);
}

/* slurmctld or slurmdbd, unless it runs. */
static int start_daemon(const struct cluster *cluster, const char *name, const char *conf_name) {
    cleanup_free char *pid_file = xasprintf("run/%s.pid", name);
    if (process_of_pid_file(cluster, pid_file, name))
        return CLI_GO_ON;
    cleanup_free char *program = cluster_program(cluster, name);
    if (!program)
        return 1;
    cleanup_free char *conf = cluster_path(cluster, "etc/%s", conf_name);
    cleanup_free char *log = cluster_path(cluster, "log/%s.log", name);
    const char *argv[] = {program, "-f", conf, NULL};
    return run_and_wait(cluster, name, argv, log);
}

/* Starts every slurmd that is not running, all at once, then waits for each to be up. */
static int start_nodes(const struct cluster *cluster, const char *const *names, size_t n_names) {
    cleanup_free char *program = cluster_program(cluster, "slurmd");
    if (!program)
        return 1;
    cleanup_free char *conf = cluster_path(cluster, "etc/slurm.conf");
    cleanup_free pid_t *pids = xcalloc(max_of(n_names, (size_t) 1), sizeof(*pids));
    int result = CLI_GO_ON;
    for (size_t i = 0; i < n_names; i++) {
        cleanup_free char *pid_file = xasprintf("run/slurmd-%s.pid", names[i]);
        if (process_of_pid_file(cluster, pid_file, "slurmd"))
            continue;
        cleanup_free char *log = cluster_path(cluster, "log/slurmd-%s.log", names[i]);
        const char *argv[] = {program, "-f", conf, "-N", names[i], NULL};
        cli_verbose(cluster->cli, "starting slurmd -N %s", names[i]);
        pids[i] = process_start(cluster, argv, log);
    }
    for (size_t i = 0; i < n_names; i++) {
        int status = 0;
        if (pids[i] <= 0 ||
            (process_wait(pids[i], &status) && WIFEXITED(status) && WEXITSTATUS(status) == 0) ||
            result != CLI_GO_ON)
            continue;
        cleanup_free char *log = cluster_path(cluster, "log/slurmd-%s.log", names[i]);
        cleanup_free char *what = xasprintf("slurmd of node %s did not start", names[i]);
        result = start_failed(cluster, what, log);
    }
    return result;
}

/* ---- asking the controller ---- */

static void use_configuration(const struct cluster *cluster) {
    cleanup_free char *conf = cluster_path(cluster, "etc/slurm.conf");
    setenv("SLURM_CONF", conf, 1);
}

/* The nodes as the controller knows them: handles each; -1 when it does not answer. */
static int each_node(const struct cluster *cluster, struct error *err,
                     void (*fn)(const struct node *node, void *context), void *context) {
    struct cli_link link;
    struct cli_reply reply = {0};
    struct list_request request;
    record_init(&record_list_request, &request);
    request.all = true;
    int rc = cli_link_open(cluster->cli, false, &link, err);
    if (rc < 0)
        return rc;
    rc = cli_send(&link, MSG_LIST_NODES, &request, err);
    while (rc == 0 && !reply.last) {
        rc = cli_receive(&link, READY_USEC, &reply, err);
        if (rc < 0 || reply.type != MSG_NODE_LIST)
            break;
        const struct node_list *list = reply.body;
        for (uint32_t i = 0; i < list->items.n; i++)
            fn(&list->items.items[i], context);
    }
    cli_link_close(&link);
    return rc;
}

struct node_names {
    vec(char *) items;
};

static void collect_name(const struct node *node, void *context) {
    struct node_names *names = context;
    vec_push(&names->items, xstrdup(node->name));
}

static void names_done(struct node_names *names) {
    vec_each (&names->items, name) {
        free(*name);
    }
    vec_done(&names->items);
}

/* Usable, whether or not a job runs there. */
static bool node_is_up(const struct node *node) {
    bool good =
        node->state == NODE_IDLE || node->state == NODE_ALLOCATED || node->state == NODE_MIXED;
    return good && !(node->flags & (NODE_FLAG_NOT_RESPONDING | NODE_FLAG_INVALID_REG));
}

/* It has registered with less than it should have: time does not heal that. */
static bool node_is_unfit(const struct node *node) {
    return (node->flags & NODE_FLAG_INVALID_REG) && !(node->flags & NODE_FLAG_NOT_RESPONDING);
}

struct readiness {
    size_t n, n_up, n_unfit;
    struct str missing; /* "n2 (down: reason)" */
};

static void count_node(const struct node *node, void *context) {
    struct readiness *ready = context;
    ready->n++;
    if (node_is_up(node)) {
        ready->n_up++;
        return;
    }
    ready->n_unfit += node_is_unfit(node);
    if (ready->missing.length)
        str_append(&ready->missing, ", ");
    str_printf(&ready->missing, "%s (", node->name);
    node_state_print(node->state, node->flags, false, &ready->missing);
    str_printf(&ready->missing, "%s%s)", node->reason ? ": " : "",
               node->reason ? node->reason : "");
}

static bool controller_runs(const struct cluster *cluster) {
    return process_of_pid_file(cluster, "run/slurmctld.pid", "slurmctld") != 0;
}

static int wait_for_nodes(const struct cluster *cluster) {
    uint64_t start = loop_monotonic_usec();
    struct error err = ERROR_INIT;
    while (true) {
        struct readiness ready = {0};
        int rc = each_node(cluster, &err, count_node, &ready);
        bool done = rc == 0 && ready.n && ready.n == ready.n_up;
        bool hopeless = rc == 0 && ready.n_unfit && ready.n_up + ready.n_unfit == ready.n;
        uint64_t patience = hopeless ? UNFIT_USEC : READY_USEC;
        bool late = loop_monotonic_usec() - start > patience || !controller_runs(cluster);
        cleanup_free char *missing = str_take(&ready.missing);
        if (done)
            return CLI_GO_ON;
        if (late) {
            cleanup_free char *log = cluster_path(cluster, "log/slurmctld.log");
            cleanup_free char *what =
                rc < 0 ? xasprintf("slurmctld does not answer: %s", err.text)
                       : xasprintf("nodes that did not become ready: %s", missing);
            return start_failed(cluster, what, log);
        }
        pause_msec(POLL_MSEC);
    }
}

/* Does slurmdbd know the cluster? Until then nobody can add accounts to it. */
static bool is_registered(const struct cluster *cluster, struct error *err) {
    static const struct empty nothing = {false};
    struct cli_link link;
    struct cli_reply reply;
    if (cli_link_open_dbd(cluster->cli, &link, err) < 0)
        return false;
    bool known = cli_request(&link, MSG_LIST_CLUSTERS, &nothing, &reply, err) == 0 &&
                 reply.type == MSG_CLUSTER_LIST &&
                 ((const struct cluster_list *) reply.body)->items.n > 0;
    cli_link_close(&link);
    return known;
}

static int wait_for_dbd(const struct cluster *cluster) {
    uint64_t start = loop_monotonic_usec();
    struct error err = ERROR_INIT;
    while (!is_registered(cluster, &err)) {
        if (loop_monotonic_usec() - start > READY_USEC) {
            cleanup_free char *log = cluster_path(cluster, "log/slurmdbd.log");
            return start_failed(cluster, "slurmctld did not register with slurmdbd", log);
        }
        pause_msec(POLL_MSEC);
    }
    return CLI_GO_ON;
}

/* ---- up ---- */

/* An existing cluster keeps its shape; asking for another one is a mistake worth a word. */
static int check_shape(struct cluster *cluster) {
    struct cluster wanted = *cluster;
    wanted.gpu_type = xstrdup_null(cluster->gpu_type);
    int status = cluster_load(cluster);
    bool same = wanted.dbd == cluster->dbd && wanted.nodes == cluster->nodes &&
                wanted.cpus == cluster->cpus && wanted.mem == cluster->mem &&
                wanted.gpus == cluster->gpus &&
                (!wanted.gpus || str_equal(wanted.gpu_type, cluster->gpu_type));
    free(wanted.gpu_type);
    if (status != CLI_GO_ON)
        return status;
    if (cluster->extra_given || (wanted.dbd && !cluster->dbd) || (cluster->sizes_given && !same))
        return cli_failed(cluster->cli,
                          "there is a cluster of %u nodes with %u CPUs each%s in %s; edit its "
                          "etc/slurm.conf, or end it first: sluice down --dir %s",
                          cluster->nodes, cluster->cpus, cluster->dbd ? " and slurmdbd" : "",
                          cluster->dir, cluster->dir);
    return CLI_GO_ON;
}

static int start_all(struct cluster *cluster) {
    struct error err = ERROR_INIT;
    struct node_names names = {0};
    int status = start_munged(cluster);
    if (status == CLI_GO_ON && cluster->dbd)
        status = start_daemon(cluster, "slurmdbd", "slurmdbd.conf");
    if (status == CLI_GO_ON)
        status = start_daemon(cluster, "slurmctld", "slurm.conf");
    if (status != CLI_GO_ON)
        return status;
    use_configuration(cluster);
    uint64_t deadline = loop_monotonic_usec() + READY_USEC;
    int rc;
    while ((rc = each_node(cluster, &err, collect_name, &names)) < 0 &&
           loop_monotonic_usec() < deadline && controller_runs(cluster)) {
        names_done(&names);
        pause_msec(POLL_MSEC);
    }
    if (rc < 0) {
        cleanup_free char *log = cluster_path(cluster, "log/slurmctld.log");
        cleanup_free char *what = xasprintf("slurmctld does not answer: %s", err.text);
        status = start_failed(cluster, what, log);
    } else {
        status = start_nodes(cluster, (const char *const *) names.items.items, names.items.n);
    }
    names_done(&names);
    if (status == CLI_GO_ON)
        status = wait_for_nodes(cluster);
    return status == CLI_GO_ON && cluster->dbd ? wait_for_dbd(cluster) : status;
}

int sluice_up(struct cluster *cluster) {
    uint64_t start = loop_monotonic_usec();
    bool exists = cluster_exists(cluster);
    int status = exists ? check_shape(cluster) : cluster_write(cluster);
    if (status == CLI_GO_ON)
        status = start_all(cluster);
    if (status != CLI_GO_ON)
        return status;
    double seconds = (double) (loop_monotonic_usec() - start) / 1e6;
    if (cluster->cli->quiet)
        return 0;
    enum language language = cli_language();
    cli_print(cluster->cli, phrase(language, cluster->nodes == 1 ? PHRASE_UP_ONE : PHRASE_UP),
              cluster->dir, seconds, cluster->nodes, cluster->cpus,
              (unsigned long long) cluster->mem);
    if (cluster->gpus)
        cli_print(cluster->cli,
                  phrase(language, cluster->gpus == 1 ? PHRASE_UP_GPU : PHRASE_UP_GPUS),
                  cluster->gpus);
    return cli_print(cluster->cli, phrase(language, PHRASE_UP_NEXT), cluster->dir, cluster->dir);
}

/* ---- env, status ---- */

static int no_cluster(const struct cluster *cluster) {
    return cli_failed(cluster->cli, phrase(cli_language(), PHRASE_UP_NO_CLUSTER), cluster->dir,
                      cluster->dir);
}

int sluice_env(struct cluster *cluster) {
    cleanup_str struct str path = STR_INIT;
    if (!cluster_exists(cluster))
        return no_cluster(cluster);
    cluster_search_path(&path);
    return cli_print(cluster->cli,
                     "export PATH='%s':\"$PATH\"\nexport SLURM_CONF='%s/etc/slurm.conf'\n",
                     path.data, cluster->dir);
}

static void print_process(const struct cluster *cluster, const char *name, const char *program,
                          const char *pid_file, int *status) {
    pid_t pid = process_of_pid_file(cluster, pid_file, program);
    if (pid)
        cli_print(cluster->cli, "%-16s running, process %d\n", name, (int) pid);
    else
        cli_print(cluster->cli, "%-16s not running\n", name);
    if (!pid)
        *status = 1;
}

struct status_context {
    const struct cluster *cluster;
    int status;
};

static void print_node(const struct node *node, void *context) {
    struct status_context *status = context;
    cleanup_str struct str state = STR_INIT;
    cleanup_free char *pid_file = xasprintf("run/slurmd-%s.pid", node->name);
    pid_t pid = process_of_pid_file(status->cluster, pid_file, "slurmd");
    node_state_print(node->state, node->flags, false, &state);
    cli_print(status->cluster->cli, "%-16s %s%s%s, slurmd %s", node->name, str_cstr(&state),
              node->reason ? ": " : "", node->reason ? node->reason : "",
              pid ? "running" : "not running");
    if (pid)
        cli_print(status->cluster->cli, ", process %d\n", (int) pid);
    else
        cli_print(status->cluster->cli, "\n");
    if (!pid || !node_is_up(node))
        status->status = 1;
}

/* Exit status 0 when everything runs. */
int sluice_status(struct cluster *cluster) {
    struct status_context status = {cluster, 0};
    struct error err = ERROR_INIT;
    if (!cluster_exists(cluster))
        return no_cluster(cluster);
    cli_print(cluster->cli, "%-16s %s\n", "cluster", cluster->dir);
    print_process(cluster, "munged", "munged", "munge/pid", &status.status);
    print_process(cluster, "slurmctld", "slurmctld", "run/slurmctld.pid", &status.status);
    (void) cluster_load(cluster);
    if (cluster->dbd)
        print_process(cluster, "slurmdbd", "slurmdbd", "run/slurmdbd.pid", &status.status);
    use_configuration(cluster);
    if (status.status == 0 && each_node(cluster, &err, print_node, &status) < 0) {
        cli_error(cluster->cli, "slurmctld does not answer: %s", err.text);
        status.status = 1;
    }
    if (status.status)
        cli_print(cluster->cli, "%-16s sluice up --dir %s\n", "to start the rest", cluster->dir);
    return status.status;
}
