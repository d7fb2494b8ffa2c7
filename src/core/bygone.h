/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs that have left the controller, as history has them. A dependency may be said on a job that
 * is gone; the core reads no history, so its shell asks core_asks_bygone() which jobs a request is
 * about, looks them up, and gives what it has found along with the request (core_give_bygone). What
 * has been found decides when the dependency is taken: nothing of it is looked up later.
 */
#ifndef SLUICE_CORE_BYGONE_H
#define SLUICE_CORE_BYGONE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "text/idset.h"

struct core;
struct job;

/* Jobs that one request may ask for; of one array, how many ends are known one by one. */
#define BYGONE_JOBS_MAX 10000 /* as many as one job may wait for */
#define BYGONE_ENDS_MAX 1000

/* How a job or a task has ended otherwise than COMPLETED. */
struct bygone_end {
    uint32_t task; /* UNSET32: it is no array */
    uint32_t state, exit_status;
    char *name; /* owned */
};
/* A job, or all tasks of an array that history has. */
struct bygone_job {
    uint32_t id;
    bool found; /* a run of it is in history */
    bool is_array;
    int64_t start; /* of the task that started last; of one that never has, its end */
    bool ok, failed;
    struct idset tasks_ok, tasks_failed; /* of an array */
    vec(struct bygone_end) ends;         /* of the first that have failed */
};
struct bygone {
    struct map jobs;     /* id -> struct bygone_job of each that is asked for, owned */
    const char *problem; /* borrowed: why part of history could not be asked; NULL = it was */
};
#define BYGONE_INIT                                                                                \
    { MAP_INIT, NULL }

typedef vec(uint32_t) bygone_ids;

void bygone_done(struct bygone *bygone);
/* What is to be looked up; runs of others are passed over. */
void bygone_ask(struct bygone *bygone, const bygone_ids *ids);
/* A run as history has it; of several of one job or task the last one counts. */
void bygone_add(struct bygone *bygone, const struct job *job);

/* Adds the ids of jobs and arrays whose end a request needs to know and the core does not know any
 * more, BYGONE_JOBS_MAX at most. */
void core_asks_bygone(struct core *core, uint16_t type, const void *body, bygone_ids *ret);
/* For the requests that follow; NULL: nothing is known. Borrowed. */
void core_give_bygone(struct core *core, const struct bygone *bygone);

#endif
