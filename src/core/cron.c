/* SPDX-License-Identifier: Apache-2.0 */
/* Recurring jobs; see cron.h. */
#include "core/cron.h"

#include <string.h>

#include "core/state.h"
#include "text/cronspec.h"

#define DISABLED "#DISABLED: "

static struct crontab *crontab_find(const struct core *core, uint32_t uid) {
    return map_get(&core->crontabs, uid);
}

static void crontab_free(struct core *core, struct crontab *crontab) {
    map_remove(&core->crontabs, crontab->uid);
    record_free(&record_crontab, crontab);
}

/* "" is no crontab. */
static void crontab_store(struct core *core, uint32_t uid, const char *user, const char *text) {
    struct crontab *crontab = crontab_find(core, uid);
    if (text[0] == '\0') {
        if (crontab != NULL) {
            emit_delete(core, STORE_CRONTAB, uid);
            crontab_free(core, crontab);
        }
        return;
    }
    if (crontab == NULL) {
        crontab = xcalloc(1, sizeof(*crontab));
        record_init(&record_crontab, crontab);
        crontab->uid = uid;
        map_put(&core->crontabs, uid, crontab);
    }
    string_set(&crontab->user, user);
    string_set(&crontab->text, text);
    emit_put(core, STORE_CRONTAB, uid, &record_crontab, crontab);
}

void crontab_restore(struct core *core, struct crontab *stored) {
    struct crontab *old = crontab_find(core, stored->uid);
    if (old != NULL)
        crontab_free(core, old);
    map_put(&core->crontabs, stored->uid, stored);
}

void crontabs_free(struct core *core) {
    size_t at = 0;
    uint64_t uid;
    struct crontab *crontab;
    while ((crontab = map_next(&core->crontabs, &at, &uid)) != NULL)
        record_free(&record_crontab, crontab);
    map_done(&core->crontabs);
}

/* ---- one job's life ---- */

bool cron_recurs(const struct core_job *job) {
    return job->rec.cron_spec != NULL;
}

int64_t cron_begin(const struct core *core, const struct core_job *job) {
    struct cronspec spec;
    if (job->rec.cron_spec == NULL || cronspec_parse(job->rec.cron_spec, &spec, NULL) < 0)
        return 0;
    return cronspec_next(&spec, core->now);
}

/* Comments out the lines that a job comes from. */
static void entry_disable(struct core *core, const struct core_job *job) {
    struct crontab *crontab = crontab_find(core, job->rec.uid);
    struct str text cleanup_str = STR_INIT;
    if (crontab == NULL)
        return;
    const char *at = crontab->text;
    for (uint32_t line = 1; *at != '\0'; line++) {
        size_t length = strcspn(at, "\n");
        length += at[length] == '\n';
        bool is_its = line >= job->rec.cron_line && line <= job->rec.cron_last_line;
        if (is_its && strncmp(at, DISABLED, sizeof(DISABLED) - 1) != 0)
            str_append(&text, DISABLED);
        str_append_bytes(&text, at, length);
        at += length;
    }
    cleanup_free char *user = xstrdup(crontab->user);
    crontab_store(core, job->rec.uid, user, str_cstr(&text));
}

static void stop_recurring(struct core *core, struct core_job *job) {
    string_set(&job->rec.cron_spec, NULL);
    job_touch(core, job);
}

/* A job that ended without having run would come again to the same end. */
static void give_up(struct core *core, struct core_job *job, const char *why) {
    emit_log(core, EFFECT_ERROR, "job %u, entry \"%s\" of %s's crontab, does not come again: %s",
             job->rec.job_id, job->rec.cron_spec, job->rec.user_name, why);
    entry_disable(core, job);
    stop_recurring(core, job);
}

bool cron_goes_on(struct core *core, struct core_job *job) {
    if (!cron_recurs(job))
        return false;
    if (job->rec.allocation.n == 0 || cron_begin(core, job) == 0) {
        give_up(core, job, names_text(&names_job_state, job->rec.state));
        return false;
    }
    job_requeue(core, job, false, (enum job_state) job->rec.state, NULL, REASON_NONE);
    return true;
}

bool cron_is_spared(const struct core *core, const struct core_job *job, bool cron) {
    return cron_recurs(job) && core->settings.cron_cancel_explicit && !cron;
}

int cron_cancel(struct core *core, struct core_job *job, bool cron) {
    if (!cron_recurs(job))
        return 0;
    if (cron_is_spared(core, job, cron))
        return -ERR_CRON_CANCEL;
    entry_disable(core, job);
    stop_recurring(core, job);
    return 0;
}

/* ---- a crontab as a whole ---- */

/* One that is being taken: what becomes of each entry. */
struct taking {
    struct core *core;
    const struct core_user *user;
    const struct crontab_set *request;
    uint32_t uid;
    job_ptrs mine;          /* recurring jobs that are there */
    struct core_job **jobs; /* of each entry: one that goes on, or a new one not yet linked */
    bool *is_new;
    struct reply_error refusal;
    struct submit_reply told; /* what there is to know of what is accepted */
};

/* Two entries of the same time and request are alike, wherever they stand. */
static uint64_t entry_hash(const struct cron_entry *entry) {
    struct job_request request = *entry->job; /* only encoded */
    struct str out cleanup_str = STR_INIT;
    request.submit_line = NULL;
    request.alloc_sid = 0;
    request.alloc_node = NULL;
    str_append(&out, entry->spec);
    str_append_char(&out, '\n');
    wire_encode(&record_job_request, &request, NULL, &out);
    return hash_bytes(out.data, out.length, 0);
}

static bool is_taken(const struct taking *taking, uint32_t n, const struct core_job *job) {
    for (uint32_t i = 0; i < n; i++) {
        if (taking->jobs[i] == job)
            return true;
    }
    return false;
}

/* The job that an entry has had so far. */
static struct core_job *entry_job(const struct taking *taking, uint32_t entry, uint64_t hash) {
    vec_each (&taking->mine, job) {
        if ((*job)->rec.cron_hash == hash && !job_state_is_final((*job)->rec.state) &&
            !is_taken(taking, entry, *job))
            return *job;
    }
    return NULL;
}

static int refuse(struct taking *taking, const struct cron_entry *entry, int code,
                  const char *text) {
    struct reply_error *refusal = &taking->refusal;
    cleanup_free char *line =
        entry->first_line == entry->last_line
            ? xasprintf("line %u: %s", entry->last_line, text)
            : xasprintf("lines %u-%u: %s", entry->first_line, entry->last_line, text);
    refusal->code = (uint32_t) (code < 0 ? -code : code);
    refusal->detail = arena_strdup(&taking->core->out->memory, line);
    return -(int) refusal->code;
}

static int entry_check(struct taking *taking, const struct cron_entry *entry,
                       struct cronspec *ret_spec) {
    struct error err = ERROR_INIT;
    if (entry->spec == NULL || entry->job == NULL || entry->job->kind != JOB_KIND_BATCH)
        return refuse(taking, entry, ERR_PROTOCOL, "an entry without a job");
    if (cronspec_parse(entry->spec, ret_spec, &err) < 0)
        return refuse(taking, entry, ERR_INVALID_TIME, err.text);
    if (entry->job->array_spec != NULL)
        return refuse(taking, entry, ERR_INVALID_ARRAY, "a recurring job cannot be an array");
    if (entry->job->begin_time != 0 || entry->job->deadline != 0)
        return refuse(taking, entry, ERR_INVALID_TIME,
                      "the entry says when it begins: --begin and --deadline are for other jobs");
    return 0;
}

/* The job of an entry: checked as any submission, with those before it counted along. */
static int entry_make(struct taking *taking, uint32_t i, uint32_t n_before) {
    const struct cron_entry *entry = &taking->request->entries.items[i];
    struct submit submit = {.job = entry->job};
    struct cronspec spec;
    int r = entry_check(taking, entry, &spec);
    if (r < 0)
        return r;
    uint64_t hash = entry_hash(entry);
    taking->jobs[i] = entry_job(taking, i, hash);
    if (taking->jobs[i] != NULL)
        return 0;
    entry->job->begin_time = cronspec_next(&spec, taking->core->now);
    struct core_job *job = submission_check(taking->core, taking->user, &submit, n_before,
                                            &taking->told, &taking->refusal);
    if (job == NULL)
        return refuse(taking, entry, (int) taking->refusal.code,
                      taking->refusal.detail != NULL ? taking->refusal.detail
                                                     : error_text((int) taking->refusal.code));
    taking->jobs[i] = job;
    taking->is_new[i] = true;
    string_set(&job->rec.cron_spec, entry->spec);
    job->rec.cron_hash = hash;
    if (job->rec.uid != taking->uid)
        return refuse(taking, entry, ERR_ACCESS_DENIED, "the job would be another user's");
    return 0;
}

static int entries_make(struct taking *taking) {
    uint32_t n_new = 0, saved_next = taking->core->meta.next_job_id;
    int r = 0;
    for (uint32_t i = 0; i < taking->request->entries.n && r == 0; i++) {
        r = entry_make(taking, i, n_new);
        n_new += taking->is_new[i];
    }
    if (r == 0)
        return 0;
    for (uint32_t i = 0; i < taking->request->entries.n; i++) {
        if (taking->is_new[i])
            job_free(taking->jobs[i]);
    }
    taking->core->meta.next_job_id = saved_next;
    return r;
}

/* Jobs whose entries are gone: what waits ends, what runs is left to run. */
static void retire_others(struct taking *taking) {
    struct core *core = taking->core;
    vec_each (&taking->mine, at) {
        struct core_job *job = *at;
        if (is_taken(taking, taking->request->entries.n, job))
            continue;
        stop_recurring(core, job);
        if (!job_is_pending(job))
            continue;
        job->rec.cancel_uid = taking->user->uid;
        job_finish(core, job, JOB_CANCELLED, (enum job_reason) job->rec.reason, 0, NULL);
    }
}

static void entries_take(struct taking *taking, struct crontab_reply *reply) {
    struct core *core = taking->core;
    uint32_t n = taking->request->entries.n;
    reply->job_ids.items = arena_alloc(&core->out->memory, (n + 1) * sizeof(uint32_t));
    reply->job_ids.n = n;
    for (uint32_t i = 0; i < n; i++) {
        const struct cron_entry *entry = &taking->request->entries.items[i];
        struct submit submit = {.job = entry->job};
        struct core_job *job = taking->jobs[i];
        job->rec.cron_line = entry->first_line;
        job->rec.cron_last_line = entry->last_line;
        reply->job_ids.items[i] = job->rec.job_id;
        if (!taking->is_new[i]) {
            job_touch(core, job);
            continue;
        }
        submission_take(core, job, taking->user, &submit, &taking->told);
        submission_begin(core, job);
    }
}

/* Whose crontab is meant; 0 or a code. */
static int whose(const struct core *core, const struct core_user *user, uint32_t asked,
                 uint32_t *ret) {
    *ret = asked == UNSET32 ? user->uid : asked;
    return *ret == user->uid || core_is_super(core, user->uid) ? 0 : -ERR_ACCESS_DENIED;
}

static int may_use(const struct core *core, struct error *err) {
    return core->settings.cron
               ? 0
               : error_set(err, ERR_DISABLED,
                           "scrontab is disabled on this cluster (ScronParameters=enable in "
                           "slurm.conf enables it)");
}

static int may_set(const struct core *core, const struct crontab_set *request, struct error *err) {
    int r = may_use(core, err);
    if (r < 0)
        return r;
    if (request->entries.n > CRON_ENTRIES_MAX)
        return error_set(err, ERR_LIMIT, "the crontab has %u entries and may have %d",
                         request->entries.n, CRON_ENTRIES_MAX);
    if (request->text != NULL && strlen(request->text) > CRON_TEXT_MAX)
        return error_set(err, ERR_LIMIT, "the crontab is longer than %u bytes", CRON_TEXT_MAX);
    return 0;
}

void handle_crontab_set(struct core *core, uint64_t client, uint32_t seq,
                        const struct core_user *user, void *body) {
    const struct crontab_set *request = body;
    struct taking taking = {.core = core, .user = user, .request = request};
    struct crontab_reply reply;
    struct error err = ERROR_INIT;
    int r = whose(core, user, request->uid, &taking.uid);
    if (r == 0)
        r = may_set(core, request, &err);
    if (r < 0) {
        emit_error(core, client, seq, r, err.text);
        return;
    }
    record_init(&record_reply_error, &taking.refusal);
    record_init(&record_submit_reply, &taking.told);
    record_init(&record_crontab_reply, &reply);
    jobs_each (core, job) {
        if (cron_recurs(job) && job->rec.uid == taking.uid)
            vec_push(&taking.mine, job);
    }
    taking.jobs = xcalloc(request->entries.n + 1, sizeof(*taking.jobs));
    taking.is_new = xcalloc(request->entries.n + 1, sizeof(*taking.is_new));
    if (entries_make(&taking) < 0) {
        emit_reply_error(core, client, seq, &taking.refusal);
    } else {
        retire_others(&taking);
        crontab_store(core, taking.uid,
                      taking.uid == user->uid || user->as_name == NULL ? user->name : user->as_name,
                      request->text != NULL ? request->text : "");
        entries_take(&taking, &reply); /* which may disable one at once */
        reply.infos = taking.told.infos;
        reply.warnings = taking.told.warnings;
        emit_reply(core, client, MSG_CRONTAB_REPLY, 1, seq, &reply);
    }
    vec_done(&taking.mine);
    free(taking.jobs);
    free(taking.is_new);
}

void handle_crontab_get(struct core *core, uint64_t client, uint32_t seq,
                        const struct core_user *user, void *body) {
    const struct crontab *request = body;
    struct crontab none;
    uint32_t uid;
    struct error err = ERROR_INIT;
    int r = whose(core, user, request->uid, &uid);
    if (r == 0)
        r = may_use(core, &err);
    if (r < 0) {
        emit_error(core, client, seq, r, err.text[0] ? err.text : NULL);
        return;
    }
    record_init(&record_crontab, &none);
    none.uid = uid;
    const struct crontab *crontab = crontab_find(core, uid);
    emit_reply(core, client, MSG_CRONTAB, 1, seq, crontab != NULL ? crontab : &none);
}
