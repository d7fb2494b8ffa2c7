/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the n-th call of a system function fail. The functions are defined in the test's executable
 * and so take the place of the C library's for all shared libraries, SQLite's included.
 */
#ifndef SLUICE_TESTS_INJECT_H
#define SLUICE_TESTS_INJECT_H

#include <stdbool.h>

enum inject_call {
    INJECT_WRITE = 1u << 0, /* write, pwrite, writev, sendmsg */
    INJECT_SYNC = 1u << 1,  /* fsync, fdatasync */
    INJECT_READ = 1u << 2,  /* read, recvmsg */
    INJECT_FORK = 1u << 3,
    INJECT_SHORT =
        1u << 4, /* with INJECT_WRITE: half of the bytes are written before the failure */
};

/* From now on the n-th (1 = next) call of the kinds fails with errnum; `sticky`: and all after it.
 */
void inject_arm(unsigned calls, unsigned n, int errnum, bool sticky);
/* Disarms; true when the failure has happened. */
bool inject_disarm(void);

#endif
