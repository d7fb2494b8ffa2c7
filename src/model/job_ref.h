/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of jobs, tasks, components and steps as people write them: "12", "12_3", "12_[1-3]", "12+1",
 * "12.0", "12.batch". */
#ifndef SLUICE_MODEL_JOB_REF_H
#define SLUICE_MODEL_JOB_REF_H

#include "base/vec.h"
#include "model/job.h"
#include "text/idset.h"

/* One id as written: job, tasks behind '_' (NULL = all, also "_*"), step behind '.' (NULL = none
 * named). */
struct job_ref {
    uint32_t job_id;
    const char *tasks; /* "3", "[1-3]" */
    const char *step;
    uint32_t component; /* behind '+'; UNSET32 = all */
};
/* False when text does not begin with a job's number. Borrows from text. */
bool job_ref_parse(const char *text, struct job_ref *ret);
/* Adds the tasks that the reference names; false when it names none, or not well. */
bool job_ref_tasks(const struct job_ref *ref, struct idset *set);
/* True if the reference names the job or, for an array's record, one of its waiting tasks. */
bool job_ref_match(const struct job_ref *ref, const struct job *job);

/*
 * Many references, made so that one job is compared with those of its number alone: what a user
 * writes may be as long as a message.
 */
struct job_tasks {
    bool all;
    uint64_t components[HET_COMPONENTS_MAX / 64]; /* one bit for each */
    vec(struct idset) sets; /* one, but where steps cross over too wide a range */
};
struct job_wanted {
    uint32_t job_id;
    struct job_tasks tasks;        /* that any reference names */
    struct job_tasks whole;        /* of those, by a reference without a step */
    vec(struct job_ref) with_step; /* the others */
};
struct job_refs {
    bool any;   /* no reference at all: every job passes */
    bool alone; /* the number of a first component is that of this one, not of the whole */
    vec(struct job_wanted) items; /* by number, each once */
};
/* What is no reference names nothing. Borrows the texts. */
void job_refs_init(struct job_refs *refs, const struct strs *ids);
void job_refs_done(struct job_refs *refs);
#define cleanup_job_refs __attribute__((__cleanup__(job_refs_done)))
bool job_refs_match(const struct job_refs *refs, const struct job *job);
/* Whether the step, written in any case, is named, or the whole job; NULL: the whole job. */
bool job_refs_match_step(const struct job_refs *refs, const struct job *job, const char *step);

#endif
