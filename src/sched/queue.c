/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who waits, in which order. Jobs hang under their shape; a shape's list is sorted lazily: changes
 * append to a tail and leave a hole, and the next pass sorts the tail and merges it in. Jobs that
 * cannot start before some time (--begin) or at all (deadline, array limit) are not in the list.
 */
#include <assert.h>

#include "sched/internal.h"

/* Those for whom others go first; then by tier, priority, submission, id. */
struct turn_key job_key(const struct job *job) {
    uint64_t tier = min_of(job->tier, (uint32_t) INT32_MAX);
    uint64_t urgency = (uint64_t) job->preempting << 63 | tier << 32 | job->priority;
    return (struct turn_key) {~urgency, job->submit, job->job_id};
}

int job_compare(const struct job *a, const struct job *b) {
    struct turn_key x = job_key(a), y = job_key(b);
    return key_before(&x, &y) ? -1 : key_before(&y, &x);
}

static int job_compare_pointers(const void *a, const void *b) {
    return job_compare(*(struct job *const *) a, *(struct job *const *) b);
}

static void job_list_push(struct sched *s, struct shape *shape, struct job *job) {
    shape_turn_changed(s, shape);
    if (shape->n_jobs == shape->capacity) {
        shape->capacity = vec_grown(shape->capacity, shape->n_jobs + 1);
        shape->jobs = xreallocarray(shape->jobs, shape->capacity, sizeof(*shape->jobs));
    }
    job->position = shape->n_jobs;
    shape_guarded_add(job, 1);
    shape->jobs[shape->n_jobs++] = job;
    shape->n_live++;
}

static void job_list_remove(struct sched *s, struct shape *shape, struct job *job) {
    shape_turn_changed(s, shape);
    assert(shape->jobs[job->position] == job);
    shape->jobs[job->position] = NULL;
    shape_guarded_add(job, -1);
    shape->n_live--;
    while (shape->first < shape->n_sorted && !shape->jobs[shape->first])
        shape->first++;
}

static size_t list_compact(struct job **list, size_t from, size_t to, struct job **out) {
    size_t n = 0;

    for (size_t i = from; i < to; i++) {
        if (list[i])
            out[n++] = list[i];
    }
    return n;
}

/* The common case: what came since belongs behind all others. */
static bool list_append_sorted(struct shape *shape) {
    struct job **tail = shape->jobs + shape->n_sorted;
    size_t n = list_compact(tail, 0, shape->n_jobs - shape->n_sorted, tail);
    size_t last = shape->n_sorted;

    shape->n_jobs = shape->n_sorted + n;
    shape->told = min_of(shape->told, shape->n_sorted);
    sort_items(tail, n, sizeof(struct job *), job_compare_pointers);
    for (size_t i = 0; i < n; i++)
        tail[i]->position = shape->n_sorted + i;
    while (last > shape->first && !shape->jobs[last - 1])
        last--;
    if (n == 0 || (last > shape->first && job_compare(shape->jobs[last - 1], tail[0]) > 0))
        return n == 0 && shape->first < 64;
    shape->n_sorted = shape->n_jobs;
    return true;
}

void job_list_sort(struct shape *shape) {
    size_t holes = shape->n_sorted - shape->first;

    if (shape->n_sorted == shape->n_jobs && (shape->first < 64 || shape->first < holes))
        return;
    if (list_append_sorted(shape))
        return;
    struct job **merged = xcalloc(shape->n_jobs + 1, sizeof(struct job *));
    struct job **tail = xcalloc(shape->n_jobs - shape->n_sorted + 1, sizeof(struct job *));
    size_t n_head = list_compact(shape->jobs, shape->first, shape->n_sorted, shape->jobs);
    size_t n_tail = list_compact(shape->jobs, shape->n_sorted, shape->n_jobs, tail);
    size_t i = 0, k = 0, n = 0;

    sort_items(tail, n_tail, sizeof(struct job *), job_compare_pointers);
    while (i < n_head || k < n_tail) {
        bool from_head = k == n_tail || (i < n_head && job_compare(shape->jobs[i], tail[k]) < 0);
        merged[n] = from_head ? shape->jobs[i++] : tail[k++];
        merged[n]->position = n;
        n++;
    }
    free(tail);
    free(shape->jobs);
    shape->jobs = merged;
    shape->capacity = shape->n_jobs + 1;
    shape->n_jobs = shape->n_sorted = shape->n_live = n;
    shape->first = shape->told = 0;
}

struct job *job_list_at(struct shape *shape, size_t *position) {
    while (*position < shape->n_jobs && !shape->jobs[*position])
        (*position)++;
    return *position < shape->n_jobs ? shape->jobs[*position] : NULL;
}

static void job_mark_fresh(struct sched *s, struct job *job) {
    sched_touched(s);
    if (job->fresh)
        return;
    vec_push(&s->fresh, job);
    job->fresh = s->fresh.n;
}

/* Where a job belongs at `now`; sets its timer to the moment when that changes. */
static void job_settle(struct sched *s, struct job *job, int64_t now) {
    const struct shape *shape = job->shape;
    const struct alternative *alt = &shape->alternatives[0];
    int64_t last = job_latest_start(job, alt);
    uint8_t place = PLACE_LIVE;
    int64_t next = last == SCHED_FOREVER ? SCHED_FOREVER : last + 1;

    if (now > last || (job->deadline && now >= job->deadline)) {
        place = PLACE_EXPIRED;
        next = SCHED_FOREVER;
    } else if (job->begin > now) {
        place = PLACE_BEGIN;
        next = job->begin;
    } else if (job->max_starts == 0 || job->n_tasks == 0) {
        place = PLACE_LIMITED;
    }
    bool listed = job->place == PLACE_LIVE;
    shape_turn_changed(s, job->shape); /* it may be guarded from now on */
    if (listed)
        shape_guarded_add(job, -1);
    next = min_of(next, job_seniority_set(s, job, now));
    if (listed)
        shape_guarded_add(job, 1);
    if (job->place == PLACE_LIVE && place != PLACE_LIVE)
        job_list_remove(s, job->shape, job);
    if (job->place != PLACE_LIVE && place == PLACE_LIVE) {
        job_list_push(s, job->shape, job);
        job_arrives(s, job);
    }
    if (job->place != place)
        job_mark_fresh(s, job);
    job->place = place;
    heap_remove(&s->timers, &job->timer);
    if (next != SCHED_FOREVER)
        heap_push(&s->timers, &job->timer, next, job->job_id);
}

void queue_timers(struct sched *s, int64_t now) {
    struct heap_node *node;

    while ((node = heap_min(&s->timers)) && node->key <= now) {
        sched_touched(s);
        job_settle(s, container_of(node, struct job, timer), now);
    }
}

static uint32_t job_tier(const struct sched *s, const struct shape *shape) {
    uint32_t tier = 0;

    for (size_t i = 0; i < shape->n_alternatives; i++)
        tier = max_of(tier, s->partitions[shape->alternatives[i].partition].tier);
    return tier;
}

static void job_free(struct sched *s, struct job *job) {
    if (job->plan) {
        plan_released(s, job->plan);
        plan_remove(s, job->plan);
    }
    promise_drop(s, job);
    group_leave(s, job);
    heap_remove(&s->timers, &job->timer);
    if (job->place == PLACE_LIVE)
        job_list_remove(s, job->shape, job);
    if (job->fresh)
        s->fresh.items[job->fresh - 1] = NULL;
    for (size_t i = 0; job->special && i < s->specials.n; i++) {
        if (s->specials.items[i] == job)
            s->specials.items[i] = NULL;
    }
    free(job);
}

void sched_job_add(struct sched *s, const struct sched_job_spec *spec) {
    struct job *old = map_get(&s->jobs, spec->job_id);
    struct shape *shape = shape_intern(s, spec);
    struct job *job;

    if (old && old->shape == shape && old->submit == spec->submit_time &&
        old->begin == spec->begin_time && old->deadline == spec->deadline) {
        /* An array whose tasks were taken: the commonest replacement keeps its place. */
        old->n_tasks = spec->n_tasks_of_array;
        old->eligible = spec->eligible_time;
        old->expected = spec->expected;
        if (old->priority != spec->priority)
            job_arrives(s, old);
        old->max_starts = spec->max_starts;
        sched_job_preempting(s, spec->job_id, spec->preempting);
        sched_job_priority(s, spec->job_id, spec->priority);
        job_settle(s, old, s->now);
        sched_touched(s);
        return;
    }
    if (old) {
        sched_cause_note(s, SCHED_CAUSE_UPDATE, spec->job_id);
        sched_job_remove(s, spec->job_id);
    }
    shape = shape_intern(s, spec); /* the removal may have freed it */
    job = zalloc(struct job);
    job->job_id = spec->job_id;
    job->priority = spec->priority;
    job->reserve_priority = spec->reserve_priority;
    job->n_tasks = spec->n_tasks_of_array;
    job->max_starts = spec->max_starts;
    job->submit = spec->submit_time;
    job->begin = spec->begin_time;
    job->deadline = spec->deadline;
    job->eligible = spec->eligible_time;
    job->expected = spec->expected;
    job->shape = shape;
    job->uid = spec->uid;
    job->preempting = spec->preempting;
    job->tier = job_tier(s, shape);
    job->place = PLACE_LIVE;
    group_join(s, job, spec->group, spec->group_size);
    shape->refs++;
    job_list_push(s, shape, job);
    map_put(&s->jobs, job->job_id, job);
    job_arrives(s, job);
    if (spec->promised)
        promise_make(s, job, spec->promised);
    job_mark_fresh(s, job);
    job_settle(s, job, s->now);
}

void sched_job_remove(struct sched *s, uint32_t job_id) {
    struct job *job = map_remove(&s->jobs, job_id);

    if (!job)
        return;
    struct shape *shape = job->shape;
    job_free(s, job);
    shape->refs--;
    shape_release(s, shape);
    sched_touched(s);
}

/* Is it still between its neighbours? False when in doubt. Whoever grows older with all others is.
 */
static bool job_keeps_place(const struct shape *shape, const struct job *job) {
    size_t at = job->position;

    if (at >= shape->n_sorted)
        return false;
    for (size_t i = at; i-- > shape->first;) {
        if (shape->jobs[i] && job_compare(shape->jobs[i], job) > 0)
            return false;
        if (shape->jobs[i])
            break;
    }
    for (size_t i = at + 1; i < shape->n_sorted; i++) {
        if (shape->jobs[i])
            return job_compare(job, shape->jobs[i]) < 0;
    }
    return true;
}

void sched_job_priority(struct sched *s, uint32_t job_id, uint32_t priority) {
    struct job *job = map_get(&s->jobs, job_id);

    if (!job || job->priority == priority)
        return;
    job->priority = priority;
    if (s->any_if_above)
        sched_released(s); /* may preempt others than before */
    sched_touched(s);
    if (job->place != PLACE_LIVE)
        return;
    if (job_keeps_place(job->shape, job)) {
        if (job->position == job->shape->first)
            shape_turn_changed(s, job->shape);
        return;
    }
    job_list_remove(s, job->shape, job);
    job_list_push(s, job->shape, job);
}

void sched_job_preempting(struct sched *s, uint32_t job_id, bool preempting) {
    struct job *job = map_get(&s->jobs, job_id);

    if (!job || job->preempting == preempting)
        return;
    if (job->place == PLACE_LIVE)
        job_list_remove(s, job->shape, job);
    job->preempting = preempting;
    if (job->place == PLACE_LIVE)
        job_list_push(s, job->shape, job);
    if (!preempting && job->plan) /* no more than anybody else's */
        plan_remove(s, job->plan);
    if (preempting)
        sched_touched(s);
    else
        sched_released(s);
}

void queue_clear(struct sched *s) {
    size_t at = 0;
    uint64_t key;
    struct job *job;

    while ((job = map_next(&s->jobs, &at, &key)))
        sched_job_remove(s, job->job_id);
    map_clear(&s->jobs);
    vec_reset(&s->fresh);
    s->fresh_first = 0;
    vec_reset(&s->specials);
}
