/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scontrol update: an update changes the fields that it names and no other, all of them or none:
 * the changed copy (update_keys.c) is checked as a submission would be.
 */
#include <assert.h>
#include <string.h>

#include "core/update.h"

/* What follows from a change that has been accepted. */
static void job_updated(struct core *core, struct core_job *job, const struct update_job *update) {
    if (job_is_pending(job)) {
        job_estimate_size(core, &job->rec);
        if (!update->priority_changed && job->rec.priority > 0)
            job->rec.priority = priority_compute(core, job);
        if (job->rec.begin_time > core->now)
            job->rec.eligible_time = job->rec.start_time = job->rec.begin_time;
        else if (job->rec.eligible_time > core->now) /* its begin time has been brought forward */
            job->rec.eligible_time = core->now;
        if (job->rec.priority > 0)
            job->rec.reason = REASON_NONE;
        sched_sync(core, job);
    } else if (job_has_nodes(job)) {
        sched_run_end_time(core->sched, job->rec.job_id,
                           job->rec.end_time > 0 ? job->rec.end_time : SCHED_FOREVER);
        core->plan_wanted = true;
    }
    limits_count(core, job); /* on another account, or in another QOS */
    uint32_t partition;
    if (job_has_nodes(job) && job_first_partition(core, &job->rec, &partition))
        limits_run(core, job, partition);
    if (job->rec.array_job_id != 0)
        array_tasks_changed(core, job);
    job_arm(core, job);
    job_touch(core, job);
}

/* What the job would be, checked; nothing is changed. next stays NULL where there is nothing to
 * do. */
static int update_check(struct update_job *update, const struct update *request,
                        const char **ret_detail) {
    struct core *core = update->core;
    struct core_job *job = update->job;
    struct reply_error refusal;
    struct error err = ERROR_INIT;
    if (!job_user_may(core, job, update->user->uid))
        return -ERR_USER_ID;
    if (cron_recurs(job)) {
        *ret_detail = "the job belongs to an entry of the user's crontab: scrontab -e changes it";
        return -ERR_CRON_UPDATE;
    }
    if (job_state_is_final(job->rec.state)) {
        /* %N is the whole array's: tasks that are over are not in the way of it. */
        bool goes_on = job->array != NULL && array_open(job->array) > 0;
        return goes_on && update_is_throttle(request) ? 0 : -ERR_JOB_FINISHED;
    }
    update->next = record_dup(&record_job, &job->rec);
    record_init(&record_reply_error, &refusal);
    int r = update_keys_apply(update, request, ret_detail);
    if (r == 0 && job_is_pending(job))
        r = job_check(core, update->next, update->user, &refusal);
    if (r == 0 && job_is_pending(job))
        r = limits_check_update(core, job, update->next, &refusal);
    if (refusal.detail != NULL)
        *ret_detail = refusal.detail;
    const char *dependency = update->next->dependency;
    if (r == 0 && !str_equal(dependency, job->rec.dependency)) {
        r = depend_validate(core, job, dependency != NULL ? dependency : "", &err);
        if (r < 0)
            *ret_detail = arena_strdup(&core->out->memory, err.text);
    }
    return r;
}

/* Makes it so; the record of `next` is the job's then. */
static void update_apply(struct update_job *update) {
    struct core *core = update->core;
    struct core_job *job = update->job;
    struct job *next = update->next;
    if (next == NULL)
        return;
    if (!str_equal(next->dependency, job->rec.dependency)) {
        int r = depend_parse(core, job, next->dependency != NULL ? next->dependency : "", NULL);
        assert(r == 0); /* it was checked */
        (void) r;
    }
    if (job->rec.usage_since > 0 && !str_equal(next->qos, job->rec.qos)) {
        usage_run_ends(core, job, core->now); /* the other QOS is charged from now on */
        next->usage_since = core->now;
    }
    bool charged_anew = next->usage_since == core->now && job->rec.usage_since == 0;
    singleton_leaves(core, job); /* it may be of another name now */
    record_done(&record_job, &job->rec);
    job->rec = *next;
    free(next);
    update->next = NULL;
    if (charged_anew)
        limits_charge(core, &job->rec, true);
    singleton_joins(core, job);
    depend_show(job);
    depends_index(core, job);
    if (update->kept != NULL)
        job_shrink(core, job, update->kept);
    job_updated(core, job, update);
}

/* Those that change together, or not at all: a job, or the components of one. */
static void update_together(struct core *core, const struct core_user *user,
                            const struct update *request, struct core_job **jobs, size_t n,
                            struct job_results *results) {
    struct update_job *updates = arena_alloc(&core->out->memory, n * sizeof(*updates));
    const char **details = arena_alloc(&core->out->memory, n * sizeof(*details));
    size_t n_checked = 0;
    int r = 0;
    for (size_t i = 0; i < n && r == 0; i++) {
        if (i > 0 && job_state_is_final(jobs[i]->rec.state))
            continue; /* a component that has ended alone */
        details[n_checked] = NULL;
        updates[n_checked] = (struct update_job) {.core = core, .job = jobs[i], .user = user};
        r = update_check(&updates[n_checked], request, &details[n_checked]);
        n_checked++;
    }
    for (size_t i = 0; i < n_checked; i++) {
        struct core_job *job = updates[i].job;
        if (r == 0)
            update_apply(&updates[i]);
        else
            record_free(&record_job, updates[i].next);
        if (r == 0 || i + 1 == n_checked) /* who is refused is told, for all */
            results_add(core, results, job_display_id(core, job), job->rec.job_id, r, details[i]);
    }
    depend_run(core); /* which may end some of them: when all are changed */
}

static void update_jobs(struct core *core, uint64_t client, uint32_t seq,
                        const struct core_user *user, const struct update *request) {
    struct job_results results;
    record_init(&record_job_results, &results);
    cleanup_free char *ids = xstrdup(request->target != NULL ? request->target : "");
    char *cursor = ids;
    for (char *id = str_next_id(&cursor, ", "); id != NULL; id = str_next_id(&cursor, ", ")) {
        job_ptrs jobs = {0};
        int r = job_select_id(core, id, user, &jobs);
        if (r < 0)
            results_add(core, &results, id, 0, r, NULL);
        size_t together = jobs.n > 1 && jobs.items[0]->het != NULL ? jobs.n : 1;
        for (size_t i = 0; i < jobs.n; i += together)
            update_together(core, user, request, &jobs.items[i], together, &results);
        vec_done(&jobs);
    }
    reply_results(core, client, seq, &results);
}

/* ---- steps: only the time limit ---- */

static int update_step(struct core *core, const struct core_user *user,
                       const struct update *request, struct error *err) {
    char *end;
    unsigned long job_id = strtoul(request->target != NULL ? request->target : "", &end, 10);
    struct core_job *job = job_find(core, (uint32_t) job_id);
    struct core_step *step =
        job != NULL && *end == '.' ? step_find(job, (uint32_t) strtoul(end + 1, NULL, 10)) : NULL;
    if (step == NULL)
        return error_set(err, ERR_STEP_NOT_FOUND, "step %s", request->target);
    if (!job_user_may(core, job, user->uid))
        return error_set(err, ERR_USER_ID, "job %u is not yours", job->rec.job_id);
    uint32_t minutes = 0;
    for (uint32_t i = 0; i < request->changes.n; i++) {
        const struct key_value *change = &request->changes.items[i];
        if (!str_equal_nocase(change->key, "TimeLimit"))
            return error_set(err, ERR_UPDATE_KEY, "%s", change->key);
        if (change->value == NULL || minutes_parse(change->value, &minutes, NULL) < 0)
            return error_set(err, ERR_INVALID,
                             "TimeLimit=%s is not understood: it takes minutes, "
                             "hours:minutes:seconds or days-hours",
                             change->value != NULL ? change->value : "");
    }
    if (request->changes.n == 0)
        return error_set(err, ERR_INVALID, "No changes specified");
    step->rec.time_limit = minutes;
    step_touch(core, step);
    step_tell_limit(core, step);
    return 0;
}

void handle_update(struct core *core, uint64_t client, uint32_t seq, const struct core_user *user,
                   void *body) {
    const struct update *request = body;
    struct error err = ERROR_INIT;
    int r;
    if (str_equal(request->entity, "job")) {
        update_jobs(core, client, seq, user, request);
        return;
    }
    if (str_equal(request->entity, "reservation")) {
        const struct reservation *made;
        r = update_reservation(core, user, request, &err, &made);
        if (r == 0 && made != NULL) {
            struct reservation_list list = {.items = {(struct reservation *) (uintptr_t) made, 1}};
            emit_reply(core, client, MSG_RESERVATION_LIST, 1, seq, &list);
            return;
        }
    } else if (str_equal(request->entity, "node")) {
        update_nodes(core, client, seq, user, request);
        return;
    } else if (str_equal(request->entity, "partition"))
        r = update_partition(core, user, request, &err);
    else if (str_equal(request->entity, "step"))
        r = update_step(core, user, request, &err);
    else
        r = error_set(&err, ERR_NOT_SUPPORTED, "%s cannot be updated yet",
                      request->entity != NULL ? request->entity : "that");
    if (r < 0)
        emit_error(core, client, seq, r, err.text);
    else
        emit_reply(core, client, MSG_OK, 1, seq, NULL);
}
