/* SPDX-License-Identifier: Apache-2.0 */
/* slurmd: options, configuration, what the machine has, then the loop. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "os/conf_file.h"
#include "os/daemonize.h"
#include "os/log.h"
#include "os/notify.h"
#include "os/pidfile.h"
#include "os/userdb.h"
#include "slurmd/health.h"
#include "slurmd/slurmd.h"

/* ---- options ---- */

static const char usage[] =
    "Usage: slurmd [OPTIONS]\n"
    "  -b          say that the machine has booted anew, for tests of scontrol reboot\n"
    "  -C          print the line that describes this machine in slurm.conf, and exit\n"
    "  -D          stay in the foreground, log to standard error\n"
    "  -f FILE     read this configuration file\n"
    "  -G          print the devices that gres.conf and this machine have in common, and exit\n"
    "  -h          print this help\n"
    "  -L FILE     log to this file\n"
    "  -n NICE     run at this niceness\n"
    "  -N NAME     be the node of this name\n"
    "  -v          log more; may be repeated\n"
    "  -V          print the version\n"
    "  --systemd   stay in the foreground, tell when ready, write no pid file\n"
    "-c, -M and -s are accepted and have no effect.\n";

enum { OPTION_SYSTEMD = 256 };

/* Returns -1 to go on, or an exit status. */
static int parse_options(struct options *options, int argc, char **argv) {
    static const struct option longs[] = {{"help", no_argument, NULL, 'h'},
                                          {"systemd", no_argument, NULL, OPTION_SYSTEMD},
                                          {"version", no_argument, NULL, 'V'},
                                          {NULL, 0, NULL, 0}};
    int c;

    while ((c = getopt_long(argc, argv, "bcCDf:GhL:Mn:N:svV", longs, NULL)) != -1) {
        switch (c) {
        case OPTION_SYSTEMD:
            options->foreground = options->systemd = true;
            break;
        case 'b':
            options->new_boot = true;
            break;
        case 'C':
            options->print_machine = true;
            break;
        case 'D':
            options->foreground = true;
            break;
        case 'f':
            options->conf_file = optarg;
            break;
        case 'G':
            options->print_gres = true;
            break;
        case 'h':
            fputs(usage, stdout);
            return 0;
        case 'L':
            options->log_file = optarg;
            break;
        case 'n':
            errno = 0; /* -1 may be a niceness */
            if (nice(atoi(optarg)) == -1 && errno)
                fprintf(stderr, "slurmd: error: niceness %s: %s\n", optarg, strerror(errno));
            break;
        case 'N':
            options->node_name = optarg;
            break;
        case 'v':
            options->verbose++;
            break;
        case 'V':
            printf("slurm " SLUICE_COMPAT_VERSION "\n");
            return 0;
        case 'c':
        case 'M':
        case 's':
            fprintf(stderr, "slurmd: -%c has no effect\n", c);
            break;
        default:
            fputs("Try \"slurmd -h\" for more information\n", stderr);
            return 1;
        }
    }
    return -1;
}

/* ---- configuration ---- */

static int load_conf(struct slurmd *slurmd, struct conf **ret, struct error *err) {
    static const struct conf_source source = {conf_file_read, NULL};
    struct conf_report report = CONF_REPORT_INIT;
    int r = conf_load(&source, slurmd->conf_path, CONF_SLURMD, ret, &report, err);

    for (size_t i = 0; i < report.n; i++) {
        cleanup_str struct str line = STR_INIT;
        conf_finding_print(&report.items[i], &line);
        if (report.items[i].severity == CONF_SEVERITY_ERROR)
            log_error("%s", line.data);
        else
            log_verbose("%s", line.data);
    }
    conf_report_done(&report);
    return r;
}

static int user_id(const char *name, uid_t *ret, struct error *err) {
    struct userdb_user user = {0};
    int r = userdb_find(name, &user, err);

    if (r < 0)
        return error_prefix(err, "SlurmUser or SlurmdUser of the configuration: ");
    *ret = user.uid;
    userdb_user_done(&user);
    return 0;
}

static const struct conf_node *find_node(const struct slurmd *slurmd, const struct conf *conf,
                                         struct error *err) {
    const char *host = slurmd->machine.hostname;
    const struct conf_node *node = NULL;

    if (slurmd->options.node_name)
        node = conf_node_find(conf, slurmd->options.node_name);
    else
        node = conf_node_find(conf, host);
    for (size_t i = 0; !node && !slurmd->options.node_name && i < conf->n_nodes; i++) {
        if (str_equal(conf->nodes[i].hostname, host))
            node = &conf->nodes[i];
    }
    if (!node && slurmd->options.node_name)
        (void) error_set(err, ERR_CONFIG, "%s has no node %s (given by -N).", conf->path,
                         slurmd->options.node_name);
    else if (!node)
        (void) error_set(err, ERR_CONFIG,
                         "%s has no node with NodeName or NodeHostname \"%s\", this machine's "
                         "name: add a line as \"slurmd -C\" prints it, or name the node by -N.",
                         conf->path, host);
    return node;
}

/* What depends on the configuration; also after a change of it. */
static int apply_conf(struct slurmd *slurmd, struct conf *conf, struct error *err) {
    const struct conf_node *node = find_node(slurmd, conf, err);
    uid_t slurm_uid, slurmd_uid;

    if (!node || user_id(conf->slurm_user, &slurm_uid, err) < 0 ||
        user_id(conf->slurmd_user, &slurmd_uid, err) < 0)
        return err->code;
    conf_free(slurmd->conf);
    slurmd->conf = conf;
    slurmd->node = node;
    slurmd->slurm_uid = slurm_uid;
    free(slurmd->node_name);
    slurmd->node_name = xstrdup(node->name);
    free(slurmd->munge_socket);
    slurmd->munge_socket = xstrdup_null(conf->auth.socket);
    slurmd->auth.munge_socket = slurmd->munge_socket;
    if (places_configure(slurmd, err) < 0)
        return err->code;
    machine_map(&slurmd->machine, slurmd->node, &slurmd->cpu_map);
    gres_look(slurmd);
    return 0;
}

void slurmd_reconfigure(struct slurmd *slurmd) {
    struct conf *conf = NULL;
    struct error err = ERROR_INIT;

    if (load_conf(slurmd, &conf, &err) < 0) {
        log_error("the configuration was changed to something wrong; going on with the old one: %s",
                  err.text);
        return;
    }
    if (apply_conf(slurmd, conf, &err) < 0) {
        log_error("going on with the old configuration: %s", err.text);
        conf_free(conf);
        return;
    }
    users_clear(slurmd);
    fences_configure(slurmd);
    health_reconfigure(slurmd);
    jobs_configure(slurmd);
    log_info("configuration read again");
    controller_register(slurmd);
}

/* ---- effects ---- */

static void effect_run(struct slurmd *slurmd, const struct agent_effect *effect) {
    switch (effect->kind) {
    case AGENT_SEND:
        controller_send_body(slurmd, effect->type, str_bytes(&effect->body));
        break;
    case AGENT_COMMAND:
        step_command(slurmd, effect->key, &effect->command);
        break;
    case AGENT_SWEEP:
        log_error("job %u: a slurmstepd ended unexpectedly; ending what it left",
                  effect->key.job_id);
        sweep_step(slurmd, effect->key);
        break;
    case AGENT_CLEAN_JOB:
        files_end(slurmd, effect->key.job_id);
        clean_job(slurmd, effect->key, effect->uid);
        break;
    case AGENT_PREPARE_JOB:
        prepare_job(slurmd, effect->key, effect->uid);
        break;
    case AGENT_START_EXTERN:
        launch_extern(slurmd, effect->key, effect->uid);
        break;
    case AGENT_START_STEP:
        launch_go_on(slurmd, effect->key);
        break;
    case AGENT_DROP_STEP:
        launch_drop(slurmd, effect->key, effect->body.data);
        break;
    case AGENT_FORGET_JOB:
        forget_job(slurmd, effect->key);
        break;
    }
}

static void set_agent_timer(struct slurmd *slurmd) {
    loop_timer_set(slurmd->agent_timer, agent_next_tick(slurmd->agent));
}

void slurmd_effects(struct slurmd *slurmd, struct agent_effects *effects) {
    for (size_t i = 0; i < effects->list.n; i++)
        effect_run(slurmd, &effects->list.items[i]);
    agent_effects_done(effects);
    set_agent_timer(slurmd);
}

static void on_agent_timer(void *context) {
    struct slurmd *slurmd = context;
    struct agent_effects effects = {0};

    agent_tick(slurmd->agent, loop_monotonic_usec(), &effects);
    slurmd_effects(slurmd, &effects);
}

/* ---- signals ---- */

static void on_signal(int signal, const void *siginfo, void *context) {
    struct slurmd *slurmd = context;
    struct error err = ERROR_INIT;

    switch (signal) {
    case SIGHUP:
        slurmd_reconfigure(slurmd);
        break;
    case SIGUSR2:
        if (log_reopen(&err) < 0)
            log_error("%s", err.text);
        break;
    default:
        log_info("stopping on signal %d (%s); running steps go on", signal, strsignal(signal));
        loop_stop(slurmd->loop, 0);
    }
}

static int watch_signals(struct slurmd *slurmd, struct error *err) {
    static const int signals[] = {SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR2};

    (void) signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < countof(signals); i++) {
        int r = loop_signal(slurmd->loop, signals[i], on_signal, slurmd, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- the machine's side ---- */

static int make_directory(const char *path, mode_t mode, struct error *err) {
    if (mkdir(path, mode) == 0 || errno == EEXIST)
        return 0;
    return error_errno(err, errno, "Cannot make the directory %s", path);
}

static int open_spool(struct slurmd *slurmd, struct error *err) {
    struct str spool = STR_INIT;
    cleanup_str struct str steps = STR_INIT, scripts = STR_INIT;

    conf_path_expand(slurmd->conf->slurmd_spool_dir, slurmd->machine.hostname, slurmd->node_name,
                     &spool);
    free(slurmd->spool_dir);
    slurmd->spool_dir = str_take(&spool);
    str_printf(&steps, "%s/step", slurmd->spool_dir);
    script_path(slurmd, "", &scripts);
    int r = make_directory(slurmd->spool_dir, 0755, err);
    if (r == 0)
        r = make_directory(steps.data, 0700, err);
    return r < 0 ? r : make_directory(scripts.data, 0700, err);
}

/* slurmstepd lies beside slurmd, or, in a build directory, in the folder beside slurmd's. */
static int find_stepd(struct slurmd *slurmd, struct error *err) {
    static const char *const places[] = {"slurmstepd", "../slurmstepd/slurmstepd"};
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

    if (n <= 0)
        return error_errno(err, errno, "/proc/self/exe");
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    for (size_t i = 0; i < countof(places); i++) {
        char *path = xasprintf("%s/%s", self, places[i]);
        struct stat stat_;
        if (stat(path, &stat_) == 0 && S_ISREG(stat_.st_mode)) {
            slurmd->stepd_path = path;
            return 0;
        }
        free(path);
    }
    return error_set(err, ERR_NOT_FOUND,
                     "slurmstepd is not in %s, beside slurmd: the installation "
                     "is not complete.",
                     self);
}

static int open_log(struct slurmd *slurmd, struct error *err) {
    const struct options *options = &slurmd->options;
    cleanup_str struct str file = STR_INIT;
    enum log_level level = (enum log_level) slurmd->conf->slurmd_debug;
    const char *pattern = options->log_file ? options->log_file : slurmd->conf->slurmd_log_file;

    level = options->verbose
                ? (enum log_level) min_of(LOG_LEVEL_INFO + options->verbose, (int) LOG_LEVEL_DEBUG5)
                : level;
    if (pattern)
        conf_path_expand(pattern, slurmd->machine.hostname, slurmd->node_name, &file);
    struct log_config config = {
        .ident = "slurmd",
        .stderr_level = options->foreground ? level : LOG_LEVEL_QUIET,
        .file = pattern ? file.data : NULL,
        .file_level = pattern ? level : LOG_LEVEL_QUIET,
        .syslog_level = pattern || options->foreground ? LOG_LEVEL_QUIET : level,
    };
    int r = log_open(&config, err);
    slurmd->has_log = r == 0;
    return r;
}

static int prepare(struct slurmd *slurmd, struct error *err) {
    struct str path = STR_INIT;
    struct conf *conf = NULL;

    conf_file_path(slurmd->options.conf_file, &path);
    char *absolute = realpath(str_cstr(&path), NULL);
    slurmd->conf_path = absolute ? absolute : xstrdup(str_cstr(&path));
    str_done(&path);
    int r = load_conf(slurmd, &conf, err);
    if (r == 0)
        r = machine_look(&slurmd->machine, conf->tmp_fs, err);
    if (r == 0 && slurmd->options.new_boot)
        machine_boot_anew(&slurmd->machine);
    if (r == 0)
        r = apply_conf(slurmd, conf, err);
    if (r == 0)
        r = find_stepd(slurmd, err);
    return r;
}

static int open_pidfile(struct slurmd *slurmd, struct error *err) {
    struct str path = STR_INIT;

    conf_path_expand(slurmd->conf->slurmd_pid_file, slurmd->machine.hostname, slurmd->node_name,
                     &path);
    slurmd->pid_file = str_take(&path);
    return pidfile_create(slurmd->pid_file, &slurmd->pid_fd, err);
}

static int run(struct slurmd *slurmd, struct daemonize *daemon, struct error *err) {
    int r = slurmd->options.systemd ? 0 : open_pidfile(slurmd, err);

    if (r == 0)
        r = open_spool(slurmd, err);
    if (r == 0)
        r = loop_new(&slurmd->loop, err);
    if (r == 0)
        r = watch_signals(slurmd, err);
    if (r < 0)
        return r;
    slurmd->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    fences_start(slurmd);
    slurmd->agent = agent_new();
    slurmd->agent_timer = loop_timer_add(slurmd->loop, on_agent_timer, slurmd);
    slurmd->start_time = (int64_t) (loop_realtime_usec() / 1000000);
    r = server_start(slurmd, err);
    if (r < 0)
        return r;
    health_start(slurmd);
    jobs_configure(slurmd);
    steps_adopt(slurmd);
    jobs_adopt(slurmd);
    controller_start(slurmd);
    gpu_watch_start(slurmd);
    daemonize_ready(daemon);
    (void) notify_send("READY=1", NULL);
    log_info("slurmd of node %s started, listening on port %u", slurmd->node_name,
             rpc_server_port(slurmd->server));
    r = loop_run(slurmd->loop, err);
    fences_stop(slurmd);
    if (slurmd->pid_file)
        pidfile_remove(slurmd->pid_file, slurmd->pid_fd);
    return r;
}

static int show_machine(void) {
    struct machine machine = {0};
    cleanup_str struct str text = STR_INIT;
    struct error err = ERROR_INIT;

    if (machine_look(&machine, "/tmp", &err) < 0) {
        fprintf(stderr, "slurmd: error: %s\n", err.text);
        return 1;
    }
    machine_print(&machine, &text);
    machine_done(&machine);
    return fputs(text.data, stdout) < 0 || fflush(stdout) < 0;
}

/* To the log, and to whoever typed the command. */
static void report_failure(const struct slurmd *slurmd, struct daemonize *daemon,
                           const struct error *why) {
    if (slurmd->has_log)
        log_fatal("%s", why->text);
    if (daemon->status_fd < 0 && !(slurmd->has_log && slurmd->options.foreground))
        fprintf(stderr, "slurmd: fatal: %s\n", why->text);
    daemonize_failed(daemon, why);
}

int main(int argc, char **argv) {
    static struct slurmd slurmd;
    struct daemonize daemon = DAEMONIZE_INIT;
    struct error err = ERROR_INIT;
    int status = parse_options(&slurmd.options, argc, argv);

    if (status >= 0)
        return status;
    if (slurmd.options.print_machine)
        return show_machine();
    list_init(&slurmd.links);
    list_init(&slurmd.files);
    list_init(&slurmd.pending_steps);
    list_init(&slurmd.sweeps);
    list_init(&slurmd.stats);
    list_init(&slurmd.held);
    list_init(&slurmd.jobs);
    list_init(&slurmd.scripts);
    int r = prepare(&slurmd, &err);
    if (r == 0 && slurmd.options.print_gres) {
        cleanup_str struct str text = STR_INIT;
        gres_describe(&slurmd, &text);
        fputs(str_cstr(&text), stdout);
        return 0;
    }
    if (r == 0)
        r = open_log(&slurmd, &err);
    if (r == 0 && !slurmd.options.foreground) {
        r = daemonize(&daemon, &err);
        if (r == 1)
            return 0;
    }
    if (r == 0)
        r = run(&slurmd, &daemon, &err);
    if (r < 0)
        report_failure(&slurmd, &daemon, &err);
    return r < 0 ? 1 : r;
}
