/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the store keeps of the past goes when it is older than sluice_keep_history. With slurmdbd
 * history goes when it is delivered, and slurmdbd's settings say how long it is kept there. Scripts
 * and environments that AccountingStoreFlags keeps go with their jobs.
 */
#include "slurmctld/ctld.h"

#define EVERY_USEC 3600000000u
/* Not what the cluster has, of which only the last row counts and has no end. */
#define KINDS                                                                                      \
    (1u << HISTORY_RUN | 1u << HISTORY_SUPERSEDED | 1u << HISTORY_CHANGE | 1u << HISTORY_OUTAGE |  \
     1u << HISTORY_SCRIPT)

static void purge(void *context) {
    struct ctld *ctld = context;
    uint64_t age = ctld->conf->slurmctld.keep_history;
    int64_t now = ctld_now(ctld);
    struct store_batch *batch = store_batch_new();
    if (age > 0 && age < (uint64_t) now && ctld->deliver == NULL)
        store_batch_history_purge(batch, now - (int64_t) age, KINDS);
    store_batch_orphans(batch, STORE_KEPT_SCRIPT, STORE_JOB_SCRIPT);
    store_submit(ctld->store, batch, NULL, NULL);
    loop_timer_set(ctld->purge_timer, loop_monotonic_usec() + EVERY_USEC);
}

void history_purge_start(struct ctld *ctld) {
    if (ctld->purge_timer == NULL)
        ctld->purge_timer = loop_timer_add(ctld->loop, purge, ctld);
    purge(ctld);
}

void history_purge_stop(struct ctld *ctld) {
    loop_timer_free(ctld->purge_timer);
    ctld->purge_timer = NULL;
}
