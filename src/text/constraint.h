/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feature expressions of --constraint: names with & (AND), | (OR), left to right, ( ) groups,
 * name*N node counts, [a|b|c] (all nodes the same alternative), [a*2&b*4]. `,` is taken as &.
 */
#ifndef SLUICE_TEXT_CONSTRAINT_H
#define SLUICE_TEXT_CONSTRAINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum constraint_op { CONSTRAINT_NAME, CONSTRAINT_AND, CONSTRAINT_OR, CONSTRAINT_MATCHING_OR };

struct constraint {
    enum constraint_op op;
    char *name;                /* CONSTRAINT_NAME */
    uint32_t count;            /* name*N or (group)*N: nodes that must have it; 0 = every node */
    struct constraint **parts; /* AND, OR, MATCHING_OR ([a|b]) */
    size_t n_parts;
};

/* An empty text gives NULL, which every node matches. */
must_check int constraint_parse(const char *text, struct constraint **ret, struct error *err);
void constraint_free(struct constraint *constraint);
/* Calls fn for each name. */
void constraint_names(const struct constraint *constraint,
                      void (*fn)(const char *name, void *context), void *context);
/* True if a node whose features the callback knows may serve the job at all. A counted part (a*2)
 * excludes no node, since the job's other nodes may lack it; the scheduler counts those. */
bool constraint_matches(const struct constraint *constraint,
                        bool (*has)(const char *name, void *context), void *context);

#endif
