/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reference policies on P identical processors: what the literature compares with. They share
 * nothing with the planner, so that each checks the other.
 *
 *     fcfs    in order, nobody overtakes
 *     easy    the first that cannot start has a reservation; others start if they do not delay it
 *             (Mu'alem, Feitelson 2001)
 *     cons    everyone has a reservation that only moves earlier: conservative backfilling with one
 *             pass of compression after each end
 *     replan  reservations for the first K (all) that cannot start, made anew at every pass
 *     slurm   the shape of Slurm's scheduler with no cost of planning: in order until one does not
 *             fit at every event; every 30 s a plan of the first 500 jobs within a day, ends
 * rounded up to a minute
 *
 * Conventions. All times are whole seconds. At an instant (`batch`) first all ends, then all
 * submissions in rank order, then one pass; `pyss`: every submission is followed by a pass if its
 * job fits, then every end by a pass, and jobs whose expected end has come count as free. A job may
 * start at the instant of its submission, and processors freed at t are usable at t. Rank is the
 * last tie-break of every order.
 */
#ifndef SLUICE_SIM_POLICY_H
#define SLUICE_SIM_POLICY_H

#include <stdbool.h>

#include "schema/schema.h"
#include "sim/result.h"

enum sim_policy_kind { SIM_FCFS, SIM_EASY, SIM_CONS, SIM_REPLAN, SIM_SLURM };

/* Who comes first; t is now, smaller first. */
enum sim_order {
    SIM_ORDER_FCFS,   /* rank */
    SIM_ORDER_SJF,    /* limit */
    SIM_ORDER_SAF,    /* limit × procs */
    SIM_ORDER_WFP3,   /* -(wait / limit)³ × procs (Tang et al. 2009) */
    SIM_ORDER_UNICEF, /* -wait / (log2(procs) × limit) (the same) */
    SIM_ORDER_F1,     /* log10(limit) × procs + 870 × log10(submit) (Carastan-Santos 2017) */
};

/* In which order easy tries those behind the first that cannot start. */
enum sim_candidates {
    SIM_SAME,      /* as they stand in the queue */
    SIM_SHORTEST,  /* by limit */
    SIM_PREDICTED, /* by the mean of the user's last two run times (Tsafrir et al. 2007) */
};

enum sim_events { SIM_BATCH, SIM_PYSS };

NAMES_DECLARE(sim_policy_kind);
NAMES_DECLARE(sim_order);
NAMES_DECLARE(sim_candidates);
NAMES_DECLARE(sim_events);

struct sim_policy {
    uint32_t kind, order, candidates, events; /* enums as above */
    uint32_t reserve;                         /* replan: this many get a reservation; 0 = all */
    bool perfect;                             /* limits are replaced by run times */
    bool plan_predicted;                      /* predictions replace limits in the plan, too */
};

/* "easy", "replan:16" into kind and reserve. */
must_check int sim_policy_parse(const char *text, struct sim_policy *policy, struct error *err);
/* Combinations without meaning are refused: nothing that is set is without effect. */
must_check int sim_policy_check(const struct sim_policy *policy, struct error *err);
/* "easy-wfp3+predicted", as it stands in tables. */
void sim_policy_print(const struct sim_policy *policy, struct str *out);

/* Replays the trace on `procs` processors, which every job must fit. The policy must have passed
 * sim_policy_check(). `watch` may be NULL. `result` is initialised for the trace. */
void sim_replay_policy(const struct trace *trace, const struct sim_policy *policy, uint32_t procs,
                       const struct sim_watch *watch, struct sim_result *result);

#endif
