/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sluice adopt: a login of a job's owner on one of its nodes becomes part of the job (its extern
 * step, PrologFlags=Contain); others are turned away. It is called by root: by pam_exec(8) in the
 * stack of sshd or su, where it moves the process that called it, or with a command, which it runs
 * as the user inside the job. The PAM module pam_sluice.so does the same by itself.
 */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/main.h"
#include "cmd/sluice.h"
#include "login/login.h"

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
    struct login_job job;
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

/* ---- the command ---- */

static int become_user(const struct passwd *user, struct error *err) {
    if (initgroups(user->pw_name, user->pw_gid) < 0 ||
        setresgid(user->pw_gid, user->pw_gid, user->pw_gid) < 0 ||
        setresuid(user->pw_uid, user->pw_uid, user->pw_uid) < 0)
        return error_errno(err, errno, "becoming %s", user->pw_name);
    return 0;
}

static int run_command(const struct adopt *adopt, const char *places, struct error *err) {
    cleanup_free char *job = xasprintf("%u", adopt->job.job_id);
    int r = places ? login_enter_places(places, err) : 0;
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
    if (adopt->job.job_id != 0) {
        (void) setenv("SLURM_JOB_ID", job, 1);
        (void) setenv("SLURMD_NODENAME", adopt->job.node, 1);
    }
    execvp(adopt->command[0], adopt->command);
    return error_errno(err, errno, "%s", adopt->command[0]);
}

/* ---- */

static int adopt_process(struct adopt *adopt, struct error *err) {
    cleanup_free char *places = NULL;
    uint64_t pid = adopt->command ? (uint64_t) getpid()
                   : adopt->pid   ? adopt->pid
                                  : (uint64_t) getppid();
    int r = login_adopt(&adopt->job, (pid_t) pid, &places, err);
    if (r == 0 && adopt->command)
        r = run_command(adopt, places, err);
    return r;
}

static int adopt_run(struct adopt *adopt) {
    struct error err = ERROR_INIT;
    const char *name = adopt->user_name ? adopt->user_name : getenv("PAM_USER");
    if (geteuid() != 0)
        return cli_failed(adopt->cli,
                          "only root can adopt processes: call it from PAM, or by sudo");
    if (!name)
        return cli_failed(adopt->cli, "whose login is it? Give --user, or call it by pam_exec");
    adopt->user = getpwnam(name);
    if (!adopt->user)
        return cli_failed(adopt->cli, "there is no user %s", name);
    if (login_is_exempt(adopt->user, adopt->exempt)) {
        int r = adopt->command ? run_command(adopt, NULL, &err) : 0;
        return r < 0 ? cli_failed(adopt->cli, "%s", err.text) : 0;
    }
    int r = login_find(adopt->conf_file, adopt->user->pw_uid, (uint32_t) adopt->job_id, &adopt->job,
                       &err);
    if (r < 0)
        return cli_failed(adopt->cli, "%s", err.text);
    if (!adopt->job.socket)
        return cli_failed(adopt->cli, "Access denied: %s has no running job on this node%s", name,
                          adopt->job_id ? " of that number" : "");
    if (adopt_process(adopt, &err) < 0)
        return cli_failed(adopt->cli, "job %u of %s: %s", adopt->job.job_id, name, err.text);
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
    login_job_done(&adopt.job);
    option_uses_done(&uses);
    return status;
}
