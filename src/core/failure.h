/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose fault is it? Part of state.h. Jobs that nodes fail, nodes that jobs fail on, and jobs that
 * are requeued again and again: what the record of a job says of it (struct job_trouble), what is
 * remembered of nodes, and what follows.
 *
 *  - A job that could not begin waits 5, 10, 20 … seconds, and is held (JobHoldMaxRequeue) when
 *    that has happened MaxBatchRequeue times. A job that is requeued by its owner, or by its exit
 *    code, after runs of less than a minute waits so, too, from the fourth time in a row on; it is
 *    not held.
 *  - For an hour a requeued job avoids the nodes that failed it, if others could ever run it.
 *  - A node on which a launch failed is drained, unless it is the user that is not known there, the
 *    job has failed on another node before, or launches of the same user have drained
 *    FAILURE_NODES_PER_USER nodes within the hour: then the job is the likelier cause.
 *  - A job during whose runs nodes have gone down sluice_job_breaks times is held.
 *  - A node on which scripts of sluice_node_breaker jobs of FAILURE_USERS users have failed within
 *    seconds, and no other job has done well meanwhile, is drained; but never more than a tenth of
 *    the nodes (one at least) for that reason at a time: what fails everywhere is not one node's
 *    fault.
 *
 * What is remembered of nodes is forgotten when the controller restarts or gets another
 * configuration.
 */
#ifndef SLUICE_CORE_FAILURE_H
#define SLUICE_CORE_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct arena;
struct core;
struct core_job;
struct failures;
struct job;
struct sched_job_spec;

#define FAILURE_DELAY 5          /* seconds before the second try; twice as many before the next */
#define FAILURE_DELAY_MOST 600   /* seconds */
#define FAILURE_AVOIDED 3600     /* seconds for which a node is avoided */
#define FAILURE_NAMED 16         /* of the nodes that failed a job so many are remembered */
#define FAILURE_QUICK_RUN 60     /* seconds; shorter runs are no progress */
#define FAILURE_QUICK_FREE 3     /* requeues after such runs without a delay */
#define FAILURE_NODES_PER_USER 2 /* nodes drained for launches of one user, in FAILURE_AVOIDED */
#define FAILURE_SCRIPT 10        /* seconds; scripts that fail sooner may not be to blame */
#define FAILURE_WINDOW 600       /* seconds in which they count together */
#define FAILURE_USERS 3

/* ---- jobs ---- */
/* A batch job could not be launched on the node: code of the launch's result. Ends it, or has it
 * wait for its next try, or holds it. */
void job_launch_failed(struct core *core, struct core_job *job, uint32_t node, uint32_t code);
/* It could not begin (a Prolog failed; node UINT32_MAX: that of the controller) and is about to be
 * requeued, at once the first time: true when it is to be held as one that has failed too often. */
bool failure_of_begin(struct core *core, struct core_job *job, uint32_t node);
/* The node went down under it by itself, and it is about to be requeued: true when it is to be
 * held. */
bool failure_of_node(struct core *core, struct core_job *job, uint32_t node);
/* Its owner or its exit code wants it once more. Returns the seconds that it will wait, 0. */
int64_t failure_of_requeue(struct core *core, struct core_job *job);
/* Released, or changed by hand: it begins anew. */
void failure_forgive(struct core_job *job);
/* When a waiting job does not avoid nodes any more; 0. */
int64_t failure_due(const struct core_job *job);
/* Adds the nodes that it avoids to those that it excludes, unless none would be left. */
void failure_avoid(struct core *core, const struct job *job, struct arena *arena,
                   struct sched_job_spec *spec);

/* ---- nodes ---- */
/* A batch job has ended on its nodes. */
void failure_run_ended(struct core *core, const struct core_job *job);
void failures_forget(struct core *core);

#endif
