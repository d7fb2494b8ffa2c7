/* SPDX-License-Identifier: Apache-2.0 */
#include "model/usage.h"

#include <string.h>

#include "base/alloc.h"

const struct usage_measure *usage_measure(const struct usage *usage, enum usage_kind kind) {
    for (uint32_t i = 0; usage && i < usage->measures.n; i++) {
        if (usage->measures.items[i].kind == kind)
            return &usage->measures.items[i];
    }
    return NULL;
}

void usage_energy(const struct usage *usage, struct usage_measure *ret) {
    const struct usage_measure *any = usage_measure(usage, USAGE_PAGES);

    *ret = (struct usage_measure) {.kind = 0};
    if (any) {
        ret->max_node = any->max_node;
        ret->min_node = any->max_node;
    }
}

void usage_measure_task(struct usage_measure *measure, uint32_t task, uint64_t value, bool first) {
    if (first || value > measure->max) {
        measure->max = value;
        measure->max_task = task;
    }
    if (first || value < measure->min) {
        measure->min = value;
        measure->min_task = task;
    }
    measure->sum += value;
}

static void measure_add(struct usage_measure *sum, const struct usage_measure *more) {
    /* of equals the first task, in whatever order the nodes report */
    if (more->max > sum->max || (more->max == sum->max && more->max_task < sum->max_task)) {
        sum->max = more->max;
        sum->max_task = more->max_task;
        string_set(&sum->max_node, more->max_node);
    }
    if (more->min < sum->min || (more->min == sum->min && more->min_task < sum->min_task)) {
        sum->min = more->min;
        sum->min_task = more->min_task;
        string_set(&sum->min_node, more->min_node);
    }
    sum->sum += more->sum;
}

void usage_add(struct usage *sum, const struct usage *more) {
    sum->user_usec += more->user_usec;
    sum->system_usec += more->system_usec;
    sum->oom_kills += more->oom_kills;
    for (uint32_t i = 0; i < more->measures.n; i++) {
        const struct usage_measure *from = &more->measures.items[i];
        struct usage_measure *to = (struct usage_measure *) usage_measure(sum, from->kind);
        if (to) {
            measure_add(to, from);
            continue;
        }
        sum->measures.items =
            xreallocarray(sum->measures.items, sum->measures.n + 1, sizeof(*sum->measures.items));
        record_copy(&record_usage_measure, &sum->measures.items[sum->measures.n++], from);
    }
}

#define FREQUENCY_MAX 65535 /* seconds */

int acctg_freq_parse(const char *text, uint32_t *ret_task, struct error *err) {
    static const char *const names[] = {"task", "energy", "network", "filesystem"};
    cleanup_free char *copy = xstrdup(text);
    char *cursor = copy, *word;
    uint64_t task = *ret_task, seconds;
    bool any = false;

    while ((word = str_next_word(&cursor, ","))) {
        char *value = strchr(word, '=');
        size_t which = 0;
        if (value) {
            *value++ = '\0';
            while (which < countof(names) && !str_equal_nocase(word, names[which]))
                which++;
        }
        if (which == countof(names) || !str_to_u64(value ? value : word, &seconds) ||
            seconds > FREQUENCY_MAX)
            return error_set(err, ERR_INVALID,
                             "\"%s\" is not \"SECONDS\" or \"task=SECONDS\" (energy, network and "
                             "filesystem likewise, with commas between), at most %u",
                             text, FREQUENCY_MAX);
        if (which == 0)
            task = seconds;
        any = true;
    }
    if (!any)
        return error_set(err, ERR_INVALID, "\"\" is no interval");
    *ret_task = (uint32_t) task;
    return 0;
}
