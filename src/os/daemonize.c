/* SPDX-License-Identifier: Apache-2.0 */
/* Going to the background; see daemonize.h. The pipe carries a struct error, code 0 for "ready". */
#include "os/daemonize.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"

static void move_to_null(int fd) {
    cleanup_fd int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0)
        dup2(null, fd);
}

/* In the starting process: what does the daemon say? */
static int wait_for_status(int fd, pid_t middle, struct error *err) {
    struct error status;
    size_t got = 0;
    for (;;) {
        ssize_t n = read(fd, (char *) &status + got, sizeof(status) - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        got += (size_t) n;
    }
    while (waitpid(middle, NULL, 0) < 0 && errno == EINTR)
        ;
    if (got < sizeof(status))
        return error_set(err, ERR_GENERIC, "the daemon died while it started; see its log");
    if (status.code == 0)
        return 1;
    if (err)
        *err = status;
    return status.code;
}

int daemonize(struct daemonize *ret, struct error *err) {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) < 0)
        return error_errno(err, errno, "cannot go to the background");
    pid_t pid = fork();
    if (pid < 0) {
        int errnum = errno;
        close(fds[0]);
        close(fds[1]);
        return error_errno(err, errnum, "cannot go to the background");
    }
    if (pid > 0) {
        close(fds[1]);
        int r = wait_for_status(fds[0], pid, err);
        close(fds[0]);
        return r;
    }
    close(fds[0]);
    *ret = (struct daemonize) {.status_fd = fds[1]};
    /* The second fork leaves a process that leads no session: it can never get a terminal. */
    if (setsid() < 0 || (pid = fork()) < 0) {
        struct error why = ERROR_INIT;
        error_errno(&why, errno, "cannot go to the background");
        daemonize_failed(ret, &why);
        _exit(1);
    }
    if (pid > 0)
        _exit(0);
    if (chdir("/") < 0) {
        /* Cannot happen; and a daemon in another directory works as well. */
    }
    move_to_null(STDIN_FILENO);
    return 0;
}

static void send_status(struct daemonize *daemon, const struct error *status) {
    if (daemon->status_fd < 0)
        return;
    ssize_t n = write(daemon->status_fd, status, sizeof(*status)); /* less than PIPE_BUF: whole */
    (void) n;
    close(daemon->status_fd);
    daemon->status_fd = -1;
}

void daemonize_ready(struct daemonize *daemon) {
    if (daemon->status_fd < 0)
        return;
    struct error none = ERROR_INIT;
    send_status(daemon, &none);
    move_to_null(STDOUT_FILENO);
    move_to_null(STDERR_FILENO);
}

void daemonize_failed(struct daemonize *daemon, const struct error *why) {
    struct error status = *why;
    if (status.code == 0)
        status.code = -ERR_GENERIC;
    send_status(daemon, &status);
}
