/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of a job falls into a time: pure arithmetic, the same wherever usage is summed up. The
 * shares of times that follow each other add up to what the job has run, to the second.
 */
#ifndef SLUICE_ACCT_SHARE_H
#define SLUICE_ACCT_SHARE_H

#include <stdint.h>

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

#endif
