/* SPDX-License-Identifier: Apache-2.0 */
/* What the three backends offer to db.c. */
#ifndef SLUICE_ACCT_DB_INTERNAL_H
#define SLUICE_ACCT_DB_INTERNAL_H

#include "acct/db.h"
#include "base/alloc.h"
#include "base/map.h"

/* A prepared statement; each backend has its own around this. */
struct db_rows {
    struct db *db;
    char *sql;      /* as given: the key of the cache */
    char *expanded; /* in the backend's words */
    bool is_open;   /* being read */
    bool is_cached;
};

struct db_words {
    const char *word, *text;
};

struct db_driver {
    const char *name; /* "MariaDB" */
    const struct db_words *words;
    bool numbered; /* placeholders are $1, $2 … */
    const char *begin;
    const char *snapshot[2]; /* begins to read at one moment */
    bool tables_in_transactions;
    const char *lock, *unlock; /* of the schema, where a transaction's is not enough; or NULL */
    must_check int (*connect)(struct db *db, struct error *err);
    void (*disconnect)(struct db *db); /* also of one that is half connected */
    must_check int (*simple)(struct db *db, const char *sql, struct error *err);
    must_check int (*prepare)(struct db *db, const char *expanded, struct db_rows **ret,
                              struct error *err);
    /* Texts are valid and cut already. */
    must_check int (*execute)(struct db_rows *rows, const struct db_value *values, size_t n,
                              struct error *err);
    must_check int (*next)(struct db_rows *rows, struct error *err);
    void (*reset)(struct db_rows *rows); /* may be executed again */
    void (*release)(struct db_rows *rows);
    int64_t (*changed)(struct db_rows *rows);
    int64_t (*column_int)(struct db_rows *rows, unsigned column);
    struct bytes (*column_bytes)(struct db_rows *rows, unsigned column); /* with NUL behind */
};
extern const struct db_driver db_driver_sqlite, db_driver_mariadb, db_driver_postgresql;

struct db {
    const struct db_driver *driver;
    enum acct_backend backend;
    struct acct_location location; /* copied */
    char *name;
    void *connection; /* the driver's; NULL = none */
    bool in_transaction;
    bool is_lost; /* the connection has failed: connect again before the next statement */
    struct smap cache;
    uint64_t n_statements; /* prepared so far */
};

#endif
