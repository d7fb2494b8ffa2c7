/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who goes first: what the facts of a job, its partitions and the cluster come to under the weights
 * of slurm.conf. The arithmetic is in sched/priority.h.
 *
 * Most of a priority changes only when a job or the cluster does. That part is kept with the job,
 * so that growing older costs an addition a job.
 */
#include <stdlib.h>
#include <string.h>

#include "core/habit.h"
#include "model/conf.h"
#include "text/tres.h"

/* Jobs whose age is looked at in one go; the rest follows at once, so that no reply waits long. */
#define AGED_PER_TICK 10000

/* Slurm counts down from 2^32 for equal jobs; the order of submission decides anyway here, so every
 * job without weights has the same, readable, priority. */
#define PRIORITY_BASE 1000000u
/* Of a preempted job that goes to the head of the queue. */
#define PRIORITY_HEAD (UINT32_MAX - 1)

/* ---- settings ---- */

/* The order in which resources are listed wherever they are; the others follow as configured. */
static unsigned tres_rank(const char *name) {
    unsigned id = tres_standard_id(name, strlen(name));
    return id != 0 ? id : TRES_ID_OTHER;
}

static void tres_insert(struct priority_weights *weights, char **names, char *name,
                        uint32_t weight) {
    size_t at = weights->n_tres++;
    for (; at > 0 && tres_rank(names[at - 1]) > tres_rank(name); at--) {
        names[at] = names[at - 1];
        weights->tres[at] = weights->tres[at - 1];
    }
    names[at] = name;
    weights->tres[at] = weight;
}

/* "CPU=1000,Mem=2000,GRES/gpu=3000"; its form has been checked with the configuration. */
static int tres_weights(const char *text, struct priority_weights *weights, char **names,
                        struct error *err) {
    words_each (text, ", ", item) {
        char *equals = strchr(item, '=');
        double weight = equals ? strtod(equals + 1, NULL) : 0;
        if (weights->n_tres == PRIORITY_TRES_MAX)
            return error_set(err, ERR_LIMIT, "PriorityWeightTRES: more than %d resources",
                             PRIORITY_TRES_MAX);
        if (!equals || weight < 0 || weight > UINT32_MAX)
            return error_set(err, ERR_INVALID, "PriorityWeightTRES: \"%s\" is not NAME=WEIGHT",
                             item);
        *equals = '\0';
        text_lower(item);
        tres_insert(weights, names, xstrdup(item), (uint32_t) weight);
    }
    return 0;
}

static void names_free(char **names, size_t n) {
    for (size_t i = 0; i < n; i++) {
        free(names[i]);
        names[i] = NULL;
    }
}

void priority_settings_free(struct core *core) {
    names_free(core->settings.tres_names, core->settings.weights.n_tres);
    core->settings.weights.n_tres = 0;
}

int priority_settings(struct core *core, const struct conf *conf, struct error *err) {
    struct core_settings *s = &core->settings;
    char *names[PRIORITY_TRES_MAX] = {NULL};
    struct priority_weights weights = {
        .factor = {[PRIORITY_AGE] = conf->priority_weight_age,
                   [PRIORITY_ASSOC] = conf->priority_weight_assoc,
                   [PRIORITY_FAIRSHARE] = conf->priority_weight_fair_share,
                   [PRIORITY_SIZE] = conf->priority_weight_job_size,
                   [PRIORITY_PARTITION] = conf->priority_weight_partition,
                   [PRIORITY_QOS] = conf->priority_weight_qos,
                   [PRIORITY_ACCURACY] = conf->priority_weight_accuracy}};
    int r = tres_weights(conf->priority_weight_tres, &weights, names, err);
    if (r < 0) {
        names_free(names, weights.n_tres);
        return r;
    }
    priority_settings_free(core);
    s->weights = weights;
    memcpy(s->tres_names, names, sizeof(names));
    s->priority_multifactor = conf->priority_type == CONF_PRIORITY_MULTIFACTOR;
    s->priority_flags = conf->priority_flags;
    s->favor_small = conf->priority_favor_small;
    s->max_age = (int64_t) conf->priority_max_age;
    s->calc_period = max_of((int64_t) conf->priority_calc_period, (int64_t) 1);
    s->order_wfp3 = conf->scheduler.order == CONF_SCHED_ORDER_WFP3;
    bool moves = weights.factor[PRIORITY_AGE] || weights.factor[PRIORITY_FAIRSHARE];
    bool ages = s->order_wfp3 || (s->priority_multifactor && moves);
    core->age_next = ages ? core->now + s->calc_period : 0;
    return 0;
}

/* A resource of a list by the name that it has in the weights. */
static uint64_t tres_amount(const struct gres_list *list, const char *name) {
    cleanup_free char *copy = xstrdup(name);
    char *type = strchr(copy, ':');
    if (type)
        *type++ = '\0';
    return gres_list_count(list, copy, type);
}

static void tres_amounts(const struct core *core, const char *text, uint64_t *ret) {
    struct gres_list list cleanup_gres_list = GRES_LIST_INIT;
    const struct core_settings *s = &core->settings;
    bool known = text && s->weights.n_tres > 0 && tres_parse(text, &list, NULL) == 0;
    for (size_t i = 0; i < s->weights.n_tres; i++)
        ret[i] = known ? tres_amount(&list, s->tres_names[i]) : 0;
}

void priorities_outdate(struct core *core) {
    core->priority_version++;
    core->all_cpus = 0;
    core->highest_part_factor = 0;
    core->highest_assoc_priority = 0;
    vec_each (&core->book.entries[ASSOC_ASSOC], at) {
        uint32_t priority = ((const struct assoc *) *at)->priority;
        if (priority != UNSET32)
            core->highest_assoc_priority = max_of(core->highest_assoc_priority, priority);
    }
    for (size_t i = 0; i < core->n_nodes; i++)
        core->all_cpus += core->nodes[i].rec.cpus;
    for (size_t i = 0; i < core->n_partitions; i++) {
        struct core_partition *part = &core->partitions[i];
        core->highest_part_factor =
            max_of(core->highest_part_factor, part->rec.priority_job_factor);
        tres_amounts(core, part->rec.tres, part->tres_totals);
    }
}

/* ---- one job ---- */

static bool multifactor_counts(const struct core_settings *s) {
    for (size_t i = 0; i < PRIORITY_FACTORS; i++) {
        if (s->weights.factor[i])
            return s->priority_multifactor;
    }
    return s->priority_multifactor && s->weights.n_tres > 0;
}

static uint64_t age_share(const struct core *core, const struct job *rec) {
    const struct core_settings *s = &core->settings;
    bool always = s->priority_flags & CONF_PRIORITY_ACCRUE_ALWAYS;
    int64_t since = always              ? rec->submit_time
                    : core->limits.ages ? rec->accrue_time
                                        : rec->eligible_time;
    if (since <= 0 || since >= core->now)
        return 0;
    return priority_share((uint64_t) min_of(core->now - since, s->max_age), (uint64_t) s->max_age);
}

static uint64_t size_share(const struct core *core, const struct job *rec) {
    const struct core_settings *s = &core->settings;
    if (s->priority_flags & CONF_PRIORITY_SMALL_RELATIVE_TO_TIME) {
        bool limited = rec->time_limit != UNSET32 && rec->time_limit != MINUTES_INFINITE;
        return priority_size_by_time(rec->num_nodes, (uint32_t) core->n_nodes,
                                     limited ? rec->time_limit : 0, s->favor_small);
    }
    return priority_size_share(rec->num_nodes, (uint32_t) core->n_nodes, rec->num_cpus,
                               core->all_cpus, s->favor_small);
}

/* A factor that a site may want as the number that it is. */
static uint64_t normal_share(const struct core *core, uint64_t flag, uint64_t part,
                             uint64_t whole) {
    bool plain = core->settings.priority_flags & (flag | CONF_PRIORITY_NO_NORMAL_ALL);
    return priority_share(part, plain ? 1 : whole);
}

static uint64_t qos_share(const struct core *core, const struct job *rec) {
    uint32_t at, highest = 0;
    const struct qos *own = qos_find(core, rec->qos, &at);
    if (own == NULL)
        return 0;
    for (uint32_t i = 0; i < qos_count(core); i++) {
        highest = max_of(highest, qos_at(core, i)->priority);
    }
    return normal_share(core, CONF_PRIORITY_NO_NORMAL_QOS, own->priority, highest);
}

/* Of the user, when the priority was reckoned: who asks for what is needed goes first. */
static uint64_t accuracy_share(const struct core *core, const struct job *rec) {
    if (core->settings.weights.factor[PRIORITY_ACCURACY] == 0)
        return 0;
    return habit_accuracy(habit_find(core, rec->uid, NULL), PRIORITY_ONE);
}

/* Looked for only where it counts: most clusters have no associations. */
static uint64_t fair_share(struct core *core, const struct job *rec) {
    return core->settings.weights.factor[PRIORITY_FAIRSHARE] ? shares_factor(core, rec) : 0;
}

static uint64_t assoc_share(const struct core *core, const struct job *rec) {
    if (!core->settings.weights.factor[PRIORITY_ASSOC])
        return 0;
    const struct assoc *own = assoc_for_job(core, rec);
    while (own != NULL && own->priority == UNSET32)
        own = assoc_parent(&core->book, own);
    return own == NULL ? 0
                       : normal_share(core, CONF_PRIORITY_NO_NORMAL_ASSOC, own->priority,
                                      core->highest_assoc_priority);
}

static void tres_print(const struct core *core, const struct priority_parts *parts,
                       struct str *out) {
    const struct core_settings *s = &core->settings;
    for (size_t i = 0; i < s->weights.n_tres; i++) {
        uint64_t part = priority_rounded(parts->tres[i]);
        if (part)
            str_printf(out, "%s%s=%llu", out->length ? "," : "", s->tres_names[i],
                       (unsigned long long) part);
    }
}

struct reckoning {
    struct priority_shares shares; /* those of no partition are filled in */
    uint64_t asked[PRIORITY_TRES_MAX];
    uint64_t moving; /* what time changes: age, fair share */
};

/* The sum in one partition; its part that time does not change. */
static uint64_t sum_in_partition(const struct core *core, struct reckoning *r,
                                 const struct core_partition *part, struct priority_parts *parts) {
    const struct core_settings *s = &core->settings;
    r->shares.factor[PRIORITY_PARTITION] =
        part ? normal_share(core, CONF_PRIORITY_NO_NORMAL_PART, part->rec.priority_job_factor,
                            core->highest_part_factor)
             : 0;
    for (size_t i = 0; i < s->weights.n_tres; i++)
        r->shares.tres[i] = part ? normal_share(core, CONF_PRIORITY_NO_NORMAL_TRES, r->asked[i],
                                                part->tres_totals[i])
                                 : 0;
    return priority_sum(&s->weights, &r->shares, parts) - r->moving;
}

static void priorities_clear(struct job *rec) {
    for (uint32_t i = 0; i < rec->priorities.n; i++)
        record_done(&record_partition_priority, &rec->priorities.items[i]);
    free(rec->priorities.items);
    rec->priorities.items = NULL;
    rec->priorities.n = 0;
}

static struct partition_priority *priorities_add(struct job *rec, const char *partition) {
    uint32_t n = rec->priorities.n++;
    rec->priorities.items =
        xreallocarray(rec->priorities.items, n + 1, sizeof(*rec->priorities.items));
    struct partition_priority *item = &rec->priorities.items[n];
    record_init(&record_partition_priority, item);
    string_set(&item->partition, partition);
    return item;
}

static void parts_note(const struct core *core, struct job *rec,
                       const struct priority_parts *parts) {
    struct str tres cleanup_str = STR_INIT;
    tres_print(core, parts, &tres);
    string_set(&rec->prio_tres, tres.length ? tres.data : NULL);
    rec->prio_age = parts->factor[PRIORITY_AGE];
    rec->prio_assoc = parts->factor[PRIORITY_ASSOC];
    rec->prio_fairshare = parts->factor[PRIORITY_FAIRSHARE];
    rec->prio_size = parts->factor[PRIORITY_SIZE];
    rec->prio_partition = parts->factor[PRIORITY_PARTITION];
    rec->prio_qos = parts->factor[PRIORITY_QOS];
    rec->prio_accuracy = parts->factor[PRIORITY_ACCURACY];
}

/* Over all its partitions; the largest sum counts, since any of them may take the job. */
static uint64_t sum_over_partitions(struct core *core, struct core_job *job, struct reckoning *r) {
    struct job *rec = &job->rec;
    bool several = rec->partition && strchr(rec->partition, ',') != NULL;
    struct priority_parts parts;
    uint64_t best = 0;
    priorities_clear(rec);
    parts_note(core, rec, &(struct priority_parts) {0});
    words_each (rec->partition, ",", name) {
        uint32_t index;
        struct core_partition *part = partition_find(core, name, &index);
        uint64_t fixed = sum_in_partition(core, r, part, &parts);
        if (fixed >= best) {
            best = fixed;
            parts_note(core, rec, &parts);
        }
        if (!several)
            continue;
        struct partition_priority *item = priorities_add(rec, name);
        struct str tres cleanup_str = STR_INIT;
        tres_print(core, &parts, &tres);
        string_set(&item->prio_tres, tres.length ? tres.data : NULL);
        item->prio_partition = parts.factor[PRIORITY_PARTITION];
        item->priority = priority_total(fixed + r->moving, rec->site_factor, rec->nice);
    }
    return best;
}

static uint64_t moving_sum(const struct core *core, const struct priority_shares *shares) {
    const struct priority_weights *weights = &core->settings.weights;
    return priority_weighted(weights->factor[PRIORITY_AGE], shares->factor[PRIORITY_AGE]) +
           priority_weighted(weights->factor[PRIORITY_FAIRSHARE],
                             shares->factor[PRIORITY_FAIRSHARE]);
}

static uint32_t multifactor(struct core *core, struct core_job *job) {
    struct reckoning r = {.shares = {.factor = {0}}};
    r.shares.factor[PRIORITY_AGE] = age_share(core, &job->rec);
    r.shares.factor[PRIORITY_SIZE] = size_share(core, &job->rec);
    r.shares.factor[PRIORITY_QOS] = qos_share(core, &job->rec);
    r.shares.factor[PRIORITY_ACCURACY] = accuracy_share(core, &job->rec);
    r.shares.factor[PRIORITY_FAIRSHARE] = fair_share(core, &job->rec);
    r.shares.factor[PRIORITY_ASSOC] = assoc_share(core, &job->rec);
    r.moving = moving_sum(core, &r.shares);
    tres_amounts(core, job->rec.tres_req, r.asked);
    job->priority_fixed = sum_over_partitions(core, job, &r);
    job->priority_of = core->priority_version;
    return priority_total(job->priority_fixed + r.moving, job->rec.site_factor, job->rec.nice);
}

/* The order that is configured on top of the factors. */
static uint32_t ordered(const struct core *core, const struct job *rec, uint32_t priority) {
    return core->settings.order_wfp3 ? wfp3_priority(core, rec, priority) : priority;
}

uint32_t priority_compute(struct core *core, struct core_job *job) {
    struct job *rec = &job->rec;
    job->priority_of = 0;
    if (!rec->queue_head && rec->requested_priority == UNSET32 &&
        multifactor_counts(&core->settings))
        return ordered(core, rec, multifactor(core, job));
    priorities_clear(rec);
    parts_note(core, rec, &(struct priority_parts) {0});
    if (rec->queue_head)
        return PRIORITY_HEAD;
    if (rec->requested_priority != UNSET32)
        return rec->requested_priority;
    return ordered(core, rec,
                   priority_total(PRIORITY_BASE * PRIORITY_SUM_ONE, rec->site_factor, rec->nice));
}

/* ---- growing older ---- */

static uint32_t priority_now(struct core *core, struct core_job *job) {
    struct job *rec = &job->rec;
    if (job->priority_of != core->priority_version || rec->priorities.n > 0)
        return priority_compute(core, job);
    const uint32_t *weights = core->settings.weights.factor;
    struct priority_shares shares = {
        .factor = {
            [PRIORITY_AGE] = age_share(core, rec), [PRIORITY_FAIRSHARE] = fair_share(core, rec)}};
    uint64_t moving = moving_sum(core, &shares);
    rec->prio_age = priority_weighted(weights[PRIORITY_AGE], shares.factor[PRIORITY_AGE]);
    rec->prio_fairshare =
        priority_weighted(weights[PRIORITY_FAIRSHARE], shares.factor[PRIORITY_FAIRSHARE]);
    return ordered(core, rec,
                   priority_total(job->priority_fixed + moving, rec->site_factor, rec->nice));
}

/* A priority that is not stored: a restart computes it anew. */
static void priority_set(struct core *core, struct core_job *job, uint32_t priority) {
    if (priority == job->rec.priority)
        return;
    job->rec.priority = priority;
    job->rec.generation = ++core->generation;
    if (job->in_sched && job->het != NULL)
        het_aged(core, job);
    else if (job->in_sched)
        sched_job_priority(core->sched, job->rec.job_id, priority);
    core->plan_wanted = true;
}

void priority_renew(struct core *core, struct core_job *job) {
    if (job->rec.priority > 0 && job->priority_of != core->priority_version)
        priority_set(core, job, priority_compute(core, job));
}

/* Those who wait grow older, and shares change as others use theirs. */
void priorities_age(struct core *core) {
    const struct core_settings *s = &core->settings;
    if (core->age_at == 0 && s->weights.factor[PRIORITY_FAIRSHARE])
        shares_update(core);
    if (core->age_at == 0)
        limits_age_all(core);
    size_t end = min_of(core->job_order.n, core->age_at + AGED_PER_TICK);
    for (; core->age_at < end; core->age_at++) {
        struct core_job *job = core->job_order.items[core->age_at];
        if (job == NULL || job->rec.priority == 0 || job->rec.queue_head ||
            job->rec.requested_priority != UNSET32)
            continue;
        bool runs = job_has_nodes(job) && s->priority_flags & CONF_PRIORITY_CALCULATE_RUNNING;
        if (!job_is_pending(job) && !runs)
            continue;
        uint32_t priority = priority_now(core, job);
        if (s->priority_flags & CONF_PRIORITY_INCR_ONLY)
            priority = max_of(priority, job->rec.priority);
        priority_set(core, job, priority);
    }
    bool done = core->age_at >= core->job_order.n;
    core->age_at = done ? 0 : core->age_at;
    core->age_next = done ? core->now + s->calc_period : core->now;
}
