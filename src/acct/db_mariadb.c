/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MariaDB behind db.h. Answers are taken over as a whole before the first row is read, so that
 * other statements may run in between; the library asks for long answers page by page.
 */
#include <errmsg.h>
#include <mysql.h>
#include <mysqld_error.h>
#include <string.h>

#include "acct/db_internal.h"

#define CONNECT_SEC 10
#define ANSWER_SEC 900 /* of a statement */

struct column {
    bool is_number;
    int64_t number;
    char *data; /* with a NUL behind */
    unsigned long length, capacity;
    my_bool is_null;
};

struct statement {
    struct db_rows rows;
    MYSQL_STMT *stmt;
    struct column *columns; /* of an answer that is being read */
    unsigned n_columns;
};

#define TEXT_TYPE " CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin"
static const struct db_words words[] = {
    {"int", "BIGINT"},
    {"key", "VARCHAR(250)" TEXT_TYPE},
    {"text", "LONGTEXT" TEXT_TYPE},
    {"blob", "LONGBLOB"},
    {"cast", "SIGNED"},
    {"engine", "ENGINE=InnoDB"},
    {"if_new", "IF NOT EXISTS"},
    {"for_update", " FOR UPDATE"},
    {NULL, NULL},
};

/* ---- errors ---- */

static bool is_lost(unsigned code) {
    return code == CR_SERVER_GONE_ERROR || code == CR_SERVER_LOST || code == CR_CONNECTION_ERROR ||
           code == CR_CONN_HOST_ERROR || code == CR_SERVER_LOST_EXTENDED ||
           code == ER_SERVER_SHUTDOWN || code == ER_CONNECTION_KILLED;
}

static int fail(struct db *db, unsigned code, const char *text, struct error *err) {
    if (is_lost(code)) {
        bool within = db->in_transaction;
        db->is_lost = true;
        return error_set(err, ERR_BUSY, "the connection to %s is lost (%s)%s", db->name, text,
                         within ? "; nothing of the transaction has been stored" : "");
    }
    switch (code) {
    case ER_LOCK_DEADLOCK:
    case ER_LOCK_WAIT_TIMEOUT:
        return error_set(err, ERR_BUSY, "%s is being changed by another at the same place: %s",
                         db->name, text);
    case ER_DISK_FULL:
    case ER_RECORD_FILE_FULL:
        return error_set(err, ERR_DISK_FULL,
                         "%s cannot grow (%s); free space on the server, nothing stored before is "
                         "lost",
                         db->name, text);
    case ER_ACCESS_DENIED_ERROR:
    case ER_DBACCESS_DENIED_ERROR:
    case ER_TABLEACCESS_DENIED_ERROR:
    case ER_OPTION_PREVENTS_STATEMENT:
        return error_set(err, ERR_ACCESS_DENIED,
                         "%s refuses the user %s (%s); check StorageUser and StoragePass, and "
                         "grant it everything on the database",
                         db->name, db->location.user ? db->location.user : "of this process", text);
    case ER_NET_PACKET_TOO_LARGE:
        return error_set(err, ERR_LIMIT,
                         "%s takes no record of that size (%s); raise its max_allowed_packet",
                         db->name, text);
    default:
        return error_set(err, ERR_STORE, "%s: %s (error %u)", db->name, text, code);
    }
}

static int fail_connection(struct db *db, struct error *err) {
    MYSQL *mysql = db->connection;
    return fail(db, mysql_errno(mysql), mysql_error(mysql), err);
}

static int fail_statement(struct statement *statement, struct error *err) {
    return fail(statement->rows.db, mysql_stmt_errno(statement->stmt),
                mysql_stmt_error(statement->stmt), err);
}

/* ---- the connection ---- */

static int simple(struct db *db, const char *sql, struct error *err) {
    return mysql_query(db->connection, sql) == 0 ? 0 : fail_connection(db, err);
}

/* The database's name cannot be bound. */
static int database_use(struct db *db, struct error *err) {
    const char *name = db->location.database;
    static const char fine[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-$";
    if (!name || *name == '\0' || strspn(name, fine) != strlen(name) || strlen(name) > 64)
        return error_set(err, ERR_CONFIG,
                         "\"%s\" is no name of a database: letters, digits, _, - and $ make one "
                         "(StorageLoc)",
                         name ? name : "");
    if (mysql_select_db(db->connection, name) == 0)
        return 0;
    if (mysql_errno(db->connection) != ER_BAD_DB_ERROR)
        return fail_connection(db, err);
    cleanup_free char *sql = xasprintf("CREATE DATABASE IF NOT EXISTS `%s`", name);
    int r = simple(db, sql, err);
    if (r == 0 && mysql_select_db(db->connection, name) != 0)
        r = fail_connection(db, err);
    return r;
}

static int connect(struct db *db, struct error *err) {
    const struct acct_location *at = &db->location;
    bool is_socket = at->host && at->host[0] == '/';
    unsigned connect_sec = CONNECT_SEC, answer_sec = ANSWER_SEC;
    MYSQL *mysql = mysql_init(NULL);
    db->connection = mysql;
    mysql_options(mysql, MYSQL_OPT_CONNECT_TIMEOUT, &connect_sec);
    mysql_options(mysql, MYSQL_OPT_READ_TIMEOUT, &answer_sec);
    mysql_options(mysql, MYSQL_OPT_WRITE_TIMEOUT, &answer_sec);
    mysql_options(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    if (!mysql_real_connect(mysql,
                            is_socket  ? NULL
                            : at->host ? at->host
                                       : "localhost",
                            at->user, at->password, NULL, at->port, is_socket ? at->host : NULL,
                            CLIENT_FOUND_ROWS)) {
        unsigned code = mysql_errno(mysql);
        if (code == ER_ACCESS_DENIED_ERROR)
            return fail_connection(db, err);
        db->is_lost = true;
        return error_set(err, ERR_BUSY,
                         "cannot connect to %s: %s; is the server running, and are StorageHost and "
                         "StoragePort right?",
                         db->name, mysql_error(mysql));
    }
    int r = database_use(db, err);
    if (r == 0)
        r = simple(db,
                   "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_BACKSLASH_ESCAPES', "
                   "SESSION wait_timeout = 604800",
                   err);
    if (r == 0)
        r = simple(db, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", err);
    return r;
}

static void disconnect(struct db *db) {
    if (db->connection)
        mysql_close(db->connection);
    db->connection = NULL;
}

/* ---- statements ---- */

static int prepare(struct db *db, const char *expanded, struct db_rows **ret, struct error *err) {
    MYSQL_STMT *stmt = mysql_stmt_init(db->connection);
    if (mysql_stmt_prepare(stmt, expanded, strlen(expanded)) != 0) {
        int r = fail(db, mysql_stmt_errno(stmt), mysql_stmt_error(stmt), err);
        mysql_stmt_close(stmt);
        return r;
    }
    my_bool yes = 1;
    mysql_stmt_attr_set(stmt, STMT_ATTR_UPDATE_MAX_LENGTH, &yes);
    struct statement *statement = zalloc(struct statement);
    statement->stmt = stmt;
    *ret = &statement->rows;
    return 0;
}

static void columns_free(struct statement *statement) {
    for (unsigned i = 0; i < statement->n_columns; i++)
        free(statement->columns[i].data);
    free(statement->columns);
    statement->columns = NULL;
    statement->n_columns = 0;
}

static bool is_number(enum enum_field_types type) {
    return type == MYSQL_TYPE_LONGLONG || type == MYSQL_TYPE_LONG || type == MYSQL_TYPE_INT24 ||
           type == MYSQL_TYPE_SHORT || type == MYSQL_TYPE_TINY || type == MYSQL_TYPE_NEWDECIMAL ||
           type == MYSQL_TYPE_DOUBLE;
}

/* Room for the longest value of each column, which is known now. */
static int columns_bind(struct statement *statement, MYSQL_RES *meta, struct error *err) {
    unsigned n = mysql_num_fields(meta);
    cleanup_free MYSQL_BIND *binds = xcalloc(n, sizeof(*binds));
    statement->columns = xcalloc(n, sizeof(*statement->columns));
    statement->n_columns = n;
    for (unsigned i = 0; i < n; i++) {
        MYSQL_FIELD *field = mysql_fetch_field_direct(meta, i);
        struct column *column = &statement->columns[i];
        column->is_number = is_number(field->type);
        binds[i].is_null = &column->is_null;
        binds[i].length = &column->length;
        if (column->is_number) {
            binds[i].buffer_type = MYSQL_TYPE_LONGLONG;
            binds[i].buffer = &column->number;
            continue;
        }
        column->capacity = field->max_length;
        column->data = xmalloc(column->capacity + 1);
        binds[i].buffer_type = MYSQL_TYPE_BLOB;
        binds[i].buffer = column->data;
        binds[i].buffer_length = column->capacity;
    }
    return mysql_stmt_bind_result(statement->stmt, binds) == 0 ? 0 : fail_statement(statement, err);
}

static int parameters_bind(struct statement *statement, const struct db_value *values, size_t n,
                           MYSQL_BIND *binds, struct error *err) {
    for (size_t i = 0; i < n; i++) {
        const struct db_value *value = &values[i];
        binds[i].buffer_type = value->type == DB_INT    ? MYSQL_TYPE_LONGLONG
                               : value->type == DB_TEXT ? MYSQL_TYPE_STRING
                               : value->type == DB_BLOB ? MYSQL_TYPE_BLOB
                                                        : MYSQL_TYPE_NULL;
        const void *data = value->type == DB_INT      ? (const void *) &value->number
                           : value->data.data != NULL ? (const void *) value->data.data
                                                      : "";
        binds[i].buffer = (void *) (uintptr_t) data;
        binds[i].buffer_length = value->type == DB_INT ? 0 : value->data.size;
    }
    return n == 0 || mysql_stmt_bind_param(statement->stmt, binds) == 0
               ? 0
               : fail_statement(statement, err);
}

static int execute(struct db_rows *rows, const struct db_value *values, size_t n,
                   struct error *err) {
    struct statement *statement = container_of(rows, struct statement, rows);
    cleanup_free MYSQL_BIND *binds = xcalloc(n + 1, sizeof(*binds));
    int r = parameters_bind(statement, values, n, binds, err);
    if (r == 0 && mysql_stmt_execute(statement->stmt) != 0)
        r = fail_statement(statement, err);
    MYSQL_RES *meta = r == 0 ? mysql_stmt_result_metadata(statement->stmt) : NULL;
    if (r == 0 && meta) {
        if (mysql_stmt_store_result(statement->stmt) != 0)
            r = fail_statement(statement, err);
        MYSQL_RES *sized = r == 0 ? mysql_stmt_result_metadata(statement->stmt) : NULL;
        if (sized)
            r = columns_bind(statement, sized, err);
        mysql_free_result(sized);
    }
    mysql_free_result(meta);
    return r;
}

static int next(struct db_rows *rows, struct error *err) {
    struct statement *statement = container_of(rows, struct statement, rows);
    if (!statement->columns)
        return 0;
    int code = mysql_stmt_fetch(statement->stmt);
    if (code == MYSQL_NO_DATA)
        return 0;
    return code == 0 ? 1 : fail_statement(statement, err);
}

static void reset(struct db_rows *rows) {
    struct statement *statement = container_of(rows, struct statement, rows);
    mysql_stmt_free_result(statement->stmt);
    columns_free(statement);
}

static void release(struct db_rows *rows) {
    struct statement *statement = container_of(rows, struct statement, rows);
    columns_free(statement);
    mysql_stmt_close(statement->stmt);
    free(statement);
}

static int64_t changed(struct db_rows *rows) {
    struct statement *statement = container_of(rows, struct statement, rows);
    my_ulonglong n = mysql_stmt_affected_rows(statement->stmt);
    return n == (my_ulonglong) -1 ? 0 : (int64_t) n;
}

static int64_t column_int(struct db_rows *rows, unsigned column) {
    struct statement *statement = container_of(rows, struct statement, rows);
    struct column *at = &statement->columns[column];
    return at->is_null ? 0 : at->number;
}

static struct bytes column_bytes(struct db_rows *rows, unsigned column) {
    struct statement *statement = container_of(rows, struct statement, rows);
    struct column *at = &statement->columns[column];
    if (at->is_null || !at->data)
        return (struct bytes) {NULL, 0};
    at->data[at->length] = '\0';
    return (struct bytes) {(const uint8_t *) at->data, at->length};
}

const struct db_driver db_driver_mariadb = {
    .name = "MariaDB",
    .words = words,
    .begin = "START TRANSACTION",
    .snapshot = {"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
                 "START TRANSACTION WITH CONSISTENT SNAPSHOT"},
    .lock = "SELECT GET_LOCK('sluice_schema', 60)",
    .unlock = "SELECT RELEASE_LOCK('sluice_schema')",
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
