/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that have left the controller, where a request needs them; see bygone.h. */
#include "core/bygone.h"

#include <string.h>

#include "core/state.h"

static void past_job_free(struct bygone_job *job) {
    vec_each (&job->ends, end)
        free(end->name);
    vec_done(&job->ends);
    idset_done(&job->tasks_ok);
    idset_done(&job->tasks_failed);
    free(job);
}

void bygone_done(struct bygone *bygone) {
    size_t at = 0;
    uint64_t id;
    struct bygone_job *job;
    while ((job = map_next(&bygone->jobs, &at, &id)) != NULL)
        past_job_free(job);
    map_done(&bygone->jobs);
}

void bygone_ask(struct bygone *bygone, const bygone_ids *ids) {
    vec_each (ids, id) {
        if (map_get(&bygone->jobs, *id) != NULL)
            continue;
        struct bygone_job *job = zalloc(struct bygone_job);
        job->id = *id;
        map_put(&bygone->jobs, *id, job);
    }
}

static void end_drop(struct bygone_job *bygone, uint32_t task) {
    for (size_t i = 0; i < bygone->ends.n; i++) {
        if (bygone->ends.items[i].task != task)
            continue;
        free(bygone->ends.items[i].name);
        vec_remove(&bygone->ends, i);
        return;
    }
}

/* A later run of the same task takes the place of an earlier one. */
static void task_add(struct bygone_job *bygone, uint32_t task, const struct job *job) {
    bool ok = job->state == JOB_COMPLETED;
    if (task == UNSET32) {
        bygone->ok = ok;
        bygone->failed = !ok;
    } else {
        (void) idset_remove(ok ? &bygone->tasks_failed : &bygone->tasks_ok, task);
        (void) idset_add(ok ? &bygone->tasks_ok : &bygone->tasks_failed, task);
        bygone->ok = bygone->tasks_ok.n > 0;
        bygone->failed = bygone->tasks_failed.n > 0;
    }
    end_drop(bygone, task);
    if (!ok && bygone->ends.n < BYGONE_ENDS_MAX) {
        struct bygone_end end = {.task = task,
                                 .state = job->state,
                                 .exit_status = job->exit_status,
                                 .name = xstrdup(job->name != NULL ? job->name : "")};
        vec_push(&bygone->ends, end);
    }
}

/* A range of tasks that never started: all of them have ended alike. */
static void range_add(struct bygone_job *bygone, const struct job *job) {
    struct idset tasks cleanup_idset = IDSET_INIT;
    uint32_t task = 0;
    if (idset_parse(&tasks, job->array_tasks, UINT32_MAX - 2, NULL, NULL) < 0)
        return;
    for (bool more = idset_next(&tasks, 0, &task); more; more = idset_next(&tasks, task + 1, &task))
        task_add(bygone, task, job);
}

static void run_add(struct bygone_job *bygone, bool is_array, const struct job *job) {
    if (bygone == NULL)
        return;
    bygone->found = true;
    bygone->is_array = is_array;
    bygone->start = max_of(bygone->start, job->start_time > 0 ? job->start_time : job->end_time);
    if (is_array && job->array_task_id == UNSET32 && job->array_tasks != NULL)
        range_add(bygone, job);
    else
        task_add(bygone, is_array ? job->array_task_id : UNSET32, job);
}

void bygone_add(struct bygone *bygone, const struct job *job) {
    if (!job_state_is_final(job->state))
        return;
    if (job->array_job_id != 0)
        run_add(map_get(&bygone->jobs, job->array_job_id), true, job);
    if (job->job_id != job->array_job_id) /* a task may be asked for by its own id */
        run_add(map_get(&bygone->jobs, job->job_id), false, job);
}

const struct bygone_job *bygone_find(const struct core *core, const struct depend *depend) {
    const struct bygone_job *bygone =
        core->bygone != NULL ? map_get(&core->bygone->jobs, depend->job_id) : NULL;
    if (bygone == NULL || !bygone->found)
        return NULL;
    bool has_ended = depend->task == UNSET32 || !bygone->is_array ||
                     idset_contains(&bygone->tasks_ok, depend->task) ||
                     idset_contains(&bygone->tasks_failed, depend->task);
    return has_ended ? bygone : NULL;
}

/* Which task is meant; UNSET32: all, or the job has none. */
static uint32_t task_meant(const struct core_job *job, const struct depend *depend) {
    return depend->kind == DEPEND_CORR && depend->task == UNSET32 ? job->rec.array_task_id
                                                                  : depend->task;
}

enum depend_state bygone_verdict(const struct core *core, const struct core_job *job,
                                 const struct depend *depend) {
    const struct bygone_job *bygone = bygone_find(core, depend);
    uint32_t task = task_meant(job, depend);
    if (bygone == NULL)
        return DEPEND_MET;
    bool failed = task == UNSET32 ? bygone->failed : idset_contains(&bygone->tasks_failed, task);
    switch (depend->kind) {
    case DEPEND_OK:
    case DEPEND_CORR:
        return failed ? DEPEND_FAILED : DEPEND_MET;
    case DEPEND_NOT_OK:
        return failed ? DEPEND_MET : DEPEND_FAILED;
    default:
        return DEPEND_MET;
    }
}

static const struct bygone_end *end_of(const struct bygone_job *bygone, uint32_t task) {
    vec_each (&bygone->ends, end) {
        if (task == UNSET32 || end->task == task)
            return end;
    }
    return NULL;
}

bool bygone_print_end(const struct core *core, const struct core_job *job,
                      const struct depend *depend, struct str *out) {
    const struct bygone_job *bygone = bygone_find(core, depend);
    uint32_t task = task_meant(job, depend);
    if (bygone == NULL)
        return false;
    const struct bygone_end *end = end_of(bygone, task);
    if (end == NULL) { /* it has succeeded, or so many have failed that it is not known singly */
        bool ok = depend->kind == DEPEND_NOT_OK;
        str_printf(out, ok ? ": job %u ended COMPLETED" : ": job %u did not end so", bygone->id);
        return true;
    }
    str_printf(out, ": job %u", bygone->id);
    if (end->task != UNSET32)
        str_printf(out, "_%u", end->task);
    str_printf(out, " (%s) ended %s, exit code ", end->name,
               names_text(&names_job_state, end->state));
    exit_status_print(end->exit_status, out);
    return true;
}

/* ---- for the shell ---- */

void core_asks_bygone(struct core *core, uint16_t type, const void *body, bygone_ids *ret) {
    const struct submit *submit = body;
    const struct update *update = body;
    const struct crontab_set *crontab = body;
    if (type == MSG_SUBMIT && submit->job != NULL) {
        depends_unknown(core, submit->job->dependency, ret);
        for (uint32_t i = 0; i < submit->components.n; i++)
            depends_unknown(core, submit->components.items[i].dependency, ret);
    }
    for (uint32_t i = 0; type == MSG_CRONTAB_SET && i < crontab->entries.n; i++) {
        if (crontab->entries.items[i].job != NULL)
            depends_unknown(core, crontab->entries.items[i].job->dependency, ret);
    }
    if (type != MSG_UPDATE || !str_equal(update->entity, "job"))
        return;
    for (uint32_t i = 0; i < update->changes.n; i++) {
        if (str_equal_nocase(update->changes.items[i].key, "Dependency"))
            depends_unknown(core, update->changes.items[i].value, ret);
    }
}

void core_give_bygone(struct core *core, const struct bygone *bygone) {
    core->bygone = bygone;
}
