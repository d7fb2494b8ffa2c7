/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a step on its nodes, and of a batch script, which is the end of its job. */
#include <string.h>

#include "core/state.h"
#include "model/usage.h"

/* The worst of two wait statuses: a signal counts as 128 + its number. */
static uint32_t worse_status(uint32_t a, uint32_t b) {
    uint32_t rank_a = a & 0x7f ? 128 + (a & 0x7f) : (a >> 8) & 0xff;
    uint32_t rank_b = b & 0x7f ? 128 + (b & 0x7f) : (b >> 8) & 0xff;
    return rank_b > rank_a ? b : a;
}

static void add_usage(struct step *rec, const struct usage *more) {
    if (more == NULL)
        return;
    if (rec->usage == NULL) {
        rec->usage = zalloc(struct usage);
        record_init(&record_usage, rec->usage);
    }
    usage_add(rec->usage, more);
}

static enum job_state state_of_status(const struct core_job *job, const struct step_done *done,
                                      uint32_t status) {
    if (done->oom || status == STATUS_OOM)
        return JOB_OUT_OF_MEMORY;
    if (done->timed_out)
        return JOB_TIMEOUT;
    if (job->rec.state == JOB_CANCELLED || job->rec.state == JOB_TIMEOUT ||
        job->rec.state == JOB_PREEMPTED || job->rec.state == JOB_NODE_FAIL)
        return (status & 0x7f) != 0 ? JOB_CANCELLED : status == 0 ? JOB_COMPLETED : JOB_FAILED;
    if ((status & 0x7f) != 0)
        return JOB_CANCELLED;
    return status == 0 ? JOB_COMPLETED : JOB_FAILED;
}

static bool in_exit_list(uint32_t code, const char *list) {
    struct idset set cleanup_idset = IDSET_INIT;
    return list != NULL && idset_parse(&set, list, 255, NULL, NULL) == 0 &&
           idset_contains(&set, code);
}

/* RequeueExit and RequeueExitHold: codes that mean "again" and "again, once somebody has looked".
 * As the referee has it, --no-requeue is about failures that are not the script's. */
static bool requeue_by_exit_code(struct core *core, struct core_job *job, struct core_step *step,
                                 uint32_t status) {
    uint32_t code = (status >> 8) & 0xff;
    bool hold = in_exit_list(code, core->settings.requeue_exit_hold);
    bool again = hold || in_exit_list(code, core->settings.requeue_exit);
    if ((status & 0x7f) != 0 || !again)
        return false;
    step->rec.state = JOB_FAILED;
    job->rec.exit_status = status;
    (void) failure_of_requeue(core, job);
    job_requeue(core, job, hold, JOB_FAILED, NULL, hold ? REASON_HELD_USER : REASON_NONE);
    if (hold)
        job->rec.flags |= JOB_FLAG_SPECIAL_EXIT;
    return true;
}

/* The batch script has ended: so has the job. */
static void batch_done(struct core *core, struct core_job *job, const struct step_done *done) {
    uint32_t status = done->exit_status;
    struct core_step *step = step_find(job, STEP_BATCH);
    if (step == NULL) {
        step = step_new(core, job, STEP_BATCH);
        string_set(&step->rec.name, "batch");
        step->rec.start_time = job->rec.start_time;
        step->rec.num_nodes = 1;
        step->rec.ntasks = 1;
        if (job->rec.allocation.n > 0) {
            const struct job_node *first = &job->rec.allocation.items[0];
            step->rec.num_cpus = first->cpus;
            string_set(&step->rec.nodes, first->name);
            step->rec.tres_alloc = tres_text(first->cpus, first->mem, 1, NULL, UNSET64);
        }
    }
    if (job_state_is_final(step->rec.state))
        return;
    step->rec.exit_status = status;
    step->rec.end_time = max_of(core->now, step->rec.start_time);
    add_usage(&step->rec, done->usage);
    if (!job_has_nodes(job)) { /* cancelled, timed out: what the script made of it is missing */
        step->rec.state = state_of_status(job, done, status);
        if (job->rec.state == JOB_CANCELLED || job->rec.state == JOB_TIMEOUT) {
            job->rec.exit_status = status;
            job_touch(core, job);
        }
        step_touch(core, step);
        return;
    }
    step_touch(core, step); /* written at the end of the turn; a requeue may free it */
    job_running(core, job);
    if (job->rec.preempt_end > 0) { /* it has taken the hint */
        step->rec.state = state_of_status(job, done, status);
        preempt_finish(core, job);
    } else if (done->output_failed) {
        step->rec.state = JOB_FAILED;
        step->rec.exit_status = 53;
        job_finish(core, job, JOB_FAILED, REASON_LAUNCH_FAILURE, 53, NULL);
    } else if (done->oom) {
        step->rec.state = JOB_OUT_OF_MEMORY;
        step->rec.exit_status = STATUS_OOM;
        job_finish(core, job, JOB_OUT_OF_MEMORY, REASON_OUT_OF_MEMORY, STATUS_OOM, NULL);
    } else if (status == 0) {
        step->rec.state = JOB_COMPLETED;
        job_finish(core, job, JOB_COMPLETED, REASON_NONE, 0, NULL);
    } else if (!requeue_by_exit_code(core, job, step, status)) {
        bool signalled = (status & 0x7f) != 0;
        step->rec.state = signalled ? JOB_CANCELLED : JOB_FAILED;
        job_finish(core, job, JOB_FAILED, signalled ? REASON_RAISED_SIGNAL : REASON_NON_ZERO_EXIT,
                   status, NULL);
    }
}

void steps_end_all(struct core *core, struct core_job *job) {
    list_each (&job->steps, at) {
        struct core_step *step = list_entry(at, struct core_step, link);
        if (job_state_is_final(step->rec.state))
            continue;
        step->rec.state = JOB_CANCELLED;
        step->rec.end_time = max_of(core->now, step->rec.start_time);
        step->rec.nodes_left = 0;
        step_touch(core, step);
    }
}

void srun_job_ends(struct core *core, struct core_job *job) {
    uint32_t status = 0;
    bool any = false;
    if (job->rec.kind != JOB_KIND_SRUN || job->owner_client != 0 || !job_has_nodes(job))
        return;
    list_each (&job->steps, at) {
        const struct core_step *step = list_entry(at, struct core_step, link);
        if (step->rec.step_id == STEP_EXTERN)
            continue;
        if (!job_state_is_final(step->rec.state))
            return;
        status = worse_status(status, step->rec.exit_status);
        any = true;
    }
    if (any)
        job_finish_by_status(core, job, status);
}

void step_done(struct core *core, struct core_job *job, uint32_t node,
               const struct step_done *done) {
    if (done->step_id == STEP_BATCH) {
        if (job->rec.allocation.items[0].node == node) /* the others never ran it */
            batch_done(core, job, done);
        return;
    }
    struct core_step *step = step_find(job, done->step_id);
    if (step == NULL || job_state_is_final(step->rec.state))
        return;
    bool known = false;
    for (size_t i = 0; i < step->n_nodes; i++) {
        if (step->rec.allocation.items[i].node == node && !step->node_done[i]) {
            step->node_done[i] = known = true;
            step->rec.nodes_left--;
        }
    }
    if (!known)
        return;
    /* whichever node it was, and whatever the others say later */
    step->rec.exit_status =
        worse_status(step->rec.exit_status, done->oom ? STATUS_OOM : done->exit_status);
    add_usage(&step->rec, done->usage);
    step_touch(core, step);
    if (step->rec.nodes_left > 0)
        return;
    step->rec.end_time = max_of(core->now, step->rec.start_time);
    step->rec.state = state_of_status(job, done, step->rec.exit_status);
    if (step->rec.step_id < STEP_INTERACTIVE) {
        job->rec.derived_exit = worse_status(job->rec.derived_exit, step->rec.exit_status);
        job_touch(core, job);
    }
    if (job_has_nodes(job))
        steps_wake(core, job);
    srun_job_ends(core, job);
}
