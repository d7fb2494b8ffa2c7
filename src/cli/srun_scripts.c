/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that srun runs here around its step: SrunProlog and SrunEpilog of the configuration, or
 * those of --prolog and --epilog. They are the user's, get the command line of the step as their
 * arguments, and what they print goes where srun's own output goes.
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/environ.h"
#include "cli/srun.h"

static void set_text(struct str *environment, const char *name, const char *value) {
    if (value)
        environ_set(environment, name, value);
}

static void set_number(struct str *environment, const char *name, uint64_t value) {
    cleanup_str struct str text = STR_INIT;

    str_append_u64(&text, value);
    environ_set(environment, name, text.data);
}

static void fill_environment(const struct srun *srun, const char *context, struct str *out) {
    const struct step_layout *layout = srun->layout;

    str_append_bytes(out, srun->environment.data, srun->environment.length);
    set_number(out, "SLURM_JOB_ID", layout->job_id);
    set_number(out, "SLURM_JOBID", layout->job_id);
    set_number(out, "SLURM_STEP_ID", layout->step_id);
    set_number(out, "SLURM_STEPID", layout->step_id);
    set_number(out, "SLURM_JOB_UID", getuid());
    set_number(out, "SLURM_JOB_GID", getgid());
    set_text(out, "SLURM_JOB_USER", layout->user_name);
    set_text(out, "SLURM_JOB_NAME", layout->job_name);
    set_text(out, "SLURM_JOB_PARTITION", layout->partition);
    set_text(out, "SLURM_JOB_ACCOUNT", layout->account);
    set_text(out, "SLURM_JOB_QOS", layout->qos);
    set_text(out, "SLURM_CLUSTER_NAME", layout->cluster);
    set_text(out, "SLURM_JOB_NODELIST", layout->job_nodelist);
    set_text(out, "SLURM_STEP_NODELIST", layout->nodelist);
    set_text(out, "SLURM_STEP_TASKS_PER_NODE", layout->tasks_per_node);
    set_number(out, "SLURM_STEP_NUM_NODES", layout->nodes.n);
    set_number(out, "SLURM_STEP_NUM_TASKS", layout->ntasks);
    set_number(out, "SLURM_NTASKS", layout->ntasks);
    if (layout->array_job_id) {
        set_number(out, "SLURM_ARRAY_JOB_ID", layout->array_job_id);
        set_number(out, "SLURM_ARRAY_TASK_ID", layout->array_task_id);
    }
    set_text(out, "SLURM_SCRIPT_CONTEXT", context);
}

static char **words_of(const struct str *block) {
    vec(char *) entries = {0};

    for (size_t at = 0; at < block->length; at += strlen(block->data + at) + 1)
        vec_push(&entries, block->data + at);
    vec_push(&entries, NULL);
    return entries.items;
}

/* The wait status; a program that cannot be run counts as status 127. */
static int run(const struct srun *srun, const char *program, const char *context) {
    cleanup_str struct str environment = STR_INIT;
    vec(char *) argv = {0};
    posix_spawnattr_t attr;
    sigset_t none, defaults;
    int status = 127 << 8;
    pid_t pid;

    fill_environment(srun, context, &environment);
    cleanup_free char **envp = words_of(&environment);
    vec_push(&argv, (char *) (uintptr_t) program);
    for (size_t i = 0; i < srun->uses.rest.n; i++)
        vec_push(&argv, srun->uses.rest.items[i]);
    vec_push(&argv, NULL);
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &defaults);
    int r = posix_spawn(&pid, program, NULL, &attr, argv.items, envp);
    posix_spawnattr_destroy(&attr);
    vec_done(&argv);
    if (r != 0)
        cli_error(&srun->cli, "%s %s: %s", context, program, strerror(r));
    while (r == 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* --prolog counts more than the configuration, and "none" is none. */
static const char *choose(const char *asked, const char *configured) {
    const char *program = asked ? asked : configured;

    return program && *program && strcasecmp(program, "none") != 0 ? program : NULL;
}

static void print_status(const struct srun *srun, const char *what, const char *program,
                         int status) {
    if (WIFSIGNALED(status))
        cli_error(&srun->cli, "%s %s was killed by signal %d", what, program, WTERMSIG(status));
    else if (status != 0)
        cli_error(&srun->cli, "%s %s ended with exit status %d", what, program,
                  WEXITSTATUS(status));
}

int srun_prolog(struct srun *srun) {
    const char *program = choose(srun->options.prolog, srun->link.conf->srun_prolog);
    int status = program ? run(srun, program, "prolog_srun") : 0;

    if (status == 0)
        return CLI_GO_ON;
    print_status(srun, "srun prolog", program, status);
    return srun->cli.error_status;
}

void srun_epilog(struct srun *srun) {
    const char *program = choose(srun->options.epilog, srun->link.conf->srun_epilog);

    if (program)
        print_status(srun, "srun epilog", program, run(srun, program, "epilog_srun"));
}
