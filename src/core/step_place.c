/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a step goes inside its job: which of the job's nodes, how many tasks, CPUs, cores and
 * devices on each. Nothing changes here; step.c makes the step from the plan.
 *
 * A step owns its CPUs and the devices that it asked for, unless it overlaps.
 */
#include <stdio.h>
#include <string.h>

#include "core/state.h"
#include "text/tres.h"

/* ---- what is free inside the job ---- */

static uint32_t cpus_in_use(struct core_job *job, uint32_t entry) {
    uint32_t used = 0;
    const char *name = job->rec.allocation.items[entry].name;
    list_each (&job->steps, at) {
        const struct core_step *step = list_entry(at, struct core_step, link);
        if (job_state_is_final(step->rec.state) || step->rec.overlap)
            continue;
        for (uint32_t i = 0; i < step->rec.allocation.n; i++) {
            if (str_equal(step->rec.allocation.items[i].name, name))
                used += step->rec.allocation.items[i].cpus;
        }
    }
    return used;
}

/* The job's own first `cpus` worth of cores that no other step holds. */
char *step_free_cores(struct core *core, struct core_job *job, uint32_t entry, uint32_t cpus,
                      bool overlap) {
    const struct job_node *holder = &job->rec.allocation.items[entry];
    struct idset set cleanup_idset = IDSET_INIT, chosen cleanup_idset = IDSET_INIT;
    if (!assign_cores_read(holder, &set))
        return xstrdup("");
    list_each (&job->steps, at) {
        const struct core_step *step = list_entry(at, struct core_step, link);
        if (overlap || job_state_is_final(step->rec.state) || step->rec.overlap)
            continue;
        for (uint32_t i = 0; i < step->rec.allocation.n; i++) {
            struct idset taken cleanup_idset = IDSET_INIT;
            uint32_t id = 0;
            const struct job_node *other = &step->rec.allocation.items[i];
            if (!str_equal(other->name, holder->name) || !assign_cores_read(other, &taken))
                continue;
            for (bool more = idset_next(&taken, 0, &id); more;
                 more = idset_next(&taken, id + 1, &id))
                idset_remove(&set, id);
        }
    }
    uint32_t per_core = core->nodes[holder->node].cpus_per_core;
    uint32_t need = (cpus + per_core - 1) / per_core, id = 0;
    for (bool more = idset_next(&set, 0, &id); more && need > 0;
         more = idset_next(&set, id + 1, &id), need--)
        idset_add(&chosen, id);
    struct str out = STR_INIT;
    idset_print(&chosen, &out, 0);
    return str_take(&out);
}

/* ---- choosing nodes ---- */

static int candidate_nodes(struct core *core, struct core_job *job,
                           const struct step_request *request, bool *allowed, struct error *err) {
    uint32_t n = job->rec.allocation.n;
    struct hostlist list cleanup_hostlist = HOSTLIST_INIT;
    for (uint32_t i = 0; i < n; i++)
        allowed[i] = request->relative == UNSET32 || i >= request->relative;
    if (request->relative != UNSET32 && request->relative >= n)
        return step_refuse(err, ERR_NODE_CONFIG, "--relative=%u: the job has %u nodes",
                           request->relative, n);
    if (request->exclude != NULL && hostlist_parse(&list, request->exclude, err) == 0) {
        for (size_t k = 0; k < list.n; k++) {
            for (uint32_t i = 0; i < n; i++) {
                if (str_equal(job->rec.allocation.items[i].name, list.names[k]))
                    allowed[i] = false;
            }
        }
    }
    if (request->nodelist == NULL)
        return 0;
    struct hostlist wanted cleanup_hostlist = HOSTLIST_INIT;
    if (hostlist_parse(&wanted, request->nodelist, err) < 0)
        return -ERR_INVALID_NODE;
    hostlist_unique(&wanted);
    for (size_t k = 0; k < wanted.n; k++) {
        bool found = false;
        for (uint32_t i = 0; i < n && !found; i++)
            found = str_equal(job->rec.allocation.items[i].name, wanted.names[k]);
        if (!found)
            return step_refuse(err, ERR_NODE_CONFIG, "node %s is not part of job %u (it has %s)",
                               wanted.names[k], job->rec.job_id, job->rec.nodes);
    }
    /* Named nodes suffice unless more are asked for. */
    bool only = request->min_nodes <= wanted.n;
    for (uint32_t i = 0; i < n && only; i++) {
        bool named = false;
        for (size_t k = 0; k < wanted.n && !named; k++)
            named = str_equal(job->rec.allocation.items[i].name, wanted.names[k]);
        allowed[i] &= named;
    }
    return 0;
}

/* Number of nodes and tasks, from what was given and what the job has. */
static int step_shape(const struct core *core, const struct core_job *job,
                      const struct step_request *request, uint32_t available, uint32_t *ret_nodes,
                      uint32_t *ret_tasks, struct error *err) {
    uint64_t nodes = request->min_nodes, tasks = request->ntasks;
    uint64_t per_node = max_of(request->ntasks_per_node, 1u);
    if (nodes > available || available == 0) {
        cleanup_free char *hint =
            job->rec.resize_time > 0
                ? xasprintf("; the job has given nodes back since its environment was made: source "
                            "slurm_job_%u_resize.sh, or ask with -N",
                            job->rec.job_id)
                : NULL;
        return step_refuse(
            err, ERR_NODE_CONFIG, "%llu nodes asked, %u of the job's are to be had for this step%s",
            (unsigned long long) max_of(nodes, (uint64_t) 1), available, hint != NULL ? hint : "");
    }
    if (tasks > 0 && nodes == 0 && request->ntasks_per_node > 0)
        nodes = min_of((uint64_t) available, (tasks + per_node - 1) / per_node);
    if (nodes == 0)
        nodes = available;
    if (request->max_nodes > 0)
        nodes = min_of(nodes, (uint64_t) request->max_nodes);
    if (tasks == 0)
        tasks = nodes * per_node;
    nodes = min_of(nodes, tasks);
    if (tasks > nodes * core->settings.max_tasks_per_node)
        return step_refuse(err, ERR_TOO_MANY_CPUS,
                           "%llu tasks are more than %llu nodes take (MaxTasksPerNode=%u)",
                           (unsigned long long) tasks, (unsigned long long) nodes,
                           core->settings.max_tasks_per_node);
    *ret_nodes = (uint32_t) nodes;
    *ret_tasks = (uint32_t) tasks;
    return 0;
}

/* ---- all together ---- */

/* Task k goes where the list's k-th name says. */
static int place_arbitrary(struct core_job *job, const struct step_request *request,
                           struct step_plan *plan, struct error *err) {
    struct hostlist list cleanup_hostlist = HOSTLIST_INIT;
    int r = hostlist_parse(&list, request->arbitrary_hosts, err);
    if (r < 0)
        return r;
    uint32_t n = job->rec.allocation.n;
    if (list.n == 0 || (request->ntasks > 0 && request->ntasks > list.n))
        return step_refuse(err, ERR_NODE_CONFIG,
                           "the arbitrary distribution names %zu hosts for %u tasks", list.n,
                           request->ntasks);
    plan->ntasks = request->ntasks > 0 ? request->ntasks : (uint32_t) list.n;
    plan->entry_of_task = xcalloc(plan->ntasks, sizeof(uint32_t));
    cleanup_free uint32_t *tasks = xcalloc(n, sizeof(uint32_t));
    for (uint32_t k = 0; k < plan->ntasks; k++) {
        uint32_t i = 0;
        while (i < n && !str_equal(job->rec.allocation.items[i].name, list.names[k]))
            i++;
        if (i == n)
            return step_refuse(err, ERR_NODE_CONFIG, "node %s is not part of job %u (it has %s)",
                               list.names[k], job->rec.job_id, job->rec.nodes);
        plan->entry_of_task[k] = i;
        tasks[i]++;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (tasks[i] == 0)
            continue;
        plan->entries[plan->n] = i;
        plan->counts[plan->n++] = tasks[i];
    }
    return 0;
}

/* Sockets of its node on which the entry has cores. */
static uint32_t sockets_of(const struct core *core, const struct job_node *entry) {
    uint32_t per_socket = core->nodes[entry->node].rec.cores, sockets = 0, last = UINT32_MAX,
             id = 0;
    struct idset set cleanup_idset = IDSET_INIT;
    if (per_socket == 0 || !assign_cores_read(entry, &set))
        return 1;
    for (bool more = idset_next(&set, 0, &id); more; more = idset_next(&set, id + 1, &id)) {
        sockets += id / per_socket != last;
        last = id / per_socket;
    }
    return sockets;
}

/* With --threads-per-core only so many CPUs of each core count: how many stand for one. */
static uint32_t cpus_per_used(const struct core *core, const struct job_node *entry,
                              const struct step_request *request) {
    uint32_t per_core = core->nodes[entry->node].cpus_per_core;
    uint32_t used = request->threads_per_core;
    return used > 0 && used < per_core ? per_core / used : 1;
}

static void limit_tasks(const struct core *core, const struct core_job *job,
                        const struct step_request *request, struct step_plan *plan) {
    for (uint32_t i = 0; i < plan->n; i++) {
        const struct job_node *entry = &job->rec.allocation.items[plan->entries[i]];
        uint64_t cores = entry->cpus / core->nodes[entry->node].cpus_per_core;
        uint64_t most = request->ntasks_per_node > 0 ? request->ntasks_per_node : UINT32_MAX;
        if (request->ntasks_per_core > 0)
            most = min_of(most, max_of(cores, (uint64_t) 1) * request->ntasks_per_core);
        if (request->ntasks_per_socket > 0)
            most = min_of(most, (uint64_t) sockets_of(core, entry) * request->ntasks_per_socket);
        plan->max_tasks[i] = (uint32_t) most;
    }
}

/* CPUs that the job has on the plan's nodes, and those that no other step holds. */
static void count_cpus(const struct core *core, struct core_job *job,
                       const struct step_request *request, struct step_plan *plan,
                       bool ignore_use) {
    for (uint32_t i = 0; i < plan->n; i++) {
        const struct job_node *entry = &job->rec.allocation.items[plan->entries[i]];
        uint32_t used = ignore_use ? 0 : cpus_in_use(job, plan->entries[i]);
        uint32_t weight = cpus_per_used(core, entry, request);
        plan->all_cpus[i] = entry->cpus / weight;
        plan->free_cpus[i] = used < entry->cpus ? (entry->cpus - used) / weight : 0;
    }
}

/* CPUs of an exact step. Tasks of several CPUs share no core while there are enough. */
static uint32_t exact_cpus(const struct core *core, const struct job_node *entry,
                           const struct step_request *request, const struct step_plan *plan,
                           uint32_t i) {
    uint64_t cpt = max_of(request->cpus_per_task, 1u), tasks = plan->counts[i];
    uint64_t weight = cpus_per_used(core, entry, request);
    uint64_t per_core = core->nodes[entry->node].cpus_per_core / weight;
    uint64_t whole = cpt > 1 ? (cpt + per_core - 1) / per_core * per_core : cpt;
    uint64_t least = min_of(tasks * cpt, (uint64_t) plan->all_cpus[i]);
    uint64_t most = max_of(least, (uint64_t) plan->free_cpus[i]);
    return (uint32_t) (min_of(tasks * whole, most) * weight);
}

/* Nodes with something free come first, so that steps spread over the job; in the end they stand
 * in the order of the job's nodes. */
static void choose_nodes(struct core_job *job, const bool *allowed, uint32_t nodes, uint32_t cpt,
                         bool ignore_use, struct step_plan *plan) {
    uint32_t n = job->rec.allocation.n;
    cleanup_free bool *chosen = xcalloc(n + 1, sizeof(bool));
    uint32_t found = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < n && found < nodes; i++) {
            uint32_t cpus = job->rec.allocation.items[i].cpus;
            uint32_t used = ignore_use ? 0 : cpus_in_use(job, i);
            bool full = plan->exact ? cpt > cpus || used > cpus - cpt : used > 0;
            if (!allowed[i] || full != (pass == 1))
                continue;
            chosen[i] = true;
            found++;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (chosen[i])
            plan->entries[plan->n++] = i;
    }
}

static uint32_t nodes_with_tasks(const struct step_plan *plan) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < plan->n; i++)
        n += plan->counts[i] > 0;
    return n;
}

/* Nodes that turn out to have room for no task are not the step's. */
static void drop_idle_nodes(struct step_plan *plan) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < plan->n; i++) {
        if (plan->counts[i] == 0)
            continue;
        plan->entries[kept] = plan->entries[i];
        plan->counts[kept] = plan->counts[i];
        plan->all_cpus[kept] = plan->all_cpus[i];
        plan->free_cpus[kept] = plan->free_cpus[i];
        plan->max_tasks[kept++] = plan->max_tasks[i];
    }
    plan->n = kept;
}

/* Tasks on the plan's nodes. True when they must wait for CPUs of other steps. */
static int place_tasks(const struct core_job *job, const struct step_request *request,
                       struct step_plan *plan, bool *ret_busy, struct error *err) {
    uint32_t cpt = max_of(request->cpus_per_task, 1u);
    uint32_t tasks = plan->ntasks;
    struct task_room room = {plan->all_cpus, plan->max_tasks, cpt, request->overcommit};
    bool dealt = request->distribution == DIST_CYCLIC || request->distribution == DIST_PLANE;
    enum layout_order order = !request->pack                     ? LAYOUT_EVEN
                              : request->min_nodes > 0 && !dealt ? LAYOUT_FILL
                              : request->min_nodes > 0           ? LAYOUT_EVEN
                                                                 : LAYOUT_PACK;
    if (!layout_tasks(tasks, plan->n, &room, order, plan->counts))
        return step_refuse(
            err, ERR_TOO_MANY_CPUS,
            "%u tasks of %u CPUs each do not fit on %u CPUs of the job (-O allows it)", tasks, cpt,
            job->rec.num_cpus);
    *ret_busy = false;
    if (plan->exact) {
        uint32_t nodes = nodes_with_tasks(plan);
        room.cpus = plan->free_cpus;
        *ret_busy = !layout_tasks(tasks, plan->n, &room, order, plan->counts) ||
                    nodes_with_tasks(plan) < min_of(nodes, request->min_nodes);
        if (!*ret_busy)
            drop_idle_nodes(plan);
        return 0;
    }
    drop_idle_nodes(plan);
    for (uint32_t i = 0; i < plan->n; i++)
        *ret_busy |= plan->free_cpus[i] < plan->all_cpus[i];
    return 0;
}

/* As place_tasks, where the tasks of each node are given. */
static int place_counted(const struct step_request *request, const struct step_plan *plan,
                         bool *ret_busy, struct error *err) {
    uint64_t cpt = max_of(request->cpus_per_task, 1u);
    *ret_busy = false;
    for (uint32_t i = 0; i < plan->n; i++) {
        uint64_t need = request->overcommit ? 1 : plan->counts[i] * cpt;
        if (need > plan->all_cpus[i])
            return step_refuse(
                err, ERR_TOO_MANY_CPUS,
                "%u tasks of %llu CPUs each do not fit on %u CPUs of a node (-O allows "
                "it)",
                plan->counts[i], (unsigned long long) cpt, plan->all_cpus[i]);
        *ret_busy |=
            plan->exact ? need > plan->free_cpus[i] : plan->free_cpus[i] < plan->all_cpus[i];
    }
    return 0;
}

static int place_nodes(struct core *core, struct core_job *job, const struct step_request *request,
                       struct step_plan *plan, bool ignore_use, struct error *err) {
    uint32_t n = job->rec.allocation.n, available = 0, nodes = 0;
    cleanup_free bool *allowed = xcalloc(n + 1, sizeof(bool));
    int r = candidate_nodes(core, job, request, allowed, err);
    if (r < 0)
        return r;
    for (uint32_t i = 0; i < n; i++)
        available += allowed[i];
    r = step_shape(core, job, request, available, &nodes, &plan->ntasks, err);
    if (r < 0)
        return r;
    choose_nodes(job, allowed, nodes, max_of(request->cpus_per_task, 1u), ignore_use, plan);
    return 0;
}

void step_plan_done(struct step_plan *plan) {
    for (uint32_t i = 0; plan->gres != NULL && i < plan->n; i++)
        free(plan->gres[i]);
    free(plan->gres);
    free(plan->entries);
    free(plan->counts);
    free(plan->cpus);
    free(plan->all_cpus);
    free(plan->free_cpus);
    free(plan->max_tasks);
    free(plan->mem);
    free(plan->entry_of_task);
}

int step_place(struct core *core, struct core_job *job, const struct step_request *request,
               struct step_plan *plan, struct error *err) {
    uint32_t n = job->rec.allocation.n;
    bool ignore_use = request->overlap || request->interactive, busy = false, busy_other = false;
    bool arbitrary = request->distribution == DIST_ARBITRARY && request->arbitrary_hosts != NULL;
    plan->exact = request->exact || request->cpus_per_task > 0;
    plan->entries = xcalloc(n + 1, sizeof(uint32_t));
    plan->counts = xcalloc(n + 1, sizeof(uint32_t));
    plan->cpus = xcalloc(n + 1, sizeof(uint32_t));
    plan->all_cpus = xcalloc(n + 1, sizeof(uint32_t));
    plan->free_cpus = xcalloc(n + 1, sizeof(uint32_t));
    plan->max_tasks = xcalloc(n + 1, sizeof(uint32_t));
    plan->mem = xcalloc(n + 1, sizeof(uint64_t));
    int r = arbitrary ? place_arbitrary(job, request, plan, err)
                      : place_nodes(core, job, request, plan, ignore_use, err);
    if (r < 0)
        return r;
    count_cpus(core, job, request, plan, ignore_use);
    limit_tasks(core, job, request, plan);
    r = arbitrary ? place_counted(request, plan, &busy, err)
                  : place_tasks(job, request, plan, &busy, err);
    if (r < 0)
        return r;
    for (uint32_t i = 0; i < plan->n; i++) {
        const struct job_node *entry = &job->rec.allocation.items[plan->entries[i]];
        plan->cpus[i] = plan->exact ? exact_cpus(core, entry, request, plan, i) : entry->cpus;
    }
    r = step_place_gres(job, request, plan, ignore_use, &busy_other, err);
    if (r == 0)
        r = step_place_mem(job, request, plan, ignore_use, &busy_other, err);
    return r < 0 ? r : busy || busy_other ? -ERR_NODES_BUSY : 0;
}
