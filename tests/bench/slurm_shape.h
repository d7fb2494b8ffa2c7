/* SPDX-License-Identifier: Apache-2.0 */
/* What SchedulerParameters say of Slurm's schedulers; set before the first pass. */
#ifndef SLUICE_BENCH_SLURM_SHAPE_H
#define SLUICE_BENCH_SLURM_SHAPE_H

#include <stdint.h>

struct slurm_shape {
    uint32_t queue_depth, jobs, jobs_of_user; /* the last: 0 = no bound */
    int64_t interval, window, resolution;     /* seconds */
};
extern struct slurm_shape slurm_shape;

#endif
