/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When those who wait are expected to start. The record has what the last pass said, which is a
 * time only for those at the head; the listings ask here.
 */
#include "core/state.h"

/* The next task of an array at its limit starts when one of those that run has ended. */
static int64_t next_slot(const struct core *core, const struct core_job *job) {
    int64_t first = 0;
    array_each(array_find(core, job->rec.array_job_id), task) {
        if (job_has_nodes(task) && task->rec.end_time > 0 &&
            (first == 0 || task->rec.end_time < first))
            first = task->rec.end_time;
    }
    return first > 0 ? max_of(first, core->now) : 0;
}

int64_t job_expected_start(struct core *core, const struct core_job *job) {
    if (!job_is_pending(job))
        return job->rec.start_time;
    if (job->in_sched && job->het != NULL) /* an estimate for each would say nothing of all */
        return job->promised > 0 ? max_of(job->promised, core->now) : 0;
    if (job->in_sched) {
        int64_t start = sched_estimate(core->sched, core->now, job->rec.job_id);
        return start > 0 ? max_of(start, core->now) : 0;
    }
    if (job->rec.reason == REASON_ARRAY_TASK_LIMIT)
        return next_slot(core, job);
    /* A begin time says no more than "not before". */
    return job->rec.begin_time > core->now ? job->rec.begin_time : 0;
}
