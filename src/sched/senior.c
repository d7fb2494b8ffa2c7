/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may have resources kept for it. The first `reservations` jobs of a pool that cannot start,
 * unless they have waited too short or are too low (reserve_age, reserve_priority); and everybody
 * who has waited longer than the guard time, so that whoever backfills past a job cannot do so for
 * ever.
 */
#include "sched/internal.h"

int64_t job_seniority_set(const struct sched *s, struct job *job, int64_t now) {
    int64_t since = max_of(job->eligible ? job->eligible : job->submit, job->begin);
    int64_t enough = time_after(since, s->settings.reserve_age);
    int64_t guarded = s->settings.guard > 0 ? time_after(since, s->settings.guard) : SCHED_FOREVER;
    enum seniority seniority = now >= guarded && now >= enough ? SENIORITY_GUARDED
                               : now >= enough                 ? SENIORITY_ENOUGH
                                                               : SENIORITY_NONE;

    job->seniority = seniority;
    if (seniority == SENIORITY_GUARDED)
        return SCHED_FOREVER;
    return seniority == SENIORITY_NONE ? enough : guarded;
}

void shape_guarded_add(struct job *job, int by) {
    if (job->seniority == SENIORITY_GUARDED)
        job->shape->n_guarded = (uint32_t) ((int64_t) job->shape->n_guarded + by);
}

uint32_t job_reservations(const struct sched *s, const struct job *job) {
    if (job->preempting) /* others go for its sake */
        return UINT32_MAX;
    if (job->seniority == SENIORITY_NONE ||
        job->priority < max_of(s->settings.reserve_priority, job->reserve_priority))
        return 0;
    return s->settings.reservations +
           (job->seniority == SENIORITY_GUARDED ? s->settings.guard_jobs : 0);
}

bool shape_has_senior(const struct sched *s, const struct job *job) {
    struct shape *shape = job->shape;

    shape->guarded_seen += job->seniority == SENIORITY_GUARDED;
    if (job->seniority == SENIORITY_NONE)
        return s->settings.reserve_age > 0;
    return shape->guarded_seen < shape->n_guarded;
}
