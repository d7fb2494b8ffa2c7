/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes that concern all jobs that wait: each gets its priority anew if what that is made of has
 * changed, and its place in the planner's view if that was made anew. A sweep goes over the jobs in
 * slices, so that no reply waits for 100,000 of them; nobody starts before it has come to the end,
 * so that nobody goes by what held before the change.
 */
#include "core/state.h"

/* Jobs that are looked at in one go. */
#define SWEPT_PER_TICK 2000

static void job_swept(struct core *core, struct core_job *job) {
    if (core->sched_before != NULL) {
        sched_job_remove(core->sched_before, job->rec.job_id);
        job->in_sched = false; /* or it came in since: then it is put there once more */
    }
    if (!job_is_pending(job))
        return;
    priority_renew(core, job);
    if (!job->in_sched)
        sched_sync(core, job);
}

void sweep_begin(struct core *core) {
    core->sweeping = true;
    core->sweep_at = 0;
    sweep_go_on(core);
}

void sweep_go_on(struct core *core) {
    size_t end = min_of(core->job_order.n, core->sweep_at + SWEPT_PER_TICK);
    for (; core->sweep_at < end; core->sweep_at++) {
        struct core_job *job = core->job_order.items[core->sweep_at];
        if (job != NULL)
            job_swept(core, job);
    }
    sched_settle(core->sched, core->now);
    if (core->sweep_at < core->job_order.n)
        return;
    core->sweeping = false;
    core->plan_wanted = true;
    sched_free(core->sched_before);
    core->sched_before = NULL;
}
