/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurmstepd as the supervisor of the programs around a job (Prolog, Epilog):
 *
 *     slurmstepd script RECORD SECONDS WHAT PROGRAM…
 *
 * Runs the programs one after the other in its own environment, until one fails; kills the one that
 * runs, with its session, when SECONDS (0 = never) are over. RECORD is a file: "running PID START
 * BOOT" (os/process.h), then "done PROBLEM", both put in place as a whole. When it is there already
 * another supervisor is at work, and this one ends at once.
 */
#ifndef SLUICE_SLURMSTEPD_SCRIPT_H
#define SLUICE_SLURMSTEPD_SCRIPT_H

int script_main(int argc, char **argv);

#endif
