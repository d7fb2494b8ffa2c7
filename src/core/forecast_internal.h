/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of a forecast share: forecast.c (time), forecast_depend.c (who waits for whom). */
#ifndef SLUICE_CORE_FORECAST_INTERNAL_H
#define SLUICE_CORE_FORECAST_INTERNAL_H

#include "core/forecast.h"

/* A record that waits, in this view. */
struct waiting {
    const struct sched_job_spec *spec;
    struct job_spec own; /* what `spec` points to, unless it was given */
    bool is_own, in_view;
    bool own_run;                /* the run with the number of the record holds nodes */
    uint32_t n_tasks, n_running; /* that wait, that have started */
    uint32_t array, array_limit; /* id of the array and its %N; 0 */
};
/* A run that ends. */
struct ending {
    struct heap_node timer;
    uint32_t run, record, array;
    uint32_t partition; /* index + 1 of one that started here, 0 */
    bool requeue;       /* preempted: it will wait again */
};
/* Jobs of one user and one name, in the order of their numbers; all before `first` have ended. */
struct rivals {
    char *key;
    vec(const struct core_job *) jobs;
    size_t first;
};
/* Waits for others. */
struct dependent {
    const struct core_job *job;
    const struct sched_job_spec *spec; /* NULL: made when it may go */
    bool asked, gone;
};

struct forecast {
    struct core *core;
    struct sched *sched;
    int64_t now;
    struct map waiting;            /* record id -> struct waiting */
    struct heap ends;              /* struct ending */
    struct map ending_of;          /* run -> struct ending, of those that end some day */
    vec(struct ending *) due;      /* those that end now */
    struct map array_running;      /* array id -> number of its tasks that run */
    struct map started, ended;     /* record id -> when */
    struct map habits;             /* uid + 1 -> seconds that the user's last jobs ran */
    bool predicted, too_many, cut; /* cut: some plans were left out */
    bool preempted;                /* for others than the job in question */
    vec(struct dependent) dependents;
    struct smap rivals;     /* "uid:name" -> struct rivals, where somebody waits for a singleton */
    int64_t dependents_due; /* the clock alone may let one go, 0 */
    uint32_t next_run;
    uint64_t work, work_max;
    int64_t until;
};

/* A number kept in a map; 0 = none. */
static inline int64_t forecast_number(const struct map *map, uint64_t key) {
    return (int64_t) (intptr_t) map_get(map, key);
}

/* forecast.c */
/* The record waits from now on; of a form that was given, in place of the record. */
void forecast_take_waiting(struct forecast *f, const struct core_job *job);
void forecast_take_form(struct forecast *f, const struct sched_job_spec *spec,
                        const struct core_job *job);

/* forecast_depend.c */
/* Once, when all dependents are in. */
void forecast_depends_learn(struct forecast *f);
/* True when somebody may go. */
bool forecast_depends_wake(struct forecast *f);
void forecast_depends_free(struct forecast *f);

#endif
