/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps: making them, their layout and credential, and those that wait for their turn.
 *
 * A step owns its CPUs unless it overlaps; without --exact (or -c) it takes all of its nodes. One
 * that finds them busy waits in its job's list, in order, and is tried again at every end of a
 * step.
 */
#include <stdio.h>
#include <string.h>

#include "core/state.h"
#include "model/conf.h"
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

bool step_batch_running(const struct core_job *job, struct step *ret) {
    const struct job *rec = &job->rec;
    if (!job_runs_script(job) || !job_has_nodes(job) || rec->allocation.n == 0)
        return false;
    const struct job_node *first = &rec->allocation.items[0];
    record_init(&record_step, ret);
    ret->job_id = rec->job_id;
    ret->step_id = STEP_BATCH;
    ret->name = (char *) (uintptr_t) "batch";
    ret->state = rec->state;
    ret->start_time = ret->submit_time = rec->start_time;
    ret->nodes = first->name;
    ret->num_nodes = ret->ntasks = 1;
    ret->num_cpus = first->cpus;
    ret->time_limit = UNSET32;
    ret->uid = rec->uid;
    ret->user_name = rec->user_name;
    ret->partition = rec->partition;
    ret->account = rec->account;
    ret->cluster = rec->cluster;
    ret->array_job_id = rec->array_job_id;
    ret->array_task_id = rec->array_task_id;
    return true;
}

void step_free(struct core_step *step) {
    list_remove(&step->link);
    list_remove(&step->dirty);
    record_done(&record_step, &step->rec);
    free(step->nodes);
    free(step->node_done);
    free(step);
}

void step_forget(struct core *core, struct core_step *step) {
    if (step->stored)
        emit_delete(core, STORE_STEP, (uint64_t) step->rec.job_id << 32 | step->rec.step_id);
    step_free(step);
}

void steps_find_nodes(struct core *core, struct core_job *job) {
    list_each (&job->steps, at) {
        struct core_step *step = list_entry(at, struct core_step, link);
        for (uint32_t i = 0; i < step->rec.allocation.n; i++)
            step->rec.allocation.items[i].node =
                core_node_find(core, step->rec.allocation.items[i].name);
    }
}

void step_forget_all(struct core *core, struct core_job *job) {
    list_each (&job->steps, at)
        step_forget(core, list_entry(at, struct core_step, link));
    steps_fail_waiting(core, job, -ERR_ALREADY_DONE);
}

void step_tell_limit(struct core *core, const struct core_step *step) {
    struct node_signal order;
    record_init(&record_node_signal, &order);
    order.job_id = step->rec.job_id;
    order.step_id = step->rec.step_id;
    order.attempt = step->rec.attempt;
    order.time_limit = step->rec.time_limit;
    for (size_t i = 0; i < step->n_nodes; i++)
        emit_node(core, step->rec.allocation.items[i].node, MSG_NODE_SIGNAL, &order);
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
    rec->owns_gres = plan->owns_gres;
    rec->owns_mem = plan->owns_mem;
    for (uint32_t i = 0; i < plan->n; i++) {
        const struct job_node *holder = &job->rec.allocation.items[plan->entries[i]];
        char *cores = step_free_cores(core, job, plan->entries[i], plan->cpus[i],
                                      request->overlap || request->interactive);
        struct job_node *entry = &rec->allocation.items[i];
        record_init(&record_job_node, entry);
        string_set(&entry->name, holder->name);
        entry->node = holder->node;
        entry->cpus = plan->cpus[i];
        entry->ntasks = plan->counts[i];
        entry->mem = plan->mem[i];
        entry->cores = cores;
        entry->gres = xstrdup_null(plan->gres[i]);
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
    cleanup_free char *gres = step_gres_tres(core, plan);
    rec->tres_alloc = tres_text(rec->num_cpus, mem, rec->num_nodes, gres, UNSET64);
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
    const struct job_node *held = &step->job->rec.allocation.items[step->nodes[i]];
    ret->job_cpus = held->cpus;
    ret->job_cores = held->cores;
    ret->job_gres = held->gres;
    ret->job_mem = held->mem;
}

/* Ranks of the arbitrary distribution: in the order of the list. */
static void arbitrary_ranks(const struct core_step *step, const struct step_plan *plan,
                            uint32_t **ranks) {
    cleanup_free uint32_t *given = xcalloc(plan->n + 1, sizeof(uint32_t));
    for (uint32_t rank = 0; rank < plan->ntasks; rank++) {
        uint32_t i = 0;
        while (step->nodes[i] != plan->entry_of_task[rank])
            i++;
        ranks[i][given[i]++] = rank;
    }
}

static struct step_layout *step_layout_make(struct core *core, struct core_step *step,
                                            const struct step_request *request,
                                            const struct step_plan *plan) {
    struct arena *memory = &core->out->memory;
    struct core_job *job = step->job;
    struct step_layout *layout = arena_alloc(memory, sizeof(*layout));
    record_init(&record_step_layout, layout);
    uint32_t n = step->rec.allocation.n, dist = request->distribution;
    if (dist == DIST_DEFAULT)
        dist = step->rec.ntasks <= n ? DIST_CYCLIC : DIST_BLOCK;
    step->rec.distribution = dist;
    uint32_t *counts = arena_alloc(memory, n * sizeof(uint32_t));
    uint32_t **ranks = arena_alloc(memory, n * sizeof(uint32_t *));
    for (uint32_t i = 0; i < n; i++) {
        counts[i] = step->rec.allocation.items[i].ntasks;
        ranks[i] = arena_alloc(memory, (counts[i] + 1) * sizeof(uint32_t));
    }
    if (plan->entry_of_task != NULL)
        arbitrary_ranks(step, plan, ranks);
    else
        layout_ranks(dist, request->plane_size, step->rec.ntasks, n, counts, ranks);
    layout->nodes.items = arena_alloc(memory, n * sizeof(struct step_node));
    layout->nodes.n = n;
    for (uint32_t i = 0; i < n; i++) {
        record_init(&record_step_node, &layout->nodes.items[i]);
        layout_node(core, step, i, ranks[i], &layout->nodes.items[i]);
    }
    struct str text cleanup_str = STR_INIT;
    job_cpus_per_node(&job->rec, &text);
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
    layout->het_job_id = job->rec.het_job_id;
    layout->array_job_id = job->rec.array_job_id;
    layout->array_task_id = job->rec.array_task_id;
    layout->job_start_time = job->rec.start_time;
    layout->job_end_time = job->rec.end_time;
    const struct conf_partition *part =
        job->rec.partition != NULL ? conf_partition_find(core->conf, job->rec.partition) : NULL;
    if (part != NULL)
        layout->cpu_bind = (char *) (uintptr_t) part->cpu_bind;
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
    struct job brief;
    cred.job = prolog_step_brief(core, step->job, &brief);
    return effect_encode(core, &record_step_credential, &cred);
}

/* A number that is asked for is near those that were given out. */
#define MAX_STEPS_AHEAD 65536u

/* Components of one job number their steps through, and a step in several of them has one number.
 */
static uint32_t step_number(struct core_job *job, const struct step_request *request) {
    uint32_t next = job->rec.next_step, id = request->step_id;
    if (job->het != NULL && id < next + MAX_STEPS_AHEAD && step_find(job, id) == NULL) {
        job->rec.next_step = max_of(next, id + 1);
        return id;
    }
    het_each(job, other) next = max_of(next, other->rec.next_step);
    job->rec.next_step = next + 1;
    return next;
}

/* 0 with the layout, ERR_NODES_BUSY, or a refusal. */
static int step_try(struct core *core, struct core_job *job, const struct step_request *request,
                    struct step_layout **ret, struct bytes *ret_credential, struct error *err) {
    struct step_plan plan = {0};
    int r = 0;
    if (job->rec.next_step >= core->settings.max_step_count)
        return error_set(err, ERR_LIMIT, "job %u has had %u steps (MaxStepCount)", job->rec.job_id,
                         job->rec.next_step);
    struct core_step *former = request->interactive ? step_find(job, STEP_INTERACTIVE) : NULL;
    if (former != NULL && !job_state_is_final(former->rec.state))
        return error_set(err, ERR_EXISTS, "job %u has its interactive step already",
                         job->rec.job_id);
    r = step_place(core, job, request, &plan, err);
    if (r == 0 && former != NULL)
        step_forget(core, former);
    if (r == 0) {
        uint32_t id = request->interactive ? STEP_INTERACTIVE : step_number(job, request);
        struct core_step *step = step_new(core, job, id);
        step_fill(core, step, request, &plan);
        *ret = step_layout_make(core, step, request, &plan);
        *ret_credential = credential_of(core, step, *ret);
        job_touch(core, job);
    }
    step_plan_done(&plan);
    return r;
}

void step_answer(struct core *core, uint64_t client, uint32_t seq, struct step_layout *layout,
                 struct bytes credential) {
    struct step_reply reply;
    record_init(&record_step_reply, &reply);
    reply.layout = layout;
    emit_grant(core, client, seq, MSG_STEP_REPLY, &reply, credential);
}

int step_job_check(struct core *core, struct core_job *job, const struct core_user *user,
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

static struct core_job *step_job(struct core *core, struct step_request *request) {
    if (request->job_text == NULL)
        return job_find(core, request->job_id);
    job_ptrs jobs = {0};
    struct core_job *job = NULL;
    if (job_select_id(core, request->job_text, NULL, &jobs) == 0 && jobs.n == 1)
        job = jobs.items[0];
    vec_done(&jobs);
    if (job != NULL)
        request->job_id = job->rec.job_id;
    return job;
}

void handle_step_create(struct core *core, uint64_t client, uint32_t seq,
                        const struct core_user *user, void *body) {
    struct step_request *request = body;
    struct error err = ERROR_INIT;
    struct core_job *job = step_job(core, request);
    struct step_layout *layout;
    struct bytes credential;
    int r = step_job_check(core, job, user, &err);
    if (r == 0 && prolog_holds(core, job))
        r = -ERR_NODES_BUSY; /* until its nodes are ready */
    if (r == 0)
        r = step_try(core, job, request, &layout, &credential, &err);
    if (r == 0) {
        step_answer(core, client, seq, layout, credential);
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

void step_wait_free(struct step_wait *wait) {
    list_remove(&wait->link);
    record_free(&record_step_request, wait->request);
    free(wait);
}

void steps_wake(struct core *core, struct core_job *job) {
    if (prolog_holds(core, job))
        return;
    list_each (&job->step_waits, at) {
        struct step_wait *wait = list_entry(at, struct step_wait, link);
        struct step_layout *layout;
        struct bytes credential;
        struct error err = ERROR_INIT;
        int r = step_try(core, job, wait->request, &layout, &credential, &err);
        if (r == -ERR_NODES_BUSY)
            continue;
        if (r == 0)
            step_answer(core, wait->client, wait->seq, layout, credential);
        else
            emit_error(core, wait->client, wait->seq, r, err.text);
        step_wait_free(wait);
    }
}

void steps_fail_waiting(struct core *core, struct core_job *job, int code) {
    list_each (&job->step_waits, at) {
        struct step_wait *wait = list_entry(at, struct step_wait, link);
        emit_error(core, wait->client, wait->seq, code, NULL);
        step_wait_free(wait);
    }
}

/* What is on the job's nodes but in no step of its own; it holds nothing. */
void step_create_extern(struct core *core, struct core_job *job) {
    struct core_step *step = step_find(job, STEP_EXTERN);
    if (step != NULL)
        return;
    step = step_new(core, job, STEP_EXTERN);
    struct step *rec = &step->rec;
    uint32_t n = job->rec.allocation.n;
    string_set(&rec->name, "extern");
    string_set(&rec->nodes, job->rec.nodes);
    string_set(&rec->tres_alloc, job->rec.tres_alloc);
    rec->num_nodes = rec->nodes_left = rec->ntasks = n;
    rec->num_cpus = job->rec.num_cpus;
    rec->overlap = true;
    rec->allocation.items = xcalloc(n, sizeof(struct job_node));
    rec->allocation.n = n;
    step->nodes = xcalloc(n, sizeof(uint32_t));
    step->node_done = xcalloc(n, sizeof(bool));
    step->n_nodes = n;
    for (uint32_t i = 0; i < n; i++) {
        struct job_node *entry = &rec->allocation.items[i];
        record_init(&record_job_node, entry);
        string_set(&entry->name, job->rec.allocation.items[i].name);
        entry->node = job->rec.allocation.items[i].node;
        entry->ntasks = 1;
        step->nodes[i] = i;
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
    alloc_granted(core, job, layout, credential, r < 0 ? &err : NULL);
    record_free(&record_step_request, job->first_step);
    job->first_step = NULL;
}
