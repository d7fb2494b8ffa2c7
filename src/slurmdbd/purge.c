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
#include "model/conf_table.h"
#include "os/log.h"
#include "slurmdbd/dbd.h"
#include "text/calendar.h"
#include "text/timestamp.h"

static const struct kind {
    enum acct_object object;
    const char *what, *word; /* word: of sacctmgr archive */
    size_t after, archive;   /* where the settings are in struct conf_dbd */
} kinds[] = {
    {ACCT_OBJECT_JOB, "jobs", "jobs", offsetof(struct conf_dbd, purge_job_after),
     offsetof(struct conf_dbd, archive_jobs)},
    {ACCT_OBJECT_EVENT, "events", "events", offsetof(struct conf_dbd, purge_event_after),
     offsetof(struct conf_dbd, archive_events)},
    {ACCT_OBJECT_RESERVATION, "reservations", "reservations",
     offsetof(struct conf_dbd, purge_resv_after), offsetof(struct conf_dbd, archive_resvs)},
    {ACCT_OBJECT_TRANSACTION, "changes", "txn", offsetof(struct conf_dbd, purge_txn_after),
     offsetof(struct conf_dbd, archive_txn)},
    {ACCT_OBJECT_USAGE, "hours of usage", "usage", offsetof(struct conf_dbd, purge_usage_after),
     offsetof(struct conf_dbd, archive_usage)},
    {ACCT_OBJECT_SCRIPT, "scripts", "scripts", offsetof(struct conf_dbd, purge_job_script_after),
     offsetof(struct conf_dbd, archive_job_script)},
    {ACCT_OBJECT_CLUSTER_USAGE, "hours of the cluster's usage", "usage",
     offsetof(struct conf_dbd, purge_usage_after), offsetof(struct conf_dbd, archive_usage)},
};

struct purge {
    struct task task;
    struct dbd *dbd;
    const struct kind *kind;
    char *cluster, *archive_dir; /* NULL: of all; no archive */
    int64_t before;
    uint64_t limit, n; /* n: in all */
    bool more;
};

static int purge_work(struct task *task, struct acct *acct, struct error *err) {
    struct purge *purge = container_of(task, struct purge, task);
    uint64_t n = 0;
    int r = acct_purge(acct, purge->cluster, purge->kind->object, purge->before, purge->archive_dir,
                       purge->limit, &n, err);
    purge->n += n;
    purge->more = r == 0 && purge->limit > 0 && n >= purge->limit;
    return r;
}

static void purge_done(struct task *task) {
    struct purge *purge = container_of(task, struct purge, task);
    struct str before cleanup_str = STR_INIT;
    const char *of = purge->cluster ? " of cluster " : "";
    const char *cluster = purge->cluster ? purge->cluster : "";
    if (purge->more) { /* deliveries that wait come first */
        purge->task = (struct task) {.work = purge_work, .done = purge_done};
        worker_submit(purge->dbd->writer, &purge->task);
        return;
    }
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
        purge->limit = dbd->conf->max_purge_limit;
        worker_submit(dbd->writer, &purge->task);
    }
}

/* ---- sacctmgr archive ---- */

struct archive {
    struct task task;
    struct dbd *dbd;
    uint64_t client;
    uint32_t seq;
    struct archive_request *request; /* owned */
    char *directory;                 /* owned */
    uint64_t ages[countof(kinds)];   /* 0: not this kind */
    struct strs clusters;
    struct str text;
};

static int dump_one(struct archive *archive, struct acct *acct, size_t kind, const char *cluster,
                    struct error *err) {
    struct str before cleanup_str = STR_INIT;
    int64_t cut = calendar_cut(dbd_now(), archive->ages[kind]);
    uint64_t n = 0;
    int r = acct_purge(acct, cluster, kinds[kind].object, cut, archive->directory, 0, &n, err);
    timestamp_print(cut, NULL, 0, &before);
    if (r == 0 && n > 0)
        str_printf(&archive->text, "  %llu %s%s%s from before %s\n", (unsigned long long) n,
                   kinds[kind].what, cluster != NULL ? " of cluster " : "",
                   cluster != NULL ? cluster : "", str_cstr(&before));
    return r;
}

static int archive_work(struct task *task, struct acct *acct, struct error *err) {
    struct archive *archive = container_of(task, struct archive, task);
    const struct archive_request *request = archive->request;
    uint64_t n = 0;
    if (request->file != NULL) {
        int r = acct_archive_load(acct, request->file, &n, err);
        if (r == 0)
            str_printf(&archive->text, " Loaded %llu rows of %s\n", (unsigned long long) n,
                       request->file);
        return r;
    }
    int r = acct_cluster_names(acct, &archive->clusters, err);
    for (size_t kind = 0; kind < countof(kinds); kind++) {
        bool of_all = kinds[kind].object == ACCT_OBJECT_TRANSACTION;
        if (archive->ages[kind] == 0)
            continue;
        for (uint32_t i = 0; r == 0 && !of_all && i < archive->clusters.n; i++)
            r = dump_one(archive, acct, kind, archive->clusters.items[i], err);
        if (r == 0 && of_all)
            r = dump_one(archive, acct, kind, NULL, err);
    }
    return r;
}

static void archive_done(struct task *task) {
    struct archive *archive = container_of(task, struct archive, task);
    struct client *client = client_find(archive->dbd, archive->client);
    struct assoc_changed reply;
    dbd_note_database(archive->dbd, task);
    record_init(&record_assoc_changed, &reply);
    cleanup_free char *text =
        archive->text.length > 0 && archive->request->file == NULL
            ? xasprintf(" Archived in %s and purged:\n%s", archive->directory, archive->text.data)
            : xstrdup_null(archive->text.data);
    reply.text = text;
    if (text != NULL)
        log_info("sacctmgr archive:%s", text);
    if (client != NULL && task->code < 0)
        reply_error_text(client, archive->seq, task->code, task->err.text);
    else if (client != NULL)
        reply_record(client, MSG_ASSOC_CHANGED, archive->seq, &reply);
    record_free(&record_archive_request, archive->request);
    free(archive->directory);
    strs_done(&archive->clusters);
    str_done(&archive->text);
    free(archive);
}

/* The age of one kind that was asked for, from its word on the command line or the configuration;
 * false: it is not known. */
static bool age_read(struct archive *archive, const struct key_value *item) {
    const char *conf = (const char *) archive->dbd->conf;
    bool known = false;
    for (size_t kind = 0; kind < countof(kinds); kind++) {
        uint64_t age = *(const uint64_t *) (conf + kinds[kind].after);
        if (!str_equal(item->key, kinds[kind].word))
            continue;
        if (item->value != NULL && !conf_age_read(item->value, &age))
            return false;
        archive->ages[kind] = age;
        known = true;
    }
    return known;
}

static int no_age(const char *what, struct error *err) {
    return error_set(err, ERR_INVALID,
                     "from which age on are %s to be archived? Neither the command nor "
                     "slurmdbd.conf says: add an age such as purgejobafter=12months, "
                     "purgeeventafter=90days or purgetxnafter=48hours, or set Purge...After there",
                     what);
}

/* Which kinds, and from which age on. */
static int ages_read(struct archive *archive, struct error *err) {
    const char *conf = (const char *) archive->dbd->conf;
    const struct archive_request *request = archive->request;
    bool any = false;
    for (size_t kind = 0; request->kinds.n == 0 && kind < countof(kinds); kind++) {
        archive->ages[kind] = *(const uint64_t *) (conf + kinds[kind].after);
        any |= archive->ages[kind] != 0;
    }
    if (request->kinds.n == 0)
        return any ? 0 : no_age("records", err);
    for (uint32_t i = 0; i < request->kinds.n; i++) {
        if (!age_read(archive, &request->kinds.items[i]))
            return error_set(err, ERR_INVALID,
                             "what is archived is events, jobs, reservations, txn or usage, from "
                             "an age as 12months, 90days or 48hours on");
    }
    for (size_t kind = 0; kind < countof(kinds); kind++) {
        for (uint32_t i = 0; i < request->kinds.n; i++) {
            if (str_equal(request->kinds.items[i].key, kinds[kind].word) &&
                archive->ages[kind] == 0)
                return no_age(kinds[kind].what, err);
        }
    }
    return 0;
}

void purge_archive(struct client *client, uint32_t seq, const void *body) {
    const struct archive_request *request = body;
    struct archive *archive = zalloc(struct archive);
    archive->task = (struct task) {.work = archive_work, .done = archive_done};
    archive->dbd = client->dbd;
    archive->client = client->id;
    archive->seq = seq;
    archive->request = record_dup(&record_archive_request, request);
    archive->directory =
        xstrdup(request->directory != NULL ? request->directory : client->dbd->conf->archive_dir);
    archive->text = (struct str) STR_INIT;
    if (client->dbd->conf->disable_archive_commands)
        archive->task.code = error_set(&archive->task.err, ERR_NOT_SUPPORTED,
                                       "slurmdbd.conf has DisableArchiveCommands");
    else if (request->file == NULL)
        archive->task.code = ages_read(archive, &archive->task.err);
    if (archive->task.code < 0)
        archive_done(&archive->task);
    else
        worker_submit(client->dbd->writer, &archive->task);
}
