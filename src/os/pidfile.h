/* SPDX-License-Identifier: Apache-2.0 */
/* The file that names a daemon's process, locked as long as it runs. */
#ifndef SLUICE_OS_PIDFILE_H
#define SLUICE_OS_PIDFILE_H

#include "base/error.h"

/* Creates or takes over path, writes our number, and keeps it locked until *ret_fd is closed.
 * ERR_BUSY names the process that holds it. Call after daemonising. */
must_check int pidfile_create(const char *path, int *ret_fd, struct error *err);
/* Removes the file and closes fd. */
void pidfile_remove(const char *path, int fd);

#endif
