/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Huge pages for a daemon's heap. A controller with 100,000 jobs walks some 200 MiB for a listing;
 * with pages of 4 KiB it then waits for address translation most of the time (measured: four times
 * longer). Systems where huge pages come on request only ("madvise", the usual setting) give them
 * to glibc's malloc by a tunable that is read before main().
 */
#ifndef SLUICE_OS_HUGEPAGES_H
#define SLUICE_OS_HUGEPAGES_H

/* To be called first in main(): starts the program again, once, with the tunable in its
 * environment, and takes it out again so that children do not inherit it. Does nothing where
 * GLIBC_TUNABLES is set already or the program cannot be started again. */
void huge_pages_use(char **argv);

#endif
