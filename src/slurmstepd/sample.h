/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tasks of a step use. A task is its process and everything that came of it: a process
 * belongs to the task that its parent belonged to when it was first seen, else to the one whose
 * session, process group or control group it is in.
 *
 * Memory is looked at now and then (sampler_take); what is added up (CPU, I/O) is exact, because
 * every process that ends passes by here: in the accounts of a parent that waits for it, or in
 * ours. Of a process that ends between two looks the kernel tells the peak of its memory.
 */
#ifndef SLUICE_SLURMSTEPD_SAMPLE_H
#define SLUICE_SLURMSTEPD_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/vec.h"
#include "model/usage.h"
#include "slurmstepd/track.h"

/* Of JobAcctGatherParams: which pages count as a process's. */
enum sample_memory { SAMPLE_RSS, SAMPLE_NO_SHARED, SAMPLE_PSS };

struct sample_counts {
    uint64_t user_usec, system_usec, pages, read, written;
};

struct sample_task {
    pid_t pid;                   /* 0 = never started */
    struct sample_counts ended;  /* of processes that are gone */
    struct sample_counts total;  /* the most that it has been seen to have used */
    struct sample_counts living; /* while a look is being taken */
    uint64_t rss_kib, vsize_kib; /* peaks */
    uint64_t rss_now, vsize_now; /* at the last look */
};

struct sample_process {
    pid_t pid, parent, group, session;
    uint64_t start_ticks;
    uint32_t task; /* index, or SAMPLE_NOBODY */
    bool is_resolved;
    uint64_t rss_kib, vsize_kib;
    uint64_t cpu_usec, read, written; /* when its I/O was read last */
    char name[32];
};
#define SAMPLE_NOBODY UINT32_MAX
/* The I/O of a process that seems not to have run since the last look is read at each so-manieth
 * look only. (Its CPU time is told in steps of 10 ms; reading I/O is half the price of a look.) */
#define SAMPLE_IDLE_LOOKS 8

struct sampler {
    enum sample_memory memory;
    uint64_t
        inherited_kib; /* what a new process takes over of our own peak before it is a program */
    struct sample_task *tasks;
    size_t n_tasks;
    vec(struct sample_process) processes; /* at the last look, by pid */
    uint64_t n_looks;
    uint64_t rss_now_kib, vsize_now_kib; /* of all processes then */
    /* of the zombie that is about to be reaped */
    pid_t leaving;
    uint32_t leaving_task;
    uint64_t leaving_read, leaving_written;
};

void sampler_init(struct sampler *sampler, size_t n_tasks, enum sample_memory memory);
void sampler_done(struct sampler *sampler);
void sampler_started(struct sampler *sampler, size_t task, pid_t pid);
/* Looks at all processes of the step. */
void sampler_take(struct sampler *sampler, const struct track *track);
/* A child is a zombie (call before it is waited for), and has been waited for. */
void sampler_leaving(struct sampler *sampler, pid_t pid);
void sampler_left(struct sampler *sampler, pid_t pid, const struct rusage *rusage);
/* The group's own peak, where the kernel had to kill something and no look can have seen it: that
 * of a task that was alone in the group, whatever the looks said. (They count pages of libraries
 * that are charged to somebody else.) */
void sampler_group_peak(struct sampler *sampler, uint64_t kib);
/* CPU time of the group, likewise: where processes end that are no children of ours. */
void sampler_group_cpu(struct sampler *sampler, uint64_t usec);
/* All tasks so far. ranks: by local index, NULL = 0, 1, …; strings are borrowed. */
void sampler_usage(const struct sampler *sampler, const uint32_t *ranks, const char *node,
                   struct usage *ret, struct usage_measure measures[USAGE_KINDS]);

#endif
