/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs that start later than they were told: what has caused it goes into the record, the log and a
 * counter. The planner finds out (sched/promise.c); here it gets words.
 */
#include <string.h>

#include "core/state.h"
#include "text/timestamp.h"

static void node_text(const struct core *core, uint32_t index, struct str *out) {
    const struct node *node = &core->nodes[index].rec;
    bool drained = (node->flags & (NODE_FLAG_DRAIN | NODE_FLAG_FAIL)) != 0;
    str_printf(out, "node %s %s", node->name, drained ? "was drained" : "went down");
}

static void cause_text(const struct core *core, const struct sched_breach *breach,
                       struct str *out) {
    uint32_t subject = breach->subject;
    switch (breach->cause) {
    case SCHED_CAUSE_NODE:
        node_text(core, subject, out);
        return;
    case SCHED_CAUSE_ARRIVAL:
        str_printf(out, "job %u came in and goes first", subject);
        return;
    case SCHED_CAUSE_PRIORITY:
        str_printf(out, "job %u goes first now", subject);
        return;
    case SCHED_CAUSE_EXTENDED:
        str_printf(out, "the time limit of job %u was raised", subject);
        return;
    case SCHED_CAUSE_OVERRUN:
        str_printf(out, "job %u ran past its end", subject);
        return;
    case SCHED_CAUSE_RESUMED:
        str_printf(out, "job %u was resumed", subject);
        return;
    case SCHED_CAUSE_UPDATE:
        str_append(out, "the job was changed");
        return;
    case SCHED_CAUSE_PARTITION:
        str_printf(out, "partition %s was closed", core->partitions[subject].rec.name);
        return;
    case SCHED_CAUSE_LICENSES:
        str_append(out, "the number of licences was changed");
        return;
    case SCHED_CAUSE_BUDGET:
        str_printf(out, "job %u uses what the job's limits allow", subject);
        return;
    case SCHED_CAUSE_CALENDAR:
        str_append(out, "a reservation was set");
        return;
    case SCHED_CAUSE_CONFIGURED:
        str_append(out, "the configuration was changed");
        return;
    case SCHED_CAUSE_UNKNOWN:
        break;
    }
    str_append(out, "what it was to get is not free");
}

static void log_breach(struct core *core, const struct core_job *job) {
    struct str before cleanup_str = STR_INIT, after cleanup_str = STR_INIT;
    timestamp_print(job->rec.promised_start, NULL, core->now, &before);
    if (job->rec.delayed_to > 0)
        timestamp_print(job->rec.delayed_to, NULL, core->now, &after);
    else
        str_append(&after, "nobody knows");
    emit_log(core, EFFECT_INFO, "job %u was expected to start at %s, now %s: %s", job->rec.job_id,
             before.data, after.data, job->rec.delay_cause);
}

void promise_broken(struct core *core, const struct sched_breach *breach) {
    struct core_job *job = job_find(core, breach->job_id);
    if (job == NULL)
        return;
    job->rec.delayed_to = breach->start;
    if (!breach->again) {
        struct str text cleanup_str = STR_INIT;
        cause_text(core, breach, &text);
        string_set(&job->rec.delay_cause, text.data);
        job->rec.promised_start = breach->promised;
        job->rec.delay_time = core->now;
        job->rec.n_delays++;
        core->n_broken++;
        log_breach(core, job);
    }
    job_touch(core, job);
}
