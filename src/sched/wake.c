/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which shapes are worth a test. A shape that could not start sleeps: what is free only shrinks as
 * long as nothing is released. A release says of which node more is free, in a log. Whoever sleeps
 * remembers where the log ended and how far it was from a start: how many more nodes, how many more
 * tasks it would have needed. Only nodes in the log after that place can have made a difference, so
 * it is enough to look at those; when too few of them can take a share, it sleeps on.
 *
 * A plan, too, is searched again only when something came free that its job could use before.
 *
 * Exact: the nodes that can serve a shape now are among those that could when it fell asleep and
 * those in the log since. Both bounds may be too low, never too high. What has no node (licences),
 * or whose selection may fail although there are nodes (select_is_exact), sleeps shorter or never.
 */
#include "sched/internal.h"

static uint32_t *log_at(struct sched *s, uint64_t position) {
    return &s->log.nodes[position % RELEASE_LOG_MAX];
}

void node_released(struct sched *s, uint32_t node) {
    struct release_log *log = &s->log;

    s->release_version++;
    sched_touched(s);
    log->stale = true;
    if (s->nodes[node].released >= max_of(log->seen, log->first))
        return; /* is there, and nobody has seen it */
    s->nodes[node].released = log->end;
    *log_at(s, log->end++) = node;
    if (log->end - log->first > RELEASE_LOG_MAX)
        log->first++;
}

void plan_released(struct sched *s, const struct plan *plan) {
    s->release_version++;
    sched_touched(s);
    budget_released(s, plan);
    for (uint32_t i = 0; i < plan->n; i++)
        node_released(s, plan->nodes[i]);
}

void sched_released(struct sched *s) {
    s->release_version++;
    sched_touched(s);
    s->log.first = ++s->log.end; /* nobody sleeps at or after it */
    s->log.stale = true;
}

void node_taken(struct sched *s, uint32_t node) {
    if (s->nodes[node].released >= max_of(s->log.from, s->log.first))
        s->log.stale = true;
}

/* The best of the nodes in the log since the last pass, for whom plans matter and for whom not. */
static void log_summarise(struct sched *s) {
    struct release_log *log = &s->log;

    log->stale = false;
    log->cpus_free = log->cpus_keep = 0;
    log->idle_free = log->idle_keep = 0;
    for (uint64_t at = max_of(log->from, log->first); at < log->end; at++) {
        uint32_t node = *log_at(s, at);
        if (!s->nodes[node].usable)
            continue;
        log->cpus_free = max_of(log->cpus_free, node_free(s, node)[DIM_CPU]);
        log->cpus_keep = max_of(log->cpus_keep, node_keep(s, node)[DIM_CPU]);
        log->idle_free += bits_test(&s->by_free.idle, node);
        log->idle_keep += bits_test(&s->by_keep.idle, node);
    }
}

/* Too few of the nodes in the log can take a share of it. Cheap, and false when in doubt. */
static bool log_is_useless(struct sched *s, struct turn *turn) {
    const struct release_log *log = &s->log;

    if (turn->partition == MANY_PARTITIONS || turn->asleep < log->from)
        return false;
    if (log->stale)
        log_summarise(s);
    const struct pool *pool = &s->pools[s->partitions[turn->partition].pool];
    bool later = pool->plans.n > 0 && time_after(s->now, turn->limit) > pool->last_start;
    uint32_t most = turn->exclusive ? (later ? log->idle_keep : log->idle_free)
                    : (later ? log->cpus_keep : log->cpus_free) >= turn->cpus
                        ? log->end - max_of(log->from, log->first)
                        : 0;
    if (most >= turn->lack)
        return false;
    turn->lack -= most;
    return true;
}

/* Counts what has come free for an alternative; true when it may be enough. */
static bool alternative_wakes(struct sched *s, struct shape *shape, struct alternative *alt,
                              uint64_t from) {
    uint32_t nodes = 0;
    uint64_t tasks = 0;

    for (uint64_t at = from; at < s->log.end; at++) {
        uint32_t can = node_serves(s, shape, alt, *log_at(s, at));
        nodes += can > 0;
        tasks += can;
        if (nodes >= alt->lack.nodes && tasks >= alt->lack.tasks)
            return true;
    }
    alt->lack.nodes -= min_of(alt->lack.nodes, nodes);
    alt->lack.tasks -= min_of((uint64_t) alt->lack.tasks, tasks);
    return false;
}

static bool shape_wakes(struct sched *s, struct shape *shape, uint64_t from) {
    bool wakes = false;

    if (shape->n_licenses)
        return shape->asleep_version != s->release_version;
    for (size_t i = 0; i < shape->n_alternatives && !wakes; i++)
        wakes = !shape->alternatives[i].reason &&
                alternative_wakes(s, shape, &shape->alternatives[i], from);
    return wakes;
}

bool turn_sleeps(struct sched *s, struct turn *turn) {
    if (turn->asleep < s->log.first)
        return false;
    if (turn->asleep == s->log.end)
        return true;
    if (!log_is_useless(s, turn)) {
        struct lack *lack = &turn->shape->alternatives[0].lack;
        if (turn->partition != MANY_PARTITIONS)
            lack->nodes = turn->lack;
        if (shape_wakes(s, turn->shape, turn->asleep))
            return false;
        turn->lack = lack->nodes;
    }
    turn->asleep = s->log.seen = s->log.end;
    return true;
}

void turn_sleep(struct sched *s, struct turn *turn) {
    if (turn->asleep == s->log.end)
        return; /* was not tested, and what it lacks is known better */
    turn->asleep = s->log.seen = s->log.end;
    turn->lack = turn->shape->alternatives[0].lack.nodes;
    turn->shape->asleep_version = s->release_version;
}

bool plan_stands(struct sched *s, struct plan *plan) {
    if (plan->version == s->release_version)
        return true;
    /* Licences have no node, and whom others have to make room for depends on more than nodes. */
    if (plan->seen < s->log.first || plan->job->shape->n_licenses || s->preemption.n_classes > 0 ||
        plan->releases != budget_releases(s, plan->alt))
        return false;
    for (uint64_t at = plan->seen; at < s->log.end; at++) {
        if (plan_can_improve(s, plan, *log_at(s, at)))
            return false;
    }
    plan->version = s->release_version;
    plan->seen = s->log.seen = s->log.end;
    return true;
}
