/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps in the core (step.c makes them, step_end.c sees their end); private to src/core. A job owns
 * its steps. step_place.c and step_gres.c say where a step goes inside its job, layout.c how its
 * tasks are dealt out; they change nothing.
 */
#ifndef SLUICE_CORE_STEP_H
#define SLUICE_CORE_STEP_H

#include "base/error.h"
#include "base/list.h"
#include "model/messages.h"

struct core;
struct core_job;
struct core_user;

struct core_step {
    struct step rec;
    struct list link;  /* job->steps */
    struct list dirty; /* core->dirty_steps */
    struct core_job *job;
    bool stored;
    uint32_t *nodes; /* indexes into job->rec.allocation as it was when the step was made */
    size_t n_nodes;
    bool *node_done;
};

/* Where a step goes inside its job. */
struct step_plan {
    uint32_t n;
    uint32_t *entries; /* indexes into the job's allocation */
    uint32_t *counts;  /* tasks on each */
    uint32_t *cpus;    /* given to the step on each */
    uint32_t *all_cpus, *free_cpus;
    uint32_t *max_tasks; /* by --ntasks-per-node, -core and -socket; UINT32_MAX */
    uint64_t *mem;       /* MiB that the step may use */
    char **gres;
    uint32_t ntasks;
    uint32_t *entry_of_task; /* arbitrary distribution, else NULL */
    bool exact, owns_gres, owns_mem;
};

/* A step that waits for CPUs of its job. */
struct step_wait {
    struct list link;
    uint64_t client;
    uint32_t seq;
    struct step_request *request;
    uint32_t uid, gid;
};

/* ---- steps ---- */
void step_touch(struct core *core, struct core_step *step);
/* Fills *plan (zeroed; step_plan_done() in any case). 0, -ERR_NODES_BUSY (it may wait), or a
 * refusal. */
must_check int step_place(struct core *core, struct core_job *job,
                          const struct step_request *request, struct step_plan *plan,
                          struct error *err);
void step_plan_done(struct step_plan *plan);
/* Devices and memory of a plan whose nodes, tasks and CPUs are known. *ret_busy becomes true when
 * others have them now; what other steps hold counts for nothing with ignore_use. */
must_check int step_place_gres(struct core_job *job, const struct step_request *request,
                               struct step_plan *plan, bool ignore_use, bool *ret_busy,
                               struct error *err);
must_check int step_place_mem(struct core_job *job, const struct step_request *request,
                              struct step_plan *plan, bool ignore_use, bool *ret_busy,
                              struct error *err);
int step_refuse(struct error *err, enum err code, const char *fmt, ...) printf_like(3, 4);
/* The plan's devices as accounted, "gres/gpu=2", or "". */
char *step_gres_tres(const struct core *core, const struct step_plan *plan);
/* The job's own first `cpus` worth of cores of an allocation entry that no other step holds. */
char *step_free_cores(struct core *core, struct core_job *job, uint32_t entry, uint32_t cpus,
                      bool overlap);
void step_create_extern(struct core *core, struct core_job *job);
/* The step that comes with an srun allocation. */
void step_create_first(struct core *core, struct core_job *job);
/* An srun that has died cannot give its allocation back: it goes with the last of its steps,
 * whichever of the two is noticed first. */
void srun_job_ends(struct core *core, struct core_job *job);
void step_done(struct core *core, struct core_job *job, uint32_t node,
               const struct step_done *done);
/* Whether the user may have steps in the job now. */
must_check int step_job_check(struct core *core, struct core_job *job, const struct core_user *user,
                              struct error *err);
/* STEP_REPLY with what the shell makes a credential of. */
void step_answer(struct core *core, uint64_t client, uint32_t seq, struct step_layout *layout,
                 struct bytes credential);
void steps_wake(struct core *core, struct core_job *job);
void steps_fail_waiting(struct core *core, struct core_job *job, int code);
/* The job's nodes are clean: steps whose end nobody reported have ended too. */
void steps_end_all(struct core *core, struct core_job *job);
void step_tell_limit(struct core *core, const struct core_step *step); /* its nodes */
void step_free(struct core_step *step);
void step_wait_free(struct step_wait *wait);
void step_forget_all(struct core *core, struct core_job *job);
void step_forget(struct core *core, struct core_step *step);
/* Indexes of nodes in the steps' own lists, by name; UINT32_MAX for those that are gone. */
void steps_find_nodes(struct core *core, struct core_job *job);
struct core_step *step_find(struct core_job *job, uint32_t step_id);
/* The batch step has a record only once it has ended; while it runs it follows from its job, whose
 * texts the result borrows. False: none runs. */
bool step_batch_running(const struct core_job *job, struct step *ret);
struct core_step *step_new(struct core *core, struct core_job *job, uint32_t step_id);

/* ---- tasks and nodes (layout.c) ---- */
struct task_room {
    const uint32_t *cpus, *max_tasks; /* of each node */
    uint32_t cpus_per_task;
    bool overcommit; /* cpus count for nothing */
};
enum layout_order {
    LAYOUT_EVEN, /* one task to each node in turn */
    LAYOUT_FILL, /* one to each, then as many as fit, node by node */
    LAYOUT_PACK, /* as many as fit, node by node; the last nodes may get none */
};
/* Tasks per node by the distribution; counts[n_nodes] filled. False: they do not fit. */
bool layout_tasks(uint32_t ntasks, uint32_t n_nodes, const struct task_room *room,
                  enum layout_order order, uint32_t *counts);
void layout_ranks(enum task_dist dist, uint32_t plane, uint32_t ntasks, uint32_t n_nodes,
                  const uint32_t *counts, uint32_t **ranks);

#endif
