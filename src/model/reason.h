/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reasons that the system itself gives for taking a node out of service: how each begins, which
 * key of the configuration decides about it, and what cures it. Pure.
 */
#ifndef SLUICE_MODEL_REASON_H
#define SLUICE_MODEL_REASON_H

#include <stddef.h>

#include "text/language.h"

struct reason_row {
    const char *begins;
    const char *key; /* NULL = nothing to set */
    /* What to do before the node is resumed; in English an imperative without a full stop. */
    const char *cures[LANGUAGES];
};
extern const struct reason_row reason_table[];
extern const size_t reason_table_size;

/* The row of the first reason in the text that one is known for ("spilt coffee : disk: /tmp …" is
 * that of "disk:"); NULL when somebody gave a reason of his own. */
const struct reason_row *reason_find(const char *text);

#endif
