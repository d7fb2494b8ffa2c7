/* SPDX-License-Identifier: Apache-2.0 */
/* Two arrays, so that the search runs over heights that lie together. */
#include "sim/profile.h"

#include <string.h>

#include "base/alloc.h"
#include "base/vec.h"

static void profile_reserve(struct profile *profile, size_t n) {
    if (n <= profile->capacity)
        return;
    profile->capacity = vec_grown(profile->capacity, n);
    profile->time = xreallocarray(profile->time, profile->capacity, sizeof(int64_t));
    profile->free = xreallocarray(profile->free, profile->capacity, sizeof(int64_t));
}

void profile_done(struct profile *profile) {
    free(profile->time);
    free(profile->free);
    *profile = (struct profile) {0};
}

void profile_reset(struct profile *profile, int64_t start, int64_t free_procs) {
    profile_reserve(profile, 1);
    profile->n = 1;
    profile->time[0] = start;
    profile->free[0] = free_procs;
}

void profile_append(struct profile *profile, int64_t from, int64_t free_procs) {
    if (from > profile->time[profile->n - 1]) {
        profile_reserve(profile, profile->n + 1);
        profile->time[profile->n++] = from;
    }
    profile->free[profile->n - 1] = free_procs;
}

/* The first step that begins at `when` or later; n when there is none. */
static size_t step_from(const struct profile *profile, int64_t when) {
    size_t low = 0, high = profile->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (profile->time[middle] < when)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The step that holds at `when`, or the first one when all begin later. */
static size_t step_at(const struct profile *profile, int64_t when) {
    size_t i = step_from(profile, when);
    return i == profile->n || (profile->time[i] > when && i > 0) ? i - 1 : i;
}

/* Makes a step begin at `when`; its position. */
static size_t cut(struct profile *profile, int64_t when) {
    size_t i = step_from(profile, when);
    if (i < profile->n && profile->time[i] == when)
        return i;
    size_t moved = (profile->n - i) * sizeof(int64_t);
    profile_reserve(profile, profile->n + 1);
    memmove(profile->time + i + 1, profile->time + i, moved);
    memmove(profile->free + i + 1, profile->free + i, moved);
    profile->time[i] = when;
    profile->free[i] = i ? profile->free[i - 1] : profile->free[i + 1];
    profile->n++;
    return i;
}

/* Joins step i with the one before it when they are equal. */
static void join(struct profile *profile, size_t i) {
    if (i == 0 || i >= profile->n || profile->free[i] != profile->free[i - 1])
        return;
    size_t moved = (profile->n - i - 1) * sizeof(int64_t);
    memmove(profile->time + i, profile->time + i + 1, moved);
    memmove(profile->free + i, profile->free + i + 1, moved);
    profile->n--;
}

void profile_add(struct profile *profile, int64_t from, int64_t until, int64_t delta) {
    if (from >= until)
        return;
    size_t first = cut(profile, from), end = cut(profile, until);
    for (size_t i = first; i < end; i++)
        profile->free[i] += delta;
    join(profile, end);
    join(profile, first);
}

void profile_trim(struct profile *profile, int64_t now) {
    size_t i = step_at(profile, now);
    if (i > 0) {
        profile->n -= i;
        memmove(profile->time, profile->time + i, profile->n * sizeof(int64_t));
        memmove(profile->free, profile->free + i, profile->n * sizeof(int64_t));
    }
    if (profile->time[0] < now)
        profile->time[0] = now;
}

int64_t profile_earlier(const struct profile *profile, int64_t now, int64_t procs, int64_t seconds,
                        int64_t last, int64_t plan) {
    const int64_t *restrict times = profile->time, *restrict heights = profile->free;
    size_t i = step_at(profile, now), n = profile->n;
    for (;;) {
        while (i < n && heights[i] < procs)
            i++;
        if (i >= n)
            return PROFILE_NEVER;
        int64_t start = max_of(times[i], now);
        if (start > last)
            return PROFILE_NEVER;
        int64_t end = min_of(start + seconds, plan);
        for (i++; i < n && times[i] < end; i++)
            if (heights[i] < procs)
                break;
        if (i >= n || times[i] >= end)
            return start;
    }
}

int64_t profile_earliest(const struct profile *profile, int64_t now, int64_t procs, int64_t seconds,
                         int64_t last) {
    return profile_earlier(profile, now, procs, seconds, last, PROFILE_NEVER);
}

bool profile_fits(const struct profile *profile, int64_t now, int64_t procs, int64_t seconds) {
    return profile_earliest(profile, now, procs, seconds, now) == now;
}
