/* SPDX-License-Identifier: Apache-2.0 */
/* Pseudo-terminals for srun --pty, and the user's own terminal in raw mode at the other end. */
#ifndef SLUICE_OS_PTY_H
#define SLUICE_OS_PTY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

#include "base/error.h"

struct pty_size {
    uint16_t rows, columns;
};

/* Both ends are close-on-exec; the master is non-blocking. The slave belongs to uid afterwards when
 * we are root. */
must_check int pty_open(struct pty_size size, uid_t uid, int *ret_master, int *ret_slave,
                        struct error *err);
/* The foreground processes get SIGWINCH when the size changes. */
must_check int pty_resize(int fd, struct pty_size size, struct error *err);
/* Size of the terminal at fd; false when it is none. */
bool pty_get_size(int fd, struct pty_size *ret);
/* Passes every key on untouched. *ret_saved is for pty_restore(). */
must_check int pty_raw(int fd, struct termios *ret_saved, struct error *err);
void pty_restore(int fd, const struct termios *saved);

#endif
