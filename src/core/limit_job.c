/* SPDX-License-Identifier: Apache-2.0 */
/* A job against its limits: what it asks for, at the door and for the planner. */
#include <string.h>

#include "core/state.h"

/* ---- what it asks for ---- */

static uint64_t ceil_div(uint64_t a, uint64_t b) {
    return b == 0 ? 0 : (a + b - 1) / b;
}

static size_t first_of_name(const struct core *core, size_t kind) {
    size_t k = 0;
    while (!str_equal_nocase(core->kinds[k].name, core->kinds[kind].name))
        k++;
    return k;
}

static uint64_t need_gres(const struct core *core, const struct sched_gres_request *items,
                          uint8_t n, uint64_t times, struct limit_need *need) {
    uint64_t gpus = 0;
    for (uint8_t i = 0; i < n; i++) {
        uint64_t count = saturated(items[i].count, times);
        size_t name = first_of_name(core, (size_t) items[i].name_of);
        if (items[i].kind >= 0)
            need->gres[items[i].kind] += count;
        need->gres_of_name[name] += count;
        gpus += gres_kind_is_gpu(core, name) ? count : 0;
    }
    return gpus;
}

static uint64_t need_mem(const struct sched_job_spec *spec, const struct limit_need *need,
                         uint64_t gpus) {
    if (spec->mem_per_cpu != UNSET64)
        return saturated(spec->mem_per_cpu, need->cpus);
    if (spec->mem_per_gpu != UNSET64)
        return saturated(spec->mem_per_gpu, gpus);
    return spec->mem_per_node != UNSET64 ? saturated(spec->mem_per_node, need->nodes) : 0;
}

void limit_need_make(const struct core *core, const struct job *job,
                     const struct sched_job_spec *spec, struct limit_need *ret) {
    *ret = (struct limit_need) {.spec = spec, .nodes = max_of(spec->min_nodes, 1u)};
    uint64_t tasks = spec->ntasks;
    if (tasks == 0)
        tasks = ret->nodes * max_of(spec->ntasks_per_node, 1u);
    else if (spec->ntasks_per_node > 0)
        ret->nodes = max_of(ret->nodes, ceil_div(tasks, spec->ntasks_per_node));
    uint64_t gpus = need_gres(core, spec->per_node, spec->n_per_node, ret->nodes, ret) +
                    need_gres(core, spec->per_job, spec->n_per_job, 1, ret) +
                    need_gres(core, spec->per_task, spec->n_per_task, tasks, ret);
    uint64_t cpus =
        spec->overcommit ? ret->nodes : saturated(tasks, max_of(spec->cpus_per_task, 1u));
    cpus = max_of(cpus, saturated(ret->nodes, max_of(spec->min_cpus_per_node, 1u)));
    ret->cpus = max_of(cpus, saturated(spec->cpus_per_gpu, gpus));
    ret->nodes = max_of(ret->nodes, ceil_div(ret->cpus, core->largest_cpus));
    ret->mem = need_mem(spec, ret, gpus);
    bool shorter = job->time_min != UNSET32 && job->time_min > 0;
    ret->minutes = shorter                        ? job->time_min
                   : spec->limit == SCHED_FOREVER ? UINT64_MAX
                                                  : ceil_div((uint64_t) spec->limit, 60);
}

static uint64_t licenses_asked(const struct sched_job_spec *spec, uint32_t id) {
    for (size_t i = 0; i < spec->n_licenses; i++) {
        if (spec->license_ids[i] == id)
            return spec->license_counts[i];
    }
    return 0;
}

uint64_t limit_need_of(const struct limit_need *need, const struct limit_tres *tres) {
    switch (tres->class) {
    case LIMIT_CPU:
        return need->cpus;
    case LIMIT_BILLING:
        return need->billing;
    case LIMIT_MEM:
        return need->mem;
    case LIMIT_NODE:
        return need->nodes;
    case LIMIT_GRES:
        return tres->typed ? need->gres[tres->index] : need->gres_of_name[tres->index];
    case LIMIT_LICENSE:
        return licenses_asked(need->spec, tres->index);
    case LIMIT_CLASSES:
        break;
    }
    return 0;
}

/* Untyped GRES are taken for those of the first type. */
void limit_need_bill(const struct core *core, const struct limit_group *group, uint32_t partition,
                     struct limit_need *need) {
    uint64_t totals[SCHED_GRES_KINDS] = {0};
    struct str gres cleanup_str = STR_INIT;
    if (group == NULL || !group->bills)
        return;
    for (size_t k = 0; k < core->n_kinds; k++) {
        size_t first = first_of_name(core, k);
        totals[k] += need->gres[k];
        totals[first] += first == k ? need->gres_of_name[k] : 0;
        totals[first] -= min_of(totals[first], need->gres[k]);
    }
    gres_accounts_print(core, totals, &gres);
    need->billing =
        (uint64_t) billing_of(core, core->partitions[partition].rec.name, need->cpus, need->mem,
                              (uint32_t) min_of(need->nodes, COUNT_LARGEST), str_cstr(&gres));
}

/* ---- against the limits ---- */

static uint64_t asked_of(const struct limit_value *value, const struct limit_need *need) {
    switch (value->row->measure) {
    case LIMIT_WALL:
        return need->minutes;
    case LIMIT_TRES_PER_NODE:
        return ceil_div(limit_need_of(need, &value->tres), need->nodes);
    case LIMIT_TRES_MINUTES:
        return saturated(limit_need_of(need, &value->tres), need->minutes);
    case LIMIT_JOBS:
    case LIMIT_SUBMITTED:
    case LIMIT_WALL_USED: /* each second */
        return 1;
    default:
        return limit_need_of(need, &value->tres);
    }
}

uint64_t limit_need_whole(const struct core *core, const struct limit_need *need,
                          const struct limit_value *value) {
    uint64_t asked = asked_of(value, need);
    if (limit_is_used_up(value->row) && !limits_are_safe(core))
        return 0;
    return asked > 0 && limit_has_minutes(value->row) ? saturated(asked, need->minutes) : asked;
}

const struct limit_check *limit_broken(const struct limit_group *group,
                                       const struct limit_need *need, uint64_t *ret_asked) {
    vec_each (&group->checks, check) {
        bool at_least = check->value.row->measure == LIMIT_LEAST;
        *ret_asked = asked_of(&check->value, need);
        if (at_least ? *ret_asked < check->value.most : *ret_asked > check->value.most)
            return check;
    }
    return NULL;
}

/* MaxWall, in minutes; UINT64_MAX. */
static uint64_t group_wall(const struct limit_group *group) {
    vec_each (&group->checks, check) {
        if (check->value.row->measure == LIMIT_WALL)
            return check->value.most;
    }
    return UINT64_MAX;
}

uint32_t limits_wall(struct core *core, const struct job *job, uint32_t partition) {
    const struct limit_group *group = limit_group_of(core, job, partition);
    uint64_t wall = group != NULL ? group_wall(group) : UINT64_MAX;
    return wall < MINUTES_INFINITE ? (uint32_t) wall : UNSET32;
}

/* Who names no limit gets what may be had; who would do with less, too. */
static void take_wall(const struct job *job, const struct limit_group *group,
                      struct sched_job_spec *spec) {
    uint64_t wall = group != NULL ? group_wall(group) : UINT64_MAX;
    bool open = job->time_limit == MINUTES_UNSET || job->time_limit == 0 ||
                (job->time_min != UNSET32 && job->time_min > 0 && job->time_min <= wall);
    if (wall != UINT64_MAX && open)
        spec->limit = min_of(spec->limit, max_of((int64_t) wall * 60, (int64_t) 1));
}

static void cap_nodes(const struct limit_value *value, struct sched_job_spec *spec) {
    if (value->row->measure == LIMIT_TRES && value->tres.class == LIMIT_NODE)
        spec->max_nodes =
            min_of(spec->max_nodes, (uint32_t) max_of(value->most, (uint64_t) spec->min_nodes));
}

/* Who would take more nodes does not get more than is allowed. */
static void take_max_nodes(const struct limit_group *group, struct sched_job_spec *spec) {
    vec_each (&group->checks, check)
        cap_nodes(&check->value, spec);
    vec_each (&group->running, use) {
        if (use->binds)
            cap_nodes(&use->pool->value, spec);
    }
}

/* Minutes are those that a job is charged with; how long it may run at most counts as it is when a
 * stock must have enough, unless the QOS says otherwise. */
static uint32_t use_factor(const struct limit_group *group, const struct limit_row *row,
                           bool runs) {
    return limit_is_used_up(row) && !runs && !group->factor_safe ? 1000 : group->factor;
}

/* What is charged with nothing takes nothing of minutes. *ret_n: how many. */
static const struct sched_budget_use *uses_make(const struct limit_group *group,
                                                const struct limit_need *need, struct arena *arena,
                                                size_t *ret_n) {
    struct sched_budget_use *uses = arena_alloc(arena, (group->running.n + 1) * sizeof(*uses));
    size_t n = 0;
    for (size_t i = 0; i < group->running.n; i++) {
        const struct limit_use *use = &group->running.items[i];
        uint32_t factor = use_factor(group, use->pool->value.row, false);
        if (factor > 0 || !limit_has_minutes(use->pool->value.row))
            uses[n++] = (struct sched_budget_use) {.id = use->pool->id,
                                                   .binds = use->binds,
                                                   .factor = factor,
                                                   .least = asked_of(&use->pool->value, need)};
    }
    *ret_n = n;
    return uses;
}

void limits_terms(struct core *core, const struct job *job, struct sched_job_spec *spec,
                  struct arena *arena) {
    struct limit_need need;
    uint64_t asked;
    if (!limits_are_on(core) || spec->n_partitions == 0)
        return;
    take_wall(job, limit_group_of(core, job, spec->partitions[0]), spec);
    take_max_nodes(limit_group_of(core, job, spec->partitions[0]), spec);
    spec->reserve_priority = limit_group_of(core, job, spec->partitions[0])->min_prio;
    limit_need_make(core, job, spec, &need);
    struct sched_terms *terms = arena_alloc(arena, spec->n_partitions * sizeof(*terms));
    for (size_t p = 0; p < spec->n_partitions; p++) {
        const struct limit_group *group = limit_group_of(core, job, spec->partitions[p]);
        limit_need_bill(core, group, spec->partitions[p], &need);
        const struct limit_check *broken = limit_broken(group, &need, &asked);
        terms[p] = (struct sched_terms) {.refused = broken != NULL ? broken->reason : REASON_NONE,
                                         .any_time = group->any_time,
                                         .any_max_nodes = group->any_max_nodes,
                                         .any_min_nodes = group->any_min_nodes};
        terms[p].uses = uses_make(group, &need, arena, &terms[p].n_uses);
    }
    spec->terms = terms;
    if (core->sched != NULL)
        limits_show(core, core->sched);
}

/* ---- what a run has ---- */

void limits_run(struct core *core, const struct core_job *job, uint32_t partition) {
    const struct limit_group *group = limit_group_of(core, &job->rec, partition);
    if (group == NULL || group->running.n == 0 || !job_has_nodes(job))
        return;
    struct sched_budget_use *uses = xcalloc(group->running.n, sizeof(*uses));
    size_t n = 0;
    for (size_t i = 0; i < group->running.n; i++) {
        const struct limit_use *use = &group->running.items[i];
        const struct limit_tres *tres = &use->pool->value.tres;
        uint32_t factor = use_factor(group, use->pool->value.row, true);
        bool apart = limit_has_tres(use->pool->value.row) &&
                     (tres->class == LIMIT_LICENSE || tres->class == LIMIT_MEM ||
                      tres->class == LIMIT_BILLING);
        /* what has no node, or is not handed out there */
        uint64_t least = apart ? (uint64_t) limit_run_amount(core, &job->rec, tres) : 0;
        if (factor > 0 || !limit_has_minutes(use->pool->value.row))
            uses[n++] = (struct sched_budget_use) {
                .id = use->pool->id, .binds = use->binds, .factor = factor, .least = least};
    }
    limits_show(core, core->sched);
    sched_run_budgets(core->sched, job->rec.job_id, uses, n);
    free(uses);
}

/* ---- at the door ---- */

void limit_value_print(const struct core *core, const struct limit_value *value, bool of_qos,
                       struct str *out) {
    str_append(out, of_qos ? value->row->qos_name : value->row->assoc_name);
    str_append_char(out, '=');
    if (limit_has_tres(value->row)) {
        limit_tres_print(core, &value->tres, out);
        str_append_char(out, '=');
    }
    if (value->row->measure == LIMIT_WALL || value->row->measure == LIMIT_WALL_USED)
        minutes_print_long((uint32_t) value->most, "UNLIMITED", out);
    else if (value->tres.class == LIMIT_MEM && !limit_has_minutes(value->row) &&
             limit_has_tres(value->row))
        mem_print(value->most, true, out);
    else
        str_append_u64(out, value->most);
}

static int refuse(struct core *core, uint32_t reason, struct reply_error *reply,
                  const char *sentence) {
    reply_before(reply, core, names_text(&names_job_reason, reason));
    return reply_refuse(reply, core, ERR_POLICY, "%s", sentence);
}

static int check_submitted(struct core *core, const struct limit_group *group, uint64_t n_tasks,
                           struct reply_error *reply) {
    vec_each (&group->submitted, use) {
        const struct limit_pool *pool = use->pool;
        if (!use->binds || pool->n_submitted + n_tasks <= pool->value.most)
            continue;
        struct str limit cleanup_str = STR_INIT;
        limit_value_print(core, &pool->value, pool->of_qos, &limit);
        cleanup_free char *sentence = xasprintf(
            "%s has %s%s%s; %llu %s there, %llu more %s asked for: wait until some have ended",
            pool->owner, limit.data, pool->subject != NULL ? " for " : "",
            pool->subject != NULL ? pool->subject : "", (unsigned long long) pool->n_submitted,
            pool->n_submitted == 1 ? "job is" : "jobs are", (unsigned long long) n_tasks,
            n_tasks == 1 ? "is" : "are");
        return refuse(core, pool->reason, reply, sentence);
    }
    return 0;
}

static int refuse_value(struct core *core, const struct limit_value *value, bool of_qos,
                        const char *owner, uint64_t asked, uint32_t reason,
                        struct reply_error *reply) {
    struct str limit cleanup_str = STR_INIT, has cleanup_str = STR_INIT;
    struct limit_value mine = *value;
    mine.most = asked;
    limit_value_print(core, value, of_qos, &limit);
    if (asked == UINT64_MAX)
        str_append(&has, "no time limit");
    else
        limit_value_print(core, &mine, of_qos, &has);
    const char *text = strchr(has.data, '=');
    cleanup_free char *sentence = xasprintf("%s has %s, the job asks for %s", owner, limit.data,
                                            text != NULL ? text + 1 : has.data);
    return refuse(core, reason, reply, sentence);
}

/* DenyOnLimit: what the job could not have if it were alone. */
static int check_alone(struct core *core, const struct limit_group *group,
                       const struct limit_need *need, struct reply_error *reply) {
    uint64_t asked;
    const struct limit_check *broken = limit_broken(group, need, &asked);
    if (broken != NULL)
        return refuse_value(core, &broken->value, str_starts(broken->owner, "QOS "), broken->owner,
                            asked, broken->reason, reply);
    vec_each (&group->running, use) {
        const struct limit_pool *pool = use->pool;
        asked = limit_need_whole(core, need, &pool->value);
        if (use->binds && asked > pool->value.most)
            return refuse_value(core, &pool->value, pool->of_qos, pool->owner, asked, pool->reason,
                                reply);
    }
    return 0;
}

int limits_check(struct core *core, const struct job *job, uint64_t n_tasks,
                 struct reply_error *reply) {
    struct limit_need need;
    struct reply_error first;
    bool fits = false;
    if (!limits_are_on(core))
        return 0;
    struct job_spec spec cleanup(job_spec_done);
    int r = job_spec_build(core, job, &spec, NULL);
    if (r < 0 || spec.sched.n_partitions == 0)
        return 0; /* other checks say why */
    const struct limit_group *group = limit_group_submitted(core, job);
    if ((r = check_submitted(core, group, n_tasks, reply)) < 0)
        return r;
    record_init(&record_reply_error, &first);
    limit_need_make(core, job, &spec.sched, &need);
    for (size_t p = 0; p < spec.sched.n_partitions && !fits; p++) {
        group = limit_group_of(core, job, spec.sched.partitions[p]);
        limit_need_bill(core, group, spec.sched.partitions[p], &need);
        struct reply_error why;
        record_init(&record_reply_error, &why);
        fits = !group->denies || check_alone(core, group, &need, &why) == 0;
        if (!fits && first.code == 0)
            first = why;
    }
    if (fits)
        return 0;
    *reply = first;
    return -(int) first.code;
}

int limits_check_update(struct core *core, struct core_job *job, const struct job *next,
                        struct reply_error *reply) {
    struct reply_error before;
    uint64_t n_tasks = max_of(idset_count(&job->tasks), (uint64_t) 1);
    record_init(&record_reply_error, &before);
    limits_uncount(job); /* it would count twice */
    bool moves = limit_group_submitted(core, next) != limit_group_submitted(core, &job->rec);
    int r = limits_check(core, next, n_tasks, reply);
    if (r < 0 && !moves && limits_check(core, &job->rec, n_tasks, &before) < 0)
        r = 0;
    limits_count(core, job);
    return r;
}
