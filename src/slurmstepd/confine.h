/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fences of a step: one function for batch scripts, steps of srun, the extern step and
 * terminals. slurmd has worked out what a step may use (struct step_order: cgroup_tree, job_fence,
 * step_fence); here the groups are made and everything that runs for the user is born in one.
 *
 *   BASE/job_N                    memory, CPUs, processes of all steps of the job here
 *   BASE/job_N/step_S             the same of this step, and its devices
 *   BASE/job_N/step_S/user/task_T where v2 tracks: the processes of one task, without limits of
 *                                 its own. On v1 the tasks are in the step's group itself.
 *
 * slurmstepd itself stays outside. Without control groups (an ordinary user's cluster) all of this
 * does nothing and track.h follows the step by its process tree.
 */
#ifndef SLUICE_SLURMSTEPD_CONFINE_H
#define SLUICE_SLURMSTEPD_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/step_wire.h"
#include "base/error.h"
#include "os/cgroup.h"

#define CONFINE_TASK_TAIL "/user/task_" /* before the number of a task, in its group's path */

struct confine {
    struct cgroup_tree *tree;  /* NULL = no control groups */
    struct cgroup *base, *job; /* handles: removed with their last step */
    struct cgroup *step;       /* limits and usage */
    struct cgroup *tasks;      /* all processes of the step, and nothing else */
    int fds[CGROUP_PARTS];     /* cgroup.procs files of v1, the same for every task */
    size_t n_fds;
    bool has_counted; /* once the groups are gone: what they had counted */
    struct cgroup_usage counted;
    bool was_killed; /* nobody can be born in a group that was; see os/cgroup.h */
};
#define CONFINE_INIT                                                                               \
    { 0 }

/* Makes the groups of the step and sets its limits. An error means that nothing may be started: the
 * step would not be fenced as its job was promised. */
must_check int confine_open(struct confine *confine, const struct step_order *order,
                            struct error *err);
/* Removes the step's groups, and the job's when this was its last step; with is_orphan (no slurmd
 * is there any more) the base, too. False while a process is in them. */
bool confine_close(struct confine *confine, bool is_orphan);

/* The way into the group of a task, for struct spawn_plan. */
struct confine_entry {
    int dir_fd; /* to be born in, -1 = not possible */
    /* cgroup.procs files to enter, that of dir_fd's group first when there is one */
    int fds[CGROUP_PARTS];
    size_t n_fds;
    bool first_is_own; /* the rest belongs to the step */
};
#define CONFINE_ENTRY_INIT                                                                         \
    { .dir_fd = -1 }
/* local_id: the task's number on this node, for what runs on its behalf (prolog, epilog, login
 * shell), too. */
must_check int confine_task(struct confine *confine, uint32_t local_id, struct confine_entry *ret,
                            struct error *err);
void confine_entry_done(struct confine_entry *entry);
#define cleanup_confine_entry __attribute__((__cleanup__(confine_entry_done)))

/* What the kernel counts of the whole step, or had counted when it ended; false where there are no
 * groups. */
bool confine_usage(const struct confine *confine, struct cgroup_usage *ret);

#endif
