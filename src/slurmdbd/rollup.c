/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Summing up usage: at the start, then a minute behind each full hour, one cluster after the other.
 * It runs in the writer's thread, where nothing is delivered meanwhile; each cluster is a task of
 * its own, so that deliveries get their turn.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "os/log.h"
#include "slurmdbd/dbd.h"

#define FIRST_USEC 2000000u
#define HOUR 3600
#define BEHIND 60 /* seconds behind the hour, for what is on its way */

struct rollup {
    struct task task;
    struct dbd *dbd;
    char *cluster; /* NULL: finds the clusters */
    struct strs found;
    int64_t until;
    uint64_t usec; /* what it took */
};

static void rollup_submit(struct dbd *dbd, const char *cluster);

static int rollup_work(struct task *task, struct acct *acct, struct error *err) {
    struct rollup *rollup = container_of(task, struct rollup, task);
    if (rollup->cluster == NULL)
        return acct_cluster_names(acct, &rollup->found, err);
    uint64_t start = loop_monotonic_usec();
    int r = acct_rollup(acct, rollup->cluster, dbd_now(), &rollup->until, err);
    rollup->usec = loop_monotonic_usec() - start;
    return r;
}

static void rollup_done(struct task *task) {
    struct rollup *rollup = container_of(task, struct rollup, task);
    dbd_note_database(rollup->dbd, task);
    if (task->code < 0 && task->code != -ERR_BUSY && task->code != -ERR_CLOSED)
        log_error("usage%s%s could not be summed up: %s", rollup->cluster ? " of cluster " : "",
                  rollup->cluster ? rollup->cluster : "", task->err.text);
    else if (task->code == 0 && rollup->cluster != NULL)
        log_debug("usage of cluster %s is summed up to %lld", rollup->cluster,
                  (long long) rollup->until);
    if (task->code == 0 && rollup->cluster != NULL)
        stats_count_rollup(rollup->dbd, rollup->usec);
    for (uint32_t i = 0; task->code == 0 && i < rollup->found.n; i++)
        rollup_submit(rollup->dbd, rollup->found.items[i]);
    if (task->code == 0)
        purge_submit(rollup->dbd, rollup->cluster);
    strs_done(&rollup->found);
    free(rollup->cluster);
    free(rollup);
}

static void rollup_submit(struct dbd *dbd, const char *cluster) {
    struct rollup *rollup = zalloc(struct rollup);
    rollup->task = (struct task) {.work = rollup_work, .done = rollup_done};
    rollup->dbd = dbd;
    rollup->cluster = cluster != NULL ? xstrdup(cluster) : NULL;
    worker_submit(dbd->writer, &rollup->task);
}

static void on_hour(void *context) {
    struct dbd *dbd = context;
    int64_t wait = HOUR + BEHIND - dbd_now() % HOUR;
    rollup_submit(dbd, NULL);
    loop_timer_set(dbd->rollup_timer, loop_monotonic_usec() + (uint64_t) wait * 1000000);
}

void rollup_start(struct dbd *dbd) {
    dbd->rollup_timer = loop_timer_add(dbd->loop, on_hour, dbd);
    loop_timer_set(dbd->rollup_timer, loop_monotonic_usec() + FIRST_USEC);
}
