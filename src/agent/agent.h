/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The logic of one node, without clock, files or processes: which steps live here, what the
 * controller has been told, what it still has to acknowledge, and what happens next. slurmd feeds
 * it with what it hears (the controller, its slurmstepds, a timer) and carries out the effects; the
 * simulator does the same with a pretended node.
 *
 * Rules:
 *   - Everything carries job, step and attempt. Something of an older attempt changes nothing.
 *   - An ended step is reported (STEP_DONE) and repeated until the controller acknowledges it; only
 *     then its slurmstepd may forget the result.
 *   - JOB_TERMINATE is idempotent. When no step of the job is left the job is cleaned (epilog), and
 *     JOB_CLEAN is repeated until acknowledged.
 *   - Where a node has something to do before a job's first step (agent_needs), launches are held
 *     until that is done; it is done once, asked for by JOB_PREPARE or by the first launch. When it
 *     fails no step starts. A job that ends meanwhile is cleaned when it is over.
 *   - A job that has been terminated stays known for AGENT_TOMBSTONE_USEC, so that an srun which
 *     arrives late with a credential that has not expired starts nothing.
 * Times are microseconds of any monotonic clock. All strings are copied.
 */
#ifndef SLUICE_AGENT_AGENT_H
#define SLUICE_AGENT_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/step_wire.h"
#include "base/vec.h"

#define AGENT_SIGKILL 9 /* the number on every system that this runs on */
#define AGENT_RESEND_USEC 5000000u
#define AGENT_TOMBSTONE_USEC 900000000u /* longer than a launch credential is valid */

struct agent;

struct step_key {
    uint32_t job_id, step_id, attempt;
};
static inline bool step_key_equal(struct step_key a, struct step_key b) {
    return a.job_id == b.job_id && a.step_id == b.step_id && a.attempt == b.attempt;
}

enum agent_effect_kind {
    AGENT_SEND,      /* type, body: to the controller */
    AGENT_COMMAND,   /* command: to the slurmstepd of `key` */
    AGENT_SWEEP,     /* its slurmstepd is gone without a result: kill what it left behind, then call
                        agent_step_swept() */
    AGENT_CLEAN_JOB, /* nothing of the job runs here: run the epilog, remove what the node keeps for
                        it, then call agent_job_cleaned() */
    AGENT_PREPARE_JOB,  /* run the prolog, then call agent_job_prepared() */
    AGENT_START_EXTERN, /* start the extern step, `key`; its slurmstepd reports like others */
    AGENT_START_STEP,   /* a launch that was held: start its slurmstepd now */
    AGENT_DROP_STEP,    /* a launch that was held will not be; body: why */
    AGENT_FORGET_JOB,   /* the controller knows that the job is clean: nothing to remember of it */
};
struct agent_effect {
    enum agent_effect_kind kind;
    struct step_key key;
    uint32_t uid;                /* AGENT_SWEEP, AGENT_…_JOB, AGENT_START_EXTERN */
    uint16_t type;               /* AGENT_SEND: enum msg */
    struct str body;             /* AGENT_SEND: wire encoding; AGENT_DROP_STEP: text */
    struct step_command command; /* AGENT_COMMAND; message is owned here */
};
struct agent_effects {
    vec(struct agent_effect) list;
};
void agent_effects_done(struct agent_effects *effects);

struct agent *agent_new(void);
void agent_free(struct agent *agent);
/* What a job needs here before its first step; a bit mask, 0 at first. Jobs that have begun stay as
 * they are. */
enum agent_need {
    AGENT_NEEDS_PREPARE = 1, /* AGENT_PREPARE_JOB */
    AGENT_NEEDS_EXTERN = 2,  /* then AGENT_START_EXTERN */
};
void agent_needs(struct agent *agent, uint32_t needs);

/* ---- the controller's connection ---- */
/* Nothing is sent until the next welcome. */
void agent_disconnected(struct agent *agent);
/* steps of a NODE_REGISTER: every step here; items owned by malloc (record_done). */
void agent_fill_register(const struct agent *agent, struct node_register *ret);
void agent_welcome(struct agent *agent, uint64_t now, const struct node_welcome *welcome,
                   struct agent_effects *effects);
void agent_ack(struct agent *agent, uint64_t now, const struct step_ref *ref,
               struct agent_effects *effects);
/* KILL to a step that is not here is answered with its end: the controller wants it gone. */
void agent_signal(struct agent *agent, uint64_t now, const struct node_signal *order,
                  struct agent_effects *effects);
void agent_terminate(struct agent *agent, uint64_t now, const struct job_terminate *order,
                     struct agent_effects *effects);

/* ---- making ready ---- */
/* Answered by JOB_PREPARED, at once or when it is over. */
void agent_prepare(struct agent *agent, uint64_t now, const struct job_prepare *order,
                   struct agent_effects *effects);
/* problem NULL = done. */
void agent_job_prepared(struct agent *agent, uint64_t now, uint32_t job_id, uint32_t attempt,
                        const char *problem, struct agent_effects *effects);
/* A restarted slurmd remembers this job: it had begun to make ready for it (AGENT_PREPARE_JOB is
 * asked for again, and AGENT_START_EXTERN for a step that may be there), or, is_ending, to clean up
 * behind it. */
void agent_job_found(struct agent *agent, uint64_t now, uint32_t job_id, uint32_t attempt,
                     uint32_t uid, bool is_ending, struct agent_effects *effects);

/* ---- launching ---- */
enum agent_launch_answer {
    AGENT_LAUNCH_KNOWN = 0, /* it is here already (answered again) */
    AGENT_LAUNCH_NOW = 1,   /* start a slurmstepd for it */
    AGENT_LAUNCH_HELD = 2,  /* AGENT_START_STEP or AGENT_DROP_STEP follows */
};
/* Negative = refused (answered, when the controller asked). by_controller: batch, answered by
 * LAUNCH_RESULT. */
int agent_launch(struct agent *agent, uint64_t now, struct step_key key, uint32_t uid,
                 bool by_controller, struct agent_effects *effects, struct error *err);
/* The slurmstepd could not be started at all. */
void agent_launch_failed(struct agent *agent, uint64_t now, struct step_key key,
                         const struct error *why, struct agent_effects *effects);

/* ---- slurmstepds ---- */
/* A report of a step that is not known is an adopted one (slurmd has been restarted). */
void agent_report(struct agent *agent, uint64_t now, const struct step_report *report,
                  struct agent_effects *effects);
/* The connection to a slurmstepd has ended. Harmless after its result is in. */
void agent_step_lost(struct agent *agent, struct step_key key, struct agent_effects *effects);
/* A restarted slurmd has found what a slurmstepd has left that died meanwhile: until that is swept,
 * the controller must not think that the step's resources are free. */
void agent_step_found_dead(struct agent *agent, struct step_key key, struct agent_effects *effects);
/* `stuck`: what does not die of it; NULL = all is gone. */
void agent_step_swept(struct agent *agent, uint64_t now, struct step_key key, int64_t end_time,
                      const char *stuck, struct agent_effects *effects);
/* problem NULL = clean. */
void agent_job_cleaned(struct agent *agent, uint64_t now, uint32_t job_id, const char *problem,
                       struct agent_effects *effects);

/* ---- time ---- */
void agent_tick(struct agent *agent, uint64_t now, struct agent_effects *effects);
/* When agent_tick() is due; 0 = not at all. */
uint64_t agent_next_tick(const struct agent *agent);

/* ---- looking ---- */
size_t agent_steps(const struct agent *agent); /* that run or are not yet acknowledged */
/* The step that runs under these numbers, and whose it is. */
bool agent_step_running(const struct agent *agent, uint32_t job_id, uint32_t step_id,
                        struct step_key *ret_key, uint32_t *ret_uid);
bool agent_knows_job(const struct agent *agent, uint32_t job_id);

#endif
