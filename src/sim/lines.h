/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of a text file that may be packed: gzip and xz are known by their first bytes, several
 * packed members in one file follow each other. Memory is bounded whatever the file holds.
 */
#ifndef SLUICE_SIM_LINES_H
#define SLUICE_SIM_LINES_H

#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

#define LINES_LENGTH_MAX (64 * 1024)          /* bytes of a line */
#define LINES_UNPACK_MEMORY_MAX (256ul << 20) /* bytes that xz may use */

struct lines;

/* "-" is standard input. `path` is borrowed for messages. */
must_check int lines_open(const char *path, struct lines **ret, struct error *err);
/* Borrowed bytes in place of a file; `name` is for messages. */
struct lines *lines_of_bytes(struct bytes text, const char *name);
void lines_close(struct lines *lines);
/* 1 with the next line (no line break, NUL-terminated, the caller's to change until the next call),
 * 0 at the end, or an error whose sentence names file and line. */
must_check int lines_next(struct lines *lines, char **ret_line, struct error *err);
uint64_t lines_number(const struct lines *lines); /* of the line last read, from 1 */
const char *lines_name(const struct lines *lines);

#endif
