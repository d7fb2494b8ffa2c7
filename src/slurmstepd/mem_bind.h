/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On which NUMA nodes the memory of each task of a step lies (--mem-bind). Pure: the result is a
 * policy of set_mempolicy(2) and a set of nodes per task.
 */
#ifndef SLUICE_SLURMSTEPD_MEM_BIND_H
#define SLUICE_SLURMSTEPD_MEM_BIND_H

#include "agent/cpu_map.h"
#include "base/bits.h"
#include "base/error.h"
#include "slurmstepd/env.h"

enum mem_bind_kind {
    MEM_BIND_NONE,
    MEM_BIND_LOCAL, /* where the task runs */
    MEM_BIND_RANK,  /* the N-th node for task N */
    MEM_BIND_MAP,
    MEM_BIND_MASK,
};
struct mem_bind {
    enum mem_bind_kind kind;
    bool verbose, prefer; /* prefer: other nodes will do */
    int policy;           /* MPOL_…, -1 = stays as it is */
    uint32_t n;           /* tasks */
    struct bits *nodes;   /* of each; NULL with NONE and LOCAL */
    struct bits there;    /* nodes of the machine; none where it is not known */
    char *list;
};

/* What --mem-bind says, NULL = nothing. ERR_CPU_BIND: a list names a node that the machine has not,
 * which the sentence says. A machine that is not known (no map) has all of them. */
must_check int mem_bind_make(const char *text, const struct cpu_map *map, uint32_t n_tasks,
                             struct mem_bind *ret, struct error *err);
void mem_bind_done(struct mem_bind *bind);
/* "mem-bind=MAP - n1, task  0  0 [" and "]: mask 0x1 set": around the task's pid. */
void mem_bind_line(const struct mem_bind *bind, const char *node, uint32_t rank, uint32_t local_id,
                   struct str *head, struct str *tail);
/* SLURM_MEM_BIND and its kin, or with another prefix (SBATCH). */
void mem_bind_env(const struct mem_bind *bind, const char *prefix, struct env *env);

#endif
