/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a node: jobs by id, each with the steps that run here or whose end the controller
 * has not acknowledged. One heap holds the next thing to do by time for each job: repeat a report,
 * or drop the tombstone of an ended job.
 *
 *   step:  STARTING → RUNNING → DONE → (acknowledged) gone
 *          HELD → STARTING                            the node was not ready for the job yet
 *          STARTING, RUNNING → LOST → DONE            its slurmstepd died; what it left is swept
 *   job:   OPEN → (terminated, no live step) CLEANING → CLEANED → (acknowledged) TOMBSTONE → gone
 *   what its first step needs:
 *          NONE → RUNNING → EXTERN → READY or FAILED  (EXTERN only where there is such a step)
 */
#include "agent/agent.h"

#include <assert.h>
#include <string.h>

#include "base/heap.h"
#include "base/list.h"
#include "base/map.h"
#include "text/idset.h"

enum step_state { STEP_HELD, STEP_STARTING, STEP_RUNNING, STEP_LOST, STEP_DONE };
enum job_ready { READY_NONE, READY_RUNNING, READY_EXTERN, READY_DONE, READY_FAILED };
enum job_phase { JOB_OPEN, JOB_CLEANING, JOB_CLEANED, JOB_TOMBSTONE };

struct agent_job {
    uint32_t job_id, attempt, uid;
    enum job_phase phase;
    enum job_ready ready;
    bool has_begun; /* without making ready, which it needed not then */
    bool is_asked;  /* the controller waits for JOB_PREPARED */
    char *unready;  /* READY_FAILED: why */
    bool terminated;
    char *problem; /* what the cleaning found, for JOB_CLEAN */
    struct list steps;
    struct idset used;    /* numbers of steps that have been here: a credential starts one once */
    uint64_t resend_at;   /* JOB_CLEANED: when JOB_CLEAN is repeated */
    uint64_t idle_since;  /* when the last step was forgotten */
    struct heap_node due; /* 0 key never: not in the heap */
};

struct agent_step {
    struct list in_job;
    struct agent_job *job;
    struct step_key key;
    enum step_state state;
    bool by_controller;
    struct step_done *done; /* STEP_DONE */
    uint64_t resend_at;     /* STEP_DONE */
};

struct agent {
    struct map jobs; /* by job id */
    struct heap due;
    uint64_t n_orders; /* breaks ties in the heap */
    size_t n_steps;
    uint32_t needs; /* enum agent_need */
    bool is_connected;
};

/* ---- effects ---- */

void agent_effects_done(struct agent_effects *effects) {
    vec_each (&effects->list, effect) {
        str_done(&effect->body);
        free(effect->command.message);
    }
    vec_done(&effects->list);
}

static void effect_send(struct agent_effects *effects, uint16_t type, const void *object) {
    struct agent_effect *effect = vec_add(&effects->list);

    effect->kind = AGENT_SEND;
    effect->type = type;
    wire_encode(message_record(type), object, NULL, &effect->body);
}

static struct step_command *effect_command(struct agent_effects *effects,
                                           const struct agent_step *step,
                                           enum step_command_kind kind) {
    struct agent_effect *effect = vec_add(&effects->list);

    effect->kind = AGENT_COMMAND;
    effect->key = step->key;
    effect->command.kind = kind;
    return &effect->command;
}

static void effect_job(struct agent_effects *effects, enum agent_effect_kind kind,
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

static void step_free(struct agent *agent, struct agent_step *step) {
    list_remove(&step->in_job);
    record_free(&record_step_done, step->done);
    free(step);
    agent->n_steps--;
}

static void job_free(struct agent *agent, struct agent_job *job) {
    list_each (&job->steps, node)
        step_free(agent, list_entry(node, struct agent_step, in_job));
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
        job_free(agent, job);
    map_done(&agent->jobs);
    heap_done(&agent->due);
    free(agent);
}

static struct agent_job *job_find(const struct agent *agent, uint32_t job_id) {
    return map_get(&agent->jobs, job_id);
}

static struct agent_job *job_add(struct agent *agent, uint32_t job_id, uint32_t attempt,
                                 uint32_t uid) {
    struct agent_job *job = zalloc(struct agent_job);

    job->job_id = job_id;
    job->attempt = attempt;
    job->uid = uid;
    list_init(&job->steps);
    map_put(&agent->jobs, job_id, job);
    return job;
}

/* A new attempt of a job whose earlier one is over. */
static void job_restart(struct agent_job *job, uint32_t attempt, uint32_t uid) {
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

static bool job_is_getting_ready(const struct agent_job *job) {
    return job->ready == READY_RUNNING || job->ready == READY_EXTERN;
}

/* Something of this attempt still goes on here, so that no other may begin. */
static bool job_is_busy(const struct agent_job *job) {
    return !list_is_empty(&job->steps) || job_is_getting_ready(job) || job->phase == JOB_CLEANING;
}

static struct agent_step *job_step(const struct agent_job *job, struct step_key key) {
    list_each (&job->steps, node) {
        struct agent_step *step = list_entry(node, struct agent_step, in_job);
        if (step_key_equal(step->key, key))
            return step;
    }
    return NULL;
}

static struct agent_step *step_find(const struct agent *agent, struct step_key key) {
    struct agent_job *job = job_find(agent, key.job_id);

    return job ? job_step(job, key) : NULL;
}

static struct agent_step *step_add(struct agent *agent, struct agent_job *job, struct step_key key,
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

/* After a while without a step. What the node has made ready stays until the job has ended. */
static bool job_is_forgettable(const struct agent_job *job) {
    return list_is_empty(&job->steps) &&
           (job->phase == JOB_TOMBSTONE || (job->phase == JOB_OPEN && job->ready == READY_NONE));
}

/* Puts the job where the heap wants it: its next repetition, or its end as a tombstone. */
static void job_schedule(struct agent *agent, struct agent_job *job) {
    uint64_t due = UINT64_MAX;

    list_each (&job->steps, node) {
        struct agent_step *step = list_entry(node, struct agent_step, in_job);
        if (step->state == STEP_DONE)
            due = min_of(due, step->resend_at);
    }
    if (job->phase == JOB_CLEANED)
        due = min_of(due, job->resend_at);
    else if (job_is_forgettable(job))
        due = min_of(due, job->idle_since + AGENT_TOMBSTONE_USEC);
    heap_remove(&agent->due, &job->due);
    if (due != UINT64_MAX)
        heap_push(&agent->due, &job->due, (int64_t) due, agent->n_orders++);
}

/* ---- telling the controller ---- */

static void send_launch_result(const struct agent *agent, struct step_key key, int code,
                               const char *detail, struct agent_effects *effects) {
    struct launch_result result = {.job_id = key.job_id,
                                   .step_id = key.step_id,
                                   .attempt = key.attempt,
                                   .code = code < 0 ? (uint32_t) -code : (uint32_t) code,
                                   .detail = (char *) (uintptr_t) detail};

    if (agent->is_connected)
        effect_send(effects, MSG_LAUNCH_RESULT, &result);
}

static void send_step_done(const struct agent *agent, struct agent_step *step, uint64_t now,
                           struct agent_effects *effects) {
    step->resend_at = now + AGENT_RESEND_USEC;
    if (agent->is_connected)
        effect_send(effects, MSG_STEP_DONE, step->done);
}

static void send_job_clean(const struct agent *agent, uint32_t job_id, uint32_t attempt,
                           const char *problem, struct agent_effects *effects) {
    struct job_clean clean = {
        .job_id = job_id, .attempt = attempt, .problem = (char *) (uintptr_t) problem};

    if (agent->is_connected)
        effect_send(effects, MSG_JOB_CLEAN, &clean);
}

static void job_send_clean(const struct agent *agent, struct agent_job *job, uint64_t now,
                           struct agent_effects *effects) {
    job->resend_at = now + AGENT_RESEND_USEC;
    send_job_clean(agent, job->job_id, job->attempt, job->problem, effects);
}

static void job_try_clean(struct agent *agent, struct agent_job *job,
                          struct agent_effects *effects) {
    if (!job->terminated || job->phase != JOB_OPEN || job_has_live_step(job) ||
        job->ready == READY_RUNNING)
        return;
    job->phase = JOB_CLEANING;
    effect_job(effects, AGENT_CLEAN_JOB, (struct step_key) {job->job_id, UNSET32, job->attempt},
               job->uid);
}

static void step_set_done(struct agent *agent, struct agent_step *step, uint64_t now,
                          const struct step_done *done, struct agent_effects *effects) {
    assert(step->state != STEP_DONE);
    step->state = STEP_DONE;
    step->done = record_dup(&record_step_done, done);
    send_step_done(agent, step, now, effects);
    job_try_clean(agent, step->job, effects);
    job_schedule(agent, step->job);
}

/* ---- the controller's connection ---- */

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

static void step_drop(struct agent *agent, struct agent_step *step, uint64_t now,
                      const struct error *why, struct agent_effects *effects);

static void step_terminate(struct agent *agent, struct agent_step *step, uint64_t now,
                           uint32_t kill_wait, const char *message, struct agent_effects *effects) {
    struct step_command *command;

    if (step->state == STEP_DONE || step->state == STEP_LOST)
        return;
    if (step->state == STEP_HELD) {
        struct error why = ERROR_INIT;
        (void) error_set(&why, ERR_ALREADY_DONE, "Job %u was ended before its step could start.",
                         step->key.job_id);
        step_drop(agent, step, now, &why, effects);
        return;
    }
    command = effect_command(effects, step, STEP_COMMAND_TERMINATE);
    command->kill_wait = kill_wait;
    command->message = xstrdup_null(message);
}

static void job_resend(struct agent *agent, struct agent_job *job, uint64_t now, bool is_due,
                       struct agent_effects *effects) {
    list_each (&job->steps, node) {
        struct agent_step *step = list_entry(node, struct agent_step, in_job);
        if (step->state == STEP_DONE && (!is_due || step->resend_at <= now))
            send_step_done(agent, step, now, effects);
    }
    if (job->phase == JOB_CLEANED && (!is_due || job->resend_at <= now))
        job_send_clean(agent, job, now, effects);
    job_schedule(agent, job);
}

/* The controller knows nothing of a job that this node has made ready for. */
static void job_unwanted(struct agent *agent, uint64_t now, const struct node_step *victim,
                         struct agent_effects *effects) {
    struct agent_job *job = job_find(agent, victim->job_id);
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
        struct agent_step *step =
            step_find(agent, (struct step_key) {victim->job_id, victim->step_id, victim->attempt});
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

    effect_command(effects, step, STEP_COMMAND_FORGET);
    step_free(agent, step);
    if (list_is_empty(&job->steps))
        job->idle_since = now;
    job_schedule(agent, job);
}

void agent_ack(struct agent *agent, uint64_t now, const struct step_ref *ref,
               struct agent_effects *effects) {
    struct agent_job *job = job_find(agent, ref->job_id);
    struct agent_step *step;

    if (!job)
        return;
    step = job_step(job, (struct step_key) {ref->job_id, ref->step_id, ref->attempt});
    if (step) {
        if (step->state == STEP_DONE)
            step_forget(agent, step, now, effects);
        return;
    }
    if (job->phase == JOB_CLEANED && ref->step_id == UNSET32 && ref->attempt == job->attempt) {
        job->phase = JOB_TOMBSTONE;
        job->idle_since = now;
        if (job->ready != READY_NONE)
            effect_job(effects, AGENT_FORGET_JOB,
                       (struct step_key) {job->job_id, UNSET32, job->attempt}, job->uid);
        job_schedule(agent, job);
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
    struct agent_job *job = job_find(agent, key.job_id);
    struct step_done done = {.job_id = key.job_id,
                             .step_id = key.step_id,
                             .attempt = key.attempt,
                             .exit_status = order->signal};

    if (!job)
        job = job_add(agent, key.job_id, key.attempt, 0);
    if (job->attempt != key.attempt || idset_contains(&job->used, key.step_id))
        return;
    step_set_done(agent, step_add(agent, job, key, false), now, &done, effects);
}

void agent_signal(struct agent *agent, uint64_t now, const struct node_signal *order,
                  struct agent_effects *effects) {
    struct agent_job *job = job_find(agent, order->job_id);

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
        command = effect_command(effects, step,
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
    struct agent_job *job = job_find(agent, order->job_id);

    if (!job)
        job = job_add(agent, order->job_id, order->attempt, order->uid);
    if (order->attempt < job->attempt) { /* that attempt left nothing here, or it would be older */
        send_job_clean(agent, order->job_id, order->attempt, NULL, effects);
        return;
    }
    if (order->attempt > job->attempt && !job_is_busy(job))
        job_restart(job, order->attempt, order->uid);
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
    job_try_clean(agent, job, effects);
    job_schedule(agent, job);
}

/* ---- making ready ---- */

static void job_begin_ready(struct agent *agent, struct agent_job *job,
                            struct agent_effects *effects) {
    struct step_key key = {job->job_id, UNSET32, job->attempt};

    job->ready = READY_RUNNING;
    effect_job(effects, AGENT_PREPARE_JOB, key, job->uid);
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
        effect_send(effects, MSG_JOB_PREPARED, &body);
}

void agent_prepare(struct agent *agent, uint64_t now, const struct job_prepare *order,
                   struct agent_effects *effects) {
    struct agent_job *job = job_find(agent, order->job_id);

    if (!job)
        job = job_add(agent, order->job_id, order->attempt, order->uid);
    if (order->attempt < job->attempt)
        return; /* a message that was overtaken */
    if (order->attempt > job->attempt && job_is_busy(job)) {
        struct job_prepared busy = {.job_id = order->job_id,
                                    .attempt = order->attempt,
                                    .code = ERR_BUSY,
                                    .detail = (char *) "its earlier launch is still being cleaned "
                                                       "up on this node"};
        if (agent->is_connected)
            effect_send(effects, MSG_JOB_PREPARED, &busy);
        return;
    }
    if (order->attempt > job->attempt)
        job_restart(job, order->attempt, order->uid);
    if (job->terminated)
        return;
    job->uid = order->uid;
    if (job_needs_ready(agent, job))
        job_begin_ready(agent, job, effects);
    if (job_is_getting_ready(job))
        job->is_asked = true;
    else
        send_prepared(agent, job, effects);
    job_schedule(agent, job);
}

/* A launch that was held ends before it began. */
static void step_drop(struct agent *agent, struct agent_step *step, uint64_t now,
                      const struct error *why, struct agent_effects *effects) {
    struct step_key key = step->key;

    step->state = STEP_STARTING;
    agent_launch_failed(agent, now, key, why, effects);
    effect_job(effects, AGENT_DROP_STEP, key, 0);
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
            step_drop(agent, step, now, &why, effects);
        } else {
            step->state = STEP_STARTING;
            effect_job(effects, AGENT_START_STEP, step->key, job->uid);
        }
    }
}

static void job_start_extern(struct agent *agent, struct agent_job *job,
                             struct agent_effects *effects) {
    struct step_key key = {job->job_id, STEP_EXTERN, job->attempt};

    job->ready = READY_EXTERN;
    if (job_step(job, key)) /* adopted */
        return;
    step_add(agent, job, key, false)->state = STEP_STARTING;
    effect_job(effects, AGENT_START_EXTERN, key, job->uid);
}

void agent_job_prepared(struct agent *agent, uint64_t now, uint32_t job_id, uint32_t attempt,
                        const char *problem, struct agent_effects *effects) {
    struct agent_job *job = job_find(agent, job_id);
    struct agent_step *live;

    if (!job || job->attempt < attempt || job->ready != READY_RUNNING)
        return;
    if (problem || job->terminated || !(agent->needs & AGENT_NEEDS_EXTERN)) {
        job_ready_over(agent, job, now, problem, effects);
    } else {
        job_start_extern(agent, job, effects);
        live = job_step(job, (struct step_key) {job_id, STEP_EXTERN, job->attempt});
        if (live->state != STEP_STARTING)
            job_ready_over(agent, job, now, NULL, effects);
    }
    job_try_clean(agent, job, effects);
    job_schedule(agent, job);
}

/* The extern step runs, or never will. */
static void extern_reported(struct agent *agent, struct agent_step *step, uint64_t now,
                            const char *problem, struct agent_effects *effects) {
    if (step->key.step_id == STEP_EXTERN && step->job->ready == READY_EXTERN)
        job_ready_over(agent, step->job, now, problem, effects);
}

void agent_job_found(struct agent *agent, uint64_t now, uint32_t job_id, uint32_t attempt,
                     uint32_t uid, bool is_ending, struct agent_effects *effects) {
    struct agent_job *job = job_find(agent, job_id);

    if (job && (job->attempt > attempt || job->ready != READY_NONE))
        return;
    if (!job)
        job = job_add(agent, job_id, attempt, uid);
    job->attempt = attempt;
    job->idle_since = now;
    if (is_ending) {
        job->ready = READY_DONE;
        job->terminated = true;
        job_try_clean(agent, job, effects);
    } else {
        job_begin_ready(agent, job, effects);
    }
    job_schedule(agent, job);
}

/* ---- launching ---- */

static int launch_refuse(const struct agent *agent, struct step_key key, bool by_controller,
                         const struct error *why, struct agent_effects *effects) {
    if (by_controller)
        send_launch_result(agent, key, why->code, why->text, effects);
    return why->code;
}

/* Why this step may not start in the job as it stands here; 0 = it may. */
static int launch_check(const struct agent_job *job, struct step_key key, struct error *err) {
    if (key.attempt < job->attempt)
        return error_set(err, ERR_STALE,
                         "Launch %u of job %u is out of date: this node has seen "
                         "launch %u.",
                         key.attempt, key.job_id, job->attempt);
    if (key.attempt > job->attempt && job_is_busy(job))
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
    struct agent_job *job = job_find(agent, key.job_id);
    struct agent_step *step = job ? job_step(job, key) : NULL;
    struct error why = ERROR_INIT;

    if (step && by_controller) { /* the controller asks again: it has missed the answer */
        if (step->state == STEP_DONE)
            send_step_done(agent, step, now, effects);
        else if (step->state == STEP_RUNNING)
            send_launch_result(agent, key, 0, NULL, effects);
        return 0;
    }
    if (job && launch_check(job, key, &why) < 0) {
        if (err)
            *err = why;
        return launch_refuse(agent, key, by_controller, &why, effects);
    }
    if (!job)
        job = job_add(agent, key.job_id, key.attempt, uid);
    else if (key.attempt > job->attempt)
        job_restart(job, key.attempt, uid);
    if (job_needs_ready(agent, job))
        job_begin_ready(agent, job, effects);
    step = step_add(agent, job, key, by_controller);
    step->state = job_is_getting_ready(job) ? STEP_HELD : STEP_STARTING;
    job->has_begun = job->ready == READY_NONE;
    job_schedule(agent, job);
    return step->state == STEP_HELD ? AGENT_LAUNCH_HELD : AGENT_LAUNCH_NOW;
}

void agent_launch_failed(struct agent *agent, uint64_t now, struct step_key key,
                         const struct error *why, struct agent_effects *effects) {
    struct agent_step *step = step_find(agent, key);
    struct agent_job *job;

    if (!step)
        return;
    job = step->job;
    extern_reported(agent, step, now, why->text, effects);
    if (step->by_controller) {
        send_launch_result(agent, key, why->code, why->text, effects);
    } else { /* the controller waits for this node's part of the step */
        struct step_done done = {.job_id = key.job_id,
                                 .step_id = key.step_id,
                                 .attempt = key.attempt,
                                 .exit_status = 1u << 8,
                                 .code = (uint32_t) -why->code,
                                 .detail = (char *) (uintptr_t) why->text};
        step_set_done(agent, step, now, &done, effects);
        return;
    }
    step_free(agent, step);
    job->idle_since = now;
    job_try_clean(agent, job, effects);
    job_schedule(agent, job);
}

/* ---- slurmstepds ---- */

static struct agent_step *step_adopt(struct agent *agent, const struct step_report *report) {
    struct step_key key = {report->job_id, report->step_id, report->attempt};
    struct agent_job *job = job_find(agent, key.job_id);

    if (!job)
        job = job_add(agent, key.job_id, key.attempt, report->uid);
    job->attempt = max_of(job->attempt, key.attempt);
    job->has_begun = true;
    return step_add(agent, job, key, report->by_controller);
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
    struct agent_step *step = step_find(agent, key);

    if (!step) {
        struct agent_job *job = job_find(agent, key.job_id);
        if (job && job->attempt == key.attempt && idset_contains(&job->used, key.step_id))
            return; /* forgotten: a last word of a slurmstepd that is on its way out */
        step = step_adopt(agent, report);
    }
    if (step->state == STEP_STARTING && report->running) {
        step->state = STEP_RUNNING;
        if (step->by_controller)
            send_launch_result(agent, key, 0, NULL, effects);
        extern_reported(agent, step, now, NULL, effects);
    }
    if (report->done)
        extern_reported(agent, step, now,
                        report->done->detail ? report->done->detail : "its extern step has ended",
                        effects);
    if (is_failed_launch(step, report)) {
        struct agent_job *job = step->job;
        send_launch_result(agent, key, (int) report->done->code, report->done->detail, effects);
        step_forget(agent, step, now, effects);
        job_try_clean(agent, job, effects);
        return;
    }
    if (report->done && report->stuck && !step->job->problem)
        step->job->problem = xstrdup(report->stuck);
    if (report->done && step->state != STEP_DONE)
        step_set_done(agent, step, now, report->done, effects);
}

void agent_step_lost(struct agent *agent, struct step_key key, struct agent_effects *effects) {
    struct agent_step *step = step_find(agent, key);

    if (!step || step->state == STEP_DONE || step->state == STEP_LOST || step->state == STEP_HELD)
        return;
    step->state = STEP_LOST;
    effect_job(effects, AGENT_SWEEP, key, step->job->uid);
}

void agent_step_found_dead(struct agent *agent, struct step_key key,
                           struct agent_effects *effects) {
    struct step_report report = {.job_id = key.job_id,
                                 .step_id = key.step_id,
                                 .attempt = key.attempt,
                                 .by_controller = key.step_id == STEP_BATCH};

    if (!step_find(agent, key))
        (void) step_adopt(agent, &report);
    agent_step_lost(agent, key, effects);
}

void agent_step_swept(struct agent *agent, uint64_t now, struct step_key key, int64_t end_time,
                      const char *stuck, struct agent_effects *effects) {
    struct agent_step *step = step_find(agent, key);
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
    extern_reported(agent, step, now, done.detail, effects);
    step_set_done(agent, step, now, &done, effects);
}

void agent_job_cleaned(struct agent *agent, uint64_t now, uint32_t job_id, const char *problem,
                       struct agent_effects *effects) {
    struct agent_job *job = job_find(agent, job_id);

    if (!job || job->phase != JOB_CLEANING)
        return;
    job->phase = JOB_CLEANED;
    if (problem && !job->problem)
        job->problem = xstrdup(problem);
    job_send_clean(agent, job, now, effects);
    job_schedule(agent, job);
}

/* ---- time ---- */

void agent_tick(struct agent *agent, uint64_t now, struct agent_effects *effects) {
    struct heap_node *node;

    while ((node = heap_min(&agent->due)) && (uint64_t) node->key <= now) {
        struct agent_job *job = container_of(node, struct agent_job, due);
        if (job_is_forgettable(job) && job->idle_since + AGENT_TOMBSTONE_USEC <= now)
            job_free(agent, job);
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
    struct agent_job *job = job_find(agent, job_id);

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
    return job_find(agent, job_id) != NULL;
}
