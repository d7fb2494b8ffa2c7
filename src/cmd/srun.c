/* SPDX-License-Identifier: Apache-2.0 */
/* srun: runs tasks in an allocation of its own, or as a step of the job that it is called in. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/environ.h"
#include "cli/filter.h"
#include "cli/request.h"
#include "cli/srun.h"
#include "os/userdb.h"

/* ---- --mpi ---- */

/* The library of PMIx serves clients of all these versions. */
static const char *const mpi_types[] = {
    "none", "pmi2",
#ifdef SLUICE_PMIX
    "pmix", "pmix_v3", "pmix_v4", "pmix_v5",
#endif
};

static int list_mpi(struct srun *srun) {
    cleanup_str struct str text = STR_INIT;

    str_append(&text, "MPI plugin types are...\n");
    for (size_t i = 0; i < countof(mpi_types); i++) {
        if (!strchr(mpi_types[i], '_'))
            str_printf(&text, "\t%s\n", mpi_types[i]);
    }
#ifdef SLUICE_PMIX
    str_append(&text, "specific pmix plugin versions available: " SLUICE_PMIX "\n");
#endif
    return cli_print(&srun->cli, "%s", text.data);
}

/* Without --mpi it is the site's MpiDefault. */
static int check_mpi(struct srun *srun) {
    const char *mpi = srun->options.mpi;

    if (!mpi) {
        const struct conf *conf = cli_conf(&srun->cli);
        if (!conf)
            return srun->cli.error_status;
        string_set(&srun->options.mpi, conf_word_name(&conf_vocabulary_MPI, conf->mpi_default));
        mpi = srun->options.mpi;
    }
    if (!mpi)
        return CLI_GO_ON;
    if (strcasecmp(mpi, "list") == 0 || strcasecmp(mpi, "help") == 0)
        return list_mpi(srun);
    for (size_t i = 0; i < countof(mpi_types); i++) {
        if (strcasecmp(mpi, mpi_types[i]) == 0)
            return CLI_GO_ON;
    }
    cli_error(&srun->cli, "MPI: Cannot create context for mpi/%s", mpi);
    cli_error(&srun->cli, "Invalid MPI type '%s', --mpi=list for acceptable types", mpi);
    return srun->cli.error_status;
}

/* ---- what is asked for ---- */

/* Tasks of a step see its binding in the variable that asks for one. It was made for that step, and
 * means nothing to one that is started from inside. */
static void drop_inherited_binding(struct srun *srun) {
    const char *all = getenv("SLURM_CPU_BIND"), *type = getenv("SLURM_CPU_BIND_TYPE");
    const char *verbose = getenv("SLURM_CPU_BIND_VERBOSE"), *list = getenv("SLURM_CPU_BIND_LIST");

    if (srun->options.origin[OPT_cpu_bind] != OPTION_ENVIRONMENT || !getenv("SLURM_STEP_ID") ||
        !all || !type || !verbose || !list)
        return;
    cleanup_free char *own = xasprintf("%s,%s%s", verbose, type, list);
    if (str_equal(all, own))
        string_set(&srun->options.job.cpu_bind, NULL);
}

static int check_command(struct srun *srun) {
    if (srun->uses.rest.n > 0)
        return CLI_GO_ON;
    cli_fatal(&srun->cli, "No command given to execute.");
    return srun->cli.error_status;
}

static const char *command_name(const struct srun *srun) {
    const char *command = srun->uses.rest.items[0];
    const char *slash = strrchr(command, '/');

    return slash ? slash + 1 : command;
}

/* Tasks of a step see the whole environment of the script that starts it; a job of our own begins
 * with what --export lets through. */
static void take_environment(struct srun *srun) {
    struct job_request *job = &srun->options.job;
    const char *export = job->export_env;

    if (srun->options.jobid != 0 && (!export || strcasecmp(export, "ALL") == 0)) {
        for (char **entry = environ; *entry; entry++)
            str_append_bytes(&srun->environment, *entry, strlen(*entry) + 1);
    } else {
        str_append_bytes(&srun->environment, job->environment.data, job->environment.size);
    }
    free(job->environment.data);
    job->environment = (struct blob) {0};
}

static int prepare(struct srun *srun, int argc, char **argv) {
    struct job_request *job = &srun->options.job;
    const struct conf *conf = cli_conf(&srun->cli);

    if (!conf)
        return srun->cli.error_status;
    int status = job->clusters ? cli_check_clusters(&srun->cli, job->clusters) : CLI_GO_ON;
    if (status == CLI_GO_ON)
        status = srun_terminal_check(srun);
    drop_inherited_binding(srun);
    if (status == CLI_GO_ON)
        status = request_fill(&srun->cli, &srun->options, conf, argc, argv);
    if (status == CLI_GO_ON)
        status = srun_multi_read(srun);
    if (status == CLI_GO_ON)
        status = srun_bcast_check(srun);
    if (status == CLI_GO_ON)
        status = srun_x11_check(srun);
    if (status != CLI_GO_ON)
        return status;
    job->kind = JOB_KIND_SRUN;
    if (!job->name || srun->options.jobid != 0)
        string_set(&job->name, options_given(&srun->options, OPT_job_name) &&
                                       srun->options.origin[OPT_job_name] == OPTION_LINE
                                   ? job->name
                                   : command_name(srun));
    string_set(&job->command, srun->uses.rest.items[0]);
    take_environment(srun);
    return CLI_GO_ON;
}

static int find_user(struct srun *srun, const char *name, uid_t *ret) {
    struct userdb_user user = {0};
    struct error err = ERROR_INIT;

    if (cli_uid_is_plain(name, ret))
        return CLI_GO_ON;
    if (userdb_find(name, &user, &err) < 0) {
        cli_error(&srun->cli, "%s", err.text);
        return srun->cli.error_status;
    }
    *ret = user.uid;
    userdb_user_done(&user);
    return CLI_GO_ON;
}

static int open_loop(struct srun *srun) {
    const struct conf *conf = srun->link.conf;
    struct error err = ERROR_INIT;

    srun->auth.munge_socket = conf->auth.socket;
    int status = find_user(srun, conf->slurm_user, &srun->slurm_uid);
    if (status == CLI_GO_ON)
        status = find_user(srun, conf->slurmd_user, &srun->slurmd_uid);
    if (status != CLI_GO_ON)
        return status;
    if (loop_new(&srun->loop, &err) < 0) {
        cli_error(&srun->cli, "%s", err.text);
        return srun->cli.error_status;
    }
    return srun_signals_open(srun);
}

/* ---- the tasks ---- */

static int exit_code(const struct srun *srun) {
    int worst = srun->launch_failed ? srun->cli.error_status : 0;

    for (size_t i = 0; i < srun->n_tasks; i++) {
        uint32_t status = srun->tasks[i].status;
        int code = status & 0x7f ? 128 + (int) (status & 0x7f) : (int) (status >> 8) & 0xff;
        worst = max_of(worst, code);
    }
    return worst;
}

static void drop_part(struct srun *srun, const struct step_layout *layout) {
    struct error err = ERROR_INIT;
    struct cli_reply reply;
    struct node_signal kill;

    record_init(&record_node_signal, &kill);
    kill.job_id = layout->job_id;
    kill.step_id = layout->step_id;
    kill.attempt = layout->attempt;
    kill.signal = SIGKILL;
    if (!srun->link.client && cli_link_open(&srun->cli, false, &srun->link, &err) < 0)
        return;
    (void) !cli_request(&srun->link, MSG_STEP_KILL, &kill, &reply, &err);
}

/* A step that was created and cannot be launched is given back, so that its CPUs are free. */
static void drop_step(struct srun *srun) {
    if (srun->own_job)
        return;
    for (size_t p = 0; p < srun->n_parts; p++) {
        const struct srun *part = srun->parts[p];
        const struct step_layout *layout = part->own_layout ? part->own_layout : part->layout;
        if (layout)
            drop_part(srun, layout);
    }
}

static int run_tasks(struct srun *srun) {
    struct error err = ERROR_INIT;
    int status = srun_multi_check(srun);

    if (status == CLI_GO_ON)
        status = srun_prolog(srun);
    if (status == CLI_GO_ON)
        status = srun_bcast(srun);
    if (status == CLI_GO_ON)
        status = srun_output_open(srun);
    if (status == CLI_GO_ON)
        status = srun_input_open(srun);
    if (status == CLI_GO_ON)
        status = open_loop(srun);
    if (status == CLI_GO_ON)
        status = srun_watch_controller(srun);
    if (status == CLI_GO_ON)
        status = srun_launch(srun);
    if (status != CLI_GO_ON) {
        drop_step(srun);
        return status;
    }
    if (srun->n_finished < srun->n_nodes && loop_run(srun->loop, &err) < 0) {
        srun_terminal_restore(srun);
        cli_error(&srun->cli, "%s", err.text);
        return srun->cli.error_status;
    }
    srun_input_close(srun);
    srun_output_flush(srun);
    srun_terminal_restore(srun);
    srun_tasks_summary(srun);
    srun_epilog(srun);
    if (srun->launch_failed && srun->n_started < srun->n_nodes)
        drop_step(srun);
    return exit_code(srun);
}

/* Everything up to the request for a step, as it is asked for on a command line of its own. */
static int prepare_part(struct srun *srun, int argc, char **argv) {
    int status = check_mpi(srun);

    if (status == CLI_GO_ON)
        status = check_command(srun);
    if (status == CLI_GO_ON)
        status = prepare(srun, argc, argv);
    return status;
}

/* Labels are for all tasks, whichever group asks for them. */
static void share_label(struct srun *srun) {
    for (size_t p = 1; p < srun->n_parts; p++)
        srun->options.label = srun->options.label || srun->parts[p]->options.label;
}

static int check_parts(struct srun *srun) {
    const struct conf *conf = cli_conf(&srun->cli);
    const char *mpi = srun->options.mpi;

    if (srun->n_parts > 1 && mpi && strncasecmp(mpi, "pmix", 4) == 0) {
        cli_error(&srun->cli,
                  "--mpi=%s does not serve a step in several components; --mpi=pmi2 "
                  "does",
                  mpi);
        return srun->cli.error_status;
    }
    if (srun->n_parts > 1 && conf && conf->scheduler.disable_hetjob_steps) {
        cli_error(&srun->cli, "steps in several components are switched off here "
                              "(SchedulerParameters=disable_hetjob_steps)");
        return srun->cli.error_status;
    }
    return CLI_GO_ON;
}

static int ask_steps(struct srun *srun) {
    int status = CLI_GO_ON;

    for (size_t p = 0; p < srun->n_parts && status == CLI_GO_ON; p++) {
        struct srun *part = srun->parts[p];
        part->step_wanted = p > 0 ? srun->layout->step_id : UNSET32;
        status = srun_ask(part);
        if (p > 0)
            cli_link_close(&part->link);
    }
    return status;
}

/* The components have one name, what runs in each has its own. */
static void name_step(struct srun *part) {
    if (!options_given(&part->options, OPT_job_name))
        string_set(&part->options.job.name, command_name(part));
}

/* An allocation of components, then a step over all of them. The connection that has asked for the
 * allocation stays open and brings notices. */
static int ask_own_parts(struct srun *srun) {
    int status;

    srun_het_share(srun);
    status = srun_ask(srun);
    if (status != CLI_GO_ON)
        return status;
    for (size_t p = 0; p < srun->n_parts; p++)
        name_step(srun->parts[p]);
    struct cli_link owner = srun->link;
    srun->link = (struct cli_link) {0};
    status = ask_steps(srun);
    cli_link_close(&srun->link);
    srun->link = owner;
    srun->launch_failed = status != CLI_GO_ON;
    return status;
}

static int ask_parts(struct srun *srun, bool own) {
    int status = own ? ask_own_parts(srun) : ask_steps(srun);

    if (status != CLI_GO_ON)
        drop_step(srun);
    else if (srun->n_parts > 1)
        srun_het_merge(srun);
    return status;
}

/* A part without a command runs that of the next one. */
static void take_next_command(const struct srun *srun, size_t p) {
    if (srun->parts[p]->uses.rest.n == 0 && p + 1 < srun->n_parts)
        srun->parts[p]->uses.rest = srun->parts[p + 1]->uses.rest;
}

static int make_parts(struct srun *srun, struct srun_parts *parts) {
    static struct components components; /* of an allocation of our own */
    int status = parts->own ? srun_het_scan(&srun->cli, parts, &components) : CLI_GO_ON;

    srun->n_parts = parts->n;
    srun->parts = xcalloc(parts->n, sizeof(*srun->parts));
    for (size_t p = parts->n; p-- > 0 && status == CLI_GO_ON;) {
        struct srun *part = srun->parts[p] = p == 0 ? srun : zalloc(struct srun);
        const struct srun_part *words = &parts->items[p];
        if (p > 0) {
            cli_init(&part->cli, "srun");
            options_init(&part->options, OPTION_SRUN);
        }
        if (parts->size > 0)
            srun_het_enter(words->group);
        if (parts->own) {
            part->uses = components.groups[p];
            status = components_read(&part->cli, &components, p, &part->options);
        } else {
            status =
                cli_options_read(&part->cli, &part->options, words->argc, words->argv, &part->uses);
        }
        if (status == CLI_GO_ON && parts->size > 0)
            srun_het_choose(part, words->group);
        take_next_command(srun, p);
        if (status == CLI_GO_ON)
            status = prepare_part(part, words->argc, words->argv);
    }
    return status;
}

static int run(struct srun *srun, int argc, char **argv) {
    static struct srun_parts parts;
    int status = srun_het_read(&srun->cli, argc, argv, &parts);

    if (status == CLI_GO_ON)
        status = make_parts(srun, &parts);
    if (status == CLI_GO_ON) {
        share_label(srun);
        status = check_parts(srun);
    }
    if (status == CLI_GO_ON)
        status = ask_parts(srun, parts.own);
    if (status == CLI_GO_ON && srun->layout)
        cli_filter_submitted(&srun->cli, srun->layout->job_id, srun->layout->step_id);
    if (status == CLI_GO_ON)
        status = run_tasks(srun);
    srun_give_back(srun);
    return status;
}

int main(int argc, char **argv) {
    static struct srun srun; /* freed by the end of the process: nothing here is worth the time */

    cli_init(&srun.cli, "srun");
    options_init(&srun.options, OPTION_SRUN);
    return argc < 1 ? 1 : run(&srun, argc, argv);
}
