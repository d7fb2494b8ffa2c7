/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may preempt whom, and what then happens to the victim: by PriorityTier and PreemptMode of
 * partitions, or by the Preempt lists of QOS. The planner gets it as classes (partitions, or QOS
 * and one more for jobs of none) and a table of who may take from whom.
 */
#include <string.h>

#include "core/state.h"
#include "model/conf.h"

/* ---- modes ---- */

static uint32_t mode_of_flags(uint64_t flags) {
    return flags & CONF_PREEMPT_MODE_CANCEL    ? PREEMPT_CANCEL
           : flags & CONF_PREEMPT_MODE_REQUEUE ? PREEMPT_REQUEUE
           : flags & CONF_PREEMPT_MODE_SUSPEND ? PREEMPT_SUSPEND
                                               : PREEMPT_OFF;
}

void preempt_mode_print(uint64_t flags, struct str *out) {
    uint32_t mode = mode_of_flags(flags);

    if (flags & CONF_PREEMPT_MODE_GANG)
        str_append(out, "GANG");
    if (mode != PREEMPT_OFF || out->length == 0)
        str_join(out, ",", names_text(&names_preempt_mode, mode));
}

uint32_t preempt_mode_read(const char *text) {
    for (uint32_t mode = PREEMPT_CANCEL; text != NULL && mode <= PREEMPT_SUSPEND; mode++) {
        if (str_has_word_nocase(text, names_text(&names_preempt_mode, mode), ","))
            return mode;
    }
    return text != NULL &&
                   (str_has_word_nocase(text, "OFF", ",") || str_has_word_nocase(text, "GANG", ","))
               ? PREEMPT_OFF
               : PREEMPT_CLUSTER;
}

void preempt_configure(struct core *core) {
    const struct conf *conf = core->conf;
    struct preempt_rules *rules = &core->preempt;

    rules->flags = conf->preempt_mode;
    rules->on = conf->preempt_type != CONF_PREEMPT_NONE;
    rules->by_qos = conf->preempt_type == CONF_PREEMPT_QOS;
    rules->if_above = conf->preempt_mode & CONF_PREEMPT_MODE_PRIORITY;
    rules->within = conf->preempt_mode & CONF_PREEMPT_MODE_WITHIN;
    rules->gang = conf->preempt_mode & CONF_PREEMPT_MODE_GANG;
    rules->mode = mode_of_flags(conf->preempt_mode);
    rules->exempt = (int64_t) min_of(conf->preempt_exempt_time, (uint64_t) TIME_LATEST);
    rules->exempt_priority = conf->preempt.min_exempt_priority;
    rules->user_signal = conf->preempt.send_user_signal || conf->scheduler.preempt_send_user_signal;
    rules->to_head = conf->preempt.requeue_head;
}

/* ---- classes ---- */

uint32_t preempt_class(const struct core *core, const struct job *job) {
    uint32_t at = qos_count(core);

    (void) qos_find(core, job->qos, &at);
    return at;
}

/* ---- one job as a victim ---- */

static uint32_t mode_by_qos(const struct core *core, const struct qos *qos, int64_t *ret_grace,
                            int64_t *ret_exempt) {
    if (qos == NULL)
        return PREEMPT_OFF;
    *ret_grace = qos->grace_time == UNSET32 ? 0 : qos->grace_time;
    if (qos->exempt_time != UNSET32)
        *ret_exempt = qos->exempt_time;
    return qos->preempt_mode == PREEMPT_CLUSTER ? core->preempt.mode : qos->preempt_mode;
}

uint32_t preempt_mode_of(struct core *core, const struct core_job *job, int64_t *ret_grace,
                         int64_t *ret_exempt) {
    const struct preempt_rules *rules = &core->preempt;
    uint32_t at;

    *ret_grace = 0;
    *ret_exempt = rules->exempt;
    if (!rules->on || (rules->exempt_priority > 0 && job->rec.priority >= rules->exempt_priority))
        return PREEMPT_OFF;
    if (rules->by_qos)
        return mode_by_qos(core, qos_find(core, job->rec.qos, &at), ret_grace, ret_exempt);
    const struct core_partition *part = partition_find(core, job->rec.partition, NULL);
    if (part == NULL)
        return PREEMPT_OFF;
    *ret_grace = part->rec.grace_time;
    return part->victim_mode;
}

/* ---- the planner's table ---- */

static uint8_t may(const struct core *core) {
    return core->preempt.if_above ? SCHED_MAY_IF_ABOVE : SCHED_MAY;
}

static void table_by_partition(const struct core *core, uint8_t *table, size_t n) {
    for (size_t who = 0; who < n; who++) {
        for (size_t whom = 0; whom < n; whom++) {
            const struct core_partition *a = &core->partitions[who], *b = &core->partitions[whom];
            if (who == whom && a->gang && a->oversubscribe > 1)
                table[who * n + whom] = SCHED_MAY; /* in turn */
            else if (core->preempt.on && a->rec.priority_tier > b->rec.priority_tier &&
                     b->victim_mode != PREEMPT_OFF)
                table[who * n + whom] = may(core);
        }
    }
}

static void table_by_qos(const struct core *core, uint8_t *table, size_t n) {
    for (size_t who = 0; who + 1 < n; who++) {
        const struct qos *a = qos_at(core, who);
        for (size_t whom = 0; whom + 1 < n; whom++) {
            if (str_has_word_nocase(a->preempt, qos_at(core, whom)->name, ","))
                table[who * n + whom] = may(core);
        }
        /* Equals preempt each other only by their priority, or there would be no end to it. */
        if (core->preempt.within || a->within)
            table[who * n + who] = SCHED_MAY_IF_ABOVE;
    }
}

void preempt_to_sched(struct core *core) {
    const struct preempt_rules *rules = &core->preempt;
    bool turns = rules->gang && !rules->by_qos;
    size_t n = !rules->on && !turns ? 0 : rules->by_qos ? qos_count(core) + 1 : core->n_partitions;
    uint8_t *table = xcalloc(n * n + 1, 1);

    if (rules->on && rules->by_qos)
        table_by_qos(core, table, n);
    else if (n > 0)
        table_by_partition(core, table, n);
    const struct sched_preemption preemption = {
        .n_classes = (uint32_t) n,
        .by_partition = !rules->by_qos,
        .may = table,
        .youngest_first =
            core->conf->preempt.youngest_first || core->conf->scheduler.preempt_youngest_first,
        .reclaim_licenses = core->conf->preempt.reclaim_licenses,
        .patience = core->settings.kill_wait + PREEMPT_PATIENCE,
    };
    sched_set_preemption(core->sched, &preemption);
    free(table);
}

static uint32_t victim_rank(struct core *core, const struct core_job *job, uint32_t *ret_class) {
    uint32_t at = 0;

    if (core->preempt.by_qos) {
        const struct qos *qos = qos_find(core, job->rec.qos, &at);
        *ret_class = qos != NULL ? at : qos_count(core);
        return qos != NULL ? qos->priority : 0;
    }
    const struct core_partition *part = partition_find(core, job->rec.partition, &at);
    *ret_class = part != NULL ? at : UINT32_MAX;
    return part != NULL ? part->rec.priority_tier : 0;
}

void preempt_sync_run(struct core *core, struct core_job *job) {
    struct sched_victim victim = {.priority = job->rec.priority};
    int64_t exempt;

    if (!core->preempt.on && !core->preempt.gang)
        return;
    uint32_t mode = preempt_mode_of(core, job, &victim.grace, &exempt);
    victim.mode = mode == PREEMPT_OFF       ? SCHED_VICTIM_NEVER
                  : mode == PREEMPT_SUSPEND ? SCHED_VICTIM_SUSPENDS
                                            : SCHED_VICTIM_ENDS;
    victim.rank = victim_rank(core, job, &victim.class);
    victim.eligible = job->rec.start_time + exempt;
    victim.slice_end = gang_slice_end(core, job);
    if (job->het != NULL) { /* a part of a job does not stand still while the rest runs */
        victim.mode = victim.mode == SCHED_VICTIM_SUSPENDS ? SCHED_VICTIM_NEVER : victim.mode;
        victim.slice_end = 0;
    }
    job->rec.preempt_eligible = victim.mode != SCHED_VICTIM_NEVER ? victim.eligible : 0;
    sched_run_victim(core->sched, job->rec.job_id, &victim);
    if (job->rec.flags & JOB_FLAG_COMPLETING)
        sched_run_leaving(core->sched, job->rec.job_id, true, core->now);
    else if (job->rec.preempt_end > 0)
        sched_run_leaving(core->sched, job->rec.job_id, true, job->rec.preempt_end);
}
