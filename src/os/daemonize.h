/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Going to the background with an honest exit status: the starting process waits until the daemon
 * says that it works, or why it does not.
 */
#ifndef SLUICE_OS_DAEMONIZE_H
#define SLUICE_OS_DAEMONIZE_H

#include "base/error.h"

struct daemonize {
    int status_fd; /* -1 when not daemonised: the calls below do nothing */
};
#define DAEMONIZE_INIT                                                                             \
    { -1 }

/* Forks. Returns 0 in the daemon (new session, directory /, standard input from /dev/null; standard
 * output and error stay until daemonize_ready). Returns in the starting process 1 when the daemon
 * is ready (exit with 0), or the daemon's own error (print it, exit with 1). Call before any thread
 * is started or lock taken. */
must_check int daemonize(struct daemonize *ret, struct error *err);
/* In the daemon: lets the starting process end with success, output goes to /dev/null from here. */
void daemonize_ready(struct daemonize *daemon);
/* In the daemon, before it exits: hands the reason to the starting process. */
void daemonize_failed(struct daemonize *daemon, const struct error *why);

#endif
