/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coming back from the store: records are taken in any order, linked when all are there, and put on
 * their nodes and into the planner's view once the configuration is known.
 */
#include <string.h>

#include "core/habit.h"

/* ---- taking records in ---- */

static int restore_meta(struct core *core, struct bytes body, struct error *err) {
    struct arena arena;
    arena_init(&arena, 0);
    struct core_meta meta;
    int r = wire_decode(&record_core_meta, body, &arena, &meta, err);
    if (r == 0) {
        record_done(&record_core_meta, &core->meta);
        record_copy(&record_core_meta, &core->meta, &meta);
    }
    arena_done(&arena);
    return r;
}

static int restore_job(struct core *core, struct bytes body, struct error *err) {
    struct arena arena;
    arena_init(&arena, 0);
    struct job rec;
    int r = wire_decode(&record_job, body, &arena, &rec, err);
    if (r == 0 && names_text(&names_job_state, rec.state) == NULL)
        r = error_set(err, ERR_VERSION,
                      "job %u is stored in state %u, which this release does not know: it was "
                      "written by a newer one",
                      rec.job_id, rec.state);
    if (r == 0 && rec.job_id != 0) {
        struct core_job *job = job_new(core, rec.job_id);
        record_done(&record_job, &job->rec);
        record_copy(&record_job, &job->rec, &rec);
        if (job->rec.array_tasks != NULL)
            (void) !idset_parse(&job->tasks, job->rec.array_tasks, UINT32_MAX - 2, NULL, NULL);
        if (job_runs_script(job))
            job->script_id = rec.array_job_id != 0 ? rec.array_job_id : rec.job_id;
        job->stored = true;
        core->generation = max_of(core->generation, rec.generation);
        job_link(core, job);
    }
    arena_done(&arena);
    return r;
}

/* Nodes, partitions and steps need what the configuration or other records say: kept until all are
 * in. */
static int restore_later(const struct record *record, struct bytes body, void **ret,
                         struct error *err) {
    struct arena arena;
    arena_init(&arena, 0);
    void *object = arena_alloc(&arena, record->size);
    int r = wire_decode(record, body, &arena, object, err);
    if (r == 0)
        *ret = record_dup(record, object);
    arena_done(&arena);
    return r;
}

/* Records that are kept as they are until all are in, or belong to a part of the core. The function
 * owns the record. */
static void keep_step(struct core *core, void *object) {
    vec_push(&core->stored_steps, object);
}
static void keep_node(struct core *core, void *object) {
    vec_push(&core->stored_nodes, object);
}
static void keep_partition(struct core *core, void *object) {
    vec_push(&core->stored_partitions, object);
}
static void take_habit(struct core *core, void *object) {
    habit_restore(core, object);
    record_free(&record_habit, object);
}
static void take_trigger(struct core *core, void *object) {
    trigger_restore(core, object);
}
static void take_crontab(struct core *core, void *object) {
    crontab_restore(core, object);
}
static void take_usage(struct core *core, void *object) {
    usage_restore(core, object);
    free(object);
}
static void take_reservation(struct core *core, void *object) {
    reservation_restore(core, object);
    free(object);
}

static const struct {
    uint32_t store_kind;
    const struct record *record;
    void (*receive)(struct core *core, void *object);
} restored[] = {
    {STORE_STEP, &record_step, keep_step},
    {STORE_NODE, &record_node, keep_node},
    {STORE_PARTITION, &record_partition, keep_partition},
    {STORE_HABIT, &record_habit, take_habit},
    {STORE_TRIGGER, &record_trigger, take_trigger},
    {STORE_CRONTAB, &record_crontab, take_crontab},
    {STORE_USAGE, &record_assoc_usage, take_usage},
    {STORE_RESERVATION, &record_reservation, take_reservation},
};

static int restore_book(struct core *core, uint32_t kind, struct bytes body, struct error *err) {
    void *object = NULL;
    int r = restore_later(assoc_record(kind), body, &object, err);
    if (r == 0)
        assoc_book_restore(&core->book, kind, object);
    return r;
}

static int restore_other(struct core *core, uint32_t store_kind, struct bytes body,
                         struct error *err) {
    void *object = NULL;
    for (size_t i = 0; i < countof(restored); i++) {
        if (restored[i].store_kind != store_kind)
            continue;
        int r = restore_later(restored[i].record, body, &object, err);
        if (r == 0)
            restored[i].receive(core, object);
        return r;
    }
    return error_set(err, ERR_VERSION,
                     "the store holds a record of kind %u, which this release does not know: it "
                     "was written by a newer one",
                     store_kind);
}

int core_restore(struct core *core, uint32_t store_kind, uint64_t id, struct bytes body,
                 struct error *err) {
    (void) id;
    switch (store_kind) {
    case STORE_META:
        return restore_meta(core, body, err);
    case STORE_JOB:
        return restore_job(core, body, err);
    case STORE_JOB_SCRIPT:
    case STORE_KEPT_SCRIPT:
        return 0;
    case STORE_QOS:
    case STORE_ACCOUNT:
    case STORE_ACCT_USER:
    case STORE_ASSOC:
        return restore_book(core, assoc_kind_of_store(store_kind), body, err);
    default:
        return restore_other(core, store_kind, body, err);
    }
}

/* ---- linking them ---- */

static void restore_node(struct core *core, const struct node *stored) {
    uint32_t index = core_node_find(core, stored->name);
    if (index == UINT32_MAX)
        return;
    struct core_node *node = &core->nodes[index];
    const uint32_t kept = NODE_FLAG_DRAIN | NODE_FLAG_FAIL | NODE_FLAG_INVALID_REG |
                          NODE_FLAG_REBOOT_REQUESTED | NODE_FLAG_REBOOT_ISSUED;
    node->rec.flags = (node->rec.flags & ~kept) | (stored->flags & kept);
    if (stored->state == NODE_DOWN)
        node->rec.state = NODE_DOWN;
    string_set(&node->rec.reason, stored->reason);
    string_set(&node->rec.reason_user, stored->reason_user);
    node->rec.reason_uid = stored->reason_uid;
    node->rec.reason_time = stored->reason_time;
    node_keep_outage(&node->rec, stored);
    core->reboots_wanted |= stored->flags & NODE_FLAG_REBOOT_REQUESTED;
    string_set(&node->rec.comment, stored->comment);
    string_set(&node->rec.extra, stored->extra);
    string_set(&node->rec.boot_id, stored->boot_id);
    node->rec.boot_time = stored->boot_time;
    node->rec.last_busy = stored->last_busy;
    if (stored->weight != 0)
        node->rec.weight = stored->weight;
    node->stored = true;
}

static void restore_step(struct core *core, struct step *stored) {
    struct core_job *job = job_find(core, stored->job_id);
    if (job == NULL)
        return;
    struct core_step *step = zalloc(struct core_step);
    step->rec = *stored; /* takes over the members */
    record_init(&record_step, stored);
    step->job = job;
    step->stored = true;
    list_init(&step->link);
    list_init(&step->dirty);
    list_append(&job->steps, &step->link);
    step->n_nodes = step->rec.allocation.n;
    step->nodes = xcalloc(step->n_nodes + 1, sizeof(uint32_t));
    step->node_done = xcalloc(step->n_nodes + 1, sizeof(bool));
    for (size_t i = 0; i < step->n_nodes; i++) {
        for (uint32_t k = 0; k < job->rec.allocation.n; k++) {
            if (str_equal(job->rec.allocation.items[k].name, step->rec.allocation.items[i].name))
                step->nodes[i] = k;
        }
    }
    step->rec.nodes_left = (uint32_t) step->n_nodes;
}

void restore_free(struct core *core) {
    for (size_t i = 0; i < core->stored_nodes.n; i++)
        record_free(&record_node, core->stored_nodes.items[i]);
    for (size_t i = 0; i < core->stored_partitions.n; i++)
        record_free(&record_partition, core->stored_partitions.items[i]);
    for (size_t i = 0; i < core->stored_steps.n; i++)
        record_free(&record_step, core->stored_steps.items[i]);
    vec_done(&core->stored_nodes);
    vec_done(&core->stored_partitions);
    vec_done(&core->stored_steps);
}

static void restore_links(struct core *core) {
    for (size_t i = 0; i < core->stored_nodes.n; i++)
        restore_node(core, core->stored_nodes.items[i]);
    for (size_t i = 0; i < core->stored_partitions.n; i++)
        partition_restore(core, core->stored_partitions.items[i]);
    for (size_t i = 0; i < core->stored_steps.n; i++)
        restore_step(core, core->stored_steps.items[i]);
    if (core->stored_partitions.n > 0)
        node_partitions(core);
    restore_free(core);
}

void core_restored(struct core *core, int64_t now, struct effects *out) {
    core->now = now;
    core->out = out;
    core->restoring = false;
    capacity_tell(core);
    restore_links(core);
    outages_restored(core); /* as the nodes are by what was stored of them */
    usage_restored(core);
    shares_outdate(core);
    priorities_outdate(core);
    predict_restored(core);
    habits_restored(core);
    sched_rebuild(core); /* partitions may have another state now */
    jobs_each (core, job) {
        if (job_is_pending(job))
            depend_restore(core, job);
        if (job->rec.kind != JOB_KIND_BATCH && !job->rec.no_shell && job_has_nodes(job))
            job->orphan_deadline = now + 120; /* its command will be back by then */
        if (job->rec.kind != JOB_KIND_BATCH && !job->rec.no_shell && job_is_pending(job))
            job->immediate_deadline = now + 120;
    }
    preempt_restored(core);
    paused_restored(core);
    triggers_restored(core);
    limits_tell(core);
    place_jobs_again(core);
    reservations_tick(core);
    jobs_each (core, job) {
        prolog_restored(core, job);
        job_arm(core, job);
    }
    for (uint32_t i = 0; i < core->n_nodes; i++) {
        core->nodes[i].lost_at = now;
        if (core->nodes[i].rec.state != NODE_FUTURE)
            heap_push(&core->node_timers, &core->nodes[i].timer,
                      now + min_of(core->settings.slurmd_timeout, (int64_t) 30), i);
    }
}
