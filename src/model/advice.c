/* SPDX-License-Identifier: Apache-2.0 */
/* What the next job should ask for. */
#include "model/advice.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "text/duration.h"

#define RECORD_ROW_habit(...) RECORD_ROW(habit, __VA_ARGS__)
RECORD_DEFINE(habit, HABIT_FIELDS)

#define SAFE_PERCENT 90

static int by_value(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;
    return (x > y) - (x < y);
}

uint32_t quantile(const uint32_t *values, size_t n, unsigned percent) {
    cleanup_free uint32_t *sorted = xmemdup(values, n * sizeof(*values));
    qsort(sorted, n, sizeof(*sorted), by_value);
    size_t rank = (n * percent + 99) / 100;
    return sorted[rank > 0 ? rank - 1 : 0];
}

static uint64_t round_up(uint64_t value, uint64_t step) {
    return (value + step - 1) / step * step;
}

uint32_t advice_minutes(uint64_t seconds) {
    uint64_t minutes = (seconds + seconds / 5 + 59) / 60;
    uint64_t step = minutes < 60 ? 5 : minutes < 480 ? 15 : 60;
    return (uint32_t) min_of(max_of(round_up(minutes, step), (uint64_t) 5),
                             (uint64_t) MINUTES_INFINITE - 1);
}

uint64_t advice_memory(uint64_t mib) {
    uint64_t need = mib + mib / 4 + 1;
    return round_up(need, need < 1024 ? 64 : need < 16384 ? 256 : 1024);
}

bool advice_time_is_far(uint32_t asked, uint32_t enough) {
    if (asked == MINUTES_UNSET || enough == 0)
        return false;
    return asked == MINUTES_INFINITE ||
           ((uint64_t) asked >= 4 * (uint64_t) enough && asked - enough >= 30);
}

uint32_t habit_minutes(const struct habit *habit) {
    uint32_t needs[HABIT_RUNS];
    size_t n = min_of(habit->seconds.n, (uint32_t) HABIT_RUNS);
    if (n < HABIT_ENOUGH)
        return 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t seconds = habit->seconds.items[i];
        bool cut = i < habit->timeouts.n && habit->timeouts.items[i];
        needs[i] = cut && seconds < UINT32_MAX / 2 ? seconds + seconds / 2 : seconds;
    }
    return advice_minutes(quantile(needs, n, SAFE_PERCENT));
}

uint32_t habit_longest(const struct habit *habit) {
    uint32_t longest = 0;
    for (uint32_t i = 0; i < habit->seconds.n; i++)
        longest = max_of(longest, habit->seconds.items[i]);
    return longest;
}

uint64_t habit_accuracy(const struct habit *habit, uint64_t one) {
    uint64_t sum = 0, n = habit ? min_of(habit->seconds.n, habit->limits.n) : 0;
    if (n < HABIT_ENOUGH)
        return one / 2;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t limit = habit->limits.items[i];
        if (limit == 0 || limit >= MINUTES_INFINITE)
            continue; /* without a limit nothing of it was used */
        uint64_t seconds = min_of((uint64_t) habit->seconds.items[i], (uint64_t) limit * 60);
        sum += (uint64_t) ((unsigned __int128) one * seconds / ((uint64_t) limit * 60));
    }
    return sum / n;
}

static void u32s_add_last(struct u32s *list, uint32_t value) {
    if (list->n >= HABIT_RUNS) {
        memmove(list->items, list->items + 1, (list->n - 1) * sizeof(*list->items));
        list->items[list->n - 1] = value;
        return;
    }
    list->items = xreallocarray(list->items, list->n + 1, sizeof(*list->items));
    list->items[list->n++] = value;
}

void habit_add(struct habit *habit, uint32_t seconds, uint32_t limit, bool timeout) {
    u32s_add_last(&habit->seconds, seconds);
    u32s_add_last(&habit->limits, limit);
    u32s_add_last(&habit->timeouts, timeout);
}
