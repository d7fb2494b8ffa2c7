/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that the configuration names, run by a daemon in its loop: in a process group of their
 * own, with nothing but /dev/null to read, and with a limit of time, after which the whole group is
 * killed. What they print goes to the caller line by line, usually to the log.
 */
#ifndef SLUICE_OS_PROGRAM_H
#define SLUICE_OS_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/str.h"
#include "os/loop.h"

/* Of what a program prints so much is passed on, the rest is read and dropped. */
#define PROGRAM_OUTPUT_MAX 65536u

struct program {
    char *const *argv;     /* argv[0] is the path of the program */
    char *const *envp;     /* ends with NULL */
    const char *directory; /* NULL = as ours */
    bool has_identity;     /* the next four: as another user */
    uid_t uid;
    gid_t gid;
    const gid_t *groups;
    size_t n_groups;
    uint32_t timeout;                              /* seconds, 0 = none */
    void (*line)(const char *text, void *context); /* what it printed, without the line's end */
    /* It has ended: wait status (as waitpid). What it left running in the background stays. */
    void (*ended)(int status, bool timed_out, void *context);
    void *context;
};

/* Starts it; all that `program` points to may go afterwards, except the context. An error means
 * that neither callback will be called. */
must_check int program_start(struct loop *loop, const struct program *program, struct error *err);
/* "exit status 3", "killed by signal 9", "killed after 60 s". */
void program_status_print(int status, bool timed_out, uint32_t timeout, struct str *out);

#endif
