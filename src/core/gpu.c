/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the cards of the nodes do, as the nodes tell with their heartbeats. Kept in memory only: a
 * node tells how long a card has been idle, so that nothing is lost when the controller restarts.
 */
#include <string.h>

#include "core/state.h"

/* ---- reports ---- */

struct core_gpu *gpu_find(struct core_node *node, uint32_t index) {
    vec_each (&node->gpus, gpu) {
        if (gpu->status.index == index)
            return gpu;
    }
    return NULL;
}

void gpus_free(struct core_node *node) {
    vec_each (&node->gpus, gpu)
        record_done(&record_gpu_status, &gpu->status);
    vec_done(&node->gpus);
}

void gpus_carry_over(struct core_node *node, struct core_node *old) {
    node->gpus = old->gpus;
    old->gpus = (core_gpus) {0};
    string_set(&node->rec.gpu_strays, old->rec.gpu_strays);
}

/* A slurmd that was restarted has not seen the card at work since then; what is known from before
 * still holds. */
static int64_t idle_since(const struct core *core, const struct core_gpu *before,
                          const struct gpu_status *status) {
    if (status->idle != UNSET32)
        return core->now - (int64_t) status->idle;
    int64_t watched = core->now - (int64_t) status->watched;
    return before != NULL ? min_of(before->idle_since, watched) : watched;
}

/* "pid 4711 (python, alice) on gpu 0; …" */
static void strays_print(const struct node_status *status, struct str *out) {
    for (uint32_t i = 0; i < status->gpus.n; i++) {
        const struct gpu_status *gpu = &status->gpus.items[i];
        for (uint32_t k = 0; k < gpu->strays.n; k++) {
            const struct gpu_stray *stray = &gpu->strays.items[k];
            str_printf(out, "%spid %u (%s, %s) on gpu %u", out->length > 0 ? "; " : "", stray->pid,
                       stray->command != NULL ? stray->command : "?",
                       stray->user != NULL ? stray->user : "?", gpu->index);
        }
    }
}

static void strays_reported(struct core *core, struct core_node *node,
                            const struct node_status *status) {
    struct str text cleanup_str = STR_INIT;
    strays_print(status, &text);
    const char *now = text.length > 0 ? text.data : NULL;
    if (str_equal(now, node->rec.gpu_strays))
        return;
    if (now != NULL)
        emit_log(core, EFFECT_WARNING, "node %s: processes on GPUs that belong to no job: %s",
                 node->rec.name, now);
    string_set(&node->rec.gpu_strays, now);
}

static void problem_reported(struct core *core, const struct core_node *node,
                             const struct core_gpu *before, const struct gpu_status *status) {
    if (status->problem != NULL &&
        (before == NULL || !str_equal(before->status.problem, status->problem)))
        emit_log(core, EFFECT_ERROR, "node %s: gpu %u: %s", node->rec.name, status->index,
                 status->problem);
}

/* Their GPUs may have begun to work, or ceased to. */
static void jobs_seen(struct core *core, const struct core_node *node) {
    job_ptrs jobs = {0};
    vec_each (&node->jobs, id) {
        struct core_job *job = job_find(core, *id);
        if (job != NULL && gpu_idle_matters(core, job))
            vec_push(&jobs, job);
    }
    vec_each (&jobs, job) {
        gpu_idle_check(core, *job);
        job_arm(core, *job);
    }
    vec_done(&jobs);
}

struct card_use {
    struct core_node *node;
    struct job *job;
};

static void card_use_note(uint32_t index, void *context) {
    struct card_use *use = context;
    const struct core_gpu *gpu = gpu_find(use->node, index);
    if (gpu == NULL || gpu->status.use_now == UNSET32)
        return;
    use->job->gpu_percent_sum += gpu->status.use_now;
    use->job->gpu_looks++;
    if (gpu->status.memory != UNSET64)
        use->job->gpu_mem_max = max_of(use->job->gpu_mem_max, gpu->status.memory);
}

/* What jobs make of their cards, for their records. Written with the next change of the job. */
static void jobs_use_note(struct core *core, struct core_node *node) {
    vec_each (&node->jobs, id) {
        struct core_job *job = job_find(core, *id);
        if (job == NULL || job->rec.state != JOB_RUNNING)
            continue;
        struct card_use use = {node, &job->rec};
        for (uint32_t i = 0; i < job->rec.allocation.n; i++) {
            const struct job_node *entry = &job->rec.allocation.items[i];
            if (&core->nodes[entry->node] == node && entry->gres != NULL && !entry->released)
                assign_each_gpu(core, entry, card_use_note, &use);
        }
    }
}

void gpus_reported(struct core *core, uint32_t index, const struct node_status *status) {
    struct core_node *node = &core->nodes[index];
    core_gpus fresh = {0};
    for (uint32_t i = 0; i < status->gpus.n; i++) {
        const struct gpu_status *told = &status->gpus.items[i];
        const struct core_gpu *before = gpu_find(node, told->index);
        problem_reported(core, node, before, told);
        struct core_gpu *gpu = vec_add(&fresh);
        gpu->idle_since = idle_since(core, before, told);
        record_copy(&record_gpu_status, &gpu->status, told);
    }
    gpus_free(node);
    node->gpus = fresh;
    strays_reported(core, node, status);
    if (status->gpus.n > 0) {
        jobs_use_note(core, node);
        jobs_seen(core, node);
    }
}

/* ---- the list ---- */

struct gpu_holder {
    struct core_job *job;
    struct core_job **of; /* by the number of the card */
    uint32_t n;
};

static void holder_note(uint32_t index, void *context) {
    struct gpu_holder *holder = context;
    if (index < holder->n)
        holder->of[index] = holder->job;
}

static uint32_t gpu_count(const struct core *core, const struct core_node *node) {
    uint32_t n = 0;
    for (size_t k = 0; k < core->n_kinds; k++) {
        if (node->gres_use[k] != NULL && gres_kind_is_gpu(core, k))
            n = max_of(n, node->gres_first[k] + node->gres_total[k]);
    }
    return n;
}

static const char *gpu_type(const struct core *core, const struct core_node *node, uint32_t index) {
    for (size_t k = 0; k < core->n_kinds; k++) {
        if (gres_kind_is_gpu(core, k) && index >= node->gres_first[k] &&
            index - node->gres_first[k] < node->gres_total[k])
            return core->kinds[k].type[0] != '\0' ? core->kinds[k].type : NULL;
    }
    return NULL;
}

static void find_holders(const struct core *core, uint32_t index, struct gpu_holder *holder) {
    const struct core_node *node = &core->nodes[index];
    vec_each (&node->jobs, id) {
        holder->job = job_find(core, *id);
        if (holder->job == NULL)
            continue;
        const struct job *rec = &holder->job->rec;
        for (uint32_t i = 0; i < rec->allocation.n; i++) {
            if (rec->allocation.items[i].node == index && !rec->allocation.items[i].released)
                assign_each_gpu(core, &rec->allocation.items[i], holder_note, holder);
        }
    }
}

static void gpu_fill(struct core *core, const struct core_user *user, struct core_node *node,
                     struct core_job *job, struct str *id, struct gpu *ret) {
    struct core_gpu *told = gpu_find(node, ret->index);
    bool may_see = job != NULL && (!core->settings.private_jobs || job->rec.uid == user->uid ||
                                   core_is_admin(core, user->uid));
    ret->node = node->rec.name;
    ret->type = (char *) (uintptr_t) gpu_type(core, node, ret->index);
    ret->available = node->usable;
    if (job != NULL) {
        if (may_see)
            job_id_print(&job->rec, 0, id);
        ret->job = (char *) (uintptr_t) (may_see ? id->data : "?");
        ret->user = may_see ? job->rec.user_name : (char *) (uintptr_t) "?";
    }
    if (told == NULL || !node->connected)
        return;
    ret->status = &told->status;
    if (told->status.use_now == 0)
        ret->idle_since =
            job != NULL && job_has_nodes(job)
                ? max_of(told->idle_since, max_of(job->rec.start_time, job->rec.suspend_time))
                : told->idle_since;
    if (job == NULL)
        return;
    ret->idle_end = gpu_idle_end(core, job);
    ret->keep_until = job->rec.gpu_keep_until > core->now ? job->rec.gpu_keep_until : 0;
    if (ret->idle_end > 0)
        ret->idle_action = (char *) (uintptr_t) gpu_idle_action(core, job);
}

void gpus_each(struct core *core, const struct core_user *user, uint32_t index,
               void (*fn)(const struct gpu *gpu, void *context), void *context) {
    struct core_node *node = &core->nodes[index];
    uint32_t n = gpu_count(core, node);
    if (n == 0)
        return;
    struct gpu_holder holder = {NULL, xcalloc(n, sizeof(struct core_job *)), n};
    find_holders(core, index, &holder);
    for (uint32_t i = 0; i < n; i++) {
        struct gpu gpu;
        struct str id cleanup_str = STR_INIT;
        record_init(&record_gpu, &gpu);
        gpu.index = i;
        gpu_fill(core, user, node, holder.of[i], &id, &gpu);
        fn(&gpu, context);
    }
    free(holder.of);
}
