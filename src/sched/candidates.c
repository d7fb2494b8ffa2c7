/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which order those are tried for whom nothing is kept: not as they stand in the queue but
 * shortest first (SJBF; with predicted run times EASY++, Tsafrir et al. 2007). They wait here until
 * everybody who may have a plan has been dealt with, so they delay no plan, whatever a prediction
 * says: how long they hold resources is still reckoned by their limits.
 */
#include "sched/internal.h"

bool candidate_waits(const struct sched *s, const struct job *job) {
    const struct shape *shape = job->shape;
    uint32_t most = max_of(job_reservations(s, job), s->settings.reservations);

    if (!s->settings.short_first || !s->settings.backfill || job->plan || job->group)
        return false;
    for (size_t i = 0; i < shape->n_alternatives; i++) {
        const struct alternative *alt = &shape->alternatives[i];
        if (!alt->reason && *calendar_quota(s, alt) < most)
            return false;
    }
    return true;
}

void candidates_begin(struct sched *s) {
    vec_reset(&s->waiting_groups);
    vec_reset(&s->waiting_jobs);
}

bool candidate_defer(struct sched *s, const struct job *job) {
    bool one = shape_has_senior(s, job);
    struct waiting_group group = {s->order.turn, job->shape, job->shape->cursor, one};

    vec_push(&s->waiting_groups, group);
    return one;
}

static void candidate_add(struct sched *s, size_t turn, struct job *job) {
    int64_t limit = job->shape->alternatives[0].limit;
    int64_t expected = job->expected > 0 ? min_of(job->expected, limit) : limit;
    struct waiting_job entry = {job->tier, expected, job_key(job), turn, job};

    vec_push(&s->waiting_jobs, entry);
}

void candidates_add(struct sched *s, const struct waiting_group *group, size_t from) {
    struct job *job;

    for (; (job = job_list_at(group->shape, &from)); from++) {
        candidate_add(s, group->turn, job);
        if (group->one)
            break;
    }
}

static int candidate_compare(const void *a, const void *b) {
    const struct waiting_job *x = a, *y = b;

    if (x->tier != y->tier)
        return x->tier > y->tier ? -1 : 1;
    if (x->expected != y->expected)
        return x->expected < y->expected ? -1 : 1;
    return key_before(&x->key, &y->key) ? -1 : key_before(&y->key, &x->key);
}

void candidates_order(struct sched *s) {
    sort_items(s->waiting_jobs.items, s->waiting_jobs.n, sizeof(struct waiting_job),
               candidate_compare);
}
