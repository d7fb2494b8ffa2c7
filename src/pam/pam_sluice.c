/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pam_sluice.so: a login of a job's owner on one of its nodes becomes part of the job, with the
 * job's private directories; others are turned away. In the account part of a stack, behind what
 * may let somebody in without a job:
 *
 *     account required pam_sluice.so
 *
 * The process that asks is moved, so what it starts for the session is inside as well.
 */
#include <security/pam_ext.h>
#include <security/pam_modules.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"
#include "login/login.h"

#define NAME "pam_sluice"

struct settings {
    const char *conf_file, *exempt;
    bool ignore_no_jobs, allow_failure, join_container;
};

/* ---- options ---- */

static bool is_option(const char *text, const char *name, const char **ret_value) {
    size_t length = strlen(name);
    if (strncmp(text, name, length) != 0 || text[length] != '=')
        return false;
    *ret_value = text + length + 1;
    return true;
}

/* One of two words; the first is the default, and what anything else is taken for. */
static bool is_second(pam_handle_t *pam, const char *option, const char *value, const char *first,
                      const char *second) {
    if (strcmp(value, second) == 0)
        return true;
    if (strcmp(value, first) != 0)
        pam_syslog(pam, LOG_ERR, "%s=%s: the values are %s, %s; %s is taken", option, value, first,
                   second, first);
    return false;
}

static void settings_read(pam_handle_t *pam, int argc, const char **argv, struct settings *ret) {
    *ret = (struct settings) {.exempt = "", .join_container = true};
    for (int i = 0; i < argc; i++) {
        const char *value = "";
        if (is_option(argv[i], "conf", &value))
            ret->conf_file = value;
        else if (is_option(argv[i], "exempt", &value))
            ret->exempt = value;
        else if (is_option(argv[i], "action_no_jobs", &value))
            ret->ignore_no_jobs = is_second(pam, "action_no_jobs", value, "deny", "ignore");
        else if (is_option(argv[i], "action_adopt_failure", &value))
            ret->allow_failure = is_second(pam, "action_adopt_failure", value, "deny", "allow");
        else if (is_option(argv[i], "join_container", &value))
            ret->join_container = !is_second(pam, "join_container", value, "true", "false");
        else
            pam_syslog(pam, LOG_ERR,
                       "%s has no effect: the options are conf, exempt, action_no_jobs, "
                       "action_adopt_failure, join_container",
                       argv[i]);
    }
}

/* ---- the login ---- */

/* Told to the user, and to the system's log. */
static void tell(pam_handle_t *pam, int priority, const char *text) {
    pam_syslog(pam, priority, "%s", text);
    (void) pam_error(pam, "%s", text);
}

static int no_job(pam_handle_t *pam, const struct settings *settings, const char *name) {
    cleanup_free char *text = NULL;
    if (settings->ignore_no_jobs)
        return PAM_IGNORE;
    text = xasprintf("Access denied by " NAME ": you have no active jobs on this node");
    pam_syslog(pam, LOG_INFO, "%s has no active jobs on this node", name);
    (void) pam_error(pam, "%s", text);
    return PAM_PERM_DENIED;
}

static int adopt(pam_handle_t *pam, const struct settings *settings, const char *name,
                 const struct login_job *job) {
    struct error err = ERROR_INIT;
    cleanup_free char *places = NULL;
    int r = login_adopt(job, getpid(), &places, &err);
    if (r == 0 && places && settings->join_container)
        r = login_enter_places(places, &err);
    if (r == 0) {
        pam_syslog(pam, LOG_INFO, "%s is in job %u", name, job->job_id);
        return PAM_SUCCESS;
    }
    cleanup_free char *text =
        xasprintf("%s" NAME ": job %u: %s", settings->allow_failure ? "" : "Access denied by ",
                  job->job_id, err.text);
    tell(pam, LOG_ERR, text);
    return settings->allow_failure ? PAM_IGNORE : PAM_PERM_DENIED;
}

PAM_EXTERN int pam_sm_acct_mgmt(pam_handle_t *pam, int flags, int argc, const char **argv) {
    struct settings settings;
    struct login_job job = LOGIN_JOB_INIT;
    struct error err = ERROR_INIT;
    const char *name = NULL;
    (void) flags;
    settings_read(pam, argc, argv, &settings);
    if (pam_get_user(pam, &name, NULL) != PAM_SUCCESS || !name)
        return PAM_USER_UNKNOWN;
    const struct passwd *user = getpwnam(name);
    if (!user)
        return PAM_USER_UNKNOWN;
    if (login_is_exempt(user, settings.exempt))
        return PAM_IGNORE;
    int r = login_find(settings.conf_file, user->pw_uid, 0, &job, &err);
    if (r == 0 && !job.socket)
        return no_job(pam, &settings, name);
    if (r < 0) {
        cleanup_free char *text = xasprintf("Access denied by " NAME ": %s", err.text);
        tell(pam, LOG_ERR, text);
        return PAM_PERM_DENIED;
    }
    r = adopt(pam, &settings, name, &job);
    login_job_done(&job);
    return r;
}
