/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scontrol top: a job before the other waiting jobs of its user, partition, account and QOS. They
 * share out anew the priorities that they have, by their nice values: nobody else is overtaken.
 */
#include <string.h>

#include "core/state.h"

/* Those who wait in the order in which they would start. */
static int before(const void *a, const void *b) {
    const struct job *x = &(*(struct core_job *const *) a)->rec;
    const struct job *y = &(*(struct core_job *const *) b)->rec;
    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    if (x->submit_time != y->submit_time)
        return x->submit_time < y->submit_time ? -1 : 1;
    return x->job_id < y->job_id ? -1 : x->job_id > y->job_id;
}

static bool same_group(const struct core_job *job, const struct core_job *other) {
    return job_is_pending(other) && other->rec.priority > 0 &&
           other->rec.requested_priority == UNSET32 && other->rec.uid == job->rec.uid &&
           str_equal(other->rec.partition, job->rec.partition) &&
           str_equal(other->rec.account, job->rec.account) &&
           str_equal(other->rec.qos, job->rec.qos);
}

/* Gives it a priority by its nice value; the rest of what its priority is made of stays. */
static void set_priority(struct core *core, struct core_job *job, uint32_t priority) {
    int64_t nice = (int64_t) job->rec.nice + job->rec.priority - priority;
    if (priority == job->rec.priority || nice < INT32_MIN || nice > INT32_MAX)
        return;
    job->rec.nice = (int32_t) nice;
    job->rec.priority = priority_compute(core, job);
    sched_sync(core, job);
    job_touch(core, job);
}

/* `jobs` in their new order get the priorities that the group had, the highest first. Where equal
 * ones would leave the old order, the later job gets less. */
static void share_out(struct core *core, struct core_job **jobs, const uint32_t *priorities,
                      size_t n) {
    uint32_t last = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        uint32_t priority = min_of(priorities[i], last);
        const struct job *a = i > 0 ? &jobs[i - 1]->rec : NULL, *b = &jobs[i]->rec;
        bool older = a != NULL && (b->submit_time < a->submit_time ||
                                   (b->submit_time == a->submit_time && b->job_id < a->job_id));
        if (older && priority == last && priority > 1)
            priority--;
        last = priority;
        set_priority(core, jobs[i], priority);
    }
}

int job_top(struct core *core, struct core_job *job, const char **detail) {
    if (!job_is_pending(job))
        return -ERR_JOB_NOT_PENDING;
    if (job->rec.priority == 0)
        return -ERR_JOB_HELD;
    if (job->rec.requested_priority != UNSET32) {
        *detail = "An administrator has set the job's priority; it was not moved.";
        return 0;
    }
    if (strchr(job->rec.partition, ',') != NULL) {
        *detail = "Jobs that may run in several partitions are not moved.";
        return 0;
    }
    job_ptrs group = {0};
    jobs_each (core, other) {
        if (same_group(job, other))
            vec_push(&group, other);
    }
    qsort(group.items, group.n, sizeof(*group.items), before);
    uint32_t *priorities = xcalloc(group.n, sizeof(*priorities));
    size_t at = 0;
    for (size_t i = 0; i < group.n; i++) {
        priorities[i] = group.items[i]->rec.priority;
        at = group.items[i] == job ? i : at;
    }
    memmove(group.items + 1, group.items, at * sizeof(*group.items));
    group.items[0] = job;
    share_out(core, group.items, priorities, group.n);
    free(priorities);
    vec_done(&group);
    return 0;
}
