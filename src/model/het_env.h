/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the script and the commands of a heterogeneous job are told of its components:
 * SLURM_HET_SIZE, and variables with _HET_GROUP_n behind their names. Each is there under its older
 * name, too (SLURM_PACK_SIZE, _PACK_GROUP_n).
 */
#ifndef SLUICE_MODEL_HET_ENV_H
#define SLUICE_MODEL_HET_ENV_H

#include "model/job.h"

/* Appends NAME=value, each ended by NUL. `components` are in order, with their allocations.
 * interactive: salloc's command is told by all names that it knows them by. */
void het_env_print(const struct job *components, size_t n, bool interactive, struct str *out);
/* The same, handed over one by one; name and value live as long as the call. */
void het_env_each(const struct job *components, size_t n, bool interactive,
                  void (*set)(void *context, const char *name, const char *value), void *context);

#endif
