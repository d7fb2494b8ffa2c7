/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sluice adopt: a login of a job's owner on one of its nodes becomes part of the job (its extern
 * step, PrologFlags=Contain); others are turned away. It is called by root: by pam_exec(8) in the
 * stack of sshd or su, where it moves the process that called it, or with a command, which it runs
 * as the user inside the job.
 *
 * The jobs here are known from the sockets of their extern steps in SlurmdSpoolDir: no daemon has
 * to be up for a login.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/step_wire.h"
#include "base/alloc.h"
#include "cli/main.h"
#include "cmd/sluice.h"
#include "model/conf.h"
#include "os/conf_file.h"
#include "os/frame.h"
#include "os/loop.h"
#include "os/sock.h"

#define ANSWER_USEC 10000000u

enum adopt_option {
    ADOPT_OPTION_conf,
    ADOPT_OPTION_exempt,
    ADOPT_OPTION_job,
    ADOPT_OPTION_pid,
    ADOPT_OPTION_user,
    ADOPT_OPTION_help,
    ADOPT_OPTION_version,
};

#define ROW(id_, letter_, argument_, metavar_, help_)                                              \
    {                                                                                              \
        .id = ADOPT_OPTION_##id_, .name = #id_, .letter = letter_, .argument = OPTION_##argument_, \
        .commands = 1, .metavar = metavar_, .help = help_                                          \
    }
static const struct option_row rows[] = {
    ROW(conf, 'f', REQUIRED, "FILE", "this slurm.conf"),
    ROW(exempt, 0, REQUIRED, "LIST", "users and @groups that may log in without a job; root may"),
    ROW(job, 'j', REQUIRED, "JOB", "this job; else the one that started here last"),
    ROW(pid, 'p', REQUIRED, "PID", "the process to adopt; else the one that called (pam_exec)"),
    ROW(user, 'u', REQUIRED, "USER", "who logs in; else PAM_USER of the environment"),
    ROW(help, 'h', NO, "", "this text"),
    ROW(version, 'V', NO, "", "print the version"),
};
static const struct option_set option_set = {"sluice adopt", rows, countof(rows), NULL, 0, 1};

struct adopt {
    struct cli *cli;
    const char *conf_file, *exempt, *user_name;
    uint64_t job_id; /* 0 = any */
    uint64_t pid;    /* 0 = who called */
    const struct passwd *user;
    char **command; /* ends with NULL; NULL = none */
    /* the extern step that was chosen */
    char *socket, *node;
    uint32_t chosen;
    struct timespec started;
};

static int print_help(struct cli *cli) {
    cleanup_str struct str out = STR_INIT;
    str_append(&out,
               "Usage: sluice adopt [OPTIONS...] [-- COMMAND [ARGUMENTS...]]\n\n"
               "Makes a login part of the job that its user has on this node, or refuses it.\n"
               "For root, with PrologFlags=Contain. In /etc/pam.d/sshd:\n"
               "  account required pam_exec.so stdout /usr/bin/sluice adopt\n"
               "With a command it is run as the user, in the job's private directories, too.\n\n"
               "Options:\n");
    option_set_print(&option_set, 24, &out);
    return cli_print_text(cli, &out);
}

/* ---- who needs no job ---- */

static bool is_in_group(const struct passwd *user, const char *name) {
    const struct group *group = getgrnam(name);
    gid_t groups[1024];
    int n = (int) countof(groups);
    if (!group || getgrouplist(user->pw_name, user->pw_gid, groups, &n) < 0)
        return false;
    for (int i = 0; i < n; i++) {
        if (groups[i] == group->gr_gid)
            return true;
    }
    return false;
}

static bool is_exempt(const struct adopt *adopt) {
    bool found = adopt->user->pw_uid == 0;
    words_each (adopt->exempt, ",", word)
        found |= word[0] == '@' ? is_in_group(adopt->user, word + 1)
                                : str_equal(word, adopt->user->pw_name);
    return found;
}

/* ---- talking to an extern step ---- */

/* The next report; its memory is the arena's. */
static int receive(int fd, struct frame_in *in, struct arena *arena, struct step_report *ret,
                   struct error *err) {
    uint64_t deadline = loop_monotonic_usec() + ANSWER_USEC;
    struct bytes content;
    int r;
    while ((r = frame_in_next(in, &content, err)) == 0) {
        r = sock_wait(fd, POLLIN, deadline, err);
        if (r == 0)
            r = error_set(err, ERR_TIMEOUT, "the job's extern step does not answer");
        if (r > 0)
            r = frame_in_read(in, fd, err);
        if (r < 0)
            return r;
    }
    if (r < 0)
        return r;
    struct step_frame_any any;
    enum step_frame type;
    r = step_frame_decode(content, arena, &type, &any, err);
    if (r == 0 && type != STEP_FRAME_REPORT)
        r = error_set(err, ERR_PROTOCOL, "the job's extern step answers something else");
    if (r == 0)
        *ret = any.report;
    return r;
}

/* Asks nothing, or to adopt a process (pid not 0). */
static int talk(const char *path, uint64_t pid, struct arena *arena, struct step_report *ret,
                struct error *err) {
    struct frame_in in;
    int fd, r = sock_dial_unix(path, &fd, err);
    if (r < 0)
        return r;
    frame_in_init(&in, STEP_FRAME_MAX);
    r = receive(fd, &in, arena, ret, err);
    if (r == 0 && pid != 0) {
        struct step_command command;
        struct frame_out out;
        cleanup_str struct str content = STR_INIT;
        record_init(&record_step_command, &command);
        command.kind = STEP_COMMAND_ADOPT;
        command.pid = (uint32_t) pid;
        step_frame_encode(STEP_FRAME_COMMAND, &record_step_command, &command, &content);
        frame_out_init(&out);
        frame_out_append(&out, str_bytes(&content));
        r = frame_out_flush(&out, fd, err);
        frame_out_done(&out);
        while (r >= 0 && (r = receive(fd, &in, arena, ret, err)) == 0 && ret->adopted != pid)
            ; /* reports of other things */
    }
    frame_in_done(&in);
    close(fd);
    return r < 0 ? r : 0;
}

/* ---- which job ---- */

static void look_at(struct adopt *adopt, const char *node, const char *directory,
                    const char *name) {
    cleanup_free char *path = xasprintf("%s/%s", directory, name);
    struct step_report report;
    struct arena arena;
    struct stat stat_;
    uint32_t job_id, step_id, attempt;
    if (!step_socket_parse(name, &job_id, &step_id, &attempt) || step_id != STEP_EXTERN ||
        (adopt->job_id != 0 && adopt->job_id != job_id) || stat(path, &stat_) < 0)
        return;
    arena_init(&arena, 1u << 20);
    bool is_his = talk(path, 0, &arena, &report, NULL) == 0 && report.running && !report.done &&
                  report.uid == adopt->user->pw_uid;
    arena_done(&arena);
    const struct timespec *when = &stat_.st_ctim;
    bool is_newer =
        adopt->socket == NULL || when->tv_sec > adopt->started.tv_sec ||
        (when->tv_sec == adopt->started.tv_sec && when->tv_nsec > adopt->started.tv_nsec);
    if (!is_his || !is_newer)
        return;
    free(adopt->socket);
    free(adopt->node);
    adopt->socket = take(path);
    adopt->node = xstrdup(node);
    adopt->chosen = job_id;
    adopt->started = *when;
}

/* Every node that this machine is: clusters for tests have several. */
static void look_around(struct adopt *adopt, const struct conf *conf) {
    char host[256] = "";
    (void) gethostname(host, sizeof(host) - 1);
    host[strcspn(host, ".")] = '\0';
    for (size_t i = 0; i < conf->n_nodes; i++) {
        const struct conf_node *node = &conf->nodes[i];
        cleanup_str struct str directory = STR_INIT;
        struct dirent *entry;
        if (!str_equal(node->hostname, host) && !str_equal(node->name, host))
            continue;
        conf_path_expand(conf->slurmd_spool_dir, host, node->name, &directory);
        str_append(&directory, "/step");
        DIR *dir = opendir(directory.data);
        while (dir && (entry = readdir(dir)))
            look_at(adopt, node->name, directory.data, entry->d_name);
        if (dir)
            closedir(dir);
    }
}

static int load_conf(const struct adopt *adopt, struct conf **ret, struct error *err) {
    static const struct conf_source source = {conf_file_read, NULL};
    struct conf_report report = CONF_REPORT_INIT;
    cleanup_str struct str path = STR_INIT;
    conf_file_path(adopt->conf_file, &path);
    int r = conf_load(&source, str_cstr(&path), CONF_SLURMD, ret, &report, err);
    conf_report_done(&report);
    return r;
}

/* ---- the command ---- */

static int enter_places(const char *base, struct error *err) {
    cleanup_free char *path = xasprintf("%s/.ns", base);
    cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || setns(fd, CLONE_NEWNS) < 0)
        return error_errno(err, errno, "the job's private directories (%s)", path);
    return 0;
}

static int become_user(const struct passwd *user, struct error *err) {
    if (initgroups(user->pw_name, user->pw_gid) < 0 ||
        setresgid(user->pw_gid, user->pw_gid, user->pw_gid) < 0 ||
        setresuid(user->pw_uid, user->pw_uid, user->pw_uid) < 0)
        return error_errno(err, errno, "becoming %s", user->pw_name);
    return 0;
}

static int run_command(const struct adopt *adopt, const char *places, struct error *err) {
    cleanup_free char *job = xasprintf("%u", adopt->chosen);
    int r = places ? enter_places(places, err) : 0;
    if (r == 0)
        r = become_user(adopt->user, err);
    if (r < 0)
        return r;
    if (chdir(adopt->user->pw_dir) < 0 && chdir("/") < 0)
        return error_errno(err, errno, "chdir");
    (void) setenv("HOME", adopt->user->pw_dir, 1);
    (void) setenv("USER", adopt->user->pw_name, 1);
    (void) setenv("LOGNAME", adopt->user->pw_name, 1);
    (void) setenv("SHELL", adopt->user->pw_shell, 1);
    if (adopt->chosen != 0) {
        (void) setenv("SLURM_JOB_ID", job, 1);
        (void) setenv("SLURMD_NODENAME", adopt->node, 1);
    }
    execvp(adopt->command[0], adopt->command);
    return error_errno(err, errno, "%s", adopt->command[0]);
}

/* ---- */

static int adopt_process(struct adopt *adopt, struct error *err) {
    struct step_report report;
    struct arena arena;
    uint64_t pid = adopt->command ? (uint64_t) getpid()
                   : adopt->pid   ? adopt->pid
                                  : (uint64_t) getppid();
    arena_init(&arena, 1u << 20);
    int r = talk(adopt->socket, pid, &arena, &report, err);
    if (r == 0 && report.refused)
        r = error_set(err, ERR_SYSTEM, "%s", report.refused);
    if (r == 0 && adopt->command)
        r = run_command(adopt, report.places, err);
    arena_done(&arena);
    return r;
}

static int adopt_run(struct adopt *adopt) {
    struct error err = ERROR_INIT;
    struct conf *conf = NULL;
    const char *name = adopt->user_name ? adopt->user_name : getenv("PAM_USER");
    if (geteuid() != 0)
        return cli_failed(adopt->cli,
                          "only root can adopt processes: call it from PAM, or by sudo");
    if (!name)
        return cli_failed(adopt->cli, "whose login is it? Give --user, or call it by pam_exec");
    adopt->user = getpwnam(name);
    if (!adopt->user)
        return cli_failed(adopt->cli, "there is no user %s", name);
    if (is_exempt(adopt)) {
        int r = adopt->command ? run_command(adopt, NULL, &err) : 0;
        return r < 0 ? cli_failed(adopt->cli, "%s", err.text) : 0;
    }
    if (load_conf(adopt, &conf, &err) < 0)
        return cli_failed(adopt->cli, "%s", err.text);
    look_around(adopt, conf);
    conf_free(conf);
    if (!adopt->socket)
        return cli_failed(adopt->cli, "Access denied: %s has no running job on this node%s", name,
                          adopt->job_id ? " of that number" : "");
    if (adopt_process(adopt, &err) < 0)
        return cli_failed(adopt->cli, "job %u of %s: %s", adopt->chosen, name, err.text);
    return 0;
}

static int take_number(struct adopt *adopt, const char *name, const char *text, uint64_t *ret) {
    if (str_to_u64(text, ret) && *ret > 0 && *ret <= UINT32_MAX)
        return CLI_GO_ON;
    cli_error(adopt->cli, "--%s=%s: a number is wanted", name, text);
    return 1;
}

static int take_option(struct adopt *adopt, enum adopt_option id, const char *value) {
    switch (id) {
    case ADOPT_OPTION_conf:
        adopt->conf_file = value;
        return CLI_GO_ON;
    case ADOPT_OPTION_exempt:
        adopt->exempt = value;
        return CLI_GO_ON;
    case ADOPT_OPTION_user:
        adopt->user_name = value;
        return CLI_GO_ON;
    case ADOPT_OPTION_job:
        return take_number(adopt, "job", value, &adopt->job_id);
    case ADOPT_OPTION_pid:
        return take_number(adopt, "pid", value, &adopt->pid);
    case ADOPT_OPTION_help:
        return print_help(adopt->cli);
    case ADOPT_OPTION_version:
        return cli_print(adopt->cli, "sluice %s\n", SLUICE_VERSION);
    }
    return CLI_GO_ON;
}

int sluice_adopt(struct cli *cli, int argc, char **argv) {
    struct option_uses uses = {0};
    struct adopt adopt = {.cli = cli, .exempt = ""};
    int status = cli_scan(cli, &option_set, argv + 1, (size_t) argc - 1, OPTION_STOP, &uses);
    status = status == CLI_GO_ON ? CLI_GO_ON : 1;
    for (size_t i = 0; i < uses.options.n && status == CLI_GO_ON; i++)
        status = take_option(&adopt, (enum adopt_option) uses.options.items[i].row->id,
                             uses.options.items[i].value);
    if (status == CLI_GO_ON && uses.rest.n > 0) {
        vec_push(&uses.rest, NULL);
        adopt.command = uses.rest.items;
    }
    if (status == CLI_GO_ON)
        status = adopt_run(&adopt);
    free(adopt.socket);
    free(adopt.node);
    option_uses_done(&uses);
    return status;
}
