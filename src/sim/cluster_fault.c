/* SPDX-License-Identifier: Apache-2.0 */
/* What goes wrong, when and where, by the cluster's seed. */
#include "sim/cluster_internal.h"

int64_t sim_delay(struct sim_cluster *cluster, const struct sim_delay *delay) {
    if (delay->most <= delay->least)
        return delay->least;
    return delay->least +
           (int64_t) rng_below(&cluster->rng, (uint64_t) (delay->most - delay->least + 1));
}

bool sim_chance(struct sim_cluster *cluster, uint32_t of_1000) {
    return of_1000 > 0 && rng_below(&cluster->rng, 1000) < of_1000;
}

/* Short absences are as likely as long ones: below a second, below the time-outs, beyond them. */
static int64_t away(struct sim_cluster *cluster) {
    int64_t most = max_of(cluster->faults.away_most, (int64_t) 1) * SIM_SECOND;
    switch (rng_below(&cluster->rng, 3)) {
    case 0:
        most = min_of(most, SIM_SECOND);
        break;
    case 1:
        most = min_of(most, 40 * SIM_SECOND);
        break;
    default:
        break;
    }
    return 1 + (int64_t) rng_below(&cluster->rng, (uint64_t) most);
}

static struct sim_node *some_node(struct sim_cluster *cluster) {
    return &cluster->nodes[rng_below(&cluster->rng, cluster->n_nodes)];
}

/* ---- processes ---- */

static void controller_dies(struct sim_cluster *cluster) {
    if (cluster->core == NULL)
        return;
    sim_control_dies(cluster);
    sim_event_set(cluster, &cluster->restart, cluster->usec + away(cluster));
}

static void slurmd_dies(struct sim_cluster *cluster) {
    struct sim_node *node = some_node(cluster);
    if (node->agent == NULL)
        return;
    sim_node_slurmd_dies(node);
    sim_net_node_closes(node);
    sim_net_core_notices(node, max_of(cluster->usec + sim_delay(cluster, &cluster->faults.network),
                                      node->cut_until));
    sim_event_set(cluster, &node->wake, cluster->usec + away(cluster));
}

static void node_dies(struct sim_cluster *cluster) {
    struct sim_node *node = some_node(cluster);
    int64_t range = SIM_SILENCE_MOST - SIM_SILENCE_LEAST;
    if (!node->powered)
        return;
    sim_node_loses_power(node);
    sim_net_node_closes(node);
    sim_net_core_notices(node, cluster->usec + SIM_SILENCE_LEAST +
                                   (int64_t) rng_below(&cluster->rng, (uint64_t) range));
    node->powered = false;
    sim_event_set(cluster, &node->wake, cluster->usec + away(cluster));
}

static void on_wake(struct sim_cluster *cluster, struct sim_event *event) {
    struct sim_node *node = container_of(event, struct sim_node, wake);
    node->powered = true;
    if (node->agent != NULL)
        return;
    sim_node_slurmd_starts(node);
    node->lost_usec = cluster->usec;
    sim_net_dial_soon(node);
}

static void stepd_dies(struct sim_cluster *cluster) {
    struct sim_node *node = some_node(cluster);
    size_t n = 0, i = 0;
    list_each (&node->stepds, at)
        n++;
    if (n == 0)
        return;
    size_t chosen = (size_t) rng_below(&cluster->rng, n);
    list_each (&node->stepds, at) {
        if (i++ == chosen) {
            sim_stepd_dies(list_entry(at, struct sim_stepd, link));
            return;
        }
    }
}

/* ---- connections and the rest ---- */

static void connection_breaks(struct sim_cluster *cluster) {
    struct sim_node *node = some_node(cluster);
    sim_net_node_notices(node, cluster->usec + (int64_t) rng_below(&cluster->rng, 2 * SIM_SECOND));
    sim_net_core_notices(node, cluster->usec + (int64_t) rng_below(&cluster->rng, 2 * SIM_SECOND));
}

/* One node, or many: a switch. */
static void partition(struct sim_cluster *cluster) {
    int64_t until = cluster->usec + away(cluster);
    bool many = rng_below(&cluster->rng, 4) == 0;
    if (!many) {
        sim_net_cut(some_node(cluster), until);
        return;
    }
    for (size_t i = 0; i < cluster->n_nodes; i++) {
        if (rng_below(&cluster->rng, 4) > 0)
            sim_net_cut(&cluster->nodes[i], until);
    }
}

static void clock_jumps(struct sim_cluster *cluster) {
    int64_t most = cluster->faults.clock_most;
    int64_t ahead = (int64_t) rng_below(&cluster->rng, (uint64_t) most * 2 + 1) - most;
    cluster->clock_ahead = rng_below(&cluster->rng, 2) == 0 ? ahead : 0;
    if (cluster->core != NULL)
        sim_control_turn(cluster);
}

static int64_t mean_of(const struct sim_faults *faults, enum sim_fault_kind kind) {
    switch (kind) {
    case FAULT_CONTROLLER:
        return faults->controller_dies;
    case FAULT_SLURMD:
        return faults->slurmd_dies;
    case FAULT_NODE:
        return faults->node_dies;
    case FAULT_STEPD:
        return faults->stepd_dies;
    case FAULT_BREAK:
        return faults->connection_breaks;
    case FAULT_PARTITION:
        return faults->partition;
    case FAULT_STALL:
        return faults->network_stalls;
    case FAULT_STORE:
        return faults->store_stalls;
    case FAULT_CLOCK:
        return faults->clock_jumps;
    case N_FAULTS:
        break;
    }
    return 0;
}

static void happens(struct sim_cluster *cluster, enum sim_fault_kind kind) {
    switch (kind) {
    case FAULT_CONTROLLER:
        controller_dies(cluster);
        break;
    case FAULT_SLURMD:
        slurmd_dies(cluster);
        break;
    case FAULT_NODE:
        node_dies(cluster);
        break;
    case FAULT_STEPD:
        stepd_dies(cluster);
        break;
    case FAULT_BREAK:
        connection_breaks(cluster);
        break;
    case FAULT_PARTITION:
        partition(cluster);
        break;
    case FAULT_STALL:
        cluster->net_stalled = cluster->usec + (int64_t) rng_below(&cluster->rng, 5 * SIM_SECOND);
        break;
    case FAULT_STORE:
        cluster->store_stalled =
            cluster->usec + (int64_t) rng_below(&cluster->rng, 20 * SIM_SECOND);
        break;
    case FAULT_CLOCK:
        clock_jumps(cluster);
        break;
    case N_FAULTS:
        break;
    }
}

static void arm(struct sim_cluster *cluster, struct sim_fault *fault) {
    int64_t mean = mean_of(&cluster->faults, fault->kind) * SIM_SECOND;
    if (mean > 0 && !cluster->healed)
        sim_event_set(cluster, &fault->event,
                      cluster->usec + 1 + (int64_t) rng_below(&cluster->rng, (uint64_t) mean * 2));
}

static void on_fault(struct sim_cluster *cluster, struct sim_event *event) {
    struct sim_fault *fault = container_of(event, struct sim_fault, event);
    happens(cluster, fault->kind);
    arm(cluster, fault);
}

void sim_faults_start(struct sim_cluster *cluster) {
    for (size_t i = 0; i < cluster->n_nodes; i++)
        cluster->nodes[i].wake.fire = on_wake;
    for (size_t kind = 0; kind < N_FAULTS; kind++) {
        struct sim_fault *fault = &cluster->fault[kind];
        fault->kind = (enum sim_fault_kind) kind;
        fault->event.fire = on_fault;
        arm(cluster, fault);
    }
}

void sim_cluster_heal(struct sim_cluster *cluster) {
    cluster->healed = true;
    for (size_t kind = 0; kind < N_FAULTS; kind++)
        sim_event_cancel(cluster, &cluster->fault[kind].event);
    cluster->faults.doubled = cluster->faults.refused = 0;
    cluster->clock_ahead = 0;
    if (cluster->core != NULL)
        sim_control_turn(cluster);
}
