/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gang scheduling: jobs of a partition whose resources are shared (OverSubscribe=FORCE[:n], or YES
 * with --oversubscribe) and of whose PreemptMode GANG is part take turns of SchedulerTimeSlice. One
 * runs while the others that it shares CPUs with are paused: what they hold in memory and devices
 * must fit together, their CPUs are given to whoever has the turn.
 *
 * A new job gets its first turn from the planner, which may choose as a victim whoever has had his
 * slice; here those who are paused get theirs back, the longest paused first.
 */
#include "core/state.h"

bool gang_shares(struct core *core, const struct core_job *job) {
    const struct core_partition *part = partition_find(core, job->rec.partition, NULL);

    return part != NULL && part->gang &&
           (part->oversubscribe_force || job->rec.oversubscribe == OVERSUB_YES);
}

/* Since when it has run without a break. */
static int64_t turn_began(const struct core_job *job) {
    return max_of(job->rec.start_time, job->rec.suspend_time);
}

int64_t gang_slice_end(struct core *core, const struct core_job *job) {
    return gang_shares(core, job) ? turn_began(job) + core->settings.time_slice : 0;
}

static uint32_t job_cpus_on(const struct core_job *job, uint32_t node) {
    uint32_t cpus = 0;

    for (uint32_t i = 0; i < job->rec.allocation.n; i++) {
        const struct job_node *entry = &job->rec.allocation.items[i];
        cpus += entry->node == node && !entry->released ? entry->cpus : 0;
    }
    return cpus;
}

/* A paused job that may have its turn now. */
static bool is_due(const struct core *core, const struct core_job *job) {
    return job != NULL && job->rec.state == JOB_SUSPENDED && job->rec.paused &&
           !preempt_waits(core, job->rec.preempted_by) &&
           core->now >= job->rec.suspend_time + core->settings.time_slice;
}

static bool is_among(const job_ptrs *jobs, const struct core_job *job) {
    vec_each (jobs, at) {
        if (*at == job)
            return true;
    }
    return false;
}

static bool holds_core(const struct core_job *job, uint32_t node, uint32_t id) {
    for (uint32_t i = 0; i < job->rec.allocation.n; i++) {
        const struct job_node *entry = &job->rec.allocation.items[i];
        struct idset cores cleanup_idset = IDSET_INIT;
        if (entry->node == node && !entry->released && assign_cores_read(entry, &cores) &&
            idset_contains(&cores, id))
            return true;
    }
    return false;
}

/* Of those on the core who have had their turn, other than those in `but`, the longest running. */
static struct core_job *longest_on(struct core *core, const struct core_job *job, uint32_t node,
                                   uint32_t id, const job_ptrs *but) {
    struct core_job *longest = NULL;

    for (size_t i = 0; i < core->nodes[node].jobs.n; i++) {
        struct core_job *other = job_find(core, core->nodes[node].jobs.items[i]);
        if (other != NULL && other->rec.state == JOB_RUNNING && gang_shares(core, other) &&
            str_equal(other->rec.partition, job->rec.partition) &&
            core->now >= turn_began(other) + core->settings.time_slice &&
            (longest == NULL || turn_began(other) < turn_began(longest)) && !is_among(but, other) &&
            holds_core(other, node, id))
            longest = other;
    }
    return longest;
}

/* Adds those on a node whose turn has to end so that the job has its cores there; false when not
 * all of them have had their turn. Whoever is in `ret` already makes room, too. */
static bool turns_end(struct core *core, const struct core_job *job, const struct job_node *entry,
                      job_ptrs *ret) {
    const struct core_node *node = &core->nodes[entry->node];
    struct idset cores cleanup_idset = IDSET_INIT;
    uint32_t id = 0, cpus = sched_node_open_cpus(core->sched, entry->node);

    bool more = assign_cores_read(entry, &cores) && idset_next(&cores, 0, &id);
    for (; more; more = idset_next(&cores, id + 1, &id)) {
        unsigned left = id < node->n_cores ? node->core_use[id] : 0;
        for (size_t i = 0; i < ret->n && left > 0; i++)
            left -= holds_core(ret->items[i], entry->node, id);
        for (; left > 0; left--) {
            struct core_job *longest = longest_on(core, job, entry->node, id, ret);
            if (longest == NULL)
                return false;
            vec_push(ret, longest);
        }
    }
    for (size_t i = 0; i < ret->n; i++)
        cpus += job_cpus_on(ret->items[i], entry->node);
    return cpus >= entry->cpus;
}

/* False: it has to wait, somebody on its nodes has not had his slice yet. */
static bool take_turn(struct core *core, struct core_job *job) {
    job_ptrs others = {0};
    bool enough = true;

    for (uint32_t i = 0; enough && i < job->rec.allocation.n; i++) {
        if (!job->rec.allocation.items[i].released)
            enough = turns_end(core, job, &job->rec.allocation.items[i], &others);
    }
    for (size_t i = 0; enough && i < others.n; i++)
        job_pause(core, others.items[i]);
    vec_done(&others);
    if (enough)
        job_resume(core, job);
    return enough;
}

/* When the next of those that run has had his slice. */
static int64_t next_slice_end(const struct core *core, const job_ptrs *running) {
    int64_t next = core->now + core->settings.time_slice;

    vec_each (running, at) {
        int64_t end = turn_began(*at) + core->settings.time_slice;
        if ((*at)->rec.state == JOB_RUNNING && end > core->now)
            next = min_of(next, end);
    }
    return next;
}

/* Whoever is due and had to wait is tried again when somebody may have to make room for him. */
static void note_next(struct core *core, const job_ptrs *running) {
    int64_t again = next_slice_end(core, running);

    core->gang_next = 0;
    for (size_t i = 0; i < core->paused.n; i++) {
        const struct core_job *job = job_find(core, core->paused.items[i]);
        if (job == NULL || !job->rec.paused || !gang_shares(core, job))
            continue;
        int64_t due = job->rec.suspend_time + core->settings.time_slice;
        if (due <= core->now)
            due = again;
        core->gang_next = core->gang_next > 0 ? min_of(core->gang_next, due) : due;
    }
}

void gang_wait(struct core *core) {
    int64_t due = core->now + core->settings.time_slice;

    core->gang_next = core->gang_next > 0 ? min_of(core->gang_next, due) : due;
}

void gang_rotate(struct core *core) {
    size_t n = core->paused.n; /* whoever is paused now comes after them */
    job_ptrs running = {0};

    list_each (&core->placed, at) {
        struct core_job *job = list_entry(at, struct core_job, placed);
        if (job->rec.state == JOB_RUNNING && gang_shares(core, job))
            vec_push(&running, job);
    }
    for (size_t i = 0; i < n; i++) {
        struct core_job *job = job_find(core, core->paused.items[i]);
        if (is_due(core, job) && gang_shares(core, job) && take_turn(core, job))
            core->plan_again = true; /* what one of them left over is for others */
    }
    note_next(core, &running);
    vec_done(&running);
}
