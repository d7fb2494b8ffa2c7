/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs that the controller suspends for the sake of others and lets go on by itself: victims of
 * PreemptMode=SUSPEND, and those that wait for their turn (gang.c). A paused job keeps its memory
 * and devices; its CPUs are free. It goes on, on the same cores, as soon as those are free again,
 * before anybody else is planned on them, unless they are held for whom it made room. (Its tasks
 * are bound to these cores, and have read their numbers.) New jobs get other cores if there are
 * any.
 */
#include <signal.h>

#include "core/state.h"

void job_pause(struct core *core, struct core_job *job) {
    job_suspend(core, job);
    job->rec.paused = true;
    vec_push(&core->paused, job->rec.job_id);
}

void job_stays_suspended(struct core *core, struct core_job *job) {
    if (job->rec.paused)
        job_touch(core, job);
    job->rec.paused = false;
}

static bool is_paused(const struct core_job *job) {
    return job != NULL && job->rec.state == JOB_SUSPENDED && job->rec.paused;
}

static bool may_resume(const struct core *core, const struct core_job *job) {
    if (!sched_run_may_resume(core->sched, job->rec.job_id))
        return false;
    for (uint32_t i = 0; i < job_n_entries(&job->rec); i++) {
        const struct job_node *entry = job_entry(&job->rec, i);
        if (!entry->released &&
            !assign_cores_free(core, entry,
                               sched_run_layers(core->sched, job->rec.job_id, entry->node)))
            return false;
    }
    return true;
}

void paused_resume(struct core *core) {
    size_t kept = 0;

    for (size_t i = 0; i < core->paused.n; i++) {
        uint32_t job_id = core->paused.items[i];
        struct core_job *job = job_find(core, job_id);
        if (!is_paused(job))
            continue;
        if (preempt_waits(core, job->rec.preempted_by) || !may_resume(core, job))
            core->paused.items[kept++] = job_id;
        else
            job_resume(core, job);
    }
    core->paused.n = kept;
}

void paused_restored(struct core *core) {
    jobs_each (core, job) {
        if (!is_paused(job))
            continue;
        size_t place = core->paused.n;
        vec_push(&core->paused, job->rec.job_id);
        for (; place > 0; place--) {
            const struct core_job *other = job_find(core, core->paused.items[place - 1]);
            if (other->rec.suspend_time <= job->rec.suspend_time)
                break;
            core->paused.items[place] = core->paused.items[place - 1];
        }
        core->paused.items[place] = job->rec.job_id;
    }
    if (core->paused.n > 0)
        gang_wait(core);
}

/* ---- signals ---- */

void job_stop_now(struct core *core, struct core_job *job) {
    job->stop_due = 0;
    if (job->rec.state == JOB_SUSPENDED)
        job_signal_all(core, job, SIGSTOP);
}

void job_stop_again(struct core *core, struct core_job *job, uint32_t node) {
    struct node_signal signal;

    if (!job_has_nodes(job) || job->rec.suspend_time == 0 || (job->rec.flags & JOB_FLAG_STOPPED))
        return;
    record_init(&record_node_signal, &signal);
    signal.job_id = job->rec.job_id;
    signal.attempt = job->rec.attempt;
    signal.signal = job->rec.state == JOB_SUSPENDED ? SIGSTOP : SIGCONT;
    signal.flags = NODE_SIGNAL_BATCH | NODE_SIGNAL_GROUP;
    emit_node(core, node, MSG_NODE_SIGNAL, &signal);
}
