/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The controller's state; private to src/core. Who owns what: the core owns jobs (map by id), a job
 * owns its steps, its dependencies and its list of waiting clients; nodes and partitions are arrays
 * in the order of the configuration.
 *
 * Every change of a stored record goes through job_touch() / step_touch() / node_touch(), which put
 * it on a dirty list that core_turn_end() writes out once per turn.
 *
 * Parts with much to say have headers of their own: array.h, depend.h, step.h, prolog.h, preempt.h,
 * failure.h, gpu.h, resize.h, service.h, settings.h, usage.h; this one reads them.
 */
#ifndef SLUICE_CORE_STATE_H
#define SLUICE_CORE_STATE_H

#include "assoc/assoc.h"
#include "base/arena.h"
#include "base/bits.h"
#include "base/heap.h"
#include "base/list.h"
#include "base/map.h"
#include "core/affinity.h"
#include "core/array.h"
#include "core/core.h"
#include "core/cron.h"
#include "core/depend.h"
#include "core/failure.h"
#include "core/gpu.h"
#include "core/het.h"
#include "core/limit.h"
#include "core/preempt.h"
#include "core/prolog.h"
#include "core/resize.h"
#include "core/resources.h"
#include "core/service.h"
#include "core/settings.h"
#include "core/step.h"
#include "core/trigger.h"
#include "core/usage.h"
#include "model/advice.h"
#include "sched/priority.h"
#include "sched/sched.h"
#include "text/duration.h"
#include "text/hostlist.h"
#include "text/idset.h"
#include "text/size.h"
#include "text/tres.h"

/* What a peer may ask for at most, so that no product of it overflows 63 bits: a time (the year
 * 9999), memory (MiB: a pebibyte), tasks or nodes, CPUs of all tasks together, a signal. */
#define TIME_LATEST ((int64_t) 253402300799)
#define MEM_LARGEST ((uint64_t) 1 << 30)
#define COUNT_LARGEST ((uint64_t) 1 << 22)
#define CPUS_LARGEST ((uint64_t) 1 << 31)
#define CPUS_PER_GPU_LARGEST ((uint64_t) 1 << 8)
#define SIGNAL_LARGEST 64u

/* Seconds beyond KillWait after which a preempted job is no longer expected to leave its nodes. */
#define PREEMPT_PATIENCE 90

#define CORE_META_FIELDS(X)                                                                        \
    X(1, U32, next_job_id, 0)                                                                      \
    X(2, STR, cluster, 0)                                                                          \
    X(3, U64, next_db_index, 0)                                                                    \
    X(4, U32, last_reservation_id, 0)                                                              \
    X(5, I64, usage_reset, 0)  /* usage of before that does not count any more */                  \
    X(6, STR, capacity, 0)     /* of the cluster, as history has it */                             \
    X(7, U64, book_version, 0) /* slurmdbd's number of the book; 0: it is our own */
RECORD_DECLARE(core_meta, CORE_META_FIELDS)

struct core_habit {
    struct habit rec;
    struct list link;
    int64_t advised; /* when its user was told of it, 0 = never */
};

enum client_wait { WAIT_JOB_END, WAIT_ALLOC, WAIT_NOTICES };
struct waiter {
    uint64_t client;
    uint32_t seq;
    enum client_wait what;
};

struct core_job {
    struct job rec;
    struct list dirty;
    size_t order_at;       /* in core->job_order */
    struct list depending; /* core->depending while a dependency is open */
    struct list placed;    /* core->placed while it has an allocation */
    struct heap_node timer;
    struct idset tasks; /* unstarted tasks of an array record */
    struct list steps;
    struct list step_waits;
    struct depend *depends;
    size_t n_depends;
    bool depends_any;    /* `?` */
    bool corr_wanted;    /* corr_divide() is to look at all its tasks */
    int64_t depends_due; /* when the clock alone may make one true, 0 */
    vec(struct waiter) waiters;
    uint64_t owner_client;   /* salloc/srun connection, 0 */
    uint64_t priority_fixed; /* what of its priority does not change with time; see priority.c */
    uint64_t priority_of;    /* core->priority_version for which that was made, 0 */
    bool in_sched;
    bool stored;
    uint64_t script_id;              /* STORE_JOB_SCRIPT record; shared by an array's tasks */
    struct step_request *first_step; /* srun: created with the allocation */
    struct strs told;                /* salloc, srun: lines of a filter for the first answer */
    struct limit_group *limits;      /* in which it counts as submitted, NULL */
    uint64_t limits_count;           /* as so many */
    struct limit_group *ageing;      /* in which it counts as one that grows older, NULL */
    uint32_t nodes_busy;             /* entries (also leaving ones) not yet released */
    struct core_het *het;            /* NULL: it is no component */
    struct core_array *array;        /* NULL: it is none */
    struct list array_link, array_wait;
    enum array_standing array_standing; /* as counted in the array */
    size_t weight;                      /* as counted in core->n_jobs */
    int64_t orphan_deadline;      /* salloc/srun has vanished: ends then unless it comes back */
    int64_t immediate_deadline;   /* --immediate=N */
    int64_t requeue_wait;         /* seconds, for the requeue that comes now */
    int64_t stop_due;             /* suspended: SIGSTOP follows SIGTSTP then, 0 = has */
    int64_t promised;             /* start that the planner has resources kept for, 0 */
    bool answered;                /* the submission of an allocation has been answered */
    int64_t reservation_deadline; /* its reservation is over: ends then, 0 */
};

typedef vec(struct node_step) node_steps;

struct core_node {
    struct node rec;
    struct list dirty;
    bool connected;
    bool registered; /* has registered since this controller started */
    int64_t lost_at; /* when its connection was lost, 0 */
    bool stored;
    uint32_t n_cores;  /* schedulable cores */
    uint8_t *core_use; /* jobs on each core; above 1 only where resources are shared in time */
    uint32_t cpus_per_core;
    uint32_t gres_total[SCHED_GRES_KINDS];
    /* Devices of one name are numbered through over its types, in the order of the node's Gres. */
    uint32_t gres_first[SCHED_GRES_KINDS];
    uint8_t *gres_use[SCHED_GRES_KINDS];
    struct sched_cards *cards; /* where GPUs are shared (cards.c), else NULL; then, by number: */
    int64_t card_free[SCHED_CARDS];                       /* units */
    uint32_t card_shares[SCHED_SHARE_KINDS][SCHED_CARDS]; /* in use */
    struct affinity *affinity[SCHED_GRES_KINDS]; /* which devices belong together, or NULL */
    uint32_t n_jobs, n_completing;
    uint32_t n_given;   /* of the jobs: suspended ones whose CPUs others may have */
    vec(uint32_t) jobs; /* ids of the n_jobs that hold it, in no particular order */
    /* Steps, or whole jobs (step UNSET32), that must end there though the books are rid of them:
     * nothing starts there until they have. */
    node_steps unwanted;
    core_gpus gpus; /* those that the node tells of */
    struct heap_node timer;
    uint32_t effective_cpus;
    int64_t given_cpus; /* to jobs, shared ones more than once; rec.alloc_cpus is at most all */
    bool usable;        /* as the planner was told last */
    /* It has been resumed and looks whether what drained it is mended (health.c): nothing starts
     * there until it has said so, or resume_due has come. */
    struct resume *resume;
    int64_t resume_due;
    int64_t remind_at;     /* when the log tells that it is still out of service, 0 = never */
    uint32_t trigger_bits; /* of its state, as triggers were told last */
    char *told;            /* of its outage, as history has it; "" = in service, NULL = nothing */
};

struct core_partition {
    struct partition rec;
    uint32_t *nodes;
    size_t n_nodes;
    uint32_t oversubscribe;
    bool oversubscribe_force, exclusive_node, exclusive_user;
    uint64_t gres_most[SCHED_GRES_KINDS]; /* of each kind on one node, and of all of its name */
    uint64_t gres_most_of_name[SCHED_GRES_KINDS];
    uint64_t tres_totals[PRIORITY_TRES_MAX]; /* what it has of each weighted resource */
    uint32_t victim_mode;                    /* enum preempt_mode of its jobs */
    bool gang;                               /* and GANG is part of its PreemptMode */
    bool stored;
    struct list dirty;
};

struct core_reservation; /* reservation.h */

struct core {
    const struct conf *conf; /* borrowed */
    bool restoring;          /* between core_restore and core_restored */
    bool placing;            /* jobs are being put on their nodes again: what nodes have in use is
                              * not what it was all the time */
    struct core_settings settings;
    struct core_meta meta;
    bool meta_dirty;
    int64_t boot_time;
    uint64_t generation;

    struct map jobs; /* id -> core_job */
    /* In the order in which they came, NULL where one has left: see jobs_each. (An array, because
     * listings would wait for memory at every link of a list.) */
    job_ptrs job_order;
    size_t job_order_gaps;
    struct map arrays; /* array_job_id -> struct core_array */
    struct map hets;   /* het_job_id -> struct core_het */
    size_t n_jobs;     /* tasks that wait count each */
    struct list depending;
    struct map depend_targets; /* depend_index.c */
    vec(struct depend_event) depend_events;
    struct smap namesakes;       /* singleton.c */
    const struct bygone *bygone; /* of the request that is being handled, NULL */
    struct list placed; /* jobs with an allocation, given back or not: few beside those who wait */
    bool depends_walking;
    struct map client_jobs;  /* client -> id of the job that it waits for or owns */
    struct map script_users; /* script id -> number of records that need it (as pointer) */

    struct core_node *nodes;
    size_t n_nodes;
    uint32_t largest_cpus;  /* of one node */
    struct smap node_index; /* name -> index + 1 */
    struct core_partition *partitions;
    size_t n_partitions;
    struct gres_kind kinds[SCHED_GRES_KINDS];
    size_t n_kinds;
    struct smap features; /* every configured feature */
    char **licenses;
    uint64_t *license_totals;
    size_t n_licenses;
    uint64_t all_cpus;            /* of all nodes */
    uint32_t highest_part_factor; /* PriorityJobFactor */
    uint32_t highest_assoc_priority;

    struct preempt_rules preempt;
    vec(struct preemptor) preemptors;
    vec(uint32_t) paused; /* jobs, in the order in which they were stopped */
    int64_t gang_next;    /* when one of them may have its turn, 0 = nobody waits for one */
    struct assoc_book book;
    struct core_usage usage;
    struct limits limits;
    struct map admins; /* uid -> enum admin_level of who has asked something; see core_meet */

    struct triggers triggers;
    struct map crontabs; /* uid -> struct crontab, owned; cron.h */

    struct map habits;       /* key -> struct core_habit: see habit.h */
    struct list habit_order; /* the one used last at the end */
    size_t n_habits;

    struct sched *sched;
    struct predictor *predictor;  /* NULL until a job has ended */
    bool plan_wanted, plan_again; /* again: CPUs came free in the pass */
    int64_t plan_next;
    int64_t follow_time;   /* of the last pass that left something to the next, and how many */
    uint32_t n_follow;     /* such there were in that second */
    struct list questions; /* struct why_work: answered one forecast a turn */
    size_t n_questions;
    struct sched *sched_before; /* what a sweep takes apart */
    bool sweeping;
    size_t sweep_at;           /* how far in job_order that has come */
    uint64_t priority_version; /* what priorities are made of, from 1 */
    size_t age_at;             /* how far in job_order that has come */
    int64_t age_next; /* priorities are computed anew; 0 = they do not depend on the time */

    bool reboots_wanted;  /* some node may be waiting to be rebooted */
    int64_t health_next;  /* HealthCheckProgram is due on some node, 0 = never */
    int64_t health_round; /* beginning of this round over the nodes */
    size_t health_at;     /* the next node of it */
    int64_t remind_next;  /* 0 = nothing to be reminded of */

    struct failures *failures; /* failure.c; NULL: there were none */
    struct heap timers;        /* jobs */
    struct heap node_timers;
    struct list dirty_jobs, dirty_steps, dirty_nodes, dirty_partitions, dirty_reservations;
    vec(struct core_reservation *) reservations;
    int64_t reservations_next;  /* when one begins or ends, 0 */
    bool reservations_repair;   /* nodes have come or gone */
    bool reservations_check;    /* a job of one has ended */
    bool reservations_magnetic; /* some took in jobs that had not asked */
    struct effects *out;        /* valid during a call */
    int64_t now;                /* valid during a call */
    job_ptrs fresh_allocs;      /* submitted this turn, not yet answered */
    uint64_t n_started, n_submitted, n_completed, n_passes, n_candidates;
    uint64_t n_failed, n_cancelled, n_backfilled, n_backfilled_het, n_broken;
    /* records read from the store before the configuration tells which nodes exist */
    vec(struct node *) stored_nodes;
    vec(struct partition *) stored_partitions;
    vec(struct step *) stored_steps;
};

/* ---- effects (effect.c) ---- */
void emit_reply(struct core *core, uint64_t client, uint16_t type, uint16_t flags, uint32_t seq,
                const void *body);
void emit_error(struct core *core, uint64_t client, uint32_t seq, int code, const char *detail);
void emit_reply_error(struct core *core, uint64_t client, uint32_t seq,
                      const struct reply_error *reply);
void emit_node(struct core *core, uint32_t node, uint16_t type, const void *body);
void emit_log(struct core *core, enum effect_level level, const char *fmt, ...) printf_like(3, 4);
/* What `client` has been given; the shell signs `credential` and puts it into the layout of it. */
void emit_grant(struct core *core, uint64_t client, uint32_t seq, uint16_t type, const void *body,
                struct bytes credential);
void emit_put(struct core *core, uint32_t kind, uint64_t id, const struct record *record,
              const void *object);
void emit_delete(struct core *core, uint32_t kind, uint64_t id);
struct effect *emit(struct core *core, enum effect_kind kind);
/* As it is now, because the object may change before the shell looks; in the batch's arena. */
struct bytes effect_encode(struct core *core, const struct record *record, const void *object);

/* ---- jobs (job.c, job_state.c) ---- */
struct core_job *job_find(const struct core *core, uint32_t job_id);
/* The next in the order in which they came; NULL: the first, or no more. */
static inline struct core_job *job_after(const struct core *core, const struct core_job *job) {
    size_t at = job != NULL ? job->order_at + 1 : 0;
    while (at < core->job_order.n && core->job_order.items[at] == NULL)
        at++;
    return at < core->job_order.n ? core->job_order.items[at] : NULL;
}
/* Others may come and go meanwhile, the job itself must stay. */
#define jobs_each(core, job)                                                                       \
    for (struct core_job *job = job_after(core, NULL); job != NULL; job = job_after(core, job))
struct core_job *job_new(struct core *core, uint32_t job_id);
void job_link(struct core *core, struct core_job *job); /* after rec is filled */
/* What it is now, for slurmdbd where there is one. */
void job_tell_database(struct core *core, struct core_job *job);
void job_forget(struct core *core, struct core_job *job); /* into history, out of memory */
/* The run as accounting has it, without its steps; borrows from the job, and from *run. */
void job_history_record(const struct core *core, const struct core_job *job, struct job *run,
                        struct acct_job *ret);
void job_touch(struct core *core, struct core_job *job);
uint32_t job_take_id(struct core *core);
/* "12", "12_3", "12_[1-5]" */
const char *job_display_id(struct core *core, const struct core_job *job);
/* Records of a job's number (an array: all its records), and those of some of an array's tasks.
 * Otherwise as below. */
int job_select_number(const struct core *core, uint32_t job_id, job_ptrs *ret);
int job_select_tasks(struct core *core, uint32_t array_id, const struct idset *tasks,
                     const struct core_user *splitter, job_ptrs *ret);
/* All records that a user means: "12" (an array: all its records), "12_3", "12_[1-5]". Tasks that
 * have no record of their own yet are split off for `splitter`, if the array is theirs (NULL:
 * never). Returns 0 or ERR_INVALID_JOB_ID. */
int job_select_id(struct core *core, const char *id, const struct core_user *splitter,
                  job_ptrs *ret);
bool job_user_may(const struct core *core, const struct core_job *job, uint32_t uid);

/* A submission in three steps. Checks it, and makes a record that nobody knows of yet; NULL with
 * the refusal. `others`: as many jobs are submitted with it that are not counted yet. */
struct core_job *submission_check(struct core *core, const struct core_user *user,
                                  const struct submit *submit, uint64_t others,
                                  struct submit_reply *reply, struct reply_error *refusal);
/* Links and stores it. */
void submission_take(struct core *core, struct core_job *job, const struct core_user *user,
                     const struct submit *submit, struct submit_reply *reply);
/* It may start. */
void submission_begin(struct core *core, struct core_job *job);

/* State changes; each asserts the state it comes from. */
void job_start(struct core *core, struct core_job *job, const struct sched_start *start);
void job_running(struct core *core, struct core_job *job); /* CONFIGURING is over */
/* Ends a job that holds nodes or waits: sets the final state, tells the nodes to clean up. `why` is
 * the text for the job's output ("DUE TO TIME LIMIT", "" = plain cancel, NULL = no line). */
void job_finish(struct core *core, struct core_job *job, enum job_state state,
                enum job_reason reason, uint32_t exit_status, const char *why);
/* COMPLETED or FAILED by the wait status of the command that owned the allocation. */
void job_finish_by_status(struct core *core, struct core_job *job, uint32_t status);
/* Back to the queue: ends the run, then waits again once its nodes are clean. */
void job_requeue(struct core *core, struct core_job *job, bool hold, enum job_state history_state,
                 const char *why, enum job_reason held_reason);
void job_node_clean(struct core *core, struct core_job *job, uint32_t node);
void job_give_back(struct core *core, struct core_job *job, uint32_t node);
/* The same of one entry, which the node counts among those that complete or not. */
void job_entry_give_back(struct core *core, struct core_job *job, struct job_node *entry,
                         bool completing);
/* What its allocation comes to: nodes, CPUs, tasks, TRES, billing. */
void job_sum_allocation(struct core *core, struct core_job *job);
void job_number_run(struct core *core, struct core_job *job); /* the accounting's next record */
/* Ends the wait of a completing job whose nodes have all left the configuration. */
void job_nodes_gone(struct core *core, struct core_job *job);
void job_hold(struct core *core, struct core_job *job, enum job_reason reason);
void job_release(struct core *core, struct core_job *job);
/* Before the other waiting jobs of its user, partition, account and QOS (top.c). */
int job_top(struct core *core, struct core_job *job, const char **detail);
void job_suspend(struct core *core, struct core_job *job);
void job_resume(struct core *core, struct core_job *job);
void job_arm(struct core *core, struct core_job *job); /* its next timer */
void job_timer(struct core *core, struct core_job *job);
bool job_is_held(const struct core_job *job);
static inline bool job_is_pending(const struct core_job *job) {
    return job->rec.state == JOB_PENDING;
}
static inline bool job_has_nodes(const struct core_job *job) {
    return job->rec.state == JOB_RUNNING || job->rec.state == JOB_SUSPENDED;
}

/* ---- what others are told of a job (job_tell.c) ---- */
/* A notice (enum alloc_notice_kind) to the salloc or srun that has allocated it. */
void job_notify(struct core *core, struct core_job *job, uint32_t what, const char *text,
                uint32_t signal);
/* It has ended: whoever waits hears of it, and nobody waits any more. */
void job_answer_waiters(struct core *core, struct core_job *job);
void job_send_launch(struct core *core, struct core_job *job);
/* To what `flags` (enum node_signal_flag) say of it; 0 = the tasks of its steps. */
void job_signal(struct core *core, const struct core_job *job, uint32_t number, uint32_t flags);
/* To everything that runs of it. */
void job_signal_all(struct core *core, struct core_job *job, int number);
void job_warn(struct core *core, struct core_job *job); /* the signal that --signal names */
/* A line for the output of its script, and for the terminal of whoever has allocated it. */
void job_tell(struct core *core, struct core_job *job, const char *text);
/* The text between "*** JOB 7 ON c02 " and " ***", in the batch; NULL for NULL. */
const char *job_cancel_text(struct core *core, const char *why);
/* Its nodes are to end what runs of it and to clean up; `why` as in job_finish(). */
void job_terminate_nodes(struct core *core, struct core_job *job, const char *why);
void job_terminate_node(struct core *core, struct core_job *job, uint32_t node);

/* ---- suspended for others (pause.c) ---- */
/* Suspends a job for the sake of others; it goes on when there is room again. */
void job_pause(struct core *core, struct core_job *job);
/* An administrator's word: it stays suspended until he lets it go on. */
void job_stays_suspended(struct core *core, struct core_job *job);
void paused_resume(struct core *core); /* those that have room again, the longest paused first */
void paused_restored(struct core *core);
/* A node that registers may have missed what was said meanwhile. */
void job_stop_again(struct core *core, struct core_job *job, uint32_t node);
void job_stop_now(struct core *core, struct core_job *job); /* SIGTSTP was a while ago */

/* ---- gang scheduling (gang.c) ---- */
bool gang_shares(struct core *core, const struct core_job *job); /* takes turns with others */
/* When others may have its turn; 0 = never. */
int64_t gang_slice_end(struct core *core, const struct core_job *job);
void gang_wait(struct core *core);   /* one more is paused */
void gang_rotate(struct core *core); /* gives those their turn who have waited a slice for it */

/* ---- mail (mail.c) ---- */
void mail_event(struct core *core, const struct core_job *job, uint32_t event); /* enum mail_type */
void mail_end(struct core *core, const struct core_job *job);
int64_t mail_due(const struct core_job *job); /* TIME_LIMIT_50 and its kin: the next of them, 0 */
void mail_parts(struct core *core, struct core_job *job); /* those that are due */
/* To those who want to hear of the job's failure or limits. */
void mail_gpu_idle(struct core *core, const struct core_job *job, int64_t idle_seconds);

/* ---- the planner's view of the cluster (view.c) ---- */
/* Gives core->sched (made when NULL) the cluster as it is: nodes, partitions, licences; no jobs. */
void sched_describe(struct core *core);
/* A new view in place of the old one; the jobs are to be given to it again. */
void sched_rebuild(struct core *core);
/* Every job on its nodes and in the planner's view again, after sched_rebuild; those who wait by a
 * sweep. */
void place_jobs_again(struct core *core);
/* After a change of weights or features of nodes at run time. */
void nodes_changed(struct core *core);

/* ---- its view of jobs (spec.c, plan.c) ---- */
/* A planner's request made from a job, with what it points into. */
struct job_spec {
    struct sched_job_spec sched;
    struct arena arena;
    struct constraint *features;
};
/* Names that do not exist are errors. job_spec_done() in any case. */
must_check int job_spec_build(struct core *core, const struct job *job, struct job_spec *ret,
                              struct error *err);
void job_spec_done(struct job_spec *spec);
/* The first of its partitions; false when that does not exist. */
bool job_first_partition(struct core *core, const struct job *job, uint32_t *ret_index);
/* Seconds; with --time-min the least that it may get. SCHED_FOREVER. */
int64_t job_shortest_limit(struct core *core, const struct job *job);
void sched_sync(struct core *core, struct core_job *job); /* adds, replaces or removes it */
/* Its parts, for jobs that are put there together: does it wait for nothing but its turn? */
bool sched_wanted(struct core *core, struct core_job *job);
void sched_sync_one(struct core *core, struct core_job *job, bool wanted);
/* A job that holds what `allocs` say, with its licences. */
void sched_sync_run(struct core *core, struct core_job *job, uint32_t partition,
                    const struct sched_alloc *allocs, size_t n);
void plan_run(struct core *core);

/* ---- what concerns all that wait, in slices (sweep.c) ---- */
void sweep_begin(struct core *core);
void sweep_go_on(struct core *core);
/* ---- priority (priority.c) ---- */
/* Also notes what it is made of in the record. */
uint32_t priority_compute(struct core *core, struct core_job *job);
void priorities_age(struct core *core); /* every PriorityCalcPeriod */
must_check int priority_settings(struct core *core, const struct conf *conf, struct error *err);
/* What shares are made of, anew; a sweep is to compute the priorities: call sweep_begin(). */
void priorities_outdate(struct core *core);
/* Computes it if it is of before that; it is not stored. */
void priority_renew(struct core *core, struct core_job *job);
void priority_settings_free(struct core *core);

/* ---- accounts, users, associations, QOS (assoc.c) ---- */
static inline uint32_t qos_count(const struct core *core) {
    return (uint32_t) core->book.entries[ASSOC_QOS].n;
}
static inline const struct qos *qos_at(const struct core *core, uint32_t index) {
    return core->book.entries[ASSOC_QOS].items[index];
}
/* NULL when there is none of that name, or no name; *ret_index is then left as it is. */
const struct qos *qos_find(const struct core *core, const char *name, uint32_t *ret_index);
/* enum assoc_kind of a stored record, 0 for what is none. */
uint32_t assoc_kind_of_store(uint32_t store_kind);
/* Account and QOS where the request names none, and whether the user may have them. */
must_check int job_take_association(struct core *core, struct job *job, struct reply_error *reply);
/* wckey.c: with TrackWCKey the key that the job counts for, "*KEY" where it is the user's default
 * and the request names none; with AccountingStorageEnforce=wckeys the user must have it. */
must_check int job_take_wckey(const struct core *core, struct job *job, struct error *err);
/* The association that counts for a job, in the first of its partitions; NULL. */
const struct assoc *assoc_for_job(const struct core *core, const struct job *job);
/* Under PrivateData; name NULL = the account's own. */
bool core_sees_assoc(const struct core *core, const struct core_user *user, const char *name,
                     const char *account);
/* What of the book a plan takes away, as a set of its records; whether a job counts on one of them;
 * ERR_BUSY names the first job that does. */
void book_going(const struct core *core, const struct assoc_plan *plan, struct map *ret);
bool book_job_loses(struct core *core, const struct job *job, const struct map *going);
must_check int book_check_unused(struct core *core, const struct map *going, struct error *err);
/* In the store. */
void book_put(struct core *core, uint32_t kind, const void *next);
void book_delete(struct core *core, uint32_t kind, const void *old);
void book_changed(struct core *core); /* what follows for jobs */
void handle_assoc_change(struct core *core, uint64_t client, uint32_t seq,
                         const struct core_user *user, void *body);
void handle_assoc_dump(struct core *core, uint64_t client, uint32_t seq,
                       const struct core_user *user, void *body);
void handle_assoc_load(struct core *core, uint64_t client, uint32_t seq,
                       const struct core_user *user, void *body);
void handle_assoc_list(struct core *core, uint64_t client, uint32_t seq,
                       const struct core_user *user, void *body);
void handle_shares(struct core *core, uint64_t client, uint32_t seq, const struct core_user *user,
                   void *body);
void handle_limit_counts(struct core *core, uint64_t client, uint32_t seq,
                         const struct core_user *user, void *body);

/* ---- questions (why.c) ---- */
void why_go_on(struct core *core); /* one forecast of the first that waits */
void why_free_all(struct core *core);

/* ---- an order on top of the priority (wfp3.c) ---- */
/* (wait / limit)^3 * nodes as a logarithm in units of 2^-23. */
int64_t wfp3_term(const struct core *core, const struct job *rec);
uint32_t wfp3_priority(const struct core *core, const struct job *rec, uint32_t priority);

/* ---- likely run times, with sluice_candidates=predicted (predict.c) ---- */
void predict_learn(struct core *core, const struct job *job);            /* it has ended */
int64_t predict_seconds(const struct core *core, const struct job *job); /* 0 = unknown */
void predict_restored(struct core *core);

/* ---- expected starts (expect.c, promise.c) ---- */
void promise_broken(struct core *core, const struct sched_breach *breach);
/* Of a job that waits, as of core->now: 0 = nobody knows, its reason says why. Of others: when they
 * did start. */
int64_t job_expected_start(struct core *core, const struct core_job *job);

/* ---- nodes (node.c) ---- */
void node_touch(struct core *core, struct core_node *node);
/* CPUs given to jobs, or taken back (negative). */
void node_cpus_add(struct core *core, uint32_t index, int64_t cpus);
void node_update_state(struct core *core, uint32_t node); /* IDLE, MIXED, ALLOCATED from its jobs */
void node_set_reason(struct core *core, uint32_t node, const char *reason, uint32_t uid);
void node_down(struct core *core, uint32_t node, const char *reason, uint32_t uid);
/* The same because somebody wants it so: no job is to blame. */
void node_put_down(struct core *core, uint32_t node, const char *reason, uint32_t uid);
void node_drain(struct core *core, uint32_t node, const char *reason, uint32_t uid);
/* 0, or an error with the reason to drain it with. */
int node_check_registration(struct core *core, const struct core_node *node,
                            const struct node *reported, struct str *reason);
/* The node is given up with the job on it, but can be reached: it is to say when it is clean. */
void node_await_clean(struct core *core, uint32_t node, const struct core_job *job);
void node_forget_job(struct core_node *node, uint32_t job_id);
bool node_is_usable(const struct core_node *node);
void node_timer(struct core *core, uint32_t node);
/* A node that is not connected is to come within its time. */
void node_watch(struct core *core, uint32_t node);
void node_refresh_texts(struct core *core, uint32_t node); /* gres_used, alloc_tres */
void update_nodes(struct core *core, uint64_t client, uint32_t seq, const struct core_user *user,
                  const struct update *request); /* scontrol update (node_update.c); answers */
/* Resolves a host list, "ALL" included. ERR_INVALID_NODE names the unknown one. */
must_check int nodes_resolve(struct core *core, const char *text, struct arena *arena,
                             uint32_t **ret, size_t *ret_n, struct error *err);

/* ---- configuration (configure.c) ---- */
/* What a record of before says of problems, reboots and outages. */
void node_keep_outage(struct node *node, const struct node *old);
void cluster_free(struct core *core);
void restore_free(struct core *core);

/* ---- partitions ---- */
struct core_partition *partition_find(struct core *core, const char *name, uint32_t *ret_index);
/* scontrol update, create, delete (partition.c). */
must_check int update_partition(struct core *core, const struct core_user *user,
                                const struct update *request, struct error *err);
void partition_restore(struct core *core, const struct partition *stored);
/* What oversubscribe and exclusive of the record come to. */
void partition_derive(struct core_partition *part);
bool partition_is_open(const struct core_partition *part); /* State: jobs may start */
uint64_t partition_store_id(const struct core_partition *part);
/* Sums over its nodes (configure.c). */
void partition_totals(struct core *core, struct core_partition *part);
/* The names of its partitions to every node, anew (configure.c). */
void node_partitions(struct core *core);

/* ---- reservations (reservation.c and its kin; see reservation.h) ---- */
/* *ret_made: the new one, borrowed. */
must_check int update_reservation(struct core *core, const struct core_user *user,
                                  const struct update *request, struct error *err,
                                  const struct reservation **ret_made);
void reservation_restore(struct core *core, struct reservation *stored); /* takes it over */
void reservations_free(struct core *core);
void reservations_write(struct core *core);    /* those that have changed */
void reservations_tick(struct core *core);     /* what time has brought */
void reservations_to_sched(struct core *core); /* in sched_describe() */
void reservations_show(struct core *core);     /* on the nodes; sets the timer, too */
void reservations_repair(struct core *core);
bool reservations_want_groups(const struct core *core);
/* May the job use what it asks for? */
must_check int job_reservation_check(struct core *core, const struct job *job,
                                     const struct core_user *user, struct reply_error *reply);
must_check int spec_reservations(struct core *core, const struct job *job, struct arena *arena,
                                 struct sched_job_spec *spec, struct error *err);
/* Which reservation keeps a waiting job from starting now, and which limit would fit: one sentence
 * without its full stop. False: none does. */
bool job_reservation_hint(struct core *core, const struct core_job *job, struct str *out);
void job_enters_reservation(struct core *core, struct core_job *job, uint32_t id);
void job_sync_reservation(struct core *core, const struct core_job *job);

/* ---- requests ---- */
/* `body` is the record that messages.h names for the message; the caller owns it. */
typedef void request_fn(struct core *core, uint64_t client, uint32_t seq,
                        const struct core_user *user, void *body);
request_fn handle_submit, handle_alloc_end, handle_alloc_attach, handle_step_create, handle_verb,
    handle_kill, handle_step_kill, handle_update, handle_why, handle_reboot, handle_file_grant;
void client_watches(struct core *core, uint64_t client, const struct core_job *job);
void alloc_answer_fresh(struct core *core);
void alloc_forget(struct core *core, const struct core_job *job); /* about to be freed */
void job_write_run(struct core *core, struct core_job *job, uint32_t state);
/* The run at its size so far, with the steps that have ended, which are forgotten. */
void job_write_resized(struct core *core, struct core_job *job);
void job_launch_again(struct core *core, struct core_job *job);
void job_free(struct core_job *job); /* one that was never linked, or is unlinked */
void job_free_all(struct core *core);
/* no_step: why the step that was asked for with the allocation could not be made, or NULL. */
void alloc_granted(struct core *core, struct core_job *job, struct step_layout *layout,
                   struct bytes credential, const struct error *no_step);
void reply_results(struct core *core, uint64_t client, uint32_t seq, struct job_results *results);
/* Appends one line of results (texts are copied into the batch's arena). */
void results_add(struct core *core, struct job_results *results, const char *id, uint32_t job_id,
                 int code, const char *detail);
/* Records that the filters choose among the live jobs. */
void job_select(struct core *core, const struct job_select *select, job_ptrs *ret,
                struct job_results *errors, const struct core_user *splitter);
/* ---- switches (topology.c) ---- */
void topology_to_sched(struct core *core, struct arena *arena); /* in sched_describe() */
void spec_switches(const struct job *job, struct sched_job_spec *spec);
/* Writes job->switches as N@TIME, the time bounded by max_switch_wait; NULL for 0 switches. */
must_check int switches_check(struct core *core, struct job *job, struct reply_error *reply);
/* "N" keeps the time that the job had; the wish begins anew. */
must_check int switches_update(struct core *core, struct job *job, const char *value);

/* ---- the door (job_check.c, job_size.c) ---- */
/* Notes why a request is refused, unless something before it was, and returns the error. */
int reply_refuse(struct reply_error *reply, struct core *core, int code, const char *fmt, ...)
    printf_like(4, 5);
/* A line to be told before the refusal. */
void reply_before(struct reply_error *reply, struct core *core, const char *line);
/* The default one where none is named. */
void job_take_partition(const struct core *core, struct job *job);
/* Whatever is asked of a job at its submission and after an update; fills reply on an error. */
must_check int job_check(struct core *core, struct job *job, const struct core_user *user,
                         struct reply_error *reply);
/* Fills tres_req, num_nodes, num_cpus of a pending job from its request. */
void job_estimate_size(struct core *core, struct job *job);
/* Absurd requests stay absurd instead of wrapping round to something modest. */
static inline uint64_t saturated(uint64_t a, uint64_t b) {
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}
/* billing UNSET64: not told. */
char *tres_text(uint64_t cpus, uint64_t mem, uint32_t nodes, const char *gres, uint64_t billing);

#endif
