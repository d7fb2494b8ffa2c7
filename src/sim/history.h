/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace from a cluster's own accounting: jobs as sacct gets them, with all that they asked for.
 *
 * A job counts as submitted when it became eligible: what it waited for before (a dependency, a
 * hold, --begin) takes as long again. It is asked for in the partition where it ran. Of
 * a requeued job only its last run is known. Left out, with a note: jobs that never ran, and those
 * that still wait or run, whose length is not known.
 */
#ifndef SLUICE_SIM_HISTORY_H
#define SLUICE_SIM_HISTORY_H

#include "model/messages.h"
#include "sim/trace.h"

/* `jobs` are struct acct_job and must outlive the trace, which is initialised and empty. */
must_check int sim_history_read(struct trace *trace, const void *const *jobs, size_t n,
                                struct error *err);

#endif
