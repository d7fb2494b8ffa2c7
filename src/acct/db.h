/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQL on one connection to SQLite, MariaDB or PostgreSQL, in the words that all three share. Used
 * by one thread; every call blocks.
 *
 * A statement's text has `?` for each value; values are bound, never pasted. Words in braces differ
 * between the three: {int} {key} {text} {blob} {cast} (see db.c). Statements are kept prepared
 * under their text, so texts should be few.
 *
 * Errors: ERR_BUSY: the database cannot be reached, or another has the lock; nothing of the
 * transaction has been stored (where that is not known, the sentence says so); the same may be
 * tried again, which connects again. ERR_DISK_FULL, ERR_ACCESS_DENIED, ERR_CORRUPT; ERR_STORE for
 * the rest. After an error in a transaction only db_rollback() makes sense.
 */
#ifndef SLUICE_ACCT_DB_H
#define SLUICE_ACCT_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acct/location.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

/* A text that is searched for is kept to so many bytes, as MariaDB's indexes bound it. */
#define DB_KEY_MAX 250

struct db;

/* Connects. SQLite: the file is made (mode 0600) where there is none. */
must_check int db_open(const struct acct_location *location, struct db **ret, struct error *err);
void db_close(struct db *db); /* NULL is ignored */
enum acct_backend db_backend(const struct db *db);
/* For sentences: "/var/lib/acct.db", "database slurm_acct_db of MariaDB on localhost". */
const char *db_name(const struct db *db);

/* ---- transactions; they do not nest ---- */
must_check int db_begin(struct db *db, struct error *err);
/* One that only reads, and sees the database as it is now; end it with db_rollback(). */
must_check int db_begin_snapshot(struct db *db, struct error *err);
must_check int db_commit(struct db *db, struct error *err); /* rolls back where it fails */
void db_rollback(struct db *db);                            /* outside of one: nothing */

/* ---- values ---- */
enum db_type { DB_NULL, DB_INT, DB_TEXT, DB_BLOB };
struct db_value {
    enum db_type type;
    bool is_key; /* cut to DB_KEY_MAX bytes */
    int64_t number;
    const char *text; /* borrowed, as data; NULL is stored as "" */
    struct bytes data;
};
static inline struct db_value db_int(int64_t number) {
    return (struct db_value) {.type = DB_INT, .number = number};
}
static inline struct db_value db_text(const char *text) {
    return (struct db_value) {.type = DB_TEXT, .text = text};
}
/* A text that is searched for. */
static inline struct db_value db_key(const char *text) {
    return (struct db_value) {.type = DB_TEXT, .is_key = true, .text = text};
}
static inline struct db_value db_blob(struct bytes data) {
    return (struct db_value) {.type = DB_BLOB, .data = data};
}
struct db_values {
    const struct db_value *items;
    size_t n;
};
#define DB_VALUES(...)                                                                             \
    ((struct db_values) {(const struct db_value[]) {__VA_ARGS__},                                  \
                         sizeof((const struct db_value[]) {__VA_ARGS__}) /                         \
                             sizeof(struct db_value)})
#define DB_NO_VALUES ((struct db_values) {NULL, 0})

/* ---- statements ---- */
/* Runs one without rows. Returns how many rows it has changed. */
must_check int64_t db_exec(struct db *db, const char *sql, struct db_values values,
                           struct error *err);
/* One with rows: before the first row after db_query(). Several may be read at a time. */
struct db_rows;
must_check int db_query(struct db *db, const char *sql, struct db_values values,
                        struct db_rows **ret, struct error *err);
/* 1 = there is a row, 0 = there are no more, negative = an error. */
must_check int db_next(struct db_rows *rows, struct error *err);
void db_rows_done(struct db_rows **rows); /* NULL is ignored */
#define cleanup_rows __attribute__((__cleanup__(db_rows_done)))
/* Of the present row, valid until the next; columns count from 0. NULL reads as 0 and "". */
int64_t db_column_int(struct db_rows *rows, unsigned column);
const char *db_column_text(struct db_rows *rows, unsigned column);
struct bytes db_column_blob(struct db_rows *rows, unsigned column);
/* The number that a statement yields, `missing` where there is no row. */
must_check int db_number(struct db *db, const char *sql, struct db_values values, int64_t missing,
                         int64_t *ret, struct error *err);

/* ---- tables ---- */
/* Between the two no other process changes the tables; in a transaction where tables can be changed
 * in one. */
must_check int db_lock_schema(struct db *db, struct error *err);
must_check int db_unlock_schema(struct db *db, bool commit, struct error *err);
/* A table's first n_keys columns tell its rows apart. `since`: the schema version that brought it.
 */
struct db_column {
    const char *name;
    enum db_type type; /* DB_TEXT without is_key holds any length */
    bool is_key;
    unsigned since;
};
struct db_table {
    const char *name;
    unsigned since;
    const struct db_column *columns;
    size_t n_columns, n_keys;
    const char *const *indexes; /* "name (column, …)", ended by NULL */
};
/* Makes what is missing of a table for the version. Repeatable. */
must_check int db_table_make(struct db *db, const struct db_table *table, unsigned from_version,
                             struct error *err);
/* Inserts rows, values by row in the order of the columns, or replaces those with their keys. No
 * two of the rows have the same keys. */
must_check int db_put(struct db *db, const struct db_table *table, const struct db_value *values,
                      size_t n_rows, struct error *err);

#endif
