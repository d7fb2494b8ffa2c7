/* SPDX-License-Identifier: Apache-2.0 */
/* The jobs and steps of a node, and what is sent of them. */
#include <assert.h>

#include "agent/agent_internal.h"

/* ---- effects ---- */

void agent_effects_done(struct agent_effects *effects) {
    vec_each (&effects->list, effect) {
        str_done(&effect->body);
        free(effect->command.message);
    }
    vec_done(&effects->list);
}

void agent_effect_send(struct agent_effects *effects, uint16_t type, const void *object) {
    struct agent_effect *effect = vec_add(&effects->list);

    effect->kind = AGENT_SEND;
    effect->type = type;
    wire_encode(message_record(type), object, NULL, &effect->body);
}

struct step_command *agent_effect_command(struct agent_effects *effects,
                                          const struct agent_step *step,
                                          enum step_command_kind kind) {
    struct agent_effect *effect = vec_add(&effects->list);

    effect->kind = AGENT_COMMAND;
    effect->key = step->key;
    effect->command.kind = kind;
    return &effect->command;
}

void agent_effect_job(struct agent_effects *effects, enum agent_effect_kind kind,
                      struct step_key key, uint32_t uid) {
    struct agent_effect *effect = vec_add(&effects->list);

    effect->kind = kind;
    effect->key = key;
    effect->uid = uid;
}

/* ---- jobs and steps ---- */

struct agent *agent_new(void) {
    return zalloc(struct agent);
}

void agent_step_free(struct agent *agent, struct agent_step *step) {
    list_remove(&step->in_job);
    record_free(&record_step_done, step->done);
    free(step);
    agent->n_steps--;
}

void agent_job_free(struct agent *agent, struct agent_job *job) {
    list_each (&job->steps, node)
        agent_step_free(agent, list_entry(node, struct agent_step, in_job));
    heap_remove(&agent->due, &job->due);
    map_remove(&agent->jobs, job->job_id);
    idset_done(&job->used);
    free(job->problem);
    free(job->unready);
    free(job);
}

void agent_needs(struct agent *agent, uint32_t needs) {
    agent->needs = needs;
}

void agent_free(struct agent *agent) {
    size_t at = 0;
    uint64_t key;
    struct agent_job *job;

    if (!agent)
        return;
    while ((job = map_next(&agent->jobs, &at, &key)))
        agent_job_free(agent, job);
    map_done(&agent->jobs);
    heap_done(&agent->due);
    free(agent);
}

struct agent_job *agent_job_find(const struct agent *agent, uint32_t job_id) {
    return map_get(&agent->jobs, job_id);
}

struct agent_job *agent_job_add(struct agent *agent, uint32_t job_id, uint32_t attempt,
                                uint32_t uid) {
    struct agent_job *job = zalloc(struct agent_job);

    job->job_id = job_id;
    job->attempt = attempt;
    job->uid = uid;
    list_init(&job->steps);
    map_put(&agent->jobs, job_id, job);
    return job;
}

void agent_job_restart(struct agent_job *job, uint32_t attempt, uint32_t uid) {
    job->attempt = attempt;
    job->uid = uid;
    job->phase = JOB_OPEN;
    job->terminated = false;
    job->ready = READY_NONE;
    job->has_begun = job->is_asked = false;
    free(take(job->unready));
    free(take(job->problem));
    idset_done(&job->used);
}

bool agent_job_is_getting_ready(const struct agent_job *job) {
    return job->ready == READY_RUNNING || job->ready == READY_EXTERN;
}

bool agent_job_is_busy(const struct agent_job *job) {
    return !list_is_empty(&job->steps) || agent_job_is_getting_ready(job) ||
           job->phase == JOB_CLEANING;
}

struct agent_step *agent_job_step(const struct agent_job *job, struct step_key key) {
    list_each (&job->steps, node) {
        struct agent_step *step = list_entry(node, struct agent_step, in_job);
        if (step_key_equal(step->key, key))
            return step;
    }
    return NULL;
}

struct agent_step *agent_step_find(const struct agent *agent, struct step_key key) {
    struct agent_job *job = agent_job_find(agent, key.job_id);

    return job ? agent_job_step(job, key) : NULL;
}

struct agent_step *agent_step_add(struct agent *agent, struct agent_job *job, struct step_key key,
                                  bool by_controller) {
    struct agent_step *step = zalloc(struct agent_step);

    step->job = job;
    step->key = key;
    step->state = STEP_STARTING;
    step->by_controller = by_controller;
    list_append(&job->steps, &step->in_job);
    idset_add(&job->used, key.step_id);
    agent->n_steps++;
    return step;
}

static bool job_has_live_step(const struct agent_job *job) {
    list_each (&job->steps, node) {
        if (list_entry(node, struct agent_step, in_job)->state != STEP_DONE)
            return true;
    }
    return false;
}

bool agent_job_is_forgettable(const struct agent_job *job) {
    return list_is_empty(&job->steps) &&
           (job->phase == JOB_TOMBSTONE || (job->phase == JOB_OPEN && job->ready == READY_NONE));
}

void agent_job_schedule(struct agent *agent, struct agent_job *job) {
    uint64_t due = UINT64_MAX;

    list_each (&job->steps, node) {
        struct agent_step *step = list_entry(node, struct agent_step, in_job);
        if (step->state == STEP_DONE)
            due = min_of(due, step->resend_at);
    }
    if (job->phase == JOB_CLEANED)
        due = min_of(due, job->resend_at);
    else if (agent_job_is_forgettable(job))
        due = min_of(due, job->idle_since + AGENT_TOMBSTONE_USEC);
    heap_remove(&agent->due, &job->due);
    if (due != UINT64_MAX)
        heap_push(&agent->due, &job->due, (int64_t) due, agent->n_orders++);
}

/* ---- telling the controller ---- */

void agent_send_launch_result(const struct agent *agent, struct step_key key, int code,
                              const char *detail, struct agent_effects *effects) {
    struct launch_result result = {.job_id = key.job_id,
                                   .step_id = key.step_id,
                                   .attempt = key.attempt,
                                   .code = code < 0 ? (uint32_t) -code : (uint32_t) code,
                                   .detail = (char *) (uintptr_t) detail};

    if (agent->is_connected)
        agent_effect_send(effects, MSG_LAUNCH_RESULT, &result);
}

void agent_send_step_done(const struct agent *agent, struct agent_step *step, uint64_t now,
                          struct agent_effects *effects) {
    step->resend_at = now + AGENT_RESEND_USEC;
    if (agent->is_connected)
        agent_effect_send(effects, MSG_STEP_DONE, step->done);
}

void agent_job_try_clean(struct agent *agent, struct agent_job *job,
                         struct agent_effects *effects) {
    if (!job->terminated || job->phase != JOB_OPEN || job_has_live_step(job) ||
        job->ready == READY_RUNNING)
        return;
    job->phase = JOB_CLEANING;
    agent_effect_job(effects, AGENT_CLEAN_JOB,
                     (struct step_key) {job->job_id, UNSET32, job->attempt}, job->uid);
}

void agent_step_set_done(struct agent *agent, struct agent_step *step, uint64_t now,
                         const struct step_done *done, struct agent_effects *effects) {
    assert(step->state != STEP_DONE);
    step->state = STEP_DONE;
    step->done = record_dup(&record_step_done, done);
    agent_send_step_done(agent, step, now, effects);
    agent_job_try_clean(agent, step->job, effects);
    agent_job_schedule(agent, step->job);
}
