/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is older than Purge…After goes, after it has been archived where Archive… says so. How old
 * is counted from the start of the present hour, day or month, by the unit of the age, so that rows
 * go when the next one starts. It is looked at each time usage has been summed up and needs no
 * memory of its own; what could not be purged then is purged an hour later.
 */
#include <stddef.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "os/log.h"
#include "slurmdbd/dbd.h"
#include "text/calendar.h"
#include "text/timestamp.h"

static const struct kind {
    enum acct_object object;
    const char *what;
    size_t after, archive; /* where the settings are in struct conf_dbd */
} kinds[] = {
    {ACCT_OBJECT_JOB, "jobs", offsetof(struct conf_dbd, purge_job_after),
     offsetof(struct conf_dbd, archive_jobs)},
    {ACCT_OBJECT_EVENT, "events", offsetof(struct conf_dbd, purge_event_after),
     offsetof(struct conf_dbd, archive_events)},
    {ACCT_OBJECT_RESERVATION, "reservations", offsetof(struct conf_dbd, purge_resv_after),
     offsetof(struct conf_dbd, archive_resvs)},
    {ACCT_OBJECT_TRANSACTION, "changes", offsetof(struct conf_dbd, purge_txn_after),
     offsetof(struct conf_dbd, archive_txn)},
    {ACCT_OBJECT_USAGE, "hours of usage", offsetof(struct conf_dbd, purge_usage_after),
     offsetof(struct conf_dbd, archive_usage)},
    {ACCT_OBJECT_CLUSTER_USAGE, "hours of the cluster's usage",
     offsetof(struct conf_dbd, purge_usage_after), offsetof(struct conf_dbd, archive_usage)},
};

struct purge {
    struct task task;
    struct dbd *dbd;
    const struct kind *kind;
    char *cluster, *archive_dir; /* NULL: of all; no archive */
    int64_t before;
    uint64_t n;
};

static int purge_work(struct task *task, struct acct *acct, struct error *err) {
    struct purge *purge = container_of(task, struct purge, task);
    return acct_purge(acct, purge->cluster, purge->kind->object, purge->before, purge->archive_dir,
                      &purge->n, err);
}

static void purge_done(struct task *task) {
    struct purge *purge = container_of(task, struct purge, task);
    struct str before cleanup_str = STR_INIT;
    const char *of = purge->cluster ? " of cluster " : "";
    const char *cluster = purge->cluster ? purge->cluster : "";
    timestamp_print(purge->before, NULL, 0, &before);
    dbd_note_database(purge->dbd, task);
    if (task->code < 0 && task->code != -ERR_BUSY && task->code != -ERR_CLOSED)
        log_error("%s%s%s from before %s could not be purged: %s", purge->kind->what, of, cluster,
                  str_cstr(&before), task->err.text);
    else if (task->code == 0 && purge->n > 0)
        log_info("%llu %s%s%s from before %s have been purged%s%s", (unsigned long long) purge->n,
                 purge->kind->what, of, cluster, str_cstr(&before),
                 purge->archive_dir ? ", and are in an archive in " : "",
                 purge->archive_dir ? purge->archive_dir : "");
    free(purge->cluster);
    free(purge->archive_dir);
    free(purge);
}

void purge_submit(struct dbd *dbd, const char *cluster) {
    const char *conf = (const char *) dbd->conf;
    for (size_t i = 0; i < countof(kinds); i++) {
        const struct kind *kind = &kinds[i];
        uint64_t age = *(const uint64_t *) (conf + kind->after);
        bool of_all = kind->object == ACCT_OBJECT_TRANSACTION;
        if (age == 0 || of_all != (cluster == NULL))
            continue;
        bool archives = *(const bool *) (conf + kind->archive);
        struct purge *purge = zalloc(struct purge);
        purge->task = (struct task) {.work = purge_work, .done = purge_done};
        purge->dbd = dbd;
        purge->kind = kind;
        purge->cluster = xstrdup_null(cluster);
        purge->archive_dir = archives ? xstrdup(dbd->conf->archive_dir) : NULL;
        purge->before = calendar_cut(dbd_now(), age);
        worker_submit(dbd->writer, &purge->task);
    }
}
