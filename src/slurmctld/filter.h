/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JobSubmitPlugins=lua: submissions and changes of jobs go through job_submit.lua before the core
 * sees them. The script runs in a process of its own (filter_process.c), one call after the other,
 * so that it can take its time, or for ever, without holding up anybody but those whose requests
 * wait for it, and can be ended. A connection whose request waits is not read on: its requests stay
 * in order. What the script has made of a request goes through the core's checks like any other.
 *
 * A request whose connection is known to be gone when its turn comes is dropped: nobody was told
 * that it was taken.
 */
#ifndef SLUICE_SLURMCTLD_FILTER_H
#define SLUICE_SLURMCTLD_FILTER_H

#include "slurmctld/ctld.h"

/* Requests that wait at most, and what they weigh; more are told to come back later. */
#define FILTER_QUEUE_MAX 10000
#define FILTER_QUEUE_BYTES_MAX (256u << 20)
/* Jobs of one update: the script looks at each, one after the other. */
#define FILTER_JOBS_MAX 1000

/* Does this request go through the filter? */
bool filter_wants(const struct ctld *ctld, uint16_t type, const void *body);
/* Takes it over; the answer follows. `body` is copied. */
void filter_take(struct client *client, const struct rpc_message *message, const void *body);
/* The configuration may be another one: the script is read again before the next request. */
void filter_restart(struct ctld *ctld);
void filter_free(struct ctld *ctld);
/* What the filter has let through: continues in requests.c. `body` is the request's record. */
void request_filtered(struct client *client, uint16_t type, uint32_t seq, void *body);

/* slurmctld --filter SCRIPT CLUSTER MEMORY_BYTES USEC: the other side; its socket is FILTER_FD. */
#define FILTER_FD 3
int filter_process(int argc, char **argv);

#endif
