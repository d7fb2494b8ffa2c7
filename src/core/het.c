/* SPDX-License-Identifier: Apache-2.0 */
/* Components of heterogeneous jobs: who belongs together, and what the end of one means to others.
 */
#include "core/state.h"

/* ---- who belongs together ---- */

struct core_job *het_after(const struct core_job *job, const struct core_job *before) {
    const struct core_het *het = job->het;
    if (het == NULL)
        return NULL;
    for (uint32_t i = before != NULL ? before->rec.het_offset + 1 : 0; i < het->size; i++) {
        if (het->members[i] != NULL)
            return het->members[i];
    }
    return NULL;
}

struct core_job *het_member(const struct core_job *job, uint32_t offset) {
    return job->het != NULL && offset < job->het->size ? job->het->members[offset] : NULL;
}

bool het_is_leader(const struct core_job *job) {
    return job->rec.het_offset == 0;
}

bool job_runs_script(const struct core_job *job) {
    return job->rec.kind == JOB_KIND_BATCH && het_is_leader(job);
}

void het_join(struct core *core, struct core_job *job) {
    const struct job *rec = &job->rec;
    if (rec->het_job_id == 0 || rec->het_offset >= rec->het_size)
        return;
    struct core_het *het = map_get(&core->hets, rec->het_job_id);
    if (het == NULL) {
        het = zalloc(struct core_het);
        het->id = rec->het_job_id;
        het->size = rec->het_size;
        het->members = xcalloc(het->size, sizeof(struct core_job *));
        map_put(&core->hets, het->id, het);
    }
    if (rec->het_offset >= het->size || het->members[rec->het_offset] != NULL)
        return;
    het->members[rec->het_offset] = job;
    het->n++;
    job->het = het;
}

static void het_free(struct core_het *het) {
    free(het->members);
    free(het);
}

void het_leave(struct core *core, struct core_job *job) {
    struct core_het *het = job->het;
    if (het == NULL)
        return;
    job->het = NULL;
    het->members[job->rec.het_offset] = NULL;
    if (--het->n > 0)
        return;
    map_remove(&core->hets, het->id);
    het_free(het);
}

void hets_free(struct core *core) {
    size_t at = 0;
    uint64_t key;
    struct core_het *het;
    while ((het = map_next(&core->hets, &at, &key)) != NULL)
        het_free(het);
    map_done(&core->hets);
}

static bool ids_are_free(const struct core *core, uint32_t first, uint32_t n) {
    if (first > core->settings.max_job_id || core->settings.max_job_id - first < n - 1)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        if (job_find(core, first + i) != NULL)
            return false;
    }
    return true;
}

/* There are far more ids than jobs (MaxJobCount): some stretch is free. */
uint32_t het_take_ids(struct core *core, uint32_t n) {
    uint32_t first = job_take_id(core);
    while (!ids_are_free(core, first, n))
        first = job_take_id(core);
    core->meta.next_job_id = first + n;
    return first;
}

/* ---- the programs around them ---- */

bool het_all_ready(const struct core *core, const struct core_job *job) {
    het_each(job, other) {
        bool ready = other->rec.kind == JOB_KIND_BATCH ? prolog_allows_launch(core, other)
                                                       : !prolog_holds(core, other);
        /* One that somebody has ended holds up nobody. */
        if (job_is_pending(other) || (job_has_nodes(other) && !ready))
            return false;
    }
    return true;
}

/* ---- the end ---- */

/* An end that is nobody's decision about this component alone is the end of all. A running one may
 * be cancelled alone, and its own time limit ends it alone. */
static bool ends_all(const struct core_job *job, bool has_run) {
    return het_is_leader(job) || !has_run ||
           !(job->rec.state == JOB_CANCELLED || job->rec.state == JOB_TIMEOUT ||
             job->rec.state == JOB_COMPLETED);
}

void het_clean(struct core *core, struct core_job *job) {
    het_each(job, other) {
        if (job_state_is_final(other->rec.state))
            job_arm(core, other);
    }
}

void het_ended(struct core *core, struct core_job *job, bool has_run, const char *why) {
    if (job->het == NULL)
        return;
    if (ends_all(job, has_run)) {
        het_each(job, other) {
            if (job_state_is_final(other->rec.state))
                continue;
            other->rec.cancel_uid = job->rec.cancel_uid;
            job_finish(core, other, (enum job_state) job->rec.state,
                       job_is_pending(other) ? (enum job_reason) other->rec.reason
                                             : (enum job_reason) job->rec.reason,
                       job->rec.exit_status, why);
        }
    }
    het_clean(core, job);
}

void het_requeued(struct core *core, struct core_job *job, bool hold, enum job_state history_state,
                  const char *why, enum job_reason held_reason) {
    het_each(job, other) {
        if (!job_is_pending(other))
            job_requeue(core, other, hold, history_state, why, held_reason);
    }
}

int64_t het_last_end(const struct core_job *job) {
    int64_t last = 0;
    het_each(job, other) {
        if (!job_state_is_final(other->rec.state) || (other->rec.flags & JOB_FLAG_COMPLETING))
            return 0;
        last = max_of(last, other->rec.end_time);
    }
    return last;
}
