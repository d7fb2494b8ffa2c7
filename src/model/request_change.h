/* SPDX-License-Identifier: Apache-2.0 */
/* What somebody else than the user has changed in a request: sbatch --explain. */
#ifndef SLUICE_MODEL_REQUEST_CHANGE_H
#define SLUICE_MODEL_REQUEST_CHANGE_H

#include "base/arena.h"
#include "model/messages.h"

/* Appends a row for every field of `after` that differs from `before` to *items (*n of them), all
 * in `memory`. Of script and environment only the sizes are told. */
void request_changes_add(const struct job_request *before, const struct job_request *after,
                         const char *by, struct arena *memory, struct request_change **items,
                         uint32_t *n);

#endif
