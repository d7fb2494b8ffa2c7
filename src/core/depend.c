/* SPDX-License-Identifier: Apache-2.0 */
/* What dependencies have come to, and what follows; depend.h says how they are kept. */
#include "core/depend.h"

#include <string.h>

#include "core/state.h"

/* ---- the state of one dependency ---- */

static bool has_started(const struct core_job *job) {
    return job->rec.state != JOB_PENDING || job->rec.restarts > 0;
}

bool depend_has_ended(const struct core_job *job) {
    return job_state_is_final(job->rec.state) && !(job->rec.flags & JOB_FLAG_COMPLETING);
}

static enum depend_state after_start(const struct core *core, const struct depend *depend,
                                     bool started, int64_t start) {
    bool due = core->now >= start + (int64_t) depend->minutes * 60;
    return started && due ? DEPEND_MET : DEPEND_OPEN;
}

enum depend_state depend_job_verdict(const struct core *core, const struct depend *depend,
                                     const struct core_job *target) {
    bool ended = depend_has_ended(target), ok = target->rec.state == JOB_COMPLETED;
    switch (depend->kind) {
    case DEPEND_AFTER:
        return after_start(core, depend, has_started(target), target->rec.start_time);
    case DEPEND_OK:
    case DEPEND_CORR:
        return !ended ? DEPEND_OPEN : ok ? DEPEND_MET : DEPEND_FAILED;
    case DEPEND_NOT_OK:
        return !ended ? DEPEND_OPEN : ok ? DEPEND_FAILED : DEPEND_MET;
    default:
        return ended ? DEPEND_MET : DEPEND_OPEN;
    }
}

/* All tasks count, those whose records have gone as well: afternotok is met by one failure, the
 * others need every task. */
static enum depend_state array_verdict(const struct core *core, const struct depend *depend,
                                       const struct core_array *array) {
    bool open = array_open(array) > 0;
    bool failed = array->n[ARRAY_FAILED] > 0 || (array->past & ARRAY_PAST_FAILED);
    switch (depend->kind) {
    case DEPEND_AFTER:
        return after_start(core, depend, array->n[ARRAY_WAITS] == 0, array->last_start);
    case DEPEND_OK:
    case DEPEND_CORR:
        return failed ? DEPEND_FAILED : open ? DEPEND_OPEN : DEPEND_MET;
    case DEPEND_NOT_OK:
        return open ? DEPEND_OPEN : failed ? DEPEND_MET : DEPEND_FAILED;
    default:
        return open ? DEPEND_OPEN : DEPEND_MET;
    }
}

static enum depend_state gone_verdict(const struct core *core, const struct core_job *job,
                                      const struct depend *depend) {
    if (depend->kind == DEPEND_AFTER && depend->start > 0)
        return after_start(core, depend, true, depend->start);
    return bygone_verdict(core, job, depend);
}

enum depend_state depend_verdict(struct core *core, const struct core_job *job,
                                 const struct depend *depend) {
    if (depend->kind == DEPEND_SINGLETON)
        return singleton_may_go(core, job) ? DEPEND_MET : DEPEND_OPEN;
    if (depend->unknown)
        return gone_verdict(core, job, depend);
    const struct core_array *array = array_find(core, depend->job_id);
    uint32_t task = depend->task;
    if (array != NULL && depend->kind == DEPEND_CORR && task == UNSET32) {
        if (job->rec.array_tasks != NULL)
            return DEPEND_OPEN; /* corr_divide() says when */
        task = job->rec.array_task_id;
    }
    if (array != NULL && task == UNSET32)
        return array_verdict(core, depend, array);
    const struct core_job *target =
        array != NULL ? array_task(array, task) : job_find(core, depend->job_id);
    return target != NULL ? depend_job_verdict(core, depend, target)
                          : gone_verdict(core, job, depend);
}

/* ---- all of a job's ---- */

void depend_show(struct core_job *job) {
    struct str text cleanup_str = STR_INIT;
    if (job->n_depends == 0)
        return;
    depends_print(job, &text);
    string_set(&job->rec.dependency, str_cstr(&text));
}

static bool depend_is_never(const struct core_job *job) {
    size_t failed = 0;
    for (size_t i = 0; i < job->n_depends; i++)
        failed += job->depends[i].state == DEPEND_FAILED;
    return job->depends_any ? failed > 0 && failed == job->n_depends : failed > 0;
}

static bool is_met(const struct core_job *job) {
    size_t met = 0;
    for (size_t i = 0; i < job->n_depends; i++)
        met += job->depends[i].state == DEPEND_MET;
    return job->depends_any ? met > 0 || job->n_depends == 0 : met == job->n_depends;
}

static void forget(struct core_job *job) {
    free(job->depends);
    job->depends = NULL;
    job->n_depends = 0;
    job->depends_due = 0;
    list_remove(&job->depending);
    free(job->rec.depend_starts.items);
    job->rec.depend_starts.items = NULL;
    job->rec.depend_starts.n = 0;
    string_set(&job->rec.dependency, NULL);
    string_set(&job->rec.depend_cause, NULL);
}

/* When what "after:ID+minutes" names has started, as far as it is still here; 0 = it has not. */
static int64_t target_start(struct core *core, const struct depend *depend) {
    const struct core_array *array = array_find(core, depend->job_id);
    const struct core_job *target = array == NULL             ? job_find(core, depend->job_id)
                                    : depend->task != UNSET32 ? array_task(array, depend->task)
                                                              : NULL;
    if (target != NULL)
        return has_started(target) ? target->rec.start_time : 0;
    return array != NULL && array->n[ARRAY_WAITS] == 0 ? array->last_start : 0;
}

/* It becomes true by the clock alone: the job's timer looks again. */
static int64_t clock_due(const struct core *core, const struct depend *depend) {
    if (depend->minutes == 0 || depend->state != DEPEND_OPEN)
        return 0;
    int64_t due = depend->start + (int64_t) depend->minutes * 60;
    return depend->start > 0 && due > core->now ? due : 0;
}

/* What has started may leave before the minutes are over, and the controller may be restarted
 * meanwhile. */
static void starts_note(struct core *core, struct core_job *job) {
    vec(struct depend_start) starts = {0};
    for (size_t i = 0; i < job->n_depends; i++) {
        struct depend *depend = &job->depends[i];
        if (depend->kind != DEPEND_AFTER || depend->minutes == 0 || depend->state != DEPEND_OPEN)
            continue;
        int64_t start = depend->unknown ? 0 : target_start(core, depend);
        depend->start = start > 0 ? start : depend->start;
        if (depend->start == 0)
            continue;
        struct depend_start known = {depend->job_id, depend->task, depend->start};
        vec_push(&starts, known);
    }
    bool same = starts.n == job->rec.depend_starts.n &&
                (starts.n == 0 || memcmp(starts.items, job->rec.depend_starts.items,
                                         starts.n * sizeof(struct depend_start)) == 0);
    if (same) {
        vec_done(&starts);
        return;
    }
    free(job->rec.depend_starts.items);
    job->rec.depend_starts.items = starts.items;
    job->rec.depend_starts.n = (uint32_t) starts.n;
    job_touch(core, job);
}

static void set_due(struct core *core, struct core_job *job) {
    int64_t due = 0;
    for (size_t i = 0; i < job->n_depends; i++) {
        int64_t one = clock_due(core, &job->depends[i]);
        if (one > 0 && (due == 0 || one < due))
            due = one;
    }
    if (due == job->depends_due)
        return;
    job->depends_due = due;
    job_arm(core, job);
}

static void evaluate(struct core *core, struct core_job *job) {
    for (size_t i = 0; i < job->n_depends; i++) {
        struct depend *depend = &job->depends[i];
        if (depend->state == DEPEND_OPEN)
            depend->state = depend_verdict(core, job, depend);
        if (depend->state == DEPEND_FAILED && job->rec.depend_cause == NULL) {
            struct str cause cleanup_str = STR_INIT;
            depend_print_cause(core, job, depend, &cause);
            string_set(&job->rec.depend_cause, str_cstr(&cause));
        }
    }
}

bool depend_check(struct core *core, struct core_job *job) {
    if (job->n_depends == 0)
        return true;
    if (job->corr_wanted && job->rec.array_tasks != NULL)
        corr_divide(core, job);
    starts_note(core, job);
    evaluate(core, job);
    set_due(core, job);
    if (is_met(job) && job->rec.priority == 0)
        return true; /* said when it is released */
    if (is_met(job)) {
        forget(job);
        job->rec.reason = REASON_NONE;
        if (job->rec.accrue_time == 0)
            job->rec.eligible_time = max_of(core->now, job->rec.begin_time);
        job_touch(core, job);
        return true;
    }
    struct str text cleanup_str = STR_INIT;
    depends_print(job, &text);
    uint32_t reason = depend_is_never(job) ? REASON_DEPENDENCY_NEVER : REASON_DEPENDENCY;
    if (!str_equal(job->rec.dependency, text.data) ||
        (job->rec.reason != reason && job->rec.priority > 0)) {
        string_set(&job->rec.dependency, text.data);
        if (job->rec.priority > 0)
            job->rec.reason = reason;
        job_touch(core, job);
    }
    return false;
}

void depend_check_kill(struct core *core, struct core_job *job) {
    if (!job_is_pending(job) || list_is_empty(&job->depending))
        return;
    bool kill = job->rec.kill_on_invalid_dep == TRI_YES ||
                (job->rec.kill_on_invalid_dep == TRI_UNSET && core->settings.kill_invalid_depend);
    if (!kill || !depend_is_never(job))
        return;
    emit_log(core, EFFECT_INFO, "job %u can never start: %s", job->rec.job_id,
             job->rec.depend_cause != NULL ? job->rec.depend_cause : job->rec.dependency);
    mail_event(core, job, MAIL_INVALID_DEPEND);
    job_finish(core, job, JOB_CANCELLED, REASON_DEPENDENCY_NEVER, 0, NULL);
}

void depend_job_changed(struct core *core, const struct core_job *job) {
    depend_note(core, job);
    depend_run(core);
}
