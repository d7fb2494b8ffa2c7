/* SPDX-License-Identifier: Apache-2.0 */
/* What happens before a step runs: the node is made ready for its job, and the launch is taken,
 * held or refused. */
#include "agent/agent_internal.h"

/* ---- making ready ---- */

static void job_begin_ready(struct agent *agent, struct agent_job *job,
                            struct agent_effects *effects) {
    struct step_key key = {job->job_id, UNSET32, job->attempt};

    job->ready = READY_RUNNING;
    agent_effect_job(effects, AGENT_PREPARE_JOB, key, job->uid);
}

/* The first thing that the job wants here, and the node has to make ready for it. */
static bool job_needs_ready(const struct agent *agent, const struct agent_job *job) {
    return agent->needs != 0 && job->ready == READY_NONE && !job->has_begun;
}

static void send_prepared(const struct agent *agent, const struct agent_job *job,
                          struct agent_effects *effects) {
    struct job_prepared body = {.job_id = job->job_id,
                                .attempt = job->attempt,
                                .code = job->ready == READY_FAILED ? ERR_PROLOG : 0,
                                .detail = job->unready};

    if (agent->is_connected)
        agent_effect_send(effects, MSG_JOB_PREPARED, &body);
}

void agent_prepare(struct agent *agent, uint64_t now, const struct job_prepare *order,
                   struct agent_effects *effects) {
    struct agent_job *job = agent_job_find(agent, order->job_id);

    if (!job)
        job = agent_job_add(agent, order->job_id, order->attempt, order->uid);
    if (order->attempt < job->attempt)
        return; /* a message that was overtaken */
    if (order->attempt > job->attempt && agent_job_is_busy(job)) {
        struct job_prepared busy = {.job_id = order->job_id,
                                    .attempt = order->attempt,
                                    .code = ERR_BUSY,
                                    .detail = (char *) "its earlier launch is still being cleaned "
                                                       "up on this node"};
        if (agent->is_connected)
            agent_effect_send(effects, MSG_JOB_PREPARED, &busy);
        return;
    }
    if (order->attempt > job->attempt)
        agent_job_restart(job, order->attempt, order->uid);
    if (job->terminated)
        return;
    job->uid = order->uid;
    if (job_needs_ready(agent, job))
        job_begin_ready(agent, job, effects);
    if (agent_job_is_getting_ready(job))
        job->is_asked = true;
    else
        send_prepared(agent, job, effects);
    agent_job_schedule(agent, job);
}

void agent_step_drop(struct agent *agent, struct agent_step *step, uint64_t now,
                     const struct error *why, struct agent_effects *effects) {
    struct step_key key = step->key;

    step->state = STEP_STARTING;
    agent_launch_failed(agent, now, key, why, effects);
    agent_effect_job(effects, AGENT_DROP_STEP, key, 0);
    str_append(&effects->list.items[effects->list.n - 1].body, why->text);
}

/* It is over, well or not: what was held goes on or ends. */
static void job_ready_over(struct agent *agent, struct agent_job *job, uint64_t now,
                           const char *problem, struct agent_effects *effects) {
    struct error why = ERROR_INIT;

    job->ready = problem ? READY_FAILED : READY_DONE;
    if (problem) {
        job->unready = xstrdup(problem);
        (void) error_set(&why, ERR_PROLOG, "%s", problem);
    }
    if (job->is_asked)
        send_prepared(agent, job, effects);
    job->is_asked = false;
    list_each (&job->steps, node) {
        struct agent_step *step = list_entry(node, struct agent_step, in_job);
        if (step->state != STEP_HELD)
            continue;
        if (problem) {
            agent_step_drop(agent, step, now, &why, effects);
        } else {
            step->state = STEP_STARTING;
            agent_effect_job(effects, AGENT_START_STEP, step->key, job->uid);
        }
    }
}

static void job_start_extern(struct agent *agent, struct agent_job *job,
                             struct agent_effects *effects) {
    struct step_key key = {job->job_id, STEP_EXTERN, job->attempt};

    job->ready = READY_EXTERN;
    if (agent_job_step(job, key)) /* adopted */
        return;
    agent_step_add(agent, job, key, false)->state = STEP_STARTING;
    agent_effect_job(effects, AGENT_START_EXTERN, key, job->uid);
}

void agent_job_prepared(struct agent *agent, uint64_t now, uint32_t job_id, uint32_t attempt,
                        const char *problem, struct agent_effects *effects) {
    struct agent_job *job = agent_job_find(agent, job_id);
    struct agent_step *live;

    if (!job || job->attempt < attempt || job->ready != READY_RUNNING)
        return;
    if (problem || job->terminated || !(agent->needs & AGENT_NEEDS_EXTERN)) {
        job_ready_over(agent, job, now, problem, effects);
    } else {
        job_start_extern(agent, job, effects);
        live = agent_job_step(job, (struct step_key) {job_id, STEP_EXTERN, job->attempt});
        if (live->state != STEP_STARTING)
            job_ready_over(agent, job, now, NULL, effects);
    }
    agent_job_try_clean(agent, job, effects);
    agent_job_schedule(agent, job);
}

void agent_extern_reported(struct agent *agent, struct agent_step *step, uint64_t now,
                           const char *problem, struct agent_effects *effects) {
    if (step->key.step_id == STEP_EXTERN && step->job->ready == READY_EXTERN)
        job_ready_over(agent, step->job, now, problem, effects);
}

void agent_job_found(struct agent *agent, uint64_t now, uint32_t job_id, uint32_t attempt,
                     uint32_t uid, bool is_ending, struct agent_effects *effects) {
    struct agent_job *job = agent_job_find(agent, job_id);

    if (job && (job->attempt > attempt || job->ready != READY_NONE))
        return;
    if (!job)
        job = agent_job_add(agent, job_id, attempt, uid);
    job->attempt = attempt;
    job->idle_since = now;
    if (is_ending) {
        job->ready = READY_DONE;
        job->terminated = true;
        agent_job_try_clean(agent, job, effects);
    } else {
        job_begin_ready(agent, job, effects);
    }
    agent_job_schedule(agent, job);
}

/* ---- launching ---- */

static int launch_refuse(const struct agent *agent, struct step_key key, bool by_controller,
                         const struct error *why, struct agent_effects *effects) {
    if (by_controller)
        agent_send_launch_result(agent, key, why->code, why->text, effects);
    return why->code;
}

/* Why this step may not start in the job as it stands here; 0 = it may. */
static int launch_check(const struct agent_job *job, struct step_key key, struct error *err) {
    if (key.attempt < job->attempt)
        return error_set(err, ERR_STALE,
                         "Launch %u of job %u is out of date: this node has seen "
                         "launch %u.",
                         key.attempt, key.job_id, job->attempt);
    if (key.attempt > job->attempt && agent_job_is_busy(job))
        return error_set(err, ERR_BUSY,
                         "Job %u cannot start: steps of its earlier launch %u are "
                         "still being cleaned up on this node.",
                         key.job_id, job->attempt);
    if (key.attempt == job->attempt && job->terminated)
        return error_set(err, ERR_ALREADY_DONE, "Job %u has already been ended on this node.",
                         key.job_id);
    if (key.attempt == job->attempt && idset_contains(&job->used, key.step_id))
        return error_set(err, ERR_STALE, "Step %u of job %u has already been started on this node.",
                         key.step_id, key.job_id);
    if (key.attempt == job->attempt && job->ready == READY_FAILED)
        return error_set(err, ERR_PROLOG, "%s", job->unready);
    return 0;
}

int agent_launch(struct agent *agent, uint64_t now, struct step_key key, uint32_t uid,
                 bool by_controller, struct agent_effects *effects, struct error *err) {
    struct agent_job *job = agent_job_find(agent, key.job_id);
    struct agent_step *step = job ? agent_job_step(job, key) : NULL;
    struct error why = ERROR_INIT;

    if (step && by_controller) { /* the controller asks again: it has missed the answer */
        if (step->state == STEP_DONE)
            agent_send_step_done(agent, step, now, effects);
        else if (step->state == STEP_RUNNING)
            agent_send_launch_result(agent, key, 0, NULL, effects);
        return 0;
    }
    if (job && launch_check(job, key, &why) < 0) {
        if (err)
            *err = why;
        return launch_refuse(agent, key, by_controller, &why, effects);
    }
    if (!job)
        job = agent_job_add(agent, key.job_id, key.attempt, uid);
    else if (key.attempt > job->attempt)
        agent_job_restart(job, key.attempt, uid);
    if (job_needs_ready(agent, job))
        job_begin_ready(agent, job, effects);
    step = agent_step_add(agent, job, key, by_controller);
    step->state = agent_job_is_getting_ready(job) ? STEP_HELD : STEP_STARTING;
    job->has_begun = job->ready == READY_NONE;
    agent_job_schedule(agent, job);
    return step->state == STEP_HELD ? AGENT_LAUNCH_HELD : AGENT_LAUNCH_NOW;
}

void agent_launch_failed(struct agent *agent, uint64_t now, struct step_key key,
                         const struct error *why, struct agent_effects *effects) {
    struct agent_step *step = agent_step_find(agent, key);
    struct agent_job *job;

    if (!step)
        return;
    job = step->job;
    agent_extern_reported(agent, step, now, why->text, effects);
    if (step->by_controller) {
        agent_send_launch_result(agent, key, why->code, why->text, effects);
    } else { /* the controller waits for this node's part of the step */
        struct step_done done = {.job_id = key.job_id,
                                 .step_id = key.step_id,
                                 .attempt = key.attempt,
                                 .exit_status = 1u << 8,
                                 .code = (uint32_t) -why->code,
                                 .detail = (char *) (uintptr_t) why->text};
        agent_step_set_done(agent, step, now, &done, effects);
        return;
    }
    agent_step_free(agent, step);
    job->idle_since = now;
    agent_job_try_clean(agent, job, effects);
    agent_job_schedule(agent, job);
}
