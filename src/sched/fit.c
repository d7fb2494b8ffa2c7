/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a share of a job needs on a node, and how large a share a node can take. Needs grow with the
 * number of tasks and GRES in every dimension; that is what the searches rely on.
 */
#include "sched/internal.h"

#define NO_LIMIT UINT32_MAX

static int64_t divide_up(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}

/* CPUs of a core that tasks may use. */
static int64_t threads_used(const struct shape *shape, const struct hardware *hardware) {
    if (shape->threads_per_core && shape->threads_per_core < hardware->threads_per_core)
        return shape->threads_per_core;
    return hardware->threads_per_core;
}

static int64_t cpus_of(const struct shape *shape, const struct hardware *hardware, uint32_t tasks,
                       int64_t gpus) {
    int64_t cpus = shape->overcommit ? 1 : (int64_t) tasks * shape->cpus_per_task;

    cpus = max_of(cpus, (int64_t) shape->min_cpus_per_node);
    cpus = max_of(cpus, (int64_t) shape->cpus_per_gpu * gpus);
    cpus = max_of(cpus, (int64_t) 1);
    if (hardware->whole_cores) {
        int64_t cores = divide_up(cpus, threads_used(shape, hardware));
        if (shape->ntasks_per_core)
            cores = max_of(cores, divide_up(tasks, shape->ntasks_per_core));
        cpus = cores * hardware->threads_per_core;
    }
    return cpus;
}

static int64_t mem_of(const struct shape *shape, const struct hardware *hardware, int64_t cpus,
                      int64_t gpus) {
    if (shape->mem_per_node >= 0)
        return shape->mem_per_node == 0 ? hardware->total[DIM_MEM] : shape->mem_per_node;
    if (shape->mem_per_cpu >= 0)
        return shape->mem_per_cpu * cpus;
    if (shape->mem_per_gpu >= 0)
        return shape->mem_per_gpu * gpus;
    return 0;
}

bool need_of(const struct sched *s, const struct shape *shape, uint32_t hardware_id, uint32_t tasks,
             const uint32_t *share, int64_t *need) {
    const struct hardware *hardware = &s->hardware[hardware_id];

    for (uint32_t d = DIM_GRES; d < s->n_dims; d++)
        need[d] = 0;
    int64_t gpus = need_add_gres(shape, tasks, need);
    for (uint8_t i = 0; share && i < shape->n_per_job; i++) {
        need[shape->per_job[i].dim] += share[i];
        gpus += shape->per_job[i].is_gpu ? share[i] : 0;
    }
    if (shape->ntasks_per_socket && tasks > (uint64_t) shape->ntasks_per_socket * hardware->sockets)
        return false;
    need[DIM_CPU] = cpus_of(shape, hardware, tasks, gpus);
    need[DIM_MEM] = mem_of(shape, hardware, need[DIM_CPU], gpus);
    return amount_covers(hardware->total, need, s->n_dims);
}

/* ---- needs that do not depend on what is free, kept per hardware ---- */

static int64_t no_need_;
#define NO_NEED (&no_need_)

void need_forget(int64_t *need) {
    if (need != NO_NEED)
        free(need);
}

static int64_t *need_make(const struct sched *s, const struct shape *shape,
                          const struct alternative *alt, uint32_t hardware, uint32_t tasks,
                          const uint32_t *share) {
    int64_t need[MAX_DIMS];

    if (!need_of(s, shape, hardware, tasks, share, need))
        return NO_NEED;
    if (alt->cpu_cap && need[DIM_CPU] > alt->cpu_cap)
        return NO_NEED;
    return xmemdup(need, s->n_dims * sizeof(*need));
}

bool shape_is_fixed(const struct shape *shape, const struct alternative *alt) {
    return shape->n_per_job == 0 && (shape->ntasks <= 1 || alt->min_nodes >= shape->ntasks);
}

uint32_t shape_share(const struct shape *shape) {
    return shape->ntasks == 0 && shape->ntasks_per_node ? shape->ntasks_per_node : 1;
}

bool shape_one_node(const struct shape *shape, const struct alternative *alt) {
    uint32_t tasks = shape->ntasks ? shape->ntasks : shape_share(shape);

    return alt->min_nodes <= 1 && shape_count_allowed(shape, 1) &&
           (!shape->ntasks_per_node || tasks <= shape->ntasks_per_node);
}

const int64_t *need_each(struct sched *s, struct shape *shape, struct alternative *alt,
                         uint32_t hardware) {
    if (!alt->each[hardware])
        alt->each[hardware] = need_make(s, shape, alt, hardware, shape_share(shape), NULL);
    return alt->each[hardware] == NO_NEED ? NULL : alt->each[hardware];
}

const int64_t *need_one(struct sched *s, struct shape *shape, struct alternative *alt,
                        uint32_t hardware) {
    if (!alt->one[hardware]) {
        uint32_t share[8] = {0};
        uint32_t tasks = shape->ntasks ? shape->ntasks : shape_share(shape);

        for (uint8_t i = 0; i < shape->n_per_job; i++)
            share[i] = shape->per_job[i].count;
        alt->one[hardware] = need_make(s, shape, alt, hardware, tasks, share);
    }
    return alt->one[hardware] == NO_NEED ? NULL : alt->one[hardware];
}

uint32_t shape_even(const struct shape *shape, const struct alternative *alt) {
    bool simple = shape->ntasks > 1 && shape->n_per_job == 0 && shape->n_req_nodes == 0 &&
                  alt->n_groups == 0 && !shape->contiguous;
    uint32_t share = (shape->ntasks + alt->min_nodes - 1) / alt->min_nodes;

    if (!simple || !shape_count_allowed(shape, alt->min_nodes) || alt->max_nodes < alt->min_nodes ||
        (shape->ntasks_per_node && share > shape->ntasks_per_node))
        return 0;
    return share;
}

const int64_t *need_even(struct sched *s, struct shape *shape, struct alternative *alt,
                         uint32_t hardware) {
    if (!alt->even[hardware])
        alt->even[hardware] = need_make(s, shape, alt, hardware, shape_even(shape, alt), NULL);
    return alt->even[hardware] == NO_NEED ? NULL : alt->even[hardware];
}

/* ---- how much fits ---- */

bool need_fits(const struct sched *s, const struct alternative *alt, uint32_t node,
               const int64_t *have, const int64_t *need) {
    const int64_t *total = node_total(s, node);

    if (!amount_covers(have, need, s->n_dims))
        return false;
    for (uint32_t d = 0; alt->exclusive && d < s->n_base; d++) {
        if (have[d] != total[d])
            return false;
    }
    return true;
}

/* What limits tasks on a node: CPUs that they can use, after memory per CPU and whole cores. */
static int64_t cpus_usable(const struct shape *shape, const struct hardware *hardware,
                           const int64_t *have) {
    int64_t cpus = have[DIM_CPU];

    if (shape->mem_per_node < 0 && shape->mem_per_cpu > 0)
        cpus = min_of(cpus, have[DIM_MEM] / shape->mem_per_cpu);
    if (hardware->whole_cores)
        cpus = cpus / hardware->threads_per_core * threads_used(shape, hardware);
    return cpus;
}

static int64_t gres_base(const struct shape *shape, uint8_t dim) {
    int64_t base = 0;

    for (uint8_t i = 0; i < shape->n_per_node; i++) {
        if (shape->per_node[i].dim == dim)
            base += shape->per_node[i].count;
    }
    return base;
}

/* An upper bound that is exact but for odd mixes of rules. */
static uint32_t tasks_bound(const struct sched *s, const struct shape *shape,
                            const struct hardware *hardware, const int64_t *have) {
    int64_t tasks = shape->ntasks ? shape->ntasks : shape_share(shape);
    int64_t cpus = cpus_usable(shape, hardware, have);

    if (shape->ntasks_per_node)
        tasks = min_of(tasks, (int64_t) shape->ntasks_per_node);
    if (shape->ntasks_per_socket)
        tasks = min_of(tasks, (int64_t) shape->ntasks_per_socket * hardware->sockets);
    if (shape->ntasks_per_core && hardware->whole_cores) {
        tasks = min_of(tasks, have[DIM_CPU] / hardware->threads_per_core *
                                  (int64_t) shape->ntasks_per_core);
    }
    if (!shape->overcommit)
        tasks = min_of(tasks, cpus / (int64_t) shape->cpus_per_task);
    for (uint8_t i = 0; i < shape->n_per_task; i++) {
        const struct gres_want *want = &shape->per_task[i];
        tasks =
            min_of(tasks, (have[want->dim] - gres_base(shape, want->dim)) / (int64_t) want->count);
    }
    return tasks > 0 ? tasks : 0;
}

uint32_t node_tasks(const struct sched *s, const struct shape *shape, const struct alternative *alt,
                    uint32_t node, const int64_t *have) {
    uint32_t hardware = s->nodes[node].hardware;
    uint32_t low = 0, high = tasks_bound(s, shape, &s->hardware[hardware], have);
    uint32_t share[8] = {0};
    int64_t need[MAX_DIMS];

    /* A node of a job with GRES to spread takes at least one of them. */
    for (uint8_t i = 0; i < shape->n_per_job; i++)
        share[i] = i == 0;
    /* need_of() grows with tasks, so this is a search for the last that fits; the bound is nearly
     * always the answer. */
    for (uint32_t try = high; low < high; try = low + (high - low + 1) / 2) {
        if (need_of(s, shape, hardware, try, share, need) && need_fits(s, alt, node, have, need))
            low = try;
        else
            high = try - 1;
    }
    /* Without a total, every node takes its full share. */
    return shape->ntasks == 0 && low < shape_share(shape) ? 0 : low;
}

uint32_t node_units(const struct sched *s, const struct shape *shape, const struct alternative *alt,
                    uint32_t node, const int64_t *have, uint32_t tasks) {
    uint32_t hardware = s->nodes[node].hardware, share[8] = {0};
    int64_t need[MAX_DIMS];

    if (shape->n_per_job == 0)
        return 0;
    int64_t bound = min_of((int64_t) shape->per_job[0].count, have[shape->per_job[0].dim]);
    uint32_t low = 0, high = bound > 0 ? bound : 0;
    for (uint32_t try = high; low < high; try = low + (high - low + 1) / 2) {
        share[0] = try;
        if (need_of(s, shape, hardware, tasks, share, need) && need_fits(s, alt, node, have, need))
            low = try;
        else
            high = try - 1;
    }
    return low;
}

struct share node_share(struct sched *s, struct shape *shape, struct alternative *alt,
                        uint32_t node, const int64_t *have) {
    const int64_t *need = need_each(s, shape, alt, s->nodes[node].hardware);
    struct share share = {0, 0};

    if (!need || !amount_covers(have, need, s->n_dims))
        return share; /* not even one task */
    if (shape_is_fixed(shape, alt)) {
        share.tasks = need_fits(s, alt, node, have, need) ? shape_share(shape) : 0;
        return share;
    }
    share.tasks = node_tasks(s, shape, alt, node, have);
    if (share.tasks == 0 || shape->n_per_job == 0)
        return share;
    share.units = node_units(s, shape, alt, node, have, shape->ntasks ? 1 : share.tasks);
    if (share.units == 0)
        share.tasks = 0;
    return share;
}

/* ---- what is taken ---- */

/* Untyped GRES: from the type that has least but enough, else from the fullest types first. */
static bool sum_resolve(const struct sched *s, uint32_t sum, const int64_t *have, int64_t *take) {
    int64_t left = take[sum];

    while (left > 0) {
        uint32_t best = s->n_kinds;
        int64_t best_room = 0;

        for (uint32_t k = 0; k < s->n_kinds; k++) {
            int64_t room = have[s->kinds[k].dim] - take[DIM_GRES + k];
            bool better = best == s->n_kinds ||
                          (best_room < left ? room > best_room : room >= left && room < best_room);
            if (s->kinds[k].sum == sum && room > 0 && better) {
                best = k;
                best_room = room;
            }
        }
        if (best == s->n_kinds)
            return false;
        take[DIM_GRES + best] += min_of(left, best_room);
        left -= min_of(left, best_room);
    }
    return true;
}

/* Which cards it is. */
static bool take_cards(const struct sched *s, uint32_t node, const int64_t *have, int64_t *take) {
    const struct sched_cards *cards = s->nodes[node].cards;
    int64_t free[SCHED_CARDS] = {0};

    for (uint32_t c = 0; cards && c < cards->n; c++)
        free[c] = have[s->n_base - s->n_cards + c];
    for (uint32_t k = 0; cards && k < s->n_kinds; k++) {
        int64_t count = take[DIM_GRES + k], *taken = amount_cards(s, take);
        const struct sched_share_kind *share = cards_share_find(cards, k);
        if (count > 0 && s->kinds[k].is_gpu && !cards_take_whole(cards, k, count, free, taken))
            return false;
        if (count > 0 && share && !cards_take_shares(cards, share, count, free, taken))
            return false;
    }
    return true;
}

/* A request as what is counted: types, numbers, cards. */
static bool take_resolve(const struct sched *s, uint32_t node, const int64_t *have, int64_t *take) {
    for (uint32_t k = 0; k < s->n_kinds; k++) {
        if (s->kinds[k].dim != DIM_GRES + k)
            take[DIM_GRES + k] = take[s->kinds[k].dim];
    }
    for (uint32_t d = s->n_sums; d < s->n_dims; d++) {
        if (take[d] > 0 && !sum_resolve(s, d, have, take))
            return false;
    }
    if (!take_cards(s, node, have, take))
        return false;
    amount_sum(s, take);
    return true;
}

/* All of it but the kinds that are given only to those who ask; `take`: what was asked for. */
static void take_whole_node(const struct sched *s, const struct shape *shape, uint32_t node,
                            int64_t *take) {
    const int64_t *total = node_total(s, node);
    int64_t asked[MAX_DIMS];
    int64_t mem = take[DIM_MEM];

    if (shape->mem_per_node < 0 && shape->mem_per_cpu >= 0)
        mem = min_of(total[DIM_MEM], shape->mem_per_cpu * total[DIM_CPU]);
    memcpy(asked, take, s->n_dims * sizeof(*take));
    memcpy(take, total, s->n_dims * sizeof(*take));
    take[DIM_MEM] = mem;
    for (uint32_t kinds = s->nodes[node].explicit_kinds; kinds; kinds &= kinds - 1) {
        uint32_t k = (uint32_t) __builtin_ctz(kinds);
        take[DIM_GRES + k] = asked[DIM_GRES + k];
        if (s->kinds[k].is_gpu)
            memcpy(amount_cards(s, take), amount_cards(s, asked), s->n_cards * sizeof(*take));
    }
    amount_sum(s, take);
}

bool amount_take(const struct sched *s, const struct shape *shape, const struct alternative *alt,
                 uint32_t node, const struct pick *pick, const int64_t *have, int64_t *take) {
    if (!need_of(s, shape, s->nodes[node].hardware, pick->tasks, pick->share, take) ||
        !need_fits(s, alt, node, have, take))
        return false;
    if (alt->cpu_cap && take[DIM_CPU] > alt->cpu_cap)
        return false;
    if (!take_resolve(s, node, have, take))
        return false;
    if (alt->exclusive)
        take_whole_node(s, shape, node, take);
    return true;
}

/* ---- rules that vectors do not show ---- */

bool alternative_is_plain(const struct sched *s, const struct shape *shape,
                          const struct alternative *alt) {
    return alt->cpu_cap == 0 && !shape->user_only && !s->any_user_only &&
           !alternative_shares(s, shape, alt);
}

/* CPUs of a node that jobs of a partition use at an instant. */
static int64_t partition_used(const struct sched *s, uint32_t partition, uint32_t node,
                              int64_t when) {
    int64_t used = 0;

    vec_each (&s->nodes[node].runs, hold) {
        const struct run *run = hold->run;
        if (run->partition == partition && run_is_there(s, run, when))
            used += run->amounts[(size_t) hold->slot * s->n_dims + DIM_CPU];
    }
    vec_each (&s->nodes[node].plans, hold) {
        const struct plan *plan = hold->plan;
        if (plan->alt->partition == partition && plan_is_there(plan, when))
            used += plan->amounts[(size_t) hold->slot * s->n_dims + DIM_CPU];
    }
    return used;
}

/* The most of it over [start, end): use grows only where a plan begins. */
static int64_t partition_peak(const struct sched *s, uint32_t partition, uint32_t node,
                              int64_t start, int64_t end) {
    int64_t peak = partition_used(s, partition, node, start);

    vec_each (&s->nodes[node].plans, hold) {
        int64_t when = hold->plan->start;
        if (hold->plan->alt->partition == partition && when > start && when < end)
            peak = max_of(peak, partition_used(s, partition, node, when));
    }
    return peak;
}

bool node_allows(const struct sched *s, const struct shape *shape, const struct alternative *alt,
                 uint32_t node, int64_t start, int64_t end, int64_t *have) {
    vec_each (&s->nodes[node].runs, hold) {
        const struct run *run = hold->run;
        if (!run_is_there(s, run, start))
            continue;
        if ((shape->user_only || run->user_only) && !(shape->user_only && run->uid == shape->uid))
            return false;
    }
    vec_each (&s->nodes[node].plans, hold) {
        const struct plan *plan = hold->plan;
        const struct shape *other = plan->job->shape;
        if (plan->start >= end || plan->end <= start)
            continue;
        if ((shape->user_only || other->user_only) &&
            !(shape->user_only && plan->job->uid == shape->uid))
            return false;
    }
    if (alternative_shares(s, shape, alt))
        sharing_allows(s, alt, node, start, end, have);
    if (alt->cpu_cap && !alt->exclusive) {
        int64_t used = partition_peak(s, alt->partition, node, start, end);
        have[DIM_CPU] = min_of(have[DIM_CPU], (int64_t) alt->cpu_cap - used);
    }
    return true;
}
