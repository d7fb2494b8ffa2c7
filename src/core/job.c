/* SPDX-License-Identifier: Apache-2.0 */
/* Job records: making, finding, selecting, writing and forgetting them. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/state.h"
#include "model/conf.h"

struct core_job *job_find(const struct core *core, uint32_t job_id) {
    return map_get(&core->jobs, job_id);
}

struct core_job *job_new(struct core *core, uint32_t job_id) {
    struct core_job *job = zalloc(struct core_job);
    record_init(&record_job, &job->rec);
    job->rec.job_id = job_id;
    list_init(&job->dirty);
    list_init(&job->depending);
    list_init(&job->array_link);
    list_init(&job->array_wait);
    list_init(&job->placed);
    list_init(&job->steps);
    list_init(&job->step_waits);
    return job;
}

static void script_user_add(struct core *core, uint64_t script_id) {
    uintptr_t n = (uintptr_t) map_get(&core->script_users, script_id);
    map_put(&core->script_users, script_id, (void *) (n + 1));
}

static void script_user_drop(struct core *core, uint64_t script_id) {
    uintptr_t n = (uintptr_t) map_get(&core->script_users, script_id);
    if (n > 1) {
        map_put(&core->script_users, script_id, (void *) (n - 1));
        return;
    }
    map_remove(&core->script_users, script_id);
    emit_delete(core, STORE_JOB_SCRIPT, script_id);
}

void job_link(struct core *core, struct core_job *job) {
    map_put(&core->jobs, job->rec.job_id, job);
    job->order_at = core->job_order.n;
    vec_push(&core->job_order, job);
    if (job->script_id != 0)
        script_user_add(core, job->script_id);
    job->weight = 1;
    core->n_jobs++;
    if (job->rec.array_job_id != 0)
        array_join(core, job);
    het_join(core, job);
    if (job->rec.allocation.n > 0)
        list_append(&core->placed, &job->placed);
    singleton_joins(core, job);
    limits_count(core, job);
}

void job_touch(struct core *core, struct core_job *job) {
    job->rec.generation = ++core->generation;
    array_recount(core, job);
    if (list_is_empty(&job->dirty))
        list_append(&core->dirty_jobs, &job->dirty);
}

/* Ids go round, as configured, and skip those that are taken. */
uint32_t job_take_id(struct core *core) {
    uint32_t id = core->meta.next_job_id;
    do {
        if (id < core->settings.first_job_id || id > core->settings.max_job_id)
            id = core->settings.first_job_id;
        if (map_get(&core->jobs, id) == NULL)
            break;
        id++;
    } while (true);
    core->meta.next_job_id = id + 1;
    core->meta_dirty = true;
    return id;
}

void job_history_record(const struct core *core, const struct core_job *job, struct job *run,
                        struct acct_job *ret) {
    const struct qos *qos = book_qos_find(&core->book, job->rec.qos);
    record_init(&record_acct_job, ret);
    job_run_of_size(&job->rec, run);
    if (run->assoc_id == 0) { /* it has not started */
        const struct assoc *assoc = assoc_for_job(core, &job->rec);
        run->assoc_id = assoc != NULL ? assoc->id : 0;
    }
    ret->job = run;
    ret->qos_id = qos != NULL ? qos->id : 0;
}

static void write_history(struct core *core, struct core_job *job, const struct step *batch,
                          enum history_kind kind) {
    struct acct_job record;
    bool keeps_steps = !(core->settings.enforce & CONF_ENFORCE_NOSTEPS);
    if (core->settings.enforce & CONF_ENFORCE_NOJOBS)
        return;
    struct job run;
    job_history_record(core, job, &run, &record);
    record.superseded = kind == HISTORY_SUPERSEDED;
    vec(struct step) steps = {0};
    if (batch != NULL && keeps_steps)
        vec_push(&steps, *batch);
    list_each (&job->steps, at) {
        const struct core_step *step = list_entry(at, struct core_step, link);
        if (!keeps_steps)
            break;
        if (!(job->rec.flags & JOB_FLAG_RESIZING) || job_state_is_final(step->rec.state))
            vec_push(&steps, step->rec);
    }
    record.steps.items = steps.items;
    record.steps.n = (uint32_t) steps.n;
    struct effect *effect = emit(core, EFFECT_HISTORY);
    effect->body = effect_encode(core, &record_acct_job, &record);
    effect->history = (struct effect_history) {
        .job_id = job->rec.job_id,
        /* whole arrays and jobs are asked for by it */
        .array_id = job->rec.array_job_id != 0 ? job->rec.array_job_id : job->rec.het_job_id,
        .uid = job->rec.uid,
        .state = job->rec.state,
        .submit = job->rec.submit_time,
        .start = run.start_time,
        .end = job->rec.end_time,
        .kind = kind};
    vec_done(&steps);
}

void job_write_run(struct core *core, struct core_job *job, uint32_t state) {
    const uint32_t saved_state = job->rec.state, saved_flags = job->rec.flags;
    struct step batch;
    bool has_batch = step_find(job, STEP_BATCH) == NULL && step_batch_running(job, &batch);
    job->rec.state = state;
    if (state == JOB_CANCELLED) /* somebody wants it to run again, nobody has cancelled it */
        job->rec.flags |= JOB_FLAG_REQUEUED;
    batch.state = state;
    batch.end_time = job->rec.end_time;
    batch.exit_status = state == JOB_CANCELLED || state == JOB_PREEMPTED ? SIGTERM : 0;
    write_history(core, job, has_batch ? &batch : NULL, HISTORY_SUPERSEDED);
    job->rec.state = saved_state;
    job->rec.flags = saved_flags;
}

void job_write_resized(struct core *core, struct core_job *job) {
    const uint32_t saved_state = job->rec.state;
    job->rec.state = JOB_CANCELLED; /* one that is final; shown is the flag */
    job->rec.flags |= JOB_FLAG_RESIZING;
    write_history(core, job, NULL, HISTORY_RUN);
    job->rec.state = saved_state;
    job->rec.flags &= ~(uint32_t) JOB_FLAG_RESIZING;
    list_each (&job->steps, at) {
        struct core_step *step = list_entry(at, struct core_step, link);
        if (job_state_is_final(step->rec.state))
            step_forget(core, step);
    }
}

void job_tell_database(struct core *core, struct core_job *job) {
    if (core->settings.tells_database)
        write_history(core, job, NULL, HISTORY_OPEN);
}

void job_free(struct core_job *job) {
    list_remove(&job->depending);
    record_done(&record_job, &job->rec);
    idset_done(&job->tasks);
    free(job->depends);
    vec_done(&job->waiters);
    record_free(&record_step_request, job->first_step);
    strs_done(&job->told);
    free(job);
}

/* Gaps are closed when they are half of the array. */
static void order_leave(struct core *core, struct core_job *job) {
    core->job_order.items[job->order_at] = NULL;
    if (++core->job_order_gaps * 2 <= core->job_order.n)
        return;
    size_t n = 0, swept = 0, aged = 0;
    vec_each (&core->job_order, at) {
        struct core_job *other = *at;
        if (other == NULL)
            continue;
        swept += other->order_at < core->sweep_at;
        aged += other->order_at < core->age_at;
        core->job_order.items[n] = other;
        other->order_at = n++;
    }
    /* Whoever goes over the jobs in slices leaves nobody out. */
    core->sweep_at = swept;
    core->age_at = aged;
    core->job_order.n = n;
    core->job_order_gaps = 0;
}

static void job_unlink(struct core *core, struct core_job *job) {
    core->n_jobs -= job->weight;
    limits_uncount(job);
    limits_age_leave(core, job);
    singleton_leaves(core, job);
    heap_remove(&core->timers, &job->timer);
    list_remove(&job->dirty);
    order_leave(core, job);
    list_remove(&job->depending);
    list_remove(&job->placed);
    alloc_forget(core, job);
    if (job->in_sched)
        sched_job_remove(core->sched, job->rec.job_id);
    if (job->rec.array_job_id != 0)
        array_leave(core, job);
    het_leave(core, job);
    map_remove(&core->jobs, job->rec.job_id);
}

void job_forget(struct core *core, struct core_job *job) {
    write_history(core, job, NULL, HISTORY_RUN);
    job_unlink(core, job);
    step_forget_all(core, job);
    if (job->script_id != 0)
        script_user_drop(core, job->script_id);
    if (job->stored)
        emit_delete(core, STORE_JOB, job->rec.job_id);
    job_free(job);
}

void job_free_all(struct core *core) {
    vec_each (&core->job_order, at) {
        struct core_job *job = *at;
        if (job == NULL)
            continue;
        list_each (&job->steps, step_at)
            step_free(list_entry(step_at, struct core_step, link));
        list_each (&job->step_waits, wait_at)
            step_wait_free(list_entry(wait_at, struct step_wait, link));
        job_free(job);
    }
}

const char *job_display_id(struct core *core, const struct core_job *job) {
    struct str out cleanup_str = STR_INIT;
    job_id_print(&job->rec, 0, &out);
    return arena_strndup(&core->out->memory, str_cstr(&out), out.length);
}

bool job_user_may(const struct core *core, const struct core_job *job, uint32_t uid) {
    return uid == job->rec.uid || core_is_admin(core, uid);
}

/* ---- selection by id text ---- */

/* The group's unstarted tasks that are asked for, apart from the others when the asker may have it
 * so: a few with records of their own, many with one record; else the group as it is. What a user
 * writes may reach to 2^32. */
static bool select_unstarted(struct core *core, struct core_job *group, const struct idset *wanted,
                             const struct core_user *splitter, job_ptrs *ret) {
    struct idset tasks cleanup_idset = IDSET_INIT, rest cleanup_idset = IDSET_INIT;
    bool split = splitter != NULL && job_user_may(core, group, splitter->uid);
    uint32_t task = 0;
    idset_divide(&group->tasks, wanted, &tasks, &rest);
    if (tasks.n == 0)
        return false;
    if (!split || (rest.n == 0 && idset_count(&tasks) > ARRAY_APART_MAX)) {
        vec_push(ret, group);
        return true;
    }
    if (idset_count(&tasks) > ARRAY_APART_MAX) {
        struct core_job *apart = array_take_set(core, group, &tasks);
        sched_sync(core, apart);
        job_arm(core, apart);
        vec_push(ret, apart);
        return true;
    }
    for (bool more = idset_next(&tasks, 0, &task); more;
         more = idset_next(&tasks, task + 1, &task)) {
        /* The last task left takes over the group's record by itself. */
        bool own = group->rec.array_task_id == task;
        vec_push(ret, own ? group : array_split(core, group, task));
    }
    return true;
}

int job_select_tasks(struct core *core, uint32_t array_id, const struct idset *tasks,
                     const struct core_user *splitter, job_ptrs *ret) {
    job_ptrs records = {0};
    int result = -ERR_INVALID_JOB_ID;
    const struct core_array *array = array_find(core, array_id);
    if (array != NULL && idset_count(tasks) == 1) {
        /* No walk over its records for each of many single tasks. */
        struct core_job *record = array_task(array, idset_min(tasks));
        if (record != NULL)
            vec_push(&records, record);
    } else {
        array_each(array, job) vec_push(&records, job);
    }
    vec_each (&records, at) {
        struct core_job *job = *at;
        if (job->rec.array_task_id != UNSET32) {
            if (idset_contains(tasks, job->rec.array_task_id)) {
                vec_push(ret, job);
                result = 0;
            }
        } else if (select_unstarted(core, job, tasks, splitter, ret)) {
            result = 0;
        }
    }
    vec_done(&records);
    return result;
}

/* "[1-5]", "7", "1,3" behind the underscore. */
static int select_written(struct core *core, uint32_t array_id, const char *text,
                          const struct core_user *splitter, job_ptrs *ret) {
    struct idset set cleanup_idset = IDSET_INIT;
    if (idset_parse(&set, text, UINT32_MAX - 2, NULL, NULL) < 0)
        return -ERR_INVALID_JOB_ID;
    return job_select_tasks(core, array_id, &set, splitter, ret);
}

int job_select_number(const struct core *core, uint32_t job_id, job_ptrs *ret) {
    if (het_select(core, job_id, NULL, ret))
        return 0;
    const struct core_array *array = array_find(core, job_id);
    if (array != NULL) {
        array_each(array, job) vec_push(ret, job);
        return 0;
    }
    struct core_job *job = job_find(core, job_id);
    if (job == NULL)
        return -ERR_INVALID_JOB_ID;
    vec_push(ret, job);
    return 0;
}

int job_select_id(struct core *core, const char *id, const struct core_user *splitter,
                  job_ptrs *ret) {
    const char *underscore = strchr(id, '_'), *plus = strchr(id, '+');
    char number_text[16];
    size_t length = strcspn(id, "_+");
    uint64_t number;
    if (length == 0 || length >= sizeof(number_text))
        return -ERR_INVALID_JOB_ID;
    memcpy(number_text, id, length);
    number_text[length] = '\0';
    if (!str_to_u64(number_text, &number) || number == 0 || number > UINT32_MAX)
        return -ERR_INVALID_JOB_ID;
    if (het_select(core, (uint32_t) number, plus != NULL ? plus + 1 : NULL, ret))
        return 0;
    if (plus != NULL)
        return -ERR_INVALID_JOB_ID;
    if (underscore != NULL && !str_equal(underscore, "_*"))
        return select_written(core, (uint32_t) number, underscore + 1, splitter, ret);
    return job_select_number(core, (uint32_t) number, ret);
}

/* ---- selection by filters ---- */

struct filter_state {
    struct core *core;
    const struct job_select *select;
    struct smap node_names;
};

/* True when one of the job's partitions (a list while it waits) is one of those asked for. */
static bool partition_matches(const struct core_job *job, const char *wanted) {
    words_each (job->rec.partition, ",", word) {
        if (str_has_word(wanted, word, ","))
            return true;
    }
    return false;
}

static bool node_matches(const struct filter_state *state, const struct core_job *job) {
    for (uint32_t i = 0; i < job->rec.allocation.n; i++) {
        if (smap_get(&state->node_names, job->rec.allocation.items[i].name) != NULL)
            return true;
    }
    return false;
}

static bool job_matches(const struct filter_state *state, const struct core_job *job) {
    const struct job_select *s = state->select;
    if (s->uid != UNSET32 && job->rec.uid != s->uid)
        return false;
    if (s->states != 0 && !((s->states >> job->rec.state) & 1))
        return false;
    if (s->partition != NULL && !partition_matches(job, s->partition))
        return false;
    if (s->account != NULL && !str_has_word(s->account, job->rec.account, ","))
        return false;
    if (s->qos != NULL && !str_has_word(s->qos, job->rec.qos, ","))
        return false;
    if (s->name != NULL && !str_has_word(s->name, job->rec.name, ","))
        return false;
    if (s->reservation != NULL && !str_has_word(s->reservation, job->rec.reservation, ","))
        return false;
    if (s->wckey != NULL && !str_has_word(s->wckey, job->rec.wckey, ","))
        return false;
    return s->nodelist == NULL || node_matches(state, job);
}

static void select_all_live(struct filter_state *state, job_ptrs *ret) {
    jobs_each (state->core, job) {
        if (!job_state_is_final(job->rec.state) && job_matches(state, job))
            vec_push(ret, job);
    }
}

/* Is any of it meant? Tasks get no records of their own for nothing. */
static bool any_matches(struct filter_state *state, const char *id) {
    job_ptrs found = {0};
    bool any = false;
    if (job_select_id(state->core, id, NULL, &found) < 0)
        any = true; /* told by whoever selects */
    vec_each (&found, job)
        any |= job_matches(state, *job);
    vec_done(&found);
    return any;
}

void job_select(struct core *core, const struct job_select *select, job_ptrs *ret,
                struct job_results *errors, const struct core_user *splitter) {
    struct filter_state state = {core, select, SMAP_INIT};
    if (select->nodelist != NULL) {
        uint32_t *nodes;
        size_t n;
        if (nodes_resolve(core, select->nodelist, &core->out->memory, &nodes, &n, NULL) == 0) {
            for (size_t i = 0; i < n; i++)
                smap_put(&state.node_names, core->nodes[nodes[i]].rec.name, core);
        }
    }
    if (select->ids.n == 0)
        select_all_live(&state, ret);
    for (uint32_t i = 0; i < select->ids.n; i++) {
        job_ptrs found = {0};
        if (!any_matches(&state, select->ids.items[i]))
            continue;
        if (job_select_id(core, select->ids.items[i], splitter, &found) < 0) {
            results_add(core, errors, select->ids.items[i], 0, -ERR_INVALID_JOB_ID, NULL);
        } else {
            vec_each (&found, job) {
                if (job_matches(&state, *job))
                    vec_push(ret, *job);
            }
        }
        vec_done(&found);
    }
    smap_done(&state.node_names);
}
