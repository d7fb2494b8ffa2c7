/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Searching history in a thread of its own with its own connection, so that a long search delays
 * neither the loop nor a commit. Rows are copied to chunks; a chunk is posted to the loop. A
 * cancelled query is freed by its last post.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "os/store_internal.h"

#define CHUNK_ROWS 256
#define LIMIT_DEFAULT 1000
#define LIMIT_MAX 100000

struct store_query {
    struct list link;
    struct store *store;
    struct store_filter filter;
    uint64_t *job_ids;
    bool is_cancelled; /* only the loop's thread */
    void (*fn)(const struct store_history *rows, size_t n, bool is_last, const struct error *err,
               void *context);
    void *context;
};

struct chunk {
    struct store_query *query;
    vec(struct store_history) rows; /* data.data is set when the chunk is delivered */
    struct str data;
    bool is_last;
    struct error err;
};

static void query_free(struct store_query *query) {
    free(query->job_ids);
    free(query);
}

/* ---- in the loop's thread ---- */

static void chunk_deliver(void *context) {
    struct chunk *chunk = context;
    struct store_query *query = chunk->query;
    size_t offset = 0;
    vec_each (&chunk->rows, row) {
        row->data.data = (const uint8_t *) str_cstr(&chunk->data) + offset;
        offset += row->data.size;
    }
    bool is_end = chunk->is_last || chunk->err.code != 0;
    if (!query->is_cancelled)
        query->fn(chunk->rows.items, chunk->rows.n, chunk->is_last, &chunk->err, query->context);
    if (is_end)
        query_free(query);
    vec_done(&chunk->rows);
    str_done(&chunk->data);
    free(chunk);
}

void store_query_cancel(struct store_query *query) {
    query->is_cancelled = true;
}

/* ---- in the reader thread ---- */

static struct chunk *chunk_new(struct store_query *query) {
    struct chunk *chunk = zalloc(struct chunk);
    chunk->query = query;
    return chunk;
}

static void query_fail(struct store_query *query, const struct error *err) {
    struct chunk *chunk = chunk_new(query);
    chunk->err = *err;
    loop_post(query->store->loop, chunk_deliver, chunk);
}

/* A window is gone through by the ends of jobs, from its beginning on until no job that has lasted
 * as long as any ever did can have come before its end; behind the row that was given last. */
static const char window_sql[] =
    " AND \"end\" >= max(?3, ?7) AND (\"end\" > ?7 OR seq > ?1) AND submit < ?4 AND \"end\" <= ?4 "
    "+ "
    "(SELECT \"end\" - submit FROM history ORDER BY \"end\" - submit DESC LIMIT 1)";

/* As a list, which the index of rows that are few is made for. */
static void kinds_sql(uint32_t kinds, struct str *sql) {
    const char *before = " AND kind > " STORE_KIND_JOBS_TEXT " AND kind IN (";
    for (unsigned kind = 0; kind < 32; kind++) {
        if (!((kinds >> kind) & 1))
            continue;
        str_printf(sql, "%s%u", before, kind);
        before = ", ";
    }
    str_append_char(sql, ')');
}

static void query_sql(const struct store_query *query, struct str *sql) {
    const struct store_filter *filter = &query->filter;
    bool window = filter->from != 0 || filter->to != 0;
    bool few = filter->kinds != 0 && (filter->kinds & ((2u << STORE_KIND_JOBS) - 1)) == 0;
    str_append(sql,
               "SELECT seq, job_id, uid, submit, start, \"end\", state, kind, data FROM history ");
    if (few)
        str_append(sql, "INDEXED BY history_few ");
    str_append(sql, window ? "WHERE true" : "WHERE seq > ?1");
    if (window)
        str_append(sql, window_sql);
    if (filter->uid != STORE_ANY_UID)
        str_append(sql, filter->n_job_ids > 0 ? " AND +uid = ?2" : " AND uid = ?2");
    if (few)
        kinds_sql(filter->kinds, sql);
    else if (filter->kinds != 0)
        str_append(sql, " AND (1 << kind) & ?5");
    if (filter->n_job_ids > 0) {
        struct str ids cleanup_str = STR_INIT;
        for (size_t i = 0; i < filter->n_job_ids; i++)
            str_printf(&ids, i == 0 ? "%lld" : ",%lld", (long long) query->job_ids[i]);
        /* Rows of older releases do not tell their array. */
        str_printf(sql, " AND (job_id IN (%s) OR array_id IN (%s) OR array_id IS NULL)",
                   str_cstr(&ids), str_cstr(&ids));
    }
    str_append(sql, window ? " ORDER BY \"end\", seq LIMIT ?6" : " ORDER BY seq LIMIT ?6");
}

static void query_bind(const struct store_query *query, sqlite3_stmt *statement) {
    const struct store_filter *filter = &query->filter;
    unsigned limit = filter->limit ? min_of(filter->limit, (unsigned) LIMIT_MAX) : LIMIT_DEFAULT;
    sqlite3_bind_int64(statement, 1, (int64_t) filter->after_seq);
    sqlite3_bind_int64(statement, 2, filter->uid);
    sqlite3_bind_int64(statement, 3, filter->from);
    sqlite3_bind_int64(statement, 4, filter->to);
    sqlite3_bind_int64(statement, 5, filter->kinds);
    sqlite3_bind_int64(statement, 6, limit);
    sqlite3_bind_int64(statement, 7, filter->after_seq > 0 ? filter->after_end : INT64_MIN);
}

static void chunk_add(struct chunk *chunk, sqlite3_stmt *statement) {
    struct store_history row = {
        .seq = (uint64_t) sqlite3_column_int64(statement, 0),
        .job_id = (uint64_t) sqlite3_column_int64(statement, 1),
        .uid = (uid_t) sqlite3_column_int64(statement, 2),
        .submit = sqlite3_column_int64(statement, 3),
        .start = sqlite3_column_int64(statement, 4),
        .end = sqlite3_column_int64(statement, 5),
        .state = (unsigned) sqlite3_column_int64(statement, 6),
        .kind = (unsigned) sqlite3_column_int64(statement, 7),
        .data.size = (size_t) sqlite3_column_bytes(statement, 8),
    };
    str_append_bytes(&chunk->data, sqlite3_column_blob(statement, 8), row.data.size);
    vec_push(&chunk->rows, row);
}

static void query_rows(struct store_query *query, sqlite3 *db, sqlite3_stmt *statement) {
    struct chunk *chunk = chunk_new(query);
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        chunk_add(chunk, statement);
        if (chunk->rows.n == CHUNK_ROWS) {
            loop_post(query->store->loop, chunk_deliver, chunk);
            chunk = chunk_new(query);
        }
    }
    if (code == SQLITE_DONE)
        chunk->is_last = true;
    else
        store_error(db, code, query->store->path, "search", &chunk->err);
    loop_post(query->store->loop, chunk_deliver, chunk);
}

static void query_run(struct store_query *query, sqlite3 *db) {
    struct error err = ERROR_INIT;
    cleanup_str struct str sql = STR_INIT;
    sqlite3_stmt *statement = NULL;
    query_sql(query, &sql);
    int r = store_prepare(db, query->store->path, str_cstr(&sql), &statement, &err);
    if (r < 0) {
        query_fail(query, &err);
        return;
    }
    query_bind(query, statement);
    query_rows(query, db, statement);
    sqlite3_finalize(statement);
}

static void *reader_run(void *argument) {
    struct store *store = argument;
    struct reader *reader = &store->reader;
    struct error err = ERROR_INIT;
    sqlite3 *db = NULL;
    int r = store_connect(store->path, false, &db, &err);
    pthread_mutex_lock(&reader->lock);
    for (;;) {
        while (list_is_empty(&reader->queue) && !reader->ends)
            pthread_cond_wait(&reader->changed, &reader->lock);
        if (list_is_empty(&reader->queue))
            break;
        struct store_query *query = list_entry(reader->queue.next, struct store_query, link);
        list_remove(&query->link);
        bool ends = reader->ends;
        pthread_mutex_unlock(&reader->lock);
        struct error closed = ERROR_INIT;
        if (ends)
            error_set(&closed, ERR_CLOSED, "the daemon is shutting down");
        if (r < 0 || ends)
            query_fail(query, ends ? &closed : &err);
        else
            query_run(query, db);
        pthread_mutex_lock(&reader->lock);
    }
    pthread_mutex_unlock(&reader->lock);
    sqlite3_close(db);
    return NULL;
}

/* ---- life ---- */

void reader_init(struct store *store) {
    pthread_mutex_init(&store->reader.lock, NULL);
    pthread_cond_init(&store->reader.changed, NULL);
    list_init(&store->reader.queue);
}

void reader_stop(struct store *store) {
    struct reader *reader = &store->reader;
    if (reader->has_thread) {
        pthread_mutex_lock(&reader->lock);
        reader->ends = true;
        pthread_cond_broadcast(&reader->changed);
        pthread_mutex_unlock(&reader->lock);
        pthread_join(reader->thread, NULL);
    }
    pthread_mutex_destroy(&reader->lock);
    pthread_cond_destroy(&reader->changed);
}

struct store_query *store_history_query(struct store *store, const struct store_filter *filter,
                                        void (*fn)(const struct store_history *rows, size_t n,
                                                   bool is_last, const struct error *err,
                                                   void *context),
                                        void *context) {
    assert(store && filter && fn);
    struct store_query *query = zalloc(struct store_query);
    query->store = store;
    query->filter = *filter;
    query->fn = fn;
    query->context = context;
    struct reader *reader = &store->reader;
    struct error err = ERROR_INIT;
    int r = 0;
    if (filter->n_job_ids > STORE_JOBS_MAX)
        r = error_set(&err, ERR_LIMIT, "%zu job ids were asked for at once and %u are allowed",
                      filter->n_job_ids, STORE_JOBS_MAX);
    if (r == 0 && filter->n_job_ids > 0)
        query->job_ids = xmemdup(filter->job_ids, filter->n_job_ids * sizeof(uint64_t));
    if (r == 0 && !reader->has_thread) {
        r = store_thread(&reader->thread, reader_run, store, &err);
        reader->has_thread = r == 0;
    }
    if (r < 0) {
        query_fail(query, &err);
        return query;
    }
    pthread_mutex_lock(&reader->lock);
    list_append(&reader->queue, &query->link);
    pthread_cond_broadcast(&reader->changed);
    pthread_mutex_unlock(&reader->lock);
    return query;
}
