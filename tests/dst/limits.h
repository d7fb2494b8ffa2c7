/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must hold of accounts, in worlds that enforce limits:
 *
 *   - When a job starts, neither its account nor one above it has more running jobs or CPUs than
 *     GrpJobs and GrpTRES say at that time, nor has used up GrpTRESMins; nor has its user more jobs
 *     than MaxJobs.
 *   - Where usage does not decay, what is stored as used is, to the second, what the rows of the
 *     history say, over every crash.
 *   - Once all limits are lifted, no job waits for one.
 */
#ifndef SLUICE_TESTS_DST_LIMITS_H
#define SLUICE_TESTS_DST_LIMITS_H

#include "base/map.h"
#include "base/vec.h"
#include "model/job.h"
#include "schema/schema.h"

struct check;
struct effect;
struct limits {
    bool enforced;
    bool sums;          /* usage does not decay, no clock jumps and nothing is lost */
    struct map assocs;  /* number -> record */
    struct map usage;   /* number of an association -> record */
    struct map jobs;    /* id -> what is charged while it runs */
    struct map waiting; /* id -> anything */
    vec(uint32_t) started;
    double rows_seconds; /* of all rows of the history */
    uint64_t n_limited;  /* starts below a limit */
};

void limits_done(struct limits *limits);
/* Is there this association? user NULL: of the account itself. */
bool limits_know(const struct limits *limits, const char *account, const char *user);
/* The controller's records are read again; those of jobs come by limits_job(). */
void limits_restored(struct check *check);
/* Records of the book and of usage that are put or deleted. */
void limits_effect(struct check *check, const struct effect *effect);
void limits_job(struct check *check, const struct job *job, bool started);
void limits_job_left(struct check *check, uint32_t job_id);
void limits_row(struct check *check, const struct job *job, bool superseded);
void limits_turn(struct check *check);
/* Every limit has been lifted long ago. */
void limits_lifted(struct check *check);
void limits_end(struct check *check);

#endif
