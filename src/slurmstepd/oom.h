/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of memory, told honestly. When the kernel kills a process of the step for want of memory,
 * the job's own output says which one, what was used, what was allowed, and what to ask for.
 *
 * The kernel counts its kills (struct cgroup_usage) and names the victim in its log only
 * (os/oom_log.h). Where that cannot be read, the victim is found out by what is known at that
 * moment: a child of ours that died of SIGKILL, else a process that is just dying
 * of it, else the largest of the last look that is gone now, else the largest one.
 */
#ifndef SLUICE_SLURMSTEPD_OOM_H
#define SLUICE_SLURMSTEPD_OOM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "os/cgroup.h"
#include "os/loop.h"

struct stepd;

struct oom_victim {
    pid_t pid; /* 0 = unknown */
    char name[32];
    /* the higher the surer */
    enum oom_guess { OOM_LARGEST, OOM_GONE, OOM_DYING, OOM_DEAD, OOM_LOGGED } guess;
};

struct oom {
    struct cgroup_oom watch;
    int log_fd;       /* the kernel's log, -1 = none */
    char *group_tail; /* what it calls the group */
    uint64_t looked_at;
    struct loop_fd *event;
    struct loop_timer *timer; /* v1 tells before it kills, and SIGCHLD comes after both */
    unsigned waits;
    uint64_t kills; /* told so far */
    struct oom_victim victim;
    pid_t told_pid;      /* the last victim that was told */
    uint64_t mapped_kib; /* address space of all processes when it happened, the most seen */
};

void oom_start(struct stepd *stepd); /* once the step's groups are there */
/* A child is a zombie, killed by SIGKILL. True when memory was the reason. */
bool oom_child_killed(struct stepd *stepd, pid_t pid);
/* The groups go: no more is watched. */
void oom_stop(struct stepd *stepd);
/* Behind the last output of the tasks: what scripts look for. */
void oom_sum_up(struct stepd *stepd);

/* What to ask for, MiB, when `limit` was too little and the processes had mapped `mapped`:
 * *ret_holds_all when that is enough for all that they had asked the kernel for. An address space
 * smaller than the limit has not been seen as a whole, one of many times the limit says nothing. */
uint64_t oom_advice_mib(uint64_t limit_mib, uint64_t mapped_mib, bool *ret_holds_all);

#endif
