/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by agent_state.c (what is here, and what the controller is told of it), agent_launch.c
 * (making ready, launching) and agent.c (what is heard, and time). Jobs by id, each with the steps
 * that run here or whose end the controller has not acknowledged. One heap holds the next thing to
 * do by time for each job: repeat a report, or drop the tombstone of an ended job.
 *
 *   step:  STARTING → RUNNING → DONE → (acknowledged) gone
 *          HELD → STARTING                            the node was not ready for the job yet
 *          STARTING, RUNNING → LOST → DONE            its slurmstepd died; what it left is swept
 *   job:   OPEN → (terminated, no live step) CLEANING → CLEANED → (acknowledged) TOMBSTONE → gone
 *   what its first step needs:
 *          NONE → RUNNING → EXTERN → READY or FAILED  (EXTERN only where there is such a step)
 */
#ifndef SLUICE_AGENT_AGENT_INTERNAL_H
#define SLUICE_AGENT_AGENT_INTERNAL_H

#include "agent/agent.h"
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

/* ---- agent_state.c: effects ---- */
/* To the controller; object is of the message's record. */
void agent_effect_send(struct agent_effects *effects, uint16_t type, const void *object);
/* To the slurmstepd of the step; what is returned is filled in by the caller, before the next
 * effect. */
struct step_command *agent_effect_command(struct agent_effects *effects,
                                          const struct agent_step *step,
                                          enum step_command_kind kind);
void agent_effect_job(struct agent_effects *effects, enum agent_effect_kind kind,
                      struct step_key key, uint32_t uid);

/* ---- agent_state.c: jobs and steps ---- */
struct agent_job *agent_job_find(const struct agent *agent, uint32_t job_id);
struct agent_job *agent_job_add(struct agent *agent, uint32_t job_id, uint32_t attempt,
                                uint32_t uid);
/* A new attempt of a job whose earlier one is over. */
void agent_job_restart(struct agent_job *job, uint32_t attempt, uint32_t uid);
void agent_job_free(struct agent *agent, struct agent_job *job);
bool agent_job_is_getting_ready(const struct agent_job *job);
/* Something of this attempt still goes on here, so that no other may begin. */
bool agent_job_is_busy(const struct agent_job *job);
/* After a while without a step. What the node has made ready stays until the job has ended. */
bool agent_job_is_forgettable(const struct agent_job *job);
/* Puts the job where the heap wants it: its next repetition, or its end as a tombstone. */
void agent_job_schedule(struct agent *agent, struct agent_job *job);
/* Has the job cleaned when it has been terminated and nothing of it runs any more. */
void agent_job_try_clean(struct agent *agent, struct agent_job *job, struct agent_effects *effects);
struct agent_step *agent_job_step(const struct agent_job *job, struct step_key key);
struct agent_step *agent_step_find(const struct agent *agent, struct step_key key);
struct agent_step *agent_step_add(struct agent *agent, struct agent_job *job, struct step_key key,
                                  bool by_controller);
void agent_step_free(struct agent *agent, struct agent_step *step);
/* The step has ended; `done` is copied, and told to the controller until that acknowledges it. */
void agent_step_set_done(struct agent *agent, struct agent_step *step, uint64_t now,
                         const struct step_done *done, struct agent_effects *effects);

/* ---- agent_state.c: telling the controller ---- */
/* code 0 = it runs; an ERR_… or its negative. */
void agent_send_launch_result(const struct agent *agent, struct step_key key, int code,
                              const char *detail, struct agent_effects *effects);
void agent_send_step_done(const struct agent *agent, struct agent_step *step, uint64_t now,
                          struct agent_effects *effects);

/* ---- agent_launch.c ---- */
/* A launch that was held ends before it began. */
void agent_step_drop(struct agent *agent, struct agent_step *step, uint64_t now,
                     const struct error *why, struct agent_effects *effects);
/* If this is the extern step that the job's readiness waits for: it runs, or (problem) never will.
 */
void agent_extern_reported(struct agent *agent, struct agent_step *step, uint64_t now,
                           const char *problem, struct agent_effects *effects);

#endif
