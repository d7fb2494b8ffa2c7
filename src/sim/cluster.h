/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cluster in virtual time: the real core and planner, and nodes that follow the real agent's
 * logic, joined by messages that are really encoded and decoded. Nothing waits: the clock jumps
 * from one event to the next. The same seed and the same calls give the same history.
 *
 * Used by `sluice sim --conf`, by the faulty worlds of the tests, and by the benchmarks.
 *
 * An instant is played like this: what ends then is reported and cleaned up; then what the owner
 * submits comes in; then one pass is planned for all of it. So the last instant of an advance stays
 * open for submissions, and its plan is made when the next advance begins.
 */
#ifndef SLUICE_SIM_CLUSTER_H
#define SLUICE_SIM_CLUSTER_H

#include "core/core.h"
#include "model/conf.h"

struct sim_cluster;

/* Hooks of the owner; any may be NULL. Times are virtual seconds since the epoch. A job that is
 * requeued starts several times and ends once; each task of an array is a job of its own
 * (job->array_job_id). `job` lives until the hook returns. */
struct sim_hooks {
    void *context;
    void (*started)(void *context, uint32_t job_id, int64_t when, const struct job *job);
    void (*ended)(void *context, uint32_t job_id, int64_t when, const struct job *job);
};

/* `conf` is borrowed and must outlive the cluster. All nodes are up and registered at `start`. */
must_check int sim_cluster_new(const struct conf *conf, int64_t start, uint64_t seed,
                               const struct sim_hooks *hooks, struct sim_cluster **ret,
                               struct error *err);
void sim_cluster_free(struct sim_cluster *cluster);

/* Submits at the present instant for a user (uids are made up, one per name). The job's processes
 * will run for `run` seconds unless something ends them before; a batch script's text and
 * environment are replaced by that. The command of an allocation (salloc, srun) gives it back after
 * `run` seconds. Returns the job's id, or 0 with the refusal in err. */
uint32_t sim_cluster_submit(struct sim_cluster *cluster, const struct job_request *request,
                            const char *user, int64_t run, struct error *err);
/* Ends the instant's turn (plan, store, send) and lets everything happen that is due up to and
 * including `until`, which becomes the present. */
void sim_cluster_advance(struct sim_cluster *cluster, int64_t until);
/* When something is due next: now, while the instant's turn is open; INT64_MAX: never. */
int64_t sim_cluster_next(const struct sim_cluster *cluster);
int64_t sim_cluster_now(const struct sim_cluster *cluster);
struct core *sim_cluster_core(struct sim_cluster *cluster);

#endif
