/* SPDX-License-Identifier: Apache-2.0 */
/* Job arrays; array.h says how they are kept. */
#include "core/array.h"

#include <string.h>

#include "core/state.h"

/* ---- an array and its records ---- */

struct core_array *array_find(const struct core *core, uint32_t array_job_id) {
    return map_get(&core->arrays, array_job_id);
}

struct core_job *array_after(const struct core_array *array, const struct core_job *job) {
    if (array == NULL)
        return NULL;
    const struct list *next = job != NULL ? job->array_link.next : array->records.next;
    return next != &array->records ? list_entry(next, struct core_job, array_link) : NULL;
}

struct core_job *array_task(const struct core_array *array, uint32_t task) {
    if (array == NULL)
        return NULL;
    struct core_job *own = map_get(&array->tasks, task);
    for (size_t i = 0; own == NULL && i < array->groups.n; i++) {
        if (idset_contains(&array->groups.items[i]->tasks, task))
            return array->groups.items[i];
    }
    return own;
}

uint64_t array_open(const struct core_array *array) {
    return array->n[ARRAY_WAITS] + array->n[ARRAY_WAITS_AGAIN] + array->n[ARRAY_RUNS] +
           array->n[ARRAY_ENDS];
}

static struct core_array *array_new(struct core *core, uint32_t id) {
    struct core_array *array = zalloc(struct core_array);
    array->id = id;
    list_init(&array->records);
    list_init(&array->waiting);
    map_put(&core->arrays, id, array);
    return array;
}

static void array_free(struct core_array *array) {
    map_done(&array->tasks);
    vec_done(&array->groups);
    vec_done(&array->waiters);
    free(array);
}

void arrays_free(struct core *core) {
    size_t at = 0;
    uint64_t id;
    struct core_array *array;
    while ((array = map_next(&core->arrays, &at, &id)) != NULL)
        array_free(array);
    map_done(&core->arrays);
}

static enum array_standing standing(const struct job *rec) {
    if (rec->state == JOB_PENDING)
        return rec->restarts > 0 ? ARRAY_WAITS_AGAIN : ARRAY_WAITS;
    if (!job_state_is_final(rec->state))
        return ARRAY_RUNS;
    if (rec->flags & JOB_FLAG_COMPLETING)
        return ARRAY_ENDS;
    return rec->state == JOB_COMPLETED ? ARRAY_OK : ARRAY_FAILED;
}

/* Tasks count for MaxJobCount while they wait; what is left of them then is one record. */
static uint64_t weight_of(const struct core_job *job) {
    return job_is_pending(job) ? max_of(idset_count(&job->tasks), (uint64_t) 1) : 1;
}

void array_recount(struct core *core, struct core_job *job) {
    struct core_array *array = job->array;
    if (array == NULL)
        return;
    core->n_jobs -= job->weight;
    array->n[job->array_standing] -= job->weight;
    job->weight = (size_t) weight_of(job);
    job->array_standing = standing(&job->rec);
    array->n[job->array_standing] += job->weight;
    core->n_jobs += job->weight;
    if (!job_is_pending(job))
        list_remove(&job->array_wait);
    else if (list_is_empty(&job->array_wait))
        list_append(&array->waiting, &job->array_wait);
}

void array_started(struct core_job *job) {
    if (job->array != NULL)
        job->array->last_start = max_of(job->array->last_start, job->rec.start_time);
}

void array_join(struct core *core, struct core_job *job) {
    struct core_array *array = array_find(core, job->rec.array_job_id);
    if (array == NULL)
        array = array_new(core, job->rec.array_job_id);
    /* Behind the first, which stays so. */
    list_append(list_is_empty(&array->records) ? &array->records : array->records.next->next,
                &job->array_link);
    if (job->rec.array_task_id != UNSET32)
        map_put(&array->tasks, job->rec.array_task_id, job);
    else
        vec_push(&array->groups, job);
    array->past |= job->rec.array_past;
    job->array = array;
    job->array_standing = standing(&job->rec);
    array->n[job->array_standing] += job->weight;
    array_recount(core, job);
    if (job->array_standing != ARRAY_WAITS)
        array_started(job);
}

static void group_leave(struct core_array *array, const struct core_job *job) {
    for (size_t i = 0; i < array->groups.n; i++) {
        if (array->groups.items[i] == job) {
            vec_remove_swap(&array->groups, i);
            return;
        }
    }
}

/* ---- who waits for its end ---- */

/* As sbatch returns it. That of a task which was ended by a signal, was cancelled or ran out of
 * time is 1: whoever waits must not go on. */
static uint32_t exit_code(const struct core_job *job) {
    uint32_t status = job->rec.exit_status, code = (status >> 8) & 0xff;
    if (!job_state_is_final(job->rec.state))
        return 0;
    if ((status & 0x7f) != 0)
        return 1;
    return code == 0 && job->rec.state != JOB_COMPLETED ? 1 : code;
}

static bool is_over(const struct core_array *array) {
    return array->n[ARRAY_WAITS] + array->n[ARRAY_WAITS_AGAIN] + array->n[ARRAY_RUNS] == 0;
}

static void answer(struct core *core, const struct core_array *array,
                   const struct array_waiter *waiter) {
    uint32_t code = array->past_code;
    if (code == 0 && (array->past & ARRAY_PAST_FAILED)) /* before a restart of the controller */
        code = 1;
    array_each(array, job) code = max_of(code, exit_code(job));
    struct job_end end = {.job_id = array->id,
                          .state = code == 0 ? JOB_COMPLETED : JOB_FAILED,
                          .exit_status = code << 8};
    emit_reply(core, waiter->client, MSG_JOB_END, 1, waiter->seq, &end);
}

void array_wait(struct core *core, struct core_array *array, uint64_t client, uint32_t seq) {
    struct array_waiter waiter = {client, seq};
    if (is_over(array))
        answer(core, array, &waiter);
    else
        vec_push(&array->waiters, waiter);
}

void array_drop_client(struct core_array *array, uint64_t client) {
    for (size_t i = 0; array != NULL && i < array->waiters.n;) {
        if (array->waiters.items[i].client == client)
            vec_remove(&array->waiters, i);
        else
            i++;
    }
}

void array_answer(struct core *core, const struct core_job *ended) {
    struct core_array *array = ended->array;
    if (array == NULL || array->waiters.n == 0 || !is_over(array))
        return;
    vec_each (&array->waiters, waiter)
        answer(core, array, waiter);
    vec_reset(&array->waiters);
}

/* What it came to is still asked for: "afterok" of the whole array. */
static void keep_past(struct core *core, struct core_array *array, const struct core_job *job) {
    if (job->array_standing == ARRAY_OK)
        array->past |= ARRAY_PAST_OK;
    if (job->array_standing == ARRAY_FAILED)
        array->past |= ARRAY_PAST_FAILED;
    struct core_job *first = array_after(array, NULL);
    if (first->rec.array_past == array->past)
        return;
    first->rec.array_past = array->past;
    job_touch(core, first);
}

void array_leave(struct core *core, struct core_job *job) {
    struct core_array *array = job->array;
    list_remove(&job->array_link);
    list_remove(&job->array_wait);
    array->n[job->array_standing] -= job->weight;
    if (job->rec.array_task_id != UNSET32)
        map_remove(&array->tasks, job->rec.array_task_id);
    else
        group_leave(array, job);
    job->array = NULL;
    array->past_code = max_of(array->past_code, exit_code(job));
    if (list_is_empty(&array->records)) {
        map_remove(&core->arrays, array->id);
        array_free(array);
        return;
    }
    keep_past(core, array, job);
}

/* ---- tasks leave a group ---- */

static void set_task_text(struct core_job *group) {
    struct str out cleanup_str = STR_INIT;
    idset_print(&group->tasks, &out, 0);
    string_set(&group->rec.array_tasks, str_cstr(&out));
}

static void become_task(struct core *core, struct core_job *job, uint32_t task) {
    group_leave(job->array, job);
    map_put(&job->array->tasks, task, job);
    job->rec.array_task_id = task;
    string_set(&job->rec.array_tasks, NULL);
    idset_done(&job->tasks);
    job->tasks = (struct idset) IDSET_INIT;
    job_touch(core, job);
}

/* The only task that is left needs no list any more. */
static void become_last_task(struct core *core, struct core_job *group) {
    if (group->in_sched) { /* the planner knows it as an array */
        sched_job_remove(core->sched, group->rec.job_id);
        group->in_sched = false;
    }
    become_task(core, group, idset_min(&group->tasks));
    sched_sync(core, group);
}

/* A copy of the group's record, with an id of its own and without tasks yet. */
static struct core_job *record_apart(struct core *core, const struct core_job *group) {
    struct core_job *job = job_new(core, 0);
    record_done(&record_job, &job->rec);
    record_copy(&record_job, &job->rec, &group->rec);
    job->rec.job_id = job_take_id(core);
    job->rec.array_past = 0;
    string_set(&job->rec.array_tasks, NULL);
    job->script_id = group->script_id;
    depends_copy(job, group);
    return job;
}

/* Both are complete by now: `tasks` are no longer the group's. */
static void part_company(struct core *core, struct core_job *group, struct core_job *job) {
    set_task_text(group);
    limits_count(core, group);
    job_link(core, job);
    depends_index(core, job);
    job_touch(core, job);
    job_touch(core, group);
    if (idset_count(&group->tasks) == 1)
        become_last_task(core, group);
    else if (group->in_sched)
        sched_sync(core, group);
}

struct core_job *array_take(struct core *core, struct core_job *group, uint32_t task) {
    if (idset_count(&group->tasks) == 1) {
        become_last_task(core, group);
        return group;
    }
    struct core_job *job = record_apart(core, group);
    job->rec.array_task_id = task;
    idset_remove(&group->tasks, task);
    part_company(core, group, job);
    return job;
}

struct core_job *array_take_set(struct core *core, struct core_job *group,
                                const struct idset *tasks) {
    if (idset_count(tasks) == 1)
        return array_take(core, group, idset_min(tasks));
    struct core_job *job = record_apart(core, group);
    struct idset rest = IDSET_INIT;
    idset_divide(&group->tasks, tasks, &job->tasks, &rest);
    idset_done(&group->tasks);
    group->tasks = rest;
    set_task_text(job);
    part_company(core, group, job);
    return job;
}

struct core_job *array_split(struct core *core, struct core_job *group, uint32_t task) {
    struct core_job *job = array_take(core, group, task);
    sched_sync(core, job);
    job_arm(core, job);
    return job;
}

/* ---- %limit ---- */

uint32_t array_slots(const struct core_job *job) {
    if (job->rec.array_job_id == 0 || job->rec.array_limit == 0)
        return UINT32_MAX;
    uint64_t running = job->array != NULL ? job->array->n[ARRAY_RUNS] : 0;
    return job->rec.array_limit > running ? job->rec.array_limit - (uint32_t) running : 0;
}

void array_tasks_changed(struct core *core, struct core_job *any) {
    struct core_array *array = any->array;
    job_ptrs waiting = {0};
    if (array == NULL)
        return;
    list_each (&array->waiting, at) {
        struct core_job *job = list_entry(at, struct core_job, array_wait);
        if (job->rec.array_limit > 0)
            vec_push(&waiting, job);
    }
    vec_each (&waiting, at) {
        if (job_is_pending(*at))
            sched_sync(core, *at);
    }
    vec_done(&waiting);
}
