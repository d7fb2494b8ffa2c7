/* SPDX-License-Identifier: Apache-2.0 */
/* Dependencies at a forecast's time. */
#include "core/forecast_internal.h"

static bool has_gone(const struct core_job *job) {
    return job_state_is_final(job->rec.state) && !(job->rec.flags & JOB_FLAG_COMPLETING);
}

/* When a record, with all its tasks, has come that far in this forecast or before; 0 = not yet. */
static int64_t record_reached(const struct forecast *f, const struct core_job *job, bool end) {
    bool running = job_has_nodes(job);
    if (has_gone(job))
        return f->core->now;
    if (!end && running)
        return job->rec.start_time;
    return forecast_number(end ? &f->ended : &f->started, job->rec.job_id);
}

static int64_t depend_reached(const struct forecast *f, const struct depend *depend, bool end) {
    const struct core_array *array = array_find(f->core, depend->job_id);
    int64_t last = f->core->now;
    if (depend->unknown)
        return depend->start > 0 ? depend->start : f->core->now;
    if (array == NULL) {
        const struct core_job *job = job_find(f->core, depend->job_id);
        return job != NULL ? record_reached(f, job, end) : f->core->now;
    }
    array_each(array, job) {
        bool named =
            depend->task == UNSET32 || job->rec.array_task_id == depend->task ||
            (job->rec.array_task_id == UNSET32 && idset_contains(&job->tasks, depend->task));
        int64_t reached = named ? record_reached(f, job, end) : last;
        if (reached == 0)
            return 0;
        last = max_of(last, reached);
    }
    return last;
}

static char *rivals_key(const struct core_job *job) {
    return xasprintf("%u:%s", job->rec.uid, job->rec.name != NULL ? job->rec.name : "");
}

static bool wants_singleton(const struct core_job *job) {
    for (size_t i = 0; i < job->n_depends; i++) {
        if (job->depends[i].kind == DEPEND_SINGLETON)
            return true;
    }
    return false;
}

/* Who else has the user and the name of those that wait for a singleton. */
void forecast_depends_learn(struct forecast *f) {
    bool any = false;
    vec_each (&f->dependents, d) {
        cleanup_free char *key = wants_singleton(d->job) ? rivals_key(d->job) : NULL;
        if (key == NULL || smap_get(&f->rivals, key) != NULL)
            continue;
        struct rivals *rivals = zalloc(struct rivals);
        rivals->key = key;
        key = NULL;
        smap_put(&f->rivals, rivals->key, rivals);
        any = true;
    }
    if (!any)
        return;
    jobs_each (f->core, job) {
        if (has_gone(job))
            continue;
        cleanup_free char *key = rivals_key(job);
        struct rivals *rivals = smap_get(&f->rivals, key);
        if (rivals != NULL)
            vec_push(&rivals->jobs, job);
    }
}

static bool runs(const struct forecast *f, const struct core_job *job) {
    const struct waiting *w = map_get(&f->waiting, job->rec.job_id);
    return job_has_nodes(job) || (w != NULL && w->n_running > 0);
}

/* As singleton_may_go() in singleton.c, at the forecast's time. */
static bool is_alone(struct forecast *f, const struct core_job *job) {
    cleanup_free char *key = rivals_key(job);
    struct rivals *rivals = smap_get(&f->rivals, key);
    if (rivals == NULL)
        return true;
    while (rivals->first < rivals->jobs.n &&
           record_reached(f, rivals->jobs.items[rivals->first], true) > 0)
        rivals->first++;
    for (size_t i = rivals->first; i < rivals->jobs.n; i++) {
        const struct core_job *other = rivals->jobs.items[i];
        bool same =
            other->rec.job_id == job->rec.job_id ||
            (job->rec.array_job_id != 0 && other->rec.array_job_id == job->rec.array_job_id);
        f->work++;
        if (!same && record_reached(f, other, true) == 0 &&
            (other->rec.job_id < job->rec.job_id || runs(f, other)))
            return false;
    }
    return true;
}

static bool depend_comes_true(struct forecast *f, const struct dependent *d,
                              const struct depend *depend) {
    if (depend->state == DEPEND_MET)
        return true;
    if (depend->state == DEPEND_FAILED || (depend->kind == DEPEND_NOT_OK && !d->asked))
        return false;
    if (depend->kind == DEPEND_SINGLETON)
        return is_alone(f, d->job);
    int64_t reached = depend_reached(f, depend, depend->kind != DEPEND_AFTER);
    if (reached == 0)
        return false;
    int64_t due = depend->kind == DEPEND_AFTER ? reached + (int64_t) depend->minutes * 60 : reached;
    if (due > f->now && (f->dependents_due == 0 || due < f->dependents_due))
        f->dependents_due = due;
    return due <= f->now;
}

static bool may_go(struct forecast *f, const struct dependent *d) {
    size_t n_met = 0;
    for (size_t i = 0; i < d->job->n_depends; i++)
        n_met += depend_comes_true(f, d, &d->job->depends[i]);
    return d->job->depends_any ? n_met > 0 : n_met == d->job->n_depends;
}

bool forecast_depends_wake(struct forecast *f) {
    bool woken = false;
    f->dependents_due = 0;
    for (size_t i = 0; i < f->dependents.n; i++) {
        struct dependent *d = &f->dependents.items[i];
        f->work++;
        if (d->gone || !may_go(f, d))
            continue;
        d->gone = woken = true;
        if (d->spec == NULL) {
            forecast_take_waiting(f, d->job);
            continue;
        }
        forecast_take_form(f, d->spec, d->job);
    }
    return woken;
}

void forecast_depends_free(struct forecast *f) {
    size_t at = 0;
    const char *key;
    struct rivals *rivals;
    while ((rivals = smap_next(&f->rivals, &at, &key)) != NULL) {
        vec_done(&rivals->jobs);
        free(rivals->key);
        free(rivals);
    }
    smap_done(&f->rivals);
    vec_done(&f->dependents);
}
