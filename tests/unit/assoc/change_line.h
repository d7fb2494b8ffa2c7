/* SPDX-License-Identifier: Apache-2.0 */
/* A line as "modify user alice set maxjobs=3" read as the change that sacctmgr would ask for. */
#ifndef SLUICE_TESTS_ASSOC_CHANGE_LINE_H
#define SLUICE_TESTS_ASSOC_CHANGE_LINE_H

#include "assoc/assoc.h"
#include "base/arena.h"

/* In values "_" stands for a blank. Fails on another verb or entity than there are; what the change
 * points at is the arena's. */
void change_line_read(const char *line, struct arena *arena, struct assoc_change *ret);

#endif
