/* SPDX-License-Identifier: Apache-2.0 */
/* A ring of minutes; see the header. */
#include "slurmd/gpu_track.h"

#define MINUTE_USEC 60000000ull

void gpu_track_add(struct gpu_track *track, uint64_t usec, uint32_t use) {
    uint64_t minute = usec / MINUTE_USEC;
    __typeof__(&track->minutes[0]) at = &track->minutes[minute % GPU_TRACK_MINUTES];

    track->now = use;
    if (track->since == 0)
        track->since = usec;
    if (use == UINT32_MAX) {
        track->used = usec;
        return;
    }
    if (use > 0)
        track->used = usec;
    if (at->minute != minute) {
        at->minute = minute;
        at->sum = at->n = 0;
    }
    at->sum += use;
    at->n++;
}

uint32_t gpu_track_mean(const struct gpu_track *track, uint64_t usec) {
    uint64_t minute = usec / MINUTE_USEC, sum = 0, n = 0;

    for (unsigned i = 0; i < GPU_TRACK_MINUTES; i++) {
        if (track->minutes[i].minute > minute ||
            minute - track->minutes[i].minute >= GPU_TRACK_MINUTES)
            continue;
        sum += track->minutes[i].sum;
        n += track->minutes[i].n;
    }
    return n == 0 ? UINT32_MAX : (uint32_t) ((sum + n - 1) / n);
}
