/* SPDX-License-Identifier: Apache-2.0 */
/* slurmstepd's side of the PMIx server process of a step; see pmix_wire.h. Used by mpi.c. */
#ifndef SLUICE_SLURMSTEPD_PMIX_LINK_H
#define SLUICE_SLURMSTEPD_PMIX_LINK_H

#include "model/messages.h"

struct stepd;
struct pmix;

/* Starts it and waits until it is ready. ERR_NOT_FOUND where it is not installed. */
must_check int pmix_open(struct stepd *stepd, struct pmix **ret, struct error *err);
/* Adds a task's variables to stepd->env. */
void pmix_variables(struct pmix *pmix, uint32_t local_id);
void pmix_exchange(struct pmix *pmix, const struct step_exchange *exchange);
void pmix_close(struct pmix *pmix); /* NULL is ignored */

#endif
