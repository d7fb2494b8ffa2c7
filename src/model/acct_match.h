/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a job's record answers a question to the accounting. The same for jobs that are still in
 * the controller and for records of a store, which may know some of it from its indexes.
 */
#ifndef SLUICE_MODEL_ACCT_MATCH_H
#define SLUICE_MODEL_ACCT_MATCH_H

#include "model/messages.h"

/* What the question names: ids, users, states, accounts, partitions, names, QOS; all of them. */
bool acct_query_match(const struct acct_query *query, const struct job *job);
/* Whether the job was in the system at some time of the question's window; now: the end so far of
 * a job that has not ended. */
bool acct_query_in_window(const struct acct_query *query, const struct job *job, int64_t now);

#endif
