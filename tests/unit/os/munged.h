/* SPDX-License-Identifier: Apache-2.0 */
/* A private munged with a key of its own, for tests that authenticate; include after unit.h. */
#ifndef SLUICE_TESTS_MUNGED_H
#define SLUICE_TESTS_MUNGED_H

#include <sys/types.h>

struct munged {
    char dir[64];
    char socket[96]; /* what auth_encode() and rpc_auth take */
    pid_t pid;
};

/* Returns 0, or -1 when munged is not installed: then tests NEED it in vain. Aborts when it does
 * not start. */
int munged_start(struct munged *munged);
void munged_stop(struct munged *munged); /* also removes its directory */

#endif
