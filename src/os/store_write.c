/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches and the writer thread. The thread takes all batches that wait, writes them in one
 * transaction and posts their ends to the loop in order. When that transaction fails and held
 * several batches, they are tried one by one, and the first failure fails all that follow: a later
 * batch may build on an earlier one.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "os/store_internal.h"

/* ---- batches ---- */

struct store_batch *store_batch_new(void) {
    struct store_batch *batch = zalloc(struct store_batch);
    list_init(&batch->link);
    return batch;
}

void store_batch_free(struct store_batch *batch) {
    if (!batch)
        return;
    vec_done(&batch->ops);
    str_done(&batch->data);
    free(batch->err);
    free(batch);
}

static struct store_op *batch_add(struct store_batch *batch, enum store_op_type type,
                                  struct bytes data) {
    struct store_op *op = vec_add(&batch->ops);
    op->type = type;
    op->offset = batch->data.length;
    op->size = data.size;
    str_append_bytes(&batch->data, data.data, data.size);
    return op;
}

void store_batch_put(struct store_batch *batch, unsigned kind, uint64_t id, struct bytes data) {
    struct store_op *op = batch_add(batch, OP_PUT, data);
    op->kind = kind;
    op->id = id;
}

void store_batch_delete(struct store_batch *batch, unsigned kind, uint64_t id) {
    struct store_op *op = batch_add(batch, OP_DELETE, (struct bytes) {0});
    op->kind = kind;
    op->id = id;
}

void store_batch_history(struct store_batch *batch, const struct store_history *row) {
    assert(row->kind < 32);
    struct store_op *op = batch_add(batch, OP_HISTORY, row->data);
    op->row = *row;
    op->row.data = (struct bytes) {0};
}

void store_batch_history_purge(struct store_batch *batch, int64_t before, uint32_t kinds) {
    struct store_op *op = batch_add(batch, OP_PURGE, (struct bytes) {0});
    op->row.end = before;
    op->row.kind = kinds;
}

void store_batch_orphans(struct store_batch *batch, unsigned kind, unsigned alive) {
    struct store_op *op = batch_add(batch, OP_ORPHANS, (struct bytes) {0});
    op->kind = kind;
    op->id = alive;
}

void store_batch_history_forget(struct store_batch *batch, uint64_t last_seq) {
    batch_add(batch, OP_FORGET, (struct bytes) {0})->row.seq = last_seq;
}

/* ---- writing one ---- */

static void bind_data(sqlite3_stmt *statement, int column, const struct store_batch *batch,
                      const struct store_op *op) {
    if (op->size == 0)
        sqlite3_bind_zeroblob(statement, column, 0);
    else
        sqlite3_bind_blob64(statement, column, batch->data.data + op->offset, op->size,
                            SQLITE_STATIC);
}

static sqlite3_stmt *op_bind(struct writer *writer, const struct store_batch *batch,
                             const struct store_op *op) {
    const struct store_history *row = &op->row;
    sqlite3_stmt *statement = NULL;
    switch (op->type) {
    case OP_PUT:
        statement = writer->put;
        sqlite3_bind_int64(statement, 1, op->kind);
        sqlite3_bind_int64(statement, 2, (int64_t) op->id);
        bind_data(statement, 3, batch, op);
        break;
    case OP_DELETE:
        statement = writer->delete;
        sqlite3_bind_int64(statement, 1, op->kind);
        sqlite3_bind_int64(statement, 2, (int64_t) op->id);
        break;
    case OP_HISTORY:
        statement = writer->history;
        sqlite3_bind_int64(statement, 1, (int64_t) row->job_id);
        sqlite3_bind_int64(statement, 2, row->uid);
        sqlite3_bind_int64(statement, 3, row->submit);
        sqlite3_bind_int64(statement, 4, row->start);
        sqlite3_bind_int64(statement, 5, row->end);
        sqlite3_bind_int64(statement, 6, row->state);
        sqlite3_bind_int64(statement, 7, row->kind);
        bind_data(statement, 8, batch, op);
        sqlite3_bind_int64(statement, 9, (int64_t) row->array_id);
        break;
    case OP_PURGE:
        statement = writer->purge;
        sqlite3_bind_int64(statement, 1, row->end);
        sqlite3_bind_int64(statement, 2, row->kind);
        break;
    case OP_ORPHANS:
        statement = writer->orphans;
        sqlite3_bind_int64(statement, 1, op->kind);
        sqlite3_bind_int64(statement, 2, (int64_t) op->id);
        break;
    case OP_FORGET:
        statement = writer->forget;
        sqlite3_bind_int64(statement, 1, (int64_t) row->seq);
        break;
    }
    return statement;
}

static int batch_write(struct writer *writer, const struct store_batch *batch) {
    for (size_t i = 0; i < batch->ops.n; i++) {
        sqlite3_stmt *statement = op_bind(writer, batch, &batch->ops.items[i]);
        int code = sqlite3_step(statement);
        sqlite3_reset(statement);
        if (code != SQLITE_DONE)
            return code;
    }
    return SQLITE_OK;
}

/* ---- writing many ---- */

static int exec(sqlite3 *db, const char *sql) {
    return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

/* Writes the batches from `first` up to (not including) `end` in one transaction. */
static int transaction(struct store *store, struct list *first, struct list *end,
                       struct error *err) {
    sqlite3 *db = store->writer.db;
    int code = exec(db, "BEGIN IMMEDIATE");
    for (struct list *node = first; code == SQLITE_OK && node != end; node = node->next)
        code = batch_write(&store->writer, list_entry(node, struct store_batch, link));
    if (code == SQLITE_OK)
        code = exec(db, "COMMIT");
    if (code == SQLITE_OK)
        return 0;
    int r = store_error(db, code, store->path, "write", err);
    if (!sqlite3_get_autocommit(db)) /* some failures have rolled back already */
        exec(db, "ROLLBACK");
    return r;
}

static bool has_work(const struct list *group) {
    list_each (group, node)
        if (list_entry(node, struct store_batch, link)->ops.n > 0)
            return true;
    return false;
}

static void batch_fail(struct store_batch *batch, const struct error *err) {
    batch->code = err->code;
    batch->err = xmemdup(err, sizeof(*err));
}

static void commit_group(struct store *store, struct list *group) {
    struct error err = ERROR_INIT;
    if (!has_work(group) || transaction(store, group->next, group, &err) == 0)
        return;
    bool is_single = group->next->next == group;
    bool has_failed = is_single;
    if (is_single)
        batch_fail(list_entry(group->next, struct store_batch, link), &err);
    for (struct list *node = group->next; !is_single && node != group; node = node->next) {
        struct store_batch *batch = list_entry(node, struct store_batch, link);
        if (!has_failed)
            has_failed = transaction(store, node, node->next, &err) < 0;
        if (has_failed)
            batch_fail(batch, &err);
    }
}

/* ---- the ends, in the loop's thread ---- */

static void group_done(void *context) {
    struct list *group = context;
    list_each (group, node) {
        struct store_batch *batch = list_entry(node, struct store_batch, link);
        static const struct error none = ERROR_INIT;
        list_remove(node);
        if (batch->done)
            batch->done(batch->code, batch->err ? batch->err : &none, batch->context);
        store_batch_free(batch);
    }
    free(group);
}

/* ---- the thread ---- */

static void take_all(struct list *from, struct list *to) {
    list_init(to);
    while (!list_is_empty(from)) {
        struct list *node = from->next;
        list_remove(node);
        list_append(to, node);
    }
}

static void count_group(struct writer *writer, struct list *group, uint64_t usec) {
    list_each (group, node) {
        writer->n_queued--;
        writer->stats.n_batches++;
        if (list_entry(node, struct store_batch, link)->code < 0)
            writer->stats.n_failures++;
    }
    writer->stats.n_commits++;
    writer->stats.commit_usec_total += usec;
    writer->stats.commit_usec_max = max_of(writer->stats.commit_usec_max, usec);
}

static void *writer_run(void *argument) {
    struct store *store = argument;
    struct writer *writer = &store->writer;
    pthread_mutex_lock(&writer->lock);
    for (;;) {
        while (list_is_empty(&writer->queue) && !writer->ends)
            pthread_cond_wait(&writer->changed, &writer->lock);
        if (list_is_empty(&writer->queue))
            break;
        struct list *group = xmalloc(sizeof(*group));
        take_all(&writer->queue, group);
        pthread_mutex_unlock(&writer->lock);
        uint64_t before = loop_monotonic_usec();
        commit_group(store, group);
        uint64_t usec = loop_monotonic_usec() - before;
        pthread_mutex_lock(&writer->lock);
        count_group(writer, group, usec);
        loop_post(store->loop, group_done, group);
        pthread_cond_broadcast(&writer->changed);
        pthread_mutex_unlock(&writer->lock);
        log_fold(writer);
        pthread_mutex_lock(&writer->lock);
    }
    pthread_mutex_unlock(&writer->lock);
    return NULL;
}

int writer_start(struct store *store, struct error *err) {
    struct writer *writer = &store->writer;
    const struct {
        sqlite3_stmt **statement;
        const char *sql;
    } statements[] = {
        {&writer->put, "INSERT OR REPLACE INTO record (kind, id, data) VALUES (?1, ?2, ?3)"},
        {&writer->delete, "DELETE FROM record WHERE kind = ?1 AND id = ?2"},
        {&writer->history, "INSERT INTO history (job_id, uid, submit, start, \"end\", state, kind, "
                           "data, array_id) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"},
        {&writer->purge, "DELETE FROM history WHERE \"end\" < ?1 AND ((1 << kind) & ?2) <> 0"},
        {&writer->orphans,
         "DELETE FROM record WHERE kind = ?1 AND id NOT IN (SELECT id FROM record WHERE kind = ?2) "
         "AND NOT EXISTS (SELECT 1 FROM history WHERE job_id = record.id) "
         "AND NOT EXISTS (SELECT 1 FROM history WHERE array_id = record.id)"},
        {&writer->forget, "DELETE FROM history WHERE seq <= ?1"},
    };
    for (size_t i = 0; i < countof(statements); i++) {
        int r =
            store_prepare(writer->db, store->path, statements[i].sql, statements[i].statement, err);
        if (r < 0)
            return r;
    }
    log_prepare(writer);
    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->changed, NULL);
    list_init(&writer->queue);
    int r = store_thread(&writer->thread, writer_run, store, err);
    writer->has_thread = r == 0;
    return r;
}

void writer_stop(struct store *store) {
    struct writer *writer = &store->writer;
    if (writer->has_thread) {
        pthread_mutex_lock(&writer->lock);
        writer->ends = true;
        pthread_cond_broadcast(&writer->changed);
        pthread_mutex_unlock(&writer->lock);
        pthread_join(writer->thread, NULL);
        pthread_mutex_destroy(&writer->lock);
        pthread_cond_destroy(&writer->changed);
    }
    sqlite3_finalize(writer->put);
    sqlite3_finalize(writer->delete);
    sqlite3_finalize(writer->history);
    sqlite3_finalize(writer->purge);
    sqlite3_finalize(writer->forget);
    sqlite3_finalize(writer->orphans);
    sqlite3_close(writer->db);
}

/* ---- for the loop's thread ---- */

void store_submit(struct store *store, struct store_batch *batch,
                  void (*done)(int code, const struct error *err, void *context), void *context) {
    assert(store && batch);
    batch->done = done;
    batch->context = context;
    struct writer *writer = &store->writer;
    pthread_mutex_lock(&writer->lock);
    list_append(&writer->queue, &batch->link);
    writer->n_queued++;
    pthread_cond_broadcast(&writer->changed);
    pthread_mutex_unlock(&writer->lock);
}

void store_flush(struct store *store) {
    struct writer *writer = &store->writer;
    pthread_mutex_lock(&writer->lock);
    while (writer->n_queued > 0)
        pthread_cond_wait(&writer->changed, &writer->lock);
    pthread_mutex_unlock(&writer->lock);
}

void store_stats(struct store *store, struct store_stats *ret) {
    struct writer *writer = &store->writer;
    pthread_mutex_lock(&writer->lock);
    *ret = writer->stats;
    ret->n_queued = writer->n_queued;
    pthread_mutex_unlock(&writer->lock);
}
