/* SPDX-License-Identifier: Apache-2.0 */
/* `sluice why --json`: the facts of why_text.c. Times are seconds since the epoch, 0 = unknown. */
#include "cli/columns_job.h"
#include "cli/json_writer.h"
#include "cli/why.h"

static const char *const node_states[] = {
    [WHY_NODE_FREE] = "free",
    [WHY_NODE_PROMISED] = "promised",
    [WHY_NODE_BUSY] = "busy",
    [WHY_NODE_AWAY] = "away",
};
static const char *const causes[] = {
    [WHY_TIER] = "tier", [WHY_PRIORITY] = "priority", [WHY_EARLIER] = "submitted_before"};

static void started_json(struct json *json, const struct job *job) {
    struct str text cleanup_str = STR_INIT;
    if (job->provenance)
        str_printf(&text, "%.*s", why_started_length(job), job->provenance);
    json_text(json, "started", job->provenance ? str_cstr(&text) : NULL);
}

/* The last time that its start was put off. */
static void delay_json(struct json *json, const struct job *job) {
    if (job->n_delays == 0)
        return;
    json_object(json, "delayed");
    json_signed(json, "from", job->promised_start);
    json_signed(json, "to", job->start_time > 0 ? job->start_time : job->delayed_to);
    json_signed(json, "at", job->delay_time);
    json_text(json, "cause", job->delay_cause);
    json_unsigned(json, "times", job->n_delays);
    json_end(json);
}

static void preempted_json(struct json *json, const struct job *job, int64_t now) {
    struct str text cleanup_str = STR_INIT;
    why_preempted(job, now, LANGUAGE_ENGLISH, &text);
    if (text.length == 0)
        return;
    json_object(json, "preempted");
    json_unsigned(json, "by", job->preempted_by);
    json_signed(json, "at", job->preempt_time);
    json_signed(json, "until", job->preempt_end);
    json_text(json, "meaning", str_cstr(&text));
    json_end(json);
}

static void job_json(struct json *json, const struct job *job, int64_t now) {
    struct str end cleanup_str = STR_INIT;
    json_text(json, "name", job->name);
    json_text(json, "user", job->user_name);
    json_text(json, "partition", job->partition);
    json_text(json, "state", job_state_text(job->state, job->flags));
    json_text(json, "reason", job_reason_text(job));
    json_text(json, "meaning", why_reason(job->reason, LANGUAGE_ENGLISH));
    json_signed(json, "submitted", job->submit_time);
    json_object(json, "needs");
    json_unsigned(json, "nodes", job->num_nodes);
    json_unsigned(json, "cpus", job->num_cpus);
    json_text(json, "tres", job->tres_req);
    json_number32(json, "minutes", job->time_limit);
    json_end(json);
    json_unsigned(json, "priority", job->priority);
    delay_json(json, job);
    preempted_json(json, job, now);
    if (job->state == JOB_PENDING)
        return;
    json_text(json, "nodes", job->nodes);
    started_json(json, job);
    json_signed(json, "start", job->start_time);
    json_signed(json, "end", job->end_time);
    if (!job_state_is_final(job->state))
        return;
    why_end(job, LANGUAGE_ENGLISH, &end);
    json_unsigned(json, "exit_status", job->exit_status);
    json_text(json, "ended", str_cstr(&end));
}

static void jobs_json(struct json *json, const char *key, const struct why_job *jobs, uint32_t n) {
    json_array(json, key);
    for (uint32_t i = 0; i < n; i++) {
        json_object(json, NULL);
        json_text(json, "job", jobs[i].job);
        json_text(json, "user", jobs[i].user);
        json_text(json, "nodes", jobs[i].nodes);
        json_unsigned(json, "cpus", jobs[i].cpus);
        json_text(json, "tres", jobs[i].tres);
        json_signed(json, "time", jobs[i].time);
        if (jobs[i].cause >= WHY_TIER && jobs[i].cause <= WHY_EARLIER) {
            json_text(json, "cause", causes[jobs[i].cause]);
            json_unsigned(json, "priority", jobs[i].priority);
        }
        json_end(json);
    }
    json_end(json);
}

static void nodes_json(struct json *json, const struct why_reply *reply) {
    json_array(json, "nodes_that_could");
    for (uint32_t i = 0; i < reply->fits.n; i++) {
        const struct why_nodes *group = &reply->fits.items[i];
        json_object(json, NULL);
        json_text(json, "nodes", group->nodes);
        json_unsigned(json, "count", group->n);
        json_text(json, "state", group->state <= WHY_NODE_AWAY ? node_states[group->state] : "");
        json_text(json, "what", group->what);
        json_text(json, "reason", group->reason);
        json_text(json, "by", group->by);
        json_signed(json, "since", group->since);
        json_end(json);
    }
    json_end(json);
    json_object(json, "free");
    json_unsigned(json, "cpus", reply->free_cpus);
    json_unsigned(json, "memory_mib", reply->free_mem);
    json_text(json, "gres", reply->free_gres);
    json_end(json);
}

static void limits_json(struct json *json, const struct why_reply *reply) {
    json_array(json, "limits");
    for (uint32_t i = 0; i < reply->limits.n; i++) {
        const struct why_limit *limit = &reply->limits.items[i];
        json_object(json, NULL);
        json_text(json, "name", limit->name);
        json_text(json, "unit", limit->unit);
        json_unsigned(json, "asked", limit->asked);
        json_unsigned(json, "limit", limit->limit);
        json_unsigned(json, "used", limit->used);
        json_text(json, "used_by", limit->used_by);
        json_signed(json, "until", limit->until);
        json_text(json, "cure", limit->cure);
        json_end(json);
    }
    json_end(json);
}

static void pending_json(struct json *json, const struct why_reply *reply) {
    json_object(json, "start");
    json_signed(json, "expected", reply->expected);
    json_signed(json, "earliest", reply->earliest);
    json_signed(json, "latest", reply->latest);
    json_bool(json, "exact", reply->exact);
    json_text(json, "nodes", reply->nodes);
    json_text(json, "partition", reply->partition);
    json_end(json);
    nodes_json(json, reply);
    jobs_json(json, "held_by", reply->holders.items, reply->holders.n);
    json_unsigned(json, "held_by_count", reply->holders_total);
    json_unsigned(json, "ahead_count", reply->ahead_total);
    json_unsigned(json, "ahead_by_tier", reply->ahead_by_tier);
    json_unsigned(json, "ahead_by_priority", reply->ahead_by_priority);
    json_unsigned(json, "ahead_by_age", reply->ahead_by_age);
    jobs_json(json, "ahead", reply->ahead.items, reply->ahead.n);
    jobs_json(json, "depends", reply->depends.items, reply->depends.n);
    limits_json(json, reply);
    json_text(json, "reservation", reply->reservation);
    json_text(json, "share", reply->share);
    jobs_json(json, "leaving", reply->leaving.items, reply->leaving.n);
    json_bool(json, "preemption", reply->preemption);
    json_array(json, "changes");
    for (uint32_t i = 0; i < reply->changes.n; i++) {
        const struct why_change *change = &reply->changes.items[i];
        json_object(json, NULL);
        json_text(json, "option", change->option);
        json_text(json, "update", change->update);
        json_signed(json, "start", change->start);
        json_text(json, "nodes", change->nodes);
        json_end(json);
    }
    json_end(json);
    json_unsigned(json, "changes_tried", reply->n_tried);
}

void why_json(const struct why_reply *reply, struct str *out) {
    struct json json;
    json_init(&json, JSON_PRETTY, out);
    json_object(&json, NULL);
    json_text(&json, "job", reply->id);
    json_signed(&json, "now", reply->now);
    job_json(&json, reply->job, reply->now);
    if (reply->job->state == JOB_PENDING)
        pending_json(&json, reply);
    json_end(&json);
    json_finish(&json);
}
