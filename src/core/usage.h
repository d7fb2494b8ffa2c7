/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What has been used on whose account, and whose share that leaves: part of state.h.
 *
 * A run is charged, from usage_run_begins() to usage_run_ends(), to the association that it started
 * with, to its QOS and to that of its partition: what a second of it costs (billing.c) times the
 * seconds times the QOS's UsageFactor. What still runs is in no stored usage; it follows from the
 * record of the job (usage_since, billing). The entry and the record that say that a run has
 * stopped are stored in one transaction, so that no crash charges anything twice or not at all.
 *
 * An entry holds what its own jobs have used; what an account has used is the sum over all below
 * it. Usage loses half its weight in PriorityDecayHalfLife, reckoned when somebody looks.
 *
 * usage.c: entries. fair.c: the tree of shares (sched/fairshare.h) and who lists it. billing.c:
 * TRESBillingWeights.
 */
#ifndef SLUICE_CORE_USAGE_H
#define SLUICE_CORE_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/account.h"
#include "model/qos.h"
#include "sched/fairshare.h"

struct assoc_plan;
struct conf;
struct core;
struct core_job;
struct core_user;
struct job;

struct usage_entry {
    struct assoc_usage rec;
    struct list dirty;
};

/* The associations as a tree, parents before their children, accounts before their users. */
struct core_shares {
    const struct assoc **assocs; /* of the book */
    struct fairshare_node *nodes;
    double *rates;    /* what runs now adds a second, of itself and all below */
    struct map index; /* number of an association -> its place + 1 */
    uint32_t n;       /* 0: to be made, because the book has changed */
};

struct core_usage {
    struct map entries; /* kind << 32 | id -> struct usage_entry */
    struct list dirty;
    struct core_shares shares;
    int64_t half_life;  /* seconds, 0 = usage does not decay */
    uint32_t reset;     /* CONF_RESET_… */
    int64_t reset_next; /* 0 = never */
    uint32_t dampening;
    bool classic; /* PriorityFlags=NO_FAIR_TREE */
};

/* ---- runs (usage.c) ---- */
/* The job runs from now on; what it costs is in its record. */
void usage_run_begins(struct core *core, struct core_job *job);
/* It stops: charges it up to `end`. Does nothing for one that does not run. */
void usage_run_ends(struct core *core, struct core_job *job, int64_t end);
/* What it has used that is in no entry of its association yet, decayed to core->now. */
double usage_unsettled(const struct core *core, const struct job *job);
/* The same of one unit: seconds, times UsageFactor. */
double usage_unsettled_seconds(const struct core *core, const struct job *job);
/* What counts of an item of its TRES: billing is listed without its fraction. */
double usage_amount(const struct job *job, const char *name, uint64_t count);
/* The QOS whose usage the job counts in: its own, and that of its partition if that is another. */
void usage_qos(const struct core *core, const struct job *job, const struct qos **ret_own,
               const struct qos **ret_partition);
/* What the job is charged with, as a multiple of what it has. */
double usage_factor(const struct core *core, const struct job *job);
/* Up to then its run has been charged; 0: it does not run. */
int64_t usage_charged_from(const struct core *core, const struct job *job);
/* Of an entry, in seconds; 0: it does not decay. */
int64_t usage_half_life(const struct core *core, uint32_t kind, uint32_t id);
/* What a second of it is charged with now; 0 for what does not run. */
double usage_rate(const struct core *core, const struct job *job);

/* ---- entries (usage.c) ---- */
void usage_init(struct core *core);
void usage_free(struct core *core);
void usage_configure(struct core *core, const struct conf *conf);
void usage_restore(struct core *core, struct assoc_usage *stored); /* takes it over */
void usage_restored(struct core *core);
void usage_write(struct core *core); /* those that have changed */
/* PriorityUsageResetPeriod is over. */
void usage_reset_tick(struct core *core);
/* NULL when nothing was ever charged to it. As of its own time. */
const struct assoc_usage *usage_find(const struct core *core, uint32_t kind, uint32_t id);
/* Billing units times seconds as of core->now, without what still runs; 0 for none. */
double usage_settled(const struct core *core, uint32_t kind, uint32_t id);
/* What a change of the book does to usage, before it is applied: who goes leaves it to the account
 * above, RawUsage=0 forgets it. */
void usage_follow_plan(struct core *core, const struct assoc_plan *plan);
/* Then, with the same plan: entries whose numbers change, all at once, since numbers may change
 * hands. */
void usage_renumber(struct core *core, const struct assoc_plan *plan);

/* ---- by resource (usage_tres.c) ---- */
struct tres_sums {
    char **names; /* "cpu", "gres/gpu", "gres/gpu:a100" */
    size_t n;
    /* Of each place, n numbers: amounts in use, and amounts times seconds: used (with what runs)
     * and still to come until the ends of time limits. */
    double *held, *used, *run;
};
enum tres_sum { TRES_HELD, TRES_USED, TRES_RUN };
/* All of it, with a place for each association in core_shares. */
void tres_sums_make(struct core *core, struct tres_sums *ret);
/* Empty ones, and what to make them of: an entry of usage; a job that has nodes, and how long it
 * counts as used and to come, in seconds; accounts get what is below them, where the first places
 * are those of core_shares. */
void tres_sums_init(const struct core *core, size_t n_places, struct tres_sums *ret);
void tres_sums_entry(const struct core *core, struct tres_sums *sums, uint32_t place, uint32_t kind,
                     uint32_t id);
void tres_sums_job(struct tres_sums *sums, uint32_t place, const struct job *job, double used,
                   double left);
double tres_seconds_left(const struct core *core, const struct job *job);
void tres_sums_roll_up(const struct core *core, struct tres_sums *sums);
void tres_sums_done(struct tres_sums *sums);
/* "cpu=3,mem=0,...": what is in use, else in minutes. */
void tres_sums_print(const struct tres_sums *sums, uint32_t place, enum tres_sum which,
                     struct str *out);

/* ---- billing (billing.c) ---- */
/* What a second of such an amount of everything costs in the partition; CPUs where it says nothing.
 * `gres` as in "gres/gpu=2,gres/gpu:a100=2", may be NULL. */
double billing_of(const struct core *core, const char *partition, uint64_t cpus, uint64_t mem,
                  uint32_t nodes, const char *gres);

/* ---- shares (fair.c) ---- */
/* Usage and factors as of core->now. */
void shares_update(struct core *core);
void shares_outdate(struct core *core); /* the book has changed */
void shares_free(struct core *core);
/* Whose use has lowered the job's share, and when that is even again; nothing where none has. */
void shares_explain(struct core *core, const struct job *job, struct str *out);
/* NULL: there is none of that number (any more). */
const struct assoc *shares_assoc(struct core *core, uint32_t assoc_id);
/* In units of PRIORITY_ONE, as shares_update() has left it; 0 without an association. */
uint64_t shares_factor(struct core *core, const struct job *job);

#endif
