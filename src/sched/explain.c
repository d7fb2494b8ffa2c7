/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why jobs wait. All jobs of a shape wait for the same reason, but for a few: the first of a
 * partition or reservation that cannot start waits for resources, jobs with a plan have a time,
 * jobs outside the order (begin time, deadline, array limit) have their own. Only changes are
 * reported.
 */
#include "sched/internal.h"
#include "text/hostlist.h"

/* ---- closed shapes: cannot start until the cluster changes ---- */

static bool licenses_exist(const struct sched *s, const struct shape *shape) {
    for (size_t i = 0; i < shape->n_licenses; i++) {
        const struct license_use *use = &shape->licenses[i];
        if (use->id >= s->n_licenses || use->count > s->license_total[use->id])
            return false;
    }
    return true;
}

static bool required_down(const struct sched *s, const struct shape *shape) {
    for (size_t i = 0; i < shape->n_req_nodes; i++) {
        if (!s->nodes[shape->req_nodes[i]].usable)
            return true;
    }
    return false;
}

static uint32_t alternative_reason(struct sched *s, struct shape *shape, struct alternative *alt) {
    if (alt->limits)
        return alt->limits;
    if (!s->partitions[alt->partition].schedulable)
        return REASON_PARTITION_DOWN;
    if (alt->refused)
        return alt->refused;
    const struct budget *never = budget_never(s, alt);
    if (never)
        return never->spec.reason;
    if (!licenses_exist(s, shape))
        return REASON_LICENSES;
    if (place_ever(s, shape, alt, true))
        return REASON_NONE;
    if (alt->reservation)
        return REASON_RESERVATION;
    if (required_down(s, shape))
        return REASON_REQ_NODE_NOT_AVAIL;
    return place_ever(s, shape, alt, false) ? REASON_NODES_UNAVAILABLE : REASON_PARTITION_CONFIG;
}

void shape_detail_set(struct sched *s, struct shape *shape, char *detail) {
    if (str_equal(shape->detail, detail)) {
        free(detail);
        return;
    }
    free(shape->detail);
    shape->detail = detail;
    shape->detail_version = ++s->detail_version;
}

/* "ReqNodeNotAvail, UnavailableNodes:c[01-02]" */
static char *unavailable_text(const struct sched *s, const struct shape *shape) {
    struct hostlist names = HOSTLIST_INIT;
    struct str text = STR_INIT;

    for (size_t i = 0; i < shape->n_req_nodes; i++) {
        const struct node *node = &s->nodes[shape->req_nodes[i]];
        if (!node->usable)
            hostlist_push(&names, node->name);
    }
    hostlist_sort(&names);
    str_append(&text, "ReqNodeNotAvail, UnavailableNodes:");
    hostlist_fold(&names, &text);
    hostlist_done(&names);
    return str_take(&text);
}

void shape_report(struct sched *s, struct shape *shape) {
    if (shape->reported)
        return;
    vec_push(&s->reports, shape);
    shape->reported = s->reports.n;
}

void shape_short_of(struct sched *s, struct shape *shape, uint32_t reason) {
    if (shape->short_of == reason)
        return;
    shape->short_of = reason;
    shape_report(s, shape);
}

bool shape_open(struct sched *s, struct shape *shape) {
    uint32_t closed = REASON_NONE;
    bool open = false;

    if (shape->static_version == s->static_version)
        return shape->blocked_reason == REASON_NONE;
    shape->static_version = s->static_version;
    for (size_t i = 0; i < shape->n_alternatives; i++) {
        struct alternative *alt = &shape->alternatives[i];
        alt->reason = alternative_reason(s, shape, alt);
        open = open || alt->reason == REASON_NONE;
        if (closed == REASON_NONE)
            closed = alt->reason;
    }
    shape->blocked_reason = open ? REASON_NONE : closed ? closed : REASON_PARTITION_CONFIG;
    shape_detail_set(s, shape,
                     shape->blocked_reason == REASON_REQ_NODE_NOT_AVAIL ? unavailable_text(s, shape)
                                                                        : NULL);
    shape_report(s, shape);
    return open;
}

/* ---- reports ---- */

struct waits {
    struct sched *s;
    struct sched_plan *plan;
    vec(struct sched_wait) items;
    uint32_t most; /* as many are enough for now; 0 = no bound */
    bool more;     /* something was left */
};

static uint64_t plan_hash(const struct plan *plan) {
    return plan ? hash_bytes(plan->nodes, plan->n * sizeof(*plan->nodes), plan->n) : 0;
}

static void report_nodes(const struct waits *w, const struct plan *plan, struct sched_wait *wait) {
    uint32_t *nodes = arena_alloc(w->plan->memory, (plan->n + 1) * sizeof(*nodes));

    for (uint32_t i = 0; i < plan->n; i++)
        nodes[i] = w->s->nodes[plan->nodes[i]].outer;
    wait->nodes = nodes;
    wait->n_nodes = plan->n;
}

static void report(struct waits *w, struct job *job, uint32_t reason, int64_t start) {
    const struct shape *shape = job->shape;
    bool detailed =
        (reason == shape->blocked_reason || reason == shape->held_reason) && shape->detail;
    uint64_t detail = detailed ? shape->detail_version : 0;
    uint64_t nodes = plan_hash(job->plan);

    if (job->reported_any && job->reported_reason == reason && job->reported_start == start &&
        job->reported_detail == detail && job->reported_nodes == nodes)
        return;
    job->reported_any = true;
    job->reported_reason = reason;
    job->reported_start = start;
    job->reported_detail = detail;
    job->reported_nodes = nodes;
    struct sched_wait *wait = vec_add(&w->items);
    wait->job_id = job->job_id;
    wait->reason = reason;
    wait->start = start;
    if (detailed)
        wait->detail = arena_strdup(w->plan->memory, shape->detail);
    if (job->plan)
        report_nodes(w, job->plan, wait);
}

static uint32_t rest_reason(const struct shape *shape) {
    if (shape->blocked_reason)
        return shape->blocked_reason;
    if (shape->short_of)
        return shape->short_of;
    if (shape->held_reason)
        return shape->held_reason;
    return shape->short_of_licenses ? REASON_LICENSES : REASON_PRIORITY;
}

static bool is_head(const struct sched *s, const struct job *job) {
    for (size_t i = 0; i < job->shape->n_alternatives; i++) {
        const struct head *head = alternative_head(s, &job->shape->alternatives[i]);
        if (head->job == job && (head->pass == s->pass || s->cut)) /* not reached: still is */
            return true;
    }
    return false;
}

static void report_job(struct waits *w, struct job *job) {
    switch ((enum job_place) job->place) {
    case PLACE_BEGIN:
        report(w, job, REASON_BEGIN_TIME, job->begin);
        return;
    case PLACE_LIMITED:
        report(w, job, REASON_ARRAY_TASK_LIMIT, 0);
        return;
    case PLACE_EXPIRED:
        report(w, job, REASON_DEADLINE, 0);
        return;
    case PLACE_LIVE:
        break;
    }
    uint32_t reason = rest_reason(job->shape);
    bool room_is_made = job->plan && job->plan->pinned;
    if (reason == REASON_PRIORITY && (room_is_made || is_head(w->s, job)))
        reason = REASON_RESOURCES;
    report(w, job, reason, job->plan ? job->plan->start : 0);
}

static void special_push(struct sched *s, struct job *job) {
    if (job->special_pass == s->pass)
        return;
    job->special_pass = s->pass;
    vec_push(&s->specials, job);
}

static void special_head(struct sched *s, const struct head *head) {
    if (head->pass == s->pass)
        special_push(s, head->job);
}

/* Heads of partitions and reservations, and jobs with plans; those of the last pass that no longer
 * are. */
static void report_specials(struct waits *w) {
    struct sched *s = w->s;
    size_t n_old = s->specials.n;

    for (uint32_t p = 0; p < s->n_partitions; p++)
        special_head(s, &s->partitions[p].head);
    for (uint32_t i = 0; i < s->n_calendar; i++)
        special_head(s, &s->calendar[i].head);
    plans_each (s, plan) {
        special_push(s, (*plan)->job);
    }
    for (size_t i = 0; i < s->specials.n; i++) {
        struct job *job = s->specials.items[i];
        bool still = i >= n_old;
        if (!job)
            continue;
        if (!still && job->special_pass != s->pass && s->cut && job->place == PLACE_LIVE) {
            special_push(s, job); /* comes up below; nobody knows yet */
            continue;
        }
        if (!still && job->special_pass != s->pass)
            job->special = false;
        if (job->started < job->n_tasks)
            report_job(w, job);
    }
    if (s->specials.n > n_old)
        memmove(s->specials.items, s->specials.items + n_old,
                (s->specials.n - n_old) * sizeof(*s->specials.items));
    s->specials.n -= n_old;
    vec_each (&s->specials, job) {
        (*job)->special = true;
    }
}

/* Not looked at: the pass was cut short before. */
static bool untested(const struct sched *s, const struct job *job) {
    return s->cut && job->place == PLACE_LIVE && !job->shape->blocked_reason &&
           job->shape->asleep_version == 0;
}

/* Enough for this pass. */
static bool reported_enough(struct waits *w) {
    if (w->most == 0 || w->items.n < w->most)
        return false;
    w->more = true;
    return true;
}

/* Places that are no longer needed do not add up. */
static void fresh_trim(struct sched *s) {
    if (s->fresh_first * 2 < s->fresh.n)
        return;
    s->fresh.n -= s->fresh_first;
    if (s->fresh.n > 0)
        memmove(s->fresh.items, s->fresh.items + s->fresh_first, s->fresh.n * sizeof(struct job *));
    s->fresh_first = 0;
    for (size_t i = 0; i < s->fresh.n; i++) {
        if (s->fresh.items[i])
            s->fresh.items[i]->fresh = i + 1;
    }
}

/* Those that have one are no longer in the list; when there is enough for this pass, the rest is
 * not looked at, however many they are. */
static void report_fresh(struct waits *w) {
    struct sched *s = w->s;
    size_t at = s->fresh_first, kept = at;

    for (; at < s->fresh.n; at++) {
        struct job *job = s->fresh.items[at];
        if (!job)
            continue;
        if (untested(s, job) || (job->place == PLACE_LIVE && job->started >= job->n_tasks)) {
            s->fresh.items[kept++] = job;
            continue;
        }
        if (reported_enough(w))
            break;
        job->fresh = 0;
        report_job(w, job);
    }
    size_t n = kept - s->fresh_first;
    if (n > 0)
        memmove(s->fresh.items + at - n, s->fresh.items + s->fresh_first, n * sizeof(struct job *));
    s->fresh_first = at - n;
    for (size_t i = s->fresh_first; i < at; i++)
        s->fresh.items[i]->fresh = i + 1;
    fresh_trim(s);
}

/* All jobs of a shape. False: enough for now; next time it goes on there, unless the reason is
 * another one by then. */
static bool report_rest(struct waits *w, struct shape *shape) {
    uint32_t reason = rest_reason(shape);
    bool goes_on = shape->telling && shape->told_reason == reason &&
                   shape->told_detail == shape->detail_version;

    for (size_t i = goes_on ? max_of(shape->first, shape->told) : shape->first; i < shape->n_jobs;
         i++) {
        struct job *job = shape->jobs[i];
        if (!job || job->fresh || job->started >= job->n_tasks)
            continue;
        if (reported_enough(w)) {
            shape->telling = true;
            shape->told = i;
            shape->told_reason = reason;
            shape->told_detail = shape->detail_version;
            return false;
        }
        report_job(w, job);
    }
    shape->telling = false;
    return true;
}

static void report_shapes(struct waits *w) {
    struct sched *s = w->s;
    size_t kept = 0;

    for (size_t i = 0; i < s->reports.n; i++) {
        struct shape *shape = s->reports.items[i];
        uint32_t rest = shape ? rest_reason(shape) : REASON_NONE;

        if (!shape)
            continue;
        shape->reported = 0;
        if (rest == shape->rest_reported && shape->detail_version == shape->detail_reported &&
            !shape->telling)
            continue;
        if (!report_rest(w, shape)) {
            s->reports.items[kept++] = shape;
            shape->reported = kept;
            continue;
        }
        shape->rest_reported = rest;
        shape->detail_reported = shape->detail_version;
    }
    s->reports.n = kept;
}

bool explain_pass(struct sched *s, uint32_t max_waits, bool goes_on, struct sched_plan *plan) {
    struct waits w = {.s = s, .plan = plan, .most = max_waits};

    if (!goes_on)
        report_specials(&w);
    w.most += max_waits ? (uint32_t) w.items.n : 0; /* the others come up, however many these are */
    report_fresh(&w);
    report_shapes(&w);
    plan->n_waits = w.items.n;
    plan->waits = arena_alloc(plan->memory, (plan->n_waits + 1) * sizeof(*plan->waits));
    if (plan->n_waits)
        memcpy(plan->waits, w.items.items, plan->n_waits * sizeof(*plan->waits));
    vec_done(&w.items);
    return w.more;
}
