/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Job arrays; private to src/core. A record without a task id of its own stands for many unstarted
 * tasks (a *group*): the array as submitted is one, and a range that is treated apart (cancelled,
 * held) is another. A task gets a record of its own when it starts or is treated apart singly. The
 * last task of a group takes over the group's record, and so the last of all keeps the array's id.
 *
 * What is asked of arrays all the time is counted: job_touch() calls array_recount(), which moves
 * the record to where it stands now. Nobody has to walk the records to know how many tasks run,
 * whether all have ended or one has failed.
 */
#ifndef SLUICE_CORE_ARRAY_H
#define SLUICE_CORE_ARRAY_H

#include "base/list.h"
#include "base/map.h"
#include "base/vec.h"
#include "text/idset.h"

struct core;
struct core_job;
typedef vec(struct core_job *) job_ptrs;

/* Where the tasks of a record stand. */
enum array_standing {
    ARRAY_WAITS,       /* not started yet */
    ARRAY_WAITS_AGAIN, /* requeued */
    ARRAY_RUNS,        /* holds nodes, suspended ones too */
    ARRAY_ENDS,        /* its nodes clean up */
    ARRAY_OK,
    ARRAY_FAILED, /* ended in any other way than COMPLETED */
    ARRAY_STANDINGS,
};

/* What is known of tasks whose records have left the controller; kept in a record of the array. */
enum array_past { ARRAY_PAST_OK = 1, ARRAY_PAST_FAILED = 2 };

struct array_waiter {
    uint64_t client;
    uint32_t seq;
};

struct core_array {
    uint32_t id;
    struct list records; /* core_job.array_link */
    struct list waiting; /* core_job.array_wait: those of them that are pending */
    vec(struct core_job *) groups;
    struct map tasks;            /* task -> the record of its own */
    uint64_t n[ARRAY_STANDINGS]; /* tasks of groups that wait, else records */
    uint32_t past;               /* enum array_past */
    int64_t last_start;          /* of a task in memory, 0 */
    uint32_t past_code;          /* the highest exit code of those that have left */
    /* sbatch --wait: answered when no task waits or runs any more. */
    vec(struct array_waiter) waiters;
};

/* Tasks beyond this that are treated apart together share a record. */
#define ARRAY_APART_MAX 100

/* NULL when no record of it is there. */
struct core_array *array_find(const struct core *core, uint32_t array_job_id);
/* The first of its records is the one that has been there longest; the others may have been split
 * off after it. NULL: the first, or no more. The array may be NULL. */
struct core_job *array_after(const struct core_array *array, const struct core_job *job);
/* Tasks split off meanwhile come up as well if they are split off the first. */
#define array_each(array, job)                                                                     \
    for (struct core_job *job = array_after(array, NULL); job != NULL;                             \
         job = array_after(array, job))
/* The record that stands for a task, with others or alone; NULL when there is none (any more). */
struct core_job *array_task(const struct core_array *array, uint32_t task);
/* Tasks that have not ended yet, those that clean up included. */
uint64_t array_open(const struct core_array *array);

/* A record of its own for one unstarted task; in the planner's view if it may start. */
struct core_job *array_split(struct core *core, struct core_job *group, uint32_t task);
/* The same for a task that starts at once. */
struct core_job *array_take(struct core *core, struct core_job *group, uint32_t task);
/* A record for some tasks of a group, not all of them; not in the planner's view yet. */
struct core_job *array_take_set(struct core *core, struct core_job *group,
                                const struct idset *tasks);
void array_join(struct core *core, struct core_job *job); /* its array, made if need be */
void array_leave(struct core *core, struct core_job *job);
void array_recount(struct core *core, struct core_job *job); /* something of it has changed */
void array_started(struct core_job *job);                    /* at job->rec.start_time */
void arrays_free(struct core *core);
/* Tells the client when all tasks have ended, with the highest of their exit codes; at once where
 * they have. */
void array_wait(struct core *core, struct core_array *array, uint64_t client, uint32_t seq);
void array_drop_client(struct core_array *array, uint64_t client);  /* the array may be NULL */
void array_answer(struct core *core, const struct core_job *ended); /* which may be no task */
/* How many more tasks of its array may start now (%limit). */
uint32_t array_slots(const struct core_job *job);
/* A slot of `%N` may have become free. */
void array_tasks_changed(struct core *core, struct core_job *any);

#endif
