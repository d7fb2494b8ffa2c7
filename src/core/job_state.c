/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a job. One place changes a state, and it asserts that the change is one of the table
 * below; what a change brings with it (nodes told, waiters answered, the planner's view, timers) is
 * done by the function that the change is named after.
 */
#include <assert.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "core/habit.h"

#define BIT(state) (1u << JOB_##state)
#define ENDS                                                                                       \
    (BIT(COMPLETED) | BIT(CANCELLED) | BIT(FAILED) | BIT(TIMEOUT) | BIT(NODE_FAIL) |               \
     BIT(PREEMPTED) | BIT(BOOT_FAIL) | BIT(DEADLINE) | BIT(OUT_OF_MEMORY))

/* From a state to the states that may follow it. A finished job goes back to PENDING only by being
 * requeued. */
static const uint32_t transitions[] = {
    [JOB_PENDING] = BIT(RUNNING) | ENDS,
    [JOB_RUNNING] = BIT(PENDING) | BIT(SUSPENDED) | ENDS,
    [JOB_SUSPENDED] = BIT(PENDING) | BIT(RUNNING) | ENDS,
    [JOB_COMPLETED] = BIT(PENDING),
    [JOB_CANCELLED] = BIT(PENDING),
    [JOB_FAILED] = BIT(PENDING),
    [JOB_TIMEOUT] = BIT(PENDING),
    [JOB_NODE_FAIL] = BIT(PENDING),
    [JOB_PREEMPTED] = BIT(PENDING),
    [JOB_BOOT_FAIL] = BIT(PENDING),
    [JOB_DEADLINE] = BIT(PENDING),
    [JOB_OUT_OF_MEMORY] = BIT(PENDING),
};

static void set_state(struct core *core, struct core_job *job, enum job_state state) {
    assert(job->rec.state < countof(transitions));
    assert(transitions[job->rec.state] & (1u << state));
    job->rec.state = state;
    limits_count(core, job);
    job_touch(core, job);
}

bool job_is_held(const struct core_job *job) {
    return job->rec.state == JOB_PENDING && job->rec.priority == 0;
}

/* ---- timers ---- */

static int64_t earlier(int64_t a, int64_t b) {
    return b > 0 && b < a ? b : a;
}

static int64_t limit_end(struct core *core, const struct core_job *job) {
    const struct core_partition *part = partition_find(core, job->rec.partition, NULL);
    int64_t over = core->settings.over_time_limit;
    if (part != NULL && part->rec.over_time_limit != UNSET32)
        over = part->rec.over_time_limit == MINUTES_INFINITE
                   ? -1
                   : (int64_t) part->rec.over_time_limit * 60;
    return job->rec.end_time == 0 || over < 0 ? 0 : job->rec.end_time + over;
}

static int64_t running_due(struct core *core, struct core_job *job) {
    int64_t due = INT64_MAX;
    due = earlier(due, limit_end(core, job));
    if (job->rec.signal != 0 && !job->rec.warned && job->rec.end_time > 0)
        due = earlier(due,
                      max_of(job->rec.end_time - (int64_t) job->rec.signal_seconds, (int64_t) 1));
    due = earlier(due, mail_due(job));
    due = earlier(due, job->orphan_deadline);
    due = earlier(due, job->rec.preempt_end);
    due = earlier(due, job->reservation_deadline);
    due = earlier(due, gpu_idle_due(core, job));
    return earlier(due, job->rec.deadline);
}

/* The first second in which a waiting job cannot end by its deadline any more, with the shortest
 * limit that it may get; 0 without a deadline. */
static int64_t deadline_missed(struct core *core, const struct core_job *job) {
    if (job->rec.deadline == 0)
        return 0;
    int64_t shortest = job_shortest_limit(core, &job->rec);
    return shortest < SCHED_FOREVER ? max_of(job->rec.deadline - shortest + 1, (int64_t) 1)
                                    : job->rec.deadline;
}

static int64_t pending_due(struct core *core, const struct core_job *job) {
    int64_t due = earlier(earlier(INT64_MAX, deadline_missed(core, job)), job->immediate_deadline);
    return earlier(earlier(due, job->depends_due), failure_due(job));
}

/* Its end, or that of the last component; 0: that is not known yet. */
static int64_t last_end(const struct core_job *job) {
    return job->het != NULL ? het_last_end(job) : job->rec.end_time;
}

void job_arm(struct core *core, struct core_job *job) {
    int64_t due = INT64_MAX;
    if (job->rec.state == JOB_RUNNING)
        due = running_due(core, job);
    else if (job->rec.state == JOB_SUSPENDED)
        due = earlier(earlier(due, job->orphan_deadline), job->stop_due);
    else if (job->rec.state == JOB_PENDING)
        due = pending_due(core, job);
    else if (!(job->rec.flags & JOB_FLAG_COMPLETING) && core->settings.min_job_age > 0)
        due = last_end(job) == 0 ? INT64_MAX : last_end(job) + core->settings.min_job_age;
    heap_remove(&core->timers, &job->timer);
    if (due != INT64_MAX)
        heap_push(&core->timers, &job->timer, due, job->rec.job_id);
}

static void pending_timer(struct core *core, struct core_job *job) {
    if (job->depends_due > 0 && core->now >= job->depends_due) {
        job->depends_due = 0;
        sched_sync(core, job);
    }
    if (failure_due(job) > 0 && core->now >= failure_due(job)) {
        job->rec.trouble->avoid_until = 0;
        job_touch(core, job);
        sched_sync(core, job);
    }
    if (job->rec.deadline > 0 && core->now >= deadline_missed(core, job)) {
        job_finish(core, job, JOB_DEADLINE, REASON_DEADLINE, 0, NULL);
    } else if (job->immediate_deadline > 0 && core->now >= job->immediate_deadline) {
        vec_each (&job->waiters, waiter)
            emit_error(core, waiter->client, waiter->seq, -ERR_NODES_BUSY, NULL);
        vec_reset(&job->waiters);
        job_finish(core, job, JOB_CANCELLED, REASON_NONE, 0, NULL);
    }
}

void job_timer(struct core *core, struct core_job *job) {
    if (job_state_is_final(job->rec.state)) {
        job_forget(core, job);
        return;
    }
    if (job_is_pending(job)) {
        pending_timer(core, job);
        job_arm(core, job);
        return;
    }
    if (job->rec.state == JOB_RUNNING)
        mail_parts(core, job);
    int64_t limit = limit_end(core, job);
    int64_t warn = job->rec.end_time - (int64_t) job->rec.signal_seconds;
    if (job->orphan_deadline > 0 && core->now >= job->orphan_deadline) {
        job_finish(core, job, JOB_CANCELLED, REASON_INACTIVE_LIMIT, 0, "");
    } else if (job->rec.preempt_end > 0 && core->now >= job->rec.preempt_end) {
        preempt_finish(core, job);
    } else if (job->rec.state == JOB_RUNNING &&
               ((limit > 0 && core->now >= limit) ||
                (job->reservation_deadline > 0 && core->now >= job->reservation_deadline))) {
        job_notify(core, job, ALLOC_TIMEOUT, NULL, 0);
        job_finish(core, job, JOB_TIMEOUT, REASON_TIME_LIMIT, 0, "DUE TO TIME LIMIT");
    } else if (job->rec.deadline > 0 && core->now >= job->rec.deadline) {
        job_finish(core, job, JOB_DEADLINE, REASON_DEADLINE, 0, "DUE TO DEADLINE");
    } else if (job->rec.signal != 0 && !job->rec.warned && job->rec.end_time > 0 &&
               core->now >= warn) {
        job_warn(core, job);
    } else {
        gpu_idle_check(core, job);
    }
    if (job->stop_due > 0 && core->now >= job->stop_due)
        job_stop_now(core, job);
    job_arm(core, job);
}

/* A suspended job keeps its memory and devices; its CPUs are free for others. */
static void give_cpus(struct core *core, struct core_job *job, bool suspended) {
    job->rec.cpus_given = suspended;
    sched_run_suspend(core->sched, job->rec.job_id, suspended);
    for (uint32_t i = 0; i < job_n_entries(&job->rec); i++) {
        const struct job_node *entry = job_entry(&job->rec, i);
        if (entry->released)
            continue;
        assign_cores(core, entry, !suspended);
        core->nodes[entry->node].n_given += suspended ? 1u : -1u;
        node_cpus_add(core, entry->node,
                      suspended ? -(int64_t) entry->cpus : (int64_t) entry->cpus);
        node_update_state(core, entry->node);
    }
}

/* ---- nodes that are lost ---- */

/* Of nodes that have been given up no answer is awaited: what they held is free now. */
static void release_lost_nodes(struct core *core, struct core_job *job) {
    for (uint32_t i = 0; i < job->rec.allocation.n; i++) {
        const struct job_node *entry = &job->rec.allocation.items[i];
        if (entry->released || core->nodes[entry->node].rec.state != NODE_DOWN)
            continue;
        node_await_clean(core, entry->node, job);
        job_node_clean(core, job, entry->node);
    }
}

/* ---- start ---- */

static void fill_allocation(struct core *core, struct core_job *job,
                            const struct sched_start *start) {
    bool bound = job->rec.gres_flags == NULL ||
                 !str_has_word_nocase(job->rec.gres_flags, "disable-binding", ",");
    job->rec.allocation.items = xcalloc(start->n_allocs, sizeof(struct job_node));
    job->rec.allocation.n = (uint32_t) start->n_allocs;
    list_append(&core->placed, &job->placed);
    for (size_t i = 0; i < start->n_allocs; i++) {
        struct job_node *entry = &job->rec.allocation.items[i];
        record_init(&record_job_node, entry);
        assign_take(core, entry, &start->allocs[i], bound);
        cards_taken(core, entry, &start->allocs[i]);
        struct core_node *node = &core->nodes[entry->node];
        node->n_jobs++;
        vec_push(&node->jobs, job->rec.job_id);
        node_cpus_add(core, entry->node, entry->cpus);
        node->rec.alloc_mem += entry->mem;
        node_update_state(core, entry->node);
    }
    job->nodes_busy = (uint32_t) start->n_allocs;
}

static void sum_tres(struct core *core, struct core_job *job) {
    uint64_t mem = 0, totals[SCHED_GRES_KINDS] = {0};
    for (uint32_t i = 0; i < job->rec.allocation.n; i++) {
        struct sched_alloc alloc;
        alloc_from_entry(core, &job->rec.allocation.items[i], &alloc);
        mem += job->rec.allocation.items[i].mem;
        for (size_t k = 0; k < core->n_kinds; k++)
            totals[k] += alloc.gres[k];
    }
    struct str gres cleanup_str = STR_INIT;
    gres_accounts_print(core, totals, &gres);
    job->rec.billing = billing_of(core, job->rec.partition, job->rec.num_cpus, mem,
                                  job->rec.num_nodes, str_cstr(&gres));
    free(job->rec.tres_alloc);
    job->rec.tres_alloc = tres_text(job->rec.num_cpus, mem, job->rec.num_nodes, str_cstr(&gres),
                                    (uint64_t) job->rec.billing);
}

void job_sum_allocation(struct core *core, struct core_job *job) {
    struct hostlist names cleanup_hostlist = HOSTLIST_INIT;
    struct str folded cleanup_str = STR_INIT;
    job->rec.num_cpus = 0;
    job->rec.ntasks_total = 0;
    for (uint32_t i = 0; i < job->rec.allocation.n; i++) {
        const struct job_node *entry = &job->rec.allocation.items[i];
        job->rec.num_cpus += entry->cpus;
        job->rec.ntasks_total += entry->ntasks;
        hostlist_push(&names, entry->name);
    }
    hostlist_fold(&names, &folded);
    string_set(&job->rec.nodes, str_cstr(&folded));
    string_set(&job->rec.batch_host, job->rec.allocation.items[0].name);
    job->rec.num_nodes = job->rec.allocation.n;
    sum_tres(core, job);
}

static void note_provenance(struct core_job *job, const struct sched_start *start) {
    string_set(&job->rec.scheduler, start->backfilled ? "Backfill" : "Main");
    struct str text cleanup_str = STR_INIT;
    if (start->backfilled)
        str_printf(&text, "backfilled past job %u", start->backfilled_past);
    else
        str_append(&text, "in order");
    string_set(&job->rec.provenance, str_cstr(&text));
}

/* The controller's log tells the life of every job. */
static void log_start(struct core *core, const struct core_job *job) {
    emit_log(core, EFFECT_INFO, "job %u of uid %u starts on %s in partition %s: %u CPUs, %s",
             job->rec.job_id, job->rec.uid, job->rec.nodes, job->rec.partition, job->rec.num_cpus,
             job->rec.provenance);
}

static void log_end(struct core *core, const struct core_job *job, bool has_run) {
    const char *state = names_text(&names_job_state, job->rec.state);
    if (has_run)
        emit_log(core, EFFECT_INFO, "job %u ends: %s, exit code %u:%u, after %" PRId64 " s",
                 job->rec.job_id, state, job->rec.exit_status >> 8, job->rec.exit_status & 0x7f,
                 job->rec.end_time - job->rec.start_time);
    else
        emit_log(core, EFFECT_INFO, "job %u ends: %s, without a start", job->rec.job_id, state);
}

/* The number that the accounting knows a run by. It begins with the time, so that those of a state
 * that was made anew are above those of the one before it. */
void job_number_run(struct core *core, struct core_job *job) {
    job->rec.db_index = max_of(core->meta.next_db_index, (uint64_t) core->now << 20);
    core->meta.next_db_index = job->rec.db_index + 1;
    core->meta_dirty = true;
}

void job_start(struct core *core, struct core_job *job, const struct sched_start *start) {
    assert(job_is_pending(job) && job->rec.flags == 0);
    sched_job_remove(core->sched, job->rec.job_id);
    job->in_sched = false;
    string_set(&job->rec.partition, core->partitions[start->partition].rec.name);
    set_state(core, job, JOB_RUNNING);
    job->rec.reason = REASON_NONE;
    string_set(&job->rec.state_desc, NULL);
    string_set(&job->rec.sched_nodes, NULL);
    if (core->partitions[start->partition].exclusive_node)
        job->rec.oversubscribe = OVERSUB_NO; /* for the listings; the planner knows the partition */
    job->rec.attempt++;
    job_number_run(core, job);
    job->rec.start_time = core->now;
    array_started(job);
    job->rec.suspend_time = 0;
    string_set(&job->rec.suspended_by, NULL);
    job->rec.pre_suspend_seconds = 0;
    job_resize_forget(&job->rec);
    job->rec.last_sched_eval = core->now;
    if (job->rec.accrue_time == 0 && !core->limits.ages)
        job->rec.accrue_time = job->rec.eligible_time;
    job->rec.end_time = start->limit == SCHED_FOREVER ? 0 : core->now + start->limit;
    if (start->limit != SCHED_FOREVER && job->rec.time_limit != UNSET32)
        job->rec.time_limit = (uint32_t) ((start->limit + 59) / 60);
    job->rec.warned = false;
    job->rec.mail_told = 0;
    job->rec.preempted_by = 0;
    job->rec.preempt_end = 0;
    job->rec.cpus_given = false;
    if (job->rec.queue_head) {
        job->rec.queue_head = false;
        job->rec.priority = priority_compute(core, job);
    }
    fill_allocation(core, job, start);
    job_sum_allocation(core, job);
    const struct assoc *assoc = assoc_for_job(core, &job->rec);
    job->rec.assoc_id = assoc != NULL ? assoc->id : 0;
    usage_run_begins(core, job);
    note_provenance(job, start);
    log_start(core, job);
    job->reservation_deadline = 0;
    job_enters_reservation(core, job, start->reservation);
    sched_sync_run(core, job, start->partition, start->allocs, start->n_allocs);
    job->immediate_deadline = 0;
    core->n_started++;
    depend_note(core, job); /* seen at the end of the pass: "after:ID" */
    mail_event(core, job, MAIL_BEGIN);
    prolog_begin(core, job);
    job_arm(core, job);
    job_tell_database(core, job);
}

void job_launch_again(struct core *core, struct core_job *job) {
    if (job->rec.state == JOB_RUNNING && (job->rec.flags & JOB_FLAG_CONFIGURING) &&
        prolog_allows_launch(core, job) && (job->het == NULL || het_all_ready(core, job)))
        job_send_launch(core, job);
}

void job_running(struct core *core, struct core_job *job) {
    if (!(job->rec.flags & JOB_FLAG_CONFIGURING) ||
        (job->rec.scripts & (JOB_SCRIPT_PROLOG | JOB_SCRIPT_NODES)))
        return;
    job->rec.flags &= ~(uint32_t) JOB_FLAG_CONFIGURING;
    job->rec.launch_failures = 0;
    job_touch(core, job);
}

/* ---- end ---- */

static void all_nodes_clean(struct core *core, struct core_job *job) {
    steps_end_all(core, job);
    job->rec.flags &= ~(uint32_t) (JOB_FLAG_COMPLETING | JOB_FLAG_REQUEUED);
    job_touch(core, job);
    assert(job->rec.leaving.n == 0);
    if (job_is_pending(job)) { /* requeued: what the last run held is forgotten */
        step_forget_all(core, job);
        for (uint32_t i = 0; i < job->rec.allocation.n; i++)
            record_done(&record_job_node, &job->rec.allocation.items[i]);
        free(job->rec.allocation.items);
        job->rec.allocation.items = NULL;
        job->rec.allocation.n = 0;
        free(job->rec.leaving.items);
        job->rec.leaving.items = NULL;
        list_remove(&job->placed);
        string_set(&job->rec.nodes, NULL);
        string_set(&job->rec.batch_host, NULL);
        string_set(&job->rec.tres_alloc, NULL);
        job_estimate_size(core, &job->rec);
        sched_sync(core, job);
    } else if (cron_goes_on(core, job)) {
        return;
    } else {
        job_tell_database(core, job);
        het_clean(core, job);
    }
    singleton_joins(core, job); /* requeued, it is one of those who wait again */
    depend_job_changed(core, job);
    job_arm(core, job);
}

void job_nodes_gone(struct core *core, struct core_job *job) {
    if ((job->rec.flags & JOB_FLAG_COMPLETING) && job->nodes_busy == 0 && prolog_is_over(job))
        all_nodes_clean(core, job);
}

/* What a reason's name alone does not tell: "RaisedSignal:9(Killed)". NULL: nothing more. */
static char *reason_text(enum job_reason reason, uint32_t exit_status) {
    if (reason != REASON_RAISED_SIGNAL)
        return NULL;
    int number = (int) (exit_status & 0x7f);
    const char *what = sigdescr_np(number);
    return xasprintf("%s:%d(%s)", names_text(&names_job_reason, reason), number,
                     what != NULL ? what : "Unknown signal");
}

/* The clock of this life of the controller may be behind that of an earlier one. */
static int64_t run_end(const struct core *core, const struct core_job *job) {
    return max_of(core->now, job->rec.start_time);
}

/* The pause of a job that ends while it is suspended ends with it, so that it counts as one. */
static void end_pause(struct core_job *job, int64_t end) {
    if (job->rec.state == JOB_SUSPENDED)
        job->rec.suspend_time = end;
}

/* From now on its nodes only clean up. */
static void begin_completing(struct core *core, struct core_job *job) {
    job->rec.flags |= JOB_FLAG_COMPLETING;
    array_recount(core, job);
    for (uint32_t i = 0; i < job->rec.allocation.n; i++) {
        const struct job_node *entry = &job->rec.allocation.items[i];
        if (entry->released)
            continue;
        core->nodes[entry->node].n_completing++;
        node_update_state(core, entry->node);
    }
}

void job_finish(struct core *core, struct core_job *job, enum job_state state,
                enum job_reason reason, uint32_t exit_status, const char *why) {
    bool had_nodes = job_has_nodes(job);
    int64_t end = had_nodes ? run_end(core, job) : core->now;
    end_pause(job, end);
    set_state(core, job, state);
    job->rec.paused = false;
    job->rec.reason = reason;
    free(job->rec.state_desc);
    job->rec.state_desc = reason_text(reason, exit_status);
    job->rec.exit_status = exit_status;
    job->rec.end_time = end;
    usage_run_ends(core, job, job->rec.end_time);
    log_end(core, job, had_nodes);
    job->rec.flags &= ~(uint32_t) (JOB_FLAG_CONFIGURING | JOB_FLAG_REQUEUE_HOLD |
                                   JOB_FLAG_SPECIAL_EXIT | JOB_FLAG_STOPPED);
    core->reservations_check |= job->rec.reservation != NULL;
    predict_learn(core, &job->rec);
    habit_learn(core, &job->rec);
    if (had_nodes)
        failure_run_ended(core, job);
    core->n_completed++;
    core->n_failed += state == JOB_FAILED || state == JOB_TIMEOUT || state == JOB_NODE_FAIL ||
                      state == JOB_OUT_OF_MEMORY || state == JOB_BOOT_FAIL;
    core->n_cancelled += state == JOB_CANCELLED;
    if (had_nodes)
        mail_end(core, job);
    if (had_nodes) {
        sched_run_budgets(core->sched, job->rec.job_id, NULL, 0);
        begin_completing(core, job);
        if (state == JOB_NODE_FAIL)
            steps_end_all(core, job);
        steps_fail_waiting(core, job, -ERR_ALREADY_DONE);
        job_terminate_nodes(core, job, why);
        prolog_end(core, job);
        preempt_ends(core, job);
        job_answer_waiters(core, job);
        release_lost_nodes(core, job);
        job_nodes_gone(core, job);
    } else {
        if (!(job->rec.flags & JOB_FLAG_COMPLETING)) {
            job->rec.start_time = core->now;
            (void) cron_goes_on(core, job); /* it does not: it has ended while it waited */
        }
        if (job->rec.db_index == 0) /* it has never run */
            job_number_run(core, job);
        job_answer_waiters(core, job);
        job_tell_database(core, job);
    }
    sched_sync(core, job);
    depend_job_changed(core, job);
    if (job->rec.array_job_id != 0)
        array_tasks_changed(core, job);
    job_arm(core, job);
    het_ended(core, job, had_nodes, why);
}

/* What the job holds on a node is the node's again. */
void job_entry_give_back(struct core *core, struct core_job *job, struct job_node *entry,
                         bool completing) {
    struct core_node *holder = &core->nodes[entry->node];
    entry->released = true;
    job->nodes_busy--;
    if (!job->rec.cpus_given)
        assign_cores(core, entry, false);
    assign_gres(core, entry, false);
    holder->n_jobs--;
    holder->n_given -= job->rec.cpus_given;
    node_forget_job(holder, job->rec.job_id);
    holder->n_completing -= completing;
    if (!job->rec.cpus_given)
        node_cpus_add(core, entry->node, -(int64_t) entry->cpus);
    holder->rec.alloc_mem -= entry->mem;
    holder->rec.last_busy = core->now;
    sched_run_release_node(core->sched, job->rec.job_id, entry->node);
    node_update_state(core, entry->node);
    core->plan_wanted = true;
    job_touch(core, job);
}

void job_give_back(struct core *core, struct core_job *job, uint32_t node) {
    for (uint32_t i = 0; i < job->rec.allocation.n; i++) {
        struct job_node *entry = &job->rec.allocation.items[i];
        if (entry->node == node && !entry->released)
            job_entry_give_back(core, job, entry, job->rec.flags & JOB_FLAG_COMPLETING);
    }
}

void job_node_clean(struct core *core, struct core_job *job, uint32_t node) {
    job_leaving_clean(core, job, node);
    if (!(job->rec.flags & JOB_FLAG_COMPLETING))
        return;
    job_give_back(core, job, node);
    job_nodes_gone(core, job);
}

/* ---- requeue, hold, release ---- */

static void reset_for_queue(struct core *core, struct core_job *job) {
    job->rec.restarts++;
    job->rec.db_index = 0;
    if (job->rec.queue_head)
        job->rec.begin_time = core->now;
    else if (core->settings.requeue_delay > 0 || job->requeue_wait > 0)
        job->rec.begin_time = core->now + max_of(core->settings.requeue_delay, job->requeue_wait);
    job->requeue_wait = 0;
    if (cron_recurs(job))
        job->rec.begin_time = cron_begin(core, job);
    job->rec.eligible_time = max_of(core->now, job->rec.begin_time);
    job->rec.start_time = cron_recurs(job) ? job->rec.begin_time : 0;
    job->rec.end_time = 0;
    job->rec.exit_status = 0;
    job->rec.derived_exit = 0;
    job->rec.cancel_uid = UNSET32;
    job->rec.reason = REASON_NONE;
    job->rec.gpu_keep_until = job->rec.gpu_warned = 0;
    if (job->rec.magnetic)
        string_set(&job->rec.reservation, NULL);
    job->rec.magnetic = false;
    job->orphan_deadline = 0;
}

void job_requeue(struct core *core, struct core_job *job, bool hold, enum job_state history_state,
                 const char *why, enum job_reason held_reason) {
    bool had_nodes = job_has_nodes(job);
    bool was_completing = job->rec.flags & JOB_FLAG_COMPLETING;
    job->rec.paused = false;
    /* A hold put on while it ran takes effect now. */
    bool was_held = job->rec.priority == 0;
    if (had_nodes) {
        job->rec.end_time = run_end(core, job);
        end_pause(job, job->rec.end_time);
        usage_run_ends(core, job, job->rec.end_time);
        steps_end_all(core, job);
    }
    job_write_run(core, job, history_state);
    set_state(core, job, JOB_PENDING);
    job->rec.flags &= ~(uint32_t) (JOB_FLAG_CONFIGURING | JOB_FLAG_STOPPED);
    if (had_nodes) {
        job_terminate_nodes(core, job, why);
        prolog_end(core, job);
        preempt_ends(core, job);
    }
    if (!cron_recurs(job))
        mail_event(core, job, MAIL_REQUEUE);
    emit_log(core, EFFECT_INFO, "job %u is requeued%s: %s", job->rec.job_id,
             hold || was_held ? " and held" : "", names_text(&names_job_state, history_state));
    reset_for_queue(core, job);
    job->rec.priority = hold || was_held ? 0 : priority_compute(core, job);
    if (was_held && !hold)
        job->rec.reason = REASON_HELD_USER;
    if (hold) {
        job->rec.reason = held_reason;
        if (held_reason == REASON_LAUNCH_HELD || held_reason == REASON_REQUEUED_HELD)
            string_set(&job->rec.state_desc, names_text(&names_job_reason, held_reason));
    }
    if (had_nodes) {
        sched_run_budgets(core->sched, job->rec.job_id, NULL, 0);
        job->rec.flags |= JOB_FLAG_REQUEUED;
        begin_completing(core, job);
        release_lost_nodes(core, job);
        job_nodes_gone(core, job);
    } else if (!was_completing) {
        all_nodes_clean(core, job);
    }
    job_arm(core, job);
    het_requeued(core, job, hold, history_state, why, held_reason);
}

void job_hold(struct core *core, struct core_job *job, enum job_reason reason) {
    bool tells_more = job_is_held(job) && job->rec.state_desc != NULL; /* requeued and held */
    job->rec.priority = 0;
    if (job_is_pending(job) && !tells_more) {
        job->rec.reason = reason;
        string_set(&job->rec.state_desc, NULL);
        sched_sync(core, job);
    }
    job_touch(core, job);
}

void job_release(struct core *core, struct core_job *job) {
    if (job->rec.priority != 0 && !job_is_held(job)) {
        job->rec.priority = priority_compute(core, job);
        sched_sync(core, job);
        job_touch(core, job);
        return;
    }
    job->rec.hold = false;
    failure_forgive(job);
    job->rec.flags &=
        ~(uint32_t) (JOB_FLAG_SPECIAL_EXIT | JOB_FLAG_REQUEUE_HOLD | JOB_FLAG_RESV_DEL_HOLD);
    string_set(&job->rec.state_desc, NULL);
    if (job_is_pending(job))
        job->rec.reason = REASON_NONE;
    if (job->rec.accrue_time == 0) /* it has never waited for resources yet */
        job->rec.eligible_time = max_of(core->now, job->rec.begin_time);
    job->rec.priority = priority_compute(core, job);
    sched_sync(core, job);
    job_touch(core, job);
}

/* ---- suspend and resume ---- */

void job_suspend(struct core *core, struct core_job *job) {
    int64_t since = job->rec.suspend_time > 0 ? job->rec.suspend_time : job->rec.start_time;
    set_state(core, job, JOB_SUSPENDED);
    job->rec.pre_suspend_seconds += core->now - since;
    job->rec.suspend_time = core->now;
    usage_run_ends(core, job, core->now);
    /* Those who can may prepare for it. */
    job->stop_due = core->now + core->settings.suspend_grace;
    job_signal_all(core, job, core->settings.suspend_grace > 0 ? SIGTSTP : SIGSTOP);
    give_cpus(core, job, true);
    job_notify(core, job, ALLOC_SUSPENDED, NULL, 0);
    core->plan_wanted = true;
    job_arm(core, job);
}

void job_resume(struct core *core, struct core_job *job) {
    int64_t pause = core->now - job->rec.suspend_time;
    set_state(core, job, JOB_RUNNING);
    job->rec.paused = false;
    string_set(&job->rec.suspended_by, NULL);
    job->rec.suspend_time = core->now;
    usage_run_begins(core, job);
    if (job->rec.end_time > 0) {
        job->rec.end_time += pause;
        sched_run_end_time(core->sched, job->rec.job_id, job->rec.end_time);
    }
    give_cpus(core, job, false);
    preempt_sync_run(core, job); /* a new turn */
    job->stop_due = 0;
    job_launch_again(core, job); /* a node that came back meanwhile has not heard of it */
    job_signal_all(core, job, SIGCONT);
    job_notify(core, job, ALLOC_RESUMED, NULL, 0);
    job_arm(core, job);
}
