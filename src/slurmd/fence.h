/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this node enforces: which control groups there are, what cgroup.conf wants enforced, whether
 * the kernel does it (tried out at the start), and what that means for one job or step.
 *
 * Enforced is what is wanted and works. The rest is told: in the log, and to the controller, which
 * shows it in `scontrol show node` as Confinement=. Nothing is wanted of an ordinary user's slurmd,
 * which may make no groups.
 */
#ifndef SLUICE_SLURMD_FENCE_H
#define SLUICE_SLURMD_FENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/step_wire.h"
#include "base/arena.h"
#include "base/vec.h"
#include "model/conf.h"
#include "os/cgroup.h"

struct slurmd;

/* What can be enforced; bits. */
enum fence_kind {
    FENCE_CORES = 1u << 0,
    FENCE_MEMORY = 1u << 1,
    FENCE_SWAP = 1u << 2,
    FENCE_DEVICES = 1u << 3,
    FENCE_PIDS = 1u << 4,
    FENCE_KINDS = 5,
};
const char *fence_name(enum fence_kind kind);      /* "cores", … */
enum cgroup_part fence_part(enum fence_kind kind); /* of a control group that does it */

struct fence_device {
    const char *name; /* "gpu"; of the inventory */
    uint32_t index;   /* the controller's */
    struct device_number number;
};

struct fences {
    struct cgroup_tree *tree; /* NULL = none */
    uint32_t parts;           /* of every group: enum cgroup_part */
    uint32_t tested;          /* enum fence_kind: the kernel did it when it was tried */
    uint32_t enforced;        /* tested, wanted and possible for this node */
    bool counts_swap;         /* the kernel can limit it */
    struct str untested;      /* a sentence for each kind that the kernel did not do */
    struct str why_not;       /* for each that is wanted and not enforced */
    char *told;               /* for the controller */
    int stepds_fd;    /* group that slurmstepds are born in (fence_scope.c), -1 = where slurmd is */
    uint64_t pid_max; /* of the kernel */
    vec(struct fence_device) devices;
};

/* What is held of this node, in the controller's terms; mem is MiB, 0 = not counted. */
struct fence_share {
    const char *cores, *gres;
    uint32_t cpus;
    uint64_t mem;
};

/* ---- fence_share.c ---- */
struct fence_rules {
    const struct conf_cgroup *conf;
    uint32_t enforced; /* enum fence_kind */
    const struct cpu_map *cpu_map;
    uint64_t machine_mem; /* MiB */
    uint32_t node_cpus;
    uint64_t pid_max;
    bool has_swappiness; /* v1 */
    const struct fence_device *devices;
    size_t n_devices;
};
/* The limits of a share; memory is the arena's. Devices that the share does not hold are denied. */
struct fence *fence_new(const struct fence_rules *rules, const struct fence_share *share,
                        struct arena *arena);

/* ---- fence.c ---- */
/* Finds the control groups and tries out what they do. Takes some milliseconds. */
void fences_start(struct slurmd *slurmd);
/* After a change of the configuration. */
void fences_configure(struct slurmd *slurmd);
/* Removes this node's groups when no step is left in them. */
void fences_stop(struct slurmd *slurmd);

/* Fills what slurmstepd needs: cgroup…, job_fence, step_fence, devices_fenced, signal_children.
 * Memory is the arena's. */
void fences_order(const struct slurmd *slurmd, const struct fence_share *job,
                  const struct fence_share *step, struct arena *arena, struct step_order *order);
/* The groups of a step whose slurmstepd is gone: true when they are gone, else its processes have
 * been killed. */
bool fences_sweep(const struct slurmd *slurmd, uint32_t job_id, uint32_t step_id);

/* ---- fence_scope.c ---- */
bool fence_systemd_runs(void);
/* Has systemd make the base: the scope `unit` ("slurmstepd.scope") in `slice`. One that is there
 * already is used again. */
must_check int fence_scope_open(struct slurmd *slurmd, const char *unit, const char *slice,
                                struct error *err);
void fence_scope_close(struct fences *fences);

/* ---- fence_test.c ---- */
/* Tries each kind in a group of its own: returns those that the kernel enforces, of `kinds`. For
 * each other a sentence is appended to why_not. */
uint32_t fences_try(struct cgroup_tree *tree, uint32_t kinds, struct str *why_not);

#endif
