/* SPDX-License-Identifier: Apache-2.0 */
/* Who may go for a job, what that costs, and taking them out and putting them back (victims.h). */
#include "sched/victims.h"

/* ---- cost ---- */

int cost_compare(const struct cost *a, const struct cost *b) {
    for (uint32_t level = RANK_LEVELS; level-- > 0;) {
        if (a->counts[level] != b->counts[level])
            return a->counts[level] < b->counts[level] ? -1 : 1;
    }
    return a->lost < b->lost ? -1 : a->lost > b->lost;
}

void cost_add(struct cost *cost, const struct victim *victim, int sign) {
    cost->counts[victim->level] += (uint32_t) sign;
    cost->lost += sign * victim->lost;
}

struct cost victims_cost(const struct victim_search *q) {
    struct cost cost = {{0}, 0};

    vec_each (&q->victims, victim) {
        if (victim->chosen)
            cost_add(&cost, victim, 1);
    }
    return cost;
}

static int64_t run_lost(const struct sched *s, const struct run *run) {
    int64_t seconds = max_of(s->now - run->start, (int64_t) 0), cpus = 0;

    if (s->preemption.youngest_first)
        return seconds;
    for (uint32_t i = 0; i < run->n; i++)
        cpus += max_of(run->amounts[(size_t) i * s->n_dims + DIM_CPU], (int64_t) 1);
    return (seconds + 1) * cpus;
}

/* ---- who may go ---- */

static enum sched_may job_may(const struct victim_search *q, const struct run *run) {
    const struct sched_preemption *rules = &q->s->preemption;
    uint32_t who = rules->by_partition ? q->alt->partition : q->shape->preempt_class;

    if (who >= rules->n_classes || run->victim.class >= rules->n_classes)
        return SCHED_MAY_NOT;
    return rules->may[(size_t) who * rules->n_classes + run->victim.class];
}

/* Jobs of one partition take turns. */
static bool is_turn(const struct victim_search *q, const struct run *run) {
    return q->s->preemption.by_partition && run->victim.class == q->alt->partition;
}

/* Would no more jobs share the CPUs of its nodes than may? */
static bool layer_is_left(const struct victim_search *q, const struct run *run) {
    const struct sched *s = q->s;
    const struct partition *p = &s->partitions[q->alt->partition];

    if (!p->layers_forced && !q->shape->oversubscribe)
        return false;
    for (uint32_t i = 0; i < run->n; i++) {
        int64_t aside = run->amounts[(size_t) i * s->n_dims + DIM_CPU];
        if (run->nodes[i] == SCHED_NO_NODE)
            continue;
        vec_each (&s->nodes[run->nodes[i]].runs, hold) {
            if (hold->run->suspended)
                aside += hold->run->cpus_aside[hold->slot];
        }
        if (aside > (int64_t) (p->layers - 1) * node_total(s, run->nodes[i])[DIM_CPU])
            return false;
    }
    return true;
}

static bool run_may_go(struct victim_search *q, const struct run *run) {
    const struct sched_victim *rules = &run->victim;
    bool turn = is_turn(q, run);
    int64_t eligible = turn ? rules->slice_end : rules->eligible;

    /* Who is in a reservation is safe from those who are not. */
    if ((rules->mode == SCHED_VICTIM_NEVER && !turn) || run->tentative ||
        (run->reservation && run->reservation != q->alt->reservation) ||
        ((rules->mode == SCHED_VICTIM_SUSPENDS || turn) && run->suspended))
        return false;
    enum sched_may may = job_may(q, run);
    if (may == SCHED_MAY_NOT || (may == SCHED_MAY_IF_ABOVE && q->job->priority <= rules->priority))
        return false;
    if (eligible == SCHED_FOREVER || (turn && eligible == 0) || (turn && !layer_is_left(q, run)))
        return false;
    if (eligible > q->s->now) {
        q->s->preempt_wake = min_of(q->s->preempt_wake, eligible);
        q->later = true;
        return false;
    }
    return true;
}

bool run_goes(const struct sched *s, const struct run *run) {
    if (run->chosen_pass == s->pass)
        return run->chosen_ends;
    return run->leaving && s->now < time_after(run->end, s->preemption.patience);
}

static void run_see(struct victim_search *q, struct run *run) {
    struct sched *s = q->s;

    if (run->seen == s->preempt_mark)
        return;
    run->seen = s->preempt_mark;
    if (run_goes(s, run)) {
        vec_push(&q->leaving, run);
    } else if (!run->leaving && run->chosen_pass != s->pass && run_may_go(q, run)) {
        struct victim *victim = vec_add(&q->victims);
        victim->run = run;
        victim->lost = run_lost(s, run);
        victim->suspends = run->victim.mode == SCHED_VICTIM_SUSPENDS || is_turn(q, run);
    }
}

bool victims_reclaim(const struct victim_search *q) {
    return q->s->preemption.reclaim_licenses && q->shape->n_licenses > 0;
}

static int victim_compare(const void *a, const void *b) {
    const struct victim *x = a, *y = b;

    if (x->run->victim.rank != y->run->victim.rank)
        return x->run->victim.rank < y->run->victim.rank ? -1 : 1;
    if (x->lost != y->lost)
        return x->lost < y->lost ? -1 : 1;
    return x->run->job_id > y->run->job_id ? -1 : x->run->job_id < y->run->job_id;
}

/* Sorted; the highest ranks have levels of their own. */
static void victims_rank(struct victim_search *q) {
    uint32_t ranks = 0, rank = 0;

    sort_items(q->victims.items, q->victims.n, sizeof(*q->victims.items), victim_compare);
    for (size_t i = 0; i < q->victims.n; i++) {
        struct victim *victim = &q->victims.items[i];
        ranks += i == 0 || victim->run->victim.rank != victim[-1].run->victim.rank;
        victim->run->as_victim = victim;
    }
    for (size_t i = 0; i < q->victims.n; i++) {
        struct victim *victim = &q->victims.items[i];
        rank += i == 0 || victim->run->victim.rank != victim[-1].run->victim.rank;
        uint32_t from_top = ranks - rank;
        victim->level = from_top < RANK_LEVELS ? RANK_LEVELS - 1 - from_top : 0;
    }
}

void victims_gather(struct victim_search *q) {
    struct sched *s = q->s;

    s->preempt_mark++;
    bits_each (&q->alt->set->nodes, node) {
        if (!s->nodes[node].usable)
            continue;
        vec_each (&s->nodes[node].runs, hold) {
            run_see(q, hold->run);
        }
    }
    for (size_t i = 0; victims_reclaim(q) && i < s->licensed.n; i++)
        run_see(q, s->licensed.items[i]);
    victims_rank(q);
}

/* ---- taking out and putting back ---- */

void victim_lift(struct victim_search *q, struct victim *victim) {
    if (victim->lifted)
        return;
    victim->lifted = true;
    if (victim->suspends)
        run_swap_cpus(q->s, victim->run);
    else
        run_lift(q->s, victim->run, victims_reclaim(q));
}

void victim_put(struct victim_search *q, struct victim *victim) {
    if (!victim->lifted)
        return;
    victim->lifted = false;
    if (victim->suspends)
        run_swap_cpus(q->s, victim->run);
    else
        run_put(q->s, victim->run, victims_reclaim(q));
}

void victims_lift_leaving(struct victim_search *q) {
    vec_each (&q->leaving, run) {
        run_lift(q->s, *run, true);
    }
}

void victims_done(struct victim_search *q) {
    for (size_t i = q->victims.n; i-- > 0;)
        victim_put(q, &q->victims.items[i]);
    vec_each (&q->victims, victim) {
        victim->run->as_victim = NULL;
    }
    for (size_t i = q->leaving.n; i-- > 0;)
        run_put(q->s, q->leaving.items[i], true);
    vec_done(&q->victims);
    vec_done(&q->leaving);
}

void victims_lift_chosen(struct victim_search *q) {
    vec_each (&q->victims, victim) {
        if (victim->chosen)
            victim_lift(q, victim);
        else
            victim_put(q, victim);
    }
}

bool victims_suffice(struct victim_search *q) {
    struct sched *s = q->s;

    s->candidates++;
    return could_start(s, q->shape, q->alt, q->alt->limit, &s->placement);
}
