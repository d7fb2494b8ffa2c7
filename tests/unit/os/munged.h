/* SPDX-License-Identifier: Apache-2.0 */
/* A private munged with a key of its own, for tests that authenticate; include after unit.h. */
#ifndef SLUICE_TESTS_MUNGED_H
#define SLUICE_TESTS_MUNGED_H

#include <sys/types.h>

/* For what this machine or user does not have. (cmocka's skip() prints "not ok", which fails.) */
#define NEED(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            print_message("# skipped: needs " #condition "\n");                                    \
            return;                                                                                \
        }                                                                                          \
    } while (0)

struct munged {
    char dir[64];
    char socket[96]; /* what auth_encode() and rpc_auth take */
    pid_t pid;
};

/* Returns 0, or -1 when munged is not installed (the test should skip()). Aborts when it does not
 * start. */
int munged_start(struct munged *munged);
void munged_stop(struct munged *munged); /* also removes its directory */

#endif
