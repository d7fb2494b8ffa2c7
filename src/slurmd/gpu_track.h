/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one card has done: the mean of its use over 15 minutes, by whole minutes so that the samples
 * need not come at equal distances, and when it was last at work. Pure. Times are microseconds of
 * one clock.
 */
#ifndef SLUICE_SLURMD_GPU_TRACK_H
#define SLUICE_SLURMD_GPU_TRACK_H

#include <stdint.h>

#define GPU_TRACK_MINUTES 15

struct gpu_track {
    struct {
        uint64_t minute, sum;
        uint32_t n;
    } minutes[GPU_TRACK_MINUTES];
    uint64_t since; /* of the first sample, 0 = there is none */
    uint64_t used;  /* of the last one that saw it at work, 0 = none did */
    uint32_t now;   /* percent in the last sample, UINT32_MAX = unknown */
};

/* use: percent, UINT32_MAX = the card does not tell (then it is never known to be idle). */
void gpu_track_add(struct gpu_track *track, uint64_t usec, uint32_t use);
/* Percent, rounded up so that a little is not nothing; UINT32_MAX = unknown. */
uint32_t gpu_track_mean(const struct gpu_track *track, uint64_t usec);

#endif
