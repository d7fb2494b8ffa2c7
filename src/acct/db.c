/* SPDX-License-Identifier: Apache-2.0 */
/* What is the same for all three databases: words, the cache of statements, transactions, rows. */
#include "acct/db.h"

#include <assert.h>
#include <string.h>

#include "acct/db_internal.h"

#define CACHE_MAX 200    /* prepared statements kept */
#define VALUES_MAX 30000 /* of one statement: SQLite takes 32766 */
#define ROWS_AT_ONCE 64

static const struct db_driver *const drivers[] = {
    [ACCT_SQLITE] = &db_driver_sqlite,
    [ACCT_MARIADB] = &db_driver_mariadb,
    [ACCT_POSTGRESQL] = &db_driver_postgresql,
};

/* ---- connecting ---- */

static char *name_of(const struct db *db) {
    const struct acct_location *at = &db->location;
    if (db->backend == ACCT_SQLITE)
        return xstrdup(at->path);
    return xasprintf("database %s of %s on %s", at->database, db->driver->name,
                     at->host ? at->host : "localhost");
}

int db_open(const struct acct_location *location, struct db **ret, struct error *err) {
    struct db *db = zalloc(struct db);
    db->backend = location->backend;
    db->driver = drivers[location->backend];
    db->location = (struct acct_location) {.backend = location->backend,
                                           .path = xstrdup_null(location->path),
                                           .host = xstrdup_null(location->host),
                                           .port = location->port,
                                           .user = xstrdup_null(location->user),
                                           .password = xstrdup_null(location->password),
                                           .database = xstrdup_null(location->database)};
    db->name = name_of(db);
    int r = db->driver->connect(db, err);
    if (r < 0) {
        db_close(db);
        return r;
    }
    *ret = db;
    return 0;
}

static void statement_free(struct db_rows *rows) {
    char *sql = rows->sql, *expanded = rows->expanded;
    rows->db->driver->release(rows);
    free(sql);
    free(expanded);
}

static void cache_clear(struct db *db) {
    size_t at = 0;
    const char *sql;
    struct db_rows *rows;
    while ((rows = smap_next(&db->cache, &at, &sql)) != NULL) {
        rows->is_cached = false;
        if (!rows->is_open)
            statement_free(rows);
    }
    smap_done(&db->cache);
    db->cache = (struct smap) SMAP_INIT;
}

void db_close(struct db *db) {
    if (!db)
        return;
    cache_clear(db);
    db->driver->disconnect(db);
    acct_location_done(&db->location);
    free(db->name);
    free(db);
}

enum acct_backend db_backend(const struct db *db) {
    return db->backend;
}

const char *db_name(const struct db *db) {
    return db->name;
}

/* Statements of a lost connection are nothing any more. */
static int connected(struct db *db, struct error *err) {
    if (!db->is_lost)
        return 0;
    if (db->in_transaction)
        return error_set(err, ERR_BUSY,
                         "the connection to %s was lost within a transaction; nothing of it has "
                         "been stored",
                         db->name);
    cache_clear(db);
    db->driver->disconnect(db);
    int r = db->driver->connect(db, err);
    if (r == 0)
        db->is_lost = false;
    return r;
}

/* ---- transactions ---- */

int db_begin(struct db *db, struct error *err) {
    assert(!db->in_transaction);
    int r = connected(db, err);
    if (r == 0)
        r = db->driver->simple(db, db->driver->begin, err);
    if (r < 0 && db->is_lost) { /* it had been lost while nobody used it: once more */
        r = connected(db, err);
        if (r == 0)
            r = db->driver->simple(db, db->driver->begin, err);
    }
    db->in_transaction = r == 0;
    return r;
}

int db_begin_snapshot(struct db *db, struct error *err) {
    assert(!db->in_transaction);
    int r = connected(db, err);
    for (size_t i = 0; r == 0 && i < 2 && db->driver->snapshot[i]; i++)
        r = db->driver->simple(db, db->driver->snapshot[i], err);
    db->in_transaction = r == 0;
    return r;
}

int db_commit(struct db *db, struct error *err) {
    assert(db->in_transaction);
    if (db->is_lost) {
        int r = connected(db, err);
        db->in_transaction = false;
        return r;
    }
    int r = db->driver->simple(db, "COMMIT", err);
    if (r == 0) {
        db->in_transaction = false;
        return 0;
    }
    if (db->is_lost)
        error_set(err, ERR_BUSY,
                  "the connection to %s was lost while a transaction was committed; whether it has "
                  "been stored is not known",
                  db->name);
    db_rollback(db);
    return r;
}

void db_rollback(struct db *db) {
    if (!db->in_transaction)
        return;
    db->in_transaction = false;
    struct error err = ERROR_INIT;
    if (!db->is_lost && db->driver->simple(db, "ROLLBACK", &err) < 0)
        db->is_lost = true; /* a new connection has no transaction */
}

/* ---- statements ---- */

static const char *word_text(const struct db_words *words, const char *word, size_t length) {
    for (; words->word; words++)
        if (strlen(words->word) == length && memcmp(words->word, word, length) == 0)
            return words->text;
    assert(!"an unknown word in braces");
    return "";
}

static char *expand(const struct db *db, const char *sql) {
    struct str out = STR_INIT;
    unsigned n = 0;
    for (const char *at = sql; *at; at++) {
        if (*at == '{') {
            size_t length = strcspn(at + 1, "}");
            str_append(&out, word_text(db->driver->words, at + 1, length));
            at += length + 1;
        } else if (*at == '?' && db->driver->numbered) {
            str_printf(&out, "$%u", ++n);
        } else {
            str_append_char(&out, *at);
        }
    }
    return str_take(&out);
}

static int prepared(struct db *db, const char *sql, struct db_rows **ret, struct error *err) {
    struct db_rows *rows = smap_get(&db->cache, sql);
    if (rows && !rows->is_open) {
        *ret = rows;
        return 0;
    }
    cleanup_free char *expanded = expand(db, sql);
    struct db_rows *fresh = NULL;
    int r = db->driver->prepare(db, expanded, &fresh, err);
    if (r < 0)
        return r;
    fresh->db = db;
    fresh->sql = xstrdup(sql);
    fresh->expanded = take(expanded);
    if (!rows && db->cache.n < CACHE_MAX) {
        smap_put(&db->cache, fresh->sql, fresh);
        fresh->is_cached = true;
    }
    *ret = fresh;
    return 0;
}

/* Databases refuse what is no UTF-8, and NUL within a text; indexes are bounded. */
static void text_fit(struct db_value *value, struct str *keep) {
    const char *text = value->text ? value->text : "";
    size_t length = strlen(text);
    bool is_short = !value->is_key || length <= DB_KEY_MAX;
    if (is_short && str_is_utf8(text)) {
        value->data = (struct bytes) {(const uint8_t *) text, length};
        return;
    }
    size_t start = keep->length;
    str_append_utf8(keep, text, value->is_key ? DB_KEY_MAX : SIZE_MAX);
    value->data = (struct bytes) {NULL, keep->length - start}; /* found when keep has its place */
    value->number = (int64_t) start;
    str_append_char(keep, '\0');
}

static int execute(struct db_rows *rows, struct db_values values, struct error *err) {
    cleanup_free struct db_value *fitting = xcalloc(values.n + 1, sizeof(*fitting));
    struct str keep cleanup_str = STR_INIT;
    for (size_t i = 0; i < values.n; i++) {
        fitting[i] = values.items[i];
        if (fitting[i].type == DB_TEXT)
            text_fit(&fitting[i], &keep);
    }
    for (size_t i = 0; i < values.n; i++)
        if (fitting[i].type == DB_TEXT && fitting[i].data.data == NULL)
            fitting[i].data.data = (const uint8_t *) keep.data + fitting[i].number;
    return rows->db->driver->execute(rows, fitting, values.n, err);
}

void db_rows_done(struct db_rows **at) {
    struct db_rows *rows = *at;
    if (!rows)
        return;
    *at = NULL;
    rows->is_open = false;
    if (rows->is_cached)
        rows->db->driver->reset(rows);
    else
        statement_free(rows);
}

static int query_once(struct db *db, const char *sql, struct db_values values, struct db_rows **ret,
                      struct error *err) {
    struct db_rows *rows = NULL;
    int r = connected(db, err);
    if (r == 0)
        r = prepared(db, sql, &rows, err);
    if (r < 0)
        return r;
    rows->is_open = true;
    r = execute(rows, values, err);
    if (r < 0)
        db_rows_done(&rows);
    else
        *ret = rows;
    return r;
}

int db_query(struct db *db, const char *sql, struct db_values values, struct db_rows **ret,
             struct error *err) {
    if (values.n > VALUES_MAX)
        return error_set(err, ERR_LIMIT,
                         "a question with %zu words to look for is too long; %d are possible",
                         values.n, VALUES_MAX);
    int r = query_once(db, sql, values, ret, err);
    if (r < 0 && db->is_lost && !db->in_transaction)
        r = query_once(db, sql, values, ret, err);
    return r;
}

int64_t db_exec(struct db *db, const char *sql, struct db_values values, struct error *err) {
    struct db_rows *rows cleanup_rows = NULL;
    int r = db_query(db, sql, values, &rows, err);
    if (r == 0)
        r = db_next(rows, err);
    return r < 0 ? r : db->driver->changed(rows);
}

int db_next(struct db_rows *rows, struct error *err) {
    return rows->db->driver->next(rows, err);
}

int64_t db_column_int(struct db_rows *rows, unsigned column) {
    return rows->db->driver->column_int(rows, column);
}

struct bytes db_column_blob(struct db_rows *rows, unsigned column) {
    return rows->db->driver->column_bytes(rows, column);
}

const char *db_column_text(struct db_rows *rows, unsigned column) {
    struct bytes bytes = db_column_blob(rows, column);
    return bytes.data ? (const char *) bytes.data : "";
}

int db_number(struct db *db, const char *sql, struct db_values values, int64_t missing,
              int64_t *ret, struct error *err) {
    struct db_rows *rows cleanup_rows = NULL;
    int r = db_query(db, sql, values, &rows, err);
    if (r == 0)
        r = db_next(rows, err);
    if (r < 0)
        return r;
    *ret = r > 0 ? db_column_int(rows, 0) : missing;
    return 0;
}
