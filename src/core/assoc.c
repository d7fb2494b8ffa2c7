/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The book of accounts, users, associations and QOS in the core: sacctmgr's requests, storing what
 * they change, and what follows for jobs. The book itself is assoc/assoc.h.
 */
#include <stdlib.h>
#include <string.h>

#include "assoc/file.h"
#include "assoc/list.h"
#include "assoc/tell.h"
#include "core/state.h"
#include "model/conf.h"

static const uint32_t store_kinds[ASSOC_KINDS] = {
    [ASSOC_ACCOUNT] = STORE_ACCOUNT,
    [ASSOC_USER] = STORE_ACCT_USER,
    [ASSOC_ASSOC] = STORE_ASSOC,
    [ASSOC_QOS] = STORE_QOS,
};

uint32_t assoc_kind_of_store(uint32_t store_kind) {
    for (uint32_t kind = 1; kind < ASSOC_KINDS; kind++) {
        if (store_kinds[kind] == store_kind)
            return kind;
    }
    return 0;
}

const struct qos *qos_find(const struct core *core, const char *name, uint32_t *ret_index) {
    for (uint32_t i = 0; name != NULL && i < qos_count(core); i++) {
        if (!str_equal_nocase(qos_at(core, i)->name, name))
            continue;
        *ret_index = i;
        return qos_at(core, i);
    }
    return NULL;
}

/* ---- administrators ---- */

/* Requests carry uids, the book has names: who has asked anything is known by both. */
void core_meet(struct core *core, const struct core_user *user) {
    const struct acct_user *entry = acct_user_find(&core->book, user->name);
    uintptr_t level = entry != NULL ? entry->admin_level : ADMIN_NONE;
    if (level == ADMIN_NONE)
        map_remove(&core->admins, user->uid);
    else
        map_put(&core->admins, user->uid, (void *) level);
}

static uint32_t admin_level(const struct core *core, uint32_t uid) {
    return (uint32_t) (uintptr_t) map_get(&core->admins, uid);
}

bool core_is_admin(const struct core *core, uint32_t uid) {
    return core_is_super(core, uid) || admin_level(core, uid) >= ADMIN_OPERATOR;
}

bool core_is_super(const struct core *core, uint32_t uid) {
    return uid == 0 || uid == core->settings.admin_uid ||
           admin_level(core, uid) == ADMIN_ADMINISTRATOR;
}

static struct assoc_asker asker_of(const struct core *core, const struct core_user *user) {
    return (struct assoc_asker) {
        .name = user->name, .is_root = user->uid == 0 || user->uid == core->settings.admin_uid};
}

/* ---- changes ---- */

static bool goes(const struct map *going, const void *record) {
    return record != NULL && map_get(going, (uintptr_t) record) != NULL;
}

bool book_job_loses(struct core *core, const struct job *job, const struct map *going) {
    if (goes(going, book_qos_find(&core->book, job->qos)))
        return true;
    if (job->usage_since > 0 || job->state == JOB_SUSPENDED) /* others may have its name by now */
        return goes(going, shares_assoc(core, job->assoc_id));
    words_each (job->partition, ",", partition) {
        if (goes(going, assoc_of_job(&core->book, job->account, job->user_name, partition)))
            return true;
    }
    return false;
}

void book_going(const struct core *core, const struct assoc_plan *plan, struct map *ret) {
    vec_each (&plan->edits, edit) {
        bool counts = edit->kind == ASSOC_QOS || edit->kind == ASSOC_ASSOC;
        if (counts && edit->next == NULL && edit->at != SIZE_MAX) {
            void *record = core->book.entries[edit->kind].items[edit->at];
            map_put(ret, (uintptr_t) record, record);
        }
    }
}

int book_check_unused(struct core *core, const struct map *going, struct error *err) {
    const struct job *found = NULL;
    jobs_each (core, job) {
        if (found == NULL && going->n > 0 && !job_state_is_final(job->rec.state) &&
            book_job_loses(core, &job->rec, going))
            found = &job->rec;
    }
    if (found == NULL)
        return 0;
    struct str id cleanup_str = STR_INIT;
    job_id_print(found, 0, &id);
    return error_set(err, ERR_BUSY,
                     " Error with request: Job(s) active, cancel job(s) before remove\n"
                     "  JobID = %s U = %s A = %s QOS = %s",
                     str_cstr(&id), found->user_name,
                     found->account != NULL ? found->account : "none", found->qos);
}

static int check_unused(struct core *core, const struct assoc_plan *plan, struct error *err) {
    struct map going = MAP_INIT;
    book_going(core, plan, &going);
    int r = book_check_unused(core, &going, err);
    map_done(&going);
    return r;
}

struct writing {
    struct core *core;
    const struct core_user *user;
};

/* Who changed what, as a row of history. */
static void write_change(struct core *core, const struct core_user *user, uint32_t kind,
                         const void *old, const void *next) {
    struct assoc_told told;
    assoc_tell_row(kind, old, next, &told);
    struct acct_transaction row = {.time = core->now,
                                   .action = (char *) (uintptr_t) told.action,
                                   .actor = (char *) (uintptr_t) user->name,
                                   .subject = told.object.data,
                                   .info = told.info.data,
                                   .cluster = core->settings.cluster};
    struct effect *effect = emit(core, EFFECT_HISTORY);
    effect->body = effect_encode(core, &record_acct_transaction, &row);
    effect->history = (struct effect_history) {.uid = user->uid,
                                               .submit = core->now,
                                               .start = core->now,
                                               .end = core->now,
                                               .kind = HISTORY_CHANGE};
    assoc_told_done(&told);
}

void book_put(struct core *core, uint32_t kind, const void *next) {
    emit_put(core, store_kinds[kind], assoc_store_id(kind, next), assoc_record(kind), next);
}

void book_delete(struct core *core, uint32_t kind, const void *old) {
    emit_delete(core, store_kinds[kind], assoc_store_id(kind, old));
}

static void on_edit(void *context, uint32_t kind, const void *old, const void *next) {
    const struct writing *writing = context;
    struct core *core = writing->core;
    write_change(core, writing->user, kind, old, next);
    if (next != NULL)
        book_put(core, kind, next);
    else
        book_delete(core, kind, old);
}

/* Classes of preemption have other numbers now, priorities other shares. */
void book_changed(struct core *core) {
    map_clear(&core->admins);
    shares_outdate(core);
    priorities_outdate(core);
    sched_rebuild(core);
    place_jobs_again(core);
    core->plan_wanted = true;
}

static void commit(struct core *core, const struct core_user *user, struct assoc_plan *plan) {
    struct writing writing = {core, user};
    if (plan->edits.n == 0)
        return;
    emit_log(core, EFFECT_INFO, "accounting changed by %s:%s", user->name, str_cstr(&plan->text));
    usage_follow_plan(core, plan);
    assoc_apply(&core->book, plan, on_edit, &writing);
    book_changed(core);
    core->meta_dirty |= core->meta.book_version != 0;
    core->meta.book_version = 0;
}

/* With slurmdbd only what it says counts. */
static bool refuse_change(struct core *core, uint64_t client, uint32_t seq) {
    if (!core->settings.tells_database)
        return false;
    emit_error(core, client, seq, -ERR_NOT_SUPPORTED,
               " The accounts of this cluster are kept by slurmdbd (AccountingStorageType): "
               "sacctmgr asks it, with the same slurm.conf.");
    return true;
}

/* Limits that are set and hold nobody are no news that anybody should have to find out. */
static void note_unenforced(const struct core *core, struct assoc_plan *plan) {
    bool any = false;
    vec_each (&plan->edits, edit) {
        bool counts = edit->kind == ASSOC_QOS || edit->kind == ASSOC_ASSOC;
        const void *old =
            edit->at != SIZE_MAX ? core->book.entries[edit->kind].items[edit->at] : NULL;
        any |=
            counts && edit->next != NULL && limits_change(edit->kind == ASSOC_QOS, old, edit->next);
    }
    if (any && !limits_are_on(core))
        strs_push(&plan->notes, "limits hold nobody yet: that takes "
                                "AccountingStorageEnforce=limits in slurm.conf");
}

/* So are keys that no job gets. */
static void note_untracked(const struct core *core, struct assoc_plan *plan) {
    bool any = false;
    vec_each (&plan->edits, edit) {
        if (edit->kind != ASSOC_USER || edit->next == NULL)
            continue;
        const struct acct_user *next = edit->next;
        const struct acct_user *old =
            edit->at != SIZE_MAX ? core->book.entries[ASSOC_USER].items[edit->at] : NULL;
        any |= next->wckeys.n > (old != NULL ? old->wckeys.n : 0);
    }
    if (any && !core->settings.track_wckey)
        strs_push(&plan->notes, "no job gets a wckey of its user yet: that takes TrackWCKey=yes in "
                                "slurm.conf");
}

void handle_assoc_change(struct core *core, uint64_t client, uint32_t seq,
                         const struct core_user *user, void *body) {
    const struct assoc_change *change = body;
    struct assoc_asker asker = asker_of(core, user);
    struct assoc_plan plan = {.text = STR_INIT};
    struct error err = ERROR_INIT;
    if (refuse_change(core, client, seq))
        return;
    int r = assoc_plan_change(&core->book, &asker, change, &plan, &err);
    if (r == 0)
        r = check_unused(core, &plan, &err);
    if (r < 0) {
        assoc_plan_done(&plan);
        emit_error(core, client, seq, r, err.text);
        return;
    }
    note_unenforced(core, &plan);
    note_untracked(core, &plan);
    struct assoc_changed reply = {.text = plan.edits.n > 0 ? plan.text.data : NULL,
                                  .notes = plan.notes};
    if (change->commit)
        commit(core, user, &plan);
    emit_reply(core, client, MSG_ASSOC_CHANGED, 1, seq, &reply);
    assoc_plan_done(&plan);
}

void handle_assoc_load(struct core *core, uint64_t client, uint32_t seq,
                       const struct core_user *user, void *body) {
    const struct assoc_file *file = body;
    struct assoc_asker asker = asker_of(core, user);
    struct assoc_load load = {.text = file->text != NULL ? file->text : "",
                              .cluster = file->cluster,
                              .clean = file->clean};
    struct assoc_plan plan = {.text = STR_INIT};
    struct assoc_list added;
    struct error err = ERROR_INIT;
    if (refuse_change(core, client, seq))
        return;
    record_init(&record_assoc_list, &added);
    int r = assoc_plan_load(&core->book, &asker, &load, &plan, &added, &err);
    if (r == 0)
        r = check_unused(core, &plan, &err);
    if (r < 0) {
        emit_error(core, client, seq, r, err.text);
    } else {
        struct assoc_changed reply = {.text = plan.text.data, .notes = plan.notes, .added = &added};
        if (plan.edits.n == 0)
            reply.added = NULL;
        if (file->commit)
            commit(core, user, &plan);
        emit_reply(core, client, MSG_ASSOC_CHANGED, 1, seq, &reply);
    }
    record_done(&record_assoc_list, &added);
    assoc_plan_done(&plan);
}

void handle_assoc_dump(struct core *core, uint64_t client, uint32_t seq,
                       const struct core_user *user, void *body) {
    const struct assoc_file *request = body;
    struct assoc_asker asker = asker_of(core, user);
    struct str text cleanup_str = STR_INIT;
    if (!asker_is_admin(&core->book, &asker)) {
        emit_error(core, client, seq, -ERR_INVALID,
                   " Your user does not have sufficient privileges to dump clusters.");
    } else if (!str_equal_nocase(request->cluster, core->settings.cluster)) {
        cleanup_free char *detail =
            xasprintf(" Cluster %s doesn't exist.\n        This is cluster %s.", request->cluster,
                      core->settings.cluster);
        emit_error(core, client, seq, -ERR_INVALID, detail);
    } else {
        assoc_dump(&core->book, &text);
        struct assoc_file reply = {.cluster = core->settings.cluster, .text = text.data};
        emit_reply(core, client, MSG_ASSOC_FILE, 1, seq, &reply);
    }
}

/* ---- listing ---- */

bool core_sees_assoc(const struct core *core, const struct core_user *user, const char *name,
                     const char *account) {
    struct assoc_asker asker = asker_of(core, user);
    return assoc_may_see(&core->book, &asker, core->settings.private_accounts, name, account);
}

void handle_assoc_list(struct core *core, uint64_t client, uint32_t seq,
                       const struct core_user *user, void *body) {
    struct assoc_list list = {.cluster = core->settings.cluster,
                              .control_host = core->settings.control_host,
                              .control_port = core->settings.control_port};
    struct assoc_asker asker = asker_of(core, user);
    assoc_list_fill(&core->book, &asker, core->settings.private_accounts, &core->out->memory,
                    &list);
    emit_reply(core, client, MSG_ASSOC_LIST, 1, seq, &list);
}

/* ---- jobs ---- */

static void accounts_of(const struct core *core, const char *user, struct str *out) {
    vec_each (&core->book.entries[ASSOC_ASSOC], entry) {
        const struct assoc *assoc = *entry;
        if (str_equal_nocase(assoc->user, user) && !str_has_word(out->data, assoc->account, ","))
            str_join(out, ",", assoc->account);
    }
}

static int refuse_account(struct core *core, const struct job *job, struct reply_error *reply) {
    struct str accounts cleanup_str = STR_INIT;
    accounts_of(core, job->user_name, &accounts);
    if (accounts.length == 0)
        return reply_refuse(reply, core, ERR_INVALID_ACCOUNT,
                            "user %s has no account here: an administrator adds one with "
                            "\"sacctmgr add user %s account=NAME\"",
                            job->user_name, job->user_name);
    return reply_refuse(reply, core, ERR_INVALID_ACCOUNT,
                        "user %s may use the account%s %s, and not %s", job->user_name,
                        strchr(accounts.data, ',') != NULL ? "s" : "", accounts.data,
                        job->account != NULL ? job->account : "none at all");
}

static int check_qos(struct core *core, const struct job *job, const struct assoc *assoc,
                     struct reply_error *reply) {
    uint32_t at;
    if (!(core->settings.enforce & CONF_ENFORCE_QOS))
        return 0;
    const char *usable = assoc != NULL ? assoc_qos(&core->book, assoc) : QOS_NORMAL;
    if (qos_find(core, job->qos, &at) == NULL) {
        struct str names cleanup_str = STR_INIT;
        for (uint32_t i = 0; i < qos_count(core); i++)
            str_join(&names, ", ", qos_at(core, i)->name);
        return reply_refuse(reply, core, ERR_INVALID_QOS, "there is no QOS %s; there are %s",
                            job->qos, str_cstr(&names));
    }
    const struct qos *qos = qos_at(core, at);
    if ((qos->flags & QOS_FLAG_REQ_RESV) && job->reservation == NULL)
        return reply_refuse(reply, core, ERR_INVALID_QOS,
                            "the QOS %s takes only jobs of a reservation: name one with "
                            "--reservation",
                            qos->name);
    if (str_has_word_nocase(usable, job->qos, ","))
        return 0;
    return reply_refuse(reply, core, ERR_INVALID_QOS, "user %s may use the QOS %s in account %s",
                        job->user_name, usable, job->account != NULL ? job->account : "none");
}

const struct assoc *assoc_for_job(const struct core *core, const struct job *job) {
    const char *partition = job->partition != NULL ? job->partition : "";
    cleanup_free char *first = xstrndup(partition, strcspn(partition, ","));
    return assoc_of_job(&core->book, job->account, job->user_name, first);
}

int job_take_association(struct core *core, struct job *job, struct reply_error *reply) {
    const struct acct_user *user = acct_user_find(&core->book, job->user_name);
    bool enforced = core->settings.enforce & CONF_ENFORCE_ASSOCIATIONS;
    /* root is in every book: its jobs show an account only where accounts matter */
    if (job->account == NULL && user != NULL && (enforced || !str_equal(user->name, "root")))
        string_set(&job->account, user->default_account);
    const struct assoc *assoc = assoc_for_job(core, job);
    if (assoc == NULL && enforced)
        return refuse_account(core, job, reply);
    if (job->qos == NULL) {
        const char *preferred = assoc != NULL ? assoc_default_qos(&core->book, assoc) : NULL;
        string_set(&job->qos, preferred != NULL ? preferred : QOS_NORMAL);
    }
    return check_qos(core, job, assoc, reply);
}
