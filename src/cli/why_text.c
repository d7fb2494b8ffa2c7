/* SPDX-License-Identifier: Apache-2.0 */
/* `sluice why` in sentences. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/columns_job.h"
#include "cli/why.h"
#include "text/duration.h"
#include "text/size.h"
#include "text/timestamp.h"

/* What is told, how, and to where. */
struct page {
    const struct why_reply *reply;
    enum language language;
    struct str *out;
};

static const char *say(const struct page *page, enum phrase_id id) {
    return phrase(page->language, id);
}

/* Room for one number with its noun, or one time, in any language. */
struct few_words {
    char text[96];
};

/* "45 s", "12 min", "3 h 20 min", "2 d 4 h" */
static struct few_words span(const struct page *page, int64_t seconds) {
    struct few_words ret;
    long long s = seconds > 0 ? seconds : 0;
    if (s < 120)
        snprintf(ret.text, sizeof(ret.text), say(page, PHRASE_WHY_SECONDS), s);
    else if (s < 7200)
        snprintf(ret.text, sizeof(ret.text), say(page, PHRASE_WHY_MINUTES), s / 60);
    else if (s < 172800)
        snprintf(ret.text, sizeof(ret.text), say(page, PHRASE_WHY_HOURS), s / 3600, s % 3600 / 60);
    else
        snprintf(ret.text, sizeof(ret.text), say(page, PHRASE_WHY_DAYS), s / 86400,
                 s % 86400 / 3600);
    return ret;
}

static struct few_words count(const struct page *page, enum phrase_id one, enum phrase_id many,
                              uint64_t n) {
    struct few_words ret;
    snprintf(ret.text, sizeof(ret.text), say(page, n == 1 ? one : many), (unsigned long long) n);
    return ret;
}
static struct few_words nodes_of(const struct page *page, uint64_t n) {
    return count(page, PHRASE_WHY_NODE, PHRASE_WHY_NODES, n);
}
static struct few_words cpus_of(const struct page *page, uint64_t n) {
    return count(page, PHRASE_WHY_CPU, PHRASE_WHY_CPUS, n);
}
static struct few_words jobs_of(const struct page *page, uint64_t n) {
    return count(page, PHRASE_WHY_JOB, PHRASE_WHY_JOBS, n);
}

/* A point in time, and how far off it is. */
static struct few_words moment(const struct page *page, int64_t time) {
    struct str out cleanup_str = STR_INIT;
    struct few_words ret;
    why_time(time, page->reply->now, page->language, &out);
    if (time > page->reply->now)
        str_printf(&out, say(page, PHRASE_WHY_IN), span(page, time - page->reply->now).text);
    snprintf(ret.text, sizeof(ret.text), "%s", str_cstr(&out));
    return ret;
}

static struct few_words stamp(const struct page *page, int64_t time) {
    struct str out cleanup_str = STR_INIT;
    struct few_words ret;
    timestamp_print(time, NULL, page->reply->now, &out);
    snprintf(ret.text, sizeof(ret.text), "%s", str_cstr(&out));
    return ret;
}

/* The sentence with ID in it. */
static void sentence(const struct page *page, const char *text) {
    struct str *out = page->out;
    for (const char *id; (id = strstr(text, "ID")) != NULL; text = id + 2) {
        bool word = id > text && (id[-1] == '=' || id[-1] == ' ') && strchr(" )\n", id[2]) != NULL;
        str_append_bytes(out, text, (size_t) (id - text));
        str_append(out, word || id[2] == '\0' ? page->reply->id : "ID");
    }
    str_printf(out, "%s\n", text);
}

/* ---- who and what ---- */

static void head_print(const struct page *page) {
    const struct job *job = page->reply->job;
    const char *name = job->name ? job->name : "", *user = job->user_name ? job->user_name : "?";
    const char *partition = job->partition ? job->partition : "?";
    const char *state = job_state_text(job->state, job->flags);
    if (job->state == JOB_PENDING)
        str_printf(page->out, say(page, PHRASE_WHY_HAS_BEEN), page->reply->id, name, user,
                   partition, state, span(page, page->reply->now - job->submit_time).text,
                   job_reason_text(job));
    else
        str_printf(page->out, say(page, PHRASE_WHY_IS), page->reply->id, name, user, partition,
                   state);
}

static void needs_print(const struct page *page) {
    const struct job *job = page->reply->job;
    struct str limit cleanup_str = STR_INIT, minutes cleanup_str = STR_INIT;
    minutes_print_long(job->time_limit, "", &minutes);
    if (job->time_limit == MINUTES_INFINITE || job->time_limit == MINUTES_UNSET)
        str_append(&limit, say(page, PHRASE_WHY_NO_LIMIT));
    else
        str_printf(&limit, say(page, PHRASE_WHY_UP_TO), str_cstr(&minutes));
    str_printf(page->out, say(page, PHRASE_WHY_NEEDS), nodes_of(page, job->num_nodes).text,
               cpus_of(page, job->num_cpus).text, job->tres_req ? job->tres_req : "",
               str_cstr(&limit));
    const struct {
        enum phrase_id what;
        const char *value;
    } extras[] = {
        {PHRASE_WHY_ON_NODES, job->req_nodes},     {PHRASE_WHY_NOT_ON, job->exc_nodes},
        {PHRASE_WHY_FEATURES, job->features},      {PHRASE_WHY_LICENCES, job->licenses},
        {PHRASE_WHY_PER_NODE, job->tres_per_node}, {PHRASE_WHY_IN_ALL, job->tres_per_job},
        {PHRASE_WHY_PER_TASK, job->tres_per_task},
    };
    for (size_t i = 0; i < countof(extras); i++) {
        if (extras[i].value)
            str_printf(page->out, say(page, extras[i].what), extras[i].value);
    }
    if (job->exclusive == EXCLUSIVE_NODE)
        str_append(page->out, say(page, PHRASE_WHY_ALONE));
    str_append(page->out, ".\n");
}

/* ---- nodes ---- */

static void group_print(const struct page *page, const struct why_nodes *group) {
    static const enum phrase_id texts[] = {
        [WHY_NODE_FREE] = PHRASE_WHY_FREE_NOW,
        [WHY_NODE_PROMISED] = PHRASE_WHY_FREE_PROMISED,
        [WHY_NODE_BUSY] = PHRASE_WHY_IN_USE,
    };
    struct str *out = page->out;
    str_printf(out, "  %s (%u): ", group->nodes ? group->nodes : "", group->n);
    if (group->state != WHY_NODE_AWAY) {
        bool known = group->state >= WHY_NODE_FREE && group->state <= WHY_NODE_BUSY;
        str_printf(out, "%s\n", known ? say(page, texts[group->state]) : "?");
        return;
    }
    str_append(out, group->what ? group->what : say(page, PHRASE_WHY_NOT_USABLE));
    if (group->reason)
        str_printf(out, ", \"%s\"", group->reason);
    if (group->by)
        str_printf(out, say(page, PHRASE_WHY_BY), group->by);
    if (group->since > 0 && group->since < page->reply->now)
        str_printf(out, say(page, PHRASE_WHY_SINCE),
                   span(page, page->reply->now - group->since).text);
    str_append_char(out, '\n');
}

static void nodes_print(const struct page *page) {
    const struct why_reply *reply = page->reply;
    struct str *out = page->out;
    uint64_t n = 0;
    for (uint32_t i = 0; i < reply->fits.n; i++)
        n += reply->fits.items[i].n;
    if (n == 0) {
        str_append(out, say(page, PHRASE_WHY_NO_NODE));
        return;
    }
    struct str mem cleanup_str = STR_INIT;
    mem_print(reply->free_mem, true, &mem);
    str_printf(out, say(page, PHRASE_WHY_COULD), nodes_of(page, n).text,
               cpus_of(page, reply->free_cpus).text, str_cstr(&mem), reply->free_gres ? ", " : "",
               reply->free_gres ? reply->free_gres : "");
    for (uint32_t i = 0; i < reply->fits.n; i++)
        group_print(page, &reply->fits.items[i]);
    for (uint32_t i = 0; i < reply->holders.n; i++) {
        const struct why_job *job = &reply->holders.items[i];
        str_printf(out, say(page, PHRASE_WHY_HELD_BY), job->job, job->user,
                   cpus_of(page, job->cpus).text, job->nodes, moment(page, job->time).text);
    }
    if (reply->holders_total > reply->holders.n)
        str_printf(out, say(page, PHRASE_WHY_AND_BY), reply->holders_total - reply->holders.n);
}

/* ---- who is ahead ---- */

/* The weighted factors that count, and what they add up to. */
static void priority_print(const struct page *page) {
    const struct job *job = page->reply->job;
    struct str list cleanup_str = STR_INIT;
    const struct {
        enum phrase_id name;
        uint64_t value;
    } parts[] = {{PHRASE_WHY_PART_AGE, job->prio_age},
                 {PHRASE_WHY_PART_FAIRSHARE, job->prio_fairshare},
                 {PHRASE_WHY_PART_SIZE, job->prio_size},
                 {PHRASE_WHY_PART_PARTITION, job->prio_partition},
                 {PHRASE_WHY_PART_QOS, job->prio_qos},
                 {PHRASE_WHY_PART_ASSOCIATION, job->prio_assoc},
                 {PHRASE_WHY_PART_ACCURACY, job->prio_accuracy}};
    for (size_t i = 0; i < countof(parts); i++) {
        if (parts[i].value > 0)
            str_printf(&list, "%s%s %llu", list.length > 0 ? ", " : " (", say(page, parts[i].name),
                       (unsigned long long) priority_rounded(parts[i].value));
    }
    if (job->nice != 0)
        str_printf(&list, "%s%s %d", list.length > 0 ? ", " : " (", say(page, PHRASE_WHY_PART_NICE),
                   job->nice);
    if (list.length > 0)
        str_append_char(&list, ')');
    str_printf(page->out, say(page, PHRASE_WHY_PRIORITY_IS), job->priority, str_cstr(&list));
}

static void ahead_print(const struct page *page) {
    static const enum phrase_id causes[] = {
        [WHY_TIER] = PHRASE_WHY_TIER_HIGHER,
        [WHY_PRIORITY] = PHRASE_WHY_PRIORITY_HIGHER,
        [WHY_EARLIER] = PHRASE_WHY_SUBMITTED_BEFORE,
    };
    const struct why_reply *reply = page->reply;
    struct str *out = page->out;
    if (reply->ahead_total == 0)
        return;
    str_printf(out, say(page, reply->ahead_total == 1 ? PHRASE_WHY_AHEAD_ONE : PHRASE_WHY_AHEAD),
               jobs_of(page, reply->ahead_total).text);
    const struct {
        uint32_t n;
        enum phrase_id text;
    } counts[] = {{reply->ahead_by_tier, PHRASE_WHY_BY_TIER},
                  {reply->ahead_by_priority, PHRASE_WHY_BY_PRIORITY},
                  {reply->ahead_by_age, PHRASE_WHY_BY_AGE}};
    const char *between = ": ";
    for (size_t i = 0; i < countof(counts); i++) {
        if (counts[i].n == 0)
            continue;
        str_append(out, between);
        str_printf(out, say(page, counts[i].text), counts[i].n);
        between = ", ";
    }
    str_append(out, ". ");
    priority_print(page);
    for (uint32_t i = 0; i < reply->ahead.n; i++) {
        const struct why_job *job = &reply->ahead.items[i];
        bool known = job->cause >= WHY_TIER && job->cause <= WHY_EARLIER;
        str_printf(out, say(page, PHRASE_WHY_AHEAD_JOB), job->job, job->user,
                   job->tres ? job->tres : "", job->priority,
                   known ? say(page, causes[job->cause]) : "?", moment(page, job->time).text);
    }
}

/* ---- what else keeps it ---- */

static void depends_print(const struct page *page) {
    const struct why_reply *reply = page->reply;
    struct str *out = page->out;
    if (reply->job->depend_cause)
        str_printf(out, "  %s\n", reply->job->depend_cause);
    for (uint32_t i = 0; i < reply->depends.n; i++) {
        const struct why_job *job = &reply->depends.items[i];
        str_printf(out, "  %s", job->job);
        if (job->tres)
            str_printf(out, say(page, PHRASE_WHY_DEPEND_JOB), job->user, job->tres);
        if (job->time > 0)
            str_printf(out, say(page, PHRASE_WHY_DEPEND_UNTIL), moment(page, job->time).text);
        str_append_char(out, '\n');
    }
}

static void limits_print(const struct page *page) {
    const struct why_reply *reply = page->reply;
    struct str *out = page->out;
    for (uint32_t i = 0; i < reply->limits.n; i++) {
        const struct why_limit *limit = &reply->limits.items[i];
        str_printf(out, say(page, PHRASE_WHY_LIMIT_IS), limit->name,
                   (unsigned long long) limit->limit, limit->unit ? " " : "",
                   limit->unit ? limit->unit : "", (unsigned long long) limit->asked);
        if (limit->used_by)
            str_printf(out, say(page, PHRASE_WHY_LIMIT_USED), (unsigned long long) limit->used,
                       limit->used_by);
        if (limit->until > 0)
            str_printf(out, say(page, PHRASE_WHY_LIMIT_FREE), moment(page, limit->until).text);
        if (limit->cure)
            str_printf(out, " - %s", limit->cure);
        str_append_char(out, '\n');
    }
}

static void share_print(const struct page *page) {
    if (page->reply->share)
        str_printf(page->out, say(page, PHRASE_WHY_SHARE), page->reply->share);
}

/* ---- reservations and preemption ---- */

static void reservation_print(const struct page *page) {
    const char *text = page->reply->reservation;
    if (text && *text)
        str_printf(page->out, "%c%s.\n", toupper((unsigned char) *text), text + 1);
}

static void leaving_print(const struct page *page) {
    const struct why_reply *reply = page->reply;
    if (reply->leaving.n == 0)
        return;
    str_printf(page->out,
               say(page, reply->leaving.n == 1 ? PHRASE_WHY_LEAVING_ONE : PHRASE_WHY_LEAVING),
               jobs_of(page, reply->leaving.n).text);
    for (uint32_t i = 0; i < reply->leaving.n; i++) {
        const struct why_job *job = &reply->leaving.items[i];
        struct str how cleanup_str = STR_INIT;
        if (job->time > 0)
            str_printf(&how, say(page, PHRASE_WHY_GOES_UNTIL), moment(page, job->time).text);
        else
            str_append(&how, say(page, PHRASE_WHY_BEING_ENDED));
        str_printf(page->out, say(page, PHRASE_WHY_LEAVING_JOB), job->job, job->user,
                   cpus_of(page, job->cpus).text, job->nodes ? job->nodes : "?", str_cstr(&how));
    }
}

/* ---- when ---- */

static void start_print(const struct page *page) {
    const struct why_reply *reply = page->reply;
    const struct job *job = reply->job;
    struct str *out = page->out;
    if (reply->expected == 0) {
        str_append(out, say(page, PHRASE_WHY_NOBODY_KNOWS));
        return;
    }
    str_printf(out,
               say(page, job->priority == 0                 ? PHRASE_WHY_IF_RELEASED
                         : job->reason == REASON_DEPENDENCY ? PHRASE_WHY_IF_TRUE
                                                            : PHRASE_WHY_EXPECTED),
               moment(page, reply->expected).text);
    if (reply->nodes)
        str_printf(out, say(page, PHRASE_WHY_START_ON), reply->nodes);
    if (reply->partition && !str_equal(reply->partition, job->partition))
        str_printf(out, say(page, PHRASE_WHY_START_PARTITION), reply->partition);
    str_append(out, reply->exact ? ".\n"
                                 : say(page, reply->preemption ? PHRASE_WHY_ESTIMATE_PREEMPTION
                                                               : PHRASE_WHY_ESTIMATE));
    if (reply->earliest > 0 && reply->earliest < reply->expected)
        str_printf(out, say(page, PHRASE_WHY_EARLIEST), moment(page, reply->earliest).text);
    if (reply->exact && reply->latest > reply->now)
        str_append(out, say(page, PHRASE_WHY_EXACT));
}

static void changes_print(const struct page *page) {
    const struct why_reply *reply = page->reply;
    struct str *out = page->out;
    if (reply->changes.n == 0) {
        if (reply->n_tried > 0)
            str_printf(out, say(page, PHRASE_WHY_NO_CHANGE), reply->n_tried);
        return;
    }
    str_append(out, say(page, PHRASE_WHY_SOONER));
    for (uint32_t i = 0; i < reply->changes.n; i++) {
        const struct why_change *change = &reply->changes.items[i];
        str_printf(out, say(page, PHRASE_WHY_CHANGE), change->option,
                   moment(page, change->start).text);
        if (change->nodes)
            str_printf(out, say(page, PHRASE_WHY_START_ON), change->nodes);
        if (change->update && reply->may_update)
            str_printf(out, "; scontrol update JobId=%s %s", reply->id, change->update);
        str_append_char(out, '\n');
    }
}

static void pending_print(const struct page *page) {
    const struct why_reply *reply = page->reply;
    const char *reason = why_reason(reply->job->reason, page->language);
    if (reason)
        sentence(page, reason);
    why_trouble(reply->job, reply->now, page->language, page->out);
    reservation_print(page);
    why_preempted(reply->job, reply->now, page->language, page->out);
    limits_print(page);
    depends_print(page);
    needs_print(page);
    nodes_print(page);
    ahead_print(page);
    share_print(page);
    leaving_print(page);
    start_print(page);
    why_delay(reply->job, reply->now, page->language, page->out);
    changes_print(page);
    if (reply->may_update &&
        (reply->job->reason == REASON_RESOURCES || reply->job->reason == REASON_PRIORITY))
        str_printf(page->out, say(page, PHRASE_WHY_TONIGHT), reply->id);
}

/* Its limit does not run meanwhile, so nobody can say when it ends. */
static void suspended_print(const struct page *page) {
    const struct job *job = page->reply->job;
    struct few_words since = stamp(page, job->suspend_time);
    if (job->paused)
        str_printf(page->out, say(page, PHRASE_WHY_SUSPENDED_PAUSED), since.text);
    else
        str_printf(page->out, say(page, PHRASE_WHY_SUSPENDED_BY), since.text,
                   job->suspended_by ? job->suspended_by : "?", page->reply->id);
    if (!job->paused && job->kind == JOB_KIND_BATCH && job->requeue == TRI_YES)
        str_printf(page->out, say(page, PHRASE_WHY_SUSPENDED_KEEPS), page->reply->id);
}

static void running_print(const struct page *page) {
    const struct why_reply *reply = page->reply;
    const struct job *job = reply->job;
    struct str *out = page->out;
    str_printf(out, say(page, PHRASE_WHY_RUNS), stamp(page, job->start_time).text,
               span(page, reply->now - job->start_time).text, job->nodes ? job->nodes : "?");
    if (job->provenance) {
        struct str how cleanup_str = STR_INIT;
        str_append_bytes(&how, job->provenance, (size_t) why_started_length(job));
        str_printf(out, say(page, PHRASE_WHY_STARTED), str_cstr(&how));
    }
    str_append(out, ".\n");
    if (job->state == JOB_SUSPENDED)
        suspended_print(page);
    else if (job->end_time > 0)
        str_printf(
            out,
            say(page, job->preempt_end > 0 ? PHRASE_WHY_ENDS_BY_GRACE : PHRASE_WHY_ENDS_BY_LIMIT),
            moment(page, job->end_time).text);
    else
        str_append(out, say(page, PHRASE_WHY_ENDS_NEVER));
    why_preempted(job, reply->now, page->language, out);
    why_delay(job, reply->now, page->language, out);
}

static void ended_print(const struct page *page) {
    const struct job *job = page->reply->job;
    why_end(job, page->language, page->out);
    str_append_char(page->out, '\n');
    why_preempted(job, page->reply->now, page->language, page->out);
    if (job->start_time > 0 && job->nodes)
        str_printf(page->out, say(page, PHRASE_WHY_RAN),
                   span(page, job->end_time - job->start_time).text, job->nodes,
                   stamp(page, job->end_time).text);
}

void why_text(const struct why_reply *reply, enum language language, struct str *out) {
    const struct page page = {reply, language, out};
    head_print(&page);
    if (reply->job->state == JOB_PENDING)
        pending_print(&page);
    else if (!job_state_is_final(reply->job->state))
        running_print(&page);
    else
        ended_print(&page);
}
