/* SPDX-License-Identifier: Apache-2.0 */
/* The clock runs ahead in a second view of the planner: see forecast.h. */
#include "core/forecast_internal.h"

#include <string.h>

/* Runs of array tasks have no record yet: their numbers begin where no job id is. */
#define FIRST_TASK_RUN 0x80000000u
/* What a pass costs besides its candidates: the merge of the shapes. */
#define PASS_WORK 16

static void *as_pointer(int64_t value) {
    return (void *) (intptr_t) value;
}

static void array_count(struct map *running, uint32_t array, int64_t change) {
    int64_t n = forecast_number(running, array) + change;
    if (n > 0)
        map_put(running, array, as_pointer(n));
    else
        map_remove(running, array);
}

/* ---- how long jobs run ---- */

/* The mean of a user's last two jobs that have ended and are still known. */
static void habits_learn(struct forecast *f) {
    const struct core *core = f->core;
    jobs_each (core, job) {
        if (job->rec.start_time <= 0 ||
            (job->rec.state != JOB_COMPLETED && job->rec.state != JOB_FAILED))
            continue;
        int64_t seconds = max_of(job->rec.end_time - job->rec.start_time, (int64_t) 1);
        int64_t before = forecast_number(&f->habits, (uint64_t) job->rec.uid + 1);
        map_put(&f->habits, (uint64_t) job->rec.uid + 1,
                as_pointer(before > 0 ? (before + seconds + 1) / 2 : seconds));
    }
}

static int64_t run_end(const struct forecast *f, uint32_t uid, int64_t start, int64_t limit_end) {
    int64_t habit = f->predicted ? forecast_number(&f->habits, (uint64_t) uid + 1) : 0;
    if (habit > 0 && start + habit > f->now && start + habit < limit_end)
        return start + habit;
    return limit_end;
}

static void run_watch(struct forecast *f, uint32_t run, uint32_t record, uint32_t array,
                      int64_t end) {
    if (array != 0)
        array_count(&f->array_running, array, 1);
    if (end == SCHED_FOREVER)
        return;
    struct ending *ending = zalloc(struct ending);
    ending->run = run;
    ending->record = record;
    ending->array = array;
    heap_push(&f->ends, &ending->timer, end, run);
    if (run != 0)
        map_put(&f->ending_of, run, ending);
}

/* ---- taking the state over ---- */

/* What happens to it when it is preempted and does not only stand still. */
static bool requeues(struct core *core, const struct core_job *job) {
    int64_t grace, exempt;
    return job->rec.kind == JOB_KIND_BATCH && job->rec.requeue == TRI_YES &&
           preempt_mode_of(core, job, &grace, &exempt) == PREEMPT_REQUEUE;
}

static void take_run(struct forecast *f, struct core_job *job) {
    struct sched_alloc *allocs = xcalloc(job_n_entries(&job->rec) + 1, sizeof(*allocs));
    size_t n = 0;
    uint32_t partition = 0;
    for (uint32_t i = 0; i < job_n_entries(&job->rec); i++) {
        if (!job_entry(&job->rec, i)->released)
            alloc_from_entry(f->core, job_entry(&job->rec, i), &allocs[n++]);
    }
    (void) partition_find(f->core, job->rec.partition, &partition);
    if (n > 0) {
        sched_sync_run(f->core, job, partition, allocs, n);
        if (job->rec.cpus_given)
            sched_run_suspend(f->sched, job->rec.job_id, true);
        int64_t end = job->rec.end_time > 0 ? job->rec.end_time : SCHED_FOREVER;
        if (end != SCHED_FOREVER && job_has_nodes(job))
            end = run_end(f, job->rec.uid, job->rec.start_time, end);
        /* One that is past its end is expected to leave in the next second. */
        run_watch(f, job->rec.job_id, job->rec.job_id,
                  job_has_nodes(job) ? job->rec.array_job_id : 0, max_of(end, f->now + 1));
        struct ending *ending = map_get(&f->ending_of, job->rec.job_id);
        if (ending != NULL && job->rec.preempt_end > 0)
            ending->requeue = requeues(f->core, job);
    }
    free(allocs);
}

static uint32_t slots_of(const struct forecast *f, const struct waiting *w) {
    if (w->array == 0 || w->array_limit == 0)
        return UINT32_MAX;
    int64_t running = forecast_number(&f->array_running, w->array);
    return running < w->array_limit ? w->array_limit - (uint32_t) running : 0;
}

/* In the view as far as the array's limit lets it. */
static void waiting_show(struct forecast *f, struct waiting *w) {
    struct sched_job_spec spec = *w->spec;
    spec.n_tasks_of_array = w->n_tasks;
    spec.max_starts = slots_of(f, w);
    spec.preempting = preempt_waits(f->core, spec.job_id);
    limits_show(f->core, f->sched);
    if (spec.max_starts > 0 && w->n_tasks > 0) {
        sched_job_add(f->sched, &spec);
        w->in_view = true;
    } else if (w->in_view) {
        sched_job_remove(f->sched, spec.job_id);
        w->in_view = false;
    }
}

static struct waiting *waiting_new(struct forecast *f, uint32_t id) {
    struct waiting *w = zalloc(struct waiting);
    w->n_tasks = 1;
    map_put(&f->waiting, id, w);
    return w;
}

static void waiting_free(struct waiting *w) {
    if (w != NULL && w->is_own)
        job_spec_done(&w->own);
    free(w);
}

static void note_array(struct waiting *w, const struct core_job *job) {
    w->n_tasks = job->rec.array_tasks != NULL ? (uint32_t) idset_count(&job->tasks) : 1;
    w->array = job->rec.array_job_id;
    w->array_limit = job->rec.array_limit;
}

void forecast_take_waiting(struct forecast *f, const struct core_job *job) {
    struct waiting *w = waiting_new(f, job->rec.job_id);
    w->is_own = true;
    if (job_spec_build(f->core, &job->rec, &w->own, NULL) < 0)
        return; /* waits for good: what it names has gone */
    w->spec = &w->own.sched;
    note_array(w, job);
    waiting_show(f, w);
}

static bool takes_part(const struct core_job *job) {
    return job_is_pending(job) && job->rec.flags == 0 && job->rec.priority > 0 &&
           (job->in_sched || job->rec.reason == REASON_ARRAY_TASK_LIMIT);
}

static void take_jobs(struct forecast *f, uint32_t without) {
    struct core *core = f->core;
    uint32_t n = 0;
    jobs_each (core, job) {
        if (job_has_nodes(job) || (job->rec.flags & JOB_FLAG_COMPLETING))
            take_run(f, job);
    }
    jobs_each (core, job) {
        if (job->rec.job_id == without || !takes_part(job))
            continue;
        if (n++ == FORECAST_RECORDS) {
            f->too_many = true;
            break;
        }
        forecast_take_waiting(f, job);
    }
    f->work += n;
    list_each (&core->depending, at) {
        const struct core_job *job = list_entry(at, struct core_job, depending);
        if (job->rec.job_id != without && job_is_pending(job) && job->rec.priority > 0)
            vec_push(&f->dependents, ((struct dependent) {job, NULL, false, false}));
    }
}

struct forecast *forecast_new(struct core *core, const struct forecast_options *options) {
    struct forecast *f = zalloc(struct forecast);
    struct sched *kept = core->sched;
    f->core = core;
    f->now = core->now;
    f->next_run = FIRST_TASK_RUN;
    f->work_max = options->work > 0 ? options->work : FORECAST_WORK;
    f->predicted = options->predicted;
    f->until = options->until > 0 ? options->until : SCHED_FOREVER;
    if (f->predicted)
        habits_learn(f);
    /* The core describes itself to whichever view it has. */
    core->sched = NULL;
    sched_describe(core);
    f->sched = core->sched;
    take_jobs(f, options->without);
    core->sched = kept;
    sched_guard_at_most(f->sched, FORECAST_PLANS);
    sched_take_plans(f->sched, kept, options->without);
    return f;
}

void forecast_free(struct forecast *f) {
    size_t at = 0;
    uint64_t key;
    struct waiting *w;
    if (f == NULL)
        return;
    sched_free(f->sched);
    while ((w = map_next(&f->waiting, &at, &key)) != NULL)
        waiting_free(w);
    for (struct heap_node *end; (end = heap_pop(&f->ends)) != NULL;)
        free(container_of(end, struct ending, timer));
    vec_each (&f->due, ending)
        free(*ending);
    vec_done(&f->due);
    heap_done(&f->ends);
    map_done(&f->waiting);
    map_done(&f->ending_of);
    forecast_depends_free(f);
    map_done(&f->array_running);
    map_done(&f->started);
    map_done(&f->ended);
    map_done(&f->habits);
    free(f);
}

void forecast_take_form(struct forecast *f, const struct sched_job_spec *spec,
                        const struct core_job *job) {
    waiting_free(map_remove(&f->waiting, spec->job_id));
    struct waiting *w = waiting_new(f, spec->job_id);
    w->spec = spec;
    note_array(w, job);
    waiting_show(f, w);
}

void forecast_add(struct forecast *f, const struct sched_job_spec *spec,
                  const struct core_job *job) {
    if (job->n_depends > 0)
        vec_push(&f->dependents, ((struct dependent) {job, spec, true, false}));
    else
        forecast_take_form(f, spec, job);
}

/* ---- time ---- */

/* It was preempted and is to run again; false: that cannot be. */
static bool wait_again(struct forecast *f, uint32_t record, struct waiting *w) {
    const struct core_job *job = job_find(f->core, record);
    if (w == NULL && job != NULL && job->rec.priority > 0) {
        forecast_take_waiting(f, job);
        return true;
    }
    if (w == NULL || w->spec == NULL)
        return false;
    w->n_tasks++;
    waiting_show(f, w);
    return true;
}

static void end_one(struct forecast *f, const struct ending *ending) {
    struct waiting *w = map_get(&f->waiting, ending->record);
    if (map_get(&f->ending_of, ending->run) == ending)
        map_remove(&f->ending_of, ending->run);
    if (w != NULL && w->n_running > 0)
        w->n_running--;
    if (!ending->requeue && (w == NULL || (w->n_running == 0 && w->n_tasks == 0)))
        map_put(&f->ended, ending->record, as_pointer(f->now));
}

static void clean_one(struct forecast *f, const struct ending *ending) {
    struct waiting *w = map_get(&f->waiting, ending->record);
    sched_run_remove(f->sched, ending->run);
    if (w != NULL && ending->run == ending->record)
        w->own_run = false;
    if (ending->requeue && !wait_again(f, ending->record, w))
        map_put(&f->ended, ending->record, as_pointer(f->now));
}

/* Tasks of an array at its limit; true when there are any. */
static bool slots_offer(struct forecast *f, uint32_t array) {
    bool any = false;
    array_each(array_find(f->core, array), job) {
        struct waiting *w = map_get(&f->waiting, job->rec.job_id);
        if (w == NULL || w->spec == NULL || w->array_limit == 0 || w->n_tasks == 0)
            continue;
        waiting_show(f, w);
        any = true;
    }
    return any;
}

/* Whose time has come. Their nodes are free a moment later, when all is clean there; the places in
 * the limits of their arrays are free at once: true when a pass is due before. */
static bool ends_pop(struct forecast *f) {
    bool offered = false;
    struct heap_node *next;
    vec_reset(&f->due);
    while ((next = heap_min(&f->ends)) != NULL && next->key <= f->now) {
        struct ending *ending = container_of(heap_pop(&f->ends), struct ending, timer);
        vec_push(&f->due, ending);
        end_one(f, ending);
        if (ending->array == 0)
            continue;
        array_count(&f->array_running, ending->array, -1);
        offered |= slots_offer(f, ending->array);
    }
    return offered;
}

static void ends_finish(struct forecast *f) {
    vec_each (&f->due, ending) {
        clean_one(f, *ending);
        free(*ending);
    }
    vec_reset(&f->due);
}

/* Those that start in this forecast may be preempted in it. */
static void mark_victim(struct forecast *f, const struct sched_start *start, uint32_t run) {
    struct core *core = f->core;
    struct sched *kept = core->sched;
    const struct core_job *job = job_find(core, start->job_id);
    if (job == NULL)
        return;
    struct core_job form = *job; /* its members are borrowed */
    form.rec.job_id = run;
    form.rec.partition = core->partitions[start->partition].rec.name;
    form.rec.start_time = f->now;
    core->sched = f->sched;
    preempt_sync_run(core, &form);
    core->sched = kept;
}

static void start_one(struct forecast *f, const struct sched_start *start) {
    struct waiting *w = map_get(&f->waiting, start->job_id);
    const struct sched_job_spec *spec = w->spec;
    if (slots_of(f, w) == 0) {
        waiting_show(f, w);
        return;
    }
    bool last = --w->n_tasks == 0;
    if (w->n_tasks <= 1) { /* the last task of an array is a job like any other */
        sched_job_remove(f->sched, start->job_id);
        w->in_view = false;
    }
    uint32_t run = last && !w->own_run ? start->job_id : f->next_run++;
    w->own_run |= run == start->job_id;
    int64_t end = start->limit == SCHED_FOREVER ? SCHED_FOREVER : f->now + start->limit;
    w->n_running++;
    if (last)
        map_put(&f->started, start->job_id, as_pointer(f->now));
    sched_run_add(f->sched, run, start->partition, spec->exclusive, spec->uid, f->now, end,
                  start->allocs, start->n_allocs, spec->license_ids, spec->license_counts,
                  spec->n_licenses);
    sched_run_share(f->sched, run, spec->overlap_user, spec->oversubscribe);
    sched_run_reserve(f->sched, run, start->reservation);
    for (size_t p = 0; spec->terms != NULL && p < spec->n_partitions; p++) {
        if (spec->partitions[p] == start->partition)
            sched_run_budgets(f->sched, run, spec->terms[p].uses, spec->terms[p].n_uses);
    }
    mark_victim(f, start, run);
    run_watch(f, run, start->job_id, w->array, run_end(f, spec->uid, f->now, end));
    struct ending *ending = map_get(&f->ending_of, run);
    if (ending != NULL)
        ending->partition = start->partition + 1;
    if (!last)
        waiting_show(f, w);
}

static void answer_start(const struct forecast *f, const struct sched_start *start,
                         struct arena *memory, struct forecast_start *ret) {
    struct hostlist names cleanup_hostlist = HOSTLIST_INIT;
    struct str folded cleanup_str = STR_INIT;
    for (size_t i = 0; i < start->n_allocs; i++)
        hostlist_push(&names, f->core->nodes[start->allocs[i].node].rec.name);
    hostlist_fold(&names, &folded);
    ret->known = true;
    ret->exact = !f->cut && !f->preempted;
    ret->time = f->now;
    ret->limit = start->limit;
    ret->partition = start->partition;
    ret->n_cpus = start->n_cpus;
    ret->nodes = arena_strndup(memory, str_cstr(&folded), folded.length);
}

/* The run ends earlier than it would, or than never. */
static void run_cut(struct forecast *f, uint32_t run, int64_t end, bool requeue) {
    struct ending *ending = map_get(&f->ending_of, run);
    sched_run_leaving(f->sched, run, true, end);
    if (ending == NULL)
        run_watch(f, run, run, 0, end);
    else if (end < ending->timer.key) {
        heap_remove(&f->ends, &ending->timer);
        heap_push(&f->ends, &ending->timer, end, run);
    }
    ending = map_get(&f->ending_of, run);
    ending->requeue = requeue;
}

/* What the rules would do to it: it may wait in several partitions, and run in one of them. */
static uint32_t victim_mode(struct forecast *f, uint32_t run, const struct sched_preempt *chosen,
                            int64_t *ret_grace, bool *ret_requeue) {
    const struct ending *ending = map_get(&f->ending_of, run);
    const struct core_job *job = job_find(f->core, ending != NULL ? ending->record : run);
    int64_t exempt;
    *ret_grace = 0;
    *ret_requeue = false;
    if (job == NULL)
        return PREEMPT_CANCEL;
    struct core_job form = *job; /* its members are borrowed */
    if (ending != NULL && ending->partition != 0)
        form.rec.partition = f->core->partitions[ending->partition - 1].rec.name;
    if (preempt_is_turn(f->core, chosen, &form))
        return PREEMPT_SUSPEND;
    *ret_requeue = requeues(f->core, &form);
    return preempt_mode_of(f->core, &form, ret_grace, &exempt);
}

/* Victims leave after their grace, and wait again where that is the rule; those that are suspended
 * end when they would have. */
static void preempt_one(struct forecast *f, const struct sched_preempt *chosen) {
    for (size_t i = 0; i < chosen->n_victims; i++) {
        int64_t grace;
        bool requeue;
        uint32_t run = chosen->victims[i];
        if (victim_mode(f, run, chosen, &grace, &requeue) == PREEMPT_SUSPEND) {
            sched_run_suspend(f->sched, run, true);
            run_watch(f, 0, 0, 0, f->now); /* only for the pass that follows */
        } else {
            run_cut(f, run, f->now + grace, requeue);
        }
    }
}

/* One pass; true when it starts the job in question. */
static bool pass(struct forecast *f, uint32_t job_id, int64_t *ret_next, struct arena *memory,
                 struct forecast_start *ret) {
    struct sched_plan plan = SCHED_PLAN_INIT;
    bool found = false;
    sched_pass(f->sched, f->now, 0, &plan);
    f->work += PASS_WORK + plan.candidates;
    f->cut = f->cut || sched_count_plans(f->sched) >= FORECAST_PLANS;
    for (size_t i = 0; i < plan.n_starts && !found; i++) {
        found = plan.starts[i].job_id == job_id;
        if (found)
            answer_start(f, &plan.starts[i], memory, ret);
        else
            start_one(f, &plan.starts[i]);
    }
    for (size_t i = 0; i < plan.n_preempts && !found; i++) {
        f->preempted = f->preempted || plan.preempts[i].job_id != job_id;
        preempt_one(f, &plan.preempts[i]);
    }
    *ret_next = plan.next_time;
    sched_plan_done(&plan);
    return found;
}

static int64_t next_event(const struct forecast *f, int64_t planned) {
    const struct heap_node *end = heap_min(&f->ends);
    int64_t next = end != NULL ? end->key : SCHED_FOREVER;
    if (planned > f->now)
        next = min_of(next, planned);
    if (f->dependents_due > f->now)
        next = min_of(next, f->dependents_due);
    return next;
}

/* The work is spent: from here on a guess. */
static void answer_estimate(struct forecast *f, uint32_t job_id, struct forecast_start *ret) {
    const struct waiting *w = map_get(&f->waiting, job_id);
    int64_t time = sched_estimate(f->sched, f->now, job_id);
    if (time <= 0 || w == NULL)
        return;
    ret->known = true;
    ret->time = max_of(time, f->now);
    ret->limit = w->spec->limit;
    ret->partition = w->spec->n_partitions > 0 ? w->spec->partitions[0] : 0;
}

/* The clock goes on to `next`, as the core's would: what is due then, and the passes that follow.
 */
static bool advance(struct forecast *f, uint32_t job_id, int64_t next, int64_t *planned,
                    struct arena *memory, struct forecast_start *ret) {
    bool timed = *planned > f->now && *planned <= next;
    f->now = next;
    if ((ends_pop(f) || timed) && pass(f, job_id, planned, memory, ret))
        return true;
    ends_finish(f);
    (void) forecast_depends_wake(f);
    return pass(f, job_id, planned, memory, ret);
}

/* What the planner itself expects: of a job that it does not know yet, no less than of the last one
 * in the same partition. */
static void answer_expected(struct forecast *f, uint32_t job_id, struct forecast_start *ret) {
    const struct waiting *w = map_get(&f->waiting, job_id);
    const struct core *core = f->core;
    if (w == NULL || w->spec->n_partitions == 0)
        return;
    const char *partition = core->partitions[w->spec->partitions[0]].rec.name;
    int64_t time = sched_estimate(core->sched, core->now, job_id);
    for (size_t i = core->job_order.n; time == 0 && i-- > 0;) {
        const struct core_job *job = core->job_order.items[i];
        if (job != NULL && job->in_sched && str_equal(job->rec.partition, partition))
            time = sched_estimate(core->sched, core->now, job->rec.job_id);
    }
    ret->known = time > 0;
    ret->time = max_of(time, core->now);
    ret->limit = w->spec->limit;
    ret->partition = w->spec->partitions[0];
}

void forecast_run(struct forecast *f, uint32_t job_id, struct arena *memory,
                  struct forecast_start *ret) {
    int64_t planned = 0;
    memset(ret, 0, sizeof(*ret));
    forecast_depends_learn(f);
    if (f->too_many) {
        answer_expected(f, job_id, ret);
        return;
    }
    for (bool found = pass(f, job_id, &planned, memory, ret); !found;) {
        if (forecast_depends_wake(f)) {
            found = pass(f, job_id, &planned, memory, ret);
            continue;
        }
        int64_t next = next_event(f, planned);
        if (next == SCHED_FOREVER || next >= f->until)
            break;
        if (f->work > f->work_max) {
            answer_estimate(f, job_id, ret);
            break;
        }
        found = advance(f, job_id, next, &planned, memory, ret);
    }
    ret->work = f->work;
}
