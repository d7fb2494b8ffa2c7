/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The accounting database: jobs, outages, changes and the book of several clusters, in SQLite,
 * MariaDB or PostgreSQL. One connection, used by one thread at a time; every call blocks, so a
 * worker thread owns it. Several processes and connections may use one database.
 *
 * Each call that changes something is one transaction: after an error nothing of it is stored.
 * ERR_BUSY: the database cannot be reached or is locked; the same call may be made again later,
 * which connects again. Other errors (db.h lists them) do not go away by themselves. Sentences name
 * the database and the cure.
 *
 * Times are seconds since the epoch. Texts need not be UTF-8; what is searched for by name is
 * compared by its first 250 bytes.
 */
#ifndef SLUICE_ACCT_ACCT_H
#define SLUICE_ACCT_ACCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acct/location.h"
#include "base/buf.h"
#include "base/error.h"
#include "model/acct_messages.h"
#include "schema/schema.h"

struct acct;

/* Connects, and makes or migrates the tables.
 * ERR_VERSION: they are of a newer release. */
must_check int acct_open(const struct acct_location *location, struct acct **ret,
                         struct error *err);
void acct_close(struct acct *acct); /* NULL is ignored */
/* For sentences, without the password. */
const char *acct_name(const struct acct *acct);

/* ---- clusters ---- */
/* Stores what a controller says of its cluster (name, host, port, version, nodes, TRES, key); one
 * that is new is added. ERR_EXISTS: another controller (another key) has this name; `cluster->key`
 * empty takes it over, and no event of that controller is stored yet, whatever its numbers are.
 * `created` and `last_seq` are the database's. */
must_check int acct_cluster_put(struct acct *acct, const struct acct_cluster *cluster, int64_t now,
                                struct error *err);
/* The cluster and all that belongs to it. ERR_NOT_FOUND. */
must_check int acct_cluster_remove(struct acct *acct, const char *name, struct error *err);
/* Adds the names of all clusters. */
must_check int acct_cluster_names(struct acct *acct, struct strs *names, struct error *err);
/* By name. The record is valid during the call; a negative return of fn ends it and is returned. */
must_check int acct_clusters(struct acct *acct,
                             int (*fn)(const struct acct_cluster *cluster, void *context,
                                       struct error *err),
                             void *context, struct error *err);
/* The number of the last event that is stored; 0 = none, or no such cluster. */
must_check int acct_last_seq(struct acct *acct, const char *cluster, uint64_t *ret,
                             struct error *err);

/* ---- events in ---- */
struct acct_ingested {
    uint64_t last_seq;   /* stored now: all up to here need not come again */
    unsigned n_new;      /* the others had been stored before */
    unsigned n_rejected; /* could not be read; kept in the table rejected, with the reason */
};
/* Stores events, by ascending seq, in one transaction; the cluster is added where it is new. Events
 * up to the last stored number are skipped, so each counts once however often it is sent. */
must_check int acct_ingest(struct acct *acct, const char *cluster, const struct acct_event *events,
                           size_t n, struct acct_ingested *ret, struct error *err);

/* ---- jobs ---- */
/* Empty lists and zeros let everything pass. Names are compared exactly. ERR_LIMIT: more
 * words than one statement takes; 4096 ids, 500 of them tasks, and 4096 others always go. */
struct acct_job_filter {
    struct strs clusters;
    struct strs ids; /* "12" (and all tasks of array 12), "12_3" */
    struct u32s uids, gids;
    struct strs accounts, partitions, names, qos, wckeys;
    uint64_t states;    /* bit per base state, with the meaning of the window below */
    const char *nodes;  /* host list: jobs that had one of them */
    int64_t start, end; /* the window [start, end]; end 0 = open */
    bool duplicates;    /* also earlier runs of requeued jobs */
};
/* Jobs in the window: without states those that were in the system (submitted, not ended) at some
 * time in it; with states those that were in one of them in the window: a final state, ended in it;
 * RUNNING, ran in it; PENDING, waited in it. `submitted` counts from eligibility where the job has
 * become eligible. */

/* The jobs that a filter finds, as they are known when it is asked, by cluster, job id and run.
 * What is kept is 24 bytes a job; records come from the database page by page, other calls may be
 * made between pages. */
struct acct_job_list;
must_check int acct_jobs_find(struct acct *acct, const struct acct_job_filter *filter,
                              struct acct_job_list **ret, struct error *err);
size_t acct_jobs_count(const struct acct_job_list *list);
/* Calls fn for up to `most` more of them. Returns how many are left, negative on errors; a negative
 * return of fn is one. record: encoded record_acct_job, valid during the call. */
struct acct_job_row {
    const char *cluster;
    uint64_t db_index;
    uint32_t job_id, uid;
    struct bytes record;
};
must_check int64_t acct_jobs_next(struct acct_job_list *list, size_t most,
                                  int (*fn)(const struct acct_job_row *row, void *context,
                                            struct error *err),
                                  void *context, struct error *err);
void acct_jobs_done(struct acct_job_list *list); /* NULL is ignored */

/* What is kept of the submission of a job or array, encoded record_job_script: of those of this
 * number the last that was submitted by then. ERR_NOT_FOUND. */
must_check int acct_script(struct acct *acct, const char *cluster, uint32_t job_id,
                           int64_t submitted, struct str *ret, struct error *err);

/* Jobs of a cluster that have no end and are not among `known` (ascending numbers of runs,
 * db_index, that the controller has): the controller has forgotten them. */
must_check int acct_runaways(struct acct *acct, const char *cluster, const uint64_t *known,
                             size_t n_known, struct acct_job_list **ret, struct error *err);
/* Ends runs of a cluster that have no end, among those of `runs` (ascending), or all of them: with
 * this state, at `end`, or where that is 0 at the last time that is known of them, so that they
 * have used nothing. Each page of them is a transaction. ret_n: how many that were. */
must_check int acct_runs_close(struct acct *acct, const char *cluster, const uint64_t *runs,
                               size_t n, bool all, uint32_t state, int64_t end, uint64_t *ret_n,
                               struct error *err);

/* ---- outages, capacities, changes ---- */
struct acct_event_filter {
    struct strs clusters;
    const char *nodes;  /* host list */
    int64_t start, end; /* that were open at some time in [start, end]; end 0 = open */
    struct strs users;  /* transactions: actors */
    struct strs reasons;
    struct strs actions;
    bool only_open;
};
/* By start, clusters' own and nodes'. Records are valid during the call. */
must_check int acct_outages(struct acct *acct, const struct acct_event_filter *filter,
                            int (*fn)(const struct acct_outage *outage, void *context,
                                      struct error *err),
                            void *context, struct error *err);
must_check int acct_capacities(struct acct *acct, const struct acct_event_filter *filter,
                               int (*fn)(const struct acct_capacity *capacity, void *context,
                                         struct error *err),
                               void *context, struct error *err);
must_check int acct_transactions(struct acct *acct, const struct acct_event_filter *filter,
                                 int (*fn)(const struct acct_transaction *transaction,
                                           void *context, struct error *err),
                                 void *context, struct error *err);
must_check int acct_reservations(struct acct *acct, const struct acct_event_filter *filter,
                                 int (*fn)(const struct acct_reservation *reservation,
                                           void *context, struct error *err),
                                 void *context, struct error *err);

/* ---- usage, summed up by hours, days and months of the local calendar ---- */
/* Sums up what a cluster's jobs used and what became of its capacity, up to the last full hour
 * before `now`, from where it was left or from where something has changed since. Each few days are
 * a transaction of their own. ret_until: how far it is now. */
must_check int acct_rollup(struct acct *acct, const char *cluster, int64_t now, int64_t *ret_until,
                           struct error *err);

struct acct_usage_filter {
    struct strs clusters, accounts, users, qos, wckeys;
    int64_t start, end; /* [start, end) cut to full hours; end 0 = as far as it is summed up */
    unsigned by;        /* enum usage_by */
};
/* Members that rows are not told apart by are "". */
must_check int acct_usage(struct acct *acct, const struct acct_usage_filter *filter,
                          int (*fn)(const struct usage_row *row, void *context, struct error *err),
                          void *context, struct error *err);
must_check int acct_utilization(struct acct *acct, const struct strs *clusters, int64_t start,
                                int64_t end,
                                int (*fn)(const struct cluster_use *row, void *context,
                                          struct error *err),
                                void *context, struct error *err);

/* ---- moving and keeping ---- */
/* All of one database into an empty one, of any two kinds, as it is at one moment; other processes
 * may go on using the first. ret_rows: how many rows. ERR_EXISTS: the second is not empty. */
must_check int acct_copy(struct acct *from, struct acct *to, uint64_t *ret_rows, struct error *err);

enum acct_object {
    ACCT_OBJECT_JOB = 1, /* by their end, with their steps */
    ACCT_OBJECT_EVENT,   /* outages that are over */
    ACCT_OBJECT_RESERVATION,
    ACCT_OBJECT_TRANSACTION,
    ACCT_OBJECT_USAGE, /* sums of hours; those of days and months are few and stay */
    ACCT_OBJECT_CLUSTER_USAGE,
    ACCT_OBJECT_SCRIPT, /* and environments, by their submission */
};
/* Removes what of a cluster is older than `before`, in one transaction: of jobs and events full
 * hours that have been summed up, of usage those whose month has been. Changes belong to no
 * cluster: `cluster` is not looked at. With archive_dir they go after they are in a new file there
 * (mode 0600), <cluster>_<job|event|resv|txn|usage|cluster_usage|script>_archive_<begin>_<end>.
 * limit (0 = none): no more than the oldest so many rows, and others of their hour or month.
 * ret_n: how many rows that were. */
must_check int acct_purge(struct acct *acct, const char *cluster, enum acct_object object,
                          int64_t before, const char *archive_dir, uint64_t limit, uint64_t *ret_n,
                          struct error *err);
/* Takes rows of an archive that are not here. ret_n: how many those were. */
must_check int acct_archive_load(struct acct *acct, const char *path, uint64_t *ret_n,
                                 struct error *err);
/* A new, empty SQLite file that only its owner may read; ERR_EXISTS. It may be opened then. */
must_check int acct_file_make(const char *path, struct error *err);
/* Whether all of it is in the one file, when nobody has it open any more. */
must_check int acct_file_check(const char *path, struct error *err);
void acct_file_unlink(const char *path);

/* ---- the book ---- */
/* Entries are bytes under (cluster, kind, id); what they are is src/assoc's. cluster "": of all. */
struct acct_book_edit {
    const char *cluster;
    uint32_t kind;
    uint64_t id;
    struct bytes record; /* size 0: it goes */
};
/* Stores edits, in their order, and the notes of who made them, in one transaction. ret_version:
 * the book's number after it, one more than before. */
must_check int acct_book_apply(struct acct *acct, const struct acct_book_edit *edits, size_t n,
                               const struct acct_transaction *transactions, size_t n_transactions,
                               uint64_t *ret_version, struct error *err);
/* 0: nothing has ever been stored. */
must_check int acct_book_version(struct acct *acct, uint64_t *ret, struct error *err);
/* Those of one cluster ("": those of all) by kind and id. */
must_check int acct_book_load(struct acct *acct, const char *cluster,
                              int (*fn)(uint32_t kind, uint64_t id, struct bytes record,
                                        void *context, struct error *err),
                              void *context, struct error *err);

#endif
