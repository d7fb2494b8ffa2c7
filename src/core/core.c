/* SPDX-License-Identifier: Apache-2.0 */
/* The core's front door: inputs are dispatched by table, a turn's end plans and writes. */
#include "core/core.h"

#include <string.h>

#include "core/habit.h"

#define RECORD_ROW_core_meta(...) RECORD_ROW(core_meta, __VA_ARGS__)
RECORD_DEFINE(core_meta, CORE_META_FIELDS)

#define META_ID 1

struct core *core_new(void) {
    struct core *core = zalloc(struct core);
    record_init(&record_core_meta, &core->meta);
    list_init(&core->depending);
    list_init(&core->placed);
    list_init(&core->questions);
    list_init(&core->habit_order);
    list_init(&core->dirty_jobs);
    list_init(&core->dirty_steps);
    list_init(&core->dirty_nodes);
    list_init(&core->dirty_partitions);
    list_init(&core->dirty_reservations);
    usage_init(core);
    assoc_book_init(&core->book, "cluster"); /* its name comes with the configuration */
    core->restoring = true;
    core->priority_version = 1;
    core->plan_next = 0;
    return core;
}

void core_free(struct core *core) {
    if (core == NULL)
        return;
    why_free_all(core);
    failures_forget(core);
    job_free_all(core);
    map_done(&core->jobs);
    arrays_free(core);
    hets_free(core);
    depends_free(core);
    singletons_free(core);
    vec_done(&core->job_order);
    map_done(&core->client_jobs);
    map_done(&core->script_users);
    vec_done(&core->fresh_allocs);
    heap_done(&core->timers);
    heap_done(&core->node_timers);
    sched_free(core->sched);
    sched_free(core->sched_before);
    cluster_free(core);
    restore_free(core);
    preempt_free_all(core);
    free(core->predictor);
    habits_free(core);
    crontabs_free(core);
    triggers_free(core);
    vec_done(&core->paused);
    limits_free(core);
    usage_free(core);
    assoc_book_done(&core->book);
    map_done(&core->admins);
    free(core->settings.control_host);
    reservations_free(core);
    record_done(&record_core_meta, &core->meta);
    free(core);
}

/* ---- requests ---- */

static void request_job_wait(struct core *core, uint64_t client, uint32_t seq,
                             const struct core_user *user, void *body) {
    const struct alloc_end *request = body;
    struct core_job *job = job_find(core, request->job_id);
    struct core_array *array = array_find(core, request->job_id);
    if (array != NULL) {
        array_wait(core, array, client, seq);
        client_watches(core, client, array_after(array, NULL));
    } else if (job == NULL) {
        emit_error(core, client, seq, -ERR_INVALID_JOB_ID, NULL);
    } else if (job_state_is_final(job->rec.state)) {
        struct job_end end = {.job_id = job->rec.job_id,
                              .state = job->rec.state,
                              .exit_status = job->rec.exit_status};
        emit_reply(core, client, MSG_JOB_END, 1, seq, &end);
    } else {
        struct waiter waiter = {client, seq, WAIT_JOB_END};
        vec_push(&job->waiters, waiter);
        client_watches(core, client, job);
    }
}

static void admin_effect(struct core *core, uint64_t client, uint32_t seq,
                         const struct core_user *user, enum effect_kind kind) {
    if (!core_is_super(core, user->uid)) {
        emit_error(core, client, seq, -ERR_USER_ID, NULL);
        return;
    }
    struct effect *effect = emit(core, kind);
    effect->client = client;
    effect->seq = seq;
}

static void request_reconfigure(struct core *core, uint64_t client, uint32_t seq,
                                const struct core_user *user, void *body) {
    admin_effect(core, client, seq, user, EFFECT_RECONFIGURE);
}

static void request_shutdown(struct core *core, uint64_t client, uint32_t seq,
                             const struct core_user *user, void *body) {
    if (core_is_super(core, user->uid))
        emit_reply(core, client, MSG_OK, 1, seq, NULL);
    admin_effect(core, client, seq, user, EFFECT_SHUTDOWN);
}

static const struct request_row {
    uint16_t type;
    request_fn *fn;
} requests[] = {
    {MSG_SUBMIT, handle_submit},
    {MSG_ALLOC_END, handle_alloc_end},
    {MSG_ALLOC_ATTACH, handle_alloc_attach},
    {MSG_STEP_CREATE, handle_step_create},
    {MSG_FILE_GRANT, handle_file_grant},
    {MSG_JOB_VERB, handle_verb},
    {MSG_JOB_KILL, handle_kill},
    {MSG_STEP_KILL, handle_step_kill},
    {MSG_UPDATE, handle_update},
    {MSG_WHY, handle_why},
    {MSG_TRIGGER_SET, handle_trigger_set},
    {MSG_TRIGGER_GET, handle_trigger_list},
    {MSG_TRIGGER_CLEAR, handle_trigger_clear},
    {MSG_CRONTAB_SET, handle_crontab_set},
    {MSG_CRONTAB_GET, handle_crontab_get},
    {MSG_REBOOT, handle_reboot},
    {MSG_ASSOC_CHANGE, handle_assoc_change},
    {MSG_LIST_ASSOC, handle_assoc_list},
    {MSG_ASSOC_DUMP, handle_assoc_dump},
    {MSG_ASSOC_LOAD, handle_assoc_load},
    {MSG_LIST_SHARES, handle_shares},
    {MSG_LIST_LIMIT_COUNTS, handle_limit_counts},
    {MSG_JOB_WAIT, request_job_wait},
    {MSG_RECONFIGURE, request_reconfigure},
    {MSG_SHUTDOWN, request_shutdown},
};

static const struct request_row *request_find(uint16_t type) {
    for (size_t i = 0; i < countof(requests); i++) {
        if (requests[i].type == type)
            return &requests[i];
    }
    return NULL;
}

bool core_handles(uint16_t type) {
    return request_find(type) != NULL;
}

void core_request(struct core *core, int64_t now, uint64_t client, uint32_t seq, uint16_t type,
                  const struct core_user *user, void *body, struct effects *out) {
    core->now = now;
    core->out = out;
    const struct request_row *row = request_find(type);
    if (row == NULL)
        emit_error(core, client, seq, -ERR_NOT_SUPPORTED,
                   "the controller does not know this "
                   "message; is a newer command in use?");
    else
        row->fn(core, client, seq, user, body);
}

/* ---- time ---- */

int64_t core_next_time(const struct core *core) {
    int64_t next = INT64_MAX;
    const struct heap_node *job = heap_min(&core->timers), *node = heap_min(&core->node_timers);
    if (core->reservations_next > 0)
        next = min_of(next, core->reservations_next);
    if (job != NULL)
        next = min_of(next, job->key);
    if (node != NULL)
        next = min_of(next, node->key);
    if (core->n_questions > 0 || core->sweeping)
        next = min_of(next, core->now);
    if (core->plan_next > 0)
        next = min_of(next, core->plan_next);
    if (core->age_next > 0)
        next = min_of(next, core->age_next);
    if (core->usage.reset_next > 0)
        next = min_of(next, core->usage.reset_next);
    if (core->limits.used_next > 0)
        next = min_of(next, core->limits.used_next);
    if (core->gang_next > 0)
        next = min_of(next, core->gang_next);
    if (core->health_next > 0)
        next = min_of(next, core->health_next);
    if (core->remind_next > 0)
        next = min_of(next, core->remind_next);
    if (core->triggers.next > 0)
        next = min_of(next, core->triggers.next);
    return min_of(next, preempt_next(core));
}

void core_tick(struct core *core, int64_t now, struct effects *out) {
    core->now = now;
    core->out = out;
    if (core->reservations_next > 0 && core->reservations_next <= now)
        reservations_tick(core);
    for (struct heap_node *at = heap_min(&core->timers); at != NULL && at->key <= now;
         at = heap_min(&core->timers)) {
        heap_remove(&core->timers, at);
        job_timer(core, container_of(at, struct core_job, timer));
    }
    for (struct heap_node *at = heap_min(&core->node_timers); at != NULL && at->key <= now;
         at = heap_min(&core->node_timers)) {
        heap_remove(&core->node_timers, at);
        struct core_node *node = container_of(at, struct core_node, timer);
        node_timer(core, (uint32_t) (node - core->nodes));
    }
    usage_reset_tick(core);
    limits_used_tick(core);
    if (core->health_next > 0 && core->health_next <= now)
        health_tick(core);
    if (core->remind_next > 0 && core->remind_next <= now)
        outages_remind(core);
    if (core->sweeping) {
        sweep_go_on(core);
    } else {
        why_go_on(core);
        if (core->age_next > 0 && core->age_next <= now)
            priorities_age(core);
    }
    if ((core->plan_next > 0 && core->plan_next <= now) || preempt_next(core) <= now ||
        (core->gang_next > 0 && core->gang_next <= now))
        core->plan_wanted = true;
}

/* ---- the end of a turn ---- */

/* Passes that follow on each other because suspended jobs gave their CPUs at once. */
#define PLANS_PER_TURN 4

static void write_dirty(struct core *core) {
    list_each (&core->dirty_jobs, at) {
        struct core_job *job = list_entry(at, struct core_job, dirty);
        list_remove(&job->dirty);
        emit_put(core, STORE_JOB, job->rec.job_id, &record_job, &job->rec);
        job->stored = true;
    }
    list_each (&core->dirty_steps, at) {
        struct core_step *step = list_entry(at, struct core_step, dirty);
        list_remove(&step->dirty);
        emit_put(core, STORE_STEP, (uint64_t) step->rec.job_id << 32 | step->rec.step_id,
                 &record_step, &step->rec);
        step->stored = true;
    }
    list_each (&core->dirty_nodes, at) {
        struct core_node *node = list_entry(at, struct core_node, dirty);
        list_remove(&node->dirty);
        outage_tell(core, node);
        emit_put(core, STORE_NODE, hash_bytes(node->rec.name, strlen(node->rec.name), 0) >> 1,
                 &record_node, &node->rec);
    }
    list_each (&core->dirty_partitions, at) {
        struct core_partition *part = list_entry(at, struct core_partition, dirty);
        list_remove(&part->dirty);
        emit_put(core, STORE_PARTITION, partition_store_id(part), &record_partition, &part->rec);
        part->stored = true;
    }
    reservations_write(core);
    usage_write(core);
    if (core->meta_dirty) {
        core->meta_dirty = false;
        string_set(&core->meta.cluster, core->settings.cluster);
        emit_put(core, STORE_META, META_ID, &record_core_meta, &core->meta);
    }
}

void core_turn_end(struct core *core, int64_t now, struct effects *out) {
    core->now = now;
    core->out = out;
    if (core->reservations_check)
        reservations_tick(core);
    if (core->reservations_repair)
        reservations_repair(core);
    if (core->reboots_wanted)
        reboots_run(core);
    depend_run(core);
    if (core->plan_wanted && !core->sweeping)
        plan_run(core);
    for (int more = 0; core->plan_again && more < PLANS_PER_TURN; more++)
        plan_run(core);
    alloc_answer_fresh(core);
    triggers_run(core);
    write_dirty(core);
}

const char *core_stored_cluster(const struct core *core) {
    return core->meta.cluster;
}

const struct job *core_job(const struct core *core, uint32_t job_id) {
    const struct core_job *job = job_find(core, job_id);
    return job != NULL ? &job->rec : NULL;
}

const struct job *core_job_named(struct core *core, const char *text) {
    job_ptrs jobs = {0};
    const struct job *found = NULL;
    if (job_select_id(core, text, NULL, &jobs) == 0 && jobs.n > 0)
        found = &jobs.items[0]->rec;
    vec_done(&jobs);
    return found;
}

uint32_t core_next_job_id(const struct core *core) {
    return max_of(core->meta.next_job_id, core->settings.first_job_id);
}

uint32_t core_job_count(const struct core *core) {
    return (uint32_t) core->n_jobs;
}

void core_work(const struct core *core, uint64_t *ret_passes, uint64_t *ret_candidates) {
    *ret_passes = core->n_passes;
    *ret_candidates = core->n_candidates;
}

void core_counters(const struct core *core, struct core_counters *ret) {
    *ret = (struct core_counters) {.submitted = core->n_submitted,
                                   .started = core->n_started,
                                   .ended = core->n_completed,
                                   .passes = core->n_passes,
                                   .candidates = core->n_candidates,
                                   .failed = core->n_failed,
                                   .cancelled = core->n_cancelled,
                                   .backfilled = core->n_backfilled,
                                   .promises_broken = core->n_broken};
    jobs_each (core, job) {
        ret->pending += job_is_pending(job);
        ret->running += job_has_nodes(job);
    }
}
