/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PostgreSQL behind db.h. Values have declared types (bigint, text, bytea), so a statement is
 * prepared when its first values are there. Answers are binary, and taken over as a whole.
 */
#include <libpq-fe.h>
#include <stdio.h>
#include <string.h>

#include "acct/db_internal.h"

#define CONNECT_SEC "10"
/* Types of values and columns, as the server numbers them. */
#define OID_BYTEA 17
#define OID_INT8 20
#define OID_TEXT 25

struct statement {
    struct db_rows rows;
    char name[24];
    bool is_prepared;
    PGresult *result;
    int next;
};

static const struct db_words words[] = {
    {"int", "BIGINT"},
    {"key", "TEXT COLLATE \"C\""},
    {"text", "TEXT"},
    {"blob", "BYTEA"},
    {"cast", "BIGINT"},
    {"engine", ""},
    {"if_new", "IF NOT EXISTS"},
    {"for_update", " FOR UPDATE"},
    {NULL, NULL},
};

/* ---- errors ---- */

/* "ERROR:  …\n" without what comes after the first line. */
static void text_copy(const char *text, char *ret, size_t size) {
    snprintf(ret, size, "%.*s", (int) strcspn(text, "\n"), text);
}

static int fail(struct db *db, const PGresult *result, struct error *err) {
    const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    char text[400];
    text_copy(PQerrorMessage(db->connection), text, sizeof(text));
    if (PQstatus(db->connection) != CONNECTION_OK) {
        bool within = db->in_transaction;
        db->is_lost = true;
        return error_set(err, ERR_BUSY, "the connection to %s is lost (%s)%s", db->name, text,
                         within ? "; nothing of the transaction has been stored" : "");
    }
    if (!state)
        state = "";
    if (str_equal(state, "40001") || str_equal(state, "40P01") || str_equal(state, "55P03"))
        return error_set(err, ERR_BUSY, "%s is being changed by another at the same place: %s",
                         db->name, text);
    if (str_equal(state, "53100"))
        return error_set(err, ERR_DISK_FULL,
                         "%s cannot grow (%s); free space on the server, nothing stored before is "
                         "lost",
                         db->name, text);
    if (str_equal(state, "42501"))
        return error_set(err, ERR_ACCESS_DENIED,
                         "%s refuses this user (%s); make it the owner of the database", db->name,
                         text);
    return error_set(err, ERR_STORE, "%s: %s (%s)", db->name, text, state);
}

/* ---- the connection ---- */

static PGconn *dial(const struct acct_location *at, const char *database) {
    char port[12];
    snprintf(port, sizeof(port), "%u", at->port);
    const char *names[] = {"host",
                           "port",
                           "user",
                           "password",
                           "dbname",
                           "connect_timeout",
                           "client_encoding",
                           "application_name",
                           NULL};
    const char *values[] = {at->host, at->port ? port : NULL,
                            at->user, at->password,
                            database, CONNECT_SEC,
                            "UTF8",   "sluice",
                            NULL};
    return PQconnectdbParams(names, values, 0);
}

static int simple(struct db *db, const char *sql, struct error *err) {
    PGresult *result = PQexec(db->connection, sql);
    ExecStatusType status = PQresultStatus(result);
    int r = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ? 0 : fail(db, result, err);
    PQclear(result);
    return r;
}

/* One that is not there yet is made by way of the one that every server has. */
static bool database_make(const struct acct_location *at) {
    PGconn *connection = dial(at, "postgres");
    bool made = false;
    char *name = PQstatus(connection) == CONNECTION_OK
                     ? PQescapeIdentifier(connection, at->database, strlen(at->database))
                     : NULL;
    if (name) {
        cleanup_free char *sql =
            xasprintf("CREATE DATABASE %s ENCODING 'UTF8' TEMPLATE template0", name);
        PGresult *result = PQexec(connection, sql);
        made = PQresultStatus(result) == PGRES_COMMAND_OK;
        PQclear(result);
        PQfreemem(name);
    }
    PQfinish(connection);
    return made;
}

static int connect(struct db *db, struct error *err) {
    const struct acct_location *at = &db->location;
    if (!at->database || *at->database == '\0')
        return error_set(err, ERR_CONFIG, "no database is named (StorageLoc)");
    db->connection = dial(at, at->database);
    if (PQstatus(db->connection) != CONNECTION_OK &&
        strstr(PQerrorMessage(db->connection), "does not exist") && database_make(at)) {
        PQfinish(db->connection);
        db->connection = dial(at, at->database);
    }
    if (PQstatus(db->connection) != CONNECTION_OK) {
        char text[400];
        text_copy(PQerrorMessage(db->connection), text, sizeof(text));
        bool refused = strstr(text, "authentication failed") || strstr(text, "no password") ||
                       strstr(text, "does not exist");
        db->is_lost = true;
        return error_set(err, refused ? ERR_ACCESS_DENIED : ERR_BUSY,
                         "cannot connect to %s: %s; %s", db->name, text,
                         refused ? "check StorageUser, StoragePass and StorageLoc, and that the "
                                   "user may use, or make, the database"
                                 : "is the server running, and are StorageHost and StoragePort "
                                   "right?");
    }
    return simple(db,
                  "SET client_min_messages = warning; "
                  "SET default_transaction_isolation = 'read committed'",
                  err);
}

static void disconnect(struct db *db) {
    if (db->connection)
        PQfinish(db->connection);
    db->connection = NULL;
}

/* ---- statements ---- */

static int prepare(struct db *db, const char *expanded, struct db_rows **ret, struct error *err) {
    struct statement *statement = zalloc(struct statement);
    snprintf(statement->name, sizeof(statement->name), "s%llu",
             (unsigned long long) ++db->n_statements);
    *ret = &statement->rows;
    return 0;
}

static const Oid value_types[] = {
    [DB_NULL] = OID_TEXT, [DB_INT] = OID_INT8, [DB_TEXT] = OID_TEXT, [DB_BLOB] = OID_BYTEA};

static int prepare_typed(struct statement *statement, const struct db_value *values, size_t n,
                         struct error *err) {
    struct db *db = statement->rows.db;
    cleanup_free Oid *types = xcalloc(n + 1, sizeof(*types));
    for (size_t i = 0; i < n; i++)
        types[i] = value_types[values[i].type];
    PGresult *result =
        PQprepare(db->connection, statement->name, statement->rows.expanded, (int) n, types);
    int r = PQresultStatus(result) == PGRES_COMMAND_OK ? 0 : fail(db, result, err);
    PQclear(result);
    statement->is_prepared = r == 0;
    return r;
}

static int execute(struct db_rows *rows, const struct db_value *values, size_t n,
                   struct error *err) {
    struct statement *statement = container_of(rows, struct statement, rows);
    int r = statement->is_prepared ? 0 : prepare_typed(statement, values, n, err);
    if (r < 0)
        return r;
    cleanup_free const char **data = xcalloc(n + 1, sizeof(*data));
    cleanup_free int *lengths = xcalloc(n + 1, sizeof(*lengths));
    cleanup_free int *formats = xcalloc(n + 1, sizeof(*formats));
    cleanup_free uint8_t(*numbers)[8] = xcalloc(n + 1, sizeof(*numbers));
    for (size_t i = 0; i < n; i++) {
        formats[i] = 1;
        lengths[i] = values[i].type == DB_INT ? 8 : (int) values[i].data.size;
        data[i] = values[i].data.data ? (const char *) values[i].data.data : "";
        if (values[i].type == DB_INT) {
            put_u32(numbers[i], (uint32_t) ((uint64_t) values[i].number >> 32));
            put_u32(numbers[i] + 4, (uint32_t) values[i].number);
            data[i] = (const char *) numbers[i];
        } else if (values[i].type == DB_NULL) {
            data[i] = NULL;
        }
    }
    statement->result =
        PQexecPrepared(rows->db->connection, statement->name, (int) n, data, lengths, formats, 1);
    statement->next = 0;
    ExecStatusType status = PQresultStatus(statement->result);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
        return 0;
    return fail(rows->db, statement->result, err);
}

static int next(struct db_rows *rows, struct error *err) {
    struct statement *statement = container_of(rows, struct statement, rows);
    if (statement->next >= PQntuples(statement->result))
        return 0;
    statement->next++;
    return 1;
}

static void reset(struct db_rows *rows) {
    struct statement *statement = container_of(rows, struct statement, rows);
    PQclear(statement->result);
    statement->result = NULL;
}

static void release(struct db_rows *rows) {
    struct statement *statement = container_of(rows, struct statement, rows);
    struct db *db = rows->db;
    reset(rows);
    if (statement->is_prepared && !db->is_lost && db->connection) {
        char sql[48];
        snprintf(sql, sizeof(sql), "DEALLOCATE %s", statement->name);
        PQclear(PQexec(db->connection, sql));
    }
    free(statement);
}

static int64_t changed(struct db_rows *rows) {
    struct statement *statement = container_of(rows, struct statement, rows);
    int64_t n = 0;
    return str_to_i64(PQcmdTuples(statement->result), &n) ? n : 0;
}

static struct bytes column_bytes(struct db_rows *rows, unsigned column) {
    struct statement *statement = container_of(rows, struct statement, rows);
    int row = statement->next - 1;
    if (PQgetisnull(statement->result, row, (int) column))
        return (struct bytes) {NULL, 0};
    return (struct bytes) {(const uint8_t *) PQgetvalue(statement->result, row, (int) column),
                           (size_t) PQgetlength(statement->result, row, (int) column)};
}

static int64_t column_int(struct db_rows *rows, unsigned column) {
    struct bytes bytes = column_bytes(rows, column);
    switch (bytes.size) {
    case 8:
        return (int64_t) ((uint64_t) get_u32(bytes.data) << 32 | get_u32(bytes.data + 4));
    case 4:
        return (int32_t) get_u32(bytes.data);
    case 2:
        return (int16_t) get_u16(bytes.data);
    default:
        return 0;
    }
}

const struct db_driver db_driver_postgresql = {
    .name = "PostgreSQL",
    .words = words,
    .numbered = true,
    .begin = "BEGIN",
    .snapshot = {"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"},
    .tables_in_transactions = true,
    .lock = "SELECT 1 FROM (SELECT pg_advisory_xact_lock(1397511491)) AS waited",
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
