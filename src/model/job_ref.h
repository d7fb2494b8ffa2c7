/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of jobs, tasks and steps as people write them: "12", "12_3", "12_[1-3]", "12.0", "12.batch".
 */
#ifndef SLUICE_MODEL_JOB_REF_H
#define SLUICE_MODEL_JOB_REF_H

#include "model/job.h"
#include "text/idset.h"

/* One id as written: job, tasks behind '_' (NULL = all), step behind '.' (NULL = none named). */
struct job_ref {
    uint32_t job_id;
    const char *tasks; /* "3", "[1-3]" */
    const char *step;
};
/* False when text does not begin with a job's number. Borrows from text. */
bool job_ref_parse(const char *text, struct job_ref *ret);
/* Adds the tasks that the reference names; false when it names none, or not well. */
bool job_ref_tasks(const struct job_ref *ref, struct idset *set);
/* True if the reference names the job or, for an array's record, one of its waiting tasks. */
bool job_ref_match(const struct job_ref *ref, const struct job *job);

#endif
