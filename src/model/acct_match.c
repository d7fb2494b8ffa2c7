/* SPDX-License-Identifier: Apache-2.0 */
/* Which records answer a question to the accounting. */
#include "model/acct_match.h"

#include "base/alloc.h"

struct acct_match {
    const struct acct_query *query;
    struct job_refs refs;
    struct u32s uids; /* sorted */
    struct strs_set accounts, qos, partitions, names;
};

struct acct_match *acct_match_new(const struct acct_query *query) {
    struct acct_match *match = zalloc(struct acct_match);
    match->query = query;
    job_refs_init(&match->refs, &query->ids);
    u32s_set_init(&match->uids, &query->uids);
    strs_set_init_nocase(&match->accounts, &query->accounts);
    strs_set_init_nocase(&match->qos, &query->qos);
    strs_set_init(&match->partitions, &query->partitions);
    strs_set_init(&match->names, &query->names);
    return match;
}

void acct_match_free(struct acct_match *match) {
    if (match == NULL)
        return;
    job_refs_done(&match->refs);
    free(match->uids.items);
    strs_set_done(&match->accounts);
    strs_set_done(&match->qos);
    strs_set_done(&match->partitions);
    strs_set_done(&match->names);
    free(match);
}

bool acct_match_job(const struct acct_match *match, const struct job *job) {
    const struct acct_query *query = match->query;
    if (query->states != 0 && !((query->states >> job->state) & 1))
        return false;
    if (!query->all_users && !u32s_set_pass(&match->uids, job->uid))
        return false;
    return strs_set_pass(&match->accounts, job->account) && strs_set_pass(&match->qos, job->qos) &&
           strs_set_pass_word(&match->partitions, job->partition) &&
           strs_set_pass(&match->names, job->name) && job_refs_match(&match->refs, job);
}

const struct job_refs *acct_match_refs(const struct acct_match *match) {
    return &match->refs;
}

bool acct_query_in_window(const struct acct_query *query, const struct job *job, int64_t now) {
    int64_t until = job_state_is_final(job->state) ? job->end_time : now;
    if (query->start > 0 && until < query->start)
        return false;
    return query->end == 0 || job->submit_time <= query->end;
}
