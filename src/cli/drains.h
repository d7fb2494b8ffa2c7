/* SPDX-License-Identifier: Apache-2.0 */
/* sluice drains: nodes that are out of service, what they cost, and what brings them back. Pure. */
#ifndef SLUICE_CLI_DRAINS_H
#define SLUICE_CLI_DRAINS_H

#include "model/node.h"
#include "text/language.h"

struct drains_view {
    const struct node *const *nodes; /* drained, down or failing; borrowed */
    size_t n;
    int64_t now;
    enum language language; /* of the text; JSON is English */
};

bool drains_has(const struct node *node); /* does it belong there? */
/* Sorts them: what costs most GPU hours first, then CPU hours, then by name. */
void drains_sort(const struct node **nodes, size_t n, int64_t now);
uint64_t drains_lost_cpu(const struct node *node, int64_t now); /* seconds, until now */
uint64_t drains_lost_gpu(const struct node *node, int64_t now);
/* "remove files there, then: scontrol update nodename=n1 state=resume" */
void drains_cure(const struct node *node, enum language language, struct str *out);
void drains_text(const struct drains_view *view, struct str *out);
void drains_json(const struct drains_view *view, struct str *out);

#endif
