/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs and nodes that fail each other; see failure.h. */
#include "core/failure.h"

#include <string.h>

#include "core/state.h"

/* One launch or script that failed. */
struct failing {
    int64_t time;
    uint32_t node, uid, job_id; /* tasks of an array count as one */
    bool launch;
    bool drained; /* the launch has drained the node */
};

/* The latest of all nodes; more than that are not told apart. */
#define REMEMBERED 256

struct failures {
    struct failing items[REMEMBERED];
    size_t n, next;
};

void failures_forget(struct core *core) {
    free(core->failures);
    core->failures = NULL;
}

static struct failing *remember(struct core *core, const struct core_job *job, uint32_t node) {
    if (core->failures == NULL)
        core->failures = zalloc(struct failures);
    struct failures *failures = core->failures;
    struct failing *item = &failures->items[failures->next];
    failures->next = (failures->next + 1) % REMEMBERED;
    failures->n = min_of(failures->n + 1, (size_t) REMEMBERED);
    *item = (struct failing) {.time = core->now, .node = node, .uid = job->rec.uid};
    item->job_id = job->rec.array_job_id != 0 ? job->rec.array_job_id : job->rec.job_id;
    return item;
}

/* ---- the job's record ---- */

static struct job_trouble *trouble_of(struct core_job *job) {
    if (job->rec.trouble == NULL) {
        job->rec.trouble = zalloc(struct job_trouble);
        record_init(&record_job_trouble, job->rec.trouble);
    }
    return job->rec.trouble;
}

void failure_forgive(struct core_job *job) {
    record_free(&record_job_trouble, job->rec.trouble);
    job->rec.trouble = NULL;
    job->rec.launch_failures = 0;
}

int64_t failure_due(const struct core_job *job) {
    return job->rec.trouble != NULL ? job->rec.trouble->avoid_until : 0;
}

/* Seconds before the n-th try after the first. */
static int64_t delay_of(uint32_t n) {
    int64_t delay = FAILURE_DELAY;
    for (uint32_t i = 1; i < n && delay < FAILURE_DELAY_MOST; i++)
        delay *= 2;
    return min_of(delay, (int64_t) FAILURE_DELAY_MOST);
}

static uint32_t nodes_failed(const struct core_job *job) {
    return job->rec.trouble != NULL ? job->rec.trouble->failed_nodes.n : 0;
}

static void note_node(struct core *core, struct core_job *job, uint32_t node) {
    struct job_trouble *trouble = trouble_of(job);
    const char *name = core->nodes[node].rec.name;
    trouble->avoid_until = core->now + FAILURE_AVOIDED;
    if (!strs_has(&trouble->failed_nodes, name) && trouble->failed_nodes.n < FAILURE_NAMED)
        strs_push(&trouble->failed_nodes, name);
}

/* ---- jobs that cannot begin ---- */

bool failure_of_begin(struct core *core, struct core_job *job, uint32_t node) {
    if (node != UINT32_MAX)
        note_node(core, job, node);
    uint32_t n = ++job->rec.launch_failures;
    bool hold = n >= core->settings.max_batch_requeue;
    job->requeue_wait = n > 1 && !hold ? delay_of(n - 1) : 0;
    return hold;
}

static uint32_t drained_for(const struct core *core, uint32_t uid) {
    uint32_t n = 0;
    for (size_t i = 0; core->failures != NULL && i < core->failures->n; i++) {
        const struct failing *item = &core->failures->items[i];
        n += item->drained && item->uid == uid && item->time + FAILURE_AVOIDED > core->now;
    }
    return n;
}

/* Why the node is not to blame for a launch that failed there; NULL when it is. */
static const char *excuse(const struct core *core, const struct core_job *job, uint32_t code) {
    if (code == ERR_USER_ID)
        return "the user is not known there";
    if (nodes_failed(job) > 0)
        return "the job has failed on another node before";
    if (drained_for(core, job->rec.uid) >= FAILURE_NODES_PER_USER)
        return "launches of this user have drained other nodes already";
    return NULL;
}

static void blame_node(struct core *core, const struct core_job *job, uint32_t node,
                       uint32_t code) {
    const char *why = excuse(core, job, code);
    struct failing *item = remember(core, job, node);
    item->launch = true;
    item->drained = why == NULL;
    if (why == NULL) /* else every waiting job would be tried there, one after the other */
        node_drain(core, node, "batch job complete failure", core->settings.admin_uid);
    else
        emit_log(core, EFFECT_ERROR, "node %s is not drained for job %u: %s",
                 core->nodes[node].rec.name, job->rec.job_id, why);
}

void job_launch_failed(struct core *core, struct core_job *job, uint32_t node, uint32_t code) {
    blame_node(core, job, node, code);
    string_set(&job->rec.failed_node, core->nodes[node].rec.name);
    bool hold = failure_of_begin(core, job, node);
    job->requeue_wait = hold ? 0 : delay_of(job->rec.launch_failures);
    if (job->rec.requeue == TRI_YES) {
        job_requeue(core, job, hold, JOB_FAILED, NULL, REASON_MAX_REQUEUE);
        return;
    }
    job_finish(core, job, JOB_FAILED, REASON_LAUNCH_FAILURE, 1 << 8, NULL);
    string_set(&job->rec.state_desc, NULL);
}

/* ---- jobs under which nodes go down ---- */

bool failure_of_node(struct core *core, struct core_job *job, uint32_t node) {
    note_node(core, job, node);
    uint32_t losses = ++trouble_of(job)->losses, most = core->settings.job_breaks;
    bool hold = most > 0 && losses >= most;
    if (hold)
        emit_log(core, EFFECT_ERROR,
                 "job %u is held: a node went down in %u of its runs (sluice_job_breaks)",
                 job->rec.job_id, losses);
    return hold;
}

/* ---- jobs that are requeued for ever ---- */

int64_t failure_of_requeue(struct core *core, struct core_job *job) {
    int64_t end = job_has_nodes(job) ? core->now : job->rec.end_time;
    bool quick = job->rec.start_time > 0 && end - job->rec.start_time < FAILURE_QUICK_RUN;
    if (!quick) {
        if (job->rec.trouble != NULL)
            job->rec.trouble->quick = 0;
        return 0;
    }
    uint32_t n = ++trouble_of(job)->quick;
    job->requeue_wait = n > FAILURE_QUICK_FREE ? delay_of(n - FAILURE_QUICK_FREE) : 0;
    return job->requeue_wait;
}

/* ---- what is avoided ---- */

void failure_avoid(struct core *core, const struct job *job, struct arena *arena,
                   struct sched_job_spec *spec) {
    const struct job_trouble *trouble = job->trouble;
    if (trouble == NULL || trouble->avoid_until <= core->now || core->sched == NULL)
        return;
    size_t n = spec->n_exc_nodes;
    uint32_t *nodes = arena_alloc(arena, (n + trouble->failed_nodes.n + 1) * sizeof(*nodes));
    if (n > 0)
        memcpy(nodes, spec->exc_nodes, n * sizeof(*nodes));
    for (uint32_t i = 0; i < trouble->failed_nodes.n; i++) {
        uint32_t node = core_node_find(core, trouble->failed_nodes.items[i]);
        for (size_t k = 0; k < spec->n_req_nodes; k++)
            node = spec->req_nodes[k] == node ? UINT32_MAX : node; /* it is insisted on */
        if (node != UINT32_MAX)
            nodes[n++] = node;
    }
    struct sched_job_spec without = *spec;
    without.exc_nodes = nodes;
    without.n_exc_nodes = n;
    struct str before cleanup_str = STR_INIT;
    struct error err = ERROR_INIT;
    if (sched_feasible(core->sched, &without, &before, &err) == 0)
        *spec = without;
}

/* ---- nodes that eat jobs ---- */

static const char node_eats[] = "failing jobs";

static void forget_node(struct core *core, uint32_t node) {
    for (size_t i = 0; core->failures != NULL && i < core->failures->n; i++) {
        struct failing *item = &core->failures->items[i];
        if (item->node == node && !item->launch)
            item->time = 0;
    }
}

struct eaten {
    uint32_t jobs, users;
    int64_t since;
};

static bool counts(const struct core *core, const struct failing *item, uint32_t node) {
    return item->node == node && !item->launch && item->time > 0 &&
           item->time + FAILURE_WINDOW > core->now;
}

/* The scripts of how many jobs and users have failed there lately. */
static struct eaten eaten_by(const struct core *core, uint32_t node) {
    const struct failures *all = core->failures;
    struct eaten eaten = {.since = core->now};
    for (size_t i = 0; i < all->n; i++) {
        bool job_known = false, user_known = false;
        if (!counts(core, &all->items[i], node))
            continue;
        for (size_t k = 0; k < i; k++) {
            if (!counts(core, &all->items[k], node))
                continue;
            job_known |= all->items[k].job_id == all->items[i].job_id;
            user_known |= all->items[k].uid == all->items[i].uid;
        }
        eaten.jobs += !job_known;
        eaten.users += !user_known;
        eaten.since = min_of(eaten.since, all->items[i].time);
    }
    return eaten;
}

static bool may_drain_more(const struct core *core) {
    size_t drained = 0;
    for (size_t i = 0; i < core->n_nodes; i++) {
        const struct node *rec = &core->nodes[i].rec;
        drained += (rec->flags & NODE_FLAG_DRAIN) && rec->reason != NULL &&
                   strstr(rec->reason, node_eats) != NULL;
    }
    return drained < max_of(core->n_nodes / 10, (size_t) 1);
}

static void break_node(struct core *core, uint32_t node) {
    struct eaten eaten = eaten_by(core, node);
    if (eaten.jobs < core->settings.node_breaker || eaten.users < FAILURE_USERS ||
        (core->nodes[node].rec.flags & NODE_FLAG_DRAIN))
        return;
    cleanup_free char *reason = xasprintf("%s: %u of %u users within %lld s", node_eats, eaten.jobs,
                                          eaten.users, (long long) (core->now - eaten.since));
    forget_node(core, node);
    if (may_drain_more(core))
        node_drain(core, node, reason, core->settings.admin_uid);
    else
        emit_log(core, EFFECT_ERROR,
                 "node %s is not drained (%s): other nodes are, so the cause may be one of all "
                 "nodes",
                 core->nodes[node].rec.name, reason);
}

void failure_run_ended(struct core *core, const struct core_job *job) {
    if (core->settings.node_breaker == 0 || job->rec.kind != JOB_KIND_BATCH ||
        job->rec.allocation.n == 0)
        return;
    uint32_t node = job->rec.allocation.items[0].node; /* where the script ran */
    int64_t seconds = job->rec.end_time - job->rec.start_time;
    bool failed = job->rec.state == JOB_FAILED && (job->rec.reason == REASON_NON_ZERO_EXIT ||
                                                   job->rec.reason == REASON_RAISED_SIGNAL);
    if (job->rec.state == JOB_COMPLETED || (failed && seconds >= FAILURE_SCRIPT)) {
        forget_node(core, node);
    } else if (failed) {
        (void) remember(core, job, node);
        break_node(core, node);
    }
}
