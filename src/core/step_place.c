/* SPDX-License-Identifier: Apache-2.0 */
/* Which of its job's nodes, CPUs, cores and devices a step gets. */
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
    if (holder->cores == NULL || idset_parse(&set, holder->cores, UINT32_MAX - 2, NULL, NULL) < 0)
        return xstrdup("");
    list_each (&job->steps, at) {
        const struct core_step *step = list_entry(at, struct core_step, link);
        if (overlap || job_state_is_final(step->rec.state) || step->rec.overlap)
            continue;
        for (uint32_t i = 0; i < step->rec.allocation.n; i++) {
            struct idset taken cleanup_idset = IDSET_INIT;
            uint32_t id = 0;
            const struct job_node *other = &step->rec.allocation.items[i];
            if (!str_equal(other->name, holder->name) || other->cores == NULL ||
                idset_parse(&taken, other->cores, UINT32_MAX - 2, NULL, NULL) < 0)
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
        return error_set(err, ERR_NODE_CONFIG, "--relative=%u: the job has %u nodes",
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
            return error_set(err, ERR_NODE_CONFIG, "node %s is not part of job %u (it has %s)",
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
static int step_shape(struct core_job *job, const struct step_request *request, uint32_t available,
                      uint32_t *ret_nodes, uint32_t *ret_tasks, struct error *err) {
    uint32_t nodes = request->min_nodes, tasks = request->ntasks;
    if (nodes > available)
        return error_set(err, ERR_NODE_CONFIG,
                         "%u nodes asked, %u of the job's are to be had for this step", nodes,
                         available);
    if (tasks > 0 && nodes == 0) {
        nodes = available;
        if (request->ntasks_per_node > 0)
            nodes = min_of(available,
                           (tasks + request->ntasks_per_node - 1) / request->ntasks_per_node);
    }
    if (nodes == 0)
        nodes = available;
    if (tasks == 0)
        tasks = nodes * (request->ntasks_per_node > 0 ? request->ntasks_per_node : 1);
    if (nodes > tasks)
        nodes = tasks;
    if (request->max_nodes > 0)
        nodes = min_of(nodes, request->max_nodes);
    (void) job;
    *ret_nodes = nodes;
    *ret_tasks = tasks;
    return 0;
}

void step_plan_done(struct step_plan *plan) {
    free(plan->entries);
    free(plan->counts);
    free(plan->cpus);
}

/* 0, ERR_NODES_BUSY (wait), or a refusal. */
/* CPUs of a chosen node: all of the job's there, and those that no other step holds. */
struct step_cpus {
    uint32_t *all, *unused;
};

/* Marks `nodes` of the allowed nodes: those with something free first, so that steps spread over
 * the job. True if all of them have room. */
static bool choose_nodes(struct core_job *job, const struct step_request *request, bool exact,
                         uint32_t nodes, const bool *allowed, bool *chosen) {
    bool ignore_use = request->overlap || request->interactive, room = true;
    uint32_t cpt = max_of(request->cpus_per_task, 1u), n_chosen = 0;
    for (int with_room = 1; with_room >= 0; with_room--) {
        for (uint32_t i = 0; i < job->rec.allocation.n && n_chosen < nodes; i++) {
            uint32_t used = ignore_use ? 0 : cpus_in_use(job, i);
            bool full = exact ? used + cpt > job->rec.allocation.items[i].cpus : used > 0;
            if (!allowed[i] || chosen[i] || full == with_room)
                continue;
            chosen[i] = true;
            n_chosen++;
            room &= !full;
        }
    }
    return room;
}

static struct step_cpus collect_nodes(struct core *core, struct core_job *job, bool ignore_use,
                                      const bool *chosen, struct step_plan *plan) {
    uint32_t n = job->rec.allocation.n;
    struct step_cpus cpus = {arena_alloc(&core->out->memory, (n + 1) * sizeof(uint32_t)),
                             arena_alloc(&core->out->memory, (n + 1) * sizeof(uint32_t))};
    for (uint32_t i = 0; i < n; i++) {
        if (!chosen[i])
            continue;
        uint32_t all = job->rec.allocation.items[i].cpus;
        uint32_t used = ignore_use ? 0 : cpus_in_use(job, i);
        plan->entries[plan->n] = i;
        cpus.all[plan->n] = all;
        cpus.unused[plan->n++] = used < all ? all - used : 0;
    }
    return cpus;
}

static int place_tasks(const struct core_job *job, const struct step_request *request, bool room,
                       const struct step_cpus *cpus, struct step_plan *plan, struct error *err) {
    uint32_t cpt = max_of(request->cpus_per_task, 1u);
    bool even = request->distribution == DIST_CYCLIC || request->distribution == DIST_PLANE ||
                (request->distribution == DIST_DEFAULT && plan->ntasks <= plan->n);
    bool ignore_use = request->overlap || request->interactive;
    if (!layout_tasks(plan->ntasks, plan->n, cpus->all, cpt, request->ntasks_per_node,
                      request->overcommit, even, plan->counts))
        return error_set(err, ERR_TOO_MANY_CPUS,
                         "%u tasks of %u CPUs each do not fit on %u CPUs of the job (-O allows it)",
                         plan->ntasks, cpt, job->rec.num_cpus);
    if (room && plan->exact && !ignore_use)
        room = layout_tasks(plan->ntasks, plan->n, cpus->unused, cpt, request->ntasks_per_node,
                            request->overcommit, even, plan->counts);
    if (!room)
        return -ERR_NODES_BUSY;
    for (uint32_t i = 0; i < plan->n; i++)
        plan->cpus[i] = plan->exact ? min_of(plan->counts[i] * cpt, cpus->all[i]) : cpus->all[i];
    return 0;
}

int step_place(struct core *core, struct core_job *job, const struct step_request *request,
               struct step_plan *plan, struct error *err) {
    uint32_t n = job->rec.allocation.n, available = 0, nodes = 0;
    bool *allowed = arena_alloc(&core->out->memory, n + 1);
    bool *chosen = arena_alloc(&core->out->memory, n + 1);
    int r = candidate_nodes(core, job, request, allowed, err);
    if (r < 0)
        return r;
    for (uint32_t i = 0; i < n; i++)
        available += allowed[i];
    r = step_shape(job, request, available, &nodes, &plan->ntasks, err);
    if (r < 0)
        return r;
    plan->exact = request->exact || request->cpus_per_task > 0;
    plan->entries = xcalloc(n + 1, sizeof(uint32_t));
    plan->counts = xcalloc(n + 1, sizeof(uint32_t));
    plan->cpus = xcalloc(n + 1, sizeof(uint32_t));
    bool room = choose_nodes(job, request, plan->exact, nodes, allowed, chosen);
    struct step_cpus cpus =
        collect_nodes(core, job, request->overlap || request->interactive, chosen, plan);
    return place_tasks(job, request, room, &cpus, plan, err);
}

/* ---- GRES of a step ---- */

/* The part of the job's devices on one node that a step gets. Everything unless it asked. */
char *step_gres(const struct job_node *entry, const struct step_request *request) {
    const char *asked =
        request->tres_per_node != NULL ? request->tres_per_node : request->tres_per_step;
    if (entry->gres == NULL || (asked != NULL && str_equal_nocase(asked, "none")))
        return NULL;
    struct gres_list list cleanup_gres_list = GRES_LIST_INIT;
    if (asked == NULL || gres_parse(asked, &list, NULL) < 0 || list.n == 0)
        return xstrdup(entry->gres);
    struct str out = STR_INIT;
    for (const char *at = entry->gres; *at != '\0';) {
        const char *open = strstr(at, "(IDX:"), *close = open != NULL ? strchr(open, ')') : NULL;
        if (close == NULL)
            break;
        struct gres_list have cleanup_gres_list = GRES_LIST_INIT;
        cleanup_free char *head = xstrndup(at, (size_t) (open - at));
        cleanup_free char *ids = xstrndup(open + 5, (size_t) (close - open) - 5);
        struct idset set cleanup_idset = IDSET_INIT, chosen cleanup_idset = IDSET_INIT;
        if (gres_parse(head, &have, NULL) == 0 && have.n == 1 &&
            (ids[0] == '\0' || idset_parse(&set, ids, UINT32_MAX - 2, NULL, NULL) == 0)) {
            for (size_t i = 0; i < list.n; i++) {
                if (!str_equal_nocase(list.items[i].name, have.items[0].name) ||
                    (list.items[i].type != NULL &&
                     !str_equal_nocase(list.items[i].type, have.items[0].type)))
                    continue;
                uint32_t id = 0;
                uint64_t need = list.items[i].count;
                for (bool more = idset_next(&set, 0, &id); more && need > 0;
                     more = idset_next(&set, id + 1, &id), need--)
                    idset_add(&chosen, id);
                list.items[i].count = need;
            }
        }
        uint64_t n = idset_count(&chosen);
        if (n > 0) {
            struct str numbers cleanup_str = STR_INIT;
            idset_print(&chosen, &numbers, 0);
            str_printf(&out, "%s%s%s%s:%llu(IDX:%s)", out.length > 0 ? "," : "", have.items[0].name,
                       have.items[0].type != NULL ? ":" : "",
                       have.items[0].type != NULL ? have.items[0].type : "", (unsigned long long) n,
                       numbers.data);
        }
        at = close[1] == ',' ? close + 2 : close + 1;
    }
    if (out.length == 0) {
        str_done(&out);
        return NULL;
    }
    return str_take(&out);
}
