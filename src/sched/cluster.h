/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the planner: nodes, partitions, pools (view.c) and the index of what nodes have (index.c).
 *
 * Amounts are vectors of int64_t with `n_dims` entries: CPUs, memory, one entry per GRES kind, one
 * per card of a node with shares (its units, cards.h). The rest follows from these: what one job
 * could have of each kind that cards are given out by, whole or in shares, then one sum per GRES
 * name that has several types (so that an untyped request is one comparison).
 */
#ifndef SLUICE_SCHED_CLUSTER_H
#define SLUICE_SCHED_CLUSTER_H

#include "base/bits.h"
#include "base/vec.h"
#include "sched/sched.h"

#define DIM_CPU 0
#define DIM_MEM 1
#define DIM_GRES 2
#define MAX_DIMS (DIM_GRES + 2 * SCHED_GRES_KINDS + SCHED_CARDS + SCHED_GRES_KINDS / 2)

struct job;
struct plan;
struct reservation;
struct run;
struct sched;

/* ---- index: per dimension, the set of nodes that have at least so much ---- */

struct ladder {
    int64_t *steps; /* ascending */
    struct bits *sets;
    uint32_t n;
    uint8_t *level; /* per node: how many steps it reaches */
};
struct index {
    struct ladder *dims; /* n_dims */
    struct bits idle;    /* nodes with nothing taken */
};

/* ---- nodes ---- */

/* A job's hold on one node; in a node's list by `end`. */
struct hold {
    int64_t end;
    struct run *run;
    uint32_t slot; /* which of the run's allocations */
};
struct plan_hold {
    struct plan *plan;
    uint32_t slot;
};
/* What a reservation holds of a node. A dimension with 0 is not held, and not limited. */
struct reserved_hold {
    const struct reservation *reservation;
    int64_t *amounts;
};
struct gres_kind {
    char *name, *type;
    uint8_t dim; /* what a request for it is compared with */
    uint8_t sum; /* the same for any type of the name (dim when the name has one type) */
    bool is_gpu;
};
/* Nodes of the same hardware: a request needs the same on each. */
struct hardware {
    uint32_t cpus, sockets, cores_per_socket, threads_per_core;
    bool whole_cores;
    const int64_t *total;
};
struct node {
    char *name;
    uint32_t outer; /* configured position */
    uint32_t weight;
    uint32_t hardware;
    uint32_t weight_class;
    uint64_t tmp_disk;
    struct bits features;
    bool usable;
    uint32_t explicit_kinds;   /* bits */
    struct sched_cards *cards; /* NULL: no shares here */
    vec(struct hold) runs;
    vec(struct plan_hold) plans;
    vec(struct reserved_hold) reserved;
    uint64_t released; /* its last position in the release log */
};
struct weight_class {
    uint32_t begin, end; /* nodes */
};

/* ---- partitions ---- */

/* The first job of a partition or a reservation that could not start, in the pass of that number.
 */
struct head {
    struct job *job;
    uint32_t pass;
};
struct partition {
    char *name;
    struct bits nodes;
    uint32_t n_nodes;
    uint32_t pool;
    uint32_t tier, max_nodes, min_nodes, max_cpus_per_node;
    int64_t max_time; /* seconds, SCHED_FOREVER */
    bool exclusive, schedulable, spread;
    uint32_t layers;         /* jobs that may take turns on the same CPUs, 1 = none */
    bool layers_forced;      /* also those that did not ask for it */
    uint32_t layers_at_once; /* jobs that may hold the same CPU at a time, 1 = one */
    struct head head;
};
/* Partitions that share nodes, directly or through others. */
struct pool {
    vec(struct plan *) plans;
    uint32_t n_old;   /* plans of an earlier pass that this pass has not come to yet */
    uint32_t n_kept;  /* plans made or confirmed in this pass */
    uint32_t head_id; /* job id at the head of those that wait, 0 */
    bool blocked;     /* strict order: nobody else starts */
    int64_t first_start, last_start; /* of its plans; SCHED_FOREVER, 0 without */
};

/* view.c */
void node_changed(struct sched *s, uint32_t node); /* recomputes keep and the indexes */
void sched_touched(struct sched *s);               /* the next pass has something to do */
void sched_statics(struct sched *s);               /* closed reasons must be looked at again */

/* index.c */
void index_init(struct index *index, const struct sched *s);
void index_done(struct index *index, uint32_t n_dims);
void index_set(struct index *index, const struct sched *s, uint32_t node, const int64_t *amount);
/* Highest step that is not above `need`: its set holds every node with enough. NULL = all nodes. */
const struct bits *index_at_least(const struct index *index, uint32_t dim, int64_t need);
uint32_t ladder_find(const struct ladder *ladder, int64_t value); /* number of steps reached */

#endif
