/* SPDX-License-Identifier: Apache-2.0 */
/* Which jobs may use which reservation, and what the planner is told of it. */
#include <string.h>

#include "core/reservation.h"
#include "text/timestamp.h"

/* "a,b": these; "-a,-b": all but these. */
static bool list_lets_in(const char *list, const char *name) {
    if (list[0] != '-')
        return name != NULL && str_has_word_nocase(list, name, ",");
    cleanup_free char *excluded = xasprintf("-%s", name != NULL ? name : "");
    return !str_has_word_nocase(list, excluded, ",");
}

static bool groups_let_in(const char *list, const struct core_user *user) {
    bool excludes = list[0] == '-', found = false;
    if (user == NULL)
        return false;
    for (size_t i = 0; i <= user->n_groups; i++) {
        const char *group = i == 0 ? user->group : user->groups[i - 1];
        found = found || list_lets_in(list, group) != excludes;
    }
    return found != excludes;
}

bool reservation_lets_in(const struct reservation *rec, const struct job *job,
                         const struct core_user *user) {
    const struct core_user *owner = user != NULL && user->uid == job->uid ? user : NULL;
    bool by_name = rec->users != NULL && list_lets_in(rec->users, job->user_name);
    bool by_group = rec->groups != NULL && groups_let_in(rec->groups, owner);
    if ((rec->users != NULL || rec->groups != NULL) && !by_name && !by_group)
        return false;
    return rec->accounts == NULL || list_lets_in(rec->accounts, job->account);
}

bool job_in_reservation(const struct core_job *job, const char *name) {
    return str_has_word(job->rec.reservation, name, ",");
}

static int refuse_unknown(struct core *core, const char *name, struct reply_error *reply) {
    struct str have cleanup_str = STR_INIT;
    vec_each (&core->reservations, resv) {
        str_join(&have, ", ", (*resv)->rec.name);
    }
    return reply_refuse(reply, core, ERR_INVALID_RESERVATION,
                        "there is no reservation %s; there %s %s", name,
                        core->reservations.n > 1 ? "are" : "is",
                        have.length > 0 ? have.data : "none in this cluster");
}

int job_reservation_check(struct core *core, const struct job *job, const struct core_user *user,
                          struct reply_error *reply) {
    if (job->reservation == NULL)
        return 0;
    words_each (job->reservation, ",", name) {
        const struct core_reservation *resv = reservation_find(core, name);
        if (resv == NULL)
            return refuse_unknown(core, name, reply);
        if (!reservation_lets_in(&resv->rec, job, user))
            return reply_refuse(reply, core, ERR_RESERVATION_ACCESS,
                                "reservation %s is for%s%s%s%s%s%s", name,
                                resv->rec.users != NULL ? " the users " : "",
                                resv->rec.users != NULL ? resv->rec.users : "",
                                resv->rec.groups != NULL ? " the groups " : "",
                                resv->rec.groups != NULL ? resv->rec.groups : "",
                                resv->rec.accounts != NULL ? " the accounts " : "",
                                resv->rec.accounts != NULL ? resv->rec.accounts : "");
    }
    return 0;
}

/* The users and accounts of a reservation may be others by now. Groups were looked up when the job
 * was submitted. */
static bool still_lets_in(const struct reservation *rec, const struct job *job) {
    return rec->groups != NULL || reservation_lets_in(rec, job, NULL);
}

/* Those that it names; when it names none, those that take in whoever may. */
int spec_reservations(struct core *core, const struct job *job, struct arena *arena,
                      struct sched_job_spec *spec, struct error *err) {
    uint32_t *ids = arena_alloc(arena, (core->reservations.n + 1) * sizeof(uint32_t));
    spec->reservations = ids;
    spec->reserved_only = job->reservation != NULL;
    vec_each (&core->reservations, resv) {
        const struct reservation *rec = &(*resv)->rec;
        if (job->reservation == NULL && (rec->flags & RESERVATION_MAGNETIC) &&
            reservation_lets_in(rec, job, NULL))
            ids[spec->n_reservations++] = rec->id;
    }
    if (job->reservation == NULL)
        return 0;
    words_each (job->reservation, ",", name) {
        const struct core_reservation *resv = reservation_find(core, name);
        if (resv != NULL && still_lets_in(&resv->rec, job) &&
            spec->n_reservations < core->reservations.n)
            ids[spec->n_reservations++] = resv->rec.id;
    }
    if (spec->n_reservations == 0)
        return error_set(err, ERR_INVALID_RESERVATION,
                         "reservation %s does not exist, or is no longer for user %s",
                         job->reservation, job->user_name);
    return 0;
}

/* The one that a job starts in. */
void job_enters_reservation(struct core *core, struct core_job *job, uint32_t id) {
    const struct core_reservation *resv = reservation_find_id(core, id);
    job->rec.reservation_id = resv != NULL ? resv->rec.id : 0;
    if (resv == NULL)
        return;
    job->rec.magnetic = job->rec.reservation == NULL;
    string_set(&job->rec.reservation, resv->rec.name);
}

/* A job that runs: what it holds is its reservation's. */
void job_sync_reservation(struct core *core, const struct core_job *job) {
    const struct core_reservation *resv =
        job->rec.reservation != NULL ? reservation_find(core, job->rec.reservation) : NULL;
    sched_run_reserve(core->sched, job->rec.job_id, resv != NULL ? resv->rec.id : 0);
}

bool reservations_want_groups(const struct core *core) {
    vec_each (&core->reservations, resv) {
        if ((*resv)->rec.groups != NULL)
            return true;
    }
    return false;
}

static void hint_limit(int64_t seconds, const char *before, const char *after, struct str *out) {
    if (seconds < 60)
        return; /* limits are whole minutes */
    str_append(out, before);
    minutes_print_long((uint32_t) min_of(seconds / 60, (int64_t) UINT32_MAX - 2), "", out);
    str_append(out, after);
}

bool job_reservation_hint(struct core *core, const struct core_job *job, struct str *out) {
    struct sched_blocker by;
    if (!job->in_sched || !sched_blocked_by(core->sched, core->now, job->rec.job_id, &by))
        return false;
    const struct core_reservation *resv = reservation_find_id(core, by.reservation);
    const char *name = resv != NULL ? resv->rec.name : "?";
    if (by.own && by.start > 0) {
        str_printf(out, "it waits for reservation %s, which begins at ", name);
        timestamp_print(by.start, NULL, core->now, out);
    } else if (by.own) {
        str_printf(out, "its time limit is longer than what is left of reservation %s", name);
    } else {
        str_printf(out, "reservation %s holds what it needs from ", name);
        timestamp_print(by.start, NULL, core->now, out);
        str_append(out, " to ");
        timestamp_print(by.end, NULL, core->now, out);
    }
    hint_limit(by.limit, "; a limit of at most ",
               by.own ? " would fit before it ends" : " would fit before it begins", out);
    return true;
}
