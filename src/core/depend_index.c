/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who waits for what. A target is a job or whole array, one task of an array, or all tasks of an
 * array one by one ("aftercorr"); each has a list of the ids of those that wait for it. An id stays
 * on the list until the target is looked at next, though its job may have gone or wait for
 * something else by then, which is found out when it is looked up.
 */
#include <stdlib.h>
#include <string.h>

#include "core/state.h"

/* What cannot be the number of a task. */
#define EACH_TASK (UNSET32 - 1)

struct depend_target {
    vec(uint32_t) waiting;
    size_t swept; /* as many were left when it was looked at last */
};

static uint64_t target_key(uint32_t job_id, uint32_t task) {
    return (uint64_t) job_id << 32 | task;
}

static uint64_t key_of(const struct core *core, const struct core_job *job,
                       const struct depend *depend) {
    uint32_t task = depend->task;
    if (depend->kind == DEPEND_CORR && task == UNSET32 && array_find(core, depend->job_id) != NULL)
        task = job->rec.array_tasks != NULL ? EACH_TASK : job->rec.array_task_id;
    return target_key(depend->job_id, task);
}

static bool waits_for(const struct core *core, const struct core_job *job, uint64_t key) {
    for (size_t i = 0; i < job->n_depends; i++) {
        const struct depend *depend = &job->depends[i];
        if (depend->state == DEPEND_OPEN && depend->kind != DEPEND_SINGLETON &&
            (key_of(core, job, depend) == key ||
             (depend->kind == DEPEND_CORR && key == target_key(depend->job_id, EACH_TASK))))
            return job_is_pending(job);
    }
    return false;
}

static int compare_ids(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *) left, b = *(const uint32_t *) right;
    return a < b ? -1 : a > b;
}

/* Drops those that wait no more, and whoever is there twice. */
static void target_sweep(struct core *core, uint64_t key, struct depend_target *target) {
    size_t n = 0;
    uint32_t before = 0;
    if (target->waiting.n > 1)
        qsort(target->waiting.items, target->waiting.n, sizeof(uint32_t), compare_ids);
    vec_each (&target->waiting, id) {
        const struct core_job *job = *id != before ? job_find(core, *id) : NULL;
        if (job != NULL && waits_for(core, job, key))
            target->waiting.items[n++] = *id;
        before = *id;
    }
    target->waiting.n = target->swept = n;
}

static void target_free(struct core *core, uint64_t key, struct depend_target *target) {
    map_remove(&core->depend_targets, key);
    vec_done(&target->waiting);
    free(target);
}

static void target_add(struct core *core, uint64_t key, uint32_t job_id) {
    struct depend_target *target = map_get(&core->depend_targets, key);
    if (target == NULL) {
        target = zalloc(struct depend_target);
        map_put(&core->depend_targets, key, target);
    }
    if (target->waiting.n > 64 && target->waiting.n > 2 * target->swept)
        target_sweep(core, key, target);
    vec_push(&target->waiting, job_id);
}

void depends_index(struct core *core, struct core_job *job) {
    for (size_t i = 0; i < job->n_depends; i++) {
        const struct depend *depend = &job->depends[i];
        if (depend->state == DEPEND_OPEN && depend->kind != DEPEND_SINGLETON && !depend->unknown)
            target_add(core, key_of(core, job, depend), job->rec.job_id);
    }
    if (job->n_depends > 0 && list_is_empty(&job->depending))
        list_append(&core->depending, &job->depending);
}

void depends_copy(struct core_job *job, const struct core_job *from) {
    job->depends_any = from->depends_any;
    job->corr_wanted = from->corr_wanted;
    job->n_depends = from->n_depends;
    if (from->n_depends > 0)
        job->depends = xmemdup(from->depends, from->n_depends * sizeof(struct depend));
}

void depends_free(struct core *core) {
    size_t at = 0;
    uint64_t key;
    struct depend_target *target;
    while ((target = map_next(&core->depend_targets, &at, &key)) != NULL)
        target_free(core, key, target);
    map_done(&core->depend_targets);
    vec_done(&core->depend_events);
}

/* ---- what has happened ---- */

void depend_note(struct core *core, const struct core_job *job) {
    const struct depend_event event = {
        .job_id = job->rec.job_id,
        .array_id = job->rec.array_job_id,
        .task = job->rec.array_task_id,
    };
    if (core->depend_targets.n > 0 || core->namesakes.n > 0)
        vec_push(&core->depend_events, event);
}

void depend_note_itself(struct core *core, const struct core_job *job) {
    const struct depend_event event = {.job_id = job->rec.job_id, .itself = true};
    vec_push(&core->depend_events, event);
}

static void look_at(struct core *core, struct core_job *job) {
    if (!job_is_pending(job) || list_is_empty(&job->depending))
        return;
    if (job->rec.priority > 0)
        sched_sync(core, job);
    else
        (void) depend_check(core, job);
    depend_check_kill(core, job);
}

/* Those who wait for one target. The list is swept before and after: meanwhile others may come. */
static void target_look(struct core *core, uint64_t key, const struct depend_event *event) {
    struct depend_target *target = map_get(&core->depend_targets, key);
    if (target == NULL)
        return;
    target_sweep(core, key, target);
    size_t n = target->waiting.n;
    for (size_t i = 0; i < n; i++) {
        struct core_job *job = job_find(core, target->waiting.items[i]);
        if (job == NULL || !job_is_pending(job))
            continue;
        if (key == target_key(event->array_id, EACH_TASK) && job->rec.array_tasks != NULL)
            corr_task_changed(core, job, event->array_id, event->task);
        else
            look_at(core, job);
    }
    target_sweep(core, key, target);
    if (target->waiting.n == 0)
        target_free(core, key, target);
}

/* Many tasks at once: whatever waits for any of the array's. */
static void group_look(struct core *core, const struct depend_event *event) {
    vec(uint64_t) keys = {0};
    size_t at = 0;
    uint64_t key;
    while (map_next(&core->depend_targets, &at, &key) != NULL) {
        if ((uint32_t) (key >> 32) == event->array_id)
            vec_push(&keys, key);
    }
    vec_each (&keys, one)
        target_look(core, *one, event);
    vec_done(&keys);
}

/* Whether those who wait for the whole array can be concerned by one task of it: when all have
 * started or ended, or when it has failed. */
static bool concerns_all(const struct core_array *array, const struct core_job *job) {
    return array == NULL || job == NULL || array_open(array) == 0 || array->n[ARRAY_WAITS] == 0 ||
           (depend_has_ended(job) && job->rec.state != JOB_COMPLETED);
}

static void event_look(struct core *core, const struct depend_event *event) {
    struct core_job *job = job_find(core, event->job_id);
    if (event->itself) {
        if (job != NULL)
            look_at(core, job);
        return;
    }
    if (job != NULL)
        singleton_ended(core, job);
    if (event->array_id == 0) {
        target_look(core, target_key(event->job_id, UNSET32), event);
        return;
    }
    if (event->task == UNSET32) {
        group_look(core, event);
        return;
    }
    target_look(core, target_key(event->array_id, event->task), event);
    target_look(core, target_key(event->array_id, EACH_TASK), event);
    if (event->job_id != event->array_id)
        target_look(core, target_key(event->job_id, UNSET32), event);
    if (concerns_all(array_find(core, event->array_id), job))
        target_look(core, target_key(event->array_id, UNSET32), event);
}

/* Ends and starts that follow from it come behind. */
void depend_run(struct core *core) {
    if (core->depends_walking)
        return;
    core->depends_walking = true;
    for (size_t i = 0; i < core->depend_events.n; i++) {
        struct depend_event event = core->depend_events.items[i];
        event_look(core, &event);
    }
    vec_reset(&core->depend_events);
    core->depends_walking = false;
}
