/* SPDX-License-Identifier: Apache-2.0 */
/* scontrol update of a job: what is asked for, read into a copy of its record (update_keys.c),
 * which is checked and then takes its place (update.c). */
#ifndef SLUICE_CORE_UPDATE_H
#define SLUICE_CORE_UPDATE_H

#include "core/state.h"

struct update_job {
    struct core *core;
    struct core_job *job;
    struct job *next; /* the changed copy */
    const struct core_user *user;
    const char *value;
    const char *note; /* for whoever asks: why it is refused, or what to know of what is accepted */
    bool priority_changed;
    bool *kept; /* of the nodes of a running job, those that it keeps; NULL = all */
};

/* Reads all keys into update->next; ret_detail: a sentence about the first that is refused, or else
 * about the last that is worth one, in the arena of the turn. */
must_check int update_keys_apply(struct update_job *update, const struct update *request,
                                 const char **ret_detail);
/* Does it change nothing but how many tasks of an array may run at a time? */
bool update_is_throttle(const struct update *request);

#endif
