/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs around a job. Between the start of a job and its first process stand, in this order:
 *
 *   PrologSlurmctld    run by the controller's shell (EFFECT_SCRIPT, core_script_done)
 *   PrologFlags=Alloc  every node makes ready and says so (JOB_PREPARE, JOB_PREPARED); without it a
 *                      node makes ready at the first launch, which its agent sees to
 *
 * Until then the job is CONFIGURING. When it has ended EpilogSlurmctld runs, beside the Epilog of
 * its nodes; it is COMPLETING until all of them are over. Which of them runs stands in the record
 * (enum job_script_flag), so that a restarted controller starts them again.
 */
#include <string.h>

#include "core/state.h"
#include "model/conf.h"

#define CONTROLLER_SCRIPTS (JOB_SCRIPT_PROLOG | JOB_SCRIPT_EPILOG | JOB_SCRIPT_EPILOG_DUE)

void prolog_settings(struct core *core, const struct conf *conf) {
    struct prolog_settings *s = &core->settings.prolog;
    uint64_t flags = conf->prolog_flags;
    s->controller = conf->prolog_slurmctld.n > 0;
    s->controller_epilog = conf->epilog_slurmctld.n > 0;
    s->contain = flags & CONF_PROLOG_CONTAIN;
    s->alloc = s->contain || (flags & CONF_PROLOG_ALLOC);
    s->node = s->contain || conf->prolog.n > 0 || conf->epilog.n > 0;
    s->no_hold = flags & CONF_PROLOG_NO_HOLD;
    s->defer_batch = flags & CONF_PROLOG_DEFER_BATCH;
    s->force_requeue = flags & CONF_PROLOG_FORCE_REQUEUE;
    s->no_hold_on_fail = conf->scheduler.nohold_on_prolog_fail;
}

/* ---- what is told of a job ---- */

void job_brief(const struct core_job *job, struct job *ret) {
    *ret = job->rec;
    ret->environment = (struct blob) {NULL, 0};
    ret->script = (struct blob) {NULL, 0};
    ret->argv = (struct strs) {NULL, 0};
    ret->rlimits.n = 0;
    ret->priorities.n = 0;
    ret->submit_line = NULL;
    ret->array_tasks = NULL;
}

struct job *prolog_node_brief(const struct core *core, const struct core_job *job,
                              const struct job_node *entry, struct job *brief) {
    if (!core->settings.prolog.node)
        return NULL;
    job_brief(job, brief);
    brief->allocation.items = (struct job_node *) (uintptr_t) entry; /* only encoded */
    brief->allocation.n = 1;
    return brief;
}

struct job *prolog_step_brief(const struct core *core, const struct core_job *job,
                              struct job *brief) {
    const struct prolog_settings *s = &core->settings.prolog;
    if (!s->node || s->alloc)
        return NULL;
    job_brief(job, brief);
    return brief;
}

static void emit_script(struct core *core, struct core_job *job, enum job_script_flag what) {
    struct job brief;
    job_brief(job, &brief);
    struct str cpus cleanup_str = STR_INIT;
    struct job_script_order order;
    record_init(&record_job_script_order, &order);
    job_cpus_per_node(&job->rec, &cpus);
    brief.allocation.n = 0;
    order.job = &brief;
    order.cpus_per_node = cpus.data;
    order.epilog = what == JOB_SCRIPT_EPILOG;
    struct effect *effect = emit(core, EFFECT_SCRIPT);
    effect->id = job->rec.job_id;
    effect->body = effect_encode(core, &record_job_script_order, &order);
    job->rec.scripts |= what;
    job_touch(core, job);
}

/* ---- before ---- */

/* The job goes to its node, or to whoever has asked for it. */
static void hand_over(struct core *core, struct core_job *job) {
    if (job->het != NULL && !het_all_ready(core, job))
        return; /* the last component that makes ready sees to it */
    job = job->het != NULL ? het_member(job, 0) : job;
    if (!job_has_nodes(job))
        return;
    if (job->rec.kind == JOB_KIND_BATCH)
        job_send_launch(core, job);
    else if (job->first_step != NULL)
        step_create_first(core, job);
    else
        alloc_granted(core, job, NULL, (struct bytes) {NULL, 0}, NULL);
}

static void send_prepare(struct core *core, struct core_job *job, const struct job_node *entry) {
    struct job brief;
    struct job_prepare message = {
        .job_id = job->rec.job_id, .attempt = job->rec.attempt, .uid = job->rec.uid};
    struct str cpus cleanup_str = STR_INIT;
    message.job = prolog_node_brief(core, job, entry, &brief);
    job_cpus_per_node(&job->rec, &cpus);
    message.cpus_per_node = cpus.data;
    emit_node(core, entry->node, MSG_JOB_PREPARE, &message);
}

static void set_configuring(struct core *core, struct core_job *job, uint32_t script) {
    job->rec.flags |= JOB_FLAG_CONFIGURING;
    job->rec.scripts |= script;
    job->rec.reason = REASON_PROLOG;
    job_touch(core, job);
}

static bool waits_for_nodes(const struct core *core, const struct core_job *job) {
    const struct prolog_settings *s = &core->settings.prolog;
    return job->rec.kind == JOB_KIND_BATCH ? s->defer_batch : !s->no_hold;
}

static void nodes_begin(struct core *core, struct core_job *job) {
    if (!core->settings.prolog.alloc) {
        hand_over(core, job);
        return;
    }
    set_configuring(core, job, JOB_SCRIPT_NODES);
    for (uint32_t i = 0; i < job->rec.allocation.n; i++)
        send_prepare(core, job, &job->rec.allocation.items[i]);
    if (core->settings.prolog.contain)
        step_create_extern(core, job);
    if (!waits_for_nodes(core, job))
        hand_over(core, job);
}

void prolog_begin(struct core *core, struct core_job *job) {
    if (job_runs_script(job))
        job->rec.flags |= JOB_FLAG_CONFIGURING;
    if (core->settings.prolog.controller) {
        set_configuring(core, job, 0);
        emit_script(core, job, JOB_SCRIPT_PROLOG);
    } else {
        nodes_begin(core, job);
    }
}

bool prolog_holds(const struct core *core, const struct core_job *job) {
    return (job->rec.scripts & JOB_SCRIPT_PROLOG) ||
           ((job->rec.scripts & JOB_SCRIPT_NODES) && !core->settings.prolog.no_hold);
}

bool prolog_allows_launch(const struct core *core, const struct core_job *job) {
    return !(job->rec.scripts & JOB_SCRIPT_PROLOG) &&
           (!(job->rec.scripts & JOB_SCRIPT_NODES) || !core->settings.prolog.defer_batch);
}

static void all_prepared(struct core *core, struct core_job *job) {
    job->rec.scripts &= ~(uint32_t) JOB_SCRIPT_NODES;
    job->rec.reason = REASON_NONE;
    if (!job_runs_script(job) || job->rec.allocation.items[0].accepted)
        job_running(core, job);
    if (waits_for_nodes(core, job))
        hand_over(core, job);
    steps_wake(core, job);
    job_touch(core, job);
}

/* Ends the job, or puts it back into the queue: it cannot begin. */
static void job_cannot_begin(struct core *core, struct core_job *job, uint32_t node, bool hold,
                             const char *why) {
    bool again = job->rec.requeue == TRI_YES || core->settings.prolog.force_requeue;
    if (job->rec.kind == JOB_KIND_BATCH && again) {
        bool often = failure_of_begin(core, job, node);
        job_requeue(core, job, hold || often, JOB_FAILED, NULL,
                    hold ? REASON_LAUNCH_HELD : REASON_MAX_REQUEUE);
        return;
    }
    job_notify(core, job, ALLOC_MESSAGE, why, 0);
    job_finish(core, job, JOB_CANCELLED, REASON_NONE, 0, NULL);
}

void prolog_failed(struct core *core, struct core_job *job, uint32_t node, const char *detail) {
    const char *name = core->nodes[node].rec.name;
    emit_log(core, EFFECT_ERROR, "job %u cannot begin on node %s: %s", job->rec.job_id, name,
             detail != NULL ? detail : "Prolog error");
    node_drain(core, node, "Prolog error", core->settings.admin_uid);
    if (!job_has_nodes(job))
        return;
    string_set(&job->rec.failed_node, name);
    cleanup_free char *text = xasprintf("Prolog failure on node %s", name);
    job_cannot_begin(core, job, node, !core->settings.prolog.no_hold_on_fail, text);
}

void prolog_prepared(struct core *core, struct core_job *job, uint32_t node,
                     const struct job_prepared *body) {
    if (!job_has_nodes(job) || !(job->rec.scripts & JOB_SCRIPT_NODES))
        return;
    if (body->code != 0) {
        prolog_failed(core, job, node, body->detail);
        return;
    }
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < job->rec.allocation.n; i++) {
        struct job_node *entry = &job->rec.allocation.items[i];
        if (entry->node == node && !entry->prepared) {
            entry->prepared = true;
            job_touch(core, job);
        }
        waiting += !entry->prepared && !entry->released;
    }
    if (waiting == 0)
        all_prepared(core, job);
}

void prolog_again(struct core *core, struct core_job *job, uint32_t node) {
    if (!job_has_nodes(job) || !(job->rec.scripts & JOB_SCRIPT_NODES))
        return;
    for (uint32_t i = 0; i < job->rec.allocation.n; i++) {
        const struct job_node *entry = &job->rec.allocation.items[i];
        if (entry->node == node && !entry->prepared)
            send_prepare(core, job, entry);
    }
}

/* ---- after ---- */

void prolog_end(struct core *core, struct core_job *job) {
    job->rec.scripts &= ~(uint32_t) JOB_SCRIPT_NODES;
    if (!core->settings.prolog.controller_epilog)
        return;
    if (job->rec.scripts & JOB_SCRIPT_PROLOG)
        job->rec.scripts |= JOB_SCRIPT_EPILOG_DUE;
    else
        emit_script(core, job, JOB_SCRIPT_EPILOG);
}

bool prolog_is_over(const struct core_job *job) {
    return !(job->rec.scripts & CONTROLLER_SCRIPTS);
}

/* ---- the controller's own ---- */

static void controller_prolog_done(struct core *core, struct core_job *job, const char *problem) {
    job->rec.scripts &= ~(uint32_t) JOB_SCRIPT_PROLOG;
    job_touch(core, job);
    if (!job_has_nodes(job)) { /* it has ended meanwhile */
        if (job->rec.scripts & JOB_SCRIPT_EPILOG_DUE) {
            job->rec.scripts &= ~(uint32_t) JOB_SCRIPT_EPILOG_DUE;
            emit_script(core, job, JOB_SCRIPT_EPILOG);
        }
        job_nodes_gone(core, job);
    } else if (problem != NULL) {
        emit_log(core, EFFECT_ERROR, "job %u: PrologSlurmctld %s", job->rec.job_id, problem);
        job_cannot_begin(core, job, UINT32_MAX, false, "PrologSlurmctld failed, job killed");
    } else {
        job->rec.reason = REASON_NONE;
        if (!job_runs_script(job) && !core->settings.prolog.alloc)
            job_running(core, job);
        nodes_begin(core, job);
        steps_wake(core, job);
    }
}

void core_script_done(struct core *core, int64_t now, uint32_t job_id, bool epilog,
                      const char *problem, struct effects *out) {
    core->now = now;
    core->out = out;
    struct core_job *job = job_find(core, job_id);
    uint32_t what = epilog ? JOB_SCRIPT_EPILOG : JOB_SCRIPT_PROLOG;
    if (job == NULL || !(job->rec.scripts & what))
        return;
    if (!epilog) {
        controller_prolog_done(core, job, problem);
        return;
    }
    if (problem != NULL)
        emit_log(core, EFFECT_ERROR, "job %u: EpilogSlurmctld %s", job_id, problem);
    job->rec.scripts &= ~(uint32_t) JOB_SCRIPT_EPILOG;
    job_touch(core, job);
    job_nodes_gone(core, job);
}

/* A controller that has been restarted starts again what ran. */
void prolog_restored(struct core *core, struct core_job *job) {
    if (job->rec.scripts & JOB_SCRIPT_PROLOG)
        emit_script(core, job, JOB_SCRIPT_PROLOG);
    if (job->rec.scripts & JOB_SCRIPT_EPILOG)
        emit_script(core, job, JOB_SCRIPT_EPILOG);
}
