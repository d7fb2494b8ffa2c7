/* SPDX-License-Identifier: Apache-2.0 */
/* What a node hears, from the controller and from its slurmstepds, and what time brings. */
#include "agent/agent_internal.h"

/* ---- the controller's connection ---- */

static void send_job_clean(const struct agent *agent, uint32_t job_id, uint32_t attempt,
                           const char *problem, struct agent_effects *effects) {
    struct job_clean clean = {
        .job_id = job_id, .attempt = attempt, .problem = (char *) (uintptr_t) problem};

    if (agent->is_connected)
        agent_effect_send(effects, MSG_JOB_CLEAN, &clean);
}

static void job_send_clean(const struct agent *agent, struct agent_job *job, uint64_t now,
                           struct agent_effects *effects) {
    job->resend_at = now + AGENT_RESEND_USEC;
    send_job_clean(agent, job->job_id, job->attempt, job->problem, effects);
}

void agent_disconnected(struct agent *agent) {
    agent->is_connected = false;
}

void agent_fill_register(const struct agent *agent, struct node_register *ret) {
    size_t at = 0;
    uint64_t key;
    struct agent_job *job;
    vec(struct node_step) steps = {0};

    while ((job = map_next(&agent->jobs, &at, &key))) {
        if (job->ready != READY_NONE && job->phase != JOB_TOMBSTONE) {
            struct node_step row = {
                .job_id = job->job_id, .step_id = UNSET32, .attempt = job->attempt};
            vec_push(&steps, row);
        }
        list_each (&job->steps, node) {
            struct agent_step *step = list_entry(node, struct agent_step, in_job);
            struct node_step row = {.job_id = step->key.job_id,
                                    .step_id = step->key.step_id,
                                    .attempt = step->key.attempt,
                                    .waits = step->state == STEP_HELD,
                                    .ended = step->state == STEP_DONE,
                                    .exit_status = step->done ? step->done->exit_status : 0};
            vec_push(&steps, row);
        }
    }
    ret->steps.items = steps.items;
    ret->steps.n = (uint32_t) steps.n;
}

static void step_terminate(struct agent *agent, struct agent_step *step, uint64_t now,
                           uint32_t kill_wait, const char *message, struct agent_effects *effects) {
    struct step_command *command;

    if (step->state == STEP_DONE || step->state == STEP_LOST)
        return;
    if (step->state == STEP_HELD) {
        struct error why = ERROR_INIT;
        (void) error_set(&why, ERR_ALREADY_DONE, "Job %u was ended before its step could start.",
                         step->key.job_id);
        agent_step_drop(agent, step, now, &why, effects);
        return;
    }
    command = agent_effect_command(effects, step, STEP_COMMAND_TERMINATE);
    command->kill_wait = kill_wait;
    command->message = xstrdup_null(message);
}

static void job_resend(struct agent *agent, struct agent_job *job, uint64_t now, bool is_due,
                       struct agent_effects *effects) {
    list_each (&job->steps, node) {
        struct agent_step *step = list_entry(node, struct agent_step, in_job);
        if (step->state == STEP_DONE && (!is_due || step->resend_at <= now))
            agent_send_step_done(agent, step, now, effects);
    }
    if (job->phase == JOB_CLEANED && (!is_due || job->resend_at <= now))
        job_send_clean(agent, job, now, effects);
    agent_job_schedule(agent, job);
}

/* The controller knows nothing of a job that this node has made ready for. */
static void job_unwanted(struct agent *agent, uint64_t now, const struct node_step *victim,
                         struct agent_effects *effects) {
    struct agent_job *job = agent_job_find(agent, victim->job_id);
    struct job_terminate order = {.job_id = victim->job_id, .attempt = victim->attempt};

    if (!job || job->attempt != victim->attempt)
        return;
    order.uid = job->uid;
    agent_terminate(agent, now, &order, effects);
}

void agent_welcome(struct agent *agent, uint64_t now, const struct node_welcome *welcome,
                   struct agent_effects *effects) {
    size_t at = 0;
    uint64_t key;
    struct agent_job *job;

    agent->is_connected = welcome->accepted;
    if (!welcome->accepted)
        return;
    for (uint32_t i = 0; i < welcome->kill.n; i++) {
        const struct node_step *victim = &welcome->kill.items[i];
        struct agent_step *step = agent_step_find(
            agent, (struct step_key) {victim->job_id, victim->step_id, victim->attempt});
        if (step)
            step_terminate(agent, step, now, 0, NULL, effects);
        else if (victim->step_id == UNSET32)
            job_unwanted(agent, now, victim, effects);
    }
    while ((job = map_next(&agent->jobs, &at, &key)))
        job_resend(agent, job, now, false, effects);
}

static void step_forget(struct agent *agent, struct agent_step *step, uint64_t now,
                        struct agent_effects *effects) {
    struct agent_job *job = step->job;

    agent_effect_command(effects, step, STEP_COMMAND_FORGET);
    agent_step_free(agent, step);
    if (list_is_empty(&job->steps))
        job->idle_since = now;
    agent_job_schedule(agent, job);
}

void agent_ack(struct agent *agent, uint64_t now, const struct step_ref *ref,
               struct agent_effects *effects) {
    struct agent_job *job = agent_job_find(agent, ref->job_id);
    struct agent_step *step;

    if (!job)
        return;
    step = agent_job_step(job, (struct step_key) {ref->job_id, ref->step_id, ref->attempt});
    if (step) {
        if (step->state == STEP_DONE)
            step_forget(agent, step, now, effects);
        return;
    }
    if (job->phase == JOB_CLEANED && ref->step_id == UNSET32 && ref->attempt == job->attempt) {
        job->phase = JOB_TOMBSTONE;
        job->idle_since = now;
        if (job->ready != READY_NONE)
            agent_effect_job(effects, AGENT_FORGET_JOB,
                             (struct step_key) {job->job_id, UNSET32, job->attempt}, job->uid);
        agent_job_schedule(agent, job);
    }
}

static bool signal_is_for(const struct node_signal *order, const struct agent_step *step) {
    if (order->step_id != UNSET32)
        return order->step_id == step->key.step_id;
    if (order->flags & NODE_SIGNAL_BATCH_ONLY)
        return step->key.step_id == STEP_BATCH;
    if (step->key.step_id == STEP_EXTERN) /* whoever logged in: stops and goes on with the job */
        return order->flags & NODE_SIGNAL_GROUP;
    if (step->key.step_id == STEP_BATCH)
        return order->flags & NODE_SIGNAL_BATCH;
    return true;
}

/* A step that never came here (its srun died before the launch) ends now, and cannot come later. */
static void kill_absent(struct agent *agent, uint64_t now, const struct node_signal *order,
                        struct agent_effects *effects) {
    struct step_key key = {order->job_id, order->step_id, order->attempt};
    struct agent_job *job = agent_job_find(agent, key.job_id);
    struct step_done done = {.job_id = key.job_id,
                             .step_id = key.step_id,
                             .attempt = key.attempt,
                             .exit_status = order->signal};

    if (!job)
        job = agent_job_add(agent, key.job_id, key.attempt, 0);
    if (job->attempt != key.attempt || idset_contains(&job->used, key.step_id))
        return;
    agent_step_set_done(agent, agent_step_add(agent, job, key, false), now, &done, effects);
}

void agent_signal(struct agent *agent, uint64_t now, const struct node_signal *order,
                  struct agent_effects *effects) {
    struct agent_job *job = agent_job_find(agent, order->job_id);
    bool ends = order->signal == AGENT_SIGKILL || order->flags & NODE_SIGNAL_END;

    if (ends && order->step_id < STEP_INTERACTIVE)
        kill_absent(agent, now, order, effects);
    if (!job)
        return;
    list_each (&job->steps, node) {
        struct agent_step *step = list_entry(node, struct agent_step, in_job);
        struct step_command *command;
        if (step->state == STEP_DONE || step->state == STEP_LOST ||
            step->key.attempt != order->attempt || !signal_is_for(order, step))
            continue;
        if (step->state == STEP_HELD) {
            if (order->signal == AGENT_SIGKILL)
                step_terminate(agent, step, now, 0, NULL, effects);
            continue;
        }
        command = agent_effect_command(effects, step,
                                       order->signal == 0 && order->time_limit != UNSET32
                                           ? STEP_COMMAND_LIMIT
                                           : STEP_COMMAND_SIGNAL);
        command->signal = order->signal;
        command->time_limit = order->time_limit;
        command->flags = order->flags;
        command->message = xstrdup_null(order->message);
    }
}

void agent_terminate(struct agent *agent, uint64_t now, const struct job_terminate *order,
                     struct agent_effects *effects) {
    struct agent_job *job = agent_job_find(agent, order->job_id);

    if (!job)
        job = agent_job_add(agent, order->job_id, order->attempt, order->uid);
    if (order->attempt < job->attempt) { /* that attempt left nothing here, or it would be older */
        send_job_clean(agent, order->job_id, order->attempt, NULL, effects);
        return;
    }
    if (order->attempt > job->attempt && !agent_job_is_busy(job))
        agent_job_restart(job, order->attempt, order->uid);
    job->attempt = order->attempt;
    job->terminated = true;
    job->is_asked = false;
    list_each (&job->steps, node)
        step_terminate(agent, list_entry(node, struct agent_step, in_job), now, order->kill_wait,
                       order->message, effects);
    if (job->phase == JOB_TOMBSTONE)
        job->phase = JOB_CLEANED; /* the controller has not heard it */
    if (job->phase == JOB_CLEANED)
        job_send_clean(agent, job, now, effects);
    agent_job_try_clean(agent, job, effects);
    agent_job_schedule(agent, job);
}

/* ---- slurmstepds ---- */

static struct agent_step *step_adopt(struct agent *agent, const struct step_report *report) {
    struct step_key key = {report->job_id, report->step_id, report->attempt};
    struct agent_job *job = agent_job_find(agent, key.job_id);

    if (!job)
        job = agent_job_add(agent, key.job_id, key.attempt, report->uid);
    job->attempt = max_of(job->attempt, key.attempt);
    job->has_begun = true;
    return agent_step_add(agent, job, key, report->by_controller);
}

/* A script that never began for want of something on this node (room for it, say) is no end of the
 * job: the controller launches it elsewhere. A file of the user's that cannot be opened is one. */
static bool is_failed_launch(const struct agent_step *step, const struct step_report *report) {
    return report->done && !report->stuck && step->by_controller && step->state == STEP_STARTING &&
           report->done->code != 0 && !report->done->output_failed;
}

void agent_report(struct agent *agent, uint64_t now, const struct step_report *report,
                  struct agent_effects *effects) {
    struct step_key key = {report->job_id, report->step_id, report->attempt};
    struct agent_step *step = agent_step_find(agent, key);

    if (!step) {
        struct agent_job *job = agent_job_find(agent, key.job_id);
        if (job && job->attempt == key.attempt && idset_contains(&job->used, key.step_id))
            return; /* forgotten: a last word of a slurmstepd that is on its way out */
        step = step_adopt(agent, report);
    }
    if (step->state == STEP_STARTING && report->running) {
        step->state = STEP_RUNNING;
        if (step->by_controller)
            agent_send_launch_result(agent, key, 0, NULL, effects);
        agent_extern_reported(agent, step, now, NULL, effects);
    }
    if (report->done)
        agent_extern_reported(
            agent, step, now,
            report->done->detail ? report->done->detail : "its extern step has ended", effects);
    if (is_failed_launch(step, report)) {
        struct agent_job *job = step->job;
        agent_send_launch_result(agent, key, (int) report->done->code, report->done->detail,
                                 effects);
        step_forget(agent, step, now, effects);
        agent_job_try_clean(agent, job, effects);
        return;
    }
    if (report->done && report->stuck && !step->job->problem)
        step->job->problem = xstrdup(report->stuck);
    if (report->done && step->state != STEP_DONE)
        agent_step_set_done(agent, step, now, report->done, effects);
}

void agent_step_lost(struct agent *agent, struct step_key key, struct agent_effects *effects) {
    struct agent_step *step = agent_step_find(agent, key);

    if (!step || step->state == STEP_DONE || step->state == STEP_LOST || step->state == STEP_HELD)
        return;
    step->state = STEP_LOST;
    agent_effect_job(effects, AGENT_SWEEP, key, step->job->uid);
}

void agent_step_found_dead(struct agent *agent, struct step_key key,
                           struct agent_effects *effects) {
    struct step_report report = {.job_id = key.job_id,
                                 .step_id = key.step_id,
                                 .attempt = key.attempt,
                                 .by_controller = key.step_id == STEP_BATCH};

    if (!agent_step_find(agent, key))
        (void) step_adopt(agent, &report);
    agent_step_lost(agent, key, effects);
}

void agent_step_swept(struct agent *agent, uint64_t now, struct step_key key, int64_t end_time,
                      const char *stuck, struct agent_effects *effects) {
    struct agent_step *step = agent_step_find(agent, key);
    struct step_done done = {.job_id = key.job_id,
                             .step_id = key.step_id,
                             .attempt = key.attempt,
                             .exit_status = AGENT_SIGKILL,
                             .end_time = end_time,
                             .code = ERR_SYSTEM,
                             .detail = (char *) "slurmstepd ended unexpectedly; the processes of "
                                                "its step were killed."};

    if (stuck) {
        done.stuck = true;
        done.detail = (char *) (uintptr_t) stuck;
        if (step && !step->job->problem)
            step->job->problem = xstrdup(stuck);
    }
    if (!step || step->state != STEP_LOST)
        return;
    agent_extern_reported(agent, step, now, done.detail, effects);
    agent_step_set_done(agent, step, now, &done, effects);
}

void agent_job_cleaned(struct agent *agent, uint64_t now, uint32_t job_id, const char *problem,
                       struct agent_effects *effects) {
    struct agent_job *job = agent_job_find(agent, job_id);

    if (!job || job->phase != JOB_CLEANING)
        return;
    job->phase = JOB_CLEANED;
    if (problem && !job->problem)
        job->problem = xstrdup(problem);
    job_send_clean(agent, job, now, effects);
    agent_job_schedule(agent, job);
}

/* ---- time ---- */

void agent_tick(struct agent *agent, uint64_t now, struct agent_effects *effects) {
    struct heap_node *node;

    while ((node = heap_min(&agent->due)) && (uint64_t) node->key <= now) {
        struct agent_job *job = container_of(node, struct agent_job, due);
        if (agent_job_is_forgettable(job) && job->idle_since + AGENT_TOMBSTONE_USEC <= now)
            agent_job_free(agent, job);
        else
            job_resend(agent, job, now, true, effects);
    }
}

uint64_t agent_next_tick(const struct agent *agent) {
    struct heap_node *node = heap_min(&agent->due);

    return node ? (uint64_t) node->key : 0;
}

/* ---- looking ---- */

size_t agent_steps(const struct agent *agent) {
    return agent->n_steps;
}

bool agent_step_running(const struct agent *agent, uint32_t job_id, uint32_t step_id,
                        struct step_key *ret_key, uint32_t *ret_uid) {
    struct agent_job *job = agent_job_find(agent, job_id);

    if (!job)
        return false;
    list_each (&job->steps, node) {
        struct agent_step *step = list_entry(node, struct agent_step, in_job);
        if (step->key.step_id != step_id || step->state != STEP_RUNNING)
            continue;
        *ret_key = step->key;
        *ret_uid = job->uid;
        return true;
    }
    return false;
}

bool agent_knows_job(const struct agent *agent, uint32_t job_id) {
    return agent_job_find(agent, job_id) != NULL;
}
