/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits on how many jobs grow older: of those that wait, only so many gain priority by their age
 * at a time (GrpJobsAccrue, MaxJobsAccrue). The others are as old as on the day on which their turn
 * to age comes: when one that ages starts, ends or is held. Who has begun first goes on first.
 *
 * A job that ages has its AccrueTime, which is stored; who else ages is reckoned anew from that.
 * The tasks of an array that wait together are one job here: they have one priority.
 */
#include "core/state.h"
#include "model/conf.h"

static bool may_age(const struct core *core, const struct core_job *job) {
    const struct job *rec = &job->rec;
    return rec->state == JOB_PENDING && !job_is_held(job) && rec->eligible_time > 0 &&
           rec->eligible_time <= core->now;
}

static struct limit_group *group_of(struct core *core, const struct core_job *job) {
    uint32_t partition;
    return job_first_partition(core, &job->rec, &partition)
               ? limit_group_of(core, &job->rec, partition)
               : NULL;
}

static bool has_room(const struct limit_group *group) {
    vec_each (&group->ageing, use) {
        if (use->binds && use->pool->n_submitted >= use->pool->value.most)
            return false;
    }
    return true;
}

static void enter(struct core_job *job, struct limit_group *group) {
    vec_each (&group->ageing, use)
        use->pool->n_submitted++;
    job->ageing = group;
}

void limits_age_leave(struct core *core, struct core_job *job) {
    if (job->ageing == NULL)
        return;
    vec_each (&job->ageing->ageing, use)
        use->pool->n_submitted--;
    job->ageing = NULL;
    core->limits.age_room = true;
}

static void set_accrue_time(struct core *core, struct core_job *job, int64_t time) {
    if (job->rec.accrue_time == time)
        return;
    job->rec.accrue_time = time;
    job_touch(core, job);
}

void limits_age(struct core *core, struct core_job *job) {
    if (!core->limits.ages) {
        if (job->rec.accrue_time == 0 && job->rec.eligible_time <= core->now)
            job->rec.accrue_time = job->rec.eligible_time;
        return;
    }
    struct limit_group *group = may_age(core, job) ? group_of(core, job) : NULL;
    if (job->ageing != NULL && job->ageing == group)
        return;
    limits_age_leave(core, job);
    if (group == NULL) {
        if (job_is_pending(job)) /* held: it begins anew */
            set_accrue_time(core, job, 0);
        return;
    }
    bool fits = has_room(group);
    if (fits)
        enter(job, group);
    set_accrue_time(core, job,
                    !fits                      ? 0
                    : job->rec.accrue_time > 0 ? job->rec.accrue_time
                                               : core->now);
}

void limits_age_all(struct core *core) {
    if (!core->limits.ages)
        return;
    jobs_each (core, job) { /* who does not any more makes room first */
        if (job->ageing != NULL && !may_age(core, job))
            limits_age(core, job);
    }
    for (int pass = 0; pass < 2; pass++) {
        jobs_each (core, job) {
            if (job->ageing == NULL && job_is_pending(job) &&
                (pass == 1 || job->rec.accrue_time > 0))
                limits_age(core, job);
        }
    }
    core->limits.age_room = false;
}

bool limits_age_are_set(const struct core *core) {
    bool any = false;
    for (size_t r = 0; r < LIMIT_ROWS; r++) {
        const struct limit_row *row = &limit_rows[r];
        if (row->measure != LIMIT_AGEING)
            continue;
        for (int of_qos = 0; of_qos < 2; of_qos++) {
            const char *name = of_qos ? row->qos : row->assoc;
            uint32_t kind = of_qos ? ASSOC_QOS : ASSOC_ASSOC;
            vec_each (&core->book.entries[kind], entry) {
                if (name != NULL && !any)
                    any = *(const uint32_t *) ((const char *) *entry +
                                               record_field(assoc_record(kind), name)->offset) !=
                          UNSET32;
            }
        }
    }
    return any && !(core->settings.priority_flags & CONF_PRIORITY_ACCRUE_ALWAYS);
}
