/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the GPUs of the nodes do (gpu.c), and jobs whose GPUs do nothing (gpu_idle.c); private to
 * src/core. Nodes tell it with their heartbeats; it is not stored.
 */
#ifndef SLUICE_CORE_GPU_H
#define SLUICE_CORE_GPU_H

#include "base/vec.h"
#include "model/messages.h"

struct core;
struct core_job;
struct core_node;
struct core_user;

/* A card as its node told last. */
struct core_gpu {
    struct gpu_status status;
    int64_t idle_since; /* since when nobody has seen it at work; core->now: it works */
};
typedef vec(struct core_gpu) core_gpus;

/* ---- what the GPUs do (gpu.c) ---- */
void gpus_reported(struct core *core, uint32_t node, const struct node_status *status);
void gpus_carry_over(struct core_node *node, struct core_node *old);
void gpus_free(struct core_node *node);
struct core_gpu *gpu_find(struct core_node *node, uint32_t index); /* NULL: nobody tells of it */
/* Calls fn with every card of a node; what it is given lives until it returns. */
void gpus_each(struct core *core, const struct core_user *user, uint32_t node,
               void (*fn)(const struct gpu *gpu, void *context), void *context);

/* ---- jobs whose GPUs do nothing (gpu_idle.c) ---- */
/* Is there a rule of its partition or QOS for GPUs of it? */
bool gpu_idle_matters(const struct core *core, const struct core_job *job);
/* Warns the owner or ends the job, if it is time. Arm its timer afterwards. */
void gpu_idle_check(struct core *core, struct core_job *job);
int64_t gpu_idle_due(struct core *core, struct core_job *job); /* 0 = nothing will be */
const char *gpu_idle_action(const struct core *core, const struct core_job *job); /* or NULL */
/* When it ends unless a GPU of it works, 0 = never. */
int64_t gpu_idle_end(struct core *core, struct core_job *job);

#endif
