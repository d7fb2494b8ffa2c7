/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by store.c (opening, reading), store_write.c (batches, the writer thread),
 * store_log.c (what commits are written to) and store_history.c (searching, the reader thread). */
#ifndef SLUICE_OS_STORE_INTERNAL_H
#define SLUICE_OS_STORE_INTERNAL_H

#include <pthread.h>
#include <sqlite3.h>

#include "base/list.h"
#include "base/vec.h"
#include "os/store.h"

enum store_op_type { OP_PUT, OP_DELETE, OP_HISTORY, OP_PURGE, OP_FORGET, OP_ORPHANS };

struct store_op {
    enum store_op_type type;
    unsigned kind;
    uint64_t id;
    struct store_history row; /* OP_HISTORY; OP_PURGE uses end and kind, OP_FORGET seq */
    size_t offset, size;      /* of the data in batch->data */
};

struct store_batch {
    struct list link;
    vec(struct store_op) ops;
    struct str data;
    void (*done)(int code, const struct error *err, void *context);
    void *context;
    int code;
    struct error *err; /* only after a failure */
};

struct writer {
    sqlite3 *db;
    sqlite3_stmt *put, *delete, *history, *purge, *forget, *orphans;
    int n_log_pages; /* that the last commit has left in the log; the writer thread's */
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct list queue; /* of struct store_batch, under lock, as all below */
    size_t n_queued;   /* in the queue or being committed */
    bool ends;
    struct store_stats stats;
};

struct reader {
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct list queue; /* of struct store_query */
    bool ends;
};

struct store {
    char *path;
    int lock_fd;
    struct loop *loop;
    unsigned found_version;
    sqlite3 *db; /* the loop thread's, for reading */
    struct writer writer;
    struct reader reader;
};

/* Opens one more connection to the store's file. */
must_check int store_connect(const char *path, bool is_writer, sqlite3 **ret, struct error *err);
/* Sentence and code for what went wrong last on db. */
int store_error(sqlite3 *db, int code, const char *path, const char *what, struct error *err);
must_check int store_prepare(sqlite3 *db, const char *path, const char *sql, sqlite3_stmt **ret,
                             struct error *err);

must_check int writer_start(struct store *store, struct error *err);
void writer_stop(struct store *store);   /* after committing the queue */
void log_prepare(struct writer *writer); /* when its db is open: see store_log.c */
void log_fold(struct writer *writer);    /* into the database, when it has become long */
void reader_init(struct store *store);   /* the thread starts with the first query */
void reader_stop(struct store *store);   /* outstanding queries end with ERR_CLOSED */

/* Starts a thread with all signals blocked. */
must_check int store_thread(pthread_t *ret, void *(*run)(void *), void *argument,
                            struct error *err);

#endif
