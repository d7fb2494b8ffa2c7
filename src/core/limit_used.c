/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits on what has been used: GrpTRESMins, GrpWall. A stock stands for each such limit: what was
 * used as of some second, and what is added every second since by those who run. It follows from
 * the entries of usage.h and the records of jobs, is made with the limits, and moves with the
 * beginnings and ends of runs; so it is never stored, and what an end charges changes nothing.
 *
 * The planner is told what has been used before each pass. Without AccountingStorageEnforce=safe
 * whoever runs when a stock comes to its end is ended: the second in which that happens follows
 * from the rate.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/state.h"
#include "model/conf.h"

struct stock_list {
    vec(struct limit_pool *) pools;
};

static uint64_t record_key(uint32_t kind, uint32_t id) {
    return (uint64_t) kind << 32 | id;
}

static uint64_t key_of(const struct limit_pool *pool) {
    return record_key(pool->of_qos ? ASSOC_QOS : ASSOC_ASSOC, pool->stock->id);
}

bool limits_are_safe(const struct core *core) {
    return (core->settings.enforce & CONF_ENFORCE_SAFE) != 0;
}

void limit_stock_new(struct core *core, struct limit_pool *pool, uint32_t id) {
    struct str tres cleanup_str = STR_INIT;
    pool->stock = zalloc(struct limit_stock);
    pool->stock->id = id;
    if (limit_has_tres(pool->value.row)) {
        limit_tres_print(core, &pool->value.tres, &tres);
        pool->stock->tres = str_take(&tres);
    }
    struct stock_list *list = map_get(&core->limits.stocks, key_of(pool));
    if (list == NULL) {
        list = zalloc(struct stock_list);
        map_put(&core->limits.stocks, key_of(pool), list);
    }
    vec_push(&list->pools, pool);
    vec_push(&core->limits.stocked, pool);
}

void limit_stock_free(struct limit_stock *stock) {
    if (stock == NULL)
        return;
    free(stock->tres);
    free(stock);
}

void limit_stocks_free(struct core *core) {
    size_t at = 0;
    uint64_t key;
    for (struct stock_list *list; (list = map_next(&core->limits.stocks, &at, &key)) != NULL;) {
        vec_done(&list->pools);
        free(list);
    }
    map_done(&core->limits.stocks);
    vec_done(&core->limits.stocked);
}

/* ---- how much has been used ---- */

static double used_at(const struct limit_stock *stock, int64_t time) {
    int64_t seconds = time - stock->time;
    return seconds <= 0 ? stock->used
                        : usage_decayed(stock->used, seconds, stock->half_life) +
                              usage_accrued(stock->rate, seconds, stock->half_life);
}

double limit_used(const struct core *core, const struct limit_pool *pool) {
    return used_at(pool->stock, core->now);
}

static void stock_age(struct limit_stock *stock, int64_t now) {
    stock->used = used_at(stock, now);
    stock->time = max_of(stock->time, now);
}

static double total_of(const struct limit_pool *pool) {
    return 60.0 * (double) pool->value.most;
}

/* The first second in which nothing is left; INT64_MAX. */
static int64_t ends_at(const struct core *core, const struct limit_pool *pool) {
    const struct limit_stock *stock = pool->stock;
    double used = limit_used(core, pool), left = total_of(pool) - used, seconds;
    if (stock->n_runs == 0 || limits_are_safe(core))
        return INT64_MAX;
    if (left <= 0)
        return core->now;
    if (stock->half_life == 0) {
        seconds = stock->rate > 0 ? left / stock->rate : INFINITY;
    } else {
        double most = stock->rate * (double) stock->half_life / M_LN2; /* that it comes near to */
        seconds = most <= total_of(pool)
                      ? INFINITY
                      : (double) stock->half_life * log2((most - used) / (most - total_of(pool)));
    }
    return seconds < 1e12 ? core->now + max_of((int64_t) ceil(seconds), (int64_t) 1) : INT64_MAX;
}

/* So much is to go by decay alone: not before then, whatever goes on running. It is looked at again
 * then, and what is missing has become little. INT64_MAX. */
static int64_t lacks_until(const struct core *core, const struct limit_pool *pool, double much) {
    double all = (double) sched_budget_used(core->sched, core->now, pool->id) + 1;
    if (pool->stock->half_life == 0 || much >= all)
        return INT64_MAX;
    double seconds = (double) pool->stock->half_life * log2(all / (all - much));
    return core->now + max_of((int64_t) seconds, (int64_t) 1);
}

int64_t limit_used_until(const struct core *core, const struct limit_pool *pool, double need) {
    double all = limit_used(core, pool), room = total_of(pool) - need;
    if (all <= room)
        return core->now;
    if (pool->stock->half_life > 0 && room > 0)
        return core->now + (int64_t) ceil((double) pool->stock->half_life * log2(all / room));
    return core->usage.reset_next > 0 && need <= total_of(pool) ? core->usage.reset_next
                                                                : INT64_MAX;
}

static void look_at(struct core *core, int64_t time) {
    int64_t *next = &core->limits.used_next;
    if (time != INT64_MAX && (*next == 0 || time < *next))
        *next = time;
}

/* ---- whom a job is charged to ---- */

typedef void stock_fn(struct core *core, struct limit_pool *pool, const struct job *job);

static void stocks_of(struct core *core, uint32_t kind, uint32_t id, const struct job *job,
                      stock_fn *fn) {
    const struct stock_list *list = map_get(&core->limits.stocks, record_key(kind, id));
    for (size_t i = 0; list != NULL && i < list->pools.n; i++)
        fn(core, list->pools.items[i], job);
}

static void stocks_of_job(struct core *core, const struct job *job, stock_fn *fn) {
    const struct qos *of_job, *of_partition;
    for (const struct assoc *at = shares_assoc(core, job->assoc_id); at != NULL;
         at = assoc_parent(&core->book, at))
        stocks_of(core, ASSOC_ASSOC, at->id, job, fn);
    usage_qos(core, job, &of_job, &of_partition);
    if (of_job != NULL)
        stocks_of(core, ASSOC_QOS, of_job->id, job, fn);
    if (of_partition != NULL)
        stocks_of(core, ASSOC_QOS, of_partition->id, job, fn);
}

static double gres_amount(const struct core *core, const struct job *job,
                          const struct limit_tres *tres) {
    const struct gres_kind *kind = &core->kinds[tres->index];
    struct gres_list list cleanup_gres_list = GRES_LIST_INIT;
    if (job->tres_alloc == NULL || tres_parse(job->tres_alloc, &list, NULL) < 0)
        return 0;
    cleanup_free char *name = xasprintf("gres/%s", kind->name);
    return (double) gres_list_count(&list, name, tres->typed ? kind->type : NULL);
}

double limit_run_amount(const struct core *core, const struct job *job,
                        const struct limit_tres *tres) {
    uint64_t mem = 0;
    switch (tres->class) {
    case LIMIT_CPU:
        return job->num_cpus;
    case LIMIT_NODE:
        return job->num_nodes;
    case LIMIT_BILLING:
        return job->billing;
    case LIMIT_LICENSE:
        return (double) license_count(job->licenses, core->licenses[tres->index]);
    case LIMIT_MEM:
        for (uint32_t i = 0; i < job->allocation.n; i++)
            mem += job->allocation.items[i].mem;
        return (double) mem;
    case LIMIT_GRES:
        return gres_amount(core, job, tres);
    case LIMIT_CLASSES:
        break;
    }
    return 0;
}

static double run_rate(const struct core *core, const struct limit_pool *pool,
                       const struct job *job) {
    double amount =
        limit_has_tres(pool->value.row) ? limit_run_amount(core, job, &pool->value.tres) : 1;
    return amount * usage_factor(core, job);
}

static void run_begins(struct core *core, struct limit_pool *pool, const struct job *job) {
    stock_age(pool->stock, core->now);
    pool->stock->rate += run_rate(core, pool, job);
    pool->stock->n_runs++;
    look_at(core, ends_at(core, pool));
}

static void run_ends(struct core *core, struct limit_pool *pool, const struct job *job) {
    struct limit_stock *stock = pool->stock;
    stock_age(stock, core->now);
    stock->n_runs -= stock->n_runs > 0;
    stock->rate = stock->n_runs > 0 ? max_of(stock->rate - run_rate(core, pool, job), 0.0) : 0;
}

void limits_charge(struct core *core, const struct job *job, bool begins) {
    if (core->limits.stocked.n > 0)
        stocks_of_job(core, job, begins ? run_begins : run_ends);
}

/* ---- anew ---- */

static double entry_amount(const struct assoc_usage *entry, const char *tres) {
    double amount = tres == NULL ? entry->wall : 0;
    for (uint32_t i = 0; tres != NULL && i < entry->tres.n; i++) {
        if (str_equal_nocase(entry->tres.items[i].name, tres))
            amount += entry->tres.items[i].seconds;
    }
    return amount;
}

double limit_used_by_entry(const struct core *core, const struct limit_pool *pool,
                           const struct assoc_usage *entry) {
    return usage_decayed(entry_amount(entry, pool->stock->tres), core->now - entry->time,
                         pool->stock->half_life);
}

double limit_used_by_run(const struct core *core, const struct limit_pool *pool,
                         const struct job *job) {
    return usage_accrued(run_rate(core, pool, job), core->now - usage_charged_from(core, job),
                         pool->stock->half_life);
}

static void take_entry(struct core *core, const struct assoc_usage *entry, uint64_t key) {
    const struct stock_list *list = map_get(&core->limits.stocks, key);
    for (size_t i = 0; list != NULL && i < list->pools.n; i++) {
        struct limit_pool *pool = list->pools.items[i];
        pool->stock->used += limit_used_by_entry(core, pool, entry);
    }
}

static void take_entries(struct core *core) {
    size_t position = 0;
    uint64_t key;
    const struct usage_entry *entry;
    while ((entry = map_next(&core->usage.entries, &position, &key)) != NULL) {
        if (entry->rec.kind == ASSOC_QOS)
            take_entry(core, &entry->rec, record_key(ASSOC_QOS, entry->rec.id));
        const struct assoc *at =
            entry->rec.kind == ASSOC_ASSOC ? shares_assoc(core, entry->rec.id) : NULL;
        for (; at != NULL; at = assoc_parent(&core->book, at))
            take_entry(core, &entry->rec, record_key(ASSOC_ASSOC, at->id));
    }
}

static void take_run(struct core *core, struct limit_pool *pool, const struct job *job) {
    struct limit_stock *stock = pool->stock;
    stock->used += limit_used_by_run(core, pool, job);
    stock->rate += run_rate(core, pool, job);
    stock->n_runs++;
}

void limits_used_renew(struct core *core) {
    if (core->limits.stocked.n == 0)
        return;
    vec_each (&core->limits.stocked, at) {
        struct limit_stock *stock = (*at)->stock;
        stock->used = stock->rate = 0;
        stock->n_runs = 0;
        stock->time = core->now;
        stock->half_life =
            usage_half_life(core, (*at)->of_qos ? ASSOC_QOS : ASSOC_ASSOC, stock->id);
    }
    take_entries(core);
    list_each (&core->placed, at) {
        const struct job *job = &list_entry(at, struct core_job, placed)->rec;
        if (usage_charged_from(core, job) > 0)
            stocks_of_job(core, job, take_run);
    }
    core->limits.told = 0;
    vec_each (&core->limits.stocked, at)
        look_at(core, ends_at(core, *at));
}

/* ---- what follows ---- */

void limit_used_show(struct core *core, struct sched *sched, const struct limit_pool *pool) {
    if (pool->stock != NULL)
        (void) sched_budget_tell(sched, core->now, pool->id, limit_used(core, pool));
}

/* True: somebody who waits may start. */
static bool tell(struct core *core) {
    bool lifted = false;
    if (core->limits.told == core->now)
        return false;
    core->limits.told = core->now;
    limits_show(core, core->sched);
    vec_each (&core->limits.stocked, at)
        lifted |= sched_budget_tell(core->sched, core->now, (*at)->id, limit_used(core, *at));
    return lifted;
}

void limits_before_pass(struct core *core) {
    if (core->limits.stocked.n > 0)
        (void) tell(core);
}

void limits_after_pass(struct core *core) {
    vec_each (&core->limits.stocked, at) {
        double missing = sched_budget_missing(core->sched, core->now, (*at)->id);
        if (missing > 0)
            look_at(core, lacks_until(core, *at, missing));
    }
}

/* The limit that binds a job that runs, of those that are used up; NULL. */
static const struct limit_pool *used_up(struct core *core, const struct core_job *job) {
    uint32_t partition;
    if (job->rec.state != JOB_RUNNING || !job_first_partition(core, &job->rec, &partition))
        return NULL;
    const struct limit_group *group = limit_group_of(core, &job->rec, partition);
    for (size_t i = 0; group != NULL && i < group->running.n; i++) {
        const struct limit_pool *pool = group->running.items[i].pool;
        if (group->running.items[i].binds && pool->stock != NULL &&
            limit_used(core, pool) >= total_of(pool) && run_rate(core, pool, &job->rec) > 0)
            return pool;
    }
    return NULL;
}

static void end_for(struct core *core, struct core_job *job, const struct limit_pool *pool) {
    struct str limit cleanup_str = STR_INIT;
    limit_value_print(core, &pool->value, pool->of_qos, &limit);
    emit_log(core, EFFECT_INFO, "job %u of uid %u is ended: %s has %s, and that is used up",
             job->rec.job_id, job->rec.uid, pool->owner, limit.data);
    cleanup_free char *text =
        xasprintf("%s has %s, and that is used up: the job ends here", pool->owner, limit.data);
    job_tell(core, job, text);
    job_notify(core, job, ALLOC_TIMEOUT, NULL, 0);
    job_finish(core, job, JOB_TIMEOUT, REASON_TIME_LIMIT, 0, "DUE TO TIME LIMIT");
}

static void end_who_has_used_up(struct core *core) {
    vec(uint32_t) ids = {0};
    list_each (&core->placed, at) {
        struct core_job *job = list_entry(at, struct core_job, placed);
        if (used_up(core, job) != NULL)
            vec_push(&ids, job->rec.job_id);
    }
    vec_each (&ids, id) {
        struct core_job *job = job_find(core, *id);
        const struct limit_pool *pool = job != NULL ? used_up(core, job) : NULL;
        if (pool != NULL)
            end_for(core, job, pool);
    }
    vec_done(&ids);
}

void limits_used_tick(struct core *core) {
    int64_t due = core->limits.used_next;
    bool any = false;
    if (due == 0 || due > core->now)
        return;
    core->limits.used_next = 0;
    vec_each (&core->limits.stocked, at)
        any |= ends_at(core, *at) <= core->now;
    if (any)
        end_who_has_used_up(core);
    core->plan_wanted |= tell(core);
    vec_each (&core->limits.stocked, at) {
        int64_t end = ends_at(core, *at);
        look_at(core, end > core->now ? end : core->now + 60); /* those are bound by another */
    }
    limits_after_pass(core);
}
