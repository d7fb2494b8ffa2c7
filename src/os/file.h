/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SLUICE_OS_FILE_H
#define SLUICE_OS_FILE_H

#include <stddef.h>

#include "base/str.h"

/* Appends a file's content, no more than `most` bytes of it; 0 or an errno. Files of /proc and
 * /sys, too, whose size is not known beforehand. */
int file_read(const char *path, size_t most, struct str *ret);
/* The path goes from an open directory. */
int file_read_at(int at, const char *path, size_t most, struct str *ret);

#endif
