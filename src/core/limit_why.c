/* SPDX-License-Identifier: Apache-2.0 */
/* What `sluice why` tells of the limits that a job waits for: which, whose, who has how much of it.
 */
#include <stdlib.h>
#include <string.h>

#include "core/why.h"

/* How much a job that runs has of a pool. */
static uint64_t amount_of(const struct core *core, const struct core_job *job,
                          const struct limit_value *value) {
    if (value->row->measure == LIMIT_JOBS)
        return 1;
    double amount = limit_run_amount(core, &job->rec, &value->tres);
    int64_t left = job->rec.end_time > core->now ? job->rec.end_time - core->now : 0;
    return (uint64_t) (value->row->measure == LIMIT_TRES_AHEAD ? amount * (double) left / 60
                                                               : amount);
}

/* ---- whose use of what has been used it is ---- */

struct user_use {
    uint32_t assoc_id;
    double seconds;
};
struct user_uses {
    vec(struct user_use) all;
    struct map places; /* an association's number -> its place among them, from 1 on */
};

static void user_adds(struct why_work *w, const struct limit_pool *pool, uint32_t assoc_id,
                      double seconds, struct user_uses *uses) {
    const struct assoc *at = shares_assoc(w->core, assoc_id);
    while (at != NULL && at->id != pool->stock->id)
        at = assoc_parent(&w->core->book, at);
    if (at == NULL || seconds <= 0)
        return;
    size_t place = (size_t) (uintptr_t) map_get(&uses->places, assoc_id);
    if (place > 0) {
        uses->all.items[place - 1].seconds += seconds;
        return;
    }
    vec_push(&uses->all, ((struct user_use) {assoc_id, seconds}));
    map_put(&uses->places, assoc_id, (void *) (uintptr_t) uses->all.n);
}

static int most_first(const void *a, const void *b) {
    const struct user_use *x = a, *y = b;
    return x->seconds != y->seconds ? (x->seconds < y->seconds ? 1 : -1)
                                    : (x->assoc_id > y->assoc_id) - (x->assoc_id < y->assoc_id);
}

static void print_past_users(struct why_work *w, const struct limit_pool *pool,
                             struct why_limit *row) {
    struct str by cleanup_str = STR_INIT;
    struct core *core = w->core;
    struct user_uses uses = {.places = MAP_INIT};
    size_t position = 0;
    uint64_t key;
    const struct usage_entry *entry;
    while ((entry = map_next(&core->usage.entries, &position, &key)) != NULL) {
        if (entry->rec.kind == ASSOC_ASSOC)
            user_adds(w, pool, entry->rec.id, limit_used_by_entry(core, pool, &entry->rec), &uses);
    }
    list_each (&core->placed, at) {
        const struct job *job = &list_entry(at, struct core_job, placed)->rec;
        if (usage_charged_from(core, job) > 0)
            user_adds(w, pool, job->assoc_id, limit_used_by_run(core, pool, job), &uses);
    }
    const size_t n = uses.all.n;
    if (n > 1)
        qsort(uses.all.items, n, sizeof(*uses.all.items), most_first);
    for (size_t i = 0; i < n && i < WHY_HOLDERS; i++) {
        const struct assoc *assoc = shares_assoc(core, uses.all.items[i].assoc_id);
        str_printf(&by, "%s%s%s%s (%llu)", i > 0 ? ", " : "",
                   assoc->user != NULL ? assoc->user : "users who have left",
                   assoc->user != NULL ? " in " : " ", assoc->account,
                   (unsigned long long) (uses.all.items[i].seconds / 60));
    }
    if (n > WHY_HOLDERS)
        str_printf(&by, " and %zu more", n - WHY_HOLDERS);
    vec_done(&uses.all);
    map_done(&uses.places);
    row->used_by = why_copy(w, by.length > 0 ? by.data : "jobs that have ended");
}

/* ---- whose use of what is in use it is ---- */

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
        uint64_t amount = amount_of(w->core, job, &pool->value);
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
    if (value->row->measure == LIMIT_WALL || value->row->measure == LIMIT_WALL_USED)
        return why_copy(w, "minutes");
    if (limit_has_minutes(value->row))
        return why_copy(w, "TRES-minutes");
    return value->tres.class == LIMIT_MEM && limit_has_tres(value->row) ? why_copy(w, "MiB") : NULL;
}

/* In the unit of its value: in use, or used with what those who run may still use. */
static uint64_t used_of(const struct core *core, const struct limit_pool *pool) {
    uint64_t used = sched_budget_used(core->sched, core->now, pool->id);
    if (pool->stock != NULL && !limits_are_safe(core))
        return (uint64_t) (limit_used(core, pool) / 60);
    return limit_has_minutes(pool->value.row) ? used / 60 : used;
}

static bool is_short(const struct core *core, const struct limit_pool *pool, uint64_t asked) {
    if (pool->stock != NULL && !limits_are_safe(core))
        return limit_used(core, pool) >= 60.0 * (double) pool->value.most;
    return asked > 0 && used_of(core, pool) + asked > pool->value.most;
}

/* When there is enough again, and why then. */
static void tell_minutes(struct why_work *w, const struct limit_pool *pool, uint64_t asked,
                         struct why_limit *row) {
    const struct core *core = w->core;
    if (pool->stock == NULL) {
        int64_t free = sched_budget_free_at(core->sched, core->now, pool->id, saturated(asked, 60));
        row->until = free == SCHED_FOREVER ? 0 : free;
        row->cure = why_format(w, "it starts when so much less is ahead of these jobs; a shorter "
                                  "time limit fits sooner");
        return;
    }
    if (!pool->of_qos)
        print_past_users(w, pool, row);
    int64_t until =
        limit_used_until(core, pool, limits_are_safe(core) ? 60.0 * (double) asked : 0.001);
    row->until = until == INT64_MAX ? 0 : until;
    if (row->until == 0)
        row->cure = why_format(w, "what was used does not decay here: an administrator raises the "
                                  "limit, or sets RawUsage=0");
    else if (pool->stock->half_life > 0)
        row->cure = why_format(w,
                               "what was used loses half its weight in %lld s, and leaves "
                               "enough then if nobody uses more",
                               (long long) pool->stock->half_life);
    else
        row->cure = why_format(w, "usage begins again at nothing then (PriorityUsageResetPeriod)");
}

static void tell_pool(struct why_work *w, const struct limit_pool *pool, uint64_t asked,
                      struct why_limit *row) {
    const struct core *core = w->core;
    record_init(&record_why_limit, row);
    row->name = limit_name(w, &pool->value, pool->of_qos, pool->owner, pool->subject);
    row->unit = limit_unit(w, &pool->value);
    row->asked = asked;
    row->limit = pool->value.most;
    row->used = used_of(core, pool);
    print_users(w, pool, row);
    if (limit_has_minutes(pool->value.row) && asked <= pool->value.most) {
        tell_minutes(w, pool, asked, row);
        return;
    }
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
        asked = limit_need_whole(w->core, need, &pool->value);
        if (use->binds && is_short(w->core, pool, asked))
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
    const struct limit_group *group =
        limit_group_of(w->core, &w->job->rec, spec.sched.partitions[0]);
    limit_need_bill(w->core, group, spec.sched.partitions[0], &need);
    return tell_group(w, group, &need, rows, most);
}
