/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a job's record answers a question to the accounting. The same for jobs that are still in
 * the controller and for records of a store, which may know some of it from its indexes.
 */
#ifndef SLUICE_MODEL_ACCT_MATCH_H
#define SLUICE_MODEL_ACCT_MATCH_H

#include "model/job_ref.h"
#include "model/messages.h"

/* What a question names: ids, users, states, accounts, partitions, names, QOS; all of them. Made
 * once, so that each record costs little however long the lists are. Borrows the question. */
struct acct_match;
struct acct_match *acct_match_new(const struct acct_query *query);
void acct_match_free(struct acct_match *match); /* NULL is ignored */
bool acct_match_job(const struct acct_match *match, const struct job *job);
/* The ids asked for, each number once. */
const struct job_refs *acct_match_refs(const struct acct_match *match);
/* Whether the job was in the system at some time of the question's window; now: the end so far of
 * a job that has not ended. */
bool acct_query_in_window(const struct acct_query *query, const struct job *job, int64_t now);

#endif
