/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of small integers in the forms of `--array`: `1-10`, `0-100:5`, `1,3,7`, with an optional
 * `%limit`. Kept as sorted disjoint runs, so that a million-task array is one run.
 */
#ifndef SLUICE_TEXT_IDSET_H
#define SLUICE_TEXT_IDSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

struct idset_run {
    uint32_t first, last; /* inclusive; last == first + k * step */
    uint32_t step;        /* >= 1 */
};
struct idset {
    struct idset_run *runs; /* sorted; a run begins after the one before it has ended */
    size_t n, capacity;
};
#define IDSET_INIT                                                                                 \
    { NULL, 0, 0 }

void idset_done(struct idset *set);
#define cleanup_idset __attribute__((__cleanup__(idset_done)))
/* Replaces the set by `spec[%limit]`; brackets around the spec are accepted. ret_limit (may be
 * NULL: then a limit is an error) gets 0 when absent. Duplicates collapse. Values above max are an
 * error that names the bound. Not empty on success. */
must_check int idset_parse(struct idset *set, const char *text, uint32_t max, uint32_t *ret_limit,
                           struct error *err);
uint64_t idset_count(const struct idset *set);
bool idset_contains(const struct idset *set, uint32_t id);
bool idset_remove(struct idset *set, uint32_t id); /* true if it was there */
bool idset_add(struct idset *set, uint32_t id);    /* true if it was absent */
uint32_t idset_min(const struct idset *set);       /* set not empty */
uint32_t idset_max(const struct idset *set);
/* Smallest member >= from; false when none. */
bool idset_next(const struct idset *set, uint32_t from, uint32_t *ret_id);
/* Appends the display form: `first-last:step` when more than 5 ids remain, the spread is above 10
 * and the spacing is constant and not 1; otherwise ranges and commas. max_bytes > 0 is the size of
 * a buffer with its NUL, as in SLURM_BITSTR_LEN: a text that does not fit ends with "..." (squeue:
 * 64, so 63 characters). */
void idset_print(const struct idset *set, struct str *out, size_t max_bytes);
void idset_copy(struct idset *dst, const struct idset *src);
/* Parts `set` into the members that `by` has and the others; both results are replaced. Takes the
 * time of their runs, not of their members, unless runs with steps cross. */
void idset_divide(const struct idset *set, const struct idset *by, struct idset *ret_inside,
                  struct idset *ret_outside);

#endif
