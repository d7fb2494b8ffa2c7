/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions: when and where would this start, what can each node do for it, who goes before it?
 * Answered by the planner itself, changing nothing.
 */
#include <assert.h>

#include "sched/internal.h"

bool sched_will_run(struct sched *s, const struct sched_job_spec *spec, int64_t now,
                    struct sched_start *ret, struct sched_plan *memory, int64_t *ret_time) {
    struct shape *shape = shape_new(s, spec);
    int64_t kept = s->now, best = SCHED_FOREVER;

    if (!memory->memory) {
        memory->memory = zalloc(struct arena);
        arena_init(memory->memory, 0);
    }
    *ret = (struct sched_start) {.job_id = spec->job_id};
    s->now = now;
    s->not_before = spec->begin_time;
    for (size_t i = 0; i < shape->n_alternatives; i++) {
        struct alternative *alt = &shape->alternatives[i];
        int64_t start;

        if (alt->limits || alt->refused || !s->partitions[alt->partition].schedulable)
            continue;
        if (!earliest_start(s, shape, alt, 0, &start, &s->placement) || start >= best)
            continue;
        best = start;
        ret->partition = alt->partition;
        ret->reservation = alt->reservation;
        ret->limit = alt->limit;
        start_fill(s, &s->placement, memory->memory, ret);
    }
    s->now = kept;
    s->not_before = 0;
    shape_free(s, shape);
    if (best == SCHED_FOREVER)
        return false;
    *ret_time = best;
    return true;
}

/* ---- another view ---- */

static struct alternative *alternative_of(const struct job *job, const struct plan *plan) {
    for (size_t i = 0; i < job->shape->n_alternatives; i++) {
        struct alternative *alt = &job->shape->alternatives[i];
        if (alt->partition == plan->alt->partition && alt->reservation == plan->alt->reservation)
            return alt;
    }
    return NULL;
}

static void take_plan(struct sched *s, const struct plan *plan, bool stands) {
    struct job *job = map_get(&s->jobs, plan->job->job_id);
    const struct alternative *alt = job && !job->plan ? alternative_of(job, plan) : NULL;
    struct placement *out = &s->placement;

    if (!alt)
        return;
    vec_reset(&out->picks);
    vec_reset(&out->amounts);
    for (uint32_t i = 0; i < plan->n; i++) {
        struct pick pick = {.node = plan->nodes[i]};
        vec_push(&out->picks, pick);
        for (uint32_t d = 0; d < s->n_dims; d++)
            vec_push(&out->amounts, plan->amounts[(size_t) i * s->n_dims + d]);
    }
    struct plan *mine = plan_add(s, job, alt, plan->start, out);
    mine->version = stands ? s->release_version : s->release_version - 1;
    mine->pinned = plan->pinned;
}

void sched_take_plans(struct sched *s, const struct sched *from, uint32_t gone) {
    const struct job *left = gone ? map_get(&from->jobs, gone) : NULL;
    bool moved = left && left->plan; /* its place is free for others */

    assert(s->n_nodes == from->n_nodes && s->n_dims == from->n_dims);
    plans_each (from, plan) {
        take_plan(s, *plan, !moved && (*plan)->version == from->release_version);
    }
}

void sched_guard_at_most(struct sched *s, uint32_t jobs) {
    s->settings.guard_jobs = min_of(s->settings.guard_jobs, jobs);
}

size_t sched_count_plans(const struct sched *s) {
    size_t n = 0;
    for (uint32_t p = 0; p < s->n_pools; p++)
        n += s->pools[p].plans.n;
    return n;
}

/* ---- nodes and the queue ---- */

/* As far as one share of the request goes. */
static uint8_t node_fit(struct sched *s, struct shape *shape, struct alternative *alt,
                        uint32_t node) {
    const int64_t *need = need_each(s, shape, alt, s->nodes[node].hardware);
    int64_t have[MAX_DIMS];

    if (!need || !amount_covers(node_total(s, node), need, s->n_dims))
        return SCHED_FIT_NEVER;
    if (alt->exclusive)
        need = node_total(s, node);
    if (!amount_covers(node_free(s, node), need, s->n_dims))
        return SCHED_FIT_BUSY;
    node_window_of(s, alt, node, s->now, time_after(s->now, alt->limit), have);
    return amount_covers(have, need, s->n_dims) ? SCHED_FIT_FREE : SCHED_FIT_PROMISED;
}

void sched_fits(struct sched *s, const struct sched_job_spec *spec, int64_t now, uint8_t *ret) {
    struct shape *shape = shape_new(s, spec);
    int64_t kept = s->now;

    memset(ret, SCHED_FIT_NEVER, s->n_nodes);
    s->now = now;
    for (size_t i = 0; i < shape->n_alternatives; i++) {
        struct alternative *alt = &shape->alternatives[i];
        bits_each (&alt->set->nodes, node) {
            uint32_t outer = s->nodes[node].outer;
            ret[outer] = max_of(ret[outer], node_fit(s, shape, alt, node));
        }
    }
    s->now = kept;
    shape_free(s, shape);
}

static bool share_pool(const struct sched *s, const struct shape *a, const struct shape *b) {
    for (size_t i = 0; i < a->n_alternatives; i++) {
        for (size_t k = 0; k < b->n_alternatives; k++) {
            if (s->partitions[a->alternatives[i].partition].pool ==
                s->partitions[b->alternatives[k].partition].pool)
                return true;
        }
    }
    return false;
}

static void ahead_insert(struct sched_ahead *ret, const struct job **first, const struct job *job) {
    size_t at = ret->n_first;

    if (at == SCHED_AHEAD_FIRST && job_compare(job, first[at - 1]) > 0)
        return;
    if (at < SCHED_AHEAD_FIRST)
        ret->n_first++;
    else
        at--;
    for (; at > 0 && job_compare(job, first[at - 1]) < 0; at--)
        first[at] = first[at - 1];
    first[at] = job;
}

bool sched_jobs_ahead(struct sched *s, uint32_t job_id, struct sched_ahead *ret) {
    const struct job *mine = map_get(&s->jobs, job_id), *job, *first[SCHED_AHEAD_FIRST];
    size_t at = 0;
    uint64_t key;

    memset(ret, 0, sizeof(*ret));
    if (!mine)
        return false;
    while ((job = map_next(&s->jobs, &at, &key))) {
        if (job->place != PLACE_LIVE || job == mine || job_compare(job, mine) > 0 ||
            job->shape->blocked_reason || !share_pool(s, job->shape, mine->shape))
            continue;
        ret->n_jobs += job->n_tasks;
        if (job->tier != mine->tier)
            ret->by_tier += job->n_tasks;
        else if (job->priority != mine->priority)
            ret->by_priority += job->n_tasks;
        else
            ret->by_age += job->n_tasks;
        ahead_insert(ret, first, job);
    }
    for (size_t i = 0; i < ret->n_first; i++)
        ret->first[i] = first[i]->job_id;
    return true;
}
