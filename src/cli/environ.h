/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment that a job takes along: which variables --export lets through, as one block of
 * "NAME=value", each ended by NUL.
 */
#ifndef SLUICE_CLI_ENVIRON_H
#define SLUICE_CLI_ENVIRON_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

/* Appends what `export` (NULL = ALL) makes of envp. Variables of an outer job that describe its
 * shape are left out, so that a job submitted from inside another does not inherit it. */
void environ_capture(char *const *envp, const char *export, struct str *out);
/* Does this value of --export ask for the login environment on the node (NONE, or a list without
 * ALL)? */
bool environ_wants_login(const char *export);
/* Sets or replaces NAME in the block. */
void environ_set(struct str *block, const char *name, const char *value);
void environ_unset(struct str *block, const char *name);
/* Value in the block, or NULL. */
const char *environ_get(const struct str *block, const char *name);
/* The block of --export-file: NUL-separated NAME=value; anything else in it is dropped. */
void environ_from_file(struct bytes text, struct str *out);

#endif
