/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the planner and commits what it proposes; keeps the reasons of those who wait.
 */
#include <assert.h>
#include <string.h>

#include "core/state.h"

/* Starts committed in one turn; the rest follows in the next, so that replies are not held up. */
#define STARTS_PER_TURN 500

/* The record that starts: the job itself, or one task of its array. */
static struct core_job *starting_record(struct core *core, struct core_job *job) {
    if (job->rec.array_tasks == NULL)
        return job;
    return array_take(core, job, idset_min(&job->tasks));
}

static void commit_start(struct core *core, const struct sched_start *start) {
    struct core_job *job = job_find(core, start->job_id);
    if (job == NULL || !job_is_pending(job) || job->rec.flags != 0 || job->rec.priority == 0)
        return;
    /* Tasks with records of their own share the array's limit with the rest of it. */
    if (array_slots(job) == 0) {
        sched_sync(core, job);
        return;
    }
    for (size_t i = 0; i < start->n_allocs; i++) {
        if (cards_allow(core, &start->allocs[i]))
            continue;
        /* Devices near each other were taken in place of those planned: once more. */
        sched_sync(core, job);
        core->plan_wanted = true;
        return;
    }
    struct core_job *task = starting_record(core, job);
    job_start(core, task, start);
    preempt_started(core, start->job_id);
    core->n_backfilled += start->backfilled;
    if (task->rec.array_limit > 0)
        array_tasks_changed(core, task);
}

static void note_wait(struct core *core, const struct sched_wait *wait) {
    struct core_job *job = job_find(core, wait->job_id);
    if (job == NULL || !job_is_pending(job) || job->rec.priority == 0 || !job->in_sched)
        return;
    job->rec.reason = wait->reason;
    string_set(&job->rec.state_desc, wait->detail);
    job->rec.start_time = wait->start;
    job->promised = wait->n_nodes > 0 ? wait->start : 0;
    if (wait->start == 0 && job->rec.begin_time > core->now)
        job->rec.start_time = job->rec.begin_time; /* nothing better is known yet */
    job->rec.last_sched_eval = core->now;
    limits_age(core, job);
    struct hostlist names cleanup_hostlist = HOSTLIST_INIT;
    for (size_t i = 0; i < wait->n_nodes; i++)
        hostlist_push(&names, core->nodes[wait->nodes[i]].rec.name);
    hostlist_sort(&names);
    struct str folded cleanup_str = STR_INIT;
    hostlist_fold(&names, &folded);
    string_set(&job->rec.sched_nodes, folded.length > 0 ? folded.data : NULL);
    job_touch(core, job);
}

/* Passes that follow on each other at once, within a second of the clock, because each left
 * something to the next. Whatever asks for more waits for the next second. */
#define PASSES_AT_ONCE 8

/* What the pass itself has changed may let others start: for whom it let victims off, or who waited
 * for one that it started. */
static void plan_soon(struct core *core) {
    if (core->follow_time != core->now)
        core->n_follow = 0;
    core->follow_time = core->now;
    int64_t due = ++core->n_follow <= PASSES_AT_ONCE ? core->now : core->now + 1;
    core->plan_next = core->plan_next > 0 ? min_of(core->plan_next, due) : due;
}

void plan_run(struct core *core) {
    struct sched_plan plan = SCHED_PLAN_INIT;
    core->plan_wanted = core->plan_again = false;
    paused_resume(core);
    preempt_before_pass(core);
    limits_before_pass(core);
    if (core->limits.age_room)
        limits_age_all(core);
    sched_pass(core->sched, core->now, STARTS_PER_TURN, &plan);
    core->n_passes++;
    core->n_candidates += plan.candidates;
    for (size_t i = 0; i < plan.n_starts;) {
        size_t together = het_commit(core, &plan.starts[i], plan.n_starts - i);
        if (together == 0)
            commit_start(core, &plan.starts[i]);
        i += max_of(together, (size_t) 1);
    }
    for (size_t i = 0; i < plan.n_preempts; i++)
        preempt_commit(core, &plan.preempts[i]);
    for (size_t i = 0; i < plan.n_waits; i++)
        note_wait(core, &plan.waits[i]);
    for (size_t i = 0; core->hets.n > 0 && i < plan.n_waits; i++) {
        struct core_job *job = job_find(core, plan.waits[i].job_id);
        if (job != NULL)
            het_explain(core, job);
    }
    for (size_t i = 0; i < plan.n_breaches; i++)
        promise_broken(core, &plan.breaches[i]);
    preempt_after_pass(core);
    limits_after_pass(core);
    if (!core->plan_again && core->gang_next > 0 && core->gang_next <= core->now)
        gang_rotate(core);
    core->plan_next = plan.next_time;
    if (plan.n_starts >= STARTS_PER_TURN)
        core->plan_next = core->now;
    sched_plan_done(&plan);
    depend_run(core); /* "after:ID" of those that have started */
    if (core->plan_wanted)
        plan_soon(core);
}
