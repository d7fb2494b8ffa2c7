/* SPDX-License-Identifier: Apache-2.0 */
/* Pseudo-terminals; see pty.h. */
#include "os/pty.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/alloc.h"

int pty_open(struct pty_size size, uid_t uid, int *ret_master, int *ret_slave, struct error *err) {
    cleanup_fd int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
        return error_errno(err, errno,
                           "cannot open a pseudo-terminal (is /dev/pts mounted, and "
                           "kernel.pty.max high enough?)");
    char name[64];
    int errnum = ptsname_r(master, name, sizeof(name));
    if (errnum != 0)
        return error_errno(err, errnum, "cannot name the pseudo-terminal");
    cleanup_fd int slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (slave < 0)
        return error_errno(err, errno, "cannot open %s", name);
    if (geteuid() == 0 && fchown(slave, uid, (gid_t) -1) < 0)
        return error_errno(err, errno, "cannot give %s to uid %u", name, (unsigned) uid);
    int r = size.rows && size.columns ? pty_resize(master, size, err) : 0;
    if (r < 0)
        return r;
    *ret_master = take_fd(&master);
    *ret_slave = take_fd(&slave);
    return 0;
}

int pty_resize(int fd, struct pty_size size, struct error *err) {
    struct winsize value = {.ws_row = size.rows, .ws_col = size.columns};
    if (ioctl(fd, TIOCSWINSZ, &value) < 0)
        return error_errno(err, errno, "cannot set the terminal's size");
    return 0;
}

bool pty_get_size(int fd, struct pty_size *ret) {
    struct winsize value;
    if (ioctl(fd, TIOCGWINSZ, &value) < 0)
        return false;
    *ret = (struct pty_size) {.rows = value.ws_row, .columns = value.ws_col};
    return true;
}

int pty_raw(int fd, struct termios *ret_saved, struct error *err) {
    struct termios saved;
    if (tcgetattr(fd, &saved) < 0)
        return error_errno(err, errno, "cannot read the terminal's settings");
    struct termios raw = saved;
    cfmakeraw(&raw);
    if (tcsetattr(fd, TCSADRAIN, &raw) < 0)
        return error_errno(err, errno, "cannot change the terminal's settings");
    *ret_saved = saved;
    return 0;
}

void pty_restore(int fd, const struct termios *saved) {
    tcsetattr(fd, TCSADRAIN, saved);
}
