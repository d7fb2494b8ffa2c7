/* SPDX-License-Identifier: Apache-2.0 */
/* Requests about jobs that exist: cancel and signal, hold, release, requeue, suspend, resume. */
#include <assert.h>
#include <signal.h>
#include <string.h>

#include "core/state.h"

void results_add(struct core *core, struct job_results *results, const char *id, uint32_t job_id,
                 int code, const char *detail) {
    struct arena *memory = &core->out->memory;
    uint32_t n = results->items.n;
    if ((n & (n - 1)) == 0) { /* doubles at powers of two */
        struct job_result *larger =
            arena_alloc(memory, (n == 0 ? 1 : n * 2) * sizeof(struct job_result));
        if (n > 0)
            memcpy(larger, results->items.items, n * sizeof(struct job_result));
        results->items.items = larger;
    }
    struct job_result *row = &results->items.items[results->items.n++];
    record_init(&record_job_result, row);
    row->id = arena_strdup(memory, id);
    row->job_id = job_id;
    row->code = (uint32_t) (code < 0 ? -code : code);
    row->detail = detail != NULL ? arena_strdup(memory, detail) : NULL;
}

void reply_results(struct core *core, uint64_t client, uint32_t seq, struct job_results *results) {
    emit_reply(core, client, MSG_JOB_RESULTS, 1, seq, results);
}

/* ---- cancel and signal ---- */

static void signal_job(struct core *core, struct core_job *job, const struct job_kill *request) {
    job_signal(core, job, request->signal,
               request->batch_only ? NODE_SIGNAL_BATCH_ONLY
               : request->full     ? NODE_SIGNAL_BATCH | NODE_SIGNAL_GROUP
                                   : 0);
    job_notify(core, job, ALLOC_SIGNAL, NULL, request->signal);
    if (request->signal == SIGSTOP || request->signal == SIGCONT) {
        if (request->signal == SIGSTOP)
            job->rec.flags |= JOB_FLAG_STOPPED;
        else
            job->rec.flags &= ~(uint32_t) JOB_FLAG_STOPPED;
        job_touch(core, job);
    }
}

/* SIGKILL to a whole job ends it like a plain cancel, only without the wait. */
static int kill_one(struct core *core, struct core_job *job, const struct core_user *user,
                    const struct job_kill *request) {
    if (!job_user_may(core, job, user->uid))
        return -ERR_ACCESS_DENIED;
    if (job_state_is_final(job->rec.state))
        return -ERR_ALREADY_DONE;
    if (request->signal > SIGNAL_LARGEST)
        return -ERR_INVALID;
    bool ends = request->signal == 0 || (request->signal == SIGKILL && !request->batch_only);
    bool ends_pending = job_is_pending(job) && request->signal == SIGTERM;
    int r = ends || ends_pending ? cron_cancel(core, job, request->cron) : 0;
    if (r < 0)
        return r;
    if (job_is_pending(job)) {
        if (!ends && request->signal != SIGTERM)
            return -ERR_NOT_RUNNING;
        if (het_refuses_alone(job))
            return -ERR_HET_COMPONENT;
        job->rec.cancel_uid = user->uid;
        /* The record keeps why it had not run yet. */
        job_finish(core, job, JOB_CANCELLED, (enum job_reason) job->rec.reason, 0, NULL);
        return 0;
    }
    if (!ends) {
        signal_job(core, job, request);
        het_each(job, other) {
            if (het_is_leader(job) && other != job && job_has_nodes(other))
                signal_job(core, other, request);
        }
        return 0;
    }
    job->rec.cancel_uid = user->uid;
    job_finish(core, job, JOB_CANCELLED, REASON_NONE, 0, "DUE to SIGNAL Terminated");
    return 0;
}

/* "12.0", "12_3.batch": true with the step; the job part is left in `job_part`. */
static bool step_part(const char *id, char *job_part, size_t size, uint32_t *ret_step) {
    const char *dot = strchr(id, '.');
    if (dot == NULL || (size_t) (dot - id) >= size)
        return false;
    memcpy(job_part, id, (size_t) (dot - id));
    job_part[dot - id] = '\0';
    return step_id_parse(dot + 1, ret_step) && *ret_step != STEP_EXTERN; /* it ends with its job */
}

static int kill_step(struct core *core, struct core_job *job, uint32_t step_id,
                     const struct core_user *user, uint32_t number) {
    if (!job_user_may(core, job, user->uid))
        return -ERR_USER_ID;
    if (number > SIGNAL_LARGEST)
        return -ERR_INVALID;
    if (!job_has_nodes(job))
        return -ERR_ALREADY_DONE;
    struct core_step *step = step_find(job, step_id);
    if (step_id != STEP_BATCH && step == NULL)
        return -ERR_INVALID_JOB_ID;
    if (step_id != STEP_BATCH && job_state_is_final(step->rec.state))
        return -ERR_ALREADY_DONE;
    struct node_signal signal;
    record_init(&record_node_signal, &signal);
    signal.job_id = job->rec.job_id;
    signal.step_id = step_id;
    signal.attempt = job->rec.attempt;
    signal.signal = number != 0 ? number : SIGTERM;
    signal.flags = NODE_SIGNAL_GROUP;
    if (number == 0) {
        signal.flags = NODE_SIGNAL_END;
        signal.message = (char *) (uintptr_t) job_cancel_text(core, "DUE to SIGNAL Terminated");
        if (step != NULL)
            step->rec.cancel_uid = user->uid;
    }
    for (uint32_t i = 0; i < job->rec.allocation.n; i++)
        emit_node(core, job->rec.allocation.items[i].node, MSG_NODE_SIGNAL, &signal);
    return 0;
}

static void kill_step_by_id(struct core *core, const char *id, const char *job_part,
                            uint32_t step_id, const struct core_user *user,
                            const struct job_kill *request, struct job_results *results) {
    job_ptrs jobs = {0};
    int r = job_select_id(core, job_part, NULL, &jobs);
    if (r < 0)
        results_add(core, results, id, 0, r, NULL);
    for (size_t i = 0; i < jobs.n; i++) {
        r = kill_step(core, jobs.items[i], step_id, user, request->signal);
        results_add(core, results, id, jobs.items[i]->rec.job_id, r, NULL);
    }
    vec_done(&jobs);
}

/* Takes the ids of steps out of the selection and deals with them. */
static void kill_steps(struct core *core, const struct core_user *user, struct job_kill *request,
                       struct job_results *results) {
    struct strs *ids = &request->select->ids;
    uint32_t kept = 0;
    char job_part[64];
    for (uint32_t i = 0; i < ids->n; i++) {
        uint32_t step_id;
        if (step_part(ids->items[i], job_part, sizeof(job_part), &step_id))
            kill_step_by_id(core, ids->items[i], job_part, step_id, user, request, results);
        else
            ids->items[kept++] = ids->items[i];
    }
    ids->n = kept;
}

static void kill_chosen(struct core *core, const struct core_user *user,
                        const struct job_kill *request, bool by_id, const job_ptrs *jobs,
                        struct job_results *results) {
    bool named = request->select->uid != UNSET32 || request->select->name != NULL;
    for (size_t i = 0; i < jobs->n; i++) {
        struct core_job *job = jobs->items[i];
        if (!by_id && !named && !job_user_may(core, job, user->uid))
            continue; /* wide filters choose among one's own */
        if (!by_id && cron_is_spared(core, job, request->cron))
            continue;
        const char *id = het_result_id(core, job, &request->select->ids);
        uint32_t job_id = job->rec.job_id;
        results_add(core, results, id, job_id, kill_one(core, job, user, request), NULL);
    }
    results->n_matched += (uint32_t) jobs->n;
}

/* Of what is chosen, the records with such a number or a later one. */
static void choose_from(struct core *core, const struct core_user *user,
                        const struct job_kill *request, uint32_t first, job_ptrs *ret) {
    struct job_results told; /* already */
    size_t n = 0;
    record_init(&record_job_results, &told);
    vec_reset(ret);
    job_select(core, request->select, ret, &told, user);
    for (size_t i = 0; i < ret->n; i++) {
        if (ret->items[i]->rec.job_id >= first)
            ret->items[n++] = ret->items[i];
    }
    ret->n = n;
}

void handle_kill(struct core *core, uint64_t client, uint32_t seq, const struct core_user *user,
                 void *body) {
    struct job_kill *request = body;
    struct job_results results;
    record_init(&record_job_results, &results);
    if (request->select == NULL) {
        emit_error(core, client, seq, -ERR_PROTOCOL, "no job was named");
        return;
    }
    bool by_id = request->select->ids.n > 0;
    kill_steps(core, user, request, &results);
    job_ptrs jobs = {0};
    if (!by_id || request->select->ids.n > 0)
        job_select(core, request->select, &jobs, &results, user);
    het_choose(core, &jobs);
    /* The end of a job may give tasks of other arrays, which are meant, too, records of their own.
     */
    while (jobs.n > 0) {
        uint32_t first_new = core->meta.next_job_id;
        kill_chosen(core, user, request, by_id, &jobs, &results);
        vec_reset(&jobs);
        if (core->meta.next_job_id != first_new)
            choose_from(core, user, request, first_new, &jobs);
    }
    vec_done(&jobs);
    reply_results(core, client, seq, &results);
}

void handle_step_kill(struct core *core, uint64_t client, uint32_t seq,
                      const struct core_user *user, void *body) {
    const struct node_signal *request = body;
    struct core_job *job = job_find(core, request->job_id);
    int r = job == NULL ? -ERR_INVALID_JOB_ID
                        : kill_step(core, job, request->step_id, user, request->signal);
    if (r < 0)
        emit_error(core, client, seq, r, NULL);
    else
        emit_reply(core, client, MSG_OK, 1, seq, NULL);
}

/* ---- verbs: one row each; what can be wrong first, then what is done ---- */

struct verb_call {
    struct core *core;
    const struct core_user *user;
    const struct job_verb_request *request;
    const char *detail; /* a line for the answer */
};

static int check_live(struct verb_call *call, struct core_job *job) {
    return job_state_is_final(job->rec.state) ? -ERR_JOB_FINISHED : 0;
}

static void verb_hold(struct verb_call *call, struct core_job *job) {
    bool as_user = call->request->verb == VERB_UHOLD || call->user->uid == job->rec.uid;
    if (job_has_nodes(job)) {
        call->detail = "The job runs and goes on running; it will be held if it is requeued. "
                       "scontrol requeuehold or suspend would stop it now.";
    }
    job_hold(call->core, job, as_user ? REASON_HELD_USER : REASON_HELD_ADMIN);
}

static int check_release(struct verb_call *call, struct core_job *job) {
    if (job_state_is_final(job->rec.state))
        return -ERR_JOB_FINISHED;
    if (job->rec.reason == REASON_HELD_ADMIN && !core_is_admin(call->core, call->user->uid))
        return -ERR_ACCESS_DENIED;
    return 0;
}

static void verb_release(struct verb_call *call, struct core_job *job) {
    job->rec.requested_priority = UNSET32; /* also one that an administrator has set */
    job_release(call->core, job);
}

static bool is_special(const struct verb_call *call) {
    return str_has_word(call->request->options, "specialexit", ",");
}

static bool holds(const struct verb_call *call) {
    return call->request->verb == VERB_REQUEUE_HOLD || is_special(call);
}

/* Has it ended, where only what has not is meant? */
static bool is_spared(const struct verb_call *call, const struct core_job *job) {
    return job_state_is_final(job->rec.state) &&
           str_has_word(call->request->options, "incomplete", ",");
}

static bool may_be_requeued(const struct core_job *job) {
    bool may = job->rec.requeue == TRI_YES;
    het_each(job, other) may = may && other->rec.requeue == TRI_YES;
    return may;
}

static int check_requeue(struct verb_call *call, struct core_job *job) {
    if (is_spared(call, job))
        return 0;
    if (job->rec.kind != JOB_KIND_BATCH)
        return -ERR_BATCH_ONLY;
    if (!may_be_requeued(job))
        return -ERR_DISABLED;
    if (job->rec.het_size > 0 && (job->het == NULL || job->het->n < job->het->size))
        return -ERR_ALREADY_DONE; /* some of it has been forgotten */
    if (job_is_pending(job))
        return -ERR_JOB_PENDING;
    return job->rec.flags & JOB_FLAG_COMPLETING ? -ERR_ALREADY_DONE : 0;
}

static void tell_requeue_wait(struct verb_call *call, const struct core_job *job, int64_t wait) {
    cleanup_free char *text =
        xasprintf("It was requeued after short runs again and again, and waits %lld seconds. "
                  "scontrol update JobId=%u StartTime=now lifts that.",
                  (long long) wait, job->rec.job_id);
    call->detail = arena_strdup(&call->core->out->memory, text);
}

/* Its components go with the first. */
static void verb_requeue(struct verb_call *call, struct core_job *job) {
    struct core *core = call->core;
    bool hold = holds(call);
    if (is_spared(call, job))
        return;
    int64_t wait = failure_of_requeue(core, job);
    if (wait > 0 && !hold)
        tell_requeue_wait(call, job, wait);
    job_requeue(core, job, hold,
                job_has_nodes(job) ? JOB_CANCELLED : (enum job_state) job->rec.state,
                "DUE TO JOB REQUEUE", hold ? REASON_REQUEUED_HELD : REASON_NONE);
    job->rec.flags |= is_special(call) ? JOB_FLAG_SPECIAL_EXIT : 0u;
}

static int check_suspend(struct verb_call *call, struct core_job *job) {
    return job_is_pending(job) ? -ERR_JOB_PENDING : check_live(call, job);
}

static void verb_suspend(struct verb_call *call, struct core_job *job) {
    if (job->rec.state == JOB_RUNNING)
        job_suspend(call->core, job);
    else
        job_stays_suspended(call->core, job);
    string_set(&job->rec.suspended_by, call->user->name);
}

static int check_resume(struct verb_call *call, struct core_job *job) {
    int r = check_suspend(call, job);
    if (r == 0 && job->rec.state != JOB_SUSPENDED)
        r = -ERR_NOT_SUSPENDED;
    if (r == 0 && job->rec.paused) {
        call->detail = "The job was suspended to make room for others; it goes on by itself.";
        r = -ERR_NODES_BUSY;
    }
    return r;
}

static void verb_resume(struct verb_call *call, struct core_job *job) {
    job_resume(call->core, job);
}

/* What is in its way is known when it is tried, and it changes nothing then. */
static int verb_top(struct verb_call *call, struct core_job *job) {
    if (!call->core->settings.user_top && !core_is_admin(call->core, call->user->uid))
        return -ERR_ACCESS_DENIED;
    return job_top(call->core, job, &call->detail);
}

static int check_notify(struct verb_call *call, struct core_job *job) {
    if (!job_has_nodes(job))
        return job_is_pending(job) ? -ERR_JOB_PENDING : -ERR_ALREADY_DONE;
    return 0;
}

static void verb_notify(struct verb_call *call, struct core_job *job) {
    job_tell(call->core, job, call->request->text);
}

static const struct verb_row {
    enum job_verb verb;
    int (*check)(struct verb_call *call, struct core_job *job);  /* changes nothing if it refuses */
    void (*apply)(struct verb_call *call, struct core_job *job); /* NULL: check has done it */
    enum err refusal; /* for other people's jobs; which word it is depends on the verb, as ever */
    enum err alone;   /* for a component that is meant alone; ERR_OK: it may be */
    bool each;        /* for the whole it is called for every component that has not ended */
} verbs[] = {
    {VERB_HOLD, check_live, verb_hold, ERR_USER_ID, ERR_OK, true},
    {VERB_UHOLD, check_live, verb_hold, ERR_USER_ID, ERR_OK, true},
    {VERB_RELEASE, check_release, verb_release, ERR_USER_ID, ERR_OK, true},
    {VERB_REQUEUE, check_requeue, verb_requeue, ERR_ACCESS_DENIED, ERR_HET_LEADER, false},
    {VERB_REQUEUE_HOLD, check_requeue, verb_requeue, ERR_ACCESS_DENIED, ERR_HET_LEADER, false},
    {VERB_SUSPEND, check_suspend, verb_suspend, ERR_USER_ID, ERR_HET_COMPONENT, true},
    {VERB_RESUME, check_resume, verb_resume, ERR_USER_ID, ERR_HET_COMPONENT, true},
    {VERB_TOP, verb_top, NULL, ERR_ACCESS_DENIED, ERR_HET_COMPONENT, false},
    {VERB_NOTIFY, check_notify, verb_notify, ERR_USER_ID, ERR_OK, false},
};

/* Is this component meant with its leader? */
static bool goes_along(const struct verb_row *row, const struct core_job *job,
                       const struct core_job *other) {
    return row->each && het_is_leader(job) && other != job && !job_state_is_final(other->rec.state);
}

/* Of the whole job when it is a leader: of all of it, or, with the first error, of none. */
static int verb_apply(struct verb_call *call, const struct verb_row *row, struct core_job *job) {
    if (!job_user_may(call->core, job, call->user->uid))
        return -(int) row->refusal;
    if (het_refuses_alone(job) && row->alone != ERR_OK)
        return -(int) row->alone;
    int r = row->check(call, job);
    het_each(job, other) {
        if (r == 0 && goes_along(row, job, other))
            r = row->check(call, other);
    }
    if (r < 0 || row->apply == NULL)
        return r;
    row->apply(call, job);
    het_each(job, other) {
        if (goes_along(row, job, other))
            row->apply(call, other);
    }
    return 0;
}

void handle_verb(struct core *core, uint64_t client, uint32_t seq, const struct core_user *user,
                 void *body) {
    const struct job_verb_request *request = body;
    const struct verb_row *row = NULL;
    for (size_t i = 0; i < countof(verbs); i++) {
        if (verbs[i].verb == (enum job_verb) request->verb)
            row = &verbs[i];
    }
    if (row == NULL || request->select == NULL) {
        emit_error(core, client, seq, -ERR_NOT_SUPPORTED, "unknown verb");
        return;
    }
    struct job_results results;
    record_init(&record_job_results, &results);
    job_ptrs jobs = {0};
    job_select(core, request->select, &jobs, &results, user);
    het_choose(core, &jobs);
    for (size_t i = 0; i < jobs.n; i++) {
        /* Of a list for the top the first comes last, so that it ends up before the others. */
        struct core_job *job = jobs.items[row->verb == VERB_TOP ? jobs.n - 1 - i : i];
        struct verb_call call = {.core = core, .user = user, .request = request};
        const char *id = het_result_id(core, job, &request->select->ids);
        uint32_t job_id = job->rec.job_id;
        int r = verb_apply(&call, row, job);
        results_add(core, &results, id, job_id, r, call.detail);
    }
    results.n_matched = (uint32_t) jobs.n;
    vec_done(&jobs);
    reply_results(core, client, seq, &results);
}
