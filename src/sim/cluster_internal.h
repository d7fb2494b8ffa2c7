/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the simulated cluster share. Time is in virtual microseconds since the epoch;
 * the core is told the second. Whoever is called by an event may free it.
 */
#ifndef SLUICE_SIM_CLUSTER_INTERNAL_H
#define SLUICE_SIM_CLUSTER_INTERNAL_H

#include "agent/agent.h"
#include "base/heap.h"
#include "base/list.h"
#include "base/map.h"
#include "base/rng.h"
#include "sim/cluster.h"

#define SIM_SECOND ((int64_t) 1000000)

struct sim_cluster;

/* ---- events (cluster.c) ---- */
struct sim_event {
    struct heap_node at;
    void (*fire)(struct sim_cluster *cluster, struct sim_event *event);
};
/* Again for one that waits moves it. */
void sim_event_set(struct sim_cluster *cluster, struct sim_event *event, int64_t usec);
void sim_event_cancel(struct sim_cluster *cluster, struct sim_event *event);

/* ---- the store (cluster_store.c): records by kind and id ---- */
struct sim_store {
    struct map records[STORE_PARTITION + 1]; /* by kind: id -> record */
    uint64_t n_history;
};
void sim_store_done(struct sim_store *store);
/* PUT, DELETE and HISTORY; others are ignored. */
void sim_store_apply(struct sim_store *store, const struct effect *effect);
/* False: there is none. The bytes live until the next change. */
bool sim_store_get(const struct sim_store *store, uint32_t kind, uint64_t id, struct bytes *ret);

/* ---- nodes (cluster_node.c) ---- */
/* What stands for a slurmstepd and its processes. */
struct sim_stepd {
    struct sim_event event; /* its tasks begin; then their end */
    struct list link;       /* node->stepds */
    struct sim_node *node;
    struct step_key key;
    uint32_t uid;
    bool by_controller, running, done, stopped;
    int64_t left_usec;    /* of its run, while it does not run */
    int64_t ends_usec;    /* while it runs */
    uint32_t exit_status; /* of its own end */
};

struct sim_node {
    struct sim_cluster *cluster;
    uint32_t index;
    const struct conf_node *conf;
    struct agent *agent;
    struct sim_event tick; /* the agent's */
    struct list stepds;
};

void sim_nodes_new(struct sim_cluster *cluster);
void sim_nodes_free(struct sim_cluster *cluster);
void sim_node_register(struct sim_node *node);
/* A message of the controller. */
void sim_node_receive(struct sim_node *node, uint16_t type, struct bytes body);

/* What a simulated script does is its text. */
struct sim_script {
    int64_t run; /* seconds */
    uint32_t exit_status;
};
void sim_script_print(const struct sim_script *script, struct str *out);
/* A script that is none of ours ends at once. */
void sim_script_parse(struct bytes text, struct sim_script *ret);

/* ---- the whole ---- */
struct sim_user {
    char *name;
    uint32_t uid;
};

/* A waiting salloc or srun. */
struct sim_client {
    struct sim_event event; /* its command ends */
    uint64_t id;
    uint32_t job_id;
    int64_t run;
    const struct sim_user *user;
};

struct sim_cluster {
    const struct conf *conf;
    struct sim_hooks hooks;
    struct rng rng;
    int64_t usec;
    struct heap events;
    uint64_t n_events;
    struct core *core;
    bool turn_open;         /* the core has got something since its last turn ended */
    struct effects effects; /* of the turn */
    size_t n_released;      /* of them */
    struct sim_store store;
    struct sim_node *nodes;
    size_t n_nodes;
    struct map seen;    /* job id -> attempt * 2 + ended, as the hooks know it */
    struct smap users;  /* name -> sim_user */
    struct map clients; /* id -> sim_client */
    uint64_t next_client;
    struct arena memory; /* for decoding one message */
};

int64_t sim_now(const struct sim_cluster *cluster);
/* A node's message reaches the controller. */
void sim_core_receive(struct sim_cluster *cluster, uint32_t node, uint16_t type, struct bytes body);
/* Decodes into the cluster's memory, which the next call reuses. NULL: it cannot be read. */
void *sim_decode(struct sim_cluster *cluster, const struct record *record, struct bytes body);

#endif
