/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whom the kernel killed for want of memory, from its own log (/dev/kmsg, see
 * Documentation/ABI/testing/dev-kmsg). Two lines belong to a kill:
 *
 *   oom-kill:constraint=…,task_memcg=/slurm/job_1/step_0,task=python3,pid=12,uid=1000
 *   Memory cgroup out of memory: Killed process 12 (python3) total-vm:318440kB, anon-rss:…
 *
 * The log needs root, may be closed to containers, and drops the first line when there are many: a
 * bonus, never a need.
 */
#ifndef SLUICE_OS_OOM_LOG_H
#define SLUICE_OS_OOM_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct oom_record {
    pid_t pid;
    char name[32];
    uint64_t vsize_kib; /* its address space, 0 = not told */
};

/* A descriptor for what comes from now on; -1 where there is none. The caller closes it. */
int oom_log_open(void);
/* Reads on to the end; true when a process of the control group was killed, or of one below it: the
 * last one. tail: the last names of the group's path, "/slurm_n1/job_1/step_0", as many as tell it
 * from others. pid: a process that may have been the victim, 0 = unknown: of this one the second
 * line will do. */
bool oom_log_read(int fd, const char *tail, pid_t pid, struct oom_record *ret);

/* One record of the log. What belongs to another group leaves *state alone; *state is all zeros at
 * first. True when *state is complete. */
bool oom_log_parse(const char *line, const char *tail, pid_t pid, struct oom_record *state);

#endif
