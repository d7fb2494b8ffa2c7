/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directories that are private to a job on a node (NamespaceType=namespace/tmpfs, formerly
 * job_container/tmpfs): a mount namespace in which /tmp, /dev/shm or others are the job's own.
 *
 *   BASE           BasePath/JOB, root's alone; bound to itself so that what is mounted below it
 *                  goes nowhere else
 *   BASE/dir_N     the job's directory for the Nth of Dirs; /dev/shm is a tmpfs instead
 *   BASE/.ns       the namespace, kept by a bind mount (mount_namespaces(7)) and not by a process
 *
 * The extern step makes them, every slurmstepd of the job enters before it does anything, and
 * slurmd has them removed when nothing of the job is left.
 */
#ifndef SLUICE_SLURMSTEPD_PLACES_H
#define SLUICE_SLURMSTEPD_PLACES_H

#include "agent/step_wire.h"
#include "base/error.h"

/* By the extern step. An error leaves what was made; places_remove_main() removes it. */
must_check int places_make(const struct step_order *order, struct error *err);
/* The calling process, which must have one thread, goes into the namespace of `base`, to its "/".
 */
must_check int places_enter(const char *base, struct error *err);
/* slurmstepd remove-places BASE [PROGRAM]: runs the program (CloneNSEpilog) inside, then removes
 * everything. What is gone already is no error; what cannot be removed is printed. */
int places_remove_main(int argc, char **argv);

#endif
