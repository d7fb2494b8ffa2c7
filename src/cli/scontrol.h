/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of scontrol. A keyword's function gets the words behind the keyword, prints what there
 * is to print (stdout through `out`, which main() writes), and returns the exit status of this
 * command: 0 or 1.
 */
#ifndef SLUICE_CLI_SCONTROL_H
#define SLUICE_CLI_SCONTROL_H

#include "cli/list.h"
#include "cli/show.h"
#include "model/messages.h"

struct scontrol {
    struct list_session session;
    struct column_env env;
    struct show_options show;
    bool all;         /* hidden partitions too */
    bool future;      /* FUTURE nodes too */
    bool quiet;       /* errors only */
    bool is_done;     /* exit, quit */
    const char *json; /* plugin, or NULL */
    int argc;         /* the whole command, for JSON's meta section */
    char **argv;
    struct str out;
};

/* ---- show ENTITY [ID] ---- */
int scontrol_show(struct scontrol *scontrol, int argc, char **argv);
int scontrol_show_assoc_mgr(struct scontrol *scontrol, int argc, char **argv); /* the filters */
int scontrol_completing(struct scontrol *scontrol, int argc, char **argv);
int scontrol_ping(struct scontrol *scontrol, int argc, char **argv);

/* ---- update, create, delete ---- */
int scontrol_update(struct scontrol *scontrol, int argc, char **argv);
int scontrol_create(struct scontrol *scontrol, int argc, char **argv);
int scontrol_delete(struct scontrol *scontrol, int argc, char **argv);

enum scontrol_change { SCONTROL_CREATE, SCONTROL_UPDATE, SCONTROL_DELETE };
/* KEY=VALUE words of a request; owned. */
struct scontrol_changes {
    struct key_value *items;
    uint32_t n;
};
/* Takes key and value over. */
void scontrol_changes_push(struct scontrol_changes *changes, char *key, char *value);
void scontrol_changes_done(struct scontrol_changes *changes);
/* Borrows all it is given. */
void scontrol_update_fill(struct update *update, const char *entity, const char *target,
                          const struct scontrol_changes *changes, enum scontrol_change what);
/* After an update of jobs: a command that runs in a job, and has changed a job's size, gets
 * slurm_job_ID_resize.sh and .csh to bring its environment up to date. Returns the status. */
int scontrol_resize_scripts(struct scontrol *scontrol, const struct job_results *results,
                            const struct scontrol_changes *changes);

/* Reservations: create, update, delete with the words behind the keyword; show. */
bool scontrol_is_reservation(int argc, char **argv);
int scontrol_reservation(struct scontrol *scontrol, int argc, char **argv,
                         enum scontrol_change what);
int scontrol_show_reservations(struct scontrol *scontrol, const char *id);

/* ---- verbs on jobs and daemons ---- */
int scontrol_hold(struct scontrol *scontrol, int argc, char **argv);
int scontrol_uhold(struct scontrol *scontrol, int argc, char **argv);
int scontrol_release(struct scontrol *scontrol, int argc, char **argv);
int scontrol_requeue(struct scontrol *scontrol, int argc, char **argv);
int scontrol_requeue_hold(struct scontrol *scontrol, int argc, char **argv);
int scontrol_suspend(struct scontrol *scontrol, int argc, char **argv);
int scontrol_resume(struct scontrol *scontrol, int argc, char **argv);
int scontrol_top(struct scontrol *scontrol, int argc, char **argv);
int scontrol_notify(struct scontrol *scontrol, int argc, char **argv);
int scontrol_write(struct scontrol *scontrol, int argc, char **argv);
int scontrol_wait_job(struct scontrol *scontrol, int argc, char **argv);
int scontrol_reconfigure(struct scontrol *scontrol, int argc, char **argv);
int scontrol_shutdown(struct scontrol *scontrol, int argc, char **argv);
int scontrol_reboot(struct scontrol *scontrol, int argc, char **argv);
int scontrol_cancel_reboot(struct scontrol *scontrol, int argc, char **argv);

/* Prints "<text> for job <id>" for each job that was not changed, followed, where `what` is given,
 * by "<what> error: <text>"; with `reasons` also what the controller says about it. Returns the
 * status. */
int scontrol_job_results(const struct job_results *results, const char *what, bool reasons);

#endif
