/* SPDX-License-Identifier: Apache-2.0 */
/* Tables from their rows of columns: making them, and storing into them. */
#include <assert.h>
#include <string.h>

#include "acct/db_internal.h"

#define ROWS_AT_ONCE 64 /* of one statement */

static const char *type_word(const struct db_column *column) {
    switch (column->type) {
    case DB_INT:
        return "{int} NOT NULL DEFAULT 0";
    case DB_TEXT:
        return column->is_key ? "{key} NOT NULL DEFAULT ''" : "{text}";
    default:
        return "{blob}";
    }
}

static int run(struct db *db, const char *sql, struct error *err) {
    int64_t n = db_exec(db, sql, DB_NO_VALUES, err);
    return n < 0 ? (int) n : 0;
}

static void keys_list(const struct db_table *table, struct str *out) {
    for (size_t i = 0; i < table->n_keys; i++)
        str_printf(out, "%s%s", i ? ", " : "", table->columns[i].name);
}

static int table_create(struct db *db, const struct db_table *table, struct error *err) {
    struct str sql cleanup_str = STR_INIT;
    str_printf(&sql, "CREATE TABLE IF NOT EXISTS %s (", table->name);
    for (size_t i = 0; i < table->n_columns; i++)
        str_printf(&sql, "%s %s, ", table->columns[i].name, type_word(&table->columns[i]));
    str_append(&sql, "PRIMARY KEY (");
    keys_list(table, &sql);
    str_append(&sql, ")) {engine}");
    return run(db, str_cstr(&sql), err);
}

/* A column that is there already is no error: MariaDB changes tables outside of transactions, and
 * what was done before an interruption stays. */
static int column_add(struct db *db, const struct db_table *table, const struct db_column *column,
                      struct error *err) {
    struct str sql cleanup_str = STR_INIT;
    str_printf(&sql, "ALTER TABLE %s ADD COLUMN {if_new} %s %s", table->name, column->name,
               type_word(column));
    return run(db, str_cstr(&sql), err);
}

int db_table_make(struct db *db, const struct db_table *table, unsigned from_version,
                  struct error *err) {
    int r = 0;
    if (table->since > from_version)
        r = table_create(db, table, err);
    for (size_t i = 0; r == 0 && table->since <= from_version && i < table->n_columns; i++)
        if (table->columns[i].since > from_version)
            r = column_add(db, table, &table->columns[i], err);
    for (const char *const *index = table->indexes; r == 0 && index && *index; index++) {
        struct str sql cleanup_str = STR_INIT;
        size_t name = strcspn(*index, " ");
        str_printf(&sql, "CREATE INDEX IF NOT EXISTS %.*s ON %s%s", (int) name, *index, table->name,
                   *index + name);
        r = run(db, str_cstr(&sql), err);
    }
    return r;
}

int db_lock_schema(struct db *db, struct error *err) {
    const struct db_driver *driver = db->driver;
    int r = driver->tables_in_transactions ? db_begin(db, err) : 0;
    int64_t locked = 1;
    if (r == 0 && driver->lock)
        r = db_number(db, driver->lock, DB_NO_VALUES, 0, &locked, err);
    if (r == 0 && locked != 1)
        r = error_set(err, ERR_BUSY,
                      "another process has been changing the tables of %s for a minute; try again "
                      "when it has ended",
                      db->name);
    if (r < 0)
        db_rollback(db);
    return r;
}

int db_unlock_schema(struct db *db, bool commit, struct error *err) {
    int r = 0;
    int64_t unlocked;
    if (db->driver->unlock)
        r = db_number(db, db->driver->unlock, DB_NO_VALUES, 0, &unlocked, err);
    if (!db->in_transaction)
        return r;
    if (commit && r == 0)
        return db_commit(db, err);
    db_rollback(db);
    return r;
}

static void put_sql(struct db *db, const struct db_table *table, size_t n_rows, struct str *sql) {
    str_printf(sql, "INSERT INTO %s (", table->name);
    for (size_t i = 0; i < table->n_columns; i++)
        str_printf(sql, "%s%s", i ? ", " : "", table->columns[i].name);
    str_append(sql, ") VALUES ");
    for (size_t row = 0; row < n_rows; row++) {
        str_append(sql, row ? ", (?" : "(?");
        for (size_t i = 1; i < table->n_columns; i++)
            str_append(sql, ", ?");
        str_append_char(sql, ')');
    }
    bool is_mariadb = db->backend == ACCT_MARIADB;
    if (is_mariadb) {
        str_append(sql, " ON DUPLICATE KEY UPDATE ");
    } else {
        str_append(sql, " ON CONFLICT (");
        keys_list(table, sql);
        str_append(sql, table->n_columns > table->n_keys ? ") DO UPDATE SET " : ") DO NOTHING");
    }
    for (size_t i = table->n_keys; i < table->n_columns; i++) {
        const char *name = table->columns[i].name;
        str_printf(sql, is_mariadb ? "%s%s = VALUES(%s)" : "%s%s = excluded.%s",
                   i > table->n_keys ? ", " : "", name, name);
    }
    if (is_mariadb && table->n_columns == table->n_keys)
        str_printf(sql, "%s = %s", table->columns[0].name, table->columns[0].name);
}

int db_put(struct db *db, const struct db_table *table, const struct db_value *values,
           size_t n_rows, struct error *err) {
    while (n_rows > 0) {
        size_t n = n_rows >= ROWS_AT_ONCE ? ROWS_AT_ONCE : n_rows >= 8 ? 8 : 1;
        struct str sql cleanup_str = STR_INIT;
        put_sql(db, table, n, &sql);
        int64_t changed =
            db_exec(db, str_cstr(&sql), (struct db_values) {values, n * table->n_columns}, err);
        if (changed < 0)
            return (int) changed;
        values += n * table->n_columns;
        n_rows -= n;
    }
    return 0;
}
