/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who has to go so that a job can start. The answer is tried before it is given: those who would go
 * are taken out, the job is placed by the same code as any start, and they are put back. So nobody
 * goes for a start that would not come, and everybody who is named is needed: without any one of
 * them the job does not fit.
 *
 * Among the sets that do, the one is taken that costs least: first as few as possible of the
 * highest rank, then of the next lower one, and so on; among equals the one that loses the least
 * work (victims_choose.c). Here: for which job, in which of its alternatives, and what the plan
 * says of it.
 */
#include "sched/victims.h"

#define SEARCH_STEPS 200000 /* of exact searches for one job */
#define CHOICES_PER_PASS 64 /* jobs for which others go; the rest follows in the next pass */

/* What one alternative comes to. */
struct choice {
    struct alternative *alt;
    vec(struct run *) runs; /* by rank, the highest last */
    int64_t lost;
    int64_t start;
};

/* ---- one alternative ---- */

/* Does it cost less than what was found for another alternative? The levels of a search are its
 * own, so ranks are compared: from the highest on, both lists have them in order. */
static bool chosen_is_better(const struct victim_search *q, const struct choice *best) {
    size_t left = best->runs.n;

    for (size_t i = q->victims.n; i-- > 0;) {
        const struct victim *victim = &q->victims.items[i];
        if (!victim->chosen)
            continue;
        if (left-- == 0)
            return false;
        uint32_t rank = victim->run->victim.rank, other = best->runs.items[left]->victim.rank;
        if (rank != other)
            return rank < other;
    }
    return left > 0 || victims_cost(q).lost < best->lost;
}

static void choice_keep(struct victim_search *q, struct choice *best) {
    struct sched *s = q->s;

    if (best->alt && !chosen_is_better(q, best))
        return;
    if (!victims_suffice(q)) /* makes the placement of just these */
        return;
    best->alt = q->alt;
    best->lost = victims_cost(q).lost;
    best->start = s->now + 1;
    vec_reset(&best->runs);
    vec_each (&q->victims, victim) {
        if (!victim->chosen)
            continue;
        vec_push(&best->runs, victim->run);
        victim->run->chosen_ends = !victim->suspends;
        if (!victim->suspends)
            best->start = max_of(best->start, time_after(s->now, victim->run->victim.grace));
    }
    vec_each (&q->leaving, run) {
        int64_t end = (*run)->leaving ? (*run)->end : time_after(s->now, (*run)->victim.grace);
        best->start = max_of(best->start, end);
    }
    placement_swap(&s->placement, &s->best);
}

static void victims_reset(struct victim_search *q) {
    vec_each (&q->victims, victim) {
        victim->chosen = false;
        victim_put(q, victim);
    }
}

static void alternative_try(struct victim_search *q, struct choice *best) {
    struct shape *shape = q->shape;
    struct alternative *alt = q->alt;
    bool simple = shape->n_req_nodes == 0 && alt->n_groups == 0 && !shape->contiguous &&
                  alternative_is_plain(q->s, shape, alt) && !victims_reclaim(q) &&
                  !alt->reservation && !shape->max_switches;
    bool fixed = shape_is_fixed(shape, alt);

    victims_lift_leaving(q);
    /* Those who go anyway make room enough: nobody else has to. */
    if (victims_suffice(q))
        return;
    if (simple && (fixed || shape_one_node(shape, alt)) && victims_choose_by_node(q, !fixed))
        choice_keep(q, best);
    victims_reset(q);
    if (fixed && simple && !q->crowded)
        return; /* that was all there is */
    if (victims_choose_in_order(q))
        choice_keep(q, best);
}

/* ---- a job ---- */

/* Nothing that could change the answer has happened since it was no. */
static bool known_hopeless(const struct sched *s, const struct shape *shape) {
    return !s->naive && shape->no_victims == s->release_version;
}

static void choice_report(struct sched *s, const struct job *job, const struct choice *best,
                          struct sched_plan *plan) {
    struct sched_preempt *preempt = vec_add(&s->preempts);

    preempt->job_id = job->job_id;
    preempt->partition = best->alt->partition;
    preempt->n_victims = best->runs.n;
    preempt->victims = arena_alloc(plan->memory, (best->runs.n + 1) * sizeof(uint32_t));
    for (size_t i = 0; i < best->runs.n; i++) {
        preempt->victims[i] = best->runs.items[i]->job_id;
        best->runs.items[i]->chosen_pass = s->pass;
    }
}

static void await(struct sched *s, struct run *run, struct sched_preempt *preempt,
                  struct arena *memory) {
    if (run->seen == s->preempt_mark)
        return;
    run->seen = s->preempt_mark;
    if (!run_goes(s, run))
        return;
    uint32_t *more = arena_alloc(memory, (preempt->n_awaited + 1) * sizeof(*more));
    if (preempt->n_awaited > 0)
        memcpy(more, preempt->awaited, preempt->n_awaited * sizeof(*more));
    more[preempt->n_awaited++] = run->job_id;
    preempt->awaited = more;
}

/* Not only the victims leave what it is planned on. */
static void report_awaited(struct sched *s, const struct plan *plan, struct sched_plan *ret) {
    struct sched_preempt *preempt = &s->preempts.items[s->preempts.n - 1];

    preempt->awaited = NULL;
    preempt->n_awaited = 0;
    s->preempt_mark++;
    for (uint32_t i = 0; i < plan->n; i++) {
        vec_each (&s->nodes[plan->nodes[i]].runs, hold) {
            await(s, hold->run, preempt, ret->memory);
        }
    }
    for (size_t i = 0; plan->job->shape->n_licenses > 0 && i < s->licensed.n; i++)
        await(s, s->licensed.items[i], preempt, ret->memory);
}

static bool alternative_is_open(const struct sched *s, const struct alternative *alt) {
    return !alt->reason && !alternative_pool(s, alt)->blocked;
}

bool preempt_try(struct sched *s, struct job *job, struct sched_plan *plan) {
    struct shape *shape = job->shape;
    struct choice best = {0};
    bool sure = !s->any_if_above;

    if (job->preempting || known_hopeless(s, shape) || s->preempts.n >= CHOICES_PER_PASS)
        return false;
    for (size_t i = 0; i < shape->n_alternatives; i++) {
        struct victim_search q = {.s = s,
                                  .job = job,
                                  .shape = shape,
                                  .alt = &shape->alternatives[i],
                                  .steps = SEARCH_STEPS};
        if (!alternative_is_open(s, q.alt)) {
            sure = sure && q.alt->reason != 0;
            continue;
        }
        victims_gather(&q);
        sure = sure && !q.later && q.leaving.n == 0;
        if (q.victims.n > 0)
            alternative_try(&q, &best);
        else
            vec_reset(&q.leaving);
        victims_done(&q);
    }
    if (best.alt) {
        choice_report(s, job, &best, plan);
        struct plan *made = plan_add(s, job, best.alt, best.start, &s->best);
        made->pinned = true;
        report_awaited(s, made, plan);
    } else if (sure) {
        shape->no_victims = s->release_version;
    }
    vec_done(&best.runs);
    return best.alt != NULL;
}

void preempt_pass_end(struct sched *s, struct sched_plan *plan) {
    plan->n_preempts = s->preempts.n;
    plan->preempts = arena_alloc(plan->memory, (s->preempts.n + 1) * sizeof(*plan->preempts));
    if (s->preempts.n > 0)
        memcpy(plan->preempts, s->preempts.items, s->preempts.n * sizeof(*plan->preempts));
    for (size_t i = 0; i < s->preempts.n; i++)
        sched_job_preempting(s, s->preempts.items[i].job_id, true);
    if (s->preempts.n >= CHOICES_PER_PASS)
        sched_touched(s);
    vec_reset(&s->preempts);
}
