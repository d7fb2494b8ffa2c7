/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The planner: who starts now and where, when everybody else will start, and why they wait.
 *
 * Pure: no clock, no I/O, no threads, no log. `struct sched` is the compact view of the cluster;
 * the core feeds it changes (nodes, pending jobs, running jobs) and asks for a pass. The same calls
 * in the same order give the same plan. The planner works with counts (CPUs, MiB, GRES by type);
 * cores and devices get names when the core commits a start.
 *
 * A plan proposes. Nothing changes in the view until the core tells so with sched_run_add() for the
 * starts that it has committed. Plans (future reservations) persist between passes inside `struct
 * sched` and move only earlier, unless a listed cause breaks them.
 *
 * Units: seconds since the epoch, CPUs as scheduled, memory MiB. All strings are borrowed for the
 * call only.
 */
#ifndef SLUICE_SCHED_SCHED_H
#define SLUICE_SCHED_SCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "model/enums.h"
#include "sched/cards.h"
#include "text/constraint.h"

#define SCHED_GRES_KINDS 32 /* different (name, type) pairs in a cluster */
#define SCHED_NO_NODE UINT32_MAX
#define SCHED_GROUP_MAX 128 /* jobs that start together */
#define SCHED_FOREVER INT64_MAX

/* ---- the cluster ---- */

struct sched_gres_kind {
    const char *name; /* "gpu" */
    const char *type; /* "a100" or "" */
};

struct sched_node_spec {
    const char *name;
    uint32_t cpus; /* schedulable */
    uint32_t sockets, cores_per_socket, threads_per_core;
    uint64_t mem;      /* MiB that jobs may have */
    uint64_t tmp_disk; /* MiB */
    uint32_t weight;   /* low first */
    uint64_t gres[SCHED_GRES_KINDS];
    const char *const *features;
    size_t n_features;
    bool whole_cores;                /* CPUs are given out in multiples of threads_per_core */
    uint32_t explicit_kinds;         /* bits of kinds that whole nodes do not bring along */
    const struct sched_cards *cards; /* where GPUs are shared, else NULL; copied */
};

struct sched_partition_spec {
    const char *name;
    const uint32_t *nodes; /* indexes */
    size_t n_nodes;
    uint32_t tier;      /* PriorityTier: higher plans first */
    uint32_t max_nodes; /* UNSET32 = no limit */
    uint32_t min_nodes;
    uint32_t max_time;          /* minutes, MINUTES_INFINITE */
    uint32_t max_cpus_per_node; /* UNSET32 = no limit */
    bool exclusive;             /* OverSubscribe=EXCLUSIVE, Exclusive=NODE */
    uint32_t oversubscribe;     /* jobs per resource, 1 = none (FORCE:n, YES:n) */
    bool oversubscribe_force;
    bool takes_turns; /* those who share CPUs do so one at a time (GANG), not together */
    bool schedulable; /* State=UP (DOWN queues, does not start) */
    bool spread;      /* LLN: least loaded first */
};

struct sched_settings {
    bool backfill;         /* sched/backfill; false: strict order */
    bool mem_consumable;   /* CR_*_Memory */
    bool cpus_consumable;  /* false: whole nodes (select/linear) */
    uint32_t reservations; /* how many blocked jobs per pool get one; >= 1 */
    /* Who may have one at all: waited so many seconds, has at least that priority. */
    int64_t reserve_age;
    uint32_t reserve_priority;
    /* Whoever has waited so many seconds gets one, too: at most guard_jobs of them per pool. 0 =
     * nobody. Bounds every wait. */
    int64_t guard;
    uint32_t guard_jobs;
    int64_t default_limit; /* seconds assumed for jobs without a limit */
    bool pack_nodes;       /* fill nodes before opening others; default true */
    /* Those for whom nothing is kept are tried shortest first (by `expected`, else by limit) within
     * their tier, not in order of priority. */
    bool short_first;
};

struct sched;
struct sched *sched_new(const struct sched_settings *settings);
void sched_free(struct sched *sched);
/* (Re)defines the cluster. Node indexes are positions in `nodes`. Pending and running jobs must be
 * added again afterwards. */
void sched_configure(struct sched *sched, const struct sched_settings *settings,
                     const struct sched_gres_kind *kinds, size_t n_kinds,
                     const struct sched_node_spec *nodes, size_t n_nodes,
                     const struct sched_partition_spec *partitions, size_t n_partitions);
/* A node takes no new work when not usable (down, drained, not responding, not registered). `why`:
 * the reason that waiting jobs that need it get. */
void sched_node_usable(struct sched *sched, uint32_t node, bool usable);
void sched_partition_schedulable(struct sched *sched, uint32_t partition, bool schedulable);
/* Licences: total per name; name index = position. */
void sched_set_licenses(struct sched *sched, const uint64_t *totals, size_t n);

/* ---- budgets ---- */

/* How much of something the jobs that use the budget may have at a time. A job over it waits,
 * whatever is free, and is in nobody's way. */
enum sched_budget_of {
    SCHED_BUDGET_JOBS,
    SCHED_BUDGET_NODES,
    SCHED_BUDGET_CPUS,
    SCHED_BUDGET_MEM,       /* MiB */
    SCHED_BUDGET_GRES,      /* of the kind `kind` */
    SCHED_BUDGET_GRES_NAME, /* of all kinds with the name of `kind` */
    SCHED_BUDGET_FIXED,     /* what the uses say */
};
/* What of it counts. */
enum sched_budget_measure {
    SCHED_BUDGET_HELD,  /* what is in use at a time */
    SCHED_BUDGET_AHEAD, /* the same times the seconds until the ends of limits */
    SCHED_BUDGET_STOCK, /* what has been used (sched_budget_tell) and may still be until then */
    SCHED_BUDGET_OPEN,  /* what has been used: whoever takes of it may start while some is left */
};
struct sched_budget {
    enum sched_budget_of of;
    enum sched_budget_measure measure;
    uint32_t kind;
    uint32_t reason; /* enum job_reason of those who wait for it */
    uint64_t total;  /* HELD: at a time; else times seconds */
};
/* A job in one partition uses a budget. */
struct sched_budget_use {
    uint32_t id;
    bool binds : 1; /* else what it has is counted, and it is not held back */
    /* Of what counts by the second it is charged with so many thousandths; 0 is 1000. */
    uint32_t factor : 31;
    uint64_t least; /* it takes at least so much */
};
/* Their ids count from 0. After sched_configure() there are none. */
uint32_t sched_budget_add(struct sched *sched, const struct sched_budget *budget);
size_t sched_count_budgets(const struct sched *sched);
/* In the unit of its total. */
uint64_t sched_budget_used(const struct sched *sched, int64_t now, uint32_t id);
/* When runs will have left so much of it, with nobody else starting; SCHED_FOREVER. */
int64_t sched_budget_free_at(const struct sched *sched, int64_t now, uint32_t id, uint64_t amount);
/* So much of a STOCK or of what is OPEN has been used up to now, runs that go on included. True:
 * that leaves enough for one that has waited for it. */
bool sched_budget_tell(struct sched *sched, int64_t now, uint32_t id, double used);
/* The least of those that wait for what others have used is short by so much; 0: nobody waits. */
double sched_budget_missing(const struct sched *sched, int64_t now, uint32_t id);

/* ---- the network ---- */

struct sched_switch_spec {
    uint32_t parent; /* index of the switch above it, SCHED_NO_NODE = none. No loops. */
};
/* The tree of switches. leaf_of: per node in configured order the switch that it is at, one that is
 * above no other; SCHED_NO_NODE = none, then it is far from all. After sched_configure() there are
 * no switches, and it does not matter which nodes are together. */
void sched_set_switches(struct sched *sched, const struct sched_switch_spec *switches, size_t n,
                        const uint32_t *leaf_of);

/* ---- reservations ---- */

/* [start, end) */
struct sched_window {
    int64_t start, end;
};
/* What a reservation holds of one node. whole: all of it, the amounts do not count. Otherwise what
 * is 0 is not held, and not limited for its jobs either. */
struct sched_reserved {
    uint32_t node;
    bool whole;
    uint32_t cpus;
    uint64_t mem;
    uint32_t gres[SCHED_GRES_KINDS];
};
struct sched_reservation_spec {
    uint32_t id;                        /* not 0 */
    const struct sched_window *windows; /* ascending, apart from each other */
    size_t n_windows;
    bool recurring; /* more windows will follow the last */
    bool maint;     /* keeps the jobs of other reservations out, too */
    bool flex;      /* its jobs may leave it, in time and in space */
    bool any_nodes; /* its jobs may use any nodes during its windows */
    const struct sched_reserved *nodes;
    size_t n_nodes;
    const uint32_t *license_ids, *license_counts;
    size_t n_licenses;
};
/* All reservations that there are, in place of those that there were. Jobs that are not of a
 * reservation get what it holds only outside its windows. After sched_configure() there are none.
 */
void sched_set_reservations(struct sched *sched, const struct sched_reservation_spec *specs,
                            size_t n);

/* ---- jobs ---- */

struct sched_gres_request {
    int16_t kind;    /* index, or -1 with `name_of` for an untyped request */
    int16_t name_of; /* untyped: any kind with the same name as this kind index */
    uint32_t count;
};

/* On what terms a job may start in a partition. */
struct sched_terms {
    uint32_t refused;                            /* enum job_reason: it never starts there; 0 */
    bool any_time, any_max_nodes, any_min_nodes; /* what the partition says of that is no limit */
    const struct sched_budget_use *uses;
    size_t n_uses;
};

struct sched_job_spec {
    uint32_t job_id;
    uint32_t n_tasks_of_array;  /* identical tasks under this record, 1 for an ordinary job. Starts
                                   of  an array record are proposed one task at a time, up to
                                   max_starts */
    uint32_t max_starts;        /* %limit minus running tasks; UINT32_MAX */
    uint32_t priority;          /* higher first; 0 never starts (held jobs are not added) */
    uint32_t reserve_priority;  /* with a lower one nothing is kept for it */
    int64_t submit_time;        /* breaks ties, then job_id */
    int64_t eligible_time;      /* since when it could have started, 0 = submit_time */
    int64_t begin_time;         /* not before */
    int64_t limit;              /* seconds; SCHED_FOREVER */
    int64_t min_limit;          /* --time-min, 0 = none */
    int64_t expected;           /* seconds that it is likely to run, 0 = unknown: its limit */
    int64_t deadline;           /* 0 = none */
    int64_t promised;           /* start that it was told before the view was made anew, 0 */
    const uint32_t *partitions; /* alternatives; the earliest start wins, ties by tier then order */
    size_t n_partitions;
    const struct sched_terms *terms; /* one for each of them, NULL = nothing special */
    const uint32_t *req_nodes;       /* all of these must be part of the allocation */
    size_t n_req_nodes;
    const uint32_t *exc_nodes;
    size_t n_exc_nodes;
    const struct constraint *features; /* NULL = none; copied */
    uint32_t min_nodes, max_nodes;     /* 1..; max UINT32_MAX */
    const uint32_t *node_counts;       /* allowed counts, NULL = the whole range */
    size_t n_node_counts;
    uint32_t ntasks;          /* total, 0 = derived: nodes * ntasks_per_node */
    uint32_t ntasks_per_node; /* with ntasks: upper bound; else exact; 0 = free */
    uint32_t ntasks_per_socket, ntasks_per_core;
    uint32_t cpus_per_task; /* >= 1 */
    uint32_t min_cpus_per_node;
    uint32_t sockets_per_node, cores_per_socket, threads_per_core; /* minimum geometry, 0 */
    uint64_t mem_per_node, mem_per_cpu, mem_per_gpu; /* UNSET64; mem_per_node 0 = whole node */
    uint64_t tmp_disk;
    struct sched_gres_request per_node[8], per_job[8], per_task[8];
    uint8_t n_per_node, n_per_job, n_per_task;
    uint32_t cpus_per_gpu;
    bool exclusive, overcommit, contiguous, oversubscribe;
    bool spread;            /* on as many nodes as the request allows, tasks dealt evenly */
    uint32_t max_switches;  /* on at most so many leaf switches, 0 = any number */
    int64_t switches_until; /* from then on max_switches does not count */
    bool overlap_user;      /* exclusive=user: nodes are shared among jobs of `uid` only */
    uint32_t uid;
    uint32_t preempt_class; /* where classes are not partitions (struct sched_preemption) */
    bool preempting;        /* victims go for it: see sched_job_preempting() */
    const uint32_t *license_ids;
    const uint32_t *license_counts;
    size_t n_licenses;
    /* Reservations (ids) that it may run in, tried in this order and, unless reserved_only, then
     * without one. */
    const uint32_t *reservations;
    size_t n_reservations;
    bool reserved_only;
    /* Jobs with the same number, so many of them, start together or not at all: none does while one
     * is missing in the view. One plan of a pass has the starts of all of them next to each other.
     * 0 = it stands alone. */
    uint32_t group, group_size;
};

/* One node of an allocation. */
struct sched_alloc {
    uint32_t node;
    uint32_t cpus;
    uint32_t ntasks;
    uint64_t mem;
    uint32_t gres[SCHED_GRES_KINDS];
    uint32_t cards[SCHED_CARDS]; /* units of the cards of a node that has shares */
};

/* A job that waits. Adding an id that is there replaces it. */
void sched_job_add(struct sched *sched, const struct sched_job_spec *spec);
void sched_job_remove(struct sched *sched, uint32_t job_id);
/* Cheap changes that keep the shape. */
void sched_job_priority(struct sched *sched, uint32_t job_id, uint32_t priority);

/* Puts jobs that were added or moved in order. The next pass would do it; after many changes, call
 * it now and then so that the pass does not have to do it for all at once. Jobs that are added
 * later are looked at as of `now`. */
void sched_settle(struct sched *sched, int64_t now);

/* A job that holds resources. `end`: when its limit ends (SCHED_FOREVER). The spec-independent part
 * of exclusivity: exclusive = nothing else on its nodes. */
void sched_run_add(struct sched *sched, uint32_t job_id, uint32_t partition, bool exclusive,
                   uint32_t uid, int64_t start, int64_t end, const struct sched_alloc *allocs,
                   size_t n, const uint32_t *license_ids, const uint32_t *license_counts,
                   size_t n_licenses);
/* Only jobs of the run's user may join its nodes (--exclusive=user); it asked for shared CPUs.
 * Known by itself while the job still waits in the view; call it after sched_run_add() where it
 * does not (after a restart). */
void sched_run_share(struct sched *sched, uint32_t job_id, bool user_only, bool oversubscribe);
void sched_run_end_time(struct sched *sched, uint32_t job_id, int64_t end);
/* The run is one of a reservation (0: of none): what it holds is the reservation's. Call it right
 * after sched_run_add(). */
void sched_run_reserve(struct sched *sched, uint32_t job_id, uint32_t reservation);
/* The run uses these budgets, by what it holds (none: it gives back what it has of any). Call it
 * when the run has all that it holds. */
void sched_run_budgets(struct sched *sched, uint32_t job_id, const struct sched_budget_use *uses,
                       size_t n);
/* One node of a job is clean and free again; the job is forgotten with its last node. */
void sched_run_release_node(struct sched *sched, uint32_t job_id, uint32_t node);
void sched_run_remove(struct sched *sched, uint32_t job_id); /* all at once */
/* Suspended jobs keep memory and give back CPUs. */
void sched_run_suspend(struct sched *sched, uint32_t job_id, bool suspended);
/* Could a suspended job have its CPUs back: are they free, and held for no job that preempts? */
bool sched_run_may_resume(const struct sched *sched, uint32_t job_id);
/* How many jobs may hold a CPU of the node together with the run, itself included: 1 unless only
 * such as share it are there. */
uint32_t sched_run_layers(const struct sched *sched, uint32_t job_id, uint32_t node);
/* CPUs of a node that are free, and held for no job that preempts. */
uint32_t sched_node_open_cpus(const struct sched *sched, uint32_t node);

/* ---- preemption ---- */

enum sched_may { SCHED_MAY_NOT, SCHED_MAY, SCHED_MAY_IF_ABOVE }; /* above: by the job's priority */
/* Who may take from whom what he holds. */
struct sched_preemption {
    uint32_t n_classes; /* 0: nobody preempts */
    bool by_partition;  /* classes are partitions: that in which the job would start. Of one class
                           with itself it means turns: the victim is suspended after its slice, and
                           no more jobs share a node's CPUs than the partition's oversubscribe. */
    const uint8_t *may; /* enum sched_may, may[who * n_classes + whom]; copied */
    bool youngest_first, reclaim_licenses;
    int64_t patience; /* seconds after which one who should have left is no longer counted on */
};
void sched_set_preemption(struct sched *sched, const struct sched_preemption *preemption);

enum sched_victim_mode { SCHED_VICTIM_NEVER, SCHED_VICTIM_ENDS, SCHED_VICTIM_SUSPENDS };
/* What the rules say about a job that holds resources. */
struct sched_victim {
    uint8_t mode;      /* enum sched_victim_mode: gives back all, or its CPUs */
    uint32_t class;    /* partition or class */
    uint32_t rank;     /* lower ranks go first, however many they are */
    uint32_t priority; /* for SCHED_MAY_IF_ABOVE */
    int64_t eligible;  /* not before */
    int64_t slice_end; /* gang scheduling: from when on jobs of its partition may have its turn; 0 =
                          never */
    int64_t grace;     /* seconds that it runs on after it was chosen */
};
void sched_run_victim(struct sched *sched, uint32_t job_id, const struct sched_victim *victim);
/* It has been told to go, and is gone at `end`; or (leaving = false) stays until then after all. */
void sched_run_leaving(struct sched *sched, uint32_t job_id, bool leaving, int64_t end);
/* Victims go for this waiting job. It comes first until it starts, what it is planned on is held
 * for it, and no more victims are chosen. Set by the pass that chooses them; the core sets it after
 * a restart and clears it when none is left that goes. */
void sched_job_preempting(struct sched *sched, uint32_t job_id, bool preempting);

/* ---- planning ---- */

/* Jobs that have to go so that another one can start: with them gone it fits, and none of them can
 * be spared. */
struct sched_preempt {
    uint32_t job_id;
    uint32_t partition;
    uint32_t *victims; /* job ids, in the plan's memory */
    size_t n_victims;
    uint32_t *awaited; /* those who go anyway and whose leaving it counts on, too */
    size_t n_awaited;
};
struct sched_start {
    uint32_t job_id;
    uint32_t partition;
    int64_t limit;              /* seconds; may be below the request with --time-min */
    struct sched_alloc *allocs; /* in the plan's memory */
    size_t n_allocs;
    uint32_t n_cpus;
    bool backfilled;
    uint32_t backfilled_past; /* job id at the head that waits, 0 */
    uint32_t reservation;     /* that it starts in, 0 = none */
};
/* Why a job waits. Every pending job of the view has one after a pass that was not cut short. */
struct sched_wait {
    uint32_t job_id;
    uint32_t reason; /* enum job_reason */
    int64_t start;   /* expected start, 0 = unknown */
    /* For REQ_NODE_NOT_AVAIL, NODES_UNAVAILABLE: text for the record; NULL otherwise. */
    const char *detail;
    const uint32_t *nodes; /* reserved nodes of the head jobs (SchedNodeList), else NULL */
    size_t n_nodes;
};
/* Why a plan moves later, or goes. */
enum sched_cause {
    SCHED_CAUSE_UNKNOWN,
    SCHED_CAUSE_NODE,      /* node `subject` takes no new work */
    SCHED_CAUSE_ARRIVAL,   /* job `subject` came in and goes first */
    SCHED_CAUSE_PRIORITY,  /* job `subject` goes first now */
    SCHED_CAUSE_EXTENDED,  /* the limit of running job `subject` was raised */
    SCHED_CAUSE_OVERRUN,   /* job `subject` holds nodes past its end */
    SCHED_CAUSE_RESUMED,   /* suspended job `subject` runs again */
    SCHED_CAUSE_UPDATE,    /* its own request was changed */
    SCHED_CAUSE_PARTITION, /* partition `subject` was closed */
    SCHED_CAUSE_LICENSES,  /* there are others now */
    SCHED_CAUSE_BUDGET,    /* job `subject` uses a budget that it was to have */
    SCHED_CAUSE_CALENDAR,  /* a reservation or maintenance was set */
    SCHED_CAUSE_CONFIGURED /* the cluster is another one */
};
/* A job starts later than it was told. Told once per cause and subject; `again`: the same cause
 * goes on, only the start is new. */
struct sched_breach {
    uint32_t job_id;
    enum sched_cause cause;
    uint32_t subject;
    int64_t promised, start; /* start 0: not known any more */
    bool again;
};
struct sched_plan {
    struct sched_start *starts; /* in the order to be committed */
    size_t n_starts;
    struct sched_wait
        *waits; /* only those whose reason, start or detail changed since the last pass */
    size_t n_waits;
    struct sched_breach *breaches;
    size_t n_breaches;
    int64_t next_time;   /* when a pass is due though nothing changes (begin times), 0 = none */
    uint64_t candidates; /* shapes and nodes examined: the measure of work */
    struct arena *memory;
    struct sched_preempt *preempts;
    size_t n_preempts;
};
#define SCHED_PLAN_INIT                                                                            \
    { NULL, 0, NULL, 0, NULL, 0, 0, 0, NULL, NULL, 0 }
void sched_plan_done(struct sched_plan *plan);

/* Plans everything that waits. max_starts bounds the starts of one plan, and the waits that it
 * reports beyond those of heads and of jobs with plans (0 = no bound); what is left comes with the
 * next, which is due at once.
 */
void sched_pass(struct sched *sched, int64_t now, uint32_t max_starts, struct sched_plan *plan);

/* Bounds the work of a pass: after about so many candidates (0 = no bound) it stops, and the next,
 * which is due at once, goes on where it stopped. Starts and promises are those of one long pass;
 * who was not looked at keeps the reason that he had. */
void sched_bound_work(struct sched *sched, uint64_t candidates);

/* Something that may break promises and that the view does not show by itself; call it before the
 * pass that finds out. */
void sched_cause_note(struct sched *sched, enum sched_cause cause, uint32_t subject);

/* Could this job ever start on this cluster, all nodes up and free? 0, or ERR_NODE_CONFIG and kin
 * with a sentence that names what was asked, what exists, and the nearest that would work. `before`
 * gets the classic line ("Memory specification can not be satisfied") or stays empty. */
int sched_feasible(struct sched *sched, const struct sched_job_spec *spec, struct str *before,
                   struct error *err);
/* When and where would it start if submitted now? false: never (see sched_feasible). */
bool sched_will_run(struct sched *sched, const struct sched_job_spec *spec, int64_t now,
                    struct sched_start *ret, struct sched_plan *memory, int64_t *ret_time);

/* Which reservation keeps a waiting job from starting now, though what it needs is free. */
struct sched_blocker {
    uint32_t reservation;
    bool own;      /* the job is one of it: it waits for the next window, or does not fit into it */
    int64_t start; /* of the window that is in the way; when own, of the next one, 0 = none */
    int64_t end;
    int64_t limit; /* seconds: with this limit or a shorter one it could start now; 0 = with none */
};
/* False: none does. */
bool sched_blocked_by(struct sched *sched, int64_t now, uint32_t job_id, struct sched_blocker *ret);

/* What a node can do for one share of a request: nothing, never; its resources are in use; they are
 * free, but promised to others before the limit would end; they are free. Nodes that are not usable
 * are looked at as if they were. */
enum sched_fit { SCHED_FIT_NEVER, SCHED_FIT_BUSY, SCHED_FIT_PROMISED, SCHED_FIT_FREE };
/* ret: one byte per node in configured order. */
void sched_fits(struct sched *sched, const struct sched_job_spec *spec, int64_t now, uint8_t *ret);

/* Who goes before a waiting job on nodes that it could use, and by what; tasks of arrays count. */
#define SCHED_AHEAD_FIRST 5
struct sched_ahead {
    uint32_t n_jobs, by_tier, by_priority, by_age;
    uint32_t first[SCHED_AHEAD_FIRST]; /* job ids, the head first */
    size_t n_first;
};
/* False: the job does not wait in the view. */
bool sched_jobs_ahead(struct sched *sched, uint32_t job_id, struct sched_ahead *ret);

/* Gives a view the plans of another one of the same cluster, for the jobs that wait in both; then
 * it goes on as the other would. `gone`: a job that has left the other since, 0 = none. */
void sched_take_plans(struct sched *sched, const struct sched *from, uint32_t gone);

/* Bounds the work of passes in a view that runs ahead: at most so many jobs that have waited long
 * get a plan. */
void sched_guard_at_most(struct sched *sched, uint32_t jobs);
/* How many jobs have a plan. */
size_t sched_count_plans(const struct sched *sched);

/* When a waiting job is expected to start; 0 = unknown (never as things stand, or not waiting).
 * Jobs with a plan have its time; the next ones are planned behind it one by one, and for those far
 * down the work ahead of them is divided by what the nodes can do. Made for all jobs at once, on
 * demand, when things have changed and at most once in 5 seconds unless the job has no answer yet.
 */
int64_t sched_estimate(struct sched *sched, int64_t now, uint32_t job_id);

/* Free resources of a node now, for listings and tests. */
void sched_node_free(const struct sched *sched, uint32_t node, uint32_t *ret_cpus,
                     uint64_t *ret_mem, uint64_t ret_gres[SCHED_GRES_KINDS]);

#endif
