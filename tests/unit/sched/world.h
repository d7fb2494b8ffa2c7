/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cluster for the planner's tests: specs that live as long as the world, jobs with readable
 * defaults, and a driver that plays the core (commits starts, ends jobs). The sweep checker knows
 * nothing of the planner: it adds up what has been given out.
 */
#ifndef SLUICE_TEST_SCHED_WORLD_H
#define SLUICE_TEST_SCHED_WORLD_H

#include "base/rng.h"
#include "base/vec.h"
#include "sched/sched.h"
#include "unit.h"

#define UNSET64_ UINT64_MAX
#define NO_MAX UINT32_MAX

struct world_run {
    uint32_t job_id, record_id;
    int64_t start, end, limit;
    uint32_t reservation;
    uint32_t partition, layers; /* it shares CPUs with so many, itself among them */
    bool exclusive;
    struct sched_alloc *allocs;
    size_t n;
    uint32_t *license_ids, *license_counts;
    size_t n_licenses;
    struct sched_budget_use *uses;
    size_t n_uses;
};
struct world_job {
    struct sched_job_spec spec;
    bool present;
};
struct world {
    struct sched *sched;
    struct sched *mirror; /* told the same, or NULL */
    struct sched_settings settings;
    struct sched_gres_kind kinds[SCHED_GRES_KINDS];
    size_t n_kinds;
    struct sched_node_spec *nodes;
    struct sched_cards cards[8]; /* of nodes with shares, if any */
    size_t n_nodes;
    char (*names)[24];
    bool *usable;
    struct sched_partition_spec *partitions;
    size_t n_partitions;
    struct sched_switch_spec switches[16];
    size_t n_switches;
    uint32_t leaf_of[64]; /* per node */
    uint64_t licenses[4];
    size_t n_licenses;
    struct sched_budget budgets[8];
    size_t n_budgets;
    vec(struct world_job) jobs; /* waiting */
    vec(struct world_run) runs;
    uint32_t next_id;
    int64_t now;
};

/* n nodes with the given CPUs and memory, no GRES, one partition over all. */
void world_init(struct world *w, size_t n_nodes, uint32_t cpus, uint64_t mem);
void world_done(struct world *w);
/* After changes to nodes, partitions, settings: makes the sched. */
void world_configure(struct world *w);
/* One task, one CPU, 100 s, partition 0. */
struct sched_job_spec world_spec(struct world *w);
/* Returns the id. Takes spec->features over. */
uint32_t world_add(struct world *w, const struct sched_job_spec *spec);
struct world_job *world_job(struct world *w, uint32_t job_id);
void world_cancel(struct world *w, uint32_t job_id);
/* Commits starts of a plan as the core does. */
void world_commit(struct world *w, const struct sched_plan *plan);
/* Passes and commits; returns the number of starts. */
size_t world_pass(struct world *w);
/* Ends the runs whose time has come. */
void world_end_due(struct world *w);
void world_end(struct world *w, uint32_t job_id);
void world_reserve(struct world *w, const struct sched_reservation_spec *specs, size_t n);
void world_usable(struct world *w, uint32_t node, bool usable);
void world_priority(struct world *w, uint32_t job_id, uint32_t priority);
struct world_run *world_running(struct world *w, uint32_t job_id);
/* No CPU, MiB, GRES or licence given out twice at this moment; exclusive nodes have one job; no
 * budget has been spent twice. */
void world_check(const struct world *w);
/* The start or wait of a job in a plan, or NULL. */
const struct sched_start *plan_start(const struct sched_plan *plan, uint32_t job_id);
const struct sched_wait *plan_wait(const struct sched_plan *plan, uint32_t job_id);

#endif
