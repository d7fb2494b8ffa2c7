/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Promises. A job with a plan has been told when it starts at the latest. At the end of each pass
 * every promise is looked at: where the plan has moved later or gone, the cause is looked for among
 * what has happened since the last pass. The most telling comes first: a change of the job itself,
 * a node of the plan that is lost, a job that holds one of its nodes longer than it was to, a job
 * that goes first; then what may have had a part in it.
 */
#include "sched/internal.h"

/* A job that ends by its limit needs some time to leave its nodes; that is no breach. */
#define OVERRUN_GRACE 60
#define CAUSES_MAX 1024

static void cause_push(struct sched *s, struct cause cause) {
    s->clock++;
    if (s->causes.n < CAUSES_MAX)
        vec_push(&s->causes, cause);
}

void sched_cause_note(struct sched *s, enum sched_cause kind, uint32_t subject) {
    cause_push(s, (struct cause) {kind, subject, SCHED_NO_NODE, 0});
}

static void left_late(struct sched *s, const struct run *run, uint32_t node) {
    if (node != SCHED_NO_NODE && s->nodes[node].plans.n > 0)
        cause_push(s, (struct cause) {SCHED_CAUSE_OVERRUN, run->job_id, node, run->end});
}

void promise_run_leaves(struct sched *s, const struct run *run, uint32_t node) {
    if (s->promises.n == 0)
        return;
    for (uint32_t i = 0; node == SCHED_NO_NODE && i < run->n; i++)
        left_late(s, run, run->nodes[i]);
    if (node != SCHED_NO_NODE)
        left_late(s, run, node);
    else if (run->n_licenses > 0)
        cause_push(s, (struct cause) {SCHED_CAUSE_OVERRUN, run->job_id, SCHED_NO_NODE, run->end});
}

void job_arrives(struct sched *s, struct job *job) {
    job->since = ++s->clock;
}

void promise_make(struct sched *s, struct job *job, int64_t start) {
    if (job->promise)
        return;
    job->promise = zalloc(struct promise);
    job->promise->start = start;
    job->promise_at = s->promises.n;
    vec_push(&s->promises, job);
}

void promise_drop(struct sched *s, struct job *job) {
    if (!job->promise)
        return;
    struct job *last = s->promises.items[--s->promises.n];
    s->promises.items[job->promise_at] = last;
    last->promise_at = job->promise_at;
    free(job->promise->nodes);
    free(job->promise);
    job->promise = NULL;
}

bool promise_yields(const struct plan *plan, const struct job *job) {
    const struct job *owner = plan->job;

    return owner->seniority != SENIORITY_GUARDED || !owner->promise ||
           job->since > owner->promise->clock;
}

void promise_yields_to(const struct plan *plan, const struct job *job) {
    struct promise *promise = plan->job->promise;

    if (!promise || promise->cause != SCHED_CAUSE_UNKNOWN)
        return;
    promise->cause = job->since > promise->clock ? SCHED_CAUSE_ARRIVAL : SCHED_CAUSE_PRIORITY;
    promise->subject = job->job_id;
}

/* ---- keeping one ---- */

bool plan_has_place(struct sched *s, const struct plan *old) {
    const struct shape *shape = old->job->shape;
    const struct alternative *alt = old->alt;

    if (alt->reason || !licenses_free_at(s, shape, alt, old->start, old->end) ||
        budget_short_of_plan(s, old))
        return false;
    for (uint32_t i = 0; i < old->n; i++) {
        int64_t have[MAX_DIMS];

        node_window_of(s, alt, old->nodes[i], old->start, old->end, have);
        if (!s->nodes[old->nodes[i]].usable ||
            !node_allows(s, shape, alt, old->nodes[i], old->start, old->end, have) ||
            !amount_covers(have, old->amounts + (size_t) i * s->n_dims, s->n_base))
            return false;
    }
    return true;
}

bool promise_keep(struct sched *s, struct job *job, struct plan *old) {
    struct plan *later = job->plan;
    bool better = later && (later->start <= old->start || later->pinned);
    bool one_more = later || *calendar_quota(s, old->alt) < job_reservations(s, job);

    if (job->started > 0 || better || !one_more || old->start <= s->now)
        return false;
    if (later)
        plan_detach(s, later);
    bool keep = plan_has_place(s, old);
    struct plan *plan = keep ? old : later;
    if (plan) {
        plan->version = s->release_version;
        plan_attach(s, plan);
        plan_confirm(s, plan);
    }
    if (keep && later)
        plan_free(later);
    return keep;
}

/* ---- looking for the cause ---- */

static bool has_node(const struct promise *promise, uint32_t node) {
    for (uint32_t i = 0; i < promise->n; i++) {
        if (promise->nodes[i] == node)
            return true;
    }
    return false;
}

/* A run past its end that holds licences, for a job that wants some; the longest past it. */
static const struct run *run_with_licenses(const struct sched *s, const struct job *job) {
    const struct run *late = NULL;

    for (size_t i = 0; job->shape->n_licenses > 0 && i < s->licensed.n; i++) {
        const struct run *run = s->licensed.items[i];
        bool later =
            !late || run->end < late->end || (run->end == late->end && run->job_id < late->job_id);
        if (run->end <= s->now && later)
            late = run;
    }
    return late;
}

static bool uses_budget(const struct shape *shape, uint32_t id) {
    for (size_t a = 0; a < shape->n_alternatives; a++) {
        for (size_t i = 0; i < shape->alternatives[a].n_uses; i++) {
            if (shape->alternatives[a].uses[i].id == id)
                return true;
        }
    }
    return false;
}

/* Who has a budget that the job counted on, job id: it starts now, is planned or runs; 0. */
static uint32_t budget_rival(const struct sched *s, const struct sched_plan *plan,
                             const struct job *job, const struct budget *b) {
    uint32_t id = (uint32_t) (b - s->budgets.items);
    const struct run *last = NULL;

    for (size_t i = 0; i < plan->n_starts; i++) {
        const struct job *other = map_get(&s->jobs, plan->starts[i].job_id);
        if (other && other != job && uses_budget(other->shape, id))
            return other->job_id;
    }
    vec_each (&b->plans, other) {
        if ((*other)->job != job)
            return (*other)->job->job_id;
    }
    vec_each (&b->holds, hold) {
        if (!last || hold->run->start > last->start)
            last = hold->run;
    }
    return last ? last->job_id : 0;
}

/* The same for any of its budgets; `late`: a run past its end. */
static uint32_t budgets_rival(const struct sched *s, const struct sched_plan *plan,
                              const struct job *job, bool late) {
    for (size_t a = 0; a < job->shape->n_alternatives; a++) {
        const struct alternative *alt = &job->shape->alternatives[a];
        for (size_t i = 0; i < alt->n_uses; i++) {
            const struct budget *b = &s->budgets.items[alt->uses[i].id];
            bool over = b->holds.n > 0 && b->holds.items[0].end <= s->now;
            uint32_t id =
                late ? (over ? b->holds.items[0].run->job_id : 0) : budget_rival(s, plan, job, b);
            if (alt->uses[i].binds && id)
                return id;
        }
    }
    return 0;
}

/* A run on one of the nodes: with that id, or (id 0) one that is past its end. */
static const struct run *run_on(const struct sched *s, const struct promise *promise, uint32_t id) {
    for (uint32_t i = 0; i < promise->n; i++) {
        vec_each (&s->nodes[promise->nodes[i]].runs, hold) {
            const struct run *run = hold->run;
            if (id ? run->job_id == id : run->end <= s->now)
                return run;
        }
    }
    return NULL;
}

static bool cause_is_strong(const struct sched *s, const struct job *job,
                            const struct cause *cause) {
    const struct promise *promise = job->promise;

    switch (cause->kind) {
    case SCHED_CAUSE_UPDATE:
        return cause->subject == job->job_id;
    case SCHED_CAUSE_NODE:
        return has_node(promise, s->inner[cause->subject]);
    case SCHED_CAUSE_EXTENDED:
    case SCHED_CAUSE_RESUMED:
        return run_on(s, promise, cause->subject) != NULL;
    case SCHED_CAUSE_OVERRUN:
        return cause->end < s->now &&
               (cause->node == SCHED_NO_NODE ? job->shape->n_licenses > 0
                                             : has_node(promise, cause->node));
    default:
        return false;
    }
}

/* Goes before it, and has something that the job may have counted on. */
static bool goes_first(const struct job *other, const struct job *job) {
    return other != job && job_compare(other, job) < 0;
}

static bool start_touches(const struct sched *s, const struct sched_start *start,
                          const struct promise *promise) {
    for (size_t i = 0; i < start->n_allocs; i++) {
        if (has_node(promise, s->inner[start->allocs[i].node]))
            return true;
    }
    return false;
}

static bool plan_touches(const struct plan *plan, const struct promise *promise) {
    for (uint32_t i = 0; i < plan->n; i++) {
        if (has_node(promise, plan->nodes[i]))
            return true;
    }
    return false;
}

/* The job that took its place: one that starts in this pass, or that has a plan. */
static const struct job *rival_find(const struct sched *s, const struct sched_plan *plan,
                                    const struct job *job, bool on_its_nodes) {
    for (size_t i = 0; i < plan->n_starts; i++) {
        const struct job *other = map_get(&s->jobs, plan->starts[i].job_id);
        if (other && goes_first(other, job) &&
            (!on_its_nodes || start_touches(s, &plan->starts[i], job->promise)))
            return other;
    }
    plans_each (s, at) {
        if (goes_first((*at)->job, job) && (!on_its_nodes || plan_touches(*at, job->promise)))
            return (*at)->job;
    }
    return NULL;
}

static struct cause rival_cause(const struct job *rival, const struct job *job) {
    bool came = rival->since > job->promise->clock;
    return (struct cause) {came ? SCHED_CAUSE_ARRIVAL : SCHED_CAUSE_PRIORITY, rival->job_id};
}

/* What lies at hand; a job that left late is the last to be suspected. */
static const struct cause *strong_cause(const struct sched *s, const struct job *job) {
    const struct cause *late = NULL;

    for (size_t i = s->causes.n; i-- > 0;) {
        const struct cause *cause = &s->causes.items[i];
        if (!cause_is_strong(s, job, cause))
            continue;
        if (cause->kind != SCHED_CAUSE_OVERRUN)
            return cause;
        late = late ? late : cause;
    }
    return late;
}

static const struct cause *weak_cause(const struct sched *s) {
    for (size_t i = s->causes.n; i-- > 0;) {
        const struct cause *cause = &s->causes.items[i];
        if (cause->kind != SCHED_CAUSE_UPDATE && cause->kind != SCHED_CAUSE_OVERRUN)
            return cause;
    }
    return NULL;
}

static struct cause cause_find(const struct sched *s, const struct sched_plan *plan,
                               const struct job *job) {
    const struct promise *promise = job->promise;
    const struct cause *cause = strong_cause(s, job);
    const struct job *rival;

    if (cause)
        return *cause;
    if ((rival = rival_find(s, plan, job, true)))
        return rival_cause(rival, job);
    const struct run *run = run_on(s, promise, 0);
    if (!run)
        run = run_with_licenses(s, job);
    uint32_t id = run ? run->job_id : budgets_rival(s, plan, job, true);
    if (id)
        return (struct cause) {.kind = SCHED_CAUSE_OVERRUN, .subject = id};
    if ((cause = weak_cause(s)))
        return *cause;
    if ((rival = rival_find(s, plan, job, false)))
        return rival_cause(rival, job);
    if ((id = budgets_rival(s, plan, job, false)))
        return (struct cause) {.kind = SCHED_CAUSE_BUDGET, .subject = id};
    /* What was not worth telling when it began, or goes on. */
    return (struct cause) {.kind = promise->cause, .subject = promise->subject};
}

/* ---- the review ---- */

struct breaches {
    vec(struct sched_breach) items;
};

/* Not told of a job that merely takes its time to leave. */
static bool breach_note(const struct sched *s, const struct sched_plan *plan, struct job *job,
                        int64_t start, struct breaches *out) {
    struct promise *promise = job->promise;
    struct cause cause = cause_find(s, plan, job);
    bool same = promise->cause == cause.kind && promise->subject == cause.subject;
    bool again = same && promise->told;

    promise->cause = cause.kind;
    promise->subject = cause.subject;
    promise->told = again;
    if (cause.kind == SCHED_CAUSE_OVERRUN && start && start - promise->start < OVERRUN_GRACE)
        return false;
    vec_push(&out->items, ((struct sched_breach) {job->job_id, cause.kind, cause.subject,
                                                  promise->start, start, again}));
    promise->told = true;
    return true;
}

static void promise_follow(const struct sched *s, struct promise *promise,
                           const struct plan *plan) {
    promise->clock = s->clock;
    if (promise->n != plan->n) {
        free(promise->nodes);
        promise->nodes = xcalloc(plan->n + 1, sizeof(*promise->nodes));
        promise->n = plan->n;
    }
    memcpy(promise->nodes, plan->nodes, plan->n * sizeof(*plan->nodes));
}

/* False: there is no promise any more. */
static bool promise_review(const struct sched *s, const struct sched_plan *plan, struct job *job,
                           struct breaches *out) {
    struct promise *promise = job->promise;
    bool gone = job->place != PLACE_LIVE;

    if (job->started > 0) {
        if (s->now > promise->start)
            breach_note(s, plan, job, s->now, out);
        return false;
    }
    if (s->cut && job->plan && job->plan->old)
        return true; /* it has not been looked at, and others may still go before it */
    if (job->plan) {
        /* An overrun that is not worth telling leaves the promise where it was. */
        if (job->plan->start < promise->start ||
            (job->plan->start > promise->start && breach_note(s, plan, job, job->plan->start, out)))
            promise->start = job->plan->start;
        promise_follow(s, promise, job->plan);
        return true;
    }
    if (s->cut && !job->shape->blocked_reason && !gone)
        return true; /* it has not been looked at */
    if (job->place != PLACE_LIMITED)
        breach_note(s, plan, job, 0, out);
    return false;
}

void promises_review(struct sched *s, struct sched_plan *plan) {
    struct breaches out = {{0}};

    s->clock++;
    for (size_t i = 0; i < s->promises.n;) {
        struct job *job = s->promises.items[i];
        if (promise_review(s, plan, job, &out))
            i++;
        else
            promise_drop(s, job);
    }
    plans_each (s, at) {
        struct job *job = (*at)->job;
        if (job->promise)
            continue;
        promise_make(s, job, (*at)->start);
        promise_follow(s, job->promise, *at);
    }
    if (!s->cut)
        vec_reset(&s->causes);
    plan->n_breaches = out.items.n;
    plan->breaches = arena_alloc(plan->memory, (out.items.n + 1) * sizeof(*plan->breaches));
    if (out.items.n > 0)
        memcpy(plan->breaches, out.items.items, out.items.n * sizeof(*plan->breaches));
    vec_done(&out.items);
}
