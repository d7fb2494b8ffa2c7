/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes: registration, silence, drain and down, and the state that follows from the jobs on them.
 *
 * Silence is not death: a node whose connection is lost is shown as not responding after a short
 * grace; it goes DOWN only after SlurmdTimeout, never before the controller itself has been up for
 * so long, and never while a large share of the cluster has fallen silent together.
 */
#include <string.h>

#include "core/state.h"
#include "text/tres.h"

/* A restarted slurmd is back within this time and nobody notices. */
#define LOST_GRACE 2
#define HEARTBEAT_SECONDS 20
/* More than half of at least this many nodes silent at once: the controller is the one cut off. */
#define MASS_SILENCE_MIN 4

uint32_t core_node_find(const struct core *core, const char *name) {
    uintptr_t index = (uintptr_t) smap_get(&core->node_index, name);
    return index == 0 ? UINT32_MAX : (uint32_t) (index - 1);
}

const struct node *core_node(const struct core *core, uint32_t node) {
    return &core->nodes[node].rec;
}

void node_touch(struct core *core, struct core_node *node) {
    if (list_is_empty(&node->dirty))
        list_append(&core->dirty_nodes, &node->dirty);
}

bool node_is_usable(const struct core_node *node) {
    const uint32_t closed = NODE_FLAG_DRAIN | NODE_FLAG_FAIL | NODE_FLAG_NOT_RESPONDING |
                            NODE_FLAG_INVALID_REG | NODE_FLAG_REBOOT_ISSUED |
                            NODE_FLAG_POWERED_DOWN | NODE_FLAG_POWERING_DOWN;
    return node->registered && node->connected && node->unwanted.n == 0 && node->resume == NULL &&
           !(node->rec.flags & closed) && node->rec.state != NODE_DOWN &&
           node->rec.state != NODE_UNKNOWN && node->rec.state != NODE_FUTURE;
}

void node_cpus_add(struct core *core, uint32_t index, int64_t cpus) {
    struct core_node *node = &core->nodes[index];
    outage_count(core, index);
    node->given_cpus += cpus;
    node->rec.alloc_cpus = (uint32_t) min_of(node->given_cpus, (int64_t) node->rec.cpus);
}

void node_update_state(struct core *core, uint32_t index) {
    struct core_node *node = &core->nodes[index];
    if (node->rec.state == NODE_IDLE || node->rec.state == NODE_MIXED ||
        node->rec.state == NODE_ALLOCATED) {
        uint32_t working = node->n_jobs - node->n_completing;
        if (working == 0) /* with jobs that complete only: shown by the flag */
            node->rec.state = NODE_IDLE;
        else if (node->rec.alloc_cpus >= node->effective_cpus)
            node->rec.state = NODE_ALLOCATED;
        else
            node->rec.state = NODE_MIXED;
    }
    if (node->n_completing > 0 || node->unwanted.n > 0)
        node->rec.flags |= NODE_FLAG_COMPLETING;
    else
        node->rec.flags &= ~(uint32_t) NODE_FLAG_COMPLETING;
    outage_update(core, index);
    trigger_note_node(core, index);
    bool usable = node_is_usable(node);
    core->reservations_repair |= usable != node->usable;
    node->usable = usable;
    sched_node_usable(core->sched, index, usable);
    node->rec.effective_cpus = node->effective_cpus;
}

void node_refresh_texts(struct core *core, uint32_t index) {
    struct core_node *node = &core->nodes[index];
    struct str used cleanup_str = STR_INIT;
    assign_gres_used(core, node, &used);
    string_set(&node->rec.gres_used, used.length > 0 ? used.data : NULL);
    free(node->rec.alloc_tres);
    node->rec.alloc_tres = NULL;
    if (node->rec.alloc_cpus == 0 && node->rec.alloc_mem == 0)
        return;
    struct str out = STR_INIT;
    str_printf(&out, "cpu=%u", node->rec.alloc_cpus);
    if (node->rec.alloc_mem > 0) {
        str_append(&out, ",mem=");
        mem_print(node->rec.alloc_mem, true, &out);
    }
    uint64_t totals[SCHED_GRES_KINDS] = {0};
    for (size_t k = 0; k < core->n_kinds; k++) {
        if (cards_are_shared_as(node, k))
            totals[k] = cards_use_print(node, k, NULL);
        for (uint32_t i = 0; node->gres_use[k] != NULL && i < node->gres_total[k]; i++)
            totals[k] += node->gres_use[k][i] > 0 &&
                         (!gres_kind_is_gpu(core, k) || cards_is_whole(node, k, i));
    }
    gres_sums_print(core, totals, &out);
    node->rec.alloc_tres = str_take(&out);
}

void node_set_reason(struct core *core, uint32_t index, const char *reason, uint32_t uid) {
    struct core_node *node = &core->nodes[index];
    string_set(&node->rec.reason, reason);
    node->rec.reason_uid = uid;
    node->rec.reason_time = reason != NULL ? core->now : 0;
    if (uid == 0 || uid == core->settings.admin_uid)
        string_set(&node->rec.reason_user, uid == 0 ? "root" : core->settings.admin_name);
    node_touch(core, node);
}

/* A cause found by the system is added to one that stands. */
static void add_reason(struct core *core, uint32_t index, const char *reason) {
    struct core_node *node = &core->nodes[index];
    if (node->rec.reason == NULL) {
        node_set_reason(core, index, reason, core->settings.admin_uid);
    } else if (strstr(node->rec.reason, reason) == NULL) {
        cleanup_free char *both = xasprintf("%s : %s", node->rec.reason, reason);
        node_set_reason(core, index, both, core->settings.admin_uid);
    }
}

void node_drain(struct core *core, uint32_t index, const char *reason, uint32_t uid) {
    struct core_node *node = &core->nodes[index];
    bool known = (node->rec.flags & NODE_FLAG_DRAIN) && node->rec.reason != NULL &&
                 strstr(node->rec.reason, reason) != NULL;
    node->rec.flags |= NODE_FLAG_DRAIN;
    if (uid == core->settings.admin_uid || uid == 0)
        add_reason(core, index, reason);
    else
        node_set_reason(core, index, reason, uid);
    if (!known) /* node and controller may both have noticed */
        emit_log(core, EFFECT_INFO, "node %s drained: %s", node->rec.name, reason);
    node_update_state(core, index);
    node_touch(core, node);
    core->plan_wanted = true;
}

void node_forget_job(struct core_node *node, uint32_t job_id) {
    vec_each (&node->jobs, id) {
        if (*id == job_id) {
            vec_remove_swap(&node->jobs, (size_t) (id - node->jobs.items));
            return;
        }
    }
}

static int id_compare(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The jobs that hold a node, by id; looking at each may take it away from there. */
static void node_jobs(const struct core *core, uint32_t index, job_ptrs *ret) {
    const struct core_node *node = &core->nodes[index];
    uint32_t *ids = xcalloc(node->jobs.n + 1, sizeof(*ids));
    if (node->jobs.n > 0)
        memcpy(ids, node->jobs.items, node->jobs.n * sizeof(*ids));
    qsort(ids, node->jobs.n, sizeof(*ids), id_compare);
    for (size_t i = 0; i < node->jobs.n; i++)
        vec_push(ret, job_find(core, ids[i]));
    free(ids);
}

static bool job_is_on(const struct core_job *job, uint32_t index) {
    for (uint32_t i = 0; i < job_n_entries(&job->rec); i++) {
        const struct job_node *entry = job_entry(&job->rec, i);
        if (entry->node == index && !entry->released)
            return true;
    }
    return false;
}

void node_await_clean(struct core *core, uint32_t index, const struct core_job *job) {
    struct node_step all = {
        .job_id = job->rec.job_id, .step_id = UNSET32, .attempt = job->rec.attempt};
    if (core->nodes[index].connected)
        vec_push(&core->nodes[index].unwanted, all);
}

/* --no-kill: a job that can do without the node goes on with the others. The batch script's node is
 * not one of those. */
static bool survives(struct core *core, struct core_job *job, uint32_t index) {
    bool script_here = job_runs_script(job) && job->rec.allocation.items[0].node == index;
    if (!job->rec.no_kill || job_nodes_held(&job->rec) < 2 || script_here)
        return false;
    list_each (&job->steps, at) {
        struct core_step *step = list_entry(at, struct core_step, link);
        struct step_done done;
        record_init(&record_step_done, &done);
        done.job_id = job->rec.job_id;
        done.step_id = step->rec.step_id;
        done.attempt = job->rec.attempt;
        done.exit_status = 9;
        done.end_time = core->now;
        if (step->rec.step_id != STEP_BATCH)
            step_done(core, job, index, &done); /* nothing, where the step has no task there */
    }
    job_terminate_node(core, job, index);
    node_await_clean(core, index, job);
    job_give_back(core, job, index);
    return true;
}

/* Ends or requeues every job that holds this node. */
static void evict_jobs(struct core *core, uint32_t index, bool by_itself) {
    const char *name = core->nodes[index].rec.name;
    job_ptrs jobs = {0};
    node_jobs(core, index, &jobs);
    vec_each (&jobs, at) {
        struct core_job *job = *at;
        if (!job_is_on(job, index))
            continue;
        if (job_leaves(job, index)) { /* given back already */
            node_await_clean(core, index, job);
            job_node_clean(core, job, index);
            continue;
        }
        if (!job_has_nodes(job)) { /* completing: what it held here is gone */
            job_node_clean(core, job, index);
            continue;
        }
        string_set(&job->rec.failed_node, name);
        job_notify(core, job, ALLOC_NODE_FAIL, name, 0);
        emit_log(core, EFFECT_INFO, "job %u lost node %s", job->rec.job_id, name);
        if (survives(core, job, index))
            continue;
        if (job->rec.kind == JOB_KIND_BATCH && job->rec.requeue == TRI_YES)
            job_requeue(core, job, by_itself && failure_of_node(core, job, index), JOB_NODE_FAIL,
                        "DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS", REASON_MAX_REQUEUE);
        else
            job_finish(core, job, JOB_NODE_FAIL, REASON_NODE_DOWN, 1 << 8,
                       "DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS");
    }
    vec_done(&jobs);
}

static void set_down(struct core *core, uint32_t index, const char *reason, uint32_t uid,
                     bool by_itself) {
    struct core_node *node = &core->nodes[index];
    node->rec.state = NODE_DOWN;
    node_set_reason(core, index, reason, uid);
    emit_log(core, EFFECT_INFO, "node %s set DOWN: %s", node->rec.name, reason);
    sched_node_usable(core->sched, index, false);
    evict_jobs(core, index, by_itself);
    node_update_state(core, index);
    core->plan_wanted = true;
}

void node_down(struct core *core, uint32_t index, const char *reason, uint32_t uid) {
    set_down(core, index, reason, uid, true);
}

void node_put_down(struct core *core, uint32_t index, const char *reason, uint32_t uid) {
    set_down(core, index, reason, uid, false);
}

/* ---- silence ---- */

static bool mass_silence(const struct core *core) {
    size_t silent = 0, all = 0;
    for (size_t i = 0; i < core->n_nodes; i++) {
        if (core->nodes[i].rec.state == NODE_FUTURE || core->nodes[i].rec.state == NODE_DOWN)
            continue;
        all++;
        silent += !core->nodes[i].connected;
    }
    return all >= MASS_SILENCE_MIN && silent * 2 > all;
}

static void arm_node(struct core *core, uint32_t index, int64_t when) {
    heap_remove(&core->node_timers, &core->nodes[index].timer);
    if (when != INT64_MAX)
        heap_push(&core->node_timers, &core->nodes[index].timer, when, index);
}

void node_watch(struct core *core, uint32_t index) {
    struct core_node *node = &core->nodes[index];
    if (!node->connected && node->lost_at == 0)
        node->lost_at = core->now;
    if (node->resume != NULL)
        arm_node(core, index, node->resume_due);
    else if (node->rec.flags & NODE_FLAG_REBOOT_ISSUED)
        arm_node(core, index, reboot_deadline(core, node));
    else if (node->connected || node->rec.state == NODE_FUTURE)
        arm_node(core, index, INT64_MAX);
    else
        arm_node(core, index, core->now + LOST_GRACE);
}

static void not_responding(struct core *core, uint32_t index) {
    struct core_node *node = &core->nodes[index];
    node->rec.flags |= NODE_FLAG_NOT_RESPONDING;
    emit_log(core, EFFECT_INFO, "node %s does not respond", node->rec.name);
    node_update_state(core, index);
    core->plan_wanted = true;
}

void node_timer(struct core *core, uint32_t index) {
    struct core_node *node = &core->nodes[index];
    if (node->resume != NULL) {
        resume_given_up(core, index);
        return;
    }
    if (node->rec.flags & NODE_FLAG_REBOOT_ISSUED) {
        reboot_timed_out(core, index);
        node_watch(core, index);
        return;
    }
    if (node->connected || node->rec.state == NODE_FUTURE)
        return;
    if (!(node->rec.flags & NODE_FLAG_NOT_RESPONDING))
        not_responding(core, index);
    if (node->rec.state == NODE_DOWN || core->settings.slurmd_timeout <= 0)
        return;
    int64_t since = max_of(node->lost_at, core->boot_time);
    int64_t due = since + core->settings.slurmd_timeout;
    if (core->now < due) {
        arm_node(core, index, due);
    } else if (mass_silence(core)) {
        emit_log(core, EFFECT_ERROR,
                 "more than half of the nodes have fallen silent together: the controller may be "
                 "the one that is cut off, no node is set DOWN for now");
        arm_node(core, index, core->now + 60);
    } else {
        node_down(core, index, "Not responding", core->settings.admin_uid);
    }
}

void core_node_gone(struct core *core, int64_t now, uint32_t index, struct effects *out) {
    core->now = now;
    core->out = out;
    struct core_node *node = &core->nodes[index];
    node->connected = false;
    node->lost_at = now;
    sched_node_usable(core->sched, index, false);
    if (node->resume != NULL)
        resume_given_up(core, index);
    node_watch(core, index);
}

/* ---- registration ---- */

static void take_reported(struct core_node *node, const struct node *reported) {
    string_set(&node->rec.os, reported->os);
    string_set(&node->rec.arch, reported->arch);
    string_set(&node->rec.version, reported->version);
    string_set(&node->rec.gres_detail, reported->gres);
    string_set(&node->rec.confinement, reported->confinement);
    node->rec.boot_time = reported->boot_time;
    node->rec.slurmd_start_time = reported->slurmd_start_time;
    node->rec.cpu_load = reported->cpu_load;
    node->rec.free_mem = reported->free_mem;
    string_set(&node->rec.boot_id, reported->boot_id);
    if (reported->port != 0)
        node->rec.port = reported->port;
}

/* The jobs that the controller believes in, against what runs there. */
static bool reported_step(const struct node_register *reg, const struct core_job *job,
                          uint32_t step_id) {
    for (uint32_t i = 0; i < reg->steps.n; i++) {
        const struct node_step *step = &reg->steps.items[i];
        if (step->job_id == job->rec.job_id && step->step_id == step_id &&
            step->attempt == job->rec.attempt)
            return true;
    }
    return false;
}

/* A step that has come there and waits until the node is ready for its job. */
static bool reported_waiting(const struct node_register *reg, const struct core_job *job,
                             uint32_t step_id) {
    for (uint32_t i = 0; i < reg->steps.n; i++) {
        const struct node_step *step = &reg->steps.items[i];
        if (step->job_id == job->rec.job_id && step->step_id == step_id &&
            step->attempt == job->rec.attempt)
            return step->waits;
    }
    return false;
}

static void reconcile_job(struct core *core, struct core_job *job, uint32_t index,
                          const struct node_register *reg) {
    bool batch_here = job_runs_script(job) && job->rec.allocation.n > 0 &&
                      job->rec.allocation.items[0].node == index;
    if ((job->rec.flags & JOB_FLAG_COMPLETING) || job_leaves(job, index)) {
        job_terminate_node(core, job, index);
        return;
    }
    prolog_again(core, job, index);
    if (!job_has_nodes(job) || !batch_here)
        return;
    if (reported_waiting(reg, job, STEP_BATCH))
        return;
    if (reported_step(reg, job, STEP_BATCH)) {
        job->rec.allocation.items[0].accepted = true;
        job_running(core, job);
    } else if (job->rec.flags & JOB_FLAG_CONFIGURING) {
        job_launch_again(core, job);
    } else {
        emit_log(core, EFFECT_INFO, "job %u is not known any more on node %s", job->rec.job_id,
                 core->nodes[index].rec.name);
        string_set(&job->rec.failed_node, core->nodes[index].rec.name);
        if (job->rec.requeue == TRI_YES)
            job_requeue(core, job, failure_of_node(core, job, index), JOB_NODE_FAIL, NULL,
                        REASON_MAX_REQUEUE);
        else
            job_finish(core, job, JOB_NODE_FAIL, REASON_NODE_DOWN, 1 << 8, NULL);
    }
}

static void steps_vanished(struct core *core, struct core_job *job, uint32_t index,
                           const struct node_register *reg) {
    list_each (&job->steps, at) {
        struct core_step *step = list_entry(at, struct core_step, link);
        if (job_state_is_final(step->rec.state) || step->rec.step_id == STEP_BATCH)
            continue;
        for (size_t i = 0; i < step->n_nodes; i++) {
            if (step->node_done[i] || step->rec.allocation.items[i].node != index ||
                reported_step(reg, job, step->rec.step_id))
                continue;
            /* Not launched yet: srun may be about to. Give it a moment: only a step that has been
             * there for a while and is unknown to the node is over. */
            if (core->now - step->rec.start_time < 60)
                continue;
            struct step_done done;
            record_init(&record_step_done, &done);
            done.job_id = job->rec.job_id;
            done.step_id = step->rec.step_id;
            done.attempt = job->rec.attempt;
            done.exit_status = 9;
            done.end_time = core->now;
            step_done(core, job, index, &done);
            break;
        }
    }
}

static void reconcile(struct core *core, uint32_t index, const struct node_register *reg) {
    job_ptrs jobs = {0};
    node_jobs(core, index, &jobs);
    vec_each (&jobs, at) {
        if (!job_is_on(*at, index))
            continue;
        if (job_has_nodes(*at))
            steps_vanished(core, *at, index, reg);
        job_stop_again(core, *at, index);
        reconcile_job(core, *at, index, reg);
    }
    vec_done(&jobs);
}

/* Does the job hold the node now? One that goes on without it (--no-kill) does not. */
static bool holds_node(const struct core_job *job, uint32_t index) {
    return job_is_on(job, index) && (job_has_nodes(job) || (job->rec.flags & JOB_FLAG_COMPLETING));
}

/* What runs there without right must end; what has ended and nobody waits for may be forgotten. */
static void unwanted_steps(struct core *core, uint32_t index, const struct node_register *reg,
                           struct node_welcome *welcome) {
    struct core_node *node = &core->nodes[index];
    welcome->kill.items =
        arena_alloc(&core->out->memory, (reg->steps.n + 1) * sizeof(struct node_step));
    vec_reset(&node->unwanted);
    for (uint32_t i = 0; i < reg->steps.n; i++) {
        const struct node_step *step = &reg->steps.items[i];
        struct core_job *job = job_find(core, step->job_id);
        if (job != NULL && job->rec.attempt == step->attempt && holds_node(job, index))
            continue;
        if (!step->ended) {
            welcome->kill.items[welcome->kill.n++] = *step;
            vec_push(&node->unwanted, *step);
            continue;
        }
        struct step_ref ref = {step->job_id, step->step_id, step->attempt};
        emit_node(core, index, MSG_STEP_ACK, &ref);
    }
}

/* Back to work, if the reason for being away allows it (ReturnToService). */
static void maybe_return(struct core *core, uint32_t index) {
    struct core_node *node = &core->nodes[index];
    if (node->rec.state == NODE_UNKNOWN) {
        node->rec.state = NODE_IDLE;
        return;
    }
    if (node->rec.state != NODE_DOWN || (node->rec.flags & NODE_FLAG_REBOOT_ISSUED))
        return;
    bool silent = str_equal(node->rec.reason, "Not responding");
    if (core->settings.return_to_service == 2 ||
        (core->settings.return_to_service == 1 && silent)) {
        node->rec.state = NODE_IDLE;
        if (!(node->rec.flags & NODE_FLAG_DRAIN))
            node_set_reason(core, index, NULL, 0);
    }
}

static void unexpected_reboot(struct core *core, uint32_t index, const struct node *reported) {
    struct core_node *node = &core->nodes[index];
    if (node_has_rebooted(&node->rec, reported) && core->settings.return_to_service != 2 &&
        node->rec.state != NODE_DOWN && node->rec.state != NODE_FUTURE)
        node_down(core, index, "Node unexpectedly rebooted", core->settings.admin_uid);
}

static void node_registered(struct core *core, uint32_t index, struct node_register *reg) {
    struct core_node *node = &core->nodes[index];
    struct node_welcome welcome;
    record_init(&record_node_welcome, &welcome);
    node->connected = true;
    node->lost_at = 0;
    if (reg->node != NULL) {
        reboot_registered(core, index, reg->node);
        unexpected_reboot(core, index, reg->node);
        take_reported(node, reg->node);
        assign_found(core, node, reg->places.items, reg->places.n);
        struct str reason cleanup_str = STR_INIT;
        if (node_check_registration(core, node, reg->node, &reason) < 0) {
            node->rec.flags |= NODE_FLAG_INVALID_REG;
            node_drain(core, index, reason.data, core->settings.admin_uid);
        } else {
            node->rec.flags &= ~(uint32_t) NODE_FLAG_INVALID_REG;
        }
    }
    node_problem(core, index, reg->problem);
    node_watch(core, index);
    node->registered = true;
    node->rec.flags &= ~(uint32_t) NODE_FLAG_NOT_RESPONDING;
    node->rec.last_response = core->now;
    maybe_return(core, index);
    welcome.accepted = true;
    welcome.heartbeat = HEARTBEAT_SECONDS;
    welcome.kill_wait = (uint32_t) core->settings.kill_wait;
    unwanted_steps(core, index, reg, &welcome);
    emit_node(core, index, MSG_NODE_WELCOME, &welcome);
    reconcile(core, index, reg);
    node_update_state(core, index);
    node_touch(core, node);
    core->plan_wanted = true;
}

static void node_reported(struct core *core, uint32_t index, const struct node_status *status) {
    struct core_node *node = &core->nodes[index];
    node->rec.last_response = core->now;
    node->rec.cpu_load = status->cpu_load;
    node->rec.free_mem = status->free_mem;
    gpus_reported(core, index, status);
    node_problem(core, index, status->problem);
    if (status->checked && node->resume != NULL)
        resume_checked(core, index);
}

/* ---- reports about jobs: they count only from a node that holds the job, and only for the
 * attempt that is running ---- */

static struct core_job *reported_job(struct core *core, uint32_t index, uint32_t job_id,
                                     uint32_t attempt) {
    struct core_job *job = job_find(core, job_id);
    if (job == NULL || job->rec.attempt != attempt)
        return NULL;
    for (uint32_t i = 0; i < job_n_entries(&job->rec); i++) {
        if (job_entry(&job->rec, i)->node == index)
            return job;
    }
    return NULL;
}

static void launch_failed(struct core *core, struct core_job *job, uint32_t index,
                          const struct launch_result *result) {
    if (result->code == ERR_PROLOG) {
        prolog_failed(core, job, index, result->detail);
        return;
    }
    emit_log(core, EFFECT_ERROR, "job %u could not be launched on node %s: %s", job->rec.job_id,
             core->nodes[index].rec.name, result->detail != NULL ? result->detail : "?");
    job_launch_failed(core, job, index, result->code);
}

static void node_launch_result(struct core *core, uint32_t index,
                               const struct launch_result *result) {
    struct core_job *job = reported_job(core, index, result->job_id, result->attempt);
    if (job == NULL || !job_has_nodes(job) || result->step_id != STEP_BATCH)
        return;
    if (result->code != 0) {
        launch_failed(core, job, index, result);
        return;
    }
    job->rec.allocation.items[0].accepted = true;
    job_touch(core, job);
    job_running(core, job);
}

static void node_job_prepared(struct core *core, uint32_t index, const struct job_prepared *body) {
    struct core_job *job = reported_job(core, index, body->job_id, body->attempt);
    if (job != NULL)
        prolog_prepared(core, job, index, body);
}

/* What had no right to run there has ended. With the last of it the node is free again. */
static void unwanted_done(struct core *core, uint32_t index, const struct step_ref *ref) {
    struct core_node *node = &core->nodes[index];
    for (size_t i = 0; i < node->unwanted.n; i++) {
        const struct node_step *step = &node->unwanted.items[i];
        if (step->job_id != ref->job_id || step->step_id != ref->step_id ||
            step->attempt != ref->attempt)
            continue;
        vec_remove_swap(&node->unwanted, i);
        if (node->unwanted.n > 0)
            return;
        node_update_state(core, index);
        core->plan_wanted = true;
        return;
    }
}

static void node_step_done(struct core *core, uint32_t index, const struct step_done *done) {
    struct step_ref ref = {done->job_id, done->step_id, done->attempt};
    emit_node(core, index, MSG_STEP_ACK, &ref);
    unwanted_done(core, index, &ref);
    if (done->stuck) /* the job may go on elsewhere, and here, without that step */
        node_drain(core, index, done->detail != NULL ? done->detail : "Kill task failed",
                   core->settings.admin_uid);
    struct core_job *job = reported_job(core, index, done->job_id, done->attempt);
    if (job == NULL || job->rec.allocation.n == 0)
        return;
    step_done(core, job, index, done);
    if (done->code == ERR_PROLOG)
        prolog_failed(core, job, index, done->detail);
}

static void node_job_clean(struct core *core, uint32_t index, const struct job_clean *clean) {
    struct step_ref ref = {clean->job_id, UNSET32, clean->attempt};
    emit_node(core, index, MSG_STEP_ACK, &ref);
    unwanted_done(core, index, &ref);
    if (clean->problem != NULL)
        node_drain(core, index, clean->problem, core->settings.admin_uid);
    struct core_job *job = reported_job(core, index, clean->job_id, clean->attempt);
    if (job != NULL)
        job_node_clean(core, job, index);
}

void core_node_message(struct core *core, int64_t now, uint32_t index, uint16_t type, void *body,
                       struct effects *out) {
    core->now = now;
    core->out = out;
    if (type != MSG_NODE_REGISTER && !core->nodes[index].connected)
        return;
    switch (type) {
    case MSG_NODE_REGISTER:
        node_registered(core, index, body);
        break;
    case MSG_NODE_STATUS:
        node_reported(core, index, body);
        break;
    case MSG_LAUNCH_RESULT:
        node_launch_result(core, index, body);
        break;
    case MSG_STEP_DONE:
        node_step_done(core, index, body);
        break;
    case MSG_JOB_CLEAN:
        node_job_clean(core, index, body);
        break;
    case MSG_JOB_PREPARED:
        node_job_prepared(core, index, body);
        break;
    default:
        emit_log(core, EFFECT_ERROR, "node %s sent message %u, which is not a node's",
                 core->nodes[index].rec.name, type);
    }
}
