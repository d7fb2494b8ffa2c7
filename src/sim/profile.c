/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sorted list of blocks of sorted steps. Invariants: no block is empty, times rise over all of
 * them, `least` and `most` are those of the block's heights without `plus`. Neighbouring steps of
 * equal height are joined where an addition ends.
 */
#include "sim/profile.h"

#include <string.h>

#include "base/alloc.h"

#define BLOCK_STEPS 64

struct profile_block {
    size_t n;
    int64_t plus; /* belongs to every height */
    int64_t least, most;
    int64_t time[BLOCK_STEPS], free[BLOCK_STEPS];
};

/* Where a step lies. */
struct place {
    size_t block, step;
};

/* ---- blocks ---- */

static struct profile_block *block_new(struct profile *profile) {
    struct profile_block *block =
        profile->unused.n ? profile->unused.items[--profile->unused.n] : xmalloc(sizeof(*block));
    block->n = 0;
    block->plus = 0;
    return block;
}

static void block_measure(struct profile_block *block) {
    block->least = block->most = block->free[0];
    for (size_t i = 1; i < block->n; i++) {
        block->least = min_of(block->least, block->free[i]);
        block->most = max_of(block->most, block->free[i]);
    }
}

static void block_insert(struct profile *profile, size_t at, struct profile_block *block) {
    vec_push(&profile->blocks, block);
    struct profile_block **items = profile->blocks.items;
    memmove(&items[at + 1], &items[at], (profile->blocks.n - 1 - at) * sizeof(*items));
    items[at] = block;
}

static void block_split(struct profile *profile, size_t at) {
    struct profile_block *low = profile->blocks.items[at], *high = block_new(profile);
    size_t kept = low->n / 2;
    high->n = low->n - kept;
    high->plus = low->plus;
    memcpy(high->time, low->time + kept, high->n * sizeof(int64_t));
    memcpy(high->free, low->free + kept, high->n * sizeof(int64_t));
    low->n = kept;
    block_measure(low);
    block_measure(high);
    block_insert(profile, at + 1, high);
}

static void block_remove(struct profile *profile, size_t at) {
    vec_push(&profile->unused, profile->blocks.items[at]);
    vec_remove(&profile->blocks, at);
}

void profile_done(struct profile *profile) {
    vec_each (&profile->blocks, block)
        free(*block);
    vec_each (&profile->unused, block)
        free(*block);
    vec_done(&profile->blocks);
    vec_done(&profile->unused);
}

/* ---- steps ---- */

/* The block that holds at `when`: the last one that does not begin later, or the first. */
static size_t block_at(const struct profile *profile, int64_t when) {
    size_t low = 0, high = profile->blocks.n;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (profile->blocks.items[middle]->time[0] <= when)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static struct place place_at(const struct profile *profile, int64_t when) {
    struct place place = {block_at(profile, when), 0};
    const struct profile_block *block = profile->blocks.items[place.block];
    size_t low = 0, high = block->n;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (block->time[middle] <= when)
            low = middle;
        else
            high = middle;
    }
    place.step = low;
    return place;
}

static int64_t height_of(const struct profile_block *block, size_t step) {
    return block->free[step] + block->plus;
}

/* Makes a step begin at `when`. */
static void cut(struct profile *profile, int64_t when) {
    struct place place = place_at(profile, when);
    struct profile_block *block = profile->blocks.items[place.block];
    if (block->time[place.step] == when)
        return;
    if (block->n == BLOCK_STEPS) {
        block_split(profile, place.block);
        cut(profile, when);
        return;
    }
    size_t at = place.step + 1, moved = (block->n - at) * sizeof(int64_t);
    memmove(block->time + at + 1, block->time + at, moved);
    memmove(block->free + at + 1, block->free + at, moved);
    block->time[at] = when;
    block->free[at] = block->free[at - 1];
    block->n++;
}

/* Takes away the step that begins at `when` if it is as high as the one before it. */
static void join(struct profile *profile, int64_t when) {
    struct place place = place_at(profile, when);
    struct profile_block *block = profile->blocks.items[place.block];
    if (place.block == 0 && place.step == 0)
        return;
    const struct profile_block *before = profile->blocks.items[place.block - (place.step == 0)];
    int64_t height = height_of(before, place.step ? place.step - 1 : before->n - 1);
    if (block->time[place.step] != when || height_of(block, place.step) != height)
        return;
    if (block->n == 1) {
        block_remove(profile, place.block);
        return;
    }
    size_t moved = (block->n - place.step - 1) * sizeof(int64_t);
    memmove(block->time + place.step, block->time + place.step + 1, moved);
    memmove(block->free + place.step, block->free + place.step + 1, moved);
    block->n--;
    block_measure(block);
}

void profile_reset(struct profile *profile, int64_t start, int64_t free_procs) {
    while (profile->blocks.n)
        vec_push(&profile->unused, profile->blocks.items[--profile->blocks.n]);
    struct profile_block *block = block_new(profile);
    block->n = 1;
    block->time[0] = start;
    block->free[0] = block->least = block->most = free_procs;
    vec_push(&profile->blocks, block);
}

void profile_append(struct profile *profile, int64_t from, int64_t free_procs) {
    struct profile_block *block = profile->blocks.items[profile->blocks.n - 1];
    if (from > block->time[block->n - 1]) {
        if (block->n == BLOCK_STEPS) {
            block = block_new(profile);
            vec_push(&profile->blocks, block);
        }
        block->time[block->n++] = from;
    }
    block->free[block->n - 1] = free_procs - block->plus;
    block_measure(block);
}

void profile_add(struct profile *profile, int64_t from, int64_t until, int64_t delta) {
    if (from >= until)
        return;
    cut(profile, from);
    cut(profile, until);
    struct place place = place_at(profile, from);
    for (size_t b = place.block; b < profile->blocks.n; b++) {
        struct profile_block *block = profile->blocks.items[b];
        size_t i = b == place.block ? place.step : 0;
        if (block->time[0] >= until)
            break;
        if (i == 0 && block->time[block->n - 1] < until) {
            block->plus += delta;
            continue;
        }
        for (; i < block->n && block->time[i] < until; i++)
            block->free[i] += delta;
        block_measure(block);
    }
    join(profile, until);
    join(profile, from);
}

void profile_trim(struct profile *profile, int64_t now) {
    struct place place = place_at(profile, now);
    for (; place.block; place.block--)
        block_remove(profile, 0);
    struct profile_block *block = profile->blocks.items[0];
    if (place.step) {
        block->n -= place.step;
        memmove(block->time, block->time + place.step, block->n * sizeof(int64_t));
        memmove(block->free, block->free + place.step, block->n * sizeof(int64_t));
        block_measure(block);
    }
    block->time[0] = max_of(block->time[0], now);
}

/* ---- searches ---- */

int64_t profile_earlier(const struct profile *profile, int64_t now, int64_t procs, int64_t seconds,
                        int64_t last, int64_t plan) {
    struct place place = place_at(profile, now);
    int64_t start = PROFILE_NEVER, end = PROFILE_NEVER; /* of the window that is good so far */
    for (size_t b = place.block; b < profile->blocks.n; b++, place.step = 0) {
        const struct profile_block *block = profile->blocks.items[b];
        int64_t needed = procs - block->plus;
        if (start == PROFILE_NEVER && block->time[0] > last)
            return PROFILE_NEVER;
        if (start == PROFILE_NEVER ? block->most < needed
                                   : block->least >= needed && block->time[block->n - 1] < end)
            continue;
        for (size_t i = place.step; i < block->n; i++) {
            if (start != PROFILE_NEVER && block->time[i] >= end)
                return start;
            if (block->free[i] < needed) {
                start = PROFILE_NEVER;
            } else if (start == PROFILE_NEVER) {
                start = max_of(block->time[i], now);
                if (start > last)
                    return PROFILE_NEVER;
                end = min_of(start + seconds, plan);
            }
        }
    }
    return start;
}

int64_t profile_earliest(const struct profile *profile, int64_t now, int64_t procs, int64_t seconds,
                         int64_t last) {
    return profile_earlier(profile, now, procs, seconds, last, PROFILE_NEVER);
}

bool profile_fits(const struct profile *profile, int64_t now, int64_t procs, int64_t seconds) {
    return profile_earliest(profile, now, procs, seconds, now) == now;
}

size_t profile_steps(const struct profile *profile) {
    size_t n = 0;
    vec_each (&profile->blocks, block)
        n += (*block)->n;
    return n;
}

int64_t profile_height(const struct profile *profile, int64_t when) {
    struct place place = place_at(profile, when);
    return height_of(profile->blocks.items[place.block], place.step);
}
