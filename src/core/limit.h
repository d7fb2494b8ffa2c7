/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits of associations and QOS: how many jobs, and how much at a time, a user, an account with
 * all below it, or a quality of service may have, and how large one job may be. In effect with
 * AccountingStorageEnforce=limits.
 *
 * Where a limit is set at several places, the first decides: the partition's QOS, the job's QOS
 * (before it with OverPartQOS), the user's association, the accounts above it. Limits of a whole
 * group (Grp...) hold at every account above.
 *
 *   limit_rows.c  what limits there are, which reasons go with them
 *   limit.c       which of them concern a job; who has how much of what
 *   limit_job.c   a job against them: at the door, and for the planner
 *   limit_used.c  those on what has been used up to now
 *   limit_why.c   what a job that waits for one is told
 *   limit_counts.c  who has how much now, for listings
 *   limit_age.c   how many of those that wait gain priority by their age
 *
 * A limit on what runs is a budget of the planner (sched.h), so that it counts with it ahead in
 * time; it keeps what is in use. How many jobs are submitted is counted here.
 */
#ifndef SLUICE_CORE_LIMIT_H
#define SLUICE_CORE_LIMIT_H

#include "base/map.h"
#include "base/vec.h"
#include "model/enums.h"
#include "sched/sched.h"

struct core;
struct core_job;
struct job;
struct reply_error;

/* ---- what limits there are ---- */

/* Whose jobs count together: of all below an account, or of a QOS; of one user; of one account; or
 * each job for itself. */
enum limit_scope { LIMIT_OF_GROUP, LIMIT_OF_USER, LIMIT_OF_ACCOUNT, LIMIT_OF_JOB };
enum limit_measure {
    LIMIT_JOBS,          /* that run */
    LIMIT_SUBMITTED,     /* that run or wait */
    LIMIT_TRES,          /* in use */
    LIMIT_TRES_PER_NODE, /* of a job, on each node */
    LIMIT_TRES_MINUTES,  /* of a job, by its time limit */
    LIMIT_WALL,          /* minutes */
    LIMIT_LEAST,         /* TRES that a job must ask for */
    LIMIT_TRES_AHEAD,    /* minutes that are left of the limits of what runs */
    LIMIT_TRES_USED,     /* minutes, with what runs; they decay */
    LIMIT_WALL_USED,     /* the same of the jobs themselves */
    LIMIT_AGEING,        /* jobs that wait and gain priority by it; only in the QOS of the job */
};
enum limit_class {
    LIMIT_CPU,
    LIMIT_MEM,
    LIMIT_NODE,
    LIMIT_GRES,
    LIMIT_LICENSE,
    LIMIT_BILLING,
    LIMIT_CLASSES,
};
struct limit_row {
    enum limit_scope scope;
    enum limit_measure measure;
    const char *assoc, *qos;           /* members of the records, NULL: not a limit of those */
    const char *assoc_name, *qos_name; /* as sacctmgr calls them */
    /* By class; of a measure without TRES the first. 0: not a limit. */
    uint32_t assoc_reasons[LIMIT_CLASSES], qos_reasons[LIMIT_CLASSES];
};
#define LIMIT_ROWS 22
extern const struct limit_row limit_rows[LIMIT_ROWS];
/* Does sacctmgr's value of it say something of TRES? */
static inline bool limit_has_tres(const struct limit_row *row) {
    return row->measure != LIMIT_JOBS && row->measure != LIMIT_SUBMITTED &&
           row->measure != LIMIT_WALL && row->measure != LIMIT_WALL_USED &&
           row->measure != LIMIT_AGEING;
}
/* Of what has been used (limit_used.c). */
static inline bool limit_is_used_up(const struct limit_row *row) {
    return row->measure == LIMIT_TRES_USED || row->measure == LIMIT_WALL_USED;
}
/* Its value is minutes, of the jobs or of their TRES. */
static inline bool limit_has_minutes(const struct limit_row *row) {
    return row->measure == LIMIT_TRES_MINUTES || row->measure == LIMIT_WALL ||
           row->measure == LIMIT_TRES_AHEAD || limit_is_used_up(row);
}

/* One of the TRES of this cluster. */
struct limit_tres {
    enum limit_class class;
    uint32_t index; /* of the kind of GRES, or the licence */
    bool typed;     /* GRES of this kind only; else of all kinds with its name */
};
/* False: this cluster does not have it, or nothing is known of who uses it. */
bool limit_tres_read(const struct core *core, const char *name, struct limit_tres *ret);
void limit_tres_print(const struct core *core, const struct limit_tres *tres, struct str *out);

struct limit_value {
    const struct limit_row *row;
    struct limit_tres tres;
    uint64_t most;
};
typedef vec(struct limit_value) limit_values;
/* What is set in a record, and (of root's association) in slurm.conf. */
void limits_read(const struct core *core, bool of_qos, const void *record, limit_values *ret);

/* Does a change set a limit, or change one? `old` may be NULL. */
bool limits_change(bool of_qos, const void *old, const void *next);

/* ---- which of them concern a job ---- */

/* Of a limit on what has been used: that, and what those who run add to it. Seconds (of TRES). */
struct limit_stock {
    uint32_t id;       /* of the association or the QOS */
    char *tres;        /* as entries of usage call it; NULL: the jobs themselves */
    double used, rate; /* as of `time`; what each second adds */
    int64_t time, half_life;
    uint32_t n_runs;
};
/* What jobs may have together. */
struct limit_pool {
    char *key;
    struct limit_value value;
    bool of_qos;
    char *owner;               /* "account physics", "QOS normal" */
    char *subject;             /* whose use of a QOS it is: "user alice"; NULL: its own */
    uint32_t reason;           /* enum job_reason */
    uint32_t id;               /* the planner's budget; UINT32_MAX: jobs are counted here */
    uint64_t n_submitted;      /* those that are submitted, or that age */
    struct limit_stock *stock; /* of those on what has been used, else NULL */
};
struct limit_use {
    struct limit_pool *pool;
    bool binds; /* else it counts only: another limit decides */
};
/* Of each job for itself. */
struct limit_check {
    struct limit_value value;
    uint32_t reason;
    char *owner;
};
/* Jobs whom the same limits concern, in one partition. */
struct limit_group {
    char *key;
    vec(struct limit_use) running, submitted, ageing;
    vec(struct limit_check) checks; /* that bind */
    bool denies;                    /* DenyOnLimit: what never fits is refused */
    bool any_time, any_max_nodes, any_min_nodes;
    uint32_t min_prio; /* MinPrioThresh; 0 */
    bool bills;        /* some limit is on billing */
    bool factor_safe;  /* UsageFactorSafe */
    uint32_t factor;   /* thousandths: what its jobs are charged with, UsageFactor */
};

struct limits {
    struct smap groups, pools;        /* by their keys */
    struct map values;                /* a record -> what is set in it */
    vec(struct limit_pool *) budgets; /* by id */
    struct map stocks;                /* limit_used.c */
    vec(struct limit_pool *) stocked; /* those with a stock */
    int64_t told;                     /* when the planner was told of them, 0 */
    bool ages;                        /* some limit is on who grows older */
    bool age_room;                    /* one of them has gone since the others were looked at */
    int64_t used_next;                /* when one may come to its end, or be left enough of; 0 */
};

bool limits_are_on(const struct core *core);
/* NULL: limits are not enforced. partition: one of the job's. */
struct limit_group *limit_group_of(struct core *core, const struct job *job, uint32_t partition);
/* In which it counts as submitted: that of its partition; of several, one of theirs together that
 * has nothing else. */
struct limit_group *limit_group_submitted(struct core *core, const struct job *job);
/* Book, partitions or configuration have changed: who has how much, anew. */
void limits_renew(struct core *core);
void limits_free(struct core *core);
/* To the log: a QOS of a partition that does not exist has no limits. */
void limits_tell(struct core *core);
/* The planner's view gets the budgets that it does not have yet. */
void limits_show(struct core *core, struct sched *sched);
/* The job counts as submitted, or (at its end) no more; after every change of whom it belongs to.
 */
void limits_count(struct core *core, struct core_job *job);
void limits_uncount(struct core_job *job);

/* ---- what has been used (limit_used.c) ---- */

/* AccountingStorageEnforce=safe: who starts can use all of his time limit; else whoever runs when
 * the minutes are used up is ended. */
bool limits_are_safe(const struct core *core);
void limit_stock_new(struct core *core, struct limit_pool *pool, uint32_t id);
void limit_stock_free(struct limit_stock *stock);
void limit_stocks_free(struct core *core);
/* As of core->now, in seconds. */
double limit_used(const struct core *core, const struct limit_pool *pool);
/* When there may be room for so many more seconds, with nobody running; INT64_MAX. */
int64_t limit_used_until(const struct core *core, const struct limit_pool *pool, double need);
/* What of it was used by an entry of usage, or is used by a run and in no entry yet. */
double limit_used_by_entry(const struct core *core, const struct limit_pool *pool,
                           const struct assoc_usage *entry);
double limit_used_by_run(const struct core *core, const struct limit_pool *pool,
                         const struct job *job);
/* What a job that runs has of it. */
double limit_run_amount(const struct core *core, const struct job *job,
                        const struct limit_tres *tres);
/* The job runs from now on, or has stopped and is charged. */
void limits_charge(struct core *core, const struct job *job, bool begins);
/* Entries have changed otherwise. */
void limits_used_renew(struct core *core);
void limit_used_show(struct core *core, struct sched *sched, const struct limit_pool *pool);
void limits_before_pass(struct core *core);
void limits_after_pass(struct core *core);
void limits_used_tick(struct core *core);

/* ---- who grows older (limit_age.c) ---- */

/* A job that waits may begin to; one that does not wait any more, or is held, makes room. Without
 * such limits it has waited since it could start. */
void limits_age(struct core *core, struct core_job *job);
void limits_age_leave(struct core *core, struct core_job *job);
/* All for whom there may be room, in the order of the jobs. */
void limits_age_all(struct core *core);
/* Is some limit on it, in the book as it is? */
bool limits_age_are_set(const struct core *core);

/* ---- a job against them ---- */

/* What a request comes to at least. */
struct limit_need {
    uint64_t cpus, mem, nodes;
    uint64_t gres[SCHED_GRES_KINDS];         /* asked for by type */
    uint64_t gres_of_name[SCHED_GRES_KINDS]; /* at the first kind of each name */
    uint64_t minutes;                        /* UINT64_MAX: no limit */
    uint64_t billing;                        /* 0 where no limit asks for it */
    const struct sched_job_spec *spec;
};
void limit_need_make(const struct core *core, const struct job *job,
                     const struct sched_job_spec *spec, struct limit_need *ret);
/* In a partition, by the group of the job there; may be NULL. */
void limit_need_bill(const struct core *core, const struct limit_group *group, uint32_t partition,
                     struct limit_need *need);
uint64_t limit_need_of(const struct limit_need *need, const struct limit_tres *tres);
/* Of a limit that jobs share: in its unit, by the job's time limit where minutes count. */
uint64_t limit_need_whole(const struct core *core, const struct limit_need *need,
                          const struct limit_value *value);
/* "GrpTRES=cpu=3" */
void limit_value_print(const struct core *core, const struct limit_value *value, bool of_qos,
                       struct str *out);
/* The check that it fails; NULL. *ret_asked: how much it asks for. */
const struct limit_check *limit_broken(const struct limit_group *group,
                                       const struct limit_need *need, uint64_t *ret_asked);
/* The terms of a planner's request, and a time limit if it has none. */
void limits_terms(struct core *core, const struct job *job, struct sched_job_spec *spec,
                  struct arena *arena);
/* What a job that runs has of its budgets. */
void limits_run(struct core *core, const struct core_job *job, uint32_t partition);
/* Minutes that a job there gets which names no limit; UNSET32: nothing is said of it. */
uint32_t limits_wall(struct core *core, const struct job *job, uint32_t partition);
/* At submission: may so many more jobs like it come in, and one like it at all? */
must_check int limits_check(struct core *core, const struct job *job, uint64_t n_tasks,
                            struct reply_error *reply);
/* The same of a job that waits, and is to be like `next`; who was above a limit before may stay so.
 */
must_check int limits_check_update(struct core *core, struct core_job *job, const struct job *next,
                                   struct reply_error *reply);

#endif
