/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The people of a simulated world: they submit jobs of all kinds, wait for them, lose patience,
 * change their minds; an administrator drains and resumes nodes. What they do depends on the seed
 * and on the answers that they get.
 */
#ifndef SLUICE_TESTS_DST_USERS_H
#define SLUICE_TESTS_DST_USERS_H

#include "base/heap.h"
#include "check.h"

struct users {
    struct sim_cluster *cluster;
    struct check *check;
    struct rng rng;
    int64_t mean_gap; /* seconds between two submissions */
    uint32_t n_nodes, cpus, gpus;
    bool suspends;    /* jobs are suspended and resumed */
    bool het;         /* some jobs have components */
    bool tiers;       /* partitions "high" and "low" */
    bool accounts;    /* there are some, and their limits change */
    bool leave_alone; /* whatever has been submitted */
    void (*reconfigure)(void *context);
    void *reconfigure_context;
    bool stopped;       /* nobody submits any more */
    struct map clients; /* id -> command */
    struct heap todo;   /* things that commands do later, by second */
    uint64_t n_todo;
    int64_t next_submit, next_act;
    vec(uint32_t) known; /* ids of acknowledged jobs, for dependencies and the like */
    uint64_t n_asked, n_refused, n_acknowledged;
};

void users_init(struct users *users, struct check *check, uint64_t seed);
void users_done(struct users *users);
/* When somebody does something next; in virtual seconds. */
int64_t users_next(const struct users *users);
void users_act(struct users *users);
void users_answer(struct users *users, uint64_t client, uint16_t type, struct bytes body);
/* As root. */
void users_send_update(struct users *users, const struct update *update);
void users_send_change(struct users *users, const struct assoc_change *change);
/* No new jobs; who has an allocation goes on until it ends. */
void users_stop(struct users *users);
/* The administrator puts every node back to work. */
void users_resume_nodes(struct users *users);
/* Everything that still waits or runs is cancelled. */
void users_cancel_all(struct users *users);

#endif
