/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Components of heterogeneous jobs as the planner sees them: all or none in its view, one priority
 * for all, and starts that are committed together.
 */
#include <string.h>

#include "core/state.h"

/* ---- the view ---- */

static bool het_wanted(struct core *core, const struct core_job *job) {
    bool all = job->het->n == job->het->size;
    het_each(job, other) all =
        sched_wanted(core, other) && all; /* each is looked at: that notes its reason */
    return all;
}

bool het_may_wait(struct core *core, struct core_job *job) {
    struct core_het *het = job->het;
    if (het == NULL)
        return false;
    if (het->syncing)
        return true;
    het->syncing = true;
    bool wanted = het_wanted(core, job);
    het_each(job, other) sched_sync_one(core, other, wanted);
    /* What one of them names may have gone since it was submitted. */
    het_each(job, other) wanted = wanted && other->in_sched;
    if (!wanted) {
        het_each(job, other) sched_sync_one(core, other, false);
    }
    het->syncing = false;
    return true;
}

/* The lowest by default: the whole waits as long as any of its components would. */
static uint32_t het_priority(const struct core *core, const struct core_het *het) {
    uint32_t low = UINT32_MAX, high = 0;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < het->size; i++) {
        uint32_t priority = het->members[i] != NULL ? het->members[i]->rec.priority : 0;
        if (het->members[i] == NULL)
            continue;
        low = min_of(low, priority);
        high = max_of(high, priority);
        sum += priority;
    }
    switch (core->settings.het_priority) {
    case HET_PRIORITY_MAX:
        return high;
    case HET_PRIORITY_AVG:
        return (uint32_t) (sum / het->n);
    default:
        return low;
    }
}

void het_spec(const struct core *core, const struct job *job, struct sched_job_spec *spec) {
    const struct core_het *het =
        job->het_job_id != 0 ? map_get(&core->hets, job->het_job_id) : NULL;
    if (het == NULL)
        return;
    spec->group = het->id;
    spec->group_size = het->size;
    if (spec->priority > 0)
        spec->priority = max_of(het_priority(core, het), 1u);
}

void het_aged(struct core *core, struct core_job *job) {
    uint32_t priority = het_priority(core, job->het);
    het_each(job, other) {
        if (other->in_sched)
            sched_job_priority(core->sched, other->rec.job_id, priority);
    }
}

/* ---- starts ---- */

static bool same_node(const struct sched_alloc *a, const struct sched_alloc *b) {
    return a->node == b->node;
}

/* All that the group takes of the node of one of its allocations, as one. */
static struct sched_alloc sum_of_node(const struct sched_start *starts, size_t n,
                                      const struct sched_alloc *alloc) {
    struct sched_alloc sum = {.node = alloc->node};
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < starts[i].n_allocs; k++) {
            const struct sched_alloc *other = &starts[i].allocs[k];
            if (!same_node(alloc, other))
                continue;
            for (size_t g = 0; g < SCHED_GRES_KINDS; g++)
                sum.gres[g] += other->gres[g];
            for (size_t c = 0; c < SCHED_CARDS; c++)
                sum.cards[c] += other->cards[c];
        }
    }
    return sum;
}

static bool may_start(struct core *core, const struct sched_start *starts, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const struct core_job *job = job_find(core, starts[i].job_id);
        if (job == NULL || !job_is_pending(job) || job->rec.flags != 0 || job->rec.priority == 0 ||
            job->het->size != n)
            return false;
        for (size_t k = 0; k < starts[i].n_allocs; k++) {
            struct sched_alloc sum = sum_of_node(starts, n, &starts[i].allocs[k]);
            if (!cards_allow(core, &sum))
                return false;
        }
    }
    return true;
}

static size_t of_one_group(struct core *core, const struct sched_start *starts, size_t n) {
    const struct core_job *first = job_find(core, starts[0].job_id);
    size_t same = 1;
    if (first == NULL || first->het == NULL)
        return 0;
    for (; same < n; same++) {
        const struct core_job *job = job_find(core, starts[same].job_id);
        if (job == NULL || job->het != first->het)
            break;
    }
    return same;
}

size_t het_commit(struct core *core, const struct sched_start *starts, size_t n) {
    size_t size = of_one_group(core, starts, n);
    if (size == 0)
        return 0;
    if (!may_start(core, starts, size)) {
        sched_sync(core, job_find(core, starts[0].job_id));
        core->plan_wanted = true;
        return size;
    }
    for (size_t i = 0; i < size; i++) {
        job_start(core, job_find(core, starts[i].job_id), &starts[i]);
        preempt_started(core, starts[i].job_id);
        core->n_backfilled += starts[i].backfilled;
        core->n_backfilled_het += starts[i].backfilled;
    }
    return size;
}

/* ---- why they wait ---- */

/* A component that waits for nothing but its turn waits for what another one waits for. */
void het_explain(struct core *core, struct core_job *job) {
    enum job_reason why = REASON_NONE;
    if (job->het == NULL)
        return;
    het_each(job, other) {
        bool own = other->rec.reason != REASON_PRIORITY && other->rec.reason != REASON_NONE;
        if (own && other->in_sched && (why == REASON_NONE || why == REASON_RESOURCES))
            why = (enum job_reason) other->rec.reason;
    }
    het_each(job, other) {
        bool turn = other->rec.reason == REASON_PRIORITY || other->rec.reason == REASON_NONE;
        if (why == REASON_NONE || !turn || !other->in_sched)
            continue;
        other->rec.reason = why;
        job_touch(core, other);
    }
}
