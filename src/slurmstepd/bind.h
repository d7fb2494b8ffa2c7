/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which processors each task of a step runs on. The step holds cores of this node; tasks are laid
 * out over their hardware threads and bound to threads, cores, sockets or NUMA nodes, to what a
 * list names, or to all that the step has. Pure: the result is a set per task.
 *
 * Layout: tasks are dealt to the sockets in turn (cyclic, the default), fill one after the other
 * (block), or have their own CPUs dealt to the sockets (fcyclic). A task's CPUs follow each other.
 */
#ifndef SLUICE_SLURMSTEPD_BIND_H
#define SLUICE_SLURMSTEPD_BIND_H

#include "agent/cpu_map.h"
#include "base/bits.h"
#include "base/error.h"
#include "slurmstepd/env.h"

struct bind_input {
    const struct cpu_map *map;
    const char *cores; /* of the step on this node, "0-3,8" */
    uint32_t n_tasks;
    uint32_t cpus_per_task; /* 0 counts as 1 */
    const char *cpu_bind;   /* --cpu-bind, NULL = not given */
    const char *fallback;   /* the same by configuration; of its words the last ones count */
    const char *autobind;   /* "threads", …: when tasks and CPUs agree at no level; NULL = none */
    const char *distribution; /* -m, the whole text */
    const char *hint;
    uint32_t threads_per_core, ntasks_per_core, ntasks_per_socket; /* 0 = not given */
};

enum bind_kind {
    BIND_NONE,
    BIND_RANK,
    BIND_MAP,
    BIND_MASK,
    BIND_LDOM_RANK,
    BIND_LDOM_MAP,
    BIND_LDOM_MASK,
};
struct bind {
    enum bind_kind kind;
    bool verbose;
    bool is_impossible; /* a binding was asked for by the option, and the CPUs are not known */
    uint32_t n;         /* tasks */
    struct bits *masks; /* of each, numbers of the kernel; NULL with BIND_NONE */
    char *list;         /* what SLURM_CPU_BIND_LIST says */
};

/* ERR_CPU_BIND: a list names a CPU that the step has not. */
must_check int bind_make(const struct bind_input *input, struct bind *ret, struct error *err);
void bind_done(struct bind *bind);
/* "cpu-bind=MASK - n1, task  0  0 [" and "]: mask 0x3 set": around the task's pid. */
void bind_line(const struct bind *bind, const char *node, uint32_t rank, uint32_t local_id,
               struct str *head, struct str *tail);
/* SLURM_CPU_BIND and its kin; without the list where that is too long for a variable. */
void bind_env(const struct bind *bind, struct env *env);

/* Adds the number, or a mask of any length in hexadecimal with or without 0x, to the set; false
 * when it is none or too large. */
bool bind_read_number(const char *text, struct bits *set);
bool bind_read_mask(const char *text, struct bits *set);
void bind_print_mask(const struct bits *mask, struct str *out); /* "0x3" */

/* The entry of task local_id in a list such as "0,8,0x3*2", whose entries may be repeated and which
 * is taken round and round; malloc. NULL: it has none, or a repetition that is no number above 0.
 */
char *bind_list_entry(const char *list, uint32_t local_id);

#endif
