/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must hold in a simulated world, whatever goes wrong in it. The checker sees what leaves the
 * core (records on their way to the store), what arrives at commands, and the processes on the
 * nodes; it keeps its own books and asks the core nothing but the totals that listings show.
 *
 *   - No core, device or MiB of a node belongs to two jobs, in the records or in the processes.
 *   - No start before submission, begin time, dependency; none of a held job, on a node or in a
 *     partition that is closed, or beyond the licences.
 *   - A batch script is started at most once for an attempt; attempts count up by one.
 *   - A submission that was acknowledged is in the controller or in the history at every instant,
 *     over every crash; no job id is given out twice; each job gets one final row, and one row for
 *     each run before.
 *   - A node is not set DOWN for silence before the controller has been up for SlurmdTimeout, nor
 *     while more than half of the nodes are silent.
 *   - Components of a heterogeneous job start and end together (groups.h).
 *   - A report of an old attempt, or about a job that is not there, changes nothing.
 */
#ifndef SLUICE_TESTS_DST_CHECK_H
#define SLUICE_TESTS_DST_CHECK_H

#include "base/map.h"
#include "groups.h"
#include "limits.h"
#include "rules.h"
#include "sim/cluster_internal.h"

struct check {
    struct sim_cluster *cluster;
    uint32_t shares; /* how often a node's CPUs may be given out (OverSubscribe=FORCE:n) */
    bool with_memory;
    struct rules rules;
    struct limits limits;
    struct groups groups;
    bool loses_tail;  /* what was acknowledged may be lost with the store's tail */
    bool clock_jumps; /* a new life of the controller may be behind an earlier one */
    int64_t slurmd_timeout;
    uint64_t licenses;    /* of the one kind that there is */
    struct error failure; /* the first; code 0: none */
    /* books */
    struct map beliefs; /* job id -> belief: the core's records */
    struct map facts;   /* job id -> fact: what has become known outside */
    struct map runs;    /* job id << 32 | attempt -> run */
    struct check_node *nodes;
    size_t n_nodes;
    uint64_t licenses_used;
    int64_t up_since; /* by the controller's clock */
    bool expect_nothing;
    uint64_t n_turns, n_starts, n_stale, n_history;
    uint64_t digest; /* of everything that happened */
};

void check_init(struct check *check, struct sim_cluster *cluster);
void check_done(struct check *check);
bool check_failed(const struct check *check);
void check_fail(struct check *check, const char *fmt, ...) printf_like(2, 3);

/* From the observer. */
void check_turn(struct check *check, const struct effects *batch);
void check_committed(struct check *check, const struct effects *batch);
void check_process(struct check *check, uint32_t node, const struct step_ref *step,
                   enum sim_process what);
void check_restored(struct check *check);
/* A command has been told that its job was taken. */
void check_acknowledged(struct check *check, uint32_t job_id, bool batch);
/* No job that was acknowledged is missing. */
void check_all_there(struct check *check);
/* Faults have healed and all jobs have been given the time to end. */
void check_end(struct check *check);
/* A job that is known to the checker, at random; 0: there is none. */
uint32_t check_some_job(const struct check *check, struct rng *rng, bool running);
/* Hands the core a report that must change nothing. */
void check_stale_report(struct check *check, struct rng *rng);

#endif
