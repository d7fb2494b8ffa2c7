/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which limits concern a job, and who has how much of what they count. Jobs of one association, in
 * one QOS and one partition, have the same: a group, made when its first job comes and kept until
 * the book or the cluster changes; so a job costs one lookup.
 */
#include <assert.h>
#include <string.h>

#include "core/state.h"
#include "model/conf.h"

bool limits_are_on(const struct core *core) {
    return (core->settings.enforce & CONF_ENFORCE_LIMITS) != 0;
}

/* ---- what is set in a record ---- */

static const limit_values *values_of(struct core *core, bool of_qos, const void *record) {
    limit_values *values = map_get(&core->limits.values, (uintptr_t) record);
    if (values == NULL) {
        values = xcalloc(1, sizeof(*values));
        limits_read(core, of_qos, record, values);
        map_put(&core->limits.values, (uintptr_t) record, values);
    }
    return values;
}

static bool is_same(const struct limit_value *a, const struct limit_value *b) {
    return a->row == b->row && a->tres.class == b->tres.class && a->tres.index == b->tres.index &&
           a->tres.typed == b->tres.typed;
}

static bool has_value(const limit_values *values, const struct limit_value *value) {
    for (size_t i = 0; values != NULL && i < values->n; i++) {
        if (is_same(&values->items[i], value))
            return true;
    }
    return false;
}

/* ---- pools ---- */

/* One place where a limit is set, as a job meets it. */
struct place {
    bool of_qos;
    const void *record;
    const struct assoc *own; /* the job's association, NULL */
    const struct job *job;
};

static char *owner_text(const struct place *place, const struct limit_value *value) {
    if (place->of_qos)
        return xasprintf("QOS %s", ((const struct qos *) place->record)->name);
    const struct assoc *assoc =
        value->row->scope == LIMIT_OF_USER ? place->own : (const struct assoc *) place->record;
    if (assoc->user == NULL)
        return xasprintf("account %s", assoc->account);
    return assoc->partition == NULL
               ? xasprintf("user %s in account %s", assoc->user, assoc->account)
               : xasprintf("user %s in account %s in partition %s", assoc->user, assoc->account,
                           assoc->partition);
}

/* Whose use of the QOS it is. */
static char *subject_text(const struct place *place, const struct limit_value *value) {
    if (!place->of_qos || value->row->scope == LIMIT_OF_GROUP)
        return NULL;
    if (value->row->scope == LIMIT_OF_USER)
        return xasprintf("user %s", place->job->user_name);
    return xasprintf("account %s", place->job->account != NULL ? place->job->account : "none");
}

static enum sched_budget_measure measure_of(const struct core *core, const struct limit_row *row) {
    if (limit_is_used_up(row))
        return limits_are_safe(core) ? SCHED_BUDGET_STOCK : SCHED_BUDGET_OPEN;
    return row->measure == LIMIT_TRES_AHEAD ? SCHED_BUDGET_AHEAD : SCHED_BUDGET_HELD;
}

static struct sched_budget budget_of(const struct core *core, const struct limit_pool *pool) {
    static const enum sched_budget_of of[LIMIT_CLASSES] = {
        [LIMIT_CPU] = SCHED_BUDGET_CPUS,      [LIMIT_MEM] = SCHED_BUDGET_MEM,
        [LIMIT_NODE] = SCHED_BUDGET_NODES,    [LIMIT_GRES] = SCHED_BUDGET_GRES_NAME,
        [LIMIT_LICENSE] = SCHED_BUDGET_FIXED, [LIMIT_BILLING] = SCHED_BUDGET_FIXED};
    const struct limit_tres *tres = &pool->value.tres;
    bool jobs =
        pool->value.row->measure == LIMIT_JOBS || pool->value.row->measure == LIMIT_WALL_USED;
    bool typed = tres->class == LIMIT_GRES && tres->typed;
    bool minutes = limit_has_minutes(pool->value.row);
    return (struct sched_budget) {.of = jobs    ? SCHED_BUDGET_JOBS
                                        : typed ? SCHED_BUDGET_GRES
                                                : of[tres->class],
                                  .measure = measure_of(core, pool->value.row),
                                  .kind = tres->class == LIMIT_GRES ? tres->index : 0,
                                  .reason = pool->reason,
                                  .total = saturated(pool->value.most, minutes ? 60 : 1)};
}

static struct limit_pool *pool_of(struct core *core, const struct place *place,
                                  const struct limit_value *value) {
    const void *record =
        value->row->scope == LIMIT_OF_USER && !place->of_qos ? place->own : place->record;
    cleanup_free char *subject = subject_text(place, value);
    cleanup_free char *key =
        xasprintf("%p %zu %u %u %d %s", record, (size_t) (value->row - limit_rows),
                  (unsigned) value->tres.class, value->tres.index, value->tres.typed,
                  subject != NULL ? subject : "");
    struct limit_pool *pool = smap_get(&core->limits.pools, key);
    if (pool != NULL)
        return pool;
    const uint32_t *reasons = place->of_qos ? value->row->qos_reasons : value->row->assoc_reasons;
    pool = zalloc(struct limit_pool);
    pool->key = xstrdup(key);
    pool->value = *value;
    pool->of_qos = place->of_qos;
    pool->owner = owner_text(place, value);
    pool->subject = xstrdup_null(subject);
    pool->reason = reasons[value->tres.class];
    pool->id = UINT32_MAX;
    if (value->row->measure != LIMIT_SUBMITTED && value->row->measure != LIMIT_AGEING) {
        pool->id = (uint32_t) core->limits.budgets.n;
        vec_push(&core->limits.budgets, pool);
    }
    smap_put(&core->limits.pools, pool->key, pool);
    if (limit_is_used_up(value->row))
        limit_stock_new(core, pool,
                        place->of_qos ? ((const struct qos *) record)->id
                                      : ((const struct assoc *) record)->id);
    return pool;
}

void limits_show(struct core *core, struct sched *sched) {
    for (size_t id = sched_count_budgets(sched); id < core->limits.budgets.n; id++) {
        const struct limit_pool *pool = core->limits.budgets.items[id];
        struct sched_budget budget = budget_of(core, pool);
        (void) sched_budget_add(sched, &budget);
        limit_used_show(core, sched, pool);
    }
}

/* ---- groups ---- */

static void group_take(struct core *core, struct limit_group *group, const struct place *place,
                       const struct limit_value *value, bool binds) {
    group->bills |= value->tres.class == LIMIT_BILLING;
    if (value->row->scope == LIMIT_OF_JOB) {
        const uint32_t *reasons =
            place->of_qos ? value->row->qos_reasons : value->row->assoc_reasons;
        struct limit_check check = {*value, reasons[value->tres.class], NULL};
        if (!binds)
            return;
        check.owner = owner_text(place, value);
        vec_push(&group->checks, check);
        return;
    }
    struct limit_use use = {pool_of(core, place, value), binds};
    if (value->row->measure == LIMIT_SUBMITTED)
        vec_push(&group->submitted, use);
    else if (value->row->measure == LIMIT_AGEING)
        vec_push(&group->ageing, use);
    else
        vec_push(&group->running, use);
}

/* The limits of a QOS; `before`: those of one that goes before it, NULL. */
static void group_take_qos(struct core *core, struct limit_group *group, struct place place,
                           const struct qos *qos, const limit_values *before) {
    place.of_qos = true;
    place.record = qos;
    vec_each (values_of(core, true, qos), value) {
        bool ages = value->row->measure == LIMIT_AGEING; /* that of the job alone */
        if (!ages || str_equal_nocase(qos->name, place.job->qos))
            group_take(core, group, &place, value, ages || !has_value(before, value));
    }
    group->denies |= (qos->flags & QOS_FLAG_DENY_ON_LIMIT) != 0;
}

/* Those of the association and the accounts above. What is not of a whole group counts where it is
 * set first on the way up. */
static void group_take_assoc(struct core *core, struct limit_group *group, struct place place,
                             const limit_values *const qos[2], const limit_values *of_job) {
    limit_values seen = {0};
    place.of_qos = false;
    for (const struct assoc *at = place.own; at != NULL; at = assoc_parent(&core->book, at)) {
        place.record = at;
        vec_each (values_of(core, false, at), value) {
            bool overridden = value->row->measure == LIMIT_AGEING
                                  ? has_value(of_job, value)
                                  : has_value(qos[0], value) || has_value(qos[1], value);
            bool again = value->row->scope != LIMIT_OF_GROUP && has_value(&seen, value);
            if (again)
                continue;
            group_take(core, group, &place, value, !overridden);
            vec_push(&seen, *value);
        }
    }
    vec_done(&seen);
}

static const struct qos *partition_qos(const struct core *core, uint32_t partition) {
    return book_qos_find(&core->book, core->partitions[partition].rec.qos);
}

/* Who has a lower priority has nothing kept for him. */
static uint32_t min_prio_of(const struct core *core, const struct qos *const qos[2],
                            const struct assoc *assoc) {
    for (size_t i = 0; i < 2; i++) {
        if (qos[i] != NULL && qos[i]->min_prio_threshold != UNSET32)
            return qos[i]->min_prio_threshold;
    }
    for (const struct assoc *at = assoc; at != NULL; at = assoc_parent(&core->book, at)) {
        if (at->min_prio_threshold != UNSET32)
            return at->min_prio_threshold;
    }
    return 0;
}

static struct limit_group *group_new(struct core *core, const struct job *job,
                                     const struct assoc *assoc, const struct qos *of_partition,
                                     const struct qos *of_job) {
    struct limit_group *group = zalloc(struct limit_group);
    struct place place = {.own = assoc, .job = job};
    bool swap = of_job != NULL && (of_job->flags & QOS_FLAG_OVER_PART_QOS);
    const struct qos *qos[2] = {swap ? of_job : of_partition, swap ? of_partition : of_job};
    const limit_values *values[2] = {NULL, NULL};
    if (qos[1] == qos[0])
        qos[1] = NULL;
    for (size_t i = 0; i < 2; i++) {
        if (qos[i] == NULL)
            continue;
        group_take_qos(core, group, place, qos[i], values[0]);
        values[i] = values_of(core, true, qos[i]);
        group->any_time |= (qos[i]->flags & QOS_FLAG_PART_TIME_LIMIT) != 0;
        group->any_max_nodes |= (qos[i]->flags & QOS_FLAG_PART_MAX_NODES) != 0;
        group->any_min_nodes |= (qos[i]->flags & QOS_FLAG_PART_MIN_NODES) != 0;
    }
    group_take_assoc(core, group, place, values,
                     of_job != NULL ? values_of(core, true, of_job) : NULL);
    group->min_prio = min_prio_of(core, qos, assoc);
    group->factor_safe = of_job != NULL && (of_job->flags & QOS_FLAG_USAGE_FACTOR_SAFE);
    group->factor = of_job != NULL && of_job->usage_factor != NULL
                        ? (uint32_t) min_of(strtod(of_job->usage_factor, NULL) * 1000, 1e9)
                        : 1000;
    return group;
}

struct limit_group *limit_group_of(struct core *core, const struct job *job, uint32_t partition) {
    if (!limits_are_on(core))
        return NULL;
    const char *name = core->partitions[partition].rec.name;
    const struct assoc *assoc = assoc_of_job(&core->book, job->account, job->user_name, name);
    const struct qos *of_partition = partition_qos(core, partition);
    const struct qos *of_job = book_qos_find(&core->book, job->qos);
    struct str key cleanup_str = STR_INIT;
    str_printf(&key, "%p %p %p", (const void *) assoc, (const void *) of_partition,
               (const void *) of_job);
    if (assoc == NULL) /* limits of a QOS for users and accounts concern it all the same */
        str_printf(&key, " %s %s", job->user_name, job->account != NULL ? job->account : "");
    struct limit_group *group = smap_get(&core->limits.groups, key.data);
    if (group != NULL)
        return group;
    group = group_new(core, job, assoc, of_partition, of_job);
    group->key = str_take(&key);
    smap_put(&core->limits.groups, group->key, group);
    return group;
}

/* ---- who is submitted ---- */

static void submitted_add(struct limit_group *all, const struct limit_use *use) {
    vec_each (&all->submitted, other) {
        if (other->pool == use->pool) {
            other->binds |= use->binds;
            return;
        }
    }
    vec_push(&all->submitted, *use);
}

/* A job that may run in several partitions counts in the limits of all of them. */
struct limit_group *limit_group_submitted(struct core *core, const struct job *job) {
    struct limit_group *first = NULL, *all;
    struct str key cleanup_str = STR_INIT;
    uint32_t partition;
    bool same = true;
    words_each (job->partition, ",", name) {
        if (!limits_are_on(core) || partition_find(core, name, &partition) == NULL)
            continue;
        struct limit_group *group = limit_group_of(core, job, partition);
        first = first != NULL ? first : group;
        same &= group == first;
        str_printf(&key, "%s|", group->key);
    }
    if (same || (all = smap_get(&core->limits.groups, key.data)) != NULL)
        return same ? first : all;
    all = zalloc(struct limit_group);
    words_each (job->partition, ",", name) {
        if (partition_find(core, name, &partition) == NULL)
            continue;
        vec_each (&limit_group_of(core, job, partition)->submitted, use)
            submitted_add(all, use);
    }
    all->key = str_take(&key);
    smap_put(&core->limits.groups, all->key, all);
    return all;
}

static void count_in(const struct limit_group *group, uint64_t n, bool more) {
    for (size_t i = 0; group != NULL && i < group->submitted.n; i++) {
        struct limit_pool *pool = group->submitted.items[i].pool;
        assert(more || pool->n_submitted >= n);
        pool->n_submitted = more ? pool->n_submitted + n : pool->n_submitted - n;
    }
}

void limits_uncount(struct core_job *job) {
    count_in(job->limits, job->limits_count, false);
    job->limits = NULL;
    job->limits_count = 0;
}

static void count(struct core *core, struct core_job *job) {
    limits_uncount(job);
    if (!limits_are_on(core) || job_state_is_final(job->rec.state))
        return;
    job->limits = limit_group_submitted(core, &job->rec);
    job->limits_count = max_of(idset_count(&job->tasks), (uint64_t) 1);
    count_in(job->limits, job->limits_count, true);
}

void limits_count(struct core *core, struct core_job *job) {
    count(core, job);
    if (core->limits.ages)
        limits_age(core, job);
}

/* ---- anew ---- */

void limits_tell(struct core *core) {
    for (uint32_t p = 0; p < core->n_partitions; p++) {
        const struct partition *part = &core->partitions[p].rec;
        if (part->qos != NULL && partition_qos(core, p) == NULL)
            emit_log(core, EFFECT_ERROR,
                     "partition %s: there is no QOS %s, and so no limit of it; make it with "
                     "\"sacctmgr add qos %s\"",
                     part->name, part->qos, part->qos);
    }
}

static void group_free(struct limit_group *group) {
    vec_each (&group->checks, check)
        free(check->owner);
    vec_done(&group->checks);
    vec_done(&group->running);
    vec_done(&group->submitted);
    vec_done(&group->ageing);
    free(group->key);
    free(group);
}

static void pool_free(struct limit_pool *pool) {
    free(pool->key);
    free(pool->owner);
    free(pool->subject);
    limit_stock_free(pool->stock);
    free(pool);
}

void limits_free(struct core *core) {
    struct limits *limits = &core->limits;
    limit_stocks_free(core);
    const char *name;
    uint64_t key;
    size_t at = 0;
    for (struct limit_group *group; (group = smap_next(&limits->groups, &at, &name)) != NULL;)
        group_free(group);
    at = 0;
    for (struct limit_pool *pool; (pool = smap_next(&limits->pools, &at, &name)) != NULL;)
        pool_free(pool);
    at = 0;
    for (limit_values *values; (values = map_next(&limits->values, &at, &key)) != NULL;) {
        vec_done(values);
        free(values);
    }
    smap_done(&limits->groups);
    smap_done(&limits->pools);
    map_done(&limits->values);
    vec_done(&limits->budgets);
    *limits = (struct limits) {.groups = SMAP_INIT, .pools = SMAP_INIT, .values = MAP_INIT};
}

static void stocks_of_record(struct core *core, bool of_qos, const void *record) {
    struct place place = {.of_qos = of_qos, .record = record};
    vec_each (values_of(core, of_qos, record), value) {
        if (limit_is_used_up(value->row))
            (void) pool_of(core, &place, value);
    }
}

/* Of all limits on what has been used, so that one look at all usage is enough. */
static void stocks_make(struct core *core) {
    vec_each (&core->book.entries[ASSOC_ASSOC], entry) {
        const struct assoc *assoc = *entry;
        bool root = assoc->user == NULL && str_equal(assoc->account, ROOT_ACCOUNT);
        if (assoc->grp_tres_mins != NULL || assoc->grp_wall != UNSET32 || root)
            stocks_of_record(core, false, assoc);
    }
    for (uint32_t i = 0; i < qos_count(core); i++)
        stocks_of_record(core, true, qos_at(core, i));
    limits_used_renew(core);
}

void limits_renew(struct core *core) {
    jobs_each (core, job) {
        job->limits = job->ageing = NULL;
        job->limits_count = 0;
    }
    limits_free(core);
    if (!limits_are_on(core))
        return;
    jobs_each (core, job)
        count(core, job);
    stocks_make(core);
    core->limits.ages = limits_age_are_set(core);
    limits_age_all(core);
}
