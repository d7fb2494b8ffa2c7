/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment of a script or task, built from what was submitted. Entries point into the
 * submitted block or into the arena, which must outlive the environment; a copy shares them.
 */
#ifndef SLUICE_SLURMSTEPD_ENV_H
#define SLUICE_SLURMSTEPD_ENV_H

#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "schema/schema.h"

struct env {
    struct arena *arena;
    vec(char *) entries; /* "NAME=value" */
};

void env_init(struct env *env, struct arena *arena);
void env_done(struct env *env);
/* Takes the entries of a block of NUL-ended strings; what has no '=' is dropped, of a name that
 * stands twice the last one counts. */
void env_load(struct env *env, struct blob block);
void env_copy(struct env *dst, const struct env *src);
const char *env_get(const struct env *env, const char *name);
/* value NULL leaves the environment as it is. */
void env_set(struct env *env, const char *name, const char *value);
void env_set_u64(struct env *env, const char *name, uint64_t value);
void env_unset(struct env *env, const char *name);
/* NULL-terminated, for execve; valid until the next change. */
char **env_array(struct env *env);

#endif
