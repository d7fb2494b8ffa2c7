/* SPDX-License-Identifier: Apache-2.0 */
/* slurmdbd's start and stop: options, configuration, identity, database, network, signals. */
#include <errno.h>
#include <getopt.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os/conf_file.h"
#include "os/daemonize.h"
#include "os/log.h"
#include "os/notify.h"
#include "os/pidfile.h"
#include "slurmdbd/dbd.h"

#define USER_CACHE 65536
#define USER_TTL_SEC 600
#define REQUEST_MEMORY (256u << 20)
#define SQLITE_DIRECTORY "/var/spool/slurmdbd"

struct options {
    const char *conf_file;
    bool foreground, systemd;
    int verbose;
};

static const char usage_text[] =
    "Usage: slurmdbd [OPTIONS]\n"
    "  -D          Stay in the foreground, log to standard error.\n"
    "  -f FILE     Read this slurmdbd.conf (else the one beside slurm.conf).\n"
    "  -h          Print this help.\n"
    "  -v          Log more; may be repeated.\n"
    "  -V          Print the version.\n"
    "  --systemd   Started by systemd: foreground, readiness notice, no pid file.\n";

static int parse_options(int argc, char **argv, struct options *options) {
    static const struct option longs[] = {{"help", no_argument, NULL, 'h'},
                                          {"version", no_argument, NULL, 'V'},
                                          {"systemd", no_argument, NULL, 1},
                                          {NULL, 0, NULL, 0}};
    int c;
    while ((c = getopt_long(argc, argv, "Df:hvV", longs, NULL)) != -1) {
        switch (c) {
        case 'D':
            options->foreground = true;
            break;
        case 'f':
            options->conf_file = optarg;
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
            fputs("Try \"slurmdbd -h\" for more information\n", stderr);
            return -1;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "slurmdbd: error: unexpected argument: %s\n", argv[optind]);
        return -1;
    }
    return 0;
}

int64_t dbd_now(void) {
    return (int64_t) (loop_realtime_usec() / 1000000);
}

bool dbd_is_super(const struct dbd *dbd, uid_t uid) {
    return uid == 0 || uid == dbd->slurm_uid || uid == geteuid();
}

void dbd_note_database(struct dbd *dbd, const struct task *task) {
    bool away = task->code == -ERR_BUSY;
    if (away && !dbd->db_away)
        log_error("the database cannot be used, controllers keep what they have to tell: %s",
                  task->err.text);
    if (!away && task->code == 0 && dbd->db_away)
        log_info("the database is there again");
    if (away || task->code == 0)
        dbd->db_away = away;
}

/* ---- configuration ---- */

/* The file holds a password. */
static int check_owner(const char *path, const struct userdb_user *user, struct error *err) {
    struct stat st;
    if (stat(path, &st) < 0)
        return error_errno(err, errno, "%s", path);
    if (st.st_uid != user->uid && st.st_uid != 0)
        return error_set(err, ERR_CONFIG,
                         "%s belongs to uid %u, not to SlurmUser (uid %u): chown %s", path,
                         st.st_uid, user->uid, user->name);
    if ((st.st_mode & 077) != 0)
        return error_set(err, ERR_CONFIG,
                         "%s can be read or written by others (mode %04o), and it holds a "
                         "password: chmod 600 %s",
                         path, st.st_mode & 07777, path);
    return 0;
}

static void location_fill(struct dbd *dbd) {
    const struct conf_dbd *conf = dbd->conf;
    struct acct_location *location = &dbd->location;
    acct_location_done(location);
    if (conf->storage_type == CONF_DBD_STORAGE_SQLITE) {
        location->backend = ACCT_SQLITE;
        location->path = conf->storage_loc[0] == '/'
                             ? xstrdup(conf->storage_loc)
                             : xasprintf(SQLITE_DIRECTORY "/%s.sqlite", conf->storage_loc);
        return;
    }
    location->backend =
        conf->storage_type == CONF_DBD_STORAGE_POSTGRESQL ? ACCT_POSTGRESQL : ACCT_MARIADB;
    string_set(&location->host, conf->storage_host);
    location->port = conf->storage_port;
    string_set(&location->user, conf->storage_user);
    string_set(&location->password, conf->storage_pass);
    string_set(&location->database, conf->storage_loc);
}

static void print_report(const struct conf_report *report, bool to_log) {
    struct str text cleanup_str = STR_INIT;
    conf_report_print(report, &text);
    if (!to_log) {
        fputs(str_cstr(&text), stderr);
        return;
    }
    words_each (str_cstr(&text), "\n", line)
        log_error("%s", line);
}

static int load_conf(struct dbd *dbd, bool to_log, struct error *err) {
    struct conf_report report cleanup_conf_report = CONF_REPORT_INIT;
    struct conf_source source = {.read = conf_file_read};
    struct conf_dbd *fresh = NULL;
    struct userdb_user user;
    int r = conf_dbd_load(&source, dbd->conf_path, &fresh, &report, err);
    print_report(&report, to_log);
    if (r < 0)
        return r;
    r = userdb_find(fresh->slurm_user, &user, err);
    if (r < 0) {
        r = error_prefix(err, "SlurmUser=%s: ", fresh->slurm_user);
        conf_dbd_free(fresh);
        return r;
    }
    uid_t uid = user.uid;
    r = check_owner(dbd->conf_path, &user, err);
    userdb_user_done(&user);
    if (r < 0) {
        conf_dbd_free(fresh);
        return r;
    }
    dbd->slurm_uid = uid;
    conf_dbd_free(dbd->conf);
    dbd->conf = fresh;
    return 0;
}

static int open_log(struct dbd *dbd, const struct options *options, struct error *err) {
    const struct conf_dbd *conf = dbd->conf;
    int level = (int) conf->debug_level + options->verbose;
    enum log_level detail = (enum log_level) min_of(level, (int) LOG_LEVEL_DEBUG5);
    bool to_syslog = conf->log_file == NULL && !options->foreground;
    struct log_config config = {.ident = "slurmdbd",
                                .stderr_level = options->foreground ? detail : LOG_LEVEL_ERROR,
                                .file = conf->log_file,
                                .file_level = conf->log_file != NULL ? detail : LOG_LEVEL_QUIET,
                                .syslog_level = to_syslog ? detail : LOG_LEVEL_QUIET};
    return log_open(&config, err);
}

/* slurmdbd.conf lies beside slurm.conf. */
static void find_conf(struct dbd *dbd, const struct options *options) {
    struct str path cleanup_str = STR_INIT;
    if (options->conf_file != NULL) {
        dbd->conf_path = realpath(options->conf_file, NULL);
        if (dbd->conf_path == NULL)
            dbd->conf_path = xstrdup(options->conf_file);
        return;
    }
    conf_file_path(NULL, &path);
    const char *slash = strrchr(str_cstr(&path), '/');
    dbd->conf_path = xasprintf("%.*s/slurmdbd.conf", slash != NULL ? (int) (slash - path.data) : 1,
                               slash != NULL ? path.data : ".");
}

static bool host_is_ours(const struct dbd *dbd, const char *host) {
    size_t length = host != NULL ? strcspn(host, ".") : 0;
    return host != NULL &&
           (str_equal_nocase(host, "localhost") ||
            (strlen(dbd->hostname) == length && strncasecmp(host, dbd->hostname, length) == 0));
}

static int prepare(struct dbd *dbd, const struct options *options, struct error *err) {
    if (gethostname(dbd->hostname, sizeof(dbd->hostname) - 1) < 0)
        return error_errno(err, errno, "reading the host name");
    dbd->hostname[strcspn(dbd->hostname, ".")] = '\0';
    find_conf(dbd, options);
    int r = load_conf(dbd, false, err);
    if (r < 0)
        return r;
    if (!host_is_ours(dbd, dbd->conf->dbd_host) && !host_is_ours(dbd, dbd->conf->dbd_backup_host))
        return error_set(err, ERR_CONFIG,
                         "this host is %s, and DbdHost=%s: slurmdbd runs there, or correct %s",
                         dbd->hostname, dbd->conf->dbd_host, dbd->conf_path);
    if (dbd->conf->auth.socket != NULL)
        dbd->munge_socket = xstrdup(dbd->conf->auth.socket);
    dbd->auth.munge_socket = dbd->munge_socket;
    location_fill(dbd);
    return open_log(dbd, options, err);
}

/* ---- signals ---- */

static void on_stop(int number, const void *info, void *context) {
    struct dbd *dbd = context;
    log_info("signal %d: stopping", number);
    loop_stop(dbd->loop, 0);
}

/* Another place of the database or another port needs a restart, and it says so. */
int dbd_reconfigure(struct dbd *dbd, struct error *err) {
    uint32_t port = dbd->conf->dbd_port;
    int r = load_conf(dbd, true, err);
    if (r < 0) {
        log_error("%s: %s; the former configuration stays", dbd->conf_path, err->text);
        return r;
    }
    log_set_level((enum log_level) dbd->conf->debug_level);
    if (dbd->conf->dbd_port != port)
        log_error("DbdPort=%u takes effect when slurmdbd is restarted", dbd->conf->dbd_port);
    log_info("%s was read again; what it says of the database counts after a restart",
             dbd->conf_path);
    return 0;
}

static void on_hup(int number, const void *info, void *context) {
    struct error err = ERROR_INIT;
    (void) !dbd_reconfigure(context, &err); /* the log has it */
}

static void on_usr2(int number, const void *info, void *context) {
    struct error err = ERROR_INIT;
    if (log_reopen(&err) < 0)
        log_error("%s", err.text);
}

static int watch_signals(struct dbd *dbd, struct error *err) {
    static const struct {
        int number;
        void (*fn)(int number, const void *info, void *context);
    } rows[] = {{SIGTERM, on_stop},
                {SIGINT, on_stop},
                {SIGQUIT, on_stop},
                {SIGHUP, on_hup},
                {SIGUSR2, on_usr2}};
    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < countof(rows); i++) {
        int r = loop_signal(dbd->loop, rows[i].number, rows[i].fn, dbd, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static void on_reject(const struct error *why, void *context) {
    if (why->code == -ERR_CLOSED)
        log_verbose("a connection ended before its handshake: %s", why->text);
    else
        log_error("connection refused: %s", why->text);
}

/* ---- start and stop ---- */

static int become_slurm_user(struct dbd *dbd, struct error *err) {
    struct userdb_user user;
    if (geteuid() != 0 || dbd->slurm_uid == 0)
        return 0;
    int r = userdb_find_uid(dbd->slurm_uid, &user, err);
    if (r < 0)
        return r;
    if (initgroups(user.name, user.gid) < 0 || setresgid(user.gid, user.gid, user.gid) < 0 ||
        setresuid(user.uid, user.uid, user.uid) < 0)
        r = error_errno(err, errno, "becoming SlurmUser %s", user.name);
    userdb_user_done(&user);
    return r;
}

/* A database that cannot be used by this release is a fatal error, one that is away is not. */
static int try_database(struct dbd *dbd, struct error *err) {
    struct acct *acct = NULL;
    int r = acct_open(&dbd->location, &acct, err);
    if (r == 0)
        log_info("the database is %s", acct_name(acct));
    acct_close(acct);
    if (r != -ERR_BUSY)
        return r;
    dbd->db_away = true;
    log_error("the database cannot be used yet, controllers keep what they have to tell: %s",
              err->text);
    return 0;
}

static int start(struct dbd *dbd, struct error *err) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void) setrlimit(RLIMIT_NOFILE, &limit);
    }
    int r = become_slurm_user(dbd, err);
    if (r == 0)
        r = try_database(dbd, err);
    if (r == 0)
        r = loop_new(&dbd->loop, err);
    if (r == 0)
        r = watch_signals(dbd, err);
    if (r == 0)
        r = worker_start(dbd->loop, &dbd->location, &dbd->writer, err);
    if (r == 0)
        r = worker_start(dbd->loop, &dbd->location, &dbd->reader, err);
    if (r == 0)
        r = worker_start(dbd->loop, &dbd->location, &dbd->keeper, err);
    if (r == 0)
        r = rpc_server_new(dbd->loop, &dbd->auth, "", (uint16_t) dbd->conf->dbd_port, &dbd_handlers,
                           dbd, &dbd->server, err);
    if (r < 0)
        return r;
    rpc_server_on_reject(dbd->server, on_reject, NULL);
    rollup_start(dbd);
    return 0;
}

static void stop(struct dbd *dbd) {
    (void) notify_send("STOPPING=1", NULL);
    rpc_server_pause(dbd->server, true);
    loop_timer_free(dbd->rollup_timer);
    worker_stop(&dbd->writer);
    worker_stop(&dbd->reader);
    worker_stop(&dbd->keeper);
    controllers_stop(dbd);
    rpc_server_free(dbd->server);
    loop_free(dbd->loop);
    keeper_free(dbd->book);
    userdb_free(dbd->users);
    map_done(&dbd->clients);
    stats_free(dbd);
    arena_done(&dbd->request_memory);
    acct_location_done(&dbd->location);
    conf_dbd_free(dbd->conf);
    free(dbd->conf_path);
    free(dbd->munge_socket);
    log_info("stopped");
    log_close();
}

static int run(struct dbd *dbd, const struct options *options, struct daemonize *daemon) {
    struct error err = ERROR_INIT;
    int pid_fd = -1;
    cleanup_free char *pid_file = options->systemd ? NULL : xstrdup(dbd->conf->pid_file);
    int r = pid_file != NULL ? pidfile_create(pid_file, &pid_fd, &err) : 0;
    if (r == 0)
        r = start(dbd, &err);
    if (r < 0) {
        log_fatal("%s", err.text);
        daemonize_failed(daemon, &err);
        return 1;
    }
    log_info("slurmdbd (Sluice %s) is up on port %u", SLUICE_VERSION, dbd->conf->dbd_port);
    daemonize_ready(daemon);
    (void) notify_send("READY=1", NULL);
    int code = loop_run(dbd->loop, &err);
    if (code < 0)
        log_error("%s", err.text);
    stop(dbd);
    if (pid_file != NULL)
        pidfile_remove(pid_file, pid_fd);
    return code < 0 ? 1 : code;
}

int main(int argc, char **argv) {
    struct dbd dbd = {.start_time = dbd_now()};
    struct options options = {0};
    struct daemonize daemon = DAEMONIZE_INIT;
    struct error err = ERROR_INIT;
    if (parse_options(argc, argv, &options) < 0)
        return 1;
    if (prepare(&dbd, &options, &err) < 0) {
        fprintf(stderr, "slurmdbd: fatal: %s\n", err.text);
        return 1;
    }
    if (!options.foreground) {
        int r = daemonize(&daemon, &err);
        if (r < 0) {
            fprintf(stderr, "slurmdbd: fatal: %s\n", err.text);
            return 1;
        }
        if (r == 1)
            return 0;
    }
    arena_init(&dbd.request_memory, REQUEST_MEMORY);
    dbd.users = userdb_new(USER_CACHE, USER_TTL_SEC);
    dbd.book = keeper_new();
    list_init(&dbd.rounds);
    return run(&dbd, &options, &daemon);
}
