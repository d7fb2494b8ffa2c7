/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preemption in the core; private to src/core. preempt_rules.c says who may preempt whom and how,
 * preempt.c carries out what the planner has chosen.
 *
 * A victim's record tells by whom it was preempted and until when it may run on (preempt_end), so
 * that a restart of the controller changes nothing. While victims of a job go, the planner holds
 * for it what it was promised; when the job has started or no longer waits, those who have not gone
 * yet are let off.
 */
#ifndef SLUICE_CORE_PREEMPT_H
#define SLUICE_CORE_PREEMPT_H

#include "base/vec.h"
#include "model/qos.h"
#include "sched/sched.h"

struct core;
struct core_job;
struct core_partition;

/* What the configuration says for the whole cluster. */
struct preempt_rules {
    uint64_t flags;           /* the words of PreemptMode */
    bool on;                  /* PreemptType is not preempt/none */
    bool by_qos;              /* preempt/qos; else by the PriorityTier of partitions */
    bool if_above;            /* PreemptMode=PRIORITY: the job's priority must be higher, too */
    bool within;              /* PreemptMode=WITHIN */
    bool gang;                /* PreemptMode=GANG */
    bool user_signal;         /* PreemptParameters=send_user_signal */
    bool to_head;             /* PreemptParameters=requeue_head */
    uint32_t mode;            /* enum preempt_mode, never PREEMPT_CLUSTER */
    uint32_t exempt_priority; /* from this priority on a job is safe, 0 = none is */
    int64_t exempt;           /* seconds */
};

/* A waiting job for which others go. */
struct preemptor {
    uint32_t job_id;
    int64_t until; /* nobody is waited for after this */
    bool idle;     /* before this pass nobody was leaving any more that it waits for */
    uint32_t *victims;
    size_t n_victims;
    vec(uint32_t) nodes;   /* where they were */
    vec(uint32_t) awaited; /* jobs that leave what it needs though not for its sake */
};

/* ---- rules (preempt_rules.c) ---- */
void preempt_configure(struct core *core); /* from core->conf */
void preempt_to_sched(struct core *core);  /* after sched_configure() */
/* "OFF", "REQUEUE", "GANG,SUSPEND" of the words of PreemptMode. */
void preempt_mode_print(uint64_t flags, struct str *out);
/* The mode that such a text gives victims; PREEMPT_CLUSTER for what is no mode. */
uint32_t preempt_mode_read(const char *text);
/* What happens to a job when it is preempted: never PREEMPT_CLUSTER. */
uint32_t preempt_mode_of(struct core *core, const struct core_job *job, int64_t *ret_grace,
                         int64_t *ret_exempt);
/* The planner's class of a job where classes are QOS. */
uint32_t preempt_class(const struct core *core, const struct job *job);

/* ---- acts (preempt.c) ---- */
/* The planner learns what the rules say about a job that holds nodes. */
void preempt_sync_run(struct core *core, struct core_job *job);
/* The victim only lets another job of its partition have its turn. */
bool preempt_is_turn(const struct core *core, const struct sched_preempt *chosen,
                     const struct core_job *victim);
void preempt_before_pass(struct core *core);
void preempt_commit(struct core *core, const struct sched_preempt *chosen);
void preempt_after_pass(struct core *core);
bool preempt_waits(const struct core *core, uint32_t job_id); /* others go for it */
/* Those who go for it and have not gone yet, one after the other; *at begins as 0. NULL: no more.
 */
struct core_job *preempt_next_victim(struct core *core, uint32_t job_id, size_t *at);
void preempt_started(struct core *core, uint32_t job_id);
/* Its grace is over, or it has ended by itself. */
void preempt_finish(struct core *core, struct core_job *job);
void preempt_ends(struct core *core, struct core_job *job); /* from now on it only cleans up */
void preempt_restored(struct core *core);                   /* all jobs are in */
int64_t preempt_next(const struct core *core);              /* INT64_MAX when nothing is due */
void preempt_free_all(struct core *core);

#endif
