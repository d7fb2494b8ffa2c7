/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logins on a node that become part of a job there: of its extern step (PrologFlags=Contain), with
 * its limits, its devices and its end. For root: `sluice adopt` and the PAM module.
 *
 * The jobs are known from the sockets of their extern steps in SlurmdSpoolDir: no daemon has to be
 * up for a login.
 */
#ifndef SLUICE_LOGIN_LOGIN_H
#define SLUICE_LOGIN_LOGIN_H

#include <pwd.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* A job of the user on this node. */
struct login_job {
    uint32_t job_id;
    char *socket, *node; /* of its extern step; the node's name */
};
#define LOGIN_JOB_INIT                                                                             \
    { 0, NULL, NULL }
void login_job_done(struct login_job *job);

/* Root, and whom `list` names ("alice,@admins"): they may log in without a job. */
bool login_is_exempt(const struct passwd *user, const char *list);
/* The user's job that started here last, or the one of that number (0 = any). conf_file NULL: where
 * slurm.conf is by default. There is none: 0, and ret->socket is NULL. */
must_check int login_find(const char *conf_file, uid_t uid, uint32_t job_id, struct login_job *ret,
                          struct error *err);
/* The process, and what it starts from now on, are part of the job. ret_places (may be NULL): where
 * the job's private directories are, malloc, NULL = it has none. */
must_check int login_adopt(const struct login_job *job, pid_t pid, char **ret_places,
                           struct error *err);
/* The calling process, which has one thread, sees the private directories. */
must_check int login_enter_places(const char *places, struct error *err);

#endif
