/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs around jobs (prolog.c, which says in what order they come); private to src/core.
 */
#ifndef SLUICE_CORE_PROLOG_H
#define SLUICE_CORE_PROLOG_H

#include "model/messages.h"

struct conf;
struct core;
struct core_job;

/* From Prolog, Epilog and their kin; see prolog.c. */
struct prolog_settings {
    bool controller, controller_epilog; /* PrologSlurmctld, EpilogSlurmctld */
    bool node;                          /* nodes run something: they are told more of jobs */
    bool alloc, contain, no_hold, defer_batch, force_requeue; /* PrologFlags */
    bool no_hold_on_fail;
};

void prolog_settings(struct core *core, const struct conf *conf);
/* A job has its nodes: what is to run before it runs, then it is launched or handed to its owner.
 */
void prolog_begin(struct core *core, struct core_job *job);
/* Steps and owners have to wait; the batch script may go to its node. */
bool prolog_holds(const struct core *core, const struct core_job *job);
bool prolog_allows_launch(const struct core *core, const struct core_job *job);
/* A node could not make ready: it is drained, the job is requeued or ended. */
void prolog_failed(struct core *core, struct core_job *job, uint32_t node, const char *detail);
void prolog_prepared(struct core *core, struct core_job *job, uint32_t node,
                     const struct job_prepared *body);
/* A node that registers may have missed JOB_PREPARE, or its answer was lost. */
void prolog_again(struct core *core, struct core_job *job, uint32_t node);
/* A run has ended: EpilogSlurmctld. */
void prolog_end(struct core *core, struct core_job *job);
bool prolog_is_over(const struct core_job *job); /* no program of the controller runs */
void prolog_restored(struct core *core, struct core_job *job);
/* Fills `brief` with what a node, or every node of a step, is told of the job and returns it; NULL:
 * it needs to know nothing. */
struct job *prolog_node_brief(const struct core *core, const struct core_job *job,
                              const struct job_node *entry, struct job *brief);
struct job *prolog_step_brief(const struct core *core, const struct core_job *job,
                              struct job *brief);

/* The record without what is long or nobody's business there. Lives as long as the job does not
 * change; nothing of it is to be freed. */
void job_brief(const struct core_job *job, struct job *ret);

#endif
