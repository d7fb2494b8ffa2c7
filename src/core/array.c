/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Job arrays. One record holds all unstarted tasks; a task gets a record of its own when it starts
 * or is treated apart (held, cancelled, requeued). The last unstarted task keeps the record and the
 * id of the array itself.
 */
#include <string.h>

#include "core/state.h"

void array_join(struct core *core, struct core_job *job) {
    struct core_job *first = map_get(&core->arrays, job->rec.array_job_id);
    job->array_next = NULL;
    if (first == NULL) {
        map_put(&core->arrays, job->rec.array_job_id, job);
        return;
    }
    /* Behind the first: the head of the chain stays, so that callers may walk while splitting. */
    job->array_next = first->array_next;
    first->array_next = job;
}

void array_leave(struct core *core, struct core_job *job) {
    struct core_job *first = map_get(&core->arrays, job->rec.array_job_id);
    if (first == job) {
        if (job->array_next != NULL)
            map_put(&core->arrays, job->rec.array_job_id, job->array_next);
        else
            map_remove(&core->arrays, job->rec.array_job_id);
        return;
    }
    for (struct core_job *at = first; at != NULL; at = at->array_next) {
        if (at->array_next == job) {
            at->array_next = job->array_next;
            return;
        }
    }
}

static uint32_t array_running(const struct core *core, uint32_t array_job_id) {
    uint32_t n = 0;
    for (struct core_job *job = map_get(&core->arrays, array_job_id); job != NULL;
         job = job->array_next) {
        if (job_has_nodes(job))
            n++;
    }
    return n;
}

uint32_t array_slots(const struct core *core, const struct core_job *job) {
    if (job->rec.array_job_id == 0 || job->rec.array_limit == 0)
        return UINT32_MAX;
    uint32_t running = array_running(core, job->rec.array_job_id);
    return job->rec.array_limit > running ? job->rec.array_limit - running : 0;
}

static void set_task_text(struct core_job *array) {
    struct str out cleanup_str = STR_INIT;
    idset_print(&array->tasks, &out, 0);
    string_set(&array->rec.array_tasks, str_cstr(&out));
}

static void become_task(struct core *core, struct core_job *job, uint32_t task) {
    job->rec.array_task_id = task;
    string_set(&job->rec.array_tasks, NULL);
    idset_done(&job->tasks);
    job->tasks = (struct idset) IDSET_INIT;
    job_touch(core, job);
}

/* The only task that is left needs no list any more. */
static void become_last_task(struct core *core, struct core_job *array) {
    if (array->in_sched) { /* the planner knows it as an array */
        sched_job_remove(core->sched, array->rec.job_id);
        array->in_sched = false;
    }
    become_task(core, array, idset_min(&array->tasks));
    sched_sync(core, array);
}

struct core_job *array_take(struct core *core, struct core_job *array, uint32_t task) {
    if (idset_count(&array->tasks) == 1) {
        become_last_task(core, array);
        return array;
    }
    struct core_job *job = job_new(core, 0);
    record_done(&record_job, &job->rec);
    record_copy(&record_job, &job->rec, &array->rec);
    job->rec.job_id = job_take_id(core);
    job->rec.array_task_id = task;
    string_set(&job->rec.array_tasks, NULL);
    job->script_id = array->script_id;
    job->depends_any = array->depends_any;
    job->n_depends = array->n_depends;
    if (array->n_depends > 0)
        job->depends = xmemdup(array->depends, array->n_depends * sizeof(struct depend));
    idset_remove(&array->tasks, task);
    core->n_jobs--; /* the task moves from the array's weight to a record of its own */
    set_task_text(array);
    job_link(core, job);
    if (!list_is_empty(&array->depending))
        list_append(&core->depending, &job->depending);
    job_touch(core, job);
    job_touch(core, array);
    if (idset_count(&array->tasks) == 1)
        become_last_task(core, array);
    else if (array->in_sched)
        sched_sync(core, array);
    return job;
}

struct core_job *array_split(struct core *core, struct core_job *array, uint32_t task) {
    struct core_job *job = array_take(core, array, task);
    sched_sync(core, job);
    job_arm(core, job);
    return job;
}

/* A slot of `%N` may have become free. */
void array_tasks_changed(struct core *core, struct core_job *any) {
    for (struct core_job *job = map_get(&core->arrays, any->rec.array_job_id); job != NULL;
         job = job->array_next) {
        if (job->rec.array_limit > 0 && job_is_pending(job))
            sched_sync(core, job);
    }
}
