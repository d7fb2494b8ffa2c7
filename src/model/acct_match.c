/* SPDX-License-Identifier: Apache-2.0 */
/* Which records answer a question to the accounting. */
#include "model/acct_match.h"

#include "model/job_ref.h"

static bool id_match(const struct strs *ids, const struct job *job) {
    for (uint32_t i = 0; i < ids->n; i++) {
        struct job_ref ref;
        if (job_ref_parse(ids->items[i], &ref) && job_ref_match(&ref, job))
            return true;
    }
    return ids->n == 0;
}

bool acct_query_match(const struct acct_query *query, const struct job *job) {
    if (query->states != 0 && !((query->states >> job->state) & 1))
        return false;
    if (!query->all_users && !u32s_pass(&query->uids, job->uid))
        return false;
    if (query->accounts.n > 0 && !strs_has_nocase(&query->accounts, job->account))
        return false;
    if (query->qos.n > 0 && !strs_has_nocase(&query->qos, job->qos))
        return false;
    if (query->partitions.n > 0 && !strs_has_word(&query->partitions, job->partition))
        return false;
    return strs_pass(&query->names, job->name) && id_match(&query->ids, job);
}

bool acct_query_in_window(const struct acct_query *query, const struct job *job, int64_t now) {
    int64_t until = job_state_is_final(job->state) ? job->end_time : now;
    if (query->start > 0 && until < query->start)
        return false;
    return query->end == 0 || job->submit_time <= query->end;
}
