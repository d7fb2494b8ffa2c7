/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurmstepd as the supervisor of the programs around a job (Prolog, Epilog):
 *
 *     slurmstepd script RECORD SECONDS WHAT PROGRAM…
 *
 * Runs the programs one after the other in its own environment, until one fails; kills the one that
 * runs, with its session, when SECONDS (0 = never) are over. RECORD is a file: "running PID START
 * BOOT" (os/proc.h), then "done PROBLEM", both put in place as a whole. When it is there already
 * another supervisor is at work, and this one ends at once.
 */
#ifndef SLUICE_SLURMSTEPD_SCRIPT_H
#define SLUICE_SLURMSTEPD_SCRIPT_H

#include <stdint.h>

#include "base/str.h"

int script_main(int argc, char **argv);

/* One program, as root, waited for. */
struct script_program {
    const char *what, *path; /* "Prolog" */
    char *const *envp;
    unsigned long seconds; /* 0 = no limit */
    uint64_t deadline;     /* loop_monotonic_usec(); 0 = by seconds, from now on */
    int namespace_fd;      /* a mount namespace to run in, -1 = ours */
};
/* Appends what went wrong, nothing if all is well. */
void script_run_program(const struct script_program *program, struct str *problem);

#endif
