/* SPDX-License-Identifier: Apache-2.0 */
/* `sluice why` in sentences. */
#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/columns_job.h"
#include "cli/why.h"
#include "text/duration.h"
#include "text/size.h"
#include "text/timestamp.h"

/* "45 s", "12 min", "3 h 20 min", "2 d 4 h" */
static void span_print(int64_t seconds, struct str *out) {
    long long s = seconds > 0 ? seconds : 0;
    if (s < 120)
        str_printf(out, "%lld s", s);
    else if (s < 7200)
        str_printf(out, "%lld min", s / 60);
    else if (s < 172800)
        str_printf(out, "%lld h %lld min", s / 3600, s % 3600 / 60);
    else
        str_printf(out, "%lld d %lld h", s / 86400, s % 86400 / 3600);
}

static void time_print(const struct why_reply *reply, int64_t time, struct str *out) {
    why_time(time, reply->now, out);
    if (time <= reply->now)
        return;
    str_append(out, " (in ");
    span_print(time - reply->now, out);
    str_append_char(out, ')');
}

/* The sentence with ID in it. */
static void sentence(const struct why_reply *reply, const char *text, struct str *out) {
    for (const char *id; (id = strstr(text, "ID")) != NULL; text = id + 2) {
        bool word = id > text && (id[-1] == '=' || id[-1] == ' ') && strchr(" )\n", id[2]) != NULL;
        str_append_bytes(out, text, (size_t) (id - text));
        str_append(out, word || id[2] == '\0' ? reply->id : "ID");
    }
    str_printf(out, "%s\n", text);
}

static const char *plural(uint64_t n) {
    return n == 1 ? "" : "s";
}

/* ---- who and what ---- */

static void head_print(const struct why_reply *reply, struct str *out) {
    const struct job *job = reply->job;
    str_printf(out, "Job %s (%s, user %s, partition %s) %s %s", reply->id,
               job->name ? job->name : "", job->user_name ? job->user_name : "?",
               job->partition ? job->partition : "?", job->state == JOB_PENDING ? "has been" : "is",
               job_state_text(job->state, job->flags));
    if (job->state == JOB_PENDING) {
        str_append(out, " for ");
        span_print(reply->now - job->submit_time, out);
        str_printf(out, ", reason %s", job_reason_text(job));
    }
    str_append(out, ".\n");
}

static void needs_print(const struct why_reply *reply, struct str *out) {
    const struct job *job = reply->job;
    struct str limit cleanup_str = STR_INIT;
    if (job->time_limit == MINUTES_INFINITE || job->time_limit == MINUTES_UNSET) {
        str_append(&limit, "with no time limit");
    } else {
        str_append(&limit, "for up to ");
        minutes_print_long(job->time_limit, "", &limit);
    }
    str_printf(out, "It needs %u node%s and %u CPU%s (%s) %s", job->num_nodes,
               plural(job->num_nodes), job->num_cpus, plural(job->num_cpus),
               job->tres_req ? job->tres_req : "", str_cstr(&limit));
    const struct {
        const char *what, *value;
    } extras[] = {
        {"on the nodes", job->req_nodes},     {"not on", job->exc_nodes},
        {"with the features", job->features}, {"with the licences", job->licenses},
        {"per node", job->tres_per_node},     {"in all", job->tres_per_job},
        {"per task", job->tres_per_task},
    };
    for (size_t i = 0; i < countof(extras); i++) {
        if (extras[i].value)
            str_printf(out, ", %s %s", extras[i].what, extras[i].value);
    }
    str_append(out, job->exclusive == EXCLUSIVE_NODE ? ", each node for itself alone.\n" : ".\n");
}

/* ---- nodes ---- */

static void group_print(const struct why_reply *reply, const struct why_nodes *group,
                        struct str *out) {
    static const char *const texts[] = {
        [WHY_NODE_FREE] = "free for it now",
        [WHY_NODE_PROMISED] = "free now, but promised to jobs that go first",
        [WHY_NODE_BUSY] = "in use",
    };
    str_printf(out, "  %s (%u): ", group->nodes ? group->nodes : "", group->n);
    if (group->state != WHY_NODE_AWAY) {
        str_printf(out, "%s\n", group->state <= WHY_NODE_BUSY ? texts[group->state] : "?");
        return;
    }
    str_append(out, group->what ? group->what : "not usable");
    if (group->reason)
        str_printf(out, ", \"%s\"", group->reason);
    if (group->by)
        str_printf(out, " by %s", group->by);
    if (group->since > 0 && group->since < reply->now) {
        str_append(out, ", since ");
        span_print(reply->now - group->since, out);
    }
    str_append_char(out, '\n');
}

static void nodes_print(const struct why_reply *reply, struct str *out) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < reply->fits.n; i++)
        n += reply->fits.items[i].n;
    if (n == 0) {
        str_append(out, "No node of its partition could run it.\n");
        return;
    }
    struct str mem cleanup_str = STR_INIT;
    mem_print(reply->free_mem, true, &mem);
    str_printf(out, "%llu node%s could do it; free on them: %llu CPU%s, %s of memory%s%s.\n",
               (unsigned long long) n, plural(n), (unsigned long long) reply->free_cpus,
               plural(reply->free_cpus), str_cstr(&mem), reply->free_gres ? ", " : "",
               reply->free_gres ? reply->free_gres : "");
    for (uint32_t i = 0; i < reply->fits.n; i++)
        group_print(reply, &reply->fits.items[i], out);
    for (uint32_t i = 0; i < reply->holders.n; i++) {
        const struct why_job *job = &reply->holders.items[i];
        str_printf(out, "  held by job %s of %s: %u CPU%s on %s until ", job->job, job->user,
                   job->cpus, plural(job->cpus), job->nodes);
        time_print(reply, job->time, out);
        str_append_char(out, '\n');
    }
    if (reply->holders_total > reply->holders.n)
        str_printf(out, "  and by %u more jobs\n", reply->holders_total - reply->holders.n);
}

/* ---- who is ahead ---- */

/* The weighted factors that count, and what they add up to. */
static void priority_print(const struct job *job, struct str *out) {
    str_printf(out, "Its own priority is %u", job->priority);
    const struct {
        const char *name;
        uint64_t value;
    } parts[] = {{"age", job->prio_age},          {"fair share", job->prio_fairshare},
                 {"size", job->prio_size},        {"partition", job->prio_partition},
                 {"QOS", job->prio_qos},          {"association", job->prio_assoc},
                 {"accuracy", job->prio_accuracy}};
    const char *between = " (";
    for (size_t i = 0; i < countof(parts); i++) {
        if (parts[i].value == 0)
            continue;
        str_printf(out, "%s%s %llu", between, parts[i].name,
                   (unsigned long long) priority_rounded(parts[i].value));
        between = ", ";
    }
    if (job->nice != 0) {
        str_printf(out, "%snice %d", between, job->nice);
        between = ", ";
    }
    str_append(out, str_equal(between, ", ") ? ").\n" : ".\n");
}

static void ahead_print(const struct why_reply *reply, struct str *out) {
    static const char *const causes[] = {
        [WHY_TIER] = "its partition's tier is higher",
        [WHY_PRIORITY] = "its priority is higher",
        [WHY_EARLIER] = "it was submitted before",
    };
    if (reply->ahead_total == 0)
        return;
    str_printf(out, "%u job%s %s ahead of it", reply->ahead_total, plural(reply->ahead_total),
               reply->ahead_total == 1 ? "is" : "are");
    const struct {
        uint32_t n;
        const char *text;
    } counts[] = {{reply->ahead_by_tier, "by the tier of the partition"},
                  {reply->ahead_by_priority, "by priority"},
                  {reply->ahead_by_age, "submitted before, with equal priority"}};
    const char *between = ": ";
    for (size_t i = 0; i < countof(counts); i++) {
        if (counts[i].n == 0)
            continue;
        str_printf(out, "%s%u %s", between, counts[i].n, counts[i].text);
        between = ", ";
    }
    str_append(out, ". ");
    priority_print(reply->job, out);
    for (uint32_t i = 0; i < reply->ahead.n; i++) {
        const struct why_job *job = &reply->ahead.items[i];
        str_printf(out, "  job %s of %s (%s, priority %u): %s; starts at ", job->job, job->user,
                   job->tres ? job->tres : "", job->priority,
                   job->cause <= WHY_EARLIER ? causes[job->cause] : "?");
        time_print(reply, job->time, out);
        str_append_char(out, '\n');
    }
}

/* ---- what else keeps it ---- */

static void depends_print(const struct why_reply *reply, struct str *out) {
    if (reply->job->depend_cause)
        str_printf(out, "  %s\n", reply->job->depend_cause);
    for (uint32_t i = 0; i < reply->depends.n; i++) {
        const struct why_job *job = &reply->depends.items[i];
        str_printf(out, "  %s", job->job);
        if (job->tres)
            str_printf(out, ": that job of %s is %s", job->user, job->tres);
        if (job->time > 0) {
            str_append(out, " until ");
            time_print(reply, job->time, out);
            str_append(out, " at the latest");
        }
        str_append_char(out, '\n');
    }
}

static void limits_print(const struct why_reply *reply, struct str *out) {
    for (uint32_t i = 0; i < reply->limits.n; i++) {
        const struct why_limit *limit = &reply->limits.items[i];
        str_printf(out, "  %s: limit %llu%s%s, asked %llu", limit->name,
                   (unsigned long long) limit->limit, limit->unit ? " " : "",
                   limit->unit ? limit->unit : "", (unsigned long long) limit->asked);
        if (limit->used_by)
            str_printf(out, ", %llu in use by %s", (unsigned long long) limit->used,
                       limit->used_by);
        if (limit->until > 0) {
            str_append(out, "; the first comes free at ");
            time_print(reply, limit->until, out);
        }
        if (limit->cure)
            str_printf(out, " - %s", limit->cure);
        str_append_char(out, '\n');
    }
}

/* ---- reservations and preemption ---- */

static void reservation_print(const struct why_reply *reply, struct str *out) {
    const char *text = reply->reservation;
    if (text && *text)
        str_printf(out, "%c%s.\n", toupper((unsigned char) *text), text + 1);
}

static void leaving_print(const struct why_reply *reply, struct str *out) {
    if (reply->leaving.n == 0)
        return;
    str_printf(out, "%u job%s %s to make room for it:\n", reply->leaving.n,
               plural(reply->leaving.n), reply->leaving.n == 1 ? "has" : "have");
    for (uint32_t i = 0; i < reply->leaving.n; i++) {
        const struct why_job *job = &reply->leaving.items[i];
        str_printf(out, "  job %s of %s (%u CPU%s on %s): ", job->job, job->user, job->cpus,
                   plural(job->cpus), job->nodes ? job->nodes : "?");
        if (job->time > 0) {
            str_append(out, "goes until ");
            time_print(reply, job->time, out);
            str_append_char(out, '\n');
        } else {
            str_append(out, "its processes are being ended\n");
        }
    }
}

/* ---- when ---- */

static void start_print(const struct why_reply *reply, struct str *out) {
    const struct job *job = reply->job;
    if (reply->expected == 0) {
        str_append(out, "Nobody can say when it will start as things stand.\n");
        return;
    }
    str_append(out, job->priority == 0 ? "If it were released now, it would start at "
                    : job->reason == REASON_DEPENDENCY
                        ? "If what it waits for comes true, it starts at "
                        : "It is expected to start at ");
    time_print(reply, reply->expected, out);
    if (reply->nodes)
        str_printf(out, " on %s", reply->nodes);
    if (reply->partition && !str_equal(reply->partition, job->partition))
        str_printf(out, " in partition %s", reply->partition);
    str_append(out, reply->exact        ? ".\n"
                    : reply->preemption ? " (an estimate: others are preempted until then, or many "
                                          "jobs are ahead).\n"
                                        : " (an estimate: many jobs are ahead).\n");
    if (reply->earliest > 0 && reply->earliest < reply->expected) {
        str_append(out, "At the earliest at ");
        time_print(reply, reply->earliest, out);
        str_append(out, ", if jobs end when jobs of their users usually do.\n");
    }
    if (reply->exact && reply->latest > reply->now)
        str_append(out, "That is with every job running to its limit: it will not be later unless "
                        "jobs of higher priority come or nodes fail.\n");
}

static void changes_print(const struct why_reply *reply, struct str *out) {
    if (reply->changes.n == 0) {
        if (reply->n_tried > 0)
            str_printf(out,
                       "None of %u changes to its request that were planned would start it "
                       "sooner.\n",
                       reply->n_tried);
        return;
    }
    str_append(out, "It would start sooner with one of these:\n");
    for (uint32_t i = 0; i < reply->changes.n; i++) {
        const struct why_change *change = &reply->changes.items[i];
        str_printf(out, "  %s: at ", change->option);
        time_print(reply, change->start, out);
        if (change->nodes)
            str_printf(out, " on %s", change->nodes);
        if (change->update && reply->may_update)
            str_printf(out, "; scontrol update JobId=%s %s", reply->id, change->update);
        str_append_char(out, '\n');
    }
}

static void pending_print(const struct why_reply *reply, struct str *out) {
    const char *reason = why_reason(reply->job->reason);
    if (reason)
        sentence(reply, reason, out);
    reservation_print(reply, out);
    why_preempted(reply->job, reply->now, out);
    limits_print(reply, out);
    depends_print(reply, out);
    needs_print(reply, out);
    nodes_print(reply, out);
    ahead_print(reply, out);
    leaving_print(reply, out);
    start_print(reply, out);
    why_delay(reply->job, reply->now, out);
    changes_print(reply, out);
    if (reply->may_update &&
        (reply->job->reason == REASON_RESOURCES || reply->job->reason == REASON_PRIORITY))
        str_printf(out,
                   "To put it off until tonight: scontrol update JobId=%s StartTime=22:00 "
                   "(sbatch --begin=22:00)\n",
                   reply->id);
}

/* Its limit does not run meanwhile, so nobody can say when it ends. */
static void suspended_print(const struct why_reply *reply, struct str *out) {
    str_append(out, "It has been suspended since ");
    timestamp_print(reply->job->suspend_time, NULL, reply->now, out);
    if (reply->job->paused)
        str_append(out, " to let others have its CPUs, and goes on by itself when they are free "
                        "again or its turn has come.\n");
    else
        str_printf(out, " by an administrator; scontrol resume %s lets it go on.\n", reply->id);
}

static void running_print(const struct why_reply *reply, struct str *out) {
    const struct job *job = reply->job;
    str_append(out, "It has run since ");
    timestamp_print(job->start_time, NULL, reply->now, out);
    str_append(out, " (");
    span_print(reply->now - job->start_time, out);
    str_printf(out, ") on %s", job->nodes ? job->nodes : "?");
    if (job->provenance)
        str_printf(out, ", started %.*s", why_started_length(job), job->provenance);
    str_append(out, ".\n");
    if (job->state == JOB_SUSPENDED) {
        suspended_print(reply, out);
    } else if (job->end_time > 0) {
        str_append(out, "It ends at the latest at ");
        time_print(reply, job->end_time, out);
        str_append(out, job->preempt_end > 0 ? ", the end of its grace.\n" : ", its limit.\n");
    } else {
        str_append(out, "It has no time limit.\n");
    }
    why_preempted(job, reply->now, out);
    why_delay(job, reply->now, out);
}

void why_text(const struct why_reply *reply, struct str *out) {
    const struct job *job = reply->job;
    head_print(reply, out);
    if (job->state == JOB_PENDING) {
        pending_print(reply, out);
    } else if (!job_state_is_final(job->state)) {
        running_print(reply, out);
    } else {
        why_end(job, out);
        str_append_char(out, '\n');
        why_preempted(job, reply->now, out);
        if (job->start_time > 0 && job->nodes) {
            str_append(out, "It ran for ");
            span_print(job->end_time - job->start_time, out);
            str_printf(out, " on %s until ", job->nodes);
            timestamp_print(job->end_time, NULL, reply->now, out);
            str_append(out, ".\n");
        }
    }
}
