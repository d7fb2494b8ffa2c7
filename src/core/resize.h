/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that change their size: part of state.h. A running job may give nodes back (`scontrol update
 * NumNodes= or NodeList=`), never take any in.
 *
 * What it gives back leaves job->rec.allocation for job->rec.leaving at once: no step is placed
 * there any more, and neither the job's account nor its limits are charged for it. The node ends
 * what runs there and cleans up; until it has said so, the entry keeps its CPUs, memory and devices
 * from others, also across a restart of the controller. job_entry() walks over both lists: use it
 * where it matters what a job keeps from others, and the allocation where it matters what it has.
 *
 * The accounting knows the run of each size as a record of its own (JOB_FLAG_RESIZING on all but
 * the last), whose times and resources add up to what was charged.
 */
#ifndef SLUICE_CORE_RESIZE_H
#define SLUICE_CORE_RESIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/job.h"

struct core;
struct core_job;
struct update_job;

static inline uint32_t job_n_entries(const struct job *job) {
    return job->allocation.n + job->leaving.n;
}
static inline struct job_node *job_entry(const struct job *job, uint32_t i) {
    return i < job->allocation.n ? &job->allocation.items[i]
                                 : &job->leaving.items[i - job->allocation.n];
}
static inline bool job_entry_is_leaving(const struct job *job, uint32_t i) {
    return i >= job->allocation.n;
}
/* Nodes that it has now: not those that it has lost (--no-kill). */
uint32_t job_nodes_held(const struct job *job);
/* Has it given the node back, and the node is not clean yet? */
bool job_leaves(const struct core_job *job, uint32_t node);

/* Which of its nodes a running job is to keep: kept[allocation.n], all of them at first. Both
 * narrow the choice down, and are 0, or an error with *ret_why (in the batch, may be NULL). */
must_check int resize_to_count(struct core *core, const struct core_job *job, const char *value,
                               bool *kept, const char **ret_why);
must_check int resize_to_list(struct core *core, const struct core_job *job, const char *value,
                              bool *kept, const char **ret_why);
/* Gives back all others; nothing happens where that is none. */
void job_shrink(struct core *core, struct core_job *job, const bool *kept);
/* The node is clean, or lost. */
void job_leaving_clean(struct core *core, struct core_job *job, uint32_t node);

/* The present run as the accounting knows it: a copy whose times are those of the present size. It
 * borrows all it points to. */
void job_run_of_size(const struct job *job, struct job *ret);
/* A new run begins: at no other size yet. */
void job_resize_forget(struct job *job);

#endif
