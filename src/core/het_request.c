/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heterogeneous jobs in requests: which components an id means, and which of the components that a
 * request is about are dealt with on their own.
 */
#include <stdio.h>
#include <string.h>

#include "core/state.h"

bool het_select(const struct core *core, uint32_t number, const char *plus, job_ptrs *ret) {
    struct core_job *job = job_find(core, number);
    uint64_t offset;
    if (plus != NULL) {
        struct core_job *member = NULL;
        if (job != NULL && het_is_leader(job) && str_to_u64(plus, &offset) && offset <= UINT32_MAX)
            member = het_member(job, (uint32_t) offset);
        if (member != NULL)
            vec_push(ret, member);
        return member != NULL;
    }
    if (job == NULL || job->het == NULL || !het_is_leader(job))
        return false;
    het_each(job, other) vec_push(ret, other);
    return true;
}

void het_select_some(const struct core *core, uint32_t number, const uint64_t *bits,
                     job_ptrs *ret) {
    struct core_job *job = job_find(core, number);
    if (job == NULL || !het_is_leader(job))
        return;
    het_each(job, other) {
        if (bits[other->rec.het_offset / 64] >> other->rec.het_offset % 64 & 1)
            vec_push(ret, other);
    }
}

void het_choose(struct core *core, job_ptrs *jobs) {
    size_t kept = 0;
    for (size_t i = 0; i < jobs->n; i++) {
        struct core_job *job = jobs->items[i];
        if (job->het == NULL)
            continue;
        if (core->settings.whole_het || het_is_leader(job))
            job->het->chosen = true;
    }
    for (size_t i = 0; i < jobs->n; i++) {
        struct core_job *job = jobs->items[i];
        if (job->het != NULL && job->het->chosen && !het_is_leader(job)) {
            /* Its leader stands for it, also where only a component was named. */
            if (!core->settings.whole_het)
                continue;
            job = het_member(job, 0);
        }
        bool again = false;
        for (size_t k = 0; job->het != NULL && core->settings.whole_het && k < kept; k++)
            again = again || jobs->items[k] == job;
        if (!again)
            jobs->items[kept++] = job;
    }
    jobs->n = kept;
    for (size_t i = 0; i < jobs->n; i++) {
        if (jobs->items[i]->het != NULL)
            jobs->items[i]->het->chosen = false;
    }
}

const char *het_result_id(struct core *core, const struct core_job *job, const struct strs *ids) {
    char text[16];
    int length = snprintf(text, sizeof(text), "%u", job->rec.job_id);
    if (job->het == NULL || (!het_is_leader(job) && !strs_has(ids, text)))
        return job_display_id(core, job);
    return arena_strndup(&core->out->memory, text, (size_t) length);
}

bool het_refuses_alone(const struct core_job *job) {
    return job->het != NULL && !het_is_leader(job);
}
