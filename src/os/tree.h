/* SPDX-License-Identifier: Apache-2.0 */
/* Removing what users have made, as root. */
#ifndef SLUICE_OS_TREE_H
#define SLUICE_OS_TREE_H

#include <stdbool.h>

/* The directory and all that is in it, however deep; links are removed, not followed. True when it
 * is gone, or was not there; else errno tells of the directory itself. */
bool tree_remove(const char *base);

#endif
