/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tasks of a parallel program need to find each other: a server on each node that speaks
 * their library's language (PMI-1 and PMI-2: pmi.h, PMIx: pmix_link.h), and an exchange among the
 * nodes through the step's srun.
 */
#ifndef SLUICE_SLURMSTEPD_MPI_H
#define SLUICE_SLURMSTEPD_MPI_H

#include "model/messages.h"
#include "slurmstepd/spawn.h"

struct stepd;
struct task;

/* By srun's --mpi; does nothing for "none". Before the tasks are started. */
must_check int mpi_open(struct stepd *stepd, struct error *err);
/* The task's variables and inherited descriptor. plan->extra_fd is the caller's to close. */
must_check int mpi_task(struct stepd *stepd, struct task *task, struct spawn_plan *plan,
                        struct error *err);
void mpi_task_exited(struct stepd *stepd, const struct task *task);
/* What srun has passed on from the nodes. */
void mpi_exchange(struct stepd *stepd, const struct step_exchange *exchange);
void mpi_close(struct stepd *stepd);

#endif
