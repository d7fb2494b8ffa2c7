/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations that a waiting command owns: salloc, and srun outside a job. */
#include <string.h>

#include "core/state.h"

/* Seconds for which a vanished salloc or srun may come back before its job is ended. */
#define ORPHAN_GRACE 60

static void answer_pending(struct core *core, struct core_job *job, bool pending) {
    struct submit_reply reply;
    record_init(&record_submit_reply, &reply);
    reply.job_id = job->rec.job_id;
    reply.cluster = core->settings.cluster;
    reply.pending = pending;
    reply.infos = job->told; /* only encoded */
    vec_each (&job->waiters, waiter) {
        if (waiter->what == WAIT_ALLOC)
            emit_reply(core, waiter->client, MSG_SUBMIT_REPLY, 0, waiter->seq, &reply);
    }
    job->answered = true;
}

/* End of the turn in which it was submitted: it has started, or its owner is told to wait. */
void alloc_answer_fresh(struct core *core) {
    vec_each (&core->fresh_allocs, at) {
        struct core_job *job = *at;
        if (job->answered)
            continue;
        if (job_has_nodes(job)) { /* started, and not handed over yet */
            answer_pending(core, job, false);
            continue;
        }
        if (!job_is_pending(job))
            continue;
        if (job->rec.immediate != UNSET32 && job->rec.immediate <= 1) {
            vec_each (&job->waiters, waiter)
                emit_error(core, waiter->client, waiter->seq, -ERR_NODES_BUSY, NULL);
            vec_reset(&job->waiters);
            job_finish(core, job, JOB_CANCELLED, REASON_NONE, 0, NULL);
            continue;
        }
        answer_pending(core, job, true);
    }
    vec_reset(&core->fresh_allocs);
}

/* What a job has; only to be encoded. Of a heterogeneous job its owner is told all components. */
static void describe(struct core *core, struct core_job *job, struct alloc_granted *ret) {
    record_init(&record_alloc_granted, ret);
    ret->job = &job->rec;
    if (job->het == NULL)
        return;
    ret->components.items = arena_alloc(&core->out->memory, job->het->n * sizeof(struct job));
    het_each(job, other) ret->components.items[ret->components.n++] = other->rec;
}

void alloc_granted(struct core *core, struct core_job *job, struct step_layout *layout,
                   struct bytes credential, const struct error *no_step) {
    struct alloc_granted granted;
    describe(core, job, &granted);
    granted.step = layout;
    if (no_step != NULL) {
        granted.step_code = (uint32_t) -no_step->code;
        granted.step_detail = (char *) (uintptr_t) no_step->text;
    }
    if (!job->answered)
        answer_pending(core, job, false);
    size_t kept = 0;
    for (size_t i = 0; i < job->waiters.n; i++) {
        struct waiter waiter = job->waiters.items[i];
        if (waiter.what == WAIT_ALLOC)
            emit_grant(core, waiter.client, waiter.seq, MSG_ALLOC_GRANTED, &granted, credential);
        else
            job->waiters.items[kept++] = waiter;
    }
    job->waiters.n = kept;
}

void job_finish_by_status(struct core *core, struct core_job *job, uint32_t status) {
    bool signalled = (status & 0x7f) != 0;
    if (job->rec.preempt_end > 0) {
        preempt_finish(core, job);
        return;
    }
    if (status == STATUS_OOM) {
        job_finish(core, job, JOB_OUT_OF_MEMORY, REASON_OUT_OF_MEMORY, status, NULL);
        return;
    }
    job_finish(core, job, status == 0 ? JOB_COMPLETED : JOB_FAILED,
               status == 0 ? REASON_NONE
               : signalled ? REASON_RAISED_SIGNAL
                           : REASON_NON_ZERO_EXIT,
               status, NULL);
}

static void owner_returns_to(struct core *core, struct core_job *job, uint64_t client) {
    job->owner_client = client;
    client_watches(core, client, job);
    job->orphan_deadline = 0;
    if (job->rec.immediate == UNSET32)
        job->immediate_deadline = 0;
    job_arm(core, job);
}

/* A command that has lost its controller for a while is back. */
static void owner_returns(struct core *core, struct core_job *job, uint64_t client) {
    owner_returns_to(core, job, client);
    het_each(job, other) owner_returns_to(core, other, client);
}

/* Its allocation is not there yet: the answer follows when it is. */
static void wait_for_alloc(struct core *core, struct core_job *job, uint64_t client, uint32_t seq) {
    struct waiter waiter = {client, seq, WAIT_ALLOC};
    job->answered = true; /* the submission */
    vec_push(&job->waiters, waiter);
    client_watches(core, client, job);
}

void handle_alloc_end(struct core *core, uint64_t client, uint32_t seq,
                      const struct core_user *user, void *body) {
    const struct alloc_end *end = body;
    struct core_job *job = job_find(core, end->job_id);
    if (job == NULL) {
        emit_error(core, client, seq, -ERR_INVALID_JOB_ID, NULL);
        return;
    }
    if (!job_user_may(core, job, user->uid)) {
        emit_error(core, client, seq, -ERR_USER_ID, NULL);
        return;
    }
    if (end->attach && !job_is_pending(job) && !job_has_nodes(job)) {
        emit_error(core, client, seq, -ERR_ALREADY_DONE, NULL);
        return;
    }
    if (end->attach) {
        owner_returns(core, job, client);
        emit_reply(core, client, MSG_OK, 1, seq, NULL);
        return;
    }
    job->owner_client = 0; /* it knows */
    het_each(job, other) other->owner_client = 0;
    if (job_is_pending(job)) {
        job_finish(core, job, JOB_CANCELLED, REASON_NONE, 0, NULL);
    } else if (job_has_nodes(job)) {
        job_finish_by_status(core, job, end->exit_status);
    }
    emit_reply(core, client, MSG_OK, 1, seq, NULL);
}

/* srun --jobid, salloc's steps: what does this job have? With `attach` from the command that owns
 * it, which has lost its controller. */
void handle_alloc_attach(struct core *core, uint64_t client, uint32_t seq,
                         const struct core_user *user, void *body) {
    const struct alloc_end *end = body;
    struct core_job *job = job_find(core, end->job_id);
    int code = 0;
    if (job == NULL)
        code = -ERR_INVALID_JOB_ID;
    else if (!job_user_may(core, job, user->uid))
        code = -ERR_USER_ID;
    else if (job_is_pending(job) && !end->attach)
        code = -ERR_JOB_PENDING;
    else if (!job_is_pending(job) && !job_has_nodes(job))
        code = -ERR_ALREADY_DONE;
    if (code < 0) {
        emit_error(core, client, seq, code, NULL);
        return;
    }
    if (end->attach && job->rec.kind != JOB_KIND_BATCH)
        owner_returns(core, job, client);
    bool ready = !job_is_pending(job) && !prolog_holds(core, job) && het_all_ready(core, job);
    if (end->attach && !ready) {
        wait_for_alloc(core, job, client, seq);
        return;
    }
    struct alloc_granted granted;
    describe(core, job, &granted);
    emit_grant(core, client, seq, MSG_ALLOC_GRANTED, &granted, (struct bytes) {NULL, 0});
}

/* Instead of one job's id: the client waits for several, look at all. */
#define SEVERAL_JOBS UINTPTR_MAX

void client_watches(struct core *core, uint64_t client, const struct core_job *job) {
    uintptr_t before = (uintptr_t) map_get(&core->client_jobs, client);
    uintptr_t now = before == 0 || before == job->rec.job_id ? job->rec.job_id : SEVERAL_JOBS;
    map_put(&core->client_jobs, client, (void *) now);
}

void alloc_forget(struct core *core, const struct core_job *job) {
    for (size_t i = 0; i < core->fresh_allocs.n;) {
        if (core->fresh_allocs.items[i] == job)
            vec_remove(&core->fresh_allocs, i);
        else
            i++;
    }
}

static void drop_client(struct core_job *job, uint64_t client) {
    array_drop_client(job->array, client);
    for (size_t i = 0; i < job->waiters.n;) {
        if (job->waiters.items[i].client == client)
            vec_remove(&job->waiters, i);
        else
            i++;
    }
    list_each (&job->step_waits, at) {
        struct step_wait *wait = list_entry(at, struct step_wait, link);
        if (wait->client != client)
            continue;
        list_remove(&wait->link);
        record_free(&record_step_request, wait->request);
        free(wait);
    }
}

static void client_left(struct core *core, struct core_job *job, uint64_t client) {
    drop_client(job, client);
    if (job->owner_client != client)
        return;
    job->owner_client = 0;
    if (job_is_pending(job) || (job_has_nodes(job) && prolog_holds(core, job))) {
        job_finish(core, job, JOB_CANCELLED, REASON_NONE, 0, NULL);
    } else if (job_has_nodes(job)) {
        job->orphan_deadline = core->now + ORPHAN_GRACE;
        job_arm(core, job);
        srun_job_ends(core, job);
    }
}

void core_client_gone(struct core *core, int64_t now, uint64_t client, struct effects *out) {
    core->now = now;
    core->out = out;
    uintptr_t job_id = (uintptr_t) map_remove(&core->client_jobs, client);
    if (job_id == SEVERAL_JOBS) {
        jobs_each (core, job)
            client_left(core, job, client);
        return;
    }
    struct core_job *job = job_id != 0 ? job_find(core, (uint32_t) job_id) : NULL;
    if (job != NULL)
        client_left(core, job, client);
}
