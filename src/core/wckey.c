/* SPDX-License-Identifier: Apache-2.0 */
/* The workload characterisation key that a job counts for. */
#include <stdlib.h>

#include "base/alloc.h"
#include "core/state.h"
#include "model/conf.h"

static int refuse_wckey(const struct acct_user *user, const struct job *job, struct error *err) {
    struct str names cleanup_str = STR_INIT;
    for (uint32_t i = 0; user != NULL && i < user->wckeys.n; i++)
        str_join(&names, ", ", user->wckeys.items[i].name);
    if (names.length == 0)
        return error_set(err, ERR_INVALID_WCKEY,
                         "user %s has no wckey here: an administrator adds one with \"sacctmgr add "
                         "user %s wckeys=KEY\"",
                         job->user_name, job->user_name);
    if (str_equal(job->wckey, "*"))
        return error_set(err, ERR_INVALID_WCKEY,
                         "user %s has no default wckey: name one with --wckey, of %s",
                         job->user_name, names.data);
    return error_set(err, ERR_INVALID_WCKEY, "user %s may use the wckey%s %s, and not %s",
                     job->user_name, user->wckeys.n > 1 ? "s" : "", names.data, job->wckey);
}

int job_take_wckey(const struct core *core, struct job *job, struct error *err) {
    if (!core->settings.track_wckey)
        return 0;
    const struct acct_user *user = acct_user_find(&core->book, job->user_name);
    const char *usual = user != NULL ? user->default_wckey : NULL;
    if (job->wckey == NULL || job->wckey[0] == '\0') {
        free(job->wckey);
        job->wckey = xasprintf("*%s", usual != NULL ? usual : "");
    }
    text_lower(job->wckey);
    bool as_default = job->wckey[0] == '*';
    const char *name = job->wckey + as_default;
    const struct user_wckey *key = user != NULL ? user_wckey_find(user, name) : NULL;
    job->wckey_id = key != NULL ? key->id : 0;
    bool may = key != NULL ? !as_default || str_equal_nocase(name, usual)
                           /* root is in every book, and needs no key there */
                           : str_equal(job->wckey, "*") && str_equal(job->user_name, "root");
    if (may || !(core->settings.enforce & CONF_ENFORCE_WCKEYS))
        return 0;
    return refuse_wckey(user, job, err);
}
