/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking nodes what steps use at this moment: many at once, a bounded number of connections at a
 * time, a deadline for all. A node that does not answer costs its own figures only.
 */
#ifndef SLUICE_CLI_STEP_STATS_H
#define SLUICE_CLI_STEP_STATS_H

#include "base/arena.h"
#include "base/error.h"
#include "model/conf.h"
#include "model/messages.h"

/* One step on one node. */
struct step_stat_ask {
    uint32_t job_id, step_id;
    const char *node, *address;
    uint16_t port;
    /* the answer, in the arena; NULL: err says why */
    const struct step_stat_reply *reply;
    struct error err;
};

/* Fills reply or err of every question. Blocks for MessageTimeout at most. An error here means that
 * nothing could be asked at all. */
must_check int step_stats_ask(const struct conf *conf, struct step_stat_ask *asks, size_t n,
                              struct arena *arena, struct error *err);

#endif
