/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of a job falls into a time, and what a cluster did with its capacity: the same
 * arithmetic wherever usage is summed up, by slurmdbd hour by hour or by sreport from jobs. The
 * shares of times that follow each other add up to what the job has run, to the second.
 */
#ifndef SLUICE_MODEL_COURSE_H
#define SLUICE_MODEL_COURSE_H

#include <stdint.h>

#include "model/acct_messages.h"
#include "model/job.h"

/* When a job ran. Its suspensions are known by their sum only, and are spread evenly over an ended
 * job; one that has not ended has run them off at its start. */
struct job_course {
    int64_t start;          /* 0: it has not started */
    int64_t end;            /* INT64_MAX: it has not ended */
    int64_t paused_seconds; /* suspensions that are over */
    int64_t paused_since;   /* of the one that lasts; 0: none does */
};
/* Seconds that it ran in [from, to), suspensions not counted. */
int64_t course_seconds(const struct job_course *course, int64_t from, int64_t to);
/* Of a record; superseded: it was requeued, and this is a run that is over. */
struct job_course job_course_of(const struct job *job, bool superseded);
/* Until when it waited since it was eligible: for its start, or to its end; INT64_MAX: it does. */
int64_t course_waited_until(const struct job_course *course);

/* Of an hour: seconds times a TRES that there were, were held, out of service, and wanted by those
 * who waited. */
struct cluster_sum {
    int64_t capacity, allocated, down, planned_down, waiting;
};
/* The numbers of ret, so that the parts add up to what there was: who holds what comes first, then
 * what is out of service, then what waits for the rest. `over` is beyond it. */
void cluster_use_of(const struct cluster_sum *sum, struct cluster_use *ret);

#endif
