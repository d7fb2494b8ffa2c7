/* SPDX-License-Identifier: Apache-2.0 */
/* Where the configuration lies on disk: the search order and the reading of files. */
#ifndef SLUICE_OS_CONF_FILE_H
#define SLUICE_OS_CONF_FILE_H

#include "base/error.h"
#include "base/str.h"

/* Tried last, where a build with another prefix finds nothing in its own. */
#define CONF_FILE_FALLBACK "/etc/slurm/slurm.conf"

/*
 * The path of slurm.conf: `option` (a daemon's -f, or NULL), then the environment's SLURM_CONF,
 * then the directory that the build was configured for, then /etc/slurm. The first two count even
 * if there is no such file, so that a typing error does not start another cluster. A program that
 * has more rights than who called it (su, with our PAM module) does not ask the environment.
 */
void conf_file_path(const char *option, struct str *ret);

/* Reads a whole file, for `struct conf_source`; context is not used. -ERR_NOT_FOUND when it does
 * not exist, -ERR_LIMIT above 64 MiB. Never waits: what is no plain file is refused. */
must_check int conf_file_read(void *context, const char *path, struct str *ret, struct error *err);

#endif
