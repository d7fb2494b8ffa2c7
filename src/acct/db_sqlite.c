/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite behind db.h. */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>

#include "acct/db_internal.h"

#define BUSY_MSEC 20000 /* how long another's lock is waited for */

struct statement {
    struct db_rows rows;
    sqlite3_stmt *stmt;
};

static const struct db_words words[] = {
    {"int", "INTEGER"}, {"key", "TEXT"}, {"text", "TEXT"},   {"blob", "BLOB"}, {"cast", "INTEGER"},
    {"engine", ""},     {"if_new", ""},  {"for_update", ""}, {NULL, NULL},
};

static int fail(struct db *db, int code, struct error *err) {
    sqlite3 *sqlite = db->connection;
    const char *detail = sqlite ? sqlite3_errmsg(sqlite) : sqlite3_errstr(code);
    int errnum = sqlite ? sqlite3_system_errno(sqlite) : 0;
    bool is_io = (code & 0xff) == SQLITE_IOERR;
    if ((code & 0xff) == SQLITE_FULL || (is_io && (errnum == ENOSPC || errnum == EDQUOT)))
        return error_set(err, ERR_DISK_FULL,
                         "%s cannot grow: the file system is full or a quota is reached; free "
                         "space there, nothing stored before is lost",
                         db->name);
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return error_set(err, ERR_BUSY,
                         "%s is locked by another process for more than %d seconds; it is tried "
                         "again, or that process has to end",
                         db->name, BUSY_MSEC / 1000);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return error_set(err, ERR_CORRUPT,
                         "%s is damaged or no accounting database (%s); restore it from a backup, "
                         "or save what can be read with `sqlite3 %s .recover`",
                         db->name, detail, db->name);
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
        return error_set(err, ERR_ACCESS_DENIED,
                         "%s: %s; the file and its directory must be writable for the user that "
                         "the daemon runs as",
                         db->name, detail);
    default:
        return error_set(err, ERR_STORE, "%s: %s%s%s", db->name, detail, errnum ? ": " : "",
                         errnum ? strerror(errnum) : "");
    }
}

static int simple(struct db *db, const char *sql, struct error *err) {
    int code = sqlite3_exec(db->connection, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? 0 : fail(db, code, err);
}

static int connect(struct db *db, struct error *err) {
    /* SQLite gives its other files the mode of this one. */
    cleanup_fd int fd = open(db->location.path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_errno(err, errno,
                           "cannot open the accounting database %s: its directory must exist and "
                           "be writable for the user that the daemon runs as",
                           db->location.path);
    sqlite3 *sqlite = NULL;
    int code = sqlite3_open_v2(db->location.path, &sqlite,
                               SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    db->connection = sqlite;
    if (code != SQLITE_OK)
        return fail(db, code, err);
    sqlite3_busy_timeout(sqlite, BUSY_MSEC);
    return simple(db,
                  "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; "
                  "PRAGMA journal_size_limit=67108864; PRAGMA temp_store=MEMORY; "
                  "PRAGMA cache_size=-65536",
                  err);
}

static void disconnect(struct db *db) {
    sqlite3_close(db->connection);
    db->connection = NULL;
}

static int prepare(struct db *db, const char *expanded, struct db_rows **ret, struct error *err) {
    sqlite3_stmt *stmt = NULL;
    int code =
        sqlite3_prepare_v3(db->connection, expanded, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL);
    if (code != SQLITE_OK)
        return fail(db, code, err);
    struct statement *statement = zalloc(struct statement);
    statement->stmt = stmt;
    *ret = &statement->rows;
    return 0;
}

static int execute(struct db_rows *rows, const struct db_value *values, size_t n,
                   struct error *err) {
    struct statement *statement = container_of(rows, struct statement, rows);
    sqlite3_stmt *stmt = statement->stmt;
    for (size_t i = 0; i < n; i++) {
        const struct db_value *value = &values[i];
        const void *data = value->data.data ? (const void *) value->data.data : "";
        int at = (int) i + 1, code = SQLITE_OK;
        if (value->type == DB_INT)
            code = sqlite3_bind_int64(stmt, at, value->number);
        else if (value->type == DB_TEXT)
            code = sqlite3_bind_text64(stmt, at, data, value->data.size, SQLITE_TRANSIENT,
                                       SQLITE_UTF8);
        else if (value->type == DB_BLOB)
            code = sqlite3_bind_blob64(stmt, at, data, value->data.size, SQLITE_TRANSIENT);
        if (code != SQLITE_OK)
            return fail(rows->db, code, err);
    }
    return 0;
}

static int next(struct db_rows *rows, struct error *err) {
    struct statement *statement = container_of(rows, struct statement, rows);
    int code = sqlite3_step(statement->stmt);
    if (code == SQLITE_ROW)
        return 1;
    return code == SQLITE_DONE ? 0 : fail(rows->db, code, err);
}

static void reset(struct db_rows *rows) {
    struct statement *statement = container_of(rows, struct statement, rows);
    sqlite3_reset(statement->stmt);
    sqlite3_clear_bindings(statement->stmt);
}

static void release(struct db_rows *rows) {
    struct statement *statement = container_of(rows, struct statement, rows);
    sqlite3_finalize(statement->stmt);
    free(statement);
}

static int64_t changed(struct db_rows *rows) {
    return sqlite3_changes(rows->db->connection);
}

static int64_t column_int(struct db_rows *rows, unsigned column) {
    struct statement *statement = container_of(rows, struct statement, rows);
    return sqlite3_column_int64(statement->stmt, (int) column);
}

static struct bytes column_bytes(struct db_rows *rows, unsigned column) {
    struct statement *statement = container_of(rows, struct statement, rows);
    sqlite3_stmt *stmt = statement->stmt;
    bool is_text = sqlite3_column_type(stmt, (int) column) == SQLITE_TEXT;
    const void *data = is_text ? (const void *) sqlite3_column_text(stmt, (int) column)
                               : sqlite3_column_blob(stmt, (int) column);
    return (struct bytes) {data, (size_t) sqlite3_column_bytes(stmt, (int) column)};
}

const struct db_driver db_driver_sqlite = {
    .name = "SQLite",
    .words = words,
    .begin = "BEGIN IMMEDIATE",
    .snapshot = {"BEGIN"},
    .tables_in_transactions = true,
    .connect = connect,
    .disconnect = disconnect,
    .simple = simple,
    .prepare = prepare,
    .execute = execute,
    .next = next,
    .reset = reset,
    .release = release,
    .changed = changed,
    .column_int = column_int,
    .column_bytes = column_bytes,
};
