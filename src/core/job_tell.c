/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What others are told of a job: those who wait for it, and the nodes that it holds. Nothing of the
 * job changes here but what has been told.
 */
#include "core/state.h"
#include "text/timestamp.h"

/* ---- whoever waits for it ---- */

void job_notify(struct core *core, struct core_job *job, uint32_t what, const char *text,
                uint32_t signal) {
    if (job->owner_client == 0)
        return;
    struct alloc_notice notice;
    record_init(&record_alloc_notice, &notice);
    notice.job_id = job->rec.job_id;
    notice.what = what;
    notice.signal = signal;
    notice.text = (char *) (uintptr_t) text;
    emit_reply(core, job->owner_client, MSG_ALLOC_NOTICE, 0, 0, &notice);
}

static void answer_end(struct core *core, const struct core_job *job, const struct waiter *waiter) {
    if (waiter->what == WAIT_JOB_END) {
        struct job_end end = {.job_id = job->rec.job_id,
                              .state = job->rec.state,
                              .exit_status = job->rec.exit_status};
        emit_reply(core, waiter->client, MSG_JOB_END, 1, waiter->seq, &end);
    } else if (waiter->what == WAIT_ALLOC) {
        emit_error(core, waiter->client, waiter->seq, -ERR_ALREADY_DONE, NULL);
    }
}

void job_answer_waiters(struct core *core, struct core_job *job) {
    vec_each (&job->waiters, waiter)
        answer_end(core, job, waiter);
    vec_reset(&job->waiters);
    array_answer(core, job);
    if (job->owner_client != 0 && job->rec.state != JOB_TIMEOUT)
        job_notify(core, job, ALLOC_REVOKED, job_state_text(job->rec.state, 0), 0);
    job->owner_client = 0;
}

/* ---- its nodes: launch, signals ---- */

void job_send_launch(struct core *core, struct core_job *job) {
    uint32_t node = job->rec.allocation.items[0].node;
    if (!core->nodes[node].connected)
        return; /* sent when it registers */
    struct launch launch;
    record_init(&record_launch, &launch);
    uint32_t n = job->rec.allocation.n;
    uint32_t *tasks = arena_alloc(&core->out->memory, n * sizeof(uint32_t));
    for (uint32_t i = 0; i < n; i++)
        tasks[i] = job->rec.allocation.items[i].ntasks;
    struct str cpus_text cleanup_str = STR_INIT, tasks_text cleanup_str = STR_INIT;
    job_cpus_per_node(&job->rec, &cpus_text);
    counted_list_print(tasks, n, &tasks_text);
    launch.job = &job->rec;
    launch.attempt = job->rec.attempt;
    launch.job_cpus_per_node = cpus_text.data;
    launch.tasks_per_node = tasks_text.data;
    launch.components.items =
        arena_alloc(&core->out->memory, max_of(job->rec.het_size, 1u) * sizeof(struct job));
    het_each(job, other) job_brief(other, &launch.components.items[launch.components.n++]);
    struct effect *effect = emit(core, EFFECT_LAUNCH);
    effect->node = node;
    effect->id = job->script_id;
    effect->body = effect_encode(core, &record_launch, &launch);
    effect->history.job_id = job->rec.job_id;
}

void job_signal(struct core *core, const struct core_job *job, uint32_t number, uint32_t flags) {
    struct node_signal signal;
    record_init(&record_node_signal, &signal);
    signal.job_id = job->rec.job_id;
    signal.attempt = job->rec.attempt;
    signal.signal = number;
    signal.flags = flags;
    for (uint32_t i = 0; i < job->rec.allocation.n; i++)
        emit_node(core, job->rec.allocation.items[i].node, MSG_NODE_SIGNAL, &signal);
}

void job_signal_all(struct core *core, struct core_job *job, int number) {
    job_signal(core, job, (uint32_t) number, NODE_SIGNAL_BATCH | NODE_SIGNAL_GROUP);
}

void job_warn(struct core *core, struct core_job *job) {
    job_signal(core, job, job->rec.signal,
               job->rec.signal_flags & WARN_BATCH_ONLY ? NODE_SIGNAL_BATCH_ONLY : 0);
    job_notify(core, job, ALLOC_SIGNAL, NULL, job->rec.signal);
    job->rec.warned = true;
    job_touch(core, job);
}

void job_tell(struct core *core, struct core_job *job, const char *text) {
    struct node_signal signal;
    record_init(&record_node_signal, &signal);
    signal.job_id = job->rec.job_id;
    signal.attempt = job->rec.attempt;
    signal.step_id = STEP_BATCH;
    signal.flags = NODE_SIGNAL_BATCH_ONLY;
    signal.message = (char *) (uintptr_t) text;
    emit_node(core, job->rec.allocation.items[0].node, MSG_NODE_SIGNAL, &signal);
    job_notify(core, job, ALLOC_MESSAGE, text, 0);
}

/* ---- its nodes: the end ---- */

const char *job_cancel_text(struct core *core, const char *why) {
    if (why == NULL)
        return NULL;
    struct str text cleanup_str = STR_INIT;
    str_append(&text, "CANCELLED AT ");
    timestamp_print(core->now, NULL, core->now, &text);
    str_join(&text, " ", why);
    return arena_strndup(&core->out->memory, str_cstr(&text), text.length);
}

/* On one node, or on all: UNSET32. */
static void terminate(struct core *core, struct core_job *job, uint32_t node, const char *why) {
    struct job_terminate message = {.job_id = job->rec.job_id,
                                    .attempt = job->rec.attempt,
                                    .kill_wait = (uint32_t) core->settings.kill_wait,
                                    .message = (char *) (uintptr_t) job_cancel_text(core, why),
                                    .uid = job->rec.uid};
    struct str cpus cleanup_str = STR_INIT;
    if (core->settings.prolog.node)
        job_cpus_per_node(&job->rec, &cpus);
    message.cpus_per_node = cpus.data;
    for (uint32_t i = 0; i < job_n_entries(&job->rec); i++) {
        const struct job_node *entry = job_entry(&job->rec, i);
        struct job brief;
        bool meant = node == UNSET32 ? !job_entry_is_leaving(&job->rec, i) : entry->node == node;
        if (entry->released || !meant)
            continue;
        message.job = prolog_node_brief(core, job, entry, &brief);
        emit_node(core, entry->node, MSG_JOB_TERMINATE, &message);
    }
}

void job_terminate_nodes(struct core *core, struct core_job *job, const char *why) {
    terminate(core, job, UNSET32, why);
}

void job_terminate_node(struct core *core, struct core_job *job, uint32_t node) {
    terminate(core, job, node, NULL);
}
