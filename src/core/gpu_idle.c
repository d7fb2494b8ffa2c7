/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs that hold GPUs and do not use them, by the rules of their QOS or partition: after
 * GpuIdleWarn the owner is told as soon as one card of the job has done nothing for so long; after
 * GpuIdleTime the job ends if none of its cards does anything, unless it is kept.
 *
 * Only what nodes say now counts: while a node is silent, or a card is not told of, its card might
 * be at work and nothing happens.
 */
#include "core/state.h"

/* A node that has told nothing for so many seconds is not believed any more. */
#define STALE_SECONDS 90

/* The cards of a job. */
struct cards {
    struct core *core;
    const struct core_job *job;
    struct core_node *node; /* whose cards are looked at */
    uint32_t n, n_idle;     /* idle: they do nothing now */
    bool is_known;          /* of all of them */
    int64_t first, last;    /* since when the first and the last of the idle ones are so */
    struct str names;       /* "n1 gpu 0, n1 gpu 1" of those */
};

struct rules {
    uint32_t warn, time; /* seconds, 0 = never */
    const char *action;  /* REQUEUE CANCEL; NULL: REQUEUE */
};

static void card_look(uint32_t index, void *context) {
    struct cards *cards = context;
    const struct core_node *node = cards->node;
    const struct core_gpu *gpu = gpu_find(cards->node, index);
    cards->n++;
    if (gpu == NULL || !node->connected || gpu->status.use_now == UNSET32 ||
        cards->core->now - node->rec.last_response > STALE_SECONDS) {
        cards->is_known = false;
        return;
    }
    if (gpu->status.use_now > 0)
        return;
    const struct job *job = &cards->job->rec;
    int64_t began = max_of(job->start_time, job->suspend_time);
    int64_t since = max_of(max_of(gpu->idle_since, began), job->gpu_keep_until);
    cards->first = cards->n_idle == 0 ? since : min_of(cards->first, since);
    cards->last = max_of(cards->last, since);
    cards->n_idle++;
    str_printf(&cards->names, "%s%s gpu %u", cards->names.length > 0 ? ", " : "", node->rec.name,
               index);
}

static void cards_look(struct core *core, const struct core_job *job, struct cards *ret) {
    *ret = (struct cards) {.core = core, .job = job, .is_known = true, .names = STR_INIT};
    for (uint32_t i = 0; i < job->rec.allocation.n; i++) {
        const struct job_node *entry = &job->rec.allocation.items[i];
        if (entry->released || entry->gres == NULL)
            continue;
        ret->node = &core->nodes[entry->node];
        assign_each_gpu(core, entry, card_look, ret);
    }
}

/* The rules of its partition; what its QOS says of them counts more. */
static bool rules_of(const struct core *core, const struct core_job *job, struct rules *ret) {
    const struct core_partition *part =
        partition_find((struct core *) (uintptr_t) core, job->rec.partition, NULL);
    uint32_t at;
    const struct qos *qos = qos_find(core, job->rec.qos, &at);
    *ret = (struct rules) {0, 0, NULL};
    if (part != NULL)
        *ret = (struct rules) {part->rec.gpu_idle_warn, part->rec.gpu_idle_time,
                               part->rec.gpu_idle_action};
    if (qos != NULL && qos->gpu_idle_warn != UNSET32)
        ret->warn = qos->gpu_idle_warn;
    if (qos != NULL && qos->gpu_idle_time != UNSET32)
        ret->time = qos->gpu_idle_time;
    if (qos != NULL && qos->gpu_idle_action != NULL)
        ret->action = qos->gpu_idle_action;
    return ret->warn > 0 || ret->time > 0;
}

const char *gpu_idle_action(const struct core *core, const struct core_job *job) {
    struct rules rules;
    (void) rules_of(core, job, &rules);
    return rules.action;
}

static void note_gpu(uint32_t index, void *context) {
    *(bool *) context = true;
}

static bool holds_gpus(const struct core *core, const struct core_job *job) {
    bool holds = false;
    for (uint32_t i = 0; i < job->rec.allocation.n && !holds; i++)
        assign_each_gpu(core, &job->rec.allocation.items[i], note_gpu, &holds);
    return holds;
}

bool gpu_idle_matters(const struct core *core, const struct core_job *job) {
    struct rules rules;
    return job->rec.state == JOB_RUNNING && rules_of(core, job, &rules) && holds_gpus(core, job);
}

/* Those who are warned get the rest of the time after the warning, however late that came. */
static int64_t end_of(const struct rules *rules, const struct core_job *job,
                      const struct cards *cards) {
    if (rules->time == 0 || !cards->is_known || cards->n == 0 || cards->n_idle < cards->n)
        return 0;
    int64_t end = cards->last + rules->time;
    if (rules->warn == 0 || rules->warn >= rules->time)
        return end;
    int64_t warned = job->rec.gpu_warned > 0 ? job->rec.gpu_warned
                                             : max_of(cards->first + rules->warn, cards->core->now);
    return max_of(end, warned + rules->time - rules->warn);
}

static int64_t warning_of(const struct rules *rules, const struct core_job *job,
                          const struct cards *cards) {
    return rules->warn > 0 && job->rec.gpu_warned == 0 && cards->n_idle > 0
               ? cards->first + rules->warn
               : 0;
}

int64_t gpu_idle_due(struct core *core, struct core_job *job) {
    if (!gpu_idle_matters(core, job))
        return 0;
    struct rules rules;
    struct cards cards;
    (void) rules_of(core, job, &rules);
    cards_look(core, job, &cards);
    int64_t warning = warning_of(&rules, job, &cards), end = end_of(&rules, job, &cards);
    str_done(&cards.names);
    return warning > 0 && (end == 0 || warning < end) ? warning : end;
}

int64_t gpu_idle_end(struct core *core, struct core_job *job) {
    if (!gpu_idle_matters(core, job))
        return 0;
    struct rules rules;
    struct cards cards;
    (void) rules_of(core, job, &rules);
    cards_look(core, job, &cards);
    str_done(&cards.names);
    return end_of(&rules, job, &cards);
}

static bool can_requeue(const struct rules *rules, const struct core_job *job) {
    return !str_equal(rules->action, "CANCEL") && job->rec.kind == JOB_KIND_BATCH &&
           job->rec.requeue == TRI_YES;
}

static void warn(struct core *core, struct core_job *job, const struct rules *rules,
                 const struct cards *cards) {
    struct str text cleanup_str = STR_INIT;
    job->rec.gpu_warned = core->now;
    str_printf(&text, "warning: job %u: %u of its %u GPUs do nothing, for ", job->rec.job_id,
               cards->n_idle, cards->n);
    duration_print_long(core->now - cards->first, &text);
    str_printf(&text, " now (%s)", str_cstr(&cards->names));
    int64_t end = end_of(rules, job, cards);
    if (end > 0) {
        str_printf(&text, "; it is %s in ", can_requeue(rules, job) ? "requeued" : "cancelled");
        duration_print_long(max_of(end - core->now, (int64_t) 0), &text);
        str_printf(&text, " unless they work again or you say: sluice keep %u 2:00:00",
                   job->rec.job_id);
    }
    job_tell(core, job, text.data);
    mail_gpu_idle(core, job, core->now - cards->first);
    emit_log(core, EFFECT_INFO, "job %u of uid %u: %u of %u GPUs are idle (%s): its owner is told",
             job->rec.job_id, job->rec.uid, cards->n_idle, cards->n, str_cstr(&cards->names));
    job_touch(core, job);
}

static void end_job(struct core *core, struct core_job *job, const struct rules *rules,
                    const struct cards *cards) {
    bool requeue = can_requeue(rules, job);
    emit_log(core, EFFECT_INFO, "job %u of uid %u is %s: its GPUs have done nothing for %lld s",
             job->rec.job_id, job->rec.uid, requeue ? "requeued" : "cancelled",
             (long long) (core->now - cards->last));
    if (requeue)
        job_requeue(core, job, false, JOB_CANCELLED, "DUE TO IDLE GPUS", REASON_NONE);
    else
        job_finish(core, job, JOB_CANCELLED, REASON_NONE, 0, "DUE TO IDLE GPUS");
}

void gpu_idle_check(struct core *core, struct core_job *job) {
    if (!gpu_idle_matters(core, job))
        return;
    struct rules rules;
    struct cards cards;
    (void) rules_of(core, job, &rules);
    cards_look(core, job, &cards);
    if (cards.is_known && cards.n_idle == 0 && job->rec.gpu_warned > 0) {
        job->rec.gpu_warned = 0; /* they work again */
        job_touch(core, job);
    }
    int64_t warning = warning_of(&rules, job, &cards);
    if (warning > 0 && core->now >= warning)
        warn(core, job, &rules, &cards);
    int64_t end = end_of(&rules, job, &cards);
    if (end > 0 && core->now >= end)
        end_job(core, job, &rules, &cards);
    str_done(&cards.names);
}
