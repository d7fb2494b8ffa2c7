/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking at the GPUs of this node every JobAcctGatherFrequency seconds, in a thread, where the
 * vendor's library is there: use, memory, errors, and processes that belong to no job. What was
 * seen goes to the controller with the heartbeat, and at once when a card begins or ceases to work,
 * when a stray process comes or goes, or when a card fails.
 */
#ifndef SLUICE_SLURMD_GPU_WATCH_H
#define SLUICE_SLURMD_GPU_WATCH_H

#include <stdbool.h>

#include "model/messages.h"

struct slurmd;
struct gpu_watch;

void gpu_watch_start(struct slurmd *slurmd);
/* Fills status->gpus, and status->problem if a card has failed; borrowed until the next call. */
void gpu_watch_fill(struct slurmd *slurmd, struct node_status *status);
/* A look is under way: the library must stay open. */
bool gpu_watch_is_busy(const struct slurmd *slurmd);

#endif
