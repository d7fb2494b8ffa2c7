/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the planner and commits what it proposes; keeps the reasons of those who wait. Priority is
 * computed here because only the core knows the weights and the age of a job.
 */
#include <assert.h>
#include <string.h>

#include "core/state.h"

/* Starts committed in one turn; the rest follows in the next, so that replies are not held up. */
#define STARTS_PER_TURN 2000

/* Slurm counts down from 2^32 for equal jobs; the order of submission decides anyway here, so every
 * job without weights has the same, readable, priority. */
#define PRIORITY_BASE 1000000u

static uint32_t weighted(uint32_t weight, uint64_t part, uint64_t whole) {
    if (whole == 0)
        return 0;
    return (uint32_t) ((uint64_t) weight * min_of(part, whole) / whole);
}

uint32_t priority_compute(const struct core *core, struct core_job *job) {
    const struct core_settings *s = &core->settings;
    struct job *rec = &job->rec;
    rec->prio_age = rec->prio_size = rec->prio_partition = 0;
    if (rec->requested_priority != UNSET32)
        return rec->requested_priority;
    int64_t sum = 0;
    bool any = s->priority_multifactor && (s->weight_age || s->weight_size || s->weight_partition);
    if (any) {
        int64_t age = rec->eligible_time > 0 ? core->now - rec->eligible_time : 0;
        rec->prio_age =
            weighted(s->weight_age, age > 0 ? (uint64_t) age : 0, (uint64_t) s->max_age);
        rec->prio_size = weighted(s->weight_size, rec->num_nodes, core->n_nodes);
        uint32_t factor = 0, highest = 1;
        for (size_t i = 0; i < core->n_partitions; i++) {
            const struct partition *part = &core->partitions[i].rec;
            highest = max_of(highest, part->priority_job_factor);
            if (str_equal(part->name, rec->partition))
                factor = part->priority_job_factor;
        }
        rec->prio_partition = weighted(s->weight_partition, factor, highest);
        sum = (int64_t) rec->prio_age + rec->prio_size + rec->prio_partition;
    } else {
        sum = PRIORITY_BASE;
    }
    sum -= rec->nice;
    if (sum < 1)
        sum = 1;
    return (uint32_t) min_of(sum, (int64_t) UINT32_MAX - 1);
}

/* Those who wait grow older. That changes no record that has to be stored: a restart computes anew.
 */
void priorities_age(struct core *core) {
    core->age_next = core->now + core->settings.calc_period;
    for (size_t i = 0; i < core->job_order.n; i++) {
        struct core_job *job = core->job_order.items[i];
        if (job == NULL || !job_is_pending(job) || job->rec.priority == 0 ||
            job->rec.requested_priority != UNSET32)
            continue;
        uint32_t priority = priority_compute(core, job);
        if (priority == job->rec.priority)
            continue;
        job->rec.priority = priority;
        job->rec.generation = ++core->generation;
        if (job->in_sched)
            sched_job_priority(core->sched, job->rec.job_id, priority);
        core->plan_wanted = true;
    }
}

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
    if (array_slots(core, job) == 0) {
        sched_sync(core, job);
        return;
    }
    struct core_job *task = starting_record(core, job);
    job_start(core, task, start);
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
    if (wait->start == 0 && job->rec.begin_time > core->now)
        job->rec.start_time = job->rec.begin_time; /* nothing better is known yet */
    job->rec.last_sched_eval = core->now;
    if (job->rec.accrue_time == 0 && job->rec.eligible_time <= core->now)
        job->rec.accrue_time = job->rec.eligible_time;
    struct hostlist names cleanup_hostlist = HOSTLIST_INIT;
    for (size_t i = 0; i < wait->n_nodes; i++)
        hostlist_push(&names, core->nodes[wait->nodes[i]].rec.name);
    hostlist_sort(&names);
    struct str folded cleanup_str = STR_INIT;
    hostlist_fold(&names, &folded);
    string_set(&job->rec.sched_nodes, folded.length > 0 ? folded.data : NULL);
    job_touch(core, job);
}

void plan_run(struct core *core) {
    struct sched_plan plan = SCHED_PLAN_INIT;
    core->plan_wanted = false;
    sched_pass(core->sched, core->now, STARTS_PER_TURN, &plan);
    core->n_passes++;
    core->n_candidates += plan.candidates;
    for (size_t i = 0; i < plan.n_starts; i++)
        commit_start(core, &plan.starts[i]);
    for (size_t i = 0; i < plan.n_waits; i++)
        note_wait(core, &plan.waits[i]);
    core->plan_next = plan.next_time;
    if (plan.n_starts == STARTS_PER_TURN)
        core->plan_next = core->now;
    sched_plan_done(&plan);
    if (core->depends_changed)
        depend_job_changed(core);
}
