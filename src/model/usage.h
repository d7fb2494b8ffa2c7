/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a step used: of each kind the highest and the lowest of its tasks, with their numbers and
 * nodes, and the sum of all tasks. A task's figure is its peak (memory) or all that it has used so
 * far (the rest), of its whole process tree.
 */
#ifndef SLUICE_MODEL_USAGE_H
#define SLUICE_MODEL_USAGE_H

#include "model/job.h"

enum usage_kind {
    USAGE_CPU = 1, /* µs, user and system */
    USAGE_RSS,     /* KiB */
    USAGE_VSIZE,   /* KiB */
    USAGE_PAGES,   /* faults that needed the disk */
    USAGE_READ,    /* bytes, from whatever file */
    USAGE_WRITTEN, /* bytes */
};
#define USAGE_KINDS 6

/* NULL when it was not measured. */
const struct usage_measure *usage_measure(const struct usage *usage, enum usage_kind kind);
/* Nobody measures energy: 0 joules everywhere, on the first node as well as on any. */
void usage_energy(const struct usage *usage, struct usage_measure *ret);
/* One more task in a measure of one node, whose min_node and max_node are set by the caller.
 * `first` when nothing has been added yet. */
void usage_measure_task(struct usage_measure *measure, uint32_t task, uint64_t value, bool first);
/* Adds what other nodes (other tasks) used. sum is owned by malloc, its first state record_init. */
void usage_add(struct usage *sum, const struct usage *more);

/* --acctg-freq: "5", "task=5,energy=10": seconds between two looks at the tasks, 0 = none.
 * *ret_task stays when the text names other things only. */
must_check int acctg_freq_parse(const char *text, uint32_t *ret_task, struct error *err);

#endif
