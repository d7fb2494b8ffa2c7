/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of a step's GPUs one task sees (--gpu-bind, --tres-bind=gres/gpu:…). Pure.
 *
 * Numbers are those that programs are told: counted from 0 among the job's devices where devices
 * are fenced, else the node's own.
 */
#ifndef SLUICE_SLURMSTEPD_GPU_BIND_H
#define SLUICE_SLURMSTEPD_GPU_BIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/step_wire.h"
#include "base/bits.h"

/*
 * bind: "per_task:N" (N each, in turn), "single:N" (one for N tasks), "map_gpu:0,1*2" and
 * "mask_gpu:1,0x2" (an entry a task, in turn; "map:" and "mask:" are the same), with "verbose," or
 * "quiet," before it. Everything else, NULL included, binds nothing here: "closest" has become a
 * mask by then. Reduces gpus[0..n), all GPUs of the step on this node, to those of task local_id,
 * in ascending order, and returns how many are left. A binding that leaves none is not applied: a
 * task never loses all GPUs to a wrong number.
 */
size_t gpu_bind_pick(const char *bind, uint32_t local_id, uint32_t *gpus, size_t n);

/* Does --gpu-bind say "closest"? */
bool gpu_bind_is_closest(const char *bind);
/* The binding of a task on the processors `mask` to the GPUs of `gres` ("gpu:a100:2(IDX:0-1)") that
 * are near one of them, as "mask_gpu:0x3"; NULL = nothing is known of any, or none is near: it sees
 * all. malloc. */
char *gpu_bind_closest(const struct step_order *order, const char *gres, const struct bits *mask);

#endif
