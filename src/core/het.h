/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heterogeneous jobs; private to src/core. Each component is a job with a record, an id, an
 * allocation and a history of its own; their ids follow each other. The first is the *leader*: the
 * batch script runs on its first node only, and what is done to it is done to all.
 *
 * What holds at the end of every call: all components that wait are in the planner's view, or none
 * is; all start in one turn, and so in one transaction of the store; no record leaves the
 * controller while a component has not ended.
 */
#ifndef SLUICE_CORE_HET_H
#define SLUICE_CORE_HET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/array.h"
#include "model/enums.h"

struct job;
struct sched_job_spec;
struct sched_start;

struct core_het {
    uint32_t id, size;
    struct core_job **members; /* by offset; NULL: it has been forgotten, or is not there yet */
    uint32_t n;                /* members that are not NULL */
    bool chosen;               /* scratch of a request: its leader is among those meant */
    bool syncing;
};

/* The component there, NULL when there is none (any more). */
struct core_job *het_member(const struct core_job *job, uint32_t offset);
/* All components that are there. `other` may be the job itself. Nothing for a job that is none. */
struct core_job *het_after(const struct core_job *job, const struct core_job *before);
#define het_each(job, other)                                                                       \
    for (struct core_job *other = het_after(job, NULL); other != NULL;                             \
         other = het_after(job, other))
bool het_is_leader(const struct core_job *job);   /* also true for a job that is no component */
bool job_runs_script(const struct core_job *job); /* a batch job that has the script */

void het_join(struct core *core, struct core_job *job);
void het_leave(struct core *core, struct core_job *job);
void hets_free(struct core *core);

/* Ids for so many components, one after the other; all are free. */
uint32_t het_take_ids(struct core *core, uint32_t n);

/* ---- the planner's view (het_plan.c) ---- */
/* Of sched_sync(): all are put into the view, or none is. False: it is no component. */
bool het_may_wait(struct core *core, struct core_job *job);
/* The priority that all of them have in the view (SchedulerParameters=bf_hetjob_prio). */
void het_spec(const struct core *core, const struct job *job, struct sched_job_spec *spec);
void het_aged(struct core *core, struct core_job *job); /* the priority of one has changed */
/* The planner has said why it waits. */
void het_explain(struct core *core, struct core_job *job);
enum het_priority { HET_PRIORITY_MIN, HET_PRIORITY_AVG, HET_PRIORITY_MAX };
/* The first of `starts` and all that follow it of the same group: all are committed, or none.
 * Returns how many they are. 0: the first is no component. */
size_t het_commit(struct core *core, const struct sched_start *starts, size_t n);

/* ---- what happens to one happens to others (het.c) ---- */
/* May what waits for it begin: the script, or its owner's command? */
bool het_all_ready(const struct core *core, const struct core_job *job);
/* It has ended, after a run or without one. */
void het_ended(struct core *core, struct core_job *job, bool has_run, const char *why);
void het_requeued(struct core *core, struct core_job *job, bool hold, enum job_state history_state,
                  const char *why, enum job_reason held_reason);
/* It has ended and its nodes are clean. */
void het_clean(struct core *core, struct core_job *job);
/* The earliest moment at which its record may be forgotten: 0 while a component has not ended. */
int64_t het_last_end(const struct core_job *job);

/* ---- requests (het_request.c) ---- */
/* The components that an id means: all of a leader's, or (`plus`: what stands behind it) one.
 * False: it is no such id. */
bool het_select(const struct core *core, uint32_t number, const char *plus, job_ptrs *ret);
/* Those of a leader's whose bits are set. */
void het_select_some(const struct core *core, uint32_t number, const uint64_t *bits, job_ptrs *ret);
/* Takes those components out of what a request is about that their leader stands for. */
void het_choose(struct core *core, job_ptrs *jobs);
/* As the answer to a request names it: the whole by its first component's id, a component as it was
 * written. */
const char *het_result_id(struct core *core, const struct core_job *job, const struct strs *ids);
/* Nothing can be done to it that is not done to all. */
bool het_refuses_alone(const struct core_job *job);

#endif
