/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps: what part of its job's allocation a step gets, the layout of its tasks, and its end.
 *
 * A step owns its CPUs unless it overlaps; without --exact (or -c) it takes all of its nodes. One
 * that finds them busy waits in its job's list, in order, and is tried again at every end of a
 * step.
 */
#include <stdio.h>
#include <string.h>

#include "core/state.h"
#include "text/tres.h"

void step_touch(struct core *core, struct core_step *step) {
    if (list_is_empty(&step->dirty))
        list_append(&core->dirty_steps, &step->dirty);
}

struct core_step *step_find(struct core_job *job, uint32_t step_id) {
    list_each (&job->steps, at) {
        struct core_step *step = list_entry(at, struct core_step, link);
        if (step->rec.step_id == step_id)
            return step;
    }
    return NULL;
}

struct core_step *step_new(struct core *core, struct core_job *job, uint32_t step_id) {
    struct core_step *step = zalloc(struct core_step);
    record_init(&record_step, &step->rec);
    step->job = job;
    list_init(&step->link);
    list_init(&step->dirty);
    list_append(&job->steps, &step->link);
    struct step *rec = &step->rec;
    rec->job_id = job->rec.job_id;
    rec->step_id = step_id;
    rec->state = JOB_RUNNING;
    rec->start_time = core->now;
    rec->uid = job->rec.uid;
    rec->attempt = job->rec.attempt;
    rec->array_job_id = job->rec.array_job_id;
    rec->array_task_id = job->rec.array_task_id;
    rec->submit_time = core->now;
    string_set(&rec->user_name, job->rec.user_name);
    string_set(&rec->partition, job->rec.partition);
    string_set(&rec->account, job->rec.account);
    string_set(&rec->cluster, job->rec.cluster);
    step_touch(core, step);
    return step;
}

static void step_free(struct core *core, struct core_step *step) {
    list_remove(&step->link);
    list_remove(&step->dirty);
    if (step->stored)
        emit_delete(core, STORE_STEP, (uint64_t) step->rec.job_id << 32 | step->rec.step_id);
    record_done(&record_step, &step->rec);
    free(step->nodes);
    free(step->node_done);
    free(step);
}

void step_forget_all(struct core *core, struct core_job *job) {
    list_each (&job->steps, at)
        step_free(core, list_entry(at, struct core_step, link));
    steps_fail_waiting(core, job, -ERR_ALREADY_DONE);
}

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
static char *free_cores(struct core *core, struct core_job *job, uint32_t entry, uint32_t cpus,
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

struct step_plan {
    uint32_t *entries; /* indexes into the job's allocation */
    uint32_t n;
    uint32_t *counts; /* tasks */
    uint32_t *cpus;   /* given to the step on each */
    uint32_t ntasks;
    bool exact;
};

static int refuse(struct error *err, enum err code, const char *fmt, ...) printf_like(3, 4);
static int refuse(struct error *err, enum err code, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    cleanup_free char *text = xvasprintf(fmt, args);
    va_end(args);
    return error_set(err, code, "%s", text);
}

static int candidate_nodes(struct core *core, struct core_job *job,
                           const struct step_request *request, bool *allowed, struct error *err) {
    uint32_t n = job->rec.allocation.n;
    struct hostlist list cleanup_hostlist = HOSTLIST_INIT;
    for (uint32_t i = 0; i < n; i++)
        allowed[i] = request->relative == UNSET32 || i >= request->relative;
    if (request->relative != UNSET32 && request->relative >= n)
        return refuse(err, ERR_NODE_CONFIG, "--relative=%u: the job has %u nodes",
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
            return refuse(err, ERR_NODE_CONFIG, "node %s is not part of job %u (it has %s)",
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
        return refuse(err, ERR_NODE_CONFIG,
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

static void plan_done(struct step_plan *plan) {
    free(plan->entries);
    free(plan->counts);
    free(plan->cpus);
}

/* 0, ERR_NODES_BUSY (wait), or a refusal. */
static int step_place(struct core *core, struct core_job *job, const struct step_request *request,
                      struct step_plan *plan, struct error *err) {
    uint32_t n = job->rec.allocation.n, available = 0, nodes = 0, tasks = 0;
    bool *allowed = arena_alloc(&core->out->memory, (n + 1) * sizeof(bool));
    int r = candidate_nodes(core, job, request, allowed, err);
    if (r < 0)
        return r;
    for (uint32_t i = 0; i < n; i++)
        available += allowed[i];
    r = step_shape(job, request, available, &nodes, &tasks, err);
    if (r < 0)
        return r;
    uint32_t cpt = max_of(request->cpus_per_task, 1u);
    plan->exact = request->exact || request->cpus_per_task > 0;
    plan->entries = xcalloc(nodes + 1, sizeof(uint32_t));
    plan->counts = xcalloc(nodes + 1, sizeof(uint32_t));
    plan->cpus = xcalloc(nodes + 1, sizeof(uint32_t));
    uint32_t *all_cpus = arena_alloc(&core->out->memory, (nodes + 1) * sizeof(uint32_t));
    uint32_t *free_cpus = arena_alloc(&core->out->memory, (nodes + 1) * sizeof(uint32_t));
    bool busy = false;
    bool ignore_use = request->overlap || request->interactive;
    /* Nodes with something free come first, so that steps spread over the job. */
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < n && plan->n < nodes; i++) {
            uint32_t cpus = job->rec.allocation.items[i].cpus;
            uint32_t used = ignore_use ? 0 : cpus_in_use(job, i);
            bool full = plan->exact ? used + cpt > cpus : used > 0;
            if (!allowed[i] || full != (pass == 1))
                continue;
            plan->entries[plan->n] = i;
            all_cpus[plan->n] = cpus;
            free_cpus[plan->n++] = used < cpus ? cpus - used : 0;
            busy |= full;
        }
    }
    /* In the order of the job's nodes again. */
    for (uint32_t i = 1; i < plan->n; i++) {
        for (uint32_t k = i; k > 0 && plan->entries[k - 1] > plan->entries[k]; k--) {
            uint32_t e = plan->entries[k], a = all_cpus[k], f = free_cpus[k];
            plan->entries[k] = plan->entries[k - 1];
            all_cpus[k] = all_cpus[k - 1];
            free_cpus[k] = free_cpus[k - 1];
            plan->entries[k - 1] = e;
            all_cpus[k - 1] = a;
            free_cpus[k - 1] = f;
        }
    }
    bool even = request->distribution == DIST_CYCLIC || request->distribution == DIST_PLANE ||
                (request->distribution == DIST_DEFAULT && tasks <= nodes);
    plan->ntasks = tasks;
    if (!layout_tasks(tasks, plan->n, all_cpus, cpt, request->ntasks_per_node, request->overcommit,
                      even, plan->counts))
        return refuse(err, ERR_TOO_MANY_CPUS,
                      "%u tasks of %u CPUs each do not fit on %u CPUs of the job (-O allows it)",
                      tasks, cpt, job->rec.num_cpus);
    if (!busy && plan->exact && !ignore_use)
        busy = !layout_tasks(tasks, plan->n, free_cpus, cpt, request->ntasks_per_node,
                             request->overcommit, even, plan->counts);
    if (busy)
        return -ERR_NODES_BUSY;
    for (uint32_t i = 0; i < plan->n; i++)
        plan->cpus[i] = plan->exact ? min_of(plan->counts[i] * cpt, all_cpus[i]) : all_cpus[i];
    return 0;
}

/* ---- GRES of a step ---- */

/* The part of the job's devices on one node that a step gets. Everything unless it asked. */
static char *step_gres(const struct job_node *entry, const struct step_request *request) {
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

/* ---- making the step ---- */

static void step_fill(struct core *core, struct core_step *step, const struct step_request *request,
                      const struct step_plan *plan) {
    struct core_job *job = step->job;
    struct step *rec = &step->rec;
    struct hostlist names cleanup_hostlist = HOSTLIST_INIT;
    struct str counts cleanup_str = STR_INIT, folded cleanup_str = STR_INIT;
    rec->allocation.items = xcalloc(plan->n, sizeof(struct job_node));
    rec->allocation.n = plan->n;
    step->nodes = xcalloc(plan->n, sizeof(uint32_t));
    step->node_done = xcalloc(plan->n, sizeof(bool));
    step->n_nodes = plan->n;
    for (uint32_t i = 0; i < plan->n; i++) {
        const struct job_node *holder = &job->rec.allocation.items[plan->entries[i]];
        char *cores = free_cores(core, job, plan->entries[i], plan->cpus[i],
                                 request->overlap || request->interactive);
        struct job_node *entry = &rec->allocation.items[i];
        record_init(&record_job_node, entry);
        string_set(&entry->name, holder->name);
        entry->node = holder->node;
        entry->cpus = plan->cpus[i];
        entry->ntasks = plan->counts[i];
        entry->mem = request->mem_per_node != UNSET64 && request->mem_per_node > 0
                         ? min_of(request->mem_per_node, holder->mem)
                         : holder->mem;
        entry->cores = cores;
        entry->gres = step_gres(holder, request);
        step->nodes[i] = plan->entries[i];
        rec->num_cpus += plan->cpus[i];
        hostlist_push(&names, holder->name);
    }
    hostlist_fold(&names, &folded);
    counted_list_print(plan->counts, plan->n, &counts);
    string_set(&rec->nodes, str_cstr(&folded));
    string_set(&rec->tasks_per_node, str_cstr(&counts));
    string_set(&rec->name, request->name);
    string_set(&rec->srun_host, request->srun_host);
    string_set(&rec->submit_line, request->submit_line);
    string_set(&rec->work_dir, request->work_dir);
    string_set(&rec->std_out, request->std_out);
    string_set(&rec->std_err, request->std_err);
    string_set(&rec->std_in, request->std_in);
    rec->srun_pid = request->srun_pid;
    rec->num_nodes = plan->n;
    rec->nodes_left = plan->n;
    rec->ntasks = plan->ntasks;
    rec->time_limit = request->time_limit;
    rec->overlap = request->overlap || request->interactive;
    uint64_t mem = 0;
    for (uint32_t i = 0; i < plan->n; i++)
        mem += rec->allocation.items[i].mem;
    rec->tres_alloc = tres_text(rec->num_cpus, mem, rec->num_nodes, NULL, false);
}

static void layout_node(struct core *core, const struct core_step *step, uint32_t i,
                        uint32_t *ranks, struct step_node *ret) {
    const struct job_node *entry = &step->rec.allocation.items[i];
    const struct node *node = &core->nodes[entry->node].rec;
    ret->name = entry->name;
    ret->address = node->address != NULL ? node->address : node->name;
    ret->port = node->port;
    ret->ranks = (struct u32s) {ranks, entry->ntasks};
    ret->cpus = entry->cpus;
    ret->cores = entry->cores;
    ret->gres = entry->gres;
    ret->mem = entry->mem;
    ret->job_cpus = step->job->rec.allocation.items[step->nodes[i]].cpus;
}

static struct step_layout *step_layout_make(struct core *core, struct core_step *step,
                                            const struct step_request *request) {
    struct arena *memory = &core->out->memory;
    struct core_job *job = step->job;
    struct step_layout *layout = arena_alloc(memory, sizeof(*layout));
    record_init(&record_step_layout, layout);
    uint32_t n = step->rec.allocation.n, dist = request->distribution;
    if (dist == DIST_DEFAULT)
        dist = step->rec.ntasks <= n ? DIST_CYCLIC : DIST_BLOCK;
    uint32_t *counts = arena_alloc(memory, n * sizeof(uint32_t));
    uint32_t **ranks = arena_alloc(memory, n * sizeof(uint32_t *));
    for (uint32_t i = 0; i < n; i++) {
        counts[i] = step->rec.allocation.items[i].ntasks;
        ranks[i] = arena_alloc(memory, (counts[i] + 1) * sizeof(uint32_t));
    }
    layout_ranks(dist, request->plane_size, step->rec.ntasks, n, counts, ranks);
    layout->nodes.items = arena_alloc(memory, n * sizeof(struct step_node));
    layout->nodes.n = n;
    for (uint32_t i = 0; i < n; i++) {
        record_init(&record_step_node, &layout->nodes.items[i]);
        layout_node(core, step, i, ranks[i], &layout->nodes.items[i]);
    }
    uint32_t *cpus = arena_alloc(memory, job->rec.allocation.n * sizeof(uint32_t));
    for (uint32_t i = 0; i < job->rec.allocation.n; i++)
        cpus[i] = job->rec.allocation.items[i].cpus;
    struct str text cleanup_str = STR_INIT;
    counted_list_print(cpus, job->rec.allocation.n, &text);
    layout->job_id = job->rec.job_id;
    layout->step_id = step->rec.step_id;
    layout->attempt = job->rec.attempt;
    layout->ntasks = step->rec.ntasks;
    layout->cpus_per_task = request->cpus_per_task;
    layout->nodelist = step->rec.nodes;
    layout->tasks_per_node = step->rec.tasks_per_node;
    layout->distribution = dist;
    layout->job_nodelist = job->rec.nodes;
    layout->job_num_nodes = job->rec.num_nodes;
    layout->job_cpus_per_node = arena_strndup(memory, text.data, text.length);
    layout->job_name = job->rec.name;
    layout->kill_wait = (uint32_t) core->settings.kill_wait;
    layout->partition = job->rec.partition;
    layout->cluster = job->rec.cluster;
    layout->user_name = job->rec.user_name;
    layout->account = job->rec.account;
    layout->qos = job->rec.qos;
    layout->restarts = job->rec.restarts;
    layout->array_job_id = job->rec.array_job_id;
    layout->array_task_id = job->rec.array_task_id;
    layout->job_start_time = job->rec.start_time;
    layout->job_end_time = job->rec.end_time;
    return layout;
}

static struct bytes credential_of(struct core *core, struct core_step *step,
                                  const struct step_layout *layout) {
    struct step_credential cred;
    record_init(&record_step_credential, &cred);
    cred.job_id = layout->job_id;
    cred.step_id = layout->step_id;
    cred.attempt = layout->attempt;
    cred.uid = step->job->rec.uid;
    cred.gid = step->job->rec.gid;
    cred.nodes.items = layout->nodes.items;
    cred.nodes.n = layout->nodes.n;
    cred.expires = core->now + core->settings.cred_expire;
    cred.user_name = step->job->rec.user_name;
    cred.ntasks = layout->ntasks;
    cred.job_nodelist = step->job->rec.nodes;
    cred.cpus_per_task = layout->cpus_per_task;
    cred.time_limit = step->rec.time_limit;
    struct str out cleanup_str = STR_INIT;
    wire_encode(&record_step_credential, &cred, NULL, &out);
    return (struct bytes) {
        (const uint8_t *) arena_strndup(&core->out->memory, out.data, out.length), out.length};
}

/* 0 with the layout, ERR_NODES_BUSY, or a refusal. */
static int step_try(struct core *core, struct core_job *job, const struct step_request *request,
                    struct step_layout **ret, struct bytes *ret_credential, struct error *err) {
    struct step_plan plan = {0};
    int r = 0;
    if (job->rec.next_step >= core->settings.max_step_count)
        return refuse(err, ERR_LIMIT, "job %u has had %u steps (MaxStepCount)", job->rec.job_id,
                      job->rec.next_step);
    r = step_place(core, job, request, &plan, err);
    if (r == 0) {
        uint32_t id = request->interactive ? STEP_INTERACTIVE : job->rec.next_step++;
        struct core_step *step = step_new(core, job, id);
        step_fill(core, step, request, &plan);
        *ret = step_layout_make(core, step, request);
        *ret_credential = credential_of(core, step, *ret);
        job_touch(core, job);
    }
    plan_done(&plan);
    return r;
}

static void answer_layout(struct core *core, uint64_t client, uint32_t seq,
                          struct step_layout *layout, struct bytes credential) {
    struct step_reply *reply = arena_alloc(&core->out->memory, sizeof(*reply));
    record_init(&record_step_reply, reply);
    reply->layout = layout;
    struct effect *effect = emit(core, EFFECT_GRANT);
    effect->client = client;
    effect->seq = seq;
    effect->type = MSG_STEP_REPLY;
    effect->flags = 1;
    /* The object's strings belong to records that may change before the shell encodes it. */
    struct str body cleanup_str = STR_INIT;
    wire_encode(&record_step_reply, reply, NULL, &body);
    effect->body = (struct bytes) {
        (const uint8_t *) arena_strndup(&core->out->memory, body.data, body.length), body.length};
    effect->credential = credential;
}

static int step_job_check(struct core *core, struct core_job *job, const struct core_user *user,
                          struct error *err) {
    if (job == NULL)
        return error_set(err, ERR_INVALID_JOB_ID, "no such job");
    if (!job_user_may(core, job, user->uid))
        return error_set(err, ERR_USER_ID, "job %u is not yours", job->rec.job_id);
    if (job_is_pending(job))
        return error_set(err, ERR_JOB_PENDING, "job %u has not started", job->rec.job_id);
    if (!job_has_nodes(job))
        return error_set(err,
                         job->rec.flags & JOB_FLAG_COMPLETING ? ERR_ALREADY_DONE : ERR_JOB_FINISHED,
                         "job %u has ended", job->rec.job_id);
    return 0;
}

void step_create(struct core *core, uint64_t client, uint32_t seq, const struct core_user *user,
                 struct step_request *request) {
    struct error err = ERROR_INIT;
    struct core_job *job = job_find(core, request->job_id);
    struct step_layout *layout;
    struct bytes credential;
    int r = step_job_check(core, job, user, &err);
    if (r == 0)
        r = step_try(core, job, request, &layout, &credential, &err);
    if (r == 0) {
        answer_layout(core, client, seq, layout, credential);
        return;
    }
    if (r != -ERR_NODES_BUSY || request->immediate) {
        emit_error(core, client, seq, r, err.text);
        return;
    }
    struct step_wait *wait = zalloc(struct step_wait);
    client_watches(core, client, job);
    wait->client = client;
    wait->seq = seq;
    wait->request = record_dup(&record_step_request, request);
    wait->uid = user->uid;
    wait->gid = user->gid;
    list_append(&job->step_waits, &wait->link);
    struct step_reply reply;
    record_init(&record_step_reply, &reply);
    reply.waiting = true;
    reply.reason = (char *) (uintptr_t) error_text(ERR_NODES_BUSY);
    emit_reply(core, client, MSG_STEP_REPLY, 0, seq, &reply);
}

static void wait_free(struct step_wait *wait) {
    list_remove(&wait->link);
    record_free(&record_step_request, wait->request);
    free(wait);
}

void steps_wake(struct core *core, struct core_job *job) {
    list_each (&job->step_waits, at) {
        struct step_wait *wait = list_entry(at, struct step_wait, link);
        struct step_layout *layout;
        struct bytes credential;
        struct error err = ERROR_INIT;
        int r = step_try(core, job, wait->request, &layout, &credential, &err);
        if (r == -ERR_NODES_BUSY)
            continue;
        if (r == 0)
            answer_layout(core, wait->client, wait->seq, layout, credential);
        else
            emit_error(core, wait->client, wait->seq, r, err.text);
        wait_free(wait);
    }
}

void steps_fail_waiting(struct core *core, struct core_job *job, int code) {
    list_each (&job->step_waits, at) {
        struct step_wait *wait = list_entry(at, struct step_wait, link);
        emit_error(core, wait->client, wait->seq, code, NULL);
        wait_free(wait);
    }
}

void step_create_first(struct core *core, struct core_job *job) {
    struct step_layout *layout = NULL;
    struct bytes credential = {NULL, 0};
    struct error err = ERROR_INIT;
    struct step_request *request = job->first_step;
    request->job_id = job->rec.job_id;
    int r = step_try(core, job, request, &layout, &credential, &err);
    if (r < 0)
        emit_log(core, EFFECT_ERROR, "job %u: its first step cannot be laid out: %s",
                 job->rec.job_id, err.text);
    alloc_granted(core, job, layout, credential);
    record_free(&record_step_request, job->first_step);
    job->first_step = NULL;
}

/* ---- the end of a step ---- */

/* The worst of two wait statuses: a signal counts as 128 + its number. */
static uint32_t worse_status(uint32_t a, uint32_t b) {
    uint32_t rank_a = a & 0x7f ? 128 + (a & 0x7f) : (a >> 8) & 0xff;
    uint32_t rank_b = b & 0x7f ? 128 + (b & 0x7f) : (b >> 8) & 0xff;
    return rank_b > rank_a ? b : a;
}

static void add_usage(struct step *rec, const struct usage *more) {
    if (more == NULL)
        return;
    if (rec->usage == NULL) {
        rec->usage = record_dup(&record_usage, more);
        return;
    }
    struct usage *sum = rec->usage;
    if (more->max_rss_kib > sum->max_rss_kib) {
        sum->max_rss_kib = more->max_rss_kib;
        sum->max_rss_task = more->max_rss_task;
        string_set(&sum->max_rss_node, more->max_rss_node);
    }
    sum->max_vsize_kib = max_of(sum->max_vsize_kib, more->max_vsize_kib);
    sum->user_usec += more->user_usec;
    sum->system_usec += more->system_usec;
    sum->read_bytes += more->read_bytes;
    sum->write_bytes += more->write_bytes;
    sum->sum_rss_kib += more->sum_rss_kib;
    sum->sum_vsize_kib += more->sum_vsize_kib;
    sum->oom_kills += more->oom_kills;
}

static enum job_state state_of_status(const struct core_job *job, const struct step_done *done,
                                      uint32_t status) {
    if (done->oom)
        return JOB_OUT_OF_MEMORY;
    if (done->timed_out)
        return JOB_TIMEOUT;
    if (job->rec.state == JOB_CANCELLED || job->rec.state == JOB_TIMEOUT ||
        job->rec.state == JOB_PREEMPTED || job->rec.state == JOB_NODE_FAIL)
        return (status & 0x7f) != 0 ? JOB_CANCELLED : status == 0 ? JOB_COMPLETED : JOB_FAILED;
    if ((status & 0x7f) != 0)
        return JOB_CANCELLED;
    return status == 0 ? JOB_COMPLETED : JOB_FAILED;
}

static bool in_exit_list(uint32_t code, const char *list) {
    struct idset set cleanup_idset = IDSET_INIT;
    return list != NULL && idset_parse(&set, list, 255, NULL, NULL) == 0 &&
           idset_contains(&set, code);
}

/* RequeueExit and RequeueExitHold: codes that mean "again" and "again, once somebody has looked".
 */
static bool requeue_by_exit_code(struct core *core, struct core_job *job, struct core_step *step,
                                 uint32_t status) {
    uint32_t code = (status >> 8) & 0xff;
    bool hold = in_exit_list(code, core->settings.requeue_exit_hold);
    bool again = hold || in_exit_list(code, core->settings.requeue_exit);
    if ((status & 0x7f) != 0 || !again || job->rec.requeue != TRI_YES)
        return false;
    step->rec.state = JOB_FAILED;
    job->rec.exit_status = status;
    job_requeue(core, job, hold, JOB_FAILED, NULL, hold ? REASON_HELD_USER : REASON_NONE);
    if (hold)
        job->rec.flags |= JOB_FLAG_SPECIAL_EXIT;
    return true;
}

/* The batch script has ended: so has the job. */
static void batch_done(struct core *core, struct core_job *job, const struct step_done *done) {
    uint32_t status = done->exit_status;
    struct core_step *step = step_find(job, STEP_BATCH);
    if (step == NULL) {
        step = step_new(core, job, STEP_BATCH);
        string_set(&step->rec.name, "batch");
        step->rec.start_time = job->rec.start_time;
        step->rec.num_nodes = 1;
        step->rec.ntasks = 1;
        if (job->rec.allocation.n > 0) {
            const struct job_node *first = &job->rec.allocation.items[0];
            step->rec.num_cpus = first->cpus;
            string_set(&step->rec.nodes, first->name);
            step->rec.tres_alloc = tres_text(first->cpus, first->mem, 1, NULL, false);
        }
    }
    if (job_state_is_final(step->rec.state))
        return;
    step->rec.exit_status = status;
    step->rec.end_time = core->now;
    add_usage(&step->rec, done->usage);
    if (!job_has_nodes(job)) { /* cancelled, timed out: only the step's own record is missing */
        step->rec.state = state_of_status(job, done, status);
        step_touch(core, step);
        return;
    }
    step_touch(core, step); /* written at the end of the turn; a requeue may free it */
    job_running(core, job);
    if (done->output_failed) {
        step->rec.state = JOB_FAILED;
        step->rec.exit_status = 53;
        job_finish(core, job, JOB_FAILED, REASON_NONE, 53, NULL);
    } else if (done->oom) {
        step->rec.state = JOB_OUT_OF_MEMORY;
        step->rec.exit_status = 125;
        job_finish(core, job, JOB_OUT_OF_MEMORY, REASON_OUT_OF_MEMORY, 125, NULL);
    } else if (status == 0) {
        step->rec.state = JOB_COMPLETED;
        job_finish(core, job, JOB_COMPLETED, REASON_NONE, 0, NULL);
    } else if (!requeue_by_exit_code(core, job, step, status)) {
        bool signalled = (status & 0x7f) != 0;
        step->rec.state = JOB_FAILED;
        job_finish(core, job, JOB_FAILED, signalled ? REASON_RAISED_SIGNAL : REASON_NON_ZERO_EXIT,
                   status, NULL);
    }
}

void step_done(struct core *core, struct core_job *job, uint32_t node,
               const struct step_done *done) {
    if (done->step_id == STEP_BATCH) {
        batch_done(core, job, done);
        return;
    }
    struct core_step *step = step_find(job, done->step_id);
    if (step == NULL || job_state_is_final(step->rec.state))
        return;
    bool known = false;
    for (size_t i = 0; i < step->n_nodes; i++) {
        if (job->rec.allocation.items[step->nodes[i]].node == node && !step->node_done[i]) {
            step->node_done[i] = known = true;
            step->rec.nodes_left--;
        }
    }
    if (!known)
        return;
    step->rec.exit_status = worse_status(step->rec.exit_status, done->exit_status);
    add_usage(&step->rec, done->usage);
    step_touch(core, step);
    if (step->rec.nodes_left > 0)
        return;
    step->rec.end_time = core->now;
    step->rec.state = state_of_status(job, done, step->rec.exit_status);
    if (done->oom)
        step->rec.exit_status = 125;
    if (step->rec.step_id < STEP_INTERACTIVE) {
        job->rec.derived_exit = worse_status(job->rec.derived_exit, step->rec.exit_status);
        job_touch(core, job);
    }
    if (job_has_nodes(job))
        steps_wake(core, job);
}
