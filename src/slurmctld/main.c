/* SPDX-License-Identifier: Apache-2.0 */
/* slurmctld's start and stop: options, configuration, identity, store, network, signals. */
#include <errno.h>
#include <getopt.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/conf_file.h"
#include "os/daemonize.h"
#include "os/hugepages.h"
#include "os/notify.h"
#include "os/pidfile.h"
#include "slurmctld/bygone.h"
#include "slurmctld/filter.h"

#define USER_CACHE 65536
#define USER_TTL_SEC 600
#define REQUEST_MEMORY (256u << 20)

static const char usage_text[] =
    "Usage: slurmctld [OPTIONS]\n"
    "  -c          Start with an empty state: forget all jobs, node and partition states.\n"
    "  -D          Stay in the foreground, log to standard error.\n"
    "  -f FILE     Read this slurm.conf (else SLURM_CONF, else the built-in path).\n"
    "  -h          Print this help.\n"
    "  -i          Ignore stored records that cannot be read (they are logged).\n"
    "  -L FILE     Log to this file.\n"
    "  -n VALUE    Run at this nice value.\n"
    "  -r          Recover state (the default).\n"
    "  -R          Recover state, partition states included (the default here as well).\n"
    "  -s          Accepted, has no effect.\n"
    "  -t          Check the configuration, print what is found, and exit.\n"
    "  -v          Log more; may be repeated.\n"
    "  -V          Print the version.\n"
    "  --systemd   Started by systemd: foreground, readiness notice, no pid file.\n";

static int parse_options(int argc, char **argv, struct options *options) {
    static const struct option longs[] = {{"help", no_argument, NULL, 'h'},
                                          {"version", no_argument, NULL, 'V'},
                                          {"systemd", no_argument, NULL, 1},
                                          {NULL, 0, NULL, 0}};
    int c;
    while ((c = getopt_long(argc, argv, "cDf:hiL:n:rRstvV", longs, NULL)) != -1) {
        switch (c) {
        case 'c':
            options->clear = true;
            break;
        case 'D':
            options->foreground = true;
            break;
        case 'f':
            options->conf_file = optarg;
            break;
        case 'i':
            options->ignore_errors = true;
            break;
        case 'L':
            options->log_file = optarg;
            break;
        case 'n':
            options->nice = atoi(optarg);
            options->nice_given = true;
            break;
        case 'r':
        case 'R': /* what it does anyway */
            break;
        case 's':
            fputs("slurmctld: -s has no effect\n", stderr);
            break;
        case 't':
            options->check_only = true;
            break;
        case 'v':
            options->verbose++;
            break;
        case 1:
            options->systemd = options->foreground = true;
            break;
        case 'V':
            printf("slurm %s\n", SLUICE_COMPAT_VERSION);
            exit(0);
        case 'h':
            fputs(usage_text, stdout);
            exit(0);
        default:
            fputs("Try \"slurmctld -h\" for more information\n", stderr);
            return -1;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "slurmctld: error: unexpected argument: %s\n", argv[optind]);
        return -1;
    }
    return 0;
}

static void print_report(const struct conf_report *report) {
    struct str text cleanup_str = STR_INIT;
    conf_report_print(report, &text);
    fputs(str_cstr(&text), stderr);
}

static int open_log(struct ctld *ctld, struct error *err) {
    const struct conf *conf = ctld->conf;
    struct log_config config = {.ident = "slurmctld"};
    struct str path cleanup_str = STR_INIT;
    const char *file =
        ctld->options.log_file != NULL ? ctld->options.log_file : conf->slurmctld_log_file;
    if (file != NULL) {
        conf_path_expand(file, ctld->hostname, ctld->hostname, &path);
        file = str_cstr(&path);
    }
    int level = (int) conf->slurmctld_debug + ctld->options.verbose;
    if (level > LOG_LEVEL_DEBUG5)
        level = LOG_LEVEL_DEBUG5;
    config.stderr_level = ctld->options.foreground ? (enum log_level) level : LOG_LEVEL_ERROR;
    config.file = file;
    config.file_level = file != NULL ? (enum log_level) level : LOG_LEVEL_QUIET;
    config.syslog_level =
        file == NULL && !ctld->options.foreground ? (enum log_level) level : LOG_LEVEL_QUIET;
    return log_open(&config, err);
}

/* ---- identity ---- */

static int find_user(const char *key, const char *name, uid_t *ret, struct error *err) {
    struct userdb_user user;
    if (name == NULL) {
        *ret = 0;
        return 0;
    }
    int r = userdb_find(name, &user, err);
    if (r < 0)
        return error_prefix(err, "%s=%s: ", key, name);
    *ret = user.uid;
    userdb_user_done(&user);
    return 0;
}

static int become_slurm_user(struct ctld *ctld, struct error *err) {
    if (geteuid() != 0) {
        if (ctld->slurm_uid != geteuid() && ctld->slurm_uid != 0)
            log_info("running as uid %u, not as SlurmUser (uid %u)", geteuid(), ctld->slurm_uid);
        ctld->slurm_uid = geteuid();
        ctld->slurmd_uid = ctld->slurmd_uid == 0 ? geteuid() : ctld->slurmd_uid;
        return 0;
    }
    if (ctld->slurm_uid == 0)
        return 0;
    struct userdb_user user;
    int r = userdb_find_uid(ctld->slurm_uid, &user, err);
    if (r < 0)
        return r;
    if (initgroups(user.name, user.gid) < 0 || setresgid(user.gid, user.gid, user.gid) < 0 ||
        setresuid(user.uid, user.uid, user.uid) < 0)
        r = error_errno(err, errno, "becoming SlurmUser %s", user.name);
    userdb_user_done(&user);
    return r;
}

/* ---- the state directory ---- */

static int make_state_dir(struct ctld *ctld, struct error *err) {
    const char *path = ctld->conf->state_save_location;
    struct stat st;
    if (stat(path, &st) == 0) {
        if (!S_ISDIR(st.st_mode))
            return error_set(err, ERR_CONFIG, "StateSaveLocation %s is not a directory", path);
        return 0;
    }
    if (mkdir(path, 0700) < 0)
        return error_errno(err, errno, "StateSaveLocation %s does not exist and cannot be made",
                           path);
    /* A mistyped path must not look like a healthy, empty cluster. */
    log_error("StateSaveLocation %s did not exist: it has been made, the cluster starts without "
              "any jobs",
              path);
    if (geteuid() == 0 && ctld->slurm_uid != 0 && chown(path, ctld->slurm_uid, (gid_t) -1) < 0)
        return error_errno(err, errno, "giving %s to SlurmUser", path);
    return 0;
}

static int check_cluster_name(struct ctld *ctld, const char *stored, struct error *err) {
    if (stored == NULL || str_equal(stored, ctld->conf->cluster_name) ||
        ctld->options.ignore_errors)
        return 0;
    return error_set(err, ERR_CONFIG,
                     "the state in %s belongs to cluster %s, not to ClusterName=%s; correct "
                     "slurm.conf, or start with -i to take it over, or with -c to start anew",
                     ctld->conf->state_save_location, stored, ctld->conf->cluster_name);
}

struct restore {
    struct ctld *ctld;
    uint32_t kind;
    size_t n;
};

static int restore_record(uint64_t id, struct bytes data, void *context, struct error *err) {
    struct restore *restore = context;
    int r = core_restore(restore->ctld->core, restore->kind, id, data, err);
    if (r < 0 && restore->ctld->options.ignore_errors) {
        log_error("record %u/%llu left out: %s", restore->kind, (unsigned long long) id, err->text);
        return 0;
    }
    restore->n++;
    return r;
}

static int open_store(struct ctld *ctld, struct error *err) {
    cleanup_free char *path = xasprintf("%s/slurmctld.sqlite", ctld->conf->state_save_location);
    if (ctld->options.clear) {
        cleanup_free char *wal = xasprintf("%s-wal", path), *shm = xasprintf("%s-shm", path);
        (void) unlink(path);
        (void) unlink(wal);
        (void) unlink(shm);
    }
    int r = store_open(path, STORE_VERSION, ctld->loop, &ctld->store, err);
    if (r < 0)
        return r;
    static const uint32_t kinds[] = {
        STORE_META,  STORE_JOB,         STORE_STEP,    STORE_NODE,      STORE_PARTITION,
        STORE_QOS,   STORE_RESERVATION, STORE_ACCOUNT, STORE_ACCT_USER, STORE_ASSOC,
        STORE_USAGE, STORE_HABIT,       STORE_CRONTAB, STORE_TRIGGER};
    size_t n_jobs = 0;
    for (size_t i = 0; i < countof(kinds); i++) {
        struct restore restore = {ctld, kinds[i], 0};
        r = store_scan(ctld->store, kinds[i], restore_record, &restore, err);
        if (r < 0)
            return error_prefix(err,
                                "restoring from %s (start with -i to leave out what cannot "
                                "be read): ",
                                path);
        n_jobs += kinds[i] == STORE_JOB ? restore.n : 0;
    }
    r = check_cluster_name(ctld, core_stored_cluster(ctld->core), err);
    if (r == 0 && n_jobs > 0)
        log_info("%zu job records restored from %s", n_jobs, path);
    return r;
}

/* ---- signals and time ---- */

static void on_stop(int number, const void *info, void *context) {
    struct ctld *ctld = context;
    log_info("signal %d: stopping; running jobs go on", number);
    loop_stop(ctld->loop, 0);
}

static void on_hup(int number, const void *info, void *context) {
    struct ctld *ctld = context;
    struct error err = ERROR_INIT;
    (void) notify_send("RELOADING=1", NULL);
    (void) ctld_reconfigure(ctld, &err); /* logged there */
    (void) notify_send("READY=1", NULL);
}

static void on_usr2(int number, const void *info, void *context) {
    struct error err = ERROR_INIT;
    if (log_reopen(&err) < 0)
        log_error("%s", err.text);
}

static void on_timer(void *context) {
    struct ctld *ctld = context;
    core_tick(ctld->core, ctld_now(ctld), ctld->effects);
}

static void on_reject(const struct error *why, void *context) {
    /* Port probes of health checks and load balancers hang up at once: nothing is wrong then. */
    if (why->code == -ERR_CLOSED)
        log_verbose("a connection ended before its handshake: %s", why->text);
    else
        log_error("connection refused: %s", why->text);
}

static int watch_signals(struct ctld *ctld, struct error *err) {
    static const int stops[] = {SIGTERM, SIGINT, SIGQUIT};
    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < countof(stops); i++) {
        int r = loop_signal(ctld->loop, stops[i], on_stop, ctld, err);
        if (r < 0)
            return r;
    }
    int r = loop_signal(ctld->loop, SIGHUP, on_hup, ctld, err);
    return r < 0 ? r : loop_signal(ctld->loop, SIGUSR2, on_usr2, ctld, err);
}

/* As many connections as the system lets us have. */
static void raise_files(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void) setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* ---- start ---- */

static int start(struct ctld *ctld, struct error *err) {
    raise_files();
    if (ctld->options.nice_given && setpriority(PRIO_PROCESS, 0, ctld->options.nice) < 0)
        log_error("nice value %d: %s", ctld->options.nice, strerror(errno));
    int r = make_state_dir(ctld, err);
    if (r < 0)
        return r;
    ctld->pid_fd = -1;
    if (!ctld->options.systemd && ctld->conf->slurmctld_pid_file != NULL) {
        struct str path cleanup_str = STR_INIT;
        conf_path_expand(ctld->conf->slurmctld_pid_file, ctld->hostname, ctld->hostname, &path);
        ctld->pid_file = xstrdup(str_cstr(&path));
        r = pidfile_create(ctld->pid_file, &ctld->pid_fd, err);
        if (r < 0)
            return r;
    }
    if ((r = become_slurm_user(ctld, err)) < 0 || (r = loop_new(&ctld->loop, err)) < 0)
        return r;
    if ((r = open_store(ctld, err)) < 0)
        return r;
    r = core_configure(ctld->core, ctld->conf, ctld->slurm_uid, ctld_now(ctld), ctld->effects, err);
    if (r < 0)
        return r;
    core_restored(ctld->core, ctld_now(ctld), ctld->effects);
    if ((r = watch_signals(ctld, err)) < 0)
        return r;
    ctld->timer = loop_timer_add(ctld->loop, on_timer, ctld);
    loop_turn_hook(ctld->loop, ctld_turn_end, ctld);
    r = rpc_server_new(ctld->loop, &ctld->auth, "", ctld->conf->slurmctld_port.first,
                       &ctld_handlers, ctld, &ctld->server, err);
    if (r < 0)
        return r;
    rpc_server_on_reject(ctld->server, on_reject, NULL);
    deliver_start(ctld);
    history_purge_start(ctld);
    ctld_turn_end(ctld);
    return 0;
}

static int prepare(struct ctld *ctld, struct error *err) {
    struct str path cleanup_str = STR_INIT;
    conf_file_path(ctld->options.conf_file, &path);
    ctld->conf_path = xstrdup(str_cstr(&path));
    if (gethostname(ctld->hostname, sizeof(ctld->hostname) - 1) < 0)
        return error_errno(err, errno, "reading the host name");
    ctld->hostname[strcspn(ctld->hostname, ".")] = '\0';
    struct conf_report report cleanup_conf_report = CONF_REPORT_INIT;
    int r = ctld_load_conf(ctld, &ctld->conf, &report, err);
    print_report(&report);
    if (r < 0)
        return r;
    if ((r = find_user("SlurmUser", ctld->conf->slurm_user, &ctld->slurm_uid, err)) < 0 ||
        (r = find_user("SlurmdUser", ctld->conf->slurmd_user, &ctld->slurmd_uid, err)) < 0)
        return r;
    if (ctld->options.check_only) {
        printf("%s is valid\n", ctld->conf_path);
        exit(0);
    }
    if (ctld->conf->auth.socket != NULL)
        ctld->munge_socket = xstrdup(ctld->conf->auth.socket);
    ctld->auth.munge_socket = ctld->munge_socket;
    return open_log(ctld, err);
}

static int fail(struct daemonize *daemon, const struct error *err) {
    log_fatal("%s", err->text);
    daemonize_failed(daemon, err);
    return 1;
}

static void stop(struct ctld *ctld) {
    (void) notify_send("STOPPING=1", NULL);
    rpc_server_pause(ctld->server, true);
    filter_free(ctld);
    history_purge_stop(ctld);
    ctld_flush(ctld);
    deliver_stop(ctld);
    bygone_stop(ctld);
    rpc_server_free(ctld->server);
    store_close(ctld->store);
    core_free(take(ctld->core));
    loop_timer_free(ctld->timer);
    loop_timer_free(ctld->retry_timer);
    loop_free(ctld->loop);
    deliver_free(ctld);
    bygone_free(ctld);
    userdb_free(ctld->users);
    map_done(&ctld->clients);
    map_done(&ctld->nodes);
    diag_free(ctld);
    effects_done(ctld->effects);
    free(ctld->effects);
    arena_done(&ctld->request_memory);
    conf_free(ctld->conf);
    if (ctld->pid_file != NULL)
        pidfile_remove(ctld->pid_file, ctld->pid_fd);
    free(ctld->pid_file);
    free(ctld->conf_path);
    free(ctld->munge_socket);
    log_info("stopped");
    log_close();
}

int main(int argc, char **argv) {
    struct ctld ctld = {0};
    struct daemonize daemon = DAEMONIZE_INIT;
    struct error err = ERROR_INIT;
    if (argc > 1 && str_equal(argv[1], "--filter"))
        return filter_process(argc, argv);
    huge_pages_use(argv);
    if (parse_options(argc, argv, &ctld.options) < 0)
        return 1;
    if (prepare(&ctld, &err) < 0) {
        fprintf(stderr, "slurmctld: fatal: %s\n", err.text);
        return 1;
    }
    if (!ctld.options.foreground) {
        int r = daemonize(&daemon, &err);
        if (r < 0) {
            fprintf(stderr, "slurmctld: fatal: %s\n", err.text);
            return 1;
        }
        if (r == 1)
            return 0;
    }
    list_init(&ctld.pending);
    list_init(&ctld.runs_questions);
    arena_init(&ctld.request_memory, REQUEST_MEMORY);
    ctld.effects = xcalloc(1, sizeof(*ctld.effects));
    effects_init(ctld.effects);
    ctld.users = userdb_new(USER_CACHE, USER_TTL_SEC);
    ctld.core = core_new();
    ctld.start_time = ctld_now(&ctld);
    if (start(&ctld, &err) < 0)
        return fail(&daemon, &err);
    log_info("slurmctld (Sluice %s) of cluster %s is up on port %u", SLUICE_VERSION,
             ctld.conf->cluster_name, ctld.conf->slurmctld_port.first);
    daemonize_ready(&daemon);
    (void) notify_send("READY=1", NULL);
    int code = loop_run(ctld.loop, &err);
    if (code < 0)
        log_error("%s", err.text);
    stop(&ctld);
    return code < 0 ? 1 : code;
}
