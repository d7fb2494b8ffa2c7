/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the simulated cluster share. Time is in virtual microseconds since the epoch;
 * the core is told the second. Whoever is called by an event may free it.
 *
 * Two ways to run: together (cluster.c), where a message is a call and a turn is stored as it ends,
 * and apart (cluster_control.c, cluster_net.c, cluster_fault.c), where both take time and may fail.
 * Nodes (cluster_node.c) are the same in both.
 */
#ifndef SLUICE_SIM_CLUSTER_INTERNAL_H
#define SLUICE_SIM_CLUSTER_INTERNAL_H

#include "agent/agent.h"
#include "base/heap.h"
#include "base/list.h"
#include "base/map.h"
#include "base/rng.h"
#include "sim/cluster.h"
#include "sim/faults.h"

#define SIM_SECOND ((int64_t) 1000000)
/* A peer that is silent is given up after this time, by either end for itself. */
#define SIM_SILENCE_LEAST (30 * SIM_SECOND)
#define SIM_SILENCE_MOST (60 * SIM_SECOND)

/* ---- events (cluster.c) ---- */
struct sim_event {
    struct heap_node at;
    void (*fire)(struct sim_cluster *cluster, struct sim_event *event);
};
/* Again for one that waits moves it. */
void sim_event_set(struct sim_cluster *cluster, struct sim_event *event, int64_t usec);
/* The same with a place of its own among those of one instant: what was sent first comes first. */
void sim_event_set_order(struct sim_cluster *cluster, struct sim_event *event, int64_t usec,
                         uint64_t order);
void sim_event_cancel(struct sim_cluster *cluster, struct sim_event *event);

/* ---- the store (cluster_store.c): records by kind and id ---- */
struct sim_store {
    struct map records[STORE_KINDS]; /* by kind: id -> record */
    uint64_t n_history;
};
/* What a batch has replaced. */
struct sim_stored;
struct sim_undo_row {
    uint32_t kind;
    uint64_t id;
    struct sim_stored *old; /* NULL: there was none; owned */
};
struct sim_undo {
    vec(struct sim_undo_row) rows;
    uint64_t n_history;
};
void sim_store_done(struct sim_store *store);
/* PUT, DELETE and HISTORY; others are ignored. undo may be NULL. */
void sim_store_apply(struct sim_store *store, const struct effect *effect, struct sim_undo *undo);
/* As if the batch had never been; `undo` is done. */
void sim_store_undo(struct sim_store *store, struct sim_undo *undo);
void sim_undo_done(struct sim_undo *undo);
/* False: there is none. The bytes live until the next change. */
bool sim_store_get(const struct sim_store *store, uint32_t kind, uint64_t id, struct bytes *ret);
void sim_store_each(const struct sim_store *store, uint32_t kind,
                    void (*fn)(void *context, uint64_t id, struct bytes body), void *context);

/* ---- nodes (cluster_node.c) ---- */
/* What a simulated script does is its text. */
struct sim_script {
    int64_t run; /* seconds */
    uint32_t exit_status;
};
void sim_script_print(const struct sim_script *script, struct str *out);
/* A script that is none of ours ends at once. */
void sim_script_parse(struct bytes text, struct sim_script *ret);

/* What stands for a slurmstepd and its processes. */
struct sim_stepd {
    struct sim_event event; /* its tasks begin; then their end */
    struct list link;       /* node->stepds */
    struct sim_node *node;
    struct step_key key;
    uint32_t uid;
    bool by_controller, stubborn, refused;
    bool spawned; /* it exists apart from slurmd */
    bool running, done, stopped, dying;
    bool lost;            /* killed; what it left is being swept */
    int64_t left_usec;    /* of its run, while it does not run */
    int64_t ends_usec;    /* while it runs */
    uint32_t exit_status; /* of its own end, then the one that it had */
};

/* Something that slurmd does by the way; gone with slurmd. */
struct sim_chore {
    struct sim_event event;
    struct list link; /* node->chores */
    struct sim_node *node;
    struct step_key key; /* step_id UNSET32: the job is cleaned; else the step is swept */
    bool prepares;       /* the job's prolog runs */
};

/* What slurmd remembers in its spool directory. */
struct sim_readied {
    struct list link; /* node->readied */
    struct step_key key;
    uint32_t uid;
    bool is_done;
};

struct sim_node {
    struct sim_cluster *cluster;
    uint32_t index;
    const struct conf_node *conf;
    struct agent *agent;   /* NULL: slurmd is dead */
    struct sim_event tick; /* the agent's */
    struct list stepds, chores, readied;
    uint32_t boot; /* how often it has been switched on */
    /* apart */
    bool powered;
    struct sim_event wake;              /* slurmd, or the whole node, is started again */
    struct sim_event dial;              /* tries to reach the controller */
    struct sim_event own_end, core_end; /* when an end notices that the connection is broken */
    uint64_t epoch;                     /* of the connection that the node has, 0 = none */
    uint64_t accepted, registered;      /* of those that the controller has */
    uint64_t own_end_of, core_end_of;   /* the connections that those events are about */
    int64_t lost_usec;                  /* since when it has had no connection */
    int64_t cut_until;                  /* a partition */
    int64_t last_to_node, last_to_core; /* when the last message of each direction arrives */
};

void sim_nodes_new(struct sim_cluster *cluster);
void sim_nodes_free(struct sim_cluster *cluster);
void sim_node_register(struct sim_node *node);
/* A message of the controller. */
void sim_node_receive(struct sim_node *node, uint16_t type, struct bytes body);
void sim_node_launch_step(struct sim_node *node, struct step_key key, uint32_t uid,
                          const struct sim_script *script);
/* slurmd dies, its slurmstepds stay; comes back and finds them. */
void sim_node_slurmd_dies(struct sim_node *node);
void sim_node_slurmd_starts(struct sim_node *node);
/* Without power nothing is left. */
void sim_node_loses_power(struct sim_node *node);
void sim_stepd_dies(struct sim_stepd *stepd);

/* ---- connections (cluster_net.c), apart ---- */
void sim_net_start(struct sim_cluster *cluster);
void sim_net_to_node(struct sim_cluster *cluster, uint32_t node, uint16_t type, struct bytes body);
void sim_net_to_core(struct sim_node *node, uint16_t type, struct bytes body);
/* Between commands and the controller. type 0: the connection is lost. */
void sim_net_to_client(struct sim_cluster *cluster, uint64_t client, uint16_t type,
                       struct bytes body);
void sim_net_step_launch(struct sim_node *node, struct step_key key, uint32_t uid,
                         const struct sim_script *script);
void sim_net_dial_soon(struct sim_node *node);
/* The node's end is closed, at once or when it notices. */
void sim_net_node_closes(struct sim_node *node);
void sim_net_core_notices(struct sim_node *node, int64_t usec);
void sim_net_node_notices(struct sim_node *node, int64_t usec);
/* Holds everything back until then. */
void sim_net_cut(struct sim_node *node, int64_t until);
void sim_net_free(struct sim_cluster *cluster);

/* ---- the controller as a process (cluster_control.c), apart ---- */
void sim_control_start(struct sim_cluster *cluster);
void sim_control_dies(struct sim_cluster *cluster);
/* The core has got something: ends the turn. */
void sim_control_turn(struct sim_cluster *cluster);
void sim_control_free(struct sim_cluster *cluster);

/* ---- faults (cluster_fault.c) ---- */
enum sim_fault_kind {
    FAULT_CONTROLLER,
    FAULT_SLURMD,
    FAULT_NODE,
    FAULT_STEPD,
    FAULT_BREAK,
    FAULT_PARTITION,
    FAULT_STALL,
    FAULT_STORE,
    FAULT_CLOCK,
    N_FAULTS,
};
struct sim_fault {
    struct sim_event event;
    enum sim_fault_kind kind;
};
void sim_faults_start(struct sim_cluster *cluster);
int64_t sim_delay(struct sim_cluster *cluster, const struct sim_delay *delay);
/* True in so many of 1000 cases. */
bool sim_chance(struct sim_cluster *cluster, uint32_t of_1000);

/* ---- the whole ---- */
struct sim_user {
    char *name;
    uint32_t uid;
};

/* A command; together: a waiting salloc or srun. */
struct sim_client {
    struct sim_event event; /* together: its command ends */
    uint64_t id;
    uint32_t job_id;
    int64_t run;
    const struct sim_user *user;
    bool connected; /* apart: the controller has accepted it */
    uint32_t seq;
};

struct sim_cluster {
    const struct conf *conf;
    struct sim_hooks hooks;
    struct rng rng;
    int64_t usec;
    struct heap events;
    uint64_t n_events;
    struct core *core;      /* NULL: dead */
    bool turn_open;         /* the core has got something since its last turn ended */
    struct effects effects; /* of the turn */
    size_t n_released;      /* of them, together */
    struct sim_store store;
    struct sim_node *nodes;
    size_t n_nodes;
    struct map seen;    /* job id -> attempt * 2 + ended, as the hooks know it */
    struct smap users;  /* name -> sim_user */
    struct map clients; /* id -> sim_client */
    uint64_t next_client;
    struct arena memory; /* for decoding one message */
    /* apart */
    bool apart, healed;
    struct sim_faults faults;
    struct sim_observer observer;
    struct sim_fault fault[N_FAULTS];
    int64_t clock_ahead;                /* seconds, of the controller's clock */
    int64_t control_now;                /* what the core was told last */
    struct sim_event core_due;          /* core_next_time() */
    struct sim_event restart;           /* of the controller */
    struct list batches;                /* on their way to the store, in order */
    vec(struct sim_undo) tail;          /* committed, may yet be lost */
    int64_t last_commit;                /* when the newest batch is durable */
    int64_t store_stalled, net_stalled; /* until when */
    struct list messages;               /* on their way */
    uint64_t next_epoch;
    uint32_t idle_ticks; /* in a row at one instant */
};

int64_t sim_now(const struct sim_cluster *cluster);
/* What the controller's clock says; never goes back while it lives. */
int64_t sim_core_now(struct sim_cluster *cluster);
/* A node's message reaches the controller. */
void sim_core_receive(struct sim_cluster *cluster, uint32_t node, uint16_t type, struct bytes body);
/* PrologSlurmctld or EpilogSlurmctld: takes no time and succeeds. */
void sim_script_run(struct sim_cluster *cluster, const struct effect *effect);
/* Decodes into the cluster's memory, which the next call reuses. NULL: it cannot be read. */
void *sim_decode(struct sim_cluster *cluster, const struct record *record, struct bytes body);
const struct sim_user *sim_user_find(struct sim_cluster *cluster, const char *name);
/* Hands a request to the core; the body is a wire encoding. */
void sim_core_request(struct sim_cluster *cluster, const struct sim_client *client, uint16_t type,
                      struct bytes body);
/* The body of a MSG_LAUNCH with the script that the store holds for it; false: there is none. */
bool sim_launch_body(struct sim_cluster *cluster, const struct effect *effect, struct str *out);

#endif
