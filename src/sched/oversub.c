/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs that share CPUs at the same time (OverSubscribe=YES:n or FORCE:n without gang scheduling).
 * What such jobs hold is counted as that of others, so `free` may fall below 0. While only jobs of
 * its partition that share as well hold CPUs of a node, such a job has n times these at its
 * disposal; no job has more CPUs of a node than there are. Everywhere else, and for everybody else,
 * a CPU that somebody holds is taken. So CPUs are held by more than one job only among those that
 * share them: as long as a node's CPUs are enough for all on it, each finds free ones, and only
 * then can one join that does not share.
 *
 * Memory and GRES are never given twice. On nodes of reservations nobody shares.
 */
#include "sched/internal.h"

bool shares_cpus(const struct sched *s, uint32_t partition, bool asked, bool exclusive) {
    const struct partition *p = &s->partitions[partition];

    return p->layers_at_once > 1 && (p->layers_forced || asked) && !exclusive && !p->exclusive &&
           s->settings.cpus_consumable;
}

bool alternative_shares(const struct sched *s, const struct shape *shape,
                        const struct alternative *alt) {
    return shares_cpus(s, alt->partition, shape->oversubscribe, alt->exclusive);
}

static bool plan_shares(const struct sched *s, const struct plan *plan, uint32_t partition) {
    return plan->alt->partition == partition && alternative_shares(s, plan->job->shape, plan->alt);
}

/* CPUs of a node that a job of the partition that shares may have at an instant. */
static int64_t shared_at(const struct sched *s, uint32_t partition, uint32_t node, int64_t when) {
    int64_t left = node_total(s, node)[DIM_CPU];
    bool others = false;

    vec_each (&s->nodes[node].runs, hold) {
        const struct run *run = hold->run;
        int64_t cpus = run->amounts[(size_t) hold->slot * s->n_dims + DIM_CPU];
        if (!run_is_there(s, run, when))
            continue;
        left -= cpus;
        others = others || (cpus > 0 && !(run->shares && run->partition == partition));
    }
    vec_each (&s->nodes[node].plans, hold) {
        const struct plan *plan = hold->plan;
        if (!plan_is_there(plan, when))
            continue;
        left -= plan->amounts[(size_t) hold->slot * s->n_dims + DIM_CPU];
        others = others || !plan_shares(s, plan, partition);
    }
    return others ? left : left + shared_more(s, partition, node);
}

int64_t shared_more(const struct sched *s, uint32_t partition, uint32_t node) {
    return (int64_t) (s->partitions[partition].layers_at_once - 1) * node_total(s, node)[DIM_CPU];
}

uint32_t sched_run_layers(const struct sched *s, uint32_t job_id, uint32_t outer) {
    const struct run *run = map_get(&s->runs, job_id);
    uint32_t node = s->inner[outer];

    if (!run || !run->shares || bits_test(&s->reserved, node))
        return 1;
    vec_each (&s->nodes[node].runs, hold) {
        const struct run *other = hold->run;
        if (other->amounts[(size_t) hold->slot * s->n_dims + DIM_CPU] > 0 &&
            !(other->shares && other->partition == run->partition))
            return 1;
    }
    return s->partitions[run->partition].layers_at_once;
}

/* It shrinks only where a plan begins. */
void sharing_allows(const struct sched *s, const struct alternative *alt, uint32_t node,
                    int64_t start, int64_t end, int64_t *have) {
    if (alt->reservation || bits_test(&s->reserved, node))
        return;
    int64_t least = min_of(shared_at(s, alt->partition, node, start), node_total(s, node)[DIM_CPU]);
    vec_each (&s->nodes[node].plans, hold) {
        int64_t when = hold->plan->start;
        if (when > start && when < end)
            least = min_of(least, shared_at(s, alt->partition, node, when));
    }
    have[DIM_CPU] = least;
}

int64_t run_shared_more(const struct sched *s, const struct run *run, uint32_t node) {
    if (!run->shares || bits_test(&s->reserved, node))
        return 0;
    return shared_at(s, run->partition, node, s->now) - node_free(s, node)[DIM_CPU];
}
