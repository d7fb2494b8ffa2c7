/* SPDX-License-Identifier: Apache-2.0 */
/* What `sluice why` tells of the limits that a job waits for: which, whose, who has how much of it.
 */
#include <string.h>

#include "core/why.h"

/* How much a job that runs has of a pool; 0: nobody says. */
static uint64_t amount_of(const struct core_job *job, const struct limit_value *value) {
    uint64_t mem = 0;
    if (value->row->measure == LIMIT_JOBS)
        return 1;
    for (uint32_t i = 0; i < job->rec.allocation.n; i++)
        mem += job->rec.allocation.items[i].mem;
    switch (value->tres.class) {
    case LIMIT_CPU:
    case LIMIT_BILLING:
        return job->rec.num_cpus;
    case LIMIT_NODE:
        return job->rec.num_nodes;
    case LIMIT_MEM:
        return mem;
    default:
        return 0;
    }
}

static bool uses_pool(struct core *core, const struct core_job *job,
                      const struct limit_pool *pool) {
    uint32_t partition;
    if (!job_has_nodes(job) || !job_first_partition(core, &job->rec, &partition))
        return false;
    const struct limit_group *group = limit_group_of(core, &job->rec, partition);
    for (size_t i = 0; group != NULL && i < group->running.n; i++) {
        if (group->running.items[i].pool == pool)
            return true;
    }
    return false;
}

static void print_users(struct why_work *w, const struct limit_pool *pool, struct why_limit *row) {
    struct str by cleanup_str = STR_INIT;
    size_t n = 0;
    jobs_each (w->core, job) {
        if (!uses_pool(w->core, job, pool))
            continue;
        if (job->rec.end_time > 0 && (row->until == 0 || job->rec.end_time < row->until))
            row->until = job->rec.end_time;
        if (n++ >= WHY_HOLDERS)
            continue;
        uint64_t amount = amount_of(job, &pool->value);
        str_printf(&by, "%sjob %s of %s", by.length > 0 ? ", " : "", job_display_id(w->core, job),
                   job->rec.user_name);
        if (amount > 0 && pool->value.row->measure != LIMIT_JOBS)
            str_printf(&by, " (%llu)", (unsigned long long) amount);
    }
    if (n > WHY_HOLDERS)
        str_printf(&by, " and %zu more", n - WHY_HOLDERS);
    row->used_by = why_copy(w, by.length > 0 ? by.data : "nobody");
}

/* "GrpTRES of account physics (cpu)" */
static char *limit_name(struct why_work *w, const struct limit_value *value, bool of_qos,
                        const char *owner, const char *subject) {
    struct str tres cleanup_str = STR_INIT;
    if (limit_has_tres(value->row))
        limit_tres_print(w->core, &value->tres, &tres);
    return why_format(w, "%s%s%s of %s%s%s", of_qos ? value->row->qos_name : value->row->assoc_name,
                      tres.length > 0 ? " " : "", str_cstr(&tres), owner,
                      subject != NULL ? " for " : "", subject != NULL ? subject : "");
}

static char *limit_unit(struct why_work *w, const struct limit_value *value) {
    if (value->row->measure == LIMIT_WALL)
        return why_copy(w, "minutes");
    if (value->row->measure == LIMIT_TRES_MINUTES)
        return why_copy(w, "TRES-minutes");
    return value->tres.class == LIMIT_MEM && limit_has_tres(value->row) ? why_copy(w, "MiB") : NULL;
}

static void tell_pool(struct why_work *w, const struct limit_pool *pool, uint64_t asked,
                      struct why_limit *row) {
    const struct core *core = w->core;
    record_init(&record_why_limit, row);
    row->name = limit_name(w, &pool->value, pool->of_qos, pool->owner, pool->subject);
    row->unit = limit_unit(w, &pool->value);
    row->asked = asked;
    row->limit = pool->value.most;
    row->used = sched_budget_used(core->sched, pool->id);
    print_users(w, pool, row);
    row->cure = asked > pool->value.most
                    ? why_format(w,
                                 "the job alone is above it: ask for at most %llu, or have "
                                 "an administrator raise it",
                                 (unsigned long long) pool->value.most)
                    : why_format(w, "it starts when enough of these jobs have ended, or an "
                                    "administrator has raised the limit");
}

static void tell_check(struct why_work *w, const struct limit_check *check, uint64_t asked,
                       struct why_limit *row) {
    bool of_qos = str_starts(check->owner, "QOS ");
    record_init(&record_why_limit, row);
    row->name = limit_name(w, &check->value, of_qos, check->owner, NULL);
    row->unit = limit_unit(w, &check->value);
    row->asked = asked;
    row->limit = check->value.most;
    row->cure =
        check->value.row->measure == LIMIT_WALL
            ? why_format(w, "scontrol update JobId=%u TimeLimit=%llu", w->asked.job_id,
                         (unsigned long long) check->value.most)
            : why_format(w,
                         "a job may have %s %llu: change the request, or have an administrator "
                         "change the limit",
                         check->value.row->measure == LIMIT_LEAST ? "at least" : "at most",
                         (unsigned long long) check->value.most);
}

static uint32_t tell_group(struct why_work *w, const struct limit_group *group,
                           const struct limit_need *need, struct why_limit *rows, uint32_t most) {
    uint64_t asked;
    uint32_t n = 0;
    const struct limit_check *broken = limit_broken(group, need, &asked);
    if (broken != NULL)
        tell_check(w, broken, asked, &rows[n++]);
    for (size_t i = 0; i < group->running.n && n < most; i++) {
        const struct limit_use *use = &group->running.items[i];
        const struct limit_pool *pool = use->pool;
        asked = pool->value.row->measure == LIMIT_JOBS ? 1 : limit_need_of(need, &pool->value.tres);
        if (use->binds && sched_budget_used(w->core->sched, pool->id) + asked > pool->value.most)
            tell_pool(w, pool, asked, &rows[n++]);
    }
    return n;
}

uint32_t why_limits(struct why_work *w, struct why_limit *rows, uint32_t most) {
    struct limit_need need;
    if (!limits_are_on(w->core) || most == 0)
        return 0;
    struct job_spec spec cleanup(job_spec_done);
    if (job_spec_build(w->core, &w->job->rec, &spec, NULL) < 0 || spec.sched.n_partitions == 0)
        return 0;
    limit_need_make(w->core, &w->job->rec, &spec.sched, &need);
    return tell_group(w, limit_group_of(w->core, &w->job->rec, spec.sched.partitions[0]), &need,
                      rows, most);
}
