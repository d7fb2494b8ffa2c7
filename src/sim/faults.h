/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated cluster taken apart: controller, nodes and commands are processes that can die,
 * messages take time on connections that can break, records take time to be stored. What can
 * happen is what happens to real ones:
 *
 *   - A connection delivers in order or breaks; what was on its way is lost then. A node dials
 *     again and registers. A partition holds everything back; both ends give up after a while.
 *   - A controller that dies loses the turns that were not committed yet, the last ones first, each
 *     as a whole; their replies and messages have never left. It comes back from its store.
 *   - slurmd may die: its slurmstepds go on and are found again. A node may lose power: nothing of
 *     it is left. A slurmstepd may be killed: its processes are swept.
 *   - Clocks jump; as in the real shell, the core's time stands still rather than going back.
 *
 * All by the cluster's seed: the same calls give the same history.
 */
#ifndef SLUICE_SIM_FAULTS_H
#define SLUICE_SIM_FAULTS_H

#include "sim/cluster.h"

struct sim_delay {
    int64_t least, most; /* microseconds, uniform */
};

struct sim_faults {
    struct sim_delay network; /* of a message */
    struct sim_delay commit;  /* of a turn's records */
    struct sim_delay launch;  /* from a launch's arrival until its tasks run */
    struct sim_delay die;     /* from SIGTERM or SIGKILL until nothing of a step is left */
    struct sim_delay clean;   /* epilog */
    /* Mean seconds between two of them in the whole cluster; 0 = never. */
    int64_t controller_dies, slurmd_dies, node_dies, stepd_dies;
    int64_t connection_breaks, partition, network_stalls, store_stalls, clock_jumps;
    int64_t away_most;  /* seconds that what has died or is cut off stays away, at most */
    int64_t clock_most; /* seconds of a clock's jump, at most */
    /* Of 1000. */
    uint32_t doubled;  /* launches, terminations and reports that arrive a second time */
    uint32_t stubborn; /* steps that do not die of SIGTERM */
    uint32_t refused;  /* launches that fail on the node */
    /* Turns that a dying controller may lose though their commit had been reported: a disk that
     * lies, or a file that is restored from an older copy. */
    uint32_t tail;
};

enum sim_process { SIM_BEGINS, SIM_STOPS, SIM_GOES_ON, SIM_ENDS };

/* What the owner sees; any may be NULL. Nothing may be changed from within. */
struct sim_observer {
    void *context;
    /* A turn has ended; its effects are on their way to the store. */
    void (*turn)(void *context, const struct effects *batch);
    /* It is durable, and its replies and messages leave now. */
    void (*committed)(void *context, const struct effects *batch);
    /* An answer arrives at a command. type 0: its connection is lost, or was never made. */
    void (*reply)(void *context, uint64_t client, uint16_t type, struct bytes body);
    /* The processes of a step on a node. */
    void (*process)(void *context, uint32_t node, const struct step_ref *step,
                    enum sim_process what);
    /* The controller has died; it is back with what its store holds. */
    void (*died)(void *context);
    void (*restored)(void *context);
};

/* From now on the parts are apart. Call it once, when nothing has been submitted yet; afterwards
 * sim_cluster_submit() may not be used. `faults` is copied. */
void sim_cluster_apart(struct sim_cluster *cluster, const struct sim_faults *faults,
                       const struct sim_observer *observer);
/* No new faults; what is away comes back within away_most seconds. */
void sim_cluster_heal(struct sim_cluster *cluster);
/* The controller reads another configuration, of the same nodes; one that is dead when it comes
 * back. `conf` is borrowed and must outlive the cluster. Negative: it is refused. */
must_check int sim_cluster_reconfigure(struct sim_cluster *cluster, const struct conf *conf,
                                       struct error *err);

/* A command sends a request (a record of model/messages.h) over a connection of its own; answers go
 * to the observer. The user root is an administrator. Returns the client's number. The connection
 * stays until the command hangs up or it is lost. */
uint64_t sim_cluster_request(struct sim_cluster *cluster, const char *user, uint16_t type,
                             const void *body);
/* The same client again, for a command that has more to say; false: its connection is gone. */
bool sim_cluster_request_again(struct sim_cluster *cluster, uint64_t client, uint16_t type,
                               const void *body);
void sim_cluster_hang_up(struct sim_cluster *cluster, uint64_t client);
/* srun launches its step on every node of the layout; its tasks run for `run` seconds. */
void sim_cluster_launch_step(struct sim_cluster *cluster, const struct step_layout *layout,
                             uint32_t uid, int64_t run, uint32_t exit_status);
/* The script of a batch job that runs so long and ends so (a wait status), for a request. */
void sim_cluster_script(int64_t run, uint32_t exit_status, struct str *out);

/* ---- looking; NULL or 0 while the controller is dead ---- */
bool sim_cluster_controller_lives(const struct sim_cluster *cluster);
/* The controller's clock, which may have jumped. */
int64_t sim_cluster_controller_now(struct sim_cluster *cluster);
/* Calls fn for each stored record of a kind, in no particular order. */
void sim_cluster_stored(struct sim_cluster *cluster, uint32_t kind,
                        void (*fn)(void *context, uint64_t id, struct bytes body), void *context);
/* Steps on a node that run or whose end is not acknowledged. */
size_t sim_cluster_steps(const struct sim_cluster *cluster, uint32_t node);
/* A report of a node out of order, as if it had been repeated late: handed to the core at once, if
 * the node is connected. Returns false if it is not. */
bool sim_cluster_repeat(struct sim_cluster *cluster, uint32_t node, uint16_t type,
                        const void *body);

#endif
