/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests whose dependencies name jobs that have left the controller (core/bygone.h): what has
 * become of those is looked up in history, in the store's and, where there is one, in slurmdbd's,
 * before the core sees the request. A connection whose request waits is not read on, so that its
 * requests stay in order. slurmdbd is waited for only so long: what it would have told is unknown
 * then, and who is refused for that is told so.
 */
#ifndef SLUICE_SLURMCTLD_BYGONE_H
#define SLUICE_SLURMCTLD_BYGONE_H

#include "core/bygone.h"
#include "slurmctld/ctld.h"

/* Requests that wait at most; more go on without what history knows. */
#define BYGONE_QUEUE_MAX 10000

/* True: the request has been taken over, and its answer follows. `body` is copied. */
bool bygone_take(struct client *client, uint32_t seq, uint16_t type, const void *body);
void bygone_stop(struct ctld *ctld); /* before the loop ends, which may still hand it answers */
void bygone_free(struct ctld *ctld); /* after it */
/* What has been looked up: continues in requests.c. */
void request_informed(struct client *client, uint16_t type, uint32_t seq, void *body,
                      const struct bygone *bygone);

#endif
