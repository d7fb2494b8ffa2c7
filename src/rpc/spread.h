/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file to many nodes: the upper side of the tree through which it goes. Nodes are divided among a
 * few connections; the first of each part takes the file and passes it on to the rest of its part
 * in the same way. Used by sbcast at the root, and by every process below that writes (slurmstepd).
 *
 *   down  FILE_OPEN, FILE_DATA … the last one          up  FILE_RESULT twice (model/messages.h)
 *
 * Whoever cannot be reached takes its part along: each of its nodes counts as failed, once.
 */
#ifndef SLUICE_RPC_SPREAD_H
#define SLUICE_RPC_SPREAD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"
#include "model/messages.h"
#include "rpc/rpc.h"

#define SPREAD_FANOUT 8 /* by default: connections of one process */
#define SPREAD_FANOUT_MAX 64

struct spread;
struct spread_handlers {
    void (*ready)(void *context);   /* every node waits for data, or has failed */
    void (*drained)(void *context); /* it is full no longer */
    void (*over)(void *context);    /* every node has ended, well or not */
};
/* Dials; handlers are called from the loop only. open (without its children) and nodes must live as
 * long as the spread. server_uid is slurmd's user. n may be 0: ready and over follow at once. */
struct spread *spread_new(struct loop *loop, const struct rpc_auth *auth, uid_t server_uid,
                          const struct file_open *open, const struct step_node *nodes, size_t n,
                          const struct spread_handlers *handlers, void *context);
/* Ends all connections: no handler is called any more. Then free the loop, then the spread. NULL is
 * ignored by both. */
void spread_close(struct spread *spread);
void spread_free(struct spread *spread);
/* body is a FILE_DATA; it is copied to each connection. */
void spread_send(struct spread *spread, struct bytes body);
/* Enough is queued: wait for `drained`. */
bool spread_is_full(const struct spread *spread);
/* Appends the failures that have come since the last call to `out`: texts are the arena's. */
void spread_failures(struct spread *spread, struct arena *arena, struct file_failure **ret,
                     size_t *ret_n);

#endif
