/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Durable records in one SQLite file: what the controller must not forget. A record is bytes under
 * (kind, id); finished jobs also go to an append-only history table that can be searched. Changes
 * are collected in batches; a batch is stored as a whole or not at all. A worker thread commits
 * them, and what is submitted while a commit runs shares the next one (group commit).
 *
 * Threads: everything here is called in the loop's thread, and every callback runs there.
 */
#ifndef SLUICE_OS_STORE_H
#define SLUICE_OS_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "os/loop.h"

struct store;

/* Opens or creates the file (mode 0600). Open after daemonising: the lock names this process.
 * Errors name the file and the cure: ERR_BUSY another process has it (named), ERR_VERSION written
 * by a newer release (above schema_version), ERR_CORRUPT, ERR_DISK_FULL, ERR_STORE. */
must_check int store_open(const char *path, unsigned schema_version, struct loop *loop,
                          struct store **ret, struct error *err);
/* Commits what was submitted, then closes. Outstanding callbacks run from the loop (or loop_free).
 * NULL is ignored. */
void store_close(struct store *store);
/* The schema version that the file had when it was opened; 0 = it is new. */
unsigned store_found_version(const struct store *store);

/* ---- writing ---- */
struct store_batch;
struct store_batch *store_batch_new(void);
void store_batch_free(struct store_batch *batch); /* only for one that was not submitted */
/* Data is copied. Later operations of a batch see earlier ones. */
void store_batch_put(struct store_batch *batch, unsigned kind, uint64_t id, struct bytes data);
void store_batch_delete(struct store_batch *batch, unsigned kind, uint64_t id);

/* Rows of kinds above this one are few beside the others: they are found by an index. */
#define STORE_KIND_JOBS 2
#define STORE_KIND_JOBS_TEXT "2"

struct store_history {
    uint64_t seq; /* ascending; given by the store */
    uint64_t job_id;
    uint64_t array_id; /* under which it is asked for as well; 0 = none */
    uid_t uid;
    int64_t submit, start, end; /* seconds; 0 = never */
    unsigned state, kind;       /* the caller's numbers; kind 0…31 */
    struct bytes data;
};
void store_batch_history(struct store_batch *batch, const struct store_history *row);
/* Deletes rows of these kinds (a bit mask) with end < before. */
void store_batch_history_purge(struct store_batch *batch, int64_t before, uint32_t kinds);
/* Deletes records of `kind` whose id no row of history has as its job or array, nor any record of
 * the kind `alive`. */
void store_batch_orphans(struct store_batch *batch, unsigned kind, unsigned alive);
/* Deletes rows up to this number: they are kept elsewhere now. */
void store_batch_history_forget(struct store_batch *batch, uint64_t last_seq);

/* Takes the batch. done(0, …) when it is durable, in the order of submission; on failure (a full
 * disk: ERR_DISK_FULL) nothing of it is stored, nor of those submitted with it or after it before
 * the failure was known: what is stored is always a prefix of what was submitted. The store stays
 * usable. done may be NULL. */
void store_submit(struct store *store, struct store_batch *batch,
                  void (*done)(int code, const struct error *err, void *context), void *context);
/* Blocks until all that was submitted is committed or has failed; for shutting down. */
void store_flush(struct store *store);
struct store_stats {
    uint64_t n_batches, n_commits, n_failures, commit_usec_total, commit_usec_max;
    size_t n_queued; /* batches not yet committed */
};
void store_stats(struct store *store, struct store_stats *ret);

/* ---- reading what is committed ---- */
/* Calls fn for each record of a kind by ascending id; data is valid during the call. A negative
 * return of fn ends the scan and is returned. */
must_check int store_scan(struct store *store, unsigned kind,
                          int (*fn)(uint64_t id, struct bytes data, void *context,
                                    struct error *err),
                          void *context, struct error *err);
/* Appends the record's bytes to ret. ERR_NOT_FOUND. */
must_check int store_get(struct store *store, unsigned kind, uint64_t id, struct str *ret,
                         struct error *err);

/* Rows of history that come now have numbers above this one; waits for a commit that is under way.
 */
must_check int store_history_base(struct store *store, uint64_t seq, struct error *err);
/* How many rows of history there are, and the last time that the oldest of them names. */
void store_history_waiting(struct store *store, uint64_t *ret_n, int64_t *ret_since);

/* ---- searching history, in a reader thread ---- */
#define STORE_ANY_UID ((uid_t) -1)
#define STORE_JOBS_MAX 10000 /* job ids in one filter */
struct store_filter {
    const uint64_t *job_ids; /* of jobs and arrays; n_job_ids 0 = all; copied */
    size_t n_job_ids;
    uid_t uid;          /* STORE_ANY_UID = all */
    int64_t from, to;   /* rows that were in the system at some time in [from, to): end >= from and
                           submit < to; 0, 0 = no window */
    uint32_t kinds;     /* bit mask of kinds, 0 = all */
    uint64_t after_seq; /* only rows behind this one, whose end is after_end: the next page */
    int64_t after_end;
    unsigned limit; /* rows, 0 = 1000 */
};
struct store_query;
/* Rows come by ascending seq, in a window by ascending end and seq, in one or more calls; the last
 * one has is_last set (perhaps with no rows), or err->code set. Ask page by page (limit, after_seq)
 * for long answers: a page lies in memory as a whole. */
struct store_query *store_history_query(struct store *store, const struct store_filter *filter,
                                        void (*fn)(const struct store_history *rows, size_t n,
                                                   bool is_last, const struct error *err,
                                                   void *context),
                                        void *context);
/* fn will not be called any more; not for a query that has seen is_last or an error. */
void store_query_cancel(struct store_query *query);

#endif
